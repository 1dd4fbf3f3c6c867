//! Runs that stop: for subqueries and routines in one expression, in all orders, beside volatile calls.

use super::{Progress, Suspension, Wants};
use crate::bind::Quantifier;
use crate::catalog::routine::Routine;
use crate::compile::code::Code;
use crate::exec::eval::Eval;
use crate::exec::frame::Frame;
use crate::exec::subquery::SubplanState;
use crate::plan::scalar::{CallTypes, Callee, Scalar, Target, Var};
use crate::plan::subplan::SubplanKind;
use crate::tuple::RowBuf;
use crate::types::{CallContext, Datum, Oid, SqlType, array, no_session};
use std::cell::Cell;
use std::sync::Arc;

const INT4: SqlType = SqlType::plain(23);

thread_local! {
    /// How often the volatile function has been called.
    static DRAWN: Cell<i32> = const { Cell::new(0) };
}

fn drawn<'a>(_: &CallContext<'a>, _: &[Datum<'a>]) -> crate::error::Result<Datum<'a>> {
    DRAWN.set(DRAWN.get() + 1);
    Ok(Datum::Int4(DRAWN.get()))
}

fn equal<'a>(_: &CallContext<'a>, values: &[Datum<'a>]) -> crate::error::Result<Datum<'a>> {
    Ok(Datum::Bool(format!("{:?}", values[0]) == format!("{:?}", values[1])))
}

fn callee(target: Target, volatile: bool) -> Callee {
    Callee { oid: 0, target, strict: true, volatile, immutable: false, primitive: None }
}

/// A routine: who calls it here makes its value.
fn routine() -> Target {
    let routine = Routine {
        oid: Oid(20_000),
        schema: Oid(2200),
        name: "f".into(),
        owner: Oid(10),
        language: 0,
        procedure: false,
        volatility: b'v',
        strict: true,
        security_definer: false,
        leakproof: false,
        parallel: b'u',
        cost: 100.0,
        rows: 0.0,
        returns_set: false,
        result: INT4.oid,
        parameters: Vec::new(),
        settings: Vec::new(),
        body: "".into(),
        support: Oid(0),
        standard: None,
        aggregate: None,
    };
    let types = CallTypes {
        arguments: Vec::new(),
        result: INT4,
        columns: Vec::new(),
        variadic_spread: false,
    };
    Target::Routine(Arc::new(routine), Arc::new(types))
}

fn call(callee: Callee, arguments: impl Into<Box<[Scalar]>>) -> Scalar {
    Scalar::Call { callee, arguments: arguments.into(), position: 0 }
}

fn volatile() -> Scalar {
    call(callee(Target::Plain(drawn), true), [])
}

fn constant(value: Datum<'_>) -> Scalar {
    let mut row = RowBuf::new();
    row.push(value);
    Scalar::Constant(Arc::new(row), INT4)
}

/// What has been asked of whoever runs a program.
#[derive(Debug, Default, PartialEq)]
struct Asked {
    subqueries: Vec<u32>,
    /// The arguments of calls of the routine, which gives 100 and so on.
    calls: Vec<String>,
}

/// Runs a program to its end, with the subqueries' results as they are asked for: 10, 11 and so on.
fn run(code: &Code) -> (Vec<String>, Asked) {
    DRAWN.set(0);
    let mut asked = Asked::default();
    let mut subplans: Vec<SubplanState> = (0..3)
        .map(|_| SubplanState {
            operator: None,
            kind: Arc::new(SubplanKind::Exists),
            codes: Box::default(),
            correlated: Box::default(),
            result: RowBuf::new(),
            done: false,
            members: None,
        })
        .collect();
    let (frame, mut parameters) = (Frame::default(), RowBuf::new());
    parameters.push(Datum::Int4(7));
    let mut suspension: Option<Box<Suspension>> = None;
    loop {
        let progress = no_session::with_context(|context| {
            let mut eval = Eval::over(context, &frame, &parameters);
            eval.subplans = &subplans;
            code.advance(&eval, suspension.as_deref(), |values| {
                Ok(values.iter().map(|value| format!("{value:?}")).collect())
            })
        });
        let mut stopped = match progress.unwrap() {
            Progress::Done(values) => return (values, asked),
            Progress::Stopped(stopped, _) => stopped,
        };
        match &stopped.wants {
            Wants::Subquery(number) => {
                asked.subqueries.push(*number);
                let state = &mut subplans[*number as usize];
                state.result.push(Datum::Int4(10 + *number as i32));
                state.done = true;
            }
            Wants::Routine(call) => {
                let arguments: Vec<String> =
                    call.arguments.iter().map(|value| format!("{value:?}")).collect();
                let mut value = RowBuf::new();
                value.push(Datum::Int4(100 + asked.calls.len() as i32));
                asked.calls.push(arguments.join(","));
                stopped.answer(value);
            }
        }
        suspension = Some(stopped);
    }
}

/// Each is called once, in the order in which they stand, whatever stands between them.
#[test]
fn each_is_called_once_in_all_orders() {
    for order in 0..6 {
        let mut rest = vec![0, 1, 2];
        let mut order_of = vec![rest.remove(order / 2), rest.remove(order % 2), rest.remove(0)];
        // And all of them once more behind.
        order_of.extend(order_of.clone());
        let (mut subquery, mut expected) = (0, Vec::new());
        let (mut draws, mut calls) = (0, 0);
        let scalars: Vec<Scalar> = order_of
            .iter()
            .map(|what| match what {
                0 => {
                    draws += 1;
                    expected.push(format!("Int4({draws})"));
                    volatile()
                }
                1 => {
                    subquery += 1;
                    expected.push(format!("Int4({})", 9 + subquery));
                    Scalar::Subquery(subquery - 1)
                }
                _ => {
                    calls += 1;
                    expected.push(format!("Int4({})", 99 + calls));
                    call(callee(routine(), true), [volatile_argument()])
                }
            })
            .collect();
        let (values, asked) = run(&Code::of(&scalars));
        assert_eq!(values, expected);
        assert_eq!(asked.subqueries, [0, 1]);
        assert_eq!(asked.calls.len(), 2);
        assert_eq!(DRAWN.get(), 2);
        // Within one expression, too: none of its parts is computed anew for the sake of another.
        let nested = Scalar::Coalesce(
            [Scalar::NullIf(
                Box::new(constant(Datum::Int4(1))),
                Box::new(constant(Datum::Int4(1))),
                callee(Target::Plain(equal), false),
            )]
            .into_iter()
            .chain([Scalar::Row(scalars.iter().map(|one| (one.clone(), INT4)).collect(), None)])
            .collect(),
        );
        let (_, asked) = run(&Code::of([&nested]));
        assert_eq!((asked.subqueries.len(), asked.calls.len(), DRAWN.get()), (2, 2, 2));
    }
}

/// An argument that is not volatile, so that draws are counted alone.
fn volatile_argument() -> Scalar {
    Scalar::Parameter(0)
}

/// What is guarded is not asked for.
#[test]
fn what_is_not_needed_is_not_run() {
    let never = constant(Datum::Bool(false));
    let guarded = Scalar::And([never.clone(), Scalar::Subquery(0)].into());
    let case = Scalar::Case {
        operand: None,
        branches: [(never, Scalar::Subquery(1))].into(),
        otherwise: Some(Box::new(Scalar::Subquery(2))),
    };
    let strict = call(callee(routine(), true), [constant(Datum::Null)]);
    let (values, asked) = run(&Code::of([&guarded, &case, &strict]));
    assert_eq!(values, ["Bool(false)", "Int4(12)", "Null"]);
    assert_eq!(asked, Asked { subqueries: vec![2], calls: Vec::new() });
}

fn numbers(numbers: &[Option<i32>]) -> Scalar {
    let arena = bumpalo::Bump::new();
    let values: Vec<Datum<'_>> =
        numbers.iter().map(|one| one.map_or(Datum::Null, Datum::Int4)).collect();
    constant(array::from_datums(&arena, 23, &values))
}

/// A routine is called for each element that needs it, and no draw is repeated.
#[test]
fn loops_stop_in_the_middle_and_go_on() {
    let home = Var { slot: 9, column: 0 };
    let doubled = call(callee(routine(), true), [Scalar::Var(home)]);
    let cast = Scalar::ArrayCast {
        operand: Box::new(numbers(&[Some(1), None, Some(3)])),
        from: INT4.oid,
        to: INT4.oid,
        element: Box::new(doubled),
        home,
    };
    let (values, asked) = run(&Code::of([&volatile(), &cast, &volatile()]));
    assert_eq!(asked.calls, ["Int4(1)", "Int4(3)"]);
    assert_eq!((&*values[0], &*values[2], DRAWN.get()), ("Int4(1)", "Int4(2)", 2));
    let arena = bumpalo::Bump::new();
    let elements = [Datum::Int4(100), Datum::Null, Datum::Int4(101)];
    assert_eq!(values[1], format!("{:?}", array::from_datums(&arena, 23, &elements)));

    // ANY: the routine says 100, which is no boolean, so all are asked and nothing is known.
    let any = Scalar::ScalarArray {
        left: Box::new(volatile()),
        callee: callee(routine(), true),
        array: Box::new(numbers(&[Some(5), None, Some(6)])),
        element: INT4.oid,
        quantifier: Quantifier::Any,
    };
    let (values, asked) = run(&Code::of([&any]));
    assert_eq!(values, ["Null"]);
    assert_eq!(asked.calls, ["Int4(1),Int4(5)", "Int4(1),Int4(6)"]);
    assert_eq!(DRAWN.get(), 1);
}

/// The operand of a simple CASE is computed once, whatever its conditions wait for.
#[test]
fn the_operand_of_a_case_is_kept() {
    let home = Var { slot: 9, column: 0 };
    let equals = callee(Target::Plain(equal), false);
    let is = |value: Scalar| call(equals.clone(), [Scalar::Var(home), value]);
    let case = Scalar::Case {
        operand: Some(Box::new((volatile(), home))),
        branches: [
            (is(Scalar::Subquery(0)), constant(Datum::Int4(-1))),
            (is(call(callee(routine(), true), [])), constant(Datum::Int4(-2))),
            (is(constant(Datum::Int4(1))), volatile()),
        ]
        .into(),
        otherwise: None,
    };
    let (values, asked) = run(&Code::of([&case]));
    assert_eq!((values, DRAWN.get()), (vec!["Int4(2)".to_owned()], 2));
    assert_eq!((asked.subqueries.len(), asked.calls.len()), (1, 1));
}

/// Conditions end with the first that is not true: nothing behind it is asked.
#[test]
fn conditions_end_with_the_first_that_is_not_true() {
    let conditions = [constant(Datum::Bool(true)), constant(Datum::Null), Scalar::Subquery(0)];
    let code = Code::of_conditions(&conditions);
    let (frame, parameters) = (Frame::default(), RowBuf::new());
    let holds = no_session::with_context(|context| {
        let eval = Eval::over(context, &frame, &parameters);
        code.advance(&eval, None, |values| Ok(values.hold()))
    });
    assert!(matches!(holds, Ok(Progress::Done(false))));
}
