//! float4 and float8: their text.
//!
//! PostgreSQL: `utils/adt/float.c` and the shortest-exact output of `common/d2s.c`: the fewest digits that read back as
//! the same value, strictly *inside* its rounding interval. Rust's own formatting also accepts the interval's ends
//! (1e23 is one), so those rare cases take a digit more here. `extra_float_digits` below 1 rounds to 15 (or 6) digits
//! plus its value, as printf's `%g`. What is read is what C's `strtod` takes: hexadecimal numbers too.

use super::failure::invalid_syntax;
use super::integer::is_space;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::io::Write;

/// A decimal number: digits d.ddd and the exponent of the first.
struct Decimal {
    digits: [u8; 20],
    count: usize,
    exponent: i32,
}

/// The digits that `{:e}` or `{:.n e}` prints.
fn scientific(arguments: std::fmt::Arguments<'_>) -> Decimal {
    let mut buffer = [0u8; 40];
    let mut cursor = &mut buffer[..];
    cursor.write_fmt(arguments).expect("at most 17 digits and an exponent fit into 40 bytes");
    let unused = cursor.len();
    let text = &buffer[..buffer.len() - unused];
    let mark = text.iter().position(|&b| b == b'e').unwrap_or(text.len());
    let mut out = Decimal { digits: [0; 20], count: 0, exponent: 0 };
    for &digit in text[..mark].iter().filter(|b| b.is_ascii_digit()) {
        out.digits[out.count] = digit;
        out.count += 1;
    }
    let exponent = std::str::from_utf8(text.get(mark + 1..).unwrap_or_default());
    out.exponent = exponent.ok().and_then(|e| e.parse().ok()).unwrap_or(0);
    out
}

impl Decimal {
    fn trim(&mut self) {
        while self.count > 1 && self.digits[self.count - 1] == b'0' {
            self.count -= 1;
        }
    }

    /// Whether it is exactly `odd * 2^exponent`, a midpoint between two floating-point numbers.
    fn is_exactly(&self, odd: u128, exponent: i32) -> bool {
        let tens = self.exponent - (self.count as i32 - 1);
        // All digits fit: no number has more than eighteen here.
        let digits = self.digits[..self.count].iter();
        let value = digits.fold(0u64, |sum, &digit| sum * 10 + u64::from(digit - b'0'));
        // Most numbers are told apart by their powers of two.
        let twos = value.trailing_zeros() as i32 + tens;
        if value == 0 || tens.unsigned_abs() > 27 || twos != exponent {
            return false;
        }
        let mut mine = u128::from(value >> value.trailing_zeros());
        let mut theirs = odd;
        let fives = 5u128.pow(tens.unsigned_abs());
        let side = if tens >= 0 { &mut mine } else { &mut theirs };
        match side.checked_mul(fives) {
            Some(product) => *side = product,
            None => return false,
        }
        mine == theirs
    }

    /// Of two shortest numbers that are as near to `mantissa * 2^exponent` takes the one that ends in an even digit, as
    /// PostgreSQL does; Rust's formatting has taken the larger.
    fn settle_tie(&mut self, mantissa: u64, exponent: i32) {
        let last = self.digits[self.count - 1];
        if last.is_multiple_of(2) || mantissa == 0 {
            return;
        }
        let zeros = mantissa.trailing_zeros();
        let mut middle = Decimal { ..*self };
        middle.digits[self.count - 1] -= 1;
        middle.digits[self.count] = b'5';
        middle.count += 1;
        if middle.is_exactly(u128::from(mantissa >> zeros), exponent + zeros as i32) {
            self.digits[self.count - 1] -= 1;
            self.trim();
        }
    }

    /// As `%g` prints it: plain from 1e-5 (exclusive) up to `limit` digits, else with an exponent of two digits or more.
    fn write(&self, limit: i32, out: &mut Vec<u8>) {
        let digits = &self.digits[..self.count];
        if self.exponent < -4 || self.exponent >= limit {
            out.push(digits[0]);
            if digits.len() > 1 {
                out.push(b'.');
                out.extend_from_slice(&digits[1..]);
            }
            out.extend_from_slice(if self.exponent < 0 { b"e-" } else { b"e+" });
            super::integer::write_padded(u64::from(self.exponent.unsigned_abs()), 2, out);
        } else if self.exponent < 0 {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', (-self.exponent - 1) as usize));
            out.extend_from_slice(digits);
        } else {
            let whole = self.exponent as usize + 1;
            out.extend_from_slice(&digits[..whole.min(digits.len())]);
            out.extend(std::iter::repeat_n(b'0', whole.saturating_sub(digits.len())));
            if digits.len() > whole {
                out.push(b'.');
                out.extend_from_slice(&digits[whole..]);
            }
        }
    }
}

/// Writes what has no digits; false for finite numbers other than zero.
fn write_special(value: f64, out: &mut Vec<u8>) -> bool {
    let text: &[u8] = if value.is_nan() {
        b"NaN"
    } else if value.is_infinite() {
        if value > 0.0 { b"Infinity" } else { b"-Infinity" }
    } else if value == 0.0 {
        if value.is_sign_negative() { b"-0" } else { b"0" }
    } else {
        return false;
    };
    out.extend_from_slice(text);
    true
}

/// Appends a float8 under `extra_float_digits`.
pub fn write_f64(value: f64, extra_digits: i32, out: &mut Vec<u8>) {
    if write_special(value, out) {
        return;
    }
    if value < 0.0 {
        out.push(b'-');
    }
    let value = value.abs();
    if extra_digits < 1 {
        let count = (15 + extra_digits).max(1) as usize;
        let mut decimal = scientific(format_args!("{:.*e}", count - 1, value));
        decimal.trim();
        return decimal.write(count as i32, out);
    }
    let mut decimal = scientific(format_args!("{value:e}"));
    let bits = value.to_bits();
    let (raw_exponent, fraction) = ((bits >> 52) as i32, bits & ((1 << 52) - 1));
    let (mantissa, exponent) = if raw_exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, raw_exponent - 1075)
    };
    let bound = |d: &Decimal| {
        d.is_exactly(u128::from(2 * mantissa + 1), exponent - 1)
            || d.is_exactly(u128::from(2 * mantissa - 1), exponent - 1)
    };
    if bound(&decimal) {
        for count in decimal.count..=17 {
            let mut longer = scientific(format_args!("{:.*e}", count - 1, value));
            longer.trim();
            let mut text = Vec::new();
            longer.write(0, &mut text);
            let same = std::str::from_utf8(&text).ok().and_then(|t| t.parse::<f64>().ok());
            if same == Some(value) && !bound(&longer) {
                decimal = longer;
                break;
            }
        }
    }
    // Below a power of two the numbers are nearer to each other: the smaller one would not be read back.
    if fraction != 0 {
        decimal.settle_tie(mantissa, exponent);
    }
    decimal.write(15, out);
}

/// Appends a float4 under `extra_float_digits`.
pub fn write_f32(value: f32, extra_digits: i32, out: &mut Vec<u8>) {
    if write_special(f64::from(value), out) {
        return;
    }
    if value < 0.0 {
        out.push(b'-');
    }
    let value = value.abs();
    if extra_digits < 1 {
        let count = (6 + extra_digits).max(1) as usize;
        let mut decimal = scientific(format_args!("{:.*e}", count - 1, value));
        decimal.trim();
        return decimal.write(count as i32, out);
    }
    let mut decimal = scientific(format_args!("{value:e}"));
    let bits = value.to_bits();
    let (raw_exponent, fraction) = ((bits >> 23) as i32, bits & ((1 << 23) - 1));
    let (mantissa, exponent) =
        if raw_exponent == 0 { (fraction, -149) } else { (fraction | 1 << 23, raw_exponent - 150) };
    let bound = |d: &Decimal| {
        d.is_exactly(2 * u128::from(mantissa) + 1, exponent - 1)
            || d.is_exactly(2 * u128::from(mantissa) - 1, exponent - 1)
    };
    if bound(&decimal) {
        for count in decimal.count..=9 {
            let mut longer = scientific(format_args!("{:.*e}", count - 1, value));
            longer.trim();
            let mut text = Vec::new();
            longer.write(0, &mut text);
            let same = std::str::from_utf8(&text).ok().and_then(|t| t.parse::<f32>().ok());
            if same == Some(value) && !bound(&longer) {
                decimal = longer;
                break;
            }
        }
    }
    if fraction != 0 {
        decimal.settle_tie(u64::from(mantissa), exponent);
    }
    decimal.write(6, out);
}

/// The number in front of trailing white space, as C's `strtod` takes it, in Rust's words.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii() && is_space(c as u8))
}

/// Whether a text is a number at all, and has a digit other than 0 in its mantissa.
fn is_nonzero(text: &str) -> bool {
    text.bytes().take_while(|b| !matches!(b, b'e' | b'E')).any(|b| matches!(b, b'1'..=b'9'))
}

/// NaN without the characters in parentheses that C lets it have.
fn plain_nan(number: &str) -> &str {
    match number.strip_suffix(')').and_then(|number| number.split_once('(')) {
        Some((name, inner))
            if name.trim_start_matches(['+', '-']).eq_ignore_ascii_case("nan")
                && inner.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
        {
            name
        }
        _ => number,
    }
}

/// A number in hexadecimal notation, `-0x1.8p3`, rounded to so many bits, of which the last counts 2^`lowest` at least; and
/// whether it has a digit other than 0. None if the text is no such number.
fn hexadecimal(text: &str, bits: i64, lowest: i64) -> Option<(f64, bool)> {
    /// An exponent that decides, whatever digits a text can have.
    const EXPONENT_MAX: i64 = 1 << 40;
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"))?;
    let (mantissa, mut exponent) = match number.split_once(['p', 'P']) {
        None => (number, 0),
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            let size = digits.parse().unwrap_or(EXPONENT_MAX).min(EXPONENT_MAX);
            (mantissa, if exponent.starts_with('-') { -size } else { size })
        }
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    // The first digits other than 0, and whether there are more behind them.
    let (mut value, mut more) = (0u64, false);
    for (digits, power) in [(whole, 0), (fraction, -4)] {
        for digit in digits.chars() {
            let digit = u64::from(digit.to_digit(16)?);
            exponent += power;
            if value >> 60 == 0 {
                value = value << 4 | digit;
            } else {
                more |= digit != 0;
                exponent += 4;
            }
        }
    }
    let length = i64::from(u64::BITS - value.leading_zeros());
    let unit = (exponent + length - bits).max(lowest).max(exponent);
    // One more bit than there is stands for all that follow.
    let exact = u128::from(value) << 1 | u128::from(more);
    let dropped = u32::try_from(unit - exponent + 1).unwrap_or(u32::MAX).min(u64::BITS + 2);
    let half = 1u128 << (dropped - 1);
    let (kept, rest) = (exact >> dropped, exact & ((half << 1) - 1));
    let up = rest > half || rest == half && kept & 1 == 1;
    let rounded = (kept as u64 + u64::from(up)) as f64;
    let scaled = match unit {
        ..-1022 => rounded * f64::from_bits(1 << (unit + 1074)),
        -1022..1024 => rounded * f64::from_bits(((unit + 1023) as u64) << 52),
        _ => rounded * f64::INFINITY,
    };
    let size = if value == 0 { 0.0 } else { scaled };
    Some((if text.starts_with('-') { -size } else { size }, value != 0))
}

#[cold]
fn float_out_of_range(text: &str, type_name: &str) -> SqlError {
    SqlError::new(
        SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
        format!("\"{text}\" is out of range for type {type_name}"),
    )
}

macro_rules! read_float {
    ($name:ident, $float:ty, $type_name:literal, $comment:literal) => {
        #[doc = $comment]
        ///
        /// # Errors
        /// 22P02, 22003.
        pub fn $name(text: &str) -> Result<$float> {
            const BITS: i64 = <$float>::MANTISSA_DIGITS as i64;
            const LOWEST: i64 = <$float>::MIN_EXP as i64 - BITS;
            let number = trimmed(text);
            let (value, nonzero) = match hexadecimal(number, BITS, LOWEST) {
                Some((value, nonzero)) => (value as $float, nonzero),
                None => {
                    let value = plain_nan(number).parse::<$float>();
                    (value.map_err(|_| invalid_syntax($type_name, text))?, is_nonzero(number))
                }
            };
            let digits = number.bytes().any(|b| b.is_ascii_digit());
            if digits && value.is_infinite() || value == 0.0 && nonzero {
                return Err(float_out_of_range(number, $type_name));
            }
            Ok(value)
        }
    };
}

read_float!(read_f64, f64, "double precision", "Reads a float8.");
read_float!(read_f32, f32, "real", "Reads a float4.");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(value: f64) -> String {
        let mut out = Vec::new();
        write_f64(value, 1, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    #[expect(
        clippy::excessive_precision,
        reason = "each is written out, as it lies half way between two"
    )]
    fn of_two_that_are_as_near_the_even_one_is_shown() {
        for (value, text) in [
            (88_892_147_537_958.125, "88892147537958.12"),
            (828.169_982_910_156_25, "828.1699829101562"),
        ] {
            assert_eq!(shown(value), text);
        }
        let mut out = Vec::new();
        write_f32(3_344_548.25, 1, &mut out);
        assert_eq!(out, b"3.3445482e+06");
    }

    proptest! {
        #[test]
        fn shortest_text_reads_back(bits: u64) {
            let value = f64::from_bits(bits);
            let back = read_f64(&shown(value)).expect("its own text");
            prop_assert!(back.to_bits() == bits || value.is_nan());
        }

        #[test]
        fn shortest_text_of_float4_reads_back(bits: u32) {
            let value = f32::from_bits(bits);
            let mut out = Vec::new();
            write_f32(value, 1, &mut out);
            let back = read_f32(std::str::from_utf8(&out).expect("ASCII")).expect("its own text");
            prop_assert!(back.to_bits() == bits || value.is_nan());
        }

        #[test]
        fn hexadecimal_text_reads_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            let (raw, fraction) = ((bits >> 52) as i32 & 0x7ff, bits & ((1 << 52) - 1));
            let mantissa = if raw == 0 { fraction } else { fraction | 1 << 52 };
            let sign = if value.is_sign_negative() { "-" } else { "" };
            let text = format!("{sign}0x{mantissa:x}p{}", raw.max(1) - 1075);
            prop_assert_eq!(read_f64(&text).expect("a number").to_bits(), bits);
        }

        #[test]
        fn reading_never_panics(text in "(.{0,24}|-?0[xX][0-9a-fA-F]{0,20}\\.?[0-9a-fA-F]{0,20}([pP][-+]?[0-9]{0,24})?)") {
            let _ = (read_f64(&text), read_f32(&text));
        }
    }
}
