//! to_char of timestamps and intervals.
//!
//! PostgreSQL: `formatting.c` (`DCH_to_char`); manual, table 9.29. What is no keyword of the template stands for itself. `FM` before a
//! keyword takes its padding away, `TM` a name's, `TH` or `th` behind a number makes it an ordinal.

use super::calendar;
use super::clock::Clock;
use super::interval::Parts;
use super::output::{DAYS, MONTHS};
use super::template::{self, Case, Item, Keyword};
use super::zone;
use super::{SECOND, arithmetic};
use crate::account;
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Interval};
use std::fmt::Write;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] =
    &[(1768, Plain(to_char)), (1770, Plain(to_char)), (2049, Plain(to_char))];

/// What is shown: a moment, or an interval's parts in the same places.
struct Shown {
    year: i64,
    month: i64,
    day: i64,
    clock: Clock,
    /// Days since 2000-01-01; none for an interval.
    date: Option<i64>,
    zone: Option<(i32, String)>,
}

impl Shown {
    fn local(local: i64, zone: Option<(i32, String)>) -> Shown {
        let (days, micros) = calendar::split(local);
        let date = calendar::date(days);
        Shown {
            year: date.year,
            month: i64::from(date.month),
            day: i64::from(date.day),
            clock: Clock::of(micros),
            date: Some(days),
            zone,
        }
    }

    fn interval(value: &Interval) -> Shown {
        let Parts { years: year, months: month, days: day, clock } = Parts::of(value);
        Shown { year, month, day, clock, date: None, zone: None }
    }

    /// The date; that which an interval would be by its years, months and days.
    fn as_date(&self) -> i64 {
        self.date.unwrap_or_else(|| {
            let months = self.year * 12 + self.month - 1;
            let (year, month) = (months.div_euclid(12), months.rem_euclid(12) as u32 + 1);
            calendar::days(year, month, self.day)
        })
    }

    /// The day of the year; of an interval all of its days, with twelve months of thirty to a year.
    fn day_of_year(&self) -> i64 {
        match self.date {
            Some(date) => date - calendar::days(self.year, 1, 1) + 1,
            None => self.year * 360 + self.month * 30 + self.day,
        }
    }

    fn date(&self) -> Result<i64> {
        self.date.ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_DATETIME_FORMAT,
                "invalid format specification for an interval value",
            )
            .hint("Intervals are not tied to specific calendar dates.")
        })
    }
}

fn to_char<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let pattern = a[1].text();
    if pattern.is_empty() {
        return Ok(Datum::Null);
    }
    let shown = match a[0] {
        Datum::Timestamp(timestamp) if arithmetic::infinite(timestamp) => return Ok(Datum::Null),
        Datum::TimestampTz(timestamp) if arithmetic::infinite(timestamp) => return Ok(Datum::Null),
        Datum::Timestamp(timestamp) => Shown::local(timestamp, None),
        Datum::TimestampTz(timestamp) => {
            let (offset, name) = zone::of_session(&context.settings.time_zone).at(timestamp);
            Shown::local(timestamp + i64::from(offset) * SECOND, Some((offset, name)))
        }
        other => Shown::interval(other.interval()),
    };
    let mut out = String::new();
    for item in template::parse(pattern) {
        account::insist();
        let field = match item {
            Item::Field(field) => field,
            Item::Space(character) | Item::Separator(character) | Item::Text(character) => {
                out.push(character);
                continue;
            }
        };
        // A translated name, even where nothing is translated, is not padded.
        let name = matches!(field.keyword, Keyword::MonthName { .. } | Keyword::DayName { .. });
        let fill = !(field.fill_mode || (name && field.translated));
        let number = put(&mut out, &shown, field.keyword, field.case, fill)?;
        if let (Some(number), Some(case)) = (number, field.ordinal) {
            let ordinal = ordinal(number);
            out.push_str(if case == Case::Upper { ordinal.0 } else { ordinal.1 });
        }
    }
    Ok(Datum::Text(context.arena.alloc_str(&out)))
}

fn ordinal(number: i64) -> (&'static str, &'static str) {
    match (number.abs() % 100, number.abs() % 10) {
        (11..=13, _) => ("TH", "th"),
        (_, 1) => ("ST", "st"),
        (_, 2) => ("ND", "nd"),
        (_, 3) => ("RD", "rd"),
        _ => ("TH", "th"),
    }
}

/// The Julian day; of an interval, what PostgreSQL's `date2j` makes of its parts.
fn julian(shown: &Shown) -> i64 {
    if let Some(date) = shown.date {
        return date + calendar::EPOCH_JULIAN;
    }
    let (year, month) = if shown.month > 2 {
        (shown.year + 4800, shown.month + 1)
    } else {
        (shown.year + 4799, shown.month + 13)
    };
    let century = year / 100;
    year * 365 - 32_167 + year / 4 - century + century / 4 + 7834 * month / 256 + shown.day
}

/// Appends a keyword's value; gives the number it was, for an ordinal's ending.
fn put(
    out: &mut String,
    shown: &Shown,
    keyword: Keyword,
    case: Case,
    fill: bool,
) -> Result<Option<i64>> {
    let mut number = |value: i64, width: usize| {
        let width = if !fill {
            0
        } else if value < 0 {
            width + 1
        } else {
            width
        };
        write!(out, "{value:0width$}").expect("strings grow");
        Ok(Some(value))
    };
    let shown_year = |year: i64| if shown.date.is_some() && year <= 0 { 1 - year } else { year };
    match keyword {
        Keyword::Hour24 => return number(shown.clock.hours, 2),
        Keyword::Hour12 => {
            let hour = if shown.clock.hours % 12 == 0 { 12 } else { shown.clock.hours % 12 };
            return number(hour, 2);
        }
        Keyword::Minute => return number(shown.clock.minutes, 2),
        Keyword::Second => return number(shown.clock.seconds, 2),
        Keyword::SecondOfDay => {
            let Clock { hours, minutes, seconds, .. } = shown.clock;
            return number(hours * 3600 + minutes * 60 + seconds, 0);
        }
        Keyword::Fraction(_) | Keyword::Millisecond | Keyword::Microsecond => {
            let digits = match keyword {
                Keyword::Fraction(digits) => digits,
                Keyword::Millisecond => 3,
                _ => 6,
            };
            let value = shown.clock.micros / 10i64.pow(6 - digits);
            write!(out, "{value:0width$}", width = digits as usize).expect("strings grow");
            return Ok(Some(value));
        }
        Keyword::Month => return number(shown.month, 2),
        Keyword::Day => {
            let width = if fill { 2 } else { 0 };
            write!(out, "{:0width$}", shown.day).expect("strings grow");
            return Ok(Some(shown.day));
        }
        Keyword::DayOfYear => return number(shown.day_of_year(), 3),
        Keyword::IsoDayOfYear => {
            let date = shown.as_date();
            return number(date - calendar::iso_year_start(calendar::iso_week(date).0) + 1, 3);
        }
        Keyword::DayOfWeek => return number(i64::from(calendar::weekday(shown.date()?)) + 1, 0),
        Keyword::IsoDayOfWeek => {
            return number((i64::from(calendar::weekday(shown.date()?)) + 6) % 7 + 1, 0);
        }
        Keyword::WeekOfYear => {
            return number((shown.day_of_year() - 1) / 7 + 1, 2);
        }
        Keyword::WeekOfMonth => return number((shown.day - 1) / 7 + 1, 0),
        Keyword::IsoWeek => return number(i64::from(calendar::iso_week(shown.as_date()).1), 2),
        Keyword::Quarter => {
            if shown.month == 0 {
                return Ok(None);
            }
            return number((shown.month - 1) / 3 + 1, 0);
        }
        Keyword::Century => {
            let century = if shown.date.is_none() {
                shown.year / 100
            } else if shown.year > 0 {
                (shown.year - 1) / 100 + 1
            } else {
                shown.year / 100 - 1
            };
            let width = if (-99..=99).contains(&century) { 2 } else { 0 };
            return number(century, width);
        }
        Keyword::Julian => {
            return number(julian(shown), 0);
        }
        Keyword::Year(digits) => {
            let year = shown_year(shown.year);
            let shown = if digits == 4 { year } else { year % 10i64.pow(digits) };
            return number(shown, digits as usize);
        }
        Keyword::IsoYear(digits) => {
            let year = shown_year(calendar::iso_week(shown.as_date()).0);
            let shown = if digits == 4 { year } else { year % 10i64.pow(digits) };
            return number(shown, digits as usize);
        }
        Keyword::YearWithComma => {
            let year = shown_year(shown.year);
            write!(out, "{},{:03}", year / 1000, year % 1000).expect("strings grow");
            return Ok(Some(year));
        }
        Keyword::Fixed => return Ok(None),
        Keyword::Meridiem { .. }
        | Keyword::Era { .. }
        | Keyword::DayName { .. }
        | Keyword::MonthName { .. }
        | Keyword::Roman
        | Keyword::Offset
        | Keyword::Zone
        | Keyword::ZoneHour
        | Keyword::ZoneMinute => {}
    }
    put_word(out, shown, keyword, case, fill)?;
    Ok(None)
}

fn put_word(
    out: &mut String,
    shown: &Shown,
    keyword: Keyword,
    case: Case,
    fill: bool,
) -> Result<()> {
    const ROMAN: [&str; 12] =
        ["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"];
    let (offset, name) = shown.zone.as_ref().map_or((0, ""), |(offset, name)| (*offset, name));
    let sign = if offset < 0 { '-' } else { '+' };
    let (hours, minutes) = (offset.abs() / 3600, offset.abs() / 60 % 60);
    let (word, width) = match keyword {
        Keyword::Meridiem { dots } => {
            let afternoon = shown.clock.hours % 24 >= 12;
            (
                match (afternoon, dots) {
                    (true, true) => "P.M.",
                    (true, false) => "PM",
                    (false, true) => "A.M.",
                    (false, false) => "AM",
                },
                0,
            )
        }
        Keyword::Era { dots } => {
            shown.date()?;
            (
                match (shown.year <= 0, dots) {
                    (true, true) => "B.C.",
                    (true, false) => "BC",
                    (false, true) => "A.D.",
                    (false, false) => "AD",
                },
                0,
            )
        }
        Keyword::DayName { short } => {
            let name = DAYS[calendar::weekday(shown.date()?) as usize];
            if short { (&name[..3], 0) } else { (name, 9) }
        }
        Keyword::MonthName { short } => {
            shown.date()?;
            let name = MONTHS[shown.month as usize - 1];
            if short { (&name[..3], 0) } else { (name, 9) }
        }
        Keyword::Roman => {
            // An interval's months may be none (the last of a year counts then) or negative (counted from its end).
            let index = match shown.month {
                0 if shown.year == 0 => return Ok(()),
                0 if shown.year > 0 => 11,
                0 => 0,
                month if month < 0 => 12 + month,
                month => month - 1,
            };
            (ROMAN[index as usize], 4)
        }
        Keyword::Zone => {
            shown.date()?;
            (name, 0)
        }
        Keyword::Offset => {
            shown.date()?;
            let width = if fill { 2 } else { 0 };
            write!(out, "{sign}{hours:0width$}").expect("strings grow");
            if minutes != 0 {
                write!(out, ":{minutes:02}").expect("strings grow");
            }
            return Ok(());
        }
        Keyword::ZoneHour => {
            shown.date()?;
            write!(out, "{sign}{hours:02}").expect("strings grow");
            return Ok(());
        }
        Keyword::ZoneMinute => {
            shown.date()?;
            write!(out, "{minutes:02}").expect("strings grow");
            return Ok(());
        }
        _ => return Ok(()),
    };
    let word = match case {
        Case::Upper => word.to_ascii_uppercase(),
        Case::Lower => word.to_ascii_lowercase(),
        Case::Capitalised => word.to_owned(),
    };
    let width = if fill { width } else { 0 };
    write!(out, "{word:<width$}").expect("strings grow");
    Ok(())
}
