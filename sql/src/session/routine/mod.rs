//! Running bodies of PL/pgSQL (PostgreSQL 15's `pl_exec.c`): statement by statement, within the transaction of the statement that
//! called.
//!
//! A body's SQL goes through the session's own planner, its variables being parameters. Each statement has a command number of
//! its own, so that what one writes the next one sees; a block with EXCEPTION is a subtransaction.
//!
//! - [`frame`]: values of variables; [`text`]: plans of the body's SQL
//! - [`machine`]: programs of bodies, and what runs them; `run`: statements that these have others run; `query`: those of SQL; `value`: assignments and casts; `raise`: messages; `handler`: exceptions
//! - `cursor`: cursors; `loops`: loops over rows and arrays
//! - `at_once`: statements of SQL that are run without a portal
//! - `context`: where the session is, for CONTEXT; `inline`: DO; `create`: CREATE FUNCTION, and CALL; `call`: calls; `around`: what stands
//!   around them
//! - `aside`: routines that definitions call while no statement runs that could lend the session
//! - `trigger`: functions and conditions of triggers; `contrib_trigger`: functions of extensions
//! - `lend`: how a statement that calls a routine lends it the session; `in_place`: calls that begin without that

mod around;
pub(super) mod aside;
mod at_once;
mod call;
#[cfg(test)]
mod code_tests;
mod context;
mod contrib_trigger;
mod create;
mod cursor;
mod dropped;
mod event_trigger;
pub(super) mod frame;
mod handler;
mod in_place;
mod inline;
mod lend;
mod loops;
mod machine;
mod query;
mod raise;
mod rounds;
mod run;
pub(super) mod text;
mod trigger;
mod types;
mod value;

pub(super) use call::Compiled;
pub(super) use context::Place as ContextPlace;
pub(super) use create::{ReadyCall, command_tag};
pub(super) use in_place::KnownCall;
pub(super) use machine::Kit;
pub(super) use text::{BodyTexts, Text};
pub(super) use trigger::{Condition, Ready as ReadyTrigger};
pub(super) use value::CastText;

use crate::error::SqlError;
use crate::plpgsql::tree::Body;
use crate::session::Session;
use crate::tuple::RowBuf;
use crate::types::SqlType;
use std::sync::Arc;

/// A running body.
pub(super) struct Execution<'s> {
    pub session: &'s mut Session,
    /// Its number among the session's bodies.
    pub id: u64,
    pub body: Arc<Body>,
    kit: Box<Kit>,
    /// Whether it may end the transaction.
    pub ends_transactions: bool,
    /// How many blocks with EXCEPTION are around.
    subtransactions: u32,
    /// How many of these have not been begun, as nothing has needed them.
    due: u32,
    /// The errors that are being handled, the innermost last.
    handled: Vec<SqlError>,
    /// ROW_COUNT.
    row_count: u64,
    /// Where conditions are evaluated.
    scratch: RowBuf,
    /// What it returns.
    pub returned: Returned,
    /// The program that the frame is laid out for, and the operation that it begins with.
    program: Option<Arc<machine::code::Program>>,
    start: usize,
    /// The loops over rows that it is in, the innermost last.
    loops: Vec<loops::OpenLoop>,
}

/// What a body returns.
#[derive(Default)]
pub(super) struct Returned {
    /// The type that RETURN gives; none where it gives nothing.
    pub ty: Option<SqlType>,
    /// Whether it is a row: of a composite type, or for a trigger one of any type.
    pub of_rows: bool,
    /// The columns of the row, where the caller says them (`SELECT ... FROM f() AS (...)`).
    pub columns: Option<Vec<SqlType>>,
    /// The value, a row of one column.
    pub value: RowBuf,
    /// Whether it may be a slot of the frame instead, and which it is.
    pub by_slot: bool,
    pub slot: Option<u16>,
    /// Whether a RETURN was met.
    pub met: bool,
    /// Whether it returns a set of records whose columns nobody has said.
    pub unlisted: bool,
    /// The rows of RETURN NEXT and RETURN QUERY, of these columns; none where it returns no set.
    pub set: Option<(Vec<SqlType>, Vec<RowBuf>)>,
    /// The variables that its result's columns are, where it has OUT parameters.
    pub outputs: Vec<u32>,
}
