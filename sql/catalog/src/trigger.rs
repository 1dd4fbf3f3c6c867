//! Triggers: parts of their tables, rows of `pg_trigger` (PostgreSQL 15 manual, page CREATE TRIGGER).
//!
//! Whoever holds a table holds its triggers, and plans that write to it follow them.

use crate::definition::{Edge, Edges, Expression};
use crate::relation::{Action, ConstraintKind, Deferral, ForeignKey, Relation};
use crate::snapshot::CatalogSnapshot;
use sql_types::Oid;
use sql_types::builtin::extensions;
use sql_types::error::Result;
use std::sync::Arc;

/// FOR EACH ROW (`TRIGGER_TYPE_ROW`).
pub const ROW: i16 = 1;
/// BEFORE.
pub const BEFORE: i16 = 1 << 1;
/// INSERT.
pub const INSERT: i16 = 1 << 2;
/// DELETE.
pub const DELETE: i16 = 1 << 3;
/// UPDATE.
pub const UPDATE: i16 = 1 << 4;
/// TRUNCATE.
pub const TRUNCATE: i16 = 1 << 5;
/// INSTEAD OF.
pub const INSTEAD: i16 = 1 << 6;
/// When: none of these is AFTER.
pub const TIMING: i16 = BEFORE | INSTEAD;

/// A function of the server's own that triggers may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NativeTrigger {
    /// `suppress_redundant_updates_trigger`.
    SuppressRedundantUpdates,
    /// `moddatetime`.
    ModDateTime,
    /// `insert_username`.
    InsertUsername,
    /// `autoinc`.
    AutoInc,
    /// `triggered_change_notification` of `tcn`.
    ChangeNotification,
    /// `check_primary_key` of `refint`.
    CheckPrimaryKey,
    /// `check_foreign_key` of `refint`.
    CheckForeignKey,
}

/// The function of the server's own that has this OID.
#[must_use]
pub fn native(function: Oid) -> Option<NativeTrigger> {
    let refint = extensions::REFINT.start;
    Some(match function.0 {
        1291 => NativeTrigger::SuppressRedundantUpdates,
        oid if extensions::MODDATETIME.contains(&oid) => NativeTrigger::ModDateTime,
        oid if extensions::INSERT_USERNAME.contains(&oid) => NativeTrigger::InsertUsername,
        oid if extensions::AUTOINC.contains(&oid) => NativeTrigger::AutoInc,
        oid if extensions::TCN.contains(&oid) => NativeTrigger::ChangeNotification,
        oid if oid == refint => NativeTrigger::CheckPrimaryKey,
        oid if oid == refint + 1 => NativeTrigger::CheckForeignKey,
        _ => return None,
    })
}

/// A trigger.
#[derive(Clone, Debug, PartialEq)]
pub struct Trigger {
    /// Its `pg_trigger` row.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// The function that it calls.
    pub function: Oid,
    /// `tgtype`: when it fires, for which events, for each row or once a statement.
    pub kind: i16,
    /// `tgenabled`: O, D, R or A.
    pub enabled: u8,
    /// UPDATE OF these columns, by index; empty: any.
    pub columns: Vec<usize>,
    /// What its function is given.
    pub arguments: Vec<Arc<str>>,
    /// WHEN, over the rows `old` and `new`.
    pub when: Option<Expression>,
    /// REFERENCING OLD TABLE, NEW TABLE.
    pub transition: (Option<Arc<str>>, Option<Arc<str>>),
    /// Of a constraint trigger: its `pg_constraint` row, when it is fired, and the table that FROM names (0: none).
    pub constraint: Option<(Oid, Deferral, Oid)>,
}

/// The four triggers that PostgreSQL keeps a foreign key by, as rows of `pg_trigger`. They are not called: what they do is
/// part of the statement that changes a row. But who switches one off means what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTriggers {
    /// The referenced table's, for its DELETE.
    pub deletes: Oid,
    /// The referenced table's, for its UPDATE.
    pub updates: Oid,
    /// The referencing table's, for its INSERT.
    pub checks_new: Oid,
    /// The referencing table's, for its UPDATE.
    pub checks_changed: Oid,
}

/// A trigger of a foreign key, as the catalog shows it.
#[derive(Clone, Debug)]
pub struct KeyTrigger {
    /// As if somebody had made it.
    pub trigger: Trigger,
    /// The referenced table's index.
    pub index: Oid,
}

impl KeyTriggers {
    /// With these numbers, in PostgreSQL's order.
    ///
    /// # Errors
    /// Those of numbering.
    pub fn numbered(mut next: impl FnMut() -> Result<Oid>) -> Result<KeyTriggers> {
        let (deletes, updates) = (next()?, next()?);
        Ok(KeyTriggers { deletes, updates, checks_new: next()?, checks_changed: next()? })
    }

    /// All of them.
    #[must_use]
    pub fn all(self) -> [Oid; 4] {
        [self.deletes, self.updates, self.checks_new, self.checks_changed]
    }
}

/// The function of a referenced table's trigger: its row of `pg_proc`.
fn acting(action: Action, on_update: bool) -> u32 {
    let on_delete = match action {
        Action::Cascade => 1646,
        Action::Restrict => 1648,
        Action::SetNull => 1650,
        Action::SetDefault => 1652,
        Action::NoAction => 1654,
    };
    on_delete + u32::from(on_update)
}

impl Relation {
    /// `tgenabled` of a trigger of a foreign key.
    fn key_trigger_state(&self, trigger: Oid) -> u8 {
        let found = self.key_triggers.iter().find(|(known, _)| *known == trigger);
        found.map_or(b'O', |found| found.1)
    }

    /// Whether a session of this role minds what a trigger of a foreign key does.
    #[must_use]
    pub fn minds(&self, trigger: Oid, replica: bool) -> bool {
        fires(self.key_trigger_state(trigger), replica)
    }

    fn key_trigger(
        &self,
        (oid, function, kind): (Oid, u32, i16),
        (constraint, deferral, other): (Oid, Deferral, Oid),
        key: &ForeignKey,
    ) -> KeyTrigger {
        let side = if function < acting(Action::Cascade, false) { 'c' } else { 'a' };
        let trigger = Trigger {
            oid,
            name: format!("RI_ConstraintTrigger_{side}_{}", oid.0).into(),
            function: Oid(function),
            kind,
            enabled: self.key_trigger_state(oid),
            columns: Vec::new(),
            arguments: Vec::new(),
            when: None,
            transition: (None, None),
            constraint: Some((constraint, deferral, other)),
        };
        KeyTrigger { trigger, index: key.index }
    }
}

impl CatalogSnapshot {
    /// The triggers of the foreign keys of a table and of those that refer to it, by name.
    #[must_use]
    pub fn key_triggers(&self, table: &Relation) -> Vec<KeyTrigger> {
        let mut found = Vec::new();
        for constraint in &table.constraints {
            let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
            let of = (constraint.oid, constraint.deferral, key.references);
            let (new, changed) = (key.triggers.checks_new, key.triggers.checks_changed);
            found.push(table.key_trigger((new, 1644, ROW | INSERT), of, key));
            found.push(table.key_trigger((changed, 1645, ROW | UPDATE), of, key));
        }
        for (child, at) in &table.referenced_by {
            let Some(constraint) =
                self.relation(*child).and_then(|child| child.constraints.get(*at))
            else {
                continue;
            };
            let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
            for (oid, action, on_update, event) in [
                (key.triggers.deletes, key.on_delete, false, DELETE),
                (key.triggers.updates, key.on_update, true, UPDATE),
            ] {
                let deferral = match action {
                    Action::NoAction => constraint.deferral,
                    _ => Deferral::Never,
                };
                let of = (constraint.oid, deferral, *child);
                let function = acting(action, on_update);
                found.push(table.key_trigger((oid, function, ROW | event), of, key));
            }
        }
        found.sort_by(|a, b| a.trigger.name.cmp(&b.trigger.name));
        found
    }
}

/// Whether `tgenabled` says that a session of this role fires a trigger: one that applies changes of a replica, or another.
fn fires(enabled: u8, replica: bool) -> bool {
    match enabled {
        b'A' => true,
        b'D' => false,
        b'R' => replica,
        _ => !replica,
    }
}

impl Trigger {
    /// What it depends on: its function, the columns that it names, and what its condition says.
    #[must_use]
    pub fn dependencies(&self) -> Edges {
        let columns = self.columns.iter().map(|column| Edge::Own(*column as i16 + 1));
        let named = self.when.iter().flat_map(|when| when.edges().iter().copied());
        Edges::new(columns.chain(named).chain([Edge::Function(self.function)]).collect())
    }

    /// Whether it names a column, by index.
    #[must_use]
    pub fn names_column(&self, column: usize) -> bool {
        self.columns.contains(&column)
            || self.when.as_ref().is_some_and(|when| when.edges().names_column(column))
    }

    /// Whether it fires for each row.
    #[must_use]
    pub fn is_row(&self) -> bool {
        self.kind & ROW != 0
    }

    /// Whether it is one of this time (of [`TIMING`]), level and event.
    #[must_use]
    pub fn is_for(&self, timing: i16, row: bool, event: i16) -> bool {
        self.kind & TIMING == timing && self.is_row() == row && self.kind & event != 0
    }

    /// Whether a session of this role fires it: one that applies changes of a replica, or another.
    #[must_use]
    pub fn is_enabled(&self, replica: bool) -> bool {
        fires(self.enabled, replica)
    }
}

impl Relation {
    /// Whether it has triggers of this time, level and event, enabled or not.
    #[must_use]
    pub fn has_triggers(&self, timing: i16, row: bool, event: i16) -> bool {
        self.triggers.iter().any(|trigger| trigger.is_for(timing, row, event))
    }

    /// Whether a change of its rows is what triggers say: it is a view that has INSTEAD OF triggers for this event, enabled or
    /// not.
    #[must_use]
    pub fn is_changed_by_triggers(&self, event: i16) -> bool {
        self.has_triggers(INSTEAD, true, event)
    }

    /// The trigger of this name.
    #[must_use]
    pub fn trigger(&self, name: &str) -> Option<&Trigger> {
        self.triggers.iter().find(|trigger| &*trigger.name == name)
    }
}
