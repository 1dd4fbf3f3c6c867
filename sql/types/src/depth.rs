//! Deep values: how far what is walked may be nested, and a stack that grows with the walk over it.
//!
//! PostgreSQL asks in every function that recurses whether its stack has room (`check_stack_depth`), and says 54001 past
//! `max_stack_depth`. Here whoever recurses goes through [`deeper`], which takes another stack where the one at hand ends, and what may be nested without a bound of its own through [`descend`], which counts the levels on this thread,
//! whatever kinds of walk they are of: so the limits are the same on every thread and in every build.

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::stack;
use std::cell::Cell;

/// The deepest nesting that is read: what PostgreSQL's stack of 2 MB holds at least.
pub const NESTING_MAX: u32 = 10_000;

/// What is left of the stack when another is taken, in bytes.
const RED_ZONE: usize = 128 << 10;

thread_local! {
    static LEVELS: Cell<u32> = const { Cell::new(0) };
}

/// 54001 as PostgreSQL says it.
#[cold]
pub fn too_deep() -> SqlError {
    SqlError::new(SqlState::STATEMENT_TOO_COMPLEX, "stack depth limit exceeded").hint(
        "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the platform's \
         stack depth limit is adequate.",
    )
}

/// Runs `f`, one level further in, on another stack if this one is nearly full.
pub fn deeper<R>(f: impl FnOnce() -> R) -> R {
    stack::with(RED_ZONE, f)
}

/// Runs `f`, one level further into a value.
///
/// # Errors
/// 54001.
pub fn descend<R>(f: impl FnOnce() -> Result<R>) -> Result<R> {
    descend_by(1, f)
}

/// The same for a level that costs as much as so many of a value's.
///
/// # Errors
/// 54001.
pub fn descend_by<R>(weight: u32, f: impl FnOnce() -> Result<R>) -> Result<R> {
    /// Counts down again, after a panic too.
    struct Levels(u32);
    impl Drop for Levels {
        fn drop(&mut self) {
            LEVELS.set(self.0);
        }
    }
    let levels = Levels(LEVELS.get());
    if levels.0 + weight > NESTING_MAX {
        return Err(too_deep());
    }
    LEVELS.set(levels.0 + weight);
    deeper(f)
}
