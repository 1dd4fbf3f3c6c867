//! Rows from JSON objects: `json_populate_record`, `json_to_record` and the same for sets.
//!
//! PostgreSQL: `populate_record` of `jsonfuncs.c`. A member goes to the column of its name: null is NULL, a string is
//! read by the column's type without its quotes, an object becomes a row, an array an array, all else is read as it is
//! written. A jsonb is taken by its text.

use super::document::{self, Item, Kind};
use super::{View, jsonb_of_text};
use crate::array::{Builder, Dimension};
use crate::builtin::is_domain;
use crate::depth::{deeper, descend};
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Set, Typed};
use crate::sqlstate::SqlState;
use crate::{
    CallContext, Datum, Form, Oid, Signature, SqlType, domain, form, oids, read_text, record,
    stored,
};
use std::sync::Arc;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (3960, Typed(|c, s, a| populated(c, s, Some(a[0]), a[1], "json_populate_record"))),
    (3209, Typed(|c, s, a| populated(c, s, Some(a[0]), a[1], "jsonb_populate_record"))),
    (3204, Typed(|c, s, a| populated(c, s, None, a[0], "json_to_record"))),
    (3490, Typed(|c, s, a| populated(c, s, None, a[0], "jsonb_to_record"))),
    (3961, Set(|c, s, a, emit| rows(c, s, Some(a[0]), a[1], "json_populate_recordset", emit))),
    (3475, Set(|c, s, a, emit| rows(c, s, Some(a[0]), a[1], "jsonb_populate_recordset", emit))),
    (3205, Set(|c, s, a, emit| rows(c, s, None, a[0], "json_to_recordset", emit))),
    (3491, Set(|c, s, a, emit| rows(c, s, None, a[0], "jsonb_to_recordset", emit))),
];

type Columns = Vec<(Arc<str>, SqlType)>;

/// Whether a row is one value, as in a select list.
fn is_whole(signature: &Signature<'_>) -> bool {
    matches!(signature.columns, [(name, _)] if name.is_empty())
}

/// The columns to be filled: of the type of the first argument, of the row itself where that is any record, or those that
/// the call was given.
fn columns(
    context: &CallContext<'_>,
    signature: &Signature<'_>,
    base: Option<Datum<'_>>,
    function: &str,
) -> Result<Columns> {
    let given = signature.columns.iter().filter(|_| !is_whole(signature));
    if let Some(first) = signature.arguments.first().filter(|_| base.is_some()) {
        let ty = context.catalog.base_type(*first).oid.0;
        match context.catalog.row_fields(ty).filter(|_| ty != oids::RECORD) {
            Some(fields) => return Ok(fields),
            None if ty != oids::RECORD => {
                return Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!("first argument of {function} must be a row type"),
                ));
            }
            None => {}
        }
    }
    if let Some(Datum::Record(bytes)) = base {
        let types = record::fields(bytes).map(|(ty, _)| SqlType::plain(ty));
        let mut names = record::names(context, oids::RECORD, bytes).into_iter();
        let own = types
            .zip(1..)
            .map(|(ty, number)| (names.next().unwrap_or_else(|| format!("f{number}").into()), ty));
        let own: Columns = own.collect();
        return same_columns(context, own, given.map(|(_, ty)| *ty).collect());
    }
    if given.clone().next().is_some() {
        return Ok(given.cloned().collect());
    }
    Err(SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("could not determine row type for result of {function}"),
    )
    .hint(
        "Provide a non-null record argument, or call the function in the FROM clause using a column definition list.",
    ))
}

/// A row's own columns, held against those that the call was given, if any.
fn same_columns(context: &CallContext<'_>, own: Columns, given: Vec<SqlType>) -> Result<Columns> {
    let mismatch = |detail: String| {
        let message = "function return row and query-specified return row do not match";
        Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).detail(detail))
    };
    if given.is_empty() {
        return Ok(own);
    }
    if own.len() != given.len() {
        let (count, plural) = (own.len(), if own.len() == 1 { "" } else { "s" });
        let wanted = given.len();
        return mismatch(format!(
            "Returned row contains {count} attribute{plural}, but query expects {wanted}."
        ));
    }
    for (number, ((_, own), given)) in (1..).zip(own.iter().zip(&given)) {
        if own.oid != given.oid {
            let [own, given] = [own, given].map(|ty| context.catalog.type_name(ty.oid.0));
            return mismatch(format!(
                "Returned type {own} at ordinal position {number}, but query expects {given}."
            ));
        }
    }
    Ok(own)
}

/// A row of a type that may be a domain over a row type.
fn of_type<'a>(
    context: &CallContext<'a>,
    ty: Option<&SqlType>,
    row: Datum<'a>,
) -> Result<Datum<'a>> {
    if let Some(ty) = ty.filter(|ty| is_domain(ty.oid.0)) {
        context.catalog.check_domain(context, *ty, &row)?;
    }
    Ok(row)
}

fn document<'a>(context: &CallContext<'a>, json: &Datum<'a>) -> Result<Item<'a>> {
    let text = match json {
        Datum::Jsonb(bytes) => {
            let mut out = Vec::new();
            View::of(bytes).write(&mut out);
            crate::arena_text(context, &out)
        }
        other => other.text(),
    };
    document::parse(context.arena, text)
}

fn populated<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    base: Option<Datum<'a>>,
    json: Datum<'a>,
    function: &str,
) -> Result<Datum<'a>> {
    if json.is_null() && base.is_none() {
        return Ok(Datum::Null);
    }
    let columns = columns(context, signature, base, function)?;
    if json.is_null() {
        return Ok(base.unwrap_or(Datum::Null));
    }
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
    let values = filled(context, &columns, &base.unwrap_or(Datum::Null), &item)?;
    let fields: Vec<(SqlType, Datum<'a>)> = columns.iter().map(|(_, ty)| *ty).zip(values).collect();
    let ty = signature.arguments.first().filter(|_| base.is_some());
    of_type(context, ty, record::build(context.arena, &fields))
}

fn rows<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    base: Option<Datum<'a>>,
    json: Datum<'a>,
    function: &str,
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let columns = columns(context, signature, base, function)?;
    if json.is_null() {
        return Ok(());
    }
    let invalid = |message| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    let item = document(context, &json)?;
    let Kind::Array(elements) = item.kind else {
        return Err(invalid(match item.kind {
            Kind::Object(_) => format!("cannot call {function} on an object"),
            _ => format!("cannot call {function} on a scalar"),
        }));
    };
    // In a select list a row is one value.
    let whole = signature.columns.len() == 1 && signature.columns[0].0.is_empty();
    if !whole {
        let given: Vec<u32> = columns.iter().map(|(_, ty)| ty.oid.0).collect();
        let wanted: Vec<SqlType> = signature.columns.iter().map(|(_, ty)| *ty).collect();
        record::demand_fields(context, &given, &wanted)?;
    }
    for element in elements {
        if !matches!(element.kind, Kind::Object(_)) {
            return Err(invalid(format!("argument of {function} must be an array of objects")));
        }
        let values = filled(context, &columns, &base.unwrap_or(Datum::Null), element)?;
        let fields: Vec<(SqlType, Datum<'a>)> =
            columns.iter().map(|(_, ty)| *ty).zip(values.iter().copied()).collect();
        let row = record::build(context.arena, &fields);
        let ty = signature.arguments.first().filter(|_| base.is_some());
        let row = of_type(context, ty, row)?;
        let go_on = if is_whole(signature) { emit(&[row])? } else { emit(&values)? };
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
        let own = match base_fields.as_mut().and_then(Iterator::next) {
            Some((ty, Some(bytes))) => Some(stored::read(context.arena, ty, bytes)?),
            Some((_, None)) => Some(Datum::Null),
            None => None,
        };
        values.push(match (object.member(name), own) {
            (Some(item), own) => {
                descend(|| value(context, *ty, &item, name, own.unwrap_or(Datum::Null)))?
            }
            (None, Some(own)) => own,
            (None, None) => domain::null(context, *ty)?,
        });
    }
    Ok(values)
}

/// The value of type `ty` that an item stands for; `key` names it in errors, and a row has what `own` has where the item is
/// silent.
fn value<'a>(
    context: &CallContext<'a>,
    ty: SqlType,
    item: &Item<'a>,
    key: &str,
    own: Datum<'a>,
) -> Result<Datum<'a>> {
    if let Some(read) = domain::read(context, ty, |base| value(context, base, item, key, own)) {
        return read;
    }
    match form(ty.oid.0) {
        _ if matches!(item.kind, Kind::Null) => return Ok(Datum::Null),
        Form::Jsonb => return jsonb_of_text(context, item.text),
        _ if ty.oid.0 == oids::JSON => return Ok(Datum::Text(item.text)),
        Form::Array(element) if !matches!(item.kind, Kind::String(_)) => {
            return array(context, SqlType { oid: Oid(element), typmod: ty.typmod }, item, key);
        }
        Form::Record if !matches!(item.kind, Kind::String(_)) => {
            let Some(fields) = context.catalog.row_fields(ty.oid.0) else {
                return Err(crate::unsupported_type(ty.oid.0));
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
            let values = filled(context, &fields, &own, item)?;
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
        Kind::Array([first, ..]) => 1 + deeper(|| depth(first, element)),
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
    let mut lengths = vec![None; depth(item, element)];
    let builder = Builder::new(element.oid.0);
    let mut filling = Filling { context, element, key, builder, done: Vec::new() };
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
    /// How many elements of each array around this place have been read.
    done: Vec<usize>,
}

impl<'a> Filling<'_, '_, 'a> {
    fn level(&mut self, item: &Item<'a>, at: usize, lengths: &mut [Option<i32>]) -> Result<()> {
        let malformed = |detail: &str| {
            SqlError::new(SqlState::INVALID_TEXT_REPRESENTATION, "malformed JSON array")
                .detail(detail)
        };
        let Kind::Array(elements) = item.kind else {
            let place: String = self.done.iter().map(|number| format!("[{number}]")).collect();
            let what = match at {
                0 => format!("value of key \"{}\"", self.key),
                _ => format!("array element {place} of key \"{}\"", self.key),
            };
            return Err(SqlError::new(
                SqlState::INVALID_TEXT_REPRESENTATION,
                "expected JSON array",
            )
            .hint(format!("See the {what}.")));
        };
        let length = elements.len() as i32;
        if lengths[at].is_some_and(|known| known != length) {
            return Err(malformed(
                "Multidimensional arrays must have sub-arrays with matching dimensions.",
            ));
        }
        lengths[at] = Some(length);
        self.done.push(0);
        for element in elements {
            if at + 1 < lengths.len() {
                deeper(|| self.level(element, at + 1, lengths))?;
            } else {
                let value = value(self.context, self.element, element, self.key, Datum::Null)?;
                self.builder.push(&value);
            }
            self.done[at] += 1;
        }
        self.done.pop();
        Ok(())
    }
}
