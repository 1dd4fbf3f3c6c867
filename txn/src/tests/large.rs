//! Transactions larger than the memory they may have: writes and row locks in scratch space.

use super::*;
use crate::run::{BlockCache, Runs};
use crate::transaction::Scan;
use crate::writeset::WriteSet;
use crate::{CommandId, Fault, Planted, TreeId};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use storage::chance::Chance;

const TREES: [TreeId; 3] = [TreeId(1), TreeId(2), TreeId(9)];

#[derive(Clone, Debug)]
enum Step {
    Put(usize, u16, Option<u8>),
    Command,
    Undo(u32),
    Spill,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        40 => (0..3usize, 0..300u16, any::<Option<u8>>())
            .prop_map(|(tree, key, value)| Step::Put(tree, key, value)),
        6 => Just(Step::Command),
        2 => (0..20u32).prop_map(Step::Undo),
        2 => Just(Step::Spill),
    ];
    proptest::collection::vec(step, 0..1500)
}

type Model = BTreeMap<(TreeId, Vec<u8>), Vec<(u32, Option<Vec<u8>>)>>;

/// What a walk over memory and one over the runs make together.
fn walk(
    set: &WriteSet,
    (tree, near): (TreeId, Bound<&[u8]>),
    before: CommandId,
    direction: Direction,
) -> Vec<(Vec<u8>, Option<Vec<u8>>)> {
    let mut found = BTreeMap::new();
    let mut merge = set.merge((tree, near), before, direction).unwrap();
    let mut last: Option<Vec<u8>> = None;
    while let Some(write) = merge.head().filter(|write| write.tree == tree) {
        let key = write.key.to_vec();
        let order = match direction {
            Direction::Forward => last.as_ref() < Some(&key),
            Direction::Backward => last.as_ref().is_none_or(|last| *last > key),
        };
        assert!(order, "{last:?} and {key:?}");
        found.insert(key.clone(), write.value.map(<[u8]>::to_vec));
        merge.pass(tree, &key).unwrap();
        last = Some(key);
    }
    let mut place = set.first(tree, Bound::Unbounded);
    while let Some((at, key)) = set.key_at(place)
        && at == tree
    {
        let inside = match (near, direction) {
            (Bound::Unbounded, _) => true,
            (Bound::Included(near), Direction::Forward) => key >= near,
            (Bound::Excluded(near), Direction::Forward) => key > near,
            (Bound::Included(near), Direction::Backward) => key <= near,
            (Bound::Excluded(near), Direction::Backward) => key < near,
        };
        if let Some(write) = set.at(place, before).filter(|_| inside) {
            found.insert(key.to_vec(), write.value.map(<[u8]>::to_vec));
        }
        place = set.after(place);
    }
    found.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// As the write set's own test, with memory emptied into runs at any time.
    #[test]
    fn a_spilled_write_set_is_a_map_of_histories(steps in steps(), near in 0..300u16) {
        let env = environment(FaultyDevice::new(1), 1);
        let options = small();
        storage::DataComponent::create(&env, &options.storage).unwrap();
        let data = storage::DataComponent::open(env, options.storage).unwrap().finish(&|_| false).unwrap();
        let runs = Runs::new(5);
        let (mut set, mut model, mut command) = (WriteSet::default(), Model::new(), 1);
        for step in steps {
            match step {
                Step::Put(tree, key, value) => {
                    let key = key.to_be_bytes();
                    let value = value.map(|byte| vec![byte; usize::from(byte)]);
                    set.put(TREES[tree], &key, value.as_deref(), CommandId(command));
                    model.entry((TREES[tree], key.to_vec())).or_default().push((command, value));
                }
                Step::Command => command += 1,
                Step::Undo(back) => {
                    let from = command.saturating_sub(back);
                    set.undo(CommandId(from));
                    for history in model.values_mut() {
                        history.retain(|write| write.0 < from);
                    }
                    model.retain(|_, history| !history.is_empty());
                }
                Step::Spill => set.spill(&runs, data.scratch()).unwrap(),
            }
        }
        prop_assert!(set.keys() >= model.len());
        set.arrange();
        let at = |history: &[(u32, Option<Vec<u8>>)], before: u32| {
            history.iter().rev().find(|write| write.0 < before).map(|write| write.1.clone())
        };
        let mut cache = BlockCache::default();
        for before in [1, command / 2, command, command + 1] {
            for ((tree, key), history) in &model {
                let mut read = None;
                let found = set.look_up((*tree, key), CommandId(before), &mut cache, |write| {
                    read = Some(write.value.map(<[u8]>::to_vec));
                });
                prop_assert_eq!(found.unwrap(), read.is_some());
                prop_assert_eq!(read, at(history, before));
                prop_assert!(set.get(*tree, key, CommandId(u32::MAX)).is_some() || set.may_have_spilled(*tree, key));
                let point = (Bound::Included(&key[..]), Bound::Included(&key[..]));
                prop_assert!(set.get(*tree, key, CommandId(u32::MAX)).is_some() || set.may_meet_spilled(*tree, point));
            }
            let near = near.to_be_bytes();
            for tree in TREES {
                for bound in [Bound::Unbounded, Bound::Included(&near[..]), Bound::Excluded(&near[..])] {
                    for direction in [Direction::Forward, Direction::Backward] {
                        let inside = |key: &Vec<u8>| {
                            let bounds = match direction {
                                Direction::Forward => (bound, Bound::Unbounded),
                                Direction::Backward => (Bound::Unbounded, bound),
                            };
                            std::ops::RangeBounds::<[u8]>::contains(&bounds, &key[..])
                        };
                        let of = model.iter().filter(|((of, key), _)| *of == tree && inside(key));
                        let expected: Vec<_> = of
                            .filter_map(|((_, key), history)| Some((key.clone(), at(history, before)?)))
                            .collect();
                        prop_assert_eq!(walk(&set, (tree, bound), CommandId(before), direction), expected);
                    }
                }
            }
        }
        set.spill(&runs, data.scratch()).unwrap();
        let (mut merge, mut started, mut all) = (set.merge_all().unwrap(), false, Vec::new());
        while let Some(write) = merge.advance(&mut started).unwrap() {
            all.push(((write.tree, write.key.to_vec()), write.value.map(<[u8]>::to_vec)));
        }
        let newest = model.iter().map(|(name, history)| (name.clone(), at(history, u32::MAX).unwrap()));
        prop_assert_eq!(all, newest.collect::<Vec<_>>());
        drop(merge);
        set.clear();
        prop_assert_eq!(data.scratch().bytes(), 0);
        data.close(&mut |tail| tail, true).unwrap();
    }
}

/// A few rows' writes and locks in memory, and parts of a few rows.
fn tiny() -> Options {
    Options { write_set_bytes_max: 4000, part_bytes_max: 2000, ..small() }
}

const ROWS: u64 = 600;

fn row(generation: u64) -> Vec<u8> {
    let mut bytes = vec![5; 60];
    bytes[..8].copy_from_slice(&generation.to_le_bytes());
    bytes
}

fn generation(value: &[u8]) -> u64 {
    u64::from_le_bytes(value[..8].try_into().unwrap())
}

fn key(row: u64) -> [u8; 8] {
    // In no order: 601 is a prime.
    (row * 77 % 601).to_be_bytes()
}

fn fill(world: &World) {
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    for at in 0..ROWS {
        write(&mut txn, &world.tree, &key(at), Some(&row(0)));
    }
    world.answer(txn.commit(&mut |_| ()).unwrap());
}

/// Updates all rows by a scan, as a statement would.
fn update_all(txn: &mut Transaction, world: &World, to: u64) {
    let view = txn.begin_statement().unwrap();
    let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut scan = txn.scan(&view, &world.tree, range, Direction::Forward).unwrap();
    let mut buffer = RecordBuffer::default();
    while let Some(found) = scan.advance(txn).unwrap() {
        let key = found.key.to_vec();
        let (update, block) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
        let locked = txn.lock_row(&view, &world.tree, &key, update, block, &mut buffer).unwrap();
        assert!(matches!(locked, crate::Locked::Same | crate::Locked::Changed), "{locked:?}");
        txn.update(&world.tree, &key, &row(to)).unwrap();
    }
}

fn generations(txn: &mut Transaction, world: &World, direction: Direction) -> Vec<u64> {
    let view = txn.begin_statement().unwrap();
    let rows = scan(txn, &view, &world.tree, direction);
    assert!(rows.is_sorted_by(|a, b| (a.0 < b.0) == (direction == Direction::Forward)));
    rows.iter().map(|row| generation(&row.1)).collect()
}

#[test]
fn a_transaction_sees_its_spilled_writes_and_others_all_or_none_of_them() {
    let world = World::new(tiny());
    fill(&world);
    let mut old = world.begin(Isolation::RepeatableRead, 2);
    assert_eq!(generations(&mut old, &world, Direction::Forward), [0; ROWS as usize]);
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    update_all(&mut txn, &world, 1);
    assert!(txn.state().writes.is_spilled());
    for direction in [Direction::Forward, Direction::Backward] {
        assert_eq!(generations(&mut txn, &world, direction), [1; ROWS as usize]);
    }
    let savepoint = txn.savepoint();
    update_all(&mut txn, &world, 2);
    write(&mut txn, &world.tree, &key(17), None);
    assert_eq!(generations(&mut txn, &world, Direction::Backward), [2; ROWS as usize - 1]);
    txn.rollback_to(savepoint);
    assert_eq!(generations(&mut txn, &world, Direction::Forward), [1; ROWS as usize]);
    update_all(&mut txn, &world, 3);
    write(&mut txn, &world.tree, &key(18), None);
    // A row that was never there.
    write(&mut txn, &world.tree, b"\xff", Some(&row(3)));
    let mut other = world.begin(Isolation::ReadCommitted, 3);
    assert_eq!(generations(&mut other, &world, Direction::Forward), [0; ROWS as usize]);
    world.answer(txn.commit(&mut |_| ()).unwrap());
    assert_eq!(generations(&mut other, &world, Direction::Forward), [3; ROWS as usize]);
    assert_eq!(generations(&mut old, &world, Direction::Backward), [0; ROWS as usize]);
    drop((old, other));
    assert!(world.manager.metrics().late_commits > 0);
    assert_eq!(world.manager.data().scratch().bytes(), 0, "nothing is left");
    // Rolled back it leaves nothing either.
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    update_all(&mut txn, &world, 4);
    assert!(world.manager.data().scratch().bytes() > 0);
    let _ = txn.rollback();
    assert_eq!(world.manager.data().scratch().bytes(), 0);
    let mut other = world.begin(Isolation::ReadCommitted, 3);
    assert_eq!(generations(&mut other, &world, Direction::Forward), [3; ROWS as usize]);
}

/// Threads read while one commits: each scan and each pair of points sees one generation.
#[test]
fn a_large_commit_is_seen_whole() {
    let world = World::new(tiny());
    fill(&world);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for pid in 2..4 {
            let (world, done) = (&world, &done);
            scope.spawn(move || {
                let mut newest = 0;
                while !done.load(Ordering::Relaxed) {
                    let mut txn = world.begin(Isolation::RepeatableRead, pid);
                    let way = if pid == 2 { Direction::Forward } else { Direction::Backward };
                    let seen = generations(&mut txn, world, way);
                    assert_eq!(seen, [seen[0]; ROWS as usize]);
                    assert!(seen[0] >= newest, "{newest} was seen before {}", seen[0]);
                    newest = seen[0];
                    let view = txn.begin_statement().unwrap();
                    for at in [3, 599] {
                        let value = read(&mut txn, &view, &world.tree, &key(at)).unwrap();
                        assert_eq!(generation(&value), newest);
                    }
                }
            });
        }
        for to in 1..40 {
            let mut txn = world.begin(Isolation::ReadCommitted, 1);
            update_all(&mut txn, &world, to);
            world.answer(txn.commit(&mut |_| ()).unwrap());
        }
        done.store(true, Ordering::Relaxed);
    });
}

/// More log than the log may have, and a small pool.
#[test]
fn a_commit_may_be_longer_than_the_log() {
    let mut options = tiny();
    options.storage.log_bytes_max = 256 << 10;
    options.storage.log_segment_bytes = 64 << 10;
    options.storage.log_ring_bytes = 128 << 10;
    options.part_bytes_max = 16 << 10;
    let world = World::new(options);
    for number in 0..3u64 {
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        txn.begin_statement().unwrap();
        for at in 0..4000u64 {
            let name = [&at.to_be_bytes()[..], &number.to_be_bytes()].concat();
            txn.put(&world.tree, &name, &[number as u8; 200]).unwrap();
        }
        world.answer(txn.commit(&mut |_| ()).unwrap());
        world.manager.checkpoint().unwrap();
    }
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    assert_eq!(scan(&mut txn, &view, &world.tree, Direction::Forward).len(), 12_000);
}

#[test]
fn a_cancelled_commit_and_a_full_disk_leave_nothing() {
    let world = World::new(tiny());
    fill(&world);
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    update_all(&mut txn, &world, 1);
    world.manager.environment().raise(&txn.wait().cancel, 1);
    assert!(matches!(txn.commit(&mut |_| ()), Err(Error::Cancelled(_))));
    let mut other = world.begin(Isolation::ReadCommitted, 3);
    assert_eq!(generations(&mut other, &world, Direction::Forward), [0; ROWS as usize]);
    drop(other);
    assert_eq!(world.manager.data().scratch().bytes(), 0);
}

#[test]
fn a_spilled_write_that_is_not_applied_is_noticed() {
    let world = World::new(Options { planted: Planted::new(Fault::SpilledWriteLost), ..tiny() });
    fill(&world);
    let mut other = world.begin(Isolation::ReadCommitted, 3);
    assert_ne!(generations(&mut other, &world, Direction::Forward), [0; ROWS as usize]);
}

/// Two rows' locks in memory.
fn locks_of_two() -> Options {
    Options { write_set_bytes_max: 800, ..small() }
}

/// Locks all rows and writes none.
fn lock_all(txn: &mut Transaction, world: &World, mode: RowLock) {
    let view = txn.begin_statement().unwrap();
    let mut buffer = RecordBuffer::default();
    for at in 0..20 {
        txn.lock_row(&view, &world.tree, &key(at), mode, WaitPolicy::Block, &mut buffer).unwrap();
    }
}

fn try_lock(world: &World, at: u64, mode: RowLock, policy: WaitPolicy) -> Result<crate::Locked> {
    let mut txn = world.begin(Isolation::ReadCommitted, 7);
    let view = txn.begin_statement()?;
    txn.lock_row(&view, &world.tree, &key(at), mode, policy, &mut RecordBuffer::default())
}

#[test]
fn spilled_row_locks_exclude_whom_they_would_in_memory() {
    let world = World::new(locks_of_two());
    fill(&world);
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    lock_all(&mut txn, &world, RowLock::Share);
    let savepoint = txn.savepoint();
    lock_all(&mut txn, &world, RowLock::Update);
    assert!(txn.state().lock_runs.len() > 3, "{} runs", txn.state().lock_runs.len());
    let nodes = |world: &World| world.manager.locks().len();
    assert!(nodes(&world) < 10, "{} locks in memory", nodes(&world));
    // Again, and weaker: nothing is added.
    let runs = txn.state().lock_runs.len();
    lock_all(&mut txn, &world, RowLock::KeyShare);
    assert_eq!(txn.state().lock_runs.len(), runs);
    for at in 0..20 {
        let refused = try_lock(&world, at, RowLock::KeyShare, WaitPolicy::Error);
        assert!(matches!(refused, Err(Error::LockNotAvailable { timeout: false })), "{refused:?}");
        let skipped = try_lock(&world, at, RowLock::Update, WaitPolicy::Skip).unwrap();
        assert_eq!(skipped, crate::Locked::Skipped);
    }
    assert!(nodes(&world) < 10, "who does not wait puts nothing back");
    assert!(try_lock(&world, 20, RowLock::Update, WaitPolicy::Error).is_ok());
    std::thread::scope(|scope| {
        // One waits for a lock that the savepoint gives up, one for what was taken before it.
        let shares = scope.spawn(|| try_lock(&world, 5, RowLock::Share, WaitPolicy::Block));
        let updates = scope.spawn(|| try_lock(&world, 9, RowLock::Update, WaitPolicy::Block));
        while world.manager.locks().iter().filter(|lock| !lock.granted).count() < 2 {
            std::thread::yield_now();
        }
        txn.rollback_to(savepoint);
        assert_eq!(shares.join().unwrap().unwrap(), crate::Locked::Same);
        assert!(!updates.is_finished());
        assert!(try_lock(&world, 9, RowLock::Share, WaitPolicy::Error).is_ok());
        assert!(try_lock(&world, 9, RowLock::NoKeyUpdate, WaitPolicy::Error).is_err());
        let _ = txn.rollback();
        assert_eq!(updates.join().unwrap().unwrap(), crate::Locked::Same);
    });
    assert!(world.manager.locks().is_empty());
    assert_eq!(world.manager.data().scratch().bytes(), 0);
}

#[test]
fn a_deadlock_over_spilled_locks_is_found() {
    let world = World::new(locks_of_two());
    fill(&world);
    let both = std::sync::Barrier::new(2);
    let failed: usize = std::thread::scope(|scope| {
        let threads = [(0, 1), (1, 0)].map(|(own, other)| {
            let (world, both) = (&world, &both);
            scope.spawn(move || {
                let mut txn = world.begin(Isolation::ReadCommitted, own as u32 + 1);
                let view = txn.begin_statement().unwrap();
                let mut buffer = RecordBuffer::default();
                let mut lock = |at: u64| {
                    let (update, block) = (RowLock::Update, WaitPolicy::Block);
                    txn.lock_row(&view, &world.tree, &key(at), update, block, &mut buffer)
                };
                for at in 0..10 {
                    lock(at * 2 + own).unwrap();
                }
                both.wait();
                let locked = lock(other);
                assert!(matches!(locked, Ok(_) | Err(Error::Deadlock(_))), "{locked:?}");
                usize::from(locked.is_err())
            })
        });
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(failed, 1);
}

/// Threads add one to a few rows each time, in order; what was added is there in the end.
fn count_up(planted: Planted) -> (u64, u64) {
    const THREADS: u64 = 4;
    let world = World::new(Options { planted, ..locks_of_two() });
    fill(&world);
    let committed: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let world = &world;
                scope.spawn(move || {
                    let mut chance = storage::chance::Chance::new(thread);
                    let mut added = 0;
                    for round in 0..60 {
                        let mut txn = world.begin(Isolation::ReadCommitted, thread as u32 + 1);
                        let view = txn.begin_statement().unwrap();
                        let mut buffer = RecordBuffer::default();
                        let savepoint = txn.savepoint();
                        let mut written = 0;
                        for at in 0..12u64 {
                            if chance.percent(40) {
                                continue;
                            }
                            let (key, block) = (at.to_be_bytes(), WaitPolicy::Block);
                            let update = RowLock::NoKeyUpdate;
                            txn.lock_row(&view, &world.tree, &key, update, block, &mut buffer)
                                .unwrap();
                            let next = generation(buffer.value().unwrap()) + 1;
                            txn.update(&world.tree, &key, &row(next)).unwrap();
                            written += 1;
                        }
                        if round % 5 == 4 {
                            txn.rollback_to(savepoint);
                            written = 0;
                        }
                        world.answer(txn.commit(&mut |_| ()).unwrap());
                        added += written;
                    }
                    added
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let sum = generations(&mut txn, &world, Direction::Forward).iter().sum();
    (sum, committed)
}

#[test]
fn no_update_is_lost_over_spilled_locks() {
    let (sum, committed) = count_up(Planted::default());
    assert_eq!(sum, committed);
}

#[test]
fn a_spilled_lock_that_is_given_up_is_noticed() {
    let noticed = (0..10).any(|_| {
        let (sum, committed) = count_up(Planted::new(Fault::SpilledLockLost));
        sum != committed
    });
    assert!(noticed, "the planted fault went unnoticed");
}

/// Between the steps of scans their transaction writes, in memory and past it: each scan shows what there was when its command
/// began, and one that reads everything shows every write that comes ahead of it.
#[test]
fn scans_show_what_their_commands_began_with() {
    for seed in 0..60_u64 {
        let world = World::new(Options { write_set_bytes_max: 6 << 10, ..small() });
        let mut chance = Chance::new(seed);
        let mut model = BTreeMap::new();
        for row in (0..100_u32).step_by(3) {
            world.set(&row.to_be_bytes(), Some(b"committed"));
            model.insert(row.to_be_bytes().to_vec(), b"committed".to_vec());
        }
        let mut txn = world.begin(Isolation::RepeatableRead, 1);
        let mut view = txn.begin_statement().unwrap();
        let mut open: Vec<(Scan, Direction, Vec<(Vec<u8>, Vec<u8>)>)> = Vec::new();
        for step in 0..400_u32 {
            match chance.below(12) {
                0 => view = txn.next_command(&view),
                1 if open.len() < 4 => {
                    let forward = chance.below(2) == 0;
                    let mut rows: Vec<_> = model.clone().into_iter().collect();
                    let direction = if forward { Direction::Forward } else { Direction::Backward };
                    if forward {
                        rows.reverse();
                    }
                    view = txn.next_command(&view);
                    let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
                    let scan = txn.scan(&view, &world.tree, range, direction).unwrap();
                    open.push((scan, direction, rows));
                }
                2..6 => {
                    let Some(at) = (!open.is_empty()).then(|| chance.below(open.len() as u64))
                    else {
                        continue;
                    };
                    let (scan, direction, rows) = &mut open[at as usize];
                    for _ in 0..chance.below(12) {
                        let found = scan.advance(&mut txn).unwrap();
                        let found = found.map(|row| (row.key.to_vec(), row.value.to_vec()));
                        assert_eq!(found, rows.pop(), "seed {seed}, step {step}, {direction:?}");
                        if found.is_none() {
                            open.swap_remove(at as usize);
                            break;
                        }
                    }
                }
                _ => {
                    let key = (chance.below(130) as u32).to_be_bytes();
                    let value = (chance.below(4) > 0).then(|| vec![step as u8; 60]);
                    write(&mut txn, &world.tree, &key, value.as_deref());
                    match value {
                        Some(value) => model.insert(key.to_vec(), value),
                        None => model.remove(&key[..]),
                    };
                }
            }
        }
        drop(open);
        world.answer(txn.rollback());
    }
    // The latest of everything: what is written ahead of it is shown, and what is deleted there is not.
    let world = World::new(small());
    for row in 0..10_u32 {
        world.set(&row.to_be_bytes(), Some(b"there"));
    }
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut scan = txn.scan(&ReadView::LATEST, &world.tree, range, Direction::Forward).unwrap();
    let mut shown = Vec::new();
    while let Some(row) = scan.advance(&mut txn).unwrap() {
        let row = u32::from_be_bytes(row.key.try_into().unwrap());
        shown.push(row);
        if row < 10 {
            write(&mut txn, &world.tree, &(row + 20).to_be_bytes(), Some(b"ahead"));
            write(&mut txn, &world.tree, &(row / 2 * 2 + 1).to_be_bytes(), None);
        }
    }
    let expected: Vec<u32> =
        (0..30).filter(|row| row % 2 == 0 && !(10..20).contains(row)).collect();
    assert_eq!(shown, expected);
    world.answer(txn.rollback());
}
