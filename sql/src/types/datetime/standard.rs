//! Dates and times read by a template as the SQL standard has it: the template says which type comes of it.
//!
//! PostgreSQL: `parse_datetime`, `DCH_datetime_type`. A template with fields of a date, of a time of day and of a zone gives a
//! timestamptz, and so on; it may have few characters between its fields, and the text must have the same.

use super::from_pattern::{malformed, read_items};
use super::template::{self, Item, Keyword};
use super::{SECOND, arithmetic, calendar, output, zone};
use crate::error::{Result, SqlError};
use crate::settings::SessionSettings;
use crate::sqlstate::SqlState;
use crate::types::json::output::write_iso;
use crate::types::{Datum, TimeTz, oids};
use std::sync::LazyLock;

/// A date, time, timetz, timestamp or timestamptz.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Instant {
    /// The value.
    pub datum: Datum<'static>,
    /// Seconds east of Greenwich, where a timestamptz was written.
    offset: i32,
}

impl Instant {
    /// Its type.
    pub fn type_oid(&self) -> u32 {
        match self.datum {
            Datum::Date(_) => oids::DATE,
            Datum::Time(_) => oids::TIME,
            Datum::TimeTz(_) => oids::TIMETZ,
            Datum::Timestamp(_) => oids::TIMESTAMP,
            _ => oids::TIMESTAMPTZ,
        }
    }

    /// Appends it in ISO 8601, in the zone that it was written in.
    pub fn write(&self, settings: &SessionSettings, out: &mut Vec<u8>) {
        match self.datum {
            Datum::Time(micros) => output::write_time(micros, out),
            Datum::TimeTz(time) => {
                output::write_time(time.micros, out);
                out.extend_from_slice(&offset_text(-time.west));
            }
            Datum::TimestampTz(utc) => {
                let local = utc.saturating_add(i64::from(self.offset) * SECOND);
                write_iso(settings, &Datum::Timestamp(local), out);
                let era = if out.ends_with(b" BC") { 3 } else { 0 };
                let end = out.len() - era;
                out.splice(end..end, offset_text(self.offset));
            }
            other => write_iso(settings, &other, out),
        }
    }
}

/// `+03:00`
fn offset_text(seconds: i32) -> Vec<u8> {
    let mut out = Vec::new();
    zone::write_offset(seconds, &mut out);
    if out.len() == "+03".len() {
        out.extend_from_slice(b":00");
    }
    out
}

/// A template, and which fields it has.
pub(crate) struct Template<'t> {
    text: &'t str,
    items: Vec<Item<'t>>,
    dated: bool,
    timed: bool,
    zoned: bool,
}

impl<'t> Template<'t> {
    /// Takes a template apart.
    ///
    /// # Errors
    /// 22007: a character that may not stand outside quotes.
    pub fn parse(template: &'t str) -> Result<Template<'t>> {
        let (items, foreign) = template::parse_standard(template);
        if let Some(character) = foreign {
            return Err(malformed(format!("invalid datetime format separator: \"{character}\"")));
        }
        let (mut dated, mut timed, mut zoned) = (false, false, false);
        for item in &items {
            let Item::Field(field) = item else { continue };
            match field.keyword {
                // An ISO week says nothing by itself: the type is that of the fields beside it.
                Keyword::Fixed | Keyword::IsoWeek => {}
                Keyword::Meridiem { .. }
                | Keyword::Fraction(_)
                | Keyword::Millisecond
                | Keyword::Microsecond
                | Keyword::Hour24
                | Keyword::Hour12
                | Keyword::Minute
                | Keyword::SecondOfDay
                | Keyword::Second => timed = true,
                Keyword::ZoneHour | Keyword::ZoneMinute | Keyword::Zone | Keyword::Offset => {
                    zoned = true;
                }
                _ => dated = true,
            }
        }
        Ok(Template { text: template, items, dated, timed, zoned })
    }

    /// Reads a text.
    ///
    /// # Errors
    /// 22007, 22008, 22009; 0A000.
    pub fn read(&self, text: &'t str) -> Result<Instant> {
        let neither = || malformed("datetime format is not dated and not timed");
        if self.text.is_empty() {
            // Nothing is compared with the text then, which may be any.
            return Err(neither());
        }
        let moment = read_items(text, &self.items, true)?;
        let missing =
            |ty: &str| malformed(format!("missing time zone in input string for type {ty}"));
        let rounded = |micros: i64| arithmetic::round_to(micros, moment.precision);
        let mut offset = 0;
        let datum = match (self.dated, self.timed, self.zoned) {
            (true, true, zoned) => {
                let name = if zoned { "timestamptz" } else { "timestamp" };
                if zoned {
                    offset = moment.offset.ok_or_else(|| missing(name))?;
                }
                let micros = moment.micros_of_day - i64::from(offset) * SECOND;
                let timestamp = moment
                    .julian_date(calendar::TIMESTAMP_END)
                    .and_then(|day| calendar::timestamp(day, micros))
                    .ok_or_else(|| super::out_of_range(name))?;
                if zoned {
                    Datum::TimestampTz(rounded(timestamp))
                } else {
                    Datum::Timestamp(rounded(timestamp))
                }
            }
            (true, false, true) => {
                return Err(malformed("datetime format is zoned but not timed"));
            }
            (true, false, false) => {
                let day = moment.julian_date(i64::MAX).filter(|&day| calendar::is_date(day));
                Datum::Date(day.ok_or_else(|| {
                    SqlError::new(
                        SqlState::DATETIME_FIELD_OVERFLOW,
                        format!("date out of range: \"{text}\""),
                    )
                })? as i32)
            }
            (false, true, true) => {
                let west = -moment.offset.ok_or_else(|| missing("timetz"))?;
                Datum::TimeTz(TimeTz { micros: rounded(moment.micros_of_day), west })
            }
            (false, true, false) => Datum::Time(rounded(moment.micros_of_day)),
            (false, false, _) => return Err(neither()),
        };
        Ok(Instant { datum, offset })
    }
}

/// The forms of ISO 8601 that are known without a template, in the order in which they are tried.
static ISO: LazyLock<Vec<Template<'static>>> = LazyLock::new(|| {
    let templates = [
        "yyyy-mm-dd",
        "HH24:MI:SS.USTZH:TZM",
        "HH24:MI:SS.USTZH",
        "HH24:MI:SSTZH:TZM",
        "HH24:MI:SSTZH",
        "HH24:MI:SS.US",
        "HH24:MI:SS",
        "yyyy-mm-dd HH24:MI:SS.USTZH:TZM",
        "yyyy-mm-dd HH24:MI:SS.USTZH",
        "yyyy-mm-dd HH24:MI:SSTZH:TZM",
        "yyyy-mm-dd HH24:MI:SSTZH",
        "yyyy-mm-dd\"T\"HH24:MI:SS.USTZH:TZM",
        "yyyy-mm-dd\"T\"HH24:MI:SS.USTZH",
        "yyyy-mm-dd\"T\"HH24:MI:SSTZH:TZM",
        "yyyy-mm-dd\"T\"HH24:MI:SSTZH",
        "yyyy-mm-dd HH24:MI:SS.US",
        "yyyy-mm-dd HH24:MI:SS",
        "yyyy-mm-dd\"T\"HH24:MI:SS.US",
        "yyyy-mm-dd\"T\"HH24:MI:SS",
    ];
    templates.into_iter().map(|text| Template::parse(text).expect("a standard template")).collect()
});

/// Reads a text in the first of the forms of ISO 8601 that fits.
pub(crate) fn read_iso(text: &str) -> Option<Instant> {
    ISO.iter().find_map(|template| template.read(text).ok())
}
