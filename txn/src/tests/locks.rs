//! Locks as transactions use them: waits, deadlocks, timeouts, cancels.

use super::versions::wait_until;
use super::*;
use crate::writeset::delta::Form;
use crate::{ConflictKind, LockTarget, Locked, TableId, TableLock};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

pub(super) fn lock(
    txn: &mut Transaction,
    tree: &Tree,
    key: &[u8],
    policy: WaitPolicy,
) -> Result<Locked> {
    let view = txn.begin_statement().unwrap();
    txn.lock_row(&view, tree, key, RowLock::Update, policy, &mut RecordBuffer::default())
}

#[test]
fn nowait_fails_skip_locked_skips_and_a_timeout_ends_the_wait() {
    let world = World::new(small());
    world.set(b"a", Some(b"1"));
    let mut holder = world.begin(Isolation::ReadCommitted, 1);
    assert_eq!(lock(&mut holder, &world.tree, b"a", WaitPolicy::Block).unwrap(), Locked::Same);
    let mut other = world.begin(Isolation::ReadCommitted, 2);
    let refused = lock(&mut other, &world.tree, b"a", WaitPolicy::Error);
    assert!(matches!(refused, Err(Error::LockNotAvailable { timeout: false })));
    let skipped = lock(&mut other, &world.tree, b"a", WaitPolicy::Skip);
    assert_eq!(skipped.unwrap(), Locked::Skipped);
    other.wait().lock_timeout_ms.store(30, Ordering::Relaxed);
    let began = Instant::now();
    let refused = lock(&mut other, &world.tree, b"a", WaitPolicy::Block);
    assert!(matches!(refused, Err(Error::LockNotAvailable { timeout: true })), "{refused:?}");
    assert!(began.elapsed() >= Duration::from_millis(30));
    let _ = holder.rollback();
    assert_eq!(lock(&mut other, &world.tree, b"a", WaitPolicy::Block).unwrap(), Locked::Same);
}

/// What was locked before the mark stays, as strong as it was.
#[test]
fn locks_behind_a_mark_are_given_back() {
    let world = World::new(small());
    world.set(b"a", Some(b"1"));
    let (mut holder, mut buffer) =
        (world.begin(Isolation::ReadCommitted, 1), RecordBuffer::default());
    holder.begin_statement().unwrap();
    let mut claim = |holder: &mut Transaction, key: &[u8], mode| {
        holder.lock_key(&world.tree, key, mode, WaitPolicy::Error, &mut buffer).unwrap()
    };
    assert!(!claim(&mut holder, b"before", RowLock::Update));
    assert!(claim(&mut holder, b"a", RowLock::KeyShare));
    let mark = holder.lock_mark();
    assert!(claim(&mut holder, b"a", RowLock::Update));
    assert!(!claim(&mut holder, b"before", RowLock::Update));
    assert!(!claim(&mut holder, b"behind", RowLock::Update));
    holder.give_back(mark);
    let mut other = world.begin(Isolation::ReadCommitted, 2);
    other.begin_statement().unwrap();
    let mut is_free = |key: &[u8], mode| other.try_lock_key(&world.tree, key, mode).unwrap();
    assert!(is_free(b"behind", RowLock::Update));
    assert!(is_free(b"a", RowLock::NoKeyUpdate));
    assert!(!is_free(b"a", RowLock::Update));
    assert!(!is_free(b"before", RowLock::KeyShare));
    let _ = holder.rollback();
    assert!(is_free(b"before", RowLock::KeyShare));
    assert!(is_free(b"a", RowLock::Update));
}

#[test]
fn a_cancel_ends_a_wait_and_leaves_the_queue_in_order() {
    let world = World::new(small());
    world.set(b"a", Some(b"1"));
    let mut holder = world.begin(Isolation::ReadCommitted, 1);
    lock(&mut holder, &world.tree, b"a", WaitPolicy::Block).unwrap();
    let mut waiter = world.begin(Isolation::ReadCommitted, 2);
    let wait = Arc::clone(waiter.wait());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| lock(&mut waiter, &world.tree, b"a", WaitPolicy::Block));
        wait_until(|| wait.event.load(Ordering::Relaxed) == storage::WaitEvent::Tuple as u32);
        let waits: Vec<_> =
            world.manager.locks().into_iter().filter(|lock| !lock.granted).collect();
        assert_eq!(waits.len(), 1);
        assert_eq!((waits[0].pid, waits[0].mode), (2, "For Update"));
        world.manager.environment().raise(&wait.cancel, 4);
        assert!(matches!(waiting.join().unwrap(), Err(Error::Cancelled(4))));
    });
    assert_eq!(world.manager.locks().len(), 1);
}

#[test]
fn read_committed_looks_again_and_repeatable_read_reports_a_conflict() {
    let world = World::new(small());
    for (isolation, delete) in [
        (Isolation::ReadCommitted, false),
        (Isolation::ReadCommitted, true),
        (Isolation::RepeatableRead, false),
        (Isolation::RepeatableRead, true),
    ] {
        world.set(b"a", Some(b"1"));
        let mut holder = world.begin(Isolation::ReadCommitted, 1);
        holder.begin_statement().unwrap();
        write(&mut holder, &world.tree, b"a", (!delete).then_some(b"2"));
        let mut waiter = world.begin(isolation, 2);
        let view = waiter.begin_statement().unwrap();
        let wait = Arc::clone(waiter.wait());
        let (mut buffer, tree) = (RecordBuffer::default(), &world.tree);
        std::thread::scope(|scope| {
            let (waiter, buffer) = (&mut waiter, &mut buffer);
            let waiting = scope.spawn(move || {
                waiter.lock_row(&view, tree, b"a", RowLock::NoKeyUpdate, WaitPolicy::Block, buffer)
            });
            wait_until(|| wait.event.load(Ordering::Relaxed) != 0);
            let _ = holder.commit(&mut |_| ()).unwrap();
            let found = waiting.join().unwrap();
            match (isolation, delete) {
                (Isolation::ReadCommitted, false) => assert_eq!(found.unwrap(), Locked::Changed),
                (Isolation::ReadCommitted, true) => assert_eq!(found.unwrap(), Locked::Gone),
                (_, false) => {
                    assert!(matches!(found, Err(Error::Conflict(ConflictKind::Update))))
                }
                (_, true) => {
                    assert!(matches!(found, Err(Error::Conflict(ConflictKind::Delete))));
                }
            }
        });
        let ended = waiter.rollback();
        assert!(ended.wait_for >= view.snapshot, "the answer waits for the commit that it met");
    }
}

/// Reads a row that is to be locked, has `between` done, locks it, and says what was read and what was found.
fn read_and_lock(
    world: &World,
    txn: &mut Transaction,
    mode: RowLock,
    between: impl FnOnce(),
) -> (Vec<u8>, Locked, Vec<u8>) {
    let (view, mut buffer) = (txn.begin_statement().unwrap(), RecordBuffer::default());
    assert!(
        txn.get_to_lock(&view, &world.tree, b"a", (mode, WaitPolicy::Block), &mut buffer).unwrap()
    );
    let read = buffer.value().unwrap().to_vec();
    between();
    let policy = WaitPolicy::Block;
    let locked = txn.lock_row(&view, &world.tree, b"a", mode, policy, &mut buffer).unwrap();
    (read, locked, buffer.value().unwrap_or_default().to_vec())
}

#[test]
fn a_row_that_was_read_to_be_locked_is_never_stale() {
    let world = World::new(small());
    world.set(b"a", Some(b"1"));
    // Changed, and changed and deleted, between read and lock.
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let (read, locked, found) = read_and_lock(&world, &mut txn, RowLock::Update, || {
        world.set(b"a", Some(b"2"));
    });
    assert_eq!((&read[..], locked, &found[..]), (&b"1"[..], Locked::Changed, &b"2"[..]));
    let _ = txn.rollback();
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let (_, locked, _) = read_and_lock(&world, &mut txn, RowLock::Update, || {
        world.set(b"a", None);
    });
    assert_eq!(locked, Locked::Gone);
    let _ = txn.rollback();
    // The neighbours of a locked row change its page, which is no matter.
    world.set(b"a", Some(b"3"));
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let same = (b"3".to_vec(), Locked::Same, b"3".to_vec());
    assert_eq!(read_and_lock(&world, &mut txn, RowLock::NoKeyUpdate, || ()), same);
    world.set(b"b", Some(b"4"));
    assert_eq!(read_and_lock(&world, &mut txn, RowLock::Update, || ()), same);
    // An own write comes first, and what a savepoint takes back does not.
    let savepoint = txn.savepoint();
    txn.begin_statement().unwrap();
    txn.put(&world.tree, b"a", b"5").unwrap();
    let own = (b"5".to_vec(), Locked::Same, b"5".to_vec());
    assert_eq!(read_and_lock(&world, &mut txn, RowLock::Update, || ()), own);
    txn.rollback_to(savepoint);
    assert_eq!(read_and_lock(&world, &mut txn, RowLock::Update, || ()), same);
    let _ = txn.rollback();
    // A lock that goes with its savepoint leaves nothing behind.
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let savepoint = txn.savepoint();
    assert_eq!(read_and_lock(&world, &mut txn, RowLock::Update, || ()), same);
    txn.rollback_to(savepoint);
    world.set(b"a", Some(b"6"));
    let (read, locked, _) = read_and_lock(&world, &mut txn, RowLock::Update, || ());
    assert_eq!((&read[..], locked), (&b"6"[..], Locked::Same));
}

#[test]
fn a_row_under_the_weakest_lock_is_read_anew() {
    let world = World::new(small());
    world.set(b"a", Some(b"1"));
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    read_and_lock(&world, &mut txn, RowLock::KeyShare, || ());
    let mut other = world.begin(Isolation::ReadCommitted, 2);
    let view = other.begin_statement().unwrap();
    let (mode, policy) = (RowLock::NoKeyUpdate, WaitPolicy::Error);
    let mut buffer = RecordBuffer::default();
    other.lock_row(&view, &world.tree, b"a", mode, policy, &mut buffer).unwrap();
    other.update(&world.tree, b"a", b"2").unwrap();
    let ended = other.commit(&mut |_| ()).unwrap();
    world.answer(ended);
    let view = txn.begin_statement().unwrap();
    assert_eq!(read(&mut txn, &view, &world.tree, b"a").as_deref(), Some(&b"2"[..]));
    let (read, locked, found) = read_and_lock(&world, &mut txn, RowLock::Update, || ());
    assert_eq!((&read[..], locked, &found[..]), (&b"2"[..], Locked::Same, &b"2"[..]));
}

/// Two transactions that lock two rows crosswise: one of them is told, with both edges, the other goes on.
#[test]
fn a_deadlock_has_one_victim() {
    let world = World::new(small());
    for _ in 0..5 {
        let barrier = std::sync::Barrier::new(2);
        let run = |pid: u32, first: &[u8], second: &[u8]| {
            let mut txn = world.begin(Isolation::ReadCommitted, pid);
            lock(&mut txn, &world.tree, first, WaitPolicy::Block).unwrap();
            barrier.wait();
            lock(&mut txn, &world.tree, second, WaitPolicy::Block).map(|_| ())
        };
        let (one, two) = std::thread::scope(|scope| {
            let one = scope.spawn(|| run(1, b"a", b"b"));
            let two = scope.spawn(|| run(2, b"b", b"a"));
            (one.join().unwrap(), two.join().unwrap())
        });
        let victim = match (one, two) {
            (Err(error), Ok(())) | (Ok(()), Err(error)) => error,
            other => panic!("{other:?}"),
        };
        let Error::Deadlock(edges) = victim else { panic!("{victim:?}") };
        assert_eq!(edges.len(), 2);
        assert_eq!((edges[0].waiter, edges[0].holder), (edges[1].holder, edges[1].waiter));
        assert!(edges.iter().all(|edge| matches!(edge.target, LockTarget::Row(..))));
    }
    assert_eq!(world.manager.metrics().deadlocks, 5);
}

#[test]
fn a_deadlock_through_a_table_lock_is_found_too() {
    let world = World::new(small());
    let table = TableId(77);
    let mut one = world.begin(Isolation::ReadCommitted, 1);
    one.lock_table(table, TableLock::RowExclusive, WaitPolicy::Block).unwrap();
    let mut two = world.begin(Isolation::ReadCommitted, 2);
    lock(&mut two, &world.tree, b"a", WaitPolicy::Block).unwrap();
    let failures = std::thread::scope(|scope| {
        let (tree, world) = (&world.tree, &world);
        let strong = scope.spawn(move || {
            let locked = two.lock_table(table, TableLock::AccessExclusive, WaitPolicy::Block);
            drop(two);
            locked.map(drop)
        });
        wait_until(|| world.manager.locks().iter().any(|lock| !lock.granted));
        let row = scope.spawn(move || {
            let locked = lock(&mut one, tree, b"a", WaitPolicy::Block);
            drop(one);
            locked.map(drop)
        });
        [strong.join().unwrap(), row.join().unwrap()]
    });
    let deadlocks = failures.iter().filter(|end| matches!(end, Err(Error::Deadlock(_)))).count();
    assert_eq!(deadlocks, 1, "{failures:?}");
    assert!(world.manager.locks().is_empty());
}

#[test]
fn locks_taken_since_a_savepoint_go_with_it() {
    let world = World::new(small());
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    lock(&mut txn, &world.tree, b"a", WaitPolicy::Block).unwrap();
    txn.lock_table(TableId(1), TableLock::AccessShare, WaitPolicy::Block).unwrap();
    let place = txn.savepoint();
    lock(&mut txn, &world.tree, b"b", WaitPolicy::Block).unwrap();
    txn.lock_table(TableId(1), TableLock::AccessExclusive, WaitPolicy::Block).unwrap();
    assert_eq!(world.manager.locks().len(), 4);
    txn.rollback_to(place);
    let mut modes: Vec<_> = world.manager.locks().iter().map(|lock| lock.mode).collect();
    modes.sort_unstable();
    assert_eq!(modes, ["AccessShareLock", "For Update"]);
    let mut other = world.begin(Isolation::ReadCommitted, 2);
    lock(&mut other, &world.tree, b"b", WaitPolicy::Error).unwrap();
    assert!(other.lock_table(TableId(1), TableLock::RowExclusive, WaitPolicy::Error).unwrap());
}

/// The holder commits, and all who waited proceed one after another, in the order they came.
#[test]
fn a_thousand_waiters_proceed_one_after_another() {
    const WAITERS: u32 = 1000;
    let world = World::new(small());
    world.set(b"a", Some(&0u32.to_le_bytes()));
    let mut holder = world.begin(Isolation::ReadCommitted, 1);
    holder.begin_statement().unwrap();
    write(&mut holder, &world.tree, b"a", Some(&1u32.to_le_bytes()));
    let done = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for pid in 0..WAITERS {
            let (world, done) = (&world, &done);
            let waiter = move || {
                let mut txn = world.begin(Isolation::ReadCommitted, 100 + pid);
                let mut buffer = RecordBuffer::default();
                let view = txn.begin_statement().unwrap();
                let (update, block) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
                txn.lock_row(&view, &world.tree, b"a", update, block, &mut buffer).unwrap();
                let count = u32::from_le_bytes(buffer.value().unwrap().try_into().unwrap());
                txn.put(&world.tree, b"a", &(count + 1).to_le_bytes()).unwrap();
                let _ = txn.commit(&mut |_| ()).unwrap();
                done.fetch_add(1, Ordering::Relaxed);
            };
            let builder = std::thread::Builder::new().stack_size(256 << 10);
            builder.spawn_scoped(scope, waiter).unwrap();
        }
        wait_until(|| {
            world.manager.locks().iter().filter(|lock| !lock.granted).count() == WAITERS as usize
        });
        assert_eq!(done.load(Ordering::Relaxed), 0);
        let _ = holder.commit(&mut |_| ()).unwrap();
    });
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    let count = read(&mut txn, &view, &world.tree, b"a").unwrap();
    assert_eq!(count, (WAITERS + 1).to_le_bytes());
}

/// What an update changes, or that it deletes what is there, is known as soon as it is written, from the row that was read behind its lock; a row that others may have
/// changed since is read again.
#[test]
fn a_write_knows_its_base_as_long_as_its_row_is_locked() {
    let world = World::new(small());
    world.set(b"a", Some(&[0; 100]));
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let update = |txn: &mut Transaction, at: usize| {
        let (view, mut found) = (txn.begin_statement().unwrap(), RecordBuffer::default());
        let (mode, policy) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
        txn.lock_row(&view, &world.tree, b"a", mode, policy, &mut found).unwrap();
        let mut value = found.value().unwrap().to_vec();
        value[at] = 1;
        txn.update(&world.tree, b"a", &value).unwrap();
        txn.state_mut().writes.arrange();
        txn.state().writes.iter().next().unwrap().met.in_place
    };
    let savepoint = txn.savepoint();
    let Some(Form::Delta { base: first, from: 7, to: 8 }) = update(&mut txn, 7) else {
        panic!("the row has just been read");
    };
    txn.rollback_to(savepoint);
    world.set(b"a", Some(&[2; 100]));
    let Some(Form::Delta { base, from: 9, to: 10 }) = update(&mut txn, 9) else {
        panic!("the row has been read again");
    };
    assert!(base > first);
    txn.put(&world.tree, b"b", &[0; 100]).unwrap();
    txn.state_mut().writes.arrange();
    assert_eq!(txn.state().writes.iter().last().unwrap().met.in_place, None);
    world.answer(txn.commit(&mut |_| ()).unwrap());
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    let mut wanted = [2; 100];
    wanted[9] = 1;
    assert_eq!(read(&mut txn, &view, &world.tree, b"a").unwrap(), wanted);
    let (mut found, policy) = (RecordBuffer::default(), WaitPolicy::Block);
    txn.lock_row(&view, &world.tree, b"a", RowLock::Update, policy, &mut found).unwrap();
    txn.delete(&world.tree, b"a").unwrap();
    txn.delete(&world.tree, b"b").unwrap();
    txn.state_mut().writes.arrange();
    let known = |write: crate::writeset::Write<'_>| write.met.in_place;
    let known: Vec<_> = txn.state().writes.iter().map(known).collect();
    assert_eq!(known, [Some(Form::Whole), None], "what was not read behind its lock is looked for");
    world.answer(txn.commit(&mut |_| ()).unwrap());
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    assert_eq!(read(&mut txn, &view, &world.tree, b"a"), None);
}
