//! The catalog of a new directory: what PostgreSQL's `initdb` leaves behind, under the same OIDs.
//!
//! One transaction writes it all: the superuser and the predefined roles, the databases template1, template0 and
//! postgres, and each one's schemas and plpgsql. The catalog tree is the first tree of the directory; a directory whose first tree
//! has another number is not new.

use crate::acl::{Acl, AclItem, Privileges};
use crate::builtin;
use crate::extension::{self, Extension};
use crate::object::{
    Class, Comment, Database, Membership, Object, ObjectKey, Role, Schema, well_known,
};
use crate::store;
use sql_types::Oid;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::sync::Arc;
use txn::{Begin, Manager, SchemeKind, SessionWait};

/// What `initdb` is told of the locale.
const LOCALE: &str = "C.UTF-8";

/// Writes the catalog of a new directory, with a superuser of that name and (if any) that SCRAM verifier; its databases have
/// that concurrency control.
///
/// # Errors
/// Storage's; 55000 if the directory has trees already.
pub fn bootstrap(
    manager: &Arc<Manager>,
    superuser: &str,
    verifier: Option<&str>,
    concurrency_control: SchemeKind,
) -> Result<()> {
    let tree = manager.data().create_tree().map_err(txn::Error::from)?;
    if tree.id() != store::CATALOG_TREE {
        return Err(SqlError::new(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            "the directory has been initialised already",
        ));
    }
    let wait = Arc::new(SessionWait::new(0));
    let mut transaction = manager.begin(Begin::default(), &wait);
    transaction.begin_statement()?;
    for (key, object) in initial(superuser, verifier, concurrency_control) {
        store::write_object(&mut transaction, &tree, key, Some(&object))?;
    }
    let _ = transaction.commit(&mut |_| ())?;
    Ok(())
}

fn item(grantee: Oid, grantor: Oid, privileges: Privileges) -> AclItem {
    AclItem { grantee, grantor, privileges, grant_options: Privileges::default() }
}

fn roles(superuser: &str, verifier: Option<&str>) -> Vec<Role> {
    let table = builtin::relation("pg_authid").expect("every system table has its generated file");
    table
        .rows()
        .map(|row| {
            let fields: Vec<&str> = row.fields().map(Option::unwrap_or_default).collect();
            let flag = |at: usize| fields[at] == "t";
            let oid = Oid(fields[0].parse().expect("pg_authid.oid is a number"));
            let first = oid == well_known::SUPERUSER;
            Role {
                oid,
                name: if first { superuser.into() } else { fields[1].into() },
                superuser: flag(2),
                inherit: flag(3),
                create_role: flag(4),
                create_db: flag(5),
                login: flag(6),
                replication: flag(7),
                bypass_rls: flag(8),
                connection_limit: -1,
                verifier: verifier.filter(|_| first).map(Arc::from),
                valid_until: None,
            }
        })
        .collect()
}

fn memberships() -> Vec<Membership> {
    let table =
        builtin::relation("pg_auth_members").expect("every system table has its generated file");
    table
        .rows()
        .map(|row| {
            let fields: Vec<&str> = row.fields().map(Option::unwrap_or_default).collect();
            let oid = |at: usize| Oid(fields[at].parse().expect("pg_auth_members has OIDs"));
            Membership { group: oid(0), member: oid(1), grantor: oid(2), admin: fields[3] == "t" }
        })
        .collect()
}

/// The schemas that every database has, its own copies, with the privileges `initdb` grants.
fn schemas() -> Vec<Schema> {
    let owner = well_known::SUPERUSER;
    let table =
        builtin::relation("pg_namespace").expect("every system table has its generated file");
    table
        .rows()
        .map(|row| {
            let fields: Vec<&str> = row.fields().map(Option::unwrap_or_default).collect();
            let oid = Oid(fields[0].parse().expect("pg_namespace.oid is a number"));
            let owner = if oid == well_known::PUBLIC { well_known::DATABASE_OWNER } else { owner };
            let everyone = item(Oid(0), owner, Privileges::USAGE);
            let acl: Acl = vec![item(owner, owner, Privileges::SCHEMA), everyone];
            let acl = (oid != well_known::PG_TOAST).then_some(acl);
            Schema { oid, name: fields[1].into(), owner, acl }
        })
        .collect()
}

fn initial(
    superuser: &str,
    verifier: Option<&str>,
    concurrency_control: SchemeKind,
) -> Vec<(ObjectKey, Object)> {
    let mut objects = Vec::new();
    let shared = |class, oid, sub| ObjectKey { class, database: Oid(0), oid, sub };
    for role in roles(superuser, verifier) {
        objects.push((shared(Class::Role, role.oid, 0), Object::Role(Arc::new(role))));
    }
    for membership in memberships() {
        let key = shared(Class::Membership, membership.group, membership.member.0);
        objects.push((key, Object::Membership(membership)));
    }
    let databases = [
        (well_known::TEMPLATE1, "template1", true, true, "default template for new databases"),
        (well_known::TEMPLATE0, "template0", true, false, "unmodifiable empty database"),
        (
            well_known::POSTGRES,
            "postgres",
            false,
            true,
            "default administrative connection database",
        ),
    ];
    let owner = well_known::SUPERUSER;
    for (oid, name, template, allow_connections, comment) in databases {
        let acl = template.then(|| {
            vec![item(Oid(0), owner, Privileges::CONNECT), item(owner, owner, Privileges::DATABASE)]
        });
        let database = Database {
            oid,
            name: name.into(),
            owner,
            template,
            allow_connections,
            connection_limit: -1,
            collate: LOCALE.into(),
            ctype: LOCALE.into(),
            concurrency_control,
            acl,
        };
        objects.push((shared(Class::Database, oid, 0), Object::Database(Arc::new(database))));
        let comment = Comment { class: Oid(1262), text: comment.into() };
        objects.push((shared(Class::Comment, oid, 0), Object::Comment(Arc::new(comment))));
        objects.extend(database_objects(oid));
    }
    objects
}

/// What a new, empty database has: its schemas, and plpgsql.
#[must_use]
pub fn database_objects(database: Oid) -> Vec<(ObjectKey, Object)> {
    let key = |class, oid| ObjectKey { class, database, oid, sub: 0 };
    let mut objects: Vec<(ObjectKey, Object)> = schemas()
        .into_iter()
        .map(|schema| (key(Class::Schema, schema.oid), Object::Schema(Arc::new(schema))))
        .collect();
    let known = extension::available("plpgsql").expect("it is built in");
    let made = Extension {
        oid: extension::PLPGSQL,
        name: known.name.into(),
        owner: well_known::SUPERUSER,
        schema: well_known::PG_CATALOG,
        version: known.version.into(),
        relations: Vec::new(),
    };
    let comment = Comment { class: extension::PG_EXTENSION, text: known.comment.into() };
    objects.push((key(Class::Extension, made.oid), Object::Extension(Arc::new(made))));
    let comment = Object::Comment(Arc::new(comment));
    objects.push((key(Class::Comment, extension::PLPGSQL), comment));
    objects
}
