//! Who runs and who waits: the engine's scheduler over the workers' runtime.
//!
//! Engine code runs inline on a worker and waits in one place, [`Scheduler::park`]. A waiter first spins for a moment
//! (most waits inside the engine are shorter than a switch), then gives way: another thread drives its event loop, and
//! this thread sleeps. So a thousand sessions may wait for one row with two loops, as long as the runtime may have a
//! thread for each; it is built with room for `max_connections` and background work.
//!
//! Whoever drives no loop (background threads, start, shutdown) simply sleeps.
//!
//! Slots: a thread has the number it was born with, modulo the number of slots. Two threads that share a slot are
//! never wrong, only slower; as many threads run at a time as there are cores, so a few slots for each core are enough.

use crate::process::end_halted;
use crate::runtime;
use sql::environment::{Joinable, Micros, Scheduler, Threads, WaitCell, WaitEvent};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Rounds of the first, waking wait.
const SPINS: u32 = 64;
/// The cell's tag while nobody has woken it.
const ASLEEP: u64 = 0;
/// The cell's tag once somebody has.
const WOKEN: u64 = 1;

/// The scheduler.
#[derive(Debug)]
pub struct Workers {
    threads: Threads,
}

impl Workers {
    /// For so many cores.
    #[must_use]
    pub fn new(cores: usize) -> Workers {
        Workers { threads: Threads::new((cores * 4).next_power_of_two()) }
    }
}

impl Scheduler for Workers {
    fn park(&self, event: WaitEvent, cell: &WaitCell, timeout: Option<Micros>) {
        // A background thread's wait is long by nature, as is one for the clock.
        if !matches!(event, WaitEvent::Background | WaitEvent::Sleep | WaitEvent::Termination) {
            for _ in 0..SPINS {
                // Acquire: pairs with Release in `unpark`.
                if cell.tag().swap(ASLEEP, Ordering::Acquire) == WOKEN {
                    return;
                }
                std::hint::spin_loop();
            }
        }
        runtime::give_way();
        cell.block_thread(timeout.map(|span| Duration::from_micros(span.0)));
    }

    fn unpark(&self, cell: &WaitCell) {
        // Both: the spinner looks at the tag, the sleeper at the cell. Whichever is left over ends one later wait early,
        // which a wait allows for.
        cell.tag().store(WOKEN, Ordering::Release);
        cell.release_thread();
    }

    fn spawn(&self, name: &'static str, body: Box<dyn FnOnce() + Send>) -> Box<dyn Joinable> {
        self.threads.spawn(name, body)
    }

    fn slot(&self) -> usize {
        self.threads.slot()
    }

    fn slots(&self) -> usize {
        self.threads.slots()
    }

    fn halted(&self, why: &str) {
        end_halted(why)
    }
}
