//! What is missing where a component is left out: nothing else, and nothing where all are there.

use super::*;
use crate::log::{self, Reader};
use crate::{TableId, TableLock, Without};

/// How many writes the log has of commits from `from` on.
fn logged_writes(world: &World, from: Lsn) -> usize {
    let log = world.manager.data().log();
    log.wait_durable_end(log.tail()).unwrap();
    let mut scan = log.scan(from).unwrap();
    let mut writes = 0;
    while let Some(record) = scan.advance().unwrap() {
        if record.kind == log::COMMIT {
            let (_, mut reader) = Reader::new(record.payload).unwrap();
            while reader.write().unwrap().is_some() {
                writes += 1;
            }
        }
    }
    writes
}

#[test]
fn without_a_log_a_commit_has_its_place_there_and_none_of_its_writes() {
    for log in [false, true] {
        let without = Without { log, ..Without::default() };
        let world = World::new(Options { without, ..small() });
        let from = world.manager.data().log().tail();
        let first = world.set(b"a", Some(b"1"));
        assert!(world.set(b"a", Some(b"2")) > first, "timestamps ascend");
        assert_eq!(logged_writes(&world, from), if log { 0 } else { 2 });
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        let view = txn.begin_statement().unwrap();
        assert_eq!(read(&mut txn, &view, &world.tree, b"a").as_deref(), Some(&b"2"[..]));
    }
}

#[test]
fn without_locks_nobody_is_in_the_way() {
    for locks in [false, true] {
        let without = Without { locks, ..Without::default() };
        let world = World::new(Options { without, ..small() });
        let (mut one, mut other) =
            (world.begin(Isolation::ReadCommitted, 1), world.begin(Isolation::ReadCommitted, 2));
        let may = |txn: &mut Transaction| {
            txn.begin_statement().unwrap();
            let table = txn.lock_table(TableId(1), TableLock::Exclusive, WaitPolicy::Skip);
            let row = txn.try_lock_key(&world.tree, b"a", RowLock::Update);
            (table.unwrap(), row.unwrap())
        };
        assert_eq!(may(&mut one), (true, true));
        assert_eq!(may(&mut other), (locks, locks));
    }
}

/// Both know the row as it was before either has changed it.
#[test]
fn without_locks_the_last_of_two_updates_stands() {
    let without = Without { locks: true, ..Without::default() };
    let world = World::new(Options { without, ..small() });
    world.set(b"a", Some(&[0; 60]));
    let mut updates = Vec::new();
    for number in [1, 2] {
        let mut txn = world.begin(Isolation::ReadCommitted, number);
        let (view, mut row) = (txn.begin_statement().unwrap(), RecordBuffer::default());
        let (mode, policy) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
        txn.lock_row(&view, &world.tree, b"a", mode, policy, &mut row).unwrap();
        let mut value = row.value().unwrap().to_vec();
        value[number as usize] = number as u8;
        txn.update(&world.tree, b"a", &value).unwrap();
        updates.push((txn, value));
    }
    for (txn, value) in updates {
        world.answer(txn.commit(&mut |_| ()).unwrap());
        let mut txn = world.begin(Isolation::ReadCommitted, 3);
        let view = txn.begin_statement().unwrap();
        assert_eq!(read(&mut txn, &view, &world.tree, b"a"), Some(value));
    }
}

#[test]
fn without_versions_an_older_snapshot_finds_nothing() {
    for versions in [false, true] {
        let without = Without { versions, ..Without::default() };
        let world = World::new(Options { without, ..small() });
        world.set(b"a", Some(b"1"));
        let mut txn = world.begin(Isolation::RepeatableRead, 1);
        let view = txn.begin_statement().unwrap();
        world.set(b"a", Some(b"2"));
        let found = read(&mut txn, &view, &world.tree, b"a");
        assert_eq!(found.as_deref(), if versions { None } else { Some(&b"1"[..]) });
    }
}
