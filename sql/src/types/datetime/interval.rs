//! interval: its text, its order, its modifier.
//!
//! PostgreSQL: `DecodeInterval`, `DecodeISO8601Interval`, `EncodeInterval`, `interval_cmp_value`, `AdjustIntervalForTypmod`;
//! manual, 8.5.4. Output is in the style `postgres`.

use super::{DAY, HOUR, MINUTE, SECOND};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::Interval;
use crate::types::integer::{write_i64, write_padded, write_u64};

/// What an interval is compared by: a month counts 30 days, a day 24 hours.
#[must_use]
pub fn span(interval: &Interval) -> i128 {
    let days = i128::from(interval.months) * 30 + i128::from(interval.days);
    days * i128::from(DAY) + i128::from(interval.micros)
}

/// Appends an interval.
pub fn write(interval: &Interval, out: &mut Vec<u8>) {
    let (years, months) = (interval.months / 12, interval.months % 12);
    let mut first = true;
    // After a negative part a positive one says so.
    let mut negative = false;
    for (value, unit) in [(years, "year"), (months, "mon"), (interval.days, "day")] {
        if value == 0 {
            continue;
        }
        if !first {
            out.push(b' ');
        }
        if negative && value > 0 {
            out.push(b'+');
        }
        write_i64(i64::from(value), out);
        out.push(b' ');
        out.extend_from_slice(unit.as_bytes());
        if value != 1 {
            out.push(b's');
        }
        (first, negative) = (false, value < 0);
    }
    if first || interval.micros != 0 {
        if !first {
            out.push(b' ');
        }
        if interval.micros < 0 {
            out.push(b'-');
        } else if negative {
            out.push(b'+');
        }
        let micros = interval.micros.unsigned_abs();
        let (hours, rest) = (micros / HOUR as u64, micros % HOUR as u64);
        if hours < 100 {
            write_padded(hours, 2, out)
        } else {
            write_u64(hours, out)
        }
        out.push(b':');
        write_padded(rest / MINUTE as u64, 2, out);
        out.push(b':');
        let mut tail = Vec::new();
        super::output::write_time((rest % MINUTE as u64) as i64, &mut tail);
        out.extend_from_slice(&tail[6..]);
    }
}

#[cold]
fn invalid(text: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_DATETIME_FORMAT,
        format!("invalid input syntax for type interval: \"{text}\""),
    )
}

#[cold]
fn field_overflow(text: &str) -> SqlError {
    SqlError::new(
        SqlState::INTERVAL_FIELD_OVERFLOW,
        format!("interval field value out of range: \"{text}\""),
    )
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

/// A sum that grows part by part; `None` where it overflows.
#[derive(Default)]
struct Sum {
    months: i64,
    days: i64,
    micros: i64,
}

impl Sum {
    /// Adds whole and fractional units; a fraction of a unit goes to the smaller ones.
    fn add(&mut self, unit: Unit, whole: i64, fraction: f64) -> Option<()> {
        let micros = |unit: i64| {
            let part = (fraction * unit as f64).round_ties_even() as i64;
            whole.checked_mul(unit)?.checked_add(part)
        };
        match unit {
            Unit::Microsecond => self.micros = self.micros.checked_add(micros(1)?)?,
            Unit::Millisecond => self.micros = self.micros.checked_add(micros(1000)?)?,
            Unit::Second => self.micros = self.micros.checked_add(micros(SECOND)?)?,
            Unit::Minute => self.micros = self.micros.checked_add(micros(MINUTE)?)?,
            Unit::Hour => self.micros = self.micros.checked_add(micros(HOUR)?)?,
            Unit::Day => {
                self.days = self.days.checked_add(whole)?;
                self.fraction_of_days(fraction)?;
            }
            Unit::Week => {
                self.days = self.days.checked_add(whole.checked_mul(7)?)?;
                let days = fraction * 7.0;
                self.days = self.days.checked_add(days.trunc() as i64)?;
                self.fraction_of_days(days.fract())?;
            }
            Unit::Month => {
                self.months = self.months.checked_add(whole)?;
                let days = fraction * 30.0;
                self.days = self.days.checked_add(days.trunc() as i64)?;
                self.fraction_of_days(days.fract())?;
            }
            Unit::Year => self.add_years(1, whole, fraction)?,
            Unit::Decade => self.add_years(10, whole, fraction)?,
            Unit::Century => self.add_years(100, whole, fraction)?,
            Unit::Millennium => self.add_years(1000, whole, fraction)?,
        }
        Some(())
    }

    fn add_years(&mut self, years: i64, whole: i64, fraction: f64) -> Option<()> {
        let months = whole.checked_mul(years * 12)?;
        let part = (fraction * (years * 12) as f64).round_ties_even() as i64;
        self.months = self.months.checked_add(months)?.checked_add(part)?;
        Some(())
    }

    fn fraction_of_days(&mut self, fraction: f64) -> Option<()> {
        self.micros = self.micros.checked_add((fraction * DAY as f64).round_ties_even() as i64)?;
        Some(())
    }

    fn interval(&self) -> Option<Interval> {
        let (months, days) = (self.months.try_into().ok()?, self.days.try_into().ok()?);
        Some(Interval { months, days, micros: self.micros })
    }
}

/// A number in front of a unit: sign, whole part, fraction (signed like it).
fn number(text: &str) -> Option<(i64, f64)> {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    if !plain(whole) || !plain(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let whole: i64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let fraction: f64 = format!("0.{fraction}0").parse().ok()?;
    Some(if negative { (-whole, -fraction) } else { (whole, fraction) })
}

/// `h:m`, `h:m:s.f`, signed; with a range modifier `m:s`.
fn clock(text: &str, range: i32) -> Option<i64> {
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let parts: Vec<&str> = digits.split(':').collect();
    let whole = |part: &str| part.parse::<i64>().ok().filter(|v| *v >= 0);
    let seconds = |part: &str| {
        let (whole, fraction) = number(part)?;
        (whole < 60 || (whole == 60 && fraction == 0.0))
            .then(|| whole * SECOND + (fraction * SECOND as f64).round_ties_even() as i64)
    };
    let minute = |part: &str| whole(part).filter(|m| *m < 60);
    let micros = match parts[..] {
        [first, second] if second.contains('.') || range == MINUTE_TO_SECOND => {
            whole(first)?.checked_mul(MINUTE)?.checked_add(seconds(second)?)?
        }
        [hours, minutes] => {
            whole(hours)?.checked_mul(HOUR)?.checked_add(minute(minutes)? * MINUTE)?
        }
        [hours, minutes, second] => whole(hours)?
            .checked_mul(HOUR)?
            .checked_add(minute(minutes)? * MINUTE + seconds(second)?)?,
        _ => return None,
    };
    Some(if negative { -micros } else { micros })
}

/// The bits of a modifier's range: one for each field (`INTERVAL_MASK`).
const YEAR: i32 = 1 << 2;
const MONTH: i32 = 1 << 1;
const DAY_BIT: i32 = 1 << 3;
const HOUR_BIT: i32 = 1 << 10;
const MINUTE_BIT: i32 = 1 << 11;
const SECOND_BIT: i32 = 1 << 12;
const MINUTE_TO_SECOND: i32 = MINUTE_BIT | SECOND_BIT;
const FULL_RANGE: i32 = 0x7fff;

/// The range and precision of a modifier.
fn modifier(typmod: i32) -> (i32, i32) {
    if typmod < 0 { (FULL_RANGE, 0xffff) } else { (typmod >> 16 & 0x7fff, typmod & 0xffff) }
}

/// Reads an interval under a modifier.
///
/// # Errors
/// 22007, 22008, 22015.
pub fn read(text: &str, typmod: i32) -> Result<Interval> {
    let (range, _) = modifier(typmod);
    let trimmed = text.trim();
    let sum = if trimmed.starts_with(['P', 'p']) {
        iso(trimmed).ok_or_else(|| invalid(text))?
    } else {
        words(trimmed, text, range)?
    };
    if i32::try_from(sum.months).is_err() {
        return Err(out_of_range());
    }
    let interval = sum.interval().ok_or_else(|| field_overflow(text))?;
    apply_modifier(interval, typmod)
}

/// `P1Y2M3DT4H5M6.7S`, `P3W`.
fn iso(text: &str) -> Option<Sum> {
    let mut sum = Sum::default();
    let mut rest = &text[1..];
    let mut time = false;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix(['T', 't']) {
            (time, rest) = (true, behind);
            continue;
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (whole, fraction) = number(&rest[..end])?;
        let unit = match (rest.as_bytes()[end].to_ascii_uppercase(), time) {
            (b'Y', false) => Unit::Year,
            (b'M', false) => Unit::Month,
            (b'W', false) => Unit::Week,
            (b'D', false) => Unit::Day,
            (b'H', true) => Unit::Hour,
            (b'M', true) => Unit::Minute,
            (b'S', true) => Unit::Second,
            _ => return None,
        };
        sum.add(unit, whole, fraction)?;
        rest = &rest[end + 1..];
    }
    Some(sum)
}

fn words(trimmed: &str, text: &str, range: i32) -> Result<Sum> {
    let spaced = spaced(trimmed);
    let mut tokens: Vec<&str> = spaced.split_ascii_whitespace().collect();
    let ago = tokens.last() == Some(&"ago");
    if ago {
        tokens.pop();
    }
    if tokens.is_empty() {
        return Err(invalid(text));
    }
    let mut sum = Sum::default();
    // Each unit may come once.
    let mut seen: Vec<Unit> = Vec::new();
    let overflow = || field_overflow(text);
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at];
        at += 1;
        if token == "@" && at == 1 && tokens.len() > 1 {
            continue;
        }
        if token.contains(':') {
            let micros = clock(token, range).ok_or_else(|| {
                let plain = token.bytes().all(|b| b.is_ascii_digit() || b":.-+".contains(&b));
                if plain && token.matches(':').count() < 3 && !token.ends_with(':') {
                    overflow()
                } else {
                    invalid(text)
                }
            })?;
            sum.micros = sum.micros.checked_add(micros).ok_or_else(overflow)?;
            continue;
        }
        if let Some((years, months)) = year_and_month(token) {
            sum.add(Unit::Month, years, 0.0).ok_or_else(overflow)?;
            sum.add(Unit::Month, months, 0.0).ok_or_else(overflow)?;
            continue;
        }
        let (whole, fraction) = number(token).ok_or_else(|| {
            let digits = token.trim_start_matches(['-', '+']);
            if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
                overflow()
            } else {
                invalid(text)
            }
        })?;
        let unit = match tokens.get(at).and_then(|word| unit(word)) {
            Some(unit) => {
                at += 1;
                unit
            }
            // A number alone counts the last field of the range; before a clock, days.
            None => match tokens.get(at) {
                Some(next) if next.contains(':') => Unit::Day,
                Some(_) => return Err(invalid(text)),
                None if range == FULL_RANGE || range & SECOND_BIT != 0 => Unit::Second,
                None if range & MINUTE_BIT != 0 => Unit::Minute,
                None if range & HOUR_BIT != 0 => Unit::Hour,
                None if range & DAY_BIT != 0 => Unit::Day,
                None if range & MONTH != 0 => Unit::Month,
                None if range & YEAR != 0 => Unit::Year,
                None => Unit::Second,
            },
        };
        if seen.contains(&unit) {
            return Err(invalid(text));
        }
        seen.push(unit);
        sum.add(unit, whole, fraction).ok_or_else(overflow)?;
    }
    if ago {
        let negate = |value: i64| value.checked_neg().ok_or_else(overflow);
        sum = Sum {
            months: negate(sum.months)?,
            days: negate(sum.days)?,
            micros: negate(sum.micros)?,
        };
    }
    Ok(sum)
}

/// `1-2` is a year and two months: as months.
fn year_and_month(token: &str) -> Option<(i64, i64)> {
    let negative = token.starts_with('-');
    let digits = token.strip_prefix(['-', '+']).unwrap_or(token);
    let (years, months) = digits.split_once('-')?;
    let plain = |part: &str| {
        (!part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
            .then(|| part.parse::<i64>().ok())
            .flatten()
    };
    let (years, months) = (plain(years)?.checked_mul(12)?, plain(months).filter(|m| *m < 12)?);
    Some(if negative { (-years, -months) } else { (years, months) })
}

/// Lower case, with a blank between a number and the letters behind it.
fn spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut last = ' ';
    for character in text.chars() {
        let character = character.to_ascii_lowercase();
        let letter = character.is_ascii_alphabetic();
        if (letter && (last.is_ascii_digit() || last == '.'))
            || (last.is_ascii_alphabetic() && !letter)
            || last == '@'
        {
            out.push(' ');
        }
        out.push(character);
        last = character;
    }
    out
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_round_trips(months: i32, days: i32, micros: i64) {
            let interval = Interval { months, days, micros };
            let mut out = Vec::new();
            write(&interval, &mut out);
            let text = std::str::from_utf8(&out).expect("ASCII");
            // The least number of microseconds has no positive counterpart to read.
            prop_assume!(micros != i64::MIN);
            prop_assert_eq!(read(text, -1), Ok(interval));
        }

        #[test]
        fn reading_never_panics(text in "[-+0-9:. a-z@PTYMDHS]{0,24}|.{0,16}") {
            let _ = read(&text, -1);
            let _ = read(&text, 3 | MINUTE_TO_SECOND << 16);
        }
    }
}
