//! Functions that make new text: concatenation, case, padding, replacement, quoting.

use super::quote::{self, literal, quoting};
use super::{byte_of, case, check_value, find, finished, growing, growing_to, length};
use crate::account;
use crate::error::{Result, SqlError};
use crate::failure::{invalid_parameter, out_of_range};
use crate::function::Callable::{self, Plain, Typed};
use crate::order::without_blanks;
use crate::sqlstate::SqlState;
use crate::text_form::{limit_bpchar, limit_varchar, read_char};
use crate::{CallContext, Datum, Signature, SqlType, oids, text_of, truncate_bytes};
use std::fmt::Write;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1258, Plain(concatenate)),
    (2011, Plain(concatenate_bytes)),
    (2003, Typed(concatenate_any)),
    (2004, Typed(concatenate_any)),
    (3058, Typed(concat)),
    (3059, Typed(concat_ws)),
    (870, Plain(|c, a| map(c, a[0].text(), case::lower))),
    (871, Plain(|c, a| map(c, a[0].text(), case::upper))),
    (872, Plain(initcap)),
    (873, Plain(lpad)),
    (879, Plain(lpad)),
    (874, Plain(rpad)),
    (880, Plain(rpad)),
    (878, Plain(translate)),
    (1404, Plain(overlay)),
    (1405, Plain(overlay)),
    (1621, Plain(chr)),
    (1622, Plain(repeat)),
    (2087, Plain(replace)),
    (
        3062,
        Plain(|c, a| {
            let mut out = growing_to(c, a[0].text().len());
            a[0].text().chars().rev().for_each(|character| out.push(character));
            finished(out)
        }),
    ),
    (
        1282,
        Plain(|c, a| Ok(Datum::Text(account::copied_text(c.arena, &identifier(c, a[0].text()))))),
    ),
    (1283, Plain(|c, a| quote_literal(c, a[0].text()))),
    (1285, Typed(quote_any)),
    (1289, Plain(quote_nullable)),
    (1290, Typed(quote_any)),
    (2089, Plain(|c, a| write(c, format_args!("{:x}", a[0].int4())))),
    (2090, Plain(|c, a| write(c, format_args!("{:x}", a[0].int8())))),
    (401, Plain(|_, a| Ok(Datum::Text(without_blanks(a[0].text()))))),
    (406, Plain(|_, a| Ok(a[0]))),
    (407, Plain(to_name)),
    (408, Plain(|_, a| Ok(a[0]))),
    (409, Plain(|_, a| Ok(Datum::Text(truncate_bytes(without_blanks(a[0].text()), 63))))),
    (1400, Plain(to_name)),
    (1401, Plain(|_, a| Ok(a[0]))),
    (860, Plain(char_to_text)),
    (946, Plain(char_to_text)),
    (944, Plain(|_, a| Ok(Datum::Char(read_char(a[0].text()))))),
    (668, Plain(|c, a| Ok(Datum::Text(limit_bpchar(c, a[0].text(), a[1].int4(), a[2].bool())?)))),
    (669, Plain(|_, a| Ok(Datum::Text(limit_varchar(a[0].text(), a[1].int4(), a[2].bool())?)))),
    (2971, Plain(|_, a| Ok(Datum::Text(if a[0].bool() { "true" } else { "false" })))),
    (266, Plain(name_with_oid)),
];

fn write<'a>(context: &CallContext<'a>, arguments: std::fmt::Arguments<'_>) -> Result<Datum<'a>> {
    let mut out = growing(context);
    out.write_fmt(arguments).expect("a text in the arena takes everything");
    finished(out)
}

fn to_name<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(Datum::Text(truncate_bytes(a[0].text(), 63)))
}

fn char_to_text<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(Datum::Text(text_of(context, SqlType::plain(oids::CHAR), &a[0])?))
}

fn name_with_oid<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let suffix = format!("_{}", a[1].oid());
    let kept = truncate_bytes(a[0].text(), 63 - suffix.len());
    write(context, format_args!("{kept}{suffix}"))
}

fn concatenate<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (left, right) = (a[0].text(), a[1].text());
    check_value(left.len() + right.len())?;
    let mut out = growing_to(context, left.len() + right.len());
    out.push_str(left);
    out.push_str(right);
    finished(out)
}

fn concatenate_bytes<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (left, right) = (a[0].bytea(), a[1].bytea());
    check_value(left.len() + right.len())?;
    Ok(Datum::Bytea(account::joined(context.arena, &[left, right])))
}

fn concatenate_any<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let [left, right] = [0, 1].map(|i| match a[i] {
        // These two functions cast to text, which for two types is not the text form.
        Datum::Bool(value) => Ok(if value { "true" } else { "false" }),
        Datum::Text(text) if signature.arguments[i].oid.0 == oids::BPCHAR => {
            Ok(without_blanks(text))
        }
        ref other => text_of(context, signature.arguments[i], other),
    });
    let (left, right) = (left?, right?);
    concatenate(context, &[Datum::Text(left), Datum::Text(right)])
}

/// The texts of VARIADIC "any" arguments from `first` on: given one by one, or as the array's elements; none of a NULL
/// array.
pub(super) fn variadic<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
    first: usize,
) -> Result<Option<Vec<Option<&'a str>>>> {
    let text = |ty, datum: &Datum<'a>| match datum {
        Datum::Null => Ok(None),
        datum => text_of(context, ty, datum).map(Some),
    };
    if signature.variadic_spread {
        let given = a[first..].iter().zip(&signature.arguments[first..]);
        return given.map(|(datum, ty)| text(*ty, datum)).collect::<Result<_>>().map(Some);
    }
    if a[first].is_null() {
        return Ok(None);
    }
    let array = a[first].array();
    let element = SqlType::plain(array.element);
    array.datums(context.arena).map(|datum| text(element, &datum?)).collect::<Result<_>>().map(Some)
}

fn concat<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let Some(texts) = variadic(context, signature, a, 0)? else { return Ok(Datum::Null) };
    let bytes = texts.iter().flatten().map(|text| text.len()).sum();
    let mut out = growing_to(context, bytes);
    texts.into_iter().flatten().for_each(|text| out.push_str(text));
    finished(out)
}

fn concat_ws<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let Some(texts) = variadic(context, signature, a, 1)? else { return Ok(Datum::Null) };
    let bytes = texts.iter().flatten().map(|text| text.len() + a[0].text().len()).sum::<usize>();
    let mut out = growing_to(context, bytes.saturating_sub(a[0].text().len()));
    for (i, text) in texts.into_iter().flatten().enumerate() {
        if i > 0 {
            out.push_str(a[0].text());
        }
        out.push_str(text);
    }
    finished(out)
}

fn map<'a>(context: &CallContext<'a>, text: &str, map: fn(char) -> char) -> Result<Datum<'a>> {
    let mut out = growing(context);
    text.chars().for_each(|character| out.push(map(character)));
    finished(out)
}

fn initcap<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let mut inside = false;
    let mut out = growing(context);
    for character in a[0].text().chars() {
        out.push(if inside { case::lower(character) } else { case::upper(character) });
        inside = character.is_alphanumeric();
    }
    finished(out)
}

/// What is put in front or behind to reach a length, and how much of the text stays.
fn pad<'a>(a: &[Datum<'a>]) -> Result<(&'a str, String)> {
    let (text, wanted) = (a[0].text(), usize::try_from(a[1].int4()).unwrap_or(0));
    let fill = a.get(2).map_or(" ", |fill| fill.text());
    let kept = &text[..byte_of(text, wanted)];
    let reached = length(kept);
    let wanted = if fill.is_empty() { reached } else { wanted };
    // As PostgreSQL does, each character is taken to be as long as one can be.
    check_size(wanted.saturating_mul(4))?;
    Ok((kept, fill.chars().cycle().take(wanted.saturating_sub(reached)).collect()))
}

/// 54000 for results past PostgreSQL's 1 GB, 4 bytes of which say how long they are.
pub(super) fn check_size(bytes: usize) -> Result<()> {
    if check_value(bytes).is_err() {
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "requested length too large"));
    }
    Ok(())
}

fn lpad<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (kept, padding) = pad(a)?;
    write(context, format_args!("{padding}{kept}"))
}

fn rpad<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (kept, padding) = pad(a)?;
    write(context, format_args!("{kept}{padding}"))
}

fn translate<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (from, to) = (a[1].text(), a[2].text());
    let mut out = growing(context);
    for character in a[0].text().chars() {
        match from.chars().position(|candidate| candidate == character) {
            None => out.push(character),
            Some(index) => {
                if let Some(character) = to.chars().nth(index) {
                    out.push(character);
                }
            }
        }
    }
    finished(out)
}

fn overlay<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (text, new, start) = (a[0].text(), a[1].text(), i64::from(a[2].int4()));
    if start <= 0 {
        return Err(SqlError::new(
            SqlState::SUBSTRING_ERROR,
            "negative substring length not allowed",
        ));
    }
    let count = a.get(3).map_or(length(new) as i64, |count| i64::from(count.int4()));
    if i32::try_from(start + count).is_err() {
        return Err(out_of_range("integer"));
    }
    let before = &text[..byte_of(text, start as usize - 1)];
    let behind = &text[byte_of(text, (start - 1 + count).max(0) as usize)..];
    check_value(before.len() + new.len())?;
    check_value(before.len() + new.len() + behind.len())?;
    write(context, format_args!("{before}{new}{behind}"))
}

fn chr<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let code = a[0].int4();
    let error = |message: String| SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message);
    if code == 0 {
        return Err(error("null character not permitted".to_owned()));
    }
    if code < 0 {
        return Err(invalid_parameter("character number must be positive"));
    }
    let character = char::from_u32(code as u32).ok_or_else(|| {
        let invalid = (0xd800..0xe000).contains(&code);
        error(if invalid {
            format!("requested character not valid for encoding: {code}")
        } else {
            format!("requested character too large for encoding: {code}")
        })
    })?;
    write(context, format_args!("{character}"))
}

/// About how much `repeat` copies at once, in bytes.
const REPEATED_BYTES: usize = 4096;

fn repeat<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (text, count) = (a[0].text(), usize::try_from(a[1].int4()).unwrap_or(0));
    check_size(text.len().saturating_mul(count))?;
    if text.is_empty() {
        return Ok(Datum::Text(""));
    }
    let mut out = growing_to(context, text.len() * count);
    // Short texts go in by blocks of many.
    let each = (REPEATED_BYTES / text.len()).clamp(1, count.max(1));
    let block = text.repeat(each);
    for _ in 0..count / each {
        out.push_str(&block);
    }
    out.push_str(&block[..text.len() * (count % each)]);
    finished(out)
}

fn replace<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (text, from, to) = (a[0].text(), a[1].text(), a[2].text());
    if from.is_empty() || find(text.as_bytes(), from.as_bytes()).is_none() {
        return Ok(a[0]);
    }
    let found = account::stepping(text.matches(from)).count();
    let mut out = growing_to(context, text.len() - found * from.len() + found * to.len());
    for (i, part) in text.split(from).enumerate() {
        if i > 0 {
            out.push_str(to);
        }
        out.push_str(part);
    }
    finished(out)
}

/// As PostgreSQL does, each byte is taken to be doubled.
fn quote_literal<'a>(context: &CallContext<'a>, text: &str) -> Result<Datum<'a>> {
    check_value(text.len() * 2 + 3)?;
    Ok(Datum::Text(account::copied_text(context.arena, &literal(text))))
}

fn quote_nullable<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    match a[0] {
        Datum::Null => Ok(Datum::Text("NULL")),
        text => quote_literal(context, text.text()),
    }
}

/// A name as the session wants it quoted.
pub(super) fn identifier(context: &CallContext<'_>, name: &str) -> String {
    quoting(context.settings.quote_all_identifiers, || quote::identifier(name))
}

fn quote_any<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Text("NULL"));
    }
    let text = text_of(context, signature.arguments[0], &a[0])?;
    quote_literal(context, text)
}
