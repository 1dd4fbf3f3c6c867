//! A seeded scheduler and clock: the same seed gives the same run, so a failure is replayed by its number.
//!
//! Real threads of the system, of which exactly one runs at a time. At each wait, each yield and each operation of a
//! [`FaultyDevice`] made by [`Simulation::device`] the seed picks who goes on. Time is virtual: it moves by a microsecond
//! at each choice, and when everybody waits it jumps to the earliest deadline. If everybody waits and nobody has a
//! deadline the simulation has found a deadlock, and panics with the list of waits.
//!
//! Ideas: FoundationDB's simulation (Zhou et al., SIGMOD 2021, §4) and PCT (Burckhardt et al., ASPLOS 2010). Difference:
//! threads instead of a rewritten runtime, because the engine is plain synchronous code with one function to wait in.
//! What is not controlled is the inside of a section without waits; loom and shuttle look there.
//!
//! A thread that finds a [`crate::sync::lock`] taken lets others run, since its holder may be in the middle of an
//! operation of the device.

use crate::chance::Chance;
use crate::device::Device;
use crate::device::faulty::FaultyDevice;
use crate::environment::{Clock, Environment, Joinable, Scheduler, WaitCell, WaitEvent};
use crate::id::Micros;
use crate::sync::atomic::Ordering;
use crate::sync::set_simulated;
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Consecutive attempts on taken locks before time moves on, and before the simulation gives up.
const LOCK_ATTEMPTS: (u64, u64) = (1_000, 50_000);

/// The world of one run.
#[derive(Clone)]
pub struct Simulation(Arc<Inner>);

struct Inner {
    state: Mutex<State>,
    slots: usize,
}

struct State {
    chance: Chance,
    /// Virtual time, in microseconds.
    now: u64,
    threads: Vec<Thread>,
    running: usize,
    /// Numbers given to wait cells, in the order they were first used.
    cells: u64,
    /// Cells that were unparked while nobody rested on them.
    permits: BTreeSet<u64>,
    /// Attempts on taken locks since anybody did anything else.
    lock_attempts: u64,
    /// A digest of every choice.
    trace: u64,
    failed: Option<String>,
}

struct Thread {
    name: &'static str,
    status: Status,
    turn: Arc<Condvar>,
    panic: Option<Box<dyn Any + Send>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Runnable,
    Parked { cell: u64, deadline: Option<u64>, event: WaitEvent },
    Joining(usize),
    Done,
}

thread_local! {
    /// The simulation this thread belongs to, and its number there.
    static CURRENT: RefCell<Option<(Simulation, usize)>> = const { RefCell::new(None) };
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state();
        f.debug_struct("Simulation").field("now", &state.now).field("trace", &state.trace).finish()
    }
}

/// The thread of a simulation that runs here, if any.
fn current() -> Option<(Simulation, usize)> {
    CURRENT.with(|current| current.borrow().clone())
}

fn lock_is_taken() {
    if let Some((simulation, me)) = current() {
        simulation.lock_is_taken(me);
    }
}

impl Simulation {
    /// Runs `body` as the first thread of a simulation with `slots` worker slots, and returns what it returns and a
    /// digest of the schedule. Threads that the body has started must have ended, or end by themselves.
    ///
    /// # Panics
    /// With a deadlock's list of waits, and with the panic of any thread.
    pub fn run<T>(seed: u64, slots: usize, body: impl FnOnce(&Simulation) -> T) -> (T, u64) {
        let state = State {
            chance: Chance::new(seed),
            now: 1,
            threads: Vec::new(),
            running: 0,
            cells: 0,
            permits: BTreeSet::new(),
            lock_attempts: 0,
            trace: seed,
            failed: None,
        };
        let simulation = Simulation(Arc::new(Inner { state: Mutex::new(state), slots }));
        simulation.add("main");
        let _entered = simulation.enter(0);
        let result = body(&simulation);
        let left = simulation.state().threads.len();
        let ends = (1..left).map(|thread| simulation.join(0, thread));
        let panics: Vec<_> = ends.filter_map(Result::err).collect();
        if let Some(panic) = panics.into_iter().next() {
            resume_unwind(panic);
        }
        let trace = simulation.state().trace;
        (result, trace)
    }

    /// A disk whose every operation may let another thread run.
    #[must_use]
    pub fn device(&self, disk: FaultyDevice) -> Arc<FaultyDevice> {
        let simulation = self.clone();
        Arc::new(disk.with_yield(Arc::new(move || simulation.yield_point())))
    }

    /// An environment in this simulation over `device`.
    #[must_use]
    pub fn environment(&self, device: Arc<dyn Device>, seed: u64) -> Environment {
        let (clock, scheduler) = (Arc::new(self.clone()), Arc::new(self.clone()));
        Environment { device, clock, scheduler, seed }
    }

    /// Lets the calling thread belong to the simulation until the guard is dropped.
    fn enter(&self, me: usize) -> Entered {
        CURRENT.with(|current| *current.borrow_mut() = Some((self.clone(), me)));
        set_simulated(Some(lock_is_taken));
        Entered
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn me(&self) -> usize {
        let (_, me) = current().expect("only threads of the simulation wait in it");
        me
    }

    fn add(&self, name: &'static str) -> usize {
        let mut state = self.state();
        let (status, turn) = (Status::Runnable, Arc::new(Condvar::new()));
        state.threads.push(Thread { name, status, turn, panic: None });
        state.threads.len() - 1
    }

    /// Lets the seed pick who goes on, and returns when it is this thread again.
    fn switch(&self, mut state: MutexGuard<'_, State>, me: usize) {
        state.pick();
        self.wait_for_turn(state, me);
    }

    fn wait_for_turn(&self, mut state: MutexGuard<'_, State>, me: usize) {
        let turn = Arc::clone(&state.threads[me].turn);
        while state.running != me && state.failed.is_none() {
            state = turn.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(why) = state.failed.clone() {
            drop(state);
            assert!(!std::thread::panicking(), "a wait while unwinding: {why}");
            panic!("{why}");
        }
    }

    fn end(&self, me: usize, panic: Option<Box<dyn Any + Send>>) {
        let mut state = self.state();
        state.threads[me].status = Status::Done;
        state.threads[me].panic = panic;
        for thread in &mut state.threads {
            if thread.status == Status::Joining(me) {
                thread.status = Status::Runnable;
            }
        }
        state.pick();
    }

    fn join(&self, me: usize, thread: usize) -> std::thread::Result<()> {
        let mut state = self.state();
        if state.threads[thread].status != Status::Done {
            state.threads[me].status = Status::Joining(thread);
            self.switch(state, me);
            state = self.state();
        }
        state.threads[thread].panic.take().map_or(Ok(()), Err)
    }

    fn lock_is_taken(&self, me: usize) {
        let mut state = self.state();
        state.lock_attempts += 1;
        if state.lock_attempts > LOCK_ATTEMPTS.1 {
            state.fail("a lock is held by a thread that waits");
        } else if state.lock_attempts > LOCK_ATTEMPTS.0 {
            state.advance_time();
        }
        let attempts = state.lock_attempts;
        state.pick();
        state.lock_attempts = attempts;
        self.wait_for_turn(state, me);
    }
}

impl State {
    /// Chooses the next thread among those that can run; with none, lets time pass.
    fn pick(&mut self) {
        self.lock_attempts = 0;
        self.now += 1;
        let now = self.now;
        for thread in &mut self.threads {
            if let Status::Parked { deadline: Some(deadline), .. } = thread.status
                && deadline <= now
            {
                thread.status = Status::Runnable;
            }
        }
        if !self.threads.iter().any(|thread| thread.status == Status::Runnable) {
            if self.threads.iter().all(|thread| thread.status == Status::Done) {
                return;
            }
            if !self.advance_time() {
                self.fail("deadlock: every thread waits and none has a deadline");
                return;
            }
        }
        let ready = self.threads.iter().filter(|thread| thread.status == Status::Runnable).count();
        let choice = self.chance.below(ready as u64) as usize;
        let ready = self.threads.iter().enumerate();
        let mut ready = ready.filter(|(_, thread)| thread.status == Status::Runnable);
        let (chosen, thread) = ready.nth(choice).expect("the choice is among those counted");
        self.running = chosen;
        self.trace = (self.trace ^ chosen as u64).wrapping_mul(0x0000_0100_0000_01B3);
        thread.turn.notify_one();
    }

    /// Moves time to the earliest deadline; false if there is none.
    fn advance_time(&mut self) -> bool {
        let deadlines = self.threads.iter().filter_map(|thread| match thread.status {
            Status::Parked { deadline, .. } => deadline,
            _ => None,
        });
        let Some(earliest) = deadlines.min() else { return false };
        self.now = self.now.max(earliest);
        for thread in &mut self.threads {
            if let Status::Parked { deadline: Some(deadline), .. } = thread.status
                && deadline <= self.now
            {
                thread.status = Status::Runnable;
            }
        }
        true
    }

    fn fail(&mut self, what: &str) {
        let waits: Vec<_> = self
            .threads
            .iter()
            .enumerate()
            .map(|(number, thread)| format!("  {number} {}: {:?}", thread.name, thread.status))
            .collect();
        self.failed = Some(format!("{what}\n{}", waits.join("\n")));
        self.threads.iter().for_each(|thread| thread.turn.notify_one());
    }

    fn cell(&mut self, cell: &WaitCell) -> u64 {
        let known = cell.tag().load(Ordering::Relaxed);
        if known != 0 {
            return known;
        }
        self.cells += 1;
        cell.tag().store(self.cells, Ordering::Relaxed);
        self.cells
    }
}

struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| *current.borrow_mut() = None);
        set_simulated(None);
    }
}

struct SimulatedThread {
    simulation: Simulation,
    thread: usize,
    system: Option<std::thread::JoinHandle<()>>,
}

impl Joinable for SimulatedThread {
    fn join(mut self: Box<Self>) {
        let ended = self.simulation.join(self.simulation.me(), self.thread);
        if let Some(system) = self.system.take() {
            system.join().expect("the thread's own panic was caught");
        }
        if let Err(panic) = ended {
            resume_unwind(panic);
        }
    }
}

impl Scheduler for Simulation {
    fn park(&self, event: WaitEvent, cell: &WaitCell, timeout: Option<Micros>) {
        let me = self.me();
        let mut state = self.state();
        let cell = state.cell(cell);
        if !state.permits.remove(&cell) {
            let deadline = timeout.map(|span| state.now.saturating_add(span.0));
            state.threads[me].status = Status::Parked { cell, deadline, event };
        }
        self.switch(state, me);
    }

    fn unpark(&self, cell: &WaitCell) {
        let mut state = self.state();
        let cell = state.cell(cell);
        let mut rests = false;
        for thread in &mut state.threads {
            if matches!(thread.status, Status::Parked { cell: other, .. } if other == cell) {
                thread.status = Status::Runnable;
                rests = true;
            }
        }
        if !rests {
            state.permits.insert(cell);
        }
    }

    fn spawn(&self, name: &'static str, body: Box<dyn FnOnce() + Send>) -> Box<dyn Joinable> {
        let thread = self.add(name);
        let simulation = self.clone();
        let run = move || {
            let _entered = simulation.enter(thread);
            let turn = AssertUnwindSafe(|| simulation.wait_for_turn(simulation.state(), thread));
            let ended = catch_unwind(turn).and_then(|()| catch_unwind(AssertUnwindSafe(body)));
            simulation.end(thread, ended.err());
        };
        let builder = std::thread::Builder::new().name(name.to_owned());
        let system = builder.spawn(run).expect("the system has a thread for the simulation");
        Box::new(SimulatedThread { simulation: self.clone(), thread, system: Some(system) })
    }

    fn slot(&self) -> usize {
        current().map_or(0, |(_, me)| me % self.0.slots)
    }

    fn slots(&self) -> usize {
        self.0.slots
    }

    fn yield_point(&self) {
        // What a test does with the disk outside of the simulation disturbs nobody.
        if let Some((_, me)) = current() {
            self.switch(self.state(), me);
        }
    }
}

impl Clock for Simulation {
    fn now(&self) -> Micros {
        Micros(self.state().now)
    }

    fn wall(&self) -> i64 {
        // 2026-01-01: any fixed day will do.
        820_454_400_000_000 + self.state().now as i64
    }
}

#[cfg(test)]
mod tests {
    use super::Simulation;
    use crate::device::faulty::FaultyDevice;
    use crate::environment::{Clock, Scheduler, WaitCell, WaitEvent, Woken};
    use crate::id::Micros;
    use crate::sync::{Arc, Mutex, lock};
    use std::collections::BTreeSet;
    use std::panic::catch_unwind;

    /// Three threads append their number; the order depends on the seed and on nothing else.
    fn order(seed: u64) -> (Vec<u64>, u64) {
        Simulation::run(seed, 4, |simulation| {
            let seen = Arc::new(Mutex::<Vec<u64>>::new(Vec::new()));
            let threads: Vec<_> = (0..3)
                .map(|number| {
                    let (seen, simulation) = (Arc::clone(&seen), simulation.clone());
                    let scheduler = simulation.clone();
                    scheduler.spawn(
                        "appender",
                        Box::new(move || {
                            for _ in 0..4 {
                                lock(&seen).push(number);
                                simulation.yield_point();
                            }
                        }),
                    )
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join());
            let seen = lock(&seen);
            seen.clone()
        })
    }

    #[test]
    fn a_seed_gives_the_same_run_and_others_give_others() {
        let runs: BTreeSet<_> = (0..30).map(|seed| order(seed).0).collect();
        assert!(runs.len() > 25, "{}", runs.len());
        for seed in 0..10 {
            assert_eq!(order(seed), order(seed));
        }
    }

    #[test]
    fn time_jumps_to_the_earliest_deadline() {
        let ((woken, late), _) = Simulation::run(1, 4, |simulation| {
            let device = simulation.device(FaultyDevice::new(1));
            let env = simulation.environment(device, 1);
            let cell = Arc::new(WaitCell::new());
            let hour = env.clock.now().plus(Micros(3_600_000_000));
            let woken = env.wait(WaitEvent::Background, &cell, Some(hour), None);
            (woken, env.clock.now() >= hour)
        });
        assert_eq!((woken, late), (Woken::TimedOut, true));
    }

    #[test]
    fn a_wake_that_came_first_is_not_lost() {
        for seed in 0..50 {
            Simulation::run(seed, 4, |simulation| {
                let env = simulation.environment(simulation.device(FaultyDevice::new(1)), 1);
                let cell = Arc::new(WaitCell::new());
                let (other, there) = (env.clone(), Arc::clone(&cell));
                let waker = env.scheduler.spawn("waker", Box::new(move || other.wake(&there)));
                assert_eq!(env.wait(WaitEvent::Tuple, &cell, None, None), Woken::Notified);
                waker.join();
            });
        }
    }

    #[test]
    fn a_deadlock_is_a_panic_with_the_list_of_waits() {
        let panic = catch_unwind(|| {
            Simulation::run(1, 4, |simulation| {
                let env = simulation.environment(simulation.device(FaultyDevice::new(1)), 1);
                env.wait(WaitEvent::Relation, &Arc::new(WaitCell::new()), None, None);
            })
        });
        let why = *panic.unwrap_err().downcast::<String>().unwrap();
        assert!(why.contains("deadlock") && why.contains("0 main: Parked"), "{why}");
        assert!(why.contains("Relation"), "{why}");
    }

    #[test]
    fn a_lock_held_across_an_operation_of_the_disk_lets_its_holder_go_on() {
        for seed in 0..50 {
            Simulation::run(seed, 4, |simulation| {
                let shared = Arc::new(Mutex::new(0));
                let count = |shared: &Mutex<u32>, simulation: &Simulation| {
                    let mut held = lock(shared);
                    simulation.yield_point();
                    *held += 1;
                };
                let (other, scheduler) = (Arc::clone(&shared), simulation.clone());
                let inside = simulation.clone();
                let thread = scheduler.spawn("holder", Box::new(move || count(&other, &inside)));
                count(&shared, simulation);
                thread.join();
                assert_eq!(*lock(&shared), 2);
            });
        }
    }

    #[test]
    fn the_panic_of_a_thread_is_the_panic_of_the_run() {
        let panic = catch_unwind(|| {
            Simulation::run(3, 4, |simulation| {
                drop(simulation.spawn("unlucky", Box::new(|| panic!("found by seed"))));
                assert!(simulation.now() > Micros(0));
            })
        });
        assert_eq!(*panic.unwrap_err().downcast::<&str>().unwrap(), "found by seed");
    }
}
