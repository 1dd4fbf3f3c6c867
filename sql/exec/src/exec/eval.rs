//! Where expressions are evaluated, and how the functions in them are called.
//!
//! Expressions are programs ([`super::code`]); here is what these look at. Nothing is allocated but in the arena.

use super::context::Host;
use super::frame::Frame;
use super::record_row::RecordRow;
use super::subquery::SubplanState;
use crate::account;
use crate::bind::typed::CurrentValue;
use crate::catalog::builtin;
use crate::error::{Result, SqlError};
use crate::plan::scalar::{Callee, Target, Var};
use crate::tuple::RowBuf;
use crate::types::datetime::calendar;
use crate::types::{CallContext, Datum};
use bumpalo::Bump;

/// Who says what functions look at.
#[derive(Clone, Copy)]
enum Source<'a> {
    /// The session, as it is when it is asked.
    Host(&'a Host<'a>),
    /// Whoever evaluates.
    Given(&'a CallContext<'a>),
}

/// Where expressions are evaluated.
#[derive(Clone, Copy)]
pub struct Eval<'a> {
    source: Source<'a>,
    /// Where results are that are not plain numbers.
    pub arena: &'a Bump,
    /// The current rows.
    pub frame: &'a Frame,
    /// Parameters.
    pub parameters: &'a RowBuf,
    /// Subqueries' results.
    pub subplans: &'a [SubplanState],
    /// The row of a slot that stands in its record instead of the frame.
    beside: Option<&'a RecordRow<'a>>,
}

impl<'a> Eval<'a> {
    /// Within a statement.
    #[must_use]
    #[inline]
    pub fn within(
        host: &'a Host<'a>,
        arena: &'a Bump,
        (frame, parameters): (&'a Frame, &'a RowBuf),
        subplans: &'a [SubplanState],
    ) -> Eval<'a> {
        Eval { source: Source::Host(host), arena, frame, parameters, subplans, beside: None }
    }

    /// Over parameters, where functions look at `call`.
    #[must_use]
    pub fn over(call: &'a CallContext<'a>, frame: &'a Frame, parameters: &'a RowBuf) -> Eval<'a> {
        let (source, arena) = (Source::Given(call), call.arena);
        Eval { source, arena, frame, parameters, subplans: &[], beside: None }
    }

    /// The same where the row of a slot stands in its record.
    #[must_use]
    pub fn beside(self, row: &'a RecordRow<'a>) -> Eval<'a> {
        Eval { beside: Some(row), ..self }
    }

    /// The value at a home.
    #[must_use]
    #[inline]
    pub fn column(&self, var: Var) -> Datum<'a> {
        match self.beside.and_then(|row| row.get(var)) {
            Some(value) => value,
            None => self.frame.get(var),
        }
    }

    /// The value at a home that stands in its record.
    #[must_use]
    #[inline]
    pub fn in_record(&self, var: Var) -> Option<Datum<'a>> {
        self.beside?.get(var)
    }

    /// What functions look at.
    #[must_use]
    #[inline]
    pub fn call(&self) -> CallContext<'a> {
        match self.source {
            Source::Host(host) => host.call(self.arena),
            Source::Given(call) => CallContext { ..*call },
        }
    }

    /// Calls a function whose strictness has been seen to.
    ///
    /// # Errors
    /// The function's; 0A000 if it has no implementation, or is a routine.
    #[inline]
    pub fn apply<'x>(
        call: &CallContext<'x>,
        callee: &Callee,
        arguments: &[Datum<'x>],
    ) -> Result<Datum<'x>> {
        if let (Some(what), [first, ..]) = (callee.primitive, arguments) {
            return what.apply(*first, arguments[arguments.len() - 1]);
        }
        let value = match &callee.target {
            Target::Plain(code) => code(call, arguments),
            Target::Typed(code, types) => code(call, &types.signature(), arguments),
            Target::Routine(routine, _) => {
                let name = &routine.name;
                Err(SqlError::unsupported(format!("a call of the function {name} here is")))
            }
            Target::Catalog => match call.catalog.call(call, callee.oid, arguments) {
                Some(result) => result,
                None => {
                    let name =
                        builtin::function(callee.oid).map_or("?", |procedure| procedure.name);
                    Err(SqlError::unsupported(format!("the function {name} is")))
                }
            },
        }?;
        account::check()?;
        Ok(value)
    }

    /// CURRENT_DATE and its kin.
    ///
    /// # Errors
    /// Those of the catalog.
    pub fn current_value<'x>(call: &CallContext<'x>, value: CurrentValue) -> Result<Datum<'x>> {
        use crate::types::oids;
        let text = |text: &str| Datum::Text(call.arena.alloc_str(text));
        let (ty, precision) = match value {
            CurrentValue::User | CurrentValue::Role | CurrentValue::PlainUser => {
                return Ok(text(call.catalog.session().user));
            }
            CurrentValue::SessionUser => return Ok(text(call.catalog.session().session_user)),
            CurrentValue::Catalog => return Ok(text(call.catalog.session().database)),
            CurrentValue::Schema => {
                /// `current_schema()`.
                const CURRENT_SCHEMA: u32 = 1402;
                let answer = call.catalog.call(call, CURRENT_SCHEMA, &[]);
                return Ok(answer.transpose()?.unwrap_or(Datum::Null));
            }
            CurrentValue::Timestamp(precision) => (oids::TIMESTAMPTZ, precision),
            CurrentValue::LocalTimestamp(precision) => (oids::TIMESTAMP, precision),
            CurrentValue::LocalTime(precision) => (oids::TIME, precision),
            CurrentValue::Time(precision) => (oids::TIMETZ, precision),
            CurrentValue::Date => (oids::DATE, None),
        };
        if ty == oids::TIMETZ {
            let now = round(call.transaction_time, precision);
            return Ok(Datum::TimeTz(crate::types::datetime::timetz::local_time(call, now)));
        }
        let now = round(call.transaction_time, precision);
        if ty == oids::TIMESTAMPTZ {
            return Ok(Datum::TimestampTz(now));
        }
        let now = crate::types::datetime::functions::local(call, now);
        let (date, time) = calendar::split(now);
        Ok(match ty {
            oids::TIME => Datum::Time(time),
            oids::DATE => Datum::Date(date as i32),
            _ => Datum::Timestamp(now),
        })
    }
}

/// A time of day or point in time, to `precision` digits of a second.
fn round(micros: i64, precision: Option<u8>) -> i64 {
    match precision {
        Some(digits @ 0..=5) => {
            let unit = 10_i64.pow(6 - u32::from(digits));
            (micros + unit / 2).div_euclid(unit) * unit
        }
        _ => micros,
    }
}
