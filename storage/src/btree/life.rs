//! A tree's end, beside those who change it without a lock of the layer above.
//!
//! What a transaction writes stands under a lock that whoever drops the tree has to wait for. The collector, which takes
//! tombstones away and merges what has become small, holds none, and what packs leaves need not. They *enter* the tree for
//! one change at a time. Its end waits for those who are in it and lets nobody in any more, and only then is the record
//! that frees it claimed: so it is the last record of the tree, and no page is touched once it may be another's.

use crate::environment::{Environment, WaitCell, WaitEvent};
use crate::sync::Arc;
use crate::sync::atomic::{AtomicU64, Ordering};

/// The tree has ended, or is about to. What is below it counts those who are in the tree.
const ENDED: u64 = 1 << 63;

/// Who is in a tree, and whether it has ended.
#[derive(Debug, Default)]
pub(super) struct Life {
    state: AtomicU64,
    /// Where its end waits for the last to leave.
    left: Arc<WaitCell>,
}

/// Somebody is in the tree: it does not end.
#[derive(Debug)]
pub struct Inside<'t> {
    life: &'t Life,
    env: &'t Environment,
}

impl Life {
    /// Enters the tree; none if it has ended.
    pub(super) fn enter<'t>(&'t self, env: &'t Environment) -> Option<Inside<'t>> {
        let enter = |state: u64| (state & ENDED == 0).then_some(state + 1);
        self.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, enter).ok()?;
        Some(Inside { life: self, env })
    }

    /// Whether nobody may enter any more.
    pub(super) fn has_ended(&self) -> bool {
        self.state.load(Ordering::Acquire) & ENDED != 0
    }

    /// Lets nobody in any more, and waits until everybody has left. Called once.
    pub(super) fn end(&self, env: &Environment) {
        let mut state = self.state.fetch_or(ENDED, Ordering::AcqRel);
        while state & !ENDED != 0 {
            env.wait(WaitEvent::TreeInUse, &self.left, None, None);
            // Acquire: pairs with Release in `Inside::drop`; what was changed in the tree is before its end.
            state = self.state.load(Ordering::Acquire);
        }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if self.life.state.fetch_sub(1, Ordering::AcqRel) == ENDED + 1 {
            self.env.wake(&self.life.left);
        }
    }
}
