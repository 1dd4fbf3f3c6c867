//! The ranks of latches and locks, and the check that they are taken in order.
//!
//! A rank is part of a lock's type ([`super::Mutex`]); with debug assertions each thread knows what it holds. Whoever
//! waits for a lock holds none of the same or a higher rank; whoever only tries may. Nobody touches a disk, or waits in
//! the environment's one wait, while holding something above [`IO`]. `docs/lock-order.md` is the same list with words.
//! Without debug assertions nothing of this is there.

/// The rank of a lock that is not checked: those of tests and of the simulation itself.
pub const NONE: u16 = 0;
/// One checkpoint at a time.
pub const CHECKPOINT: u16 = 10;
/// The permit to spill versions, which the layer above takes.
pub const SPILL: u16 = 15;
/// A permit for structure modifications.
pub const SMO_PERMIT: u16 = 20;
/// The cleaner's permit.
pub const CLEANER: u16 = 30;
/// Growth of the data file.
pub const GROWTH: u16 = 40;
/// The log's maintenance.
pub const MAINTENANCE: u16 = 50;
/// A batch of the double-write area.
pub const DOUBLEWRITE: u16 = 60;
/// The double-write area's state.
pub const DOUBLEWRITE_STATE: u16 = 70;
/// The control file's state.
pub const CONTROL: u16 = 80;
/// The log flusher's work: its thread waits for it, a helper only tries.
pub const FLUSHER: u16 = 85;
/// Whoever holds nothing above this may touch a disk and wait.
pub const IO: u16 = 89;
/// A frame's latch: only ever tried, so that it is never out of order itself.
pub const LATCH: u16 = 90;
/// What is held in escrow for a tree, and who has batches; each alone.
pub const ESCROW: u16 = 95;
/// Pages of a tree that have been freed.
pub const FREED: u16 = 100;
/// Pages of a tree that may be allocated.
pub const SPARE: u16 = 101;
/// Extents of a tree.
pub const GRANTED: u16 = 102;
/// A worker's free pages.
pub const CACHE: u16 = 103;
/// What a worker promises extents out of.
pub const RESERVE: u16 = 105;
/// The maps.
pub const MAPS: u16 = 110;
/// A list of pages in transit.
pub const TRANSIT: u16 = 120;
/// Prepared transactions: their records are claimed under it.
pub const PREPARED: u16 = 130;
/// A bucket of the page table, or its stash: within one another is only tried.
pub const BUCKET: u16 = 135;
/// Log insert.
pub const INSERT: u16 = 140;
/// Lists of waiters, and page buffers that nobody uses; each alone.
pub const WAITERS: u16 = 150;
/// Why the log has halted.
pub const REASON: u16 = 155;
/// The map of segments.
pub const SEGMENTS: u16 = 160;
/// What has been done to checkpoint, and to archive.
pub const CHECKPOINTS: u16 = 165;
/// Background threads that will be joined.
pub const THREADS: u16 = 170;
/// One search for a deadlock at a time.
pub const DETECTING: u16 = 200;
/// What an owner waits for.
pub const WAITING: u16 = 210;
/// The serializable transactions, their conflicts and SIREAD locks.
pub const SERIALIZABLE: u16 = 205;
/// A shard of the keys that serializable transactions have read.
pub const SIREAD_POINTS: u16 = 206;
/// Timestamps of transactions and of what they have read; each alone.
pub const TIMESTAMPS: u16 = 207;
/// An owner's list of intention locks.
pub const INTENTS: u16 = 220;
/// A shard of the table locks.
pub const TABLE_LOCKS: u16 = 230;
/// A shard of the locks on keys and ranges.
pub const RANGE_LOCKS: u16 = 235;
/// A shard of the keys in trees of which only keys are locked.
pub const RANGE_KEYS: u16 = 237;
/// A shard of the partitions that transactions are in, what a session has learnt of them; each alone.
pub const PARTITIONS: u16 = 236;
/// A record node's state.
pub const NODE: u16 = 240;
/// Spilled row locks that stand in their queues again: taken under a node's state.
pub const LOCK_RUN: u16 = 245;
/// A worker's queues of garbage, its free states, the lists of spilled runs, of versions and of row locks, who waits for
/// whose end, owners of advisory locks that are free, dropped trees, numbers of transactions that users see; each alone.
pub const GARBAGE: u16 = 250;
/// The list of late commits.
pub const LATE: u16 = 260;
/// Those who wait for the watermark.
pub const WATERMARK: u16 = 270;
/// The catalog's next state is being made.
pub const CATALOG: u16 = 300;
/// What older snapshots read instead of the catalog's current state.
pub const PAST: u16 = 310;
/// Object identifiers and row identifiers that nobody has yet; each alone.
pub const IDENTIFIERS: u16 = 320;
/// The cache of plans.
pub const PLANS: u16 = 330;
/// The list of sessions.
pub const SESSIONS: u16 = 340;
/// Who knows the sessions' connections, what had been counted at the last reset, what sessions count; each alone.
pub const ACTIVITY: u16 = 350;
/// What EXPLAIN ANALYZE counts.
pub const COUNTERS: u16 = 360;

/// One lock that this thread holds, or nothing where nothing is checked.
#[derive(Debug)]
pub struct Held<const RANK: u16>(());

#[cfg(all(debug_assertions, not(loom)))]
mod check {
    use super::{IO, LATCH, NONE};
    use std::cell::RefCell;

    thread_local! {
        static HELD: RefCell<Vec<u16>> = const { RefCell::new(Vec::new()) };
    }

    /// While a thread unwinds it only lets go, and a second panic would hide the first.
    fn highest() -> Option<u16> {
        if std::thread::panicking() {
            return None;
        }
        HELD.try_with(|held| held.borrow().iter().copied().max()).ok().flatten()
    }

    pub(super) fn waits_for(rank: u16) {
        if rank != NONE
            && let Some(highest) = highest()
        {
            assert!(highest < rank, "rank {rank} is waited for while {highest} is held");
        }
    }

    pub(super) fn push(rank: u16) {
        if rank != NONE {
            let _ = HELD.try_with(|held| held.borrow_mut().push(rank));
        }
    }

    pub(super) fn pop(rank: u16) {
        if rank != NONE {
            let _ = HELD.try_with(|held| {
                let mut held = held.borrow_mut();
                if let Some(at) = held.iter().rposition(|held| *held == rank) {
                    held.swap_remove(at);
                }
            });
        }
    }

    pub(super) fn touches_disk() {
        if let Some(highest) = highest() {
            assert!(highest <= IO, "the disk is touched while {highest} is held");
        }
    }

    pub(super) fn rests(for_log_room: bool) {
        // A claim may wait for room in the log ring with latches held: the flusher, who makes room, takes none.
        let limit = if for_log_room { super::INSERT.max(LATCH) } else { IO };
        if let Some(highest) = highest() {
            assert!(highest <= limit, "a wait begins while {highest} is held");
        }
    }
}

#[cfg(not(all(debug_assertions, not(loom))))]
mod check {
    pub(super) fn waits_for(_: u16) {}
    pub(super) fn push(_: u16) {}
    pub(super) fn pop(_: u16) {}
    pub(super) fn touches_disk() {}
    pub(super) fn rests(_: bool) {}
}

impl<const RANK: u16> Held<RANK> {
    /// A lock is about to be waited for.
    #[inline(always)]
    pub(super) fn before() {
        check::waits_for(RANK);
    }

    /// It has been taken.
    #[inline(always)]
    pub(super) fn now() -> Held<RANK> {
        check::push(RANK);
        Held(())
    }
}

impl<const RANK: u16> Drop for Held<RANK> {
    #[inline(always)]
    fn drop(&mut self) {
        check::pop(RANK);
    }
}

/// A latch is about to be waited for.
#[inline(always)]
pub fn awaited(rank: u16) {
    check::waits_for(rank);
}

/// A latch has been taken.
#[inline(always)]
pub fn latched(rank: u16) {
    check::push(rank);
}

/// A latch has been let go of.
#[inline(always)]
pub fn unlatched(rank: u16) {
    check::pop(rank);
}

/// The disk is about to be touched.
#[inline(always)]
pub fn touches_disk() {
    check::touches_disk();
}

/// A wait is about to begin, for room in the log ring or for something else.
#[inline(always)]
pub fn rests(for_log_room: bool) {
    check::rests(for_log_room);
}

#[cfg(all(test, debug_assertions, not(loom)))]
mod tests {
    use super::super::{Mutex, lock, try_lock};
    use super::{MAPS, SEGMENTS, SMO_PERMIT, rests, touches_disk};
    use std::panic::catch_unwind;

    #[test]
    fn locks_are_taken_in_the_order_of_their_ranks() {
        let (low, high) = (Mutex::<(), MAPS>::default(), Mutex::<(), SEGMENTS>::default());
        {
            let (_low, _high) = (lock(&low), lock(&high));
        }
        let wrong = catch_unwind(|| {
            let _high = lock(&high);
            let _low = lock(&low);
        });
        assert!(wrong.is_err());
        // Whoever only tries waits for nobody; and what has been let go of does not count.
        let _high = lock(&high);
        assert!(try_lock(&low).is_some());
    }

    #[test]
    fn the_same_rank_twice_is_refused() {
        let (one, two) = (Mutex::<(), MAPS>::default(), Mutex::<(), MAPS>::default());
        let _one = lock(&one);
        assert!(catch_unwind(|| drop(lock(&two))).is_err());
    }

    #[test]
    fn nobody_waits_or_touches_a_disk_with_a_latch() {
        let (permit, maps) = (Mutex::<(), SMO_PERMIT>::default(), Mutex::<(), MAPS>::default());
        let _permit = lock(&permit);
        touches_disk();
        rests(false);
        let _maps = lock(&maps);
        assert!(catch_unwind(touches_disk).is_err());
        assert!(catch_unwind(|| rests(false)).is_err());
        rests(true);
    }
}
