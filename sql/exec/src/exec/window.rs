//! Window functions: each row's values are computed over its frame, of rows that come partition by partition and in order.
//!
//! PostgreSQL: `nodeWindowAgg.c`, `windowfuncs.c`. Rows that are equal in all ORDER BY keys are *peers*. An aggregate goes on where the
//! frame of the next row begins where the last one's did and excludes nothing, and begins anew otherwise; a frame that stays
//! as it is, is not computed again.
//!
//! The input is read as far as the row at hand looks ([`Reach`]), so that of a running total under a LIMIT only the first rows
//! are made. The rows of the partition at hand stand in a spool; of them, one number for each group of peers stays in memory.

use super::context::Context;
use super::eval::Eval;
use super::made_aggregate::{MadeCode, Progress};
use super::operator::{Builder, Operator};
use super::spool::{Spool, SpoolReaders};
use crate::bind::logical::{FrameExclude, FrameUnit};
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical::{self, Reach, WindowBound, WindowFunction, WindowStep};
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::check_held;
use crate::types::{Accumulator, CallContext, Comparator, Datum};
use bumpalo::Bump;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::sync::Arc;

/// A running node.
pub struct Window {
    input: Box<dyn Operator>,
    plan: Arc<physical::Window>,
    /// PARTITION BY, then ORDER BY: what a kept row begins with.
    keys: Arc<Code>,
    /// How these are ordered.
    orders: Box<[Comparator]>,
    /// How far rows look.
    reach: Reach,
    /// What has to hold of a row for it, and for those behind it, to go out.
    run: Arc<Code>,
    codes: Box<[CallCode]>,
    /// The offsets of the frame's start and end.
    bounds: [Option<Arc<Code>>; 2],
    correlated: Box<[u32]>,
    rows: Rows,
    /// The row that was read last and is of no partition yet, if there is one.
    ahead: Option<RowBuf>,
    /// There is no row behind it.
    ended: bool,
    /// The frame holds another row than the one that was read last, from where the input goes on.
    displaced: bool,
    /// Offsets of ROWS and GROUPS.
    offsets: (usize, usize),
    /// Offsets of RANGE, the start's and the end's.
    distances: RowBuf,
    partition: Partition,
    aggregates: Vec<Option<Running>>,
    /// The same of those that users made: the state, and the rows that are in it.
    progress: Vec<Option<(Progress, Range<usize>)>>,
    /// The position of the next row in its partition.
    at: usize,
    begun: bool,
}

/// The programs of a call.
struct CallCode {
    /// Whether it takes a row.
    filter: Option<Arc<Code>>,
    arguments: Arc<Code>,
    made: Option<Arc<MadeCode>>,
}

impl CallCode {
    fn of(call: &WindowStep, builder: &Builder<'_>) -> CallCode {
        let made = match &call.function {
            WindowFunction::Aggregate(aggregate) => {
                aggregate.made.as_ref().map(|made| (made, aggregate))
            }
            _ => None,
        };
        CallCode {
            filter: call.filter.as_ref().map(|filter| builder.conditions([filter])),
            arguments: builder.code(&call.arguments),
            made: made.map(|(made, call)| MadeCode::of(made, &call.arguments, builder)),
        }
    }
}

/// The rows of the partition at hand, as far as they have been read. A row: the keys, for each call whether FILTER takes it and
/// its arguments, then what the frame held.
struct Rows {
    spool: Spool,
    readers: RefCell<SpoolReaders>,
}

/// Rows of one partition, as positions in it.
#[derive(Default)]
struct Partition {
    rows: Range<usize>,
    /// Where each group of peers begins.
    groups: Vec<usize>,
    /// Which group the current row is of.
    group: usize,
    /// How many groups are in front of where the frame begins and ends, as far as is known.
    edges: [Cell<usize>; 2],
    /// It has no more rows than these.
    whole: bool,
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

impl Rows {
    fn clear(&mut self) {
        self.spool.clear();
        self.readers = RefCell::default();
    }

    /// Has `look` look at a row of the partition.
    fn with_row<T>(&self, at: usize, look: impl FnOnce(&RowSet, usize) -> T) -> Result<T> {
        if let Some((rows, row)) = self.spool.in_memory(at) {
            return Ok(look(rows, row));
        }
        let readers = &mut *self.readers.borrow_mut();
        let (rows, row) = self.spool.find(at, readers)?;
        Ok(look(rows, row))
    }

    /// A column of a row of the partition, in `arena` where it would not stay.
    fn get<'v>(&'v self, arena: &'v Bump, at: usize, column: usize) -> Result<Datum<'v>> {
        if let Some((rows, row)) = self.spool.in_memory(at) {
            return Ok(rows.get(row, column));
        }
        self.with_row(at, |rows, row| rows.get(row, column).copied_into(arena))
    }
}

impl Window {
    /// Over an input.
    #[must_use]
    pub fn new(input: Box<dyn Operator>, plan: &physical::Window, builder: &Builder<'_>) -> Window {
        let keys: Vec<_> = plan.partition_by.iter().chain(&plan.order_by).cloned().collect();
        let calls = plan.calls.iter().flat_map(|call| call.arguments.iter().chain(&call.filter));
        let scalars = keys.iter().map(|(key, _)| key).chain(calls).chain(&plan.run);
        let correlated = builder.correlated(scalars);
        let arguments: usize = plan.calls.iter().map(|call| 1 + call.arguments.len()).sum();
        let bound = |bound: &WindowBound| match bound {
            WindowBound::Preceding(offset) | WindowBound::Following(offset) => {
                Some(builder.code([offset]))
            }
            _ => None,
        };
        Window {
            input,
            correlated,
            rows: Rows {
                spool: Spool::new(keys.len() + arguments + plan.saved.len()),
                readers: RefCell::default(),
            },
            ahead: None,
            ended: false,
            displaced: false,
            plan: Arc::new(physical::Window { input: physical::Plan::Nothing, ..plan.clone() }),
            keys: builder.code(keys.iter().map(|(key, _)| key)),
            orders: keys.iter().map(|(_, order)| *order).collect(),
            reach: plan.reach(),
            run: builder.conditions(&plan.run),
            codes: plan.calls.iter().map(|call| CallCode::of(call, builder)).collect(),
            bounds: [bound(&plan.frame.start), bound(&plan.frame.end)],
            offsets: (0, 0),
            distances: RowBuf::new(),
            partition: Partition::default(),
            aggregates: Vec::new(),
            progress: Vec::new(),
            at: 0,
            begun: false,
        }
    }

    /// Computes the offsets of frames.
    fn begin(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let [start, end] = [0, 1].map(|edge| self.bounds[edge].as_deref());
        if self.plan.frame.unit == FrameUnit::Range {
            self.distances.clear();
            distance(cx, start, "starting", &mut self.distances)?;
            distance(cx, end, "ending", &mut self.distances)?;
        } else {
            self.offsets = (offset(cx, start, "starting")?, offset(cx, end, "ending")?);
        }
        self.begun = true;
        Ok(())
    }

    /// Puts a row of the partition into the frame.
    fn show(&self, cx: &mut Context<'_>, at: usize) -> Result<()> {
        let (saved, frame) = (&self.plan.saved, &mut *cx.frame);
        self.rows.with_row(at, |rows, row| {
            frame.restore(saved, rows.row(row).skip(rows.width() - saved.len()));
        })
    }

    /// Reads the next row, where none is ahead; false if there is none.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if std::mem::take(&mut self.displaced)
            && let Some(last) = self.rows.spool.len().checked_sub(1)
        {
            self.show(cx, last)?;
        }
        if self.ended || !self.input.next(cx)? {
            self.ended = true;
            return Ok(false);
        }
        cx.check_cancel()?;
        cx.invalidate(&self.correlated);
        let mut row = RowBuf::new();
        cx.compute(&self.keys, &mut row)?;
        for code in &self.codes {
            let taken = match &code.filter {
                Some(filter) => cx.eval(filter, |values| Ok(values.hold()))?,
                None => true,
            };
            row.push(Datum::Bool(taken));
            match taken {
                true => cx.compute(&code.arguments, &mut row)?,
                false => code.arguments.results.iter().for_each(|_| row.push(Datum::Null)),
            }
        }
        self.plan.saved.iter().for_each(|var| row.push(cx.frame.get(*var)));
        self.ahead = Some(row);
        Ok(true)
    }

    /// Begins the next partition, with the row that has been read.
    fn begin_partition(&mut self) {
        self.rows.clear();
        self.partition = Partition { groups: vec![0], ..Partition::default() };
        self.aggregates = self.plan.calls.iter().map(|_| None).collect();
        self.progress = self.plan.calls.iter().map(|_| None).collect();
        self.at = 0;
    }

    /// The group of the next row.
    fn group(&self) -> usize {
        let Partition { group, groups, .. } = &self.partition;
        group + usize::from(groups.get(group + 1) == Some(&self.at))
    }

    /// Reads on until all rows of the partition are there that the next one looks at; false where the partition has no next one.
    fn read_partition(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        loop {
            let there = self.at < self.partition.rows.end;
            let enough = match self.reach {
                Reach::Row => true,
                Reach::Peers => self.group() + 1 < self.partition.groups.len(),
                Reach::Partition => false,
            };
            if self.partition.whole || there && enough {
                return Ok(there);
            }
            if self.ahead.is_none() && !self.read(cx)? || !self.take_ahead(cx)? {
                self.partition.whole = true;
            }
        }
    }

    /// Leaves out what is left of the partition.
    fn skip_partition(&mut self, cx: &mut Context<'_>) -> Result<()> {
        (self.partition.rows.end, self.partition.whole) = (self.at, true);
        if self.plan.partition_by.is_empty() {
            (self.ahead, self.ended) = (None, true);
            return Ok(());
        }
        let last = self.at - 1;
        while self.ahead.is_some() || self.read(cx)? {
            let same = |row: &RowBuf| {
                self.rows.with_row(last, |rows, last| {
                    let mut keys = self.orders[..self.plan.partition_by.len()].iter().enumerate();
                    keys.all(|(key, order)| {
                        order.compare(&rows.get(last, key), &row.get(key)).is_eq()
                    })
                })
            };
            match &self.ahead {
                Some(row) if !same(row)? => break,
                _ => self.ahead = None,
            }
        }
        Ok(())
    }

    /// Takes the row that has been read into the partition; false where it is of the next one.
    fn take_ahead(&mut self, cx: &Context<'_>) -> Result<bool> {
        let Some(row) = self.ahead.take() else { return Ok(false) };
        let count = self.partition.rows.end;
        if let Some(last) = count.checked_sub(1) {
            let same = self.rows.with_row(last, |rows, last| {
                let mut keys = self.orders.iter().enumerate();
                keys.position(|(key, order)| {
                    !order.compare(&rows.get(last, key), &row.get(key)).is_eq()
                })
            })?;
            if same.is_some_and(|same| same < self.plan.partition_by.len()) {
                self.ahead = Some(row);
                return Ok(false);
            }
            if same.is_some() {
                self.partition.groups.push(count);
            }
        }
        self.rows.spool.push(row.iter());
        self.partition.rows.end += 1;
        if self.rows.spool.bytes() > cx.memory_limit() {
            self.rows.spool.spill(cx.temp_space())?;
            check_held(self.partition.groups.len() * size_of::<usize>())?;
        }
        Ok(true)
    }

    /// Where the frame of the current row's group begins, or ends, if that bound is an offset of RANGE: groups are in order,
    /// so those in front of the place are found by halves.
    fn range_edge(&self, eval: &Eval<'_>, end: bool) -> Result<Option<usize>> {
        let (partition, frame) = (&self.partition, &self.plan.frame);
        let Some(in_range) = &frame.in_range[usize::from(end)] else { return Ok(None) };
        let bound = if end { &frame.end } else { &frame.start };
        let key = self.plan.partition_by.len();
        let order = &self.orders[key];
        let value_of = |group: usize| self.rows.get(eval.arena, partition.groups[group], key);
        let current = value_of(partition.group)?;
        let call = eval.call();
        let sub = matches!(bound, WindowBound::Preceding(_)) != order.descending;
        let less = end != order.descending;
        let offset = self.distances.get(usize::from(end));
        // No group is in front of it less than was the last time: the search begins there, with steps that double.
        let (mut low, mut high) = (partition.edges[usize::from(end)].get(), partition.groups.len());
        let mut step = 1;
        while low < high {
            let middle = low.midpoint(high).min(low + step - 1);
            step *= 2;
            let value = value_of(middle)?;
            let in_front = match (value.is_null(), current.is_null(), order.nulls_first) {
                (false, false, _) => {
                    let how = [value, current, offset, Datum::Bool(sub), Datum::Bool(less)];
                    matches!(Eval::apply(&call, in_range, &how)?, Datum::Bool(true)) == end
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
        partition.edges[usize::from(end)].set(low);
        Ok(Some(partition.groups.get(low).copied().unwrap_or(partition.rows.end)))
    }

    /// The frame of the row at a position.
    fn frame(&self, eval: &Eval<'_>, at: usize) -> Result<Frame> {
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
        self.orders.len() + before.iter().map(|call| 1 + call.arguments.len()).sum::<usize>()
    }

    /// An argument of a call in the row at a position.
    fn argument<'v>(
        &'v self,
        arena: &'v Bump,
        call: usize,
        argument: usize,
        at: usize,
    ) -> Result<Datum<'v>> {
        self.rows.get(arena, at, self.column(call) + 1 + argument)
    }

    /// The aggregate's state over a frame.
    fn aggregate(
        &mut self,
        context: &CallContext<'_>,
        call: usize,
        step: &physical::AggregateStep,
        frame: &Frame,
    ) -> Result<()> {
        let whole = self.plan.frame.exclude == FrameExclude::NoOthers;
        let running = self.aggregates[call].take();
        let running = running
            .filter(|running| running.whole && whole && running.frame.end <= frame.rows.end)
            .map(|running| self.left_behind(context, (call, step), running, frame.rows.start))
            .transpose()?;
        let (mut state, from) = match running.flatten() {
            Some(running) if running.frame.is_empty() => (running.state, frame.rows.start),
            Some(running) => (running.state, running.frame.end),
            None => {
                let state = crate::types::accumulator(step.computed_as, &step.types.signature());
                let state = state.ok_or_else(|| {
                    SqlError::new(SqlState::INTERNAL_ERROR, "an aggregate has lost its code")
                })?;
                (state, frame.rows.start)
            }
        };
        for at in frame.positions_from(from) {
            self.with_arguments((call, step), at, |values| state.add(context, values))?;
        }
        self.aggregates[call] = Some(Running { state, frame: frame.rows.clone(), whole });
        Ok(())
    }

    /// A state without the rows before a frame's start; none where it has to be made anew.
    fn left_behind(
        &self,
        context: &CallContext<'_>,
        step: (usize, &physical::AggregateStep),
        mut running: Running,
        start: usize,
    ) -> Result<Option<Running>> {
        let before = running.frame.start..start;
        if running.frame.is_empty() || before.start == start {
            return Ok(Some(running));
        }
        if start < before.start || start >= running.frame.end {
            return Ok(None);
        }
        for at in before {
            let remove = |values: &[Datum<'_>]| running.state.remove(context, values);
            if self.with_arguments(step, at, remove)? == Some(false) {
                return Ok(None);
            }
        }
        Ok(Some(running))
    }

    /// Looks at the arguments of an aggregate in a row, if FILTER and its strictness take it.
    fn with_arguments<T>(
        &self,
        (call, step): (usize, &physical::AggregateStep),
        at: usize,
        look: impl FnOnce(&[Datum<'_>]) -> Result<T>,
    ) -> Result<Option<T>> {
        let column = self.column(call);
        self.rows.with_row(at, |rows, row| {
            if !matches!(rows.get(row, column), Datum::Bool(true)) {
                return Ok(None);
            }
            let values = rows.row(row).skip(column + 1).take(step.arguments.len());
            let values: Vec<Datum<'_>> = values.collect();
            if step.strict && values.iter().any(Datum::is_null) {
                return Ok(None);
            }
            look(&values).map(Some)
        })?
    }

    /// The value of an aggregate that a user made, over the frame of a row. A frame that only grows is gone on with.
    fn made(
        &mut self,
        cx: &mut Context<'_>,
        (call, aggregate): (usize, &physical::AggregateStep),
        at: usize,
    ) -> Result<RowBuf> {
        let frame = self.frame(&cx.evaluator(), at)?;
        let whole = self.plan.frame.exclude == FrameExclude::NoOthers;
        // A frame whose start moves is computed with the functions for that, where there are such.
        let moves = !matches!(self.plan.frame.start, WindowBound::UnboundedPreceding);
        let made = self.codes[call].made.as_ref().expect("it is one that a user made");
        let made = Arc::clone(made.moving.as_ref().filter(|_| moves).unwrap_or(made));
        let running = self.progress[call].take();
        let running = running.filter(|(_, rows)| whole && rows.end <= frame.rows.end);
        let width = aggregate.arguments.len();
        let mut kept = None;
        if let Some((mut progress, rows)) = running {
            let start = frame.rows.start;
            let mut left = start == rows.start || rows.start < start && start < rows.end;
            for position in rows.start..start {
                if !left {
                    break;
                }
                cx.check_cancel()?;
                if let Some(values) = self.taken_row(call, width, position)? {
                    left = progress.remove(cx, (0..width).map(|at| values.get(at)))?;
                }
            }
            kept = left.then_some((progress, rows.end));
        }
        let (mut progress, from) = match kept {
            Some(kept) => kept,
            None => (Progress::begin(cx, &made)?, frame.rows.start),
        };
        for position in frame.positions_from(from) {
            cx.check_cancel()?;
            if let Some(values) = self.taken_row(call, width, position)? {
                progress.add(cx, (0..width).map(|at| values.get(at)))?;
            }
        }
        let value = progress.finish(cx)?;
        self.progress[call] = Some((progress, frame.rows.clone()));
        Ok(value)
    }

    /// The arguments of a call in a row, if FILTER takes it.
    fn taken_row(&self, call: usize, width: usize, position: usize) -> Result<Option<RowBuf>> {
        let column = self.column(call);
        let mut values = RowBuf::new();
        let taken = self.rows.with_row(position, |rows, row| {
            let all = rows.row(row).skip(column + 1).take(width);
            all.for_each(|value| values.push(value));
            matches!(rows.get(row, column), Datum::Bool(true))
        })?;
        Ok(taken.then_some(values))
    }

    /// The value of a function that is no aggregate.
    fn value<'v>(
        &'v self,
        arena: &'v Bump,
        call: usize,
        step: &WindowStep,
        at: usize,
        frame: &Frame,
    ) -> Result<Datum<'v>> {
        let partition = &self.partition;
        let (first, count) = (partition.rows.start, partition.rows.len());
        let peers = partition.group_rows(partition.group);
        let rank = (peers.start - first + 1) as i64;
        let argument = |argument, at| self.argument(arena, call, argument, at);
        let nth = |found: Option<usize>| match found {
            Some(found) => argument(0, found),
            None => Ok(Datum::Null),
        };
        Ok(match step.function {
            WindowFunction::RowNumber => Datum::Int8((at - first + 1) as i64),
            WindowFunction::Rank => Datum::Int8(rank),
            WindowFunction::DenseRank => Datum::Int8(partition.group as i64 + 1),
            WindowFunction::PercentRank if count <= 1 => Datum::Float8(0.0),
            WindowFunction::PercentRank => Datum::Float8((rank - 1) as f64 / (count - 1) as f64),
            WindowFunction::CumeDist => Datum::Float8((peers.end - first) as f64 / count as f64),
            WindowFunction::Ntile => match argument(0, first)? {
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
                    _ => match argument(1, at)? {
                        Datum::Int4(offset) => i64::from(offset),
                        _ => return Ok(Datum::Null),
                    },
                };
                let lags = matches!(step.function, WindowFunction::Lag);
                let offset = if lags { -offset } else { offset };
                let target = usize::try_from(at as i64 + offset).ok();
                match target.filter(|target| partition.rows.contains(target)) {
                    Some(target) => argument(0, target)?,
                    None if step.arguments.len() > 2 => argument(2, at)?,
                    None => Datum::Null,
                }
            }
            WindowFunction::FirstValue => nth(frame.positions().next())?,
            WindowFunction::LastValue => nth(frame.positions().next_back())?,
            WindowFunction::NthValue => match argument(1, at)? {
                Datum::Int4(number) if number > 0 => {
                    nth(frame.positions().nth(number as usize - 1))?
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

    /// Makes the values of the next row.
    fn compute_row(&mut self, cx: &mut Context<'_>) -> Result<()> {
        cx.check_cancel()?;
        cx.arena.reset();
        self.partition.group = self.group();
        let at = self.at;
        self.at += 1;
        let plan = Arc::clone(&self.plan);
        let mut made = RowBuf::new();
        for (call, step) in plan.calls.iter().enumerate() {
            let WindowFunction::Aggregate(aggregate) = &step.function else { continue };
            if aggregate.made.is_some() {
                let value = self.made(cx, (call, aggregate), at)?;
                made.push(value.get(0));
            }
        }
        let mut row = cx.frame.take(self.plan.slot);
        row.clear();
        let filled = self.fill(cx, at, &made, &mut row);
        cx.frame.put(self.plan.slot, row);
        filled
    }

    /// Makes the values of the row at a position; those of aggregates that users made are there.
    fn fill(&mut self, cx: &Context<'_>, at: usize, made: &RowBuf, row: &mut RowBuf) -> Result<()> {
        let eval = cx.evaluator();
        let (plan, context) = (Arc::clone(&self.plan), eval.call());
        let frame = self.frame(&eval, at)?;
        let mut values = 0..;
        for (call, step) in plan.calls.iter().enumerate() {
            if let WindowFunction::Aggregate(aggregate) = &step.function {
                if aggregate.made.is_some() {
                    row.push(made.get(values.next().unwrap_or_default()));
                    continue;
                }
                self.aggregate(&context, call, aggregate, &frame)?;
                let running = self.aggregates[call].as_ref().expect("it has just been run");
                row.push(running.state.finish(&context)?);
            } else {
                row.push(self.value(eval.arena, call, step, at, &frame)?);
            }
        }
        Ok(())
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
    bound: Option<&Code>,
    which: &str,
    kept: &mut RowBuf,
) -> Result<()> {
    let Some(bound) = bound else {
        kept.push(Datum::Null);
        return Ok(());
    };
    cx.compute(bound, kept)?;
    if kept.is_null(kept.len() - 1) { Err(null_offset(which)) } else { Ok(()) }
}

/// A bound's offset; 0 where it has none.
fn offset(cx: &mut Context<'_>, bound: Option<&Code>, which: &str) -> Result<usize> {
    let Some(bound) = bound else { return Ok(0) };
    let value = cx.eval(bound, |values| {
        Ok(match values.get(0) {
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
        self.partition = Partition { whole: true, ..Partition::default() };
        (self.ahead, self.ended, self.displaced) = (None, false, false);
        self.at = 0;
        self.begun = false;
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if !self.begun {
            self.begin(cx)?;
        }
        loop {
            while !self.read_partition(cx)? {
                if self.ahead.is_none() && !self.read(cx)? {
                    return Ok(false);
                }
                self.begin_partition();
            }
            self.compute_row(cx)?;
            if cx.holds(&self.run, &self.correlated)? {
                break;
            }
            self.skip_partition(cx)?;
        }
        // Who looks for a row behind the last one leaves anything there.
        let is_last = !self.ended && self.ahead.is_none() && self.at == self.rows.spool.len();
        if self.displaced || !is_last {
            self.show(cx, self.at - 1)?;
            self.displaced = !is_last;
        }
        Ok(true)
    }
}
