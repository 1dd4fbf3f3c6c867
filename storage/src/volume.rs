//! A volume: the log, the pool and the free space that all trees of one data file share, and the protocol by which a
//! structure modification changes several pages at once.
//!
//! One structure record describes one whole action (allocations, every page, the parent's entry, frees). Its pages are
//! latched first and marked dirty from the log's tail on, *then* the record is claimed and filled, then the pages
//! change. So a checkpoint that reads the tail before it sweeps meets each action either as a record behind the tail or
//! as a page whose recovery LSN is at most the action's.

use crate::btree::smo::{Actions, STRUCTURE};
use crate::buffer::BufferPool;
use crate::space::Space;
use crate::sync::{Arc, Mutex, rank};
use crate::wal::{Log, SpaceReservation};
use crate::{Lsn, PageId};

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
    /// them at once: each takes a turn, by worker slot.
    pub turns: Box<[Mutex<(), { rank::TURN }>]>,
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
    pub fn new(log: Arc<Log>, pool: Arc<BufferPool>, space: Space, frames: u32) -> Volume {
        let slots = pool.environment().scheduler.slots();
        let turns = (frames as usize / 16).min(slots).max(1);
        let turns = (0..turns).map(|_| Mutex::default()).collect();
        Volume { log, pool, space, turns }
    }

    /// The worker's slot.
    #[must_use]
    pub fn slot(&self) -> usize {
        self.pool.environment().scheduler.slot()
    }

    /// The turn that this worker's structure modifications wait for.
    #[must_use]
    pub fn turn(&self) -> &Mutex<(), { rank::TURN }> {
        &self.turns[self.slot() % self.turns.len()]
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
