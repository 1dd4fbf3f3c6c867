//! The pool under a simulation that lets others run at every read: each mechanism is seen at work, and none loses a page.

use crate::chance::Chance;
use crate::device::faulty::{FaultSchedule, FaultyDevice};
use crate::simulation::Simulation;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::{
    Change, DataComponent, Device, Error, Lsn, Options, RecordBuffer, RecordKind, Scheduler,
    SpaceClass, Tree,
};

fn tiny() -> Options {
    Options {
        page_bytes: 4096,
        pool_frames: 64,
        log_ring_bytes: 1 << 20,
        log_segment_bytes: 1 << 20,
        log_bytes_max: 64 << 20,
        ..Options::default()
    }
}

fn put(component: &DataComponent, tree: &Tree, key: u64, value: &[u8]) -> Lsn {
    let log = component.log();
    let mut space = log.reserve(SpaceClass::Commit, 1, 8).unwrap();
    let lsn = log.claim(&mut space, 8).publish(RecordKind::FIRST_LOGICAL, &[0; 8]);
    tree.apply(lsn, &key.to_be_bytes(), Change::Put(value), true, &mut |_| ()).unwrap();
    lsn
}

#[test]
fn every_mechanism_is_at_work_in_the_smallest_pool() {
    const KEYS: u64 = 6_000;
    Simulation::run(7, 4, |simulation| {
        let device = simulation.device(FaultyDevice::new(7));
        let env = simulation.environment(Arc::clone(&device) as Arc<dyn Device>, 7);
        DataComponent::create(&env, &tiny()).unwrap();
        let component =
            DataComponent::open(env.clone(), tiny()).unwrap().finish(&|_| true).unwrap();
        let tree = component.create_tree().unwrap();
        for key in 0..KEYS {
            put(&component, &tree, key, &[key as u8; 200]);
        }
        let workers: Vec<_> = (0..4u64)
            .map(|me| {
                let (component, tree) = (Arc::clone(&component), Arc::clone(&tree));
                let body = move || {
                    let mut chance = Chance::new(me);
                    let mut buffer = RecordBuffer::default();
                    for round in 0..600u64 {
                        // Every other key is the same for all, so that they meet at the same misses.
                        let shared = round / 2 * 7919 % KEYS;
                        let key = if round % 2 == 0 { shared } else { chance.below(KEYS) };
                        assert!(tree.get(&key.to_be_bytes(), &mut buffer).unwrap());
                        assert_eq!(buffer.value(), Some(&[key as u8; 200][..]));
                        if key % 4 == me {
                            put(&component, &tree, key, &[key as u8; 200]);
                        }
                    }
                };
                env.scheduler.spawn("reader", Box::new(body))
            })
            .collect();
        workers.into_iter().for_each(|worker| worker.join());
        let counters = &component.forest().volume().pool.counters;
        for (name, count) in [
            ("hint hits", counters.hint_hits.get()),
            ("hint misses", counters.hint_misses.get()),
            ("hint repairs", counters.hint_repairs.get()),
            ("misses", counters.misses.get()),
            ("displacements", counters.displacements.get()),
            ("evictions", counters.evictions.get()),
            ("transit waits", counters.transit_waits.get()),
            ("frame waits", counters.frame_waits.get()),
            ("reads", counters.reads.get()),
            ("writes", counters.writes.get()),
        ] {
            assert!(count > 0, "{name}");
        }
        assert!(component.forest().check().unwrap().is_empty());
        component.close(&mut |tail| tail, true).unwrap();
    });
}

#[test]
fn a_failed_write_leaves_the_page_dirty_and_the_sweep_knows() {
    Simulation::run(3, 2, |simulation| {
        let device = simulation.device(FaultyDevice::new(3));
        let env = simulation.environment(Arc::clone(&device) as Arc<dyn Device>, 3);
        DataComponent::create(&env, &tiny()).unwrap();
        let component = DataComponent::open(env, tiny()).unwrap().finish(&|_| true).unwrap();
        let tree = component.create_tree().unwrap();
        let forest = component.forest();
        let mut failures = 0;
        for round in 0..20 {
            let keys = round * 100..round * 100 + 100;
            let last = keys.map(|key| put(&component, &tree, key, &[9; 100])).max().unwrap();
            component.log().wait_durable(last).unwrap();
            let lowest = forest.min_recovery_lsn().expect("pages are dirty");
            // The log may meet the error instead; then the instance ends, and nothing is called clean.
            let write_error_at = Some(device.operations() + 1 + round % 8);
            device.set_schedule(FaultSchedule { write_error_at, ..FaultSchedule::default() });
            let cleaned = forest.clean_older_than(Lsn::MAX);
            device.set_schedule(FaultSchedule::default());
            match cleaned {
                Ok(()) => {}
                Err(Error::Io(..)) => {
                    failures += 1;
                    // Pages may have gone out, and a map failed.
                    assert!(forest.min_recovery_lsn().is_some_and(|now| now >= lowest));
                    forest.clean_older_than(Lsn::MAX).unwrap();
                }
                Err(Error::Halted(_)) => {
                    assert_eq!(forest.min_recovery_lsn(), Some(lowest));
                    return;
                }
                Err(error) => panic!("{error}"),
            }
            assert_eq!(forest.min_recovery_lsn(), None);
        }
        assert!(failures > 0);
        component.close(&mut |tail| tail, true).unwrap();
    });
}

/// A commit in parts that is applied for a long time dirties page after page with a redo that begins at its first part.
#[test]
fn a_sweep_ends_beside_who_dirties_pages_of_long_ago() {
    Simulation::run(5, 2, |simulation| {
        let device = simulation.device(FaultyDevice::new(5));
        let env = simulation.environment(Arc::clone(&device) as Arc<dyn Device>, 5);
        DataComponent::create(&env, &tiny()).unwrap();
        let component =
            DataComponent::open(env.clone(), tiny()).unwrap().finish(&|_| true).unwrap();
        let tree = component.create_tree().unwrap();
        let since = component.log().tail();
        for key in 0..200 {
            put(&component, &tree, key, &[1; 200]);
        }
        let ended = Arc::new(AtomicBool::new(false));
        let applier = {
            let (component, tree, ended) =
                (Arc::clone(&component), Arc::clone(&tree), Arc::clone(&ended));
            let simulation = simulation.clone();
            let body = move || {
                for step in 0..20_000u64 {
                    let lsn = put(&component, &tree, 1_000, &[2; 20]);
                    let key = (step * 7 % 200).to_be_bytes();
                    let change = Change::Put(&[3; 200]);
                    tree.apply_since(
                        (lsn, since),
                        (&key, None),
                        change,
                        crate::Room::Free,
                        &mut |_| (),
                    )
                    .unwrap();
                    if step % 4 == 0 {
                        simulation.yield_point();
                    }
                }
                ended.store(true, Ordering::Relaxed);
            };
            env.scheduler.spawn("applier", Box::new(body))
        };
        component.forest().clean_older_than(component.log().tail()).unwrap();
        assert!(!ended.load(Ordering::Relaxed), "it went on as long as pages became dirty");
        applier.join();
        component.close(&mut |tail| tail, true).unwrap();
    });
}
