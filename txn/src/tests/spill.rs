//! Versions past their marks: spilled, read from scratch space, reclaimed; and who fails when there is no room.

use super::crashes::{self, ACCOUNTS, BALANCE, number};
use super::versions::wait_until;
use super::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use storage::chance::Chance;
use storage::simulation::Simulation;
use storage::{Device, File};

const ROWS: u32 = 400;

fn options() -> Options {
    Options { version_bytes_soft: 32 << 10, version_bytes_hard: 128 << 10, ..small() }
}

fn key(row: u32) -> [u8; 4] {
    row.to_be_bytes()
}

fn value(row: u32, round: u32) -> Vec<u8> {
    let mut value = vec![round as u8; 100 + (row as usize % 50)];
    value[..4].copy_from_slice(&round.to_be_bytes());
    value
}

/// Changes every row, twenty to a transaction.
fn update_all(world: &World, round: u32) -> Result<()> {
    for first in (0..ROWS).step_by(20) {
        let mut txn = world.begin(Isolation::ReadCommitted, 99);
        txn.begin_statement()?;
        for row in first..first + 20 {
            let deleted = row % 7 == 3 && round % 3 == 2;
            let value = value(row, round);
            write(&mut txn, &world.tree, &key(row), (!deleted).then_some(&value));
        }
        world.answer(txn.commit(&mut |_| ())?);
    }
    Ok(())
}

/// The table as it was after `round`.
fn table(round: u32) -> Vec<(Vec<u8>, Vec<u8>)> {
    let rows = (0..ROWS).filter(|row| row % 7 != 3 || round % 3 != 2);
    rows.map(|row| (key(row).to_vec(), value(row, round))).collect()
}

fn assert_sees(txn: &mut Transaction, view: &ReadView, tree: &Arc<Tree>, round: u32) {
    let mut expected = table(round);
    for row in (0..ROWS).step_by(13) {
        let there = row % 7 != 3 || round % 3 != 2;
        assert_eq!(read(txn, view, tree, &key(row)), there.then(|| value(row, round)), "{row}");
    }
    assert_eq!(scan(txn, view, tree, Direction::Forward), expected);
    expected.reverse();
    assert_eq!(scan(txn, view, tree, Direction::Backward), expected);
}

fn assert_nothing_is_left(world: &World) {
    wait_until(|| {
        let metrics = world.manager.metrics();
        (metrics.versions_held, metrics.spilled_held, metrics.tombstones) == (0, 0, 0)
    });
    let metrics = world.manager.metrics();
    assert_eq!((metrics.version_bytes, metrics.spilled_bytes), (0, 0));
    assert_eq!(world.manager.data().scratch().bytes(), 0);
    let mut nodes = 0;
    world.manager.locks.records.for_each(&mut |_| nodes += 1);
    assert_eq!(nodes, 0);
}

#[test]
fn old_snapshots_read_their_versions_from_scratch_space() {
    let world = World::new(options());
    let mut snapshots = Vec::new();
    for round in 0..24 {
        update_all(&world, round).unwrap();
        if [0, 2, 3, 11].contains(&round) {
            let mut txn = world.begin(Isolation::RepeatableRead, round);
            let view = txn.begin_statement().unwrap();
            snapshots.push((round, txn, view));
        }
        // One row that everybody changes: what lies between the snapshots goes.
        for _ in 0..100 {
            world.set(b"hot", Some(&[1; 100]));
        }
        world.set(b"hot", None);
        let held = world.manager.metrics().version_bytes;
        assert!(held <= 48 << 10, "{held} bytes after round {round}");
    }
    let metrics = world.manager.metrics();
    assert!(metrics.versions_spilled >= 3 * u64::from(ROWS), "{metrics:?}");
    assert_eq!(metrics.snapshots_given_up, 0);
    for (round, txn, view) in &mut snapshots {
        assert_sees(txn, view, &world.tree, *round);
    }
    assert!(world.manager.metrics().spilled_reads > 3 * u64::from(ROWS));
    // The oldest goes: what only it needed goes with it.
    let before = world.manager.metrics().spilled_bytes;
    snapshots.remove(0);
    wait_until(|| world.manager.metrics().spilled_bytes < before);
    for (round, txn, view) in &mut snapshots {
        assert_sees(txn, view, &world.tree, *round);
    }
    drop(snapshots);
    assert_nothing_is_left(&world);
}

/// One row, an old snapshot, thousands of updates: neither versions nor notes of them pile up.
#[test]
fn a_hot_row_costs_an_old_snapshot_little() {
    let world = World::new(small());
    world.set(b"hot", Some(b"first"));
    let mut old = world.begin(Isolation::RepeatableRead, 1);
    let view = old.begin_statement().unwrap();
    for round in 0..5000u32 {
        world.set(b"hot", Some(&round.to_be_bytes()));
    }
    let metrics = world.manager.metrics();
    assert!(metrics.versions_held < 20 && metrics.version_bytes < 2000, "{metrics:?}");
    let node = world.manager.locks.records.pin_existing(world.tree.id(), b"hot").unwrap();
    assert_eq!(node.state().pins_for_tests(), 2, "ours and that of the one note");
    world.manager.locks.records.unpin(node);
    assert_eq!(read(&mut old, &view, &world.tree, b"hot").unwrap(), b"first");
    drop(old);
    assert_nothing_is_left(&world);
}

#[test]
fn at_the_limit_of_scratch_space_the_oldest_snapshot_fails() {
    let options = Options { version_spill_bytes_max: 60_000, ..options() };
    let world = World::new(options);
    let mut snapshots = Vec::new();
    for round in 0..16 {
        update_all(&world, round).unwrap();
        let mut txn = world.begin(Isolation::RepeatableRead, round);
        let view = txn.begin_statement().unwrap();
        snapshots.push((round, txn, view));
        let metrics = world.manager.metrics();
        assert!(metrics.version_bytes <= (128 + 16) << 10, "{metrics:?}");
        assert!(metrics.spilled_bytes <= 60_000 + (32 << 10), "{metrics:?}");
    }
    let (_, oldest, view) = &mut snapshots[0];
    let refused = oldest.get(view, &world.tree, &key(0), &mut RecordBuffer::default());
    assert!(matches!(refused, Err(Error::SnapshotTooOld)), "{refused:?}");
    let given_up = world.manager.metrics().snapshots_given_up;
    assert!((1..15).contains(&given_up), "{given_up}");
    let (round, newest, view) = snapshots.last_mut().unwrap();
    assert_sees(newest, view, &world.tree, *round);
    drop(snapshots);
    assert_nothing_is_left(&world);
}

/// A disk that has no room for scratch files while it is told so.
struct FullForScratch {
    disk: FaultyDevice,
    full: Arc<AtomicBool>,
}

struct ScratchOnly(Arc<dyn File>, Arc<AtomicBool>);

impl Device for FullForScratch {
    fn open(&self, name: &str, create: bool) -> storage::error::Result<Arc<dyn File>> {
        let file = self.disk.open(name, create)?;
        if !name.starts_with("scratch/") {
            return Ok(file);
        }
        Ok(Arc::new(ScratchOnly(file, Arc::clone(&self.full))))
    }

    fn list(&self, prefix: &str) -> storage::error::Result<Vec<String>> {
        self.disk.list(prefix)
    }

    fn rename(&self, from: &str, to: &str) -> storage::error::Result<()> {
        self.disk.rename(from, to)
    }

    fn remove(&self, name: &str) -> storage::error::Result<()> {
        self.disk.remove(name)
    }

    fn sync_names(&self) -> storage::error::Result<()> {
        self.disk.sync_names()
    }
}

impl File for ScratchOnly {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> storage::error::Result<()> {
        self.0.read_at(offset, into)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> storage::error::Result<()> {
        if self.1.load(Ordering::Relaxed) {
            return Err(storage::Error::Full("the disk"));
        }
        self.0.write_at(offset, bytes)
    }

    fn sync(&self) -> storage::error::Result<()> {
        self.0.sync()
    }

    fn len(&self) -> storage::error::Result<u64> {
        self.0.len()
    }

    fn set_len(&self, bytes: u64) -> storage::error::Result<()> {
        self.0.set_len(bytes)
    }
}

/// Snapshots are given up from the oldest on, writers never fail, and once there is room nobody fails any more.
#[test]
fn on_a_full_disk_the_oldest_snapshot_fails_and_everybody_else_goes_on() {
    let full = Arc::new(AtomicBool::new(true));
    let device = FullForScratch { disk: FaultyDevice::new(1), full: Arc::clone(&full) };
    let env = Environment { device: Arc::new(device), ..environment(FaultyDevice::new(1), 4) };
    let world = World::with(env, options());
    update_all(&world, 0).unwrap();
    let mut old = world.begin(Isolation::RepeatableRead, 1);
    let view = old.begin_statement().unwrap();
    let mut others = Vec::new();
    for round in 1..4 {
        update_all(&world, round).unwrap();
        let mut txn = world.begin(Isolation::RepeatableRead, 2);
        let view = txn.begin_statement().unwrap();
        others.push((round, txn, view));
        let held = world.manager.metrics().version_bytes;
        assert!(held <= (128 + 16) << 10, "{held}");
    }
    let metrics = world.manager.metrics();
    assert!(metrics.snapshots_given_up > 0 && metrics.versions_spilled == 0, "{metrics:?}");
    let refused = old.get(&view, &world.tree, &key(0), &mut RecordBuffer::default());
    assert!(matches!(refused, Err(Error::SnapshotTooOld)), "{refused:?}");
    let view = ReadView { snapshot: view.snapshot, ..view };
    let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut scan = old.scan(&view, &world.tree, range, Direction::Forward).unwrap();
    assert!(matches!(scan.advance(&mut old), Err(Error::SnapshotTooOld)));
    let (round, newest, view) = others.last_mut().unwrap();
    assert_sees(newest, view, &world.tree, *round);
    full.store(false, Ordering::Relaxed);
    let given_up = metrics.snapshots_given_up;
    wait_until(|| {
        update_all(&world, 9).unwrap();
        world.manager.metrics().versions_spilled > 0
    });
    update_all(&world, 10).unwrap();
    assert_eq!(world.manager.metrics().snapshots_given_up, given_up);
    let (round, newest, view) = others.last_mut().unwrap();
    assert_sees(newest, view, &world.tree, *round);
    drop((old, others));
    assert_nothing_is_left(&world);
}

/// Threads that transfer, snapshots that add up, everything spilling all the time: one thread runs at a time, and the
/// seed says who.
#[test]
fn snapshots_add_up_while_versions_spill() {
    let (spilled, read) = (AtomicU64::new(0), AtomicU64::new(0));
    for seed in 0..30 {
        let device = FaultyDevice::new(seed);
        let (metrics, _) = Simulation::run(seed, 3, |sim| {
            let device = sim.device(device);
            let env = sim.environment(device.clone(), seed);
            let options = Options {
                version_bytes_soft: 2000,
                version_bytes_hard: 1 << 20,
                ..crashes::options(crate::Planted::default())
            };
            Manager::create(&env, &options).unwrap();
            let manager = Manager::open::<Error>(env.clone(), options, |_| Ok(Vec::new())).unwrap();
            let tree = manager.data().create_tree().unwrap();
            crashes::fill(&manager, &tree).unwrap();
            let writer = |session: u64| {
                let (manager, tree) = (Arc::clone(&manager), Arc::clone(&tree));
                let mut chance = Chance::new(seed * 7 + session);
                let body = move || {
                    for number in 1..40 {
                        let done = crashes::transfer(&manager, &tree, &mut chance, session, number);
                        assert!(matches!(done, Ok(()) | Err(Error::Deadlock(_))), "{done:?}");
                    }
                };
                env.scheduler.spawn("writer", Box::new(body))
            };
            let reader = |session: u64| {
                let (manager, tree) = (Arc::clone(&manager), Arc::clone(&tree));
                let body = move || {
                    for scans in 1..6 {
                        let wait = Arc::new(SessionWait::new(session as u32));
                        let isolation = Isolation::RepeatableRead;
                        let begin = Begin { isolation, ..Default::default() };
                        let mut txn = manager.begin(begin, &wait);
                        let view = txn.begin_statement().unwrap();
                        for _ in 0..scans {
                            let all = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
                            let mut scan = txn.scan(&view, &tree, all, Direction::Forward).unwrap();
                            let mut total = 0u64;
                            while let Some(row) = scan.advance(&mut txn).unwrap() {
                                let balance = if row.key[0] == 0 { number(row.value) } else { 0 };
                                total = total.wrapping_add(balance);
                                manager.environment().scheduler.yield_point();
                            }
                            assert_eq!(total, ACCOUNTS * BALANCE);
                        }
                    }
                };
                env.scheduler.spawn("reader", Box::new(body))
            };
            let threads = [writer(0), reader(10), writer(1), reader(11), reader(12)];
            threads.into_iter().for_each(storage::environment::Joinable::join);
            let metrics = manager.metrics();
            manager.close().unwrap();
            assert!(manager.spill.is_empty());
            assert_eq!(manager.metrics().version_bytes, 0);
            metrics
        });
        assert_eq!(metrics.snapshots_given_up, 0, "seed {seed}");
        spilled.fetch_add(metrics.versions_spilled, Ordering::Relaxed);
        read.fetch_add(metrics.spilled_reads, Ordering::Relaxed);
    }
    let (spilled, read) = (spilled.into_inner(), read.into_inner());
    assert!(spilled > 300 && read > 300, "{spilled} spilled, {read} read");
}

#[test]
fn what_is_spilled_is_worth_nothing_after_a_restart() {
    let device = FaultyDevice::new(5);
    let disk = Arc::new(device);
    let env = Environment { device: disk.clone(), ..environment(FaultyDevice::new(1), 2) };
    let world = World::with(env, options());
    update_all(&world, 0).unwrap();
    let mut old = world.begin(Isolation::RepeatableRead, 1);
    old.begin_statement().unwrap();
    update_all(&world, 1).unwrap();
    world.manager.checkpoint().unwrap();
    disk.sync_names().unwrap();
    assert!(!disk.list("scratch/").unwrap().is_empty());
    let after = Arc::new(disk.crash(3));
    drop(old);
    std::mem::forget(world);
    let env = Environment { device: after.clone(), ..environment(FaultyDevice::new(1), 2) };
    let live = vec![crate::TreeId(1)];
    let manager = Manager::open::<Error>(env, options(), |_| Ok(live)).unwrap();
    assert!(after.list("scratch/").unwrap().is_empty());
    let tree = manager.data().tree(crate::TreeId(1)).unwrap();
    let mut txn = manager.begin(Begin::default(), &Arc::new(SessionWait::new(1)));
    let view = txn.begin_statement().unwrap();
    assert_sees(&mut txn, &view, &tree, 1);
    drop(txn);
    manager.close().unwrap();
}
