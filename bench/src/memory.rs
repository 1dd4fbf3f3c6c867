//! A database ten times its pool under pgbench for a while: what the process holds, whether it grows, and whether
//! everything is still right at the end.

use crate::target::Target;
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What is run.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// `shared_buffers`, in MiB.
    pub buffers: u64,
    /// How many times larger the database is.
    pub times: u64,
    /// Sessions.
    pub clients: u32,
    /// How long pgbench runs.
    pub time: Duration,
}

/// What it came to; memory in KiB.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// pgbench's scale.
    pub scale: u64,
    /// The data file after the load, in MiB.
    pub data: u64,
    /// The most the process held while the tables were loaded.
    pub load_peak: u64,
    /// The most it held while pgbench ran.
    pub run_peak: u64,
    /// What it may hold.
    pub limit: u64,
    /// What it held on average in the tenth of the run after its half, and in the last tenth.
    pub halves: (u64, u64),
    /// Transactions.
    pub transactions: u64,
}

/// The log ring, the soft mark of versions and `maintenance_work_mem`, as they are by default; in MiB.
const OTHER_LIMITS: u64 = 16 + 16 + 64;
/// Everything without a limit of its own, in MiB.
const ELSE: u64 = 64;
/// A scale of pgbench, clustered, in KiB: so that the rows of the accounts alone are as large as is asked for.
const KIB_PER_SCALE: u64 = 12_500;

/// What a process holds (`VmRSS`), in KiB.
///
/// # Errors
/// The process is gone.
pub fn resident(pid: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).context("the server")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// Runs a command to its end while the server's memory is sampled; its output and the samples.
fn sampled(command: &mut Command, pid: u32) -> Result<(String, Vec<u64>)> {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let waiter = std::thread::spawn(move || child.wait_with_output());
    let mut samples = vec![resident(pid)?];
    while !waiter.is_finished() {
        std::thread::sleep(Duration::from_millis(100));
        samples.push(resident(pid)?);
    }
    let output = waiter.join().expect("waiting does not panic")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {errors}");
    Ok((String::from_utf8_lossy(&output.stdout).into_owned(), samples))
}

fn client(target: &Target, program: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["-h", "127.0.0.1", "-p", &target.port().to_string(), "-U", "postgres"]);
    command
}

fn mean(samples: &[u64]) -> u64 {
    samples.iter().sum::<u64>() / samples.len().max(1) as u64
}

/// Loads, runs, and looks whether the sums hold and the directory is sound.
///
/// # Errors
/// A program fails; the sums differ; the check finds something.
pub fn run(plan: Plan) -> Result<Outcome> {
    let settings = [format!("shared_buffers={}MB", plan.buffers), "max_wal_size=512MB".to_owned()];
    let mut target = Target::atoll(&settings)?;
    let scale = (plan.buffers * plan.times * 1024).div_ceil(KIB_PER_SCALE);
    let start = Instant::now();
    let mut load = client(&target, "pgbench");
    load.args(["-i", "-q", "-s", &scale.to_string(), "postgres"]);
    let (_, loading) = sampled(&mut load, target.pid())?;
    let data = std::fs::metadata(target.data().join("data"))?.len() >> 20;
    println!("loaded scale {scale}, {data} MiB, in {:.0} s", start.elapsed().as_secs_f64());
    let mut pgbench = client(&target, "pgbench");
    pgbench.args(["-n", "-M", "prepared", "-c", &plan.clients.to_string(), "-j", "1"]);
    pgbench.args(["-T", &plan.time.as_secs().to_string(), "postgres"]);
    let (report, running) = sampled(&mut pgbench, target.pid())?;
    let count = report
        .lines()
        .find_map(|line| line.strip_prefix("number of transactions actually processed: "))
        .with_context(|| format!("no count in {report}"))?;
    let mut psql = client(&target, "psql");
    let sums = "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history) AND \
         (SELECT sum(tbalance) FROM pgbench_tellers) = (SELECT sum(bbalance) FROM pgbench_branches) AND \
         (SELECT sum(bbalance) FROM pgbench_branches) = (SELECT sum(delta) FROM pgbench_history)";
    let output = psql.args(["-XAtc", sums, "postgres"]).output()?;
    ensure!(output.stdout == b"t\n", "the sums differ: {output:?}");
    target.stop()?;
    target.check()?;
    let tenth = (running.len() / 10).max(1);
    let half = running.len() / 2;
    Ok(Outcome {
        scale,
        data,
        load_peak: loading.into_iter().max().unwrap_or(0),
        run_peak: running.iter().copied().max().unwrap_or(0),
        limit: (plan.buffers + OTHER_LIMITS + ELSE) << 10,
        halves: (
            mean(&running[half..(half + tenth).min(running.len())]),
            mean(&running[running.len() - tenth..]),
        ),
        transactions: count.split('/').next().unwrap_or_default().trim().parse()?,
    })
}

impl Outcome {
    /// What the process grew by in the second half, in percent.
    #[must_use]
    pub fn growth(&self) -> f64 {
        (self.halves.1 as f64 / self.halves.0.max(1) as f64 - 1.0) * 100.0
    }

    /// Whether it stayed within its limit, and did not grow.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.load_peak.max(self.run_peak) <= self.limit && self.growth() < 2.0
    }

    /// The page that is kept.
    ///
    /// # Errors
    /// None, in memory.
    pub fn markdown(&self, plan: Plan) -> Result<String> {
        let mib = |kib: u64| kib as f64 / 1024.0;
        let mut page = String::from("# A database ten times its pool\n\n");
        writeln!(
            page,
            "pgbench, tpcb-like, {} sessions, {} s, scale {} ({} MiB of data), shared_buffers {} MiB. The sums held, and \
             `atoll check` found nothing.\n",
            plan.clients,
            plan.time.as_secs(),
            self.scale,
            self.data,
            plan.buffers
        )?;
        writeln!(page, "| what | |\n|---|--:|")?;
        writeln!(page, "| transactions | {} |", self.transactions)?;
        writeln!(page, "| limit, MiB | {:.1} |", mib(self.limit))?;
        writeln!(page, "| most resident while loading, MiB | {:.1} |", mib(self.load_peak))?;
        writeln!(page, "| most resident while running, MiB | {:.1} |", mib(self.run_peak))?;
        writeln!(page, "| growth in the second half, % | {:.2} |", self.growth())?;
        Ok(page)
    }
}
