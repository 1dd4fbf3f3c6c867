//! CREATE SCHEMA, ALTER SCHEMA, DROP SCHEMA.

use super::Ddl;
use super::attachment;
use super::dependency::{Dependents, SEVERAL};
use super::resolve::{kind_noun, must_own, undefined_schema};
use super::type_dependents::{Dependent, depending, depending_on_rows, drop_all};
use crate::catalog::acl::Privileges;
use crate::catalog::attachment::Attachment;
use crate::catalog::builtin;
use crate::catalog::definition::Edge;
use crate::catalog::extension::Extension;
use crate::catalog::object::{Class, Object, ObjectKey, Schema, well_known};
use crate::catalog::privilege::Grantable;
use crate::catalog::relation::Relation;
use crate::catalog::routine::Routine;
use crate::catalog::user_type::UserType;
use crate::error::{Result, SqlError};
use crate::parse::ast::{CreateSchema, Drop, Ident, Statement};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::collections::BTreeSet;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

fn check_name(name: &str) -> Result<()> {
    if name.starts_with("pg_") {
        return Err(SqlError::new(
            SqlState::RESERVED_NAME,
            format!("unacceptable schema name \"{name}\""),
        )
        .detail("The prefix \"pg_\" is reserved for system schemas."));
    }
    Ok(())
}

pub(super) fn may_create(ddl: &mut Ddl<'_>) -> Result<()> {
    let snapshot = ddl.snapshot();
    let database = snapshot.shared().database_by_oid(snapshot.database_oid());
    let allowed = database
        .is_some_and(|database| snapshot.may_on_database(ddl.user, database, Privileges::CREATE));
    if allowed {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::INSUFFICIENT_PRIVILEGE,
        format!("permission denied for database {}", snapshot.database_name()),
    ))
}

/// CREATE SCHEMA without its elements; none where IF NOT EXISTS has found one of that name.
///
/// # Errors
/// 42P06, 42939, 42501.
pub fn create_schema(ddl: &mut Ddl<'_>, create: &CreateSchema) -> Result<Option<Schema>> {
    let owner = match &create.owner {
        Some(owner) => Some(ddl.role_to_stay(owner)?),
        None => {
            ddl.owner_to_stay()?;
            None
        }
    };
    let name = match (&create.name, &owner) {
        (Some(name), _) => Arc::clone(name),
        (None, Some(owner)) => Arc::clone(&owner.name),
        (None, None) => return Err(undefined_schema("")),
    };
    may_create(ddl)?;
    if let Some(owner) = &owner {
        ddl.check_member(owner)?;
    }
    check_name(&name)?;
    ddl.catalog.lock_name(ddl.transaction, Class::Schema, Oid(0), &name)?;
    if ddl.snapshot().schema(&name).is_some() {
        let message = format!("schema \"{name}\" already exists");
        if create.if_not_exists {
            ddl.notice(SqlState::DUPLICATE_SCHEMA, format!("{message}, skipping"));
            return Ok(None);
        }
        return Err(SqlError::new(SqlState::DUPLICATE_SCHEMA, message));
    }
    let oid = ddl.catalog.next_oid()?;
    let owner = owner.map_or(ddl.user, |owner| owner.oid);
    let acl = ddl.default_acl(Grantable::Schema, Oid(0))?;
    let schema = Schema { oid, name, owner, acl };
    put(ddl, None, schema.clone())?;
    Ok(Some(schema))
}

/// The elements of a CREATE SCHEMA in the order in which they are made, each with its schema (`transformCreateSchemaStmt`).
///
/// # Errors
/// 42P15.
pub fn elements(schema: &Arc<str>, given: &[Statement]) -> Result<Vec<Statement>> {
    let mut ordered = Vec::with_capacity(given.len());
    for element in given {
        let mut element = element.clone();
        let (pass, name) = match &mut element {
            Statement::CreateSequence(create) => (0, Some(&mut create.name)),
            Statement::CreateTable(create) => (1, Some(&mut create.name)),
            Statement::CreateView(create) => (2, Some(&mut create.name)),
            Statement::CreateIndex(create) => (3, Some(&mut create.table)),
            Statement::CreateTrigger(create) => (4, Some(&mut create.table)),
            _ => (5, None),
        };
        if let Some(name) = name {
            match name.schema() {
                None => name.parts.insert(0, Arc::clone(schema)),
                Some(other) if other == schema => {}
                Some(other) => {
                    return Err(SqlError::new(
                        SqlState::INVALID_SCHEMA_DEFINITION,
                        format!(
                            "CREATE specifies a schema ({other}) different from the one being created ({schema})"
                        ),
                    ));
                }
            }
        }
        ordered.push((pass, element));
    }
    ordered.sort_by_key(|(pass, _)| *pass);
    Ok(ordered.into_iter().map(|(_, element)| element).collect())
}

pub(super) fn put(ddl: &mut Ddl<'_>, before: Option<Arc<Schema>>, schema: Schema) -> Result<()> {
    let key = ddl.catalog.key(Class::Schema, schema.oid);
    let before = before.map(Object::Schema);
    ddl.catalog.change(
        ddl.transaction,
        key,
        before.as_ref(),
        Some(Object::Schema(Arc::new(schema))),
    )
}

/// A schema of that name, locked, which the current user owns.
pub(super) fn owned_schema(ddl: &mut Ddl<'_>, name: &str) -> Result<Arc<Schema>> {
    locked_schema(ddl, name, &|ddl, key| ddl.catalog.lock(ddl.transaction, key))
}

/// The same for a change that matters to nobody who makes something there: they are not waited for.
pub(super) fn owned_schema_beside(ddl: &mut Ddl<'_>, name: &str) -> Result<Arc<Schema>> {
    locked_schema(ddl, name, &|ddl, key| ddl.catalog.lock_beside(ddl.transaction, key))
}

fn locked_schema(
    ddl: &mut Ddl<'_>,
    name: &str,
    lock: &dyn Fn(&mut Ddl<'_>, ObjectKey) -> Result<()>,
) -> Result<Arc<Schema>> {
    let find = |ddl: &mut Ddl<'_>| {
        ddl.snapshot().schema(name).cloned().ok_or_else(|| undefined_schema(name))
    };
    let schema = find(ddl)?;
    let key = ddl.catalog.key(Class::Schema, schema.oid);
    lock(ddl, key)?;
    let schema = find(ddl)?;
    if !ddl.snapshot().owns(ddl.user, schema.owner) {
        return Err(must_own("schema", name));
    }
    Ok(schema)
}

/// ALTER SCHEMA ... RENAME TO.
pub(super) fn rename_schema(ddl: &mut Ddl<'_>, name: &Ident, to: &Ident) -> Result<()> {
    let schema = owned_schema(ddl, name)?;
    may_create(ddl)?;
    check_name(to)?;
    ddl.catalog.lock_name(ddl.transaction, Class::Schema, Oid(0), to)?;
    if ddl.snapshot().schema(to).is_some() {
        return Err(SqlError::new(
            SqlState::DUPLICATE_SCHEMA,
            format!("schema \"{to}\" already exists"),
        ));
    }
    let snapshot = ddl.snapshot();
    let within = snapshot.relations_in(schema.oid).into_iter();
    let renamed: Vec<Relation> = within
        .map(|relation| Relation {
            schema: (schema.oid, Arc::clone(to)),
            ..Relation::clone(relation)
        })
        .collect();
    let next = Schema { name: Arc::clone(to), ..Schema::clone(&schema) };
    let own: Vec<_> = snapshot
        .extensions()
        .filter(|extension| extension.schema == schema.oid)
        .filter_map(|extension| extension.description())
        .collect();
    let functions: Vec<Oid> = own.iter().flat_map(|known| known.members.clone().map(Oid)).collect();
    let change = (!own.is_empty()).then(|| {
        let key = ddl.catalog.key(Class::Schema, schema.oid);
        (key, Some(Object::Schema(Arc::new(next.clone()))))
    });
    let mut texts = ddl.reword_with(&renamed, &functions, change)?;
    for ty in snapshot.types_in(schema.oid) {
        texts.note_type(ty.oid, (&schema.name, &ty.name), (to, &ty.name));
    }
    put(ddl, Some(Arc::clone(&schema)), next)?;
    ddl.put_reworded(texts)?;
    // Definitions name routines and operators with their schema.
    let routines = snapshot.routines_in(schema.oid).into_iter();
    let routines = routines.map(|routine| Edge::Function(routine.oid));
    let attached = snapshot.attachments().filter(|one| one.schema() == Some(schema.oid));
    let named: Vec<Edge> = routines.chain(attached.filter_map(|one| one.edge())).collect();
    let users = named.iter().flat_map(|edge| snapshot.depending(*edge)).collect();
    ddl.put_reprinted(&snapshot, &users, &|made| named.iter().any(|edge| made.leads_to(*edge)))
}

/// DROP SCHEMA.
pub(super) fn drop_schema(ddl: &mut Ddl<'_>, drop: &Drop) -> Result<()> {
    let mut going: Vec<Arc<Schema>> = Vec::new();
    for name in &drop.names {
        let name = name.name();
        if drop.if_exists && ddl.snapshot().schema(name).is_none() {
            let message = format!("schema \"{name}\" does not exist, skipping");
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            continue;
        }
        let schema = owned_schema(ddl, name)?;
        if schema.oid.0 < well_known::FIRST_NORMAL && schema.oid != well_known::PUBLIC {
            return Err(SqlError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot drop schema {name} because it is required by the database system"),
            ));
        }
        if going.iter().all(|known| known.oid != schema.oid) {
            going.push(schema);
        }
    }
    let what = match going.as_slice() {
        [one] => format!("schema {}", one.name),
        _ => SEVERAL.to_owned(),
    };
    let snapshot = ddl.snapshot();
    let inside = going.iter().flat_map(|schema| snapshot.relations_in(schema.oid));
    let inside: BTreeSet<Oid> = inside.map(|relation| relation.oid).collect();
    let (mut told, mut starts) = (Dependents::default(), Vec::new());
    if !drop.cascade {
        for schema in &going {
            starts.push(told.lines.len());
            told.lines.extend(held_contents(ddl, schema, &inside)?.dependents.lines);
        }
        told.tell_last_first(&starts);
        ddl.tell_dependents(&told.lines, false, &what)?;
        (told, starts) = (Dependents::default(), Vec::new());
    }
    for schema in &going {
        starts.push(told.lines.len());
        told.lines.extend(drop_one(ddl, schema, &inside)?);
    }
    told.tell_last_first(&starts);
    ddl.tell_dependents(&told.lines, drop.cascade, &what)
}

/// What stands in a schema.
enum Member<'m> {
    Relation(&'m Arc<Relation>),
    Type(&'m Arc<UserType>),
    Extension(&'m Arc<Extension>),
    Routine(&'m Arc<Routine>),
    Attached(&'m Attachment),
}

impl Member<'_> {
    /// Its place in the order in which things were made.
    fn made(&self) -> u32 {
        match self {
            Member::Relation(relation) => relation.oid.0,
            Member::Type(found) => builtin::counted(found.oid.0),
            Member::Extension(extension) => extension.oid.0,
            Member::Routine(routine) => routine.oid.0,
            Member::Attached(one) => one.oid().0,
        }
    }
}

/// What goes with a schema: all that stands in it, locked, and what depends on that.
struct Contents {
    relations: Vec<Oid>,
    types: Vec<Arc<UserType>>,
    extensions: Vec<Arc<Extension>>,
    routines: Vec<Arc<Routine>>,
    attached: Vec<Attachment>,
    dependents: Dependents,
    typed: Vec<Dependent>,
}

/// Whether a family goes, and its classes with it.
fn classes_go(going: &[Attachment], family: Oid) -> bool {
    going.iter().any(|one| matches!(one, Attachment::Family(_)) && one.oid() == family)
}

fn contents(ddl: &mut Ddl<'_>, schema: &Schema, what: &str) -> Result<Contents> {
    let mut inside = locked_contents(ddl, schema)?;
    let types = locked_types(ddl, schema)?;
    let snapshot = ddl.snapshot();
    let extensions: Vec<Arc<Extension>> =
        snapshot.extensions().filter(|found| found.schema == schema.oid).cloned().collect();
    // The members of an extension go with it.
    inside.retain(|relation| snapshot.extension_of_relation(relation.oid).is_none());
    let oids: Vec<Oid> = inside.iter().map(|relation| relation.oid).collect();
    let named: Vec<Oid> = types.iter().map(|found| found.oid).collect();
    let (mut dependents, mut typed) = (Dependents::default(), Vec::new());
    // Each with what depends on it, in the order in which they were made.
    let mut members: Vec<Member<'_>> = inside.iter().map(Member::Relation).collect();
    members.extend(types.iter().map(Member::Type));
    members.extend(extensions.iter().map(Member::Extension));
    let routines = snapshot.routines_in(schema.oid);
    members.extend(routines.iter().map(Member::Routine));
    let inside_here = |one: &Attachment| one.schema() == Some(schema.oid);
    let attached: Vec<Attachment> = snapshot.attachments().filter(inside_here).collect();
    members.extend(attached.iter().map(Member::Attached));
    members.sort_by_key(Member::made);
    for member in members {
        let mut gone = [oids.as_slice(), &dependents.views].concat();
        gone.extend(typed.iter().filter_map(Dependent::view));
        let relation = match member {
            Member::Relation(relation) => relation,
            Member::Extension(extension) => {
                let shown = format!("extension {}", extension.name);
                dependents.lines.push((shown, what.to_owned()));
                ddl.collect_of_extension(extension, &gone, &mut dependents, &mut typed)?;
                continue;
            }
            Member::Routine(routine) => {
                let shown = super::routine::shown(ddl, routine);
                dependents.lines.push((shown.clone(), what.to_owned()));
                let on = snapshot.attached_to(Edge::Function(routine.oid));
                for one in on.iter().filter(|one| !inside_here(one)) {
                    attachment::collect(ddl, one, &shown, &mut dependents);
                }
                continue;
            }
            // With its family, which is told of.
            Member::Attached(Attachment::Class(class)) if classes_go(&attached, class.family) => {
                continue;
            }
            Member::Attached(one) => {
                let shown = attachment::shown(ddl, one);
                dependents.lines.push((shown, what.to_owned()));
                continue;
            }
            Member::Type(found) => {
                let shown = format!("type {}", ddl.display_type(found));
                dependents.lines.push((shown, what.to_owned()));
                let mut found_here = Vec::new();
                depending(ddl, found, (&named, &gone), &mut found_here);
                found_here
                    .retain(|one| !routines.iter().any(|known| one.routine() == Some(known.oid)));
                found_here.retain(|one| !one.attached().is_some_and(inside_here));
                for one in found_here {
                    dependents.lines.push((one.shown.clone(), one.on.clone()));
                    typed.push(one);
                }
                continue;
            }
        };
        let shown = format!("{} {}", kind_noun(relation), ddl.display(relation));
        // What a table owns goes with it and is not told of.
        let owned = matches!(&relation.kind, crate::catalog::RelationKind::Sequence(sequence)
            if sequence.owner.is_some_and(|owner| oids.contains(&owner.0)));
        if !owned {
            dependents.lines.push((shown.clone(), what.to_owned()));
        }
        if matches!(relation.kind, crate::catalog::RelationKind::Sequence(_)) {
            ddl.refuse_identity(relation, &oids)?;
        }
        let goes = |table: Oid, _: usize| oids.contains(&table);
        let going = (&*named, &*gone, &*oids);
        ddl.collect_named(relation, &goes, going, &shown, &mut dependents);
        let mut found_here = Vec::new();
        depending_on_rows(ddl, relation, (&named, &gone), &mut found_here);
        found_here.retain(|one| !routines.iter().any(|known| one.routine() == Some(known.oid)));
        gone.extend(found_here.iter().filter_map(Dependent::view));
        for one in found_here {
            dependents.lines.push((one.shown.clone(), one.on.clone()));
            typed.push(one);
        }
    }
    Ok(Contents { relations: oids, types, extensions, routines, attached, dependents, typed })
}

/// What goes with a schema, locked. Of the foreign keys of tables that go anyway, which are in `inside`, nothing is told.
fn held_contents(ddl: &mut Ddl<'_>, schema: &Schema, inside: &BTreeSet<Oid>) -> Result<Contents> {
    let what = format!("schema {}", schema.name);
    let mut found = loop {
        let found = contents(ddl, schema, &what)?;
        if ddl.hold(&found.dependents, &found.typed)? {
            break found;
        }
    };
    let goes = |one: &&Dependent| one.constrained().is_some_and(|table| inside.contains(&table));
    let untold = found.dependents.parts.iter().filter(goes);
    let untold: BTreeSet<&String> = untold.map(|one| &one.shown).collect();
    found.dependents.lines.retain(|(thing, _)| !untold.contains(thing));
    Ok(found)
}

/// Drops a schema with all that stands in it; what is to be told of that.
fn drop_one(
    ddl: &mut Ddl<'_>,
    schema: &Schema,
    inside: &BTreeSet<Oid>,
) -> Result<Vec<(String, String)>> {
    let Contents { relations, types, extensions, routines, attached, dependents, typed } =
        held_contents(ddl, schema, inside)?;
    let snapshot = ddl.snapshot();
    ddl.remove_dependents(&dependents)?;
    drop_all(ddl, typed)?;
    for extension in extensions {
        ddl.remove_extension(&extension)?;
    }
    for one in &attached {
        attachment::remove(ddl, one)?;
    }
    for routine in routines {
        // One that takes or gives a type of the schema has gone with that.
        if ddl.snapshot().routine(routine.oid).is_some() {
            super::routine::remove(ddl, &routine)?;
        }
    }
    for found in types {
        super::user_type::remove(ddl, found.oid)?;
    }
    for oid in relations {
        if let Some(relation) = ddl.relation(oid) {
            ddl.refuse_active("DROP TABLE", &relation)?;
            ddl.remove_relation(&relation)?;
        }
    }
    // What ALTER DEFAULT PRIVILEGES has said of objects that were to be made here.
    let privileges = snapshot.default_acls().filter(|known| known.schema == schema.oid);
    for oid in privileges.map(|known| known.oid) {
        let key = ddl.catalog.key(Class::DefaultAcl, oid);
        ddl.catalog.remove(ddl.transaction, &snapshot, key)?;
    }
    ddl.remove_comments(&[schema.oid])?;
    let key = ddl.catalog.key(Class::Schema, schema.oid);
    ddl.catalog.remove(ddl.transaction, &snapshot, key)?;
    Ok(dependents.lines)
}

/// Everything in a schema, each locked against all others.
fn locked_contents(ddl: &mut Ddl<'_>, schema: &Schema) -> Result<Vec<Arc<Relation>>> {
    let snapshot = ddl.snapshot();
    let inside = snapshot.relations_in(schema.oid).into_iter().cloned();
    let mut locked = Vec::new();
    for relation in inside {
        ddl.transaction.lock_table(relation.lock, TableLock::AccessExclusive, WaitPolicy::Block)?;
        let found = ddl.relation(relation.oid);
        locked.extend(found.filter(|found| found.schema.0 == schema.oid));
    }
    Ok(locked)
}

/// The types in a schema, each locked against all who would build on it.
fn locked_types(ddl: &mut Ddl<'_>, schema: &Schema) -> Result<Vec<Arc<UserType>>> {
    let snapshot = ddl.snapshot();
    let mut locked = Vec::new();
    for found in snapshot.types_in(schema.oid) {
        let key = ddl.catalog.key(Class::Type, found.oid);
        ddl.catalog.lock(ddl.transaction, key)?;
        let now = ddl.snapshot();
        locked.extend(now.user_type(found.oid).filter(|now| now.schema == schema.oid).cloned());
    }
    Ok(locked)
}
