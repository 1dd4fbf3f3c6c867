//! Rounds of a loop that are made where its rows are: the body of a loop over a query is the sink of the query's machine.
//!
//! A row goes from its home in the machine's frame straight into the loop's variables, and the body's operations run at once, as
//! long as they need nothing of the session. At the first one that does, the rest of the portion is kept
//! ([`super::loops`]), and the session goes on from there. So queries are read ahead as ever, 10 rows and then 50: what they do
//! meanwhile nobody can tell from these operations, since none of them draws what a query may draw too (a program that calls
//! volatile functions makes no rounds here). An error of a body is told behind those of the rest of its portion, which were there
//! before it; and where a handler of the same body may look at the variables behind an error of the query, no rounds are made.

use super::frame::{Frame, Shape};
use super::machine::code::Program;
use super::machine::{Exit, Room, run as run_operations};
use crate::error::{Notice, Result};
use crate::exec::frame::Frame as Rows;
use crate::exec::sink::{ColumnDescription, Flow, RowSink};
use crate::plan::scalar::Var;
use crate::tuple::{RowBuf, RowSet};
use crate::types::{CallContext, Datum};
use std::sync::Arc;

/// Where the columns of a portion's rows go.
pub enum Target {
    /// Into a record variable, as a row of this shape.
    Record(u32, Arc<Shape>),
    /// Into a variable of a type of rows, whose fields the columns are as they are. The type may be another one where a body has
    /// done more than compute: so rows that no rounds are made of are looked at.
    Row(u32, Arc<Shape>),
    /// Into variables that take them as they are, but for NULL where that is said.
    Variables(Box<[(u32, bool)]>),
    /// Where each value has to be looked at.
    Other,
}

/// The rounds that a portion's rows are taken for.
pub struct Rounds<'r> {
    pub program: &'r Program,
    pub frame: &'r mut Frame,
    pub room: &'r mut Room,
    pub target: &'r Target,
    /// The operation that the body begins with, behind the one that takes the next row.
    pub begin: usize,
    pub stop: &'r txn::Cancel,
    /// Whether its operations call functions, which look at what the query's look at.
    pub calls: bool,
    /// A row for these.
    pub row: RowBuf,
    /// Whether any round has been made.
    pub any: bool,
    /// Why and where the body was left.
    pub left: Option<(Result<Exit>, usize)>,
}

impl Rounds<'_> {
    /// Runs the body for a row that has been put where it goes.
    #[inline]
    fn round(&mut self, context: Option<&CallContext<'_>>) {
        self.any = true;
        let mut at = self.begin;
        let parts = (&mut *self.frame, &mut *self.room, &mut [][..]);
        let ended = run_operations(self.program, parts, &mut at, context, self.stop, false);
        // The next row of this loop is asked for: those of others are opened first, or closed.
        if !matches!(ended, Ok(Exit::Other)) || at != self.begin {
            self.left = Some((ended, at));
        }
    }

    /// Puts a row of so many columns, each of which is a column of a row, into the loop's variables; false where its values have
    /// to be looked at.
    #[inline]
    fn put<'c>(&mut self, count: usize, column: impl Fn(usize) -> (&'c RowBuf, usize)) -> bool {
        let fill = |fields: &mut RowBuf| {
            for at in 0..count {
                let (row, column) = column(at);
                fields.push_column(row, column);
            }
        };
        match self.target {
            Target::Record(variable, shape) => self.frame.unfold(*variable, shape, fill),
            Target::Row(variable, shape) => self.frame.unfold_typed(*variable, shape, fill),
            Target::Variables(all) => {
                let is_refused = |(at, (_, not_null)): (usize, &(u32, bool))| {
                    let (row, column) = column(at);
                    *not_null && row.is_null(column)
                };
                if all.iter().enumerate().any(is_refused) {
                    return false;
                }
                for (at, (variable, _)) in all.iter().enumerate() {
                    let (row, column) = column(at);
                    self.frame.set_column(*variable as usize, row, column);
                }
            }
            Target::Other => return false,
        }
        true
    }
}

/// Takes the rows of a portion: has rounds made of them as far as that goes, and keeps the others.
pub struct Portion<'r> {
    pub rows: &'r mut RowSet,
    pub rounds: Option<Rounds<'r>>,
    pub notices: Vec<Notice>,
}

impl<'r> Portion<'r> {
    /// The rounds, where the next row is for them.
    #[inline]
    fn rounds(&mut self) -> Option<&mut Rounds<'r>> {
        self.rounds.as_mut().filter(|rounds| rounds.left.is_none())
    }

    /// Values of a row have to be looked at: it is kept, and the loop goes on with it.
    #[cold]
    fn give_up(&mut self) {
        if let Some(rounds) = &mut self.rounds {
            rounds.left = Some((Ok(Exit::Other), rounds.begin));
        }
    }
}

impl RowSink for Portion<'_> {
    fn row(
        &mut self,
        context: &CallContext<'_>,
        _: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow> {
        crate::account::check()?;
        if let Some(rounds) = self.rounds() {
            let mut given = std::mem::take(&mut rounds.row);
            given.clear();
            row.iter().for_each(|datum| given.push(*datum));
            let put = rounds.put(given.len(), |at| (&given, at));
            rounds.row = given;
            if put {
                rounds.round(Some(context));
                return Ok(Flow::Continue);
            }
            self.give_up();
        }
        self.rows.push(row.iter().copied());
        Ok(Flow::Continue)
    }

    fn take(&mut self, frame: &Rows, columns: &[Var]) -> Option<Result<Flow>> {
        if let Err(error) = crate::account::check() {
            return Some(Err(error));
        }
        if let Some(rounds) = self.rounds() {
            if rounds.calls {
                return None;
            }
            if rounds.put(columns.len(), |at| frame.place(columns[at])) {
                rounds.round(None);
                return Some(Ok(Flow::Continue));
            }
            self.give_up();
        }
        self.rows.push_columns(columns.iter().map(|var| frame.place(*var)));
        Some(Ok(Flow::Continue))
    }

    fn notice(&mut self, notice: &Notice) {
        self.notices.push(notice.clone());
    }
}
