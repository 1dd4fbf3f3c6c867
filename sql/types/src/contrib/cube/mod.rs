//! `cube` (PostgreSQL 15 manual, appendix F.10): boxes in up to 100 dimensions, each given by two opposite corners.
//!
//! A value is the number of its dimensions, a byte that says whether it is a point, and the coordinates of its corners; a
//! point has one. Its corners stay as they were given: what compares goes by the lower coordinates, then by the higher ones.
//! In that order cubes of other dimensions stand where the first of their lower coordinates put them, fewer before more;
//! PostgreSQL's `cube_cmp`, which the operators follow, puts zeros in place of what is missing there, and its order of cubes of
//! different dimensions has cycles.

mod functions;
mod text;

pub(crate) use functions::{FUNCTIONS, distance};

use super::{ContribType, stored};
use crate::error::{Result, SqlError};
use crate::failure::{insufficient, left_over};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};

/// The most dimensions.
const DIMENSIONS_MAX: usize = 100;

/// How it is read and written.
pub(super) const TYPE: ContribType =
    ContribType { read: text::read, write: text::write, receive, send, ordered: Some(ordered) };

/// A cube by its corners, which are one where it is a point.
#[derive(Clone, Debug)]
pub(crate) struct Cube {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Cube {
    pub(crate) fn point(corner: Vec<f64>) -> Cube {
        Cube { second: corner.clone(), first: corner }
    }

    pub(crate) fn of(datum: &Datum<'_>) -> Cube {
        Cube::view(datum.bytea())
    }

    fn view(bytes: &[u8]) -> Cube {
        let [dimensions, point, rest @ ..] = bytes else { return Cube::point(Vec::new()) };
        let number = |bytes: &[u8]| bytes.try_into().map_or(0.0, f64::from_le_bytes);
        let mut first: Vec<f64> = rest.chunks_exact(8).map(number).collect();
        if *point == 1 {
            return Cube::point(first);
        }
        let second = first.split_off(usize::from(*dimensions).min(first.len()));
        Cube { first, second }
    }

    pub(crate) fn store<'a>(&self, context: &CallContext<'a>) -> Datum<'a> {
        let point = self.is_point();
        let mut out = vec![self.first.len() as u8, u8::from(point)];
        let second = if point { &[][..] } else { &self.second };
        for coordinate in self.first.iter().chain(second) {
            out.extend_from_slice(&coordinate.to_le_bytes());
        }
        stored(context, &out)
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.first.len()
    }

    pub(crate) fn is_point(&self) -> bool {
        let same = |(a, b): (&f64, &f64)| a == b || a.to_bits() == b.to_bits();
        self.first.iter().zip(&self.second).all(same)
    }

    /// The lower and the higher coordinate of a dimension; beyond all there are it is 0.
    pub(crate) fn range(&self, dimension: usize) -> (f64, f64) {
        let corners = self.first.get(dimension).zip(self.second.get(dimension));
        let (first, second) = corners.map_or((0.0, 0.0), |(first, second)| (*first, *second));
        (if first < second { first } else { second }, if first > second { first } else { second })
    }
}

/// 54000.
fn too_many(message: &str) -> SqlError {
    SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message).detail(too_many_detail())
}

fn too_many_detail() -> String {
    format!("A cube cannot have more than {DIMENSIONS_MAX} dimensions.")
}

fn ordered(bytes: &[u8]) -> Vec<u8> {
    /// In front of a coordinate, and behind the last one.
    const COORDINATE: u8 = 1;
    const END: u8 = 0;
    let cube = Cube::view(bytes);
    let mut out = Vec::new();
    let sorting = |coordinate: f64| crate::tuple::key::float_bits(coordinate).to_be_bytes();
    for dimension in 0..cube.dimensions() {
        out.push(COORDINATE);
        out.extend_from_slice(&sorting(cube.range(dimension).0));
    }
    out.push(END);
    for dimension in 0..cube.dimensions() {
        out.extend_from_slice(&sorting(cube.range(dimension).1));
    }
    out
}

/// In the header of the binary form: that it is a point.
const POINT: u32 = 1 << 31;

fn receive<'a>(context: &CallContext<'a>, bytes: &[u8]) -> Result<Datum<'a>> {
    let (header, rest) = bytes.split_first_chunk::<4>().ok_or_else(insufficient)?;
    let header = u32::from_be_bytes(*header);
    let dimensions = (header & !POINT) as usize;
    if dimensions > DIMENSIONS_MAX {
        return Err(too_many("cube dimension is too large"));
    }
    let point = header & POINT != 0;
    let count = if point { dimensions } else { 2 * dimensions };
    if rest.len() < count * 8 {
        return Err(insufficient());
    }
    if rest.len() > count * 8 {
        return Err(left_over());
    }
    let number = |bytes: &[u8]| bytes.try_into().map_or(0.0, f64::from_be_bytes);
    let mut first: Vec<f64> = rest.chunks_exact(8).map(number).collect();
    if point {
        return Ok(Cube::point(first).store(context));
    }
    let second = first.split_off(dimensions);
    Ok(Cube { first, second }.store(context))
}

fn send(bytes: &[u8], out: &mut Vec<u8>) {
    let cube = Cube::view(bytes);
    let point = cube.is_point();
    let header = cube.first.len() as u32 | if point { POINT } else { 0 };
    out.extend_from_slice(&header.to_be_bytes());
    let second = if point { &[][..] } else { &cube.second };
    for coordinate in cube.first.iter().chain(second) {
        out.extend_from_slice(&coordinate.to_be_bytes());
    }
}
