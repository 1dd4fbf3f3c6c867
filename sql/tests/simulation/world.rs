//! One run: an image of a database, clients at work, a loss of power, a restart, and again.

use crate::audit::{Finding, audit};
use crate::client::{Answer, Client};
use crate::work::{ACCOUNTS, OPENING, SCHEMA, Stop, Story, Worker, own_table};
use sql::engine::{Engine, EngineOptions};
use sql::{Environment, SchemeKind, SqlError};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use txn::simulation::{Chance, FaultSchedule, Simulation, StoragePlanted};
use txn::{Device, FaultyDevice, LogInsert, Planted, Scheduler};

/// Clients at work at once.
pub const CLIENTS: u64 = 3;
/// Worker slots.
const SLOTS: usize = 4;
/// Times the power goes in one run, at most.
const ROUNDS: u64 = 4;

/// What is planted in a run, if anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// In the data component.
    pub storage: StoragePlanted,
    /// In the transaction component or above.
    pub txn: Planted,
    /// Not a fault: whether clients do little but make indexes anew, and read by them.
    pub remakes: bool,
}

/// The concurrency control of a run: in half of them the default, in the others each of all in turn.
pub fn scheme(seed: u64) -> SchemeKind {
    match seed % 2 {
        0 => SchemeKind::default(),
        _ => SchemeKind::ALL[(seed / 2) as usize % SchemeKind::ALL.len()],
    }
}

/// The smallest legal pool and pages, a small log, parts, late commits and spilled writes at a few rows.
pub fn options(seed: u64, faults: Faults) -> EngineOptions {
    let mut options = EngineOptions { version: "0.0.0".to_owned(), ..EngineOptions::default() };
    let algorithms =
        [LogInsert::AtomicAdd, LogInsert::Mutex, LogInsert::Decoupled, LogInsert::Consolidated];
    let storage = &mut options.txn.storage;
    storage.page_bytes = 4096;
    storage.pool_frames = 64;
    storage.log_insert = algorithms[(seed % 4) as usize];
    storage.log_ring_bytes = 128 << 10;
    storage.log_segment_bytes = 64 << 10;
    storage.log_bytes_max = 1 << 20;
    storage.planted = faults.storage;
    options.concurrency_control = scheme(seed);
    options.txn.record_buckets = 64;
    options.txn.late_writes = [4, 16, 4096][(seed / 4 % 3) as usize];
    options.txn.part_bytes_max = [400, 3000, 4 << 20][(seed / 12 % 3) as usize];
    // In half of the runs a transaction of a few rows is larger than memory.
    options.txn.write_set_bytes_max = [64 << 20, 700][(seed / 5 % 2) as usize];
    options.txn.planted = faults.txn;
    let prepared = options.settings.state("max_prepared_transactions", &CLIENTS.to_string());
    prepared.expect("it is a setting");
    options
}

/// A closed directory with schema, accounts and the clients' own tables. Many runs begin with it.
pub fn image() -> &'static FaultyDevice {
    image_of(SchemeKind::default())
}

/// The same under a concurrency control.
fn image_of(scheme: SchemeKind) -> &'static FaultyDevice {
    static IMAGES: [OnceLock<FaultyDevice>; SchemeKind::ALL.len()] =
        [const { OnceLock::new() }; SchemeKind::ALL.len()];
    let at = SchemeKind::ALL.iter().position(|known| *known == scheme).expect("all are known");
    IMAGES[at].get_or_init(|| {
        let run = |simulation: &Simulation| {
            let device = simulation.device(FaultyDevice::new(0));
            let mut options = options(0, Faults::default());
            options.concurrency_control = scheme;
            let env = simulation.environment(Arc::clone(&device) as Arc<dyn Device>, 0);
            Engine::create(&env, &options, "postgres", None).expect("a new directory is made");
            let engine = Engine::open(env, options).expect("a new directory opens");
            let mut client = Client::connect(&engine, 1);
            let mut say = |text: &str| match client.say(text) {
                Answer::Rows(_) => {}
                other => panic!("{text}: {other:?}"),
            };
            for text in SCHEMA {
                // Where rows are in partitions, each table has to say in which.
                let keyed = text
                    .replace("UNIQUE, note text)", "UNIQUE, note text, id bigserial PRIMARY KEY)");
                say(if scheme == SchemeKind::Hstore { &keyed } else { text });
            }
            say(&format!(
                "INSERT INTO account SELECT g, {OPENING} FROM generate_series(1, {ACCOUNTS}) g"
            ));
            for me in 0..CLIENTS {
                own_table(me).iter().for_each(|text| say(text));
            }
            drop(client);
            engine.close().expect("nothing is in the way");
            device.copy(0)
        };
        Simulation::run(0, SLOTS, run).0
    })
}

/// Opens the engine over a disk within a simulation.
pub fn open(
    simulation: &Simulation,
    device: &Arc<FaultyDevice>,
    options: EngineOptions,
    seed: u64,
) -> Result<Arc<Engine>, SqlError> {
    Engine::open(environment(simulation, device, seed), options)
}

/// What the engine runs in.
pub fn environment(simulation: &Simulation, device: &Arc<FaultyDevice>, seed: u64) -> Environment {
    simulation.environment(Arc::clone(device) as Arc<dyn Device>, seed)
}

/// Ends an engine whose power is gone: whoever waits is told, and background threads end.
pub fn abandon(device: &FaultyDevice, engine: Arc<Engine>) {
    assert_eq!(engine.manager().data().unpaid_splits(), 0, "what commits set aside was too little");
    device.power_off();
    engine.manager().data().log().halt("the power is gone");
    // It fails, as everything does without power.
    let _ = engine.close();
}

/// What a user would complain of after the run of `seed`, and the digest of its schedule.
pub fn run(seed: u64, faults: Faults) -> (Option<String>, u64) {
    // Outside the simulation: whoever runs another seed at the same time may be at the image's lock.
    let disk = image_of(scheme(seed)).copy(seed);
    Simulation::run(seed, SLOTS, |simulation| {
        let mut world = World {
            simulation,
            seed,
            faults,
            chance: Chance::new(seed),
            stories: vec![Story::default(); CLIENTS as usize],
        };
        world.live(disk).err()
    })
}

/// Runs `body` in a simulation without clients.
pub fn simulated<T>(body: impl FnOnce(&Simulation) -> T) -> T {
    image();
    Simulation::run(1, SLOTS, body).0
}

/// What goes wrong in a round.
#[derive(Clone, Copy, Default)]
struct Trouble {
    schedule: FaultSchedule,
    /// Whether a write or a sync fails although there is power.
    errors: bool,
    /// Whether the disk is full after a while.
    full: bool,
}

/// How often something has happened, in all runs of this process.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    fn count(&self) {
        self.add(1);
    }

    /// Adds to it.
    pub fn add(&self, times: u64) {
        self.0.fetch_add(times, Ordering::Relaxed);
    }

    /// How often.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Where runs have been: what never happens is not tested.
#[derive(Debug)]
pub struct Tally {
    pub committed: Count,
    pub prepared: Count,
    pub found_prepared: Count,
    pub refused: Count,
    pub deadlocks: Count,
    pub full: Count,
    pub lost_in_recovery: Count,
    pub lost_at_work: Count,
    pub lost_in_close: Count,
    pub processes_died: Count,
    pub closed: Count,
    pub checkpoints: Count,
    pub checkpoints_lost: Count,
}

/// Of all runs.
pub static TALLY: Tally = Tally {
    committed: Count(AtomicU64::new(0)),
    prepared: Count(AtomicU64::new(0)),
    found_prepared: Count(AtomicU64::new(0)),
    refused: Count(AtomicU64::new(0)),
    deadlocks: Count(AtomicU64::new(0)),
    full: Count(AtomicU64::new(0)),
    lost_in_recovery: Count(AtomicU64::new(0)),
    lost_at_work: Count(AtomicU64::new(0)),
    lost_in_close: Count(AtomicU64::new(0)),
    processes_died: Count(AtomicU64::new(0)),
    closed: Count(AtomicU64::new(0)),
    checkpoints: Count(AtomicU64::new(0)),
    checkpoints_lost: Count(AtomicU64::new(0)),
};

struct World<'s> {
    simulation: &'s Simulation,
    seed: u64,
    faults: Faults,
    chance: Chance,
    stories: Vec<Story>,
}

impl World<'_> {
    fn options(&self) -> EngineOptions {
        options(self.seed, self.faults)
    }

    fn live(&mut self, disk: FaultyDevice) -> Result<(), String> {
        let mut device = self.simulation.device(disk);
        for round in 0..=ROUNDS {
            let last = round == ROUNDS;
            let mut trouble = Trouble::default();
            if !last {
                let within = [30, 150, 600, 2000][self.chance.below(4) as usize];
                let at = 1 + self.chance.below(within);
                let kind = self.chance.below(10);
                // Few runs see a write or a sync fail; all of those see the power go later, if the engine lives on.
                let schedule = &mut trouble.schedule;
                schedule.sync_error_at = (kind == 0).then_some(at);
                schedule.write_error_at = (kind == 1).then_some(at);
                schedule.power_loss_at = Some(if kind < 2 { at + 400 } else { at });
                trouble.errors = kind < 2;
                trouble.full = kind == 2;
            }
            device.set_schedule(trouble.schedule);
            let lived = self.round(&device, last, trouble);
            lived.map_err(|what| format!("round {round}: {what}"))?;
            if last {
                break;
            }
            // After a failed sync the system's cache shows what the disk has lost; a later loss of power takes it.
            let process = self.chance.percent(25);
            let left = if process {
                TALLY.processes_died.count();
                device.survive_process()
            } else {
                device.crash(self.chance.bits())
            };
            device = self.simulation.device(left);
            if self.chance.percent(20) {
                self.verify(&device, "offline, after the crash")?;
            }
        }
        self.verify(&device, "offline, at the end")
    }

    /// The offline check finds nothing.
    fn verify(&self, device: &Arc<FaultyDevice>, when: &str) -> Result<(), String> {
        let env = environment(self.simulation, device, self.seed);
        match Engine::verify(&env, self.options()) {
            Ok(problems) if problems.is_empty() => Ok(()),
            Ok(problems) => Err(format!("{when}: {}", problems.join("; "))),
            Err(error) => Err(format!("{when}: {} {}", error.state(), error.fields().message)),
        }
    }

    /// Opens, audits, works until the power goes or the work is done.
    fn round(
        &mut self,
        device: &Arc<FaultyDevice>,
        last: bool,
        trouble: Trouble,
    ) -> Result<(), String> {
        let engine = match open(self.simulation, device, self.options(), self.seed) {
            Ok(engine) => engine,
            Err(_) if device.is_off() || trouble.errors => {
                TALLY.lost_in_recovery.count();
                return Ok(());
            }
            Err(error) => {
                return Err(format!("restart: {} {}", error.state(), error.fields().message));
            }
        };
        let failed = |engine: &Engine| {
            let halted = engine.manager().data().log().alive().is_err();
            device.is_off() || (trouble.errors && halted)
        };
        let mut auditor = Client::connect(&engine, 1);
        let audited = audit(&mut auditor, &mut self.stories);
        drop(auditor);
        if audited.is_ok() && trouble.full {
            let capacity_bytes = Some(device.bytes() + self.chance.below(300_000));
            device.set_schedule(FaultSchedule { capacity_bytes, ..trouble.schedule });
        }
        let worked = match audited {
            Ok(()) => self.work(&engine, trouble),
            Err(Finding::Silence) if device.is_off() || trouble.errors => Ok(()),
            Err(Finding::Silence) => Err("no answer, and there is power".to_owned()),
            Err(Finding::Wrong(what)) => Err(what),
        };
        let checkpoints = engine.manager().data().checkpoint_counters();
        TALLY.checkpoints.add(checkpoints.taken);
        TALLY.checkpoints_lost.add(checkpoints.failed);
        let over = failed(&engine);
        if over {
            TALLY.lost_at_work.count();
        }
        if worked.is_err() || over || (!last && self.chance.percent(70)) {
            abandon(device, engine);
            return worked;
        }
        let mut auditor = Client::connect(&engine, 1);
        let audited = audit(&mut auditor, &mut self.stories);
        drop(auditor);
        match (audited, engine.close()) {
            (Err(Finding::Wrong(what)), _) => Err(format!("before the end: {what}")),
            (Ok(()), Ok(())) => {
                TALLY.closed.count();
                Ok(())
            }
            _ if device.is_off() || trouble.errors => {
                TALLY.lost_in_close.count();
                Ok(())
            }
            (_, Err(error)) => Err(format!("close: {}", error.fields().message)),
            (Err(Finding::Silence), Ok(())) => Err("no answer, and there is power".to_owned()),
        }
    }

    fn work(&mut self, engine: &Arc<Engine>, trouble: Trouble) -> Result<(), String> {
        let steps = [3, 20, 80][self.chance.below(3) as usize];
        let careless = self.chance.below(4 * CLIENTS) as usize;
        for (me, story) in self.stories.iter_mut().enumerate() {
            story.careless = me == careless;
        }
        let tolerated: &[&str] = if trouble.full { &["53100"] } else { &[] };
        let (remakes, scheme) = (self.faults.remakes, scheme(self.seed));
        let complaints = Arc::new(Mutex::new(Vec::new()));
        let silence = Arc::new(AtomicBool::new(false));
        let done: Arc<Mutex<Vec<Option<Story>>>> =
            Arc::new(Mutex::new(vec![None; CLIENTS as usize]));
        let threads: Vec<_> = (0..CLIENTS)
            .map(|me| {
                let (engine, complaints) = (Arc::clone(engine), Arc::clone(&complaints));
                let silence = Arc::clone(&silence);
                let (done, mut story) = (Arc::clone(&done), self.stories[me as usize].clone());
                let chance = Chance::new(self.chance.bits());
                let body = move || {
                    let client = Client::connect(&engine, 10 + me as u32);
                    let mut worker = Worker {
                        me,
                        client,
                        silence,
                        chance,
                        story: &mut story,
                        tolerated,
                        remakes,
                        scheme,
                    };
                    if let Err(Stop::Complaint(what)) = worker.work(steps) {
                        held(&complaints).push(what);
                    }
                    drop(worker);
                    held(&done)[me as usize] = Some(story);
                };
                self.simulation.spawn("client", Box::new(body))
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join());
        for (story, told) in self.stories.iter_mut().zip(held(&done).drain(..)) {
            if let Some(told) = told {
                *story = told;
            }
        }
        let complaints = held(&complaints);
        if complaints.is_empty() { Ok(()) } else { Err(complaints.join("; ")) }
    }
}

fn held<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
