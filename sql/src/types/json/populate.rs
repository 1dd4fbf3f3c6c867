//! Rows from JSON objects: `json_populate_record`, `json_to_record` and the same for sets.
//!
//! PostgreSQL: `populate_record` of `jsonfuncs.c`. A member goes to the column of its name: null is NULL, a string is
//! read by the column's type without its quotes, an object becomes a row, an array an array, all else is read as it is
//! written. A jsonb is taken by its text.

use super::document::{self, Item, Kind};
use super::{View, jsonb_of_text};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::array::{Builder, Dimension};
use crate::types::function::Callable::{self, Set, Typed};
use crate::types::{
    CallContext, Datum, Form, Oid, Signature, SqlType, domain, form, oids, read_text, record,
    stored,
};
use std::sync::Arc;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (3960, Typed(|c, s, a| populated(c, s, a[0], a[1], "json_populate_record"))),
    (3209, Typed(|c, s, a| populated(c, s, a[0], a[1], "jsonb_populate_record"))),
    (3204, Typed(|c, s, a| populated(c, s, Datum::Null, a[0], "json_to_record"))),
    (3490, Typed(|c, s, a| populated(c, s, Datum::Null, a[0], "jsonb_to_record"))),
    (3961, Set(|c, s, a, emit| rows(c, s, a[0], a[1], "json_populate_recordset", emit))),
    (3475, Set(|c, s, a, emit| rows(c, s, a[0], a[1], "jsonb_populate_recordset", emit))),
    (3205, Set(|c, s, a, emit| rows(c, s, Datum::Null, a[0], "json_to_recordset", emit))),
    (3491, Set(|c, s, a, emit| rows(c, s, Datum::Null, a[0], "jsonb_to_recordset", emit))),
];

type Columns = Vec<(Arc<str>, SqlType)>;

/// The columns to be filled: those that the call was given, or of the type of the first argument.
fn columns(
    context: &CallContext<'_>,
    signature: &Signature<'_>,
    base: &Datum<'_>,
    function: &str,
) -> Result<Columns> {
    if let Some(first) = signature.arguments.first()
        && let Some(fields) = context.catalog.row_fields(first.oid.0)
    {
        return Ok(fields);
    }
    if let Datum::Record(bytes) = base {
        let names = record::names(context, oids::RECORD, bytes);
        let types = record::fields(bytes).map(|(ty, _)| SqlType::plain(ty));
        return Ok(names.into_iter().zip(types).collect());
    }
    if !signature.columns.is_empty() {
        return Ok(signature.columns.to_vec());
    }
    Err(SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        "function returning record called in context that cannot accept type record",
    )
    .hint(format!(
        "Provide a non-null record argument, or call the function in the FROM clause using a column definition list ({function})."
    )))
}

fn document<'a>(context: &CallContext<'a>, json: &Datum<'a>) -> Result<Item<'a>> {
    let text = match json {
        Datum::Jsonb(bytes) => {
            let mut out = Vec::new();
            View::of(bytes).write(&mut out);
            crate::types::arena_text(context, &out)
        }
        other => other.text(),
    };
    document::parse(context.arena, text)
}

fn populated<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    base: Datum<'a>,
    json: Datum<'a>,
    function: &str,
) -> Result<Datum<'a>> {
    if json.is_null() {
        return Ok(base);
    }
    let columns = columns(context, signature, &base, function)?;
    let item = document(context, &json)?;
    if !matches!(item.kind, Kind::Object(_)) {
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            match item.kind {
                Kind::Array(_) => "cannot call populate_composite on an array",
                _ => "cannot call populate_composite on a scalar",
            },
        ));
    }
    let values = filled(context, &columns, &base, &item)?;
    let fields: Vec<(SqlType, Datum<'a>)> = columns.iter().map(|(_, ty)| *ty).zip(values).collect();
    Ok(record::build(context.arena, &fields))
}

fn rows<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    base: Datum<'a>,
    json: Datum<'a>,
    function: &str,
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    if json.is_null() {
        return Ok(());
    }
    let columns = columns(context, signature, &base, function)?;
    let invalid = |message| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    let item = document(context, &json)?;
    let Kind::Array(elements) = item.kind else {
        return Err(invalid(match item.kind {
            Kind::Object(_) => format!("cannot call {function} on an object"),
            _ => format!("cannot call {function} on a scalar"),
        }));
    };
    for element in elements {
        if !matches!(element.kind, Kind::Object(_)) {
            return Err(invalid(format!("argument of {function} must be an array of objects")));
        }
        let values = filled(context, &columns, &base, element)?;
        // In a select list a row is one value.
        let whole = signature.columns.len() == 1 && signature.columns[0].0.is_empty();
        let go_on = if whole {
            let types = columns.iter().map(|(_, ty)| *ty);
            let fields: Vec<(SqlType, Datum<'a>)> = types.zip(values).collect();
            emit(&[record::build(context.arena, &fields)])?
        } else {
            emit(&values)?
        };
        if !go_on {
            break;
        }
    }
    Ok(())
}

/// One row: each column's member, or what the base row has.
fn filled<'a>(
    context: &CallContext<'a>,
    columns: &Columns,
    base: &Datum<'a>,
    object: &Item<'a>,
) -> Result<Vec<Datum<'a>>> {
    let mut base_fields = match base {
        Datum::Record(bytes) => Some(record::fields(bytes)),
        _ => None,
    };
    let mut values = Vec::with_capacity(columns.len());
    for (name, ty) in columns {
        let own = base_fields.as_mut().and_then(Iterator::next);
        values.push(match object.member(name) {
            Some(item) => value(context, *ty, &item, name)?,
            None => match own {
                Some((ty, Some(bytes))) => stored::read(context.arena, ty, bytes)?,
                _ => domain::null(context, *ty)?,
            },
        });
    }
    Ok(values)
}

/// The value of type `ty` that an item stands for; `key` names it in errors.
fn value<'a>(
    context: &CallContext<'a>,
    ty: SqlType,
    item: &Item<'a>,
    key: &str,
) -> Result<Datum<'a>> {
    if let Some(read) = domain::read(context, ty, |base| value(context, base, item, key)) {
        return read;
    }
    match form(ty.oid.0) {
        Form::Jsonb => return jsonb_of_text(context, item.text),
        _ if matches!(item.kind, Kind::Null) => return Ok(Datum::Null),
        _ if ty.oid.0 == oids::JSON => return Ok(Datum::Text(item.text)),
        Form::Array(element) if !matches!(item.kind, Kind::String(_)) => {
            return array(context, SqlType { oid: Oid(element), typmod: ty.typmod }, item, key);
        }
        Form::Record if !matches!(item.kind, Kind::String(_)) => {
            let Some(fields) = context.catalog.row_fields(ty.oid.0) else {
                return Err(crate::types::unsupported_type(ty.oid.0));
            };
            if !matches!(item.kind, Kind::Object(_)) {
                return Err(SqlError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    match item.kind {
                        Kind::Array(_) => "cannot call populate_composite on an array",
                        _ => "cannot call populate_composite on a scalar",
                    },
                ));
            }
            let values = filled(context, &fields, &Datum::Null, item)?;
            let fields: Vec<(SqlType, Datum<'a>)> =
                fields.iter().map(|(_, ty)| *ty).zip(values).collect();
            return Ok(record::build(context.arena, &fields));
        }
        _ => {}
    }
    read_text(context, ty, item.plain().unwrap_or(item.text))
}

/// How deep the arrays of an item are nested, by its first elements.
fn depth(item: &Item<'_>, element: SqlType) -> usize {
    match item.kind {
        // The elements of an array of json may be arrays themselves.
        Kind::Array(_) if matches!(element.oid.0, oids::JSON | oids::JSONB) => 1,
        Kind::Array([first, ..]) => 1 + depth(first, element),
        Kind::Array([]) => 1,
        _ => 0,
    }
}

fn array<'a>(
    context: &CallContext<'a>,
    element: SqlType,
    item: &Item<'a>,
    key: &str,
) -> Result<Datum<'a>> {
    if !matches!(item.kind, Kind::Array(_)) {
        return Err(SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "expected JSON array")
            .hint(format!("See the value of key \"{key}\".")));
    }
    let mut lengths = vec![None; depth(item, element)];
    let mut filling = Filling { context, element, key, builder: Builder::new(element.oid.0) };
    filling.level(item, 0, &mut lengths)?;
    let dimensions: Vec<Dimension> =
        lengths.iter().map(|length| Dimension { length: length.unwrap_or(0), lower: 1 }).collect();
    Ok(Datum::Array(filling.builder.store(context.arena, &dimensions)))
}

struct Filling<'c, 'k, 'a> {
    context: &'c CallContext<'a>,
    element: SqlType,
    key: &'k str,
    builder: Builder,
}

impl<'a> Filling<'_, '_, 'a> {
    fn level(&mut self, item: &Item<'a>, at: usize, lengths: &mut [Option<i32>]) -> Result<()> {
        let malformed = |detail: &str| {
            SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "malformed JSON array")
                .detail(detail)
        };
        let Kind::Array(elements) = item.kind else {
            return Err(SqlError::new(
                SqlState::INVALID_TEXT_REPRESENTATION,
                "expected JSON array",
            )
            .hint(format!("See the value of key \"{}\".", self.key)));
        };
        let length = elements.len() as i32;
        if lengths[at].is_some_and(|known| known != length) {
            return Err(malformed(
                "Multidimensional arrays must have sub-arrays with matching dimensions.",
            ));
        }
        lengths[at] = Some(length);
        for element in elements {
            if at + 1 < lengths.len() {
                self.level(element, at + 1, lengths)?;
            } else {
                let value = value(self.context, self.element, element, self.key)?;
                self.builder.push(&value);
            }
        }
        Ok(())
    }
}
