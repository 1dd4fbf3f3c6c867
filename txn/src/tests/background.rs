//! A panic in a background thread ends the instance: whoever asks is told that it has halted, and nobody waits for ever for
//! work that is no longer done.

use super::*;
use crate::{Clock, Joinable, Scheduler, WaitCell, WaitEvent};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use storage::Micros;

/// Threads of the system, one of which panics when it next comes back from its rest.
struct Unlucky {
    threads: Threads,
    clock: SystemClock,
    /// The thread's name, once it is its turn.
    victim: Mutex<Option<&'static str>>,
    /// What the outside was told.
    told: Mutex<Option<String>>,
}

impl Clock for Unlucky {
    fn now(&self) -> Micros {
        self.clock.now()
    }

    fn wall(&self) -> i64 {
        self.clock.wall()
    }
}

impl Scheduler for Unlucky {
    fn park(&self, event: WaitEvent, cell: &WaitCell, timeout: Option<Micros>) {
        self.threads.park(event, cell, timeout);
        let victim = *self.victim.lock().unwrap();
        assert!(victim.is_none() || victim != std::thread::current().name(), "planted");
    }

    fn unpark(&self, cell: &WaitCell) {
        self.threads.unpark(cell);
    }

    fn spawn(&self, name: &'static str, body: Box<dyn FnOnce() + Send>) -> Box<dyn Joinable> {
        self.threads.spawn(name, body)
    }

    fn slot(&self) -> usize {
        self.threads.slot()
    }

    fn slots(&self) -> usize {
        self.threads.slots()
    }

    fn halted(&self, why: &str) {
        *self.told.lock().unwrap() = Some(why.to_owned());
    }
}

/// Work that wakes every thread sooner or later; true once somebody is told that the instance has halted.
fn is_told(manager: &Arc<Manager>, tree: &Arc<Tree>, round: u64) -> bool {
    let work = || -> Result<()> {
        // What it might read is garbage for the collector once it has ended.
        let mut reader = manager.begin(Begin::default(), &Arc::new(SessionWait::new(2)));
        reader.begin_statement()?;
        let mut txn = manager.begin(Begin::default(), &Arc::new(SessionWait::new(1)));
        txn.begin_statement()?;
        let mut buffer = RecordBuffer::default();
        for key in 0..40 {
            let key = (round * 1000 + key).to_be_bytes();
            for key in [key, 1u64.to_be_bytes()] {
                txn.lock_key(tree, &key, RowLock::Update, WaitPolicy::Block, &mut buffer)?;
                txn.put(tree, &key, &[round as u8; 900])?;
            }
        }
        let ended = txn.commit(&mut |_| ())?;
        answer(manager, ended)?;
        let _ = reader.rollback();
        manager.data().log().checkpoint_signal().raise(manager.environment());
        Ok(())
    };
    matches!(work(), Err(Error::Storage(storage::Error::Halted(_))))
}

#[test]
fn a_panic_in_a_background_thread_ends_the_instance() {
    let names = ["log flusher", "log segments", "cleaner", "checkpointer", "version collector"];
    for name in names {
        let unlucky = Arc::new(Unlucky {
            threads: Threads::new(4),
            clock: SystemClock::new(),
            victim: Mutex::default(),
            told: Mutex::default(),
        });
        let env = Environment {
            device: Arc::new(FaultyDevice::new(1)),
            clock: Arc::<Unlucky>::clone(&unlucky),
            scheduler: Arc::<Unlucky>::clone(&unlucky),
            seed: 7,
        };
        let options = small();
        Manager::create(&env, &options).unwrap();
        let manager = Manager::open::<Error>(env, options, |_| Ok(Vec::new())).unwrap();
        let tree = manager.data().create_tree().unwrap();
        assert!(!is_told(&manager, &tree, 0));
        *unlucky.victim.lock().unwrap() = Some(name);
        let begun = Instant::now();
        let mut round = 1;
        while !is_told(&manager, &tree, round) {
            assert!(begun.elapsed() < Duration::from_secs(60), "nobody misses the {name}");
            round += 1;
        }
        let told = unlucky.told.lock().unwrap().clone();
        assert_eq!(told, Some(format!("the {name} panicked: planted")));
        // Not closed, and its threads are not joined: they would pass the panic on.
        std::mem::forget(manager);
    }
}

/// What an old snapshot keeps, the collector leaves alone until that snapshot ends, however much is committed meanwhile.
#[test]
fn the_collector_rests_beside_an_old_snapshot() {
    let world = World::new(small());
    let key = |n: u64| n.to_be_bytes();
    for n in 0..100 {
        world.set(&key(n), Some(&[1; 50]));
    }
    let mut reader = world.begin(Isolation::RepeatableRead, 1);
    let view = reader.begin_statement().unwrap();
    let collections = || world.manager.metrics().collections;
    // It has found out what keeps it.
    world.set(&key(0), Some(&[2; 50]));
    let patience = Instant::now() + Duration::from_secs(60);
    let mut before = collections();
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = collections();
        if now == before {
            break;
        }
        before = now;
        assert!(Instant::now() < patience, "it does not come to rest");
    }
    for n in 0..1000 {
        world.set(&key(n % 100), (n % 3 != 0).then_some(&[3; 50]));
    }
    let rounds = collections() - before;
    assert!(rounds < 10, "{rounds} rounds beside 1000 commits");
    assert_eq!(read(&mut reader, &view, &world.tree, &key(7)), Some(vec![1; 50]));
    drop(reader);
    while world.manager.metrics().versions_held + world.manager.metrics().tombstones > 0 {
        assert!(Instant::now() < patience, "{:?}", world.manager.metrics());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Tombstones beyond those that are noted one by one go as well, without VACUUM, when no snapshot needs them.
#[test]
fn more_tombstones_than_there_are_notes_go_too() {
    let world = World::new(Options { tombstone_notes_max: 10, ..small() });
    let key = |n: u64| n.to_be_bytes();
    let all = |value: Option<&[u8]>| {
        let mut txn = world.begin(Isolation::ReadCommitted, 1);
        txn.begin_statement().unwrap();
        (0..1000).for_each(|n| write(&mut txn, &world.tree, &key(n), value));
        world.answer(txn.commit(&mut |_| ()).unwrap());
    };
    let tombstones = || {
        let mut cursor = world.tree.cursor();
        cursor.seek(Bound::Unbounded, Bound::Unbounded, Direction::Forward).unwrap();
        let mut count = 0;
        while let Some(record) = cursor.advance().unwrap() {
            count += u64::from(record.value.is_none());
        }
        count
    };
    let patience = Instant::now() + Duration::from_secs(60);
    for round in 0..3u8 {
        all(Some(&[round; 100]));
        let mut reader = world.begin(Isolation::RepeatableRead, 2);
        let view = reader.begin_statement().unwrap();
        all(None);
        // Single deletes as well, each of a commit of its own.
        for n in 1000..1100 {
            world.set(&key(n), Some(b"1"));
            world.set(&key(n), None);
        }
        assert!(tombstones() >= 1000);
        assert_eq!(read(&mut reader, &view, &world.tree, &key(500)), Some(vec![round; 100]));
        drop(reader);
        while tombstones() > 0 {
            assert!(Instant::now() < patience, "{} stay", tombstones());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    assert_eq!(world.manager.data().forest().check().unwrap(), []);
}
