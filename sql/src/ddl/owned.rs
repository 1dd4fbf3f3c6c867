//! DROP OWNED and REASSIGN OWNED: what a role owns in this database, and what it has been granted here (`shdepDropOwned`,
//! `shdepReassignOwned`).
//!
//! DROP OWNED takes the role out of all lists of privileges, with what it has passed on, drops its default privileges and
//! then what it owns: routines, relations together, then types, then schemas. Databases stay. REASSIGN OWNED gives all that is owned
//! away, databases too, but no privileges.

use super::Ddl;
use super::drop::drop_relations;
use super::rename::give_acl;
use crate::catalog::acl::{self, Acl, AclChange, Privileges};
use crate::catalog::builtin;
use crate::catalog::object::{
    Class, Database, DefaultAcl, Object, ObjectKey, ParameterAcl, Role, Schema, well_known,
};
use crate::catalog::privilege::{Grantable, kept};
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::snapshot::CatalogSnapshot;
use crate::error::{Result, SqlError};
use crate::parse::ast::{Drop, DropOwned, Ident, ObjectKind, ObjectName, ReassignOwned};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// The roles that a statement names, whose privileges the current user has.
fn roles(ddl: &mut Ddl<'_>, names: &[Ident], verb: &str) -> Result<Vec<Arc<Role>>> {
    let found = names.iter().map(|name| ddl.role(name)).collect::<Result<Vec<_>>>()?;
    for role in &found {
        check_privileges_of(ddl, role, verb)?;
    }
    Ok(found)
}

fn check_privileges_of(ddl: &mut Ddl<'_>, role: &Role, verb: &str) -> Result<()> {
    let snapshot = ddl.snapshot();
    if snapshot.shared().has_privileges_of(ddl.user, role.oid) {
        return Ok(());
    }
    let message = format!("permission denied to {verb} objects");
    Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message))
}

/// 2BP01 for a role that the system has made.
fn check_made(role: &Role, what: &str) -> Result<()> {
    if role.oid.0 >= well_known::FIRST_NORMAL {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
        format!(
            "cannot {what} objects owned by role {} because they are required by the database system",
            role.name
        ),
    ))
}

/// DROP OWNED.
///
/// # Errors
/// 42704, 42501; 2BP01 where something of others depends on it.
pub fn drop_owned(ddl: &mut Ddl<'_>, drop: &DropOwned) -> Result<&'static str> {
    let roles = roles(ddl, &drop.roles, "drop")?;
    for role in &roles {
        check_made(role, "drop")?;
    }
    for role in &roles {
        revoke_all(ddl, role.oid)?;
    }
    let owners: Vec<Oid> = roles.iter().map(|role| role.oid).collect();
    drop_objects(ddl, &owners, drop.cascade)?;
    Ok("DROP OWNED")
}

/// A list without what the owner has given to `role`, and what that has passed on; none if nothing is in it.
fn stripped(
    snapshot: &CatalogSnapshot,
    list: &Acl,
    (kind, owner): (Grantable, Oid),
    role: Oid,
) -> Result<Option<Acl>> {
    if !list.iter().any(|item| item.grantee == role) || role == owner {
        return Ok(None);
    }
    let mut next = list.clone();
    let change = AclChange {
        grantor: owner,
        grantee: role,
        privileges: kind.all(),
        grant_options: kind.all(),
        revoke: true,
        cascade: true,
    };
    acl::update(&mut next, owner, change, &|role, of| snapshot.owns(role, of))?;
    Ok(Some(next))
}

/// Whether the current user takes privileges in an object's owner's name. Others have given nothing that they could take.
fn revokes(ddl: &mut Ddl<'_>, owner: Oid, name: &str) -> bool {
    if ddl.snapshot().owns(ddl.user, owner) {
        return true;
    }
    let message = format!("no privileges could be revoked for \"{name}\"");
    ddl.notices.push(SqlError::warning(SqlState::PRIVILEGE_NOT_REVOKED, message));
    false
}

/// 42501 for who has no privilege at all on a table, or on its columns, of which all are taken.
fn may_strip(ddl: &mut Ddl<'_>, relation: &Relation) -> Result<()> {
    let snapshot = ddl.snapshot();
    let list = relation.acl.as_ref();
    let held = snapshot.privileges(ddl.user, relation.grantable(), relation.owner, list);
    let sequence = matches!(relation.kind, RelationKind::Sequence(_));
    if held.0 == 0 || !sequence && held.0 & Privileges::COLUMN.0 == 0 {
        let noun = relation.grantable().noun();
        let message = format!("permission denied for {noun} {}", relation.name);
        return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
    }
    Ok(())
}

/// Takes a role out of all lists of this database, and of the lists of databases.
fn revoke_all(ddl: &mut Ddl<'_>, role: Oid) -> Result<()> {
    let snapshot = ddl.snapshot();
    for relation in snapshot.relations_of_role(role) {
        let of = (relation.grantable(), relation.owner);
        let list =
            relation.acl.as_ref().map(|list| stripped(&snapshot, list, of, role)).transpose()?;
        let Some(list) = list.flatten() else { continue };
        may_strip(ddl, relation)?;
        if revokes(ddl, relation.owner, &relation.name) {
            let mode = TableLock::ShareUpdateExclusive;
            ddl.transaction.lock_table(relation.lock, mode, WaitPolicy::Block)?;
            // The list is made of what was seen before the lock.
            let mut next = Relation::clone(relation);
            next.acl = Some(list);
            ddl.catalog.put_relation(ddl.transaction, next)?;
        }
    }
    for schema in snapshot.schemas() {
        let of = (Grantable::Schema, schema.owner);
        let list =
            schema.acl.as_ref().map(|list| stripped(&snapshot, list, of, role)).transpose()?;
        if let Some(list) = list.flatten()
            && revokes(ddl, schema.owner, &schema.name)
        {
            let next = Schema { acl: Some(list), ..Schema::clone(schema) };
            super::schema::put(ddl, Some(Arc::clone(schema)), next)?;
        }
    }
    for database in snapshot.shared().databases() {
        let of = (Grantable::Database, database.owner);
        let list =
            database.acl.as_ref().map(|list| stripped(&snapshot, list, of, role)).transpose()?;
        if let Some(list) = list.flatten()
            && revokes(ddl, database.owner, &database.name)
        {
            let next = Database { acl: Some(list), ..Database::clone(database) };
            super::database::put(ddl, Some(Arc::clone(database)), next)?;
        }
    }
    for parameter in snapshot.shared().parameters() {
        let of = (Grantable::Parameter, well_known::SUPERUSER);
        if let Some(acl) = stripped(&snapshot, &parameter.acl, of, role)?
            && revokes(ddl, well_known::SUPERUSER, &parameter.name)
        {
            let next = ParameterAcl { acl, ..ParameterAcl::clone(parameter) };
            super::privilege::put_parameter(ddl, Some(parameter), next)?;
        }
    }
    for (&(oid, sub), list) in snapshot.acls() {
        let of_relation = sub < kept::FUNCTION || sub == kept::RELATION;
        let table = snapshot.relation(oid).filter(|_| of_relation);
        let (kind, owner, name) = match (sub, table) {
            (kept::RELATION, Some(table)) => {
                (table.grantable(), table.owner, Arc::clone(&table.name))
            }
            (_, Some(table)) => (Grantable::Column, table.owner, Arc::clone(&table.name)),
            (kept::FUNCTION, _) => match snapshot.routine(oid) {
                Some(routine) => (Grantable::Function, routine.owner, Arc::clone(&routine.name)),
                None => (Grantable::Function, well_known::SUPERUSER, "function".into()),
            },
            (kept::TYPE, _) => {
                let name = snapshot.user_type(oid).map(|found| Arc::clone(&found.name));
                let row = || snapshot.row_type(oid).map(|relation| Arc::clone(&relation.name));
                let built_in = || builtin::type_by_oid(oid.0).map_or("type", |found| found.name);
                let name = name.or_else(row).unwrap_or_else(|| built_in().into());
                (Grantable::Type, snapshot.type_owner(oid), name)
            }
            _ => (Grantable::Language, well_known::SUPERUSER, "language".into()),
        };
        let Some(list) = stripped(&snapshot, list, (kind, owner), role)? else { continue };
        if let Some(table) = table {
            may_strip(ddl, table)?;
        }
        if revokes(ddl, owner, &name) {
            let key = ObjectKey { sub, ..ddl.catalog.key(Class::Acl, oid) };
            let stays = table.is_some() && super::privilege::stays_empty(oid, sub);
            let object = (stays || !list.is_empty()).then(|| Object::Acl(Arc::new(list)));
            ddl.catalog.change(ddl.transaction, key, snapshot.object(key).as_ref(), object)?;
        }
    }
    for default in snapshot.default_acls() {
        let key = ddl.catalog.key(Class::DefaultAcl, default.oid);
        if default.role == role {
            ddl.catalog.remove(ddl.transaction, &snapshot, key)?;
            continue;
        }
        let kind = super::privilege::kind_of(default.kind);
        if let Some(acl) = stripped(&snapshot, &default.acl, (kind, default.role), role)? {
            // An empty list takes away what there is by default, in all schemas only.
            let kept = match default.schema.0 {
                0 => acl != kind.default_acl(default.role),
                _ => !acl.is_empty(),
            };
            let next = DefaultAcl { acl, ..DefaultAcl::clone(default) };
            let object = kept.then(|| Object::DefaultAcl(Arc::new(next)));
            let before = Object::DefaultAcl(Arc::clone(default));
            ddl.catalog.change(ddl.transaction, key, Some(&before), object)?;
        }
    }
    Ok(())
}

/// The relations that any of these roles owns, by OID.
fn owned_relations<'s>(snapshot: &'s CatalogSnapshot, owners: &[Oid]) -> Vec<&'s Arc<Relation>> {
    let all = owners.iter().flat_map(|owner| {
        let known = snapshot.relations_of_role(*owner);
        known.filter(move |relation| relation.owner == *owner)
    });
    let mut all: Vec<_> = all.collect();
    all.sort_unstable_by_key(|relation| relation.oid);
    all.dedup_by_key(|relation| relation.oid);
    all
}

fn drop_objects(ddl: &mut Ddl<'_>, owners: &[Oid], cascade: bool) -> Result<()> {
    let snapshot = ddl.snapshot();
    let attached = super::attachment::owned_by(ddl, owners);
    super::attachment::drop_of(ddl, &attached, owners, cascade)?;
    super::routine::drop_owned(ddl, owners, cascade)?;
    let mut relations = Vec::new();
    for relation in owned_relations(&snapshot, owners) {
        // The sequence of an identity column goes with it, and only so.
        let own =
            |table: Oid| snapshot.relation(table).is_some_and(|it| owners.contains(&it.owner));
        let of_own_table = matches!(&relation.kind, RelationKind::Sequence(sequence)
            if sequence.owner.is_some_and(|(table, _)| own(table)));
        if of_own_table {
            continue;
        }
        let mode = TableLock::AccessExclusive;
        ddl.transaction.lock_table(relation.lock, mode, WaitPolicy::Block)?;
        relations.extend(ddl.relation(relation.oid));
    }
    let types: Vec<ObjectName> = snapshot
        .types()
        .filter(|found| owners.contains(&found.owner))
        .filter_map(|found| Some((snapshot.schema_by_oid(found.schema)?, found)))
        .map(|(schema, found)| ObjectName {
            parts: vec![Arc::clone(&schema.name), Arc::clone(&found.name)],
            at: 0,
        })
        .collect();
    let schemas: Vec<ObjectName> = snapshot
        .schemas()
        .filter(|schema| owners.contains(&schema.owner) && !schema.is_temporary())
        .map(|schema| ObjectName { parts: vec![Arc::clone(&schema.name)], at: 0 })
        .collect();
    let extensions: Vec<ObjectName> = snapshot
        .extensions()
        .filter(|extension| owners.contains(&extension.owner))
        .map(|extension| ObjectName { parts: vec![Arc::clone(&extension.name)], at: 0 })
        .collect();
    relations.retain(|relation| snapshot.extension_of_relation(relation.oid).is_none());
    let many = relations.len() + types.len() + schemas.len() > 1;
    let told = |error: SqlError| {
        if !many || error.state() != SqlState::DEPENDENT_OBJECTS_STILL_EXIST {
            return error;
        }
        let all = "cannot drop desired object(s) because other objects depend on them";
        let next = SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, all);
        let next = match &error.fields().detail {
            Some(detail) => next.detail(detail.clone()),
            None => next,
        };
        next.hint("Use DROP ... CASCADE to drop the dependent objects too.")
    };
    drop_relations(ddl, &relations, cascade).map_err(told)?;
    let others = [
        (ObjectKind::Extension, extensions),
        (ObjectKind::Type, types),
        (ObjectKind::Schema, schemas),
    ];
    for (kind, names) in others {
        if !names.is_empty() {
            let drop = Drop { kind, names, if_exists: true, cascade, concurrently: false };
            super::drop::drop(ddl, &drop).map_err(told)?;
        }
    }
    Ok(())
}

/// REASSIGN OWNED.
///
/// # Errors
/// 42704, 42501, 2BP01.
pub fn reassign_owned(ddl: &mut Ddl<'_>, reassign: &ReassignOwned) -> Result<&'static str> {
    let roles = roles(ddl, &reassign.roles, "reassign")?;
    let to = ddl.role_to_stay(&reassign.to)?;
    check_privileges_of(ddl, &to, "reassign")?;
    for role in &roles {
        check_made(role, "reassign ownership of")?;
    }
    let owners: Vec<Oid> = roles.iter().map(|role| role.oid).collect();
    let snapshot = ddl.snapshot();
    for extension in snapshot.extensions().filter(|found| owners.contains(&found.owner)) {
        ddl.give_extension(extension, to.oid)?;
    }
    for relation in owned_relations(&snapshot, &owners) {
        let mode = TableLock::AccessExclusive;
        ddl.transaction.lock_table(relation.lock, mode, WaitPolicy::Block)?;
        if let Some(relation) = ddl.relation(relation.oid) {
            ddl.refuse_active("ALTER TABLE", &relation)?;
            if relation.owner != to.oid {
                ddl.may_give(&to, relation.schema.0)?;
            }
            ddl.put_owner(&relation, to.oid)?;
        }
    }
    for found in snapshot.types().filter(|found| owners.contains(&found.owner)) {
        super::user_type::put_owner(ddl, found, to.oid)?;
    }
    for routine in snapshot.routines().filter(|found| owners.contains(&found.owner)) {
        if routine.owner != to.oid {
            ddl.may_give(&to, routine.schema)?;
        }
        super::routine::put_owner(ddl, routine, to.oid)?;
    }
    for one in super::attachment::owned_by(ddl, &owners) {
        if let Some(schema) = one.schema()
            && one.owner() != Some(to.oid)
        {
            ddl.may_give(&to, schema)?;
        }
        super::attachment::put(ddl, &one.with_owner(to.oid))?;
    }
    for schema in snapshot.schemas().filter(|schema| owners.contains(&schema.owner)) {
        if schema.owner != to.oid {
            super::rename::may_give_schema(ddl, &to)?;
        }
        let mut next = Schema { owner: to.oid, ..Schema::clone(schema) };
        give_acl(&mut next.acl, schema.owner, to.oid);
        super::schema::put(ddl, Some(Arc::clone(schema)), next)?;
    }
    for database in snapshot.shared().databases().filter(|it| owners.contains(&it.owner)) {
        if database.owner != to.oid {
            super::rename::may_give_database(ddl, &to)?;
        }
        let mut next = Database { owner: to.oid, ..Database::clone(database) };
        give_acl(&mut next.acl, database.owner, to.oid);
        super::database::put(ddl, Some(Arc::clone(database)), next)?;
    }
    Ok("REASSIGN OWNED")
}
