//! Rows as values: their stored form and their text.
//!
//! The number of fields, then for each its type, a length (`u32::MAX` is NULL) and its bytes, little-endian. PostgreSQL:
//! `rowtypes.c`.

use super::integer::is_space;
use super::{CallContext, Datum, SqlType, stored, write_binary, write_text};
use crate::error::Result;
use bumpalo::Bump;

const NULL: u32 = u32::MAX;

/// Stores a row.
#[must_use]
pub fn build<'a>(arena: &'a Bump, fields: &[(SqlType, Datum<'_>)]) -> Datum<'a> {
    let mut out = Vec::new();
    out.extend_from_slice(&(fields.len() as u32).to_le_bytes());
    for (ty, datum) in fields {
        out.extend_from_slice(&ty.oid.0.to_le_bytes());
        let at = out.len();
        out.extend_from_slice(&NULL.to_le_bytes());
        if !datum.is_null() {
            stored::write(datum, &mut out);
            let length = (out.len() - at - 4) as u32;
            out[at..at + 4].copy_from_slice(&length.to_le_bytes());
        }
    }
    Datum::Record(arena.alloc_slice_copy(&out))
}

/// The fields of a stored row: type and bytes, none for NULL.
pub fn fields(bytes: &[u8]) -> impl Iterator<Item = (u32, Option<&[u8]>)> {
    let mut rest = bytes.get(4..).unwrap_or(&[]);
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
        let field = context.arena.alloc_slice_copy(field);
        let datum = stored::read(context.arena, ty, field)?;
        write_text(context, SqlType::plain(ty), &datum, &mut scratch)?;
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
            let field = context.arena.alloc_slice_copy(field);
            let datum = stored::read(context.arena, ty, field)?;
            write_binary(context, SqlType::plain(ty), &datum, out)?;
            let length = (out.len() - at - 4) as i32;
            out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}
