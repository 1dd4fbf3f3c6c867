//! Compaction: leaves that deletes have thinned are filled from their right neighbours, until there are fewer of them.
//!
//! A merge is for a node that has become small by itself. Rows that go here and there leave every leaf half full
//! instead, and where keys only grow nobody comes to fill them. A walk from the left looks at a few neighbours under one
//! parent at a time; what they hold moves to the left, one *pull* after the other, only if they can do with one page less:
//! so what is written is bounded by what is won, and a tree that is dense is only read. As merges, pulls are tried and
//! not owed. A walk is done beside readers and writers, who meet each pull as they would meet a split.
//!
//! A pull changes two leaves and the separator between them in one record: both leaves are logged as images (the left
//! gains records), the parent's change as an action.

use super::Tree;
use super::descend::{Reached, Stop, Target};
use super::node;
use super::smo::{Actions, IMAGE_OVERHEAD};
use crate::Result;
use crate::buffer::guard::ExclusiveGuard;
use crate::volume::AbortOnUnwind;
use crate::wal::{SpaceClass, SpaceReservation};

/// How often an attempt starts again before it is left.
const ATTEMPTS: u32 = 1_000;

/// How dense [`Tree::compact`] makes a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// How full a leaf becomes at most, in percent of a page.
    pub fill_percent: u8,
    /// How many neighbours are looked at together: they are compacted if they can do with one page less, that is, if
    /// they are filled to `(group - 1) / group` of that on average.
    pub group: usize,
}

/// How full a leaf is.
#[derive(Clone, Copy, Debug)]
struct Filling {
    /// Its entries and fences, in bytes.
    used: usize,
    records: usize,
}

/// What the walk sees from a leaf.
#[derive(Debug)]
struct View {
    filling: Filling,
    /// Where the next leaf begins; none behind the last.
    high: Option<Vec<u8>>,
    /// Where the leaves behind it begin that have the same parent, as many as are asked for.
    next: Vec<Vec<u8>>,
}

/// What became of a pull.
enum Pull {
    /// The leaf took all that its neighbour had, whose page is free now.
    Joined,
    /// The leaf took what it can; the neighbour begins here now.
    Moved(Vec<u8>),
    /// The leaf took nothing.
    Nothing,
}

impl Tree {
    /// Compacts the tree from its first leaf to its last, until `go_on` says no, and gives extents of which it uses
    /// nothing to others. Returns how many pages were freed.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn compact(&self, packing: Packing, go_on: &mut dyn FnMut() -> bool) -> Result<u64> {
        let full = self.page_bytes() * usize::from(packing.fill_percent.clamp(10, 100)) / 100;
        let (mut low, mut freed, mut pulls) = (Vec::new(), 0, 0);
        while go_on() {
            let Some(_inside) = self.enter() else { return Ok(freed) };
            let view = self.view(&low, packing.group)?;
            if pulls == 0 {
                pulls = self.pulls_worth_it(&view, full)?;
            }
            if pulls > 0 {
                match self.pull(&low, full)? {
                    Pull::Joined => {
                        (freed, pulls) = (freed + 1, 0);
                        self.merge_from(&low, 1)?;
                        continue;
                    }
                    Pull::Moved(separator) => {
                        (low, pulls) = (separator, pulls - 1);
                        continue;
                    }
                    Pull::Nothing => pulls = 0,
                }
            }
            match view.high {
                Some(high) => low = high,
                None => break,
            }
        }
        let Some(_inside) = self.enter() else { return Ok(freed) };
        // Pages can be given away when what freed them is durable.
        if let Some(last) = self.space.last_freed() {
            self.volume.log.wait_durable(last)?;
        }
        self.volume.space.give_back_extents(&self.space, &self.volume.pool);
        Ok(freed)
    }

    /// With how many pulls from here on a page becomes free: those of the smallest group of neighbours that can do with
    /// one less. None if there is no such group.
    fn pulls_worth_it(&self, view: &View, full: usize) -> Result<usize> {
        let capacity =
            full.saturating_sub(crate::page::HEADER_BYTES + node::fence_room(self.page_bytes()));
        let mut group = view.filling;
        // A leaf that is fuller than the average of the largest group leaves the others to those behind it.
        if group.used * (view.next.len() + 1) > capacity * view.next.len() {
            return Ok(0);
        }
        for (pulls, key) in (1..).zip(&view.next) {
            let filling = self.view(key, 0)?.filling;
            group.used += filling.used;
            group.records += filling.records;
            // A leaf cannot be filled to the last byte: most of a record may be missing.
            let record = group.used.checked_div(group.records).unwrap_or(0);
            if group.used + pulls * record <= pulls * capacity {
                return Ok(pulls);
            }
        }
        Ok(0)
    }

    /// What there is to see from the leaf of `key`, with as many as `group` leaves, itself included.
    fn view(&self, key: &[u8], group: usize) -> Result<View> {
        let (mut held, mut spins) = (None, 0);
        loop {
            match self.try_view(key, group) {
                Ok(view) => return Ok(view),
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
    }

    fn try_view(&self, key: &[u8], group: usize) -> std::result::Result<View, Stop<'_>> {
        let Reached { parent, slot, node } = self.leaf_at(key)?;
        let page = node.page();
        let filling = Filling { used: node::used(page), records: page.slots() };
        let mut high = Vec::new();
        page.append_high(&mut high);
        let high = (!page.high_is_infinite()).then_some(high);
        node.validate()?;
        let mut next = Vec::new();
        if let Some(parent) = parent {
            for slot in slot + 1..parent.page().slots().min(slot + group) {
                let mut low = Vec::new();
                parent.page().append_key(slot, &mut low);
                next.push(low);
            }
            parent.validate()?;
        }
        Ok(View { filling, high, next })
    }

    fn leaf_at(&self, key: &[u8]) -> std::result::Result<Reached<'_>, Stop<'_>> {
        Ok(self.node_at(Target::At(key), 0)?.expect("every tree has leaves"))
    }

    /// Lets the leaf of `key` take from its right neighbour until it is `full`, in bytes.
    fn pull(&self, key: &[u8], full: usize) -> Result<Pull> {
        let _permit = self.volume.smo_permit()?;
        let bytes = 2 * (self.page_bytes() + IMAGE_OVERHEAD)
            + 2 * node::key_bytes_max(self.page_bytes())
            + 64;
        let Ok(mut space) = self.volume.log.reserve(SpaceClass::System, 1, bytes as u64) else {
            return Ok(Pull::Nothing);
        };
        self.volume.log.settle(space.bytes());
        let (mut held, mut spins) = (None, 0);
        for _ in 0..ATTEMPTS {
            match self.try_pull(key, full, &mut space) {
                Ok(pull) => return Ok(pull),
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
        Ok(Pull::Nothing)
    }

    fn try_pull<'v>(
        &'v self,
        key: &[u8],
        full: usize,
        space: &mut SpaceReservation<'_>,
    ) -> std::result::Result<Pull, Stop<'v>> {
        let at = self.leaf_at(key)?;
        let Some(parent) = at.parent else { return Ok(Pull::Nothing) };
        let slot = at.slot + 1;
        let neighbour = (slot < parent.page().slots()).then(|| node::child(parent.page(), slot));
        parent.validate()?;
        let Some(neighbour) = neighbour else { return Ok(Pull::Nothing) };
        let Some(right) = self.volume.pool.resident(neighbour.page) else {
            return Err(Stop::Miss(neighbour.page, Some(parent)));
        };
        let parent = parent.upgrade()?;
        let left = at.node.upgrade()?;
        let right = right.upgrade()?;
        // Somebody may count on the room that they have.
        if self.escrow.has_batch() {
            return Ok(Pull::Nothing);
        }
        if let Some(joined) = node::joined(left.page(), right.page(), full) {
            self.join(parent, left, right, &joined, space);
            return Ok(Pull::Joined);
        }
        Ok(self.shift(parent, slot, left, right, full, space))
    }

    /// Moves the first records of the child at `slot` to the one before it.
    fn shift<'v>(
        &self,
        mut parent: ExclusiveGuard<'v>,
        slot: usize,
        mut left: ExclusiveGuard<'v>,
        mut right: ExclusiveGuard<'v>,
        full: usize,
        space: &mut SpaceReservation<'_>,
    ) -> Pull {
        let Some(pulled) = node::pulled(left.page(), right.page(), full) else {
            return Pull::Nothing;
        };
        let mut old = Vec::new();
        right.page().append_low(&mut old);
        let room = node::room(parent.page()) + parent.page().entry_bytes(slot);
        let wanted = node::suffix(parent.page(), &pulled.separator).len();
        if node::child_bytes(wanted) > room {
            return Pull::Nothing;
        }
        let mut actions = Actions::new(self.id, 2 * (self.page_bytes() + IMAGE_OVERHEAD));
        actions.image(pulled.left.page());
        actions.image(pulled.right.page());
        actions.move_child(parent.id(), &old, &pulled.separator);
        let tail = self.volume.log.tail();
        for guard in [&parent, &left, &right] {
            guard.mark_dirty(tail);
        }
        let _abort = AbortOnUnwind;
        let lsn = self.volume.log_structure(space, &actions, &[]);
        for (guard, contents) in [(&mut left, &pulled.left), (&mut right, &pulled.right)] {
            let mut page = guard.page_mut();
            page.copy_from(contents.page());
            page.count_change();
            page.set_structure_lsn(lsn);
        }
        let mut page = parent.page_mut();
        let moved = node::move_child(&mut page, &old, &pulled.separator);
        assert!(moved, "the right node is its parent's child");
        page.set_structure_lsn(lsn);
        Pull::Moved(pulled.separator)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Packing;
    use crate::btree::tests::{Model, check, fresh, put, same, stamp, tiny};
    use crate::{DataComponent, Tree};

    #[test]
    fn extents_that_a_tree_has_emptied_are_anybodys() {
        let component = fresh(&tiny());
        let space = &component.forest().volume().space;
        let fill = |tree: &Tree| {
            for n in 0..3_000u64 {
                put(&component, tree, &n.to_be_bytes(), Some(&[3; 100]));
            }
        };
        let packing = Packing { fill_percent: 100, group: 5 };
        let one = component.create_tree().unwrap();
        fill(&one);
        let owned_pages = || component.forest().owned_pages(&[one.id()]);
        let (owned, pages) = (owned_pages(), space.pages());
        for n in 0..3_000u64 {
            let lsn = put(&component, &one, &n.to_be_bytes(), None);
            one.remove_tombstone(&n.to_be_bytes(), lsn).unwrap();
        }
        assert_eq!(owned_pages(), owned);
        let emptied = || {
            one.compact(packing, &mut || true).unwrap();
            owned_pages() == 8
        };
        // A page that is on its way to the disk is given away by a later walk.
        let patience = Instant::now() + Duration::from_secs(60);
        while !emptied() {
            assert!(Instant::now() < patience, "{:?} are left", owned_pages());
            std::thread::sleep(Duration::from_millis(1));
        }
        let other = component.create_tree().unwrap();
        fill(&other);
        assert_eq!(space.pages(), pages, "the other has them");
        one.compact(packing, &mut || true).unwrap();
        component.free_tree(one.id()).unwrap();
        drop(one);
        check(&component);
        fill(&component.create_tree().unwrap());
        check(&component);
    }

    fn pages_of(component: &DataComponent) -> usize {
        component.forest().volume().space.allocated().len()
    }

    #[test]
    fn what_deletes_leave_here_and_there_is_compacted() {
        for (kept_of, group, fill_percent) in [(2, 5, 100), (3, 5, 100), (2, 3, 90), (10, 5, 100)] {
            let component = fresh(&tiny());
            let tree = component.create_tree().unwrap();
            let mut model = Model::new();
            let fill = |model: &mut Model, range: std::ops::Range<u64>| {
                for n in range {
                    let value = vec![3; 60 + n as usize % 80];
                    let lsn = put(&component, &tree, &n.to_be_bytes(), Some(&value));
                    model.insert(n.to_be_bytes().to_vec(), (lsn, Some(value)));
                }
            };
            fill(&mut model, 0..6_000);
            let before = pages_of(&component);
            let thinned = |n: &u64| n.is_multiple_of(kept_of) != (kept_of == 3);
            let kept: Vec<u64> = (0..6_000).filter(thinned).collect();
            for n in (0..6_000).filter(|n| !thinned(n)) {
                let lsn = put(&component, &tree, &n.to_be_bytes(), None);
                tree.remove_tombstone(&n.to_be_bytes(), lsn).unwrap();
                model.remove(n.to_be_bytes().as_slice());
            }
            let packing = Packing { fill_percent, group };
            // Somebody may be in the way, and parents that are joined have other groups.
            let walk = || tree.compact(packing, &mut || true).unwrap();
            let freed: u64 =
                std::iter::repeat_with(walk).take(8).take_while(|freed| *freed > 0).sum();
            same(&tree, &model);
            check(&component);
            let after = pages_of(&component);
            assert!(freed > 0 && after < before);
            let least = before * kept.len() / 6_000;
            let most = least * 100 / usize::from(fill_percent) * 107 / 100 + 4;
            assert!(after <= most, "{before} pages, 1 of {kept_of} kept: {after}, not {least}");
            // What is dense stays as it is.
            let lsn = stamp(&component);
            assert_eq!(walk(), 0);
            assert!(stamp(&component).0 - lsn.0 < 1_000, "nothing was logged");
            component.log().wait_durable(stamp(&component)).unwrap();
            let file = component.forest().volume().space.pages();
            fill(&mut model, 6_000..12_000 - kept.len() as u64);
            if fill_percent == 100 {
                assert!(component.forest().volume().space.pages() <= file, "what is new has room");
            }
            same(&tree, &model);
            check(&component);
        }
    }

    #[test]
    fn a_compaction_can_be_cut_short() {
        let component = fresh(&tiny());
        let tree = component.create_tree().unwrap();
        for n in 0..2_000u64 {
            put(&component, &tree, &n.to_be_bytes(), Some(&[3; 100]));
        }
        for n in (0..2_000u64).filter(|n| n % 2 == 0) {
            let lsn = put(&component, &tree, &n.to_be_bytes(), None);
            tree.remove_tombstone(&n.to_be_bytes(), lsn).unwrap();
        }
        let mut steps = 0;
        let mut go_on = || {
            steps += 1;
            steps < 12
        };
        let packing = Packing { fill_percent: 100, group: 5 };
        let freed = tree.compact(packing, &mut go_on).unwrap();
        assert!((1..12).contains(&freed));
        check(&component);
        assert!(tree.compact(packing, &mut || true).unwrap() > freed);
        check(&component);
    }
}
