//! Foreign keys: a child needs its parent, a parent keeps its children.
//!
//! A child locks its parent's row KEY SHARE and then looks at the latest state; who deletes the parent, or changes its key,
//! holds it FOR UPDATE and then looks for children in the latest state. Whoever comes second sees the first. A table that
//! refers to itself is checked at the statement's end, as is NO ACTION, when rows of the same statement may have put
//! things right.

use super::context::Context;
use super::write::{Writer, differ, encode_key};
use crate::catalog::{Action, ConstraintKind, ForeignKey, MatchType, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::plan::physical::{Reference, Table};
use crate::sqlstate::SqlState;
use crate::tuple::key::prefix_end;
use crate::tuple::row::Field;
use crate::tuple::{Heap, KeyColumn, KeyLayout, RowBuf, RowLayout, entry};
use crate::types::Datum;
use std::ops::Bound;
use std::sync::Arc;
use txn::{
    CommandId, Direction, KeyRange, Lsn, ReadView, RecordBuffer, RowLock, TreeId, WaitPolicy,
};

/// Checks for the end of the statement.
#[derive(Debug, Default)]
pub struct Pending {
    checks: Vec<Check>,
}

#[derive(Debug)]
struct Check {
    table: Arc<Table>,
    reference: usize,
    /// A row of the child, which needs its parent; else an old row of the parent.
    of_child: bool,
    row: RowBuf,
}

impl Pending {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.checks.clear();
    }
}

fn key_of(reference: &Reference) -> &ForeignKey {
    match &reference.child.constraints[reference.constraint].kind {
        ConstraintKind::ForeignKey(key) => key,
        ConstraintKind::Check(_) => unreachable!("a reference is made of a foreign key"),
    }
}

/// Everything there is, own writes of this statement too.
const LATEST: ReadView = ReadView { snapshot: Lsn::MAX, command: CommandId(u32::MAX) };

/// Checks that a new or changed child row has its parents.
///
/// # Errors
/// 23503.
pub fn check_child(
    cx: &mut Context<'_>,
    table: &Arc<Table>,
    new: &RowBuf,
    old: Option<&RowBuf>,
) -> Result<()> {
    for (at, reference) in table.references.iter().enumerate() {
        let key = key_of(reference);
        if let Some(old) = old
            && !key.columns.iter().any(|column| differ(&table.relation, *column, old, new))
        {
            continue;
        }
        if reference.parent.oid == table.relation.oid {
            cx.checks.checks.push(Check {
                table: Arc::clone(table),
                reference: at,
                of_child: true,
                row: new.clone(),
            });
        } else {
            demand_parent(cx, reference, new)?;
        }
    }
    Ok(())
}

fn demand_parent(cx: &mut Context<'_>, reference: &Reference, child: &RowBuf) -> Result<()> {
    let key = key_of(reference);
    let nulls = key.columns.iter().filter(|column| child.get(**column).is_null()).count();
    if nulls == key.columns.len() || nulls > 0 && key.match_type == MatchType::Simple {
        return Ok(());
    }
    let constraint = &reference.child.constraints[reference.constraint].name;
    let violated = |detail: String| {
        SqlError::new(
            SqlState::FOREIGN_KEY_VIOLATION,
            format!(
                "insert or update on table \"{}\" violates foreign key constraint \"{constraint}\"",
                reference.child.name
            ),
        )
        .detail(detail)
        .table(&*reference.child.schema.1, &*reference.child.name)
        .constraint(&**constraint)
    };
    if nulls > 0 {
        return Err(violated(
            "MATCH FULL does not allow mixing of null and nonnull key values.".into(),
        ));
    }
    if !lock_parent(cx, reference, key, child)? {
        let shown = Writer::key_text(cx, &reference.child, &key.columns, child)?;
        return Err(violated(format!(
            "Key {shown} is not present in table \"{}\".",
            reference.parent.name
        )));
    }
    Ok(())
}

/// Locks the parent of a child row KEY SHARE; false if there is none.
fn lock_parent(
    cx: &mut Context<'_>,
    reference: &Reference,
    key: &ForeignKey,
    child: &RowBuf,
) -> Result<bool> {
    let parent = &reference.parent;
    let RelationKind::Table { tree, .. } = &parent.kind else { return Ok(false) };
    let index = parent.indexes.iter().find(|index| index.oid == key.index).ok_or_else(|| {
        SqlError::new(SqlState::INTERNAL_ERROR, "a foreign key has lost its parent's index")
    })?;
    let layout = KeyLayout::of_index(parent, index);
    let mut bytes = Vec::new();
    for column in &layout.columns {
        let at = key.referenced.iter().position(|referenced| *referenced == column.column);
        let from = key.columns[at.expect("the index is over the referenced columns")];
        let Some(value) = converted(child.get(from), column) else { return Ok(false) };
        column.encode(value, &mut bytes)?;
    }
    let mut record = RecordBuffer::default();
    let rows = cx.tree(*tree)?;
    if index.tree != *tree {
        let entries = cx.tree(index.tree)?;
        if !cx.transaction.get_latest(&entries, &bytes, &mut record)? {
            return Ok(false);
        }
        let row_key = entry::row_key(&bytes, record.value().unwrap_or_default())?.to_vec();
        let found = cx.transaction.lock_key(
            &rows,
            &row_key,
            RowLock::KeyShare,
            WaitPolicy::Block,
            &mut record,
        )?;
        // Its key may have changed while it was waited for.
        return Ok(found && cx.transaction.get_latest(&entries, &bytes, &mut record)?);
    }
    Ok(cx.transaction.lock_key(&rows, &bytes, RowLock::KeyShare, WaitPolicy::Block, &mut record)?)
}

/// An integer in the width of the column it is looked up in.
fn converted<'d>(value: Datum<'d>, column: &KeyColumn) -> Option<Datum<'d>> {
    use crate::tuple::Form;
    let wide = match value {
        Datum::Int2(v) => i64::from(v),
        Datum::Int4(v) => i64::from(v),
        Datum::Int8(v) => v,
        other => return Some(other),
    };
    match column.form {
        Form::Int2 => i16::try_from(wide).ok().map(Datum::Int2),
        Form::Int4 => i32::try_from(wide).ok().map(Datum::Int4),
        Form::Int8 => Some(Datum::Int8(wide)),
        _ => None,
    }
}

/// Whether the referenced columns of a parent row are about to go or change.
fn concerns(reference: &Reference, old: &RowBuf, new: Option<&RowBuf>) -> bool {
    let key = key_of(reference);
    if key.referenced.iter().any(|column| old.get(*column).is_null()) {
        return false;
    }
    new.is_none_or(|new| {
        key.referenced.iter().any(|column| differ(&reference.parent, *column, old, new))
    })
}

/// RESTRICT, before a parent row goes or changes its key.
///
/// # Errors
/// 23503; 0A000 for actions that change children.
pub fn before_parent(
    cx: &mut Context<'_>,
    table: &Arc<Table>,
    old: &RowBuf,
    new: Option<&RowBuf>,
) -> Result<()> {
    for reference in &table.referenced_by {
        if !concerns(reference, old, new) {
            continue;
        }
        let key = key_of(reference);
        match if new.is_some() { key.on_update } else { key.on_delete } {
            Action::Restrict => forbid_children(cx, reference, old)?,
            Action::NoAction => {}
            Action::Cascade | Action::SetNull | Action::SetDefault => {
                if has_child(cx, reference, old)? {
                    return Err(SqlError::unsupported(
                        "foreign-key actions that change referencing rows are",
                    ));
                }
            }
        }
    }
    Ok(())
}

/// NO ACTION, once a parent row has gone or changed its key: looked at when the statement ends.
///
/// # Errors
/// None so far.
pub fn after_parent(
    cx: &mut Context<'_>,
    table: &Arc<Table>,
    old: &RowBuf,
    new: Option<&RowBuf>,
) -> Result<()> {
    for (at, reference) in table.referenced_by.iter().enumerate() {
        let key = key_of(reference);
        let action = if new.is_some() { key.on_update } else { key.on_delete };
        if action == Action::NoAction && concerns(reference, old, new) {
            cx.checks.checks.push(Check {
                table: Arc::clone(table),
                reference: at,
                of_child: false,
                row: old.clone(),
            });
        }
    }
    Ok(())
}

/// Makes the checks that were put off to the statement's end.
///
/// # Errors
/// 23503.
pub fn finish(cx: &mut Context<'_>) -> Result<()> {
    if cx.checks.checks.is_empty() {
        return Ok(());
    }
    for check in std::mem::take(&mut cx.checks.checks) {
        cx.check_cancel()?;
        if check.of_child {
            demand_parent(cx, &check.table.references[check.reference], &check.row)?;
            continue;
        }
        let reference = &check.table.referenced_by[check.reference];
        // Another row of the statement may have taken the key.
        if !parent_again(cx, &check.table, reference, &check.row)? {
            forbid_children(cx, reference, &check.row)?;
        }
    }
    Ok(())
}

fn parent_again(
    cx: &mut Context<'_>,
    table: &Table,
    reference: &Reference,
    old: &RowBuf,
) -> Result<bool> {
    let key = key_of(reference);
    let Some(index) = table.relation.indexes.iter().find(|index| index.oid == key.index) else {
        return Ok(false);
    };
    let mut bytes = Vec::new();
    encode_key(&KeyLayout::of_index(&table.relation, index), old, &mut bytes)?;
    let tree = cx.tree(index.tree)?;
    Ok(cx.transaction.get_latest(&tree, &bytes, &mut RecordBuffer::default())?)
}

fn forbid_children(cx: &mut Context<'_>, reference: &Reference, old: &RowBuf) -> Result<()> {
    if !has_child(cx, reference, old)? {
        return Ok(());
    }
    let key = key_of(reference);
    let constraint = &reference.child.constraints[reference.constraint].name;
    let shown = Writer::key_text(cx, &reference.parent, &key.referenced, old)?;
    Err(SqlError::new(
        SqlState::FOREIGN_KEY_VIOLATION,
        format!(
            "update or delete on table \"{}\" violates foreign key constraint \"{constraint}\" on table \"{}\"",
            reference.parent.name, reference.child.name
        ),
    )
    .detail(format!("Key {shown} is still referenced from table \"{}\".", reference.child.name))
    .table(&*reference.child.schema.1, &*reference.child.name)
    .constraint(&**constraint))
}

/// The key of the child that begins with the referencing columns, in any order: its tree and its first columns.
fn child_key(child: &Relation, columns: &[usize]) -> Option<(TreeId, Vec<KeyColumn>)> {
    child.indexes.iter().find_map(|index| {
        let layout = KeyLayout::of_index(child, index);
        let first = layout.columns.get(..columns.len())?;
        let all = first.iter().all(|column| columns.contains(&column.column));
        all.then(|| (index.tree, first.to_vec()))
    })
}

/// Whether a row of the child refers to this row of the parent.
fn has_child(cx: &mut Context<'_>, reference: &Reference, parent: &RowBuf) -> Result<bool> {
    let key = key_of(reference);
    let child = &reference.child;
    let RelationKind::Table { tree, .. } = &child.kind else { return Ok(false) };
    if let Some((tree, columns)) = child_key(child, &key.columns) {
        let mut low = Vec::new();
        for column in &columns {
            let at = key.columns.iter().position(|from| *from == column.column);
            let to = key.referenced[at.expect("the key is over the referencing columns")];
            let Some(value) = converted(parent.get(to), column) else { return Ok(false) };
            column.encode(value, &mut low)?;
        }
        let mut high = low.clone();
        let bounded = prefix_end(&mut high);
        let range = KeyRange {
            low: Bound::Included(&low),
            high: if bounded { Bound::Excluded(&high) } else { Bound::Unbounded },
        };
        let tree = cx.tree(tree)?;
        let mut scan = cx.transaction.scan(&LATEST, &tree, range, Direction::Forward)?;
        return Ok(scan.advance(cx.transaction)?.is_some());
    }
    let tree = cx.tree(*tree)?;
    let layout = RowLayout::of(child);
    let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut scan = cx.transaction.scan(&LATEST, &tree, range, Direction::Forward)?;
    let mut heap = Heap::default();
    while let Some(row) = scan.advance(cx.transaction)? {
        let mut equal = true;
        for (from, to) in key.columns.iter().zip(&key.referenced) {
            heap.clear();
            let Field::Value(value) = layout.read(row.value, *from, &mut heap)? else {
                equal = false;
                break;
            };
            let (a, b) = (heap.view(&value), parent.get(*to));
            let ty = reference.parent.columns[*to].ty.oid.0;
            if a.is_null() || crate::types::compare(ty, &b, &a).is_ne() {
                equal = false;
                break;
            }
        }
        if equal {
            return Ok(true);
        }
        cx.check_cancel()?;
    }
    Ok(false)
}
