//! Waits in the middle of a commit: for a slot, for a permit to split. Each rests, is seen, and ends by cancel.

use super::*;
use crate::{Fault, Planted, TableId, TableLock};
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;
use storage::WaitEvent;

/// One worker slot, and so one permit.
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
    let permit = forest.volume().smo_permit().unwrap();
    let waiting: Vec<_> = (1..4).map(|key| committer(&world, key)).collect();
    waiting.iter().for_each(|(session, _)| rests(session, WaitEvent::StructurePermit));
    world.manager.environment().raise(&waiting[0].0.cancel, 5);
    let mut waiting = waiting.into_iter().map(|(_, thread)| thread);
    let cancelled = waiting.next().unwrap().join().unwrap();
    assert!(matches!(cancelled, Err(Error::Cancelled(5))), "{cancelled:?}");
    drop(permit);
    waiting.for_each(|thread| thread.join().unwrap().unwrap());
    assert_eq!(keys(&world), 6);
    assert_eq!(world.manager.data().forest().check().unwrap(), []);
}

/// How a session holds what another waits for.
#[derive(Clone, Copy, Debug)]
enum Mutex {
    /// A row that nobody changes.
    Row,
    /// A table, in a mode that goes with no other.
    Table,
}

impl Mutex {
    fn take(self, world: &World, txn: &mut Transaction) -> Result<()> {
        let view = txn.begin_statement()?;
        let mut buffer = RecordBuffer::default();
        match self {
            Mutex::Row => {
                let (update, block) = (RowLock::Update, WaitPolicy::Block);
                txn.lock_row(&view, &world.tree, b"mutex", update, block, &mut buffer)?;
            }
            Mutex::Table => {
                let exclusive = TableLock::AccessExclusive;
                txn.lock_table(TableId(1), exclusive, WaitPolicy::Block)?;
            }
        }
        Ok(())
    }
}

/// What the next statement reads behind a mutex whose last holder has written 1, while a commit that was claimed before is
/// still not applied.
fn read_behind(mutex: Mutex, waits: bool, planted: Planted) -> Option<Vec<u8>> {
    let world =
        Arc::new(World::with(environment(FaultyDevice::new(1), 4), Options { planted, ..small() }));
    world.set(b"mutex", Some(b""));
    world.set(b"data", Some(b"0"));
    let mut giver = world.begin(Isolation::ReadCommitted, 1);
    mutex.take(&world, &mut giver).unwrap();
    write(&mut giver, &world.tree, b"data", Some(b"1"));
    let slow = world.manager.slots.take(3).unwrap();
    world.manager.slots.publish(slow, world.manager.data().log().tail());

    let wait = Arc::new(SessionWait::new(2));
    let reader = |world: Arc<World>, session: Arc<SessionWait>| {
        std::thread::spawn(move || {
            let mut txn = world.manager.begin(Begin::default(), &session);
            mutex.take(&world, &mut txn).unwrap();
            let view = txn.begin_statement().unwrap();
            read(&mut txn, &view, &world.tree, b"data")
        })
    };
    let ended = if waits {
        let reader = reader(Arc::clone(&world), Arc::clone(&wait));
        while wait.event.load(Relaxed) == 0 {
            std::thread::yield_now();
        }
        (giver.commit(&mut |_| ()).unwrap(), reader)
    } else {
        let ended = giver.commit(&mut |_| ()).unwrap();
        (ended, reader(Arc::clone(&world), Arc::clone(&wait)))
    };
    let (ended, reader) = ended;
    while wait.event.load(Relaxed) != WaitEvent::Watermark as u32 && !reader.is_finished() {
        std::thread::yield_now();
    }
    world.manager.slots.free(slow);
    world.manager.advance();
    let found = reader.join().unwrap();
    world.answer(ended);
    found
}

#[test]
fn who_is_given_a_lock_sees_what_its_giver_committed() {
    for mutex in [Mutex::Row, Mutex::Table] {
        for waits in [true, false] {
            let found = read_behind(mutex, waits, Planted::default());
            assert_eq!(found.as_deref(), Some(&b"1"[..]), "{mutex:?}, {waits}");
            let stale = read_behind(mutex, waits, Planted::new(Fault::ReleasedUnseen));
            assert_eq!(stale.as_deref(), Some(&b"0"[..]), "the planted fault goes unnoticed");
        }
    }
}
