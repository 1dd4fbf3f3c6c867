//! B+trees of records: `key -> (LSN, value)`, ordered by the bytes of the key.
//!
//! A record carries the LSN of the log record that wrote it. Applying is idempotent: a change is made only if what
//! stands there is older. A delete leaves a *tombstone*, a record without a value, which goes when nobody can need it.
//! There is no undo: what is applied here has committed.

pub mod node;

use crate::sync::{Arc, RwLock};
use crate::{Error, Lsn, Result, TreeId};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::PoisonError;

/// A change of one record, as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<'a> {
    /// The whole value.
    Put(&'a [u8]),
    /// A part of the value: what stands at LSN `base` with `bytes` in place of `from..from + bytes.len()`. On an
    /// absent record it is skipped (its delete follows); on any other base it is corruption.
    Patch {
        /// The record LSN it was made against, which a lock or a validation holds.
        base: Lsn,
        /// Where in the value the new bytes begin.
        from: u32,
        /// The new bytes; the value keeps its length.
        bytes: &'a [u8],
    },
    /// A tombstone.
    Delete,
}

/// What became of [`Tree::apply`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The record now has the given LSN.
    Done,
    /// What stands there is as new, or newer.
    Older,
    /// The leaf is not in memory, or has no room without a wait: nothing has changed.
    WouldWait,
}

/// The order of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Keys grow.
    Forward,
    /// Keys shrink.
    Backward,
}

/// What the layer above keeps to ask later whether a place it has read has changed. Opaque there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadToken(u64, u64, u64);

/// A record as it stands on a page, in a copy that the reader owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// The commit that wrote it; [`Lsn::ZERO`] for a bulk build: as old as the tree.
    pub lsn: Lsn,
    /// Its value; none is a tombstone.
    pub value: Option<&'a [u8]>,
}

/// Where [`Tree::get`] puts what it found; used again and again, it allocates nothing.
#[derive(Debug, Default)]
pub struct RecordBuffer {
    lsn: Lsn,
    tombstone: bool,
    value: Vec<u8>,
    token: ReadToken,
}

impl RecordBuffer {
    /// The commit that wrote the record.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// The value; none for a tombstone.
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        (!self.tombstone).then_some(&self.value)
    }

    /// What to ask [`Tree::unchanged`] with. Also set when nothing was found.
    #[must_use]
    pub fn token(&self) -> ReadToken {
        self.token
    }

    /// Takes another record's contents: an older version, or a transaction's own write.
    pub fn set(&mut self, lsn: Lsn, value: Option<&[u8]>) {
        self.lsn = lsn;
        self.tombstone = value.is_none();
        self.value.clear();
        self.value.extend_from_slice(value.unwrap_or_default());
    }
}

type Stored = (Lsn, Option<Vec<u8>>);

/// One tree.
#[derive(Debug)]
pub struct Tree {
    id: TreeId,
    records: RwLock<BTreeMap<Vec<u8>, Stored>>,
}

impl Tree {
    pub(crate) fn new(id: TreeId) -> Tree {
        Tree { id, records: RwLock::default() }
    }

    /// Which tree it is.
    #[must_use]
    pub fn id(&self) -> TreeId {
        self.id
    }

    /// Finds the record at `key`, a tombstone too. Waits for its page where it is not in memory.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn get(&self, key: &[u8], into: &mut RecordBuffer) -> Result<bool> {
        let records = self.records.read().unwrap_or_else(PoisonError::into_inner);
        Ok(match records.get(key) {
            None => false,
            Some((lsn, value)) => {
                into.set(*lsn, value.as_deref());
                true
            }
        })
    }

    /// Brings the leaf of `key` into memory with room for `growth` more bytes, so that [`Tree::apply`] will most
    /// likely not have to wait.
    ///
    /// # Errors
    /// I/O, corruption, [`Error::Full`], and [`Error::TooLarge`] for a record that no page takes.
    pub fn prepare(&self, _key: &[u8], _growth: usize) -> Result<()> {
        Ok(())
    }

    /// Makes one change that has been logged at `lsn`, if what stands there is older. `before` sees what stood there
    /// first, under the page's latch, and must not wait; it is not called if nothing is changed.
    ///
    /// With `wait` it waits for pages and splits; without, it answers [`Applied::WouldWait`].
    ///
    /// # Errors
    /// I/O and corruption; with `wait` only.
    pub fn apply(
        &self,
        lsn: Lsn,
        key: &[u8],
        change: Change<'_>,
        wait: bool,
        before: &mut dyn FnMut(Option<Record<'_>>),
    ) -> Result<Applied> {
        let _ = wait;
        let mut records = self.records.write().unwrap_or_else(PoisonError::into_inner);
        let old = records.get(key);
        if old.is_some_and(|old| old.0 >= lsn) {
            return Ok(Applied::Older);
        }
        let value = match change {
            Change::Put(value) => Some(value.to_vec()),
            Change::Delete => None,
            Change::Patch { base, from, bytes } => match old {
                None | Some((_, None)) => return Ok(Applied::Older),
                Some((at, _)) if *at != base => {
                    return Err(Error::CorruptLog(format!("a patch of {base} meets {at}")));
                }
                Some((_, Some(value))) => {
                    let mut value = value.clone();
                    value[from as usize..from as usize + bytes.len()].copy_from_slice(bytes);
                    Some(value)
                }
            },
        };
        before(old.map(|(lsn, value)| Record { key, lsn: *lsn, value: value.as_deref() }));
        records.insert(key.to_vec(), (lsn, value));
        Ok(Applied::Done)
    }

    /// Removes the tombstone at `key` if it is still the one of `lsn`. Not logged: redo would replay the delete.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn remove_tombstone(&self, key: &[u8], lsn: Lsn) -> Result<()> {
        let mut records = self.records.write().unwrap_or_else(PoisonError::into_inner);
        if records.get(key).is_some_and(|(at, value)| *at == lsn && value.is_none()) {
            records.remove(key);
        }
        Ok(())
    }

    /// Whether nothing that was read under `token` can have changed since: by structure LSN and change counter.
    #[must_use]
    pub fn unchanged(&self, _token: ReadToken) -> bool {
        false
    }

    /// A cursor, at no place yet.
    #[must_use]
    pub fn cursor(self: &Arc<Self>) -> Cursor {
        Cursor { tree: Arc::clone(self), batch: Vec::new(), at: 0, direction: Direction::Forward }
    }
}

/// A place in a tree that moves record by record. It copies a leaf at a time and holds no latch in between.
#[derive(Debug)]
pub struct Cursor {
    tree: Arc<Tree>,
    batch: Vec<(Vec<u8>, Stored)>,
    at: usize,
    direction: Direction,
}

impl Cursor {
    /// Goes to the first record within the bounds in the given direction; [`Cursor::advance`] hands it out.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn seek(
        &mut self,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
        direction: Direction,
    ) -> Result<()> {
        let records = self.tree.records.read().unwrap_or_else(PoisonError::into_inner);
        self.batch.clear();
        let empty = match (low, high) {
            (Bound::Included(a), Bound::Included(b)) => a > b,
            (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) => {
                a >= b
            }
            _ => false,
        };
        if !empty {
            let range = records.range::<[u8], _>((low, high));
            self.batch.extend(range.map(|(key, stored)| (key.clone(), stored.clone())));
        }
        if direction == Direction::Backward {
            self.batch.reverse();
        }
        self.direction = direction;
        self.at = 0;
        Ok(())
    }

    /// The next record, tombstones too.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn advance(&mut self) -> Result<Option<Record<'_>>> {
        let Some((key, (lsn, value))) = self.batch.get(self.at) else { return Ok(None) };
        self.at += 1;
        Ok(Some(Record { key, lsn: *lsn, value: value.as_deref() }))
    }

    /// The token of the leaf that the last record, or the end, was read from.
    #[must_use]
    pub fn token(&self) -> ReadToken {
        ReadToken::default()
    }
}
