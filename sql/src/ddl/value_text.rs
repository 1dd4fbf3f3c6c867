//! Values as text where no session is asked: in statistics, and in what DDL says of rows that stand in its way.

use crate::error::{Result, SqlError};
use crate::types::settings::ValueSettings;
use crate::types::{CallContext, CatalogQueries, Datum, SessionFacts, SqlType, text_of};
use bumpalo::Bump;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// Answers nothing: reg* values are shown as numbers.
struct NoSession;

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

struct NoClock;

impl txn::Clock for NoClock {
    fn now(&self) -> txn::Micros {
        txn::Micros::default()
    }

    fn wall(&self) -> i64 {
        0
    }
}

/// A value's text, under default settings; empty for NULL.
#[must_use]
pub fn shown(ty: SqlType, datum: Datum<'_>) -> Arc<str> {
    let (arena, settings) = (Bump::new(), ValueSettings::default());
    let (notices, random) = (RefCell::new(Vec::new()), Cell::new([1, 2]));
    let context = CallContext {
        arena: &arena,
        settings: &settings,
        transaction_time: 0,
        statement_time: 0,
        clock: &NoClock,
        catalog: &NoSession,
        notices: &notices,
        random: &random,
        time_read: None,
        constant: false,
    };
    // A value that has been read from a row can be written; if not, an empty text harms nobody.
    text_of(&context, ty, &datum).map(Arc::from).unwrap_or_default()
}

/// The values of a key in a message: `1, x`, NULL as `null`.
#[must_use]
pub fn key_values<'v>(values: impl Iterator<Item = (SqlType, Datum<'v>)>) -> String {
    let texts = values.map(|(ty, datum)| match datum {
        Datum::Null => Arc::from("null"),
        datum => shown(ty, datum),
    });
    texts.collect::<Vec<_>>().join(", ")
}
