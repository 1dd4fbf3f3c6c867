//! What replay puts off, because there is no room to do it as it came.
//!
//! Pass one has left every tree with the leaves that it had at the crash. Replayed in the order of their LSNs, commits bring
//! back rows that later ones delete again, whose leaves the server had merged since and given to others: so a leaf may want to
//! be split that never was split then, and on a full disk there is no page for that. What the server had set aside is meant
//! for commits that it had claimed and not applied, and is not touched as long as the log is replayed as it came.
//!
//! A write that finds no room has the range of its leaf *deferred*: that one and all later writes of the range are passed
//! over. Afterwards the log is read again, and what the range's writes come to in the end is worked out in memory, a record
//! at a time, from what stands on the page. Only that is applied, what makes room first. At the crash it was on the leaves
//! that there are, or its commit had a reservation, which nobody has used: so it fits, and nothing is kept from it.
//!
//! Memory is bounded: what does not fit is cut off at a key in the middle, and the log is read once more for it.

use super::Trees;
use crate::manager::Manager;
use crate::{Lsn, Result, TreeId};
use std::collections::BTreeMap;
use std::ops::Bound;
use storage::{Change, Error, RecordBuffer, Room, Tree};

/// What a record costs in memory beside its key and value, in bytes.
const OVERHEAD: usize = 128;

/// The ranges of leaves, by their trees and first keys: up to where they end.
#[derive(Debug, Default)]
pub(super) struct Deferred {
    ranges: BTreeMap<TreeId, BTreeMap<Vec<u8>, Option<Vec<u8>>>>,
}

impl Deferred {
    /// Whether nothing has been put off.
    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether a write of `key` has to wait.
    #[inline]
    pub(super) fn covers(&self, tree: TreeId, key: &[u8]) -> bool {
        if self.ranges.is_empty() {
            return false;
        }
        let Some(ranges) = self.ranges.get(&tree) else { return false };
        let upto = (Bound::Unbounded, Bound::Included(key));
        let range = ranges.range::<[u8], _>(upto).next_back();
        range.is_some_and(|(_, high)| high.as_deref().is_none_or(|high| key < high))
    }

    /// Puts off what concerns the leaf of `key` from now on.
    pub(super) fn add(&mut self, tree: &Tree, key: &[u8]) -> storage::Result<()> {
        let (low, high) = tree.leaf_range(key)?;
        self.ranges.entry(tree.id()).or_default().insert(low, high);
        Ok(())
    }
}

/// What a record comes to.
#[derive(Debug)]
struct Outcome {
    lsn: Lsn,
    since: Lsn,
    /// None if it has been deleted.
    value: Option<Vec<u8>>,
    /// Whether the page has one, which is older.
    on_page: bool,
}

impl Outcome {
    fn bytes(&self, key: &[u8]) -> usize {
        OVERHEAD + key.len() + self.value.as_ref().map_or(0, Vec::len)
    }
}

/// What a part of the deferred writes comes to.
#[derive(Debug)]
pub(super) struct Outcomes {
    records: BTreeMap<(TreeId, Vec<u8>), Outcome>,
    bytes: usize,
    bytes_max: usize,
    from: Bound<(TreeId, Vec<u8>)>,
    /// What is at or behind this is another part's.
    until: Option<(TreeId, Vec<u8>)>,
    page: RecordBuffer,
}

impl Outcomes {
    /// The first part, with about so many bytes of memory.
    pub(super) fn new(bytes_max: usize) -> Outcomes {
        let (records, page) = Default::default();
        Outcomes { records, bytes: 0, bytes_max, from: Bound::Unbounded, until: None, page }
    }

    /// Takes in a write of a deferred range; they come in the order of their LSNs.
    pub(super) fn note(
        &mut self,
        tree: &Tree,
        key: &[u8],
        (lsn, since): (Lsn, Lsn),
        change: Change<'_>,
    ) -> storage::Result<()> {
        let place = (tree.id(), key.to_vec());
        let before = match &self.from {
            Bound::Included(from) => place < *from,
            Bound::Excluded(_) | Bound::Unbounded => false,
        };
        if before || self.until.as_ref().is_some_and(|until| place >= *until) {
            return Ok(());
        }
        let known = self.records.get(&place);
        let (old, on_page) = match known {
            Some(outcome) => (Some((outcome.lsn, outcome.value.as_deref())), outcome.on_page),
            None => {
                let found = tree.get(key, &mut self.page)?;
                (found.then(|| (self.page.lsn(), self.page.value())), found)
            }
        };
        let Some(value) = changed(old, lsn, change)? else { return Ok(()) };
        if let Some(outcome) = self.records.remove(&place) {
            self.bytes -= outcome.bytes(key);
        }
        // What is not there and was not there is no outcome.
        if value.is_none() && !on_page {
            return Ok(());
        }
        let outcome = Outcome { lsn, since, value, on_page };
        self.bytes += outcome.bytes(key);
        self.records.insert(place, outcome);
        while self.bytes > self.bytes_max && self.records.len() > 1 {
            self.cut();
        }
        Ok(())
    }

    /// Leaves the upper half to another part.
    fn cut(&mut self) {
        let middle = self.records.keys().nth(self.records.len() / 2);
        let middle = middle.expect("there are two at least").clone();
        let gone = self.records.split_off(&middle);
        self.bytes -= gone.iter().map(|((_, key), outcome)| outcome.bytes(key)).sum::<usize>();
        self.until = Some(middle);
    }

    /// Makes the trees what the log says, and begins the next part; false if there is none.
    pub(super) fn apply(&mut self, manager: &Manager, trees: &mut Trees) -> Result<bool> {
        let records = std::mem::take(&mut self.records);
        self.bytes = 0;
        // First what goes, then what becomes shorter or stays as it is, then what grows.
        for step in 0..3 {
            for ((tree, key), outcome) in &records {
                let Some(tree) = super::handle(manager, trees, *tree)? else { continue };
                let at = (outcome.lsn, outcome.since);
                match &outcome.value {
                    None if step == 0 => {
                        put(&tree, key, at, Change::Delete)?;
                        tree.remove_tombstones_beside(key)?;
                    }
                    Some(value) if step > 0 => {
                        let there = outcome.on_page && tree.get(key, &mut self.page)?;
                        let old = self.page.value().filter(|_| there).map_or(0, <[u8]>::len);
                        if (step == 2) == (value.len() > old) {
                            put(&tree, key, at, Change::Put(value))?;
                        }
                    }
                    None | Some(_) => {}
                }
            }
        }
        match self.until.take() {
            Some(until) => self.from = Bound::Included(until),
            None => return Ok(false),
        }
        Ok(true)
    }
}

fn put(
    tree: &Tree,
    key: &[u8],
    (lsn, since): (Lsn, Lsn),
    change: Change<'_>,
) -> storage::Result<()> {
    match tree.apply_since((lsn, since), (key, None), change, Room::Free, &mut |_| ()) {
        Err(Error::Full(_)) if tree.remove_tombstones_beside(key)? => {
            tree.apply_since((lsn, since), (key, None), change, Room::Free, &mut |_| ())?;
        }
        applied => drop(applied?),
    }
    Ok(())
}

/// What `change` at `lsn` makes of a record; none where it is not for this one, as [`Tree::apply`] says.
#[expect(clippy::option_option, reason = "nothing is done, or it is gone, or there is a value")]
fn changed(
    old: Option<(Lsn, Option<&[u8]>)>,
    lsn: Lsn,
    change: Change<'_>,
) -> storage::Result<Option<Option<Vec<u8>>>> {
    if old.is_some_and(|(old, _)| old >= lsn) {
        return Ok(None);
    }
    match change {
        Change::Put(value) => Ok(Some(Some(value.to_vec()))),
        Change::Delete => Ok(Some(None)),
        Change::Patch { base, from, bytes } => {
            let Some((at, Some(value))) = old else { return Ok(None) };
            if at != base && at != Lsn::ZERO {
                return Err(Error::CorruptLog(format!("a patch of {base} meets {at}")));
            }
            let mut value = value.to_vec();
            let place = value.get_mut(from as usize..).and_then(|rest| rest.get_mut(..bytes.len()));
            let place =
                place.ok_or_else(|| Error::CorruptLog(format!("a patch of {base} is too long")))?;
            place.copy_from_slice(bytes);
            Ok(Some(Some(value)))
        }
    }
}
