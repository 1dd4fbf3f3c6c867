//! Decimal arithmetic digit by digit: the four operations, rounding, comparison.
//!
//! PostgreSQL: `add_var`, `sub_var`, `mul_var`, `div_var`, `round_var`, `select_div_scale`. Numbers are kept in normal form
//! (no zero digits at either end, zero is positive with weight 0); the display scale is carried apart. Multiplication is
//! the schoolbook's, division is Knuth's algorithm D over base 10⁴.

use super::{CHOSEN_SCALE_MAX, SCALE_MAX, SIGNIFICANT_DIGITS, WEIGHT_MAX, overflow};
use crate::account;
use crate::error::Result;
use std::cmp::Ordering;

/// The base of a digit.
pub const BASE: u32 = 10_000;
/// Decimal digits in a digit.
pub const DIGITS: i32 = 4;

/// A finite number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decimal {
    /// Below zero.
    pub negative: bool,
    /// The power of 10⁴ of the first digit.
    pub weight: i32,
    /// Decimals shown; there may be fewer digits, never more.
    pub scale: i32,
    /// Base-10⁴ digits, most significant first.
    pub digits: Vec<u16>,
}

/// From how many digits on it is asked between two rows of products whether to stop.
const LONG: usize = 1024;

/// How [`Decimal::at_scale`] treats what it cuts off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties away from zero.
    Nearest,
    /// Towards zero.
    Truncate,
}

impl Decimal {
    /// Zero with a scale.
    #[must_use]
    pub fn zero(scale: i32) -> Decimal {
        Decimal { scale, ..Decimal::default() }
    }

    /// An integer.
    #[must_use]
    pub fn from_i128(value: i128) -> Decimal {
        let mut rest = value.unsigned_abs();
        let mut digits = Vec::new();
        while rest > 0 {
            digits.push((rest % u128::from(BASE)) as u16);
            rest /= u128::from(BASE);
        }
        digits.reverse();
        let weight = digits.len() as i32 - 1;
        Decimal { negative: value < 0, weight, scale: 0, digits }.normal()
    }

    /// Whether it is zero.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// The same with another display scale and no change of digits: the caller knows that none is cut off.
    #[must_use]
    pub fn with_scale(mut self, scale: i32) -> Decimal {
        self.scale = scale;
        self
    }

    /// Brings it into normal form.
    #[must_use]
    pub fn normal(mut self) -> Decimal {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        let zeros = self.digits.iter().take_while(|&&digit| digit == 0).count();
        if zeros > 0 {
            self.digits.drain(..zeros);
            self.weight -= zeros as i32;
        }
        if self.digits.is_empty() {
            self.negative = false;
            self.weight = 0;
        }
        self
    }

    /// Itself if it is within numeric's limits, rounded to 16383 decimals.
    ///
    /// # Errors
    /// 22003.
    pub fn checked(self) -> Result<Decimal> {
        let number = if self.scale > SCALE_MAX { self.rounded(SCALE_MAX) } else { self };
        if number.weight > WEIGHT_MAX {
            return Err(overflow());
        }
        Ok(number)
    }

    /// -x.
    #[must_use]
    pub fn negated(mut self) -> Decimal {
        self.negative = !self.negative && !self.is_zero();
        self
    }

    /// |x|.
    #[must_use]
    pub fn absolute(mut self) -> Decimal {
        self.negative = false;
        self
    }

    /// Compares magnitudes.
    #[must_use]
    pub fn compare_absolute(&self, other: &Decimal) -> Ordering {
        match (self.is_zero(), other.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => {
                self.weight.cmp(&other.weight).then_with(|| self.digits.cmp(&other.digits))
            }
        }
    }

    /// Compares values.
    #[must_use]
    pub fn compare(&self, other: &Decimal) -> Ordering {
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => self.compare_absolute(other),
            (true, true) => other.compare_absolute(self),
        }
    }

    /// The digit that stands for 10⁴ to the power `power`.
    fn digit(&self, power: i32) -> i32 {
        let index = self.weight - power;
        usize::try_from(index).ok().and_then(|i| self.digits.get(i)).map_or(0, |&d| i32::from(d))
    }

    /// The power of the last digit.
    fn lowest(&self) -> i32 {
        self.weight - self.digits.len() as i32 + 1
    }

    /// x + y, its scale the greater of both.
    #[must_use]
    pub fn add(&self, other: &Decimal) -> Decimal {
        let scale = self.scale.max(other.scale);
        if self.is_zero() {
            return other.clone().with_scale(scale);
        }
        if other.is_zero() {
            return self.clone().with_scale(scale);
        }
        let (large, small) = match self.compare_absolute(other) {
            Ordering::Less => (other, self),
            Ordering::Equal | Ordering::Greater => (self, other),
        };
        let sign = if large.negative == small.negative { 1 } else { -1 };
        let (top, bottom) = (large.weight + 1, large.lowest().min(small.lowest()));
        let mut digits = vec![0u16; (top - bottom + 1) as usize];
        let mut carry = 0;
        for (place, power) in digits.iter_mut().rev().zip(bottom..=top) {
            let sum = large.digit(power) + sign * small.digit(power) + carry;
            carry = sum.div_euclid(BASE as i32);
            *place = sum.rem_euclid(BASE as i32) as u16;
        }
        Decimal { negative: large.negative, weight: top, scale, digits }.normal()
    }

    /// x - y, its scale the greater of both.
    #[must_use]
    pub fn subtract(&self, other: &Decimal) -> Decimal {
        self.add(&other.clone().negated())
    }

    /// x * y exactly, its scale the sum of both.
    #[must_use]
    pub fn multiply(&self, other: &Decimal) -> Decimal {
        let scale = self.scale + other.scale;
        if self.is_zero() || other.is_zero() {
            return Decimal::zero(scale);
        }
        let (long, short) = if self.digits.len() >= other.digits.len() {
            (&self.digits, &other.digits)
        } else {
            (&other.digits, &self.digits)
        };
        // Each place sums at most 32768 * 4 products below 10⁸: far inside 64 bits.
        let mut sums = vec![0u64; long.len() + short.len()];
        for (i, &a) in short.iter().enumerate().filter(|(_, digit)| **digit != 0) {
            if long.len() >= LONG {
                account::insist();
            }
            for (j, &b) in long.iter().enumerate() {
                sums[i + j + 1] += u64::from(a) * u64::from(b);
            }
        }
        let mut carry = 0;
        let mut digits = vec![0u16; sums.len()];
        for (place, sum) in digits.iter_mut().zip(&sums).rev() {
            let sum = sum + carry;
            carry = sum / u64::from(BASE);
            *place = (sum % u64::from(BASE)) as u16;
        }
        Decimal {
            negative: self.negative != other.negative,
            weight: self.weight + other.weight + 1,
            scale,
            digits,
        }
        .normal()
    }

    /// x * y rounded to `scale` decimals.
    #[must_use]
    pub fn multiply_at(&self, other: &Decimal, scale: i32) -> Decimal {
        self.multiply(other).rounded(scale)
    }

    /// x / y to `scale` decimals. `other` is not zero.
    #[must_use]
    pub fn divide(&self, other: &Decimal, scale: i32, rounding: Rounding) -> Decimal {
        debug_assert!(!other.is_zero(), "the caller has reported the division by zero");
        if self.is_zero() {
            return Decimal::zero(scale);
        }
        // Enough quotient digits for `scale` decimals and one more digit, which decides the rounding: what division leaves
        // over cannot, since a tie would have shown in it.
        let quotient_weight = self.weight - other.weight;
        let count = quotient_weight + 1 + (scale + DIGITS - 1).div_euclid(DIGITS) + 1;
        if count <= 0 {
            return Decimal::zero(scale);
        }
        let wanted = count as usize + other.digits.len();
        let mut dividend: Vec<u32> = self.digits.iter().map(|&d| u32::from(d)).collect();
        dividend.resize(wanted, 0);
        let quotient = divide_digits(dividend, &other.digits);
        Decimal {
            negative: self.negative != other.negative,
            weight: quotient_weight,
            scale: i32::MAX,
            digits: quotient,
        }
        .normal()
        .at_scale(scale, rounding)
    }

    /// Rounded to `scale` decimals; negative ones round before the point, and show none.
    #[must_use]
    pub fn rounded(self, scale: i32) -> Decimal {
        self.at_scale(scale, Rounding::Nearest)
    }

    /// Cut off after `scale` decimals.
    #[must_use]
    pub fn truncated(self, scale: i32) -> Decimal {
        self.at_scale(scale, Rounding::Truncate)
    }

    /// With exactly `scale` decimals.
    #[must_use]
    pub fn at_scale(mut self, scale: i32, rounding: Rounding) -> Decimal {
        self.scale = scale.max(0);
        // How many decimal digits are left, counted from the first base-10⁴ digit's first.
        let kept = i64::from(self.weight + 1) * i64::from(DIGITS) + i64::from(scale);
        if kept < 0 || self.is_zero() {
            return Decimal::zero(self.scale);
        }
        let (whole, part) = ((kept / 4) as usize, (kept % 4) as u32);
        if whole >= self.digits.len() {
            return self;
        }
        let unit = 10u16.pow(4 - part) % BASE as u16;
        let cut = self.digits[whole];
        let up;
        if part == 0 {
            up = cut >= 5000;
            self.digits.truncate(whole);
        } else {
            let rest = cut % unit;
            up = rest >= unit / 2;
            self.digits.truncate(whole + 1);
            self.digits[whole] = cut - rest;
        }
        if up && rounding == Rounding::Nearest {
            let mut carry = if part == 0 { 1 } else { unit };
            for digit in self.digits.iter_mut().rev() {
                let sum = *digit + carry;
                carry = sum / BASE as u16;
                *digit = sum % BASE as u16;
                if carry == 0 {
                    break;
                }
            }
            if carry > 0 {
                self.digits.insert(0, carry);
                self.weight += 1;
            }
        }
        self.normal()
    }

    /// The scale that PostgreSQL gives x / y.
    #[must_use]
    pub fn division_scale(&self, other: &Decimal) -> i32 {
        let first = |d: &Decimal| d.digits.first().copied().unwrap_or(0);
        let mut weight = self.weight - other.weight;
        if first(self) <= first(other) {
            weight -= 1;
        }
        (SIGNIFICANT_DIGITS - weight * DIGITS)
            .max(self.scale)
            .max(other.scale)
            .clamp(0, CHOSEN_SCALE_MAX)
    }

    /// The remainder of the division that truncates: the sign is x's. `other` is not zero.
    #[must_use]
    pub fn remainder(&self, other: &Decimal) -> Decimal {
        let quotient = self.divide(other, 0, Rounding::Truncate);
        let product = quotient.multiply(other).with_scale(other.scale);
        self.subtract(&product)
    }

    /// Whether it has no decimals other than zeros.
    #[must_use]
    pub fn is_integer(&self) -> bool {
        self.digits.len() as i32 <= self.weight + 1
    }

    /// The integer it is when rounded, if that fits.
    #[must_use]
    pub fn to_i128(&self) -> Option<i128> {
        let rounded = self.clone().rounded(0);
        let mut value: i128 = 0;
        for power in (0..=rounded.weight.max(0)).rev() {
            value = value.checked_mul(i128::from(BASE))?;
            value = value.checked_sub(i128::from(rounded.digit(power)))?;
        }
        if rounded.negative { Some(value) } else { value.checked_neg() }
    }

    /// Its nearest double.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        /// The powers of ten that a double has exactly.
        const POWERS: [f64; 23] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
            1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
        ];
        // Of two numbers that doubles have exactly the quotient, or the product, is rounded once (Clinger 1990).
        let unit = (self.weight - self.digits.len() as i32 + 1) * DIGITS;
        let digits = self.digits.iter();
        let power = POWERS.get(unit.unsigned_abs() as usize).filter(|_| self.digits.len() <= 4);
        let value =
            digits.take(4).fold(0u64, |sum, &digit| sum * u64::from(BASE) + u64::from(digit));
        if let Some(power) = power.filter(|_| value < 1 << 53) {
            let value = if unit < 0 { value as f64 / power } else { value as f64 * power };
            return if self.negative { -value } else { value };
        }
        let mut text = Vec::new();
        // All digits count, shown or not.
        let all = (self.digits.len() as i32 - self.weight - 1) * DIGITS;
        self.clone().with_scale(self.scale.max(all)).write(&mut text);
        std::str::from_utf8(&text).ok().and_then(|text| text.parse().ok()).unwrap_or(f64::NAN)
    }
}

/// Knuth, TAOCP 2, 4.3.1, algorithm D in base 10⁴: `dividend.len() - divisor.len() + 1` digits of the quotient.
fn divide_digits(mut dividend: Vec<u32>, divisor: &[u16]) -> Vec<u16> {
    let n = divisor.len();
    let count = dividend.len() - n + 1;
    if n == 1 {
        let (mut rest, by) = (0u32, u32::from(divisor[0]));
        let quotient = dividend.iter().map(|&digit| {
            let value = rest * BASE + digit;
            rest = value % by;
            (value / by) as u16
        });
        return quotient.collect();
    }
    // D1: scale both so that the divisor's first digit is at least half the base.
    let scale = BASE / (u32::from(divisor[0]) + 1);
    let mut carry = 0;
    for digit in dividend.iter_mut().rev() {
        let value = *digit * scale + carry;
        *digit = value % BASE;
        carry = value / BASE;
    }
    dividend.insert(0, carry);
    let mut by: Vec<u32> = divisor.iter().map(|&digit| u32::from(digit)).collect();
    let mut carry = 0;
    for digit in by.iter_mut().rev() {
        let value = *digit * scale + carry;
        *digit = value % BASE;
        carry = value / BASE;
    }
    let mut quotient = Vec::with_capacity(count);
    for j in 0..count {
        if n >= LONG || j % LONG == LONG - 1 {
            account::insist();
        }
        // D3: guess from two digits, correct by the third.
        let top = dividend[j] * BASE + dividend[j + 1];
        let (mut guess, mut rest) = (top / by[0], top % by[0]);
        while guess >= BASE || guess * by[1] > rest * BASE + dividend[j + 2] {
            guess -= 1;
            rest += by[0];
            if rest >= BASE {
                break;
            }
        }
        // D4: subtract; D6: one time in 5000 the guess was one too high.
        let mut borrow: i64 = 0;
        for i in (0..n).rev() {
            let value =
                i64::from(dividend[j + i + 1]) - i64::from(guess) * i64::from(by[i]) + borrow;
            dividend[j + i + 1] = value.rem_euclid(i64::from(BASE)) as u32;
            borrow = value.div_euclid(i64::from(BASE));
        }
        let value = i64::from(dividend[j]) + borrow;
        dividend[j] = value.rem_euclid(i64::from(BASE)) as u32;
        if value < 0 {
            guess -= 1;
            let mut carry = 0;
            for i in (0..n).rev() {
                let sum = dividend[j + i + 1] + by[i] + carry;
                dividend[j + i + 1] = sum % BASE;
                carry = sum / BASE;
            }
            dividend[j] = (dividend[j] + carry) % BASE;
        }
        quotient.push(guess as u16);
    }
    quotient
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decimal(value: i128, scale: i32) -> Decimal {
        let unit = Decimal::from_i128(10i128.pow(scale as u32));
        Decimal::from_i128(value).divide(&unit, scale, Rounding::Nearest)
    }

    proptest! {
        /// Against 128-bit integers as the model.
        #[test]
        fn operations_agree_with_integers(a in -10i128.pow(15)..10i128.pow(15), b in -10i128.pow(15)..10i128.pow(15)) {
            let (x, y) = (Decimal::from_i128(a), Decimal::from_i128(b));
            prop_assert_eq!(x.add(&y), Decimal::from_i128(a + b));
            prop_assert_eq!(x.subtract(&y), Decimal::from_i128(a - b));
            prop_assert_eq!(x.multiply(&y), Decimal::from_i128(a * b));
            prop_assert_eq!(x.compare(&y), a.cmp(&b));
            prop_assert_eq!(x.to_i128(), Some(a));
            if b != 0 {
                prop_assert_eq!(x.divide(&y, 0, Rounding::Truncate), Decimal::from_i128(a / b));
                prop_assert_eq!(x.remainder(&y), Decimal::from_i128(a % b));
            }
        }

        /// A quotient times the divisor gives the dividend back, however long both are.
        #[test]
        fn division_inverts_multiplication(
            a in proptest::collection::vec(0u16..10_000, 1..40),
            b in proptest::collection::vec(0u16..10_000, 1..20),
        ) {
            let number = |digits: Vec<u16>| {
                Decimal { negative: false, weight: digits.len() as i32 - 1, scale: 0, digits }.normal()
            };
            let (x, y) = (number(a), number(b));
            prop_assume!(!y.is_zero());
            let product = x.multiply(&y);
            prop_assert_eq!(product.divide(&y, 0, Rounding::Truncate), x);
        }

        #[test]
        fn rounding_agrees_with_integers(a in -10i128.pow(20)..10i128.pow(20), scale in 0i32..12, to in 0i32..12) {
            let x = decimal(a, scale);
            let expected = if to >= scale {
                x.clone()
            } else {
                let unit = 10i128.pow((scale - to) as u32);
                decimal((a.abs() + unit / 2) / unit * a.signum(), to)
            };
            prop_assert_eq!(x.rounded(to).with_scale(0), expected.with_scale(0));
        }
    }
}
