//! Dates and times: date, time, timetz, timestamp, timestamptz, interval.
//!
//! PostgreSQL: `utils/adt/{datetime,timestamp,date}.c`; manual, 8.5 and appendix B. A timestamp counts microseconds, a date
//! days, from 2000-01-01; the calendar is the proleptic Gregorian one ([`calendar`]). Time zones are those of the IANA
//! database as compiled in ([`zone`]); nothing else of the crate that has them is used, since its years end at 9999 and
//! PostgreSQL's at 294276.

pub mod arithmetic;
pub mod calendar;
mod clock;
mod decode;
pub mod field;
pub(crate) mod from_pattern;
pub mod functions;
pub mod interval;
pub mod interval_read;
pub mod interval_write;
mod lexer;
pub mod output;
pub mod parse;
pub mod pattern;
mod posix;
pub(crate) mod standard;
mod template;
pub mod timetz;
mod word;
pub mod zone;

use crate::error::SqlError;
use crate::sqlstate::SqlState;

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds in a minute.
pub const MINUTE: i64 = 60 * SECOND;
/// Microseconds in an hour.
pub const HOUR: i64 = 60 * MINUTE;
/// Microseconds in a day.
pub const DAY: i64 = 24 * HOUR;

/// 22008 without the text.
#[cold]
pub(crate) fn out_of_range(type_name: &str) -> SqlError {
    SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, format!("{type_name} out of range"))
}
