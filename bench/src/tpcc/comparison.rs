//! Atoll beside PostgreSQL: both loaded alike, run in interleaved pairs of alternating order; the mix at several numbers
//! of sessions, then each transaction alone.

use super::driver::{self, Load, Report, percentile};
use super::transactions::{Form, Isolation, Kind};
use super::wire::Url;
use super::{Connector, Scale, consistency, functions, load, procedures};
use crate::cpu::{self, Cpu};
use crate::sample::{self, Sample, cells, in_turn, least_cpu, median};
use crate::target::{Kind as Server, Target};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::time::Duration;

/// How many Deliveries a session runs where they are run alone: they would soon have no orders left.
const DELIVERIES: u64 = 100;

/// What is compared.
#[derive(Clone, Debug)]
pub struct Effort {
    /// Warehouses: a pair of servers for each.
    pub warehouses: Vec<u32>,
    /// Sessions: a row for each.
    pub clients: Vec<u32>,
    /// How transactions are asked for.
    pub form: Form,
    /// Interleaved pairs a row.
    pub pairs: u32,
    /// Before each run, unmeasured.
    pub warm_up: Duration,
    /// Each run.
    pub time: Duration,
}

/// Runs of one server.
#[derive(Clone, Debug, Default)]
pub struct Side {
    samples: Vec<Sample>,
    tpm_c: Vec<f64>,
    /// Of New-Order, or of the one transaction: p50 and p95 in milliseconds, each run's.
    latencies: Vec<(f64, f64)>,
    retries: u64,
}

/// A row of the result.
#[derive(Clone, Debug)]
pub struct Row {
    warehouses: u32,
    clients: u32,
    only: Option<Kind>,
    atoll: Side,
    postgres: Side,
}

impl Side {
    fn take(&mut self, report: &Report, only: Option<Kind>, used: Cpu) {
        let done = report.transactions().max(1) as f64;
        self.samples.push(Sample::new(report.per_second(), used, done));
        self.tpm_c.push(report.tpm_c());
        let micros = &report.tallies[only.unwrap_or(Kind::NewOrder) as usize].micros;
        let at = |share| f64::from(percentile(micros, share)) / 1000.0;
        self.latencies.push((at(0.5), at(0.95)));
        self.retries += report.tallies.iter().map(|tally| tally.retries).sum::<u64>();
    }

    fn latency(&self) -> String {
        let p50 = median(self.latencies.iter().map(|pair| pair.0).collect());
        let p95 = median(self.latencies.iter().map(|pair| pair.1).collect());
        format!("{p50:.1}/{p95:.1}")
    }
}

impl Row {
    /// Atoll's CPU over PostgreSQL's.
    #[must_use]
    pub fn cpu_ratio(&self) -> f64 {
        sample::cpu_ratio(&self.atoll.samples, &self.postgres.samples)
    }

    /// The median over the pairs of Atoll's throughput over PostgreSQL's.
    #[must_use]
    pub fn rate_ratio(&self) -> f64 {
        sample::rate_ratio(&self.atoll.samples, &self.postgres.samples)
    }

    /// What was run.
    #[must_use]
    pub fn name(&self) -> String {
        let what = self.only.map_or("mix", Kind::name);
        format!("{what}, {} W, {} clients", self.warehouses, self.clients)
    }
}

/// One run of one server, with the CPU that it took.
fn measure(target: &Target, load: &Load) -> Result<(Report, Cpu)> {
    let mut before = None;
    let report = driver::run(&Url::local(target.port()), load, &mut || {
        before = cpu::of_tree(target.pid()).ok();
    })?;
    let used = cpu::of_tree(target.pid())?.since(before.context("the server is gone")?);
    ensure!(report.errors() == 0, "{:?}: {}", target.kind(), report.failures.join("\n"));
    Ok((report, used))
}

fn checked(target: &Target, scale: &Scale) -> Result<()> {
    let mut client = Url::local(target.port()).connect()?;
    let complaints = consistency::complaints(&consistency::check(&mut *client, scale)?);
    ensure!(complaints.is_empty(), "{:?}: {}", target.kind(), complaints.join("; "));
    Ok(())
}

/// Runs all rows; `tell` hears of each as it ends.
///
/// # Errors
/// A server failed, a transaction failed, or a consistency condition does not hold.
pub fn run(effort: &Effort, tell: &mut dyn FnMut(&Row)) -> Result<Vec<Row>> {
    let mut done = Vec::new();
    for &warehouses in &effort.warehouses {
        let scale = Scale::standard(warehouses);
        let targets = [Target::start(Server::Atoll, true)?, Target::start(Server::Postgres, true)?];
        for target in &targets {
            let mut client = Url::local(target.port()).connect()?;
            let time = load::load(&mut *client, scale, true)?;
            println!("{:?}: {warehouses} W loaded in {:.1} s", target.kind(), time.as_secs_f64());
            procedures::create(&mut *client)?;
            functions::create(&mut *client, &scale)?;
            checked(target, &scale)?;
        }
        let mixes = effort.clients.iter().map(|&clients| (clients, None));
        let alone = Kind::ALL.into_iter().map(|kind| (1, Some(kind)));
        for (clients, only) in mixes.chain(alone) {
            let load = Load {
                scale,
                clients,
                // Those that are counted begin at once.
                warm_up: if only == Some(Kind::Delivery) { Duration::ZERO } else { effort.warm_up },
                time: effort.time,
                isolation: Isolation::ReadCommitted,
                form: effort.form,
                only,
                transactions_max: (only == Some(Kind::Delivery)).then_some(DELIVERIES),
                seed: None,
            };
            let mut row = Row {
                warehouses,
                clients,
                only,
                atoll: Side::default(),
                postgres: Side::default(),
            };
            for pair in 0..effort.pairs {
                let run = |target: &Target| measure(target, &load);
                let [atoll, postgres] = in_turn(pair, targets.each_ref(), run)?;
                row.atoll.take(&atoll.0, only, atoll.1);
                row.postgres.take(&postgres.0, only, postgres.1);
            }
            tell(&row);
            done.push(row);
        }
        for target in &targets {
            checked(target, &scale)?;
        }
    }
    Ok(done)
}

/// A line for whoever waits.
#[must_use]
pub fn line(row: &Row) -> String {
    format!(
        "{:32} CPU {:7.1} / {:7.1} = {:.2}   rate {:.2}",
        row.name(),
        least_cpu(&row.atoll.samples),
        least_cpu(&row.postgres.samples),
        row.cpu_ratio(),
        row.rate_ratio()
    )
}

/// The tables of a page.
#[must_use]
pub fn markdown(rows: &[Row]) -> String {
    let mut out = String::from(
        "| row | Atoll CPU µs | PostgreSQL CPU µs | ratio | Atoll /s | PostgreSQL /s | ratio | Atoll tpmC | PostgreSQL tpmC | Atoll p50/p95 ms | PostgreSQL p50/p95 ms | retries |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in rows {
        writeln!(
            out,
            "| {} | {} | {:.0} | {:.0} | {} | {} | {}/{} |",
            row.name(),
            cells(&row.atoll.samples, &row.postgres.samples, 0),
            median(row.atoll.tpm_c.clone()),
            median(row.postgres.tpm_c.clone()),
            row.atoll.latency(),
            row.postgres.latency(),
            row.atoll.retries,
            row.postgres.retries,
        )
        .expect("a string grows");
    }
    out
}
