//! Reads dates, times and timestamps: ISO 8601 in one pass without the heap, all other forms field by field.
//!
//! PostgreSQL: `date_in`, `time_in`, `timetz_in`, `timestamp_in`, `timestamptz_in`.

use super::calendar::{self, month_length};
use super::decode::{self, Failure, Moment};
use super::{HOUR, MINUTE, SECOND, arithmetic, lexer, zone};
use crate::TimeTz;
use crate::error::{Result, SqlError};
use crate::settings::ValueSettings;
use crate::sqlstate::SqlState;
use std::cell::Cell;

/// What words like `now` need: the transaction's start.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// Settings: order of fields, time zone.
    pub settings: &'a ValueSettings,
    /// Microseconds since 2000-01-01 UTC.
    pub transaction_time: i64,
    /// Where it is noted that somebody has asked for the time.
    pub asked: Option<&'a Cell<bool>>,
}

impl Now<'_> {
    /// The transaction's start by the session's clock, and how many seconds that is east.
    pub(super) fn local(&self) -> (i64, i32) {
        if let Some(asked) = self.asked {
            asked.set(true);
        }
        let east = zone::of_session(&self.settings.time_zone).offset(self.transaction_time);
        (self.transaction_time.saturating_add(i64::from(east) * SECOND), east)
    }
}

fn report(failure: Failure, text: &str, type_name: &str) -> SqlError {
    let field = || format!("date/time field value out of range: \"{text}\"");
    match failure {
        Failure::Syntax => SqlError::new(
            SqlState::INVALID_DATETIME_FORMAT,
            format!("invalid input syntax for type {type_name}: \"{text}\""),
        ),
        Failure::Field => SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, field()),
        Failure::MonthOrDay => SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, field())
            .hint("Perhaps you need a different \"datestyle\" setting."),
        Failure::Displacement => SqlError::new(
            SqlState::INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
            format!("time zone displacement out of range: \"{text}\""),
        ),
        Failure::UnknownZone(name) => SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("time zone \"{name}\" not recognized"),
        ),
    }
}

fn out_of_range(type_name: &str, text: &str) -> SqlError {
    SqlError::new(
        SqlState::DATETIME_FIELD_OVERFLOW,
        format!("{type_name} out of range: \"{text}\""),
    )
}

/// Reads a date.
///
/// # Errors
/// 22007, 22008.
pub fn read_date(now: Now<'_>, text: &str) -> Result<i32> {
    match read(now, text, lexer::DATE_ROOM).map_err(|failure| report(failure, text, "date"))? {
        Moment::Infinite(positive) => Ok(if positive { i32::MAX } else { i32::MIN }),
        Moment::At { day, .. } if calendar::is_date(day) => Ok(day as i32),
        Moment::At { .. } => Err(out_of_range("date", text)),
    }
}

/// Reads a timestamp without time zone; a zone in it is passed over.
///
/// # Errors
/// 22007, 22008.
pub fn read_timestamp(now: Now<'_>, text: &str, typmod: i32) -> Result<i64> {
    match read(now, text, lexer::TIMESTAMP_ROOM)
        .map_err(|failure| report(failure, text, "timestamp"))?
    {
        Moment::Infinite(positive) => Ok(if positive { i64::MAX } else { i64::MIN }),
        Moment::At { day, micros, .. } => calendar::timestamp(day, micros)
            .map(|timestamp| arithmetic::round_to(timestamp, typmod))
            .ok_or_else(|| out_of_range("timestamp", text)),
    }
}

/// Reads a timestamp with time zone; without a zone it is local to the session's.
///
/// # Errors
/// 22007, 22008, 22009.
pub fn read_timestamptz(now: Now<'_>, text: &str, typmod: i32) -> Result<i64> {
    let type_name = "timestamp with time zone";
    let utc = match read(now, text, lexer::TIMESTAMP_ROOM)
        .map_err(|failure| report(failure, text, type_name))?
    {
        Moment::Infinite(positive) => {
            return Ok(if positive { i64::MAX } else { i64::MIN });
        }
        Moment::At { day, micros, east: Some(east) } => {
            calendar::timestamp(day, micros - i64::from(east) * SECOND)
        }
        Moment::At { day, micros, east: None } => calendar::timestamp(day, micros)
            .and_then(|local| zone::of_session(&now.settings.time_zone).to_utc(local)),
    };
    utc.map(|utc| arithmetic::round_to(utc, typmod)).ok_or_else(|| out_of_range("timestamp", text))
}

/// Reads a time of day; a date in front and a zone behind it are passed over.
///
/// # Errors
/// 22007, 22008.
pub fn read_time(now: Now<'_>, text: &str, typmod: i32) -> Result<i64> {
    let fields = lexer::fields(text, lexer::TIME_ROOM).ok_or(Failure::Syntax);
    let time = fields.and_then(|fields| decode::time(now, &fields, false));
    let time = time.map_err(|failure| report(failure, text, "time"))?;
    Ok(arithmetic::round_to(time.micros, typmod))
}

/// Reads a time of day with its zone; without one it is in the session's, on the day that is named, or today.
///
/// # Errors
/// 22007, 22008, 22009.
pub fn read_timetz(now: Now<'_>, text: &str, typmod: i32) -> Result<TimeTz> {
    let fields = lexer::fields(text, lexer::TIME_ROOM).ok_or(Failure::Syntax);
    let time = fields.and_then(|fields| decode::time(now, &fields, true));
    let time = time.map_err(|failure| report(failure, text, "time with time zone"))?;
    Ok(TimeTz { micros: arithmetic::round_to(time.micros, typmod), ..time })
}

fn read(now: Now<'_>, text: &str, room: usize) -> decode::Step<Moment> {
    match read_iso(text.as_bytes()) {
        Some(moment) => Ok(moment),
        None => decode::moment(now, &lexer::fields(text, room).ok_or(Failure::Syntax)?),
    }
}

/// `YYYY-MM-DD[( |T)HH:MM[:SS[.ffffff]][(+|-)HH[:MM]]]`, all valid; none for anything else, which the long way decides.
fn read_iso(bytes: &[u8]) -> Option<Moment> {
    let number = |range: std::ops::Range<usize>| {
        bytes.get(range)?.iter().try_fold(0i64, |value, byte| {
            byte.is_ascii_digit().then(|| value * 10 + i64::from(byte - b'0'))
        })
    };
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let (year, month, day) = (number(0..4)?, number(5..7)? as u32, number(8..10)? as u32);
    if !is(4, b'-')
        || !is(7, b'-')
        || year == 0
        || !(1..=12).contains(&month)
        || day == 0
        || day > month_length(year, month)
    {
        return None;
    }
    let day = calendar::days(year, month, i64::from(day));
    if bytes.len() == 10 {
        return Some(Moment::At { day, micros: 0, east: None });
    }
    let (hour, minute) = (number(11..13)?, number(14..16)?);
    if !(is(10, b' ') || is(10, b'T')) || !is(13, b':') || hour > 23 || minute > 59 {
        return None;
    }
    let mut micros = hour * HOUR + minute * MINUTE;
    let mut at = 16;
    if is(at, b':') {
        let second = number(17..19)?;
        if second > 59 {
            return None;
        }
        micros += second * SECOND;
        at = 19;
        if is(at, b'.') {
            let start = at + 1;
            let digits = bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count();
            if digits == 0 || digits > 6 {
                return None;
            }
            micros += number(start..start + digits)? * 10i64.pow(6 - digits as u32);
            at = start + digits;
        }
    }
    let mut east = None;
    if let Some(&sign @ (b'+' | b'-')) = bytes.get(at) {
        let hours = number(at + 1..at + 3)?;
        let minutes = if is(at + 3, b':') { number(at + 4..at + 6)? } else { 0 };
        let end = if is(at + 3, b':') { at + 6 } else { at + 3 };
        if hours > 15 || minutes > 59 || end != bytes.len() {
            return None;
        }
        let seconds = (hours * 3600 + minutes * 60) as i32;
        east = Some(if sign == b'-' { -seconds } else { seconds });
    } else if is(at, b'Z') && at + 1 == bytes.len() {
        east = Some(0);
    } else if at != bytes.len() {
        return None;
    }
    Some(Moment::At { day, micros, east })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reading_never_panics(text in "[-0-9:./ TtZ+a-z]{0,24}|.{0,16}") {
            let settings = ValueSettings::default();
            let now = Now { settings: &settings, transaction_time: 0, asked: None };
            let _ = read_date(now, &text);
            let _ = read_time(now, &text, -1);
            let _ = read_timestamp(now, &text, 3);
            let _ = read_timestamptz(now, &text, 0);
        }

        #[test]
        fn timestamps_round_trip(timestamp in calendar::TIMESTAMP_MIN..calendar::TIMESTAMP_END) {
            let settings = ValueSettings::default();
            let now = Now { settings: &settings, transaction_time: 0, asked: None };
            let mut out = Vec::new();
            super::super::output::write_timestamptz(&settings, timestamp, &mut out);
            let text = std::str::from_utf8(&out).expect("ASCII");
            prop_assert_eq!(read_timestamptz(now, text, -1), Ok(timestamp));
        }
    }
}
