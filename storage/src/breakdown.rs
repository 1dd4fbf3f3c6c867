//! Where a transaction's time goes: the cycles of a thread, by the classes of "Staring into the Abyss" (VLDB 2014, section 3.2)
//! and of "OLTP Through the Looking Glass" (SIGMOD 2008).
//!
//! A thread has one clock, which is in one class at a time. [`enter`] charges what has passed to the class that the clock was in and
//! switches to another; the end of what it returns charges that one and switches back. So classes nest like calls, what is
//! within another is counted once, by the innermost, and all of them add up to the time for which the clock ran. A clock that
//! nobody has started ([`start`]) stands still: then entering a class is a look at one byte of the thread's own.
//!
//! The numbers begin anew when the clock is started, and nobody but their thread reads them: who wants those of a statement takes
//! them ([`Breakdown::take_in`]), or looks twice. The counter is the processor's (the time-stamp counter, which runs at one rate on all cores); where there is
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
/// What [`Entered`] goes back to where nothing was entered.
const NOTHING: u8 = u8::MAX;

/// Cycles by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breakdown([u64; CLASSES]);

/// The clock of one thread.
struct ThreadClock {
    class: Cell<u8>,
    since: Cell<u64>,
    cycles: Cell<[u64; CLASSES]>,
}

thread_local! {
    static CLOCK: ThreadClock = const {
        ThreadClock {
            class: Cell::new(STILL),
            since: Cell::new(0),
            cycles: Cell::new([0; CLASSES]),
        }
    };
}

/// The class that was entered, until this goes. It stays with its thread.
#[must_use = "the class is left at once otherwise"]
#[derive(Debug)]
pub struct Entered {
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
            clock.settle();
            Breakdown(clock.cycles.get())
        })
    }

    /// Counts all of the same, too, and the clock begins anew.
    pub fn take_in(&mut self) {
        CLOCK.with(|clock| {
            clock.settle();
            let counted = Cell::as_array_of_cells(&clock.cycles);
            for (mine, more) in self.0.iter_mut().zip(counted) {
                *mine += more.take();
            }
        });
    }

    /// What has been counted since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Breakdown) -> Breakdown {
        Breakdown(std::array::from_fn(|class| self.0[class].saturating_sub(earlier.0[class])))
    }

    /// Counts more, of one class.
    pub fn add(&mut self, class: Class, cycles: u64) {
        self.0[class as usize] += cycles;
    }

    /// Counts all of another one, too.
    pub fn add_all(&mut self, other: &Breakdown) {
        for (mine, more) in self.0.iter_mut().zip(other.0) {
            *mine += more;
        }
    }

    /// The cycles of one class.
    #[must_use]
    pub fn of(&self, class: Class) -> u64 {
        self.0[class as usize]
    }

    /// The cycles of all classes together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl ThreadClock {
    fn switch(&self, to: u8) {
        let now = sync::cycles();
        let spent = &Cell::as_array_of_cells(&self.cycles)[usize::from(self.class.get())];
        // Threads move between cores, whose counters may differ by less than a switch of threads takes.
        spent.set(spent.get() + now.saturating_sub(self.since.get()));
        self.since.set(now);
        self.class.set(to);
    }

    /// Charges what has passed until now.
    fn settle(&self) {
        let class = self.class.get();
        if class != STILL {
            self.switch(class);
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
        clock.switch(class as u8);
        outer
    });
    Entered { outer, stays: PhantomData }
}

/// Starts the thread's clock in a class, or enters it where the clock runs.
pub fn start(class: Class) -> Entered {
    let outer = CLOCK.with(|clock| {
        let outer = clock.class.get();
        if outer == STILL {
            clock.cycles.set([0; CLASSES]);
            clock.since.set(sync::cycles());
            clock.class.set(class as u8);
        } else {
            clock.switch(class as u8);
        }
        outer
    });
    Entered { outer, stays: PhantomData }
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
        let _ = CLOCK.try_with(|clock| clock.switch(self.outer));
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
        // Starting it once more enters a class, and its end does not stop the clock.
        drop(start(Class::ParsePlan));
        work();
        drop(outer);
        let all = now() - begun;
        work();
        let mut counted = Breakdown::default();
        counted.take_in();
        assert!(counted.of(Class::UsefulWork) >= 20_000, "{counted:?}");
        assert!(counted.of(Class::Locking) >= 10_000, "{counted:?}");
        assert!(counted.of(Class::Wait) >= 10_000, "{counted:?}");
        assert!(counted.total() <= all, "{counted:?} of {all}");
        assert_eq!(counted.of(Class::Index), 0);
        assert_eq!(Breakdown::so_far().total(), 0);
    }

    #[test]
    fn names_are_in_the_order_of_the_classes() {
        for (at, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, at, "{}", class.name());
        }
    }
}
