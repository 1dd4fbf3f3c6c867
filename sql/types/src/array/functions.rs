//! Array functions and operators, by `pg_proc` OID.
//!
//! PostgreSQL: `array_userfuncs.c`, `arrayfuncs.c`. Elements compare by their type's default ordering.

use super::compare::{Wanted, demand};
use super::{Array, Builder, Dimension, empty};
use crate::account;
use crate::builtin;
use crate::error::{Result, SqlError};
use crate::failure::out_of_range;
use crate::function::Callable::{self, Plain, Set, Typed};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Signature, SqlType, compare_strictly, oids, text_of};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (747, Plain(dims)),
    (748, Plain(|_, a| Ok(positive(a[0].array().dimension_count() as i32)))),
    (2091, Plain(|_, a| Ok(dimension(a).map_or(Datum::Null, |d| Datum::Int4(d.lower))))),
    (
        2092,
        Plain(|_, a| Ok(dimension(a).map_or(Datum::Null, |d| Datum::Int4(d.lower + d.length - 1)))),
    ),
    (2176, Plain(|_, a| Ok(dimension(a).map_or(Datum::Null, |d| Datum::Int4(d.length))))),
    (3179, Plain(|_, a| Ok(Datum::Int4(a[0].array().len() as i32)))),
    (378, Typed(|c, s, a| append(c, s, &a[0], &a[1], true))),
    (379, Typed(|c, s, a| append(c, s, &a[1], &a[0], false))),
    (383, Plain(concatenate)),
    (3277, Plain(position)),
    (3278, Plain(position)),
    (3279, Plain(positions)),
    (3167, Plain(remove)),
    (3168, Plain(replace)),
    (2747, Plain(overlap)),
    (2748, Plain(|c, a| contains(c, &a[0].array(), &a[1].array()).map(Datum::Bool))),
    (2749, Plain(|c, a| contains(c, &a[1].array(), &a[0].array()).map(Datum::Bool))),
    (384, Plain(to_text)),
    (395, Plain(to_text)),
    (376, Plain(from_text)),
    (394, Plain(from_text)),
    (6160, Set(|c, _, a, emit| super::sets::text_rows(c, a, emit))),
    (6161, Set(|c, _, a, emit| super::sets::text_rows(c, a, emit))),
    (1193, Typed(fill)),
    (1286, Typed(fill)),
    (6172, Plain(trim)),
    (438, Typed(|_, s, a| Ok(count_nulls(s, a, true)))),
    (440, Typed(|_, s, a| Ok(count_nulls(s, a, false)))),
    (2331, Set(|c, _, a, emit| super::sets::unnest(c, a, emit))),
    (13208, Set(|c, _, a, emit| super::sets::numbered(c, a, emit))),
    (1191, Set(|_, _, a, emit| super::sets::subscripts(a, emit))),
    (1192, Set(|_, _, a, emit| super::sets::subscripts(a, emit))),
];

fn positive(value: i32) -> Datum<'static> {
    if value > 0 { Datum::Int4(value) } else { Datum::Null }
}

fn dimension(a: &[Datum<'_>]) -> Option<Dimension> {
    let index = usize::try_from(a[1].int4()).ok()?.checked_sub(1)?;
    a[0].array().dimension(index)
}

fn dims<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let array = a[0].array();
    if array.is_empty() {
        return Ok(Datum::Null);
    }
    let text: String =
        array.dimensions().map(|d| format!("[{}:{}]", d.lower, d.lower + d.length - 1)).collect();
    Ok(Datum::Text(context.arena.alloc_str(&text)))
}

fn append<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    array: &Datum<'a>,
    element: &Datum<'a>,
    at_end: bool,
) -> Result<Datum<'a>> {
    let element_type = builtin::element_type(signature.result.oid.0).unwrap_or(oids::TEXT);
    let stored = match array {
        Datum::Null => empty(context.arena, element_type),
        Datum::Array(bytes) => *bytes,
        other => return Ok(*other),
    };
    let array = Array::of(stored);
    if array.dimension_count() > 1 {
        return Err(SqlError::new(
            SqlState::DATA_EXCEPTION,
            "argument must be empty or one-dimensional array",
        ));
    }
    let lower = array.dimension(0).map_or(1, |d| d.lower);
    // The new element's own subscript, before the others are counted anew, has to exist (`array_prepend`).
    if !at_end && lower == i32::MIN {
        return Err(out_of_range("integer"));
    }
    let mut builder = Builder::new(element_type);
    if !at_end {
        builder.push(element);
    }
    builder.push_all(&array);
    if at_end {
        builder.push(element);
    }
    let dimensions = [super::check_bounds(Dimension { length: builder.len() as i32, lower })?];
    Ok(Datum::Array(builder.store(context.arena, &dimensions)))
}

fn concatenate<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(a[1]);
    }
    if a[1].is_null() {
        return Ok(a[0]);
    }
    let (x, y) = (a[0].array(), a[1].array());
    if x.is_empty() {
        return Ok(a[1]);
    }
    if y.is_empty() {
        return Ok(a[0]);
    }
    let incompatible = |detail: &str| {
        SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "cannot concatenate incompatible arrays")
            .detail(detail.to_owned())
    };
    let (dx, dy): (Vec<Dimension>, Vec<Dimension>) =
        (x.dimensions().collect(), y.dimensions().collect());
    let mut dimensions;
    if dx.len() == dy.len() {
        if dx[1..] != dy[1..] {
            return Err(incompatible(
                "Arrays with differing element dimensions are not compatible for concatenation.",
            ));
        }
        dimensions = dx;
        dimensions[0].length += dy[0].length;
    } else if dx.len() + 1 == dy.len() || dy.len() + 1 == dx.len() {
        let (outer, inner) = if dx.len() > dy.len() { (dx, &dy) } else { (dy, &dx) };
        if outer[1..] != inner[..] {
            return Err(incompatible(
                "Arrays with differing dimensions are not compatible for concatenation.",
            ));
        }
        dimensions = outer;
        dimensions[0].length += 1;
    } else {
        let (a, b) = (dx.len(), dy.len());
        return Err(incompatible(&format!(
            "Arrays of {a} and {b} dimensions are not compatible for concatenation."
        )));
    }
    super::check_bounds(dimensions[0])?;
    let mut builder = Builder::new(x.element);
    builder.push_all(&x);
    builder.push_all(&y);
    builder.check_size()?;
    Ok(Datum::Array(builder.store(context.arena, &dimensions)))
}

/// Whether two elements are equal; NULLs are equal to NULL here.
fn same<'a>(context: &CallContext<'a>, element: u32, a: &Datum<'a>, b: &Datum<'a>) -> Result<bool> {
    match (a.is_null(), b.is_null()) {
        (false, false) => Ok(compare_strictly(context, element, a, b, Wanted::Equality)?.is_eq()),
        (a, b) => Ok(a && b),
    }
}

fn one_dimension(array: &Array<'_>, what: &str) -> Result<()> {
    if array.dimension_count() > 1 {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("{what} multidimensional arrays is not supported"),
        ));
    }
    Ok(())
}

fn position<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = a[0].array();
    one_dimension(&array, "searching for elements in")?;
    demand(context, &array, Wanted::Equality)?;
    let lower = array.dimension(0).map_or(1, |d| d.lower);
    let start = match a.get(2) {
        None => lower,
        Some(Datum::Null) => {
            return Err(SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "initial position must not be null",
            ));
        }
        Some(start) => start.int4(),
    };
    for (datum, subscript) in array.datums(context.arena).zip(lower..) {
        if subscript >= start && same(context, array.element, &a[1], &datum?)? {
            return Ok(Datum::Int4(subscript));
        }
    }
    Ok(Datum::Null)
}

fn positions<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = a[0].array();
    one_dimension(&array, "searching for elements in")?;
    demand(context, &array, Wanted::Equality)?;
    let mut builder = Builder::new(oids::INT4);
    let lower = array.dimension(0).map_or(1, |d| d.lower);
    for (datum, subscript) in array.datums(context.arena).zip(lower..) {
        if same(context, array.element, &a[1], &datum?)? {
            builder.push(&Datum::Int4(subscript));
        }
    }
    Ok(builder.finish(context.arena))
}

fn remove<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = a[0].array();
    one_dimension(&array, "removing elements from")?;
    let mut builder = Builder::new(array.element);
    for (slot, datum) in array.slots().zip(array.datums(context.arena)) {
        if !same(context, array.element, &datum?, &a[1])? {
            builder.push_slot(slot);
        }
    }
    let lower = array.dimension(0).map_or(1, |d| d.lower);
    let dimensions = [Dimension { length: builder.len() as i32, lower }];
    Ok(Datum::Array(builder.store(context.arena, &dimensions)))
}

fn replace<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    let array = a[0].array();
    let mut builder = Builder::new(array.element);
    for (slot, datum) in array.slots().zip(array.datums(context.arena)) {
        if same(context, array.element, &datum?, &a[1])? {
            builder.push(&a[2]);
        } else {
            builder.push_slot(slot);
        }
    }
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    Ok(Datum::Array(builder.store(context.arena, &dimensions)))
}

/// Whether `large` has every element of `small`; a NULL is in no array.
fn contains<'a>(context: &CallContext<'a>, large: &Array<'a>, small: &Array<'a>) -> Result<bool> {
    demand(context, large, Wanted::Equality)?;
    for datum in small.datums(context.arena) {
        if !has(context, large, &datum?)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has<'a>(context: &CallContext<'a>, array: &Array<'a>, wanted: &Datum<'a>) -> Result<bool> {
    if wanted.is_null() {
        return Ok(false);
    }
    for datum in array.datums(context.arena) {
        if same(context, array.element, wanted, &datum?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn overlap<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    demand(context, &a[0].array(), Wanted::Equality)?;
    for datum in a[0].array().datums(context.arena) {
        if has(context, &a[1].array(), &datum?)? {
            return Ok(Datum::Bool(true));
        }
    }
    Ok(Datum::Bool(false))
}

fn to_text<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() || a[1].is_null() {
        return Ok(Datum::Null);
    }
    let array = a[0].array();
    let null = a.get(2).filter(|null| !null.is_null()).map(|null| null.text());
    let mut out = crate::text::growing(context);
    let mut first = true;
    for datum in array.datums(context.arena) {
        let text = match datum? {
            Datum::Null => match null {
                Some(text) => text,
                None => continue,
            },
            datum => text_of(context, SqlType::plain(array.element), &datum)?,
        };
        if !first {
            out.push_str(a[1].text());
        }
        first = false;
        out.push_str(text);
    }
    crate::text::finished(out)
}

/// Behind so many parts it is asked whether there may be more.
const PARTS_ASKED: usize = 1 << 16;

/// The parts of `string_to_array`: none for an empty text, characters without a separator; NULL where the part is `null`.
///
/// # Errors
/// 54000 where they are more than an array has.
pub(super) fn split<'a>(a: &[Datum<'a>]) -> Result<Vec<Datum<'a>>> {
    let text = a[0].text();
    let null = a.get(2).filter(|null| !null.is_null()).map(|null| null.text());
    let part = |part: &'a str| if null == Some(part) { Datum::Null } else { Datum::Text(part) };
    let mut parts = Vec::new();
    let mut add = |text| -> Result<()> {
        if parts.len() % PARTS_ASKED == 0 {
            super::check_bytes(parts.len().saturating_mul(size_of::<i64>()))?;
            account::poll()?;
            account::demand(parts.len() * size_of::<Datum<'_>>())?;
        }
        parts.push(part(text));
        Ok(())
    };
    match a[1] {
        _ if text.is_empty() => {}
        Datum::Null => text
            .char_indices()
            .try_for_each(|(at, character)| add(&text[at..at + character.len_utf8()]))?,
        separator if separator.text().is_empty() => add(text)?,
        separator => text.split(separator.text()).try_for_each(add)?,
    }
    Ok(parts)
}

fn from_text<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() {
        return Ok(Datum::Null);
    }
    Ok(super::from_datums(context.arena, oids::TEXT, &split(a)?))
}

fn fill<'a>(
    context: &CallContext<'a>,
    signature: &Signature<'_>,
    a: &[Datum<'a>],
) -> Result<Datum<'a>> {
    if a[1].is_null() || a.get(2).is_some_and(Datum::is_null) {
        return Err(SqlError::new(
            SqlState::NULL_VALUE_NOT_ALLOWED,
            "dimension array or low bound array cannot be null",
        ));
    }
    let numbers = |datum: &Datum<'a>| -> Result<Vec<i32>> {
        if datum.array().dimension_count() > 1 {
            return Err(SqlError::new(
                SqlState::ARRAY_SUBSCRIPT_ERROR,
                "wrong number of array subscripts",
            )
            .detail("Dimension array must be one dimensional."));
        }
        datum
            .array()
            .datums(context.arena)
            .map(|number| match number? {
                Datum::Null => Err(SqlError::new(
                    SqlState::NULL_VALUE_NOT_ALLOWED,
                    "dimension values cannot be null",
                )),
                number => Ok(number.int4()),
            })
            .collect()
    };
    let lengths = numbers(&a[1])?;
    let lowers = match a.get(2) {
        Some(lowers) => numbers(lowers)?,
        None => vec![1; lengths.len()],
    };
    super::check_dimensions(lengths.len())?;
    if lengths.len() != lowers.len() {
        return Err(SqlError::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            "wrong number of array subscripts",
        )
        .detail("Low bound array has different size than dimensions array."));
    }
    let total = lengths.iter().try_fold(1i64, |total, &length| {
        (length >= 0).then(|| total.saturating_mul(i64::from(length)))
    });
    let total = total.filter(|total| *total <= super::ELEMENTS_MAX as i64).ok_or_else(|| {
        SqlError::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            format!("array size exceeds the maximum allowed ({})", super::ELEMENTS_MAX),
        )
    })?;
    let dimensions: Vec<Dimension> = lengths
        .iter()
        .zip(&lowers)
        .map(|(&length, &lower)| super::check_bounds(Dimension { length, lower }))
        .collect::<Result<_>>()?;
    let mut builder = Builder::new(signature.arguments[0].oid.0);
    if !lengths.is_empty() {
        builder.fill(&a[0], total as usize)?;
    }
    Ok(Datum::Array(builder.store(context.arena, &dimensions)))
}

fn trim<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let array = a[0].array();
    let (length, lower) = array.dimension(0).map_or((0, 1), |d| (d.length, d.lower));
    let count = a[1].int4();
    if !(0..=length).contains(&count) {
        return Err(SqlError::new(
            SqlState::ARRAY_SUBSCRIPT_ERROR,
            format!("number of elements to trim must be between 0 and {length}"),
        ));
    }
    // Below the least subscript it begins again with the greatest, and the slice is the whole array: PostgreSQL's answer.
    let last = lower.wrapping_add(length - count - 1);
    Ok(Datum::Array(array.slice(context.arena, &[(None, Some(last))])))
}

fn count_nulls(signature: &Signature<'_>, a: &[Datum<'_>], nulls: bool) -> Datum<'static> {
    let count = match a {
        [Datum::Null] if !signature.variadic_spread => return Datum::Null,
        [Datum::Array(bytes)] if !signature.variadic_spread => {
            Array::of(bytes).slots().filter(|slot| slot.is_none() == nulls).count()
        }
        values => values.iter().filter(|value| value.is_null() == nulls).count(),
    };
    Datum::Int4(count as i32)
}
