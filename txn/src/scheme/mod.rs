//! Concurrency-control schemes: what decides whether what a transaction has read and written may stand beside the others'.
//!
//! Paper: Yu et al., *Staring into the Abyss*, VLDB 2014, section 2. Under `mvcc` READ COMMITTED and REPEATABLE READ are decided by
//! snapshots and row locks alone, in `transaction`, and pass this door by with one branch; SERIALIZABLE is [`ssi`]. Under every
//! other scheme every transaction is serializable: `ssi` by the same, `occ` by the backward validation in [`occ`] and `commit/validate.rs`, the
//! three of two-phase locking by what [`locking`] locks, `timestamp` and `mvto` by who comes too late ([`timestamp`]), `hstore` by
//! who is in which partition ([`hstore`]).
//!
//! The door is what a transaction keeps for its scheme ([`Tracking`]), asked before and after each read, scan step and write, at a
//! rollback to a savepoint, before a commit's claim, after its publication, and at the end: `transaction/reading.rs`,
//! `transaction/tracked.rs`, `transaction/locked_reads.rs`, `transaction/timestamped.rs` and `transaction/partitioned.rs` are the only
//! callers.

pub mod hstore;
pub mod locking;
pub(crate) mod occ;
pub mod ssi;
pub mod timestamp;

use crate::Isolation;
use hstore::Partitioned;
use locking::{Locks, OnConflict};
use occ::ReadSet;
use ssi::Part;
use timestamp::{Overwritten, Stamped};

/// A scheme, as a database is made with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SchemeKind {
    /// Versions by snapshot, PostgreSQL's levels; SERIALIZABLE by serializable snapshot isolation.
    #[default]
    Mvcc,
    /// Serializable snapshot isolation of every transaction, as is the default's SERIALIZABLE.
    Ssi,
    /// Optimistic: every transaction is serializable, and is validated when it commits.
    Occ,
    /// Two-phase locking: every transaction is serializable, and locks what it reads.
    Locking(OnConflict),
    /// Timestamp ordering: every transaction is serializable, and has its place when it begins.
    Timestamp(Overwritten),
    /// Partitions: every transaction is serializable, and alone in those that it is in.
    Hstore,
}

/// What a transaction keeps for the scheme that watches it.
#[derive(Debug)]
pub(crate) enum Tracking {
    /// Its place among the serializable ones.
    Ssi(Part),
    /// What its commit validates.
    Occ(ReadSet),
    /// What it has locked.
    Locking(Locks),
    /// Its timestamp, and what it has marked.
    Stamped(Stamped),
    /// The partitions that it is in.
    Partitioned(Partitioned),
}

impl SchemeKind {
    /// All there are.
    pub const ALL: [SchemeKind; 9] = [
        SchemeKind::Mvcc,
        SchemeKind::Ssi,
        SchemeKind::Occ,
        SchemeKind::Locking(OnConflict::Detect),
        SchemeKind::Locking(OnConflict::NoWait),
        SchemeKind::Locking(OnConflict::WaitDie),
        SchemeKind::Timestamp(Overwritten::Refused),
        SchemeKind::Timestamp(Overwritten::Older),
        SchemeKind::Hstore,
    ];

    /// What users call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SchemeKind::Mvcc => "mvcc",
            SchemeKind::Ssi => "ssi",
            SchemeKind::Occ => "occ",
            SchemeKind::Locking(OnConflict::Detect) => "2pl_detect",
            SchemeKind::Locking(OnConflict::NoWait) => "2pl_no_wait",
            SchemeKind::Locking(OnConflict::WaitDie) => "2pl_wait_die",
            SchemeKind::Timestamp(Overwritten::Refused) => "timestamp",
            SchemeKind::Timestamp(Overwritten::Older) => "mvto",
            SchemeKind::Hstore => "hstore",
        }
    }

    /// The scheme of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<SchemeKind> {
        SchemeKind::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// Whether it keeps others away from what is read, so that there is no snapshot that a transaction keeps to.
    #[must_use]
    pub fn locks_reads(self) -> bool {
        matches!(self, SchemeKind::Locking(_) | SchemeKind::Hstore)
    }

    /// Whether a row that somebody changes has a lock of its own.
    #[must_use]
    pub fn locks_rows(self) -> bool {
        self != SchemeKind::Hstore
    }

    /// Whether what is read or written is known by keys of trees for as long as it matters, so that no tree may take the place of
    /// another meanwhile.
    #[must_use]
    pub fn stands_on_keys(self) -> bool {
        matches!(self, SchemeKind::Locking(_) | SchemeKind::Timestamp(_))
    }

    /// Whether a snapshot is all that says what a transaction sees, so that others can read by it.
    #[must_use]
    pub fn exports(self) -> bool {
        matches!(self, SchemeKind::Mvcc | SchemeKind::Ssi | SchemeKind::Occ)
    }

    /// Whether its transactions can be prepared.
    #[must_use]
    pub fn prepares(self) -> bool {
        !matches!(self, SchemeKind::Timestamp(_) | SchemeKind::Hstore)
    }

    /// How a transaction of this level takes its snapshots: one for all of its statements, or one for each. Under two-phase
    /// locking what a statement reads is what its locks keep, under `hstore` what its partitions do.
    pub(crate) fn level(self, asked: Isolation) -> Isolation {
        match self {
            SchemeKind::Mvcc => asked,
            SchemeKind::Ssi | SchemeKind::Occ | SchemeKind::Timestamp(_) => Isolation::Serializable,
            SchemeKind::Locking(_) | SchemeKind::Hstore => Isolation::ReadCommitted,
        }
    }
}

impl Tracking {
    pub(crate) fn occ(&self) -> Option<&ReadSet> {
        match self {
            Tracking::Occ(reads) => Some(reads),
            _ => None,
        }
    }

    pub(crate) fn occ_mut(&mut self) -> Option<&mut ReadSet> {
        match self {
            Tracking::Occ(reads) => Some(reads),
            _ => None,
        }
    }

    pub(crate) fn locking_mut(&mut self) -> Option<&mut Locks> {
        match self {
            Tracking::Locking(locks) => Some(locks),
            _ => None,
        }
    }
}
