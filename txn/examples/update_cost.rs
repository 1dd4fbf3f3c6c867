//! What a small transaction costs below SQL: one row locked, changed and committed, without waiting for the disk; and a
//! point read. Threads work on keys of their own.
//!
//! `cargo run --release -p txn --example update_cost -- THREADS TRANSACTIONS`, or under `valgrind --tool=callgrind` with
//! one thread, for instructions: the difference of two counts over the difference in transactions.

use std::sync::Arc;
use std::time::Instant;
use txn::RecordBuffer;
use txn::{
    Begin, Environment, Error, FaultyDevice, Manager, Options, RowLock, SessionWait, SystemClock,
    Threads, Tree, WaitPolicy,
};

const ROWS: u64 = 10_000;

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().unwrap_or(1));
    let threads: u64 = arguments.next().unwrap_or(1);
    let transactions: u64 = arguments.next().unwrap_or(100_000);
    let env = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(4)),
        seed: 1,
    };
    let options = Options::default();
    Manager::create(&env, &options)?;
    let manager = Manager::open::<Error>(env, options, |_| Ok(Vec::new()))?;
    let tree = manager.data().create_tree()?;
    for row in 0..ROWS * threads {
        update(&manager, &tree, &Arc::new(SessionWait::new(1)), row)?;
    }
    for (what, work) in [("update", update as Work), ("read", read as Work)] {
        let began = Instant::now();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (manager, tree) = (&manager, &tree);
                scope.spawn(move || -> Result<(), Error> {
                    let wait = Arc::new(SessionWait::new(1));
                    for number in 0..transactions {
                        work(manager, tree, &wait, thread * ROWS + number * 7919 % ROWS)?;
                    }
                    Ok(())
                });
            }
        });
        let each = began.elapsed().as_nanos() / u128::from(transactions);
        println!("{what}: {each} ns of wall clock per transaction and thread, {threads} threads");
    }
    println!("{:?}", manager.metrics());
    manager.close()
}

type Work = fn(&Arc<Manager>, &Arc<Tree>, &Arc<SessionWait>, u64) -> Result<(), Error>;

fn update(
    manager: &Arc<Manager>,
    tree: &Arc<Tree>,
    wait: &Arc<SessionWait>,
    row: u64,
) -> Result<(), Error> {
    let mut buffer = RecordBuffer::default();
    let mut txn = manager.begin(Begin::default(), wait);
    txn.begin_statement()?;
    let (key, block) = (row.to_be_bytes(), WaitPolicy::Block);
    txn.lock_key(tree, &key, RowLock::NoKeyUpdate, block, &mut buffer)?;
    txn.update(tree, &key, &[row as u8; 100])?;
    let _ = txn.commit(&mut |_| ())?;
    Ok(())
}

fn read(
    manager: &Arc<Manager>,
    tree: &Arc<Tree>,
    wait: &Arc<SessionWait>,
    row: u64,
) -> Result<(), Error> {
    let mut buffer = RecordBuffer::default();
    let mut txn = manager.begin(Begin::default(), wait);
    let view = txn.begin_statement()?;
    assert!(txn.get(&view, tree, &row.to_be_bytes(), &mut buffer)?, "every row is there");
    txn.end_statement();
    let _ = txn.commit(&mut |_| ())?;
    Ok(())
}
