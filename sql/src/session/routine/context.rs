//! Where a session is within routines: what a CONTEXT says, innermost first.

use crate::error::SqlError;
use crate::plpgsql::tree::{Assignment, SELECT, Sql};
use crate::session::Session;
use std::sync::Arc;

/// A place around what runs.
#[derive(Clone, Debug)]
pub enum Place {
    /// A statement of a routine: its name, the line, what is done there. Without a line: before or behind all statements.
    Routine(Arc<str>, u32, &'static str),
    /// A statement of SQL that a routine runs.
    Statement(Arc<str>),
    /// An expression that a routine runs as a statement.
    Expression(Arc<str>),
    /// The value of an assignment that a routine runs as a statement.
    Assignment(Arc<str>),
    /// A statement of a body in SQL: the function's name, its number.
    Sql(Arc<str>, u32),
}

impl Place {
    /// Its line of a CONTEXT.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Place::Routine(name, 0, what) => format!("PL/pgSQL function {name} {what}"),
            Place::Routine(name, line, what) => {
                let at = if what.starts_with("during") { "" } else { "at " };
                format!("PL/pgSQL function {name} line {line} {at}{what}")
            }
            Place::Statement(text) => format!("SQL statement \"{text}\""),
            Place::Expression(text) => format!("SQL expression \"{text}\""),
            Place::Assignment(text) => format!("PL/pgSQL assignment \"{text}\""),
            Place::Sql(name, number) => format!("SQL function \"{name}\" statement {number}"),
        }
    }
}

/// Where an expression of a body is.
pub(super) fn expression(sql: &Sql) -> Place {
    match &sql.assignment {
        Some(assignment) => Place::Assignment(Arc::clone(&assignment.text)),
        None => Place::Expression(Arc::clone(&sql.text)),
    }
}

/// An error that comes up while an expression of a body is made ready, or while it runs as a statement: by its place, if it has
/// one, else as a line of CONTEXT.
pub(super) fn in_expression(error: SqlError, sql: &Sql) -> SqlError {
    let Some(position) = error.fields().position else {
        return error.within(expression(sql).text());
    };
    match &sql.assignment {
        None => error.in_text(SELECT, &*sql.text),
        Some(Assignment { text, before, made, path }) => {
            let at = match path {
                _ if position > *made => position - made + before,
                Some((written, made)) if position > *made => position - made + written,
                // What is wrong with the target is wrong with the whole.
                _ => 1,
            };
            error.nowhere().at(at).in_text(0, &**text)
        }
    }
}

/// An error of what the query behind an expression gives.
pub(super) fn of_query(error: SqlError, sql: &Sql) -> SqlError {
    let text = sql.assignment.as_ref().map_or(&sql.text, |assignment| &assignment.text);
    error.within(format!("query: {text}"))
}

impl Session {
    /// The CONTEXT of what is said here.
    pub(super) fn context_text(&self) -> String {
        let lines: Vec<String> = self.within.iter().rev().map(Place::text).collect();
        lines.join("\n")
    }

    /// The same, where the session is in a routine at all.
    pub(in crate::session) fn context_of_notices(&self) -> Option<String> {
        (!self.within.is_empty()).then(|| self.context_text())
    }

    /// The innermost routine goes on to another statement.
    pub(super) fn is_at(&mut self, line: u32, what: &'static str) {
        if let Some(Place::Routine(_, own_line, own_what)) = self.within.last_mut() {
            (*own_line, *own_what) = (line, what);
        }
    }

    /// Where the innermost routine is.
    pub(super) fn place(&self) -> (u32, &'static str) {
        match self.within.last() {
            Some(Place::Routine(_, line, what)) => (*line, what),
            _ => (0, ""),
        }
    }
}
