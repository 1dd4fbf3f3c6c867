//! What a session brings to every wait it may have to do.

use crate::Error;
use crate::lock::partition::PartitionSet;
use crate::lock::report::LockWait;
use crate::sync::{Arc, Mutex, rank};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use storage::{Cancel, Environment, Micros, WaitCell, WaitEvent, Waiter, Woken};

/// One session's side of waiting: how to stop it, how long it may take, and what others see of it.
#[derive(Debug, Default)]
pub struct SessionWait {
    /// Tells this session from all others of the process.
    number: u64,
    /// The session's number as clients know it (`pg_backend_pid()`).
    pub pid: u32,
    /// Raised by cancel messages, timeouts and shutdown. The reasons are the owner's.
    pub cancel: Cancel,
    /// `lock_timeout`, in milliseconds; 0 is none.
    pub lock_timeout_ms: AtomicU32,
    /// `deadlock_timeout`, in milliseconds: how long a wait lasts before a cycle is looked for.
    pub deadlock_timeout_ms: AtomicU32,
    /// `log_lock_waits`: long waits for locks are told of.
    pub log_lock_waits: AtomicBool,
    /// Whom they are told.
    pub lock_wait_log: OnceLock<fn(&LockWait)>,
    /// The [`storage::WaitEvent`] it waits on now, 0 for none: `pg_stat_activity` shows it.
    pub event: AtomicU32,
    /// The newest LSN that a commit which failed had seen: the session's next snapshot shows it.
    pub failed_after: AtomicU64,
    /// When the wait began, in microseconds of the monotonic clock.
    pub since: AtomicU64,
    /// Its waits for locks.
    pub lock_waits: LockWaits,
    /// The age of the session's last transaction, if it died of it; 0 if not. The next one has it again.
    pub(crate) died_at: AtomicU64,
    /// Where its last transaction was and wanted to be, if it was refused for leaving its partitions: the next one begins there.
    pub(crate) learnt: Mutex<PartitionSet, { rank::PARTITIONS }>,
}

/// How often a session has waited for locks, and how long: only its own thread counts.
#[derive(Debug, Default)]
pub struct LockWaits {
    count: AtomicU64,
    micros: AtomicU64,
}

impl LockWaits {
    fn add(&self, waited: Micros) {
        // Relaxed: nobody concludes anything from what he reads about other memory.
        for (cell, by) in [(&self.count, 1), (&self.micros, waited.0)] {
            cell.store(cell.load(Ordering::Relaxed) + by, Ordering::Relaxed);
        }
    }

    /// How many, and how long together, in microseconds.
    #[must_use]
    pub fn get(&self) -> (u64, u64) {
        (self.count.load(Ordering::Relaxed), self.micros.load(Ordering::Relaxed))
    }
}

impl Waiter for SessionWait {
    fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    fn show(&self, event: u32) -> u32 {
        self.event.swap(event, Ordering::Relaxed)
    }
}

impl SessionWait {
    /// Of the session that clients know as `pid`, with PostgreSQL's default timeouts.
    #[must_use]
    pub fn new(pid: u32) -> SessionWait {
        /// Sessions so far.
        static SESSIONS: AtomicU64 = AtomicU64::new(0);
        let number = SESSIONS.fetch_add(1, Ordering::Relaxed) + 1;
        let deadlock_timeout_ms = AtomicU32::new(1000);
        SessionWait { number, pid, deadlock_timeout_ms, ..SessionWait::default() }
    }

    /// Tells this session from all others of the process; 0 of none.
    #[inline]
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// A wait for a lock has ended.
    pub(crate) fn waited(&self, waited: Micros) {
        self.lock_waits.add(waited);
    }

    /// Tells of a long wait.
    pub(crate) fn tell(&self, wait: &LockWait) {
        if let Some(log) = self.lock_wait_log.get() {
            log(wait);
        }
    }

    /// The error of the layer above, with the cancel's reason, where a wait of the layer below has ended with it.
    pub(crate) fn cancelled_if_so(&self, error: Error) -> Error {
        match error {
            Error::Storage(storage::Error::Cancelled) => {
                Error::Cancelled(self.cancel.requested().unwrap_or_default())
            }
            error => error,
        }
    }

    /// Waits on `cell` under the session's cancel, and shows it meanwhile.
    pub(crate) fn rest(
        &self,
        env: &Environment,
        event: WaitEvent,
        cell: &Arc<WaitCell>,
        deadline: Option<Micros>,
    ) -> Woken {
        if self.event.swap(event as u32, Ordering::Relaxed) == 0 {
            self.since.store(env.clock.now().0, Ordering::Relaxed);
        }
        let woken = env.wait(event, cell, deadline, Some(&self.cancel));
        self.event.store(0, Ordering::Relaxed);
        woken
    }
}
