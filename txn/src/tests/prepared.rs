//! Prepared transactions: locks and writes kept through restarts, and resolved by name.

use super::*;
use crate::{Refused, TableId, TableLock};

const NOTE: &[u8] = b"note";

/// What the instances run on, one after the other.
struct Machine {
    device: Arc<FaultyDevice>,
}

impl Machine {
    fn environment(&self) -> Environment {
        Environment { device: self.device.clone(), ..environment(FaultyDevice::new(1), 4) }
    }

    fn open(&self, tree: storage::TreeId) -> World {
        let env = self.environment();
        let manager = Manager::open::<Error>(env, small(), |_| Ok(vec![tree])).unwrap();
        let tree = manager.data().tree(tree).unwrap();
        World { manager, tree }
    }
}

/// The process dies; what was written stays. The threads that it leaves here write nothing under the next one.
fn restarted(world: World, machine: &mut Machine) -> World {
    let tree = world.tree.id();
    world.manager.quiesce();
    world.manager.data().log().wait_durable_end(world.manager.data().log().tail()).unwrap();
    machine.device = Arc::new(machine.device.survive_process());
    std::mem::forget(world);
    machine.open(tree)
}

/// The process is told to end.
fn stopped(world: World, machine: &Machine) -> World {
    let tree = world.tree.id();
    drop(world);
    machine.open(tree)
}

fn made() -> (World, Machine) {
    let machine = Machine { device: Arc::new(FaultyDevice::new(5)) };
    let world = World::with(machine.environment(), small());
    // Somebody catalogs the tree.
    world.manager.checkpoint().unwrap();
    (world, machine)
}

fn prepare(world: &World, txn: Transaction, name: &[u8]) {
    let ended = txn.prepare((name, NOTE), 2).unwrap().unwrap();
    world.answer(ended);
}

fn resolve(world: &World, name: &[u8], commits: bool) -> std::result::Result<(), Refused> {
    let wait = Arc::new(SessionWait::new(4));
    let found = world.manager.prepared().into_iter().find(|info| info.name == name);
    let info = found.ok_or(Refused::Unknown)?;
    let mut told = None;
    let mut tell = |lsn| told = Some(lsn);
    let ended = world.manager.resolve(&info, commits, &wait, &mut tell).unwrap()?;
    assert_eq!(told, ended.committed);
    world.answer(ended);
    Ok(())
}

fn value(world: &World, key: &[u8]) -> Option<Vec<u8>> {
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    read(&mut txn, &view, &world.tree, key)
}

/// Whether somebody else could lock a row now.
fn is_free(world: &World, key: &[u8], mode: RowLock) -> bool {
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    let mut buffer = RecordBuffer::default();
    let locked = txn.lock_row(&view, &world.tree, key, mode, WaitPolicy::Skip, &mut buffer);
    locked.unwrap() != crate::Locked::Skipped
}

#[test]
fn writes_and_locks_survive_restarts_until_they_are_resolved() {
    for commits in [true, false] {
        let (mut world, mut machine) = made();
        for key in [b"a", b"b", b"c", b"d"] {
            world.set(key, Some(b"old"));
        }
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        let view = txn.begin_statement().unwrap();
        txn.lock_table(TableId(7), TableLock::RowExclusive, WaitPolicy::Block).unwrap();
        write(&mut txn, &world.tree, b"a", Some(b"new"));
        write(&mut txn, &world.tree, b"b", None);
        let mut buffer = RecordBuffer::default();
        let (update, share, block) = (RowLock::Update, RowLock::Share, WaitPolicy::Block);
        txn.lock_row(&view, &world.tree, b"c", update, block, &mut buffer).unwrap();
        txn.lock_row(&view, &world.tree, b"d", share, block, &mut buffer).unwrap();
        prepare(&world, txn, b"one");
        for round in 0..5 {
            assert_eq!(value(&world, b"a").unwrap(), b"old");
            let free = |key, mode| is_free(&world, key, mode);
            assert!(!free(b"a", share) && !free(b"b", share) && !free(b"c", RowLock::KeyShare));
            assert!(free(b"d", share) && !free(b"d", update));
            let mut other = world.begin(Isolation::ReadCommitted, 1);
            assert!(!other.lock_table(TableId(7), TableLock::Share, WaitPolicy::Skip).unwrap());
            drop(other);
            let info = world.manager.prepared();
            assert_eq!((info.len(), &info[0].name[..], &info[0].note[..]), (1, &b"one"[..], NOTE));
            if round == 1 {
                world.manager.checkpoint().unwrap();
            }
            world =
                if round < 3 { restarted(world, &mut machine) } else { stopped(world, &machine) };
        }
        resolve(&world, b"one", commits).unwrap();
        assert_eq!(resolve(&world, b"one", commits), Err(Refused::Unknown));
        assert!(is_free(&world, b"c", update) && is_free(&world, b"d", update));
        let world = restarted(world, &mut machine);
        assert!(world.manager.prepared().is_empty());
        let expected: (&[u8], bool) = if commits { (b"new", false) } else { (b"old", true) };
        assert_eq!(value(&world, b"a").unwrap(), expected.0);
        assert_eq!(value(&world, b"b").is_some(), expected.1);
        assert!(is_free(&world, b"c", update));
    }
}

#[test]
fn names_are_unique_and_bounded() {
    let (world, _) = made();
    for name in [b"x", b"y"] {
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        txn.begin_statement().unwrap();
        write(&mut txn, &world.tree, name, Some(b"1"));
        prepare(&world, txn, name);
    }
    for (name, refused) in [(b"x", Refused::InUse), (b"z", Refused::TooMany)] {
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        txn.begin_statement().unwrap();
        write(&mut txn, &world.tree, b"free", Some(b"1"));
        assert_eq!(txn.prepare((name, NOTE), 2).unwrap(), Err(refused));
        assert!(is_free(&world, b"free", RowLock::Update), "it has rolled back");
    }
    resolve(&world, b"x", true).unwrap();
    resolve(&world, b"y", false).unwrap();
    assert_eq!((value(&world, b"x").is_some(), value(&world, b"y").is_some()), (true, false));
}

/// What is prepared is one record: writes that have gone to scratch space are none, and the transaction rolls back.
#[test]
fn writes_in_scratch_space_cannot_be_prepared() {
    let world = World::new(Options { write_set_bytes_max: 4000, ..small() });
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    for at in 0..100u8 {
        write(&mut txn, &world.tree, &[at], Some(&[1; 60]));
    }
    assert!(txn.state().writes.is_spilled());
    assert!(matches!(txn.prepare((b"x", NOTE), 2), Err(Error::OutOfMemory(_))));
    assert!(world.manager.prepared().is_empty());
    assert!(value(&world, &[7]).is_none() && is_free(&world, &[7], RowLock::Update));
}

/// What a prepared transaction has read under `occ` nobody can change before it is resolved.
#[test]
fn what_was_read_stays_locked() {
    let (world, mut machine) = made();
    world.set(b"a", Some(b"old"));
    let table = TableId(9);
    let begun = |world: &World| {
        let mut txn = world.begin_occ(Isolation::Serializable, 1);
        let view = txn.begin_statement().unwrap();
        txn.read_table(table, std::iter::once(world.tree.id()));
        txn.lock_table(table, TableLock::AccessShare, WaitPolicy::Block).unwrap();
        assert!(read(&mut txn, &view, &world.tree, b"a").is_some());
        write(&mut txn, &world.tree, b"b", Some(b"new"));
        txn
    };
    let txn = begun(&world);
    prepare(&world, txn, b"one");
    let world = restarted(world, &mut machine);
    let mut other = world.begin(Isolation::ReadCommitted, 2);
    let mode = TableLock::RowExclusive;
    assert!(!other.lock_table(table, mode, WaitPolicy::Skip).unwrap());
    resolve(&world, b"one", true).unwrap();
    assert!(other.lock_table(table, mode, WaitPolicy::Skip).unwrap());
    drop(other);
    // What has changed before is found when it prepares.
    let txn = begun(&world);
    world.set(b"a", Some(b"newer"));
    let refused = txn.prepare((b"two", NOTE), 2);
    assert!(matches!(refused, Err(Error::Conflict(crate::ConflictKind::ReadWrite(_)))));
    assert!(world.manager.prepared().is_empty());
}

/// A prepared pivot is past being cancelled, also behind a restart: who would complete the structure goes instead.
#[test]
fn what_was_read_and_written_still_conflicts_behind_a_restart() {
    for restarts in [false, true] {
        let (mut world, mut machine) = made();
        world.set(b"a", Some(b"old"));
        world.set(b"b", Some(b"old"));
        let mut txn = world.begin(Isolation::Serializable, 1);
        let view = txn.begin_statement().unwrap();
        assert!(read(&mut txn, &view, &world.tree, b"a").is_some());
        write(&mut txn, &world.tree, b"b", Some(b"new"));
        prepare(&world, txn, b"one");
        if restarts {
            world = restarted(world, &mut machine);
        }
        assert!(world.manager.siread_locks().iter().any(|lock| lock.pid == 0));
        let mut other = world.begin(Isolation::Serializable, 2);
        let view = other.begin_statement().unwrap();
        let mut buffer = RecordBuffer::default();
        let read = other.get(&view, &world.tree, b"b", &mut buffer).map(|_| ());
        let wrote = read.and_then(|()| other.put(&world.tree, b"a", b"new"));
        let committed = wrote.and_then(|()| other.commit(&mut |_| ()).map(|_| ()));
        assert_eq!(committed.map_err(|error| matches!(error, Error::Conflict(_))), Err(true));
        resolve(&world, b"one", true).unwrap();
        assert_eq!(world.manager.siread_locks(), []);
    }
}

/// An old one does not hold the log: each checkpoint that finds it again logs it anew.
#[test]
fn an_old_one_does_not_hold_the_log() {
    let (world, mut machine) = made();
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    write(&mut txn, &world.tree, b"kept", Some(b"1"));
    prepare(&world, txn, b"old");
    let at = world.manager.data().log().tail();
    let mut redo = Lsn::ZERO;
    for round in 0..4u8 {
        for number in 0..50u8 {
            world.set(&[round, number], Some(&[7; 1000]));
        }
        redo = world.manager.checkpoint_all().unwrap();
    }
    assert!(redo > at, "the redo point is {redo}, and the record was before {at}");
    let world = restarted(world, &mut machine);
    assert_eq!(world.manager.prepared().len(), 1);
    resolve(&world, b"old", true).unwrap();
    world.manager.checkpoint().unwrap();
    let world = restarted(world, &mut machine);
    assert!(world.manager.prepared().is_empty());
    assert_eq!(value(&world, b"kept").unwrap(), b"1");
}

/// A tree of one record, built by the transaction.
fn build(txn: &mut Transaction) -> Arc<storage::Tree> {
    let mut load = txn.new_load(1 << 16, None);
    load.push(b"k", b"built").unwrap();
    match txn.build(load).unwrap() {
        storage::Loaded::Built(tree) => tree,
        storage::Loaded::Duplicate(duplicate, _) => panic!("{duplicate:?}"),
    }
}

/// Rolling back to a savepoint takes back what was built since; a record that names a tree which is gone all the same, as
/// those of earlier versions do, is restored without it.
#[test]
fn a_tree_that_was_given_up_keeps_no_instance_from_starting() {
    for cut in [true, false] {
        let (mut world, mut machine) = made();
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        txn.begin_statement().unwrap();
        let savepoint = txn.savepoint();
        let tree = build(&mut txn);
        if cut {
            txn.rollback_to(savepoint);
            assert!(txn.state().built.is_empty());
        }
        world.manager.data().free_tree(tree.id()).unwrap();
        write(&mut txn, &world.tree, b"a", Some(b"new"));
        prepare(&world, txn, b"one");
        world = restarted(world, &mut machine);
        world = stopped(world, &machine);
        resolve(&world, b"one", true).unwrap();
        assert_eq!(value(&world, b"a").unwrap(), b"new");
    }
}
