//! Actions of foreign keys: CASCADE, SET NULL, SET DEFAULT, once a referenced row has gone or has changed its key.
//!
//! PostgreSQL runs a statement on the referencing table for each referenced row; so does this, through the same code as
//! UPDATE and DELETE, except that the rows are found by the foreign key in the latest state. Each is locked and looked at
//! again. What that sets off in turn goes to the end of the same queue, so actions never run inside each other, and keys in
//! a circle need no depth.

use super::context::Context;
use super::foreign_key::{Timing, children, key_of, refers};
use super::operator::Builder;
use super::row_change::{Assignments, RowChange};
use super::write::Writer;
use crate::catalog::trigger;
use crate::catalog::{Action, ConstraintKind};
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical::{self, Reference, Table};
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use std::sync::Arc;
use txn::{Locked, ReadView, RowLock, WaitPolicy};

/// An action of a foreign key, ready to run.
pub struct ReferentialAction {
    constraint: usize,
    on_update: bool,
    key_slot: u32,
    /// None: the rows are deleted.
    assignments: Option<(Vec<(usize, Scalar)>, Arc<Code>)>,
    change: RowChange,
    writer: Option<Writer>,
}

impl ReferentialAction {
    /// Of this plan.
    #[must_use]
    pub fn new(plan: &physical::ReferentialAction, builder: &Builder<'_>) -> ReferentialAction {
        let scalars = plan.change.iter().flatten().map(|(_, value)| value);
        let subqueries = builder.correlated(scalars);
        ReferentialAction {
            constraint: plan.constraint,
            on_update: plan.on_update,
            key_slot: plan.key_slot,
            assignments: plan.change.as_ref().map(|change| {
                (change.clone(), builder.code(change.iter().map(|(_, value)| value)))
            }),
            // The other parents of the row may be about to be changed by the same statement.
            change: RowChange::new(plan.into(), subqueries, builder, Timing::AtEnd),
            writer: None,
        }
    }

    /// Its table, and what it does there as triggers know it: to which columns.
    fn statement(&self) -> (Arc<Table>, i16, Vec<usize>) {
        let table = Arc::clone(&self.change.table);
        match &self.assignments {
            None => (table, trigger::DELETE, Vec::new()),
            Some((assignments, _)) => {
                let assigned = assignments.iter().map(|(at, _)| table.live[*at]);
                let updated = assigned.chain(self.change.generated_columns()).collect();
                (table, trigger::UPDATE, updated)
            }
        }
    }

    fn is_of(&self, reference: &Reference, on_update: bool) -> bool {
        self.change.table.relation.oid == reference.child.oid
            && self.constraint == reference.constraint
            && self.on_update == on_update
    }

    /// Changes the rows with these keys that still refer to the old row of the parent. True if one has gone while it was
    /// waited for: it may be there at another key.
    fn run(
        &mut self,
        cx: &mut Context<'_>,
        locking: &ReadView,
        reference: &Reference,
        (old, new): (&RowBuf, Option<&RowBuf>),
        keys: Vec<Vec<u8>>,
    ) -> Result<bool> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(Writer::new(cx, &self.change.table)?),
        };
        writer.begin(cx);
        if let Some(new) = new {
            let row = cx.frame.row_mut(self.key_slot);
            row.clear();
            for column in &key_of(reference).referenced {
                row.push(new.get(*column));
            }
        }
        let mode = match &self.assignments {
            Some(_) => RowLock::NoKeyUpdate,
            None => RowLock::Update,
        };
        let change = &mut self.change;
        let mut gone = false;
        for key in keys {
            cx.check_cancel()?;
            cx.arena.reset();
            change.key = key;
            let locked = cx.transaction.lock_row(
                locking,
                &writer.rows,
                &change.key,
                mode,
                WaitPolicy::Block,
                &mut change.record,
            )?;
            if matches!(locked, Locked::Gone | Locked::Skipped) {
                let (rows, record) = (&writer.rows, &mut change.record);
                gone |= !cx.transaction.get_latest(rows, &change.key, record)?;
                continue;
            }
            writer.read(cx, &change.record, &mut change.old)?;
            if !refers(reference, &change.old.row, old) {
                continue;
            }
            match &self.assignments {
                Some((of, code)) => change.update(cx, writer, Assignments { of, code })?,
                None => change.delete(cx, writer)?,
            };
        }
        Ok(gone)
    }
}

/// Does what the foreign key wants done to the children of a row of the parent that was `old` and is `new` now. `locking`
/// is the view under which rows are locked.
///
/// # Errors
/// All that changing rows can fail with.
pub fn perform(
    cx: &mut Context<'_>,
    locking: &ReadView,
    reference: &Reference,
    old: &RowBuf,
    new: Option<&RowBuf>,
) -> Result<()> {
    let lost = || SqlError::new(SqlState::INTERNAL_ERROR, "a foreign key's action is not planned");
    let wanted = |action: &Option<ReferentialAction>| {
        action.as_ref().is_some_and(|action| action.is_of(reference, new.is_some()))
    };
    let at = cx.actions.iter().position(wanted).ok_or_else(lost)?;
    let within = |error| within_statement(error, reference, new.is_some());
    if reference.child.triggers.is_empty() {
        return perform_at(cx, locking, reference, (old, new), at).map_err(within);
    }
    // The statement of PostgreSQL is one, whether it finds rows or not.
    let action = cx.actions[at].as_ref().ok_or_else(lost)?;
    let (table, event, updated) = action.statement();
    // It is a command of its own: what its triggers change of its rows they change in later ones.
    let around = cx.view;
    cx.view = cx.transaction.next_command(&around);
    cx.checks.actions += 1;
    let done = super::trigger::before_statement(cx, &table, event, &updated)
        .and_then(|()| perform_at(cx, locking, reference, (old, new), at))
        .map_err(within)
        .and_then(|()| super::trigger::after_statement(cx, &table, event, &updated));
    cx.checks.actions -= 1;
    cx.view = around;
    done
}

fn perform_at(
    cx: &mut Context<'_>,
    locking: &ReadView,
    reference: &Reference,
    (old, new): (&RowBuf, Option<&RowBuf>),
    at: usize,
) -> Result<()> {
    let lost = || SqlError::new(SqlState::INTERNAL_ERROR, "a foreign key's action is not planned");
    let mut keys = children(cx, reference, old, usize::MAX)?;
    if keys.is_empty() {
        return Ok(());
    }
    let mut action = cx.actions[at].take().ok_or_else(lost)?;
    let mut run = || {
        while action.run(cx, locking, reference, (old, new), std::mem::take(&mut keys))? {
            keys = children(cx, reference, old, usize::MAX)?;
        }
        Ok(())
    };
    let done = run();
    cx.actions[at] = Some(action);
    done
}

/// An error within an action, which tells its statement.
fn within_statement(error: SqlError, reference: &Reference, on_update: bool) -> SqlError {
    let statement = format!("SQL statement \"{}\"", statement_text(reference, on_update));
    let within = error.fields().context.as_ref().map(|inner| format!("{inner}\n{statement}"));
    error.context(within.unwrap_or(statement))
}

/// The statement by which PostgreSQL's trigger does the same (`ri_triggers.c`): errors within an action tell it.
fn statement_text(reference: &Reference, on_update: bool) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
    let child = &reference.child;
    let ConstraintKind::ForeignKey(key) = &child.constraints[reference.constraint].kind else {
        return String::new();
    };
    let names: Vec<String> =
        key.columns.iter().map(|&column| quoted(&child.columns[column].name)).collect();
    let table = format!("{}.{}", quoted(&child.schema.1), quoted(&child.name));
    let action = if on_update { key.on_update } else { key.on_delete };
    let (start, set) = match action {
        Action::Cascade if !on_update => ("DELETE FROM ONLY", None),
        Action::Cascade => ("UPDATE ONLY", Some("$")),
        Action::SetNull => ("UPDATE ONLY", Some("NULL")),
        _ => ("UPDATE ONLY", Some("DEFAULT")),
    };
    // A cascaded update takes the new values first, then the old ones.
    let values = if set == Some("$") { names.len() } else { 0 };
    let set = set.map_or_else(String::new, |value| {
        let assigned = names.iter().enumerate().map(|(at, name)| match value {
            "$" => format!("{name} = ${}", at + 1),
            _ => format!("{name} = {value}"),
        });
        format!(" SET {}", assigned.collect::<Vec<_>>().join(", "))
    });
    let matched = names.iter().enumerate();
    let matched: Vec<String> = matched
        .map(|(at, name)| format!("${} OPERATOR(pg_catalog.=) {name}", values + at + 1))
        .collect();
    format!("{start} {table}{set} WHERE {}", matched.join(" AND "))
}
