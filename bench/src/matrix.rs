//! The table of rows: which loads, how they are repeated, and what is taken from the repetitions.

use crate::pgbench::{self, Load, Sample, Script};
use crate::target::{Kind, Target};
use anyhow::Result;
use std::time::Duration;

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// pgbench's scale.
    pub scale: u32,
    /// Interleaved pairs a row.
    pub pairs: u32,
    /// Before each run, unmeasured.
    pub warm_up: Duration,
    /// Each run.
    pub time: Duration,
}

/// A row of the result.
#[derive(Clone, Debug)]
pub struct Row {
    /// What was run.
    pub load: Load,
    /// `synchronous_commit`, where it matters.
    pub synchronous: Option<bool>,
    /// Atoll's runs.
    pub atoll: Vec<Sample>,
    /// PostgreSQL's, the one of each pair at the same place.
    pub postgres: Vec<Sample>,
    /// The null server's, for rows it can answer.
    pub null: Vec<Sample>,
}

/// The least CPU of the runs: noise can only add to it.
#[must_use]
pub fn least_cpu(samples: &[Sample]) -> f64 {
    samples.iter().map(|sample| sample.cpu_us).fold(f64::INFINITY, f64::min)
}

/// The median of the runs' throughput.
#[must_use]
pub fn median_rate(samples: &[Sample]) -> f64 {
    median(samples.iter().map(|sample| sample.per_second).collect())
}

/// The median of some figures; NaN of none.
#[must_use]
pub fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    match figures.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => figures[odd / 2],
        even => f64::midpoint(figures[even / 2 - 1], figures[even / 2]),
    }
}

impl Row {
    /// Atoll's CPU over PostgreSQL's: at most a half is the bar.
    #[must_use]
    pub fn cpu_ratio(&self) -> f64 {
        least_cpu(&self.atoll) / least_cpu(&self.postgres)
    }

    /// The median over the pairs of Atoll's throughput over PostgreSQL's.
    #[must_use]
    pub fn rate_ratio(&self) -> f64 {
        let pairs = self.atoll.iter().zip(&self.postgres);
        median(pairs.map(|(atoll, postgres)| atoll.per_second / postgres.per_second).collect())
    }

    /// Whether one sync a transaction bounds both servers, so that equal is as good as it gets.
    #[must_use]
    pub fn bound_by_sync(&self) -> bool {
        self.synchronous == Some(true)
    }

    /// Atoll's CPU over the null server's; NaN where that one cannot answer.
    #[must_use]
    pub fn floor_ratio(&self) -> f64 {
        if self.null.is_empty() { f64::NAN } else { least_cpu(&self.atoll) / least_cpu(&self.null) }
    }

    /// Whether the row is held against the null server instead of PostgreSQL.
    #[must_use]
    pub fn is_floor(&self) -> bool {
        self.load.script == Script::SelectOne
    }

    /// Whether the row passes: half the CPU, and more throughput (or 0.95 where the disk bounds both); of the floor, at
    /// most 1.3 times the null server's CPU.
    #[must_use]
    pub fn passes(&self) -> bool {
        if self.is_floor() {
            return self.floor_ratio() <= 1.3;
        }
        let rate = if self.bound_by_sync() { 0.95 } else { 1.0 };
        self.cpu_ratio() <= 0.5 && self.rate_ratio() >= rate
    }
}

/// Every row of the table: 27, and the pipelined one.
#[must_use]
pub fn rows() -> Vec<(Load, Option<bool>)> {
    let mut rows = Vec::new();
    for (script, synchronous) in [
        (Script::SelectOnly, None),
        (Script::TpcbLike, Some(true)),
        (Script::TpcbLike, Some(false)),
    ] {
        for mode in ["simple", "extended", "prepared"] {
            for clients in [1, 8, 32] {
                rows.push((Load { mode, script, clients }, synchronous));
            }
        }
    }
    rows.push((Load { mode: "prepared", script: Script::PipelinedSelect, clients: 4 }, None));
    rows
}

/// The rows that are held against the null server.
#[must_use]
pub fn floor_rows() -> Vec<(Load, Option<bool>)> {
    let row = |mode, clients| (Load { mode, script: Script::SelectOne, clients }, None);
    vec![row("simple", 1), row("simple", 8), row("prepared", 1), row("prepared", 8)]
}

/// Runs rows for which `wanted` says yes; `tell` hears of each as it ends.
///
/// # Errors
/// A server or pgbench failed; what `tell` says.
pub fn run(
    effort: Effort,
    wanted: &dyn Fn(&Load, Option<bool>) -> bool,
    tell: &mut dyn FnMut(&Row) -> Result<()>,
) -> Result<Vec<Row>> {
    let mut done = Vec::new();
    for synchronous in [true, false] {
        let chosen: Vec<_> = rows()
            .into_iter()
            .chain(floor_rows())
            .filter(|(load, sync)| sync.unwrap_or(true) == synchronous && wanted(load, *sync))
            .collect();
        if chosen.is_empty() {
            continue;
        }
        let atoll = Target::start(Kind::Atoll, synchronous)?;
        let postgres = Target::start(Kind::Postgres, synchronous)?;
        let null = Target::start(Kind::Null, synchronous)?;
        pgbench::load(&atoll, effort.scale)?;
        pgbench::load(&postgres, effort.scale)?;
        for (load, synchronous) in chosen {
            let mut row = Row { load, synchronous, atoll: vec![], postgres: vec![], null: vec![] };
            for pair in 0..effort.pairs {
                let run = |target| {
                    pgbench::run(target, &row.load, effort.scale, effort.warm_up, effort.time)
                };
                let (a, p);
                if pair % 2 == 0 {
                    a = run(&atoll)?;
                    p = run(&postgres)?;
                } else {
                    p = run(&postgres)?;
                    a = run(&atoll)?;
                }
                if row.load.script != Script::TpcbLike {
                    let n = run(&null)?;
                    row.null.push(n);
                }
                row.atoll.push(a);
                row.postgres.push(p);
            }
            tell(&row)?;
            done.push(row);
        }
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::{median, rows};

    #[test]
    fn the_table_has_its_rows() {
        assert_eq!(rows().len(), 28);
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(vec![]).is_nan());
    }
}
