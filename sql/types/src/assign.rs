//! Values with a part of them changed: what `SET a[1] = `, `SET c.f = ` and `SET j['k'] = ` compute.

use super::array::{Array, Builder, Dimension, check_bounds, empty};
use super::{CallContext, Datum, Oid, SqlType, json, record};
use crate::account;
use crate::contrib::hstore;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::sync::Arc;

/// The part of a value that an assignment changes.
#[derive(Clone, Debug, PartialEq)]
pub enum AssignStep {
    /// The field of this number of a row with fields of these types.
    Field(u32, Arc<[SqlType]>),
    /// An element of an array of this element type.
    Element(Oid),
    /// A slice of an array of this element type: for each dimension, whether its lower and its upper bound are given.
    Slice(Oid, Arc<[(bool, bool)]>),
    /// What is at a path in a jsonb, whose elements are texts.
    JsonPath,
    /// The value of a key in an hstore.
    HstoreKey,
}

/// The value `parts[0]` with `parts[1]` at the place that `step` and the subscripts behind say.
///
/// # Errors
/// 2202E, 22004, 22023, 22P02.
pub fn part<'a>(
    context: &CallContext<'a>,
    step: &AssignStep,
    parts: &[Datum<'a>],
) -> Result<Datum<'a>> {
    let (target, value, subscripts) = (&parts[0], &parts[1], &parts[2..]);
    match step {
        AssignStep::Field(number, types) => field(context, target, value, *number as usize, types),
        AssignStep::JsonPath => json_path(context, target, value, &subscripts[0]),
        AssignStep::HstoreKey => hstore::with(context, target, value, &subscripts[0]),
        AssignStep::Element(element_type) => {
            let at = bounds(subscripts)?;
            element(context, target, value, &at, *element_type)
        }
        AssignStep::Slice(element_type, given) => {
            let mut values = bounds(subscripts)?.into_iter();
            let ranges: Vec<(Option<i32>, Option<i32>)> = given
                .iter()
                .map(|(low, high)| {
                    let low = if *low { values.next() } else { None };
                    (low, if *high { values.next() } else { None })
                })
                .collect();
            slice(context, target, value, &ranges, *element_type)
        }
    }
}

fn field<'a>(
    context: &CallContext<'a>,
    target: &Datum<'a>,
    value: &Datum<'a>,
    number: usize,
    types: &[SqlType],
) -> Result<Datum<'a>> {
    let mut row = Vec::new();
    if let Datum::Record(bytes) = target
        && record::put_replaced(bytes, number, (types[number], value), &mut row)
    {
        account::insist_on_value(row.len());
        return Ok(Datum::Record(account::copied(context.arena, &row)));
    }
    // Of NULL all other fields are NULL.
    let field =
        |(at, ty): (usize, &SqlType)| (*ty, if at == number { *value } else { Datum::Null });
    let fields: Vec<(SqlType, Datum<'_>)> = types.iter().enumerate().map(field).collect();
    Ok(record::build(context.arena, &fields))
}

fn null_subscript(what: &str) -> SqlError {
    SqlError::new(
        SqlState::NULL_VALUE_NOT_ALLOWED,
        format!("{what} subscript in assignment must not be null"),
    )
}

fn json_path<'a>(
    context: &CallContext<'a>,
    target: &Datum<'a>,
    value: &Datum<'a>,
    path: &Datum<'a>,
) -> Result<Datum<'a>> {
    let mut elements = Vec::new();
    for element in path.array().datums(context.arena) {
        match element? {
            Datum::Null => return Err(null_subscript("jsonb")),
            element => elements.push(Some(element.text())),
        }
    }
    json::change::assign(context, target, &elements, value)
}

fn bounds(subscripts: &[Datum<'_>]) -> Result<Vec<i32>> {
    subscripts
        .iter()
        .map(|subscript| match subscript {
            Datum::Int4(value) => Ok(*value),
            _ => Err(null_subscript("array")),
        })
        .collect()
}

#[cold]
fn wrong(message: &str) -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

fn stored_array<'a>(context: &CallContext<'a>, target: &Datum<'a>, element: Oid) -> Array<'a> {
    match target {
        Datum::Array(bytes) => Array::of(bytes),
        _ => Array::of(empty(context.arena, element.0)),
    }
}

/// The distance from `a` to `b`, where an array may be as long.
fn distance(a: i32, b: i32) -> Result<i32> {
    let length = i64::from(b) - i64::from(a);
    i32::try_from(length)
        .ok()
        .filter(|length| (*length as usize) < super::array::ELEMENTS_MAX)
        .ok_or_else(too_many_elements)
}

#[cold]
fn too_many_elements() -> SqlError {
    SqlError::new(
        SqlState::PROGRAM_LIMIT_EXCEEDED,
        format!("array size exceeds the maximum allowed ({})", super::array::ELEMENTS_MAX),
    )
}

/// One dimension, made as long as the range from `low` to `high` asks, its slots copied; `put` gives the new ones.
fn lengthened<'a>(
    context: &CallContext<'a>,
    array: &Array<'a>,
    old: Dimension,
    (low, high): (i32, i32),
    mut put: impl FnMut(&mut Builder, usize),
) -> Result<Datum<'a>> {
    let lower = old.lower.min(low);
    let behind = old.lower.saturating_add(old.length);
    let last = if high >= behind { high } else { behind - 1 };
    let length = distance(lower, last)? + 1;
    let dimension = check_bounds(Dimension { length, lower })?;
    let mut builder = Builder::new(array.element);
    let mut slots = array.slots();
    for at in lower..=last {
        let own = if (old.lower..behind).contains(&at) { slots.next() } else { None };
        if (low..=high).contains(&at) {
            put(&mut builder, (at - low) as usize);
        } else {
            builder.push_slot(own.flatten());
        }
    }
    Ok(Datum::Array(builder.store(context.arena, &[dimension])))
}

fn element<'a>(
    context: &CallContext<'a>,
    target: &Datum<'a>,
    value: &Datum<'a>,
    at: &[i32],
    element_type: Oid,
) -> Result<Datum<'a>> {
    let array = stored_array(context, target, element_type);
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    if dimensions.is_empty() {
        let made: Result<Vec<Dimension>> =
            at.iter().map(|lower| check_bounds(Dimension { length: 1, lower: *lower })).collect();
        let mut builder = Builder::new(element_type.0);
        builder.push(value);
        return Ok(Datum::Array(builder.store(context.arena, &made?)));
    }
    if dimensions.len() != at.len() {
        return Err(wrong("wrong number of array subscripts"));
    }
    if let ([dimension], [at]) = (dimensions.as_slice(), at) {
        return lengthened(context, &array, *dimension, (*at, *at), |builder, _| {
            builder.push(value);
        });
    }
    let mut index = 0usize;
    for (dimension, at) in dimensions.iter().zip(at) {
        let offset = i64::from(*at) - i64::from(dimension.lower);
        if offset < 0 || offset >= i64::from(dimension.length) {
            return Err(wrong("array subscript out of range"));
        }
        index = index * dimension.length as usize + offset as usize;
    }
    let mut builder = Builder::new(array.element);
    for (number, slot) in array.slots().enumerate() {
        if number == index {
            builder.push(value);
        } else {
            builder.push_slot(slot);
        }
    }
    Ok(Datum::Array(builder.store(context.arena, &dimensions)))
}

fn slice<'a>(
    context: &CallContext<'a>,
    target: &Datum<'a>,
    value: &Datum<'a>,
    ranges: &[(Option<i32>, Option<i32>)],
    element_type: Oid,
) -> Result<Datum<'a>> {
    // Nothing to take values from: nothing changes.
    let Datum::Array(source) = value else { return Ok(*target) };
    let source = Array::of(source);
    let new: Vec<Option<&[u8]>> = source.slots().collect();
    let array = stored_array(context, target, element_type);
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    let too_small = || wrong("source array too small");
    let reversed = || wrong("upper bound cannot be less than lower bound");
    if dimensions.is_empty() {
        let mut made = Vec::with_capacity(ranges.len());
        for range in ranges {
            let (Some(low), Some(high)) = *range else {
                return Err(wrong("array slice subscript must provide both boundaries").detail(
                    "When assigning to a slice of an empty array value, slice boundaries must be fully specified.",
                ));
            };
            if low > high {
                return Err(reversed());
            }
            let length = distance(low, high)? + 1;
            made.push(check_bounds(Dimension { length, lower: low })?);
        }
        let lengths = made.iter().map(|dimension| dimension.length as usize);
        let count = lengths.fold(1usize, usize::saturating_mul);
        if count > super::array::ELEMENTS_MAX {
            return Err(too_many_elements());
        }
        let mut builder = Builder::new(element_type.0);
        new.get(..count).ok_or_else(too_small)?.iter().for_each(|slot| builder.push_slot(*slot));
        return Ok(Datum::Array(builder.store(context.arena, &made)));
    }
    if dimensions.len() < ranges.len() {
        return Err(wrong("wrong number of array subscripts"));
    }
    let last = |dimension: &Dimension| dimension.lower + dimension.length - 1;
    let mut wanted = Vec::with_capacity(dimensions.len());
    for (at, dimension) in dimensions.iter().enumerate() {
        let (low, high) = ranges.get(at).copied().unwrap_or((None, None));
        let (low, high) = (low.unwrap_or(dimension.lower), high.unwrap_or(last(dimension)));
        if low > high {
            return Err(reversed());
        }
        if dimensions.len() > 1 && (low < dimension.lower || high > last(dimension)) {
            return Err(wrong("array subscript out of range"));
        }
        wanted.push((low, high));
    }
    let mut count = 1usize;
    for (low, high) in &wanted {
        count = count.saturating_mul(distance(*low, *high)? as usize + 1);
    }
    if new.len() < count {
        return Err(too_small());
    }
    if let ([dimension], [range]) = (dimensions.as_slice(), wanted.as_slice()) {
        return lengthened(context, &array, *dimension, *range, |builder, at| {
            builder.push_slot(new[at]);
        });
    }
    let mut new = new.into_iter();
    let mut builder = Builder::new(array.element);
    for (index, slot) in array.slots().enumerate() {
        let mut rest = index as i64;
        let inside = dimensions.iter().zip(&wanted).rev().all(|(dimension, (low, high))| {
            let at = rest % i64::from(dimension.length) + i64::from(dimension.lower);
            rest /= i64::from(dimension.length);
            (i64::from(*low)..=i64::from(*high)).contains(&at)
        });
        builder.push_slot(if inside { new.next().flatten() } else { slot });
    }
    Ok(Datum::Array(builder.store(context.arena, &dimensions)))
}
