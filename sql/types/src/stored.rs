//! A single value as bytes: how arrays and rows hold their parts.
//!
//! Fixed-width values are little-endian, all others are their bytes; the length is kept by whoever holds them, and the
//! type says how to read them. Reading checks lengths and UTF-8; bytes that no value is stored as are an error of the
//! layer that kept them, and read as XX001.

use super::form::{Form, form};
use super::{Datum, Interval, TimeTz};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::text::utf8::utf8;
use bumpalo::Bump;

/// Appends a value that is not NULL.
pub fn write(datum: &Datum<'_>, out: &mut Vec<u8>) {
    match datum {
        Datum::Null => {}
        Datum::Bool(value) => out.push(u8::from(*value)),
        Datum::Char(value) => out.push(*value),
        Datum::Int2(value) => out.extend_from_slice(&value.to_le_bytes()),
        Datum::Int4(value) | Datum::Date(value) => out.extend_from_slice(&value.to_le_bytes()),
        Datum::Oid(value) => out.extend_from_slice(&value.to_le_bytes()),
        Datum::Int8(value)
        | Datum::Time(value)
        | Datum::Timestamp(value)
        | Datum::TimestampTz(value) => out.extend_from_slice(&value.to_le_bytes()),
        Datum::TimeTz(value) => {
            out.extend_from_slice(&value.micros.to_le_bytes());
            out.extend_from_slice(&value.west.to_le_bytes());
        }
        Datum::Float4(value) => out.extend_from_slice(&value.to_bits().to_le_bytes()),
        Datum::Float8(value) => out.extend_from_slice(&value.to_bits().to_le_bytes()),
        Datum::Text(value) => out.extend_from_slice(value.as_bytes()),
        Datum::Uuid(value) => out.extend_from_slice(*value),
        Datum::Interval(value) => {
            out.extend_from_slice(&value.micros.to_le_bytes());
            out.extend_from_slice(&value.days.to_le_bytes());
            out.extend_from_slice(&value.months.to_le_bytes());
        }
        Datum::Numeric(bytes)
        | Datum::Bytea(bytes)
        | Datum::Array(bytes)
        | Datum::Record(bytes)
        | Datum::Jsonb(bytes) => out.extend_from_slice(bytes),
    }
}

#[cold]
fn corrupt() -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, "a stored value does not have its type's form")
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    bytes.try_into().map_err(|_| corrupt())
}

/// The interval in 16 bytes.
///
/// # Errors
/// XX001.
pub fn read_interval(bytes: &[u8]) -> Result<Interval> {
    let bytes: [u8; 16] = fixed(bytes)?;
    let (micros, rest) = bytes.split_first_chunk::<8>().expect("8 of 16 bytes");
    let (days, months) = rest.split_first_chunk::<4>().expect("4 of 8 bytes");
    Ok(Interval {
        micros: i64::from_le_bytes(*micros),
        days: i32::from_le_bytes(*days),
        months: i32::from_le_bytes(fixed(months)?),
    })
}

/// Reads a value of the type `oid`.
///
/// # Errors
/// XX001; 0A000 for a type that cannot be held.
pub fn read<'a>(arena: &'a Bump, oid: u32, bytes: &'a [u8]) -> Result<Datum<'a>> {
    match read_in_place(oid, bytes)? {
        Some(datum) => Ok(datum),
        None => Ok(Datum::Interval(arena.alloc(read_interval(bytes)?))),
    }
}

/// The same where the bytes themselves are the value; none for an interval, which needs a place of its own.
///
/// # Errors
/// XX001; 0A000 for a type that cannot be held.
pub fn read_in_place(oid: u32, bytes: &[u8]) -> Result<Option<Datum<'_>>> {
    Ok(Some(match form(oid) {
        Form::Bool => Datum::Bool(fixed::<1>(bytes)?[0] != 0),
        Form::Char => Datum::Char(fixed::<1>(bytes)?[0]),
        Form::Int2 => Datum::Int2(i16::from_le_bytes(fixed(bytes)?)),
        Form::Int4 => Datum::Int4(i32::from_le_bytes(fixed(bytes)?)),
        Form::Int8 | Form::Lsn | Form::Xid8 | Form::Tid | Form::Enum => {
            Datum::Int8(i64::from_le_bytes(fixed(bytes)?))
        }
        Form::Oid | Form::Reg => Datum::Oid(u32::from_le_bytes(fixed(bytes)?)),
        Form::Float4 => Datum::Float4(f32::from_bits(u32::from_le_bytes(fixed(bytes)?))),
        Form::Float8 => Datum::Float8(f64::from_bits(u64::from_le_bytes(fixed(bytes)?))),
        Form::Numeric => Datum::Numeric(bytes),
        Form::Text => Datum::Text(utf8(bytes).ok_or_else(corrupt)?),
        Form::Bytea => Datum::Bytea(bytes),
        Form::Date => Datum::Date(i32::from_le_bytes(fixed(bytes)?)),
        Form::Time => Datum::Time(i64::from_le_bytes(fixed(bytes)?)),
        Form::TimeTz => {
            let bytes: [u8; 12] = fixed(bytes)?;
            let (micros, west) = bytes.split_first_chunk::<8>().expect("8 of 12 bytes");
            let (micros, west) = (i64::from_le_bytes(*micros), i32::from_le_bytes(fixed(west)?));
            Datum::TimeTz(TimeTz { micros, west })
        }
        Form::Timestamp => Datum::Timestamp(i64::from_le_bytes(fixed(bytes)?)),
        Form::TimestampTz => Datum::TimestampTz(i64::from_le_bytes(fixed(bytes)?)),
        Form::Interval => return Ok(None),
        Form::Inet
        | Form::Cidr
        | Form::Bits { .. }
        | Form::JsonPath
        | Form::Snapshot
        | Form::Contrib => Datum::Bytea(bytes),
        Form::Uuid => Datum::Uuid(bytes.try_into().map_err(|_| corrupt())?),
        Form::Array(_) => Datum::Array(bytes),
        Form::Record => Datum::Record(bytes),
        Form::Jsonb => Datum::Jsonb(bytes),
        Form::Void => Datum::Text(""),
        Form::Unsupported => return Err(super::unsupported_type(oid)),
    }))
}
