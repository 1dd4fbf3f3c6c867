//! jsonpath: expressions over a jsonb; manual, 8.14.7 and 9.16.2.
//!
//! PostgreSQL: `jsonpath_scan.l`, `jsonpath_gram.y`, `jsonpath.c`. A value is kept as the text it was given as, checked:
//! what PostgreSQL prints of a path leaves parentheses out that the path needs, so what is shown cannot be what is kept.
//! [`parse`] makes a tree of the text in the arena, [`print`] shows it, [`execute`] runs it over a jsonb.

mod execute;
pub(crate) mod functions;
mod item;
mod layout;
mod lexer;
mod methods;
mod parse;
mod predicate;
mod print;
#[cfg(test)]
mod tests;
mod tree;

use super::json::{BINARY_VERSION, behind_version};
use super::{CallContext, Datum};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use bumpalo::Bump;

/// Reads the text form.
///
/// # Errors
/// 42601, 22P02, 22P05, 2201B, 22003, 0A000; 54001.
pub fn read<'a>(context: &CallContext<'a>, text: &str) -> Result<Datum<'a>> {
    parse::parse(&Bump::new(), text)?;
    Ok(Datum::Bytea(context.arena.alloc_slice_copy(text.as_bytes())))
}

/// Appends the text form: the path as PostgreSQL prints it.
///
/// # Errors
/// XX001: no path is kept there.
pub fn write(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let arena = Bump::new();
    print::print(&kept(&arena, bytes)?, out);
    Ok(())
}

/// Appends the binary form: a version and the text.
///
/// # Errors
/// As [`write`].
pub fn send(bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.push(BINARY_VERSION);
    write(bytes, out)
}

/// Reads the binary form.
///
/// # Errors
/// XX000 for another version; those of the text.
pub fn receive<'a>(context: &CallContext<'a>, bytes: &[u8]) -> Result<Datum<'a>> {
    read(context, behind_version(bytes, "unsupported jsonpath version number: ")?)
}

/// The tree of a path that was checked when it was read.
fn kept<'a>(arena: &'a Bump, bytes: &'a [u8]) -> Result<tree::Path<'a>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| SqlError::new(SqlState::DATA_CORRUPTED, "a kept jsonpath is no text"))?;
    parse::parse(arena, text)
}
