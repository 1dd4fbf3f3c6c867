//! A session's task: run by one thread at a time, and once more if it is woken meanwhile.

use super::Shared;
use crate::sync::locked;
use mio::Interest;
use socket2::Socket as SystemSocket;
use std::fmt;
use std::future::Future;
use std::os::fd::{AsRawFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Where a task is in its life. A wake-up is never lost: each of these says what one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Waits to be woken, and is then queued.
    Idle,
    /// In a loop's queue: it will run, so another wake-up adds nothing.
    Queued,
    /// Being run; a wake-up has it run again.
    Running,
    /// Being run, and to be queued again after.
    Again,
    /// Over.
    Done,
}

/// No loop.
pub(super) const NOWHERE: usize = usize::MAX;

/// What a task and its socket know of each other.
#[derive(Debug)]
pub(super) struct Link {
    /// Whether the socket may have something to read: set by the loop's driver, taken by the reader *before* it reads, so
    /// that what comes after the read is seen too.
    pub readable: AtomicBool,
    /// The client will send no more, or the connection is broken: to be read for ever.
    pub closed: AtomicBool,
    /// The loop whose queue the task goes to. A moment behind `place`, a task is only run by another loop's thread.
    pub home: AtomicUsize,
    /// The loop that it goes to after its run, as its client is on that one's core; `NOWHERE` if it stays.
    follow: AtomicUsize,
    /// The loop in whose outbox an answer of the task waits, or `NOWHERE`.
    pub outbox: AtomicUsize,
    /// Whether `debt` is not empty.
    pub owes: AtomicBool,
    /// What the system has not taken of an answer that has left the outbox.
    pub debt: Mutex<Vec<u8>>,
    /// Whether the task took long the last time that others' answers might have waited for it.
    pub slow: AtomicBool,
    /// Where the socket is watched.
    pub place: Mutex<Place>,
}

/// Where a socket is watched.
#[derive(Debug)]
pub(super) struct Place {
    /// The loop.
    pub index: usize,
    /// The loop's name for it.
    pub token: usize,
    /// The socket; none once it is closed, as the system gives its number to others.
    pub fd: Option<RawFd>,
    /// Whether the client's readiness to take more is watched too.
    pub writable: bool,
}

impl Place {
    /// What is watched of the socket.
    pub fn interest(&self) -> Interest {
        if self.writable { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE }
    }
}

impl Link {
    /// Of a socket that loop `index` is going to watch.
    pub fn new(index: usize, socket: &SystemSocket) -> Link {
        let fd = Some(socket.as_raw_fd());
        Link {
            readable: AtomicBool::new(true),
            closed: AtomicBool::new(false),
            home: AtomicUsize::new(index),
            follow: AtomicUsize::new(NOWHERE),
            outbox: AtomicUsize::new(NOWHERE),
            owes: AtomicBool::new(false),
            debt: Mutex::default(),
            slow: AtomicBool::new(false),
            place: Mutex::new(Place { index, token: 0, fd, writable: false }),
        }
    }
}

impl Link {
    /// After this run the task goes to loop `index`.
    pub fn follow_to(&self, index: usize) {
        self.follow.store(index, Ordering::Relaxed);
    }

    /// Where it goes to after the run that has ended.
    pub fn follows_to(&self) -> Option<usize> {
        // Most runs find nothing, and need no exclusive hold of the line.
        if self.follow.load(Ordering::Relaxed) == NOWHERE {
            return None;
        }
        Some(self.follow.swap(NOWHERE, Ordering::Relaxed)).filter(|&index| index != NOWHERE)
    }

    /// The socket has to send this itself, before anything else.
    pub fn owe(&self, bytes: &[u8]) {
        locked(&self.debt).extend_from_slice(bytes);
        self.owes.store(true, Ordering::Release);
    }
}

/// The task.
pub(super) struct Task {
    phase: Mutex<Phase>,
    /// None once it is over.
    future: Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>,
    link: Arc<Link>,
    shared: Arc<Shared>,
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").field("phase", &self.phase).finish_non_exhaustive()
    }
}

impl Task {
    /// That has not been woken yet.
    pub fn new(
        future: impl Future<Output = ()> + Send + 'static,
        link: Arc<Link>,
        shared: Arc<Shared>,
    ) -> Task {
        let future = Mutex::new(Some(Box::pin(future) as Pin<Box<dyn Future<Output = ()> + Send>>));
        Task { phase: Mutex::new(Phase::Idle), future, link, shared }
    }

    /// What it shares with its socket.
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Notes that it shall run; whether it has to be queued for that.
    pub fn notify(&self) -> bool {
        let mut phase = locked(&self.phase);
        let was = *phase;
        *phase = match was {
            Phase::Idle => Phase::Queued,
            Phase::Running => Phase::Again,
            Phase::Queued | Phase::Again | Phase::Done => was,
        };
        was == Phase::Idle
    }

    /// Runs it as far as it goes. Called by whoever took it out of a queue.
    pub fn run(self: &Arc<Self>) {
        *locked(&self.phase) = Phase::Running;
        let waker = Waker::from(Arc::clone(self));
        let mut future = locked(&self.future);
        let Some(running) = future.as_mut() else { return };
        let polled = catch_unwind(AssertUnwindSafe(|| {
            running.as_mut().poll(&mut Context::from_waker(&waker))
        }));
        if polled.is_err() {
            tracing::error!("a session's task has panicked: its connection is closed");
        }
        if let Ok(Poll::Pending) = polled {
            drop(future);
            let mut phase = locked(&self.phase);
            let again = *phase == Phase::Again;
            *phase = if again { Phase::Queued } else { Phase::Idle };
            drop(phase);
            if again {
                self.queue();
            }
        } else {
            // Its socket is closed with it.
            *future = None;
            *locked(&self.phase) = Phase::Done;
            let place = locked(&self.link.place);
            self.shared.loops[place.index].forget(place.token);
        }
    }

    fn queue(self: &Arc<Self>) {
        self.shared.loops[self.link.home.load(Ordering::Relaxed)].push(Arc::clone(self));
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.notify() {
            self.queue();
        }
    }
}
