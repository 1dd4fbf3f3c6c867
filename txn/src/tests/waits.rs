//! Waits in the middle of a commit: for a slot, for a turn to split. Each rests, is seen, and ends by cancel.

use super::*;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use storage::WaitEvent;

/// One worker slot, and so one turn.
fn world() -> Arc<World> {
    Arc::new(World::with(environment(FaultyDevice::new(1), 1), small()))
}

/// A commit of one large record, on a thread of its own, and what its session shows.
fn committer(world: &Arc<World>, key: u64) -> (Arc<SessionWait>, JoinHandle<Result<()>>) {
    let wait = Arc::new(SessionWait::new(key as u32));
    let (session, world) = (Arc::clone(&wait), Arc::clone(world));
    let body = move || {
        let mut txn = world.manager.begin(Begin::default(), &session);
        txn.begin_statement()?;
        write(&mut txn, &world.tree, &key.to_be_bytes(), Some(&[7; 900]));
        let ended = txn.commit(&mut |_| ())?;
        answer(&world.manager, ended)
    };
    (wait, std::thread::spawn(body))
}

fn rests(session: &SessionWait, event: WaitEvent) {
    while session.event.load(Relaxed) != event as u32 {
        std::thread::yield_now();
    }
}

fn keys(world: &World) -> usize {
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    let view = txn.begin_statement().unwrap();
    scan(&mut txn, &view, &world.tree, Direction::Forward).len()
}

#[test]
fn who_finds_no_commit_slot_rests() {
    let world = world();
    let session = SessionWait::new(1);
    let mut slots: Vec<_> = (0..256).map(|_| world.manager.take_slot(&session).unwrap()).collect();
    let waiting: Vec<_> = (0..4).map(|key| committer(&world, key)).collect();
    waiting.iter().for_each(|(session, _)| rests(session, WaitEvent::CommitSlot));
    world.manager.environment().raise(&waiting[0].0.cancel, 5);
    let mut waiting = waiting.into_iter().map(|(_, thread)| thread);
    let cancelled = waiting.next().unwrap().join().unwrap();
    assert!(matches!(cancelled, Err(Error::Cancelled(5))), "{cancelled:?}");
    // One slot is enough for all, one after the other; and a checkpoint needs none.
    slots.pop();
    waiting.for_each(|thread| thread.join().unwrap().unwrap());
    world.manager.checkpoint().unwrap();
    assert_eq!(keys(&world), 3);
}

/// What only a checkpoint can free must not keep the checkpoint waiting: the record of a prepared transaction is logged anew.
#[test]
fn a_checkpoint_beside_prepared_transactions_needs_no_slot() {
    let world = world();
    let mut txn = world.begin(Isolation::ReadCommitted, 1);
    txn.begin_statement().unwrap();
    write(&mut txn, &world.tree, b"prepared", Some(b"1"));
    world.answer(txn.prepare((b"p", b""), 5).unwrap().unwrap());
    world.manager.checkpoint_all().unwrap();
    world.set(b"other", Some(b"1"));
    let session = SessionWait::new(1);
    let slots: Vec<_> = (0..256).map(|_| world.manager.take_slot(&session).unwrap()).collect();
    let before = world.manager.data().last_checkpoint().redo;
    world.manager.checkpoint_all().unwrap();
    assert!(world.manager.data().last_checkpoint().redo > before);
    drop(slots);
    let left = world.manager.prepared();
    let wait = Arc::new(SessionWait::new(1));
    let ended = world.manager.resolve(&left[0], false, &wait, &mut |_| ()).unwrap();
    world.answer(ended.unwrap());
}

#[test]
fn a_split_that_waits_for_its_turn_is_seen_and_cancelled() {
    let world = world();
    for key in 0..4u64 {
        world.set(&(10 * key).to_be_bytes(), Some(&[7; 900]));
    }
    let forest = Arc::clone(world.manager.data().forest());
    let turn = forest.volume().turn().unwrap();
    let waiting: Vec<_> = (1..4).map(|key| committer(&world, key)).collect();
    waiting.iter().for_each(|(session, _)| rests(session, WaitEvent::StructureTurn));
    world.manager.environment().raise(&waiting[0].0.cancel, 5);
    let mut waiting = waiting.into_iter().map(|(_, thread)| thread);
    let cancelled = waiting.next().unwrap().join().unwrap();
    assert!(matches!(cancelled, Err(Error::Cancelled(5))), "{cancelled:?}");
    drop(turn);
    waiting.for_each(|thread| thread.join().unwrap().unwrap());
    assert_eq!(keys(&world), 6);
    assert_eq!(world.manager.data().forest().check().unwrap(), []);
}
