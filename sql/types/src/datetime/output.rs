//! The text of dates and times: under DateStyle, and as XML Schema (XSD) has it, which is ISO 8601 and what JSON gets.
//!
//! PostgreSQL: `EncodeDateOnly`, `EncodeTimeOnly`, `EncodeDateTime`.

use super::calendar::{self, Date};
use super::clock::Clock;
use super::zone::{self, Zone};
use crate::TimeTz;
use crate::integer::write_padded;
use crate::settings::{DateOrder, DateStyle, ValueSettings};

/// English month names.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// English day names, Sunday first.
pub const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

fn pad2(value: u32, out: &mut Vec<u8>) {
    write_padded(u64::from(value), 2, out);
}

/// The year as people count it: 0 is 1 BC.
fn write_year(year: i64, out: &mut Vec<u8>) {
    let shown = if year > 0 { year } else { 1 - year };
    write_padded(shown.unsigned_abs(), 4, out);
}

/// `2000-01-31`, without the era.
fn write_iso_date(date: Date, out: &mut Vec<u8>) {
    write_year(date.year, out);
    out.push(b'-');
    pad2(date.month, out);
    out.push(b'-');
    pad2(date.day, out);
}

fn write_calendar_date(settings: &ValueSettings, date: Date, out: &mut Vec<u8>) {
    let day_first = settings.date_order == DateOrder::Dmy;
    let pair = |first: u32, separator: u8, second: u32, out: &mut Vec<u8>| {
        pad2(first, out);
        out.push(separator);
        pad2(second, out);
        out.push(separator);
    };
    let (first, second) = if day_first { (date.day, date.month) } else { (date.month, date.day) };
    match settings.date_style {
        DateStyle::Iso => return write_iso_date(date, out),
        DateStyle::Sql => pair(first, b'/', second, out),
        DateStyle::Postgres => pair(first, b'-', second, out),
        DateStyle::German => pair(date.day, b'.', date.month, out),
    }
    write_year(date.year, out);
}

fn write_era(year: i64, out: &mut Vec<u8>) {
    if year <= 0 {
        out.extend_from_slice(b" BC");
    }
}

/// Appends a date.
pub fn write_date(settings: &ValueSettings, days: i32, out: &mut Vec<u8>) {
    if write_infinity(days == i32::MIN, days == i32::MAX, out) {
        return;
    }
    let date = calendar::date(i64::from(days));
    write_calendar_date(settings, date, out);
    write_era(date.year, out);
}

fn write_infinity(low: bool, high: bool, out: &mut Vec<u8>) -> bool {
    if low {
        out.extend_from_slice(b"-infinity");
    } else if high {
        out.extend_from_slice(b"infinity");
    }
    low || high
}

/// Appends `.5` and the like: no trailing zeros, nothing for none.
fn write_fraction(micros: u32, out: &mut Vec<u8>) {
    if micros > 0 {
        out.push(b'.');
        write_padded(u64::from(micros), 6, out);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// Appends a time of day.
pub fn write_time(micros: i64, out: &mut Vec<u8>) {
    let clock = Clock::of(micros);
    pad2(clock.hours as u32, out);
    out.push(b':');
    pad2(clock.minutes as u32, out);
    out.push(b':');
    pad2(clock.seconds as u32, out);
    write_fraction(clock.micros as u32, out);
}

/// Appends a time of day with its zone.
pub fn write_timetz(time: TimeTz, out: &mut Vec<u8>) {
    write_time(time.micros, out);
    zone::write_offset(-time.west, out);
}

/// Appends a timestamp without zone.
pub fn write_timestamp(settings: &ValueSettings, timestamp: i64, out: &mut Vec<u8>) {
    if !write_infinity(timestamp == i64::MIN, timestamp == i64::MAX, out) {
        write_local(settings, timestamp, None, out);
    }
}

/// Appends a timestamp with zone, in the session's.
pub fn write_timestamptz(settings: &ValueSettings, timestamp: i64, out: &mut Vec<u8>) {
    if write_infinity(timestamp == i64::MIN, timestamp == i64::MAX, out) {
        return;
    }
    if settings.date_style == DateStyle::Iso && settings.time_zone == "UTC" {
        // The commonest case needs no look at any rule.
        return write_local(settings, timestamp, Some((0, "UTC")), out);
    }
    let zone: Zone = zone::of_session(&settings.time_zone);
    let (offset, abbreviation) = zone.at(timestamp);
    let local = timestamp.saturating_add(i64::from(offset) * super::SECOND);
    write_local(settings, local, Some((offset, &abbreviation)), out);
}

fn write_local(settings: &ValueSettings, local: i64, zone: Option<(i32, &str)>, out: &mut Vec<u8>) {
    let (days, micros) = calendar::split(local);
    let date = calendar::date(days);
    if settings.date_style == DateStyle::Postgres {
        // Wed Dec 17 07:37:16 1997 PST, or with day before month.
        out.extend_from_slice(&DAYS[calendar::weekday(days) as usize].as_bytes()[..3]);
        out.push(b' ');
        let month = &MONTHS[date.month as usize - 1].as_bytes()[..3];
        if settings.date_order == DateOrder::Dmy {
            pad2(date.day, out);
            out.push(b' ');
            out.extend_from_slice(month);
        } else {
            out.extend_from_slice(month);
            out.push(b' ');
            pad2(date.day, out);
        }
        out.push(b' ');
        write_time(micros, out);
        out.push(b' ');
        write_year(date.year, out);
    } else {
        write_calendar_date(settings, date, out);
        out.push(b' ');
        write_time(micros, out);
    }
    if let Some((offset, abbreviation)) = zone {
        if settings.date_style == DateStyle::Iso {
            zone::write_offset(offset, out);
        } else {
            // An abbreviation may be a number too: `+0545`.
            out.push(b' ');
            out.extend_from_slice(abbreviation.as_bytes());
        }
    }
    write_era(date.year, out);
}

/// Appends a date as XSD has it.
pub fn write_xsd_date(days: i32, out: &mut Vec<u8>) {
    if !write_infinity(days == i32::MIN, days == i32::MAX, out) {
        let date = calendar::date(i64::from(days));
        write_iso_date(date, out);
        write_era(date.year, out);
    }
}

/// Appends a time of day with its zone as XSD has it.
pub fn write_xsd_timetz(time: TimeTz, out: &mut Vec<u8>) {
    write_time(time.micros, out);
    zone::write_xsd_offset(-time.west, out);
}

/// Appends a timestamp as XSD has it: without zone, or one at Greenwich as it is in a zone so many seconds east.
pub fn write_xsd_timestamp(timestamp: i64, zone: Option<i32>, out: &mut Vec<u8>) {
    if write_infinity(timestamp == i64::MIN, timestamp == i64::MAX, out) {
        return;
    }
    let east = i64::from(zone.unwrap_or(0)) * super::SECOND;
    let (days, micros) = calendar::split(timestamp.saturating_add(east));
    let date = calendar::date(days);
    write_iso_date(date, out);
    out.push(b'T');
    write_time(micros, out);
    if let Some(offset) = zone {
        zone::write_xsd_offset(offset, out);
    }
    write_era(date.year, out);
}
