//! Power loss at every kind of moment: whatever was durable is there afterwards, and every tree is well formed.
//!
//! A seeded simulation runs a few workers, a checkpointer and the cleaner over the faulty device, with the smallest
//! pages and pool. The power goes at a seeded operation, in some runs again while recovery runs. Then the records that
//! the log still has are the truth: the trees must hold exactly what they say, and the offline check must be content.

use crate::btree::Loaded;
use crate::btree::smo::{Actions, STRUCTURE};
use crate::btree::{Change, Tree};
use crate::chance::Chance;
use crate::device::faulty::{FaultSchedule, FaultyDevice};
use crate::simulation::Simulation;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lock};
use crate::{
    DataComponent, Device, Direction, Environment, Error, Fault, Lsn, Options, Packing, Planted,
    RecordKind, Result, Scheduler, SpaceClass, TreeId, WaitEvent,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

const PUT: u8 = 1;
const DELETE: u8 = 2;
const NAME: u8 = 3;
const UNNAME: u8 = 4;
const WORKERS: usize = 3;

#[derive(Clone, Debug)]
struct Entry {
    lsn: Lsn,
    tree: TreeId,
    op: u8,
    key: Vec<u8>,
    value: Vec<u8>,
}

type Contents = BTreeMap<TreeId, BTreeMap<Vec<u8>, (Lsn, Vec<u8>)>>;

/// What all threads of a run share.
struct World {
    component: Arc<DataComponent>,
    /// For each worker the lower bound of what it has claimed and not yet applied.
    slots: [AtomicU64; WORKERS],
    history: Mutex<Vec<Entry>>,
    acknowledged: AtomicU64,
    env: Environment,
    stop: AtomicBool,
}

/// Every fourth seed has larger pages: fewer of them are torn, more fit the pool.
fn options(seed: u64, planted: Planted) -> Options {
    Options {
        planted,
        page_bytes: if seed % 4 == 3 { 8192 } else { 4096 },
        pool_frames: 64,
        log_ring_bytes: 128 << 10,
        log_segment_bytes: 64 << 10,
        log_bytes_max: 512 << 10,
        ..Options::default()
    }
}

fn payload(tree: TreeId, op: u8, key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut payload = tree.0.to_le_bytes().to_vec();
    payload.push(op);
    payload.extend_from_slice(&(key.len() as u16).to_le_bytes());
    payload.extend_from_slice(key);
    payload.extend_from_slice(value);
    payload
}

fn parse(lsn: Lsn, payload: &[u8]) -> Entry {
    let tree = TreeId(u64::from_le_bytes(payload[..8].try_into().unwrap()));
    let key_len = u16::from_le_bytes(payload[9..11].try_into().unwrap()) as usize;
    let (key, value) = payload[11..].split_at(key_len);
    Entry { lsn, tree, op: payload[8], key: key.to_vec(), value: value.to_vec() }
}

fn apply(tree: &Tree, entry: &Entry) -> Result<()> {
    let change = if entry.op == PUT { Change::Put(&entry.value) } else { Change::Delete };
    tree.apply(entry.lsn, &entry.key, change, true, &mut |_| ())?;
    Ok(())
}

/// Most keys are short. Some are as long as keys may be, and of these some have so much in common that what separates them is
/// as long.
fn key(number: u64, longest: usize) -> Vec<u8> {
    let mut key = number.to_be_bytes().to_vec();
    match number % 11 {
        0 => key.resize(longest, b'x'),
        1 => {
            let common = vec![(number % 3) as u8; longest - key.len()];
            key = [common, key].concat();
        }
        _ => key.resize(8 + (number % 5) as usize * 20, b'x'),
    }
    key
}

impl World {
    fn commit(
        &self,
        me: usize,
        tree: Option<&Tree>,
        id: TreeId,
        op: u8,
        key: &[u8],
        value: &[u8],
    ) -> Result<Lsn> {
        let log = self.component.log();
        let payload = payload(id, op, key, value);
        let mut space = log.reserve(SpaceClass::Commit, 1, payload.len() as u64)?;
        self.slots[me].store(log.tail().0, Ordering::SeqCst);
        let claim = log.claim(&mut space, payload.len());
        let entry = parse(claim.lsn(), &payload);
        // Entered before it can become durable.
        lock(&self.history).push(entry.clone());
        let lsn = claim.publish(RecordKind::FIRST_LOGICAL, &payload);
        // A worker that fails here keeps its slot: nobody may believe that its record is applied.
        if let Some(tree) = tree {
            apply(tree, &entry)?;
        }
        self.slots[me].store(u64::MAX, Ordering::SeqCst);
        Ok(lsn)
    }

    fn acknowledge(&self, lsn: Lsn) -> Result<()> {
        self.component.log().wait_durable(lsn)?;
        self.acknowledged.fetch_max(lsn.0, Ordering::SeqCst);
        Ok(())
    }

    /// The checkpointer's life: it is asked when log space runs short, and by the first worker.
    fn checkpoint(&self) {
        let signal = self.component.log().checkpoint_signal();
        loop {
            self.env.wait(WaitEvent::Background, signal.cell(), None, None);
            signal.take();
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            let taken = self.component.checkpoint(&mut |tail| {
                let lowest = self.slots.iter().map(|slot| slot.load(Ordering::SeqCst)).min();
                tail.min(Lsn(lowest.unwrap_or(u64::MAX)))
            });
            match taken {
                Ok(_) => {}
                Err(Error::Halted(_) | Error::Io(..)) => return,
                Err(error) => panic!("checkpoint: {error}"),
            }
        }
    }

    /// One worker's life, until the power goes or its work is done.
    fn work(&self, me: usize, shared: &Arc<Tree>, mut chance: Chance) -> Result<()> {
        let mut own: Option<Arc<Tree>> = None;
        let mut keys: Vec<BTreeSet<Vec<u8>>> = vec![BTreeSet::new(); 2];
        for step in 0..chance.below(1200) + 50 {
            let which = usize::from(own.is_some() && chance.below(3) == 0);
            let tree = own.as_ref().filter(|_| which == 1).unwrap_or(shared);
            // Workers' keys interleave: they meet on every leaf of the shared tree.
            let number = chance.below(500) * WORKERS as u64 + me as u64;
            let key = key(number, self.component.key_bytes_max());
            match chance.below(20) {
                0..14 => {
                    let room = self.component.record_bytes_max() - key.len();
                    let value = vec![step as u8; room.min(chance.below(900) as usize)];
                    let lsn = self.commit(me, Some(tree), tree.id(), PUT, &key, &value)?;
                    keys[which].insert(key);
                    if chance.below(8) == 0 {
                        self.acknowledge(lsn)?;
                    }
                }
                14..16 => {
                    // Many at once, so that pages become empty and are merged.
                    let gone: Vec<_> =
                        keys[which].range(key..).take(chance.below(25) as usize).cloned().collect();
                    for key in gone {
                        let lsn = self.commit(me, Some(tree), tree.id(), DELETE, &key, b"")?;
                        keys[which].remove(&key);
                        if chance.below(4) != 0 {
                            self.acknowledge(lsn)?;
                            tree.remove_tombstone(&key, lsn)?;
                        }
                    }
                }
                16 => match own.take() {
                    None => {
                        let tree = if chance.below(2) == 0 {
                            self.component.create_tree()?
                        } else {
                            self.bulk(me, &mut chance)?
                        };
                        self.commit(me, None, tree.id(), NAME, b"", b"")?;
                        keys[1].clear();
                        own = Some(tree);
                    }
                    Some(tree) => {
                        let lsn = self.commit(me, None, tree.id(), UNNAME, b"", b"")?;
                        self.acknowledge(lsn)?;
                        self.component.free_tree(tree.id())?;
                    }
                },
                18 if chance.percent(30) => {
                    let packing =
                        Packing { fill_percent: 100, group: 2 + chance.below(4) as usize };
                    tree.compact(packing, &mut || true)?;
                }
                17 if me == 0 => self.component.log().checkpoint_signal().raise(&self.env),
                _ => {
                    let mut cursor = tree.cursor();
                    cursor.seek(Bound::Included(&key), Bound::Unbounded, Direction::Forward)?;
                    for _ in 0..20 {
                        if cursor.advance()?.is_none() {
                            break;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// A tree that is built from the bottom, whose records no log record has: in order, or through runs on disk.
    fn bulk(&self, me: usize, chance: &mut Chance) -> Result<Arc<Tree>> {
        let mut load = self.component.tree_load(0, None);
        let mut built = Vec::new();
        let (count, mixed) = (chance.below(400), chance.percent(50));
        for n in 0..count {
            let n = if mixed { n ^ 21 } else { n };
            let key = [b"bulk", &n.to_be_bytes()[..]].concat();
            let value = vec![me as u8; 100];
            load.push(&key, &value)?;
            built.push((key, value));
        }
        let Loaded::Built(tree) = load.finish()?.finish()? else { panic!("no key came twice") };
        let mut history = lock(&self.history);
        for (key, value) in built {
            history.push(Entry { lsn: Lsn::ZERO, tree: tree.id(), op: PUT, key, value });
        }
        Ok(tree)
    }
}

/// What the trees must hold, by the records that have survived.
fn expected(history: &[Entry]) -> Contents {
    let mut history: Vec<&Entry> = history.iter().collect();
    history.sort_by_key(|entry| entry.lsn);
    let mut named: BTreeSet<TreeId> = BTreeSet::new();
    let mut all = Contents::new();
    for entry in history {
        let tree = all.entry(entry.tree).or_default();
        match entry.op {
            PUT => drop(tree.insert(entry.key.clone(), (entry.lsn, entry.value.clone()))),
            DELETE => drop(tree.remove(&entry.key)),
            NAME => drop(named.insert(entry.tree)),
            _ => drop(named.remove(&entry.tree)),
        }
    }
    all.retain(|tree, _| named.contains(tree));
    for tree in named {
        all.entry(tree).or_default();
    }
    all
}

fn found(component: &DataComponent) -> Result<Contents> {
    let mut all = Contents::new();
    for tree in component.forest().trees() {
        let mut cursor = tree.cursor();
        cursor.seek(Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
        let records = all.entry(tree.id()).or_default();
        while let Some(record) = cursor.advance()? {
            if let Some(value) = record.value {
                records.insert(record.key.to_vec(), (record.lsn, value.to_vec()));
            }
        }
    }
    Ok(all)
}

/// Opens, applies the surviving records, and returns what of the history has survived with the component.
fn recover(
    simulation: &Simulation,
    device: &Arc<FaultyDevice>,
    history: &[Entry],
    options: Options,
) -> Result<(Arc<DataComponent>, Vec<Entry>)> {
    let env = simulation.environment(Arc::clone(device) as Arc<dyn Device>, 1);
    let recovering = DataComponent::open(env, options)?;
    let component = Arc::clone(recovering.component());
    let redo = component.last_checkpoint().redo;
    let mut last = Lsn::ZERO;
    let mut replayed = Vec::new();
    let mut scan = recovering.records()?;
    while let Some(record) = scan.advance()? {
        if record.kind == RecordKind::FIRST_LOGICAL {
            let entry = parse(record.lsn, record.payload);
            last = record.lsn;
            if entry.op == PUT || entry.op == DELETE {
                match component.tree(entry.tree) {
                    Ok(tree) => apply(&tree, &entry)?,
                    Err(Error::NoTree(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            replayed.push(entry.lsn);
        }
    }
    let survived: Vec<Entry> =
        history.iter().filter(|entry| entry.lsn <= last || entry.lsn < redo).cloned().collect();
    let live = expected(&survived);
    let component = recovering.finish(&|tree| live.contains_key(&tree))?;
    for lsn in replayed {
        assert!(history.iter().any(|entry| entry.lsn == lsn), "{lsn} was never logged");
    }
    Ok((component, survived))
}

fn run(seed: u64, planted: Planted) {
    let ((), _) = Simulation::run(seed, WORKERS + 1, |simulation| {
        let mut chance = Chance::new(seed);
        let device = simulation.device(FaultyDevice::new(seed));
        let env = simulation.environment(Arc::clone(&device) as Arc<dyn Device>, seed);
        DataComponent::create(&env, &options(seed, planted)).unwrap();
        let component = DataComponent::open(env.clone(), options(seed, planted))
            .unwrap()
            .finish(&|_| true)
            .unwrap();
        let power_loss_at = Some(device.operations() + 1 + chance.below(3500));
        let world = Arc::new(World {
            component,
            slots: std::array::from_fn(|_| AtomicU64::new(u64::MAX)),
            history: Mutex::default(),
            acknowledged: AtomicU64::new(0),
            env: env.clone(),
            stop: AtomicBool::new(false),
        });
        let shared = world.component.create_tree().unwrap();
        let named = world.commit(0, None, shared.id(), NAME, b"", b"").unwrap();
        world.acknowledge(named).unwrap();
        device.set_schedule(FaultSchedule { power_loss_at, ..Default::default() });
        let workers: Vec<_> = (0..WORKERS)
            .map(|me| {
                let (world, shared) = (Arc::clone(&world), Arc::clone(&shared));
                let chance = Chance::new(seed * 31 + me as u64);
                let body = move || match world.work(me, &shared, chance) {
                    Ok(()) | Err(Error::Halted(_) | Error::Io(..) | Error::Full(_)) => {}
                    Err(error) => panic!("worker {me}: {error}"),
                };
                env.scheduler.spawn("worker", Box::new(body))
            })
            .collect();
        let checkpointer = {
            let world = Arc::clone(&world);
            env.scheduler.spawn("checkpointer", Box::new(move || world.checkpoint()))
        };
        workers.into_iter().for_each(|worker| worker.join());
        world.stop.store(true, Ordering::SeqCst);
        world.component.log().checkpoint_signal().raise(&env);
        checkpointer.join();
        drop(shared);
        device.power_off();
        let world = Arc::into_inner(world).expect("the workers have ended");
        let history = lock(&world.history).clone();
        let acknowledged = Lsn(world.acknowledged.load(Ordering::SeqCst));
        drop(world);

        let mut device = simulation.device(device.crash(seed + 1));
        for round in 0..chance.below(3) {
            let at = device.operations() + 1 + chance.below(60);
            device.set_schedule(FaultSchedule { power_loss_at: Some(at), ..Default::default() });
            match recover(simulation, &device, &history, options(seed, planted)) {
                Ok(_) | Err(Error::Halted(_) | Error::Io(..)) => {}
                Err(error) => panic!("recovery that is cut short: {error}"),
            }
            device.power_off();
            device = simulation.device(device.crash(seed + 2 + round));
        }
        device.set_schedule(FaultSchedule::default());
        let (component, survived) =
            recover(simulation, &device, &history, options(seed, planted)).unwrap();
        assert!(
            survived.iter().any(|entry| entry.lsn == acknowledged),
            "{acknowledged} was acknowledged and is lost"
        );
        check(&component, &survived);
        component.close(&mut |tail| tail, true).unwrap();
        drop(component);
        let device = simulation.device(device.crash(seed + 9));
        let (component, again) =
            recover(simulation, &device, &survived, options(seed, planted)).unwrap();
        assert_eq!(again.len(), survived.len());
        check(&component, &survived);
    });
}

fn check(component: &DataComponent, survived: &[Entry]) {
    let problems = component.forest().check().unwrap();
    assert!(problems.is_empty(), "{problems:#?}");
    let (expected, found) = (expected(survived), found(component).unwrap());
    assert!(expected.keys().eq(found.keys()), "{:?} {:?}", expected.keys(), found.keys());
    for (tree, records) in &expected {
        for (key, record) in records {
            let other = found[tree].get(key);
            assert_eq!(Some(record), other, "tree {tree:?}, key {key:?}");
        }
        assert_eq!(records.len(), found[tree].len(), "tree {tree:?} has more than was committed");
    }
}

/// `ATOLL_SEED` says where to begin, `ATOLL_SEEDS` how many to run.
#[test]
fn nothing_durable_is_lost_wherever_the_power_goes() {
    let number = |name, default| {
        std::env::var(name).ok().map_or(default, |number: String| number.parse().unwrap())
    };
    let from: u64 = number("ATOLL_SEED", 0);
    for seed in from..from + number("ATOLL_SEEDS", 100) {
        let ran = std::panic::catch_unwind(|| run(seed, Planted::default()));
        assert!(ran.is_ok(), "seed {seed}");
    }
}

/// The proof machine is proved: each planted fault is noticed by some seed.
#[test]
fn planted_faults_are_noticed() {
    for fault in [Fault::DoubleWriteSkipped, Fault::RedoPointLate, Fault::NoLogSync] {
        let noticed = (0..200)
            .find(|seed| std::panic::catch_unwind(|| run(*seed, Planted::new(fault))).is_err());
        assert!(noticed.is_some(), "{fault:?} turned nothing red");
    }
}

/// With a log that needs no checkpoint.
fn roomy(seed: u64, planted: Planted) -> Options {
    Options { log_bytes_max: 16 << 20, ..options(seed, planted) }
}

/// A database whose power is never lost but by `reopened`, with a tree of a few leaves that a checkpoint has written.
fn with_a_tree(
    simulation: &Simulation,
    seed: u64,
    planted: Planted,
) -> (Arc<FaultyDevice>, World, Arc<Tree>) {
    let device = simulation.device(FaultyDevice::new(seed));
    let env = simulation.environment(Arc::clone(&device) as Arc<dyn Device>, seed);
    let options = roomy(seed, planted);
    DataComponent::create(&env, &options).unwrap();
    let component = DataComponent::open(env.clone(), options).unwrap().finish(&|_| true).unwrap();
    let world = World {
        component,
        slots: std::array::from_fn(|_| AtomicU64::new(u64::MAX)),
        history: Mutex::default(),
        acknowledged: AtomicU64::new(0),
        env,
        stop: AtomicBool::new(false),
    };
    let tree = world.component.create_tree().unwrap();
    world.commit(0, None, tree.id(), NAME, b"", b"").unwrap();
    for key in 0..60u64 {
        put(&world, &tree, key);
    }
    world.component.checkpoint_all(&mut |tail| tail).unwrap();
    (device, world, tree)
}

fn put(world: &World, tree: &Tree, key: u64) {
    world.commit(0, Some(tree), tree.id(), PUT, &key.to_be_bytes(), &[7; 900]).unwrap();
}

/// What the log has is opened again, and is well formed.
fn reopened(simulation: &Simulation, seed: u64, device: &FaultyDevice, world: World) {
    world.component.log().wait_durable_end(world.component.log().tail()).unwrap();
    let history = lock(&world.history).clone();
    device.power_off();
    drop(world);
    let device = simulation.device(device.crash(seed + 1));
    let options = roomy(seed, Planted::default());
    let (component, survived) = recover(simulation, &device, &history, options).unwrap();
    check(&component, &survived);
    assert_eq!(survived.len(), history.len());
}

/// Who takes tombstones away, and merges, holds no lock that keeps a tree from being dropped. Whatever the collector still
/// logs of it comes before the record that frees it, and no page of it is touched afterwards.
#[test]
fn a_tree_is_freed_beside_the_merges_of_its_leaves() {
    for seed in 0..20 {
        free_beside_merges(seed, Planted::default());
    }
    let noticed = (0..20).find(|seed| {
        let free = || free_beside_merges(*seed, Planted::new(Fault::TreeFreedInUse));
        std::panic::catch_unwind(free).is_err()
    });
    assert!(noticed.is_some(), "the planted fault went unnoticed");
}

fn free_beside_merges(seed: u64, planted: Planted) {
    Simulation::run(seed, WORKERS + 1, |simulation| {
        let (device, world, tree) = with_a_tree(simulation, seed, planted);
        // Splits that are in the log only.
        for key in 60..400 {
            put(&world, &tree, key);
        }
        let delete = |key: u64| {
            let key = key.to_be_bytes().to_vec();
            let lsn = world.commit(0, Some(&tree), tree.id(), DELETE, &key, b"").unwrap();
            (key, lsn)
        };
        let tombstones: Vec<_> = (0..400).map(delete).collect();
        let unnamed = world.commit(0, None, tree.id(), UNNAME, b"", b"").unwrap();
        world.component.log().wait_durable(unnamed).unwrap();
        let collector = {
            let (tree, simulation) = (Arc::clone(&tree), simulation.clone());
            let body = move || {
                for (key, lsn) in tombstones {
                    tree.remove_tombstone(&key, lsn).unwrap();
                    simulation.yield_point();
                }
            };
            world.env.scheduler.spawn("collector", Box::new(body))
        };
        for _ in 0..Chance::new(seed).below(300) {
            simulation.yield_point();
        }
        world.component.free_tree(tree.id()).unwrap();
        let other = world.component.create_tree().unwrap();
        world.commit(0, None, other.id(), NAME, b"", b"").unwrap();
        for key in 0..100 {
            put(&world, &other, key);
            simulation.yield_point();
        }
        collector.join();
        assert_eq!(records_behind_the_end(&world.component, tree.id()).unwrap(), 0);
        drop((tree, other));
        reopened(simulation, seed, &device, world);
    });
}

/// How many structure records of `tree` the log has behind the one that frees it.
fn records_behind_the_end(component: &DataComponent, tree: TreeId) -> Result<usize> {
    let mut end = Actions::new(tree, 0);
    end.free_tree();
    let mut behind = None;
    let mut scan = component.log().scan(component.last_checkpoint().redo)?;
    while let Some(record) = scan.advance()? {
        if record.kind == STRUCTURE && record.payload.starts_with(&tree.0.to_le_bytes()) {
            behind = behind.map(|behind| behind + 1);
            if record.payload == end.bytes() {
                behind = Some(0);
            }
        }
    }
    Ok(behind.expect("it has been freed"))
}

/// A directory whose log has a merge behind the record that frees its tree, on pages that have another tree since.
#[test]
fn records_of_a_tree_that_is_gone_are_passed_over_wherever_they_stand() {
    Simulation::run(1, WORKERS + 1, |simulation| {
        let (device, world, tree) = with_a_tree(simulation, 1, Planted::default());
        let volume = Arc::clone(world.component.forest().volume());
        let pages_of = |tree: TreeId| {
            let owned = volume.space.allocated().into_iter().filter(|(_, owner)| *owner == tree);
            owned.map(|(page, _)| page).collect::<BTreeSet<_>>()
        };
        let pages = pages_of(tree.id());
        world.commit(0, None, tree.id(), UNNAME, b"", b"").unwrap();
        world.component.free_tree(tree.id()).unwrap();
        world.component.log().wait_durable_end(world.component.log().tail()).unwrap();
        let other = world.component.create_tree().unwrap();
        world.commit(0, None, other.id(), NAME, b"", b"").unwrap();
        for key in 0..600 {
            put(&world, &other, key);
        }
        let stale: Vec<_> = pages.intersection(&pages_of(other.id())).copied().collect();
        assert!(stale.len() > 1);
        let mut actions = Actions::new(tree.id(), 0);
        let image = super::forest::empty_root(4096, stale[0], tree.id());
        actions.image(image.page());
        actions.remove_child(stale[0], b"nowhere");
        actions.free(stale[1]);
        actions.allocate(stale[0], false);
        let bytes = actions.bytes().len() as u64;
        let mut space = world.component.log().reserve(SpaceClass::System, 1, bytes).unwrap();
        let _ = volume.log_structure(&mut space, &actions, &[]);
        drop((space, tree, other, volume));
        reopened(simulation, 1, &device, world);
    });
}
