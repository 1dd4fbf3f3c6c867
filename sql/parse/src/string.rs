//! String constants, as the session's settings have them.

use super::ast::Ident;
use super::lexer::{Kind, Token};
use super::parser::Parser;
use super::value;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::borrow::Cow;

impl<'t> Parser<'t> {
    /// A string constant.
    pub(super) fn string(&mut self) -> Result<Ident> {
        if !self.is_string() {
            return Err(self.error());
        }
        let token = self.advance();
        Ok(self.string_value(token)?.into())
    }

    /// The value of a string token, as the session's settings have it.
    pub(super) fn string_value(&mut self, token: Token) -> Result<Cow<'t, str>> {
        let raw = self.text_of(token);
        if token.kind == Kind::UnicodeString && !self.dialect.standard_strings {
            let message = "unsafe use of string constant with Unicode escapes";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                .detail("String constants with Unicode escapes cannot be used when standard_conforming_strings is off.")
                .at(self.positions.of(token.start)));
        }
        if token.kind == Kind::EscapeString {
            if !self.dialect.backslash_quote && value::escapes_quote(raw) {
                return Err(SqlError::new(
                    SqlState::NONSTANDARD_USE_OF_ESCAPE_CHARACTER,
                    "unsafe use of \\' in a string literal",
                )
                .hint(
                    "Use '' to write quotes in strings. \\' is insecure in client-only encodings.",
                )
                .at(self.positions.of(token.start)));
            }
            if self.dialect.escape_warning && raw.starts_with('\'') {
                self.warn_of_escape(raw, token.start);
            }
        }
        value::string(&self.positions, token)
    }

    /// Warns of the first escape in a string that no letter says to have escapes (`check_string_escape_warning`).
    fn warn_of_escape(&mut self, raw: &str, at: u32) {
        let Some(escaped) = value::first_escape(raw) else { return };
        let (what, hint) = match escaped {
            b'\'' => (
                "\\'",
                "Use '' to write quotes in strings, or use the escape string syntax (E'...').",
            ),
            b'\\' => ("\\\\", "Use the escape string syntax for backslashes, e.g., E'\\\\'."),
            _ => ("escape", "Use the escape string syntax for escapes, e.g., E'\\r\\n'."),
        };
        let message = format!("nonstandard use of {what} in a string literal");
        let warning = SqlError::warning(SqlState::NONSTANDARD_USE_OF_ESCAPE_CHARACTER, message);
        self.notices.push(warning.hint(hint).at(self.positions.of(at)));
    }

    /// Whether a string constant is at hand.
    pub(super) fn is_string(&self) -> bool {
        matches!(
            self.kind(),
            Kind::String | Kind::EscapeString | Kind::UnicodeString | Kind::DollarString
        )
    }
}
