//! CREATE LANGUAGE with a handler (`CreateProceduralLanguage`). Dumps of old versions have it, of the languages that every
//! database begins with: these are made anew as they are, and there are no others.

use super::Ddl;
use super::privilege::function_of;
use super::resolve::must_own;
use crate::catalog::builtin;
use crate::catalog::extension::{self, AVAILABLE};
use crate::catalog::routine;
use crate::error::{Result, SqlError};
use crate::parse::ast::{CreateLanguage, Drop, ObjectName};
use crate::sqlstate::SqlState;
use crate::types::{Oid, oids};
use std::borrow::Cow;

/// `language_handler`.
const LANGUAGE_HANDLER: u32 = 2280;
/// `internal`.
const INTERNAL: u32 = 2281;

/// The columns of `pg_language` that say what a language is: lanname, lanpltrusted, lanplcallfoid, laninline, lanvalidator.
const COLUMNS: [usize; 5] = [1, 4, 5, 6, 7];

/// 42501 for who may not write routines in a language; in `internal`, which is not trusted, only superusers may.
pub(super) fn demand_usable(ddl: &mut Ddl<'_>, language: u32) -> Result<()> {
    let (user, snapshot) = (ddl.user, ddl.snapshot());
    let (name, may) = match language {
        routine::INTERNAL => ("internal", ddl.superuser()),
        routine::SQL => ("sql", snapshot.may_use_language(user, Oid(language))),
        _ => ("plpgsql", snapshot.may_use_language(user, Oid(language))),
    };
    if may { Ok(()) } else { Err(denied(name)) }
}

/// 42501 for a language.
pub fn denied(name: &str) -> SqlError {
    let message = format!("permission denied for language {name}");
    SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
}

/// CREATE LANGUAGE.
///
/// # Errors
/// 42501, 42883, 42809, 42710; 0A000 for languages that are not there.
pub fn create_language(ddl: &mut Ddl<'_>, create: &CreateLanguage) -> Result<&'static str> {
    let name = &create.name;
    if !ddl.superuser() {
        let message = "must be superuser to create custom procedural language";
        return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
    }
    let handler = function_of(ddl, &create.handler, Some(&[]))?;
    if handler.result != LANGUAGE_HANDLER {
        let message = format!("function {} must return type language_handler", create.handler);
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
    }
    let mut called = |function: &Option<ObjectName>, argument: u32| match function {
        Some(function) => Ok::<_, SqlError>(function_of(ddl, function, Some(&[argument]))?.oid),
        None => Ok(0),
    };
    let inline = called(&create.inline, INTERNAL)?;
    let validator = called(&create.validator, oids::OID)?;
    let asked = [
        name.to_string(),
        if create.trusted { "t" } else { "f" }.to_owned(),
        handler.oid.to_string(),
        inline.to_string(),
        validator.to_string(),
    ];
    match known(name) {
        Some(_) if !create.replace => {
            let message = format!("language \"{name}\" already exists");
            Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message))
        }
        Some(known) if known == asked => Ok("CREATE LANGUAGE"),
        _ => Err(SqlError::unsupported(format!("the language \"{name}\" is"))),
    }
}

/// What a language of this name is, if there is one.
fn known(name: &str) -> Option<[String; 5]> {
    let rows = builtin::relation("pg_language").into_iter().flat_map(|languages| languages.rows());
    let of_row = |row: builtin::copy_text::Row| {
        COLUMNS.map(|at| row.get(at).unwrap_or_default().into_owned())
    };
    let mut all = rows.map(of_row);
    all.find(|known| known[0] == name)
}

/// The name of a language that there is.
pub(super) fn name(oid: Oid) -> Cow<'static, str> {
    let mut rows = builtin::relation("pg_language").into_iter().flat_map(|known| known.rows());
    let row = rows.find(|row| row.get(0).is_some_and(|known| known.parse() == Ok(oid.0)));
    row.and_then(|row| row.get(1)).unwrap_or_default()
}

/// The extension that has a language of this name as its member.
fn extension_of(name: &str) -> Option<&'static str> {
    AVAILABLE.iter().map(|known| known.name).find(|known| {
        let member = extension::available(known).and_then(|found| found.language);
        member.is_some() && *known == name
    })
}

/// DROP LANGUAGE.
///
/// # Errors
/// 42704 for what is not there, 42501, 2BP01 for what is: an extension or the system requires it.
pub fn drop_language(ddl: &mut Ddl<'_>, drop: &Drop) -> Result<&'static str> {
    for name in &drop.names {
        let name = &**name.name();
        let is_there = match extension_of(name) {
            Some(extension) => ddl.snapshot().extension(extension).is_some(),
            None => known(name).is_some(),
        };
        if !is_there {
            let message = format!("language \"{name}\" does not exist");
            if !drop.if_exists {
                return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
            }
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
            continue;
        }
        if !ddl.superuser() {
            return Err(must_own("language", name));
        }
        return Err(match extension_of(name) {
            Some(extension) => super::extension::required(&format!("language {name}"), extension),
            None => {
                let message = format!(
                    "cannot drop language {name} because it is required by the database system"
                );
                SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
            }
        });
    }
    Ok("DROP LANGUAGE")
}
