//! The text form of every type: what the types' input and output functions read and write.
//!
//! One function each way, chosen by how the type is held. Numbers, texts and timestamps are written into the output
//! buffer without a detour through the heap.

use super::datetime::{interval_read, interval_write, output, parse};
use super::enums;
use super::failure::{invalid_syntax, value_out_of_range};
use super::form::{Form, form};
use super::{
    CallContext, Datum, SqlType, array, bits, bytea, domain, float, integer, json, jsonpath,
    network, numeric, oids, record, xact, xml,
};
use crate::account;
use crate::builtin;
use crate::contrib::contrib_type;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// Appends the text of a value of type `ty`; NULL has none.
///
/// # Errors
/// 0A000 for a type without a text form here.
pub fn write_text(
    context: &CallContext<'_>,
    ty: SqlType,
    datum: &Datum<'_>,
    out: &mut Vec<u8>,
) -> Result<()> {
    match datum {
        Datum::Null => {}
        Datum::Bool(value) => out.push(if *value { b't' } else { b'f' }),
        Datum::Int2(value) => integer::write_i64(i64::from(*value), out),
        Datum::Int4(value) => integer::write_i64(i64::from(*value), out),
        Datum::Int8(value) if ty.oid.0 == oids::INT8 => integer::write_i64(*value, out),
        Datum::Int8(value) => {
            write_wide(context, domain::base(context, ty).oid.0, *value, out);
        }
        Datum::Oid(value) => match domain::base(context, ty).oid.0 {
            oids::OID | oids::XID | oids::CID => integer::write_u64(u64::from(*value), out),
            other if form(other) == Form::Reg => {
                out.extend_from_slice(context.catalog.reg_out(context, other, *value).as_bytes());
            }
            _ => integer::write_u64(u64::from(*value), out),
        },
        Datum::Float4(value) => {
            float::write_f32(*value, context.settings.extra_float_digits, out);
        }
        Datum::Float8(value) => {
            float::write_f64(*value, context.settings.extra_float_digits, out);
        }
        Datum::Char(value) => write_char(*value, out),
        Datum::Numeric(stored) => numeric::text::write(stored, out),
        Datum::Text(text) if ty.oid.0 == oids::XML => xml::write(text, out),
        Datum::Text(text) => out.extend_from_slice(text.as_bytes()),
        Datum::Bytea(bytes) => match form(ty.oid.0) {
            Form::Inet => network::write_stored(bytes, false, out),
            Form::Cidr => network::write_stored(bytes, true, out),
            Form::Bits { .. } => bits::write(bytes, out),
            Form::JsonPath => jsonpath::write(bytes, out)?,
            Form::Snapshot => xact::write(bytes, out),
            _ if let Some(ty) = contrib_type(domain::base(context, ty).oid.0) => {
                (ty.write)(context, bytes, out);
            }
            _ => bytea::write(bytes, context.settings.bytea_hex, out),
        },
        Datum::Date(days) => output::write_date(context.settings, *days, out),
        Datum::Time(micros) => output::write_time(*micros, out),
        Datum::TimeTz(value) => output::write_timetz(*value, out),
        Datum::Timestamp(micros) => output::write_timestamp(context.settings, *micros, out),
        Datum::TimestampTz(micros) => output::write_timestamptz(context.settings, *micros, out),
        Datum::Interval(value) => {
            interval_write::write(context.settings.interval_style, value, out);
        }
        Datum::Array(bytes) => {
            array::text::write(context, domain::base(context, ty).oid.0, bytes, out)?;
        }
        Datum::Record(bytes) => record::write(context, bytes, out)?,
        Datum::Uuid(uuid) => bytea::write_uuid(uuid, out),
        Datum::Jsonb(bytes) => json::write(bytes, out),
    }
    Ok(())
}

/// The text of a value in the arena.
///
/// # Errors
/// As [`write_text`].
pub fn text_of<'a>(context: &CallContext<'a>, ty: SqlType, datum: &Datum<'_>) -> Result<&'a str> {
    let mut out = Vec::new();
    write_text(context, ty, datum, &mut out)?;
    Ok(super::arena_text(context, &out))
}

fn write_wide(context: &CallContext<'_>, ty: u32, value: i64, out: &mut Vec<u8>) {
    let bits = value as u64;
    match form(ty) {
        Form::Lsn => {
            let text = format!("{:X}/{:X}", bits >> 32, bits & 0xffff_ffff);
            out.extend_from_slice(text.as_bytes());
        }
        Form::Tid => {
            let text = format!("({},{})", bits >> 16, bits & 0xffff);
            out.extend_from_slice(text.as_bytes());
        }
        Form::Xid8 => integer::write_u64(bits, out),
        Form::Enum => match context.catalog.enum_label(ty, value) {
            Some(label) => out.extend_from_slice(label.as_bytes()),
            None => integer::write_i64(value, out),
        },
        _ => integer::write_i64(value, out),
    }
}

/// "char": a byte from 128 on is shown in octal, 0 as nothing.
fn write_char(value: u8, out: &mut Vec<u8>) {
    match value {
        0 => {}
        1..=127 => out.push(value),
        _ => {
            out.push(b'\\');
            out.extend([value >> 6, value >> 3 & 7, value & 7].map(|digit| b'0' + digit));
        }
    }
}

/// Reads the text of a value of type `ty`, its modifier applied; what is not a plain number is put in the arena.
///
/// # Errors
/// Those of the type's input function: 22P02, 22003, 22001, 22007, 22008 and so on.
pub fn read_text<'a>(context: &CallContext<'a>, ty: SqlType, text: &str) -> Result<Datum<'a>> {
    if let Some(read) = domain::read(context, ty, |base| read_text(context, base, text)) {
        return read;
    }
    let signed = |min: i64, max: i64, name: &str| integer::read_signed(text, min, max, name);
    let now = parse::Now {
        settings: context.settings,
        transaction_time: context.transaction_time,
        asked: context.time_read,
    };
    Ok(match form(ty.oid.0) {
        Form::Bool => Datum::Bool(read_bool(text)?),
        Form::Char => Datum::Char(read_char(text)),
        Form::Int2 => {
            Datum::Int2(signed(i64::from(i16::MIN), i64::from(i16::MAX), "smallint")? as i16)
        }
        Form::Int4 => {
            Datum::Int4(signed(i64::from(i32::MIN), i64::from(i32::MAX), "integer")? as i32)
        }
        Form::Int8 => Datum::Int8(signed(i64::MIN, i64::MAX, "bigint")?),
        Form::Lsn => Datum::Int8(read_lsn(text)?),
        Form::Xid8 => Datum::Int8(integer::read_c(text, true).0 as i64),
        Form::Tid => Datum::Int8(read_tid(text)?),
        Form::Oid if matches!(ty.oid.0, oids::XID | oids::CID) => {
            Datum::Oid(integer::read_c(text, true).0 as u32)
        }
        Form::Oid => {
            let name = builtin::type_by_oid(ty.oid.0).map_or("oid", |ty| ty.name);
            Datum::Oid(integer::read_oid(text, name)?)
        }
        Form::Reg => Datum::Oid(match text {
            "-" => 0,
            digits if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) => {
                digits.parse().map_err(|_| value_out_of_range("oid", text))?
            }
            name if context.constant => context.catalog.reg_constant(ty.oid.0, name)?,
            name => context.catalog.reg_in(ty.oid.0, name)?,
        }),
        Form::Float4 => Datum::Float4(float::read_f32(text)?),
        Form::Float8 => Datum::Float8(float::read_f64(text)?),
        Form::Numeric => Datum::Numeric(numeric::text::read(text, ty.typmod)?.store(context.arena)),
        Form::Text if ty.oid.0 == oids::XML => xml::read(context, text)?,
        Form::Text => Datum::Text(read_string(context, ty, text)?),
        Form::Bytea => Datum::Bytea(bytea::read(context.arena, text)?),
        Form::Date => Datum::Date(parse::read_date(now, text)?),
        Form::Time => Datum::Time(parse::read_time(now, text, ty.typmod)?),
        Form::TimeTz => Datum::TimeTz(parse::read_timetz(now, text, ty.typmod)?),
        Form::Timestamp => Datum::Timestamp(parse::read_timestamp(now, text, ty.typmod)?),
        Form::TimestampTz => Datum::TimestampTz(parse::read_timestamptz(now, text, ty.typmod)?),
        Form::Interval => {
            let style = context.settings.interval_style;
            Datum::Interval(context.arena.alloc(interval_read::read(style, text, ty.typmod)?))
        }
        Form::Inet => network::read(context, text, false)?,
        Form::Cidr => network::read(context, text, true)?,
        Form::Bits { .. } => bits::read(context, ty, text)?,
        Form::Uuid => Datum::Uuid(context.arena.alloc(bytea::read_uuid(text)?)),
        Form::Array(element) => {
            let element = SqlType { oid: super::Oid(element), typmod: ty.typmod };
            array::text::read(context, ty.oid.0, element, text)?
        }
        Form::Enum => {
            let position = context.catalog.enum_position(ty.oid.0, text);
            let position = position.ok_or_else(|| enums::unknown_label(context, ty, text))?;
            enums::usable(context, ty.oid.0, position)?
        }
        Form::Record if ty.oid.0 != oids::RECORD => record::read(context, ty, text)?,
        Form::Jsonb => json::jsonb_of_text(context, text)?,
        Form::JsonPath => jsonpath::read(context, text)?,
        Form::Snapshot => xact::read(context.arena, text)?,
        Form::Contrib => match contrib_type(ty.oid.0) {
            Some(found) => (found.read)(context, text)?,
            None => return Err(super::unsupported_type(ty.oid.0)),
        },
        Form::Void => Datum::Text(""),
        Form::Record => {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "input of anonymous composite types is not implemented",
            ));
        }
        Form::Unsupported => return Err(super::unsupported_type(ty.oid.0)),
    })
}

/// Any beginning of true, false, yes, no; on, of, off; 1, 0: in any case.
///
/// # Errors
/// 22P02.
pub fn read_bool(text: &str) -> Result<bool> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii() && integer::is_space(c as u8));
    let begins = |word: &str| {
        !trimmed.is_empty()
            && word.len() >= trimmed.len()
            && word.as_bytes()[..trimmed.len()].eq_ignore_ascii_case(trimmed.as_bytes())
    };
    if begins("true") || begins("yes") || trimmed.eq_ignore_ascii_case("on") || trimmed == "1" {
        Ok(true)
    } else if begins("false")
        || begins("no")
        || (begins("off") && trimmed.len() >= 2)
        || trimmed == "0"
    {
        Ok(false)
    } else {
        Err(invalid_syntax("boolean", text))
    }
}

/// "char": an octal escape, else the first byte.
pub(super) fn read_char(text: &str) -> u8 {
    match text.as_bytes() {
        [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7'] => {
            (a - b'0') << 6 | (b - b'0') << 3 | (c - b'0')
        }
        [first, ..] => *first,
        [] => 0,
    }
}

fn read_lsn(text: &str) -> Result<i64> {
    let invalid = || invalid_syntax("pg_lsn", text);
    let (high, low) = text.split_once('/').ok_or_else(invalid)?;
    let part = |part: &str| {
        let valid = (1..=8).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_hexdigit());
        if valid { u64::from_str_radix(part, 16).map_err(|_| invalid()) } else { Err(invalid()) }
    };
    Ok((part(high)? << 32 | part(low)?) as i64)
}

fn read_tid(text: &str) -> Result<i64> {
    let invalid = || invalid_syntax("tid", text);
    // What stands before the first parenthesis and behind the last is not looked at, and no digits are 0.
    let (_, inner) = text.split_once('(').ok_or_else(invalid)?;
    let (block, rest) = inner.split_once(',').ok_or_else(invalid)?;
    let (offset, _) = rest.split_once(')').ok_or_else(invalid)?;
    let number = |digits: &str, spaces: &[char]| match digits.trim_start_matches(spaces) {
        "" if digits.is_empty() => Ok(0),
        digits => digits.parse::<i64>().map_err(|_| invalid()),
    };
    const SPACES: [char; 6] = [' ', '\t', '\n', '\r', '\u{b}', '\u{c}'];
    let block = number(block, &SPACES)?;
    // A negative number is one from the end of all.
    let block = match i32::try_from(block) {
        Ok(block) => block.cast_unsigned(),
        Err(_) => u32::try_from(block).map_err(|_| invalid())?,
    };
    let offset = u16::try_from(number(offset, &SPACES)?).map_err(|_| invalid())?;
    Ok((u64::from(block) << 16 | u64::from(offset)) as i64)
}

/// Longest name in bytes.
pub const NAME_LENGTH_MAX: usize = 63;

/// The first bytes of a text, no character cut in two.
#[must_use]
pub fn truncate_bytes(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn read_string<'a>(context: &CallContext<'a>, ty: SqlType, text: &str) -> Result<&'a str> {
    if text.contains('\0') {
        return Err(SqlError::new(
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
            "invalid byte sequence for encoding \"UTF8\": 0x00",
        ));
    }
    let arena = context.arena;
    Ok(match ty.oid.0 {
        oids::NAME => arena.alloc_str(truncate_bytes(text, NAME_LENGTH_MAX)),
        oids::VARCHAR => arena.alloc_str(limit_varchar(text, ty.typmod, false)?),
        oids::BPCHAR => limit_bpchar(context, text, ty.typmod, false)?,
        oids::JSON => {
            json::check(text)?;
            account::copied_text(arena, text)
        }
        _ => account::copied_text(arena, text),
    })
}

/// The characters that a modifier of varchar or bpchar allows; none for no limit.
fn character_limit(typmod: i32) -> Option<usize> {
    typmod.checked_sub(4).filter(|_| typmod >= 4).map(|limit| limit as usize)
}

/// varchar(n): too long a text is an error, unless only blanks are cut off or the cast is explicit.
///
/// # Errors
/// 22001.
pub fn limit_varchar(text: &str, typmod: i32, explicit: bool) -> Result<&str> {
    let Some(limit) = character_limit(typmod) else { return Ok(text) };
    if text.len() <= limit {
        return Ok(text);
    }
    let Some((end, _)) = text.char_indices().nth(limit) else { return Ok(text) };
    if !explicit && text[end..].bytes().any(|b| b != b' ') {
        return Err(too_long("character varying", limit));
    }
    Ok(&text[..end])
}

/// What a bpchar is filled up with.
const BLANKS: &str = "                                                                ";

/// bpchar(n): too long as varchar, too short is filled up with blanks.
///
/// # Errors
/// 22001.
pub fn limit_bpchar<'a>(
    context: &CallContext<'a>,
    text: &str,
    typmod: i32,
    explicit: bool,
) -> Result<&'a str> {
    let Some(limit) = character_limit(typmod) else { return Ok(context.arena.alloc_str(text)) };
    // Counting looks at many bytes at a time, finding a place does not.
    let count = text.chars().count();
    if count > limit
        && let Some((end, _)) = text.char_indices().nth(limit)
    {
        if !explicit && text[end..].bytes().any(|b| b != b' ') {
            return Err(too_long("character", limit));
        }
        return Ok(context.arena.alloc_str(&text[..end]));
    }
    let missing = limit.saturating_sub(count);
    let mut out =
        bumpalo::collections::String::with_capacity_in(text.len() + missing, context.arena);
    out.push_str(text);
    // In portions: a character at a time is checked for its width each time.
    let mut missing = missing;
    while missing > 0 {
        let portion = missing.min(BLANKS.len());
        out.push_str(&BLANKS[..portion]);
        missing -= portion;
    }
    Ok(out.into_bump_str())
}

#[cold]
fn too_long(name: &str, limit: usize) -> SqlError {
    SqlError::new(
        SqlState::STRING_DATA_RIGHT_TRUNCATION,
        format!("value too long for type {name}({limit})"),
    )
}
