//! The page table: page id to frame, a 3-way bucketised cuckoo hash.
//!
//! Paper: Johnson et al., *Shore-MT*, EDBT 2009, §6.2.3 (cuckoo hashing for the buffer pool), buckets after Erlingsson et
//! al., *A cool and practical alternative to traditional hash tables*, WDAS 2006. Every page has three buckets of one
//! cache line each. An entry without a free slot *displaces* one that has room elsewhere; failing that, it takes the slot
//! of a page that can leave at once (clean, unpinned: the caller decides); failing that, it goes to a small *stash*.
//!
//! Unlike the paper's, a look-up takes no latch: each bucket has a version, and a miss counts only if no bucket of the
//! page has changed while it was looked through. A hit is believed only after the frame has confirmed the page.
//!
//! Invariants. (1) An entry that moves does so under the latches of both places, so that every look-up that finds neither
//! held nor changed has seen it. (2) Inside a bucket's latch nothing is waited for: a second
//! bucket is only tried. (3) A page is inserted by one thread at a time, who owns its in-transit entry.

use super::latch::{Latch, Version};
use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::{PUBLISH, rank, relax};
use crate::{FrameId, PageId};

/// Slots of a bucket: with its latch, one cache line.
#[cfg(not(loom))]
pub const SLOTS: usize = 7;
/// One, so that three pages fill the smallest table.
#[cfg(loom)]
pub const SLOTS: usize = 1;

/// Slots of the stash.
#[cfg(not(loom))]
pub const STASH: usize = 64;
/// One, so that it fills as well.
#[cfg(loom)]
pub const STASH: usize = 1;

const WAYS: usize = 3;
const EMPTY: u64 = 0;

/// What an insert had to do to find room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placed {
    /// There was a free slot.
    Free,
    /// Another entry went to another of its buckets.
    Displaced,
    /// A page that could leave has left; its frame is free.
    Evicted(FrameId),
    /// It is in the stash.
    Stashed,
}

/// The stash is full too: the caller waits until pages have left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

#[derive(Debug)]
#[repr(align(64))]
struct Bucket<const N: usize> {
    latch: Latch<{ rank::BUCKET }>,
    entries: [AtomicU64; N],
}

/// Page id to frame.
#[derive(Debug)]
pub struct PageTable {
    buckets: Box<[Bucket<SLOTS>]>,
    stash: Bucket<STASH>,
}

fn entry(page: PageId, frame: FrameId) -> u64 {
    u64::from(page.0) | u64::from(frame.0) << 32
}

fn page_of(entry: u64) -> PageId {
    PageId(entry as u32)
}

fn frame_of(entry: u64) -> FrameId {
    FrameId((entry >> 32) as u32)
}

impl<const N: usize> Bucket<N> {
    fn new() -> Self {
        Bucket { latch: Latch::new(), entries: std::array::from_fn(|_| AtomicU64::new(EMPTY)) }
    }

    #[inline]
    fn find(&self, page: PageId) -> Option<u64> {
        self.entries.iter().map(|slot| slot.load(Relaxed)).find(|entry| page_of(*entry) == page)
    }

    fn position(&self, entry: u64) -> Option<usize> {
        self.entries.iter().position(|slot| slot.load(Relaxed) == entry)
    }

    fn set(&self, slot: usize, entry: u64) {
        // Release: pairs with Acquire in `Latch::version`; a look-up that missed the old place sees the new one.
        self.entries[slot].store(entry, PUBLISH);
    }

    fn acquire(&self) {
        rank::awaited(rank::BUCKET);
        let mut spins = 0;
        while !self.latch.try_acquire() {
            relax(&mut spins);
        }
    }

    fn version(&self) -> Version {
        let mut spins = 0;
        loop {
            match self.latch.version() {
                Some(version) => return version,
                None => {
                    rank::awaited(rank::BUCKET);
                    relax(&mut spins);
                }
            }
        }
    }
}

impl PageTable {
    /// A table for the pages of `frames` frames, nine tenths full when all of them are in use.
    #[must_use]
    pub fn new(frames: usize) -> PageTable {
        let buckets = (frames * 10).div_ceil(SLOTS * 9).max(WAYS);
        PageTable { buckets: (0..buckets).map(|_| Bucket::new()).collect(), stash: Bucket::new() }
    }

    fn bucket_numbers(&self, page: PageId) -> [usize; WAYS] {
        let mixed = u64::from(page.0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let buckets = self.buckets.len() as u64;
        let scale = |hash: u64| (((hash & 0xFFFF_FFFF) * buckets) >> 32) as usize;
        let again = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        [scale(mixed >> 32), scale(again >> 32), scale(again ^ (mixed >> 7))]
    }

    /// The frame of `page`. A miss is one: at some instant since the call began the page had no entry.
    #[must_use]
    pub fn find(&self, page: PageId) -> Option<FrameId> {
        let numbers = self.bucket_numbers(page);
        loop {
            let mut seen = [None; WAYS];
            for (seen, number) in seen.iter_mut().zip(numbers) {
                *seen = Some(self.buckets[number].version());
            }
            let stash = self.stash.version();
            let found = numbers
                .iter()
                .find_map(|number| self.buckets[*number].find(page))
                .or_else(|| self.stash.find(page));
            if let Some(found) = found {
                return Some(frame_of(found));
            }
            let still = numbers.iter().zip(seen).all(|(number, seen)| {
                seen.is_some_and(|seen| self.buckets[*number].latch.validate(seen).is_ok())
            });
            if still && self.stash.latch.validate(stash).is_ok() {
                return None;
            }
        }
    }

    /// Enters a page that is not in the table. `evict` is asked for a frame whose page is in the way; if it answers
    /// true, that page has no entry any more and the frame is empty. It must not wait, nor call the table.
    ///
    /// # Errors
    /// [`Full`].
    pub fn insert(
        &self,
        page: PageId,
        frame: FrameId,
        evict: &mut dyn FnMut(FrameId, PageId) -> bool,
    ) -> Result<Placed, Full> {
        let new = entry(page, frame);
        let numbers = self.bucket_numbers(page);
        for number in numbers {
            let bucket = &self.buckets[number];
            bucket.acquire();
            let free = bucket.position(EMPTY);
            if let Some(slot) = free {
                bucket.set(slot, new);
            }
            bucket.latch.release(free.is_some());
            if free.is_some() {
                return Ok(Placed::Free);
            }
        }
        for number in numbers {
            let bucket = &self.buckets[number];
            bucket.acquire();
            let displaced = (0..SLOTS).any(|slot| self.displace(number, slot, new));
            bucket.latch.release(displaced);
            if displaced {
                return Ok(Placed::Displaced);
            }
        }
        for number in numbers {
            let bucket = &self.buckets[number];
            bucket.acquire();
            let evicted = bucket.entries.iter().enumerate().find_map(|(slot, old)| {
                let old = old.load(Relaxed);
                (old == EMPTY || evict(frame_of(old), page_of(old))).then_some((slot, old))
            });
            if let Some((slot, _)) = evicted {
                bucket.set(slot, new);
            }
            bucket.latch.release(evicted.is_some());
            match evicted {
                Some((_, EMPTY)) => return Ok(Placed::Free),
                Some((_, old)) => return Ok(Placed::Evicted(frame_of(old))),
                None => {}
            }
        }
        self.stash.acquire();
        let free = self.stash.position(EMPTY);
        if let Some(slot) = free {
            self.stash.set(slot, new);
        }
        self.stash.latch.release(free.is_some());
        free.map(|_| Placed::Stashed).ok_or(Full)
    }

    /// Under the latch of bucket `number`: moves the entry in `slot` to another of its buckets, and `new` in its place.
    fn displace(&self, number: usize, slot: usize, new: u64) -> bool {
        let bucket = &self.buckets[number];
        let old = bucket.entries[slot].load(Relaxed);
        if old == EMPTY {
            bucket.set(slot, new);
            return true;
        }
        for other in self.bucket_numbers(page_of(old)) {
            let target = &self.buckets[other];
            if other == number || !target.latch.try_acquire() {
                continue;
            }
            let free = target.position(EMPTY);
            if let Some(place) = free {
                target.set(place, old);
                bucket.set(slot, new);
            }
            target.latch.release(free.is_some());
            if free.is_some() {
                return true;
            }
        }
        false
    }

    /// Removes the entry of `page`, which is there. An entry of the stash that fits takes the free place.
    pub fn remove(&self, page: PageId, frame: FrameId) {
        let old = entry(page, frame);
        let mut spins = 0;
        loop {
            for number in self.bucket_numbers(page) {
                let bucket = &self.buckets[number];
                bucket.acquire();
                let place = bucket.position(old);
                if let Some(slot) = place {
                    let stashed = self.take_from_stash(number);
                    bucket.set(slot, stashed.unwrap_or(EMPTY));
                    if stashed.is_some() {
                        self.stash.latch.release(true);
                    }
                }
                bucket.latch.release(place.is_some());
                if place.is_some() {
                    return;
                }
            }
            self.stash.acquire();
            let place = self.stash.position(old);
            if let Some(slot) = place {
                self.stash.set(slot, EMPTY);
            }
            self.stash.latch.release(place.is_some());
            if place.is_some() {
                return;
            }
            // It was on its way from one bucket to another that we had already passed.
            relax(&mut spins);
        }
    }

    /// Takes an entry that may live in bucket `number` out of the stash, whose latch is then held by the caller.
    fn take_from_stash(&self, number: usize) -> Option<u64> {
        if self.stash.entries.iter().all(|slot| slot.load(Relaxed) == EMPTY)
            || !self.stash.latch.try_acquire()
        {
            return None;
        }
        for (slot, stashed) in self.stash.entries.iter().enumerate() {
            let stashed = stashed.load(Relaxed);
            if stashed != EMPTY && self.bucket_numbers(page_of(stashed)).contains(&number) {
                self.stash.set(slot, EMPTY);
                return Some(stashed);
            }
        }
        self.stash.latch.release(false);
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn a_table_is_a_map(ops in prop::collection::vec((1u32..400, any::<bool>()), 1..600)) {
            let frames = 64;
            let table = PageTable::new(frames);
            let mut model: HashMap<u32, u32> = HashMap::new();
            let mut free: Vec<u32> = (0..frames as u32).collect();
            for (page, remove) in ops {
                match model.get(&page).copied() {
                    Some(frame) if remove => {
                        table.remove(PageId(page), FrameId(frame));
                        model.remove(&page);
                        free.push(frame);
                    }
                    Some(_) => {}
                    None => {
                        let Some(frame) = free.pop() else { continue };
                        let mut left = None;
                        let placed = table.insert(PageId(page), FrameId(frame), &mut |frame, page| {
                            if page.0 % 7 != 0 { return false }
                            left = Some((page.0, frame.0));
                            true
                        });
                        prop_assert!(placed.is_ok());
                        if let Some((page, frame)) = left {
                            prop_assert_eq!(placed, Ok(Placed::Evicted(FrameId(frame))));
                            prop_assert_eq!(model.remove(&page), Some(frame));
                            free.push(frame);
                        }
                        model.insert(page, frame);
                    }
                }
                for page in 1..400 {
                    prop_assert_eq!(table.find(PageId(page)).map(|f| f.0), model.get(&page).copied());
                }
            }
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    fn who_holds_a_bucket_waits_for_none() {
        let (one, other) = (Bucket::<SLOTS>::new(), Bucket::<SLOTS>::new());
        one.acquire();
        assert!(std::panic::catch_unwind(|| other.acquire()).is_err());
        assert!(other.latch.try_acquire(), "who only tries waits for nobody");
        other.latch.release(false);
        one.latch.release(false);
        other.acquire();
        other.latch.release(false);
    }

    #[test]
    fn a_full_pool_displaces_and_may_stash() {
        let frames = 4096;
        let table = PageTable::new(frames);
        let mut displaced = 0;
        for n in 0..frames as u32 {
            let placed = table.insert(PageId(n * 3 + 1), FrameId(n), &mut |_, _| false);
            displaced += usize::from(placed.expect("the stash takes the rest") != Placed::Free);
        }
        assert!(displaced > 0);
        assert!((0..frames as u32).all(|n| table.find(PageId(n * 3 + 1)) == Some(FrameId(n))));
    }
}
