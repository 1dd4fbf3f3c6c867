//! Keys that serializable transactions have read, each for itself, in shards with a latch each.
//!
//! Who looks for a key is noted here, and mostly that is all: only where somebody has marked the key, or a whole tree, does the reader
//! need the latch over graph, ranges and marks. PostgreSQL partitions its predicate locks for the same reason (`predicate.c`).
//!
//! Invariant. Of a read and a write of the same key the second finds the first: a reader notes the key and looks whether it is marked
//! under its shard's latch, and a writer, under the latch over all, marks it here as it looks for readers here. So it is of
//! trees that are marked as a whole: they are counted before anybody looks through the shards.

use super::graph::{Seq, XactId};
use crate::TreeId;
use crate::record::hash;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// Latches.
const SHARDS: usize = 64;

/// A key of a tree, with what it hashes to: it is hashed once, by who reads or marks it.
#[derive(Clone, Debug)]
pub(crate) struct PointKey {
    hash: u64,
    pub(super) tree: TreeId,
    pub(super) key: Arc<[u8]>,
}

/// Who has read something. `seq` counts for the summary: the last end of those in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) xact: XactId,
    pub(crate) seq: Seq,
}

/// Holders of one thing, each once.
pub(super) fn add(holders: &mut Vec<Holder>, holder: Holder) {
    match holders.iter_mut().find(|other| other.xact == holder.xact) {
        Some(other) => other.seq = other.seq.max(holder.seq),
        None => holders.push(holder),
    }
}

/// Takes one away, if it is no newer than `seq`.
pub(super) fn remove(holders: &mut Vec<Holder>, xact: XactId, seq: Seq) {
    holders.retain(|holder| holder.xact != xact || holder.seq > seq);
}

/// Who has read a key: mostly one, who needs no memory beside it. Where there is no first there are no others.
#[derive(Debug, Default)]
struct Holders {
    first: Option<Holder>,
    others: Vec<Holder>,
}

impl Holders {
    fn iter(&self) -> impl Iterator<Item = &Holder> {
        self.first.iter().chain(&self.others)
    }

    fn has(&self, xact: XactId) -> bool {
        self.iter().any(|holder| holder.xact == xact)
    }

    /// Adds one, each once.
    fn add(&mut self, holder: Holder) {
        match &mut self.first {
            None => self.first = Some(holder),
            Some(first) if first.xact == holder.xact => first.seq = first.seq.max(holder.seq),
            Some(_) => add(&mut self.others, holder),
        }
    }

    /// Takes one away, if it is no newer than `seq`.
    fn remove(&mut self, xact: XactId, seq: Seq) {
        remove(&mut self.others, xact, seq);
        if self.first.is_some_and(|first| first.xact == xact && first.seq <= seq) {
            self.first = self.others.pop();
        }
    }
}

/// A key of which anybody has read or written something.
#[derive(Debug)]
struct Point {
    name: PointKey,
    holders: Holders,
    marked: bool,
}

impl Point {
    fn is(&self, tree: TreeId, key: &[u8]) -> bool {
        self.name.tree == tree && hash::same(&self.name.key, key)
    }
}

/// What a reader finds of the key that it reads.
#[derive(Debug)]
pub(crate) enum Noted {
    /// It has read it before.
    Before,
    /// It is noted now, under this name; where it is `marked`, somebody may have written it, and is to be looked for.
    Now {
        /// What it is to be let go by.
        name: PointKey,
        /// Whether the key, or any tree as a whole, is marked.
        marked: bool,
    },
}

type Shard = HashTable<Point>;

/// All of them.
#[derive(Debug)]
pub(crate) struct Points {
    /// Of what keys hash to, which nobody outside can aim at.
    seed: u64,
    shards: Box<[Mutex<Shard, { rank::SIREAD_POINTS }>]>,
    /// Trees that are marked as a whole.
    marked_trees: AtomicUsize,
}

impl Points {
    /// Nothing is read or marked; keys are hashed from `seed`.
    pub(crate) fn new(seed: u64) -> Points {
        Points::with_shards(seed, SHARDS)
    }

    /// Nothing is read or marked, with so many latches.
    pub(crate) fn with_shards(seed: u64, shards: usize) -> Points {
        let shards = (0..shards).map(|_| Mutex::default()).collect();
        Points { seed, shards, marked_trees: AtomicUsize::new(0) }
    }

    /// A key's shard; the table there goes by the lower half of the hash and its uppermost bits.
    fn shard(&self, hash: u64) -> &Mutex<Shard, { rank::SIREAD_POINTS }> {
        &self.shards[(hash >> 32) as usize % self.shards.len()]
    }

    /// Changes what is known of a key; what nobody has read or marked is forgotten.
    fn change(&self, hash: u64, (tree, key): (TreeId, &[u8]), change: impl FnOnce(&mut Point)) {
        let mut shard = lock(self.shard(hash));
        if let Ok(mut entry) = shard.find_entry(hash, |point| point.is(tree, key)) {
            let point = entry.get_mut();
            change(point);
            if point.holders.first.is_none() && !point.marked {
                entry.remove();
            }
        }
    }

    /// Notes that a key is read.
    pub(crate) fn read(&self, tree: TreeId, key: &[u8], xact: XactId) -> Noted {
        let hash = hash::hash(self.seed, tree, key);
        let mut shard = lock(self.shard(hash));
        let entry = shard.entry(hash, |point| point.is(tree, key), |point| point.name.hash);
        let point = match entry {
            Entry::Occupied(found) if found.get().holders.has(xact) => return Noted::Before,
            Entry::Occupied(found) => found.into_mut(),
            Entry::Vacant(none) => {
                let name = PointKey { hash, tree, key: key.into() };
                none.insert(Point { name, holders: Holders::default(), marked: false }).into_mut()
            }
        };
        point.holders.add(Holder { xact, seq: 0 });
        // Relaxed: who counts a tree looks through this shard afterwards, under its latch.
        let marked = point.marked || self.marked_trees.load(Ordering::Relaxed) > 0;
        Noted::Now { name: point.name.clone(), marked }
    }

    /// Who has read a key.
    pub(crate) fn readers(&self, tree: TreeId, key: &[u8], into: &mut Vec<Holder>) {
        let hash = hash::hash(self.seed, tree, key);
        let shard = lock(self.shard(hash));
        let point = shard.find(hash, |point| point.is(tree, key));
        into.extend(point.into_iter().flat_map(|point| point.holders.iter()));
    }

    /// Shows every key that is read, and its readers one by one.
    pub(super) fn for_each(&self, see: &mut dyn FnMut((TreeId, &[u8]), &Holder)) {
        for shard in &self.shards {
            for point in &*lock(shard) {
                point
                    .holders
                    .iter()
                    .for_each(|holder| see((point.name.tree, &point.name.key), holder));
            }
        }
    }

    /// A reader lets go of a key, if it is no newer than `seq`.
    pub(super) fn unlock(&self, name: &PointKey, xact: XactId, seq: Seq) {
        self.change(name.hash, (name.tree, &name.key), |point| point.holders.remove(xact, seq));
    }

    /// A reader becomes the summary's.
    pub(super) fn summarize(&self, name: &PointKey, xact: XactId, old: Holder) {
        self.change(name.hash, (name.tree, &name.key), |point| {
            point.holders.add(old);
            point.holders.remove(xact, Seq::MAX);
        });
    }

    /// Somebody writes a key; those who have read it.
    pub(crate) fn mark(&self, tree: TreeId, key: &Arc<[u8]>, readers: &mut Vec<Holder>) {
        let hash = hash::hash(self.seed, tree, key);
        let mut shard = lock(self.shard(hash));
        let entry = shard.entry(hash, |point| point.is(tree, key), |point| point.name.hash);
        let point = entry.or_insert_with(|| {
            let name = PointKey { hash, tree, key: Arc::clone(key) };
            Point { name, holders: Holders::default(), marked: true }
        });
        let point = point.into_mut();
        point.marked = true;
        readers.extend(point.holders.iter());
    }

    /// Nobody's writing of a key is known any more.
    pub(super) fn unmark(&self, tree: TreeId, key: &[u8]) {
        let hash = hash::hash(self.seed, tree, key);
        self.change(hash, (tree, key), |point| point.marked = false);
    }

    /// A tree is marked as a whole, or is so no longer.
    pub(super) fn count_marked_tree(&self, is_marked: bool) {
        if is_marked {
            self.marked_trees.fetch_add(1, Ordering::Relaxed);
        } else {
            self.marked_trees.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether nothing is read or marked.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.shards.iter().all(|shard| lock(shard).is_empty())
            && self.marked_trees.load(Ordering::Relaxed) == 0
    }
}
