//! [`Log`]: reserve, claim, publish, wait.
//!
//! A record's way: room is *reserved* while everything may still fail or wait; a place is *claimed*, which fixes the
//! LSN; the record is *published* into the ring; the flusher writes and syncs it. A claim that is dropped becomes a void
//! record, so that what stands behind it does not wait for ever.
//!
//! Cost of reserve, claim and publish with `atomic_add` and 200 bytes: 240 instructions, and 160 for the checksum and 40
//! for the copy (callgrind). Three of them are atomic: two on the worker's own credit, one on the tail. No allocation,
//! and no system call unless the flusher sleeps.

use super::archive::{self, Archive, ArchiveCounters, Archiving};
use super::flush::{self, Flush};
use super::frame;
use super::insert::{InsertCounters, Inserter, Place};
use super::ring::Ring;
use super::scan::{LogScan, Until};
use super::segment::{self, Epoch, Files, Segments};
use super::space::{Space, Taken};
use super::{LogInsert, RecordKind, SpaceClass};
use crate::device::Device;
use crate::environment::{Cancel, Environment, Joinable, WaitCell, WaitEvent, Woken};
use crate::id::Micros;
use crate::planted::Planted;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::usage;
use crate::{Error, Lsn, Result};
use std::task::{Poll, Wake, Waker};

pub use super::flush::FlushCounters;

/// How much log space a worker draws ahead at most, in bytes.
const CHUNK_BYTES_MAX: u64 = 64 << 10;
/// How long a reservation waits for a checkpoint to make room.
const SPACE_WAIT: Micros = Micros(30_000_000);

/// How a log is set up.
#[derive(Clone, Debug)]
pub(crate) struct LogOptions {
    pub(crate) insert: LogInsert,
    pub(crate) ring_bytes: u64,
    pub(crate) segment_bytes: u64,
    pub(crate) bytes_max: u64,
    pub(crate) archive: Option<Arc<dyn Archive>>,
    pub(crate) planted: Planted,
}

/// What the control file says about the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogStart {
    /// Where recovery begins.
    pub(crate) redo: Lsn,
    /// The log was durable up to here when that was written: an end before it is corruption, not a lost tail.
    pub(crate) floor: Lsn,
    /// The epoch that begins now, already durable in the control file.
    pub(crate) epoch: u32,
}

/// The log.
#[derive(Debug)]
pub struct Log {
    shared: Arc<Shared>,
    threads: Mutex<Vec<Box<dyn Joinable>>, { rank::THREADS }>,
}

impl std::fmt::Debug for dyn Joinable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Joinable")
    }
}

/// What inserters, flusher and the thread that prepares segments share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) env: Environment,
    pub(super) planted: Planted,
    epoch: u32,
    bytes_max: u64,
    pub(super) ring: Ring,
    pub(super) inserter: Inserter,
    pub(super) flush: Flush,
    pub(super) segments: Segments,
    pub(super) archiving: Option<Archiving>,
    space: Space,
    /// Held to prepare or recycle segments. What does not count against the log's limit, each from an LSN to another,
    /// which is not known yet while its commit runs.
    maintenance: Mutex<Vec<(Lsn, Option<Lsn>)>, { rank::MAINTENANCE }>,
    redo: AtomicU64,
    /// The tail when the last checkpoint ended.
    checkpointed: AtomicU64,
    /// Checkpoints that have ended, and those of them that gave nothing back.
    recycled: AtomicU64,
    fruitless: AtomicU64,
    space_waiters: Mutex<Vec<Arc<WaitCell>>, { rank::WAITERS }>,
    prepare: Arc<WaitCell>,
    stop: AtomicBool,
    checkpoint: CheckpointSignal,
    epochs: Vec<Epoch>,
}

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
pub struct Stretch<'l> {
    log: &'l Shared,
    from: Lsn,
}

impl Drop for Stretch<'_> {
    fn drop(&mut self) {
        let tail = Lsn(self.log.inserter.tail());
        let mut stretches = lock(&self.log.maintenance);
        let own = stretches.iter_mut().find(|(from, until)| *from == self.from && until.is_none());
        if let Some((_, until)) = own {
            *until = Some(tail);
        }
    }
}

/// Room in the log that has been set aside and not yet claimed; what is left of it goes back when it is dropped.
#[derive(Debug)]
pub struct SpaceReservation<'l> {
    log: &'l Shared,
    bytes: u64,
    worker: usize,
}

impl SpaceReservation<'_> {
    /// What is left, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for SpaceReservation<'_> {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.log.space.give(self.worker, self.bytes);
        }
    }
}

/// A place in the log that one record will fill. Dropped, it becomes a void record.
#[must_use = "everything behind a claim waits for its publication"]
#[derive(Debug)]
pub struct Claim<'l> {
    log: &'l Shared,
    place: Place<'l>,
    payload: usize,
    /// False once published, or if the log halted before there was room: then there is nowhere to write to.
    open: bool,
}

impl Log {
    /// Makes the first segment of a log in an empty directory.
    pub(crate) fn create(device: &Arc<dyn Device>, options: &LogOptions) -> Result<LogStart> {
        let start = Lsn(options.segment_bytes);
        let epoch = Epoch { number: 1, start, previous_end: start };
        let segments =
            Segments::new(Arc::clone(device), options.segment_bytes, epoch, Default::default());
        segments.prepare()?;
        Ok(LogStart { redo: start, floor: start, epoch: 1 })
    }

    /// Finds the end of the log, begins a new epoch behind it, and starts to write.
    pub(crate) fn open(env: Environment, options: &LogOptions, start: LogStart) -> Result<Log> {
        let bytes = options.segment_bytes;
        let found = find_end(&*env.device, bytes, start, options.planted)?;
        let mut epochs = found.epochs;
        let last = *epochs.last().expect("the epoch of the redo point");
        if last.number >= start.epoch {
            return Err(Error::CorruptLog(format!(
                "the log is of epoch {} and the control file of {}",
                last.number, start.epoch
            )));
        }
        let first = found.end.0.div_ceil(bytes);
        let mut epoch =
            Epoch { number: start.epoch, start: Lsn(first * bytes), previous_end: found.end };
        if last.start == found.end {
            // Nothing was ever written in the last epoch: its place is taken over.
            epoch.previous_end = last.previous_end;
            epochs.pop();
        }
        epochs.push(epoch);
        let mut files = found.files;
        files.split_off(&first);
        segment::write_again(&files, bytes, start.floor, found.end)?;
        let segments = Segments::new(Arc::clone(&env.device), bytes, epoch, files);
        let archive = options.archive.clone();
        let archiving = archive.map(|to| Archiving::open(&env.device, to)).transpose()?;
        let tail = epoch.start.0;
        let workers = env.scheduler.slots();
        let chunk = (options.bytes_max / (8 * workers as u64)).min(CHUNK_BYTES_MAX);
        // Room for the largest record and a few more, and not more of a small log than an eighth.
        let kept = (bytes / 4).max(options.ring_bytes / 2).min(options.bytes_max / 8);
        let shared = Arc::new(Shared {
            planted: options.planted,
            epoch: epoch.number,
            bytes_max: options.bytes_max,
            ring: Ring::new(options.ring_bytes),
            inserter: Inserter::new(options.insert, tail, workers),
            flush: Flush::new(tail, options.ring_bytes),
            segments,
            archiving,
            space: Space::new(workers, chunk.min(bytes / 16), kept),
            maintenance: Mutex::default(),
            redo: AtomicU64::new(start.redo.0),
            checkpointed: AtomicU64::new(start.redo.0),
            recycled: AtomicU64::new(0),
            fruitless: AtomicU64::new(0),
            space_waiters: Mutex::default(),
            prepare: Arc::new(WaitCell::new()),
            stop: AtomicBool::new(false),
            checkpoint: CheckpointSignal::default(),
            epochs,
            env,
        });
        // To begin with there is a segment more than the system's share, whatever the limit says: recovery writes too.
        while shared.space.pooled() < shared.space.kept() + bytes / 2 {
            shared.prepare_segment(false)?;
        }
        let log = Log { shared, threads: Mutex::default() };
        log.spawn("log flusher", flush::run);
        log.spawn("log segments", Shared::prepare_ahead);
        if log.shared.archiving.is_some() {
            log.spawn("log archiver", archive::run);
        }
        Ok(log)
    }

    fn spawn(&self, name: &'static str, body: fn(&Shared)) {
        let (shared, halting) = (Arc::clone(&self.shared), Arc::clone(&self.shared));
        let halt = move |why: &str| halting.flush.halt(&halting.env, why);
        let thread = self.shared.env.background(name, halt, move || body(&shared));
        lock(&self.threads).push(thread);
    }

    /// The largest payload of one record, in bytes: longer ones are logged in parts.
    #[must_use]
    pub fn payload_bytes_max(&self) -> usize {
        (self.shared.ring.bytes() / 2 - frame::OVERHEAD_BYTES) as usize
    }

    /// Sets `bytes` of payload in `records` records aside. Waits for a checkpoint where that helps.
    ///
    /// # Errors
    /// [`crate::Error::Full`] when it does not; [`crate::Error::Halted`] if the log has failed.
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
        let log = &*self.shared;
        let worker = log.env.scheduler.slot();
        let bytes = bytes + records * frame::OVERHEAD_BYTES;
        match log.space.take(worker, class, bytes) {
            Taken::FromCredit => {}
            Taken::FromPool => log.refill(),
            Taken::Nothing => log.wait_for_space(worker, class, bytes, cancel)?,
        }
        if log.flush.has_halted() {
            log.space.give(worker, bytes);
            log.flush.alive()?;
        }
        Ok(SpaceReservation { log, bytes, worker })
    }

    /// Begins to let the log be longer than its limit, until what is returned is dropped and a checkpoint has come past that.
    #[must_use]
    pub fn stretch(&self) -> Stretch<'_> {
        let from = self.tail();
        lock(&self.shared.maintenance).push((from, None));
        Stretch { log: &self.shared, from }
    }

    /// Claims the place of one record of `payload` bytes. Never waits but for room in the ring.
    #[inline]
    pub fn claim<'l>(&'l self, space: &mut SpaceReservation<'_>, payload: usize) -> Claim<'l> {
        let bytes = frame::span(payload);
        assert!(space.bytes >= bytes, "space is reserved before it is claimed");
        assert!(payload <= self.payload_bytes_max(), "a record fits the ring");
        space.bytes -= bytes;
        usage::count_logged(bytes);
        let log = &*self.shared;
        let place = log.inserter.claim(space.worker, bytes);
        let end = place.start + bytes;
        log.flush.ring(&log.env, end);
        let open = log.flush.has_room(end) || log.flush.wait_for_room(&log.env, end);
        Claim { log, place, payload, open }
    }

    /// The end of the last claimed record: every later claim gets at least this LSN.
    #[must_use]
    pub fn tail(&self) -> Lsn {
        Lsn(self.shared.inserter.tail())
    }

    /// Records that *end* at or before this are durable.
    #[must_use]
    pub fn durable(&self) -> Lsn {
        Lsn(self.shared.flush.durable())
    }

    /// Asks for durability past the end of the record at `lsn`, and says whether it is reached; if not, `waker` is
    /// woken when it is. A session's connection waits so, not its worker. An LSN past the tail means everything so far.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] if the log has failed: nobody may be answered.
    pub fn poll_durable(&self, lsn: Lsn, waker: &Waker) -> Poll<Result<()>> {
        // The durable end is always the end of a record: past the first byte is past the last.
        self.poll_durable_end(Lsn(lsn.0.saturating_add(1)), waker)
    }

    fn poll_durable_end(&self, end: Lsn, waker: &Waker) -> Poll<Result<()>> {
        let end = if end.0 <= self.shared.flush.durable() { end } else { end.min(self.tail()) };
        match self.shared.flush.request(&self.shared.env, end.0, waker) {
            Ok(true) => Poll::Ready(self.shared.flush.alive()),
            Ok(false) => Poll::Pending,
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    /// Makes the record at `lsn` durable here and now, where that is likely to be quicker than to wake the flusher and to
    /// be woken by it: it is not at work, no record before this one is still being filled, and syncs are short on this
    /// disk. For a thread that has nothing else to do; whether it is durable now is for [`Log::poll_durable`] to say.
    pub fn help(&self, lsn: Lsn) {
        // A record that is not the tail's has others behind it, whose owners will ask too.
        flush::help(&self.shared, lsn.0.saturating_add(1).min(self.tail().0));
    }

    /// Waits until the record at `lsn` is durable, for background work.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] as above.
    pub fn wait_durable(&self, lsn: Lsn) -> Result<()> {
        self.wait_durable_end(Lsn(lsn.0.saturating_add(1)))
    }

    /// Waits until every record that ends at or before `end` is durable, or everything so far if that is less.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] as above.
    pub fn wait_durable_end(&self, end: Lsn) -> Result<()> {
        let env = &self.shared.env;
        let cell = Arc::new(WaitCell::new());
        let waker = Waker::from(Arc::new(CellWaker { env: env.clone(), cell: Arc::clone(&cell) }));
        loop {
            match self.poll_durable_end(end, &waker) {
                Poll::Ready(result) => return result,
                Poll::Pending => drop(env.wait(WaitEvent::WalSync, &cell, None, None)),
            }
        }
    }

    /// The published records from `from` on, in LSN order, up to the tail at the call. What is still in memory is
    /// written to the files first; the scan reads those.
    ///
    /// # Errors
    /// [`crate::Error::CorruptLog`] if `from` has been recycled (and, when the scan gets there, if it is not a record's
    /// place); [`crate::Error::Halted`] if the log has failed.
    pub fn scan(&self, from: Lsn) -> Result<LogScan> {
        let log = &*self.shared;
        let until = self.tail();
        log.flush.wait_written(&log.env, until.0)?;
        let bytes = log.segments.bytes();
        let (oldest, _) = log.segments.range();
        if from.0 < oldest * bytes {
            return Err(Error::CorruptLog(format!(
                "the log before {} has been recycled",
                Lsn(oldest * bytes)
            )));
        }
        let (files, epochs) = (log.segments.files(), log.epochs.clone());
        let until = Until::Exactly(until.max(from));
        Ok(LogScan::new(files, bytes, epochs, from, until, log.planted))
    }

    /// The environment it waits in.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.shared.env
    }

    /// How checkpoints are asked for.
    #[must_use]
    pub fn checkpoint_signal(&self) -> &CheckpointSignal {
        &self.shared.checkpoint
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
        // What only the archive still wants does not count against the log's limit.
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

    /// What the archiver has done; none if nothing is archived.
    #[must_use]
    pub fn archive_counters(&self) -> Option<ArchiveCounters> {
        self.shared.archiving.as_ref().map(|archiving| archiving.counters(&self.shared))
    }

    /// Has the archiver try again at once, because what it is to do has changed.
    pub fn wake_archiver(&self) {
        if let Some(archiving) = &self.shared.archiving {
            archiving.wake(&self.shared.env);
        }
    }

    /// Whether somebody waits for a checkpoint to give space back.
    pub(crate) fn space_is_short(&self) -> bool {
        !lock(&self.shared.space_waiters).is_empty()
    }

    /// Ends the log because something it vouches for has failed: a sync of a data file, for instance. Every wait for
    /// durability is answered by [`crate::Error::Halted`].
    pub fn halt(&self, why: &str) {
        self.shared.flush.halt(&self.shared.env, why);
    }

    /// Whether the log has not failed.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] with the reason.
    pub fn alive(&self) -> Result<()> {
        self.shared.flush.alive()
    }

    /// Which way the insert algorithm went how often.
    #[must_use]
    pub fn insert_counters(&self) -> InsertCounters {
        self.shared.inserter.counters()
    }

    /// What the flusher has done.
    #[must_use]
    pub fn flush_counters(&self) -> FlushCounters {
        self.shared.flush.counters(self.start().0)
    }

    /// The first LSN since the log was opened.
    #[must_use]
    pub fn start(&self) -> Lsn {
        self.shared.segments.epoch().start
    }

    /// The oldest LSN that is still in the files.
    #[must_use]
    pub fn oldest(&self) -> Lsn {
        Lsn(self.shared.segments.range().0 * self.shared.segments.bytes())
    }

    /// Writes and syncs everything published, and ends the threads. Nothing may be claimed any more.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] if the log has failed before.
    pub(crate) fn close(&self) -> Result<()> {
        self.shared.stop.store(true, Ordering::Release);
        self.shared.env.wake(&self.shared.prepare);
        if let Some(archiving) = &self.shared.archiving {
            archiving.stop(&self.shared.env);
        }
        self.shared.flush.stop(&self.shared.env);
        let threads = std::mem::take(&mut *lock(&self.threads));
        threads.into_iter().for_each(Joinable::join);
        self.alive()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // Halted or not: whoever wanted to know has asked.
        drop(self.close());
    }
}

struct CellWaker {
    env: Environment,
    cell: Arc<WaitCell>,
}

impl Wake for CellWaker {
    fn wake(self: Arc<Self>) {
        self.env.wake(&self.cell);
    }
}

impl Shared {
    /// Whether the log is being closed.
    pub(super) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Where recovery would begin.
    pub(super) fn redo(&self) -> u64 {
        self.redo.load(Ordering::Relaxed)
    }

    /// Recycles the segments that neither recovery from `redo` nor the archive needs any more.
    pub(super) fn let_go(&self, redo: Lsn) -> Result<()> {
        let _one = lock(&self.maintenance);
        let bytes = self.segments.bytes();
        let wanted = self.archiving.as_ref().map_or(u64::MAX, Archiving::next);
        let until = redo.min(Lsn(wanted.saturating_mul(bytes)));
        // As much is kept ready as was written since the last checkpoint: recycled segments need not be filled with
        // zeros, and their blocks are the file's already.
        let (tail, before) = (self.inserter.tail(), self.checkpointed.load(Ordering::Relaxed));
        let ahead = 2 + tail.saturating_sub(before) / bytes;
        let recycled = self.segments.recycle(until, Lsn(tail), ahead);
        self.space.add(self.halt_if_unsynced(recycled)? * bytes);
        Ok(())
    }

    pub(super) fn halt_if_unsynced<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(Error::Halted(why)) = &result {
            self.flush.halt(&self.env, why);
        }
        result
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

    /// How much of the pool is kept prepared, in bytes.
    fn ahead(&self) -> u64 {
        self.space.kept() + self.segments.bytes() / 2
    }

    /// Prepares one more segment; with `limited`, only within the log's limit.
    fn prepare_segment(&self, limited: bool) -> Result<()> {
        let stretches = lock(&self.maintenance);
        let (mut oldest, next) = self.segments.range();
        if self.archiving.is_some() {
            oldest = oldest.max(self.redo() / self.segments.bytes());
        }
        let from = stretches.iter().map(|(from, _)| from.0).min();
        let tail = self.inserter.tail();
        let until = stretches.iter().map(|(_, until)| until.map_or(tail, |until| until.0)).max();
        let stretched = until.unwrap_or(0).saturating_sub(from.unwrap_or(0));
        let limit = self.bytes_max + stretched;
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
    fn prepare_ahead(&self) {
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
        bytes: u64,
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
            if self.space.take(worker, class, bytes) != Taken::Nothing {
                return Ok(());
            }
            let why = match self.prepare_segment(true) {
                Ok(()) => continue,
                Err(Error::Full(what)) => what,
                Err(other) => return Err(other),
            };
            // What a checkpoint gives back others may take first, so one asks again, as long as anything is given back.
            // The first one may have been under way when we asked; the second began afterwards.
            let given_up = self.fruitless.load(Ordering::Acquire) >= fruitless + 2;
            if given_up || self.env.clock.now() >= deadline {
                return Err(Error::Full(why));
            }
            self.checkpoint.raise(&self.env);
            if self.recycled.load(Ordering::Acquire) == seen {
                let woken = self.env.wait(WaitEvent::WalSpace, &cell, Some(deadline), cancel);
                if woken == Woken::Cancelled {
                    return Err(Error::Cancelled);
                }
            }
        }
    }
}

impl Claim<'_> {
    /// The record's place: the timestamp of the commit it will be.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        Lsn(self.place.start)
    }

    /// The end of the record.
    #[must_use]
    pub fn end(&self) -> Lsn {
        Lsn(self.place.start + frame::span(self.payload))
    }

    /// Fills the record with `payload`, exactly as long as was claimed, and lets the log run past it.
    #[inline]
    pub fn publish(mut self, kind: RecordKind, payload: &[u8]) -> Lsn {
        assert_eq!(self.payload, payload.len(), "a record is as long as its claim");
        let lsn = self.lsn();
        if std::mem::take(&mut self.open) {
            let ring = &self.log.ring;
            let [first, second] = frame::header(lsn, self.log.epoch, kind, payload);
            ring.fill_word(lsn.0 + 8, second);
            ring.fill(lsn.0 + frame::HEADER_BYTES as u64, payload);
            ring.seal(lsn.0, first);
        }
        lsn
    }

    /// Gives the record up. Its place stays, and says nothing.
    pub fn void(self) {
        drop(self);
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if self.open {
            let lsn = self.lsn();
            let [first, second] = frame::void_header(lsn, self.log.epoch, self.payload);
            self.log.ring.fill_word(lsn.0 + 8, second);
            self.log.ring.seal(lsn.0, first);
        }
    }
}

/// What is left of the log after whatever happened.
pub(crate) struct Found {
    /// The epochs from the redo point on.
    pub(crate) epochs: Vec<Epoch>,
    /// The segments that have a header of their own, older and newer ones too.
    pub(crate) files: Files,
    /// The end of the last whole record.
    pub(crate) end: Lsn,
    /// Records between the redo point and the end.
    pub(crate) records: u64,
}

/// Reads the log from the redo point to its end, and checks that the end is not before what was known to be durable.
pub(crate) fn find_end(
    device: &dyn Device,
    bytes: u64,
    start: LogStart,
    planted: Planted,
) -> Result<Found> {
    let survey = segment::survey(device, bytes)?;
    let redo_segment = start.redo.0 / bytes;
    let mut epochs: Vec<Epoch> = Vec::new();
    match survey.get(&redo_segment) {
        Some((epoch, _)) => epochs.push(*epoch),
        // After a clean end exactly at the end of a segment the next one need not have been prepared.
        None if start.redo == start.floor && start.redo.0.is_multiple_of(bytes) => {
            let number = start.epoch.saturating_sub(1);
            epochs.push(Epoch { number, start: start.redo, previous_end: start.redo });
        }
        None => {
            let name = segment::name(redo_segment);
            return Err(Error::CorruptLog(format!("log segment \"{name}\" is missing")));
        }
    }
    for (number, (epoch, _)) in survey.range(redo_segment + 1..) {
        let newest = epochs.last().expect("the epoch of the redo point").number;
        if epoch.start.0 == number * bytes && epoch.number > newest {
            epochs.push(*epoch);
        }
    }
    let files: Files = survey.into_iter().map(|(number, (_, file))| (number, file)).collect();
    let mut scan =
        LogScan::new(files.clone(), bytes, epochs.clone(), start.redo, Until::FirstGap, planted);
    let mut records = 0;
    while scan.advance()?.is_some() {
        records += 1;
    }
    let end = scan.position();
    if end < start.floor {
        return Err(Error::CorruptLog(format!(
            "the log ends at {end}, but it was durable up to {}: a record before that is damaged",
            start.floor
        )));
    }
    Ok(Found { epochs, files, end, records })
}
