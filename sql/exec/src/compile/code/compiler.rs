//! Scalars become steps: an operand where a value already is somewhere, else steps that leave it in a register.
//!
//! Registers are a stack: what is computed into one may use those behind it, and whoever asks says from which one on they
//! are free. So a chain of operators, however long, needs as many as its sides do that wait for one another.

use super::step::{Number, Operand, Operands, Step};
use super::{Code, Operation};
use crate::plan::scalar::{Callee, Scalar, Target, Var};
use crate::tuple::RowBuf;
use crate::types::Datum;
use crate::types::depth::deeper;
use crate::types::primitive::{Comparison, Primitive};
use std::sync::Arc;

/// Makes a program.
#[derive(Default)]
pub(super) struct Compiler {
    steps: Vec<Step>,
    constants: Vec<Arc<RowBuf>>,
    operands: Vec<Operand>,
    operations: Vec<Operation>,
    /// Where the values are that scalars around the one at hand have homes for.
    homes: Vec<(Var, Operand)>,
    registers: u32,
    lists: u32,
    /// Whether what is computed is asked for row after row, so that what needs no row is computed once.
    by_row: bool,
    /// Whether a value around the one at hand is computed once.
    once: bool,
}

impl Compiler {
    /// Computes values, all of which are there at the end.
    pub fn values<'s>(mut self, scalars: impl IntoIterator<Item = &'s Scalar>) -> Code {
        let (mut results, mut free) = (Vec::new(), 0);
        for scalar in scalars {
            let result = self.value(scalar, free);
            free = behind(result, free);
            results.push(result);
        }
        self.finish(results)
    }

    /// Demands that conditions are true, in their order.
    pub fn demands<'s>(mut self, conditions: impl IntoIterator<Item = &'s Scalar>) -> Code {
        self.by_row = true;
        for condition in conditions {
            let demand = match self.comparison(condition, 0) {
                Some((what, left, right)) => Step::DemandIntegers { what, left, right },
                None => Step::Demand { one: self.value(condition, 0) },
            };
            self.push(demand);
        }
        self.finish(Vec::new())
    }

    fn finish(self, results: Vec<Operand>) -> Code {
        let Compiler { steps, constants, operands, operations, registers, lists, .. } = self;
        let stops = |step: &Step| matches!(step, Step::Routine { .. } | Step::Subquery { .. });
        Code {
            stops: steps.iter().any(stops),
            bare: steps.iter().all(Step::is_bare)
                && registers as usize <= super::FEW
                && reads_no_row(&steps, &results),
            steps: steps.into(),
            constants: constants.into(),
            operands: operands.into(),
            operations: operations.into(),
            results: results.into(),
            registers,
            lists,
        }
    }

    /// Where the next step will be.
    fn here(&self) -> u32 {
        self.steps.len() as u32
    }

    fn push(&mut self, step: Step) -> usize {
        if let Some(to) = step.effect().writes {
            self.registers = self.registers.max(to + 1);
        }
        if let Step::Null { to, .. } = step {
            self.registers = self.registers.max(to + 1);
        }
        self.steps.push(step);
        self.steps.len() - 1
    }

    /// Has the jumps at these steps lead here.
    fn land(&mut self, jumps: &[usize]) {
        let here = self.here();
        for at in jumps {
            if let Some(end) = self.steps[*at].jump_mut() {
                *end = here;
            }
        }
    }

    fn operation(&mut self, operation: Operation) -> Number {
        self.operations.push(operation);
        self.operations.len() as u32 - 1
    }

    fn callee(&mut self, callee: &Callee) -> Number {
        self.operation(Operation::Call(callee.clone()))
    }

    fn constant(&mut self, row: Arc<RowBuf>) -> Operand {
        self.constants.push(row);
        Operand::Constant(self.constants.len() as u32 - 1)
    }

    fn known(&mut self, value: Datum<'_>) -> Operand {
        let mut row = RowBuf::new();
        row.push(value);
        self.constant(Arc::new(row))
    }

    /// An operand of an operation of integers.
    fn integer(&self, operand: Operand) -> Operand {
        let Operand::Constant(number) = operand else { return operand };
        let value = self.constants[number as usize].integer(0);
        value.map_or(operand, Operand::Integer)
    }

    /// Computes values that are needed at once, from a register on, and keeps where they are; gives the first register that is
    /// free behind them.
    fn together<'s>(
        &mut self,
        scalars: impl IntoIterator<Item = &'s Scalar>,
        from: u32,
    ) -> (Operands, u32) {
        let (mut found, mut free) = (Vec::new(), from);
        for scalar in scalars {
            let one = self.value(scalar, free);
            free = behind(one, free);
            found.push(one);
        }
        (self.keep(&found), free)
    }

    fn keep(&mut self, operands: &[Operand]) -> Operands {
        let first = self.operands.len() as u32;
        self.operands.extend_from_slice(operands);
        Operands { first, count: operands.len() as u32 }
    }

    /// Two values that are needed at once.
    fn pair(&mut self, left: &Scalar, right: &Scalar, to: u32) -> (Operand, Operand) {
        let left = self.value(left, to);
        let right = self.value(right, behind(left, to));
        (left, right)
    }

    /// The operands of a scalar that compares integers.
    fn comparison(&mut self, scalar: &Scalar, to: u32) -> Option<(Comparison, Operand, Operand)> {
        let Scalar::Call { callee, arguments, .. } = scalar else { return None };
        let (Some(Primitive::Integers(what)), [left, right]) = (callee.primitive, &arguments[..])
        else {
            return None;
        };
        let (left, right) = self.pair(left, right, to);
        Some((what, self.integer(left), self.integer(right)))
    }

    /// A jump that is taken unless a condition is true.
    fn unless(&mut self, condition: &Scalar, to: u32) -> usize {
        let step = match self.comparison(condition, to) {
            Some((what, left, right)) => Step::UnlessIntegers { what, left, right, end: 0 },
            None => Step::Unless { one: self.value(condition, to), end: 0 },
        };
        self.push(step)
    }

    /// Computes a scalar, into this register where it is not somewhere already; those behind it are free.
    fn value(&mut self, scalar: &Scalar, to: u32) -> Operand {
        match scalar {
            Scalar::Constant(row, _) => self.constant(Arc::clone(row)),
            Scalar::Parameter(number) => Operand::Parameter(*number),
            Scalar::Var(var) => {
                let home = self.homes.iter().rev().find(|(home, _)| home == var);
                home.map_or(Operand::Var(*var), |(_, operand)| *operand)
            }
            _ if self.by_row && self.is_kept(scalar) => self.kept(scalar, to),
            _ => {
                deeper(|| self.compute(scalar, to));
                Operand::Register(to)
            }
        }
    }

    /// Whether a value follows from parameters and from what stays as it is while a statement runs, and takes more than looking
    /// it up again.
    fn is_kept(&self, scalar: &Scalar) -> bool {
        /// So many parts are looked at, of arrays so many for each element.
        const PARTS: (usize, usize) = (32, 4);
        let takes_time = match scalar {
            Scalar::Call { callee, .. } => callee.primitive.is_none(),
            Scalar::Array(..) | Scalar::ArrayCast { .. } | Scalar::ViaText(..) => true,
            _ => false,
        };
        if self.once || !takes_time {
            return false;
        }
        let elements = if let Scalar::Array(elements, ..) = scalar { elements.len() } else { 0 };
        let mut left = PARTS.0 + PARTS.1 * elements;
        // What is of constants alone has been computed.
        let (mut own, mut fits, mut of_run) = (Vec::new(), !scalar.volatile(), false);
        scalar.walk(&mut |part| {
            own.extend(part.own_home());
            of_run |= match part {
                Scalar::Parameter(_) | Scalar::CurrentValue(_) => true,
                Scalar::Call { callee, .. } => !callee.immutable,
                _ => false,
            };
            fits &= left > 0
                && match part {
                    Scalar::Var(var) => own.contains(var),
                    Scalar::Subquery(_) => false,
                    Scalar::Call { callee, .. }
                    | Scalar::IsDistinct(_, _, callee, _)
                    | Scalar::NullIf(_, _, callee)
                    | Scalar::ScalarArray { callee, .. } => is_steady(callee),
                    _ => true,
                };
            left = left.saturating_sub(1);
            fits
        });
        fits && of_run
    }

    /// Computes a scalar into this register, once in a run.
    fn kept(&mut self, scalar: &Scalar, to: u32) -> Operand {
        let head = self.push(Step::Recall { to, end: 0 });
        self.once = true;
        deeper(|| self.compute(scalar, to));
        self.once = false;
        self.push(Step::Retain { one: Operand::Register(to), head: head as u32 });
        self.land(&[head]);
        Operand::Register(to)
    }

    /// Computes a scalar into this register.
    fn compute(&mut self, scalar: &Scalar, to: u32) {
        match scalar {
            Scalar::Constant(..) | Scalar::Parameter(_) | Scalar::Var(_) => {
                let from = self.value(scalar, to);
                self.push(Step::Set { from, to });
            }
            Scalar::Call { callee, arguments, .. } => self.call(callee, arguments, to),
            Scalar::And(all) => self.junction(all, true, to),
            Scalar::Or(all) => self.junction(all, false, to),
            Scalar::Not(one) => {
                let one = self.value(one, to);
                self.push(Step::Not { one, to });
            }
            Scalar::IsNull(one, negated) => {
                let one = self.value(one, to);
                self.push(Step::IsNull { one, negated: *negated, to });
            }
            Scalar::IsBool(one, test, negated) => {
                let one = self.value(one, to);
                self.push(Step::IsBool { one, test: *test, negated: *negated, to });
            }
            Scalar::IsDistinct(left, right, equals, negated) => {
                self.is_distinct(left, right, (equals, *negated), to);
            }
            Scalar::NullIf(left, right, equals) => self.null_if(left, right, equals, to),
            Scalar::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), to);
            }
            Scalar::Coalesce(all) => {
                let mut ends = Vec::new();
                for one in all {
                    self.fill(one, to);
                    ends.push(self.push(Step::UnlessNull { one: Operand::Register(to), end: 0 }));
                }
                self.land(&ends);
            }
            Scalar::Extreme(all, comparator, greatest) => {
                let order = self.operation(Operation::Order(*comparator));
                let from = self.known(Datum::Null);
                self.push(Step::Set { from, to });
                for one in all {
                    let one = self.value(one, to + 1);
                    self.push(Step::Better { one, order, greatest: *greatest, to });
                }
            }
            Scalar::Xml(arguments, call) => {
                let (arguments, _) = self.together(arguments, to);
                let call = self.operation(Operation::Xml(Arc::clone(call)));
                self.push(Step::Xml { arguments, call, to });
            }
            Scalar::ViaText(one, from, into) => {
                let one = self.value(one, to);
                let types = self.operation(Operation::ViaText(*from, *into));
                self.push(Step::ViaText { one, types, to });
            }
            Scalar::ArrayCast { operand, to: ty, element, home, .. } => {
                self.array_cast(operand, ty.0, (element, *home), to);
            }
            Scalar::Array(elements, ty, nested) => {
                let (elements, _) = self.together(elements, to);
                self.push(Step::Array { elements, ty: ty.0, nested: *nested, to });
            }
            Scalar::Subscript { operand, indices, slice, .. } => {
                self.subscript(operand, indices, *slice, to);
            }
            Scalar::ScalarArray { left, callee, array, quantifier, .. } => {
                let left = self.value(left, to);
                let free = behind(left, to);
                let kept = self.is_kept(array);
                let array = if kept { self.kept(array, free) } else { self.value(array, free) };
                match is_routine(callee) {
                    false => {
                        let callee = self.callee(callee);
                        let quantifier = *quantifier;
                        let stays =
                            kept || matches!(array, Operand::Constant(_) | Operand::Parameter(_));
                        self.push(Step::Among { left, array, callee, quantifier, stays, to });
                    }
                    true => {
                        let any = *quantifier == crate::bind::Quantifier::Any;
                        self.each(left, array, (callee, any), to);
                    }
                }
            }
            Scalar::Row(fields, names) => {
                let types = fields.iter().map(|(_, ty)| *ty).collect();
                let (fields, _) = self.together(fields.iter().map(|(field, _)| field), to);
                let row = self.operation(Operation::Row(types, names.clone()));
                self.push(Step::Row { fields, row, to });
            }
            Scalar::Assign(parts, part) => {
                // The new value is computed last (`ExecInitSubscriptingRef`), and stands behind the target.
                let [target, value, subscripts @ ..] = &parts[..] else {
                    unreachable!("an assignment has a target and a value")
                };
                let target = self.value(target, to);
                let mut free = behind(target, to);
                let mut all = vec![target, target];
                for subscript in subscripts {
                    let one = self.value(subscript, free);
                    free = behind(one, free);
                    all.push(one);
                }
                all[1] = self.value(value, free);
                let parts = self.keep(&all);
                let part = self.operation(Operation::Assign(part.clone()));
                self.push(Step::Assign { parts, part, to });
            }
            Scalar::Field(one, number) => {
                let record = self.value(one, to);
                self.push(Step::Field { record, number: *number, to });
            }
            Scalar::Subquery(number) => {
                self.push(Step::Subquery { number: *number, to });
            }
            Scalar::CurrentValue(value) => {
                self.push(Step::CurrentValue { value: *value, to });
            }
        }
    }

    /// Computes a scalar into this register, wherever it is.
    fn fill(&mut self, scalar: &Scalar, to: u32) {
        let from = self.value(scalar, to);
        if !matches!(from, Operand::Register(there) if there == to) {
            self.push(Step::Set { from, to });
        }
    }

    fn call(&mut self, callee: &Callee, arguments: &[Scalar], to: u32) {
        if let Some(what) = callee.primitive {
            let operands = match arguments {
                [one] if what.is_unary() => {
                    let one = self.value(one, to);
                    Some((one, one))
                }
                [left, right] if !what.is_unary() => Some(self.pair(left, right, to)),
                _ => None,
            };
            if let Some((left, right)) = operands {
                self.push(match what.takes_integers() {
                    true => {
                        let (left, right) = (self.integer(left), self.integer(right));
                        Step::Integers { what, left, right, to }
                    }
                    false => Step::Apply { what, left, right, to },
                });
                return;
            }
        }
        let (arguments, _) = self.together(arguments, to);
        self.apply(callee, arguments, to);
    }

    fn apply(&mut self, callee: &Callee, arguments: Operands, to: u32) {
        let routine = is_routine(callee);
        let callee = self.callee(callee);
        self.push(match routine {
            true => Step::Routine { callee, arguments, to },
            false => Step::Call { callee, arguments, to },
        });
    }

    fn junction(&mut self, all: &[Scalar], both: bool, to: u32) {
        let from = self.known(Datum::Bool(both));
        self.push(Step::Set { from, to });
        let mut jumps = Vec::new();
        for one in all {
            let one = self.value(one, to + 1);
            jumps.push(self.push(match both {
                true => Step::And { one, to, end: 0 },
                false => Step::Or { one, to, end: 0 },
            }));
        }
        self.land(&jumps);
    }

    fn is_distinct(
        &mut self,
        left: &Scalar,
        right: &Scalar,
        (equals, negated): (&Callee, bool),
        to: u32,
    ) {
        let (left, right) = self.pair(left, right, to);
        if !is_routine(equals) {
            let equals = self.callee(equals);
            self.push(Step::IsDistinct { left, right, equals, negated, to });
            return;
        }
        // Of two NULLs, and of a NULL and another value, it is not asked.
        let free = behind(right, behind(left, to));
        let left_there = self.push(Step::UnlessNull { one: left, end: 0 });
        let right_alone = self.push(Step::UnlessNull { one: right, end: 0 });
        let from = self.known(Datum::Bool(negated));
        self.push(Step::Set { from, to });
        let mut ends = vec![self.push(Step::Jump { end: 0 })];
        self.land(&[left_there]);
        let both_there = self.push(Step::UnlessNull { one: right, end: 0 });
        self.land(&[right_alone]);
        let from = self.known(Datum::Bool(!negated));
        self.push(Step::Set { from, to });
        ends.push(self.push(Step::Jump { end: 0 }));
        self.land(&[both_there]);
        let arguments = self.keep(&[left, right]);
        self.apply(equals, arguments, free);
        let one = Operand::Register(free);
        self.push(Step::IsBool { one, test: Some(true), negated: !negated, to });
        self.land(&ends);
    }

    fn null_if(&mut self, left: &Scalar, right: &Scalar, equals: &Callee, to: u32) {
        let (left, right) = self.pair(left, right, to);
        if !is_routine(equals) {
            let equals = self.callee(equals);
            self.push(Step::NullIf { left, right, equals, to });
            return;
        }
        let free = behind(right, behind(left, to));
        let kept = (free, free + 1);
        self.push(Step::Set { from: left, to: kept.0 });
        let left_there = self.push(Step::UnlessNull { one: left, end: 0 });
        let mut keeps = vec![self.push(Step::Jump { end: 0 })];
        self.land(&[left_there]);
        let right_there = self.push(Step::UnlessNull { one: right, end: 0 });
        keeps.push(self.push(Step::Jump { end: 0 }));
        self.land(&[right_there]);
        let arguments = self.keep(&[left, right]);
        self.apply(equals, arguments, kept.1);
        keeps.push(self.push(Step::Unless { one: Operand::Register(kept.1), end: 0 }));
        let from = self.known(Datum::Null);
        self.push(Step::Set { from, to: kept.0 });
        self.land(&keeps);
        self.push(Step::Set { from: Operand::Register(kept.0), to });
    }

    fn case(
        &mut self,
        operand: Option<&(Scalar, Var)>,
        branches: &[(Scalar, Scalar)],
        otherwise: Option<&Scalar>,
        to: u32,
    ) {
        let mut free = to;
        if let Some((operand, home)) = operand {
            let value = self.value(operand, to);
            free = behind(value, to);
            self.homes.push((*home, value));
        }
        // Nothing asks for the operand once a branch is chosen, so the result may take its place.
        let mut ends = Vec::new();
        for (when, then) in branches {
            let next = self.unless(when, free);
            self.fill(then, to);
            ends.push(self.push(Step::Jump { end: 0 }));
            self.land(&[next]);
        }
        if operand.is_some() {
            self.homes.pop();
        }
        match otherwise {
            Some(otherwise) => self.fill(otherwise, to),
            None => {
                let from = self.known(Datum::Null);
                self.push(Step::Set { from, to });
            }
        }
        self.land(&ends);
    }

    fn subscript(
        &mut self,
        operand: &Scalar,
        indices: &[(Option<Scalar>, Option<Scalar>)],
        slice: bool,
        to: u32,
    ) {
        let array = self.value(operand, to);
        let mut free = behind(array, to);
        // What would be looked for in nothing is not computed, nor what is behind a bound that is nothing.
        let mut nothing = vec![self.push(Step::Null { one: array, to, end: 0 })];
        if let ([(None, Some(subscript))], false) = (indices, slice) {
            let subscript = self.value(subscript, free);
            let subscript = self.integer(subscript);
            self.push(Step::Element { array, subscript, to });
            self.land(&nothing);
            return;
        }
        let (mut bounds, mut given) = (Vec::new(), Vec::new());
        for (low, high) in indices {
            for bound in [low, high].into_iter().flatten() {
                let one = self.value(bound, free);
                free = behind(one, free);
                nothing.push(self.push(Step::Null { one, to, end: 0 }));
                bounds.push(one);
            }
            given.push((low.is_some(), high.is_some()));
        }
        let bounds = self.keep(&bounds);
        let given = self.operation(Operation::Bounds(given.into()));
        self.push(Step::Part { array, bounds, given, slice, to });
        self.land(&nothing);
    }

    /// Casts each element where it stands in a list of them.
    fn array_cast(&mut self, operand: &Scalar, ty: u32, (element, home): (&Scalar, Var), to: u32) {
        let array = self.value(operand, to);
        let at = behind(array, to);
        let list = self.list();
        let nothing = self.push(Step::Null { one: array, to, end: 0 });
        self.push(Step::Spread { array, list, at });
        let head = self.here();
        let next = self.push(Step::Next { list, at, to: at + 1, end: 0 });
        self.homes.push((home, Operand::Register(at + 1)));
        let one = self.value(element, at + 2);
        self.homes.pop();
        self.push(Step::Keep { one, list, at });
        self.push(Step::Again { head });
        self.land(&[next]);
        self.push(Step::Gather { array, list, ty, to });
        self.land(&[nothing]);
    }

    /// `op ANY` and `op ALL` by a routine: OR, or AND, of what it says of each element.
    fn each(&mut self, left: Operand, array: Operand, (callee, any): (&Callee, bool), to: u32) {
        let result = behind(array, behind(left, to));
        let (at, element, said) = (result + 1, result + 2, result + 3);
        let list = self.list();
        let nothing = self.push(Step::Null { one: array, to: result, end: 0 });
        let from = self.known(Datum::Bool(!any));
        self.push(Step::Set { from, to: result });
        self.push(Step::Spread { array, list, at });
        let head = self.here();
        let next = self.push(Step::Next { list, at, to: element, end: 0 });
        let arguments = self.keep(&[left, Operand::Register(element)]);
        self.apply(callee, arguments, said);
        let (one, end) = (Operand::Register(said), 0);
        let decided = self.push(match any {
            true => Step::Or { one, to: result, end },
            false => Step::And { one, to: result, end },
        });
        self.push(Step::Again { head });
        self.land(&[nothing, next, decided]);
        self.push(Step::Set { from: Operand::Register(result), to });
    }

    fn list(&mut self) -> u32 {
        self.lists += 1;
        self.lists - 1
    }
}

/// The first register that is free behind a value.
fn behind(operand: Operand, free: u32) -> u32 {
    match operand {
        Operand::Register(there) => free.max(there + 1),
        _ => free,
    }
}

fn is_routine(callee: &Callee) -> bool {
    matches!(callee.target, Target::Routine(..))
}

/// Whether a function of the server gives the same for the same arguments as long as a statement runs.
fn is_steady(callee: &Callee) -> bool {
    !callee.volatile && matches!(callee.target, Target::Plain(_) | Target::Typed(..))
}

/// Whether no operand of simple steps is a column of a row.
fn reads_no_row(steps: &[Step], results: &[Operand]) -> bool {
    let of_row = |operand: &Operand| matches!(operand, Operand::Var(_));
    !results.iter().any(of_row)
        && !steps.iter().any(|step| step.effect().reads.iter().flatten().any(of_row))
}
