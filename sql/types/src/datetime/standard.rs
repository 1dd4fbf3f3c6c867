//! Dates and times read by a template as the SQL standard has it: the template says which type comes of it.
//!
//! PostgreSQL: `parse_datetime`, `DCH_datetime_type`. A template with fields of a date, of a time of day and of a zone gives a
//! timestamptz, and so on; it may have few characters between its fields, and the text must have the same.

use super::from_pattern::{malformed, read_items};
use super::output;
use super::template::{self, Item, Keyword};
use crate::error::Result;
use crate::{Datum, TimeTz, oids};
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
    pub fn write(&self, out: &mut Vec<u8>) {
        match self.datum {
            Datum::Date(days) => output::write_xsd_date(days, out),
            Datum::Time(micros) => output::write_time(micros, out),
            Datum::TimeTz(time) => output::write_xsd_timetz(time, out),
            Datum::Timestamp(local) => output::write_xsd_timestamp(local, None, out),
            Datum::TimestampTz(utc) => output::write_xsd_timestamp(utc, Some(self.offset), out),
            _ => {}
        }
    }
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
        let mut offset = 0;
        let datum = match (self.dated, self.timed, self.zoned) {
            (true, true, zoned) => {
                let name = if zoned { "timestamptz" } else { "timestamp" };
                if zoned {
                    offset = moment.offset.ok_or_else(|| missing(name))?;
                }
                let timestamp =
                    moment.timestamp(offset).ok_or_else(|| super::out_of_range(name))?;
                let timestamp = moment.rounded(timestamp);
                if zoned { Datum::TimestampTz(timestamp) } else { Datum::Timestamp(timestamp) }
            }
            (true, false, true) => {
                return Err(malformed("datetime format is zoned but not timed"));
            }
            (true, false, false) => moment.date(text)?,
            (false, true, true) => {
                let west = -moment.offset.ok_or_else(|| missing("timetz"))?;
                Datum::TimeTz(TimeTz { micros: moment.rounded(moment.micros_of_day), west })
            }
            (false, true, false) => Datum::Time(moment.rounded(moment.micros_of_day)),
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
