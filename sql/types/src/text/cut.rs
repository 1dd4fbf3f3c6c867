//! Functions that measure, find and cut: length, substring, position, trim, split, left, right.

use super::{byte_of, find, length};
use crate::account;
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::order::without_blanks;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1257, Plain(character_length)),
    (1317, Plain(character_length)),
    (1369, Plain(character_length)),
    (1381, Plain(character_length)),
    (1318, Plain(bpchar_length)),
    (1367, Plain(bpchar_length)),
    (1372, Plain(bpchar_length)),
    (1374, Plain(|_, a| Ok(Datum::Int4(a[0].text().len() as i32)))),
    (1375, Plain(|_, a| Ok(Datum::Int4(a[0].text().len() as i32)))),
    (1811, Plain(|_, a| Ok(Datum::Int4(a[0].text().len() as i32 * 8)))),
    (720, Plain(|_, a| Ok(Datum::Int4(a[0].bytea().len() as i32)))),
    (2010, Plain(|_, a| Ok(Datum::Int4(a[0].bytea().len() as i32)))),
    (1810, Plain(|_, a| Ok(Datum::Int4(a[0].bytea().len() as i32 * 8)))),
    (849, Plain(position)),
    (868, Plain(position)),
    (2014, Plain(byte_position)),
    (877, Plain(substring)),
    (883, Plain(substring)),
    (936, Plain(substring)),
    (937, Plain(substring)),
    (2012, Plain(byte_substring)),
    (2013, Plain(byte_substring)),
    (2085, Plain(byte_substring)),
    (2086, Plain(byte_substring)),
    (875, Plain(|_, a| Ok(trim(a, true, false)))),
    (881, Plain(|_, a| Ok(trim(a, true, false)))),
    (876, Plain(|_, a| Ok(trim(a, false, true)))),
    (882, Plain(|_, a| Ok(trim(a, false, true)))),
    (884, Plain(|_, a| Ok(trim(a, true, true)))),
    (885, Plain(|_, a| Ok(trim(a, true, true)))),
    (2015, Plain(|_, a| Ok(byte_trim(a, true, true)))),
    (6195, Plain(|_, a| Ok(byte_trim(a, true, false)))),
    (6196, Plain(|_, a| Ok(byte_trim(a, false, true)))),
    (2088, Plain(split_part)),
    (3060, Plain(left)),
    (3061, Plain(right)),
    (3696, Plain(|_, a| Ok(Datum::Bool(a[0].text().starts_with(a[1].text()))))),
    (1620, Plain(|_, a| Ok(Datum::Int4(a[0].text().chars().next().map_or(0, |c| c as i32))))),
    (721, Plain(get_byte)),
    (722, Plain(set_byte)),
];

fn character_length<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(Datum::Int4(length(a[0].text()) as i32))
}

fn bpchar_length<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(Datum::Int4(length(without_blanks(a[0].text())) as i32))
}

fn position<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    let found = find(text.as_bytes(), a[1].text().as_bytes());
    let found = found.map_or(0, |at| length(&text[..at]) + 1);
    Ok(Datum::Int4(found as i32))
}

fn byte_position<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (bytes, part) = (a[0].bytea(), a[1].bytea());
    Ok(Datum::Int4(find(bytes, part).map_or(0, |at| at as i32 + 1)))
}

/// From and to (exclusive), from 0, of `substring(... from start for count)`.
fn range(a: &[Datum<'_>]) -> Result<(usize, usize)> {
    let start = i64::from(a[1].int4());
    let end = match a.get(2) {
        Some(count) => {
            let count = i64::from(count.int4());
            if count < 0 {
                return Err(SqlError::new(
                    SqlState::SUBSTRING_ERROR,
                    "negative substring length not allowed",
                ));
            }
            start + count
        }
        None => i64::MAX,
    };
    let from = start.max(1) - 1;
    Ok((from as usize, (end - 1).max(from) as usize))
}

fn substring<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (from, to) = range(a)?;
    let text = a[0].text();
    let behind = &text[byte_of(text, from)..];
    Ok(Datum::Text(&behind[..byte_of(behind, to - from)]))
}

fn byte_substring<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (from, to) = range(a)?;
    let bytes = a[0].bytea();
    Ok(Datum::Bytea(&bytes[from.min(bytes.len())..to.min(bytes.len())]))
}

fn trim<'a>(a: &[Datum<'a>], start: bool, end: bool) -> Datum<'a> {
    let mut text = a[0].text();
    let set = a.get(1).map_or(" ", |set| set.text());
    let among = |character| {
        account::step();
        set.contains(character)
    };
    if start {
        text = text.trim_start_matches(among);
    }
    if end {
        text = text.trim_end_matches(among);
    }
    Datum::Text(text)
}

fn byte_trim<'a>(a: &[Datum<'a>], start: bool, end: bool) -> Datum<'a> {
    let (mut bytes, set) = (a[0].bytea(), a[1].bytea());
    while let (true, Some((first, rest))) = (start, bytes.split_first()) {
        account::step();
        if !set.contains(first) {
            break;
        }
        bytes = rest;
    }
    while let (true, Some((last, rest))) = (end, bytes.split_last()) {
        account::step();
        if !set.contains(last) {
            break;
        }
        bytes = rest;
    }
    Datum::Bytea(bytes)
}

fn split_part<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (text, separator, field) = (a[0].text(), a[1].text(), a[2].int4());
    if field == 0 {
        return Err(invalid_parameter("field position must not be zero"));
    }
    let whole = field.unsigned_abs() == 1;
    if text.is_empty() || separator.is_empty() {
        return Ok(Datum::Text(if whole && !text.is_empty() { text } else { "" }));
    }
    let nth = field.unsigned_abs() as usize - 1;
    let part = if field > 0 {
        account::stepping(text.split(separator)).nth(nth)
    } else {
        // Fields are counted from the left even then, so overlapping separators are not split anew.
        let count = account::stepping(text.split(separator)).count();
        count.checked_sub(nth + 1).and_then(|nth| account::stepping(text.split(separator)).nth(nth))
    };
    Ok(Datum::Text(part.unwrap_or("")))
}

/// How many characters `left` (or, from the other end, `right`) takes.
fn taken(text: &str, count: i32) -> usize {
    if count >= 0 {
        count as usize
    } else {
        length(text).saturating_sub(count.unsigned_abs() as usize)
    }
}

fn left<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    Ok(Datum::Text(&text[..byte_of(text, taken(text, a[1].int4()))]))
}

fn right<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    let skipped = length(text).saturating_sub(taken(text, a[1].int4()));
    Ok(Datum::Text(&text[byte_of(text, skipped)..]))
}

fn byte_index(bytes: &[u8], index: i32) -> Result<usize> {
    usize::try_from(index).ok().filter(|index| *index < bytes.len()).ok_or_else(|| {
        SqlError::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            format!(
                "index {index} out of valid range, 0..{}",
                i64::try_from(bytes.len()).unwrap_or(i64::MAX) - 1
            ),
        )
    })
}

fn get_byte<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let bytes = a[0].bytea();
    Ok(Datum::Int4(i32::from(bytes[byte_index(bytes, a[1].int4())?])))
}

fn set_byte<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let index = byte_index(a[0].bytea(), a[1].int4())?;
    let bytes = account::joined(context.arena, &[a[0].bytea()]);
    bytes[index] = a[2].int4() as u8;
    Ok(Datum::Bytea(bytes))
}
