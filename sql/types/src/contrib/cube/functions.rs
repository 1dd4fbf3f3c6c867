//! The functions of cube. Where one of two cubes has fewer dimensions, it is flat at 0 in the others.

use super::{Cube, DIMENSIONS_MAX, too_many};
use crate::contrib::{text_in, text_out};
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account, oids, stored};
use std::cmp::Ordering;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_960, Plain(|c, a| text_in(c, oids::CUBE, &a[0]))),
    (14_961, Plain(of_corners)),
    (14_962, Plain(of_corner)),
    (14_963, Plain(|c, a| text_out(c, oids::CUBE, &a[0]))),
    (14_964, Plain(|_, a| Ok(Datum::Bool(compare(a).is_eq())))),
    (14_965, Plain(|_, a| Ok(Datum::Bool(compare(a).is_ne())))),
    (14_966, Plain(|_, a| Ok(Datum::Bool(compare(a).is_lt())))),
    (14_967, Plain(|_, a| Ok(Datum::Bool(compare(a).is_gt())))),
    (14_968, Plain(|_, a| Ok(Datum::Bool(compare(a).is_le())))),
    (14_969, Plain(|_, a| Ok(Datum::Bool(compare(a).is_ge())))),
    (14_970, Plain(|_, a| Ok(Datum::Int4(compare(a) as i32)))),
    (14_971, Plain(|_, a| Ok(Datum::Bool(contains(&Cube::of(&a[0]), &Cube::of(&a[1])))))),
    (14_972, Plain(|_, a| Ok(Datum::Bool(contains(&Cube::of(&a[1]), &Cube::of(&a[0])))))),
    (14_973, Plain(|_, a| Ok(Datum::Bool(overlap(a))))),
    (14_974, Plain(|c, a| Ok(joined(a, f64::min, f64::max).store(c)))),
    (14_975, Plain(|c, a| Ok(joined(a, f64::max, f64::min).store(c)))),
    (14_976, Plain(|_, a| Ok(Datum::Float8(size(&Cube::of(&a[0])))))),
    (14_977, Plain(subset)),
    (14_978, Plain(|_, a| Ok(Datum::Float8(distance(&Cube::of(&a[0]), &Cube::of(&a[1])))))),
    (
        14_979,
        Plain(|_, a| {
            Ok(Datum::Float8(gaps(a).fold(0.0, |all, gap| if gap > all { gap } else { all })))
        }),
    ),
    (14_980, Plain(|_, a| Ok(Datum::Float8(gaps(a).fold(0.0, |all, gap| all + gap))))),
    (14_981, Plain(|_, a| Ok(Datum::Int4(Cube::of(&a[0]).dimensions() as i32)))),
    (14_982, Plain(|_, a| Ok(Datum::Float8(numbered(a).0)))),
    (14_983, Plain(|_, a| Ok(Datum::Float8(numbered(a).1)))),
    (14_984, Plain(coordinate)),
    (14_985, Plain(bound)),
    (14_986, Plain(|c, a| Ok(Cube::point(vec![a[0].float8()]).store(c)))),
    (
        14_987,
        Plain(|c, a| Ok(Cube { first: vec![a[0].float8()], second: vec![a[1].float8()] }.store(c))),
    ),
    (14_988, Plain(|c, a| extended(c, &a[0], (a[1].float8(), a[1].float8())))),
    (14_989, Plain(|c, a| extended(c, &a[0], (a[1].float8(), a[2].float8())))),
    (14_990, Plain(|_, a| Ok(Datum::Bool(Cube::of(&a[0]).is_point())))),
    (14_991, Plain(|c, a| Ok(enlarged(&Cube::of(&a[0]), a[1].float8(), a[2].int4()).store(c)))),
];

/// 2202E.
fn element_error(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message)
}

/// The elements of an array without NULL.
fn elements<'a>(context: &CallContext<'a>, array: &Datum<'a>, ty: u32) -> Result<Vec<Datum<'a>>> {
    let element = |slot: Option<&'a [u8]>| match slot {
        Some(bytes) => stored::read(context.arena, ty, bytes),
        None => Err(element_error("cannot work with arrays containing NULLs")),
    };
    account::stepping(array.array().slots()).map(element).collect()
}

fn numbers<'a>(context: &CallContext<'a>, array: &Datum<'a>) -> Result<Vec<f64>> {
    let elements = elements(context, array, oids::FLOAT8)?;
    Ok(elements.iter().map(Datum::float8).collect())
}

fn of_corners<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (first, second) = (numbers(context, &a[0])?, numbers(context, &a[1])?);
    if first.len() > DIMENSIONS_MAX {
        return Err(too_many("can't extend cube"));
    }
    if first.len() != second.len() {
        return Err(element_error("UR and LL arrays must be of same length"));
    }
    Ok(Cube { first, second }.store(context))
}

fn of_corner<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let corner = numbers(context, &a[0])?;
    if corner.len() > DIMENSIONS_MAX {
        return Err(too_many("array is too long"));
    }
    Ok(Cube::point(corner).store(context))
}

/// The dimensions that an array numbers.
fn subset<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let cube = Cube::of(&a[0]);
    let numbers = elements(context, &a[1], oids::INT4)?;
    if numbers.len() > DIMENSIONS_MAX {
        return Err(too_many("array is too long"));
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for number in numbers {
        let place = usize::try_from(number.int4()).ok().and_then(|number| number.checked_sub(1));
        let place = place.filter(|place| *place < cube.dimensions());
        let place = place.ok_or_else(|| element_error("Index out of bounds"))?;
        first.push(cube.first[place]);
        second.push(cube.second[place]);
    }
    Ok(Cube { first, second }.store(context))
}

/// `cube_cmp`: by the lower coordinates of the dimensions that both have, then by the higher ones; then what one has alone is held
/// against 0.
fn compare(a: &[Datum<'_>]) -> Ordering {
    let (first, second) = (Cube::of(&a[0]), Cube::of(&a[1]));
    let both = first.dimensions().min(second.dimensions());
    let all = first.dimensions().max(second.dimensions());
    let order = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or(Ordering::Equal);
    let lower = |at: usize| order(first.range(at).0, second.range(at).0);
    let higher = |at: usize| order(first.range(at).1, second.range(at).1);
    let shared = (0..both).map(lower).chain((0..both).map(higher));
    let alone = (both..all).map(lower).chain((both..all).map(higher));
    let found = shared.chain(alone).find(|order| order.is_ne());
    found.unwrap_or_else(|| first.dimensions().cmp(&second.dimensions()))
}

fn contains(whole: &Cube, part: &Cube) -> bool {
    let flat = |at: usize| part.first[at] == 0.0 && part.second[at] == 0.0;
    let beyond = (whole.dimensions()..part.dimensions()).all(flat);
    beyond
        && (0..whole.dimensions().min(part.dimensions())).all(|at| {
            let ((low, high), (inner_low, inner_high)) = (whole.range(at), part.range(at));
            !(low > inner_low || high < inner_high)
        })
}

fn overlap(a: &[Datum<'_>]) -> bool {
    let (first, second) = (Cube::of(&a[0]), Cube::of(&a[1]));
    (0..first.dimensions().max(second.dimensions())).all(|at| {
        let ((low, high), (other_low, other_high)) = (first.range(at), second.range(at));
        !(low > other_high || high < other_low)
    })
}

/// In each dimension, one of the lower coordinates and one of the higher ones.
fn joined(a: &[Datum<'_>], lower: fn(f64, f64) -> f64, higher: fn(f64, f64) -> f64) -> Cube {
    let (first, second) = (Cube::of(&a[0]), Cube::of(&a[1]));
    let all = 0..first.dimensions().max(second.dimensions());
    Cube {
        first: all.clone().map(|at| lower(first.range(at).0, second.range(at).0)).collect(),
        second: all.map(|at| higher(first.range(at).1, second.range(at).1)).collect(),
    }
}

fn size(cube: &Cube) -> f64 {
    if cube.is_point() {
        return 0.0;
    }
    cube.first.iter().zip(&cube.second).map(|(first, second)| (second - first).abs()).product()
}

/// How far two cubes are from each other in each dimension.
fn gaps_of(first: &Cube, second: &Cube) -> impl Iterator<Item = f64> {
    (0..first.dimensions().max(second.dimensions())).map(move |at| {
        let ((low, high), (other_low, other_high)) = (first.range(at), second.range(at));
        if high <= other_low {
            other_low - high
        } else if low > other_high {
            low - other_high
        } else {
            0.0
        }
    })
}

fn gaps(a: &[Datum<'_>]) -> impl Iterator<Item = f64> {
    let gaps: Vec<f64> = gaps_of(&Cube::of(&a[0]), &Cube::of(&a[1])).collect();
    gaps.into_iter()
}

/// Euclid's distance.
pub(crate) fn distance(first: &Cube, second: &Cube) -> f64 {
    gaps_of(first, second).map(|gap| gap * gap).sum::<f64>().sqrt()
}

/// The lower and the higher coordinate of the dimension of a number; 0 of one that there is not.
fn numbered(a: &[Datum<'_>]) -> (f64, f64) {
    let place = usize::try_from(a[1].int4()).ok().and_then(|number| number.checked_sub(1));
    place.map_or((0.0, 0.0), |place| Cube::of(&a[0]).range(place))
}

/// Coordinates are counted through the first corner and the second one.
fn coordinate<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (cube, number) = (Cube::of(&a[0]), a[1].int4());
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let found = place.and_then(|place| cube.first.iter().chain(&cube.second).nth(place));
    let missing = || element_error(format!("cube index {number} is out of bounds"));
    found.map(|coordinate| Datum::Float8(*coordinate)).ok_or_else(missing)
}

/// The lower and the higher coordinates of all dimensions are counted by turns; a negative number gives the negative.
fn bound<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let number = a[1].int4();
    if number == 0 {
        return Err(element_error("zero cube index is not defined"));
    }
    let place = (number.unsigned_abs() - 1) as usize;
    let (low, high) = Cube::of(&a[0]).range(place / 2);
    let found = if place.is_multiple_of(2) { low } else { high };
    Ok(Datum::Float8(if number < 0 { -found } else { found }))
}

fn extended<'a>(
    context: &CallContext<'a>,
    cube: &Datum<'a>,
    (first, second): (f64, f64),
) -> Result<Datum<'a>> {
    let mut cube = Cube::of(cube);
    if cube.dimensions() == DIMENSIONS_MAX {
        return Err(too_many("can't extend cube"));
    }
    cube.first.push(first);
    cube.second.push(second);
    Ok(cube.store(context))
}

/// In each dimension wider by the radius on both sides; what would be less than nothing is its middle.
fn enlarged(cube: &Cube, radius: f64, dimensions: i32) -> Cube {
    let least = usize::try_from(dimensions).unwrap_or(0).min(DIMENSIONS_MAX);
    let count = cube.dimensions().max(if radius > 0.0 { least } else { 0 });
    let (mut first, mut second) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for at in 0..count {
        let (low, high) = cube.range(at);
        let (low, high) = match at < cube.dimensions() {
            true => (low - radius, high + radius),
            false => (-radius, radius),
        };
        let middle = f64::midpoint(low, high);
        let (low, high) = if low > high { (middle, middle) } else { (low, high) };
        first.push(low);
        second.push(high);
    }
    Cube { first, second }
}
