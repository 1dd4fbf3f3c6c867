//! Crashes: the power goes at an operation that the seed picks, and after recovery every answered transfer is there and
//! the money adds up. One thread runs at a time, so that a failure is replayed by its number.

use super::*;
use crate::{Change, Fault, LockTarget, Planted, TreeId};
use std::sync::Mutex;
use storage::chance::Chance;
use storage::device::faulty::FaultSchedule;
use storage::simulation::Simulation;

pub(super) const ACCOUNTS: u64 = 24;
pub(super) const BALANCE: u64 = 1000;
const SESSIONS: u64 = 3;

/// Every other seed spills: a transfer's writes are more than it may hold, and so are its locks.
fn options_of(seed: u64, planted: Planted) -> Options {
    let spilling = seed % 2 == 1;
    let bytes = if spilling { 250 } else { 1 << 30 };
    Options { write_set_bytes_max: bytes, ..options(planted) }
}

pub(super) fn options(planted: Planted) -> Options {
    let storage = storage::Options {
        page_bytes: 4096,
        pool_frames: 64,
        log_ring_bytes: 64 << 10,
        log_segment_bytes: 64 << 10,
        log_bytes_max: 1 << 20,
        ..Default::default()
    };
    Options {
        storage,
        record_buckets: 16,
        late_writes: 3,
        part_bytes_max: 400,
        planted,
        ..Default::default()
    }
}

fn open(env: Environment, seed: u64, planted: Planted) -> Result<(Arc<Manager>, Arc<Tree>)> {
    // The first tree of a database is the one that the test made.
    let live = |_: &Arc<Manager>| Ok::<_, Error>(vec![TreeId(1)]);
    let manager = Manager::open(env, options_of(seed, planted), live)?;
    let tree = match manager.data().tree(TreeId(1)) {
        Ok(tree) => tree,
        Err(_) => manager.data().create_tree()?,
    };
    Ok((manager, tree))
}

pub(super) fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

/// A value with ballast, so that pages and parts fill.
fn value(number: u64) -> Vec<u8> {
    let mut bytes = vec![7; 120];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes
}

pub(super) fn fill(manager: &Arc<Manager>, tree: &Arc<Tree>) -> Result<()> {
    let mut txn = manager.begin(Begin::default(), &Arc::new(SessionWait::new(1)));
    txn.begin_statement()?;
    for account in 0..ACCOUNTS {
        txn.put(tree, &account.to_be_bytes(), &value(BALANCE))?;
    }
    answer(manager, txn.commit(&mut |_| ())?)
}

/// One transfer and one line in the session's history, in one transaction.
pub(super) fn transfer(
    manager: &Arc<Manager>,
    tree: &Arc<Tree>,
    chance: &mut Chance,
    session: u64,
    number_of: u64,
) -> Result<()> {
    let wait = Arc::new(SessionWait::new(session as u32));
    // What is prepared when the power goes keeps its locks, and nobody comes to resolve it.
    wait.lock_timeout_ms.store(60_000, std::sync::atomic::Ordering::Relaxed);
    let mut txn = manager.begin(Begin::default(), &wait);
    let view = txn.begin_statement()?;
    let (from, to) = (chance.below(ACCOUNTS), chance.below(ACCOUNTS));
    let amount = chance.below(50);
    let mut buffer = RecordBuffer::default();
    let mut balances = Vec::new();
    for account in [from.min(to), from.max(to)] {
        let key = account.to_be_bytes();
        let (update, block) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
        txn.lock_row(&view, tree, &key, update, block, &mut buffer)?;
        balances.push((account, buffer.value().map_or(0, number)));
    }
    if from != to {
        for (account, balance) in balances {
            let sign = if account == from { amount.wrapping_neg() } else { amount };
            txn.update(tree, &account.to_be_bytes(), &value(balance.wrapping_add(sign)))?;
        }
    }
    let line = [&[0xFF, session as u8][..], &number_of.to_be_bytes()].concat();
    txn.put(tree, &line, &value(number_of))?;
    if number_of > 4 && chance.percent(30) {
        // Deletes as well: a line of long ago, which is put back at once under another value where it was gone.
        let old = [&[0xFE, session as u8][..], &(number_of / 2).to_be_bytes()].concat();
        txn.lock_key(tree, &old, RowLock::Update, WaitPolicy::Block, &mut buffer)?;
        if chance.percent(50) {
            txn.delete(tree, &old)?;
        } else {
            txn.put(tree, &old, b"old")?;
        }
    }
    // What has spilled is not prepared.
    if chance.percent(20) && !txn.state().writes.is_spilled() {
        // In two steps, with whatever comes between.
        let name = [session as u8];
        let prepared = txn.prepare((&name, b""), SESSIONS as usize)?;
        answer_in_simulation(manager, prepared.expect("a session has one at a time"))?;
        if chance.percent(20) {
            manager.checkpoint()?;
        }
        let wait = Arc::new(SessionWait::new(session as u32));
        let found = manager.prepared().into_iter().find(|info| info.name == name);
        let ended = manager.resolve(&found.expect("it is there"), true, &wait, &mut |_| ())?;
        let ended = ended.expect("it is nobody else's");
        return answer_in_simulation(manager, ended);
    }
    answer_in_simulation(manager, txn.commit(&mut |_| ())?)
}

fn answer_in_simulation(manager: &Manager, ended: Ended) -> Result<()> {
    manager.data().log().wait_durable(ended.wait_for)?;
    while manager.poll_visible(ended.wait_for, Waker::noop()).is_pending() {
        manager.data().log().alive()?;
        manager.environment().scheduler.yield_point();
    }
    manager.data().log().alive().map_err(Error::from)
}

/// Runs transfers until the power goes; how many each session was answered.
fn work(
    sim: &Simulation,
    disk: FaultyDevice,
    seed: u64,
    planted: Planted,
) -> (Arc<FaultyDevice>, Vec<u64>) {
    let device = sim.device(disk);
    let env = sim.environment(device.clone(), seed);
    let answered = Arc::new(Mutex::new(vec![0; SESSIONS as usize]));
    let made = Manager::create(&env, &options(planted)).and_then(|()| {
        let (manager, tree) = open(env.clone(), seed, planted)?;
        fill(&manager, &tree)?;
        // Somebody catalogs the tree: its creation must not be lost to the redo point.
        manager.checkpoint()?;
        Ok((manager, tree))
    });
    let (manager, tree) = made.expect("nothing fails before the schedule is set");
    let mut chance = Chance::new(seed);
    let at = device.operations() + 1 + chance.below(600);
    device.set_schedule(FaultSchedule { power_loss_at: Some(at), ..Default::default() });
    let threads: Vec<_> = (0..SESSIONS)
        .map(|session| {
            let (manager, tree) = (Arc::clone(&manager), Arc::clone(&tree));
            let answered = Arc::clone(&answered);
            let mut chance = Chance::new(seed.wrapping_mul(31) + session);
            let body = move || {
                for number_of in 1..200 {
                    match transfer(&manager, &tree, &mut chance, session, number_of) {
                        Ok(()) => answered.lock().unwrap()[session as usize] = number_of,
                        Err(Error::Deadlock(_)) => {}
                        Err(_) => return,
                    }
                    if chance.percent(3) && manager.checkpoint().is_err() {
                        return;
                    }
                }
            };
            env.scheduler.spawn("session", Box::new(body))
        })
        .collect();
    threads.into_iter().for_each(storage::environment::Joinable::join);
    // Whoever is left alone ends with the manager; the log's threads end because it has halted or is closed.
    device.power_off();
    manager.data().log().halt("the power is gone");
    let _ = manager.close();
    let answered = answered.lock().unwrap().clone();
    (device, answered)
}

/// What is wrong after a restart, if anything.
fn check(
    sim: &Simulation,
    disk: FaultyDevice,
    seed: u64,
    answered: &[u64],
) -> std::result::Result<(), String> {
    let device = sim.device(disk);
    let env = sim.environment(device, seed);
    let (manager, tree) =
        open(env, seed, Planted::default()).map_err(|error| format!("open: {error}"))?;
    // What was prepared commits now: it was under way, and is all there or not at all.
    for left in manager.prepared() {
        let wait = Arc::new(SessionWait::new(1));
        let resolved = manager.resolve(&left, true, &wait, &mut |_| ());
        let ended = resolved.map_err(|error| format!("resolve: {error}"))?.expect("it is there");
        answer_in_simulation(&manager, ended).map_err(|error| format!("resolve: {error}"))?;
    }
    let mut txn = manager.begin(Begin::default(), &Arc::new(SessionWait::new(1)));
    let view = txn.begin_statement().unwrap();
    let rows = scan(&mut txn, &view, &tree, Direction::Forward);
    drop(txn);
    let closed = manager.close();
    let balances = rows.iter().filter(|(key, _)| key[0] == 0).map(|row| number(&row.1));
    let total = balances.fold(0, u64::wrapping_add);
    if total != ACCOUNTS * BALANCE {
        return Err(format!("the total is {total}"));
    }
    for (session, answered) in answered.iter().enumerate() {
        let lines = rows.iter().filter(|(key, _)| key[..2] == [0xFF, session as u8]);
        let lines: Vec<_> = lines.map(|row| number(&row.1)).collect();
        let expected: Vec<_> = (1..=lines.len() as u64).collect();
        if lines != expected && !lines.is_empty() {
            // A deadlock's victim leaves a gap; transfers lock in order, so there is none.
            return Err(format!("session {session} has {lines:?}"));
        }
        if (lines.len() as u64) < *answered || lines.len() as u64 > answered + 1 {
            return Err(format!("session {session}: {answered} answered, {} there", lines.len()));
        }
    }
    closed.map_err(|error| format!("close: {error}"))
}

fn crash(seed: u64, planted: Planted) -> std::result::Result<(), String> {
    let ((device, answered), _) =
        Simulation::run(seed, 2, |sim| work(sim, FaultyDevice::new(seed), seed, planted));
    let disk = device.crash(seed);
    Simulation::run(seed, 2, |sim| check(sim, disk, seed, &answered)).0
}

#[test]
fn transfers_survive_power_loss() {
    for seed in 0..150 {
        if let Err(what) = crash(seed, Planted::default()) {
            panic!("seed {seed}: {what}");
        }
    }
}

/// The power goes again within recovery, once for each of its operations, and in every second of these runs a third time
/// in the recovery after that.
#[test]
fn a_second_loss_of_power_at_any_step_of_recovery_changes_nothing() {
    for seed in [3, 8, 21] {
        let ((device, answered), _) = Simulation::run(seed, 2, |sim| {
            work(sim, FaultyDevice::new(seed), seed, Planted::default())
        });
        let disk = device.crash(seed);
        for at in 1..=operations_of_recovery(&disk, seed) {
            let mut found = disk.copy(at);
            for again in 0..1 + at % 2 {
                let at = at >> again;
                let schedule = FaultSchedule { power_loss_at: Some(at), ..Default::default() };
                found.set_schedule(schedule);
                found = Simulation::run(seed + at, 2, |sim| {
                    let device = sim.device(found);
                    let env = sim.environment(device.clone(), seed);
                    if let Ok((manager, _)) = open(env, seed, Planted::default()) {
                        device.power_off();
                        manager.data().log().halt("the power is gone");
                        let _ = manager.close();
                    }
                    device
                })
                .0
                .crash(seed + at);
            }
            if let Err(what) = Simulation::run(seed, 2, |sim| check(sim, found, seed, &answered)).0
            {
                panic!("seed {seed}, operation {at}: {what}");
            }
        }
    }
}

/// How many operations of the disk an undisturbed recovery makes.
fn operations_of_recovery(disk: &FaultyDevice, seed: u64) -> u64 {
    let run = |sim: &Simulation| {
        let device = sim.device(disk.copy(0));
        let env = sim.environment(device.clone(), seed);
        let (manager, _) = open(env, seed, Planted::default()).expect("nothing fails");
        let operations = device.operations();
        device.power_off();
        manager.data().log().halt("the power is gone");
        let _ = manager.close();
        operations
    };
    Simulation::run(seed, 2, run).0
}

#[test]
fn a_write_that_is_logged_and_not_applied_is_noticed() {
    // Recovery applies it, so only what ran on without a crash is wrong: somebody overwrites what lacks the write.
    let noticed = (0..20).any(|seed| crash(seed, Planted::new(Fault::WriteLost)).is_err());
    assert!(noticed, "the planted fault went unnoticed");
}

#[test]
fn a_delta_that_is_cut_short_is_noticed() {
    let noticed = (0..20).any(|seed| crash(seed, Planted::new(Fault::DeltaCutShort)).is_err());
    assert!(noticed, "the planted fault went unnoticed");
}

#[test]
fn an_update_is_logged_as_what_has_changed_and_recovered() {
    let env = environment(FaultyDevice::new(3), 2);
    Manager::create(&env, &small()).unwrap();
    let manager = Manager::open::<Error>(env.clone(), small(), |_| Ok(Vec::new())).unwrap();
    let tree = manager.data().create_tree().unwrap();
    manager.checkpoint_all().unwrap();
    let mut records = Vec::new();
    for number in [1, 258, 0x0500_0102] {
        let mut txn = manager.begin(Begin::default(), &Arc::new(SessionWait::new(1)));
        txn.begin_statement().unwrap();
        let mut buffer = RecordBuffer::default();
        txn.lock_key(&tree, b"k", RowLock::NoKeyUpdate, WaitPolicy::Block, &mut buffer).unwrap();
        txn.update(&tree, b"k", &value(number)).unwrap();
        let ended = txn.commit(&mut |_| ()).unwrap();
        answer(&manager, ended).unwrap();
        records.push(ended.committed.unwrap());
    }
    let mut log = manager.data().log().scan(records[0]).unwrap();
    let mut changes = Vec::new();
    while let Some(record) = log.advance().unwrap() {
        let mut writes = crate::log::Reader::new(record.payload).unwrap().1;
        while let Some((_, _, change)) = writes.write().unwrap() {
            changes.push(format!("{change:?}"));
        }
    }
    let patch = |base, from, bytes: &[u8]| format!("{:?}", Change::Patch { base, from, bytes });
    assert_eq!(changes[0], format!("{:?}", Change::Put(&value(1))), "nothing stood there");
    assert_eq!(changes[1..], [patch(records[0], 0, &[2, 1]), patch(records[1], 3, &[5])]);
    // Not closed: the process ends here.
    let live = tree.id();
    drop((manager, tree));
    let manager = Manager::open::<Error>(env, small(), |_| Ok(vec![live])).unwrap();
    assert_eq!(manager.recovered().applied, 3);
    let mut buffer = storage::RecordBuffer::default();
    assert!(manager.data().tree(live).unwrap().get(b"k", &mut buffer).unwrap());
    assert_eq!(buffer.value().unwrap(), value(0x0500_0102));
    manager.close().unwrap();
}

#[test]
fn recovery_skips_trees_that_are_gone_and_repeats_nothing() {
    let device = FaultyDevice::new(3);
    let env = environment(device, 2);
    Manager::create(&env, &small()).unwrap();
    let manager = Manager::open::<Error>(env.clone(), small(), |_| Ok(Vec::new())).unwrap();
    let (kept, gone) =
        (manager.data().create_tree().unwrap(), manager.data().create_tree().unwrap());
    let mut txn = manager.begin(Begin::default(), &Arc::new(SessionWait::new(1)));
    txn.begin_statement().unwrap();
    write(&mut txn, &kept, b"a", Some(b"1"));
    write(&mut txn, &gone, b"a", Some(b"1"));
    answer(&manager, txn.commit(&mut |_| ()).unwrap()).unwrap();
    assert!(manager.locks().iter().all(|lock| matches!(lock.target, LockTarget::Table(_))));
    manager.data().free_tree(gone.id()).unwrap();
    manager.close().unwrap();
    let live = kept.id();
    drop((manager, kept, gone));
    let manager = Manager::open::<Error>(env, small(), |_| Ok(vec![live])).unwrap();
    let tree = manager.data().tree(live).unwrap();
    assert_eq!(manager.recovered().writes, 0, "a closed database replays nothing");
    let mut buffer = storage::RecordBuffer::default();
    assert!(tree.get(b"a", &mut buffer).unwrap());
    manager.close().unwrap();
}
