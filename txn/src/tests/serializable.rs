//! SERIALIZABLE: who is refused, when and why, and that nobody else is; what is kept, and for how long.

use super::*;
use crate::{ConflictKind, Fault, Planted, Reason, SireadTarget, TableId};
use std::sync::atomic::{AtomicU64, Ordering};

const SERIALIZABLE: Isolation = Isolation::Serializable;

fn commit(world: &World, txn: Transaction) -> Result<()> {
    let ended = txn.commit(&mut |_| ())?;
    world.answer(ended);
    Ok(())
}

fn reason<T>(result: Result<T>) -> Option<Reason> {
    match result {
        Err(Error::Conflict(ConflictKind::ReadWrite(reason))) => Some(reason),
        _ => None,
    }
}

fn get(txn: &mut Transaction, world: &World, key: &[u8]) -> Result<bool> {
    let view = txn.begin_statement()?;
    txn.get(&view, &world.tree, key, &mut RecordBuffer::default())
}

fn put(txn: &mut Transaction, world: &World, key: &[u8]) -> Result<()> {
    txn.begin_statement()?;
    let mut buffer = RecordBuffer::default();
    txn.lock_key(&world.tree, key, RowLock::Update, WaitPolicy::Block, &mut buffer)?;
    txn.put(&world.tree, key, b"new")
}

fn filled(options: Options) -> World {
    let world = World::new(options);
    let mut txn = world.begin(Isolation::ReadCommitted, 9);
    txn.begin_statement().unwrap();
    for number in 0..400u16 {
        txn.put(&world.tree, &key(2 * number), &[0; 100]).unwrap();
    }
    commit(&world, txn).unwrap();
    world
}

fn read_only(world: &World, deferrable: bool, pid: u32) -> Transaction {
    let wait = Arc::new(SessionWait::new(pid));
    let after = world.manager.visible();
    let isolation = SERIALIZABLE;
    let begin = Begin { isolation, read_only: true, deferrable, after, ..Begin::default() };
    world.manager.begin(begin, &wait)
}

/// What a scan of `low..high` shows, as far as `rows` go.
fn shown(
    txn: &mut Transaction,
    world: &World,
    (low, high): (u16, u16),
    (direction, rows): (Direction, usize),
) -> Result<usize> {
    let view = txn.begin_statement()?;
    let (low, high) = (key(low), key(high));
    let range = KeyRange { low: Bound::Included(&low), high: Bound::Excluded(&high) };
    let mut scan = txn.scan(&view, &world.tree, range, direction)?;
    let mut count = 0;
    while count < rows && scan.advance(txn)?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// Whether a transaction that has read what `reads` reads is the pivot of a skew with one that writes `inserted`.
fn is_read(
    world: &World,
    inserted: u16,
    reads: impl FnOnce(&mut Transaction) -> Result<usize>,
) -> bool {
    let (mut one, mut two) = (world.begin(SERIALIZABLE, 1), world.begin(SERIALIZABLE, 2));
    reads(&mut one).unwrap();
    assert!(get(&mut two, world, &key(790)).is_ok());
    put(&mut one, world, &key(790)).unwrap();
    put(&mut two, world, &key(inserted)).unwrap();
    commit(world, two).unwrap();
    let refused = reason(commit(world, one));
    assert!(refused.is_none_or(|reason| reason == Reason::DoomedCommit));
    refused.is_some()
}

/// G2-item: of two that read what the other writes the first to commit passes, and the other when it is run again.
#[test]
fn write_skew_is_refused_and_passes_when_it_is_run_again() {
    let world = filled(small());
    let skew = |txn: &mut Transaction, reads, writes| {
        get(txn, &world, &key(reads))?;
        put(txn, &world, &key(writes))
    };
    let (mut one, mut two) = (world.begin(SERIALIZABLE, 1), world.begin(SERIALIZABLE, 2));
    skew(&mut one, 0, 2).unwrap();
    skew(&mut two, 2, 0).unwrap();
    commit(&world, one).unwrap();
    assert_eq!(reason(commit(&world, two)), Some(Reason::DoomedCommit));
    let mut again = world.begin(SERIALIZABLE, 2);
    skew(&mut again, 2, 0).unwrap();
    commit(&world, again).unwrap();
}

/// The statement after the other's commit is told, where there is one.
#[test]
fn who_is_doomed_is_told_at_its_next_read_or_write() {
    for (writes, expected) in [(false, Reason::DoomedRead), (true, Reason::DoomedWrite)] {
        let world = filled(small());
        let (mut one, mut two) = (world.begin(SERIALIZABLE, 1), world.begin(SERIALIZABLE, 2));
        get(&mut one, &world, &key(0)).unwrap();
        get(&mut two, &world, &key(2)).unwrap();
        put(&mut one, &world, &key(2)).unwrap();
        put(&mut two, &world, &key(0)).unwrap();
        commit(&world, one).unwrap();
        let next = match writes {
            true => put(&mut two, &world, &key(4)),
            false => get(&mut two, &world, &key(4)).map(|_| ()),
        };
        assert_eq!(reason(next), Some(expected));
    }
}

/// A row that is read behind its lock, where no page is asked any more, is read as any other; so it is where the lock itself has read it
/// by the snapshot, and where both have.
#[test]
fn a_row_that_is_read_behind_its_lock_is_read() {
    for (by_snapshot, again) in [(false, true), (true, false), (true, true)] {
        let world = filled(small());
        let (mut one, mut two) = (world.begin(SERIALIZABLE, 1), world.begin(SERIALIZABLE, 2));
        get(&mut two, &world, &key(2)).unwrap();
        let shown = one.begin_statement().unwrap();
        let view = if by_snapshot { shown } else { ReadView::LATEST };
        let (mut buffer, policy) = (RecordBuffer::default(), WaitPolicy::Block);
        let (lock, row) = (RowLock::NoKeyUpdate, key(0));
        one.lock_row(&view, &world.tree, &row, lock, policy, &mut buffer).unwrap();
        if again {
            assert!(get(&mut one, &world, &row).unwrap());
        }
        put(&mut one, &world, &key(2)).unwrap();
        commit(&world, one).unwrap();
        let refused = put(&mut two, &world, &row).and_then(|()| commit(&world, two));
        assert!(reason(refused).is_some(), "{by_snapshot} {again}");
    }
}

/// One conflict alone is no cycle: whoever is overwritten comes first in the serial order.
#[test]
fn one_conflict_alone_is_nobodys_failure() {
    let world = filled(small());
    let (mut reader, mut writer) = (world.begin(SERIALIZABLE, 1), world.begin(SERIALIZABLE, 2));
    get(&mut reader, &world, &key(0)).unwrap();
    put(&mut reader, &world, &key(2)).unwrap();
    put(&mut writer, &world, &key(0)).unwrap();
    commit(&world, writer).unwrap();
    commit(&world, reader).unwrap();
}

/// Only serializable transactions take part, in either role.
#[test]
fn other_levels_are_in_nobodys_way() {
    for isolation in [Isolation::ReadCommitted, Isolation::RepeatableRead] {
        let world = filled(small());
        let (mut one, mut two) = (world.begin(SERIALIZABLE, 1), world.begin(isolation, 2));
        get(&mut one, &world, &key(0)).unwrap();
        get(&mut two, &world, &key(2)).unwrap();
        put(&mut one, &world, &key(2)).unwrap();
        put(&mut two, &world, &key(0)).unwrap();
        commit(&world, two).unwrap();
        commit(&world, one).unwrap();
    }
}

/// The order of commits decides: a pivot whose out commits last is harmless, at whatever step the conflicts come.
#[test]
fn a_pivot_is_refused_only_where_its_out_commits_first() {
    // in reads what pivot writes, pivot reads what out writes.
    for (order, refused) in [
        (["out", "pivot", "in"], true),
        (["out", "in", "pivot"], true),
        (["in", "pivot", "out"], false),
        (["pivot", "out", "in"], false),
        (["pivot", "in", "out"], false),
        (["in", "out", "pivot"], false),
    ] {
        let world = filled(small());
        let mut txns: std::collections::HashMap<&str, Transaction> = ["in", "pivot", "out"]
            .iter()
            .zip(1..)
            .map(|(name, pid)| (*name, world.begin(SERIALIZABLE, pid)))
            .collect();
        let mut step = |name: &str, reads: bool, at: u16| {
            let txn = txns.get_mut(name).unwrap();
            let done = if reads {
                get(txn, &world, &key(at)).map(|_| ())
            } else {
                put(txn, &world, &key(at))
            };
            done.unwrap();
        };
        step("in", true, 0);
        step("pivot", true, 2);
        step("out", true, 8);
        step("pivot", false, 0);
        step("out", false, 2);
        step("in", false, 4);
        let ends = order.map(|name| reason(commit(&world, txns.remove(name).unwrap())));
        assert_eq!(ends.iter().any(Option::is_some), refused, "{order:?}: {ends:?}");
    }
}

/// The read-only anomaly (Fekete, O'Neil, O'Neil 2004): only a reader that has seen the first commit makes it one.
#[test]
fn a_reader_completes_the_structure_only_if_it_sees_the_first_commit() {
    for (declared, sees, refused) in
        [(true, true, true), (false, true, true), (true, false, false), (false, false, false)]
    {
        let world = filled(small());
        let mut pivot = world.begin(SERIALIZABLE, 1);
        get(&mut pivot, &world, &key(0)).unwrap();
        get(&mut pivot, &world, &key(2)).unwrap();
        let mut early = None;
        let begin = |world: &World| {
            if declared { read_only(world, false, 3) } else { world.begin(SERIALIZABLE, 3) }
        };
        if !sees {
            let mut reader = begin(&world);
            get(&mut reader, &world, &key(2)).unwrap();
            early = Some(reader);
        }
        let mut out = world.begin(SERIALIZABLE, 2);
        put(&mut out, &world, &key(2)).unwrap();
        commit(&world, out).unwrap();
        let mut reader = early.unwrap_or_else(|| begin(&world));
        get(&mut reader, &world, &key(0)).unwrap();
        get(&mut reader, &world, &key(2)).unwrap();
        commit(&world, reader).unwrap();
        let wrote = put(&mut pivot, &world, &key(0));
        let ended = wrote.and_then(|()| commit(&world, pivot));
        assert_eq!(reason(ended).is_some(), refused, "{declared} {sees}");
    }
}

#[test]
fn a_range_is_locked_as_far_as_it_was_read() {
    let all = usize::MAX;
    for (bounds, direction, rows, inserted, expected) in [
        ((100, 300), Direction::Forward, all, 99, false),
        ((100, 300), Direction::Forward, all, 101, true),
        ((100, 300), Direction::Forward, all, 299, true),
        ((100, 300), Direction::Forward, all, 300, false),
        ((100, 300), Direction::Backward, all, 101, true),
        ((100, 300), Direction::Backward, all, 99, false),
        ((100, 300), Direction::Backward, all, 100, true),
        ((0, 600), Direction::Forward, 3, 3, true),
        ((0, 600), Direction::Forward, 3, 5, false),
        ((0, 600), Direction::Backward, 3, 597, true),
        ((0, 600), Direction::Backward, 3, 593, false),
        ((0, 780), Direction::Forward, 300, 599, true),
        ((0, 780), Direction::Forward, 40, 701, false),
    ] {
        let world = filled(small());
        let found = is_read(&world, inserted, |txn| shown(txn, &world, bounds, (direction, rows)));
        assert_eq!(found, expected, "{bounds:?} {direction:?} {rows} {inserted}");
    }
}

#[test]
fn what_is_not_there_is_read_too() {
    let world = filled(small());
    assert!(is_read(&world, 301, |txn| get(txn, &world, &key(301)).map(usize::from)));
    assert!(!is_read(&world, 303, |txn| get(txn, &world, &key(301)).map(usize::from)));
}

/// Past the limit the whole tree is locked, and everything that had been written there is found then.
#[test]
fn too_many_locks_become_one_on_the_tree() {
    for written_before in [true, false] {
        let world = filled(Options { read_set_bytes_max: 4096, ..small() });
        let (mut one, mut two) = (world.begin(SERIALIZABLE, 1), world.begin(SERIALIZABLE, 2));
        get(&mut two, &world, &key(790)).unwrap();
        one.begin_statement().unwrap();
        one.read_table(TableId(7), std::iter::once(world.tree.id()));
        if written_before {
            put(&mut two, &world, &key(701)).unwrap();
        }
        for number in 0..200 {
            get(&mut one, &world, &key(number)).unwrap();
        }
        let locks = world.manager.siread_locks();
        let of_tree = locks.iter().filter(|lock| lock.target == SireadTarget::Tree);
        assert_eq!(
            of_tree.map(|lock| (lock.pid, lock.table)).collect::<Vec<_>>(),
            [(1, Some(TableId(7)))]
        );
        if !written_before {
            put(&mut two, &world, &key(701)).unwrap();
        }
        put(&mut one, &world, &key(790)).unwrap();
        commit(&world, two).unwrap();
        assert_eq!(reason(commit(&world, one)), Some(Reason::DoomedCommit));
    }
}

/// A write that a rollback to a savepoint has undone is no conflict; a read that came before it was one already.
#[test]
fn what_was_undone_was_not_written() {
    let world = filled(small());
    let (mut one, mut two) = (world.begin(SERIALIZABLE, 1), world.begin(SERIALIZABLE, 2));
    get(&mut one, &world, &key(2)).unwrap();
    let savepoint = one.savepoint();
    put(&mut one, &world, &key(0)).unwrap();
    one.rollback_to(savepoint);
    get(&mut two, &world, &key(0)).unwrap();
    put(&mut two, &world, &key(2)).unwrap();
    put(&mut one, &world, &key(4)).unwrap();
    commit(&world, two).unwrap();
    commit(&world, one).unwrap();
}

/// What replaces all of a tree overwrites everything that was read of it.
#[test]
fn a_tree_that_is_replaced_is_overwritten() {
    let world = filled(small());
    let (mut one, mut two) = (world.begin(SERIALIZABLE, 1), world.begin(SERIALIZABLE, 2));
    get(&mut one, &world, &key(2)).unwrap();
    get(&mut two, &world, &key(790)).unwrap();
    put(&mut one, &world, &key(790)).unwrap();
    two.begin_statement().unwrap();
    two.replaces(world.tree.id()).unwrap();
    commit(&world, two).unwrap();
    assert_eq!(reason(commit(&world, one)), Some(Reason::DoomedCommit));
}

/// What was read of an index that another tree replaces counts for all of the table; and so does what was written there.
#[test]
fn what_stands_on_a_tree_that_was_replaced_counts_for_its_table() {
    let table = TableId(7);
    for writes_first in [false, true] {
        let world = filled(small());
        let (before, after) = (
            world.manager.data().create_tree().unwrap(),
            world.manager.data().create_tree().unwrap(),
        );
        let (mut one, mut two) = (world.begin(SERIALIZABLE, 1), world.begin(SERIALIZABLE, 2));
        get(&mut two, &world, &key(790)).unwrap();
        let read = |one: &mut Transaction| {
            let view = one.begin_statement().unwrap();
            one.read_table(table, [world.tree.id(), before.id()].into_iter());
            assert_eq!(scan(one, &view, &before, Direction::Forward), []);
        };
        let write = |two: &mut Transaction| {
            two.begin_statement().unwrap();
            two.read_table(table, [world.tree.id(), after.id()].into_iter());
            super::write(two, &after, b"x", Some(b"new"));
        };
        if writes_first {
            write(&mut two);
            read(&mut one);
        } else {
            read(&mut one);
            write(&mut two);
        }
        put(&mut one, &world, &key(790)).unwrap();
        commit(&world, two).unwrap();
        assert_eq!(reason(commit(&world, one)), Some(Reason::DoomedCommit), "{writes_first}");
        assert_eq!(world.manager.ssi.kept(), (0, false));
    }
}

/// Who overwrites a version that came after what was read conflicts with nobody who read before that.
#[test]
fn only_the_next_version_is_a_conflict() {
    for (late, reads_later) in [(false, false), (false, true), (true, false), (true, true)] {
        let world = filled(Options { late_writes: if late { 0 } else { 9 }, ..small() });
        let mut first = world.begin(SERIALIZABLE, 1);
        if reads_later {
            get(&mut first, &world, &key(30)).map(|_| ())
        } else {
            get(&mut first, &world, &key(8)).map(|_| ())
        }
        .unwrap();
        let mut second = world.begin(SERIALIZABLE, 2);
        put(&mut second, &world, &key(8)).unwrap();
        commit(&world, second).unwrap();
        let (mut third, mut fourth) = (world.begin(SERIALIZABLE, 3), world.begin(SERIALIZABLE, 4));
        get(&mut third, &world, &key(4)).unwrap();
        put(&mut third, &world, &key(8)).unwrap();
        if reads_later {
            get(&mut first, &world, &key(8)).unwrap();
        }
        put(&mut fourth, &world, &key(4)).unwrap();
        // Third is overtaken by fourth, and overtakes nobody: second stands between it and first.
        commit(&world, fourth).unwrap();
        let third = commit(&world, third);
        // While a version is not committed it may never be: then first is asked for all of them.
        assert!(third.is_ok(), "{late} {reads_later}: {third:?}");
        commit(&world, first).unwrap();
    }
}

/// A reader that nobody writes beside takes no part at all.
#[test]
fn a_snapshot_beside_no_writer_is_safe_at_once() {
    let world = filled(small());
    let mut reader = read_only(&world, false, 3);
    assert!(get(&mut reader, &world, &key(0)).unwrap());
    assert!(!reader.notes_reads());
    assert_eq!(world.manager.siread_locks(), []);
    let mut writer = world.begin(SERIALIZABLE, 1);
    get(&mut writer, &world, &key(2)).unwrap();
    let mut other = read_only(&world, false, 4);
    get(&mut other, &world, &key(0)).unwrap();
    assert!(world.manager.siread_locks().iter().any(|lock| lock.pid == 4));
    // Once the writer has ended without a conflict out it is safe, and holds nothing any more.
    put(&mut writer, &world, &key(4)).unwrap();
    commit(&world, writer).unwrap();
    assert!(world.manager.siread_locks().iter().all(|lock| lock.pid != 4));
    get(&mut other, &world, &key(4)).unwrap();
    commit(&world, other).unwrap();
}

/// READ ONLY DEFERRABLE waits for the writers that run, takes another snapshot if one of them made its own unsafe, and can
/// be cancelled.
#[test]
fn a_deferrable_reader_waits_for_a_safe_snapshot() {
    for (unsafe_first, cancelled) in [(false, false), (true, false), (false, true)] {
        let world = filled(small());
        let mut pivot = world.begin(SERIALIZABLE, 1);
        get(&mut pivot, &world, &key(2)).unwrap();
        if unsafe_first {
            let mut out = world.begin(SERIALIZABLE, 2);
            put(&mut out, &world, &key(2)).unwrap();
            commit(&world, out).unwrap();
        }
        std::thread::scope(|scope| {
            let mut reader = read_only(&world, true, 3);
            let wait = Arc::clone(reader.wait());
            let begun = scope.spawn(move || {
                let view = reader.begin_statement();
                view.map(|view| (view.snapshot, reader))
            });
            let blocked = || world.manager.safe_snapshot_blocking_pids(3);
            while blocked() != [1] {
                std::thread::yield_now();
            }
            if cancelled {
                world.manager.environment().raise(&wait.cancel, 7);
                assert!(matches!(begun.join().unwrap(), Err(Error::Cancelled(7))));
                drop(pivot);
                return;
            }
            put(&mut pivot, &world, &key(0)).unwrap();
            let before = world.manager.visible();
            commit(&world, pivot).unwrap();
            let (snapshot, mut reader) = begun.join().unwrap().unwrap();
            assert_eq!(snapshot > before, unsafe_first, "whether it took another snapshot");
            assert!(get(&mut reader, &world, &key(0)).unwrap());
            assert!(!reader.notes_reads());
        });
        assert_eq!(world.manager.ssi.kept(), (0, false));
    }
}

/// Nothing stays once nobody overlaps it, however the transactions end.
#[test]
fn nothing_is_left_when_all_have_ended() {
    let world = filled(small());
    let old = {
        let mut old = world.begin(SERIALIZABLE, 1);
        get(&mut old, &world, &key(0)).unwrap();
        old
    };
    for number in 0..30u16 {
        let mut txn = world.begin(SERIALIZABLE, 2);
        shown(&mut txn, &world, (number, number + 40), (Direction::Forward, usize::MAX)).unwrap();
        get(&mut txn, &world, &key(number)).unwrap();
        put(&mut txn, &world, &key(number + 100)).unwrap();
        if number % 3 == 0 { drop(txn) } else { commit(&world, txn).unwrap() }
    }
    assert_eq!(world.manager.ssi.kept().0, 21);
    commit(&world, old).unwrap();
    assert_eq!(world.manager.ssi.kept(), (0, false));
}

/// Past their limit committed transactions are kept as a summary, which still refuses what it has to.
#[test]
fn a_summary_still_conflicts() {
    let options = || Options { serializable_kept_max: 2, ..small() };
    // The old one overwrites what a summarized one has read, and has itself read what another of them wrote.
    let world = filled(options());
    let mut old = world.begin(SERIALIZABLE, 1);
    get(&mut old, &world, &key(2)).unwrap();
    for number in 0..10u16 {
        let mut txn = world.begin(SERIALIZABLE, 2);
        get(&mut txn, &world, &key(0)).unwrap();
        put(&mut txn, &world, &key(2 + 2 * number)).unwrap();
        commit(&world, txn).unwrap();
    }
    assert_eq!(world.manager.ssi.kept().0, 3);
    assert!(reason(put(&mut old, &world, &key(0))).is_some());
    drop(old);
    assert_eq!(world.manager.ssi.kept(), (0, false));

    // Reading past a summarized writer alone is harmless, and being overwritten as well.
    let world = filled(options());
    let mut old = world.begin(SERIALIZABLE, 1);
    get(&mut old, &world, &key(700)).unwrap();
    for number in 0..10u16 {
        let mut txn = world.begin(SERIALIZABLE, 2);
        put(&mut txn, &world, &key(2 * number)).unwrap();
        commit(&world, txn).unwrap();
    }
    get(&mut old, &world, &key(2)).unwrap();
    put(&mut old, &world, &key(702)).unwrap();
    commit(&world, old).unwrap();
    assert_eq!(world.manager.ssi.kept(), (0, false));
}

/// Two accounts whose sum must not fall below zero; each withdrawal looks at both and takes from one. True if it held.
fn sum_holds(options: Options, isolation: Isolation) -> bool {
    const PAIRS: u64 = 3;
    let world = World::new(options);
    let broken = AtomicU64::new(0);
    let balance = |bytes: &[u8]| i64::from_le_bytes(bytes.try_into().unwrap());
    let account = |pair: u64, side: u64| [pair.to_be_bytes(), side.to_be_bytes()].concat();
    for pair in 0..PAIRS {
        for side in 0..2 {
            world.set(&account(pair, side), Some(&1i64.to_le_bytes()));
        }
    }
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (world, broken) = (&world, &broken);
            scope.spawn(move || {
                let mut chance = storage::chance::Chance::new(thread);
                for _ in 0..150 {
                    let (pair, side) = (chance.below(PAIRS), chance.below(2));
                    let mut txn = world.begin(isolation, 1);
                    let mut withdraw = || {
                        let view = txn.begin_statement()?;
                        let (low, high) = (account(pair, 0), account(pair, 9));
                        let range =
                            KeyRange { low: Bound::Included(&low), high: Bound::Excluded(&high) };
                        let mut scan = txn.scan(&view, &world.tree, range, Direction::Forward)?;
                        let mut sides = Vec::new();
                        while let Some(row) = scan.advance(&mut txn)? {
                            sides.push(balance(row.value));
                        }
                        let total: i64 = sides.iter().sum();
                        if total < 0 {
                            broken.fetch_add(1, Ordering::Relaxed);
                        }
                        let change = if total > 0 { -1 } else { 1 };
                        let (mut buffer, mine) = (RecordBuffer::default(), account(pair, side));
                        let (mode, policy) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
                        txn.lock_row(&view, &world.tree, &mine, mode, policy, &mut buffer)?;
                        let new = sides[side as usize] + change;
                        txn.put(&world.tree, &mine, &new.to_le_bytes())
                    };
                    match withdraw().and_then(|()| txn.commit(&mut |_| ())) {
                        Ok(ended) => world.answer(ended),
                        Err(Error::Conflict(_) | Error::Deadlock(_)) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    assert_eq!(world.manager.ssi.kept(), (0, false));
    broken.into_inner() == 0
}

#[test]
fn concurrent_withdrawals_keep_the_sum() {
    assert!(sum_holds(small(), SERIALIZABLE));
    // Late commits, commits in parts, and hardly anything but a summary.
    let options = Options { late_writes: 0, part_bytes_max: 16, ..small() };
    assert!(sum_holds(Options { serializable_kept_max: 1, ..options }, SERIALIZABLE));
}

#[test]
fn a_lost_conflict_or_range_is_noticed() {
    for fault in [Fault::ConflictFlagLost, Fault::RangeLockLost] {
        let planted = Planted::new(fault);
        let broken = || !sum_holds(Options { planted, ..small() }, SERIALIZABLE);
        assert!((0..400).any(|_| broken()), "{fault:?} went unnoticed");
    }
}

/// On keys of their own nobody is refused.
#[test]
fn threads_on_keys_of_their_own_are_never_refused() {
    let world = filled(small());
    std::thread::scope(|scope| {
        for thread in 0..4u16 {
            let world = &world;
            scope.spawn(move || {
                for _ in 0..100 {
                    let mut txn = world.begin(SERIALIZABLE, 1);
                    get(&mut txn, world, &key(thread * 4)).unwrap();
                    put(&mut txn, world, &key(thread * 4)).unwrap();
                    commit(world, txn).unwrap();
                }
            });
        }
    });
}
