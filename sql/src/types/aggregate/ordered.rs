//! Ordered-set aggregates (manual, table 9.62): their rows come sorted, the sorted value as their last argument.

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::array::{self, Array, Builder};
use crate::types::function::Accumulator;
use crate::types::{CallContext, Datum};

/// The fractions that are asked for: one, or those of an array.
#[derive(Default)]
struct Fractions {
    asked: Option<Vec<Option<f64>>>,
    many: bool,
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
                self.many = true;
                let own = bumpalo::Bump::new();
                for datum in Array::of(bytes).datums(&own) {
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
                let shown = crate::types::text_of(
                    context,
                    crate::types::SqlType::plain(701),
                    &Datum::Float8(*fraction),
                )?;
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
        if !self.many {
            return asked.first().map_or(Ok(Datum::Null), one);
        }
        let all: Vec<Datum<'a>> = asked.iter().map(one).collect::<Result<_>>()?;
        Ok(array::from_datums(context.arena, element, &all))
    }
}

/// percentile_cont: between two rows it lies as far as the fraction says.
#[derive(Default)]
pub(super) struct Continuous {
    fractions: Fractions,
    values: Vec<f64>,
}

impl Accumulator for Continuous {
    fn add(&mut self, context: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        self.fractions.see(context, &arguments[0])?;
        if let Datum::Float8(value) = arguments[1] {
            self.values.push(value);
        }
        Ok(())
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        let last = self.values.len().saturating_sub(1) as f64;
        self.fractions.answer(context, 701, self.values.len(), &|fraction| {
            let place = fraction * last;
            let (first, second) = (place.floor(), place.ceil());
            let (low, high) = (self.values[first as usize], self.values[second as usize]);
            let between = low + (place - first) * (high - low);
            Ok(Datum::Float8(if first == second { low } else { between }))
        })
    }

    fn bytes(&self) -> usize {
        size_of::<Continuous>() + self.values.capacity() * size_of::<f64>()
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
        let slots: Vec<Option<&[u8]>> = values.slots().collect();
        let (mut best, mut most, mut first) = (0, 0, 0);
        for at in 0..slots.len() {
            if slots[at] != slots[first] {
                first = at;
            }
            if at + 1 - first > most {
                (best, most) = (first, at + 1 - first);
            }
        }
        values.datum(context.arena, best)
    }

    fn bytes(&self) -> usize {
        size_of::<Mode>() + self.0.bytes()
    }
}
