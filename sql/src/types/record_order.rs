//! Rows compared field by field: by what the fields mean (`=`, `<`), or by what they are held as (`*=`, `*<`).
//!
//! PostgreSQL: `rowtypes.c`, `record_cmp` and `record_image_cmp`. A NULL is equal to another, and the greatest. Of rows whose
//! fields differ in type or number that is told, unless a field before decides.
//!
//! As they are held, numbers and the like are compared as unsigned words, what has a fixed length from its first byte on, and
//! what has none by its bytes, then by how many they are. So 1.0 and 1.00 are two values.

use super::form::{Form, form};
use super::function::Callable::{self, Plain};
use super::numeric::View;
use super::{CallContext, Datum, oids, order, record};
use crate::catalog::builtin;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use bumpalo::Bump;
use std::cmp::Ordering;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (2981, Plain(|c, a| answer(c, a, EQUALITY, Ordering::is_eq))),
    (2982, Plain(|c, a| answer(c, a, EQUALITY, Ordering::is_ne))),
    (2983, Plain(|c, a| answer(c, a, ORDER, Ordering::is_lt))),
    (2984, Plain(|c, a| answer(c, a, ORDER, Ordering::is_gt))),
    (2985, Plain(|c, a| answer(c, a, ORDER, Ordering::is_le))),
    (2986, Plain(|c, a| answer(c, a, ORDER, Ordering::is_ge))),
    (2987, Plain(|c, a| Ok(Datum::Int4(compare(c, a, ORDER)? as i32)))),
    (3181, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_eq))),
    (3182, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_ne))),
    (3183, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_lt))),
    (3184, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_gt))),
    (3185, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_le))),
    (3186, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_ge))),
    (3187, Plain(|c, a| Ok(Datum::Int4(compare(c, a, IMAGE)? as i32)))),
];

/// How two stored values of a type compare, and what of the type is missed where it has no order.
type Fields = (fn(u32, &[u8], &[u8]) -> Ordering, Option<&'static str>);

const EQUALITY: Fields = (meaning, Some("an equality operator"));
const ORDER: Fields = (meaning, Some("a comparison function"));
const IMAGE: Fields = (image, None);

fn answer<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    fields: Fields,
    wanted: fn(Ordering) -> bool,
) -> Result<Datum<'a>> {
    Ok(Datum::Bool(wanted(compare(context, a, fields)?)))
}

fn compare(context: &CallContext<'_>, a: &[Datum<'_>], fields: Fields) -> Result<Ordering> {
    let (mut left, mut right) = (record::fields(a[0].record()), record::fields(a[1].record()));
    let mut column = 0;
    loop {
        let ((ty, x), (other, y)) = match (left.next(), right.next()) {
            (Some(x), Some(y)) => (x, y),
            (None, None) => return Ok(Ordering::Equal),
            _ => return Err(different_counts()),
        };
        column += 1;
        check_types(context, ty, other, column)?;
        let order = match (x, y) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(x), Some(y)) => {
                if let Some(missed) = fields.1 {
                    demand_order(ty, missed)?;
                }
                fields.0(ty, x, y)
            }
        };
        if order.is_ne() {
            return Ok(order);
        }
    }
}

/// Fails where sorting has compared two rows by fields whose type has no order.
///
/// # Errors
/// 42883.
pub fn demand_sortable(a: &[u8], b: &[u8]) -> Result<()> {
    for ((ty, x), (_, y)) in record::fields(a).zip(record::fields(b)) {
        let order = match (x, y) {
            (Some(x), Some(y)) => {
                demand_order(ty, "a comparison function")?;
                meaning(ty, x, y)
            }
            (x, y) => x.is_none().cmp(&y.is_none()),
        };
        if order.is_ne() {
            break;
        }
    }
    Ok(())
}

fn demand_order(ty: u32, missed: &str) -> Result<()> {
    if ty == oids::UNKNOWN || builtin::ordering(ty).is_some() {
        return Ok(());
    }
    let name = builtin::type_by_oid(ty).map_or("this type", |found| found.name);
    Err(SqlError::new(
        SqlState::UNDEFINED_FUNCTION,
        format!("could not identify {missed} for type {name}"),
    ))
}

/// Fails where two fields are of different types.
fn check_types(context: &CallContext<'_>, a: u32, b: u32, column: usize) -> Result<()> {
    // A NULL that nobody gave a type has none yet.
    if a == b || a == oids::UNKNOWN || b == oids::UNKNOWN {
        return Ok(());
    }
    let name = |ty| context.catalog.type_name(ty);
    Err(SqlError::new(
        SqlState::DATATYPE_MISMATCH,
        format!(
            "cannot compare dissimilar column types {} and {} at record column {column}",
            name(a),
            name(b)
        ),
    ))
}

#[cold]
fn different_counts() -> SqlError {
    SqlError::new(
        SqlState::DATATYPE_MISMATCH,
        "cannot compare record types with different numbers of columns",
    )
}

fn meaning(ty: u32, a: &[u8], b: &[u8]) -> Ordering {
    order::compare_slots(&Bump::new(), (ty, Some(a)), (ty, Some(b)))
}

/// What is passed by value is stored as little-endian bytes of it.
fn image(ty: u32, a: &[u8], b: &[u8]) -> Ordering {
    match form(ty) {
        Form::Enum => word(a).cmp(&word(b)),
        Form::Numeric => number(a).cmp(&number(b)),
        _ if builtin::type_by_oid(ty).is_some_and(|found| found.by_value) => word(a).cmp(&word(b)),
        _ => a.cmp(b),
    }
}

/// A number of up to 8 bytes as PostgreSQL holds it in a word: its sign goes on to the left.
fn word(bytes: &[u8]) -> u64 {
    let negative = bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut word = [if negative { 0xFF } else { 0 }; 8];
    for (place, byte) in word.iter_mut().zip(bytes) {
        *place = *byte;
    }
    u64::from_le_bytes(word)
}

/// A numeric in PostgreSQL's form: most have sign, scale and weight in two bytes.
fn number(stored: &[u8]) -> Vec<u8> {
    let finite = match View::of(stored) {
        View::Finite(finite) => finite,
        View::Nan => return 0xC000_u16.to_le_bytes().to_vec(),
        View::Infinity => return 0xD000_u16.to_le_bytes().to_vec(),
        View::NegativeInfinity => return 0xF000_u16.to_le_bytes().to_vec(),
    };
    let (scale, weight) = (finite.scale, finite.weight);
    let mut bytes = Vec::with_capacity(4 + 2 * finite.len());
    if scale < 64 && (-64..64).contains(&weight) {
        let sign = if finite.negative { 0x2000 } else { 0 };
        let head = 0x8000 | sign | scale << 7 | (weight as u16 & 0x7F);
        bytes.extend_from_slice(&head.to_le_bytes());
    } else {
        let sign = if finite.negative { 0x4000 } else { 0 };
        bytes.extend_from_slice(&(sign | scale).to_le_bytes());
        bytes.extend_from_slice(&weight.to_le_bytes());
    }
    finite.digits().for_each(|digit| bytes.extend_from_slice(&digit.to_le_bytes()));
    bytes
}
