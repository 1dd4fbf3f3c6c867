//! The flusher: it writes the contiguous prefix of published records and syncs it for everybody who waits (group
//! commit: who asks while a sync runs is served together by the next one).
//!
//! **When.** At once when somebody asks for durability, or for room, or the ring is half full; else 200 ms after the
//! first unwritten record at the latest (PostgreSQL's `wal_writer_delay`). With nothing to do it sleeps without a
//! timeout: an idle server has an idle flusher.
//!
//! **Who wakes it is served after those who are ready to run.** Where every processor has work, some of them are about
//! to commit, and join the group: a tenth of the CPU of short transactions by 8 and 32 sessions on two cores was syncs and
//! switches of threads that this saves. Where a processor rests, nothing is waited for.
//!
//! **How it is woken** is [`super::alarm`]'s business.
//!
//! **Who has nothing else to do may do it**: a thread that serves one session would wake the flusher, sleep, and be woken
//! by it, two switches a commit. It tries to take the flusher's place for one round instead ([`super::Log::help`]); if
//! the flusher is at work, or syncs take long here, it asks like everybody.
//!
//! **A hole** in the prefix is a record claimed and not yet published. Its owner does not wait for anything, so the
//! flusher waits in steps from 20 us up to 1 ms: the one place that polls, and only while somebody is between the two.
//!
//! **Halt.** After a failed write or sync nothing is known of the log's end. Every wait answers [`Error::Halted`], and
//! nothing is written any more; only recovery starts the instance again (fsync's lesson of 2018).

use super::alarm::Alarm;
use super::frame;
use super::log::Shared;
use crate::device::File;
use crate::environment::{Environment, WaitCell, WaitEvent, Woken};
use crate::id::Micros;
use crate::planted::Fault;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, PUBLISH, give_way, lock, rank, try_lock};
use crate::{Error, Result};
use crossbeam_utils::CachePadded;
use std::fmt;
use std::task::Waker;

/// How long a published record may stay unwritten when nobody asks, in microseconds.
const DELAY: Micros = Micros(200_000);
/// The steps in which a hole is waited for, in microseconds.
const HOLE_STEPS: (u64, u64) = (20, 1000);

/// Nobody helps where the last sync took this long, in microseconds: a helper serves nobody else meanwhile.
const HELPED_SYNC_MAX: u64 = 1000;

/// What flusher, inserters and waiters share.
#[derive(Debug)]
pub(super) struct Flush {
    /// Records that end here or before are durable.
    durable: CachePadded<AtomicU64>,
    /// A claim may be filled if it ends here or before.
    room: CachePadded<AtomicU64>,
    alarm: Alarm,
    /// Who writes and syncs; taken by a helper it is only tried.
    flusher: Mutex<Flusher, { rank::FLUSHER }>,
    /// How long the last sync took, in microseconds.
    last_sync_us: AtomicU64,
    helped: AtomicU64,
    /// Records that end here or before are in the files.
    written: AtomicU64,
    /// How far somebody wants durability, and how far somebody wants to read the files.
    requested: AtomicU64,
    write_requested: AtomicU64,
    stop: AtomicBool,
    cell: Arc<WaitCell>,
    waiters: Mutex<Vec<(u64, Waker)>, { rank::WAITERS }>,
    /// Who waits for the next write: for room in the ring, or to read what is written.
    write_waiters: Mutex<Vec<Arc<WaitCell>>, { rank::WAITERS }>,
    halted: AtomicBool,
    reason: Mutex<String, { rank::REASON }>,
    writes: AtomicU64,
    syncs: AtomicU64,
    sync_us: AtomicU64,
    hole_waits: AtomicU64,
    room_waits: AtomicU64,
}

/// What the flusher has done since the log was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlushCounters {
    /// Bytes written, by LSN.
    pub bytes: u64,
    /// Writes of a prefix.
    pub writes: u64,
    /// Syncs, each for a group of commits.
    pub syncs: u64,
    /// Time in syncs, in microseconds.
    pub sync_us: u64,
    /// Waits for a record that was claimed and not yet published.
    pub hole_waits: u64,
    /// Claims that had to wait for room in the ring.
    pub room_waits: u64,
    /// Syncs by a thread that waited for one ([`super::Log::help`]).
    pub helped: u64,
}

impl Flush {
    pub(super) fn new(start: u64, ring_bytes: u64) -> Flush {
        let at = || CachePadded::new(AtomicU64::new(start));
        Flush {
            durable: at(),
            room: CachePadded::new(AtomicU64::new(start + ring_bytes)),
            alarm: Alarm::new(),
            flusher: Mutex::new(Flusher::new(start)),
            last_sync_us: AtomicU64::new(0),
            helped: AtomicU64::new(0),
            written: AtomicU64::new(start),
            requested: AtomicU64::new(0),
            write_requested: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            cell: Arc::new(WaitCell::new()),
            waiters: Mutex::default(),
            write_waiters: Mutex::default(),
            halted: AtomicBool::new(false),
            reason: Mutex::default(),
            writes: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
            sync_us: AtomicU64::new(0),
            hole_waits: AtomicU64::new(0),
            room_waits: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(super) fn durable(&self) -> u64 {
        // Acquire: pairs with Release in `Flusher::sync`.
        self.durable.load(Ordering::Acquire)
    }

    #[inline]
    pub(super) fn has_room(&self, end: u64) -> bool {
        // Acquire: pairs with Release in `Flusher::write`; the bytes up to here are cleared.
        end <= self.room.load(Ordering::Acquire)
    }

    /// To be called after the tail has moved to `end`: wakes a flusher that wants to know.
    #[inline]
    pub(super) fn ring(&self, env: &Environment, end: u64) {
        if self.alarm.ring(end) {
            env.wake(&self.cell);
        }
    }

    fn rouse(&self, env: &Environment) {
        if self.alarm.rouse() {
            env.wake(&self.cell);
        }
    }

    /// Asks for durability up to `end`; true if that is reached, else `waker` is woken when it is.
    pub(super) fn request(&self, env: &Environment, end: u64, waker: &Waker) -> Result<bool> {
        if self.durable() >= end {
            return Ok(true);
        }
        {
            let mut waiters = lock(&self.waiters);
            // Under the lock of the list: the flusher publishes `durable` before it takes the list, and `halt` its flag.
            self.alive()?;
            if self.durable() >= end {
                return Ok(true);
            }
            waiters.push((end, waker.clone()));
        }
        self.requested.fetch_max(end, Ordering::SeqCst);
        self.rouse(env);
        Ok(false)
    }

    /// Waits until `end` has room in the ring; false if the log has halted and it never will.
    #[cold]
    pub(super) fn wait_for_room(&self, env: &Environment, end: u64) -> bool {
        self.room_waits.fetch_add(1, Ordering::Relaxed);
        self.rouse(env);
        self.wait_for_write(env, WaitEvent::WalBuffer, &|| self.has_room(end))
    }

    /// Waits until `settled` is content with the room in the ring, or the log has halted.
    #[cold]
    pub(super) fn wait_settled(&self, env: &Environment, settled: &dyn Fn() -> bool) {
        self.rouse(env);
        self.wait_for_write(env, WaitEvent::WalBuffer, settled);
    }

    /// Waits until everything up to `end` is in the files.
    pub(super) fn wait_written(&self, env: &Environment, end: u64) -> Result<()> {
        self.write_requested.fetch_max(end, Ordering::SeqCst);
        self.rouse(env);
        // Acquire: pairs with Release in `Flusher::write`.
        let written = || self.written.load(Ordering::Acquire) >= end;
        if self.wait_for_write(env, WaitEvent::WalBuffer, &written) { Ok(()) } else { self.alive() }
    }

    fn wait_for_write(&self, env: &Environment, event: WaitEvent, done: &dyn Fn() -> bool) -> bool {
        let cell = Arc::new(WaitCell::new());
        loop {
            lock(&self.write_waiters).push(Arc::clone(&cell));
            if done() {
                return true;
            }
            if self.alive().is_err() {
                return false;
            }
            env.wait(event, &cell, None, None);
        }
    }

    /// Whether the log has halted; [`Flush::alive`] says why.
    #[inline]
    pub(super) fn has_halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    /// Whether the log has not halted.
    pub(super) fn alive(&self) -> Result<()> {
        // Acquire: pairs with Release in `halt`; the reason is there.
        if self.halted.load(Ordering::Acquire) {
            return Err(Error::Halted(lock(&self.reason).clone()));
        }
        Ok(())
    }

    /// Ends the log: nobody is told anything any more but that it has failed.
    pub(super) fn halt(&self, env: &Environment, why: &str) {
        {
            let mut reason = lock(&self.reason);
            if reason.is_empty() {
                why.clone_into(&mut reason);
            }
        }
        if !self.halted.swap(true, Ordering::AcqRel) {
            env.scheduler.halted(why);
        }
        self.wake_write_waiters(env);
        let waiters = std::mem::take(&mut *lock(&self.waiters));
        waiters.into_iter().for_each(|(_, waker)| waker.wake());
        self.rouse(env);
    }

    fn wake_write_waiters(&self, env: &Environment) {
        let waiters = std::mem::take(&mut *lock(&self.write_waiters));
        waiters.iter().for_each(|cell| env.wake(cell));
    }

    /// Lets the flusher write and sync what there is, and end.
    pub(super) fn stop(&self, env: &Environment) {
        self.stop.store(true, Ordering::SeqCst);
        env.wake(&self.cell);
    }

    pub(super) fn counters(&self, start: u64) -> FlushCounters {
        FlushCounters {
            bytes: self.written.load(Ordering::Relaxed) - start,
            writes: self.writes.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
            sync_us: self.sync_us.load(Ordering::Relaxed),
            hole_waits: self.hole_waits.load(Ordering::Relaxed),
            room_waits: self.room_waits.load(Ordering::Relaxed),
            helped: self.helped.load(Ordering::Relaxed),
        }
    }
}

/// The flusher's own side.
struct Flusher {
    written: u64,
    durable: u64,
    /// Since when something is unwritten or not yet durable.
    dirty_since: Option<Micros>,
    /// When everything became durable, for as long as more is expected.
    synced_at: Option<Micros>,
    /// The segment that is being written, by its first LSN.
    file: Option<(u64, Arc<dyn File>)>,
    /// Segments that were filled since the last sync.
    filled: Vec<Arc<dyn File>>,
    /// How long the next wait for a hole will be, in microseconds.
    hole_step: u64,
    woken: Vec<Waker>,
}

impl fmt::Debug for Flusher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flusher").field("durable", &self.durable).finish_non_exhaustive()
    }
}

/// What the flusher's thread does next.
enum Next {
    /// Looks again.
    Round,
    /// Waits for the owner of a hole, until then.
    Hole(Micros),
    /// Sleeps until it is woken, or until then.
    Rest(Option<Micros>),
    /// Ends.
    Over,
}

/// The body of the flusher's thread.
pub(super) fn run(log: &Shared) {
    if let Err(error) = work(log) {
        halt_for(log, error);
    }
}

/// Writes and syncs in the flusher's place, if it is not at work and `end` is not durable yet.
pub(super) fn help(log: &Shared, end: u64) {
    let flush = &log.flush;
    if flush.last_sync_us.load(Ordering::Relaxed) >= HELPED_SYNC_MAX || flush.durable() >= end {
        return;
    }
    let Some(mut flusher) = try_lock(&flush.flusher) else { return };
    if flush.alive().is_err() || flush.stop.load(Ordering::SeqCst) {
        return;
    }
    let done = flusher.write(log).and_then(|()| {
        // Somebody's hole is before the end: the flusher's thread will wait for it.
        if flusher.written < end {
            return Ok(());
        }
        flush.helped.fetch_add(1, Ordering::Relaxed);
        flusher.sync(log)
    });
    drop(flusher);
    if let Err(error) = done {
        halt_for(log, error);
    }
}

fn halt_for(log: &Shared, error: Error) {
    let why = match error {
        Error::Halted(why) => why,
        other => other.to_string(),
    };
    log.flush.halt(&log.env, &why);
}

fn work(log: &Shared) -> Result<()> {
    let flush = &log.flush;
    while flush.alive().is_ok() {
        // Let go before each wait.
        let next = lock(&flush.flusher).round(log)?;
        match next {
            Next::Round => {}
            Next::Hole(deadline) => {
                log.env.wait(WaitEvent::Background, &flush.cell, Some(deadline), None);
            }
            Next::Rest(deadline) => {
                let woken = log.env.wait(WaitEvent::Background, &flush.cell, deadline, None);
                // Nothing may have come within the timer: then nothing is to be expected.
                let mut flusher = lock(&flush.flusher);
                if woken == Woken::TimedOut && log.inserter.tail() == flusher.durable {
                    flusher.synced_at = None;
                }
                drop(flusher);
                flush.alarm.unset();
                if woken == Woken::Notified {
                    give_way();
                }
            }
            Next::Over => return Ok(()),
        }
    }
    Ok(())
}

impl Flusher {
    fn new(start: u64) -> Flusher {
        Flusher {
            written: start,
            durable: start,
            dirty_since: None,
            synced_at: None,
            file: None,
            filled: Vec::new(),
            hole_step: HOLE_STEPS.0,
            woken: Vec::new(),
        }
    }

    /// Does what there is to do, and says how to go on.
    fn round(&mut self, log: &Shared) -> Result<Next> {
        let flush = &log.flush;
        let stop = flush.stop.load(Ordering::SeqCst);
        let now = log.env.clock.now();
        let due = stop || self.dirty_since.is_some_and(|since| now >= since.plus(DELAY));
        let sync = due || flush.requested.load(Ordering::SeqCst) > self.durable;
        if !sync && !self.wants_write(log) {
            return Ok(self.rest(log));
        }
        let before = self.written;
        self.write(log)?;
        let progress = self.written > before || (sync && self.written > self.durable);
        if sync {
            self.sync(log)?;
        }
        let all = log.inserter.tail() == self.written;
        if stop && all {
            return Ok(Next::Over);
        }
        if progress || all {
            self.hole_step = HOLE_STEPS.0;
            return Ok(Next::Round);
        }
        flush.hole_waits.fetch_add(1, Ordering::Relaxed);
        let deadline = log.env.clock.now().plus(Micros(self.hole_step));
        self.hole_step = (self.hole_step * 2).min(HOLE_STEPS.1);
        Ok(Next::Hole(deadline))
    }

    fn wants_write(&self, log: &Shared) -> bool {
        let half = log.ring.bytes() / 2;
        log.flush.write_requested.load(Ordering::SeqCst) > self.written
            || log.inserter.tail() - self.written >= half
    }

    /// Writes the contiguous prefix of published records and gives its room away.
    fn write(&mut self, log: &Shared) -> Result<()> {
        let (flush, ring, from) = (&log.flush, &log.ring, self.written);
        let mut to = from;
        while to < from + ring.bytes()
            && let Some(span) = frame::sealed_span(ring.sealed(to))
        {
            to += span;
        }
        if to == from {
            return Ok(());
        }
        let mut at = from;
        for piece in ring.read(from, to) {
            self.write_piece(log, at, piece)?;
            at += piece.len() as u64;
        }
        ring.clear(from, to);
        self.written = to;
        flush.writes.fetch_add(1, Ordering::Relaxed);
        flush.written.store(to, Ordering::Release);
        // Release: pairs with Acquire in `has_room`; who fills there finds zeros.
        flush.room.store(to + ring.bytes(), PUBLISH);
        flush.wake_write_waiters(&log.env);
        Ok(())
    }

    fn write_piece(&mut self, log: &Shared, mut lsn: u64, mut bytes: &[u8]) -> Result<()> {
        let segments = &log.segments;
        while !bytes.is_empty() {
            let first = lsn - lsn % segments.bytes();
            if self.file.as_ref().is_none_or(|(current, _)| *current != first) {
                let next = segments.file(lsn).expect("space was reserved in prepared segments");
                let full = self.file.replace((first, next));
                self.filled.extend(full.map(|(_, file)| file));
            }
            let (_, file) = self.file.as_ref().expect("the segment was opened above");
            let step = bytes.len().min((first + segments.bytes() - lsn) as usize);
            let (part, rest) = bytes.split_at(step);
            file.write_at(segments.offset(lsn), part)?;
            (lsn, bytes) = (lsn + step as u64, rest);
        }
        Ok(())
    }

    /// Makes what is written durable and wakes who waited for it.
    fn sync(&mut self, log: &Shared) -> Result<()> {
        if self.durable == self.written {
            self.dirty_since = None;
            return Ok(());
        }
        let (flush, planted, clock) = (&log.flush, log.planted, &log.env.clock);
        if planted.is(Fault::AnswerBeforeSync) {
            self.answer(flush);
        }
        // One that is full to its last byte has been filled, too, though nothing stands behind it yet.
        let filled = !self.filled.is_empty() || self.written.is_multiple_of(log.segments.bytes());
        let began = clock.now();
        if !planted.is(Fault::NoLogSync) {
            for file in
                self.filled.drain(..).chain(self.file.as_ref().map(|(_, file)| Arc::clone(file)))
            {
                file.sync()?;
            }
        }
        let ended = clock.now();
        flush.syncs.fetch_add(1, Ordering::Relaxed);
        flush.sync_us.fetch_add(ended.0 - began.0, Ordering::Relaxed);
        flush.last_sync_us.store(ended.0 - began.0, Ordering::Relaxed);
        (self.dirty_since, self.synced_at) = (None, Some(ended));
        self.answer(flush);
        if let (true, Some(archiving)) = (filled, &log.archiving) {
            archiving.wake(&log.env);
        }
        Ok(())
    }

    fn answer(&mut self, flush: &Flush) {
        self.durable = self.written;
        // Release: pairs with Acquire in `durable`.
        flush.durable.store(self.written, Ordering::Release);
        let mut waiters = lock(&flush.waiters);
        let reached = waiters.extract_if(.., |(end, _)| *end <= self.written);
        self.woken.extend(reached.map(|(_, waker)| waker));
        drop(waiters);
        self.woken.drain(..).for_each(Waker::wake);
    }

    /// Sleeps until somebody asks or the timer runs out; once nothing has come for that long, until somebody inserts.
    ///
    /// The timer runs behind a sync too, although everything is durable: the next record then wakes nobody, and its
    /// commit one thread, once, when it asks.
    fn rest(&mut self, log: &Shared) -> Next {
        let flush = &log.flush;
        let dirty = log.inserter.tail() > self.durable;
        if dirty && self.dirty_since.is_none() {
            let since = self.synced_at.take();
            self.dirty_since = Some(since.unwrap_or_else(|| log.env.clock.now()));
        }
        let timer = self.dirty_since.or(self.synced_at);
        let alarm = match timer {
            Some(_) => self.written + log.ring.bytes() / 2,
            None => 0,
        };
        flush.alarm.set(alarm);
        let missed = flush.requested.load(Ordering::SeqCst) > self.durable
            || flush.stop.load(Ordering::SeqCst)
            || self.wants_write(log)
            || flush.alive().is_err()
            || (timer.is_none() && log.inserter.tail() > self.durable);
        if missed {
            flush.alarm.unset();
            return Next::Round;
        }
        Next::Rest(timer.map(|since| since.plus(DELAY)))
    }
}
