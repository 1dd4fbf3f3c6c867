//! Unicode's normal forms (`normalize`, `IS NORMALIZED`), and its code points spelled out (`unistr`).

use crate::account;
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};
use unicode_normalization::UnicodeNormalization;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] =
    &[(4350, Plain(normalize)), (4351, Plain(is_normalized)), (6198, Plain(unescape))];

/// A normal form.
enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Form {
    fn named(name: &str) -> Result<Form> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "NFC" => Form::Nfc,
            "NFD" => Form::Nfd,
            "NFKC" => Form::Nfkc,
            "NFKD" => Form::Nfkd,
            _ => return Err(invalid_parameter(format!("invalid normalization form: {name}"))),
        })
    }

    /// Whether each character of the text in this form is taken.
    fn each(&self, text: &str, take: impl FnMut(char) -> bool) -> bool {
        let characters = account::stepping(text.chars());
        match self {
            Form::Nfc => characters.nfc().all(take),
            Form::Nfd => characters.nfd().all(take),
            Form::Nfkc => characters.nfkc().all(take),
            Form::Nfkd => characters.nfkd().all(take),
        }
    }
}

fn normalize<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    let form = Form::named(a[1].text())?;
    if text.is_ascii() {
        return Ok(a[0]);
    }
    let mut made = super::growing(context);
    form.each(text, |character| {
        made.push(character);
        true
    });
    super::finished(made)
}

fn is_normalized<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let form = Form::named(a[1].text())?;
    let mut given = a[0].text().chars();
    let same = form.each(a[0].text(), |character| given.next() == Some(character));
    Ok(Datum::Bool(same && given.next().is_none()))
}

/// How a code point may be spelled: what stands behind the backslash, and how many hexadecimal digits follow.
const SPELLINGS: [(&str, usize); 4] = [("", 4), ("u", 4), ("+", 6), ("U", 8)];

#[cold]
fn invalid_pair() -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode surrogate pair")
}

/// The code point that an escape spells, without its backslash, and what is behind it.
fn spelled(text: &str) -> Option<(u32, &str)> {
    SPELLINGS.iter().find_map(|(mark, length)| {
        let behind = text.strip_prefix(mark)?;
        let (digits, rest) = behind.split_at_checked(*length)?;
        let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some((u32::from_str_radix(digits, 16).ok().filter(|_| hexadecimal)?, rest))
    })
}

/// A text with its escapes replaced; two that are a surrogate pair are one character.
fn unescape<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let mut out = super::growing(context);
    let mut first_of_pair: Option<u32> = None;
    let mut rest = a[0].text();
    while let Some(at) = super::find(rest.as_bytes(), b"\\") {
        account::step();
        let (plain, escape) = (&rest[..at], &rest[at + 1..]);
        out.push_str(plain);
        if first_of_pair.is_some() && (!plain.is_empty() || escape.starts_with('\\')) {
            return Err(invalid_pair());
        }
        if let Some(behind) = escape.strip_prefix('\\') {
            out.push('\\');
            rest = behind;
            continue;
        }
        let (mut code, behind) = spelled(escape).ok_or_else(|| {
            SqlError::new(SqlState::SYNTAX_ERROR, "invalid Unicode escape")
                .hint("Unicode escapes must be \\XXXX, \\+XXXXXX, \\uXXXX, or \\UXXXXXXXX.")
        })?;
        rest = behind;
        if code == 0 || code > 0x10_FFFF {
            return Err(invalid_parameter(format!("invalid Unicode code point: {code:04X}")));
        }
        let second = (0xDC00..0xE000).contains(&code);
        match first_of_pair.take() {
            Some(first) if second => code = 0x1_0000 + ((first - 0xD800) << 10) + (code - 0xDC00),
            None if !second => {}
            _ => return Err(invalid_pair()),
        }
        match char::from_u32(code) {
            Some(character) => out.push(character),
            None => first_of_pair = Some(code),
        }
    }
    if first_of_pair.is_some() {
        return Err(invalid_pair());
    }
    out.push_str(rest);
    super::finished(out)
}
