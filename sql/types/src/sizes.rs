//! Small functions about sizes and bounds: `pg_column_size`, `pg_size_pretty`, `pg_size_bytes`, `width_bucket`,
//! `overlaps`, `oidvectortypes`.

use super::array::Array;
use super::array::compare::Wanted;
use super::failure::{invalid_parameter, out_of_range};
use super::function::Callable::{self, Plain, Typed};
use super::integer::is_space;
use super::numeric::decimal::{Decimal, Rounding};
use super::numeric::{Number, View};
use super::{CallContext, Datum, Signature, compare_strictly, numeric, order, stored};
use crate::builtin;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1269, Typed(column_size)),
    (2288, Plain(size_pretty)),
    (3166, Plain(numeric_size_pretty)),
    (3334, Plain(size_bytes)),
    (320, Plain(float_bucket)),
    (3218, Plain(threshold_bucket)),
    (1349, Plain(vector_types)),
    (1271, Plain(overlaps)),
    (1304, Plain(overlaps)),
    (1308, Plain(overlaps)),
    (2041, Plain(overlaps)),
];

/// The bytes that a value takes: of variable length, with one byte of head up to 126 bytes and four above.
fn column_size<'a>(
    _: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let length = builtin::type_by_oid(signature.arguments[0].oid.0).map_or(-1, |ty| ty.length);
    if length > 0 {
        return Ok(Datum::Int4(i32::from(length)));
    }
    let mut bytes = Vec::new();
    stored::write(&a[0], &mut bytes);
    let head = if bytes.len() <= 126 { 1 } else { 4 };
    Ok(Datum::Int4((bytes.len() + head) as i32))
}

const UNITS: [&str; 6] = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/// pg_size_pretty: the unit in which less than 10240 is left, halves away from zero.
fn size_pretty<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let mut size = i128::from(a[0].int8());
    let mut unit = 0;
    // Twice the size in the unit from kB on, so that half of it is not lost.
    while unit < UNITS.len() - 1 && size.abs() >= if unit == 0 { 10 * 1024 } else { 20 * 1024 - 1 }
    {
        size /= if unit == 0 { 512 } else { 1024 };
        unit += 1;
    }
    if unit > 0 {
        size = (size + size.signum()) / 2;
    }
    Ok(Datum::Text(context.arena.alloc_str(&format!("{size} {}", UNITS[unit]))))
}

fn numeric_size_pretty<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let size = match Number::from(View::of(a[0].numeric())) {
        Number::Finite(size) => size,
        // They are in no unit less than 10240, so that the last one is taken.
        Number::Nan => return Ok(Datum::Text("NaN PB")),
        Number::Infinity => return Ok(Datum::Text("Infinity PB")),
        Number::NegativeInfinity => return Ok(Datum::Text("-Infinity PB")),
    };
    let text = |size: &Decimal, unit: usize| {
        let mut out = Vec::new();
        size.write(&mut out);
        out.push(b' ');
        out.extend_from_slice(UNITS[unit].as_bytes());
        Datum::Text(super::arena_text(context, &out))
    };
    let below = |size: &Decimal, limit: i128| {
        size.clone().absolute().compare(&Decimal::from_i128(limit)).is_lt()
    };
    if below(&size, 10 * 1024) {
        return Ok(text(&size, 0));
    }
    let divide =
        |size: &Decimal, by: i128| size.divide(&Decimal::from_i128(by), 0, Rounding::Truncate);
    let (mut size, mut unit) = (divide(&size, 512), 1);
    while unit < UNITS.len() - 1 && !below(&size, 20 * 1024 - 1) {
        size = divide(&size, 1024);
        unit += 1;
    }
    let away = Decimal::from_i128(if size.negative { -1 } else { 1 });
    Ok(text(&divide(&size.add(&away), 2), unit))
}

/// pg_size_bytes: a number, perhaps with a unit behind it.
fn size_bytes<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let whole = a[0].text();
    let invalid = || invalid_parameter(format!("invalid size: \"{whole}\""));
    let text = whole.trim_matches(|c: char| c.is_ascii() && is_space(c as u8));
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let sign = usize::from(text.starts_with(['-', '+']));
    let integer = digits(&text[sign..]);
    let (mut end, mut fraction) = (sign + integer, 0);
    if text[end..].starts_with('.') {
        fraction = digits(&text[end + 1..]);
        end += 1 + fraction;
    }
    if integer + fraction == 0 {
        return Err(invalid());
    }
    let mantissa = &text[..end];
    let mut exponent = "";
    if let Some(behind) = text[end..].strip_prefix(['e', 'E']) {
        let shown = behind.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
        let sign = usize::from(shown.starts_with(['-', '+']));
        let count = digits(&shown[sign..]);
        // Without digits it is the beginning of a unit.
        if count > 0 {
            exponent = &shown[..sign + count];
            end = text.len() - shown.len() + exponent.len();
        }
    }
    let number = if exponent.is_empty() {
        numeric::text::read(mantissa, -1)?
    } else {
        numeric::text::read(&format!("{mantissa}e{exponent}"), -1)?
    };
    let unit = text[end..].trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
    let mut bytes = Datum::Numeric(number.store(context.arena));
    if !unit.is_empty() {
        let found = UNITS.iter().position(|name| name.eq_ignore_ascii_case(unit));
        let power = found.ok_or_else(|| {
            invalid()
                .detail(format!("Invalid size unit: \"{unit}\"."))
                .hint("Valid units are \"bytes\", \"kB\", \"MB\", \"GB\", \"TB\", and \"PB\".")
        })?;
        let factor = numeric::functions::from_integer(context.arena, 1 << (10 * power));
        bytes = numeric::functions::multiply(context, &[factor, bytes])?;
    }
    numeric::functions::to_bigint(&bytes).map(Datum::Int8)
}

fn bucket_error(message: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_ARGUMENT_FOR_WIDTH_BUCKET_FUNCTION, message)
}

fn float_bucket<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (operand, low, high, count) = (a[0].float8(), a[1].float8(), a[2].float8(), a[3].int4());
    if count <= 0 {
        return Err(bucket_error("count must be greater than zero"));
    }
    if operand.is_nan() || low.is_nan() || high.is_nan() {
        return Err(bucket_error("operand, lower bound, and upper bound cannot be NaN"));
    }
    if low.is_infinite() || high.is_infinite() {
        return Err(bucket_error("lower and upper bounds must be finite"));
    }
    if low == high {
        return Err(bucket_error("lower bound cannot equal upper bound"));
    }
    let (into, width) =
        if low < high { (operand - low, high - low) } else { (low - operand, low - high) };
    if into < 0.0 {
        return Ok(Datum::Int4(0));
    }
    if into >= width {
        return count.checked_add(1).map(Datum::Int4).ok_or_else(|| out_of_range("integer"));
    }
    Ok(Datum::Int4(((f64::from(count) * into / width) as i32).min(count - 1) + 1))
}

/// The number of thresholds at or below a value, by binary search.
fn threshold_bucket<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let array: Array<'a> = a[1].array();
    if array.dimension_count() > 1 {
        return Err(SqlError::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            "thresholds must be one-dimensional array",
        ));
    }
    let thresholds: Vec<Datum<'a>> = array.datums(context.arena).collect::<Result<_>>()?;
    if thresholds.iter().any(Datum::is_null) {
        return Err(SqlError::new(
            SqlState::NULL_VALUE_NOT_ALLOWED,
            "thresholds array must not contain NULLs",
        ));
    }
    let (mut low, mut high) = (0, thresholds.len());
    while low < high {
        let middle = low.midpoint(high);
        let threshold = &thresholds[middle];
        if compare_strictly(context, array.element, &a[0], threshold, Wanted::Order)?.is_lt() {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Ok(Datum::Int4(low as i32))
}

fn vector_types<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let mut names = Vec::new();
    for oid in a[0].array().datums(context.arena) {
        let oid = oid?.oid();
        names.push(context.catalog.reg_out(context, super::oids::REGTYPE, oid));
    }
    Ok(Datum::Text(context.arena.alloc_str(&names.join(", "))))
}

/// (s1, e1) OVERLAPS (s2, e2), ends in either order, NULLs where the rest does not decide (SQL:2016, 8.14).
fn overlaps<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let ordered = |start: Datum<'a>, end: Datum<'a>| match (start.is_null(), end.is_null()) {
        (true, true) => None,
        (true, false) => Some((end, Datum::Null)),
        (false, true) => Some((start, Datum::Null)),
        (false, false) if order::compare(0, &start, &end).is_gt() => Some((end, start)),
        (false, false) => Some((start, end)),
    };
    let (Some((s1, e1)), Some((s2, e2))) = (ordered(a[0], a[1]), ordered(a[2], a[3])) else {
        return Ok(Datum::Null);
    };
    let (first_end, later_start, later_end) = match order::compare(0, &s1, &s2) {
        std::cmp::Ordering::Greater => (e2, s1, e1),
        std::cmp::Ordering::Less => (e1, s2, e2),
        // They begin together: with both ends known they overlap, else nobody knows.
        std::cmp::Ordering::Equal => {
            let known = !e1.is_null() && !e2.is_null();
            return Ok(if known { Datum::Bool(true) } else { Datum::Null });
        }
    };
    if first_end.is_null() {
        return Ok(Datum::Null);
    }
    if order::compare(0, &later_start, &first_end).is_lt() {
        return Ok(Datum::Bool(true));
    }
    // The earlier one ends before the later begins; PostgreSQL says so only where it knows all four.
    Ok(if later_end.is_null() { Datum::Null } else { Datum::Bool(false) })
}
