//! The transaction component: timestamps, record table, locks, commit. It has never heard of a page, a type or SQL.
//!
//! Paper: Levandoski et al., *Deuteronomy*, CIDR 2015 (the TC half); Johnson et al., *Shore-MT*, EDBT 2009 (locks);
//! Yu et al., *Staring into the Abyss*, VLDB 2014 (schemes).
//!
//! The one rule: log first, then apply. A transaction keeps its writes to itself; commit claims one log record, whose
//! LSN is the commit's timestamp, and only then changes trees. What is told to a user is durable, and so is
//! everything it was derived from.

mod background;
pub mod commit;
pub mod error;
pub mod exported;
#[cfg(test)]
#[path = "../../storage/src/golden.rs"]
mod golden;
pub mod id;
pub mod introspect;
pub mod lock;
pub mod log;
pub mod manager;
pub mod metrics;
mod moves;
pub mod owner;
pub mod planted;
pub mod prepared;
pub mod record;
pub mod recovery;
pub mod restore;
pub mod run;
pub mod scheme;
pub mod sync;
#[cfg(test)]
mod tests;
pub mod timestamps;
pub mod transaction;
mod versions;
pub mod wait;
pub mod without;
pub mod writeset;
pub mod xact_id;

pub use error::{ConflictKind, DeadlockEdge, Error, LockTarget, Result};
pub use exported::{ExportedSnapshots, Exporter};
pub use id::{CommandId, Isolation, TableId, Timestamp, TxnId};
pub use introspect::{LockInfo, SireadInfo, TransactionInfo};
pub use lock::advisory::{AdvisoryKey, AdvisoryLevel, AdvisoryLocks};
pub use lock::partition::{PARTITIONS_MAX, PartitionId};
pub use lock::report::{LockWait, LockWaitStage};
pub use lock::{RowLock, TableLock, WaitPolicy};
pub use manager::{Manager, Options};
pub use metrics::{Abort, Metrics};
pub use planted::{Fault, Planted};
pub use prepared::{PreparedInfo, Refused};
pub use recovery::PassTwo;
pub use restore::RestoreTarget;
pub use scheme::SchemeKind;
pub use scheme::hstore::placement::{ColumnEnd, FirstColumn, Placement};
pub use scheme::ssi::{Reason, SireadTarget};
pub use storage::breakdown;
pub use storage::device::faulty::FaultyDevice;
pub use storage::device::file::FileDevice;
pub use storage::device::overlay::OverlayDevice;
pub use storage::environment::{Joinable, SystemClock, Threads};
pub use storage::heap::Heap;
pub use storage::recovery::verify_log;
pub use storage::restore::{
    Label, Plan, Restore, RestoreFrom, TargetTimeline, is_asked_for, is_due, resume,
};
pub use storage::usage::{
    PagesUsed, Usage, count_temporary_read, count_temporary_written, time_io,
};
pub use storage::{
    Archive, ArchiveCounters, Archived, Backup, Cancel, Change, CheckpointReason, CheckpointReport,
    CheckpointWatch, Clock, DataComponent, Device, Direction, Duplicate, Environment,
    Error as StorageError, File, Loaded, Log, LogInsert, Lsn, MergeHeap, Micros, Packing,
    Scheduler, Scratch, ScratchFile, Tree, TreeId, TreeLoad, WaitCell, WaitEvent, Woken,
};
pub use timestamps::{TimestampAllocator, Timestamps};
pub use transaction::{
    Begin, Beside, Ended, KeyRange, LockMark, Locked, ReadView, RecordBuffer, RecordView,
    Savepoint, Scan, ScanRow, Transaction,
};
pub use wait::{LockWaits, SessionWait};
pub use without::Without;
pub use xact_id::{XactIds, XactSnapshot, XactStatus};

/// What the schemes decide by, apart from threads, latches and pages: for who drives it in an environment of its own.
pub mod decisions {
    pub use crate::lock::cycle::Reached;
    pub use crate::lock::partition::{PartitionId, PartitionLocks, PartitionSet};
    pub use crate::lock::spans::{Ages, RangeMode, RequestOutcome, Rule, Span, TreeLocks};
    pub use crate::owner::OwnerId;
    pub use crate::scheme::hstore::Partitioned;
    pub use crate::scheme::locking::OnConflict;
    pub use crate::scheme::occ::{Verdict, counts, judge};
    pub use crate::scheme::timestamp::order::Order;
    pub use crate::scheme::timestamp::stamps::ReadStamps;
    pub use crate::scheme::timestamp::{Overwritten, is_in_time, may_pass, may_wait, sees};
}

/// What suites of the layers above simulate power loss with.
pub mod simulation {
    pub use storage::chance::Chance;
    pub use storage::device::faulty::FaultSchedule;
    pub use storage::simulation::Simulation;
    pub use storage::{Fault as StorageFault, Planted as StoragePlanted};
}
