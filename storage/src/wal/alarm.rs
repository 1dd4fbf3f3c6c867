//! How a sleeping flusher is woken at the cost of one comparison for each insert.
//!
//! The alarm is an LSN; a claim that ends past it rings. While the flusher works it is the greatest LSN, while a timer
//! runs it is where the ring is half full, and when there is nothing to write it is zero.
//!
//! Nobody is missed, by Dekker's argument: the flusher sets `parked` and `alarm` and *then* looks at the tail and at what
//! was requested; an inserter moves the tail and *then* looks at `alarm`, a waiter moves what is requested and *then*
//! looks at `parked`. All of these are sequentially consistent, so of two such looks at least one sees the other's step.
//! `wal/loom_tests.rs` checks it.

use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::total_order;
use crossbeam_utils::CachePadded;

/// The alarm of one flusher.
#[derive(Debug)]
pub(crate) struct Alarm {
    past: CachePadded<AtomicU64>,
    parked: AtomicBool,
}

impl Alarm {
    /// The alarm of a flusher that is awake.
    pub(crate) fn new() -> Alarm {
        Alarm { past: CachePadded::new(AtomicU64::new(u64::MAX)), parked: AtomicBool::new(false) }
    }

    /// After the tail has moved to `end`: whether the flusher has to be woken by the caller.
    #[inline]
    pub(crate) fn ring(&self, end: u64) -> bool {
        total_order();
        if end <= self.past.load(Ordering::SeqCst) {
            return false;
        }
        self.past.store(u64::MAX, Ordering::SeqCst);
        self.rouse()
    }

    /// After a request was made: whether the flusher has to be woken by the caller.
    #[cold]
    pub(crate) fn rouse(&self) -> bool {
        total_order();
        self.parked.swap(false, Ordering::SeqCst)
    }

    /// The flusher is about to sleep, and wants to hear of claims that end past `past`. It looks at tail and requests
    /// once more before it does.
    pub(crate) fn set(&self, past: u64) {
        // Exchanged, not stored: then each who rouses comes before or after it, and the model checker can tell.
        self.parked.swap(true, Ordering::SeqCst);
        self.past.store(past, Ordering::SeqCst);
        total_order();
    }

    /// The flusher is awake.
    pub(crate) fn unset(&self) {
        self.past.store(u64::MAX, Ordering::SeqCst);
        self.parked.store(false, Ordering::SeqCst);
    }
}
