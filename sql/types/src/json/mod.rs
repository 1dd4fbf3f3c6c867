//! json and jsonb: manual, 8.14 and 9.16.
//!
//! A json is the text it was given as, checked by [`read`]; functions over it read it again into a tree in the arena
//! ([`document`]). A jsonb is a tree in a form of its own ([`stored`]): members in PostgreSQL's order (shorter keys
//! first, then by bytes), the last of equal keys kept, numbers as numerics, found without a walk over what is not asked
//! for. What other types' values look like as JSON is in [`output`]; both types share it.

pub(crate) mod access;
pub(crate) mod aggregate;
pub(crate) mod build;
pub(crate) mod change;
pub(crate) mod compare;
mod document;
pub(crate) mod output;
mod path;
pub(crate) mod populate;
mod read;
pub(crate) mod sets;
pub mod stored;

pub use compare::{compare, encode_key, hash_into};
pub use document::{Item, Kind, check, parse};
pub use stored::View;

use super::failure::insufficient;
use super::{CallContext, Datum};
use crate::account;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// The jsonb that a JSON text says.
///
/// # Errors
/// 22P02, 22P05, 54000.
pub fn jsonb_of_text<'a>(context: &CallContext<'a>, text: &str) -> Result<Datum<'a>> {
    let text = account::copied_text(context.arena, text);
    let item = document::parse(context.arena, text)?;
    document::node(context.arena, &item)?.store(context.arena)
}

/// Appends the text of a stored jsonb: `{"a": 1, "b": [2, 3]}`.
pub fn write(bytes: &[u8], out: &mut Vec<u8>) {
    View::of(bytes).write(out);
}

/// Appends a text as a JSON string (`escape_json`).
pub fn escape(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in account::byte_stretches(text.as_bytes()).flatten() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            8 => out.extend_from_slice(b"\\b"),
            12 => out.extend_from_slice(b"\\f"),
            0..32 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// The version byte in front of a jsonb's binary form, and of a jsonpath's.
pub(super) const BINARY_VERSION: u8 = 1;

/// Appends the binary form: a version and the text.
pub fn send(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(BINARY_VERSION);
    write(bytes, out);
}

/// Reads the binary form.
///
/// # Errors
/// XX000 for another version; those of the text.
pub fn receive<'a>(context: &CallContext<'a>, bytes: &[u8]) -> Result<Datum<'a>> {
    let text = behind_version(bytes, "unsupported jsonb version number ")?;
    jsonb_of_text(context, text)
}

/// The text behind the version in front of a binary form.
///
/// # Errors
/// XX000 with this message for another version; 08P01, 22021.
pub(super) fn behind_version<'b>(bytes: &'b [u8], unsupported: &str) -> Result<&'b str> {
    let (&version, text) = bytes.split_first().ok_or_else(insufficient)?;
    if version != BINARY_VERSION {
        return Err(SqlError::new(SqlState::INTERNAL_ERROR, format!("{unsupported}{version}")));
    }
    super::check_text(text)
}
