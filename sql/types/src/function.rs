//! How a function of `pg_proc` is implemented: registered under its OID, called with borrowed values.
//!
//! Strictness is the caller's business: a function that `pg_proc` calls strict never sees a NULL argument.

use crate::builtin;
use crate::error::{Notice, Result};
use crate::{Datum, Oid, SqlType, ValueSettings};
use bumpalo::Bump;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// What a function may look at besides its arguments.
pub struct CallContext<'a> {
    /// Where results that are not plain numbers live, until the row (or the statement) is done with.
    pub arena: &'a Bump,
    /// The session's settings: TimeZone, DateStyle, `extra_float_digits`, `search_path` and so on.
    pub settings: &'a ValueSettings,
    /// `now()`: the start of the transaction, microseconds since 2000-01-01 UTC.
    pub transaction_time: i64,
    /// `statement_timestamp()`.
    pub statement_time: i64,
    /// The wall clock, for `clock_timestamp()`.
    pub clock: &'a dyn txn::Clock,
    /// What the session knows and functions of the catalog ask: `current_user`, `pg_get_expr`, `to_regclass`.
    pub catalog: &'a dyn CatalogQueries,
    /// Where notices go.
    pub notices: &'a RefCell<Vec<Notice>>,
    /// The state of `random()`: the session owns and seeds it, `setseed` overwrites it. Never all zeros.
    pub random: &'a Cell<[u64; 2]>,
    /// Noted here, where somebody wants to know it: a text has been read whose value depends on when that is
    /// (`now`), or a constant was computed that is better not kept.
    pub time_read: Option<&'a Cell<bool>>,
    /// A text that is read is a constant of a statement, which was demanded of the statement whatever it names.
    pub constant: bool,
}

/// Questions about the catalog and the session that types and functions ask (regclass output, `format_type`,
/// `pg_table_is_visible`, `current_user`). Answered by `catalog`, so that types need not know how.
pub trait CatalogQueries {
    /// The session's database, user, session user, process number.
    fn session(&self) -> SessionFacts<'_>;
    /// Answers a catalog function called by its `pg_proc` OID, such as `pg_get_indexdef(oid)`; `None` if this is not
    /// one of the functions that the catalog answers.
    fn call<'a>(
        &self,
        context: &CallContext<'a>,
        function: u32,
        arguments: &[Datum<'a>],
    ) -> Option<Result<Datum<'a>>>;
    /// The keys of an index as messages show them, `a, lower(b::text)`: types as the search path finds them. None where
    /// the catalog has no such index.
    fn index_keys(&self, _context: &CallContext<'_>, _index: Oid) -> Option<String> {
        None
    }
    /// A stored expression that names no column as it is shown: types as the search path finds them.
    fn shown_expression(&self, _context: &CallContext<'_>, text: &str) -> String {
        text.to_owned()
    }
    /// The number of the transaction, of which rows show the lower half; given now if it has none and `gives`.
    fn transaction_number(&self, _gives: bool) -> Option<u32> {
        None
    }
    /// The settings as calls of the statement have changed them, if they may.
    fn changed_settings(&self) -> Option<&ValueSettings> {
        None
    }
    /// The text of a reg* value (`regclass`, `regtype`, `regproc`, `regnamespace`, `regrole`): its type's OID first.
    fn reg_out<'a>(&self, context: &CallContext<'a>, reg_type: u32, value: u32) -> &'a str;
    /// The value that such a text names.
    ///
    /// # Errors
    /// 42P01, 42704, 42883 and so on, as PostgreSQL's input functions.
    fn reg_in(&self, reg_type: u32, text: &str) -> Result<u32>;
    /// The same of a constant, for which nobody needs to be allowed anything.
    ///
    /// # Errors
    /// As [`CatalogQueries::reg_in`].
    fn reg_constant(&self, reg_type: u32, text: &str) -> Result<u32> {
        self.reg_in(reg_type, text)
    }
    /// Whether the current user may read a relation, or the column of it that has this `attnum`.
    fn may_read(&self, _relation: Oid, _column: Option<i16>) -> bool {
        true
    }
    /// A type's name as messages say it.
    fn type_name(&self, ty: u32) -> String {
        super::format_type(ty, Some(-1))
    }
    /// An enum's labels in order, with their values.
    fn enum_labels(&self, _ty: u32) -> Vec<(i64, Arc<str>)> {
        Vec::new()
    }
    /// The label of an enum's value.
    fn enum_label(&self, ty: u32, position: i64) -> Option<Arc<str>> {
        self.enum_labels(ty).into_iter().find(|(at, _)| *at == position).map(|(_, label)| label)
    }
    /// The value of an enum's label.
    fn enum_position(&self, ty: u32, label: &str) -> Option<i64> {
        self.enum_labels(ty).into_iter().find(|(_, known)| **known == *label).map(|(at, _)| at)
    }
    /// Whether this value of an enum is one of a label that the own transaction has added, so that nothing may be made of it yet.
    fn is_added_value(&self, _ty: u32, _position: i64) -> bool {
        false
    }
    /// What a domain stands on in the end; any other type is its own.
    fn base_type(&self, ty: SqlType) -> SqlType {
        match builtin::type_by_oid(ty.oid.0).filter(|_| builtin::is_built_in_domain(ty.oid.0)) {
            Some(domain) => SqlType { oid: Oid(domain.base), typmod: domain.base_typmod },
            None => ty,
        }
    }
    /// Holds a value of the base type, or NULL, against a domain.
    ///
    /// # Errors
    /// 23502, 23514; those of the conditions.
    fn check_domain(
        &self,
        _context: &CallContext<'_>,
        _domain: SqlType,
        _value: &Datum<'_>,
    ) -> Result<()> {
        Ok(())
    }
    /// Asks whether to stop: what takes long without coming back to its caller does so now and then.
    ///
    /// # Errors
    /// 57014 and its kin, where somebody asked the session to.
    fn check_cancel(&self) -> Result<()> {
        Ok(())
    }
    /// The first number of this run of the instance.
    fn first_xact_id(&self) -> u64 {
        3
    }
    /// The number of the transaction, or the next one if it has none.
    fn next_xact_id(&self) -> u64 {
        0
    }
    /// The rows of a set-returning function, by its `pg_proc` OID, that asks the catalog or the session.
    ///
    /// # Errors
    /// Those of the function, and of `emit`.
    fn set<'a>(
        &self,
        _context: &CallContext<'a>,
        _function: u32,
        _arguments: &[Datum<'a>],
        _emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        Ok(())
    }
    /// The names and types of a row type's fields; none for another type.
    fn row_fields(&self, _ty: u32) -> Option<Vec<(Arc<str>, SqlType)>> {
        None
    }
}

/// Who and where a session is.
#[derive(Clone, Copy, Debug)]
pub struct SessionFacts<'a> {
    /// `current_database()`.
    pub database: &'a str,
    /// `current_user`.
    pub user: &'a str,
    /// `session_user`.
    pub session_user: &'a str,
    /// `pg_backend_pid()`.
    pub pid: u32,
}

/// The types that one call in a plan was resolved to: what `"any"` and `anyelement` stand for there.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'a> {
    /// The arguments' types. A VARIADIC's array is one argument, unless `variadic_spread`.
    pub arguments: &'a [SqlType],
    /// The result's type.
    pub result: SqlType,
    /// The columns that a call in FROM was given, where the function itself does not say them.
    pub columns: &'a [(Arc<str>, SqlType)],
    /// The function takes VARIADIC "any" and its last arguments were given one by one (not as VARIADIC array).
    pub variadic_spread: bool,
}

/// How a function of `pg_proc` is called. [`crate::function`] finds it by OID.
#[derive(Clone, Copy)]
pub enum Callable {
    /// Its argument types are in its name.
    Plain(Function),
    /// It also has to be told its argument types.
    Typed(TypedFunction),
    /// It returns a set.
    Set(SetFunction),
}

/// A scalar function that has to know its argument types.
pub type TypedFunction =
    for<'a> fn(&CallContext<'a>, &Signature<'_>, &[Datum<'a>]) -> Result<Datum<'a>>;

/// A scalar function.
pub type Function = for<'a> fn(&CallContext<'a>, &[Datum<'a>]) -> Result<Datum<'a>>;

/// A set-returning function: it hands each row (one datum a column) to `emit`, which says whether to go on.
pub type SetFunction = for<'a> fn(
    &CallContext<'a>,
    &Signature<'_>,
    &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()>;

/// The state of one aggregate over one group. Owned, because it outlives the rows it has seen.
pub trait Accumulator: Send {
    /// Takes one row's arguments in. A strict transition function's NULLs have been left out by the caller.
    ///
    /// # Errors
    /// Those of the transition function: 22003 and the like.
    fn add(&mut self, context: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()>;
    /// Takes the arguments of a row out again that was taken in before, where a frame's start moves on (PostgreSQL's inverse transition
    /// functions). False where the state cannot tell what it would be without them: then it is to be made anew.
    fn remove(&mut self, _: &CallContext<'_>, _: &[Datum<'_>]) -> Result<bool> {
        Ok(false)
    }
    /// The aggregate's value so far. May be asked more than once (window frames).
    ///
    /// # Errors
    /// Those of the final function.
    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>>;
    /// About how many bytes it holds, for `work_mem`.
    fn bytes(&self) -> usize;
}
