//! CREATE, ALTER and DROP EVENT TRIGGER (`commands/event_trigger.c`); when they fire is the session's business.

use super::Ddl;
use super::attachment::{self, function};
use super::resolve::must_own;
use super::routine::EVENT_TRIGGER;
use crate::catalog::attachment::{Attachment, EventTrigger};
use crate::catalog::object::Class;
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    AlterEventTrigger, CreateEventTrigger, DropEventTrigger, EventTriggerChange,
};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::cell::RefCell;
use std::sync::Arc;

/// The kinds of objects that commands with CREATE, ALTER and DROP are about, whatever the verb.
const OBJECTS: [&str; 37] = [
    "ACCESS METHOD",
    "AGGREGATE",
    "CAST",
    "COLLATION",
    "CONSTRAINT",
    "CONVERSION",
    "DOMAIN",
    "EXTENSION",
    "FOREIGN DATA WRAPPER",
    "FOREIGN TABLE",
    "FUNCTION",
    "INDEX",
    "LANGUAGE",
    "MATERIALIZED VIEW",
    "OPERATOR",
    "OPERATOR CLASS",
    "OPERATOR FAMILY",
    "POLICY",
    "PROCEDURE",
    "PUBLICATION",
    "ROUTINE",
    "RULE",
    "SCHEMA",
    "SEQUENCE",
    "SERVER",
    "STATISTICS",
    "SUBSCRIPTION",
    "TABLE",
    "TEXT SEARCH CONFIGURATION",
    "TEXT SEARCH DICTIONARY",
    "TEXT SEARCH PARSER",
    "TEXT SEARCH TEMPLATE",
    "TRANSFORM",
    "TRIGGER",
    "TYPE",
    "USER MAPPING",
    "VIEW",
];
/// Those of all databases, and event triggers themselves: nothing fires for them.
const SHARED: [&str; 4] = ["DATABASE", "EVENT TRIGGER", "ROLE", "TABLESPACE"];
/// Other commands that event triggers fire for.
const OTHERS: [&str; 11] = [
    "ALTER DEFAULT PRIVILEGES",
    "ALTER LARGE OBJECT",
    "COMMENT",
    "CREATE TABLE AS",
    "DROP OWNED",
    "GRANT",
    "IMPORT FOREIGN SCHEMA",
    "REFRESH MATERIALIZED VIEW",
    "REVOKE",
    "SECURITY LABEL",
    "SELECT INTO",
];
/// Commands that are none of these (`cmdtaglist.h`).
const NOT_FIRING: [&str; 53] = [
    "ALTER SYSTEM",
    "ANALYZE",
    "BEGIN",
    "CALL",
    "CHECKPOINT",
    "CLOSE",
    "CLOSE CURSOR",
    "CLOSE CURSOR ALL",
    "CLUSTER",
    "COMMIT",
    "COMMIT PREPARED",
    "COPY",
    "COPY FROM",
    "DEALLOCATE",
    "DEALLOCATE ALL",
    "DECLARE CURSOR",
    "DELETE",
    "DISCARD",
    "DISCARD ALL",
    "DISCARD PLANS",
    "DISCARD SEQUENCES",
    "DISCARD TEMP",
    "DO",
    "DROP REPLICATION SLOT",
    "EXECUTE",
    "EXPLAIN",
    "FETCH",
    "GRANT ROLE",
    "INSERT",
    "LISTEN",
    "LOAD",
    "LOCK TABLE",
    "MERGE",
    "MOVE",
    "NOTIFY",
    "PREPARE",
    "PREPARE TRANSACTION",
    "REASSIGN OWNED",
    "REINDEX",
    "RELEASE",
    "RESET",
    "REVOKE ROLE",
    "ROLLBACK",
    "ROLLBACK PREPARED",
    "SAVEPOINT",
    "SELECT",
    "SET",
    "SET CONSTRAINTS",
    "SHOW",
    "START TRANSACTION",
    "TRUNCATE TABLE",
    "UPDATE",
    "VACUUM",
];

/// The events.
pub const EVENTS: [&str; 4] = ["ddl_command_start", "ddl_command_end", "sql_drop", "table_rewrite"];

/// What a statement has to do with event triggers of table_rewrite. These fire before a table's rows are moved, by all that
/// the statement does to it, and outside of the schema change: this is run to see what it rewrites, taken back, and run again
/// once they have fired.
#[derive(Debug, Default)]
pub struct Rewriting {
    /// The tables that it rewrites, and why.
    pub tables: RefCell<Vec<(Oid, i32)>>,
}

impl Rewriting {
    /// A table is about to be rewritten.
    pub fn note(&self, table: Oid, reason: i32) {
        let mut tables = self.tables.borrow_mut();
        match tables.iter_mut().find(|(known, _)| *known == table) {
            Some((_, reasons)) => *reasons |= reason,
            None => tables.push((table, reason)),
        }
    }
}

/// Whether event triggers fire for commands of this tag; none for what is no command.
#[must_use]
pub fn fires_for(tag: &str) -> Option<bool> {
    if OTHERS.contains(&tag) {
        return Some(true);
    }
    let (verb, object) = tag.split_once(' ').unwrap_or((tag, ""));
    let made = matches!(verb, "CREATE" | "ALTER" | "DROP");
    if made && OBJECTS.contains(&object) {
        return Some(true);
    }
    let known = made && SHARED.contains(&object) || NOT_FIRING.contains(&tag);
    known.then_some(false)
}

fn syntax(message: String) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

/// The tags of WHEN, as they are kept.
fn tags(create: &CreateEventTrigger) -> Result<Vec<String>> {
    let mut tags: Option<&[Arc<str>]> = None;
    for (variable, values) in &create.filters {
        if &**variable != "tag" {
            return Err(syntax(format!("unrecognized filter variable \"{variable}\"")));
        }
        if tags.is_some() {
            let message = format!("filter variable \"{variable}\" specified more than once");
            return Err(syntax(message));
        }
        tags = Some(values);
    }
    let mut kept = Vec::new();
    for tag in tags.unwrap_or_default() {
        let tag = tag.to_uppercase();
        let written = create.filters.iter().flat_map(|(_, values)| values);
        let mut written = written.filter(|value| value.to_uppercase() == tag);
        let shown = written.next().map_or(&*tag, |value| value);
        let rewrites = ["ALTER TABLE", "ALTER MATERIALIZED VIEW", "ALTER TYPE"];
        let fires = match (&*create.event, fires_for(&tag)) {
            (_, None) => {
                let message =
                    format!("filter value \"{shown}\" not recognized for filter variable \"tag\"");
                return Err(syntax(message));
            }
            ("table_rewrite", Some(_)) => rewrites.contains(&tag.as_str()),
            (_, Some(fires)) => fires,
        };
        if !fires {
            let message = format!("event triggers are not supported for {shown}");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        kept.push(tag);
    }
    Ok(kept)
}

/// CREATE EVENT TRIGGER.
///
/// # Errors
/// 42501, 42601, 0A000, 42710, 42883, 42P17.
pub fn create_event_trigger(
    ddl: &mut Ddl<'_>,
    create: &CreateEventTrigger,
) -> Result<&'static str> {
    let name = &create.name;
    if !ddl.superuser() {
        let message = format!("permission denied to create event trigger \"{name}\"");
        return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
            .hint("Must be superuser to create an event trigger."));
    }
    if !EVENTS.contains(&&*create.event) {
        return Err(syntax(format!("unrecognized event name \"{}\"", create.event)));
    }
    let tags = tags(create)?;
    demand_free(ddl, name)?;
    let called = function(ddl, &create.function, &[])?;
    if called.result.0 != EVENT_TRIGGER {
        let message = format!("function {} must return type event_trigger", create.function);
        return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    }
    ddl.owner_to_stay()?;
    let next = Attachment::EventTrigger(Arc::new(EventTrigger {
        oid: ddl.catalog.next_oid()?,
        name: Arc::clone(name),
        owner: ddl.user,
        event: Arc::clone(&create.event),
        function: called.oid,
        tags,
        enabled: b'O',
    }));
    attachment::hold_needs(ddl, &next)?;
    attachment::put(ddl, &next)?;
    Ok("CREATE EVENT TRIGGER")
}

/// 42710 where there is one of that name.
fn demand_free(ddl: &mut Ddl<'_>, name: &str) -> Result<()> {
    ddl.catalog.lock_name(ddl.transaction, Class::EventTrigger, Oid(0), name)?;
    if find(ddl, name).is_none() {
        return Ok(());
    }
    let message = format!("event trigger \"{name}\" already exists");
    Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message))
}

fn find(ddl: &mut Ddl<'_>, name: &str) -> Option<Arc<EventTrigger>> {
    ddl.snapshot().event_triggers().find(|one| &*one.name == name).cloned()
}

/// The event trigger of a name, which the user owns.
///
/// # Errors
/// 42704, 42501.
pub(super) fn owned(ddl: &mut Ddl<'_>, name: &str) -> Result<Arc<EventTrigger>> {
    let Some(found) = find(ddl, name) else {
        let message = format!("event trigger \"{name}\" does not exist");
        return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
    };
    let user = ddl.user;
    if !ddl.snapshot().shared().has_privileges_of(user, found.owner) {
        return Err(must_own("event trigger", name));
    }
    let key = ddl.catalog.key(Class::EventTrigger, found.oid);
    ddl.catalog.lock(ddl.transaction, key)?;
    find(ddl, name).ok_or_else(|| super::resolve::dropped_meanwhile("event trigger"))
}

/// ALTER EVENT TRIGGER.
///
/// # Errors
/// 42704, 42501, 42710.
pub fn alter_event_trigger(ddl: &mut Ddl<'_>, alter: &AlterEventTrigger) -> Result<&'static str> {
    let found = owned(ddl, &alter.name)?;
    let mut next = EventTrigger::clone(&found);
    match &alter.change {
        EventTriggerChange::Enabled(enabled) => next.enabled = *enabled,
        EventTriggerChange::Rename(name) => {
            demand_free(ddl, name)?;
            next.name = Arc::clone(name);
        }
        EventTriggerChange::Owner(role) => {
            let owner = ddl.role_to_stay(role)?;
            if !ddl.snapshot().shared().is_superuser(owner.oid) {
                let name = &found.name;
                let message =
                    format!("permission denied to change owner of event trigger \"{name}\"");
                return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
                    .hint("The owner of an event trigger must be a superuser."));
            }
            next.owner = owner.oid;
        }
    }
    attachment::put(ddl, &Attachment::EventTrigger(Arc::new(next)))?;
    Ok("ALTER EVENT TRIGGER")
}

/// DROP EVENT TRIGGER.
///
/// # Errors
/// 42704, 42501.
pub fn drop_event_trigger(ddl: &mut Ddl<'_>, drop: &DropEventTrigger) -> Result<&'static str> {
    let mut going = Vec::new();
    for name in &drop.names {
        if drop.if_exists && find(ddl, name).is_none() {
            let message = format!("event trigger \"{name}\" does not exist, skipping");
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            continue;
        }
        going.push(Attachment::EventTrigger(owned(ddl, name)?));
    }
    going.sort_by_key(Attachment::oid);
    going.dedup_by_key(|one| one.oid());
    attachment::drop_all(ddl, &going, drop.cascade)?;
    Ok("DROP EVENT TRIGGER")
}
