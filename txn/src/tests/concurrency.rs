//! Anomalies that threads try to produce.

use super::*;
use crate::{ConflictKind, Fault, Planted};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

/// Adds one to a record after locking it, as UPDATE does.
fn increment(world: &World, isolation: Isolation, key: &[u8]) -> Result<Ended> {
    let mut txn = world.begin(isolation, 1);
    let mut buffer = RecordBuffer::default();
    let view = txn.begin_statement()?;
    let (update, block) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
    txn.lock_row(&view, &world.tree, key, update, block, &mut buffer)?;
    let count = number(buffer.value().unwrap());
    txn.put(&world.tree, key, &(count + 1).to_le_bytes())?;
    txn.commit(&mut |_| ())
}

fn count_up(options: Options, isolation: Isolation) -> (u64, u64) {
    const THREADS: usize = 4;
    const ROUNDS: u64 = 300;
    let world = World::new(options);
    world.set(b"n", Some(&0u64.to_le_bytes()));
    let committed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    match increment(&world, isolation, b"n") {
                        Ok(_) => drop(committed.fetch_add(1, Ordering::Relaxed)),
                        Err(Error::Conflict(ConflictKind::Update)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    let counted = number(&read(&mut txn, &view, &world.tree, b"n").unwrap());
    (counted, committed.into_inner())
}

/// P4, lost update: no increment that was committed is missing, at either level.
#[test]
fn no_update_is_lost() {
    let (counted, committed) = count_up(small(), Isolation::ReadCommitted);
    assert_eq!((counted, committed), (1200, 1200));
    let (counted, committed) = count_up(small(), Isolation::RepeatableRead);
    assert_eq!(counted, committed);
}

#[test]
fn locks_that_go_before_the_commit_is_applied_lose_updates() {
    let planted = Planted::new(Fault::ReleaseBeforeApply);
    let (counted, committed) = count_up(Options { planted, ..small() }, Isolation::ReadCommitted);
    assert!(counted < committed, "the planted fault went unnoticed");
}

fn failed_commit_leaves_a_trace(planted: Planted) -> bool {
    let world = World::new(Options { planted, ..small() });
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    write(&mut txn, &world.tree, b"a", Some(b"1"));
    // A tree that has been dropped meanwhile: the commit finds out before its claim.
    let dropped = world.manager.data().create_tree().unwrap();
    write(&mut txn, &dropped, b"b", Some(b"1"));
    world.manager.data().free_tree(dropped.id()).unwrap();
    drop(dropped);
    let failed = txn.commit(&mut |_| ());
    assert!(failed.is_err(), "{failed:?}");
    let mut buffer = storage::RecordBuffer::default();
    let found = world.tree.get(b"a", &mut buffer).unwrap();
    if found {
        std::mem::forget(world);
    }
    found
}

/// Log first: what fails before its log record has changed nothing.
#[test]
fn a_commit_that_fails_leaves_nothing() {
    assert!(!failed_commit_leaves_a_trace(Planted::default()));
    assert!(failed_commit_leaves_a_trace(Planted::new(Fault::ApplyBeforeLog)));
}

/// A5B, write skew: two transactions read what the other writes. Snapshot isolation permits this.
#[test]
fn write_skew_is_permitted_under_repeatable_read() {
    let world = World::new(small());
    world.set(b"a", Some(b"1"));
    world.set(b"b", Some(b"1"));
    let mut one = world.begin(Isolation::RepeatableRead, 1);
    let mut two = world.begin(Isolation::RepeatableRead, 2);
    let view = one.begin_statement().unwrap();
    assert!(read(&mut one, &view, &world.tree, b"b").is_some());
    let view = two.begin_statement().unwrap();
    assert!(read(&mut two, &view, &world.tree, b"a").is_some());
    write(&mut one, &world.tree, b"a", None);
    write(&mut two, &world.tree, b"b", None);
    let ended = [one.commit(&mut |_| ()).unwrap(), two.commit(&mut |_| ()).unwrap()];
    ended.into_iter().for_each(|ended| world.answer(ended));
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    assert!(scan(&mut txn, &view, &world.tree, Direction::Forward).is_empty());
}

/// Threads insert the same keys: each key has exactly one winner, whatever the snapshots.
#[test]
fn of_two_inserts_of_one_key_one_wins() {
    let world = World::new(small());
    let wins: Vec<_> = (0..200).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for thread in 0..4u8 {
            let (world, wins) = (&world, &wins);
            scope.spawn(move || {
                for (key, wins) in (0u16..).zip(wins) {
                    let mut txn = world.begin(Isolation::RepeatableRead, 1);
                    txn.begin_statement().unwrap();
                    let (mut buffer, key) = (RecordBuffer::default(), key.to_be_bytes());
                    let (update, block) = (RowLock::Update, WaitPolicy::Block);
                    if !txn.lock_key(&world.tree, &key, update, block, &mut buffer).unwrap() {
                        txn.put(&world.tree, &key, &[thread]).unwrap();
                        let _ = txn.commit(&mut |_| ()).unwrap();
                        wins.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    assert!(wins.iter().all(|wins| wins.load(Ordering::Relaxed) == 1));
}

/// Money moves between accounts while readers add up: every snapshot shows the same total. Writers commit into a tree
/// of a small pool, so that some commits are late.
#[test]
fn every_snapshot_shows_the_same_total() {
    const ACCOUNTS: u64 = 64;
    let options = Options { late_writes: 3, ..small() };
    let world = World::new(options);
    for account in 0..ACCOUNTS {
        world.set(&account.to_be_bytes(), Some(&100u64.to_le_bytes()));
    }
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..3u64 {
            let (world, stop) = (&world, &stop);
            scope.spawn(move || {
                let mut chance = storage::chance::Chance::new(thread);
                for _ in 0..400 {
                    let mut accounts: Vec<_> =
                        (0..2 + chance.below(4)).map(|_| chance.below(ACCOUNTS)).collect();
                    accounts.sort_unstable();
                    accounts.dedup();
                    let mut txn = world.begin(Isolation::ReadCommitted, 1);
                    let view = txn.begin_statement().unwrap();
                    let mut balances = Vec::new();
                    for account in &accounts {
                        let mut buffer = RecordBuffer::default();
                        let (update, block) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
                        let key = account.to_be_bytes();
                        txn.lock_row(&view, &world.tree, &key, update, block, &mut buffer).unwrap();
                        balances.push(number(buffer.value().unwrap()));
                    }
                    balances.rotate_left(1);
                    for (account, balance) in accounts.iter().zip(&balances) {
                        txn.put(&world.tree, &account.to_be_bytes(), &balance.to_le_bytes())
                            .unwrap();
                    }
                    let _ = txn.commit(&mut |_| ()).unwrap();
                }
                stop.store(true, Ordering::Relaxed);
            });
        }
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                let mut txn = world.begin(Isolation::RepeatableRead, 2);
                for direction in [Direction::Forward, Direction::Backward] {
                    let view = txn.begin_statement().unwrap();
                    let rows = scan(&mut txn, &view, &world.tree, direction);
                    assert_eq!(rows.len() as u64, ACCOUNTS);
                    let total: u64 = rows.iter().map(|row| number(&row.1)).sum();
                    assert_eq!(total, ACCOUNTS * 100);
                }
            }
        });
    });
    assert!(world.manager.metrics().late_commits > 0);
}
