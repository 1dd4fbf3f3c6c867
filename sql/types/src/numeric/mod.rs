//! numeric: decimal numbers of any size, in PostgreSQL's base 10⁴.
//!
//! PostgreSQL: `utils/adt/numeric.c`; manual, 8.1.2. A value is sign, weight (the power of 10⁴ of its first digit), digits
//! and a *display scale*: how many decimals it shows. Result scales follow PostgreSQL's rules one by one, since users see
//! them. The stored form ([`stored`]) is what a [`super::Datum::Numeric`] borrows.
//!
//! Two ways to compute: [`small`] works on a 128-bit integer with a scale, without touching the heap, as long as nothing
//! overflows; [`decimal`] does everything else digit by digit. Both give the same bytes. Roots, logarithms and powers
//! ([`transcendental`]) are computed in binary ([`fixed`]), carry guard digits and round once at the end.

pub mod decimal;
mod fixed;
pub mod functions;
pub mod key;
pub mod small;
pub mod stored;
mod template;
pub mod text;
pub(crate) mod to_char;
pub(crate) mod to_number;
pub mod transcendental;

pub use decimal::Decimal;
pub use stored::{Number, View};

/// The most decimals a value can have.
pub const SCALE_MAX: i32 = 16383;
/// The most decimals that division and the like choose by themselves.
pub const CHOSEN_SCALE_MAX: i32 = 1000;
/// The least significant digits that division and the like give.
pub const SIGNIFICANT_DIGITS: i32 = 16;
/// The greatest weight: 131072 digits before the point.
pub const WEIGHT_MAX: i32 = 0x7fff;

/// 22003: `value overflows numeric format`.
#[cold]
pub(crate) fn overflow() -> crate::error::SqlError {
    crate::error::SqlError::new(
        crate::sqlstate::SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
        "value overflows numeric format",
    )
}
