//! What a column's definition says that only the catalog tells: COMPRESSION, SET STORAGE, SET STATISTICS, SET (n_distinct).
//!
//! Long values are stored one way here, and ANALYZE looks at what it needs; the words are checked, kept and shown, so that
//! what a dump says of a column is still there in the next dump.

use super::Ddl;
use super::options;
use super::resolve::changeable_column;
use crate::catalog::builtin;
use crate::catalog::relation::{Properties, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Ident, StorageOption, Value};
use crate::sqlstate::SqlState;
use crate::types::SqlType;

/// The highest target of SET STATISTICS.
const STATISTICS_MAX: i32 = 10_000;

fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

impl Ddl<'_> {
    /// What COMPRESSION asks for, none for the default: a method that there is, of a type with long values.
    ///
    /// # Errors
    /// 0A000, 22023.
    pub(super) fn compression(
        &mut self,
        method: Option<&str>,
        ty: SqlType,
    ) -> Result<Option<char>> {
        let Some(method) = method.filter(|method| *method != "default") else { return Ok(None) };
        if !self.has_long_values(ty) {
            let shown = self.plain_type_shown(ty);
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("column data type {shown} does not support compression"),
            ));
        }
        match method {
            "pglz" => Ok(Some('p')),
            "lz4" => Ok(Some('l')),
            _ => Err(invalid(format!("invalid compression method \"{method}\""))),
        }
    }

    fn has_long_values(&mut self, ty: SqlType) -> bool {
        let base = self.snapshot().base_type(ty).oid.0;
        builtin::type_by_oid(base).is_none_or(|found| found.storage != 'p')
            && !builtin::is_enum(base)
    }

    /// ALTER COLUMN ... SET STATISTICS, SET STORAGE, SET COMPRESSION.
    ///
    /// # Errors
    /// 42703, 0A000, 22023.
    pub(super) fn set_column_property(
        &mut self,
        relation: &Relation,
        name: &Ident,
        (property, value): (&Ident, &Value),
    ) -> Result<()> {
        let text = value.text().map_or("", |text| &**text);
        match &**property {
            "statistics" => {
                let target = self.statistics_target(value)?;
                self.change_properties(relation, name, |properties| properties.statistics = target)
            }
            "storage" => {
                let storage = match text.to_ascii_lowercase().as_str() {
                    "plain" => 'p',
                    "external" => 'e',
                    "extended" => 'x',
                    "main" => 'm',
                    _ => return Err(invalid(format!("invalid storage type \"{text}\""))),
                };
                let ty = relation.columns[changeable_column(relation, name)?].ty;
                if storage != 'p' && !self.has_long_values(ty) {
                    let shown = self.plain_type_shown(ty);
                    return Err(SqlError::new(
                        SqlState::FEATURE_NOT_SUPPORTED,
                        format!("column data type {shown} can only have storage PLAIN"),
                    ));
                }
                self.change_properties(relation, name, |properties| {
                    properties.storage = Some(storage);
                })
            }
            _ => {
                let ty = relation.columns[changeable_column(relation, name)?].ty;
                let method = self.compression(Some(text), ty)?;
                self.change_properties(relation, name, |properties| {
                    properties.compression = method;
                })
            }
        }
    }

    /// What SET STATISTICS asks for, none for the default.
    ///
    /// # Errors
    /// 22023.
    pub(super) fn statistics_target(&mut self, value: &Value) -> Result<Option<i32>> {
        let text = value.text().map_or("", |text| &**text);
        let target: i32 = text.parse().map_err(|_| {
            SqlError::new(SqlState::SYNTAX_ERROR, "a statistics target is an integer")
        })?;
        if target < -1 {
            return Err(invalid(format!("statistics target {target} is too low")));
        }
        if target > STATISTICS_MAX {
            let message = format!("lowering statistics target to {STATISTICS_MAX}");
            let state = SqlState::INVALID_PARAMETER_VALUE;
            self.notices.push(SqlError::warning(state, message));
        }
        Ok((target >= 0).then_some(target.min(STATISTICS_MAX)))
    }

    /// ALTER COLUMN ... SET (...), RESET (...).
    ///
    /// # Errors
    /// 42703, 0A000, 22023.
    pub(super) fn set_column_options(
        &mut self,
        relation: &Relation,
        name: &Ident,
        (given, reset): (&[StorageOption], bool),
    ) -> Result<()> {
        changeable_column(relation, name)?;
        let given = if reset {
            given.iter().map(|option| (option.name.to_string(), None)).collect()
        } else {
            let checked = options::of_column(given)?.into_iter();
            checked.map(|(name, value)| (name, Some(value))).collect::<Vec<_>>()
        };
        self.change_properties(relation, name, |properties| {
            for (name, value) in given {
                properties.options.retain(|known| known.0 != name);
                properties.options.extend(value.map(|value| (name, value)));
            }
        })
    }

    fn change_properties(
        &mut self,
        relation: &Relation,
        name: &Ident,
        change: impl FnOnce(&mut Properties),
    ) -> Result<()> {
        let at = changeable_column(relation, name)?;
        let mut next = Relation::clone(relation);
        change(&mut next.columns[at].properties);
        self.catalog.put_relation(self.transaction, next)
    }
}
