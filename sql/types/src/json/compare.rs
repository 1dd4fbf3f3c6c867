//! The order of jsonb values: comparison, hashes and keys that agree with it.
//!
//! PostgreSQL: `compareJsonbContainers`. null < string < number < boolean < array < object; containers first by length,
//! then part by part, objects by key and value in turn. On the outermost level a scalar counts as an array of one that
//! is less than other arrays of one, so an empty array is less than everything.

use super::stored::{Shape, View};
use crate::depth::deeper;
use crate::numeric;
use std::cmp::Ordering;
use std::hash::Hasher;

/// Compares two stored values.
#[must_use]
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (View::of(a), View::of(b));
    outermost(&a).cmp(&outermost(&b)).then_with(|| inner(&a, &b))
}

/// The class of a value that stands alone.
fn outermost(view: &View<'_>) -> u8 {
    match view.shape() {
        Shape::Array(array) if array.is_empty() => 0,
        Shape::Array(_) => 2,
        Shape::Object(_) => 3,
        _ => 1,
    }
}

fn rank(shape: &Shape<'_>) -> u8 {
    match shape {
        Shape::Null => 1,
        Shape::String(_) => 2,
        Shape::Number(_) => 3,
        Shape::Bool(_) => 4,
        Shape::Array(_) => 5,
        Shape::Object(_) => 6,
    }
}

/// Compares two values within others.
#[must_use]
pub fn inner(a: &View<'_>, b: &View<'_>) -> Ordering {
    match (a.shape(), b.shape()) {
        (Shape::String(a), Shape::String(b)) => a.cmp(b),
        (Shape::Number(a), Shape::Number(b)) => numeric::View::of(a).compare(&numeric::View::of(b)),
        (Shape::Bool(a), Shape::Bool(b)) => a.cmp(&b),
        (Shape::Array(a), Shape::Array(b)) => {
            let parts = || a.iter().zip(b.iter()).map(|(a, b)| deeper(|| inner(&a, &b)));
            a.len().cmp(&b.len()).then_with(|| first_difference(parts()))
        }
        (Shape::Object(a), Shape::Object(b)) => {
            let parts = || {
                a.iter().zip(b.iter()).map(|((a_key, a), (b_key, b))| {
                    a_key.cmp(b_key).then_with(|| deeper(|| inner(&a, &b)))
                })
            };
            a.len().cmp(&b.len()).then_with(|| first_difference(parts()))
        }
        (a, b) => rank(&a).cmp(&rank(&b)),
    }
}

fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// Appends bytes that compare as the values do, and that end themselves.
pub fn encode_key(bytes: &[u8], out: &mut Vec<u8>) {
    let view = View::of(bytes);
    out.push(outermost(&view));
    encode(&view, out);
}

/// A string has no zero in it.
fn encode_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn encode(view: &View<'_>, out: &mut Vec<u8>) {
    let shape = view.shape();
    out.push(rank(&shape));
    match shape {
        Shape::Null => {}
        Shape::String(text) => encode_text(text, out),
        Shape::Number(stored) => numeric::key::encode(stored, out),
        Shape::Bool(value) => out.push(u8::from(value)),
        Shape::Array(array) => {
            out.extend_from_slice(&(array.len() as u32).to_be_bytes());
            array.iter().for_each(|element| deeper(|| encode(&element, out)));
        }
        Shape::Object(object) => {
            out.extend_from_slice(&(object.len() as u32).to_be_bytes());
            for (key, value) in object.iter() {
                encode_text(key, out);
                deeper(|| encode(&value, out));
            }
        }
    }
}

/// Feeds a value to a hasher, so that equal values hash equal.
pub fn hash_into(bytes: &[u8], hasher: &mut impl Hasher) {
    let mut key = Vec::new();
    encode_key(bytes, &mut key);
    hasher.write(&key);
}

/// `@>`: whether `whole` has all that is in `part`.
#[must_use]
pub fn contains(whole: &View<'_>, part: &View<'_>) -> bool {
    match (whole.shape(), part.shape()) {
        (Shape::Object(whole), Shape::Object(part)) => part.iter().all(|(key, wanted)| {
            whole.get(key).is_some_and(|found| {
                if wanted.is_scalar() || found.is_scalar() {
                    inner(&found, &wanted).is_eq()
                } else {
                    deeper(|| contains(&found, &wanted))
                }
            })
        }),
        (Shape::Array(whole), Shape::Array(part)) => part.iter().all(|wanted| {
            whole.iter().any(|found| {
                if wanted.is_scalar() {
                    inner(&found, &wanted).is_eq()
                } else {
                    deeper(|| contains(&found, &wanted))
                }
            })
        }),
        _ => false,
    }
}

/// `@>` of values that stand alone: an array also contains a scalar that is one of its elements.
#[must_use]
pub fn contains_outermost(whole: &View<'_>, part: &View<'_>) -> bool {
    match whole.shape() {
        Shape::Array(array) if part.is_scalar() => {
            array.iter().any(|found| inner(&found, part).is_eq())
        }
        _ if whole.is_scalar() && part.is_scalar() => inner(whole, part).is_eq(),
        _ => contains(whole, part),
    }
}
