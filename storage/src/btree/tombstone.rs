//! Tombstones go: one by one, when nobody can need them, or all of a leaf, where recovery needs their room.
//!
//! Neither is logged. Redo replays the delete, and what it may revive is removed again.

use super::descend::Target;
use super::node::{self, Place};
use super::{ReadToken, Tree};
use crate::{Lsn, Result};

impl Tree {
    /// Removes the tombstone at `key` if it is still the one of `lsn`. Not logged: redo would replay the delete. The tree may
    /// be freed at any time; then its tombstones have gone with it.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn remove_tombstone(&self, key: &[u8], lsn: Lsn) -> Result<()> {
        let mut near = ReadToken::NOWHERE;
        self.remove_tombstone_near(key, lsn, &mut near)
    }

    /// As [`Tree::remove_tombstone`], of one of many, which is likely to be beside the one before: its leaf is `near`, is looked at
    /// first, and said there for the next one.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn remove_tombstone_near(&self, key: &[u8], lsn: Lsn, near: &mut ReadToken) -> Result<()> {
        let Some(_inside) = self.enter() else { return Ok(()) };
        let mut held = None;
        let mut spins = 0;
        let small = loop {
            let leaf = self.leaf_beside(near, key).and_then(|leaf| {
                let (page, slot) = (leaf.page(), near.slot as usize);
                let place = node::place_near(page, key, [slot, node::behind_last_insert(page)]);
                *near = self.token(&leaf, place.slot);
                Ok((leaf.upgrade()?, place))
            });
            match leaf {
                Ok((mut leaf, Place { slot, found })) => {
                    let page = leaf.page();
                    if !found || !page.value(slot).tombstone || Lsn(page.entry_word(slot)) != lsn {
                        return Ok(());
                    }
                    // Redo needs nothing of this; the page only has to be written some day.
                    leaf.mark_dirty(self.volume.log.tail());
                    let mut page = leaf.page_mut();
                    page.remove(slot);
                    page.count_change();
                    break self.is_small(leaf.page()) && leaf.id() != self.root;
                }
                Err(stop) => {
                    *near = ReadToken::NOWHERE;
                    self.recover(stop, &mut held, &mut spins)?;
                }
            }
        };
        drop(held);
        if small { self.merge_leaf(key) } else { Ok(()) }
    }

    /// Removes all tombstones of the leaf of `key`, for the sake of their room; whether there were any. Only for recovery,
    /// whose log is durable and beside which there is no snapshot: what it may revive it deletes again.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn remove_tombstones_beside(&self, key: &[u8]) -> Result<bool> {
        let (mut held, mut spins) = (None, 0);
        loop {
            match self.leaf(Target::At(key)).and_then(|leaf| Ok(leaf.upgrade()?)) {
                Ok(mut leaf) => {
                    let slots = leaf.page().slots();
                    let gone: Vec<usize> =
                        (0..slots).filter(|slot| leaf.page().value(*slot).tombstone).collect();
                    if gone.is_empty() {
                        return Ok(false);
                    }
                    leaf.mark_dirty(self.volume.log.tail());
                    let mut page = leaf.page_mut();
                    for slot in gone.into_iter().rev() {
                        page.remove(slot);
                    }
                    page.count_change();
                    return Ok(true);
                }
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
    }
}
