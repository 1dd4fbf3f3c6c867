//! Timestamp ordering: who is too late for what under each of the two schemes, and that what commits is serial in the order of
//! timestamps, read by read.

use super::versions::wait_until;
use super::*;
use crate::scheme::timestamp::Overwritten;
use crate::{ConflictKind, Fault, Planted, Reason, Timestamp, TimestampAllocator, Timestamps};
use std::collections::{BTreeMap, HashSet};
use std::sync::Mutex;
use std::time::Duration;
use storage::Micros;
use storage::chance::Chance;

const BOTH: [Overwritten; 2] = [Overwritten::Refused, Overwritten::Older];

fn begin(world: &World, pid: u32, overwritten: Overwritten) -> Transaction {
    let wait = Arc::new(SessionWait::new(pid));
    let (after, scheme) = (world.manager.visible(), SchemeKind::Timestamp(overwritten));
    world.manager.begin(Begin { after, scheme, ..Begin::default() }, &wait)
}

/// One that has its place.
fn placed(world: &World, pid: u32, overwritten: Overwritten) -> Transaction {
    let mut txn = begin(world, pid, overwritten);
    txn.begin_statement().unwrap();
    txn
}

fn get(txn: &mut Transaction, world: &World, number: u16) -> Result<Option<Vec<u8>>> {
    let view = txn.begin_statement()?;
    let mut buffer = RecordBuffer::default();
    let found = txn.get(&view, &world.tree, &key(number), &mut buffer)?;
    Ok(buffer.value().filter(|_| found).map(<[u8]>::to_vec))
}

fn set(txn: &mut Transaction, world: &World, number: u16, value: Option<&[u8]>) -> Result<()> {
    txn.begin_statement()?;
    let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
    txn.lock_key(&world.tree, &key(number), mode, policy, &mut RecordBuffer::default())?;
    match value {
        Some(value) => txn.put(&world.tree, &key(number), value),
        None => txn.delete(&world.tree, &key(number)),
    }
}

fn put(txn: &mut Transaction, world: &World, number: u16, value: &[u8]) -> Result<()> {
    set(txn, world, number, Some(value))
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn rows(txn: &mut Transaction, world: &World, low: u16, high: u16) -> Result<Rows> {
    let view = txn.begin_statement()?;
    let (low, high) = (key(low), key(high));
    let range = KeyRange { low: Bound::Included(&low[..]), high: Bound::Excluded(&high[..]) };
    scan_range(txn, &view, &world.tree, range, Direction::Forward)
}

fn commit(world: &World, txn: Transaction) {
    world.answer(txn.commit(&mut |_| ()).unwrap());
}

fn refused<T: std::fmt::Debug>(result: Result<T>) -> Reason {
    match result {
        Err(Error::Conflict(ConflictKind::ReadWrite(reason))) => reason,
        other => panic!("{other:?}"),
    }
}

fn nothing_is_locked(world: &World) {
    assert!(world.manager.siread_locks().is_empty());
    assert!(world.manager.locks().is_empty());
}

#[test]
fn write_skew_ends_the_older() {
    for overwritten in BOTH {
        let world = filled(small());
        let (mut one, mut two) = (placed(&world, 1, overwritten), placed(&world, 2, overwritten));
        get(&mut one, &world, 0).unwrap();
        get(&mut two, &world, 2).unwrap();
        assert_eq!(refused(put(&mut one, &world, 2, b"1")), Reason::WriteTooLate);
        let _ = one.rollback();
        put(&mut two, &world, 0, b"1").unwrap();
        commit(&world, two);
        nothing_is_locked(&world);
    }
}

/// What a younger one has written is no reader's any more, or has an older version; nor is it any older writer's.
#[test]
fn what_a_younger_one_has_written_comes_too_early_for_the_older() {
    for overwritten in BOTH {
        let world = filled(small());
        let mut old = placed(&world, 1, overwritten);
        let mut young = placed(&world, 2, overwritten);
        put(&mut young, &world, 0, b"new").unwrap();
        put(&mut young, &world, 1, b"new").unwrap();
        set(&mut young, &world, 4, None).unwrap();
        // Nobody waits for a younger one.
        assert_eq!(get(&mut old, &world, 0).unwrap().as_deref(), Some(&b"0"[..]));
        commit(&world, young);
        for (number, before) in [(0, Some(b"0".to_vec())), (1, None), (4, Some(b"0".to_vec()))] {
            let read = get(&mut old, &world, number);
            match overwritten {
                Overwritten::Refused => assert_eq!(refused(read), Reason::ReadTooLate),
                Overwritten::Older => assert_eq!(read.unwrap(), before),
            }
        }
        let scanned = rows(&mut old, &world, 0, 10);
        match overwritten {
            Overwritten::Refused => assert_eq!(refused(scanned), Reason::ReadTooLate),
            Overwritten::Older => assert_eq!(scanned.unwrap().len(), 5),
        }
        assert_eq!(rows(&mut old, &world, 6, 100).unwrap().len(), 47);
        assert_eq!(refused(put(&mut old, &world, 0, b"old")), Reason::WriteTooLate);
        let _ = old.rollback();
        nothing_is_locked(&world);
    }
}

/// A range that has been read keeps older writers out of it, and only of it, whether there are records or not.
#[test]
fn a_range_that_is_read_keeps_older_writers_out() {
    for (inserted, free) in [(99, true), (100, false), (101, false), (199, false), (200, true)] {
        let world = filled(small());
        let mut old = placed(&world, 1, Overwritten::Older);
        let mut young = placed(&world, 2, Overwritten::Older);
        assert_eq!(rows(&mut young, &world, 100, 200).unwrap().len(), 50);
        commit(&world, young);
        let written = put(&mut old, &world, inserted, b"1");
        assert_eq!(written.is_ok(), free, "{inserted}: {written:?}");
        let mut youngest = placed(&world, 3, Overwritten::Older);
        if free {
            commit(&world, old);
        } else {
            let _ = old.rollback();
        }
        put(&mut youngest, &world, 101, b"1").unwrap();
        commit(&world, youngest);
    }
}

/// Who is younger waits for what an older one has marked, and sees it although its snapshot is older than the commit.
#[test]
fn a_younger_one_waits_for_the_older_and_sees_its_commit() {
    for overwritten in BOTH {
        let world = filled(small());
        let mut old = placed(&world, 1, overwritten);
        put(&mut old, &world, 0, b"new").unwrap();
        put(&mut old, &world, 1, b"new").unwrap();
        let mut young = placed(&world, 2, overwritten);
        std::thread::scope(|scope| {
            let world = &world;
            let reader = scope.spawn(move || {
                let found = get(&mut young, world, 0).unwrap();
                let scanned = rows(&mut young, world, 0, 4).unwrap();
                put(&mut young, world, 0, b"newer").unwrap();
                commit(world, young);
                (found, scanned.len())
            });
            std::thread::sleep(Duration::from_millis(5));
            assert!(!reader.is_finished());
            commit(world, old);
            assert_eq!(reader.join().unwrap(), (Some(b"new".to_vec()), 3));
        });
        nothing_is_locked(&world);
    }
}

/// Of those who wait to write what an older one has marked nobody makes the others too late by waiting: they get on one after
/// the other.
#[test]
fn who_waits_to_write_makes_nobody_too_late() {
    for overwritten in BOTH {
        let world = filled(small());
        let mut old = placed(&world, 1, overwritten);
        put(&mut old, &world, 0, b"1").unwrap();
        std::thread::scope(|scope| {
            let world = &world;
            let waits = |count: usize| {
                let locks = world.manager.siread_locks();
                locks.iter().filter(|lock| !lock.granted).count() == count
            };
            let writers = [2, 3, 4].map(|pid| {
                let mut young = placed(world, pid, overwritten);
                let writer = scope.spawn(move || {
                    let done = put(&mut young, world, 0, b"later");
                    done.map(|()| commit(world, young))
                });
                wait_until(|| waits(pid as usize - 1));
                writer
            });
            commit(world, old);
            for writer in writers {
                writer.join().unwrap().unwrap();
            }
        });
        nothing_is_locked(&world);
    }
}

/// Too late stays too late, also behind a rollback to a savepoint; what else there is may still be written.
#[test]
fn a_rollback_to_a_savepoint_makes_nobody_younger() {
    let world = filled(small());
    let (mut old, mut young) =
        (placed(&world, 1, Overwritten::Older), placed(&world, 2, Overwritten::Older));
    get(&mut young, &world, 0).unwrap();
    let savepoint = old.savepoint();
    for _ in 0..2 {
        assert_eq!(refused(put(&mut old, &world, 0, b"1")), Reason::WriteTooLate);
        old.rollback_to(savepoint);
    }
    put(&mut old, &world, 2, b"1").unwrap();
    commit(&world, old);
    assert_eq!(get(&mut young, &world, 2).unwrap().as_deref(), Some(&b"1"[..]));
    put(&mut young, &world, 0, b"1").unwrap();
    commit(&world, young);
    nothing_is_locked(&world);
}

/// What a transaction has done, and found.
#[derive(Debug)]
enum Step {
    Read(u16, Option<Vec<u8>>),
    Scanned(u16, u16, Rows),
    Wrote(u16, Option<Vec<u8>>),
}

/// Threads read, scan, write and delete a few keys. All that committed is done again, in the order of timestamps: the first read that
/// is not what it was then, and how many committed.
fn history(options: Options, overwritten: Overwritten, seed: u64) -> (Option<String>, usize) {
    const KEYS: u64 = 12;
    let world = filled(options);
    let done: Mutex<Vec<(Timestamp, Vec<Step>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (world, done) = (&world, &done);
            scope.spawn(move || {
                let mut chance = Chance::new(seed * 4 + thread);
                for round in 0..150u64 {
                    let mut txn = begin(world, thread as u32 + 1, overwritten);
                    let mut steps = Vec::new();
                    let failed = (0..1 + chance.below(5)).find_map(|step| {
                        let number = chance.below(KEYS) as u16;
                        match chance.below(5) {
                            0 | 1 => match get(&mut txn, world, number) {
                                Ok(found) => steps.push(Step::Read(number, found)),
                                Err(error) => return Some(error),
                            },
                            2 => {
                                let high = number + 1 + chance.below(KEYS) as u16;
                                match rows(&mut txn, world, number, high) {
                                    Ok(found) => steps.push(Step::Scanned(number, high, found)),
                                    Err(error) => return Some(error),
                                }
                            }
                            what => {
                                let name = format!("{thread}.{round}.{step}").into_bytes();
                                let value = Some(name).filter(|_| what == 3 || step % 2 == 0);
                                if let Err(error) = set(&mut txn, world, number, value.as_deref()) {
                                    return Some(error);
                                }
                                steps.push(Step::Wrote(number, value));
                            }
                        }
                        None
                    });
                    let at = txn.stamp.map(|stamp| stamp.at).unwrap_or_default();
                    let failed = match failed {
                        None => txn.commit(&mut |_| ()).map(|ended| world.answer(ended)).err(),
                        Some(error) => {
                            let _ = txn.rollback();
                            Some(error)
                        }
                    };
                    match failed {
                        None => done.lock().unwrap().push((at, steps)),
                        Some(Error::Conflict(ConflictKind::ReadWrite(
                            Reason::ReadTooLate | Reason::WriteTooLate,
                        ))) => {}
                        // Who stands still while so many commit that their order is not kept is ended.
                        Some(Error::SnapshotTooOld) => {}
                        Some(error) => panic!("{error}"),
                    }
                }
            });
        }
    });
    nothing_is_locked(&world);
    let mut done = done.into_inner().unwrap();
    done.sort_by_key(|(at, _)| *at);
    let mut state: BTreeMap<u16, Vec<u8>> =
        (0..100u16).map(|number| (2 * number, b"0".to_vec())).collect();
    for (at, steps) in &done {
        for step in steps {
            let holds = match step {
                Step::Read(number, found) => state.get(number) == found.as_ref(),
                Step::Scanned(low, high, found) => {
                    let there = state.range(low..high);
                    there
                        .map(|(number, value)| (key(*number).to_vec(), value.clone()))
                        .collect::<Rows>()
                        == *found
                }
                Step::Wrote(number, Some(value)) => {
                    state.insert(*number, value.clone());
                    true
                }
                Step::Wrote(number, None) => {
                    state.remove(number);
                    true
                }
            };
            if !holds {
                return (Some(format!("{at:?} {step:?} in {state:?}")), done.len());
            }
        }
    }
    (None, done.len())
}

/// The same with commits that are late or in parts, with versions that spill at once, with read timestamps of whole trees, and
/// however timestamps are handed out.
#[test]
fn what_commits_is_serial_in_the_order_of_timestamps() {
    let mut spilling = small();
    spilling.version_bytes_soft = 0;
    let forms = [
        small(),
        Options { late_writes: 0, part_bytes_max: 16, ..small() },
        spilling,
        Options { read_set_bytes_max: 500, ..small() },
    ];
    let allocators = TimestampAllocator::ALL
        .map(|timestamp_allocator| Options { timestamp_allocator, ..small() });
    let forms: Vec<Options> = forms.into_iter().chain(allocators).collect();
    for overwritten in BOTH {
        for (form, options) in forms.iter().enumerate() {
            for seed in 0..3 {
                let (broken, committed) = history(options.clone(), overwritten, seed);
                assert_eq!(broken, None, "{overwritten:?}, form {form}, seed {seed}");
                assert!(committed > 50, "{overwritten:?}, form {form}: {committed} of 600");
            }
        }
    }
}

#[test]
fn what_leaves_no_timestamp_is_noticed() {
    for fault in [Fault::ReadNotStamped, Fault::CommitNotStamped] {
        let options = || Options { planted: Planted::new(fault), ..small() };
        let broken = (0..20).any(|seed| history(options(), Overwritten::Older, seed).0.is_some());
        assert!(broken, "{fault:?} went unnoticed");
    }
}

/// Threads that add to one counter, which they read first: all get on, however timestamps are handed out.
#[test]
fn the_hottest_key_gets_on() {
    let all = BOTH.into_iter().flat_map(|overwritten| {
        TimestampAllocator::ALL.into_iter().map(move |allocator| (overwritten, allocator))
    });
    for (overwritten, timestamp_allocator) in all {
        let world = filled(Options { timestamp_allocator, ..small() });
        std::thread::scope(|scope| {
            for thread in 0..4u32 {
                let world = &world;
                scope.spawn(move || {
                    let mut added = 0;
                    while added < 25 {
                        let mut txn = begin(world, thread + 1, overwritten);
                        let done = get(&mut txn, world, 0).and_then(|found| {
                            let found = String::from_utf8(found.unwrap_or_default()).unwrap();
                            let next = found.parse::<u32>().unwrap() + 1;
                            put(&mut txn, world, 0, next.to_string().as_bytes())
                        });
                        match done.and_then(|()| txn.commit(&mut |_| ())) {
                            Ok(ended) => {
                                world.answer(ended);
                                added += 1;
                            }
                            Err(Error::Conflict(_) | Error::SnapshotTooOld) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
            }
        });
        let mut txn = begin(&world, 9, overwritten);
        assert_eq!(get(&mut txn, &world, 0).unwrap().as_deref(), Some(&b"100"[..]));
        commit(&world, txn);
    }
}

#[test]
fn a_timestamp_is_above_its_floor_and_has_not_been_there() {
    for kind in TimestampAllocator::ALL {
        assert_eq!(TimestampAllocator::named(kind.name()), Some(kind));
        let timestamps = Timestamps::new(kind, 3);
        let (mut all, mut floor) = (HashSet::new(), Timestamp(0));
        for round in 0..500u64 {
            // The clock stands still, and goes on.
            let now = || Micros(round / 100);
            let at = timestamps.after(floor, (round * round % 3) as usize, now);
            assert!(at > floor && all.insert(at), "{kind:?}: {at:?} above {floor:?}");
            if round % 7 == 0 {
                floor = floor.max(at);
            }
        }
    }
}

/// What makes `batched` worth its name, and why there has to be a floor.
#[test]
fn the_later_of_two_timestamps_may_be_the_lower() {
    let timestamps = Timestamps::new(TimestampAllocator::Batched, 2);
    let [one, two, three] =
        [0, 1, 0].map(|worker| timestamps.after(Timestamp(0), worker, || Micros(0)));
    assert!(one < three && three < two);
    assert!(timestamps.after(two, 0, || Micros(0)) > two);
}
