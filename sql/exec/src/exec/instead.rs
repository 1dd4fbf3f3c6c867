//! INSERT, UPDATE and DELETE of a view with INSTEAD OF triggers (PostgreSQL 15 manual, "Overview of Trigger Behavior";
//! `ExecIRInsertTriggers` and its kin).
//!
//! The view's rows are computed and handed to the triggers one by one; nothing else is done with them. A row that a trigger
//! answers NULL for is neither counted nor returned; for any other, RETURNING shows what the triggers gave, and WITH CHECK
//! OPTION of views above is demanded of it.

use super::context::Context;
use super::operator::{Builder, Operator};
use super::trigger as firing;
use super::write::failing_row;
use crate::catalog::trigger;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical::{self, InsteadChange, Plan, Table};
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use std::sync::Arc;

/// A running change of a view.
pub struct Instead {
    source: Box<dyn Operator>,
    view: Arc<Table>,
    row: Arc<Code>,
    change: InsteadChange,
    /// The new values of the columns that are assigned.
    values: Arc<Code>,
    new_slot: u32,
    /// WITH CHECK OPTION: views and their conditions.
    checks: Box<[(Arc<str>, Arc<Code>)]>,
    returning: Option<(u32, Arc<Code>)>,
    /// Correlated subqueries: of new values, of the checks, of RETURNING.
    row_subqueries: Box<[u32]>,
    check_subqueries: Box<[u32]>,
    returning_subqueries: Box<[u32]>,
    /// Whether the triggers of the statement itself have been put off to its end.
    ended: bool,
}

impl Instead {
    /// Of this plan.
    #[must_use]
    pub fn new(
        plan: &physical::Modify,
        (source, row, change): (&Plan, &[Scalar], &InsteadChange),
        builder: &Builder<'_>,
    ) -> Instead {
        let assigned = match change {
            InsteadChange::Update(assignments) => &assignments[..],
            InsteadChange::Insert | InsteadChange::Delete => &[],
        };
        let values = assigned.iter().map(|(_, value)| value);
        let conditions = plan.view_checks.iter().flat_map(|(_, conditions)| conditions);
        let returned = plan.returning.iter().flat_map(|(_, columns)| columns);
        Instead {
            source: builder.build(source),
            view: Arc::clone(&plan.table),
            row_subqueries: builder.correlated(row.iter().chain(values.clone())),
            check_subqueries: builder.correlated(conditions),
            returning_subqueries: builder.correlated(returned),
            row: builder.code(row),
            values: builder.code(values),
            change: change.clone(),
            new_slot: plan.new_slot,
            checks: plan
                .view_checks
                .iter()
                .map(|(view, conditions)| (Arc::clone(view), builder.conditions(conditions)))
                .collect(),
            returning: plan
                .returning
                .as_ref()
                .map(|(slot, columns)| (*slot, builder.code(columns))),
            ended: false,
        }
    }

    /// What triggers know of the statement: its event, and the columns that it assigns, by index.
    fn event(&self) -> (i16, Vec<usize>) {
        match &self.change {
            InsteadChange::Insert => (trigger::INSERT, Vec::new()),
            InsteadChange::Update(assignments) => {
                let assigned = assignments.iter().map(|(at, _)| self.view.live[*at]);
                (trigger::UPDATE, assigned.collect())
            }
            InsteadChange::Delete => (trigger::DELETE, Vec::new()),
        }
    }

    /// The view's row as the source gives it, and what the statement makes of it, both with all columns by index.
    fn rows(&self, cx: &mut Context<'_>) -> Result<(RowBuf, RowBuf)> {
        cx.invalidate(&self.row_subqueries);
        let live = &self.view.live;
        let mut given = RowBuf::new();
        given.set_nulls(self.view.relation.columns.len());
        cx.eval(&self.row, |values| {
            for (column, value) in live.iter().zip(values.iter()) {
                given.set(*column, value);
            }
            Ok(())
        })?;
        let mut new = given.clone();
        if let InsteadChange::Update(assignments) = &self.change {
            cx.eval(&self.values, |values| {
                for ((at, _), value) in assignments.iter().zip(values.iter()) {
                    new.set(live[*at], value);
                }
                Ok(())
            })?;
        }
        Ok((given, new))
    }

    /// One row of the source; whether the triggers have done something about it.
    fn fire(&self, cx: &mut Context<'_>) -> Result<bool> {
        let (given, mut new) = self.rows(cx)?;
        let mut returned = RowBuf::new();
        let relation = &self.view.relation;
        let (event, updated) = self.event();
        let kinds = (trigger::INSTEAD, event);
        let (done, shown) = match &self.change {
            InsteadChange::Insert | InsteadChange::Update(_) => {
                let is_update = matches!(self.change, InsteadChange::Update(_));
                let rows = (is_update.then_some(&given), &mut new, &mut returned);
                (firing::before_row(cx, relation, kinds, &updated, rows)?, &new)
            }
            InsteadChange::Delete => {
                (firing::before_delete(cx, relation, trigger::INSTEAD, &given)?, &given)
            }
        };
        if !done {
            return Ok(false);
        }
        let row = cx.frame.row_mut(self.new_slot);
        row.clear();
        for column in &self.view.live {
            row.push_column(shown, *column);
        }
        self.check(cx)?;
        Ok(true)
    }

    /// WITH CHECK OPTION of the views that the statement goes through.
    fn check(&self, cx: &mut Context<'_>) -> Result<()> {
        for (view, conditions) in &*self.checks {
            if !cx.holds(conditions, &self.check_subqueries)? {
                let message = format!("new row violates check option for view \"{view}\"");
                return Err(SqlError::new(SqlState::WITH_CHECK_OPTION_VIOLATION, message)
                    .maybe_detail(failing_row(cx, &self.view, cx.frame.row(self.new_slot))?));
            }
        }
        Ok(())
    }
}

impl Operator for Instead {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.ended = false;
        let (event, updated) = self.event();
        firing::before_statement(cx, &self.view, event, &updated)?;
        self.source.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        while self.source.next(cx)? {
            cx.check_cancel()?;
            if !self.fire(cx)? {
                continue;
            }
            *cx.processed += 1;
            if let Some((slot, columns)) = &self.returning {
                cx.arena.reset();
                cx.fill(*slot, columns, &self.returning_subqueries)?;
                return Ok(true);
            }
        }
        if !std::mem::replace(&mut self.ended, true) {
            let (event, updated) = self.event();
            firing::after_statement(cx, &self.view, event, &updated)?;
        }
        Ok(false)
    }

    fn rest_bytes(&self) -> Option<usize> {
        self.source.rest_bytes()
    }
}
