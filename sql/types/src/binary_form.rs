//! The binary form of every type: what the types' send and receive functions write and read, big-endian.

use super::failure::{insufficient, invalid_binary, left_over, no_data};
use super::form::{Form, form};
use super::text_form::{limit_bpchar, limit_varchar};
use super::{
    CallContext, Datum, Interval, SqlType, TimeTz, array, bits, domain, json, jsonpath, network,
    numeric, oids, record, xact, xml,
};
use crate::builtin::{self, stand_in};
use crate::contrib::contrib_type;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::text::utf8::plain_ascii;

/// Appends the binary form of a value of type `ty`; NULL has none.
///
/// # Errors
/// 0A000 for a type without a binary form here.
pub fn write_binary(
    context: &CallContext<'_>,
    ty: SqlType,
    datum: &Datum<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    match datum {
        Datum::Null => {}
        Datum::Bool(value) => out.push(u8::from(*value)),
        Datum::Char(value) => out.push(*value),
        Datum::Int2(value) => out.extend_from_slice(&value.to_be_bytes()),
        Datum::Int4(value) | Datum::Date(value) => out.extend_from_slice(&value.to_be_bytes()),
        Datum::Oid(value) => out.extend_from_slice(&value.to_be_bytes()),
        Datum::Int8(value) if stand_in(ty.oid.0) == oids::TID => {
            // 4 bytes of block, 2 of offset.
            out.extend_from_slice(&value.to_be_bytes()[2..]);
        }
        Datum::Int8(_) if form(ty.oid.0) == Form::Enum => {
            super::write_text(context, ty, datum, out)?;
        }
        Datum::Int8(value)
        | Datum::Time(value)
        | Datum::Timestamp(value)
        | Datum::TimestampTz(value) => out.extend_from_slice(&value.to_be_bytes()),
        Datum::TimeTz(value) => {
            out.extend_from_slice(&value.micros.to_be_bytes());
            out.extend_from_slice(&value.west.to_be_bytes());
        }
        Datum::Float4(value) => out.extend_from_slice(&value.to_bits().to_be_bytes()),
        Datum::Float8(value) => out.extend_from_slice(&value.to_bits().to_be_bytes()),
        Datum::Numeric(stored) => numeric::text::write_binary(stored, out),
        Datum::Text(text) if ty.oid.0 == oids::XML => xml::write(text, out),
        Datum::Text(text) => out.extend_from_slice(text.as_bytes()),
        Datum::Bytea(bytes) => match form(ty.oid.0) {
            Form::Inet => network::send(bytes, false, out),
            Form::Cidr => network::send(bytes, true, out),
            Form::Bits { .. } => bits::send(bytes, out),
            Form::JsonPath => jsonpath::send(bytes, out)?,
            _ if let Some(ty) = contrib_type(domain::base(context, ty).oid.0) => {
                (ty.send)(bytes, out);
            }
            _ => out.extend_from_slice(bytes),
        },
        Datum::Interval(value) => {
            out.extend_from_slice(&value.micros.to_be_bytes());
            out.extend_from_slice(&value.days.to_be_bytes());
            out.extend_from_slice(&value.months.to_be_bytes());
        }
        Datum::Array(bytes) => array::text::send(context, bytes, out)?,
        Datum::Record(bytes) => record::send(context, bytes, out)?,
        Datum::Uuid(uuid) => out.extend_from_slice(*uuid),
        Datum::Jsonb(bytes) => json::send(bytes, out),
    }
    Ok(())
}

fn fixed<const N: usize>(bytes: &[u8]) -> Result<[u8; N]> {
    if bytes.len() < N {
        return Err(insufficient());
    }
    bytes.try_into().map_err(|_| left_over())
}

/// The only byte of a value.
fn byte(bytes: &[u8]) -> Result<u8> {
    match bytes {
        [] => Err(no_data()),
        [byte] => Ok(*byte),
        _ => Err(left_over()),
    }
}

/// A text from a client, checked: UTF-8 without NUL.
///
/// # Errors
/// 22021.
pub fn check_text(bytes: &[u8]) -> Result<&str> {
    if let Some(text) = plain_ascii(bytes) {
        return Ok(text);
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let rest = &bytes[error.valid_up_to()..];
        // PostgreSQL shows the whole character that its first byte announces, as far as there are bytes.
        let announced = match rest[0] {
            0xc0..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf7 => 4,
            _ => 1,
        };
        invalid_bytes(&rest[..rest.len().min(announced)])
    })?;
    match text.bytes().any(|b| b == 0) {
        true => Err(invalid_bytes(&[0])),
        false => Ok(text),
    }
}

#[cold]
fn invalid_bytes(bytes: &[u8]) -> SqlError {
    let shown: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    SqlError::new(
        SqlState::CHARACTER_NOT_IN_REPERTOIRE,
        format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
    )
}

/// A type whose arrays have one dimension, from 0 on, and no NULL.
fn vector_name(ty: u32) -> Option<&'static str> {
    match ty {
        oids::INT2VECTOR => Some("int2vector"),
        oids::OIDVECTOR => Some("oidvector"),
        _ => None,
    }
}

/// Reads the binary form of a value of type `ty`, its modifier applied. Texts and byte strings stay where they are.
///
/// # Errors
/// [`left_over`] where the value ends before the bytes do; 08P01, 22P03, 22021, 22003, 22008 and so on.
pub fn read_binary<'a>(
    context: &CallContext<'a>,
    ty: SqlType,
    bytes: &'a [u8],
) -> Result<Datum<'a>> {
    if let Some(read) = domain::read(context, ty, |base| read_binary(context, base, bytes)) {
        return read;
    }
    use super::datetime::{arithmetic::round_to, calendar, out_of_range};
    let timestamp = |micros: i64| {
        if micros == i64::MIN || micros == i64::MAX || calendar::is_timestamp(micros) {
            Ok(round_to(micros, ty.typmod))
        } else {
            Err(out_of_range("timestamp"))
        }
    };
    Ok(match form(ty.oid.0) {
        Form::Bool => Datum::Bool(byte(bytes)? != 0),
        Form::Char => Datum::Char(byte(bytes)?),
        Form::Int2 => Datum::Int2(i16::from_be_bytes(fixed(bytes)?)),
        Form::Int4 => Datum::Int4(i32::from_be_bytes(fixed(bytes)?)),
        Form::Int8 | Form::Lsn | Form::Xid8 => Datum::Int8(i64::from_be_bytes(fixed(bytes)?)),
        Form::Tid => {
            let six: [u8; 6] = fixed(bytes)?;
            let mut eight = [0; 8];
            eight[2..].copy_from_slice(&six);
            Datum::Int8(i64::from_be_bytes(eight))
        }
        Form::Oid | Form::Reg => Datum::Oid(u32::from_be_bytes(fixed(bytes)?)),
        Form::Float4 => Datum::Float4(f32::from_bits(u32::from_be_bytes(fixed(bytes)?))),
        Form::Float8 => Datum::Float8(f64::from_bits(u64::from_be_bytes(fixed(bytes)?))),
        Form::Numeric => {
            Datum::Numeric(numeric::text::read_binary(bytes, ty.typmod)?.store(context.arena))
        }
        Form::Text => {
            let text = check_text(bytes)?;
            Datum::Text(match ty.oid.0 {
                oids::NAME if text.len() > super::text_form::NAME_LENGTH_MAX => {
                    return Err(SqlError::new(SqlState::NAME_TOO_LONG, "identifier too long")
                        .detail("Identifier must be less than 64 characters."));
                }
                oids::VARCHAR => limit_varchar(text, ty.typmod, false)?,
                oids::BPCHAR => limit_bpchar(context, text, ty.typmod, false)?,
                oids::JSON => {
                    json::check(text)?;
                    text
                }
                oids::XML => return xml::read(context, text),
                _ => text,
            })
        }
        Form::Bytea => Datum::Bytea(bytes),
        Form::Date => {
            let days = i32::from_be_bytes(fixed(bytes)?);
            if days != i32::MIN && days != i32::MAX && !calendar::is_date(i64::from(days)) {
                return Err(out_of_range("date"));
            }
            Datum::Date(days)
        }
        Form::Time => {
            let micros = i64::from_be_bytes(fixed(bytes)?);
            if !(0..=super::datetime::DAY).contains(&micros) {
                return Err(out_of_range("time"));
            }
            Datum::Time(round_to(micros, ty.typmod))
        }
        Form::TimeTz => {
            let bytes: [u8; 12] = fixed(bytes)?;
            let (micros, west) = bytes.split_first_chunk::<8>().expect("8 of 12 bytes");
            let (micros, west) = (i64::from_be_bytes(*micros), i32::from_be_bytes(fixed(west)?));
            if !(0..=super::datetime::DAY).contains(&micros) {
                return Err(out_of_range("time"));
            }
            let west = super::datetime::timetz::checked_zone(west)?;
            Datum::TimeTz(TimeTz { micros: round_to(micros, ty.typmod), west })
        }
        Form::Timestamp => Datum::Timestamp(timestamp(i64::from_be_bytes(fixed(bytes)?))?),
        Form::TimestampTz => Datum::TimestampTz(timestamp(i64::from_be_bytes(fixed(bytes)?))?),
        Form::Interval => {
            let bytes: [u8; 16] = fixed(bytes)?;
            let (micros, rest) = bytes.split_first_chunk::<8>().expect("8 of 16 bytes");
            let (days, months) = rest.split_first_chunk::<4>().expect("4 of 8 bytes");
            let interval = Interval {
                micros: i64::from_be_bytes(*micros),
                days: i32::from_be_bytes(*days),
                months: i32::from_be_bytes(fixed(months)?),
            };
            let interval = super::datetime::interval::apply_modifier(interval, ty.typmod)?;
            Datum::Interval(context.arena.alloc(interval))
        }
        Form::Inet => network::receive(context, bytes, false)?,
        Form::Cidr => network::receive(context, bytes, true)?,
        Form::Bits { .. } => bits::receive(context, ty, bytes)?,
        Form::Uuid if bytes.len() < 16 => return Err(insufficient()),
        Form::Uuid => Datum::Uuid(bytes.try_into().map_err(|_| left_over())?),
        Form::Array(element) => {
            let element = SqlType { oid: super::Oid(element), typmod: ty.typmod };
            let (array, rest) = array::text::receive(context, element, bytes)?;
            if let (Some(name), Datum::Array(stored)) = (vector_name(ty.oid.0), &array)
                && !array::is_vector(stored)
            {
                return Err(invalid_binary(format!("invalid {name} data")));
            }
            if !rest.is_empty() {
                return Err(left_over());
            }
            array
        }
        Form::Enum => super::read_text(context, ty, check_text(bytes)?)?,
        Form::Record if ty.oid.0 != oids::RECORD => record::receive(context, ty, bytes)?,
        Form::Jsonb => json::receive(context, bytes)?,
        Form::JsonPath => jsonpath::receive(context, bytes)?,
        Form::Snapshot => xact::receive(context.arena, bytes)?,
        Form::Contrib => match contrib_type(ty.oid.0) {
            Some(found) => (found.receive)(context, bytes)?,
            None => return Err(super::unsupported_type(ty.oid.0)),
        },
        Form::Void => Datum::Text(""),
        Form::Record => {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "input of anonymous composite types is not implemented",
            ));
        }
        Form::Unsupported => {
            let name = builtin::type_by_oid(ty.oid.0).map_or("unknown", |ty| ty.name);
            return Err(SqlError::unsupported(format!("binary input of type {name} is")));
        }
    })
}
