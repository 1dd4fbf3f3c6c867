//! From the root to a node by optimistic lock coupling, following frame hints.
//!
//! Paper: Leis et al., *The ART of Practical Synchronization*, DaMoN 2016. A child's version is read before its parent is
//! validated, so no step of the way is through a page that had changed. Whatever a torn parent says, the frame must
//! hold the page that the child pointer names, and the parent's validation comes before anything is believed.
//!
//! Nothing is waited for on the way. A page that is not in memory ends the descent as a value; the caller brings it,
//! holding no latch, and starts again at the root with the page pinned.

use super::node::{self, Child};
use super::{ReadToken, Tree};
use crate::breakdown::{self, Class};
use crate::buffer::guard::{OptimisticGuard, Pin};
use crate::buffer::latch::Restart;
use crate::page::Page;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::relax;
use crate::usage;
use crate::{Error, FrameId, PageId, Result};

/// Why a descent ended early.
#[derive(Debug)]
pub(super) enum Stop<'v> {
    /// Something changed on the way.
    Restart,
    /// A page is not in memory: which, and the parent that names it.
    Miss(PageId, Option<OptimisticGuard<'v>>),
}

impl From<Restart> for Stop<'_> {
    fn from(_: Restart) -> Self {
        Stop::Restart
    }
}

/// Where a descent goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target<'k> {
    /// To the node whose range holds the key.
    At(&'k [u8]),
    /// To the node that holds the keys just below the key.
    Below(&'k [u8]),
    /// To the last node.
    Last,
}

impl Target<'_> {
    #[inline(always)]
    fn child_slot(self, page: Page<'_>) -> usize {
        match self {
            Target::At(key) => node::child_slot(page, key),
            Target::Below(key) => node::child_slot_below(page, key),
            Target::Last => page.slots().saturating_sub(1),
        }
    }
}

/// A node and how it was reached.
#[derive(Debug)]
pub(super) struct Reached<'v> {
    /// The parent, if the node is not the root, valid when the node's version was read.
    pub parent: Option<OptimisticGuard<'v>>,
    /// The slot of the node in its parent.
    pub slot: usize,
    /// The node; not yet validated.
    pub node: OptimisticGuard<'v>,
}

impl Tree {
    /// The root, and how many hints were right on the way to it: one or none.
    #[inline(always)]
    pub(super) fn root(&self) -> std::result::Result<(OptimisticGuard<'_>, u64), Stop<'_>> {
        let hint = FrameId(self.root_frame.load(Relaxed));
        match self.volume.pool.by_hint(self.root, hint) {
            Some(guard) => Ok((guard, 1)),
            None => match self.volume.pool.resident(self.root) {
                Some(guard) => {
                    self.root_frame.store(guard.frame().0, Relaxed);
                    self.count_unhinted(guard.frame() == hint);
                    Ok((guard, 0))
                }
                None => Err(Stop::Miss(self.root, None)),
            },
        }
    }

    /// Counts the hints of a descent that has come to its end.
    #[inline(always)]
    pub(super) fn count_hints(&self, hits: u64) {
        self.volume.pool.counters.hint_hits.add(hits);
        usage::count(|used| &used.hit, hits);
    }

    /// Counts a page that was found by the page table, though its hint may have been right: a writer was there.
    fn count_unhinted(&self, right: bool) {
        if right {
            return self.count_hints(1);
        }
        self.volume.pool.counters.hint_misses.add_one();
        usage::count(|used| &used.hit, 1);
    }

    /// The leaf of the target.
    pub(super) fn leaf(
        &self,
        target: Target<'_>,
    ) -> std::result::Result<OptimisticGuard<'_>, Stop<'_>> {
        self.descend(target)
    }

    /// As [`Tree::leaf`], within its caller: for who reads one key, which is done most often.
    #[inline(always)]
    pub(super) fn descend(
        &self,
        target: Target<'_>,
    ) -> std::result::Result<OptimisticGuard<'_>, Stop<'_>> {
        let (mut node, mut hits) = self.root()?;
        loop {
            let page = node.page();
            if page.level() == 0 {
                self.count_hints(hits);
                return Ok(node);
            }
            let slot = target.child_slot(page);
            let child = node::child(page, slot);
            let next = match self.volume.pool.by_hint(child.page, child.frame) {
                Some(next) => {
                    hits += 1;
                    next
                }
                None => self.unhinted(node, slot, child)?,
            };
            node.validate()?;
            node = next;
        }
    }

    /// The leaf that was read under `token`, if it is in its frame, has kept its structure and has not been freed: its range is
    /// the same then. To be validated as one that a descent has come to.
    #[inline]
    pub(super) fn leaf_again(&self, token: &ReadToken) -> Option<OptimisticGuard<'_>> {
        let leaf = self.volume.pool.by_hint(PageId(token.page), FrameId(token.frame))?;
        let is_leaf = self.has_kept(token, leaf.page()) && leaf.page().level() == 0;
        is_leaf.then_some(leaf)
    }

    /// The leaf of a key: the one that another key was read in under `token`, if it is there too, else by a descent.
    #[inline(always)]
    pub(super) fn leaf_beside(
        &self,
        token: &ReadToken,
        key: &[u8],
    ) -> std::result::Result<OptimisticGuard<'_>, Stop<'_>> {
        if let Some(leaf) = self.leaf_again(token)
            && leaf.page().covers(key)
        {
            self.count_hints(1);
            return Ok(leaf);
        }
        self.leaf(Target::At(key))
    }

    /// The node of the target at `level`, with its parent; none if the tree is not that high.
    pub(super) fn node_at(
        &self,
        target: Target<'_>,
        level: u8,
    ) -> std::result::Result<Option<Reached<'_>>, Stop<'_>> {
        let (root, mut hits) = self.root()?;
        let mut at = Reached { parent: None, slot: 0, node: root };
        loop {
            let page = at.node.page();
            if page.level() <= level {
                let found = page.level() == level;
                at.node.validate()?;
                self.count_hints(hits);
                return Ok(found.then_some(at));
            }
            let slot = target.child_slot(page);
            let child = node::child(page, slot);
            let next = match self.volume.pool.by_hint(child.page, child.frame) {
                Some(next) => {
                    hits += 1;
                    next
                }
                None => self.unhinted(at.node, slot, child)?,
            };
            at.node.validate()?;
            at = Reached { parent: Some(at.node), slot, node: next };
        }
    }

    /// About how many records there are, tombstones among them: the product of the fan-outs on the way to the middle leaf.
    /// One descent, so it is off by as much as that way is unlike the others.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn record_estimate(&self) -> Result<f64> {
        let (mut held, mut spins) = (None, 0);
        loop {
            match self.try_record_estimate() {
                Ok(records) => return Ok(records),
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
    }

    fn try_record_estimate(&self) -> std::result::Result<f64, Stop<'_>> {
        let (mut node, mut hits) = self.root()?;
        let mut records = 1.0;
        loop {
            let page = node.page();
            let slots = page.slots();
            records *= slots as f64;
            if page.level() == 0 || slots == 0 {
                node.validate()?;
                self.count_hints(hits);
                return Ok(records);
            }
            let child = node::child(page, slots / 2);
            let next = match self.volume.pool.by_hint(child.page, child.frame) {
                Some(next) => {
                    hits += 1;
                    next
                }
                None => self.unhinted(node, slots / 2, child)?,
            };
            node.validate()?;
            node = next;
        }
    }

    /// The hint was wrong: asks the page table, and corrects the hint if nobody is in the way.
    #[cold]
    fn unhinted<'v>(
        &'v self,
        parent: OptimisticGuard<'v>,
        slot: usize,
        child: Child,
    ) -> std::result::Result<OptimisticGuard<'v>, Stop<'v>> {
        parent.validate()?;
        let _class = breakdown::enter(Class::Buffer);
        let pool = &self.volume.pool;
        let Some(guard) = pool.resident(child.page) else {
            return Err(Stop::Miss(child.page, Some(parent)));
        };
        self.count_unhinted(guard.frame() == child.frame);
        if guard.frame() != child.frame
            && let Ok(mut parent) = parent.upgrade()
        {
            let repaired = Child { page: child.page, frame: guard.frame() };
            parent.hints_mut().set_entry_word(slot, repaired.word());
            pool.counters.hint_repairs.add_one();
        }
        Ok(guard)
    }

    /// What to do when a descent has stopped. `held` keeps the last page that was brought in memory, for the next try.
    pub(super) fn recover<'v>(
        &'v self,
        stop: Stop<'v>,
        held: &mut Option<Pin<'v>>,
        spins: &mut u32,
    ) -> Result<()> {
        match stop {
            Stop::Restart => {
                let _class = breakdown::enter(Class::Latching);
                relax(spins);
            }
            Stop::Miss(page, parent) => {
                let _class = breakdown::enter(Class::Buffer);
                // Before the wait: nobody waits with a page pinned.
                *held = None;
                match self.volume.pool.fetch_for_descent(page) {
                    Ok(pin) => *held = Some(pin),
                    // If the parent has changed, the page may have been freed, and what lies there means nothing.
                    Err(Error::Corrupt(..) | Error::Io(..))
                        if parent.is_some_and(|parent| parent.validate().is_err()) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}
