//! Trees that are built past the write set and the log: who sees them, and what a crash or a rollback leaves of them.

use super::*;
use crate::{ConflictKind, Loaded, Locked, TreeId};

const ROWS: u64 = 3_000;

fn key(n: u64) -> [u8; 8] {
    n.to_be_bytes()
}

/// Builds a tree of keys that come from the last to the first, so that runs are written and merged.
fn build(txn: &mut Transaction) -> Arc<Tree> {
    let mut load = txn.new_load(0, None);
    for n in (0..ROWS).rev() {
        load.push(&key(n), b"built").unwrap();
    }
    match txn.build(load).unwrap() {
        Loaded::Built(tree) => tree,
        Loaded::Duplicate(duplicate, _) => panic!("{duplicate:?}"),
    }
}

fn count(txn: &mut Transaction, tree: &Arc<Tree>) -> u64 {
    let view = txn.begin_statement().unwrap();
    scan(txn, &view, tree, Direction::Forward).len() as u64
}

#[test]
fn what_was_built_is_as_old_as_its_commit() {
    let world = World::new(small());
    let mut old = world.begin(Isolation::RepeatableRead, 1);
    let view = old.begin_statement().unwrap();
    let mut txn = world.begin(Isolation::ReadCommitted, 2);
    txn.begin_statement().unwrap();
    let tree = build(&mut txn);
    assert_eq!(count(&mut txn, &tree), ROWS, "its builder sees it at once");
    write(&mut txn, &tree, &key(7), Some(b"changed"));
    write(&mut txn, &tree, &key(8), None);
    write(&mut txn, &world.tree, b"name", Some(b"it"));
    let ended = txn.commit(&mut |_| ()).unwrap();
    world.answer(ended);
    let mut new = world.begin(Isolation::ReadCommitted, 3);
    assert_eq!(count(&mut new, &tree), ROWS - 1);
    let now = new.begin_statement().unwrap();
    assert_eq!(read(&mut new, &now, &tree, &key(6)), Some(b"built".to_vec()));
    assert_eq!(read(&mut new, &now, &tree, &key(7)), Some(b"changed".to_vec()));
    write(&mut new, &tree, &key(9), Some(b"later"));
    let _ = new.commit(&mut |_| ()).unwrap();
    // The older snapshot sees nothing, neither of what was built nor of what has replaced it since.
    assert_eq!(count(&mut old, &tree), 0);
    for n in [6, 7, 9] {
        assert_eq!(read(&mut old, &view, &tree, &key(n)), None);
    }
    let mut buffer = RecordBuffer::default();
    let mut lock =
        |n| old.lock_row(&view, &tree, &key(n), RowLock::Update, WaitPolicy::Block, &mut buffer);
    assert!(matches!(lock(6), Err(Error::Conflict(ConflictKind::Update))));
    assert!(!matches!(lock(7), Ok(Locked::Same)));
}

#[test]
fn writes_to_a_diverted_tree_are_built_and_not_kept() {
    let world = World::new(small());
    let mut txn = world.begin(Isolation::ReadCommitted, 2);
    txn.begin_statement().unwrap();
    let empty = world.manager.data().create_tree().unwrap();
    let load = txn.new_load(0, None);
    txn.divert(empty.id(), load);
    for n in [3, 1, 2, 1] {
        write(&mut txn, &empty, &key(n), Some(&[n as u8]));
    }
    assert!(!txn.has_writes());
    assert!(world.manager.locks().is_empty(), "nobody else can reach it: nothing is locked");
    let load = txn.take_load(empty.id()).unwrap();
    let Loaded::Duplicate(duplicate, firsts) = txn.build(load).unwrap() else {
        panic!("1 came twice")
    };
    world.manager.data().free_tree(firsts.id()).unwrap();
    assert_eq!((duplicate.key, duplicate.ordinal), (key(1).to_vec(), 3));
    assert!(!txn.is_loading(empty.id()));
    // A load that is given up leaves nothing.
    let mut load = txn.new_load(0, None);
    for n in 0..ROWS {
        load.push(&key(n), b"given up").unwrap();
    }
    txn.divert(empty.id(), load);
    let _ = txn.rollback();
    assert_eq!(world.manager.data().forest().trees().len(), 2);
    world.manager.data().free_tree(empty.id()).unwrap();
}

/// What has been done when the power fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Building,
    Built,
    Committed,
}

#[test]
fn a_crash_leaves_the_whole_tree_or_nothing_of_it() {
    for stage in [Stage::Building, Stage::Built, Stage::Committed] {
        for seed in 0..20 {
            crash(stage, seed);
        }
    }
}

fn crash(stage: Stage, seed: u64) {
    let device = Arc::new(FaultyDevice::new(seed));
    let at = |device: &Arc<FaultyDevice>| Environment {
        device: Arc::clone(device) as Arc<dyn storage::Device>,
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(4)),
        seed,
    };
    let env = at(&device);
    Manager::create(&env, &small()).unwrap();
    let manager = Manager::open::<Error>(env, small(), |_| Ok(Vec::new())).unwrap();
    let names = manager.data().create_tree().unwrap();
    let world = std::mem::ManuallyDrop::new(World { manager, tree: Arc::clone(&names) });
    world.set(b"first", Some(b"1"));
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    let mut unfinished = None;
    let mut built = None;
    if stage == Stage::Building {
        let mut load = txn.new_load(0, None);
        for n in (0..ROWS).rev() {
            load.push(&key(n ^ 1), b"built").unwrap();
        }
        let mut loading = load.finish().unwrap();
        assert!(loading.advance(1 + seed as usize * 150).unwrap());
        unfinished = Some(loading);
    } else {
        let tree = build(&mut txn);
        write(&mut txn, &names, b"name", Some(&tree.id().0.to_be_bytes()));
        built = Some(tree);
    }
    let crashed = if stage == Stage::Committed {
        let ended = txn.commit(&mut |_| ()).unwrap();
        world.answer(ended);
        Arc::new(device.crash(seed))
    } else {
        let crashed = Arc::new(device.crash(seed));
        drop(txn);
        crashed
    };
    drop((unfinished, built));
    world.manager.quiesce();
    let mut named: Option<[u8; 8]> = None;
    let manager = Manager::open::<Error>(at(&crashed), small(), |manager| {
        let mut found = storage::RecordBuffer::default();
        let there = manager.data().tree(names.id())?.get(b"name", &mut found)?;
        named = there.then(|| found.value().unwrap().try_into().unwrap());
        let tree = named.map(|id| TreeId(u64::from_be_bytes(id)));
        Ok(std::iter::once(names.id()).chain(tree).collect())
    })
    .unwrap();
    let tree = named.map(|id| TreeId(u64::from_be_bytes(id)));
    assert_eq!(tree.is_some(), stage == Stage::Committed, "{stage:?} {seed}");
    assert_eq!(manager.data().forest().trees().len(), 1 + usize::from(tree.is_some()));
    assert_eq!(crashed_files(&crashed), 0, "temporary files are gone");
    manager.quiesce();
    assert_eq!(manager.data().forest().check().unwrap(), Vec::new(), "{stage:?} {seed}");
    let world = World { tree: manager.data().tree(names.id()).unwrap(), manager };
    if let Some(tree) = tree {
        let tree = world.manager.data().tree(tree).unwrap();
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        assert_eq!(count(&mut txn, &tree), ROWS);
    }
}

fn crashed_files(device: &Arc<FaultyDevice>) -> usize {
    storage::Device::list(&**device, "scratch/").unwrap().len()
}
