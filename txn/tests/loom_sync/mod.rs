//! What the files under test take from their crate's `sync`, from loom instead of the standard library. The atomics are each
//! model's own choice: one has fences that do nothing.

pub mod owners;

pub use loom::sync::{Condvar, MutexGuard};
pub use std::sync::Arc;

/// A lock, whose rank nobody checks here.
pub type Mutex<T, const RANK: u16 = 0> = loom::sync::Mutex<T>;

pub mod rank {
    //! Ranks, which nobody checks here.
    pub const LATE: u16 = 1;
    pub const RANGE_LOCKS: u16 = 2;
    pub const GARBAGE: u16 = 3;
    pub const PARTITIONS: u16 = 4;
    pub const SIREAD_POINTS: u16 = 5;
    pub const RANGE_KEYS: u16 = 6;
    pub fn rests(_: bool) {}
}

/// Takes a lock.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Takes a lock if nobody has it.
pub fn try_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    mutex.try_lock().ok()
}
