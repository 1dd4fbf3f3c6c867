//! Rows that get another key while somebody waits for them: see [`crate::moves`].

use super::{World, small, write};
use crate::moves::NOTED_MAX;
use crate::{
    ConflictKind, Error, Isolation, Locked, ReadView, RecordBuffer, RowLock, Transaction,
    WaitPolicy,
};

/// One row gets another key, in a statement of its own.
fn moved(txn: &mut Transaction, world: &World, from: &[u8], to: &[u8]) {
    write(txn, &world.tree, from, None);
    write(txn, &world.tree, to, Some(b"row"));
    txn.move_row(&world.tree, from, to);
}

fn commit_moves(world: &World, moves: &[(&[u8], &[u8])]) {
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    for (from, to) in moves {
        txn.begin_statement().unwrap();
        moved(&mut txn, world, from, to);
    }
    let ended = txn.commit(&mut |_| ()).unwrap();
    world.answer(ended);
}

fn locked(
    txn: &mut Transaction,
    world: &World,
    view: &ReadView,
    key: &[u8],
) -> crate::Result<(Locked, Vec<u8>)> {
    let (mut key, mut record) = (key.to_vec(), RecordBuffer::default());
    let tree = &world.tree;
    let mut lock = |txn: &mut Transaction, key: &[u8]| {
        txn.lock_row(view, tree, key, RowLock::Update, WaitPolicy::Block, &mut record)
    };
    let locked = txn.lock_followed(view, tree, &mut key, &mut lock)?;
    Ok((locked, key))
}

#[test]
fn a_row_is_followed_from_key_to_key() {
    let world = World::new(small());
    for key in [&b"a"[..], b"b", b"c", b"d"] {
        world.set(key, Some(b"row"));
    }
    let mut old = world.begin(Isolation::ReadCommitted, 2);
    let view = old.begin_statement().unwrap();
    let mut above = world.begin(Isolation::RepeatableRead, 3);
    let above_view = above.begin_statement().unwrap();
    // One transaction moves a row twice; the next one puts another in its first place, and moves that on.
    commit_moves(&world, &[(b"a", b"x"), (b"x", b"y")]);
    commit_moves(&world, &[(b"b", b"a"), (b"a", b"z")]);
    world.set(b"c", None);
    assert_eq!(locked(&mut old, &world, &view, b"a").unwrap(), (Locked::Changed, b"y".to_vec()));
    assert_eq!(locked(&mut old, &world, &view, b"b").unwrap(), (Locked::Changed, b"z".to_vec()));
    assert_eq!(locked(&mut old, &world, &view, b"c").unwrap(), (Locked::Gone, b"c".to_vec()));
    assert_eq!(locked(&mut old, &world, &view, b"d").unwrap(), (Locked::Same, b"d".to_vec()));
    world.answer(old.rollback());
    let error = locked(&mut above, &world, &above_view, b"b").unwrap_err();
    assert!(matches!(error, Error::Conflict(ConflictKind::Update)), "{error}");
    world.answer(above.rollback());
}

/// What is rolled back to a savepoint is no move, and notes do not outlive the snapshots that need them.
#[test]
fn notes_are_of_what_is_committed_and_as_long_as_somebody_may_ask() {
    let world = World::new(small());
    world.set(b"a", Some(b"row"));
    let mut old = world.begin(Isolation::ReadCommitted, 2);
    let view = old.begin_statement().unwrap();
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    let savepoint = txn.savepoint();
    moved(&mut txn, &world, b"a", b"x");
    txn.rollback_to(savepoint);
    write(&mut txn, &world.tree, b"a", None);
    let ended = txn.commit(&mut |_| ()).unwrap();
    world.answer(ended);
    assert_eq!(locked(&mut old, &world, &view, b"a").unwrap(), (Locked::Gone, b"a".to_vec()));
    world.answer(old.rollback());

    world.set(b"a", Some(b"row"));
    let mut old = world.begin(Isolation::ReadCommitted, 2);
    let view = old.begin_statement().unwrap();
    commit_moves(&world, &[(b"a", b"x")]);
    let since = (view.snapshot, crate::CommandId(u32::MAX));
    assert!(world.manager.moves.next(world.tree.id(), b"a", since).is_some());
    world.answer(old.rollback());
    world.manager.moves.forget(world.manager.horizon());
    assert!(world.manager.moves.next(world.tree.id(), b"a", since).is_none());
}

/// Of very many moves the first are noted; beyond, a row counts as deleted.
#[test]
fn a_transaction_notes_so_many_moves_and_no_more() {
    let world = World::new(small());
    let key = |n: usize| (n as u32).to_be_bytes();
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    for n in 0..=NOTED_MAX {
        txn.move_row(&world.tree, &key(n), &key(n + 1_000_000));
    }
    write(&mut txn, &world.tree, b"one", Some(b"row"));
    let before = world.manager.visible();
    let ended = txn.commit(&mut |_| ()).unwrap();
    let since = (before, crate::CommandId(u32::MAX));
    let next = |n| world.manager.moves.next(world.tree.id(), &key(n), since).map(|next| next.1);
    assert_eq!(next(NOTED_MAX - 1), Some(key(NOTED_MAX - 1 + 1_000_000).into()));
    assert_eq!(next(NOTED_MAX), None);
    world.answer(ended);
}

fn deleted_and_written(txn: &mut Transaction, world: &World, key: &[u8]) {
    txn.begin_statement().unwrap();
    write(txn, &world.tree, key, None);
    txn.begin_statement().unwrap();
    write(txn, &world.tree, key, Some(b"another"));
}

/// A key that has been given up and taken again, by one transaction or by two, has another row: who saw the one before does not
/// find it, nor follows the other to where that goes.
#[test]
fn a_row_in_the_place_of_another_is_not_the_other() {
    let world = World::new(small());
    let keys = [&b"a"[..], b"b", b"c", b"d", b"e"];
    for key in keys {
        world.set(key, Some(b"row"));
    }
    let mut old = world.begin(Isolation::ReadCommitted, 2);
    let view = old.begin_statement().unwrap();
    let mut above = world.begin(Isolation::RepeatableRead, 3);
    let above_view = above.begin_statement().unwrap();
    // One transaction, and two.
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    deleted_and_written(&mut txn, &world, b"a");
    deleted_and_written(&mut txn, &world, b"c");
    // Undone, and then changed.
    txn.begin_statement().unwrap();
    let savepoint = txn.savepoint();
    deleted_and_written(&mut txn, &world, b"d");
    txn.rollback_to(savepoint);
    write(&mut txn, &world.tree, b"d", Some(b"changed"));
    let ended = txn.commit(&mut |_| ()).unwrap();
    world.answer(ended);
    world.set(b"b", None);
    world.set(b"b", Some(b"another"));
    world.set(b"b", Some(b"another still"));
    // The new row moves away.
    commit_moves(&world, &[(b"c", b"z")]);
    for key in [&b"a"[..], b"b", b"c"] {
        assert_eq!(locked(&mut old, &world, &view, key).unwrap(), (Locked::Gone, key.to_vec()));
    }
    assert_eq!(locked(&mut old, &world, &view, b"d").unwrap(), (Locked::Changed, b"d".to_vec()));
    assert_eq!(locked(&mut old, &world, &view, b"e").unwrap(), (Locked::Same, b"e".to_vec()));
    // A later look sees the rows that are there.
    let latest = old.begin_statement().unwrap();
    assert_eq!(locked(&mut old, &world, &latest, b"a").unwrap(), (Locked::Same, b"a".to_vec()));
    world.answer(old.rollback());
    let error = locked(&mut above, &world, &above_view, b"a").unwrap_err();
    assert!(matches!(error, Error::Conflict(ConflictKind::Delete)), "{error:?}");
    world.answer(above.rollback());
}

/// The same of a transaction whose writes have gone to scratch space in between.
#[test]
fn another_row_is_another_through_scratch_space() {
    let world = World::new(crate::Options { write_set_bytes_max: 1, ..small() });
    world.set(b"a", Some(b"row"));
    world.set(b"b", Some(b"row"));
    let mut old = world.begin(Isolation::ReadCommitted, 2);
    let view = old.begin_statement().unwrap();
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    for n in 0..50u8 {
        write(&mut txn, &world.tree, &[n], Some(b"x"));
    }
    write(&mut txn, &world.tree, b"b", Some(b"changed"));
    deleted_and_written(&mut txn, &world, b"a");
    txn.begin_statement().unwrap();
    let mut buffer = RecordBuffer::default();
    assert!(txn.get_latest(&world.tree, b"a", &mut buffer).unwrap());
    txn.update(&world.tree, b"a", b"another still").unwrap();
    for n in 50..90u8 {
        write(&mut txn, &world.tree, &[n], Some(b"x"));
    }
    let ended = txn.commit(&mut |_| ()).unwrap();
    world.answer(ended);
    assert_eq!(locked(&mut old, &world, &view, b"a").unwrap().0, Locked::Gone);
    assert_eq!(locked(&mut old, &world, &view, b"b").unwrap().0, Locked::Changed);
    world.answer(old.rollback());
}
