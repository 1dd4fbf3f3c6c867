//! Two-phase locking: what is read is locked shared, what is written exclusive, all to the transaction's end.
//!
//! Papers: Eswaran et al., CACM 1976; Yu et al., *Staring into the Abyss*, VLDB 2014, section 2.1. There is no snapshot: a statement
//! reads what has been committed last, under its locks. The three schemes differ in what becomes of a request that somebody is in
//! the way of: [`detect`], [`no_wait`], [`wait_die`]. The locks are those of `lock/range.rs`.
//!
//! Invariants. (1) A key or range is locked before the pages are read. (2) A write's key is locked, in every tree it has an entry
//! in, before it is in the write set. (3) Nothing goes before the commit is applied, or the rollback is done: a rollback to a
//! savepoint lets go of no lock either, for what was read by then has been told. So the order of the ends is a serial order. A
//! transaction that is prepared locks nothing more, so what it has locked to read goes then: its place is where it was prepared.
//!
//! Row locks (`FOR UPDATE`, `UPDATE`) are taken as under every scheme, behind the key's lock here, so that nobody waits for them but
//! behind those who know no such lock (an index that is built concurrently). Table locks are waited for under every scheme, and a
//! cycle through them is a deadlock.
//!
//! Schedule, write skew: 1 reads x (S x), 2 reads y (S y), 1 writes y: 2 is in the way. `2pl_detect`: 1 waits, 2 writes x,
//! would wait for 1, and is the victim. `2pl_no_wait`: 1 is aborted at once. `2pl_wait_die`: 1 is older and waits; 2, which
//! wants x of the older 1, dies.

mod detect;
mod no_wait;
mod wait_die;

use crate::lock::range::{HeldRanges, Rule};

/// What becomes of a request that somebody is in the way of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnConflict {
    /// It waits, and deadlocks are looked for.
    Detect,
    /// It is refused.
    NoWait,
    /// It waits for younger ones, and is refused for the sake of older ones.
    WaitDie,
}

impl OnConflict {
    /// All there are, as the records of prepared transactions number them.
    pub(crate) const ALL: [OnConflict; 3] =
        [OnConflict::Detect, OnConflict::NoWait, OnConflict::WaitDie];

    /// Who may wait for whom.
    #[must_use]
    pub fn rule(self) -> Rule {
        match self {
            OnConflict::Detect => detect::may_wait,
            OnConflict::NoWait => no_wait::may_wait,
            OnConflict::WaitDie => wait_die::may_wait,
        }
    }
}

/// What a transaction holds.
#[derive(Debug)]
pub(crate) struct Locks {
    pub(crate) on_conflict: OnConflict,
    pub(crate) held: HeldRanges,
}

impl Locks {
    pub(crate) fn new(on_conflict: OnConflict) -> Locks {
        Locks { on_conflict, held: HeldRanges::default() }
    }
}
