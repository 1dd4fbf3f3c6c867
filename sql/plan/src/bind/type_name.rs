//! Type names: from what was written to a type with its modifier, and back to the words PostgreSQL uses.

use crate::catalog::builtin::{
    array_type, element_of_made, is_enum, stand_in, type_by_name, type_by_oid,
};
use crate::catalog::quote::{self, identifier};
use crate::catalog::{CatalogSnapshot, Named, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{ExprKind, TypeName};
use crate::sqlstate::SqlState;
use crate::types::contrib::tablefunc;
use crate::types::type_name as format;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// OIDs of `pg_type` that rules of the grammar and the binder speak of by name.
pub mod oid {
    /// bool.
    pub const BOOL: u32 = 16;
    /// bytea.
    pub const BYTEA: u32 = 17;
    /// "char".
    pub const CHAR: u32 = 18;
    /// name.
    pub const NAME: u32 = 19;
    /// int8.
    pub const INT8: u32 = 20;
    /// int2.
    pub const INT2: u32 = 21;
    /// int2vector.
    pub const INT2VECTOR: u32 = 22;
    /// int4.
    pub const INT4: u32 = 23;
    /// text.
    pub const TEXT: u32 = 25;
    /// oid.
    pub const OID: u32 = 26;
    /// oidvector.
    pub const OIDVECTOR: u32 = 30;
    /// float4.
    pub const FLOAT4: u32 = 700;
    /// float8.
    pub const FLOAT8: u32 = 701;
    /// unknown.
    pub const UNKNOWN: u32 = 705;
    /// bpchar.
    pub const BPCHAR: u32 = 1042;
    /// varchar.
    pub const VARCHAR: u32 = 1043;
    /// date.
    pub const DATE: u32 = 1082;
    /// time.
    pub const TIME: u32 = 1083;
    /// timestamp.
    pub const TIMESTAMP: u32 = 1114;
    /// timestamptz.
    pub const TIMESTAMPTZ: u32 = 1184;
    /// interval.
    pub const INTERVAL: u32 = 1186;
    /// timetz.
    pub const TIMETZ: u32 = 1266;
    /// bit.
    pub const BIT: u32 = 1560;
    /// varbit.
    pub const VARBIT: u32 = 1562;
    /// numeric.
    pub const NUMERIC: u32 = 1700;
    /// jsonb.
    pub const JSONB: u32 = 3802;
    /// record.
    pub const RECORD: u32 = 2249;
    /// record[].
    pub const RECORD_ARRAY: u32 = 2287;
    /// "any".
    pub const ANY: u32 = 2276;
    /// anyarray.
    pub const ANYARRAY: u32 = 2277;
    /// anyelement.
    pub const ANYELEMENT: u32 = 2283;
    /// anynonarray.
    pub const ANYNONARRAY: u32 = 2776;
    /// anyenum.
    pub const ANYENUM: u32 = 3500;
    /// anyrange.
    pub const ANYRANGE: u32 = 3831;
    /// anymultirange.
    pub const ANYMULTIRANGE: u32 = 4537;
    /// anycompatible.
    pub const ANYCOMPATIBLE: u32 = 5077;
    /// anycompatiblearray.
    pub const ANYCOMPATIBLEARRAY: u32 = 5078;
    /// anycompatiblenonarray.
    pub const ANYCOMPATIBLENONARRAY: u32 = 5079;
    /// anycompatiblerange.
    pub const ANYCOMPATIBLERANGE: u32 = 5080;
    /// anycompatiblemultirange.
    pub const ANYCOMPATIBLEMULTIRANGE: u32 = 4538;
    /// void.
    pub const VOID: u32 = 2278;
}

/// The header that a character type's modifier counts with its length (`VARHDRSZ`).
const HEADER: i32 = 4;
/// The longest `varchar(n)` and `char(n)`.
const CHARACTERS_MAX: i32 = 10_485_760;
/// The most bits that a bit or varbit may say it has: as many as fit the bytes of the longest attribute.
const BITS_MAX: i32 = CHARACTERS_MAX * 8;
/// The fields that an interval can be limited to, as bits: YEAR, MONTH, DAY, HOUR, MINUTE, SECOND, YEAR TO MONTH, DAY TO HOUR,
/// DAY TO MINUTE, DAY TO SECOND, HOUR TO MINUTE, HOUR TO SECOND, MINUTE TO SECOND, and all.
const INTERVAL_RANGES: [i32; 14] =
    [4, 2, 8, 1024, 2048, 4096, 6, 1032, 3080, 7176, 3072, 7168, 6144, 0x7FFF];
/// The most digits of `numeric(p, s)`.
const PRECISION_MAX: i32 = 1000;

fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// The type that a name stands for. `path` are the schemas that an unqualified name is looked up in.
///
/// # Errors
/// 42704, and what modifiers can be wrong with.
pub fn resolve(catalog: &CatalogSnapshot, path: &[Oid], name: &TypeName) -> Result<SqlType> {
    if name.of_column {
        return column_type(catalog, path, name);
    }
    let found = lookup(catalog, path, name)?;
    let modifiers: Vec<i32> = name
        .modifiers
        .iter()
        .map(|modifier| match &modifier.kind {
            ExprKind::Integer(value) => Ok(*value),
            ExprKind::Unary(op, operand) => match &operand.kind {
                ExprKind::Integer(value) if &*op.name == "-" => Ok(-value),
                _ => Err(invalid_modifier()),
            },
            ExprKind::String(text) | ExprKind::Number(text) => {
                text.parse().map_err(|_| invalid_modifier())
            }
            _ => Err(invalid_modifier()),
        })
        .collect::<Result<_>>()?;
    let typmod =
        if modifiers.is_empty() { default_modifier(found) } else { modifier(found, &modifiers)? };
    if name.dimensions == 0 {
        return Ok(SqlType { oid: Oid(found), typmod });
    }
    match array_of(catalog, Oid(found)) {
        Some(array) => Ok(SqlType { oid: array, typmod }),
        None => Err(undefined(name)),
    }
}

fn invalid_modifier() -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, "type modifiers must be simple constants or identifiers")
}

fn lookup(catalog: &CatalogSnapshot, path: &[Oid], name: &TypeName) -> Result<u32> {
    catalog.demand_qualified(&name.name.parts)?;
    let own = name.name.name();
    let schemas: Vec<Oid> = match name.name.schema() {
        None => path.to_vec(),
        Some(schema) => match catalog.schema(schema) {
            Some(schema) => vec![schema.oid],
            None => {
                return Err(SqlError::new(
                    SqlState::INVALID_SCHEMA_NAME,
                    format!("schema \"{schema}\" does not exist"),
                ));
            }
        },
    };
    for schema in schemas {
        if let Some(found) = type_by_name(schema.0, own) {
            return Ok(found.oid);
        }
        if let Some(found) = catalog.type_named(schema, own) {
            return Ok(found.0);
        }
    }
    Err(undefined(name))
}

/// `table.column%TYPE`: the type of the column as it is now (`LookupTypeName`).
fn column_type(catalog: &CatalogSnapshot, path: &[Oid], name: &TypeName) -> Result<SqlType> {
    let (relation, column) = match &name.name.parts[..] {
        [relation @ .., column] => (relation, column),
        [] => return Err(undefined(name)),
    };
    let found = match relation {
        [table] => catalog.find(path, table),
        [.., schema, table] => {
            let missing = || {
                let message = format!("schema \"{schema}\" does not exist");
                SqlError::new(SqlState::INVALID_SCHEMA_NAME, message)
            };
            catalog.named(catalog.schema(schema).ok_or_else(missing)?.oid, table)
        }
        [] => None,
    };
    let found = match found {
        Some(Named::Relation(oid)) => catalog.relation(oid),
        _ => None,
    };
    let found = found.ok_or_else(|| {
        let written = relation.iter().map(|part| &**part).collect::<Vec<_>>().join(".");
        let message = format!("relation \"{written}\" does not exist");
        SqlError::new(SqlState::UNDEFINED_TABLE, message)
    })?;
    let at = found.column(column).ok_or_else(|| {
        let message = format!("column \"{column}\" of relation \"{}\" does not exist", found.name);
        SqlError::new(SqlState::UNDEFINED_COLUMN, message)
    })?;
    Ok(SqlType { typmod: -1, ..found.columns[at].ty })
}

fn undefined(name: &TypeName) -> SqlError {
    let message = format!("type \"{}\" does not exist", qualified(name));
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}

fn qualified(name: &TypeName) -> String {
    let mut text = name.name.to_string();
    for _ in 0..name.dimensions {
        text.push_str("[]");
    }
    text
}

/// A character type without a length: `char` is `char(1)`, which the grammar has already made of it; `bpchar` has none.
fn default_modifier(_ty: u32) -> i32 {
    -1
}

/// The modifier of a type whose name has some (its `typmodin` function).
fn modifier(ty: u32, given: &[i32]) -> Result<i32> {
    let only = |given: &[i32]| match given {
        [one] => Ok(*one),
        _ => Err(invalid("invalid type modifier".to_owned())),
    };
    match ty {
        oid::VARCHAR | oid::BPCHAR => {
            let name = if ty == oid::VARCHAR { "varchar" } else { "char" };
            let length = only(given)?;
            if length < 1 {
                return Err(invalid(format!("length for type {name} must be at least 1")));
            }
            if length > CHARACTERS_MAX {
                return Err(invalid(format!(
                    "length for type {name} cannot exceed {CHARACTERS_MAX}"
                )));
            }
            Ok(length + HEADER)
        }
        oid::NUMERIC => {
            let (precision, scale) = match given {
                [precision] => (*precision, 0),
                [precision, scale] => (*precision, *scale),
                _ => return Err(invalid("invalid NUMERIC type modifier".to_owned())),
            };
            if !(1..=PRECISION_MAX).contains(&precision) {
                return Err(invalid(format!(
                    "NUMERIC precision {precision} must be between 1 and {PRECISION_MAX}"
                )));
            }
            if !(-PRECISION_MAX..=PRECISION_MAX).contains(&scale) {
                return Err(invalid(format!(
                    "NUMERIC scale {scale} must be between -{PRECISION_MAX} and {PRECISION_MAX}"
                )));
            }
            Ok(((precision << 16) | (scale & 0x7FF)) + HEADER)
        }
        oid::TIME | oid::TIMETZ | oid::TIMESTAMP | oid::TIMESTAMPTZ => {
            let precision = only(given)?;
            if precision < 0 {
                let name = if matches!(ty, oid::TIME | oid::TIMETZ) { "TIME" } else { "TIMESTAMP" };
                let zoned = matches!(ty, oid::TIMETZ | oid::TIMESTAMPTZ);
                let zone = if zoned { " WITH TIME ZONE" } else { "" };
                return Err(invalid(format!(
                    "{name}({precision}){zone} precision must not be negative"
                )));
            }
            Ok(precision.min(6))
        }
        oid::INTERVAL => match given {
            [range, ..] if !INTERVAL_RANGES.contains(range) => {
                Err(invalid("invalid INTERVAL type modifier".to_owned()))
            }
            [range] => Ok((range << 16) | 0xFFFF),
            [_, precision @ ..0] => {
                Err(invalid(format!("INTERVAL({precision}) precision must not be negative")))
            }
            [range, precision] => Ok((range << 16) | (*precision).min(6)),
            _ => Err(invalid("invalid INTERVAL type modifier".to_owned())),
        },
        oid::BIT | oid::VARBIT => {
            let name = if ty == oid::BIT { "bit" } else { "varbit" };
            let length = only(given)?;
            if length < 1 {
                return Err(invalid(format!("length for type {name} must be at least 1")));
            }
            if length > BITS_MAX {
                return Err(invalid(format!("length for type {name} cannot exceed {BITS_MAX}")));
            }
            Ok(length)
        }
        _ => {
            let name = type_by_oid(ty).map_or("", |found| found.name);
            Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("type modifier is not allowed for type \"{name}\""),
            ))
        }
    }
}

/// The array type over `element`, a row type's too.
#[must_use]
pub fn array_of(_: &CatalogSnapshot, element: Oid) -> Option<Oid> {
    Some(array_type(element.0)).filter(|array| *array != 0).map(Oid)
}

/// What a type is to the rules of chapter 10: category and preference. A row type is composite.
#[must_use]
pub fn category(ty: Oid) -> (char, bool) {
    let ty = Oid(stand_in(ty.0));
    match type_by_oid(ty.0) {
        Some(found) => (found.category, found.preferred),
        None if element_of_made(ty.0).is_some() => ('A', false),
        None if is_enum(ty.0) => ('E', false),
        None => ('C', false),
    }
}

/// A type without a modifier as messages name it (`format_type_be`).
#[must_use]
pub fn format_type_be(catalog: &CatalogSnapshot, path: &[Oid], ty: Oid) -> String {
    match type_by_oid(ty.0) {
        Some(_) => built_in(catalog, Some(path), ty.0, None),
        None => format_type(catalog, Some(path), SqlType::plain(ty.0)),
    }
}

/// A type as `format_type` prints it: `character varying(10)`, `timestamp without time zone`, `integer[]`; qualified where
/// `path` would not find it, or where there is none: in texts that are kept.
#[must_use]
pub fn format_type(catalog: &CatalogSnapshot, path: Option<&[Oid]>, ty: SqlType) -> String {
    if let Some(element) = element_of_made(ty.oid.0) {
        return format!("{}[]", format_type(catalog, path, SqlType::plain(element)));
    }
    let shown = |schema: Oid, name: &str| match catalog.schema_by_oid(schema) {
        Some(schema) if !path.is_some_and(|path| finds_type(catalog, path, schema.oid, name)) => {
            quote::qualified(&schema.name, name)
        }
        _ => identifier(name),
    };
    if let Some(found) = catalog.user_type(ty.oid) {
        return shown(found.schema, &found.name);
    }
    match catalog.row_type(ty.oid) {
        Some(relation) => {
            let name = shown(relation.schema.0, &relation.name);
            if relation.row_type.0 == ty.oid { name } else { format!("{name}[]") }
        }
        None => built_in(catalog, path, ty.oid.0, Some(ty.typmod)),
    }
}

/// A built-in type, qualified where another one of its name comes first in the path. The words of SQL name no other.
pub fn built_in(
    catalog: &CatalogSnapshot,
    path: Option<&[Oid]>,
    ty: u32,
    typmod: Option<i32>,
) -> String {
    let text = format::format_type(ty, typmod);
    let named = type_by_oid(ty).and_then(|found| {
        let is_array = found.element != 0 && found.is_array();
        if is_array { type_by_oid(found.element) } else { Some(found) }
    });
    // A type of an extension, whose schema the database says.
    if let Some(found) = named.filter(|found| found.namespace == 0) {
        let schema = catalog.member_schema(found.oid).and_then(|own| catalog.schema_by_oid(own));
        return match schema {
            Some(schema)
                if !path.is_some_and(|path| finds_type(catalog, path, schema.oid, found.name)) =>
            {
                format!("{}.{text}", identifier(&schema.name))
            }
            _ => text,
        };
    }
    let named = named.filter(|found| {
        found.namespace == crate::catalog::builtin::PG_CATALOG && !format::is_sql_word(found.oid)
    });
    match (named, path) {
        (Some(found), Some(path))
            if !finds_type(catalog, path, Oid(found.namespace), found.name) =>
        {
            format!("pg_catalog.{text}")
        }
        _ => text,
    }
}

/// Whether the first type of this name in the path is that of the schema.
#[must_use]
pub fn finds_type(catalog: &CatalogSnapshot, path: &[Oid], schema: Oid, name: &str) -> bool {
    let has = |schema: &&Oid| {
        type_by_name(schema.0, name).is_some() || catalog.type_named(**schema, name).is_some()
    };
    path.iter().find(has) == Some(&schema)
}

/// Whether a type is composite, or a domain over one that is.
#[must_use]
pub fn has_fields(catalog: &CatalogSnapshot, ty: Oid) -> bool {
    let ty = catalog.base_type(SqlType { oid: ty, typmod: -1 }).oid;
    tablefunc::fields(ty.0).is_some()
        || catalog.user_type(ty).is_some_and(|found| found.attributes().is_some())
        || catalog.row_type(ty).is_some_and(|relation| relation.row_type.0 == ty)
}

/// The fields of a composite type, or of a domain over one.
#[must_use]
pub fn fields_of(catalog: &CatalogSnapshot, ty: Oid) -> Option<Vec<(Arc<str>, SqlType)>> {
    let ty = catalog.base_type(SqlType { oid: ty, typmod: -1 }).oid;
    if let Some(fields) = tablefunc::fields(ty.0) {
        return Some(fields);
    }
    if let Some(attributes) = catalog.user_type(ty).and_then(|found| found.attributes()) {
        return Some(attributes.iter().map(|one| (Arc::clone(&one.name), one.ty)).collect());
    }
    let relation = catalog.row_type(ty).filter(|relation| relation.row_type.0 == ty)?;
    debug_assert!(
        !matches!(relation.kind, RelationKind::Sequence(_)),
        "a sequence has no row type"
    );
    let live = relation.columns.iter().filter(|column| !column.dropped);
    Some(live.map(|column| (column.name.clone(), column.ty)).collect())
}
