//! DROP FUNCTION, PROCEDURE and ROUTINE. What no user has made does not exist or is PostgreSQL's own; scripts name
//! it with IF EXISTS.

use super::Ddl;
use super::privilege::function;
use super::routine::told_as;
use crate::catalog::builtin::Kind;
use crate::error::{Result, SqlError};
use crate::parse::ast::{DropRoutine, ObjectName, TypeName};
use crate::sqlstate::SqlState;

/// DROP FUNCTION, PROCEDURE, ROUTINE.
///
/// # Errors
/// 42883, 42725, 42809, 42704, 3F000; 2BP01 for those of the system.
pub fn drop_routine(ddl: &mut Ddl<'_>, drop: &DropRoutine) -> Result<&'static str> {
    let (noun, tag) = match drop.word {
        "PROCEDURE" => ("procedure", "DROP PROCEDURE"),
        "ROUTINE" => ("routine", "DROP ROUTINE"),
        "AGGREGATE" => ("aggregate", "DROP AGGREGATE"),
        _ => ("function", "DROP FUNCTION"),
    };
    let mut going = Vec::new();
    for (name, arguments) in &drop.routines {
        if drop.if_exists
            && let Some(missing) = missing_part(ddl, name, arguments.as_deref())
        {
            ddl.notice(
                SqlState::SUCCESSFUL_COMPLETION,
                format!("{missing} does not exist, skipping"),
            );
            continue;
        }
        let found = super::routine::named(ddl, name, arguments.as_ref());
        if let Some(made) = found.map_err(|error| told_as(error, drop.word))? {
            super::routine::may_drop(ddl, &made, drop.word)?;
            going.push(made);
            continue;
        }
        match function(ddl, name, arguments.as_deref()) {
            Ok(found) => {
                let types: Vec<String> =
                    found.arguments.iter().map(|ty| crate::types::format_type(*ty, None)).collect();
                let shown = format!("{}({})", found.name, types.join(", "));
                if noun == "aggregate" && found.kind != Kind::Aggregate {
                    let message = format!("function {shown} is not an aggregate");
                    return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
                }
                if noun == "procedure" {
                    let message = format!("{shown} is not a procedure");
                    return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
                }
                if let Some(extension) = found.extension {
                    let shown = format!("function {}", ddl.display_function(found));
                    return Err(super::extension::required(&shown, extension));
                }
                let shown = ddl.display_function(found);
                return Err(SqlError::new(
                    SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                    format!(
                        "cannot drop function {shown} because it is required by the database system"
                    ),
                ));
            }
            Err(error) if error.state() != SqlState::UNDEFINED_FUNCTION => {
                return Err(told_as(error.nowhere(), drop.word));
            }
            Err(_) if drop.if_exists => {
                let types: Vec<String> =
                    arguments.iter().flat_map(|all| all.iter()).map(as_written).collect();
                let name = dotted(name);
                let message =
                    format!("{noun} {name}({}) does not exist, skipping", types.join(","));
                ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            }
            Err(error) => {
                return Err(told_as(error.nowhere(), drop.word));
            }
        }
    }
    super::routine::drop_made(ddl, going, drop.cascade)?;
    Ok(tag)
}

/// The schema of a routine, or the type of an argument with its schema, that is not there: a routine over it is not either.
fn missing_part(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    arguments: Option<&[TypeName]>,
) -> Option<String> {
    let snapshot = ddl.snapshot();
    let schema_of = |name: &ObjectName| {
        let schema = name.schema().filter(|schema| snapshot.schema(schema).is_none());
        schema.map(|schema| format!("schema \"{schema}\""))
    };
    schema_of(name).or_else(|| {
        arguments.unwrap_or_default().iter().find_map(|ty| {
            schema_of(&ty.name).or_else(|| {
                let found = ddl.semantics.type_of(&snapshot, ty);
                found.is_err().then(|| format!("type \"{}\"", as_written(ty)))
            })
        })
    })
}

/// A name as it was written, without quotes.
fn dotted(name: &ObjectName) -> String {
    name.parts.join(".")
}

fn as_written(ty: &TypeName) -> String {
    format!("{}{}", dotted(&ty.name), if ty.dimensions > 0 { "[]" } else { "" })
}
