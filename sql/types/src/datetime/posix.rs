//! Rules of a time zone in POSIX's notation: `EST5EDT`, `<+0530>-5:30`, `CET-1CEST,M3.5.0,M10.5.0/3`.
//!
//! PostgreSQL: `tzparse`. A name may be short, and even be left out (`00:30`); one of summer time without rules follows those
//! of the United States. What the rules mean is `jiff`'s business, which knows no such names: it is given others.

use super::zone::Zone;
use jiff::tz::TimeZone;

/// What `TZDEFRULESTRING` says.
const RULES: &str = ",M3.2.0,M11.1.0";

/// The zone that a text describes, in capitals.
pub(super) fn zone(text: &str) -> Option<Zone> {
    if text.starts_with(':') {
        return None;
    }
    let text = &*text.to_ascii_uppercase();
    let (standard, rest) = name(text)?;
    let (west, rest) = offset(rest)?;
    if rest.is_empty() {
        // A name that is an offset need not be remembered.
        if west != 0 && standard.starts_with(['+', '-']) {
            return Some(Zone::Fixed(-west));
        }
        let Ok(rules) = TimeZone::posix(&format!("<AAA>{}", hours(west))) else {
            return Some(Zone::Fixed(-west));
        };
        return Some(Zone::Posix(rules, [standard.into(), "".into()]));
    }
    let (summer, rest) = name(rest).filter(|(summer, _)| !summer.is_empty())?;
    let (summer_west, rest) = match rest.starts_with([',', ';']) || rest.is_empty() {
        true => (west - 3600, rest),
        false => offset(rest)?,
    };
    let rules = if rest.is_empty() { RULES.to_owned() } else { rest.replace(';', ",") };
    let text = format!("<AAA>{}<BBB>{}{rules}", hours(west), hours(summer_west));
    let rules = TimeZone::posix(&text).ok()?;
    Some(Zone::Posix(rules, [standard.into(), summer.into()]))
}

/// The name that a text begins with, and the rest.
fn name(text: &str) -> Option<(&str, &str)> {
    if let Some(quoted) = text.strip_prefix('<') {
        return quoted.split_once('>');
    }
    let inside = |c: char| !(c.is_ascii_digit() || matches!(c, ',' | '-' | '+'));
    Some(text.split_at(text.find(|c| !inside(c)).unwrap_or(text.len())))
}

/// The offset west of Greenwich that a text begins with, in seconds, less than a week; and the rest.
fn offset(text: &str) -> Option<(i32, &str)> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let number = |text: &str, max: i32| -> Option<(i32, usize)> {
        let length = text.bytes().take_while(u8::is_ascii_digit).count();
        let number = text[..length].parse().ok().filter(|number| *number <= max)?;
        Some((number, length))
    };
    let (hours, length) = number(digits, 24 * 7 - 1)?;
    let (mut total, mut rest) = (hours * 3600, &digits[length..]);
    for (unit, max) in [(60, 59), (1, 60)] {
        let Some(behind) = rest.strip_prefix(':') else { break };
        let (part, length) = number(behind, max)?;
        (total, rest) = (total + part * unit, &behind[length..]);
    }
    Some((if text.starts_with('-') { -total } else { total }, rest))
}

/// An offset as it is written in rules.
fn hours(west: i32) -> String {
    let (sign, size) = (if west < 0 { "-" } else { "" }, west.unsigned_abs());
    format!("{sign}{}:{:02}:{:02}", size / 3600, size / 60 % 60, size % 60)
}
