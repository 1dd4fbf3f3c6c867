//! Recovery after crashes at chosen moments: what a checkpoint, the cleaner and the log held just then is set by hand.

use super::*;
use crate::{TreeId, log};
use std::sync::atomic::{AtomicU64, Ordering};
use storage::{Device, File};

/// Small parts and segments, and a pool that the cleaner leaves alone.
fn in_parts() -> Options {
    let storage = storage::Options {
        page_bytes: 4096,
        pool_frames: 2048,
        log_ring_bytes: 64 << 10,
        log_segment_bytes: 16 << 10,
        log_bytes_max: 4 << 20,
        ..Default::default()
    };
    Options { storage, write_set_bytes_max: 250, part_bytes_max: 400, ..Default::default() }
}

fn on(device: &Arc<FaultyDevice>) -> Environment {
    let device = Arc::clone(device) as Arc<dyn Device>;
    Environment { device, ..environment(FaultyDevice::new(1), 4) }
}

/// The power goes; what was durable, and some of the rest, is opened again.
fn crashed(
    world: World,
    device: &FaultyDevice,
    options: Options,
    seed: u64,
) -> (World, Arc<FaultyDevice>) {
    let id = world.tree.id();
    device.power_off();
    world.manager.data().log().halt("the power is gone");
    // Its threads end by themselves, and nobody closes it.
    std::mem::forget(world);
    let device = Arc::new(device.crash(seed));
    let live = |_: &Arc<Manager>| Ok::<_, Error>(vec![id]);
    let manager = Manager::open(on(&device), options, live).unwrap();
    let tree = manager.data().tree(id).unwrap();
    (World { manager, tree }, device)
}

/// The leaves of a commit in parts are redone from its first part on, the pages that its splits have changed from their own
/// records on. So once its leaves are written the redo point may lie between its parts, and the first of them is gone.
#[test]
fn a_commit_whose_first_part_is_before_the_redo_point_is_not_asked_for() {
    let device = Arc::new(FaultyDevice::new(1));
    let world = World::with(on(&device), in_parts());
    for key in 0..300u64 {
        world.set(&(10 * key).to_be_bytes(), Some(&[7; 300]));
    }
    world.manager.checkpoint_all().unwrap();
    let before = world.manager.data().log().tail();
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    // The first ones need no room, and so no split; the others do.
    let keys = (0..300u64).map(|key| (10 * key + u64::from(key > 60)).to_be_bytes());
    let keys: Vec<_> = keys.collect();
    for key in &keys {
        write(&mut txn, &world.tree, key, Some(&[8; 300]));
    }
    let ended = txn.commit(&mut |_| ()).unwrap();
    world.answer(ended);
    let mut first = None;
    let mut scan = world.manager.data().log().scan(before).unwrap();
    while let Some(record) = scan.advance().unwrap() {
        first = first.or((record.kind == log::PART).then_some(record.lsn));
    }
    let first = first.expect("it was logged in parts");
    world.manager.data().forest().clean_older_than(Lsn(first.0 + 1)).unwrap();
    let redo = world.manager.checkpoint().unwrap();
    let commit = ended.committed.unwrap();
    assert!(first < redo && redo < commit, "{first}, {redo}, {commit}");
    assert!(first < world.manager.data().log().oldest(), "the first part is still there");
    let (world, _) = crashed(world, &device, in_parts(), 5);
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    for key in &keys {
        assert_eq!(read(&mut txn, &view, &world.tree, key), Some(vec![8; 300]));
    }
    drop(txn);
    assert_eq!(world.manager.data().forest().check().unwrap(), []);
}

/// Every row of the tree, as a new transaction sees it.
fn rows(world: &World) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    scan(&mut txn, &view, &world.tree, Direction::Forward)
}

/// The power goes when a commit's record is durable and no page has it: nobody has seen it, and it is there afterwards,
/// also if the power goes again before the recovery's own checkpoint.
#[test]
fn a_commit_that_was_durable_and_never_visible_is_there_after_every_loss_of_power() {
    let mut device = Arc::new(FaultyDevice::new(4));
    let mut world = World::with(on(&device), small());
    world.set(b"a", Some(b"1"));
    world.set(b"b", Some(b"1"));
    let data = world.manager.data();
    let mut record = log::Writer::default();
    record.begin(&log::Header { txn: 77, ..Default::default() });
    record.write(world.tree.id(), b"a", storage::Change::Put(b"2"));
    record.write(world.tree.id(), b"b", storage::Change::Delete);
    let bytes = record.payload().len();
    let mut space = data.log().reserve(storage::SpaceClass::Commit, 1, bytes as u64).unwrap();
    let commit = data.log().claim(&mut space, bytes).publish(log::COMMIT, record.payload());
    data.log().wait_durable(commit).unwrap();
    drop(space);
    for seed in 0..4 {
        (world, device) = crashed(world, &device, small(), seed);
        assert_eq!(rows(&world), [(b"a".to_vec(), b"2".to_vec())]);
    }
}

/// What a recovery has redone is collected and packed, and some of it written; then the same records are redone over that.
#[test]
fn records_are_redone_over_what_vacuum_and_the_collector_have_made_of_them() {
    let mut device = Arc::new(FaultyDevice::new(6));
    let mut world = World::with(on(&device), small());
    let key = |n: u64| n.to_be_bytes();
    let mut expected = std::collections::BTreeMap::new();
    for round in 0..4u64 {
        for n in 0..200u64 {
            let value = (n * 7 + round * 3) % 5 != 0;
            let value = value.then(|| vec![round as u8 + 1; 100 + n as usize]);
            world.set(&key(n), value.as_deref());
            match value {
                Some(value) => expected.insert(key(n).to_vec(), value),
                None => expected.remove(&key(n)[..]),
            };
        }
        for again in 0..3u64 {
            let wait = Arc::new(SessionWait::new(1));
            while world.manager.collect() {}
            let packing = storage::Packing { fill_percent: 100, group: 5 };
            if (round + again) % 2 == 0 {
                world.manager.vacuum(&world.tree, packing, &wait).unwrap();
            }
            // Some of the pages are written, and no checkpoint moves the redo point.
            let log = world.manager.data().log();
            let (redo, tail) = (world.manager.data().last_checkpoint().redo, log.tail());
            let some = Lsn(redo.0 + (tail.0 - redo.0) * (again + 1) / 4);
            world.manager.data().forest().clean_older_than(some).unwrap();
            (world, device) = crashed(world, &device, small(), 3 * round + again);
            assert_eq!(world.manager.data().forest().check().unwrap(), []);
            let found = rows(&world);
            assert!(found.iter().map(|(key, value)| (key, value)).eq(&expected));
        }
    }
    assert_eq!(world.manager.data().last_checkpoint().redo.0 >> 20, 1, "no checkpoint was taken");
}

/// A device that counts what is read of the log.
struct CountingReads {
    device: Arc<FaultyDevice>,
    bytes: Arc<AtomicU64>,
}

struct CountedFile {
    file: Arc<dyn File>,
    bytes: Arc<AtomicU64>,
}

impl Device for CountingReads {
    fn open(&self, name: &str, create: bool) -> storage::Result<Arc<dyn File>> {
        let file = self.device.open(name, create)?;
        if !name.starts_with("log/") {
            return Ok(file);
        }
        Ok(Arc::new(CountedFile { file, bytes: Arc::clone(&self.bytes) }))
    }

    fn list(&self, prefix: &str) -> storage::Result<Vec<String>> {
        self.device.list(prefix)
    }

    fn rename(&self, from: &str, to: &str) -> storage::Result<()> {
        self.device.rename(from, to)
    }

    fn remove(&self, name: &str) -> storage::Result<()> {
        self.device.remove(name)
    }

    fn sync_names(&self) -> storage::Result<()> {
        self.device.sync_names()
    }
}

impl File for CountedFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> storage::Result<()> {
        self.bytes.fetch_add(into.len() as u64, Ordering::Relaxed);
        self.file.read_at(offset, into)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> storage::Result<()> {
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> storage::Result<()> {
        self.file.sync()
    }

    fn len(&self) -> storage::Result<u64> {
        self.file.len()
    }

    fn set_len(&self, bytes: u64) -> storage::Result<()> {
        self.file.set_len(bytes)
    }
}

/// Once for its end, where structure records are noted; once to be made durable, as it may stand in the system's cache only;
/// and once for the commits.
#[test]
fn the_log_is_read_three_times() {
    let device = Arc::new(FaultyDevice::new(9));
    let world = World::with(on(&device), small());
    for n in 0..40u64 {
        world.set(&n.to_be_bytes(), Some(&[1; 900]));
    }
    world.manager.checkpoint_all().unwrap();
    for n in 0..6_000u64 {
        world.set(&(n % 40).to_be_bytes(), Some(&[n as u8; 900]));
    }
    let log = world.manager.data().log();
    let length = log.tail().0 - world.manager.data().last_checkpoint().redo.0;
    let bytes = Arc::new(AtomicU64::new(0));
    let after = CountingReads { device: Arc::new(device.crash(0)), bytes: Arc::clone(&bytes) };
    std::mem::forget(world);
    let env = Environment { device: Arc::new(after), ..environment(FaultyDevice::new(1), 4) };
    let live = |_: &Arc<Manager>| Ok::<_, Error>(vec![TreeId(1)]);
    let manager = Manager::open(env, small(), live).unwrap();
    assert_eq!(manager.recovered().commits, 6_000);
    let read = bytes.load(Ordering::Relaxed);
    assert!(read < 3 * length + (1 << 20), "{read} bytes of a log of {length}");
    manager.close().unwrap();
}
