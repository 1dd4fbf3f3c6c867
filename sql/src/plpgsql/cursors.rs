//! Cursors: their declarations, OPEN, FETCH, MOVE, CLOSE and the loops over them (PostgreSQL 15 manual, section 43.7;
//! `read_cursor_args` and `read_fetch_direction` of `pl_gram.y`).

use super::parse::{Parser, REFCURSOR};
use super::statements::Listed;
use super::tree::{
    Action, Count, Cursor, Direction, Fetch, ForQuery, Open, Place, Query, Sql, VariableType,
};
use crate::error::{Result, SqlError};
use crate::parse::lexer::Kind;
use crate::sqlstate::SqlState;
use crate::types::{SqlType, oids};
use std::sync::Arc;

impl Parser<'_, '_> {
    /// `name [NO SCROLL] CURSOR [(arguments)] FOR query`, the name read.
    pub(super) fn cursor(
        &mut self,
        name: &Arc<str>,
        scroll: Option<bool>,
        declared: &mut Vec<u32>,
    ) -> Result<()> {
        let at = self.reader.here();
        self.reader.expect("cursor")?;
        let outside = self.innermost;
        let mut arguments = Vec::new();
        let has_arguments = self.reader.accept_symbol(b'(');
        if has_arguments {
            loop {
                let at = self.reader.here();
                let argument = self.reader.name()?;
                self.told_if_shadowing(&argument, at, self.innermost)?;
                let (start, end) = self.reader.until(&[",", ")"], ")", true)?;
                let ty = self.declared_type(start, end)?;
                let number = self.variable(Arc::clone(&argument), ty);
                self.push_name(&argument, number);
                arguments.push(number);
                if !self.reader.accept_symbol(b',') {
                    break;
                }
            }
            self.reader.expect_symbol(b')')?;
        }
        if !self.reader.accept("for") {
            self.reader.expect("is")?;
        }
        let span = self.reader.until(&[";"], ";", false)?;
        let query = Sql { is_cursor: true, ..self.sql(span, false)? };
        self.reader.expect_symbol(b';')?;
        self.innermost = outside;
        // It begins with its own name.
        let literal = format!("'{}'", name.replace('\'', "''"));
        let literal = match name.contains('\\') {
            true => format!("E{}", literal.replace('\\', "\\\\")),
            false => literal,
        };
        let ty = SqlType::plain(REFCURSOR);
        let default = Sql { wanted: Some(ty), ..self.sql_text(literal.into(), at, true)? };
        let number = self.variable(Arc::clone(name), VariableType::Scalar(ty));
        let variable = &mut self.variables[number as usize];
        variable.default = Some(default);
        variable.cursor = Some(Cursor { query, has_arguments, arguments, scroll });
        self.push_name(name, number);
        declared.push(number);
        Ok(())
    }

    /// `[NO] SCROLL`, if it is there.
    pub(super) fn scroll(&mut self) -> Option<bool> {
        if self.reader.at_word("no") && self.reader.at_word_behind(1, "scroll") {
            self.reader.advance();
            self.reader.advance();
            return Some(false);
        }
        self.reader.accept("scroll").then_some(true)
    }

    /// The variable of a cursor.
    fn cursor_variable(&mut self) -> Result<u32> {
        let at = self.reader.here();
        let token = self.reader.token();
        if token.kind != Kind::Parameter && !self.reader.is_name(token) {
            return Err(self.reader.error());
        }
        let name = self.qualified()?;
        let Place { variable, path } = self.target(&name, at)?;
        let mismatch = |message: String| {
            let error = SqlError::new(SqlState::DATATYPE_MISMATCH, message);
            Err(error.at(self.reader.position(at)))
        };
        match self.variables[variable as usize].ty {
            VariableType::Scalar(ty) if path.is_empty() => {
                if ty.oid.0 == REFCURSOR {
                    return Ok(variable);
                }
                let name = &self.variables[variable as usize].name;
                mismatch(format!("variable \"{name}\" must be of type cursor or refcursor"))
            }
            _ => mismatch("cursor variable must be a simple variable".to_owned()),
        }
    }

    /// OPEN, its word read.
    pub(super) fn open(&mut self) -> Result<Action> {
        let variable = self.cursor_variable()?;
        let open = match self.variables[variable as usize].cursor.clone() {
            Some(cursor) => {
                let arguments = self.cursor_arguments(variable, &cursor)?;
                let query = Query::Cursor(variable, arguments);
                Open { variable, scroll: cursor.scroll, query }
            }
            None => {
                let scroll = self.scroll();
                self.reader.expect("for")?;
                let query = if self.reader.accept("execute") {
                    let text = self.expression_of(&["using", ";"], ";", oids::TEXT)?;
                    Query::Dynamic(text, self.using(&[";"], ";")?)
                } else {
                    let span = self.reader.until(&[";"], ";", false)?;
                    Query::Static(Sql { is_cursor: true, ..self.sql(span, false)? })
                };
                Open { variable, scroll, query }
            }
        };
        self.reader.expect_symbol(b';')?;
        Ok(Action::Open(Box::new(open)))
    }

    /// What the arguments of a bound cursor are given, in their order.
    fn cursor_arguments(&mut self, variable: u32, cursor: &Cursor) -> Result<Vec<(u32, Sql)>> {
        let name = Arc::clone(&self.variables[variable as usize].name);
        let at = self.reader.here();
        if !cursor.has_arguments {
            return match self.reader.at_symbol(b'(') {
                true => {
                    Err(self.reader.complaint(format!("cursor \"{name}\" has no arguments"), at))
                }
                false => Ok(Vec::new()),
            };
        }
        if !self.reader.accept_symbol(b'(') {
            return Err(self.reader.complaint(format!("cursor \"{name}\" has arguments"), at));
        }
        let mut given: Vec<Option<Sql>> = vec![None; cursor.arguments.len()];
        for position in 0..given.len() {
            let (here, token) = (self.reader.here(), self.reader.token());
            let named = self.reader.kind_at(1) == Kind::ColonEquals;
            let at = if named && self.reader.is_name(token) {
                let argument = self.reader.name()?;
                self.reader.advance();
                let found = cursor
                    .arguments
                    .iter()
                    .position(|number| self.variables[*number as usize].name == argument);
                found.ok_or_else(|| {
                    let message = format!("cursor \"{name}\" has no argument named \"{argument}\"");
                    self.reader.complaint(message, here)
                })?
            } else {
                position
            };
            let argument = cursor.arguments[at];
            if given[at].is_some() {
                let argument = &self.variables[argument as usize].name;
                let message = format!(
                    "value for parameter \"{argument}\" of cursor \"{name}\" specified more than once"
                );
                return Err(self.reader.complaint(message, here));
            }
            let sql = self.expression(&[",", ")"], ",\" or \")")?;
            given[at] = Some(match self.variables[argument as usize].ty {
                VariableType::Scalar(ty) => Sql { wanted: Some(ty), ..sql },
                _ => sql,
            });
            let end = self.reader.here();
            let more = position + 1 < given.len();
            if self.reader.accept_symbol(b',') {
                if !more {
                    let message = format!("too many arguments for cursor \"{name}\"");
                    return Err(self.reader.complaint(message, end));
                }
            } else if more {
                let message = format!("not enough arguments for cursor \"{name}\"");
                return Err(self.reader.complaint(message, end));
            }
        }
        self.reader.expect_symbol(b')')?;
        Ok(cursor.arguments.iter().copied().zip(given.into_iter().flatten()).collect())
    }

    /// FETCH or MOVE, whose word at this place is read.
    pub(super) fn fetch(&mut self, moves: bool, at: u32) -> Result<Action> {
        let (direction, several) = self.direction()?;
        let variable = self.cursor_variable()?;
        let mut places = Vec::new();
        if !moves {
            if several {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "FETCH statement cannot return multiple rows",
                )
                .at(self.reader.position(at)));
            }
            self.reader.expect("into")?;
            places = self.targets()?;
        }
        self.reader.expect_symbol(b';')?;
        Ok(Action::Fetch(Box::new(Fetch { variable, direction, places, moves })))
    }

    /// The direction of FETCH with its FROM or IN, and whether it may give several rows.
    fn direction(&mut self) -> Result<((Direction, Count), bool)> {
        let plain = [
            ("next", Direction::Forward, 1),
            ("prior", Direction::Backward, 1),
            ("first", Direction::Absolute, 1),
            ("last", Direction::Absolute, -1),
            ("all", Direction::Forward, i64::MAX),
        ];
        for (word, direction, count) in plain {
            if self.at_direction(word) {
                self.reader.advance();
                self.cursor_follows()?;
                return Ok(((direction, Count::Fixed(count)), count == i64::MAX));
            }
        }
        for (word, direction) in
            [("absolute", Direction::Absolute), ("relative", Direction::Relative)]
        {
            if self.at_direction(word) {
                self.reader.advance();
                let count = self.count()?;
                return Ok(((direction, count), false));
            }
        }
        for (word, direction) in
            [("forward", Direction::Forward), ("backward", Direction::Backward)]
        {
            if !self.at_direction(word) {
                continue;
            }
            self.reader.advance();
            if self.reader.accept("from") || self.reader.accept("in") {
                return Ok(((direction, Count::Fixed(1)), false));
            }
            if self.reader.accept("all") {
                self.cursor_follows()?;
                return Ok(((direction, Count::Fixed(i64::MAX)), true));
            }
            return Ok(((direction, self.count()?), true));
        }
        let one = (Direction::Forward, Count::Fixed(1));
        if self.reader.accept("from") || self.reader.accept("in") {
            return Ok((one, false));
        }
        let token = self.reader.token();
        let known = match token.kind {
            Kind::Parameter => true,
            _ if self.reader.is_name(token) => {
                let name = self.reader.name_of(token)?;
                let next = self.reader.kind_at(1);
                self.find(std::slice::from_ref(&name)).is_some()
                    || matches!(next, Kind::Symbol(b'.' | b';'))
                    || self.reader.at_word_behind(1, "into")
            }
            _ => false,
        };
        if known {
            return Ok((one, false));
        }
        Ok(((Direction::Forward, self.count()?), true))
    }

    /// Whether a word of a direction is at hand, which is no variable's name.
    fn at_direction(&self, word: &str) -> bool {
        self.reader.at_word(word)
            && !matches!(self.reader.kind_at(1), Kind::Symbol(b';'))
            && !self.reader.at_word_behind(1, "into")
    }

    fn count(&mut self) -> Result<Count> {
        let sql = self.expression_of(&["from", "in"], "FROM or IN", oids::INT4)?;
        self.reader.advance();
        Ok(Count::Of(sql))
    }

    fn cursor_follows(&mut self) -> Result<()> {
        if self.reader.accept("from") || self.reader.accept("in") {
            return Ok(());
        }
        let token = self.reader.token();
        let near = self.reader.text_of(token);
        Err(self
            .reader
            .complaint(format!("expected FROM or IN at or near \"{near}\""), token.start))
    }

    /// CLOSE, its word read.
    pub(super) fn close(&mut self) -> Result<Action> {
        let variable = self.cursor_variable()?;
        self.reader.expect_symbol(b';')?;
        Ok(Action::Close(variable))
    }

    /// The variable of a cursor that a loop goes over, if it is one.
    pub(super) fn looped_cursor(&self) -> Result<Option<u32>> {
        let token = self.reader.token();
        if !self.reader.is_name(token) {
            return Ok(None);
        }
        let mut parts = vec![self.reader.name_of(token)?];
        let mut ahead = 1;
        while self.reader.kind_at(ahead) == Kind::Symbol(b'.') {
            parts.push(self.reader.name_of(self.reader.token_at(ahead + 1))?);
            ahead += 2;
        }
        let Some((variable, taken)) = self.find(&parts).filter(|found| found.1 == parts.len())
        else {
            return Ok(None);
        };
        debug_assert_eq!(taken, parts.len());
        let known = &self.variables[variable as usize];
        Ok(match known.ty {
            VariableType::Scalar(ty) if ty.oid.0 == REFCURSOR => Some(variable),
            _ => None,
        })
    }

    /// A loop over the rows of a cursor, which is at hand.
    pub(super) fn for_cursor(
        &mut self,
        label: Option<Arc<str>>,
        names: &[Listed],
        at: u32,
        variable: u32,
    ) -> Result<Action> {
        let outside = self.innermost;
        let here = self.reader.here();
        self.qualified()?;
        let [Listed { parts, .. }] = names else {
            let message = "cursor FOR loop must have only one target variable";
            return Err(self.reader.complaint(message, at));
        };
        let [name] = &parts[..] else { return Err(self.reader.error()) };
        let Some(cursor) = self.variables[variable as usize].cursor.clone() else {
            let message = "cursor FOR loop must use a bound cursor variable";
            return Err(self.reader.complaint(message, here));
        };
        let arguments = self.cursor_arguments(variable, &cursor)?;
        // Its rows have a variable of the loop's own.
        let row = self.variable(Arc::clone(name), VariableType::Record);
        self.push_label(label.clone().unwrap_or_default(), true);
        self.push_name(name, row);
        self.reader.expect("loop")?;
        let body = self.loop_body(label.as_ref())?;
        self.innermost = outside;
        let places = vec![Place { variable: row, path: Vec::new() }];
        let query = Query::Cursor(variable, arguments);
        Ok(Action::ForQuery(Box::new(ForQuery { label, places, query, body })))
    }
}
