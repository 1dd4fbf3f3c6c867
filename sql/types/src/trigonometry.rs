//! Trigonometry in degrees, exact where the answer is (`sind(30)` is 0.5), and the inverse hyperbolic functions.
//!
//! PostgreSQL: `float.c`. In degrees each function is put together from a sine of 0 to 30 and a cosine of 0 to 60 degrees, divided by
//! what the C library makes of their ends, so that these come out whole. The inverse hyperbolic functions are computed as
//! the C library does (fdlibm's `s_asinh.c` and its neighbours): the last digit is the same.

use super::Datum;
use super::function::Callable::{self, Plain};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::f64::consts::{LN_2, PI};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (2731, Plain(|_, a| within_one(a[0].float8(), arcsine))),
    (2732, Plain(|_, a| within_one(a[0].float8(), arccosine))),
    (2733, Plain(|_, a| Ok(Datum::Float8(a[0].float8().atan() / 1_f64.atan() * 45.0)))),
    (
        2734,
        Plain(|_, a| Ok(Datum::Float8(a[0].float8().atan2(a[1].float8()) / 1_f64.atan() * 45.0))),
    ),
    (2735, Plain(|_, a| of_angle(a[0].float8(), sine))),
    (2736, Plain(|_, a| of_angle(a[0].float8(), cosine))),
    (2737, Plain(|_, a| of_angle(a[0].float8(), tangent))),
    (2738, Plain(|_, a| of_angle(a[0].float8(), cotangent))),
    (2465, Plain(|_, a| Ok(Datum::Float8(hyperbolic_arcsine(a[0].float8()))))),
    (2466, Plain(|_, a| hyperbolic_arccosine(a[0].float8()))),
    (2467, Plain(|_, a| within_one(a[0].float8(), hyperbolic_arctangent))),
];

/// How small a number is so that a function near the identity gives it back: 2^-28.
const TINY: f64 = 1.0 / (1 << 28) as f64;
/// How large a number is so that one beside its square does not count: 2^28.
const HUGE: f64 = (1 << 28) as f64;

#[cold]
fn out_of_range() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range")
}

fn within_one(x: f64, function: fn(f64) -> f64) -> Result<Datum<'static>> {
    if (-1.0..=1.0).contains(&x) || x.is_nan() {
        return Ok(Datum::Float8(function(x)));
    }
    Err(out_of_range())
}

fn of_angle(x: f64, function: fn(f64) -> f64) -> Result<Datum<'static>> {
    if x.is_infinite() {
        return Err(out_of_range());
    }
    Ok(Datum::Float8(function(x % 360.0)))
}

fn radians(degrees: f64) -> f64 {
    degrees * (PI / 180.0)
}

/// Of an angle from 0 to 30.
fn small_sine(x: f64) -> f64 {
    radians(x).sin() / radians(30.0).sin() / 2.0
}

/// Of an angle from 0 to 60.
fn small_cosine(x: f64) -> f64 {
    let less_than_one = |x: f64| 1.0 - radians(x).cos();
    1.0 - less_than_one(x) / less_than_one(60.0) / 2.0
}

/// Of an angle from 0 to 90.
fn quarter_sine(x: f64) -> f64 {
    if x <= 30.0 { small_sine(x) } else { small_cosine(90.0 - x) }
}

/// Of an angle from 0 to 90.
fn quarter_cosine(x: f64) -> f64 {
    if x <= 60.0 { small_cosine(x) } else { small_sine(90.0 - x) }
}

/// An angle of less than a turn brought into the first quarter, and the signs that this takes: below zero, beyond half a
/// turn, beyond a quarter.
fn folded(mut x: f64) -> (f64, [f64; 3]) {
    let mut signs = [1.0; 3];
    if x < 0.0 {
        (x, signs[0]) = (-x, -1.0);
    }
    if x > 180.0 {
        (x, signs[1]) = (360.0 - x, -1.0);
    }
    if x > 90.0 {
        (x, signs[2]) = (180.0 - x, -1.0);
    }
    (x, signs)
}

fn sine(x: f64) -> f64 {
    let (x, [below, beyond_half, _]) = folded(x);
    below * beyond_half * quarter_sine(x)
}

fn cosine(x: f64) -> f64 {
    let (x, [_, _, beyond_quarter]) = folded(x);
    beyond_quarter * quarter_cosine(x)
}

fn tangent(x: f64) -> f64 {
    let ratio = |x: f64| quarter_sine(x) / quarter_cosine(x);
    quotient(x, ratio)
}

fn cotangent(x: f64) -> f64 {
    let ratio = |x: f64| quarter_cosine(x) / quarter_sine(x);
    quotient(x, ratio)
}

/// A tangent or cotangent, which is one of 45 degrees. A zero has no sign.
fn quotient(x: f64, ratio: impl Fn(f64) -> f64) -> f64 {
    let (x, signs) = folded(x);
    let value = signs.iter().product::<f64>() * (ratio(x) / ratio(45.0));
    if value == 0.0 { 0.0 } else { value }
}

/// Of a number from 0 to 1.
fn quarter_arcsine(x: f64) -> f64 {
    if x <= 0.5 {
        x.asin() / 0.5_f64.asin() * 30.0
    } else {
        90.0 - x.acos() / 0.5_f64.acos() * 60.0
    }
}

/// Of a number from 0 to 1.
fn quarter_arccosine(x: f64) -> f64 {
    if x <= 0.5 {
        90.0 - x.asin() / 0.5_f64.asin() * 30.0
    } else {
        x.acos() / 0.5_f64.acos() * 60.0
    }
}

fn arcsine(x: f64) -> f64 {
    if x >= 0.0 { quarter_arcsine(x) } else { -quarter_arcsine(-x) }
}

fn arccosine(x: f64) -> f64 {
    if x >= 0.0 { quarter_arccosine(x) } else { 90.0 + quarter_arcsine(-x) }
}

fn hyperbolic_arcsine(x: f64) -> f64 {
    let size = x.abs();
    if size < TINY || !x.is_finite() {
        return x;
    }
    let square = size * size;
    let value = if size > HUGE {
        size.ln() + LN_2
    } else if size > 2.0 {
        (2.0 * size + 1.0 / ((square + 1.0).sqrt() + size)).ln()
    } else {
        (size + square / (1.0 + (1.0 + square).sqrt())).ln_1p()
    };
    value.copysign(x)
}

fn hyperbolic_arccosine(x: f64) -> Result<Datum<'static>> {
    if x < 1.0 {
        return Err(out_of_range());
    }
    Ok(Datum::Float8(if x >= HUGE {
        x.ln() + LN_2
    } else if x > 2.0 {
        (2.0 * x - 1.0 / (x + (x * x - 1.0).sqrt())).ln()
    } else {
        let above = x - 1.0;
        (above + (2.0 * above + above * above).sqrt()).ln_1p()
    }))
}

fn hyperbolic_arctangent(x: f64) -> f64 {
    let size = x.abs();
    if size < TINY {
        return x;
    }
    let twice = size + size;
    let value = if size < 0.5 {
        0.5 * (twice + twice * size / (1.0 - size)).ln_1p()
    } else {
        0.5 * (twice / (1.0 - size)).ln_1p()
    };
    value.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_angles_are_exact() {
        for (angle, expected) in [(0.0, 0.0), (30.0, 0.5), (90.0, 1.0), (150.0, 0.5), (-210.0, 0.5)]
        {
            assert_eq!(sine(angle), expected, "sine of {angle}");
        }
        for (angle, expected) in [(0.0, 1.0), (60.0, 0.5), (120.0, -0.5), (180.0, -1.0)] {
            assert_eq!(cosine(angle), expected, "cosine of {angle}");
        }
        assert_eq!((tangent(45.0), tangent(135.0), tangent(90.0)), (1.0, -1.0, f64::INFINITY));
        assert_eq!((cotangent(45.0), cotangent(0.0)), (1.0, f64::INFINITY));
        assert_eq!((arcsine(0.5), arcsine(-1.0)), (30.0, -90.0));
        assert_eq!((arccosine(0.5), arccosine(-0.5)), (60.0, 120.0));
    }

    #[test]
    fn inverses_undo_the_hyperbolic_functions() {
        for x in [1e-9_f64, 0.1, 0.4, 0.7, 1.5, 3.0, 19.0] {
            assert!((hyperbolic_arcsine(x.sinh()) - x).abs() < 1e-14 * x.max(1.0));
            assert!((hyperbolic_arctangent(x.tanh()) - x).abs() < 1e-6 || x > 3.0);
        }
    }
}
