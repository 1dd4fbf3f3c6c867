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
use super::end::find_end;
pub use super::flush::FlushCounters;
use super::flush::{self, Flush};
use super::insert::{InsertCounters, Inserter, Place};
use super::ring::Ring;
use super::room::{CheckpointSignal, SpaceReservation};
use super::scan::{LogRecord, LogScan, Until};
use super::segment::{self, Epoch, Segments};
use super::space::Space;
use super::{LogInsert, RecordKind, frame};
use crate::breakdown::{self, Class};
use crate::device::Device;
use crate::environment::{Environment, Joinable, WaitCell, WaitEvent};
use crate::planted::Planted;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{Error, Lsn, Result, usage};
use std::task::{Poll, Waker};

/// How much log space a worker draws ahead at most, in bytes.
const CHUNK_BYTES_MAX: u64 = 256 << 10;
/// How many restarts in a row, each cut short by a crash, the share that is kept for restarts is enough for.
const RESTARTS: u64 = 2;

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
    /// The timeline of what is logged, by which its segments are called in an archive.
    pub(crate) timeline: u32,
}

/// The log.
#[derive(Debug)]
pub struct Log {
    pub(super) shared: Arc<Shared>,
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
    pub(super) timeline: u32,
    pub(super) bytes_max: u64,
    pub(super) ring: Ring,
    pub(super) inserter: Inserter,
    pub(super) flush: Flush,
    pub(super) segments: Segments,
    pub(super) archiving: Option<Archiving>,
    pub(super) space: Space,
    /// What is kept for restarts once recovery is over, in bytes.
    pub(super) restart_bytes: u64,
    /// Whether recovery is under way, which the log's limit does not bind.
    pub(super) recovering: AtomicBool,
    /// Held to prepare or recycle segments. What does not count against the log's limit, each from an LSN to another,
    /// which is not known yet while its commit runs.
    pub(super) maintenance: Mutex<Vec<(Lsn, Option<Lsn>)>, { rank::MAINTENANCE }>,
    /// What backups that run will need of the log: each from its beginning on.
    pub(super) kept: Mutex<Vec<Lsn>, { rank::SEGMENTS }>,
    pub(super) redo: AtomicU64,
    /// The tail when the last checkpoint ended.
    pub(super) checkpointed: AtomicU64,
    /// Checkpoints that have ended, and those of them that gave nothing back.
    pub(super) recycled: AtomicU64,
    pub(super) fruitless: AtomicU64,
    pub(super) space_waiters: Mutex<Vec<Arc<WaitCell>>, { rank::WAITERS }>,
    pub(super) prepare: Arc<WaitCell>,
    pub(super) stop: AtomicBool,
    pub(super) checkpoint: CheckpointSignal,
    epochs: Vec<Epoch>,
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
        Ok(LogStart { redo: start, floor: start, epoch: 1, timeline: 1 })
    }

    /// Finds the end of the log, begins a new epoch behind it, and starts to write. `each` sees every record from the redo
    /// point on.
    pub(crate) fn open(
        env: Environment,
        options: &LogOptions,
        start: LogStart,
        each: &mut dyn FnMut(&LogRecord<'_>) -> Result<()>,
    ) -> Result<Log> {
        let bytes = options.segment_bytes;
        let found = find_end(&*env.device, bytes, start, options.planted, each)?;
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
        let archiving =
            archive.map(|to| Archiving::open(&env.device, to, start.timeline)).transpose()?;
        let tail = epoch.start.0;
        let workers = env.scheduler.slots();
        let chunk = (options.bytes_max / (8 * workers as u64)).min(CHUNK_BYTES_MAX);
        // Room for the largest record and a few more, and not more of a small log than an eighth.
        let kept = (bytes / 4).max(options.ring_bytes / 2).min(options.bytes_max / 8);
        let shared = Arc::new(Shared {
            planted: options.planted,
            epoch: epoch.number,
            timeline: start.timeline,
            bytes_max: options.bytes_max,
            ring: Ring::new(options.ring_bytes),
            inserter: Inserter::new(options.insert, tail, workers),
            flush: Flush::new(tail, options.ring_bytes),
            segments,
            archiving,
            space: Space::new(workers, chunk.min(bytes / 16), kept),
            restart_bytes: RESTARTS * (kept + bytes / 2).div_ceil(bytes) * bytes,
            recovering: AtomicBool::new(true),
            maintenance: Mutex::default(),
            kept: Mutex::default(),
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
        // To begin with there is half a segment more than the system's share, whatever the limit says: recovery writes too.
        // On a full disk it makes do with less, which the epoch before has left.
        while shared.space.pooled() < shared.space.kept() + bytes / 2 {
            match shared.prepare_segment(false) {
                Err(Error::Full(_)) if shared.space.pooled() > 0 => break,
                prepared => prepared?,
            }
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

    /// Claims the place of one record of `payload` bytes. Never waits but for room in the ring.
    #[inline]
    pub fn claim<'l>(&'l self, space: &mut SpaceReservation<'_>, payload: usize) -> Claim<'l> {
        let _class = breakdown::enter(Class::Logging);
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

    /// Waits until the ring has room for a record of `bytes`, and for more: for whoever is about to latch pages and to claim
    /// then. Readers of those pages would spin for as long as a claim waits. Only records that others claim in the moment
    /// between can still make it wait, and there is room for an eighth of the ring of them.
    pub fn settle(&self, bytes: u64) {
        let log = &*self.shared;
        let wanted = bytes + log.ring.bytes() / 8;
        let settled = || log.flush.has_room(log.inserter.tail() + wanted);
        if !settled() {
            log.flush.wait_settled(&log.env, &settled);
        }
    }

    /// Logs a record of the component's own that changes no page; where it begins and ends.
    ///
    /// # Errors
    /// As [`Log::reserve`].
    pub(crate) fn say(&self, kind: RecordKind, payload: &[u8]) -> Result<(Lsn, Lsn)> {
        let mut space = self.reserve(super::SpaceClass::System, 1, payload.len() as u64)?;
        let claim = self.claim(&mut space, payload.len());
        let end = claim.end();
        Ok((claim.publish(kind, payload), end))
    }

    /// The end of the last claimed record: every later claim gets at least this LSN.
    #[must_use]
    pub fn tail(&self) -> Lsn {
        Lsn(self.shared.inserter.tail())
    }

    /// Whether nothing had been logged from `redo` on when it was opened: the last to have it had closed it.
    pub(crate) fn was_closed_at(&self, redo: Lsn) -> bool {
        self.shared.epochs.last().is_some_and(|epoch| epoch.previous_end <= redo)
    }

    /// The epoch that this start of the instance began: every start has a higher one.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.shared.epoch
    }

    /// The timeline that the log is of: one more than how often its past has been gone back to.
    #[must_use]
    pub fn timeline(&self) -> u32 {
        self.shared.timeline
    }

    /// The segment that holds the byte before `lsn`, as an archive calls it, and where in its file `lsn` is.
    #[must_use]
    pub fn place_of(&self, lsn: Lsn) -> (String, u64) {
        let segments = &self.shared.segments;
        let number = lsn.0.saturating_sub(1) / segments.bytes();
        (segment::archived_name(self.shared.timeline, number), segments.offset(lsn.0))
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
        let _class = breakdown::enter(Class::Logging);
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
        let waker = env.waker(&cell);
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

    /// What the archiver has done; none if nothing is archived.
    #[must_use]
    pub fn archive_counters(&self) -> Option<ArchiveCounters> {
        self.shared.archiving.as_ref().map(|archiving| archiving.counters(&self.shared))
    }

    /// The log before this is in the archive; none if nothing is archived.
    #[must_use]
    pub fn archived(&self) -> Option<Lsn> {
        let bytes = self.shared.segments.bytes();
        let next = self.shared.archiving.as_ref()?.next();
        Some(Lsn(next.saturating_mul(bytes)))
    }

    /// Has the archiver try again at once, because what it is to do has changed.
    pub fn wake_archiver(&self) {
        if let Some(archiving) = &self.shared.archiving {
            archiving.wake(&self.shared.env);
        }
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

    /// Fills what is left of the segment that is written to with records that say nothing, so that it can be archived, and
    /// says where the log ended before (`pg_switch_wal`). A segment that nothing stands in stays.
    ///
    /// # Errors
    /// As [`Log::reserve`] and [`Log::wait_durable`].
    pub fn switch(&self) -> Result<Lsn> {
        let before = self.tail();
        let end = before.0.next_multiple_of(self.shared.segments.bytes());
        loop {
            let left = end.saturating_sub(self.tail().0) as usize;
            if left == 0 {
                break;
            }
            let payload = left.saturating_sub(frame::HEADER_BYTES).min(self.payload_bytes_max());
            let mut space = self.reserve(super::SpaceClass::System, 1, payload as u64)?;
            self.claim(&mut space, payload).void();
        }
        self.wait_durable_end(Lsn(end))?;
        Ok(before)
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

impl Shared {
    /// Whether the log is being closed.
    pub(super) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Where recovery would begin.
    pub(super) fn redo(&self) -> u64 {
        self.redo.load(Ordering::Relaxed)
    }

    pub(super) fn halt_if_unsynced<T>(&self, result: Result<T>) -> Result<T> {
        if let Err(Error::Halted(why)) = &result {
            self.flush.halt(&self.env, why);
        }
        result
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
        let _class = breakdown::enter(Class::Logging);
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
