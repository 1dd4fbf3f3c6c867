//! Deltas: of an update the log gets the bytes that have changed, where that is shorter than the whole value.
//!
//! A delta says which bytes of which base are others now, and names the base by its LSN. The base is what stands on the
//! page when the commit gets ready, and it stays that until the commit is applied, because the writer of an update
//! holds the record's lock ([`crate::Transaction::update`]); what is not locked is logged whole. Who has just read the record
//! behind its lock knows the base as soon as it writes, and the commit need not look at the page again. In recovery the
//! record is on the page at just that LSN when the delta's turn comes, or the page is newer, or a delete follows.
//!
//! Only values of one length are compared, and one range covers all that differs: rows keep columns of fixed width at
//! fixed places for this.

use super::Write;
use crate::Lsn;
use std::ops::Range;
use storage::{Change, RecordBuffer};

/// What a delta takes in the log beyond its bytes, and more than an image does: the base and two short numbers.
const DELTA_BYTES: usize = 12;

/// How one write of a commit is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    Whole,
    /// These bytes of its value, over what stands at `base`.
    Delta {
        /// The LSN of what stands there.
        base: Lsn,
        /// The first of them.
        from: u32,
        /// The first behind them.
        to: u32,
    },
}

impl Form {
    /// The shorter form of `write` over the record that stands there, if one does.
    pub(crate) fn of(write: &Write<'_>, there: Option<&RecordBuffer>) -> Form {
        let there = there.filter(|_| write.update).zip(write.value);
        there.and_then(|(there, new)| Form::delta(new, there)).unwrap_or(Form::Whole)
    }

    /// The delta that makes `new` of the record that stands there; none if the whole is as short.
    pub(crate) fn delta(new: &[u8], there: &RecordBuffer) -> Option<Form> {
        let old = there.value().filter(|old| old.len() == new.len())?;
        let changed = changed(old, new);
        let (from, to) = (changed.start as u32, changed.end as u32);
        let shorter = changed.len() + DELTA_BYTES < new.len();
        shorter.then_some(Form::Delta { base: there.lsn(), from, to })
    }

    /// What is logged of `write`.
    pub(crate) fn change<'w>(self, write: &Write<'w>) -> Change<'w> {
        match (self, write.value) {
            (Form::Delta { base, from, to }, Some(value)) => {
                Change::Patch { base, from, bytes: &value[from as usize..to as usize] }
            }
            (Form::Whole | Form::Delta { .. }, value) => value.map_or(Change::Delete, Change::Put),
        }
    }

    /// The planted fault: the last byte that has changed is left out.
    pub(crate) fn cut_short(self) -> Form {
        match self {
            Form::Delta { base, from, to } => Form::Delta { base, from, to: to.max(from + 1) - 1 },
            Form::Whole => Form::Whole,
        }
    }
}

/// How many bytes are compared at once, as long as they are the same.
const BLOCK: usize = 32;

/// The range outside of which two values of one length are the same.
fn changed(old: &[u8], new: &[u8]) -> Range<usize> {
    let from = same_at_beginning(old, new);
    // What changes in a row mostly lies together: then what is behind it is compared at once.
    let near = (from + BLOCK).min(new.len());
    let to = if old[near..] == new[near..] { near } else { new.len() };
    from..to - same_at_end(&old[from..to], &new[from..to])
}

/// How many bytes are the same from the first on.
fn same_at_beginning(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.as_chunks::<BLOCK>().0.iter().zip(new.as_chunks::<BLOCK>().0);
    let mut same = blocks.take_while(|(old, new)| old == new).count() * BLOCK;
    let (old, new) = (old[same..].as_chunks::<8>(), new[same..].as_chunks::<8>());
    for (old, new) in old.0.iter().zip(new.0) {
        let differs = u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new);
        if differs != 0 {
            return same + differs.trailing_zeros() as usize / 8;
        }
        same += 8;
    }
    same + old.1.iter().zip(new.1).take_while(|(old, new)| old == new).count()
}

/// How many bytes are the same up to the last.
fn same_at_end(old: &[u8], new: &[u8]) -> usize {
    let blocks = old.as_rchunks::<BLOCK>().1.iter().zip(new.as_rchunks::<BLOCK>().1).rev();
    let mut same = blocks.take_while(|(old, new)| old == new).count() * BLOCK;
    let left = old.len() - same;
    let (old, new) = (old[..left].as_rchunks::<8>(), new[..left].as_rchunks::<8>());
    for (old, new) in old.1.iter().zip(new.1).rev() {
        let differs = u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new);
        if differs != 0 {
            return same + differs.leading_zeros() as usize / 8;
        }
        same += 8;
    }
    same + old.0.iter().zip(new.0).rev().take_while(|(old, new)| old == new).count()
}

#[cfg(test)]
mod tests {
    use super::super::Met;
    use super::*;
    use crate::{CommandId, TreeId};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_delta_makes_the_new_value_of_the_old(
            old in proptest::collection::vec(0u8..3, 0..120),
            edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        ) {
            let mut new = old.clone();
            for (at, byte) in edits {
                if !new.is_empty() {
                    let at = at.index(new.len());
                    new[at] = byte;
                }
            }
            let range = changed(&old, &new);
            let mut made = old.clone();
            made[range.clone()].copy_from_slice(&new[range.clone()]);
            prop_assert_eq!(&made, &new);
            let first = (0..new.len()).find(|at| old[*at] != new[*at]);
            let last = (0..new.len()).rfind(|at| old[*at] != new[*at]);
            match (first, last) {
                (Some(first), Some(last)) => prop_assert_eq!(range, first..last + 1),
                _ => prop_assert!(range.is_empty()),
            }
        }
    }

    #[test]
    fn only_a_locked_record_of_the_same_length_is_a_base() {
        let mut there = RecordBuffer::default();
        there.set(Lsn(7), Some(&[1; 40]));
        let mut value = [1; 40];
        value[9] = 2;
        let write = |value, update| Write {
            tree: TreeId(1),
            key: b"k",
            value,
            command: CommandId(1),
            update,
            anew: false,
            met: &Met::NOWHERE,
        };
        let update = write(Some(&value[..]), true);
        let patch = Change::Patch { base: Lsn(7), from: 9, bytes: &[2] };
        assert_eq!(Form::of(&update, Some(&there)).change(&update), patch);
        let whole = Change::Put(&value);
        assert_eq!(Form::of(&update, None).change(&update), whole);
        let unlocked = write(Some(&value[..]), false);
        assert_eq!(Form::of(&unlocked, Some(&there)).change(&unlocked), whole);
        let shorter = write(Some(&value[..39]), true);
        assert_eq!(Form::of(&shorter, Some(&there)).change(&shorter), Change::Put(&value[..39]));
        there.set(Lsn(8), None);
        assert_eq!(Form::of(&update, Some(&there)).change(&update), whole);
        there.set(Lsn(9), Some(&[3; 40]));
        assert_eq!(Form::of(&update, Some(&there)).change(&update), whole, "all of it has changed");
        let gone = write(None, false);
        assert_eq!(Form::of(&gone, Some(&there)).change(&gone), Change::Delete);
    }
}
