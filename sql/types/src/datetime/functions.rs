//! Operators, casts and constructors of dates, times and intervals, by `pg_proc` OID.
//!
//! PostgreSQL: `date.c`, `timestamp.c`. What is local is so in the session's TimeZone.

use super::calendar;
use super::clock::Clock;
use super::output::{DAYS, MONTHS};
use super::zone::{self, Zone};
use super::{DAY, HOUR, MINUTE, SECOND, arithmetic, interval, interval_write, out_of_range};
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::function::Function;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Interval, float};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1299, Plain(|c, _| Ok(Datum::TimestampTz(c.transaction_time)))),
    (2647, Plain(|c, _| Ok(Datum::TimestampTz(c.transaction_time)))),
    (2648, Plain(|c, _| Ok(Datum::TimestampTz(c.statement_time)))),
    (2649, Plain(|c, _| Ok(Datum::TimestampTz(c.clock.wall())))),
    (274, Plain(time_of_day)),
    // date with days, dates, times and intervals
    (1140, Plain(date_difference)),
    (1141, Plain(|_, a| add_days(a[0].date(), i64::from(a[1].int4())))),
    (1142, Plain(|_, a| add_days(a[0].date(), -i64::from(a[1].int4())))),
    (2550, Plain(|_, a| add_days(a[1].date(), i64::from(a[0].int4())))),
    (2071, Plain(|_, a| add_to_date(a[0].date(), a[1].interval()))),
    (2546, Plain(|_, a| add_to_date(a[1].date(), a[0].interval()))),
    (2072, Plain(|_, a| add_to_date(a[0].date(), &arithmetic::negate(a[1].interval())?))),
    (1272, Plain(|_, a| date_with_time(a[0].date(), a[1].time()))),
    (1296, Plain(|_, a| date_with_time(a[1].date(), a[0].time()))),
    (2025, Plain(|_, a| date_with_time(a[0].date(), a[1].time()))),
    // timestamps with intervals
    (2032, Plain(|_, a| arithmetic::add(a[0].timestamp(), a[1].interval()).map(Datum::Timestamp))),
    (2548, Plain(|_, a| arithmetic::add(a[1].timestamp(), a[0].interval()).map(Datum::Timestamp))),
    (
        2033,
        Plain(|_, a| {
            let negated = arithmetic::negate(a[1].interval())?;
            arithmetic::add(a[0].timestamp(), &negated).map(Datum::Timestamp)
        }),
    ),
    (1189, Plain(|c, a| add_in_session_zone(c, a[0].timestamptz(), a[1].interval()))),
    (2549, Plain(|c, a| add_in_session_zone(c, a[1].timestamptz(), a[0].interval()))),
    (
        1190,
        Plain(|c, a| {
            add_in_session_zone(c, a[0].timestamptz(), &arithmetic::negate(a[1].interval())?)
        }),
    ),
    (2031, Plain(|c, a| in_arena(c, arithmetic::difference(a[0].timestamp(), a[1].timestamp())?))),
    (
        1188,
        Plain(|c, a| in_arena(c, arithmetic::difference(a[0].timestamptz(), a[1].timestamptz())?)),
    ),
    (2058, Plain(|c, a| in_arena(c, arithmetic::age(a[0].timestamp(), a[1].timestamp())?))),
    (2059, Plain(age_today)),
    (
        1199,
        Plain(|c, a| {
            in_arena(
                c,
                arithmetic::age(local(c, a[0].timestamptz()), local(c, a[1].timestamptz()))?,
            )
        }),
    ),
    (1386, Plain(age_today)),
    // time
    (
        1690,
        Plain(|c, a| {
            in_arena(c, Interval { micros: a[0].time() - a[1].time(), ..Interval::default() })
        }),
    ),
    (
        1747,
        Plain(|_, a| {
            Ok(Datum::Time(wrap(i128::from(a[0].time()) + i128::from(a[1].interval().micros))))
        }),
    ),
    (
        1848,
        Plain(|_, a| {
            Ok(Datum::Time(wrap(i128::from(a[1].time()) + i128::from(a[0].interval().micros))))
        }),
    ),
    (
        1748,
        Plain(|_, a| {
            Ok(Datum::Time(wrap(i128::from(a[0].time()) - i128::from(a[1].interval().micros))))
        }),
    ),
    // interval
    (1168, Plain(|c, a| in_arena(c, arithmetic::negate(a[0].interval())?))),
    (1169, Plain(|c, a| in_arena(c, arithmetic::add_intervals(a[0].interval(), a[1].interval())?))),
    (
        1170,
        Plain(|c, a| {
            in_arena(c, arithmetic::subtract_intervals(a[0].interval(), a[1].interval())?)
        }),
    ),
    (1618, Plain(|c, a| in_arena(c, arithmetic::multiply(a[0].interval(), a[1].float8())?))),
    (1624, Plain(|c, a| in_arena(c, arithmetic::multiply(a[1].interval(), a[0].float8())?))),
    (1326, Plain(|c, a| in_arena(c, arithmetic::divide(a[0].interval(), a[1].float8())?))),
    (1175, Plain(|c, a| in_arena(c, arithmetic::justify_hours(a[0].interval())?))),
    (1295, Plain(|c, a| in_arena(c, arithmetic::justify_days(a[0].interval())?))),
    (2711, Plain(|c, a| in_arena(c, arithmetic::justify(a[0].interval())?))),
    (1200, Plain(|c, a| in_arena(c, interval::apply_modifier(*a[0].interval(), a[1].int4())?))),
    (1370, Plain(|c, a| in_arena(c, Interval { micros: a[0].time(), ..Interval::default() }))),
    (1419, Plain(|_, a| Ok(Datum::Time(a[0].interval().micros.rem_euclid(DAY))))),
    // casts
    (2024, Plain(|_, a| date_to_timestamp(a[0].date()).map(Datum::Timestamp))),
    (
        1174,
        Plain(|c, a| {
            let midnight = date_to_timestamp(a[0].date())?;
            to_instant(c, midnight).map_err(|_| date_out_of_range())
        }),
    ),
    (1176, Plain(|c, a| to_instant(c, date_with_time(a[0].date(), a[1].time())?.timestamp()))),
    (2028, Plain(|c, a| to_instant(c, a[0].timestamp()))),
    (2027, Plain(|c, a| Ok(Datum::Timestamp(local(c, a[0].timestamptz()))))),
    (2029, Plain(|_, a| Ok(to_date(a[0].timestamp())))),
    (1178, Plain(|c, a| Ok(to_date(local(c, a[0].timestamptz()))))),
    (1316, Plain(|_, a| Ok(to_time(a[0].timestamp())))),
    (2019, Plain(|c, a| Ok(to_time(local(c, a[0].timestamptz()))))),
    (1961, Plain(|_, a| Ok(Datum::Timestamp(rounded(a[0].timestamp(), a[1].int4())?)))),
    (1967, Plain(|_, a| Ok(Datum::TimestampTz(rounded(a[0].timestamptz(), a[1].int4())?)))),
    (1968, Plain(|_, a| Ok(Datum::Time(arithmetic::round_to(a[0].time(), a[1].int4()))))),
    (2069, Plain(|_, a| instant_in(|| zone::of_user(a[0].text()), a[1].timestamp()))),
    (2070, Plain(|c, a| instant_in(|| fixed(c, a[0].interval()), a[1].timestamp()))),
    (1159, Plain(|_, a| local_in(|| zone::of_user(a[0].text()), a[1].timestamptz()))),
    (1026, Plain(|c, a| local_in(|| fixed(c, a[0].interval()), a[1].timestamptz()))),
    (1373, Plain(|_, a| Ok(Datum::Bool(a[0].date() != i32::MIN && a[0].date() != i32::MAX)))),
    (1389, Plain(|_, a| Ok(Datum::Bool(!arithmetic::infinite(a[0].timestamptz()))))),
    (2048, Plain(|_, a| Ok(Datum::Bool(!arithmetic::infinite(a[0].timestamp()))))),
    (1390, Plain(|_, _| Ok(Datum::Bool(true)))),
    // constructors
    (3846, Plain(make_date)),
    (3847, Plain(make_time)),
    (3461, Plain(|_, a| make_timestamp(a).map(Datum::Timestamp))),
    (3462, Plain(|c, a| to_instant(c, make_timestamp(a)?))),
    (
        3463,
        Plain(|_, a| {
            let local = make_timestamp(a)?;
            instant_in(|| zone::of_constructor(a[6].text()), local)
        }),
    ),
    (3464, Plain(make_interval)),
    (1158, Plain(from_epoch)),
];

/// The wall clock as a text of its own: `Wed Oct 04 19:03:15.123456 2023 UTC`.
fn time_of_day<'a>(context: &CallContext<'a>, _: &[Datum<'a>]) -> Result<Datum<'a>> {
    let now = context.clock.wall();
    let (east, zone) = session_zone(context).at(now);
    let (days, micros) = calendar::split(now + i64::from(east) * SECOND);
    let (date, clock) = (calendar::date(days), Clock::of(micros));
    let text = format!(
        "{} {} {:02} {:02}:{:02}:{:02}.{:06} {} {zone}",
        &DAYS[calendar::weekday(days) as usize][..3],
        &MONTHS[date.month as usize - 1][..3],
        date.day,
        clock.hours,
        clock.minutes,
        clock.seconds,
        clock.micros,
        date.year,
    );
    Ok(Datum::Text(context.arena.alloc_str(&text)))
}

fn in_arena<'a>(context: &CallContext<'a>, interval: Interval) -> Result<Datum<'a>> {
    Ok(Datum::Interval(context.arena.alloc(interval)))
}

/// The zone that the session's settings name.
pub fn session_zone(context: &CallContext<'_>) -> Zone {
    zone::of_session(&context.settings.time_zone)
}

/// An instant as local time of the session.
pub fn local(context: &CallContext<'_>, timestamp: i64) -> i64 {
    if arithmetic::infinite(timestamp) {
        timestamp
    } else {
        session_zone(context).to_local(timestamp)
    }
}

/// How far from an instant the clock may be put back or forward for its local times to be others.
const CLOCK_MICROS: i64 = 2 * 86_400_000_000;

/// A local time that no local time of an instant as late as this is before, or as early is behind: its own, but where the clock
/// is put back or forward nearby.
fn local_bound(context: &CallContext<'_>, instant: i64, lowest: bool) -> i64 {
    if arithmetic::infinite(instant) {
        return instant;
    }
    let zone = session_zone(context);
    let by_clock_of = |shift: i64| {
        let ends = (i64::MIN + CLOCK_MICROS, i64::MAX - CLOCK_MICROS);
        let near = instant.saturating_add(shift).clamp(ends.0, ends.1);
        instant.saturating_add(zone.to_local(near) - near)
    };
    let all = [0, -CLOCK_MICROS, CLOCK_MICROS].map(by_clock_of);
    all.into_iter().fold(all[0], |a, b| if lowest { a.min(b) } else { a.max(b) })
}

/// What gives the lowest value, or the highest, of a type without a zone or without a time that a point in time, of the type
/// `from`, may be equal to: days and local times that compare with it compare so with that, or are equal. It cannot fail.
#[must_use]
pub fn nearest(from: u32, to: u32, lowest: bool) -> Option<Function> {
    use crate::oids::{DATE, TIMESTAMP, TIMESTAMPTZ};
    let lowest_local: Function =
        |c, a| Ok(Datum::Timestamp(local_bound(c, a[0].timestamptz(), true)));
    let highest_local: Function =
        |c, a| Ok(Datum::Timestamp(local_bound(c, a[0].timestamptz(), false)));
    let lowest_day: Function = |c, a| Ok(to_date(local_bound(c, a[0].timestamptz(), true)));
    let highest_day: Function = |c, a| Ok(to_date(local_bound(c, a[0].timestamptz(), false)));
    Some(match (from, to, lowest) {
        (TIMESTAMPTZ, TIMESTAMP, true) => lowest_local,
        (TIMESTAMPTZ, TIMESTAMP, false) => highest_local,
        (TIMESTAMPTZ, DATE, true) => lowest_day,
        (TIMESTAMPTZ, DATE, false) => highest_day,
        (TIMESTAMP, DATE, _) => |_, a| Ok(to_date(a[0].timestamp())),
        _ => return None,
    })
}

/// What gives the value of a type with a time, or with a zone, that a day or a local time is equal to, or where there is none, as
/// it is too far off, one that no moment is equal to. It cannot fail.
#[must_use]
pub fn equal_moment(from: u32, to: u32) -> Option<Function> {
    use crate::oids::{DATE, TIMESTAMP, TIMESTAMPTZ};
    let midnight: Function = |_, a| Ok(Datum::Timestamp(midnight_or_never(a[0].date())));
    let zoned_midnight: Function =
        |context, a| Ok(instant_or_never(context, midnight_or_never(a[0].date())));
    let zoned: Function = |context, a| Ok(instant_or_never(context, a[0].timestamp()));
    Some(match (from, to) {
        (DATE, TIMESTAMP) => midnight,
        (DATE, TIMESTAMPTZ) => zoned_midnight,
        (TIMESTAMP, TIMESTAMPTZ) => zoned,
        _ => return None,
    })
}

/// Behind the last timestamp, and not the infinite one.
const NEVER: i64 = i64::MAX - 1;

fn midnight_or_never(days: i32) -> i64 {
    date_to_timestamp(days).unwrap_or(NEVER)
}

/// A local time of the session as a point in time, if it is one.
fn instant_or_never(context: &CallContext<'_>, local: i64) -> Datum<'static> {
    let fixed = arithmetic::infinite(local) || local == NEVER;
    let instant = if fixed { Some(local) } else { session_zone(context).to_utc(local) };
    Datum::TimestampTz(instant.unwrap_or(NEVER))
}

fn to_instant<'a>(context: &CallContext<'a>, local: i64) -> Result<Datum<'a>> {
    instant_in(|| Ok(session_zone(context)), local)
}

fn instant_in(zone: impl FnOnce() -> Result<Zone>, local: i64) -> Result<Datum<'static>> {
    // The infinities are in every zone, even in none.
    if arithmetic::infinite(local) {
        return Ok(Datum::TimestampTz(local));
    }
    zone()?.to_utc(local).map(Datum::TimestampTz).ok_or_else(|| out_of_range("timestamp"))
}

fn local_in(zone: impl FnOnce() -> Result<Zone>, instant: i64) -> Result<Datum<'static>> {
    let infinite = arithmetic::infinite(instant);
    Ok(Datum::Timestamp(if infinite { instant } else { zone()?.to_local(instant) }))
}

/// A timestamp with so many decimals, which a type's modifier has not more than six of (`AdjustTimestampForTypmod`).
fn rounded(timestamp: i64, precision: i32) -> Result<i64> {
    if !(-1..=6).contains(&precision) && !arithmetic::infinite(timestamp) {
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("timestamp({precision}) precision must be between 0 and 6"),
        ));
    }
    Ok(arithmetic::round_to(timestamp, precision))
}

/// An interval as a zone: seconds east.
pub(super) fn fixed(context: &CallContext<'_>, offset: &Interval) -> Result<Zone> {
    if offset.months != 0 || offset.days != 0 {
        let mut shown = Vec::new();
        interval_write::write(context.settings.interval_style, offset, &mut shown);
        let shown = String::from_utf8_lossy(&shown);
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("interval time zone \"{shown}\" must not include months or days"),
        ));
    }
    Ok(Zone::Fixed((offset.micros / SECOND) as i32))
}

/// A date's midnight.
///
/// # Errors
/// 22008 for dates behind the last timestamp.
pub(crate) fn date_to_timestamp(days: i32) -> Result<i64> {
    match days {
        i32::MIN => Ok(i64::MIN),
        i32::MAX => Ok(i64::MAX),
        days => calendar::timestamp(i64::from(days), 0).ok_or_else(date_out_of_range),
    }
}

#[cold]
fn date_out_of_range() -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "date out of range for timestamp")
}

fn date_difference<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let infinite = |days: i32| days == i32::MIN || days == i32::MAX;
    if infinite(a[0].date()) || infinite(a[1].date()) {
        return Err(SqlError::new(
            SqlState::DATETIME_FIELD_OVERFLOW,
            "cannot subtract infinite dates",
        ));
    }
    Ok(Datum::Int4(a[0].date().wrapping_sub(a[1].date())))
}

fn add_days(date: i32, days: i64) -> Result<Datum<'static>> {
    if date == i32::MIN || date == i32::MAX {
        return Ok(Datum::Date(date));
    }
    let sum = i64::from(date) + days;
    if calendar::is_date(sum) { Ok(Datum::Date(sum as i32)) } else { Err(out_of_range("date")) }
}

fn add_to_date(date: i32, interval: &Interval) -> Result<Datum<'static>> {
    arithmetic::add(date_to_timestamp(date)?, interval).map(Datum::Timestamp)
}

fn date_with_time(date: i32, micros: i64) -> Result<Datum<'static>> {
    let midnight = date_to_timestamp(date)?;
    if arithmetic::infinite(midnight) {
        return Ok(Datum::Timestamp(midnight));
    }
    let sum = midnight.checked_add(micros).filter(|&sum| calendar::is_timestamp(sum));
    sum.map(Datum::Timestamp).ok_or_else(|| out_of_range("timestamp"))
}

pub(crate) fn add_in_session_zone<'a>(
    context: &CallContext<'a>,
    timestamp: i64,
    interval: &Interval,
) -> Result<Datum<'a>> {
    arithmetic::add_in_zone(timestamp, interval, &session_zone(context)).map(Datum::TimestampTz)
}

/// A time of day on the clock.
fn wrap(micros: i128) -> i64 {
    micros.rem_euclid(i128::from(DAY)) as i64
}

fn to_date(timestamp: i64) -> Datum<'static> {
    Datum::Date(match timestamp {
        i64::MIN => i32::MIN,
        i64::MAX => i32::MAX,
        timestamp => calendar::split(timestamp).0 as i32,
    })
}

fn to_time(timestamp: i64) -> Datum<'static> {
    if arithmetic::infinite(timestamp) {
        return Datum::Null;
    }
    Datum::Time(calendar::split(timestamp).1)
}

/// age(x): from x to midnight of today.
fn age_today<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (today, _) = calendar::split(local(context, context.transaction_time));
    let then = match a[0] {
        Datum::Timestamp(timestamp) => timestamp,
        other => local(context, other.timestamptz()),
    };
    in_arena(context, arithmetic::age(today * DAY, then)?)
}

fn field_error(kind: &str, text: String) -> SqlError {
    SqlError::new(
        SqlState::DATETIME_FIELD_OVERFLOW,
        format!("{kind} field value out of range: {text}"),
    )
}

/// Days of a year (negative: BC), month and day.
fn checked_date(year: i32, month: i32, day: i32) -> Option<i64> {
    let year = match year {
        // The least number is no year before another one.
        0 | i32::MIN => return None,
        1.. => i64::from(year),
        _ => i64::from(year) + 1,
    };
    let month = u32::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    let length = i32::try_from(calendar::month_length(year, month)).ok()?;
    if !(1..=length).contains(&day) {
        return None;
    }
    Some(calendar::days(year, month, i64::from(day)))
}

fn make_date<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (year, month, day) = (a[0].int4(), a[1].int4(), a[2].int4());
    // There is no year 0: PostgreSQL shows a year before it as it counts them itself.
    let shown = || {
        let shown = if year < 0 && year != i32::MIN { year + 1 } else { year };
        format!("{shown}-{month:02}-{day:02}")
    };
    let days = checked_date(year, month, day).ok_or_else(|| field_error("date", shown()))?;
    if !calendar::is_date(days) {
        return Err(SqlError::new(
            SqlState::DATETIME_FIELD_OVERFLOW,
            format!("date out of range: {}", shown()),
        ));
    }
    Ok(Datum::Date(days as i32))
}

/// Microseconds of hour, minute and second.
fn checked_time(hour: i32, minute: i32, second: f64) -> Option<i64> {
    let micros = (second * SECOND as f64).round_ties_even();
    let inside = (0..=24).contains(&hour)
        && (0..60).contains(&minute)
        && (0.0..=60.0 * SECOND as f64).contains(&micros);
    let sum = || i64::from(hour) * HOUR + i64::from(minute) * MINUTE + micros as i64;
    inside.then(sum).filter(|sum| *sum <= DAY)
}

fn make_time<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (hour, minute, second) = (a[0].int4(), a[1].int4(), a[2].float8());
    let shown = || format!("{hour}:{minute:02}:{}", short(second));
    checked_time(hour, minute, second).map(Datum::Time).ok_or_else(|| field_error("time", shown()))
}

fn make_timestamp(a: &[Datum<'_>]) -> Result<i64> {
    let (year, month, day) = (a[0].int4(), a[1].int4(), a[2].int4());
    let (hour, minute, second) = (a[3].int4(), a[4].int4(), a[5].float8());
    let date = || format!("{year}-{month:02}-{day:02}");
    let out_of_range = |what: &str, shown: String| {
        let message = format!("{what} out of range: {shown}");
        SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, message)
    };
    let days = checked_date(year, month, day).ok_or_else(|| field_error("date", date()))?;
    if !calendar::is_date(days) {
        return Err(out_of_range("date", date()));
    }
    let time = || format!("{hour}:{minute:02}:{}", short(second));
    let micros = checked_time(hour, minute, second).ok_or_else(|| field_error("time", time()))?;
    calendar::timestamp(days, micros)
        .ok_or_else(|| out_of_range("timestamp", format!("{} {}", date(), time())))
}

/// Seconds as C's `%02g` shows them.
fn short(seconds: f64) -> String {
    let mut shown = Vec::new();
    // Six digits are nine fewer than a float8 has.
    float::write_f64(seconds, -9, &mut shown);
    format!("{:0>2}", String::from_utf8_lossy(&shown))
}

fn make_interval<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let number = |i: usize| i64::from(a[i].int4());
    let seconds = a[6].float8();
    if !seconds.is_finite() {
        return Err(interval::out_of_range());
    }
    let months = i32::try_from(number(0) * 12 + number(1));
    let days = i32::try_from(number(2) * 7 + number(3));
    let seconds = (seconds * SECOND as f64).round_ties_even();
    let micros = if seconds.abs() < i64::MAX as f64 {
        (number(4) * HOUR)
            .checked_add(number(5) * MINUTE + seconds as i64 % DAY)
            .and_then(|micros| micros.checked_add(seconds as i64 / DAY * DAY))
    } else {
        None
    };
    match (months, days, micros) {
        (Ok(months), Ok(days), Some(micros)) => {
            in_arena(context, Interval { months, days, micros })
        }
        _ => Err(interval::out_of_range()),
    }
}

/// to_timestamp(seconds since 1970).
fn from_epoch<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let seconds = a[0].float8();
    if seconds.is_nan() {
        return Err(SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, "timestamp cannot be NaN"));
    }
    if seconds.is_infinite() {
        return Ok(Datum::TimestampTz(if seconds > 0.0 { i64::MAX } else { i64::MIN }));
    }
    let micros =
        ((seconds - (calendar::UNIX_DAYS * 86_400) as f64) * SECOND as f64).round_ties_even();
    let inside =
        micros >= calendar::TIMESTAMP_MIN as f64 && micros < calendar::TIMESTAMP_END as f64;
    if !inside {
        let mut shown = Vec::new();
        crate::float::write_f64(seconds, -9, &mut shown);
        let shown = String::from_utf8_lossy(&shown).into_owned();
        return Err(SqlError::new(
            SqlState::DATETIME_FIELD_OVERFLOW,
            format!("timestamp out of range: \"{shown}\""),
        ));
    }
    Ok(Datum::TimestampTz(micros as i64))
}
