//! Which keys may have been written: a Bloom filter of the form that runs have.

use crate::TreeId;
use crate::record::hash::brief;
use crate::run::filter_place;

/// Which keys in memory may have been written. It only forgets when all is forgotten; a large set fills it, and it is of no
/// use then, nor asked. Of keys that have not been written one in 700 passes where 30 have been, one in 40 at 100, one in five
/// at 300. Keys that begin and end alike meet here, which slows nobody but the transaction that wrote them.
#[derive(Debug, Default)]
pub(super) struct Filter {
    words: [u64; Filter::WORDS],
    keys: usize,
}

impl Filter {
    const WORDS: usize = 16;
    /// Keys that fill it: of others every second passes.
    const FULL: usize = 512;

    /// Whether it is of no use any more.
    pub(super) fn is_full(&self) -> bool {
        self.keys >= Filter::FULL
    }

    fn place(tree: TreeId, key: &[u8]) -> (usize, u64) {
        filter_place(brief(tree, key), Filter::WORDS)
    }

    /// Adds a key; whether it may have been there.
    pub(super) fn add(&mut self, tree: TreeId, key: &[u8]) -> bool {
        if self.is_full() {
            return true;
        }
        let (word, bits) = Filter::place(tree, key);
        let before = self.words[word];
        self.words[word] |= bits;
        let was_there = before & bits == bits;
        self.keys += usize::from(!was_there);
        was_there
    }

    /// Whether a key may have been written.
    pub(super) fn may_have(&self, tree: TreeId, key: &[u8]) -> bool {
        if self.is_full() {
            return true;
        }
        let (word, bits) = Filter::place(tree, key);
        self.words[word] & bits == bits
    }
}
