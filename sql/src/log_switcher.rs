//! `archive_timeout` (`CheckArchiveTimeout`; PostgreSQL 15 manual, section 20.5.3): a segment of the log that has something, and
//! has had so long to fill, goes to the archive as it is.
//!
//! A thread rests until the segment that is being written will be old enough, and has the log go on in the next one if
//! anything has been written since the last look. An idle server switches nothing. Where there is no archive, or no limit,
//! the thread rests until the settings change.

use crate::background::Background;
use crate::engine::Engine;
use std::sync::{Arc, Weak};
use txn::{Lsn, Micros};

impl Engine {
    /// Has old segments switched from now on.
    pub fn start_log_switcher(self: &Arc<Engine>) {
        self.begin_background("log switcher", self.log_switcher(), run);
    }

    /// How old a segment may become, where that is limited.
    fn archive_timeout(&self) -> Option<Micros> {
        let seconds = u64::try_from(self.server_settings().number("archive_timeout")).ok()?;
        let archives = self.manager().data().log().archive_counters().is_some();
        (archives && seconds > 0).then(|| Micros(seconds * 1_000_000))
    }
}

fn run(weak: &Weak<Engine>, own: &Background) {
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
        own.rest(&environment, due);
        let Some(engine) = weak.upgrade() else { return };
        let log = engine.manager().data().log();
        if own.is_stopping() || log.alive().is_err() {
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
