//! Rows as values: their stored form and their text.
//!
//! The number of fields, then for each its type, a length (`u32::MAX` is NULL) and its bytes, little-endian. Where the
//! number's high bit is set, the fields' names stand behind it: the length of them all, and for each its length in 16
//! bits and its bytes. Only a row of no type of its own has them; it is never stored in a table. PostgreSQL: `rowtypes.c`.

use super::depth::descend;
use super::failure::{insufficient, invalid_binary, left_over, name_left_over};
use super::integer::is_space;
use super::text::{check_growth, check_value};
use super::{CallContext, Datum, SqlType, domain, oids, stored, write_binary, write_text};
use crate::account::{self, LARGE};
use crate::builtin::well_known;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use bumpalo::Bump;
use std::sync::Arc;

const NULL: u32 = u32::MAX;

/// In the number of fields: names follow.
const NAMED: u32 = 1 << 31;

/// Stores a row.
#[must_use]
pub fn build<'a>(arena: &'a Bump, fields: &[(SqlType, Datum<'_>)]) -> Datum<'a> {
    build_named(arena, fields, std::iter::empty())
}

/// Stores a row with its fields' names; none are left out.
#[must_use]
pub fn build_named<'a, 'n>(
    arena: &'a Bump,
    fields: &[(SqlType, Datum<'_>)],
    names: impl Iterator<Item = &'n Arc<str>> + Clone,
) -> Datum<'a> {
    let mut out = Vec::new();
    put_head(fields.len(), names, &mut out);
    for (ty, datum) in fields {
        put_field(*ty, datum, &mut out);
    }
    account::insist_on_value(out.len());
    Datum::Record(account::copied(arena, &out))
}

/// Appends what stands before the fields of a row of so many: with their names, if there are any.
pub fn put_head<'n>(
    count: usize,
    names: impl Iterator<Item = &'n Arc<str>> + Clone,
    out: &mut Vec<u8>,
) {
    let length: usize = names.clone().map(|name| 2 + name.len()).sum();
    if length == 0 {
        out.extend_from_slice(&(count as u32).to_le_bytes());
        return;
    }
    out.extend_from_slice(&(count as u32 | NAMED).to_le_bytes());
    out.extend_from_slice(&(length as u32).to_le_bytes());
    for name in names {
        out.extend_from_slice(&(name.len() as u16).to_le_bytes());
        out.extend_from_slice(name.as_bytes());
    }
}

/// Appends a field.
#[inline]
pub fn put_field(ty: SqlType, datum: &Datum<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(&ty.oid.0.to_le_bytes());
    let at = out.len();
    out.extend_from_slice(&NULL.to_le_bytes());
    if !datum.is_null() {
        stored::write(datum, out);
        let length = (out.len() - at - 4) as u32;
        out[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }
}

/// Whether a row that has been put together may be a value: it is not too long, and the statement may hold it.
///
/// # Errors
/// 54000, 53200.
pub fn check(bytes: &[u8]) -> Result<()> {
    check_value(bytes.len())?;
    if bytes.len() >= LARGE {
        account::demand(bytes.len())?;
    }
    Ok(())
}

/// Appends a stored row, in which field `index` is another value; whether it has one.
pub fn put_replaced(
    bytes: &[u8],
    index: usize,
    (ty, datum): (SqlType, &Datum<'_>),
    out: &mut Vec<u8>,
) -> bool {
    let (_, fields) = split(bytes);
    let (mut rest, mut number) = (fields, 0);
    while let Some((_, behind)) = rest.split_first_chunk::<4>() {
        let Some((length, behind)) = behind.split_first_chunk::<4>() else { return false };
        let length = match u32::from_le_bytes(*length) {
            NULL => 0,
            length => length as usize,
        };
        let Some(behind) = behind.get(length..) else { return false };
        if number == index {
            out.extend_from_slice(&bytes[..bytes.len() - rest.len()]);
            put_field(ty, datum, out);
            out.extend_from_slice(behind);
            return true;
        }
        (rest, number) = (behind, number + 1);
    }
    false
}

/// The names in front of a stored row's fields, and the fields.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let word = |bytes: &[u8]| bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
    let behind = bytes.get(4..).unwrap_or(&[]);
    if word(bytes) & NAMED == 0 {
        return (&[], behind);
    }
    let length = word(behind) as usize;
    behind.get(4..).and_then(|rest| rest.split_at_checked(length)).unwrap_or((&[], &[]))
}

/// The names of a row's fields: those of its type `ty`, or its own; none for a row that has neither.
#[must_use]
pub fn names(context: &CallContext<'_>, ty: u32, bytes: &[u8]) -> Vec<Arc<str>> {
    let (mut rest, _) = split(bytes);
    if rest.is_empty() {
        let fields = context.catalog.row_fields(ty).unwrap_or_default();
        return fields.into_iter().map(|(name, _)| name).collect();
    }
    let mut names = Vec::new();
    while let Some((length, behind)) = rest.split_first_chunk::<2>() {
        let length = usize::from(u16::from_le_bytes(*length));
        let Some((name, behind)) = behind.split_at_checked(length) else { break };
        names.push(Arc::from(std::str::from_utf8(name).unwrap_or("")));
        rest = behind;
    }
    names
}

/// The fields of a stored row: type and bytes, none for NULL.
pub fn fields(bytes: &[u8]) -> impl Iterator<Item = (u32, Option<&[u8]>)> {
    let (_, mut rest) = split(bytes);
    std::iter::from_fn(move || {
        let (ty, behind) = rest.split_first_chunk::<4>()?;
        let (length, behind) = behind.split_first_chunk::<4>()?;
        let length = u32::from_le_bytes(*length);
        let ty = u32::from_le_bytes(*ty);
        if length == NULL {
            rest = behind;
            return Some((ty, None));
        }
        let (field, behind) = behind.split_at_checked(length as usize)?;
        rest = behind;
        Some((ty, Some(field)))
    })
}

/// Field `index`, from 0; NULL if there is none.
///
/// # Errors
/// XX001.
pub fn field<'a>(arena: &'a Bump, bytes: &'a [u8], index: usize) -> Result<Datum<'a>> {
    match fields(bytes).nth(index) {
        Some((ty, Some(field))) => stored::read(arena, ty, field),
        Some((_, None)) | None => Ok(Datum::Null),
    }
}

/// Field `index` where it is a number, a truth value or NULL, or there is none.
#[inline]
#[must_use]
pub fn number_at(bytes: &[u8], index: usize) -> Option<Datum<'static>> {
    let Some((ty, Some(field))) = fields(bytes).nth(index) else { return Some(Datum::Null) };
    Some(match (ty, field.len()) {
        (oids::INT4, 4) => Datum::Int4(i32::from_le_bytes(*field.first_chunk()?)),
        (oids::INT8, 8) => Datum::Int8(i64::from_le_bytes(*field.first_chunk()?)),
        (oids::INT2, 2) => Datum::Int2(i16::from_le_bytes(*field.first_chunk()?)),
        (oids::FLOAT8, 8) => Datum::Float8(f64::from_le_bytes(*field.first_chunk()?)),
        (oids::BOOL, 1) => Datum::Bool(field != [0]),
        _ => return None,
    })
}

/// 42804 unless a row of these types is one of the types that a query has written for it (`tupledesc_match`).
///
/// # Errors
/// 42804.
pub fn demand_fields(context: &CallContext<'_>, given: &[u32], wanted: &[SqlType]) -> Result<()> {
    let mismatch = |detail: String| {
        SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            "function return row and query-specified return row do not match",
        )
        .detail(detail)
    };
    if given.len() != wanted.len() {
        let plural = if given.len() == 1 { "" } else { "s" };
        return Err(mismatch(format!(
            "Returned row contains {} attribute{plural}, but query expects {}.",
            given.len(),
            wanted.len()
        )));
    }
    let strings = [oids::TEXT, oids::VARCHAR];
    for (number, (given, wanted)) in given.iter().zip(wanted).enumerate() {
        let wanted = context.catalog.base_type(*wanted).oid.0;
        let base = context.catalog.base_type(SqlType::plain(*given)).oid.0;
        if base != wanted && !(strings.contains(&base) && strings.contains(&wanted)) {
            return Err(mismatch(format!(
                "Returned type {} at ordinal position {}, but query expects {}.",
                context.catalog.type_name(*given),
                number + 1,
                context.catalog.type_name(wanted)
            )));
        }
    }
    Ok(())
}

/// Appends a row's text: `(1,"a b",)`.
///
/// # Errors
/// Those of its fields.
pub fn write(context: &CallContext<'_>, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.push(b'(');
    let mut scratch = Vec::new();
    for (i, (ty, field)) in fields(bytes).enumerate() {
        if i > 0 {
            out.push(b',');
        }
        let Some(field) = field else { continue };
        scratch.clear();
        let datum = stored::read(context.arena, ty, field)?;
        descend(|| write_text(context, SqlType::plain(ty), &datum, &mut scratch))?;
        // Within rows within rows each level doubles the quotes of the one below.
        check_growth(out.len(), 2 * scratch.len())?;
        if scratch.len() >= LARGE {
            account::poll()?;
            account::demand(2 * scratch.len())?;
        }
        let quoted = scratch.is_empty()
            || scratch
                .iter()
                .any(|&b| matches!(b, b'"' | b'\\' | b'(' | b')' | b',') || is_space(b));
        if !quoted {
            out.extend_from_slice(&scratch);
            continue;
        }
        out.push(b'"');
        for &byte in &scratch {
            if matches!(byte, b'"' | b'\\') {
                out.push(byte);
            }
            out.push(byte);
        }
        out.push(b'"');
    }
    out.push(b')');
    Ok(())
}

#[cold]
fn malformed(text: &str, detail: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_TEXT_REPRESENTATION,
        format!("malformed record literal: \"{text}\""),
    )
    .detail(detail)
}

fn fields_of(context: &CallContext<'_>, ty: SqlType) -> Result<Vec<(Arc<str>, SqlType)>> {
    context.catalog.row_fields(ty.oid.0).ok_or_else(|| super::unsupported_type(ty.oid.0))
}

/// Reads the text of a row of a named type (`record_in`).
///
/// # Errors
/// 22P02; those of its fields.
pub fn read<'a>(context: &CallContext<'a>, ty: SqlType, text: &str) -> Result<Datum<'a>> {
    let wanted = fields_of(context, ty)?;
    let bytes = text.as_bytes();
    let skip = |at: usize| at + bytes[at..].iter().take_while(|byte| is_space(**byte)).count();
    let mut at = skip(0);
    if bytes.get(at) != Some(&b'(') {
        return Err(malformed(text, "Missing left parenthesis."));
    }
    at += 1;
    let mut fields = Vec::with_capacity(wanted.len());
    for (number, (_, ty)) in wanted.iter().enumerate() {
        if number > 0 {
            if bytes.get(at) != Some(&b',') {
                return Err(malformed(text, "Too few columns."));
            }
            at += 1;
        }
        if matches!(bytes.get(at), Some(b',' | b')')) {
            fields.push((*ty, domain::null(context, *ty)?));
            continue;
        }
        let mut field = Vec::new();
        let mut quoted = false;
        loop {
            let Some(&byte) = bytes.get(at) else {
                return Err(malformed(text, "Unexpected end of input."));
            };
            if !quoted && matches!(byte, b',' | b')') {
                break;
            }
            at += 1;
            match byte {
                b'\\' => {
                    let Some(&next) = bytes.get(at) else {
                        return Err(malformed(text, "Unexpected end of input."));
                    };
                    field.push(next);
                    at += 1;
                }
                b'"' if !quoted => quoted = true,
                b'"' if bytes.get(at) == Some(&b'"') => {
                    field.push(b'"');
                    at += 1;
                }
                b'"' => quoted = false,
                byte => field.push(byte),
            }
        }
        let field = super::arena_text(context, &field);
        fields.push((*ty, descend(|| super::read_text(context, *ty, field))?));
    }
    match bytes.get(at) {
        Some(b')') => at += 1,
        _ => return Err(malformed(text, "Too many columns.")),
    }
    if skip(at) < bytes.len() {
        return Err(malformed(text, "Junk after right parenthesis."));
    }
    Ok(build(context.arena, &fields))
}

/// Reads the binary form of a row of a named type (`record_recv`).
///
/// # Errors
/// 42804, 22P03; those of its fields.
pub fn receive<'a>(context: &CallContext<'a>, ty: SqlType, bytes: &'a [u8]) -> Result<Datum<'a>> {
    let wanted = fields_of(context, ty)?;
    let mut rest = bytes;
    let word = |rest: &mut &'a [u8]| -> Result<i32> {
        let (head, tail) = rest.split_first_chunk::<4>().ok_or_else(insufficient)?;
        *rest = tail;
        Ok(i32::from_be_bytes(*head))
    };
    let mismatch = |message: String| SqlError::new(SqlState::DATATYPE_MISMATCH, message);
    let count = word(&mut rest)?;
    if usize::try_from(count) != Ok(wanted.len()) {
        return Err(mismatch(format!(
            "wrong number of columns: {count}, expected {}",
            wanted.len()
        )));
    }
    let mut fields = Vec::with_capacity(wanted.len());
    for (number, (_, ty)) in wanted.iter().enumerate() {
        let given = word(&mut rest)? as u32;
        if given != ty.oid.0 && given.max(ty.oid.0) < well_known::FIRST_GENERATED {
            return Err(mismatch(format!(
                "binary data has type {given} ({}) instead of expected {} ({}) in record column {}",
                context.catalog.type_name(given),
                ty.oid,
                context.catalog.type_name(ty.oid.0),
                number + 1
            )));
        }
        let datum = match word(&mut rest)? {
            -1 => domain::null(context, *ty)?,
            length => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let (field, tail) = rest
                    .split_at_checked(length)
                    .ok_or_else(|| invalid_binary("insufficient data left in message"))?;
                rest = tail;
                descend(|| super::read_binary(context, *ty, field)).map_err(|error| {
                    name_left_over(error, || {
                        format!("improper binary format in record column {}", number + 1)
                    })
                })?
            }
        };
        fields.push((*ty, datum));
    }
    if !rest.is_empty() {
        return Err(left_over());
    }
    Ok(build(context.arena, &fields))
}

/// Appends a row's binary form.
///
/// # Errors
/// Those of its fields.
pub fn send(context: &CallContext<'_>, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.extend_from_slice(&(fields(bytes).count() as i32).to_be_bytes());
    for (ty, field) in fields(bytes) {
        out.extend_from_slice(&ty.to_be_bytes());
        let at = out.len();
        out.extend_from_slice(&(-1i32).to_be_bytes());
        if let Some(field) = field {
            let datum = stored::read(context.arena, ty, field)?;
            descend(|| write_binary(context, SqlType::plain(ty), &datum, out))?;
            let length = (out.len() - at - 4) as i32;
            out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}
