//! GROUP BY and DISTINCT, by hashing, or row behind row where the rows of a group come so.
//!
//! Groups by hashing come out in the order in which their first rows came in, as many as memory takes; rows of others go to temporary
//! files, apart by their keys, and their groups come behind, part by part. Aggregates with DISTINCT or ORDER BY keep their
//! arguments and are fed at the end. DISTINCT hands a row on the first time its key is seen, so that it can stop early.

use super::context::Context;
use super::hash_rows::HashRows;
use super::made_aggregate::{MadeCode, Progress};
use super::operator::{Builder, Operator};
use super::partitions::{LEVELS, Partition, PartitionReader, Partitions};
use super::row_sorter::RowSorter;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical::{self, AggregateStep};
use crate::plan::scalar::Var;
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::{Accumulator, CallContext, Comparator, Datum, Shapes, check_held};
use std::sync::Arc;

/// One aggregate of one group.
enum State {
    Plain(Box<dyn Accumulator>),
    /// Arguments kept (behind the sort keys) until all are there.
    Kept(Box<dyn Accumulator>, Box<RowSorter>),
    /// The same of one that a user made: its value, once its arguments have been fed.
    Made(RowBuf, Box<RowSorter>),
}

impl State {
    /// Takes the arguments of a row, behind the keys by which it is kept, and counts the bytes that these take.
    #[inline]
    fn take(
        &mut self,
        call: &AggregateStep,
        keys: usize,
        context: &CallContext<'_>,
        own: &[Datum<'_>],
        bytes: &mut usize,
    ) -> Result<()> {
        let values = &own[keys..];
        if call.strict && values.iter().any(Datum::is_null) {
            return Ok(());
        }
        match self {
            State::Plain(state) => {
                let before = state.bytes();
                state.add(context, values)?;
                *bytes = (*bytes + state.bytes()).saturating_sub(before);
            }
            State::Kept(_, sorter) | State::Made(_, sorter) => {
                let before = sorter.bytes();
                sorter.rows.push(own.iter().copied());
                *bytes += sorter.bytes() - before;
            }
        }
        Ok(())
    }

    /// As [`Operator::rest_bytes`].
    fn rest_bytes(&self) -> Option<usize> {
        let (computed, sorter) = match self {
            State::Plain(one) => (one.bytes(), None),
            State::Kept(one, sorter) => (one.bytes(), Some(sorter)),
            State::Made(value, sorter) => (value.capacity_bytes(), Some(sorter)),
        };
        let kept = sorter.map_or(Some(0), |sorter| sorter.rest_bytes())?;
        Some(STATE_BYTES + computed + kept)
    }
}

/// What a call keeps of a group goes to a temporary file where it is more than this part of what memory takes.
const KEPT_SHARE: usize = 8;
/// So many calls of groups have a file at once, at most.
const FILES_MAX: usize = 64;
/// About how many bytes what one call computes of one group takes from the beginning.
const STATE_BYTES: usize = 64;

/// The programs of a call.
struct CallCode {
    /// Whether it takes a row.
    filter: Option<Arc<Code>>,
    /// The keys by which rows are kept, and behind them the arguments.
    arguments: Arc<Code>,
    made: Option<Arc<MadeCode>>,
}

impl CallCode {
    fn of(call: &AggregateStep, builder: &Builder<'_>) -> CallCode {
        let distinct = if call.distinct { &call.arguments[..] } else { &[] };
        let keys = call.order_by.iter().map(|(key, _)| key).chain(distinct);
        CallCode {
            filter: call.filter.as_ref().map(|filter| builder.conditions([filter])),
            arguments: builder.code(keys.chain(&call.arguments)),
            made: call.made.as_ref().map(|made| MadeCode::of(made, &call.arguments, builder)),
        }
    }

    /// Whether the call takes the row at hand.
    fn takes(&self, cx: &mut Context<'_>) -> Result<bool> {
        match &self.filter {
            Some(filter) => cx.eval(filter, |values| Ok(values.hold())),
            None => Ok(true),
        }
    }
}

/// GROUP BY, or aggregates over everything.
pub struct Group {
    input: Box<dyn Operator>,
    plan: physical::Aggregate,
    correlated: Box<[u32]>,
    keys: Arc<Code>,
    codes: Box<[CallCode]>,
    groups: HashRows,
    key_types: Vec<u32>,
    shapes: Option<Shapes>,
    states: Vec<Vec<State>>,
    /// How many sort keys each call's arguments have before them.
    kept_keys: Vec<usize>,
    row: RowAtHand,
    /// The groups of the row at hand, one for each grouping set.
    touched: Vec<usize>,
    /// How many calls of groups have what they keep in temporary files.
    files: usize,
    /// What states hold beyond that, in bytes.
    state_bytes: usize,
    /// How many bytes may be held before what calls keep goes to temporary files, and before rows do.
    limits: (usize, usize),
    /// Rows of groups that are not in memory, while it is full.
    apart: Option<Partitions>,
    /// Such rows whose groups are still to come out.
    parts: Vec<Partition>,
    /// Rows of groups come out by number; filled once the input has ended.
    at: usize,
    filled: bool,
    /// Where rows come in order, the first of the groups that come next, if it is there.
    next: RowAtHand,
    begun: bool,
}

/// A row as it has been computed: its key in each grouping set, the calls' arguments, and which calls take it.
struct RowAtHand {
    group_keys: RowSet,
    arguments: RowBuf,
    taken: Vec<bool>,
}

impl RowAtHand {
    fn new(width: usize) -> RowAtHand {
        RowAtHand { group_keys: RowSet::new(width), arguments: RowBuf::new(), taken: Vec::new() }
    }
}

impl Group {
    /// Over an input.
    #[must_use]
    pub fn new(
        input: Box<dyn Operator>,
        plan: &physical::Aggregate,
        builder: &Builder<'_>,
    ) -> Group {
        let of_calls = plan.calls.iter().flat_map(|call| {
            let order = call.order_by.iter().map(|(key, _)| key);
            call.arguments.iter().chain(&call.filter).chain(order)
        });
        let scalars = plan.keys.iter().map(|(key, _)| key).chain(of_calls);
        let correlated = builder.correlated(scalars);
        // The number of the grouping set is a key too: sets do not mix.
        let mut types: Vec<u32> = plan.keys.iter().map(|(_, ty)| ty.0).collect();
        types.push(23);
        let width = types.len();
        Group {
            input,
            keys: builder.code(plan.keys.iter().map(|(key, _)| key)),
            codes: plan.calls.iter().map(|call| CallCode::of(call, builder)).collect(),
            plan: physical::Aggregate { input: physical::Plan::Nothing, ..plan.clone() },
            correlated,
            shapes: Shapes::of(&types),
            groups: HashRows::new(types.clone(), width),
            key_types: types,
            states: Vec::new(),
            kept_keys: plan.calls.iter().map(|call| keys_of(call).len()).collect(),
            row: RowAtHand::new(width),
            touched: Vec::new(),
            files: 0,
            state_bytes: 0,
            limits: (0, 0),
            apart: None,
            parts: Vec::new(),
            at: 0,
            filled: false,
            next: RowAtHand::new(width),
            begun: false,
        }
    }

    fn new_states(calls: &[AggregateStep]) -> Result<Vec<State>> {
        calls
            .iter()
            .map(|call| {
                let kept = || {
                    let keys = keys_of(call);
                    let places: Vec<usize> = (0..keys.len()).collect();
                    let width = keys.len() + call.arguments.len();
                    Box::new(RowSorter::new(width, keys, places))
                };
                if call.made.is_some() {
                    return Ok(State::Made(RowBuf::new(), kept()));
                }
                let state = call.accumulator().ok_or_else(|| {
                    SqlError::new(SqlState::INTERNAL_ERROR, "an aggregate has lost its code")
                })?;
                Ok(if call.keeps() { State::Kept(state, kept()) } else { State::Plain(state) })
            })
            .collect()
    }

    fn run(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.limits = (cx.memory_limit(), cx.hash_limit());
        let whole = self.plan.keys.is_empty() && self.plan.sets.len() == 1;
        let at_once = (whole || self.plan.is_plain()) && self.shapes.is_none();
        // Where there is nothing to group by there is one group, even of nothing.
        if whole {
            self.groups.insert_new(&[Datum::Int4(0)]);
            self.states.push(Group::new_states(&self.plan.calls)?);
        }
        while self.input.next(cx)? {
            cx.check_cancel()?;
            // A row that may have to be put aside is computed as a whole.
            if at_once && self.apart.is_none() {
                self.take_row(cx)?;
                continue;
            }
            self.look_at_row(cx)?;
            if let Some(shapes) = &mut self.shapes {
                let (group_keys, key_types) = (&self.row.group_keys, &self.key_types);
                let call = cx.evaluator().call();
                for set in 0..group_keys.len() {
                    // Each set would be sorted by itself.
                    let number = (23, Datum::Int4(i32::try_from(set).unwrap_or(i32::MAX)));
                    let key = key_types.iter().copied().zip(group_keys.row(set));
                    shapes.note(&call, std::iter::once(number).chain(key), false)?;
                }
                check_held(shapes.bytes())?;
            }
            self.absorb(cx, 0)?;
        }
        if let Some(apart) = self.apart.take() {
            self.parts.extend(apart.finish(cx)?);
        }
        // So it is for each empty grouping set.
        for (number, set) in self.plan.sets.iter().enumerate() {
            if set.is_empty() && !whole {
                let mut key = vec![Datum::Null; self.plan.keys.len()];
                key.push(Datum::Int4(i32::try_from(number).unwrap_or(i32::MAX)));
                if self.groups.insert_new(&key).0 {
                    self.states.push(Group::new_states(&self.plan.calls)?);
                }
            }
        }
        self.filled = true;
        Ok(())
    }

    /// Gives the row at hand to its group, which memory takes: each call has its arguments as they are computed.
    fn take_row(&mut self, cx: &mut Context<'_>) -> Result<()> {
        cx.invalidate(&self.correlated);
        let (groups, codes) = (&mut self.groups, &self.keys);
        let (new, group) = if self.plan.keys.is_empty() {
            (false, 0)
        } else {
            cx.eval(codes, |keys| {
                let key = keys.iter().chain([Datum::Int4(0)]);
                let key: &[Datum<'_>] = match keys.len() {
                    1 => &[keys.get(0), Datum::Int4(0)],
                    _ => bumpalo::collections::Vec::from_iter_in(key, keys.eval.arena)
                        .into_bump_slice(),
                };
                Ok(groups.insert_new(key))
            })?
        };
        if new {
            self.states.push(Group::new_states(&self.plan.calls)?);
        }
        let calls = self.plan.calls.iter().zip(&self.codes).zip(&self.kept_keys);
        let (states, before) = (&mut self.states[group], self.state_bytes);
        let bytes = &mut self.state_bytes;
        for (((call, code), kept_keys), state) in calls.zip(states) {
            if code.takes(cx)? {
                cx.eval(&code.arguments, |values| {
                    let context = values.eval.call();
                    match values.len() {
                        0 => state.take(call, *kept_keys, &context, &[], bytes),
                        1 => state.take(call, *kept_keys, &context, &[values.get(0)], bytes),
                        _ => state.take(call, *kept_keys, &context, values.slice(), bytes),
                    }
                })?;
            }
        }
        if new || self.state_bytes != before {
            self.touched.clear();
            self.touched.push(group);
            self.make_room(cx, 0)?;
        }
        Ok(())
    }

    /// Computes of the row at hand its keys and what the calls take of it.
    fn look_at_row(&mut self, cx: &mut Context<'_>) -> Result<()> {
        cx.invalidate(&self.correlated);
        let (plan, group_keys) = (&self.plan, &mut self.row.group_keys);
        group_keys.clear();
        cx.eval(&self.keys, |keys| {
            for (number, set) in plan.sets.iter().enumerate() {
                let number = i32::try_from(number).unwrap_or(i32::MAX);
                let in_set = |at: usize| set.contains(&(at as u32));
                group_keys.push(
                    keys.iter()
                        .enumerate()
                        .map(|(at, key)| if in_set(at) { key } else { Datum::Null })
                        .chain([Datum::Int4(number)]),
                );
            }
            Ok(())
        })?;
        self.row.arguments.clear();
        self.row.taken.clear();
        for code in &self.codes {
            let take = code.takes(cx)?;
            self.row.taken.push(take);
            if take {
                cx.compute(&code.arguments, &mut self.row.arguments)?;
            }
        }
        Ok(())
    }

    /// Reads the rows of the next groups, up to the first row of those behind them. False where there is none.
    fn run_group(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        self.limits = (cx.memory_limit(), cx.hash_limit());
        self.forget_groups();
        if std::mem::take(&mut self.begun) {
            std::mem::swap(&mut self.row, &mut self.next);
            self.absorb(cx, 0)?;
        }
        while !self.filled {
            if !self.input.next(cx)? {
                self.filled = true;
                break;
            }
            cx.check_cancel()?;
            self.look_at_row(cx)?;
            let key: &[Datum<'_>] = cx.arena.alloc_slice_fill_iter(self.row.group_keys.row(0));
            let same = |first| self.groups.agrees(first, key, &self.plan.ordered);
            self.begun = !self.states.is_empty() && !same(0);
            if self.begun {
                std::mem::swap(&mut self.row, &mut self.next);
                break;
            }
            self.absorb(cx, 0)?;
        }
        if let Some(apart) = self.apart.take() {
            self.parts.extend(apart.finish(cx)?);
        }
        Ok(!self.states.is_empty())
    }

    fn forget_groups(&mut self) {
        self.groups.clear();
        self.states.clear();
        (self.state_bytes, self.files, self.at) = (0, 0, 0);
    }

    /// Gives the row at hand to its groups. Rows of groups that memory does not take any more are put aside, one level deeper
    /// than this.
    fn absorb(&mut self, cx: &mut Context<'_>, level: u32) -> Result<()> {
        self.touched.clear();
        let one = self.plan.keys.is_empty() && self.plan.sets.len() == 1;
        for at in 0..self.row.group_keys.len() {
            // Where there is nothing to group by there is one group.
            let group = match one && !self.states.is_empty() {
                true => Some(0),
                false => self.group_of(cx, at, level)?,
            };
            let Some(group) = group else { continue };
            self.touched.push(group);
            self.advance(cx, group)?;
        }
        self.make_room(cx, level)
    }

    /// Sees to it that no more is held than may be, behind a row.
    fn make_room(&mut self, cx: &mut Context<'_>, level: u32) -> Result<()> {
        let one = self.plan.keys.is_empty() && self.plan.sets.len() == 1;
        // What is put aside stays so: who has been may not be in memory, too.
        let (limit, most) = self.limits;
        if self.groups.bytes() + self.state_bytes > limit {
            let freed = self.spill_kept(cx, limit)?;
            self.state_bytes = self.state_bytes.saturating_sub(freed);
        }
        let calls = self.plan.calls.len() * STATE_BYTES;
        let held = self.groups.bytes() + self.states.len() * calls + self.state_bytes;
        if held > most && self.apart.is_none() && level < LEVELS && !one {
            self.apart = Some(Partitions::new(cx, level, &self.key_types)?);
        }
        check_held(held)
    }

    /// Which group the row at hand belongs to by one of its keys; none where it has been put aside.
    fn group_of(&mut self, cx: &Context<'_>, at: usize, level: u32) -> Result<Option<usize>> {
        let key: &[Datum<'_>] = cx.arena.alloc_slice_fill_iter(self.row.group_keys.row(at));
        if let Some(apart) = &mut self.apart {
            let found = self.groups.find(key);
            if found.is_none() {
                debug_assert!(level < LEVELS, "past the last level all groups are in memory");
                let taken = self.row.taken.iter().map(|taken| Datum::Bool(*taken));
                let row = key.iter().copied().chain(taken).chain(self.row.arguments.iter());
                apart.push(cx, key, row)?;
            }
            return Ok(found);
        }
        let (new, group) = self.groups.insert_new(key);
        if new {
            self.states.push(Group::new_states(&self.plan.calls)?);
        }
        Ok(Some(group))
    }

    /// Gives the arguments of the row at hand to the calls of a group.
    fn advance(&mut self, cx: &mut Context<'_>, group: usize) -> Result<()> {
        let (plan, states) = (&self.plan, &mut self.states[group]);
        let (arguments, taken, kept_keys) = (&self.row.arguments, &self.row.taken, &self.kept_keys);
        let bytes = &mut self.state_bytes;
        let context = cx.evaluator().call();
        let mut rest: &[Datum<'_>] = context.arena.alloc_slice_fill_iter(arguments.iter());
        for (at, (call, state)) in plan.calls.iter().zip(states.iter_mut()).enumerate() {
            if !taken[at] {
                continue;
            }
            let width = call.arguments.len();
            let (own, after) = rest.split_at(kept_keys[at] + width);
            rest = after;
            state.take(call, kept_keys[at], &context, own, bytes)?;
        }
        Ok(())
    }

    /// Goes on with a part of the rows that were put aside, whose groups come out next. False where there is none left.
    fn next_part(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let filled = loop {
            let Some(part) = self.parts.pop() else { return Ok(false) };
            if !part.is_empty() {
                break part;
            }
        };
        self.forget_groups();
        let level = filled.level() + 1;
        let mut reader: PartitionReader = filled.read();
        let (width, calls) = (self.key_types.len(), self.plan.calls.len());
        let mut row = RowBuf::new();
        while reader.next(&mut row)? {
            cx.check_cancel()?;
            cx.arena.reset();
            self.row.group_keys.clear();
            self.row.group_keys.push(row.iter().take(width));
            self.row.taken.clear();
            let taken = row.iter().skip(width).take(calls);
            self.row.taken.extend(taken.map(|taken| matches!(taken, Datum::Bool(true))));
            self.row.arguments.clear();
            row.iter().skip(width + calls).for_each(|argument| self.row.arguments.push(argument));
            self.absorb(cx, level)?;
        }
        if let Some(apart) = self.apart.take() {
            self.parts.extend(apart.finish(cx)?);
        }
        Ok(true)
    }

    /// Moves what the groups of the row at hand have kept to temporary files, where it is much; how many bytes are free.
    fn spill_kept(&mut self, cx: &Context<'_>, limit: usize) -> Result<usize> {
        let mut freed = 0;
        for group in &self.touched {
            for state in &mut self.states[*group] {
                let (State::Kept(_, sorter) | State::Made(_, sorter)) = state else { continue };
                let has_file = sorter.has_spilled();
                if sorter.bytes() > limit / KEPT_SHARE && (has_file || self.files < FILES_MAX) {
                    self.files += usize::from(!has_file);
                    freed += sorter.bytes();
                    sorter.spill(cx)?;
                }
            }
        }
        Ok(freed)
    }

    /// Feeds what was kept for the calls of a group, sorted and without duplicates where asked for.
    fn feed(&mut self, cx: &mut Context<'_>, group: usize) -> Result<()> {
        let calls = self.plan.calls.iter().zip(&self.codes);
        for ((call, code), state) in calls.zip(&mut self.states[group]) {
            let (mut fed, sorter) = match state {
                State::Plain(_) => continue,
                State::Kept(accumulator, sorter) => (Fed::BuiltIn(accumulator), sorter),
                State::Made(value, sorter) => {
                    let made = code.made.as_ref().expect("it is one that a user made");
                    (Fed::Made(Progress::begin(cx, made)?, value), sorter)
                }
            };
            let keys = sorter.keys().len();
            let mut last: Option<RowBuf> = None;
            sorter.finish(cx)?;
            while sorter.advance(cx)? {
                cx.check_cancel()?;
                if call.distinct {
                    let mut orders = sorter.keys().iter().enumerate();
                    let same = |last: &RowBuf| {
                        orders.all(|(key, order)| {
                            order.compare(&last.get(key), &sorter.get(key)).is_eq()
                        })
                    };
                    if last.as_ref().is_some_and(same) {
                        continue;
                    }
                    let row = last.get_or_insert_default();
                    row.clear();
                    (0..keys).for_each(|key| row.push(sorter.get(key)));
                }
                let values = keys..keys + call.arguments.len();
                match &mut fed {
                    Fed::BuiltIn(accumulator) => {
                        let values: Vec<Datum<'_>> = values.map(|at| sorter.get(at)).collect();
                        accumulator.add(&cx.evaluator().call(), &values)?;
                    }
                    Fed::Made(progress, _) => {
                        cx.arena.reset();
                        progress.add(cx, values.map(|at| sorter.get(at)))?;
                    }
                }
            }
            if let Fed::Made(mut progress, value) = fed {
                *value = progress.finish(cx)?;
            }
            sorter.clear();
        }
        Ok(())
    }
}

/// What takes the arguments that were kept.
enum Fed<'f> {
    BuiltIn(&'f mut Box<dyn Accumulator>),
    Made(Progress, &'f mut RowBuf),
}

/// What a call's kept rows are sorted by: its ORDER BY, or for DISTINCT alone its arguments.
fn keys_of(call: &AggregateStep) -> Vec<Comparator> {
    let mut keys: Vec<_> = call.order_by.iter().map(|(_, comparator)| *comparator).collect();
    if call.distinct {
        for (_, ty) in call.arguments.iter().zip(&call.types.arguments) {
            keys.push(Comparator { ty: ty.oid.0, descending: false, nulls_first: false });
        }
    }
    keys
}

impl Operator for Group {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.forget_groups();
        self.shapes = Shapes::of(&self.key_types);
        self.apart = None;
        self.parts.clear();
        (self.filled, self.begun) = (false, false);
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let ordered = !self.plan.ordered.is_empty();
        if !ordered && !self.filled {
            self.run(cx)?;
        }
        while self.at == self.groups.rows.len() {
            if !(self.next_part(cx)? || ordered && self.run_group(cx)?) {
                return Ok(false);
            }
        }
        cx.arena.reset();
        let group = self.at;
        self.at += 1;
        self.feed(cx, group)?;
        let mut row = cx.frame.take(self.plan.slot);
        let (plan, groups, states) = (&self.plan, &self.groups, &self.states[group]);
        let call = cx.evaluator().call();
        let mut fill = || -> Result<()> {
            row.clear();
            let keys = plan.keys.len();
            groups.rows.row(group).take(keys).for_each(|datum| row.push(datum));
            for state in states {
                match state {
                    State::Plain(state) | State::Kept(state, _) => row.push(state.finish(&call)?),
                    State::Made(value, _) => row.push(value.get(0)),
                }
            }
            if plan.sets.len() > 1 {
                let Datum::Int4(number) = groups.rows.get(group, keys) else { return Ok(()) };
                let set = &plan.sets[number as usize];
                let mask = (0..keys.min(31) as u32)
                    .filter(|key| !set.contains(key))
                    .fold(0, |mask, key| mask | 1 << key);
                row.push(Datum::Int4(mask));
            }
            Ok(())
        };
        let filled = fill();
        cx.frame.put(self.plan.slot, row);
        filled?;
        Ok(true)
    }

    fn rest_bytes(&self) -> Option<usize> {
        if self.apart.is_some() || !self.parts.is_empty() {
            return None;
        }
        let states: Option<usize> = self.states.iter().flatten().map(State::rest_bytes).sum();
        let own = self.groups.capacity_bytes() + self.shapes.as_ref().map_or(0, Shapes::bytes);
        Some(self.input.rest_bytes()? + states? + own)
    }
}

/// DISTINCT, DISTINCT ON. Rows whose keys memory does not take any more are put aside in temporary files, apart by their keys,
/// and come behind the others.
pub struct Distinct {
    input: Box<dyn Operator>,
    keys: Arc<Code>,
    correlated: Box<[u32]>,
    seen: HashRows,
    types: Vec<u32>,
    shapes: Option<Shapes>,
    /// The key of the row at hand, and behind it what a row consists of that is put aside.
    row: RowBuf,
    saved: Vec<Var>,
    /// Rows go out in the order in which they come in, so none are put aside.
    ordered: bool,
    apart: Option<Partitions>,
    parts: Vec<Partition>,
    /// The part that is being read.
    part: Option<(PartitionReader, u32)>,
    ended: bool,
}

impl Distinct {
    /// Over an input.
    #[must_use]
    pub fn new(
        input: Box<dyn Operator>,
        plan: &physical::Distinct,
        builder: &Builder<'_>,
    ) -> Distinct {
        let types: Vec<u32> = plan.keys.iter().map(|(_, ty)| ty.0).collect();
        let keys = plan.keys.iter().map(|(key, _)| key);
        let (correlated, keys) = (builder.correlated(keys.clone()), builder.code(keys));
        let (seen, shapes) = (HashRows::new(types.clone(), types.len()), Shapes::of(&types));
        Distinct {
            input,
            keys,
            correlated,
            seen,
            types,
            shapes,
            row: RowBuf::new(),
            saved: plan.saved.clone(),
            ordered: plan.ordered,
            apart: None,
            parts: Vec::new(),
            part: None,
            ended: false,
        }
    }

    /// Whether the row at hand is the first with its key; one of which that cannot be said yet is put aside.
    fn is_first(&mut self, cx: &Context<'_>, level: u32) -> Result<bool> {
        let width = self.types.len();
        let key: Vec<Datum<'_>> = self.row.iter().take(width).collect();
        if let Some(apart) = &mut self.apart {
            if self.seen.find(&key).is_none() {
                let read = self.part.is_some();
                let from_file = self.row.iter().skip(width).filter(|_| read);
                let from_frame = self.saved.iter().filter(|_| !read).map(|var| cx.frame.get(*var));
                apart.push(cx, &key, key.iter().copied().chain(from_file).chain(from_frame))?;
            }
            return Ok(false);
        }
        let new = self.seen.insert_new(&key).0;
        if new && !self.ordered && level < LEVELS && self.seen.bytes() > cx.hash_limit() {
            self.apart = Some(Partitions::new(cx, level, &self.types)?);
        }
        check_held(self.seen.bytes()).map(|()| new)
    }

    /// Reads the next row of the input, and its key.
    fn next_of_input(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.ended || !self.input.next(cx)? {
            self.ended = true;
            return Ok(false);
        }
        cx.invalidate(&self.correlated);
        self.row.clear();
        cx.compute(&self.keys, &mut self.row)?;
        if let Some(shapes) = &mut self.shapes {
            let row = self.types.iter().copied().zip(self.row.iter());
            shapes.note(&cx.evaluator().call(), row, false)?;
        }
        check_held(self.shapes.as_ref().map_or(0, Shapes::bytes))?;
        Ok(true)
    }

    /// Reads the next row that was put aside.
    fn next_of_parts(&mut self, cx: &Context<'_>) -> Result<bool> {
        loop {
            if let Some((reader, _)) = &mut self.part
                && reader.next(&mut self.row)?
            {
                return Ok(true);
            }
            if let Some(apart) = self.apart.take() {
                self.parts.extend(apart.finish(cx)?);
            }
            let Some(part) = self.parts.pop() else {
                self.part = None;
                return Ok(false);
            };
            self.seen.clear();
            let level = part.level() + 1;
            self.part = Some((part.read(), level));
        }
    }
}

impl Operator for Distinct {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.seen.clear();
        self.shapes = Shapes::of(&self.types);
        self.apart = None;
        self.parts.clear();
        self.part = None;
        self.ended = false;
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        while self.next_of_input(cx)? {
            if self.is_first(cx, 0)? {
                return Ok(true);
            }
            cx.check_cancel()?;
        }
        while self.next_of_parts(cx)? {
            let level = self.part.as_ref().map_or(0, |part| part.1);
            if self.is_first(cx, level)? {
                cx.frame.restore(&self.saved, self.row.iter().skip(self.types.len()));
                return Ok(true);
            }
            cx.check_cancel()?;
        }
        Ok(false)
    }

    fn rest_bytes(&self) -> Option<usize> {
        if self.apart.is_some() || self.part.is_some() || !self.parts.is_empty() {
            return None;
        }
        let own = self.seen.capacity_bytes() + self.shapes.as_ref().map_or(0, Shapes::bytes);
        Some(self.input.rest_bytes()? + own + self.row.capacity_bytes())
    }
}
