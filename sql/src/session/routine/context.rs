//! Where a session is within routines: what a CONTEXT says, innermost first.

use crate::session::Session;
use std::sync::Arc;

/// A place around what runs.
#[derive(Clone, Debug)]
pub enum Place {
    /// A statement of a routine: its name, the line, what is done there. Without a line: before or behind all statements.
    Routine(Arc<str>, u32, &'static str),
    /// A statement of SQL that a routine runs.
    Statement(Arc<str>),
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
            Place::Sql(name, number) => format!("SQL function \"{name}\" statement {number}"),
        }
    }
}

impl Session {
    /// The CONTEXT of what is said here.
    pub(super) fn context_text(&self) -> String {
        let lines: Vec<String> = self.within.iter().rev().map(Place::text).collect();
        lines.join("\n")
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
