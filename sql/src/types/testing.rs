//! A call context for this crate's tests: default settings, UTC, a catalog that knows nothing.

use super::{CallContext, CatalogQueries, Datum, SessionFacts};
use crate::error::{Result, SqlError};
use crate::types::settings::ValueSettings;
use bumpalo::Bump;
use std::cell::{Cell, RefCell};

pub(crate) struct NoCatalog;

impl CatalogQueries for NoCatalog {
    fn session(&self) -> SessionFacts<'_> {
        SessionFacts { database: "postgres", user: "postgres", session_user: "postgres", pid: 1 }
    }

    fn call<'a>(&self, _: &CallContext<'a>, _: u32, _: &[Datum<'a>]) -> Option<Result<Datum<'a>>> {
        None
    }

    fn reg_out<'a>(&self, context: &CallContext<'a>, _: u32, value: u32) -> &'a str {
        let name = crate::builtin::type_by_oid(value).map_or("-", |ty| ty.name);
        context.arena.alloc_str(name)
    }

    fn reg_in(&self, _: u32, text: &str) -> Result<u32> {
        Err(SqlError::unsupported(format!("{text} is")))
    }
}

pub(crate) struct StoppedClock;

impl txn::Clock for StoppedClock {
    fn now(&self) -> txn::Micros {
        txn::Micros::default()
    }

    fn wall(&self) -> i64 {
        0
    }
}

/// Runs `test` with a context over a fresh arena, at 2000-01-01 00:00:00 UTC.
pub(crate) fn with_context<T>(test: impl for<'a> FnOnce(&CallContext<'a>) -> T) -> T {
    let (arena, settings) = (Bump::new(), ValueSettings::default());
    let (notices, random) = (RefCell::new(Vec::new()), Cell::new([1, 2]));
    let context = CallContext {
        arena: &arena,
        settings: &settings,
        transaction_time: 0,
        statement_time: 0,
        clock: &StoppedClock,
        catalog: &NoCatalog,
        notices: &notices,
        random: &random,
        time_read: None,
        constant: false,
    };
    test(&context)
}
