//! The only doors to a page in the pool: a pin keeps it in memory, an optimistic guard reads it, an exclusive one writes.
//!
//! Conflict is a value: an optimistic guard that finds its page changed answers [`Restart`], and the loop that starts
//! again lives in `btree`. No door is left open: guards let go when they are dropped.

use super::BufferPool;
use super::frame::Frame;
use super::latch::{Restart, Version};
use crate::page::{Page, PageMut, racy::Words};
use crate::{FrameId, Lsn, PageId};

/// A page that stays in its frame. It says nothing about its contents.
#[derive(Debug)]
pub struct Pin<'p> {
    pub(super) pool: &'p BufferPool,
    pub(super) frame: FrameId,
}

/// A page as a reader sees it: everything read is to be validated.
#[derive(Clone, Copy, Debug)]
pub struct OptimisticGuard<'p> {
    pool: &'p BufferPool,
    state: &'p Frame,
    words: &'p Words,
    frame: FrameId,
    version: Version,
}

/// A page that its holder alone may change.
#[derive(Debug)]
pub struct ExclusiveGuard<'p> {
    pool: &'p BufferPool,
    state: &'p Frame,
    words: &'p Words,
    frame: FrameId,
    changed: bool,
}

impl<'p> Pin<'p> {
    /// Where it is.
    #[must_use]
    pub fn frame(&self) -> FrameId {
        self.frame
    }

    /// Takes the latch, waiting for a writer to go.
    #[must_use]
    pub fn exclusive(&self) -> ExclusiveGuard<'p> {
        let Pin { pool, frame } = *self;
        pool.acquire(frame);
        let (state, words) = (pool.frame(frame), pool.words(frame));
        ExclusiveGuard { pool, state, words, frame, changed: false }
    }

    /// Begins to read, waiting for a writer to go.
    #[must_use]
    pub fn optimistic(&self) -> OptimisticGuard<'p> {
        let mut spins = 0;
        loop {
            match OptimisticGuard::begin(self.pool, self.frame) {
                Some(guard) => return guard,
                None => crate::sync::relax(&mut spins),
            }
        }
    }
}

impl Drop for Pin<'_> {
    fn drop(&mut self) {
        self.pool.frame(self.frame).unpin();
    }
}

impl<'p> OptimisticGuard<'p> {
    /// Begins to read what is in `frame`; none while a writer is there.
    #[inline(always)]
    pub(super) fn begin(pool: &'p BufferPool, frame: FrameId) -> Option<OptimisticGuard<'p>> {
        let state = pool.frame(frame);
        let version = match pool.stripped.latches() {
            false => state.latch.version()?,
            true => Version::UNREAD,
        };
        Some(OptimisticGuard { pool, state, words: pool.words(frame), frame, version })
    }

    /// Where it is.
    #[must_use]
    pub fn frame(&self) -> FrameId {
        self.frame
    }

    /// The page to read.
    #[inline(always)]
    #[must_use]
    pub fn page(&self) -> Page<'p> {
        Page::new(self.words)
    }

    /// Whether everything read so far was of one state.
    ///
    /// # Errors
    /// [`Restart`] if not.
    #[inline(always)]
    pub fn validate(&self) -> Result<(), Restart> {
        if self.pool.stripped.latches() {
            return Ok(());
        }
        self.state.latch.validate(self.version)
    }

    /// Becomes the writer, if nothing has changed.
    ///
    /// # Errors
    /// [`Restart`] if something has.
    pub fn upgrade(self) -> Result<ExclusiveGuard<'p>, Restart> {
        let OptimisticGuard { pool, state, words, frame, version } = self;
        if !pool.stripped.latches_of_writers() {
            state.latch.upgrade(version)?;
        }
        Ok(ExclusiveGuard { pool, state, words, frame, changed: false })
    }
}

impl<'p> ExclusiveGuard<'p> {
    /// The page to read.
    #[must_use]
    pub fn page(&self) -> Page<'_> {
        Page::new(self.words)
    }

    /// The bytes of a range of the page, as long as nobody can change them.
    #[must_use]
    pub fn bytes(&self, at: usize, len: usize) -> &[u8] {
        let words = self.words;
        assert!(at + len <= words.len() * 8, "the range lies within the page");
        let start = words.as_ptr().cast::<u8>();
        // SAFETY: the range was checked to lie within the words.
        let start = unsafe { start.add(at) };
        // SAFETY: the exclusive latch keeps every other writer out (where latches are left out, the thread does that has left them
        // out: see `crate::stripped`), and the borrow of `self` this one: `page_mut` wants `&mut self`. Readers only load. Any
        // bytes are valid.
        unsafe { std::slice::from_raw_parts(start, len) }
    }

    /// The page to change; readers will start again.
    pub fn page_mut(&mut self) -> PageMut<'_> {
        self.changed = true;
        PageMut::new(self.words)
    }

    /// The page, to change a frame hint in: no reader need start again for that.
    pub fn hints_mut(&mut self) -> PageMut<'_> {
        PageMut::new(self.words)
    }

    /// Says that redo of this page has to begin at or before `lsn`. To be called before the page is changed, and before
    /// a structure record that changes it is claimed (then with the log's tail).
    pub fn mark_dirty(&self, lsn: Lsn) {
        if self.state.lower_recovery(lsn) {
            self.pool.count_dirty();
        }
    }

    /// Which page it is.
    #[must_use]
    pub fn id(&self) -> PageId {
        self.state.page()
    }

    /// Where it is.
    #[must_use]
    pub fn frame(&self) -> FrameId {
        self.frame
    }

    /// Forgets the page: it has been freed, and its contents mean nothing any more.
    pub fn discard(mut self) {
        self.changed = true;
        self.pool.forget(self.frame);
    }
}

impl Drop for ExclusiveGuard<'_> {
    fn drop(&mut self) {
        if !self.pool.stripped.latches() {
            self.state.latch.release(self.changed);
        }
    }
}
