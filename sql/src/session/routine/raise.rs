//! RAISE and ASSERT (manual, section 43.9), GET DIAGNOSTICS.

use super::Execution;
use crate::error::{Result, Severity, SqlError};
use crate::plpgsql::condition;
use crate::plpgsql::tree::{Level, Place, Raise, RaiseOption, Sql};
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{Datum, SqlType, oids};
use std::sync::Arc;

impl Execution<'_> {
    pub(super) fn raise(&mut self, raise: &Raise) -> Result<()> {
        if raise.again {
            return Err(match self.handled.last() {
                Some(error) => error.clone(),
                None => SqlError::new(
                    SqlState::STACKED_DIAGNOSTICS_ACCESSED_WITHOUT_ACTIVE_HANDLER,
                    "RAISE without parameters cannot be used outside an exception handler",
                ),
            });
        }
        let mut state = raise.condition.as_ref().map(|(_, state)| *state);
        let mut message = raise.condition.as_ref().map(|(name, _)| name.to_string());
        let named = message.is_some();
        if let Some(format) = &raise.format {
            message = Some(self.formatted(format, &raise.values)?);
        }
        let mut options: Vec<(RaiseOption, String)> = Vec::new();
        for (option, value) in &raise.options {
            let value = self.text_value(value)?.ok_or_else(|| {
                SqlError::new(
                    SqlState::NULL_VALUE_NOT_ALLOWED,
                    "RAISE statement option cannot be null",
                )
            })?;
            let given = options.iter().any(|(known, _)| known == option)
                || *option == RaiseOption::Message && raise.format.is_some()
                || *option == RaiseOption::Errcode && named;
            if given {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("RAISE option already specified: {}", option.word()),
                ));
            }
            if *option == RaiseOption::Errcode {
                state = Some(match condition::states(&value).next() {
                    Some(state) => state,
                    None => condition::state(&value).ok_or_else(|| {
                        SqlError::new(
                            SqlState::UNDEFINED_OBJECT,
                            format!("unrecognized exception condition \"{value}\""),
                        )
                    })?,
                });
                if message.is_none() {
                    message = Some(value.clone());
                }
            }
            options.push((*option, value));
        }
        let severity = match raise.level {
            Level::Exception => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Notice => Severity::Notice,
            Level::Info => Severity::Info,
            Level::Log => Severity::Log,
            Level::Debug => Severity::Debug,
        };
        let state = match (state, raise.level) {
            (Some(state), _) => SqlState::new(state),
            (None, Level::Exception) => SqlState::RAISE_EXCEPTION,
            (None, Level::Warning) => SqlState::WARNING,
            (None, _) => SqlState::SUCCESSFUL_COMPLETION,
        };
        let option = |wanted| {
            options.iter().find(|(option, _)| *option == wanted).map(|(_, value)| value.clone())
        };
        let message = option(RaiseOption::Message).or(message);
        let message = message.unwrap_or_else(|| state.code().to_owned());
        let mut error = SqlError::new(state, message)
            .severity(severity)
            .maybe_detail(option(RaiseOption::Detail));
        if let Some(hint) = option(RaiseOption::Hint) {
            error = error.hint(hint);
        }
        let about = [RaiseOption::Schema, RaiseOption::Table, RaiseOption::Column].map(option);
        error = error.about(about, option(RaiseOption::Datatype), option(RaiseOption::Constraint));
        if raise.level == Level::Exception {
            return Err(error);
        }
        let context = self.session.context_text();
        self.session.notices.get_mut().push(error.context(context));
        self.session.speak();
        Ok(())
    }

    /// A format with values in its places.
    fn formatted(&mut self, format: &str, values: &[Sql]) -> Result<String> {
        let mut out = String::with_capacity(format.len());
        let mut values = values.iter();
        let mut characters = format.chars().peekable();
        while let Some(character) = characters.next() {
            if character != '%' {
                out.push(character);
            } else if characters.peek() == Some(&'%') {
                characters.next();
                out.push('%');
            } else if let Some(value) = values.next() {
                out.push_str(self.text_value(value)?.as_deref().unwrap_or("<NULL>"));
            }
        }
        Ok(out)
    }

    pub(super) fn assert(&mut self, condition: &Sql, message: Option<&Sql>) -> Result<()> {
        if !self.session.is_on("plpgsql.check_asserts", true) || self.holds(condition)? {
            return Ok(());
        }
        let message = match message {
            Some(message) => self.text_value(message)?,
            None => None,
        };
        let message = message.unwrap_or_else(|| "assertion failed".to_owned());
        Err(SqlError::new(SqlState::ASSERT_FAILURE, message))
    }

    pub(super) fn diagnostics(&mut self, stacked: bool, items: &[(Place, Arc<str>)]) -> Result<()> {
        if stacked && self.handled.is_empty() {
            return Err(SqlError::new(
                SqlState::STACKED_DIAGNOSTICS_ACCESSED_WITHOUT_ACTIVE_HANDLER,
                "GET STACKED DIAGNOSTICS cannot be used outside an exception handler",
            ));
        }
        let mut value = RowBuf::new();
        for (place, item) in items {
            value.clear();
            let ty = if &**item == "row_count" {
                value.push(Datum::Int8(self.row_count as i64));
                oids::INT8
            } else {
                let error = self.handled.last().map(SqlError::fields);
                let of = |field: fn(&crate::error::Fields) -> Option<&String>| {
                    error.and_then(field).cloned().unwrap_or_default()
                };
                let text = match &**item {
                    "returned_sqlstate" => {
                        error.map_or(String::new(), |error| error.state.code().to_owned())
                    }
                    "message_text" => of(|error| Some(&error.message)),
                    "pg_exception_detail" => of(|error| error.detail.as_ref()),
                    "pg_exception_hint" => of(|error| error.hint.as_ref()),
                    "pg_exception_context" => of(|error| error.context.as_ref()),
                    "column_name" => of(|error| error.column.as_ref()),
                    "constraint_name" => of(|error| error.constraint.as_ref()),
                    "pg_datatype_name" => of(|error| error.data_type.as_ref()),
                    "table_name" => of(|error| error.table.as_ref()),
                    "schema_name" => of(|error| error.schema.as_ref()),
                    _ => self.session.context_text(),
                };
                value.push(Datum::Text(&text));
                oids::TEXT
            };
            self.put_at(place, &mut value, SqlType::plain(ty))?;
        }
        Ok(())
    }
}
