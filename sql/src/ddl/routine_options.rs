//! What the options of CREATE and ALTER FUNCTION and PROCEDURE say (`compute_function_attributes`).

use super::Ddl;
use crate::catalog::builtin;
use crate::catalog::routine::{self, PLPGSQL, SQL};
use crate::error::{Result, SqlError};
use crate::parse::ast::{ObjectName, RoutineOption, SettingChange, StandardBody};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;

/// `internal`, which only built-in functions have.
pub(super) const INTERNAL: u32 = 2281;

/// What the options of CREATE and ALTER say.
#[derive(Default)]
pub(super) struct Options {
    pub(super) language: Option<u32>,
    pub(super) volatility: Option<u8>,
    pub(super) strict: Option<bool>,
    pub(super) security_definer: Option<bool>,
    pub(super) leakproof: Option<bool>,
    pub(super) parallel: Option<u8>,
    pub(super) cost: Option<f64>,
    pub(super) rows: Option<f64>,
    /// By SET and RESET, in their order.
    pub(super) settings: Vec<SettingChange>,
    pub(super) support: Option<Oid>,
    pub(super) body: Option<Arc<str>>,
    pub(super) standard: Option<StandardBody>,
}

impl Options {
    /// What they are, each with its place in the statement.
    ///
    /// # Errors
    /// 42P13, 42601, 22023, 42704, 42883, 42P17; 0A000.
    pub(super) fn of(
        ddl: &Ddl<'_>,
        options: &[(RoutineOption, u32)],
        procedure: bool,
    ) -> Result<Options> {
        let mut all = Options::default();
        for (option, at) in options {
            let position = || ddl.semantics.position(*at);
            let of_function = matches!(
                option,
                RoutineOption::Volatility(_)
                    | RoutineOption::Strict(_)
                    | RoutineOption::Leakproof(_)
                    | RoutineOption::Parallel(_)
                    | RoutineOption::Cost(_)
                    | RoutineOption::Rows(_)
                    | RoutineOption::Support(_)
                    | RoutineOption::Window
            );
            if procedure && of_function {
                let message = "invalid attribute in procedure definition";
                let invalid = SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message);
                return Err(invalid.at(position()));
            }
            let again = match option {
                RoutineOption::Language(name) => all.language.replace(language(name)?).is_some(),
                RoutineOption::Volatility(letter) => all.volatility.replace(*letter).is_some(),
                RoutineOption::Strict(strict) => all.strict.replace(*strict).is_some(),
                RoutineOption::SecurityDefiner(is) => all.security_definer.replace(*is).is_some(),
                RoutineOption::Leakproof(is) => all.leakproof.replace(*is).is_some(),
                RoutineOption::Parallel(word) => {
                    let letter = match &**word {
                        "safe" => b's',
                        "restricted" => b'r',
                        "unsafe" => b'u',
                        _ => {
                            return Err(SqlError::new(
                                SqlState::SYNTAX_ERROR,
                                "parameter \"parallel\" must be SAFE, RESTRICTED, or UNSAFE",
                            ));
                        }
                    };
                    all.parallel.replace(letter).is_some()
                }
                RoutineOption::Cost(text) => {
                    let cost = text.parse().unwrap_or(0.0);
                    if cost <= 0.0 {
                        let message = "COST must be positive";
                        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
                    }
                    all.cost.replace(cost).is_some()
                }
                RoutineOption::Rows(text) => {
                    let rows = text.parse().unwrap_or(0.0);
                    if rows <= 0.0 {
                        let message = "ROWS must be positive";
                        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
                    }
                    all.rows.replace(rows).is_some()
                }
                RoutineOption::Setting(change) => {
                    all.settings.push(change.clone());
                    false
                }
                RoutineOption::Support(name) => all.support.replace(support(name)?).is_some(),
                RoutineOption::Window => {
                    let what = "a window function made by CREATE is";
                    return Err(SqlError::unsupported(what).at(position()));
                }
                RoutineOption::Body(body, _) => all.body.replace(Arc::clone(body)).is_some(),
                RoutineOption::Standard(body) => all.standard.replace(body.clone()).is_some(),
            };
            if again {
                let message = "conflicting or redundant options";
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(position()));
            }
        }
        Ok(all)
    }
}

/// A support function by name: one of those that are built in.
fn support(name: &ObjectName) -> Result<Oid> {
    let built_in = name.schema().is_none_or(|schema| &**schema == "pg_catalog");
    let mut named = builtin::functions_named(name.name()).iter().filter(|_| built_in);
    let Some(found) = named.find(|found| *found.arguments == [INTERNAL]) else {
        return Err(SqlError::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("function {name}(internal) does not exist"),
        ));
    };
    if found.result != INTERNAL {
        return Err(SqlError::new(
            SqlState::INVALID_OBJECT_DEFINITION,
            format!("support function {name} must return type internal"),
        ));
    }
    Ok(Oid(found.oid))
}

/// A language by name.
fn language(name: &str) -> Result<u32> {
    match name.to_ascii_lowercase().as_str() {
        "sql" => Ok(SQL),
        "plpgsql" => Ok(PLPGSQL),
        "internal" => Ok(routine::INTERNAL),
        "c" => Err(SqlError::unsupported("a function in the language c is")),
        _ => Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("language \"{name}\" does not exist"),
        )),
    }
}
