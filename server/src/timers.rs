//! `statement_timeout`: one thread that stops statements which have run long enough.
//!
//! A statement runs inline on its worker, so nothing on that worker can watch it, and if all workers run statements no
//! task of the runtime can either: the timer is a thread of its own, asleep until the next deadline.
//!
//! Cost: to arm is one store and one load, mostly. A session is in the queue at most about once: the thread, when it
//! comes to an entry, looks at the session's *present* deadline, and puts it back, stops the statement, or forgets it.
//! So a million short statements with a long timeout leave one entry, and no polling.

use crate::peer::Peer;
use crate::process::indispensable;
use crate::sync::locked;
use sql::error::cancel;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// The timer.
#[derive(Debug)]
pub struct Timers {
    start: Instant,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    entries: BinaryHeap<Reverse<Entry>>,
    stopped: bool,
}

#[derive(Debug)]
struct Entry {
    at: u64,
    peer: Weak<Peer>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

impl Timers {
    /// Starts the thread; it ends with [`Timers::stop`].
    ///
    /// # Errors
    /// The system has no thread left.
    pub fn start() -> std::io::Result<Arc<Timers>> {
        let timers = Arc::new(Timers {
            start: Instant::now(),
            queue: Mutex::default(),
            changed: Condvar::new(),
        });
        let timer = Arc::clone(&timers);
        std::thread::Builder::new()
            .name("timeouts".to_owned())
            .spawn(move || indispensable("timeouts", || timer.run()))?;
        Ok(timers)
    }

    /// Ends the thread.
    pub fn stop(&self) {
        locked(&self.queue).stopped = true;
        self.changed.notify_one();
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    /// Stops the peer's statement in `limit_ms` milliseconds, unless it is disarmed before.
    pub fn arm(&self, peer: &Arc<Peer>, limit_ms: u32) {
        let at = self.now() + u64::from(limit_ms) * 1000;
        // SeqCst on all four accesses of `deadline` and `queued`: either this sees that the thread has taken the entry
        // out (and queues it anew), or the thread sees this deadline.
        peer.deadline.store(at, Ordering::SeqCst);
        let queued = peer.queued.load(Ordering::SeqCst);
        if queued == 0 || queued > at {
            let mut queue = locked(&self.queue);
            peer.queued.store(at, Ordering::SeqCst);
            let first = queue.entries.peek().is_none_or(|Reverse(entry)| at < entry.at);
            queue.entries.push(Reverse(Entry { at, peer: Arc::downgrade(peer) }));
            drop(queue);
            if first {
                self.changed.notify_one();
            }
        }
    }

    /// The statement has ended, whose time was running: the end of that is not the next one's.
    pub fn disarm(&self, peer: &Peer) {
        if peer.deadline.swap(0, Ordering::SeqCst) == 0 {
            // The thread has found the time over, and stops the statement before it lets go of the queue.
            drop(locked(&self.queue));
            peer.forget_timeout();
        }
    }

    fn run(&self) {
        let mut queue = locked(&self.queue);
        while !queue.stopped {
            let now = self.now();
            let due = match queue.entries.peek() {
                None => {
                    queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                    continue;
                }
                Some(Reverse(entry)) if entry.at > now => {
                    let span = Duration::from_micros(entry.at - now);
                    let waited = self.changed.wait_timeout(queue, span);
                    queue = waited.unwrap_or_else(PoisonError::into_inner).0;
                    continue;
                }
                Some(_) => queue.entries.pop().map(|Reverse(entry)| entry),
            };
            let Some(peer) = due.and_then(|entry| entry.peer.upgrade()) else { continue };
            peer.queued.store(0, Ordering::SeqCst);
            let deadline = peer.deadline.load(Ordering::SeqCst);
            if deadline == 0 {
                continue;
            }
            if deadline > now {
                peer.queued.store(deadline, Ordering::SeqCst);
                let peer = Arc::downgrade(&peer);
                queue.entries.push(Reverse(Entry { at: deadline, peer }));
                continue;
            }
            let taken =
                peer.deadline.compare_exchange(deadline, 0, Ordering::SeqCst, Ordering::SeqCst);
            match taken {
                Ok(_) => peer.cancel(cancel::STATEMENT_TIMEOUT),
                // Disarmed just now, and perhaps armed again.
                Err(0) => {}
                Err(again) => {
                    peer.queued.store(again, Ordering::SeqCst);
                    let peer = Arc::downgrade(&peer);
                    queue.entries.push(Reverse(Entry { at: again, peer }));
                }
            }
        }
    }
}
