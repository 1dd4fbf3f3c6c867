//! Escrow: what commits set aside together for a tree, as long as one of them counts on leaves that it has shaped.
//!
//! A commit of more writes in one tree than its promise covers ([`super::CUTS_MAX`]) is a *batch* there: its leaves have been
//! shaped to take all that it puts into them, and it counts on the room that they have then. Others who write there
//! before it is applied may use that room up, so they pay for whom they get in the way of: whoever sets room aside for a
//! tree that has a batch does so twice and *deposits* it with the tree, from where all who have a share draw until the last
//! of them has been applied. What the promise of a batch covers is for what had been done when it began.
//!
//! - *Who was earlier.* A batch waits, before it shapes the leaf from which on it counts, for all whose room was set aside
//!   before it could be seen, until they have been applied ([`crate::space::Space::outlast`]). Either they see it and
//!   deposit, or it sees what they have put on the leaves.
//! - *Two batches in one tree.* The second sets aside what both can need on the leaves that it shapes. Where there is not as
//!   much, it begins anew when no other is under way, and is alone then ([`Member`]).
//! - *Merges.* No leaf of a tree with a batch takes in its neighbour's records ([`Escrow::has_batch`], asked under the
//!   latches of both).
//!
//! All of this is for a disk that may become full: with gigabytes left ([`Volume::is_roomy`]) nobody deposits, and nobody waits.
//!
//! What is held is bounded by what those who have a share can need at worst: what is more goes back as they leave.
//! `docs/design/0010-full-disk.md` has the sums.

use crate::environment::{Environment, WaitEvent};
use crate::space::{EXTENT_PAGES, Promise, TreeSpace};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::turnstile::Turnstile;
use crate::volume::Volume;
use crate::wal::Detached;
use crate::{PageId, Result, TreeId, waiter};

/// What is held for one tree.
#[derive(Debug)]
pub(crate) struct Escrow {
    volume: Arc<Volume>,
    space: Arc<TreeSpace>,
    batches: AtomicUsize,
    held: Mutex<Held, { rank::ESCROW }>,
}

#[derive(Debug, Default)]
struct Held {
    shares: usize,
    /// What those who have a share can need at worst, in pages: a split needs one.
    bound: u64,
    promises: Vec<Promise>,
    pages: Vec<PageId>,
    /// Log for splits, by worker.
    log: Vec<Detached>,
}

impl Held {
    fn held_pages(&self) -> u64 {
        let extents: usize = self.promises.iter().map(Promise::extents).sum();
        (self.pages.len() + extents * EXTENT_PAGES as usize) as u64
    }

    fn held_log(&self) -> u64 {
        self.log.iter().map(Detached::bytes).sum()
    }
}

/// A part in what is held for a tree; the last who has one leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Share {
    escrow: Arc<Escrow>,
    bound: u64,
}

impl Escrow {
    pub(crate) fn new(volume: Arc<Volume>, space: Arc<TreeSpace>) -> Escrow {
        Escrow { volume, space, batches: AtomicUsize::new(0), held: Mutex::default() }
    }

    /// Whether somebody counts on the leaves as they are.
    #[inline]
    pub(crate) fn has_batch(&self) -> bool {
        // Acquire: who asks under a leaf's latch, and is told no, has put its change there before a batch looks.
        self.batches.load(Ordering::Acquire) > 0
    }

    /// A share for who may need `bound` pages.
    pub(crate) fn share(self: &Arc<Self>, bound: u64) -> Share {
        let mut held = lock(&self.held);
        held.shares += 1;
        held.bound += bound;
        Share { escrow: Arc::clone(self), bound }
    }

    /// Takes a page that is held.
    fn take_page(&self) -> Option<PageId> {
        let volume = &self.volume;
        let mut held = lock(&self.held);
        if let Some(page) = held.pages.pop() {
            return Some(page);
        }
        if let Some(page) = self.space.take_unused(volume.slot(), &volume.pool) {
            return Some(page);
        }
        let promise = held.promises.last_mut()?;
        let pages = volume.space.redeem(promise, &self.space);
        if promise.extents() == 0 {
            held.promises.pop();
        }
        held.pages.extend(pages?);
        held.pages.pop()
    }

    /// Takes `bytes` of log that are held.
    fn take_log(&self, bytes: u64) -> Option<Detached> {
        let mut held = lock(&self.held);
        held.log.iter_mut().find_map(|log| log.split_off(bytes))
    }

    /// Lets go of what is beyond the bound.
    fn trim(&self, held: &mut Held, split_bytes: u64) {
        let volume = &self.volume;
        let bound = if held.shares == 0 { 0 } else { held.bound };
        while held.held_pages() >= bound + u64::from(EXTENT_PAGES)
            && let Some(mut promise) = held.promises.pop()
        {
            volume.space.end_promise(&mut promise);
        }
        if held.shares == 0 {
            held.pages.drain(..).for_each(|page| self.space.give_back(page));
        }
        while held.held_log() > bound * split_bytes
            && let Some(log) = held.log.pop()
        {
            drop(volume.log.attach(log));
        }
    }
}

impl Share {
    /// Whether it is a part of what is held there.
    pub(crate) fn is_of(&self, escrow: &Arc<Escrow>) -> bool {
        Arc::ptr_eq(&self.escrow, escrow)
    }

    /// The tree's number.
    pub(crate) fn tree(&self) -> TreeId {
        self.escrow.space.tree()
    }

    /// Who has it may need so many pages more.
    pub(crate) fn widen(&mut self, pages: u64) {
        self.bound += pages;
        lock(&self.escrow.held).bound += pages;
    }

    /// Deposits what was set aside.
    pub(crate) fn deposit(
        &self,
        promise: Promise,
        pages: impl IntoIterator<Item = PageId>,
        log: Detached,
    ) {
        let mut held = lock(&self.escrow.held);
        held.pages.extend(pages);
        if promise.extents() > 0 {
            held.promises.push(promise);
        }
        match held.log.iter_mut().find(|other| other.worker() == log.worker()) {
            Some(other) => other.absorb(log),
            None => held.log.push(log),
        }
    }

    /// A page for the tree.
    pub(crate) fn take_page(&self) -> Option<PageId> {
        self.escrow.take_page()
    }

    /// Log for one split.
    pub(crate) fn take_log(&self, bytes: u64) -> Option<Detached> {
        self.escrow.take_log(bytes)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let escrow = &*self.escrow;
        let split_bytes = super::split_bytes(escrow.volume.pool.page_bytes());
        let mut held = lock(&escrow.held);
        held.shares -= 1;
        held.bound -= self.bound;
        escrow.trim(&mut held, split_bytes);
    }
}

/// A commit that counts on leaves of one tree.
#[derive(Debug)]
pub(crate) struct Batch {
    share: Share,
    /// Whether another was there when it began.
    pub(crate) crowded: bool,
}

impl Batch {
    /// Begins one: whoever sets room aside for the tree from now on deposits it, and who has done so before has been
    /// applied when it returns.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`] by whom the thread runs for.
    pub(crate) fn begin(escrow: &Arc<Escrow>) -> Result<Batch> {
        let volume = &escrow.volume;
        let share = escrow.share(0);
        volume.batches.trees.fetch_add(1, Ordering::SeqCst);
        let crowded = escrow.batches.fetch_add(1, Ordering::SeqCst) > 0;
        let batch = Batch { share, crowded };
        if !volume.is_roomy() {
            let waiter = waiter::cancellable();
            let cancel = waiter.as_deref().map(|waiter| waiter.cancel());
            volume.space.outlast(volume.pool.environment(), cancel)?;
        }
        Ok(batch)
    }

    /// The tree's number.
    pub(crate) fn tree(&self) -> TreeId {
        self.share.tree()
    }

    /// It counts on one leaf more.
    pub(crate) fn widen(&mut self, pages: u64) {
        self.share.widen(pages);
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.share.escrow.batches.fetch_sub(1, Ordering::SeqCst);
        self.share.escrow.volume.batches.trees.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Who has batches in the trees of one data file.
#[derive(Debug, Default)]
pub(crate) struct Batches {
    /// How many there are, each tree by itself.
    trees: AtomicUsize,
    commits: Mutex<Commits, { rank::ESCROW }>,
    /// Who wait to come in beside others, and who to be alone.
    beside: Turnstile,
    alone: Turnstile,
}

#[derive(Debug, Default)]
struct Commits {
    running: usize,
    /// Who want to be alone, and whether somebody is.
    wanted: usize,
    alone: bool,
}

impl Batches {
    /// Whether there is any: what is seen here has begun before, or waits for who asks.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.trees.load(Ordering::SeqCst) > 0
    }

    /// Somebody may come in who could not before.
    fn changed(&self, env: &Environment) {
        self.alone.given_back(env);
        self.beside.given_back(env);
    }
}

/// A commit that has batches, from before the first until it has been applied.
#[derive(Debug)]
pub(crate) struct Member {
    volume: Arc<Volume>,
    alone: bool,
}

impl Member {
    /// Comes in, `alone` or beside others. Waits while somebody is, or wants to be, alone; who wants that waits for all others.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`] by whom the thread runs for.
    pub(crate) fn enter(volume: &Arc<Volume>, alone: bool) -> Result<Member> {
        let batches = &volume.batches;
        let env = volume.pool.environment();
        let come = || {
            let mut commits = lock(&batches.commits);
            let free = match alone {
                true => commits.running == 0,
                false => !commits.alone && commits.wanted == 0,
            };
            if free {
                commits.running += 1;
                commits.alone = alone;
            }
            free.then_some(())
        };
        if alone {
            lock(&batches.commits).wanted += 1;
        }
        let mut entered = Ok(());
        if come().is_none() {
            let waiter = waiter::cancellable();
            let cancel = waiter.as_deref().map(|waiter| waiter.cancel());
            let queue = if alone { &batches.alone } else { &batches.beside };
            entered = queue.wait(env, WaitEvent::CommitRoom, cancel, come);
        }
        if alone {
            lock(&batches.commits).wanted -= 1;
        }
        // One is woken at a time, and the next may come in as well.
        batches.changed(env);
        entered?;
        Ok(Member { volume: Arc::clone(volume), alone })
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let batches = &self.volume.batches;
        let mut commits = lock(&batches.commits);
        commits.running -= 1;
        commits.alone &= !self.alone;
        drop(commits);
        batches.changed(self.volume.pool.environment());
    }
}
