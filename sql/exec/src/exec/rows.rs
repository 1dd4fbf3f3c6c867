//! The plain operators: VALUES, filter, project, limit, what is kept and read again.

use super::context::Context;
use super::operator::{Builder, Operator};
use super::spool::{Spool, SpoolReader};
use super::subquery::CteRead;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical;
use crate::plan::scalar::{Scalar, Var};
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::{Comparator, Datum};
use std::sync::Arc;

/// One row without columns.
#[derive(Debug, Default)]
pub struct Unit {
    done: bool,
}

impl Operator for Unit {
    fn open(&mut self, _cx: &mut Context<'_>) -> Result<()> {
        self.done = false;
        Ok(())
    }

    fn next(&mut self, _cx: &mut Context<'_>) -> Result<bool> {
        Ok(!std::mem::replace(&mut self.done, true))
    }

    fn is_over(&self) -> bool {
        self.done
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(0)
    }
}

/// No row.
#[derive(Debug)]
pub struct Nothing;

impl Operator for Nothing {
    fn open(&mut self, _cx: &mut Context<'_>) -> Result<()> {
        Ok(())
    }

    fn next(&mut self, _cx: &mut Context<'_>) -> Result<bool> {
        Ok(false)
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(0)
    }
}

/// VALUES.
#[derive(Debug)]
pub struct Values {
    slot: u32,
    rows: Box<[Arc<Code>]>,
    correlated: Box<[u32]>,
    at: usize,
}

impl Values {
    /// Of these rows.
    #[must_use]
    pub fn new(slot: u32, rows: &[Vec<Scalar>], builder: &Builder<'_>) -> Values {
        let correlated = builder.correlated(rows.iter().flatten());
        let rows = rows.iter().map(|row| builder.code(row)).collect();
        Values { slot, rows, correlated, at: 0 }
    }
}

impl Operator for Values {
    fn open(&mut self, _cx: &mut Context<'_>) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let Some(row) = self.rows.get(self.at) else { return Ok(false) };
        self.at += 1;
        cx.arena.reset();
        cx.fill(self.slot, row, &self.correlated)?;
        Ok(true)
    }

    fn is_over(&self) -> bool {
        self.at == self.rows.len()
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(0)
    }
}

/// VALUES that are all constants.
#[derive(Debug)]
pub struct Constants {
    slot: u32,
    rows: Arc<RowSet>,
    at: usize,
}

impl Constants {
    /// Of these rows.
    #[must_use]
    pub fn new(slot: u32, rows: Arc<RowSet>) -> Constants {
        Constants { slot, rows, at: 0 }
    }
}

impl Operator for Constants {
    fn open(&mut self, _cx: &mut Context<'_>) -> Result<()> {
        self.at = 0;
        Ok(())
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.at == self.rows.len() {
            return Ok(false);
        }
        cx.arena.reset();
        let row = cx.frame.row_mut(self.slot);
        row.clear();
        self.rows.row(self.at).for_each(|datum| row.push(datum));
        self.at += 1;
        Ok(true)
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(0)
    }
}

/// WHERE, HAVING.
pub struct Filter {
    input: Box<dyn Operator>,
    conditions: Arc<Code>,
    correlated: Box<[u32]>,
}

impl Filter {
    /// Over an input.
    #[must_use]
    pub fn new(input: Box<dyn Operator>, conjuncts: &[Scalar], builder: &Builder<'_>) -> Filter {
        let correlated = builder.correlated(conjuncts);
        Filter { input, conditions: builder.conditions(conjuncts), correlated }
    }
}

impl Operator for Filter {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        while self.input.next(cx)? {
            if cx.holds(&self.conditions, &self.correlated)? {
                return Ok(true);
            }
            cx.check_cancel()?;
        }
        Ok(false)
    }

    fn is_over(&self) -> bool {
        self.input.is_over()
    }

    fn rest_bytes(&self) -> Option<usize> {
        self.input.rest_bytes()
    }
}

/// All rows or none.
pub struct OneTimeFilter {
    input: Box<dyn Operator>,
    conditions: Arc<Code>,
    correlated: Box<[u32]>,
    passes: bool,
}

impl OneTimeFilter {
    /// In front of an input.
    #[must_use]
    pub fn new(
        input: Box<dyn Operator>,
        conjuncts: &[Scalar],
        builder: &Builder<'_>,
    ) -> OneTimeFilter {
        let correlated = builder.correlated(conjuncts);
        let conditions = builder.conditions(conjuncts);
        OneTimeFilter { input, conditions, correlated, passes: false }
    }
}

impl Operator for OneTimeFilter {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.passes = cx.holds(&self.conditions, &self.correlated)?;
        if self.passes { self.input.open(cx) } else { Ok(()) }
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.passes { self.input.next(cx) } else { Ok(false) }
    }

    fn rest_bytes(&self) -> Option<usize> {
        self.input.rest_bytes()
    }
}

/// Computed columns.
pub struct Project {
    input: Box<dyn Operator>,
    slot: u32,
    columns: Arc<Code>,
    correlated: Box<[u32]>,
    /// The memory of the row before, in which the next one is computed.
    spare: RowBuf,
}

impl Project {
    /// Over an input.
    #[must_use]
    pub fn new(
        input: Box<dyn Operator>,
        slot: u32,
        columns: &[Scalar],
        builder: &Builder<'_>,
    ) -> Project {
        let correlated = builder.correlated(columns);
        let columns = builder.code(columns);
        Project { input, slot, columns, correlated, spare: RowBuf::new() }
    }
}

impl Operator for Project {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if !self.input.next(cx)? {
            return Ok(false);
        }
        cx.invalidate(&self.correlated);
        self.spare.clear();
        cx.compute(&self.columns, &mut self.spare)?;
        std::mem::swap(cx.frame.row_mut(self.slot), &mut self.spare);
        Ok(true)
    }

    fn is_over(&self) -> bool {
        self.input.is_over()
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(self.input.rest_bytes()? + self.spare.capacity_bytes())
    }
}

/// LIMIT and OFFSET.
pub struct Limit {
    input: Box<dyn Operator>,
    limit: Option<Arc<Code>>,
    offset: Option<Arc<Code>>,
    /// WITH TIES.
    ties: Option<Ties>,
    correlated: Box<[u32]>,
    skip: u64,
    left: Option<u64>,
    tying: bool,
}

/// The keys in which rows behind the last one are like it.
struct Ties {
    keys: Arc<Code>,
    comparators: Box<[Comparator]>,
    /// Those of the last row.
    last: RowBuf,
}

impl Limit {
    /// Over an input.
    #[must_use]
    pub fn new(input: Box<dyn Operator>, limit: &physical::Limit, builder: &Builder<'_>) -> Limit {
        let correlated = builder.correlated(limit.limit.iter().chain(&limit.offset));
        let ties = limit.ties.as_ref().map(|ties| Ties {
            keys: builder.code(ties.iter().map(|(key, _)| key)),
            comparators: ties.iter().map(|(_, comparator)| *comparator).collect(),
            last: RowBuf::new(),
        });
        Limit {
            input,
            limit: limit.limit.as_ref().map(|limit| builder.code([limit])),
            offset: limit.offset.as_ref().map(|offset| builder.code([offset])),
            ties,
            correlated,
            skip: 0,
            left: None,
            tying: false,
        }
    }
}

impl Ties {
    /// Whether the row at hand is like the last one.
    fn meets(&self, cx: &mut Context<'_>) -> Result<bool> {
        cx.eval(&self.keys, |values| {
            let mut keys = self.comparators.iter().zip(values.iter()).zip(self.last.iter());
            Ok(keys.all(|((comparator, key), last)| comparator.compare(&key, &last).is_eq()))
        })
    }

    /// Keeps the keys of the row at hand.
    fn keep(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.last.clear();
        cx.compute(&self.keys, &mut self.last)
    }
}

/// A row count of LIMIT or OFFSET; NULL is none.
///
/// # Errors
/// 2201W, 2201X for a negative one.
pub fn count(cx: &mut Context<'_>, code: Option<&Code>, offset: bool) -> Result<Option<u64>> {
    let Some(code) = code else { return Ok(None) };
    let value = cx.eval(code, |values| {
        Ok(match values.get(0) {
            Datum::Int8(value) => Some(value),
            Datum::Int4(value) => Some(i64::from(value)),
            _ => None,
        })
    })?;
    match value {
        None => Ok(None),
        Some(value) if value >= 0 => Ok(Some(value as u64)),
        Some(_) if offset => Err(SqlError::new(
            SqlState::INVALID_ROW_COUNT_IN_RESULT_OFFSET_CLAUSE,
            "OFFSET must not be negative",
        )),
        Some(_) => Err(SqlError::new(
            SqlState::INVALID_ROW_COUNT_IN_LIMIT_CLAUSE,
            "LIMIT must not be negative",
        )),
    }
}

impl Operator for Limit {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        cx.invalidate(&self.correlated);
        self.skip = count(cx, self.offset.as_deref(), true)?.unwrap_or(0);
        self.left = count(cx, self.limit.as_deref(), false)?;
        self.tying = false;
        if self.left != Some(0) {
            self.input.open(cx)?;
        }
        Ok(())
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.left == Some(0) && !self.tying {
            return Ok(false);
        }
        while self.skip > 0 {
            if !self.input.next(cx)? {
                self.left = Some(0);
                return Ok(false);
            }
            self.skip -= 1;
        }
        if !self.input.next(cx)? {
            (self.left, self.tying) = (Some(0), false);
            return Ok(false);
        }
        match (&mut self.left, &mut self.ties) {
            (Some(0), Some(ties)) => {
                self.tying = ties.meets(cx)?;
                Ok(self.tying)
            }
            (Some(left), ties) => {
                *left -= 1;
                if *left == 0
                    && let Some(ties) = ties
                {
                    self.tying = true;
                    ties.keep(cx)?;
                }
                Ok(true)
            }
            (None, _) => Ok(true),
        }
    }

    fn is_over(&self) -> bool {
        (self.left == Some(0) && self.ties.is_none()) || self.input.is_over()
    }

    fn rest_bytes(&self) -> Option<usize> {
        let ties = self.ties.as_ref().map_or(0, |ties| ties.last.capacity_bytes());
        Some(self.input.rest_bytes()? + ties)
    }
}

/// What the input gave, kept for further passes.
pub struct Materialize {
    input: Box<dyn Operator>,
    saved: Vec<Var>,
    rows: Spool,
    reader: SpoolReader,
    /// Nothing outside changes what the input gives: one pass serves the whole run.
    keep: bool,
    /// The run that `rows` are complete for.
    filled: Option<u64>,
    at: usize,
}

impl Materialize {
    /// Over an input; `keep` says that it depends on nothing outside itself.
    #[must_use]
    pub fn new(input: Box<dyn Operator>, saved: Vec<Var>, keep: bool) -> Materialize {
        let (rows, reader) = (Spool::new(saved.len()), SpoolReader::default());
        Materialize { input, saved, rows, reader, keep, filled: None, at: 0 }
    }
}

impl Operator for Materialize {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        if !self.keep || self.filled != Some(cx.run) {
            self.filled = None;
            self.rows.clear();
            self.reader = SpoolReader::default();
            self.input.open(cx)?;
        }
        self.at = 0;
        Ok(())
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.at < self.rows.len() {
            cx.frame.restore(&self.saved, self.rows.row(self.at, &mut self.reader)?);
            self.at += 1;
            return Ok(true);
        }
        if self.filled.is_some() || !self.input.next(cx)? {
            self.filled = Some(cx.run);
            return Ok(false);
        }
        let frame = &*cx.frame;
        self.rows.push(self.saved.iter().map(|var| frame.get(*var)));
        self.at += 1;
        if self.rows.bytes() > cx.memory_limit() {
            self.rows.spill(cx.temp_space())?;
        }
        Ok(true)
    }

    fn rest_bytes(&self) -> Option<usize> {
        if self.rows.is_filed() {
            return None;
        }
        Some(self.input.rest_bytes()? + self.rows.capacity_bytes())
    }
}

/// The rows of a common table expression.
#[derive(Debug)]
pub struct CteScan {
    slot: u32,
    number: u32,
    at: CteRead,
}

impl CteScan {
    /// Of the expression with this number.
    #[must_use]
    pub fn new(slot: u32, number: u32) -> CteScan {
        CteScan { slot, number, at: CteRead::default() }
    }
}

impl Operator for CteScan {
    fn open(&mut self, _cx: &mut Context<'_>) -> Result<()> {
        self.at = CteRead::default();
        Ok(())
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        cx.read_cte(self.number, &mut self.at, self.slot)
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(0)
    }
}

/// A query with common table expressions: each pass has its own.
pub struct WithCtes {
    input: Box<dyn Operator>,
    numbers: Vec<u32>,
    drained: bool,
}

impl WithCtes {
    /// Over the query.
    #[must_use]
    pub fn new(input: Box<dyn Operator>, numbers: Vec<u32>) -> WithCtes {
        WithCtes { input, numbers, drained: false }
    }
}

impl Operator for WithCtes {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        for number in &self.numbers {
            cx.ctes[*number as usize].reset();
        }
        self.drained = false;
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.input.next(cx)? {
            return Ok(true);
        }
        if !self.drained {
            self.drained = true;
            for number in &self.numbers {
                cx.finish_modifying_cte(*number)?;
            }
        }
        Ok(false)
    }

    fn rest_bytes(&self) -> Option<usize> {
        self.input.rest_bytes()
    }
}
