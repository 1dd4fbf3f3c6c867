//! `log_checkpoints`: a line when a checkpoint begins, and one that says what it has done (`LogCheckpointStart`,
//! `LogCheckpointEnd`). Figures of what there is none of (segments added, an estimate of the next distance) are those of this
//! one, or 0.

use crate::log;
use sql::Severity;
use sql::environment::{CheckpointReason, CheckpointReport, CheckpointWatch};
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells the log of checkpoints, while it is to.
#[derive(Debug, Default)]
pub struct CheckpointLog(AtomicBool);

impl CheckpointLog {
    /// Whether it is to, from now on.
    pub fn set(&self, on: bool) {
        self.0.store(on, Ordering::Relaxed);
    }

    fn say(&self, message: impl FnOnce() -> String) {
        if self.0.load(Ordering::Relaxed) {
            log::tell(&log::notice(Severity::Log, message()));
        }
    }
}

/// Seconds with three places.
fn seconds(micros: u64) -> String {
    format!("{}.{:03} s", micros / 1_000_000, micros / 1000 % 1000)
}

impl CheckpointWatch for CheckpointLog {
    fn begins(&self, why: CheckpointReason) {
        let flags = match why {
            CheckpointReason::Time => "time",
            CheckpointReason::Log => "wal",
            CheckpointReason::Asked => "immediate force wait",
            CheckpointReason::Shutdown => "shutdown immediate",
        };
        self.say(|| format!("checkpoint starting: {flags}"));
    }

    fn ended(&self, report: &CheckpointReport) {
        let CheckpointReport {
            pages,
            pool_frames,
            recycled,
            write_us,
            sync_us,
            total_us,
            distance,
        } = *report;
        self.say(|| {
            let share = pages as f64 * 100.0 / f64::from(pool_frames.max(1));
            let (write, sync, total) = (seconds(write_us), seconds(sync_us), seconds(total_us));
            let distance = distance / 1024;
            format!(
                "checkpoint complete: wrote {pages} buffers ({share:.1}%); 0 WAL file(s) added, 0 removed, {recycled} recycled; \
                 write={write}, sync={sync}, total={total}; sync files=1, longest={sync}, average={sync}; \
                 distance={distance} kB, estimate={distance} kB"
            )
        });
    }
}
