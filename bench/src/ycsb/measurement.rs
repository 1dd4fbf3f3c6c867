//! The command `ycsb`: every scheme, read share, skew and number of threads, in one go.

use super::DEADLOCK_TIMEOUT_MS;
use super::embedded::{Database, Mode};
use super::page::{Case, Measured};
use super::run::{self, Outcome, Worker};
use super::wire;
use super::workload::Workload;
use crate::target::Target;
use anyhow::{Result, ensure};
use std::time::Duration;
use txn::Isolation;

/// What the command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// By statements over a socket, and not straight on the transaction component.
    #[arg(long)]
    wire: bool,
    /// Only schemes whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Shares of reads, in percent.
    #[arg(long, value_delimiter = ',', default_value = "100,50")]
    reads: Vec<u32>,
    /// Skews: 0 is uniform, all are below 1.
    #[arg(long, value_delimiter = ',', default_value = "0,0.6,0.8,0.9,0.99")]
    theta: Vec<f64>,
    /// In how many partitions the keys of a transaction are: a page of its own, over these; by itself keys are anywhere.
    #[arg(long, value_delimiter = ',')]
    partitions: Vec<u32>,
    /// Threads.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    threads: Vec<u32>,
    /// Seconds of each run.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Microseconds before an aborted transaction is run again, at most: it waits for a random part of them, and others are run
    /// meanwhile. The paper's code has 100.
    #[arg(long, default_value_t = 100)]
    penalty: u64,
}

impl Arguments {
    /// The name of the pages.
    #[must_use]
    pub fn page(&self) -> &'static str {
        match (self.wire, self.partitions.is_empty()) {
            (false, true) => "ycsb",
            (true, true) => "ycsb_wire",
            (false, false) => "ycsb_partitions",
            (true, false) => "ycsb_wire_partitions",
        }
    }

    /// Every share of reads, skew and number of partitions.
    fn workloads(&self) -> Vec<Workload> {
        let partitions: Vec<Option<u32>> = match &self.partitions[..] {
            [] => vec![None],
            several => several.iter().copied().map(Some).collect(),
        };
        let mut all = Vec::new();
        for &reads in &self.reads {
            for &theta in &self.theta {
                all.extend(partitions.iter().map(|&partitions| Workload {
                    reads,
                    theta,
                    partitions,
                }));
            }
        }
        all
    }

    /// How it was measured.
    #[must_use]
    pub fn conditions(&self) -> String {
        let how = if self.wire {
            "By prepared statements over a socket, a round trip each; the server's CPU."
        } else {
            "Straight on the transaction component, without SQL; the process's CPU."
        };
        format!(
            "{how} Files, log, pages and recovery as always, synchronous_commit off, deadlock_timeout {DEADLOCK_TIMEOUT_MS} ms; {} s a run. An aborted transaction is run again after up to {} µs, and others meanwhile.",
            self.seconds, self.penalty
        )
    }
}

/// Runs all of it; `tell` is given each case as it is done.
///
/// # Errors
/// The database's, the server's.
pub fn run(arguments: &Arguments, tell: &mut dyn FnMut(&Measured)) -> Result<Vec<Measured>> {
    ensure!(arguments.theta.iter().all(|theta| (0.0..1.0).contains(theta)), "a skew is below 1");
    ensure!(
        arguments.partitions.is_empty() || arguments.theta.len() == 1,
        "a page over partitions is of one skew (--theta)"
    );
    let modes: Vec<Mode> =
        Mode::all().into_iter().filter(|mode| mode.name.contains(&arguments.only)).collect();
    let mut all = Vec::new();
    let mut done = |measured: Measured| {
        tell(&measured);
        all.push(measured);
    };
    if arguments.wire {
        let settings = ["synchronous_commit=off", "shared_buffers=768MB", "max_wal_size=8GB"];
        let mut target = Target::atoll(&settings.map(str::to_owned))?;
        wire::load(target.port())?;
        for mode in &modes {
            wire::choose(target.port(), mode.begin.scheme.name())?;
            let isolation = match mode.begin.isolation {
                Isolation::RepeatableRead => "REPEATABLE READ",
                Isolation::ReadCommitted | Isolation::Serializable => "SERIALIZABLE",
            };
            let open = |_| wire::Session::connect(target.port(), isolation);
            each(arguments, mode, target.pid(), &open, &mut done)?;
        }
        target.stop()?;
        return Ok(all);
    }
    for mode in &modes {
        // A database of its own for each: what one has switched on stays so.
        let directory = std::env::temp_dir().join(format!("atoll-ycsb-{}", std::process::id()));
        std::fs::create_dir_all(&directory)?;
        let most = arguments.threads.iter().max().copied().unwrap_or(1) as usize;
        let database = Database::load(&directory, most)?;
        let open = |number| Ok(database.worker(mode, number));
        let ran = each(arguments, mode, std::process::id(), &open, &mut done);
        let closed = database.close();
        std::fs::remove_dir_all(&directory)?;
        ran.and(closed)?;
    }
    Ok(all)
}

/// Every case of one scheme: once for its speed, and shorter once more for where the time goes.
fn each<W: Worker + Send>(
    arguments: &Arguments,
    mode: &Mode,
    process: u32,
    open: &dyn Fn(u32) -> Result<W>,
    done: &mut dyn FnMut(Measured),
) -> Result<()> {
    for workload in arguments.workloads() {
        for &threads in &arguments.threads {
            let mut workers = (1..=threads).map(open).collect::<Result<Vec<W>>>()?;
            let time = Duration::from_secs_f64(arguments.seconds);
            let penalty = Duration::from_micros(arguments.penalty);
            let mut run = |time, measured| {
                run::run(&mut workers, &workload, (time, measured), penalty, process)
            };
            let (mut outcome, measured) = (run(time, false)?, run(time / 4, true)?);
            let Outcome { breakdown, committed, .. } = measured;
            outcome.breakdown = breakdown;
            let case = Case { scheme: mode.name.clone(), workload, threads };
            done(Measured { case, outcome, measured: committed });
        }
    }
    Ok(())
}
