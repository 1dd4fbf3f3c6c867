//! A frame: what the pool knows of the page that lies in one place of its memory.
//!
//! *Pin if pinned* (Johnson et al., *Shore-MT*, EDBT 2009, §6.2.1): a page that somebody has pinned cannot leave, so one
//! more pin needs one compare-and-swap and no latch. Only the first pin takes the latch, to exclude an eviction.
//!
//! Invariants. (1) `page` changes only under the latch, by whoever claimed the frame or frees its page. (2) A frame is
//! claimed, and so evicted, only from zero pins and when clean, and nobody finds a page in it until the claim has become
//! a pin. (3) `recovery` is at most the LSN of every record that was applied since the page was clean, and of every
//! structure record that is about to be claimed on it.

use super::latch::Latch;
use super::page_table::{Full, PageTable, Placed};
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use crate::sync::relax;
use crate::{FrameId, Lsn, PageId};

/// No page: page 0 of the data file is a map and never in the pool.
pub const NO_PAGE: PageId = PageId(0);

const CLEAN: u64 = u64::MAX;
const CLAIMED: u32 = 1 << 31;

/// One frame's state, on a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Frame {
    /// Guards the page's memory and everything here.
    pub latch: Latch,
    page: AtomicU32,
    pins: AtomicU32,
    recovery: AtomicU64,
    referenced: AtomicBool,
}

impl Frame {
    /// Empty, clean and free.
    #[must_use]
    pub fn new() -> Frame {
        Frame { recovery: AtomicU64::new(CLEAN), ..Frame::default() }
    }

    /// The page it holds, or [`NO_PAGE`].
    #[inline(always)]
    pub fn page(&self) -> PageId {
        PageId(self.page.load(Relaxed))
    }

    /// Gives it a page. Under the latch.
    pub fn set_page(&self, page: PageId) {
        self.page.store(page.0, Relaxed);
    }

    /// Notes for the clock that the page is used. Mostly a load.
    #[inline(always)]
    pub fn touch(&self) {
        if !self.referenced.load(Relaxed) {
            self.referenced.store(true, Relaxed);
        }
    }

    /// Whether it was used since the hand last passed; the hand asks, and clears.
    pub fn untouch(&self) -> bool {
        self.referenced.load(Relaxed) && self.referenced.swap(false, Relaxed)
    }

    /// Pins the frame if somebody else has it pinned already.
    pub fn pin_if_pinned(&self) -> bool {
        let mut pins = self.pins.load(Relaxed);
        while pins != 0 && pins & CLAIMED == 0 {
            // Acquire: pairs with Release in `unpin` and `unclaim`; the page that the first pin saw is the one we see.
            match self.pins.compare_exchange_weak(pins, pins + 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => pins = now,
            }
        }
        false
    }

    /// Pins the frame. Under the latch, so that it is not being evicted; fails if it is claimed already.
    pub fn pin_latched(&self) -> bool {
        let pins = self.pins.fetch_add(1, AcqRel);
        if pins & CLAIMED != 0 {
            self.pins.fetch_sub(1, Release);
            return false;
        }
        true
    }

    /// Takes a pin back.
    pub fn unpin(&self) {
        // Release: pairs with Acquire in `claim`; whoever evicts the page comes after our last access.
        let pins = self.pins.fetch_sub(1, Release);
        assert!(pins & !CLAIMED != 0, "a pin is taken back once");
    }

    /// Whether anyone has it pinned or claimed.
    pub fn in_use(&self) -> bool {
        self.pins.load(Relaxed) != 0
    }

    /// Claims a frame that nobody has pinned. Under the latch.
    pub fn claim(&self) -> bool {
        self.pins.compare_exchange(0, CLAIMED, Acquire, Relaxed).is_ok()
    }

    /// Ends a claim with `pins` pins.
    pub fn unclaim(&self, pins: u32) {
        // A hopeless `pin_latched` may have its one in for a moment: subtract, do not store.
        self.pins.fetch_add(pins.wrapping_sub(CLAIMED), Release);
    }

    /// Gets `page` and its contents, by `fill`, is entered into the table as `frame` and pinned, all under its latch:
    /// whoever finds the page, in the table or by a hint, may make it dirty at once, and no page is dirty in a frame that
    /// is claimed. Claimed by the caller, who asks for `evict` as [`PageTable::insert`] does.
    ///
    /// # Errors
    /// If the table is full; the frame stays claimed, and empty.
    pub fn enter(
        &self,
        table: &PageTable,
        (page, frame): (PageId, FrameId),
        fill: &dyn Fn(),
        evict: &mut dyn FnMut(FrameId, PageId) -> bool,
    ) -> Result<Placed, Full> {
        let mut spins = 0;
        while !self.latch.try_acquire() {
            relax(&mut spins);
        }
        fill();
        self.set_page(page);
        let placed = table.insert(page, frame, evict);
        if placed.is_ok() {
            self.touch();
            self.unclaim(1);
        } else {
            self.set_page(NO_PAGE);
        }
        self.latch.release(true);
        placed
    }

    /// The LSN from which redo of this page must begin; none if the disk has it all.
    #[inline]
    pub fn recovery(&self) -> Option<Lsn> {
        // Acquire: pairs with Release in `set_clean`; who sees the page clean sees it in its in-transit list.
        match self.recovery.load(Acquire) {
            CLEAN => None,
            lsn => Some(Lsn(lsn)),
        }
    }

    /// Lowers the recovery LSN; whether the page was clean before. Under the latch, or while a write has failed.
    pub fn lower_recovery(&self, lsn: Lsn) -> bool {
        let before = self.recovery.load(Relaxed);
        if lsn.0 >= before {
            return false;
        }
        self.recovery.fetch_min(lsn.0, AcqRel) == CLEAN
    }

    /// The page has been copied for the disk, and stands in its in-transit list. Under the latch.
    pub fn set_clean(&self) {
        self.recovery.store(CLEAN, Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_frame_is_not_claimed_and_a_claimed_one_not_pinned() {
        let frame = Frame::new();
        assert!(!frame.pin_if_pinned());
        assert!(frame.pin_latched() && frame.pin_if_pinned());
        assert!(!frame.claim());
        frame.unpin();
        frame.unpin();
        assert!(frame.claim());
        assert!(!frame.pin_if_pinned() && !frame.pin_latched());
        frame.unclaim(1);
        assert!(frame.pin_if_pinned());
        frame.unpin();
        frame.unpin();
        assert!(!frame.in_use());
    }

    #[test]
    fn recovery_only_goes_down_until_clean() {
        let frame = Frame::new();
        assert!(frame.recovery().is_none());
        assert!(frame.lower_recovery(Lsn(50)) && !frame.lower_recovery(Lsn(70)));
        assert!(!frame.lower_recovery(Lsn(20)));
        assert_eq!(frame.recovery(), Some(Lsn(20)));
        frame.set_clean();
        assert!(frame.recovery().is_none());
    }
}
