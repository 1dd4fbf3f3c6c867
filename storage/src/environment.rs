//! Time, chance, disks and waiting are handed in: below `server` nobody else asks the system, so a seed replays a
//! failure.
//!
//! The engine is plain synchronous code and waits in one function only, [`Environment::wait`]. No latch, pin or
//! epoch guard is held across it. What a wait does is the environment's choice: threads park, a simulation lets its
//! scheduler pick who goes on.

use crate::breakdown::{self, Class};
use crate::device::Device;
use crate::id::Micros;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::sync::{Arc, Condvar, Mutex, lock, rank};
use crate::waiter;
use rustix::time::ClockId;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Wake, Waker};

/// Everything the engine asks of the world around it.
#[derive(Clone)]
pub struct Environment {
    /// Where files live.
    pub device: Arc<dyn Device>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Who runs, and who waits.
    pub scheduler: Arc<dyn Scheduler>,
    /// Where every random choice of the engine comes from.
    pub seed: u64,
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("seed", &self.seed).finish_non_exhaustive()
    }
}

/// The time.
pub trait Clock: Send + Sync {
    /// Monotonic time, since an arbitrary start.
    fn now(&self) -> Micros;
    /// Wall-clock time: microseconds since 2000-01-01 00:00:00 UTC, PostgreSQL's epoch.
    fn wall(&self) -> i64;
}

/// Who runs and who waits.
pub trait Scheduler: Send + Sync {
    /// Lets the calling thread rest until [`Scheduler::unpark`] is called for `cell` or the span `timeout` has passed.
    /// It may return early for no reason; an `unpark` that came before is not lost.
    fn park(&self, event: WaitEvent, cell: &WaitCell, timeout: Option<Micros>);
    /// Lets the thread that rests on `cell` go on, now or when it next parks.
    fn unpark(&self, cell: &WaitCell);
    /// Starts a background thread. It ends when its own owner tells it to.
    fn spawn(&self, name: &'static str, body: Box<dyn FnOnce() + Send>) -> Box<dyn Joinable>;
    /// The slot of the worker that is running: the index of "per worker" structures, below [`Scheduler::slots`].
    /// A transaction may take on one slot and give back on another.
    fn slot(&self) -> usize;
    /// How many slots there are.
    fn slots(&self) -> usize;
    /// A point at which a simulation may let another thread run; nothing in production.
    fn yield_point(&self) {}
    /// The instance has halted: nobody may be answered any more, and only recovery helps. A server ends its process here,
    /// idle or not; where this does nothing, everybody is told [`crate::Error::Halted`]. Called with locks held.
    fn halted(&self, _why: &str) {}
}

/// A background thread that can be waited for.
pub trait Joinable: Send {
    /// Waits for its end. A panic of the thread is passed on.
    fn join(self: Box<Self>);
}

/// What somebody waits for, under PostgreSQL's names (`pg_stat_activity.wait_event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum WaitEvent {
    /// A row lock held by another transaction.
    Tuple = 1,
    /// A table lock.
    Relation,
    /// Another transaction's end.
    TransactionId,
    /// An advisory lock.
    Advisory,
    /// A partition that another transaction is in.
    Partition,
    /// Log durability.
    WalSync,
    /// Room in the log ring.
    WalBuffer,
    /// Log space, to be freed by a checkpoint.
    WalSpace,
    /// A page on its way in or out.
    BufferIo,
    /// A free frame.
    BufferFree,
    /// The visible watermark.
    Watermark,
    /// A turn for a structure modification: a split, a merge.
    StructurePermit,
    /// A commit slot.
    CommitSlot,
    /// Other large commits, where the disk has no room for what both can need.
    CommitRoom,
    /// A tree that is to be freed, and that the collector is still in.
    TreeInUse,
    /// Room for versions or late commits.
    VersionSpace,
    /// The next round of a background thread.
    Background,
    /// A moment that a statement has asked for.
    Sleep,
    /// The end of a session that has been told to end.
    Termination,
    /// Whether a snapshot is safe for who only reads.
    SafeSnapshot,
    /// What a backup needs: the end of writes that began before it, the archive.
    Backup,
}

impl WaitEvent {
    /// What a wait for it is counted as: what is waited for belongs to whoever makes it, and all else is waiting for others.
    #[must_use]
    pub fn class(self) -> Class {
        match self {
            WaitEvent::WalSync | WaitEvent::WalBuffer | WaitEvent::WalSpace => Class::Logging,
            WaitEvent::BufferIo | WaitEvent::BufferFree => Class::Buffer,
            WaitEvent::Tuple
            | WaitEvent::Relation
            | WaitEvent::TransactionId
            | WaitEvent::Advisory
            | WaitEvent::Partition
            | WaitEvent::Watermark
            | WaitEvent::StructurePermit
            | WaitEvent::CommitSlot
            | WaitEvent::CommitRoom
            | WaitEvent::TreeInUse
            | WaitEvent::VersionSpace
            | WaitEvent::Background
            | WaitEvent::Sleep
            | WaitEvent::Termination
            | WaitEvent::SafeSnapshot
            | WaitEvent::Backup => Class::Wait,
        }
    }
}

/// Where one thread rests. Notified exactly when `state` says so; parking is the scheduler's business.
#[derive(Debug, Default)]
pub struct WaitCell {
    /// 1 once notified, 0 again when the waiter has seen it.
    notified: AtomicU32,
    /// For schedulers that park on a condition variable.
    parker: (Mutex<bool>, Condvar),
    /// For schedulers that keep a number of their own with the cell.
    tag: AtomicU64,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// Somebody called [`Environment::wake`].
    Notified,
    /// The deadline passed.
    TimedOut,
    /// The waiter's [`Cancel`] was raised.
    Cancelled,
}

impl WaitCell {
    /// A cell that nobody waits on.
    #[must_use]
    pub fn new() -> WaitCell {
        WaitCell::default()
    }

    /// The scheduler's own number for this cell.
    pub fn tag(&self) -> &AtomicU64 {
        &self.tag
    }

    /// Blocks the calling thread until [`WaitCell::release_thread`], or for `timeout`.
    pub fn block_thread(&self, timeout: Option<std::time::Duration>) {
        let mut released = lock(&self.parker.0);
        if !*released {
            released = match timeout {
                None => {
                    self.parker.1.wait(released).unwrap_or_else(std::sync::PoisonError::into_inner)
                }
                Some(span) => {
                    self.parker
                        .1
                        .wait_timeout(released, span)
                        .unwrap_or_else(std::sync::PoisonError::into_inner)
                        .0
                }
            };
        }
        *released = false;
    }

    /// Lets the thread in [`WaitCell::block_thread`] go on, or the next one pass.
    pub fn release_thread(&self) {
        *lock(&self.parker.0) = true;
        self.parker.1.notify_one();
    }
}

/// A request to stop, raised from outside: a cancel message, a timeout, the end of the server.
///
/// Cheap to ask in an inner loop; a waiter registers its cell, so that raising it also wakes.
#[derive(Debug, Default)]
pub struct Cancel {
    /// Why: 0 while nobody asked; the meaning of other values is the owner's.
    reason: AtomicU32,
    waiting: Mutex<Option<Arc<WaitCell>>>,
}

impl Cancel {
    /// Not yet asked for.
    #[must_use]
    pub fn new() -> Cancel {
        Cancel::default()
    }

    /// The reason given, if any.
    pub fn requested(&self) -> Option<u32> {
        match self.reason.load(Ordering::Relaxed) {
            0 => None,
            reason => Some(reason),
        }
    }

    /// Takes the request back: the statement it was meant for has ended.
    pub fn clear(&self) {
        self.reason.store(0, Ordering::Relaxed);
    }

    /// Takes the request back if this is the reason for it: it has been met, and what was asked for goes on.
    pub fn clear_if(&self, reason: u32) {
        _ = self.reason.compare_exchange(reason, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Wakes a thread that rests on a cell.
struct CellWaker {
    env: Environment,
    cell: Arc<WaitCell>,
}

impl Wake for CellWaker {
    fn wake(self: Arc<Self>) {
        self.env.wake(&self.cell);
    }
}

impl Environment {
    /// Starts a background thread. If it panics, nobody does its work any more: `halt` is told why and ends the
    /// instance, before the panic goes on to whoever joins the thread.
    pub fn background(
        &self,
        name: &'static str,
        halt: impl FnOnce(&str) + Send + 'static,
        body: impl FnOnce() + Send + 'static,
    ) -> Box<dyn Joinable> {
        let guarded = move || {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(body)) {
                let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
                halt(&format!("the {name} panicked: {}", text.unwrap_or_default()));
                resume_unwind(panic);
            }
        };
        self.scheduler.spawn(name, Box::new(guarded))
    }

    /// What wakes a thread that rests on `cell`, for who polls what a task would be woken for.
    #[must_use]
    pub fn waker(&self, cell: &Arc<WaitCell>) -> Waker {
        Waker::from(Arc::new(CellWaker { env: self.clone(), cell: Arc::clone(cell) }))
    }

    /// Waits until `cell` is notified, `deadline` passes or `cancel` is raised: the engine's only wait.
    pub fn wait(
        &self,
        event: WaitEvent,
        cell: &Arc<WaitCell>,
        deadline: Option<Micros>,
        cancel: Option<&Cancel>,
    ) -> Woken {
        let _class = breakdown::enter(event.class());
        if let Some(cancel) = cancel {
            *lock(&cancel.waiting) = Some(Arc::clone(cell));
        }
        let shown = waiter::current().map(|waiter| (waiter.show(event as u32), waiter));
        let woken = loop {
            // Acquire: pairs with Release in `wake`; what the waker did before is ours.
            if cell.notified.swap(0, Ordering::Acquire) == 1 {
                break Woken::Notified;
            }
            if cancel.is_some_and(|cancel| cancel.requested().is_some()) {
                break Woken::Cancelled;
            }
            let timeout = match deadline {
                None => None,
                Some(deadline) => match deadline.0.checked_sub(self.clock.now().0) {
                    None | Some(0) => break Woken::TimedOut,
                    Some(left) => Some(Micros(left)),
                },
            };
            rank::rests(event == WaitEvent::WalBuffer);
            self.scheduler.park(event, cell, timeout);
        };
        if let Some(cancel) = cancel {
            *lock(&cancel.waiting) = None;
        }
        if let Some((before, waiter)) = shown {
            waiter.show(before);
        }
        woken
    }

    /// Ends the wait on `cell`, now or when it begins.
    pub fn wake(&self, cell: &WaitCell) {
        // Release: pairs with Acquire in `wait`. A swap like the waiter's, so that all changes have one order for the model
        // checker too, which takes a plain store and a swap for unordered (`txn`'s model of the lock queue).
        cell.notified.swap(1, Ordering::Release);
        self.scheduler.unpark(cell);
    }

    /// Raises `cancel` for `reason` (not zero) and wakes who waits under it.
    pub fn raise(&self, cancel: &Cancel, reason: u32) {
        assert_ne!(reason, 0, "zero means that nobody asked");
        let waiting = lock(&cancel.waiting);
        cancel.reason.store(reason, Ordering::Relaxed);
        if let Some(cell) = waiting.as_deref() {
            self.scheduler.unpark(cell);
        }
    }
}

/// Threads of the operating system, which park on the cell.
#[derive(Debug)]
pub struct Threads {
    slots: usize,
}

/// The system's clocks.
#[derive(Debug)]
pub struct SystemClock {
    /// What the system's monotonic clock showed, in microseconds.
    start: u64,
}

impl Threads {
    /// A scheduler whose threads share `slots` worker slots.
    #[must_use]
    pub fn new(slots: usize) -> Threads {
        assert!(slots > 0, "somebody has to run");
        Threads { slots }
    }
}

impl SystemClock {
    /// A clock whose monotonic time begins now.
    #[must_use]
    pub fn new() -> SystemClock {
        SystemClock { start: microseconds(ClockId::Monotonic) as u64 }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        SystemClock::new()
    }
}

/// Seconds from the Unix epoch to PostgreSQL's, 2000-01-01.
const POSTGRES_EPOCH_SECONDS: i64 = 946_684_800;

/// What a clock of the system shows, in microseconds. Asked for with every statement: the standard library's arithmetic on
/// times costs several times the question.
fn microseconds(clock: ClockId) -> i64 {
    let time = rustix::time::clock_gettime(clock);
    time.tv_sec * 1_000_000 + time.tv_nsec / 1000
}

impl Clock for SystemClock {
    fn now(&self) -> Micros {
        Micros((microseconds(ClockId::Monotonic) as u64).saturating_sub(self.start))
    }

    fn wall(&self) -> i64 {
        microseconds(ClockId::Realtime) - POSTGRES_EPOCH_SECONDS * 1_000_000
    }
}

thread_local! {
    static SLOT: usize = {
        static NEXT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed)
    };
}

impl Scheduler for Threads {
    fn park(&self, _event: WaitEvent, cell: &WaitCell, timeout: Option<Micros>) {
        cell.block_thread(timeout.map(|span| std::time::Duration::from_micros(span.0)));
    }

    fn unpark(&self, cell: &WaitCell) {
        cell.release_thread();
    }

    fn spawn(&self, name: &'static str, body: Box<dyn FnOnce() + Send>) -> Box<dyn Joinable> {
        struct Thread(std::thread::JoinHandle<()>);
        impl Joinable for Thread {
            fn join(self: Box<Self>) {
                if let Err(panic) = self.0.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        }
        let builder = std::thread::Builder::new().name(name.to_owned());
        Box::new(Thread(builder.spawn(body).expect("the system has a thread for background work")))
    }

    fn slot(&self) -> usize {
        SLOT.with(|slot| slot % self.slots)
    }

    fn slots(&self) -> usize {
        self.slots
    }
}
