//! The threads that drive loops: as many as are needed at a time, kept for a while after.

use super::Shared;
use crate::process::indispensable;
use crate::sync::locked;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A thread's stack, in bytes; what is not used is never touched.
const STACK_BYTES: usize = 16 << 20;
/// How long a thread without work is kept.
const KEPT: Duration = Duration::from_secs(10);

/// A loop to be driven.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// Which one.
    pub index: usize,
    /// The turn of driving it; over once the loop has another.
    pub turn: u64,
}

/// The threads.
#[derive(Debug)]
pub(super) struct Threads {
    pool: Mutex<Pool>,
    changed: Condvar,
    limit: usize,
    timers: tokio::runtime::Handle,
}

#[derive(Debug, Default)]
struct Pool {
    jobs: VecDeque<Job>,
    idle: usize,
    alive: usize,
    stopped: bool,
}

impl Threads {
    /// At most `limit`, each in the context of `timers`.
    pub fn new(limit: usize, timers: tokio::runtime::Handle) -> Threads {
        Threads { pool: Mutex::default(), changed: Condvar::new(), limit, timers }
    }

    /// Has a thread do `job`.
    ///
    /// # Errors
    /// All are busy, and the system or the limit allows no other.
    pub fn hand(&self, shared: &Arc<Shared>, job: Job) -> io::Result<()> {
        let mut pool = locked(&self.pool);
        if pool.idle > pool.jobs.len() {
            pool.jobs.push_back(job);
            drop(pool);
            self.changed.notify_one();
            return Ok(());
        }
        if pool.alive >= self.limit {
            return Err(io::ErrorKind::QuotaExceeded.into());
        }
        let shared = Arc::clone(shared);
        let builder = std::thread::Builder::new().name("worker".to_owned()).stack_size(STACK_BYTES);
        builder.spawn(move || {
            // What panics in a session ends there: see `task.rs`.
            indispensable("worker", || shared.threads.work(&shared, job));
        })?;
        pool.alive += 1;
        Ok(())
    }

    /// Threads without work end; the others when they have none left.
    pub fn stop(&self) {
        locked(&self.pool).stopped = true;
        self.changed.notify_all();
    }

    fn work(&self, shared: &Arc<Shared>, first: Job) {
        let _context = self.timers.enter();
        // A thread is begun by another, and is bound to the core that this one is.
        if let Some(cores) = &shared.cores {
            cores.free(None);
        }
        let mut next = Some(first);
        while let Some(job) = next {
            shared.drive(job);
            next = self.wait_for_job();
        }
    }

    /// None once there has been none for long.
    fn wait_for_job(&self) -> Option<Job> {
        let mut pool = locked(&self.pool);
        pool.idle += 1;
        loop {
            let job = pool.jobs.pop_front();
            if job.is_some() || pool.stopped {
                pool.idle -= 1;
                pool.alive -= usize::from(job.is_none());
                return job;
            }
            let waited = self.changed.wait_timeout(pool, KEPT);
            let (held, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            pool = held;
            // A job that is there is for somebody who is idle: whoever leaves must leave as many as there are.
            if timeout.timed_out() && pool.jobs.is_empty() {
                pool.idle -= 1;
                pool.alive -= 1;
                return None;
            }
        }
    }
}
