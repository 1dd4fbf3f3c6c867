//! The workers' runtime: an event loop for each core, and threads that take turns at driving them.
//!
//! A session is a task on one loop, together with its socket. Whoever drives the loop waits for its sockets, runs the
//! tasks that became ready, one after another, and waits again: a request and its answer are one wake-up, one read and one
//! write, and no other thread hears of them. What a general runtime does between two polls (timers, queues that
//! others steal from, figures of its own) costs more than a short statement; measured in `docs/design/0005-runtime.md`.
//!
//! What it promises:
//!
//! - **A task runs on one thread at a time**, and once more if it is woken while it runs (`task.rs`).
//! - **A loop always has a driver.** A task that is about to wait inside the engine gives way first
//!   ([`give_way`]): another thread takes the loop over, and this one ends the task beside it. A task that computes
//!   for long is noticed by `relief.rs`, which takes the loop away from its thread. So a thousand sessions may wait
//!   for one row, or some of them sort, and the others are still answered.
//! - **A session is served on the core of its client**, where that is known and does the most work: the system says at
//!   which core a connection's packets arrive, and that core's loop has the connection. On one machine this is the core
//!   on which the client runs, so that neither side has to wake another core (`docs/design/0005-runtime.md`).
//! - **No core rests while sessions queue**: else, sessions begin on one loop; where they queue at it while a core has
//!   nothing to do, another comes into use (`spread.rs`). Of the loops in use one that has had more to do than it could,
//!   next to one with nothing, gives it a connection, for good.
//! - **Answers of sessions that are ready together leave together**, in one system call (`outbox.rs`).
//! - **Nothing polls**: with nothing to do all threads sleep in the kernel.
//!
//! Timers are those of the desk's tokio runtime, whose context worker threads have.

mod cores;
mod event_loop;
mod outbox;
mod prompt;
mod relief;
mod socket;
mod spread;
mod submission;
mod task;
#[cfg(test)]
mod tests;
mod threads;

use crate::sync::locked;
use cores::Cores;
use event_loop::{EventLoop, Next};
use relief::Relief;
use rustix::thread::gettid;
use socket2::Socket as SystemSocket;
use spread::Placement;
use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::time::Instant;
use task::{Link, Task};
use threads::{Job, Threads};

pub use socket::{Aside, Socket};

thread_local! {
    /// The loop that the thread drives, while it runs one of its tasks.
    static DRIVING: RefCell<Option<(Arc<Shared>, Job)>> = const { RefCell::new(None) };
    /// Whether the task that the thread runs is the only one that its loop has run for a while.
    static ALONE: Cell<bool> = const { Cell::new(false) };
    /// Since when answers wait in the outbox of the loop that the thread drives.
    static GATHERED: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Whether the task that the thread runs may leave its answer there.
    static GATHERS: Cell<bool> = const { Cell::new(false) };
}

/// A task is alone at its loop after so many runs without another's.
const ALONE_AFTER: u32 = 32;

/// The runtime. Dropped, it runs nothing more.
#[derive(Debug)]
pub struct Runtime {
    shared: Arc<Shared>,
}

/// What its threads share.
#[derive(Debug)]
struct Shared {
    loops: Box<[EventLoop]>,
    /// The core of each loop; none where they are not as many.
    cores: Option<Cores>,
    /// Connections of which it is known where their packets arrive.
    flows: AtomicUsize,
    /// How many of the loops are in use, or 0 where sessions are on those of their clients' cores.
    placement: AtomicUsize,
    threads: Threads,
    relief: Relief,
}

impl Runtime {
    /// With so many loops and at most so many threads. Timers are `timers`'.
    ///
    /// # Errors
    /// The system has no thread or no file left.
    pub fn start(
        loops: usize,
        threads: usize,
        timers: tokio::runtime::Handle,
    ) -> io::Result<Runtime> {
        let loops =
            (0..loops.max(1)).map(EventLoop::new).collect::<io::Result<Box<[EventLoop]>>>()?;
        // A share of a machine's time, or a setting, is no share of its cores.
        let cores = Cores::of_process()?;
        let cores = (cores.count() == loops.len() && loops.len() > 1).then_some(cores);
        let shared = Arc::new(Shared {
            loops,
            cores,
            flows: AtomicUsize::new(0),
            placement: AtomicUsize::new(1),
            threads: Threads::new(threads, timers),
            relief: Relief::new(),
        });
        for index in 0..shared.loops.len() {
            shared.threads.hand(&shared, Job { index, turn: 0 })?;
        }
        relief::watch(&shared)?;
        Ok(Runtime { shared })
    }

    /// Serves a connection by the future that `serve` makes of it, on the loop of the core at which its packets arrive,
    /// or on the loop in use that has the fewest.
    ///
    /// # Errors
    /// The system does not watch the socket.
    pub fn spawn<F>(
        &self,
        socket: impl Into<SystemSocket>,
        serve: impl FnOnce(Socket) -> F,
    ) -> io::Result<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let socket = socket.into();
        socket.set_nonblocking(true)?;
        let flow = self.shared.core_of(&socket);
        let index = flow.filter(|_| self.shared.follows()).unwrap_or_else(|| {
            let fewest = |&index: &usize| self.shared.loops[index].connections();
            (0..self.shared.in_use()).min_by_key(fewest).unwrap_or_default()
        });
        let link = Arc::new(Link::new(index, &socket));
        let socket =
            Socket::new(socket, flow.is_some(), Arc::clone(&link), Arc::clone(&self.shared));
        let task = Arc::new(Task::new(serve(socket), Arc::clone(&link), Arc::clone(&self.shared)));
        // A first run reads the socket whatever its flag says, so nothing that came before is missed.
        self.shared.loops[index].adopt(&task)?;
        task.wake_by_ref();
        Ok(())
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shared.relief.stop();
        for event_loop in &self.shared.loops {
            event_loop.stop();
        }
        self.shared.threads.stop();
    }
}

impl Shared {
    /// Drives a loop until another thread has taken it over.
    fn drive(self: &Arc<Self>, job: Job) {
        let event_loop = &self.loops[job.index];
        event_loop.driven_by(job.turn, gettid());
        let mut bound = false;
        DRIVING.set(Some((Arc::clone(self), job)));
        let (mut left, mut last, mut runs) = (0, std::ptr::null(), 0);
        let mut next = event_loop.next(job.turn, &mut left);
        loop {
            match next {
                Next::Run { task, target, more } => {
                    // The address only tells one task from another.
                    runs = if Arc::as_ptr(&task) == last { runs + 1 } else { 0 };
                    last = Arc::as_ptr(&task);
                    ALONE.set(runs >= ALONE_AFTER);
                    run_beside_answers(event_loop, &task, more);
                    ALONE.set(false);
                    if let Some(target) = task.link().follows_to().or(target) {
                        self.relocate(&task, target);
                    }
                    next = event_loop.next(job.turn, &mut left);
                }
                Next::Poll(poller, patience) => {
                    send_gathered(event_loop);
                    if let Some(cores) = &self.cores
                        && bound != self.follows()
                    {
                        bound = !bound;
                        if bound { cores.bind(job.index) } else { cores.free(None) }
                    }
                    next = event_loop.wait(poller, patience, job.turn, &mut left);
                    self.relief.wake();
                }
                Next::Gone => break,
            }
        }
        DRIVING.set(None);
        send_gathered(event_loop);
    }

    /// Has another thread drive the loop, if it is still in this turn. The one that did runs where the system puts it.
    fn hand_over(self: &Arc<Self>, job: Job) -> io::Result<()> {
        let free = |driver| {
            if let Some(cores) = &self.cores {
                cores.free(Some(driver));
            }
        };
        let Some(turn) = self.loops[job.index].next_turn(job.turn, free) else { return Ok(()) };
        let handed = self.threads.hand(self, Job { index: job.index, turn });
        if handed.is_err() {
            self.loops[job.index].back_to(job.turn);
        }
        handed
    }

    /// Where sessions are.
    fn placement(&self) -> Placement {
        match self.placement.load(Ordering::Relaxed) {
            0 => Placement::Followed,
            loops => Placement::Few(loops),
        }
    }

    /// Whether they are on the loops of their clients' cores.
    fn follows(&self) -> bool {
        self.placement() == Placement::Followed
    }

    /// How many loops are in use.
    fn in_use(&self) -> usize {
        match self.placement() {
            Placement::Followed => self.loops.len(),
            Placement::Few(loops) => loops,
        }
    }

    /// Has sessions elsewhere; those that have to move do so as they run.
    fn place(&self, wanted: Placement) {
        // A connection that is placed as before meanwhile leaves its loop like the others.
        let few = match wanted {
            Placement::Followed => 0,
            Placement::Few(loops) => loops,
        };
        self.placement.store(few, Ordering::Relaxed);
        for (index, event_loop) in self.loops.iter().enumerate() {
            event_loop.leave_to((few > 0 && index >= few).then(|| index % few));
        }
    }

    /// The loop of the core at which a connection's packets arrive; none where that is not known.
    fn core_of(&self, socket: &SystemSocket) -> Option<usize> {
        self.cores.as_ref()?.find(socket.cpu_affinity().ok()?)
    }

    /// Gives a connection to another loop.
    fn relocate(&self, task: &Arc<Task>, target: usize) {
        let mut place = locked(&task.link().place);
        let (Some(fd), source) = (place.fd, place.index) else { return };
        if source == target || self.loops[source].unwatch(fd).is_err() {
            return;
        }
        // Watched anew, a socket that is ready says so at once: nothing is missed between the two.
        let token = self.loops[target].keep(task);
        if self.loops[target].watch(fd, token, place.interest()).is_ok() {
            self.loops[source].forget(place.token);
            (place.index, place.token) = (target, token);
            task.link().home.store(target, Ordering::Relaxed);
        } else {
            self.loops[target].forget(token);
            if let Err(error) = self.loops[source].watch(fd, place.token, place.interest()) {
                tracing::error!(%error, "a connection is lost: its socket cannot be watched");
            }
        }
    }
}

/// Sends what waits in the outbox of the loop that the thread drives.
fn send_gathered(event_loop: &EventLoop) {
    if GATHERED.take().is_some() {
        event_loop.outbox().send();
    }
}

/// Runs a task while answers wait, or may have to. It has to be known how long it takes only then.
fn run_beside_answers(event_loop: &EventLoop, task: &Arc<Task>, more: bool) {
    let slow = &task.link().slow;
    let was_slow = slow.load(Ordering::Relaxed);
    let mut began = None;
    if let Some(since) = GATHERED.get() {
        let now = Instant::now();
        if was_slow || now - since > outbox::PATIENCE {
            send_gathered(event_loop);
        }
        began = Some(now);
    } else if was_slow {
        began = Some(Instant::now());
    }
    GATHERS.set(more || GATHERED.get().is_some());
    task.run();
    GATHERS.set(false);
    if let Some(began) = began {
        let is_slow = began.elapsed() > outbox::PATIENCE;
        if is_slow != was_slow {
            slow.store(is_slow, Ordering::Relaxed);
        }
    }
}

/// Leaves an answer to be sent together with others', if there are or will be any, and it may wait; false if it has to be sent
/// at once.
fn gather(socket: &SystemSocket, link: &Arc<Link>, waker: &Waker, answer: &[u8]) -> bool {
    GATHERS.get()
        && DRIVING.with_borrow(|driving| {
            let Some((shared, job)) = driving else { return false };
            let mut outbox = shared.loops[job.index].outbox();
            let taken = outbox.take(job.turn, socket.as_raw_fd(), link, waker, answer);
            if taken && GATHERED.get().is_none() {
                GATHERED.set(Some(Instant::now()));
            }
            taken
        })
}

/// Whether the task that calls this has had its loop to itself for a while: then a short wait may be had in place, as
/// nobody else is kept waiting, and to be woken costs more. One that becomes long is relieved like a long statement.
#[must_use]
pub fn alone() -> bool {
    ALONE.get()
}

/// The thread is about to wait: what else it had to do another thread does. A thread that drives no loop, or none any
/// more, does nothing.
pub fn give_way() {
    let driving = DRIVING.with_borrow_mut(Option::take);
    if let Some((shared, job)) = driving
        && let Err(error) = shared.hand_over(job)
    {
        tracing::error!(%error, "no thread left: other sessions wait too");
        DRIVING.set(Some((shared, job)));
    }
}
