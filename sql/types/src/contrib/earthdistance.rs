//! `earthdistance` (PostgreSQL 15 manual, appendix F.13): places on the earth as points of three dimensions on a sphere, and great
//! circles between them. In PostgreSQL its functions are SQL; what is over points in degrees is not there.

use super::cube::{Cube, distance};
use crate::error::Result;
use crate::function::Callable::{self, Plain};
use crate::{CallContext, Datum, function};
use std::f64::consts::PI;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (15_050, Plain(|_, _| Ok(Datum::Float8(RADIUS)))),
    (15_051, Plain(|_, a| Ok(Datum::Float8(circle(a[0].float8()))))),
    (15_052, Plain(|_, a| Ok(Datum::Float8(chord(a[0].float8()))))),
    (15_053, Plain(place)),
    (15_054, Plain(|_, a| Ok(Datum::Float8(latitude(&Cube::of(&a[0])))))),
    (15_055, Plain(|_, a| Ok(Datum::Float8(longitude(&Cube::of(&a[0])))))),
    (15_056, Plain(|_, a| Ok(Datum::Float8(circle(distance(&Cube::of(&a[0]), &Cube::of(&a[1]))))))),
    (15_057, Plain(around)),
];

/// `earth()`: the radius of the sphere in metres.
const RADIUS: f64 = 6_378_168.0;

/// `cube_enlarge`, which `earth_box` calls.
const CUBE_ENLARGE: u32 = 14_991;

/// The way along a great circle for a way through the earth.
fn circle(chord: f64) -> f64 {
    if chord < 0.0 {
        0.0
    } else if chord / (2.0 * RADIUS) > 1.0 {
        PI * RADIUS
    } else {
        2.0 * RADIUS * (chord / (2.0 * RADIUS)).asin()
    }
}

/// The way through the earth for one along a great circle.
fn chord(circle: f64) -> f64 {
    if circle < 0.0 {
        0.0
    } else if circle / RADIUS > PI {
        2.0 * RADIUS
    } else {
        2.0 * RADIUS * (circle / (2.0 * RADIUS)).sin()
    }
}

fn radians(degrees: f64) -> f64 {
    degrees * (PI / 180.0)
}

fn degrees(radians: f64) -> f64 {
    radians / (PI / 180.0)
}

fn place<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (latitude, longitude) = (radians(a[0].float8()), radians(a[1].float8()));
    let corner = vec![
        RADIUS * latitude.cos() * longitude.cos(),
        RADIUS * latitude.cos() * longitude.sin(),
        RADIUS * latitude.sin(),
    ];
    Ok(Cube::point(corner).store(context))
}

fn latitude(place: &Cube) -> f64 {
    let height = place.range(2).0 / RADIUS;
    if height < -1.0 {
        -90.0
    } else if height > 1.0 {
        90.0
    } else {
        degrees(height.asin())
    }
}

fn longitude(place: &Cube) -> f64 {
    degrees(place.range(1).0.atan2(place.range(0).0))
}

/// A box that holds all places within a way along great circles.
fn around<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let enlarge = match function(CUBE_ENLARGE) {
        Some(Plain(enlarge)) => enlarge,
        _ => unreachable!("what it stands on is there"),
    };
    enlarge(context, &[a[0], Datum::Float8(chord(a[1].float8())), Datum::Int4(3)])
}

/// The condition of the domain `earth` that a cube does not fulfil.
#[must_use]
pub fn violated(place: &Datum<'_>) -> Option<&'static str> {
    if place.is_null() {
        return None;
    }
    let place = Cube::of(place);
    let centre = Cube::point(vec![0.0]);
    if !place.is_point() {
        return Some("not_point");
    }
    if place.dimensions() > 3 {
        return Some("not_3d");
    }
    let off = (distance(&place, &centre) / RADIUS - 1.0).abs();
    (off >= 1e-6).then_some("on_surface")
}
