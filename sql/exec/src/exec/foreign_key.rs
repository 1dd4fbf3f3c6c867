//! Foreign keys: a child needs its parent, a parent keeps its children.
//!
//! A child locks its parent's row KEY SHARE and then looks at the latest state; who deletes the parent, or changes its key,
//! holds it FOR UPDATE and then looks for children in the latest state. Whoever comes second sees the first. A child that is
//! found is locked KEY SHARE before it forbids anything: it may be about to go.
//!
//! Whoever has switched off the triggers by which PostgreSQL does all this, or applies the changes of a replica, means that
//! none of it is done.
//!
//! A child asks for its parent at once, unless rows of the same statement may still put things right: a table that refers to
//! itself, a row that another foreign key has changed; or the constraint is deferred. All that a parent's going sets off
//! waits for the statement's end, in one queue ([`super::deferred`]), as PostgreSQL's constraint triggers do: NO ACTION, RESTRICT (which, unlike it, does not care whether another
//! row has taken the key), and the actions of [`super::referential_action`], which put more into the queue.

use super::context::Context;
use super::deferred::{self, Check};
use super::key_match::{converted, is_one_to_one, meets, same_image};
use super::referential_action;
use super::write::{Writer, differ, encode_key};
use crate::catalog::relation_counts::Event;
use crate::catalog::{
    Action, ConstraintKind, ForeignKey, Index, MatchType, Relation, RelationKind,
};
use crate::error::{Result, SqlError};
use crate::plan::physical::{Reference, Table};
use crate::sqlstate::SqlState;
use crate::tuple::key::prefix_end;
use crate::tuple::long_value::Stored;
use crate::tuple::{Heap, KeyColumn, RowBuf, RowLayout, entry};
use crate::types::check_held;
use bumpalo::Bump;
use std::ops::Bound;
use std::sync::Arc;
use txn::{
    ConflictKind, Direction, KeyRange, ReadView, RecordBuffer, RowLock, Transaction, Tree,
    WaitPolicy,
};

/// When a child asks for its parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// When it is written.
    AtOnce,
    /// At the statement's end.
    AtEnd,
}

/// The foreign key that a reference stands for.
#[must_use]
pub fn key_of(reference: &Reference) -> &ForeignKey {
    match &reference.child.constraints[reference.constraint].kind {
        ConstraintKind::ForeignKey(key) => key,
        ConstraintKind::Check { .. } => unreachable!("a reference is made of a foreign key"),
    }
}

/// Checks that the new or changed child row that has just been written has its parents.
///
/// # Errors
/// 23503.
pub fn check_child(
    cx: &mut Context<'_>,
    writer: &Writer,
    new: &RowBuf,
    old: Option<&RowBuf>,
    timing: Timing,
) -> Result<()> {
    let table = &writer.table;
    let replica = !table.references.is_empty() && cx.host.settings.get().replica;
    for (at, reference) in table.references.iter().enumerate() {
        let key = key_of(reference);
        let constraint = &reference.child.constraints[reference.constraint];
        let trigger = match old {
            None => key.triggers.checks_new,
            Some(_) => key.triggers.checks_changed,
        };
        if !table.relation.minds(trigger, replica) {
            continue;
        }
        let waits = cx.host.deferred.borrow().is_deferred((constraint.oid, constraint.deferral));
        if let Some(old) = old
            && !key.columns.iter().any(|column| differ(&table.relation, *column, old, new))
            // A check that waits knows its row by its key.
            && !(waits && writer.has_moved())
        {
            continue;
        }
        if waits || timing == Timing::AtEnd || reference.parent.oid == table.relation.oid {
            let key = writer.last_key().to_vec();
            let check = Check::Child { reference: at, key, row: new.clone() };
            deferred::put_off(cx, table, check)?;
        } else {
            demand_parent(cx, reference, new)?;
        }
    }
    Ok(())
}

/// Whether a child row still refers to what it referred to: if not, whoever has changed it has had it checked.
fn still_refers(
    cx: &mut Context<'_>,
    table: &Table,
    key: &ForeignKey,
    row_key: &[u8],
    row: &RowBuf,
) -> Result<bool> {
    let tree = cx.tree(table.tree)?;
    let mut record = RecordBuffer::default();
    if !cx.transaction.get_latest(&tree, row_key, &mut record)? {
        return Ok(false);
    }
    let (mut image, mut heap) = (Vec::new(), Heap::default());
    let stored = Stored {
        record: record.value().unwrap_or_default(),
        view: record.view(),
        long_values: table.long_values,
    };
    let stored = stored.open(cx.transaction, &table.layout, &mut image)?;
    for column in &key.columns {
        heap.clear();
        let value = stored.read(cx.transaction, *column, &mut heap, drop)?;
        let (now, then) = (heap.view(&value), row.get(*column));
        let same = match (now.is_null(), then.is_null()) {
            (true, true) => true,
            (false, false) => {
                crate::types::compare(table.relation.columns[*column].ty.oid.0, &now, &then).is_eq()
            }
            _ => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
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
        let key = shown.map_or_else(|| "Key".to_owned(), |shown| format!("Key {shown}"));
        return Err(violated(format!(
            "{key} is not present in table \"{}\".",
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
    let layout = parent.index_layout(index);
    let (mut bytes, arena) = (Vec::new(), Bump::new());
    for column in &layout.columns {
        let at = key.referenced.iter().position(|referenced| *referenced == column.column);
        let from = key.columns[at.expect("the index is over the referenced columns")];
        let ty = reference.child.columns[from].ty.oid;
        let Some(value) = converted(child.get(from), ty, column, &arena) else { return Ok(false) };
        column.encode(value, &mut bytes)?;
    }
    let rows = cx.tree(*tree)?;
    let entries = if index.tree == *tree { None } else { Some(cx.tree(index.tree)?) };
    let found = lock_row_of_key(cx, &rows, entries.as_ref(), &bytes)?;
    count_lookup(cx, index, found.is_some());
    let Some(view) = cx.transaction.one_view() else { return Ok(found.is_some()) };
    // Who has one snapshot finds its parents there (`ri_PerformCheck`): one that has come since is none, and one that has
    // gone since, or has given its key to another, is a conflict.
    let mut record = RecordBuffer::default();
    let seen = cx.transaction.get(&view, entries.as_ref().unwrap_or(&rows), &bytes, &mut record)?;
    if !seen {
        return Ok(false);
    }
    let is_same = match (&found, &entries) {
        (None, _) => false,
        (Some(row), Some(_)) => entry::row_key(&bytes, record.value().unwrap_or_default())? == row,
        (Some(_), None) => true,
    };
    if !is_same || found.is_some_and(|row| cx.transaction.is_another_row(&view, &rows, &row)) {
        return Err(txn::Error::Conflict(ConflictKind::Update).into());
    }
    Ok(true)
}

/// Counts a key that was looked up, as the query by which PostgreSQL's trigger does it is counted.
fn count_lookup(cx: &Context<'_>, index: &Index, found: bool) {
    let count = cx.host.counts.of(index.oid);
    cx.host.counts.meet(&count);
    count.add(Event::Scanned);
    if found {
        count.add(Event::Returned);
        count.add(Event::Fetched);
    }
}

/// Locks the row of a key KEY SHARE, as it is now, and returns where it is; none if there is none.
fn lock_row_of_key(
    cx: &mut Context<'_>,
    rows: &Tree,
    entries: Option<&Arc<Tree>>,
    bytes: &[u8],
) -> Result<Option<Vec<u8>>> {
    let mut record = RecordBuffer::default();
    if let Some(entries) = entries {
        if !cx.transaction.get_latest(entries, bytes, &mut record)? {
            return Ok(None);
        }
        let row_key = entry::row_key(bytes, record.value().unwrap_or_default())?.to_vec();
        let found = cx.transaction.lock_key(
            rows,
            &row_key,
            RowLock::KeyShare,
            WaitPolicy::Block,
            &mut record,
        )?;
        // Its key may have changed while it was waited for.
        let stays = found && cx.transaction.get_latest(entries, bytes, &mut record)?;
        return Ok(stays.then_some(row_key));
    }
    let (mode, policy) = (RowLock::KeyShare, WaitPolicy::Block);
    let found = cx.transaction.lock_key(rows, bytes, mode, policy, &mut record)?;
    Ok(found.then(|| bytes.to_vec()))
}

/// Whether the referenced columns of a parent row are about to go or change.
fn concerns(reference: &Reference, old: &RowBuf, new: Option<&RowBuf>) -> bool {
    let key = key_of(reference);
    if key.referenced.iter().any(|column| old.get(*column).is_null()) {
        return false;
    }
    // A key that only looks different is another one, so that CASCADE makes what refers to it look the same.
    new.is_none_or(|new| {
        let mut columns = key.referenced.iter();
        columns.any(|column| {
            let ty = reference.parent.columns[*column].ty.oid;
            !same_image(ty, &old.get(*column), &new.get(*column))
        })
    })
}

/// Once a parent row has gone or changed its key: what follows from it waits for the statement's end, and NO ACTION of a
/// deferred constraint longer.
///
/// # Errors
/// 53200 where too much waits.
pub fn after_parent(
    cx: &mut Context<'_>,
    table: &Arc<Table>,
    old: &RowBuf,
    new: Option<&RowBuf>,
) -> Result<()> {
    let replica = !table.referenced_by.is_empty() && cx.host.settings.get().replica;
    for (at, reference) in table.referenced_by.iter().enumerate() {
        let key = key_of(reference);
        let trigger = if new.is_some() { key.triggers.updates } else { key.triggers.deletes };
        if !table.relation.minds(trigger, replica) || !concerns(reference, old, new) {
            continue;
        }
        let action = if new.is_some() { key.on_update } else { key.on_delete };
        let check = Check::Parent { reference: at, old: old.clone(), new: new.cloned() };
        if action == Action::NoAction {
            deferred::put_off(cx, table, check)?;
        } else {
            cx.checks.push(table, check);
        }
    }
    Ok(())
}

/// A row of a child that is still there, and still refers to what it referred to, needs its parent.
///
/// # Errors
/// 23503.
pub(super) fn check_reference(
    cx: &mut Context<'_>,
    table: &Table,
    reference: usize,
    row_key: &[u8],
    row: &RowBuf,
) -> Result<()> {
    let reference = &table.references[reference];
    if still_refers(cx, table, key_of(reference), row_key, row)? {
        demand_parent(cx, reference, row)?;
    }
    Ok(())
}

/// Does what follows from a parent's going, or its change from `old` to `new`. `locking` is the view under which rows are
/// locked.
///
/// # Errors
/// 23503; all that changing referencing rows can fail with.
pub(super) fn settle(
    cx: &mut Context<'_>,
    table: &Table,
    reference: usize,
    (old, new): (&RowBuf, Option<&RowBuf>),
    locking: &ReadView,
) -> Result<()> {
    let reference = &table.referenced_by[reference];
    let key = key_of(reference);
    let action = if new.is_some() { key.on_update } else { key.on_delete };
    let acts = !matches!(action, Action::NoAction | Action::Restrict);
    if acts {
        referential_action::perform(cx, locking, reference, old, new)?;
    }
    // A default may be the very key that has gone. Another row may have taken a key.
    let keeps = match action {
        Action::Restrict => true,
        Action::NoAction | Action::SetDefault => !parent_again(cx, table, reference, old)?,
        Action::Cascade | Action::SetNull => false,
    };
    if keeps { forbid_children(cx, reference, old) } else { Ok(()) }
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
    encode_key(&table.relation.index_layout(index), old, &mut bytes)?;
    let tree = cx.tree(index.tree)?;
    let found = cx.transaction.get_latest(&tree, &bytes, &mut RecordBuffer::default())?;
    count_lookup(cx, index, found);
    Ok(found)
}

/// Whether a row refers to this row of the parent. The one that is found is locked KEY SHARE: whoever deletes it, or gives
/// it another key, is waited for, and may leave none. Who has one snapshot is told of a conflict then.
fn has_child(cx: &mut Context<'_>, reference: &Reference, parent: &RowBuf) -> Result<bool> {
    let RelationKind::Table { tree, long_values, .. } = reference.child.kind else {
        return Ok(false);
    };
    let (rows, layout) = (cx.tree(tree)?, reference.child.row_layout());
    let (mut record, mut heap) = (RecordBuffer::default(), Heap::default());
    // What was waited for may have moved to where the search had been: each begins anew.
    while let Some(key) = children(cx, reference, parent, 1)?.pop() {
        let (mode, policy) = (RowLock::KeyShare, WaitPolicy::Block);
        if cx.transaction.lock_key(&rows, &key, mode, policy, &mut record)? {
            let (record, view) = (record.value().unwrap_or_default(), record.view());
            let stored = Stored { record, view, long_values };
            if record_refers(cx.transaction, (reference, parent), &layout, stored, &mut heap)? {
                return Ok(true);
            }
        }
        if cx.transaction.one_view().is_some() {
            return Err(txn::Error::Conflict(ConflictKind::Update).into());
        }
        cx.check_cancel()?;
    }
    Ok(false)
}

fn forbid_children(cx: &mut Context<'_>, reference: &Reference, old: &RowBuf) -> Result<()> {
    if !has_child(cx, reference, old)? {
        return Ok(());
    }
    let key = key_of(reference);
    let constraint = &reference.child.constraints[reference.constraint].name;
    let shown = Writer::key_text(cx, &reference.parent, &key.referenced, old)?;
    let key = shown.map_or_else(|| "Key".to_owned(), |shown| format!("Key {shown}"));
    Err(SqlError::new(
        SqlState::FOREIGN_KEY_VIOLATION,
        format!(
            "update or delete on table \"{}\" violates foreign key constraint \"{constraint}\" on table \"{}\"",
            reference.parent.name, reference.child.name
        ),
    )
    .detail(format!("{key} is still referenced from table \"{}\".", reference.child.name))
    .table(&*reference.child.schema.1, &*reference.child.name)
    .constraint(&**constraint))
}

/// The key of the child that begins with the referencing columns, in any order, and its first columns.
fn child_key<'r>(child: &'r Relation, columns: &[usize]) -> Option<(&'r Index, Vec<KeyColumn>)> {
    let usable = |index: &&Index| index.is_valid() && !index.is_computed();
    child.indexes.iter().filter(usable).find_map(|index| {
        let layout = child.index_layout(index);
        let first = layout.columns.get(..columns.len())?;
        let all = first.iter().all(|column| columns.contains(&column.column));
        all.then(|| (index, first.to_vec()))
    })
}

/// Whether a row of the child, all its columns by index, refers to this row of the parent.
#[must_use]
pub fn refers(reference: &Reference, child: &RowBuf, parent: &RowBuf) -> bool {
    let key = key_of(reference);
    key.columns.iter().zip(&key.referenced).all(|(from, to)| {
        let (a, b) = (child.get(*from), parent.get(*to));
        let (child, parent) = (&reference.child.columns[*from], &reference.parent.columns[*to]);
        !a.is_null() && !b.is_null() && meets((a, child.ty.oid), (b, parent.ty.oid))
    })
}

/// Whether a record of the child refers to this row of the parent.
fn record_refers(
    transaction: &mut Transaction,
    (reference, parent): (&Reference, &RowBuf),
    layout: &RowLayout,
    stored: Stored<'_>,
    heap: &mut Heap,
) -> Result<bool> {
    let key = key_of(reference);
    let mut image = Vec::new();
    let stored = stored.open(transaction, layout, &mut image)?;
    for (from, to) in key.columns.iter().zip(&key.referenced) {
        heap.clear();
        let value = stored.read(transaction, *from, heap, drop)?;
        let (a, b) = (heap.view(&value), parent.get(*to));
        let (own, of) = (&reference.child.columns[*from], &reference.parent.columns[*to]);
        if a.is_null() || !meets((a, own.ty.oid), (b, of.ty.oid)) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The keys of the child's rows that refer to this row of the parent in the latest state, at most `limit` of them.
///
/// # Errors
/// 53200 where they are too many; storage's.
pub fn children(
    cx: &mut Context<'_>,
    reference: &Reference,
    parent: &RowBuf,
    limit: usize,
) -> Result<Vec<Vec<u8>>> {
    let key = key_of(reference);
    let child = &reference.child;
    let (mut found, mut bytes) = (Vec::new(), 0);
    let RelationKind::Table { tree: rows, long_values, .. } = &child.kind else { return Ok(found) };
    let one_to_one = key.columns.iter().zip(&key.referenced).all(|(from, to)| {
        is_one_to_one(child.columns[*from].ty.oid, reference.parent.columns[*to].ty.oid)
    });
    let by_key = if one_to_one { child_key(child, &key.columns) } else { None };
    let count = cx.host.counts.of(by_key.as_ref().map_or(child.oid, |(index, _)| index.oid));
    cx.host.counts.meet(&count);
    count.add(Event::Scanned);
    if let Some((index, columns)) = by_key {
        let tree = index.tree;
        let (mut low, arena) = (Vec::new(), Bump::new());
        for column in &columns {
            let at = key.columns.iter().position(|from| *from == column.column);
            let to = key.referenced[at.expect("the key is over the referencing columns")];
            let ty = reference.parent.columns[to].ty.oid;
            let value = converted(parent.get(to), ty, column, &arena);
            let Some(value) = value else { return Ok(found) };
            column.encode(value, &mut low)?;
        }
        let mut high = low.clone();
        let bounded = prefix_end(&mut high);
        let range = KeyRange {
            low: Bound::Included(&low),
            high: if bounded { Bound::Excluded(&high) } else { Bound::Unbounded },
        };
        let entries = cx.tree(tree)?;
        let mut scan =
            cx.transaction.scan(&ReadView::LATEST, &entries, range, Direction::Forward)?;
        while found.len() < limit
            && let Some(row) = scan.advance(cx.transaction)?
        {
            count.add(Event::Returned);
            count.add(Event::Fetched);
            let row_key = if tree == *rows { row.key } else { entry::row_key(row.key, row.value)? };
            bytes += row_key.len();
            found.push(row_key.to_vec());
            check_held(bytes)?;
        }
        return Ok(found);
    }
    let tree = cx.tree(*rows)?;
    let layout = child.row_layout();
    let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut scan = cx.transaction.scan(&ReadView::LATEST, &tree, range, Direction::Forward)?;
    let (mut heap, mut key) = (Heap::default(), Vec::new());
    while found.len() < limit
        && let Some(row) = scan.advance(cx.transaction)?
    {
        count.add(Event::Returned);
        key.clear();
        key.extend_from_slice(row.key);
        let stored = Stored { record: row.value, view: row.view, long_values: *long_values };
        if record_refers(cx.transaction, (reference, parent), &layout, stored, &mut heap)? {
            bytes += key.len();
            found.push(std::mem::take(&mut key));
            check_held(bytes)?;
        }
        cx.check_cancel()?;
    }
    Ok(found)
}
