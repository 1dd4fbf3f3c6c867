//! Where threads rest until something is theirs to take: a permit, a slot.
//!
//! What is taken stands elsewhere and is taken without this queue as long as there is enough of it. Whoever finds none
//! enters the queue, and looks once more; whoever gives something back looks at the queue afterwards. So either sees the
//! other. The first who rests is woken, and may find that somebody else was quicker: then it rests again.

use crate::environment::{Cancel, Environment, WaitCell, WaitEvent, Woken};
use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{Error, Result};
use std::collections::VecDeque;

/// Those who rest.
#[derive(Debug, Default)]
pub struct Turnstile {
    count: AtomicUsize,
    cells: Mutex<VecDeque<Arc<WaitCell>>, { rank::WAITERS }>,
}

impl Turnstile {
    /// Rests until `take` gives something, or `cancel` is raised.
    ///
    /// # Errors
    /// [`Error::Cancelled`].
    pub fn wait<T>(
        &self,
        env: &Environment,
        event: WaitEvent,
        cancel: Option<&Cancel>,
        mut take: impl FnMut() -> Option<T>,
    ) -> Result<T> {
        let cell = Arc::new(WaitCell::new());
        loop {
            self.enter(&cell);
            if let Some(taken) = take() {
                self.leave(env, &cell);
                return Ok(taken);
            }
            let woken = env.wait(event, &cell, None, cancel);
            if woken == Woken::Cancelled {
                self.leave(env, &cell);
                return Err(Error::Cancelled);
            }
            if let Some(taken) = take() {
                return Ok(taken);
            }
        }
    }

    fn enter(&self, cell: &Arc<WaitCell>) {
        let mut cells = lock(&self.cells);
        cells.push_back(Arc::clone(cell));
        self.count.store(cells.len(), Ordering::SeqCst);
        drop(cells);
        fence(Ordering::SeqCst); // Pairs with the fence in `given_back`.
    }

    /// Leaves the queue. Whoever has been woken for nothing wakes the next one instead.
    fn leave(&self, env: &Environment, cell: &Arc<WaitCell>) {
        let mut cells = lock(&self.cells);
        let before = cells.len();
        cells.retain(|other| !Arc::ptr_eq(other, cell));
        let was_woken = cells.len() == before;
        self.count.store(cells.len(), Ordering::SeqCst);
        drop(cells);
        if was_woken {
            self.given_back(env);
        }
    }

    /// Wakes the first who rests: there is something to take again.
    #[inline]
    pub fn given_back(&self, env: &Environment) {
        fence(Ordering::SeqCst); // Pairs with the fence in `enter`.
        if self.count.load(Ordering::SeqCst) > 0 {
            self.wake_first(env);
        }
    }

    #[cold]
    fn wake_first(&self, env: &Environment) {
        let first = {
            let mut cells = lock(&self.cells);
            let first = cells.pop_front();
            self.count.store(cells.len(), Ordering::SeqCst);
            first
        };
        if let Some(first) = first {
            env.wake(&first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Turnstile;
    use crate::device::faulty::FaultyDevice;
    use crate::environment::{Cancel, Scheduler, WaitEvent};
    use crate::simulation::Simulation;
    use crate::sync::Arc;
    use crate::sync::atomic::{AtomicU64, Ordering};
    use crate::{Device, Error};

    fn take(left: &AtomicU64) -> Option<()> {
        let one_less = |left: u64| left.checked_sub(1);
        left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).ok().map(|_| ())
    }

    /// Everybody gets through although somebody is always in the way, and some give up.
    #[test]
    fn whoever_rests_is_woken_and_who_gives_up_is_in_nobodys_way() {
        for seed in 0..200 {
            Simulation::run(seed, 8, |simulation| {
                let device = simulation.device(FaultyDevice::new(seed));
                let env = simulation.environment(device as Arc<dyn Device>, seed);
                let shared = Arc::new((Turnstile::default(), AtomicU64::new(2), Cancel::new()));
                let threads: Vec<_> = (0..6)
                    .map(|number| {
                        let (shared, env) = (Arc::clone(&shared), env.clone());
                        let body = move || {
                            let (turnstile, left, cancel) = &*shared;
                            for _ in 0..20 {
                                let cancel = (number < 2).then_some(cancel);
                                let event = WaitEvent::StructurePermit;
                                match turnstile.wait(&env, event, cancel, || take(left)) {
                                    Ok(()) => {}
                                    Err(Error::Cancelled) => return,
                                    Err(error) => panic!("{error}"),
                                }
                                env.scheduler.yield_point();
                                left.fetch_add(1, Ordering::SeqCst);
                                turnstile.given_back(&env);
                            }
                        };
                        simulation.spawn("taker", Box::new(body))
                    })
                    .collect();
                for _ in 0..seed % 50 {
                    simulation.yield_point();
                }
                env.raise(&shared.2, 1);
                threads.into_iter().for_each(|thread| thread.join());
                assert_eq!(shared.1.load(Ordering::SeqCst), 2);
            });
        }
    }
}
