//! `format`: a text with `%s`, `%I` and `%L` in it, for which arguments stand.
//!
//! PostgreSQL: `text_format`, `text_format_parse_format`. Between the percent sign and the letter: `n$`, which argument it is;
//! `-`, to the left; a width, as a number, or `*`, the next argument, or `*n$`, that argument. What comes without a number is
//! the argument behind the last one that was taken, whichever that was.

use super::build::{check_size, identifier, variadic};
use super::quote::literal;
use super::{finished, growing, length};
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Typed};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Signature, integer};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[(3539, Typed(format)), (3540, Typed(format))];

const ESCAPE: &str = "For a single \"%\" use \"%%\".";

/// How wide a field is.
#[derive(Clone, Copy)]
enum Width {
    Fixed(i32),
    /// The argument of this number, or the next one.
    Argument(Option<usize>),
}

/// What stands between a percent sign and its letter.
struct Field {
    /// The argument's number, from 1.
    argument: Option<usize>,
    left: bool,
    width: Width,
}

#[cold]
fn out_of_range() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "number is out of range")
}

#[cold]
fn unterminated() -> SqlError {
    invalid_parameter("unterminated format() type specifier").hint(ESCAPE)
}

/// A number, and the place behind it, at which there is something.
fn number(text: &str) -> Result<(Option<i32>, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, behind) = text.split_at(digits);
    if digits == 0 {
        return Ok((None, behind));
    }
    let number = number.parse().map_err(|_| out_of_range())?;
    if behind.is_empty() { Err(unterminated()) } else { Ok((Some(number), behind)) }
}

/// The number of an argument.
fn argument(number: i32) -> Result<usize> {
    match number {
        0 => {
            Err(invalid_parameter("format specifies argument 0, but arguments are numbered from 1"))
        }
        number => Ok(number as usize),
    }
}

/// Steps behind a character at which there is something more.
fn behind<'t>(text: &'t str, prefix: &str) -> Result<Option<&'t str>> {
    match text.strip_prefix(prefix) {
        Some("") => Err(unterminated()),
        behind => Ok(behind),
    }
}

/// Reads what stands between a percent sign and its letter; gives what begins with the letter.
fn field(text: &str) -> Result<(Field, &str)> {
    if text.is_empty() {
        return Err(unterminated());
    }
    let mut field = Field { argument: None, left: false, width: Width::Fixed(0) };
    let (first, mut rest) = number(text)?;
    if let Some(first) = first {
        match behind(rest, "$")? {
            // A width: no flags follow it.
            None => return Ok((Field { width: Width::Fixed(first), ..field }, rest)),
            Some(behind) => (field.argument, rest) = (Some(argument(first)?), behind),
        }
    }
    while let Some(behind) = behind(rest, "-")? {
        (field.left, rest) = (true, behind);
    }
    if let Some(starred) = behind(rest, "*")? {
        let (wanted, after) = number(starred)?;
        rest = after;
        field.width = Width::Argument(None);
        if let Some(wanted) = wanted {
            rest = behind(rest, "$")?.ok_or_else(|| {
                invalid_parameter("width argument position must be ended by \"$\"")
            })?;
            field.width = Width::Argument(Some(argument(wanted)?));
        }
    } else {
        let (width, after) = number(rest)?;
        (field.width, rest) = (Width::Fixed(width.unwrap_or(0)), after);
    }
    Ok((field, rest))
}

fn format<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let values = if a.len() > 1 { variadic(context, signature, a, 1)? } else { None };
    let values = values.unwrap_or_default();
    let value = |number: usize| -> Result<Option<&str>> {
        values
            .get(number - 1)
            .copied()
            .ok_or_else(|| invalid_parameter("too few arguments for format()"))
    };
    let mut out = growing(context);
    let mut next = 1;
    let mut rest = a[0].text();
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('%') {
            out.push('%');
            rest = behind;
            continue;
        }
        let (field, at_kind) = field(rest)?;
        let kind = at_kind.chars().next().ok_or_else(unterminated)?;
        rest = &at_kind[kind.len_utf8()..];
        if !matches!(kind, 's' | 'I' | 'L') {
            let message = format!("unrecognized format() type specifier \"{kind}\"");
            return Err(invalid_parameter(message).hint(ESCAPE));
        }
        let mut width = match field.width {
            Width::Fixed(width) => width,
            Width::Argument(number) => {
                let number = number.unwrap_or(next);
                next = number + 1;
                match value(number)? {
                    Some(text) => {
                        let (min, max) = (i64::from(i32::MIN), i64::from(i32::MAX));
                        integer::read_signed(text, min, max, "integer")? as i32
                    }
                    None => 0,
                }
            }
        };
        let mut left = field.left;
        if width < 0 {
            left = true;
            width = width.checked_neg().ok_or_else(out_of_range)?;
        }
        let width = width as usize;
        check_size(width)?;
        let number = field.argument.unwrap_or(next);
        next = number + 1;
        let shown = match (kind, value(number)?) {
            ('s', value) => value.unwrap_or("").to_owned(),
            ('I', Some(value)) => identifier(context, value),
            ('I', None) => {
                return Err(SqlError::new(
                    SqlState::NULL_VALUE_NOT_ALLOWED,
                    "null values cannot be formatted as an SQL identifier",
                ));
            }
            (_, Some(value)) => literal(value),
            (_, None) => "NULL".to_owned(),
        };
        let padding = " ".repeat(width.saturating_sub(length(&shown)));
        let (before, behind) = if left { ("", &*padding) } else { (&*padding, "") };
        [before, &shown, behind].into_iter().for_each(|piece| out.push_str(piece));
    }
    out.push_str(rest);
    finished(out)
}
