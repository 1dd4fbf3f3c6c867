//! COPY.

use super::ast::{Copy, CopySubject, CopyTarget, OptionValue, Statement, Value};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use super::utility::option;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;

impl Parser<'_> {
    /// COPY.
    pub(super) fn copy(&mut self) -> Result<Statement> {
        self.expect(Keyword::Copy)?;
        let mut options = Vec::new();
        let at = self.here();
        if self.accept(Keyword::Binary) {
            options.push(option("format", Some(Value::Word("binary".into())), at));
        }
        let subject = if self.accept_symbol(b'(') {
            let place = self.token();
            let creates = self.is(Keyword::Create);
            let statement = self.nested(Parser::statement)?;
            // SELECT INTO makes a table, which is refused when it runs.
            let selects_into = matches!(statement, Statement::CreateTableAs(_)) && !creates;
            if !selects_into && !statement.is_planned() {
                return Err(self.error_at(place));
            }
            self.expect_symbol(b')')?;
            CopySubject::Query(statement)
        } else {
            let table = self.relation_name()?;
            let columns =
                if self.is_symbol(b'(') { self.in_parentheses(Parser::name)? } else { Vec::new() };
            CopySubject::Table(table, columns)
        };
        let queried = matches!(subject, CopySubject::Query(_));
        let from = !queried && self.accept(Keyword::From);
        if !from {
            self.expect(Keyword::To)?;
        }
        let target = if self.accept(Keyword::Program) {
            CopyTarget::Program(self.string()?)
        } else if self.accept(Keyword::Stdin) || self.accept(Keyword::Stdout) {
            CopyTarget::Client
        } else {
            CopyTarget::File(self.string()?)
        };
        let at = self.here();
        let using = self.accept(Keyword::Using);
        if using || self.is(Keyword::Delimiters) {
            self.expect(Keyword::Delimiters)?;
            options.push(option("delimiter", Some(Value::String(self.string()?)), at));
        }
        self.accept(Keyword::With);
        if self.is_symbol(b'(') {
            options.extend(self.option_list()?);
        } else {
            self.old_copy_options(&mut options)?;
        }
        let at = self.here();
        let filter =
            if !queried && self.accept(Keyword::Where) { Some(self.expr()?) } else { None };
        if filter.is_some() && !from {
            let message = "WHERE clause not allowed with COPY TO";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.position(at)));
        }
        Ok(Statement::Copy(Box::new(Copy { subject, from, target, options, filter })))
    }

    /// COPY's options without parentheses.
    fn old_copy_options(&mut self, options: &mut Vec<OptionValue>) -> Result<()> {
        loop {
            let at = self.here();
            let Kind::Keyword(keyword) = self.kind() else { return Ok(()) };
            let word = |text: &str| Some(Value::Word(text.into()));
            let (name, value) = match keyword {
                Keyword::Binary => ("format", word("binary")),
                Keyword::Csv => ("format", word("csv")),
                Keyword::Freeze => ("freeze", word("true")),
                Keyword::Header => ("header", word("true")),
                Keyword::Delimiter
                | Keyword::Null
                | Keyword::Quote
                | Keyword::Escape
                | Keyword::Encoding => {
                    self.advance();
                    if keyword != Keyword::Encoding {
                        self.accept(Keyword::As);
                    }
                    let value = Some(Value::String(self.string()?));
                    options.push(option(keyword.word(), value, at));
                    continue;
                }
                Keyword::Force => {
                    self.advance();
                    let name = if self.accept(Keyword::Quote) {
                        "force_quote"
                    } else if self.accept_all(&[Keyword::Not, Keyword::Null]) {
                        "force_not_null"
                    } else {
                        self.expect(Keyword::Null)?;
                        "force_null"
                    };
                    let value = if name == "force_quote" && self.accept_symbol(b'*') {
                        Value::Star
                    } else {
                        Value::List(self.list(Parser::name)?)
                    };
                    options.push(option(name, Some(value), at));
                    continue;
                }
                _ => return Ok(()),
            };
            self.advance();
            options.push(option(name, value, at));
        }
    }
}
