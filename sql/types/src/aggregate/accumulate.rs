//! The functions that `avg` of floats is made of in PostgreSQL's catalogs, for aggregates that users make of them.
//!
//! PostgreSQL: `float8_accum`, `float4_accum` and `float8_avg` of `float.c`. The state is an array of the count, the sum and
//! the sum of squared differences (Youngs and Cramer, Technometrics 1971).

use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, array, oids, stored};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (208, Plain(|c, a| accumulate(c, &a[0], f64::from(a[1].float4())))),
    (222, Plain(|c, a| accumulate(c, &a[0], a[1].float8()))),
    (1830, Plain(average)),
];

/// The three numbers of a state.
fn state(context: &CallContext<'_>, array: &Datum<'_>) -> Result<[f64; 3]> {
    let wrong = || {
        let message = "float8_accum: expected 3-element float8 array";
        SqlError::new(SqlState::INTERNAL_ERROR, message)
    };
    let array = array.array();
    let mut numbers = [0.0; 3];
    if array.dimension_count() != 1 || array.len() != 3 || array.element != oids::FLOAT8 {
        return Err(wrong());
    }
    for (number, slot) in numbers.iter_mut().zip(array.slots()) {
        let bytes = slot.ok_or_else(wrong)?;
        *number = stored::read(context.arena, oids::FLOAT8, bytes)?.float8();
    }
    Ok(numbers)
}

fn accumulate<'a>(context: &CallContext<'a>, before: &Datum<'a>, value: f64) -> Result<Datum<'a>> {
    let [count, sum, squares] = state(context, before)?;
    let (next, total) = (count + 1.0, sum + value);
    let mut spread = squares;
    if count > 0.0 {
        let off = value * next - total;
        spread += off * off / (next * count);
        if total.is_infinite() || spread.is_infinite() {
            if !sum.is_infinite() && !value.is_infinite() {
                let message = "value out of range: overflow";
                return Err(SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, message));
            }
            spread = f64::NAN;
        }
    } else if value.is_nan() || value.is_infinite() {
        spread = f64::NAN;
    }
    let numbers = [next, total, spread].map(Datum::Float8);
    Ok(array::from_datums(context.arena, oids::FLOAT8, &numbers))
}

fn average<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let [count, sum, _] = state(context, &a[0])?;
    Ok(if count == 0.0 { Datum::Null } else { Datum::Float8(sum / count) })
}
