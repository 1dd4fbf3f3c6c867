//! What can go wrong in a transaction, by who reacts.

/// The result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of the transaction component.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Another transaction changed what this one's snapshot shows (40001): the client retries.
    #[error("could not serialize access due to {0}")]
    Conflict(ConflictKind),
    /// This transaction was chosen to break a cycle of waits (40P01): the client retries.
    #[error("deadlock detected")]
    Deadlock(Vec<DeadlockEdge>),
    /// NOWAIT met a lock, or `lock_timeout` passed (55P03).
    #[error("{}", if *timeout { "canceling statement due to lock timeout" } else { "could not obtain lock" })]
    LockNotAvailable {
        /// Whether it was the timeout.
        timeout: bool,
    },
    /// The session was asked to stop; the reason is what [`storage::Cancel`] was raised with (57014, 57P01, 25P03).
    #[error("cancelled for reason {0}")]
    Cancelled(u32),
    /// The version a snapshot needs could not be kept (72000).
    #[error("snapshot too old")]
    SnapshotTooOld,
    /// The write set, the versions or the locks have passed their limit (53200).
    #[error("out of memory: {0}")]
    OutOfMemory(&'static str),
    /// The data component's own.
    #[error(transparent)]
    Storage(#[from] storage::Error),
}

/// What happened, as PostgreSQL's message says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictKind {
    /// It changed the row.
    Update,
    /// It deleted the row.
    Delete,
    /// Reads and writes of serializable transactions depend on each other in a cycle, or might.
    ReadWrite(crate::Reason),
}

impl std::fmt::Display for ConflictKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ConflictKind::Update => "concurrent update",
            ConflictKind::Delete => "concurrent delete",
            ConflictKind::ReadWrite(_) => "read/write dependencies among transactions",
        })
    }
}

/// One wait of a deadlock: who waits for whom, for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockEdge {
    /// The session that waits (its process number as clients know it).
    pub waiter: u32,
    /// The session it waits for.
    pub holder: u32,
    /// The lock mode, in PostgreSQL's words.
    pub mode: &'static str,
    /// What is locked.
    pub target: LockTarget,
}

/// What a lock stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockTarget {
    /// A whole table.
    Table(crate::TableId),
    /// One record.
    Row(storage::TreeId, Vec<u8>),
    /// A partition.
    Partition(crate::PartitionId),
    /// A transaction's end, by its session's number as clients know it.
    Transaction(u32, crate::TxnId),
    /// A name: an advisory lock.
    Name(crate::AdvisoryKey),
}

impl LockTarget {
    /// Of a node that stands for a name.
    pub(crate) fn name(key: &[u8]) -> LockTarget {
        LockTarget::Name(crate::AdvisoryKey::of(key))
    }
}
