//! Comparing and hashing values by their type's default B-tree ordering.
//!
//! PostgreSQL: the `cmp` support function of each default operator class. NULL sorts behind everything here; where NULLs go
//! in a result is the sort's business. Texts compare by bytes, which is what C.UTF-8 means. Values that compare equal hash
//! equal: integers of all widths as one, numerics without their scale, -0 as 0.
//!
//! Rows of no type of their own may have fields of other types than one another, which PostgreSQL does not compare; nor
//! arrays of different elements. Here they are in some order all the same, in which those that cannot be compared and agree
//! in front of where that shows are neighbours; [`super::record_order`] is who refuses them.

use super::array::Array;
use super::depth::deeper;
use super::form::form;
use super::numeric::View;
use super::text::case;
use super::{Datum, datetime, json, oids, record, stored};
use crate::account;
use crate::builtin::stand_in;
use crate::contrib::ordered;
use bumpalo::Bump;
use std::cmp::Ordering;
use std::hash::Hasher;

/// Compares two values of the type `ty`.
#[must_use]
pub fn compare(ty: u32, a: &Datum<'_>, b: &Datum<'_>) -> Ordering {
    match (a, b) {
        (Datum::Null, Datum::Null) => Ordering::Equal,
        (Datum::Null, _) => Ordering::Greater,
        (_, Datum::Null) => Ordering::Less,
        (Datum::Int4(a), Datum::Int4(b)) | (Datum::Date(a), Datum::Date(b)) => a.cmp(b),
        (Datum::Int8(a), Datum::Int8(b)) if ty == oids::INT8 => a.cmp(b),
        // pg_lsn, xid8 and tid are unsigned.
        (Datum::Int8(a), Datum::Int8(b)) => match stand_in(ty) {
            oids::PG_LSN | oids::XID8 | oids::TID => (*a as u64).cmp(&(*b as u64)),
            _ => a.cmp(b),
        },
        (Datum::Time(a), Datum::Time(b))
        | (Datum::Timestamp(a), Datum::Timestamp(b))
        | (Datum::TimestampTz(a), Datum::TimestampTz(b)) => a.cmp(b),
        (Datum::TimeTz(a), Datum::TimeTz(b)) => a.place().cmp(&b.place()),
        (Datum::Text(a), Datum::Text(b)) if stand_in(ty) == oids::BPCHAR => {
            without_blanks(a).as_bytes().cmp(without_blanks(b).as_bytes())
        }
        (Datum::Text(a), Datum::Text(b)) if stand_in(ty) == oids::CITEXT => compare_folded(a, b),
        (Datum::Text(a), Datum::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Datum::Int2(a), Datum::Int2(b)) => a.cmp(b),
        (Datum::Oid(a), Datum::Oid(b)) => a.cmp(b),
        (Datum::Bool(a), Datum::Bool(b)) => a.cmp(b),
        (Datum::Char(a), Datum::Char(b)) => a.cmp(b),
        (Datum::Float4(a), Datum::Float4(b)) => compare_floats(f64::from(*a), f64::from(*b)),
        (Datum::Float8(a), Datum::Float8(b)) => compare_floats(*a, *b),
        (Datum::Float4(a), Datum::Float8(b)) => compare_floats(f64::from(*a), *b),
        (Datum::Float8(a), Datum::Float4(b)) => compare_floats(*a, f64::from(*b)),
        (Datum::Numeric(a), Datum::Numeric(b)) => View::of(a).compare(&View::of(b)),
        (Datum::Bytea(a), Datum::Bytea(b)) => ordered(ty, a).cmp(&ordered(ty, b)),
        (Datum::Jsonb(a), Datum::Jsonb(b)) => json::compare(a, b),
        (Datum::Interval(a), Datum::Interval(b)) => {
            datetime::interval::span(a).cmp(&datetime::interval::span(b))
        }
        (Datum::Uuid(a), Datum::Uuid(b)) => a.cmp(b),
        (Datum::Array(a), Datum::Array(b)) => compare_arrays(&Array::of(a), &Array::of(b)),
        (Datum::Record(a), Datum::Record(b)) => compare_records(a, b),
        _ => {
            // Integers of different widths.
            match (integer(a), integer(b)) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => panic!("values of different forms are compared: {a:?} and {b:?}"),
            }
        }
    }
}

fn integer(datum: &Datum<'_>) -> Option<i64> {
    match datum {
        Datum::Int2(value) => Some(i64::from(*value)),
        Datum::Int4(value) => Some(i64::from(*value)),
        Datum::Int8(value) => Some(*value),
        Datum::Oid(value) => Some(i64::from(*value)),
        _ => None,
    }
}

/// PostgreSQL's order of floats: NaN is equal to itself and greater than all others.
#[must_use]
pub fn compare_floats(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

/// A bpchar without the blanks at its end, which do not count.
#[must_use]
pub fn without_blanks(text: &str) -> &str {
    let mut kept = text.len();
    for stretch in account::byte_stretches(text.as_bytes()).rev() {
        kept -= stretch.len();
        if let Some(last) = stretch.iter().rposition(|byte| *byte != b' ') {
            return &text[..=kept + last];
        }
    }
    ""
}

/// Two citexts: as their lower cases compare.
fn compare_folded(a: &str, b: &str) -> Ordering {
    a.chars().map(case::lower).cmp(b.chars().map(case::lower))
}

/// A number that begins to order values of the type `ty`: of two that are not NULL, the one whose number is less is less.
/// Where they are equal, [`compare`] knows more.
#[must_use]
pub fn beginning(ty: u32, value: &Datum<'_>) -> u64 {
    let signed = |value: i64| value as u64 ^ 1 << 63;
    let bytes = |bytes: &[u8]| {
        let mut first = [0; 8];
        let len = bytes.len().min(8);
        first[..len].copy_from_slice(&bytes[..len]);
        u64::from_be_bytes(first)
    };
    match value {
        Datum::Text(text) if ty == oids::BPCHAR => bytes(without_blanks(text).as_bytes()),
        Datum::Text(text) if stand_in(ty) == oids::CITEXT => {
            bytes(text.chars().take(8).map(case::lower).collect::<String>().as_bytes())
        }
        Datum::Text(text) => bytes(text.as_bytes()),
        Datum::Bytea(value) => bytes(&ordered(ty, value)),
        Datum::Uuid(value) => bytes(&value[..]),
        Datum::Int8(value) if matches!(ty, oids::PG_LSN | oids::XID8 | oids::TID) => *value as u64,
        Datum::Date(value) => signed(i64::from(*value)),
        Datum::Time(value) | Datum::Timestamp(value) | Datum::TimestampTz(value) => signed(*value),
        other => integer(other).map_or(0, signed),
    }
}

/// Element by element, then by length, then by dimensions.
fn compare_arrays(a: &Array<'_>, b: &Array<'_>) -> Ordering {
    if form(a.element) != form(b.element) {
        return a.element.cmp(&b.element);
    }
    let arena = Bump::new();
    for (x, y) in a.slots().zip(b.slots()) {
        let order = compare_slots(&arena, a.element, x, y);
        if order.is_ne() {
            return order;
        }
    }
    compare_sizes(a, b)
}

/// Compares arrays whose elements are the same as far as they go.
pub(super) fn compare_sizes(a: &Array<'_>, b: &Array<'_>) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.dimension_count().cmp(&b.dimension_count())).then_with(
        || {
            let sizes = |array: &Array<'_>| {
                array.dimensions().map(|d| (d.length, d.lower)).collect::<Vec<_>>()
            };
            sizes(a).cmp(&sizes(b))
        },
    )
}

/// Compares two fields of rows, or elements of arrays.
pub(super) fn compare_slots(arena: &Bump, ty: u32, a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
    let (Some(a), Some(b)) = (a, b) else { return a.is_none().cmp(&b.is_none()) };
    let a = stored::read(arena, ty, a);
    let b = stored::read(arena, ty, b);
    match (a, b) {
        (Ok(a), Ok(b)) => deeper(|| compare(ty, &a, &b)),
        // Bytes that are no values have been reported where they were read.
        _ => Ordering::Equal,
    }
}

fn compare_records(a: &[u8], b: &[u8]) -> Ordering {
    let arena = Bump::new();
    for ((ty, x), (other, y)) in record::fields(a).zip(record::fields(b)) {
        let order = ty.cmp(&other).then_with(|| compare_slots(&arena, ty, x, y));
        if order.is_ne() {
            return order;
        }
    }
    record::fields(a).count().cmp(&record::fields(b).count())
}

/// Feeds a value of the type `ty` to a hasher, so that equal values hash equal.
pub fn hash_into(ty: u32, datum: &Datum<'_>, hasher: &mut impl Hasher) {
    match datum {
        Datum::Null => hasher.write_u8(0),
        Datum::Bool(value) => hasher.write_u8(u8::from(*value)),
        Datum::Char(value) => hasher.write_u8(*value),
        Datum::Int2(value) => hasher.write_i64(i64::from(*value)),
        Datum::Int4(value) => hasher.write_i64(i64::from(*value)),
        Datum::Oid(value) => hasher.write_i64(i64::from(*value)),
        Datum::Int8(value) => hasher.write_i64(*value),
        Datum::Date(value) => hasher.write_i32(*value),
        Datum::Time(value) | Datum::Timestamp(value) | Datum::TimestampTz(value) => {
            hasher.write_i64(*value);
        }
        Datum::TimeTz(value) => {
            hasher.write_i64(value.micros);
            hasher.write_i32(value.west);
        }
        Datum::Float4(value) => hash_float(f64::from(*value), hasher),
        Datum::Float8(value) => hash_float(*value, hasher),
        Datum::Text(text) => {
            match stand_in(ty) {
                oids::BPCHAR => hasher.write(without_blanks(text).as_bytes()),
                oids::CITEXT => hasher.write(case::folded(text).as_bytes()),
                _ => hasher.write(text.as_bytes()),
            }
            hasher.write_u8(0xff);
        }
        Datum::Jsonb(bytes) => json::hash_into(bytes, hasher),
        Datum::Bytea(bytes) => {
            let bytes = ordered(ty, bytes);
            hasher.write_usize(bytes.len());
            hasher.write(&bytes);
        }
        Datum::Uuid(uuid) => hasher.write(*uuid),
        Datum::Interval(value) => hasher.write_i128(datetime::interval::span(value)),
        Datum::Numeric(stored) => match View::of(stored) {
            View::Finite(number) => {
                hasher.write_u8(u8::from(number.negative));
                hasher.write_i16(number.weight);
                number.digits().for_each(|digit| hasher.write_u16(digit));
            }
            View::Infinity => hasher.write_u8(2),
            View::NegativeInfinity => hasher.write_u8(3),
            View::Nan => hasher.write_u8(4),
        },
        Datum::Array(bytes) => {
            let array = Array::of(bytes);
            let slots = array.slots().map(|slot| (array.element, slot));
            hash_slots(slots, hasher);
        }
        Datum::Record(bytes) => hash_slots(record::fields(bytes), hasher),
    }
}

fn hash_slots<'s>(slots: impl Iterator<Item = (u32, Option<&'s [u8]>)>, hasher: &mut impl Hasher) {
    let arena = Bump::new();
    for (ty, slot) in slots {
        let datum = slot.map(|bytes| stored::read(&arena, ty, bytes));
        let datum = datum.and_then(Result::ok).unwrap_or(Datum::Null);
        deeper(|| hash_into(ty, &datum, hasher));
    }
}

fn hash_float(value: f64, hasher: &mut impl Hasher) {
    let bits = if value == 0.0 {
        0
    } else if value.is_nan() {
        f64::NAN.to_bits()
    } else {
        value.to_bits()
    };
    hasher.write_u64(bits);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::DefaultHasher;

    fn hash(ty: u32, datum: &Datum<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        hash_into(ty, datum, &mut hasher);
        hasher.finish()
    }

    #[test]
    fn equal_values_hash_equal() {
        let pairs = [
            (oids::BPCHAR, Datum::Text("a  "), Datum::Text("a")),
            (oids::CITEXT, Datum::Text("\u{c9}a"), Datum::Text("\u{e9}A")),
            (oids::FLOAT8, Datum::Float8(0.0), Datum::Float8(-0.0)),
            (oids::FLOAT8, Datum::Float8(f64::NAN), Datum::Float8(-f64::NAN)),
            (oids::INT8, Datum::Int4(7), Datum::Int8(7)),
        ];
        for (ty, a, b) in pairs {
            assert!(compare(ty, &a, &b).is_eq(), "{a:?} {b:?}");
            assert_eq!(hash(ty, &a), hash(ty, &b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn beginnings_order_values_as_far_as_they_go() {
        let texts = ["", "a", "a ", "ab", "abcdefgh", "abcdefghi", "b", "\u{e9}", "  "];
        let numbers = [i64::MIN, -1, 0, 1, 1 << 40, i64::MAX];
        let mut all: Vec<(u32, Vec<Datum<'_>>)> = Vec::new();
        for ty in [oids::TEXT, oids::BPCHAR, oids::CITEXT] {
            all.push((ty, texts.map(Datum::Text).to_vec()));
        }
        for ty in [oids::INT8, oids::PG_LSN] {
            all.push((ty, numbers.map(Datum::Int8).to_vec()));
        }
        all.push((oids::INT4, [i32::MIN, -7, 0, 7, i32::MAX].map(Datum::Int4).to_vec()));
        all.push((oids::TIMESTAMP, numbers.map(Datum::Timestamp).to_vec()));
        all.push((oids::FLOAT8, [-1.0, 0.0, f64::NAN].map(Datum::Float8).to_vec()));
        for (ty, values) in all {
            for (a, b) in values.iter().flat_map(|a| values.iter().map(move |b| (a, b))) {
                if beginning(ty, a) < beginning(ty, b) {
                    assert!(compare(ty, a, b).is_lt(), "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn order_is_that_of_the_type() {
        assert!(
            compare(oids::FLOAT8, &Datum::Float8(f64::NAN), &Datum::Float8(f64::INFINITY)).is_gt()
        );
        assert!(compare(oids::TEXT, &Datum::Text("a"), &Datum::Text("a ")).is_lt());
        assert!(compare(oids::TEXT, &Datum::Text("Z"), &Datum::Text("a")).is_lt());
        assert!(compare(oids::INT4, &Datum::Int4(1), &Datum::Null).is_lt());
        assert!(compare(oids::PG_LSN, &Datum::Int8(-1), &Datum::Int8(1)).is_gt());
    }
}
