//! Names and OIDs: `regclass` and its kin, visibility, the search path, comments.

use super::{Call, SessionCatalog};
use crate::bind::type_name::{built_in, finds_type};
use crate::catalog::attachment::OperatorOf;
use crate::catalog::builtin;
use crate::catalog::object::well_known;
use crate::catalog::quote::{identifier, qualified};
use crate::catalog::search_path::split_name;
use crate::catalog::snapshot::Named;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::format_type;
use crate::types::{Datum, Oid, SqlType, array, oids};
use std::sync::Arc;

fn invalid_name() -> SqlError {
    SqlError::new(SqlState::INVALID_NAME, "invalid name syntax")
}

/// The schema a name gives, and the name itself.
fn qualified_name(session: &SessionCatalog<'_>, text: &str) -> Result<(Option<String>, String)> {
    within_database(session, split_name(text).ok_or_else(invalid_name)?)
}

/// The same by a name's parts, of which the first may be the database.
fn within_database(
    session: &SessionCatalog<'_>,
    mut names: Vec<String>,
) -> Result<(Option<String>, String)> {
    let parts: Vec<Arc<str>> = names.iter().map(|name| Arc::from(name.as_str())).collect();
    session.snapshot.demand_qualified(&parts)?;
    let name = names.pop().ok_or_else(invalid_name)?;
    Ok((names.pop(), name))
}

/// The same of a relation, of which errors speak otherwise.
fn relation_in_database(
    session: &SessionCatalog<'_>,
    text: &str,
) -> Result<(Option<String>, String)> {
    let names = split_name(text).ok_or_else(invalid_name)?;
    let shown = names.join(".");
    within_database(session, names).map_err(|error| match error.state() {
        SqlState::FEATURE_NOT_SUPPORTED => SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("cross-database references are not implemented: \"{shown}\""),
        ),
        _ => SqlError::new(
            SqlState::SYNTAX_ERROR,
            format!("improper relation name (too many dotted names): {shown}"),
        ),
    })
}

/// A name that nothing stands before.
fn bare_name(text: &str) -> Result<String> {
    match split_name(text).ok_or_else(invalid_name)?.as_slice() {
        [name] => Ok(name.clone()),
        _ => Err(invalid_name()),
    }
}

/// The schema that a name gives.
fn named_schema(session: &SessionCatalog<'_>, name: &str) -> Result<Oid> {
    let found = session.snapshot.schema(name).ok_or_else(|| undefined("schema", name))?;
    if session.demands_usage {
        session.snapshot.demand_usage(session.user(), found)?;
    }
    Ok(found.oid)
}

fn find(session: &SessionCatalog<'_>, schema: Option<&str>, name: &str) -> Result<Option<Named>> {
    match schema {
        None => Ok(session.snapshot.find(&session.settings.path.get().schemas, name)),
        Some(schema) => Ok(session.snapshot.named(named_schema(session, schema)?, name)),
    }
}

/// The schemas a name may stand in: the one it gives, or those of the search path.
fn namespaces(session: &SessionCatalog<'_>, schema: Option<&str>) -> Result<Vec<u32>> {
    match schema {
        Some(schema) => Ok(vec![named_schema(session, schema)?.0]),
        None => Ok(session.settings.path.get().schemas.iter().map(|schema| schema.0).collect()),
    }
}

/// A type by its name: SQL's words, the catalog's name, `[]` behind it.
fn type_named(session: &SessionCatalog<'_>, text: &str) -> Result<Option<u32>> {
    let empty = text.trim().is_empty();
    let checked = if empty { Ok(()) } else { crate::parse::check_type_name(text) };
    checked.map_err(|error| error.context(format!("invalid type name \"{text}\"")))?;
    let text = text.trim();
    if let Some(element) = text.strip_suffix("[]") {
        return Ok(type_named(session, element)?
            .map(builtin::array_type)
            .filter(|array| *array != 0));
    }
    let bare = text.split_once('(').map_or(text, |(name, _)| name.trim_end());
    let lower = bare.to_ascii_lowercase();
    let word = match lower.as_str() {
        "int" | "integer" => "int4",
        "bigint" => "int8",
        "smallint" => "int2",
        "real" => "float4",
        "double precision" | "float" => "float8",
        "boolean" => "bool",
        "decimal" | "dec" => "numeric",
        "character varying" | "char varying" => "varchar",
        "character" => "bpchar",
        "timestamp without time zone" => "timestamp",
        "timestamp with time zone" => "timestamptz",
        "time without time zone" => "time",
        "time with time zone" => "timetz",
        "bit varying" => "varbit",
        "\"char\"" => return Ok(Some(oids::CHAR)),
        "char" => "bpchar",
        _ => "",
    };
    if !word.is_empty() {
        return Ok(builtin::type_by_name(builtin::PG_CATALOG, word).map(|ty| ty.oid));
    }
    let names = split_name(bare).ok_or_else(|| {
        SqlError::new(SqlState::SYNTAX_ERROR, format!("invalid type name \"{text}\""))
    })?;
    let (schema, name) = within_database(session, names)?;
    for namespace in namespaces(session, schema.as_deref())? {
        if let Some(ty) = builtin::type_by_name(namespace, &name) {
            return Ok(Some(ty.oid));
        }
        if let Some(found) = session.snapshot.type_named(Oid(namespace), &name) {
            return Ok(Some(found.0));
        }
    }
    Ok(None)
}

/// Functions of a name along the path, `arguments` checked if they are given.
fn procedures(
    session: &SessionCatalog<'_>,
    text: &str,
    arguments: Option<&[u32]>,
) -> Result<Vec<u32>> {
    let (schema, name) = qualified_name(session, text)?;
    let mut spaces = namespaces(session, schema.as_deref())?;
    if schema.is_none() {
        spaces.retain(|space| !session.snapshot.is_temporary_schema(Oid(*space)));
    }
    let made = session.snapshot.routines_named(&name);
    let made = made
        .iter()
        .filter(|found| spaces.contains(&found.schema.0))
        .filter(|found| arguments.is_none_or(|types| found.input_types() == *types))
        .map(|found| found.oid.0);
    Ok(builtin::functions_named(&name)
        .iter()
        .filter(|found| {
            let schema = session.snapshot.function_schema(found);
            schema.is_some_and(|schema| spaces.contains(&schema.0))
        })
        .filter(|found| arguments.is_none_or(|types| *found.arguments == *types))
        .map(|found| found.oid)
        .chain(made)
        .collect())
}

/// `name(type, type)` in its parts.
fn signature(session: &SessionCatalog<'_>, text: &str) -> Result<(String, Vec<u32>)> {
    let (name, rest) = text.split_once('(').ok_or_else(no_parenthesis)?;
    let inner = inner(rest)?;
    let mut types = Vec::new();
    if inner.trim().is_empty() {
        return Ok((name.to_owned(), types));
    }
    for ty in inner.split(',').map(str::trim) {
        if ty.is_empty() {
            return Err(SqlError::new(
                SqlState::INVALID_TEXT_REPRESENTATION,
                "expected a type name",
            ));
        }
        types.push(type_named(session, ty)?.ok_or_else(|| undefined("type", ty))?);
    }
    Ok((name.to_owned(), types))
}

/// Operators of a name, which may have a schema in front.
fn operators<'s>(session: &SessionCatalog<'s>, text: &str) -> Result<Vec<OperatorOf<'s>>> {
    let (schema, name) = match text.rsplit_once('.') {
        Some((schema, name)) => {
            let mut names = split_name(schema).ok_or_else(invalid_name)?;
            names.push(name.to_owned());
            (within_database(session, names)?.0, name)
        }
        None => (None, text),
    };
    let schemas = namespaces(session, schema.as_deref())?;
    let mut named = session.snapshot.operators_named(name, true);
    named.extend(session.snapshot.operators_named(name, false));
    named.retain(|found| schemas.contains(&found.schema.0));
    Ok(named)
}

/// The operator that `name(type,type)` names, NONE for no operand, if there is one.
pub(super) fn operator_of_signature(
    session: &SessionCatalog<'_>,
    text: &str,
) -> Result<Option<u32>> {
    let (name, sides) = text.split_once('(').ok_or_else(no_parenthesis)?;
    let sides = inner(sides)?;
    let mut types = Vec::new();
    for side in sides.split(',').map(str::trim).filter(|side| !side.is_empty()) {
        types.push(match side.eq_ignore_ascii_case("none") {
            true => 0,
            false => type_named(session, side)?.ok_or_else(|| undefined("type", side))?,
        });
    }
    let (left, right) = match types[..] {
        [left, right] => (left, right),
        [_] => {
            return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, "missing argument")
                .hint("Use NONE to denote the missing argument of a unary operator."));
        }
        _ => {
            return Err(SqlError::new(SqlState::TOO_MANY_ARGUMENTS, "too many arguments")
                .hint("Provide two argument types for operator."));
        }
    };
    let found = match operators(session, name.trim()) {
        Err(error) if error.state() == SqlState::INVALID_SCHEMA_NAME => Vec::new(),
        found => found?,
    };
    Ok(found.iter().find(|one| (one.left, one.right) == (left, right)).map(|one| one.oid.0))
}

fn no_operator(text: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("operator does not exist: {text}"))
}

fn no_parenthesis() -> SqlError {
    SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "expected a left parenthesis")
}

/// What stands in front of the closing parenthesis.
fn inner(text: &str) -> Result<&str> {
    text.trim_end().strip_suffix(')').ok_or_else(|| {
        SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "expected a right parenthesis")
    })
}

fn undefined(kind: &str, name: &str) -> SqlError {
    let state = match kind {
        "relation" => SqlState::UNDEFINED_TABLE,
        "function" => SqlState::UNDEFINED_FUNCTION,
        "schema" => SqlState::INVALID_SCHEMA_NAME,
        _ => SqlState::UNDEFINED_OBJECT,
    };
    SqlError::new(state, format!("{kind} \"{name}\" does not exist"))
}

/// The value that a text of a reg* type names. Numbers have been read already.
pub(super) fn reg_in(session: &SessionCatalog<'_>, reg_type: u32, text: &str) -> Result<u32> {
    match reg_type {
        oids::REGCLASS => {
            let (schema, name) = relation_in_database(session, text)?;
            match find(session, schema.as_deref(), &name)? {
                Some(Named::Relation(oid) | Named::Index { index: oid, .. }) => Ok(oid.0),
                None if schema.as_deref().is_none_or(|schema| schema == "pg_catalog")
                    && let Some(index) = builtin::index_named(&name) =>
                {
                    Ok(index)
                }
                None => {
                    let shown = schema.map_or(name.clone(), |schema| format!("{schema}.{name}"));
                    Err(undefined("relation", &shown))
                }
            }
        }
        oids::REGTYPE => type_named(session, text)?.ok_or_else(|| undefined("type", text)),
        oids::REGNAMESPACE => {
            let name = bare_name(text)?;
            let found = session.snapshot.schema(&name);
            found.map(|schema| schema.oid.0).ok_or_else(|| undefined("schema", &name))
        }
        oids::REGROLE => {
            let name = bare_name(text)?;
            let found = session.snapshot.shared().role(&name);
            found.map(|role| role.oid.0).ok_or_else(|| undefined("role", &name))
        }
        oids::REGPROC => match procedures(session, text, None)?.as_slice() {
            [one] => Ok(*one),
            [] => Err(undefined("function", text)),
            _ => Err(SqlError::new(
                SqlState::AMBIGUOUS_FUNCTION,
                format!("more than one function named \"{text}\""),
            )),
        },
        oids::REGPROCEDURE => {
            let (name, types) = signature(session, text)?;
            let found = procedures(session, &name, Some(&types))?.first().copied();
            found.ok_or_else(|| undefined("function", text))
        }
        oids::REGCOLLATION => {
            let (schema, name) = qualified_name(session, text)?;
            let visible = namespaces(session, schema.as_deref())?.contains(&builtin::PG_CATALOG);
            builtin::collation_named(&name).filter(|_| visible).ok_or_else(|| {
                let shown = schema.map_or(name.clone(), |schema| format!("{schema}.{name}"));
                SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!("collation \"{shown}\" for encoding \"UTF8\" does not exist"),
                )
            })
        }
        oids::REGOPER => match operators(session, text)?.as_slice() {
            [one] => Ok(one.oid.0),
            [] => Err(no_operator(text)),
            _ => Err(SqlError::new(
                SqlState::AMBIGUOUS_FUNCTION,
                format!("more than one operator named {text}"),
            )),
        },
        oids::REGOPERATOR => operator_of_signature(session, text)?.ok_or_else(|| no_operator(text)),
        other => {
            Err(SqlError::unsupported(format!("input of type {} is", format_type(other, None))))
        }
    }
}

/// Where a schema stands in the search path; what is built in is found before all others, unless the path says otherwise.
fn place_in_path(session: &SessionCatalog<'_>, schema: Oid) -> Option<usize> {
    if session.snapshot.is_temporary_schema(schema) {
        return None;
    }
    match session.settings.path.get().schemas.iter().position(|known| *known == schema) {
        Some(at) => Some(at + 1),
        None => (schema.0 == builtin::PG_CATALOG).then_some(0),
    }
}

/// Whether a call by name alone could mean this function of a schema: none with the same arguments stands before it
/// (`FunctionIsVisible`).
fn is_function_visible(
    session: &SessionCatalog<'_>,
    found: &builtin::ProcedureOf<'_>,
    schema: Oid,
) -> bool {
    place_in_path(session, schema).is_some()
        && functions_along(session, found.name).contains(&Oid(found.oid))
}

/// The functions of a name that a call by name alone could mean: of those with the same arguments the first one in the search path
/// (`FuncnameGetCandidates`).
fn functions_along(session: &SessionCatalog<'_>, name: &str) -> Vec<Oid> {
    let snapshot = session.snapshot;
    let built_in = builtin::functions_named(name).iter().map(|found| Oid(found.oid));
    let made = snapshot.routines_named(name);
    let all = built_in.chain(made.iter().map(|routine| routine.oid));
    let mut candidates = Vec::new();
    for oid in all {
        let Some(found) = snapshot.procedure(oid) else { continue };
        let schema = snapshot.function_schema(&found);
        let Some(place) = schema.and_then(|schema| place_in_path(session, schema)) else {
            continue;
        };
        candidates.push((place, found));
    }
    candidates.sort_by_key(|(place, _)| *place);
    let mut along: Vec<&builtin::ProcedureOf<'_>> = Vec::with_capacity(candidates.len());
    for (_, found) in &candidates {
        if !along.iter().any(|known| known.arguments == found.arguments) {
            along.push(found);
        }
    }
    along.into_iter().map(|found| Oid(found.oid)).collect()
}

/// The text of a reg* value: its name, qualified where the search path would not find it; `-` for 0, a number for what is
/// not there.
pub(super) fn reg_out(session: &SessionCatalog<'_>, reg_type: u32, value: u32) -> String {
    if value == 0 {
        let operator = matches!(reg_type, oids::REGOPER | oids::REGOPERATOR);
        return if operator { "0" } else { "-" }.to_owned();
    }
    let found = match reg_type {
        oids::REGCLASS => relation_name(session, Oid(value)),
        oids::REGTYPE => known_type_name(session, value),
        oids::REGNAMESPACE => {
            session.snapshot.schema_by_oid(Oid(value)).map(|schema| identifier(&schema.name))
        }
        oids::REGROLE => {
            let shared = session.snapshot.shared();
            shared.role_by_oid(Oid(value)).map(|role| identifier(&role.name))
        }
        // A name that several functions have does not say which one is meant.
        oids::REGPROC => session.snapshot.procedure(Oid(value)).and_then(|found| {
            let schema = session.snapshot.function_schema(&found)?;
            let shown = session.snapshot.schema_by_oid(schema);
            let shown = shown.map_or("pg_catalog", |schema| &*schema.name);
            Some(match functions_along(session, found.name)[..] {
                [only] if only == Oid(value) => identifier(found.name),
                _ => qualified(shown, found.name),
            })
        }),
        oids::REGPROCEDURE => session.snapshot.procedure(Oid(value)).and_then(|found| {
            let types: Vec<String> = found
                .arguments
                .iter()
                .map(|ty| known_type_name(session, *ty).unwrap_or_else(|| format_type(*ty, None)))
                .collect();
            let schema = session.snapshot.function_schema(&found)?;
            // Those of `information_schema` are shown as if they were found.
            let shown_plain =
                !(found.extension.is_some() || found.is_made()) && schema.0 != builtin::PG_CATALOG;
            let hidden = !shown_plain && !is_function_visible(session, &found, schema);
            let name = match session.snapshot.schema_by_oid(schema).filter(|_| hidden) {
                Some(schema) => qualified(&schema.name, found.name),
                None => identifier(found.name),
            };
            Some(format!("{name}({})", types.join(",")))
        }),
        oids::REGOPER | oids::REGOPERATOR => session.snapshot.operator(Oid(value)).map(|found| {
            let (path, snapshot) = (&session.settings.path.get().schemas, session.snapshot);
            if reg_type == oids::REGOPER {
                // A name that several operators have is shown with its schema.
                let named = |prefix| snapshot.operators_along(path, found.name, prefix);
                let several = named(true).len() + named(false).len() > 1;
                let own = snapshot.schema_by_oid(found.schema).filter(|_| several);
                return match own {
                    Some(schema) => format!("{}.{}", identifier(&schema.name), found.name),
                    None => snapshot.operator_name(path, &found).into_owned(),
                };
            }
            let shown =
                |ty: Oid| known_type_name(session, ty.0).unwrap_or_else(|| format_type(ty.0, None));
            snapshot.operator_shown(path, &found, &shown)
        }),
        oids::REGCOLLATION => builtin::collation(value).map(identifier),
        _ => None,
    };
    found.unwrap_or_else(|| value.to_string())
}

/// A relation's or index's name, qualified where the search path would not find it.
pub(super) fn relation_name(session: &SessionCatalog<'_>, oid: Oid) -> Option<String> {
    let snapshot = session.snapshot;
    let (schema, name, named) = match snapshot.index(oid) {
        Some((table, index)) => {
            (&table.schema, &index.name, Named::Index { index: oid, table: table.oid })
        }
        None => {
            let Some(relation) = snapshot.relation(oid) else {
                return builtin::index_name(oid.0).map(identifier);
            };
            (&relation.schema, &relation.name, Named::Relation(oid))
        }
    };
    if snapshot.find(&session.settings.path.get().schemas, name) == Some(named) {
        Some(identifier(name))
    } else {
        Some(qualified(&schema.1, name))
    }
}

/// A relation's name as definitions have it: that of the session's temporary schema is `pg_temp` there.
pub(super) fn name_in_definition(session: &SessionCatalog<'_>, oid: Oid) -> Option<String> {
    let relation = session.snapshot.relation(oid)?;
    let path = session.settings.path.get();
    let found = session.snapshot.find(&path.schemas, &relation.name);
    Some(match found == Some(Named::Relation(oid)) {
        true => identifier(&relation.name),
        false => relation.qualified_name(),
    })
}

/// A type's name; that of a table's row type is the table's.
pub(super) fn type_name(session: &SessionCatalog<'_>, oid: u32) -> String {
    known_type_name(session, oid).unwrap_or_else(|| "???".to_owned())
}

fn known_type_name(session: &SessionCatalog<'_>, oid: u32) -> Option<String> {
    if oid < well_known::FIRST_NORMAL {
        let known = oid == 0 || builtin::type_by_oid(oid).is_some();
        let path = &session.settings.path.get().schemas;
        return known.then(|| built_in(session.snapshot, Some(path), oid, None));
    }
    if let Some(element) = builtin::element_of_made(oid) {
        return known_type_name(session, element).map(|name| format!("{name}[]"));
    }
    if session.snapshot.user_type(Oid(oid)).is_some() {
        let path = &session.settings.path.get().schemas;
        let ty = SqlType::plain(oid);
        return Some(crate::bind::type_name::format_type(session.snapshot, Some(path), ty));
    }
    let relation = session.snapshot.row_type(Oid(oid))?;
    let name = relation_name(session, relation.oid)?;
    Some(if relation.row_type.1.0 == oid { format!("{name}[]") } else { name })
}

impl<'a> Call<'_, '_, '_, 'a> {
    pub(super) fn format_type(&self) -> Datum<'a> {
        let Some(Datum::Oid(oid)) = self.arguments.first() else { return Datum::Null };
        let typmod = match self.arguments.get(1) {
            Some(Datum::Int4(typmod)) => Some(*typmod),
            _ => None,
        };
        if *oid < well_known::FIRST_NORMAL {
            let path = &self.session.settings.path.get().schemas;
            return self.text(&built_in(self.session.snapshot, Some(path), *oid, typmod));
        }
        self.text(&type_name(self.session, *oid))
    }

    pub(super) fn current_schema(&self) -> Datum<'a> {
        let snapshot = self.session.snapshot;
        let creation =
            self.session.settings.path.get().creation.and_then(|oid| snapshot.schema_by_oid(oid));
        self.optional(creation.map(|schema| &*schema.name))
    }

    pub(super) fn current_schemas(&self) -> Datum<'a> {
        let listed = self.session.settings.path.get().listed(self.flag(0));
        let names: Vec<Datum<'_>> = listed
            .iter()
            .filter_map(|oid| self.session.snapshot.schema_by_oid(*oid))
            .map(|schema| Datum::Text(&schema.name))
            .collect();
        array::from_datums(self.context.arena, oids::NAME, &names)
    }

    pub(super) fn to_reg(&self, function: &str) -> Result<Datum<'a>> {
        let reg_type = match function {
            "to_regclass" => oids::REGCLASS,
            "to_regtype" => oids::REGTYPE,
            "to_regproc" => oids::REGPROC,
            "to_regprocedure" => oids::REGPROCEDURE,
            "to_regnamespace" => oids::REGNAMESPACE,
            "to_regcollation" => oids::REGCOLLATION,
            "to_regoper" => oids::REGOPER,
            _ => oids::REGROLE,
        };
        let text = self.str(0);
        if reg_type == oids::REGPROCEDURE {
            // Types that are not there are an error.
            signature(self.session, text)?;
        }
        match reg_in(self.session, reg_type, text) {
            Ok(found) => Ok(Datum::Oid(found)),
            Err(error) => match error.state() {
                SqlState::UNDEFINED_TABLE
                | SqlState::UNDEFINED_OBJECT
                | SqlState::UNDEFINED_FUNCTION
                | SqlState::AMBIGUOUS_FUNCTION
                | SqlState::INVALID_SCHEMA_NAME => Ok(Datum::Null),
                _ => Err(error),
            },
        }
    }

    /// A text that is no operator and its operands is an error here too.
    pub(super) fn to_reg_operator(&self) -> Result<Datum<'a>> {
        let found = operator_of_signature(self.session, self.str(0))?;
        Ok(found.map_or(Datum::Null, Datum::Oid))
    }

    pub(super) fn is_visible(&self, function: &str) -> Datum<'a> {
        let oid = self.oid(0);
        let path = &self.session.settings.path.get().schemas;
        let snapshot = self.session.snapshot;
        let made = |oid: Oid| oid.0 >= well_known::FIRST_NORMAL;
        let visible = match function {
            "pg_table_is_visible" => {
                let (name, named) = match snapshot.index(oid) {
                    Some((table, index)) => {
                        (&index.name, Named::Index { index: oid, table: table.oid })
                    }
                    None => match snapshot.relation(oid) {
                        Some(relation) => (&relation.name, Named::Relation(oid)),
                        None => return Datum::Null,
                    },
                };
                snapshot.find(path, name) == Some(named)
            }
            "pg_type_is_visible" => match snapshot.name_of_type(oid) {
                Some((schema, name)) => finds_type(snapshot, path, schema, &name),
                None => return Datum::Null,
            },
            "pg_function_is_visible" => match snapshot.procedure(oid) {
                Some(found) => match snapshot.function_schema(&found) {
                    Some(schema) => is_function_visible(self.session, &found, schema),
                    None => return Datum::Null,
                },
                None => return Datum::Null,
            },
            "pg_opclass_is_visible" if made(oid) => match snapshot.user_operator_class(oid) {
                None => return Datum::Null,
                Some(own) => {
                    let place = (None, &path[..]);
                    let found = snapshot.user_class_named(place, own.method, &own.name);
                    found.is_some_and(|found| found.oid == oid)
                }
            },
            "pg_opfamily_is_visible" if made(oid) => match snapshot.operator_family(oid) {
                None => return Datum::Null,
                Some(own) => {
                    let place = (None, &path[..]);
                    let found = snapshot.user_family_named(place, own.method, &own.name);
                    found.is_some_and(|found| found.oid == oid)
                }
            },
            "pg_conversion_is_visible" if made(oid) => match snapshot.conversion(oid) {
                None => return Datum::Null,
                Some(own) => path.contains(&own.schema),
            },
            "pg_operator_is_visible" => match snapshot.operator(oid) {
                Some(found) => {
                    let along = snapshot.operators_along(path, found.name, found.is_prefix());
                    along.iter().any(|one| one.oid == oid)
                }
                None => return Datum::Null,
            },
            _ => match snapshot.member_schema(oid.0) {
                Some(schema) => path.contains(&schema),
                None => return Datum::Null,
            },
        };
        Datum::Bool(visible)
    }

    pub(super) fn user_by_id(&self) -> Datum<'a> {
        let oid = self.oid(0);
        match self.session.snapshot.shared().role_by_oid(oid) {
            Some(role) => self.text(&role.name),
            None => self.text(&format!("unknown (OID={oid})")),
        }
    }

    pub(super) fn object_description(&self) -> Datum<'a> {
        let oid = self.oid(0);
        let class = (self.arguments.len() > 1).then(|| self.str(1));
        if let Some(comment) = self.session.snapshot.comment(oid, 0) {
            let named = |class| crate::catalog::system::named(well_known::PG_CATALOG, class);
            let fits = class.is_none_or(|class| named(class) == Some(comment.class));
            let says = fits && !comment.text.is_empty();
            return if says { self.text(&comment.text) } else { Datum::Null };
        }
        if oid.0 >= well_known::FIRST_NORMAL && oid != well_known::PUBLIC {
            return Datum::Null;
        }
        self.optional(builtin_description(oid.0, class, 0).as_deref())
    }

    pub(super) fn column_description(&self) -> Datum<'a> {
        let number = match self.arguments.get(1) {
            Some(Datum::Int4(number)) => *number,
            _ => 0,
        };
        // The system's columns have numbers below 0, and so have the comments on them.
        let found = self.session.snapshot.comment(self.oid(0), number as u32);
        self.optional(found.map(|comment| &*comment.text))
    }

    pub(super) fn shared_description(&self) -> Datum<'a> {
        let found = self.session.snapshot.shared().comment(self.oid(0));
        self.optional(found.map(|comment| &*comment.text))
    }
}

/// PostgreSQL's own description of an object, of a class by its name.
fn builtin_description(oid: u32, class: Option<&str>, sub: u32) -> Option<String> {
    if oid >= well_known::FIRST_NORMAL {
        return None;
    }
    let class = class.map(|class| {
        crate::catalog::system::named(well_known::PG_CATALOG, class).map_or(0, |oid| oid.0)
    });
    let (oid, sub) = (oid.to_string(), sub.to_string());
    builtin::relation("pg_description")?
        .rows()
        .find(|row| {
            let mut fields = row.fields().flatten();
            fields.next() == Some(&oid)
                && fields
                    .next()
                    .is_some_and(|found| class.is_none_or(|class| found.parse() == Ok(class)))
                && fields.next() == Some(&sub)
        })
        .and_then(|row| row.get(3))
        .map(std::borrow::Cow::into_owned)
}
