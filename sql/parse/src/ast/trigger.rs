//! Triggers as written: CREATE and DROP TRIGGER, and which of them ALTER TABLE switches.

use super::{Expr, Ident, ObjectName};
use sql_types::words::Deferral;
/// When a trigger fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerTime {
    /// BEFORE.
    Before,
    /// AFTER.
    After,
    /// INSTEAD OF.
    InsteadOf,
}

/// What a trigger fires for.
#[derive(Clone, Debug, PartialEq)]
pub enum TriggerEvent {
    /// INSERT.
    Insert,
    /// DELETE.
    Delete,
    /// UPDATE, or UPDATE OF columns.
    Update(Vec<Ident>),
    /// TRUNCATE.
    Truncate,
}

/// A part of REFERENCING: the rows as they were, or as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    /// NEW.
    pub new: bool,
    /// TABLE, and not ROW.
    pub table: bool,
    /// Its name.
    pub name: Ident,
}

/// CREATE TRIGGER.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTrigger {
    /// Its name.
    pub name: Ident,
    /// OR REPLACE.
    pub replace: bool,
    /// CONSTRAINT: when it is fired.
    pub constraint: Option<Deferral>,
    /// When.
    pub time: TriggerTime,
    /// For what.
    pub events: Vec<TriggerEvent>,
    /// Of what.
    pub table: ObjectName,
    /// FROM.
    pub from: Option<ObjectName>,
    /// REFERENCING.
    pub transitions: Vec<Transition>,
    /// FOR EACH ROW.
    pub row: bool,
    /// WHEN.
    pub when: Option<Expr>,
    /// EXECUTE FUNCTION.
    pub function: ObjectName,
    /// What that is given.
    pub arguments: Vec<Ident>,
}

/// Who fires a trigger.
#[derive(Clone, Debug, PartialEq)]
pub enum ToggledTrigger {
    /// The one of this name.
    Named(Ident),
    /// ALL.
    All,
    /// USER.
    User,
}

/// DROP TRIGGER.
#[derive(Clone, Debug, PartialEq)]
pub struct DropTrigger {
    /// Which.
    pub name: Ident,
    /// Of what.
    pub table: ObjectName,
    /// IF EXISTS.
    pub if_exists: bool,
}
