//! Temporary files: what an operator may not hold in memory goes to scratch space, counted for each session and bounded by
//! `temp_file_limit`. A file goes when it is dropped, so with the run, the cursor or the error that ends its use.
//!
//! PostgreSQL: `buffile.c`, and `FileWrite` in `fd.c` for the limit.

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use txn::{Scratch, ScratchFile};

/// How many bytes a session's temporary files hold.
#[derive(Clone, Debug, Default)]
pub struct TempUse(Arc<Used>);

#[derive(Debug)]
struct Used {
    bytes: AtomicU64,
    /// `log_temp_files`, in bytes; past all sizes if it is off.
    logged_from: AtomicU64,
    /// Files that are gone and have not been logged yet, with their sizes.
    gone: Mutex<Vec<(String, u64)>>,
    has_gone: AtomicBool,
    /// How many files are gone, logged or not, and how many bytes they had.
    ended: AtomicU64,
    ended_bytes: AtomicU64,
}

impl Default for Used {
    fn default() -> Used {
        Used {
            bytes: AtomicU64::new(0),
            logged_from: AtomicU64::new(u64::MAX),
            gone: Mutex::default(),
            has_gone: AtomicBool::new(false),
            ended: AtomicU64::new(0),
            ended_bytes: AtomicU64::new(0),
        }
    }
}

/// Where a session's temporary files are made.
#[derive(Clone, Copy)]
pub struct TempSpace<'s> {
    /// The instance's files.
    pub scratch: &'s Arc<Scratch>,
    /// What the session has.
    pub used: &'s TempUse,
    /// What it may have, in bytes.
    pub limit: Option<u64>,
}

impl TempUse {
    /// How many bytes they are.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// How many files it has had that are gone, and how many bytes they had.
    #[must_use]
    pub fn ended(&self) -> (u64, u64) {
        (self.0.ended.load(Ordering::Relaxed), self.0.ended_bytes.load(Ordering::Relaxed))
    }

    /// Files of so many bytes at least are to be logged when they go.
    pub fn log_from(&self, bytes: Option<u64>) {
        self.0.logged_from.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether there are files that are to be logged.
    #[must_use]
    #[inline]
    pub fn has_gone(&self) -> bool {
        self.0.has_gone.load(Ordering::Relaxed)
    }

    /// The files that are to be logged, with their sizes.
    #[must_use]
    pub fn take_gone(&self) -> Vec<(String, u64)> {
        self.0.has_gone.store(false, Ordering::Relaxed);
        std::mem::take(&mut *self.0.gone.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TempSpace<'_> {
    /// Makes an empty file.
    ///
    /// # Errors
    /// 53100; I/O.
    pub fn file(&self) -> Result<TempFile> {
        Ok(TempFile { file: self.scratch.file()?, used: self.used.clone(), counted: 0 })
    }
}

/// A temporary file: written at its end, read anywhere.
#[derive(Debug)]
pub struct TempFile {
    file: ScratchFile,
    used: TempUse,
    /// What of it is counted.
    counted: u64,
}

impl TempFile {
    /// Appends bytes and says where they begin.
    ///
    /// # Errors
    /// 53400 past `temp_file_limit`; 53100; I/O.
    pub fn append(&mut self, bytes: &[u8], space: TempSpace<'_>) -> Result<u64> {
        let (begin, more) = (self.counted, bytes.len() as u64);
        if let Some(limit) = space.limit
            && self.used.bytes() + more > limit
        {
            return Err(SqlError::new(
                SqlState::CONFIGURATION_LIMIT_EXCEEDED,
                format!("temporary file size exceeds temp_file_limit ({}kB)", limit / 1024),
            ));
        }
        self.counted += more;
        self.used.0.bytes.fetch_add(more, Ordering::Relaxed);
        txn::count_temporary_written(more, || self.file.write_at(begin, bytes))?;
        Ok(begin)
    }

    /// How long it is, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.counted
    }

    /// Fills `into` from an offset.
    ///
    /// # Errors
    /// I/O; reading past the end.
    pub fn read(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        Ok(txn::count_temporary_read(into.len() as u64, || self.file.read_at(offset, into))?)
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let used = &*self.used.0;
        used.bytes.fetch_sub(self.counted, Ordering::Relaxed);
        used.ended.fetch_add(1, Ordering::Relaxed);
        used.ended_bytes.fetch_add(self.counted, Ordering::Relaxed);
        if self.counted >= used.logged_from.load(Ordering::Relaxed) {
            let gone = (self.file.name().to_owned(), self.counted);
            used.gone.lock().unwrap_or_else(PoisonError::into_inner).push(gone);
            used.has_gone.store(true, Ordering::Relaxed);
        }
    }
}
