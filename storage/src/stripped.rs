//! What a build for measuring can leave out where every page is read: latches, and what the pool checks on the way.
//!
//! Paper: Harizopoulos et al., *OLTP Through the Looking Glass, and What We Found There*, SIGMOD 2008. What a commit, a lock or a write
//! passes once the layer above leaves out by branches of its own. These would stand in inner loops, so they are there in builds
//! for tests and with the feature `stripped`, which nothing but the benchmark asks for; in every other build [`Stripped`] has no bytes and
//! both answers are constants.
//!
//! **Latches**: readers load no version and compare none, writers exclude nobody. Optimistic reads are defined whatever others do
//! ([`crate::page::racy`]); what a writer borrows of its page is its own because only the thread that has left the latches
//! out may change pages from then on: any other that tries panics.
//!
//! **Pool**: a hint is a pointer. Nobody looks whether its frame has the page, or notes that the page is used. So all
//! pages have to be in memory when it is left out, every child visited since its parent was read, and none may leave or be freed.

#[cfg(any(test, feature = "stripped"))]
use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};
#[cfg(any(test, feature = "stripped"))]
use std::cell::Cell;

#[cfg(any(test, feature = "stripped"))]
thread_local! {
    /// Whether this thread has left out latches.
    static CHANGES_PAGES: Cell<bool> = const { Cell::new(false) };
}

/// What is left out of one pool. Nothing at first.
#[derive(Debug, Default)]
pub struct Stripped {
    #[cfg(any(test, feature = "stripped"))]
    latches: AtomicBool,
    #[cfg(any(test, feature = "stripped"))]
    pool: AtomicBool,
}

impl Stripped {
    /// Whether pages are read and changed without latches.
    #[inline(always)]
    pub(crate) fn latches(&self) -> bool {
        // Relaxed: the one thread that it matters to has set it.
        #[cfg(any(test, feature = "stripped"))]
        let out = self.latches.load(Relaxed);
        #[cfg(not(any(test, feature = "stripped")))]
        let out = false;
        out
    }

    /// Whether pages are changed without latches, by this thread.
    #[inline(always)]
    pub(crate) fn latches_of_writers(&self) -> bool {
        let out = self.latches();
        #[cfg(any(test, feature = "stripped"))]
        assert!(!out || CHANGES_PAGES.get(), "without latches one thread changes pages");
        out
    }

    /// Whether hints are followed as pointers.
    #[inline(always)]
    pub(crate) fn pool(&self) -> bool {
        // Relaxed: as above.
        #[cfg(any(test, feature = "stripped"))]
        let out = self.pool.load(Relaxed);
        #[cfg(not(any(test, feature = "stripped")))]
        let out = false;
        out
    }

    /// Leaves latches out; the calling thread alone may change pages from now on. Nobody else does anything meanwhile.
    #[cfg(any(test, feature = "stripped"))]
    pub fn leave_latches_out(&self) {
        CHANGES_PAGES.set(true);
        self.latches.store(true, Relaxed);
    }

    /// Leaves out what the pool checks.
    #[cfg(any(test, feature = "stripped"))]
    pub fn leave_pool_out(&self) {
        self.pool.store(true, Relaxed);
    }

    /// Leaves nothing out any more. Nobody does anything meanwhile.
    #[cfg(any(test, feature = "stripped"))]
    pub fn put_back(&self) {
        self.latches.store(false, Relaxed);
        self.pool.store(false, Relaxed);
    }
}
