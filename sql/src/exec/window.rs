//! Window functions: the input's rows are kept and sorted into partitions; each row's values are computed over its frame.
//!
//! PostgreSQL: `nodeWindowAgg.c`, `windowfuncs.c`. Rows that are equal in all ORDER BY keys are *peers*. An aggregate goes on where the
//! frame of the next row begins where the last one's did and excludes nothing, and begins anew otherwise; a frame that stays
//! as it is, is not computed again.

use super::context::Context;
use super::eval::{Eval, Failure};
use super::operator::{Builder, Operator};
use super::sort::{compare_rows, demand_comparable};
use crate::error::{Result, SqlError};
use crate::plan::logical::{FrameExclude, FrameUnit};
use crate::plan::physical::{self, WindowBound, WindowFunction, WindowStep};
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::{Accumulator, Comparator, Datum};
use std::ops::Range;
use std::sync::Arc;

/// A running node.
pub struct Window {
    input: Box<dyn Operator>,
    plan: Arc<physical::Window>,
    /// PARTITION BY, then ORDER BY: what a kept row begins with.
    keys: Vec<(Scalar, Comparator)>,
    correlated: Box<[u32]>,
    /// A row: the keys, for each call whether FILTER takes it and its arguments, then what the frame held.
    rows: RowSet,
    order: Vec<u32>,
    /// Offsets of ROWS and GROUPS.
    offsets: (usize, usize),
    /// Offsets of RANGE, the start's and the end's.
    distances: RowBuf,
    partition: Partition,
    aggregates: Vec<Option<Running>>,
    at: usize,
    filled: bool,
}

/// Rows of one partition, as positions in the sorted order.
#[derive(Default)]
struct Partition {
    rows: Range<usize>,
    /// Where each group of peers begins.
    groups: Vec<usize>,
    /// Which group the current row is of.
    group: usize,
}

/// An aggregate over the last row's frame.
struct Running {
    state: Box<dyn Accumulator>,
    frame: Range<usize>,
    whole: bool,
}

/// The rows that a row's value is computed over: a stretch, less what EXCLUDE leaves out.
struct Frame {
    rows: Range<usize>,
    excluded: Range<usize>,
    /// A row within what is left out that stays in.
    kept: Option<usize>,
}

impl Frame {
    fn positions(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        self.positions_from(self.rows.start)
    }

    fn positions_from(&self, from: usize) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let rows = from..self.rows.end;
        rows.filter(|at| !self.excluded.contains(at) || self.kept == Some(*at))
    }
}

impl Partition {
    fn group_rows(&self, group: usize) -> Range<usize> {
        let end = self.groups.get(group + 1).copied().unwrap_or(self.rows.end);
        self.groups[group]..end
    }
}

impl Window {
    /// Over an input.
    #[must_use]
    pub fn new(input: Box<dyn Operator>, plan: &physical::Window, builder: &Builder<'_>) -> Window {
        let keys: Vec<_> = plan.partition_by.iter().chain(&plan.order_by).cloned().collect();
        let calls = plan.calls.iter().flat_map(|call| call.arguments.iter().chain(&call.filter));
        let correlated = builder.correlated(keys.iter().map(|(key, _)| key).chain(calls));
        let arguments: usize = plan.calls.iter().map(|call| 1 + call.arguments.len()).sum();
        Window {
            input,
            correlated,
            rows: RowSet::new(keys.len() + arguments + plan.saved.len()),
            plan: Arc::new(physical::Window { input: physical::Plan::Nothing, ..plan.clone() }),
            keys,
            order: Vec::new(),
            offsets: (0, 0),
            distances: RowBuf::new(),
            partition: Partition::default(),
            aggregates: Vec::new(),
            at: 0,
            filled: false,
        }
    }

    fn run(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let plan = Arc::clone(&self.plan);
        let (start, end) = (&plan.frame.start, &plan.frame.end);
        if plan.frame.unit == FrameUnit::Range {
            self.distances.clear();
            distance(cx, start, "starting", &mut self.distances)?;
            distance(cx, end, "ending", &mut self.distances)?;
        } else {
            self.offsets = (offset(cx, start, "starting")?, offset(cx, end, "ending")?);
        }
        while self.input.next(cx)? {
            cx.check_cancel()?;
            cx.invalidate(&self.correlated);
            let (rows, keys, plan) = (&mut self.rows, &self.keys, &self.plan);
            cx.eval(|eval| {
                let mut row = Vec::with_capacity(rows.width());
                for (key, _) in keys {
                    row.push(eval.scalar(key)?);
                }
                for call in &plan.calls {
                    let taken = match &call.filter {
                        Some(filter) => matches!(eval.scalar(filter)?, Datum::Bool(true)),
                        None => true,
                    };
                    row.push(Datum::Bool(taken));
                    for argument in &call.arguments {
                        row.push(if taken { eval.scalar(argument)? } else { Datum::Null });
                    }
                }
                row.extend(plan.saved.iter().map(|var| eval.frame.get(*var)));
                rows.push(row);
                Ok(())
            })?;
            cx.check_memory(self.rows.bytes())?;
        }
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        order.sort_by(|a, b| compare_rows(&self.keys, &self.rows, *a as usize, *b as usize));
        demand_comparable(cx, &self.keys, &self.rows, |key| key, order.iter().copied())?;
        self.order = order;
        self.filled = true;
        Ok(())
    }

    /// Whether two rows, by position, are equal in the first `count` keys.
    fn equal(&self, a: usize, b: usize, count: usize) -> bool {
        let (a, b) = (self.order[a] as usize, self.order[b] as usize);
        compare_rows(&self.keys[..count], &self.rows, a, b).is_eq()
    }

    /// Begins the partition that begins at a position.
    fn begin_partition(&mut self, first: usize) {
        let (partition_keys, keys) = (self.plan.partition_by.len(), self.keys.len());
        let mut groups = vec![first];
        let mut end = first + 1;
        while end < self.order.len() && self.equal(first, end, partition_keys) {
            if !self.equal(end - 1, end, keys) {
                groups.push(end);
            }
            end += 1;
        }
        self.partition = Partition { rows: first..end, groups, group: 0 };
        self.aggregates = self.plan.calls.iter().map(|_| None).collect();
    }

    /// Where the frame of the current row's group begins, or ends, if that bound is an offset of RANGE: groups are in order,
    /// so those in front of the place are found by halves.
    fn range_edge(
        &self,
        eval: &Eval<'_>,
        end: bool,
    ) -> std::result::Result<Option<usize>, Failure> {
        let (partition, frame) = (&self.partition, &self.plan.frame);
        let Some(in_range) = &frame.in_range[usize::from(end)] else { return Ok(None) };
        let bound = if end { &frame.end } else { &frame.start };
        let key = self.plan.partition_by.len();
        let order = &self.keys[key].1;
        let value_of =
            |group: usize| self.rows.get(self.order[partition.groups[group]] as usize, key);
        let current = value_of(partition.group);
        let sub = matches!(bound, WindowBound::Preceding(_)) != order.descending;
        let less = end != order.descending;
        let offset = self.distances.get(usize::from(end));
        let (mut low, mut high) = (0, partition.groups.len());
        while low < high {
            let middle = low.midpoint(high);
            let value = value_of(middle);
            let in_front = match (value.is_null(), current.is_null(), order.nulls_first) {
                (false, false, _) => {
                    let how = [value, current, offset, Datum::Bool(sub), Datum::Bool(less)];
                    matches!(eval.apply(in_range, &how)?, Datum::Bool(true)) == end
                }
                // NULLs are peers of one another and in no distance from the others.
                (true, true, _) => end,
                (is_null, _, nulls_first) => is_null == nulls_first,
            };
            if in_front {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(Some(partition.groups.get(low).copied().unwrap_or(partition.rows.end)))
    }

    /// The frame of the row at a position.
    fn frame(&self, eval: &Eval<'_>, at: usize) -> std::result::Result<Frame, Failure> {
        let (partition, frame) = (&self.partition, &self.plan.frame);
        let all = partition.rows.clone();
        let peers = partition.group_rows(partition.group);
        let count = partition.groups.len();
        // The row, or the group of rows, that a bound names.
        let bound = |bound: &WindowBound, offset: usize| -> Range<usize> {
            let nothing_before = all.start..all.start;
            let nothing_behind = all.end..all.end;
            match (bound, frame.unit) {
                (WindowBound::UnboundedPreceding, _) => nothing_before,
                (WindowBound::UnboundedFollowing, _) => nothing_behind,
                (WindowBound::CurrentRow, FrameUnit::Rows) => at..at + 1,
                (WindowBound::CurrentRow, _) => peers.clone(),
                (WindowBound::Preceding(_), FrameUnit::Rows) => match at.checked_sub(offset) {
                    Some(row) if row >= all.start => row..row + 1,
                    _ => nothing_before,
                },
                (WindowBound::Following(_), FrameUnit::Rows) => match at.checked_add(offset) {
                    Some(row) if row < all.end => row..row + 1,
                    _ => nothing_behind,
                },
                (WindowBound::Preceding(_), _) => match partition.group.checked_sub(offset) {
                    Some(group) => partition.group_rows(group),
                    None => nothing_before,
                },
                (WindowBound::Following(_), _) => match partition.group.checked_add(offset) {
                    Some(group) if group < count => partition.group_rows(group),
                    _ => nothing_behind,
                },
            }
        };
        let start = match self.range_edge(eval, false)? {
            Some(start) => start,
            None => bound(&frame.start, self.offsets.0).start,
        };
        let end = match self.range_edge(eval, true)? {
            Some(end) => end,
            None => bound(&frame.end, self.offsets.1).end,
        };
        let (excluded, kept) = match frame.exclude {
            FrameExclude::NoOthers => (at..at, None),
            FrameExclude::CurrentRow => (at..at + 1, None),
            FrameExclude::Group => (peers, None),
            FrameExclude::Ties => (peers, Some(at)),
        };
        Ok(Frame { rows: start..end.max(start), excluded, kept })
    }

    /// The column of a call's FILTER; its arguments follow.
    fn column(&self, call: usize) -> usize {
        let before = &self.plan.calls[..call];
        self.keys.len() + before.iter().map(|call| 1 + call.arguments.len()).sum::<usize>()
    }

    /// An argument of a call in the row at a position.
    fn argument(&self, call: usize, argument: usize, at: usize) -> Datum<'_> {
        self.rows.get(self.order[at] as usize, self.column(call) + 1 + argument)
    }

    /// The aggregate's state over a frame.
    fn aggregate(
        &mut self,
        eval: &Eval<'_>,
        call: usize,
        step: &physical::AggregateStep,
        frame: &Frame,
    ) -> Result<()> {
        let whole = self.plan.frame.exclude == FrameExclude::NoOthers;
        let running = self.aggregates[call].take();
        let reusable = running.filter(|running| {
            let same_start = running.frame.start == frame.rows.start || running.frame.is_empty();
            running.whole && whole && same_start && running.frame.end <= frame.rows.end
        });
        let (mut state, from) = match reusable {
            Some(running) if running.frame.is_empty() => (running.state, frame.rows.start),
            Some(running) => (running.state, running.frame.end),
            None => {
                let state = crate::types::accumulator(step.function, &step.types.signature());
                let state = state.ok_or_else(|| {
                    SqlError::new(SqlState::INTERNAL_ERROR, "an aggregate has lost its code")
                })?;
                (state, frame.rows.start)
            }
        };
        let column = self.column(call);
        for at in frame.positions_from(from) {
            let row = self.order[at] as usize;
            if !matches!(self.rows.get(row, column), Datum::Bool(true)) {
                continue;
            }
            let values = self.rows.row(row).skip(column + 1).take(step.arguments.len());
            let values: Vec<Datum<'_>> = values.collect();
            if !(step.strict && values.iter().any(Datum::is_null)) {
                state.add(&eval.call, &values)?;
            }
        }
        self.aggregates[call] = Some(Running { state, frame: frame.rows.clone(), whole });
        Ok(())
    }

    /// The value of a function that is no aggregate.
    fn value(&self, call: usize, step: &WindowStep, at: usize, frame: &Frame) -> Result<Datum<'_>> {
        let partition = &self.partition;
        let (first, count) = (partition.rows.start, partition.rows.len());
        let peers = partition.group_rows(partition.group);
        let rank = (peers.start - first + 1) as i64;
        let nth =
            |found: Option<usize>| found.map_or(Datum::Null, |found| self.argument(call, 0, found));
        Ok(match step.function {
            WindowFunction::RowNumber => Datum::Int8((at - first + 1) as i64),
            WindowFunction::Rank => Datum::Int8(rank),
            WindowFunction::DenseRank => Datum::Int8(partition.group as i64 + 1),
            WindowFunction::PercentRank if count <= 1 => Datum::Float8(0.0),
            WindowFunction::PercentRank => Datum::Float8((rank - 1) as f64 / (count - 1) as f64),
            WindowFunction::CumeDist => Datum::Float8((peers.end - first) as f64 / count as f64),
            WindowFunction::Ntile => match self.argument(call, 0, first) {
                Datum::Int4(buckets) if buckets > 0 => {
                    Datum::Int4(bucket(at - first, count, buckets as usize) as i32)
                }
                Datum::Int4(_) => {
                    return Err(SqlError::new(
                        SqlState::INVALID_ARGUMENT_FOR_NTILE_FUNCTION,
                        "argument of ntile must be greater than zero",
                    ));
                }
                _ => Datum::Null,
            },
            WindowFunction::Lag | WindowFunction::Lead => {
                let offset = match step.arguments.len() {
                    1 => 1,
                    _ => match self.argument(call, 1, at) {
                        Datum::Int4(offset) => i64::from(offset),
                        _ => return Ok(Datum::Null),
                    },
                };
                let lags = matches!(step.function, WindowFunction::Lag);
                let offset = if lags { -offset } else { offset };
                let target = usize::try_from(at as i64 + offset).ok();
                match target.filter(|target| partition.rows.contains(target)) {
                    Some(target) => self.argument(call, 0, target),
                    None if step.arguments.len() > 2 => self.argument(call, 2, at),
                    None => Datum::Null,
                }
            }
            WindowFunction::FirstValue => nth(frame.positions().next()),
            WindowFunction::LastValue => nth(frame.positions().next_back()),
            WindowFunction::NthValue => match self.argument(call, 1, at) {
                Datum::Int4(number) if number > 0 => {
                    nth(frame.positions().nth(number as usize - 1))
                }
                Datum::Int4(_) => {
                    return Err(SqlError::new(
                        SqlState::INVALID_ARGUMENT_FOR_NTH_VALUE_FUNCTION,
                        "argument of nth_value must be greater than zero",
                    ));
                }
                _ => Datum::Null,
            },
            WindowFunction::Aggregate(_) => Datum::Null,
        })
    }
}

/// The bucket, from 1, of a row among `count` dealt out to `buckets`, the first ones taking one more.
fn bucket(row: usize, count: usize, buckets: usize) -> usize {
    let (size, larger) = (count / buckets, count % buckets);
    let in_larger = larger * (size + 1);
    if row < in_larger { row / (size + 1) + 1 } else { (row - in_larger) / size + larger + 1 }
}

fn null_offset(which: &str) -> SqlError {
    SqlError::new(
        SqlState::NULL_VALUE_NOT_ALLOWED,
        format!("frame {which} offset must not be null"),
    )
}

/// Keeps the offset of a bound of RANGE; NULL where it has none.
fn distance(
    cx: &mut Context<'_>,
    bound: &WindowBound,
    which: &str,
    kept: &mut RowBuf,
) -> Result<()> {
    let (WindowBound::Preceding(scalar) | WindowBound::Following(scalar)) = bound else {
        kept.push(Datum::Null);
        return Ok(());
    };
    let is_null = cx.eval(|eval| {
        let value = eval.scalar(scalar)?;
        kept.push(value);
        Ok(value.is_null())
    })?;
    if is_null { Err(null_offset(which)) } else { Ok(()) }
}

/// A bound's offset; 0 where it has none.
fn offset(cx: &mut Context<'_>, bound: &WindowBound, which: &str) -> Result<usize> {
    let (WindowBound::Preceding(scalar) | WindowBound::Following(scalar)) = bound else {
        return Ok(0);
    };
    let value = cx.eval(|eval| {
        Ok(match eval.scalar(scalar)? {
            Datum::Int8(value) => Some(value),
            _ => None,
        })
    })?;
    let value = value.ok_or_else(|| null_offset(which))?;
    usize::try_from(value).map_err(|_| {
        SqlError::new(
            SqlState::INVALID_PRECEDING_OR_FOLLOWING_SIZE,
            format!("frame {which} offset must not be negative"),
        )
    })
}

impl Operator for Window {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.rows.clear();
        self.order.clear();
        self.partition = Partition::default();
        self.at = 0;
        self.filled = false;
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if !self.filled {
            self.run(cx)?;
        }
        if self.at == self.order.len() {
            return Ok(false);
        }
        cx.check_cancel()?;
        cx.arena.reset();
        let at = self.at;
        self.at += 1;
        if at >= self.partition.rows.end {
            self.begin_partition(at);
        } else if at >= self.partition.group_rows(self.partition.group).end {
            self.partition.group += 1;
        }
        let mut row = cx.frame.take(self.plan.slot);
        let plan = Arc::clone(&self.plan);
        let filled = cx.eval(|eval| {
            row.clear();
            let frame = self.frame(eval, at)?;
            for (call, step) in plan.calls.iter().enumerate() {
                if let WindowFunction::Aggregate(aggregate) = &step.function {
                    self.aggregate(eval, call, aggregate, &frame)?;
                    let running = self.aggregates[call].as_ref().expect("it has just been run");
                    row.push(running.state.finish(&eval.call)?);
                } else {
                    row.push(self.value(call, step, at, &frame)?);
                }
            }
            Ok(())
        });
        cx.frame.put(self.plan.slot, row);
        filled?;
        let saved = self.rows.width() - self.plan.saved.len();
        let values = self.rows.row(self.order[at] as usize).skip(saved);
        cx.frame.restore(&self.plan.saved, values);
        Ok(true)
    }
}
