//! Two-phase locking: who is in whose way, and what becomes of it under each of the three schemes.

use super::*;
use crate::scheme::locking::OnConflict;
use crate::{ConflictKind, Fault, Planted, Reason};
use std::sync::atomic::Ordering;

const ALL: [OnConflict; 3] = [OnConflict::Detect, OnConflict::NoWait, OnConflict::WaitDie];

fn begin_of(world: &World, wait: &Arc<SessionWait>, on_conflict: OnConflict) -> Transaction {
    let after = world.manager.visible();
    let scheme = SchemeKind::Locking(on_conflict);
    world.manager.begin(Begin { after, scheme, ..Begin::default() }, wait)
}

fn session(pid: u32) -> Arc<SessionWait> {
    let wait = Arc::new(SessionWait::new(pid));
    wait.deadlock_timeout_ms.store(20, Ordering::Relaxed);
    wait
}

fn begin(world: &World, pid: u32, on_conflict: OnConflict) -> Transaction {
    begin_of(world, &session(pid), on_conflict)
}

fn get(txn: &mut Transaction, world: &World, number: u16) -> Result<bool> {
    let view = txn.begin_statement()?;
    txn.get(&view, &world.tree, &key(number), &mut RecordBuffer::default())
}

fn put(txn: &mut Transaction, world: &World, number: u16, value: &[u8]) -> Result<()> {
    txn.begin_statement()?;
    let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
    txn.lock_key(&world.tree, &key(number), mode, policy, &mut RecordBuffer::default())?;
    txn.put(&world.tree, &key(number), value)
}

fn count(txn: &mut Transaction, world: &World, low: u16, high: u16) -> Result<usize> {
    let view = txn.begin_statement()?;
    let (low, high) = (key(low), key(high));
    let range = KeyRange { low: Bound::Included(&low[..]), high: Bound::Excluded(&high[..]) };
    let mut scan = txn.scan(&view, &world.tree, range, Direction::Forward)?;
    let mut rows = 0;
    while scan.advance(txn)?.is_some() {
        rows += 1;
    }
    Ok(rows)
}

fn commit(world: &World, txn: Transaction) {
    world.answer(txn.commit(&mut |_| ()).unwrap());
}

fn refused<T: std::fmt::Debug>(result: Result<T>) -> Option<Reason> {
    match result {
        Err(Error::Conflict(ConflictKind::ReadWrite(reason))) => Some(reason),
        _ => None,
    }
}

fn locked(world: &World) -> usize {
    world.manager.siread_locks().len()
}

fn nothing_is_locked(world: &World) {
    assert_eq!(locked(world), 0);
    assert!(world.manager.locks().is_empty());
}

/// Of two who read what the other writes one is aborted, however: by a deadlock, at once, or because it is younger.
#[test]
fn write_skew_ends_one_of_two() {
    for on_conflict in ALL {
        let world = filled(small());
        let (mut one, mut two) = (begin(&world, 1, on_conflict), begin(&world, 2, on_conflict));
        assert!(get(&mut one, &world, 0).unwrap());
        assert!(get(&mut two, &world, 2).unwrap());
        std::thread::scope(|scope| {
            let world = &world;
            let first = scope.spawn(move || {
                let done = put(&mut one, world, 2, b"1");
                if done.is_ok() {
                    commit(world, one);
                } else {
                    let _ = one.rollback();
                }
                done
            });
            std::thread::sleep(std::time::Duration::from_millis(5));
            let second = put(&mut two, world, 0, b"1");
            if second.is_ok() {
                commit(world, two);
            } else {
                let _ = two.rollback();
            }
            let first = first.join().unwrap();
            match on_conflict {
                OnConflict::Detect => {
                    let deadlocks = [&first, &second];
                    let found =
                        deadlocks.iter().filter(|end| matches!(end, Err(Error::Deadlock(_))));
                    assert_eq!(found.count(), 1, "{first:?} {second:?}");
                }
                OnConflict::NoWait => {
                    // Who comes first is refused, and the other too if it comes before that one has gone.
                    let ends = [refused(first), refused(second)];
                    let busy = Some(Reason::LockBusy);
                    assert!(ends.contains(&busy), "{ends:?}");
                    assert!(ends.iter().all(|end| end.is_none() || *end == busy), "{ends:?}");
                }
                OnConflict::WaitDie => {
                    assert!(first.is_ok());
                    assert_eq!(refused(second), Some(Reason::Died));
                }
            }
        });
        nothing_is_locked(&world);
    }
}

/// A key that somebody puts into a range that was read, and one beside it; also where no record is, and the other way round.
#[test]
fn a_range_that_is_read_keeps_others_out_of_it_and_only_of_it() {
    for (inserted, free) in [(99, true), (100, false), (101, false), (199, false), (200, true)] {
        let world = filled(small());
        let mut reader = begin(&world, 1, OnConflict::NoWait);
        assert_eq!(count(&mut reader, &world, 100, 200).unwrap(), 50);
        let mut writer = begin(&world, 2, OnConflict::NoWait);
        let put_there = put(&mut writer, &world, inserted, b"1");
        assert_eq!(put_there.is_ok(), free, "{inserted}: {put_there:?}");
        drop((reader, writer));
        // A pending insert is on no page, and in a reader's way.
        let mut writer = begin(&world, 2, OnConflict::NoWait);
        put(&mut writer, &world, inserted, b"1").unwrap();
        let mut reader = begin(&world, 1, OnConflict::NoWait);
        assert_eq!(count(&mut reader, &world, 100, 200).is_ok(), free, "{inserted}");
        drop((reader, writer));
        nothing_is_locked(&world);
    }
}

/// The schedule by which the planted fault is found: without its range lock a scan counts again and finds another.
#[test]
fn a_read_range_that_is_not_locked_is_noticed() {
    for planted in [false, true] {
        let fault = Planted::new(Fault::ReadRangeNotLocked);
        let planted_options =
            Options { planted: if planted { fault } else { Planted::default() }, ..small() };
        let world = filled(planted_options);
        let mut reader = begin(&world, 1, OnConflict::NoWait);
        let before = count(&mut reader, &world, 100, 200).unwrap();
        let mut writer = begin(&world, 2, OnConflict::NoWait);
        if put(&mut writer, &world, 101, b"1").is_ok() {
            commit(&world, writer);
        }
        let after = count(&mut reader, &world, 100, 200).unwrap();
        assert_eq!(before == after, !planted);
    }
}

/// Who waits reads what the other has committed, not what was there when it began: no update is lost.
#[test]
fn who_waits_reads_the_latest_state() {
    let world = filled(small());
    let mut one = begin(&world, 1, OnConflict::Detect);
    put(&mut one, &world, 0, b"1").unwrap();
    std::thread::scope(|scope| {
        let world = &world;
        let other = scope.spawn(move || {
            let mut two = begin(world, 2, OnConflict::Detect);
            let view = two.begin_statement().unwrap();
            read(&mut two, &view, &world.tree, &key(0))
        });
        std::thread::sleep(std::time::Duration::from_millis(5));
        commit(world, one);
        assert_eq!(other.join().unwrap().as_deref(), Some(&b"1"[..]));
    });
    nothing_is_locked(&world);
}

/// Who has died is begun again with its age, and outlives whoever began after its first begin.
#[test]
fn who_died_keeps_its_age() {
    let world = filled(small());
    let wait = session(2);
    let mut oldest = begin(&world, 1, OnConflict::WaitDie);
    put(&mut oldest, &world, 0, b"1").unwrap();
    let mut dies = begin_of(&world, &wait, OnConflict::WaitDie);
    assert_eq!(refused(get(&mut dies, &world, 0)), Some(Reason::Died));
    let _ = dies.rollback();
    let mut younger = begin(&world, 3, OnConflict::WaitDie);
    put(&mut younger, &world, 2, b"1").unwrap();
    let mut again = begin_of(&world, &wait, OnConflict::WaitDie);
    put(&mut again, &world, 4, b"1").unwrap();
    assert_eq!(refused(get(&mut younger, &world, 4)), Some(Reason::Died));
    let _ = younger.rollback();
    assert!(get(&mut again, &world, 2).unwrap());
    commit(&world, again);
    commit(&world, oldest);
    nothing_is_locked(&world);
}

/// A reader that is let in behind an older one's back is older than who waits: that one dies rather than wait for it.
#[test]
fn a_waiter_dies_when_an_older_one_comes_to_hold() {
    let world = filled(small());
    let mut oldest = begin(&world, 1, OnConflict::WaitDie);
    let mut waiter = begin(&world, 2, OnConflict::WaitDie);
    let mut youngest = begin(&world, 3, OnConflict::WaitDie);
    assert!(get(&mut youngest, &world, 0).unwrap());
    std::thread::scope(|scope| {
        let world = &world;
        let waits = scope.spawn(move || put(&mut waiter, world, 0, b"1"));
        while world.manager.metrics().lock_waits == 0 {
            std::thread::yield_now();
        }
        assert!(get(&mut oldest, world, 0).unwrap());
        assert_eq!(refused(waits.join().unwrap()), Some(Reason::Died));
    });
    commit(&world, oldest);
    commit(&world, youngest);
    nothing_is_locked(&world);
}

/// Past their limit a transaction's locks in a tree are one lock on all of it.
#[test]
fn many_locks_become_one() {
    let world = filled(Options { read_set_bytes_max: 4096, ..small() });
    let mut reader = begin(&world, 1, OnConflict::NoWait);
    for number in 0..100 {
        get(&mut reader, &world, number).unwrap();
    }
    assert!(locked(&world) < 30);
    let mut writer = begin(&world, 2, OnConflict::NoWait);
    assert_eq!(refused(put(&mut writer, &world, 9999, b"1")), Some(Reason::LockBusy));
    let _ = writer.rollback();
    commit(&world, reader);
    // Where somebody is in the way it is not done, until there is too much.
    let mut writer = begin(&world, 2, OnConflict::NoWait);
    put(&mut writer, &world, 9999, b"1").unwrap();
    let mut reader = begin(&world, 1, OnConflict::NoWait);
    let read = (0..200).take_while(|number| get(&mut reader, &world, *number).is_ok()).count();
    assert!((40..90).contains(&read), "{read}");
    drop((reader, writer));
    nothing_is_locked(&world);
}

/// A rollback to a savepoint takes writes back, and lets go of nothing.
#[test]
fn a_rollback_to_a_savepoint_lets_go_of_nothing() {
    let world = filled(small());
    let mut one = begin(&world, 1, OnConflict::NoWait);
    let savepoint = one.savepoint();
    assert!(get(&mut one, &world, 0).unwrap());
    put(&mut one, &world, 2, b"1").unwrap();
    one.rollback_to(savepoint);
    let mut two = begin(&world, 2, OnConflict::NoWait);
    assert_eq!(refused(put(&mut two, &world, 0, b"1")), Some(Reason::LockBusy));
    let _ = two.rollback();
    let mut two = begin(&world, 2, OnConflict::NoWait);
    assert_eq!(refused(get(&mut two, &world, 2)), Some(Reason::LockBusy));
    drop((one, two));
    nothing_is_locked(&world);
}

/// Threads move money between few accounts and count it: under each scheme the sum stands, and each goes on.
#[test]
fn no_money_is_lost_and_everybody_goes_on() {
    const THREADS: u32 = 4;
    const TRANSFERS: u32 = 50;
    for on_conflict in ALL {
        let world = filled(small());
        std::thread::scope(|scope| {
            for pid in 1..=THREADS {
                let world = &world;
                scope.spawn(move || {
                    let wait = session(pid);
                    let mut chance = storage::chance::Chance::new(u64::from(pid));
                    let amount = |txn: &mut Transaction, number: u16| -> Result<i64> {
                        let view = txn.begin_statement()?;
                        let mut found = RecordBuffer::default();
                        txn.get(&view, &world.tree, &key(number), &mut found)?;
                        let text = found.value().unwrap_or(b"0");
                        Ok(String::from_utf8_lossy(text).parse().unwrap())
                    };
                    for _ in 0..TRANSFERS {
                        let (from, to) =
                            (2 * chance.below(3) as u16, 10 + 2 * chance.below(3) as u16);
                        loop {
                            let mut txn = begin_of(world, &wait, on_conflict);
                            let body = |txn: &mut Transaction| -> Result<()> {
                                let (a, b) = (amount(txn, from)?, amount(txn, to)?);
                                put(txn, world, from, (a - 1).to_string().as_bytes())?;
                                put(txn, world, to, (b + 1).to_string().as_bytes())
                            };
                            match body(&mut txn) {
                                Ok(()) => break commit(world, txn),
                                Err(Error::Conflict(_) | Error::Deadlock(_)) => {
                                    let _ = txn.rollback();
                                }
                                Err(error) => panic!("{error}"),
                            }
                        }
                    }
                });
            }
        });
        nothing_is_locked(&world);
        let mut txn = begin(&world, 1, on_conflict);
        let view = txn.begin_statement().unwrap();
        let rows = scan(&mut txn, &view, &world.tree, Direction::Forward);
        let value =
            |row: &(Vec<u8>, Vec<u8>)| -> i64 { String::from_utf8_lossy(&row.1).parse().unwrap() };
        assert_eq!(rows.iter().map(value).sum::<i64>(), 0);
        let moved: i64 = rows.iter().map(value).filter(|amount| *amount > 0).sum();
        assert_eq!(moved, i64::from(THREADS * TRANSFERS));
    }
}
