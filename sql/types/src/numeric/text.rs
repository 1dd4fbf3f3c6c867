//! numeric's text, its binary form, and its modifier `numeric(p, s)`.
//!
//! PostgreSQL: `numeric_in`, `set_var_from_str`, `get_str_from_var`, `apply_typmod`, `numeric_recv`, `numeric_send`.

use super::decimal::{BASE, Decimal};
use super::stored::{Number, View};
use super::{SCALE_MAX, overflow};
use crate::account;
use crate::error::{Result, SqlError};
use crate::failure::{insufficient, invalid_binary, invalid_syntax, left_over};
use crate::integer::is_space;
use crate::sqlstate::SqlState;

impl Decimal {
    /// Appends its plain text with `scale` decimals.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_digits(self.negative, self.weight, self.scale, &|i| self.digits.get(i).copied(), out);
    }

    /// Reads plain or scientific notation: the whole of `text`, no white space. None if it is not a number.
    ///
    /// # Errors
    /// 22003 if it is out of all bounds.
    pub fn read(text: &str) -> Result<Option<Decimal>> {
        let bytes = text.as_bytes();
        let (negative, mut at) = match bytes.first() {
            Some(b'-') => (true, 1),
            Some(b'+') => (false, 1),
            _ => (false, 0),
        };
        let mut digits = Vec::with_capacity(bytes.len());
        let (mut point, mut whole) = (None, 0i64);
        while let Some(&byte) = bytes.get(at) {
            account::step();
            match byte {
                b'0'..=b'9' => digits.push(byte - b'0'),
                b'.' if point.is_none() => {
                    point = Some(digits.len());
                    whole = digits.len() as i64;
                }
                _ => break,
            }
            at += 1;
        }
        if digits.is_empty() {
            return Ok(None);
        }
        if point.is_none() {
            whole = digits.len() as i64;
        }
        let mut scale = digits.len() as i64 - whole;
        if let Some(b'e' | b'E') = bytes.get(at) {
            let exponent_text = &text[at + 1..];
            let digits_of_exponent =
                exponent_text.strip_prefix(['-', '+']).unwrap_or(exponent_text);
            if digits_of_exponent.is_empty()
                || !digits_of_exponent.bytes().all(|b| b.is_ascii_digit())
            {
                return Ok(None);
            }
            let exponent: i64 = exponent_text.parse().map_err(|_| overflow())?;
            if exponent.abs() > i64::from(i32::MAX) / 2 {
                return Err(overflow());
            }
            whole += exponent;
            scale = (scale - exponent).max(0);
            at = bytes.len();
        }
        if at != bytes.len() {
            return Ok(None);
        }
        if scale > i64::from(SCALE_MAX) || whole > 200_000 {
            // Leading zeros do not count; what is left then is too large or too fine.
            let zeros = digits.iter().take_while(|&&d| d == 0).count() as i64;
            let is_zero = zeros == digits.len() as i64;
            if scale > i64::from(SCALE_MAX) || (!is_zero && whole - zeros > 200_000) {
                return Err(overflow());
            }
            if is_zero {
                return Ok(Some(Decimal::zero(scale as i32)));
            }
        }
        // Group by four from the point: `whole` decimal digits stand before it.
        let weight = (whole + 3).div_euclid(4) - 1;
        let lead = ((weight + 1) * 4 - whole) as usize;
        let mut out = Vec::with_capacity((lead + digits.len()).div_ceil(4));
        let mut group = 0u16;
        let mut filled = lead;
        for digit in digits {
            group = group * 10 + u16::from(digit);
            filled += 1;
            if filled == 4 {
                out.push(group);
                (group, filled) = (0, 0);
            }
        }
        if filled > 0 {
            out.push(group * 10u16.pow(4 - filled as u32));
        }
        let number = Decimal { negative, weight: weight as i32, scale: scale as i32, digits: out };
        Ok(Some(number.normal()))
    }
}

fn write_digits(
    negative: bool,
    weight: i32,
    scale: i32,
    digit: &dyn Fn(usize) -> Option<u16>,
    out: &mut Vec<u8>,
) {
    if negative {
        out.push(b'-');
    }
    let at = |power: i32| usize::try_from(weight - power).ok().and_then(digit).unwrap_or(0);
    if weight < 0 {
        out.push(b'0');
    } else {
        super::super::integer::write_u64(u64::from(at(weight)), out);
        for power in (0..weight).rev() {
            super::super::integer::write_padded(u64::from(at(power)), 4, out);
        }
    }
    if scale > 0 {
        out.push(b'.');
        let end = out.len() + scale as usize;
        let mut power = -1;
        while out.len() < end {
            super::super::integer::write_padded(u64::from(at(power)), 4, out);
            power -= 1;
        }
        out.truncate(end);
    }
}

/// Appends a stored numeric's text.
pub fn write(stored: &[u8], out: &mut Vec<u8>) {
    match View::of(stored) {
        View::Nan => out.extend_from_slice(b"NaN"),
        View::Infinity => out.extend_from_slice(b"Infinity"),
        View::NegativeInfinity => out.extend_from_slice(b"-Infinity"),
        View::Finite(number) => {
            let mut digits = [0u16; 16];
            if number.len() > digits.len() {
                return number.to_decimal().write(out);
            }
            for (place, digit) in digits.iter_mut().zip(number.digits()) {
                *place = digit;
            }
            let digits = &digits[..number.len()];
            let (weight, scale) = (i32::from(number.weight), i32::from(number.scale));
            write_digits(number.negative, weight, scale, &|i| digits.get(i).copied(), out);
        }
    }
}

/// Reads a numeric under a modifier (-1 for none).
///
/// # Errors
/// 22P02, 22003.
pub fn read(text: &str, typmod: i32) -> Result<Number> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii() && is_space(c as u8));
    let number = match trimmed.to_ascii_lowercase().as_str() {
        "nan" => Number::Nan,
        "infinity" | "+infinity" | "inf" | "+inf" => Number::Infinity,
        "-infinity" | "-inf" => Number::NegativeInfinity,
        _ => match Decimal::read(trimmed)? {
            Some(decimal) => Number::Finite(decimal.checked()?),
            None => return Err(invalid_syntax("numeric", text)),
        },
    };
    apply_modifier(number, typmod)
}

/// Precision and scale of a modifier; none if it is -1. The scale may be negative.
#[must_use]
pub fn modifier(typmod: i32) -> Option<(i32, i32)> {
    let packed = typmod.checked_sub(4).filter(|_| typmod >= 4)?;
    let scale = packed & 0x7ff;
    Some((packed >> 16 & 0xffff, (scale ^ 1024) - 1024))
}

/// Rounds to the modifier's scale and checks its precision.
///
/// # Errors
/// 22003 `numeric field overflow`.
pub fn apply_modifier(number: Number, typmod: i32) -> Result<Number> {
    let Some((precision, scale)) = modifier(typmod) else { return Ok(number) };
    let decimal = match number {
        Number::Nan => return Ok(Number::Nan),
        Number::Infinity | Number::NegativeInfinity => {
            let detail = format!(
                "A field with precision {precision}, scale {scale} cannot hold an infinite value."
            );
            return Err(field_overflow(detail));
        }
        Number::Finite(decimal) => decimal.rounded(scale),
    };
    let most = precision - scale;
    if let Some(&first) = decimal.digits.first() {
        let width = 1 + i32::from(first >= 10) + i32::from(first >= 100) + i32::from(first >= 1000);
        if decimal.weight * 4 + width > most {
            let limit = match most {
                0 => "1".to_owned(),
                _ => format!("10^{most}"),
            };
            return Err(field_overflow(format!(
                "A field with precision {precision}, scale {scale} must round to an absolute value less than {limit}."
            )));
        }
    }
    Ok(Number::Finite(decimal))
}

#[cold]
fn field_overflow(detail: String) -> SqlError {
    SqlError::new(SqlState::NUMERIC_VALUE_OUT_OF_RANGE, "numeric field overflow").detail(detail)
}

/// Appends the binary form: count, weight, sign, scale, digits, each 2 bytes big-endian.
pub fn write_binary(stored: &[u8], out: &mut Vec<u8>) {
    let mut put = |value: u16| out.extend_from_slice(&value.to_be_bytes());
    match View::of(stored) {
        View::Nan => [0, 0, 0xc000, 0].map(&mut put),
        View::Infinity => [0, 0, 0xd000, 0x20].map(&mut put),
        View::NegativeInfinity => [0, 0, 0xf000, 0x20].map(&mut put),
        View::Finite(number) => {
            let sign = if number.negative { 0x4000 } else { 0 };
            let four =
                [number.len() as u16, number.weight as u16, sign, number.scale].map(&mut put);
            number.digits().for_each(put);
            four
        }
    };
}

/// Reads the binary form under a modifier.
///
/// # Errors
/// 22P03, 22003.
pub fn read_binary(bytes: &[u8], typmod: i32) -> Result<Number> {
    let mut words = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let mut word = || words.next().ok_or_else(insufficient);
    let (count, weight, sign) = (word()?, word()? as i16, word()?);
    if !matches!(sign, 0 | 0x4000 | 0xc000 | 0xd000 | 0xf000) {
        return Err(invalid_binary("invalid sign in external \"numeric\" value"));
    }
    let scale = word()?;
    if i32::from(scale) > SCALE_MAX {
        return Err(invalid_binary("invalid scale in external \"numeric\" value"));
    }
    let mut digits = Vec::with_capacity(usize::from(count).min(bytes.len() / 2));
    for _ in 0..count {
        let digit = word()?;
        if u32::from(digit) >= BASE {
            return Err(invalid_binary("invalid digit in external \"numeric\" value"));
        }
        digits.push(digit);
    }
    let number = match sign {
        0xc000 => Number::Nan,
        0xd000 => Number::Infinity,
        0xf000 => Number::NegativeInfinity,
        _ => {
            let (negative, weight, scale) = (sign != 0, i32::from(weight), i32::from(scale));
            // Digits below the display scale are cut off, as PostgreSQL does.
            let number = Decimal { negative, weight, scale, digits }.normal().truncated(scale);
            Number::Finite(number.checked()?)
        }
    };
    let number = apply_modifier(number, typmod)?;
    if bytes.len() > 8 + 2 * usize::from(count) { Err(left_over()) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bumpalo::Bump;
    use proptest::prelude::*;

    fn canonical(text: &str, typmod: i32) -> Result<String> {
        let arena = Bump::new();
        let mut out = Vec::new();
        write(read(text, typmod)?.store(&arena), &mut out);
        Ok(String::from_utf8(out).expect("ASCII"))
    }

    /// `numeric(p, s)`.
    fn typmod(precision: i32, scale: i32) -> i32 {
        ((precision << 16) | (scale & 0x7ff)) + 4
    }

    #[test]
    fn modifiers_round_and_limit() {
        assert_eq!(canonical("1.005", typmod(5, 2)).as_deref(), Ok("1.01"));
        assert_eq!(canonical("1234567", typmod(5, -3)).as_deref(), Ok("1235000"));
        let error = canonical("1000", typmod(5, 2)).expect_err("too long");
        assert_eq!(error.fields().message, "numeric field overflow");
        assert_eq!(modifier(typmod(5, -3)), Some((5, -3)));
    }

    proptest! {
        #[test]
        fn text_round_trips(whole in "[1-9][0-9]{0,40}|0", fraction in "(\\.[0-9]{1,40})?") {
            let text = format!("{whole}{fraction}");
            prop_assert_eq!(canonical(&text, -1), Ok(text));
        }

        #[test]
        fn binary_round_trips(text in "-?[0-9]{1,30}(\\.[0-9]{1,20})?") {
            let arena = Bump::new();
            let stored = read(&text, -1).expect("a number").store(&arena);
            let mut binary = Vec::new();
            write_binary(stored, &mut binary);
            prop_assert_eq!(read_binary(&binary, -1).expect("its own bytes").store(&arena), stored);
        }

        #[test]
        fn reading_never_panics(text in "[-+0-9.eE]{0,12}|.{0,12}", bytes: Vec<u8>) {
            let _ = read(&text, -1);
            let _ = read_binary(&bytes, -1);
            let mut out = Vec::new();
            write(&bytes, &mut out);
        }
    }
}
