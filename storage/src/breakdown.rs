//! Where a transaction's time goes: the cycles of a thread, by the classes of "Staring into the Abyss" (VLDB 2014, section 3.2)
//! and of "OLTP Through the Looking Glass" (SIGMOD 2008).
//!
//! A thread has one clock, which is in one class at a time. [`enter`] charges what has passed to the class that the clock was in and
//! switches to another; the end of what it returns charges that one and switches back. So classes nest like calls, what is
//! within another is counted once, by the innermost, and all of them add up to the time for which the clock ran. A clock that
//! nobody has started ([`start`]) stands still: then entering a class is a look at one byte of the thread's own.
//!
//! A switch takes the time from the class that it goes to and adds it to the one that it leaves, modulo 2^64: what has passed is
//! the sum of both, and nobody has to know since when. The class that the clock is in lacks the time until it is left, which
//! who reads the numbers adds.
//!
//! A clock that stands still has counted nothing, and nobody but its thread reads its numbers: who wants those of a statement takes
//! them ([`Breakdown::take_in`]), looks twice, or stops the clock with one reading for both ([`Started::stop`]). The counter is the processor's (the time-stamp counter, which runs at one rate on all cores); where there is
//! none that is known here, nanoseconds stand for cycles. Nothing is decided by it, so a simulation's seed still replays.

use crate::sync;
use std::cell::Cell;
use std::marker::PhantomData;

/// What a thread is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// What is none of the others: rows, their making and encoding, expressions, the transaction's own logic.
    UsefulWork,
    /// Parsing, binding and planning.
    ParsePlan,
    /// Messages: taking them apart, answering them, handing answers to the system.
    Protocol,
    /// Trees: descents, leaves, structure modifications.
    Index,
    /// A latch, or a lock of the program's own, that somebody else holds.
    Latching,
    /// Concurrency control: locks, what was read and its validation, older versions.
    Locking,
    /// Snapshots, places in the order of commits, the watermark.
    Timestamp,
    /// The log: records, their places, and until they are durable.
    Logging,
    /// Pages that a frame hint did not lead to: page table, frames, disk.
    Buffer,
    /// Waiting for others.
    Wait,
    /// Undoing what has failed.
    Abort,
}

/// How many classes there are.
pub const CLASSES: usize = 11;
/// A clock that stands still.
const STILL: u8 = CLASSES as u8;
/// Numbers of a clock: a power of two, so that each class has its own without a look whether there is one.
const NUMBERS: usize = (CLASSES + 1).next_power_of_two();
/// What [`Entered`] goes back to where nothing was entered.
const NOTHING: u8 = u8::MAX;

/// Cycles by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown([u64; CLASSES]);

/// The clock of one thread.
struct ThreadClock {
    class: Cell<u8>,
    cycles: [Cell<u64>; NUMBERS],
}

thread_local! {
    static CLOCK: ThreadClock = const {
        ThreadClock {
            class: Cell::new(STILL),
            cycles: [const { Cell::new(0) }; NUMBERS],
        }
    };
}

/// The class that was entered, until this goes. It stays with its thread.
#[must_use = "the class is left at once otherwise"]
#[derive(Debug)]
pub struct Entered {
    class: u8,
    outer: u8,
    stays: PhantomData<*const ()>,
}

/// A clock that was started, or the class that was entered because it ran, until this goes: what it has counted is lost then.
#[must_use = "the clock is stopped at once otherwise"]
#[derive(Debug)]
pub struct Started {
    class: u8,
    outer: u8,
    stays: PhantomData<*const ()>,
}

impl Class {
    /// All classes, in the order in which they are shown.
    pub const ALL: [Class; CLASSES] = [
        Class::UsefulWork,
        Class::ParsePlan,
        Class::Protocol,
        Class::Index,
        Class::Latching,
        Class::Locking,
        Class::Timestamp,
        Class::Logging,
        Class::Buffer,
        Class::Wait,
        Class::Abort,
    ];

    /// What users call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Class::UsefulWork => "useful_work",
            Class::ParsePlan => "parse_plan",
            Class::Protocol => "protocol",
            Class::Index => "index",
            Class::Latching => "latching",
            Class::Locking => "locking",
            Class::Timestamp => "timestamp",
            Class::Logging => "logging",
            Class::Buffer => "buffer",
            Class::Wait => "wait",
            Class::Abort => "abort",
        }
    }
}

impl Breakdown {
    /// What the calling thread's clock has counted since it was started, or since the last [`Breakdown::take_in`].
    #[must_use]
    pub fn so_far() -> Breakdown {
        CLOCK.with(|clock| {
            let lacking = clock.lacking();
            let all = std::array::from_fn(|class| clock.cycles[class].get());
            clock.lacks(lacking);
            Breakdown(all)
        })
    }

    /// Counts all of the same, too, and the clock begins anew.
    pub fn take_in(&mut self) {
        CLOCK.with(|clock| {
            let lacking = clock.lacking();
            self.take_from(clock);
            clock.lacks(lacking);
        });
    }

    #[inline(always)]
    fn take_from(&mut self, clock: &ThreadClock) {
        // In two steps, each of which goes two numbers at a time.
        let all: [u64; CLASSES] = std::array::from_fn(|class| clock.cycles[class].get());
        clock.cycles.iter().for_each(|number| number.set(0));
        self.add_all(&Breakdown(all));
    }

    /// What has been counted since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Breakdown) -> Breakdown {
        Breakdown(std::array::from_fn(|class| self.0[class].wrapping_sub(earlier.0[class])))
    }

    /// Counts more, of one class.
    pub fn add(&mut self, class: Class, cycles: u64) {
        self.0[class as usize] = self.0[class as usize].wrapping_add(cycles);
    }

    /// Counts all of another one, too.
    #[inline]
    pub fn add_all(&mut self, other: &Breakdown) {
        for (mine, more) in self.0.iter_mut().zip(other.0) {
            *mine = mine.wrapping_add(more);
        }
    }

    /// The cycles of one class.
    #[must_use]
    pub fn of(&self, class: Class) -> u64 {
        // Threads move between cores, whose counters may differ by less than a switch of threads takes: as little may be missing.
        (self.0[class as usize] as i64).max(0) as u64
    }

    /// The cycles of all classes together.
    #[must_use]
    pub fn total(&self) -> u64 {
        Class::ALL.into_iter().map(|class| self.of(class)).sum()
    }
}

impl ThreadClock {
    #[inline(always)]
    fn number(&self, class: u8) -> &Cell<u64> {
        &self.cycles[usize::from(class) % NUMBERS]
    }

    /// Goes over from a class, which the clock is in, to another.
    #[inline(always)]
    fn switch(&self, from: u8, to: u8) {
        let now = sync::cycles();
        self.leave(from, to, now);
        let entered = self.number(to);
        entered.set(entered.get().wrapping_sub(now));
    }

    /// Half a switch: the class that is entered has not got what it lacks.
    #[inline(always)]
    fn leave(&self, from: u8, to: u8, now: u64) {
        debug_assert_eq!(self.class.get(), from, "classes nest");
        self.class.set(to);
        let left = self.number(from);
        left.set(left.get().wrapping_add(now));
    }

    /// Gives the class that the clock is in what it lacks until now; what that is.
    fn lacking(&self) -> Option<u64> {
        let class = self.class.get();
        let now = (class != STILL).then(sync::cycles)?;
        let number = self.number(class);
        number.set(number.get().wrapping_add(now));
        Some(now)
    }

    /// Takes it away again: the clock goes on.
    fn lacks(&self, now: Option<u64>) {
        if let Some(now) = now {
            let number = self.number(self.class.get());
            number.set(number.get().wrapping_sub(now));
        }
    }
}

/// Enters a class, where the thread's clock runs.
#[inline(always)]
pub fn enter(class: Class) -> Entered {
    let outer = CLOCK.with(|clock| {
        let outer = clock.class.get();
        if outer == STILL {
            return NOTHING;
        }
        clock.switch(outer, class as u8);
        outer
    });
    Entered { class: class as u8, outer, stays: PhantomData }
}

/// Starts the thread's clock in a class, or enters it where the clock runs.
#[inline]
pub fn start(class: Class) -> Started {
    let outer = CLOCK.with(|clock| {
        let outer = clock.class.get();
        clock.switch(outer, class as u8);
        outer
    });
    Started { class: class as u8, outer, stays: PhantomData }
}

/// The counter that all this is read from, for what spans threads.
#[must_use]
pub fn now() -> u64 {
    sync::cycles()
}

impl Drop for Entered {
    #[inline(always)]
    fn drop(&mut self) {
        if self.outer == NOTHING {
            return;
        }
        // Where the thread ends, its clock has.
        let _ = CLOCK.try_with(|clock| clock.switch(self.class, self.outer));
    }
}

impl Started {
    /// Ends it, and has `counted` count all that the clock has, which begins anew; when that was.
    #[inline]
    pub fn stop(self, counted: &mut Breakdown) -> u64 {
        let now = sync::cycles();
        CLOCK.with(|clock| {
            clock.leave(self.class, self.outer, now);
            counted.take_from(clock);
            if self.outer != STILL {
                clock.lacks(Some(now));
            }
        });
        std::mem::forget(self);
        now
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = CLOCK.try_with(|clock| {
            clock.switch(self.class, self.outer);
            if self.outer == STILL {
                clock.cycles.iter().for_each(|number| number.set(0));
            }
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn work() {
        let begun = now();
        while now() < begun + 10_000 {
            std::hint::spin_loop();
        }
    }

    #[test]
    fn a_clock_that_stands_still_counts_nothing() {
        let inner = enter(Class::Index);
        work();
        drop(inner);
        assert_eq!(Breakdown::so_far(), Breakdown::default());
    }

    #[test]
    fn what_is_within_another_class_is_counted_once() {
        let begun = now();
        let outer = start(Class::UsefulWork);
        work();
        {
            let _locking = enter(Class::Locking);
            {
                let _wait = enter(Class::Wait);
                work();
            }
            work();
        }
        let mut counted = Breakdown::default();
        counted.take_in();
        // Starting it once more enters a class, and its end does not stop the clock.
        let inner = start(Class::ParsePlan);
        work();
        let until = inner.stop(&mut counted);
        assert!(counted.of(Class::ParsePlan) >= 10_000, "{counted:?}");
        assert!(counted.total() <= until - begun, "{counted:?}");
        drop(start(Class::ParsePlan));
        work();
        let all = outer.stop(&mut counted) - begun;
        work();
        assert!(counted.of(Class::UsefulWork) >= 20_000, "{counted:?}");
        assert!(counted.of(Class::Locking) >= 10_000, "{counted:?}");
        assert!(counted.of(Class::Wait) >= 10_000, "{counted:?}");
        assert!(counted.total() <= all, "{counted:?} of {all}");
        assert_eq!(counted.of(Class::Index), 0);
        assert_eq!(Breakdown::so_far().total(), 0);
    }

    #[test]
    fn what_nobody_takes_is_not_counted_for_the_next() {
        let lost = start(Class::Index);
        work();
        drop(lost);
        let next = start(Class::UsefulWork);
        let mut counted = Breakdown::default();
        next.stop(&mut counted);
        assert_eq!(counted.of(Class::Index), 0);
    }

    #[test]
    fn names_are_in_the_order_of_the_classes() {
        for (at, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, at, "{}", class.name());
        }
    }
}
