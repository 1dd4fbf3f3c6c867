//! What can go wrong below, by who reacts: a variant exists only where somebody does something different.

use crate::id::{PageId, TreeId};

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the data component.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be opened, read, created or locked: the statement (or the start) ends, the instance goes on.
    #[error("{0}: {1}")]
    Io(String, #[source] std::io::Error),
    /// A log write or any sync failed, or the instance has already stopped for one: nobody may be answered, only
    /// recovery starts it again.
    #[error("the log or a data file could not be made durable: {0}")]
    Halted(String),
    /// The log, the data files or the scratch space have reached their limit. Found before anything was claimed.
    #[error("no space left: {0}")]
    Full(&'static str),
    /// A page's bytes are not what was written; the operator restores, or the log has the image.
    #[error("page {0:?} is corrupt: {1}")]
    Corrupt(PageId, &'static str),
    /// The log, the control file or a record's contents are not what was written.
    #[error("{0}")]
    CorruptLog(String),
    /// Every frame of the pool is pinned, or dirty and not yet written, for longer than anyone should wait.
    #[error("no frame of the buffer pool could be freed")]
    PoolExhausted,
    /// A key or a record is larger than a page of this size can hold.
    #[error("a record of {size} bytes exceeds the limit of {limit}")]
    TooLarge {
        /// What was asked for, in bytes.
        size: usize,
        /// What a page of this size takes, in bytes.
        limit: usize,
    },
    /// The tree has been dropped, or never was.
    #[error("tree {0:?} does not exist")]
    NoTree(TreeId),
    /// The wait was cancelled by the user or by a deadline of the caller.
    #[error("cancelled")]
    Cancelled,
    /// The directory belongs to another server that is running, another format, or another page size.
    #[error("{0}")]
    Refused(String),
}
