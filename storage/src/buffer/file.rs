//! The data file: pages by number. What is written over goes through the double-write area, what is new need not.
//!
//! A failed sync, of the file or of the area, halts the log: from then on nobody may be answered, and no page is written.

use crate::device::doublewrite::DoubleWrite;
use crate::device::{Device, File};
use crate::page::{self, PageBuf};
use crate::planted::Planted;
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
        Ok(DataFile { file, guard: Arc::new(guard), page_bytes, log: None })
    }

    /// The same file, whose failures halt `log`.
    #[must_use]
    pub fn with_log(self, log: Arc<Log>) -> DataFile {
        DataFile { log: Some(log), ..self }
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
            self.unless_halted(|| self.guard.write(&sealed))?;
        }
        Ok(())
    }

    /// Writes pages that nobody can name before they have been synced: torn ones are never met, so they need no guard.
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
