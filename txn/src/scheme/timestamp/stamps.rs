//! Read timestamps: the youngest transaction that has read a key, whether there was a record or not.
//!
//! They stand on keys, on ranges, and on whole trees. Only writers that still run and are older are refused for their sake, so
//! what is older than all that run is thrown away, every so often. Past a limit those of a tree become one on the tree: too many
//! writers are refused then, never too few.

use crate::lock::segments::{Edge, Segments};
use crate::sync::{Mutex, lock, rank};
use crate::{Timestamp, TreeId};
use std::collections::HashMap;

/// Latches.
const SHARDS: usize = 64;
/// Bytes of a key's copy and what stands around it, roughly.
const ENTRY_BYTES: usize = 96;
/// Reads of a shard after which what is of no use any more is thrown away.
const SWEEP: usize = 4096;

/// Those of one tree.
#[derive(Debug, Default)]
struct OfTree {
    points: HashMap<Box<[u8]>, Timestamp>,
    bytes: usize,
    ranges: Segments<Timestamp>,
    whole: Timestamp,
}

#[derive(Debug, Default)]
struct Shard {
    trees: HashMap<TreeId, OfTree>,
    /// Reads since the last sweep.
    reads: usize,
}

/// Read timestamps of all trees.
#[derive(Debug)]
pub struct ReadStamps {
    shards: Box<[Mutex<Shard, { rank::TIMESTAMPS }>]>,
    /// What a tree's may occupy, in bytes.
    limit: usize,
}

impl OfTree {
    /// Throws away what is older than `oldest`; false if nothing is left.
    fn sweep(&mut self, oldest: Timestamp) -> bool {
        self.points.retain(|_, at| *at >= oldest);
        self.bytes = self.points.keys().map(|key| key.len() + ENTRY_BYTES).sum();
        self.ranges.retain(|at| *at >= oldest);
        !self.points.is_empty() || !self.ranges.is_empty() || self.whole >= oldest
    }

    fn size(&self) -> usize {
        self.bytes + self.ranges.len() * 2 * ENTRY_BYTES
    }

    /// Makes one of all.
    fn widen(&mut self) {
        let all = self.points.values().chain(self.ranges.all()).copied();
        let whole = all.fold(self.whole, Timestamp::max);
        *self = OfTree { whole, ..OfTree::default() };
    }
}

impl ReadStamps {
    /// None yet; those of a tree may occupy `limit` bytes.
    pub fn new(limit: usize) -> ReadStamps {
        ReadStamps { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), limit }
    }

    fn change(&self, tree: TreeId, oldest: Timestamp, change: impl FnOnce(&mut OfTree)) {
        let shard = &mut *lock(&self.shards[tree.0 as usize % SHARDS]);
        let of_tree = shard.trees.entry(tree).or_default();
        change(of_tree);
        if of_tree.size() > self.limit {
            of_tree.sweep(oldest);
            // Half, or it would be swept again at once.
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

    /// A key has been read; nobody older than `oldest` runs.
    pub fn key(&self, (tree, key): (TreeId, &[u8]), at: Timestamp, oldest: Timestamp) {
        self.change(tree, oldest, |of_tree| match of_tree.points.get_mut(key) {
            Some(last) => *last = at.max(*last),
            None => {
                of_tree.points.insert(key.into(), at);
                of_tree.bytes += key.len() + ENTRY_BYTES;
            }
        });
    }

    /// A range has been read.
    pub fn range(
        &self,
        tree: TreeId,
        (low, high): (&Edge, &Edge),
        at: Timestamp,
        oldest: Timestamp,
    ) {
        self.change(tree, oldest, |of_tree| {
            of_tree.ranges.add(low, high, |last| match last.first_mut() {
                Some(last) => *last = at.max(*last),
                None => last.push(at),
            });
        });
    }

    /// The youngest that has read a key.
    pub fn of(&self, tree: TreeId, key: &[u8]) -> Timestamp {
        let shard = lock(&self.shards[tree.0 as usize % SHARDS]);
        let Some(of_tree) = shard.trees.get(&tree) else { return Timestamp::default() };
        let point = of_tree.points.get(key).copied().unwrap_or_default();
        let range = of_tree.ranges.at(key).first().copied().unwrap_or_default();
        point.max(range).max(of_tree.whole)
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
            let (stamps, mut chance) = (ReadStamps::new(limit), Chance::new(limit as u64));
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
            let size = lock(&stamps.shards[TREE.0 as usize % SHARDS]).trees[&TREE].size();
            assert!(size <= limit, "{size} of {limit}");
        }
    }

    #[test]
    fn what_is_of_no_use_goes() {
        let stamps = ReadStamps::new(1 << 20);
        stamps.key((TreeId(9 + SHARDS as u64), b"a"), Timestamp(1), Timestamp(1));
        for at in 2..2 + SWEEP as u64 {
            stamps.key((TREE, &at.to_be_bytes()), Timestamp(at), Timestamp(at));
        }
        let shard = lock(&stamps.shards[TREE.0 as usize % SHARDS]);
        assert_eq!(shard.trees.len(), 1);
        assert!(shard.trees[&TREE].points.len() < 3);
    }
}
