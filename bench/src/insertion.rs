//! Shore-MT's record-insertion microbenchmark, embedded: each thread fills a private tree with records of 100 bytes and
//! commits every 1,000.
//!
//! Paper: Johnson et al., *Shore-MT*, EDBT 2009, section 3. No SQL and no socket: this is the transaction component
//! over the data component, with files below.

use anyhow::Result;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use txn::{Begin, Environment, Isolation, LogInsert, Manager, SessionWait};

/// A record: 8 bytes of key, 92 of value.
const VALUE_BYTES: usize = 92;
/// Records a transaction.
const RECORDS_PER_COMMIT: u64 = 1000;

/// The order in which keys come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// 0, 1, 2, ...
    Sequential,
    /// A permutation.
    Random,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// How keys come.
    pub order: Order,
    /// Threads, each with a tree of its own.
    pub threads: u32,
    /// How log space is claimed.
    pub insert: LogInsert,
    /// Wait for durability at each commit.
    pub synchronous: bool,
}

/// What it gave.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Records inserted.
    pub records: u64,
    /// In this time.
    pub elapsed: Duration,
    /// CPU of the whole process, in seconds.
    pub cpu_seconds: f64,
}

/// A bijection on 64 bits (the finalizer of SplitMix64), so that random keys never meet.
fn scatter(key: u64) -> u64 {
    let mut mixed = key;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Runs one case for `time` on a fresh database in `directory`.
///
/// # Errors
/// The database's own.
pub fn run(directory: &Path, case: Case, time: Duration) -> Result<Outcome> {
    let env = Environment {
        device: Arc::new(storage::device::file::FileDevice::open(directory)?),
        clock: Arc::new(storage::environment::SystemClock::new()),
        scheduler: Arc::new(storage::environment::Threads::new(case.threads as usize + 4)),
        seed: 1,
    };
    let storage =
        storage::Options { log_insert: case.insert, pool_frames: 128 << 10, ..Default::default() };
    let options = txn::Options { storage, ..Default::default() };
    Manager::create(&env, &options)?;
    let manager = Manager::open::<txn::Error>(env, options, |_| Ok(Vec::new()))?;
    let before = crate::cpu::of_tree(std::process::id())?;
    let start = Instant::now();
    let counts: Vec<Result<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..case.threads)
            .map(|number| {
                let manager = &manager;
                scope.spawn(move || fill(manager, number, case, start + time))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread ends")).collect()
    });
    let elapsed = start.elapsed();
    let cpu_seconds = crate::cpu::of_tree(std::process::id())?.since(before).total();
    manager.close()?;
    let records = counts.into_iter().sum::<Result<u64>>()?;
    Ok(Outcome { records, elapsed, cpu_seconds })
}

fn fill(manager: &Arc<Manager>, number: u32, case: Case, until: Instant) -> Result<u64> {
    let wait = Arc::new(SessionWait::new(number));
    let tree = manager.data().create_tree()?;
    let value = [7; VALUE_BYTES];
    let mut next = 0;
    while Instant::now() < until {
        let mut transaction =
            manager.begin(Begin { isolation: Isolation::ReadCommitted, ..Begin::default() }, &wait);
        transaction.begin_statement()?;
        for _ in 0..RECORDS_PER_COMMIT {
            let key = match case.order {
                Order::Sequential => next,
                Order::Random => scatter(next),
            };
            transaction.put(&tree, &key.to_be_bytes(), &value)?;
            next += 1;
        }
        let ended = transaction.commit(&mut |_| ())?;
        if case.synchronous {
            manager.data().log().wait_durable(ended.wait_for)?;
        }
    }
    Ok(next)
}
