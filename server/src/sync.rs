//! Mutexes of the server.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks what no panic can leave half changed.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
