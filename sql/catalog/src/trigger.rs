//! Triggers: parts of their tables, rows of `pg_trigger` (PostgreSQL 15 manual, page CREATE TRIGGER).
//!
//! Whoever holds a table holds its triggers, and plans that write to it follow them.

use crate::definition::{Definition, Edge};
use crate::relation::{Deferral, Relation};
use sql_types::Oid;
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
    pub when: Option<Definition>,
    /// REFERENCING OLD TABLE, NEW TABLE.
    pub transition: (Option<Arc<str>>, Option<Arc<str>>),
    /// Of a constraint trigger: its `pg_constraint` row, when it is fired, and the table that FROM names (0: none).
    pub constraint: Option<(Oid, Deferral, Oid)>,
}

impl Trigger {
    /// What it depends on: its function, the columns that it names, and what its condition says.
    #[must_use]
    pub fn dependencies(&self) -> Definition {
        let text = self.when.as_ref().map_or_else(|| "".into(), |when| Arc::clone(when.text()));
        let columns = self.columns.iter().map(|column| Edge::Own(*column as i16 + 1));
        let named = self.when.iter().flat_map(|when| when.edges().iter().copied());
        Definition::new(text, columns.chain(named).chain([Edge::Function(self.function)]).collect())
    }

    /// Whether it names a column, by index.
    #[must_use]
    pub fn names_column(&self, column: usize) -> bool {
        self.columns.contains(&column)
            || self.when.as_ref().is_some_and(|when| when.names_column(column))
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
        match self.enabled {
            b'A' => true,
            b'D' => false,
            b'R' => replica,
            _ => !replica,
        }
    }
}

impl Relation {
    /// Whether it has triggers of this time, level and event, enabled or not.
    #[must_use]
    pub fn has_triggers(&self, timing: i16, row: bool, event: i16) -> bool {
        self.triggers.iter().any(|trigger| trigger.is_for(timing, row, event))
    }

    /// The trigger of this name.
    #[must_use]
    pub fn trigger(&self, name: &str) -> Option<&Trigger> {
        self.triggers.iter().find(|trigger| &*trigger.name == name)
    }
}
