//! What a session brings to every wait it may have to do.

use std::sync::atomic::{AtomicU32, AtomicU64};
use storage::Cancel;

/// One session's side of waiting: how to stop it, how long it may take, and what others see of it.
#[derive(Debug, Default)]
pub struct SessionWait {
    /// The session's number as clients know it (`pg_backend_pid()`).
    pub pid: u32,
    /// Raised by cancel messages, timeouts and shutdown. The reasons are the owner's.
    pub cancel: Cancel,
    /// `lock_timeout`, in milliseconds; 0 is none.
    pub lock_timeout_ms: AtomicU32,
    /// `deadlock_timeout`, in milliseconds: how long a wait lasts before a cycle is looked for.
    pub deadlock_timeout_ms: AtomicU32,
    /// The [`storage::WaitEvent`] it waits on now, 0 for none: `pg_stat_activity` shows it.
    pub event: AtomicU32,
    /// When the wait began, in microseconds of the monotonic clock.
    pub since: AtomicU64,
}

impl SessionWait {
    /// Of the session that clients know as `pid`, with PostgreSQL's default timeouts.
    #[must_use]
    pub fn new(pid: u32) -> SessionWait {
        SessionWait { pid, deadlock_timeout_ms: AtomicU32::new(1000), ..SessionWait::default() }
    }
}
