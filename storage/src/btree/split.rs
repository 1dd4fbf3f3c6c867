//! Splits: how a tree grows. A small system action, done before the change that needs it and kept whatever becomes of it.
//!
//! A full parent is split first, as an action of its own, so that one action touches one node, its parent and one new
//! page. The root page never moves: when the root is cut, its two halves go to two new pages and it becomes their parent.
//!
//! What a commit applies has been claimed, so a split for its sake cannot be refused: it is paid out of what the commit has
//! set aside ([`crate::reserve`]).
//!
//! The order that lets nobody wait under a latch: log space, pages, frames and room in the ring first; then the node and its parent are
//! latched, by upgrading what the descent has read; then the record is claimed and filled; then the pages change.

use super::Tree;
use super::descend::{Reached, Target};
use super::node::{self, Child};
use super::smo::{Actions, IMAGE_OVERHEAD};
use crate::buffer::guard::{ExclusiveGuard, Pin};
use crate::page::Page;
use crate::reserve::{Reservation, split_bytes};
use crate::space::Grant;
use crate::sync::atomic::Ordering;
use crate::sync::relax;
use crate::volume::AbortOnUnwind;
use crate::wal::{SpaceClass, SpaceReservation};
use crate::{PageId, Result};

/// How one attempt ended.
enum Attempt {
    /// There is room now.
    Done,
    /// Something changed; again.
    Again,
    /// The parent has not so many bytes free, which another child needs.
    FullParent(usize),
}

impl Tree {
    /// Splits the leaf of `key` until `enough` is content with it, out of `payer`'s reservation if there is one. The caller
    /// holds no latch and no pin.
    ///
    /// # Errors
    /// I/O, corruption; [`crate::Error::Full`] for log or data file.
    pub(super) fn split_leaf(
        &self,
        key: &[u8],
        payer: Option<&mut Reservation<'_>>,
        enough: &dyn Fn(Page<'_>) -> bool,
    ) -> Result<()> {
        let _permit = self.volume.smo_permit()?;
        self.split(key, 0, payer, &Cut { at: None, enough })
    }

    /// Splits the leaf of `key` at `separator`, if it can be cut there.
    ///
    /// # Errors
    /// As [`Tree::split_leaf`].
    pub(super) fn split_leaf_at(&self, key: &[u8], separator: &[u8]) -> Result<()> {
        let _permit = self.volume.smo_permit()?;
        let enough = |page: Page<'_>| !node::can_be_cut(page, separator);
        self.split(key, 0, None, &Cut { at: Some(separator), enough: &enough })
    }

    fn split(
        &self,
        key: &[u8],
        level: u8,
        mut payer: Option<&mut Reservation<'_>>,
        cut: &Cut<'_>,
    ) -> Result<()> {
        let mut held = None;
        let mut spins = 0;
        loop {
            // Whether there is anything to do is asked before pages are taken for it: most nodes are cut once.
            let looked = self.node_at(Target::At(key), level).and_then(|at| {
                let Some(at) = at else { return Ok(None) };
                let done = cut.is_done(at.node.upgrade()?.page());
                Ok((!done).then_some(at.parent.is_none()))
            });
            let is_root = match looked {
                Ok(None) => return Ok(()),
                Ok(Some(is_root)) => is_root,
                Err(stop) => {
                    self.recover(stop, &mut held, &mut spins)?;
                    continue;
                }
            };
            held = None;
            let count = if is_root { 2 } else { 1 };
            let mut new = NewPages::take(self, count, payer.as_deref_mut())?;
            self.volume.log.settle(new.space.bytes());
            let attempt = loop {
                match self.node_at(Target::At(key), level) {
                    Ok(None) => break Attempt::Done,
                    Ok(Some(at)) => break self.try_split(key, level, at, &mut new, cut),
                    Err(stop) => self.recover(stop, &mut held, &mut spins)?,
                }
            };
            new.give_back(payer.as_deref_mut());
            match attempt {
                Attempt::Done => return Ok(()),
                Attempt::Again => relax(&mut spins),
                Attempt::FullParent(wanted) => {
                    held = None;
                    let enough = |page: Page<'_>| node::room(page) >= wanted;
                    let cut = Cut { at: None, enough: &enough };
                    self.split(key, level + 1, payer.as_deref_mut(), &cut)?;
                }
            }
        }
    }

    fn try_split<'v>(
        &self,
        key: &[u8],
        level: u8,
        at: Reached<'v>,
        new: &mut NewPages<'v>,
        cut: &Cut<'_>,
    ) -> Attempt {
        let needed = if at.parent.is_none() { 2 } else { 1 };
        if new.pins.len() != needed {
            return Attempt::Again;
        }
        let parent = match at.parent.map(|parent| parent.upgrade()) {
            None => None,
            Some(Ok(parent)) => Some(parent),
            Some(Err(_)) => return Attempt::Again,
        };
        let Ok(node) = at.node.upgrade() else { return Attempt::Again };
        if cut.is_done(node.page()) {
            return Attempt::Done;
        }
        let separator = match cut.at {
            Some(separator) => separator.to_vec(),
            None => node::cut_key(node.page(), key, cut.enough),
        };
        match parent {
            None => self.split_root(&separator, node, new),
            Some(parent) => {
                let wanted = node::child_bytes(separator.len());
                if node::room(parent.page()) < wanted {
                    return Attempt::FullParent(wanted);
                }
                self.split_below(&separator, parent, node, new);
            }
        }
        if level == 0 {
            self.count_split();
        }
        // The half that the key now belongs to may still be too full.
        Attempt::Again
    }

    /// Nothing is left of what was set aside for a split, if anything was.
    fn not_paid(&self, was_set_aside: bool) {
        self.volume.unpaid.fetch_add(u64::from(was_set_aside), Ordering::Relaxed);
    }

    /// A leaf has been split. Whoever goes by how large trees are looks again when one may be twice as large: of a tree that
    /// had many leaves when it was opened that is said too often, and never too seldom.
    fn count_split(&self) {
        // Relaxed: both are signs to look, and say nothing of other memory.
        let split = self.leaves_split.fetch_add(1, Ordering::Relaxed) + 1;
        if split.is_power_of_two() {
            self.volume.growth.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn split_below<'v>(
        &self,
        cut: &[u8],
        mut parent: ExclusiveGuard<'v>,
        mut node: ExclusiveGuard<'v>,
        new: &mut NewPages<'v>,
    ) {
        let right_id = new.ids[0];
        let mut right = new.pins[0].exclusive();
        let tail = self.volume.log.tail();
        for guard in [&parent, &node, &right] {
            guard.mark_dirty(tail);
        }
        // Nobody can reach it before its parent has it, so it is made in its place.
        node::keep_above(&mut right.page_mut(), node.page(), cut, right_id);
        let mut actions = Actions::new(self.id, 2 * (self.page_bytes() + IMAGE_OVERHEAD));
        actions.allocate(right_id, false);
        actions.image(right.page());
        let inner = node.page().level() > 0;
        let is_short = inner || cut.len() <= node::fence_room(self.page_bytes());
        let left = (!is_short).then(|| node::kept_below(node.page(), cut));
        match &left {
            None => actions.keep_below(node.id(), cut),
            Some(left) => actions.image(left.page()),
        }
        actions.put_child(parent.id(), cut, right_id);
        let _abort = AbortOnUnwind;
        let lsn = self.volume.log_structure(&mut new.space, &actions, &[right_id]);
        right.page_mut().set_structure_lsn(lsn);
        let mut page = node.page_mut();
        match &left {
            None => node::keep_below(&mut page, cut),
            Some(left) => page.copy_from(left.page()),
        }
        page.set_structure_lsn(lsn);
        let child = Child { page: right_id, frame: right.frame() };
        let mut page = parent.page_mut();
        node::put_child(&mut page, cut, child);
        page.set_structure_lsn(lsn);
        self.allocated(&[right_id], lsn);
        new.used = true;
    }

    fn split_root<'v>(&self, cut: &[u8], mut root: ExclusiveGuard<'v>, new: &mut NewPages<'v>) {
        let (left_id, right_id) = (new.ids[0], new.ids[1]);
        let left = node::moved(node::kept_below(root.page(), cut).page(), left_id);
        let right = node::kept_above(root.page(), cut, right_id);
        let grown = node::grown_root(root.page(), left_id, cut, right_id);
        let mut left_guard = new.pins[0].exclusive();
        let mut right_guard = new.pins[1].exclusive();
        let mut actions = Actions::new(self.id, 3 * (self.page_bytes() + IMAGE_OVERHEAD));
        for id in [left_id, right_id] {
            actions.allocate(id, false);
        }
        for image in [&left, &right, &grown] {
            actions.image(image.page());
        }
        let tail = self.volume.log.tail();
        for guard in [&root, &left_guard, &right_guard] {
            guard.mark_dirty(tail);
        }
        let _abort = AbortOnUnwind;
        let lsn = self.volume.log_structure(&mut new.space, &actions, &[left_id, right_id]);
        for (guard, contents) in
            [(&mut left_guard, &left), (&mut right_guard, &right), (&mut root, &grown)]
        {
            let mut page = guard.page_mut();
            page.copy_from(contents.page());
            page.set_structure_lsn(lsn);
        }
        self.allocated(&[left_id, right_id], lsn);
        new.used = true;
    }

    /// The maps' part of a structure record that is in the log.
    fn allocated(&self, pages: &[PageId], lsn: crate::Lsn) {
        for page in pages {
            self.volume
                .space
                .set_allocated(self.id, *page, false, lsn)
                .expect("a page that was taken lies within the file");
        }
    }
}

/// Where a node is to be cut, and until when.
struct Cut<'c> {
    /// The separator; none is the best one for the key.
    at: Option<&'c [u8]>,
    /// Whether the node need not be cut.
    enough: &'c dyn Fn(Page<'_>) -> bool,
}

impl Cut<'_> {
    /// Whether the node need not be cut, or cannot be.
    fn is_done(&self, node: Page<'_>) -> bool {
        let empty = node.level() == 0 && node.slots() == 0;
        (self.enough)(node) || (self.at.is_none() && empty)
    }
}

/// What a split needs before it may latch anything: log space, page ids and frames. Given back if it was not used.
struct NewPages<'v> {
    tree: &'v Tree,
    space: SpaceReservation<'v>,
    ids: Vec<PageId>,
    pins: Vec<Pin<'v>>,
    used: bool,
}

impl<'v> NewPages<'v> {
    fn take(
        tree: &'v Tree,
        count: usize,
        mut payer: Option<&mut Reservation<'_>>,
    ) -> Result<NewPages<'v>> {
        let volume = &tree.volume;
        let bytes = split_bytes(volume.pool.page_bytes());
        let space = match payer.as_deref_mut().and_then(|payer| payer.split_space(tree, bytes)) {
            Some(space) => volume.log.adopt(space),
            None => {
                tree.not_paid(payer.is_some());
                volume.log.reserve(SpaceClass::System, 1, bytes)?
            }
        };
        let mut new = NewPages { tree, space, ids: Vec::new(), pins: Vec::new(), used: false };
        for _ in 0..count {
            let reserved = payer.as_deref_mut().and_then(|payer| payer.take_page(tree));
            let page = match reserved {
                Some(page) => page,
                None => {
                    tree.not_paid(payer.is_some());
                    let grant = if payer.is_some() { Grant::Last } else { Grant::Common };
                    volume.space.take(&tree.space, volume.slot(), &volume.pool, grant)?
                }
            };
            new.ids.push(page);
        }
        for id in &new.ids {
            new.pins.push(volume.pool.create(*id)?);
        }
        Ok(new)
    }

    /// What was not used is the payer's again.
    fn give_back(mut self, payer: Option<&mut Reservation<'_>>) {
        if let (Some(payer), false) = (payer, self.used) {
            for pin in self.pins.drain(..) {
                pin.exclusive().discard();
            }
            payer.take_back(self.tree, self.ids.drain(..), self.space.rest());
        }
    }
}

impl Drop for NewPages<'_> {
    fn drop(&mut self) {
        if !self.used {
            for pin in self.pins.drain(..) {
                pin.exclusive().discard();
            }
            for id in self.ids.drain(..) {
                self.tree.space.give_back(id);
            }
        }
    }
}
