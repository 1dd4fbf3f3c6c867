//! bit and varbit: strings of bits, their text and binary forms, and what is computed with them.
//!
//! PostgreSQL: `varbit.c`. A value is held as bytes that compare as its type does (by bits, and of two of which one begins the
//! other the shorter is less), so that it is stored, hashed and made a key as bytea is. They are a group for each 64
//! bits, of which the last alone may have fewer:
//!
//! ```text
//! bits u64, the first one highest, zeros behind the last · how many u8 (1 to 64)
//! ```

use super::account;
use super::failure::{insufficient, invalid_binary, invalid_parameter, left_over, out_of_range};
use super::function::Callable::{self, Plain};
use super::{CallContext, Datum, Form, SqlType, form};
use crate::error::{Result, SqlError};
use crate::function::Accumulator;
use crate::sqlstate::SqlState;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1673, Plain(|c, a| Ok(both(&bits(&a[0]), &bits(&a[1]), Operation::And)?.datum(c)))),
    (1674, Plain(|c, a| Ok(both(&bits(&a[0]), &bits(&a[1]), Operation::Or)?.datum(c)))),
    (1675, Plain(|c, a| Ok(both(&bits(&a[0]), &bits(&a[1]), Operation::Xor)?.datum(c)))),
    (1676, Plain(|c, a| Ok(bits(&a[0]).inverted().datum(c)))),
    (1677, Plain(|c, a| Ok(bits(&a[0]).shifted(i64::from(a[1].int4())).datum(c)))),
    (1678, Plain(|c, a| Ok(bits(&a[0]).shifted(-i64::from(a[1].int4())).datum(c)))),
    (1679, Plain(|c, a| Ok(bits(&a[0]).followed_by(&bits(&a[1]))?.datum(c)))),
    (1680, Plain(|c, a| Ok(substring(&bits(&a[0]), a[1].int4(), Some(a[2].int4()))?.datum(c)))),
    (1681, Plain(|_, a| Ok(Datum::Int4(length(a[0].bytea()) as i32)))),
    (1682, Plain(|_, a| Ok(Datum::Int4(length(a[0].bytea()).div_ceil(8) as i32)))),
    (1683, Plain(|c, a| Ok(BitString::of_integer(i64::from(a[0].int4()), a[1].int4()).datum(c)))),
    (1684, Plain(|_, a| Ok(Datum::Int4(bits(&a[0]).integer(32, "integer")? as i32)))),
    (1685, Plain(to_exact_length)),
    (1687, Plain(to_length)),
    (1698, Plain(|_, a| Ok(Datum::Int4(bits(&a[0]).position(&bits(&a[1])) as i32)))),
    (1699, Plain(|c, a| Ok(substring(&bits(&a[0]), a[1].int4(), None)?.datum(c)))),
    (2075, Plain(|c, a| Ok(BitString::of_integer(a[0].int8(), a[1].int4()).datum(c)))),
    (2076, Plain(|_, a| Ok(Datum::Int8(bits(&a[0]).integer(64, "bigint")? as i64)))),
    (3030, Plain(overlay)),
    (3031, Plain(overlay)),
    (3032, Plain(get_bit)),
    (3033, Plain(set_bit)),
    (6162, Plain(|_, a| Ok(Datum::Int8(bits(&a[0]).count_ones())))),
];

/// The most bits of one value.
const MAX_LENGTH: usize = i32::MAX as usize - 7;
/// The bytes of a group.
const GROUP: usize = 9;

/// A value that is computed with.
#[derive(Clone, Default)]
struct BitString {
    /// The first bit is the highest of the first word; those behind the last one are zero.
    words: Vec<u64>,
    length: usize,
}

/// A word whose first `count` bits are set.
fn mask(count: usize) -> u64 {
    if count == 0 { 0 } else { u64::MAX << (64 - count) }
}

/// How many bits stored bytes hold.
fn length(stored: &[u8]) -> usize {
    stored.last().map_or(0, |last| (stored.len() / GROUP - 1) * 64 + usize::from(*last))
}

/// The words of stored bytes, each with how many of its bits count.
fn words(stored: &[u8]) -> impl Iterator<Item = (u64, usize)> {
    stored.chunks_exact(GROUP).map(|group| {
        let (word, count) = group.split_first_chunk().expect("a group has eight bytes of bits");
        (u64::from_be_bytes(*word), usize::from(count[0]))
    })
}

fn bits(datum: &Datum<'_>) -> BitString {
    BitString::of(datum.bytea())
}

impl BitString {
    fn of(stored: &[u8]) -> BitString {
        BitString { words: words(stored).map(|(word, _)| word).collect(), length: length(stored) }
    }

    fn zeros(length: usize) -> BitString {
        BitString { words: vec![0; length.div_ceil(64)], length }
    }

    /// The last `length` bits of a number, behind as many copies of its sign as are missing; of no such length 1.
    fn of_integer(value: i64, length: i32) -> BitString {
        let length = usize::try_from(length).ok().filter(|bits| (1..=MAX_LENGTH).contains(bits));
        let length = length.unwrap_or(1);
        let sign = if value < 0 { u64::MAX } else { 0 };
        let mut made = BitString::default();
        let mut signs = length.saturating_sub(64);
        while signs > 0 {
            let count = signs.min(64);
            made.push(sign & mask(count), count);
            signs -= count;
        }
        let count = length.min(64);
        made.push((value as u64) << (64 - count), count);
        made
    }

    /// Adds the first `count` bits of a word whose others are zero.
    fn push(&mut self, word: u64, count: usize) {
        let used = self.length % 64;
        match self.words.last_mut() {
            Some(last) if used > 0 => {
                *last |= word >> used;
                if count > 64 - used {
                    self.words.push(word << (64 - used));
                }
            }
            _ if count > 0 => self.words.push(word),
            _ => {}
        }
        self.length += count;
    }

    /// Up to 64 bits from the one at `from` on.
    fn word_at(&self, from: usize, count: usize) -> u64 {
        let (at, offset) = (from / 64, from % 64);
        let mut word = self.words.get(at).map_or(0, |word| word << offset);
        if offset > 0 {
            word |= self.words.get(at + 1).map_or(0, |next| next >> (64 - offset));
        }
        word & mask(count)
    }

    fn append(&mut self, other: &BitString, from: usize, to: usize) {
        let mut at = from;
        while at < to {
            let count = (to - at).min(64);
            self.push(other.word_at(at, count), count);
            at += count;
        }
    }

    fn cut(&self, from: usize, to: usize) -> BitString {
        let mut part = BitString::default();
        part.append(self, from, to);
        part
    }

    /// Made shorter at its end, or longer with zeros.
    fn resized(mut self, length: usize) -> BitString {
        self.words.resize(length.div_ceil(64), 0);
        if let Some(last) = self.words.last_mut()
            && !length.is_multiple_of(64)
        {
            *last &= mask(length % 64);
        }
        BitString { length, ..self }
    }

    fn inverted(mut self) -> BitString {
        self.words.iter_mut().for_each(|word| *word = !*word);
        let length = self.length;
        self.resized(length)
    }

    /// Its bits `by` places to the left, or to the right; what leaves it is lost.
    fn shifted(self, by: i64) -> BitString {
        let places = (by.unsigned_abs() as usize).min(self.length);
        if by >= 0 {
            let length = self.length;
            return self.cut(places, length).resized(length);
        }
        let mut moved = BitString::zeros(places);
        moved.append(&self, 0, self.length - places);
        moved
    }

    fn followed_by(mut self, other: &BitString) -> Result<BitString> {
        if self.length + other.length > MAX_LENGTH {
            return Err(too_long());
        }
        self.append(other, 0, other.length);
        Ok(self)
    }

    /// The number that its bits are, none of them a sign.
    fn integer(&self, width: usize, name: &str) -> Result<u64> {
        if self.length > width {
            return Err(out_of_range(name));
        }
        Ok(self.words.first().map_or(0, |word| word >> (64 - self.length)))
    }

    /// Where `part` is found first, from 1 on; 0: nowhere.
    fn position(&self, part: &BitString) -> usize {
        if self.length == 0 || part.length > self.length {
            return 0;
        }
        let found = account::stepping(0..=self.length - part.length).find(|start| {
            part.words.iter().enumerate().all(|(at, word)| {
                let count = (part.length - at * 64).min(64);
                self.word_at(start + at * 64, count) == *word
            })
        });
        found.map_or(0, |start| start + 1)
    }

    fn count_ones(&self) -> i64 {
        self.words.iter().map(|word| i64::from(word.count_ones())).sum()
    }

    fn store(&self) -> Vec<u8> {
        let mut stored = Vec::with_capacity(self.words.len() * GROUP);
        for (at, word) in self.words.iter().enumerate() {
            stored.extend_from_slice(&word.to_be_bytes());
            stored.push((self.length - at * 64).min(64) as u8);
        }
        stored
    }

    fn datum<'a>(&self, context: &CallContext<'a>) -> Datum<'a> {
        Datum::Bytea(account::copied(context.arena, &self.store()))
    }
}

/// What is done with two strings of one length, bit by bit.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    /// `&`
    And,
    /// `|`
    Or,
    /// `#`
    Xor,
}

impl Operation {
    fn word(self) -> &'static str {
        match self {
            Operation::And => "AND",
            Operation::Or => "OR",
            Operation::Xor => "XOR",
        }
    }

    fn of(self, a: u64, b: u64) -> u64 {
        match self {
            Operation::And => a & b,
            Operation::Or => a | b,
            Operation::Xor => a ^ b,
        }
    }
}

fn both(a: &BitString, b: &BitString, operation: Operation) -> Result<BitString> {
    if a.length != b.length {
        let word = operation.word();
        return Err(mismatch(format!("cannot {word} bit strings of different sizes")));
    }
    let words = a.words.iter().zip(&b.words).map(|(a, b)| operation.of(*a, *b)).collect();
    Ok(BitString { words, length: a.length })
}

fn substring(value: &BitString, start: i32, count: Option<i32>) -> Result<BitString> {
    let end = match count {
        Some(..0) => return Err(negative_length()),
        Some(count) => start.checked_add(count),
        None => None,
    };
    let end = end.map_or(value.length, |end| (end.max(1) as usize - 1).min(value.length));
    Ok(value.cut(start.max(1) as usize - 1, end))
}

/// `overlay(value, new, start [, count])`.
fn overlay<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (value, new, start) = (bits(&a[0]), bits(&a[1]), a[2].int4());
    let count = a.get(3).map_or(new.length as i32, Datum::int4);
    if start <= 0 {
        return Err(negative_length());
    }
    let behind = start.checked_add(count).ok_or_else(|| out_of_range("integer"))?;
    let before = substring(&value, 1, Some(start - 1))?;
    let rest = substring(&value, behind, None)?;
    Ok(before.followed_by(&new)?.followed_by(&rest)?.datum(context))
}

fn bit_index(value: &BitString, index: i32) -> Result<(usize, u64)> {
    match usize::try_from(index).ok().filter(|index| *index < value.length) {
        Some(index) => Ok((index / 64, 1 << (63 - index % 64))),
        None => Err(SqlError::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            format!("bit index {index} out of valid range (0..{})", value.length as i64 - 1),
        )),
    }
}

fn get_bit<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let value = bits(&a[0]);
    let (word, bit) = bit_index(&value, a[1].int4())?;
    Ok(Datum::Int4(i32::from(value.words[word] & bit != 0)))
}

fn set_bit<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let mut value = bits(&a[0]);
    let (word, bit) = bit_index(&value, a[1].int4())?;
    match a[2].int4() {
        0 => value.words[word] &= !bit,
        1 => value.words[word] |= bit,
        _ => return Err(invalid_parameter("new bit must be 0 or 1")),
    }
    Ok(value.datum(context))
}

/// `bit(value, length, explicit)`: only who asks for it has bits cut off or zeros added.
fn to_exact_length<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (had, wanted) = (length(a[0].bytea()), a[1].int4());
    match usize::try_from(wanted) {
        Ok(wanted @ 1..=MAX_LENGTH) if wanted != had => {
            if !a[2].bool() {
                return Err(not_of_length(had, wanted));
            }
            Ok(bits(&a[0]).resized(wanted).datum(context))
        }
        _ => Ok(a[0]),
    }
}

/// `varbit(value, length, explicit)`: only who asks for it has bits cut off.
fn to_length<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    match usize::try_from(a[1].int4()) {
        Ok(most @ 1..) if most < length(a[0].bytea()) => {
            if !a[2].bool() {
                return Err(longer_than(most));
            }
            Ok(bits(&a[0]).resized(most).datum(context))
        }
        _ => Ok(a[0]),
    }
}

fn mismatch(message: String) -> SqlError {
    SqlError::new(SqlState::STRING_DATA_LENGTH_MISMATCH, message)
}

fn not_of_length(had: usize, wanted: usize) -> SqlError {
    mismatch(format!("bit string length {had} does not match type bit({wanted})"))
}

fn longer_than(most: usize) -> SqlError {
    SqlError::new(
        SqlState::STRING_DATA_RIGHT_TRUNCATION,
        format!("bit string too long for type bit varying({most})"),
    )
}

fn too_long() -> SqlError {
    SqlError::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        format!("bit string length exceeds the maximum allowed ({MAX_LENGTH})"),
    )
}

fn negative_length() -> SqlError {
    SqlError::new(SqlState::SUBSTRING_ERROR, "negative substring length not allowed")
}

/// That a value coming in has the length that its type wants.
fn check_length(had: usize, ty: SqlType) -> Result<()> {
    match usize::try_from(ty.typmod) {
        Ok(most @ 1..) if form(ty.oid.0) == Form::Bits { varying: true } && had > most => {
            Err(longer_than(most))
        }
        Ok(wanted @ 1..) if form(ty.oid.0) == Form::Bits { varying: false } && had != wanted => {
            Err(not_of_length(had, wanted))
        }
        _ => Ok(()),
    }
}

/// Reads zeros and ones, or hexadecimal digits behind an x; a b may stand before zeros and ones.
pub(crate) fn read<'a>(context: &CallContext<'a>, ty: SqlType, text: &str) -> Result<Datum<'a>> {
    let (digits, radix) = match text.as_bytes().first() {
        Some(b'x' | b'X') => (&text[1..], 16),
        Some(b'b' | b'B') => (&text[1..], 2),
        _ => (text, 2),
    };
    let width = if radix == 16 { 4 } else { 1 };
    if digits.len() > MAX_LENGTH / width {
        return Err(too_long());
    }
    check_length(digits.len() * width, ty)?;
    let mut value = BitString::default();
    for digit in digits.chars() {
        let Some(number) = digit.to_digit(radix) else {
            let name = if radix == 16 { "hexadecimal" } else { "binary" };
            return Err(SqlError::new(
                SqlState::INVALID_TEXT_REPRESENTATION,
                format!("\"{digit}\" is not a valid {name} digit"),
            ));
        };
        value.push(u64::from(number) << (64 - width), width);
    }
    Ok(value.datum(context))
}

/// Zeros and ones.
pub(crate) fn write(stored: &[u8], out: &mut Vec<u8>) {
    out.reserve(length(stored));
    for (word, count) in words(stored) {
        out.extend((0..count).map(|at| b'0' + (word >> (63 - at) & 1) as u8));
    }
}

/// The binary form: how many bits (i32), and the bytes with them.
pub(crate) fn send(stored: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(length(stored) as i32).to_be_bytes());
    for (word, count) in words(stored) {
        out.extend_from_slice(&word.to_be_bytes()[..count.div_ceil(8)]);
    }
}

pub(crate) fn receive<'a>(
    context: &CallContext<'a>,
    ty: SqlType,
    bytes: &[u8],
) -> Result<Datum<'a>> {
    let (count, bytes) = bytes.split_first_chunk::<4>().ok_or_else(insufficient)?;
    let length = usize::try_from(i32::from_be_bytes(*count)).ok();
    let Some(length) = length.filter(|length| *length <= MAX_LENGTH) else {
        return Err(invalid_binary("invalid length in external bit string"));
    };
    check_length(length, ty)?;
    if bytes.len() < length.div_ceil(8) {
        return Err(insufficient());
    }
    if bytes.len() > length.div_ceil(8) {
        return Err(left_over());
    }
    let mut value = BitString::default();
    bytes.iter().for_each(|byte| value.push(u64::from(*byte) << 56, 8));
    Ok(value.resized(length).datum(context))
}

/// bit_and, bit_or, bit_xor of strings of bits.
pub(crate) struct Combined {
    operation: Operation,
    state: Option<BitString>,
}

impl Combined {
    pub(crate) fn new(operation: Operation) -> Combined {
        Combined { operation, state: None }
    }
}

impl Accumulator for Combined {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        if !arguments[0].is_null() {
            let value = bits(&arguments[0]);
            self.state = Some(match &self.state {
                Some(state) => both(state, &value, self.operation)?,
                None => value,
            });
        }
        Ok(())
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(self.state.as_ref().map_or(Datum::Null, |state| state.datum(context)))
    }

    fn bytes(&self) -> usize {
        size_of::<Combined>() + self.state.as_ref().map_or(0, |state| state.words.len() * 8)
    }
}
