//! Filling trees: an index over rows that are there, and rows that move to another tree.
//!
//! The caller holds a table lock that keeps writers out, so the *latest* state is read, and no snapshot matters. The trees
//! that are filled here were made by the same transaction: nobody else can reach them, so no record in them is locked.
//! Equal keys of a unique index show when the second is about to be written.

use super::{Ddl, RowFunction};
use crate::catalog::relation::{Index, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::tuple::row::Field;
use crate::tuple::{Heap, KeyLayout, RowBuf, RowLayout, entry};
use crate::types::Datum;
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, ReadView, RecordBuffer, Transaction, Tree, TreeId};

/// The latest state, this transaction's own writes included.
pub const LATEST: ReadView = ReadView::LATEST;

/// What stands for a row without a key in the tree of a table without a primary key.
pub(super) fn hidden_row_id(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// What is done with a row: the transaction, the row's key, its record, its columns.
pub type EachRow<'a> = dyn FnMut(&mut Transaction, &[u8], &[u8], &RowBuf) -> Result<()> + 'a;

/// Calls `each` for every row of a table: its key, its record, its columns (dropped ones as NULL).
///
/// # Errors
/// Those of `each`; storage's.
pub fn each_row(
    transaction: &mut Transaction,
    relation: &Relation,
    each: &mut EachRow<'_>,
) -> Result<()> {
    let RelationKind::Table { tree, long_values, .. } = relation.kind else { return Ok(()) };
    let data = Arc::clone(transaction.manager().data());
    let tree = data.tree(tree).map_err(txn::Error::from)?;
    let long_values = data.tree(long_values).map_err(txn::Error::from)?;
    let layout = RowLayout::of(relation);
    let everything = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut scan = transaction.scan(&LATEST, &tree, everything, Direction::Forward)?;
    let (mut heap, mut row) = (Heap::default(), RowBuf::new());
    let (mut key, mut record) = (Vec::new(), Vec::new());
    loop {
        let Some(found) = scan.advance(transaction)? else { return Ok(()) };
        key.clear();
        key.extend_from_slice(found.key);
        record.clear();
        record.extend_from_slice(found.value);
        heap.clear();
        row.clear();
        for (at, column) in relation.columns.iter().enumerate() {
            if column.dropped {
                row.push(Datum::Null);
                continue;
            }
            let value = match layout.read(&record, at, &mut heap)? {
                Field::Value(value) => value,
                Field::Long(long) => long.fetch(transaction, &LATEST, &long_values, &mut heap)?,
            };
            row.push(heap.view(&value));
        }
        each(transaction, &key, &record, &row)?;
    }
}

/// 23505 while an index is built.
fn duplicate(relation: &Relation, index: &Index, row: &RowBuf) -> SqlError {
    let columns: Vec<&str> =
        index.columns.iter().map(|key| &*relation.columns[key.column].name).collect();
    let values: Vec<String> = index.columns.iter().map(|key| shown(row.get(key.column))).collect();
    SqlError::new(
        SqlState::UNIQUE_VIOLATION,
        format!("could not create unique index \"{}\"", index.name),
    )
    .detail(format!("Key ({})=({}) is duplicated.", columns.join(", "), values.join(", ")))
    .table(&*relation.schema.1, &*relation.name)
    .constraint(&*index.name)
}

/// A key's value in a message. Keys of other types than these are named by their form.
pub(super) fn shown(datum: Datum<'_>) -> String {
    match datum {
        Datum::Null => "null".to_owned(),
        Datum::Bool(value) => if value { "t" } else { "f" }.to_owned(),
        Datum::Int2(value) => value.to_string(),
        Datum::Int4(value) => value.to_string(),
        Datum::Int8(value) => value.to_string(),
        Datum::Oid(value) => value.to_string(),
        Datum::Float4(value) => value.to_string(),
        Datum::Float8(value) => value.to_string(),
        Datum::Text(value) => value.to_owned(),
        other => format!("{other:?}"),
    }
}

/// Fills an index's tree from its table's rows.
///
/// # Errors
/// 23505; storage's.
pub fn fill_index(
    transaction: &mut Transaction,
    relation: &Relation,
    index: &Index,
    tree: &Tree,
) -> Result<()> {
    let layout = KeyLayout::of_index(relation, index);
    let limit = transaction.manager().data().key_bytes_max();
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let mut buffer = RecordBuffer::default();
    each_row(transaction, relation, &mut |transaction, row_key, _, row| {
        let meets = entry::write(
            &layout,
            index.unique,
            |column| row.get(column),
            row_key,
            &mut key,
            &mut value,
        )?;
        if key.len() > limit {
            return Err(too_large(index, key.len(), limit));
        }
        if meets && transaction.get_latest(tree, &key, &mut buffer)? {
            return Err(duplicate(relation, index, row));
        }
        Ok(transaction.put(tree, &key, &value)?)
    })
}

/// 54000.
fn too_large(index: &Index, size: usize, limit: usize) -> SqlError {
    SqlError::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        format!(
            "index row size {size} exceeds btree version 4 maximum {limit} for index \"{}\"",
            index.name
        ),
    )
    .hint("Values larger than 1/3 of a buffer page cannot be indexed.\nConsider a function index of an MD5 hash of the value, or use full text indexing.")
}

/// What a rewrite does to each row.
pub struct Rewrite<'a> {
    /// New values of columns, by index, each of one column over the old row.
    pub columns: Vec<(usize, RowFunction<'a>)>,
    /// Columns that may not be NULL in the new rows.
    pub not_null: Vec<usize>,
}

impl Ddl<'_> {
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
        let tree = self.catalog.create_tree()?;
        let key = match next.indexes.iter_mut().find(|index| index.primary) {
            Some(primary) => {
                primary.tree = tree.id();
                primary.columns.iter().map(|key| key.column).collect()
            }
            None => Vec::new(),
        };
        // Long values keep their tree: rows point into it, and the new rows are the only ones to do so.
        next.kind =
            RelationKind::Table { tree: tree.id(), key: key.clone(), long_values: old_long };
        self.move_rows(old, next, &tree, &key, rewrite)?;
        self.catalog.drop_tree(old_tree);
        // A row's key may be another now: all indexes are built anew.
        self.rebuild_indexes(next)
    }

    fn move_rows(
        &mut self,
        old: &Relation,
        next: &Relation,
        tree: &Tree,
        key: &[usize],
        rewrite: &mut Rewrite<'_>,
    ) -> Result<()> {
        let layout = RowLayout::of(next);
        let keys = KeyLayout::of_rows(next, key);
        let mut buffer = RecordBuffer::default();
        let mut number = 0_u64;
        let (mut new_key, mut new_record) = (Vec::new(), Vec::new());
        let limit = self.transaction.manager().data().record_bytes_max();
        each_row(self.transaction, old, &mut |transaction, old_key, record, row| {
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
                None if at < row.len() => row.get(at),
                None => Datum::Null,
            };
            for &at in &rewrite.not_null {
                if column(at).is_null() {
                    return Err(contains_null(next, at));
                }
            }
            let record = if computed.is_empty() {
                record
            } else {
                let values: Vec<Datum<'_>> = (0..next.columns.len()).map(column).collect();
                layout.write(&values, &[], &mut new_record);
                if new_record.len() > limit {
                    return Err(SqlError::unsupported("rewriting rows with long values is"));
                }
                &new_record
            };
            new_key.clear();
            if key.is_empty() {
                // Rows without a key keep their place.
                if old_key.len() == 8 {
                    new_key.extend_from_slice(old_key);
                } else {
                    number += 1;
                    new_key.extend_from_slice(&hidden_row_id(number));
                }
            } else {
                for part in &keys.columns {
                    let datum = column(part.column);
                    if datum.is_null() {
                        return Err(contains_null(next, part.column));
                    }
                    part.encode(datum, &mut new_key)?;
                }
                if transaction.get_latest(tree, &new_key, &mut buffer)? {
                    let primary = next.indexes.iter().find(|index| index.primary);
                    let index = primary.expect("a table with a key has a primary key");
                    return Err(duplicate(next, index, row));
                }
            }
            Ok(transaction.put(tree, &new_key, record)?)
        })
    }

    /// Gives every secondary index of a table a new tree, filled from its rows.
    pub(super) fn rebuild_indexes(&mut self, next: &mut Relation) -> Result<()> {
        for at in 0..next.indexes.len() {
            if next.indexes[at].primary {
                continue;
            }
            let tree = self.catalog.create_tree()?;
            let old = std::mem::replace(&mut next.indexes[at].tree, tree.id());
            fill_index(self.transaction, next, &next.indexes[at], &tree)?;
            if old != NO_TREE {
                self.catalog.drop_tree(old);
            }
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
