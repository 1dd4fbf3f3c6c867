//! count, sum and avg.

use crate::datetime::arithmetic;
use crate::error::{Result, SqlError};
use crate::failure::out_of_range;
use crate::function::Accumulator;
use crate::numeric::functions::{add, divide, from_integer};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Interval};
use bumpalo::Bump;

/// count: the caller leaves out rows whose argument is NULL.
#[derive(Default)]
pub(super) struct Count(i64);

impl Accumulator for Count {
    fn add(&mut self, _: &CallContext<'_>, _: &[Datum<'_>]) -> Result<()> {
        self.0 = self.0.checked_add(1).ok_or_else(|| out_of_range("bigint"))?;
        Ok(())
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
pub(super) struct IntegerSum(Option<i64>);

impl Accumulator for IntegerSum {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        if let Some(value) = integer(&arguments[0]) {
            let sum = self.0.unwrap_or(0).checked_add(value);
            self.0 = Some(sum.ok_or_else(|| out_of_range("bigint"))?);
        }
        Ok(())
    }

    fn finish<'a>(&self, _: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(self.0.map_or(Datum::Null, Datum::Int8))
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
    average: bool,
    scratch: Bump,
}

impl NumericSum {
    pub(super) fn new(average: bool) -> NumericSum {
        NumericSum { sum: None, count: 0, average, scratch: Bump::new() }
    }
}

impl Accumulator for NumericSum {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let Datum::Numeric(value) = arguments[0] else { return Ok(()) };
        self.count += 1;
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

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        let Some(sum) = self.sum else { return Ok(Datum::Null) };
        let value = if self.average { arithmetic::divide(&sum, self.count as f64)? } else { sum };
        Ok(Datum::Interval(context.arena.alloc(value)))
    }

    fn bytes(&self) -> usize {
        size_of::<IntervalSum>()
    }
}
