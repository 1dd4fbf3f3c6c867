//! Statements about routines: DO.

use super::ast::{DoStatement, Statement};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::Result;

impl Parser<'_> {
    /// `DO [LANGUAGE name] body [LANGUAGE name]`.
    pub(super) fn inline_code(&mut self) -> Result<Statement> {
        self.advance();
        let (mut body, mut language) = (None, None);
        loop {
            if self.is(Keyword::Language) && language.is_none() {
                self.advance();
                language =
                    Some(if self.is_string() { self.string()? } else { self.non_reserved()? });
            } else if self.is_string() && body.is_none() {
                body = Some(self.body_text()?);
            } else {
                break;
            }
        }
        let Some((body, at)) = body else { return Err(self.error()) };
        Ok(Statement::Do(DoStatement { body, at, language }))
    }

    /// A string that is a body, and where its contents begin.
    pub(super) fn body_text(&mut self) -> Result<(super::ast::Ident, u32)> {
        let token = self.token();
        let raw = self.text_of(token);
        let quote = match token.kind {
            Kind::DollarString => raw[1..].find('$').map_or(1, |end| end + 2),
            _ => raw.find('\'').map_or(1, |start| start + 1),
        };
        Ok((self.string()?, token.start + quote as u32))
    }
}
