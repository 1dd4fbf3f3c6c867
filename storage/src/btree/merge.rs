//! Merges: how a tree shrinks. A node that has become small goes into its neighbour, and its page becomes free.
//!
//! A merge is tried when tombstones go, never owed: if a neighbour is too full or somebody is in the way, the node stays.
//! Both have the same parent, the right one goes into the left (logged as an image: it gains records), and the right
//! one's page is freed by the same record. A root with a single child takes its contents over, for it never moves.

use super::Tree;
use super::descend::{Stop, Target};
use super::node;
use super::smo::{Actions, IMAGE_OVERHEAD};
use crate::buffer::guard::{ExclusiveGuard, OptimisticGuard};
use crate::page::{Page, PageBuf};
use crate::sync::atomic::Ordering;
use crate::volume::AbortOnUnwind;
use crate::wal::{SpaceClass, SpaceReservation};
use crate::{PageId, Result};

/// How often an attempt starts again before it is left.
const ATTEMPTS: u32 = 8;

impl Tree {
    /// Whether a node is small enough to look for a neighbour.
    pub(super) fn is_small(&self, page: Page<'_>) -> bool {
        node::used(page) < self.page_bytes() / 5
    }

    /// Tries to merge the leaf of `key`, and then what has become small above it.
    ///
    /// # Errors
    /// I/O and corruption.
    pub(super) fn merge_leaf(&self, key: &[u8]) -> Result<()> {
        self.merge_from(key, 0)
    }

    /// As [`Tree::merge_leaf`], of the node over `key` at `level`.
    pub(super) fn merge_from(&self, key: &[u8], mut level: u8) -> Result<()> {
        let _permit = self.volume.smo_permit()?;
        let bytes =
            self.page_bytes() + IMAGE_OVERHEAD + node::key_bytes_max(self.page_bytes()) + 64;
        loop {
            let Ok(mut space) = self.volume.log.reserve(SpaceClass::System, 1, bytes as u64) else {
                return Ok(());
            };
            self.volume.log.settle(space.bytes());
            if !self.merge_at(key, level, &mut space)? {
                return Ok(());
            }
            level += 1;
        }
    }

    /// Whether something was merged, so that the parent may be small now.
    fn merge_at(&self, key: &[u8], level: u8, space: &mut SpaceReservation) -> Result<bool> {
        let mut held = None;
        let mut spins = 0;
        for _ in 0..ATTEMPTS {
            match self.try_merge(key, level, space) {
                Ok(merged) => return Ok(merged),
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
        Ok(false)
    }

    fn try_merge<'v>(
        &'v self,
        key: &[u8],
        level: u8,
        space: &mut SpaceReservation<'_>,
    ) -> std::result::Result<bool, Stop<'v>> {
        let Some(at) = self.node_at(Target::At(key), level)? else { return Ok(false) };
        let Some(parent) = at.parent else { return self.collapse(at.node, space) };
        if !self.is_small(at.node.page()) {
            at.node.validate()?;
            return Ok(false);
        }
        let slots = parent.page().slots();
        let left_slot = if at.slot + 1 < slots { at.slot } else { at.slot.saturating_sub(1) };
        let other_slot = if left_slot == at.slot { at.slot + 1 } else { left_slot };
        let other = node::child(parent.page(), other_slot).page;
        parent.validate()?;
        if slots < 2 {
            return Ok(false);
        }
        let Some(other) = self.volume.pool.resident(other) else {
            return Err(Stop::Miss(other, Some(parent)));
        };
        let parent = parent.upgrade()?;
        let (left, right) = if left_slot == at.slot { (at.node, other) } else { (other, at.node) };
        let left = left.upgrade()?;
        let right = right.upgrade()?;
        // Somebody may count on the room that they have.
        if level == 0 && self.escrow.has_batch() {
            return Ok(false);
        }
        let empty = left.page().slots() == 0 || right.page().slots() == 0;
        let full = if empty { self.page_bytes() } else { self.page_bytes() / 4 * 3 };
        let Some(joined) = node::joined(left.page(), right.page(), full) else { return Ok(false) };
        self.join(parent, left, right, &joined, space);
        Ok(true)
    }

    /// Puts `joined` in the place of two neighbours.
    pub(super) fn join(
        &self,
        mut parent: ExclusiveGuard<'_>,
        mut left: ExclusiveGuard<'_>,
        right: ExclusiveGuard<'_>,
        joined: &PageBuf,
        space: &mut SpaceReservation<'_>,
    ) {
        let mut separator = Vec::new();
        right.page().append_low(&mut separator);
        let gone = right.id();
        let mut actions = Actions::new(self.id, self.page_bytes() + IMAGE_OVERHEAD);
        actions.image(joined.page());
        actions.remove_child(parent.id(), &separator);
        actions.free(gone);
        let tail = self.volume.log.tail();
        parent.mark_dirty(tail);
        left.mark_dirty(tail);
        let _abort = AbortOnUnwind;
        let lsn = self.volume.log_structure(space, &actions, &[gone]);
        let mut page = left.page_mut();
        page.copy_from(joined.page());
        page.count_change();
        page.set_structure_lsn(lsn);
        let mut page = parent.page_mut();
        assert!(node::remove_child(&mut page, &separator), "the right node is its parent's child");
        page.set_structure_lsn(lsn);
        self.freed(right, gone, lsn);
    }

    /// A root with one child becomes what the child is.
    fn collapse<'v>(
        &'v self,
        root: OptimisticGuard<'v>,
        space: &mut SpaceReservation<'_>,
    ) -> std::result::Result<bool, Stop<'v>> {
        let only = root.page().level() > 0 && root.page().slots() == 1;
        let child = node::child(root.page(), 0).page;
        root.validate()?;
        if !only {
            return Ok(false);
        }
        let Some(child) = self.volume.pool.resident(child) else {
            return Err(Stop::Miss(child, Some(root)));
        };
        let mut root = root.upgrade()?;
        let child = child.upgrade()?;
        let gone: PageId = child.id();
        let contents: PageBuf = node::moved(child.page(), root.id());
        let mut actions = Actions::new(self.id, self.page_bytes() + IMAGE_OVERHEAD);
        actions.image(contents.page());
        actions.free(gone);
        root.mark_dirty(self.volume.log.tail());
        let _abort = AbortOnUnwind;
        let lsn = self.volume.log_structure(space, &actions, &[gone]);
        let mut page = root.page_mut();
        page.copy_from(contents.page());
        page.set_structure_lsn(lsn);
        self.freed(child, gone, lsn);
        Ok(false)
    }

    /// The maps' part of a structure record that is in the log, and the end of the page in memory.
    fn freed(&self, guard: ExclusiveGuard<'_>, page: PageId, lsn: crate::Lsn) {
        // Before the latch goes: see `Tree::has_kept`.
        self.pages_freed.fetch_add(1, Ordering::Relaxed);
        guard.discard();
        self.volume
            .space
            .set_free(self.id, page, lsn)
            .expect("a page that was in use lies within the file");
        self.space.freed(page, lsn);
    }
}
