//! Statements about statements and about the session: EXPLAIN, PREPARE, DISCARD, NOTIFY; and the options that many have.

use super::ast::{
    Discard, Execute, Explain, OptionValue, Prepare, Statement, TransactionStatement, Value,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::Result;

impl Parser<'_> {
    /// EXPLAIN.
    pub(super) fn explain(&mut self) -> Result<Statement> {
        self.expect(Keyword::Explain)?;
        let mut options = Vec::new();
        if self.is_symbol(b'(') && !self.opens_query() {
            options = self.utility_options()?;
        } else {
            for keyword in [Keyword::Analyze, Keyword::Analyse, Keyword::Verbose] {
                let at = self.here();
                if self.accept(keyword) {
                    let name = if keyword == Keyword::Verbose { "verbose" } else { "analyze" };
                    options.push(OptionValue { name: name.into(), value: None, at });
                }
            }
        }
        let place = self.token();
        // A statement of another kind is refused at its first word.
        let explainable = matches!(
            self.kind(),
            Kind::Symbol(b'(')
                | Kind::Keyword(
                    Keyword::Select
                        | Keyword::Values
                        | Keyword::Table
                        | Keyword::With
                        | Keyword::Insert
                        | Keyword::Update
                        | Keyword::Delete
                        | Keyword::Merge
                        | Keyword::Declare
                        | Keyword::Create
                        | Keyword::Execute
                )
        );
        if !explainable {
            return Err(self.error());
        }
        let statement = self.nested(Parser::statement)?;
        let explained = statement.is_planned()
            || matches!(
                statement,
                Statement::Declare(_) | Statement::CreateTableAs(_) | Statement::Execute(_)
            );
        if !explained {
            return Err(self.error_at(place));
        }
        Ok(Statement::Explain(Box::new(Explain { options, statement })))
    }

    /// `(name [value], ...)` of EXPLAIN, VACUUM and ANALYZE, where a reserved word is no option.
    pub(super) fn utility_options(&mut self) -> Result<Vec<OptionValue>> {
        self.in_parentheses(|parser| {
            let at = parser.here();
            let analyze = parser.accept(Keyword::Analyze) || parser.accept(Keyword::Analyse);
            let name = if analyze { "analyze".into() } else { parser.non_reserved()? };
            let value = match parser.kind() {
                Kind::Symbol(b',' | b')') => None,
                Kind::Integer | Kind::Number | Kind::Symbol(b'+' | b'-') => {
                    Some(Value::Number(parser.number_text()?))
                }
                Kind::Keyword(keyword @ (Keyword::True | Keyword::False | Keyword::On)) => {
                    parser.advance();
                    Some(Value::Word(keyword.word().into()))
                }
                _ if parser.is_string() => Some(Value::String(parser.string()?)),
                _ => Some(Value::Word(parser.non_reserved()?)),
            };
            Ok(OptionValue { name, value, at })
        })
    }

    /// `(name [value], ...)`.
    pub(super) fn option_list(&mut self) -> Result<Vec<OptionValue>> {
        self.in_parentheses(|parser| {
            let at = parser.here();
            let name = parser.label()?;
            let value = parser.option_value()?;
            Ok(OptionValue { name, value, at })
        })
    }

    /// The value of an option, if one is at hand.
    pub(super) fn option_value(&mut self) -> Result<Option<Value>> {
        Ok(Some(match self.kind() {
            Kind::Symbol(b'*') => {
                self.advance();
                Value::Star
            }
            Kind::Symbol(b'(') => Value::List(self.in_parentheses(|parser| {
                if parser.is_string() { parser.string() } else { parser.label() }
            })?),
            Kind::Integer | Kind::Number | Kind::Symbol(b'+' | b'-') => {
                Value::Number(self.number_text()?)
            }
            _ if self.is_string() => Value::String(self.string()?),
            kind if self.is_label(kind) => Value::Word(self.label()?),
            _ => return Ok(None),
        }))
    }

    /// PREPARE, also of a transaction.
    pub(super) fn prepare(&mut self) -> Result<Statement> {
        self.expect(Keyword::Prepare)?;
        if self.is(Keyword::Transaction)
            && !matches!(self.kind_at(1), Kind::Symbol(b'(') | Kind::Keyword(Keyword::As))
        {
            self.advance();
            let name = self.string()?;
            return Ok(Statement::Transaction(TransactionStatement::Prepare(name)));
        }
        let name = self.name()?;
        let types =
            if self.is_symbol(b'(') { self.in_parentheses(Parser::type_name)? } else { Vec::new() };
        self.expect(Keyword::As)?;
        let place = self.token();
        let statement = self.nested(Parser::statement)?;
        if !statement.is_planned() {
            return Err(self.error_at(place));
        }
        Ok(Statement::Prepare(Box::new(Prepare { name, types, statement })))
    }

    /// EXECUTE.
    pub(super) fn execute(&mut self) -> Result<Statement> {
        let at = self.here();
        self.expect(Keyword::Execute)?;
        let name = self.name()?;
        let parameters =
            if self.is_symbol(b'(') { self.in_parentheses(Parser::expr)? } else { Vec::new() };
        Ok(Statement::Execute(Execute { name, parameters, at }))
    }

    /// DEALLOCATE.
    pub(super) fn deallocate(&mut self) -> Result<Statement> {
        self.expect(Keyword::Deallocate)?;
        if !matches!(self.kind_at(1), Kind::End | Kind::Symbol(b';')) {
            self.accept(Keyword::Prepare);
        }
        let name = if self.accept(Keyword::All) { None } else { Some(self.name()?) };
        Ok(Statement::Deallocate(name))
    }

    /// CASCADE (true), RESTRICT or nothing.
    pub(super) fn cascade(&mut self) -> bool {
        let cascade = self.accept(Keyword::Cascade);
        if !cascade {
            self.accept(Keyword::Restrict);
        }
        cascade
    }

    /// DISCARD.
    pub(super) fn discard(&mut self) -> Result<Statement> {
        self.expect(Keyword::Discard)?;
        let what = match self.kind() {
            Kind::Keyword(Keyword::All) => Discard::All,
            Kind::Keyword(Keyword::Plans) => Discard::Plans,
            Kind::Keyword(Keyword::Sequences) => Discard::Sequences,
            Kind::Keyword(Keyword::Temp | Keyword::Temporary) => Discard::Temp,
            _ => return Err(self.error()),
        };
        self.advance();
        Ok(Statement::Discard(what))
    }

    /// LISTEN, UNLISTEN, NOTIFY.
    pub(super) fn notification(&mut self, keyword: Keyword) -> Result<Statement> {
        self.advance();
        match keyword {
            Keyword::Listen => Ok(Statement::Listen(self.name()?)),
            Keyword::Unlisten if self.accept_symbol(b'*') => Ok(Statement::Unlisten(None)),
            Keyword::Unlisten => Ok(Statement::Unlisten(Some(self.name()?))),
            _ => {
                let channel = self.name()?;
                let payload = if self.accept_symbol(b',') { Some(self.string()?) } else { None };
                Ok(Statement::Notify(channel, payload))
            }
        }
    }
}

/// An option.
pub(super) fn option(name: &str, value: Option<Value>, at: u32) -> OptionValue {
    OptionValue { name: name.into(), value, at }
}
