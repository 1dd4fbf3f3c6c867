//! Exponential, logarithm and square root of a decimal number, to so many decimals, in binary fixed point.
//!
//! A number is an integer of so many units of 2 to the power of `-bits`. The exponential is Taylor's series after
//! halving, and is squared back; the logarithm is Halley's iteration over it (Brent and Zimmermann, *Modern Computer
//! Arithmetic*, 4.2 and 4.4), which trebles the bits that a double begins with. The error stays below one unit of
//! the guard: results are those of exact arithmetic, rounded once, but where what is cut off is a tie in all digits of the
//! guard. Roots are exact.

use super::decimal::{BASE, DIGITS, Decimal};
use crate::account;
use num_bigint::{BigInt, BigUint, Sign};
use std::cell::RefCell;
use std::f64::consts::{LN_2, LOG2_10};

/// Decimals beyond what is asked for.
const GUARD: i32 = 8;
/// Bits that the roundings of a series and of what is squared back stay within.
const GUARD_BITS: u32 = 24;
/// Bits of a double's logarithm that count on.
const EXACT: u32 = 48;
/// From how many bits on it is asked between two steps whether to stop.
const LONG: u32 = 1 << 12;
/// The bits of ln 2 that a thread begins with: enough for results of fifty digits.
const LN_2_BITS: u32 = 256;

thread_local! {
    /// ln 2, and how many bits of it.
    static LN2: RefCell<(u32, BigInt)> = RefCell::new((LN_2_BITS, ln_2_series(LN_2_BITS)));
}

/// Bits that `decimals` and their guard need. Saturates: there is no memory for as many as that.
fn bits_of(decimals: i32) -> u32 {
    (f64::from(decimals + GUARD) * LOG2_10).max(0.0) as u32 + GUARD_BITS
}

fn power_of_ten(exponent: u32) -> BigUint {
    10u128.checked_pow(exponent).map_or_else(|| BigUint::from(10u32).pow(exponent), BigUint::from)
}

/// The digits as an integer, and the power of 10⁴ of its unit.
fn integer(number: &Decimal) -> (BigUint, i32) {
    let unit = number.weight - number.digits.len() as i32 + 1;
    // Nine digits are 36 decimals.
    let value = if number.digits.len() <= 9 {
        let digits = number.digits.iter();
        BigUint::from(digits.fold(0u128, |sum, &digit| sum * u128::from(BASE) + u128::from(digit)))
    } else {
        let hundreds: Vec<u8> = number
            .digits
            .iter()
            .flat_map(|&digit| [(digit / 100) as u8, (digit % 100) as u8])
            .collect();
        BigUint::from_radix_be(&hundreds, 100).unwrap_or_default()
    };
    (value, unit)
}

/// The magnitude times `10^tens * 2^bits`, cut off.
fn scaled(number: &Decimal, tens: i32, bits: i64) -> BigUint {
    let (mut value, unit) = integer(number);
    let power = unit * DIGITS + tens;
    if power > 0 {
        value *= power_of_ten(power.unsigned_abs());
    }
    if bits > 0 {
        value <<= bits;
    }
    if power < 0 {
        value /= power_of_ten(power.unsigned_abs());
    }
    if bits < 0 { value >> bits.unsigned_abs() } else { value }
}

/// So many of the last of `scale` decimals.
fn decimal(value: &BigUint, scale: i32, negative: bool) -> Decimal {
    // The unit of the last digit is a power of 10⁴.
    let filled = (scale + DIGITS - 1).div_euclid(DIGITS) * DIGITS;
    let value = value * power_of_ten((filled - scale).unsigned_abs());
    let mut hundreds = value.to_radix_le(100);
    if hundreds.len() % 2 == 1 {
        hundreds.push(0);
    }
    let pairs = hundreds.chunks_exact(2).rev();
    let digits: Vec<u16> =
        pairs.map(|pair| u16::from(pair[1]) * 100 + u16::from(pair[0])).collect();
    let weight = digits.len() as i32 - 1 - filled / DIGITS;
    Decimal { negative, weight, scale, digits }.normal()
}

/// `value` units of 2 to the power of `-bits`, rounded to `scale` decimals, half away from zero.
fn rounded(value: &BigInt, bits: i64, scale: i32) -> Decimal {
    let (sign, mut tens) = (value.sign(), value.magnitude() * power_of_ten(scale.unsigned_abs()));
    if bits > 0 {
        let half = BigUint::from(1u32) << (bits - 1);
        tens = (tens + half) >> bits;
    } else {
        tens <<= bits.unsigned_abs();
    }
    decimal(&tens, scale, sign == Sign::Minus)
}

/// ln 2 = 18 artanh(1/26) - 2 artanh(1/4801) + 8 artanh(1/8749).
fn ln_2_series(bits: u32) -> BigInt {
    let working = bits + GUARD_BITS;
    let inverse = |of: u32| {
        let mut power = (BigInt::from(1) << working) / of;
        let (mut sum, mut n) = (BigInt::from(0), 1u32);
        while power.sign() != Sign::NoSign {
            if working > LONG {
                account::insist();
            }
            sum += &power / n;
            power /= of * of;
            n += 2;
        }
        sum
    };
    (inverse(26) * 18 - inverse(4801) * 2 + inverse(8749) * 8) >> GUARD_BITS
}

/// ln 2 to `bits` bits.
fn ln_2(bits: u32) -> BigInt {
    let kept = LN2.with_borrow(|(kept, value)| (*kept >= bits).then(|| value >> (kept - bits)));
    kept.unwrap_or_else(|| {
        let value = ln_2_series(bits);
        LN2.set((bits, value.clone()));
        value
    })
}

/// e to the power of a number between -1 and 1, both of `bits` bits.
fn exp_near(number: &BigInt, bits: u32) -> BigInt {
    // As many halvings as cost what the terms cost that they save.
    let halvings = (f64::from(bits).sqrt() * 0.7) as u32;
    let working = bits + halvings + GUARD_BITS;
    let reduced = (number << (working - bits)) >> halvings;
    let one = BigInt::from(1) << working;
    let (mut sum, mut term, mut n) = (&one + &reduced, reduced.clone(), 2u32);
    // A shift takes a negative term to -1, and never to zero.
    while term.magnitude().bits() > 1 {
        if working > LONG {
            account::insist();
        }
        term = ((term * &reduced) >> working) / n;
        sum += &term;
        n += 1;
    }
    for _ in 0..halvings {
        if working > LONG {
            account::insist();
        }
        sum = (&sum * &sum) >> working;
    }
    sum >> (working - bits)
}

/// The natural logarithm of a number between one half and two, both of `bits` bits.
fn ln_near(number: &BigInt, bits: u32) -> BigInt {
    // The bits of each step, from the last back to those that a double gives.
    let mut steps = vec![bits];
    while let Some(&last) = steps.last().filter(|&&last| last > 3 * EXACT) {
        steps.push(last / 3 + GUARD_BITS);
    }
    let double = number.magnitude() >> bits.saturating_sub(62);
    let double =
        u64::try_from(double).map_or(1.0, |double| double as f64 / (1u64 << bits.min(62)) as f64);
    // The product is below 2⁶³.
    let mut ln = BigInt::from((double.ln() * (1u64 << 62) as f64) as i64);
    let mut exact = 62;
    for &bits_now in steps.iter().rev() {
        ln = if bits_now >= exact { ln << (bits_now - exact) } else { ln >> (exact - bits_now) };
        exact = bits_now;
        let number = number >> (bits - bits_now);
        let power = exp_near(&ln, bits_now);
        ln += ((&number - &power) << (bits_now + 1)) / (number + power);
    }
    ln
}

/// e to the power of `number`, which is no further from zero than some thousands, to `scale` decimals.
pub fn exp(number: &Decimal, scale: i32) -> Decimal {
    let doublings = (number.to_f64() / LN_2).round() as i64;
    // What the doublings add, or take away.
    let bits = (i64::from(bits_of(scale)) + doublings).max(i64::from(GUARD_BITS)) as u32;
    let magnitude = BigInt::from(scaled(number, 0, i64::from(bits)));
    let signed = if number.negative { -magnitude } else { magnitude };
    let turns = (ln_2(bits + GUARD_BITS) * doublings) >> GUARD_BITS;
    let power = exp_near(&(signed - turns), bits);
    rounded(&power, i64::from(bits) - doublings, scale)
}

/// The natural logarithm of `number`, which is above zero, to `scale` decimals.
pub fn ln(number: &Decimal, scale: i32) -> Decimal {
    let bits = bits_of(scale);
    let (value, unit) = integer(number);
    // Within one of the logarithm to the base of two, so that what is left is near one.
    let length = value.bits();
    let lead = u64::try_from(value >> length.saturating_sub(60)).unwrap_or(1) as f64;
    let logarithm =
        lead.log2() + length.saturating_sub(60) as f64 + f64::from(unit * DIGITS) * LOG2_10;
    let doublings = logarithm.round() as i64;
    let near = BigInt::from(scaled(number, 0, i64::from(bits) - doublings));
    let turns = (ln_2(bits + GUARD_BITS) * doublings) >> GUARD_BITS;
    rounded(&(ln_near(&near, bits) + turns), i64::from(bits), scale)
}

/// The square root of a number's magnitude, to `scale` decimals, exactly rounded, half away from zero.
pub fn root(number: &Decimal, scale: i32) -> Decimal {
    // Of four times the number it is twice the root, cut off: what is odd there is a half or more.
    let twice = scaled(number, 2 * scale, 2).sqrt();
    decimal(&((twice + 1u32) >> 1u32), scale, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Decimal {
        Decimal::read(text).unwrap().unwrap()
    }

    fn written(number: &Decimal) -> String {
        let mut text = Vec::new();
        number.write(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn digits_of_constants_are_the_known_ones() {
        assert_eq!(
            written(&ln(&read("2"), 60)),
            "0.693147180559945309417232121458176568075500134360255254120680"
        );
        assert_eq!(
            written(&ln(&read("10"), 60)),
            "2.302585092994045684017991454684364207601101488628772976033328"
        );
        assert_eq!(
            written(&exp(&read("1"), 60)),
            "2.718281828459045235360287471352662497757247093699959574966968"
        );
        assert_eq!(
            written(&root(&read("2"), 60)),
            "1.414213562373095048801688724209698078569671875376948073176680"
        );
        assert_eq!(written(&root(&read("0.0625"), 3)), "0.250");
        assert_eq!(written(&root(&read("0.000625"), 2)), "0.03");
        assert_eq!(written(&exp(&read("0"), 5)), "1.00000");
        assert_eq!(written(&ln(&read("1"), 5)), "0.00000");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        /// More digits begin with fewer, and each function undoes the other.
        #[test]
        fn logarithms_and_powers_undo_one_another(
            digits in proptest::collection::vec(0u16..10_000, 1..30),
            weight in -3i32..4,
            scale in 5i32..400,
        ) {
            let number = Decimal { negative: false, weight, scale: 0, digits }.normal();
            prop_assume!(!number.is_zero());
            let (short, long) = (ln(&number, scale), ln(&number, scale + 300));
            prop_assert_eq!(&short, &long.clone().rounded(scale));
            let unit = read(&format!("1e-{scale}"));
            let near = |a: &Decimal, b: &Decimal| a.subtract(b).compare_absolute(&unit).is_lt();
            prop_assert!(near(&exp(&long, scale), &number));
            let exact = root(&number, scale + 60);
            prop_assert_eq!(root(&number, scale), exact.clone().rounded(scale));
            prop_assert!(near(&exact.multiply(&exact), &number));
        }
    }
}
