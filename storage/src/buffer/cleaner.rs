//! The cleaner: it alone writes pages, from a copy, and only when the log is durable past them.
//!
//! It is one background thread, woken when frames run short or half of them are dirty, and it cleans by age: the pages
//! whose redo would begin earliest go first, so that the log a restart has to read stays bounded. A checkpoint borrows
//! its hands through [`BufferPool::clean_older_than`]; one batch is written at a time.
//!
//! A page's way out: under its latch it is copied, enters its in-transit list with its recovery LSN, turns clean and is
//! pinned; then the log is waited for, the batch is written, the entry and the pin go. The page may be changed meanwhile
//! and is dirty again for that. A write that fails gives the recovery LSN back.

use super::BufferPool;
use super::frame::NO_PAGE;
use super::guard::Pin;
use crate::environment::{Environment, WaitCell, WaitEvent};
use crate::page::{Page, PageBuf};
use crate::sync::atomic::AtomicBool;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::{Arc, Mutex, Weak, lock, rank, relax};
use crate::{Error, FrameId, Lsn, Micros, PageId, Result};

/// The most pages of one batch.
const BATCH_PAGES: usize = 64;
/// How long the cleaner rests after a failed write.
const AFTER_FAILURE: Micros = Micros(1_000_000);

/// The thread's side, shared with the pool.
#[derive(Debug, Default)]
struct Shared {
    cell: Arc<WaitCell>,
    asked: AtomicBool,
    stop: AtomicBool,
    /// The log has failed, and no page will ever be written again.
    halted: AtomicBool,
}

/// The pool's handle on its cleaner.
#[derive(Debug)]
pub(super) struct Cleaner {
    shared: Arc<Shared>,
    /// One batch at a time.
    cleaning: Mutex<(), { rank::CLEANER }>,
}

impl Cleaner {
    pub(super) fn new() -> Cleaner {
        Cleaner { shared: Arc::default(), cleaning: Mutex::default() }
    }

    /// Wakes the thread, if it is not already asked.
    pub(super) fn ask(&self, env: &Environment) {
        // Release: pairs with Acquire in the thread; it sees the frames that made us ask.
        if !self.shared.asked.load(Relaxed) && !self.shared.asked.swap(true, Release) {
            env.wake(&self.shared.cell);
        }
    }

    pub(super) fn stop(&self, env: &Environment) {
        self.shared.stop.store(true, Release);
        env.wake(&self.shared.cell);
    }

    pub(super) fn check(&self) -> Result<()> {
        if self.shared.halted.load(Relaxed) {
            return Err(Error::Halted("no page can be written any more".to_owned()));
        }
        Ok(())
    }
}

/// Starts the thread. It holds the pool only while it works, and ends when the pool goes.
pub(super) fn start(pool: &Arc<BufferPool>) {
    let shared = Arc::clone(&pool.cleaner.shared);
    let env = pool.env.clone();
    let spawning = env.clone();
    let pool = Arc::downgrade(pool);
    let halting = (Weak::clone(&pool), Arc::clone(&shared));
    let halt = move |why: &str| {
        let (pool, shared) = halting;
        shared.halted.store(true, Relaxed);
        if let Some(pool) = pool.upgrade() {
            pool.log.halt(why);
            pool.wake_waiting();
        }
    };
    let body = move || {
        let mut rest = None;
        loop {
            let deadline = rest.map(|rest| env.clock.now().plus(rest));
            env.wait(WaitEvent::Background, &shared.cell, deadline, None);
            if shared.stop.load(Acquire) {
                return;
            }
            // Cleared first: who asks from here on is heard in the next round.
            if !shared.asked.swap(false, Acquire) && rest.is_none() {
                continue;
            }
            let Some(pool) = pool.upgrade() else { return };
            rest = match pool.clean_oldest() {
                Ok(()) => None,
                Err(Error::Halted(_)) => {
                    shared.halted.store(true, Relaxed);
                    pool.wake_waiting();
                    return;
                }
                Err(_) => Some(AFTER_FAILURE),
            };
            pool.wake_waiting();
        }
    };
    // Nobody joins it: it ends by itself, and may be the one that drops the pool last.
    drop(spawning.background("cleaner", halt, body));
}

/// A page on its way out.
struct Outgoing<'p> {
    page: PageId,
    recovery: Lsn,
    pin: Pin<'p>,
}

/// Pages on their way out together. However the write ends, in a panic too, they leave the lists, and unless they were
/// written they keep what they had to redo: whoever waits for them to be clean would wait for ever.
struct Batch<'p> {
    pool: &'p BufferPool,
    pages: Vec<Outgoing<'p>>,
    written: bool,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        for out in self.pages.drain(..) {
            if !self.written {
                self.pool.restore(&out);
            }
            self.pool.transit.finish(&self.pool.env, out.page);
        }
    }
}

impl BufferPool {
    /// Writes the older half of the dirty pages, or at least one batch.
    fn clean_oldest(&self) -> Result<()> {
        let mut dirty = self.dirty_before(Lsn::MAX);
        dirty.sort_unstable();
        dirty.truncate((dirty.len() / 2).max(BATCH_PAGES));
        self.clean(&dirty)
    }

    /// Writes every page whose redo would begin before `lsn`, each once. What it was when the call began has been written,
    /// though not synced, when it returns. What others dirty meanwhile, however far back its redo begins, is left to the next
    /// call: a commit that is long to apply would never let this one end.
    ///
    /// # Errors
    /// I/O; [`Error::Halted`] if the log has failed.
    pub fn clean_older_than(&self, lsn: Lsn) -> Result<()> {
        let mut dirty = self.dirty_before(lsn);
        dirty.sort_unstable();
        self.clean(&dirty)?;
        // A batch of the thread may still be on its way; it cleans until it has ended.
        drop(lock(&self.cleaner.cleaning));
        Ok(())
    }

    fn dirty_before(&self, lsn: Lsn) -> Vec<(Lsn, FrameId)> {
        let recovery = |at: usize| self.frames[at].recovery().filter(|recovery| *recovery < lsn);
        (0..self.frames.len()).filter_map(|at| Some((recovery(at)?, FrameId(at as u32)))).collect()
    }

    fn clean(&self, dirty: &[(Lsn, FrameId)]) -> Result<()> {
        for batch in dirty.chunks(BATCH_PAGES) {
            let cleaning = lock(&self.cleaner.cleaning);
            let pages = Vec::with_capacity(batch.len());
            let mut copies = Vec::with_capacity(batch.len());
            let mut outgoing = Batch { pool: self, pages, written: false };
            for (_, frame) in batch {
                if let Some((out, copy)) = self.copy_out(*frame) {
                    outgoing.pages.push(out);
                    copies.push(copy);
                }
            }
            let written = self.write(&mut copies);
            outgoing.written = written.is_ok();
            drop(outgoing);
            drop(cleaning);
            written?;
            self.wake_waiting();
        }
        Ok(())
    }

    /// Begins a page's way out; none if it is clean or gone by now.
    fn copy_out(&self, frame: FrameId) -> Option<(Outgoing<'_>, PageBuf)> {
        let state = self.frame(frame);
        let mut spins = 0;
        while !state.latch.try_acquire() {
            relax(&mut spins);
        }
        let page = state.page();
        let out = state.recovery().filter(|_| page != NO_PAGE).map(|recovery| {
            let copy = PageBuf::copy_of(Page::new(self.words(frame)));
            assert!(state.pin_latched(), "a dirty page is not claimed");
            self.transit.begin_write(page, recovery);
            state.set_clean();
            self.dirty.fetch_sub(1, Relaxed);
            (Outgoing { page, recovery, pin: Pin { pool: self, frame } }, copy)
        });
        state.latch.release(false);
        out
    }

    /// Writes copies of pages in their places, once the log is durable past them.
    ///
    /// # Errors
    /// I/O; [`Error::Halted`] if the log has failed.
    pub fn write(&self, copies: &mut [PageBuf]) -> Result<()> {
        let Some(newest) = copies.iter().map(|copy| copy.page().lsn()).max() else { return Ok(()) };
        if self.log.durable() <= newest {
            self.log.wait_durable(newest)?;
        }
        let durable = self.log.durable();
        for copy in copies.iter() {
            let page = copy.page();
            assert!(page.lsn() < durable, "write-ahead rule: {:?} is ahead of the log", page.id());
        }
        self.file.write(copies)?;
        copies.iter().for_each(|_| self.counters.writes.add_one());
        Ok(())
    }

    /// The page was not written: what it had to redo is still to be redone.
    fn restore(&self, out: &Outgoing<'_>) {
        let frame = out.pin.frame();
        self.acquire(frame);
        let state = self.frame(frame);
        if state.page() == out.page && state.lower_recovery(out.recovery) {
            self.dirty.fetch_add(1, Relaxed);
        }
        self.restored.fetch_add(1, Release);
        state.latch.release(false);
    }
}
