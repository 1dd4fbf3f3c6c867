//! Deep trees: how far what a text says may be nested, and a stack that grows with the walk over it.
//!
//! PostgreSQL refuses what would not fit its stack (`max_stack_depth`, 54001). Here whoever recurses counts, and takes another
//! piece of stack where the one at hand ends, so that the limits are the same on every thread.

use crate::error::SqlError;
use crate::sqlstate::SqlState;

/// The deepest nesting that is read: what PostgreSQL's stack of 2 MB holds at least.
pub(crate) const NESTING_MAX: u32 = 10_000;

/// What is left of the stack when a new piece is taken, in bytes.
const RED_ZONE: usize = 128 << 10;

/// A piece of stack, in bytes.
pub(crate) const PIECE: usize = 2 << 20;

/// 54001 as PostgreSQL says it.
#[cold]
pub(crate) fn too_deep() -> SqlError {
    SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(
        "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's \
         stack depth limit is adequate.",
    )
}

/// Runs `f`, one level further in, on a new piece of stack if this one is nearly full.
pub(crate) fn deeper<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, PIECE, f)
}
