//! timetz: a time of day in a zone, its operators and casts, by `pg_proc` OID.
//!
//! PostgreSQL: the second half of `date.c`. The zone of a value is an offset; of rules only the one that holds now, or on
//! the day that a text names, is taken.

use super::functions::{date_to_timestamp, fixed, session_zone};
use super::zone::{self, Zone};
use super::{DAY, SECOND, arithmetic, calendar};
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, TimeTz};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1297, Plain(|_, a| on_date(a[0].date(), a[1].timetz()))),
    (1298, Plain(|_, a| on_date(a[1].date(), a[0].timetz()))),
    (1359, Plain(|_, a| on_date(a[0].date(), a[1].timetz()))),
    (1388, Plain(of_instant)),
    (1749, Plain(|_, a| Ok(later(a[0].timetz(), i128::from(a[1].interval().micros))))),
    (2547, Plain(|_, a| Ok(later(a[1].timetz(), i128::from(a[0].interval().micros))))),
    (1750, Plain(|_, a| Ok(later(a[0].timetz(), -i128::from(a[1].interval().micros))))),
    (1969, Plain(limited)),
    (2037, Plain(|c, a| Ok(in_zone(c, &zone::of_user(a[0].text())?, a[1].timetz())))),
    (2038, Plain(|c, a| Ok(in_zone(c, &fixed(c, a[0].interval())?, a[1].timetz())))),
    (2046, Plain(|_, a| Ok(Datum::Time(a[0].timetz().micros)))),
    (2047, Plain(|c, a| Ok(Datum::TimeTz(today(c, a[0].time()))))),
];

/// A time of day of the session's zone, with the offset that it has today.
#[must_use]
pub(crate) fn today(context: &CallContext<'_>, micros: i64) -> TimeTz {
    let zone = session_zone(context);
    let (day, _) = calendar::split(zone.to_local(context.transaction_time));
    TimeTz { micros, west: west_at(&zone, day * DAY + micros) }
}

/// How far a zone is west at a local time.
#[must_use]
pub(super) fn west_at(zone: &Zone, local: i64) -> i32 {
    -zone.local_offset(local)
}

/// An instant's time of day in the session's zone.
#[must_use]
pub fn local_time(context: &CallContext<'_>, instant: i64) -> TimeTz {
    let offset = session_zone(context).offset(instant);
    let (_, micros) = calendar::split(instant + i64::from(offset) * SECOND);
    TimeTz { micros, west: -offset }
}

fn of_instant<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let instant = a[0].timestamptz();
    if arithmetic::infinite(instant) {
        return Ok(Datum::Null);
    }
    Ok(Datum::TimeTz(local_time(context, instant)))
}

fn on_date(date: i32, time: TimeTz) -> Result<Datum<'static>> {
    let midnight = date_to_timestamp(date)?;
    if arithmetic::infinite(midnight) {
        return Ok(Datum::TimestampTz(midnight));
    }
    let instant = midnight + time.place().0;
    if !calendar::is_timestamp(instant) {
        return Err(super::out_of_range("timestamp"));
    }
    Ok(Datum::TimestampTz(instant))
}

fn later(time: TimeTz, micros: i128) -> Datum<'static> {
    let sum = (i128::from(time.micros) + micros).rem_euclid(i128::from(DAY)) as i64;
    Datum::TimeTz(TimeTz { micros: sum, ..time })
}

fn limited<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let time = a[0].timetz();
    let micros = arithmetic::round_to(time.micros, a[1].int4());
    Ok(Datum::TimeTz(TimeTz { micros, ..time }))
}

/// The same moment of the day in a zone, by the offset that it has now.
fn in_zone(context: &CallContext<'_>, zone: &Zone, time: TimeTz) -> Datum<'static> {
    let west = -zone.offset(context.transaction_time);
    let micros = (time.micros + i64::from(time.west - west) * SECOND).rem_euclid(DAY);
    Datum::TimeTz(TimeTz { micros, west })
}

/// The seconds west that a text's zone may have at most.
///
/// # Errors
/// 22009.
pub(crate) fn checked_zone(west: i32) -> Result<i32> {
    // 16 hours, which count no more.
    if (-57_599..=57_599).contains(&west) {
        return Ok(west);
    }
    Err(SqlError::new(
        SqlState::INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
        "time zone displacement out of range",
    ))
}
