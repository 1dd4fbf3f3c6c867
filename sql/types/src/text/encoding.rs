//! Encodings: bytes from one to another.
//!
//! PostgreSQL: `mbutils.c`, `ascii.c`. Texts are UTF-8; bytes are converted by the tables that clients' texts are; an encoding
//! without one answers 0A000.

use crate::account;
use crate::builtin;
use crate::encoding::Conversion;
use crate::encoding::names::{ENCODINGS, encoding_number};
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, check_text};
use std::borrow::Cow;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1713, Plain(length)),
    (1714, Plain(convert_from)),
    (1717, Plain(convert_to)),
    (1813, Plain(convert)),
    (1845, Plain(|c, a| to_ascii(c, a[0].text(), UTF8))),
    (1846, Plain(to_ascii_by_number)),
    (1847, Plain(to_ascii_by_name)),
];

const SQL_ASCII: usize = 0;
const UTF8: usize = 6;
const LATIN1: usize = 8;
const LATIN2: usize = 9;
const LATIN9: usize = 16;
const WIN1250: usize = 29;

fn invalid_name(what: &str, name: &str) -> SqlError {
    invalid_parameter(format!("invalid {what} name \"{name}\""))
}

/// The conversion between UTF8 and an encoding that has a table; 0A000 for one without.
fn conversion(encoding: usize) -> Result<Conversion> {
    let unknown = || SqlError::unsupported(format!("the encoding {} is", ENCODINGS[encoding]));
    Conversion::of(ENCODINGS[encoding]).ok_or_else(unknown)
}

/// Fails for bytes that the encoding does not have.
fn check(encoding: usize, bytes: &[u8]) -> Result<()> {
    if encoding == UTF8 {
        return check_text(bytes).map(|_| ());
    }
    if bytes.contains(&0) {
        return Err(SqlError::new(
            SqlState::CHARACTER_NOT_IN_REPERTOIRE,
            format!("invalid byte sequence for encoding \"{}\": 0x00", ENCODINGS[encoding]),
        ));
    }
    if encoding == SQL_ASCII {
        return Ok(());
    }
    // What the encoding has and UTF8 has not is not asked for here.
    match conversion(encoding)?.decode(bytes) {
        Err(error) if error.state() == SqlState::CHARACTER_NOT_IN_REPERTOIRE => Err(error),
        _ => Ok(()),
    }
}

/// Whether there is a conversion (`pg_conversion`).
fn is_converted(from: usize, to: usize) -> bool {
    /// Their columns: conforencoding, contoencoding.
    const PAIR: [usize; 2] = [4, 5];
    let wanted = [from.to_string(), to.to_string()];
    let known = builtin::relation("pg_conversion").into_iter().flat_map(|all| all.rows());
    let mut pairs =
        known.map(|row| PAIR.map(|column| row.get(column).unwrap_or_default().into_owned()));
    pairs.any(|pair| pair == wanted)
}

/// Bytes of one encoding, that they are known to be of, in another.
fn converted(bytes: &[u8], from: usize, to: usize) -> Result<Cow<'_, [u8]>> {
    let owned = |text: Cow<'_, str>| text.into_owned().into_bytes().into();
    match (from, to) {
        _ if from == to => Ok(bytes.into()),
        // All bytes are SQL_ASCII, and what they mean nobody knows.
        (_, SQL_ASCII) => Ok(bytes.into()),
        (SQL_ASCII, _) => check(to, bytes).map(|()| bytes.into()),
        (UTF8, _) => conversion(to)?.encode(check_text(bytes)?),
        (_, UTF8) => conversion(from)?.decode(bytes).map(owned),
        _ if is_converted(from, to) => {
            let text = conversion(from)?.decode(bytes)?;
            Ok(conversion(to)?.encode(&text)?.into_owned().into())
        }
        _ => {
            let (from, to) = (ENCODINGS[from], ENCODINGS[to]);
            Err(SqlError::new(
                SqlState::UNDEFINED_FUNCTION,
                format!(
                    "default conversion function for encoding \"{from}\" to \"{to}\" does not exist"
                ),
            ))
        }
    }
}

/// Checks bytes of one encoding and gives them in another.
fn checked<'b>(bytes: &'b [u8], from: usize, to: usize) -> Result<Cow<'b, [u8]>> {
    check(from, bytes)?;
    converted(bytes, from, to)
}

fn held<'a>(context: &CallContext<'a>, bytes: &[u8]) -> Datum<'a> {
    Datum::Bytea(account::copied(context.arena, bytes))
}

fn source(name: &str) -> Result<usize> {
    encoding_number(name).ok_or_else(|| invalid_name("source encoding", name))
}

fn destination(name: &str) -> Result<usize> {
    encoding_number(name).ok_or_else(|| invalid_name("destination encoding", name))
}

fn convert<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (from, to) = (source(a[1].text())?, destination(a[2].text())?);
    Ok(held(context, &checked(a[0].bytea(), from, to)?))
}

fn convert_from<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let from = source(a[1].text())?;
    let bytes = checked(a[0].bytea(), from, UTF8)?;
    Ok(Datum::Text(crate::arena_text(context, &bytes)))
}

fn convert_to<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let to = destination(a[1].text())?;
    Ok(held(context, &converted(a[0].text().as_bytes(), UTF8, to)?))
}

/// How many characters there are in bytes of an encoding.
fn length<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (bytes, name) = (a[0].bytea(), a[1].text());
    let encoding = encoding_number(name).ok_or_else(|| invalid_name("encoding", name))?;
    check(encoding, bytes)?;
    let count = match encoding {
        UTF8 => bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count(),
        SQL_ASCII => bytes.len(),
        _ => match conversion(encoding)?.decode(bytes) {
            Ok(text) => text.chars().count(),
            Err(_) => bytes.len(),
        },
    };
    Ok(Datum::Int4(count as i32))
}

/// The ASCII characters that stand for bytes from the given one on.
fn stand_ins(encoding: usize) -> Option<(u8, &'static [u8])> {
    Some(match encoding {
        LATIN1 => (
            160,
            b"  cL Y  \"Ca  -R     'u .,      ?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooooo/ouuuuyty",
        ),
        LATIN2 => (
            160,
            b" A L LS \"SSTZ-ZZ a,l'ls ,sstz\"zzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoooo/ruuuuyt.",
        ),
        LATIN9 => (
            160,
            b"  cL YS sCa  -R     Zu .z   EeY?AAAAAAACEEEEIIII NOOOOOxOUUUUYTBaaaaaaaceeeeiiii nooooo/ouuuuyty",
        ),
        WIN1250 => (
            128,
            b"  ' \"    %S<STZZ `'\"\".--  s>stzz   L A  \"CS  -RZ  ,l'u .,as L\"lzRAAAALCCCEEEEIIDDNNOOOOxRUUUUYTBraaaalccceeeeiiddnnoooo/ruuuuyt ",
        ),
        _ => return None,
    })
}

/// The bytes of a text, as if they were of this encoding, without accents.
fn to_ascii<'a>(context: &CallContext<'a>, text: &str, encoding: usize) -> Result<Datum<'a>> {
    let (first, characters) = stand_ins(encoding).ok_or_else(|| {
        SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("encoding conversion from {} to ASCII not supported", ENCODINGS[encoding]),
        )
    })?;
    let plain: Vec<u8> = account::byte_stretches(text.as_bytes())
        .flatten()
        .map(|byte| match byte.checked_sub(first) {
            _ if byte.is_ascii() => *byte,
            Some(at) => characters[usize::from(at)],
            None => b' ',
        })
        .collect();
    Ok(Datum::Text(crate::arena_text(context, &plain)))
}

fn to_ascii_by_number<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let number = usize::try_from(a[1].int4()).ok().filter(|number| *number < ENCODINGS.len());
    let number = number.ok_or_else(|| {
        let message = format!("{} is not a valid encoding code", a[1].int4());
        SqlError::new(SqlState::UNDEFINED_OBJECT, message)
    })?;
    to_ascii(context, a[0].text(), number)
}

fn to_ascii_by_name<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let number = encoding_number(a[1].text()).ok_or_else(|| {
        let message = format!("{} is not a valid encoding name", a[1].text());
        SqlError::new(SqlState::UNDEFINED_OBJECT, message)
    })?;
    to_ascii(context, a[0].text(), number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_a_stand_in() {
        for encoding in [LATIN1, LATIN2, LATIN9, WIN1250] {
            let (first, characters) = stand_ins(encoding).expect("it has them");
            assert_eq!(characters.len() + usize::from(first), 256, "{}", ENCODINGS[encoding]);
        }
    }

    #[test]
    fn encodings_have_more_than_one_name() {
        for (name, known) in [
            ("utf-8", "UTF8"),
            ("ISO 8859-1", "LATIN1"),
            ("windows-1252", "WIN1252"),
            ("Win", "WIN1251"),
        ] {
            assert_eq!(encoding_number(name).map(|number| ENCODINGS[number]), Some(known));
        }
        assert_eq!(encoding_number("latin"), None);
    }
}
