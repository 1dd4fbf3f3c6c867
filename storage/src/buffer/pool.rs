//! The pool itself: frames, look-up, misses, CLOCK and the checkpoint's sweep. What it promises stands in the module's
//! header; what is special here is the order of things when a page is missing or has to leave.

use super::cleaner::{self, Cleaner};
use super::counters::Counters;
use super::file::DataFile;
use super::frame::{Frame, NO_PAGE};
use super::guard::{OptimisticGuard, Pin};
use super::page_table::{self, PageTable, Placed};
use super::transit::Transit;
use crate::breakdown::{self, Class};
use crate::environment::{Environment, WaitCell, WaitEvent};
use crate::page::racy::Words;
use crate::page::{PageBuf, PageMut, huge, zeroed};
use crate::stripped::Stripped;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::atomic::{AtomicU64, AtomicUsize};
use crate::sync::{Arc, Mutex, lock, rank, relax};
use crate::usage;
use crate::wal::Log;
use crate::{Error, FrameId, Lsn, Micros, PageId, Result};
use std::sync::atomic::AtomicU64 as Word;

/// The smallest pool, in frames.
pub const FRAMES_MIN: u32 = 64;
/// How long a reader waits for a frame before it gives up.
const EXHAUSTED_AFTER: Micros = Micros(30_000_000);
/// How long it rests before it looks again by itself.
const FRAME_WAIT: Micros = Micros(20_000);

/// The pool.
#[derive(Debug)]
pub struct BufferPool {
    pub(super) env: Environment,
    pub(super) log: Arc<Log>,
    pub(super) file: DataFile,
    page_words: usize,
    pub(super) frames: Box<[Frame]>,
    memory: Box<[Word]>,
    table: PageTable,
    pub(super) transit: Transit,
    hand: AtomicUsize,
    pub(super) dirty: AtomicUsize,
    /// Grows when a failed write has made a page dirty again behind a sweep's back.
    pub(super) restored: AtomicU64,
    waiting: Mutex<Vec<Arc<WaitCell>>, { rank::WAITERS }>,
    scratch: Mutex<Vec<PageBuf>, { rank::WAITERS }>,
    pub(super) cleaner: Cleaner,
    /// What is left out in builds for measuring.
    pub(crate) stripped: Stripped,
    /// What has happened so far.
    pub counters: Counters,
}

impl BufferPool {
    /// An empty pool of `frames` frames over `file`, and its cleaner.
    #[must_use]
    pub fn new(env: Environment, log: Arc<Log>, file: DataFile, frames: u32) -> Arc<BufferPool> {
        assert!(frames >= FRAMES_MIN, "a smaller pool cannot hold what one split needs");
        let page_words = file.page_bytes() / 8;
        let memory = zeroed(frames as usize * page_words);
        let frames: Box<[Frame]> = (0..frames).map(|_| Frame::new()).collect();
        huge::advise(&memory);
        huge::advise(&frames);
        let pool = Arc::new(BufferPool {
            env,
            log,
            file,
            page_words,
            table: PageTable::new(frames.len()),
            frames,
            memory,
            transit: Transit::new(),
            hand: AtomicUsize::new(0),
            dirty: AtomicUsize::new(0),
            restored: AtomicU64::new(0),
            waiting: Mutex::default(),
            scratch: Mutex::default(),
            cleaner: Cleaner::new(),
            stripped: Stripped::default(),
            counters: Counters::default(),
        });
        cleaner::start(&pool);
        pool
    }

    /// The size of a page, in bytes.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.page_words * 8
    }

    /// The environment it waits in.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.env
    }

    /// The log whose durability it respects.
    #[must_use]
    pub fn log(&self) -> &Arc<Log> {
        &self.log
    }

    #[inline(always)]
    pub(super) fn frame(&self, frame: FrameId) -> &Frame {
        &self.frames[frame.0 as usize]
    }

    #[inline(always)]
    pub(super) fn words(&self, frame: FrameId) -> &Words {
        let start = frame.0 as usize * self.page_words;
        &self.memory[start..start + self.page_words]
    }

    pub(super) fn acquire(&self, frame: FrameId) {
        if self.stripped.latches_of_writers() || self.frame(frame).latch.try_acquire() {
            return;
        }
        let _class = breakdown::enter(Class::Latching);
        let mut spins = 0;
        while !self.frame(frame).latch.try_acquire() {
            relax(&mut spins);
        }
    }

    /// Reads `page` where the hint says it is; none if it is not there, or a writer is.
    #[inline(always)]
    pub fn by_hint(&self, page: PageId, hint: FrameId) -> Option<OptimisticGuard<'_>> {
        let frame = self.frames.get(hint.0 as usize)?;
        let guard = OptimisticGuard::begin(self, hint)?;
        if !self.stripped.pool() {
            // The page id is read after the version: the guard's validation covers it.
            if frame.page() != page {
                return None;
            }
            frame.touch();
        }
        Some(guard)
    }

    /// Reads `page` if it is in memory; waits for a writer, not for a disk.
    pub fn resident(&self, page: PageId) -> Option<OptimisticGuard<'_>> {
        let mut spins = 0;
        loop {
            let frame = self.table.find(page)?;
            match OptimisticGuard::begin(self, frame) {
                Some(guard) if self.frame(frame).page() == page => {
                    self.frame(frame).touch();
                    return Some(guard);
                }
                _ => relax(&mut spins),
            }
        }
    }

    /// Reads `page` if it is in memory and no writer is there.
    pub fn try_resident(&self, page: PageId) -> Option<OptimisticGuard<'_>> {
        let guard = OptimisticGuard::begin(self, self.table.find(page)?)?;
        (self.frame(guard.frame()).page() == page).then_some(guard)
    }

    /// Pins `page` if it is in memory.
    fn pin_resident(&self, page: PageId) -> Option<Pin<'_>> {
        let mut spins = 0;
        loop {
            let frame = self.table.find(page)?;
            let state = self.frame(frame);
            if state.pin_if_pinned() {
                let pin = Pin { pool: self, frame };
                if state.page() == page {
                    state.touch();
                    return Some(pin);
                }
            } else if state.latch.try_acquire() {
                let pinned = state.page() == page && state.pin_latched();
                state.latch.release(false);
                if pinned {
                    state.touch();
                    return Some(Pin { pool: self, frame });
                }
            }
            relax(&mut spins);
        }
    }

    /// Pins `page`, reading it if it is not in memory. The caller holds no latch.
    ///
    /// # Errors
    /// I/O, [`Error::Corrupt`], [`Error::PoolExhausted`].
    pub fn fetch(&self, page: PageId) -> Result<Pin<'_>> {
        let _class = breakdown::enter(Class::Buffer);
        match self.arrive(page)? {
            Arrival::Here(pin) => Ok(pin),
            Arrival::Ours => self.bring(page),
        }
    }

    /// As [`BufferPool::fetch`], for a descent that goes on and finds the page where it now is: what has been read is not
    /// to count as a hit too.
    ///
    /// # Errors
    /// As [`BufferPool::fetch`].
    pub fn fetch_for_descent(&self, page: PageId) -> Result<Pin<'_>> {
        match self.arrive(page)? {
            Arrival::Here(pin) => Ok(pin),
            Arrival::Ours => {
                let pin = self.bring(page)?;
                self.counters.brought.add_one();
                usage::will_be_found();
                Ok(pin)
            }
        }
    }

    /// Reads a page whose in-transit entry is ours.
    fn bring(&self, page: PageId) -> Result<Pin<'_>> {
        self.counters.misses.add_one();
        let pin = self.claim_frame().and_then(|frame| {
            self.read_into(page, frame).inspect_err(|_| self.frame(frame).unclaim(0))
        });
        self.transit.finish(&self.env, page);
        pin
    }

    /// Pins a frame for `page`, whose contents on disk mean nothing: it is new, or redo has its image. What the frame
    /// holds means nothing either, until the caller writes it. The caller holds no latch.
    ///
    /// # Errors
    /// [`Error::PoolExhausted`].
    pub fn create(&self, page: PageId) -> Result<Pin<'_>> {
        let _class = breakdown::enter(Class::Buffer);
        match self.arrive(page)? {
            Arrival::Here(pin) => Ok(pin),
            Arrival::Ours => {
                let pin = self.claim_frame().and_then(|frame| {
                    self.install(page, frame, &|mut page| page.blank())
                        .inspect_err(|_| self.frame(frame).unclaim(0))
                });
                self.transit.finish(&self.env, page);
                pin
            }
        }
    }

    /// Forgets `page`, which has been written to the file by other means or belongs to nobody, wherever it is.
    pub fn forget_page(&self, page: PageId) {
        loop {
            self.transit.wait(&self.env, page);
            match self.pin_resident(page) {
                Some(pin) => pin.exclusive().discard(),
                None if !self.transit.contains(page) => return,
                None => {}
            }
        }
    }

    /// Forgets `count` pages that belong to nobody any more, those in `pages` and no others, for which `owned` is true too.
    /// They are looked up if that is less than a look at every frame; only what is found is latched.
    pub fn forget_all(
        &self,
        count: usize,
        pages: &mut dyn Iterator<Item = PageId>,
        owned: &dyn Fn(PageId) -> bool,
    ) {
        if count < self.frames.len() {
            let found = pages.filter_map(|page| self.table.find(page));
            found.for_each(|frame| self.forget_if(frame, owned));
            return;
        }
        for (at, state) in self.frames.iter().enumerate() {
            if state.page() != NO_PAGE && owned(state.page()) {
                self.forget_if(FrameId(at as u32), owned);
            }
        }
    }

    fn forget_if(&self, frame: FrameId, owned: &dyn Fn(PageId) -> bool) {
        let state = self.frame(frame);
        self.acquire(frame);
        let gone = state.page() != NO_PAGE && owned(state.page());
        if gone {
            self.forget(frame);
        }
        if !self.stripped.latches() {
            state.latch.release(gone);
        }
    }

    /// Whether a write of `page` has not ended yet: it must not be given to anyone else.
    #[must_use]
    pub fn in_transit(&self, page: PageId) -> bool {
        self.transit.contains(page)
    }

    /// The look-up order of a miss: the table, the in-transit list, the table again; then the page is ours to bring.
    fn arrive(&self, page: PageId) -> Result<Arrival<'_>> {
        let mut spins = 0;
        loop {
            if let Some(pin) = self.pin_resident(page) {
                return Ok(Arrival::Here(pin));
            }
            let mut list = self.transit.list(page);
            if let Some(cell) = list.join(page) {
                drop(list);
                self.counters.transit_waits.add_one();
                self.env.wait(WaitEvent::BufferIo, &cell, None, None);
            } else if self.table.find(page).is_some() {
                // It arrived between the two looks.
                drop(list);
                relax(&mut spins);
            } else {
                list.begin_read(page);
                return Ok(Arrival::Ours);
            }
        }
    }

    fn read_into(&self, page: PageId, frame: FrameId) -> Result<Pin<'_>> {
        let spare = lock(&self.scratch).pop();
        let mut buf = spare.unwrap_or_else(|| PageBuf::new(self.page_bytes()));
        let read = usage::timed(|used| &used.read_us, || self.file.read(page, &mut buf));
        let pin = read.and_then(|()| {
            self.counters.reads.add_one();
            usage::count(|used| &used.read, 1);
            self.install(page, frame, &|mut page| page.copy_from(buf.page()))
        });
        lock(&self.scratch).push(buf);
        pin
    }

    /// Puts a page into a claimed frame and enters it into the table.
    fn install(
        &self,
        page: PageId,
        frame: FrameId,
        contents: &dyn Fn(PageMut<'_>),
    ) -> Result<Pin<'_>> {
        let state = self.frame(frame);
        let fill = || contents(PageMut::new(self.words(frame)));
        let deadline = self.env.clock.now().plus(EXHAUSTED_AFTER);
        loop {
            match state.enter(&self.table, (page, frame), &fill, &mut |frame, page| {
                self.evict_from_table(frame, page)
            }) {
                Ok(Placed::Free) => {}
                Ok(Placed::Displaced) => self.counters.displacements.add_one(),
                Ok(Placed::Stashed) => self.counters.stashed.add_one(),
                Ok(Placed::Evicted(empty)) => {
                    self.counters.evictions.add_one();
                    self.frame(empty).unclaim(0);
                }
                Err(page_table::Full) if self.env.clock.now() >= deadline => {
                    return Err(Error::PoolExhausted);
                }
                Err(page_table::Full) => {
                    self.wait_for_cleaner()?;
                    continue;
                }
            }
            return Ok(Pin { pool: self, frame });
        }
    }

    /// CLOCK: the hand is one atomic counter, so it is let go before any latch is tried; a second chance each.
    fn claim_frame(&self) -> Result<FrameId> {
        let deadline = self.env.clock.now().plus(EXHAUSTED_AFTER);
        loop {
            for _ in 0..self.frames.len() * 2 {
                let at = self.hand.fetch_add(1, Relaxed) % self.frames.len();
                let state = &self.frames[at];
                let empty = state.page() == NO_PAGE;
                if !state.in_use()
                    && (empty || (!state.untouch() && state.recovery().is_none()))
                    && self.evict(FrameId(at as u32))
                {
                    return Ok(FrameId(at as u32));
                }
            }
            if self.env.clock.now() >= deadline {
                return Err(Error::PoolExhausted);
            }
            self.wait_for_cleaner()?;
        }
    }

    /// Claims a frame, if it is clean and nobody uses it; its page has left.
    fn evict(&self, frame: FrameId) -> bool {
        let state = self.frame(frame);
        if !state.latch.try_acquire() {
            return false;
        }
        let claimed = state.recovery().is_none() && state.claim();
        if claimed && state.page() != NO_PAGE {
            self.table.remove(state.page(), frame);
            state.set_page(NO_PAGE);
            self.counters.evictions.add_one();
        }
        state.latch.release(claimed);
        claimed
    }

    /// The page table's question: may `page` leave `frame` at once? Its entry is written over by the asker.
    fn evict_from_table(&self, frame: FrameId, page: PageId) -> bool {
        let state = self.frame(frame);
        if state.in_use() || !state.latch.try_acquire() {
            return false;
        }
        let claimed = state.page() == page && state.recovery().is_none() && state.claim();
        if claimed {
            state.set_page(NO_PAGE);
        }
        state.latch.release(claimed);
        claimed
    }

    /// Under the latch: the page of `frame` leaves, whatever it was.
    pub(super) fn forget(&self, frame: FrameId) {
        let state = self.frame(frame);
        if state.page() != NO_PAGE {
            self.table.remove(state.page(), frame);
            state.set_page(NO_PAGE);
        }
        if state.recovery().is_some() {
            state.set_clean();
            self.dirty.fetch_sub(1, Relaxed);
        }
    }

    /// Waits until the cleaner has written something, or a while.
    fn wait_for_cleaner(&self) -> Result<()> {
        self.cleaner.check()?;
        self.counters.frame_waits.add_one();
        let cell = Arc::new(WaitCell::new());
        lock(&self.waiting).push(Arc::clone(&cell));
        self.cleaner.ask(&self.env);
        let deadline = self.env.clock.now().plus(FRAME_WAIT);
        self.env.wait(WaitEvent::BufferFree, &cell, Some(deadline), None);
        lock(&self.waiting).retain(|waiting| !Arc::ptr_eq(waiting, &cell));
        Ok(())
    }

    pub(super) fn wake_waiting(&self) {
        for cell in std::mem::take(&mut *lock(&self.waiting)) {
            self.env.wake(&cell);
        }
    }

    pub(super) fn count_dirty(&self) {
        self.counters.dirtied.add(1);
        usage::count(|used| &used.dirtied, 1);
        let dirty = self.dirty.fetch_add(1, Relaxed) + 1;
        if dirty > self.frames.len() / 2 {
            self.cleaner.ask(&self.env);
        }
    }

    /// The sweep of a checkpoint: the lowest LSN from which redo of any page in memory has to begin. Whatever was
    /// claimed before the call is in it.
    #[must_use]
    pub fn min_recovery_lsn(&self) -> Option<Lsn> {
        loop {
            let restored = self.restored.load(Relaxed);
            // Frames first: a page leaves its frame's answer only after it has entered its list.
            let frames = self.frames.iter().filter_map(Frame::recovery).min();
            let transit = self.transit.min_recovery();
            if self.restored.load(Relaxed) == restored {
                return frames.into_iter().chain(transit).min();
            }
        }
    }

    /// The file below.
    #[must_use]
    pub fn file(&self) -> &DataFile {
        &self.file
    }

    /// How many frames hold a page that is newer than the disk's.
    #[must_use]
    pub fn dirty_frames(&self) -> usize {
        self.dirty.load(Relaxed)
    }
}

impl Drop for BufferPool {
    fn drop(&mut self) {
        self.cleaner.stop(&self.env);
    }
}

/// What a miss finds in the end.
enum Arrival<'p> {
    /// The page, in memory after all.
    Here(Pin<'p>),
    /// An in-transit entry of its own: the caller brings the page and ends the entry.
    Ours,
}
