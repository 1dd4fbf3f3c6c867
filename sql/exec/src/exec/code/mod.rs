//! Runs of expressions' programs ([`crate::compile::code`]).
//!
//! A run neither recurses nor begins again: where a subquery or a routine has to be run in the middle, it stops with the number of its
//! step and what its registers hold ([`Suspension`]), gives back all that it borrows, and goes on at that step when the value is there.
//! So what has been computed, a volatile function's value too, is computed once; and subqueries are run exactly when
//! they are needed, as in PostgreSQL: CASE and AND guard them. PostgreSQL's programs (`execExprInterp.c`) have no stop, since there
//! a step may run a whole query; here that would borrow the frame twice.
//!
//! A program that needs nothing but parameters runs over these alone: PL/pgSQL's simple expressions (`exec_eval_simple_expr` of
//! PostgreSQL's `pl_exec.c`).

mod among;
mod list;
mod run;
#[cfg(test)]
mod tests;

use super::eval::Eval;
use super::frame::Frame;
use super::routine::RoutineCall;
use crate::compile::code::step::{Operand, Step};
use crate::compile::code::{Code, FEW};
use crate::error::Result;
use crate::tuple::RowBuf;
use crate::types::{CallContext, Datum};
use list::{List, OwnedList};
use run::Stop;

/// What a run waits for.
#[derive(Debug)]
pub enum Wants {
    /// The result of this subquery.
    Subquery(u32),
    /// The value of this call.
    Routine(RoutineCall),
}

/// A run that has stopped in the middle, and holds nothing but values of its own.
#[derive(Debug)]
pub struct Suspension {
    /// What it waits for.
    pub wants: Wants,
    /// The value of a call, once it is there.
    answer: RowBuf,
    /// The step that asks.
    at: usize,
    registers: RowBuf,
    lists: Vec<OwnedList>,
}

impl Suspension {
    /// Gives it the value of the call that it waits for.
    pub fn answer(&mut self, value: RowBuf) {
        self.answer = value;
    }
}

/// How far a run has come, of which somebody wants to look at the values.
#[derive(Debug)]
pub enum Progress<T, L> {
    /// To its end: what was made of its values.
    Done(T),
    /// To a step that waits; whoever wants to look has not done so.
    Stopped(Box<Suspension>, L),
}

/// The values of a program that has come to its end.
pub struct Values<'v> {
    /// Where it ran.
    pub eval: &'v Eval<'v>,
    code: &'v Code,
    registers: &'v [Datum<'v>],
    refused: bool,
}

impl<'v> Values<'v> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.code.results.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.code.results.is_empty()
    }

    /// Whether all conditions are true, of a program of such.
    #[must_use]
    #[inline]
    pub fn hold(&self) -> bool {
        !self.refused
    }

    /// One of them.
    #[must_use]
    #[inline]
    pub fn get(&self, at: usize) -> Datum<'v> {
        match self.code.results[at] {
            Operand::Var(var) => self.eval.column(var),
            Operand::Parameter(number) => self.eval.parameters.get(number as usize),
            Operand::Register(number) => self.registers[number as usize],
            Operand::Constant(number) => self.code.constants[number as usize].get(0),
            Operand::Integer(value) => Datum::Int8(value),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Datum<'v>> + '_ {
        (0..self.len()).map(|at| self.get(at))
    }

    /// All of them side by side.
    #[must_use]
    pub fn slice(&self) -> &'v [Datum<'v>] {
        self.eval.arena.alloc_slice_fill_iter(self.iter())
    }

    /// Puts one of them behind a row's values: what only stands elsewhere is copied from there.
    #[inline]
    pub fn push_to(&self, row: &mut RowBuf, at: usize) {
        match self.code.results[at] {
            Operand::Var(var) => match self.eval.in_record(var) {
                None => row.push_column(self.eval.frame.row(var.slot), var.column as usize),
                Some(value) => row.push(value),
            },
            Operand::Parameter(number) => row.push_column(self.eval.parameters, number as usize),
            _ => row.push(self.get(at)),
        }
    }

    /// Puts all of them behind a row's values.
    #[inline]
    pub fn push_all_to(&self, row: &mut RowBuf) {
        (0..self.len()).for_each(|at| self.push_to(row, at));
    }
}

impl Code {
    /// Runs it from the beginning, or on from where it has stopped, and has `look` look at the values.
    ///
    /// # Errors
    /// Those of its operations, and of `look`.
    #[inline]
    pub fn advance<'x, T, L: for<'v> FnOnce(&Values<'v>) -> Result<T>>(
        &'x self,
        eval: &'x Eval<'x>,
        suspension: Option<&'x Suspension>,
        look: L,
    ) -> Result<Progress<T, L>> {
        if self.steps.is_empty() {
            let values = Values { eval, code: self, registers: &[], refused: false };
            return look(&values).map(Progress::Done);
        }
        let mut few: [Datum<'_>; FEW];
        let registers = match self.registers as usize {
            0 => &mut [][..],
            count if count <= FEW => {
                few = [Datum::Null; FEW];
                &mut few[..]
            }
            count => eval.arena.alloc_slice_fill_copy(count, Datum::Null),
        };
        let mut lists = Vec::new();
        let from = match suspension {
            Some(suspension) => self.restore(suspension, registers, &mut lists),
            None => 0,
        };
        let refused = match self.go(eval, registers, &mut lists, from)? {
            Stop::End => false,
            Stop::Refused => true,
            Stop::Waits(at, wants) => {
                let suspension = Suspension::of(at, *wants, registers, &lists);
                return Ok(Progress::Stopped(Box::new(suspension), look));
            }
            Stop::Outside => unreachable!("a run in a context has all that steps need"),
        };
        let values = Values { eval, code: self, registers, refused };
        look(&values).map(Progress::Done)
    }

    /// Puts the value of a program over parameters into a row of one column, where functions look at `call`; false where it would
    /// have to stop.
    ///
    /// # Errors
    /// Those of its operations.
    pub fn compute_over(
        &self,
        call: &CallContext<'_>,
        parameters: &RowBuf,
        into: &mut RowBuf,
    ) -> Result<bool> {
        let frame = Frame::default();
        let run = self.advance(&Eval::over(call, &frame, parameters), None, |values| {
            into.clear();
            values.push_all_to(into);
            Ok(())
        })?;
        Ok(matches!(run, Progress::Done(())))
    }

    /// Takes up what a run held when it stopped; gives the step to go on at.
    #[cold]
    fn restore<'x>(
        &self,
        suspension: &'x Suspension,
        registers: &mut [Datum<'x>],
        lists: &mut Vec<List<'x>>,
    ) -> usize {
        for (register, value) in registers.iter_mut().zip(suspension.registers.iter()) {
            *register = value;
        }
        lists.extend(suspension.lists.iter().map(List::Owned));
        match (&self.steps[suspension.at], &suspension.wants) {
            (Step::Routine { to, .. }, Wants::Routine(_)) => {
                registers[*to as usize] = suspension.answer.get(0);
                suspension.at + 1
            }
            // The result is looked for once more.
            _ => suspension.at,
        }
    }

    /// The one value that it computes over parameters alone; nothing where it needs more than these, if only room for a value.
    ///
    /// # Errors
    /// Those of its operations.
    #[inline]
    pub fn run<'x>(&'x self, parameters: &'x RowBuf) -> Result<Option<Datum<'x>>> {
        let (true, [result]) = (self.bare, &*self.results) else { return Ok(None) };
        let (mut registers, mut lists) = ([Datum::Null; FEW], Vec::new());
        let Stop::End = self.go(parameters, &mut registers, &mut lists, 0)? else {
            return Ok(None);
        };
        Ok(Some(self.value(*result, parameters, &registers)))
    }

    /// Puts all that it computes over parameters alone into a row; false where it needs more.
    ///
    /// # Errors
    /// Those of its operations.
    pub fn run_into(&self, parameters: &RowBuf, into: &mut RowBuf) -> Result<bool> {
        if !self.bare {
            return Ok(false);
        }
        let (mut registers, mut lists) = ([Datum::Null; FEW], Vec::new());
        let Stop::End = self.go(parameters, &mut registers, &mut lists, 0)? else {
            return Ok(false);
        };
        into.clear();
        for result in &self.results {
            match *result {
                Operand::Parameter(number) => into.push_column(parameters, number as usize),
                other => into.push(self.value(other, parameters, &registers)),
            }
        }
        Ok(true)
    }
}

impl Suspension {
    #[cold]
    fn of(at: usize, wants: Wants, registers: &[Datum<'_>], lists: &[List<'_>]) -> Suspension {
        let lists = lists.iter().map(List::owned).collect();
        Suspension { wants, answer: RowBuf::new(), at, registers: row_of(registers), lists }
    }
}

/// Values as a row of their own.
fn row_of(values: &[Datum<'_>]) -> RowBuf {
    let mut row = RowBuf::new();
    values.iter().for_each(|value| row.push(*value));
    row
}
