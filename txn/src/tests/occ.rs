//! `occ`: what a commit finds of what it has read, and that no more is refused than has to be.

use super::locks::lock;
use super::*;
use crate::{ConflictKind, Fault, Planted, TableId, TableLock};
use std::sync::atomic::{AtomicU64, Ordering};

const SERIALIZABLE: Isolation = Isolation::Serializable;

fn is_conflict<T: std::fmt::Debug>(result: Result<T>) -> bool {
    matches!(result, Err(Error::Conflict(ConflictKind::ReadWrite(_))))
}

fn commit(world: &World, txn: Transaction) -> Result<()> {
    let ended = txn.commit(&mut |_| ())?;
    world.answer(ended);
    Ok(())
}

/// What a scan of `low..high` shows, as far as `rows` go.
fn shown(
    txn: &mut Transaction,
    view: &ReadView,
    tree: &Arc<Tree>,
    (low, high): (&[u8], &[u8]),
    (direction, rows): (Direction, usize),
) -> Vec<Vec<u8>> {
    let range = KeyRange { low: Bound::Included(low), high: Bound::Excluded(high) };
    let mut scan = txn.scan(view, tree, range, direction).unwrap();
    let mut keys = Vec::new();
    while keys.len() < rows
        && let Some(row) = scan.advance(txn).unwrap()
    {
        keys.push(row.key.to_vec());
    }
    keys
}

fn filled(options: Options) -> World {
    let world = World::new(options);
    let mut txn = world.begin(Isolation::ReadCommitted, 9);
    txn.begin_statement().unwrap();
    for key in 0..400u16 {
        txn.put(&world.tree, &(2 * key).to_be_bytes(), &[0; 100]).unwrap();
    }
    commit(&world, txn).unwrap();
    world
}

/// G2-item: of two that read what the other writes, the first to commit passes; the other passes when it is run again.
#[test]
fn write_skew_is_refused_and_passes_when_it_is_run_again() {
    let world = filled(small());
    let skew = |world: &World, txn: &mut Transaction, reads, writes| {
        let view = txn.begin_statement().unwrap();
        assert!(read(txn, &view, &world.tree, &key(reads)).is_some());
        write(txn, &world.tree, &key(writes), Some(b"1"));
    };
    let (mut one, mut two) = (world.begin_occ(SERIALIZABLE, 1), world.begin_occ(SERIALIZABLE, 2));
    skew(&world, &mut one, 0, 2);
    skew(&world, &mut two, 2, 0);
    commit(&world, one).unwrap();
    assert!(is_conflict(commit(&world, two)));
    let mut again = world.begin_occ(SERIALIZABLE, 2);
    skew(&world, &mut again, 2, 0);
    commit(&world, again).unwrap();
}

/// G2: a row that somebody else puts into a range that was read, even a range without rows; and one at its edge.
#[test]
fn a_phantom_is_found_in_the_range_and_not_beside_it() {
    for direction in [Direction::Forward, Direction::Backward] {
        for (inserted, conflicts) in
            [(99, false), (101, true), (299, true), (301, false), (300, false), (100, true)]
        {
            let world = filled(small());
            let mut txn = world.begin_occ(SERIALIZABLE, 1);
            let view = txn.begin_statement().unwrap();
            let bounds = (&key(100)[..], &key(300)[..]);
            let rows = shown(&mut txn, &view, &world.tree, bounds, (direction, usize::MAX));
            assert_eq!(rows.len(), 100);
            write(&mut txn, &world.tree, &key(700), Some(b"mine"));
            world.set(&key(inserted), Some(b"theirs"));
            let found = is_conflict(commit(&world, txn));
            assert_eq!(found, conflicts, "{inserted} {direction:?}");
        }
    }
}

#[test]
fn what_was_deleted_counts_as_read() {
    let world = filled(small());
    let mut txn = world.begin_occ(SERIALIZABLE, 1);
    let view = txn.begin_statement().unwrap();
    assert!(read(&mut txn, &view, &world.tree, &key(8)).is_some());
    assert!(read(&mut txn, &view, &world.tree, &key(9)).is_none());
    write(&mut txn, &world.tree, &key(700), Some(b"mine"));
    world.set(&key(8), None);
    while world.manager.collect() {}
    assert!(is_conflict(commit(&world, txn)));
}

/// What nobody has seen was not read: a scan that is given up covers what it handed out.
#[test]
fn a_scan_that_is_given_up_covers_what_it_has_shown() {
    for (direction, inserted, conflicts) in [
        (Direction::Forward, 3, true),
        (Direction::Forward, 5, false),
        (Direction::Forward, 601, false),
        (Direction::Backward, 597, true),
        (Direction::Backward, 593, false),
    ] {
        let world = filled(small());
        let mut txn = world.begin_occ(SERIALIZABLE, 1);
        let view = txn.begin_statement().unwrap();
        let bounds = (&key(0)[..], &key(600)[..]);
        assert_eq!(shown(&mut txn, &view, &world.tree, bounds, (direction, 3)).len(), 3);
        write(&mut txn, &world.tree, &key(700), Some(b"mine"));
        world.set(&key(inserted), Some(b"theirs"));
        assert_eq!(is_conflict(commit(&world, txn)), conflicts, "{inserted} {direction:?}");
    }
}

/// Own writes in the range stand on no page; what is between them and the pages' rows was read.
#[test]
fn own_writes_carry_the_range_on() {
    for (inserted, conflicts) in [(803, true), (807, false)] {
        let world = filled(small());
        let mut txn = world.begin_occ(SERIALIZABLE, 1);
        txn.begin_statement().unwrap();
        write(&mut txn, &world.tree, &key(805), Some(b"mine"));
        let view = txn.begin_statement().unwrap();
        let bounds = (&key(799)[..], &key(900)[..]);
        let rows = shown(&mut txn, &view, &world.tree, bounds, (Direction::Forward, 1));
        assert_eq!(rows, [key(805)]);
        world.set(&key(inserted), Some(b"theirs"));
        assert_eq!(is_conflict(commit(&world, txn)), conflicts, "{inserted}");
    }
}

/// Transactions on disjoint ranges of the same leaf all commit, while they overlap.
#[test]
fn disjoint_ranges_do_not_meet() {
    let world = filled(small());
    let mut open: Vec<_> = (0..8u16)
        .map(|part| {
            let mut txn = world.begin_occ(SERIALIZABLE, u32::from(part));
            let view = txn.begin_statement().unwrap();
            let bounds = (&key(part * 100)[..], &key(part * 100 + 100)[..]);
            let every = (Direction::Forward, usize::MAX);
            assert_eq!(shown(&mut txn, &view, &world.tree, bounds, every).len(), 50);
            txn
        })
        .collect();
    for (part, txn) in (0u16..).zip(&mut open) {
        write(txn, &world.tree, &key(part * 100 + 51), Some(b"mine"));
    }
    open.into_iter().for_each(|txn| commit(&world, txn).unwrap());
}

/// The reader of the read-only anomaly (Fekete, O'Neil, O'Neil 2004) and a transaction that wrote nothing.
#[test]
fn who_writes_nothing_is_never_refused() {
    let world = filled(small());
    let wait = Arc::new(SessionWait::new(3));
    let read_only = Begin {
        isolation: SERIALIZABLE,
        scheme: crate::SchemeKind::Occ,
        read_only: true,
        after: world.manager.visible(),
        ..Begin::default()
    };
    let (mut declared, mut quiet) =
        (world.manager.begin(read_only, &wait), world.begin_occ(SERIALIZABLE, 2));
    assert!(!declared.notes_reads() && quiet.notes_reads());
    for txn in [&mut declared, &mut quiet] {
        let view = txn.begin_statement().unwrap();
        assert_eq!(scan(txn, &view, &world.tree, Direction::Forward).len(), 400);
    }
    world.set(&key(0), Some(b"theirs"));
    for mut txn in [declared, quiet] {
        let view = txn.begin_statement().unwrap();
        assert_eq!(read(&mut txn, &view, &world.tree, &key(0)).unwrap(), [0; 100]);
        commit(&world, txn).unwrap();
    }
}

/// What has been read is also refused where the other is not serializable itself.
#[test]
fn writers_at_other_levels_count() {
    for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead] {
        let world = filled(small());
        let mut other = world.begin(isolation, 2);
        other.begin_statement().unwrap();
        let mut txn = world.begin_occ(SERIALIZABLE, 1);
        let view = txn.begin_statement().unwrap();
        assert!(read(&mut txn, &view, &world.tree, &key(8)).is_some());
        write(&mut txn, &world.tree, &key(10), Some(b"mine"));
        write(&mut other, &world.tree, &key(8), Some(b"theirs"));
        commit(&world, other).unwrap();
        assert!(is_conflict(commit(&world, txn)));
    }
}

/// A lock that a rollback to a savepoint has let go of no longer keeps what was seen under it.
#[test]
fn what_was_seen_under_a_lock_that_has_gone_is_validated() {
    for (changed, conflicts) in [(9, true), (11, false)] {
        let world = filled(small());
        let mut txn = world.begin_occ(SERIALIZABLE, 1);
        txn.begin_statement().unwrap();
        let savepoint = txn.savepoint();
        txn.begin_statement().unwrap();
        write(&mut txn, &world.tree, &key(9), Some(b"mine"));
        txn.rollback_to(savepoint);
        txn.begin_statement().unwrap();
        write(&mut txn, &world.tree, &key(700), Some(b"mine"));
        world.set(&key(changed), Some(b"theirs"));
        assert_eq!(is_conflict(commit(&world, txn)), conflicts, "{changed}");
    }
}

/// ROLLBACK TO SAVEPOINT keeps the locks of tables where reads are noted: they are looked for in the same trees.
#[test]
fn a_rollback_to_a_savepoint_keeps_the_locks_of_tables() {
    let world = filled(small());
    let table = TableId(7);
    for keeps in [true, false] {
        // Under `occ` reads are noted at every level.
        let level = Isolation::RepeatableRead;
        let mut txn = if keeps { world.begin_occ(level, 1) } else { world.begin(level, 1) };
        txn.begin_statement().unwrap();
        let savepoint = txn.savepoint();
        txn.begin_statement().unwrap();
        assert!(txn.lock_table(table, TableLock::Share, WaitPolicy::Block).unwrap());
        txn.rollback_to(savepoint);
        let mut other = world.begin(Isolation::ReadCommitted, 2);
        other.begin_statement().unwrap();
        let free = other.lock_table(table, TableLock::RowExclusive, WaitPolicy::Skip).unwrap();
        assert_eq!(free, !keeps);
    }
}

/// Past the limit the table is locked against writers instead, and nothing more is noted.
#[test]
fn a_large_read_set_becomes_a_lock_on_the_table() {
    let world = filled(Options { read_set_bytes_max: 4096, ..small() });
    let table = TableId(7);
    let mut txn = world.begin_occ(SERIALIZABLE, 1);
    let view = txn.begin_statement().unwrap();
    assert!(txn.read_table(table, std::iter::once(world.tree.id())));
    for number in 0..400 {
        assert!(read(&mut txn, &view, &world.tree, &key(2 * number)).is_some());
    }
    let held = world.manager.locks();
    assert!(held.iter().any(|lock| lock.mode == TableLock::Share.name()), "{held:?}");
    let mut other = world.begin(Isolation::ReadCommitted, 2);
    other.begin_statement().unwrap();
    let mode = TableLock::RowExclusive;
    assert!(!other.lock_table(table, mode, WaitPolicy::Skip).unwrap());
    write(&mut txn, &world.tree, &key(700), Some(b"mine"));
    commit(&world, txn).unwrap();
    assert!(other.lock_table(table, mode, WaitPolicy::Skip).unwrap());

    // What had changed before the lock is found when it is taken.
    let mut txn = world.begin_occ(SERIALIZABLE, 1);
    let view = txn.begin_statement().unwrap();
    assert!(read(&mut txn, &view, &world.tree, &key(0)).is_some());
    assert!(txn.read_table(table, std::iter::once(world.tree.id())));
    drop(other);
    world.set(&key(0), Some(b"theirs"));
    let mut buffer = RecordBuffer::default();
    let reads = (1..400).map(|number| txn.get(&view, &world.tree, &key(2 * number), &mut buffer));
    assert!(is_conflict(reads.collect::<Result<Vec<_>>>()));
}

/// Two accounts whose sum must not fall below zero; each withdrawal looks at both and takes from one. True if it held.
fn sum_holds(options: Options, isolation: Isolation) -> (bool, u64) {
    const THREADS: u64 = 4;
    const ROUNDS: u64 = 150;
    const PAIRS: u64 = 3;
    let world = World::new(options);
    let (refused, broken) = (AtomicU64::new(0), AtomicU64::new(0));
    let balance = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
    let account = |pair: u64, side: u64| [pair.to_be_bytes(), side.to_be_bytes()].concat();
    for pair in 0..PAIRS {
        for side in 0..2 {
            world.set(&account(pair, side), Some(&1i64.to_le_bytes()));
        }
    }
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (world, refused, broken) = (&world, &refused, &broken);
            scope.spawn(move || {
                let mut chance = storage::chance::Chance::new(thread);
                for _ in 0..ROUNDS {
                    let (pair, side) = (chance.below(PAIRS), chance.below(2));
                    let mut txn = world.begin_occ(isolation, 1);
                    let view = txn.begin_statement().unwrap();
                    let (low, high) = (account(pair, 0), account(pair, 9));
                    let range =
                        KeyRange { low: Bound::Included(&low), high: Bound::Excluded(&high) };
                    let mut scan = txn.scan(&view, &world.tree, range, Direction::Forward).unwrap();
                    let mut sides = Vec::new();
                    while let Some(row) = scan.advance(&mut txn).unwrap() {
                        sides.push(balance(row.value));
                    }
                    let total: i64 = sides.iter().sum();
                    if total < 0 {
                        broken.fetch_add(1, Ordering::Relaxed);
                    }
                    let change = if total > 0 { -1 } else { 1 };
                    let mut buffer = RecordBuffer::default();
                    let mine = account(pair, side);
                    let update = RowLock::NoKeyUpdate;
                    let locked = txn.lock_row(
                        &view,
                        &world.tree,
                        &mine,
                        update,
                        WaitPolicy::Block,
                        &mut buffer,
                    );
                    let done = locked.and_then(|_| {
                        let new = sides[side as usize] + change;
                        txn.put(&world.tree, &mine, &new.to_le_bytes())?;
                        txn.commit(&mut |_| ())
                    });
                    match done {
                        Ok(ended) => world.answer(ended),
                        Err(Error::Conflict(_)) => drop(refused.fetch_add(1, Ordering::Relaxed)),
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    (broken.into_inner() == 0, refused.into_inner())
}

#[test]
fn concurrent_withdrawals_keep_the_sum() {
    assert!(sum_holds(small(), SERIALIZABLE).0);
    // Late commits, and commits in parts.
    let options = Options { late_writes: 0, part_bytes_max: 16, ..small() };
    assert!(sum_holds(options, SERIALIZABLE).0);
}

#[test]
fn a_skipped_validation_is_noticed() {
    let planted = Planted::new(Fault::SkipValidation);
    let broken = || !sum_holds(Options { planted, ..small() }, SERIALIZABLE).0;
    assert!((0..400).any(|_| broken()), "the planted fault went unnoticed");
}

/// Commits that wait for each other's turn in the slots: none is refused where nobody meets.
#[test]
fn threads_on_keys_of_their_own_are_never_refused() {
    let world = filled(small());
    std::thread::scope(|scope| {
        for thread in 0..4u16 {
            let world = &world;
            scope.spawn(move || {
                for _ in 0..100 {
                    let mut txn = world.begin_occ(SERIALIZABLE, 1);
                    let view = txn.begin_statement().unwrap();
                    let mine = key(thread * 4);
                    assert!(read(&mut txn, &view, &world.tree, &mine).is_some());
                    write(&mut txn, &world.tree, &mine, Some(b"mine"));
                    commit(world, txn).unwrap();
                }
            });
        }
    });
}

/// Under `occ` a cycle is looked for as soon as its last wait begins, however long `deadlock_timeout` is.
#[test]
fn a_cycle_of_row_locks_ends_at_once() {
    for length in [2, 3] {
        let world = filled(small());
        let barrier = std::sync::Barrier::new(length);
        let run = |first: usize| {
            let mut txn = world.begin_occ(SERIALIZABLE, 1 + first as u32);
            txn.wait().deadlock_timeout_ms.store(u32::MAX, Ordering::Relaxed);
            let row = |number: usize| key(2 * (number % length) as u16);
            lock(&mut txn, &world.tree, &row(first), WaitPolicy::Block).unwrap();
            barrier.wait();
            lock(&mut txn, &world.tree, &row(first + 1), WaitPolicy::Block).map(|_| ())
        };
        let ended: Vec<_> = std::thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> =
                (0..length).map(|first| scope.spawn(move || run(first))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let victims = ended.iter().filter(|end| matches!(end, Err(Error::Deadlock(_)))).count();
        let others = ended.iter().filter(|end| end.is_ok()).count();
        assert_eq!((victims, others), (1, length - 1), "{ended:?}");
    }
}

/// Who waits looks at once only where somebody waits for a row, or a table, of its own.
#[test]
fn who_is_waited_for_is_known() {
    let world = filled(small());
    let (mut one, mut two) = (world.begin_occ(SERIALIZABLE, 1), world.begin_occ(SERIALIZABLE, 2));
    let locks = &world.manager.locks;
    for (at, table) in [false, true].into_iter().enumerate() {
        match table {
            false => drop(lock(&mut one, &world.tree, &key(0), WaitPolicy::Block).unwrap()),
            true => {
                assert!(one.lock_table(TableId(1), TableLock::Share, WaitPolicy::Block).unwrap());
            }
        }
        assert!(!locks.may_be_awaited(one.state()));
        two = std::thread::scope(|scope| {
            let world = &world;
            let waits = scope.spawn(move || {
                two.wait().lock_timeout_ms.store(100, Ordering::Relaxed);
                let refused = if table {
                    two.lock_table(TableId(1), TableLock::RowExclusive, WaitPolicy::Block).err()
                } else {
                    lock(&mut two, &world.tree, &key(0), WaitPolicy::Block).err()
                };
                assert!(matches!(refused, Some(Error::LockNotAvailable { timeout: true })));
                two
            });
            while world.manager.metrics().lock_waits == at as u64 {
                std::thread::yield_now();
            }
            assert!(locks.may_be_awaited(one.state()));
            let two = waits.join().unwrap();
            assert!(!locks.may_be_awaited(two.state()));
            two
        });
    }
}
