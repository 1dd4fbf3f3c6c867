//! One event loop: its sockets, and the tasks that are ready to run.
//!
//! Everything is under one lock, held for a few instructions: whose turn it is to drive, the queue, and the poller, which
//! only the driver takes out. A thread whose turn is over finds out when it next asks what to do, and has touched
//! nothing of the loop since.

use super::outbox::Outbox;
use super::task::Task;
use crate::sync::locked;
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use rustix::thread::Pid;
use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Events taken from the system at a time.
const EVENTS: usize = 256;
/// Tasks run between two looks at the sockets.
const BATCH: u32 = 64;
/// The token of the bell, which others ring when they have queued a task.
const BELL: Token = Token(usize::MAX);

/// The loop.
#[derive(Debug)]
pub(super) struct EventLoop {
    registry: Registry,
    bell: Waker,
    /// How many connections it has.
    connections: AtomicUsize,
    state: Mutex<State>,
    /// Taken before `state`, never under it.
    outbox: Mutex<Outbox>,
}

#[derive(Debug)]
struct State {
    /// Who drives it: a thread that has been handed this number.
    turn: u64,
    /// The thread of this turn, once it has begun.
    driver: Option<Pid>,
    ready: VecDeque<Arc<Task>>,
    /// Connections by token.
    connections: Vec<Option<Arc<Task>>>,
    free: Vec<usize>,
    /// None while the driver waits in it.
    poller: Option<Box<Poller>>,
    /// Whether the driver waits, so that the bell has to be rung.
    waits: bool,
    /// Whether the driver runs a task.
    runs: bool,
    /// Changes whenever the driver asks what to do.
    steps: u64,
    /// Tasks that have been run.
    ran: u64,
    /// The loop that the next connection goes to.
    relocate_to: Option<usize>,
    /// The loop that all connections go to, as this one is not in use.
    leave_to: Option<usize>,
}

/// What waits for sockets.
#[derive(Debug)]
pub(super) struct Poller {
    poll: Poll,
    events: Events,
}

/// What the driver does next.
pub(super) enum Next {
    /// Run the task.
    Run {
        task: Arc<Task>,
        /// The loop that gets its connection after that.
        target: Option<usize>,
        /// Whether others are run before the sockets are looked at.
        more: bool,
    },
    /// Wait so long.
    Poll(Box<Poller>, Option<Duration>),
    /// Nothing: another thread drives.
    Gone,
}

/// How a loop does, as its relief sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    /// Whose turn it is.
    pub turn: u64,
    /// Changes whenever the driver asks what to do.
    pub steps: u64,
    /// Tasks that have been run.
    pub ran: u64,
    /// Whether the driver runs a task.
    pub runs: bool,
    /// Whether it waits for sockets.
    pub waits: bool,
    /// Tasks that wait for it.
    pub queued: usize,
    /// Connections it has.
    pub connections: usize,
}

impl EventLoop {
    /// Loop `index`, without connections, in turn 0.
    pub fn new(index: usize) -> io::Result<EventLoop> {
        let poll = Poll::new()?;
        let registry = poll.registry().try_clone()?;
        let bell = Waker::new(&registry, BELL)?;
        let state = State {
            turn: 0,
            driver: None,
            ready: VecDeque::new(),
            connections: Vec::new(),
            free: Vec::new(),
            poller: Some(Box::new(Poller { poll, events: Events::with_capacity(EVENTS) })),
            waits: false,
            runs: false,
            steps: 0,
            ran: 0,
            relocate_to: None,
            leave_to: None,
        };
        let connections = AtomicUsize::new(0);
        let outbox = Mutex::new(Outbox::new(index));
        Ok(EventLoop { registry, bell, connections, state: Mutex::new(state), outbox })
    }

    /// How many connections it has.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// A thread begins to drive it, if the turn is still its own.
    pub fn driven_by(&self, turn: u64, driver: Pid) {
        let mut state = locked(&self.state);
        if state.turn == turn {
            state.driver = Some(driver);
        }
    }

    /// What the driver of `turn` does next; `left` counts down to the next look at the sockets.
    pub fn next(&self, turn: u64, left: &mut u32) -> Next {
        Self::step(locked(&self.state), turn, left)
    }

    fn step(mut state: MutexGuard<'_, State>, turn: u64, left: &mut u32) -> Next {
        if state.turn != turn {
            return Next::Gone;
        }
        state.steps += 1;
        if *left > 0
            && let Some(task) = state.ready.pop_front()
        {
            *left -= 1;
            state.runs = true;
            state.ran += 1;
            let target = state.relocate_to.take().or(state.leave_to);
            let more = *left > 0 && !state.ready.is_empty();
            return Next::Run { task, target, more };
        }
        state.runs = false;
        let Some(poller) = state.poller.take() else { return Next::Gone };
        *left = BATCH;
        state.waits = state.ready.is_empty();
        let patience = if state.waits { None } else { Some(Duration::ZERO) };
        drop(state);
        Next::Poll(poller, patience)
    }

    /// Waits for sockets, and queues the tasks of those that are ready; then what to do next, as [`EventLoop::next`] has it.
    pub fn wait(
        &self,
        mut poller: Box<Poller>,
        patience: Option<Duration>,
        turn: u64,
        left: &mut u32,
    ) -> Next {
        let polled = poller.poll.poll(&mut poller.events, patience);
        let mut state = locked(&self.state);
        state.waits = false;
        let State { connections, ready, .. } = &mut *state;
        match polled {
            Ok(()) => {
                for event in &poller.events {
                    let Some(Some(task)) = connections.get(event.token().0) else { continue };
                    // Release: whoever takes the flag reads what the system had when it said so.
                    if event.is_readable() || event.is_read_closed() || event.is_error() {
                        task.link().readable.store(true, Ordering::Release);
                    }
                    if event.is_read_closed() || event.is_error() {
                        task.link().closed.store(true, Ordering::Release);
                    }
                    if task.notify() {
                        ready.push_back(Arc::clone(task));
                    }
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The system refuses what it has allowed since the start: nothing can be read any more.
            Err(error) => panic!("could not wait for sockets: {error}"),
        }
        state.poller = Some(poller);
        Self::step(state, turn, left)
    }

    /// Queues a task.
    pub fn push(&self, task: Arc<Task>) {
        let mut state = locked(&self.state);
        state.ready.push_back(task);
        let waits = std::mem::take(&mut state.waits);
        drop(state);
        if waits && let Err(error) = self.bell.wake() {
            tracing::error!(%error, "could not wake a worker");
        }
    }

    /// Takes a new connection.
    pub fn adopt(&self, task: &Arc<Task>) -> io::Result<()> {
        let token = self.keep(task);
        let mut place = locked(&task.link().place);
        place.token = token;
        let Some(fd) = place.fd else { return Ok(()) };
        self.watch(fd, token, place.interest()).inspect_err(|_| self.forget(token))
    }

    /// Names a connection.
    pub fn keep(&self, task: &Arc<Task>) -> usize {
        self.connections.fetch_add(1, Ordering::Relaxed);
        let mut state = locked(&self.state);
        let kept = Some(Arc::clone(task));
        if let Some(token) = state.free.pop() {
            state.connections[token] = kept;
            token
        } else {
            state.connections.push(kept);
            state.connections.len() - 1
        }
    }

    /// Forgets a connection. What the system still says of it finds nobody, or wakes another in vain.
    pub fn forget(&self, token: usize) {
        let mut state = locked(&self.state);
        let task = state.connections.get_mut(token).and_then(Option::take);
        if task.is_some() {
            state.free.push(token);
            self.connections.fetch_sub(1, Ordering::Relaxed);
        }
        drop(state);
        // A task may be freed here, and is not under the lock.
        drop(task);
    }

    /// Watches a socket.
    pub fn watch(&self, fd: RawFd, token: usize, interest: Interest) -> io::Result<()> {
        self.registry.register(&mut SourceFd(&fd), Token(token), interest)
    }

    /// Watches it for other things than before.
    pub fn watch_for(&self, fd: RawFd, token: usize, interest: Interest) -> io::Result<()> {
        self.registry.reregister(&mut SourceFd(&fd), Token(token), interest)
    }

    /// Watches it no longer.
    pub fn unwatch(&self, fd: RawFd) -> io::Result<()> {
        self.registry.deregister(&mut SourceFd(&fd))
    }

    /// Ends a turn, if it is still this one; the next. `leave` is called with the thread that drove, before that can take
    /// another loop over.
    pub fn next_turn(&self, turn: u64, leave: impl FnOnce(Pid)) -> Option<u64> {
        let mut state = locked(&self.state);
        // A driver that waits needs no relief, and has the poller.
        if state.turn != turn || state.poller.is_none() {
            return None;
        }
        state.turn += 1;
        state.runs = false;
        if let Some(driver) = state.driver {
            leave(driver);
        }
        let next = state.turn;
        drop(state);
        self.outbox().turn_to(next);
        Some(next)
    }

    /// Nobody could be found for the next turn: it is the last one's again.
    pub fn back_to(&self, turn: u64) {
        let mut state = locked(&self.state);
        state.turn = turn;
        state.runs = true;
        drop(state);
        self.outbox().turn_to(turn);
    }

    /// Answers that wait.
    pub fn outbox(&self) -> MutexGuard<'_, Outbox> {
        locked(&self.outbox)
    }

    /// The turn ends, and there is no other.
    pub fn stop(&self) {
        locked(&self.state).turn = u64::MAX;
        // A loop that nobody wakes sleeps on, and does no harm.
        let _ = self.bell.wake();
    }

    /// How it does.
    pub fn look(&self) -> Look {
        let state = locked(&self.state);
        Look {
            turn: state.turn,
            steps: state.steps,
            ran: state.ran,
            runs: state.runs,
            waits: state.waits,
            queued: state.ready.len(),
            connections: self.connections(),
        }
    }

    /// The next connection whose task has run goes to loop `target`.
    pub fn relocate_to(&self, target: usize) {
        locked(&self.state).relocate_to = Some(target);
    }

    /// Every connection whose task has run goes to loop `target`; none does without one.
    pub fn leave_to(&self, target: Option<usize>) {
        locked(&self.state).leave_to = target;
    }
}
