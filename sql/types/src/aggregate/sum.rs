//! count, sum and avg.

use crate::datetime::arithmetic;
use crate::error::{Result, SqlError};
use crate::failure::out_of_range;
use crate::function::Accumulator;
use crate::numeric::functions::{add, difference, divide, from_integer, scale_of};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Interval};
use bumpalo::Bump;
use std::cmp::Ordering;

/// count: the caller leaves out rows whose argument is NULL.
#[derive(Default)]
pub(super) struct Count(i64);

impl Accumulator for Count {
    fn add(&mut self, _: &CallContext<'_>, _: &[Datum<'_>]) -> Result<()> {
        self.0 = self.0.checked_add(1).ok_or_else(|| out_of_range("bigint"))?;
        Ok(())
    }

    fn remove(&mut self, _: &CallContext<'_>, _: &[Datum<'_>]) -> Result<bool> {
        self.0 -= 1;
        Ok(true)
    }

    fn finish<'a>(&self, _: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(Datum::Int8(self.0))
    }

    fn bytes(&self) -> usize {
        size_of::<Count>()
    }
}

/// Widens an integer argument; NULL is none.
pub(super) fn integer(datum: &Datum<'_>) -> Option<i64> {
    match datum {
        Datum::Null => None,
        Datum::Int2(value) => Some(i64::from(*value)),
        Datum::Int4(value) => Some(i64::from(*value)),
        other => Some(other.int8()),
    }
}

/// sum(int2), sum(int4): an int8.
#[derive(Default)]
pub(super) struct IntegerSum {
    sum: i64,
    count: u64,
}

impl Accumulator for IntegerSum {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        if let Some(value) = integer(&arguments[0]) {
            self.sum = self.sum.checked_add(value).ok_or_else(|| out_of_range("bigint"))?;
            self.count += 1;
        }
        Ok(())
    }

    fn remove(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<bool> {
        if let Some(value) = integer(&arguments[0]) {
            self.sum -= value;
            self.count -= 1;
        }
        Ok(true)
    }

    fn finish<'a>(&self, _: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(if self.count > 0 { Datum::Int8(self.sum) } else { Datum::Null })
    }

    fn bytes(&self) -> usize {
        size_of::<IntegerSum>()
    }
}

/// sum(int8), and avg of integers: numeric. 128 bits hold the sum of 2⁶⁴ values.
pub(super) struct WideSum {
    sum: i128,
    count: i64,
    average: bool,
}

impl WideSum {
    pub(super) fn new(average: bool) -> WideSum {
        WideSum { sum: 0, count: 0, average }
    }
}

impl Accumulator for WideSum {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        if let Some(value) = integer(&arguments[0]) {
            self.sum += i128::from(value);
            self.count += 1;
        }
        Ok(())
    }

    fn remove(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<bool> {
        if let Some(value) = integer(&arguments[0]) {
            self.sum -= i128::from(value);
            self.count -= 1;
        }
        Ok(true)
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        if self.count == 0 {
            return Ok(Datum::Null);
        }
        let sum = from_integer(context.arena, self.sum);
        if !self.average {
            return Ok(sum);
        }
        let count = from_integer(context.arena, i128::from(self.count));
        Ok(Datum::Numeric(divide(context.arena, sum.numeric(), count.numeric())?))
    }

    fn bytes(&self) -> usize {
        size_of::<WideSum>()
    }
}

/// sum(numeric), avg(numeric).
pub(super) struct NumericSum {
    sum: Option<Vec<u8>>,
    count: i64,
    /// The largest scale of the values, which is the sum's, and how many have it.
    scale: (i32, i64),
    average: bool,
    scratch: Bump,
}

impl NumericSum {
    pub(super) fn new(average: bool) -> NumericSum {
        NumericSum { sum: None, count: 0, scale: (0, 0), average, scratch: Bump::new() }
    }
}

impl Accumulator for NumericSum {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let Datum::Numeric(value) = arguments[0] else { return Ok(()) };
        self.count += 1;
        if let Some(scale) = scale_of(value) {
            let (largest, values) = &mut self.scale;
            match scale.cmp(largest) {
                Ordering::Greater => self.scale = (scale, 1),
                Ordering::Equal => *values += 1,
                Ordering::Less => {}
            }
        }
        match &mut self.sum {
            None => self.sum = Some(value.to_vec()),
            Some(sum) => {
                let total = add(&self.scratch, sum, value)?;
                sum.clear();
                sum.extend_from_slice(total);
                self.scratch.reset();
            }
        }
        Ok(())
    }

    fn remove(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<bool> {
        let Datum::Numeric(value) = arguments[0] else { return Ok(true) };
        let (Some(sum), Some(own)) = (&mut self.sum, scale_of(value)) else { return Ok(false) };
        let (largest, values) = &mut self.scale;
        // Nobody knows the scale that the sum of the others has, or what there was before it was infinite.
        if scale_of(sum).is_none() || (own == *largest && *values == 1) {
            return Ok(false);
        }
        if own == *largest {
            *values -= 1;
        }
        self.count -= 1;
        let total = difference(&self.scratch, sum, value)?;
        sum.clear();
        sum.extend_from_slice(total);
        self.scratch.reset();
        Ok(true)
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        let Some(sum) = &self.sum else { return Ok(Datum::Null) };
        if !self.average {
            return Ok(Datum::Numeric(context.arena.alloc_slice_copy(sum)));
        }
        let count = from_integer(context.arena, i128::from(self.count));
        Ok(Datum::Numeric(divide(context.arena, sum, count.numeric())?))
    }

    fn bytes(&self) -> usize {
        size_of::<NumericSum>()
            + self.sum.as_ref().map_or(0, Vec::capacity)
            + self.scratch.allocated_bytes()
    }
}

/// sum(float4), sum(float8): in the order the rows come, in the argument's precision.
pub(super) struct FloatSum {
    sum: Option<f64>,
    single: bool,
}

impl FloatSum {
    pub(super) fn single() -> FloatSum {
        FloatSum { sum: None, single: true }
    }

    pub(super) fn double() -> FloatSum {
        FloatSum { sum: None, single: false }
    }
}

impl Accumulator for FloatSum {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let value = match arguments[0] {
            Datum::Null => return Ok(()),
            Datum::Float4(value) => f64::from(value),
            other => other.float8(),
        };
        let before = match self.sum {
            None => {
                self.sum = Some(value);
                return Ok(());
            }
            Some(before) => before,
        };
        let sum = before + value;
        let sum = if self.single { f64::from(sum as f32) } else { sum };
        if sum.is_infinite() && !before.is_infinite() && !value.is_infinite() {
            return Err(SqlError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                "value out of range: overflow",
            ));
        }
        self.sum = Some(sum);
        Ok(())
    }

    fn finish<'a>(&self, _: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(match self.sum {
            None => Datum::Null,
            Some(sum) if self.single => Datum::Float4(sum as f32),
            Some(sum) => Datum::Float8(sum),
        })
    }

    fn bytes(&self) -> usize {
        size_of::<FloatSum>()
    }
}

/// sum(interval), avg(interval).
pub(super) struct IntervalSum {
    sum: Option<Interval>,
    count: i64,
    average: bool,
}

impl IntervalSum {
    pub(super) fn new(average: bool) -> IntervalSum {
        IntervalSum { sum: None, count: 0, average }
    }
}

impl Accumulator for IntervalSum {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let Datum::Interval(value) = arguments[0] else { return Ok(()) };
        self.count += 1;
        self.sum = Some(match &self.sum {
            None => *value,
            Some(sum) => arithmetic::add_intervals(sum, value)?,
        });
        Ok(())
    }

    fn remove(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<bool> {
        let (Datum::Interval(value), Some(sum)) = (arguments[0], &self.sum) else {
            return Ok(true);
        };
        self.count -= 1;
        let rest = arithmetic::subtract_intervals(sum, value)?;
        self.sum = (self.count > 0).then_some(rest);
        Ok(true)
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        let Some(sum) = self.sum else { return Ok(Datum::Null) };
        let value = if self.average { arithmetic::divide(&sum, self.count as f64)? } else { sum };
        Ok(Datum::Interval(context.arena.alloc(value)))
    }

    fn bytes(&self) -> usize {
        size_of::<IntervalSum>()
    }
}
