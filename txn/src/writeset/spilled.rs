//! What of a write set is in scratch space: sorted runs ([`crate::run`]), each with the writes of some commands.
//!
//! An entry's order is its command, and its mark says whether it is an update, and of another row; of several writes of a key by one command
//! only the last is kept. Runs are made one after the other, so of two that have a key the newer has the newer writes, and
//! what is in memory is newer than all. A savepoint is rolled back by dropping runs and, in one that the savepoint parts,
//! by counting only what is below it.
//!
//! A run never changes and is shared: a late commit's readers walk it while it is applied. They look at its blocks, and at
//! nothing that anybody else changes.

use super::Write;
use crate::run::{BlockCache, Entry, Run, Walk};
use crate::sync::Arc;
use crate::{CommandId, TreeId};
use std::cmp::Ordering;
use std::ops::Bound;
use storage::{Direction, MergeHeap};

/// The mark of a write over a locked record.
const UPDATE: u64 = 1;
/// The mark of a write that puts another record in the place of one that the transaction has deleted.
const ANEW: u64 = 2;

/// One run, and how much of it counts.
#[derive(Clone, Debug)]
struct Kept {
    run: Arc<Run>,
    /// Writes by commands from here on have been undone.
    below: u64,
}

/// The spilled part of a write set.
#[derive(Debug, Default)]
pub struct SpilledWrites {
    /// Oldest first.
    runs: Vec<Kept>,
    /// How often they have changed.
    changes: u64,
}

/// The mark of a write.
pub(super) fn entry_of<'w>(write: &Write<'w>) -> Entry<'w> {
    Entry {
        tree: write.tree,
        key: write.key,
        order: u64::from(write.command.0),
        mark: if write.update { UPDATE } else { 0 } | if write.anew { ANEW } else { 0 },
        value: write.value,
    }
}

fn write_of(entry: Entry<'_>) -> Write<'_> {
    Write {
        tree: entry.tree,
        key: entry.key,
        value: entry.value,
        command: CommandId(entry.order as u32),
        update: entry.mark & UPDATE != 0,
        anew: entry.mark & ANEW != 0,
        met: &super::Met::NOWHERE,
    }
}

impl SpilledWrites {
    /// Whether there is nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// At most how many keys there are.
    pub(super) fn keys(&self) -> usize {
        self.runs.iter().map(|kept| kept.run.entries() as usize).sum()
    }

    /// How often runs have come or gone.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    pub(super) fn add(&mut self, run: Run) {
        self.changes += 1;
        self.runs.push(Kept { run: Arc::new(run), below: u64::MAX });
    }

    pub(super) fn undo(&mut self, from: CommandId) {
        let from = u64::from(from.0);
        self.runs.retain(|kept| kept.run.orders().0 < from);
        for kept in &mut self.runs {
            if kept.run.orders().1 >= from {
                kept.below = kept.below.min(from);
            }
        }
        self.changes += 1;
    }

    /// Forgets all, and their files.
    pub(super) fn clear(&mut self) {
        if !self.runs.is_empty() {
            self.runs = Vec::new();
        }
    }

    /// The newest write of a key by a command before `before`.
    pub(super) fn find(
        &self,
        (tree, key): (TreeId, &[u8]),
        before: CommandId,
        cache: &mut BlockCache,
        found: impl FnOnce(Write<'_>),
    ) -> storage::Result<bool> {
        let Some(first) = self.runs.first() else { return Ok(false) };
        let hash = first.run.hash(tree, key);
        for Kept { run, below } in self.runs.iter().rev() {
            let before = u64::from(before.0).min(*below);
            if run.orders().0 < before
                && run.may_have((tree, key), hash)
                && let Some(entry) = run.find((tree, key), before - 1, cache)?
            {
                found(write_of(entry));
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a key may have been written. Reads nothing.
    pub(super) fn may_have(&self, tree: TreeId, key: &[u8]) -> bool {
        let Some(first) = self.runs.first() else { return false };
        let hash = first.run.hash(tree, key);
        self.runs.iter().any(|kept| kept.run.may_have((tree, key), hash))
    }

    /// Whether anything within the bounds may have been written. Reads nothing.
    pub(super) fn may_meet(&self, tree: TreeId, bounds: (Bound<&[u8]>, Bound<&[u8]>)) -> bool {
        self.runs.iter().any(|kept| kept.run.may_meet(tree, bounds))
    }

    /// A walk over the newest write of every key by a command before `before`: from `near` in `tree` on, and through the
    /// trees behind it, in either direction.
    pub(super) fn merge(
        &self,
        (tree, near): (TreeId, Bound<&[u8]>),
        before: CommandId,
        direction: Direction,
    ) -> storage::Result<Merge> {
        let mut heads = Vec::new();
        for (age, kept) in self.runs.iter().enumerate() {
            let below = kept.below.min(u64::from(before.0));
            if kept.run.orders().0 >= below {
                continue;
            }
            let walk = Walk::new(Arc::clone(&kept.run), tree, near, direction);
            let (head, ahead) = (Copied::default(), Copied::default());
            let mut head = Head { walk, below, age, head, ahead, is_ahead: false };
            if head.advance(direction)? {
                heads.push(head);
            }
        }
        let heap = MergeHeap::new((0..heads.len()).collect(), |a, b| {
            comes_before(&heads, direction, a, b)
        });
        Ok(Merge { direction, heads, heap, last: (TreeId(0), Vec::new()) })
    }
}

/// An entry in a copy.
#[derive(Debug)]
struct Copied {
    tree: TreeId,
    key: Vec<u8>,
    order: u64,
    mark: u64,
    value: Vec<u8>,
    has_value: bool,
}

impl Default for Copied {
    fn default() -> Copied {
        let (key, value) = (Vec::new(), Vec::new());
        Copied { tree: TreeId(0), key, order: 0, mark: 0, value, has_value: false }
    }
}

impl Copied {
    fn set(&mut self, entry: &Entry<'_>) {
        self.tree = entry.tree;
        self.key.clear();
        self.key.extend_from_slice(entry.key);
        self.order = entry.order;
        self.mark = entry.mark;
        self.value.clear();
        self.value.extend_from_slice(entry.value.unwrap_or_default());
        self.has_value = entry.value.is_some();
    }

    fn entry(&self) -> Entry<'_> {
        let value = self.has_value.then_some(&self.value[..]);
        Entry { tree: self.tree, key: &self.key, order: self.order, mark: self.mark, value }
    }
}

/// A run's part in a merge.
#[derive(Debug)]
struct Head {
    walk: Walk,
    below: u64,
    /// The greater, the newer.
    age: usize,
    /// The newest write that counts of the key it has come to.
    head: Copied,
    /// The entry behind that key's, if it has been read.
    ahead: Copied,
    is_ahead: bool,
}

impl Head {
    /// Goes to the next key that has a write which counts; false if there is none.
    fn advance(&mut self, direction: Direction) -> storage::Result<bool> {
        let mut has = false;
        loop {
            if !std::mem::take(&mut self.is_ahead) {
                let Some(entry) = self.walk.advance()? else { return Ok(has) };
                self.ahead.set(&entry);
            }
            if has {
                let same = self.ahead.tree == self.head.tree && self.ahead.key == self.head.key;
                if !same {
                    self.is_ahead = true;
                    return Ok(true);
                }
                // Commands come in the direction of the walk: backward the first that counts is the newest.
                if direction == Direction::Backward || self.ahead.order >= self.below {
                    continue;
                }
            } else if self.ahead.order >= self.below {
                continue;
            }
            std::mem::swap(&mut self.head, &mut self.ahead);
            has = true;
        }
    }
}

/// The writes of several runs in one order: of each key the newest.
#[derive(Debug)]
pub struct Merge {
    direction: Direction,
    heads: Vec<Head>,
    /// Those that have a key: the next key first, and of one key the newest run.
    heap: MergeHeap,
    /// The key that [`Merge::advance`] has given out.
    last: (TreeId, Vec<u8>),
}

impl Merge {
    /// The write it has come to.
    pub(crate) fn head(&self) -> Option<Write<'_>> {
        self.heap.first().map(|first| write_of(self.heads[first].head.entry()))
    }

    /// Goes behind a key, if it has not.
    pub(crate) fn pass(&mut self, tree: TreeId, key: &[u8]) -> storage::Result<()> {
        let Merge { direction, heads, heap, .. } = self;
        while let Some(first) = heap.first() {
            let head = &mut heads[first];
            let name = (head.head.tree, &head.head.key[..]).cmp(&(tree, key));
            if name == beyond(*direction) {
                return Ok(());
            }
            let there = head.advance(*direction)?;
            heap.advanced(there, |a, b| comes_before(heads, *direction, a, b));
        }
        Ok(())
    }

    /// The next write.
    pub(crate) fn advance(&mut self, started: &mut bool) -> storage::Result<Option<Write<'_>>> {
        if std::mem::replace(started, true) {
            let last = std::mem::replace(&mut self.last, (TreeId(0), Vec::new()));
            self.pass(last.0, &last.1)?;
            self.last = last;
        }
        if let Some(first) = self.heap.first() {
            let head = &self.heads[first].head;
            self.last.0 = head.tree;
            self.last.1.clear();
            self.last.1.extend_from_slice(&head.key);
        }
        Ok(self.head())
    }
}

/// Whether a walk comes to the head of one run before that of another: of one key to the newest.
fn comes_before(heads: &[Head], direction: Direction, a: usize, b: usize) -> bool {
    let (a, b) = (&heads[a], &heads[b]);
    let name = (a.head.tree, &a.head.key).cmp(&(b.head.tree, &b.head.key));
    let name = if direction == Direction::Forward { name } else { name.reverse() };
    name.then(b.age.cmp(&a.age)) == Ordering::Less
}

/// How a key compares with one that a walk in this direction has passed.
fn beyond(direction: Direction) -> Ordering {
    match direction {
        Direction::Forward => Ordering::Greater,
        Direction::Backward => Ordering::Less,
    }
}
