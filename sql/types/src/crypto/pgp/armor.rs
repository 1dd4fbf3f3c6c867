//! ASCII armor (RFC 4880, section 6): bytes as lines of base64 between a header and a footer, with a checksum.

use super::failed;
use crate::array::Array;
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Characters of a line.
const LINE: usize = 76;

const BEGIN: &[u8] = b"-----BEGIN";
const END: &[u8] = b"-----END";
const DASHES: &[u8] = b"-----";

/// Unused bits of the last character are not looked at.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
);

fn corrupt() -> SqlError {
    failed("Corrupt ascii-armor")
}

/// The checksum of section 6.1.
fn crc24(data: &[u8]) -> u32 {
    const START: u32 = 0x00B7_04CE;
    const POLYNOMIAL: u32 = 0x0186_4CFB;
    account::byte_stretches(data).flatten().fold(START, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte) << 16, |crc, _| {
            let crc = crc << 1;
            if crc & 0x0100_0000 == 0 { crc } else { crc ^ POLYNOMIAL }
        })
    })
}

/// Bytes in armor, with these headers.
fn encoded(data: &[u8], headers: &[(&str, &str)]) -> String {
    let mut out = String::from("-----BEGIN PGP MESSAGE-----\n");
    for (key, value) in headers {
        out.extend([key, ": ", value, "\n"]);
    }
    out.push('\n');
    for line in account::stepping(data.chunks(LINE / 4 * 3)) {
        BASE64.encode_string(line, &mut out);
        out.push('\n');
    }
    out.push('=');
    BASE64.encode_string(&crc24(data).to_be_bytes()[1..], &mut out);
    out.push_str("\n-----END PGP MESSAGE-----\n");
    out
}

/// `armor(bytea [, text[], text[]])`.
pub(in crate::crypto) fn armor<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let mut headers = Vec::new();
    if let [_, keys, values] = a {
        let (keys, values) = (header_part(context, keys)?, header_part(context, values)?);
        if keys.len() != values.len() {
            let message = "mismatched array dimensions";
            return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
        }
        for (key, value) in keys.into_iter().zip(values) {
            let key = header_text(key, "key")?;
            if key.contains(": ") {
                return Err(invalid_parameter("header key must not contain \": \""));
            }
            headers.push((key, header_text(value, "value")?));
        }
    }
    Ok(Datum::Text(account::copied_text(context.arena, &encoded(a[0].bytea(), &headers))))
}

/// The elements of an array of keys or values.
fn header_part<'a>(context: &CallContext<'a>, array: &Datum<'a>) -> Result<Vec<Datum<'a>>> {
    let Datum::Array(bytes) = array else { return Ok(Vec::new()) };
    let array = Array::of(bytes);
    if array.dimensions().count() > 1 {
        let message = "wrong number of array subscripts";
        return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
    }
    array.datums(context.arena).collect()
}

fn header_text<'a>(datum: Datum<'a>, what: &str) -> Result<&'a str> {
    let Datum::Text(text) = datum else {
        let message = format!("null value not allowed for header {what}");
        return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
    };
    if !text.is_ascii() {
        let message = format!("header {what} must not contain non-ASCII characters");
        return Err(invalid_parameter(message));
    }
    if text.contains('\n') {
        return Err(invalid_parameter(format!("header {what} must not contain newlines")));
    }
    Ok(text)
}

/// Where a line that begins so begins and where the next one does; none where it does not end as it should.
fn boundary(text: &[u8], from: usize, begin: &[u8]) -> Option<(usize, usize)> {
    let found = memchr::memmem::find_iter(&text[from..], begin).map(|at| from + at);
    let start = found.into_iter().find(|at| *at == 0 || text[at - 1] == b'\n')?;
    let name = start + begin.len();
    let mut end = name + memchr::memmem::find(&text[name..], DASHES)? + DASHES.len();
    if text[name..end].contains(&b'\n') {
        return None;
    }
    match &text[end..] {
        [] => {}
        [b'\r', b'\n', ..] => end += 2,
        [b'\n' | b'\r', ..] => end += 1,
        _ => return None,
    }
    Some((start, end))
}

/// What an armor is made of.
struct Parts<'t> {
    headers: &'t [u8],
    body: &'t [u8],
}

fn parts(text: &[u8]) -> Result<Parts<'_>> {
    let (_, start) = boundary(text, 0, BEGIN).ok_or_else(corrupt)?;
    let (end, _) = boundary(text, start, END).ok_or_else(corrupt)?;
    let mut at = start;
    // An empty line ends the headers.
    while at < end && !matches!(text[at], b'\n' | b'\r') {
        at += memchr::memchr(b'\n', &text[at..end]).ok_or_else(corrupt)? + 1;
    }
    Ok(Parts { headers: &text[start..at], body: &text[at..end] })
}

fn base64(text: &[u8]) -> Result<Vec<u8>> {
    let text: Vec<u8> = account::byte_stretches(text)
        .flatten()
        .copied()
        .filter(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
        .collect();
    BASE64.decode(text).map_err(|_| corrupt())
}

/// The bytes that are in an armor.
fn decoded(text: &[u8]) -> Result<Vec<u8>> {
    let body = parts(text)?.body;
    let sum = memchr::memrchr(b'=', body).ok_or_else(corrupt)?;
    let wanted = body.get(sum + 1..sum + 5).ok_or_else(corrupt)?;
    let wanted = base64(wanted)?;
    // A line ends before the checksum.
    let data = base64(body.get(..sum.saturating_sub(1)).unwrap_or_default())?;
    if crc24(&data).to_be_bytes()[1..] == wanted[..] { Ok(data) } else { Err(corrupt()) }
}

/// `dearmor(text)`.
pub(in crate::crypto) fn dearmor<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let data = decoded(a[0].text().as_bytes())?;
    Ok(Datum::Bytea(account::copied(context.arena, &data)))
}

/// `pgp_armor_headers(text)`.
pub(in crate::crypto) fn headers<'a>(
    a: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let text = a[0].text();
    let Parts { headers, .. } = parts(text.as_bytes())?;
    // All of them are looked at before the first is told.
    let start = headers.as_ptr() as usize - text.as_ptr() as usize;
    let lines = text[start..start + headers.len()].lines();
    let pairs = lines.map(|line| line.split_once(": ").ok_or_else(corrupt));
    for (key, value) in pairs.collect::<Result<Vec<_>>>()? {
        if !emit(&[Datum::Text(key), Datum::Text(value)])? {
            break;
        }
    }
    Ok(())
}
