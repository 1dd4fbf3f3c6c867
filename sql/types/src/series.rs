//! generate_series over integers, numerics and timestamps.

use super::datetime::{arithmetic, interval, zone};
use super::failure::invalid_parameter;
use super::function::Callable::{self, Set};
use super::numeric::View;
use super::numeric::decimal::Decimal;
use super::{CallContext, Datum, Interval};
use crate::error::Result;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1066, Set(|_, _, a, emit| int4(a, emit))),
    (1067, Set(|_, _, a, emit| int4(a, emit))),
    (1068, Set(|_, _, a, emit| int8(a, emit))),
    (1069, Set(|_, _, a, emit| int8(a, emit))),
    (3259, Set(|c, _, a, emit| numeric(c, a, emit))),
    (3260, Set(|c, _, a, emit| numeric(c, a, emit))),
    (938, Set(|_, _, a, emit| timestamp(a, emit))),
    (939, Set(|c, _, a, emit| timestamptz(c, a, emit))),
];

type Emit<'e, 'a> = &'e mut dyn FnMut(&[Datum<'a>]) -> Result<bool>;

fn zero_step() -> crate::error::SqlError {
    invalid_parameter("step size cannot equal zero")
}

/// Counts from start to stop; ends where the next number does not fit.
fn count<'a>(
    (start, stop, step): (i64, i64, i64),
    last: impl Fn(i64) -> Option<Datum<'a>>,
    emit: Emit<'_, 'a>,
) -> Result<()> {
    if step == 0 {
        return Err(zero_step());
    }
    let mut value = start;
    while (step > 0 && value <= stop) || (step < 0 && value >= stop) {
        let Some(datum) = last(value) else { break };
        if !emit(&[datum])? {
            break;
        }
        match value.checked_add(step) {
            Some(next) => value = next,
            None => break,
        }
    }
    Ok(())
}

fn int4<'a>(a: &[Datum<'a>], emit: Emit<'_, 'a>) -> Result<()> {
    let step = a.get(2).map_or(1, |step| i64::from(step.int4()));
    let range = (i64::from(a[0].int4()), i64::from(a[1].int4()), step);
    count(range, |value| i32::try_from(value).ok().map(Datum::Int4), emit)
}

fn int8<'a>(a: &[Datum<'a>], emit: Emit<'_, 'a>) -> Result<()> {
    let step = a.get(2).map_or(1, |step| step.int8());
    count((a[0].int8(), a[1].int8(), step), |value| Some(Datum::Int8(value)), emit)
}

fn number(argument: &Datum<'_>, role: &str) -> Result<Decimal> {
    match View::of(argument.numeric()) {
        View::Finite(number) => Ok(number.to_decimal()),
        View::Nan => Err(invalid_parameter(format!("{role} cannot be NaN"))),
        View::Infinity | View::NegativeInfinity => {
            Err(invalid_parameter(format!("{role} cannot be infinity")))
        }
    }
}

fn numeric<'a>(context: &CallContext<'a>, a: &[Datum<'a>], emit: Emit<'_, 'a>) -> Result<()> {
    let (mut value, stop) = (number(&a[0], "start value")?, number(&a[1], "stop value")?);
    let step = match a.get(2) {
        Some(step) => number(step, "step size")?,
        None => Decimal::from_i128(1),
    };
    if step.is_zero() {
        return Err(zero_step());
    }
    let inside = |value: &Decimal| {
        let order = value.compare(&stop);
        if step.negative { order.is_ge() } else { order.is_le() }
    };
    while inside(&value) {
        if !emit(&[Datum::Numeric(value.store(context.arena))])? {
            break;
        }
        // What is beyond a numeric's range is beyond the last one too.
        value = value.add(&step);
    }
    Ok(())
}

fn direction(step: &Interval) -> Result<bool> {
    match interval::span(step) {
        0 => Err(zero_step()),
        span => Ok(span > 0),
    }
}

fn timestamp<'a>(a: &[Datum<'a>], emit: Emit<'_, 'a>) -> Result<()> {
    let (mut value, stop, step) = (a[0].timestamp(), a[1].timestamp(), a[2].interval());
    let forwards = direction(step)?;
    while (forwards && value <= stop) || (!forwards && value >= stop) {
        if !emit(&[Datum::Timestamp(value)])? || arithmetic::infinite(value) {
            break;
        }
        value = arithmetic::add(value, step)?;
    }
    Ok(())
}

fn timestamptz<'a>(context: &CallContext<'a>, a: &[Datum<'a>], emit: Emit<'_, 'a>) -> Result<()> {
    let (mut value, stop, step) = (a[0].timestamptz(), a[1].timestamptz(), a[2].interval());
    let zone = zone::of_session(&context.settings.time_zone);
    let forwards = direction(step)?;
    while (forwards && value <= stop) || (!forwards && value >= stop) {
        if !emit(&[Datum::TimestampTz(value)])? || arithmetic::infinite(value) {
            break;
        }
        value = arithmetic::add_in_zone(value, step, &zone)?;
    }
    Ok(())
}
