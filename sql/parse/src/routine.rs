//! Statements about routines: CREATE and ALTER FUNCTION, PROCEDURE, ROUTINE; DO.

use super::ast::{
    AlterRoutine, Body, BodyStatement, CreateRoutine, DoStatement, ParameterMode, Query, Returns,
    RoutineChange, RoutineOption, RoutineParameter, Select, StandardBody, Statement, Target,
};
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

    /// CREATE [OR REPLACE] FUNCTION and PROCEDURE, from that word.
    pub(super) fn create_routine(&mut self, replace: bool) -> Result<Statement> {
        let procedure = self.is(Keyword::Procedure);
        self.advance();
        let name = self.function_name()?;
        self.expect_symbol(b'(')?;
        let mut parameters = Vec::new();
        if !self.accept_symbol(b')') {
            parameters = self.list(Parser::routine_parameter)?;
            self.expect_symbol(b')')?;
        }
        let mut returns = None;
        if !procedure && self.accept(Keyword::Returns) {
            returns = Some(if self.is(Keyword::Table) {
                self.advance();
                let columns = self.in_parentheses(|parser| {
                    Ok((parser.take_parameter_name()?, parser.type_name()?))
                })?;
                Returns::Table(columns)
            } else {
                Returns::Type(self.type_name()?)
            });
        }
        let mut options = Vec::new();
        let mut at = self.here();
        while let Some(option) = self.routine_option()? {
            options.push((option, at));
            at = self.here();
        }
        if self.is(Keyword::Return) || self.is(Keyword::Begin) {
            options.push((RoutineOption::Standard(self.standard_body()?), at));
        }
        let create = CreateRoutine { replace, procedure, name, parameters, returns, options };
        Ok(Statement::CreateRoutine(Box::new(create)))
    }

    fn take_parameter_name(&mut self) -> Result<super::ast::Ident> {
        if self.is_function_name(self.kind()) { self.take_name() } else { Err(self.error()) }
    }

    /// IN, OUT, INOUT or VARIADIC, if that is said.
    pub(super) fn parameter_mode(&mut self) -> Option<ParameterMode> {
        if self.accept(Keyword::Out) {
            return Some(ParameterMode::Out);
        }
        if self.accept(Keyword::Inout) {
            return Some(ParameterMode::InOut);
        }
        if self.accept(Keyword::Variadic) {
            return Some(ParameterMode::Variadic);
        }
        if self.accept(Keyword::In) {
            let both = self.accept(Keyword::Out);
            return Some(if both { ParameterMode::InOut } else { ParameterMode::In });
        }
        None
    }

    pub(super) fn routine_parameter(&mut self) -> Result<RoutineParameter> {
        let mut mode = self.parameter_mode();
        // A name is a word with a type behind it. Of the types of two words only one begins with what may be a name.
        let precision = self.is(Keyword::Double) && self.is_at(1, Keyword::Precision);
        let behind = self.kind_at(1);
        let ends =
            matches!(behind, Kind::Keyword(Keyword::Default | Keyword::Array | Keyword::Order));
        let named = self.is_function_name(self.kind()) && !precision && !ends;
        let name = if named && self.is_label(behind) { Some(self.take_name()?) } else { None };
        if mode.is_none() && name.is_some() {
            mode = self.parameter_mode();
        }
        let ty = self.type_name()?;
        let default = if self.accept(Keyword::Default) || self.accept_symbol(b'=') {
            Some(self.expr()?)
        } else {
            None
        };
        Ok(RoutineParameter { name, mode: mode.unwrap_or(ParameterMode::In), ty, default })
    }

    /// What is said of a routine, if anything more is.
    fn routine_option(&mut self) -> Result<Option<RoutineOption>> {
        let Kind::Keyword(keyword) = self.kind() else { return Ok(None) };
        let at = self.here();
        Ok(Some(match keyword {
            Keyword::Language => {
                self.advance();
                let name = if self.is_string() { self.string()? } else { self.non_reserved()? };
                RoutineOption::Language(name)
            }
            Keyword::Immutable | Keyword::Stable | Keyword::Volatile => {
                self.advance();
                RoutineOption::Volatility(match keyword {
                    Keyword::Immutable => b'i',
                    Keyword::Stable => b's',
                    _ => b'v',
                })
            }
            Keyword::Strict => {
                self.advance();
                RoutineOption::Strict(true)
            }
            Keyword::Called => {
                self.advance();
                self.expect_all(&[Keyword::On, Keyword::Null, Keyword::Input])?;
                RoutineOption::Strict(false)
            }
            Keyword::Returns => {
                self.advance();
                self.expect_all(&[Keyword::Null, Keyword::On, Keyword::Null, Keyword::Input])?;
                RoutineOption::Strict(true)
            }
            Keyword::External | Keyword::Security => {
                self.accept(Keyword::External);
                self.expect(Keyword::Security)?;
                let definer = self.accept(Keyword::Definer);
                if !definer {
                    self.expect(Keyword::Invoker)?;
                }
                RoutineOption::SecurityDefiner(definer)
            }
            Keyword::Leakproof => {
                self.advance();
                RoutineOption::Leakproof(true)
            }
            Keyword::Not => {
                self.advance();
                self.expect(Keyword::Leakproof)?;
                RoutineOption::Leakproof(false)
            }
            Keyword::Parallel => {
                self.advance();
                RoutineOption::Parallel(self.label()?)
            }
            Keyword::Cost => {
                self.advance();
                RoutineOption::Cost(self.number_text()?)
            }
            Keyword::Rows => {
                self.advance();
                RoutineOption::Rows(self.number_text()?)
            }
            Keyword::Set | Keyword::Reset => RoutineOption::Setting(self.setting_change()?),
            Keyword::As => {
                self.advance();
                let (body, at) = self.body_text()?;
                if self.is_symbol(b',') {
                    return Err(self.unsupported("a function in the language c is", at));
                }
                RoutineOption::Body(body, at)
            }
            Keyword::Window => {
                self.advance();
                RoutineOption::Window
            }
            Keyword::Support => {
                self.advance();
                RoutineOption::Support(self.object_name()?)
            }
            Keyword::Transform => return Err(self.unsupported("TRANSFORM of a function is", at)),
            _ => return Ok(None),
        }))
    }

    /// A body of the standard's form: RETURN, or BEGIN ATOMIC up to END.
    pub(super) fn standard_body(&mut self) -> Result<StandardBody> {
        if self.is(Keyword::Return) {
            return Ok(StandardBody { atomic: false, statements: vec![self.return_statement()?] });
        }
        self.expect_all(&[Keyword::Begin, Keyword::Atomic])?;
        let mut statements = Vec::new();
        while !self.accept(Keyword::End) {
            if self.accept_symbol(b';') {
                continue;
            }
            if self.is(Keyword::Return) {
                statements.push(self.return_statement()?);
            } else {
                let start = self.here();
                let statement = self.nested(Parser::statement)?;
                let (returns, end) = (false, self.before());
                statements.push(BodyStatement { statement, returns, start, end });
            }
            self.expect_symbol(b';')?;
        }
        Ok(StandardBody { atomic: true, statements })
    }

    /// RETURN and an expression, as the SELECT of it.
    fn return_statement(&mut self) -> Result<BodyStatement> {
        self.advance();
        let start = self.here();
        let expr = self.expr()?;
        let mut select = Select::empty();
        select.targets.push(Target { expr, alias: None });
        let query = Query::plain(Body::Select(Box::new(select)), start);
        let statement = Statement::Query(Box::new(query));
        Ok(BodyStatement { statement, returns: true, start, end: self.before() })
    }

    /// ALTER FUNCTION, PROCEDURE, ROUTINE, behind that word.
    pub(super) fn alter_routine(&mut self, word: &'static str) -> Result<Statement> {
        let name = self.function_name()?;
        let arguments = match word {
            "AGGREGATE" => self.aggregate_types()?,
            _ => self.routine_arguments()?,
        };
        let change = if self.accept(Keyword::Owner) {
            self.expect(Keyword::To)?;
            RoutineChange::Owner(self.role()?)
        } else if self.accept(Keyword::Rename) {
            self.expect(Keyword::To)?;
            RoutineChange::Rename(self.name()?)
        } else if self.accept_all(&[Keyword::Set, Keyword::Schema]) {
            RoutineChange::Schema(self.name()?)
        } else {
            let mut options = Vec::new();
            let mut at = self.here();
            while let Some(option) = self.routine_option()? {
                if matches!(option, RoutineOption::Body(..) | RoutineOption::Language(_)) {
                    self.back();
                    return Err(self.error());
                }
                options.push((option, at));
                at = self.here();
            }
            // Ignored, as in PostgreSQL.
            if !options.is_empty() {
                self.accept(Keyword::Restrict);
            }
            if options.is_empty() {
                if !self.is(Keyword::No) && !self.is(Keyword::Depends) {
                    return Err(self.error());
                }
                self.skip_statement();
                return Ok(Statement::Unsupported(format!("this form of ALTER {word}")));
            }
            RoutineChange::Options(options)
        };
        Ok(Statement::AlterRoutine(Box::new(AlterRoutine { word, name, arguments, change })))
    }
}
