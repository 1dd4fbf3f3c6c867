//! `op ANY` and `op ALL` over an array, by an operator that nothing stops.

use super::run::Surroundings;
use crate::bind::Quantifier;
use crate::error::Result;
use crate::exec::element_sets::ELEMENTS_MIN;
use crate::plan::functions::is_not_equal;
use crate::plan::scalar::Callee;
use crate::types::Datum;
use crate::types::array::Array;
use crate::types::primitive::{Comparison, Primitive};

/// Whether the operator is true of a value and any element of an array, or all. `kept` is what the array is known by, if it
/// stays the same for a whole run: then a long one is asked by hash from the second time on.
pub(super) fn among<'x>(
    around: &mut Surroundings<'x>,
    (callee, quantifier): (&Callee, Quantifier),
    (left, array): (Datum<'x>, Datum<'x>),
    kept: Option<usize>,
) -> Result<Datum<'x>> {
    let Datum::Array(bytes) = array else { return Ok(Datum::Null) };
    let array = Array::of(bytes);
    let decisive = quantifier == Quantifier::Any;
    if array.is_empty() {
        return Ok(Datum::Bool(!decisive));
    }
    if left.is_null() && callee.strict {
        return Ok(Datum::Null);
    }
    let arena = around.eval.arena;
    if let Some(kept) = kept
        && array.len() >= ELEMENTS_MIN
        && callee.strict
        && is_membership(callee, quantifier)
    {
        let elements = &around.eval.frame.elements;
        let found = elements.contains(kept, callee.oid, array, left, arena)?;
        if let Some(found) = found {
            return Ok(found.map_or(Datum::Null, |found| Datum::Bool(found == decisive)));
        }
    }
    if is_equality_of_bytes(callee.oid)
        && is_membership(callee, quantifier)
        && let Datum::Text(text) = left
    {
        let found = array.slots().any(|slot| slot.is_some_and(|bytes| bytes == text.as_bytes()));
        let decided = found || array.slots().all(|slot| slot.is_some());
        return Ok(if decided { Datum::Bool(found == decisive) } else { Datum::Null });
    }
    if let Some(Primitive::Integers(what)) = callee.primitive
        && let Some(found) = integer_among(what, decisive, left, array)
    {
        return Ok(found);
    }
    let mut unknown = false;
    for element in array.datums(arena) {
        let element = element?;
        if element.is_null() && callee.strict {
            unknown = true;
            continue;
        }
        match around.apply(callee, &[left, element])? {
            Datum::Bool(value) if value == decisive => return Ok(Datum::Bool(decisive)),
            Datum::Bool(_) => {}
            _ => unknown = true,
        }
    }
    Ok(if unknown { Datum::Null } else { Datum::Bool(!decisive) })
}

/// The answer of a comparison of integers, whose elements are read where they lie; none where one is no integer.
fn integer_among(
    what: Comparison,
    decisive: bool,
    left: Datum<'_>,
    array: Array<'_>,
) -> Option<Datum<'static>> {
    let left = match left {
        Datum::Int2(value) => i64::from(value),
        Datum::Int4(value) => i64::from(value),
        Datum::Int8(value) => value,
        _ => return None,
    };
    let mut unknown = false;
    for slot in array.slots() {
        let Some(bytes) = slot else {
            unknown = true;
            continue;
        };
        let element = match *bytes {
            [a, b] => i16::from_le_bytes([a, b]).into(),
            [a, b, c, d] => i32::from_le_bytes([a, b, c, d]).into(),
            _ => i64::from_le_bytes(bytes.try_into().ok()?),
        };
        if what.of_integers(left, element) == decisive {
            return Some(Datum::Bool(decisive));
        }
    }
    Some(if unknown { Datum::Null } else { Datum::Bool(!decisive) })
}

/// Whether texts are equal, or not, where their bytes are: `texteq` and `textne`, as no collation makes others equal.
fn is_equality_of_bytes(function: u32) -> bool {
    const TEXT_EQUAL: u32 = 67;
    const TEXT_NOT_EQUAL: u32 = 157;
    matches!(function, TEXT_EQUAL | TEXT_NOT_EQUAL)
}

/// Whether `= ANY` or `<> ALL` is asked, which only has to know whether a value is among the elements.
fn is_membership(callee: &Callee, quantifier: Quantifier) -> bool {
    match quantifier {
        Quantifier::Any => !is_not_equal(callee.oid),
        Quantifier::All => is_not_equal(callee.oid),
    }
}
