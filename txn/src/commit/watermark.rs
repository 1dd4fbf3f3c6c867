//! Those who wait for the visible watermark: answers of commits, and snapshots that must show one.
//!
//! Whoever waits is counted first and looks at the watermark once more afterwards; whoever moves the watermark looks at
//! the count afterwards. So either sees the other.

use crate::Lsn;
use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Mutex, lock, rank};
use std::task::Waker;

/// Waiters, by the LSN they wait for.
#[derive(Debug, Default)]
pub struct WatermarkWaiters {
    count: AtomicUsize,
    waiters: Mutex<Vec<(Lsn, Waker)>, { rank::WATERMARK }>,
}

impl WatermarkWaiters {
    /// Counts a waiter for `lsn`. It has to look at the watermark once more.
    pub fn register(&self, lsn: Lsn, waker: &Waker) {
        let mut waiters = lock(&self.waiters);
        waiters.retain(|(_, other)| !other.will_wake(waker));
        waiters.push((lsn, waker.clone()));
        self.count.store(waiters.len(), Ordering::SeqCst);
        drop(waiters);
        fence(Ordering::SeqCst); // Pairs with the fence in `moved`.
    }

    /// Wakes those who wait for `visible` or less.
    pub fn moved(&self, visible: Lsn) {
        fence(Ordering::SeqCst); // Pairs with the fence in `register`.
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let due: Vec<_> = {
            let mut waiters = lock(&self.waiters);
            let due = waiters.extract_if(.., |waiter| waiter.0 <= visible).collect();
            self.count.store(waiters.len(), Ordering::SeqCst);
            due
        };
        due.into_iter().for_each(|(_, waker)| waker.wake());
    }
}
