//! Recovery after crashes at chosen moments: what a checkpoint, the cleaner and the log held just then is set by hand.

use super::*;
use crate::{TreeId, log};
use storage::Device;

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

/// The power goes; what was durable is opened again.
fn crashed(world: World, device: &FaultyDevice, options: Options) -> World {
    let id = world.tree.id();
    device.power_off();
    world.manager.data().log().halt("the power is gone");
    std::mem::forget(world);
    let env = environment(device.crash(5), 4);
    let live = |_: &Arc<Manager>| Ok::<_, Error>(vec![TreeId(1)]);
    let manager = Manager::open(env, options, live).unwrap();
    let tree = manager.data().tree(id).unwrap();
    World { manager, tree }
}

fn world_on(device: &Arc<FaultyDevice>, options: Options) -> World {
    let device = Arc::clone(device) as Arc<dyn Device>;
    World::with(Environment { device, ..environment(FaultyDevice::new(1), 4) }, options)
}

/// The leaves of a commit in parts are redone from its first part on, the pages that its splits have changed from their own
/// records on. So once its leaves are written the redo point may lie between its parts, and the first of them is gone.
#[test]
fn a_commit_whose_first_part_is_before_the_redo_point_is_not_asked_for() {
    let device = Arc::new(FaultyDevice::new(1));
    let world = world_on(&device, in_parts());
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
    let world = crashed(world, &device, in_parts());
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    for key in &keys {
        assert_eq!(read(&mut txn, &view, &world.tree, key), Some(vec![8; 300]));
    }
    drop(txn);
    assert_eq!(world.manager.data().forest().check().unwrap(), []);
}
