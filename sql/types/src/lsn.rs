//! What is computed with places in the log (`pg_lsn`): distances, and places so many bytes away.
//!
//! PostgreSQL: `pg_lsn.c`, `numeric_pg_lsn`. A place is held as the bits of an unsigned number; a distance is numeric.

use super::function::Callable::{self, Plain};
use super::numeric::{Decimal, Number, View, functions};
use super::{CallContext, Datum};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (3165, Plain(distance)),
    (3237, Plain(distance)),
    (5022, Plain(|_, a| moved(&a[0], &a[1], false))),
    (5023, Plain(|_, a| moved(&a[1], &a[0], false))),
    (5024, Plain(|_, a| moved(&a[0], &a[1], true))),
    (6103, Plain(|_, a| place(0, &a[0], "cannot convert NaN to pg_lsn", false))),
];

fn value(datum: &Datum<'_>) -> i128 {
    i128::from(datum.int8() as u64)
}

fn distance<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(functions::from_integer(context.arena, value(&a[0]) - value(&a[1])))
}

fn moved<'a>(from: &Datum<'a>, by: &Datum<'a>, back: bool) -> Result<Datum<'a>> {
    let nan = if back { "cannot subtract NaN from pg_lsn" } else { "cannot add NaN to pg_lsn" };
    place(value(from), by, nan, back)
}

/// The place that is a number of bytes behind another, or before it; the sum is rounded.
fn place<'a>(from: i128, by: &Datum<'a>, nan: &str, back: bool) -> Result<Datum<'a>> {
    let unsupported = |message: &str| SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
    let from = Decimal::from_i128(from);
    let there = match Number::from(View::of(by.numeric())) {
        Number::Finite(bytes) if back => from.subtract(&bytes),
        Number::Finite(bytes) => from.add(&bytes),
        Number::Nan => return Err(unsupported(nan)),
        Number::Infinity | Number::NegativeInfinity => {
            return Err(unsupported("cannot convert infinity to pg_lsn"));
        }
    };
    let place = there.to_i128().and_then(|place| u64::try_from(place).ok());
    let out_of_range = || SqlError::new(SqlState::INVALID_PARAMETER_VALUE, "pg_lsn out of range");
    Ok(Datum::Int8(place.ok_or_else(out_of_range)? as i64))
}
