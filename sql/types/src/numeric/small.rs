//! numeric as one 128-bit integer and a scale: what nearly all values of nearly all tables are.
//!
//! Every operation gives `None` where it cannot be exact in 128 bits, and [`super::decimal`] takes over. Nothing here touches
//! the heap but for the result in the arena.

use super::stored::{Finite, View, head};
use super::{CHOSEN_SCALE_MAX, SIGNIFICANT_DIGITS};
use bumpalo::Bump;
use std::cmp::Ordering;

/// Decimals up to which a number counts as small.
const SCALE_MAX: u32 = 28;
/// Base-10⁴ digits of a small number, at most.
const DIGITS_MAX: usize = 12;
/// Bytes that one is stored in, at most.
pub const STORED_BYTES_MAX: usize = 4 + 2 * DIGITS_MAX;

/// `mantissa / 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Small {
    /// All its digits.
    pub mantissa: i128,
    /// Decimals.
    pub scale: u32,
}

fn power(exponent: u32) -> Option<i128> {
    const POWERS: [i128; 39] = {
        let mut table = [1i128; 39];
        let mut i = 1;
        while i < 39 {
            table[i] = table[i - 1] * 10;
            i += 1;
        }
        table
    };
    POWERS.get(exponent as usize).copied()
}

/// A quotient and what is left: of a word, as most are, by the processor's own division.
#[inline]
fn divided(number: u128, by: u64) -> (u128, u64) {
    match u64::try_from(number) {
        Ok(word) => (u128::from(word / by), word % by),
        Err(_) => (number / u128::from(by), (number % u128::from(by)) as u64),
    }
}

impl Small {
    /// A stored number, if it is small.
    #[must_use]
    pub fn of(view: View<'_>) -> Option<Small> {
        Small::of_finite(view.finite()?)
    }

    fn of_finite(number: Finite<'_>) -> Option<Small> {
        let scale = u32::from(number.scale);
        let count = number.len() as i32;
        let weight = i32::from(number.weight);
        // 28 digits before the point and 8 more behind, or the like: at most 36 in all.
        if scale > SCALE_MAX || count > 8 || !(-7..=6).contains(&weight) {
            return None;
        }
        if count <= 4 && weight < 4 && scale <= 4 {
            return Small::of_word(number, scale);
        }
        let mut mantissa: i128 = 0;
        for digit in number.digits() {
            mantissa = mantissa * 10_000 + i128::from(digit);
        }
        // The last digit stands for 10^(4 * lowest); the mantissa is to count 10^-scale.
        let lowest = (weight - count + 1) * 4;
        let shift = lowest + scale as i32;
        mantissa = if shift >= 0 {
            mantissa.checked_mul(power(shift as u32)?)?
        } else {
            mantissa / power(shift.unsigned_abs())?
        };
        Some(Small { mantissa: if number.negative { -mantissa } else { mantissa }, scale })
    }

    /// The commonest case in 64 bits: at most 16 digits before the point and 4 behind (4 + 16 digits < 2^63 is not given,
    /// so at most 4 base-10⁴ digits in all).
    fn of_word(number: Finite<'_>, scale: u32) -> Option<Small> {
        let mut mantissa: i64 = 0;
        let mut count = 0;
        for digit in number.digits() {
            mantissa = mantissa * 10_000 + i64::from(digit);
            count += 1;
        }
        let shift = (i32::from(number.weight) - count + 1) * 4 + scale as i32;
        let mantissa = if shift >= 0 {
            i128::from(mantissa) * power(shift as u32)?
        } else {
            i128::from(mantissa / 10_i64.checked_pow(shift.unsigned_abs())?)
        };
        Some(Small { mantissa: if number.negative { -mantissa } else { mantissa }, scale })
    }

    /// The stored form, in the arena.
    #[must_use]
    pub fn store(self, arena: &Bump) -> &[u8] {
        self.stored(|bytes| arena.alloc_slice_fill_copy(bytes, 0u8))
    }

    /// The stored form, at the front of `room`.
    #[must_use]
    pub fn store_into(self, room: &mut [u8; STORED_BYTES_MAX]) -> &[u8] {
        self.stored(|bytes| &mut room[..bytes])
    }

    /// The stored form, in so many bytes as `room` is asked for.
    #[inline]
    fn stored<'r>(self, room: impl FnOnce(usize) -> &'r mut [u8]) -> &'r [u8] {
        let mut digits = [0u16; DIGITS_MAX];
        let mut at = digits.len();
        // Padded so that the point stands between two base-10⁴ digits.
        let padding = (4 - self.scale % 4) % 4;
        let fraction_digits = self.scale.div_ceil(4) as i32;
        let mut lowest = -fraction_digits;
        let mut rest = self.mantissa.unsigned_abs();
        if padding > 0 && rest > 0 {
            let (whole, last) = divided(rest, 10_u64.pow(4 - padding));
            let last = last as u16 * 10u16.pow(padding);
            rest = whole;
            if last > 0 {
                at -= 1;
                digits[at] = last;
            } else {
                lowest += 1;
            }
        }
        while rest > 0 {
            let (whole, digit) = divided(rest, 10_000);
            let digit = digit as u16;
            rest = whole;
            if digit == 0 && at == digits.len() {
                lowest += 1;
                continue;
            }
            at -= 1;
            digits[at] = digit;
        }
        let digits = &digits[at..];
        let weight = if digits.is_empty() { 0 } else { lowest + digits.len() as i32 - 1 };
        let out = room(4 + 2 * digits.len());
        out[..2].copy_from_slice(&head(self.mantissa < 0, self.scale as u16).to_le_bytes());
        out[2..4].copy_from_slice(&(weight as i16).to_le_bytes());
        for (place, digit) in out[4..].chunks_exact_mut(2).zip(digits) {
            place.copy_from_slice(&digit.to_le_bytes());
        }
        out
    }

    /// Both over the greater of both scales.
    fn aligned(self, other: Small) -> Option<(i128, i128, u32)> {
        let raise = |s: Small, by: u32| s.mantissa.checked_mul(power(by)?);
        match self.scale.cmp(&other.scale) {
            Ordering::Equal => Some((self.mantissa, other.mantissa, self.scale)),
            Ordering::Less => {
                Some((raise(self, other.scale - self.scale)?, other.mantissa, other.scale))
            }
            Ordering::Greater => {
                Some((self.mantissa, raise(other, self.scale - other.scale)?, self.scale))
            }
        }
    }

    /// Itself, if it is still small enough to be stored by [`Small::store`].
    fn fitting(self) -> Option<Small> {
        (self.scale <= SCALE_MAX && self.mantissa.unsigned_abs() < 10u128.pow(36)).then_some(self)
    }

    /// x + y.
    #[must_use]
    pub fn plus(self, other: Small) -> Option<Small> {
        let (a, b, scale) = self.aligned(other)?;
        Small { mantissa: a.checked_add(b)?, scale }.fitting()
    }

    /// x - y.
    #[must_use]
    pub fn subtract(self, other: Small) -> Option<Small> {
        let (a, b, scale) = self.aligned(other)?;
        Small { mantissa: a.checked_sub(b)?, scale }.fitting()
    }

    /// x * y.
    #[must_use]
    pub fn multiply(self, other: Small) -> Option<Small> {
        let mantissa = self.mantissa.checked_mul(other.mantissa)?;
        Small { mantissa, scale: self.scale + other.scale }.fitting()
    }

    /// x / y with PostgreSQL's scale; `other` is not zero.
    #[must_use]
    pub fn divide(self, other: Small) -> Option<Small> {
        let (weight, first) = leading(self);
        let (other_weight, other_first) = leading(other);
        let quotient_weight = weight - other_weight - i32::from(first <= other_first);
        let scale = (SIGNIFICANT_DIGITS - quotient_weight * 4)
            .max(self.scale as i32)
            .max(other.scale as i32)
            .clamp(0, CHOSEN_SCALE_MAX) as u32;
        // mantissa/10^s1 / (other/10^s2) * 10^scale
        let shift = scale + other.scale - self.scale;
        let dividend = self.mantissa.checked_mul(power(shift)?)?;
        let (quotient, rest) = (dividend / other.mantissa, dividend % other.mantissa);
        let up = rest.unsigned_abs() >= other.mantissa.unsigned_abs().div_ceil(2) && rest != 0;
        let away = if (dividend < 0) == (other.mantissa < 0) { 1 } else { -1 };
        Small { mantissa: quotient + if up { away } else { 0 }, scale }.fitting()
    }

    /// x rounded to `scale` decimals (`scale` is not negative).
    #[must_use]
    pub fn rounded(self, scale: u32) -> Option<Small> {
        if scale >= self.scale {
            let mantissa = self.mantissa.checked_mul(power(scale - self.scale)?)?;
            return Small { mantissa, scale }.fitting();
        }
        let unit = power(self.scale - scale)?;
        let magnitude = (self.mantissa.abs() + unit / 2) / unit;
        Some(Small { mantissa: magnitude * self.mantissa.signum(), scale })
    }

    /// x as `numeric(precision, scale)` holds it, where it does.
    #[must_use]
    pub fn within(self, precision: i32, scale: i32) -> Option<Small> {
        let rounded = self.rounded(u32::try_from(scale).ok()?)?;
        let limit = power(u32::try_from(precision).ok()?);
        limit.is_none_or(|limit| rounded.mantissa.abs() < limit).then_some(rounded)
    }

    /// Compares values.
    #[must_use]
    pub fn compare(self, other: Small) -> Option<Ordering> {
        let (a, b, _) = self.aligned(other)?;
        Some(a.cmp(&b))
    }
}

/// The weight and the value of the first base-10⁴ digit; both 0 for zero.
fn leading(number: Small) -> (i32, u128) {
    let mut rest = number.mantissa.unsigned_abs();
    if rest == 0 {
        return (0, 0);
    }
    let padding = (4 - number.scale % 4) % 4;
    let mut weight = -(number.scale.div_ceil(4) as i32);
    if rest < 10u128.pow(4 - padding) {
        return (weight, rest * 10u128.pow(padding));
    }
    rest /= 10u128.pow(4 - padding);
    weight += 1;
    while rest >= 10_000 {
        rest /= 10_000;
        weight += 1;
    }
    (weight, rest)
}

#[cfg(test)]
mod tests {
    use super::super::decimal::Rounding;
    use super::super::stored::Number;
    use super::super::text::apply_modifier;
    use super::*;
    use proptest::prelude::*;

    prop_compose! {
        fn small()(digits in 0u32..24)(
            mantissa in -10i128.pow(digits)..=10i128.pow(digits), scale in 0u32..14,
        ) -> Small {
            Small { mantissa, scale }
        }
    }

    proptest! {
        /// The model is `Decimal`: same bytes, or nothing.
        #[test]
        fn agrees_with_decimal(a in small(), b in small(), to in 0u32..14) {
            let arena = Bump::new();
            let (x, y) = (View::of(a.store(&arena)), View::of(b.store(&arena)));
            prop_assert_eq!(Small::of(x), Some(a));
            let (p, q) = (x.finite().expect("finite").to_decimal(), y.finite().expect("finite").to_decimal());
            if let Some(sum) = a.plus(b) {
                prop_assert_eq!(sum.store(&arena), p.add(&q).store(&arena));
            }
            if let Some(difference) = a.subtract(b) {
                prop_assert_eq!(difference.store(&arena), p.subtract(&q).store(&arena));
            }
            if let Some(product) = a.multiply(b) {
                prop_assert_eq!(product.store(&arena), p.multiply(&q).store(&arena));
            }
            prop_assert_eq!(a.rounded(to).expect("small").store(&arena), p.clone().rounded(to as i32).store(&arena));
            let (precision, scale) = (1 + (b.scale as i32 * 3) % 40, to as i32);
            let typmod = (precision << 16 | scale) + 4;
            let limited = apply_modifier(Number::Finite(p.clone()), typmod);
            prop_assert_eq!(
                a.within(precision, scale).map(|limited| limited.store(&arena)),
                limited.ok().map(|limited| limited.store(&arena)),
            );
            prop_assert_eq!(a.compare(b).expect("small"), p.compare(&q));
            prop_assert_eq!(x.compare(&y), p.compare(&q));
            if b.mantissa != 0 && let Some(quotient) = a.divide(b) {
                let exact = p.divide(&q, p.division_scale(&q), Rounding::Nearest);
                prop_assert_eq!(quotient.store(&arena), exact.store(&arena));
            }
        }
    }
}
