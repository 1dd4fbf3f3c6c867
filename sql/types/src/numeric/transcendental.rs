//! Square root, exponential, logarithm and power, with PostgreSQL's result scales.
//!
//! PostgreSQL: `sqrt_var`, `exp_var`, `ln_var`, `log_var`, `power_var`, `power_var_int`, `estimate_ln_dweight`. The scales are
//! computed as there, bit by bit, since they show. The digits are our own way ([`fixed`]), with guard digits and one rounding at
//! the end.

use super::decimal::{DIGITS, Decimal, Rounding};
use super::{CHOSEN_SCALE_MAX, SIGNIFICANT_DIGITS, fixed, overflow};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::f64::consts::LOG10_E;

/// Digits carried beyond what is asked for.
const GUARD: i32 = 10;
/// Results beyond 10 to this power are not attempted.
const RESULT_SCALE_MAX: f64 = 2000.0;

fn one() -> Decimal {
    Decimal::from_i128(1)
}

fn chosen(scale: i32, operand_scales: &[i32]) -> i32 {
    operand_scales.iter().fold(scale, |a, &b| a.max(b)).clamp(0, CHOSEN_SCALE_MAX)
}

/// Rounded to about `digits` significant decimal digits.
fn significant(number: Decimal, digits: i32) -> Decimal {
    let scale = digits - (number.weight + 1) * DIGITS;
    if scale < number.scale { number.rounded(scale) } else { number }
}

impl Decimal {
    /// The scale of its square root.
    fn root_scale(&self) -> i32 {
        let weight = (self.weight + 1) * DIGITS / 2 - 1;
        chosen(SIGNIFICANT_DIGITS - weight, &[self.scale])
    }

    /// Its square root.
    ///
    /// # Errors
    /// 2201F.
    pub fn square_root(&self) -> Result<Decimal> {
        self.root_at(self.root_scale())
    }

    /// Its square root to `scale` decimals.
    ///
    /// # Errors
    /// 2201F.
    pub fn root_at(&self, scale: i32) -> Result<Decimal> {
        if self.negative {
            return Err(SqlError::new(
                SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                "cannot take square root of a negative number",
            ));
        }
        if self.is_zero() {
            return Ok(Decimal::zero(scale));
        }
        Ok(fixed::root(self, scale))
    }

    /// The decimal weight of its natural logarithm, about.
    fn ln_weight(&self) -> i32 {
        if self.negative || self.is_zero() {
            return 0;
        }
        let hundredths = |tenths: i128| {
            Decimal::from_i128(tenths).divide(&Decimal::from_i128(10), 1, Rounding::Nearest)
        };
        if self.compare(&hundredths(9)).is_ge() && self.compare(&hundredths(11)).is_le() {
            let distance = self.subtract(&one());
            return match distance.digits.first() {
                Some(&first) => distance.weight * DIGITS + f64::from(first).log10() as i32,
                None => 0,
            };
        }
        let mut weight = self.weight * DIGITS;
        let mut lead = f64::from(self.digits[0]);
        if let Some(&second) = self.digits.get(1) {
            lead = lead * 10_000.0 + f64::from(second);
            weight -= DIGITS;
        }
        let ln = lead.ln() + f64::from(weight) * std::f64::consts::LN_10;
        ln.abs().log10() as i32
    }

    /// Its natural logarithm.
    ///
    /// # Errors
    /// 2201E.
    pub fn natural_logarithm(&self) -> Result<Decimal> {
        self.ln_at(chosen(SIGNIFICANT_DIGITS - self.ln_weight(), &[self.scale]))
    }

    fn ln_at(&self, scale: i32) -> Result<Decimal> {
        if self.is_zero() {
            return Err(SqlError::new(
                SqlState::INVALID_ARGUMENT_FOR_LOGARITHM,
                "cannot take logarithm of zero",
            ));
        }
        if self.negative {
            return Err(SqlError::new(
                SqlState::INVALID_ARGUMENT_FOR_LOGARITHM,
                "cannot take logarithm of a negative number",
            ));
        }
        Ok(fixed::ln(self, scale))
    }

    /// e to its power.
    ///
    /// # Errors
    /// 22003.
    pub fn exponential(&self) -> Result<Decimal> {
        let weight = (self.to_f64() * LOG10_E).clamp(-RESULT_SCALE_MAX, RESULT_SCALE_MAX);
        self.exp_at(chosen(SIGNIFICANT_DIGITS - weight as i32, &[self.scale]))
    }

    fn exp_at(&self, scale: i32) -> Result<Decimal> {
        let estimate = self.to_f64();
        if estimate.abs() >= RESULT_SCALE_MAX * 3.0 {
            return if estimate > 0.0 { Err(overflow()) } else { Ok(Decimal::zero(scale)) };
        }
        Ok(fixed::exp(self, scale))
    }

    /// Its logarithm to a base.
    ///
    /// # Errors
    /// 2201E; 22012 for base 1.
    pub fn logarithm(&self, base: &Decimal) -> Result<Decimal> {
        let (base_weight, number_weight) = (base.ln_weight(), self.ln_weight());
        let weight = number_weight - base_weight;
        let scale = chosen(SIGNIFICANT_DIGITS - weight, &[base.scale, self.scale]);
        let base_ln = base.ln_at((scale + weight - base_weight + 8).max(0))?;
        let number_ln = self.ln_at((scale + weight - number_weight + 8).max(0))?;
        if base_ln.is_zero() {
            return Err(crate::failure::division_by_zero());
        }
        Ok(number_ln.divide(&base_ln, scale, Rounding::Nearest))
    }

    /// It to the power of `exponent`.
    ///
    /// # Errors
    /// 2201F, 22003, 22012.
    pub fn power(&self, exponent: &Decimal) -> Result<Decimal> {
        if self.is_zero() && exponent.negative {
            return Err(SqlError::new(
                SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                "zero raised to a negative power is undefined",
            ));
        }
        if exponent.is_integer()
            && let Some(whole) = exponent.to_i128().and_then(|whole| i32::try_from(whole).ok())
        {
            return self.power_integer(whole);
        }
        if self.is_zero() {
            return Ok(Decimal::zero(SIGNIFICANT_DIGITS));
        }
        let mut base = self.clone();
        let mut negative = false;
        if self.negative {
            if !exponent.is_integer() {
                return Err(SqlError::new(
                    SqlState::INVALID_ARGUMENT_FOR_POWER_FUNCTION,
                    "a negative number raised to a non-integer power yields a complex result",
                ));
            }
            let last = exponent.digits.len() as i32 == exponent.weight + 1;
            negative = last && exponent.digits.last().is_some_and(|digit| digit % 2 == 1);
            base = base.absolute();
        }
        let ln_weight = base.ln_weight();
        let rough = base.ln_at((8 - ln_weight).clamp(0, CHOSEN_SCALE_MAX))?.multiply(exponent);
        let estimate = rough.to_f64();
        if estimate.abs() > RESULT_SCALE_MAX * 3.01 {
            return if estimate > 0.0 {
                Err(overflow())
            } else {
                Ok(Decimal::zero(CHOSEN_SCALE_MAX))
            };
        }
        let weight = (estimate * LOG10_E) as i32;
        let scale = chosen(SIGNIFICANT_DIGITS - weight, &[self.scale, exponent.scale]);
        let ln_scale = ((scale + weight).max(0) - ln_weight + 8).max(0);
        let extra = (exponent.weight + 1).max(0) * DIGITS;
        let product = base.ln_at(ln_scale + extra)?.multiply_at(exponent, ln_scale + GUARD);
        let result = product.exp_at(scale)?;
        Ok(if negative { result.negated() } else { result })
    }

    fn power_integer(&self, exponent: i32) -> Result<Decimal> {
        /// (SHRT_MAX + 1) * 4.
        const WEIGHT_LIMIT: f64 = 131_072.0;
        let mut estimate = 0.0;
        if let Some((&first, rest)) = self.digits.split_first() {
            let (mut lead, mut power) = (f64::from(first), self.weight * DIGITS);
            for &digit in rest.iter().take(3) {
                lead = lead * 10_000.0 + f64::from(digit);
                power -= DIGITS;
            }
            estimate = f64::from(exponent) * (lead.log10() + f64::from(power));
        }
        if estimate > WEIGHT_LIMIT {
            return Err(overflow());
        }
        let weight = estimate as i32;
        // Unlike elsewhere the weight does not lower the scale: 2 to the 6th shows 16 decimals.
        let scale = chosen(SIGNIFICANT_DIGITS, &[self.scale]);
        if estimate + 1.0 < -f64::from(scale) {
            return Ok(Decimal::zero(scale));
        }
        match exponent {
            0 => return Ok(one().with_scale(scale)),
            1 => return Ok(self.clone().rounded(scale)),
            -1 => return Ok(one().divide(self, scale, Rounding::Nearest)),
            2 => return Ok(self.multiply_at(self, scale)),
            _ => {}
        }
        if self.is_zero() {
            return Ok(Decimal::zero(scale));
        }
        let bits = (f64::from(exponent.unsigned_abs()).ln() as i32) + 8;
        let digits = (1 + scale + weight).max(0) + bits + GUARD;
        let mut rest = exponent.unsigned_abs();
        let (mut square, mut result) = (self.clone(), one());
        loop {
            if rest & 1 == 1 {
                result = significant(result.multiply(&square), digits);
            }
            rest >>= 1;
            if rest == 0 {
                break;
            }
            square = significant(square.multiply(&square), digits);
            if square.weight > 0x7fff || result.weight > 0x7fff {
                return if exponent > 0 { Err(overflow()) } else { Ok(Decimal::zero(scale)) };
            }
        }
        if exponent < 0 {
            return Ok(one().divide(&result, scale, Rounding::Nearest));
        }
        result.rounded(scale).checked()
    }
}
