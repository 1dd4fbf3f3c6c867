//! `to_date` and `to_timestamp`: a text read as a template says.
//!
//! PostgreSQL: `formatting.c` (`DCH_from_char`, `do_to_timestamp`); manual, 9.8. The template leads. Its fields take what they can from the text;
//! white space before and behind a field is passed over; a separator of the template stands for one of the text, or none;
//! any other character passes over one of the text. `FX` takes that leniency away, and so does the SQL standard, by which the
//! text has what the template has and nothing else. A number takes as many digits as there
//! are, unless a field of digits follows: then as many as its keyword has letters. What the text does not reach is left out.
//!
//! A value of 0 and a missing one are the same here, as in PostgreSQL: 0 may be overwritten, and a month 0 counts as none.

use super::calendar;
use super::output::{DAYS, MONTHS};
use super::template::{self, Convention, Field, Item, Keyword, is_separator, is_space};
use super::{SECOND, arithmetic, zone};
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] =
    &[(1778, Plain(to_timestamp)), (1780, Plain(to_date))];

/// Hours and minutes in the unit above.
const HOURS: i32 = 24;
const SIXTY: i32 = 60;

fn to_timestamp<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let moment = read(a[0].text(), a[1].text())?;
    let utc = match moment.offset {
        Some(offset) => moment.timestamp(offset),
        None => moment
            .timestamp(0)
            .and_then(|local| zone::of_session(&context.settings.time_zone).to_utc(local)),
    };
    let utc = utc.ok_or_else(|| super::out_of_range("timestamp"))?;
    Ok(Datum::TimestampTz(moment.rounded(utc)))
}

fn to_date<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    read(text, a[1].text())?.date(text)
}

/// A date and time as read.
pub(super) struct Moment {
    year: i32,
    month: i32,
    day: i32,
    pub micros_of_day: i64,
    /// Seconds east of Greenwich, if the text said so.
    pub offset: Option<i32>,
    /// The decimals of seconds that `FF` asks for, -1 for all.
    precision: i32,
}

impl Moment {
    /// Its date.
    ///
    /// # Errors
    /// 22008, of this text.
    pub fn date(&self, text: &str) -> Result<Datum<'static>> {
        let day = self.julian_date(i64::MAX).filter(|&day| calendar::is_date(day));
        day.map(|day| Datum::Date(day as i32)).ok_or_else(|| {
            SqlError::new(
                SqlState::DATETIME_FIELD_OVERFLOW,
                format!("date out of range: \"{text}\""),
            )
        })
    }

    /// When it was at Greenwich, where its own clocks are set to a zone so many seconds east; not rounded yet.
    pub fn timestamp(&self, east: i32) -> Option<i64> {
        let day = self.julian_date(calendar::TIMESTAMP_END)?;
        calendar::timestamp(day, self.micros_of_day - i64::from(east) * SECOND)
    }

    /// Microseconds, to the decimals that were asked for.
    pub fn rounded(&self, micros: i64) -> i64 {
        arithmetic::round_to(micros, self.precision)
    }

    /// Days since 2000-01-01, if the date is one that days are counted for.
    fn julian_date(&self, end: i64) -> Option<i64> {
        let day = calendar::days(i64::from(self.year), self.month as u32, i64::from(self.day));
        let counted = (-4713, 11)..(5_874_898, 6);
        let inside = counted.contains(&(self.year, self.month));
        (inside && day >= calendar::DATE_MIN && day < end).then_some(day)
    }
}

/// What the fields said; 0 is nothing.
#[derive(Default)]
struct Fields {
    convention: Option<Convention>,
    hour: i32,
    afternoon: i32,
    minute: i32,
    second: i32,
    second_of_day: i32,
    day_of_week: i32,
    day: i32,
    day_of_year: i32,
    month: i32,
    milliseconds: i32,
    microseconds: i32,
    /// Of `FF`.
    decimals: Option<u32>,
    year: i32,
    before_christ: i32,
    week: i32,
    week_of_month: i32,
    century: i32,
    julian: i32,
    /// How many digits the year's keyword has.
    year_digits: u32,
    twelve_hours: bool,
    zone_sign: i32,
    zone_hour: i32,
    zone_minute: i32,
}

#[cold]
pub(super) fn malformed(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_DATETIME_FORMAT, message)
}

#[cold]
fn field_overflow(text: &str) -> SqlError {
    SqlError::new(
        SqlState::DATETIME_FIELD_OVERFLOW,
        format!("date/time field value out of range: \"{text}\""),
    )
}

/// Sets a value that may have been set before only to the same.
fn set(place: &mut i32, value: i32, field: &Field<'_>) -> Result<()> {
    if *place != 0 && *place != value {
        return Err(malformed(format!(
            "conflicting values for \"{}\" field in formatting string",
            field.name
        ))
        .detail("This value contradicts a previous setting for the same field type."));
    }
    *place = value;
    Ok(())
}

/// The two-, three- or one-digit year nearest to 2020.
fn nearest_year(year: i32) -> i32 {
    year + match year {
        ..70 => 2000,
        70..100 => 1900,
        100..520 => 2000,
        520..1000 => 1000,
        _ => 0,
    }
}

/// A number as C's `strtol` finds it: white space, a sign, digits. Gives how much of the text it took.
fn integer(text: &str) -> Option<(Option<i64>, usize)> {
    let spaces = text.len() - text.trim_start_matches(is_space).len();
    let signed = spaces + usize::from(text[spaces..].starts_with(['-', '+']));
    let digits = text[signed..].bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| (text[spaces..signed + digits].parse().ok(), signed + digits))
}

/// The walk of a template over a text.
struct Reader<'t> {
    rest: &'t str,
    fields: Fields,
    fixed: bool,
    /// By the SQL standard.
    standard: bool,
}

impl<'t> Reader<'t> {
    fn skip_spaces(&mut self) -> i32 {
        let behind = self.rest.trim_start_matches(is_space);
        let skipped = self.rest.len() - behind.len();
        self.rest = behind;
        skipped as i32
    }

    fn skip_character(&mut self) {
        let mut characters = self.rest.chars();
        characters.next();
        self.rest = characters.as_str();
    }

    fn walk(&mut self, text: &'t str, items: &[Item<'t>]) -> Result<()> {
        // White space passed over beyond what the template has.
        let mut extra = 0;
        for (i, item) in items.iter().enumerate() {
            if self.rest.is_empty() {
                return match self.standard {
                    true => Err(malformed("input string is too short for datetime format")),
                    false => Ok(()),
                };
            }
            let field = match item {
                Item::Field(field) => Some(field),
                _ => None,
            };
            let begins_fixed = field.is_some_and(|field| field.keyword == Keyword::Fixed);
            if !self.fixed && !begins_fixed && (field.is_some() || i == 0) {
                extra += self.skip_spaces();
                if self.rest.is_empty() && field.is_none() {
                    // A character of the template has nothing left to pass over.
                    continue;
                }
            }
            let Some(field) = field else {
                match item {
                    Item::Space(wanted) | Item::Separator(wanted) | Item::Text(wanted)
                        if self.standard && !self.rest.starts_with(*wanted) =>
                    {
                        let what = match item {
                            Item::Text(_) => "character",
                            _ => "separator",
                        };
                        return Err(malformed(format!("unmatched format {what} \"{wanted}\"")));
                    }
                    Item::Space(_) | Item::Separator(_) if !self.fixed => {
                        extra -= 1;
                        let first = self.rest.chars().next();
                        if first.is_some_and(|first| is_space(first) || is_separator(first)) {
                            self.skip_character();
                            extra += 1;
                        }
                    }
                    Item::Text(_) if !self.fixed && extra > 0 => extra -= 1,
                    _ => self.skip_character(),
                }
                continue;
            };
            let minus_before = extra > 0 && {
                let at = text.len() - self.rest.len();
                text.as_bytes().get(at.wrapping_sub(1)) == Some(&b'-')
            };
            let digits_follow = match items.get(i + 1) {
                Some(Item::Field(next)) => next.keyword.is_digits(),
                Some(Item::Text(next)) => next.is_ascii_digit(),
                Some(_) | None => false,
            };
            self.enter(field.keyword.convention())?;
            self.field(field, digits_follow && field.ordinal.is_none(), minus_before)?;
            if !self.fixed {
                extra = self.skip_spaces();
            }
        }
        if self.standard {
            self.skip_spaces();
            if !self.rest.is_empty() {
                return Err(malformed(
                    "trailing characters remain in input string after datetime format",
                ));
            }
        }
        Ok(())
    }

    fn enter(&mut self, convention: Convention) -> Result<()> {
        if convention == Convention::Either {
            return Ok(());
        }
        if *self.fields.convention.get_or_insert(convention) != convention {
            return Err(malformed("invalid combination of date conventions").hint(
                "Do not mix Gregorian and ISO week date conventions in a formatting template.",
            ));
        }
        Ok(())
    }

    /// Reads a number of `width` digits, or of all there are. Gives how many bytes it took, and its value.
    fn number(
        &mut self,
        field: &Field<'_>,
        width: usize,
        digits_follow: bool,
    ) -> Result<(i32, usize)> {
        let from = self.rest;
        let text = from.trim_start_matches(is_space);
        let mut end = width.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let copy = &text[..end];
        let invalid = || malformed(format!("invalid value \"{copy}\" for \"{}\"", field.name));
        let found = if field.fill_mode || !digits_follow {
            integer(from)
        } else {
            let hint = "If your source string is not fixed-width, try using the \"FM\" modifier.";
            if end < width {
                let detail = format!("Field requires {width} characters, but only {end} remain.");
                return Err(malformed(format!(
                    "source string too short for \"{}\" formatting field",
                    field.name
                ))
                .detail(detail)
                .hint(hint));
            }
            let found = integer(copy);
            if let Some((_, used)) = found
                && used < width
            {
                let detail =
                    format!("Field requires {width} characters, but only {used} could be parsed.");
                return Err(invalid().detail(detail).hint(hint));
            }
            found.map(|(value, used)| (value, from.len() - text.len() + used))
        };
        let Some((value, used)) = found else {
            return Err(invalid().detail("Value must be an integer."));
        };
        self.rest = &from[used..];
        let fits = value.and_then(|value| i32::try_from(value).ok());
        let value = fits.ok_or_else(|| {
            SqlError::new(
                SqlState::DATETIME_FIELD_OVERFLOW,
                format!("value for \"{}\" in source string is out of range", field.name),
            )
            .detail(format!(
                "Value must be in the range {} to {}.",
                i32::MIN,
                i32::MAX
            ))
        })?;
        Ok((value, used))
    }

    /// Finds one of some words at the beginning of the text, in any case.
    fn word(&mut self, field: &Field<'_>, words: &[&str]) -> Result<i32> {
        let found = words.iter().position(|word| {
            self.rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
        });
        let Some(found) = found else {
            let shown = self.rest.split(is_space).next().unwrap_or_default();
            return Err(malformed(format!("invalid value \"{shown}\" for \"{}\"", field.name))
                .detail(
                    "The given value did not match any of the allowed values for this field.",
                ));
        };
        self.rest = &self.rest[words[found].len()..];
        Ok(found as i32)
    }

    fn field(&mut self, field: &Field<'_>, follow: bool, minus_before: bool) -> Result<()> {
        const ROMAN: [&str; 12] =
            ["XII", "XI", "X", "IX", "VIII", "VII", "VI", "V", "IV", "III", "II", "I"];
        let width = field.name.len();
        let plain = |reader: &mut Reader<'t>,
                     width: usize,
                     place: fn(&mut Fields) -> &mut i32|
         -> Result<usize> {
            let (value, used) = reader.number(field, width, follow)?;
            set(place(&mut reader.fields), value, field)?;
            Ok(used)
        };
        match field.keyword {
            Keyword::Fixed => {
                self.fixed = true;
                return Ok(());
            }
            Keyword::Meridiem { dots } => {
                let words: &[&str] = if dots { &["A.M.", "P.M."] } else { &["AM", "PM"] };
                let value = self.word(field, words)?;
                set(&mut self.fields.afternoon, value, field)?;
                self.fields.twelve_hours = true;
                return Ok(());
            }
            Keyword::Era { dots } => {
                let words: &[&str] = if dots { &["A.D.", "B.C."] } else { &["AD", "BC"] };
                let value = self.word(field, words)?;
                return set(&mut self.fields.before_christ, value, field);
            }
            Keyword::MonthName { short } => {
                let value = self.word(field, &names(&MONTHS, short))?;
                return set(&mut self.fields.month, value + 1, field);
            }
            Keyword::DayName { short } => {
                let value = self.word(field, &names(&DAYS, short))?;
                set(&mut self.fields.day_of_week, value, field)?;
                self.fields.day_of_week += 1;
                return Ok(());
            }
            Keyword::Roman => {
                let value = self.word(field, &ROMAN)?;
                return set(&mut self.fields.month, 12 - value, field);
            }
            Keyword::Zone | Keyword::Offset => {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("formatting field \"{}\" is only supported in to_char", field.name),
                ));
            }
            Keyword::ZoneHour => {
                // A minus may have been passed over as a separator.
                let sign = self.rest.chars().next().filter(|c| matches!(c, '+' | '-' | ' '));
                let negative = sign.map_or(minus_before, |sign| sign == '-');
                self.fields.zone_sign = if negative { -1 } else { 1 };
                if sign.is_some() {
                    self.skip_character();
                }
                plain(self, 2, |f| &mut f.zone_hour)?;
                return Ok(());
            }
            Keyword::ZoneMinute => {
                if self.fields.zone_sign == 0 {
                    self.fields.zone_sign = 1;
                }
                plain(self, 2, |f| &mut f.zone_minute)?;
                return Ok(());
            }
            Keyword::Hour12 => {
                plain(self, 2, |f| &mut f.hour)?;
                self.fields.twelve_hours = true;
            }
            Keyword::Hour24 => drop(plain(self, 2, |f| &mut f.hour)?),
            Keyword::Minute => drop(plain(self, width, |f| &mut f.minute)?),
            Keyword::Second => drop(plain(self, width, |f| &mut f.second)?),
            Keyword::SecondOfDay => drop(plain(self, width, |f| &mut f.second_of_day)?),
            Keyword::Millisecond => {
                let used = plain(self, 3, |f| &mut f.milliseconds)?;
                let scale = 10i32.pow(3u32.saturating_sub(used as u32));
                self.fields.milliseconds = self.fields.milliseconds.wrapping_mul(scale);
            }
            Keyword::Microsecond | Keyword::Fraction(_) => {
                let width = match field.keyword {
                    Keyword::Fraction(digits) => {
                        self.fields.decimals = Some(digits);
                        digits as usize
                    }
                    _ => 6,
                };
                let used = plain(self, width, |f| &mut f.microseconds)?;
                let scale = 10i32.pow(6u32.saturating_sub(used as u32));
                self.fields.microseconds = self.fields.microseconds.wrapping_mul(scale);
            }
            Keyword::Month => drop(plain(self, width, |f| &mut f.month)?),
            Keyword::Day => drop(plain(self, width, |f| &mut f.day)?),
            Keyword::DayOfYear => drop(plain(self, width, |f| &mut f.day_of_year)?),
            Keyword::IsoDayOfYear => drop(plain(self, 3, |f| &mut f.day_of_year)?),
            Keyword::DayOfWeek => drop(plain(self, width, |f| &mut f.day_of_week)?),
            Keyword::IsoDayOfWeek => {
                plain(self, 1, |f| &mut f.day_of_week)?;
                // From Monday = 1 to Sunday = 1.
                self.fields.day_of_week = self.fields.day_of_week.wrapping_add(1);
                if self.fields.day_of_week > 7 {
                    self.fields.day_of_week = 1;
                }
            }
            Keyword::WeekOfYear | Keyword::IsoWeek => drop(plain(self, width, |f| &mut f.week)?),
            Keyword::WeekOfMonth => drop(plain(self, width, |f| &mut f.week_of_month)?),
            // Which of its days is meant is unclear: read and forgotten.
            Keyword::Quarter => drop(self.number(field, width, follow)?),
            Keyword::Century => drop(plain(self, width, |f| &mut f.century)?),
            Keyword::Julian => drop(plain(self, width, |f| &mut f.julian)?),
            Keyword::YearWithComma => {
                let year = self.year_with_comma(field)?;
                set(&mut self.fields.year, year, field)?;
                self.fields.year_digits = 4;
            }
            Keyword::Year(digits) | Keyword::IsoYear(digits) => {
                let used = plain(self, width, |f| &mut f.year)?;
                if digits < 4 && used < 4 {
                    self.fields.year = nearest_year(self.fields.year);
                }
                self.fields.year_digits = digits;
            }
        }
        if field.ordinal.is_some() {
            self.skip_character();
            self.skip_character();
        }
        Ok(())
    }

    /// Thousands, a comma, and up to three digits.
    fn year_with_comma(&mut self, field: &Field<'_>) -> Result<i32> {
        let malformed = || malformed("invalid input string for \"Y,YYY\"");
        let (thousands, used) = integer(self.rest).ok_or_else(malformed)?;
        let behind = self.rest[used..].strip_prefix(',').ok_or_else(malformed)?;
        let text = behind.trim_start_matches(is_space);
        let head: String = text.chars().take(3).collect();
        let (years, used) = integer(&head).ok_or_else(malformed)?;
        self.rest = &text[used..];
        let year = thousands.zip(years).and_then(|(thousands, years)| {
            i32::try_from(thousands.checked_mul(1000)?.checked_add(years)?).ok()
        });
        year.ok_or_else(|| {
            SqlError::new(
                SqlState::DATETIME_FIELD_OVERFLOW,
                format!("value for \"{}\" in source string is out of range", field.name),
            )
        })
    }
}

fn names(names: &[&'static str], short: bool) -> Vec<&'static str> {
    names.iter().map(|name| if short { &name[..3] } else { name }).collect()
}

/// Reads a text as a template says, and makes a date and time of it.
fn read(text: &str, pattern: &str) -> Result<Moment> {
    read_items(text, &template::parse(pattern), false)
}

/// The same with a template that has been taken apart; by the SQL standard or PostgreSQL's own, more lenient rules.
pub(super) fn read_items<'t>(text: &'t str, items: &[Item<'t>], standard: bool) -> Result<Moment> {
    let mut reader = Reader { rest: text, fields: Fields::default(), fixed: standard, standard };
    reader.walk(text, items)?;
    let fields = reader.fields;
    let overflow = || field_overflow(text);
    let (hour, minute, second) = time_of_day(&fields)?;
    let mut date =
        Date { year: 0, month: 1, day: 1, has_year: false, has_month: false, has_day: false };
    date.put(&fields).ok_or_else(overflow)?;
    date.put_day_of_year(&fields)?;
    let fraction = fields
        .milliseconds
        .checked_mul(1000)
        .and_then(|micros| micros.checked_add(fields.microseconds))
        .ok_or_else(overflow)?;
    let time = (0..HOURS).contains(&hour)
        && (0..SIXTY).contains(&minute)
        && (0..SIXTY).contains(&second)
        && (0..SECOND).contains(&i64::from(fraction));
    if !date.is_valid() || !time {
        return Err(overflow());
    }
    let offset = match fields.zone_sign {
        0 => None,
        sign => {
            let inside =
                (0..=15).contains(&fields.zone_hour) && (0..SIXTY).contains(&fields.zone_minute);
            if !inside {
                return Err(SqlError::new(
                    SqlState::INVALID_TIME_ZONE_DISPLACEMENT_VALUE,
                    format!("time zone displacement out of range: \"{text}\""),
                ));
            }
            Some(sign * (fields.zone_hour * SIXTY + fields.zone_minute) * SIXTY)
        }
    };
    let seconds = i64::from((hour * SIXTY + minute) * SIXTY + second);
    Ok(Moment {
        year: date.year,
        month: date.month,
        day: date.day,
        micros_of_day: seconds * SECOND + i64::from(fraction),
        offset,
        precision: fields.decimals.map_or(-1, |decimals| decimals as i32),
    })
}

fn time_of_day(fields: &Fields) -> Result<(i32, i32, i32)> {
    let (mut hour, mut minute, mut second) = (0, 0, 0);
    if fields.second_of_day != 0 {
        let whole = fields.second_of_day;
        (hour, minute, second) = (whole / 3600, whole % 3600 / 60, whole % 60);
    }
    for (place, value) in
        [(&mut second, fields.second), (&mut minute, fields.minute), (&mut hour, fields.hour)]
    {
        if value != 0 {
            *place = value;
        }
    }
    if fields.twelve_hours {
        if !(1..=12).contains(&hour) {
            return Err(malformed(format!("hour \"{hour}\" is invalid for the 12-hour clock"))
                .hint("Use the 24-hour clock, or give an hour between 1 and 12."));
        }
        if fields.afternoon != 0 && hour < 12 {
            hour += 12;
        } else if fields.afternoon == 0 && hour == 12 {
            hour = 0;
        }
    }
    Ok((hour, minute, second))
}

/// The date, and which of its parts were given.
struct Date {
    year: i32,
    month: i32,
    day: i32,
    has_year: bool,
    has_month: bool,
    has_day: bool,
}

impl Date {
    fn set_days(&mut self, days: i64) -> Option<()> {
        let date = calendar::date(days);
        (self.year, self.month, self.day) =
            (i32::try_from(date.year).ok()?, date.month as i32, date.day as i32);
        (self.has_year, self.has_month, self.has_day) = (true, true, true);
        Some(())
    }

    /// Everything but a day of the year. None where a number does not fit.
    fn put(&mut self, fields: &Fields) -> Option<()> {
        let century = if fields.before_christ != 0 { -fields.century } else { fields.century };
        if fields.year != 0 {
            if fields.century != 0 && fields.year_digits <= 2 {
                // The last two digits, within a century: the 21st runs from 2001 to 2100, the 6th BC from 600 to 501 BC.
                let within = fields.year % 100;
                self.year = match (within, century >= 0) {
                    (0, true) => century.checked_mul(100)?,
                    (0, false) => century.checked_mul(100)?.checked_add(1)?,
                    (_, true) => century.checked_sub(1)?.checked_mul(100)?.checked_add(within)?,
                    (_, false) => century
                        .checked_add(1)?
                        .checked_mul(100)?
                        .checked_sub(within)?
                        .checked_add(1)?,
                };
            } else {
                self.year = fields.year;
                if fields.before_christ != 0 {
                    self.year = self.year.wrapping_neg();
                }
                if self.year < 0 {
                    self.year += 1;
                }
            }
            self.has_year = true;
        } else if fields.century != 0 {
            let before = if century >= 0 { century.checked_sub(1)? } else { century };
            self.year = before.checked_mul(100)?.checked_add(1)?;
            self.has_year = true;
        }
        if fields.julian != 0 {
            self.set_days(i64::from(fields.julian) - calendar::EPOCH_JULIAN)?;
        }
        if fields.week != 0 && fields.convention == Some(Convention::IsoWeek) {
            let first = calendar::iso_year_start(i64::from(self.year));
            let monday = first + (i64::from(fields.week) - 1) * 7;
            // Sunday, the first day of the week here, is the last of an ISO week.
            let within = match fields.day_of_week {
                0 => 0,
                day @ 2.. => i64::from(day) - 2,
                _ => 6,
            };
            self.set_days(monday + within)?;
        }
        let mut day = fields.day;
        if fields.week_of_month != 0 {
            day = fields.week_of_month.checked_sub(1)?.checked_mul(7)?.checked_add(1)?;
        }
        if day != 0 {
            (self.day, self.has_day) = (day, true);
        }
        if fields.month != 0 {
            (self.month, self.has_month) = (fields.month, true);
        }
        Some(())
    }

    fn put_day_of_year(&mut self, fields: &Fields) -> Result<()> {
        let mut day_of_year = fields.day_of_year;
        let iso = fields.convention == Some(Convention::IsoWeek);
        if fields.week != 0 && !iso {
            day_of_year = fields.week.wrapping_sub(1).wrapping_mul(7).wrapping_add(1);
        }
        if day_of_year == 0 || (self.month > 1 && self.day > 1) {
            return Ok(());
        }
        if self.year == 0 && fields.before_christ == 0 {
            return Err(malformed("cannot calculate day of year without year information"));
        }
        if iso {
            let first = calendar::iso_year_start(i64::from(self.year));
            let day = first - 1 + i64::from(day_of_year);
            return self.set_days(day).ok_or_else(|| super::out_of_range("timestamp"));
        }
        // The month whose last day of the year is not before it, or a thirteenth.
        let (mut month, mut before) = (1, 0);
        while month <= 12 {
            let length = calendar::month_length(i64::from(self.year), month) as i32;
            if day_of_year <= before + length {
                break;
            }
            before += length;
            month += 1;
        }
        if self.month <= 1 {
            self.month = month as i32;
        }
        if self.day <= 1 {
            self.day = day_of_year.wrapping_sub(before);
        }
        (self.has_month, self.has_day) = (true, true);
        Ok(())
    }

    fn is_valid(&self) -> bool {
        let month = !self.has_month || (1..=12).contains(&self.month);
        let day = !self.has_day || (1..=31).contains(&self.day);
        let all = self.has_year && self.has_month && self.has_day;
        let length = |month: i32| calendar::month_length(i64::from(self.year), month as u32) as i32;
        month && day && (!all || self.day <= length(self.month))
    }
}
