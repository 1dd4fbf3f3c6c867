//! Ordered-set aggregates (manual, table 9.62): their rows come sorted, the sorted value as their last argument.

use crate::array::{Array, Builder, Dimension};
use crate::datetime::arithmetic;
use crate::error::{Result, SqlError};
use crate::function::Accumulator;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Interval, compare, oids};

/// The fractions that are asked for: one, or those of an array.
#[derive(Default)]
struct Fractions {
    asked: Option<Vec<Option<f64>>>,
    /// Those of an array have its dimensions, and so have the answers.
    dimensions: Option<Vec<Dimension>>,
}

impl Fractions {
    /// Takes them from the first row: they are the same in all.
    fn see(&mut self, context: &CallContext<'_>, argument: &Datum<'_>) -> Result<()> {
        if self.asked.is_some() {
            return Ok(());
        }
        let mut asked = Vec::new();
        match argument {
            Datum::Float8(fraction) => asked.push(Some(*fraction)),
            Datum::Array(bytes) => {
                let own = bumpalo::Bump::new();
                let array = Array::of(bytes);
                self.dimensions = Some(array.dimensions().collect());
                for datum in array.datums(&own) {
                    asked.push(match datum? {
                        Datum::Float8(fraction) => Some(fraction),
                        _ => None,
                    });
                }
            }
            _ => {}
        }
        for fraction in asked.iter().flatten() {
            if !(0.0..=1.0).contains(fraction) {
                let shown =
                    crate::text_of(context, crate::SqlType::plain(701), &Datum::Float8(*fraction))?;
                return Err(SqlError::new(
                    SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                    format!("percentile value {shown} is not between 0 and 1"),
                ));
            }
        }
        self.asked = Some(asked);
        Ok(())
    }

    /// The answer for each of them.
    fn answer<'a>(
        &self,
        context: &CallContext<'a>,
        element: u32,
        rows: usize,
        of: &dyn Fn(f64) -> Result<Datum<'a>>,
    ) -> Result<Datum<'a>> {
        let Some(asked) = self.asked.as_ref().filter(|_| rows > 0) else { return Ok(Datum::Null) };
        let one = |fraction: &Option<f64>| fraction.map_or(Ok(Datum::Null), of);
        let Some(dimensions) = &self.dimensions else {
            return asked.first().map_or(Ok(Datum::Null), one);
        };
        let mut answers = Builder::new(element);
        for fraction in asked {
            answers.push(&one(fraction)?);
        }
        Ok(Datum::Array(answers.store(context.arena, dimensions)))
    }
}

/// What there are values between.
pub(super) trait Between: Copy + Send {
    /// Its type.
    const ELEMENT: u32;
    /// The value of a datum; none for NULL.
    fn of(datum: &Datum<'_>) -> Option<Self>;
    /// The value so far on the way from one to another.
    fn between(low: Self, high: Self, part: f64) -> Result<Self>;
    /// It as a datum.
    fn datum<'a>(self, context: &CallContext<'a>) -> Datum<'a>;
}

impl Between for f64 {
    const ELEMENT: u32 = oids::FLOAT8;

    fn of(datum: &Datum<'_>) -> Option<f64> {
        if let Datum::Float8(value) = datum { Some(*value) } else { None }
    }

    fn between(low: f64, high: f64, part: f64) -> Result<f64> {
        Ok(low + part * (high - low))
    }

    fn datum<'a>(self, _: &CallContext<'a>) -> Datum<'a> {
        Datum::Float8(self)
    }
}

impl Between for Interval {
    const ELEMENT: u32 = oids::INTERVAL;

    fn of(datum: &Datum<'_>) -> Option<Interval> {
        if let Datum::Interval(value) = datum { Some(**value) } else { None }
    }

    fn between(low: Interval, high: Interval, part: f64) -> Result<Interval> {
        let difference = arithmetic::subtract_intervals(&high, &low)?;
        arithmetic::add_intervals(&arithmetic::multiply(&difference, part)?, &low)
    }

    fn datum<'a>(self, context: &CallContext<'a>) -> Datum<'a> {
        Datum::Interval(context.arena.alloc(self))
    }
}

/// percentile_cont: between two rows it lies as far as the fraction says.
pub(super) struct Continuous<T> {
    fractions: Fractions,
    values: Vec<T>,
}

impl<T> Default for Continuous<T> {
    fn default() -> Continuous<T> {
        Continuous { fractions: Fractions::default(), values: Vec::new() }
    }
}

impl<T: Between> Accumulator for Continuous<T> {
    fn add(&mut self, context: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        self.fractions.see(context, &arguments[0])?;
        self.values.extend(T::of(&arguments[1]));
        Ok(())
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        let last = self.values.len().saturating_sub(1) as f64;
        self.fractions.answer(context, T::ELEMENT, self.values.len(), &|fraction| {
            let place = fraction * last;
            let (first, second) = (place.floor(), place.ceil());
            let (low, high) = (self.values[first as usize], self.values[second as usize]);
            let value = if first == second { low } else { T::between(low, high, place - first)? };
            Ok(value.datum(context))
        })
    }

    fn bytes(&self) -> usize {
        size_of::<Continuous<T>>() + self.values.capacity() * size_of::<T>()
    }
}

/// percentile_disc: the first value at or behind the fraction.
pub(super) struct Discrete {
    fractions: Fractions,
    values: Builder,
    element: u32,
}

impl Discrete {
    pub(super) fn new(element: u32) -> Discrete {
        Discrete { fractions: Fractions::default(), values: Builder::new(element), element }
    }
}

/// The elements of a builder as an array.
fn collected<'a>(context: &CallContext<'a>, values: &Builder) -> Option<Array<'a>> {
    match values.finish(context.arena) {
        Datum::Array(bytes) => Some(Array::of(bytes)),
        _ => None,
    }
}

impl Accumulator for Discrete {
    fn add(&mut self, context: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        self.fractions.see(context, &arguments[0])?;
        if !arguments[1].is_null() {
            self.values.push(&arguments[1]);
        }
        Ok(())
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        let count = self.values.len();
        let Some(values) = collected(context, &self.values) else { return Ok(Datum::Null) };
        self.fractions.answer(context, self.element, count, &|fraction| {
            let row = ((fraction * count as f64).ceil() as usize).max(1);
            values.datum(context.arena, row - 1)
        })
    }

    fn bytes(&self) -> usize {
        size_of::<Discrete>() + self.values.bytes()
    }
}

/// mode: the most frequent value, the first one of several.
pub(super) struct Mode(Builder);

impl Mode {
    pub(super) fn new(element: u32) -> Mode {
        Mode(Builder::new(element))
    }
}

impl Accumulator for Mode {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        if !arguments[0].is_null() {
            self.0.push(&arguments[0]);
        }
        Ok(())
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        if self.0.is_empty() {
            return Ok(Datum::Null);
        }
        let Some(values) = collected(context, &self.0) else { return Ok(Datum::Null) };
        let all = values.datums(context.arena).collect::<Result<Vec<_>>>()?;
        let (mut best, mut most, mut first) = (0, 0, 0);
        for at in 0..all.len() {
            if compare(values.element, &all[at], &all[first]).is_ne() {
                first = at;
            }
            if at + 1 - first > most {
                (best, most) = (first, at + 1 - first);
            }
        }
        Ok(all[best])
    }

    fn bytes(&self) -> usize {
        size_of::<Mode>() + self.0.bytes()
    }
}
