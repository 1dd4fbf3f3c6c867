//! INSERT, UPDATE, DELETE: rows are locked, checked again where they were waited for, and written.
//!
//! A statement never meets its own writes: its source reads as of before it. With a join, the same target row may come
//! again; only the first time counts. Without RETURNING all rows are done in one call.

use super::context::Context;
use super::foreign_key;
use super::operator::{Builder, Operator};
use super::scan::{reread, still_meets};
use super::write::{Inserted, StoredRow, Writer};
use crate::error::{Result, SqlError};
use crate::plan::physical::{self, ModifyKind, OnConflict, TargetRow};
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::Datum;
use std::collections::HashSet;
use std::sync::Arc;
use txn::{Locked, RecordBuffer, RowLock, WaitPolicy};

/// A running modification.
pub struct Modify {
    source: Box<dyn Operator>,
    kind: ModifyKind,
    new_slot: u32,
    checks: Vec<(Arc<str>, Scalar)>,
    returning: Option<(u32, Vec<Scalar>)>,
    /// Correlated subqueries: of the row's own expressions, of conditions checked again, of CHECKs, of RETURNING.
    row_subqueries: Box<[u32]>,
    recheck_subqueries: Box<[u32]>,
    check_subqueries: Box<[u32]>,
    returning_subqueries: Box<[u32]>,
    table: Arc<physical::Table>,
    writer: Option<Writer>,
    record: RecordBuffer,
    key: Vec<u8>,
    old: StoredRow,
    new: RowBuf,
    /// Rows that the statement has changed, where one may come again.
    changed: HashSet<Vec<u8>>,
}

impl Modify {
    /// Of this plan.
    #[must_use]
    pub fn new(plan: &physical::Modify, builder: &Builder<'_>) -> Modify {
        let kind = plan.kind.clone();
        let (source, row, recheck) = match &kind {
            ModifyKind::Insert { source, columns, on_conflict } => {
                let update = on_conflict.iter().filter_map(|conflict| conflict.update.as_ref());
                let scalars = update.flat_map(|(_, assignments, filter)| {
                    assignments.iter().map(|(_, value)| value).chain(filter)
                });
                (source, builder.correlated(columns.iter().chain(scalars)), Box::default())
            }
            ModifyKind::Update { source, assignments, recheck, .. } => (
                source,
                builder.correlated(assignments.iter().map(|(_, value)| value)),
                builder.correlated(recheck),
            ),
            ModifyKind::Delete { source, recheck, .. } => {
                (source, Box::default(), builder.correlated(recheck))
            }
        };
        Modify {
            source: builder.build(source),
            new_slot: plan.new_slot,
            checks: plan.checks.clone(),
            row_subqueries: row,
            recheck_subqueries: recheck,
            check_subqueries: builder.correlated(plan.checks.iter().map(|(_, check)| check)),
            returning_subqueries: builder
                .correlated(plan.returning.iter().flat_map(|(_, columns)| columns)),
            returning: plan.returning.clone(),
            table: Arc::clone(&plan.table),
            kind,
            writer: None,
            record: RecordBuffer::default(),
            key: Vec::new(),
            old: StoredRow::default(),
            new: RowBuf::new(),
            changed: HashSet::new(),
        }
    }

    /// One source row; whether it has changed a row of the table.
    fn row(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        kind: &ModifyKind,
    ) -> Result<bool> {
        match kind {
            ModifyKind::Insert { columns, on_conflict, .. } => {
                self.insert(cx, writer, columns, on_conflict.as_ref())
            }
            ModifyKind::Update { target, recheck, assignments, joined, .. } => {
                if !self.lock(cx, writer, target, recheck, RowLock::NoKeyUpdate, *joined)? {
                    return Ok(false);
                }
                self.update(cx, writer, assignments)?;
                Ok(true)
            }
            ModifyKind::Delete { target, recheck, joined, .. } => {
                if !self.lock(cx, writer, target, recheck, RowLock::Update, *joined)? {
                    return Ok(false);
                }
                let record = self.record.value().unwrap_or_default();
                writer.read(cx, record, &mut self.old)?;
                foreign_key::before_parent(cx, &self.table, &self.old.row, None)?;
                writer.delete(cx, &self.key, &self.old)?;
                foreign_key::after_parent(cx, &self.table, &self.old.row, None)?;
                Ok(true)
            }
        }
    }

    /// Locks the target of the source row and reads it, its key in `self.key`; false if it is not to be changed.
    fn lock(
        &mut self,
        cx: &mut Context<'_>,
        writer: &Writer,
        target: &TargetRow,
        recheck: &[Scalar],
        mode: RowLock,
        joined: bool,
    ) -> Result<bool> {
        let Datum::Bytea(key) = cx.frame.get(target.key) else { return Ok(false) };
        self.key.clear();
        self.key.extend_from_slice(key);
        if joined && self.changed.contains(&self.key) {
            return Ok(false);
        }
        let view = cx.view;
        let locked = cx.transaction.lock_row(
            &view,
            &writer.rows,
            &self.key,
            mode,
            WaitPolicy::Block,
            &mut self.record,
        )?;
        let go_on = match locked {
            Locked::Same => true,
            Locked::Changed => {
                reread(cx, target, &self.key, &self.record)?;
                still_meets(cx, recheck, &self.recheck_subqueries)?
            }
            Locked::Gone | Locked::Skipped => false,
        };
        if joined && go_on {
            self.changed.insert(self.key.clone());
        }
        Ok(go_on)
    }

    /// Changes the row that has been locked: its record is in `self.record`.
    fn update(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        assignments: &[(usize, Scalar)],
    ) -> Result<()> {
        let record = self.record.value().unwrap_or_default();
        writer.read(cx, record, &mut self.old)?;
        // The row proposed (`excluded`) stays where it is while the new one is computed from it.
        let mut row = std::mem::take(&mut self.new);
        cx.invalidate(&self.row_subqueries);
        let (table, old) = (&self.table, &self.old);
        let computed = cx.eval(|eval| {
            row.clear();
            for column in &table.live {
                row.push(old.row.get(*column));
            }
            for (at, value) in assignments {
                row.set(*at, eval.scalar(value)?);
            }
            Ok(())
        });
        self.new = cx.frame.take(self.new_slot);
        cx.frame.put(self.new_slot, row);
        computed?;
        self.check(cx, writer)?;
        writer.widen(cx.frame.row(self.new_slot), &mut self.new);
        if writer.changes_key(&self.old.row, &self.new) {
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
        foreign_key::before_parent(cx, &self.table, &self.old.row, Some(&self.new))?;
        writer.update(cx, &self.key, &self.old, &self.new)?;
        foreign_key::after_parent(cx, &self.table, &self.old.row, Some(&self.new))?;
        foreign_key::check_child(cx, &self.table, &self.new, Some(&self.old.row))
    }

    /// NOT NULL and CHECK of the new row.
    fn check(&mut self, cx: &mut Context<'_>, writer: &Writer) -> Result<()> {
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
        .detail(writer.failing_row(cx, cx.frame.row(self.new_slot))?)
        .table(&*relation.schema.1, &*relation.name)
        .constraint(&*self.checks[at].0))
    }

    fn insert(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        columns: &[Scalar],
        on_conflict: Option<&OnConflict>,
    ) -> Result<bool> {
        cx.fill(self.new_slot, columns, &self.row_subqueries)?;
        self.check(cx, writer)?;
        loop {
            writer.widen(cx.frame.row(self.new_slot), &mut self.new);
            let conflict = match writer.insert(cx, &self.new)? {
                Inserted::Done => {
                    if on_conflict.is_some_and(|conflict| conflict.update.is_some()) {
                        self.remember(writer)?;
                    }
                    foreign_key::check_child(cx, &self.table, &self.new, None)?;
                    return Ok(true);
                }
                Inserted::Conflict(conflict) => conflict,
            };
            let arbitrates = on_conflict
                .filter(|clause| clause.arbiter.is_none_or(|arbiter| arbiter == conflict.index));
            let Some(clause) = arbitrates else {
                return Err(writer.duplicate(cx, conflict.index, &self.new)?);
            };
            let Some((existing, assignments, filter)) = &clause.update else { return Ok(false) };
            if self.changed.contains(&conflict.row_key) {
                return Err(SqlError::new(
                    SqlState::CARDINALITY_VIOLATION,
                    "ON CONFLICT DO UPDATE command cannot affect row a second time",
                )
                .hint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values."));
            }
            let view = cx.view;
            let locked = cx.transaction.lock_row(
                &view,
                &writer.rows,
                &conflict.row_key,
                RowLock::NoKeyUpdate,
                WaitPolicy::Block,
                &mut self.record,
            )?;
            // Deleted since: there is room now.
            if matches!(locked, Locked::Gone | Locked::Skipped) {
                continue;
            }
            self.key = conflict.row_key;
            reread(cx, existing, &self.key, &self.record)?;
            cx.invalidate(&self.row_subqueries);
            if let Some(filter) = filter
                && !cx.holds(std::slice::from_ref(filter), &self.row_subqueries)?
            {
                return Ok(false);
            }
            self.update(cx, writer, assignments)?;
            self.changed.insert(self.key.clone());
            return Ok(true);
        }
    }

    /// Keeps the key of the row just inserted.
    fn remember(&mut self, writer: &Writer) -> Result<()> {
        if let Some(layout) = &self.table.key {
            let mut key = Vec::new();
            super::write::encode_key(layout, &self.new, &mut key)?;
            self.changed.insert(key);
        } else {
            self.changed.insert(writer.last_key().to_vec());
        }
        Ok(())
    }

    fn step(
        &mut self,
        cx: &mut Context<'_>,
        writer: &mut Writer,
        kind: &ModifyKind,
    ) -> Result<bool> {
        while self.source.next(cx)? {
            cx.check_cancel()?;
            if !self.row(cx, writer, kind)? {
                continue;
            }
            *cx.processed += 1;
            if let Some((slot, columns)) = &self.returning {
                cx.arena.reset();
                cx.fill(*slot, columns, &self.returning_subqueries)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Operator for Modify {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.changed.clear();
        if self.writer.is_none() {
            self.writer = Some(Writer::new(cx, &self.table)?);
        }
        self.source.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let mut writer = self.writer.take().expect("it has been opened");
        let kind = std::mem::replace(
            &mut self.kind,
            ModifyKind::Insert {
                source: physical::Plan::Nothing,
                columns: Vec::new(),
                on_conflict: None,
            },
        );
        let result = self.step(cx, &mut writer, &kind);
        self.kind = kind;
        self.writer = Some(writer);
        result
    }
}
