//! A transaction larger than memory: an UPDATE of every row of a large table that commits, one that rolls back and one that
//! dies half way. What the process holds meanwhile, and what others wait for: one session reads rows of the table, another
//! changes and commits rows of its own, each one statement after the other. What a thread waits for that asks nothing of
//! the server is measured beside them: machine and disk stall too, the disk also under what the server writes.

use crate::memory::resident;
use crate::target::Target;
use crate::tpcc::client::{Client, Failure};
use crate::tpcc::driver::percentile;
use crate::tpcc::random::Random;
use crate::tpcc::statement::Rows;
use crate::tpcc::wire::{Url, WireClient};
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What is run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Rows of the table.
    pub rows: u32,
    /// Settings of the server, each `name=value`.
    pub settings: Vec<String>,
}

/// What the process may hold at most, in MiB.
const MEMORY_LIMIT: f64 = 256.0;
/// What anybody else may wait for, in milliseconds.
const WAIT_LIMIT: f64 = 50.0;
/// How long the others run alone, for comparison.
const ALONE: Duration = Duration::from_secs(20);
/// Rows of the table that the others change.
const SMALL_ROWS: u32 = 1000;
/// What the others leave to each other between two statements.
const PAUSE: Duration = Duration::from_micros(500);

/// How often the machine is asked to sync a block of its own: seldom enough to take nothing from the server.
const SYNC_PERIOD: Duration = Duration::from_millis(20);
/// How much of a file it syncs then, in bytes.
const SYNC_BYTES: usize = 4096;

/// The longest that a thread waited which asked nothing of the server, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stalls {
    /// Beyond the end of a short sleep.
    pub wake: u32,
    /// A block written and synced.
    pub sync: u32,
}

/// A part of the run.
#[derive(Clone, Debug)]
pub struct Phase {
    /// What happens.
    pub name: &'static str,
    /// How long it takes.
    pub time: Duration,
    /// The most that the process holds, in KiB.
    pub resident: u64,
    /// How long each statement of the reader takes, in microseconds, in order of length.
    pub reads: Vec<u32>,
    /// The same of the writer's, each with its commit.
    pub commits: Vec<u32>,
    /// What machine and disk made others wait for meanwhile.
    pub machine: Stalls,
}

/// What it came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What happened, one after the other.
    pub phases: Vec<Phase>,
    /// How long the server that had died half way took to serve again.
    pub recovery: Duration,
    /// How many rows the update that died had changed then: none, or all if it had just been committed.
    pub survived: u64,
}

fn session(target: &Target) -> Result<WireClient> {
    Ok(WireClient::connect(&Url::local(target.port()))?)
}

fn micros(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

/// Sleeps, and now and then syncs a file in `directory`, until `done`.
fn stalls(directory: &Path, done: &AtomicBool) -> Result<Stalls> {
    let file = File::create(directory.join("stalls"))?;
    let (mut longest, mut synced) = (Stalls::default(), Instant::now());
    while !done.load(Ordering::Relaxed) {
        let start = Instant::now();
        std::thread::sleep(PAUSE);
        longest.wake = longest.wake.max(micros(start.elapsed().saturating_sub(PAUSE)));
        if synced.elapsed() >= SYNC_PERIOD {
            synced = Instant::now();
            file.write_all_at(&[0; SYNC_BYTES], 0)?;
            file.sync_data()?;
            longest.sync = longest.sync.max(micros(synced.elapsed()));
        }
    }
    Ok(longest)
}

/// Runs statements, one after the other and each drawn anew, until `done`; how long each took, in microseconds.
fn probe(
    mut client: WireClient,
    done: &AtomicBool,
    mut statement: impl FnMut(&mut Random) -> String,
) -> Result<Vec<u32>, Failure> {
    let (mut random, mut rows, mut taken) = (Random::new(1), Rows::default(), Vec::new());
    while !done.load(Ordering::Relaxed) {
        let text = statement(&mut random);
        let start = Instant::now();
        client.execute(&text, &mut rows)?;
        taken.push(micros(start.elapsed()));
        std::thread::sleep(PAUSE);
    }
    taken.sort_unstable();
    Ok(taken)
}

/// Does something while the others read and write, and the server's memory is sampled.
fn phase(
    target: &Target,
    plan: &Plan,
    name: &'static str,
    work: impl FnOnce() -> Result<()>,
) -> Result<Phase> {
    let (reader, writer) = (session(target)?, session(target)?);
    let (done, pid, rows) = (AtomicBool::new(false), target.pid(), plan.rows);
    let start = Instant::now();
    let (worked, time, resident, machine, reads, commits) = std::thread::scope(|scope| {
        let reads = scope.spawn(|| {
            probe(reader, &done, |random| {
                format!("SELECT n FROM large WHERE id = {}", random.uniform(1, rows))
            })
        });
        let commits = scope.spawn(|| {
            probe(writer, &done, |random| {
                format!("UPDATE small SET n = n + 1 WHERE id = {}", random.uniform(1, SMALL_ROWS))
            })
        });
        let most = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::Relaxed) {
                most = most.max(resident(pid)?);
                std::thread::sleep(Duration::from_millis(50));
            }
            anyhow::Ok(most)
        });
        let machine = scope.spawn(|| stalls(target.directory(), &done));
        let worked = work();
        let time = start.elapsed();
        done.store(true, Ordering::Relaxed);
        let join = "a thread of the measurement does not panic";
        (
            worked,
            time,
            most.join().expect(join),
            machine.join().expect(join),
            reads.join().expect(join),
            commits.join().expect(join),
        )
    });
    worked?;
    let (resident, machine) = (resident?, machine?);
    let phase = Phase { name, time, resident, reads: reads?, commits: commits?, machine };
    println!("{}", phase.line());
    Ok(phase)
}

/// How many rows of the table one update has changed, and how many two.
fn changed(target: &Target) -> Result<[u64; 2]> {
    let mut rows = Rows::default();
    let counts =
        "SELECT count(*) FILTER (WHERE n = id + 1), count(*) FILTER (WHERE n = id + 2) FROM large";
    session(target)?.execute(counts, &mut rows)?;
    Ok([rows.text(0, 0).parse()?, rows.text(0, 1).parse()?])
}

/// Loads, updates in each of the three ways, and looks whether every row is what it has to be.
///
/// # Errors
/// A statement fails; rows are not what they have to be; the check finds something.
pub fn run(plan: &Plan) -> Result<Outcome> {
    let change = "UPDATE large SET n = n + 1";
    let all = u64::from(plan.rows);
    let mut target = Target::atoll(&plan.settings)?;
    let mut client = session(&target)?;
    let mut execute = |text: &str| Ok(client.execute(text, &mut Rows::default())?);
    execute(&format!(
        "BEGIN; \
         CREATE TABLE large (id int PRIMARY KEY, n bigint, filler char(84)); \
         INSERT INTO large SELECT n, n, '' FROM generate_series(1, {all}) AS n; \
         CREATE TABLE small (id int PRIMARY KEY, n bigint); \
         INSERT INTO small SELECT n, 0 FROM generate_series(1, {SMALL_ROWS}) AS n; \
         COMMIT; CHECKPOINT"
    ))?;
    let alone = phase(&target, plan, "the others alone", || {
        std::thread::sleep(ALONE);
        Ok(())
    })?;
    execute("BEGIN")?;
    let update = phase(&target, plan, "UPDATE", || execute(change))?;
    let commit = phase(&target, plan, "COMMIT", || execute("COMMIT"))?;
    execute("BEGIN")?;
    let again = phase(&target, plan, "UPDATE", || execute(change))?;
    let rollback = phase(&target, plan, "ROLLBACK", || execute("ROLLBACK"))?;
    ensure!(changed(&target)? == [all, 0], "one update has come to its commit, and no second one");

    let mut client = session(&target)?;
    let victim = std::thread::spawn(move || client.execute(change, &mut Rows::default()));
    std::thread::sleep((update.time + commit.time) / 2);
    target.kill()?;
    let ended = victim.join().expect("a client does not panic");
    ensure!(ended.is_err(), "the update had ended before it was killed");
    let start = Instant::now();
    target.restart(&plan.settings)?;
    let [once, twice] = changed(&target)?;
    let recovery = start.elapsed();
    let whole = [once, twice] == [all, 0] || [once, twice] == [0, all];
    ensure!(whole, "half of an update: {once} rows are without it, {twice} with it");
    target.stop()?;
    target.check()?;
    let phases = vec![alone, update, commit, again, rollback];
    Ok(Outcome { phases, recovery, survived: twice })
}

impl Phase {
    fn mib(&self) -> f64 {
        self.resident as f64 / 1024.0
    }

    /// The longest that anybody waited, in milliseconds.
    fn longest(&self) -> f64 {
        let last = |taken: &[u32]| taken.last().copied().unwrap_or(0);
        f64::from(last(&self.reads).max(last(&self.commits))) / 1000.0
    }

    fn line(&self) -> String {
        let waits = |taken: &[u32]| {
            let at = |share| f64::from(percentile(taken, share)) / 1000.0;
            format!("{:.1} | {:.1} | {:.1}", at(0.5), at(0.999), at(1.0))
        };
        format!(
            "| {} | {:.1} | {:.0} | {} | {} | {:.1} | {:.1} |",
            self.name,
            self.time.as_secs_f64(),
            self.mib(),
            waits(&self.reads),
            waits(&self.commits),
            f64::from(self.machine.wake) / 1000.0,
            f64::from(self.machine.sync) / 1000.0
        )
    }
}

impl Outcome {
    /// Whether memory and waits stayed within their limits.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.phases.iter().all(|phase| phase.mib() <= MEMORY_LIMIT && phase.longest() <= WAIT_LIMIT)
    }

    /// The page that is kept.
    ///
    /// # Errors
    /// None, in memory.
    pub fn markdown(&self, plan: &Plan) -> Result<String> {
        let mut page = String::from("# A transaction larger than memory\n\n");
        writeln!(
            page,
            "An UPDATE of all of a table's {} rows in one transaction ({}). Beside it one session reads rows of the table and \
             another changes and commits rows of its own. The bar: at most {MEMORY_LIMIT:.0} MiB resident, and nobody waits \
             for more than {WAIT_LIMIT:.0} ms. Besides, of a thread that asks nothing of the server: the longest that it \
             overslept {} ms, and that a sync of a block in a file of its own took, one in {} ms.\n",
            plan.rows,
            plan.settings.join(", "),
            PAUSE.as_secs_f64() * 1000.0,
            SYNC_PERIOD.as_millis(),
        )?;
        writeln!(
            page,
            "| | s | most resident, MiB | reads, ms: median | 99.9 % | longest | commits, ms: median | 99.9 % | longest | \
             elsewhere, ms: a sleep | a sync |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
        )?;
        for phase in &self.phases {
            writeln!(page, "{}", phase.line())?;
        }
        writeln!(
            page,
            "\nThe server was then killed half way through another such UPDATE. Its restart, with a count of all rows, took \
             {:.1} s: {} rows had the update, and the rest not. `atoll check` found nothing.",
            self.recovery.as_secs_f64(),
            self.survived
        )?;
        Ok(page)
    }
}
