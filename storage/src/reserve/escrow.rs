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
//! On a disk with room to spare what is deposited for others is lent ([`super::credit`]), and so is what those may take who were
//! earlier: nobody waits there.
//!
//! What is held is bounded by what those who have a share can need at worst: what is more goes back as they leave.
//! `docs/design/0010-full-disk.md` has the sums.

use crate::environment::{Environment, WaitEvent};
use crate::space::{EXTENT_PAGES, Grant, Promise, TreeSpace};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::turnstile::Turnstile;
use crate::volume::Volume;
use crate::wal::{Detached, frame};
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
    /// What is lent and has not been taken: pages, and bytes of log.
    lent_pages: u64,
    lent_log: u64,
}

impl Held {
    fn held_pages(&self) -> u64 {
        let extents: usize = self.promises.iter().map(Promise::extents).sum();
        (self.pages.len() + extents * EXTENT_PAGES as usize) as u64
    }

    fn held_log(&self) -> u64 {
        self.log.iter().map(Detached::bytes).sum()
    }

    /// Takes what is lent beyond `pages` and `log` back, as far as it has not been taken; how many bytes that is.
    fn unlend(&mut self, pages: u64, log: u64, page_bytes: u64) -> u64 {
        let pages =
            (self.held_pages() + self.lent_pages).saturating_sub(pages).min(self.lent_pages);
        let log = (self.held_log() + self.lent_log).saturating_sub(log).min(self.lent_log);
        self.lent_pages -= pages;
        self.lent_log -= log;
        pages * page_bytes + log
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

    /// Takes a page that is held, or lent.
    fn take_page(&self) -> Option<PageId> {
        let volume = &self.volume;
        let mut held = lock(&self.held);
        if let Some(page) = held.pages.pop() {
            return Some(page);
        }
        if let Some(page) = self.space.take_unused(volume.slot(), &volume.pool) {
            return Some(page);
        }
        if let Some(promise) = held.promises.last_mut() {
            let pages = volume.space.redeem(promise, &self.space);
            if promise.extents() == 0 {
                held.promises.pop();
            }
            held.pages.extend(pages?);
            return held.pages.pop();
        }
        held.lent_pages = held.lent_pages.checked_sub(1)?;
        drop(held);
        let mut promise =
            volume.space.promise(volume.slot(), (1, 1), &volume.pool, Grant::Last).ok()?;
        let pages = volume.space.redeem(&mut promise, &self.space);
        volume.space.end_promise(&mut promise);
        let mut pages = pages?;
        let page = pages.pop();
        let mut held = lock(&self.held);
        // The others of the extent are there now, and need not be lent.
        let others = held.lent_pages.min(pages.len() as u64);
        held.lent_pages -= others;
        volume.space.credit.repay((1 + others) * volume.pool.page_bytes() as u64);
        held.pages.extend(pages);
        page
    }

    /// Takes `bytes` of log that are held, or lent.
    fn take_log(&self, bytes: u64) -> Option<Detached> {
        let volume = &self.volume;
        let mut held = lock(&self.held);
        let log = held.log.iter_mut().find_map(|log| log.split_off(bytes));
        if log.is_some() {
            return log;
        }
        held.lent_log = held.lent_log.checked_sub(bytes)?;
        drop(held);
        let log = volume.log.reserve_at_once(bytes - frame::OVERHEAD_BYTES).ok()?;
        volume.space.credit.repay(bytes);
        Some(log.detach())
    }

    /// Lets go of what is beyond the bound.
    fn trim(&self, held: &mut Held, split_bytes: u64) {
        let volume = &self.volume;
        let bound = if held.shares == 0 { 0 } else { held.bound };
        let unlent = held.unlend(bound, bound * split_bytes, volume.pool.page_bytes() as u64);
        volume.space.credit.repay(unlent);
        loop {
            let excess = held.held_pages().saturating_sub(bound) / u64::from(EXTENT_PAGES);
            let Some(promise) = held.promises.last_mut().filter(|_| excess > 0) else { break };
            volume.space.end_promise(&mut promise.split_off(excess as usize));
            if promise.extents() == 0 {
                held.promises.pop();
            }
        }
        if held.shares == 0 {
            held.pages.drain(..).for_each(|page| self.space.give_back(page));
        }
        loop {
            let excess = held.held_log().saturating_sub(bound * split_bytes);
            let Some(log) = held.log.last_mut().filter(|_| excess > 0) else { break };
            let part = log.split_off(excess).or_else(|| held.log.pop());
            drop(part.map(|part| volume.log.attach(part)));
        }
        // What is used up still counts as set aside for splits.
        for log in held.log.extract_if(.., |log| log.bytes() == 0) {
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

    /// Has `pages` and the log of as many splits lent, if the disk has them.
    pub(crate) fn borrow(&self, pages: u64) -> bool {
        let volume = &self.escrow.volume;
        let page_bytes = volume.pool.page_bytes();
        let log = pages * super::split_bytes(page_bytes);
        let lent = pages == 0 || volume.space.credit.lend(pages * page_bytes as u64 + log);
        if lent {
            let mut held = lock(&self.escrow.held);
            held.lent_pages += pages;
            held.lent_log += log;
        }
        lent
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
    /// Begins one: whoever sets room aside for the tree from now on deposits it. Who has done so before has been applied when
    /// it returns, or has what it may take from the batch lent.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`] by whom the thread runs for.
    pub(crate) fn begin(escrow: &Arc<Escrow>) -> Result<Batch> {
        let volume = &escrow.volume;
        let mut share = escrow.share(0);
        volume.batches.trees.fetch_add(1, Ordering::SeqCst);
        let crowded = escrow.batches.fetch_add(1, Ordering::SeqCst) > 0;
        // As many pages as they were promised is more than what they can cut.
        let earlier = volume.space.standing_extents() * u64::from(EXTENT_PAGES);
        share.widen(earlier);
        let lent = share.borrow(earlier);
        let batch = Batch { share, crowded };
        if !lent {
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

#[cfg(test)]
mod tests {
    use super::super::split_bytes;
    use crate::device::faulty::{FaultSchedule, FaultyDevice};
    use crate::environment::{Environment, SystemClock, Threads};
    use crate::sync::Arc;
    use crate::{DataComponent, Options};

    #[test]
    fn what_is_lent_is_taken_from_the_disk_when_it_is_used_and_not_counted_afterwards() {
        let device = Arc::new(FaultyDevice::new(1));
        let env = Environment {
            device: Arc::<FaultyDevice>::clone(&device),
            clock: Arc::new(SystemClock::new()),
            scheduler: Arc::new(Threads::new(2)),
            seed: 1,
        };
        let floor = 1 << 20;
        let options = Options {
            page_bytes: 4096,
            log_segment_bytes: 64 << 10,
            log_bytes_max: 1 << 20,
            credit_floor_bytes: Some(floor),
            ..Options::default()
        };
        DataComponent::create(&env, &options).unwrap();
        let recovering = DataComponent::open(env, options).unwrap();
        let data = Arc::clone(recovering.component());
        recovering.finish(&|_| true).unwrap();
        let tree = data.create_tree().unwrap();
        let credit = &tree.volume.space.credit;
        let unit = 4096 + split_bytes(4096);
        let capacity_bytes = Some(device.bytes() + floor + 20 * unit);
        device.set_schedule(FaultSchedule { capacity_bytes, ..FaultSchedule::default() });

        let share = tree.escrow.share(20);
        assert!(!share.borrow(21), "there is not as much");
        assert_eq!(credit.lent(), 0);
        assert!(share.borrow(20) && !share.borrow(1));
        assert_eq!(credit.lent(), 20 * unit);
        assert!(!credit.spares(floor + 1) && credit.spares(floor));
        for _ in 0..20 {
            assert!(share.take_page().is_some());
            let log = share.take_log(split_bytes(4096)).unwrap();
            drop(tree.volume.log.attach(log));
        }
        // The tree had some that it did not use.
        assert!(credit.lent() < 8 * 4096 && credit.lent().is_multiple_of(4096));
        assert!(share.take_log(1).is_none());

        let other = tree.escrow.share(1);
        device.set_schedule(FaultSchedule { capacity_bytes: None, ..FaultSchedule::default() });
        assert!(!other.borrow(1), "of a disk that does not say what it has nothing is lent");
        drop((share, other));
        assert_eq!(credit.lent(), 0);
        data.close(&mut |tail| tail, true).unwrap();
    }
}
