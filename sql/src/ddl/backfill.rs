//! Entries of rows that are older than their index, written while others change the table
//! (`docs/design/0008-concurrent-indexes.md`).
//!
//! Everybody who changes a row now writes its entry. So what is missing are entries of rows that stay as they are: each row is
//! locked against changes, read as it is now, and its entry written as any other transaction would. Rows are taken in
//! batches, each a transaction of its own, in the order of their keys; a row that comes behind the scan has its entry from
//! whoever put it there.
//!
//! A batch waits for nobody while it holds a lock, so it is in no deadlock and keeps nobody waiting for long: a row that
//! somebody is changing is put off, and later waited for alone ([`Backfill::put_off`]).

use super::build::{Columns, KeyFunction, LATEST, columns_of, duplicate};
use super::{Ddl, Semantics};
use crate::catalog::CatalogSnapshot;
use crate::catalog::relation::{Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::exec::index_keys::key_value;
use crate::exec::write::check_entry_size;
use crate::sqlstate::SqlState;
use crate::tuple::entry::{self, Meets};
use crate::tuple::long_value::Stored;
use crate::tuple::{Heap, KeyLayout, RowBuf, RowLayout};
use crate::types::Oid;
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, RecordBuffer, RowLock, Transaction, Tree, TreeId, WaitPolicy};

/// Rows whose locks a batch holds together.
const BATCH_ROWS: usize = 256;

/// How far an index is filled.
#[derive(Debug)]
pub struct Backfill {
    /// The table.
    table: Oid,
    /// The index.
    index: Oid,
    /// The last row that has been looked at; none is before the first.
    after: Option<Vec<u8>>,
    /// Rows that somebody was changing, by their keys.
    pub put_off: Vec<Vec<u8>>,
}

/// What became of a row.
enum Filled {
    /// It has its entry, or needs none.
    Done,
    /// Somebody has it locked.
    RowTaken,
    /// Somebody has this key of a unique index locked.
    KeyTaken(Vec<u8>),
}

/// What the rows of one step are read and written with.
struct Target<'a> {
    relation: Arc<Relation>,
    /// The index's place in `relation.indexes`.
    at: usize,
    rows: Arc<Tree>,
    long_values: TreeId,
    entries: Arc<Tree>,
    layout: RowLayout,
    key_layout: KeyLayout,
    semantics: &'a dyn Semantics,
    snapshot: Arc<CatalogSnapshot>,
    keys: KeyFunction<'a>,
    heap: Heap,
    row: RowBuf,
    record: RecordBuffer,
    entry: (Vec<u8>, Vec<u8>),
}

impl Backfill {
    /// Of an index of a table, from its first row.
    #[must_use]
    pub fn new(table: Oid, index: Oid) -> Backfill {
        Backfill { table, index, after: None, put_off: Vec::new() }
    }

    /// Fills the index for the next rows; false at the table's end.
    ///
    /// # Errors
    /// 23505, 54000; those of expressions, of storage.
    pub fn batch(&mut self, ddl: &mut Ddl<'_>) -> Result<bool> {
        let mut target = Target::of(ddl, self.table, self.index)?;
        let low = self.after.as_deref().map_or(Bound::Unbounded, Bound::Excluded);
        let rest = KeyRange { low, high: Bound::Unbounded };
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let transaction = &mut *ddl.transaction;
        let mut scan = transaction.scan(&LATEST, &target.rows, rest, Direction::Forward)?;
        while keys.len() < BATCH_ROWS {
            let Some(found) = scan.advance(transaction)? else { break };
            keys.push(found.key.to_vec());
        }
        let more = keys.len() == BATCH_ROWS;
        for key in &keys {
            match target.fill(transaction, key, WaitPolicy::Skip)? {
                Filled::Done => {}
                Filled::RowTaken | Filled::KeyTaken(_) => self.put_off.push(key.clone()),
            }
        }
        self.after = keys.pop().or(self.after.take());
        Ok(more)
    }

    /// Fills the index for a row that has been put off, and waits for whoever has it. Where another row's key has to be
    /// waited for, that key: the row's own lock goes first.
    ///
    /// # Errors
    /// As [`Backfill::batch`]; those of locks.
    pub fn row(&self, ddl: &mut Ddl<'_>, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut target = Target::of(ddl, self.table, self.index)?;
        match target.fill(ddl.transaction, key, WaitPolicy::Block)? {
            Filled::KeyTaken(entry) => Ok(Some(entry)),
            Filled::Done | Filled::RowTaken => Ok(None),
        }
    }

    /// Waits until nobody has a key of the index locked.
    ///
    /// # Errors
    /// Those of locks.
    pub fn await_key(&self, ddl: &mut Ddl<'_>, entry: &[u8]) -> Result<()> {
        let target = Target::of(ddl, self.table, self.index)?;
        let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
        let mut found = RecordBuffer::default();
        ddl.transaction.lock_key(&target.entries, entry, mode, policy, &mut found)?;
        Ok(())
    }
}

impl<'a> Target<'a> {
    fn of(ddl: &mut Ddl<'a>, table: Oid, index: Oid) -> Result<Target<'a>> {
        let gone = || {
            SqlError::new(SqlState::INTERNAL_ERROR, "an index has gone while it was being filled")
        };
        let relation = ddl.relation(table).ok_or_else(gone)?;
        let at = relation.indexes.iter().position(|found| found.oid == index).ok_or_else(gone)?;
        let RelationKind::Table { tree, long_values, .. } = relation.kind else {
            return Err(gone());
        };
        let data = Arc::clone(ddl.transaction.manager().data());
        let open = |tree| data.tree(tree).map_err(txn::Error::from);
        let snapshot = ddl.snapshot();
        let found = &relation.indexes[at];
        Ok(Target {
            at,
            rows: open(tree)?,
            long_values,
            entries: open(found.tree)?,
            layout: relation.row_layout(),
            key_layout: relation.index_layout(found),
            keys: KeyFunction::new(ddl.semantics, &snapshot, &relation, found)?,
            semantics: ddl.semantics,
            snapshot,
            relation,
            heap: Heap::default(),
            row: RowBuf::new(),
            record: RecordBuffer::default(),
            entry: Default::default(),
        })
    }

    /// Writes the entry of the row at `row_key`, if it is missing.
    fn fill(
        &mut self,
        transaction: &mut Transaction,
        row_key: &[u8],
        policy: WaitPolicy,
    ) -> Result<Filled> {
        // Against all that changes the row; other locks of the same kind, and foreign keys', do not mind.
        let mode = RowLock::Share;
        if policy == WaitPolicy::Skip {
            if !transaction.try_lock_key(&self.rows, row_key, mode)? {
                return Ok(Filled::RowTaken);
            }
        } else {
            transaction.lock_key(&self.rows, row_key, mode, policy, &mut self.record)?;
        }
        if !transaction.get_latest(&self.rows, row_key, &mut self.record)? {
            return Ok(Filled::Done);
        }
        let stored = Stored {
            record: self.record.value().unwrap_or_default(),
            view: self.record.view(),
            long_values: self.long_values,
        };
        let into = (&mut self.heap, &mut self.row);
        columns_of(transaction, (&self.relation, Columns::All), &self.layout, stored, into)?;
        let Some(computed) = self.keys.values(&self.row)? else { return Ok(Filled::Done) };
        let index = &self.relation.indexes[self.at];
        let (key, value) = &mut self.entry;
        let column = |column| key_value(&self.row, Some(&computed), column);
        let meets =
            entry::write(&self.key_layout, index.uniqueness(), column, row_key, key, value)?;
        check_entry_size(transaction, &self.relation, index, (key.len(), value.len()))?;
        if meets == Meets::InRecord
            && !transaction.try_lock_key(&self.entries, key, RowLock::Update)?
        {
            return Ok(Filled::KeyTaken(key.clone()));
        }
        if transaction.get_latest(&self.entries, key, &mut self.record)? {
            if entry::row_key(key, self.record.value().unwrap_or_default())? == row_key {
                return Ok(Filled::Done);
            }
            let meaning = (self.semantics, &*self.snapshot);
            return Err(duplicate(meaning, &self.relation, index, &self.row, &computed));
        }
        transaction.put(&self.entries, key, value)?;
        Ok(Filled::Done)
    }
}
