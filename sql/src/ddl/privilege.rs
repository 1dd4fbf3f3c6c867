//! GRANT and REVOKE of privileges on tables, sequences, schemas and databases.
//!
//! Lists are kept and shown as PostgreSQL does; column privileges and objects of other kinds are 0A000.

use super::Ddl;
use super::resolve::{undefined_schema, undefined_table};
use crate::catalog::acl::{self, Acl, Privileges};
use crate::catalog::object::{Class, Database, Object, ObjectKey, Schema, well_known};
use crate::catalog::privilege::Grantable;
use crate::catalog::relation::{Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Grant, Ident, ObjectKind, ObjectName};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// GRANT, REVOKE.
///
/// # Errors
/// 42P01, 42704, 42501, 0LP01; 0A000 for kinds of objects without lists here.
pub fn grant(ddl: &mut Ddl<'_>, grant: &Grant) -> Result<&'static str> {
    if grant.privileges.iter().any(|(_, columns)| !columns.is_empty()) {
        return Err(SqlError::unsupported("privileges on columns are"));
    }
    let grantees = grant
        .grantees
        .iter()
        .map(|name| if &**name == "public" { Ok(Oid(0)) } else { Ok(ddl.role(name)?.oid) })
        .collect::<Result<Vec<Oid>>>()?;
    for name in &grant.names {
        match grant.kind {
            ObjectKind::Table | ObjectKind::Sequence if grant.in_schema => {
                for relation in in_schema(ddl, name.name(), grant.kind)? {
                    on_relation(ddl, grant, &grantees, &relation)?;
                }
            }
            ObjectKind::Table | ObjectKind::Sequence => {
                let found = ddl.lock_named(name, TableLock::AccessShare)?;
                let Some((_, relation)) = found else { return Err(undefined_table(name)) };
                on_relation(ddl, grant, &grantees, &relation)?;
            }
            ObjectKind::Schema => on_schema(ddl, grant, &grantees, name)?,
            ObjectKind::Database => on_database(ddl, grant, &grantees, name)?,
            kind => {
                return Err(SqlError::unsupported(format!("privileges on {} are", kind.words())));
            }
        }
    }
    Ok(if grant.revoke { "REVOKE" } else { "GRANT" })
}

fn in_schema(ddl: &mut Ddl<'_>, name: &Ident, kind: ObjectKind) -> Result<Vec<Arc<Relation>>> {
    let snapshot = ddl.snapshot();
    let schema = snapshot.schema(name).ok_or_else(|| undefined_schema(name))?;
    let wanted = |relation: &&Arc<Relation>| {
        let sequence = matches!(relation.kind, RelationKind::Sequence(_));
        relation.schema.0 == schema.oid && sequence == (kind == ObjectKind::Sequence)
    };
    Ok(snapshot.relations().filter(wanted).cloned().collect())
}

/// The privileges that a statement names, checked against the object's kind.
fn named(grant: &Grant, kind: Grantable) -> Result<Privileges> {
    if grant.privileges.is_empty() {
        return Ok(kind.all());
    }
    let mut all = Privileges::default();
    for (word, _) in &grant.privileges {
        let privilege = Privileges::named(word).ok_or_else(|| {
            SqlError::new(SqlState::SYNTAX_ERROR, format!("unrecognized privilege type \"{word}\""))
        })?;
        if !kind.all().contains(privilege) {
            let noun = match kind {
                Grantable::Table => "table",
                Grantable::Sequence => "sequence",
                Grantable::Schema => "schema",
                Grantable::Database => "database",
            };
            return Err(SqlError::new(
                SqlState::INVALID_GRANT_OPERATION,
                format!("invalid privilege type {} for {noun}", word.to_uppercase()),
            ));
        }
        all = all.union(privilege);
    }
    Ok(all)
}

/// The list after the statement.
fn changed(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    kind: Grantable,
    owner: Oid,
    list: Option<&Acl>,
) -> Result<Acl> {
    let privileges = named(grant, kind)?;
    let snapshot = ddl.snapshot();
    if !snapshot.owns(ddl.user, owner) {
        return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, "permission denied"));
    }
    let mut list = list.cloned().unwrap_or_else(|| kind.default_acl(owner));
    for &grantee in grantees {
        if grant.revoke {
            acl::revoke(&mut list, grantee, privileges, grant.grant_option);
        } else {
            acl::grant(&mut list, owner, grantee, privileges, grant.grant_option);
        }
    }
    Ok(list)
}

/// 42501 with the object's name.
fn denied(error: SqlError, what: &str) -> SqlError {
    if error.state() == SqlState::INSUFFICIENT_PRIVILEGE {
        return SqlError::new(error.state(), format!("permission denied for {what}"));
    }
    error
}

fn on_relation(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    relation: &Arc<Relation>,
) -> Result<()> {
    if relation.oid.0 < well_known::FIRST_NORMAL {
        return Err(SqlError::unsupported("privileges on system catalogs are"));
    }
    let key = ddl.catalog.key(Class::Relation, relation.oid);
    // Two statements on one object meet here; a table's definition changes under ACCESS EXCLUSIVE only.
    ddl.transaction.lock_table(
        relation.lock,
        TableLock::ShareUpdateExclusive,
        WaitPolicy::Block,
    )?;
    ddl.catalog.lock(ddl.transaction, key)?;
    let Some(relation) = ddl.relation(relation.oid) else { return Ok(()) };
    let (kind, owner) = (relation.grantable(), relation.owner);
    let list = changed(ddl, grant, grantees, kind, owner, relation.acl.as_ref());
    let noun = super::resolve::kind_noun(&relation);
    let list = list.map_err(|error| denied(error, &format!("{noun} {}", relation.name)))?;
    let mut next = Relation::clone(&relation);
    next.acl = Some(list);
    ddl.catalog.put_relation(ddl.transaction, next)
}

fn on_schema(ddl: &mut Ddl<'_>, grant: &Grant, grantees: &[Oid], name: &ObjectName) -> Result<()> {
    let name = name.name();
    let find = |ddl: &mut Ddl<'_>| {
        ddl.snapshot().schema(name).cloned().ok_or_else(|| undefined_schema(name))
    };
    let schema = find(ddl)?;
    let key = ddl.catalog.key(Class::Schema, schema.oid);
    ddl.catalog.lock(ddl.transaction, key)?;
    let schema = find(ddl)?;
    let (kind, owner) = (Grantable::Schema, schema.owner);
    let list = changed(ddl, grant, grantees, kind, owner, schema.acl.as_ref())
        .map_err(|error| denied(error, &format!("schema {name}")))?;
    super::schema::put(ddl, Schema { acl: Some(list), ..Schema::clone(&schema) })
}

fn on_database(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    name: &ObjectName,
) -> Result<()> {
    let name = name.name();
    let find = |ddl: &mut Ddl<'_>| {
        ddl.snapshot().shared().database(name).cloned().ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_CATALOG_NAME,
                format!("database \"{name}\" does not exist"),
            )
        })
    };
    let database = find(ddl)?;
    let key = ObjectKey { class: Class::Database, database: Oid(0), oid: database.oid, sub: 0 };
    ddl.catalog.lock(ddl.transaction, key)?;
    let database = find(ddl)?;
    let (kind, owner) = (Grantable::Database, database.owner);
    let list = changed(ddl, grant, grantees, kind, owner, database.acl.as_ref())
        .map_err(|error| denied(error, &format!("database {name}")))?;
    let next = Database { acl: Some(list), ..Database::clone(&database) };
    ddl.catalog.change(ddl.transaction, key, Some(Object::Database(Arc::new(next))))
}
