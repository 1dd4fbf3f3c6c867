//! Values that are read without anything of their session: integers, doubles, booleans and texts, as most parameters are.
//!
//! The result is what [`super::read_text`] and [`super::read_binary`] make of the same bytes, without the settings, the catalog
//! and the arena that these are lent, and digits need no check of their encoding. Whatever is not as plain as that, each
//! error too, is left to them.

use super::{Datum, Oid, check_text, oids};

/// Digits that an `i64` holds whatever they are.
const DIGITS_MAX: usize = 18;

/// The value of type `ty`, without a modifier, in the text or the binary format; none where its input function has to be asked.
#[must_use]
pub fn read_plain(ty: Oid, binary: bool, bytes: &[u8]) -> Option<Datum<'_>> {
    Some(match (ty.0, binary) {
        (oids::INT2, false) => Datum::Int2(digits(bytes)?.try_into().ok()?),
        (oids::INT4, false) => Datum::Int4(digits(bytes)?.try_into().ok()?),
        (oids::INT8, false) => Datum::Int8(digits(bytes)?),
        (oids::INT2, true) => Datum::Int2(i16::from_be_bytes(bytes.try_into().ok()?)),
        (oids::INT4, true) => Datum::Int4(i32::from_be_bytes(bytes.try_into().ok()?)),
        (oids::INT8, true) => Datum::Int8(i64::from_be_bytes(bytes.try_into().ok()?)),
        (oids::FLOAT8, true) => Datum::Float8(f64::from_be_bytes(bytes.try_into().ok()?)),
        (oids::BOOL, true) => match bytes {
            [byte] => Datum::Bool(*byte != 0),
            _ => return None,
        },
        (oids::TEXT | oids::VARCHAR, _) => Datum::Text(check_text(bytes).ok()?),
        _ => return None,
    })
}

/// A number of nothing but digits, and a minus sign.
fn digits(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || digits.len() > DIGITS_MAX {
        return None;
    }
    let mut value = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::no_session::with_context;
    use crate::{SqlType, read_binary, read_text};

    const TYPES: [u32; 9] = [
        oids::INT2,
        oids::INT4,
        oids::INT8,
        oids::FLOAT8,
        oids::BOOL,
        oids::TEXT,
        oids::VARCHAR,
        oids::NUMERIC,
        oids::BPCHAR,
    ];

    /// Of how many types the value is plain; each must be read as its input function does.
    fn plain(binary: bool, bytes: &[u8]) -> usize {
        let read = |ty: &&u32| {
            let Some(plain) = read_plain(Oid(**ty), binary, bytes) else { return false };
            with_context(|context| {
                let ty = SqlType { oid: Oid(**ty), typmod: -1 };
                let read = if binary {
                    read_binary(context, ty, bytes)
                } else {
                    read_text(context, ty, check_text(bytes).unwrap())
                };
                assert_eq!(format!("{plain:?}"), format!("{:?}", read.unwrap()), "{ty:?}");
            });
            true
        };
        TYPES.iter().filter(read).count()
    }

    #[test]
    fn what_is_plain_is_read_as_by_the_input_functions() {
        let texts: [(&[u8], usize); 14] = [
            (b"0", 5),
            (b"-0", 5),
            (b"007", 5),
            (b"-32768", 5),
            (b"32768", 4),
            (b"-2147483648", 4),
            (b"2147483648", 3),
            (b"-999999999999999999", 3),
            // Left to the input functions: some of these are numbers, too.
            (b"9223372036854775807", 2),
            (b"+5", 2),
            (b" 5 ", 2),
            (b"-", 2),
            ("zw\u{f6}lf".as_bytes(), 2),
            (b"", 2),
        ];
        for (text, types) in texts {
            assert_eq!(plain(false, text), types, "{text:?}");
        }
        for wrong in [b"1\0".as_slice(), b"\xff"] {
            assert_eq!(plain(false, wrong), 0, "{wrong:?}");
        }
        for (bytes, types) in [(1, 3), (2, 3), (4, 3), (8, 4), (3, 2), (0, 2)] {
            assert_eq!(plain(true, &[b'A'; 8][..bytes]), types, "{bytes} bytes");
        }
        assert_eq!(plain(true, &[0xff; 8]), 2);
    }
}
