//! bytea's text: hex (`\x6162`) and escape (`a\000b`).
//!
//! PostgreSQL: `byteain`, `byteaout`, `hex_decode`.

use super::failure::invalid_syntax;
use crate::account;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use bumpalo::Bump;

const HEX: &[u8; 16] = b"0123456789abcdef";

/// Appends two hexadecimal digits for each byte.
pub fn write_hex(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() * 2);
    out.extend(account::byte_stretches(bytes).flatten().flat_map(|byte| hex(*byte)));
}

/// The two hexadecimal digits of a byte.
pub(crate) fn hex(byte: u8) -> [u8; 2] {
    [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]
}

/// Appends a bytea in hex.
pub fn write(bytes: &[u8], hex: bool, out: &mut Vec<u8>) {
    if hex {
        out.extend_from_slice(b"\\x");
        write_hex(bytes, out);
    } else {
        write_escape(bytes, out);
    }
}

/// Appends a bytea in the escape form.
pub fn write_escape(bytes: &[u8], out: &mut Vec<u8>) {
    for &byte in account::byte_stretches(bytes).flatten() {
        match byte {
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x20..=0x7e => out.push(byte),
            _ => {
                out.push(b'\\');
                out.extend([byte >> 6, byte >> 3 & 7, byte & 7].map(|digit| b'0' + digit));
            }
        }
    }
}

/// Reads hexadecimal digits, white space between pairs left out.
///
/// # Errors
/// 22023.
pub fn read_hex<'a>(arena: &'a Bump, text: &str) -> Result<&'a [u8]> {
    let mut out = bumpalo::collections::Vec::with_capacity_in(text.len() / 2, arena);
    let mut characters = account::stretches(text).flat_map(str::chars);
    let digit = |character: char| {
        character.to_digit(16).map(|digit| digit as u8).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("invalid hexadecimal digit: \"{character}\""),
            )
        })
    };
    while let Some(first) = characters.next() {
        if matches!(first, ' ' | '\n' | '\t' | '\r') {
            continue;
        }
        let high = digit(first)?;
        let second = characters.next().ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                "invalid hexadecimal data: odd number of digits",
            )
        })?;
        out.push(high << 4 | digit(second)?);
    }
    Ok(out.into_bump_slice())
}

/// Reads the escape form.
///
/// # Errors
/// 22P02.
pub fn read_escape<'a>(arena: &'a Bump, text: &str) -> Result<&'a [u8]> {
    let bytes = text.as_bytes();
    let mut out = bumpalo::collections::Vec::with_capacity_in(bytes.len(), arena);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        account::step();
        if byte != b'\\' {
            out.push(byte);
            at += 1;
            continue;
        }
        match bytes.get(at + 1..) {
            Some([b'\\', ..]) => {
                out.push(b'\\');
                at += 2;
            }
            Some([a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..]) => {
                out.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                at += 4;
            }
            _ => {
                return Err(SqlError::new(
                    SqlState::INVALID_TEXT_REPRESENTATION,
                    "invalid input syntax for type bytea",
                ));
            }
        }
    }
    Ok(out.into_bump_slice())
}

/// Reads a bytea in either form.
///
/// # Errors
/// 22P02, 22023.
pub fn read<'a>(arena: &'a Bump, text: &str) -> Result<&'a [u8]> {
    match text.strip_prefix("\\x") {
        Some(digits) => read_hex(arena, digits),
        None => read_escape(arena, text),
    }
}

/// Reads a uuid: hexadecimal digits, with a hyphen allowed after each group of four, in braces or not.
///
/// # Errors
/// 22P02.
pub fn read_uuid(text: &str) -> Result<[u8; 16]> {
    let bytes = text.as_bytes();
    let invalid = || invalid_syntax("uuid", text);
    let inner = match bytes {
        [b'{', inner @ .., b'}'] => inner,
        _ => bytes,
    };
    let mut out = [0u8; 16];
    let mut at = 0;
    for (i, place) in out.iter_mut().enumerate() {
        for shift in [4, 0] {
            let digit = inner.get(at).and_then(|&b| (b as char).to_digit(16));
            *place |= (digit.ok_or_else(invalid)? as u8) << shift;
            at += 1;
        }
        if i % 2 == 1 && i < 15 && inner.get(at) == Some(&b'-') {
            at += 1;
        }
    }
    if at == inner.len() { Ok(out) } else { Err(invalid()) }
}

/// Appends a uuid.
pub fn write_uuid(uuid: &[u8; 16], out: &mut Vec<u8>) {
    for (i, byte) in uuid.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        write_hex(std::slice::from_ref(byte), out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_round_trips(bytes: Vec<u8>, hex: bool) {
            let arena = Bump::new();
            let mut out = Vec::new();
            write(&bytes, hex, &mut out);
            let text = std::str::from_utf8(&out).expect("ASCII");
            prop_assert_eq!(read(&arena, text).expect("its own text"), &bytes);
        }

        #[test]
        fn uuids_round_trip(uuid: [u8; 16]) {
            let mut out = Vec::new();
            write_uuid(&uuid, &mut out);
            prop_assert_eq!(read_uuid(std::str::from_utf8(&out).expect("ASCII")), Ok(uuid));
        }

        #[test]
        fn reading_never_panics(text in ".{0,24}|[\\\\x0-9a-f{}-]{0,40}") {
            let arena = Bump::new();
            let _ = (read(&arena, &text), read_uuid(&text));
        }
    }
}
