//! Who runs and who waits: the engine's scheduler over tokio's workers.
//!
//! Engine code runs inline on a worker and waits in one place, [`Scheduler::park`]. A waiter first spins for a moment
//! (most waits inside the engine are shorter than a switch), then hands its worker over (`block_in_place`): another
//! thread takes the worker's queue along, and this thread sleeps. So a thousand sessions may wait for one row with two
//! workers, as long as the runtime may have a thread for each; it is built with room for `max_connections` and
//! background work.
//!
//! Whoever hands over nothing, because it is no worker (background threads, start, shutdown), simply sleeps.
//!
//! Slots: a thread has the number it was born with, modulo the number of slots. Two threads that share a slot are
//! never wrong, only slower; as many threads run at a time as there are cores, so a few slots for each core are enough.

use crate::relief;
use sql::environment::{Joinable, Micros, Scheduler, Threads, WaitCell, WaitEvent};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};

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
        // A background thread's wait is long by nature.
        if event != WaitEvent::Background {
            for _ in 0..SPINS {
                // Acquire: pairs with Release in `unpark`.
                if cell.tag().swap(ASLEEP, Ordering::Acquire) == WOKEN {
                    return;
                }
                std::hint::spin_loop();
            }
        }
        let sleep = || cell.block_thread(timeout.map(|span| Duration::from_micros(span.0)));
        match Handle::try_current() {
            Ok(handle) if handle.runtime_flavor() == RuntimeFlavor::MultiThread => {
                relief::waiting(|| tokio::task::block_in_place(sleep));
            }
            _ => sleep(),
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use sql::Environment;
    use sql::environment::{FaultyDevice, SystemClock};
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn more_sessions_wait_than_there_are_workers_and_others_go_on() {
        const WAITERS: usize = 100;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(WAITERS + 8)
            .enable_all()
            .build()
            .unwrap();
        let environment = Environment {
            device: Arc::new(FaultyDevice::new(1)),
            clock: Arc::new(SystemClock::new()),
            scheduler: Arc::new(Workers::new(2)),
            seed: 1,
        };
        let cells: Vec<Arc<WaitCell>> = (0..WAITERS).map(|_| Arc::new(WaitCell::new())).collect();
        let woken = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = cells
            .iter()
            .map(|cell| {
                let (environment, cell, woken) =
                    (environment.clone(), Arc::clone(cell), Arc::clone(&woken));
                runtime.spawn(async move {
                    environment.wait(WaitEvent::Tuple, &cell, None, None);
                    woken.fetch_add(1, Ordering::Relaxed);
                })
            })
            .collect();
        // The holder's message is read and answered although every worker has a waiter.
        runtime.block_on(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            let woken = Arc::clone(&woken);
            let answered = tokio::spawn(async move { woken.load(Ordering::Relaxed) });
            assert_eq!(answered.await.unwrap(), 0);
            for cell in &cells {
                environment.wake(cell);
            }
            for task in tasks {
                task.await.unwrap();
            }
        });
        assert_eq!(woken.load(Ordering::Relaxed), WAITERS);
    }
}
