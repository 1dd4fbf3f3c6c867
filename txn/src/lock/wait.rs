//! The wait for a lock: until it is granted, a limit passes, or the waiter finds itself in a deadlock.
//!
//! Nothing is decided here about the lock itself: the queue says whether it has been granted, and whoever stops waiting
//! takes itself out of the queue afterwards. That order is what makes a grant in the last moment harmless: it is found
//! by [`super::queue::LockQueue::abandon`], which passes it on.

use super::deadlock::Search;
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
    /// It looks for a deadlock.
    pub look: Option<Micros>,
    /// It looks again after each such span, for as long as what it finds is not sure.
    pub again: Micros,
}

/// Rests until `granted`, asked before each rest; `cycle` looks for a deadlock.
pub(crate) fn until_granted<D>(
    mut limits: Limits,
    granted: &dyn Fn() -> bool,
    now: &dyn Fn() -> Micros,
    rest: &mut dyn FnMut(Option<Micros>) -> Woken,
    cycle: &mut dyn FnMut() -> Search<D>,
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
                    limits.look = match cycle() {
                        Search::Cycle(deadlock) => return Outcome::Deadlock(deadlock),
                        Search::Nothing => None,
                        Search::Unsure => Some(now.plus(limits.again)),
                    };
                }
                if limits.give_up.is_some_and(|at| at <= now) && !granted() {
                    return Outcome::TimedOut;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A search that could not make it out is not the last one.
    #[test]
    fn a_waiter_looks_again_and_again() {
        let (clock, looks) = (Cell::new(0), Cell::new(0));
        let limits = Limits { give_up: None, look: Some(Micros(10)), again: Micros(10) };
        let mut rest = |deadline: Option<Micros>| {
            clock.set(deadline.expect("it goes on looking").0);
            Woken::TimedOut
        };
        let mut cycle = || {
            looks.set(looks.get() + 1);
            if looks.get() == 5 { Search::Cycle("a cycle") } else { Search::Unsure }
        };
        let now = || Micros(clock.get());
        let outcome = until_granted(limits, &|| false, &now, &mut rest, &mut cycle);
        assert_eq!((outcome, clock.get()), (Outcome::Deadlock("a cycle"), 50));
    }
}
