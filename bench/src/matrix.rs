//! The table of rows: which loads, how they are repeated, and what each row must come to.

use crate::pgbench::{self, Load, Script};
use crate::sample::{self, Sample, in_turn};
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

impl Row {
    /// Atoll's CPU over PostgreSQL's: at most a half is the bar.
    #[must_use]
    pub fn cpu_ratio(&self) -> f64 {
        sample::cpu_ratio(&self.atoll, &self.postgres)
    }

    /// The median over the pairs of Atoll's throughput over PostgreSQL's.
    #[must_use]
    pub fn rate_ratio(&self) -> f64 {
        sample::rate_ratio(&self.atoll, &self.postgres)
    }

    /// Whether one sync a transaction bounds both servers, so that equal is as good as it gets.
    #[must_use]
    pub fn bound_by_sync(&self) -> bool {
        self.synchronous == Some(true)
    }

    /// Atoll's CPU over the null server's; NaN where that one cannot answer.
    #[must_use]
    pub fn floor_ratio(&self) -> f64 {
        if self.null.is_empty() { f64::NAN } else { sample::cpu_ratio(&self.atoll, &self.null) }
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
                let run = |target: &Target| {
                    pgbench::run(target, &row.load, effort.scale, effort.warm_up, effort.time)
                };
                let [a, p] = in_turn(pair, [&atoll, &postgres], run)?;
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
    use super::rows;

    #[test]
    fn the_table_has_its_rows() {
        assert_eq!(rows().len(), 28);
    }
}
