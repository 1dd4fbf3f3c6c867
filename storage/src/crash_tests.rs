//! Power loss over the whole data component, by seed: log, trees, pool, double-write area, checkpoints and both passes of
//! recovery, with the simplest layer above that keeps the rules (log first, then apply; a slot from before the claim
//! until after the apply; redo in LSN order).
//!
//! One thread runs at a time and the seed picks which, so a seed is a proof. After each crash the trees must be exactly
//! what the log up to some LSN says, and that LSN is past every acknowledged record.

use crate::chance::Chance;
use crate::device::faulty::{FaultSchedule, FaultyDevice};
use crate::device::overlay::OverlayDevice;
use crate::planted::{Fault, Planted};
use crate::restore::{self, Label, Plan, Restore, Stop, TargetTimeline};
use crate::simulation::Simulation;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lock};
use crate::wal::LogRecord;
use crate::{
    Change, DataComponent, Device, Direction, Error, LogInsert, Lsn, Options, RecordKind, Result,
    Scheduler, SpaceClass, Tree, TreeId, WaitEvent, recovery,
};
use std::collections::BTreeMap;
use std::ops::Bound;

const PUT: RecordKind = RecordKind(64);
const DELETE: RecordKind = RecordKind(65);
const WRITERS: usize = 3;

fn options(planted: Planted) -> Options {
    Options {
        page_bytes: 4096,
        pool_frames: 64,
        log_ring_bytes: 64 << 10,
        log_segment_bytes: 64 << 10,
        log_bytes_max: 1 << 20,
        planted,
        ..Options::default()
    }
}

type Value = Option<Vec<u8>>;

/// What was written where, as the writers know it.
#[derive(Default)]
struct Model {
    /// By key, then in LSN order.
    writes: BTreeMap<Vec<u8>, BTreeMap<Lsn, Value>>,
    /// The newest record that somebody was told is durable.
    acknowledged: Lsn,
}

impl Model {
    /// What stands at each key if the log ends at `end`.
    fn at(&self, end: Lsn) -> BTreeMap<Vec<u8>, (Lsn, Value)> {
        let newest = self.writes.iter().filter_map(|(key, writes)| {
            let (lsn, value) = writes.range(..=end).next_back()?;
            Some((key.clone(), (*lsn, value.clone())))
        });
        newest.collect()
    }

    /// Forgets what the crash has taken.
    fn cut(&mut self, end: Lsn) {
        for writes in self.writes.values_mut() {
            writes.retain(|lsn, _| *lsn <= end);
        }
    }
}

/// The layer above, while it runs.
struct Running {
    component: Arc<DataComponent>,
    tree: Arc<Tree>,
    model: Arc<Mutex<Model>>,
    /// What each writer may have claimed and not yet applied; the greatest number for nothing.
    slots: [AtomicU64; WRITERS],
    stop: AtomicBool,
}

impl Running {
    /// What writes to a tree whose content is `model`.
    fn new(
        component: Arc<DataComponent>,
        tree: Arc<Tree>,
        model: &Arc<Mutex<Model>>,
    ) -> Arc<Running> {
        Arc::new(Running {
            tree,
            component,
            model: Arc::clone(model),
            slots: std::array::from_fn(|_| AtomicU64::new(u64::MAX)),
            stop: AtomicBool::new(false),
        })
    }

    fn floor(&self, tail: Lsn) -> Lsn {
        let lowest = self.slots.iter().map(|slot| slot.load(Ordering::SeqCst)).min();
        tail.min(Lsn(lowest.unwrap_or(u64::MAX)))
    }

    fn write(&self, writer: usize, key: &[u8], value: Value, wait: bool) -> Result<()> {
        let log = self.component.log();
        let body = value.as_deref().unwrap_or_default();
        let payload = [&[key.len() as u8][..], key, body].concat();
        self.tree.prepare(key, body.len())?;
        let mut space = log.reserve(SpaceClass::Commit, 1, payload.len() as u64)?;
        self.slots[writer].store(log.tail().0, Ordering::SeqCst);
        let claim = log.claim(&mut space, payload.len());
        let lsn = claim.publish(if value.is_some() { PUT } else { DELETE }, &payload);
        {
            let mut model = lock(&self.model);
            model.writes.entry(key.to_vec()).or_default().insert(lsn, value.clone());
        }
        let change = value.as_deref().map_or(Change::Delete, Change::Put);
        self.tree.apply(lsn, key, change, true, &mut |_| ())?;
        self.slots[writer].store(u64::MAX, Ordering::SeqCst);
        if wait {
            log.wait_durable(lsn)?;
            let mut model = lock(&self.model);
            model.acknowledged = model.acknowledged.max(lsn);
        }
        Ok(())
    }

    fn writer(&self, writer: usize, seed: u64, writes: u64) -> Result<()> {
        let mut chance = Chance::new(seed);
        for _ in 0..writes {
            let key = format!("key {:03}", chance.below(120)).into_bytes();
            let value = chance.percent(85).then(|| {
                let mut value = vec![chance.bits() as u8; chance.below(700) as usize];
                value.extend(chance.bits().to_le_bytes());
                value
            });
            self.write(writer, &key, value, chance.percent(20))?;
        }
        Ok(())
    }
}

/// What stands in the tree.
fn contents(tree: &Arc<Tree>) -> Result<BTreeMap<Vec<u8>, (Lsn, Value)>> {
    let mut cursor = tree.cursor();
    cursor.seek(Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
    let mut found = BTreeMap::new();
    while let Some(record) = cursor.advance()? {
        found.insert(record.key.to_vec(), (record.lsn, record.value.map(<[u8]>::to_vec)));
    }
    Ok(found)
}

/// Opens and redoes, as the layer above does.
fn restart(
    simulation: &Simulation,
    device: &Arc<FaultyDevice>,
    options: &Options,
    seed: u64,
) -> Result<Arc<DataComponent>> {
    recover(simulation, Arc::clone(device) as Arc<dyn Device>, options, seed)
}

fn recover(
    simulation: &Simulation,
    device: Arc<dyn Device>,
    options: &Options,
    seed: u64,
) -> Result<Arc<DataComponent>> {
    let env = simulation.environment(device, seed);
    let recovering = DataComponent::open(env, options.clone())?;
    let mut scan = recovering.records()?;
    while let Some(record) = scan.advance()? {
        if record.kind < RecordKind::FIRST_LOGICAL {
            continue;
        }
        let (key, value) = record.payload[1..].split_at(usize::from(record.payload[0]));
        let change = if record.kind == PUT { Change::Put(value) } else { Change::Delete };
        for tree in recovering.component().forest().trees() {
            tree.apply(record.lsn, key, change, true, &mut |_| ())?;
        }
    }
    recovering.finish(&|_| true)
}

/// Compares what a restart has made with what may be there.
fn compare(component: &Arc<DataComponent>, id: TreeId, model: &Mutex<Model>) -> Result<String> {
    let tree = component.tree(id)?;
    let problems = component.forest().check()?;
    if let Some(problem) = problems.first() {
        return Ok(format!("{problem}"));
    }
    let found = contents(&tree)?;
    let mut model = lock(model);
    let end = found.values().map(|(lsn, _)| *lsn).max().unwrap_or_default();
    if end < model.acknowledged {
        return Ok(format!("acknowledged up to {}, found {end}", model.acknowledged));
    }
    let expected = model.at(end);
    model.cut(end);
    let wrong = expected.iter().find(|(key, stored)| found.get(*key) != Some(*stored));
    if let Some((key, (lsn, _))) = wrong {
        let there = found.get(key).map(|(lsn, _)| *lsn);
        return Ok(format!("{key:?} of {lsn} is not there: {there:?}, log to {end}"));
    }
    if found.len() != expected.len() {
        return Ok("a record that nobody wrote".to_owned());
    }
    Ok(String::new())
}

/// One seed's run: writes, checkpoints, crashes, also inside restarts. Returns what a user would complain of.
fn complaint(seed: u64, planted: Planted) -> Option<String> {
    Simulation::run(seed, 4, |simulation| complaint_in(simulation, seed, planted)).0
}

fn complaint_in(simulation: &Simulation, seed: u64, planted: Planted) -> Option<String> {
    let mut chance = Chance::new(seed);
    let algorithms =
        [LogInsert::AtomicAdd, LogInsert::Mutex, LogInsert::Decoupled, LogInsert::Consolidated];
    let options = Options { log_insert: algorithms[seed as usize % 4], ..options(planted) };
    let mut device = simulation.device(FaultyDevice::new(seed));
    let model = Arc::new(Mutex::new(Model::default()));
    let id = {
        let env = simulation.environment(Arc::clone(&device) as Arc<dyn Device>, seed);
        DataComponent::create(&env, &options).expect("no fault yet");
        let component = restart(simulation, &device, &options, seed).expect("no fault yet");
        let tree = component.create_tree().expect("no fault yet");
        component.log().wait_durable_end(component.log().tail()).expect("no fault yet");
        tree.id()
    };
    for round in 0..5 {
        let last = round == 4;
        let within = [60, 300, 900][chance.below(3) as usize];
        let at = 1 + chance.below(within);
        let power_loss_at = (!last).then_some(at);
        device.set_schedule(FaultSchedule { power_loss_at, ..Default::default() });
        match restart(simulation, &device, &options, seed) {
            Ok(component) => match compare(&component, id, &model) {
                Ok(what) if what.is_empty() => {
                    run_until_power_loss(simulation, component, id, &model, &mut chance)
                }
                Ok(what) => return Some(format!("round {round}: {what}")),
                Err(error) if last || is_damage(&error) => {
                    return Some(format!("round {round}: reading: {error}"));
                }
                Err(_) => {}
            },
            Err(error) if last || is_damage(&error) => {
                return Some(format!("round {round}: restart: {error}"));
            }
            Err(_) => {}
        }
        device = simulation.device(device.crash(chance.bits()));
    }
    None
}

/// A database just made, on a device without faults.
fn fresh(simulation: &Simulation, seed: u64) -> (Options, Arc<FaultyDevice>, Arc<DataComponent>) {
    let options = options(Planted::default());
    let device = simulation.device(FaultyDevice::new(seed));
    let env = simulation.environment(Arc::clone(&device) as Arc<dyn Device>, seed);
    DataComponent::create(&env, &options).unwrap();
    let component = restart(simulation, &device, &options, seed).unwrap();
    (options, device, component)
}

fn is_damage(error: &Error) -> bool {
    matches!(
        error,
        Error::Corrupt(..) | Error::CorruptLog(_) | Error::Refused(_) | Error::NoTree(_)
    )
}

fn run_until_power_loss(
    simulation: &Simulation,
    component: Arc<DataComponent>,
    id: TreeId,
    model: &Arc<Mutex<Model>>,
    chance: &mut Chance,
) {
    let tree = component.tree(id).expect("it was just read");
    let running = Running::new(component, tree, model);
    let writes = chance.below(60);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (running, seed) = (Arc::clone(&running), chance.bits());
            let body = move || drop(running.writer(writer, seed, writes));
            simulation.spawn("writer", Box::new(body))
        })
        .collect();
    let checkpointer = {
        let (running, simulation) = (Arc::clone(&running), simulation.clone());
        let pauses = 1 + chance.below(60);
        simulation.clone().spawn(
            "checkpointer",
            Box::new(move || {
                while !running.stop.load(Ordering::Acquire) {
                    for _ in 0..pauses {
                        simulation.yield_point();
                    }
                    let floor = &mut |tail| running.floor(tail);
                    if running.component.checkpoint_all(floor).is_err() {
                        return;
                    }
                }
            }),
        )
    };
    writers.into_iter().for_each(|writer| writer.join());
    running.stop.store(true, Ordering::Release);
    checkpointer.join();
}

/// `ATOLL_SEEDS=first..end` runs others than the few that every build runs.
fn seeds() -> std::ops::Range<u64> {
    let Ok(range) = std::env::var("ATOLL_SEEDS") else { return 0..60 };
    let bounds = range.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    let (first, end) = bounds.expect("ATOLL_SEEDS is first..end");
    first..end
}

#[test]
fn what_was_acknowledged_is_there_and_nothing_else_whenever_the_power_goes() {
    for seed in seeds() {
        if let Some(what) = complaint(seed, Planted::default()) {
            panic!("seed {seed}: {what}");
        }
    }
}

/// The offline check recovers on an overlay: it finds what a restart would find, and changes nothing.
#[test]
fn a_check_after_a_crash_changes_no_byte() {
    for seed in 0..10 {
        Simulation::run(seed, 4, |simulation| {
            let (options, device, component) = fresh(simulation, seed);
            let tree = component.create_tree().unwrap();
            let (id, model) = (tree.id(), Arc::default());
            let log = component.log();
            log.wait_durable_end(log.tail()).unwrap();
            drop(tree);
            let mut chance = Chance::new(seed);
            let at = Some(device.operations() + 100 + chance.below(200));
            device.set_schedule(FaultSchedule { power_loss_at: at, ..Default::default() });
            run_until_power_loss(simulation, component, id, &model, &mut chance);
            let device = simulation.device(device.crash(seed));
            let summary = recovery::verify_log(&*device).unwrap();
            assert!(summary.redo <= summary.end);
            let base = Arc::clone(&device) as Arc<dyn Device>;
            let overlay = Arc::new(OverlayDevice::new(base).unwrap());
            let component = recover(simulation, overlay, &options, seed).unwrap();
            assert_eq!(compare(&component, id, &model).unwrap(), "", "seed {seed}");
            component.close(&mut |tail| tail, true).unwrap();
            assert_eq!(device.operations(), 0);
        });
    }
}

/// Ten times the log's limit goes through it, because checkpoints are taken when the log asks, and nobody is refused
/// because others take first what was given back; a restart after a clean end replays nothing.
#[test]
fn a_log_of_a_limited_size_takes_any_amount_of_work() {
    Simulation::run(7, 4, |simulation| {
        let (options, device, component) = fresh(simulation, 7);
        let tree = component.create_tree().unwrap();
        let running = Running::new(component, tree, &Arc::default());
        let checkpointer = {
            let running = Arc::clone(&running);
            let body = move || {
                let log = running.component.log();
                while !running.stop.load(Ordering::Acquire) {
                    let cell = log.checkpoint_signal().cell();
                    log.environment().wait(WaitEvent::Background, cell, None, None);
                    if log.checkpoint_signal().take() {
                        running.component.checkpoint(&mut |tail| running.floor(tail)).unwrap();
                    }
                }
            };
            simulation.spawn("checkpointer", Box::new(body))
        };
        let end = running.component.log().tail().advance(10 * options.log_bytes_max);
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (running, bytes_max) = (Arc::clone(&running), options.log_bytes_max);
                let body = move || {
                    let log = running.component.log();
                    while log.tail() < end {
                        running.writer(writer, log.tail().0, 20).unwrap();
                        let held = log.tail().0 - log.oldest().0;
                        assert!(held <= bytes_max, "{held}");
                    }
                };
                simulation.spawn("writer", Box::new(body))
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join());
        running.stop.store(true, Ordering::Release);
        running.component.log().checkpoint_signal().raise(running.component.log().environment());
        checkpointer.join();
        running.component.close(&mut |tail| tail, true).unwrap();
        let id = running.tree.id();
        let model = Arc::clone(&running.model);
        drop(running);
        let summary = recovery::verify_log(&*device).unwrap();
        assert_eq!((summary.records, summary.redo), (0, summary.end));
        let component = restart(simulation, &device, &options, 7).unwrap();
        assert_eq!(compare(&component, id, &model).unwrap(), "");
    });
}

/// A full disk refuses writers before anything is claimed; readers and checkpoints go on, and so do writers once there
/// is room again.
#[test]
fn a_full_disk_refuses_writers_and_nothing_else() {
    for seed in 0..20 {
        Simulation::run(seed, 4, |simulation| {
            let (options, device, component) = fresh(simulation, seed);
            let tree = component.create_tree().unwrap();
            let running = Running::new(component, tree, &Arc::default());
            let capacity_bytes = Some(device.bytes() + 40_000 * (1 + seed % 5));
            device.set_schedule(FaultSchedule { capacity_bytes, ..Default::default() });
            let mut number = 0u32;
            let mut insert = |value: usize| {
                number += 1;
                running.write(0, &number.to_be_bytes(), Some(vec![7; value]), false)
            };
            let refused = loop {
                if let Err(error) = insert(900) {
                    break error;
                }
            };
            assert!(matches!(refused, Error::Full(_)), "seed {seed}: {refused}");
            let there = contents(&running.tree).unwrap();
            assert_eq!(there, lock(&running.model).at(Lsn::MAX), "seed {seed}");
            running.component.checkpoint_all(&mut |tail| running.floor(tail)).unwrap();
            device.set_schedule(FaultSchedule::default());
            (0..50).for_each(|_| insert(900).unwrap());
            let log = running.component.log();
            log.wait_durable_end(log.tail()).unwrap();
            let (id, model) = (running.tree.id(), Arc::clone(&running.model));
            drop(running);
            let device = simulation.device(device.crash(seed));
            let component = restart(simulation, &device, &options, seed).unwrap();
            assert_eq!(compare(&component, id, &model).unwrap(), "", "seed {seed}");
        });
    }
}

/// Writes and takes checkpoints until a sync fails, the first after so many operations. Nobody is answered any more then.
fn until_a_sync_fails(
    simulation: &Simulation,
    seed: u64,
    operations: u64,
) -> (Options, Arc<FaultyDevice>, TreeId, Arc<Mutex<Model>>) {
    let (options, device, component) = fresh(simulation, seed);
    let tree = component.create_tree().unwrap();
    let running = Running::new(component, tree, &Arc::default());
    let log = running.component.log();
    log.wait_durable_end(log.tail()).unwrap();
    let sync_error_at = Some(device.operations() + operations);
    device.set_schedule(FaultSchedule { sync_error_at, ..Default::default() });
    let mut rounds = 0;
    let error = loop {
        rounds += 1;
        assert!(rounds < 100, "seed {seed}: the sync failed and nobody noticed");
        if let Err(error) = running.writer(0, rounds, 20) {
            break error;
        }
        let floor = &mut |tail| running.floor(tail);
        if let Err(error) = running.component.checkpoint_all(floor) {
            break error;
        }
    };
    assert!(matches!(error, Error::Halted(_)), "seed {seed}: {error}");
    let log = running.component.log();
    assert!(matches!(log.wait_durable(Lsn(1)), Err(Error::Halted(_))), "seed {seed}");
    assert!(log.reserve(SpaceClass::Commit, 1, 1).is_err(), "seed {seed}");
    (options, device, running.tree.id(), Arc::clone(&running.model))
}

/// Whichever sync fails, of log, data, area or control file: afterwards nobody is answered, and a restart finds all that
/// was answered before.
#[test]
fn a_failed_sync_ends_the_instance_unanswered() {
    for seed in 0..40 {
        Simulation::run(seed, 4, |simulation| {
            let (options, device, id, model) = until_a_sync_fails(simulation, seed, 1 + seed * 9);
            let device = simulation.device(device.crash(seed));
            let component = restart(simulation, &device, &options, seed).unwrap();
            assert_eq!(compare(&component, id, &model).unwrap(), "", "seed {seed}");
        });
    }
}

/// After a failed sync the system's cache shows what the disk has not. A restart reads it there and tells of it, so it is
/// on the disk before anything that depends on it: no loss of power afterwards takes it, before or after a checkpoint or
/// two.
#[test]
fn what_a_restart_after_a_failed_sync_has_shown_outlives_the_power() {
    for seed in 0..240 {
        Simulation::run(seed, 4, |simulation| {
            let (options, device, id, model) = until_a_sync_fails(simulation, seed, 1 + seed * 3);
            let device = simulation.device(device.survive_process());
            // In every second run the power goes within the restart.
            let power_loss_at = (seed % 2 == 1).then_some(1 + seed / 2 % 40);
            device.set_schedule(FaultSchedule { power_loss_at, ..Default::default() });
            let Ok(component) = restart(simulation, &device, &options, seed) else {
                assert!(device.is_off(), "seed {seed}");
                let device = simulation.device(device.crash(seed));
                let component = restart(simulation, &device, &options, seed).unwrap();
                assert_eq!(compare(&component, id, &model).unwrap(), "", "seed {seed}");
                return;
            };
            device.set_schedule(FaultSchedule::default());
            assert_eq!(compare(&component, id, &model).unwrap(), "", "seed {seed}");
            let tree = component.tree(id).unwrap();
            let shown = contents(&tree).unwrap().values().map(|(lsn, _)| *lsn).max();
            lock(&model).acknowledged = shown.unwrap_or_default();
            let running = Running::new(component, tree, &model);
            for round in 0..seed % 4 {
                running.writer(0, 1000 * seed + round, 5).unwrap();
                running.component.checkpoint_all(&mut |tail| running.floor(tail)).unwrap();
            }
            drop(running);
            let device = simulation.device(device.crash(seed));
            let component = restart(simulation, &device, &options, seed).unwrap();
            assert_eq!(compare(&component, id, &model).unwrap(), "", "seed {seed}");
        });
    }
}

/// Each planted fault turns the test above red.
#[test]
fn planted_faults_of_the_component_are_noticed() {
    for fault in [
        Fault::NoLogSync,
        Fault::AnswerBeforeSync,
        Fault::DoubleWriteSkipped,
        Fault::RedoPointLate,
        Fault::TornTailAccepted,
    ] {
        // A tree that makes no sense may also end whoever walks it.
        let noticed = (0..100).find(|seed| {
            let ran = std::panic::catch_unwind(|| complaint(*seed, Planted::new(fault)));
            ran.map_or(true, |complaint| complaint.is_some())
        });
        assert!(noticed.is_some(), "{fault:?} went unnoticed");
    }
}

/// Copies files to another disk, piece by piece, as others go on: pages are met half written.
fn copy(
    simulation: &Simulation,
    from: &FaultyDevice,
    to: &FaultyDevice,
    wanted: impl Fn(&str) -> bool,
    backwards: bool,
) {
    const PIECE: u64 = 1536;
    for name in from.list("").unwrap().into_iter().filter(|name| wanted(name)) {
        let source = from.open(&name, false).unwrap();
        let target = to.open(&name, true).unwrap();
        let length = source.len().unwrap();
        target.set_len(length).unwrap();
        let mut pieces: Vec<u64> = (0..length).step_by(PIECE as usize).collect();
        if backwards {
            pieces.reverse();
        }
        for at in pieces {
            let mut piece = vec![0; PIECE.min(length - at) as usize];
            source.read_at(at, &mut piece).unwrap();
            target.write_at(at, &piece).unwrap();
            simulation.yield_point();
        }
        target.sync().unwrap();
    }
    to.sync_names().unwrap();
}

/// Restores a copy whose log is complete, with the power going ever again; where the log ends.
fn restore(
    mut device: Arc<FaultyDevice>,
    chance: &mut Chance,
    stop: &mut dyn FnMut(&LogRecord<'_>, bool) -> Result<Stop>,
) -> Result<Arc<FaultyDevice>> {
    loop {
        let power_loss_at = chance.percent(50).then(|| device.operations() + 1 + chance.below(30));
        device.set_schedule(FaultSchedule { power_loss_at, ..Default::default() });
        let restored = (|| {
            if restore::resume(&*device)? {
                return Ok(());
            }
            let timeline = TargetTimeline::Latest;
            let mut plan = Plan { from: None, timeline, must_stop: false, stop: &mut *stop };
            Restore::find(&*device, &mut plan)?.finish("a test")
        })();
        match restored {
            Err(Error::Refused(why)) => return Err(Error::Refused(why)),
            Err(error) if power_loss_at.is_none() => return Err(error),
            Err(_) => {}
            Ok(()) if restore::is_due(&*device)? => {}
            Ok(()) => return Ok(device),
        }
        device = Arc::new(device.crash(chance.bits()));
    }
}

fn label(device: &FaultyDevice, (start, begin): (Lsn, Lsn)) {
    let text = Label { start, begin, timeline: 1 }.text("x", "now", "a test");
    let file = device.open(restore::LABEL, true).unwrap();
    file.set_len(text.len() as u64).unwrap();
    file.write_at(0, text.as_bytes()).unwrap();
    file.sync().unwrap();
    device.sync_names().unwrap();
}

/// Copies a directory under load, restores it up to some record, and returns what somebody would complain of.
fn complaint_of_a_backup(seed: u64, planted: Planted) -> Option<String> {
    Simulation::run(seed, 6, |simulation| {
        let (_, device, component) = fresh(simulation, seed);
        let options = Options { pool_frames: 64, ..options(planted) };
        let tree = component.create_tree().unwrap();
        let id = tree.id();
        let model = Arc::<Mutex<Model>>::default();
        component.close(&mut |tail| tail, true).unwrap();
        drop((tree, component));
        let component = restart(simulation, &device, &options, seed).unwrap();
        let running = Running::new(Arc::clone(&component), component.tree(id).unwrap(), &model);
        let mut chance = Chance::new(seed);
        running.writer(0, chance.bits(), 100).unwrap();
        let mut threads: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (running, seed) = (Arc::clone(&running), chance.bits());
                let body = move || {
                    let mut chance = Chance::new(seed);
                    while !running.stop.load(Ordering::Acquire) {
                        running.writer(writer, chance.bits(), 5).unwrap();
                    }
                };
                simulation.spawn("writer", Box::new(body))
            })
            .collect();
        let (checkpoints, other) = (Arc::clone(&running), simulation.clone());
        let body = move || {
            while !checkpoints.stop.load(Ordering::Acquire) {
                checkpoints.component.checkpoint_all(&mut |tail| checkpoints.floor(tail)).unwrap();
                (0..30).for_each(|_| other.yield_point());
            }
        };
        threads.push(simulation.spawn("checkpointer", Box::new(body)));
        let backup = component.begin_backup(&mut |tail| running.floor(tail)).unwrap();
        let copied = FaultyDevice::new(seed);
        let not_log = |name: &str| !name.starts_with("log/");
        copy(simulation, &device, &copied, not_log, chance.percent(50));
        label(&copied, (backup.start(), backup.begin()));
        let acknowledged = lock(&model).acknowledged;
        // What the archive would have.
        component.log().keep(backup.start());
        let end = backup.end().unwrap();
        running.stop.store(true, Ordering::Release);
        threads.into_iter().for_each(|thread| thread.join());
        component.log().wait_durable_end(component.log().tail()).unwrap();
        copy(simulation, &device, &copied, |name| name.starts_with("log/"), false);
        let writes = lock(&model).writes.clone();
        let later = end.advance(chance.below(component.log().tail().0 - end.0 + 1));
        drop((running, component));
        let mut stop = |record: &LogRecord<'_>, consistent: bool| {
            let here =
                consistent && record.lsn >= later && record.kind >= RecordKind::FIRST_LOGICAL;
            Ok(if here { Stop::Before } else { Stop::No })
        };
        let restored = match restore(Arc::new(copied), &mut chance, &mut stop) {
            Ok(restored) => restored,
            Err(error) => return Some(format!("restoring: {error}")),
        };
        let restored = simulation.device(restored.crash(seed));
        let model = Mutex::new(Model { writes, acknowledged });
        // Restored once more by a restart that nobody has asked for: it is a directory like any other.
        for _ in 0..2 {
            let component =
                match restart(simulation, &restored, &self::options(Planted::default()), seed) {
                    Ok(component) => component,
                    Err(error) => return Some(format!("recovery: {error}")),
                };
            match compare(&component, id, &model) {
                Ok(what) if what.is_empty() => {}
                Ok(what) => return Some(what),
                Err(error) => return Some(format!("reading: {error}")),
            }
            assert_eq!(component.log().timeline(), 2);
        }
        None
    })
    .0
}

#[test]
fn a_copy_of_a_running_directory_is_restored_to_any_moment_behind_it() {
    for seed in seeds() {
        if let Some(what) = complaint_of_a_backup(seed, Planted::default()) {
            panic!("seed {seed}: {what}");
        }
    }
}

#[test]
fn without_copies_in_the_log_torn_pages_are_lost() {
    let planted = Planted::new(Fault::PageCopyForgotten);
    assert!((0..60).any(|seed| complaint_of_a_backup(seed, planted).is_some()));
}

/// What a bulk build made while the files were copied is in the log; the planted fault loses it.
#[test]
fn what_is_built_while_a_backup_runs_is_restored() {
    let restored = |planted: Planted| {
        let run = |simulation: &Simulation| {
            let (_, device, component) = fresh(simulation, 3);
            component.close(&mut |tail| tail, true).unwrap();
            drop(component);
            let component = restart(simulation, &device, &options(planted), 3).unwrap();
            let backup = component.begin_backup(&mut |tail| tail).unwrap();
            let copied = FaultyDevice::new(3);
            copy(simulation, &device, &copied, |name| !name.starts_with("log/"), false);
            let mut builder = component.bulk_builder().unwrap();
            for number in 0..2000u32 {
                builder.push(&number.to_be_bytes(), &[7; 40]).unwrap();
            }
            let id = builder.finish().unwrap().id();
            label(&copied, (backup.start(), backup.begin()));
            backup.end().unwrap();
            copy(simulation, &device, &copied, |name| name.starts_with("log/"), false);
            let mut stop = |_: &LogRecord<'_>, _: bool| Ok(Stop::No);
            let copied = restore(Arc::new(copied), &mut Chance::new(3), &mut stop).unwrap();
            let copied = simulation.device(copied.crash(3));
            let component = restart(simulation, &copied, &options(Planted::default()), 3)?;
            Ok::<_, Error>(contents(&component.tree(id)?)?.len())
        };
        Simulation::run(3, 4, run).0
    };
    assert_eq!(restored(Planted::default()).unwrap(), 2000);
    assert!(restored(Planted::new(Fault::NewPageNotLogged)).is_err());
}

/// A copy whose log does not come to the backup's end is refused, and so is a target before that.
#[test]
fn what_is_not_whole_is_not_restored() {
    Simulation::run(5, 4, |simulation| {
        let (_, device, component) = fresh(simulation, 5);
        let tree = component.create_tree().unwrap();
        let running = Running::new(Arc::clone(&component), tree, &Arc::default());
        let backup = component.begin_backup(&mut |tail| running.floor(tail)).unwrap();
        running.writer(0, 5, 20).unwrap();
        component.log().wait_durable_end(component.log().tail()).unwrap();
        let early = FaultyDevice::new(5);
        copy(simulation, &device, &early, |_| true, false);
        let place = (backup.start(), backup.begin());
        label(&early, place);
        backup.end().unwrap();
        let late = FaultyDevice::new(5);
        copy(simulation, &device, &late, |_| true, false);
        label(&late, place);
        let mut no_stop = |_: &LogRecord<'_>, _: bool| Ok(Stop::No);
        let refused = restore(Arc::new(early), &mut Chance::new(5), &mut no_stop).unwrap_err();
        assert!(refused.to_string().starts_with("WAL ends before end of online backup"));
        let mut at_once = |_: &LogRecord<'_>, _: bool| Ok(Stop::After);
        let refused = restore(Arc::new(late), &mut Chance::new(5), &mut at_once).unwrap_err();
        let expected = "requested recovery stop point is before consistent recovery point";
        assert_eq!(refused.to_string(), expected);
    });
}
