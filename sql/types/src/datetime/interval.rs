//! interval: its units, its order, its parts, its modifier.
//!
//! PostgreSQL: `deltatktbl`, `interval_cmp_value`, `interval2itm`, `AdjustIntervalForTypmod`.

use super::clock::Clock;
use super::{DAY, HOUR, MINUTE};
use crate::Interval;
use crate::error::{Result, SqlError};

/// What an interval is compared by: a month counts 30 days, a day 24 hours.
#[must_use]
pub fn span(interval: &Interval) -> i128 {
    let days = i128::from(interval.months) * 30 + i128::from(interval.days);
    days * i128::from(DAY) + i128::from(interval.micros)
}

/// An interval by its parts, all that come from one of its fields signed like it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    pub years: i64,
    pub months: i64,
    pub days: i64,
    pub clock: Clock,
}

impl Parts {
    pub(super) fn of(interval: &Interval) -> Parts {
        Parts {
            years: i64::from(interval.months / 12),
            months: i64::from(interval.months % 12),
            days: i64::from(interval.days),
            clock: Clock::of(interval.micros),
        }
    }
}

/// 22008.
#[cold]
pub(crate) fn out_of_range() -> SqlError {
    super::out_of_range("interval")
}

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Microsecond,
    Millisecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
    Decade,
    Century,
    Millennium,
}

/// The unit that a word in lower case names.
pub(super) fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "us" | "usec" | "usecs" | "usecond" | "useconds" | "microsecon" | "microsecond"
        | "microseconds" => Unit::Microsecond,
        "ms" | "msec" | "msecs" | "msecond" | "mseconds" | "millisecon" | "millisecond"
        | "milliseconds" => Unit::Millisecond,
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Second,
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Minute,
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Hour,
        "d" | "day" | "days" => Unit::Day,
        "w" | "week" | "weeks" => Unit::Week,
        "mon" | "mons" | "month" | "months" => Unit::Month,
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Year,
        "dec" | "decs" | "decade" | "decades" => Unit::Decade,
        "c" | "cent" | "century" | "centuries" => Unit::Century,
        "mil" | "mils" | "millennium" | "millennia" => Unit::Millennium,
        _ => return None,
    })
}

/// The bits of a modifier's range: one for each field (`INTERVAL_MASK`).
pub(super) const YEAR: i32 = 1 << 2;
pub(super) const MONTH: i32 = 1 << 1;
pub(super) const DAY_BIT: i32 = 1 << 3;
pub(super) const HOUR_BIT: i32 = 1 << 10;
pub(super) const MINUTE_BIT: i32 = 1 << 11;
pub(super) const SECOND_BIT: i32 = 1 << 12;
pub(super) const MINUTE_TO_SECOND: i32 = MINUTE_BIT | SECOND_BIT;
pub(super) const FULL_RANGE: i32 = 0x7fff;

/// The range and precision of a modifier.
pub(super) fn modifier(typmod: i32) -> (i32, i32) {
    if typmod < 0 { (FULL_RANGE, 0xffff) } else { (typmod >> 16 & 0x7fff, typmod & 0xffff) }
}

/// Cuts an interval to its modifier's fields and rounds to its precision.
///
/// # Errors
/// 22008.
pub fn apply_modifier(interval: Interval, typmod: i32) -> Result<Interval> {
    let (range, precision) = modifier(typmod);
    let mut out = interval;
    if range != FULL_RANGE && range != 0 {
        let last = range & (YEAR | MONTH | DAY_BIT | HOUR_BIT | MINUTE_BIT | SECOND_BIT);
        if last & (MONTH | DAY_BIT | HOUR_BIT | MINUTE_BIT | SECOND_BIT) == 0 {
            out = Interval { months: out.months / 12 * 12, days: 0, micros: 0 };
        } else if last & (DAY_BIT | HOUR_BIT | MINUTE_BIT | SECOND_BIT) == 0 {
            out = Interval { months: out.months, days: 0, micros: 0 };
        } else if last & (HOUR_BIT | MINUTE_BIT | SECOND_BIT) == 0 {
            out.micros = 0;
        } else if last & (MINUTE_BIT | SECOND_BIT) == 0 {
            out.micros = out.micros / HOUR * HOUR;
        } else if last & SECOND_BIT == 0 {
            out.micros = out.micros / MINUTE * MINUTE;
        }
    }
    if precision < 6 {
        out.micros = super::arithmetic::round_to(out.micros, precision);
    }
    Ok(out)
}
