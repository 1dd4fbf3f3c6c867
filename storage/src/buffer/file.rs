//! The data file: pages by number. What is written over goes through the double-write area, what is new need not.
//!
//! A failed sync, of the file or of the area, halts the log: from then on nobody may be answered, and no page is written.

use crate::backup::{Backups, PAGE_COPY, Writing};
use crate::device::doublewrite::DoubleWrite;
use crate::device::{Device, File};
use crate::page::{self, PageBuf};
use crate::planted::{Fault, Planted};
use crate::sync::Arc;
use crate::wal::Log;
use crate::{Error, PageId, Result};

/// The name of the data file on its device.
pub const DATA_FILE: &str = "data";
/// Slots of the double-write area: how many pages are on their way to the disk between two syncs of the data file.
const GUARDED_PAGES: usize = 256;

/// The file of pages.
#[derive(Clone)]
pub struct DataFile {
    file: Arc<dyn File>,
    guard: Arc<DoubleWrite>,
    page_bytes: usize,
    /// What a failed sync halts; none while the file is being made.
    log: Option<Arc<Log>>,
    backups: Arc<Backups>,
    planted: Planted,
    /// There is an archive: what is restored from it has only the log.
    archived: bool,
}

impl std::fmt::Debug for DataFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DataFile").field("page_bytes", &self.page_bytes).finish_non_exhaustive()
    }
}

impl DataFile {
    /// Opens the data file of `device`, making it if `create` says so, and repairs what a crash has torn.
    ///
    /// # Errors
    /// I/O.
    pub fn open(
        device: &dyn Device,
        page_bytes: usize,
        create: bool,
        planted: Planted,
    ) -> Result<DataFile> {
        let file = device.open(DATA_FILE, create)?;
        let guard =
            DoubleWrite::open(device, Arc::clone(&file), page_bytes, GUARDED_PAGES, planted)?;
        guard.repair(&|page, bytes| page::is_whole(page, bytes))?;
        let (guard, backups) = (Arc::new(guard), Arc::default());
        Ok(DataFile { file, guard, page_bytes, log: None, backups, planted, archived: false })
    }

    /// The same file, whose failures halt `log`, which goes to an archive or not.
    #[must_use]
    pub fn with_log(self, log: Arc<Log>, archived: bool) -> DataFile {
        DataFile { log: Some(log), archived, ..self }
    }

    /// The backups that are taken of it.
    #[must_use]
    pub fn backups(&self) -> &Backups {
        &self.backups
    }

    /// Begins a write; none while the file is being made.
    #[must_use]
    pub fn begin_write(&self) -> Option<Writing<'_>> {
        self.log.as_ref().map(|log| self.backups.begin_write(log.environment()))
    }

    /// Whether new pages stand in the log as well. Asked within a write.
    #[must_use]
    pub fn logs_new(&self) -> bool {
        (self.archived || self.backups.run()) && !self.planted.is(Fault::NewPageNotLogged)
    }

    /// Copies pages that are about to be written in place into the log, if a backup runs.
    fn copy_for_backups(&self, pages: &[(PageId, &[u8])]) -> Result<()> {
        let copies = self.backups.run() && !self.planted.is(Fault::PageCopyForgotten);
        let Some(log) = self.log.as_ref().filter(|_| copies) else { return Ok(()) };
        for (_, page) in pages {
            match log.reserve_at_once(page.len() as u64) {
                Ok(mut space) => {
                    log.claim(&mut space, page.len()).publish(PAGE_COPY, page);
                }
                Err(Error::Full(_)) => {
                    self.backups.give_up();
                    return Ok(());
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    /// Whether what lies in a page's place is not what was once written there. What lies behind the end is nothing.
    ///
    /// # Errors
    /// I/O.
    pub fn is_torn(&self, page: PageId) -> Result<bool> {
        if u64::from(page.0) >= self.pages()? {
            return Ok(false);
        }
        let mut buf = PageBuf::new(self.page_bytes);
        self.read_unchecked(page, &mut buf)?;
        Ok(!page::is_whole(page, buf.bytes_mut()))
    }

    /// Nothing is written or synced any more once the log has failed, and what fails here fails the log.
    fn unless_halted(&self, step: impl FnOnce() -> Result<()>) -> Result<()> {
        if let Some(log) = &self.log {
            log.alive()?;
        }
        let done = step();
        if let (Some(log), Err(Error::Halted(why))) = (&self.log, &done) {
            log.halt(why);
        }
        done
    }

    /// The size of a page, in bytes.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    fn offset(&self, page: PageId) -> u64 {
        u64::from(page.0) * self.page_bytes as u64
    }

    /// Reads and checks a page.
    ///
    /// # Errors
    /// I/O; [`Error::Corrupt`].
    pub fn read(&self, page: PageId, into: &mut PageBuf) -> Result<()> {
        self.file.read_at(self.offset(page), into.bytes_mut())?;
        into.check(page)
    }

    /// Reads a page as it lies there.
    ///
    /// # Errors
    /// I/O.
    pub fn read_unchecked(&self, page: PageId, into: &mut PageBuf) -> Result<()> {
        self.file.read_at(self.offset(page), into.bytes_mut())
    }

    /// Writes pages in place, whole or not at all even if the power goes. Durable after [`DataFile::sync`].
    ///
    /// # Errors
    /// I/O; [`Error::Halted`] if a sync failed.
    pub fn write(&self, pages: &mut [PageBuf]) -> Result<()> {
        for batch in pages.chunks_mut(self.guard.batch_max()) {
            let sealed: Vec<(PageId, &[u8])> =
                batch.iter_mut().map(|page| (page.page().id(), page.seal())).collect();
            let _writing = self.begin_write();
            self.copy_for_backups(&sealed)?;
            self.unless_halted(|| self.guard.write(&sealed))?;
        }
        Ok(())
    }

    /// Writes pages that nobody can name before they have been synced: torn ones are never met, so they need no guard. The
    /// caller has begun a write.
    ///
    /// # Errors
    /// I/O.
    pub fn write_new(&self, pages: &mut [PageBuf]) -> Result<()> {
        for page in pages {
            let offset = self.offset(page.page().id());
            self.file.write_at(offset, page.seal())?;
        }
        Ok(())
    }

    /// Writes a page as it is, wherever: damage for tests of the check.
    #[cfg(test)]
    pub(crate) fn write_unsealed(&self, page: PageId, contents: &mut PageBuf) -> Result<()> {
        self.file.write_at(self.offset(page), contents.bytes_mut())
    }

    /// Makes what was written durable.
    ///
    /// # Errors
    /// [`Error::Halted`]: after a failed sync nothing is known.
    pub fn sync(&self) -> Result<()> {
        self.unless_halted(|| self.guard.sync_data())
    }

    /// The length, in pages.
    ///
    /// # Errors
    /// I/O.
    pub fn pages(&self) -> Result<u64> {
        Ok(self.file.len()? / self.page_bytes as u64)
    }

    /// Makes the file `pages` long; what is new is zero.
    ///
    /// # Errors
    /// [`Error::Full`]; I/O.
    pub fn grow(&self, pages: u64) -> Result<()> {
        self.file.set_len(pages * self.page_bytes as u64)
    }
}
