//! SIREAD locks and marks of writes: what serializable transactions have read and written, where the others find it.
//!
//! Paper: Ports and Grittner, *Serializable Snapshot Isolation in PostgreSQL*, VLDB 2012, section 5.2. Difference: a lock stands on
//! a key or on a range of keys, found or not, and not on tuples and pages; and since a write is on no page before its commit, it
//! is marked here beside the locks, so that whoever comes second, reader or writer, finds the other.
//!
//! A SIREAD lock is in nobody's way. It stays after its owner's commit, for as long as the graph keeps that. Locks past their
//! limit become one on the whole tree. Keys that are read each for itself are in [`super::points`]: while their reader runs it
//! has their list, and then it is here.

use super::graph::{Seq, Writer, XactId};
use super::points::{Holder, PointKey, Points, add, remove};
use crate::lock::segments::{Edge, Segments};
use crate::{CommandId, TableId, TreeId};
use rustc_hash::FxHashMap;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Trees of which nothing is locked or marked that are known still: those of the next transactions.
const TREES_MAX: usize = 256;
/// Locks and marks of the summary that keep their keys; older ones count for the whole tree.
const OLD_MAX: usize = 1 << 16;

type Key = Arc<[u8]>;

/// What stands in one tree.
#[derive(Debug, Default)]
struct TreeLocks {
    table: Option<TableId>,
    /// Transactions that have read keys there, each for itself.
    point_readers: usize,
    ranges: Segments<Holder>,
    whole: Vec<Holder>,
    marks: BTreeMap<Key, Vec<Writer>>,
    /// Those that have replaced all there was, and summaries without keys.
    marked_whole: Vec<Writer>,
    /// Whether it is counted among the trees that are marked as a whole.
    counted: bool,
}

/// A lock's place in its tree.
#[derive(Clone, Debug)]
enum Place {
    Point(PointKey),
    Range(Edge, Edge),
    Mark(Key),
}

/// What one transaction holds in one tree.
#[derive(Debug, Default)]
struct HeldInTree {
    /// Whether it has read keys there each for itself, and which, once it has ended.
    reads_points: bool,
    points: Vec<PointKey>,
    ranges: Vec<(Edge, Edge)>,
    whole: bool,
    marked_whole: bool,
}

/// What one transaction holds.
#[derive(Debug, Default)]
struct Held {
    trees: FxHashMap<TreeId, HeldInTree>,
    marks: Vec<(CommandId, TreeId, Key)>,
}

/// A lock as others are shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SireadTarget {
    /// A whole tree.
    Tree,
    /// A key.
    Key(Vec<u8>),
    /// A range of keys.
    Range,
}

/// All of them.
#[derive(Debug)]
pub(crate) struct Sireads {
    points: Arc<Points>,
    trees: FxHashMap<TreeId, TreeLocks>,
    held: FxHashMap<XactId, Held>,
    /// The summary's, in the order of their ends.
    old: VecDeque<(Seq, TreeId, Place)>,
    /// Trees that the summary holds as a whole, and until when.
    old_whole: FxHashMap<TreeId, Seq>,
    /// Trees of a table of which anything is locked or marked.
    tables: FxHashMap<TableId, BTreeSet<TreeId>>,
}

impl TreeLocks {
    fn is_empty(&self) -> bool {
        self.point_readers == 0
            && self.ranges.is_empty()
            && self.whole.is_empty()
            && self.marks.is_empty()
            && self.marked_whole.is_empty()
    }

    /// Takes marks of a key away; whether none is left.
    fn unmark(&mut self, key: &[u8], is: impl Fn(&Writer) -> bool) -> bool {
        let Some(writers) = self.marks.get_mut(key) else { return false };
        writers.retain(|writer| !is(writer));
        let none = writers.is_empty();
        if none {
            self.marks.remove(key);
        }
        none
    }

    /// Counts it among the trees that are marked as a whole, if it is one.
    fn count(&mut self, points: &Points) {
        let is_marked = !self.marked_whole.is_empty();
        if is_marked != self.counted {
            self.counted = is_marked;
            points.count_marked_tree(is_marked);
        }
    }
}

fn held(xact: XactId) -> Holder {
    Holder { xact, seq: 0 }
}

impl Sireads {
    /// None; keys that are read each for itself will be among these.
    pub(crate) fn new(points: Arc<Points>) -> Sireads {
        Sireads {
            points,
            trees: FxHashMap::default(),
            held: FxHashMap::default(),
            old: VecDeque::new(),
            old_whole: FxHashMap::default(),
            tables: FxHashMap::default(),
        }
    }

    /// Takes marks of a key of a tree away.
    fn unmark(&mut self, tree: TreeId, key: &[u8], is: impl Fn(&Writer) -> bool) {
        if self.trees.get_mut(&tree).is_some_and(|locks| locks.unmark(key, is)) {
            self.points.unmark(tree, key);
        }
    }

    /// Counts a tree among those that are marked as a whole, if it is one.
    fn count(&mut self, tree: TreeId) {
        if let Some(locks) = self.trees.get_mut(&tree) {
            locks.count(&self.points);
        }
    }

    fn tree(&mut self, tree: TreeId, table: Option<TableId>) -> &mut TreeLocks {
        let locks = self.trees.entry(tree).or_default();
        if let (None, Some(table)) = (locks.table, table) {
            locks.table = Some(table);
            self.tables.entry(table).or_default().insert(tree);
        }
        locks
    }

    /// Somebody has found that `trees` are all that a table has. What is locked or marked of another, which stands in their
    /// place for somebody else, counts for all of them: a key there is not a key here.
    pub(crate) fn table_has(&mut self, table: TableId, trees: &[TreeId]) {
        let Some(known) = self.tables.get(&table) else { return };
        let others: Vec<TreeId> =
            known.iter().filter(|tree| !trees.contains(tree)).copied().collect();
        for other in others {
            let (mut readers, mut writers) = (Vec::new(), Vec::new());
            self.readers_of_all(other, &mut readers);
            // Not those whose keys are about to be let go of.
            readers.retain(|reader| {
                reader.xact == XactId::OLD || self.held.contains_key(&reader.xact)
            });
            let all = (&Edge::FIRST, &Edge::End);
            self.writers_between(other, all, &|_| None, &mut writers);
            for tree in trees {
                for reader in &readers {
                    add(&mut self.tree(*tree, Some(table)).whole, *reader);
                    match reader.xact {
                        XactId::OLD => drop(self.old_whole.entry(*tree).or_insert(reader.seq)),
                        xact => self.of(xact, *tree).whole = true,
                    }
                }
                for writer in &writers {
                    let marked = &mut self.tree(*tree, Some(table)).marked_whole;
                    if !marked.contains(writer) {
                        marked.push(*writer);
                    }
                    match writer {
                        Writer::Old { .. } => drop(self.old_whole.entry(*tree).or_insert(0)),
                        Writer::Live(xact) => self.of(*xact, *tree).marked_whole = true,
                    }
                }
                self.count(*tree);
            }
        }
    }

    fn of(&mut self, xact: XactId, tree: TreeId) -> &mut HeldInTree {
        self.held.entry(xact).or_default().trees.entry(tree).or_default()
    }

    /// Who has written `key`; `next` says of several which has overwritten what the reader sees.
    pub(crate) fn writers(
        &self,
        tree: TreeId,
        key: &[u8],
        next: &dyn Fn(&[Writer]) -> Option<Writer>,
        into: &mut Vec<Writer>,
    ) {
        let Some(locks) = self.trees.get(&tree) else { return };
        if let Some(writers) = locks.marks.get(key) {
            take_next(writers, next, into);
        }
        into.extend(&locks.marked_whole);
    }

    /// Who has written anything from `low` to `high`.
    pub(crate) fn writers_between(
        &self,
        tree: TreeId,
        (low, high): (&Edge, &Edge),
        next: &dyn Fn(&[Writer]) -> Option<Writer>,
        into: &mut Vec<Writer>,
    ) {
        let Some(locks) = self.trees.get(&tree) else { return };
        if low < high && !locks.marks.is_empty() {
            let written = locks.marks.range::<[u8], _>((low.from(), high.to()));
            written.for_each(|(_, writers)| take_next(writers, next, into));
        }
        into.extend(&locks.marked_whole);
    }

    /// Who has read `key`.
    pub(crate) fn readers(&self, tree: TreeId, key: &[u8], into: &mut Vec<Holder>) {
        self.points.readers(tree, key, into);
        let Some(locks) = self.trees.get(&tree) else { return };
        into.extend(locks.ranges.at(key));
        into.extend(&locks.whole);
    }

    /// Who has read anything of a tree.
    pub(crate) fn readers_of_all(&self, tree: TreeId, into: &mut Vec<Holder>) {
        self.points.for_each(&mut |(of, _), reader| {
            if of == tree {
                into.push(*reader);
            }
        });
        let Some(locks) = self.trees.get(&tree) else { return };
        into.extend(locks.ranges.all());
        into.extend(&locks.whole);
    }

    /// A transaction will read keys of a tree each for itself.
    pub(crate) fn reads_points(&mut self, xact: XactId, (tree, table): (TreeId, Option<TableId>)) {
        if !std::mem::replace(&mut self.of(xact, tree).reads_points, true) {
            self.tree(tree, table).point_readers += 1;
        }
    }

    /// A transaction has ended that has read these keys: their list is kept here from now on.
    pub(crate) fn keep_points(&mut self, xact: XactId, tree: TreeId, keys: Vec<PointKey>) {
        self.of(xact, tree).points = keys;
    }

    /// Locks a range, and says which of its owner's in that tree it is.
    pub(crate) fn lock_range(
        &mut self,
        xact: XactId,
        (tree, table): (TreeId, Option<TableId>),
        (low, high): (Edge, Edge),
    ) -> usize {
        self.tree(tree, table).ranges.add(&low, &high, |holders| add(holders, held(xact)));
        let ranges = &mut self.of(xact, tree).ranges;
        ranges.push((low, high));
        ranges.len() - 1
    }

    /// Makes a range longer at one of its ends.
    pub(crate) fn extend_range(
        &mut self,
        xact: XactId,
        tree: TreeId,
        (number, upwards): (usize, bool),
        to: Edge,
    ) {
        let held_there = self.of(xact, tree);
        let Some(range) = held_there.ranges.get_mut(number) else { return };
        let last = std::mem::replace(if upwards { &mut range.1 } else { &mut range.0 }, to.clone());
        let (low, high) = if upwards { (last, to) } else { (to, last) };
        self.tree(tree, None).ranges.add(&low, &high, |holders| add(holders, held(xact)));
    }

    /// Locks a whole tree, in place of what was locked of it.
    pub(crate) fn lock_tree(&mut self, xact: XactId, tree: TreeId, table: Option<TableId>) {
        let before = std::mem::take(self.of(xact, tree));
        let locks = self.tree(tree, table);
        add(&mut locks.whole, held(xact));
        locks.point_readers -= usize::from(before.reads_points);
        for (low, high) in &before.ranges {
            locks.ranges.remove(low, high, |holders| remove(holders, xact, Seq::MAX));
        }
        *self.of(xact, tree) = HeldInTree { whole: true, ..before_marks(before) };
    }

    /// Marks a write, and finds who has read the key; false if it was marked already.
    pub(crate) fn mark(
        &mut self,
        xact: XactId,
        (tree, table): (TreeId, Option<TableId>),
        key: &[u8],
        (command, readers): (CommandId, &mut Vec<Holder>),
    ) -> bool {
        let points = Arc::clone(&self.points);
        let locks = self.tree(tree, table);
        let writer = Writer::Live(xact);
        let key: Key = key.into();
        match locks.marks.entry(Arc::clone(&key)) {
            Entry::Occupied(marked) if marked.get().contains(&writer) => return false,
            Entry::Occupied(mut marked) => marked.get_mut().push(writer),
            Entry::Vacant(none) => drop(none.insert(vec![writer])),
        }
        points.mark(tree, &key, readers);
        readers.extend(locks.ranges.at(&key));
        readers.extend(&locks.whole);
        self.held.entry(xact).or_default().marks.push((command, tree, key));
        true
    }

    /// Marks that all of a tree is replaced.
    pub(crate) fn mark_tree(&mut self, xact: XactId, tree: TreeId, table: Option<TableId>) {
        let writers = &mut self.tree(tree, table).marked_whole;
        if !writers.contains(&Writer::Live(xact)) {
            writers.push(Writer::Live(xact));
        }
        self.count(tree);
        self.of(xact, tree).marked_whole = true;
    }

    /// The marks of `from` and later commands go with what they stand for.
    pub(crate) fn unmark_since(&mut self, xact: XactId, from: CommandId) {
        let next = |held: &mut FxHashMap<XactId, Held>| {
            held.get_mut(&xact)?.marks.pop_if(|(command, ..)| *command >= from)
        };
        while let Some((_, tree, key)) = next(&mut self.held) {
            self.unmark(tree, &key, |writer| *writer == Writer::Live(xact));
        }
    }

    /// Lets go of what a transaction has read, and (`all`) written. Its keys are to be let go of by the caller, who need not hold the
    /// latch for it: nobody heeds a reader that is not in the graph.
    pub(crate) fn release(&mut self, xact: XactId, all: bool, keys: &mut Vec<(XactId, PointKey)>) {
        let Some(mut held) = self.held.remove(&xact) else { return };
        let live = |writer: &Writer| *writer == Writer::Live(xact);
        let mut trees = std::mem::take(&mut held.trees);
        for (id, tree) in &mut trees {
            keys.extend(tree.points.drain(..).map(|key| (xact, key)));
            let Some(locks) = self.trees.get_mut(id) else { continue };
            locks.point_readers -= usize::from(std::mem::take(&mut tree.reads_points));
            for (low, high) in tree.ranges.drain(..) {
                locks.ranges.remove(&low, &high, |holders| remove(holders, xact, Seq::MAX));
            }
            remove(&mut locks.whole, xact, Seq::MAX);
            if all {
                locks.marked_whole.retain(|writer| !live(writer));
                locks.count(&self.points);
            }
            self.tidy(*id);
        }
        if all {
            for (_, tree, key) in held.marks {
                self.unmark(tree, &key, live);
                self.tidy(tree);
            }
        } else {
            trees.retain(|_, tree| tree.marked_whole);
            held.trees = trees;
            self.held.insert(xact, held);
        }
    }

    /// Forgets a tree, if nothing is locked or marked there and there are many.
    fn tidy(&mut self, tree: TreeId) {
        if self.trees.len() <= TREES_MAX {
            return;
        }
        if self.trees.get(&tree).is_some_and(TreeLocks::is_empty)
            && let Some(TreeLocks { table: Some(table), .. }) = self.trees.remove(&tree)
            && let Some(known) = self.tables.get_mut(&table)
        {
            known.remove(&tree);
            if known.is_empty() {
                self.tables.remove(&table);
            }
        }
    }

    /// What a transaction holds becomes the summary's, as `writer` there.
    pub(crate) fn summarize(&mut self, xact: XactId, writer: Writer, seq: Seq) {
        let Some(held) = self.held.remove(&xact) else { return };
        let old = Holder { xact: XactId::OLD, seq };
        for (id, tree) in held.trees {
            let Some(locks) = self.trees.get_mut(&id) else { continue };
            for key in tree.points {
                self.points.summarize(&key, xact, old);
                locks.point_readers += 1;
                self.old.push_back((seq, id, Place::Point(key)));
            }
            locks.point_readers -= usize::from(tree.reads_points);
            for (low, high) in tree.ranges {
                locks.ranges.add(&low, &high, |holders| add(holders, old));
                locks.ranges.remove(&low, &high, |holders| remove(holders, xact, Seq::MAX));
                self.old.push_back((seq, id, Place::Range(low, high)));
            }
            if tree.whole {
                remove(&mut locks.whole, xact, Seq::MAX);
                add(&mut locks.whole, old);
                self.old_whole.insert(id, seq);
            }
            if tree.marked_whole {
                locks.marked_whole.retain(|other| *other != Writer::Live(xact));
                locks.marked_whole.push(writer);
                locks.count(&self.points);
                self.old_whole.entry(id).or_insert(0);
            }
        }
        for (_, tree, key) in held.marks {
            let writers = self.trees.get_mut(&tree).and_then(|locks| locks.marks.get_mut(&key));
            let mine = writers.into_iter().flatten().find(|other| **other == Writer::Live(xact));
            if let Some(mine) = mine {
                *mine = writer;
                self.old.push_back((seq, tree, Place::Mark(key)));
            }
        }
        while self.old.len() > OLD_MAX {
            let Some((seq, tree, place)) = self.old.pop_front() else { break };
            self.widen(seq, tree, &place);
        }
    }

    /// A lock or a mark of the summary counts for its whole tree from now on.
    fn widen(&mut self, seq: Seq, tree: TreeId, place: &Place) {
        let Some(locks) = self.trees.get_mut(&tree) else { return };
        if let Place::Mark(key) = place {
            let writers = locks.marks.get(key).into_iter().flatten();
            let own = |writer: &&Writer| matches!(writer, Writer::Old { committed, .. } if *committed == seq);
            let found = writers.copied().find(|writer| own(&writer));
            locks.marked_whole.extend(found);
            // Of several it is enough to know the last to come and the first that any was a pivot for.
            merge_old(&mut locks.marked_whole);
            locks.count(&self.points);
            self.old_whole.entry(tree).or_insert(0);
        } else {
            add(&mut locks.whole, Holder { xact: XactId::OLD, seq });
            let until = self.old_whole.entry(tree).or_insert(seq);
            *until = (*until).max(seq);
        }
        self.drop_old(seq, tree, place);
    }

    fn drop_old(&mut self, seq: Seq, tree: TreeId, place: &Place) {
        let Some(locks) = self.trees.get_mut(&tree) else { return };
        match place {
            Place::Point(key) => {
                self.points.unlock(key, XactId::OLD, seq);
                locks.point_readers -= 1;
            }
            Place::Range(low, high) => {
                locks.ranges.remove(low, high, |holders| remove(holders, XactId::OLD, seq))
            }
            Place::Mark(key) => self.unmark(
                tree,
                key,
                |writer| matches!(writer, Writer::Old { committed, .. } if *committed <= seq),
            ),
        }
        self.tidy(tree);
    }

    /// The summary forgets what ended at or before `oldest`, which nobody who runs overlaps.
    pub(crate) fn forget_old(&mut self, oldest: Seq) {
        while self.old.front().is_some_and(|(seq, ..)| *seq <= oldest) {
            let Some((seq, tree, place)) = self.old.pop_front() else { break };
            self.drop_old(seq, tree, &place);
        }
        let mut gone = Vec::new();
        let Sireads { trees, old_whole, points, .. } = self;
        old_whole.retain(|tree, _| {
            let Some(locks) = trees.get_mut(tree) else { return false };
            remove(&mut locks.whole, XactId::OLD, oldest);
            locks.marked_whole.retain(
                |writer| !matches!(writer, Writer::Old { committed, .. } if *committed <= oldest),
            );
            locks.count(points);
            let stays = locks.whole.iter().any(|holder| holder.xact == XactId::OLD)
                || locks.marked_whole.iter().any(|writer| matches!(writer, Writer::Old { .. }));
            if !stays {
                gone.push(*tree);
            }
            stays
        });
        gone.into_iter().for_each(|tree| self.tidy(tree));
    }

    /// Every lock: whose, on which tree of which table, and what of it.
    pub(crate) fn for_each(
        &self,
        each: &mut dyn FnMut(XactId, TreeId, Option<TableId>, SireadTarget),
    ) {
        for (xact, held) in &self.held {
            for (tree, of) in &held.trees {
                let table = self.trees.get(tree).and_then(|locks| locks.table);
                if of.whole {
                    each(*xact, *tree, table, SireadTarget::Tree);
                }
                for _ in &of.ranges {
                    each(*xact, *tree, table, SireadTarget::Range);
                }
            }
        }
        self.points.for_each(&mut |(tree, key), reader| {
            let table = self.trees.get(&tree).and_then(|locks| locks.table);
            if reader.xact != XactId::OLD {
                each(reader.xact, tree, table, SireadTarget::Key(key.to_vec()));
            }
        });
    }

    /// What a transaction that runs has read, for its record: of each tree the ranges, or all of it.
    pub(crate) fn reads_of(&self, xact: XactId) -> Vec<(TreeId, Option<(Edge, Edge)>)> {
        let trees = self.held.get(&xact).into_iter().flat_map(|held| &held.trees);
        trees
            .flat_map(|(tree, of)| {
                let some = of.ranges.iter().cloned().map(Some);
                let all = of.whole.then_some(None);
                some.chain(all).map(|place| (*tree, place)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// Whether nothing is locked or marked.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.trees.values().all(TreeLocks::is_empty)
            && self.held.is_empty()
            && self.old.is_empty()
            && self.old_whole.is_empty()
            && self.points.is_empty()
    }
}

fn take_next(
    writers: &[Writer],
    next: &dyn Fn(&[Writer]) -> Option<Writer>,
    into: &mut Vec<Writer>,
) {
    match (writers, next) {
        ([one], _) => into.push(*one),
        (several, next) => match next(several) {
            Some(one) => into.push(one),
            None => into.extend(several),
        },
    }
}

/// What stays of what was held when a tree is locked as a whole.
fn before_marks(before: HeldInTree) -> HeldInTree {
    HeldInTree { marked_whole: before.marked_whole, ..HeldInTree::default() }
}

/// One summary of several.
fn merge_old(writers: &mut Vec<Writer>) {
    let mut one: Option<Writer> = None;
    for writer in writers.iter() {
        let Writer::Old { txn, lsn, committed, earliest_out } = *writer else { continue };
        one = Some(match one {
            Some(Writer::Old { txn: t, lsn: l, committed: c, earliest_out: e }) => Writer::Old {
                txn: if committed > c { txn } else { t },
                lsn: lsn.max(l),
                committed: committed.max(c),
                earliest_out: earliest_out.min(e),
            },
            _ => *writer,
        });
    }
    writers.retain(|writer| matches!(writer, Writer::Live(_)));
    writers.extend(one);
}
