//! The read set: what a serializable transaction has read, so that its commit can ask whether all of it still stands.
//!
//! Papers: Kung and Robinson, *On Optimistic Methods for Concurrency Control*, 1981 (backward validation); Larson et al.,
//! *High-Performance Concurrency Control Mechanisms for Main-Memory Databases*, VLDB 2012, section 3 (reads and scans
//! are validated at the commit's timestamp). Difference: what is kept of a page read is its token, so that validation
//! looks at a page once and at its records only where the page has changed.
//!
//! A *point* is a key that was looked for, found or not. A *range* is what a scan has shown so far, from its beginning to
//! the last key it handed out, leaf by leaf; what a cursor has read ahead and nobody has seen does not count.
//!
//! A read of the *latest* state is of something that the transaction has locked, so it stands until the commit, unless a
//! rollback to a savepoint lets go of the lock: then it joins what is validated ([`ReadSet::unlocked`]).

use crate::commit::late::LateList;
use crate::writeset::WriteSet;
use crate::{CommandId, Lsn, Result, TableId, TreeId};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::sync::Arc;
use storage::{DataComponent, Direction, Newer, ReadToken, Tree};

/// Bytes of a key's copy and what stands around it, roughly.
const ENTRY_BYTES: usize = 96;

/// Both ends of a range.
pub(crate) type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// A range in the read set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RangeId(u64);

impl RangeId {
    pub(crate) fn numbered(number: u64) -> RangeId {
        RangeId(number)
    }
}

/// What one scan has shown.
#[derive(Debug)]
struct Range {
    tree: TreeId,
    direction: Direction,
    /// Where the scan began.
    first: Bound<Vec<u8>>,
    /// How far it has come; none if it has shown nothing.
    reached: Option<Bound<Vec<u8>>>,
    /// The leaves it has read: from which key on (of the first, from the beginning), and under which token.
    leaves: Vec<(Vec<u8>, ReadToken)>,
}

/// What becomes of a reading transaction's commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All it has read still stands.
    Holds,
    /// Some of it has been changed by the commit at this LSN.
    Broken(Lsn),
    /// It cannot be said without a wait.
    Unsure,
}

/// Whether what was read by `snapshot` stands at `own`: another's commit at `commit` counts if it is in between.
#[inline]
pub fn counts(snapshot: Lsn, commit: Lsn, own: Lsn) -> bool {
    commit > snapshot && commit < own
}

/// The verdict of the places that a commit passes through, in that order: those who have claimed (`slots`), those who are late, the
/// `pages`. Whoever claimed before is in one of them, or has gone on to the next by the time that this is asked.
pub fn judge(
    slots: impl FnOnce() -> Verdict,
    late: impl FnOnce() -> Verdict,
    pages: impl FnOnce() -> Verdict,
) -> Verdict {
    match slots() {
        Verdict::Holds => {}
        other => return other,
    }
    match late() {
        Verdict::Holds => pages(),
        other => other,
    }
}

/// What a transaction has read.
#[derive(Debug, Default)]
pub(crate) struct ReadSet {
    points: BTreeMap<TreeId, BTreeMap<Box<[u8]>, ReadToken>>,
    ranges: BTreeMap<RangeId, Range>,
    next_range: u64,
    /// Ranges that were read to their end, forward: they need not be kept twice.
    complete: BTreeSet<(TreeId, Bounded, Bounded)>,
    /// Scans of the latest state, by the command that made them.
    latest: Vec<(CommandId, Span)>,
    /// Reads of the latest state whose locks have gone.
    unlocked: Vec<Span>,
    /// The newest commit above the snapshot that was met while reading.
    stale: Option<Lsn>,
    /// How much is kept, in bytes, about.
    bytes: usize,
    /// The tables that trees belong to, by the layer above.
    tables: BTreeMap<TreeId, TableId>,
    /// Trees of tables that are locked against writers: what is read of them stands.
    frozen: BTreeSet<TreeId>,
    /// Handles for validation, which must not look for them.
    trees: BTreeMap<TreeId, Arc<Tree>>,
}

/// A bound that can be ordered: whether it is there and excludes, then its key.
type Bounded = (u8, Vec<u8>);

#[derive(Clone, Debug)]
struct Span {
    tree: TreeId,
    low: Bound<Vec<u8>>,
    high: Bound<Vec<u8>>,
}

fn owned(bound: Bound<&[u8]>) -> Bound<Vec<u8>> {
    bound.map(<[u8]>::to_vec)
}

fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

fn bounded(bound: Bound<&[u8]>) -> Bounded {
    match bound {
        Bound::Unbounded => (0, Vec::new()),
        Bound::Included(key) => (1, key.to_vec()),
        Bound::Excluded(key) => (2, key.to_vec()),
    }
}

/// The key of a bound.
fn key_of<'b>(bound: &Bound<&'b [u8]>) -> Option<&'b [u8]> {
    match *bound {
        Bound::Included(key) | Bound::Excluded(key) => Some(key),
        Bound::Unbounded => None,
    }
}

impl Range {
    /// From its lower to its upper end, as far as it has come.
    fn bounds(&self) -> Option<Bounds<'_>> {
        let (first, reached) = (borrowed(&self.first), borrowed(self.reached.as_ref()?));
        Some(match self.direction {
            Direction::Forward => (first, reached),
            Direction::Backward => (reached, first),
        })
    }

    /// What was read of each leaf, and under which token.
    fn spans(&self) -> impl Iterator<Item = (ReadToken, Bounds<'_>)> {
        let whole = self.bounds();
        self.leaves.iter().enumerate().filter_map(move |(at, (_, token))| {
            let (low, high) = whole?;
            let from = (at > 0).then(|| self.leaves[at].0.as_slice());
            let to = self.leaves.get(at + 1).map(|(key, _)| key.as_slice());
            // Both ends included: where leaves meet, a key is looked at twice.
            let (low_key, high_key) = match self.direction {
                Direction::Forward => (from, to),
                Direction::Backward => (to, from),
            };
            let beyond = |key: &[u8]| match self.direction {
                Direction::Forward => key_of(&high).is_some_and(|high| key > high),
                Direction::Backward => key_of(&low).is_some_and(|low| key < low),
            };
            if from.is_some_and(beyond) {
                return None; // Read ahead, and never shown.
            }
            let low = low_key.filter(|key| !beyond(key)).map_or(low, Bound::Included);
            let high = high_key.filter(|key| !beyond(key)).map_or(high, Bound::Included);
            Some((*token, (low, high)))
        })
    }
}

impl ReadSet {
    /// How much memory it takes, about.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Says which table a tree belongs to. False if that is known.
    pub(crate) fn belongs(&mut self, tree: TreeId, table: TableId) -> bool {
        self.tables.insert(tree, table) != Some(table)
    }

    /// The table of a tree, if the layer above has told.
    pub(crate) fn table_of(&self, tree: TreeId) -> Option<TableId> {
        self.tables.get(&tree).copied()
    }

    /// Every table that something has been read of.
    pub(crate) fn tables(&self) -> BTreeSet<TableId> {
        self.tables.values().copied().collect()
    }

    /// A key has been looked for, on a page that had it with `found`.
    pub(crate) fn point(
        &mut self,
        snapshot: Lsn,
        (tree, key): (TreeId, &[u8]),
        found: Option<Lsn>,
        token: ReadToken,
    ) {
        self.met(snapshot, found);
        if self.frozen.contains(&tree) {
            return;
        }
        let points = self.points.entry(tree).or_default();
        if !points.contains_key(key) {
            points.insert(key.into(), token);
            self.bytes += key.len() + ENTRY_BYTES;
        }
    }

    /// A page had a record of this commit.
    pub(crate) fn met(&mut self, snapshot: Lsn, found: Option<Lsn>) {
        if found.is_some_and(|lsn| lsn > snapshot) {
            self.stale = self.stale.max(found);
        }
    }

    /// A scan begins; none if what it will read stands anyway.
    pub(crate) fn begin_range(
        &mut self,
        tree: TreeId,
        (low, high): Bounds<'_>,
        direction: Direction,
        token: ReadToken,
    ) -> Option<RangeId> {
        if self.frozen.contains(&tree)
            || self.complete.contains(&(tree, bounded(low), bounded(high)))
        {
            return None;
        }
        let first = match direction {
            Direction::Forward => low,
            Direction::Backward => high,
        };
        self.bytes += key_of(&first).map_or(0, <[u8]>::len) + 2 * ENTRY_BYTES;
        let first = owned(first);
        let leaves = vec![(Vec::new(), token)];
        let id = RangeId(self.next_range);
        self.next_range += 1;
        self.ranges.insert(id, Range { tree, direction, first, reached: None, leaves });
        Some(id)
    }

    /// The scan reads on at `key`, in a leaf that it read under `token`.
    pub(crate) fn leaf(&mut self, id: RangeId, key: Vec<u8>, token: ReadToken) {
        if let Some(range) = self.ranges.get_mut(&id) {
            self.bytes += key.len() + ENTRY_BYTES;
            range.leaves.push((key, token));
        }
    }

    /// The scan has handed out `key`.
    pub(crate) fn reached(&mut self, id: RangeId, key: &[u8]) {
        let Some(range) = self.ranges.get_mut(&id) else { return };
        match &mut range.reached {
            Some(Bound::Included(reached)) => {
                reached.clear();
                reached.extend_from_slice(key);
            }
            reached => *reached = Some(Bound::Included(key.to_vec())),
        }
    }

    /// The scan has come to its end.
    pub(crate) fn ended(&mut self, id: RangeId, (low, high): Bounds<'_>) {
        let Some(range) = self.ranges.get_mut(&id) else { return };
        range.reached = Some(owned(match range.direction {
            Direction::Forward => high,
            Direction::Backward => low,
        }));
        self.complete.insert((range.tree, bounded(low), bounded(high)));
    }

    /// A scan of the latest state begins: of what is locked.
    pub(crate) fn latest(&mut self, command: CommandId, tree: TreeId, (low, high): Bounds<'_>) {
        self.bytes += 2 * ENTRY_BYTES;
        self.latest.push((command, Span { tree, low: owned(low), high: owned(high) }));
    }

    /// The locks taken by `from` and later commands go: what was read under them counts from now on.
    pub(crate) fn unlocked_since(&mut self, from: CommandId) {
        while let Some((_, span)) = self.latest.pop_if(|(command, _)| *command >= from) {
            self.unlocked.push(span);
        }
    }

    /// The lock of a key goes before the transaction's end.
    pub(crate) fn unlocked(&mut self, tree: TreeId, key: &[u8]) {
        if self.frozen.contains(&tree) {
            return;
        }
        self.bytes += key.len() + ENTRY_BYTES;
        let bound = Bound::Included(key.to_vec());
        self.unlocked.push(Span { tree, low: bound.clone(), high: bound });
    }

    /// Whether a transaction that wrote nothing has to be validated: it has seen more than its snapshot.
    pub(crate) fn saw_latest(&self) -> bool {
        !self.unlocked.is_empty()
    }

    /// Forgets what was read of the trees of a table that is now locked against writers, and was found to stand.
    pub(crate) fn freeze(&mut self, table: TableId) {
        let trees = self.tables.iter().filter(|(_, of)| **of == table).map(|(tree, _)| *tree);
        let trees: BTreeSet<TreeId> = trees.collect();
        self.points.retain(|tree, _| !trees.contains(tree));
        self.ranges.retain(|_, range| !trees.contains(&range.tree));
        self.unlocked.retain(|span| !trees.contains(&span.tree));
        self.complete.retain(|(tree, ..)| !trees.contains(tree));
        self.frozen.extend(trees);
        let points = self.points.values().flatten().map(|(key, _)| key.len() + ENTRY_BYTES);
        let leaves = self.ranges.values().flat_map(|range| &range.leaves);
        let leaves = leaves.map(|(key, _)| key.len() + 2 * ENTRY_BYTES);
        let spans = (self.latest.len() + self.unlocked.len()) * 2 * ENTRY_BYTES;
        self.bytes = points.chain(leaves).sum::<usize>() + spans;
    }

    /// Brings the handles that validation needs. The commit that dropped a tree which has been read changed what names it,
    /// which has been read too: such a tree is passed over.
    pub(crate) fn resolve(&mut self, data: &DataComponent) -> Result<()> {
        let ranges = self.ranges.values().map(|range| range.tree);
        let spans = self.unlocked.iter().map(|span| span.tree);
        let read: BTreeSet<TreeId> =
            self.points.keys().copied().chain(ranges).chain(spans).collect();
        for tree in read {
            if let std::collections::btree_map::Entry::Vacant(unknown) = self.trees.entry(tree) {
                match data.tree(tree) {
                    Ok(handle) => drop(unknown.insert(handle)),
                    Err(storage::Error::NoTree(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// Whether a write set changes anything that was read. Of what is in scratch space nothing can be read here, between a
    /// claim and its publication: there it says so already where it cannot be excluded.
    pub(crate) fn meets(&self, writes: &WriteSet) -> bool {
        self.meets_in_memory(writes) || writes.is_spilled() && self.may_meet_spilled(writes)
    }

    fn may_meet_spilled(&self, writes: &WriteSet) -> bool {
        let mut points = self.points.iter();
        points.any(|(tree, keys)| keys.keys().any(|key| writes.may_have_spilled(*tree, key)))
            || self.ranges.values().any(|range| {
                range.bounds().is_some_and(|bounds| writes.may_meet_spilled(range.tree, bounds))
            })
            || self.unlocked.iter().any(|span| {
                writes.may_meet_spilled(span.tree, (borrowed(&span.low), borrowed(&span.high)))
            })
    }

    fn meets_in_memory(&self, writes: &WriteSet) -> bool {
        let hit = |tree, (low, high): Bounds<'_>| {
            let first = writes.key_at(writes.first(tree, low));
            first.is_some_and(|(of, key)| {
                of == tree && std::ops::RangeBounds::<[u8]>::contains(&(low, high), key)
            })
        };
        let count: usize = self.points.values().map(BTreeMap::len).sum();
        let points = if count <= writes.keys() {
            self.points.iter().any(|(tree, keys)| {
                let mut keys = keys.keys();
                keys.any(|key| writes.get(*tree, key, CommandId(u32::MAX)).is_some())
            })
        } else {
            let read = |tree, key: &[u8]| {
                self.points.get(&tree).is_some_and(|keys| keys.contains_key(key))
            };
            writes.iter().any(|write| read(write.tree, write.key))
        };
        points
            || self
                .ranges
                .values()
                .any(|range| range.bounds().is_some_and(|bounds| hit(range.tree, bounds)))
            || self
                .unlocked
                .iter()
                .any(|span| hit(span.tree, (borrowed(&span.low), borrowed(&span.high))))
    }

    /// Whether a late commit between the snapshot and `lsn` changes anything that was read.
    pub(crate) fn meets_late(&self, late: &LateList, snapshot: Lsn, lsn: Lsn) -> Verdict {
        let mut between = late.iter().filter(|commit| counts(snapshot, commit.lsn, lsn));
        match between.find(|commit| self.meets(&commit.writes)) {
            Some(commit) => Verdict::Broken(commit.lsn),
            None => Verdict::Holds,
        }
    }

    /// Whether the pages have anything newer than the snapshot where something was read. With `wait` it is never unsure.
    ///
    /// # Errors
    /// I/O and corruption.
    pub(crate) fn check(&self, snapshot: Lsn, wait: bool) -> Result<Verdict> {
        if let Some(lsn) = self.stale {
            return Ok(Verdict::Broken(lsn));
        }
        let mut verdict = Verdict::Holds;
        // False: there is no need to look further.
        let mut see = |newer: Newer| match newer {
            Newer::No => true,
            Newer::Yes(lsn) => {
                verdict = Verdict::Broken(lsn);
                false
            }
            Newer::WouldWait => {
                verdict = Verdict::Unsure;
                false
            }
        };
        for (tree, keys) in &self.points {
            let Some(tree) = self.trees.get(tree) else { continue };
            for (key, token) in keys {
                let key = Bound::Included(&**key);
                if !see(tree.newer_since(*token, snapshot, (key, key), wait)?) {
                    return Ok(verdict);
                }
            }
        }
        for range in self.ranges.values() {
            let Some(tree) = self.trees.get(&range.tree) else { continue };
            for (token, bounds) in range.spans() {
                if !see(tree.newer_since(token, snapshot, bounds, wait)?) {
                    return Ok(verdict);
                }
            }
        }
        for span in &self.unlocked {
            let Some(tree) = self.trees.get(&span.tree) else { continue };
            let bounds = (borrowed(&span.low), borrowed(&span.high));
            if !see(tree.newer(snapshot, bounds, wait)?) {
                return Ok(verdict);
            }
        }
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_place_that_knows_decides_and_later_ones_are_not_asked() {
        let broken = Verdict::Broken(Lsn(7));
        let never = || panic!("it is not asked");
        assert_eq!(judge(|| broken, never, never), broken);
        assert_eq!(judge(|| Verdict::Holds, || Verdict::Unsure, never), Verdict::Unsure);
        assert_eq!(judge(|| Verdict::Holds, || Verdict::Holds, || broken), broken);
    }

    #[test]
    fn commits_between_the_snapshot_and_the_own_one_count() {
        let counted = [4, 5, 6, 7, 8].map(|lsn| counts(Lsn(5), Lsn(lsn), Lsn(7)));
        assert_eq!(counted, [false, false, true, false, false]);
    }
}
