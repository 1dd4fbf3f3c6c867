//! `pg_extension`, `pg_namespace`, `pg_database`, `pg_authid`, `pg_auth_members`, `pg_db_role_setting`, `pg_shdescription`: objects that are
//! kept whole, built-in ones too.

use super::rows::Rows;
use crate::catalog::extension::initial_list;
use crate::catalog::relation::Relation;
use crate::error::Result;
use crate::types::{Datum, Oid};

pub(super) fn schemas(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for schema in snapshot.schemas() {
        let row = [
            Datum::Oid(schema.oid.0),
            rows.text(&schema.name),
            Datum::Oid(schema.owner.0),
            rows.acl(schema.acl.as_ref()),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn databases(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    /// UTF8.
    const ENCODING: i32 = 6;
    let snapshot = rows.system.snapshot;
    for database in snapshot.shared().databases() {
        let row = [
            Datum::Oid(database.oid.0),
            rows.text(&database.name),
            Datum::Oid(database.owner.0),
            Datum::Int4(ENCODING),
            Datum::Char(b'c'),
            Datum::Bool(database.template),
            Datum::Bool(database.allow_connections),
            Datum::Int4(database.connection_limit),
            Datum::Oid(3),
            Datum::Oid(1),
            Datum::Oid(crate::catalog::object::well_known::DEFAULT_TABLESPACE.0),
            rows.text(&database.collate),
            rows.text(&database.ctype),
            Datum::Null,
            Datum::Null,
            rows.acl(database.acl.as_ref()),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn roles(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for role in snapshot.shared().roles() {
        let row = [
            Datum::Oid(role.oid.0),
            rows.text(&role.name),
            Datum::Bool(role.superuser),
            Datum::Bool(role.inherit),
            Datum::Bool(role.create_role),
            Datum::Bool(role.create_db),
            Datum::Bool(role.login),
            Datum::Bool(role.replication),
            Datum::Bool(role.bypass_rls),
            Datum::Int4(role.connection_limit),
            rows.optional(role.verifier.as_deref()),
            role.valid_until.map_or(Datum::Null, Datum::TimestampTz),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn memberships(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for membership in snapshot.shared().memberships() {
        let row = [
            Datum::Oid(membership.group.0),
            Datum::Oid(membership.member.0),
            Datum::Oid(membership.grantor.0),
            Datum::Bool(membership.admin),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn kept_settings(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for ((database, role), settings) in snapshot.shared().all_settings() {
        let row = [Datum::Oid(database.0), Datum::Oid(role.0), rows.options(settings)];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn shared_descriptions(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for (oid, comment) in snapshot.shared().comments() {
        let row = [Datum::Oid(oid.0), Datum::Oid(comment.class.0), rows.text(&comment.text)];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn parameters(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for parameter in snapshot.shared().parameters() {
        let acl = rows.acl(Some(&parameter.acl));
        rows.row(&[Datum::Oid(parameter.oid.0), rows.text(&parameter.name), acl])?;
    }
    Ok(())
}

pub(super) fn default_acls(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for default in snapshot.default_acls() {
        let row = [
            Datum::Oid(default.oid.0),
            Datum::Oid(default.role.0),
            Datum::Oid(default.schema.0),
            Datum::Char(default.kind as u8),
            rows.acl(Some(&default.acl)),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn extensions(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for extension in snapshot.extensions() {
        let relocatable = extension.description().is_some_and(|known| known.relocatable);
        let row = [
            Datum::Oid(extension.oid.0),
            rows.text(&extension.name),
            Datum::Oid(extension.owner.0),
            Datum::Oid(extension.schema.0),
            Datum::Bool(relocatable),
            rows.text(&extension.version),
            Datum::Null,
            Datum::Null,
        ];
        rows.row(&row)?;
    }
    Ok(())
}

/// `pg_init_privs`: those of the initial contents, and what extensions have granted as they were created.
pub(super) fn initial_privileges(
    rows: &mut Rows<'_, '_, '_, '_>,
    relation: &Relation,
) -> Result<()> {
    /// The classes of functions and relations.
    const CLASSES: (u32, u32) = (1255, 1259);
    rows.builtin(relation)?;
    let snapshot = rows.system.snapshot;
    for extension in snapshot.extensions() {
        let Some(known) = extension.description() else { continue };
        let functions = known.functions().filter(|function| function.acl.is_some());
        let functions: Vec<_> = functions
            .filter_map(|function| {
                Some((Oid(function.oid), CLASSES.0, snapshot.initial_function_acl(function)?))
            })
            .collect();
        let public = |name: &str| known.views.iter().any(|view| view.public && view.name == name);
        let relations = extension.relations.iter().filter_map(|oid| snapshot.relation(*oid));
        let views = relations
            .filter(|relation| public(&relation.name))
            .map(|relation| (relation.oid, CLASSES.1, initial_list(extension.owner)));
        for (oid, class, list) in functions.into_iter().chain(views) {
            let row = [
                Datum::Oid(oid.0),
                Datum::Oid(class),
                Datum::Int4(0),
                Datum::Char(b'e'),
                rows.acl(Some(&list)),
            ];
            rows.row(&row)?;
        }
    }
    Ok(())
}
