//! The only door to atomics, locks and threads: the standard library in production, a model checker under test.
//!
//! Under `--cfg loom` atomics and locks are loom's, and only the modules that loom checks are compiled (see `lib.rs`).
//! Under a seeded simulation one thread runs at a time; a thread that finds a lock taken must then let its holder run,
//! so [`lock`] asks the simulation through a hook of the running thread.

#[cfg(loom)]
pub use loom::sync::{Condvar, Mutex, MutexGuard, RwLock, atomic};
pub use std::sync::Arc;
#[cfg(not(loom))]
pub use std::sync::{
    Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic,
};

use std::cell::Cell;
use std::sync::{PoisonError, TryLockError};

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
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(not(loom))]
    if let Some(yield_now) = SIMULATED.with(Cell::get) {
        loop {
            match try_lock(mutex) {
                Some(guard) => return guard,
                None => yield_now(),
            }
        }
    }
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes a lock if nobody has it.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}

/// One step of a short wait for another running thread: first the processor rests, then the thread lets others run.
pub fn relax(spins: &mut u32) {
    #[cfg(loom)]
    {
        *spins += 1;
        loom::thread::yield_now();
    }
    #[cfg(not(loom))]
    {
        *spins += 1;
        match SIMULATED.with(Cell::get) {
            Some(yield_now) => yield_now(),
            None if *spins < 64 => std::hint::spin_loop(),
            None => std::thread::yield_now(),
        }
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
