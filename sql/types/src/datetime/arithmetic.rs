//! Sums and differences of dates, timestamps and intervals.
//!
//! PostgreSQL: `timestamp_pl_interval`, `timestamp_age`, `interval_justify_hours` and neighbours. Months are added in the
//! calendar and a day past the month's end becomes its last; days of a timestamptz are added in local time.

use super::calendar::{self, Date};
use super::interval;
use super::zone::Zone;
use super::{DAY, SECOND};
use crate::Interval;
use crate::error::Result;

/// Rounds microseconds to `precision` decimals of a second, halves away from zero; any precision outside 0 to 5 changes
/// nothing.
#[must_use]
pub fn round_to(micros: i64, precision: i32) -> i64 {
    if !(0..6).contains(&precision) || micros == i64::MIN || micros == i64::MAX {
        return micros;
    }
    let unit = 10i64.pow(6 - precision as u32);
    let half = unit / 2;
    let away = if micros < 0 { micros.saturating_sub(half) } else { micros.saturating_add(half) };
    away / unit * unit
}

/// A local timestamp with months added.
fn add_months(timestamp: i64, months: i32) -> Option<i64> {
    let (days, micros) = calendar::split(timestamp);
    let Date { year, month, day } = calendar::date(days);
    let total = year * 12 + i64::from(month) - 1 + i64::from(months);
    let (year, month) = (total.div_euclid(12), total.rem_euclid(12) as u32 + 1);
    let day = day.min(calendar::month_length(year, month));
    calendar::timestamp(calendar::days(year, month, i64::from(day)), micros)
}

/// A local timestamp with days added. They may be more than 64 bits have room for in microseconds.
fn add_days(timestamp: i64, days: i32) -> Option<i64> {
    let (day, micros) = calendar::split(timestamp);
    calendar::timestamp(day + i64::from(days), micros)
}

/// Whether a timestamp is one of the infinities.
#[must_use]
pub fn infinite(timestamp: i64) -> bool {
    timestamp == i64::MIN || timestamp == i64::MAX
}

/// timestamp + interval.
///
/// # Errors
/// 22008.
pub fn add(timestamp: i64, interval: &Interval) -> Result<i64> {
    if infinite(timestamp) {
        return Ok(timestamp);
    }
    let sum = || {
        let mut sum = timestamp;
        if interval.months != 0 {
            sum = add_months(sum, interval.months)?;
        }
        sum = add_days(sum, interval.days)?;
        sum.checked_add(interval.micros).filter(|&sum| calendar::is_timestamp(sum))
    };
    sum().ok_or_else(|| super::out_of_range("timestamp"))
}

/// timestamptz + interval: months and days in local time, the rest on the clock that never jumps.
///
/// # Errors
/// 22008.
pub fn add_in_zone(timestamp: i64, interval: &Interval, zone: &Zone) -> Result<i64> {
    if infinite(timestamp) {
        return Ok(timestamp);
    }
    let sum = || {
        let mut sum = timestamp;
        if interval.months != 0 {
            sum = zone.to_utc(add_months(zone.to_local(sum), interval.months)?)?;
        }
        if interval.days != 0 {
            sum = zone.to_utc(add_days(zone.to_local(sum), interval.days)?)?;
        }
        sum.checked_add(interval.micros).filter(|&sum| calendar::is_timestamp(sum))
    };
    sum().ok_or_else(|| super::out_of_range("timestamp"))
}

/// -interval.
///
/// # Errors
/// 22008.
pub fn negate(interval: &Interval) -> Result<Interval> {
    let negated = || {
        Some(Interval {
            months: interval.months.checked_neg()?,
            days: interval.days.checked_neg()?,
            micros: interval.micros.checked_neg()?,
        })
    };
    negated().ok_or_else(interval::out_of_range)
}

/// interval + interval.
///
/// # Errors
/// 22008.
pub fn add_intervals(a: &Interval, b: &Interval) -> Result<Interval> {
    let sum = || {
        Some(Interval {
            months: a.months.checked_add(b.months)?,
            days: a.days.checked_add(b.days)?,
            micros: a.micros.checked_add(b.micros)?,
        })
    };
    sum().ok_or_else(interval::out_of_range)
}

/// interval - interval.
///
/// # Errors
/// 22008.
pub fn subtract_intervals(a: &Interval, b: &Interval) -> Result<Interval> {
    let difference = || {
        Some(Interval {
            months: a.months.checked_sub(b.months)?,
            days: a.days.checked_sub(b.days)?,
            micros: a.micros.checked_sub(b.micros)?,
        })
    };
    difference().ok_or_else(interval::out_of_range)
}

/// timestamp - timestamp: days and a time.
///
/// # Errors
/// 22008.
pub fn difference(a: i64, b: i64) -> Result<Interval> {
    if infinite(a) || infinite(b) {
        return Err(crate::error::SqlError::new(
            crate::sqlstate::SqlState::DATETIME_FIELD_OVERFLOW,
            "cannot subtract infinite timestamps",
        ));
    }
    let micros = a.checked_sub(b).ok_or_else(interval::out_of_range)?;
    justify_hours(&Interval { months: 0, days: 0, micros })
}

/// Makes 24 hours a day.
///
/// # Errors
/// 22008.
pub fn justify_hours(interval: &Interval) -> Result<Interval> {
    let whole = (interval.micros / DAY) as i32;
    let mut out = Interval { micros: interval.micros % DAY, ..*interval };
    out.days = out.days.checked_add(whole).ok_or_else(interval::out_of_range)?;
    if out.days > 0 && out.micros < 0 {
        out.micros += DAY;
        out.days -= 1;
    } else if out.days < 0 && out.micros > 0 {
        out.micros -= DAY;
        out.days += 1;
    }
    Ok(out)
}

/// Makes 30 days a month.
///
/// # Errors
/// 22008.
pub fn justify_days(interval: &Interval) -> Result<Interval> {
    let mut out = Interval { days: interval.days % 30, ..*interval };
    out.months = out.months.checked_add(interval.days / 30).ok_or_else(interval::out_of_range)?;
    if out.months > 0 && out.days < 0 {
        out.days += 30;
        out.months -= 1;
    } else if out.months < 0 && out.days > 0 {
        out.days -= 30;
        out.months += 1;
    }
    Ok(out)
}

/// Both, and all signs alike.
///
/// # Errors
/// 22008.
pub fn justify(interval: &Interval) -> Result<Interval> {
    let mut out = *interval;
    let months_of_days = |out: &mut Interval| -> Result<()> {
        let months = out.months.checked_add(out.days / 30).ok_or_else(interval::out_of_range)?;
        (out.months, out.days) = (months, out.days % 30);
        Ok(())
    };
    // First the days, where the time would make them too many.
    if out.days > 0 && out.micros > 0 || out.days < 0 && out.micros < 0 {
        months_of_days(&mut out)?;
    }
    out.days += (out.micros / DAY) as i32;
    out.micros %= DAY;
    months_of_days(&mut out)?;
    if out.months > 0 && (out.days < 0 || out.days == 0 && out.micros < 0) {
        out.days += 30;
        out.months -= 1;
    } else if out.months < 0 && (out.days > 0 || out.days == 0 && out.micros > 0) {
        out.days -= 30;
        out.months += 1;
    }
    if out.days > 0 && out.micros < 0 {
        out.micros += DAY;
        out.days -= 1;
    } else if out.days < 0 && out.micros > 0 {
        out.micros -= DAY;
        out.days += 1;
    }
    Ok(out)
}

/// interval * factor.
///
/// # Errors
/// 22008.
pub fn multiply(interval: &Interval, factor: f64) -> Result<Interval> {
    scaled(interval, |part| part * factor)
}

/// interval / divisor.
///
/// # Errors
/// 22008, 22012.
pub fn divide(interval: &Interval, divisor: f64) -> Result<Interval> {
    if divisor == 0.0 {
        return Err(crate::failure::division_by_zero());
    }
    scaled(interval, |part| part / divisor)
}

/// An interval with each of its parts made larger or smaller: fractions of months go to days, of days to the time.
fn scaled(interval: &Interval, scale: impl Fn(f64) -> f64) -> Result<Interval> {
    // The highest numbers themselves are no doubles.
    let whole = |value: f64| {
        let limit = -f64::from(i32::MIN);
        (-limit..limit).contains(&value).then_some(value as i32)
    };
    // Rounded to microseconds against noise of the multiplication.
    let round = |value: f64| (value * SECOND as f64).round_ties_even() / SECOND as f64;
    let result = || {
        let months = scale(f64::from(interval.months));
        let days = scale(f64::from(interval.days));
        let mut out = Interval { months: whole(months)?, days: whole(days)?, micros: 0 };
        let month_days = round((months - f64::from(out.months)) * 30.0);
        let part = days - f64::from(out.days) + month_days - month_days.trunc();
        let mut seconds = round(part * 86_400.0);
        if seconds.abs() >= 86_400.0 {
            let whole = (seconds / 86_400.0) as i32;
            out.days = out.days.checked_add(whole)?;
            seconds -= f64::from(whole) * 86_400.0;
        }
        out.days = out.days.checked_add(month_days as i32)?;
        let micros = scale(interval.micros as f64) + seconds * SECOND as f64;
        let (micros, limit) = (micros.round_ties_even(), -(i64::MIN as f64));
        out.micros = (-limit..limit).contains(&micros).then_some(micros as i64)?;
        Some(out)
    };
    result().ok_or_else(interval::out_of_range)
}

/// age(a, b): years, months, days and a time, as a calendar counts.
///
/// # Errors
/// 22008.
pub fn age(a: i64, b: i64) -> Result<Interval> {
    // The other infinity counts as the last of all timestamps.
    if a == i64::MIN || b == i64::MIN {
        return Err(super::out_of_range("timestamp"));
    }
    let ((a_day, a_micros), (b_day, b_micros)) = (calendar::split(a), calendar::split(b));
    let (x, y) = (calendar::date(a_day), calendar::date(b_day));
    let sign = if a < b { -1 } else { 1 };
    let mut micros = i64::from(sign) * (a_micros - b_micros);
    let mut days = i64::from(sign) * (i64::from(x.day) - i64::from(y.day));
    let mut months = i64::from(sign) * (i64::from(x.month) - i64::from(y.month));
    let mut years = i64::from(sign) * (x.year - y.year);
    if micros < 0 {
        micros += DAY;
        days -= 1;
    }
    // Days are borrowed from the month of the earlier date.
    let earlier = if sign < 0 { x } else { y };
    while days < 0 {
        days += i64::from(calendar::month_length(earlier.year, earlier.month));
        months -= 1;
    }
    while months < 0 {
        months += 12;
        years -= 1;
    }
    let sign = i64::from(sign);
    Ok(Interval {
        months: (sign * (years * 12 + months)) as i32,
        days: (sign * days) as i32,
        micros: sign * micros,
    })
}
