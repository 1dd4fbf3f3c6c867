//! Functions that give rows: in FROM, and in a select list.
//!
//! `generate_series` over integers is counted row by row, over numerics and timestamps some rows at a time; other
//! set-returning functions hand their rows out at once, and are kept (PostgreSQL's tuplestore) until they have been read.

use super::code::Progress;
use super::context::Context;
use super::operator::{Builder, Operator};
use super::routine::RoutineCall;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical::{self, SetCall, SetColumn};
use crate::plan::scalar::{CallTypes, Scalar};
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::builtin;
use crate::types::check_held;
use crate::types::contrib::tablefunc;
use crate::types::{CallContext, Datum, SqlType, read_text, record, text_of};
use std::sync::Arc;

/// The rows of one call, so far.
#[derive(Debug)]
enum Set {
    Empty,
    /// The next value, the last one, the step; whether int4.
    Series(i64, i64, i64, bool),
    Rows(RowSet, usize),
    /// Some rows of a series, which goes on from the last of them unless this is its end: how many have been read, and
    /// the arguments.
    Counted {
        rows: RowSet,
        at: usize,
        arguments: RowBuf,
        ended: bool,
    },
}

impl Set {
    /// What its rows occupy.
    fn capacity_bytes(&self) -> usize {
        match self {
            Set::Empty | Set::Series(..) => 0,
            Set::Rows(rows, _) => rows.capacity_bytes(),
            Set::Counted { rows, arguments, .. } => {
                rows.capacity_bytes() + arguments.capacity_bytes()
            }
        }
    }
}

/// How many rows of a series are made at a time.
const ROWS_AT_A_TIME: usize = 256;

/// `generate_series` whose next value follows from the last one and the arguments behind the first.
const COUNTED: [u32; 4] = [3259, 3260, 938, 939];

/// Calls the function: its rows have so many columns, or are records of these fields where those have to be seen.
fn begin(
    cx: &mut Context<'_>,
    (call, code): (&SetCall, &CallCode),
    width: usize,
    fields: Option<&[SqlType]>,
) -> Result<Set> {
    match call {
        SetCall::Series(arguments, int4) => {
            let values = cx.eval(&code.arguments, |given| {
                let mut values = [1_i64; 3];
                for (value, argument) in values.iter_mut().zip(given.iter()) {
                    match argument {
                        Datum::Int4(v) => *value = i64::from(v),
                        Datum::Int8(v) => *value = v,
                        _ => return Ok(None),
                    }
                }
                if arguments.len() < 3 {
                    values[2] = 1;
                }
                Ok(Some(values))
            })?;
            match values {
                None => Ok(Set::Empty),
                Some([_, _, 0]) => Err(SqlError::new(
                    SqlState::INVALID_PARAMETER_VALUE,
                    "step size cannot equal zero",
                )),
                Some([start, stop, step]) => Ok(Set::Series(start, stop, step, *int4)),
            }
        }
        SetCall::Set(oid, ..) if COUNTED.contains(oid) => {
            let mut values = RowBuf::new();
            cx.compute(&code.arguments, &mut values)?;
            if values.iter().any(|value| value.is_null()) {
                return Ok(Set::Empty);
            }
            let mut set =
                Set::Counted { rows: RowSet::new(1), at: 0, arguments: values, ended: false };
            go_on(cx, call, &mut set)?;
            Ok(set)
        }
        SetCall::Set(_, function, strict, types, _) => {
            let mut rows = RowSet::new(width);
            cx.eval(&code.arguments, |values| {
                let (call, values) = (values.eval.call(), values.slice());
                if *strict && values.iter().any(Datum::is_null) {
                    return Ok(());
                }
                function(&call, &types.signature(), values, &mut |row| {
                    rows.push(row.iter().copied());
                    check_held(rows.bytes())?;
                    Ok(true)
                })
            })?;
            Ok(Set::Rows(rows, 0))
        }
        SetCall::XmlTable(table, _) => {
            let mut rows = RowSet::new(width);
            // A column's default is computed where it is needed, unless that would stop: then it is known before.
            let mut before = vec![RowBuf::new(); code.own.len()];
            for (code, value) in code.own.iter().zip(&mut before) {
                if code.may_stop() {
                    cx.compute(code, value)?;
                }
            }
            let eval = cx.evaluator();
            let (context, arena) = (eval.call(), eval.arena);
            let mut value = |place: usize| match &before[place] {
                value if !value.is_empty() => Ok(value.get(0).copied_into(arena)),
                _ => match code.own[place]
                    .advance(&eval, None, |values| Ok(values.get(0).copied_into(arena)))?
                {
                    Progress::Done(value) => Ok(value),
                    Progress::Stopped(..) => unreachable!("what may stop is known"),
                },
            };
            table.rows(&context, &mut value, &mut |row| {
                rows.push(row.iter().copied());
                check_held(rows.bytes())
            })?;
            Ok(Set::Rows(rows, 0))
        }
        SetCall::Routine(routine, types, _) => {
            let mut values = RowBuf::new();
            cx.compute(&code.arguments, &mut values)?;
            if routine.strict && values.iter().any(|value| value.is_null()) {
                return Ok(Set::Empty);
            }
            let call = RoutineCall {
                routine: Arc::clone(routine),
                types: Arc::clone(types),
                arguments: values,
            };
            let mut rows = RowSet::new(width);
            cx.call_routine(&call, Some(&mut rows))?;
            Ok(Set::Rows(rows, 0))
        }
        SetCall::Querying(function, types, _) => {
            querying(cx, (*function, types), &code.arguments, width)
        }
        SetCall::Scalar(_, composite) => {
            let mut rows = RowSet::new(width);
            cx.eval(&code.arguments, |values| {
                match values.get(0) {
                    value if !composite && width == 1 => rows.push([value]),
                    value => rows.push(fields_of(&values.eval.call(), value, width, fields)?),
                }
                Ok(())
            })?;
            Ok(Set::Rows(rows, 0))
        }
    }
}

/// Calls a function that runs queries: its arguments and what it gives are texts.
fn querying(
    cx: &mut Context<'_>,
    (function, types): (u32, &CallTypes),
    arguments: &Code,
    width: usize,
) -> Result<Set> {
    let given: Option<Vec<String>> = cx.eval(arguments, |values| {
        let call = values.eval.call();
        let text =
            |(value, ty): (Datum<'_>, &SqlType)| text_of(&call, *ty, &value).map(str::to_owned);
        if values.iter().any(|value| value.is_null()) {
            return Ok(None);
        }
        values.iter().zip(&types.arguments).map(text).collect::<Result<_>>().map(Some)
    })?;
    let Some(given) = given else { return Ok(Set::Empty) };
    // Its result's type has the columns, or the call says them; in a select list the row is one value.
    let result = builtin::function(function).map_or(0, |found| found.result);
    let named = tablefunc::fields(result);
    let whole = named.is_some() && width == 1;
    let columns: Vec<SqlType> = match &named {
        Some(fields) => fields.iter().map(|(_, ty)| *ty).collect(),
        None => types.columns.iter().map(|(_, ty)| *ty).collect(),
    };
    if named.is_none() && types.columns.iter().any(|(name, _)| name.is_empty()) {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "function returning record called in context that cannot accept type record",
        ));
    }
    let made = tablefunc::rows(function, &columns, &given, &mut |query| cx.query(query))?;
    let mut rows = RowSet::new(width);
    let call = cx.evaluator().call();
    for row in &made {
        let mut values = Vec::with_capacity(columns.len());
        for (ty, text) in columns.iter().zip(row) {
            values.push(match text {
                Some(text) => read_text(&call, *ty, text)?,
                None => Datum::Null,
            });
        }
        if whole {
            let fields: Vec<(SqlType, Datum<'_>)> = columns.iter().copied().zip(values).collect();
            rows.push([record::build(call.arena, &fields)]);
        } else {
            rows.push(values);
        }
        check_held(rows.bytes())?;
    }
    Ok(Set::Rows(rows, 0))
}

/// The fields of a record, all NULL if it is none; it has to have these if they are given.
fn fields_of<'a>(
    context: &CallContext<'a>,
    value: Datum<'a>,
    width: usize,
    wanted: Option<&[SqlType]>,
) -> Result<Vec<Datum<'a>>> {
    let Datum::Record(bytes) = value else { return Ok(vec![Datum::Null; width]) };
    if let Some(wanted) = wanted {
        let given: Vec<u32> = record::fields(bytes).map(|(ty, _)| ty).collect();
        record::demand_fields(context, &given, wanted)?;
    }
    (0..width).map(|at| record::field(context.arena, bytes, at)).collect()
}

/// Makes the next rows of a series whose rows have all been read.
fn go_on(cx: &Context<'_>, call: &SetCall, set: &mut Set) -> Result<()> {
    let SetCall::Set(_, function, _, types, _) = call else { return Ok(()) };
    let Set::Counted { rows, at, arguments, ended } = set else { return Ok(()) };
    if *at < rows.len() || *ended {
        return Ok(());
    }
    let begun = !rows.is_empty();
    if begun {
        let mut from = RowBuf::new();
        rows.row(rows.len() - 1).for_each(|last| from.push(last));
        arguments.iter().skip(1).for_each(|argument| from.push(argument));
        *arguments = from;
    }
    rows.clear();
    (*at, *ended) = (0, true);
    let values: Vec<Datum<'_>> = arguments.iter().collect();
    // The last value has been read.
    let mut known = begun;
    function(&cx.evaluator().call(), &types.signature(), &values, &mut |row| {
        if !std::mem::take(&mut known) {
            rows.push(row.iter().copied());
        }
        *ended = rows.len() < ROWS_AT_A_TIME;
        Ok(*ended)
    })
}

/// Appends the next row to `row`; false at the end.
fn step(set: &mut Set, row: &mut RowBuf) -> bool {
    match set {
        Set::Empty => false,
        Set::Series(next, stop, step, int4) => {
            if *step > 0 && *next > *stop || *step < 0 && *next < *stop {
                return false;
            }
            row.push(match i32::try_from(*next) {
                Ok(value) if *int4 => Datum::Int4(value),
                _ => Datum::Int8(*next),
            });
            match next.checked_add(*step) {
                Some(after) => *next = after,
                None => *set = Set::Empty,
            }
            true
        }
        Set::Rows(rows, at) | Set::Counted { rows, at, .. } => {
            if *at == rows.len() {
                return false;
            }
            rows.row(*at).for_each(|datum| row.push(datum));
            *at += 1;
            true
        }
    }
}

/// The programs of a call's arguments.
struct CallCode {
    arguments: Arc<Code>,
    /// Those of XMLTABLE one by one: a column's default is only asked for where it is needed.
    own: Box<[Arc<Code>]>,
}

impl CallCode {
    fn of(call: &SetCall, builder: &Builder<'_>) -> CallCode {
        let apart: &[Scalar] = match call {
            SetCall::XmlTable(_, arguments) => arguments,
            _ => &[],
        };
        CallCode {
            arguments: builder.code(if apart.is_empty() { arguments(call) } else { &[] }),
            own: apart.iter().map(|argument| builder.code([argument])).collect(),
        }
    }
}

/// A function in FROM.
pub struct FunctionScan {
    plan: physical::FunctionScan,
    code: CallCode,
    correlated: Box<[u32]>,
    set: Set,
    /// Nothing outside changes what it gives: one call serves the whole run.
    keep: bool,
    /// The run that `set` is of.
    called: Option<u64>,
    /// The record that is taken apart.
    whole: RowBuf,
    number: i64,
}

impl FunctionScan {
    /// Of this plan.
    #[must_use]
    pub fn new(plan: &physical::FunctionScan, builder: &Builder<'_>) -> FunctionScan {
        let correlated = builder.correlated(arguments(&plan.call));
        let mut given = arguments(&plan.call).iter();
        let keep = correlated.is_empty() && !given.any(|argument| argument.reads(&mut |_| true));
        let code = CallCode::of(&plan.call, builder);
        let (plan, set, whole) = (plan.clone(), Set::Empty, RowBuf::new());
        FunctionScan { plan, code, correlated, set, keep, called: None, whole, number: 0 }
    }
}

fn arguments(call: &SetCall) -> &[Scalar] {
    match call {
        SetCall::Series(arguments, _)
        | SetCall::Set(_, _, _, _, arguments)
        | SetCall::XmlTable(_, arguments)
        | SetCall::Querying(_, _, arguments)
        | SetCall::Routine(_, _, arguments) => arguments,
        SetCall::Scalar(scalar, _) => std::slice::from_ref(scalar),
    }
}

impl Operator for FunctionScan {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.number = 0;
        if let (true, Set::Rows(_, at)) = (self.keep && self.called == Some(cx.run), &mut self.set)
        {
            *at = 0;
            return Ok(());
        }
        self.called = None;
        cx.invalidate(&self.correlated);
        let width = if self.plan.records { 1 } else { self.plan.types.len() };
        let fields = self.plan.untyped.then_some(&*self.plan.types);
        self.set = begin(cx, (&self.plan.call, &self.code), width, fields)?;
        self.called = Some(cx.run);
        Ok(())
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        cx.arena.reset();
        cx.check_cancel()?;
        if let Set::Counted { .. } = self.set {
            go_on(cx, &self.plan.call, &mut self.set)?;
        }
        let row = cx.frame.row_mut(self.plan.slot);
        row.clear();
        let given = match self.plan.records {
            true => &mut self.whole,
            false => &mut *row,
        };
        given.clear();
        if !step(&mut self.set, given) {
            row.set_nulls(self.plan.types.len() + usize::from(self.plan.ordinality));
            return Ok(false);
        }
        if self.plan.records {
            let (plan, whole) = (&self.plan, &self.whole);
            let wanted = plan.untyped.then_some(&*plan.types);
            let mut row = cx.frame.take(plan.slot);
            row.clear();
            let call = cx.evaluator().call();
            let fields = fields_of(&call, whole.get(0), plan.types.len(), wanted);
            let filled = fields.map(|fields| fields.into_iter().for_each(|field| row.push(field)));
            cx.frame.put(plan.slot, row);
            filled?;
        }
        self.number += 1;
        if self.plan.ordinality {
            cx.frame.row_mut(self.plan.slot).push(Datum::Int8(self.number));
        }
        Ok(true)
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(self.set.capacity_bytes() + self.whole.capacity_bytes())
    }
}

/// Set-returning functions in a select list: as many rows as the longest gives, NULLs behind the others' ends.
pub struct ProjectSet {
    input: Box<dyn Operator>,
    slot: u32,
    columns: Box<[SetColumn]>,
    /// The programs of the calls, and of the columns that are no calls.
    calls: Box<[CallCode]>,
    ones: Arc<Code>,
    correlated: Box<[u32]>,
    sets: Vec<Set>,
    running: bool,
}

impl ProjectSet {
    /// Over an input.
    #[must_use]
    pub fn new(
        input: Box<dyn Operator>,
        slot: u32,
        columns: &[SetColumn],
        builder: &Builder<'_>,
    ) -> ProjectSet {
        let scalars = columns.iter().flat_map(|column| match column {
            SetColumn::One(scalar) => std::slice::from_ref(scalar),
            SetColumn::Set(call, _) => arguments(call),
        });
        let correlated = builder.correlated(scalars);
        let calls = columns.iter().filter_map(|column| match column {
            SetColumn::One(_) => None,
            SetColumn::Set(call, _) => Some(CallCode::of(call, builder)),
        });
        let calls = calls.collect();
        let ones = columns.iter().filter_map(|column| match column {
            SetColumn::One(scalar) => Some(scalar),
            SetColumn::Set(..) => None,
        });
        ProjectSet {
            input,
            slot,
            columns: columns.into(),
            calls,
            ones: builder.code(ones),
            correlated,
            sets: Vec::new(),
            running: false,
        }
    }
}

impl Operator for ProjectSet {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.running = false;
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        loop {
            if !self.running {
                if !self.input.next(cx)? {
                    return Ok(false);
                }
                cx.invalidate(&self.correlated);
                self.sets.clear();
                let mut codes = self.calls.iter();
                for column in &*self.columns {
                    if let SetColumn::Set(call, fields) = column {
                        let code = codes.next().expect("each set column has one");
                        self.sets.push(begin(cx, (call, code), fields.len().max(1), None)?);
                    }
                }
                self.running = true;
            }
            cx.check_cancel()?;
            let mut any = false;
            let mut sets = self.sets.iter_mut();
            let mut values = RowBuf::new();
            let mut ended = Vec::new();
            for column in &*self.columns {
                if let SetColumn::Set(call, fields) = column {
                    let set = sets.next().expect("each set column has begun");
                    go_on(cx, call, set)?;
                    let more = step(set, &mut values);
                    any |= more;
                    if !more {
                        (0..fields.len().max(1)).for_each(|_| values.push(Datum::Null));
                    }
                    ended.push(!more);
                }
            }
            if !any {
                self.running = false;
                continue;
            }
            let mut row = cx.frame.take(self.slot);
            let columns = &self.columns;
            row.clear();
            let filled = cx.eval(&self.ones, |ones| {
                let (mut set_values, mut ended) = (values.iter(), ended.iter());
                let mut one = 0..;
                for column in columns {
                    let fields = match column {
                        SetColumn::Set(_, fields) => fields,
                        SetColumn::One(_) => {
                            ones.push_to(&mut row, one.next().unwrap_or_default());
                            continue;
                        }
                    };
                    let over = ended.next().is_none_or(|ended| *ended);
                    if fields.is_empty() {
                        row.push(set_values.next().unwrap_or(Datum::Null));
                        continue;
                    }
                    let types = fields.iter().map(|(_, ty)| *ty);
                    let record: Vec<(SqlType, Datum<'_>)> =
                        types.zip(set_values.by_ref()).collect();
                    row.push(if over {
                        Datum::Null
                    } else {
                        let names = fields.iter().map(|(name, _)| name);
                        record::build_named(ones.eval.arena, &record, names)
                    });
                }
                Ok(())
            });
            cx.frame.put(self.slot, row);
            filled?;
            return Ok(true);
        }
    }

    fn rest_bytes(&self) -> Option<usize> {
        let sets = self.sets.iter().map(Set::capacity_bytes).sum::<usize>();
        Some(self.input.rest_bytes()? + sets + self.sets.capacity() * size_of::<Set>())
    }
}
