//! `hstore` (PostgreSQL 15 manual, appendix F.18): sets of keys with values, each a text or NULL.
//!
//! A value is the keys and values in order, one text behind another; a zero byte; the number of pairs; and for each key and
//! each value where its text ends, with a bit that says NULL. All numbers are big-endian: so the bytes sort as `hstore_cmp`
//! orders (the texts, the number of pairs, the ends). Keys are in order of their length, then of their bytes, and no two are
//! the same.

mod functions;
mod json;
mod record;

pub(crate) use functions::FUNCTIONS;
pub(crate) use json::write_json;

use super::{ContribType, internal, stored};
use crate::error::{Result, SqlError};
use crate::failure::insufficient;
use crate::integer::is_space;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account, check_text};

/// How it is read and written.
pub(super) const TYPE: ContribType =
    ContribType { read, write: |_, bytes, out| write(bytes, out), receive, send, ordered: None };

/// The bit of an end that says that there is no text.
const NULL: u32 = 1;
/// The longest key or value in bytes.
const LENGTH_MAX: usize = 0x3FFF_FFFF;

/// A stored hstore, looked at in place.
#[derive(Clone, Copy)]
pub(crate) struct Hstore<'a> {
    texts: &'a str,
    ends: &'a [u8],
}

/// A key with its value.
type Pair<'a> = (&'a str, Option<&'a str>);

impl<'a> Hstore<'a> {
    /// The value of an argument.
    pub(super) fn of(datum: &Datum<'a>) -> Hstore<'a> {
        Hstore::view(datum.bytea())
    }

    fn view(bytes: &'a [u8]) -> Hstore<'a> {
        let zero = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        let texts = std::str::from_utf8(&bytes[..zero]).unwrap_or("");
        Hstore { texts, ends: bytes.get(zero + 5..).unwrap_or(&[]) }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len() / 8
    }

    fn end(&self, at: usize) -> u32 {
        let word = self.ends.get(at * 4..at * 4 + 4).and_then(|word| word.try_into().ok());
        word.map_or(0, u32::from_be_bytes)
    }

    fn text(&self, at: usize) -> &'a str {
        let start = if at == 0 { 0 } else { self.end(at - 1) >> 1 };
        self.texts.get(start as usize..(self.end(at) >> 1) as usize).unwrap_or("")
    }

    fn key(&self, pair: usize) -> &'a str {
        self.text(pair * 2)
    }

    fn value(&self, pair: usize) -> Option<&'a str> {
        let at = pair * 2 + 1;
        (self.end(at) & NULL == 0).then(|| self.text(at))
    }

    pub(super) fn pairs(self) -> impl Iterator<Item = Pair<'a>> {
        account::stepping(0..self.len()).map(move |pair| (self.key(pair), self.value(pair)))
    }

    /// The value of a key; none where it is not there.
    pub(super) fn get(&self, key: &str) -> Option<Option<&'a str>> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match order(self.key(middle)).cmp(&order(key)) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(self.value(middle)),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }
}

/// What keys are in order of.
fn order(key: &str) -> (usize, &[u8]) {
    (key.len(), key.as_bytes())
}

/// Stores pairs; of equal keys the first one stays.
pub(super) fn build<'a>(context: &CallContext<'a>, mut pairs: Vec<Pair<'_>>) -> Result<Datum<'a>> {
    for (key, value) in &pairs {
        check(key, "key")?;
        check(value.unwrap_or(""), "value")?;
    }
    pairs.sort_by(|(a, _), (b, _)| order(a).cmp(&order(b)));
    pairs.dedup_by(|(later, _), (kept, _)| later == kept);
    let mut out = Vec::new();
    let mut ends = Vec::with_capacity(pairs.len() * 8);
    for (key, value) in account::stepping(pairs.iter()) {
        out.extend_from_slice(key.as_bytes());
        ends.extend_from_slice(&((out.len() as u32) << 1).to_be_bytes());
        out.extend_from_slice(value.unwrap_or("").as_bytes());
        let null = if value.is_none() { NULL } else { 0 };
        ends.extend_from_slice(&((out.len() as u32) << 1 | null).to_be_bytes());
    }
    account::insist_on_value(out.len() + ends.len());
    out.push(0);
    out.extend_from_slice(&(pairs.len() as u32).to_be_bytes());
    out.extend_from_slice(&ends);
    Ok(stored(context, &out))
}

fn check(text: &str, what: &str) -> Result<()> {
    if text.len() <= LENGTH_MAX {
        return Ok(());
    }
    let message = format!("string too long for hstore {what}");
    Err(SqlError::new(SqlState::STRING_DATA_RIGHT_TRUNCATION, message))
}

/// 22004: a NULL among keys.
fn null_key() -> SqlError {
    let message = "null value not allowed for hstore key";
    SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message)
}

/// The value with a key set, which `h['key'] = value` stands for.
///
/// # Errors
/// 22004 for no key.
pub(crate) fn with<'a>(
    context: &CallContext<'a>,
    target: &Datum<'a>,
    value: &Datum<'a>,
    key: &Datum<'a>,
) -> Result<Datum<'a>> {
    if key.is_null() {
        let message = "hstore subscript in assignment must not be null";
        return Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message));
    }
    let value = if value.is_null() { None } else { Some(value.text()) };
    let mut pairs = vec![(key.text(), value)];
    if !target.is_null() {
        pairs.extend(Hstore::of(target).pairs());
    }
    build(context, pairs)
}

/// `"key"=>"value", "other"=>NULL`.
fn write(bytes: &[u8], out: &mut Vec<u8>) {
    let quoted = |text: &str, out: &mut Vec<u8>| {
        out.push(b'"');
        for &byte in account::byte_stretches(text.as_bytes()).flatten() {
            if matches!(byte, b'"' | b'\\') {
                out.push(b'\\');
            }
            out.push(byte);
        }
        out.push(b'"');
    };
    for (at, (key, value)) in Hstore::view(bytes).pairs().enumerate() {
        if at > 0 {
            out.extend_from_slice(b", ");
        }
        quoted(key, out);
        out.extend_from_slice(b"=>");
        match value {
            Some(value) => quoted(value, out),
            None => out.extend_from_slice(b"NULL"),
        }
    }
}

/// Reads a text from left to right.
struct Parser<'t> {
    text: &'t [u8],
    at: usize,
}

fn unexpected_end() -> SqlError {
    internal("Unexpected end of string")
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn unexpected(&self) -> SqlError {
        let rest = std::str::from_utf8(&self.text[self.at..]).unwrap_or("");
        let near: String = rest.chars().take(1).collect();
        internal(format!("Syntax error near \"{near}\" at position {}", self.at))
    }

    /// A key or a value with whether it was in quotes; none at the end. A key ends before `=`, a value before a comma.
    fn word(&mut self, key: bool) -> Result<Option<(String, bool)>> {
        self.skip_spaces();
        let mut word = Vec::new();
        let quoted = match self.peek() {
            None => return Ok(None),
            Some(b'=') if key => return Err(self.unexpected()),
            Some(b'"') => true,
            // A value's first character is taken whatever it is.
            Some(first) => {
                if first != b'\\' {
                    word.push(first);
                    self.at += 1;
                }
                false
            }
        };
        if quoted {
            self.at += 1;
        }
        loop {
            account::step();
            match self.peek() {
                None if quoted => return Err(unexpected_end()),
                None => break,
                Some(b'\\') => {
                    self.at += 1;
                    word.push(self.peek().ok_or_else(unexpected_end)?);
                    self.at += 1;
                }
                Some(b'"') if quoted => {
                    self.at += 1;
                    break;
                }
                Some(b'=') if !quoted && key => break,
                Some(b',') if !quoted && !key => break,
                Some(byte) if !quoted && is_space(byte) => break,
                Some(byte) => {
                    word.push(byte);
                    self.at += 1;
                }
            }
        }
        // Bytes are left out only before ASCII characters, so that whole characters stay.
        Ok(Some((String::from_utf8(word).unwrap_or_default(), quoted)))
    }

    fn expect(&mut self, wanted: u8) -> Result<()> {
        match self.peek() {
            Some(found) if found == wanted => {
                self.at += 1;
                Ok(())
            }
            Some(_) => Err(self.unexpected()),
            None => Err(unexpected_end()),
        }
    }
}

fn read<'a>(context: &CallContext<'a>, text: &str) -> Result<Datum<'a>> {
    let mut parser = Parser { text: text.as_bytes(), at: 0 };
    let mut pairs: Vec<(String, Option<String>)> = Vec::new();
    while let Some((key, _)) = parser.word(true)? {
        check(&key, "key")?;
        parser.skip_spaces();
        parser.expect(b'=')?;
        parser.expect(b'>')?;
        let (value, quoted) = parser.word(false)?.ok_or_else(unexpected_end)?;
        check(&value, "value")?;
        let null = !quoted && value.eq_ignore_ascii_case("null");
        pairs.push((key, (!null).then_some(value)));
        parser.skip_spaces();
        if parser.peek().is_none() {
            break;
        }
        parser.expect(b',')?;
    }
    build(context, pairs.iter().map(|(key, value)| (&**key, value.as_deref())).collect())
}

fn receive<'a>(context: &CallContext<'a>, bytes: &[u8]) -> Result<Datum<'a>> {
    /// As many as PostgreSQL has memory for.
    const PAIRS_MAX: i32 = 26_843_545;
    let mut rest = bytes;
    let number = |rest: &mut &[u8]| -> Result<i32> {
        let (word, behind) = rest.split_first_chunk::<4>().ok_or_else(insufficient)?;
        *rest = behind;
        Ok(i32::from_be_bytes(*word))
    };
    let count = number(&mut rest)?;
    if !(0..=PAIRS_MAX).contains(&count) {
        let message =
            format!("number of pairs ({count}) exceeds the maximum allowed ({PAIRS_MAX})");
        return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message));
    }
    let mut pairs = Vec::new();
    for _ in account::stepping(0..count) {
        let text = |rest: &mut &'_ [u8]| -> Result<Option<String>> {
            let Ok(length) = usize::try_from(number(rest)?) else { return Ok(None) };
            let (text, behind) = rest.split_at_checked(length).ok_or_else(insufficient)?;
            *rest = behind;
            Ok(Some(check_text(text)?.to_owned()))
        };
        let key = text(&mut rest)?.ok_or_else(null_key)?;
        pairs.push((key, text(&mut rest)?));
    }
    if !rest.is_empty() {
        return Err(crate::failure::left_over());
    }
    build(context, pairs.iter().map(|(key, value)| (&**key, value.as_deref())).collect())
}

fn send(bytes: &[u8], out: &mut Vec<u8>) {
    let hstore = Hstore::view(bytes);
    out.extend_from_slice(&(hstore.len() as i32).to_be_bytes());
    for (key, value) in hstore.pairs() {
        for text in [Some(key), value] {
            let length = text.map_or(-1, |text| text.len() as i32);
            out.extend_from_slice(&length.to_be_bytes());
            out.extend_from_slice(text.unwrap_or("").as_bytes());
        }
    }
}
