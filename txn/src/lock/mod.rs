//! Hierarchical locks: PostgreSQL's eight table modes and four row modes.

pub mod mode;

pub use mode::{RowLock, TableLock};

/// What to do where a lock is held by somebody else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WaitPolicy {
    /// Wait, at most `lock_timeout`.
    #[default]
    Block,
    /// NOWAIT: 55P03 at once.
    Error,
    /// SKIP LOCKED: say so, and go on.
    Skip,
}
