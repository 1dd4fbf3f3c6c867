//! Variance and standard deviation, and avg of floats.
//!
//! PostgreSQL: `numeric_stddev_internal` (exact sums, one division) and `float8_accum` (Youngs and Cramer, *Some results
//! relevant to choice of sum and sum-of-product algorithms*, Technometrics 1971).

use super::sum::integer;
use crate::error::{Result, SqlError};
use crate::function::Accumulator;
use crate::numeric::Decimal;
use crate::numeric::decimal::Rounding;
use crate::numeric::stored::{NAN, View};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};

/// Over a sample or a whole population.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spread {
    /// Divides by n - 1.
    Sample,
    /// Divides by n.
    Population,
}

/// Over integers and numerics: numeric.
pub(super) struct NumericMoments {
    spread: Spread,
    root: bool,
    count: i64,
    special: bool,
    sum: Decimal,
    squares: Decimal,
}

impl NumericMoments {
    pub(super) fn new(spread: Spread, root: bool) -> NumericMoments {
        NumericMoments {
            spread,
            root,
            count: 0,
            special: false,
            sum: Decimal::zero(0),
            squares: Decimal::zero(0),
        }
    }
}

impl Accumulator for NumericMoments {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let value = match &arguments[0] {
            Datum::Null => return Ok(()),
            Datum::Numeric(stored) => match View::of(stored) {
                View::Finite(number) => number.to_decimal(),
                View::Nan | View::Infinity | View::NegativeInfinity => {
                    self.count += 1;
                    self.special = true;
                    return Ok(());
                }
            },
            other => Decimal::from_i128(i128::from(integer(other).unwrap_or(0))),
        };
        self.count += 1;
        self.sum = self.sum.add(&value);
        self.squares = self.squares.add(&value.multiply(&value));
        Ok(())
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        let least = if self.spread == Spread::Sample { 1 } else { 0 };
        if self.count <= least {
            return Ok(Datum::Null);
        }
        if self.special {
            return Ok(Datum::Numeric(NAN));
        }
        let count = Decimal::from_i128(i128::from(self.count));
        // n * sum(x²) - sum(x)², over n * n or n * (n - 1)
        let square = self.sum.multiply(&self.sum);
        let numerator = self.squares.multiply(&count).subtract(&square);
        if numerator.is_zero() || numerator.negative {
            return Ok(Datum::Numeric(Decimal::zero(0).store(context.arena)));
        }
        let other = Decimal::from_i128(i128::from(self.count - least));
        let divisor = count.multiply(&other);
        let scale = numerator.division_scale(&divisor);
        let mut result = numerator.divide(&divisor, scale, Rounding::Nearest);
        if self.root {
            result = result.root_at(scale)?;
        }
        Ok(Datum::Numeric(result.checked()?.store(context.arena)))
    }

    fn bytes(&self) -> usize {
        size_of::<NumericMoments>() + 2 * (self.sum.digits.len() + self.squares.digits.len())
    }
}

/// What is asked of the moments of floats.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    /// avg
    Average,
    /// var_samp, var_pop
    Variance(Spread),
    /// stddev_samp, stddev_pop
    Deviation(Spread),
}

/// Over floats: float8.
pub(super) struct FloatMoments {
    moment: Moment,
    count: f64,
    sum: f64,
    /// Sum of the squares of the differences from the mean.
    squares: f64,
}

impl FloatMoments {
    pub(super) fn new(moment: Moment) -> FloatMoments {
        FloatMoments { moment, count: 0.0, sum: 0.0, squares: 0.0 }
    }
}

impl Accumulator for FloatMoments {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let value = match arguments[0] {
            Datum::Null => return Ok(()),
            Datum::Float4(value) => f64::from(value),
            other => other.float8(),
        };
        let before = (self.count, self.sum);
        self.count += 1.0;
        self.sum += value;
        if before.0 > 0.0 {
            let distance = value * self.count - self.sum;
            self.squares += distance * distance / (self.count * before.0);
            if self.sum.is_infinite() || self.squares.is_infinite() {
                if !before.1.is_infinite() && !value.is_infinite() {
                    return Err(SqlError::new(
                        SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                        "value out of range: overflow",
                    ));
                }
                self.squares = f64::NAN;
            }
        } else if value.is_nan() || value.is_infinite() {
            self.squares = f64::NAN;
        }
        Ok(())
    }

    fn finish<'a>(&self, _: &CallContext<'a>) -> Result<Datum<'a>> {
        let spread = match self.moment {
            Moment::Average => {
                return Ok(if self.count == 0.0 {
                    Datum::Null
                } else {
                    Datum::Float8(self.sum / self.count)
                });
            }
            Moment::Variance(spread) | Moment::Deviation(spread) => spread,
        };
        let divisor = if spread == Spread::Sample { self.count - 1.0 } else { self.count };
        if divisor <= 0.0 {
            return Ok(Datum::Null);
        }
        let variance = self.squares / divisor;
        Ok(Datum::Float8(match self.moment {
            Moment::Deviation(_) => variance.sqrt(),
            Moment::Average | Moment::Variance(_) => variance,
        }))
    }

    fn bytes(&self) -> usize {
        size_of::<FloatMoments>()
    }
}
