//! Paths: text[] whose elements are keys of objects or places in arrays.

use crate::Datum;
use crate::error::Result;
use bumpalo::Bump;

/// Where `index` points among `length` elements: from 0, or from the end if negative.
pub(super) fn place(index: i32, length: usize) -> Option<usize> {
    let at = if index < 0 { i64::from(index) + length as i64 } else { i64::from(index) };
    usize::try_from(at).ok().filter(|at| *at < length)
}

/// A whole number as C's `strtol` reads it, with nothing behind it.
pub(super) fn integer(text: &str) -> Option<i32> {
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    text.parse().ok()
}

/// The elements of a path; a NULL stays one.
pub(super) fn elements<'a>(arena: &'a Bump, path: &Datum<'a>) -> Result<Vec<Option<&'a str>>> {
    let parts = path.array().datums(arena);
    parts
        .map(|part| {
            Ok(match part? {
                Datum::Null => None,
                part => Some(part.text()),
            })
        })
        .collect()
}
