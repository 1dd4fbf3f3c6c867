//! Commit slots and the visible watermark: who is between claim and applied, and up to where nobody is.
//!
//! A committer takes a slot, *publishes* a lower bound of the LSN it will get (the log's tail), and only then claims.
//! The watermark is the tail, read first, lowered by the slots, read second: a claim that the tail already counts was
//! preceded by its slot's publication, so its slot is seen, unless it is free again and the commit is applied.
//!
//! What has been computed once stays true, since every later claim gets an LSN at or above the tail that was read. So
//! the newest result is kept in [`CommitSlots::visible`] and only ever grows, although a slow committer may publish a
//! bound below it. Readers take their snapshot from there, without a look at the slots: whoever frees a slot computes
//! anew before its commit is answered, so an answered commit is always below it.
//!
//! Invariants. (1) A slot's bound is never above the LSN its owner claims. (2) `visible` never shrinks. (3) A commit at
//! or below `visible` is applied, or was on the list of late commits before `visible` reached it. (4) Who takes a lock after
//! a commit has released it finds `shown` at or above that commit's LSN.
//!
//! Once a transaction validates its reads, a committer also *shares* its write set in its slot, before it publishes the
//! bound, and says its exact LSN after the claim. A validator, which has claimed, asks the slots
//! ([`CommitSlots::meets_before`]): whose claim precedes its own is seen there, or has freed its slot and is on its
//! pages, or on the list of late commits, which are asked afterwards.
//!
//! A commit may be applied while one with a lower LSN is not, which holds the watermark below both. Its locks go all the
//! same, so whoever is given one of them could take a snapshot that does not show what the lock stood for. So a committer
//! says first up to where locks *have been released* ([`CommitSlots::releases`]), and a snapshot waits until the watermark is
//! there ([`CommitSlots::shown`]): PostgreSQL's order, which ends a transaction for all snapshots before it lets its locks go.
//!
//! Two bounds stand in a slot. `bound` holds the watermark; `floor` holds only the redo point of checkpoints, for a
//! commit in parts, whose first part was claimed long before its last.

use crate::Lsn;
use crate::planted::{Fault, Planted};
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
use crate::sync::{Arc, Mutex, lock, rank, try_lock};
use crossbeam_utils::CachePadded;

/// Nobody has the slot.
const FREE: u64 = u64::MAX;
/// Somebody has it and holds nothing back yet.
const TAKEN: u64 = u64::MAX - 1;

/// A shared write set whose claim has not said its LSN.
const UNKNOWN: u64 = u64::MAX;

struct Slot<W> {
    bound: AtomicU64,
    floor: AtomicU64,
    /// The LSN of the claim, of who shares its writes.
    exact: AtomicU64,
    shared: Mutex<Option<Arc<W>>, { rank::LATE }>,
}

/// Whether a commit with a lower LSN writes what somebody has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictingCommit {
    /// None that has a slot.
    None,
    /// One with this LSN.
    At(Lsn),
    /// One may: its LSN is not known yet, or its writes.
    Unknown,
}

/// The slots of all workers, and the watermark. `W` is what a commit writes.
pub struct CommitSlots<W> {
    slots: Box<[CachePadded<Slot<W>>]>,
    /// One more than the highest slot that was ever taken: what a reader has to look at.
    used: CachePadded<AtomicUsize>,
    marks: CachePadded<Marks>,
    planted: Planted,
}

/// What whoever takes a snapshot looks at, in one line of the cache.
struct Marks {
    visible: AtomicU64,
    /// The highest LSN of a commit that was not visible yet when its locks went.
    released: AtomicU64,
}

/// A taken slot. Given back with [`CommitSlots::free`], or kept for good where the instance has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotId(usize);

impl<W> std::fmt::Debug for CommitSlots<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CommitSlots").field("visible", &self.visible()).finish_non_exhaustive()
    }
}

impl<W> CommitSlots<W> {
    /// `count` slots. Everything below `tail` has been applied.
    #[must_use]
    pub fn new(count: usize, tail: Lsn, planted: Planted) -> CommitSlots<W> {
        let slot = || Slot {
            bound: AtomicU64::new(FREE),
            floor: AtomicU64::new(FREE),
            exact: AtomicU64::new(UNKNOWN),
            shared: Mutex::new(None),
        };
        CommitSlots {
            slots: (0..count).map(|_| CachePadded::new(slot())).collect(),
            used: CachePadded::new(AtomicUsize::new(0)),
            marks: CachePadded::new(Marks {
                visible: AtomicU64::new(tail.0.saturating_sub(1)),
                released: AtomicU64::new(0),
            }),
            planted,
        }
    }

    /// Takes a free slot, the worker's own if it can; none if all are taken.
    pub fn take(&self, worker: usize) -> Option<SlotId> {
        let count = self.slots.len();
        for step in 0..count {
            let at = (worker + step) % count;
            // Relaxed: taking says nothing yet; `publish` does.
            let free = self.slots[at].bound.compare_exchange(
                FREE,
                TAKEN,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            if free.is_ok() {
                if self.used.load(Ordering::Relaxed) <= at {
                    // Release, and before `publish`: who sees the claim looks at this slot too.
                    self.used.fetch_max(at + 1, Ordering::Release);
                }
                return Some(SlotId(at));
            }
        }
        None
    }

    /// Holds the redo point at `tail`, which is the log's: parts of the commit are claimed from here on.
    pub fn hold_floor(&self, slot: SlotId, tail: Lsn) {
        self.slots[slot.0].floor.store(tail.0, Ordering::Release);
        fence(Ordering::SeqCst); // As in `publish`.
    }

    /// Publishes that a commit with an LSN of at least `tail`, which is the log's, is about to be claimed.
    pub fn publish(&self, slot: SlotId, tail: Lsn) {
        // Release, and the fence: pair with the fence in `advance`. A reader whose tail counts the claim that follows
        // sees this bound, whatever ordering the log's own atomics have.
        self.slots[slot.0].bound.store(tail.0, Ordering::Release);
        fence(Ordering::SeqCst);
    }

    /// Says which LSN the claim got: what lies between the bound and it may become visible.
    pub fn claimed(&self, slot: SlotId, lsn: Lsn) {
        self.slots[slot.0].bound.store(lsn.0, Ordering::Release);
    }

    /// Shows validators what is going to be written: before [`CommitSlots::publish`].
    pub fn share(&self, slot: SlotId, writes: &Arc<W>) {
        let slot = &self.slots[slot.0];
        slot.exact.store(UNKNOWN, Ordering::Relaxed); // The lock publishes it.
        *lock(&slot.shared) = Some(Arc::clone(writes));
    }

    /// Says the LSN of a claim whose writes are shared.
    pub fn claimed_exactly(&self, slot: SlotId, lsn: Lsn) {
        self.slots[slot.0].exact.store(lsn.0, Ordering::Release);
        self.claimed(slot, lsn);
    }

    /// Takes the claim back, which has become void: nothing is held up by it any more.
    pub fn withdraw(&self, slot: SlotId) {
        self.slots[slot.0].exact.store(UNKNOWN, Ordering::Release);
        self.slots[slot.0].bound.store(TAKEN, Ordering::Release);
    }

    /// Shows the writes no more: they are on their pages, or on the list of late commits, or void.
    pub fn unshare(&self, slot: SlotId) {
        let gone = lock(&self.slots[slot.0].shared).take();
        // Its files go where no latch is held.
        drop(gone);
    }

    /// Whether some commit but `me`'s own, with an LSN below `lsn`, which `me` has claimed, shares writes that meet. Who
    /// is not seen here has been applied, or is late, or comes after `lsn`. Waits for nobody.
    pub fn meets_before(
        &self,
        me: SlotId,
        lsn: Lsn,
        meets: impl Fn(&W) -> bool,
    ) -> ConflictingCommit {
        fence(Ordering::SeqCst); // Pairs with the fence in `publish`: claims before ours have published.
        let used = self.used.load(Ordering::Acquire);
        let mut found = ConflictingCommit::None;
        for (at, slot) in self.slots[..used].iter().enumerate() {
            // Acquire: pairs with Release in `free`; what was applied is found on its page.
            if at == me.0 || slot.bound.load(Ordering::Acquire) >= lsn.0 {
                continue;
            }
            let writes = try_lock(&slot.shared).map(|shared| shared.clone());
            let Some(Some(writes)) = writes else {
                // Somebody who claimed before anybody validated, or who comes or goes just now.
                if slot.bound.load(Ordering::Acquire) < lsn.0 {
                    found = ConflictingCommit::Unknown;
                }
                continue;
            };
            if !meets(&writes) {
                continue;
            }
            match slot.exact.load(Ordering::Acquire) {
                UNKNOWN => found = ConflictingCommit::Unknown,
                exact if exact < lsn.0 => return ConflictingCommit::At(Lsn(exact)),
                _ => {}
            }
        }
        found
    }

    /// Gives the slot back: its commit is applied, or late and on the list, or has claimed nothing.
    pub fn free(&self, slot: SlotId) {
        // Release: pairs with Acquire in `advance` and `floor`; who sees the slot free sees what was applied.
        self.slots[slot.0].floor.store(FREE, Ordering::Release);
        self.slots[slot.0].bound.store(FREE, Ordering::Release);
    }

    /// The watermark as it was last computed.
    pub fn visible(&self) -> Lsn {
        // Acquire: pairs with `fetch_max` in `advance`; what was applied below it is seen.
        Lsn(self.marks.visible.load(Ordering::Acquire))
    }

    /// Says that the locks of the commit at `lsn` are going to be released: after its slot has been freed and the watermark
    /// computed anew, before the first lock goes.
    pub fn releases(&self, lsn: Lsn) {
        if self.visible() < lsn && !self.planted.is(Fault::ReleasedUnseen) {
            // Relaxed: the lock that is passed on publishes it.
            self.marks.released.fetch_max(lsn.0, Ordering::Relaxed);
        }
    }

    /// What a snapshot has to show at least: every commit whose locks may have been passed on.
    pub fn shown(&self) -> Lsn {
        // Relaxed: the lock that was taken has published it; who has taken none need not see it.
        Lsn(self.marks.released.load(Ordering::Relaxed))
    }

    /// Computes the watermark anew, and returns it: nothing at or below it is still to be applied, late commits aside.
    pub fn advance(&self, tail: impl Fn() -> Lsn) -> Lsn {
        let watermark = if self.planted.is(Fault::SlotsBeforeTail) {
            let low = self.lowest(|slot| &slot.bound);
            tail().0.min(low)
        } else {
            let tail = tail();
            fence(Ordering::SeqCst); // Pairs with the fence in `publish`.
            tail.0.min(self.lowest(|slot| &slot.bound))
        };
        let watermark = watermark.saturating_sub(1);
        let old = self.marks.visible.load(Ordering::Acquire);
        if watermark <= old {
            return Lsn(old);
        }
        Lsn(self.marks.visible.fetch_max(watermark, Ordering::AcqRel).max(watermark))
    }

    /// The lowest LSN that somebody with a slot may still have to apply, given the log's tail, read before. The list
    /// of late commits has to be asked *after* this: a commit goes on the list before it frees its slot.
    pub fn floor(&self, tail: Lsn) -> Lsn {
        fence(Ordering::SeqCst); // Pairs with the fences in `publish` and `hold_floor`.
        let bound = self.lowest(|slot| &slot.bound);
        Lsn(tail.0.min(bound).min(self.lowest(|slot| &slot.floor)))
    }

    fn lowest(&self, of: impl Fn(&Slot<W>) -> &AtomicU64) -> u64 {
        // Acquire: pairs with Release in `take`.
        let used = self.used.load(Ordering::Acquire);
        let bounds = self.slots[..used].iter().map(|slot| of(slot).load(Ordering::Acquire));
        bounds.min().unwrap_or(FREE)
    }
}
