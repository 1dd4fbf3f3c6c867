//! The only door to atomics and locks in this crate: the standard library here, a model checker in the model tests,
//! which compile the lock-free files of this crate beside a `sync` of their own.

pub use std::sync::{OnceLock, RwLock, Weak};
pub use storage::sync::{Arc, Mutex, MutexGuard, atomic, lock, rank, relax, try_lock};
