//! The wait for a lock: until it is granted, a limit passes, or the waiter finds itself in a deadlock.
//!
//! Nothing is decided here about the lock itself: the queue says whether it has been granted, and whoever stops waiting
//! takes itself out of the queue afterwards. That order is what makes a grant in the last moment harmless: it is found
//! by [`super::queue::LockQueue::abandon`], which passes it on.

use crate::{Micros, Woken};

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome<D> {
    /// With the lock.
    Granted,
    /// The session was cancelled.
    Cancelled,
    /// `lock_timeout` passed.
    TimedOut,
    /// There is a cycle of waits, and this one breaks it.
    Deadlock(D),
}

/// When a waiter does something else than rest.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// It gives up.
    pub give_up: Option<Micros>,
    /// It looks for a deadlock, once.
    pub look: Option<Micros>,
}

/// Rests until `granted`, asked before each rest; `cycle` looks for a deadlock.
pub fn until_granted<D>(
    mut limits: Limits,
    granted: &dyn Fn() -> bool,
    now: &dyn Fn() -> Micros,
    rest: &mut dyn FnMut(Option<Micros>) -> Woken,
    cycle: &mut dyn FnMut() -> Option<D>,
) -> Outcome<D> {
    loop {
        if granted() {
            return Outcome::Granted;
        }
        let deadline = match (limits.give_up, limits.look) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        match rest(deadline) {
            Woken::Notified => {}
            Woken::Cancelled => return Outcome::Cancelled,
            Woken::TimedOut => {
                let now = now();
                if limits.look.is_some_and(|at| at <= now) {
                    limits.look = None;
                    if let Some(deadlock) = cycle() {
                        return Outcome::Deadlock(deadlock);
                    }
                }
                if limits.give_up.is_some_and(|at| at <= now) && !granted() {
                    return Outcome::TimedOut;
                }
            }
        }
    }
}
