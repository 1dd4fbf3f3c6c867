//! CREATE, ALTER and DROP TRIGGER, and who fires triggers (PostgreSQL 15's `commands/trigger.c`).
//!
//! A trigger is a part of its table: it is changed under the table's lock, and goes with it.

use super::Ddl;
use super::privilege::function;
use super::resolve::{kind_noun, undefined_table};
use super::routine::TRIGGER;
use crate::bind::dml::{composite_type, index};
use crate::catalog::Named;
use crate::catalog::acl::Privileges;
use crate::catalog::object::{Class, well_known};
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::trigger::{self, Trigger};
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    CreateTrigger, DropTrigger, Ident, ObjectName, Rename, RoutineArguments, ToggledTrigger,
    TriggerEvent, TriggerTime,
};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::TableLock;

fn unsupported(message: &str) -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

/// 42710 for a name that the table has given already.
fn taken(name: &str, relation: &Relation) -> SqlError {
    SqlError::new(
        SqlState::DUPLICATE_OBJECT,
        format!("trigger \"{name}\" for relation \"{}\" already exists", relation.name),
    )
}

fn undefined(name: &str, relation: &Relation) -> SqlError {
    let message = format!("trigger \"{name}\" for table \"{}\" does not exist", relation.name);
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}

/// `tgtype` of what a statement says.
fn kind_of(create: &CreateTrigger) -> i16 {
    let time = match create.time {
        TriggerTime::Before => trigger::BEFORE,
        TriggerTime::After => 0,
        TriggerTime::InsteadOf => trigger::INSTEAD,
    };
    let events = create.events.iter().map(|event| match event {
        TriggerEvent::Insert => trigger::INSERT,
        TriggerEvent::Delete => trigger::DELETE,
        TriggerEvent::Update(_) => trigger::UPDATE,
        TriggerEvent::Truncate => trigger::TRUNCATE,
    });
    let level = if create.row { trigger::ROW } else { 0 };
    events.fold(time | level, |all, event| all | event)
}

/// 42809 where the relation cannot have such a trigger.
fn demand_fit(relation: &Relation, kind: i16) -> Result<()> {
    let wrong = |what: &str, detail: &str| {
        let message = format!("\"{}\" is a {what}", relation.name);
        Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).detail(detail))
    };
    let instead = kind & trigger::INSTEAD != 0;
    match &relation.kind {
        RelationKind::Table { .. } if relation.stored_query.is_none() => {
            if instead {
                return wrong("table", "Tables cannot have INSTEAD OF triggers.");
            }
        }
        RelationKind::View { .. } => {
            if !instead && kind & trigger::ROW != 0 {
                return wrong("view", "Views cannot have row-level BEFORE or AFTER triggers.");
            }
            if kind & trigger::TRUNCATE != 0 {
                return wrong("view", "Views cannot have TRUNCATE triggers.");
            }
        }
        _ => {
            let detail = format!("This operation is not supported for {}s.", kind_noun(relation));
            let message = format!("relation \"{}\" cannot have triggers", relation.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).detail(detail));
        }
    }
    Ok(())
}

/// What REFERENCING names: the rows as they were, and as they are.
fn transition_of(
    create: &CreateTrigger,
    relation: &Relation,
) -> Result<(Option<Ident>, Option<Ident>)> {
    let kind = kind_of(create);
    let (mut old, mut new): (Option<Ident>, Option<Ident>) = (None, None);
    for one in &create.transitions {
        if !one.table {
            return Err(unsupported(
                "ROW variable naming in the REFERENCING clause is not supported",
            )
            .hint("Use OLD TABLE or NEW TABLE for naming transition tables."));
        }
        if matches!(relation.kind, RelationKind::View { .. }) {
            let message = format!("\"{}\" is a view", relation.name);
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message)
                .detail("Triggers on views cannot have transition tables."));
        }
        if create.time != TriggerTime::After {
            return Err(invalid(
                "transition table name can only be specified for an AFTER trigger",
            ));
        }
        if kind & trigger::TRUNCATE != 0 {
            return Err(unsupported("TRUNCATE triggers with transition tables are not supported"));
        }
        let events = [trigger::INSERT, trigger::UPDATE, trigger::DELETE];
        if events.iter().filter(|event| kind & **event != 0).count() != 1 {
            return Err(unsupported(
                "transition tables cannot be specified for triggers with more than one event",
            ));
        }
        let columns = create
            .events
            .iter()
            .any(|event| matches!(event, TriggerEvent::Update(columns) if !columns.is_empty()));
        if columns {
            return Err(unsupported(
                "transition tables cannot be specified for triggers with column lists",
            ));
        }
        let (place, word, needed) = if one.new {
            (&mut new, "NEW", trigger::INSERT | trigger::UPDATE)
        } else {
            (&mut old, "OLD", trigger::DELETE | trigger::UPDATE)
        };
        if kind & needed == 0 {
            let of = if one.new { "INSERT or UPDATE" } else { "DELETE or UPDATE" };
            let an = if one.new { "an" } else { "a" };
            let message = format!("{word} TABLE can only be specified for {an} {of} trigger");
            return Err(invalid(message));
        }
        if place.replace(Arc::clone(&one.name)).is_some() {
            return Err(invalid(format!("{word} TABLE cannot be specified multiple times")));
        }
    }
    if old.is_some() && old == new {
        return Err(invalid("OLD TABLE name and NEW TABLE name cannot be the same"));
    }
    Ok((old, new))
}

/// The columns behind UPDATE OF, by index.
fn columns_of(create: &CreateTrigger, relation: &Relation) -> Result<Vec<usize>> {
    let named = create.events.iter().find_map(|event| match event {
        TriggerEvent::Update(columns) => Some(columns),
        _ => None,
    });
    let mut columns = Vec::new();
    for name in named.into_iter().flatten() {
        let column = relation.column(name).ok_or_else(|| {
            let message =
                format!("column \"{name}\" of relation \"{}\" does not exist", relation.name);
            SqlError::new(SqlState::UNDEFINED_COLUMN, message)
        })?;
        if columns.contains(&column) {
            let message = format!("column \"{name}\" specified more than once");
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// The function that a trigger is to call, which stays there: the one of this name once it is held.
fn function_of(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Oid> {
    let mut held = None;
    loop {
        let Some(found) = super::routine::named(ddl, name, Some(&RoutineArguments::default()))?
        else {
            return built_in_function(ddl, name);
        };
        if !ddl.snapshot().may_call(ddl.user, &found.procedure()) {
            let message = format!("permission denied for function {}", found.name);
            return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
        }
        if found.result.0 != TRIGGER {
            let name = name.parts.join(".");
            return Err(invalid(format!("function {name} must return type trigger")));
        }
        if held.replace(found.oid) == Some(found.oid) {
            return Ok(found.oid);
        }
        let key = ddl.catalog.key(Class::Routine, found.oid);
        ddl.catalog.hold(ddl.transaction, key)?;
    }
}

/// The same of PostgreSQL's own.
fn built_in_function(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Oid> {
    let found = function(ddl, name, Some(&[])).map_err(SqlError::nowhere)?;
    if trigger::native(Oid(found.oid)).is_some() {
        return Ok(Oid(found.oid));
    }
    if found.result == TRIGGER {
        return Err(SqlError::unsupported(format!("a trigger that calls {name} is")));
    }
    Err(invalid(format!("function {name} must return type trigger")))
}

/// 42501 for who has no TRIGGER privilege.
fn demand_privilege(ddl: &mut Ddl<'_>, relation: &Relation) -> Result<()> {
    if relation.oid.0 < well_known::FIRST_NORMAL {
        let message = format!("permission denied: \"{}\" is a system catalog", relation.name);
        return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
    }
    let user = ddl.user;
    if ddl.snapshot().may_on_columns(user, relation, Privileges::TRIGGER, &[]) {
        return Ok(());
    }
    let message = format!("permission denied for {} {}", kind_noun(relation), relation.name);
    Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message))
}

/// CREATE TRIGGER.
///
/// # Errors
/// 42P01, 42809, 42501, 42P17, 42883, 42710, 42703, 0A000 and so on.
pub fn create_trigger(ddl: &mut Ddl<'_>, create: &CreateTrigger) -> Result<&'static str> {
    const TAG: &str = "CREATE TRIGGER";
    let kind = kind_of(create);
    if create.replace && create.constraint.is_some() {
        return Err(unsupported("CREATE OR REPLACE CONSTRAINT TRIGGER is not supported"));
    }
    let found = ddl.lock_named(&create.table, TableLock::ShareRowExclusive)?;
    let relation = match found {
        None => return Err(undefined_table(&create.table)),
        Some((Named::Index { .. }, _)) => return Err(index(create.table.name())),
        Some((_, relation)) if matches!(relation.kind, RelationKind::Composite) => {
            return Err(composite_type(&relation.name));
        }
        Some((_, relation)) => relation,
    };
    demand_fit(&relation, kind)?;
    let from = match &create.from {
        None => Oid(0),
        Some(name) => match ddl.lock_named(name, TableLock::AccessShare)? {
            Some((_, relation)) => relation.oid,
            None => return Err(undefined_table(name)),
        },
    };
    demand_privilege(ddl, &relation)?;
    let row = kind & trigger::ROW != 0;
    if row && kind & trigger::TRUNCATE != 0 {
        return Err(unsupported("TRUNCATE FOR EACH ROW triggers are not supported"));
    }
    let columns = columns_of(create, &relation)?;
    if kind & trigger::INSTEAD != 0 {
        let refused = match () {
            () if !row => Some("INSTEAD OF triggers must be FOR EACH ROW"),
            () if create.when.is_some() => Some("INSTEAD OF triggers cannot have WHEN conditions"),
            () if !columns.is_empty() => Some("INSTEAD OF triggers cannot have column lists"),
            () => None,
        };
        if let Some(message) = refused {
            return Err(unsupported(message));
        }
    }
    let transition = transition_of(create, &relation)?;
    let snapshot = ddl.snapshot();
    let when = match &create.when {
        Some(expr) => Some(ddl.semantics.trigger_condition(&snapshot, &relation, kind, expr)?),
        None => None,
    };
    if let Some(when) = &when {
        ddl.hold_named(when.edges())?;
    }
    let function = function_of(ddl, &create.function)?;
    let known = relation.trigger(&create.name).cloned();
    if let Some(known) = &known {
        if !create.replace {
            return Err(taken(&create.name, &relation));
        }
        if known.constraint.is_some() {
            let message = format!(
                "trigger \"{}\" for relation \"{}\" is a constraint trigger",
                create.name, relation.name
            );
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        ddl.refuse_pending("CREATE OR REPLACE TRIGGER", &relation)?;
    }
    let constraint = match create.constraint {
        Some(deferral) => Some((ddl.catalog.next_oid()?, deferral, from)),
        None => None,
    };
    let oid = match &known {
        Some(known) => known.oid,
        None => ddl.catalog.next_oid()?,
    };
    let made = Trigger {
        oid,
        name: Arc::clone(&create.name),
        function,
        kind,
        // One that takes the place of another is enabled, whatever that was.
        enabled: b'O',
        columns,
        arguments: create.arguments.clone(),
        when,
        transition,
        constraint,
    };
    let current = ddl.relation(relation.oid).unwrap_or(relation);
    let mut next = Relation::clone(&current);
    next.triggers.retain(|known| known.name != create.name);
    put(ddl, next, Some(made))?;
    Ok(TAG)
}

/// Keeps a relation, with one trigger more, in the order in which they fire.
fn put(ddl: &mut Ddl<'_>, mut next: Relation, more: Option<Trigger>) -> Result<()> {
    next.triggers.extend(more);
    next.triggers.sort_by(|a, b| a.name.cmp(&b.name));
    ddl.catalog.put_relation(ddl.transaction, next)
}

/// DROP TRIGGER.
///
/// # Errors
/// 42P01, 42704, 42501, 55006.
pub fn drop_trigger(ddl: &mut Ddl<'_>, drop: &DropTrigger) -> Result<&'static str> {
    const TAG: &str = "DROP TRIGGER";
    let DropTrigger { name, table, if_exists } = drop;
    let found = match ddl.lock_named(table, TableLock::AccessExclusive) {
        Err(error) if *if_exists && error.state() == SqlState::INVALID_SCHEMA_NAME => {
            let message = format!("{}, skipping", error.fields().message);
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(TAG);
        }
        found => found?,
    };
    match &found {
        Some((Named::Index { .. }, _)) => return Err(index(table.name())),
        Some((_, relation)) if matches!(relation.kind, RelationKind::Composite) => {
            return Err(composite_type(&relation.name));
        }
        _ => {}
    }
    let dotted = table.parts.join(".");
    let missing = match found {
        None if !if_exists => return Err(undefined_table(table)),
        None => format!("relation \"{dotted}\" does not exist, skipping"),
        Some((_, relation)) => match relation.trigger(name) {
            Some(found) => {
                ddl.check_owner(&relation).map_err(|error| owner_of(&relation, error))?;
                remove(ddl, &relation, found.oid)?;
                return Ok(TAG);
            }
            None if *if_exists => {
                format!("trigger \"{name}\" for relation \"{dotted}\" does not exist, skipping")
            }
            None => return Err(undefined(name, &relation)),
        },
    };
    ddl.notice(SqlState::SUCCESSFUL_COMPLETION, missing);
    Ok(TAG)
}

/// 42501 as it is worded for parts of relations.
fn owner_of(relation: &Relation, error: SqlError) -> SqlError {
    if relation.oid.0 < well_known::FIRST_NORMAL {
        return error;
    }
    super::resolve::must_own("relation", &relation.name)
}

/// Takes a trigger away.
pub(super) fn remove(ddl: &mut Ddl<'_>, relation: &Relation, oid: Oid) -> Result<()> {
    let mut next = Relation::clone(relation);
    let gone: Vec<Trigger> = next.triggers.extract_if(.., |known| known.oid == oid).collect();
    let constraints = gone.iter().filter_map(|one| one.constraint.map(|found| found.0));
    let parts: Vec<Oid> = constraints.chain([oid]).collect();
    ddl.remove_comments(&parts)?;
    put(ddl, next, None)
}

/// ALTER TRIGGER ... RENAME TO.
///
/// # Errors
/// 42P01, 42704, 42710, 42501.
pub(super) fn rename_trigger(ddl: &mut Ddl<'_>, rename: &Rename, from: &Ident) -> Result<()> {
    let found = ddl.lock_named(&rename.name, TableLock::AccessExclusive)?;
    let relation = match found {
        None => return Err(undefined_table(&rename.name)),
        Some((Named::Index { .. }, _)) => return Err(index(rename.name.name())),
        Some((_, relation)) => relation,
    };
    ddl.check_owner(&relation)?;
    let Some(known) = relation.trigger(from) else { return Err(undefined(from, &relation)) };
    if relation.trigger(&rename.to).is_some() {
        return Err(taken(&rename.to, &relation));
    }
    let oid = known.oid;
    let mut next = Relation::clone(&relation);
    for trigger in next.triggers.iter_mut().filter(|trigger| trigger.oid == oid) {
        trigger.name = Arc::clone(&rename.to);
    }
    put(ddl, next, None)
}

/// ENABLE or DISABLE TRIGGER as messages say it.
pub(super) fn toggle_words(enabled: u8, which: &ToggledTrigger) -> &'static str {
    match (enabled, which) {
        (b'D', ToggledTrigger::Named(_)) => "DISABLE TRIGGER",
        (b'D', ToggledTrigger::All) => "DISABLE TRIGGER ALL",
        (b'D', ToggledTrigger::User) => "DISABLE TRIGGER USER",
        (b'R', _) => "ENABLE REPLICA TRIGGER",
        (b'A', _) => "ENABLE ALWAYS TRIGGER",
        (_, ToggledTrigger::Named(_)) => "ENABLE TRIGGER",
        (_, ToggledTrigger::All) => "ENABLE TRIGGER ALL",
        (_, ToggledTrigger::User) => "ENABLE TRIGGER USER",
    }
}

/// ALTER TABLE ... ENABLE and DISABLE TRIGGER.
///
/// # Errors
/// 42704.
pub(super) fn toggle(
    ddl: &mut Ddl<'_>,
    relation: &Relation,
    enabled: u8,
    which: &ToggledTrigger,
) -> Result<()> {
    let mut next = Relation::clone(relation);
    let of_keys = ddl.snapshot().key_triggers(relation);
    let is_meant = |trigger: &Trigger| match which {
        ToggledTrigger::Named(name) => trigger.name == *name,
        ToggledTrigger::All | ToggledTrigger::User => true,
    };
    let (mut found, superuser) = (false, ddl.superuser());
    next.key_triggers.retain(|(known, _)| of_keys.iter().any(|one| one.trigger.oid == *known));
    let of_keys = of_keys.iter().filter(|_| *which != ToggledTrigger::User);
    for one in of_keys.map(|one| &one.trigger).filter(|one| is_meant(one)) {
        if !superuser {
            let message = format!("permission denied: \"{}\" is a system trigger", one.name);
            return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
        }
        found = true;
        next.key_triggers.retain(|(known, _)| *known != one.oid);
        next.key_triggers.extend((enabled != b'O').then_some((one.oid, enabled)));
    }
    for trigger in next.triggers.iter_mut().filter(|one| is_meant(one)) {
        found = true;
        trigger.enabled = enabled;
    }
    if let (ToggledTrigger::Named(name), false) = (which, found) {
        return Err(undefined(name, relation));
    }
    ddl.catalog.put_relation(ddl.transaction, next)
}

impl Ddl<'_> {
    /// The trigger of a relation that COMMENT ON names.
    pub(super) fn trigger_named(&mut self, relation: &Relation, name: &str) -> Result<Oid> {
        relation.trigger(name).map(|found| found.oid).ok_or_else(|| undefined(name, relation))
    }
}
