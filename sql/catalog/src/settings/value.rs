//! Values of settings: read under PostgreSQL's rules for units and ranges, and written as SHOW does.
//!
//! A number may have a fraction and a unit (`1.5GB`, `90s`); it is kept in the setting's base unit, and shown in the
//! largest unit that it fills exactly. The rules and messages are those of PostgreSQL's `guc.c`.

use super::check;
use super::definition::{Definition, Kind};
use sql_types::Oid;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::sync::Arc;

/// The role that a name stood for when a setting was given it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundRole {
    /// Which; zero is none.
    pub oid: Oid,
    /// Whether it was a superuser, which `is_superuser` shows. What it may do is asked of the role as it is.
    pub superuser: bool,
}

impl FoundRole {
    /// No role at all.
    pub const NONE: FoundRole = FoundRole { oid: Oid(0), superuser: false };
}

/// A value, in base units.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// bool
    Bool(bool),
    /// integer
    Integer(i64),
    /// real
    Real(f64),
    /// enum and string
    Text(Arc<str>),
    /// A role by name, and what was found by it then.
    Role(Arc<str>, FoundRole),
}

/// Units of memory: name, bytes.
const MEMORY: [(&str, f64); 5] = [
    ("TB", 1_099_511_627_776.0),
    ("GB", 1_073_741_824.0),
    ("MB", 1_048_576.0),
    ("kB", 1024.0),
    ("B", 1.0),
];

/// Units of time: name, microseconds.
const TIME: [(&str, f64); 6] = [
    ("d", 86_400_000_000.0),
    ("h", 3_600_000_000.0),
    ("min", 60_000_000.0),
    ("s", 1_000_000.0),
    ("ms", 1000.0),
    ("us", 1.0),
];

/// The units that may be written where `unit` is the base, and the base's size in the smallest of them.
fn units(unit: &str) -> Option<(&'static [(&'static str, f64)], f64)> {
    match unit {
        "B" => Some((&MEMORY, 1.0)),
        "kB" => Some((&MEMORY, 1024.0)),
        "8kB" => Some((&MEMORY, 8192.0)),
        "MB" => Some((&MEMORY, 1_048_576.0)),
        "ms" => Some((&TIME, 1000.0)),
        "s" => Some((&TIME, 1_000_000.0)),
        "min" => Some((&TIME, 60_000_000.0)),
        _ => None,
    }
}

pub(super) fn invalid(definition: &Definition, text: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        format!("invalid value for parameter \"{}\": \"{text}\"", definition.name),
    )
}

/// `on`, `off` and all of their spellings, cut short where that leaves no doubt.
#[must_use]
pub fn parse_bool(text: &str) -> Option<bool> {
    let text = text.trim().to_ascii_lowercase();
    let starts = |word: &str, least: usize| text.len() >= least && word.starts_with(&text);
    match text.as_str() {
        "1" => Some(true),
        "0" => Some(false),
        _ if starts("true", 1) || starts("yes", 1) || text == "on" => Some(true),
        _ if starts("false", 1) || starts("no", 1) || starts("off", 2) => Some(false),
        _ => None,
    }
}

/// A number with an optional unit, in base units. The error is without its parameter's name: only a hint, if any.
fn parse_number(text: &str, unit: Option<&str>) -> std::result::Result<f64, Option<&'static str>> {
    let text = text.trim();
    let end = number_end(text);
    let (digits, rest) = text.split_at(end);
    let number = if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        i64::from_str_radix(hex, 16).map_err(|_| None)? as f64
    } else if digits.len() > 1
        && digits.starts_with('0')
        && digits.bytes().all(|byte| byte.is_ascii_digit())
    {
        // As strtol reads it with base 0.
        i64::from_str_radix(digits, 8).map_err(|_| None)? as f64
    } else {
        digits.parse::<f64>().map_err(|_| None)?
    };
    if number.is_nan() {
        return Err(None);
    }
    let rest = rest.trim_start();
    if rest.is_empty() {
        return Ok(number);
    }
    let Some((units, base)) = unit.and_then(units) else { return Err(None) };
    let Some((_, size)) = units.iter().find(|entry| entry.0 == rest) else {
        return Err(Some(if units[0].0 == "TB" {
            "Valid units for this parameter are \"B\", \"kB\", \"MB\", \"GB\", and \"TB\"."
        } else {
            "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \"d\"."
        }));
    };
    let value = number * size / base;
    // A fraction of the base unit is rounded to the next smaller unit that there is (guc.c, convert_to_base_unit).
    let finer = units.iter().find(|entry| entry.1 < base).map(|entry| entry.1 / base);
    Ok(match finer {
        Some(step) if value.fract() != 0.0 => (value / step).round() * step,
        _ => value,
    })
}

/// Where the number at the start of `text` ends.
fn number_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = usize::from(text.starts_with(['+', '-']));
    if text[at..].starts_with("0x") || text[at..].starts_with("0X") {
        at += 2;
        while bytes.get(at).is_some_and(u8::is_ascii_hexdigit) {
            at += 1;
        }
        return at;
    }
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    at = digits(at);
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let end = digits(at + 1 + sign);
        if end > at + 1 + sign {
            at = end;
        }
    }
    at
}

/// `%g` with six digits.
#[must_use]
pub fn general(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.5e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| -> String {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-5..6).contains(&exponent) {
        trim(&format!("{value:.*}", (5 - exponent).max(0) as usize))
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    }
}

fn outside(definition: &Definition, value: &str, low: &str, high: &str) -> SqlError {
    let unit = definition.unit.filter(|unit| units(unit).is_some());
    let shown = unit.map_or_else(|| value.to_owned(), |unit| format!("{value} {unit}"));
    SqlError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        format!(
            "{shown} is outside the valid range for parameter \"{}\" ({low} .. {high})",
            definition.name
        ),
    )
}

/// An enum's value: one of those listed, or another spelling of one.
fn parse_enum(values: &[&'static str], text: &str) -> Option<&'static str> {
    let listed = |wanted: &str| values.iter().find(|value| value.eq_ignore_ascii_case(wanted));
    if let Some(value) = listed(text) {
        return Some(value);
    }
    let other = match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => "on",
        "false" | "no" | "0" => "off",
        "debug" => "debug2",
        "info" if values.contains(&"notice") => return Some("info"),
        _ => return None,
    };
    listed(other).copied()
}

/// Reads a value as SET, a file or the command line has it.
///
/// # Errors
/// 22023 with PostgreSQL's words; 0A000 for a client encoding that Atoll does not convert.
pub fn parse(definition: &Definition, text: &str) -> Result<Value> {
    match &definition.kind {
        Kind::Bool => {
            let value = parse_bool(text).ok_or_else(|| {
                SqlError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    format!("parameter \"{}\" requires a Boolean value", definition.name),
                )
            })?;
            check::boolean(definition, value)?;
            Ok(Value::Bool(value))
        }
        Kind::Integer(low, high) => {
            let value = parse_number(text, definition.unit).map_err(|hint| match hint {
                Some(hint) => invalid(definition, text).hint(hint),
                None => invalid(definition, text),
            })?;
            let value = value.round_ties_even();
            if value.abs() > f64::from(i32::MAX) + 1.0 {
                return Err(invalid(definition, text).hint("Value exceeds integer range."));
            }
            let value = value as i64;
            if value < *low || value > *high {
                let bounds = (low.to_string(), high.to_string());
                return Err(outside(definition, &value.to_string(), &bounds.0, &bounds.1));
            }
            Ok(Value::Integer(value))
        }
        Kind::Real(low, high) => {
            let value = parse_number(text, definition.unit).map_err(|hint| match hint {
                Some(hint) => invalid(definition, text).hint(hint),
                None => invalid(definition, text),
            })?;
            if value < *low || value > *high {
                let bounds = (general(*low), general(*high));
                return Err(outside(definition, &general(value), &bounds.0, &bounds.1));
            }
            Ok(Value::Real(value))
        }
        Kind::Enum(values) => {
            let value = parse_enum(values, text).ok_or_else(|| {
                invalid(definition, text).hint(format!("Available values: {}.", values.join(", ")))
            })?;
            Ok(Value::Text(value.into()))
        }
        Kind::Text => Ok(Value::Text(check::text(definition, text)?.into())),
    }
}

/// The value as SHOW prints it, a unit behind it.
#[must_use]
pub fn show(definition: &Definition, value: &Value) -> String {
    match value {
        Value::Bool(value) => if *value { "on" } else { "off" }.to_owned(),
        Value::Text(text) | Value::Role(text, _) => text.to_string(),
        Value::Integer(value) => {
            if matches!(
                definition.name,
                "log_file_mode" | "unix_socket_permissions" | "data_directory_mode"
            ) {
                return format!("{value:04o}");
            }
            // PostgreSQL asks the socket for these, and says what that says.
            if definition.name.starts_with("tcp_") {
                return value.to_string();
            }
            match definition.unit.and_then(units) {
                Some((units, base)) if *value > 0 => {
                    let total = *value as f64 * base;
                    let (name, size) = units
                        .iter()
                        .find(|(_, size)| (total / size).fract() == 0.0)
                        .expect("the smallest unit always fits");
                    format!("{}{name}", total / size)
                }
                _ => value.to_string(),
            }
        }
        Value::Real(value) => match definition.unit.and_then(units) {
            Some((units, base)) if *value > 0.0 => {
                let total = value * base;
                let whole = units.iter().find(|(_, size)| {
                    let count = total / size;
                    count >= 1.0 && (count - count.round()).abs() < 1e-8 * count
                });
                let (name, size) = whole.unwrap_or(&units[units.len() - 1]);
                format!("{}{name}", general(total / size))
            }
            _ => general(*value),
        },
    }
}

/// The value as `pg_settings.setting` has it: in base units, without a unit.
#[must_use]
pub fn raw(definition: &Definition, value: &Value) -> String {
    match value {
        Value::Integer(number) if definition.unit.is_some() => number.to_string(),
        Value::Real(number) => general(*number),
        Value::Bool(_) | Value::Integer(_) | Value::Text(_) | Value::Role(..) => {
            show(definition, value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::definition;
    use super::*;

    fn round_trip(name: &str, text: &str) -> String {
        let definition = definition(name).unwrap();
        match parse(definition, text) {
            Ok(value) => show(definition, &value),
            Err(error) => {
                let fields = error.fields();
                let hint = fields.hint.as_deref().map(|hint| format!(" / {hint}"));
                format!("{}{}", fields.message, hint.unwrap_or_default())
            }
        }
    }

    /// Each of these was asked of PostgreSQL 15.20.
    #[test]
    fn values_are_read_and_shown_as_postgresql_does() {
        for (name, text, shown) in [
            ("work_mem", "abc", "invalid value for parameter \"work_mem\": \"abc\""),
            (
                "work_mem",
                "1XB",
                "invalid value for parameter \"work_mem\": \"1XB\" / Valid units for this parameter are \"B\", \"kB\", \
                 \"MB\", \"GB\", and \"TB\".",
            ),
            (
                "work_mem",
                "1kB",
                "1 kB is outside the valid range for parameter \"work_mem\" (64 .. 2147483647)",
            ),
            (
                "work_mem",
                "99999999999GB",
                "invalid value for parameter \"work_mem\": \"99999999999GB\" / Value exceeds integer range.",
            ),
            ("work_mem", "1.5MB", "1536kB"),
            ("work_mem", "1025", "1025kB"),
            ("seq_page_cost", "x", "invalid value for parameter \"seq_page_cost\": \"x\""),
            (
                "seq_page_cost",
                "-1",
                "-1 is outside the valid range for parameter \"seq_page_cost\" (0 .. 1.79769e+308)",
            ),
            ("seq_page_cost", "1.25", "1.25"),
            ("statement_timeout", "1.5min", "90s"),
            ("statement_timeout", "5us", "0"),
            (
                "statement_timeout",
                "-1",
                "-1 ms is outside the valid range for parameter \"statement_timeout\" (0 .. 2147483647)",
            ),
            ("geqo", "maybe", "parameter \"geqo\" requires a Boolean value"),
            ("geqo", "1", "on"),
            ("enable_seqscan", "of", "off"),
            ("enable_seqscan", "o", "parameter \"enable_seqscan\" requires a Boolean value"),
            (
                "bytea_output",
                "on",
                "invalid value for parameter \"bytea_output\": \"on\" / Available values: escape, hex.",
            ),
            ("vacuum_cost_delay", "1.5ms", "1500us"),
            ("vacuum_cost_delay", "500us", "500us"),
            ("cursor_tuple_fraction", "0.1234567", "0.123457"),
            ("synchronous_commit", "true", "on"),
            ("client_min_messages", "info", "info"),
            ("client_min_messages", "debug", "debug2"),
            ("log_file_mode", "0600", "0600"),
            (
                "random_page_cost",
                "1kB",
                "invalid value for parameter \"random_page_cost\": \"1kB\"",
            ),
            ("checkpoint_timeout", "300", "5min"),
            ("shared_buffers", "16384", "128MB"),
            ("log_min_duration_statement", "-1", "-1"),
        ] {
            assert_eq!(round_trip(name, text), shown, "{name} = {text}");
        }
    }

    #[test]
    fn every_first_value_is_valid() {
        for definition in super::super::definition::definitions() {
            assert!(parse(definition, definition.boot).is_ok(), "{}", definition.name);
        }
    }
}
