//! CREATE DATABASE, ALTER DATABASE, DROP DATABASE.
//!
//! A new database has what its template has: `copy_database.rs`.

use super::Ddl;
use super::resolve::must_own;
use crate::catalog::PreparedNote;
use crate::catalog::object::{Class, Database, Object, ObjectKey};
use crate::error::{Result, SqlError};
use crate::parse::ast::{AlterDatabase, CreateDatabase, DropDatabase, Ident, OptionValue};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::{Micros, SchemeKind, WaitCell, WaitEvent, Woken};

/// How long other sessions of a database are waited for.
const PATIENCE: Micros = Micros(5_000_000);
/// How often it is looked whether they are gone.
const LOOK_AGAIN: Micros = Micros(100_000);

fn key(database: Oid) -> ObjectKey {
    ObjectKey { class: Class::Database, database: Oid(0), oid: database, sub: 0 }
}

/// 3D000.
fn undefined(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_CATALOG_NAME, format!("database \"{name}\" does not exist"))
}

fn duplicate(name: &str) -> SqlError {
    SqlError::new(SqlState::DUPLICATE_DATABASE, format!("database \"{name}\" already exists"))
}

pub(super) fn may_create(ddl: &mut Ddl<'_>) -> Result<()> {
    let user = ddl.user;
    let snapshot = ddl.snapshot();
    let role = snapshot.shared().role_by_oid(user);
    if role.is_some_and(|role| role.superuser || role.create_db) {
        return Ok(());
    }
    Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, "permission denied to create database"))
}

/// 42601 where an option is given twice.
fn refuse_twice(options: &[OptionValue]) -> Result<()> {
    let again = |at: &usize| options[..*at].iter().any(|other| other.name == options[*at].name);
    match (0..options.len()).find(again) {
        None => Ok(()),
        Some(at) => Err(SqlError::new(SqlState::SYNTAX_ERROR, "conflicting or redundant options")
            .at(options[at].at)),
    }
}

fn boolean(option: &OptionValue) -> Result<bool> {
    option.boolean().ok_or_else(|| {
        SqlError::new(SqlState::SYNTAX_ERROR, format!("{} requires a Boolean value", option.name))
    })
}

/// Options that CREATE and ALTER share; false if it is none of them.
fn common(database: &mut Database, option: &OptionValue) -> Result<bool> {
    match &*option.name {
        "allow_connections" => database.allow_connections = boolean(option)?,
        "is_template" => database.template = boolean(option)?,
        "connection_limit" => {
            let text = option.value.as_ref().and_then(|value| value.text().cloned());
            let limit = text.and_then(|text| text.parse().ok()).filter(|&limit: &i32| limit >= -1);
            database.connection_limit = limit.ok_or_else(|| {
                SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "invalid connection limit")
            })?;
        }
        "tablespace" => {
            let text = option.value.as_ref().and_then(|value| value.text());
            super::index::tablespace(text)?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

/// The scheme that an option names.
fn scheme(option: &OptionValue) -> Result<SchemeKind> {
    let text = option.value.as_ref().and_then(|value| value.text().cloned()).unwrap_or_default();
    let name = text.to_ascii_lowercase();
    SchemeKind::named(&name).ok_or_else(|| {
        let known: Vec<_> = SchemeKind::ALL.iter().map(|scheme| scheme.name()).collect();
        SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("invalid value for option \"concurrency_control\": \"{text}\""),
        )
        .hint(format!("Available values: {}.", known.join(", ")))
    })
}

/// Gives a database another concurrency control: while nobody is connected, so that no two of its transactions ever run
/// under different ones.
fn change_scheme(ddl: &mut Ddl<'_>, database: &mut Database, to: SchemeKind) -> Result<()> {
    if database.concurrency_control == to {
        return Ok(());
    }
    ddl.refuse_block("ALTER DATABASE ... CONCURRENCY_CONTROL")?;
    if database.oid == ddl.catalog.database() {
        return Err(SqlError::new(
            SqlState::OBJECT_IN_USE,
            "cannot change the concurrency control of the currently open database",
        ));
    }
    refuse_others(ddl, database, "database")?;
    database.concurrency_control = to;
    Ok(())
}

/// CREATE DATABASE.
///
/// # Errors
/// 42P04, 42501, 3D000, 55006, 22023; 0A000 for another encoding or locale.
pub fn create_database(ddl: &mut Ddl<'_>, create: &CreateDatabase) -> Result<&'static str> {
    ddl.refuse_block("CREATE DATABASE")?;
    let mut database = Database {
        oid: Oid(0),
        name: Arc::clone(&create.name),
        owner: ddl.user,
        template: false,
        allow_connections: true,
        connection_limit: -1,
        collate: "".into(),
        ctype: "".into(),
        concurrency_control: SchemeKind::default(),
        acl: None,
    };
    refuse_twice(&create.options)?;
    let mut template = Arc::from("template1");
    let (mut collate, mut ctype, mut concurrency_control) = (None, None, None);
    for option in &create.options {
        let Some(text) = option.value.as_ref().map(|value| value.text().cloned()) else { continue };
        if common(&mut database, option)? {
            continue;
        }
        let text = text.unwrap_or_else(|| "".into());
        match &*option.name {
            "owner" => {
                let owner = ddl.role_to_stay(&text)?;
                ddl.check_member(&owner)?;
                database.owner = owner.oid;
            }
            "template" => template = text,
            "encoding" => encoding(&text)?,
            "lc_collate" => collate = Some(locale(&text)?),
            "lc_ctype" => ctype = Some(locale(&text)?),
            "locale" => {
                let named = locale(&text)?;
                (collate, ctype) = (Some(Arc::clone(&named)), Some(named));
            }
            "concurrency_control" => concurrency_control = Some(scheme(option)?),
            "strategy" | "locale_provider" | "collation_version" => {}
            other => {
                return Err(SqlError::unsupported(format!("option \"{other}\" of databases is")));
            }
        }
    }
    may_create(ddl)?;
    ddl.catalog.lock_name(ddl.transaction, Class::Database, Oid(0), &create.name)?;
    let snapshot = ddl.snapshot();
    if snapshot.shared().database(&create.name).is_some() {
        return Err(duplicate(&create.name));
    }
    let from = snapshot.shared().database(&template).cloned().ok_or_else(|| {
        SqlError::new(
            SqlState::INVALID_CATALOG_NAME,
            format!("template database \"{template}\" does not exist"),
        )
    })?;
    if !from.template && !snapshot.owns(ddl.user, from.owner) {
        return Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("permission denied to copy database \"{template}\""),
        ));
    }
    database.collate = collate.unwrap_or_else(|| Arc::clone(&from.collate));
    database.ctype = ctype.unwrap_or_else(|| Arc::clone(&from.ctype));
    database.concurrency_control = concurrency_control.unwrap_or(from.concurrency_control);
    // Texts may be sorted in any other template.
    if *from.name != *"template0" {
        refuse_other("collation", (&database.collate, &from.collate))?;
        refuse_other("LC_CTYPE", (&database.ctype, &from.ctype))?;
    }
    refuse_others(ddl, &from, "source database")?;
    database.oid = ddl.catalog.next_oid()?;
    let oid = database.oid;
    put(ddl, None, database)?;
    ddl.copy_database(from.oid, oid)?;
    Ok("CREATE DATABASE")
}

fn encoding(text: &str) -> Result<()> {
    let bare = text.replace(['-', '_'], "").to_ascii_lowercase();
    if matches!(bare.as_str(), "utf8" | "unicode" | "6") {
        return Ok(());
    }
    Err(SqlError::unsupported(format!("encoding \"{text}\" is")))
}

/// A locale as it is kept: C and POSIX are one, in which and in C.UTF-8 texts are sorted alike.
fn locale(text: &str) -> Result<Arc<str>> {
    let bare = text.replace(['-', '_', '.'], "").to_ascii_lowercase();
    match bare.as_str() {
        "c" | "posix" => Ok("C".into()),
        "cutf8" => Ok(text.into()),
        _ => Err(SqlError::unsupported(format!("locale \"{text}\" is"))),
    }
}

/// 22023 where a new database would have another locale than its template.
fn refuse_other(what: &str, (new, old): (&str, &str)) -> Result<()> {
    if new == old {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        format!(
            "new {what} ({new}) is incompatible with the {what} of the template database ({old})"
        ),
    )
    .hint(format!(
        "Use the same {what} as in the template database, or use template0 as template."
    )))
}

pub(super) fn put(
    ddl: &mut Ddl<'_>,
    before: Option<Arc<Database>>,
    database: Database,
) -> Result<()> {
    let (key, before) = (key(database.oid), before.map(Object::Database));
    let after = Some(Object::Database(Arc::new(database)));
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), after)
}

fn locked(ddl: &mut Ddl<'_>, name: &str) -> Result<Option<Arc<Database>>> {
    let Some(found) = ddl.snapshot().shared().database(name).cloned() else { return Ok(None) };
    ddl.catalog.lock(ddl.transaction, key(found.oid))?;
    Ok(ddl.snapshot().shared().database(name).cloned())
}

/// A database of that name, locked, which the current user owns.
pub(super) fn owned_database(ddl: &mut Ddl<'_>, name: &str) -> Result<Arc<Database>> {
    let database = locked(ddl, name)?.ok_or_else(|| undefined(name))?;
    if !ddl.snapshot().owns(ddl.user, database.owner) {
        return Err(must_own("database", name));
    }
    Ok(database)
}

/// ALTER DATABASE with options.
///
/// # Errors
/// 3D000, 42501, 22023; 55006 where its concurrency control is to be another while somebody is connected.
pub fn alter_database(ddl: &mut Ddl<'_>, alter: &AlterDatabase) -> Result<&'static str> {
    refuse_twice(&alter.options)?;
    let database = owned_database(ddl, &alter.name)?;
    let mut next = Database::clone(&database);
    for option in &alter.options {
        if &*option.name == "concurrency_control" {
            change_scheme(ddl, &mut next, scheme(option)?)?;
        } else if !common(&mut next, option)? {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("option \"{}\" not recognized", option.name),
            ));
        }
    }
    put(ddl, Some(database), next)?;
    Ok("ALTER DATABASE")
}

/// ALTER DATABASE ... RENAME TO.
pub(super) fn rename_database(ddl: &mut Ddl<'_>, name: &Ident, to: &Ident) -> Result<()> {
    let database = owned_database(ddl, name)?;
    may_create(ddl)?;
    ddl.catalog.lock_name(ddl.transaction, Class::Database, Oid(0), to)?;
    if ddl.snapshot().shared().database(to).is_some() {
        return Err(duplicate(to));
    }
    if database.oid == ddl.catalog.database() {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "current database cannot be renamed",
        ));
    }
    refuse_others(ddl, &database, "database")?;
    let next = Database { name: Arc::clone(to), ..Database::clone(&database) };
    put(ddl, Some(database), next)
}

/// 55006 while other sessions use a database. As PostgreSQL does, it gives them five seconds to end first: a client that
/// has just closed its connection may not be gone yet.
fn refuse_others(ddl: &mut Ddl<'_>, database: &Database, called: &str) -> Result<()> {
    let environment = ddl.transaction.manager().environment().clone();
    let wait = Arc::clone(ddl.transaction.wait());
    let end = environment.clock.now().plus(PATIENCE);
    let (others, prepared) = loop {
        let users = ((ddl.other_sessions)(database.oid), prepared_in(ddl, database)?);
        let now = environment.clock.now();
        if users == (0, 0) || now >= end {
            break users;
        }
        let next = now.plus(LOOK_AGAIN);
        let cell = Arc::new(WaitCell::new());
        if environment.wait(WaitEvent::Background, &cell, Some(next), Some(&wait.cancel))
            == Woken::Cancelled
        {
            return Err(SqlError::cancelled(wait.cancel.requested().unwrap_or_default()));
        }
    };
    let detail = match (others, prepared) {
        (0, 0) => return Ok(()),
        (1, 0) => "There is 1 other session using the database.".to_owned(),
        (_, 0) => format!("There are {others} other sessions using the database."),
        (0, _) => prepared_use(prepared),
        _ => format!(
            "There are {others} other session(s) and {prepared} prepared transaction(s) using the database."
        ),
    };
    Err(SqlError::new(
        SqlState::OBJECT_IN_USE,
        format!("{called} \"{}\" is being accessed by other users", database.name),
    )
    .detail(detail))
}

/// How many prepared transactions a database has.
fn prepared_in(ddl: &Ddl<'_>, database: &Database) -> Result<usize> {
    let notes = PreparedNote::all(ddl.transaction.manager())?;
    Ok(notes.iter().filter(|note| note.database == database.oid).count())
}

fn prepared_use(count: usize) -> String {
    match count {
        1 => "There is 1 prepared transaction using the database.".to_owned(),
        _ => format!("There are {count} prepared transactions using the database."),
    }
}

/// WITH (FORCE): tells the sessions of a database to end; who may not do that to one of them may not to any.
fn end_others(ddl: &mut Ddl<'_>, database: &Database) -> Result<()> {
    /// The role `pg_signal_backend`.
    const SIGNAL_BACKEND: Oid = Oid(4200);
    let prepared = prepared_in(ddl, database)?;
    if prepared > 0 {
        return Err(SqlError::new(
            SqlState::OBJECT_IN_USE,
            format!("database \"{}\" is being used by prepared transactions", database.name),
        )
        .detail(prepared_use(prepared)));
    }
    let snapshot = ddl.snapshot();
    let shared = snapshot.shared();
    let superuser = |role: Oid| shared.role_by_oid(role).is_some_and(|role| role.superuser);
    let sessions = (ddl.sessions_of)(database.oid);
    for &(_, role) in &sessions {
        let denied = |message| Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
        if superuser(role) && !superuser(ddl.user) {
            return denied("must be a superuser to terminate superuser process");
        }
        let may = |group| shared.has_privileges_of(ddl.user, group);
        if !may(role) && !may(SIGNAL_BACKEND) {
            return denied(
                "must be a member of the role whose process is being terminated or member of pg_signal_backend",
            );
        }
    }
    for (pid, _) in sessions {
        (ddl.terminate)(pid);
    }
    Ok(())
}

/// DROP DATABASE.
///
/// # Errors
/// 3D000, 42501, 55006, 42809.
pub fn drop_database(ddl: &mut Ddl<'_>, drop: &DropDatabase) -> Result<&'static str> {
    const TAG: &str = "DROP DATABASE";
    ddl.refuse_block(TAG)?;
    if locked(ddl, &drop.name)?.is_none() && drop.if_exists {
        let message = format!("database \"{}\" does not exist, skipping", drop.name);
        ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
        return Ok(TAG);
    }
    let database = owned_database(ddl, &drop.name)?;
    if database.template {
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, "cannot drop a template database"));
    }
    if database.oid == ddl.catalog.database() {
        return Err(SqlError::new(
            SqlState::OBJECT_IN_USE,
            "cannot drop the currently open database",
        ));
    }
    if drop.force {
        end_others(ddl, &database)?;
    }
    refuse_others(ddl, &database, "database")?;
    if let Some(contents) = ddl.catalog.catalog().snapshot(database.oid) {
        for object in contents.keys() {
            ddl.catalog.remove(ddl.transaction, &contents, object)?;
        }
        for relation in contents.relations() {
            for tree in relation.trees() {
                ddl.catalog.drop_tree(tree);
            }
        }
    }
    let snapshot = ddl.snapshot();
    let kept: Vec<ObjectKey> = snapshot
        .shared()
        .all_settings()
        .filter(|(scope, _)| scope.0 == database.oid)
        .map(|(scope, _)| ObjectKey {
            class: Class::Settings,
            database: scope.0,
            oid: scope.1,
            sub: 0,
        })
        .collect();
    for settings in kept {
        ddl.catalog.remove(ddl.transaction, &snapshot, settings)?;
    }
    let comment = ObjectKey { class: Class::Comment, ..key(database.oid) };
    ddl.catalog.remove(ddl.transaction, &snapshot, comment)?;
    ddl.catalog.remove(ddl.transaction, &snapshot, key(database.oid))?;
    Ok(TAG)
}
