//! Filling trees: an index over rows that are there, and rows that move to another tree.
//!
//! The caller holds a table lock that keeps writers out, so the *latest* state is read, and no snapshot matters (who only
//! looks at rows, beside writers, reads by a snapshot: [`each_row_beside_writers`]). What is
//! filled here are new trees, built from the bottom within `maintenance_work_mem` ([`txn::TreeLoad`]): nobody else can
//! reach them, so no record in them is locked, and none goes through the write set or the log. Equal keys of a unique
//! index show when the tree is built; of several, the one whose second row comes first is told.

use super::constraint::violated;
use super::value_text::key_values;
use super::{Ddl, RowFunction, Semantics};
use crate::catalog::CatalogSnapshot;
use crate::catalog::definition::Expression;
use crate::catalog::relation::{Index, IndexState, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::exec::index_keys::key_value;
use crate::exec::write::check_entry_size;
use crate::progress::Command;
use crate::sqlstate::SqlState;
use crate::tuple::long_value::{self, LongValue, Stored};
use crate::tuple::{Form, Heap, KeyColumn, RowBuf, RowLayout, entry};
use crate::types::Datum;
use std::ops::Bound;
use std::sync::Arc;
use txn::{
    Direction, Duplicate, KeyRange, Loaded, ReadView, RecordBuffer, Transaction, TreeId, TreeLoad,
};

/// The figures of `pg_stat_progress_create_index`, by number, and what it tells by them.
const COMMAND: usize = 1;
const INDEX: usize = 7;
const ACCESS_METHOD: usize = 9;
const PHASE: usize = 10;
const SUBPHASE: usize = 11;
const ROWS: usize = 12;
const ROWS_DONE: usize = 13;
const PAGES: usize = 16;
const PAGES_DONE: usize = 17;
const CREATE_INDEX: i64 = 1;
const BTREE: i64 = 403;
const BUILDING: i64 = 2;
const SCANNING: i64 = 2;
const LOADING: i64 = 5;

/// The latest state, this transaction's own writes included.
pub const LATEST: ReadView = ReadView::LATEST;

/// Whether a tree has no row, whoever may see it.
pub fn is_empty(transaction: &mut Transaction, tree: TreeId) -> Result<bool> {
    let tree = transaction.manager().data().tree(tree).map_err(txn::Error::from)?;
    let everything = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut scan = transaction.scan(&LATEST, &tree, everything, Direction::Forward)?;
    Ok(scan.advance(transaction)?.is_none())
}

/// What stands for a row without a key in the tree of a table without a primary key.
pub(super) fn hidden_row_id(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// What is done with a row: the transaction, the row's key, its record, its columns.
pub type EachRow<'a> = dyn FnMut(&mut Transaction, &[u8], &[u8], &RowBuf) -> Result<()> + 'a;

/// Calls `each` for every row of a table, which the caller's lock keeps as it is: its key, its record, its columns (dropped
/// ones as NULL).
///
/// # Errors
/// Those of `each`; storage's.
pub fn each_row(
    transaction: &mut Transaction,
    relation: &Relation,
    columns: Columns<'_>,
    each: &mut EachRow<'_>,
) -> Result<()> {
    each_row_by(transaction, (relation, columns), &LATEST, each)
}

/// As [`each_row`], where others may be writing: the rows are those of a snapshot that is taken now, at every level.
///
/// # Errors
/// As [`each_row`].
pub fn each_row_beside_writers(
    transaction: &mut Transaction,
    relation: &Relation,
    columns: Columns<'_>,
    each: &mut EachRow<'_>,
) -> Result<()> {
    transaction.by_newest_snapshot(|transaction, view| {
        each_row_by(transaction, (relation, columns), view, each)
    })
}

fn each_row_by(
    transaction: &mut Transaction,
    (relation, columns): (&Relation, Columns<'_>),
    view: &ReadView,
    each: &mut EachRow<'_>,
) -> Result<()> {
    let RelationKind::Table { tree, long_values, .. } = relation.kind else { return Ok(()) };
    let data = Arc::clone(transaction.manager().data());
    let tree = data.tree(tree).map_err(txn::Error::from)?;
    let layout = relation.row_layout();
    let everything = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut scan = transaction.scan(view, &tree, everything, Direction::Forward)?;
    let (mut heap, mut row) = (Heap::default(), RowBuf::new());
    let (mut key, mut record) = (Vec::new(), Vec::new());
    loop {
        let Some(found) = scan.advance(transaction)? else { return Ok(()) };
        key.clear();
        key.extend_from_slice(found.key);
        record.clear();
        record.extend_from_slice(found.value);
        let (stored, into) =
            (Stored { record: &record, view: found.view, long_values }, (&mut heap, &mut row));
        columns_of(transaction, (relation, columns), &layout, stored, into)?;
        each(transaction, &key, &record, &row)?;
    }
}

/// Which columns of rows are read; the others are NULL.
#[derive(Clone, Copy, Debug)]
pub enum Columns<'c> {
    /// All.
    All,
    /// These.
    Only(&'c [usize]),
}

impl Columns<'_> {
    fn have(self, column: usize) -> bool {
        match self {
            Columns::All => true,
            Columns::Only(columns) => columns.contains(&column),
        }
    }
}

/// Reads columns of a record that a view has shown, dropped ones as NULL.
pub(super) fn columns_of(
    transaction: &mut Transaction,
    (relation, columns): (&Relation, Columns<'_>),
    layout: &RowLayout,
    stored: Stored<'_>,
    (heap, row): (&mut Heap, &mut RowBuf),
) -> Result<()> {
    heap.clear();
    row.clear();
    let mut image = Vec::new();
    let record = stored.open(transaction, layout, &mut image)?;
    for (at, column) in relation.columns.iter().enumerate() {
        if column.dropped || !columns.have(at) {
            row.push(Datum::Null);
            continue;
        }
        let value = record.read(transaction, at, heap, drop)?;
        row.push(heap.view(&value));
    }
    Ok(())
}

/// The columns of the row behind a key that came twice while a tree of `relation` was built: `index` has it, or (none)
/// the tree of the rows itself.
pub(crate) fn duplicate_row(
    transaction: &mut Transaction,
    relation: &Relation,
    index: Option<&Index>,
    duplicate: &Duplicate,
) -> Result<RowBuf> {
    let mut row = RowBuf::new();
    let RelationKind::Table { tree, long_values, .. } = relation.kind else { return Ok(row) };
    let data = Arc::clone(transaction.manager().data());
    let mut found = RecordBuffer::default();
    let (record, view) = match index {
        None => (&*duplicate.value, transaction.view_of_loaded()),
        Some(_) => {
            let tree = data.tree(tree).map_err(txn::Error::from)?;
            let row_key = entry::row_key(&duplicate.key, &duplicate.value)?;
            transaction.get_latest(&tree, row_key, &mut found)?;
            (found.value().unwrap_or_default(), found.view())
        }
    };
    let layout = relation.row_layout();
    let into = (&mut Heap::default(), &mut row);
    let stored = Stored { record, view, long_values };
    columns_of(transaction, (relation, Columns::All), &layout, stored, into)?;
    Ok(row)
}

/// What an index computes of a row.
pub(crate) struct KeyFunction<'a> {
    filter: Option<RowFunction<'a>>,
    expressions: Vec<RowFunction<'a>>,
}

impl<'a> KeyFunction<'a> {
    /// Of an index of a table. As in PostgreSQL, its functions run with the privileges of the table's owner, whoever builds it.
    ///
    /// # Errors
    /// Those of binding.
    pub(crate) fn new(
        semantics: &'a dyn Semantics,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        index: &Index,
    ) -> Result<KeyFunction<'a>> {
        let owner = Some(relation.owner);
        let compute = |made: &Expression| semantics.compute(snapshot, relation, owner, made);
        let expressions = index.expressions.iter().map(|expression| compute(&expression.value));
        Ok(KeyFunction {
            filter: index.filter.as_ref().map(compute).transpose()?,
            expressions: expressions.collect::<Result<_>>()?,
        })
    }

    /// The values of its expressions; none if it has no entry for the row.
    ///
    /// # Errors
    /// Those of the expressions.
    pub(crate) fn values(&mut self, row: &RowBuf) -> Result<Option<RowBuf>> {
        if self.filter.is_none() && self.expressions.is_empty() {
            return Ok(Some(RowBuf::new()));
        }
        let columns: Vec<Datum<'_>> = row.iter().collect();
        if let Some(filter) = &mut self.filter
            && !matches!(filter(&columns)?.get(0), Datum::Bool(true))
        {
            return Ok(None);
        }
        let mut values = RowBuf::new();
        for expression in &mut self.expressions {
            values.push(expression(&columns)?.get(0));
        }
        Ok(Some(values))
    }
}

/// 23505 while an index is built.
pub(super) fn duplicate(
    (semantics, snapshot): (&dyn Semantics, &CatalogSnapshot),
    relation: &Relation,
    index: &Index,
    row: &RowBuf,
    computed: &RowBuf,
) -> SqlError {
    let keys = semantics.index_keys(snapshot, relation, index);
    let values =
        key_values(index.columns.iter().map(|key| {
            (relation.key_type(index, key), key_value(row, Some(computed), key.column))
        }));
    SqlError::new(
        SqlState::UNIQUE_VIOLATION,
        format!("could not create unique index \"{}\"", index.name),
    )
    .detail(format!("Key ({keys})=({values}) is duplicated."))
    .table(&*relation.schema.1, &*relation.name)
    .constraint(&*index.name)
}

/// What a rewrite does to each row.
pub struct Rewrite<'a> {
    /// New values of columns, by index, each of one column over the old row.
    pub columns: Vec<(usize, RowFunction<'a>)>,
    /// Columns that may not be NULL in the new rows.
    pub not_null: Vec<usize>,
    /// CHECK constraints over the new rows, by name.
    pub checks: Vec<(Arc<str>, RowFunction<'a>)>,
}

/// How full the leaves of a tree are to be made, as its options say.
pub(crate) fn fill_percent(options: &[(String, String)]) -> Option<u8> {
    options.iter().find(|(name, _)| name == "fillfactor").and_then(|(_, value)| value.parse().ok())
}

impl Ddl<'_> {
    pub(super) fn load(&self, options: &[(String, String)]) -> TreeLoad {
        self.transaction.new_load(self.maintenance_bytes, fill_percent(options))
    }

    /// Builds an index's tree from its table's rows, and says which it is.
    pub(super) fn build_index(&mut self, relation: &Relation, index: &Index) -> Result<TreeId> {
        self.tell_build(relation, index);
        let layout = relation.index_layout(index);
        let (mut key, mut value) = (Vec::new(), Vec::new());
        let mut load = self.load(&index.options);
        let snapshot = self.snapshot();
        let mut keys = KeyFunction::new(self.semantics, &snapshot, relation, index)?;
        let (progress, pages) = (self.progress, self.pages_of(relation));
        progress.begin(
            Command::CreateIndex,
            relation.oid,
            &[
                (COMMAND, CREATE_INDEX),
                (INDEX, i64::from(index.oid.0)),
                (ACCESS_METHOD, BTREE),
                (PHASE, BUILDING),
                (SUBPHASE, SCANNING),
                (PAGES, pages),
            ],
        );
        let page_bytes = u64::from(self.transaction.manager().data().page_bytes());
        let (mut rows, mut bytes) = (0_i64, 0_u64);
        each_row(
            self.transaction,
            relation,
            Columns::All,
            &mut |transaction, row_key, record, row| {
                rows += 1;
                bytes += (row_key.len() + record.len()) as u64;
                progress.set(ROWS_DONE, rows);
                let done = (bytes / page_bytes).min(pages.cast_unsigned());
                progress.set(PAGES_DONE, done.cast_signed());
                let Some(computed) = keys.values(row)? else { return Ok(()) };
                entry::write(
                    &layout,
                    index.uniqueness(),
                    |column| key_value(row, Some(&computed), column),
                    row_key,
                    &mut key,
                    &mut value,
                )?;
                check_entry_size(transaction, relation, index, (key.len(), value.len()))?;
                Ok(load.push(&key, &value).map_err(txn::Error::from)?)
            },
        )?;
        progress.set(PAGES_DONE, pages);
        progress.set(ROWS, rows);
        progress.set(SUBPHASE, LOADING);
        match self.transaction.build(load)? {
            Loaded::Built(tree) => {
                let tree = self.catalog.adopt_tree(&tree);
                if index.deferral.is_deferrable() {
                    self.check_built(relation, index, tree)?;
                }
                Ok(tree)
            }
            Loaded::Duplicate(twice, firsts) => {
                self.catalog.adopt_tree(&firsts);
                let row = duplicate_row(self.transaction, relation, Some(index), &twice)?;
                let computed = keys.values(&row)?.unwrap_or_default();
                let meaning = (self.semantics, &*snapshot);
                Err(duplicate(meaning, relation, index, &row, &computed))
            }
        }
    }

    /// 23505 if keys of a deferrable constraint are the same for several rows of a tree that has been built: they are
    /// beside each other.
    fn check_built(&mut self, relation: &Relation, index: &Index, tree: TreeId) -> Result<()> {
        let data = Arc::clone(self.transaction.manager().data());
        let tree = data.tree(tree).map_err(txn::Error::from)?;
        let everything = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
        let mut scan = self.transaction.scan(&LATEST, &tree, everything, Direction::Forward)?;
        let mut last: Vec<u8> = Vec::new();
        let mut twice = None;
        while let Some(found) = scan.advance(self.transaction)? {
            let Some(columns) = entry::checked_columns(found.key, found.value) else { continue };
            if columns == last {
                let (key, value) = (found.key.to_vec(), found.value.to_vec());
                twice = Some(Duplicate { key, value, ordinal: 0 });
                break;
            }
            last.clear();
            last.extend_from_slice(columns);
        }
        let Some(twice) = twice else { return Ok(()) };
        let row = duplicate_row(self.transaction, relation, Some(index), &twice)?;
        let meaning = (self.semantics, &*self.snapshot());
        Err(duplicate(meaning, relation, index, &row, &RowBuf::new()))
    }

    /// Gives a table new trees, clustered by its primary key where it has one, and moves its rows there. The relation in
    /// `next` has the columns, indexes and key it is to have; its trees are set here.
    pub(super) fn rewrite(
        &mut self,
        old: &Relation,
        next: &mut Relation,
        rewrite: &mut Rewrite<'_>,
    ) -> Result<()> {
        let RelationKind::Table { tree: old_tree, long_values: old_long, .. } = old.kind else {
            return Ok(());
        };
        let primary = next.indexes.iter().find(|index| index.holds_rows());
        let key: Vec<usize> = primary.map_or_else(Vec::new, |primary| {
            primary.columns.iter().map(|key| key.column).collect()
        });
        let (tree, new_long) = self.move_rows(old, next, &key, rewrite)?;
        if let Some(primary) = next.indexes.iter_mut().find(|index| index.holds_rows()) {
            primary.tree = tree;
        }
        // Without a new one, long values keep their tree: the new rows are the only ones to point into it.
        next.kind = RelationKind::Table { tree, key, long_values: new_long.unwrap_or(old_long) };
        self.catalog.drop_tree(old_tree);
        if new_long.is_some() {
            self.catalog.drop_tree(old_long);
        }
        // A row's key may be another now: all indexes are built anew.
        self.rebuild_indexes(next)
    }

    /// The tree of the rows as they are to be, and that of their long values where the rows are not the same as before.
    fn move_rows(
        &mut self,
        old: &Relation,
        next: &Relation,
        key: &[usize],
        rewrite: &mut Rewrite<'_>,
    ) -> Result<(TreeId, Option<TreeId>)> {
        let layout = next.row_layout();
        let keys = next.key_layout(key);
        let mut load = self.load(&next.options);
        let (mut long_load, mut last_id) = (self.load(&next.options), 0);
        let mut number = 0_u64;
        let (mut new_key, mut new_record) = (Vec::new(), Vec::new());
        let data = Arc::clone(self.transaction.manager().data());
        let record_bytes = data.record_bytes_fair();
        // Beside a key that may be longer a record may have less room.
        let is_short = |part: &KeyColumn| layout.form(part.column).width().is_some();
        let kept = rewrite.columns.is_empty() && keys.columns.iter().all(is_short);
        // A key of eight bytes may be an integer's: only what was a row id stays one.
        let had_key = matches!(&old.kind, RelationKind::Table { key, .. } if !key.is_empty());
        let mut null_key = None;
        each_row(self.transaction, old, Columns::All, &mut |transaction, old_key, record, row| {
            let computed = rewrite
                .columns
                .iter_mut()
                .map(|(at, function)| {
                    let values: Vec<Datum<'_>> = row.iter().collect();
                    Ok((*at, function(&values)?))
                })
                .collect::<Result<Vec<_>>>()?;
            let column = |at: usize| match computed.iter().find(|(column, _)| *column == at) {
                Some((_, value)) => value.get(0),
                None if next.columns[at].dropped => Datum::Null,
                None if at < row.len() => row.get(at),
                None => Datum::Null,
            };
            for &at in &rewrite.not_null {
                if column(at).is_null() {
                    return Err(contains_null(next, at));
                }
            }
            new_key.clear();
            if key.is_empty() {
                // Rows without a key keep their place.
                if had_key {
                    number += 1;
                    new_key.extend_from_slice(&hidden_row_id(number));
                } else {
                    new_key.extend_from_slice(old_key);
                }
            } else {
                for part in &keys.columns {
                    let datum = column(part.column);
                    if datum.is_null() {
                        // Rows that are equal are told of before columns that have no value.
                        null_key.get_or_insert(part.column);
                        return Ok(());
                    }
                    part.encode(datum, &mut new_key)?;
                }
            }
            if let Some(index) = next.indexes.iter().find(|index| index.holds_rows()) {
                check_entry_size(transaction, next, index, (new_key.len(), 0))?;
            }
            let record = if kept {
                record
            } else {
                let values: Vec<Datum<'_>> = (0..next.columns.len()).map(column).collect();
                for (name, check) in &mut rewrite.checks {
                    if matches!(check(&values)?.get(0), Datum::Bool(false)) {
                        return Err(violated(next, name));
                    }
                }
                let mut store = |form: Form, bytes: &[u8]| {
                    last_id += 1;
                    let value = LongValue { id: last_id, bytes: bytes.len() as u64, form };
                    for (key, piece) in value.pieces(bytes, record_bytes) {
                        long_load.push(&key, piece).map_err(txn::Error::from)?;
                    }
                    Ok(value)
                };
                let max = data.value_bytes_fair(new_key.len());
                long_value::write_row(&layout, &values, max, &mut store, &mut new_record)?;
                &new_record
            };
            Ok(load.push(&new_key, record).map_err(txn::Error::from)?)
        })?;
        let mut written = Relation::clone(next);
        let new_long = if kept {
            None
        } else {
            let (Loaded::Built(tree) | Loaded::Duplicate(_, tree)) =
                self.transaction.build(long_load)?;
            Some(self.catalog.adopt_tree(&tree))
        };
        if let (RelationKind::Table { long_values, .. }, Some(new_long)) =
            (&mut written.kind, new_long)
        {
            *long_values = new_long;
        }
        match self.transaction.build(load)? {
            Loaded::Built(tree) => {
                let tree = self.catalog.adopt_tree(&tree);
                match null_key {
                    Some(column) => Err(contains_null(next, column)),
                    None => Ok((tree, new_long)),
                }
            }
            Loaded::Duplicate(twice, firsts) => {
                self.catalog.adopt_tree(&firsts);
                let primary = next.indexes.iter().find(|index| index.holds_rows());
                let index = primary.expect("a table with a key has a primary key");
                let row = duplicate_row(self.transaction, &written, None, &twice)?;
                let meaning = (self.semantics, &*self.snapshot());
                Err(duplicate(meaning, next, index, &row, &RowBuf::new()))
            }
        }
    }

    /// Gives every secondary index of a table a new tree, filled from its rows.
    pub(super) fn rebuild_indexes(&mut self, next: &mut Relation) -> Result<()> {
        (0..next.indexes.len()).try_for_each(|at| self.rebuild_index(next, at))
    }

    /// The same of one of its indexes; nothing for the one that holds the rows.
    pub(super) fn rebuild_index(&mut self, next: &mut Relation, at: usize) -> Result<()> {
        if next.indexes[at].holds_rows() {
            return Ok(());
        }
        let tree = self.build_index(next, &next.indexes[at])?;
        let old = std::mem::replace(&mut next.indexes[at].tree, tree);
        next.indexes[at].state = IndexState::Valid;
        if old != NO_TREE {
            self.catalog.drop_tree(old);
        }
        Ok(())
    }
}

/// Stands for the tree of an index that is about to be built.
pub(super) const NO_TREE: TreeId = TreeId(0);

/// 23502 over rows that are there.
pub(super) fn contains_null(relation: &Relation, column: usize) -> SqlError {
    let column = &relation.columns[column].name;
    SqlError::new(
        SqlState::NOT_NULL_VIOLATION,
        format!("column \"{column}\" of relation \"{}\" contains null values", relation.name),
    )
    .table(&*relation.schema.1, &*relation.name)
    .column(&**column)
}
