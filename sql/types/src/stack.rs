//! Stacks: how much is left of the one that a thread runs on, and others to go on with.
//!
//! A thread's own stack is as large as whoever started it made it. What walks deep trees or values says how much it needs, and
//! goes on another stack where that is not left ([`with`]). A stack is address space that is filled as it is used; making one,
//! and filling the part that every walk uses, costs more than most changes of a schema do themselves, so that a few are kept
//! for the next. What was used of them beyond that part goes back to the system.

use corosensei::stack::{DefaultStack, Stack};
use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

/// Bytes of a small stack, of which values that are nested take one after another.
pub const SMALL: usize = 2 << 20;

/// Bytes of a large one, for the highest tree that may be: see `sql_parse::depth`.
pub const LARGE: usize = 384 << 20;

/// How many of each kind are kept.
const KEPT_MAX: usize = 8;

/// So much of a stack that is kept stays filled: what a change of the schema uses.
const FILLED: usize = 128 << 10;

/// More than a page, which lies behind the end of each stack, so that who comes too far is ended and harms nothing.
const GUARD: usize = 64 << 10;

static SMALL_KEPT: Kept = Kept::new(SMALL);
static LARGE_KEPT: Kept = Kept::new(LARGE);

thread_local! {
    /// The address behind which the stack at hand has ended; that of the thread's own is asked for when it is first needed.
    static END: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Stacks of one size that nobody runs on.
struct Kept {
    bytes: usize,
    stacks: Mutex<Vec<DefaultStack>>,
}

impl Kept {
    const fn new(bytes: usize) -> Kept {
        Kept { bytes, stacks: Mutex::new(Vec::new()) }
    }

    fn take(&self) -> DefaultStack {
        let kept = self.stacks.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| made(self.bytes))
    }

    fn give(&self, stack: DefaultStack) {
        let end = stack.limit().get() + GUARD;
        empty(&stack, end..stack.base().get() - FILLED);
        let mut stacks = self.stacks.lock().unwrap_or_else(PoisonError::into_inner);
        if stacks.len() < KEPT_MAX {
            stacks.push(stack);
        }
    }
}

fn made(bytes: usize) -> DefaultStack {
    DefaultStack::new(bytes + GUARD).expect("there is address space for a stack")
}

/// Gives the memory behind these addresses of a stack back: they read as zeros when they are used again.
fn empty(stack: &DefaultStack, addresses: std::ops::Range<usize>) {
    debug_assert!(stack.limit().get() <= addresses.start && addresses.end <= stack.base().get());
    let start = std::ptr::with_exposed_provenance_mut(addresses.start);
    // SAFETY: the addresses are of a private mapping of this stack's own, on which nobody runs, and what a stack that nobody
    // runs on holds is never read.
    let emptied =
        unsafe { rustix::mm::madvise(start, addresses.len(), rustix::mm::Advice::LinuxDontNeed) };
    debug_assert_eq!(emptied, Ok(()));
}

/// About where on its stack the caller is.
#[inline(always)]
fn here() -> usize {
    let local = 0_u8;
    std::ptr::from_ref(&local).addr()
}

/// Bytes that are left of the stack at hand.
fn left() -> usize {
    let here = here();
    let end = END.get().unwrap_or_else(|| {
        // Where the system does not say it, nothing is left, and whoever needs some takes another stack.
        let end = here - stacker::remaining_stack().unwrap_or(0);
        END.set(Some(end));
        end
    });
    here.saturating_sub(end)
}

/// Runs `f` with so many bytes of stack, on the stack at hand if it has them.
///
/// # Panics
/// Where there is no address space for another.
#[inline]
pub fn with<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    if left() >= bytes { f() } else { on_another(bytes, f) }
}

/// The same on another stack, with some room besides: who comes back for more does not find its end at once.
#[cold]
fn on_another<R>(bytes: usize, f: impl FnOnce() -> R) -> R {
    /// Where the stack around this one ends, also behind a panic.
    struct Around(Option<usize>);
    impl Drop for Around {
        fn drop(&mut self) {
            END.set(self.0);
        }
    }
    let kept = [&SMALL_KEPT, &LARGE_KEPT].into_iter().find(|kept| bytes + SMALL / 2 <= kept.bytes);
    let mut stack = kept.map_or_else(|| made(bytes + SMALL), Kept::take);
    let around = Around(END.replace(Some(stack.limit().get() + GUARD)));
    let result = corosensei::on_stack(&mut stack, f);
    drop(around);
    if let Some(kept) = kept {
        kept.give(stack);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    /// Uses some 64 kB of stack for each level, and asks for it.
    fn nested(levels: usize) -> usize {
        let local = black_box([1_u8; 60 << 10]);
        match levels {
            0 => usize::from(local[0]),
            _ => with(SMALL / 2, || nested(levels - 1)) + usize::from(local[levels % local.len()]),
        }
    }

    #[test]
    fn what_goes_deep_has_the_stack_that_it_asks_for() {
        assert_eq!(nested(200), 201);
        assert_eq!(with(LARGE - SMALL, || (left() > LARGE - SMALL, nested(200))), (true, 201));
        assert!(with(2 * LARGE, || left() > 2 * LARGE));
    }

    #[test]
    fn what_was_known_of_the_stack_around_holds_behind_it_and_behind_a_panic() {
        let end = || {
            left();
            END.get()
        };
        let before = end();
        let within = with(LARGE - SMALL, || with(SMALL, end));
        assert_ne!(within, before);
        assert_eq!(end(), before);
        let panicked = std::panic::catch_unwind(|| with(LARGE - SMALL, || panic!("half way")));
        let said = panicked.expect_err("it panicked");
        assert_eq!(said.downcast_ref::<&str>(), Some(&"half way"));
        assert_eq!(end(), before);
    }

    /// Bytes of this process that are in memory.
    fn resident() -> usize {
        let pages = std::fs::read_to_string("/proc/self/statm").expect("the system says it");
        pages.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("pages") << 12
    }

    #[test]
    fn what_was_used_of_a_stack_that_is_kept_goes_back() {
        /// All on one stack.
        fn deep(levels: usize) -> usize {
            let local = black_box([1_u8; 60 << 10]);
            if levels == 0 { 0 } else { deep(levels - 1) + usize::from(local[levels]) }
        }
        let before = resident();
        let (deepest, used) = with(LARGE - SMALL, || (deep(1500), resident()));
        assert_eq!(deepest, 1500);
        assert!(used > before + (80 << 20), "{used} of {before}");
        assert!(resident() < before + (40 << 20), "{} of {before}", resident());
    }
}
