//! Cursors of a body: OPEN, FETCH, MOVE and CLOSE (`exec_stmt_open` and its kin).
//!
//! A cursor is a portal of the session; the body's variable has its name. So SQL finds it by that, also when the body has come to
//! its end.

use super::Execution;
use super::create::command_tag;
use super::query::{demand_runnable, in_statement};
use crate::error::{Result, SqlError};
use crate::exec::sink::ColumnDescription;
use crate::message::Progress;
use crate::parse::ast::{self, FetchDirection};
use crate::plpgsql::tree::{Count, Direction, Fetch, Open, Query, Sql};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::session::portal::Portal;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{Datum, SqlType, oids};
use std::sync::Arc;

/// What a FETCH has come to.
pub(super) struct Fetched {
    prepared: Arc<Prepared>,
    pub rows: Vec<RowBuf>,
    count: u64,
}

impl Fetched {
    /// What the columns of its rows are.
    pub fn columns(&self) -> &[ColumnDescription] {
        self.prepared.columns.as_deref().unwrap_or_default()
    }
}

impl Session {
    /// A name for a cursor that has none.
    fn unnamed_portal(&mut self) -> String {
        loop {
            self.unnamed_portals += 1;
            let name = format!("<unnamed portal {}>", self.unnamed_portals);
            if !self.portals.contains_key(&name) {
                return name;
            }
        }
    }

    pub(super) fn fetch_rows(
        &mut self,
        name: &str,
        direction: FetchDirection,
        moves: bool,
    ) -> Result<Fetched> {
        let Some(cursor) = self.portals.get(name) else {
            return Err(SqlError::new(
                SqlState::INVALID_CURSOR_NAME,
                format!("cursor \"{name}\" does not exist"),
            ));
        };
        let prepared = Arc::clone(&cursor.prepared);
        let fetch = ast::Fetch { name: name.into(), direction, moves };
        let mut portal = Portal::new(Arc::clone(&prepared));
        let mut kept = self.keeping(usize::MAX);
        let done = crate::types::depth::deeper(|| {
            self.beside_answer(|session| session.fetch(&fetch, &mut portal, 0, &mut kept))
        });
        let rows = self.kept_rows(kept);
        let count = match done? {
            Progress::Complete(tag) => tag.rows.unwrap_or(0),
            _ => rows.len() as u64,
        };
        Ok(Fetched { prepared, rows, count })
    }
}

impl Execution<'_> {
    /// The query of a bound cursor, whose arguments get their values.
    pub(super) fn cursor_query(
        &mut self,
        variable: u32,
        arguments: &[(u32, Sql)],
    ) -> Result<(Arc<Prepared>, RowBuf)> {
        let mut values = Vec::new();
        for (argument, sql) in arguments {
            let mut value = RowBuf::new();
            let ty = self.evaluate(sql, &mut value)?;
            values.push((*argument, value, ty));
        }
        for (argument, mut value, ty) in values {
            self.put(argument, &mut value, ty)?;
        }
        let body = Arc::clone(&self.body);
        let cursor = body.variables[variable as usize].cursor.as_ref();
        let query = &cursor.expect("the parser has looked").query;
        let prepared = self.statement_of(query)?;
        let parameters = self.kit.frame.row().clone();
        Ok((prepared, parameters))
    }

    /// The name that a cursor's variable holds.
    pub(super) fn cursor_name(&self, variable: u32) -> Option<String> {
        match self.kit.frame.get(variable) {
            Datum::Text(name) => Some(name.to_owned()),
            _ => None,
        }
    }

    /// The same of a cursor that has to be there.
    fn demand_cursor(&self, variable: u32) -> Result<String> {
        self.cursor_name(variable).ok_or_else(|| {
            let name = &self.body.variables[variable as usize].name;
            SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                format!("cursor variable \"{name}\" is null"),
            )
        })
    }

    /// Opens a cursor under the name that its variable holds, or under a new one; the name.
    pub(super) fn opened_cursor(
        &mut self,
        variable: u32,
        query: &Query,
        scroll: Option<bool>,
    ) -> Result<String> {
        let given = self.cursor_name(variable);
        let own = &self.body.variables[variable as usize];
        if own.constant && given.is_none() {
            return Err(SqlError::new(
                SqlState::ERROR_IN_ASSIGNMENT,
                format!("variable \"{}\" is declared CONSTANT", own.name),
            ));
        }
        if let Some(name) = &given
            && self.session.portals.contains_key(name)
        {
            return Err(SqlError::new(
                SqlState::DUPLICATE_CURSOR,
                format!("cursor \"{name}\" already in use"),
            ));
        }
        let (prepared, parameters) = match query {
            Query::Dynamic(text, using) => self.dynamic_statement(text, using, true)?,
            query => self.query(query)?,
        };
        let text = prepared.text.clone();
        if prepared.columns.is_none() {
            return Err(SqlError::new(
                SqlState::INVALID_CURSOR_DEFINITION,
                format!("cannot open {} query as cursor", command_tag(&text)),
            ));
        }
        demand_runnable(&prepared)?;
        let name = match given {
            Some(name) => name,
            None => self.session.unnamed_portal(),
        };
        self.session
            .open_for_routine(&name, prepared, parameters, scroll)
            .map_err(|error| in_statement(error, &text))?;
        Ok(name)
    }

    pub(super) fn name_cursor(&mut self, variable: u32, name: Option<&str>) -> Result<()> {
        let mut value = RowBuf::new();
        value.push(name.map_or(Datum::Null, Datum::Text));
        self.put(variable, &mut value, SqlType::plain(oids::REFCURSOR))
    }

    /// OPEN.
    pub(super) fn open_cursor(&mut self, open: &Open) -> Result<()> {
        let unnamed = self.cursor_name(open.variable).is_none();
        let name = self.opened_cursor(open.variable, &open.query, open.scroll)?;
        if unnamed { self.name_cursor(open.variable, Some(&name)) } else { Ok(()) }
    }

    /// FETCH and MOVE.
    pub(super) fn fetch_cursor(&mut self, fetch: &Fetch) -> Result<()> {
        let name = self.demand_cursor(fetch.variable)?;
        if !self.session.portals.contains_key(&name) {
            let message = format!("cursor \"{name}\" does not exist");
            return Err(SqlError::new(SqlState::INVALID_CURSOR_NAME, message));
        }
        let count = match &fetch.direction.1 {
            Count::Fixed(count) => *count,
            Count::Of(sql) => {
                let mut value = RowBuf::new();
                self.evaluate(sql, &mut value)?;
                match value.get(0) {
                    Datum::Int4(count) => i64::from(count),
                    _ => {
                        return Err(SqlError::new(
                            SqlState::NULL_VALUE_NOT_ALLOWED,
                            "relative or absolute cursor position is null",
                        ));
                    }
                }
            }
        };
        let direction = match fetch.direction.0 {
            Direction::Forward => FetchDirection::Forward(count),
            Direction::Backward => FetchDirection::Backward(count),
            Direction::Absolute => FetchDirection::Absolute(count),
            Direction::Relative => FetchDirection::Relative(count),
        };
        let fetched = self.session.fetch_rows(&name, direction, fetch.moves)?;
        if !fetch.moves {
            self.put_into(&fetch.places, fetched.columns(), fetched.rows.first())?;
        }
        self.row_count = fetched.count;
        self.set_found(fetched.count > 0);
        self.session.spare_rows(fetched.rows);
        Ok(())
    }

    /// CLOSE.
    pub(super) fn close_cursor(&mut self, variable: u32) -> Result<()> {
        let name = self.demand_cursor(variable)?;
        self.session.close_cursor(Some(&name)).map(|_| ())
    }
}
