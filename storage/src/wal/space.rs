//! Log space: what has been set aside before anything is claimed, so that a full disk or a full log is found while
//! everything may still fail.
//!
//! The *pool* is the part of the prepared segments that nobody has reserved. Workers draw on it in chunks and keep the
//! rest as *credit* of their own, so that a reservation usually touches one cache line that nobody shares. The last of
//! the pool is kept for [`SpaceClass::System`]: what frees space must not wait for space. A claim therefore never
//! meets a segment that does not exist yet: tail + reserved + credit <= end of the prepared segments.
//!
//! Behind that share lies the *restart's*, which nobody takes while the server runs: whole segments, so that a new epoch
//! can begin, and recovery can log, on a disk without a free byte.

use super::SpaceClass;
use crate::sync::atomic::{AtomicU64, Ordering};
use crossbeam_utils::CachePadded;

/// What of the log is prepared and not yet spoken for.
#[derive(Debug)]
pub(super) struct Space {
    pool: CachePadded<AtomicU64>,
    credits: Box<[CachePadded<Credit>]>,
    /// How much a worker draws ahead, in bytes.
    chunk: u64,
    /// How much only the system class may use, in bytes.
    kept: u64,
    /// How much only a restart may use, in bytes; nothing is kept from the restart itself.
    restart: AtomicU64,
}

/// One worker's share.
#[derive(Debug, Default)]
struct Credit {
    bytes: AtomicU64,
    /// What has been set aside for splits and is outstanding: it does not count against the log's limit.
    splits: AtomicU64,
}

impl Space {
    /// An empty pool for `workers` workers that draw `chunk` bytes ahead, the last `kept` bytes for the system.
    pub(super) fn new(workers: usize, chunk: u64, kept: u64) -> Space {
        let credits = (0..workers).map(|_| CachePadded::default()).collect();
        let restart = AtomicU64::new(0);
        Space { pool: CachePadded::new(AtomicU64::new(0)), credits, chunk, kept, restart }
    }

    /// From now on the last `bytes` are kept for the next restart.
    pub(super) fn keep_for_restart(&self, bytes: u64) {
        self.restart.store(bytes, Ordering::Release);
    }

    /// How much is kept for the next restart, in bytes.
    pub(super) fn kept_for_restart(&self) -> u64 {
        self.restart.load(Ordering::Acquire)
    }

    /// Counts `bytes` of a reservation as set aside for splits.
    #[inline]
    pub(super) fn begin_splits(&self, worker: usize, bytes: u64) {
        self.credits[worker].splits.fetch_add(bytes, Ordering::Relaxed);
    }

    /// The reservation has ended.
    #[inline]
    pub(super) fn end_splits(&self, worker: usize, bytes: u64) {
        self.credits[worker].splits.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// What is set aside for splits, in bytes.
    pub(super) fn for_splits(&self) -> u64 {
        self.credits.iter().map(|credit| credit.splits.load(Ordering::Relaxed)).sum()
    }

    /// What nobody has drawn yet, in bytes.
    pub(super) fn pooled(&self) -> u64 {
        self.pool.load(Ordering::Relaxed)
    }

    /// How much only the system class may use, in bytes.
    pub(super) fn kept(&self) -> u64 {
        self.kept
    }

    /// Adds a prepared segment's bytes.
    pub(super) fn add(&self, bytes: u64) {
        self.pool.fetch_add(bytes, Ordering::AcqRel);
    }

    /// Sets `bytes` aside, out of the worker's credit if that is enough. Every move of bytes acquires and releases: who
    /// has reserved space has the preparation of the segment it lies in behind it.
    #[inline]
    pub(super) fn take(&self, worker: usize, class: SpaceClass, bytes: u64) -> Taken {
        if subtract(&self.credits[worker].bytes, bytes, 0) {
            return Taken::FromCredit;
        }
        self.draw(worker, class, bytes)
    }

    #[cold]
    fn draw(&self, worker: usize, class: SpaceClass, bytes: u64) -> Taken {
        let kept = if class == SpaceClass::Commit { self.kept } else { 0 };
        let floor = kept + self.kept_for_restart();
        if class == SpaceClass::Commit && subtract(&self.pool, bytes + self.chunk, floor) {
            self.credits[worker].bytes.fetch_add(self.chunk, Ordering::AcqRel);
            return Taken::FromPool;
        }
        if subtract(&self.pool, bytes, floor) {
            return Taken::FromPool;
        }
        // Others may have drawn more than they need.
        for credit in &self.credits {
            self.add(credit.bytes.swap(0, Ordering::AcqRel));
        }
        if subtract(&self.pool, bytes, floor) { Taken::FromPool } else { Taken::Nothing }
    }

    /// Gives `bytes` back.
    #[inline]
    pub(super) fn give(&self, worker: usize, bytes: u64) {
        let credit = &self.credits[worker].bytes;
        if credit.fetch_add(bytes, Ordering::AcqRel) + bytes > 4 * self.chunk {
            self.add(credit.swap(0, Ordering::AcqRel));
        }
    }
}

/// Where reserved space came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// From the worker's own credit.
    FromCredit,
    /// From the pool: it may be worth preparing more.
    FromPool,
    /// There is not enough.
    Nothing,
}

/// Takes `bytes` from `from` if that leaves `floor`.
#[inline]
fn subtract(from: &AtomicU64, bytes: u64, floor: u64) -> bool {
    from.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |have| {
        have.checked_sub(bytes).filter(|left| *left >= floor)
    })
    .is_ok()
}

#[cfg(test)]
mod tests {
    use super::{Space, Taken};
    use crate::wal::SpaceClass::{Commit, System};

    #[test]
    fn commits_are_refused_before_the_system_is_and_idle_credit_is_found() {
        let space = Space::new(2, 100, 300);
        space.add(1000);
        assert_eq!(space.take(0, Commit, 50), Taken::FromPool);
        assert_eq!((space.pooled(), space.take(0, Commit, 60)), (850, Taken::FromCredit));
        assert_eq!(space.take(1, Commit, 580), Taken::FromPool, "worker 0's credit is gathered");
        assert_eq!((space.pooled(), space.take(1, Commit, 11)), (310, Taken::Nothing));
        assert_eq!(space.take(1, System, 310), Taken::FromPool);
        assert_eq!(space.take(1, System, 1), Taken::Nothing);
        space.give(1, 401);
        assert_eq!(space.pooled(), 401, "a large credit goes back to the pool");
    }
}
