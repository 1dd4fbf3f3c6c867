//! Aggregates of pairs: covariance, correlation and the least-squares line.
//!
//! PostgreSQL: `float8_regr_accum` and what follows it (Youngs and Cramer, as in [`super::variance`]). Of a pair the first
//! is the dependent variable, Y; a pair with a NULL counts for nothing.

use crate::error::{Result, SqlError};
use crate::function::Accumulator;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};

/// What is asked of the sums.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Figure {
    /// regr_count
    Count,
    /// regr_sxx
    SquaresX,
    /// regr_syy
    SquaresY,
    /// regr_sxy
    Products,
    /// regr_avgx
    AverageX,
    /// regr_avgy
    AverageY,
    /// regr_r2
    Determination,
    /// regr_slope
    Slope,
    /// regr_intercept
    Intercept,
    /// covar_pop
    PopulationCovariance,
    /// covar_samp
    SampleCovariance,
    /// corr
    Correlation,
}

impl Figure {
    /// Of the aggregate with this OID.
    pub(super) fn of(oid: u32) -> Option<Figure> {
        Some(match oid {
            2818 => Figure::Count,
            2819 => Figure::SquaresX,
            2820 => Figure::SquaresY,
            2821 => Figure::Products,
            2822 => Figure::AverageX,
            2823 => Figure::AverageY,
            2824 => Figure::Determination,
            2825 => Figure::Slope,
            2826 => Figure::Intercept,
            2827 => Figure::PopulationCovariance,
            2828 => Figure::SampleCovariance,
            2829 => Figure::Correlation,
            _ => return None,
        })
    }
}

/// Over pairs of float8.
pub(super) struct Pairs {
    figure: Figure,
    count: f64,
    sum_x: f64,
    sum_y: f64,
    /// Sums of products of differences from the means.
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Pairs {
    pub(super) fn new(figure: Figure) -> Pairs {
        Pairs { figure, count: 0.0, sum_x: 0.0, sum_y: 0.0, xx: 0.0, yy: 0.0, xy: 0.0 }
    }

    /// Fails where a sum has become infinite though all that went into it was finite; else makes such sums NaN.
    fn check(&mut self, (x, y): (f64, f64), before: (f64, f64)) -> Result<()> {
        let finite_x = !before.0.is_infinite() && !x.is_infinite();
        let finite_y = !before.1.is_infinite() && !y.is_infinite();
        let over_x = self.sum_x.is_infinite() || self.xx.is_infinite();
        let over_y = self.sum_y.is_infinite() || self.yy.is_infinite();
        if (over_x && finite_x)
            || (over_y && finite_y)
            || (self.xy.is_infinite() && finite_x && finite_y)
        {
            return Err(SqlError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                "value out of range: overflow",
            ));
        }
        for sum in [&mut self.xx, &mut self.yy, &mut self.xy] {
            if sum.is_infinite() {
                *sum = f64::NAN;
            }
        }
        Ok(())
    }
}

impl Accumulator for Pairs {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        if arguments.iter().any(|argument| matches!(argument, Datum::Null)) {
            return Ok(());
        }
        let (y, x) = (arguments[0].float8(), arguments[1].float8());
        let (count, before) = (self.count, (self.sum_x, self.sum_y));
        self.count += 1.0;
        if self.figure == Figure::Count {
            return Ok(());
        }
        self.sum_x += x;
        self.sum_y += y;
        if count > 0.0 {
            let from_x = x * self.count - self.sum_x;
            let from_y = y * self.count - self.sum_y;
            let scale = 1.0 / (self.count * count);
            self.xx += from_x * from_x * scale;
            self.yy += from_y * from_y * scale;
            self.xy += from_x * from_y * scale;
            return self.check((x, y), before);
        }
        if !x.is_finite() {
            (self.xx, self.xy) = (f64::NAN, f64::NAN);
        }
        if !y.is_finite() {
            (self.yy, self.xy) = (f64::NAN, f64::NAN);
        }
        Ok(())
    }

    fn finish<'a>(&self, _: &CallContext<'a>) -> Result<Datum<'a>> {
        let Pairs { count, sum_x, sum_y, xx, yy, xy, .. } = *self;
        let least = match self.figure {
            Figure::Count => return Ok(Datum::Int8(count as i64)),
            Figure::SampleCovariance => 2.0,
            _ => 1.0,
        };
        if count < least {
            return Ok(Datum::Null);
        }
        let value = match self.figure {
            Figure::Count => count,
            Figure::SquaresX => xx,
            Figure::SquaresY => yy,
            Figure::Products => xy,
            Figure::AverageX => sum_x / count,
            Figure::AverageY => sum_y / count,
            Figure::PopulationCovariance => xy / count,
            Figure::SampleCovariance => xy / (count - 1.0),
            Figure::Correlation if xx == 0.0 || yy == 0.0 => return Ok(Datum::Null),
            Figure::Correlation => xy / (xx * yy).sqrt(),
            Figure::Determination | Figure::Slope | Figure::Intercept if xx == 0.0 => {
                return Ok(Datum::Null);
            }
            Figure::Determination if yy == 0.0 => 1.0,
            Figure::Determination => (xy * xy) / (xx * yy),
            Figure::Slope => xy / xx,
            Figure::Intercept => (sum_y - sum_x * xy / xx) / count,
        };
        Ok(Datum::Float8(value))
    }

    fn bytes(&self) -> usize {
        size_of::<Pairs>()
    }
}
