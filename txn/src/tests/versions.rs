//! Snapshots, version chains, late commits, tombstones: who sees what, and when it goes.

use super::*;
use crate::CommandId;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

#[test]
fn a_snapshot_sees_what_was_committed_before_it_and_nothing_later() {
    let world = World::new(small());
    world.set(b"a", Some(b"1"));
    let mut old = world.begin(Isolation::RepeatableRead, 1);
    let view = old.begin_statement().unwrap();
    world.set(b"a", Some(b"2"));
    world.set(b"a", None);
    world.set(b"b", Some(b"new"));
    assert_eq!(read(&mut old, &view, &world.tree, b"a"), Some(b"1".to_vec()));
    assert_eq!(read(&mut old, &view, &world.tree, b"b"), None);
    let rows = scan(&mut old, &view, &world.tree, Direction::Forward);
    assert_eq!(rows, [(b"a".to_vec(), b"1".to_vec())]);
    let again = old.begin_statement().unwrap();
    assert_eq!(again.snapshot, view.snapshot);
    let mut new = world.begin(Isolation::ReadCommitted, 2);
    let view = new.begin_statement().unwrap();
    let rows = scan(&mut new, &view, &world.tree, Direction::Backward);
    assert_eq!(rows, [(b"b".to_vec(), b"new".to_vec())]);
    let latest = read(&mut old, &ReadView::LATEST, &world.tree, b"a");
    assert_eq!(latest, None);
}

#[test]
fn a_statement_never_meets_its_own_writes() {
    let world = World::new(small());
    world.set(b"a", Some(b"0"));
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let first = txn.begin_statement().unwrap();
    write(&mut txn, &world.tree, b"a", Some(b"1"));
    write(&mut txn, &world.tree, b"b", Some(b"1"));
    assert_eq!(read(&mut txn, &first, &world.tree, b"a"), Some(b"0".to_vec()));
    assert_eq!(scan(&mut txn, &first, &world.tree, Direction::Forward).len(), 1);
    let mut buffer = RecordBuffer::default();
    let locked =
        txn.lock_row(&first, &world.tree, b"a", RowLock::Update, WaitPolicy::Block, &mut buffer);
    assert_eq!(locked.unwrap(), crate::Locked::Gone, "this statement has changed it already");
    let second = txn.begin_statement().unwrap();
    assert_eq!(read(&mut txn, &second, &world.tree, b"a"), Some(b"1".to_vec()));
    let place = txn.savepoint();
    txn.begin_statement().unwrap();
    write(&mut txn, &world.tree, b"a", None);
    write(&mut txn, &world.tree, b"c", Some(b"2"));
    let third = txn.begin_statement().unwrap();
    assert_eq!(read(&mut txn, &third, &world.tree, b"a"), None);
    let rows = scan(&mut txn, &third, &world.tree, Direction::Backward);
    assert_eq!(rows.iter().map(|row| &row.0[..]).collect::<Vec<_>>(), [b"c", b"b"]);
    // A cursor of the second statement goes on seeing what it saw.
    assert_eq!(read(&mut txn, &second, &world.tree, b"a"), Some(b"1".to_vec()));
    txn.rollback_to(place);
    let fourth = txn.begin_statement().unwrap();
    assert_eq!(scan(&mut txn, &fourth, &world.tree, Direction::Forward).len(), 2);
    assert_eq!(fourth.command, CommandId(fourth.command.0));
    let held = world.manager.locks();
    assert!(
        held.iter()
            .all(|lock| lock.target != crate::LockTarget::Row(world.tree.id(), b"c".to_vec())),
        "{held:?}"
    );
}

#[test]
fn versions_go_when_the_last_snapshot_that_needs_them_does() {
    let world = World::new(small());
    world.set(b"a", Some(b"0"));
    for value in 0..10u8 {
        world.set(b"a", Some(&[value]));
    }
    assert_eq!(world.manager.metrics().versions_held, 0, "nobody looks: nothing is kept");
    let mut old = world.begin(Isolation::RepeatableRead, 1);
    let view = old.begin_statement().unwrap();
    for round in 0..200u8 {
        world.set(b"a", Some(&[round]));
    }
    let held = world.manager.metrics().versions_held;
    assert!(
        (1..40).contains(&held),
        "versions between snapshots are dropped as the chain grows: {held}"
    );
    assert_eq!(read(&mut old, &view, &world.tree, b"a"), Some(vec![9]));
    let _ = old.rollback();
    wait_until(|| world.manager.metrics().versions_held == 0);
    let mut nodes = 0;
    world.manager.locks.records.for_each(&mut |_| nodes += 1);
    assert_eq!(nodes, 0);
}

#[test]
fn tombstones_go_when_nobody_can_ask_and_stay_before() {
    let world = World::new(small());
    world.set(b"a", Some(b"1"));
    let mut old = world.begin(Isolation::RepeatableRead, 1);
    let view = old.begin_statement().unwrap();
    world.set(b"a", None);
    world.manager.collect();
    let mut buffer = storage::RecordBuffer::default();
    assert!(world.tree.get(b"a", &mut buffer).unwrap(), "a snapshot is older than the tombstone");
    assert_eq!(read(&mut old, &view, &world.tree, b"a"), Some(b"1".to_vec()));
    let _ = old.rollback();
    wait_until(|| !world.tree.get(b"a", &mut storage::RecordBuffer::default()).unwrap());
    world.set(b"a", Some(b"2"));
    let mut new = world.begin(Isolation::ReadCommitted, 2);
    let view = new.begin_statement().unwrap();
    assert_eq!(read(&mut new, &view, &world.tree, b"a"), Some(b"2".to_vec()));
}

#[test]
fn past_the_hard_limit_the_oldest_snapshot_fails_and_writers_go_on() {
    let options = Options {
        version_bytes_soft: 1000,
        version_bytes_hard: 20_000,
        version_spill_bytes_max: 0,
        ..small()
    };
    let world = World::new(options);
    for key in 0..20u8 {
        world.set(&[key], Some(&[0; 100]));
    }
    let mut old = world.begin(Isolation::RepeatableRead, 1);
    let view = old.begin_statement().unwrap();
    // Between other snapshots nothing can be thinned out: each version has one that needs it.
    let mut others = Vec::new();
    for round in 0..400u32 {
        let key = (round % 20) as u8;
        world.set(&[key], Some(&[1; 100]));
        if round % 5 == 0 && others.len() < 60 {
            let mut txn = world.begin(Isolation::RepeatableRead, 2);
            txn.begin_statement().unwrap();
            others.push(txn);
        }
    }
    assert!(world.manager.metrics().version_bytes <= 24_000);
    let error = old.get(&view, &world.tree, &[0], &mut RecordBuffer::default());
    assert!(matches!(error, Err(Error::SnapshotTooOld)), "{error:?}");
    assert!(world.manager.metrics().snapshots_given_up > 0);
}

#[test]
fn a_large_commit_is_late_and_in_parts_and_all_of_it_is_there() {
    let world = World::new(Options { late_writes: 100, part_bytes_max: 4096, ..small() });
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    for key in 0..2000u32 {
        write(&mut txn, &world.tree, &key.to_be_bytes(), Some(&key.to_le_bytes()));
    }
    let ended = txn.commit(&mut |_| ()).unwrap();
    world.answer(ended);
    assert_eq!(world.manager.metrics().late_commits, 1);
    assert_eq!(world.manager.late.count(), 0);
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    assert_eq!(scan(&mut txn, &view, &world.tree, Direction::Forward).len(), 2000);
}

/// What a commit tells before anybody sees it, it tells where it is late, too: who has a snapshot that shows a new catalog's
/// commit has that catalog.
#[test]
fn a_commit_calls_back_before_anybody_sees_it() {
    for late_writes in [0, 100] {
        let world = World::new(Options { late_writes, ..small() });
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        txn.begin_statement().unwrap();
        write(&mut txn, &world.tree, b"a", Some(b"new"));
        let mut called = 0;
        let ended = txn
            .commit(&mut |lsn| {
                called += 1;
                assert!(world.manager.visible() < lsn, "it is visible already");
            })
            .unwrap();
        world.answer(ended);
        assert_eq!(called, 1);
        assert_eq!(world.manager.metrics().late_commits, u64::from(late_writes == 0));
    }
}

/// A reader that begins while a commit is late sees all of it, from the list and from the pages.
#[test]
fn late_commits_are_read_from_the_list() {
    let world = World::new(small());
    world.set(b"a", Some(b"old"));
    world.set(b"b", Some(b"old"));
    world.set(b"d", Some(b"old"));
    let mut before = world.begin(Isolation::RepeatableRead, 1);
    let old = before.begin_statement().unwrap();
    // What a commit between its list entry and its pages looks like: "a" is applied, the rest is not.
    let log = world.manager.data().log();
    let mut space = log.reserve(storage::SpaceClass::Commit, 1, 0).unwrap();
    let lsn = log.claim(&mut space, 0).publish(crate::log::PART, &[]);
    let mut writes = crate::writeset::WriteSet::default();
    for (key, value) in [(b"a", Some(&b"new"[..])), (b"b", None), (b"c", Some(b"new"))] {
        writes.put(world.tree.id(), key, value, CommandId(1));
    }
    writes.arrange();
    let late = crate::commit::late::LateCommit { lsn, floor: lsn, writes: Arc::new(writes) };
    world.manager.late.add(Arc::new(late));
    world.manager.advance();
    let records = &world.manager.locks.records;
    let node = records.pin(world.tree.id(), b"a");
    let change = storage::Change::Put(b"new");
    let applied = world.tree.apply(lsn, b"a", change, true, &mut |old| {
        let mut state = node.state();
        node.chain.push(&mut state, old.lsn, old.value);
        state.current = lsn;
    });
    assert_eq!(applied.unwrap(), storage::Applied::Done);
    let mut after = world.begin(Isolation::RepeatableRead, 2);
    let new = after.begin_statement().unwrap();
    let pairs = |rows: &[(&[u8], &[u8])]| {
        rows.iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect::<Vec<_>>()
    };
    let expected = pairs(&[(b"a", b"new"), (b"c", b"new"), (b"d", b"old")]);
    assert_eq!(scan(&mut after, &new, &world.tree, Direction::Forward), expected);
    let mut backward = expected.clone();
    backward.reverse();
    assert_eq!(scan(&mut after, &new, &world.tree, Direction::Backward), backward);
    assert_eq!(read(&mut after, &new, &world.tree, b"b"), None);
    let expected = pairs(&[(b"a", b"old"), (b"b", b"old"), (b"d", b"old")]);
    assert_eq!(scan(&mut before, &old, &world.tree, Direction::Forward), expected);
    assert_eq!(world.manager.late.floor(), Some(lsn));
    drop((before, after));
    world.manager.late.remove(lsn);
    records.unpin_after(node, |node, state, guard| node.chain.prune(state, lsn, guard));
}

pub(super) fn wait_until(condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !condition() {
        assert!(Instant::now() < end, "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[derive(Clone, Debug)]
enum Step {
    Write(usize, u8, Option<u8>),
    Statement(usize),
    Savepoint(usize),
    RollbackTo(usize),
    Commit(usize),
    Rollback(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let session = 0..3usize;
    let step = prop_oneof![
        6 => (session.clone(), 0..12u8, any::<Option<u8>>()).prop_map(|(s, k, v)| Step::Write(s, k, v)),
        4 => session.clone().prop_map(Step::Statement),
        1 => session.clone().prop_map(Step::Savepoint),
        1 => session.clone().prop_map(Step::RollbackTo),
        2 => session.clone().prop_map(Step::Commit),
        1 => session.prop_map(Step::Rollback),
    ];
    proptest::collection::vec(step, 1..120)
}

type Contents = BTreeMap<Vec<u8>, Vec<u8>>;

struct Session {
    txn: Option<Transaction>,
    view: Option<ReadView>,
    /// What its snapshot shows, with its own writes.
    expected: Contents,
    /// Its own writes, in order, and where the savepoint stands.
    own: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    savepoint: Option<(crate::Savepoint, usize)>,
}

fn apply(contents: &mut Contents, (key, value): &(Vec<u8>, Option<Vec<u8>>)) {
    match value {
        Some(value) => contents.insert(key.clone(), value.clone()),
        None => contents.remove(key),
    };
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Sessions at REPEATABLE READ against maps: each sees its snapshot and its own writes, in both directions; who
    /// is told of a conflict or finds a lock rolls back.
    #[test]
    fn sessions_see_their_snapshots(steps in steps()) {
        let world = World::new(small());
        let mut committed = Contents::new();
        let mut sessions: Vec<_> = (0..3).map(|_| Session {
            txn: None, view: None, expected: Contents::new(), own: Vec::new(), savepoint: None,
        }).collect();
        for step in steps {
            let at = match step {
                Step::Write(at, ..) | Step::Statement(at) | Step::Savepoint(at)
                | Step::RollbackTo(at) | Step::Commit(at) | Step::Rollback(at) => at,
            };
            let session = &mut sessions[at];
            if session.txn.is_none() {
                let mut txn = world.begin(Isolation::RepeatableRead, at as u32);
                session.view = Some(txn.begin_statement().unwrap());
                session.txn = Some(txn);
                session.own.clear();
                session.savepoint = None;
                session.expected = committed.clone();
            }
            let txn = session.txn.as_mut().unwrap();
            match step {
                Step::Write(_, key, value) => {
                    let view = session.view.unwrap();
                    let mut buffer = RecordBuffer::default();
                    let locked = txn.lock_row(&view, &world.tree, &[key], RowLock::Update, WaitPolicy::Error, &mut buffer);
                    if locked.is_err() {
                        session.txn = None;
                        continue;
                    }
                    let value = value.map(|byte| vec![byte; usize::from(byte) % 5 + 1]);
                    match &value {
                        Some(value) => txn.put(&world.tree, &[key], value).unwrap(),
                        None => txn.delete(&world.tree, &[key]).unwrap(),
                    }
                    session.own.push((vec![key], value));
                }
                Step::Statement(_) => {
                    let view = txn.begin_statement().unwrap();
                    session.view = Some(view);
                    let mut expected = session.expected.clone();
                    session.own.iter().for_each(|own| apply(&mut expected, own));
                    let mut rows: Vec<_> = expected.clone().into_iter().collect();
                    prop_assert_eq!(scan(txn, &view, &world.tree, Direction::Forward), rows.clone());
                    rows.reverse();
                    prop_assert_eq!(scan(txn, &view, &world.tree, Direction::Backward), rows);
                    for key in 0..12 {
                        let found = read(txn, &view, &world.tree, &[key]);
                        prop_assert_eq!(found.as_ref(), expected.get(&vec![key]));
                    }
                }
                Step::Savepoint(_) => {
                    session.savepoint = Some((txn.savepoint(), session.own.len()));
                }
                Step::RollbackTo(_) => {
                    if let Some((place, length)) = session.savepoint {
                        txn.rollback_to(place);
                        session.own.truncate(length);
                    }
                }
                Step::Commit(_) => {
                    let ended = session.txn.take().unwrap().commit(&mut |_| ()).unwrap();
                    world.answer(ended);
                    session.own.iter().for_each(|own| apply(&mut committed, own));
                }
                Step::Rollback(_) => {
                    let _ = session.txn.take().unwrap().rollback();
                }
            }
        }
        drop(sessions);
        world.manager.collect();
        // The collector in the background may have some in hand.
        wait_until(|| world.manager.metrics().versions_held == 0);
        prop_assert!(world.manager.locks().is_empty());
    }
}

#[test]
fn what_no_page_takes_is_refused_where_it_is_written() {
    let world = World::new(small());
    let data = world.manager.data();
    let (key, record) = (data.key_bytes_max(), data.record_bytes_max());
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    for (key, value) in [(key + 1, 1), (key, record - key + 1)] {
        let refused = txn.put(&world.tree, &vec![7; key], &vec![0; value]);
        assert!(matches!(refused, Err(Error::Storage(storage::Error::TooLarge { .. }))));
    }
    write(&mut txn, &world.tree, &vec![7; key], Some(&vec![0; record - key]));
    let ended = txn.commit(&mut |_| ()).unwrap();
    world.answer(ended);
}
