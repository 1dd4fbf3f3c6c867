//! A call's context where no session is asked: default settings, UTC, time standing still at 2000-01-01, a catalog that
//! knows nothing. Statistics and what DDL says of rows in its way are shown by it, and tests call functions with it.

use super::{CallContext, CatalogQueries, Datum, SessionFacts, ValueSettings};
use crate::error::{Result, SqlError};
use bumpalo::Bump;
use std::cell::{Cell, RefCell};

/// Answers nothing: reg* values are shown as numbers.
#[derive(Debug)]
pub struct NoSession;

impl CatalogQueries for NoSession {
    fn session(&self) -> SessionFacts<'_> {
        SessionFacts { database: "", user: "", session_user: "", pid: 0 }
    }

    fn call<'a>(&self, _: &CallContext<'a>, _: u32, _: &[Datum<'a>]) -> Option<Result<Datum<'a>>> {
        None
    }

    fn reg_out<'a>(&self, context: &CallContext<'a>, _: u32, value: u32) -> &'a str {
        context.arena.alloc_str(&value.to_string())
    }

    fn reg_in(&self, _: u32, text: &str) -> Result<u32> {
        Err(SqlError::unsupported(format!("the name \"{text}\" without a session is")))
    }
}

/// A clock that stands.
#[derive(Debug)]
pub struct StoppedClock;

impl txn::Clock for StoppedClock {
    fn now(&self) -> txn::Micros {
        txn::Micros::default()
    }

    fn wall(&self) -> i64 {
        0
    }
}

/// Calls `body` with such a context, over an arena of its own.
pub fn with_context<T>(body: impl for<'a> FnOnce(&CallContext<'a>) -> T) -> T {
    let (arena, settings) = (Bump::new(), ValueSettings::default());
    let (notices, random) = (RefCell::new(Vec::new()), Cell::new([1, 2]));
    let context = CallContext {
        arena: &arena,
        settings: &settings,
        transaction_time: 0,
        statement_time: 0,
        clock: &StoppedClock,
        catalog: &NoSession,
        notices: &notices,
        random: &random,
        time_read: None,
        constant: false,
    };
    body(&context)
}
