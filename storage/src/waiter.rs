//! On whose behalf a thread runs: the waits of this layer are that one's, are shown as its, and may end with its cancel.
//!
//! The layers above hand a cancel into the waits that they know of. What a thread meets far below them, in the middle of
//! a split, it finds here: a thread runs for one at a time.

use crate::environment::Cancel;
use std::cell::RefCell;
use std::sync::Arc;

/// For whom a thread runs.
pub trait Waiter: Send + Sync {
    /// What ends its waits.
    fn cancel(&self) -> &Cancel;
    /// Shows what it waits for, the number of a [`crate::WaitEvent`] or 0 for nothing; returns what was shown before.
    fn show(&self, event: u32) -> u32;
}

struct Current {
    waiter: Arc<dyn Waiter>,
    cancellable: bool,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// For as long as it is there the thread runs for somebody.
#[must_use = "the thread runs for somebody as long as this is there"]
pub struct RunsFor {
    before: Option<Current>,
}

impl std::fmt::Debug for RunsFor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunsFor").finish_non_exhaustive()
    }
}

impl RunsFor {
    /// The calling thread runs for `waiter`, whose cancel ends the waits that may fail.
    pub fn new(waiter: Arc<dyn Waiter>) -> RunsFor {
        let current = Current { waiter, cancellable: true };
        RunsFor { before: CURRENT.with(|before| before.borrow_mut().replace(current)) }
    }

    /// From here on no wait may fail for a cancel.
    pub fn to_the_end(&self) {
        CURRENT.with(|current| {
            if let Some(current) = &mut *current.borrow_mut() {
                current.cancellable = false;
            }
        });
    }
}

impl Drop for RunsFor {
    fn drop(&mut self) {
        let before = self.before.take();
        CURRENT.with(|current| *current.borrow_mut() = before);
    }
}

/// Who it is that the calling thread runs for.
pub(crate) fn current() -> Option<Arc<dyn Waiter>> {
    CURRENT.with(|current| Some(Arc::clone(&current.borrow().as_ref()?.waiter)))
}

/// The same, if its cancel may end a wait.
pub(crate) fn cancellable() -> Option<Arc<dyn Waiter>> {
    CURRENT.with(|current| {
        let current = current.borrow();
        let current = current.as_ref().filter(|current| current.cancellable)?;
        Some(Arc::clone(&current.waiter))
    })
}
