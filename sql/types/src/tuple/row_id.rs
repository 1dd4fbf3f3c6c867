//! Hidden row ids: keys of tables without a primary key, and ids of long values.
//!
//! A counter per tree lives in memory. It begins behind the largest key in the tree, and in what had been prepared, when
//! somebody first asks after a start, so it needs no log of its own: an id that was handed out and not committed may be
//! handed out again after a restart, when nobody can know of it. Sessions take ranges, so that what a session inserts
//! stays together and in order, and the right edge of the tree is no meeting point of all sessions.
//!
//! Where rows are in partitions (`hstore`), ids that differ in their last byte only are in one: a block. Such a row is nobody's until it
//! is inserted, so its id is chosen from a block of a partition that its transaction is in.

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::collections::HashMap;
use std::ops::{Bound, Range};
use std::sync::Arc;
use txn::sync::{Mutex, lock, rank};
use txn::{Direction, Manager, Tree, TreeId};

/// The first range a session takes of a tree; each next one is twice as long, up to [`RANGE_MAX`].
const RANGE_FIRST: u64 = 8;
/// The longest range.
const RANGE_MAX: u64 = 1024;
/// Ids of one block.
const BLOCK: u64 = 1 << u8::BITS;
/// How many bytes say of an id in which block it is.
pub const BLOCK_BYTES: u8 = size_of::<u64>() as u8 - 1;

/// The counters of all trees, shared by all sessions.
#[derive(Debug, Default)]
pub struct RowIds {
    next: Mutex<HashMap<TreeId, u64>, { rank::IDENTIFIERS }>,
    /// The greatest ids of rows that are in no tree yet: what had been prepared before the server started.
    prepared: HashMap<TreeId, u64>,
}

/// The ranges a session has left.
#[derive(Debug, Default)]
pub struct SessionRowIds {
    ranges: HashMap<TreeId, (Range<u64>, u64)>,
}

/// What `ctid` shows: the last six bytes of the row's key, as block and offset.
#[must_use]
pub fn row_number(key: &[u8]) -> i64 {
    key.iter().rev().take(6).rev().fold(0, |number, byte| number << 8 | i64::from(*byte))
}

impl RowIds {
    /// For a directory that has just been opened.
    #[must_use]
    pub fn of(manager: &Manager) -> RowIds {
        let keys = manager.prepared_last_keys().into_iter();
        RowIds {
            prepared: keys.map(|(tree, key)| (tree, id_of(&key))).collect(),
            ..RowIds::default()
        }
    }

    /// The next ids that `end` ends behind the first of them.
    fn take(&self, tree: &Arc<Tree>, end: impl FnOnce(u64) -> Option<u64>) -> Result<Range<u64>> {
        let known = lock(&self.next).contains_key(&tree.id());
        // Reading a page may wait: nobody waits for it here. Who comes first says where the counter begins.
        let none_left =
            || SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "no row identifiers are left");
        let first = match known {
            true => 0,
            false => {
                let prepared = self.prepared.get(&tree.id()).copied().unwrap_or(0);
                last_id(tree)?.max(prepared).checked_add(1).ok_or_else(none_left)?
            }
        };
        let mut next = lock(&self.next);
        let at = next.entry(tree.id()).or_insert(first);
        let range = *at..end(*at).ok_or_else(none_left)?;
        *at = range.end;
        Ok(range)
    }

    /// Forgets the counter of a tree that is gone.
    pub fn forget(&self, tree: TreeId) {
        lock(&self.next).remove(&tree);
    }
}

/// The id that the last key of a tree begins with; 0 if there is none.
fn last_id(tree: &Arc<Tree>) -> Result<u64> {
    let mut cursor = tree.cursor();
    cursor
        .seek(Bound::Unbounded, Bound::Unbounded, Direction::Backward)
        .map_err(txn::Error::from)?;
    let last = cursor.advance().map_err(txn::Error::from)?;
    Ok(last.map_or(0, |record| id_of(record.key)))
}

/// The id that a key begins with; 0 if it has none.
fn id_of(key: &[u8]) -> u64 {
    key.first_chunk().copied().map_or(0, u64::from_be_bytes)
}

impl SessionRowIds {
    /// The next id in `tree`.
    ///
    /// # Errors
    /// Storage's, on the first call for a tree; 54000 when all have been given.
    pub fn next(&mut self, ids: &RowIds, tree: &Arc<Tree>) -> Result<u64> {
        let (range, length) = self.ranges.entry(tree.id()).or_insert((0..0, RANGE_FIRST));
        if range.is_empty() {
            *range = ids.take(tree, |first| first.checked_add(*length))?;
            *length = (*length * 2).min(RANGE_MAX);
        }
        let id = range.start;
        range.start += 1;
        Ok(id)
    }

    /// The next id in `tree` whose block is a good one, where some are.
    ///
    /// # Errors
    /// As [`SessionRowIds::next`].
    pub fn next_of(
        &mut self,
        ids: &RowIds,
        tree: &Arc<Tree>,
        is_good: impl Fn(u64) -> bool,
    ) -> Result<u64> {
        let (range, _) = self.ranges.entry(tree.id()).or_insert((0..0, RANGE_FIRST));
        while range.is_empty() || !is_good(range.start) {
            *range = ids.take(tree, |first| (first - first % BLOCK).checked_add(BLOCK))?;
        }
        let id = range.start;
        range.start += 1;
        Ok(id)
    }
}
