//! `hstore`: who is in which partition, who waits, who is refused and comes back, and that what commits is serial in the order of the
//! ends.

use super::*;
use crate::{
    Abort, ColumnEnd, ConflictKind, Fault, FirstColumn, LockTarget, Placement, Planted, Reason,
};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use storage::WaitEvent;
use storage::chance::Chance;

/// Rows under a key of two bytes, which say the partition, and entries that are with them.
struct Divided {
    world: World,
    entries: Arc<Tree>,
}

fn divided(options: Options) -> Divided {
    let world = filled(options);
    let entries = world.manager.data().create_tree().unwrap();
    let column = FirstColumn { marker: 0, end: ColumnEnd::Fixed(2) };
    world.manager.place(world.tree.id(), Placement::ByKey(column));
    world.manager.place(entries.id(), Placement::WithRows);
    Divided { world, entries }
}

fn session(pid: u32) -> Arc<SessionWait> {
    let wait = Arc::new(SessionWait::new(pid));
    wait.deadlock_timeout_ms.store(20, Ordering::Relaxed);
    wait
}

fn begin(world: &World, wait: &Arc<SessionWait>) -> Transaction {
    let (after, scheme) = (world.manager.visible(), SchemeKind::Hstore);
    world.manager.begin(Begin { after, scheme, database: 5, ..Begin::default() }, wait)
}

fn get(txn: &mut Transaction, world: &World, number: u16) -> Result<Option<Vec<u8>>> {
    let view = txn.begin_statement()?;
    let mut buffer = RecordBuffer::default();
    let found = txn.get(&view, &world.tree, &key(number), &mut buffer)?;
    Ok(buffer.value().filter(|_| found).map(<[u8]>::to_vec))
}

fn put(txn: &mut Transaction, world: &World, number: u16, value: &[u8]) -> Result<()> {
    txn.begin_statement()?;
    let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
    txn.lock_key(&world.tree, &key(number), mode, policy, &mut RecordBuffer::default())?;
    txn.put(&world.tree, &key(number), value)
}

type Rows = Vec<(Vec<u8>, Vec<u8>)>;

fn rows_of(txn: &mut Transaction, tree: &Arc<Tree>) -> Result<Rows> {
    let view = txn.begin_statement()?;
    let all = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    scan_range(txn, &view, tree, all, Direction::Forward)
}

fn commit(world: &World, txn: Transaction) {
    world.answer(txn.commit(&mut |_| ()).unwrap());
}

/// The partitions that are held, and for how many somebody waits.
fn partitions(world: &World) -> (Vec<u16>, usize) {
    let (mut held, mut waits) = (Vec::new(), 0);
    for lock in world.manager.locks() {
        match lock.target {
            LockTarget::Partition(partition) if lock.granted => held.push(partition.number),
            LockTarget::Partition(_) => waits += 1,
            _ => panic!("nothing else is locked: {lock:?}"),
        }
    }
    held.sort_unstable();
    (held, waits)
}

fn nothing_is_locked(world: &World) {
    assert_eq!(partitions(world), (vec![], 0));
    assert!(world.manager.siread_locks().is_empty());
}

/// A key of the lowest partition that has one, and of the highest.
fn ends(world: &World) -> (u16, u16) {
    let mut by_partition = BTreeMap::new();
    for number in 0..100u16 {
        let mut txn = begin(world, &session(1));
        get(&mut txn, world, number).unwrap();
        let (held, _) = partitions(world);
        assert_eq!(held.len(), 1);
        by_partition.entry(held[0]).or_insert(number);
        let _ = txn.rollback();
    }
    let ends = (by_partition.first_key_value(), by_partition.last_key_value());
    (*ends.0.unwrap().1, *ends.1.unwrap().1)
}

fn refused<T: std::fmt::Debug>(result: Result<T>) -> Reason {
    match result {
        Err(Error::Conflict(ConflictKind::ReadWrite(reason))) => reason,
        other => panic!("{other:?}"),
    }
}

/// Two that read what the other writes: the one that goes up waits, the other is refused, and succeeds when it is run again, with
/// both partitions from its first step on.
#[test]
fn who_leaves_its_partitions_is_refused_and_comes_back_with_what_it_has_learnt() {
    let Divided { world, .. } = &divided(small());
    let (low, high) = ends(world);
    let (one_wait, two_wait) = (session(1), session(2));
    let (mut one, mut two) = (begin(world, &one_wait), begin(world, &two_wait));
    get(&mut one, world, low).unwrap();
    get(&mut two, world, high).unwrap();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            put(&mut one, world, high, b"1").unwrap();
            commit(world, one);
        });
        while partitions(world).1 == 0 {
            std::thread::yield_now();
        }
        let left = put(&mut two, world, low, b"2");
        assert_eq!(Abort::of(left.as_ref().unwrap_err()), Abort::LeftPartitions);
        assert_eq!(refused(left), Reason::LeftPartitions);
        let _ = two.rollback();
        first.join().unwrap();
    });
    let mut again = begin(world, &two_wait);
    assert_eq!(get(&mut again, world, high).unwrap().as_deref(), Some(&b"1"[..]));
    assert_eq!(partitions(world).0.len(), 2);
    put(&mut again, world, low, b"2").unwrap();
    commit(world, again);
    // What has been learnt is of use once.
    let mut next = begin(world, &two_wait);
    get(&mut next, world, high).unwrap();
    assert_eq!(partitions(world).0.len(), 1);
    // Nobody is in the way of the one below.
    get(&mut next, world, low).unwrap();
    commit(world, next);
    nothing_is_locked(world);
}

#[test]
fn scans_and_what_is_with_rows_are_in_all_partitions() {
    let Divided { world, entries } = &divided(Options { partitions: 7, ..small() });
    let mut reader = begin(world, &session(1));
    assert_eq!(rows_of(&mut reader, &world.tree).unwrap().len(), 100);
    assert_eq!(partitions(world).0, (0..7).collect::<Vec<_>>());
    commit(world, reader);
    // Whoever has written the row writes its entry, and is in its partition alone.
    let mut writer = begin(world, &session(2));
    put(&mut writer, world, 3, b"new").unwrap();
    writer.put(entries, b"entry", b"3").unwrap();
    assert_eq!(partitions(world).0.len(), 1);
    let mut reader = begin(world, &session(3));
    std::thread::scope(|scope| {
        let read = scope.spawn(|| {
            let found = rows_of(&mut reader, entries).unwrap().len();
            commit(world, reader);
            found
        });
        while partitions(world).1 == 0 {
            std::thread::yield_now();
        }
        commit(world, writer);
        assert_eq!(read.join().unwrap(), 1, "it comes behind the writer, and finds its entry");
    });
    // Nothing has been said of this one.
    let unknown = world.manager.data().create_tree().unwrap();
    let mut txn = begin(world, &session(4));
    txn.begin_statement().unwrap();
    let savepoint = txn.savepoint();
    txn.put(&unknown, b"key", b"value").unwrap();
    assert_eq!(partitions(world).0.len(), 7);
    txn.rollback_to(savepoint);
    assert_eq!(partitions(world).0.len(), 7, "a rollback to a savepoint leaves nothing");
    let _ = txn.rollback();
    nothing_is_locked(world);
}

/// Many wait for one partition: the oldest is next, and who is cancelled or runs out of time leaves nothing behind.
#[test]
fn those_who_wait_come_in_the_order_of_their_ages() {
    const WAITERS: u32 = 60;
    let Divided { world, .. } = &divided(small());
    let mut holder = begin(world, &session(1));
    put(&mut holder, world, 0, b"0").unwrap();
    let order = Mutex::new(Vec::new());
    let refused = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let mut cancelled = Vec::new();
        for number in 0..WAITERS {
            let wait = session(10 + number);
            match number % 4 {
                1 => cancelled.push(Arc::clone(&wait)),
                2 => wait.lock_timeout_ms.store(1, Ordering::Relaxed),
                _ => {}
            }
            let (order, refused, own) = (&order, &refused, Arc::clone(&wait));
            scope.spawn(move || {
                let mut txn = begin(world, &wait);
                match get(&mut txn, world, 0) {
                    Ok(_) => {
                        order.lock().unwrap().push(number);
                        commit(world, txn);
                    }
                    Err(error) => {
                        match number % 4 {
                            1 => assert!(matches!(error, Error::Cancelled(_)), "{error}"),
                            2 => assert!(
                                matches!(error, Error::LockNotAvailable { timeout: true }),
                                "{error}"
                            ),
                            _ => panic!("{error}"),
                        }
                        let _ = txn.rollback();
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
            // Each has its age before the next one.
            let waits = || own.event.load(Ordering::Relaxed) == WaitEvent::Partition as u32;
            while number % 4 != 2 && !waits() {
                std::thread::yield_now();
            }
        }
        for wait in cancelled {
            world.manager.environment().raise(&wait.cancel, 1);
        }
        while refused.load(Ordering::Relaxed) < WAITERS / 2 {
            std::thread::yield_now();
        }
        commit(world, holder);
    });
    let order = order.into_inner().unwrap();
    assert_eq!(order.len(), (WAITERS / 2) as usize);
    assert!(order.is_sorted(), "{order:?}");
    nothing_is_locked(world);
}

/// NOWAIT and SKIP LOCKED hold for the partition; a timeout of 0 is none.
#[test]
fn whoever_does_not_wait_is_told_so() {
    let Divided { world, .. } = &divided(small());
    let mut holder = begin(world, &session(1));
    put(&mut holder, world, 0, b"0").unwrap();
    let mut other = begin(world, &session(2));
    let view = other.begin_statement().unwrap();
    let mut buffer = RecordBuffer::default();
    let mut lock =
        |policy| other.lock_row(&view, &world.tree, &key(0), RowLock::Update, policy, &mut buffer);
    assert!(matches!(lock(WaitPolicy::Error), Err(Error::LockNotAvailable { timeout: false })));
    assert_eq!(lock(WaitPolicy::Skip).unwrap(), crate::Locked::Skipped);
    commit(world, holder);
    assert_eq!(lock(WaitPolicy::Error).unwrap(), crate::Locked::Same);
    commit(world, other);
    nothing_is_locked(world);
}

/// What a transaction has done, and found.
#[derive(Debug)]
enum Step {
    Read(u16, Option<Vec<u8>>),
    Scanned(Rows),
    Wrote(u16, Vec<u8>),
}

/// Threads read, scan and write a few keys. All that committed is done again, in the order of the ends: the first read that is not what
/// it was then, and how many committed.
fn history(options: Options, seed: u64) -> (Option<String>, usize) {
    const KEYS: u64 = 12;
    let Divided { world, .. } = &divided(options);
    let (ended, done) = (AtomicU64::new(0), Mutex::new(BTreeMap::<u64, Vec<Step>>::new()));
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (ended, done) = (&ended, &done);
            scope.spawn(move || {
                let mut chance = Chance::new(seed * 4 + thread);
                let wait = session(thread as u32 + 1);
                for round in 0..150u64 {
                    let mut txn = begin(world, &wait);
                    let mut steps = Vec::new();
                    let failed = (0..1 + chance.below(5)).find_map(|step| {
                        let number = chance.below(KEYS) as u16;
                        let made = match chance.below(8) {
                            0..4 => {
                                get(&mut txn, world, number).map(|found| Step::Read(number, found))
                            }
                            4 => rows_of(&mut txn, &world.tree).map(Step::Scanned),
                            _ => {
                                let value = format!("{thread}.{round}.{step}").into_bytes();
                                let written = put(&mut txn, world, number, &value);
                                written.map(|()| Step::Wrote(number, value))
                            }
                        };
                        made.map(|step| steps.push(step)).err()
                    });
                    let mut place = 0;
                    let mut end = |_| place = ended.fetch_add(1, Ordering::SeqCst);
                    let failed = match failed {
                        None => txn.commit(&mut end).map(|ended| world.answer(ended)).err(),
                        Some(error) => {
                            let _ = txn.rollback();
                            Some(error)
                        }
                    };
                    match failed {
                        None => drop(done.lock().unwrap().insert(place, steps)),
                        Some(error) => assert_eq!(Abort::of(&error), Abort::LeftPartitions),
                    }
                }
            });
        }
    });
    nothing_is_locked(world);
    let done = done.into_inner().unwrap();
    let committed = done.len();
    let mut state: BTreeMap<Vec<u8>, Vec<u8>> =
        (0..100u16).map(|number| (key(2 * number).to_vec(), b"0".to_vec())).collect();
    for (at, step) in
        done.into_iter().flat_map(|(at, steps)| steps.into_iter().map(move |step| (at, step)))
    {
        let holds = match &step {
            Step::Read(number, found) => state.get(&key(*number)[..]) == found.as_ref(),
            Step::Scanned(found) => state.clone().into_iter().collect::<Rows>() == *found,
            Step::Wrote(number, value) => {
                state.insert(key(*number).to_vec(), value.clone());
                true
            }
        };
        if !holds {
            return (Some(format!("{at}: {step:?}")), committed);
        }
    }
    (None, committed)
}

/// The same with one partition, with commits that are late or in parts, and however ages are handed out.
#[test]
fn what_commits_is_serial_in_the_order_of_the_ends() {
    let forms = [
        small(),
        Options { partitions: 1, ..small() },
        Options { late_writes: 0, part_bytes_max: 16, ..small() },
        Options { timestamp_allocator: crate::TimestampAllocator::Batched, ..small() },
        Options { timestamp_allocator: crate::TimestampAllocator::Clock, ..small() },
    ];
    for (form, options) in forms.iter().enumerate() {
        for seed in 0..3 {
            let (broken, committed) = history(options.clone(), seed);
            assert_eq!(broken, None, "form {form}, seed {seed}");
            assert!(committed > 300, "form {form}: {committed} of 600");
        }
    }
}

#[test]
fn a_partition_that_is_not_entered_is_noticed() {
    let options = || Options { planted: Planted::new(Fault::PartitionNotEntered), ..small() };
    assert!((0..20).any(|seed| history(options(), seed).0.is_some()), "it went unnoticed");
}
