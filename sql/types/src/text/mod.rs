//! Text: its functions and operators.
//!
//! PostgreSQL: `varlena.c`, `oracle_compat.c`, `like.c`, `regexp.c`. Lengths and positions count characters. Case is mapped as
//! C.UTF-8 does: one character to one character.

pub mod build;
pub mod bytes;
pub(crate) mod case;
mod collating;
mod constraint;
pub mod cut;
pub mod encode;
pub(crate) mod encoding;
pub mod format;
mod growing;
pub mod like;
mod long_search;
mod longest;
pub mod normal;
pub(crate) mod occurrences;
pub mod quote;
pub mod regular;
mod simulation;
mod translate;
pub mod utf8;

use crate::account;
pub use growing::check_growth;
pub(crate) use growing::{
    ArenaString, VALUE_BYTES_MAX, check_value, finished, growing, growing_to,
};
use memchr::memmem::Finder;

/// The byte position of character `count`; the length where there are not so many.
pub(crate) fn byte_of(text: &str, count: usize) -> usize {
    let (mut at, mut left) = (0, count);
    for stretch in account::stretches(text) {
        if stretch.is_ascii() {
            if left <= stretch.len() {
                return at + left;
            }
            left -= stretch.len();
        } else {
            let mut places = stretch.char_indices();
            match places.nth(left) {
                Some((place, _)) => return at + place,
                None => left -= length(stretch),
            }
        }
        at += stretch.len();
    }
    at
}

/// Where the first part of a text, or of bytes, stands that is `part`. It is looked for a stretch at a time, so that the search
/// may be told to stop.
pub(crate) fn find(whole: &[u8], part: &[u8]) -> Option<usize> {
    let finder = Finder::new(part);
    let overlap = part.len().saturating_sub(1);
    let mut from = 0;
    loop {
        let to = whole.len().min(from + account::LARGE + overlap);
        if let Some(at) = finder.find(&whole[from..to]) {
            return Some(from + at);
        }
        if to == whole.len() {
            return None;
        }
        account::insist();
        from += account::LARGE;
    }
}

/// The number of characters.
pub(crate) fn length(text: &str) -> usize {
    account::stretches(text).map(|stretch| stretch.chars().count()).sum()
}
