//! Writing a table's rows: the record, its index entries, and everything that must be true of them.
//!
//! All keys that must be unique are locked and looked at first, then everything is written: a conflict leaves nothing half
//! done. A value that would make the record too large for a page is cut out of it, the largest first.

use super::code::Values;
use super::context::Context;
use super::deferred::{self, Check};
use super::index_keys::{KeyCodes, RowKeys, key_value};
use super::partial_update::PartialUpdate;
use super::record_row::RecordRow;
use crate::catalog::relation::{Index, Relation};
use crate::catalog::relation_counts::{Count, Event};
use crate::error::{Result, SqlError};
use crate::plan::physical::{FailingRow, Table};
use crate::sqlstate::SqlState;
use crate::tuple::entry::{self, Meets};
use crate::tuple::long_value::{self, LongValue, Stored};
use crate::tuple::row::{self, Opened};
use crate::tuple::{Form, KeyLayout, RowBuf, Texts, corrupt};
use crate::types::{CallContext, CatalogQueries, Datum, SqlType, text_of};
use std::sync::Arc;
use txn::{RecordBuffer, RecordView, RowLock, Transaction, Tree, WaitPolicy};

/// How long a value in a DETAIL may be, as PostgreSQL cuts it.
const DETAIL_VALUE_BYTES: usize = 64;

/// Writes rows of one table.
pub struct Writer {
    /// The table.
    pub table: Arc<Table>,
    /// The tree of its rows.
    pub rows: Arc<Tree>,
    long_values: Arc<Tree>,
    indexes: Vec<Arc<Tree>>,
    key: Vec<u8>,
    record: Vec<u8>,
    entry: (Vec<u8>, Vec<u8>),
    /// What indexes compute of the row that goes, and of the one that comes.
    key_codes: KeyCodes,
    old_keys: RowKeys,
    new_keys: RowKeys,
    found: RecordBuffer,
    /// Whether the last update gave its row another key.
    moved: bool,
    /// What is counted of the table.
    count: Arc<Count>,
}

/// A row as it stands in the table: all columns by index, and where long values of it are.
#[derive(Debug, Default)]
pub struct StoredRow {
    /// All columns, dropped ones too.
    pub row: RowBuf,
    /// Its long values.
    pub long: Vec<LongValue>,
    /// The view by which its record was read.
    pub view: RecordView,
}

/// Which of a change's rows.
#[derive(Clone, Copy)]
enum Row {
    Old,
    New,
}

/// A unique key that is there already.
#[derive(Debug)]
pub struct Conflict {
    /// The index's place in `relation.indexes`.
    pub index: usize,
    /// The key of the row that has it.
    pub row_key: Vec<u8>,
}

/// What became of an insert.
#[derive(Debug)]
pub enum Inserted {
    /// It is written.
    Done,
    /// Nothing is written.
    Conflict(Conflict),
}

impl Writer {
    /// Of this table.
    ///
    /// # Errors
    /// Storage's.
    pub fn new(cx: &Context<'_>, table: &Arc<Table>) -> Result<Writer> {
        let indexes = table
            .indexes
            .iter()
            .map(|(at, _)| cx.tree(table.relation.indexes[*at].tree))
            .collect::<Result<_>>()?;
        Ok(Writer {
            table: Arc::clone(table),
            rows: cx.tree(table.tree)?,
            long_values: cx.tree(table.long_values)?,
            indexes,
            key: Vec::new(),
            record: Vec::new(),
            entry: Default::default(),
            key_codes: KeyCodes::of(table),
            old_keys: RowKeys::default(),
            new_keys: RowKeys::default(),
            found: RecordBuffer::default(),
            moved: false,
            count: cx.host.counts.of(table.relation.oid),
        })
    }

    /// A statement begins to write: what it writes is counted for its transaction.
    #[inline]
    pub fn begin(&self, cx: &Context<'_>) {
        cx.host.counts.meet(&self.count);
    }

    /// A row was to be inserted whose key is there already. PostgreSQL finds that out when the row is in the table.
    pub fn count_refused_insert(&self) {
        self.count.add(Event::Inserted);
    }

    /// All columns by index, of a row of the live ones.
    pub fn widen(&self, live: &RowBuf, all: &mut RowBuf) {
        let columns = self.table.relation.columns.len();
        if self.table.live.len() == columns {
            return all.copy_from(live);
        }
        all.set_nulls(columns);
        for (column, datum) in self.table.live.iter().zip(live.iter()) {
            all.set(*column, datum);
        }
    }

    /// Reads all columns of a record.
    ///
    /// # Errors
    /// XX001; storage's.
    pub fn read(
        &self,
        cx: &mut Context<'_>,
        record: &RecordBuffer,
        into: &mut StoredRow,
    ) -> Result<()> {
        into.row.clear();
        into.long.clear();
        into.view = record.view();
        let stored = Stored {
            record: record.value().unwrap_or_default(),
            view: into.view,
            long_values: self.table.long_values,
        };
        let mut image = Vec::new();
        let record = stored.open(cx.transaction, &self.table.layout, &mut image)?;
        into.long.extend(record.image);
        for column in 0..self.table.layout.len() {
            let long = &mut into.long;
            into.row.push_with(|heap| {
                record.read(cx.transaction, column, heap, |value| long.push(value))
            })?;
        }
        Ok(())
    }

    /// Reads the columns of a record that an update needs, the others as NULL; false if it has long values, or fewer columns
    /// than its table.
    ///
    /// # Errors
    /// XX001.
    pub fn read_columns(
        &self,
        record: &[u8],
        partial: &PartialUpdate,
        into: &mut StoredRow,
    ) -> Result<bool> {
        into.row.set_nulls(self.table.layout.len());
        into.long.clear();
        let Opened::Here(record) = self.table.layout.open(record)? else { return Ok(false) };
        if !record.is_plain()? {
            return Ok(false);
        }
        let (values, heap) = into.row.parts_mut();
        let texts = if partial.texts { record.texts(heap) } else { Texts::default() };
        for column in &partial.read {
            if !record.read_into(*column, texts, &mut values[*column], heap)? {
                return Err(corrupt("a long value stands where there is none"));
            }
        }
        Ok(true)
    }

    /// Makes the record that [`Writer::update`] is to write of the one at `key`, which is plain, and the columns that have
    /// changed; false if it is too large for that.
    pub fn patch(
        &mut self,
        cx: &Context<'_>,
        key: &[u8],
        record: &[u8],
        columns: &[usize],
        new: &RowBuf,
    ) -> bool {
        let max = record_room(cx, key);
        let values = columns.iter().map(|column| (*column, new.get(*column)));
        self.table.layout.patch(record, values, max, &mut self.record)
    }

    /// The same of the record of such a room, whose columns have these values, unless one is NULL that must not be.
    pub fn patch_with<'v>(
        &mut self,
        record: &[u8],
        values: impl Iterator<Item = (usize, Datum<'v>)> + Clone,
        room: usize,
    ) -> bool {
        let columns = &self.table.relation.columns;
        let mut all = values.clone();
        !all.any(|(column, value)| value.is_null() && columns[column].not_null)
            && self.table.layout.patch(record, values, room, &mut self.record)
    }

    /// Whether a record has all columns of its table and no long values.
    ///
    /// # Errors
    /// XX001.
    pub fn is_plain(&self, record: &[u8]) -> Result<bool> {
        match self.table.layout.open(record)? {
            Opened::Here(record) => record.is_plain(),
            Opened::Elsewhere(..) => Ok(false),
        }
    }

    /// The row in `slot` of the record that has been written last.
    ///
    /// # Errors
    /// XX001.
    pub fn row_in_record(&self, slot: u32) -> Result<RecordRow<'_>> {
        match self.table.layout.open(&self.record)? {
            Opened::Here(record) => Ok(RecordRow::new(slot, record, &self.table.live)),
            Opened::Elsewhere(..) => Err(corrupt("a record that has been made is elsewhere")),
        }
    }

    /// 23502 where a column that must not be is NULL.
    ///
    /// # Errors
    /// That.
    pub fn check_not_null(&self, cx: &Context<'_>, live: &RowBuf) -> Result<()> {
        let relation = &self.table.relation;
        for (at, column) in self.table.live.iter().enumerate() {
            let column = &relation.columns[*column];
            if column.not_null && live.is_null(at) {
                return Err(SqlError::new(
                    SqlState::NOT_NULL_VIOLATION,
                    format!(
                        "null value in column \"{}\" of relation \"{}\" violates not-null constraint",
                        column.name, relation.name
                    ),
                )
                .maybe_detail(failing_row(cx, &self.table, live)?)
                .table(&*relation.schema.1, &*relation.name)
                .column(&*column.name));
            }
        }
        Ok(())
    }

    /// `(a, b)=(1, 2)`: the columns of a key and their values; none where the current user may not read them.
    ///
    /// # Errors
    /// Those of the types' text forms.
    pub fn key_text(
        cx: &Context<'_>,
        relation: &crate::catalog::Relation,
        columns: &[usize],
        all: &RowBuf,
    ) -> Result<Option<String>> {
        if !may_tell(cx.host.catalog, relation, columns.iter().map(|column| Some(*column))) {
            return Ok(None);
        }
        let names: Vec<&str> =
            columns.iter().map(|column| &*relation.columns[*column].name).collect();
        let mut values = Vec::new();
        for column in columns {
            let ty = relation.columns[*column].ty;
            values.push(shown(cx, ty, &all.get(*column), usize::MAX)?);
        }
        Ok(Some(format!("({})=({})", names.join(", "), values.join(", "))))
    }

    /// 23505 for a key that is there already.
    ///
    /// # Errors
    /// Those of the types' text forms, instead.
    pub fn duplicate(&self, cx: &mut Context<'_>, index: usize, all: &RowBuf) -> Result<SqlError> {
        // Whoever has not seen the key where it looked is told to try again: then it finds it.
        let (tree, key) = match self.table.indexes.iter().position(|(of, _)| *of == index) {
            Some(at) => (&self.indexes[at], &self.entry.0),
            None => (&self.rows, &self.key),
        };
        cx.transaction.check_duplicate(tree.id(), key)?;
        let relation = &self.table.relation;
        let values = self.new_keys.of(self.table.computed.as_ref(), index).flatten();
        duplicate_of(cx, relation, &relation.indexes[index], all, values)
    }

    /// The key of a row in the table's tree, a new row id where it has no primary key.
    fn row_key(&mut self, cx: &mut Context<'_>, all: &RowBuf) -> Result<()> {
        if !self.clustered_key(cx, all)? {
            self.new_row_key(cx)?;
        }
        Ok(())
    }

    /// A new row id as the key of a row that has none of its own.
    fn new_row_key(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let (transaction, rows) = (&*cx.transaction, &self.rows);
        let id = match transaction.is_in_partitions(rows.id()) {
            false => cx.row_ids.next(cx.host.row_ids, rows)?,
            true => cx.row_ids.next_of(cx.host.row_ids, rows, |id| {
                transaction.is_at_home(rows.id(), &id.to_be_bytes())
            })?,
        };
        self.key.clear();
        self.key.extend_from_slice(&id.to_be_bytes());
        Ok(())
    }

    /// The key that the primary key gives a row; false where there is none.
    fn clustered_key(&mut self, cx: &Context<'_>, all: &RowBuf) -> Result<bool> {
        let Some(layout) = &self.table.key else { return Ok(false) };
        self.key.clear();
        encode_key(layout, all, &mut self.key)?;
        self.check_key_size(cx)?;
        Ok(true)
    }

    /// 54000 for a primary key that no page takes.
    fn check_key_size(&self, cx: &Context<'_>) -> Result<()> {
        let Some(at) = self.table.primary else { return Ok(()) };
        let (relation, size) = (&self.table.relation, (self.key.len(), 0));
        check_entry_size(cx.transaction, relation, &relation.indexes[at], size)
    }

    /// Inserts a row of all columns by index. The unique indexes that ON CONFLICT names, `arbiters`, are asked before the
    /// others: what they find is settled by the clause, though another would have refused the row.
    ///
    /// # Errors
    /// Those of locks and storage; 54000.
    pub fn insert(
        &mut self,
        cx: &mut Context<'_>,
        all: &RowBuf,
        arbiters: &[usize],
    ) -> Result<Inserted> {
        self.row_key(cx, all)?;
        if self.table.computed.is_some() {
            self.new_keys.compute(cx, (&self.table, &self.key_codes), all)?;
        }
        if let Some(conflict) = self.claim(cx, all, arbiters)? {
            return Ok(Inserted::Conflict(conflict));
        }
        self.put_row(cx, all, false)?;
        self.put_entries(cx, all)?;
        Ok(Inserted::Done)
    }

    /// Makes the record of a row of values, and its key where it has one of its own; false where no record takes them all, or one
    /// is NULL that must not be: then they are to be looked at as a row.
    ///
    /// # Errors
    /// XX001.
    pub fn take_values(&mut self, values: &Values<'_>) -> Result<bool> {
        let layout = &self.table.layout;
        if !layout.write_within(values.iter(), usize::MAX, &mut self.record) {
            return Ok(false);
        }
        let columns = &self.table.relation.columns;
        if layout.nulls_of(&self.record).any(|column| columns[column].not_null) {
            return Ok(false);
        }
        if let Some(key) = &self.table.key {
            self.key.clear();
            for column in &key.columns {
                column.encode(values.get(column.column), &mut self.key)?;
            }
        }
        Ok(true)
    }

    /// Inserts the row whose record [`Writer::take_values`] has made; `all` is the same row where the table has indexes.
    /// Nothing where its record is too long beside its key.
    ///
    /// # Errors
    /// As [`Writer::insert`].
    pub fn insert_made(&mut self, cx: &mut Context<'_>, all: &RowBuf) -> Result<Option<Inserted>> {
        match self.table.key {
            None => self.new_row_key(cx)?,
            Some(_) => self.check_key_size(cx)?,
        }
        if self.record.len() > record_room(cx, &self.key) {
            return Ok(None);
        }
        if let Some(conflict) = self.claim(cx, all, &[])? {
            return Ok(Some(Inserted::Conflict(conflict)));
        }
        self.put_record(cx, false)?;
        self.put_entries(cx, all)?;
        Ok(Some(Inserted::Done))
    }

    /// Reads all columns of the record that [`Writer::take_values`] has made.
    ///
    /// # Errors
    /// XX001.
    pub fn read_made(&self, into: &mut RowBuf) -> Result<()> {
        let layout = &self.table.layout;
        into.set_nulls(layout.len());
        let Opened::Here(record) = layout.open(&self.record)? else {
            return Err(corrupt("a record that has been made is elsewhere"));
        };
        let (values, heap) = into.parts_mut();
        for (column, value) in values.iter_mut().enumerate() {
            record.read_into(column, Texts::default(), value, heap)?;
        }
        Ok(())
    }

    /// Locks the keys of a new row that must be unique, those of `arbiters` before the others, and says who has one of them.
    fn claim(
        &mut self,
        cx: &mut Context<'_>,
        all: &RowBuf,
        arbiters: &[usize],
    ) -> Result<Option<Conflict>> {
        for at in 0..self.indexes.len() {
            if arbiters.contains(&self.table.indexes[at].0)
                && let Some(conflict) = self.claim_entry(cx, at, all, None)?
            {
                return Ok(Some(conflict));
            }
        }
        if self.table.key.is_some() && self.claim_key(cx)? {
            let index = self.table.primary.unwrap_or(0);
            return Ok(Some(Conflict { index, row_key: self.key.clone() }));
        }
        for at in 0..self.indexes.len() {
            if !arbiters.contains(&self.table.indexes[at].0)
                && let Some(conflict) = self.claim_entry(cx, at, all, None)?
            {
                return Ok(Some(conflict));
            }
        }
        Ok(None)
    }

    /// Writes the entries of a row that has just been inserted.
    fn put_entries(&mut self, cx: &mut Context<'_>, all: &RowBuf) -> Result<()> {
        self.count.add(Event::Inserted);
        let forgotten = cx.transaction.manager().planted(txn::Fault::IndexEntryNotWritten);
        let written = self.indexes.len() - usize::from(forgotten && !self.indexes.is_empty());
        for at in 0..written {
            if self.make_entry(at, all, Row::New, None)?.is_some() {
                cx.transaction.put(&self.indexes[at], &self.entry.0, &self.entry.1)?;
            }
        }
        Ok(())
    }

    /// The key of the row written last.
    #[must_use]
    pub fn last_key(&self) -> &[u8] {
        &self.key
    }

    /// Whether the row updated last has another key than before.
    #[must_use]
    pub fn has_moved(&self) -> bool {
        self.moved
    }

    /// Makes the entry of a row in an index, and says where equal keys would meet; none if it has no entry.
    fn make_entry(
        &mut self,
        at: usize,
        all: &RowBuf,
        which: Row,
        row_key: Option<&[u8]>,
    ) -> Result<Option<Meets>> {
        let (index, layout) = &self.table.indexes[at];
        let unique = self.table.relation.indexes[*index].uniqueness();
        let (key, value) = &mut self.entry;
        let row_key = row_key.unwrap_or(&self.key);
        if let Some(computed) = &self.table.computed {
            let keys = match which {
                Row::Old => &self.old_keys,
                Row::New => &self.new_keys,
            };
            match keys.of(Some(computed), *index) {
                Some(None) => return Ok(None),
                Some(values) => {
                    let column = |column| key_value(all, values, column);
                    return entry::write(layout, unique, column, row_key, key, value).map(Some);
                }
                None => {}
            }
        }
        entry::write(layout, unique, |column| all.get(column), row_key, key, value).map(Some)
    }

    /// Locks the key that is written; true if a row has it.
    fn claim_key(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        Ok(cx.transaction.claim_key(&self.rows, &self.key, &mut self.found)?)
    }

    /// Locks an entry that must be unique, and says who has it. That of a deferrable constraint is left to its check,
    /// unless nobody else can have it.
    fn claim_entry(
        &mut self,
        cx: &mut Context<'_>,
        at: usize,
        all: &RowBuf,
        row_key: Option<&[u8]>,
    ) -> Result<Option<Conflict>> {
        let Some(meets) = self.make_entry(at, all, Row::New, row_key)? else { return Ok(None) };
        let index = self.table.indexes[at].0;
        let size = (self.entry.0.len(), self.entry.1.len());
        let relation = &self.table.relation;
        check_entry_size(cx.transaction, relation, &relation.indexes[index], size)?;
        match meets {
            Meets::Never => return Ok(None),
            Meets::InRecord => {}
            Meets::WhenChecked(columns) => {
                let columns = &self.entry.0[..columns];
                if !deferred::is_free(cx, &self.indexes[at], columns)? {
                    let check = Check::Key {
                        index,
                        entry: self.entry.0.clone(),
                        columns: columns.len(),
                        row: all.clone(),
                    };
                    deferred::put_off(cx, &self.table, check)?;
                }
                return Ok(None);
            }
        }
        let (tree, entry) = (&self.indexes[at], &self.entry.0);
        loop {
            let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
            if !cx.transaction.lock_key(tree, entry, mode, policy, &mut self.found)? {
                return Ok(None);
            }
            let row_key = entry::row_key(entry, self.found.value().unwrap_or_default())?;
            // Whoever deletes that row, or gives it another key, has not locked the entry.
            if !cx.transaction.await_change((tree, entry), (&self.rows, row_key))? {
                return Ok(Some(Conflict { index, row_key: row_key.to_vec() }));
            }
        }
    }

    /// Writes the record at `self.key`, long values cut out; over the one there, which is locked, if it is an update.
    fn put_row(&mut self, cx: &mut Context<'_>, all: &RowBuf, update: bool) -> Result<()> {
        let max = record_room(cx, &self.key);
        if self.table.layout.write_within(all.iter(), max, &mut self.record) {
            return self.put_record(cx, update);
        }
        let record_bytes = cx.transaction.manager().data().record_bytes_fair();
        let row: &[Datum<'_>] = cx.arena.alloc_slice_fill_iter(all.iter());
        let long_values = &self.long_values;
        let mut store = |form: Form, bytes: &[u8]| {
            let id = cx.row_ids.next(cx.host.row_ids, long_values)?;
            let value = LongValue { id, bytes: bytes.len() as u64, form };
            for (key, piece) in value.pieces(bytes, record_bytes) {
                cx.transaction.put(long_values, &key, piece)?;
            }
            Ok(value)
        };
        long_value::write_row(&self.table.layout, row, max, &mut store, &mut self.record)?;
        self.put_record(cx, update)
    }

    fn put_record(&mut self, cx: &mut Context<'_>, update: bool) -> Result<()> {
        if let Some(number) = cx.host.catalog.transaction_number(false) {
            row::stamp(&mut self.record, number);
        }
        let (rows, key, record) = (&self.rows, &self.key, &self.record);
        if update {
            cx.transaction.update(rows, key, record)?;
        } else {
            cx.transaction.put(rows, key, record)?;
        }
        Ok(())
    }

    /// Deletes the row at `key`, which the caller has locked.
    ///
    /// # Errors
    /// Storage's.
    pub fn delete(&mut self, cx: &mut Context<'_>, key: &[u8], old: &StoredRow) -> Result<()> {
        self.drop_long(cx, old)?;
        cx.transaction.delete(&self.rows, key)?;
        self.count.add(Event::Deleted);
        if self.table.computed.is_some() {
            self.old_keys.compute(cx, (&self.table, &self.key_codes), &old.row)?;
        }
        for at in 0..self.indexes.len() {
            if self.make_entry(at, &old.row, Row::Old, Some(key))?.is_some() {
                let entry = std::mem::take(&mut self.entry.0);
                self.delete_entry(cx, at, &entry, key)?;
                self.entry.0 = entry;
            }
        }
        Ok(())
    }

    /// Whether a unique index is under way: a row without an entry may have the key of another's.
    fn is_under_way(&self, at: usize) -> bool {
        let index = &self.table.relation.indexes[self.table.indexes[at].0];
        !index.is_valid() && index.is_always_unique()
    }

    /// Deletes the entry of the row at `row_key`, which the caller has locked. In an index that is under way the entry may be
    /// missing still, or another row's by the time of the commit: it is locked and looked at.
    fn delete_entry(
        &mut self,
        cx: &mut Context<'_>,
        at: usize,
        entry: &[u8],
        row_key: &[u8],
    ) -> Result<()> {
        let tree = &self.indexes[at];
        if self.is_under_way(at) {
            let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
            if !cx.transaction.lock_key(tree, entry, mode, policy, &mut self.found)?
                || entry::row_key(entry, self.found.value().unwrap_or_default())? != row_key
            {
                return Ok(());
            }
        }
        Ok(cx.transaction.delete(tree, entry)?)
    }

    fn drop_long(&self, cx: &mut Context<'_>, old: &StoredRow) -> Result<()> {
        for long in &old.long {
            long.delete(cx.transaction, old.view, &self.long_values)?;
        }
        Ok(())
    }

    /// Whether an update changes a column of a unique key, which others may refer to.
    #[must_use]
    pub fn changes_key(&self, old: &RowBuf, new: &RowBuf) -> bool {
        let relation = &self.table.relation;
        let keys = relation.indexes.iter().filter(|index| index.unique && !index.is_computed());
        keys.into_iter().any(|index| {
            index.columns.iter().any(|column| differ(relation, column.column, old, new))
        })
    }

    /// Replaces the row at `key`, which the caller has locked, by a row of all columns; or of some, `partial`, where
    /// [`Writer::patch`] has made the record.
    ///
    /// # Errors
    /// 23505; those of locks and storage.
    pub fn update(
        &mut self,
        cx: &mut Context<'_>,
        key: &[u8],
        old: &StoredRow,
        new: &RowBuf,
        partial: Option<&PartialUpdate>,
    ) -> Result<()> {
        let moved = partial.is_none() && self.clustered_key(cx, new)? && self.key != key;
        self.moved = moved;
        if !moved {
            self.key.clear();
            self.key.extend_from_slice(key);
        } else if self.claim_key(cx)? {
            self.count.add(Event::Updated);
            return Err(self.duplicate(cx, self.table.primary.unwrap_or(0), new)?);
        }
        if self.table.computed.is_some() {
            self.old_keys.compute(cx, (&self.table, &self.key_codes), &old.row)?;
            self.new_keys.compute(cx, (&self.table, &self.key_codes), new)?;
        }
        let mut changed = Vec::new();
        for at in 0..self.indexes.len() {
            if partial.is_some_and(|partial| !partial.indexes.contains(&at)) {
                continue;
            }
            let had = self.make_entry(at, &old.row, Row::Old, Some(key))?;
            let before = had.map(|_| self.entry.clone());
            let has = self.make_entry(at, new, Row::New, None)?.is_some();
            if has && before.as_ref() == Some(&self.entry) || !has && before.is_none() {
                continue;
            }
            let before = before.map(|before| before.0);
            // The same columns of a row that has moved: the entry is this row's own, if it has one.
            if has
                && (before.as_ref() != Some(&self.entry.0) || self.is_under_way(at))
                && let Some(conflict) = self.claim_entry(cx, at, new, None)?
                && conflict.row_key != key
            {
                self.count.add(Event::Updated);
                return Err(self.duplicate(cx, conflict.index, new)?);
            }
            changed.push((at, before));
        }
        self.drop_long(cx, old)?;
        if moved {
            cx.transaction.move_row(&self.rows, key, &self.key);
            cx.transaction.delete(&self.rows, key)?;
        }
        match partial {
            Some(_) => self.put_record(cx, !moved)?,
            None => self.put_row(cx, new, !moved)?,
        }
        self.count.add(Event::Updated);
        if changed.is_empty() && !moved {
            self.count.add(Event::UpdatedAlone);
        }
        for (at, before) in changed {
            let has = self.make_entry(at, new, Row::New, None)?.is_some();
            if let Some(before) = before.filter(|before| !has || *before != self.entry.0) {
                self.delete_entry(cx, at, &before, key)?;
            }
            if has {
                cx.transaction.put(&self.indexes[at], &self.entry.0, &self.entry.1)?;
            }
        }
        Ok(())
    }
}

/// How many bytes the record at `key` may have, the transaction's number aside, if it has one.
pub fn record_room(cx: &Context<'_>, key: &[u8]) -> usize {
    let stamped = cx.host.catalog.transaction_number(false).is_some();
    let room = cx.transaction.manager().data().value_bytes_fair(key.len());
    room.saturating_sub(if stamped { row::STAMP_BYTES } else { 0 })
}

/// Whether the current user may read all of a key: columns by index, none for what is computed, which only those may know
/// who may read the whole table.
fn may_tell(
    catalog: &dyn CatalogQueries,
    relation: &crate::catalog::Relation,
    mut columns: impl Iterator<Item = Option<usize>>,
) -> bool {
    let may_read = |column: usize| catalog.may_read(relation.oid, Some(column as i16 + 1));
    catalog.may_read(relation.oid, None) || columns.all(|column| column.is_some_and(may_read))
}

/// `(a, lower(b))=(1, x)`: an index's keys and their values, as `value` shows them; none where the current user may not
/// read them.
pub fn index_key_text(
    context: &CallContext<'_>,
    relation: &crate::catalog::Relation,
    index: &crate::catalog::Index,
    value: impl FnMut(&crate::catalog::IndexColumn) -> Result<String>,
) -> Result<Option<String>> {
    let columns = index.columns.iter();
    let plain = columns.map(|key| key.expression().is_none().then_some(key.column));
    if !may_tell(context.catalog, relation, plain) {
        return Ok(None);
    }
    let keys = context.catalog.index_keys(context, index.oid);
    let keys = keys.unwrap_or_else(|| index.column_names(relation).join(", "));
    let values = index.columns.iter().map(value).collect::<Result<Vec<_>>>()?;
    Ok(Some(format!("({keys})=({})", values.join(", "))))
}

/// 23505 for the key that an index has of a row, whose expressions have these values.
///
/// # Errors
/// Those of the types' text forms, instead.
pub(super) fn duplicate_of(
    cx: &Context<'_>,
    relation: &crate::catalog::Relation,
    index: &crate::catalog::Index,
    all: &RowBuf,
    values: Option<&RowBuf>,
) -> Result<SqlError> {
    let key = index_key_text(&cx.evaluator().call(), relation, index, |key| {
        let ty = relation.key_type(index, key);
        shown(cx, ty, &key_value(all, values, key.column), usize::MAX)
    })?;
    Ok(duplicate_key(relation, index, key))
}

/// 23505 for a key, shown as `(a, b)=(1, 2)`.
pub fn duplicate_key(
    relation: &crate::catalog::Relation,
    index: &crate::catalog::relation::Index,
    key: Option<String>,
) -> SqlError {
    SqlError::new(
        SqlState::UNIQUE_VIOLATION,
        format!("duplicate key value violates unique constraint \"{}\"", index.name),
    )
    .maybe_detail(key.map(|key| format!("Key {key} already exists.")))
    .table(&*relation.schema.1, &*relation.name)
    .constraint(&*index.name)
}

/// Whether a column differs between two rows.
#[must_use]
pub fn differ(
    relation: &crate::catalog::Relation,
    column: usize,
    old: &RowBuf,
    new: &RowBuf,
) -> bool {
    let (a, b) = (old.get(column), new.get(column));
    match (a.is_null(), b.is_null()) {
        (true, true) => false,
        (false, false) => crate::types::compare(relation.columns[column].ty.oid.0, &a, &b).is_ne(),
        _ => true,
    }
}

/// Encodes a key from a row of all columns.
///
/// # Errors
/// 0A000 for a type that cannot be a key.
pub fn encode_key(layout: &KeyLayout, all: &RowBuf, out: &mut Vec<u8>) -> Result<()> {
    for column in &layout.columns {
        column.encode(all.get(column.column), out)?;
    }
    Ok(())
}

/// Refuses an entry of an index, whose key and value are so long, where no page takes it.
///
/// # Errors
/// 54000.
pub fn check_entry_size(
    transaction: &Transaction,
    relation: &Relation,
    index: &Index,
    (key, value): (usize, usize),
) -> Result<()> {
    let data = transaction.manager().data();
    let limits = [(key, data.key_bytes_max()), (key + value, data.record_bytes_max())];
    let Some((size, max)) = limits.into_iter().find(|(size, max)| size > max) else {
        return Ok(());
    };
    let index = &index.name;
    let message = format!(
        "index row size {size} exceeds btree version 4 maximum {max} for index \"{index}\""
    );
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)
        .hint(
            "Values larger than 1/3 of a buffer page cannot be indexed.\n\
             Consider a function index of an MD5 hash of the value, or use full text indexing.",
        )
        .table(&*relation.schema.1, &*relation.name)
        .constraint(&**index))
}

/// A value as DETAILs show it, cut to `max` bytes.
fn shown(cx: &Context<'_>, ty: SqlType, datum: &Datum<'_>, max: usize) -> Result<String> {
    if datum.is_null() {
        return Ok("null".to_owned());
    }
    let text = text_of(&cx.evaluator().call(), ty, datum)?;
    let cut = crate::types::truncate_bytes(text, max);
    Ok(if cut.len() < text.len() { format!("{cut}...") } else { cut.to_owned() })
}

/// `Failing row contains (1, null).` Whoever may not read the whole table is told of the columns that he may read or
/// has written, with their names; nothing where there are none.
///
/// # Errors
/// Those of the types' text forms.
pub fn failing_row(cx: &Context<'_>, table: &Table, live: &RowBuf) -> Result<Option<String>> {
    let Table { relation, live: columns, failing_row, .. } = table;
    let catalog = cx.host.catalog;
    let named = match failing_row {
        FailingRow::To { named } if !catalog.may_read(relation.oid, None) => Some(named),
        _ => None,
    };
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for (column, datum) in columns.iter().zip(live.iter()) {
        let number = *column as i16 + 1;
        let is_told = |named: &Vec<usize>| {
            named.contains(column) || catalog.may_read(relation.oid, Some(number))
        };
        if named.is_none_or(is_told) {
            names.push(&*relation.columns[*column].name);
            values.push(shown(cx, relation.columns[*column].ty, &datum, DETAIL_VALUE_BYTES)?);
        }
    }
    let values = values.join(", ");
    Ok(match named {
        None => Some(format!("Failing row contains ({values}).")),
        Some(_) if names.is_empty() => None,
        Some(_) => Some(format!("Failing row contains ({}) = ({values}).", names.join(", "))),
    })
}
