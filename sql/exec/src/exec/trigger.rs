//! Firing triggers (PostgreSQL 15's `commands/trigger.c`): which of a table's triggers a change concerns, and when they run.
//!
//! BEFORE triggers run where the row is about to be written, and say what it becomes. AFTER triggers wait for the
//! statement's end in one queue with the checks of foreign keys, or longer where they are deferred. As with routines that
//! expressions call, the statement lends the session what is the transaction's.

use super::context::Context;
use super::deferred::{self, Check};
use super::routine::Lent;
use crate::catalog::relation::Relation;
use crate::catalog::trigger::{self, Trigger};
use crate::error::{Result, SqlError};
use crate::plan::physical::Table;
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use std::sync::Arc;
use txn::{ReadView, RecordBuffer, Tree};

/// The rows that a statement has changed, as they were and as they are, all columns by index.
#[derive(Debug, Default)]
pub struct Transition {
    /// OLD TABLE.
    pub old: RowSet,
    /// NEW TABLE.
    pub new: RowSet,
}

/// A trigger that is about to fire.
#[derive(Clone, Copy)]
pub struct Firing<'f> {
    /// Its table, or view.
    pub relation: &'f Arc<Relation>,
    /// It.
    pub trigger: &'f Trigger,
    /// For what: one of the events of `catalog::trigger`.
    pub event: i16,
    /// The row as it was, all columns by index.
    pub old: Option<&'f RowBuf>,
    /// The row as it is to be, all columns by index.
    pub new: Option<&'f RowBuf>,
    /// How many actions of foreign keys are around, which PostgreSQL's triggers do.
    pub actions: u32,
    /// What the statement has changed.
    pub transition: Option<&'f Arc<Transition>>,
}

/// The rows of a change, all columns by index.
#[derive(Clone, Copy, Default)]
pub struct Rows<'r> {
    /// As it was.
    pub old: Option<&'r RowBuf>,
    /// As it is.
    pub new: Option<&'r RowBuf>,
}

/// Whether a trigger looks at an update of these columns, by index.
fn concerns(trigger: &Trigger, event: i16, updated: &[usize]) -> bool {
    event != trigger::UPDATE
        || trigger.columns.is_empty()
        || trigger.columns.iter().any(|column| updated.contains(column))
}

/// The enabled triggers of a relation for this, in the order in which they fire.
fn fitting<'r>(
    cx: &Context<'_>,
    relation: &'r Relation,
    (timing, row, event): (i16, bool, i16),
    updated: &'r [usize],
) -> impl Iterator<Item = &'r Trigger> + use<'r> {
    let replica = cx.host.settings.get().replica;
    let fits = move |trigger: &&Trigger| {
        trigger.is_for(timing, row, event)
            && trigger.is_enabled(replica)
            && concerns(trigger, event, updated)
    };
    relation.triggers.iter().filter(fits)
}

impl Context<'_> {
    /// Runs a trigger's function: `next` becomes the row that it returns, all columns by index; false where that is none.
    fn fire(&mut self, firing: &Firing<'_>, next: &mut RowBuf) -> Result<bool> {
        let Some(routines) = self.host.routines else { return Err(not_here(firing.trigger)) };
        let lent = Lent { transaction: self.transaction, view: self.view, row_ids: self.row_ids };
        routines.fire(lent, &self.host.call(self.arena), firing, next)
    }

    /// Whether WHEN of a trigger holds.
    fn meets(&mut self, firing: &Firing<'_>) -> Result<bool> {
        if firing.trigger.when.is_none() {
            return Ok(true);
        }
        let Some(routines) = self.host.routines else { return Err(not_here(firing.trigger)) };
        let lent = Lent { transaction: self.transaction, view: self.view, row_ids: self.row_ids };
        routines.meets(lent, &self.host.call(self.arena), firing)
    }
}

fn not_here(trigger: &Trigger) -> SqlError {
    SqlError::unsupported(format!("firing the trigger {} here is", trigger.name))
}

/// Runs the BEFORE or INSTEAD OF triggers of a row that is about to be inserted or changed: it becomes the row that comes of
/// them, all columns by index; false: nothing is to be done. What a trigger returns is put into `returned` first.
///
/// # Errors
/// Those of the triggers.
pub fn before_row(
    cx: &mut Context<'_>,
    relation: &Arc<Relation>,
    (timing, event): (i16, i16),
    updated: &[usize],
    (old, new, returned): (Option<&RowBuf>, &mut RowBuf, &mut RowBuf),
) -> Result<bool> {
    let actions = cx.checks.actions;
    for trigger in fitting(cx, relation, (timing, true, event), updated) {
        let firing =
            Firing { relation, trigger, event, old, new: Some(&*new), transition: None, actions };
        if !cx.meets(&firing)? {
            continue;
        }
        if !cx.fire(&firing, returned)? {
            return Ok(false);
        }
        std::mem::swap(new, returned);
    }
    Ok(true)
}

/// The same of a row that is about to be deleted; whether it is.
///
/// # Errors
/// Those of the triggers.
pub fn before_delete(
    cx: &mut Context<'_>,
    relation: &Arc<Relation>,
    timing: i16,
    old: &RowBuf,
) -> Result<bool> {
    let event = trigger::DELETE;
    let actions = cx.checks.actions;
    for trigger in fitting(cx, relation, (timing, true, event), &[]) {
        let firing = Firing {
            relation,
            trigger,
            event,
            old: Some(old),
            new: None,
            transition: None,
            actions,
        };
        if cx.meets(&firing)? && !cx.fire(&firing, &mut RowBuf::new())? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A row has been changed: its AFTER triggers wait for the statement's end, or longer.
///
/// # Errors
/// Those of WHEN; 53200 where too much waits.
pub fn after_row(
    cx: &mut Context<'_>,
    table: &Arc<Table>,
    event: i16,
    updated: &[usize],
    rows: Rows<'_>,
) -> Result<()> {
    let relation = &table.relation;
    if relation.triggers.is_empty() {
        return Ok(());
    }
    let change = cx.checks.note_row(relation, event, rows);
    let actions = cx.checks.actions;
    for trigger in fitting(cx, relation, (0, true, event), updated) {
        let Rows { old, new } = rows;
        let firing = Firing { relation, trigger, event, old, new, transition: None, actions };
        if cx.meets(&firing)? {
            let check = Check::Trigger {
                trigger: trigger.oid,
                event,
                old: old.cloned(),
                new: new.cloned(),
                change,
            };
            deferred::put_off(cx, table, check)?;
        }
    }
    Ok(())
}

/// A statement is about to change rows of a table: its BEFORE triggers run, once a statement.
///
/// # Errors
/// Those of the triggers.
pub fn before_statement(
    cx: &mut Context<'_>,
    table: &Arc<Table>,
    event: i16,
    updated: &[usize],
) -> Result<()> {
    let relation = &table.relation;
    if relation.triggers.is_empty() || !cx.checks.begin_statement(relation.oid, event) {
        return Ok(());
    }
    let actions = cx.checks.actions;
    for trigger in fitting(cx, relation, (trigger::BEFORE, false, event), updated) {
        let firing =
            Firing { relation, trigger, event, old: None, new: None, transition: None, actions };
        if cx.meets(&firing)? {
            cx.fire(&firing, &mut RowBuf::new())?;
        }
    }
    Ok(())
}

/// A statement has changed the rows of a table that it changes: its AFTER triggers wait for its end.
///
/// # Errors
/// Those of WHEN.
pub fn after_statement(
    cx: &mut Context<'_>,
    table: &Arc<Table>,
    event: i16,
    updated: &[usize],
) -> Result<()> {
    let relation = &table.relation;
    if !relation.has_triggers(0, false, event) {
        return Ok(());
    }
    let change = cx.checks.forget_statement(relation.oid, event);
    let actions = cx.checks.actions;
    for trigger in fitting(cx, relation, (0, false, event), updated) {
        let firing =
            Firing { relation, trigger, event, old: None, new: None, transition: None, actions };
        if cx.meets(&firing)? {
            let trigger = trigger.oid;
            cx.checks.push(table, Check::Trigger { trigger, event, old: None, new: None, change });
        }
    }
    Ok(())
}

/// Fires a trigger that has waited, for that change; not one that has gone meanwhile.
///
/// # Errors
/// Those of the trigger.
pub fn fire_queued(
    cx: &mut Context<'_>,
    table: &Table,
    (oid, event): (crate::types::Oid, i16),
    rows: Rows<'_>,
    change: usize,
) -> Result<()> {
    let relation = &table.relation;
    let forgotten = cx.transaction.manager().planted(txn::Fault::TriggerNotFired);
    let found = relation.triggers.iter().find(|one| one.oid == oid && !forgotten);
    let Some(trigger) = found else { return Ok(()) };
    let transition = match &trigger.transition {
        (None, None) => None,
        _ => cx.checks.see(change),
    };
    let Rows { old, new } = rows;
    let transition = transition.as_ref();
    let firing = Firing { relation, trigger, event, old, new, transition, actions: 0 };
    cx.fire(&firing, &mut RowBuf::new()).map(|_| ())
}

/// What is to become of a row that no trigger may have touched.
#[derive(Clone, Copy, Debug)]
pub enum Untouched {
    /// UPDATE.
    Updated,
    /// DELETE.
    Deleted,
    /// What MERGE does.
    Either,
}

/// 27000 where a trigger of the command, or a function that it calls, has itself changed the row that is about to be changed
/// (`TM_SelfModified` by another command).
///
/// # Errors
/// That; storage's.
pub fn demand_untouched(
    cx: &mut Context<'_>,
    view: &ReadView,
    (rows, key): (&Tree, &[u8]),
    what: Untouched,
) -> Result<()> {
    let mut record = RecordBuffer::default();
    if !cx.transaction.has_written_since(view, rows, key, &mut record)? {
        return Ok(());
    }
    let what = match what {
        Untouched::Updated => "updated",
        Untouched::Deleted => "deleted",
        Untouched::Either => "updated or deleted",
    };
    Err(SqlError::new(
        SqlState::TRIGGERED_DATA_CHANGE_VIOLATION,
        format!(
            "tuple to be {what} was already modified by an operation triggered by the current command"
        ),
    )
    .hint("Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows."))
}
