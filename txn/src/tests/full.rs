//! A disk that becomes full at a moment that the seed picks, under commits of many rows: who does not fit is refused before
//! the claim, nothing halts, and a restart on the same full disk succeeds, power losses in the middle of it too. Afterwards
//! deletes, drops and replacements work and give room back.

use super::crashes::options;
use super::*;
use crate::{Fault, Planted, TreeId};
use std::collections::BTreeMap;
use std::sync::Mutex;
use storage::chance::Chance;
use storage::device::faulty::FaultSchedule;
use storage::simulation::Simulation;

const SESSIONS: u64 = 3;

/// What the sessions of a run do.
#[derive(Clone, Copy)]
struct Load {
    /// Rows that a session may have.
    keys: u64,
    /// Rows of a transaction, at most.
    rows: u64,
    /// Bytes of a value, at most.
    value: u64,
    /// How far the disk may grow at least, and by how much more by chance, in bytes.
    room: (u64, u64),
    /// Rows of a write set in memory that are a late commit.
    late_writes: usize,
    /// As in [`storage::Options`].
    cuts_max: u64,
    credit_floor_bytes: Option<u64>,
}

/// Commits that are covered whatever leaves they meet.
const FEW: Load = Load {
    keys: 1500,
    rows: 60,
    value: 700,
    room: (200_000, 600_000),
    late_writes: 64,
    cuts_max: 256,
    credit_floor_bytes: None,
};

/// Commits of so many rows that their leaves are shaped beforehand, and which meet on them.
const MANY: Load = Load {
    keys: 8_000,
    rows: 800,
    value: 120,
    room: (400_000, 1_000_000),
    late_writes: 64,
    cuts_max: 6,
    credit_floor_bytes: None,
};

/// The same on a disk of which is lent what they count on, until there is no more than the log may grow by.
const LENT: Load = Load {
    rows: 10,
    value: 1000,
    room: (1_400_000, 500_000),
    credit_floor_bytes: Some(900_000),
    ..MANY
};

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

/// What is known of one session's rows.
#[derive(Clone, Default)]
struct Known {
    rows: Rows,
    /// A commit that nobody has been answered: all of it or nothing.
    doubtful: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    refused: u64,
}

/// What is left of a full disk.
struct Full {
    device: Arc<FaultyDevice>,
    capacity: u64,
    known: Vec<Known>,
}

fn open(env: Environment, options: Options) -> Result<(Arc<Manager>, Arc<Tree>)> {
    let live = |_: &Arc<Manager>| Ok::<_, Error>(vec![TreeId(1)]);
    let manager = Manager::open(env, options, live)?;
    let tree = manager.data().tree(TreeId(1))?;
    Ok((manager, tree))
}

fn options_of(seed: u64, load: Load, planted: Planted) -> Options {
    let options = options(planted);
    let bytes = if seed % 4 == 3 { 20_000 } else { 1 << 30 };
    let Load { late_writes, cuts_max, credit_floor_bytes, .. } = load;
    let storage = storage::Options { cuts_max, credit_floor_bytes, ..options.storage };
    Options { storage, write_set_bytes_max: bytes, part_bytes_max: 1 << 20, late_writes, ..options }
}

/// The keys of all sessions stand among one another, so that they meet on leaves.
fn key(number: u64, session: u64) -> Vec<u8> {
    let scattered = !number.is_multiple_of(3);
    let place = if scattered { (number as u32).wrapping_mul(0x9E37_79B9) } else { number as u32 };
    let mut key = vec![u8::from(scattered)];
    key.extend(place.to_be_bytes());
    key.push(session as u8);
    // Now and then a long one, beside short ones.
    key.extend(std::iter::repeat_n(7, if number.is_multiple_of(17) { 300 } else { 0 }));
    key
}

fn is_full(error: &Error) -> bool {
    matches!(error, Error::Storage(storage::Error::Full(_)))
}

/// One transaction.
fn batch(
    manager: &Arc<Manager>,
    tree: &Arc<Tree>,
    (load, chance): (Load, &mut Chance),
    (session, known): (u64, &Mutex<Vec<Known>>),
) -> Result<()> {
    let wait = Arc::new(SessionWait::new(session as u32));
    let mut txn = manager.begin(Begin::default(), &wait);
    txn.begin_statement()?;
    let (from, rows) = (chance.below(load.keys), 1 + chance.below(load.rows));
    let (deletes, size) = (chance.percent(20), chance.below(load.value / 2));
    let mut buffer = RecordBuffer::default();
    let mut changed = BTreeMap::new();
    for number in from..from + rows {
        let key = key(number, session);
        let value = vec![number as u8; (size + chance.below(load.value / 2)) as usize];
        let written =
            txn.lock_key(tree, &key, RowLock::Update, WaitPolicy::Block, &mut buffer).and_then(
                |_| if deletes { txn.delete(tree, &key) } else { txn.put(tree, &key, &value) },
            );
        // There may be no room to spill it either.
        if written.as_ref().is_err_and(is_full) {
            known.lock().unwrap()[session as usize].refused += 1;
            return Ok(());
        }
        written?;
        changed.insert(key, (!deletes).then_some(value));
    }
    known.lock().unwrap()[session as usize].doubtful = changed;
    let committed = txn.commit(&mut |_| ());
    let answered = committed.and_then(|ended| {
        manager.data().log().wait_durable(ended.wait_for)?;
        while manager.poll_visible(ended.wait_for, Waker::noop()).is_pending() {
            manager.data().log().alive()?;
            manager.environment().scheduler.yield_point();
        }
        Ok(manager.data().log().alive()?)
    });
    let mut known = known.lock().unwrap();
    let known = &mut known[session as usize];
    match answered {
        Ok(()) => {
            for (key, value) in std::mem::take(&mut known.doubtful) {
                match value {
                    Some(value) => known.rows.insert(key, value),
                    None => known.rows.remove(&key),
                };
            }
            Ok(())
        }
        Err(error) if is_full(&error) => {
            known.doubtful.clear();
            known.refused += 1;
            Ok(())
        }
        Err(error) => Err(error),
    }
}

/// Fills the disk, and goes on for a while. The disk as it is then, and what is known.
fn work(
    sim: &Simulation,
    seed: u64,
    load: Load,
    planted: Planted,
) -> std::result::Result<Full, String> {
    let power_loss = seed % 2 == 1;
    let device = sim.device(FaultyDevice::new(seed));
    let env = sim.environment(device.clone(), seed);
    let options = options_of(seed, load, planted);
    Manager::create(&env, &options).unwrap();
    let manager = Manager::open::<Error>(env.clone(), options, |_| Ok(Vec::new())).unwrap();
    let tree = manager.data().create_tree().unwrap();
    manager.checkpoint().unwrap();
    let mut chance = Chance::new(seed);
    let capacity = device.bytes() + load.room.0 + chance.below(load.room.1);
    let power_loss_at = power_loss.then(|| device.operations() + 200 + chance.below(3000));
    let capacity_bytes = Some(capacity);
    device.set_schedule(FaultSchedule { capacity_bytes, power_loss_at, ..Default::default() });
    let known = Arc::new(Mutex::new(vec![Known::default(); SESSIONS as usize]));
    let failed = Arc::new(Mutex::new(None));
    let threads: Vec<_> = (0..SESSIONS)
        .map(|session| {
            let (manager, tree) = (Arc::clone(&manager), Arc::clone(&tree));
            let (known, device) = (Arc::clone(&known), Arc::clone(&device));
            let failed = Arc::clone(&failed);
            let mut chance = Chance::new(seed.wrapping_mul(31) + session);
            let body = move || {
                for round in 0..120 {
                    if let Err(error) =
                        batch(&manager, &tree, (load, &mut chance), (session, &known))
                    {
                        if !device.is_off() {
                            *failed.lock().unwrap() = Some(format!("session {session}: {error}"));
                        }
                        return;
                    }
                    if chance.percent(4) {
                        let _ = manager.checkpoint();
                    }
                    if known.lock().unwrap()[session as usize].refused > 6 + round / 8 {
                        return;
                    }
                }
            };
            env.scheduler.spawn("session", Box::new(body))
        })
        .collect();
    threads.into_iter().for_each(storage::environment::Joinable::join);
    let log = manager.data().log();
    let refused = known.lock().unwrap().iter().map(|known| known.refused).sum::<u64>();
    if refused == 0 && !device.is_off() {
        *failed.lock().unwrap() = Some("the disk was never full".to_owned());
    }
    let unpaid = manager.data().unpaid_splits();
    if unpaid > 0 {
        *failed.lock().unwrap() = Some(format!("{unpaid} splits had nothing set aside for them"));
    }
    device.power_off();
    log.halt("the power is gone");
    let _ = manager.close();
    if let Some(what) = failed.lock().unwrap().take() {
        return Err(what);
    }
    let known = known.lock().unwrap().clone();
    Ok(Full { device, capacity, known })
}

/// Opens what the crash has left, on a disk of the same size, and audits it.
fn restart(
    sim: &Simulation,
    disk: FaultyDevice,
    (seed, load, capacity): (u64, Load, u64),
    known: &[Known],
    power_loss_at: Option<u64>,
) -> std::result::Result<Arc<FaultyDevice>, String> {
    let device = sim.device(disk);
    let power_loss_at = power_loss_at.map(|at| device.operations() + at);
    let capacity_bytes = Some(capacity);
    device.set_schedule(FaultSchedule { capacity_bytes, power_loss_at, ..Default::default() });
    let env = sim.environment(device.clone(), seed);
    let (manager, tree) = match open(env, options_of(seed, load, Planted::default())) {
        Ok(opened) => opened,
        Err(_) if device.is_off() => return Ok(device),
        Err(error) => return Err(format!("open: {error}")),
    };
    let off = |what: String| if device.is_off() { Ok(Arc::clone(&device)) } else { Err(what) };
    let wait = Arc::new(SessionWait::new(1));
    let mut txn = manager.begin(Begin::default(), &wait);
    let view = txn.begin_statement().unwrap();
    let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut there = Rows::new();
    let scanned = txn.scan(&view, &tree, range, Direction::Forward).and_then(|mut scan| {
        while let Some(row) = scan.advance(&mut txn)? {
            there.insert(row.key.to_vec(), row.value.to_vec());
        }
        Ok(())
    });
    drop(txn);
    if let Err(error) = scanned {
        let _ = manager.close();
        return off(format!("scan: {error}"));
    }
    for (session, known) in known.iter().enumerate() {
        let is_own = |key: &[u8]| key[5] == session as u8;
        let own: Rows = there
            .iter()
            .filter(|(key, _)| is_own(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let mut with = known.rows.clone();
        for (key, value) in &known.doubtful {
            match value {
                Some(value) => with.insert(key.clone(), value.clone()),
                None => with.remove(key),
            };
        }
        if own != known.rows && own != with {
            let (are, were) = (own.len(), known.rows.len());
            return Err(format!("session {session} has {are} rows, not {were} or {}", with.len()));
        }
    }
    if power_loss_at.is_some() {
        device.power_off();
        manager.data().log().halt("enough");
        let _ = manager.close();
        return Ok(device);
    }
    // Half of the rows go, a few at a time; the disk is as full as it was.
    let keys: Vec<Vec<u8>> = there.into_keys().collect();
    for some in keys.chunks(40).step_by(2) {
        let mut txn = manager.begin(Begin::default(), &wait);
        let deleted = txn.begin_statement().map(drop).and_then(|()| {
            let mut buffer = RecordBuffer::default();
            for key in some {
                txn.lock_key(&tree, key, RowLock::Update, WaitPolicy::Block, &mut buffer)?;
                txn.delete(&tree, key)?;
            }
            txn.commit(&mut |_| ()).map(drop)
        });
        if let Err(error) = deleted {
            let _ = manager.close();
            return off(format!("delete: {error}"));
        }
    }
    let replaced = manager.checkpoint().and_then(|_| {
        let replacement = manager.data().create_replacement()?;
        Ok(manager.data().free_tree(replacement.id())?)
    });
    if let Err(error) = replaced {
        let _ = manager.close();
        return off(format!("a replacement: {error}"));
    }
    device.power_off();
    manager.data().log().halt("enough");
    let _ = manager.close();
    Ok(device)
}

fn fill(seed: u64, load: Load, planted: Planted) -> std::result::Result<(), String> {
    let Full { device, capacity, known } =
        Simulation::run(seed, 2, |sim| work(sim, seed, load, planted)).0?;
    let mut disk = device.crash(seed);
    let mut chance = Chance::new(seed + 1);
    // Power is lost in the middle of the restart, if it comes to that, and then there is one more.
    let losses = seed.is_multiple_of(3).then(|| 1 + chance.below(60));
    for power_loss_at in losses.into_iter().map(Some).chain([None]) {
        let at = (seed, load, capacity);
        let (left, _) =
            Simulation::run(seed, 2, |sim| restart(sim, disk, at, &known, power_loss_at));
        disk = left?.crash(seed);
    }
    Ok(())
}

#[test]
fn a_full_disk_refuses_before_the_claim_and_restarts() {
    for seed in 0..60 {
        if let Err(what) = fill(seed, FEW, Planted::default()) {
            panic!("seed {seed}: {what}");
        }
    }
}

#[test]
fn commits_of_many_rows_that_meet_on_their_leaves_have_room_for_all() {
    for (load, seeds) in [(MANY, 16), (LENT, 12)] {
        for seed in 0..seeds {
            if let Err(what) = fill(seed, load, Planted::default()) {
                panic!("seed {seed}, {} rows: {what}", load.rows);
            }
        }
    }
}

#[test]
fn who_takes_room_that_another_counts_on_and_does_not_pay_is_noticed() {
    let noticed =
        (0..20).any(|seed| fill(seed, MANY, Planted::new(Fault::NothingDeposited)).is_err());
    assert!(noticed, "the planted fault went unnoticed");
}

#[test]
fn a_commit_without_room_is_noticed() {
    let noticed =
        (0..60).any(|seed| fill(seed, FEW, Planted::new(Fault::RoomNotReserved)).is_err());
    assert!(noticed, "the planted fault went unnoticed");
}

/// Rows that come, go, and have their pages used by others, all since the redo point: replayed as it came, their tree would
/// need the pages again.
#[test]
fn a_restart_without_a_free_byte_needs_no_page_that_the_server_has_given_to_others() {
    for seed in 0..2u64 {
        let device = Arc::new(FaultyDevice::new(seed));
        let on = |device: &Arc<FaultyDevice>| {
            let device: Arc<dyn storage::Device> = Arc::clone(device) as _;
            Environment { device, ..environment(FaultyDevice::new(1), 4) }
        };
        // The outcomes are worked out at once, or in many parts.
        let bytes = if seed % 2 == 0 { 20_000 } else { 64 << 20 };
        // The log has room, so no checkpoint moves the redo point; the data file has none beyond this.
        let storage = storage::Options { data_bytes_max: Some(3 << 20), ..small().storage };
        let options = Options { storage, write_set_bytes_max: bytes, ..small() };
        Manager::create(&on(&device), &options).unwrap();
        let manager =
            Manager::open::<Error>(on(&device), options.clone(), |_| Ok(Vec::new())).unwrap();
        let [gone, there] = [(); 2].map(|()| manager.data().create_tree().unwrap());
        let ids = [gone.id(), there.id()];
        let wait = Arc::new(SessionWait::new(1));
        let commit = |tree: &Arc<Tree>, from: u64, value: Option<&[u8]>| {
            let mut txn = manager.begin(Begin::default(), &wait);
            txn.begin_statement()?;
            let mut buffer = RecordBuffer::default();
            for number in from..from + 20 {
                // The first rows stay, and are changed.
                let (key, stays) = (number.to_be_bytes(), number < 500);
                txn.lock_key(tree, &key, RowLock::Update, WaitPolicy::Block, &mut buffer)?;
                match value {
                    None if !stays => txn.delete(tree, &key)?,
                    None => txn.update(tree, &key, &[2; 600])?,
                    Some(value) => txn.put(tree, &key, value)?,
                }
            }
            let ended = txn.commit(&mut |_| ())?;
            answer(&manager, ended)
        };
        let batches = || (0..2000).step_by(20);
        manager.checkpoint_all().unwrap();
        batches().for_each(|from| commit(&gone, from, Some(&[1; 600])).unwrap());
        batches().for_each(|from| commit(&gone, from, None).unwrap());
        let packing = storage::Packing { fill_percent: 90, group: 4 };
        for _ in 0..3 {
            manager.vacuum(&gone, packing, &wait).unwrap();
            // What has been freed is given to others once it is durable.
            commit(&there, 0, Some(&[3; 600])).unwrap();
        }
        // Others take the pages until there is no byte left.
        let mut rows = 0;
        let refused = loop {
            match commit(&there, rows, Some(&[3; 600])) {
                Ok(()) => rows += 20,
                Err(error) => break error,
            }
        };
        assert!(is_full(&refused), "{refused}");
        assert!(rows > 1200, "the pages were not used again: {rows}");
        // They have been written, so that replay only has to make room for what is gone.
        let forest = manager.data().forest();
        forest.clean_older_than(manager.data().log().tail()).unwrap();
        device.power_off();
        manager.data().log().halt("the power is gone");
        drop((gone, there));
        std::mem::forget(manager);

        let live = |_: &Arc<Manager>| Ok::<_, Error>(ids.to_vec());
        let planted = Planted::new(Fault::NothingPutOff);
        let copy = Arc::new(device.crash(seed));
        let refused = Manager::open(on(&copy), Options { planted, ..options.clone() }, live);
        let refused = refused.expect_err("the planted fault goes unnoticed");
        assert!(is_full(&refused), "{refused}");
        let device = Arc::new(device.crash(seed));
        let manager = Manager::open(on(&device), options, live).unwrap();
        assert!(manager.recovered().again > 0, "there was room for all of it: no test");
        let mut txn = manager.begin(Begin::default(), &wait);
        let view = txn.begin_statement().unwrap();
        let mut counts = [0; 2];
        for (tree, count) in ids.into_iter().zip(&mut counts) {
            let tree = manager.data().tree(tree).unwrap();
            let rows = scan(&mut txn, &view, &tree, Direction::Forward);
            *count = rows.len() as u64;
            let value = if tree.id() == ids[0] { 2 } else { 3 };
            assert!(rows.iter().all(|(_, row)| **row == [value; 600]));
        }
        assert_eq!(counts, [500, rows]);
        drop(txn);
        manager.close().unwrap();
    }
}
