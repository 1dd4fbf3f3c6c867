//! Settings that are texts with a meaning: what PostgreSQL's check hooks accept, and the form they are kept in.

use super::definition::Definition;
use super::value::invalid;
use crate::search_path::{split_identifiers, split_identifiers_at};
use jiff::tz::TimeZoneDatabase;
use sql_types::datetime::zone::Zone;
use sql_types::datetime::{SECOND, interval_read};
use sql_types::encoding::Conversion;
use sql_types::encoding::names::encoding_named;
use sql_types::error::{Result, SqlError};
use sql_types::settings::{DateOrder, DateStyle, IntervalStyle};
use sql_types::sqlstate::SqlState;
use std::sync::LazyLock;

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The text to keep for `text`.
///
/// # Errors
/// 22023; 0A000 for a client encoding that Atoll does not convert.
pub fn text(definition: &Definition, text: &str) -> Result<String> {
    match definition.name {
        "DateStyle" => {
            let (style, order) = date_style(definition, text, DateStyle::Iso, DateOrder::Mdy)?;
            Ok(date_style_text(style, order))
        }
        "TimeZone" | "log_timezone" => time_zone(definition, text),
        "client_encoding" => client_encoding(definition, text),
        "search_path" => words(definition, text).map(|_| text.to_owned()),
        "temp_tablespaces" => match words(definition, text)?
            .into_iter()
            .find(|name| !matches!(name.as_str(), "" | "pg_default" | "pg_global"))
        {
            Some(name) => Err(SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("tablespace \"{name}\" does not exist"),
            )),
            None => Ok(text.to_owned()),
        },
        "restrict_nonsystem_relation_kind" => {
            keywords(definition, text, &["view", "foreign-table"])
        }
        "wal_consistency_checking" => keywords(definition, text, RESOURCE_MANAGERS),
        // The system's locales, of which `initdb` asks for one; no text there for messages is no locale.
        "lc_messages" | "lc_monetary" | "lc_numeric" | "lc_time"
            if !matches!(text, "C" | "POSIX" | "C.UTF-8" | "C.UTF8" | "C.utf8")
                && (definition.name == "lc_messages" || !text.is_empty()) =>
        {
            Err(invalid(definition, text))
        }
        "timezone_abbreviations" if !matches!(text, "Default" | "Australia" | "India") => {
            Err(invalid(definition, text))
        }
        "default_text_search_config" => text_search(definition, text),
        "default_tablespace" if !matches!(text, "" | "pg_default") => {
            Err(invalid(definition, text).detail(format!("Tablespace \"{text}\" does not exist.")))
        }
        "default_table_access_method" if text != "heap" => Err(invalid(definition, text)
            .detail(format!("Table access method \"{text}\" does not exist."))),
        "application_name" | "cluster_name" => {
            // As PostgreSQL's clean_ascii: what is no printable ASCII becomes a question mark, and 63 bytes are kept.
            let clean = text
                .bytes()
                .map(|byte| if (32..=126).contains(&byte) { byte as char } else { '?' });
            Ok(clean.take(63).collect())
        }
        _ => Ok(text.to_owned()),
    }
}

/// Whether a setting that is on or off may have this value.
///
/// # Errors
/// 0A000 for what PostgreSQL knows and has not had since release 12.
pub fn boolean(definition: &Definition, value: bool) -> Result<()> {
    if definition.name == "default_with_oids" && value {
        let message = "tables declared WITH OIDS are not supported";
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    Ok(())
}

/// The resource managers whose records PostgreSQL can compare with its pages, and all of them.
const RESOURCE_MANAGERS: &[&str] = &[
    "all", "heap2", "heap", "btree", "hash", "gin", "gist", "sequence", "spgist", "brin", "generic",
];

/// The text search configurations that PostgreSQL delivers.
const TEXT_SEARCH: &[&str] = &[
    "simple",
    "arabic",
    "armenian",
    "basque",
    "catalan",
    "danish",
    "dutch",
    "english",
    "finnish",
    "french",
    "german",
    "greek",
    "hindi",
    "hungarian",
    "indonesian",
    "irish",
    "italian",
    "lithuanian",
    "nepali",
    "norwegian",
    "portuguese",
    "romanian",
    "russian",
    "serbian",
    "spanish",
    "swedish",
    "tamil",
    "turkish",
    "yiddish",
];

/// A list of identifiers.
fn words(definition: &Definition, text: &str) -> Result<Vec<String>> {
    split_identifiers(text)
        .ok_or_else(|| invalid(definition, text).detail("List syntax is invalid."))
}

/// A list of known words, in any case; kept as it was written.
fn keywords(definition: &Definition, text: &str, known: &[&str]) -> Result<String> {
    let unknown = words(definition, text)?
        .into_iter()
        .find(|word| !known.contains(&word.to_lowercase().as_str()));
    match unknown {
        Some(word) => {
            Err(invalid(definition, text).detail(format!("Unrecognized key word: \"{word}\".")))
        }
        None => Ok(text.to_owned()),
    }
}

/// A text search configuration's name, kept with its schema.
fn text_search(definition: &Definition, text: &str) -> Result<String> {
    let wrong_syntax = || SqlError::new(SqlState::INVALID_NAME, "invalid name syntax");
    let parts = split_identifiers_at(text, '.').ok_or_else(wrong_syntax)?;
    let name = match parts.as_slice() {
        [] => return Err(wrong_syntax()),
        [name] => name,
        [schema, name] if schema == "pg_catalog" => name,
        [_, _] => return Err(invalid(definition, text)),
        [..] => {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("improper qualified name (too many dotted names): {text}"),
            ));
        }
    };
    if !TEXT_SEARCH.contains(&name.as_str()) {
        return Err(invalid(definition, text));
    }
    Ok(format!("pg_catalog.{name}"))
}

/// DateStyle: a form and an order, in any order; what is not said stays.
///
/// # Errors
/// 22023.
pub fn date_style(
    definition: &Definition,
    text: &str,
    style: DateStyle,
    order: DateOrder,
) -> Result<(DateStyle, DateOrder)> {
    let words = words(definition, text)?;
    let (mut new_style, mut new_order) = (None, None);
    let conflicting =
        || invalid(definition, text).detail("Conflicting \"datestyle\" specifications.");
    let mut german = false;
    for word in words {
        let word = word.to_ascii_lowercase();
        let style = match word.as_str() {
            "iso" => Some(DateStyle::Iso),
            "sql" => Some(DateStyle::Sql),
            _ if word.starts_with("postgres") => Some(DateStyle::Postgres),
            "german" => Some(DateStyle::German),
            _ => None,
        };
        let order = match word.as_str() {
            "ymd" => Some(DateOrder::Ymd),
            "dmy" => Some(DateOrder::Dmy),
            "mdy" | "us" | "noneuro" | "noneuropean" => Some(DateOrder::Mdy),
            _ if word.starts_with("euro") => Some(DateOrder::Dmy),
            _ => None,
        };
        match (style, order) {
            (Some(style), _) => {
                if new_style.is_some_and(|known| known != style) {
                    return Err(conflicting());
                }
                new_style = Some(style);
                german |= style == DateStyle::German;
            }
            (None, Some(order)) => {
                if new_order.is_some_and(|known| known != order) {
                    return Err(conflicting());
                }
                new_order = Some(order);
            }
            (None, None) if word == "default" => {}
            (None, None) => {
                return Err(
                    invalid(definition, text).detail(format!("Unrecognized key word: \"{word}\"."))
                );
            }
        }
    }
    // The German form writes the day first, unless told otherwise.
    if german && new_order.is_none() {
        new_order = Some(DateOrder::Dmy);
    }
    Ok((new_style.unwrap_or(style), new_order.unwrap_or(order)))
}

/// The text of a DateStyle.
#[must_use]
pub fn date_style_text(style: DateStyle, order: DateOrder) -> String {
    let style = match style {
        DateStyle::Iso => "ISO",
        DateStyle::Sql => "SQL",
        DateStyle::Postgres => "Postgres",
        DateStyle::German => "German",
    };
    let order = match order {
        DateOrder::Mdy => "MDY",
        DateOrder::Dmy => "DMY",
        DateOrder::Ymd => "YMD",
    };
    format!("{style}, {order}")
}

/// A time zone's name as PostgreSQL shows it: that of the zone database in its own case, hours and intervals as a POSIX
/// rule.
fn time_zone(definition: &Definition, text: &str) -> Result<String> {
    let wrong = || invalid(definition, text);
    let offset = |seconds: i64| {
        // A POSIX rule has less than a week.
        if seconds.unsigned_abs() < 7 * 24 * 3600 {
            return Ok(posix_offset(seconds));
        }
        Err(wrong().detail("UTC timezone offset is out of range."))
    };
    if text.get(..8).is_some_and(|word| word.eq_ignore_ascii_case("interval")) {
        let quoted = text[8..].trim_start().strip_prefix('\'');
        let inside = quoted.and_then(|quoted| quoted.strip_suffix('\'')).ok_or_else(wrong)?;
        let interval = interval_read::read(IntervalStyle::Postgres, inside, -1)?;
        for (part, name) in [(interval.months, "months"), (interval.days, "days")] {
            if part != 0 {
                let detail = format!("Cannot specify {name} in time zone interval.");
                return Err(wrong().detail(detail));
            }
        }
        return offset(interval.micros / SECOND);
    }
    if let Ok(hours) = text.parse::<f64>() {
        // A number counts hours east of Greenwich.
        return offset(if hours.is_nan() { i64::MAX } else { (hours * 3600.0) as i64 });
    }
    let name = named_zone(text).ok_or_else(wrong)?;
    // `pg_tz_acceptable`
    if Zone::named(&name).is_some_and(|zone| zone.offset(0) % 60 != 0) {
        return Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("time zone \"{text}\" appears to use leap seconds"),
        )
        .detail("PostgreSQL does not support leap seconds."));
    }
    Ok(name)
}

/// The name of a zone as it is kept, if there is one.
fn named_zone(text: &str) -> Option<String> {
    if text.eq_ignore_ascii_case("utc") || text.eq_ignore_ascii_case("gmt") {
        return Some(text.to_ascii_uppercase());
    }
    if let Ok(zone) = ZONES.get(text) {
        return zone.iana_name().map(str::to_owned);
    }
    // A POSIX rule is shown as it was written: `-03:00`, `EST5EDT`.
    let rule = text.starts_with(['+', '-', '<']) || text.bytes().any(|byte| byte.is_ascii_digit());
    (rule && Zone::named(text).is_some()).then(|| text.to_owned())
}

/// A fixed offset, `seconds` east of Greenwich, as a POSIX rule: `<+02:30>-02:30`.
#[must_use]
pub fn posix_offset(seconds: i64) -> String {
    let part = |sign: char| {
        let (hours, rest) = (seconds.abs() / 3600, seconds.abs() % 3600);
        let mut text = format!("{sign}{hours:02}");
        if rest != 0 {
            text.push_str(&format!(":{:02}", rest / 60));
        }
        if rest % 60 != 0 {
            text.push_str(&format!(":{:02}", rest % 60));
        }
        text
    };
    let (east, west) = if seconds < 0 { ('-', '+') } else { ('+', '-') };
    format!("<{}>{}", part(east), part(west))
}

fn client_encoding(definition: &Definition, text: &str) -> Result<String> {
    match encoding_named(text) {
        Some(name @ ("UTF8" | "SQL_ASCII")) => Ok(name.to_owned()),
        Some(name) if Conversion::of(name).is_some() => Ok(name.to_owned()),
        Some(name) => {
            Err(SqlError::unsupported(format!("conversion between UTF8 and {name} for clients is")))
        }
        None => Err(invalid(definition, text)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::definition;
    use super::*;

    /// Each of these was asked of PostgreSQL 15.20.
    #[test]
    fn texts_are_kept_as_postgresql_shows_them() {
        let kept = |name: &str, value: &str| {
            text(definition(name).unwrap(), value).map_err(|error| error.fields().detail.clone())
        };
        assert_eq!(kept("datestyle", "german"), Ok("German, DMY".into()));
        assert_eq!(kept("datestyle", "dmy"), Ok("ISO, DMY".into()));
        let conflict = "Conflicting \"datestyle\" specifications.";
        assert_eq!(kept("datestyle", "iso,dmy,mdy"), Err(Some(conflict.into())));
        assert_eq!(kept("datestyle", "foo"), Err(Some("Unrecognized key word: \"foo\".".into())));
        assert_eq!(kept("timezone", "foo/bar"), Err(None));
        assert_eq!(kept("timezone", "5"), Ok("<+05>-05".into()));
        assert_eq!(kept("timezone", "5.5"), Ok("<+05:30>-05:30".into()));
        assert_eq!(kept("timezone", "<+05:30>-05:30"), Ok("<+05:30>-05:30".into()));
        assert_eq!(kept("timezone", "INTERVAL '-02:00:00'"), Ok("<-02>+02".into()));
        let days = "Cannot specify days in time zone interval.";
        assert_eq!(kept("timezone", "interval '1 day'"), Err(Some(days.into())));
        let range = "UTC timezone offset is out of range.";
        assert_eq!(kept("timezone", "168"), Err(Some(range.into())));
        assert_eq!(kept("timezone", "utc"), Ok("UTC".into()));
        assert_eq!(kept("timezone", "-03:00"), Ok("-03:00".into()));
        assert_eq!(kept("timezone", "PST8PDT"), Ok("PST8PDT".into()));
        assert_eq!(kept("timezone", "europe/berlin"), Ok("Europe/Berlin".into()));
        assert_eq!(posix_offset(9000), "<+02:30>-02:30");
        assert_eq!(kept("client_encoding", "utf-8"), Ok("UTF8".into()));
        assert_eq!(kept("client_encoding", "foo"), Err(None));
    }
}
