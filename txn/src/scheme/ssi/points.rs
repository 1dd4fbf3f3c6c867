//! Keys that serializable transactions have read, each for itself, in shards with a latch each.
//!
//! Who looks for a key is noted here, and mostly that is all: only where somebody has marked the key, or a whole tree, does the reader
//! need the latch over graph, ranges and marks. PostgreSQL partitions its predicate locks for the same reason (`predicate.c`).
//!
//! Invariant. Of a read and a write of the same key the second finds the first: a reader notes the key and looks whether it is marked
//! under its shard's latch, and a writer, under the latch over all, has marked it here before it looks for readers here. So it is of
//! trees that are marked as a whole: they are counted before anybody looks through the shards.

use super::graph::{Seq, XactId};
use crate::TreeId;
use crate::record::hash;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use std::collections::HashMap;

/// Latches.
const SHARDS: usize = 64;
/// Bytes of a tree's number before a key.
const TREE_BYTES: usize = size_of::<u64>();

/// A tree's number, and a key there.
pub(crate) type PointKey = Arc<[u8]>;

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

/// A key of which anybody has read or written something.
#[derive(Debug, Default)]
struct Point {
    holders: Vec<Holder>,
    marked: bool,
}

type Shard = HashMap<PointKey, Point>;

/// All of them.
#[derive(Debug)]
pub(crate) struct Points {
    shards: Box<[Mutex<Shard, { rank::SIREAD_POINTS }>]>,
    /// Trees that are marked as a whole.
    marked_trees: AtomicUsize,
}

/// Puts a tree's number and a key into `bytes`, as they are looked for.
pub(super) fn name<'b>(bytes: &'b mut Vec<u8>, tree: TreeId, key: &[u8]) -> &'b [u8] {
    bytes.clear();
    bytes.extend_from_slice(&tree.0.to_be_bytes());
    bytes.extend_from_slice(key);
    bytes
}

/// The tree and the key of a name.
pub(super) fn parts(name: &[u8]) -> (TreeId, &[u8]) {
    let (tree, key) = name.split_first_chunk::<TREE_BYTES>().expect("a name begins with a tree");
    (TreeId(u64::from_be_bytes(*tree)), key)
}

impl Points {
    /// Nothing is read or marked.
    pub(crate) fn new() -> Points {
        Points::with_shards(SHARDS)
    }

    /// Nothing is read or marked, with so many latches.
    pub(crate) fn with_shards(shards: usize) -> Points {
        let shards = (0..shards).map(|_| Mutex::default()).collect();
        Points { shards, marked_trees: AtomicUsize::new(0) }
    }

    fn shard(&self, name: &[u8]) -> &Mutex<Shard, { rank::SIREAD_POINTS }> {
        let (tree, key) = parts(name);
        // Who aims at a shard makes others wait for a moment, and nothing longer to look through.
        &self.shards[(hash::hash(0, tree, key) >> 32) as usize % self.shards.len()]
    }

    /// Changes what is known of a key; what nobody has read or marked is forgotten.
    fn change(&self, name: &[u8], change: impl FnOnce(&mut Point)) {
        let mut shard = lock(self.shard(name));
        if let Some(point) = shard.get_mut(name) {
            change(point);
            if point.holders.is_empty() && !point.marked {
                shard.remove(name);
            }
        }
    }

    /// Notes that a key is read. True: somebody may have written it, and is to be looked for.
    pub(crate) fn read(&self, name: PointKey, xact: XactId) -> bool {
        let mut shard = lock(self.shard(&name));
        let point = shard.entry(name).or_default();
        add(&mut point.holders, Holder { xact, seq: 0 });
        // Relaxed: who counts a tree looks through this shard afterwards, under its latch.
        point.marked || self.marked_trees.load(Ordering::Relaxed) > 0
    }

    /// Who has read a key.
    pub(crate) fn readers(&self, name: &[u8], into: &mut Vec<Holder>) {
        into.extend(lock(self.shard(name)).get(name).into_iter().flat_map(|point| &point.holders));
    }

    /// Shows every key that is read, and its readers.
    pub(super) fn for_each(&self, see: &mut dyn FnMut(&[u8], &[Holder])) {
        for shard in &self.shards {
            for (name, point) in &*lock(shard) {
                see(name, &point.holders);
            }
        }
    }

    /// A reader lets go of a key, if it is no newer than `seq`.
    pub(super) fn unlock(&self, name: &[u8], xact: XactId, seq: Seq) {
        self.change(name, |point| remove(&mut point.holders, xact, seq));
    }

    /// A reader becomes the summary's.
    pub(super) fn summarize(&self, name: &[u8], xact: XactId, old: Holder) {
        self.change(name, |point| {
            add(&mut point.holders, old);
            remove(&mut point.holders, xact, Seq::MAX);
        });
    }

    /// Somebody writes a key.
    pub(crate) fn mark(&self, name: &[u8]) {
        let mut shard = lock(self.shard(name));
        match shard.get_mut(name) {
            Some(point) => point.marked = true,
            None => drop(shard.insert(name.into(), Point { marked: true, ..Point::default() })),
        }
    }

    /// Nobody's writing of a key is known any more.
    pub(super) fn unmark(&self, name: &[u8]) {
        self.change(name, |point| point.marked = false);
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
