//! Reads dates, times and timestamps: ISO 8601 in one pass without the heap, all other forms token by token.
//!
//! PostgreSQL: `DecodeDateTime`, `DecodeTimeOnly`, `ValidateDate` and the input functions around them.

use super::calendar::{self, month_length};
use super::timetz::west_at;
use super::tokens::{self, Kind, Token};
use super::zone::{self, NoDisplacement, Zone};
use super::{DAY, HOUR, MINUTE, SECOND};
use crate::error::{Result, SqlError};
use crate::settings::{DateOrder, SessionSettings};
use crate::sqlstate::SqlState;
use crate::types::TimeTz;
use std::cell::Cell;

/// What words like `now` need: the transaction's start.
#[derive(Clone, Copy)]
pub struct Now<'a> {
    /// Settings: order of fields, time zone.
    pub settings: &'a SessionSettings,
    /// Microseconds since 2000-01-01 UTC.
    pub transaction_time: i64,
    /// Where it is noted that somebody has asked for the time.
    pub asked: Option<&'a Cell<bool>>,
}

impl Now<'_> {
    /// The transaction's start.
    fn time(&self) -> i64 {
        if let Some(asked) = self.asked {
            asked.set(true);
        }
        self.transaction_time
    }
}

/// What a text said.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moment {
    /// `infinity`, `-infinity`.
    Infinite(bool),
    /// A day (from 2000-01-01), a time of day, and seconds east where a zone was given.
    At { day: i64, micros: i64, offset: Option<Offset> },
}

/// A zone in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Offset {
    /// So many seconds east.
    Seconds(i32),
    /// Rules applied already: `micros` in UTC instead.
    Utc(i64),
}

/// Why a text was not taken.
enum Failure {
    /// 22007.
    Syntax,
    /// 22008.
    Field,
    /// 22008 with the hint about DateStyle.
    MonthOrDay,
    /// 22009.
    Displacement,
    /// 22023, with the zone.
    UnknownZone(String),
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
    match read(now, text).map_err(|failure| report(failure, text, "date"))? {
        Moment::Infinite(positive) => Ok(if positive { i32::MAX } else { i32::MIN }),
        Moment::At { day, .. } if calendar::is_date(day) => Ok(day as i32),
        Moment::At { .. } => Err(out_of_range("date", text)),
    }
}

fn limit_precision(micros: i64, typmod: i32) -> i64 {
    super::arithmetic::round_to(micros, typmod)
}

/// Reads a timestamp without time zone; a zone in it is passed over.
///
/// # Errors
/// 22007, 22008.
pub fn read_timestamp(now: Now<'_>, text: &str, typmod: i32) -> Result<i64> {
    match read(now, text).map_err(|failure| report(failure, text, "timestamp"))? {
        Moment::Infinite(positive) => Ok(if positive { i64::MAX } else { i64::MIN }),
        Moment::At { day, micros, .. } => calendar::timestamp(day, micros)
            .map(|timestamp| limit_precision(timestamp, typmod))
            .ok_or_else(|| out_of_range("timestamp", text)),
    }
}

/// Reads a timestamp with time zone; without a zone it is local to the session's.
///
/// # Errors
/// 22007, 22008, 22009.
pub fn read_timestamptz(now: Now<'_>, text: &str, typmod: i32) -> Result<i64> {
    let type_name = "timestamp with time zone";
    let utc = match read(now, text).map_err(|failure| report(failure, text, type_name))? {
        Moment::Infinite(positive) => {
            return Ok(if positive { i64::MAX } else { i64::MIN });
        }
        Moment::At { day, micros, offset } => match offset {
            Some(Offset::Seconds(seconds)) => {
                calendar::timestamp(day, micros - i64::from(seconds) * SECOND)
            }
            Some(Offset::Utc(utc)) => Some(utc),
            None => calendar::timestamp(day, micros)
                .and_then(|local| zone::of_session(&now.settings.time_zone).to_utc(local)),
        },
    };
    utc.map(|utc| limit_precision(utc, typmod)).ok_or_else(|| out_of_range("timestamp", text))
}

/// Reads a time of day; a date in front and a zone behind it are passed over.
///
/// # Errors
/// 22007, 22008.
pub fn read_time(now: Now<'_>, text: &str, typmod: i32) -> Result<i64> {
    let read = || -> std::result::Result<i64, Failure> {
        let tokens = tokens::split(text).ok_or(Failure::Syntax)?;
        let mut fields = Fields { time_only: true, ..Fields::new(now) };
        fields.take(&tokens)?;
        if let Some(Moment::At { micros, .. }) = fields.special {
            return Ok(micros);
        }
        // What a zone's rules make of a time, only a date could tell.
        if fields.rules.is_some() && fields.day.is_none() {
            return Err(Failure::Syntax);
        }
        fields.time_of_day()
    };
    let micros = read().map_err(|failure| report(failure, text, "time"))?;
    Ok(super::arithmetic::round_to(micros, typmod))
}

/// Reads a time of day with its zone; without one it is in the session's, on the day that is named, or today.
///
/// # Errors
/// 22007, 22008, 22009.
pub fn read_timetz(now: Now<'_>, text: &str, typmod: i32) -> Result<TimeTz> {
    let read = || -> std::result::Result<TimeTz, Failure> {
        let tokens = tokens::split(text).ok_or(Failure::Syntax)?;
        let mut fields = Fields { time_only: true, ..Fields::new(now) };
        fields.take(&tokens)?;
        let dated = fields.day.is_some() || fields.julian.is_some();
        if fields.rules.is_some() && !dated {
            return Err(Failure::Syntax);
        }
        let zone = zone::of_session(&now.settings.time_zone);
        let moment = if dated || fields.special.is_some() {
            fields.moment()?
        } else {
            let (day, _) = calendar::split(zone.to_local(now.time()));
            Moment::At { day, micros: fields.time_of_day()?, offset: fields.offset }
        };
        let Moment::At { day, micros, offset } = moment else { return Err(Failure::Syntax) };
        let local = day * DAY + micros;
        let west = match offset {
            Some(Offset::Seconds(east)) => -east,
            Some(Offset::Utc(utc)) => ((utc - local) / SECOND) as i32,
            None => west_at(&zone, local),
        };
        Ok(TimeTz { micros, west })
    };
    let time = read().map_err(|failure| report(failure, text, "time with time zone"))?;
    Ok(TimeTz { micros: super::arithmetic::round_to(time.micros, typmod), ..time })
}

fn read(now: Now<'_>, text: &str) -> std::result::Result<Moment, Failure> {
    if let Some(moment) = read_iso(text.as_bytes()) {
        return Ok(moment);
    }
    let tokens = tokens::split(text).ok_or(Failure::Syntax)?;
    let mut fields = Fields::new(now);
    fields.take(&tokens)?;
    fields.moment()
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
        return Some(Moment::At { day, micros: 0, offset: None });
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
    let mut offset = None;
    if let Some(&sign @ (b'+' | b'-')) = bytes.get(at) {
        let hours = number(at + 1..at + 3)?;
        let minutes = if is(at + 3, b':') { number(at + 4..at + 6)? } else { 0 };
        let end = if is(at + 3, b':') { at + 6 } else { at + 3 };
        if hours > 15 || minutes > 59 || end != bytes.len() {
            return None;
        }
        let seconds = (hours * 3600 + minutes * 60) as i32;
        offset = Some(Offset::Seconds(if sign == b'-' { -seconds } else { seconds }));
    } else if is(at, b'Z') && at + 1 == bytes.len() {
        offset = Some(Offset::Seconds(0));
    } else if at != bytes.len() {
        return None;
    }
    Some(Moment::At { day, micros, offset })
}

/// What tokens have said so far.
struct Fields<'a> {
    now: Now<'a>,
    time_only: bool,
    year: Option<i64>,
    /// The year had one or two digits.
    short_year: bool,
    month: Option<u32>,
    day: Option<i64>,
    /// A day counted otherwise: Julian, or within the year.
    julian: Option<i64>,
    day_of_year: Option<i64>,
    micros: Option<i64>,
    offset: Option<Offset>,
    rules: Option<Zone>,
    afternoon: Option<bool>,
    before_christ: bool,
    weekday: bool,
    special: Option<Moment>,
}

type Step = std::result::Result<(), Failure>;

impl<'a> Fields<'a> {
    fn new(now: Now<'a>) -> Fields<'a> {
        Fields {
            now,
            time_only: false,
            year: None,
            short_year: false,
            month: None,
            day: None,
            julian: None,
            day_of_year: None,
            micros: None,
            offset: None,
            rules: None,
            afternoon: None,
            before_christ: false,
            weekday: false,
            special: None,
        }
    }

    fn take(&mut self, tokens: &[Token]) -> Step {
        if tokens.is_empty() {
            return Err(Failure::Syntax);
        }
        let mut expect_time = false;
        let mut expect_julian = false;
        for (i, (kind, text)) in tokens.iter().enumerate() {
            match kind {
                Kind::Time => {
                    expect_time = false;
                    self.take_time(text)?;
                }
                Kind::Date => self.take_date(text)?,
                Kind::Number if expect_julian => {
                    expect_julian = false;
                    self.take_julian(text)?;
                }
                Kind::Number => {
                    self.take_number(text, std::mem::take(&mut expect_time))?;
                }
                Kind::Zone => self.take_offset(text)?,
                Kind::ZoneName => self.take_zone(text)?,
                Kind::Word => match text.as_str() {
                    "t" if tokens.len() > i + 1 => expect_time = true,
                    "j" | "jd" | "julian" => expect_julian = true,
                    word => self.take_word(word)?,
                },
            }
        }
        if expect_time || expect_julian { Err(Failure::Syntax) } else { Ok(()) }
    }

    fn take_word(&mut self, word: &str) -> Step {
        if let Some(month) = tokens::month(word) {
            // "1 Jan": a number taken for the month was the day.
            if let Some(earlier) = self.month.replace(month) {
                if self.day.is_some() {
                    return Err(Failure::Syntax);
                }
                self.day = Some(i64::from(earlier));
            }
            return Ok(());
        }
        if tokens::is_weekday(word) {
            self.weekday = true;
            return Ok(());
        }
        let local = || {
            let zone = zone::of_session(&self.now.settings.time_zone);
            calendar::split(zone.to_local(self.now.time()))
        };
        let at = |day, micros| Some(Moment::At { day, micros, offset: None });
        match word {
            "am" | "pm" => self.afternoon = Some(word == "pm"),
            "ad" => {}
            "bc" => self.before_christ = true,
            "at" | "on" => {}
            "infinity" => self.special = Some(Moment::Infinite(true)),
            "-infinity" => self.special = Some(Moment::Infinite(false)),
            "epoch" => {
                self.special = Some(Moment::At {
                    day: -calendar::UNIX_DAYS,
                    micros: 0,
                    offset: Some(Offset::Seconds(0)),
                });
            }
            "now" => {
                let (day, micros) = local();
                let offset = Some(Offset::Utc(self.now.time()));
                self.special = Some(Moment::At { day, micros, offset });
            }
            "today" => self.special = at(local().0, 0),
            "tomorrow" => self.special = at(local().0 + 1, 0),
            "yesterday" => self.special = at(local().0 - 1, 0),
            "allballs" => {
                self.micros = Some(0);
                self.offset = Some(Offset::Seconds(0));
            }
            "dst" => {}
            other => return self.take_zone(other),
        }
        Ok(())
    }

    fn take_zone(&mut self, name: &str) -> Step {
        if self.offset.is_some() || self.rules.is_some() {
            return Err(Failure::Syntax);
        }
        if name == "z" || name == "utc" {
            self.offset = Some(Offset::Seconds(0));
        } else if let Some(seconds) = zone::abbreviation(name) {
            self.offset = Some(Offset::Seconds(seconds));
        } else if let Some(zone) = Zone::named(name) {
            self.rules = Some(zone);
        } else if name.contains('/') {
            return Err(Failure::UnknownZone(name.to_owned()));
        } else {
            return Err(Failure::Syntax);
        }
        Ok(())
    }

    fn take_offset(&mut self, text: &str) -> Step {
        let seconds = zone::displacement(text).map_err(|wrong| match wrong {
            NoDisplacement::Form => Failure::Syntax,
            NoDisplacement::Range => Failure::Displacement,
        })?;
        if self.offset.is_some() {
            return Err(Failure::Syntax);
        }
        self.offset = Some(Offset::Seconds(seconds));
        Ok(())
    }

    fn take_time(&mut self, text: &str) -> Step {
        let mut parts = text.split(':');
        let number = |part: Option<&str>| match part {
            Some(part) if !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()) => {
                part.parse::<i64>().map_err(|_| Failure::Field)
            }
            _ => Err(Failure::Syntax),
        };
        let hour = number(parts.next())?;
        let second_part = parts.next().ok_or(Failure::Syntax)?;
        let (minute, seconds) = match parts.next() {
            Some(seconds) => (number(Some(second_part))?, Some(seconds)),
            None if second_part.contains('.') => {
                // mm:ss.fff
                return self.set_time(0, hour, Some(second_part));
            }
            None => (number(Some(second_part))?, None),
        };
        if parts.next().is_some() {
            return Err(Failure::Syntax);
        }
        self.set_time(hour, minute, seconds)
    }

    fn set_time(&mut self, hour: i64, minute: i64, seconds: Option<&str>) -> Step {
        let second = match seconds {
            Some(text) => fraction_seconds(text)?,
            None => 0,
        };
        if self.micros.is_some() {
            return Err(Failure::Syntax);
        }
        if hour > 24 || minute > 59 || second > 60 * SECOND {
            return Err(Failure::Field);
        }
        let micros = hour * HOUR + minute * MINUTE + second;
        if micros > DAY {
            return Err(Failure::Field);
        }
        self.micros = Some(micros);
        Ok(())
    }

    fn take_julian(&mut self, text: &str) -> Step {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let day: i64 = whole.parse().map_err(|_| Failure::Field)?;
        self.julian = Some(day - calendar::EPOCH_JULIAN);
        if !fraction.is_empty() {
            let part: f64 = format!("0.{fraction}").parse().map_err(|_| Failure::Syntax)?;
            self.micros = Some((part * DAY as f64) as i64);
        }
        Ok(())
    }

    fn take_date(&mut self, text: &str) -> Step {
        // In front of a date written in one piece only a zone may stand.
        if self.micros.is_some() || self.weekday || self.afternoon.is_some() {
            return Err(Failure::Syntax);
        }
        let parts: Vec<&str> = text.split(['-', '/', '.']).filter(|p| !p.is_empty()).collect();
        if parts.len() < 2 || parts.len() > 3 {
            return Err(Failure::Syntax);
        }
        // A month's name anywhere settles which part it is.
        let named = parts.iter().position(|part| part.as_bytes()[0].is_ascii_alphabetic());
        if let Some(index) = named {
            let month = tokens::month(parts[index]).ok_or(Failure::Syntax)?;
            self.month = Some(month);
        }
        for (i, part) in parts.iter().enumerate() {
            if Some(i) == named {
                continue;
            }
            if !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(Failure::Syntax);
            }
            self.take_date_number(part)?;
        }
        Ok(())
    }

    /// A number that is year, month or day: by its length, by what is known already, by DateStyle.
    fn take_date_number(&mut self, text: &str) -> Step {
        let value: i64 = text.parse().map_err(|_| Failure::Field)?;
        let order = self.now.settings.date_order;
        if text.len() == 3 && self.year.is_some() && self.month.is_none() && self.day.is_none() {
            self.day_of_year = Some(value);
            return Ok(());
        }
        let nothing = self.year.is_none() && self.month.is_none() && self.day.is_none();
        if text.len() >= 3 && self.year.is_none() || (nothing && order == DateOrder::Ymd) {
            return self.set_year(value, text.len());
        }
        match (self.year.is_some(), self.month.is_some(), self.day.is_some()) {
            (false, false, false) if order == DateOrder::Dmy => self.day = Some(value),
            (false | true, false, false) => self.month = Some(value as u32),
            (false, false, true) => self.month = Some(value as u32),
            (true, false, true) => self.month = Some(value as u32),
            (_, true, false) => self.day = Some(value),
            (false, true, true) => return self.set_year(value, text.len()),
            (true, true, true) => return Err(Failure::Syntax),
        }
        Ok(())
    }

    fn set_year(&mut self, value: i64, digits: usize) -> Step {
        if self.year.is_some() {
            return Err(Failure::Syntax);
        }
        self.year = Some(value);
        self.short_year = digits <= 2;
        Ok(())
    }

    fn take_number(&mut self, text: &str, time: bool) -> Step {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let no_date = self.year.is_none() && self.month.is_none() && self.day.is_none();
        let dated = self.year.is_some() && self.month.is_some() && self.day.is_some();
        if dated || time || self.time_only {
            // hhmmss or hhmm
            if whole.len() != 6 && whole.len() != 4 {
                return Err(Failure::Syntax);
            }
            let part = |range: std::ops::Range<usize>| {
                whole.get(range).map_or(Ok(0), |p| p.parse().map_err(|_| Failure::Syntax))
            };
            let seconds = whole.get(4..6).map(|seconds| format!("{seconds}.{fraction}"));
            return self.set_time(part(0..2)?, part(2..4)?, seconds.as_deref());
        }
        if !fraction.is_empty() || text.ends_with('.') {
            // 2024.123: year and day of it.
            if no_date && whole.len() == 4 && fraction.len() == 3 {
                self.set_year(whole.parse().map_err(|_| Failure::Syntax)?, 4)?;
                self.day_of_year = Some(fraction.parse().map_err(|_| Failure::Syntax)?);
                return Ok(());
            }
            return Err(Failure::Syntax);
        }
        if no_date && (whole.len() == 8 || whole.len() == 6) {
            // yyyymmdd, yymmdd
            let year = whole.len() - 4;
            let part = |range: std::ops::Range<usize>| {
                whole[range].parse::<i64>().map_err(|_| Failure::Syntax)
            };
            self.set_year(part(0..year)?, year)?;
            self.month = Some(part(year..year + 2)? as u32);
            self.day = Some(part(year + 2..year + 4)?);
            return Ok(());
        }
        self.take_date_number(whole)
    }

    fn time_of_day(&self) -> std::result::Result<i64, Failure> {
        let micros = self.micros.ok_or(Failure::Syntax)?;
        let hour = micros / HOUR;
        match self.afternoon {
            Some(_) if hour > 12 => Err(Failure::Field),
            Some(true) if hour < 12 => Ok(micros + 12 * HOUR),
            Some(false) if hour == 12 => Ok(micros - 12 * HOUR),
            _ => Ok(micros),
        }
    }

    fn moment(&self) -> std::result::Result<Moment, Failure> {
        if let Some(special) = self.special {
            return match (special, self.micros) {
                (Moment::At { day, .. }, Some(_)) => self.at_zone(day, self.time_of_day()?),
                (_, Some(_)) => Err(Failure::Syntax),
                (special, None) => Ok(special),
            };
        }
        let micros = if self.micros.is_some() { self.time_of_day()? } else { 0 };
        let day = match (self.julian, self.day_of_year) {
            (Some(julian), _) => julian,
            (None, Some(day)) => {
                let year = self.full_year()?;
                let length = 365 + i64::from(calendar::is_leap(year));
                if day < 1 || day > length {
                    return Err(Failure::Field);
                }
                calendar::days(year, 1, day)
            }
            (None, None) => {
                let (Some(month), Some(day)) = (self.month, self.day) else {
                    return Err(Failure::Syntax);
                };
                let year = self.full_year()?;
                if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
                    return Err(Failure::MonthOrDay);
                }
                if day > i64::from(month_length(year, month)) {
                    return Err(Failure::Field);
                }
                calendar::days(year, month, day)
            }
        };
        self.at_zone(day, micros)
    }

    fn at_zone(&self, day: i64, micros: i64) -> std::result::Result<Moment, Failure> {
        let offset = match &self.rules {
            Some(zone) => {
                let local = calendar::timestamp(day, micros).ok_or(Failure::Field)?;
                Some(Offset::Utc(zone.to_utc(local).ok_or(Failure::Field)?))
            }
            None => self.offset,
        };
        Ok(Moment::At { day, micros, offset })
    }

    fn full_year(&self) -> std::result::Result<i64, Failure> {
        let year = self.year.ok_or(Failure::Syntax)?;
        if year > 10_000_000 {
            return Err(Failure::Field);
        }
        match (self.before_christ, year) {
            (_, 0) if !self.short_year => Err(Failure::Field),
            (true, year) => Ok(1 - year),
            (false, year) if self.short_year && year < 70 => Ok(2000 + year),
            (false, year) if self.short_year && year < 100 => Ok(1900 + year),
            (false, year) => Ok(year),
        }
    }
}

/// Seconds with a fraction, in microseconds, rounded.
fn fraction_seconds(text: &str) -> std::result::Result<i64, Failure> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.is_empty() {
        return Err(Failure::Syntax);
    }
    let whole: i64 = whole.parse().map_err(|_| Failure::Field)?;
    if whole > 60 {
        return Err(Failure::Field);
    }
    let part: f64 = format!("0.{fraction}0").parse().map_err(|_| Failure::Syntax)?;
    Ok(whole * SECOND + (part * SECOND as f64).round_ties_even() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reading_never_panics(text in "[-0-9:./ TtZ+a-z]{0,24}|.{0,16}") {
            let settings = SessionSettings::default();
            let now = Now { settings: &settings, transaction_time: 0, asked: None };
            let _ = read_date(now, &text);
            let _ = read_time(now, &text, -1);
            let _ = read_timestamp(now, &text, 3);
            let _ = read_timestamptz(now, &text, 0);
        }

        #[test]
        fn timestamps_round_trip(timestamp in calendar::TIMESTAMP_MIN..calendar::TIMESTAMP_END) {
            let settings = SessionSettings::default();
            let now = Now { settings: &settings, transaction_time: 0, asked: None };
            let mut out = Vec::new();
            super::super::output::write_timestamptz(&settings, timestamp, &mut out);
            let text = std::str::from_utf8(&out).expect("ASCII");
            prop_assert_eq!(read_timestamptz(now, text, -1), Ok(timestamp));
        }
    }
}
