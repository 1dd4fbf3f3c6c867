//! Time zones: the offset of a zone at an instant or at a local time.
//!
//! PostgreSQL: `pg_tzset`, `DetermineTimeZoneOffset`, and the abbreviations of `timezonesets/Default`, which
//! `abbreviations.tsv` lists. The rules are the IANA database's as compiled into `jiff`, so that a session answers the same
//! on every machine. They end with the year 9999; since rules repeat with the calendar's 400-year cycle, instants beyond
//! are moved by whole cycles first.
//!
//! The last zone asked for by name is remembered by each thread: nearly all calls ask for the session's.

use super::{DAY, SECOND, calendar, clock, posix};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use jiff::tz::{AmbiguousOffset, TimeZone};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A time zone.
#[derive(Clone, Debug)]
pub enum Zone {
    /// So many seconds east of Greenwich, always.
    Fixed(i32),
    /// By rules.
    Rules(TimeZone),
    /// By rules in POSIX's notation, with what they call standard time and summer time.
    Posix(TimeZone, [Box<str>; 2]),
    /// By the rules of a zone, but for when it is called by a name, in capitals: then what that name meant last, or first.
    Named(TimeZone, Box<str>),
}

/// What a name of a zone meant before or at an instant the last time, or else the first time behind it.
fn meaning(rules: &TimeZone, name: &str, at: jiff::Timestamp) -> i32 {
    let now = rules.to_offset_info(at);
    if now.abbreviation() == name {
        return now.offset().seconds();
    }
    // Rules that go on for ever repeat within a year.
    const LATER_MAX: usize = 1000;
    let last = rules.preceding(at).find(|change| change.abbreviation() == name);
    let first = || rules.following(at).take(LATER_MAX).find(|change| change.abbreviation() == name);
    last.or_else(first).map_or_else(|| now.offset(), |change| change.offset()).seconds()
}

/// Microseconds from 1970-01-01 to 2000-01-01.
const UNIX: i64 = calendar::UNIX_DAYS * DAY;
/// Microseconds in 400 years.
const CYCLE: i64 = 146_097 * DAY;

/// An instant of the years 1600 to 9599 with the same rules, for those beyond. Instants before 1600 know only local mean
/// time, which the first rule of each zone is.
fn within_rules(micros: i64) -> i64 {
    const FIRST: i64 = -CYCLE;
    const END: i64 = 18 * CYCLE;
    if micros < FIRST {
        FIRST
    } else if micros >= END {
        micros.rem_euclid(CYCLE) + 17 * CYCLE
    } else {
        micros
    }
}

fn instant(micros: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(within_rules(micros) + UNIX)
        .expect("within_rules keeps to the years that jiff knows")
}

thread_local! {
    static LAST: RefCell<Option<(String, Zone)>> = const { RefCell::new(None) };
}

impl Zone {
    /// The zone of this name: IANA's (in any case), `UTC`, an abbreviation's zone, or POSIX's notation. None if there is
    /// no such zone.
    #[must_use]
    pub fn named(name: &str) -> Option<Zone> {
        LAST.with_borrow_mut(|last| {
            if let Some((known, zone)) = last
                && known == name
            {
                return Some(zone.clone());
            }
            let zone = Zone::look_up(name)?;
            *last = Some((name.to_owned(), zone.clone()));
            Some(zone)
        })
    }

    fn look_up(name: &str) -> Option<Zone> {
        if ["UTC", "GMT", "Etc/UTC", "Zulu"].iter().any(|utc| utc.eq_ignore_ascii_case(name)) {
            return Some(Zone::Fixed(0));
        }
        if let Ok(zone) = TimeZone::get(name) {
            return Some(Zone::Rules(zone));
        }
        posix::zone(name)
    }

    /// The name as PostgreSQL shows it, if it is one of the database's.
    #[must_use]
    pub fn canonical(name: &str) -> Option<String> {
        let zone = TimeZone::get(name).ok()?;
        zone.iana_name().map(str::to_owned)
    }

    /// Seconds east of Greenwich at an instant, and the abbreviation then in use.
    #[must_use]
    pub fn at(&self, utc: i64) -> (i32, String) {
        match self {
            Zone::Fixed(0) => (0, "UTC".to_owned()),
            Zone::Fixed(seconds) => (*seconds, offset_text(*seconds)),
            Zone::Rules(zone) => {
                let info = zone.to_offset_info(instant(utc));
                (info.offset().seconds(), info.abbreviation().to_owned())
            }
            Zone::Posix(rules, [standard, summer]) => {
                let info = rules.to_offset_info(instant(utc));
                let name = if info.dst().is_dst() { summer } else { standard };
                (info.offset().seconds(), (**name).to_owned())
            }
            Zone::Named(_, name) => (self.offset(utc), (**name).to_owned()),
        }
    }

    /// Seconds east of Greenwich at an instant.
    #[must_use]
    pub fn offset(&self, utc: i64) -> i32 {
        match self {
            Zone::Fixed(seconds) => *seconds,
            Zone::Rules(zone) | Zone::Posix(zone, _) => zone.to_offset(instant(utc)).seconds(),
            Zone::Named(rules, name) => meaning(rules, name, instant(utc)),
        }
    }

    /// Seconds east of Greenwich, where they never change.
    #[must_use]
    pub fn always(&self) -> Option<i32> {
        match self {
            Zone::Fixed(seconds) => Some(*seconds),
            Zone::Named(..) => None,
            Zone::Rules(zone) | Zone::Posix(zone, _) => {
                let mut changes = zone.following(jiff::Timestamp::MIN);
                changes.next().is_none().then(|| self.offset(0))
            }
        }
    }

    /// Seconds east of Greenwich at a local time. One that a change of clocks leaves out is counted by the offset before
    /// the change; one that it gives twice is the second.
    #[must_use]
    pub fn local_offset(&self, local: i64) -> i32 {
        match self {
            Zone::Fixed(seconds) => *seconds,
            Zone::Named(rules, _) => {
                let local_offset = Zone::Rules(rules.clone()).local_offset(local);
                self.offset(local.saturating_sub(i64::from(local_offset) * SECOND))
            }
            Zone::Rules(zone) | Zone::Posix(zone, _) => {
                let civil = jiff::tz::Offset::UTC.to_datetime(instant(local));
                match zone.to_ambiguous_timestamp(civil).offset() {
                    AmbiguousOffset::Unambiguous { offset } => offset.seconds(),
                    AmbiguousOffset::Gap { before, .. } => before.seconds(),
                    AmbiguousOffset::Fold { after, .. } => after.seconds(),
                }
            }
        }
    }

    /// The instant of a local time. None if it is out of range.
    #[must_use]
    pub fn to_utc(&self, local: i64) -> Option<i64> {
        let utc = local.checked_sub(i64::from(self.local_offset(local)) * SECOND)?;
        calendar::is_timestamp(utc).then_some(utc)
    }

    /// The local time of an instant.
    #[must_use]
    pub fn to_local(&self, utc: i64) -> i64 {
        utc.saturating_add(i64::from(self.offset(utc)) * SECOND)
    }
}

/// Why a text is no displacement from Greenwich.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDisplacement {
    /// It does not look like one.
    Form,
    /// More than there may be of hours, minutes or seconds.
    Range,
}

/// A displacement with its sign, in seconds: `+2`, `-03:30`, `+0530`, `+05:30:36`. PostgreSQL: `DecodeTimezone`, whose
/// answer counts the other way round.
///
/// # Errors
/// What is wrong with it.
pub fn displacement(text: &str) -> std::result::Result<i32, NoDisplacement> {
    let digits = text.strip_prefix(['-', '+']).ok_or(NoDisplacement::Form)?;
    let number = |text| clock::small(text).map_err(|_| NoDisplacement::Range);
    let (mut hours, mut rest) = number(digits)?;
    let (mut minutes, mut seconds) = (0, 0);
    if let Some(behind) = rest.strip_prefix(':') {
        (minutes, rest) = number(behind)?;
        if let Some(behind) = rest.strip_prefix(':') {
            (seconds, rest) = number(behind)?;
        }
    } else if rest.is_empty() && digits.len() > 2 {
        (hours, minutes) = (hours / 100, hours % 100);
    }
    let is_clock = (0..60).contains(&minutes) && (0..60).contains(&seconds);
    if !(0..=15).contains(&hours) || !is_clock {
        return Err(NoDisplacement::Range);
    }
    if !rest.is_empty() {
        return Err(NoDisplacement::Form);
    }
    let total = (hours * 3600 + minutes * 60 + seconds) as i32;
    Ok(if text.starts_with('-') { -total } else { total })
}

/// `+02`, `-03:30`.
fn offset_text(seconds: i32) -> String {
    let mut out = Vec::new();
    write_offset(seconds, &mut out);
    String::from_utf8(out).expect("digits are ASCII")
}

/// Appends an offset as PostgreSQL shows it: `+02`, `-03:30`, `+00:19:32`.
pub fn write_offset(seconds: i32, out: &mut Vec<u8>) {
    out.push(if seconds < 0 { b'-' } else { b'+' });
    let magnitude = u64::from(seconds.unsigned_abs());
    crate::integer::write_padded(magnitude / 3600, 2, out);
    if magnitude % 3600 != 0 {
        out.push(b':');
        crate::integer::write_padded(magnitude / 60 % 60, 2, out);
        if magnitude % 60 != 0 {
            out.push(b':');
            crate::integer::write_padded(magnitude % 60, 2, out);
        }
    }
}

/// Appends an offset as XSD has it, with minutes always: `+02:00`.
pub fn write_xsd_offset(seconds: i32, out: &mut Vec<u8>) {
    write_offset(seconds, out);
    if seconds % 3600 == 0 {
        out.extend_from_slice(b":00");
    }
}

/// The abbreviations in lower case, in order.
pub fn abbreviations() -> impl Iterator<Item = (&'static str, Abbreviation)> {
    include_str!("abbreviations.tsv").lines().filter_map(|line| {
        let mut fields = line.split('\t');
        let (name, east) = (fields.next()?, fields.next()?.parse().ok()?);
        let (summer, zone) = (fields.next()? == "true", fields.next());
        Some((name, Abbreviation { east, summer, zone }))
    })
}

/// What the abbreviation of a zone stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abbreviation {
    /// Seconds east of Greenwich; now, where that has changed.
    pub east: i32,
    /// It is one of summer time.
    pub summer: bool,
    /// The zone that says what it stood for at a time.
    pub zone: Option<&'static str>,
}

impl Abbreviation {
    /// What it has stood for, where that has changed. `name` is the abbreviation.
    #[must_use]
    pub fn changing(&self, name: &str) -> Option<Zone> {
        let rules = TimeZone::get(self.zone?).ok()?;
        Some(Zone::Named(rules, name.to_ascii_uppercase().into()))
    }
}

static ABBREVIATIONS: LazyLock<HashMap<&'static str, Abbreviation>> =
    LazyLock::new(|| abbreviations().collect());

/// What a zone says at some moment.
#[derive(Debug)]
pub struct ZoneAt {
    /// The zone's name.
    pub name: String,
    /// What it calls itself then.
    pub abbreviation: String,
    /// Seconds east.
    pub offset: i32,
    /// Whether it has summer time.
    pub is_summer: bool,
}

/// All zones of the database, as they are at a moment.
#[must_use]
pub fn all_at(micros: i64) -> Vec<ZoneAt> {
    let (at, zones) = (instant(micros), jiff::tz::TimeZoneDatabase::bundled());
    let read = |name: String| {
        let zone = zones.get(&name).ok()?;
        let found = zone.to_offset_info(at);
        Some(ZoneAt {
            abbreviation: found.abbreviation().to_owned(),
            offset: found.offset().seconds(),
            is_summer: found.dst().is_dst(),
            name,
        })
    };
    zones.available().filter_map(|name| read(name.as_str().to_owned())).collect()
}

/// What an abbreviation in lower case stands for.
#[must_use]
pub fn abbreviation(name: &str) -> Option<Abbreviation> {
    ABBREVIATIONS.get(name).copied()
}

/// What `AT TIME ZONE` and the session's setting take: an abbreviation, a zone's name, or an offset in POSIX's notation.
///
/// # Errors
/// 22023.
pub fn of_user(name: &str) -> Result<Zone> {
    if let Some(found) = abbreviation(&name.to_ascii_lowercase()) {
        return Ok(found.changing(name).unwrap_or(Zone::Fixed(found.east)));
    }
    Zone::named(name).ok_or_else(|| {
        SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("time zone \"{name}\" not recognized"),
        )
    })
}

/// The zone of `make_timestamptz` (`parse_sane_timezone`): as [`of_user`], but a signed number counts hours *east*.
///
/// # Errors
/// 22023.
pub fn of_constructor(name: &str) -> Result<Zone> {
    let wrong = |message| SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(wrong(format!("invalid input syntax for type numeric time zone: \"{name}\""))
            .hint("Numeric time zones must have \"-\" or \"+\" as first character."));
    }
    match displacement(name) {
        Ok(east) => Ok(Zone::Fixed(east)),
        Err(NoDisplacement::Range) => {
            Err(wrong(format!("numeric time zone \"{name}\" out of range")))
        }
        Err(NoDisplacement::Form) => of_user(name),
    }
}

/// The zone of a session's setting, which has been checked when it was set.
#[must_use]
pub fn of_session(name: &str) -> Zone {
    Zone::named(name).unwrap_or(Zone::Fixed(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_and_folds_are_resolved_as_postgres_does() {
        let berlin = Zone::named("Europe/Berlin").expect("a zone");
        let local = |month, day, hour: i64| {
            calendar::days(2024, month, day) * DAY + hour * super::super::HOUR
        };
        // 02:30 on 2024-03-31 does not exist: +01 is kept. 02:30 on 2024-10-27 comes twice: the second, +01.
        let half = 30 * super::super::MINUTE;
        let gap = local(3, 31, 2) + half;
        assert_eq!(berlin.to_utc(gap), Some(gap - super::super::HOUR));
        let fold = local(10, 27, 2) + half;
        assert_eq!(berlin.to_utc(fold), Some(fold - super::super::HOUR));
        assert_eq!(berlin.at(local(7, 1, 0)), (7200, "CEST".to_owned()));
    }

    #[test]
    fn far_years_follow_the_same_rules() {
        let berlin = Zone::named("europe/berlin").expect("a zone, in any case");
        let summer = calendar::days(200_000, 7, 1) * DAY;
        assert_eq!(berlin.offset(summer), 7200);
        assert_eq!(berlin.offset(calendar::TIMESTAMP_MIN), 3208);
        assert!(Zone::named("Nowhere/Land").is_none());
        let kept = Zone::named("<+05:30>-05:30").expect("an offset with minutes");
        assert_eq!(kept.at(0), (19_800, "+05:30".to_owned()));
        assert_eq!(displacement("+0230"), Ok(9000));
        assert_eq!(displacement("+20"), Err(NoDisplacement::Range));
        assert_eq!(displacement("5"), Err(NoDisplacement::Form));
        assert_eq!(
            abbreviation("pst"),
            Some(Abbreviation { east: -8 * 3600, summer: false, zone: None })
        );
        // Moscow was three hours east, then four, and then three again.
        let moscow = of_user("msk").expect("an abbreviation");
        let noon = |year| calendar::days(year, 7, 1) * DAY + DAY / 2;
        assert_eq!([2009, 2012, 2020].map(|year| moscow.offset(noon(year)) / 3600), [3, 4, 3]);
    }
}
