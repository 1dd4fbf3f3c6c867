//! extract, date_part, date_trunc, date_bin.
//!
//! PostgreSQL: `timestamp_part_common`, `interval_part_common`, `extract_date`, `timestamp_trunc`. extract gives numerics with the
//! scale of the field, date_part the same as a double.

use super::calendar::{self, Date};
use super::clock::Clock;
use super::interval::{self, Parts, Unit};
use super::zone::{self, Zone};
use super::{DAY, HOUR, MINUTE, SECOND, arithmetic};
use crate::builtin;
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::numeric::decimal::{Decimal, Rounding};
use crate::numeric::{Number, small::Small};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Interval, oids};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (6199, Plain(|c, a| numeric(c, part(c, oids::DATE, a)?))),
    (6200, Plain(|c, a| numeric(c, part(c, oids::TIME, a)?))),
    (6201, Plain(|c, a| numeric(c, part(c, oids::TIMETZ, a)?))),
    (6202, Plain(|c, a| numeric(c, part(c, oids::TIMESTAMP, a)?))),
    (6203, Plain(|c, a| numeric(c, part(c, oids::TIMESTAMPTZ, a)?))),
    (6204, Plain(|c, a| numeric(c, part(c, oids::INTERVAL, a)?))),
    (1384, Plain(date_part_of_date)),
    (1385, Plain(|c, a| date_part(c, oids::TIME, a))),
    (1273, Plain(|c, a| date_part(c, oids::TIMETZ, a))),
    (2021, Plain(|c, a| date_part(c, oids::TIMESTAMP, a))),
    (1171, Plain(|c, a| date_part(c, oids::TIMESTAMPTZ, a))),
    (1172, Plain(|c, a| date_part(c, oids::INTERVAL, a))),
    (2020, Plain(truncate_timestamp)),
    (1217, Plain(truncate_timestamptz)),
    (1284, Plain(truncate_timestamptz)),
    (1218, Plain(truncate_interval)),
    (
        6177,
        Plain(|_, a| {
            bin(a[0].interval(), a[1].timestamp(), a[2].timestamp()).map(Datum::Timestamp)
        }),
    ),
    (
        6178,
        Plain(|_, a| {
            bin(a[0].interval(), a[1].timestamptz(), a[2].timestamptz()).map(Datum::TimestampTz)
        }),
    ),
];

/// What can be asked of a date or time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Field {
    Unit(Unit),
    Quarter,
    DayOfWeek,
    IsoDayOfWeek,
    DayOfYear,
    IsoYear,
    Julian,
    Epoch,
    Zone,
    ZoneHour,
    ZoneMinute,
}

fn field(name: &str) -> Option<Field> {
    Some(match name {
        "quarter" | "qtr" => Field::Quarter,
        "dow" => Field::DayOfWeek,
        "isodow" => Field::IsoDayOfWeek,
        "doy" => Field::DayOfYear,
        "isoyear" => Field::IsoYear,
        "julian" | "jd" | "j" => Field::Julian,
        "epoch" => Field::Epoch,
        "timezone" => Field::Zone,
        "timezone_hour" | "timezone_h" => Field::ZoneHour,
        "timezone_minute" | "timezone_m" => Field::ZoneMinute,
        other => Field::Unit(interval::unit(other)?),
    })
}

fn type_name(ty: u32) -> &'static str {
    match ty {
        oids::DATE => "date",
        oids::TIME => "time without time zone",
        oids::TIMETZ => "time with time zone",
        oids::TIMESTAMP => "timestamp without time zone",
        oids::TIMESTAMPTZ => "timestamp with time zone",
        oids::INTERVAL => "interval",
        other => builtin::type_by_oid(other).map_or("unknown", |ty| ty.name),
    }
}

fn unknown(name: &str, ty: u32) -> SqlError {
    invalid_parameter(format!("unit \"{name}\" not recognized for type {}", type_name(ty)))
}

fn unsupported(name: &str, ty: u32) -> SqlError {
    SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("unit \"{name}\" not supported for type {}", type_name(ty)),
    )
}

fn named(name: &str, ty: u32) -> Result<(String, Field)> {
    let lower = name.to_ascii_lowercase();
    let found = field(&lower).ok_or_else(|| unknown(&lower, ty))?;
    Ok((lower, found))
}

/// A field to be extracted: words that stand for a date of their own are known, and no field of one.
fn extracted(name: &str, ty: u32) -> Result<(String, Field)> {
    const DATES: [&str; 7] =
        ["now", "today", "tomorrow", "yesterday", "infinity", "-infinity", "allballs"];
    named(name, ty).map_err(|error| {
        let lower = name.to_ascii_lowercase();
        let dated = matches!(ty, oids::DATE | oids::TIMESTAMP | oids::TIMESTAMPTZ);
        if dated && DATES.contains(&&*lower) { unsupported(&lower, ty) } else { error }
    })
}

/// A field's value: `mantissa / 10^scale`, or none of these.
enum Part {
    Number(i64, u32),
    Exact(Decimal),
    Infinite(bool),
    Null,
}

fn numeric<'a>(context: &CallContext<'a>, part: Part) -> Result<Datum<'a>> {
    let stored = match part {
        Part::Number(mantissa, scale) => {
            Small { mantissa: i128::from(mantissa), scale }.store(context.arena)
        }
        Part::Exact(number) => number.store(context.arena),
        Part::Infinite(true) => Number::Infinity.store(context.arena),
        Part::Infinite(false) => Number::NegativeInfinity.store(context.arena),
        Part::Null => return Ok(Datum::Null),
    };
    Ok(Datum::Numeric(stored))
}

fn double(part: Part) -> Datum<'static> {
    match part {
        // Whole seconds and their fraction are put together after the division.
        Part::Number(micros, scale @ (3 | 6)) => {
            let (seconds, fraction) = ((micros / SECOND) as f64, (micros % SECOND) as f64);
            Datum::Float8(if scale == 6 {
                seconds + fraction / 1e6
            } else {
                seconds * 1000.0 + fraction / 1000.0
            })
        }
        Part::Number(mantissa, _) => Datum::Float8(mantissa as f64),
        Part::Exact(number) => Datum::Float8(number.to_f64()),
        Part::Infinite(true) => Datum::Float8(f64::INFINITY),
        Part::Infinite(false) => Datum::Float8(f64::NEG_INFINITY),
        Part::Null => Datum::Null,
    }
}

fn date_part_of_date<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let timestamp = super::functions::date_to_timestamp(a[1].date())?;
    date_part(context, oids::TIMESTAMP, &[a[0], Datum::Timestamp(timestamp)])
}

/// `date_part`: as PostgreSQL computes it in floating point, which is not always what the exact value rounds to.
fn date_part<'a>(context: &CallContext<'a>, ty: u32, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (_, field) = extracted(a[0].text(), ty)?;
    let since_1970 = |micros: i64| {
        const UNIX: i64 = calendar::UNIX_DAYS * DAY;
        // Near the end of time the sum is beyond 64 bits.
        micros.checked_add(UNIX).map_or(micros as f64 + UNIX as f64, |sum| sum as f64) / 1e6
    };
    let value = match (field, a[1]) {
        (Field::Epoch, Datum::Time(micros)) => micros as f64 / 1e6,
        (Field::Epoch, Datum::TimeTz(time)) => time.micros as f64 / 1e6 + f64::from(time.west),
        (Field::Epoch, Datum::Timestamp(moment) | Datum::TimestampTz(moment))
            if !arithmetic::infinite(moment) =>
        {
            since_1970(moment)
        }
        (Field::Epoch, Datum::Interval(value)) => {
            const DAY_SECONDS: f64 = 86_400.0;
            let Parts { years, months, days, .. } = Parts::of(value);
            let mut seconds = value.micros as f64 / 1e6;
            seconds += 365.25 * DAY_SECONDS * years as f64;
            seconds += 30.0 * DAY_SECONDS * months as f64;
            seconds + DAY_SECONDS * days as f64
        }
        _ => return Ok(double(part(context, ty, a)?)),
    };
    Ok(Datum::Float8(value))
}

fn part(context: &CallContext<'_>, ty: u32, a: &[Datum<'_>]) -> Result<Part> {
    let (name, field) = extracted(a[0].text(), ty)?;
    match a[1] {
        Datum::Interval(value) => interval_part(&name, field, value),
        Datum::Time(micros) => match clock_part(field, Clock::of(micros)) {
            Some(part) => Ok(part),
            None if field == Field::Epoch => Ok(Part::Number(micros, 6)),
            None => Err(unsupported(&name, ty)),
        },
        Datum::TimeTz(time) => match (clock_part(field, Clock::of(time.micros)), field) {
            (Some(part), _) => Ok(part),
            (None, Field::Epoch) => Ok(Part::Number(time.place().0, 6)),
            (None, Field::Zone) => Ok(Part::Number(i64::from(-time.west), 0)),
            (None, Field::ZoneHour) => Ok(Part::Number(i64::from(-time.west / 3600), 0)),
            (None, Field::ZoneMinute) => Ok(Part::Number(i64::from(-time.west / 60 % 60), 0)),
            (None, _) => Err(unsupported(&name, ty)),
        },
        Datum::Date(days) => date_field(&name, field, days),
        Datum::Timestamp(micros) => moment_part(&name, field, micros, None),
        other => {
            let zone = zone::of_session(&context.settings.time_zone);
            moment_part(&name, field, other.timestamptz(), Some(&zone))
        }
    }
}

/// Fields of the time of day.
fn clock_part(field: Field, clock: Clock) -> Option<Part> {
    Some(match field {
        Field::Unit(Unit::Microsecond) => Part::Number(clock.within_minute(), 0),
        Field::Unit(Unit::Millisecond) => Part::Number(clock.within_minute(), 3),
        Field::Unit(Unit::Second) => Part::Number(clock.within_minute(), 6),
        Field::Unit(Unit::Minute) => Part::Number(clock.minutes, 0),
        Field::Unit(Unit::Hour) => Part::Number(clock.hours, 0),
        _ => return None,
    })
}

/// Fields of the date.
fn calendar_part(field: Field, days: i64) -> Option<Part> {
    let Date { year, month, day } = calendar::date(days);
    // Years, decades and centuries are counted without a year 0, and centuries begin with a year 1.
    let century =
        |size: i64| if year > 0 { (year + size - 1) / size } else { -((size - year) / size) };
    let shown = |year: i64| if year > 0 { year } else { year - 1 };
    Some(Part::Number(
        match field {
            Field::Unit(Unit::Day) => i64::from(day),
            Field::Unit(Unit::Week) => i64::from(calendar::iso_week(days).1),
            Field::Unit(Unit::Month) => i64::from(month),
            Field::Unit(Unit::Year) => shown(year),
            Field::Unit(Unit::Decade) => year.div_euclid(10),
            Field::Unit(Unit::Century) => century(100),
            Field::Unit(Unit::Millennium) => century(1000),
            Field::Quarter => i64::from((month - 1) / 3 + 1),
            Field::DayOfWeek => i64::from(calendar::weekday(days)),
            Field::IsoDayOfWeek => i64::from((calendar::weekday(days) + 6) % 7 + 1),
            Field::DayOfYear => days - calendar::days(year, 1, 1) + 1,
            Field::IsoYear => shown(calendar::iso_week(days).0),
            Field::Julian => days + calendar::EPOCH_JULIAN,
            _ => return None,
        },
        0,
    ))
}

/// Infinity where a field grows for ever, NULL where it comes round again.
fn infinite_part(field: Field, positive: bool) -> Part {
    match field {
        Field::Unit(Unit::Year | Unit::Decade | Unit::Century | Unit::Millennium)
        | Field::Julian
        | Field::IsoYear
        | Field::Epoch => Part::Infinite(positive),
        _ => Part::Null,
    }
}

fn date_field(name: &str, field: Field, days: i32) -> Result<Part> {
    let known = calendar_part(field, 0).is_some() || field == Field::Epoch;
    if !known {
        return Err(unsupported(name, oids::DATE));
    }
    if days == i32::MIN || days == i32::MAX {
        return Ok(infinite_part(field, days > 0));
    }
    let days = i64::from(days);
    Ok(match calendar_part(field, days) {
        Some(part) => part,
        None => Part::Number((days + calendar::UNIX_DAYS) * 86_400, 0),
    })
}

fn moment_part(name: &str, field: Field, moment: i64, zone: Option<&Zone>) -> Result<Part> {
    let zoned = matches!(field, Field::Zone | Field::ZoneHour | Field::ZoneMinute);
    if arithmetic::infinite(moment) {
        return Ok(infinite_part(field, moment > 0));
    }
    if zoned && zone.is_none() {
        return Err(unsupported(name, oids::TIMESTAMP));
    }
    if zoned {
        let offset = zone.map_or(0, |zone| zone.offset(moment));
        return Ok(Part::Number(
            i64::from(match field {
                Field::ZoneHour => offset / 3600,
                Field::ZoneMinute => offset / 60 % 60,
                _ => offset,
            }),
            0,
        ));
    }
    let local = zone.map_or(moment, |zone| zone.to_local(moment));
    let (days, micros) = calendar::split(local);
    if field == Field::Epoch {
        // Before about 290000 BC microseconds from 1970 would not fit; no timestamp is that old.
        let exact = i128::from(moment) + i128::from(calendar::UNIX_DAYS * DAY);
        return Ok(Part::Exact(micros_as_seconds(exact)));
    }
    if field == Field::Julian {
        let whole = Decimal::from_i128(i128::from(days + calendar::EPOCH_JULIAN));
        let (time, day) =
            (Decimal::from_i128(i128::from(micros)), Decimal::from_i128(i128::from(DAY)));
        let fraction = time.divide(&day, time.division_scale(&day), Rounding::Nearest);
        return Ok(Part::Exact(whole.add(&fraction)));
    }
    clock_part(field, Clock::of(micros)).or_else(|| calendar_part(field, days)).ok_or_else(|| {
        unsupported(name, if zone.is_some() { oids::TIMESTAMPTZ } else { oids::TIMESTAMP })
    })
}

fn micros_as_seconds(micros: i128) -> Decimal {
    let million = Decimal::from_i128(1_000_000);
    Decimal::from_i128(micros).divide(&million, 6, Rounding::Nearest)
}

fn interval_part(name: &str, field: Field, value: &Interval) -> Result<Part> {
    let Parts { years, months, days, clock } = Parts::of(value);
    if let Some(part) = clock_part(field, clock) {
        return Ok(part);
    }
    let number = |number| Ok(Part::Number(number, 0));
    match field {
        Field::Unit(Unit::Day) => number(days),
        Field::Unit(Unit::Month) => number(months),
        Field::Quarter => number(months / 3 + 1),
        Field::Unit(Unit::Year) => number(years),
        Field::Unit(Unit::Decade) => number(years / 10),
        Field::Unit(Unit::Century) => number(years / 100),
        Field::Unit(Unit::Millennium) => number(years / 1000),
        Field::Epoch => {
            // A year counts 365.25 days here, a month 30.
            let quarter_days =
                i128::from(years) * 1461 + i128::from(months) * 120 + i128::from(days) * 4;
            let micros = quarter_days * i128::from(DAY / 4) + i128::from(value.micros);
            Ok(Part::Exact(micros_as_seconds(micros)))
        }
        _ => Err(unsupported(name, oids::INTERVAL)),
    }
}

/// The start of the unit that a local time is in.
fn truncate_local(name: &str, field: Field, local: i64, ty: u32) -> Result<i64> {
    let (days, micros) = calendar::split(local);
    let Date { year, month, .. } = calendar::date(days);
    let month_start = |year, month| Ok(calendar::days(year, month, 1) * DAY);
    // The first year of a century or millennium, which begin with 1 and count no year 0.
    let begin = |size: i64| {
        if year > 0 { (year - 1) / size * size + 1 } else { -((size - year) / size * size - 1) }
    };
    let day_start = days * DAY;
    match field {
        Field::Unit(unit) => match unit {
            Unit::Microsecond => Ok(local),
            Unit::Millisecond => Ok(day_start + micros / 1000 * 1000),
            Unit::Second => Ok(day_start + micros / SECOND * SECOND),
            Unit::Minute => Ok(day_start + micros / MINUTE * MINUTE),
            Unit::Hour => Ok(day_start + micros / HOUR * HOUR),
            Unit::Day => Ok(day_start),
            Unit::Week => Ok((days - (i64::from(calendar::weekday(days)) + 6) % 7) * DAY),
            Unit::Month => month_start(year, month),
            Unit::Year => month_start(year, 1),
            Unit::Decade => month_start(year.div_euclid(10) * 10, 1),
            Unit::Century => month_start(begin(100), 1),
            Unit::Millennium => month_start(begin(1000), 1),
        },
        Field::Quarter => month_start(year, (month - 1) / 3 * 3 + 1),
        Field::Zone | Field::ZoneHour | Field::ZoneMinute => Err(unsupported(name, ty)),
        _ => Err(unknown(name, ty)),
    }
}

fn truncate_timestamp<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let timestamp = a[1].timestamp();
    if arithmetic::infinite(timestamp) {
        return Ok(a[1]);
    }
    let (name, field) = named(a[0].text(), oids::TIMESTAMP)?;
    let start = truncate_local(&name, field, timestamp, oids::TIMESTAMP)?;
    if !calendar::is_timestamp(start) {
        return Err(super::out_of_range("timestamp"));
    }
    Ok(Datum::Timestamp(start))
}

fn truncate_timestamptz<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if arithmetic::infinite(a[1].timestamptz()) {
        return Ok(a[1]);
    }
    let zone = match a.get(2) {
        Some(zone) => zone::of_user(zone.text())?,
        None => zone::of_session(&context.settings.time_zone),
    };
    let (name, field) = named(a[0].text(), oids::TIMESTAMPTZ)?;
    let timestamp = a[1].timestamptz();
    let local = zone.to_local(timestamp);
    let start = truncate_local(&name, field, local, oids::TIMESTAMPTZ)?;
    let within_day = matches!(
        field,
        Field::Unit(
            Unit::Microsecond | Unit::Millisecond | Unit::Second | Unit::Minute | Unit::Hour
        )
    );
    // Within a day the offset stays; from a day on it is that of the new local time.
    let utc = if within_day { Some(timestamp - (local - start)) } else { zone.to_utc(start) };
    utc.filter(|utc| calendar::is_timestamp(*utc))
        .map(Datum::TimestampTz)
        .ok_or_else(|| super::out_of_range("timestamp"))
}

fn truncate_interval<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (name, field) = named(a[0].text(), oids::INTERVAL)?;
    let value = a[1].interval();
    let months = |size: i32| Interval { months: value.months / size * size, days: 0, micros: 0 };
    let micros = |size: i64| Interval { micros: value.micros / size * size, ..*value };
    let out = match field {
        Field::Quarter => months(3),
        Field::Unit(unit) => match unit {
            Unit::Microsecond => *value,
            Unit::Millisecond => micros(1000),
            Unit::Second => micros(SECOND),
            Unit::Minute => micros(MINUTE),
            Unit::Hour => micros(HOUR),
            Unit::Day => Interval { micros: 0, ..*value },
            Unit::Month => months(1),
            Unit::Year => months(12),
            Unit::Decade => months(120),
            Unit::Century => months(1200),
            Unit::Millennium => months(12_000),
            Unit::Week => {
                return Err(unsupported(&name, oids::INTERVAL)
                    .detail("Months usually have fractional weeks."));
            }
        },
        Field::Zone | Field::ZoneHour | Field::ZoneMinute => {
            return Err(unsupported(&name, oids::INTERVAL));
        }
        _ => return Err(unknown(&name, oids::INTERVAL)),
    };
    Ok(Datum::Interval(context.arena.alloc(out)))
}

fn bin(stride: &Interval, source: i64, origin: i64) -> Result<i64> {
    if arithmetic::infinite(source) {
        return Ok(source);
    }
    if arithmetic::infinite(origin) {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "origin out of range"));
    }
    if stride.months != 0 {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "timestamps cannot be binned into intervals containing months or years",
        ));
    }
    let width = i64::from(stride.days)
        .checked_mul(DAY)
        .and_then(|days| days.checked_add(stride.micros))
        .ok_or_else(interval::out_of_range)?;
    if width <= 0 {
        return Err(SqlError::new(
            SqlState::DATETIME_FIELD_OVERFLOW,
            "stride must be greater than zero",
        ));
    }
    let distance = source.checked_sub(origin).ok_or_else(interval::out_of_range)?;
    distance
        .div_euclid(width)
        .checked_mul(width)
        .and_then(|start| origin.checked_add(start))
        .filter(|&start| calendar::is_timestamp(start))
        .ok_or_else(|| super::out_of_range("timestamp"))
}
