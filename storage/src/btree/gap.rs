//! The gap between two keys of a leaf: as long as the leaf has not changed, nothing stands there.
//!
//! Who inserts one key behind another asks of each whether it is taken. The first look finds where the key belongs; the second
//! that comes to the same place says what stands on both sides; and those that follow need no more than their leaf's change
//! counter. As with a [`ReadToken`], nothing remembered is believed: a leaf that has been changed, cut, or freed is read again.

use super::node::Place;
use super::{ReadToken, Tree};
use crate::page::Page;
use crate::page::racy::key_chunk;

/// Keys of a leaf between which nothing stands.
#[derive(Debug, Default)]
pub struct Gap {
    /// As the leaf was; nowhere if there is no gap.
    token: ReadToken,
    /// A key that was not there, from which it reaches to `high`.
    low: Edge,
    /// The next key of the leaf, or its high fence; none where the tree ends there.
    high: Option<Edge>,
}

/// A key, and how it begins, as a number whose order is theirs.
#[derive(Debug, Default)]
struct Edge {
    chunk: u64,
    key: Vec<u8>,
}

impl Edge {
    /// Takes the key that `read` appends.
    fn set(&mut self, read: impl FnOnce(&mut Vec<u8>)) {
        self.key.clear();
        read(&mut self.key);
        self.chunk = key_chunk(&self.key);
    }

    #[inline]
    fn is_below(&self, chunk: u64, key: &[u8]) -> bool {
        self.chunk < chunk || self.chunk == chunk && self.key.as_slice() < key
    }

    #[inline]
    fn is_above(&self, chunk: u64, key: &[u8]) -> bool {
        self.chunk > chunk || self.chunk == chunk && self.key.as_slice() > key
    }
}

impl Gap {
    /// Whether a key lies within it, as it was.
    #[inline]
    fn holds(&self, key: &[u8]) -> bool {
        let chunk = key_chunk(key);
        self.low.is_below(chunk, key)
            && self.high.as_ref().is_none_or(|high| high.is_above(chunk, key))
    }

    /// A key has been looked for in a leaf, under `token`, and is not at its place.
    pub(super) fn read(&mut self, page: Page<'_>, Place { slot, .. }: Place, key: &[u8]) {
        self.token = ReadToken::NOWHERE;
        self.low.set(|low| low.extend_from_slice(key));
        let high = self.high.get_or_insert_default();
        if slot < page.slots() {
            high.set(|high| page.append_key(slot, high));
        } else if page.high_is_infinite() {
            self.high = None;
        } else {
            high.set(|high| page.append_high(high));
        }
    }

    /// What was read of the leaf is true of it under `token`.
    pub(super) fn stands_under(&mut self, token: ReadToken) {
        self.token = token;
    }
}

impl Tree {
    /// Whether `key` is known not to be there: it lies in a gap of a leaf that has not changed since.
    #[inline]
    #[must_use]
    pub fn is_in_gap(&self, key: &[u8], gap: &Gap) -> bool {
        if gap.token == ReadToken::NOWHERE || !gap.holds(key) || !self.unchanged(gap.token) {
            return false;
        }
        self.count_hints(1);
        true
    }
}
