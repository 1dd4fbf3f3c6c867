//! min, max, bool_and, bool_or, bit_and, bit_or, bit_xor.

use super::sum::integer;
use crate::array::compare::Wanted;
use crate::error::Result;
use crate::function::{Accumulator, Signature};
use crate::literal::Literal;
use crate::{CallContext, Datum, compare_strictly, copy_to_arena, oids};
use std::cmp::Ordering;

/// min or max by the type's default ordering; of equal values the first stays, of citexts the last: its functions say so.
struct Extreme {
    ty: u32,
    wanted: Ordering,
    best: Literal,
}

pub(super) fn greatest(signature: &Signature<'_>) -> Option<Box<dyn Accumulator>> {
    extreme(signature, Ordering::Greater)
}

pub(super) fn least(signature: &Signature<'_>) -> Option<Box<dyn Accumulator>> {
    extreme(signature, Ordering::Less)
}

fn extreme(signature: &Signature<'_>, wanted: Ordering) -> Option<Box<dyn Accumulator>> {
    let ty = signature.arguments.first()?.oid.0;
    Some(Box::new(Extreme { ty, wanted, best: Literal::Null }))
}

impl Accumulator for Extreme {
    fn add(&mut self, context: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let value = &arguments[0];
        if value.is_null() {
            return Ok(());
        }
        let best = self.best.datum();
        let better = best.is_null() || {
            let order = compare_strictly(context, self.ty, &best, value, Wanted::Order)?;
            order == self.wanted.reverse() || order.is_eq() && self.ty == oids::CITEXT
        };
        if better {
            self.best = Literal::of(value);
        }
        Ok(())
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(copy_to_arena(context, &self.best.datum()))
    }

    fn bytes(&self) -> usize {
        size_of::<Extreme>() + self.best.bytes()
    }
}

/// bool_and, bool_or.
pub(super) struct Truth {
    all: bool,
    state: Option<bool>,
}

impl Truth {
    pub(super) fn all() -> Truth {
        Truth { all: true, state: None }
    }

    pub(super) fn any() -> Truth {
        Truth { all: false, state: None }
    }
}

impl Accumulator for Truth {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let Datum::Bool(value) = arguments[0] else { return Ok(()) };
        let before = self.state.unwrap_or(self.all);
        self.state = Some(if self.all { before && value } else { before || value });
        Ok(())
    }

    fn finish<'a>(&self, _: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(self.state.map_or(Datum::Null, Datum::Bool))
    }

    fn bytes(&self) -> usize {
        size_of::<Truth>()
    }
}

/// bit_and, bit_or, bit_xor of integers: the result has the argument's width.
pub(super) struct Bits {
    operation: fn(i64, i64) -> i64,
    state: Option<i64>,
    width: usize,
}

impl Bits {
    pub(super) fn new(operation: fn(i64, i64) -> i64) -> Bits {
        Bits { operation, state: None, width: 8 }
    }
}

impl Accumulator for Bits {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let Some(value) = integer(&arguments[0]) else { return Ok(()) };
        self.width = match arguments[0] {
            Datum::Int2(_) => 2,
            Datum::Int4(_) => 4,
            _ => 8,
        };
        self.state = Some(self.state.map_or(value, |state| (self.operation)(state, value)));
        Ok(())
    }

    fn finish<'a>(&self, _: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(match (self.state, self.width) {
            (None, _) => Datum::Null,
            (Some(bits), 2) => Datum::Int2(bits as i16),
            (Some(bits), 4) => Datum::Int4(bits as i32),
            (Some(bits), _) => Datum::Int8(bits),
        })
    }

    fn bytes(&self) -> usize {
        size_of::<Bits>()
    }
}
