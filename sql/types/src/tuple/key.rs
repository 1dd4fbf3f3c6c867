//! Keys: columns as bytes that sort, by memcmp, as the columns do.
//!
//! A column is a marker byte (NULL sorts before or behind everything else) and its value: integers big-endian with the
//! sign bit turned, floats by IEEE's total order with one NaN and one zero, text as its bytes and a final zero (text has no
//! zero bytes; C.UTF-8 orders by bytes; a citext in lower case), bytea with its zeros escaped, numeric and jsonb as `types` orders them, arrays and
//! rows part by part. DESC turns every bit
//! of the value. Every encoding ends itself, so that a key of several columns compares column by column, and a prefix of
//! the columns is a prefix of the bytes. Columns of a primary key have no marker: they are never NULL.

use super::corrupt;
use super::form::Form;
use super::value::{Heap, Value};
use crate::array::Array;
use crate::contrib::{contrib_type, ordered};
use crate::depth::deeper;
use crate::error::Result;
use crate::order::without_blanks;
use crate::text::case::folded;
use crate::text::utf8::utf8;
use crate::{Datum, Oid, oids, record, stored};
use bumpalo::Bump;

/// Marker of a NULL that sorts first, of a value, of a NULL that sorts last.
const NULL_FIRST: u8 = 0;
const PRESENT: u8 = 1;
const NULL_LAST: u8 = 2;

/// A column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyColumn {
    /// The column's place in the relation, or behind all of them that of an expression of an index (`EXPRESSIONS` of the
    /// catalog).
    pub column: usize,
    /// Its type.
    pub ty: Oid,
    /// Its form.
    pub form: Form,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST.
    pub nulls_first: bool,
    /// Whether there is a marker: it may be NULL.
    pub nullable: bool,
}

/// The columns of a key, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyLayout {
    /// The columns.
    pub columns: Vec<KeyColumn>,
}

impl KeyColumn {
    /// Appends one column's bytes.
    ///
    /// # Errors
    /// XX001 for parts of an array or a row that are no values.
    pub fn encode(&self, datum: Datum<'_>, out: &mut Vec<u8>) -> Result<()> {
        if self.nullable {
            out.push(match (datum.is_null(), self.nulls_first) {
                (false, _) => PRESENT,
                (true, true) => NULL_FIRST,
                (true, false) => NULL_LAST,
            });
        }
        let start = out.len();
        match datum {
            Datum::Null => return Ok(()),
            Datum::Bool(v) => out.push(u8::from(v)),
            Datum::Char(v) => out.push(v),
            Datum::Int2(v) => out.extend_from_slice(&(v as u16 ^ 1 << 15).to_be_bytes()),
            Datum::Int4(v) | Datum::Date(v) => {
                out.extend_from_slice(&(v as u32 ^ 1 << 31).to_be_bytes());
            }
            Datum::Int8(v) | Datum::Time(v) | Datum::Timestamp(v) | Datum::TimestampTz(v) => {
                out.extend_from_slice(&(v as u64 ^ 1 << 63).to_be_bytes());
            }
            Datum::TimeTz(v) => {
                let (place, west) = v.place();
                out.extend_from_slice(&(place as u64 ^ 1 << 63).to_be_bytes());
                out.extend_from_slice(&(west as u32 ^ 1 << 31).to_be_bytes());
            }
            Datum::Oid(v) => out.extend_from_slice(&v.to_be_bytes()),
            Datum::Float4(v) => out.extend_from_slice(&float_bits(f64::from(v)).to_be_bytes()),
            Datum::Float8(v) => out.extend_from_slice(&float_bits(v).to_be_bytes()),
            Datum::Interval(v) => {
                // As PostgreSQL compares them: a month is 30 days, a day 24 hours.
                let days = i128::from(v.months) * 30 + i128::from(v.days);
                let micros = days * 86_400_000_000 + i128::from(v.micros);
                out.extend_from_slice(&(micros as u128 ^ 1 << 127).to_be_bytes());
            }
            Datum::Uuid(v) => out.extend_from_slice(v),
            Datum::Text(v) => {
                match crate::builtin::stand_in(self.ty.0) {
                    oids::BPCHAR => out.extend_from_slice(without_blanks(v).as_bytes()),
                    oids::CITEXT => out.extend_from_slice(folded(v).as_bytes()),
                    _ => out.extend_from_slice(v.as_bytes()),
                }
                out.push(0);
            }
            Datum::Bytea(v) => {
                for byte in ordered(self.ty.0, v).iter() {
                    out.push(*byte);
                    if *byte == 0 {
                        out.push(0xFF);
                    }
                }
                out.extend_from_slice(&[0, 0]);
            }
            Datum::Numeric(v) => crate::numeric::key::encode(v, out),
            Datum::Jsonb(v) => crate::json::encode_key(v, out),
            Datum::Array(v) => {
                let array = Array::of(v);
                encode_parts(array.slots().map(|slot| (array.element, slot)), out)?;
                out.push(array.dimension_count() as u8);
                for dimension in array.dimensions() {
                    out.extend_from_slice(&dimension.length.to_be_bytes());
                    out.extend_from_slice(&(dimension.lower as u32 ^ 1 << 31).to_be_bytes());
                }
            }
            Datum::Record(v) => deeper(|| encode_parts(record::fields(v), out))?,
        }
        if self.descending {
            for byte in &mut out[start..] {
                *byte = !*byte;
            }
        }
        Ok(())
    }
}

impl KeyColumn {
    /// Whether a value can be made of its bytes again, by [`KeyColumn::decode`]: of the forms whose equals are all the same
    /// value, byte by byte, and which that knows.
    #[must_use]
    pub fn keeps_values(&self) -> bool {
        match self.form {
            Form::Text => {
                !matches!(crate::builtin::stand_in(self.ty.0), oids::BPCHAR | oids::CITEXT)
            }
            Form::Bytea => {
                let held = crate::builtin::stand_in(self.ty.0);
                contrib_type(held).is_none_or(|found| found.ordered.is_none())
            }
            Form::TimeTz
            | Form::Float4
            | Form::Float8
            | Form::Interval
            | Form::Numeric
            | Form::Jsonb
            | Form::Array
            | Form::Record => false,
            _ => true,
        }
    }

    /// Takes this column's bytes off the front of a key, and makes the value of them.
    ///
    /// # Errors
    /// XX001.
    pub fn decode(&self, key: &mut &[u8], heap: &mut Heap) -> Result<Value> {
        let short = || corrupt("a key is too short");
        if self.nullable {
            let (marker, rest) = key.split_first().ok_or_else(short)?;
            *key = rest;
            if *marker != PRESENT {
                return Ok(Value::Null);
            }
        }
        let turn = if self.descending { 0xFF } else { 0 };
        let mut fixed = [0; 16];
        if let Some(width) = self.form.width() {
            let (bytes, rest) = key.split_at_checked(width).ok_or_else(short)?;
            *key = rest;
            for (to, from) in fixed.iter_mut().zip(bytes) {
                *to = from ^ turn;
            }
        }
        let word = u64::from_be_bytes(std::array::from_fn(|at| fixed[at]));
        let (short_word, long) = ((word >> 32) as u32 ^ 1 << 31, word ^ 1 << 63);
        Ok(match self.form {
            Form::Bool => Value::Bool(fixed[0] != 0),
            Form::Char => Value::Char(fixed[0]),
            Form::Int2 => Value::Int2(((word >> 48) as u16 ^ 1 << 15) as i16),
            Form::Int4 => Value::Int4(short_word as i32),
            Form::Int8 => Value::Int8(long as i64),
            Form::Oid => Value::Oid((word >> 32) as u32),
            Form::Date => Value::Date(short_word as i32),
            Form::Time => Value::Time(long as i64),
            Form::Timestamp => Value::Timestamp(long as i64),
            Form::TimestampTz => Value::TimestampTz(long as i64),
            Form::Uuid => Value::Uuid(fixed),
            Form::Text => {
                let end = key.iter().position(|byte| *byte == turn).ok_or_else(short)?;
                let (bytes, rest) = key.split_at(end);
                *key = &rest[1..];
                let turned: Vec<u8>;
                let bytes = if turn == 0 {
                    bytes
                } else {
                    turned = bytes.iter().map(|byte| byte ^ turn).collect();
                    &turned
                };
                let text = utf8(bytes).ok_or_else(|| corrupt("its text is not UTF-8"))?;
                heap.store(Datum::Text(text))
            }
            Form::Bytea => {
                let mut bytes = Vec::new();
                loop {
                    let (byte, rest) = key.split_first().ok_or_else(short)?;
                    *key = rest;
                    if byte ^ turn == 0 {
                        let (mark, rest) = key.split_first().ok_or_else(short)?;
                        *key = rest;
                        if mark ^ turn == 0 {
                            break;
                        }
                    }
                    bytes.push(byte ^ turn);
                }
                heap.store(Datum::Bytea(&bytes))
            }
            _ => return Err(corrupt("a key does not keep such values")),
        })
    }
}

/// The parts of an array or a row, each behind a marker; the end comes before any part, and a NULL behind all values.
fn encode_parts<'s>(
    parts: impl Iterator<Item = (u32, Option<&'s [u8]>)>,
    out: &mut Vec<u8>,
) -> Result<()> {
    const END: u8 = 0;
    let arena = Bump::new();
    for (ty, part) in parts {
        let Some(bytes) = part else {
            out.push(NULL_LAST);
            continue;
        };
        out.push(PRESENT);
        let ty = Oid(ty);
        let part = KeyColumn {
            column: 0,
            ty,
            form: Form::of(ty),
            descending: false,
            nulls_first: false,
            nullable: false,
        };
        part.encode(stored::read(&arena, ty.0, arena.alloc_slice_copy(bytes))?, out)?;
    }
    out.push(END);
    Ok(())
}

/// A float's bits in the order of PostgreSQL's btree: -0 is 0, NaN is the largest.
pub(crate) fn float_bits(v: f64) -> u64 {
    let bits = if v.is_nan() {
        f64::NAN.to_bits() & !(1 << 63)
    } else if v == 0.0 {
        0
    } else {
        v.to_bits()
    };
    if bits >> 63 == 1 { !bits } else { bits ^ 1 << 63 }
}

/// The end of the range of keys that begin with `prefix`: the next byte string behind them all. False if there is
/// none, because every byte is 255.
pub fn prefix_end(prefix: &mut Vec<u8>) -> bool {
    while let Some(last) = prefix.pop() {
        if last < 0xFF {
            prefix.push(last + 1);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Ordering;

    fn column(ty: u32, descending: bool, nulls_first: bool) -> KeyColumn {
        KeyColumn {
            column: 0,
            ty: Oid(ty),
            form: Form::of(Oid(ty)),
            descending,
            nulls_first,
            nullable: true,
        }
    }

    fn encoded(column: &KeyColumn, datum: Datum<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        column.encode(datum, &mut out).expect("the type can be a key");
        out
    }

    fn assert_ascending(column: KeyColumn, values: &[Datum<'_>]) {
        for (i, a) in values.iter().enumerate() {
            for (j, b) in values.iter().enumerate() {
                let order = encoded(&column, *a).cmp(&encoded(&column, *b));
                assert_eq!(order, i.cmp(&j), "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn bytes_sort_as_values_do() {
        assert_ascending(
            column(23, false, false),
            &[i32::MIN, -1, 0, 1, 256, i32::MAX].map(Datum::Int4),
        );
        assert_ascending(
            column(20, false, false),
            &[i64::MIN, -300, 0, 7, i64::MAX].map(Datum::Int8),
        );
        assert_ascending(
            column(701, false, false),
            &[f64::NEG_INFINITY, -1.5, -1e-300, 0.0, 1e-300, 2.0, f64::INFINITY, f64::NAN]
                .map(Datum::Float8),
        );
        assert_ascending(
            column(25, false, false),
            &["", "a", "aa", "ab", "b", "ä"].map(Datum::Text),
        );
        assert_ascending(
            column(17, false, false),
            &[b"".as_slice(), b"\0", b"\0\0", b"\0\x01", b"\x01", b"\xFF"].map(Datum::Bytea),
        );
    }

    #[test]
    fn descending_turns_values_and_leaves_nulls_where_they_are_put() {
        let values = [Datum::Null, Datum::Text("b"), Datum::Text("aa"), Datum::Text("a")];
        assert_ascending(column(25, true, true), &values);
        let values = [Datum::Text("b"), Datum::Text("aa"), Datum::Text("a"), Datum::Null];
        assert_ascending(column(25, true, false), &values);
    }

    #[test]
    fn values_come_back_from_keys() {
        let uuid: [u8; 16] = std::array::from_fn(|at| at as u8 * 17);
        let values = [
            (16, vec![Datum::Bool(true), Datum::Bool(false)]),
            (17, [b"".as_slice(), b"\0", b"a\0\0b\xFF"].map(Datum::Bytea).to_vec()),
            (18, vec![Datum::Char(0), Datum::Char(200)]),
            (20, [i64::MIN, -1, 0, i64::MAX].map(Datum::Int8).to_vec()),
            (21, [i16::MIN, -1, 0, i16::MAX].map(Datum::Int2).to_vec()),
            (23, [i32::MIN, -1, 0, i32::MAX].map(Datum::Int4).to_vec()),
            (25, ["", "a", "h\u{e9}llo"].map(Datum::Text).to_vec()),
            (26, vec![Datum::Oid(0), Datum::Oid(u32::MAX)]),
            (1082, vec![Datum::Date(-5)]),
            (1114, vec![Datum::Timestamp(-5)]),
            (2950, vec![Datum::Uuid(&uuid)]),
        ];
        for (ty, mut values) in values {
            values.push(Datum::Null);
            for (descending, nulls_first) in [(false, false), (true, true)] {
                let column = column(ty, descending, nulls_first);
                assert!(column.keeps_values());
                for value in &values {
                    let mut key = encoded(&column, *value);
                    key.push(7);
                    let (mut rest, mut heap) = (&key[..], Heap::default());
                    let back = column.decode(&mut rest, &mut heap).expect("it was a value");
                    assert_eq!(format!("{:?}", heap.view(&back)), format!("{value:?}"));
                    assert_eq!(rest, [7], "{value:?}");
                    for cut in 0..key.len() - 1 {
                        let _ = column.decode(&mut &key[..cut], &mut heap);
                    }
                }
            }
        }
    }

    #[test]
    fn equal_values_have_equal_keys() {
        let float = column(701, false, false);
        assert_eq!(encoded(&float, Datum::Float8(0.0)), encoded(&float, Datum::Float8(-0.0)));
        let padded = column(1042, false, false);
        assert_eq!(encoded(&padded, Datum::Text("a ")), encoded(&padded, Datum::Text("a")));
    }

    #[test]
    fn the_end_of_a_prefix_is_behind_all_that_begins_with_it() {
        let mut end = vec![1, 0xFF];
        assert!(prefix_end(&mut end));
        assert_eq!(end.as_slice().cmp(&[1, 0xFF, 0xFF, 0xFF]), Ordering::Greater);
        assert!(!prefix_end(&mut vec![0xFF, 0xFF]));
    }
}
