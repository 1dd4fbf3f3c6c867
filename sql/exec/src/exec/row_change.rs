//! Changing one locked row of a table, whoever asks for it: UPDATE and DELETE, ON CONFLICT, actions of foreign keys.
//!
//! In this order, as PostgreSQL does it: new values, NOT NULL and CHECK, unique keys with the writing itself, and then what
//! foreign keys demand.

use super::context::Context;
use super::foreign_key::{self, Timing};
use super::operator::Builder;
use super::partial_update::PartialUpdate;
use super::trigger::{self as firing, Rows, Untouched};
use super::write::{StoredRow, Writer, failing_row, record_room};
use crate::catalog::trigger;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical::{self, MergeAction, MergeChange, ModifyKind, Table};
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::Datum;
use std::collections::BTreeSet;
use std::sync::Arc;
use txn::{Locked, ReadView, RecordBuffer, RowLock, Transaction, WaitPolicy};

/// The row that is being changed, and what is demanded of it.
pub struct RowChange {
    /// The table.
    pub table: Arc<Table>,
    /// Where the new row stands, all live columns.
    pub new_slot: u32,
    /// Generated columns, by place among the live ones.
    generated: (Box<[usize]>, Arc<Code>),
    /// CHECK constraints and their conditions.
    checks: Box<[(Arc<str>, Arc<Code>)]>,
    /// WITH CHECK OPTION: views and their conditions.
    view_checks: Box<[(Arc<str>, Arc<Code>)]>,
    /// Whether rows are always changed as a whole, and if not, what an update needs of them: found out by the first one.
    whole: bool,
    /// The columns of the new row that are looked at when it has been written, by place among the live ones.
    shown: Vec<usize>,
    partial: Option<Option<Box<PartialUpdate>>>,
    /// Whether who looks at a row that has been updated can do so in its record.
    pub looks_in_records: bool,
    /// Whether the one updated last stands in its record alone.
    pub in_record: bool,
    /// Whether it is a MERGE that changes it.
    of_merge: bool,
    /// Correlated subqueries of the new row's expressions.
    pub row_subqueries: Box<[u32]>,
    check_subqueries: Box<[u32]>,
    /// When a parent that a changed row needs is asked for.
    pub timing: Timing,
    /// The row's key in the table's tree.
    pub key: Vec<u8>,
    /// Its record, as read when it was locked.
    pub record: RecordBuffer,
    /// What it was.
    pub old: StoredRow,
    /// What it becomes, all columns by index.
    pub new: RowBuf,
    /// The memory of the row that triggers are asked about.
    proposed: RowBuf,
    /// What a trigger returns instead.
    returned: RowBuf,
}

/// What an update assigns: to columns by place among the live ones, and the program of the values.
#[derive(Clone, Copy)]
pub struct Assignments<'p> {
    /// As the plan has them.
    pub of: &'p [(usize, Scalar)],
    /// Their values.
    pub code: &'p Code,
}

/// What a plan demands of the new rows of a table.
pub struct Demands<'p> {
    table: &'p Arc<Table>,
    new_slot: u32,
    generated: &'p [(usize, Scalar)],
    checks: &'p [(Arc<str>, Scalar)],
    view_checks: &'p [(Arc<str>, Vec<Scalar>)],
    /// Whether somebody looks at the whole row that comes of it, or rows do not all get the same assignments.
    whole: bool,
    /// The columns that somebody looks at otherwise, by place among the live ones.
    shown: Vec<usize>,
    of_merge: bool,
}

/// The columns of the row in a slot that scalars name, each once; none where a subquery may name others.
fn named_in(slot: u32, scalars: &[Scalar]) -> Option<Vec<usize>> {
    let (mut named, mut plain) = (BTreeSet::new(), true);
    for scalar in scalars {
        scalar.walk(&mut |part| {
            match part {
                Scalar::Var(var) if var.slot == slot => {
                    named.insert(var.column as usize);
                }
                Scalar::Subquery(_) => plain = false,
                _ => {}
            }
            plain
        });
    }
    plain.then(|| named.into_iter().collect())
}

impl<'p> From<&'p physical::Modify> for Demands<'p> {
    fn from(plan: &'p physical::Modify) -> Demands<'p> {
        let physical::Modify { table, kind, new_slot, generated, checks, view_checks, returning } =
            plan;
        let several = match kind {
            ModifyKind::Merge { actions, .. } => {
                let updates =
                    |action: &&MergeAction| matches!(action.change, MergeChange::Update(_));
                actions.iter().filter(updates).count() > 1
            }
            _ => false,
        };
        let new_slot = *new_slot;
        let shown = match returning {
            Some((_, columns)) => named_in(new_slot, columns),
            None => Some(Vec::new()),
        };
        let whole = shown.is_none() || !view_checks.is_empty() || several;
        let shown = shown.unwrap_or_default();
        let of_merge = matches!(kind, ModifyKind::Merge { .. });
        Demands { table, new_slot, generated, checks, view_checks, whole, shown, of_merge }
    }
}

impl<'p> From<&'p physical::ReferentialAction> for Demands<'p> {
    fn from(plan: &'p physical::ReferentialAction) -> Demands<'p> {
        let physical::ReferentialAction { table, new_slot, generated, checks, .. } = plan;
        let view_checks = &[];
        let new_slot = *new_slot;
        let (whole, shown, of_merge) = (true, Vec::new(), false);
        Demands { table, new_slot, generated, checks, view_checks, whole, shown, of_merge }
    }
}

impl RowChange {
    /// Locks the row at the key, wherever it has moved meanwhile, and reads its record.
    ///
    /// # Errors
    /// Those of locks and storage.
    pub fn lock(
        &mut self,
        cx: &mut Context<'_>,
        view: &ReadView,
        writer: &Writer,
        mode: RowLock,
    ) -> Result<Locked> {
        let (rows, record) = (&writer.rows, &mut self.record);
        let mut lock = |transaction: &mut Transaction, key: &[u8]| {
            transaction.lock_row(view, rows, key, mode, WaitPolicy::Block, record)
        };
        Ok(cx.transaction.lock_followed(view, rows, &mut self.key, &mut lock)?)
    }

    /// Of the rows of a table.
    #[must_use]
    pub fn new(
        demands: Demands<'_>,
        row_subqueries: Box<[u32]>,
        builder: &Builder<'_>,
        timing: Timing,
    ) -> RowChange {
        let Demands { table, new_slot, generated, checks, view_checks, whole, shown, of_merge } =
            demands;
        let of_views = view_checks.iter().flat_map(|(_, conditions)| conditions);
        RowChange {
            table: Arc::clone(table),
            new_slot,
            check_subqueries: builder
                .correlated(checks.iter().map(|(_, check)| check).chain(of_views)),
            generated: (
                generated.iter().map(|(at, _)| *at).collect(),
                builder.code(generated.iter().map(|(_, value)| value)),
            ),
            checks: checks
                .iter()
                .map(|(name, check)| (Arc::clone(name), builder.code([check])))
                .collect(),
            view_checks: view_checks
                .iter()
                .map(|(view, conditions)| (Arc::clone(view), builder.conditions(conditions)))
                .collect(),
            whole: whole
                || !generated.is_empty()
                || !checks.is_empty()
                || table.relation.triggers.iter().any(|one| one.kind & trigger::UPDATE != 0),
            shown,
            partial: None,
            looks_in_records: false,
            in_record: false,
            of_merge,
            row_subqueries,
            timing,
            key: Vec::new(),
            record: RecordBuffer::default(),
            old: StoredRow::default(),
            new: RowBuf::new(),
            proposed: RowBuf::new(),
            returned: RowBuf::new(),
        }
    }

    /// Deletes the row that has been locked: its record is in `self.record`. False where a trigger has kept it.
    ///
    /// # Errors
    /// Those of storage.
    pub fn delete(&mut self, cx: &mut Context<'_>, writer: &mut Writer) -> Result<bool> {
        writer.read(cx, &self.record, &mut self.old)?;
        let relation = &self.table.relation;
        if relation.has_triggers(trigger::BEFORE, true, trigger::DELETE) {
            if !firing::before_delete(cx, relation, trigger::BEFORE, &self.old.row)? {
                return Ok(false);
            }
            let view = cx.view;
            let what = if self.of_merge { Untouched::Either } else { Untouched::Deleted };
            firing::demand_untouched(cx, &view, (&writer.rows, &self.key), what)?;
        }
        writer.delete(cx, &self.key, &self.old)?;
        foreign_key::after_parent(cx, &self.table, &self.old.row, None)?;
        let rows = Rows { old: Some(&self.old.row), new: None };
        firing::after_row(cx, &self.table, trigger::DELETE, &[], rows)?;
        Ok(true)
    }

    /// Changes the row that has been locked: its record is in `self.record`. The assignments are the same each time. False
    /// where a trigger has kept it as it is.
    ///
    /// # Errors
    /// 23502, 23503, 23505, 23514; those of expressions, locks and storage.
    pub fn update(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        assignments: Assignments<'_>,
    ) -> Result<bool> {
        self.in_record = false;
        let (whole, table) = (self.whole, &self.table);
        let partial = self
            .partial
            .get_or_insert_with(|| match whole {
                true => None,
                false => PartialUpdate::of(table, assignments.of, &self.shown).map(Box::new),
            })
            .take();
        let done = match &partial {
            Some(partial) => self.update_columns(cx, writer, assignments, partial),
            None => Ok(false),
        };
        self.partial = Some(partial);
        if done? { Ok(true) } else { self.update_whole(cx, writer, assignments) }
    }

    /// Changes the columns that are assigned, and carries the others over. False, and nothing is done, where the row has to
    /// be looked at as a whole.
    fn update_columns(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        assignments: Assignments<'_>,
        partial: &PartialUpdate,
    ) -> Result<bool> {
        if let Some(order) = partial.in_record.as_deref().filter(|_| self.looks_in_records) {
            return self.update_record(cx, writer, assignments, (partial, order));
        }
        let record = self.record.value().unwrap_or_default();
        if !writer.read_columns(record, partial, &mut self.old)? {
            return Ok(false);
        }
        cx.invalidate(&self.row_subqueries);
        let (table, new) = (&self.table, &mut self.new);
        if partial.alone {
            std::mem::swap(new, &mut self.old.row);
        } else {
            new.copy_from(&self.old.row);
        }
        cx.eval(assignments.code, |values| {
            for ((at, _), value) in assignments.of.iter().zip(values.iter()) {
                new.set(table.live[*at], value);
            }
            Ok(())
        })?;
        self.demand_untouched(cx, writer)?;
        let columns = &self.table.relation.columns;
        let missing = |column: &usize| columns[*column].not_null && self.new.is_null(*column);
        if partial.assigned.iter().any(missing)
            || !writer.patch(cx, &self.key, record, &partial.assigned, &self.new)
        {
            return Ok(false);
        }
        self.write(cx, writer, Some(partial))?;
        if !self.shown.is_empty() {
            let row = cx.frame.row_mut(self.new_slot);
            if self.table.live.len() == self.new.len() {
                // It has been written: nobody else looks at it any more.
                std::mem::swap(row, &mut self.new);
            } else {
                row.set_nulls(self.table.live.len());
                for at in &self.shown {
                    row.set_column(*at, &self.new, self.table.live[*at]);
                }
            }
        }
        Ok(true)
    }

    /// The same where nobody but RETURNING looks at the row, which does so in its record.
    fn update_record(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        assignments: Assignments<'_>,
        (partial, order): (&PartialUpdate, &[usize]),
    ) -> Result<bool> {
        let record = self.record.value().unwrap_or_default();
        if !writer.is_plain(record)? {
            return Ok(false);
        }
        self.old.long.clear();
        cx.invalidate(&self.row_subqueries);
        let (table, room) = (&self.table, record_room(cx, &self.key));
        let made = cx.eval(assignments.code, |values| {
            let assigned =
                order.iter().map(|at| (table.live[assignments.of[*at].0], values.get(*at)));
            Ok(writer.patch_with(record, assigned, room))
        })?;
        self.demand_untouched(cx, writer)?;
        if !made {
            return Ok(false);
        }
        self.write(cx, writer, Some(partial))?;
        self.in_record = true;
        Ok(true)
    }

    fn update_whole(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        assignments: Assignments<'_>,
    ) -> Result<bool> {
        writer.read(cx, &self.record, &mut self.old)?;
        // The row proposed (`excluded`) stays where it is while the new one is computed from it.
        let mut row = std::mem::take(&mut self.new);
        cx.invalidate(&self.row_subqueries);
        let (table, old) = (&self.table, &self.old);
        row.clear();
        for column in &table.live {
            row.push(old.row.get(*column));
        }
        let computed = cx.eval(assignments.code, |values| {
            for ((at, _), value) in assignments.of.iter().zip(values.iter()) {
                row.set(*at, value);
            }
            Ok(())
        });
        self.new = cx.frame.take(self.new_slot);
        cx.frame.put(self.new_slot, row);
        computed?;
        self.demand_untouched(cx, writer)?;
        let updates = |event| self.table.relation.triggers.iter().any(|one| one.kind & event != 0);
        let updated: Vec<usize> = if updates(trigger::UPDATE) {
            let assigned = assignments.of.iter().map(|(at, _)| self.table.live[*at]);
            assigned.chain(self.generated_columns()).collect()
        } else {
            Vec::new()
        };
        if !self.fire_before(cx, writer, trigger::UPDATE, &updated)? {
            return Ok(false);
        }
        self.generate(cx)?;
        self.check(cx, writer)?;
        writer.widen(cx.frame.row(self.new_slot), &mut self.new);
        self.write(cx, writer, None)?;
        let rows = Rows { old: Some(&self.old.row), new: Some(&self.new) };
        firing::after_row(cx, &self.table, trigger::UPDATE, &updated, rows)?;
        Ok(true)
    }

    /// Has the BEFORE triggers of a row that is about to be inserted or updated say what it becomes; false where nothing is
    /// to be done.
    ///
    /// # Errors
    /// Those of the triggers; 27000 where one has changed the row itself.
    pub fn fire_before(
        &mut self,
        cx: &mut Context<'_>,
        writer: &Writer,
        event: i16,
        updated: &[usize],
    ) -> Result<bool> {
        let relation = &self.table.relation;
        if !relation.has_triggers(trigger::BEFORE, true, event) {
            return Ok(true);
        }
        // A row of all columns is lent as it stands.
        let lends = self.table.live.len() == relation.columns.len();
        if lends {
            std::mem::swap(cx.frame.row_mut(self.new_slot), &mut self.proposed);
        } else {
            writer.widen(cx.frame.row(self.new_slot), &mut self.proposed);
        }
        let is_update = event == trigger::UPDATE;
        let old = is_update.then_some(&self.old.row);
        let kinds = (trigger::BEFORE, event);
        let rows = (old, &mut self.proposed, &mut self.returned);
        let fired = firing::before_row(cx, relation, kinds, updated, rows);
        let row = cx.frame.row_mut(self.new_slot);
        if lends {
            std::mem::swap(row, &mut self.proposed);
        }
        if !fired? {
            return Ok(false);
        }
        if !lends {
            row.clear();
            for column in &self.table.live {
                row.push_column(&self.proposed, *column);
            }
        }
        if is_update {
            self.demand_untouched(cx, writer)?;
        }
        Ok(true)
    }

    /// 27000 where what the row is computed by, or a trigger, has changed the row itself.
    fn demand_untouched(&self, cx: &mut Context<'_>, writer: &Writer) -> Result<()> {
        let view = cx.view;
        let what = if self.of_merge { Untouched::Either } else { Untouched::Updated };
        firing::demand_untouched(cx, &view, (&writer.rows, &self.key), what)
    }

    /// Writes the new row over the old one, and sees to what foreign keys demand.
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        partial: Option<&PartialUpdate>,
    ) -> Result<()> {
        if partial.is_none_or(|partial| partial.unique)
            && writer.changes_key(&self.old.row, &self.new)
        {
            let view = cx.view;
            let mode = RowLock::Update;
            let policy = WaitPolicy::Block;
            cx.transaction.lock_row(
                &view,
                &writer.rows,
                &self.key,
                mode,
                policy,
                &mut self.record,
            )?;
        }
        writer.update(cx, &self.key, &self.old, &self.new, partial)?;
        self.check_views(cx, writer)?;
        if partial.is_some_and(|partial| partial.alone) {
            return Ok(());
        }
        foreign_key::after_parent(cx, &self.table, &self.old.row, Some(&self.new))?;
        foreign_key::check_child(cx, writer, &self.new, Some(&self.old.row), self.timing)
    }

    /// The columns that are generated, by index.
    pub fn generated_columns(&self) -> impl Iterator<Item = usize> {
        self.generated.0.iter().map(|at| self.table.live[*at])
    }

    /// Works out the generated columns of the new row.
    ///
    /// # Errors
    /// Those of expressions.
    pub fn generate(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let (generated, code) = &self.generated;
        if generated.is_empty() {
            return Ok(());
        }
        let mut values = RowBuf::new();
        cx.compute(code, &mut values)?;
        let row = cx.frame.row_mut(self.new_slot);
        for (at, value) in generated.iter().zip(values.iter()) {
            row.set(*at, value);
        }
        Ok(())
    }

    /// NOT NULL and CHECK of the new row.
    ///
    /// # Errors
    /// 23502, 23514; those of expressions.
    pub fn check(&mut self, cx: &mut Context<'_>, writer: &Writer) -> Result<()> {
        writer.check_not_null(cx, cx.frame.row(self.new_slot))?;
        if self.checks.is_empty() {
            return Ok(());
        }
        cx.invalidate(&self.check_subqueries);
        let mut failed = None;
        for (name, check) in &*self.checks {
            // NULL passes.
            if cx.eval(check, |values| Ok(matches!(values.get(0), Datum::Bool(false))))? {
                failed = Some(name);
                break;
            }
        }
        let Some(name) = failed else { return Ok(()) };
        let relation = &self.table.relation;
        Err(SqlError::new(
            SqlState::CHECK_VIOLATION,
            format!(
                "new row for relation \"{}\" violates check constraint \"{}\"",
                relation.name, name
            ),
        )
        .maybe_detail(failing_row(cx, &writer.table, cx.frame.row(self.new_slot))?)
        .table(&*relation.schema.1, &*relation.name)
        .constraint(&**name))
    }

    /// WITH CHECK OPTION of the views that the statement goes through: the new row, which has been written, is one that they
    /// show.
    ///
    /// # Errors
    /// 44000; those of expressions.
    pub fn check_views(&self, cx: &mut Context<'_>, writer: &Writer) -> Result<()> {
        for (view, conditions) in &*self.view_checks {
            if !cx.holds(conditions, &self.check_subqueries)? {
                return Err(SqlError::new(
                    SqlState::WITH_CHECK_OPTION_VIOLATION,
                    format!("new row violates check option for view \"{view}\""),
                )
                .maybe_detail(failing_row(
                    cx,
                    &writer.table,
                    cx.frame.row(self.new_slot),
                )?));
            }
        }
        Ok(())
    }
}
