//! Random bytes that nobody can guess: uuids, salts and keys.
//!
//! Chance is handed in: a server says where it comes from, once. Where nobody has said it, in tests and simulations, the
//! bytes are the session's own random numbers, which a seed repeats.

use crate::CallContext;
use crate::arithmetic::next_random;
use std::sync::OnceLock;

/// Fills bytes with what nobody can guess.
pub type Source = fn(&mut [u8]);

static SOURCE: OnceLock<Source> = OnceLock::new();

/// Says where such bytes come from, for the whole process. Only the first one counts.
pub fn hand_in(source: Source) {
    let _known = SOURCE.set(source);
}

/// Fills bytes.
pub(crate) fn fill(context: &CallContext<'_>, bytes: &mut [u8]) {
    if let Some(source) = SOURCE.get() {
        return source(bytes);
    }
    for piece in bytes.chunks_mut(8) {
        piece.copy_from_slice(&next_random(context).to_be_bytes()[..piece.len()]);
    }
}
