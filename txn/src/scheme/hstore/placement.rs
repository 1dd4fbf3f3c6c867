//! Where the entries of a tree are: in which partition, or with which rows.
//!
//! The layer above says it of its tables' trees, since it alone knows what a key is made of and which index belongs to which table. A
//! tree that nothing has been said of is in all partitions: nothing is read or written there that another transaction could be in
//! the way of. So it may be said late, and of one tree after the other.

use crate::TreeId;
use crate::record::hash::hash;
use crate::scheme::occ::Bounds;
use crate::sync::RwLock;
use rustc_hash::FxHashMap;
use std::ops::Bound;
use std::sync::PoisonError;

/// How the bytes of a column in a key end.
#[derive(Clone, Copy, Debug)]
pub enum ColumnEnd {
    /// After so many.
    Fixed(u8),
    /// With the first that is zero.
    Zero,
    /// With the first that is zero and followed by another zero.
    TwoZeros,
    /// Where this finds that it does.
    At(fn(&[u8]) -> Option<usize>),
}

/// The first column of the keys of a tree.
#[derive(Clone, Copy, Debug)]
pub struct FirstColumn {
    /// Bytes before its value, which say that there is one.
    pub marker: u8,
    /// How it ends.
    pub end: ColumnEnd,
}

/// Where a tree's entries are.
#[derive(Clone, Copy, Debug)]
pub enum Placement {
    /// In the partition of the first column of their key.
    ByKey(FirstColumn),
    /// With their rows, whose partitions their keys do not tell: whoever has written the row may write them, whoever reads them may
    /// find those of any.
    WithRows,
    /// With their rows, which alone lead there; or of one session only.
    BehindRows,
}

/// What has been said.
#[derive(Debug, Default)]
pub(crate) struct Placements(RwLock<FxHashMap<TreeId, Placement>>);

impl FirstColumn {
    /// The column's bytes and what ends them; none if the key ends before that.
    fn of(self, key: &[u8]) -> Option<&[u8]> {
        let value = key.get(usize::from(self.marker)..)?;
        let end = match self.end {
            ColumnEnd::Fixed(bytes) => usize::from(bytes),
            ColumnEnd::Zero => value.iter().position(|byte| *byte == 0)? + 1,
            ColumnEnd::TwoZeros => two_zeros(value)? + 2,
            ColumnEnd::At(end) => end(value)?,
        };
        value.get(..end)
    }

    /// Which of `count` partitions a key is in; none if the key ends before the column does.
    #[must_use]
    pub fn partition(self, key: &[u8], count: usize) -> Option<u16> {
        // The same of equal columns, whatever tree they stand in.
        let hash = hash(0, TreeId(0), self.of(key)?);
        Some((hash % count as u64) as u16)
    }

    /// In which of `count` partitions all keys of a range are, if that is one.
    pub(crate) fn partition_of_range(self, (low, high): Bounds<'_>, count: usize) -> Option<u16> {
        let (Bound::Included(low) | Bound::Excluded(low)) = low else { return None };
        let end = usize::from(self.marker) + self.of(low)?.len();
        let column = &low[..end];
        let inside = match high {
            Bound::Included(high) => high.starts_with(column),
            // The end of the keys that begin with the column is the next byte string behind them all.
            Bound::Excluded(high) => high.starts_with(column) || is_next(column, high),
            Bound::Unbounded => false,
        };
        if inside { self.partition(low, count) } else { None }
    }
}

/// Where the first zero is that another one follows; any other byte behind a zero belongs to it.
fn two_zeros(value: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += value.get(at..)?.iter().position(|byte| *byte == 0)?;
        if *value.get(at + 1)? == 0 {
            return Some(at);
        }
        at += 2;
    }
}

/// Whether no byte string that does not begin with `prefix` lies between it and `next`.
fn is_next(prefix: &[u8], next: &[u8]) -> bool {
    let kept = prefix.iter().rposition(|byte| *byte < 0xFF).map_or(0, |at| at + 1);
    let Some((last, before)) = prefix[..kept].split_last() else { return false };
    next.split_last() == Some((&(last + 1), before))
}

impl Placements {
    pub(crate) fn of(&self, tree: TreeId) -> Option<Placement> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(&tree).copied()
    }

    pub(crate) fn set(&self, tree: TreeId, placement: Placement) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(tree, placement);
    }

    pub(crate) fn forget(&self, tree: TreeId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&tree);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KINDS: [FirstColumn; 4] = [
        FirstColumn { marker: 0, end: ColumnEnd::Fixed(4) },
        FirstColumn { marker: 1, end: ColumnEnd::Fixed(2) },
        FirstColumn { marker: 0, end: ColumnEnd::Zero },
        FirstColumn { marker: 1, end: ColumnEnd::TwoZeros },
    ];

    #[test]
    fn a_column_is_found_at_the_front_of_its_key() {
        let of = |kind: usize, key: &'static [u8]| KINDS[kind].of(key);
        assert_eq!(of(0, b"abcdefg"), Some(&b"abcd"[..]));
        assert_eq!(of(0, b"abc"), None);
        assert_eq!(of(1, b"\x01abc"), Some(&b"ab"[..]));
        assert_eq!(of(2, b"abc\0def"), Some(&b"abc\0"[..]));
        assert_eq!(of(2, b"\0"), Some(&b"\0"[..]));
        assert_eq!(of(2, b"abc"), None);
        assert_eq!(of(3, b"\x01a\0\xFFb\0\0c"), Some(&b"a\0\xFFb\0\0"[..]));
        assert_eq!(of(3, b"\x01a\0"), None);
        // With and without a marker it is the same partition.
        let bare = FirstColumn { marker: 0, end: ColumnEnd::Fixed(2) };
        assert_eq!(bare.partition(b"ab", 64), KINDS[1].partition(b"\x01abc", 64));
    }

    proptest! {
        /// A range that is said to be in one partition has no key of another column.
        #[test]
        fn a_range_of_one_partition_has_one_first_column(
            kind in 0..KINDS.len(),
            bytes in proptest::array::uniform3(proptest::collection::vec(prop_oneof![0..3u8, 0xFEu8..=0xFF], 0..7)),
            included in any::<[bool; 2]>(),
        ) {
            let (column, [low, high, key]) = (KINDS[kind], &bytes);
            let bound = |key, included| if included { Bound::Included(key) } else { Bound::Excluded(key) };
            let range = (bound(&low[..], included[0]), bound(&high[..], included[1]));
            if let Some(partition) = column.partition_of_range(range, 1000)
                && std::ops::RangeBounds::<[u8]>::contains(&range, &key[..])
                && let Some(found) = column.of(key)
            {
                prop_assert_eq!(Some(found), column.of(low));
                prop_assert_eq!(column.partition(key, 1000), Some(partition));
            }
        }

        /// All that begins with a whole column, and what follows it, is one partition's, as the layer above asks for it.
        #[test]
        fn a_prefix_is_in_one_partition(kind in 0..KINDS.len(), mut key in proptest::collection::vec(0..0xFFu8, 4), more in proptest::collection::vec(any::<u8>(), 0..4)) {
            if kind > 1 {
                key.extend([0, 0]);
            }
            key.extend(more);
            let mut end = key.clone();
            while end.pop_if(|last| *last == 0xFF).is_some() {}
            *end.last_mut().expect("a column has other bytes") += 1;
            let range = (Bound::Included(&key[..]), Bound::Excluded(&end[..]));
            let found = KINDS[kind].partition(&key, 1000);
            prop_assert!(found.is_some());
            prop_assert_eq!(KINDS[kind].partition_of_range(range, 1000), found);
        }
    }
}
