//! The versioned latch: writers exclude each other, readers are optimistic and never write shared memory.
//!
//! Paper: Leis et al., *The ART of Practical Synchronization*, DaMoN 2016 (optimistic lock coupling); the fences are
//! Boehm's (MSPC 2012). Physical: held for instructions, guards one frame, invisible to the deadlock detector.
//!
//! Invariants. (1) An odd word is held by exactly one writer. (2) A writer that changed anything leaves a higher
//! version than it found; one that changed nothing puts the old one back, and no reader restarts for it. (3) If
//! `validate` succeeds, everything loaded since `version` belongs to one state.
//!
//! A holder waits for no frame, lock or disk, so who finds a latch held spins, and then lets others run.

use crate::sync::PUBLISH;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicU64, fence};
use crate::sync::rank;

const HELD: u64 = 1;

/// What was read has changed, or is being changed: the reader starts again from a place it knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Restart;

/// The state a reader began with; never odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(u64);

impl Version {
    /// What a reader begins with where latches are left out ([`crate::stripped`]).
    pub(super) const UNREAD: Version = Version(0);
}

/// The latch of a frame, or of what its rank says.
#[derive(Debug)]
pub struct Latch<const RANK: u16 = { rank::LATCH }>(AtomicU64);

impl<const RANK: u16> Latch<RANK> {
    /// Free, at version zero.
    #[must_use]
    pub fn new() -> Self {
        Latch(AtomicU64::new(0))
    }

    /// Begins an optimistic read; none while a writer is there.
    #[inline(always)]
    pub fn version(&self) -> Option<Version> {
        // Acquire: pairs with Release in `release`; the writer's bytes are seen at least as new as its version.
        let word = self.0.load(Acquire);
        (word & HELD == 0).then_some(Version(word))
    }

    /// Ends an optimistic read.
    ///
    /// # Errors
    /// [`Restart`] if anyone has written, or is writing.
    #[inline(always)]
    pub fn validate(&self, seen: Version) -> Result<(), Restart> {
        // Pairs with fence(Release) in `acquired`: whoever saw one of a writer's bytes sees its version, too.
        fence(Acquire);
        if self.0.load(Relaxed) == seen.0 { Ok(()) } else { Err(Restart) }
    }

    /// Takes the latch if nothing has changed since `seen`.
    ///
    /// # Errors
    /// [`Restart`] if something has.
    #[inline]
    pub fn upgrade(&self, seen: Version) -> Result<(), Restart> {
        // Acquire: pairs with Release in `release`; the previous writer's bytes are ours to change.
        match self.0.compare_exchange(seen.0, seen.0 | HELD, Acquire, Relaxed) {
            Ok(_) => {
                Self::acquired();
                Ok(())
            }
            Err(_) => Err(Restart),
        }
    }

    /// Takes the latch if it is free.
    pub fn try_acquire(&self) -> bool {
        match self.version() {
            Some(seen) => self.upgrade(seen).is_ok(),
            None => false,
        }
    }

    fn acquired() {
        // Pairs with fence(Acquire) in `validate`: our bytes come after the odd word for everyone.
        fence(Release);
        rank::latched(RANK);
    }

    /// Lets go. `changed` says whether readers have to start again.
    #[inline]
    pub fn release(&self, changed: bool) {
        let word = self.0.load(Relaxed);
        assert!(word & HELD != 0, "only who holds a latch lets it go");
        rank::unlatched(RANK);
        let free = word - HELD;
        // Release: pairs with Acquire in `version` and `upgrade`.
        self.0.store(if changed { free + 2 } else { free }, PUBLISH);
    }
}

impl<const RANK: u16> Default for Latch<RANK> {
    fn default() -> Self {
        Latch::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_change_restarts_readers_and_no_change_does_not() {
        let latch = Latch::<{ rank::LATCH }>::new();
        let seen = latch.version().expect("nobody holds it");
        latch.upgrade(seen).expect("nothing has changed");
        assert!(latch.version().is_none() && !latch.try_acquire());
        assert_eq!(latch.validate(seen), Err(Restart));
        latch.release(false);
        assert_eq!(latch.validate(seen), Ok(()));
        assert!(latch.try_acquire());
        latch.release(true);
        assert_eq!(latch.validate(seen), Err(Restart));
        assert_eq!(latch.upgrade(seen), Err(Restart));
    }
}
