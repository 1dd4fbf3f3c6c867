//! Storage parameters: `WITH (fillfactor = 90)`, checked as PostgreSQL checks them.

use crate::error::{Result, SqlError};
use crate::parse::ast::StorageOption;
use crate::settings::value::parse_bool;
use crate::sqlstate::SqlState;

/// What a parameter's value may be.
enum Range {
    Integer(i64, i64),
    Real(f64, f64),
    Bool,
    /// A boolean, or `auto`.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
}

/// Parameters of views.
fn view_parameter(name: &str) -> Option<Range> {
    Some(match name {
        "check_option" => Range::Word(&["local", "cascaded"]),
        "security_barrier" | "security_invoker" => Range::Bool,
        _ => return None,
    })
}

/// Parameters of tables (also under `toast.`).
fn table_parameter(name: &str) -> Option<Range> {
    Some(match name {
        "fillfactor" => Range::Integer(10, 100),
        "toast_tuple_target" => Range::Integer(128, 8160),
        "parallel_workers" => Range::Integer(0, 1024),
        "autovacuum_enabled" | "user_catalog_table" | "vacuum_truncate" => Range::Bool,
        "vacuum_index_cleanup" => Range::Switch,
        "autovacuum_vacuum_threshold" | "autovacuum_analyze_threshold" => {
            Range::Integer(0, 2_147_483_647)
        }
        "autovacuum_vacuum_insert_threshold" => Range::Integer(-1, 2_147_483_647),
        "autovacuum_vacuum_scale_factor"
        | "autovacuum_vacuum_insert_scale_factor"
        | "autovacuum_analyze_scale_factor" => Range::Real(0.0, 100.0),
        "autovacuum_vacuum_cost_delay" => Range::Real(0.0, 100.0),
        "autovacuum_vacuum_cost_limit" => Range::Integer(1, 10_000),
        "autovacuum_freeze_min_age" | "autovacuum_multixact_freeze_min_age" => {
            Range::Integer(0, 1_000_000_000)
        }
        "autovacuum_freeze_max_age" | "autovacuum_multixact_freeze_max_age" => {
            Range::Integer(10_000, 2_000_000_000)
        }
        "autovacuum_freeze_table_age" | "autovacuum_multixact_freeze_table_age" => {
            Range::Integer(0, 2_000_000_000)
        }
        "log_autovacuum_min_duration" => Range::Integer(-1, 2_147_483_647),
        _ => return None,
    })
}

/// Parameters of columns.
fn column_parameter(name: &str) -> Option<Range> {
    matches!(name, "n_distinct" | "n_distinct_inherited").then_some(Range::Real(-1.0, f64::MAX))
}

/// Parameters of B-tree indexes.
fn index_parameter(name: &str) -> Option<Range> {
    Some(match name {
        "fillfactor" => Range::Integer(10, 100),
        "deduplicate_items" => Range::Bool,
        _ => return None,
    })
}

/// The text of an option's value; none is `true`.
fn text(option: &StorageOption) -> String {
    match &option.value {
        None => "true".to_owned(),
        Some(value) => value.text().map_or_else(String::new, |text| text.to_string()),
    }
}

/// The parameters of a table, as `reloptions` keeps them.
///
/// # Errors
/// 22023.
pub fn of_table(options: &[StorageOption]) -> Result<Vec<(String, String)>> {
    check(options, |name| table_parameter(name.strip_prefix("toast.").unwrap_or(name)))
}

/// The parameters of a column.
///
/// # Errors
/// 22023.
pub fn of_column(options: &[StorageOption]) -> Result<Vec<(String, String)>> {
    check(options, column_parameter)
}

/// The parameters of an index.
///
/// # Errors
/// 22023.
pub fn of_index(options: &[StorageOption]) -> Result<Vec<(String, String)>> {
    check(options, index_parameter)
}

/// The parameters of a view.
///
/// # Errors
/// 22023.
pub fn of_view(options: &[StorageOption]) -> Result<Vec<(String, String)>> {
    check(options, view_parameter)
}

fn check(
    options: &[StorageOption],
    parameter: impl Fn(&str) -> Option<Range>,
) -> Result<Vec<(String, String)>> {
    let mut kept: Vec<(String, String)> = Vec::new();
    for option in options {
        let name = &*option.name;
        if name == "oids" {
            if parse_bool(&text(option)) == Some(false) {
                continue;
            }
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "tables declared WITH OIDS are not supported",
            ));
        }
        let Some(range) = parameter(name) else {
            let message = match name.split_once('.') {
                None => format!("unrecognized parameter \"{name}\""),
                Some(("toast", name)) => format!("unrecognized parameter \"{name}\""),
                Some((space, _)) => format!("unrecognized parameter namespace \"{space}\""),
            };
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        };
        if kept.iter().any(|(known, _)| known == name) {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("parameter \"{name}\" specified more than once"),
            ));
        }
        let value = text(option);
        in_range(name, &value, &range)?;
        kept.push((name.to_owned(), value));
    }
    Ok(kept)
}

fn in_range(name: &str, value: &str, range: &Range) -> Result<()> {
    let invalid = |kind: &str| {
        SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("invalid value for {kind} option \"{name}\": {value}"),
        )
    };
    let bounds = |low: String, high: String| {
        SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("value {value} out of bounds for option \"{name}\""),
        )
        .detail(format!("Valid values are between \"{low}\" and \"{high}\"."))
    };
    match range {
        Range::Bool => {
            parse_bool(value).ok_or_else(|| invalid("boolean"))?;
        }
        Range::Switch => {
            if !value.eq_ignore_ascii_case("auto") && parse_bool(value).is_none() {
                let values = "Valid values are \"on\", \"off\", and \"auto\".";
                return Err(invalid("enum").detail(values));
            }
        }
        Range::Word(words) => {
            if !words.iter().any(|word| value.eq_ignore_ascii_case(word)) {
                let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                return Err(
                    invalid("enum").detail(format!("Valid values are {}.", quoted.join(" and ")))
                );
            }
        }
        Range::Integer(low, high) => {
            let number: i64 = value.parse().map_err(|_| invalid("integer"))?;
            if number < *low || number > *high {
                return Err(bounds(low.to_string(), high.to_string()));
            }
        }
        Range::Real(low, high) => {
            let number: f64 = value.parse().map_err(|_| invalid("floating point"))?;
            if number < *low || number > *high {
                return Err(bounds(format!("{low:.6}"), format!("{high:.6}")));
            }
        }
    }
    Ok(())
}
