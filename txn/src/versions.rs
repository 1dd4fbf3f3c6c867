//! Older versions as the manager keeps them within their limits: collected, then spilled, then given up.
//!
//! Memory in versions has two marks. Past the *soft* one whoever commits helps to collect; what snapshots still need
//! then spills to scratch space, oldest first. Past the *hard* one, because scratch space is at its limit or the disk
//! is full, the oldest snapshot is given up and reads of it fail (72000). A commit asks before its claim, where it may
//! wait, so what is added past a mark is bounded by the commits under way.

use crate::manager::Manager;
use crate::owner::OwnerId;
use crate::record::Garbage;
use crate::record::collect::{BATCH, Crowd, Tombstone};
use crate::record::spill::Batch;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, lock, try_lock};
use crate::wait::SessionWait;
use crate::{Error, Lsn, Result};
use std::ops::Bound;
use storage::{Direction, Packing, RunsFor, Tree, Waiter};

/// With at most this many places the horizon is computed at every commit.
const FEW_OWNERS: usize = 16;
/// A run at most, and at least, in bytes. (Half of the soft mark lies between.)
const RUN_BYTES_MAX: u64 = 8 << 20;
const RUN_BYTES_MIN: u64 = 16 << 10;
/// How long nobody tries to spill again after a failure, below the hard mark, in microseconds.
const RETRY_US: u64 = 1_000_000;

/// Records that are looked at between two looks at whether to go on.
const SWEEP: usize = 512;

/// What a sweep of a tree, or of a part of it, has met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Tombstones that have been removed.
    pub removed: u64,
    /// Records that are there.
    pub there: u64,
}

/// A note that is being spilled.
struct Spilling {
    worker: usize,
    note: Garbage,
    /// The newest of its record's versions that the run has.
    newest: Option<Lsn>,
}

impl Manager {
    /// Collects what can be collected: versions of every worker, runs of spilled ones, then tombstones. False if there
    /// was nothing.
    pub fn collect(&self) -> bool {
        let horizon = self.collect_horizon();
        let mut progress = self.free_dropped(horizon) | self.collect_versions(horizon);
        let durable = self.data.log().durable();
        for worker in 0..self.collector.workers() {
            let removed =
                self.collector.remove_tombstones(worker, &self.locks.records, (horizon, durable));
            // A page that cannot be read stays as it is: a tombstone is in nobody's way.
            progress |= removed.unwrap_or(false);
            for Crowd { tree, low, high, .. } in
                self.collector.take_crowds(worker, (horizon, durable))
            {
                let range = (Bound::Included(&low[..]), Bound::Included(&high[..]));
                let go_on = || !self.signals.stopping() && self.data.log().alive().is_ok();
                let swept = self.sweep_tombstones(&tree, range, (horizon, durable), &go_on);
                progress |= swept.is_ok_and(|swept| swept.removed > 0);
            }
        }
        progress
    }

    /// Removes the tombstones of a range that `horizon` and `durable` have passed, as long as `go_on` says so and the tree is
    /// there. Those of records that somebody has locked are noted.
    fn sweep_tombstones(
        &self,
        tree: &Arc<Tree>,
        (low, high): (Bound<&[u8]>, Bound<&[u8]>),
        (horizon, durable): (Lsn, Lsn),
        go_on: &dyn Fn() -> bool,
    ) -> Result<Swept> {
        let mut cursor = tree.cursor();
        let (mut swept, mut due, mut begun, mut ended) =
            (Swept::default(), Vec::new(), false, false);
        while !ended && go_on() {
            let Some(_inside) = tree.enter() else { return Ok(swept) };
            if !std::mem::replace(&mut begun, true) {
                cursor.seek(low, high, Direction::Forward)?;
            }
            for _ in 0..SWEEP {
                let Some(record) = cursor.advance()? else {
                    ended = true;
                    break;
                };
                if record.value.is_some() {
                    swept.there += 1;
                } else if record.lsn <= horizon && record.lsn < durable {
                    due.push((record.key.to_vec(), record.lsn));
                }
            }
            for (key, lsn) in due.drain(..) {
                if self.locks.records.has_node(tree.id(), &key) {
                    let tombstone = Tombstone { lsn, tree: Arc::clone(tree), key: key.into() };
                    self.collector.note_tombstone(self.worker(), tombstone);
                } else {
                    tree.remove_tombstone(&key, lsn)?;
                    swept.removed += 1;
                }
            }
        }
        Ok(swept)
    }

    fn collect_horizon(&self) -> Lsn {
        self.advance();
        self.horizon()
    }

    fn collect_versions(&self, horizon: Lsn) -> bool {
        let (mut progress, mut batch) = (false, Vec::new());
        for worker in 0..self.collector.workers() {
            let records = &self.locks.records;
            while self.collector.collect(worker, records, horizon, &mut batch).notes > 0 {
                progress = true;
            }
        }
        self.spill.reclaim(horizon) || progress
    }

    /// Removes every tombstone of `tree` that nobody can need, also those that a restart no longer knew of, and packs
    /// what is left into fewer leaves: VACUUM.
    ///
    /// # Errors
    /// I/O and corruption; [`Error::Cancelled`].
    pub fn vacuum(
        &self,
        tree: &Arc<Tree>,
        packing: Packing,
        session: &Arc<SessionWait>,
    ) -> Result<Swept> {
        let _running = RunsFor::new(Arc::clone(session) as Arc<dyn Waiter>);
        let swept = self.vacuum_tree(tree, packing, session);
        swept.map_err(|error| session.cancelled_if_so(error))
    }

    fn vacuum_tree(
        &self,
        tree: &Arc<Tree>,
        packing: Packing,
        session: &SessionWait,
    ) -> Result<Swept> {
        let cancelled =
            || session.cancel.requested().map_or(Ok(()), |why| Err(Error::Cancelled(why)));
        self.collect();
        let until = (self.horizon(), self.data.log().durable());
        let all = (Bound::Unbounded, Bound::Unbounded);
        let swept = self.sweep_tombstones(tree, all, until, &|| cancelled().is_ok())?;
        cancelled()?;
        tree.compact(packing, &mut || cancelled().is_ok())?;
        cancelled()?;
        Ok(swept)
    }

    /// Collects what the commit at `lsn` left behind, if nobody needs it, and leaves the rest to the collector.
    pub(crate) fn collect_after(&self, lsn: Lsn, notes: &mut Vec<Garbage>) {
        let worker = self.worker();
        let (owners, collector) = (&self.locks.owners, &self.collector);
        collector.thin(worker, &self.locks.records, notes, || {
            let visible = self.visible();
            let mut snapshots = Vec::new();
            let unlisted = owners.snapshots(visible, &mut snapshots);
            (snapshots, unlisted)
        });
        let had_notes = !notes.is_empty();
        let horizon = (owners.count() <= FEW_OWNERS || lsn.0 & 0xF00 == 0).then(|| self.horizon());
        // What nobody needs any more need not be queued.
        if notes.len() > BATCH || (had_notes && horizon.is_none_or(|horizon| horizon < lsn)) {
            collector.note(worker, notes);
        }
        let collected = horizon
            .map(|horizon| collector.collect(worker, &self.locks.records, horizon, notes))
            .unwrap_or_default();
        let left = (had_notes && collected.notes == 0) || collected.again > 0;
        if left || collector.has_tombstones(worker) {
            self.signals.garbage(self);
        }
    }

    /// Collects what a piece of the commit at `lsn` has replaced, while the rest of it is still being applied. What
    /// snapshots need spills; where there is no room the oldest of them fails, as it would before a claim.
    pub(crate) fn collect_piece(&self, lsn: Lsn, notes: &mut Vec<Garbage>) {
        self.collect_after(lsn, notes);
        let worker = self.worker();
        let collect = |batch: &mut Vec<Garbage>| {
            self.collector.collect(worker, &self.locks.records, self.horizon(), batch).notes
        };
        while collect(notes) > 0 {}
        let until = (self.horizon(), self.data.log().durable());
        if self.collector.has_tombstones(worker) && lsn <= until.0 && lsn < until.1 {
            // A page that cannot be read keeps its tombstones: they are in nobody's way.
            let _ = self.collector.remove_tombstones(worker, &self.locks.records, until);
        }
        while !self.collected_or_spilled() {
            let Some((oldest, _)) = self.locks.owners.oldest() else { return };
            self.give_up_snapshot(oldest);
            if !self.collect_versions(self.collect_horizon()) {
                // It kept nothing: no other snapshot has to fail for what is held.
                return;
            }
        }
    }

    /// Makes room for versions before a commit adds some.
    pub(crate) fn make_version_room(&self, me: OwnerId, session: &SessionWait) -> Result<()> {
        while !self.collected_or_spilled() {
            if let Some(reason) = session.cancel.requested() {
                return Err(Error::Cancelled(reason));
            }
            let Some((oldest, _)) = self.locks.owners.oldest() else { return Ok(()) };
            if oldest == me {
                self.metrics.snapshots_given_up.fetch_add(1, Ordering::Relaxed);
                return Err(Error::SnapshotTooOld);
            }
            self.give_up_snapshot(oldest);
            if !self.collect_versions(self.collect_horizon()) {
                // It kept nothing: what is held waits for commits in flight, and no other snapshot has to fail for it.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Collects versions, or moves them to scratch space, while more are held than ought to be. False where neither helps
    /// any more and there are more than may be.
    fn collected_or_spilled(&self) -> bool {
        while self.collector.bytes() > self.options.version_bytes_soft {
            if self.collect_versions(self.collect_horizon()) {
                continue;
            }
            let over = self.collector.bytes() > self.options.version_bytes_hard;
            if !self.spill_versions(over) {
                return !over;
            }
        }
        true
    }

    /// Moves the oldest versions to scratch space. False if none was moved: there is no room, or nothing to move, or
    /// somebody else does and `wait` does not wait for it.
    fn spill_versions(&self, wait: bool) -> bool {
        let now = self.env.clock.now().0;
        let full = self.spill.held().1 >= self.options.version_spill_bytes_max;
        if full || !wait && self.spill.failed_lately(now) {
            return false;
        }
        let spilling = self.spill.spilling();
        let guard = if wait { Some(lock(spilling)) } else { try_lock(spilling) };
        let Some(_guard) = guard else { return false };
        if self.collector.bytes() <= self.options.version_bytes_soft {
            return true;
        }
        let (batch, spilling) = self.gather_oldest();

        let written = batch.is_empty() || self.spill.write(self.data.scratch(), batch).is_ok();
        let mut moved = false;
        if written {
            for Spilling { worker, note, newest } in spilling {
                moved |= newest.is_some();
                self.collector.spilled(worker, &self.locks.records, note, newest);
            }
        } else {
            self.spill.rest_until(now + RETRY_US);
            for Spilling { worker, note, .. } in spilling.into_iter().rev() {
                self.collector.give_back(worker, std::iter::once(note));
            }
        }
        // The collector may have looked while the notes were in nobody's queue.
        self.signals.garbage(self);
        moved
    }

    /// The oldest versions that snapshots need, as much as a run takes, and their notes. Those in between go.
    fn gather_oldest(&self) -> (Batch, Vec<Spilling>) {
        let target = (self.options.version_bytes_soft / 2).clamp(RUN_BYTES_MIN, RUN_BYTES_MAX);
        // The watermark first, then the snapshots, as everybody does who prunes.
        let visible = self.visible();
        let mut snapshots = Vec::new();
        let unlisted = self.locks.owners.snapshots(visible, &mut snapshots);
        let (mut batch, mut spilling, mut notes) = (Batch::default(), Vec::new(), Vec::new());
        while (batch.bytes() as u64) < target
            && let Some(worker) = self.collector.take_oldest(visible, &mut notes)
        {
            for note in notes.drain(..) {
                let guard = crossbeam_epoch::pin();
                let mut state = note.node.state();
                let (node, current) = (&*note.node, state.current);
                let pruned = node.chain.prune_between(&mut state, &snapshots, unlisted, &guard);
                let mut newest = None;
                for (version, replaced) in node.chain.replaced(current, visible, &guard) {
                    let name = (node.tree(), node.key());
                    batch.add(name, version.lsn(), replaced, version.value());
                    newest.get_or_insert(version.lsn());
                }
                drop(state);
                self.collector.pruned(worker, pruned);
                spilling.push(Spilling { worker, note, newest });
            }
        }
        (batch, spilling)
    }

    /// Lets the oldest snapshot fail: what it kept may be collected.
    pub(crate) fn give_up_snapshot(&self, owner: OwnerId) {
        self.metrics.snapshots_given_up.fetch_add(1, Ordering::Relaxed);
        let owner = self.locks.owners.get(owner);
        let snapshot = owner.snapshot();
        owner.give_up();
        if let Some(snapshot) = snapshot {
            self.snapshot_ended(snapshot);
        }
    }

    /// A snapshot is no longer needed: what it kept may be collected.
    pub(crate) fn snapshot_ended(&self, lsn: Lsn) {
        self.signals.snapshot_ended(self, lsn);
    }
}
