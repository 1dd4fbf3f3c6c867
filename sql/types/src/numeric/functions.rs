//! numeric's functions and operators, by `pg_proc` OID.
//!
//! NaN and the infinities follow IEEE 754 except that NaN equals NaN and is the greatest value (PostgreSQL's
//! `numeric_add_opt_error` and its neighbours).

use super::decimal::{Decimal, Rounding};
use super::small::Small;
use super::stored::{NAN, Number, View};
use super::text;
use crate::error::{Result, SqlError};
use crate::failure::{division_by_zero, out_of_range};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};
use bumpalo::Bump;
use std::cmp::Ordering;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1703, Plain(apply_modifier)),
    (1704, Plain(absolute)),
    (1705, Plain(absolute)),
    (1706, Plain(sign)),
    (1707, Plain(round)),
    (1708, Plain(round)),
    (1709, Plain(truncate)),
    (1710, Plain(truncate)),
    (1711, Plain(ceiling)),
    (2167, Plain(ceiling)),
    (1712, Plain(floor)),
    (1718, Plain(|_, a| Ok(Datum::Bool(compare(&a[0], &a[1]).is_eq())))),
    (1719, Plain(|_, a| Ok(Datum::Bool(compare(&a[0], &a[1]).is_ne())))),
    (1720, Plain(|_, a| Ok(Datum::Bool(compare(&a[0], &a[1]).is_gt())))),
    (1721, Plain(|_, a| Ok(Datum::Bool(compare(&a[0], &a[1]).is_ge())))),
    (1722, Plain(|_, a| Ok(Datum::Bool(compare(&a[0], &a[1]).is_lt())))),
    (1723, Plain(|_, a| Ok(Datum::Bool(compare(&a[0], &a[1]).is_le())))),
    (1769, Plain(|_, a| Ok(Datum::Int4(compare(&a[0], &a[1]) as i32)))),
    (1766, Plain(|_, a| Ok(if compare(&a[0], &a[1]).is_lt() { a[0] } else { a[1] }))),
    (1767, Plain(|_, a| Ok(if compare(&a[0], &a[1]).is_gt() { a[0] } else { a[1] }))),
    (1724, Plain(|c, a| Ok(Datum::Numeric(add(c.arena, a[0].numeric(), a[1].numeric())?)))),
    (1725, Plain(subtract)),
    (1726, Plain(multiply)),
    (1727, Plain(|c, a| Ok(Datum::Numeric(divide(c.arena, a[0].numeric(), a[1].numeric())?)))),
    (1728, Plain(remainder)),
    (1729, Plain(remainder)),
    (1973, Plain(divide_truncating)),
    (1980, Plain(divide_truncating)),
    (1730, Plain(|c, a| on_finite(c, a, Special::Root, |x| x.square_root()))),
    (1731, Plain(|c, a| on_finite(c, a, Special::Root, |x| x.square_root()))),
    (1732, Plain(|c, a| on_finite(c, a, Special::Exponential, |x| x.exponential()))),
    (1733, Plain(|c, a| on_finite(c, a, Special::Exponential, |x| x.exponential()))),
    (1734, Plain(|c, a| on_finite(c, a, Special::Logarithm, |x| x.natural_logarithm()))),
    (1735, Plain(|c, a| on_finite(c, a, Special::Logarithm, |x| x.natural_logarithm()))),
    (1481, Plain(logarithm_of_ten)),
    (1741, Plain(logarithm_of_ten)),
    (1736, Plain(logarithm)),
    (1737, Plain(logarithm)),
    (1738, Plain(power)),
    (1739, Plain(power)),
    (2169, Plain(power)),
    (1764, Plain(|c, a| Ok(Datum::Numeric(add(c.arena, a[0].numeric(), &[0, 0, 0, 0, 1, 0])?)))),
    (1771, Plain(negate)),
    (1915, Plain(|_, a| Ok(a[0]))),
    (2170, Plain(width_bucket)),
    (3281, Plain(|_, a| Ok(finite_or_null(&a[0], |x| Datum::Int4(x.scale))))),
    (5042, Plain(|_, a| Ok(finite_or_null(&a[0], |x| Datum::Int4(least_scale(x)))))),
    (5043, Plain(trim_scale)),
    (5048, Plain(greatest_common_divisor)),
    (5049, Plain(least_common_multiple)),
    (1376, Plain(factorial)),
    (1740, Plain(|c, a| Ok(from_integer(c.arena, i128::from(a[0].int4()))))),
    (1781, Plain(|c, a| Ok(from_integer(c.arena, i128::from(a[0].int8()))))),
    (1782, Plain(|c, a| Ok(from_integer(c.arena, i128::from(a[0].int2()))))),
    (1742, Plain(|c, a| from_float(c.arena, f64::from(a[0].float4()), 6))),
    (1743, Plain(|c, a| from_float(c.arena, a[0].float8(), 15))),
    (1744, Plain(|_, a| integer(&a[0], "integer", |v| i32::try_from(v).ok()).map(Datum::Int4))),
    (1779, Plain(|_, a| to_bigint(&a[0]).map(Datum::Int8))),
    (1783, Plain(|_, a| integer(&a[0], "smallint", |v| i16::try_from(v).ok()).map(Datum::Int2))),
    (1745, Plain(|_, a| to_real(&a[0]).map(Datum::Float4))),
    (1746, Plain(|_, a| to_float(&a[0]).map(Datum::Float8))),
];

fn view<'a>(datum: &Datum<'a>) -> View<'a> {
    View::of(datum.numeric())
}

/// Whether a stored numeric is NaN.
pub(crate) fn is_nan(stored: &[u8]) -> bool {
    matches!(View::of(stored), View::Nan)
}

/// Compares two numerics.
pub(crate) fn compare(a: &Datum<'_>, b: &Datum<'_>) -> Ordering {
    view(a).compare(&view(b))
}

/// The stored form of an integer.
pub fn from_integer(arena: &Bump, value: i128) -> Datum<'_> {
    let stored = if value.unsigned_abs() < 10u128.pow(36) {
        Small { mantissa: value, scale: 0 }.store(arena)
    } else {
        Decimal::from_i128(value).store(arena)
    };
    Datum::Numeric(stored)
}

fn store(arena: &Bump, number: Decimal) -> Result<&[u8]> {
    Ok(number.checked()?.store(arena))
}

/// x + y, stored.
pub(crate) fn add<'a>(arena: &'a Bump, x: &[u8], y: &[u8]) -> Result<&'a [u8]> {
    let (x, y) = (View::of(x), View::of(y));
    if let (Some(a), Some(b)) = (Small::of(x), Small::of(y))
        && let Some(sum) = a.plus(b)
    {
        return Ok(sum.store(arena));
    }
    match (x, y) {
        (View::Finite(a), View::Finite(b)) => store(arena, a.to_decimal().add(&b.to_decimal())),
        (View::Nan, _) | (_, View::Nan) => Ok(NAN),
        (View::Infinity, View::NegativeInfinity) | (View::NegativeInfinity, View::Infinity) => {
            Ok(NAN)
        }
        (View::Finite(_), infinite) | (infinite, _) => Ok(Number::from(infinite).store(arena)),
    }
}

/// x - y, stored.
pub(crate) fn difference<'a>(arena: &'a Bump, x: &[u8], y: &[u8]) -> Result<&'a [u8]> {
    add(arena, x, negated(View::of(y)).store(arena))
}

/// How many digits a stored numeric has behind the point; none where it is not finite.
pub(crate) fn scale_of(stored: &[u8]) -> Option<i32> {
    View::of(stored).finite().map(|number| i32::from(number.scale))
}

fn negated(view: View<'_>) -> Number {
    match Number::from(view) {
        Number::Finite(number) => Number::Finite(number.negated()),
        Number::Infinity => Number::NegativeInfinity,
        Number::NegativeInfinity => Number::Infinity,
        Number::Nan => Number::Nan,
    }
}

pub(crate) fn negate<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(Datum::Numeric(negated(view(&a[0])).store(context.arena)))
}

fn subtract<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if let (Some(x), Some(y)) = (Small::of(view(&a[0])), Small::of(view(&a[1])))
        && let Some(difference) = x.subtract(y)
    {
        return Ok(Datum::Numeric(difference.store(context.arena)));
    }
    let other = negated(view(&a[1])).store(context.arena);
    Ok(Datum::Numeric(add(context.arena, a[0].numeric(), other)?))
}

/// 1, 0 or -1.
fn signum(view: &View<'_>) -> i32 {
    match view {
        View::Nan => 0,
        View::Infinity => 1,
        View::NegativeInfinity => -1,
        View::Finite(number) if number.is_empty() => 0,
        View::Finite(number) => 1 - 2 * i32::from(number.negative),
    }
}

fn infinity(sign: i32) -> Number {
    match sign.signum() {
        0 => Number::Nan,
        1 => Number::Infinity,
        _ => Number::NegativeInfinity,
    }
}

pub(crate) fn multiply<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (x, y) = (view(&a[0]), view(&a[1]));
    if let (Some(p), Some(q)) = (Small::of(x), Small::of(y))
        && let Some(product) = p.multiply(q)
    {
        return Ok(Datum::Numeric(product.store(context.arena)));
    }
    let stored = match (x, y) {
        (View::Finite(p), View::Finite(q)) => {
            store(context.arena, p.to_decimal().multiply(&q.to_decimal()))?
        }
        (View::Nan, _) | (_, View::Nan) => NAN,
        // Zero times infinity has sign 0: NaN.
        _ => infinity(signum(&x) * signum(&y)).store(context.arena),
    };
    Ok(Datum::Numeric(stored))
}

/// x / y, stored.
pub(crate) fn divide<'a>(arena: &'a Bump, x: &[u8], y: &[u8]) -> Result<&'a [u8]> {
    let (x, y) = (View::of(x), View::of(y));
    let zero = matches!(y, View::Finite(number) if number.is_empty());
    match (x, y) {
        (View::Nan, _) | (_, View::Nan) => Ok(NAN),
        _ if zero => Err(division_by_zero()),
        (View::Finite(p), View::Finite(q)) => {
            if let (Some(a), Some(b)) = (Small::of(x), Small::of(y))
                && let Some(quotient) = a.divide(b)
            {
                return Ok(quotient.store(arena));
            }
            let (p, q) = (p.to_decimal(), q.to_decimal());
            store(arena, p.divide(&q, p.division_scale(&q), Rounding::Nearest))
        }
        (View::Finite(_), _) => Ok(super::stored::ZERO),
        (_, View::Finite(_)) => Ok(infinity(signum(&x) * signum(&y)).store(arena)),
        _ => Ok(NAN),
    }
}

fn divide_truncating<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (x, y) = (view(&a[0]), view(&a[1]));
    let stored = match (x, y) {
        (View::Finite(p), View::Finite(q)) if !q.is_empty() => {
            let quotient = p.to_decimal().divide(&q.to_decimal(), 0, Rounding::Truncate);
            store(context.arena, quotient)?
        }
        _ => divide(context.arena, a[0].numeric(), a[1].numeric())?,
    };
    Ok(Datum::Numeric(stored))
}

fn remainder<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let stored = match (view(&a[0]), view(&a[1])) {
        (View::Nan, _) | (_, View::Nan) => NAN,
        (_, View::Finite(y)) if y.is_empty() => return Err(division_by_zero()),
        (View::Finite(x), View::Finite(y)) => {
            store(context.arena, x.to_decimal().remainder(&y.to_decimal()))?
        }
        (View::Finite(_), _) => a[0].numeric(),
        _ => NAN,
    };
    Ok(Datum::Numeric(stored))
}

fn apply_modifier<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (number, typmod) = (view(&a[0]), a[1].int4());
    let limits = text::modifier(typmod);
    if let (Some((precision, scale)), Some(finite)) = (limits, number.finite())
        && i32::from(finite.scale) == scale
        && 4 * (i32::from(finite.weight) + 1) <= precision - scale
    {
        return Ok(a[0]);
    }
    if let (Some((precision, scale)), Some(small)) = (limits, Small::of(number))
        && let Some(limited) = small.within(precision, scale)
    {
        let stays = limited == small;
        return Ok(if stays { a[0] } else { Datum::Numeric(limited.store(context.arena)) });
    }
    let number = text::apply_modifier(number.into(), typmod)?;
    Ok(Datum::Numeric(number.store(context.arena)))
}

/// Applies `operation` to a finite number; others stay.
fn map_finite<'a>(
    context: &CallContext<'a>,
    argument: &Datum<'a>,
    operation: impl FnOnce(Decimal) -> Decimal,
) -> Result<Datum<'a>> {
    match view(argument) {
        View::Finite(number) => {
            Ok(Datum::Numeric(store(context.arena, operation(number.to_decimal()))?))
        }
        View::Nan | View::Infinity | View::NegativeInfinity => Ok(*argument),
    }
}

fn absolute<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if view(&a[0]) == View::NegativeInfinity {
        return Ok(Datum::Numeric(super::stored::INFINITY));
    }
    map_finite(context, &a[0], Decimal::absolute)
}

fn sign<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    match view(&a[0]) {
        View::Nan => Ok(a[0]),
        other => Ok(from_integer(context.arena, i128::from(signum(&other)))),
    }
}

/// The scale that `round` and `trunc` are given, within the limits: one digit more than there can be before the point may
/// come of rounding up.
fn asked_scale(a: &[Datum<'_>]) -> i32 {
    const LEAST: i32 = -4 * (super::WEIGHT_MAX + 1) - 1;
    a.get(1).map_or(0, |scale| scale.int4()).clamp(LEAST, super::SCALE_MAX)
}

fn round<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let scale = asked_scale(a);
    if let (Some(small), Ok(scale)) = (Small::of(view(&a[0])), u32::try_from(scale))
        && let Some(rounded) = small.rounded(scale)
    {
        return Ok(Datum::Numeric(rounded.store(context.arena)));
    }
    map_finite(context, &a[0], |x| x.rounded(scale))
}

fn truncate<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let scale = asked_scale(a);
    map_finite(context, &a[0], |x| x.truncated(scale))
}

fn ceiling<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    map_finite(context, &a[0], |x| {
        let up = !x.negative && !x.is_integer();
        let whole = x.truncated(0);
        if up { whole.add(&Decimal::from_i128(1)) } else { whole }
    })
}

fn floor<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    map_finite(context, &a[0], |x| {
        let down = x.negative && !x.is_integer();
        let whole = x.truncated(0);
        if down { whole.subtract(&Decimal::from_i128(1)) } else { whole }
    })
}

/// Which function it is that a special value goes into.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Special {
    Root,
    Exponential,
    Logarithm,
}

fn on_finite<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    special: Special,
    operation: fn(&Decimal) -> Result<Decimal>,
) -> Result<Datum<'a>> {
    let error = |state, message: &str| Err(SqlError::new(state, message));
    let stored = match (view(&a[0]), special) {
        (View::Finite(number), _) => store(context.arena, operation(&number.to_decimal())?)?,
        (View::NegativeInfinity, Special::Exponential) => super::stored::ZERO,
        (View::NegativeInfinity, Special::Root) => {
            return error(
                SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                "cannot take square root of a negative number",
            );
        }
        (View::NegativeInfinity, Special::Logarithm) => {
            return error(
                SqlState::INVALID_ARGUMENT_FOR_LOGARITHM,
                "cannot take logarithm of a negative number",
            );
        }
        (View::Nan | View::Infinity, _) => a[0].numeric(),
    };
    Ok(Datum::Numeric(stored))
}

fn logarithm_of_ten<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    logarithm(context, &[from_integer(context.arena, 10), a[0]])
}

fn logarithm<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (base, number) = (view(&a[0]), view(&a[1]));
    if let (View::Finite(base), View::Finite(number)) = (base, number) {
        let result = number.to_decimal().logarithm(&base.to_decimal())?;
        return Ok(Datum::Numeric(store(context.arena, result)?));
    }
    if base == View::Nan || number == View::Nan {
        return Ok(Datum::Numeric(NAN));
    }
    let error =
        |message: &str| Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_LOGARITHM, message));
    if signum(&base) < 0 || signum(&number) < 0 {
        return error("cannot take logarithm of a negative number");
    }
    if signum(&base) == 0 || signum(&number) == 0 {
        return error("cannot take logarithm of zero");
    }
    let stored = match (base, number) {
        (View::Infinity, View::Infinity) => NAN,
        (View::Infinity, _) => super::stored::ZERO,
        _ => super::stored::INFINITY,
    };
    Ok(Datum::Numeric(stored))
}

fn power<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (base, exponent) = (view(&a[0]), view(&a[1]));
    if let (View::Finite(base), View::Finite(exponent)) = (base, exponent) {
        let result = base.to_decimal().power(&exponent.to_decimal())?;
        return Ok(Datum::Numeric(store(context.arena, result)?));
    }
    let one = from_integer(context.arena, 1);
    let is_one = |datum: &Datum<'_>| compare(datum, &one).is_eq();
    let zero = Datum::Numeric(super::stored::ZERO);
    // NaN to the power of 0, and 1 to any power, are 1.
    if (base == View::Nan && signum(&exponent) == 0 && exponent != View::Nan) || is_one(&a[0]) {
        return Ok(one);
    }
    if base == View::Nan || exponent == View::Nan {
        return Ok(Datum::Numeric(NAN));
    }
    if signum(&base) == 0 && signum(&exponent) < 0 {
        return Err(SqlError::new(
            SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION,
            "zero raised to a negative power is undefined",
        ));
    }
    if let View::Finite(exponent) = exponent {
        let exponent = exponent.to_decimal();
        let odd = exponent.clone().remainder(&Decimal::from_i128(2)).absolute()
            == Decimal::from_i128(1).with_scale(exponent.scale);
        if base == View::NegativeInfinity && !exponent.is_integer() {
            return Err(SqlError::new(
                SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                "a negative number raised to a non-integer power yields a complex result",
            ));
        }
        return Ok(match (exponent.is_zero(), exponent.negative) {
            (true, _) => one,
            (false, true) => zero,
            (false, false) => {
                let sign = if odd { signum(&base) } else { 1 };
                Datum::Numeric(infinity(sign).store(context.arena))
            }
        });
    }
    // An infinite exponent: what counts is whether the base's magnitude is below, at or above 1.
    let magnitude = absolute(context, a)?;
    let grows = exponent == View::Infinity;
    Ok(match compare(&magnitude, &one) {
        Ordering::Equal => one,
        Ordering::Greater if grows => Datum::Numeric(super::stored::INFINITY),
        Ordering::Less if !grows => Datum::Numeric(super::stored::INFINITY),
        Ordering::Greater | Ordering::Less => zero,
    })
}

fn width_bucket<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let error = |message: &str| {
        Err(SqlError::new(SqlState::INVALID_ARGUMENT_FOR_WIDTH_BUCKET_FUNCTION, message))
    };
    let count = a[3].int4();
    if count <= 0 {
        return error("count must be greater than zero");
    }
    let (operand, low, high) = (view(&a[0]), view(&a[1]), view(&a[2]));
    if [operand, low, high].contains(&View::Nan) {
        return error("operand, lower bound, and upper bound cannot be NaN");
    }
    let (Some(low_number), Some(high_number)) = (low.finite(), high.finite()) else {
        return error("lower and upper bounds must be finite");
    };
    let beyond = || count.checked_add(1).ok_or_else(|| out_of_range("integer"));
    let rising = match low.compare(&high) {
        Ordering::Equal => return error("lower bound cannot equal upper bound"),
        order => order.is_lt(),
    };
    let before = |x: Ordering| if rising { x.is_lt() } else { x.is_gt() };
    if before(operand.compare(&low)) {
        return Ok(Datum::Int4(0));
    }
    if !before(operand.compare(&high)) {
        return Ok(Datum::Int4(beyond()?));
    }
    let Some(number) = operand.finite() else { return Ok(Datum::Int4(beyond()?)) };
    let (low, high, number) =
        (low_number.to_decimal(), high_number.to_decimal(), number.to_decimal());
    let into = number.subtract(&low).absolute();
    let width = high.subtract(&low).absolute();
    let scaled = into.multiply(&Decimal::from_i128(i128::from(count)));
    let bucket = scaled.divide(&width, 0, Rounding::Truncate).add(&Decimal::from_i128(1));
    let bucket = bucket.to_i128().and_then(|bucket| i32::try_from(bucket).ok());
    Ok(Datum::Int4(bucket.ok_or_else(|| out_of_range("integer"))?))
}

fn finite_or_null<'a>(argument: &Datum<'a>, f: impl FnOnce(&Decimal) -> Datum<'a>) -> Datum<'a> {
    view(argument).finite().map_or(Datum::Null, |number| f(&number.to_decimal()))
}

/// The decimals that are not trailing zeros.
fn least_scale(number: &Decimal) -> i32 {
    let Some(&last) = number.digits.last() else { return 0 };
    let mut scale = (number.digits.len() as i32 - number.weight - 1) * 4;
    let mut last = last;
    while scale > 0 && last % 10 == 0 {
        last /= 10;
        scale -= 1;
    }
    scale.max(0)
}

fn trim_scale<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    map_finite(context, &a[0], |x| {
        let scale = least_scale(&x);
        x.with_scale(scale)
    })
}

fn gcd(x: &Decimal, y: &Decimal) -> Decimal {
    let scale = x.scale.max(y.scale);
    let (mut a, mut b) = (x.clone().absolute(), y.clone().absolute());
    while !b.is_zero() {
        let rest = a.remainder(&b);
        a = std::mem::replace(&mut b, rest);
    }
    a.with_scale(scale)
}

fn greatest_common_divisor<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (Some(x), Some(y)) = (view(&a[0]).finite(), view(&a[1]).finite()) else {
        return Ok(Datum::Numeric(NAN));
    };
    Ok(Datum::Numeric(store(context.arena, gcd(&x.to_decimal(), &y.to_decimal()))?))
}

fn least_common_multiple<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (Some(x), Some(y)) = (view(&a[0]).finite(), view(&a[1]).finite()) else {
        return Ok(Datum::Numeric(NAN));
    };
    let (x, y) = (x.to_decimal(), y.to_decimal());
    let scale = x.scale.max(y.scale);
    if x.is_zero() || y.is_zero() {
        return Ok(Datum::Numeric(store(context.arena, Decimal::zero(scale))?));
    }
    let part = x.divide(&gcd(&x, &y), 0, Rounding::Truncate);
    let product = part.multiply(&y).absolute().with_scale(scale);
    Ok(Datum::Numeric(store(context.arena, product)?))
}

fn factorial<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let n = a[0].int8();
    if n < 0 {
        return Err(SqlError::new(
            SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
            "factorial of a negative number is undefined",
        ));
    }
    if n > 32177 {
        return Err(super::overflow());
    }
    let product = (2..=n).fold(Decimal::from_i128(1), |product, factor| {
        product.multiply(&Decimal::from_i128(i128::from(factor)))
    });
    Ok(Datum::Numeric(store(context.arena, product)?))
}

/// A float rounded to the decimal digits it is good for.
fn from_float(arena: &Bump, value: f64, digits: usize) -> Result<Datum<'_>> {
    let number = if value.is_nan() {
        Number::Nan
    } else if value.is_infinite() {
        if value > 0.0 { Number::Infinity } else { Number::NegativeInfinity }
    } else {
        let mut shown = Vec::new();
        if digits == 6 {
            crate::float::write_f32(value as f32, 0, &mut shown);
        } else {
            crate::float::write_f64(value, 0, &mut shown);
        }
        let shown = std::str::from_utf8(&shown).expect("digits are ASCII");
        Number::Finite(Decimal::read(shown)?.expect("a finite float prints as a number"))
    };
    Ok(Datum::Numeric(number.store(arena)))
}

fn integer<T>(argument: &Datum<'_>, name: &str, fit: impl Fn(i128) -> Option<T>) -> Result<T> {
    let value = match view(argument) {
        View::Finite(number) => number.to_decimal().to_i128(),
        View::Nan => {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("cannot convert NaN to {name}"),
            ));
        }
        View::Infinity | View::NegativeInfinity => {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("cannot convert infinity to {name}"),
            ));
        }
    };
    value.and_then(fit).ok_or_else(|| out_of_range(name))
}

/// The nearest bigint.
pub(crate) fn to_bigint(argument: &Datum<'_>) -> Result<i64> {
    integer(argument, "bigint", |value| i64::try_from(value).ok())
}

/// The nearest double.
pub fn to_float(argument: &Datum<'_>) -> Result<f64> {
    Ok(match view(argument) {
        View::Nan => f64::NAN,
        View::Infinity => f64::INFINITY,
        View::NegativeInfinity => f64::NEG_INFINITY,
        View::Finite(number) => {
            let value = number.to_decimal().to_f64();
            if value.is_infinite() || value == 0.0 && !number.is_empty() {
                return Err(no_float(&shown(argument), "double precision"));
            }
            value
        }
    })
}

/// The nearest real. The digits are read as one: a double between would be rounded a second time.
fn to_real(argument: &Datum<'_>) -> Result<f32> {
    Ok(match view(argument) {
        View::Nan => f32::NAN,
        View::Infinity => f32::INFINITY,
        View::NegativeInfinity => f32::NEG_INFINITY,
        View::Finite(number) => {
            let digits = shown(argument);
            let value: f32 = digits.parse().unwrap_or(f32::INFINITY);
            if value.is_infinite() || value == 0.0 && !number.is_empty() {
                return Err(no_float(&digits, "real"));
            }
            value
        }
    })
}

fn shown(number: &Datum<'_>) -> String {
    let mut text = Vec::new();
    text::write(number.numeric(), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// 22003: too large, or so small that nothing but zero would be left of it.
#[cold]
fn no_float(shown: &str, type_name: &str) -> SqlError {
    SqlError::new(
        SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
        format!("\"{shown}\" is out of range for type {type_name}"),
    )
}
