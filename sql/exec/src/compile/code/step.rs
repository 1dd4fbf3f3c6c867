//! The steps of a program: what each reads, what it writes, and where it leads.

use super::Operation;
use crate::bind::Quantifier;
use crate::bind::typed::CurrentValue;
use crate::plan::scalar::Var;
use crate::types::primitive::{Comparison, Primitive};

/// Where an operand is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operand {
    /// A column of a current row.
    Var(Var),
    Parameter(u32),
    Register(u32),
    Constant(u32),
    /// A constant that is an integer, for those who look for nothing else.
    Integer(i64),
}

/// Some of a program's operands, one behind the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands {
    pub first: u32,
    pub count: u32,
}

/// What a step does that needs more than its operands, by its number in the program.
pub(crate) type Number = u32;

/// A step; `to` is the register that it writes, `end` the step that it jumps to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A strict operation.
    Apply {
        what: Primitive,
        left: Operand,
        right: Operand,
        to: u32,
    },
    /// The same of integers.
    Integers {
        what: Primitive,
        left: Operand,
        right: Operand,
        to: u32,
    },
    /// A value.
    Set {
        from: Operand,
        to: u32,
    },
    /// Of AND: false is the result, NULL may be.
    And {
        one: Operand,
        to: u32,
        end: u32,
    },
    /// Of OR.
    Or {
        one: Operand,
        to: u32,
        end: u32,
    },
    Not {
        one: Operand,
        to: u32,
    },
    IsNull {
        one: Operand,
        negated: bool,
        to: u32,
    },
    IsBool {
        one: Operand,
        test: Option<bool>,
        negated: bool,
        to: u32,
    },
    /// On, unless it is true.
    Unless {
        one: Operand,
        end: u32,
    },
    /// On, unless the integers compare so.
    UnlessIntegers {
        what: Comparison,
        left: Operand,
        right: Operand,
        end: u32,
    },
    /// On, unless it is NULL.
    UnlessNull {
        one: Operand,
        end: u32,
    },
    /// On, unless it is NULL: then that is the result.
    Null {
        one: Operand,
        to: u32,
        end: u32,
    },
    Jump {
        end: u32,
    },
    /// On behind the steps that compute a value of parameters alone, with that value, where the run has computed it.
    Recall {
        to: u32,
        end: u32,
    },
    /// Keeps what the steps behind a [`Step::Recall`] have computed.
    Retain {
        one: Operand,
        head: u32,
    },
    /// On, if it is true; else the program ends refused.
    Demand {
        one: Operand,
    },
    /// On, if the integers compare so; else the program ends refused.
    DemandIntegers {
        what: Comparison,
        left: Operand,
        right: Operand,
    },
    /// A function, strict or not.
    Call {
        callee: Number,
        arguments: Operands,
        to: u32,
    },
    /// A routine: the run stops until its value is there.
    Routine {
        callee: Number,
        arguments: Operands,
        to: u32,
    },
    /// The result of a subquery: the run stops until it is there.
    Subquery {
        number: u32,
        to: u32,
    },
    /// IS DISTINCT FROM.
    IsDistinct {
        left: Operand,
        right: Operand,
        equals: Number,
        negated: bool,
        to: u32,
    },
    NullIf {
        left: Operand,
        right: Operand,
        equals: Number,
        to: u32,
    },
    /// Of GREATEST and LEAST: the better of what is there and another.
    Better {
        one: Operand,
        order: Number,
        greatest: bool,
        to: u32,
    },
    Xml {
        arguments: Operands,
        call: Number,
        to: u32,
    },
    ViaText {
        one: Operand,
        types: Number,
        to: u32,
    },
    /// An array of values, or of arrays.
    Array {
        elements: Operands,
        ty: u32,
        nested: bool,
        to: u32,
    },
    Row {
        fields: Operands,
        row: Number,
        to: u32,
    },
    /// A value with a part of it changed.
    Assign {
        parts: Operands,
        part: Number,
        to: u32,
    },
    /// An element of an array of one dimension.
    Element {
        array: Operand,
        subscript: Operand,
        to: u32,
    },
    /// An element or a part of an array, at several subscripts: those that are given are the operands, in order.
    Part {
        array: Operand,
        bounds: Operands,
        given: Number,
        slice: bool,
        to: u32,
    },
    /// A field of a row.
    Field {
        record: Operand,
        number: u32,
        to: u32,
    },
    /// A value among an array's elements, by an operator that nothing stops.
    Among {
        left: Operand,
        array: Operand,
        callee: Number,
        quantifier: Quantifier,
        /// Whether the array stays the same for a whole run.
        stays: bool,
        to: u32,
    },
    CurrentValue {
        value: CurrentValue,
        to: u32,
    },
    /// Takes an array apart into a list, of which none has been taken yet.
    Spread {
        array: Operand,
        list: u32,
        at: u32,
    },
    /// The next element of a list; behind the last one, the loop has ended.
    Next {
        list: u32,
        at: u32,
        to: u32,
        end: u32,
    },
    /// Puts a value in the place of the element that was taken last.
    Keep {
        one: Operand,
        list: u32,
        at: u32,
    },
    /// An array of a list's elements, with the dimensions of another.
    Gather {
        array: Operand,
        list: u32,
        ty: u32,
        to: u32,
    },
    /// Back to a [`Step::Next`].
    Again {
        head: u32,
    },
}

/// What a step reads and writes, for [`super::verify`].
pub(crate) struct Effect {
    pub reads: [Option<Operand>; 2],
    pub many: Option<Operands>,
    pub writes: Option<u32>,
    /// Where a jump leads, and what is written on that way alone.
    pub jump: Option<(u32, Option<u32>)>,
    /// Whether the step behind it may come next.
    pub falls: bool,
    /// The list that it makes, or needs.
    pub makes: Option<u32>,
    pub needs: Option<u32>,
    /// Whether its number in the program is one of what it does.
    pub knows: Option<(Number, fn(&Operation) -> bool)>,
}

const NONE: Effect = Effect {
    reads: [None, None],
    many: None,
    writes: None,
    jump: None,
    falls: true,
    makes: None,
    needs: None,
    knows: None,
};

impl Step {
    /// The jump of a step that has one, to be set.
    pub(crate) fn jump_mut(&mut self) -> Option<&mut u32> {
        match self {
            Step::And { end, .. }
            | Step::Or { end, .. }
            | Step::Unless { end, .. }
            | Step::UnlessIntegers { end, .. }
            | Step::UnlessNull { end, .. }
            | Step::Null { end, .. }
            | Step::Next { end, .. }
            | Step::Recall { end, .. }
            | Step::Jump { end } => Some(end),
            _ => None,
        }
    }

    /// Whether parameters are all that it can do with, unless a value needs room.
    pub(crate) fn is_bare(&self) -> bool {
        matches!(
            self,
            Step::Apply { .. }
                | Step::Integers { .. }
                | Step::Set { .. }
                | Step::And { .. }
                | Step::Or { .. }
                | Step::Not { .. }
                | Step::IsNull { .. }
                | Step::IsBool { .. }
                | Step::Unless { .. }
                | Step::UnlessIntegers { .. }
                | Step::UnlessNull { .. }
                | Step::Null { .. }
                | Step::Jump { .. }
                | Step::Element { .. }
                | Step::Field { .. }
        )
    }

    /// What it reads and writes.
    pub(crate) fn effect(&self) -> Effect {
        let callee: fn(&Operation) -> bool = |what| matches!(what, Operation::Call(_));
        match *self {
            Step::Apply { left, right, to, .. } | Step::Integers { left, right, to, .. } => {
                Effect { reads: [Some(left), Some(right)], writes: Some(to), ..NONE }
            }
            Step::Set { from: one, to }
            | Step::Not { one, to }
            | Step::IsNull { one, to, .. }
            | Step::IsBool { one, to, .. }
            | Step::Field { record: one, to, .. } => {
                Effect { reads: [Some(one), None], writes: Some(to), ..NONE }
            }
            Step::And { one, to, end } | Step::Or { one, to, end } => Effect {
                reads: [Some(one), Some(Operand::Register(to))],
                jump: Some((end, None)),
                ..NONE
            },
            Step::Unless { one, end } | Step::UnlessNull { one, end } => {
                Effect { reads: [Some(one), None], jump: Some((end, None)), ..NONE }
            }
            Step::UnlessIntegers { left, right, end, .. } => {
                Effect { reads: [Some(left), Some(right)], jump: Some((end, None)), ..NONE }
            }
            Step::Null { one, to, end } => {
                Effect { reads: [Some(one), None], jump: Some((end, Some(to))), ..NONE }
            }
            Step::Jump { end } => Effect { jump: Some((end, None)), falls: false, ..NONE },
            Step::Recall { to, end } => Effect { jump: Some((end, Some(to))), ..NONE },
            Step::Demand { one } | Step::Retain { one, .. } => {
                Effect { reads: [Some(one), None], ..NONE }
            }
            Step::DemandIntegers { left, right, .. } => {
                Effect { reads: [Some(left), Some(right)], ..NONE }
            }
            Step::Call { callee: number, arguments, to }
            | Step::Routine { callee: number, arguments, to } => Effect {
                many: Some(arguments),
                writes: Some(to),
                knows: Some((number, callee)),
                ..NONE
            },
            Step::Subquery { to, .. } | Step::CurrentValue { to, .. } => {
                Effect { writes: Some(to), ..NONE }
            }
            Step::IsDistinct { left, right, equals, to, .. }
            | Step::NullIf { left, right, equals, to }
            | Step::Among { left, array: right, callee: equals, to, .. } => Effect {
                reads: [Some(left), Some(right)],
                writes: Some(to),
                knows: Some((equals, callee)),
                ..NONE
            },
            Step::Better { one, order, to, .. } => Effect {
                reads: [Some(one), Some(Operand::Register(to))],
                writes: Some(to),
                knows: Some((order, |what| matches!(what, Operation::Order(_)))),
                ..NONE
            },
            Step::Xml { arguments, call, to } => Effect {
                many: Some(arguments),
                writes: Some(to),
                knows: Some((call, |what| matches!(what, Operation::Xml(_)))),
                ..NONE
            },
            Step::ViaText { one, types, to } => Effect {
                reads: [Some(one), None],
                writes: Some(to),
                knows: Some((types, |what| matches!(what, Operation::ViaText(..)))),
                ..NONE
            },
            Step::Array { elements, to, .. } => {
                Effect { many: Some(elements), writes: Some(to), ..NONE }
            }
            Step::Row { fields, row, to } => Effect {
                many: Some(fields),
                writes: Some(to),
                knows: Some((row, |what| matches!(what, Operation::Row(..)))),
                ..NONE
            },
            Step::Assign { parts, part, to } => Effect {
                many: Some(parts),
                writes: Some(to),
                knows: Some((part, |what| matches!(what, Operation::Assign(_)))),
                ..NONE
            },
            Step::Element { array, subscript, to } => {
                Effect { reads: [Some(array), Some(subscript)], writes: Some(to), ..NONE }
            }
            Step::Part { array, bounds, given, to, .. } => Effect {
                reads: [Some(array), None],
                many: Some(bounds),
                writes: Some(to),
                knows: Some((given, |what| matches!(what, Operation::Bounds(_)))),
                ..NONE
            },
            Step::Spread { array, list, at } => {
                Effect { reads: [Some(array), None], writes: Some(at), makes: Some(list), ..NONE }
            }
            Step::Next { list, at, to, end } => Effect {
                reads: [Some(Operand::Register(at)), None],
                writes: Some(to),
                jump: Some((end, None)),
                needs: Some(list),
                ..NONE
            },
            Step::Keep { one, list, at } => Effect {
                reads: [Some(one), Some(Operand::Register(at))],
                needs: Some(list),
                ..NONE
            },
            Step::Gather { array, list, to, .. } => {
                Effect { reads: [Some(array), None], writes: Some(to), needs: Some(list), ..NONE }
            }
            Step::Again { .. } => Effect { falls: false, ..NONE },
        }
    }
}
