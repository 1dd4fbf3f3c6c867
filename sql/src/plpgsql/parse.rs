//! Blocks and declarations.

use super::condition;
use super::reader::Reader;
use super::tree::{
    Block, Body, Condition, Handler, Handlers, Name, Sql, Statement, Variable, VariableType,
};
use crate::bind::VariableConflict;
use crate::error::{Result, SqlError};
use crate::parse::lexer::Kind;
use crate::sqlstate::SqlState;
use crate::types::{SqlType, oids};
use std::sync::Arc;

/// What types in declarations mean.
pub trait Declared {
    /// A type as it is written, `%TYPE` and `%ROWTYPE` of tables among them.
    ///
    /// # Errors
    /// 42704 and its kin.
    fn type_of(&self, text: &str) -> Result<VariableType>;
    /// Whether strings have no escapes.
    fn standard_strings(&self) -> bool;
    /// Whether a text of SQL has no syntax error: of an expression, or of a statement.
    ///
    /// # Errors
    /// 42601 and its kin, at characters of the text.
    fn check(&self, text: &str, is_expression: bool) -> Result<()>;
    /// What a name is that both a variable and a column have, unless the body says it.
    fn conflict(&self) -> VariableConflict;
    /// What the body returns, and how.
    fn gives(&self) -> Gives;
    /// Whether errors of INTO STRICT show the statement's variables, unless the body says it.
    fn shows_strict(&self) -> bool;
    /// Is told of a variable that hides another one.
    ///
    /// # Errors
    /// What it is told, where the settings say that this is an error.
    fn shadows(&self, told: SqlError) -> Result<()>;
}

/// What a body returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gives {
    /// A value.
    #[default]
    Value,
    /// Nothing: `void`, or a procedure.
    Nothing {
        /// A procedure.
        procedure: bool,
    },
    /// What its OUT parameters hold.
    Outputs,
    /// A set of rows.
    Set {
        /// Of what its OUT parameters hold.
        outputs: bool,
    },
}

/// A variable that is there before the body begins: an argument, NEW.
#[derive(Clone, Debug)]
pub struct Given {
    /// Its name; none has only a number.
    pub name: Option<Arc<str>>,
    /// Its type.
    pub ty: VariableType,
}

/// Parses a body. The variables `given` come first, numbered from 0, and are
/// qualified by `label`; in messages it is called `name`.
///
/// # Errors
/// 42601 and its kin, at characters of the body; those of types.
pub fn parse(
    text: &str,
    declared: &dyn Declared,
    (name, label): (&str, Option<&str>),
    given: &[Given],
) -> Result<Body> {
    let mut parser = Parser {
        reader: Reader::new(text, declared.standard_strings()),
        declared,
        variables: Vec::new(),
        names: Vec::new(),
        innermost: None,
        texts: 0,
        statements_met: 0,
        ends_transactions: false,
        conflict: declared.conflict(),
        shows_strict: declared.shows_strict(),
        handling: None,
    };
    if let Some(label) = label {
        parser.push_label(label.into(), true);
    }
    for (at, one) in given.iter().enumerate() {
        let own = one.name.as_ref().filter(|own| !own.is_empty());
        if let Some(twice) = own.filter(|_| given[..at].iter().any(|other| other.name == one.name))
        {
            let message = format!("parameter name \"{twice}\" used more than once");
            let error = SqlError::new(SqlState::INVALID_FUNCTION_DEFINITION, message);
            let place = format!("compilation of PL/pgSQL function \"{name}\" near line 1");
            return Err(error.within(place));
        }
        let number = parser.variable(one.name.clone().unwrap_or_default(), one.ty.clone());
        if let Some(name) = &one.name {
            parser.push_name(name, number);
        }
    }
    let found = parser.variable("found".into(), VariableType::Scalar(SqlType::plain(oids::BOOL)));
    parser.push_name(&"found".into(), found);
    let block = parser.whole().map_err(|error| {
        if error.fields().position.is_some() {
            return error;
        }
        let line = parser.reader.line(parser.reader.before());
        error.within(format!("compilation of PL/pgSQL function \"{name}\" near line {line}"))
    })?;
    Ok(Body {
        block,
        variables: parser.variables,
        names: parser.names,
        texts: parser.texts,
        statements: parser.statements_met,
        ends_transactions: parser.ends_transactions,
        conflict: parser.conflict,
        shows_strict: parser.shows_strict,
        found,
        arguments: given.len() as u32,
        positions: (0..given.len() as u32).collect(),
        rows: Vec::new(),
    })
}

/// The parser.
pub(super) struct Parser<'t, 'd> {
    pub(super) reader: Reader<'t>,
    pub(super) declared: &'d dyn Declared,
    pub(super) variables: Vec<Variable>,
    pub(super) names: Vec<Name>,
    pub(super) innermost: Option<u32>,
    texts: u32,
    pub(super) statements_met: u32,
    pub(super) ends_transactions: bool,
    conflict: VariableConflict,
    shows_strict: bool,
    /// The variables of the handler around.
    pub(super) handling: Option<(u32, u32)>,
}

impl Parser<'_, '_> {
    /// The options and the block, and nothing behind.
    fn whole(&mut self) -> Result<Block> {
        self.options()?;
        let block = self.block(None)?;
        self.reader.accept_symbol(b';');
        if self.reader.token().kind != Kind::End {
            return Err(self.reader.error());
        }
        Ok(block)
    }

    /// `#option` lines in front of the body.
    fn options(&mut self) -> Result<()> {
        while self.reader.at_operator("#") {
            self.reader.advance();
            let option = self.reader.name()?;
            let value = self.reader.advance();
            let value = self.reader.text_of(value).to_ascii_lowercase();
            match (&*option, &*value) {
                ("variable_conflict", "error") => self.conflict = VariableConflict::Error,
                ("variable_conflict", "use_variable") => {
                    self.conflict = VariableConflict::UseVariable;
                }
                ("variable_conflict", "use_column") => self.conflict = VariableConflict::UseColumn,
                ("print_strict_params", "on") => self.shows_strict = true,
                ("print_strict_params", "off") => self.shows_strict = false,
                _ => {
                    return Err(SqlError::unsupported(format!("the PL/pgSQL option #{option} is")));
                }
            }
        }
        Ok(())
    }

    pub(super) fn variable(&mut self, name: Arc<str>, ty: VariableType) -> u32 {
        let number = self.variables.len() as u32;
        let line = self.reader.line(self.reader.before());
        let (constant, not_null, default, cursor) = (false, false, None, None);
        self.variables.push(Variable { name, ty, line, constant, not_null, default, cursor });
        number
    }

    pub(super) fn push_name(&mut self, name: &Arc<str>, variable: u32) {
        let previous = self.innermost;
        let name = Arc::clone(name);
        self.names.push(Name { previous, name, variable: Some(variable), is_block: false });
        self.innermost = Some(self.names.len() as u32 - 1);
    }

    pub(super) fn push_label(&mut self, name: Arc<str>, is_block: bool) {
        let previous = self.innermost;
        self.names.push(Name { previous, name, variable: None, is_block });
        self.innermost = Some(self.names.len() as u32 - 1);
    }

    /// What a name stands for where the parser is, and how many of its parts that takes.
    pub(super) fn find(&self, parts: &[Arc<str>]) -> Option<(u32, usize)> {
        find(&self.names, self.innermost, parts)
    }

    /// A text of SQL between two places.
    pub(super) fn sql(&mut self, (start, end): (u32, u32), is_expression: bool) -> Result<Sql> {
        let text: Arc<str> = self.reader.slice(start, end).into();
        self.sql_text(text, start, is_expression)
    }

    pub(super) fn sql_text(&mut self, text: Arc<str>, at: u32, is_expression: bool) -> Result<Sql> {
        self.check(&text, at, is_expression)?;
        let number = self.texts;
        self.texts += 1;
        let (names, wanted) = (self.innermost, None);
        let (is_cursor, assignment) = (false, None);
        Ok(Sql { number, text, is_expression, is_cursor, names, at, wanted, assignment })
    }

    /// What is wrong with the syntax of a text that begins at `at`.
    pub(super) fn check(&self, text: &str, at: u32, is_expression: bool) -> Result<()> {
        self.declared.check(text, is_expression).map_err(|error| match error.fields().position {
            Some(position) => {
                let base = self.reader.position(at) - 1;
                error.clone().nowhere().at(base + position)
            }
            None => error,
        })
    }

    /// An expression up to one of these words.
    pub(super) fn expression(&mut self, ends: &[&str], missing: &str) -> Result<Sql> {
        let span = self.reader.until(ends, missing, true)?;
        self.sql(span, true)
    }

    /// The same, assigned to a type.
    pub(super) fn expression_of(&mut self, ends: &[&str], missing: &str, ty: u32) -> Result<Sql> {
        let sql = self.expression(ends, missing)?;
        Ok(Sql { wanted: Some(SqlType::plain(ty)), ..sql })
    }

    pub(super) fn label(&mut self) -> Result<Option<Arc<str>>> {
        if !self.reader.at_operator("<<") {
            return Ok(None);
        }
        self.reader.advance();
        let label = self.reader.name()?;
        if !self.reader.at_operator(">>") {
            return Err(self.reader.error());
        }
        self.reader.advance();
        Ok(Some(label))
    }

    /// What may stand behind END.
    pub(super) fn end_label(&mut self, label: Option<&Arc<str>>) -> Result<()> {
        let token = self.reader.token();
        if !self.reader.is_name(token) {
            return Ok(());
        }
        let found = self.reader.name()?;
        match label {
            None => Err(self.reader.complaint(
                format!("end label \"{found}\" specified for unlabeled block"),
                token.start,
            )),
            Some(label) if *label != found => Err(self.reader.complaint(
                format!("end label \"{found}\" differs from block's label \"{label}\""),
                token.start,
            )),
            Some(_) => Ok(()),
        }
    }

    /// A block, its label read.
    pub(super) fn block(&mut self, label: Option<Arc<str>>) -> Result<Block> {
        let label = match label {
            None => self.label()?,
            label => label,
        };
        let (outside, first) = (self.innermost, self.variables.len() as u32);
        self.push_label(label.clone().unwrap_or_default(), true);
        let mut declared = Vec::new();
        while self.reader.accept("declare") {
            while !self.reader.at_word("begin") && !self.reader.at_word("declare") {
                if self.reader.token().kind == Kind::End {
                    return Err(self.reader.error());
                }
                self.declaration(first, &mut declared)?;
            }
        }
        let line = self.reader.line(self.reader.here());
        self.reader.expect("begin")?;
        let body = self.statements(&["end", "exception"])?;
        let handlers = if self.reader.accept("exception") { Some(self.handlers()?) } else { None };
        self.reader.expect("end")?;
        self.innermost = outside;
        self.end_label(label.as_ref())?;
        Ok(Block { line, label, variables: declared, body, handlers })
    }

    pub(super) fn statements(&mut self, ends: &[&str]) -> Result<Vec<Arc<Statement>>> {
        let mut all = Vec::new();
        while !ends.iter().any(|end| self.reader.at_word(end)) {
            if self.reader.token().kind == Kind::End {
                return Err(self.reader.error());
            }
            all.push(Arc::new(self.statement()?));
        }
        Ok(all)
    }

    fn handlers(&mut self) -> Result<Handlers> {
        let text = || VariableType::Scalar(SqlType::plain(oids::TEXT));
        let outside = self.innermost;
        let state = self.variable("sqlstate".into(), text());
        let message = self.variable("sqlerrm".into(), text());
        self.push_name(&"sqlstate".into(), state);
        self.push_name(&"sqlerrm".into(), message);
        let around = self.handling.replace((state, message));
        let mut handlers = Vec::new();
        while self.reader.accept("when") {
            let mut conditions = Vec::new();
            loop {
                conditions.extend(self.condition()?);
                if !self.reader.accept("or") {
                    break;
                }
            }
            self.reader.expect("then")?;
            let body = self.statements(&["when", "end"])?;
            handlers.push(Handler { conditions, body });
        }
        if handlers.is_empty() {
            return Err(self.reader.error());
        }
        self.innermost = outside;
        self.handling = around;
        Ok(Handlers { state, message, handlers })
    }

    fn condition(&mut self) -> Result<Vec<Condition>> {
        let token = self.reader.token();
        let name = self.reader.name()?;
        if &*name == "sqlstate" && token.kind != Kind::Quoted {
            let token = self.reader.token();
            let text = self.reader.string()?;
            let state = condition::state(&text)
                .ok_or_else(|| self.reader.complaint_near("invalid SQLSTATE code", token))?;
            return Ok(vec![Condition::State(state)]);
        }
        if &*name == "others" {
            return Ok(vec![Condition::Others]);
        }
        let states: Vec<Condition> = condition::states(&name).map(Condition::State).collect();
        if states.is_empty() {
            return Err(unrecognized(&name));
        }
        Ok(states)
    }

    /// Tells of a variable that hides one that was declared before this item (`plpgsql.extra_warnings`).
    pub(super) fn told_if_shadowing(
        &self,
        name: &str,
        at: u32,
        mut item: Option<u32>,
    ) -> Result<()> {
        while let Some(number) = item {
            let known = &self.names[number as usize];
            if known.variable.is_some() && *known.name == *name {
                let message = format!("variable \"{name}\" shadows a previously defined variable");
                let told = SqlError::new(SqlState::DUPLICATE_ALIAS, message);
                return self.declared.shadows(told.at(self.reader.position(at)));
            }
            item = known.previous;
        }
        Ok(())
    }

    /// One declaration with its semicolon.
    fn declaration(&mut self, first: u32, declared: &mut Vec<u32>) -> Result<()> {
        let token = self.reader.token();
        let name = self.reader.name()?;
        // A name may be declared once a block.
        let mut item = self.innermost;
        while let Some(at) = item {
            let known = &self.names[at as usize];
            if known.variable.is_none_or(|variable| variable < first) {
                break;
            }
            if known.name == name {
                return Err(self.reader.complaint(
                    format!("duplicate declaration at or near \"{}\"", self.reader.text_of(token)),
                    token.start,
                ));
            }
            item = known.previous;
        }
        self.told_if_shadowing(&name, token.start, item)?;
        if self.reader.accept("alias") {
            self.reader.expect("for")?;
            let variable = if self.reader.token().kind == Kind::Parameter {
                let token = self.reader.advance();
                let number: u32 = self.reader.text_of(token)[1..].parse().unwrap_or(0);
                number.checked_sub(1).filter(|number| *number < self.variables.len() as u32)
            } else {
                let alias = self.reader.name()?;
                self.find(&[alias]).map(|(variable, _)| variable)
            };
            let variable = variable.ok_or_else(|| self.reader.error())?;
            self.reader.expect_symbol(b';')?;
            self.push_name(&name, variable);
            return Ok(());
        }
        let scroll = self.scroll();
        if self.reader.at_word("cursor") {
            return self.cursor(&name, scroll, declared);
        }
        let constant = self.reader.accept("constant");
        let (start, mut end) = (self.reader.here(), self.reader.here());
        let mut depth = 0u32;
        // The type ends where a clause begins.
        loop {
            let token = self.reader.token();
            match token.kind {
                Kind::Symbol(b'(' | b'[') => depth += 1,
                Kind::Symbol(b')' | b']') => depth = depth.saturating_sub(1),
                Kind::Symbol(b';' | b'=') | Kind::ColonEquals if depth == 0 => break,
                Kind::End | Kind::Error(_) => return Err(self.reader.error()),
                _ if depth == 0
                    && ["not", "default", "collate"]
                        .iter()
                        .any(|word| self.reader.at_word(word)) =>
                {
                    break;
                }
                _ => {}
            }
            end = self.reader.advance().end;
        }
        if start == end {
            return Err(self.reader.complaint("missing data type declaration", start));
        }
        let ty = self.declared_type(start, end)?;
        if self.reader.accept("collate") {
            self.reader.name()?;
        }
        let clause = self.reader.here();
        let not_null = if self.reader.accept("not") {
            self.reader.expect("null")?;
            true
        } else {
            false
        };
        let default = if self.reader.at_assignment() || self.reader.at_word("default") {
            self.reader.advance();
            let sql = self.expression(&[";"], ";")?;
            Some(match ty {
                VariableType::Scalar(ty) => Sql { wanted: Some(ty), ..sql },
                _ => sql,
            })
        } else {
            None
        };
        self.reader.expect_symbol(b';')?;
        if not_null && default.is_none() {
            return Err(SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                format!(
                    "variable \"{name}\" must have a default value, since it's declared NOT NULL"
                ),
            )
            .at(self.reader.position(clause)));
        }
        let number = self.variable(Arc::clone(&name), ty);
        let line = self.reader.line(token.start);
        let variable = &mut self.variables[number as usize];
        (variable.line, variable.constant) = (line, constant);
        (variable.not_null, variable.default) = (not_null, default);
        self.push_name(&name, number);
        declared.push(number);
        Ok(())
    }

    /// `%TYPE` of a variable, or what the catalog says.
    pub(super) fn declared_type(&mut self, start: u32, end: u32) -> Result<VariableType> {
        let text = self.reader.slice(start, end);
        if let Some(of) = strip_word(text, "%type") {
            let parts: Vec<Arc<str>> =
                of.split('.').map(|part| part.trim().to_ascii_lowercase().into()).collect();
            if let Some((variable, taken)) = self.find(&parts)
                && taken == parts.len()
            {
                return Ok(self.variables[variable as usize].ty.clone());
            }
        }
        self.declared.type_of(text).map_err(|error| {
            let base = self.reader.position(start) - 1;
            match error.fields().position {
                Some(position) => error.nowhere().at(base + position),
                None => error.at(base + 1),
            }
        })
    }
}

/// `refcursor`.
pub const REFCURSOR: u32 = 1790;

/// What stands before a word at the end of a text.
pub(crate) fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let text = text.trim_end();
    let at = text.len().checked_sub(word.len())?;
    text.get(at..)?.eq_ignore_ascii_case(word).then(|| text[..at].trim_end())
}

/// 42704 for a condition that is none.
pub(super) fn unrecognized(name: &str) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_OBJECT,
        format!("unrecognized exception condition \"{name}\""),
    )
}

/// What a name stands for, seen from an item: the variable, and how many parts of the name it takes (`plpgsql_ns_lookup`).
#[must_use]
pub fn find(names: &[Name], from: Option<u32>, parts: &[Arc<str>]) -> Option<(u32, usize)> {
    let (mut item, mut level_start) = (from, from);
    let first = parts.first()?;
    while let Some(at) = item {
        let known = &names[at as usize];
        match known.variable {
            Some(variable) if known.name == *first => return Some((variable, 1)),
            Some(_) => {}
            None => {
                // A label: what was declared behind it may be qualified by it.
                if known.is_block && known.name == *first && parts.len() > 1 {
                    let mut inner = level_start;
                    while let Some(within) = inner.filter(|within| *within != at) {
                        let one = &names[within as usize];
                        if one.variable.is_some() && one.name == parts[1] {
                            return one.variable.map(|variable| (variable, 2));
                        }
                        inner = one.previous;
                    }
                }
                level_start = known.previous;
            }
        }
        item = known.previous;
    }
    None
}
