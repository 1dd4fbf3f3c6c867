//! The transaction component as a whole, over a disk in memory.

mod background;
mod concurrency;
mod crashes;
mod deadlocks;
mod full;
mod large;
mod loads;
mod locking;
mod locks;
mod moves;
mod occ;
mod partitions;
mod prepared;
mod recovery;
mod restart_scripts;
mod serializable;
mod spill;
mod storms;
mod timestamps;
mod versions;
mod waits;
mod without;

use crate::{
    Begin, Ended, Environment, Error, FaultyDevice, Isolation, KeyRange, Lsn, Manager, Options,
    ReadView, RecordBuffer, Result, RowLock, SchemeKind, SessionWait, SystemClock, Threads,
    Transaction, Tree, WaitPolicy,
};
use std::ops::Bound;
use std::sync::Arc;
use std::task::{Poll, Waker};
use storage::Direction;

/// An open database with one tree.
pub(crate) struct World {
    pub(crate) manager: Arc<Manager>,
    pub(crate) tree: Arc<Tree>,
}

pub(crate) fn environment(device: FaultyDevice, slots: usize) -> Environment {
    Environment {
        device: Arc::new(device),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(slots)),
        seed: 7,
    }
}

pub(crate) fn small() -> Options {
    let storage = storage::Options {
        // The smallest pool that is legal: what a larger one would hide.
        page_bytes: 4096,
        pool_frames: 64,
        log_ring_bytes: 1 << 20,
        log_segment_bytes: 1 << 20,
        log_bytes_max: 64 << 20,
        ..Default::default()
    };
    Options { storage, record_buckets: 64, ..Default::default() }
}

impl World {
    pub(crate) fn new(options: Options) -> World {
        World::with(environment(FaultyDevice::new(1), 4), options)
    }

    pub(crate) fn with(env: Environment, options: Options) -> World {
        Manager::create(&env, &options).unwrap();
        let manager = Manager::open::<Error>(env, options, |_| Ok(Vec::new())).unwrap();
        let tree = manager.data().create_tree().unwrap();
        World { manager, tree }
    }

    pub(crate) fn begin(&self, isolation: Isolation, pid: u32) -> Transaction {
        let wait = Arc::new(SessionWait::new(pid));
        wait.deadlock_timeout_ms.store(20, std::sync::atomic::Ordering::Relaxed);
        let after = self.manager.visible();
        self.manager.begin(Begin { isolation, after, ..Default::default() }, &wait)
    }

    /// As [`World::begin`], under `occ`.
    pub(crate) fn begin_occ(&self, isolation: Isolation, pid: u32) -> Transaction {
        let mut txn = self.begin(isolation, pid);
        txn.set_begin(Begin { isolation: Isolation::ReadCommitted, ..*txn.begin() });
        txn.set_begin(Begin { isolation, scheme: SchemeKind::Occ, ..*txn.begin() });
        txn
    }

    /// Commits one record in a transaction of its own.
    pub(crate) fn set(&self, key: &[u8], value: Option<&[u8]>) -> Lsn {
        let mut txn = self.begin(Isolation::ReadCommitted, 99);
        txn.begin_statement().unwrap();
        write(&mut txn, &self.tree, key, value);
        let ended = txn.commit(&mut |_| ()).unwrap();
        self.answer(ended);
        ended.committed.unwrap()
    }

    /// Waits as the connection of a session would.
    pub(crate) fn answer(&self, ended: Ended) {
        answer(&self.manager, ended).unwrap();
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.manager.close().unwrap();
        }
    }
}

pub(crate) fn answer(manager: &Manager, ended: Ended) -> Result<()> {
    manager.data().log().wait_durable(ended.wait_for)?;
    loop {
        match manager.poll_answer(ended.wait_for, Waker::noop()) {
            Poll::Ready(answer) => return answer,
            Poll::Pending => std::thread::yield_now(),
        }
    }
}

/// A key of a table of few numbers.
pub(crate) fn key(number: u16) -> [u8; 2] {
    number.to_be_bytes()
}

/// A world whose table has the even keys below 200.
pub(crate) fn filled(options: Options) -> World {
    let world = World::new(options);
    let mut txn = world.begin(Isolation::ReadCommitted, 9);
    txn.begin_statement().unwrap();
    for number in 0..100u16 {
        txn.put(&world.tree, &key(2 * number), b"0").unwrap();
    }
    world.answer(txn.commit(&mut |_| ()).unwrap());
    world
}

/// Locks and writes, or deletes, one record.
pub(crate) fn write(txn: &mut Transaction, tree: &Tree, key: &[u8], value: Option<&[u8]>) {
    let mut buffer = RecordBuffer::default();
    txn.lock_key(tree, key, RowLock::Update, WaitPolicy::Block, &mut buffer).unwrap();
    match value {
        Some(value) => txn.put(tree, key, value).unwrap(),
        None => txn.delete(tree, key).unwrap(),
    }
}

pub(crate) fn read(
    txn: &mut Transaction,
    view: &ReadView,
    tree: &Tree,
    key: &[u8],
) -> Option<Vec<u8>> {
    let mut buffer = RecordBuffer::default();
    let found = txn.get(view, tree, key, &mut buffer).unwrap();
    found.then(|| buffer.value().unwrap().to_vec())
}

pub(crate) fn scan(
    txn: &mut Transaction,
    view: &ReadView,
    tree: &Arc<Tree>,
    direction: Direction,
) -> Vec<(Vec<u8>, Vec<u8>)> {
    let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    scan_range(txn, view, tree, range, direction).unwrap()
}

/// The rows of a range, in the order in which they are found.
pub(crate) fn scan_range(
    txn: &mut Transaction,
    view: &ReadView,
    tree: &Arc<Tree>,
    range: KeyRange<'_>,
    direction: Direction,
) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut scan = txn.scan(view, tree, range, direction)?;
    let mut rows = Vec::new();
    while let Some(row) = scan.advance(txn)? {
        rows.push((row.key.to_vec(), row.value.to_vec()));
    }
    Ok(rows)
}
