//! What a statement may take: one account of the memory of all its parts, and one question whether it is to stop.
//!
//! A statement runs on one thread from its message to its answer, so the account is the thread's: the allocator tells it of
//! every allocation and every release ([`took`], [`gave`]), whether a parser's tree, a planner's, an arena or a hash table
//! asked. Nothing is counted twice and nothing can be left out, and what allocates nothing pays nothing. What it took before
//! it last paused for its client does not count: what is then released is nobody's, and operators have limits of their own
//! for what they keep (`work_mem`). An allocator may
//! neither fail nor unwind, so the limit is asked elsewhere: before something large is taken ([`demand`]), and at every step
//! of whatever may go on for long ([`poll`]), where a cancel or a timeout is seen, too.
//!
//! Past `atoll.statement_memory` a statement ends with 53200. PostgreSQL has no such limit: its backend is a process of its
//! own, which the system can end alone.
//!
//! Walks that cannot fail ask with [`insist`]: it unwinds with the error, as `ereport` does, to the session, which expects
//! that from everything it runs. Where a walk's steps are short it calls [`step`] at each, or reads what it walks over by
//! [`stepping`], and bytes that may be many go to an arena by [`copied`]: that is all that a value under construction needs to
//! be told to stop in time.

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::text::check_value;
use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::resume_unwind;
use std::sync::Arc;
use txn::SessionWait;

/// What is asked for at least before it is asked whether there is so much, in bytes.
pub(crate) const LARGE: usize = 1 << 20;

/// At how many steps of walks it is asked once whether there may be more: some microseconds of the shortest ones.
const STEPS_ASKED: u32 = 1 << 10;

/// The limit where no statement runs.
const UNLIMITED: i64 = i64::MAX;

thread_local! {
    /// Bytes that this thread has taken and not given back. What others give back of it stays, so only differences count.
    static HELD: Cell<i64> = const { Cell::new(0) };
    /// How many it may hold.
    static LIMIT: Cell<i64> = const { Cell::new(UNLIMITED) };
    /// Steps of walks that this thread has made.
    static STEPS: Cell<u32> = const { Cell::new(0) };
    /// How the session is asked to stop whose statement it runs, or has run last: so that the next one of the same session,
    /// which is likely, counts no reference.
    static WAIT: RefCell<Option<Arc<SessionWait>>> = const { RefCell::new(None) };
}

/// The thread has allocated.
#[inline]
pub fn took(bytes: usize) {
    HELD.set(HELD.get().wrapping_add(bytes as i64));
}

/// The thread has released.
#[inline]
pub fn gave(bytes: usize) {
    HELD.set(HELD.get().wrapping_sub(bytes as i64));
}

/// What the thread holds, in bytes.
#[must_use]
pub fn held() -> u64 {
    u64::try_from(HELD.get()).unwrap_or(0)
}

/// A session runs on a thread, and its statement has the thread's account.
#[derive(Debug)]
pub struct Running {
    limit: i64,
    /// Whose statement it ran around this one, if another's.
    around: Option<Option<Arc<SessionWait>>>,
}

impl Running {
    /// From now on, with this limit in bytes.
    pub fn begin(wait: &Arc<SessionWait>, limit: u64) -> Running {
        let limit = HELD.get().saturating_add(i64::try_from(limit).unwrap_or(i64::MAX));
        let limit = limit.min(UNLIMITED - 1);
        let around = WAIT.with_borrow_mut(|current| match current {
            Some(current) if Arc::ptr_eq(current, wait) => None,
            current => Some(current.replace(Arc::clone(wait))),
        });
        Running { limit: LIMIT.replace(limit), around }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        LIMIT.set(self.limit);
        if self.limit != UNLIMITED
            && let Some(around) = self.around.take()
        {
            WAIT.set(around);
        }
    }
}

/// Fails where the statement holds more than it may.
///
/// # Errors
/// 53200.
#[inline]
pub fn check() -> Result<()> {
    if HELD.get() <= LIMIT.get() { Ok(()) } else { Err(exhausted()) }
}

/// Fails where the statement may not hold so many bytes more.
///
/// # Errors
/// 53200.
#[inline]
pub(crate) fn demand(bytes: usize) -> Result<()> {
    let wanted = i64::try_from(bytes).unwrap_or(i64::MAX);
    if HELD.get().saturating_add(wanted) <= LIMIT.get() { Ok(()) } else { Err(exhausted()) }
}

/// Fails where the statement is to stop, or holds more than it may.
///
/// # Errors
/// 57014 and its kin; 53200.
#[inline]
pub fn poll() -> Result<()> {
    check()?;
    if LIMIT.get() == UNLIMITED {
        return Ok(());
    }
    let asked = WAIT.with_borrow(|wait| wait.as_ref().and_then(|wait| wait.cancel.requested()));
    asked.map_or(Ok(()), |reason| Err(SqlError::cancelled(reason)))
}

/// As [`poll`], where there is no way to fail: unwinds with the error to [`caught`].
#[inline]
pub fn insist() {
    if let Err(error) = poll() {
        resume_unwind(Box::new(error));
    }
}

/// A step of a walk whose steps are short: at every so many it is asked as by [`insist`]. They are counted by thread, so that
/// a walk within a walk is asked too, however short each of its rounds is.
#[inline]
pub fn step() {
    let steps = STEPS.get().wrapping_add(1);
    STEPS.set(steps);
    if steps.is_multiple_of(STEPS_ASKED) {
        insist();
    }
}

/// What is walked over, a [`step`] at each.
#[inline]
pub fn stepping<I: IntoIterator>(items: I) -> impl Iterator<Item = I::Item> {
    items.into_iter().inspect(|_| step())
}

/// A text in stretches that are walked over in no time each, and asked for as by [`insist`].
pub fn stretches(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.len() < LARGE {
            return (!rest.is_empty()).then(|| std::mem::take(&mut rest));
        }
        insist();
        let end = (LARGE..rest.len()).find(|end| rest.is_char_boundary(*end));
        let (stretch, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        Some(stretch)
    })
}

/// As [`stretches`], of bytes.
pub fn byte_stretches(bytes: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    bytes.chunks(LARGE).inspect(|stretch| {
        if stretch.len() == LARGE {
            insist();
        }
    })
}

/// Bytes in an arena. Memory that is new to the process takes time, so many of them come a stretch at a time.
pub fn copied<'a>(arena: &'a Bump, bytes: &[u8]) -> &'a [u8] {
    if bytes.len() < LARGE {
        return arena.alloc_slice_copy(bytes);
    }
    joined(arena, &[bytes])
}

/// Parts one behind the other in an arena, a stretch at a time.
pub fn joined<'a>(arena: &'a Bump, parts: &[&[u8]]) -> &'a mut [u8] {
    let bytes = parts.iter().map(|part| part.len()).sum();
    insist_on(bytes);
    let mut out = ArenaVec::with_capacity_in(bytes, arena);
    parts.iter().for_each(|part| extend(&mut out, part));
    out.into_bump_slice_mut()
}

/// Appends bytes to what has room for them, a stretch at a time.
pub fn extend(out: &mut ArenaVec<'_, u8>, bytes: &[u8]) {
    for stretch in byte_stretches(bytes) {
        out.extend_from_slice_copy(stretch);
    }
}

/// As [`copied`], of a text.
pub fn copied_text<'a>(arena: &'a Bump, text: &str) -> &'a str {
    if text.len() < LARGE {
        return arena.alloc_str(text);
    }
    std::str::from_utf8(copied(arena, text.as_bytes())).unwrap_or("")
}

/// Whether so many bytes are taken a stretch at a time, and asked for.
#[inline]
pub(crate) fn is_large(bytes: usize) -> bool {
    bytes >= LARGE
}

/// As [`insist`], before `bytes` are taken, where these are many.
#[inline]
pub(crate) fn insist_on(bytes: usize) {
    if is_large(bytes)
        && let Err(error) = poll().and_then(|()| demand(bytes))
    {
        resume_unwind(Box::new(error));
    }
}

/// A count where there is room for no larger one: unwinds with 54000, as [`insist`] does, where it does not fit. No statement
/// is worth a panic, and none that is allowed so much memory is likely to get so far.
pub fn narrow<T: TryFrom<usize>>(count: usize) -> T {
    T::try_from(count).unwrap_or_else(|_| {
        let message = format!("{count} is more than a statement may have of anything");
        resume_unwind(Box::new(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message)))
    })
}

/// As [`insist_on`], for a value that has been built: one may be no longer than 1 GiB.
pub(crate) fn insist_on_value(bytes: usize) {
    if let Err(error) = check_value(bytes) {
        resume_unwind(Box::new(error));
    }
    insist_on(bytes);
}

/// What a statement has unwound with: the error of [`insist`], or a panic's text.
pub fn caught(payload: Box<dyn Any + Send>) -> SqlError {
    let panic = match payload.downcast::<SqlError>() {
        Ok(error) => return *error,
        Err(panic) => panic,
    };
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("panic");
    SqlError::new(SqlState::INTERNAL_ERROR, format!("internal error: {text}"))
}

#[cold]
fn exhausted() -> SqlError {
    SqlError::new(SqlState::OUT_OF_MEMORY, "out of memory")
        .detail("The statement would hold more than atoll.statement_memory.")
        .hint("Raise atoll.statement_memory.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_has_its_limit_and_the_next_one_its_own() {
        let wait = Arc::new(SessionWait::default());
        let outer = Running::begin(&wait, 100);
        took(60);
        assert!(check().is_ok() && demand(40).is_ok());
        assert_eq!(demand(41).unwrap_err().state(), SqlState::OUT_OF_MEMORY);
        took(41);
        assert_eq!(poll().unwrap_err().state(), SqlState::OUT_OF_MEMORY);
        let inner = Running::begin(&wait, 100);
        assert!(poll().is_ok() && demand(101).is_err());
        drop(inner);
        assert!(check().is_err());
        gave(101);
        assert!(check().is_ok());
        drop(outer);
        took(1000);
        assert!(check().is_ok(), "what is nobody's statement has no limit");
        gave(1000);
    }

    #[test]
    fn a_walk_that_cannot_fail_ends_by_unwinding() {
        let wait = Arc::new(SessionWait::default());
        let running = Running::begin(&wait, 4 << 20);
        let walk = || std::panic::catch_unwind(|| insist_on(8 << 20)).map_err(caught);
        assert_eq!(walk().unwrap_err().state(), SqlState::OUT_OF_MEMORY);
        drop(running);
        assert!(walk().is_ok());
    }

    #[test]
    fn who_is_asked_to_stop_is_whoever_runs() {
        let (outer, inner) = (Arc::new(SessionWait::default()), Arc::new(SessionWait::default()));
        let environment = txn::Environment {
            device: Arc::new(txn::FaultyDevice::new(1)),
            clock: Arc::new(txn::SystemClock::new()),
            scheduler: Arc::new(txn::Threads::new(1)),
            seed: 1,
        };
        environment.raise(&outer.cancel, 1);
        let running = Running::begin(&outer, 100);
        assert!(poll().is_err());
        let within = Running::begin(&inner, 100);
        assert!(poll().is_ok());
        drop(within);
        assert!(poll().is_err());
        drop(running);
        assert!(poll().is_ok(), "nobody's statement is not asked to stop");
        drop(Running::begin(&inner, 100));
        let running = Running::begin(&outer, u64::MAX);
        assert!(poll().is_err());
        drop(running);
    }
}
