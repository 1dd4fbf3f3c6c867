//! Aggregates: the state of one group, by the aggregate's `pg_proc` OID.
//!
//! One accumulator for each *kind* of state, not for each row of `pg_aggregate`; the table in [`accumulator`] says which
//! aggregate has which. Result types and scales are PostgreSQL's: sum(int4) is int8, sum(int8) numeric, avg of integers numeric.

pub(crate) mod accumulate;
mod collect;
mod extreme;
mod hypothetical;
mod ordered;
mod regression;
mod sum;
mod variance;

pub use collect::Arrays;
pub use hypothetical::hypothetical;

use super::function::{Accumulator, Signature};
use crate::Interval;
use crate::bits::{Combined, Operation};
use crate::builtin;
use crate::json::{aggregate as json, build::Kind};
use regression::{Figure, Pairs};
use variance::{Moment, Spread};

/// A fresh state of the aggregate whose `pg_proc` row has this OID; none: it has no implementation (yet).
#[must_use]
pub fn accumulator(oid: u32, signature: &Signature<'_>) -> Option<Box<dyn Accumulator>> {
    let result = signature.result;
    Some(match oid {
        2147 | 2803 => Box::new(sum::Count::default()),
        2108 | 2109 => Box::new(sum::IntegerSum::default()),
        2107 => Box::new(sum::WideSum::new(false)),
        2100..=2102 => Box::new(sum::WideSum::new(true)),
        2114 => Box::new(sum::NumericSum::new(false)),
        2103 => Box::new(sum::NumericSum::new(true)),
        2110 => Box::new(sum::FloatSum::single()),
        2111 => Box::new(sum::FloatSum::double()),
        2104 | 2105 => Box::new(variance::FloatMoments::new(Moment::Average)),
        2113 => Box::new(sum::IntervalSum::new(false)),
        2106 => Box::new(sum::IntervalSum::new(true)),
        2050 | 2115..=2130 | 2244 | 3526 | 3564 | 2797 | 4189 | 5099 | 14_118 => {
            extreme::greatest(signature)?
        }
        2051 | 2131..=2146 | 2245 | 3527 | 3565 | 2798 | 4190 | 5100 | 14_117 => {
            extreme::least(signature)?
        }
        2517 | 2519 => Box::new(extreme::Truth::all()),
        2518 => Box::new(extreme::Truth::any()),
        2236 | 2238 | 2240 => Box::new(extreme::Bits::new(|a, b| a & b)),
        2237 | 2239 | 2241 => Box::new(extreme::Bits::new(|a, b| a | b)),
        6164..=6166 => Box::new(extreme::Bits::new(|a, b| a ^ b)),
        2242 => Box::new(Combined::new(Operation::And)),
        2243 => Box::new(Combined::new(Operation::Or)),
        6167 => Box::new(Combined::new(Operation::Xor)),
        3974 | 3980 => Box::new(ordered::Continuous::<f64>::default()),
        3976 | 3982 => Box::new(ordered::Continuous::<Interval>::default()),
        3972 | 3978 => Box::new(ordered::Discrete::new(signature.arguments.get(1)?.oid.0)),
        3984 => Box::new(ordered::Mode::new(signature.arguments.first()?.oid.0)),
        2901 => Box::new(crate::xml::construct::Aggregation::default()),
        3538 => Box::new(collect::Joined::text()),
        3545 => Box::new(collect::Joined::bytea()),
        3175 => Box::new(json::Elements::new(signature, Kind::Json)?),
        3267 => Box::new(json::Elements::new(signature, Kind::Jsonb)?),
        3197 => Box::new(json::Members::new(signature, Kind::Json)?),
        3270 => Box::new(json::Members::new(signature, Kind::Jsonb)?),
        2335 => Box::new(collect::Elements::new(signature.arguments.first()?.oid.0)),
        4053 => Box::new(collect::Arrays::new(builtin::element_type(result.oid.0)?)),
        2148..=2150 | 2153 | 2641..=2643 | 2646 => {
            Box::new(variance::NumericMoments::new(Spread::Sample, false))
        }
        2154..=2156 | 2159 | 2712..=2714 | 2717 => {
            Box::new(variance::NumericMoments::new(Spread::Sample, true))
        }
        2718..=2720 | 2723 => Box::new(variance::NumericMoments::new(Spread::Population, false)),
        2724..=2726 | 2729 => Box::new(variance::NumericMoments::new(Spread::Population, true)),
        2151 | 2152 | 2644 | 2645 => {
            Box::new(variance::FloatMoments::new(Moment::Variance(Spread::Sample)))
        }
        2157 | 2158 | 2715 | 2716 => {
            Box::new(variance::FloatMoments::new(Moment::Deviation(Spread::Sample)))
        }
        2721 | 2722 => Box::new(variance::FloatMoments::new(Moment::Variance(Spread::Population))),
        2727 | 2728 => Box::new(variance::FloatMoments::new(Moment::Deviation(Spread::Population))),
        _ => Box::new(Pairs::new(Figure::of(oid)?)),
    })
}
