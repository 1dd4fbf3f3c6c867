//! ALTER ... RENAME TO, SET SCHEMA, OWNER TO.

use super::Ddl;
use super::constraint::constraint_is_new;
use super::create_table::new_column_name;
use super::resolve::{
    altered_type, duplicate_relation, duplicate_there, duplicate_type, kind_noun, must_own,
    refused_system_column, system_column_named, undefined_schema, undefined_table, wrong_kind,
};
use super::user_type::{demand_free_there, give_type_acl};
use crate::catalog::Named;
use crate::catalog::acl::{Acl, AclItem};
use crate::catalog::object::{Class, Database, Object, ObjectKey, Role, Schema};
use crate::catalog::relation::{Index, Relation, RelationKind};
use crate::catalog::temporary::across;
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    ChangeOwner, Ident, ObjectKind, ObjectName, Rename, RenamePart, SetSchema,
};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::TableLock;

fn tag(kind: ObjectKind) -> Result<&'static str> {
    Ok(match kind {
        ObjectKind::Table | ObjectKind::Column | ObjectKind::Constraint => "ALTER TABLE",
        ObjectKind::Index => "ALTER INDEX",
        ObjectKind::View => "ALTER VIEW",
        ObjectKind::MaterializedView => "ALTER MATERIALIZED VIEW",
        ObjectKind::Sequence => "ALTER SEQUENCE",
        ObjectKind::Schema => "ALTER SCHEMA",
        ObjectKind::Database => "ALTER DATABASE",
        ObjectKind::Role => "ALTER ROLE",
        ObjectKind::Type => "ALTER TYPE",
        ObjectKind::Domain => "ALTER DOMAIN",
        ObjectKind::Trigger => "ALTER TRIGGER",
        kind => return Err(SqlError::unsupported(format!("ALTER {} is", kind.words()))),
    })
}

/// ALTER ... RENAME.
///
/// # Errors
/// 42P01, 42703, 42P07, 42701, 42501 and so on.
pub fn rename(ddl: &mut Ddl<'_>, rename: &Rename) -> Result<&'static str> {
    let tag = tag(rename.kind)?;
    if let Some(RenamePart::Trigger(from)) = &rename.part {
        super::trigger::rename_trigger(ddl, rename, from)?;
        return Ok(tag);
    }
    match rename.kind {
        ObjectKind::Schema => super::schema::rename_schema(ddl, rename.name.name(), &rename.to)?,
        ObjectKind::Database => {
            super::database::rename_database(ddl, rename.name.name(), &rename.to)?;
        }
        ObjectKind::Role => super::role::rename_role(ddl, rename.name.name(), &rename.to)?,
        ObjectKind::Type | ObjectKind::Domain => super::user_type::rename_type(ddl, rename)?,
        _ => rename_relation(ddl, rename)?,
    }
    Ok(tag)
}

/// ALTER of a relation, composite types too, with RENAME.
pub(super) fn rename_relation(ddl: &mut Ddl<'_>, rename: &Rename) -> Result<()> {
    let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
        if let Named::Index { .. } = named {
            if rename.part.is_some() {
                return Err(wrong_kind(rename.name.name(), ObjectKind::Table));
            }
            if !ddl.snapshot().owns(ddl.user, relation.owner) {
                return Err(must_own("index", rename.name.name()));
            }
        }
        ddl.check_owner(relation)?;
        // A new name is made in the schema, as it were.
        if rename.part.is_none() { ddl.may_still_create_in(relation) } else { Ok(()) }
    };
    if rename.part.is_none()
        && let Ok(Some(Named::Index { .. })) = ddl.lookup(&rename.name)
        && let Some((relation, index)) = ddl.lock_index(&rename.name, &check)?
    {
        return rename_index_alone(ddl, rename, &relation, index);
    }
    let found = ddl.lock_checked(&rename.name, TableLock::AccessExclusive, &check);
    let found = match found {
        Err(error) if rename.if_exists && error.state() == SqlState::INVALID_SCHEMA_NAME => None,
        found => found?,
    };
    let Some((named, relation)) = found else {
        if rename.if_exists {
            let message = format!("relation \"{}\" does not exist, skipping", rename.name.name());
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(());
        }
        return Err(undefined_table(&rename.name));
    };
    let mut next = Relation::clone(&relation);
    let within = matches!(rename.part, Some(RenamePart::Constraint(_)));
    match (&rename.part, named) {
        (Some(RenamePart::Column(from)), _) if matches!(relation.kind, RelationKind::Composite) => {
            return super::attribute::rename_attribute(ddl, &rename.name, from, &rename.to);
        }
        (Some(RenamePart::Column(from)), _) => {
            rename_column(&mut next, from, &rename.to)?;
        }
        (Some(RenamePart::Constraint(from)), _) => {
            rename_constraint(ddl, &mut next, from, &rename.to)?;
        }
        (Some(RenamePart::Trigger(_)), _) => return Err(undefined_table(&rename.name)),
        // What had been a relation's name is an index's now.
        (None, Named::Index { .. }) => return rename_relation(ddl, rename),
        (None, Named::Relation(_)) => {
            // ALTER TABLE and ALTER INDEX rename whatever has rows or keys.
            if !matches!(rename.kind, ObjectKind::Table | ObjectKind::Index)
                && kind_noun(&relation) != rename.kind.words().to_ascii_lowercase()
            {
                return Err(wrong_kind(&relation.name, rename.kind));
            }
            if matches!(relation.kind, RelationKind::Composite) {
                return Err(altered_type(&relation.name));
            }
            if ddl.lock_relation_name(relation.schema.0, &rename.to)? {
                return Err(duplicate_relation(&rename.to));
            }
            let typed = !matches!(relation.kind, RelationKind::Sequence(_));
            if typed && ddl.snapshot().type_in(relation.schema.0, &rename.to).is_some() {
                return Err(duplicate_type(&rename.to));
            }
            next.name = Arc::clone(&rename.to);
        }
    }
    if within {
        // Views name no constraints.
        return ddl.catalog.put_relation(ddl.transaction, next);
    }
    ddl.put_renamed(next)
}

fn rename_column(next: &mut Relation, from: &Ident, to: &Ident) -> Result<()> {
    let at = next.column(from).ok_or_else(|| match system_column_named(next, from) {
        Some(_) => refused_system_column("rename", from),
        None => {
            SqlError::new(SqlState::UNDEFINED_COLUMN, format!("column \"{from}\" does not exist"))
        }
    })?;
    if !matches!(next.kind, RelationKind::View { .. }) {
        new_column_name(to)?;
    }
    if next.column(to).is_some() {
        return Err(SqlError::new(
            SqlState::DUPLICATE_COLUMN,
            format!("column \"{to}\" of relation \"{}\" already exists", next.name),
        ));
    }
    next.columns[at].name = Arc::clone(to);
    Ok(())
}

fn rename_constraint(
    ddl: &mut Ddl<'_>,
    next: &mut Relation,
    from: &Ident,
    to: &Ident,
) -> Result<()> {
    constraint_is_new(next, to)?;
    if let Some(found) = next.constraints.iter_mut().find(|constraint| constraint.name == *from) {
        found.name = Arc::clone(to);
        return Ok(());
    }
    let index = next.indexes.iter().position(|index| {
        index.constraint.as_ref().is_some_and(|constraint| constraint.1 == *from)
    });
    let Some(at) = index else {
        return Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("constraint \"{from}\" for table \"{}\" does not exist", next.name),
        ));
    };
    if ddl.lock_relation_name(next.schema.0, to)? {
        return Err(duplicate_relation(to));
    }
    call_index(&mut next.indexes[at], to);
    Ok(())
}

/// An index and the constraint it stands for have one name.
fn call_index(index: &mut Index, to: &Ident) {
    index.name = Arc::clone(to);
    if let Some(constraint) = &mut index.constraint {
        constraint.1 = Arc::clone(to);
    }
}

/// ALTER INDEX ... RENAME, whose table is not locked.
fn rename_index_alone(
    ddl: &mut Ddl<'_>,
    rename: &Rename,
    relation: &Relation,
    index: Oid,
) -> Result<()> {
    if !matches!(rename.kind, ObjectKind::Table | ObjectKind::Index) {
        return Err(wrong_kind(rename.name.name(), rename.kind));
    }
    if ddl.lock_relation_name(relation.schema.0, &rename.to)? {
        return Err(duplicate_relation(&rename.to));
    }
    let call = |index: &mut Index| call_index(index, &rename.to);
    ddl.catalog.change_index(ddl.transaction, (relation.oid, index), call)?;
    Ok(())
}

/// ALTER ... SET SCHEMA.
///
/// # Errors
/// 42P01, 3F000, 42P07, 42501.
pub fn set_schema(ddl: &mut Ddl<'_>, set: &SetSchema) -> Result<&'static str> {
    let tag = tag(set.kind)?;
    if matches!(set.kind, ObjectKind::Type | ObjectKind::Domain) {
        super::user_type::move_type(ddl, set)?;
        return Ok(tag);
    }
    let mode = TableLock::AccessExclusive;
    let Some(relation) = ddl.lock_table(&set.name, set.kind, mode, set.if_exists)? else {
        return Ok(tag);
    };
    refuse_owned(ddl, &relation, "cannot move an owned sequence into another schema")?;
    // The session need not have that schema yet.
    if &*set.schema == "pg_temp" {
        return Err(across());
    }
    let schema = ddl.schema_to_stay(&|ddl| {
        let snapshot = ddl.snapshot();
        let found = snapshot.schema(&set.schema).ok_or_else(|| undefined_schema(&set.schema))?;
        ddl.may_create_in(found)?;
        Ok(Arc::clone(found))
    })?;
    if schema.is_temporary() || relation.persistence == 't' {
        return Err(across());
    }
    if schema.oid == relation.schema.0 {
        return Ok(tag);
    }
    let snapshot = ddl.snapshot();
    let owned = snapshot.owned_sequences(relation.oid).map(|found| Arc::clone(found.0));
    let moved: Vec<Arc<Relation>> = std::iter::once(relation).chain(owned).collect();
    for relation in moved {
        for name in std::iter::once(&relation.name).chain(relation.indexes.iter().map(|i| &i.name))
        {
            if ddl.lock_relation_name(schema.oid, name)? {
                return Err(duplicate_there(name, &schema));
            }
        }
        if !matches!(relation.kind, RelationKind::Sequence(_)) {
            demand_free_there(ddl, (relation.row_type.0, &relation.name), &schema)?;
        }
        let mut next = Relation::clone(&relation);
        next.schema = (schema.oid, Arc::clone(&schema.name));
        ddl.put_renamed(next)?;
    }
    Ok(tag)
}

/// 0A000 for a sequence that goes wherever the column goes that owns it.
fn refuse_owned(ddl: &mut Ddl<'_>, relation: &Relation, message: &str) -> Result<()> {
    let RelationKind::Sequence(sequence) = &relation.kind else { return Ok(()) };
    let table = sequence.owner.and_then(|(table, _)| ddl.relation(table));
    let Some(table) = table else { return Ok(()) };
    Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
        .detail(format!("Sequence \"{}\" is linked to table \"{}\".", relation.name, table.name)))
}

/// ALTER ... OWNER TO.
///
/// # Errors
/// 42P01, 42704, 42501.
pub fn change_owner(ddl: &mut Ddl<'_>, change: &ChangeOwner) -> Result<&'static str> {
    let tag = tag(change.kind)?;
    match change.kind {
        ObjectKind::Schema => give_schema(ddl, &change.name, &change.owner)?,
        ObjectKind::Database => give_database(ddl, &change.name, &change.owner)?,
        ObjectKind::Type | ObjectKind::Domain => super::user_type::give_type(ddl, change)?,
        _ => {
            let mode = TableLock::AccessExclusive;
            let found = ddl.lock_table(&change.name, change.kind, mode, false)?;
            if let Some(relation) = found {
                ddl.refuse_active("ALTER TABLE", &relation)?;
                ddl.give_relation(&relation, &change.owner)?;
            }
        }
    }
    Ok(tag)
}

/// In a list, what the old owner had is the new owner's.
pub(super) fn give_acl(acl: &mut Option<Acl>, from: Oid, to: Oid) {
    let Some(items) = acl else { return };
    for mut item in std::mem::take(items) {
        for role in [&mut item.grantee, &mut item.grantor] {
            if *role == from {
                *role = to;
            }
        }
        // What both have had from the same is one item.
        let same =
            |known: &&mut AclItem| (known.grantee, known.grantor) == (item.grantee, item.grantor);
        match items.iter_mut().find(same) {
            Some(known) => {
                known.privileges = known.privileges.union(item.privileges);
                known.grant_options = known.grant_options.union(item.grant_options);
            }
            None => items.push(item),
        }
    }
}

fn give_schema(ddl: &mut Ddl<'_>, name: &ObjectName, owner: &Ident) -> Result<()> {
    let owner = ddl.role_to_stay(owner)?;
    // Whose it is already it may be given by anybody, as there; so are types and databases.
    if ddl.snapshot().schema(name.name()).is_some_and(|found| found.owner == owner.oid) {
        return Ok(());
    }
    let schema = super::schema::owned_schema_beside(ddl, name.name())?;
    may_give_schema(ddl, &owner)?;
    let mut next = Schema::clone(&schema);
    give_acl(&mut next.acl, schema.owner, owner.oid);
    next.owner = owner.oid;
    super::schema::put(ddl, Some(schema), next)
}

/// Whether the current user may give a role a schema: is a member of it, and could make one themselves.
pub(super) fn may_give_schema(ddl: &mut Ddl<'_>, owner: &Role) -> Result<()> {
    ddl.check_member(owner)?;
    super::schema::may_create(ddl)
}

/// Whether the current user may give a role a database: is a member of it, and could make one themselves.
pub(super) fn may_give_database(ddl: &mut Ddl<'_>, owner: &Role) -> Result<()> {
    ddl.check_member(owner)?;
    super::database::may_create(ddl).map_err(|_| {
        let message = "permission denied to change owner of database";
        SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
    })
}

fn give_database(ddl: &mut Ddl<'_>, name: &ObjectName, owner: &Ident) -> Result<()> {
    let owner = ddl.role_to_stay(owner)?;
    let snapshot = ddl.snapshot();
    if snapshot.shared().database(name.name()).is_some_and(|found| found.owner == owner.oid) {
        return Ok(());
    }
    let database = super::database::owned_database(ddl, name.name())?;
    may_give_database(ddl, &owner)?;
    let mut next = Database::clone(&database);
    give_acl(&mut next.acl, database.owner, owner.oid);
    next.owner = owner.oid;
    super::database::put(ddl, Some(database), next)
}

impl Ddl<'_> {
    pub(super) fn give_relation(&mut self, relation: &Arc<Relation>, owner: &Ident) -> Result<()> {
        let owner: Arc<Role> = self.role_to_stay(owner)?;
        if relation.owner == owner.oid {
            return Ok(());
        }
        let message = format!("cannot change owner of sequence \"{}\"", relation.name);
        refuse_owned(self, relation, &message)?;
        let snapshot = self.snapshot();
        if !snapshot.owns(self.user, relation.owner) {
            return Err(must_own(kind_noun(relation), &relation.name));
        }
        self.may_give(&owner, relation.schema.0)?;
        let owned = snapshot.owned_sequences(relation.oid).map(|found| Arc::clone(found.0));
        let given: Vec<Arc<Relation>> =
            std::iter::once(Arc::clone(relation)).chain(owned).collect();
        given.iter().try_for_each(|relation| self.put_owner(relation, owner.oid))
    }

    /// Whether the current user may give a role something in a schema: is a member of it, and it could have made it there.
    ///
    /// # Errors
    /// 42501.
    pub(super) fn may_give(&mut self, owner: &Role, schema: Oid) -> Result<()> {
        if self.superuser() {
            return Ok(());
        }
        self.check_member(owner)?;
        let snapshot = self.snapshot();
        match snapshot.schema_by_oid(schema) {
            Some(schema) if !snapshot.may_create_in(owner.oid, schema) => {
                Err(super::resolve::denied_schema(schema))
            }
            _ => Ok(()),
        }
    }

    /// Keeps a relation's new owner, who has what the old one had in its lists too.
    pub(super) fn put_owner(&mut self, relation: &Relation, owner: Oid) -> Result<()> {
        let snapshot = self.snapshot();
        for (sub, list) in snapshot.acls_of(relation.oid) {
            let mut next = Some(Acl::clone(list));
            give_acl(&mut next, relation.owner, owner);
            let key = ObjectKey { sub, ..self.catalog.key(Class::Acl, relation.oid) };
            let object = next.map(|list| Object::Acl(Arc::new(list)));
            let before = Object::Acl(Arc::clone(list));
            self.catalog.change(self.transaction, key, Some(&before), object)?;
        }
        give_type_acl(self, relation.row_type.0, relation.owner, owner)?;
        let mut next = Relation::clone(relation);
        give_acl(&mut next.acl, relation.owner, owner);
        next.owner = owner;
        self.catalog.put_relation(self.transaction, next)
    }
}
