//! A thread of the engine's own: it rests until it is due, is told to look at the settings again, or to end.
//!
//! What it does is its owner's (`autovacuum`, `log_switcher`), which know the engine; the engine knows only how they are told.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use txn::sync::{Mutex, lock, rank};
use txn::{Environment, Joinable, Micros, WaitCell, WaitEvent};

/// The process number of the launcher of autovacuum.
pub const LAUNCHER: u32 = 5;
/// The process number of its worker.
pub const WORKER: u32 = 6;
/// `backend_type` of the worker.
pub const WORKER_KIND: &str = "autovacuum worker";

/// How such a thread is told to do something.
#[derive(Default)]
pub struct Background {
    stop: AtomicBool,
    cell: Arc<WaitCell>,
    thread: Mutex<Option<Box<dyn Joinable>>, { rank::THREADS }>,
}

impl Background {
    /// Keeps the thread, for who ends it.
    pub fn runs(&self, thread: Box<dyn Joinable>) {
        *lock(&self.thread) = Some(thread);
    }

    /// Has the thread look again at what it goes by.
    pub fn wake(&self, environment: &Environment) {
        environment.wake(&self.cell);
    }

    /// Tells the thread to end.
    pub fn stop(&self, environment: &Environment) {
        self.stop.store(true, Ordering::Release);
        self.wake(environment);
    }

    /// Whether it has been told to end.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Waits until the thread has ended, if there is one.
    pub fn join(&self) {
        let thread = lock(&self.thread).take();
        if let Some(thread) = thread {
            thread.join();
        }
    }

    /// The thread's rest: until `due`, or until it is told something.
    pub fn rest(&self, environment: &Environment, due: Option<Micros>) {
        environment.wait(WaitEvent::Background, &self.cell, due, None);
    }
}
