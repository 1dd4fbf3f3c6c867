//! Room in the log: it is set aside before a record is claimed, made by segments that are prepared ahead, and given back by
//! checkpoints.
//!
//! Who finds none waits for a checkpoint, which is asked for when half of the log's limit is used. What the log holds is
//! counted in [`super::space`].

use super::archive::Archiving;
use super::log::{Log, Shared};
use super::space::Taken;
use super::{SpaceClass, frame};
use crate::environment::{Cancel, Environment, WaitCell, WaitEvent, Woken};
use crate::id::Micros;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Arc, lock};
use crate::{Error, Lsn, Result, waiter};

/// How long a reservation waits for a checkpoint to make room.
const SPACE_WAIT: Micros = Micros(30_000_000);

/// How the log asks for a checkpoint: because half of its limit is used, or somebody waits for space.
///
/// The thread that takes checkpoints waits on [`CheckpointSignal::cell`], with its own deadline for timed ones.
#[derive(Debug, Default)]
pub struct CheckpointSignal {
    raised: AtomicBool,
    cell: Arc<WaitCell>,
}

impl CheckpointSignal {
    /// Asks for a checkpoint.
    pub fn raise(&self, env: &Environment) {
        if !self.raised.swap(true, Ordering::AcqRel) {
            env.wake(&self.cell);
        }
    }

    /// Whether one was asked for since the last call.
    pub fn take(&self) -> bool {
        self.raised.swap(false, Ordering::AcqRel)
    }

    /// Where to wait for the next request.
    #[must_use]
    pub fn cell(&self) -> &Arc<WaitCell> {
        &self.cell
    }
}

/// Lets the log be longer than its limit for the sake of a commit that holds the redo point back: what is logged from its
/// beginning to its end, by whomever, does not count until a checkpoint has come past the end.
#[derive(Debug)]
pub struct LimitExemption<'l> {
    log: &'l Shared,
    from: Lsn,
}

impl Drop for LimitExemption<'_> {
    fn drop(&mut self) {
        let tail = Lsn(self.log.inserter.tail());
        let mut exemptions = lock(&self.log.maintenance);
        let own = exemptions.iter_mut().find(|(from, until)| *from == self.from && until.is_none());
        if let Some((_, until)) = own {
            *until = Some(tail);
        }
    }
}

/// Room in the log that has been set aside and not yet claimed; what is left of it goes back when it is dropped.
#[derive(Debug)]
pub struct SpaceReservation<'l> {
    log: &'l Shared,
    pub(super) bytes: u64,
    pub(super) worker: usize,
    /// How much of what was set aside was for splits.
    splits: u64,
}

impl<'l> SpaceReservation<'l> {
    /// What is left, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Parts with `bytes` of what is left; none if there is less.
    pub(crate) fn split_off(&mut self, bytes: u64) -> Option<SpaceReservation<'l>> {
        self.bytes = self.bytes.checked_sub(bytes)?;
        Some(SpaceReservation { log: self.log, bytes, worker: self.worker, splits: 0 })
    }

    /// What is left, apart.
    pub(crate) fn rest(&mut self) -> SpaceReservation<'l> {
        let bytes = std::mem::take(&mut self.bytes);
        SpaceReservation { log: self.log, bytes, worker: self.worker, splits: 0 }
    }

    /// Takes in what is left of another of the same log.
    pub(crate) fn absorb(&mut self, mut other: SpaceReservation<'_>) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

/// A reservation that is kept beside its log: what it holds goes back only by [`Log::attach`].
#[derive(Debug)]
#[must_use = "what it holds would be lost"]
pub(crate) struct Detached {
    bytes: u64,
    worker: usize,
    splits: u64,
}

impl Detached {
    /// What is left, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whose credit it was drawn from.
    pub(crate) fn worker(&self) -> usize {
        self.worker
    }

    /// Takes `bytes` of it apart, if it has as many.
    pub(crate) fn split_off(&mut self, bytes: u64) -> Option<Detached> {
        self.bytes = self.bytes.checked_sub(bytes)?;
        Some(Detached { bytes, worker: self.worker, splits: 0 })
    }

    /// Takes in another of the same worker.
    pub(crate) fn absorb(&mut self, other: Detached) {
        debug_assert_eq!(self.worker, other.worker);
        self.bytes += other.bytes;
        self.splits += other.splits;
    }
}

impl SpaceReservation<'_> {
    /// All of it, apart from its log.
    pub(crate) fn detach(mut self) -> Detached {
        let (bytes, splits) = (std::mem::take(&mut self.bytes), std::mem::take(&mut self.splits));
        Detached { bytes, worker: self.worker, splits }
    }
}

impl Drop for SpaceReservation<'_> {
    fn drop(&mut self) {
        if self.splits > 0 {
            self.log.space.end_splits(self.worker, self.splits);
        }
        if self.bytes > 0 {
            self.log.space.give(self.worker, self.bytes);
        }
    }
}

impl Log {
    /// Sets `bytes` of payload in `records` records aside. Waits for a checkpoint where that helps.
    ///
    /// # Errors
    /// [`crate::Error::Full`] when it does not; [`crate::Error::Halted`] if the log has failed;
    /// [`crate::Error::Cancelled`] by whom the thread runs for.
    #[inline]
    pub fn reserve(
        &self,
        class: SpaceClass,
        records: u64,
        bytes: u64,
    ) -> Result<SpaceReservation<'_>> {
        self.reserve_unless(class, records, bytes, None)
    }

    /// [`Log::reserve`], whose wait ends when `cancel` is raised.
    ///
    /// # Errors
    /// As [`Log::reserve`]; [`crate::Error::Cancelled`].
    #[inline]
    pub fn reserve_unless(
        &self,
        class: SpaceClass,
        records: u64,
        bytes: u64,
        cancel: Option<&Cancel>,
    ) -> Result<SpaceReservation<'_>> {
        self.reserve_with_splits(class, records * frame::OVERHEAD_BYTES + bytes, 0, cancel)
    }

    /// Sets aside `bytes` with their records' overhead, and `splits` for the structure records of their apply, which do not
    /// count against the log's limit: who has claimed must not wait for a checkpoint that it may itself hold back.
    pub(crate) fn reserve_with_splits(
        &self,
        class: SpaceClass,
        bytes: u64,
        splits: u64,
        cancel: Option<&Cancel>,
    ) -> Result<SpaceReservation<'_>> {
        let log = &*self.shared;
        let worker = log.env.scheduler.slot();
        if splits > 0 {
            log.space.begin_splits(worker, splits);
        }
        let mut reservation = SpaceReservation { log, bytes: 0, worker, splits };
        match log.space.take(worker, class, bytes + splits) {
            Taken::FromCredit => {}
            Taken::FromPool => log.refill(),
            Taken::Nothing => log.wait_for_space(worker, class, (bytes, splits), cancel)?,
        }
        reservation.bytes = bytes + splits;
        if log.flush.has_halted() {
            log.flush.alive()?;
        }
        Ok(reservation)
    }

    /// What is left of a reservation, for as long as this handle of the same log lives.
    pub(crate) fn adopt(&self, mut other: SpaceReservation<'_>) -> SpaceReservation<'_> {
        let bytes = std::mem::take(&mut other.bytes);
        SpaceReservation { log: &self.shared, bytes, worker: other.worker, splits: 0 }
    }

    /// A reservation of this log again.
    pub(crate) fn attach(&self, other: Detached) -> SpaceReservation<'_> {
        let Detached { bytes, worker, splits } = other;
        SpaceReservation { log: &self.shared, bytes, worker, splits }
    }

    /// While the log is replayed as it came, the share that is kept for restarts is kept from it, too, for what is put off.
    pub(crate) fn keep_restart(&self, kept: bool) {
        let log = &*self.shared;
        log.space.keep_for_restart(if kept { log.restart_bytes } else { 0 });
    }

    /// Recovery is over: from now on the log has its limit, and the next restart its share.
    pub(crate) fn end_recovery(&self) {
        let log = &*self.shared;
        log.recovering.store(false, Ordering::Release);
        log.space.keep_for_restart(log.restart_bytes);
        log.env.wake(&log.prepare);
    }

    /// Begins to let the log be longer than its limit, until what is returned is dropped and a checkpoint has come past that.
    #[must_use]
    pub fn exemption(&self) -> LimitExemption<'_> {
        let from = self.tail();
        lock(&self.shared.maintenance).push((from, None));
        LimitExemption { log: &self.shared, from }
    }

    /// Lets go of the log before `redo`, which a checkpoint has made durable.
    ///
    /// # Errors
    /// I/O; a failed sync halts the log.
    pub(crate) fn recycle(&self, redo: Lsn) -> Result<()> {
        let log = &*self.shared;
        let bytes = log.segments.bytes();
        let moved = log.redo.swap(redo.0, Ordering::Relaxed) / bytes < redo.0 / bytes;
        let (oldest, _) = log.segments.range();
        let recycled = log.let_go(redo);
        lock(&log.maintenance).retain(|(_, until)| until.is_none_or(|until| until > redo));
        if !moved && log.segments.range().0 == oldest {
            log.fruitless.fetch_add(1, Ordering::AcqRel);
        }
        log.checkpointed.store(self.tail().0, Ordering::Relaxed);
        recycled?;
        log.recycled.fetch_add(1, Ordering::AcqRel);
        log.wake_space_waiters();
        log.env.wake(&log.prepare);
        Ok(())
    }

    /// Keeps the log from `from` on, whatever checkpoints do, until [`Log::let_keep_go`].
    pub(crate) fn keep(&self, from: Lsn) {
        lock(&self.shared.kept).push(from);
    }

    /// Ends what [`Log::keep`] has begun. The next checkpoint lets go of what nobody else needs.
    pub(crate) fn let_keep_go(&self, from: Lsn) {
        let mut kept = lock(&self.shared.kept);
        if let Some(at) = kept.iter().position(|other| *other == from) {
            kept.swap_remove(at);
        }
    }

    /// Sets room for one record of `payload` bytes aside without waiting for a checkpoint, and beyond the log's limit: for
    /// who writes pages, for whom a checkpoint waits.
    ///
    /// # Errors
    /// [`crate::Error::Full`] if the disk has none; [`crate::Error::Halted`].
    pub(crate) fn reserve_at_once(&self, payload: u64) -> Result<SpaceReservation<'_>> {
        let log = &*self.shared;
        let worker = log.env.scheduler.slot();
        let bytes = frame::OVERHEAD_BYTES + payload;
        loop {
            match log.space.take(worker, SpaceClass::Commit, bytes) {
                Taken::FromCredit => break,
                Taken::FromPool => {
                    log.refill();
                    break;
                }
                Taken::Nothing => log.prepare_segment(false)?,
            }
        }
        Ok(SpaceReservation { log, bytes, worker, splits: 0 })
    }

    /// Whether somebody waits for a checkpoint to give space back.
    pub(crate) fn space_is_short(&self) -> bool {
        !lock(&self.shared.space_waiters).is_empty()
    }
}

impl Shared {
    /// Recycles the segments that neither recovery from `redo` nor the archive needs any more.
    pub(super) fn let_go(&self, redo: Lsn) -> Result<()> {
        let _one = lock(&self.maintenance);
        let bytes = self.segments.bytes();
        let wanted = self.archiving.as_ref().map_or(u64::MAX, Archiving::next);
        let kept = lock(&self.kept).iter().min().copied().unwrap_or(Lsn::MAX);
        let until = redo.min(Lsn(wanted.saturating_mul(bytes))).min(kept);
        // As much is kept ready as was written since the last checkpoint: recycled segments need not be filled with
        // zeros, and their blocks are the file's already.
        let (tail, before) = (self.inserter.tail(), self.checkpointed.load(Ordering::Relaxed));
        let ahead = (2 + tail.saturating_sub(before) / bytes).max(1 + self.ahead().div_ceil(bytes));
        let recycled = self.segments.recycle(until, Lsn(tail), ahead);
        self.space.add(self.halt_if_unsynced(recycled)? * bytes);
        Ok(())
    }

    /// After a draw on the pool: prepares ahead and asks for a checkpoint in time.
    #[cold]
    fn refill(&self) {
        if self.space.pooled() < self.ahead() {
            self.env.wake(&self.prepare);
        }
        let tail = self.inserter.tail();
        let used = tail - self.redo.load(Ordering::Relaxed);
        // Where something old holds the redo point back, a checkpoint for every chunk would not help either.
        let since = tail.saturating_sub(self.checkpointed.load(Ordering::Relaxed));
        if used > self.bytes_max / 2 && since > self.bytes_max / 16 {
            self.checkpoint.raise(&self.env);
        }
    }

    /// How much of the pool is kept prepared, in bytes: a segment that is begun is not recycled, so that where a full disk lets
    /// nothing be prepared half a segment is left to commits behind a checkpoint, wherever in its segment that ends.
    pub(super) fn ahead(&self) -> u64 {
        let bytes = self.segments.bytes();
        self.space.kept_for_restart() + self.space.kept() + bytes + bytes / 2
    }

    /// Prepares one more segment; with `limited`, only within the log's limit, which recovery does not have: a checkpoint,
    /// which alone would give room back, could not come past what is replayed.
    pub(super) fn prepare_segment(&self, limited: bool) -> Result<()> {
        let exemptions = lock(&self.maintenance);
        let (mut oldest, next) = self.segments.range();
        // What only the archive or a backup still wants does not count.
        if self.archiving.is_some() || !lock(&self.kept).is_empty() {
            oldest = oldest.max(self.redo() / self.segments.bytes());
        }
        let from = exemptions.iter().map(|(from, _)| from.0).min();
        let tail = self.inserter.tail();
        let until = exemptions.iter().map(|(_, until)| until.map_or(tail, |until| until.0)).max();
        let stretched = until.unwrap_or(0).saturating_sub(from.unwrap_or(0));
        let beside = self.space.kept_for_restart() + self.space.for_splits();
        let limit = self.bytes_max + stretched + beside;
        let limited = limited && !self.recovering.load(Ordering::Acquire);
        if limited && (next + 1 - oldest) * self.segments.bytes() > limit {
            return Err(Error::Full("the log"));
        }
        self.halt_if_unsynced(self.segments.prepare())?;
        self.space.add(self.segments.bytes());
        self.wake_space_waiters();
        Ok(())
    }

    fn wake_space_waiters(&self) {
        let waiters = std::mem::take(&mut *lock(&self.space_waiters));
        waiters.iter().for_each(|cell| self.env.wake(cell));
    }

    /// The body of the thread that prepares segments, so that neither commits nor the flusher have to.
    pub(super) fn prepare_ahead(&self) {
        while !self.stop.load(Ordering::Acquire) && self.flush.alive().is_ok() {
            // A full disk or log is reported by who needs the space and finds none.
            if self.space.pooled() >= self.ahead() || self.prepare_segment(true).is_err() {
                self.env.wait(WaitEvent::Background, &self.prepare, None, None);
            }
        }
    }

    #[cold]
    fn wait_for_space(
        &self,
        worker: usize,
        class: SpaceClass,
        (bytes, splits): (u64, u64),
        cancel: Option<&Cancel>,
    ) -> Result<()> {
        if bytes > self.bytes_max / 2 {
            return Err(Error::Full("the log"));
        }
        let deadline = self.env.clock.now().plus(SPACE_WAIT);
        let fruitless = self.fruitless.load(Ordering::Acquire);
        let cell = Arc::new(WaitCell::new());
        loop {
            self.flush.alive()?;
            let seen = self.recycled.load(Ordering::Acquire);
            lock(&self.space_waiters).push(Arc::clone(&cell));
            if self.space.take(worker, class, bytes + splits) != Taken::Nothing {
                // A checkpoint that found us here would think that space is still short.
                lock(&self.space_waiters).retain(|waiting| !Arc::ptr_eq(waiting, &cell));
                return Ok(());
            }
            let why = match self.prepare_segment(true) {
                Ok(()) => continue,
                Err(Error::Full(what)) => what,
                Err(other) => return Err(other),
            };
            // What a checkpoint gives back others may take first, so one asks again, as long as anything is given back.
            // The first one may have been under way when we asked; the second began afterwards. Recovery has none to wait for.
            let given_up = self.fruitless.load(Ordering::Acquire) >= fruitless + 2
                || self.recovering.load(Ordering::Acquire);
            if given_up || self.env.clock.now() >= deadline {
                return Err(Error::Full(why));
            }
            self.checkpoint.raise(&self.env);
            if self.recycled.load(Ordering::Acquire) == seen {
                let waiter = waiter::cancellable();
                let cancel = cancel.or(waiter.as_deref().map(|waiter| waiter.cancel()));
                let woken = self.env.wait(WaitEvent::WalSpace, &cell, Some(deadline), cancel);
                if woken == Woken::Cancelled {
                    return Err(Error::Cancelled);
                }
            }
        }
    }
}
