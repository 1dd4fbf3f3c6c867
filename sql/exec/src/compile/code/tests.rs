//! The verifier refuses what programs do not promise, and what is made of scalars it takes.

use super::step::{Operand, Operands, Step};
use super::{Code, Operation, verify};
use crate::plan::scalar::{Scalar, Var};
use crate::types::Datum;
use std::sync::Arc;

const TRUE: Operand = Operand::Parameter(0);

fn register(number: u32) -> Operand {
    Operand::Register(number)
}

/// Whether a program of these steps with two registers and one list keeps what programs promise.
fn holds(steps: &[Step], results: &[Operand]) -> bool {
    verify::holds(&Code {
        steps: steps.into(),
        results: results.into(),
        operands: [register(1)].into(),
        operations: [Operation::Bounds([(false, true)].into())].into(),
        registers: 2,
        lists: 1,
        ..Code::default()
    })
}

#[test]
fn a_register_is_written_before_it_is_read_on_every_way() {
    let set = |to| Step::Set { from: TRUE, to };
    assert!(holds(&[set(0)], &[register(0)]));
    assert!(!holds(&[set(1)], &[register(0)]), "a result that is not there");
    assert!(!holds(&[Step::Not { one: register(0), to: 0 }], &[register(0)]));
    let around = Step::Unless { one: TRUE, end: 2 };
    assert!(!holds(&[around, set(0)], &[register(0)]), "one of two ways passes it by");
    assert!(holds(&[set(0), Step::Unless { one: TRUE, end: 3 }, set(0)], &[register(0)]));
    let ends_null = Step::Null { one: TRUE, to: 0, end: 2 };
    assert!(holds(&[ends_null, set(0)], &[register(0)]), "its jump writes");
    assert!(!holds(&[ends_null, set(1)], &[register(0)]), "but going on does not");
    assert!(!holds(&[set(2)], &[]), "more registers than there are");
    let one = Operands { first: 0, count: 1 };
    let array = Step::Array { elements: one, ty: 1007, nested: false, to: 0 };
    assert!(!holds(&[array], &[]), "one of several operands is not there");
    assert!(holds(&[set(1), array], &[register(0)]));
    let more = Operands { first: 0, count: 2 };
    assert!(!holds(&[set(1), Step::Array { elements: more, ty: 1007, nested: false, to: 0 }], &[]));
}

#[test]
fn jumps_lead_forward_but_for_the_turns_of_loops() {
    assert!(!holds(&[Step::Jump { end: 0 }], &[]), "to itself");
    assert!(!holds(&[Step::Jump { end: 3 }], &[]), "out of the program");
    assert!(!holds(&[Step::Jump { end: 2 }, Step::Set { from: TRUE, to: 0 }], &[]), "a dead step");
    let spread = Step::Spread { array: TRUE, list: 0, at: 0 };
    let next = Step::Next { list: 0, at: 0, to: 1, end: 4 };
    let keep = Step::Keep { one: register(1), list: 0, at: 0 };
    assert!(holds(&[spread, next, keep, Step::Again { head: 1 }], &[]));
    assert!(!holds(&[spread, next, keep, Step::Again { head: 0 }], &[]), "it would begin anew");
    assert!(!holds(&[spread, next, keep, Step::Again { head: 2 }], &[]), "nothing is taken");
    let back = Step::Set { from: TRUE, to: 0 };
    assert!(!holds(&[spread, next, back, Step::Again { head: 1 }], &[]), "it sets its counter");
    let counted = Step::Set { from: TRUE, to: 0 };
    assert!(!holds(&[counted, next, keep, Step::Again { head: 1 }], &[]), "there is no list");
}

#[test]
fn what_a_step_does_is_of_its_kind() {
    let bounds = Operands { first: 0, count: 0 };
    let part = |given| Step::Part { array: TRUE, bounds, given, slice: true, to: 0 };
    assert!(holds(&[part(0)], &[]));
    assert!(!holds(&[part(1)], &[]), "there is no such operation");
    assert!(
        !holds(&[Step::Call { callee: 0, arguments: bounds, to: 0 }], &[]),
        "it is no function"
    );
    assert!(!holds(&[], &[Operand::Constant(0)]));
}

fn boolean(value: bool) -> Scalar {
    let mut row = crate::tuple::RowBuf::new();
    row.push(Datum::Bool(value));
    Scalar::Constant(Arc::new(row), crate::types::SqlType::plain(16))
}

#[test]
fn values_that_are_at_hand_need_no_step() {
    let var = Scalar::Var(Var { slot: 3, column: 1 });
    let code = Code::of([&var, &Scalar::Parameter(2), &boolean(true)]);
    assert!(code.steps.is_empty() && !code.is_bare() && !code.may_stop());
    assert_eq!(code.results.len(), 3);
    assert!(Code::of([&Scalar::Parameter(2)]).is_bare());
    assert!(!Code::of([&Scalar::Var(Var { slot: 0, column: 0 })]).is_bare(), "it reads a row");
    assert!(Code::of_conditions([]).is_empty());
}

/// What nests on one side needs no more registers than what does not nest.
#[test]
fn a_chain_is_long_and_not_wide() {
    let mut chain = boolean(true);
    for _ in 0..100_000 {
        chain = Scalar::Not(Box::new(chain));
    }
    let code = Code::of([&chain]);
    assert_eq!((code.steps.len(), code.registers), (100_000, 1));
    // What is that deep is not dropped by recursion.
    while let Scalar::Not(inner) = chain {
        chain = *inner;
    }
}
