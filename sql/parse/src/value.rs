//! What a token is worth: names folded and cut, strings without their quotes and escapes.

use super::lexer::{Kind, Lexer, Token, continuation, escape_character};
use super::position::Positions;
use memchr::memchr;
use sql_types::error::{Notice, Result, SqlError};
use sql_types::sqlstate::SqlState;
use sql_types::text::quote::shortened;
use std::borrow::Cow;

/// The name that a word or quoted name is, with a notice if it had to be cut.
///
/// # Errors
/// 42601 for a wrong Unicode escape.
pub fn name(positions: &Positions<'_>, token: Token) -> Result<(String, Option<Notice>)> {
    let raw = &positions.text()[token.start as usize..token.end as usize];
    let name = match token.kind {
        Kind::Quoted => raw[1..raw.len() - 1].replace("\"\"", "\""),
        Kind::UnicodeQuoted => {
            let (raw, escape) = without_escape(raw);
            let text = raw[3..raw.len() - 1].replace("\"\"", "\"");
            unicode(&text, escape, positions, token.start + 3)?
        }
        _ => raw.to_ascii_lowercase(),
    };
    Ok(shortened(name))
}

/// The value of a string token; of bits, their digits.
///
/// # Errors
/// 22025, 42601, 22021 for wrong escapes.
pub fn string<'t>(positions: &Positions<'t>, token: Token) -> Result<Cow<'t, str>> {
    let raw = &positions.text()[token.start as usize..token.end as usize];
    if token.kind == Kind::String {
        let inner = &raw[1..raw.len() - 1];
        if memchr(b'\'', inner.as_bytes()).is_none() {
            return Ok(inner.into());
        }
    }
    let value = match token.kind {
        Kind::DollarString => {
            let tag = raw[1..].find('$').expect("the lexer saw the tag's end") + 2;
            raw[tag..raw.len() - tag].to_owned()
        }
        Kind::EscapeString => {
            let mut value = Vec::with_capacity(raw.len());
            for (piece, at) in pieces(raw, true) {
                escapes(piece, positions, token.start + at as u32, &mut value)?;
            }
            String::from_utf8(value).map_err(|error| invalid_bytes(error.as_bytes()))?
        }
        Kind::UnicodeString => {
            let (raw, escape) = without_escape(raw);
            let joined: String = pieces(&raw[2..], false).map(|(piece, _)| piece).collect();
            unicode(&joined.replace("''", "'"), escape, positions, token.start + 3)?
        }
        _ => pieces(raw, false).map(|(piece, _)| piece.replace("''", "'")).collect(),
    };
    Ok(value.into())
}

/// The pieces of a string that goes on over lines, without their outer quotes, and where each begins.
fn pieces(raw: &str, escapes: bool) -> impl Iterator<Item = (&str, usize)> {
    let bytes = raw.as_bytes();
    let mut quote = raw.find('\'');
    std::iter::from_fn(move || {
        let start = quote? + 1;
        let mut at = start;
        while at < bytes.len() {
            match bytes[at] {
                b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 2,
                b'\'' => break,
                b'\\' if escapes => at += 2,
                _ => at += 1,
            }
        }
        quote = continuation(bytes, at + 1);
        Some((&raw[start..at], start))
    })
}

/// An escape string's piece, its escapes taken out.
fn escapes(piece: &str, positions: &Positions<'_>, at: u32, value: &mut Vec<u8>) -> Result<()> {
    let bytes = piece.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        let byte = bytes[index];
        index += 1;
        match byte {
            b'\'' => {
                value.push(b'\'');
                index += 1;
                continue;
            }
            b'\\' if index < bytes.len() => {}
            _ => {
                value.push(byte);
                continue;
            }
        }
        let escape = bytes[index];
        index += 1;
        match escape {
            b'b' => value.push(8),
            b'f' => value.push(12),
            b'n' => value.push(b'\n'),
            b'r' => value.push(b'\r'),
            b't' => value.push(b'\t'),
            b'0'..=b'7' => {
                let mut code = u32::from(escape - b'0');
                for _ in 0..2 {
                    match bytes.get(index) {
                        Some(digit @ b'0'..=b'7') => {
                            code = code * 8 + u32::from(digit - b'0');
                            index += 1;
                        }
                        _ => break,
                    }
                }
                push_byte(value, code as u8)?;
            }
            b'x' if bytes.get(index).is_some_and(u8::is_ascii_hexdigit) => {
                let mut code = 0;
                for _ in 0..2 {
                    match bytes.get(index).and_then(|&digit| char::from(digit).to_digit(16)) {
                        Some(digit) => {
                            code = code * 16 + digit;
                            index += 1;
                        }
                        None => break,
                    }
                }
                push_byte(value, code as u8)?;
            }
            b'u' | b'U' => {
                let length = if escape == b'u' { 4 } else { 8 };
                let begin = index - 2;
                let place = positions.of(at + index as u32 - 2);
                let mut code = hex(bytes, index, length).ok_or_else(|| {
                    SqlError::new(SqlState::INVALID_ESCAPE_SEQUENCE, "invalid Unicode escape")
                        .hint("Unicode escapes must be \\uXXXX or \\UXXXXXXXX.")
                        .at(place)
                })?;
                index += length;
                if (0xD800..0xDC00).contains(&code) {
                    let low = match (bytes.get(index), bytes.get(index + 1)) {
                        (Some(b'\\'), Some(b'u')) => hex(bytes, index + 2, 4).map(|low| (low, 6)),
                        (Some(b'\\'), Some(b'U')) => hex(bytes, index + 2, 8).map(|low| (low, 10)),
                        _ => None,
                    };
                    let Some((low, length)) = low.filter(|(low, _)| (0xDC00..0xE000).contains(low))
                    else {
                        // It is told of where the other half should have been.
                        let near = at as usize + index;
                        let rest = &positions.text()[near..];
                        let length = match (bytes.get(index), bytes.get(index + 1)) {
                            (Some(b'\\'), Some(b'u')) if low.is_some() => 6,
                            (Some(b'\\'), Some(b'U')) if low.is_some() => 10,
                            _ => rest.chars().next().map_or(0, char::len_utf8),
                        };
                        let message = format!(
                            "invalid Unicode surrogate pair at or near \"{}\"",
                            &rest[..length]
                        );
                        return Err(SqlError::new(SqlState::SYNTAX_ERROR, message)
                            .at(positions.of(near as u32)));
                    };
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                    index += length;
                }
                push_char(value, code).map_err(|message| {
                    let near = &piece[begin..index];
                    let message = format!("{message} at or near \"{near}\"");
                    SqlError::new(SqlState::SYNTAX_ERROR, message).at(place)
                })?;
            }
            other => value.push(other),
        }
    }
    Ok(())
}

/// The number in `length` hexadecimal digits at `index`.
fn hex(bytes: &[u8], index: usize, length: usize) -> Option<u32> {
    let digits = bytes.get(index..index + length)?;
    digits.iter().try_fold(0u32, |code, &digit| {
        Some(code.wrapping_mul(16).wrapping_add(char::from(digit).to_digit(16)?))
    })
}

fn push_byte(value: &mut Vec<u8>, byte: u8) -> Result<()> {
    if byte == 0 {
        return Err(invalid_bytes(&[0]));
    }
    value.push(byte);
    Ok(())
}

/// Appends a character; what is wrong with it, if it is none.
fn push_char(value: &mut Vec<u8>, code: u32) -> std::result::Result<(), &'static str> {
    let character = char::from_u32(code).filter(|&character| character != '\0');
    let Some(character) = character else {
        return Err(match (0xDC00..0xE000).contains(&code) {
            true => "invalid Unicode surrogate pair",
            false => "invalid Unicode escape value",
        });
    };
    value.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(())
}

/// 22021 for the first wrong sequence in `bytes`.
fn invalid_bytes(bytes: &[u8]) -> SqlError {
    let start = std::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), |_| 0);
    let wrong = bytes.get(start).copied().unwrap_or(0);
    let length = match wrong {
        0xC0..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
        _ => 1,
    };
    let shown: Vec<String> =
        bytes[start..].iter().take(length).map(|byte| format!("0x{byte:02x}")).collect();
    SqlError::new(
        SqlState::CHARACTER_NOT_IN_REPERTOIRE,
        format!("invalid byte sequence for encoding \"UTF8\": {}", shown.join(" ")),
    )
}

/// The first backslash of a string with escapes, and what it escapes.
pub fn first_escape(raw: &str) -> Option<u8> {
    let piece = pieces(raw, true).find(|(piece, _)| piece.contains('\\'))?.0;
    piece.as_bytes().get(piece.find('\\')? + 1).copied()
}

/// Whether a string with escapes has `\'` in it.
pub fn escapes_quote(raw: &str) -> bool {
    pieces(raw, true).any(|(piece, _)| {
        let mut bytes = piece.bytes();
        while let Some(byte) = bytes.next() {
            if byte == b'\\' && bytes.next() == Some(b'\'') {
                return true;
            }
        }
        false
    })
}

/// `U&` text without the UESCAPE behind it, and the character that escapes.
fn without_escape(raw: &str) -> (&str, u8) {
    let mut lexer = Lexer::new(raw);
    let text = lexer.next_token();
    lexer.next_token();
    let escape = lexer.next_token();
    let escape = &raw[escape.start as usize..escape.end as usize];
    (&raw[..text.end as usize], escape_character(escape).unwrap_or(b'\\'))
}

/// The value of `U&` text: four hex digits after the escape character, or `+` and six.
fn unicode(text: &str, escape: u8, positions: &Positions<'_>, at: u32) -> Result<String> {
    let mut value = Vec::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() {
        if bytes[index] != escape {
            value.push(bytes[index]);
            index += 1;
            continue;
        }
        if bytes.get(index + 1) == Some(&escape) {
            value.push(escape);
            index += 2;
            continue;
        }
        let place = positions.of(at + index as u32);
        let (mut code, length) = unicode_escape(bytes, index, escape).ok_or_else(|| {
            SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode escape")
                .hint("Unicode escapes must be \\XXXX or \\+XXXXXX.")
                .at(place)
        })?;
        index += length;
        if (0xD800..0xDC00).contains(&code) {
            match unicode_escape(bytes, index, escape) {
                Some((low, length)) if (0xDC00..0xE000).contains(&low) => {
                    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                    index += length;
                }
                _ => {
                    return Err(SqlError::new(
                        SqlState::SYNTAX_ERROR,
                        "invalid Unicode surrogate pair",
                    )
                    .at(positions.of(at + index as u32)));
                }
            }
        }
        push_char(&mut value, code)
            .map_err(|message| SqlError::new(SqlState::SYNTAX_ERROR, message).at(place))?;
    }
    Ok(String::from_utf8(value).expect("whole characters were put together"))
}

/// The code of the escape at `index`, and its length.
fn unicode_escape(bytes: &[u8], index: usize, escape: u8) -> Option<(u32, usize)> {
    if bytes.get(index) != Some(&escape) {
        return None;
    }
    match bytes.get(index + 1) {
        Some(b'+') => hex(bytes, index + 2, 6).map(|code| (code, 8)),
        _ => hex(bytes, index + 1, 4).map(|code| (code, 5)),
    }
}
