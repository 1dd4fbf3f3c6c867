//! Arithmetic of integers and floats, bits, and the casts between numbers, by `pg_proc` OID.
//!
//! PostgreSQL: `int.c`, `int8.c`, `float.c`. Every overflow is 22003 in the words of the *result's* type. Integer division
//! truncates; the least number divided by -1 overflows, its remainder is 0. A float result that is infinite where no operand
//! was is `value out of range: overflow`; one that is 0 where none was is an underflow.

use super::failure::{division_by_zero, out_of_range};
use super::function::Callable::{self, Plain};
use super::{CallContext, Datum};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// Widens an integer argument.
fn wide(datum: &Datum<'_>) -> i64 {
    match datum {
        Datum::Int2(value) => i64::from(*value),
        Datum::Int4(value) => i64::from(*value),
        other => other.int8(),
    }
}

fn to_int2(value: Option<i64>) -> Result<Datum<'static>> {
    let fits = value.and_then(|value| i16::try_from(value).ok());
    fits.map(Datum::Int2).ok_or_else(|| out_of_range("smallint"))
}

fn to_int4(value: Option<i64>) -> Result<Datum<'static>> {
    let fits = value.and_then(|value| i32::try_from(value).ok());
    fits.map(Datum::Int4).ok_or_else(|| out_of_range("integer"))
}

fn to_int8(value: Option<i64>) -> Result<Datum<'static>> {
    value.map(Datum::Int8).ok_or_else(|| out_of_range("bigint"))
}

fn divided(a: &[Datum<'_>]) -> Result<Option<i64>> {
    match wide(&a[1]) {
        0 => Err(division_by_zero()),
        divisor => Ok(wide(&a[0]).checked_div(divisor)),
    }
}

fn modulo(a: &[Datum<'_>]) -> Result<Option<i64>> {
    match wide(&a[1]) {
        0 => Err(division_by_zero()),
        divisor => Ok(Some(wide(&a[0]).wrapping_rem(divisor))),
    }
}

macro_rules! operations {
    ($($finish:ident: add [$($add:literal)*] subtract [$($sub:literal)*] multiply [$($mul:literal)*]
        divide [$($div:literal)*] modulo [$($rem:literal)*];)*) => {
        /// Integer operators by OID.
        pub(crate) const INTEGERS: &[(u32, Callable)] = &[$(
            $(($add, Plain(|_, a| $finish(wide(&a[0]).checked_add(wide(&a[1]))))),)*
            $(($sub, Plain(|_, a| $finish(wide(&a[0]).checked_sub(wide(&a[1]))))),)*
            $(($mul, Plain(|_, a| $finish(wide(&a[0]).checked_mul(wide(&a[1]))))),)*
            $(($div, Plain(|_, a| $finish(divided(a)?))),)*
            $(($rem, Plain(|_, a| $finish(modulo(a)?))),)*
        )*];
    };
}

operations! {
    to_int2: add [176] subtract [180] multiply [152] divide [153] modulo [155 940];
    to_int4: add [177 178 179] subtract [181 182 183] multiply [141 170 171] divide [154 172 173] modulo [156 941];
    to_int8: add [463 837 841 1274 1278] subtract [464 838 942 1275 1279] multiply [465 839 943 1276 1280]
        divide [466 840 948 1277 1281] modulo [945 947];
}

/// Signs, bits and casts of integers by OID.
pub(crate) const INTEGER_FUNCTIONS: &[(u32, Callable)] = &[
    (213, Plain(|_, a| to_int2(wide(&a[0]).checked_neg()))),
    (212, Plain(|_, a| to_int4(wide(&a[0]).checked_neg()))),
    (462, Plain(|_, a| to_int8(wide(&a[0]).checked_neg()))),
    (1910, Plain(|_, a| Ok(a[0]))),
    (1911, Plain(|_, a| Ok(a[0]))),
    (1912, Plain(|_, a| Ok(a[0]))),
    (1253, Plain(|_, a| to_int2(wide(&a[0]).checked_abs()))),
    (1398, Plain(|_, a| to_int2(wide(&a[0]).checked_abs()))),
    (1251, Plain(|_, a| to_int4(wide(&a[0]).checked_abs()))),
    (1397, Plain(|_, a| to_int4(wide(&a[0]).checked_abs()))),
    (1230, Plain(|_, a| to_int8(wide(&a[0]).checked_abs()))),
    (1396, Plain(|_, a| to_int8(wide(&a[0]).checked_abs()))),
    (766, Plain(|_, a| to_int4(wide(&a[0]).checked_add(1)))),
    (1219, Plain(|_, a| to_int8(wide(&a[0]).checked_add(1)))),
    (3546, Plain(|_, a| to_int8(wide(&a[0]).checked_sub(1)))),
    (1892, Plain(|_, a| Ok(Datum::Int2(a[0].int2() & a[1].int2())))),
    (1893, Plain(|_, a| Ok(Datum::Int2(a[0].int2() | a[1].int2())))),
    (1894, Plain(|_, a| Ok(Datum::Int2(a[0].int2() ^ a[1].int2())))),
    (1895, Plain(|_, a| Ok(Datum::Int2(!a[0].int2())))),
    // The processor takes a 16-bit number to 32 bits before it shifts, and only five bits of the count.
    (
        1896,
        Plain(|_, a| {
            Ok(Datum::Int2(i32::from(a[0].int2()).wrapping_shl(a[1].int4() as u32) as i16))
        }),
    ),
    (
        1897,
        Plain(|_, a| {
            Ok(Datum::Int2(i32::from(a[0].int2()).wrapping_shr(a[1].int4() as u32) as i16))
        }),
    ),
    (1898, Plain(|_, a| Ok(Datum::Int4(a[0].int4() & a[1].int4())))),
    (1899, Plain(|_, a| Ok(Datum::Int4(a[0].int4() | a[1].int4())))),
    (1900, Plain(|_, a| Ok(Datum::Int4(a[0].int4() ^ a[1].int4())))),
    (1901, Plain(|_, a| Ok(Datum::Int4(!a[0].int4())))),
    (1902, Plain(|_, a| Ok(Datum::Int4(a[0].int4().wrapping_shl(a[1].int4() as u32))))),
    (1903, Plain(|_, a| Ok(Datum::Int4(a[0].int4().wrapping_shr(a[1].int4() as u32))))),
    (1904, Plain(|_, a| Ok(Datum::Int8(a[0].int8() & a[1].int8())))),
    (1905, Plain(|_, a| Ok(Datum::Int8(a[0].int8() | a[1].int8())))),
    (1906, Plain(|_, a| Ok(Datum::Int8(a[0].int8() ^ a[1].int8())))),
    (1907, Plain(|_, a| Ok(Datum::Int8(!a[0].int8())))),
    (1908, Plain(|_, a| Ok(Datum::Int8(a[0].int8().wrapping_shl(a[1].int4() as u32))))),
    (1909, Plain(|_, a| Ok(Datum::Int8(a[0].int8().wrapping_shr(a[1].int4() as u32))))),
    (5044, Plain(|_, a| to_int4(gcd(wide(&a[0]), wide(&a[1]))))),
    (5045, Plain(|_, a| to_int8(gcd(wide(&a[0]), wide(&a[1]))))),
    (5046, Plain(|_, a| to_int4(lcm(wide(&a[0]), wide(&a[1]))))),
    (5047, Plain(|_, a| to_int8(lcm(wide(&a[0]), wide(&a[1]))))),
    (313, Plain(|_, a| to_int4(Some(wide(&a[0]))))),
    (314, Plain(|_, a| to_int2(Some(wide(&a[0]))))),
    (480, Plain(|_, a| to_int4(Some(wide(&a[0]))))),
    (481, Plain(|_, a| to_int8(Some(wide(&a[0]))))),
    (714, Plain(|_, a| to_int2(Some(wide(&a[0]))))),
    (754, Plain(|_, a| to_int8(Some(wide(&a[0]))))),
    (
        1287,
        Plain(|_, a| u32::try_from(wide(&a[0])).map(Datum::Oid).map_err(|_| out_of_range("OID"))),
    ),
    (1288, Plain(|_, a| Ok(Datum::Int8(i64::from(a[0].oid()))))),
    (5071, Plain(|_, a| Ok(Datum::Oid(a[0].int8() as u32)))),
    (2557, Plain(|_, a| Ok(Datum::Bool(a[0].int4() != 0)))),
    (2558, Plain(|_, a| Ok(Datum::Int4(i32::from(a[0].bool()))))),
    (77, Plain(|_, a| Ok(Datum::Int4(i32::from(a[0].char() as i8))))),
    (78, Plain(int4_to_char)),
    (2515, Plain(|_, a| Ok(Datum::Bool(a[0].bool() && a[1].bool())))),
    (2516, Plain(|_, a| Ok(Datum::Bool(a[0].bool() || a[1].bool())))),
];

fn int4_to_char<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let fits = i8::try_from(a[0].int4()).map_err(|_| out_of_range("\"char\""))?;
    Ok(Datum::Char(fits as u8))
}

fn gcd(a: i64, b: i64) -> Option<i64> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).ok()
}

fn lcm(a: i64, b: i64) -> Option<i64> {
    if a == 0 || b == 0 {
        return Some(0);
    }
    (a / gcd(a, b)?).checked_mul(b)?.checked_abs()
}

/// Widens a float argument.
fn float(datum: &Datum<'_>) -> f64 {
    match datum {
        Datum::Float4(value) => f64::from(*value),
        other => other.float8(),
    }
}

#[cold]
fn overflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: overflow")
}

#[cold]
fn underflow() -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "value out of range: underflow")
}

/// Checks a result: not infinite unless an operand was (`infinite`), not zero unless that is right (`zero`).
pub(crate) fn checked(result: f64, infinite: bool, zero: bool) -> Result<f64> {
    if result.is_infinite() && !infinite {
        return Err(overflow());
    }
    if result == 0.0 && !zero {
        return Err(underflow());
    }
    Ok(result)
}

fn sum(a: f64, b: f64) -> Result<f64> {
    checked(a + b, a.is_infinite() || b.is_infinite(), true)
}

fn product(a: f64, b: f64) -> Result<f64> {
    checked(a * b, a.is_infinite() || b.is_infinite(), a == 0.0 || b == 0.0)
}

fn quotient(a: f64, b: f64) -> Result<f64> {
    if b == 0.0 && !a.is_nan() {
        return Err(division_by_zero());
    }
    checked(a / b, a.is_infinite(), a == 0.0 || b.is_infinite())
}

/// The same in single precision: rounded once, then checked.
fn single(result: f64, infinite: bool, zero: bool) -> Result<Datum<'static>> {
    let rounded = result as f32;
    checked(f64::from(rounded), infinite, zero)?;
    Ok(Datum::Float4(rounded))
}

fn single_operation(
    a: &[Datum<'_>],
    operation: fn(f64, f64) -> f64,
    product: bool,
) -> Result<Datum<'static>> {
    let (x, y) = (float(&a[0]), float(&a[1]));
    let infinite = x.is_infinite() || y.is_infinite();
    single(operation(x, y), infinite, !product || x == 0.0 || y == 0.0)
}

fn single_quotient(a: &[Datum<'_>]) -> Result<Datum<'static>> {
    let (x, y) = (float(&a[0]), float(&a[1]));
    if y == 0.0 && !x.is_nan() {
        return Err(division_by_zero());
    }
    single(x / y, x.is_infinite(), x == 0.0 || y.is_infinite())
}

macro_rules! doubles {
    ($($operation:ident [$($oid:literal)*])*) => {
        &[$($(($oid, Plain(|_, a| $operation(float(&a[0]), float(&a[1])).map(Datum::Float8))),)*)*]
    };
}

/// Float operators by OID.
pub(crate) const FLOATS: &[(u32, Callable)] = doubles! { sum [218 281 285] difference [219 282 286] product [216 279 283] quotient [217 280 284] };

fn difference(a: f64, b: f64) -> Result<f64> {
    sum(a, -b)
}

fn domain(state: SqlState, message: &str) -> SqlError {
    SqlError::new(state, message)
}

fn square_root(x: f64) -> Result<f64> {
    if x < 0.0 {
        let message = "cannot take square root of a negative number";
        return Err(domain(SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION, message));
    }
    Ok(x.sqrt())
}

fn logarithm(x: f64, log: fn(f64) -> f64) -> Result<f64> {
    let state = SqlState::INVALID_ARGUMENT_FOR_LOGARITHM;
    if x == 0.0 {
        return Err(domain(state, "cannot take logarithm of zero"));
    }
    if x < 0.0 {
        return Err(domain(state, "cannot take logarithm of a negative number"));
    }
    checked(log(x), x.is_infinite(), x == 1.0)
}

fn exponential(x: f64) -> Result<f64> {
    checked(x.exp(), x.is_infinite(), x == f64::NEG_INFINITY)
}

fn power(base: f64, exponent: f64) -> Result<f64> {
    let state = SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION;
    if base == 0.0 && exponent < 0.0 {
        return Err(domain(state, "zero raised to a negative power is undefined"));
    }
    if base < 0.0 && exponent.is_finite() && exponent.fract() != 0.0 {
        let message = "a negative number raised to a non-integer power yields a complex result";
        return Err(domain(state, message));
    }
    let result = base.powf(exponent);
    checked(
        result,
        base.is_infinite() || exponent.is_infinite(),
        base == 0.0 || exponent.is_infinite() || base.is_infinite(),
    )
}

fn inside_one(x: f64, function: fn(f64) -> f64) -> Result<f64> {
    if (-1.0..=1.0).contains(&x) || x.is_nan() {
        return Ok(function(x));
    }
    Err(domain(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range"))
}

fn finite(x: f64, function: fn(f64) -> f64) -> Result<f64> {
    if x.is_infinite() {
        return Err(domain(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "input is out of range"));
    }
    Ok(function(x))
}

/// A float as an integer: rounded half to even, then in range or 22003.
fn rounded(x: f64, low: f64, high: f64, name: &str) -> Result<i64> {
    let whole = x.round_ties_even();
    if whole >= low && whole < high { Ok(whole as i64) } else { Err(out_of_range(name)) }
}

fn float_to_int2(a: &[Datum<'_>]) -> Result<Datum<'static>> {
    rounded(float(&a[0]), -32768.0, 32768.0, "smallint").map(|v| Datum::Int2(v as i16))
}

fn float_to_int4(a: &[Datum<'_>]) -> Result<Datum<'static>> {
    rounded(float(&a[0]), -2_147_483_648.0, 2_147_483_648.0, "integer")
        .map(|v| Datum::Int4(v as i32))
}

fn float_to_int8(a: &[Datum<'_>]) -> Result<Datum<'static>> {
    let limit = 9_223_372_036_854_775_808.0;
    rounded(float(&a[0]), -limit, limit, "bigint").map(Datum::Int8)
}

fn double(result: Result<f64>) -> Result<Datum<'static>> {
    result.map(Datum::Float8)
}

/// Float functions and casts by OID.
pub(crate) const FLOAT_FUNCTIONS: &[(u32, Callable)] = &[
    (204, Plain(|_, a| single_operation(a, |x, y| x + y, false))),
    (205, Plain(|_, a| single_operation(a, |x, y| x - y, false))),
    (202, Plain(|_, a| single_operation(a, |x, y| x * y, true))),
    (203, Plain(|_, a| single_quotient(a))),
    (206, Plain(|_, a| Ok(Datum::Float4(-a[0].float4())))),
    (207, Plain(|_, a| Ok(Datum::Float4(a[0].float4().abs())))),
    (1394, Plain(|_, a| Ok(Datum::Float4(a[0].float4().abs())))),
    (220, Plain(|_, a| Ok(Datum::Float8(-a[0].float8())))),
    (221, Plain(|_, a| Ok(Datum::Float8(a[0].float8().abs())))),
    (1395, Plain(|_, a| Ok(Datum::Float8(a[0].float8().abs())))),
    (1913, Plain(|_, a| Ok(a[0]))),
    (1914, Plain(|_, a| Ok(a[0]))),
    (228, Plain(|_, a| Ok(Datum::Float8(a[0].float8().round_ties_even())))),
    (1342, Plain(|_, a| Ok(Datum::Float8(a[0].float8().round_ties_even())))),
    (229, Plain(|_, a| Ok(Datum::Float8(a[0].float8().trunc())))),
    (1343, Plain(|_, a| Ok(Datum::Float8(a[0].float8().trunc())))),
    (2308, Plain(|_, a| Ok(Datum::Float8(a[0].float8().ceil())))),
    (2320, Plain(|_, a| Ok(Datum::Float8(a[0].float8().ceil())))),
    (2309, Plain(|_, a| Ok(Datum::Float8(a[0].float8().floor())))),
    (
        2310,
        Plain(|_, a| {
            let x = a[0].float8();
            Ok(Datum::Float8(if x > 0.0 {
                1.0
            } else if x < 0.0 {
                -1.0
            } else {
                0.0
            }))
        }),
    ),
    (230, Plain(|_, a| double(square_root(a[0].float8())))),
    (1344, Plain(|_, a| double(square_root(a[0].float8())))),
    (231, Plain(|_, a| Ok(Datum::Float8(a[0].float8().cbrt())))),
    (1345, Plain(|_, a| Ok(Datum::Float8(a[0].float8().cbrt())))),
    (232, Plain(|_, a| double(power(a[0].float8(), a[1].float8())))),
    (1346, Plain(|_, a| double(power(a[0].float8(), a[1].float8())))),
    (1368, Plain(|_, a| double(power(a[0].float8(), a[1].float8())))),
    (233, Plain(|_, a| double(exponential(a[0].float8())))),
    (1347, Plain(|_, a| double(exponential(a[0].float8())))),
    (234, Plain(|_, a| double(logarithm(a[0].float8(), f64::ln)))),
    (1341, Plain(|_, a| double(logarithm(a[0].float8(), f64::ln)))),
    (1339, Plain(|_, a| double(logarithm(a[0].float8(), f64::log10)))),
    (1340, Plain(|_, a| double(logarithm(a[0].float8(), f64::log10)))),
    (1194, Plain(|_, a| double(logarithm(a[0].float8(), f64::log10)))),
    (1600, Plain(|_, a| double(inside_one(a[0].float8(), f64::asin)))),
    (1601, Plain(|_, a| double(inside_one(a[0].float8(), f64::acos)))),
    (1602, Plain(|_, a| Ok(Datum::Float8(a[0].float8().atan())))),
    (1603, Plain(|_, a| Ok(Datum::Float8(a[0].float8().atan2(a[1].float8()))))),
    (1604, Plain(|_, a| double(finite(a[0].float8(), f64::sin)))),
    (1605, Plain(|_, a| double(finite(a[0].float8(), f64::cos)))),
    (1606, Plain(|_, a| double(finite(a[0].float8(), f64::tan)))),
    (1607, Plain(|_, a| double(finite(a[0].float8(), |x| 1.0 / x.tan())))),
    (1608, Plain(|_, a| double(quotient(a[0].float8(), std::f64::consts::PI / 180.0)))),
    (1609, Plain(|_, a| double(product(a[0].float8(), std::f64::consts::PI / 180.0)))),
    (2462, Plain(|_, a| Ok(Datum::Float8(a[0].float8().sinh())))),
    (2463, Plain(|_, a| Ok(Datum::Float8(a[0].float8().cosh())))),
    (2464, Plain(|_, a| Ok(Datum::Float8(a[0].float8().tanh())))),
    (1610, Plain(|_, _| Ok(Datum::Float8(std::f64::consts::PI)))),
    (1598, Plain(|c, _| Ok(Datum::Float8(random(c))))),
    (1599, Plain(set_seed)),
    (311, Plain(|_, a| Ok(Datum::Float8(float(&a[0]))))),
    (
        312,
        Plain(|_, a| {
            let x = a[0].float8();
            single(x, x.is_infinite(), x == 0.0)
        }),
    ),
    (235, Plain(|_, a| Ok(Datum::Float8(wide(&a[0]) as f64)))),
    (316, Plain(|_, a| Ok(Datum::Float8(wide(&a[0]) as f64)))),
    (482, Plain(|_, a| Ok(Datum::Float8(wide(&a[0]) as f64)))),
    (236, Plain(|_, a| Ok(Datum::Float4(wide(&a[0]) as f32)))),
    (318, Plain(|_, a| Ok(Datum::Float4(wide(&a[0]) as f32)))),
    (652, Plain(|_, a| Ok(Datum::Float4(wide(&a[0]) as f32)))),
    (237, Plain(|_, a| float_to_int2(a))),
    (238, Plain(|_, a| float_to_int2(a))),
    (317, Plain(|_, a| float_to_int4(a))),
    (319, Plain(|_, a| float_to_int4(a))),
    (483, Plain(|_, a| float_to_int8(a))),
    (653, Plain(|_, a| float_to_int8(a))),
];

/// The next number of the session's generator: xoroshiro128**, as in PostgreSQL (`common/pg_prng.c`).
pub(crate) fn next_random(context: &CallContext<'_>) -> u64 {
    let [s0, s1] = context.random.get();
    let value = s0.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
    let sx = s1 ^ s0;
    context.random.set([s0.rotate_left(24) ^ sx ^ (sx << 16), sx.rotate_left(37)]);
    value
}

/// From 0 up to, not including, 1: 52 random bits.
pub(crate) fn random(context: &CallContext<'_>) -> f64 {
    (next_random(context) >> 12) as f64 / (1u64 << 52) as f64
}

/// 16 random bytes as a version 4 uuid.
pub(crate) fn random_uuid(context: &CallContext<'_>) -> [u8; 16] {
    let mut uuid = [0; 16];
    crate::secret::fill(context, &mut uuid);
    uuid[6] = uuid[6] & 0x0f | 0x40;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

fn set_seed<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let seed = a[0].float8();
    if !(-1.0..=1.0).contains(&seed) {
        let message = format!("setseed parameter {seed} is out of allowed range [-1,1]");
        return Err(domain(SqlState::INVALID_PARAMETER_VALUE, &message));
    }
    // 52 bits of the number seed splitmix64, which fills the state.
    let mut state = (((1u64 << 52) as f64 - 1.0) * seed) as i64 as u64;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut value = state;
        value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        value ^ (value >> 31)
    };
    context.random.set([next(), next()]);
    Ok(Datum::Text(""))
}
