//! What functions of event triggers ask: the commands and the dropped objects of the statement that they fire for
//! (`pg_event_trigger_ddl_commands` and its kin of `event_trigger.c`).

use super::Call;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::{Datum, Oid, array, oids};

/// The event that triggers fire for, and what is known of its statement.
#[derive(Clone, Debug, Default)]
pub struct EventFacts {
    /// `ddl_command_start` and its kin.
    pub event: &'static str,
    /// What the statement has done.
    pub commands: Vec<EventCommand>,
    /// What it has dropped.
    pub dropped: Vec<DroppedObject>,
    /// The table that is about to be rewritten, and why.
    pub rewrite: Option<(Oid, i32)>,
}

/// A part of a statement: a row of `pg_event_trigger_ddl_commands`.
#[derive(Clone, Debug)]
pub struct EventCommand {
    /// The class, the OID and the number of the object; none where there are several.
    pub address: Option<(Oid, Oid, i32)>,
    /// Its command's tag.
    pub tag: String,
    /// What kind of object it is.
    pub kind: Option<String>,
    /// The object's schema.
    pub schema: Option<String>,
    /// What names it.
    pub identity: Option<String>,
}

/// A row of `pg_event_trigger_dropped_objects`.
#[derive(Clone, Debug)]
pub struct DroppedObject {
    /// The class, the OID and the number of the object.
    pub address: (Oid, Oid, i32),
    /// The statement has named it.
    pub original: bool,
    /// It depended on what has gone, and is no part of it.
    pub normal: bool,
    /// It was temporary.
    pub temporary: bool,
    /// What kind of object it was.
    pub kind: Option<String>,
    /// Its schema.
    pub schema: Option<String>,
    /// Its name, if that says with its schema which one it was.
    pub name: Option<String>,
    /// What named it.
    pub identity: Option<String>,
    /// The same in parts.
    pub names: Vec<String>,
    /// And what it took.
    pub arguments: Vec<String>,
}

fn outside(function: &str, where_else: &str) -> SqlError {
    let message = format!("{function}() can only be called in {where_else} event trigger function");
    SqlError::new(SqlState::EVENT_TRIGGER_PROTOCOL_VIOLATED, message)
}

impl<'a> Call<'_, '_, '_, 'a> {
    fn texts_of(&self, all: &[String]) -> Datum<'a> {
        let all: Vec<Datum<'_>> = all.iter().map(|text| Datum::Text(text)).collect();
        array::from_datums(self.context.arena, oids::TEXT, &all)
    }

    /// `pg_event_trigger_ddl_commands`.
    pub(super) fn event_commands(
        &self,
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        let facts = self.session.engine.event();
        let facts = facts.filter(|facts| facts.event != "ddl_command_start");
        let facts = facts.ok_or_else(|| outside("pg_event_trigger_ddl_commands", "an"))?;
        for command in &facts.commands {
            let (class, object, sub) = match command.address {
                Some((class, object, sub)) => {
                    (Datum::Oid(class.0), Datum::Oid(object.0), Datum::Int4(sub))
                }
                None => (Datum::Null, Datum::Null, Datum::Null),
            };
            let row = [
                class,
                object,
                sub,
                self.text(&command.tag),
                self.optional(command.kind.as_deref()),
                self.optional(command.schema.as_deref()),
                self.optional(command.identity.as_deref()),
                Datum::Bool(false),
                Datum::Null,
            ];
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_event_trigger_dropped_objects`.
    pub(super) fn event_drops(
        &self,
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        let facts = self.session.engine.event().filter(|facts| facts.event == "sql_drop");
        let facts =
            facts.ok_or_else(|| outside("pg_event_trigger_dropped_objects", "a sql_drop"))?;
        for dropped in &facts.dropped {
            let (class, object, sub) = dropped.address;
            let row = [
                Datum::Oid(class.0),
                Datum::Oid(object.0),
                Datum::Int4(sub),
                Datum::Bool(dropped.original),
                Datum::Bool(dropped.normal),
                Datum::Bool(dropped.temporary),
                self.optional(dropped.kind.as_deref()),
                self.optional(dropped.schema.as_deref()),
                self.optional(dropped.name.as_deref()),
                self.optional(dropped.identity.as_deref()),
                self.texts_of(&dropped.names),
                self.texts_of(&dropped.arguments),
            ];
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_event_trigger_table_rewrite_oid` and `pg_event_trigger_table_rewrite_reason`.
    pub(super) fn event_rewrite(&self, function: &str) -> Result<Datum<'a>> {
        let rewrite = self.session.engine.event().and_then(|facts| facts.rewrite);
        let (table, reason) = rewrite.ok_or_else(|| outside(function, "a table_rewrite"))?;
        Ok(match function {
            "pg_event_trigger_table_rewrite_oid" => Datum::Oid(table.0),
            _ => Datum::Int4(reason),
        })
    }
}
