//! Where locks on keys and ranges stand: those of a tree of which only keys are locked in shards, by key, with a latch each; those of any other
//! in one place.
//!
//! Who asks for a key needs to know of the ranges around it, and who waits of all it waits for. But mostly nobody has locked a range
//! or waits, and then two who lock different keys need not meet. Staring into the Abyss (VLDB 2014) has no central lock
//! manager for this reason, and a latch for each tuple.
//!
//! A tree is *gathered* by whoever comes with a range, a lock on all, or a wait: under the tree's latch he goes from shard to shard,
//! takes what is there, and leaves a mark. Who finds the mark asks under the tree's latch instead. When there is nothing but keys again, they are given
//! back to their shards.
//!
//! Invariants. (1) Of a tree a shard has keys, or a mark, and a mark only under the tree's latch or while the tree is in its place.
//! (2) In a shard nobody waits. So who is granted a key in a shard that is not marked yet is met by who gathers, when he comes there.

use super::spans::TreeLocks;
use crate::TreeId;
use crate::record::hash;
use crate::sync::{Mutex, lock, rank};
use rustc_hash::FxHashMap;

/// Latches of trees.
const TREES: usize = 64;
/// Latches of keys: as many are taken in turn by who gathers.
const KEYS: usize = 32;

/// What a shard has of a tree.
#[derive(Debug)]
enum InShard {
    Keys(TreeLocks),
    Gathered,
}

/// All locks on keys and ranges.
#[derive(Debug)]
pub(crate) struct RangeLocks {
    trees: Box<[Mutex<FxHashMap<TreeId, TreeLocks>, { rank::RANGE_LOCKS }>]>,
    keys: Box<[Mutex<FxHashMap<TreeId, InShard>, { rank::RANGE_KEYS }>]>,
}

impl RangeLocks {
    /// No locks.
    pub(crate) fn new() -> RangeLocks {
        RangeLocks::with_shards(TREES, KEYS)
    }

    /// No locks, with so many latches of trees and of keys.
    pub(crate) fn with_shards(trees: usize, keys: usize) -> RangeLocks {
        RangeLocks {
            trees: (0..trees).map(|_| Mutex::default()).collect(),
            keys: (0..keys).map(|_| Mutex::default()).collect(),
        }
    }

    fn of_tree(&self, tree: TreeId) -> &Mutex<FxHashMap<TreeId, TreeLocks>, { rank::RANGE_LOCKS }> {
        &self.trees[tree.0 as usize % self.trees.len()]
    }

    /// The shard of a key. Who aims at one makes others wait for a moment, and nothing longer to look through.
    fn number(&self, tree: TreeId, key: &[u8]) -> usize {
        (hash::hash(0, tree, key) >> 32) as usize % self.keys.len()
    }

    /// Changes locks of a key. What is given with them: whether they are all that is known of the tree, with whoever waits;
    /// otherwise they are keys of which nobody waits, and nobody may begin to.
    pub(super) fn with_key<T>(
        &self,
        tree: TreeId,
        key: &[u8],
        change: impl FnOnce(&mut TreeLocks, bool) -> T,
    ) -> T {
        let number = self.number(tree, key);
        loop {
            let mut shard = lock(&self.keys[number]);
            match shard.get_mut(&tree) {
                None => {
                    let mut locks = TreeLocks::default();
                    let result = change(&mut locks, false);
                    if !locks.is_idle() {
                        shard.insert(tree, InShard::Keys(locks));
                    }
                    return result;
                }
                Some(InShard::Keys(locks)) => {
                    let result = change(locks, false);
                    if locks.is_idle() {
                        shard.remove(&tree);
                    }
                    return result;
                }
                Some(InShard::Gathered) => {}
            }
            drop(shard);
            let mut trees = lock(self.of_tree(tree));
            if let Some(locks) = trees.get_mut(&tree) {
                let result = change(locks, true);
                self.settle(&mut trees, tree);
                return result;
            }
        }
    }

    /// Changes all locks of a tree, which is gathered for that.
    pub(super) fn with_all<T>(&self, tree: TreeId, change: impl FnOnce(&mut TreeLocks) -> T) -> T {
        let mut trees = lock(self.of_tree(tree));
        let result = change(trees.entry(tree).or_insert_with(|| self.gather(tree)));
        self.settle(&mut trees, tree);
        result
    }

    /// Changes all locks of a tree that is gathered; none if it is not: then nobody has locked a range there, or waits.
    pub(super) fn with_gathered<T>(
        &self,
        tree: TreeId,
        change: impl FnOnce(&mut TreeLocks) -> T,
    ) -> Option<T> {
        let mut trees = lock(self.of_tree(tree));
        let result = change(trees.get_mut(&tree)?);
        self.settle(&mut trees, tree);
        Some(result)
    }

    fn gather(&self, tree: TreeId) -> TreeLocks {
        let mut all = TreeLocks::default();
        for shard in &self.keys {
            let before = lock(shard).insert(tree, InShard::Gathered);
            if let Some(InShard::Keys(mut locks)) = before {
                all.points.append(&mut locks.points);
            }
        }
        all
    }

    /// Gives the keys of a tree of which nothing else is locked, and where nobody waits, back to their shards.
    fn settle(&self, trees: &mut FxHashMap<TreeId, TreeLocks>, tree: TreeId) {
        if !trees.get(&tree).is_some_and(TreeLocks::has_keys_only) {
            return;
        }
        let points = trees.remove(&tree).map(|locks| locks.points).unwrap_or_default();
        let mut parts: Vec<TreeLocks> = self.keys.iter().map(|_| TreeLocks::default()).collect();
        for (key, holders) in points {
            parts[self.number(tree, &key)].points.insert(key, holders);
        }
        for (shard, part) in self.keys.iter().zip(parts) {
            let mut shard = lock(shard);
            if part.is_idle() {
                shard.remove(&tree);
            } else {
                shard.insert(tree, InShard::Keys(part));
            }
        }
    }

    /// Whether any part is so, one looked at after the other.
    pub(super) fn any(&self, is: impl Fn(&TreeLocks) -> bool) -> bool {
        let of_shard = |part: &InShard| matches!(part, InShard::Keys(locks) if is(locks));
        self.keys.iter().any(|shard| lock(shard).values().any(of_shard))
            || self.trees.iter().any(|trees| lock(trees).values().any(&is))
    }

    /// Shows what there is, part by part.
    pub(super) fn see(&self, see: &mut dyn FnMut(TreeId, &TreeLocks)) {
        for (number, trees) in self.trees.iter().enumerate() {
            // Held meanwhile, so that no key goes from its shard to its tree, or back, unseen.
            let trees = lock(trees);
            trees.iter().for_each(|(tree, locks)| see(*tree, locks));
            for shard in &self.keys {
                for (tree, locks) in &*lock(shard) {
                    if let InShard::Keys(locks) = locks
                        && tree.0 as usize % self.trees.len() == number
                    {
                        see(*tree, locks);
                    }
                }
            }
        }
    }
}

impl Default for RangeLocks {
    fn default() -> Self {
        RangeLocks::new()
    }
}
