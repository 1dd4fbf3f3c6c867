//! The leaves that were read last, one for each of a few trees: whoever has looked for a key, to lock it or to insert it, need not
//! descend to its leaf again when the write is committed, nor who inserts keys beside each other.
//!
//! What is remembered is never believed: storage compares the page with the token and its fences with the key. So nothing
//! has to be forgotten here, not when a transaction ends, nor when trees change or go. The same holds of the gaps between
//! keys that were found beside them.

use crate::TreeId;
use storage::{Gap, ReadToken};

/// Trees that are remembered: those of a transaction that touches a few tables, if their numbers do not meet.
const TREES: usize = 16;

/// The leaves, and where in each a key was missed last, by the lowest bits of their trees' numbers.
#[derive(Debug)]
pub(crate) struct Leaves {
    read: [(TreeId, ReadToken); TREES],
    gaps: [Gap; TREES],
}

impl Default for Leaves {
    fn default() -> Leaves {
        let read = [(TreeId(u64::MAX), ReadToken::NOWHERE); TREES];
        Leaves { read, gaps: Default::default() }
    }
}

impl Leaves {
    /// Where in `tree` was read last, if it is known.
    #[inline]
    pub(crate) fn of(&self, tree: TreeId) -> &ReadToken {
        let (known, leaf) = &self.read[tree.0 as usize % TREES];
        if *known == tree { leaf } else { &ReadToken::NOWHERE }
    }

    /// A leaf of `tree` has been read.
    #[inline]
    pub(crate) fn note(&mut self, tree: TreeId, leaf: ReadToken) {
        self.read[tree.0 as usize % TREES] = (tree, leaf);
    }

    /// Between which keys of a leaf nothing stood: of `tree`, or of another that has its place.
    #[inline]
    pub(crate) fn gap(&mut self, tree: TreeId) -> &mut Gap {
        &mut self.gaps[tree.0 as usize % TREES]
    }
}

#[cfg(test)]
mod tests {
    use super::{Leaves, ReadToken, TREES};
    use crate::tests::{World, key, small};
    use crate::{Isolation, Options, RecordBuffer, RowLock, Transaction, TreeId, WaitPolicy};

    #[test]
    fn a_tree_has_its_own_last_leaf_or_none() {
        let world = World::new(small());
        world.set(b"a", Some(b"1"));
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        let view = txn.begin_statement().unwrap();
        let mut found = crate::RecordBuffer::default();
        txn.get(&view, &world.tree, b"a", &mut found).unwrap();
        let id = world.tree.id();
        assert_ne!(*txn.state().leaves.of(id), ReadToken::NOWHERE);
        let mut leaves = Leaves::default();
        assert_eq!(*leaves.of(id), ReadToken::NOWHERE);
        leaves.note(id, *txn.state().leaves.of(id));
        assert_eq!(*leaves.of(TreeId(id.0 + TREES as u64)), ReadToken::NOWHERE);
        leaves.note(TreeId(id.0 + TREES as u64), ReadToken::NOWHERE);
        assert_eq!(*leaves.of(id), ReadToken::NOWHERE, "another tree has its place");
    }

    #[test]
    fn who_claims_one_key_behind_another_finds_what_others_put_there_meanwhile() {
        // Late commits are applied by another way.
        for late_writes in [0, usize::MAX] {
            let world = World::new(Options { late_writes, ..small() });
            for number in [0, 500] {
                world.set(&key(number), Some(b"0"));
            }
            let mut txn = world.begin(Isolation::ReadCommitted, 1);
            txn.begin_statement().unwrap();
            let mut found = RecordBuffer::default();
            let mut is_taken = |txn: &mut Transaction, number| {
                let (key, block) = (key(number), WaitPolicy::Block);
                txn.lock_key(&world.tree, &key, RowLock::Update, block, &mut found).unwrap()
            };
            for round in (0..400).step_by(20) {
                for number in (1..8).map(|number| round + number) {
                    assert!(!is_taken(&mut txn, number));
                    txn.put(&world.tree, &key(number), b"1").unwrap();
                }
                // Others fill the leaf until it is cut, above the last key.
                for number in 10..20 {
                    world.set(&key(round + number), Some(&[2; 100]));
                }
                world.set(&key(round + 12), None);
                for number in 8..20 {
                    let there = number >= 10 && number != 12;
                    assert_eq!(is_taken(&mut txn, round + number), there, "{number}");
                }
                assert!(is_taken(&mut txn, round + 7), "its own are there");
            }
            let _ = txn.rollback();
        }
    }
}
