//! Read timestamps: the youngest transaction that has read a key, whether there was a record or not.
//!
//! They stand on keys, in shards with a latch each, so that those who read other keys of a table seldom meet; and on ranges and whole
//! trees, in shards by tree. Only writers that still run and are older are refused for their sake, so what is older than all that run
//! is thrown away, every so often. Past a limit those of a tree, or of its keys in a shard, become one: too many writers are refused
//! then, never too few.

use crate::lock::segments::{Edge, Segments};
use crate::record::hash;
use crate::sync::{Mutex, lock, rank};
use crate::{Timestamp, TreeId};
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

/// Latches of keys, and of trees.
const SHARDS: usize = 64;
/// Into how many parts the limit goes of what stands on keys: these are all trees', and each shard has one.
const PARTS: usize = 8;
/// Bytes of a key's copy and what stands around it, roughly.
const ENTRY_BYTES: usize = 96;
/// Reads of a shard after which what is of no use any more is thrown away.
const SWEEP: usize = 4096;

/// A key that was read.
#[derive(Debug)]
struct Point {
    hash: u64,
    tree: TreeId,
    key: Box<[u8]>,
    at: Timestamp,
}

/// Those of one shard.
#[derive(Debug, Default)]
struct Points {
    points: HashTable<Point>,
    bytes: usize,
    /// What has been made one of the keys of a tree.
    whole: FxHashMap<TreeId, Timestamp>,
    /// Reads since the last sweep.
    reads: usize,
}

/// Ranges of one tree.
#[derive(Debug, Default)]
struct Ranges {
    ranges: Segments<Timestamp>,
    whole: Timestamp,
}

#[derive(Debug, Default)]
struct Trees {
    trees: FxHashMap<TreeId, Ranges>,
    /// Reads since the last sweep.
    reads: usize,
}

/// Read timestamps of all trees.
#[derive(Debug)]
pub struct ReadStamps {
    points: Box<[Mutex<Points, { rank::TIMESTAMPS }>]>,
    trees: Box<[Mutex<Trees, { rank::TIMESTAMPS }>]>,
    /// Of what keys hash to, which nobody outside can aim at.
    seed: u64,
    /// What the ranges of a tree may occupy, in bytes.
    limit: usize,
}

impl Points {
    /// Throws away what is older than `oldest`.
    fn sweep(&mut self, oldest: Timestamp) {
        self.points.retain(|point| point.at >= oldest);
        self.bytes = self.points.iter().map(|point| point.key.len() + ENTRY_BYTES).sum();
        self.whole.retain(|_, at| *at >= oldest);
    }

    /// Makes one of all keys of each tree.
    fn widen(&mut self) {
        for point in self.points.drain() {
            let whole = self.whole.entry(point.tree).or_default();
            *whole = point.at.max(*whole);
        }
        self.bytes = 0;
    }
}

impl Ranges {
    /// Throws away what is older than `oldest`; false if nothing is left.
    fn sweep(&mut self, oldest: Timestamp) -> bool {
        self.ranges.retain(|at| *at >= oldest);
        !self.ranges.is_empty() || self.whole >= oldest
    }

    fn size(&self) -> usize {
        self.ranges.len() * 2 * ENTRY_BYTES
    }

    /// Makes one of all.
    fn widen(&mut self) {
        let whole = self.ranges.all().copied().fold(self.whole, Timestamp::max);
        *self = Ranges { whole, ..Ranges::default() };
    }
}

impl ReadStamps {
    /// None yet; the ranges of a tree may occupy `limit` bytes, and all keys [`SHARDS`] / [`PARTS`] times as much. Keys are hashed
    /// from `seed`.
    pub fn new(seed: u64, limit: usize) -> ReadStamps {
        ReadStamps {
            points: (0..SHARDS).map(|_| Mutex::default()).collect(),
            trees: (0..SHARDS).map(|_| Mutex::default()).collect(),
            seed,
            limit,
        }
    }

    /// A key's shard; the table there goes by the lower half of the hash and its uppermost bits.
    fn of_key(&self, hash: u64) -> &Mutex<Points, { rank::TIMESTAMPS }> {
        &self.points[(hash >> 32) as usize % SHARDS]
    }

    fn of_tree(&self, tree: TreeId) -> &Mutex<Trees, { rank::TIMESTAMPS }> {
        &self.trees[tree.0 as usize % SHARDS]
    }

    /// A key has been read; nobody older than `oldest` runs.
    pub fn key(&self, (tree, key): (TreeId, &[u8]), at: Timestamp, oldest: Timestamp) {
        let hash = hash::hash(self.seed, tree, key);
        let shard = &mut *lock(self.of_key(hash));
        let is = |point: &Point| point.tree == tree && hash::same(&point.key, key);
        let point = shard.points.entry(hash, is, |point| point.hash).or_insert_with(|| {
            shard.bytes += key.len() + ENTRY_BYTES;
            Point { hash, tree, key: key.into(), at }
        });
        let last = &mut point.into_mut().at;
        *last = at.max(*last);
        shard.reads += 1;
        let limit = self.limit / PARTS;
        if shard.reads >= SWEEP || shard.bytes > limit {
            shard.reads = 0;
            shard.sweep(oldest);
            // Half, or it would be swept again at once.
            if shard.bytes > limit / 2 {
                shard.widen();
            }
        }
    }

    /// A range has been read.
    pub fn range(
        &self,
        tree: TreeId,
        (low, high): (&Edge, &Edge),
        at: Timestamp,
        oldest: Timestamp,
    ) {
        let shard = &mut *lock(self.of_tree(tree));
        let of_tree = shard.trees.entry(tree).or_default();
        of_tree.ranges.add(low, high, |last| match last.first_mut() {
            Some(last) => *last = at.max(*last),
            None => last.push(at),
        });
        if of_tree.size() > self.limit {
            of_tree.sweep(oldest);
            if of_tree.size() > self.limit / 2 {
                of_tree.widen();
            }
        }
        shard.reads += 1;
        if shard.reads >= SWEEP {
            shard.reads = 0;
            shard.trees.retain(|_, of_tree| of_tree.sweep(oldest));
        }
    }

    /// The youngest that has read a key.
    pub fn of(&self, tree: TreeId, key: &[u8]) -> Timestamp {
        let hash = hash::hash(self.seed, tree, key);
        let of_key = {
            let shard = lock(self.of_key(hash));
            let is = |point: &Point| point.tree == tree && hash::same(&point.key, key);
            let point = shard.points.find(hash, is).map(|point| point.at).unwrap_or_default();
            point.max(shard.whole.get(&tree).copied().unwrap_or_default())
        };
        let shard = lock(self.of_tree(tree));
        let Some(of_tree) = shard.trees.get(&tree) else { return of_key };
        let range = of_tree.ranges.at(key).first().copied().unwrap_or_default();
        of_key.max(range).max(of_tree.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::Bound;
    use storage::chance::Chance;

    const TREE: TreeId = TreeId(9);

    fn edges(low: u8, high: u8) -> (Edge, Edge) {
        (Edge::low(Bound::Included(&[low])), Edge::high(Bound::Included(&[high])))
    }

    /// Against a list of all that was read: no stamp of one that may still be in somebody's way is lost, however little is kept.
    #[test]
    fn no_read_is_forgotten_that_counts() {
        for limit in [300, 2000, 1 << 20] {
            let (stamps, mut chance) = (ReadStamps::new(7, limit), Chance::new(limit as u64));
            let mut all: Vec<(u8, u8, Timestamp)> = Vec::new();
            let mut oldest = Timestamp::default();
            for at in 1..2000u64 {
                oldest = oldest.max(Timestamp(at.saturating_sub(chance.below(50))));
                let low = chance.below(100) as u8;
                let high = low + if chance.below(2) == 0 { 0 } else { chance.below(20) as u8 };
                if low == high {
                    stamps.key((TREE, &[low]), Timestamp(at), oldest);
                } else {
                    let (low, high) = edges(low, high);
                    stamps.range(TREE, (&low, &high), Timestamp(at), oldest);
                }
                all.push((low, high, Timestamp(at)));
                let key = chance.below(120) as u8;
                let inside = all.iter().filter(|(low, high, _)| (*low..=*high).contains(&key));
                let last = inside.map(|(_, _, at)| *at).max().unwrap_or_default();
                let found = stamps.of(TREE, &[key]);
                assert!(found >= last || last < oldest, "{key}: {found:?} for {last:?}");
                assert!(found == last || limit < 1 << 20, "nothing is made of all");
            }
            let ranges = lock(stamps.of_tree(TREE)).trees[&TREE].size();
            let keys = stamps.points.iter().map(|shard| lock(shard).bytes).max();
            assert!(ranges <= limit && keys <= Some(limit / PARTS), "{ranges} {keys:?} of {limit}");
        }
    }

    #[test]
    fn what_is_of_no_use_goes() {
        let stamps = ReadStamps::new(7, 1 << 20);
        let (low, high) = edges(1, 2);
        stamps.range(TreeId(9 + SHARDS as u64), (&low, &high), Timestamp(1), Timestamp(1));
        for at in 2..2 + (SHARDS * SWEEP) as u64 {
            stamps.key((TREE, &at.to_be_bytes()), Timestamp(at), Timestamp(at));
            if at < 2 + SWEEP as u64 {
                stamps.range(TREE, (&low, &high), Timestamp(at), Timestamp(at));
            }
        }
        assert_eq!(lock(stamps.of_tree(TREE)).trees.len(), 1);
        let kept: usize = stamps.points.iter().map(|shard| lock(shard).points.len()).sum();
        assert!(kept < SHARDS * SWEEP / 2, "{kept}");
    }
}
