//! Extensions: there is one, which every database begins with.

use super::Ddl;
use crate::error::{Result, SqlError};
use crate::parse::ast::{CreateExtension, Drop};
use crate::sqlstate::SqlState;
use crate::types::Oid;

/// The extension that is there, and its OID.
const PLPGSQL: (&str, Oid) = ("plpgsql", Oid(13559));
/// Where PostgreSQL looks for extensions, as clients are told of those that are not there.
const DIRECTORY: &str = "/usr/share/postgresql/15/extension";
/// An extension that can be had: a row of `pg_available_extension_versions`, and the only version that there is.
#[derive(Debug)]
pub struct Available {
    /// `name`.
    pub name: &'static str,
    /// `version`.
    pub version: &'static str,
    /// `comment`.
    pub comment: &'static str,
    /// `trusted`: not for superusers only.
    pub trusted: bool,
    /// `relocatable`.
    pub relocatable: bool,
    /// `schema`, where its objects have to be in that.
    pub schema: Option<&'static str>,
}

/// All of them.
pub const AVAILABLE: &[Available] = &[Available {
    name: PLPGSQL.0,
    version: "1.0",
    comment: "PL/pgSQL procedural language",
    trusted: true,
    relocatable: false,
    schema: Some("pg_catalog"),
}];

/// `pg_extension`.
pub const PG_EXTENSION: Oid = Oid(3079);

/// CREATE EXTENSION.
///
/// # Errors
/// 42710 for the one that is there, 0A000 for all others.
pub fn create_extension(ddl: &mut Ddl<'_>, create: &CreateExtension) -> Result<&'static str> {
    let name = &create.name;
    check_name(name)?;
    if **name != *PLPGSQL.0 {
        return Err(unavailable(name));
    }
    let message = format!("extension \"{name}\" already exists");
    if !create.if_not_exists {
        return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
    }
    ddl.notice(SqlState::DUPLICATE_OBJECT, format!("{message}, skipping"));
    Ok("CREATE EXTENSION")
}

/// What is said of an extension that is not there.
pub fn unavailable(name: &str) -> SqlError {
    let message = format!("extension \"{name}\" is not available");
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
        .detail(format!(
            "Could not open extension control file \"{DIRECTORY}/{name}.control\": No such file or directory."
        ))
        .hint("The extension must first be installed on the system where PostgreSQL is running.")
}

/// What names of extensions may not have (`check_valid_extension_name`): they are parts of file names.
fn check_name(name: &str) -> Result<()> {
    let detail = if name.is_empty() {
        "Extension names must not be empty."
    } else if name.contains("--") {
        "Extension names must not contain \"--\"."
    } else if name.starts_with('-') || name.ends_with('-') {
        "Extension names must not begin or end with \"-\"."
    } else if name.contains(['/', '\\']) {
        "Extension names must not contain directory separator characters."
    } else {
        return Ok(());
    };
    let message = format!("invalid extension name: \"{name}\"");
    Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).detail(detail))
}

/// DROP EXTENSION.
///
/// # Errors
/// 42704 for what is not there, 0A000 for what is.
pub fn drop_extension(ddl: &mut Ddl<'_>, drop: &Drop) -> Result<&'static str> {
    for name in &drop.names {
        if **name.name() == *PLPGSQL.0 {
            return Err(SqlError::unsupported("DROP EXTENSION is"));
        }
        if !drop.if_exists {
            return Err(absent(name.name()));
        }
        ddl.notice(
            SqlState::SUCCESSFUL_COMPLETION,
            format!("extension \"{name}\" does not exist, skipping"),
        );
    }
    Ok("DROP EXTENSION")
}

/// The OID of an extension that the user owns.
///
/// # Errors
/// 42704, 42501.
pub fn owned_extension(ddl: &mut Ddl<'_>, name: &str) -> Result<Oid> {
    if name != PLPGSQL.0 {
        return Err(absent(name));
    }
    if !ddl.superuser() {
        let message = format!("must be owner of extension {name}");
        return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
    }
    Ok(PLPGSQL.1)
}

fn absent(name: &str) -> SqlError {
    let message = format!("extension \"{name}\" does not exist");
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}
