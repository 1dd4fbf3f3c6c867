//! Values that are read without anything of their session: integers, doubles, booleans, texts and numerics of few digits, as most
//! parameters are.
//!
//! The result is what [`super::read_text`] and [`super::read_binary`] make of the same bytes, without the settings, the catalog
//! and the arena that these are lent, and digits need no check of their encoding. Whatever is not as plain as that, each
//! error too, is left to them.

use super::numeric::small::{STORED_BYTES_MAX, Small};
use super::{Datum, Oid, check_text, oids};

/// Digits that an `i64` holds whatever they are.
const DIGITS_MAX: usize = 18;

/// Where a value lies that does not lie in its message as it is.
pub type PlainRoom = [u8; STORED_BYTES_MAX];

/// The value of type `ty`, without a modifier, in the text or the binary format; none where its input function has to be asked.
#[must_use]
pub fn read_plain<'v>(
    ty: Oid,
    binary: bool,
    bytes: &'v [u8],
    room: &'v mut PlainRoom,
) -> Option<Datum<'v>> {
    if ty.0 == oids::INT4 && !binary {
        return Some(Datum::Int4(digits(bytes)?.try_into().ok()?));
    }
    Some(match (ty.0, binary) {
        (oids::INT2, false) => Datum::Int2(digits(bytes)?.try_into().ok()?),
        (oids::INT8, false) => Datum::Int8(digits(bytes)?),
        (oids::INT2, true) => Datum::Int2(i16::from_be_bytes(bytes.try_into().ok()?)),
        (oids::INT4, true) => Datum::Int4(i32::from_be_bytes(bytes.try_into().ok()?)),
        (oids::INT8, true) => Datum::Int8(i64::from_be_bytes(bytes.try_into().ok()?)),
        (oids::FLOAT8, true) => Datum::Float8(f64::from_be_bytes(bytes.try_into().ok()?)),
        (oids::BOOL, true) => match bytes {
            [byte] => Datum::Bool(*byte != 0),
            _ => return None,
        },
        (oids::TEXT | oids::VARCHAR | oids::BPCHAR, _) => Datum::Text(check_text(bytes).ok()?),
        (oids::NUMERIC, false) => Datum::Numeric(decimal(bytes)?.store_into(room)),
        _ => return None,
    })
}

/// Whether NULL of this type is nothing but that: a domain's may be refused.
#[must_use]
pub fn has_plain_null(ty: Oid) -> bool {
    use oids::{BOOL, BPCHAR, FLOAT8, INT2, INT4, INT8, NUMERIC, TEXT, VARCHAR};
    matches!(ty.0, INT2 | INT4 | INT8 | TEXT | VARCHAR | BPCHAR | NUMERIC | FLOAT8 | BOOL)
}

/// Whether there is a minus sign, and what stands behind it.
fn signed(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    }
}

/// A number of nothing but digits, a point among them, and a minus sign.
fn decimal(text: &[u8]) -> Option<Small> {
    let (negative, text) = signed(text);
    let (mut mantissa, mut count, mut point) = (0_i64, 0, None);
    for byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 && count < DIGITS_MAX {
            mantissa = mantissa * 10 + i64::from(digit);
            count += 1;
        } else if *byte == b'.' && point.is_none() {
            point = Some(count);
        } else {
            return None;
        }
    }
    if count == 0 {
        return None;
    }
    let scale = point.map_or(0, |at| count - at) as u32;
    Some(Small { mantissa: i128::from(if negative { -mantissa } else { mantissa }), scale })
}

/// A number of nothing but digits, and a minus sign.
fn digits(text: &[u8]) -> Option<i64> {
    let (negative, digits) = signed(text);
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
            let mut room = PlainRoom::default();
            let Some(plain) = read_plain(Oid(**ty), binary, bytes, &mut room) else {
                return false;
            };
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
        let texts: [(&[u8], usize); 24] = [
            (b"0", 7),
            (b"-0", 7),
            (b"007", 7),
            (b"-32768", 7),
            (b"32768", 6),
            (b"-2147483648", 6),
            (b"2147483648", 5),
            (b"-999999999999999999", 5),
            (b"12.50", 4),
            (b"-.5", 4),
            (b"50000.", 4),
            (b"-0.00", 4),
            (b"123456789012345.678", 4),
            (b"-0.00000000100000000", 4),
            // Left to the input functions: some of these are numbers, too.
            (b"0.000000000000000001", 3),
            (b"9223372036854775807", 3),
            (b"1.2.3", 3),
            (b".", 3),
            (b"1e3", 3),
            (b"+5", 3),
            (b" 5 ", 3),
            (b"-", 3),
            ("zw\u{f6}lf".as_bytes(), 3),
            (b"", 3),
        ];
        for (text, types) in texts {
            assert_eq!(plain(false, text), types, "{text:?}");
        }
        for wrong in [b"1\0".as_slice(), b"\xff"] {
            assert_eq!(plain(false, wrong), 0, "{wrong:?}");
        }
        for (bytes, types) in [(1, 4), (2, 4), (4, 4), (8, 5), (3, 3), (0, 3)] {
            assert_eq!(plain(true, &[b'A'; 8][..bytes]), types, "{bytes} bytes");
        }
        assert_eq!(plain(true, &[0xff; 8]), 2);
    }
}
