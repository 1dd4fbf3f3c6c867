//! Expressions of a body as operations.

use super::code::{FunctionCall, Op, Site, Slot};
use super::compile::{Compiler, FALSE, NULL, TRUE, may_repeat};
use crate::catalog::builtin;
use crate::compile::code::Code;
use crate::plan::scalar::{Callee, Scalar, Target};
use crate::tuple::RowBuf;
use crate::types::Datum;
use crate::types::primitive::{Comparison, Primitive, Width};
use std::sync::Arc;

/// `||` of texts.
const CONCATENATE: u32 = 1258;

/// Whether it may be evaluated where functions see no more than a context: no query, no row, no routine, no call of the catalog
/// that changes anything.
fn is_tree(scalar: &Scalar) -> bool {
    let mut fits = true;
    scalar.walk(&mut |part| {
        fits &= match part {
            Scalar::Subquery(_) => false,
            Scalar::Call { callee, .. } => match callee.target {
                Target::Plain(_) | Target::Typed(..) => true,
                Target::Catalog => !callee.volatile,
                Target::Routine(..) => false,
            },
            _ => true,
        };
        fits
    });
    fits
}

/// Whether a scalar is somewhere already, or a field of such a row: nobody can tell whether it was looked at.
fn is_at_hand(scalar: &Scalar) -> bool {
    match scalar {
        Scalar::Constant(..) | Scalar::Parameter(_) => true,
        Scalar::Field(row, _) => matches!(**row, Scalar::Parameter(_)),
        _ => false,
    }
}

impl Compiler<'_> {
    /// Computes a scalar, into this slot where it is not somewhere already; those behind it are free. Nothing where no operation
    /// does that.
    pub(super) fn value(&mut self, scalar: &Scalar, to: Slot) -> Option<Slot> {
        self.reach(to)?;
        crate::types::depth::deeper(|| {
            let mark = self.mark();
            if let Some(slot) = self.computed(scalar, to) {
                return Some(slot);
            }
            self.back_to(mark);
            if !is_tree(scalar) {
                return None;
            }
            let mut read = Vec::new();
            scalar.walk(&mut |part| {
                if let Scalar::Parameter(number) = part {
                    read.push(*number);
                }
                true
            });
            read.into_iter().for_each(|number| self.whole(number));
            self.program.volatile |= !may_repeat(scalar);
            self.program.trees.push(Arc::new(Code::of([scalar])));
            let tree = self.program.trees.len() as u32 - 1;
            self.push(Op::Tree { tree, to });
            Some(to)
        })
    }

    /// The variable of this number is about to be read as a whole.
    fn whole(&mut self, number: u32) {
        if let Ok(one) = Slot::try_from(number)
            && self.holds_rows(one)
        {
            self.push(Op::Whole { one });
        }
    }

    /// The slot behind this one where that is used for a value.
    fn behind(slot: Slot, to: Slot) -> Slot {
        if slot == to { to + 1 } else { to }
    }

    fn computed(&mut self, scalar: &Scalar, to: Slot) -> Option<Slot> {
        match scalar {
            Scalar::Constant(row, _) => return Some(self.constant(row)),
            Scalar::Parameter(number) => {
                self.whole(*number);
                return Slot::try_from(*number).ok();
            }
            Scalar::Call { callee, arguments, .. } => self.call(callee, arguments, to)?,
            Scalar::And(all) | Scalar::Or(all) => {
                let both = matches!(scalar, Scalar::And(_));
                let from = self.fixed(if both { TRUE } else { FALSE });
                self.push(Op::Move { from, to });
                let mut jumps = Vec::new();
                for one in all {
                    let one = self.value(one, to + 1)?;
                    jumps.push(self.push(match both {
                        true => Op::And { one, to, end: 0 },
                        false => Op::Or { one, to, end: 0 },
                    }));
                }
                self.land(&jumps);
            }
            Scalar::Not(one) => {
                let one = self.value(one, to)?;
                self.push(Op::Not { one, to });
            }
            Scalar::IsNull(one, negated) => {
                let one = self.value(one, to)?;
                self.push(Op::IsNull { one, negated: *negated, to });
            }
            Scalar::IsBool(one, test, negated) => {
                let one = self.value(one, to)?;
                self.push(Op::IsBool { one, test: *test, negated: *negated, to });
            }
            Scalar::Case { operand: None, branches, otherwise } => {
                let mut ends = Vec::new();
                for (when, then) in branches {
                    let one = self.value(when, to)?;
                    let next = self.push(Op::Unless { one, end: 0 });
                    let from = self.value(then, to)?;
                    self.push(Op::Move { from, to });
                    ends.push(self.push(Op::Jump { end: 0 }));
                    self.land(&[next]);
                }
                let from = match otherwise {
                    Some(otherwise) => self.value(otherwise, to)?,
                    None => self.fixed(NULL),
                };
                self.push(Op::Move { from, to });
                self.land(&ends);
            }
            Scalar::Coalesce(all) => {
                let mut ends = Vec::new();
                for one in all {
                    let from = self.value(one, to)?;
                    self.push(Op::Move { from, to });
                    ends.push(self.push(Op::UnlessNull { one: to, end: 0 }));
                }
                self.land(&ends);
            }
            Scalar::Subscript { operand, ty, indices, slice: false } => {
                let [(None, Some(subscript))] = &indices[..] else { return None };
                builtin::element_type(ty.0)?;
                if let Scalar::Array(elements, _, false) = &**operand
                    && elements.iter().all(is_at_hand)
                {
                    self.pick(elements, subscript, to)?;
                    return Some(to);
                }
                let array = self.value(operand, to)?;
                // What would be looked for in nothing is not computed.
                let nothing = self.push(Op::Null { one: array, to, end: 0 });
                let subscript = self.value(subscript, Self::behind(array, to))?;
                self.push(Op::Element { array, subscript, to });
                self.land(&[nothing]);
            }
            Scalar::Field(one, number) => {
                let number = u16::try_from(*number).ok()?;
                let record = match **one {
                    Scalar::Parameter(number) => Slot::try_from(number).ok()?,
                    _ => self.value(one, to)?,
                };
                self.push(Op::Field { record, number, to });
            }
            _ => return None,
        }
        Some(to)
    }

    /// The element of an array of these elements that a subscript says: the others are not looked at, nor is an array made.
    fn pick(&mut self, elements: &[Scalar], subscript: &Scalar, to: Slot) -> Option<()> {
        let subscript = self.value(subscript, to)?;
        let free = Self::behind(subscript, to);
        let mut ends = Vec::new();
        for (number, element) in (1..).zip(elements) {
            let mut row = RowBuf::new();
            row.push(Datum::Int4(number));
            let (how, right) = (Comparison::Equal, self.constant(&Arc::new(row)));
            let next = self.push(Op::UnlessCompared { how, left: subscript, right, end: 0 });
            let from = self.value(element, free)?;
            if from != to {
                self.push(Op::Move { from, to });
            }
            ends.push(self.push(Op::Jump { end: 0 }));
            self.land(&[next]);
        }
        self.push(Op::Move { from: self.fixed(NULL), to });
        self.land(&ends);
        Some(())
    }

    fn call(&mut self, callee: &Callee, arguments: &[Scalar], to: Slot) -> Option<()> {
        let mut slots = Vec::with_capacity(arguments.len());
        let mut free = to;
        for one in arguments {
            let slot = self.value(one, free)?;
            free = Self::behind(slot, free);
            slots.push(slot);
        }
        if let Some(what) = callee.primitive {
            let (left, right) = match slots[..] {
                [one] if what.is_unary() => (one, one),
                [left, right] if !what.is_unary() => (left, right),
                _ => return None,
            };
            self.push(match what {
                Primitive::Add(Width::Four) => Op::Add4(left, right, to),
                Primitive::Subtract(Width::Four) => Op::Subtract4(left, right, to),
                Primitive::Multiply(Width::Four) => Op::Multiply4(left, right, to),
                Primitive::Modulo(Width::Four) => Op::Modulo4(left, right, to),
                Primitive::Add(Width::Eight) => Op::Add8(left, right, to),
                Primitive::Subtract(Width::Eight) => Op::Subtract8(left, right, to),
                Primitive::Multiply(Width::Eight) => Op::Multiply8(left, right, to),
                what if what.takes_integers() => Op::Integers { what, left, right, to },
                what => Op::Apply { what, left, right, to },
            });
            return Some(());
        }
        match &callee.target {
            Target::Plain(_) if callee.oid == CONCATENATE => {
                let [left, right] = slots[..] else { return None };
                self.push(Op::Concatenate { left, right, to });
            }
            Target::Plain(_) | Target::Typed(..) => {
                self.program.volatile |= callee.volatile;
                self.program
                    .functions
                    .push(FunctionCall { callee: callee.clone(), arguments: slots.into() });
                let function = self.program.functions.len() as u32 - 1;
                self.push(Op::Function { function, to });
            }
            Target::Catalog => return None,
            Target::Routine(routine, types) => {
                let compiled = self.callee(routine, types)?;
                let (text, sql) = self.text.clone()?;
                self.program.sites.push(Site {
                    compiled,
                    text,
                    sql,
                    arguments: slots.into(),
                    strict: callee.strict,
                    result: types.result,
                });
                let site = self.program.sites.len() as u32 - 1;
                self.push(Op::Call { site, to });
                self.dirt += 1;
                self.dirty = true;
            }
        }
        Some(())
    }

    /// The slot of a constant.
    fn constant(&mut self, row: &Arc<RowBuf>) -> Slot {
        let known = match row.get(0) {
            Datum::Null => return self.fixed(NULL),
            Datum::Bool(true) => return self.fixed(TRUE),
            Datum::Bool(false) => return self.fixed(FALSE),
            Datum::Int4(value) => self
                .constants
                .iter()
                .position(|other| matches!(other.get(0), Datum::Int4(other) if other == value)),
            _ => self.constants.iter().position(|other| Arc::ptr_eq(other, row)),
        };
        let at = known.unwrap_or_else(|| {
            self.constants.push(Arc::clone(row));
            self.constants.len() - 1
        });
        self.fixed(at)
    }
}
