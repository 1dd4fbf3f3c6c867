//! Changing one locked row of a table, whoever asks for it: UPDATE and DELETE, ON CONFLICT, actions of foreign keys.
//!
//! In this order, as PostgreSQL does it: new values, NOT NULL and CHECK, unique keys with the writing itself, and then what
//! foreign keys demand.

use super::context::Context;
use super::foreign_key::{self, Timing};
use super::narrow::Narrow;
use super::operator::Builder;
use super::write::{StoredRow, Writer};
use crate::error::{Result, SqlError};
use crate::plan::physical::{self, MergeAction, MergeChange, ModifyKind, Table};
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::Datum;
use std::sync::Arc;
use txn::{RecordBuffer, RowLock, WaitPolicy};

/// The row that is being changed, and what is demanded of it.
pub struct RowChange {
    /// The table.
    pub table: Arc<Table>,
    /// Where the new row stands, all live columns.
    pub new_slot: u32,
    /// Generated columns, by place among the live ones.
    generated: Vec<(usize, Scalar)>,
    checks: Vec<(Arc<str>, Scalar)>,
    /// WITH CHECK OPTION: views and their conditions.
    view_checks: Vec<(Arc<str>, Vec<Scalar>)>,
    /// Whether rows are always changed as a whole, and if not, what an update needs of them: found out by the first one.
    whole: bool,
    narrow: Option<Option<Narrow>>,
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
        let whole = returning.is_some() || !view_checks.is_empty() || several;
        Demands { table, new_slot: *new_slot, generated, checks, view_checks, whole }
    }
}

impl<'p> From<&'p physical::ReferentialAction> for Demands<'p> {
    fn from(plan: &'p physical::ReferentialAction) -> Demands<'p> {
        let physical::ReferentialAction { table, new_slot, generated, checks, .. } = plan;
        let view_checks = &[];
        Demands { table, new_slot: *new_slot, generated, checks, view_checks, whole: true }
    }
}

impl RowChange {
    /// Of the rows of a table.
    #[must_use]
    pub fn new(
        demands: Demands<'_>,
        row_subqueries: Box<[u32]>,
        builder: &Builder<'_>,
        timing: Timing,
    ) -> RowChange {
        let Demands { table, new_slot, generated, checks, view_checks, whole } = demands;
        let of_views = view_checks.iter().flat_map(|(_, conditions)| conditions);
        RowChange {
            table: Arc::clone(table),
            new_slot,
            check_subqueries: builder
                .correlated(checks.iter().map(|(_, check)| check).chain(of_views)),
            generated: generated.to_vec(),
            checks: checks.to_vec(),
            view_checks: view_checks.to_vec(),
            whole: whole || !generated.is_empty() || !checks.is_empty(),
            narrow: None,
            row_subqueries,
            timing,
            key: Vec::new(),
            record: RecordBuffer::default(),
            old: StoredRow::default(),
            new: RowBuf::new(),
        }
    }

    /// Deletes the row that has been locked: its record is in `self.record`.
    ///
    /// # Errors
    /// Those of storage.
    pub fn delete(&mut self, cx: &mut Context<'_>, writer: &mut Writer) -> Result<()> {
        writer.read(cx, &self.record, &mut self.old)?;
        writer.delete(cx, &self.key, &self.old)?;
        foreign_key::after_parent(cx, &self.table, &self.old.row, None)
    }

    /// Changes the row that has been locked: its record is in `self.record`. The assignments are the same each time.
    ///
    /// # Errors
    /// 23502, 23503, 23505, 23514; those of expressions, locks and storage.
    pub fn update(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        assignments: &[(usize, Scalar)],
    ) -> Result<()> {
        let (whole, table) = (self.whole, &self.table);
        let narrow = self
            .narrow
            .get_or_insert_with(|| if whole { None } else { Narrow::of(table, assignments) })
            .take();
        let done = match &narrow {
            Some(narrow) => self.update_columns(cx, writer, assignments, narrow),
            None => Ok(false),
        };
        self.narrow = Some(narrow);
        if done? { Ok(()) } else { self.update_whole(cx, writer, assignments) }
    }

    /// Changes the columns that are assigned, and carries the others over. False, and nothing is done, where the row has to
    /// be looked at as a whole.
    fn update_columns(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        assignments: &[(usize, Scalar)],
        narrow: &Narrow,
    ) -> Result<bool> {
        let record = self.record.value().unwrap_or_default();
        if !writer.read_columns(record, &narrow.read, &mut self.old)? {
            return Ok(false);
        }
        cx.invalidate(&self.row_subqueries);
        let (table, old, new) = (&self.table, &self.old.row, &mut self.new);
        new.set_nulls(old.len());
        for column in &narrow.read {
            new.set(*column, old.get(*column));
        }
        let mut left = assignments.iter().peekable();
        cx.eval(|eval| {
            while let Some((at, value)) = left.peek() {
                new.set(table.live[*at], eval.scalar(value)?);
                left.next();
            }
            Ok(())
        })?;
        let columns = &table.relation.columns;
        let missing = |column: &usize| columns[*column].not_null && self.new.get(*column).is_null();
        if narrow.assigned.iter().any(missing)
            || !writer.patch(cx, &self.key, record, &narrow.assigned, &self.new)
        {
            return Ok(false);
        }
        self.write(cx, writer, Some(narrow))?;
        Ok(true)
    }

    fn update_whole(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        assignments: &[(usize, Scalar)],
    ) -> Result<()> {
        writer.read(cx, &self.record, &mut self.old)?;
        // The row proposed (`excluded`) stays where it is while the new one is computed from it.
        let mut row = std::mem::take(&mut self.new);
        cx.invalidate(&self.row_subqueries);
        let (table, old) = (&self.table, &self.old);
        row.clear();
        for column in &table.live {
            row.push(old.row.get(*column));
        }
        let mut left = assignments.iter().peekable();
        let computed = cx.eval(|eval| {
            while let Some((at, value)) = left.peek() {
                row.set(*at, eval.scalar(value)?);
                left.next();
            }
            Ok(())
        });
        self.new = cx.frame.take(self.new_slot);
        cx.frame.put(self.new_slot, row);
        computed?;
        self.generate(cx)?;
        self.check(cx, writer)?;
        writer.widen(cx.frame.row(self.new_slot), &mut self.new);
        self.write(cx, writer, None)
    }

    /// Writes the new row over the old one, and sees to what foreign keys demand.
    fn write(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        narrow: Option<&Narrow>,
    ) -> Result<()> {
        if narrow.is_none_or(|narrow| narrow.unique) && writer.changes_key(&self.old.row, &self.new)
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
        writer.update(cx, &self.key, &self.old, &self.new, narrow)?;
        self.check_views(cx, writer)?;
        foreign_key::after_parent(cx, &self.table, &self.old.row, Some(&self.new))?;
        foreign_key::check_child(cx, writer, &self.new, Some(&self.old.row), self.timing)
    }

    /// Works out the generated columns of the new row.
    ///
    /// # Errors
    /// Those of expressions.
    pub fn generate(&mut self, cx: &mut Context<'_>) -> Result<()> {
        if self.generated.is_empty() {
            return Ok(());
        }
        let generated = &self.generated;
        let values = cx.eval(|eval| {
            let mut values = RowBuf::new();
            for (_, value) in generated {
                values.push(eval.scalar(value)?);
            }
            Ok(values)
        })?;
        let row = cx.frame.row_mut(self.new_slot);
        for ((at, _), value) in generated.iter().zip(values.iter()) {
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
        let checks = &self.checks;
        let failed = cx.eval(|eval| {
            for (at, (_, check)) in checks.iter().enumerate() {
                // NULL passes.
                if matches!(eval.scalar(check)?, Datum::Bool(false)) {
                    return Ok(Some(at));
                }
            }
            Ok(None)
        })?;
        let Some(at) = failed else { return Ok(()) };
        let relation = &self.table.relation;
        Err(SqlError::new(
            SqlState::CHECK_VIOLATION,
            format!(
                "new row for relation \"{}\" violates check constraint \"{}\"",
                relation.name, self.checks[at].0
            ),
        )
        .maybe_detail(writer.failing_row(cx, cx.frame.row(self.new_slot))?)
        .table(&*relation.schema.1, &*relation.name)
        .constraint(&*self.checks[at].0))
    }

    /// WITH CHECK OPTION of the views that the statement goes through: the new row, which has been written, is one that they
    /// show.
    ///
    /// # Errors
    /// 44000; those of expressions.
    pub fn check_views(&self, cx: &mut Context<'_>, writer: &Writer) -> Result<()> {
        for (view, conditions) in &self.view_checks {
            if !cx.holds(conditions, &self.check_subqueries)? {
                return Err(SqlError::new(
                    SqlState::WITH_CHECK_OPTION_VIOLATION,
                    format!("new row violates check option for view \"{view}\""),
                )
                .maybe_detail(writer.failing_row(cx, cx.frame.row(self.new_slot))?));
            }
        }
        Ok(())
    }
}
