//! The only door to atomics, locks and threads: the standard library in production, a model checker under test.
//!
//! Under `--cfg loom` atomics and locks are loom's, and only the modules that loom checks are compiled (see `lib.rs`).
//! Under a seeded simulation one thread runs at a time; a thread that finds a lock taken must then let its holder run,
//! so [`lock`] asks the simulation through a hook of the running thread.

pub mod rank;

#[cfg(loom)]
use loom::sync as from;
#[cfg(not(loom))]
use std::sync as from;

use crate::breakdown::{self, Class};
pub use from::{RwLock, atomic};
use rank::Held;
pub use std::sync::{Arc, Weak};

use std::cell::Cell;
use std::sync::{LockResult, PoisonError, TryLockError};
use std::time::Duration;

/// A lock with its rank: see [`rank`]. Taken with [`lock`] or [`try_lock`].
#[derive(Debug, Default)]
pub struct Mutex<T, const RANK: u16 = { rank::NONE }>(from::Mutex<T>);

/// What is locked, for as long as this is there.
#[derive(Debug)]
pub struct MutexGuard<'a, T, const RANK: u16 = { rank::NONE }>(from::MutexGuard<'a, T>, Held<RANK>);

impl<T, const RANK: u16> Mutex<T, RANK> {
    /// Nobody holds it.
    pub fn new(value: T) -> Self {
        Mutex(from::Mutex::new(value))
    }
}

impl<T, const RANK: u16> std::ops::Deref for MutexGuard<'_, T, RANK> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T, const RANK: u16> std::ops::DerefMut for MutexGuard<'_, T, RANK> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// Where threads wait for a change of what a lock guards. Poison means nothing, so nothing here ever fails.
#[derive(Debug, Default)]
pub struct Condvar(from::Condvar);

impl Condvar {
    /// Waits for a notification.
    ///
    /// # Errors
    /// Never.
    pub fn wait<'a, T, const RANK: u16>(
        &self,
        guard: MutexGuard<'a, T, RANK>,
    ) -> LockResult<MutexGuard<'a, T, RANK>> {
        let MutexGuard(guard, held) = guard;
        let guard = self.0.wait(guard).unwrap_or_else(PoisonError::into_inner);
        Ok(MutexGuard(guard, held))
    }

    /// Waits for a notification, or for `span`; whether it was the latter is for the caller to find out.
    ///
    /// # Errors
    /// Never.
    pub fn wait_timeout<'a, T, const RANK: u16>(
        &self,
        guard: MutexGuard<'a, T, RANK>,
        span: Duration,
    ) -> LockResult<(MutexGuard<'a, T, RANK>, ())> {
        let MutexGuard(guard, held) = guard;
        let waited = self.0.wait_timeout(guard, span).unwrap_or_else(PoisonError::into_inner);
        Ok((MutexGuard(waited.0, held), ()))
    }

    /// Lets one who waits go on.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }
}

/// Lets the other threads of a simulation run.
pub type SimulatedYield = fn();

thread_local! {
    static SIMULATED: Cell<Option<SimulatedYield>> = const { Cell::new(None) };
}

/// Says how this thread lets others run, if it is part of a simulation.
pub fn set_simulated(yield_now: Option<SimulatedYield>) {
    SIMULATED.with(|hook| hook.set(yield_now));
}

/// Takes a lock whose holders never panic half way through a change, so that poison means nothing.
#[inline]
pub fn lock<T, const RANK: u16>(mutex: &Mutex<T, RANK>) -> MutexGuard<'_, T, RANK> {
    Held::<RANK>::before();
    #[cfg(not(loom))]
    if let Some(guard) = try_lock(mutex) {
        return guard;
    }
    wait_for_lock(mutex)
}

/// Takes a lock that somebody else has.
#[cold]
fn wait_for_lock<T, const RANK: u16>(mutex: &Mutex<T, RANK>) -> MutexGuard<'_, T, RANK> {
    #[cfg(not(loom))]
    if let Some(yield_now) = SIMULATED.with(Cell::get) {
        loop {
            yield_now();
            if let Some(guard) = try_lock(mutex) {
                return guard;
            }
        }
    }
    let _held_by_another = breakdown::enter(Class::Latching);
    let guard = mutex.0.lock().unwrap_or_else(PoisonError::into_inner);
    MutexGuard(guard, Held::now())
}

/// Takes a lock if nobody has it.
#[inline]
pub fn try_lock<T, const RANK: u16>(mutex: &Mutex<T, RANK>) -> Option<MutexGuard<'_, T, RANK>> {
    let guard = match mutex.0.try_lock() {
        Ok(guard) => guard,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return None,
    };
    Some(MutexGuard(guard, Held::now()))
}

/// One step of a short wait for another running thread: first the processor rests, then the thread lets others run.
pub fn relax(spins: &mut u32) {
    *spins += 1;
    #[cfg(not(loom))]
    if *spins < 64 && SIMULATED.with(Cell::get).is_none() {
        return std::hint::spin_loop();
    }
    give_way();
}

/// The processor's time-stamp counter.
#[cfg(target_arch = "x86_64")]
#[inline]
#[must_use]
pub fn cycles() -> u64 {
    // SAFETY: every processor of this architecture has the counter, and reading it touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

/// The system's monotonic clock in nanoseconds, where there is no counter that is known here.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn cycles() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Lets other threads run first, those that are ready to.
pub fn give_way() {
    #[cfg(loom)]
    loom::thread::yield_now();
    #[cfg(not(loom))]
    match SIMULATED.with(Cell::get) {
        Some(yield_now) => yield_now(),
        None => std::thread::yield_now(),
    }
}

/// What publishes: `Release`. Under the model checker with `--cfg weakened` it is `Relaxed`, a planted fault: every model
/// test of something that is published with it must then fail.
pub const PUBLISH: atomic::Ordering =
    if cfg!(all(loom, weakened)) { atomic::Ordering::Relaxed } else { atomic::Ordering::Release };

/// Stands between sequentially consistent accesses that lean on their total order. Loom takes such accesses for
/// acquire and release (its documented limit) but knows sequentially consistent fences, so under it this is one. In
/// production it is nothing: the accesses themselves are ordered. With `--cfg weakened` it is missing.
#[inline]
pub fn total_order() {
    #[cfg(all(loom, not(weakened)))]
    atomic::fence(atomic::Ordering::SeqCst);
}
