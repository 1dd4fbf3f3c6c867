//! What a second thread costs the first: TPC-B's four changes on keys that no other thread touches, embedded, without a
//! wait for durability. What CPU a transaction takes with two threads more than with one is what they share: a cache
//! line that both write, a latch, a system call to wake somebody.
//!
//! No SQL and no socket: this is the transaction component over the data component, with files below.

use anyhow::Result;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use txn::RecordBuffer;
use txn::{Begin, Environment, Manager, RowLock, SessionWait, Tree, WaitPolicy};

/// Rows of a thread: accounts, tellers, branches.
const ROWS: [u64; 3] = [10_000, 10, 1];
/// An account's value, as pgbench has it: numbers and a filler.
const VALUE_BYTES: usize = 100;

/// What a run gave.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// Transactions committed.
    pub transactions: u64,
    /// In this time.
    pub elapsed: Duration,
    /// CPU of the whole process, in seconds.
    pub cpu_seconds: f64,
}

impl Outcome {
    /// CPU a transaction, in microseconds.
    #[must_use]
    pub fn cost_us(&self) -> f64 {
        self.cpu_seconds * 1e6 / self.transactions as f64
    }
}

/// The trees of the three tables and of the history.
struct Trees([Arc<Tree>; 4]);

/// Runs `threads` threads for `time` on a fresh database in `directory`.
///
/// # Errors
/// The database's own.
pub fn run(directory: &Path, threads: u32, time: Duration) -> Result<Outcome> {
    let env = Environment {
        device: Arc::new(storage::device::file::FileDevice::open(directory)?),
        clock: Arc::new(storage::environment::SystemClock::new()),
        scheduler: Arc::new(storage::environment::Threads::new(threads as usize + 4)),
        seed: 1,
    };
    let storage =
        storage::Options { pool_frames: 32 << 10, log_bytes_max: 8 << 30, ..Default::default() };
    let options = txn::Options { storage, ..Default::default() };
    Manager::create(&env, &options)?;
    let manager = Manager::open::<txn::Error>(env, options, |_| Ok(Vec::new()))?;
    let mut trees = Vec::new();
    for _ in 0..4 {
        trees.push(manager.data().create_tree()?);
    }
    let trees = Trees(trees.try_into().expect("four were made"));
    for thread in 0..threads {
        load(&manager, &trees, thread)?;
    }
    manager.checkpoint()?;
    let before = crate::cpu::of_tree(std::process::id())?;
    let start = Instant::now();
    let counts: Vec<Result<u64>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads)
            .map(|thread| {
                let (manager, trees) = (&manager, &trees);
                scope.spawn(move || work(manager, trees, thread, start + time))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread ends")).collect()
    });
    let elapsed = start.elapsed();
    let cpu_seconds = crate::cpu::of_tree(std::process::id())?.since(before).total();
    manager.close()?;
    Ok(Outcome { transactions: counts.into_iter().sum::<Result<u64>>()?, elapsed, cpu_seconds })
}

/// A key of `thread`: its rows lie together, as those of a range of accounts do.
fn key(thread: u32, row: u64) -> [u8; 12] {
    let mut key = [0; 12];
    key[..4].copy_from_slice(&thread.to_be_bytes());
    key[4..].copy_from_slice(&row.to_be_bytes());
    key
}

fn load(manager: &Arc<Manager>, trees: &Trees, thread: u32) -> Result<()> {
    let wait = Arc::new(SessionWait::new(thread));
    for (tree, rows) in trees.0.iter().zip(ROWS) {
        let mut transaction = manager.begin(Begin::default(), &wait);
        transaction.begin_statement()?;
        for row in 0..rows {
            transaction.put(tree, &key(thread, row), &[0; VALUE_BYTES])?;
        }
        let ended = transaction.commit(&mut |_| ())?;
        manager.data().log().wait_durable(ended.wait_for)?;
    }
    Ok(())
}

fn work(manager: &Arc<Manager>, trees: &Trees, thread: u32, until: Instant) -> Result<u64> {
    let wait = Arc::new(SessionWait::new(thread));
    let mut buffer = RecordBuffer::default();
    let mut value = Vec::new();
    let (mut done, mut chance) = (0u64, u64::from(thread) + 1);
    while done & 0xFF != 0 || Instant::now() < until {
        let mut transaction = manager.begin(Begin::default(), &wait);
        for (tree, rows) in trees.0.iter().zip(ROWS) {
            // A step of SplitMix64's sequence, mixed a little.
            chance = chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let row = key(thread, (chance ^ chance >> 31).wrapping_mul(0x94D0_49BB) % rows);
            let view = transaction.begin_statement()?;
            let (mode, policy) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
            transaction.lock_row(&view, tree, &row, mode, policy, &mut buffer)?;
            value.clear();
            value.extend_from_slice(buffer.value().unwrap_or_default());
            value[..8].copy_from_slice(&done.to_le_bytes());
            transaction.put(tree, &row, &value)?;
            transaction.end_statement();
        }
        transaction.begin_statement()?;
        transaction.put(&trees.0[3], &key(thread, done), &[1; 40])?;
        transaction.end_statement();
        let _ = transaction.commit(&mut |_| ())?;
        done += 1;
    }
    Ok(done)
}
