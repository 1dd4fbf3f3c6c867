//! CREATE, ALTER and DROP CONVERSION (`commands/conversioncmds.c`, `catalog/pg_conversion.c`).
//!
//! A conversion is kept and shown. Between two encodings the server converts by its own function, which `pg_catalog` has for
//! every pair that it converts at all, and which the path finds first.

use super::Ddl;
use super::attachment::{self, function};
use super::resolve::{must_own, undefined_schema};
use crate::catalog::attachment::Attachment;
use crate::catalog::builtin;
use crate::catalog::object::{Class, well_known};
use crate::catalog::operator_class::Conversion;
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    AlterConversion, CreateConversion, DropConversion, ObjectName, OperatorPartChange,
};
use crate::sqlstate::SqlState;
use crate::types::encoding::names::{ENCODINGS, encoding_number};
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

/// What a conversion's function takes: the encodings, the text, where the result goes, its length, and whether it may fail.
const ARGUMENTS: [u32; 6] = [oids::INT4, oids::INT4, oids::CSTRING, 2281, oids::INT4, oids::BOOL];

fn encoding(what: &str, name: &str) -> Result<usize> {
    encoding_number(name).ok_or_else(|| {
        let message = format!("{what} encoding \"{name}\" does not exist");
        SqlError::new(SqlState::UNDEFINED_OBJECT, message)
    })
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

fn duplicate(message: String) -> SqlError {
    SqlError::new(SqlState::DUPLICATE_OBJECT, message)
}

/// The conversion of a schema by this name.
fn within(ddl: &mut Ddl<'_>, schema: Oid, name: &str) -> Option<Arc<Conversion>> {
    let snapshot = ddl.snapshot();
    let mut all = snapshot.conversions();
    all.find(|one| one.schema == schema && &*one.name == name).cloned()
}

fn lock_name(ddl: &mut Ddl<'_>, schema: Oid, name: &str) -> Result<()> {
    ddl.catalog.lock_name(ddl.transaction, Class::Conversion, schema, name)
}

/// CREATE CONVERSION.
///
/// # Errors
/// 3F000, 42501, 42704, 42883, 42P17, 42710; 0A000 for a function that is not one of the server's.
pub fn create(ddl: &mut Ddl<'_>, create: &CreateConversion) -> Result<&'static str> {
    let (schema, name) = (ddl.creation_schema(&create.name, 'p')?, create.name.name());
    let source = encoding("source", &create.source)?;
    let target = encoding("destination", &create.target)?;
    if source == 0 || target == 0 {
        let message = "encoding conversion to or from \"SQL_ASCII\" is not supported";
        return Err(invalid(message));
    }
    let called = function(ddl, &create.function, &ARGUMENTS)?;
    if called.result.0 != oids::INT4 {
        let function = &create.function;
        let shown = ddl.plain_type_shown(SqlType::plain(oids::INT4));
        return Err(invalid(format!(
            "encoding conversion function {function} must return type {shown}"
        )));
    }
    let Some(built_in) = builtin::function(called.oid.0) else {
        return Err(SqlError::unsupported("a conversion by a function that users made is"));
    };
    demand_pair(built_in.oid, source, target)?;
    lock_name(ddl, schema.oid, name)?;
    if within(ddl, schema.oid, name).is_some() {
        return Err(duplicate(format!("conversion \"{name}\" already exists")));
    }
    if create.default {
        let snapshot = ddl.snapshot();
        let taken = snapshot.conversions().any(|one| {
            one.default
                && one.schema == schema.oid
                && (one.source as usize, one.target as usize) == (source, target)
        });
        if taken {
            let (from, to) = (ENCODINGS[source], ENCODINGS[target]);
            return Err(duplicate(format!("default conversion for {from} to {to} already exists")));
        }
    }
    ddl.hold_schema(&schema)?;
    ddl.owner_to_stay()?;
    let next = Attachment::Conversion(Arc::new(Conversion {
        oid: ddl.catalog.next_oid()?,
        schema: schema.oid,
        name: Arc::clone(name),
        owner: ddl.user,
        source: source as u32,
        target: target as u32,
        function: called.oid,
        default: create.default,
    }));
    attachment::put(ddl, &next)?;
    Ok("CREATE CONVERSION")
}

/// XX000 for a function of the server that converts between other encodings, which it says when it is tried
/// (`CHECK_ENCODING_CONVERSION_ARGS`).
fn demand_pair(function: u32, source: usize, target: usize) -> Result<()> {
    let Some((from, to)) = builtin::conversion_of(function) else { return Ok(()) };
    for (what, wanted, given) in [("source", from, source), ("destination", to, target)] {
        if let Some(wanted) = wanted
            && wanted as usize != given
        {
            return Err(SqlError::new(
                SqlState::INTERNAL_ERROR,
                format!(
                    "expected {what} encoding \"{}\", but got \"{}\"",
                    ENCODINGS[wanted as usize], ENCODINGS[given]
                ),
            ));
        }
    }
    Ok(())
}

fn undefined(name: &ObjectName) -> SqlError {
    let message = format!("conversion \"{name}\" does not exist");
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}

/// The conversion that a name means; an error says whether it is built in.
fn find(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Option<Arc<Conversion>>> {
    let snapshot = ddl.snapshot();
    let schemas = match name.schema() {
        Some(schema) => {
            vec![snapshot.schema(schema).ok_or_else(|| undefined_schema(schema))?.oid]
        }
        None => ddl.path().schemas,
    };
    for schema in &schemas {
        if let Some(found) = within(ddl, *schema, name.name()) {
            return Ok(Some(found));
        }
    }
    let in_catalog = name.schema().is_none() || schemas.contains(&well_known::PG_CATALOG);
    if in_catalog && builtin::is_conversion(name.name()) {
        return Err(match ddl.superuser() {
            true => SqlError::unsupported("a change of a built-in conversion is"),
            false => must_own("conversion", name.name()),
        });
    }
    Ok(None)
}

/// The one that a statement names, locked; the user owns it.
fn owned(ddl: &mut Ddl<'_>, name: &ObjectName, by_schema: bool) -> Result<Arc<Conversion>> {
    let found = find(ddl, name)?.ok_or_else(|| undefined(name))?;
    let key = ddl.catalog.key(Class::Conversion, found.oid);
    ddl.catalog.lock(ddl.transaction, key)?;
    let snapshot = ddl.snapshot();
    let found = snapshot.conversion(found.oid).cloned();
    let found = found.ok_or_else(|| super::resolve::dropped_meanwhile("conversion"))?;
    let owns = |owner: Oid| snapshot.shared().has_privileges_of(ddl.user, owner);
    let schema = snapshot.schema_by_oid(found.schema).filter(|_| by_schema);
    if owns(found.owner) || schema.is_some_and(|schema| owns(schema.owner)) {
        return Ok(found);
    }
    Err(must_own("conversion", name.name()))
}

/// The OID of the conversion that COMMENT names.
///
/// # Errors
/// 42704, 42501.
pub(super) fn commented(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Oid> {
    Ok(owned(ddl, name, false)?.oid)
}

/// ALTER CONVERSION.
///
/// # Errors
/// 42704, 42501, 42710, 3F000.
pub fn alter(ddl: &mut Ddl<'_>, alter: &AlterConversion) -> Result<&'static str> {
    const TAG: &str = "ALTER CONVERSION";
    let found = owned(ddl, &alter.name, false)?;
    let mut next = Conversion::clone(&found);
    match &alter.change {
        OperatorPartChange::Owner(role) => {
            let owner = ddl.role_to_stay(role)?;
            if owner.oid == found.owner {
                return Ok(TAG);
            }
            ddl.may_give(&owner, found.schema)?;
            next.owner = owner.oid;
        }
        OperatorPartChange::Rename(name) => next.name = Arc::clone(name),
        OperatorPartChange::Schema(name) => {
            let name = ObjectName { parts: vec![Arc::clone(name), Arc::clone(&found.name)], at: 0 };
            let schema = ddl.creation_schema(&name, 'p')?;
            if schema.oid == found.schema {
                return Ok(TAG);
            }
            ddl.hold_schema(&schema)?;
            next.schema = schema.oid;
        }
        OperatorPartChange::Add(_) | OperatorPartChange::Drop(_) => {}
    }
    if (next.schema, &next.name) != (found.schema, &found.name)
        || matches!(alter.change, OperatorPartChange::Rename(_))
    {
        lock_name(ddl, next.schema, &next.name)?;
        if within(ddl, next.schema, &next.name).is_some() {
            let snapshot = ddl.snapshot();
            let schema = snapshot.schema_by_oid(next.schema).map(|one| one.name.to_string());
            return Err(duplicate(format!(
                "conversion \"{}\" already exists in schema \"{}\"",
                next.name,
                schema.unwrap_or_default()
            )));
        }
    }
    attachment::put(ddl, &Attachment::Conversion(Arc::new(next)))?;
    Ok(TAG)
}

/// DROP CONVERSION.
///
/// # Errors
/// 42704, 42501, 2BP01.
pub fn drop(ddl: &mut Ddl<'_>, drop: &DropConversion) -> Result<&'static str> {
    let mut going = Vec::new();
    for name in &drop.names {
        if drop.if_exists {
            let absent = name.schema().filter(|name| ddl.snapshot().schema(name).is_none());
            let absent = match absent {
                Some(schema) => Some(format!("schema \"{schema}\"")),
                None => find(ddl, name)?.is_none().then(|| format!("conversion \"{name}\"")),
            };
            if let Some(absent) = absent {
                let message = format!("{absent} does not exist, skipping");
                ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
                continue;
            }
        }
        going.push(Attachment::Conversion(owned(ddl, name, true)?));
    }
    going.sort_by_key(Attachment::oid);
    going.dedup_by_key(|one| one.oid());
    attachment::drop_all(ddl, &going, drop.cascade)?;
    Ok("DROP CONVERSION")
}
