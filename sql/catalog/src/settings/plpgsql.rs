//! The settings of PL/pgSQL, which are placeholders until its library is loaded in PostgreSQL (`_PG_init` of `pl_handler.c`): here
//! they are held against their kinds from the start.

use super::value::parse_bool;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;

/// The checks that `plpgsql.extra_warnings` and `plpgsql.extra_errors` name.
const CHECKS: [&str; 3] = ["shadowed_variables", "too_many_rows", "strict_multi_assignment"];
/// What `plpgsql.variable_conflict` may be.
const CONFLICTS: [&str; 3] = ["error", "use_variable", "use_column"];

/// Holds the text for a setting of PL/pgSQL against its kind.
///
/// # Errors
/// 22023; 42602 for a setting that PL/pgSQL does not have.
pub(super) fn check(name: &str, text: &str) -> Result<()> {
    let lower = name.to_ascii_lowercase();
    let Some(own) = lower.strip_prefix("plpgsql.") else { return Ok(()) };
    let invalid = || {
        let message = format!("invalid value for parameter \"{lower}\": \"{text}\"");
        SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
    };
    match own {
        "check_asserts" | "print_strict_params" => match parse_bool(text) {
            Some(_) => Ok(()),
            None => Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("parameter \"{lower}\" requires a Boolean value"),
            )),
        },
        "variable_conflict" => match CONFLICTS.iter().any(|word| text.eq_ignore_ascii_case(word)) {
            true => Ok(()),
            false => Err(invalid().hint(format!("Available values: {}.", CONFLICTS.join(", ")))),
        },
        "extra_warnings" | "extra_errors" => {
            if text.eq_ignore_ascii_case("all") || text.eq_ignore_ascii_case("none") {
                return Ok(());
            }
            for word in text.split(',').map(|word| word.trim().to_ascii_lowercase()) {
                if word == "all" || word == "none" {
                    return Err(invalid().detail(format!(
                        "Key word \"{word}\" cannot be combined with other key words."
                    )));
                }
                if !word.is_empty() && !CHECKS.contains(&&*word) {
                    return Err(invalid().detail(format!("Unrecognized key word: \"{word}\".")));
                }
            }
            Ok(())
        }
        _ => {
            let message = format!("invalid configuration parameter name \"{name}\"");
            Err(SqlError::new(SqlState::INVALID_NAME, message)
                .detail("\"plpgsql\" is a reserved prefix."))
        }
    }
}
