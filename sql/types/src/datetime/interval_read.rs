//! Reads intervals.
//!
//! PostgreSQL: `interval_in` with `DecodeInterval` and `DecodeISO8601Interval`; manual, 8.5.4. A
//! text is read in units and clocks first, and as ISO 8601 where that does not look like it.

use super::clock::{Clock, Failure, Step, fraction, integer};
use super::interval::{
    DAY_BIT, FULL_RANGE, HOUR_BIT, MINUTE_BIT, MINUTE_TO_SECOND, MONTH, SECOND_BIT, Unit, YEAR,
    apply_modifier, modifier, out_of_range, unit,
};
use super::lexer::{self, Kind};
use super::{DAY, HOUR, MINUTE, SECOND};
use crate::Interval;
use crate::error::{Result, SqlError};
use crate::settings::IntervalStyle;
use crate::sqlstate::SqlState;

/// Reads an interval under a modifier; `style` says how far a leading sign reaches.
///
/// # Errors
/// 22007, 22008, 22015.
pub fn read(style: IntervalStyle, text: &str, typmod: i32) -> Result<Interval> {
    let (range, _) = modifier(typmod);
    let sum = match words(style, text, range) {
        Err(Failure::Form) => iso(text),
        read => read,
    };
    let sum = sum.map_err(|failure| match failure {
        Failure::Form => SqlError::new(
            SqlState::INVALID_DATETIME_FORMAT,
            format!("invalid input syntax for type interval: \"{text}\""),
        ),
        Failure::Overflow => SqlError::new(
            SqlState::INTERVAL_FIELD_OVERFLOW,
            format!("interval field value out of range: \"{text}\""),
        ),
    })?;
    let months = i64::from(sum.years) * 12 + i64::from(sum.months);
    let months = i32::try_from(months).map_err(|_| out_of_range())?;
    apply_modifier(Interval { months, days: sum.days, micros: sum.micros }, typmod)
}

/// A sum that grows part by part (`pg_itm_in`).
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    years: i32,
    months: i32,
    days: i32,
    micros: i64,
}

impl Sum {
    /// Adds whole and fractional units; a fraction of a unit goes to the smaller ones.
    fn add(&mut self, unit: Unit, whole: i64, fraction: f64) -> Step {
        match unit {
            Unit::Microsecond => self.add_micros(whole, fraction, 1),
            Unit::Millisecond => self.add_micros(whole, fraction, 1000),
            Unit::Second => self.add_micros(whole, fraction, SECOND),
            Unit::Minute => self.add_micros(whole, fraction, MINUTE),
            Unit::Hour => self.add_micros(whole, fraction, HOUR),
            Unit::Day => {
                grow(&mut self.days, whole, 1)?;
                self.add_micros(0, fraction, DAY)
            }
            Unit::Week => {
                grow(&mut self.days, whole, 7)?;
                self.add_days(fraction * 7.0)
            }
            Unit::Month => {
                grow(&mut self.months, whole, 1)?;
                self.add_days(fraction * 30.0)
            }
            Unit::Year => self.add_years(whole, fraction, 1),
            Unit::Decade => self.add_years(whole, fraction, 10),
            Unit::Century => self.add_years(whole, fraction, 100),
            Unit::Millennium => self.add_years(whole, fraction, 1000),
        }
    }

    fn add_years(&mut self, whole: i64, fraction: f64, years: i32) -> Step {
        grow(&mut self.years, whole, years)?;
        grow(&mut self.months, (fraction * f64::from(years) * 12.0).round_ties_even() as i64, 1)
    }

    fn add_days(&mut self, days: f64) -> Step {
        grow(&mut self.days, days.trunc() as i64, 1)?;
        self.add_micros(0, days.fract(), DAY)
    }

    fn add_micros(&mut self, whole: i64, fraction: f64, unit: i64) -> Step {
        let part = fraction * unit as f64;
        let rest = part.fract();
        let rounded = part.trunc() as i64 + i64::from(rest > 0.5) - i64::from(rest < -0.5);
        let sum = whole.checked_mul(unit).and_then(|micros| self.micros.checked_add(micros));
        self.micros = sum.and_then(|sum| sum.checked_add(rounded)).ok_or(Failure::Overflow)?;
        Ok(())
    }

    fn negated(self) -> Option<Sum> {
        Some(Sum {
            years: self.years.checked_neg()?,
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            micros: self.micros.checked_neg()?,
        })
    }
}

fn grow(field: &mut i32, value: i64, times: i32) -> Step {
    let value = i32::try_from(value).ok().and_then(|value| value.checked_mul(times));
    *field = value.and_then(|value| field.checked_add(value)).ok_or(Failure::Overflow)?;
    Ok(())
}

/// Which units a text has named: each may come once, and a clock is all that is less than a day.
#[derive(Default)]
struct Seen(u16);

impl Seen {
    const SECONDS: u16 =
        Seen::bit(Unit::Second) | Seen::bit(Unit::Millisecond) | Seen::bit(Unit::Microsecond);
    const CLOCK: u16 = Seen::bit(Unit::Hour) | Seen::bit(Unit::Minute) | Seen::SECONDS;

    const fn bit(unit: Unit) -> u16 {
        1 << unit as u16
    }

    fn mark(&mut self, bits: u16) -> Step {
        if self.0 & bits != 0 {
            return Err(Failure::Form);
        }
        self.0 |= bits;
        Ok(())
    }
}

/// `1 year 2 mons -3 days 04:05:06.7 ago` and what is like it.
fn words(style: IntervalStyle, text: &str, range: i32) -> Step<Sum> {
    let fields = lexer::fields(text, lexer::INTERVAL_ROOM).ok_or(Failure::Form)?;
    // In SQL's own style a leading sign is that of all fields, unless there are more signs.
    let signed = |field: &String| field.starts_with(['-', '+']);
    let all_negative = style == IntervalStyle::SqlStandard
        && fields.first().is_some_and(|(_, first)| first.starts_with('-'))
        && !fields[1..].iter().any(|(_, field)| signed(field));
    let mut sum = Sum::default();
    let mut seen = Seen::default();
    let mut ago = false;
    // From the end, since units come behind their values. A number at the end counts the last field of the range.
    let mut wanted = Some(last_of(range));
    for (kind, field) in fields.iter().rev() {
        match kind {
            Kind::Word | Kind::Special => {
                // PostgreSQL looks at ten letters.
                let word = &field[..field.len().min(10)];
                wanted = match word {
                    "ago" => None,
                    _ => Some(unit(word).ok_or(Failure::Form)?),
                };
                ago |= wanted.is_none();
                continue;
            }
            Kind::Time => {
                sum.micros = clock(field, range)?;
                if all_negative {
                    sum.micros = -sum.micros;
                }
                seen.mark(Seen::CLOCK)?;
                wanted = Some(Unit::Day);
                continue;
            }
            Kind::Signed if field.contains(':') => {
                if let Ok(micros) = clock(&field[1..], range) {
                    let negative = field.starts_with('-');
                    sum.micros = if negative { -micros } else { micros };
                    seen.mark(Seen::CLOCK)?;
                    wanted = Some(Unit::Day);
                    continue;
                }
            }
            Kind::Signed | Kind::Date | Kind::Number => {}
        }
        let (of, mut whole, mut fraction) = number(field, wanted)?;
        if all_negative && whole >= 0 && fraction >= 0.0 {
            (whole, fraction) = (-whole, -fraction);
        }
        sum.add(of, whole, fraction)?;
        let all = of == Unit::Second && fraction != 0.0;
        seen.mark(if all { Seen::SECONDS } else { Seen::bit(of) })?;
        wanted = Some(if of == Unit::Hour { Unit::Day } else { of });
    }
    if seen.0 == 0 {
        return Err(Failure::Form);
    }
    if ago { sum.negated().ok_or(Failure::Overflow) } else { Ok(sum) }
}

/// A clock in microseconds; two fields are minutes and seconds where the range says so.
fn clock(text: &str, range: i32) -> Step<i64> {
    Clock::read(text, range == MINUTE_TO_SECOND)?.total().ok_or(Failure::Overflow)
}

/// The unit of a number at the end of a text without one: the last field of the range.
fn last_of(range: i32) -> Unit {
    match range {
        _ if range == FULL_RANGE || range & SECOND_BIT != 0 => Unit::Second,
        _ if range & MINUTE_BIT != 0 => Unit::Minute,
        _ if range & HOUR_BIT != 0 => Unit::Hour,
        _ if range & DAY_BIT != 0 => Unit::Day,
        _ if range & MONTH != 0 => Unit::Month,
        _ if range & YEAR != 0 => Unit::Year,
        _ => Unit::Second,
    }
}

/// A number in front of its unit: whole and fractional part, signed alike. `1-2` is a year and two months, as months.
fn number(text: &str, unit: Option<Unit>) -> Step<(Unit, i64, f64)> {
    let negative = text.starts_with('-');
    let (whole, rest) = integer(text)?;
    if let Some(months) = rest.strip_prefix('-') {
        let (months, rest) = integer(months)?;
        if !(0..12).contains(&months) {
            return Err(Failure::Overflow);
        }
        if !rest.is_empty() {
            return Err(Failure::Form);
        }
        let total = whole.checked_mul(12);
        let total =
            total.and_then(|total| total.checked_add(if negative { -months } else { months }));
        return Ok((Unit::Month, total.ok_or(Failure::Overflow)?, 0.0));
    }
    let fraction = match rest.strip_prefix('.') {
        Some(digits) => fraction(digits)?,
        None if rest.is_empty() => 0.0,
        None => return Err(Failure::Form),
    };
    Ok((unit.ok_or(Failure::Form)?, whole, if negative { -fraction } else { fraction }))
}

/// `P1Y2M3DT4H5M6.7S`, `P3W`; `P0001-02-03T04:05:06`, `P00010203T040506`.
fn iso(text: &str) -> Step<Sum> {
    let mut rest = text.strip_prefix('P').filter(|rest| !rest.is_empty()).ok_or(Failure::Form)?;
    let mut sum = Sum::default();
    let (mut dates, mut alone) = (true, true);
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('T') {
            (rest, dates, alone) = (behind, false, true);
            continue;
        }
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let width = digits.bytes().take_while(u8::is_ascii_digit).count();
        let (whole, fraction, behind) = iso_number(rest)?;
        let mark = behind.bytes().next();
        let after = behind.get(1..).unwrap_or("");
        let named = match (mark, dates) {
            (Some(b'Y'), true) => Some(Unit::Year),
            (Some(b'M'), true) => Some(Unit::Month),
            (Some(b'W'), true) => Some(Unit::Week),
            (Some(b'D'), true) => Some(Unit::Day),
            (Some(b'H'), false) => Some(Unit::Hour),
            (Some(b'M'), false) => Some(Unit::Minute),
            (Some(b'S'), false) => Some(Unit::Second),
            (Some(b'-' | b'T') | None, true) | (Some(b':') | None, false) => None,
            _ => return Err(Failure::Form),
        };
        if let Some(unit) = named {
            sum.add(unit, whole, fraction)?;
            (rest, alone) = (after, false);
            continue;
        }
        // The alternative format: all of a date, or all of a time, and nothing beside it.
        if !alone {
            return Err(Failure::Form);
        }
        let joined = matches!(mark, None | Some(b'T'));
        if dates && joined && width == 8 {
            sum.add(Unit::Year, whole / 10_000, 0.0)?;
            sum.add(Unit::Month, whole / 100 % 100, 0.0)?;
            sum.add(Unit::Day, whole % 100, fraction)?;
            rest = behind;
        } else if !dates && joined && width == 6 {
            sum.add(Unit::Hour, whole / 10_000, 0.0)?;
            sum.add(Unit::Minute, whole / 100 % 100, 0.0)?;
            sum.add(Unit::Second, whole % 100, 0.0)?;
            sum.add(Unit::Microsecond, 0, fraction)?;
            rest = behind;
        } else {
            let (units, separator) = match dates {
                true => ([Unit::Year, Unit::Month, Unit::Day], '-'),
                false => ([Unit::Hour, Unit::Minute, Unit::Second], ':'),
            };
            sum.add(units[0], whole, fraction)?;
            rest = behind;
            for unit in &units[1..] {
                let Some(next) = rest.strip_prefix(separator) else { break };
                let (whole, fraction, behind) = iso_number(next)?;
                sum.add(*unit, whole, fraction)?;
                rest = behind;
            }
            if !(rest.is_empty() || dates && rest.starts_with('T')) {
                return Err(Failure::Form);
            }
        }
    }
    Ok(sum)
}

/// A number as `strtod` reads it: whole and fractional part, and the text behind it.
fn iso_number(text: &str) -> Step<(i64, f64, &str)> {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(sign);
    let mut end = sign + whole;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(end + 1);
        if whole + fraction == 0 {
            return Err(Failure::Form);
        }
        end += 1 + fraction;
    } else if whole == 0 {
        return Err(Failure::Form);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let signed = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let exponent = digits(end + 1 + signed);
        if exponent > 0 {
            end += 1 + signed + exponent;
        }
    }
    let value: f64 = text[..end].parse().map_err(|_| Failure::Form)?;
    if value.abs() > 1.0e15 {
        return Err(Failure::Overflow);
    }
    let whole = value.trunc() as i64;
    Ok((whole, value - whole as f64, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::super::interval_write::write;
    use super::*;
    use proptest::prelude::*;

    fn style() -> impl Strategy<Value = IntervalStyle> {
        prop_oneof![
            Just(IntervalStyle::Postgres),
            Just(IntervalStyle::PostgresVerbose),
            Just(IntervalStyle::SqlStandard),
            Just(IntervalStyle::Iso8601),
        ]
    }

    proptest! {
        #[test]
        fn text_round_trips(style in style(), months: i32, days: i32, micros: i64) {
            let interval = Interval { months, days, micros };
            let mut out = Vec::new();
            write(style, &interval, &mut out);
            let text = std::str::from_utf8(&out).expect("ASCII");
            // The least numbers have no positive counterpart to read.
            prop_assume!(days != i32::MIN && micros != i64::MIN);
            prop_assert_eq!(read(style, text, -1), Ok(interval), "{}", text);
        }

        #[test]
        fn reading_never_panics(style in style(), text in "[-+0-9:. a-z@PTYMDHSe]{0,24}|.{0,16}") {
            let _ = read(style, &text, -1);
            let _ = read(style, &text, 3 | MINUTE_TO_SECOND << 16);
        }
    }
}
