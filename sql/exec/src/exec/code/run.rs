//! The run of a program, a step at a time.

use super::Wants;
use super::among::among;
use super::list::List;
use crate::account;
use crate::compile::code::step::{Operand, Operands, Step};
use crate::compile::code::{Code, Operation};
use crate::error::Result;
use crate::exec::eval::Eval;
use crate::exec::routine::RoutineCall;
use crate::plan::scalar::{Callee, Target, Var};
use crate::tuple::RowBuf;
use crate::types::array::{Array, Builder};
use crate::types::{CallContext, Datum, array, record, stored};
use std::cmp::Ordering;
use std::sync::Arc;

/// Why a run has ended, or has not.
pub(super) enum Stop {
    End,
    /// A condition is not true.
    Refused,
    /// A step waits for something.
    Waits(usize, Box<Wants>),
    /// A step needs more than the run looks at.
    Outside,
}

/// What a run looks at: all that there is where expressions are evaluated, or parameters alone.
pub(super) trait Sight<'x>: Copy {
    fn column(self, var: Var) -> Datum<'x>;
    fn integer(self, var: Var) -> Option<i64>;
    fn parameters(self) -> &'x RowBuf;
    fn eval(self) -> Option<&'x Eval<'x>>;
}

impl<'x> Sight<'x> for &'x Eval<'x> {
    #[inline]
    fn column(self, var: Var) -> Datum<'x> {
        Eval::column(self, var)
    }

    #[inline]
    fn integer(self, var: Var) -> Option<i64> {
        match self.in_record(var) {
            None => self.frame.row(var.slot).integer(var.column as usize),
            Some(Datum::Int4(value)) => Some(i64::from(value)),
            Some(Datum::Int8(value)) => Some(value),
            Some(Datum::Int2(value)) => Some(i64::from(value)),
            Some(_) => None,
        }
    }

    #[inline]
    fn parameters(self) -> &'x RowBuf {
        self.parameters
    }

    #[inline]
    fn eval(self) -> Option<&'x Eval<'x>> {
        Some(self)
    }
}

impl<'x> Sight<'x> for &'x RowBuf {
    #[inline]
    fn column(self, _: Var) -> Datum<'x> {
        Datum::Null
    }

    #[inline]
    fn integer(self, _: Var) -> Option<i64> {
        None
    }

    #[inline]
    fn parameters(self) -> &'x RowBuf {
        self
    }

    #[inline]
    fn eval(self) -> Option<&'x Eval<'x>> {
        None
    }
}

/// What functions look at, made when the first of them is called, and anew where one has changed it.
pub(super) struct Surroundings<'x> {
    pub eval: &'x Eval<'x>,
    call: Option<CallContext<'x>>,
}

impl<'x> Surroundings<'x> {
    #[inline]
    fn call(&mut self) -> &CallContext<'x> {
        let eval = self.eval;
        self.call.get_or_insert_with(|| eval.call())
    }

    /// Calls a function whose strictness has been seen to.
    #[inline]
    pub fn apply(&mut self, callee: &Callee, arguments: &[Datum<'x>]) -> Result<Datum<'x>> {
        let value = Eval::apply(self.call(), callee, arguments)?;
        if callee.volatile {
            self.look_again();
        }
        Ok(value)
    }

    /// Whether a boolean function of two values that are not NULL is true.
    fn test(&mut self, callee: &Callee, left: Datum<'x>, right: Datum<'x>) -> Result<bool> {
        Ok(matches!(self.apply(callee, &[left, right])?, Datum::Bool(true)))
    }

    /// A call may have changed the settings that the calls behind it look at.
    fn look_again(&mut self) {
        let changed = self.call.as_ref().and_then(|call| {
            let changed = call.catalog.changed_settings()?;
            (!std::ptr::eq(changed, call.settings)).then_some(())
        });
        if changed.is_some() {
            self.call = None;
        }
    }
}

impl Code {
    #[inline(always)]
    pub(super) fn value<'x, S: Sight<'x>>(
        &'x self,
        operand: Operand,
        sight: S,
        registers: &[Datum<'x>],
    ) -> Datum<'x> {
        match operand {
            Operand::Var(var) => sight.column(var),
            Operand::Parameter(number) => sight.parameters().get(number as usize),
            Operand::Register(number) => registers[number as usize],
            Operand::Constant(number) => self.constants[number as usize].get(0),
            Operand::Integer(value) => Datum::Int8(value),
        }
    }

    /// An operand that is an integer; none: NULL.
    #[inline(always)]
    fn integer<'x, S: Sight<'x>>(
        operand: Operand,
        sight: S,
        registers: &[Datum<'x>],
    ) -> Option<i64> {
        match operand {
            Operand::Var(var) => sight.integer(var),
            Operand::Parameter(number) => sight.parameters().integer(number as usize),
            Operand::Integer(value) => Some(value),
            Operand::Register(number) => match registers[number as usize] {
                Datum::Int4(value) => Some(i64::from(value)),
                Datum::Int8(value) => Some(value),
                Datum::Int2(value) => Some(i64::from(value)),
                _ => None,
            },
            Operand::Constant(_) => None,
        }
    }

    /// The bytes of an operand that is an array.
    #[inline(always)]
    fn array<'x, S: Sight<'x>>(
        &'x self,
        operand: Operand,
        sight: S,
        registers: &[Datum<'x>],
    ) -> Option<&'x [u8]> {
        match operand {
            Operand::Parameter(number) => sight.parameters().array(number as usize),
            other => match self.value(other, sight, registers) {
                Datum::Array(bytes) => Some(bytes),
                _ => None,
            },
        }
    }

    /// Operands side by side: in `few`, or in the arena where they are more.
    fn gather<'b, 'x>(
        &'x self,
        operands: Operands,
        eval: &'x Eval<'x>,
        registers: &[Datum<'x>],
        few: &'b mut [Datum<'x>; 4],
    ) -> &'b [Datum<'x>]
    where
        'x: 'b,
    {
        let list = self.list(operands);
        if list.len() > few.len() {
            let values = list.iter().map(|one| self.value(*one, eval, registers));
            return eval.arena.alloc_slice_fill_iter(values);
        }
        for (one, operand) in few.iter_mut().zip(list) {
            *one = self.value(*operand, eval, registers);
        }
        &few[..list.len()]
    }

    #[inline]
    fn callee(&self, number: u32) -> &Callee {
        match &self.operations[number as usize] {
            Operation::Call(callee) => callee,
            _ => unreachable!("the program has been verified"),
        }
    }

    /// Runs its steps from one on.
    pub(super) fn go<'x, S: Sight<'x>>(
        &'x self,
        sight: S,
        registers: &mut [Datum<'x>],
        lists: &mut Vec<List<'x>>,
        from: usize,
    ) -> Result<Stop> {
        let mut surroundings = None;
        let mut at = from;
        while let Some(step) = self.steps.get(at) {
            at += 1;
            macro_rules! value {
                ($operand:expr) => {
                    self.value($operand, sight, registers)
                };
            }
            macro_rules! integer {
                ($operand:expr) => {
                    Code::integer($operand, sight, registers)
                };
            }
            match *step {
                Step::Apply { what, left, right, to } => {
                    registers[to as usize] = match (value!(left), value!(right)) {
                        (Datum::Null, _) | (_, Datum::Null) => Datum::Null,
                        (left, right) => what.apply(left, right)?,
                    };
                }
                Step::Integers { what, left, right, to } => {
                    registers[to as usize] = match (integer!(left), integer!(right)) {
                        (Some(left), Some(right)) => what.apply_to_integers(left, right)?,
                        _ => Datum::Null,
                    };
                }
                Step::DemandIntegers { what, left, right } => {
                    match (integer!(left), integer!(right)) {
                        (Some(left), Some(right)) if what.of_integers(left, right) => {}
                        _ => return Ok(Stop::Refused),
                    }
                }
                Step::Demand { one } => {
                    if !matches!(value!(one), Datum::Bool(true)) {
                        return Ok(Stop::Refused);
                    }
                }
                Step::Set { from, to } => registers[to as usize] = value!(from),
                Step::And { one, to, end } => match value!(one) {
                    Datum::Bool(true) => {}
                    Datum::Bool(false) => {
                        registers[to as usize] = Datum::Bool(false);
                        at = end as usize;
                    }
                    _ => registers[to as usize] = Datum::Null,
                },
                Step::Or { one, to, end } => match value!(one) {
                    Datum::Bool(false) => {}
                    Datum::Bool(true) => {
                        registers[to as usize] = Datum::Bool(true);
                        at = end as usize;
                    }
                    _ => registers[to as usize] = Datum::Null,
                },
                Step::Not { one, to } => {
                    registers[to as usize] = match value!(one) {
                        Datum::Bool(value) => Datum::Bool(!value),
                        _ => Datum::Null,
                    };
                }
                Step::IsNull { one, negated, to } => {
                    registers[to as usize] = Datum::Bool(match value!(one) {
                        // A row is null where all its fields are, and not null where none is.
                        Datum::Record(bytes) => {
                            record::fields(bytes).all(|(_, field)| field.is_none() != negated)
                        }
                        value => value.is_null() != negated,
                    });
                }
                Step::IsBool { one, test, negated, to } => {
                    let value = match value!(one) {
                        Datum::Bool(value) => Some(value),
                        _ => None,
                    };
                    registers[to as usize] = Datum::Bool((value == test) != negated);
                }
                Step::Unless { one, end } => {
                    if !matches!(value!(one), Datum::Bool(true)) {
                        at = end as usize;
                    }
                }
                Step::UnlessIntegers { what, left, right, end } => {
                    match (integer!(left), integer!(right)) {
                        (Some(left), Some(right)) if what.of_integers(left, right) => {}
                        _ => at = end as usize,
                    }
                }
                Step::UnlessNull { one, end } => {
                    if !value!(one).is_null() {
                        at = end as usize;
                    }
                }
                Step::Null { one, to, end } => {
                    if value!(one).is_null() {
                        registers[to as usize] = Datum::Null;
                        at = end as usize;
                    }
                }
                Step::Jump { end } => at = end as usize,
                Step::Recall { to, end } => {
                    let asked = std::ptr::from_ref(step).addr();
                    if let Some(value) = sight.eval().and_then(|eval| eval.frame.kept.get(asked)) {
                        registers[to as usize] = value;
                        at = end as usize;
                    }
                }
                Step::Retain { one, head } => {
                    if let Some(eval) = sight.eval() {
                        let asked = std::ptr::from_ref(&self.steps[head as usize]).addr();
                        eval.frame.kept.keep(asked, value!(one));
                    }
                }
                Step::Element { array, subscript, to } => {
                    let Some(bytes) = self.array(array, sight, registers) else {
                        registers[to as usize] = byte_of(value!(array), integer!(subscript));
                        continue;
                    };
                    let Some(Ok(subscript)) = integer!(subscript).map(i32::try_from) else {
                        registers[to as usize] = Datum::Null;
                        continue;
                    };
                    if let Some(number) = array::number_at(bytes, subscript) {
                        registers[to as usize] = number;
                        continue;
                    }
                    registers[to as usize] = match Array::of(bytes).element(subscript)? {
                        Some(element) => element,
                        None => match sight.eval() {
                            Some(eval) => Array::of(bytes).subscript(eval.arena, &[subscript])?,
                            None => return Ok(Stop::Outside),
                        },
                    };
                }
                Step::Field { record, number, to } => {
                    registers[to as usize] = match value!(record) {
                        Datum::Record(bytes) => match record::fields(bytes).nth(number as usize) {
                            Some((ty, Some(field))) => match stored::read_in_place(ty, field)? {
                                Some(value) => value,
                                None => match sight.eval() {
                                    Some(eval) => {
                                        record::field(eval.arena, bytes, number as usize)?
                                    }
                                    None => return Ok(Stop::Outside),
                                },
                            },
                            Some((_, None)) | None => Datum::Null,
                        },
                        _ => Datum::Null,
                    };
                }
                Step::Call { callee, arguments, to } => {
                    let Some(eval) = sight.eval() else { return Ok(Stop::Outside) };
                    let around = surroundings.get_or_insert(Surroundings { eval, call: None });
                    let mut few = [Datum::Null; 4];
                    let arguments = self.gather(arguments, eval, registers, &mut few);
                    let callee = self.callee(callee);
                    registers[to as usize] =
                        match callee.strict && arguments.iter().any(Datum::is_null) {
                            true => Datum::Null,
                            false => around.apply(callee, arguments)?,
                        };
                }
                Step::Subquery { number, to } => {
                    let Some(eval) = sight.eval() else { return Ok(Stop::Outside) };
                    let state = &eval.subplans[number as usize];
                    if !state.done {
                        return Ok(Stop::Waits(at - 1, Box::new(Wants::Subquery(number))));
                    }
                    registers[to as usize] = state.result.get(0);
                }
                Step::Routine { callee, arguments, to } => {
                    let Some(eval) = sight.eval() else { return Ok(Stop::Outside) };
                    match self.routine_call(callee, arguments, eval, registers) {
                        Some(call) => {
                            let wants = Box::new(Wants::Routine(call));
                            return Ok(Stop::Waits(at - 1, wants));
                        }
                        None => registers[to as usize] = Datum::Null,
                    }
                }
                Step::Again { head } => at = head as usize,
                Step::Next { list, at: counter, to, end } => {
                    account::step();
                    let Datum::Int8(next) = registers[counter as usize] else {
                        unreachable!("the program has been verified")
                    };
                    match lists[list as usize].get(next as usize) {
                        Some(element) => {
                            registers[to as usize] = element;
                            registers[counter as usize] = Datum::Int8(next + 1);
                        }
                        None => at = end as usize,
                    }
                }
                Step::Keep { one, list, at: counter } => {
                    let value = value!(one);
                    if let Datum::Int8(behind) = registers[counter as usize] {
                        lists[list as usize].keep(behind as usize - 1, value);
                    }
                }
                Step::Spread { array, list, at: counter } => {
                    let Some(eval) = sight.eval() else { return Ok(Stop::Outside) };
                    let elements = spread(value!(array), eval)?;
                    // Lists are made in the order of their numbers, a nested one anew in each turn of the one around it.
                    lists.truncate(list as usize);
                    lists.resize_with(list as usize, Default::default);
                    lists.push(List::Fresh(elements));
                    registers[counter as usize] = Datum::Int8(0);
                }
                Step::Gather { array, list, ty, to } => {
                    let Some(eval) = sight.eval() else { return Ok(Stop::Outside) };
                    let Datum::Array(bytes) = value!(array) else {
                        unreachable!("what has been taken apart is an array")
                    };
                    let mut builder = Builder::new(ty);
                    lists[list as usize].for_each(|element| builder.push(element));
                    let dimensions: Vec<_> = Array::of(bytes).dimensions().collect();
                    registers[to as usize] = Datum::Array(builder.store(eval.arena, &dimensions));
                }
                Step::IsDistinct { to, .. }
                | Step::NullIf { to, .. }
                | Step::Better { to, .. }
                | Step::Xml { to, .. }
                | Step::ViaText { to, .. }
                | Step::Array { to, .. }
                | Step::Row { to, .. }
                | Step::Assign { to, .. }
                | Step::Part { to, .. }
                | Step::Among { to, .. }
                | Step::CurrentValue { to, .. } => {
                    let Some(eval) = sight.eval() else { return Ok(Stop::Outside) };
                    let around = surroundings.get_or_insert(Surroundings { eval, call: None });
                    registers[to as usize] = self.compute(step, around, registers)?;
                }
            }
        }
        Ok(Stop::End)
    }

    /// A call of a routine, ready to be made; none where it is strict and an argument is NULL.
    #[cold]
    fn routine_call<'x>(
        &'x self,
        callee: u32,
        arguments: Operands,
        eval: &'x Eval<'x>,
        registers: &[Datum<'x>],
    ) -> Option<RoutineCall> {
        let callee = self.callee(callee);
        let Target::Routine(routine, types) = &callee.target else { return None };
        let mut values = RowBuf::new();
        for operand in self.list(arguments) {
            values.push(self.value(*operand, eval, registers));
        }
        if callee.strict && values.iter().any(|value| value.is_null()) {
            return None;
        }
        let (routine, types) = (Arc::clone(routine), Arc::clone(types));
        Some(RoutineCall { routine, types, arguments: values })
    }

    /// The value of a step that is none of the frequent ones.
    #[inline(never)]
    fn compute<'x>(
        &'x self,
        step: &'x Step,
        around: &mut Surroundings<'x>,
        registers: &[Datum<'x>],
    ) -> Result<Datum<'x>> {
        let eval = around.eval;
        let value = |operand: Operand| self.value(operand, eval, registers);
        let mut few = [Datum::Null; 4];
        let operation = |number: u32| &self.operations[number as usize];
        Ok(match *step {
            Step::IsDistinct { left, right, equals, negated, .. } => {
                let (left, right) = (value(left), value(right));
                let distinct = match (left.is_null(), right.is_null()) {
                    (true, true) => false,
                    (false, false) => !around.test(self.callee(equals), left, right)?,
                    _ => true,
                };
                Datum::Bool(distinct != negated)
            }
            Step::NullIf { left, right, equals, .. } => {
                let (left, right) = (value(left), value(right));
                let both = !left.is_null() && !right.is_null();
                match both && around.test(self.callee(equals), left, right)? {
                    true => Datum::Null,
                    false => left,
                }
            }
            Step::Better { one, order, greatest, to } => {
                let Operation::Order(comparator) = operation(order) else { return Ok(Datum::Null) };
                let (best, one) = (registers[to as usize], value(one));
                let wanted = if greatest { Ordering::Less } else { Ordering::Greater };
                let better = !one.is_null()
                    && (best.is_null()
                        || comparator.compare_strictly(around.call(), &best, &one)? == wanted);
                if better { one } else { best }
            }
            Step::Xml { arguments, call, .. } => {
                let Operation::Xml(call) = operation(call) else { return Ok(Datum::Null) };
                let values = self.gather(arguments, eval, registers, &mut few);
                call.evaluate(around.call(), values)?
            }
            Step::ViaText { one, types, .. } => {
                let Operation::ViaText(from, to) = operation(types) else { return Ok(Datum::Null) };
                let one = value(one);
                if one.is_null() {
                    return Ok(Datum::Null);
                }
                let text = crate::types::text_of(around.call(), *from, &one)?;
                crate::types::read_text(around.call(), *to, text)?
            }
            Step::Array { elements, ty, nested, .. } => {
                let element = crate::catalog::builtin::element_type(ty);
                let element = element.unwrap_or(crate::types::oids::TEXT);
                let values = self.gather(elements, eval, registers, &mut few);
                // Elements that are arrays of the same type make one dimension more.
                match nested {
                    true => array::from_arrays(eval.arena, element, values)?,
                    false => array::from_datums(eval.arena, element, values),
                }
            }
            Step::Row { fields, row, .. } => {
                let Operation::Row(types, names) = operation(row) else { return Ok(Datum::Null) };
                let operands = self.list(fields).iter().map(|operand| value(*operand));
                let fields = types.iter().copied().zip(operands);
                let mut values =
                    bumpalo::collections::Vec::with_capacity_in(types.len(), eval.arena);
                values.extend(fields);
                record::build_named(
                    eval.arena,
                    &values,
                    names.iter().flat_map(|names| names.iter()),
                )
            }
            Step::Assign { parts, part, .. } => {
                let Operation::Assign(part) = operation(part) else { return Ok(Datum::Null) };
                let values = self.gather(parts, eval, registers, &mut few);
                crate::types::assign::part(around.call(), part, values)?
            }
            Step::Part { array, bounds, given, slice, .. } => {
                let Operation::Bounds(given) = operation(given) else { return Ok(Datum::Null) };
                let bounds = self.gather(bounds, eval, registers, &mut few);
                match value(array) {
                    Datum::Array(bytes) => part(Array::of(bytes), (bounds, given), slice, eval)?,
                    name => match (&given[..], bounds) {
                        ([(false, true)], [Datum::Int4(index)]) => {
                            byte_of(name, Some(i64::from(*index)))
                        }
                        _ => Datum::Null,
                    },
                }
            }
            Step::Among { left, array, callee, quantifier, stays, .. } => {
                let kept = stays.then(|| std::ptr::from_ref(step).addr());
                let callee = self.callee(callee);
                let (left, array) = (value(left), value(array));
                among(around, (callee, quantifier), (left, array), kept)?
            }
            Step::CurrentValue { value, .. } => Eval::current_value(around.call(), value)?,
            _ => unreachable!("the run does it itself"),
        })
    }
}

/// The elements of an array, in the arena.
fn spread<'x>(array: Datum<'x>, eval: &'x Eval<'x>) -> Result<&'x mut [Datum<'x>]> {
    let mut elements = bumpalo::collections::Vec::new_in(eval.arena);
    if let Datum::Array(bytes) = array {
        let source = Array::of(bytes);
        elements.reserve_exact(source.len());
        for element in source.datums(eval.arena) {
            elements.push(element?);
        }
    }
    Ok(elements.into_bump_slice_mut())
}

/// A byte of a name, counted from 0: names are arrays of 64 `"char"`s, the last ones of them 0.
fn byte_of<'x>(name: Datum<'_>, index: Option<i64>) -> Datum<'x> {
    const NAME_LENGTH: usize = 64;
    let (Datum::Text(name), Some(index)) = (name, index) else { return Datum::Null };
    match usize::try_from(index) {
        Ok(at) if at < NAME_LENGTH => Datum::Char(name.as_bytes().get(at).copied().unwrap_or(0)),
        _ => Datum::Null,
    }
}

/// The element or the part of an array at several subscripts, none of which is NULL.
fn part<'x>(
    array: Array<'x>,
    (bounds, given): (&[Datum<'x>], &[(bool, bool)]),
    slice: bool,
    eval: &Eval<'x>,
) -> Result<Datum<'x>> {
    let mut left = bounds.iter();
    let mut bound = |given: bool| match given.then(|| left.next()).flatten() {
        Some(Datum::Int4(value)) => Some(*value),
        _ => None,
    };
    let bounds: Vec<_> = given.iter().map(|(low, high)| (bound(*low), bound(*high))).collect();
    if slice {
        return Ok(Datum::Array(array.slice(eval.arena, &bounds)));
    }
    let subscripts: Vec<i32> = bounds.iter().filter_map(|(_, high)| *high).collect();
    array.subscript(eval.arena, &subscripts)
}
