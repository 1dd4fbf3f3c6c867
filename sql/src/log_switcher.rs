//! `archive_timeout` (`CheckArchiveTimeout`; PostgreSQL 15 manual, section 20.5.3): a segment of the log that has something, and
//! has had so long to fill, goes to the archive as it is.
//!
//! A thread rests until the segment that is being written will be old enough, and has the log go on in the next one if
//! anything has been written since the last look. An idle server switches nothing. Where there is no archive, or no limit,
//! the thread rests until the settings change.

use crate::engine::Engine;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use txn::sync::{Mutex, lock, rank};
use txn::{Joinable, Lsn, Micros, WaitCell, WaitEvent};

/// How the thread is told to do something.
#[derive(Default)]
pub struct LogSwitcher {
    stop: AtomicBool,
    cell: Arc<WaitCell>,
    thread: Mutex<Option<Box<dyn Joinable>>, { rank::THREADS }>,
}

impl Engine {
    /// Has old segments switched from now on.
    pub fn start_log_switcher(self: &Arc<Engine>) {
        let (weak, signals) = (Arc::downgrade(self), Arc::clone(self.log_switcher()));
        let halting = Weak::clone(&weak);
        let halt = move |why: &str| {
            if let Some(engine) = halting.upgrade() {
                engine.manager().data().log().halt(why);
            }
        };
        let environment = self.manager().environment();
        let thread = environment.background("log switcher", halt, move || run(&weak, &signals));
        *lock(&self.log_switcher().thread) = Some(thread);
    }

    pub(crate) fn stop_log_switcher(&self) {
        let own = self.log_switcher();
        own.stop.store(true, Ordering::Release);
        self.wake_log_switcher();
        let thread = lock(&own.thread).take();
        if let Some(thread) = thread {
            thread.join();
        }
    }

    /// Has the thread look at its settings again.
    pub(crate) fn wake_log_switcher(&self) {
        self.manager().environment().wake(&self.log_switcher().cell);
    }

    /// How old a segment may become, where that is limited.
    fn archive_timeout(&self) -> Option<Micros> {
        let seconds = u64::try_from(self.server_settings().number("archive_timeout")).ok()?;
        let archives = self.manager().data().log().archive_counters().is_some();
        (archives && seconds > 0).then(|| Micros(seconds * 1_000_000))
    }
}

fn run(weak: &Weak<Engine>, signals: &LogSwitcher) {
    let Some(engine) = weak.upgrade() else { return };
    let segment_bytes = engine.manager().data().identity().log_segment_bytes;
    let segment = |lsn: Lsn| lsn.0 / segment_bytes;
    // The end of the log at the last look, and when that segment began, as far as is known.
    let mut seen = engine.manager().data().log().tail();
    let mut since = engine.manager().environment().clock.now();
    drop(engine);
    loop {
        let Some(engine) = weak.upgrade() else { return };
        let environment = engine.manager().environment().clone();
        let due = engine.archive_timeout().map(|timeout| since.plus(timeout));
        drop(engine);
        environment.wait(WaitEvent::Background, &signals.cell, due, None);
        let Some(engine) = weak.upgrade() else { return };
        let log = engine.manager().data().log();
        if signals.stop.load(Ordering::Acquire) || log.alive().is_err() {
            return;
        }
        let (now, tail) = (environment.clock.now(), log.tail());
        if due.is_none_or(|due| now < due) {
            continue;
        }
        // One that began meanwhile is younger: it has as long again.
        if segment(tail) == segment(seen) && tail > seen && log.switch().is_err() {
            return;
        }
        (seen, since) = (log.tail(), now);
    }
}
