//! Subqueries of expressions, and common table expressions: run when somebody asks for the first time.

use super::context::Context;
use super::operator::Operator;
use super::spool::{Spool, SpoolReader};
use crate::bind::Quantifier;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::exec::hash_rows::HashRows;
use crate::exec::members::Members;
use crate::plan::build::Layout;
use crate::plan::cte::CtePlanBody;
use crate::plan::subplan::SubplanKind;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::Datum;
use crate::types::aggregate::Arrays;
use crate::types::array::Builder as ArrayBuilder;
use crate::types::check_held;
use std::sync::Arc;

/// A subquery in a run.
pub struct SubplanState {
    /// Its plan; taken out while it runs.
    pub(super) operator: Option<Box<dyn Operator>>,
    pub(super) kind: Arc<SubplanKind>,
    /// The programs of its expressions: of its test, or of the left and of the right side.
    pub(super) codes: Box<[Arc<Code>]>,
    /// The correlated subqueries that its test asks for.
    pub(super) correlated: Box<[u32]>,
    /// Its result, one column.
    pub result: RowBuf,
    /// Whether the result is there.
    pub done: bool,
    /// Its rows, where it is asked for members of them.
    pub(super) members: Option<Box<Members>>,
}

impl SubplanState {
    /// As [`Operator::rest_bytes`], with its result.
    pub(super) fn rest_bytes(&self) -> Option<usize> {
        let operator = self.operator.as_ref().filter(|_| self.members.is_none())?;
        Some(operator.rest_bytes()? + self.result.capacity_bytes())
    }
}

/// A common table expression in a run.
pub struct CteState {
    pub(super) body: CteRun,
    rows: Spool,
    state: Progress,
    modifies: bool,
    /// Where a recursive one has come to.
    recursion: Recursion,
}

/// Where a recursive common table expression has come to: `nodeRecursiveunion.c`, which gives each row as its term does.
struct Recursion {
    /// The recursive term runs, not the first one.
    stepping: bool,
    /// The rows that the recursive term reads: those of its last round.
    working: Spool,
    /// The rows of the round at hand, which the next one reads.
    fresh: Spool,
    /// The rows that UNION has seen, while it is not done.
    seen: Option<Box<HashRows>>,
}

/// How a common table expression's rows are made.
pub(super) enum CteRun {
    Query(Option<Box<dyn Operator>>, Layout),
    Recursive {
        base: (Option<Box<dyn Operator>>, Layout),
        step: (Option<Box<dyn Operator>>, Layout),
        all: bool,
        /// The subqueries that are run anew in each round.
        of_round: Box<[u32]>,
        types: Vec<u32>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    New,
    /// The recursive term runs: who reads it now is that term.
    Recursing,
    /// It has run so far as its rows were asked for.
    Between,
    Done,
}

/// How far somebody has read.
#[derive(Debug, Default)]
pub struct CteRead {
    at: usize,
    reader: SpoolReader,
}

impl SubplanState {
    /// Forgets its result, and the rows that it has looked for members in.
    fn forget(&mut self) {
        self.done = false;
        self.members = None;
    }
}

impl CteState {
    /// As [`Operator::rest_bytes`], with its rows.
    pub(super) fn rest_bytes(&self) -> Option<usize> {
        let Recursion { working, fresh, seen, .. } = &self.recursion;
        let rows = [&self.rows, working, fresh];
        if seen.is_some() || rows.iter().any(|rows| rows.is_filed()) {
            return None;
        }
        let rest = |operator: &Option<Box<dyn Operator>>| operator.as_ref()?.rest_bytes();
        let operators = match &self.body {
            CteRun::Query(query, _) => rest(query)?,
            CteRun::Recursive { base: (base, _), step: (step, _), .. } => rest(base)? + rest(step)?,
        };
        Some(operators + rows.iter().map(|rows| rows.capacity_bytes()).sum::<usize>())
    }

    /// One that has not run.
    pub(super) fn new(body: CteRun, width: usize, modifies: bool) -> CteState {
        CteState {
            body,
            rows: Spool::new(width),
            state: Progress::New,
            modifies,
            recursion: Recursion {
                stepping: false,
                working: Spool::new(width),
                fresh: Spool::new(width),
                seen: None,
            },
        }
    }

    /// Forgets its rows.
    pub fn reset(&mut self) {
        self.rows.clear();
        self.recursion.clear();
        self.state = Progress::New;
    }
}

impl Recursion {
    /// Forgets its rows: the first term is what runs next.
    fn clear(&mut self) {
        self.stepping = false;
        self.working.clear();
        self.fresh.clear();
        self.seen = None;
    }
}

/// Whether a body changes rows, and must run even if nobody reads it.
pub(super) fn modifies(body: &CtePlanBody) -> bool {
    let CtePlanBody::Query(plan, _) = body else { return false };
    let mut found = false;
    crate::plan::vars::walk(plan, &mut |node| {
        found |= matches!(node, crate::plan::Plan::Modify(_));
    });
    found
}

impl Context<'_> {
    /// Runs a subquery of an expression and keeps its result.
    ///
    /// # Errors
    /// 21000; everything it can fail with.
    pub fn run_subplan(&mut self, number: u32) -> Result<()> {
        let at = number as usize;
        let mut operator =
            self.subplans[at].operator.take().expect("a subquery is not run within itself");
        let kind = Arc::clone(&self.subplans[at].kind);
        let mut result = std::mem::take(&mut self.subplans[at].result);
        let outcome = self.subplan_result(number, operator.as_mut(), &kind, &mut result);
        let state = &mut self.subplans[at];
        state.operator = Some(operator);
        state.result = result;
        state.done = outcome.is_ok();
        outcome
    }

    fn subplan_result(
        &mut self,
        number: u32,
        operator: &mut dyn Operator,
        kind: &SubplanKind,
        result: &mut RowBuf,
    ) -> Result<()> {
        result.clear();
        if let SubplanKind::Hashed(hashed) = kind {
            let state = &mut self.subplans[number as usize];
            let [left, right] = [0, 1].map(|side| Arc::clone(&state.codes[side]));
            let members = match state.members.take() {
                Some(members) => members,
                None => Box::new(Members::collect(self, operator, (hashed, &right))?),
            };
            let answer = members.contains(self, (hashed, &left));
            self.subplans[number as usize].members = Some(members);
            result.push(answer?.map_or(Datum::Null, Datum::Bool));
            return Ok(());
        }
        operator.open(self)?;
        match kind {
            SubplanKind::Scalar(var) => {
                if operator.next(self)? {
                    result.push(self.frame.get(*var));
                    if operator.next(self)? {
                        return Err(SqlError::new(
                            SqlState::CARDINALITY_VIOLATION,
                            "more than one row returned by a subquery used as an expression",
                        ));
                    }
                } else {
                    result.push(Datum::Null);
                }
            }
            SubplanKind::Exists => result.push(Datum::Bool(operator.next(self)?)),
            SubplanKind::Array(var, element, true) => {
                let mut arrays = Arrays::new(element.0);
                while operator.next(self)? {
                    arrays.push(&self.frame.get(*var))?;
                    check_held(arrays.bytes())?;
                    self.check_cancel()?;
                }
                self.arena.reset();
                let none = || ArrayBuilder::new(element.0).finish(self.arena);
                result.push(arrays.finish(self.arena).unwrap_or_else(none));
            }
            SubplanKind::Array(var, element, false) => {
                let mut builder = ArrayBuilder::new(element.0);
                while operator.next(self)? {
                    builder.push(&self.frame.get(*var));
                    check_held(builder.bytes())?;
                    self.check_cancel()?;
                }
                self.arena.reset();
                result.push(builder.finish(self.arena));
            }
            SubplanKind::Hashed(_) => unreachable!("it has been answered above"),
            SubplanKind::Quantified(_, quantifier) => {
                let test = Arc::clone(&self.subplans[number as usize].codes[0]);
                let decisive = *quantifier == Quantifier::Any;
                let correlated = self.subplans[number as usize].correlated.clone();
                let mut unknown = false;
                let mut answer = Datum::Bool(!decisive);
                while operator.next(self)? {
                    self.check_cancel()?;
                    self.invalidate(&correlated);
                    let value = self.eval(&test, |values| {
                        Ok(match values.get(0) {
                            Datum::Bool(value) => Some(value),
                            _ => None,
                        })
                    })?;
                    match value {
                        Some(value) if value == decisive => {
                            answer = Datum::Bool(decisive);
                            unknown = false;
                            break;
                        }
                        Some(_) => {}
                        None => unknown = true,
                    }
                }
                result.push(if unknown { Datum::Null } else { answer });
            }
        }
        Ok(())
    }

    /// The next row of a common table expression, into `slot`.
    ///
    /// # Errors
    /// Everything it can fail with.
    pub fn read_cte(&mut self, number: u32, at: &mut CteRead, slot: u32) -> Result<bool> {
        // It goes on only when more of its rows are asked for, as in PostgreSQL: it may have no end.
        while match self.ctes[number as usize].state {
            Progress::New => true,
            Progress::Between => at.at >= self.ctes[number as usize].rows.len(),
            Progress::Recursing | Progress::Done => false,
        } {
            self.run_cte(number)?;
        }
        let cte = &self.ctes[number as usize];
        let rows =
            if cte.state == Progress::Recursing { &cte.recursion.working } else { &cte.rows };
        if at.at >= rows.len() {
            return Ok(false);
        }
        let row = self.frame.row_mut(slot);
        row.clear();
        rows.row(at.at, &mut at.reader)?.for_each(|datum| row.push(datum));
        at.at += 1;
        Ok(true)
    }

    /// Runs a common table expression that changes rows, if nobody has read it.
    ///
    /// # Errors
    /// Everything it can fail with.
    pub fn finish_modifying_cte(&mut self, number: u32) -> Result<()> {
        let cte = &self.ctes[number as usize];
        if cte.modifies && cte.state == Progress::New { self.run_cte(number) } else { Ok(()) }
    }

    /// Runs a common table expression to its next row, or to its end if it changes rows.
    fn run_cte(&mut self, number: u32) -> Result<()> {
        let at = number as usize;
        // A modification's count is the statement's own, not this one's.
        let processed = *self.processed;
        let mut body =
            std::mem::replace(&mut self.ctes[at].body, CteRun::Query(None, Layout::new()));
        let outcome = self.run_cte_body(at, &mut body);
        self.ctes[at].body = body;
        *self.processed = processed;
        match outcome {
            Ok(progress) => {
                self.ctes[at].state = progress;
                Ok(())
            }
            Err(error) => {
                self.ctes[at].reset();
                Err(error)
            }
        }
    }

    fn run_cte_body(&mut self, at: usize, body: &mut CteRun) -> Result<Progress> {
        match body {
            CteRun::Query(operator, layout) => {
                let operator = operator.as_mut().expect("it does not read itself");
                if self.ctes[at].state == Progress::New {
                    operator.open(self)?;
                }
                while operator.next(self)? {
                    self.check_cancel()?;
                    let frame = &*self.frame;
                    self.ctes[at].rows.push(layout.iter().map(|var| frame.get(*var)));
                    self.spill_cte(at)?;
                    if !self.ctes[at].modifies {
                        return Ok(Progress::Between);
                    }
                }
                Ok(Progress::Done)
            }
            CteRun::Recursive { base, step, all, of_round, types } => {
                if self.ctes[at].state == Progress::New {
                    let none = || Box::new(HashRows::new(types.clone(), types.len()));
                    self.ctes[at].recursion.seen = (!*all).then(none);
                    Self::term(base).open(self)?;
                }
                loop {
                    let stepping = self.ctes[at].recursion.stepping;
                    if self.next_of_term(at, if stepping { step } else { base })? {
                        return Ok(Progress::Between);
                    }
                    let recursion = &mut self.ctes[at].recursion;
                    if recursion.fresh.is_empty() {
                        recursion.clear();
                        return Ok(Progress::Done);
                    }
                    let round = std::mem::replace(&mut recursion.fresh, Spool::new(types.len()));
                    recursion.working = round;
                    recursion.stepping = true;
                    for number in of_round.iter() {
                        self.subplans[*number as usize].forget();
                    }
                    self.ctes[at].state = Progress::Recursing;
                    Self::term(step).open(self)?;
                }
            }
        }
    }

    fn term(term: &mut (Option<Box<dyn Operator>>, Layout)) -> &mut dyn Operator {
        term.0.as_mut().expect("a term is not run within itself").as_mut()
    }

    /// Runs a term of a recursive common table expression to its next row that is new, which goes to the result and to
    /// the next round; whether there was one.
    fn next_of_term(
        &mut self,
        at: usize,
        term: &mut (Option<Box<dyn Operator>>, Layout),
    ) -> Result<bool> {
        if self.ctes[at].recursion.stepping {
            self.ctes[at].state = Progress::Recursing;
        }
        while Self::term(term).next(self)? {
            self.check_cancel()?;
            let frame = &*self.frame;
            let row: Vec<Datum<'_>> = term.1.iter().map(|var| frame.get(*var)).collect();
            let state = &mut self.ctes[at];
            if let Some(seen) = &mut state.recursion.seen {
                if seen.find(&row).is_some() {
                    continue;
                }
                seen.insert(&row);
            }
            state.recursion.fresh.push(row.iter().copied());
            state.rows.push(row);
            self.bound_recursion(at)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Sees to it that the rows of a recursive common table expression take no more memory than they may.
    fn bound_recursion(&mut self, at: usize) -> Result<()> {
        if let Some(seen) = &self.ctes[at].recursion.seen {
            check_held(seen.bytes())?;
        }
        self.spill_cte(at)?;
        if self.ctes[at].recursion.fresh.bytes() > self.memory_limit() {
            let mut fresh = std::mem::take(&mut self.ctes[at].recursion.fresh);
            let outcome = fresh.spill(self.temp_space());
            self.ctes[at].recursion.fresh = fresh;
            outcome?;
        }
        Ok(())
    }

    /// Moves the rows of a common table expression to a temporary file, if they are more than memory takes.
    fn spill_cte(&mut self, at: usize) -> Result<()> {
        if self.ctes[at].rows.bytes() <= self.memory_limit() {
            return Ok(());
        }
        let mut rows = std::mem::take(&mut self.ctes[at].rows);
        let outcome = rows.spill(self.temp_space());
        self.ctes[at].rows = rows;
        outcome
    }
}
