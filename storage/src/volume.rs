//! A volume: the log, the pool and the free space that all trees of one data file share, and the protocol by which a
//! structure modification changes several pages at once.
//!
//! One structure record describes one whole action (allocations, every page, the parent's entry, frees). Its pages are
//! latched first and marked dirty from the log's tail on, *then* the record is claimed and filled, then the pages
//! change. So a checkpoint that reads the tail before it sweeps meets each action either as a record behind the tail or
//! as a page whose recovery LSN is at most the action's.

use crate::btree::smo::{Actions, STRUCTURE};
use crate::buffer::BufferPool;
use crate::environment::WaitEvent;
use crate::reserve::escrow::Batches;
use crate::space::Space;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, rank};
use crate::turnstile::Turnstile;
use crate::wal::{Log, SpaceReservation};
use crate::{Lsn, PageId, Result, waiter};

/// What the trees of one data file share.
#[derive(Debug)]
pub struct Volume {
    /// The log.
    pub log: Arc<Log>,
    /// The pages in memory.
    pub pool: Arc<BufferPool>,
    /// The pages on disk.
    pub space: Space,
    /// Structure modifications pin up to four frames while they wait for another, so a small pool bears only a few of
    /// them at once: each takes a permit, by worker slot.
    smo_permits: Box<[PermitState]>,
    /// How often the leaves of a tree have become twice as many.
    pub growth: AtomicU64,
    /// The most cuts of leaves for which one commit sets room aside in one tree.
    pub cuts_max: u64,
    /// Commits that count on leaves that they have shaped.
    pub(crate) batches: Batches,
    /// How often a split after its claim found nothing of what had been set aside for it: never.
    pub unpaid: AtomicU64,
}

/// A permit, taken or not, and those who rest until it is free.
#[derive(Debug, Default)]
struct PermitState {
    taken: AtomicBool,
    waiting: Turnstile,
}

/// A permit for one structure modification operation. It is held across reads and waits for log space.
#[derive(Debug)]
pub struct SmoPermit<'v> {
    volume: &'v Volume,
    state: &'v PermitState,
}

impl Drop for SmoPermit<'_> {
    fn drop(&mut self) {
        self.state.taken.store(false, Ordering::Release);
        rank::unlatched(rank::SMO_PERMIT);
        self.state.waiting.given_back(self.volume.pool.environment());
    }
}

/// Ends the process if a panic passes: from claim to publish, or with pages half changed, nobody can go on.
#[derive(Debug)]
pub struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

impl Volume {
    /// Puts the parts together.
    #[must_use]
    pub fn new(
        log: Arc<Log>,
        pool: Arc<BufferPool>,
        space: Space,
        frames: u32,
        cuts_max: u64,
    ) -> Volume {
        let slots = pool.environment().scheduler.slots();
        let permits = (frames as usize / 16).min(slots).max(1);
        let smo_permits = (0..permits).map(|_| PermitState::default()).collect();
        let (growth, unpaid) = (AtomicU64::new(0), AtomicU64::new(0));
        let batches = Batches::default();
        Volume { log, pool, space, smo_permits, growth, cuts_max, batches, unpaid }
    }

    /// The worker's slot.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.pool.environment().scheduler.slot()
    }

    /// Takes the permit that this worker's structure modifications wait for.
    ///
    /// # Errors
    /// [`crate::Error::Cancelled`] by whom the thread runs for, if it has to wait.
    pub fn smo_permit(&self) -> Result<SmoPermit<'_>> {
        rank::awaited(rank::SMO_PERMIT);
        let state = &self.smo_permits[self.slot() % self.smo_permits.len()];
        // Acquire: pairs with Release in `SmoPermit::drop`.
        let free = || (!state.taken.swap(true, Ordering::Acquire)).then_some(());
        if free().is_none() {
            let waiter = waiter::cancellable();
            let cancel = waiter.as_deref().map(|waiter| waiter.cancel());
            let env = self.pool.environment();
            state.waiting.wait(env, WaitEvent::StructurePermit, cancel, free)?;
        }
        rank::latched(rank::SMO_PERMIT);
        Ok(SmoPermit { volume: self, state })
    }

    /// Logs a structure record. The caller holds the latches of every page the actions name, and has marked them, and
    /// the maps of `mapped` are marked here; it changes the pages before it lets go, inside of an [`AbortOnUnwind`].
    #[must_use]
    pub fn log_structure(
        &self,
        space: &mut SpaceReservation<'_>,
        actions: &Actions,
        mapped: &[PageId],
    ) -> Lsn {
        self.space.mark(mapped.iter().copied(), self.log.tail());
        let claim = self.log.claim(space, actions.bytes().len());
        claim.publish(STRUCTURE, actions.bytes())
    }
}
