//! hstores of rows, and rows of hstores: each field is a pair of its name and its text.

use super::{Hstore, build};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::{
    CallContext, Datum, Signature, SqlType, domain, oids, read_text, record, stored, text_of,
};
use std::sync::Arc;

/// The fields of a row: of its type, or as the row itself says; none for what is no row.
fn fields(
    context: &CallContext<'_>,
    ty: SqlType,
    row: &Datum<'_>,
) -> Result<Option<Vec<(Arc<str>, SqlType)>>> {
    let ty = context.catalog.base_type(ty).oid.0;
    if ty != oids::RECORD {
        return Ok(context.catalog.row_fields(ty));
    }
    let Datum::Record(bytes) = row else {
        let message = "record type has not been registered";
        return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
    };
    let types = record::fields(bytes).map(|(ty, _)| SqlType::plain(ty));
    let mut names = record::names(context, oids::RECORD, bytes).into_iter();
    let named = types
        .zip(1..)
        .map(|(ty, number)| (names.next().unwrap_or_else(|| format!("f{number}").into()), ty));
    Ok(Some(named.collect()))
}

/// The values of a row's fields; of no row they are all NULL.
fn values<'a>(context: &CallContext<'a>, row: &Datum<'a>, count: usize) -> Result<Vec<Datum<'a>>> {
    let Datum::Record(bytes) = row else { return Ok(vec![Datum::Null; count]) };
    let field = |(ty, field): (u32, Option<&'a [u8]>)| match field {
        Some(field) => stored::read(context.arena, ty, field),
        None => Ok(Datum::Null),
    };
    record::fields(bytes).map(field).collect()
}

/// `hstore(record)`.
pub(super) fn of_record<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let fields = fields(context, signature.arguments[0], &a[0])?.unwrap_or_default();
    let values = values(context, &a[0], fields.len())?;
    let mut pairs = Vec::with_capacity(fields.len());
    for ((name, ty), value) in fields.iter().zip(&values) {
        let text = if value.is_null() { None } else { Some(text_of(context, *ty, value)?) };
        pairs.push((&**name, text));
    }
    build(context, pairs)
}

/// `populate_record(row, hstore)`, `row #= hstore`.
pub(super) fn populated<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let ty = signature.arguments[0];
    let base = context.catalog.base_type(ty).oid.0;
    let is_row = base == oids::RECORD || context.catalog.row_fields(base).is_some();
    if !is_row {
        let message = "first argument must be a rowtype";
        return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
    }
    if a[1].is_null() {
        return Ok(a[0]);
    }
    let hstore = Hstore::of(&a[1]);
    let fields = fields(context, ty, &a[0])?.unwrap_or_default();
    if hstore.len() == 0 && !a[0].is_null() {
        return Ok(a[0]);
    }
    let values = values(context, &a[0], fields.len())?;
    let mut made = Vec::with_capacity(fields.len());
    for ((name, ty), own) in fields.iter().zip(values) {
        let value = match hstore.get(name) {
            None if !a[0].is_null() => own,
            Some(Some(text)) => read_text(context, *ty, text)?,
            None | Some(None) => domain::null(context, *ty)?,
        };
        made.push((*ty, value));
    }
    let row = record::build(context.arena, &made);
    context.catalog.check_domain(context, ty, &row).map(|()| row)
}
