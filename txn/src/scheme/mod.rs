//! Concurrency-control schemes: what decides whether what a transaction has read and written may stand beside the others'.
//!
//! Paper: Yu et al., *Staring into the Abyss*, VLDB 2014, section 2. Under `mvcc` READ COMMITTED and REPEATABLE READ are decided by
//! snapshots and row locks alone, in `transaction`, and pass this door by with one branch; SERIALIZABLE is [`ssi`]. Under `occ`
//! every transaction is serializable, by the backward validation in [`occ`] and `commit/validate.rs`.
//!
//! The door is what a transaction keeps for its scheme ([`Tracking`]), asked at each read, scan step and write, at a rollback to a
//! savepoint, before a commit's claim, after its publication, and at the end: `transaction/reading.rs` and
//! `transaction/tracked.rs` are the only callers.

pub(crate) mod occ;
pub mod ssi;

use occ::ReadSet;
use ssi::Part;

/// A scheme, as a database is made with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SchemeKind {
    /// Versions by snapshot, PostgreSQL's levels; SERIALIZABLE by serializable snapshot isolation.
    #[default]
    Mvcc,
    /// Optimistic: every transaction is serializable, and is validated when it commits.
    Occ,
}

/// What a transaction keeps for the scheme that watches it.
#[derive(Debug)]
pub(crate) enum Tracking {
    /// Its place among the serializable ones.
    Ssi(Part),
    /// What its commit validates.
    Occ(ReadSet),
}

impl Tracking {
    pub(crate) fn occ(&self) -> Option<&ReadSet> {
        match self {
            Tracking::Occ(reads) => Some(reads),
            Tracking::Ssi(_) => None,
        }
    }

    pub(crate) fn occ_mut(&mut self) -> Option<&mut ReadSet> {
        match self {
            Tracking::Occ(reads) => Some(reads),
            Tracking::Ssi(_) => None,
        }
    }

    pub(crate) fn ssi_mut(&mut self) -> Option<&mut Part> {
        match self {
            Tracking::Ssi(part) => Some(part),
            Tracking::Occ(_) => None,
        }
    }
}
