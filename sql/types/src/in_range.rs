//! `in_range`: whether a value lies within an offset of another, for frames of RANGE (PostgreSQL 15 manual, section 4.2.8 and
//! 38.16.3, B-tree support functions).
//!
//! `in_range(value, base, offset, sub, less)` tells whether `value` is at most (`less`) or at least `base - offset` (`sub`) or
//! `base + offset`. What overflows is compared as the number that it would be, where PostgreSQL does so.

use super::datetime::functions::{add_in_session_zone, date_to_timestamp};
use super::datetime::{arithmetic, interval};
use super::function::Callable::{self, Plain};
use super::numeric::functions as numeric;
use super::order::compare_floats;
use super::{CallContext, Datum, Interval};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::cmp::Ordering;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (4126, Plain(|_, a| integers(a[0].int8(), a[1].int8(), a[2].int8(), a))),
    (4127, Plain(|_, a| integers(a[0].int4().into(), a[1].int4().into(), a[2].int8(), a))),
    (4128, Plain(|_, a| integers(a[0].int4().into(), a[1].int4().into(), a[2].int4().into(), a))),
    (4129, Plain(|_, a| integers(a[0].int4().into(), a[1].int4().into(), a[2].int2().into(), a))),
    (4130, Plain(|_, a| integers(a[0].int2().into(), a[1].int2().into(), a[2].int8(), a))),
    (4131, Plain(|_, a| integers(a[0].int2().into(), a[1].int2().into(), a[2].int4().into(), a))),
    (4132, Plain(|_, a| integers(a[0].int2().into(), a[1].int2().into(), a[2].int2().into(), a))),
    (4133, Plain(dates)),
    (4134, Plain(|_, a| timestamps(a[0].timestamp(), a[1].timestamp(), a))),
    (4135, Plain(zoned)),
    (4136, Plain(intervals)),
    (4137, Plain(times)),
    (4138, Plain(zoned_times)),
    (4139, Plain(|_, a| floats(a[0].float8(), a[1].float8(), a[2].float8(), a))),
    (4140, Plain(|_, a| floats(a[0].float4().into(), a[1].float4().into(), a[2].float8(), a))),
    (4141, Plain(numerics)),
];

fn flag(datum: &Datum<'_>) -> bool {
    matches!(datum, Datum::Bool(true))
}

/// How the value compares with the sum, as an answer.
fn answer<'a>(order: Ordering, arguments: &[Datum<'_>]) -> Datum<'a> {
    Datum::Bool(if flag(&arguments[4]) { order.is_le() } else { order.is_ge() })
}

fn invalid() -> SqlError {
    SqlError::new(
        SqlState::INVALID_PRECEDING_OR_FOLLOWING_SIZE,
        "invalid preceding or following size in window function",
    )
}

fn integers<'a>(value: i64, base: i64, offset: i64, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if offset < 0 {
        return Err(invalid());
    }
    let offset = i128::from(if flag(&a[3]) { -offset } else { offset });
    Ok(answer(i128::from(value).cmp(&(i128::from(base) + offset)), a))
}

fn floats<'a>(value: f64, base: f64, offset: f64, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if offset.is_nan() || offset < 0.0 {
        return Err(invalid());
    }
    // NaN is greater than all others, at no distance from itself and at none that could be said from these.
    if value.is_nan() || base.is_nan() {
        return Ok(answer(compare_floats(value, base), a));
    }
    let sum = if flag(&a[3]) { base - offset } else { base + offset };
    // Infinity less infinity: everything is in range.
    Ok(if sum.is_nan() { Datum::Bool(true) } else { answer(compare_floats(value, sum), a) })
}

fn numerics<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let is_nan = |datum: &Datum<'_>| numeric::is_nan(datum.numeric());
    let zero = numeric::from_integer(context.arena, 0);
    if is_nan(&a[2]) || numeric::compare(&a[2], &zero).is_lt() {
        return Err(invalid());
    }
    if is_nan(&a[0]) || is_nan(&a[1]) {
        return Ok(answer(numeric::compare(&a[0], &a[1]), a));
    }
    let offset = if flag(&a[3]) { numeric::negate(context, &a[2..3])? } else { a[2] };
    let sum = Datum::Numeric(numeric::add(context.arena, a[1].numeric(), offset.numeric())?);
    Ok(if is_nan(&sum) { Datum::Bool(true) } else { answer(numeric::compare(&a[0], &sum), a) })
}

/// The offset, negated where it is taken off.
fn signed(a: &[Datum<'_>]) -> Result<Interval> {
    let offset = a[2].interval();
    if interval::span(offset) < 0 {
        return Err(invalid());
    }
    if flag(&a[3]) { arithmetic::negate(offset) } else { Ok(*offset) }
}

fn timestamps<'a>(value: i64, base: i64, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let sum = arithmetic::add(base, &signed(a)?)?;
    Ok(answer(value.cmp(&sum), a))
}

fn dates<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    timestamps(date_to_timestamp(a[0].date())?, date_to_timestamp(a[1].date())?, a)
}

fn zoned<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let sum = add_in_session_zone(context, a[1].timestamptz(), &signed(a)?)?;
    Ok(answer(a[0].timestamptz().cmp(&sum.timestamptz()), a))
}

fn intervals<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let sum = arithmetic::add_intervals(a[1].interval(), &signed(a)?)?;
    Ok(answer(interval::span(a[0].interval()).cmp(&interval::span(&sum)), a))
}

/// Only the time of the offset counts, and nothing wraps around midnight.
fn times<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let offset = time_offset(a)?;
    Ok(answer(i128::from(a[0].time()).cmp(&(i128::from(a[1].time()) + offset)), a))
}

/// The same; the sum has the zone of the base.
fn zoned_times<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let offset = time_offset(a)?;
    let ((value, west), (base, base_west)) = (a[0].timetz().place(), a[1].timetz().place());
    let sum = (i128::from(base) + offset, base_west);
    Ok(answer((i128::from(value), west).cmp(&sum), a))
}

fn time_offset(a: &[Datum<'_>]) -> Result<i128> {
    let offset = i128::from(a[2].interval().micros);
    match offset < 0 {
        true => Err(invalid()),
        false => Ok(if flag(&a[3]) { -offset } else { offset }),
    }
}
