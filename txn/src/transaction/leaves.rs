//! The leaves that were read last, one for each of a few trees: whoever has looked for a key, to lock it or to insert it, need not
//! descend to its leaf again when the write is committed, nor who inserts keys beside each other.
//!
//! What is remembered is never believed: storage compares the page with the token and its fences with the key. So nothing
//! has to be forgotten here, not when a transaction ends, nor when trees change or go.

use crate::TreeId;
use storage::ReadToken;

/// Trees that are remembered: those of a transaction that touches a few tables, if their numbers do not meet.
const TREES: usize = 16;

/// The leaves, by the lowest bits of their trees' numbers.
#[derive(Debug)]
pub(crate) struct Leaves([(TreeId, ReadToken); TREES]);

impl Default for Leaves {
    fn default() -> Leaves {
        Leaves([(TreeId(u64::MAX), ReadToken::NOWHERE); TREES])
    }
}

impl Leaves {
    /// Where in `tree` was read last, if it is known.
    #[inline]
    pub(crate) fn of(&self, tree: TreeId) -> &ReadToken {
        let (known, leaf) = &self.0[tree.0 as usize % TREES];
        if *known == tree { leaf } else { &ReadToken::NOWHERE }
    }

    /// A leaf of `tree` has been read.
    #[inline]
    pub(crate) fn note(&mut self, tree: TreeId, leaf: ReadToken) {
        self.0[tree.0 as usize % TREES] = (tree, leaf);
    }
}

#[cfg(test)]
mod tests {
    use super::{Leaves, ReadToken, TREES};
    use crate::tests::{World, small};
    use crate::{Isolation, TreeId};

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
}
