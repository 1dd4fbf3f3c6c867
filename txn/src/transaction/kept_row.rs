//! The row that was read last of those that are to be locked: whoever locks it, and whoever reads it once it is locked, need
//! not look for it again.
//!
//! An UPDATE reads its row before it locks it, and an UPDATE behind SELECT FOR UPDATE meets the row that was read and locked
//! there: without this the same leaf is searched twice and four times.
//!
//! Invariants. (1) What is kept is what its page had when it was read, and no tombstone. (2) It is *settled* once the
//! transaction holds a lock that excludes every writer of the row, and the page has not changed between the read and the
//! lock, or has been read behind the lock: from then on nobody else changes the row until the transaction ends, or lets go
//! of locks, and both forget it. (3) The transaction's own writes are asked for first, always.
//!
//! A commit applies all its writes before it lets go of its locks. So no commit that has not reached the page yet can have
//! written a settled row, and no snapshot at or above the row's LSN shows another version.

use crate::record::hash::same;
use crate::{Lsn, RowLock, TreeId};
use storage::{RecordBuffer, Tree};

/// One row, or none.
#[derive(Debug, Default)]
pub(crate) struct KeptRow {
    /// Its tree; none if there is no row.
    tree: Option<TreeId>,
    settled: bool,
    key: Vec<u8>,
    record: RecordBuffer,
}

/// Whether a lock keeps a row as it is: the weakest lets others change what is no key.
fn excludes_writers(mode: RowLock) -> bool {
    mode != RowLock::KeyShare
}

impl KeptRow {
    /// No row is kept any more.
    pub(crate) fn forget(&mut self) {
        self.tree = None;
    }

    /// Keeps a row that was read from its page, with the lock that the transaction already had on it.
    pub(crate) fn keep(
        &mut self,
        tree: TreeId,
        key: &[u8],
        record: &RecordBuffer,
        lock: Option<RowLock>,
    ) {
        self.tree = record.value().is_some().then_some(tree);
        if self.tree.is_some() {
            self.settled = lock.is_some_and(excludes_writers);
            self.key.clear();
            self.key.extend_from_slice(key);
            self.record.copy_from(record);
        }
    }

    fn is_of(&self, tree: TreeId, key: &[u8]) -> bool {
        self.tree == Some(tree) && same(&self.key, key)
    }

    /// The row at `key`, if it is settled: nobody else changes it before the transaction ends.
    pub(crate) fn base(&self, tree: TreeId, key: &[u8]) -> Option<&RecordBuffer> {
        (self.settled && self.is_of(tree, key)).then_some(&self.record)
    }

    /// The row at `key`, if it is settled and `snapshot` shows it.
    pub(crate) fn settled(&self, tree: TreeId, key: &[u8], snapshot: Lsn) -> Option<&RecordBuffer> {
        self.base(tree, key).filter(|record| record.lsn() <= snapshot)
    }

    /// The latest state of the row at `key`, which the transaction has just locked, if it is known.
    pub(crate) fn locked(
        &mut self,
        tree: &Tree,
        key: &[u8],
        mode: RowLock,
    ) -> Option<&RecordBuffer> {
        if !self.is_of(tree.id(), key) {
            return None;
        }
        if !self.settled {
            if !tree.unchanged(self.record.token()) {
                return None;
            }
            self.settled = excludes_writers(mode);
        }
        Some(&self.record)
    }
}
