//! `intarray` (PostgreSQL 15 manual, appendix F.20): arrays of int4 without NULL as lists and as sets, and queries over them.
//!
//! A `query_int` is held as its text.

use super::boolean_query::{Part, Token, evaluate, parse, syntax_error, text};
use super::{ContribType, internal, stored, text_in, text_out};
use crate::array::{Builder, Dimension, from_datums};
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account, check_text, oids};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_640, Plain(|c, a| text_in(c, oids::QUERY_INT, &a[0]))),
    (14_641, Plain(|c, a| text_out(c, oids::QUERY_INT, &a[0]))),
    (14_642, Plain(|_, _| Err(internal("querytree is no longer implemented")))),
    (14_643, Plain(|_, a| matches(&a[0], &a[1]))),
    (14_644, Plain(|_, a| matches(&a[1], &a[0]))),
    (14_646, Plain(|_, a| contains(&a[0], &a[1]))),
    (14_647, Plain(|_, a| contains(&a[1], &a[0]))),
    (14_648, Plain(|_, a| Ok(Datum::Bool(!common(a)?.is_empty())))),
    (14_649, Plain(|_, a| Ok(Datum::Bool(sorted(&a[0])? == sorted(&a[1])?)))),
    (14_650, Plain(|_, a| Ok(Datum::Bool(sorted(&a[0])? != sorted(&a[1])?)))),
    (14_651, Plain(|c, a| Ok(list(c, set_of([list_of(&a[0])?, list_of(&a[1])?].concat()))))),
    (14_652, Plain(|c, a| Ok(list(c, common(a)?)))),
    (14_659, Plain(|c, a| Ok(list(c, vec![a[0].int4()])))),
    (14_660, Plain(|_, a| Ok(Datum::Int4(a[0].array().len() as i32)))),
    (14_661, Plain(|c, a| sort(c, &a[0], a[1].text()))),
    (14_662, Plain(|c, a| sort(c, &a[0], "asc"))),
    (14_663, Plain(|c, a| sort(c, &a[0], "asc"))),
    (14_664, Plain(|c, a| sort(c, &a[0], "desc"))),
    (14_665, Plain(uniq)),
    (14_666, Plain(index)),
    (14_667, Plain(|c, a| subarray(c, &a[0], a[1].int4(), a[2].int4()))),
    (14_668, Plain(|c, a| subarray(c, &a[0], a[1].int4(), 0))),
    (14_669, Plain(|c, a| Ok(list(c, [list_of(&a[0])?, vec![a[1].int4()]].concat())))),
    (14_670, Plain(|c, a| Ok(list(c, [list_of(&a[0])?, list_of(&a[1])?].concat())))),
    (14_671, Plain(delete)),
    (14_672, Plain(|c, a| Ok(list(c, set_of([list_of(&a[0])?, vec![a[1].int4()]].concat()))))),
    (14_673, Plain(subtract)),
];

/// The elements of an array, row by row.
fn list_of(array: &Datum<'_>) -> Result<Vec<i32>> {
    let number = |slot: Option<&[u8]>| {
        let bytes = slot.and_then(|slot| slot.try_into().ok()).ok_or_else(|| {
            SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, "array must not contain nulls")
        })?;
        Ok(i32::from_le_bytes(bytes))
    };
    account::stepping(array.array().slots()).map(number).collect()
}

fn sorted(array: &Datum<'_>) -> Result<Vec<i32>> {
    let mut list = list_of(array)?;
    list.sort_unstable();
    Ok(list)
}

/// The elements in order, each once.
fn set_of(mut list: Vec<i32>) -> Vec<i32> {
    list.sort_unstable();
    list.dedup();
    list
}

fn list<'a>(context: &CallContext<'a>, list: Vec<i32>) -> Datum<'a> {
    let list: Vec<Datum<'_>> = list.into_iter().map(Datum::Int4).collect();
    from_datums(context.arena, oids::INT4, &list)
}

/// Elements in the dimensions of an array that had as many of them; where it had others, all in its first dimension.
fn resized<'a>(context: &CallContext<'a>, array: &Datum<'a>, list: &[i32]) -> Datum<'a> {
    let old = array.array();
    let mut builder = Builder::new(oids::INT4);
    list.iter().for_each(|number| builder.push(&Datum::Int4(*number)));
    let mut dimensions: Vec<Dimension> = old.dimensions().collect();
    if old.len() != list.len() {
        let lengths = std::iter::once(list.len() as i32).chain(std::iter::repeat(1));
        dimensions.iter_mut().zip(lengths).for_each(|(one, length)| one.length = length);
    }
    Datum::Array(builder.store(context.arena, &dimensions))
}

fn common(a: &[Datum<'_>]) -> Result<Vec<i32>> {
    let (mut first, second) = (set_of(list_of(&a[0])?), set_of(list_of(&a[1])?));
    first.retain(|number| second.binary_search(number).is_ok());
    Ok(first)
}

fn contains(whole: &Datum<'_>, part: &Datum<'_>) -> Result<Datum<'static>> {
    let (whole, part) = (set_of(list_of(whole)?), list_of(part)?);
    Ok(Datum::Bool(part.iter().all(|number| whole.binary_search(number).is_ok())))
}

fn sort<'a>(context: &CallContext<'a>, array: &Datum<'a>, order: &str) -> Result<Datum<'a>> {
    let mut list = sorted(array)?;
    if list.len() < 2 {
        return Ok(*array);
    }
    if order.eq_ignore_ascii_case("desc") {
        list.reverse();
    } else if !order.eq_ignore_ascii_case("asc") {
        return Err(invalid_parameter("second parameter must be \"ASC\" or \"DESC\""));
    }
    Ok(resized(context, array, &list))
}

/// Of equal neighbours one stays.
fn uniq<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let mut list = list_of(&a[0])?;
    list.dedup();
    Ok(resized(context, &a[0], &list))
}

fn index<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let wanted = a[1].int4();
    let place = list_of(&a[0])?.iter().position(|number| *number == wanted);
    Ok(Datum::Int4(place.map_or(0, |place| place as i32 + 1)))
}

/// From a place on, counted from 1 or back from the end, so many elements; up to so many before the end; or all.
fn subarray<'a>(
    context: &CallContext<'a>,
    array: &Datum<'a>,
    start: i32,
    length: i32,
) -> Result<Datum<'a>> {
    let all = list_of(array)?;
    let count = all.len() as i64;
    let start = if start > 0 { i64::from(start) - 1 } else { i64::from(start) };
    let start = if start < 0 { count + start } else { start };
    let end = match length {
        0 => count,
        ..0 => count + i64::from(length),
        _ => start + i64::from(length),
    };
    let (start, end) = (start.max(0), end.min(count));
    let part = if start < end { &all[start as usize..end as usize] } else { &[] };
    Ok(list(context, part.to_vec()))
}

fn delete<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let gone = a[1].int4();
    let mut list = list_of(&a[0])?;
    list.retain(|number| *number != gone);
    Ok(resized(context, &a[0], &list))
}

fn subtract<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (mut first, second) = (set_of(list_of(&a[0])?), set_of(list_of(&a[1])?));
    first.retain(|number| second.binary_search(number).is_err());
    Ok(list(context, first))
}

/// `query_int`.
pub(super) const QUERY: ContribType = ContribType {
    read,
    write: |_, bytes, out| out.extend_from_slice(bytes),
    receive: |context, bytes| read(context, check_text(bytes)?),
    send: |bytes, out| out.extend_from_slice(bytes),
    ordered: None,
};

fn read<'a>(context: &CallContext<'a>, query: &str) -> Result<Datum<'a>> {
    let query = text(&parsed(query)?, i32::to_string);
    Ok(stored(context, query.as_bytes()))
}

fn too_complex() -> SqlError {
    SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "statement too complex")
}

fn parsed(query: &str) -> Result<Vec<Part<i32>>> {
    /// How many operators may wait for operands.
    const WAITING_MAX: usize = 16;
    let mut rest = query.as_bytes();
    let (mut open, mut operand_next) = (0, true);
    let mut next = || {
        while let [b' ', behind @ ..] = rest {
            rest = behind;
        }
        let Some((first, behind)) = rest.split_first() else {
            return if operand_next || open > 0 { Err(syntax_error()) } else { Ok(Token::End) };
        };
        match first {
            b'0'..=b'9' | b'-' if operand_next => {
                let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let (number, behind) = rest.split_at(digits + 1);
                rest = behind;
                operand_next = false;
                number_of(number).map(Token::Operand).ok_or_else(syntax_error)
            }
            b'!' if operand_next => {
                rest = behind;
                Ok(Token::Operator(b'!'))
            }
            b'(' if operand_next => {
                (rest, open) = (behind, open + 1);
                Ok(Token::Open)
            }
            b'&' | b'|' if !operand_next => {
                (rest, operand_next) = (behind, true);
                Ok(Token::Operator(*first))
            }
            b')' if !operand_next && open > 0 => {
                (rest, open) = (behind, open - 1);
                Ok(Token::Close)
            }
            _ => Err(syntax_error()),
        }
    };
    parse(&mut next, (WAITING_MAX, too_complex))
}

/// A number as C reads it: behind a 0 it is octal, up to what is no digit of it.
fn number_of(text: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.len() < 16)?;
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let base = if digits.len() > 1 && digits.starts_with('0') { 8 } else { 10 };
    let own = digits.chars().take_while(|digit| digit.is_digit(base)).count();
    let number = match &digits[..own] {
        "" => 0,
        digits => i64::from_str_radix(digits, base).ok()?,
    };
    i32::try_from(sign * number).ok()
}

fn matches(array: &Datum<'_>, query: &Datum<'_>) -> Result<Datum<'static>> {
    let set = set_of(list_of(array)?);
    let query = parsed(check_text(query.bytea())?)?;
    Ok(Datum::Bool(evaluate(&query, |number| set.binary_search(number).is_ok())))
}
