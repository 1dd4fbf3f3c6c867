//! int2, int4, int8 and the unsigned OIDs: their text.
//!
//! PostgreSQL: `utils/adt/numutils.c` (`pg_strtoint32` and family), `oidin_subr`. Digits are written two at a time into
//! a buffer on the stack.

use super::failure::{invalid_syntax, value_out_of_range};
use crate::error::Result;

const PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Appends a number in decimal.
pub fn write_u64(mut value: u64, out: &mut Vec<u8>) {
    if value < 10 {
        return out.push(b'0' + value as u8);
    }
    let mut buffer = [0u8; 20];
    let mut at = buffer.len();
    while value >= 100 {
        let pair = (value % 100) as usize * 2;
        value /= 100;
        at -= 2;
        buffer[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if value >= 10 {
        at -= 2;
        let pair = value as usize * 2;
        buffer[at..at + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    } else {
        at -= 1;
        buffer[at] = b'0' + value as u8;
    }
    out.extend_from_slice(&buffer[at..]);
}

/// Appends a number in decimal.
pub fn write_i64(value: i64, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    write_u64(value.unsigned_abs(), out);
}

/// Appends a number with at least `width` digits.
pub fn write_padded(value: u64, width: usize, out: &mut Vec<u8>) {
    let mut limit = 10;
    for _ in 1..width {
        if value < limit {
            out.push(b'0');
        }
        limit *= 10;
    }
    // The zeros above were pushed one for each power of ten that the value stays below.
    write_u64(value, out);
}

/// What C's `isspace` takes for white space.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

/// Reads a signed number between `min` and `max`; `type_name` is for the errors. Digits that lead below `min` are told of
/// before what stands behind them.
///
/// # Errors
/// 22P02, 22003.
pub fn read_signed(text: &str, min: i64, max: i64, type_name: &str) -> Result<i64> {
    let bytes = text.as_bytes();
    let mut at = bytes.iter().take_while(|&&byte| is_space(byte)).count();
    let negative = match bytes.get(at) {
        Some(b'-') => {
            at += 1;
            true
        }
        Some(b'+') => {
            at += 1;
            false
        }
        _ => false,
    };
    let start = at;
    // Counted downwards, because the least number has no positive counterpart.
    let mut value: i64 = 0;
    let out_of_range = || value_out_of_range(type_name, text);
    while let Some(digit @ b'0'..=b'9') = bytes.get(at) {
        let next = value.checked_mul(10).and_then(|v| v.checked_sub(i64::from(digit - b'0')));
        value = next.filter(|next| *next >= min).ok_or_else(out_of_range)?;
        at += 1;
    }
    if at == start || !bytes[at..].iter().all(|&byte| is_space(byte)) {
        return Err(invalid_syntax(type_name, text));
    }
    let value = if negative { Some(value) } else { value.checked_neg() };
    value.filter(|value| *value <= max).ok_or_else(out_of_range)
}

/// Reads an OID: unsigned, but -1 and the like wrap as C's `strtoul` has it.
///
/// # Errors
/// 22P02, 22003.
pub fn read_oid(text: &str, type_name: &str) -> Result<u32> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii() && is_space(c as u8));
    let digits = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid_syntax(type_name, text));
    }
    let value: i64 = trimmed.parse().map_err(|_| value_out_of_range(type_name, text))?;
    if value > i64::from(u32::MAX) || value < i64::from(i32::MIN) {
        return Err(value_out_of_range(type_name, text));
    }
    Ok(value as u32)
}

/// The number that a text begins with, as C's `strtoull` reads it, and what stands behind: blanks and a sign may come first;
/// in `any_base` digits behind `0x` are hexadecimal, and others behind `0` octal. Without digits it is 0, too large
/// the highest; a minus sign wraps.
pub fn read_c(text: &str, any_base: bool) -> (u64, &str) {
    let blanks = text.trim_start_matches(|c: char| c.is_ascii() && is_space(c as u8));
    let unsigned = blanks.strip_prefix(['-', '+']).unwrap_or(blanks);
    let hexadecimal = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let hexadecimal =
        hexadecimal.filter(|rest| any_base && rest.starts_with(|c: char| c.is_ascii_hexdigit()));
    let (base, digits) = match hexadecimal {
        Some(digits) => (16, digits),
        None if any_base && unsigned.starts_with('0') => (8, unsigned),
        None => (10, unsigned),
    };
    let end = digits.find(|c: char| !c.is_digit(base)).unwrap_or(digits.len());
    if end == 0 {
        return (0, text);
    }
    let value = match u64::from_str_radix(&digits[..end], base) {
        Ok(value) if blanks.starts_with('-') => value.wrapping_neg(),
        Ok(value) => value,
        Err(_) => u64::MAX,
    };
    (value, &digits[end..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(value: i64) -> String {
        let mut out = Vec::new();
        write_i64(value, &mut out);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn c_reads_what_a_text_begins_with() {
        for (text, any_base, value, rest) in [
            (" 12 ", true, 12, " "),
            ("-1", true, u64::MAX, ""),
            ("0x1Fg", true, 31, "g"),
            ("0xg", true, 0, "xg"),
            ("0x1F", false, 0, "x1F"),
            ("0178", true, 15, "8"),
            ("x", true, 0, "x"),
            ("", false, 0, ""),
            ("99999999999999999999", false, u64::MAX, ""),
        ] {
            assert_eq!(read_c(text, any_base), (value, rest), "{text}");
        }
    }

    #[test]
    fn padding_counts_digits() {
        for (value, width, text) in
            [(7, 2, "07"), (0, 4, "0000"), (2024, 4, "2024"), (12024, 4, "12024")]
        {
            let mut out = Vec::new();
            write_padded(value, width, &mut out);
            assert_eq!(out, text.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn text_round_trips(value: i64) {
            prop_assert_eq!(written(value), value.to_string());
            prop_assert_eq!(read_signed(&written(value), i64::MIN, i64::MAX, "bigint"), Ok(value));
        }

        #[test]
        fn reading_never_panics(text in ".{0,24}") {
            let _ = read_signed(&text, -32768, 32767, "smallint");
            let _ = read_oid(&text, "oid");
        }
    }
}
