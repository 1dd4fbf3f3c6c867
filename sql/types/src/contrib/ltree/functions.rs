//! The functions of ltree: of paths, and of paths and what they are held against, one by one or of arrays any.

use super::{check_levels, labels, labels_of, lquery, ltxtquery, text};
use crate::array::Array;
use crate::contrib::{stored as kept, text_in, text_out};
use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, arena_text, oids, stored};
use std::cmp::Ordering;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_760, Plain(|c, a| text_in(c, oids::LTREE, &a[0]))),
    (14_761, Plain(|c, a| text_out(c, oids::LTREE, &a[0]))),
    (14_762, Plain(|_, a| Ok(Datum::Int4(distance(&a[0], &a[1]))))),
    (14_763, Plain(|_, a| Ok(Datum::Bool(compare(a).is_lt())))),
    (14_764, Plain(|_, a| Ok(Datum::Bool(compare(a).is_le())))),
    (14_765, Plain(|_, a| Ok(Datum::Bool(compare(a).is_eq())))),
    (14_766, Plain(|_, a| Ok(Datum::Bool(compare(a).is_ge())))),
    (14_767, Plain(|_, a| Ok(Datum::Bool(compare(a).is_gt())))),
    (14_768, Plain(|_, a| Ok(Datum::Bool(compare(a).is_ne())))),
    (14_769, Plain(|c, a| part(c, &labels(&a[0]), a[1].int4(), a[2].int4()))),
    (14_770, Plain(|c, a| subpath(c, &a[0], a[1].int4(), Some(a[2].int4())))),
    (14_771, Plain(|c, a| subpath(c, &a[0], a[1].int4(), None))),
    (14_772, Plain(|_, a| Ok(index(&a[0], &a[1], 0)))),
    (14_773, Plain(|_, a| Ok(index(&a[0], &a[1], a[2].int4())))),
    (14_774, Plain(|_, a| Ok(Datum::Int4(labels(&a[0]).len() as i32)))),
    (14_775, Plain(|c, a| Ok(Datum::Text(arena_text(c, a[0].bytea()))))),
    (14_776, Plain(|c, a| text_in(c, oids::LTREE, &a[0]))),
    (14_777, Plain(|c, a| Ok(ancestor(c, &paths(c, &a[0])?)))),
    (14_778, Plain(|c, a| Ok(ancestor(c, a)))),
    (14_779, Plain(|c, a| Ok(ancestor(c, a)))),
    (14_780, Plain(|c, a| Ok(ancestor(c, a)))),
    (14_781, Plain(|c, a| Ok(ancestor(c, a)))),
    (14_782, Plain(|c, a| Ok(ancestor(c, a)))),
    (14_783, Plain(|c, a| Ok(ancestor(c, a)))),
    (14_784, Plain(|c, a| Ok(ancestor(c, a)))),
    (14_785, Plain(|_, a| Ok(Datum::Bool(is_above(&a[0], &a[1]))))),
    (14_786, Plain(|_, a| Ok(Datum::Bool(is_above(&a[1], &a[0]))))),
    (14_787, Plain(|c, a| joined(c, text(&a[0]), text(&a[1])))),
    (14_788, Plain(|c, a| joined(c, text(&a[0]), text(&text_in(c, oids::LTREE, &a[1])?)))),
    (14_789, Plain(|c, a| joined(c, text(&text_in(c, oids::LTREE, &a[0])?), text(&a[1])))),
    (14_791, Plain(|c, a| text_in(c, oids::LQUERY, &a[0]))),
    (14_792, Plain(|c, a| text_out(c, oids::LQUERY, &a[0]))),
    (14_793, Plain(|_, a| matches(&a[0], &a[1]).map(Datum::Bool))),
    (14_794, Plain(|_, a| matches(&a[1], &a[0]).map(Datum::Bool))),
    (14_795, Plain(|c, a| matches_some(c, &a[0], &a[1]))),
    (14_796, Plain(|c, a| matches_some(c, &a[1], &a[0]))),
    (14_797, Plain(|c, a| text_in(c, oids::LTXTQUERY, &a[0]))),
    (14_798, Plain(|c, a| text_out(c, oids::LTXTQUERY, &a[0]))),
    (14_799, Plain(|_, a| has_words(&a[0], &a[1]).map(Datum::Bool))),
    (14_800, Plain(|_, a| has_words(&a[1], &a[0]).map(Datum::Bool))),
    (14_810, Plain(|c, a| any(c, &a[0], |path| Ok(is_above(path, &a[1]))))),
    (14_811, Plain(|c, a| any(c, &a[1], |path| Ok(is_above(path, &a[0]))))),
    (14_812, Plain(|c, a| any(c, &a[0], |path| Ok(is_above(&a[1], path))))),
    (14_813, Plain(|c, a| any(c, &a[1], |path| Ok(is_above(&a[0], path))))),
    (14_814, Plain(|c, a| any(c, &a[0], |path| matches(path, &a[1])))),
    (14_815, Plain(|c, a| any(c, &a[1], |path| matches(path, &a[0])))),
    (14_816, Plain(|c, a| any_matches_some(c, &a[0], &a[1]))),
    (14_817, Plain(|c, a| any_matches_some(c, &a[1], &a[0]))),
    (14_818, Plain(|c, a| any(c, &a[0], |path| has_words(path, &a[1])))),
    (14_819, Plain(|c, a| any(c, &a[1], |path| has_words(path, &a[0])))),
    (14_820, Plain(|c, a| first(c, &a[0], |path| Ok(is_above(path, &a[1]))))),
    (14_821, Plain(|c, a| first(c, &a[0], |path| Ok(is_above(&a[1], path))))),
    (14_822, Plain(|c, a| first(c, &a[0], |path| matches(path, &a[1])))),
    (14_823, Plain(|c, a| first(c, &a[0], |path| has_words(path, &a[1])))),
];

fn compare(a: &[Datum<'_>]) -> Ordering {
    a[0].bytea().cmp(a[1].bytea())
}

/// What `ltree_cmp` says: the difference of the first bytes, or lengths of labels, or numbers of labels that are not the same.
fn distance(a: &Datum<'_>, b: &Datum<'_>) -> i32 {
    let (first, second) = (labels(a), labels(b));
    let levels = first.len() as i32 - second.len() as i32;
    first.iter().zip(&second).find(|(a, b)| a != b).map_or(levels, |(a, b)| {
        let lengths = a.len() as i32 - b.len() as i32;
        let bytes = a.bytes().zip(b.bytes()).find(|(a, b)| a != b);
        bytes.map_or(lengths, |(a, b)| i32::from(a) - i32::from(b))
    })
}

fn path<'a>(context: &CallContext<'a>, labels: &[&str]) -> Datum<'a> {
    kept(context, labels.join(".").as_bytes())
}

/// The labels from a place to before another one.
fn part<'a>(context: &CallContext<'a>, labels: &[&str], start: i32, end: i32) -> Result<Datum<'a>> {
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok());
    match range {
        Some((start, end)) if start < labels.len() && start <= end => {
            Ok(path(context, &labels[start..end.min(labels.len())]))
        }
        _ => Err(invalid_parameter("invalid positions")),
    }
}

/// From a place on, which may be counted from the end, so many labels, or up to so many before the end.
fn subpath<'a>(
    context: &CallContext<'a>,
    ltree: &Datum<'a>,
    start: i32,
    length: Option<i32>,
) -> Result<Datum<'a>> {
    let labels = labels(ltree);
    let count = labels.len() as i32;
    let mut start = start;
    for _ in 0..2 {
        if start < 0 {
            start = start.wrapping_add(count);
        }
    }
    let end = match length {
        None => 0xffff,
        Some(length @ ..0) => count.wrapping_add(length),
        Some(length) => start.wrapping_add(length),
    };
    part(context, &labels, start, end)
}

/// Where the labels of one path stand in another one, from a place on.
fn index(whole: &Datum<'_>, wanted: &Datum<'_>, start: i32) -> Datum<'static> {
    let (whole, wanted) = (labels(whole), labels(wanted));
    let count = whole.len() as i32;
    let start = match start {
        ..0 if start <= -count => 0,
        ..0 => count + start,
        _ => start,
    };
    let start = usize::try_from(start).unwrap_or(0);
    if wanted.is_empty() {
        return Datum::Int4(-1);
    }
    let found =
        whole.windows(wanted.len()).enumerate().skip(start).find(|(_, part)| **part == *wanted);
    Datum::Int4(found.map_or(-1, |(at, _)| at as i32))
}

fn is_above(above: &Datum<'_>, below: &Datum<'_>) -> bool {
    let (above, below) = (labels(above), labels(below));
    below.starts_with(&above)
}

fn joined<'a>(context: &CallContext<'a>, first: &str, second: &str) -> Result<Datum<'a>> {
    let labels = [labels_of(first), labels_of(second)].concat();
    check_levels(labels.len(), "ltree levels")?;
    Ok(path(context, &labels))
}

/// The longest path that is above all of these; none where one of them is empty.
fn ancestor<'a>(context: &CallContext<'a>, paths: &[Datum<'a>]) -> Datum<'a> {
    let all: Vec<Vec<&str>> = paths.iter().map(labels).collect();
    let Some(first) = all.first().filter(|_| all.iter().all(|path| !path.is_empty())) else {
        return Datum::Null;
    };
    let shortest = all.iter().map(Vec::len).min().unwrap_or(1) - 1;
    let common = (0..shortest).take_while(|at| all.iter().all(|path| path[*at] == first[*at]));
    path(context, &first[..common.count()])
}

/// The elements of an array, which has one dimension at most and no NULL.
fn elements<'a>(context: &CallContext<'a>, array: &Array<'a>, ty: u32) -> Result<Vec<Datum<'a>>> {
    if array.dimension_count() > 1 {
        let message = "array must be one-dimensional";
        return Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
    }
    let element = |slot: Option<&'a [u8]>| match slot {
        Some(bytes) => stored::read(context.arena, ty, bytes),
        None => {
            let message = "array must not contain nulls";
            Err(SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message))
        }
    };
    array.slots().map(element).collect()
}

fn paths<'a>(context: &CallContext<'a>, array: &Datum<'a>) -> Result<Vec<Datum<'a>>> {
    elements(context, &array.array(), oids::LTREE)
}

fn matches(ltree: &Datum<'_>, query: &Datum<'_>) -> Result<bool> {
    lquery::matches(&labels(ltree), text(query))
}

fn has_words(ltree: &Datum<'_>, query: &Datum<'_>) -> Result<bool> {
    ltxtquery::matches(&labels(ltree), text(query))
}

fn matches_one(ltree: &Datum<'_>, queries: &[Datum<'_>]) -> Result<bool> {
    for query in queries {
        if matches(ltree, query)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn matches_some<'a>(
    context: &CallContext<'a>,
    ltree: &Datum<'a>,
    queries: &Datum<'a>,
) -> Result<Datum<'a>> {
    let queries = elements(context, &queries.array(), oids::LQUERY)?;
    matches_one(ltree, &queries).map(Datum::Bool)
}

fn any_matches_some<'a>(
    context: &CallContext<'a>,
    array: &Datum<'a>,
    queries: &Datum<'a>,
) -> Result<Datum<'a>> {
    let queries = elements(context, &queries.array(), oids::LQUERY)?;
    any(context, array, |path| matches_one(path, &queries))
}

/// The first element that fits.
fn first<'a>(
    context: &CallContext<'a>,
    array: &Datum<'a>,
    fits: impl Fn(&Datum<'a>) -> Result<bool>,
) -> Result<Datum<'a>> {
    for path in paths(context, array)? {
        if fits(&path)? {
            return Ok(path);
        }
    }
    Ok(Datum::Null)
}

fn any<'a>(
    context: &CallContext<'a>,
    array: &Datum<'a>,
    fits: impl Fn(&Datum<'a>) -> Result<bool>,
) -> Result<Datum<'a>> {
    first(context, array, fits).map(|found| Datum::Bool(!found.is_null()))
}
