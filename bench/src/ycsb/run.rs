//! Threads side by side for a time, each with transactions of its own that were drawn beforehand.

use super::workload::{Access, Partitions, Workload};
use crate::cpu;
use crate::tpcc::random::Random;
use anyhow::Result;
use std::collections::BTreeMap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use storage::breakdown::{self, Breakdown, Class};

/// How many transactions a thread goes through, again and again.
const DRAWN: usize = 20_000;
/// How many aborted transactions may wait for their time beside the one that runs, as in the paper's code.
pub const WAITING: usize = 10;

/// How an attempt to run a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attempt {
    /// It has committed.
    Committed,
    /// It was aborted, for this reason, and is to be run again.
    Aborted(&'static str),
}

/// One session of the database that is measured.
pub trait Worker {
    /// Which keys are in which partition of the database.
    fn partitions(&self) -> Partitions;

    /// The run begins, on the thread that makes it; `measured` says whether it is told where its time goes.
    ///
    /// # Errors
    /// The database's.
    fn begin(&mut self, measured: bool) -> Result<()>;

    /// Runs a transaction once.
    ///
    /// # Errors
    /// What no other run of it would mend.
    fn attempt(&mut self, accesses: &[Access]) -> Result<Attempt>;

    /// Where the time of a measured run has gone; `own` is what the thread itself has counted.
    ///
    /// # Errors
    /// The database's.
    fn end(&mut self, own: Breakdown) -> Result<Breakdown>;
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Transactions that committed.
    pub committed: u64,
    /// The time.
    pub elapsed: Duration,
    /// CPU of the process that runs the database, in seconds.
    pub cpu_seconds: f64,
    /// How often a transaction was aborted, by reason.
    pub aborts: BTreeMap<&'static str, u64>,
    /// How long each took with all its attempts, in tenths of a microsecond, sorted.
    pub tenths: Vec<u32>,
    /// Where the time went, if that was measured.
    pub breakdown: Breakdown,
}

impl Outcome {
    /// Transactions a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.committed as f64 / self.elapsed.as_secs_f64()
    }

    /// CPU for each that committed, in microseconds.
    #[must_use]
    pub fn cpu_us(&self) -> f64 {
        self.cpu_seconds * 1e6 / self.committed.max(1) as f64
    }

    /// The share of attempts that were aborted.
    #[must_use]
    pub fn abort_share(&self) -> f64 {
        let aborted: u64 = self.aborts.values().sum();
        aborted as f64 / (aborted + self.committed).max(1) as f64
    }

    /// The time that this share of transactions did not exceed, in microseconds.
    #[must_use]
    pub fn percentile_us(&self, share: f64) -> f64 {
        f64::from(crate::tpcc::driver::percentile(&self.tenths, share)) / 10.0
    }
}

/// Runs a workload on these workers, a thread each. An aborted transaction is run again once up to `penalty` has passed. `process` is
/// whose CPU counts.
///
/// # Errors
/// A worker's.
pub fn run<W: Worker + Send>(
    workers: &mut [W],
    workload: &Workload,
    (time, measured): (Duration, bool),
    penalty: Duration,
    process: u32,
) -> Result<Outcome> {
    let (ready, over) = (Barrier::new(workers.len() + 1), AtomicBool::new(false));
    let (ready, over) = (&ready, &over);
    std::thread::scope(|scope| {
        let threads: Vec<_> = workers
            .iter_mut()
            .enumerate()
            .map(|(number, worker)| {
                scope.spawn(move || {
                    let drawn = workload.draw(DRAWN, number, &worker.partitions());
                    let begun = worker.begin(measured);
                    ready.wait();
                    begun?;
                    let random = Random::new(number as u64 + 1);
                    work(worker, &drawn, measured, (penalty, random), over)
                })
            })
            .collect();
        ready.wait();
        let (before, start) = (cpu::of_tree(process)?, Instant::now());
        std::thread::sleep(time);
        let used = cpu::of_tree(process)?.since(before);
        let elapsed = start.elapsed();
        over.store(true, Ordering::Relaxed);
        let mut all = Outcome { elapsed, cpu_seconds: used.total(), ..Outcome::default() };
        for thread in threads {
            let one = thread.join().expect("a thread ends")?;
            all.committed += one.committed;
            all.tenths.extend(one.tenths);
            all.breakdown.add_all(&one.breakdown);
            for (reason, count) in one.aborts {
                *all.aborts.entry(reason).or_default() += count;
            }
        }
        all.tenths.sort_unstable();
        Ok(all)
    })
}

/// A transaction that is to be run again.
struct Aborted<'d> {
    accesses: &'d [Access],
    /// When it was run first.
    start: Instant,
    /// When it may be run again.
    again: Instant,
}

/// What one thread does until it is over: an aborted transaction is run again once its time has come, and others are run meanwhile.
fn work(
    worker: &mut impl Worker,
    drawn: &[Vec<Access>],
    measured: bool,
    (penalty, mut random): (Duration, Random),
    over: &AtomicBool,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let mut waiting: Vec<Aborted<'_>> = Vec::with_capacity(WAITING);
    let clock = measured.then(|| breakdown::start(Class::UsefulWork));
    let counted = Breakdown::so_far();
    let mut fresh = drawn.iter().cycle();
    while !over.load(Ordering::Relaxed) {
        let now = Instant::now();
        let due = waiting.iter().position(|one| one.again <= now);
        let (accesses, start) = match due {
            Some(at) => {
                let one = waiting.remove(at);
                (one.accesses, one.start)
            }
            None if waiting.len() < WAITING => {
                (&fresh.next().expect("they come again and again")[..], now)
            }
            None => {
                std::hint::spin_loop();
                continue;
            }
        };
        match worker.attempt(accesses)? {
            Attempt::Committed => {
                outcome.committed += 1;
                let tenths = start.elapsed().as_nanos() / 100;
                outcome.tenths.push(u32::try_from(tenths).unwrap_or(u32::MAX));
            }
            Attempt::Aborted(reason) => {
                *outcome.aborts.entry(reason).or_default() += 1;
                let share = f64::from(random.uniform(0, 1 << 20)) / f64::from(1 << 20);
                let again = Instant::now() + penalty.mul_f64(share);
                waiting.push(Aborted { accesses, start, again });
            }
        }
    }
    let counted = Breakdown::so_far().since(counted);
    drop(clock);
    outcome.breakdown = worker.end(counted)?;
    Ok(outcome)
}

#[cfg(test)]
mod tests {
    use super::Outcome;
    use std::time::Duration;

    #[test]
    fn an_outcome_counts_what_committed() {
        let outcome = Outcome {
            committed: 300,
            elapsed: Duration::from_secs(2),
            cpu_seconds: 0.003,
            aborts: [("lock busy", 75), ("died", 25)].into(),
            tenths: (1..=1000).collect(),
            ..Outcome::default()
        };
        assert_eq!((outcome.per_second(), outcome.cpu_us()), (150.0, 10.0));
        assert_eq!((outcome.abort_share(), outcome.percentile_us(0.99)), (0.25, 99.0));
    }
}
