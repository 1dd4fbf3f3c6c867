//! Texts that grow in the arena, up to what a value may have: 1 GB (PostgreSQL: `stringinfo.c`, `MaxAllocSize`).
//!
//! What goes beyond is not taken in, and told of when the text is finished. A text that is known to become too long stores
//! nothing on the way there. Whenever it has grown by a stretch it is asked whether the statement is to stop, or may not hold
//! so much.

use crate::account::{self, LARGE};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum};
use bumpalo::Bump;
use std::fmt;

/// No value has more bytes, with what says how long it is.
pub(crate) const VALUE_BYTES_MAX: usize = 0x3fff_ffff;

/// The bytes that say how long a value is.
const HEADER: usize = 4;

/// A text made of pieces, in the arena.
pub(crate) struct ArenaString<'a> {
    arena: &'a Bump,
    text: bumpalo::collections::String<'a>,
    /// How many bytes were wanted so far.
    len: usize,
    /// From how many on it is asked whether there may be more.
    unasked: usize,
    /// Nothing is stored: there will be too much.
    hopeless: bool,
    excess: Option<SqlError>,
}

/// An empty text.
pub(crate) fn growing<'a>(context: &CallContext<'a>) -> ArenaString<'a> {
    growing_to(context, 0)
}

/// An empty text that will have this many bytes.
pub(crate) fn growing_to<'a>(context: &CallContext<'a>, bytes: usize) -> ArenaString<'a> {
    let hopeless = bytes >= VALUE_BYTES_MAX;
    let capacity = if hopeless { 0 } else { bytes };
    account::insist_on(capacity);
    let text = bumpalo::collections::String::with_capacity_in(capacity, context.arena);
    ArenaString { arena: context.arena, text, len: 0, unasked: LARGE, hopeless, excess: None }
}

impl ArenaString<'_> {
    /// Appends a text.
    #[inline]
    pub(crate) fn push_str(&mut self, piece: &str) {
        if self.hopeless || self.len + piece.len() >= self.unasked {
            self.ask(piece.len());
            if self.hopeless {
                return;
            }
        }
        if piece.len() < LARGE {
            self.text.push_str(piece);
        } else {
            account::stretches(piece).for_each(|stretch| self.text.push_str(stretch));
        }
        self.len += piece.len();
    }

    /// Appends a character.
    #[inline]
    pub(crate) fn push(&mut self, character: char) {
        self.push_str(character.encode_utf8(&mut [0; 4]));
    }

    /// Whether there may be `more`, which is a stretch, or too much.
    #[cold]
    fn ask(&mut self, more: usize) {
        if self.excess.is_some() {
            self.len += more;
            if self.len >= self.unasked {
                account::insist();
                self.unasked = self.len + LARGE;
            }
            return;
        }
        let wanted = self.len + more;
        let grows = wanted > self.text.capacity() && !self.hopeless;
        let room = if grows { wanted.max(2 * self.text.capacity()) } else { 0 };
        account::insist();
        account::insist_on(room);
        if room >= LARGE {
            self.moved(room);
        }
        self.excess = check_growth(self.len, more).err();
        self.hopeless |= self.excess.is_some();
        if self.hopeless {
            self.len = wanted;
        }
        let next = wanted + LARGE;
        self.unasked = if self.hopeless { next } else { next.min(VALUE_BYTES_MAX) };
    }
}

impl ArenaString<'_> {
    /// Moves to where there is room for so many bytes, a stretch at a time: a copy of half a gigabyte would keep a cancel
    /// waiting.
    fn moved(&mut self, room: usize) {
        let mut text = bumpalo::collections::String::with_capacity_in(room, self.arena);
        account::stretches(&self.text).for_each(|stretch| text.push_str(stretch));
        self.text = text;
    }
}

impl fmt::Write for ArenaString<'_> {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.push_str(piece);
        Ok(())
    }
}

/// A finished text.
///
/// # Errors
/// 54000.
pub(crate) fn finished<'a>(text: ArenaString<'a>) -> Result<Datum<'a>> {
    match text.excess {
        Some(error) => Err(error),
        None => Ok(Datum::Text(text.text.into_bump_str())),
    }
}

/// Fails where a buffer of `bytes` cannot take `more`.
///
/// # Errors
/// 54000.
pub fn check_growth(bytes: usize, more: usize) -> Result<()> {
    if bytes + more < VALUE_BYTES_MAX {
        return Ok(());
    }
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "out of memory").detail(format!(
        "Cannot enlarge string buffer containing {bytes} bytes by {more} more bytes."
    )))
}

/// Fails where a value of so many bytes would be too long. PostgreSQL, which finds out as it asks for memory, says XX000.
///
/// # Errors
/// 54000.
pub(crate) fn check_value(bytes: usize) -> Result<()> {
    let wanted = bytes.saturating_add(HEADER);
    if wanted <= VALUE_BYTES_MAX {
        return Ok(());
    }
    let message = format!("invalid memory alloc request size {wanted}");
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::no_session::with_context;

    #[test]
    fn a_text_that_is_too_long_is_told_of_and_not_stored() {
        with_context(|context| {
            let piece = "x".repeat(1 << 20);
            let mut out = growing_to(context, 1 << 31);
            (0..2048).for_each(|_| out.push_str(&piece));
            let error = finished(out).expect_err("two gigabytes");
            assert_eq!(error.fields().message, "out of memory");
            assert_eq!(
                error.fields().detail.as_deref(),
                Some(
                    "Cannot enlarge string buffer containing 1072693248 bytes by 1048576 more bytes."
                )
            );
            assert!(context.arena.allocated_bytes() < 1 << 20);
        });
    }

    #[test]
    fn a_value_counts_its_header() {
        assert!(check_value(VALUE_BYTES_MAX - 4).is_ok());
        let error = check_value(1_200_000_000).expect_err("too much");
        assert_eq!(error.fields().message, "invalid memory alloc request size 1200000004");
        assert!(check_growth(VALUE_BYTES_MAX - 10, 9).is_ok());
        assert!(check_growth(VALUE_BYTES_MAX - 10, 10).is_err());
    }
}
