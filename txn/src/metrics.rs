//! What the transaction component has done and holds, for the metrics endpoint and `pg_stat_database`.
//!
//! Counters stand per worker, each on its own cache line, and are added up when somebody asks.

use crate::manager::Manager;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::{ConflictKind, Error, Lsn, Reason};
use crossbeam_utils::CachePadded;

/// Why a transaction rolled back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(usize)]
pub enum Abort {
    /// ROLLBACK, or a session that went away.
    Asked,
    /// 40001: somebody else was the first to change a row.
    Overtaken,
    /// 40001, as the other schemes say it: see [`Reason`].
    Pivot,
    /// 40001: what it had read has been changed.
    Validation,
    /// 40001: a lock was busy.
    LockBusy,
    /// 40001: a lock was an older transaction's.
    Died,
    /// 40001: a younger transaction had written what it read.
    ReadTooLate,
    /// 40001: a younger transaction had read or written what it wrote.
    WriteTooLate,
    /// 40001: it left its partitions.
    LeftPartitions,
    /// 40P01.
    Deadlock,
    /// 55P03.
    Lock,
    /// A cancel or a timeout.
    Cancelled,
    /// Anything else: an error of a statement.
    #[default]
    Other,
}

impl Abort {
    /// All there are, in their order.
    pub const ALL: [Abort; 13] = [
        Abort::Asked,
        Abort::Overtaken,
        Abort::Pivot,
        Abort::Validation,
        Abort::LockBusy,
        Abort::Died,
        Abort::ReadTooLate,
        Abort::WriteTooLate,
        Abort::LeftPartitions,
        Abort::Deadlock,
        Abort::Lock,
        Abort::Cancelled,
        Abort::Other,
    ];

    /// What made a transaction end that failed with this error.
    #[must_use]
    pub fn of(error: &Error) -> Abort {
        match error {
            Error::Conflict(ConflictKind::Update | ConflictKind::Delete) => Abort::Overtaken,
            Error::Conflict(ConflictKind::ReadWrite(reason)) => match reason {
                Reason::Validation => Abort::Validation,
                Reason::LockBusy => Abort::LockBusy,
                Reason::Died => Abort::Died,
                Reason::ReadTooLate => Abort::ReadTooLate,
                Reason::WriteTooLate => Abort::WriteTooLate,
                Reason::LeftPartitions => Abort::LeftPartitions,
                Reason::DoomedRead
                | Reason::DoomedWrite
                | Reason::DoomedCommit
                | Reason::Write
                | Reason::Read(_)
                | Reason::OldPivot(_)
                | Reason::SummarizedPivot
                | Reason::OldCommitted(_)
                | Reason::PreparedPivot => Abort::Pivot,
            },
            Error::Deadlock(_) => Abort::Deadlock,
            Error::LockNotAvailable { .. } => Abort::Lock,
            Error::Cancelled(_) => Abort::Cancelled,
            Error::SnapshotTooOld | Error::OutOfMemory(_) | Error::Storage(_) => Abort::Other,
        }
    }

    /// What it is called where it is counted.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Abort::Asked => "rolled_back",
            Abort::Overtaken => "overtaken",
            Abort::Pivot => "pivot",
            Abort::Validation => "validation_failed",
            Abort::LockBusy => "lock_busy",
            Abort::Died => "died",
            Abort::ReadTooLate => "read_too_late",
            Abort::WriteTooLate => "write_too_late",
            Abort::LeftPartitions => "left_partitions",
            Abort::Deadlock => "deadlock",
            Abort::Lock => "lock_not_available",
            Abort::Cancelled => "cancelled",
            Abort::Other => "failed",
        }
    }

    /// Whether it is 40001.
    fn is_conflict(self) -> bool {
        match self {
            Abort::Overtaken
            | Abort::Pivot
            | Abort::Validation
            | Abort::LockBusy
            | Abort::Died
            | Abort::ReadTooLate
            | Abort::WriteTooLate
            | Abort::LeftPartitions => true,
            Abort::Asked | Abort::Deadlock | Abort::Lock | Abort::Cancelled | Abort::Other => false,
        }
    }
}

#[derive(Debug, Default)]
struct Counters {
    commits: AtomicU64,
    late: AtomicU64,
    aborts: [AtomicU64; Abort::ALL.len()],
}

/// Counters of all workers.
#[derive(Debug)]
pub(crate) struct Counts {
    workers: Box<[CachePadded<Counters>]>,
    pub(crate) checkpoints: AtomicU64,
    pub(crate) snapshots_given_up: AtomicU64,
    pub(crate) collections: AtomicU64,
}

/// What has happened since the manager was opened, and how things stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Transactions that committed, read-only ones too.
    pub commits: u64,
    /// Commits that were applied late.
    pub late_commits: u64,
    /// Transactions that rolled back because they were asked to.
    pub rollbacks: u64,
    /// Commits that failed, by kind: 40001.
    pub aborts_conflict: u64,
    /// 40P01.
    pub aborts_deadlock: u64,
    /// 55P03.
    pub aborts_lock: u64,
    /// Cancelled.
    pub aborts_cancelled: u64,
    /// Anything else.
    pub aborts_other: u64,
    /// Lock requests that had to wait.
    pub lock_waits: u64,
    /// Deadlocks found.
    pub deadlocks: u64,
    /// Older versions in memory.
    pub versions_held: u64,
    /// What they and the nodes that stand for them occupy, in bytes.
    pub version_bytes: u64,
    /// Versions reclaimed from memory.
    pub versions_reclaimed: u64,
    /// Versions moved to scratch space since the manager was opened.
    pub versions_spilled: u64,
    /// Of these, how many are there now.
    pub spilled_held: u64,
    /// What they occupy there, in bytes.
    pub spilled_bytes: u64,
    /// Reads that found their version there.
    pub spilled_reads: u64,
    /// Tombstones that wait for their removal.
    pub tombstones: u64,
    /// Snapshots that failed because versions were over their limit.
    pub snapshots_given_up: u64,
    /// Rounds of the background collector.
    pub collections: u64,
    /// The oldest snapshot, if there is one.
    pub oldest_snapshot: Option<Lsn>,
    /// The visible watermark.
    pub visible: Lsn,
    /// Checkpoints taken.
    pub checkpoints: u64,
}

impl Counts {
    pub(crate) fn new(workers: usize) -> Counts {
        Counts {
            workers: (0..workers).map(|_| CachePadded::default()).collect(),
            checkpoints: AtomicU64::new(0),
            snapshots_given_up: AtomicU64::new(0),
            collections: AtomicU64::new(0),
        }
    }

    pub(crate) fn committed(&self, worker: usize) {
        self.workers[worker].commits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn late(&self, worker: usize) {
        self.workers[worker].late.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn aborted(&self, worker: usize, why: Abort) {
        self.workers[worker].aborts[why as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn sum(&self, of: impl Fn(&Counters) -> &AtomicU64) -> u64 {
        self.workers.iter().map(|worker| of(worker).load(Ordering::Relaxed)).sum()
    }
}

impl Manager {
    /// How things stand. Each number is exact, all together are of nearly the same moment.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        let (spilled_held, spilled_bytes) = self.spill.held();
        let aborts = |why: Abort| self.metrics.sum(|worker| &worker.aborts[why as usize]);
        Metrics {
            commits: self.metrics.sum(|worker| &worker.commits),
            late_commits: self.metrics.sum(|worker| &worker.late),
            rollbacks: aborts(Abort::Asked),
            aborts_conflict: Abort::ALL
                .into_iter()
                .filter(|why| why.is_conflict())
                .map(aborts)
                .sum(),
            aborts_deadlock: aborts(Abort::Deadlock),
            aborts_lock: aborts(Abort::Lock),
            aborts_cancelled: aborts(Abort::Cancelled),
            aborts_other: aborts(Abort::Other),
            lock_waits: self.locks.waits.load(Ordering::Relaxed),
            deadlocks: self.locks.deadlocks.load(Ordering::Relaxed),
            versions_held: self.collector.versions(),
            version_bytes: self.collector.bytes_exact(),
            versions_reclaimed: self.collector.reclaimed(),
            versions_spilled: self.spill.spilled(),
            spilled_held,
            spilled_bytes,
            spilled_reads: self.spill.reads(),
            tombstones: self.collector.tombstones() as u64,
            snapshots_given_up: self.metrics.snapshots_given_up.load(Ordering::Relaxed),
            collections: self.metrics.collections.load(Ordering::Relaxed),
            oldest_snapshot: self.locks.owners.oldest().map(|oldest| oldest.1),
            visible: self.visible(),
            checkpoints: self.metrics.checkpoints.load(Ordering::Relaxed),
        }
    }
}
