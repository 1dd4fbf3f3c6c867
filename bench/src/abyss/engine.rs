//! The prediction beside the real engine: the same workload, run on as many threads as the machine has cores, and simulated on a
//! machine like it, with the engine's own latches.
//!
//! What is compared is the CPU of a transaction that committed, all of its attempts together: on a machine that others work on, too, it is
//! what is left of a throughput. At rest, where a wait has put it, a core uses none.

use super::costs::Costs;
use super::machine::Machine;
use super::simulation::{self, Latches, Setup};
use super::workload::{Spread, Workload};
use crate::ycsb::DEADLOCK_TIMEOUT_MS;
use crate::ycsb::embedded::{Database, Mode};
use crate::ycsb::run::{self, Outcome};
use crate::ycsb::workload::Workload as Real;
use anyhow::Result;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;
use txn::scheme::hstore::PARTITIONS;
use txn::{Isolation, SchemeKind, TimestampAllocator};

/// Shares of reads and skews.
const CASES: [(u32, f64); 3] = [(100, 0.0), (50, 0.6), (50, 0.8)];
/// Threads.
const THREADS: [u32; 2] = [1, 2];
/// How far a prediction may be off.
const BAR: f64 = 0.25;
/// Commits that are simulated.
const COMMITS: u64 = 20_000;

/// A case, as it was predicted and as it is.
#[derive(Clone, Debug)]
pub struct Row {
    scheme: SchemeKind,
    reads: u32,
    theta: f64,
    threads: u32,
    predicted: Outcome,
    real: Outcome,
}

/// Runs and simulates all cases.
///
/// # Errors
/// The database's own.
pub fn run(
    directory: &Path,
    costs: &Costs,
    time: Duration,
    tell: &mut dyn FnMut(&str),
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let strict = |mode: &Mode| {
        let weaker = mode.begin.isolation == Isolation::RepeatableRead;
        weaker || mode.begin.scheme != SchemeKind::Mvcc
    };
    for mode in Mode::all().into_iter().filter(strict) {
        std::fs::create_dir_all(directory)?;
        let database = Database::load(directory, THREADS[1] as usize)?;
        for (reads, theta) in CASES {
            for threads in THREADS {
                let mut workers: Vec<_> =
                    (1..=threads).map(|number| database.worker(&mode, number)).collect();
                let penalty = Duration::from_micros(100);
                let workload = Real { reads, theta, partitions: None };
                let process = std::process::id();
                let real = run::run(&mut workers, &workload, (time, false), penalty, process)?;
                let scheme = mode.begin.scheme;
                let predicted = predict(scheme, (reads, theta), threads, costs);
                let row = Row { scheme, reads, theta, threads, predicted, real };
                tell(&row.line());
                rows.push(row);
            }
        }
        database.close()?;
        std::fs::remove_dir_all(directory)?;
    }
    Ok(rows)
}

fn predict(scheme: SchemeKind, (reads, theta): (u32, f64), threads: u32, costs: &Costs) -> Outcome {
    let workload = Workload::ycsb(reads, theta, Spread::Anywhere(PARTITIONS as u16));
    let setup = Setup {
        machine: Machine::flat(threads as usize, costs.bare.gigahertz, costs.bare.transfer),
        scheme,
        workload: &workload,
        costs,
        latches: Latches::OfTrees,
        allocator: TimestampAllocator::Atomic,
        detects: true,
        penalty: 100.0,
        deadlock_timeout: f64::from(DEADLOCK_TIMEOUT_MS),
        lock_timeout: None,
        commits: COMMITS,
        warm_up: COMMITS / 10,
        seed: 1,
    };
    simulation::run(&setup).outcome
}

impl Row {
    fn ratio(&self) -> f64 {
        self.predicted.cpu_us() / self.real.cpu_us().max(1e-9)
    }

    fn is_near(&self) -> bool {
        (1.0 - BAR..=1.0 + BAR).contains(&self.ratio())
    }

    fn line(&self) -> String {
        let Row { scheme, reads, theta, threads, predicted, real } = self;
        format!(
            "| {} | {reads} | {theta} | {threads} | {:.1} | {:.1} | {:.2} | {} | {:.3} | {:.3} | {:.1} | {:.1} |",
            scheme.name(),
            predicted.cpu_us(),
            real.cpu_us(),
            self.ratio(),
            if self.is_near() { "yes" } else { "**no**" },
            predicted.abort_share(),
            real.abort_share(),
            predicted.percentile_us(0.5),
            real.percentile_us(0.5),
        )
    }
}

/// The page.
///
/// # Errors
/// None: a text can always be written to.
pub fn markdown(rows: &[Row], conditions: &str) -> Result<String> {
    let near = rows.iter().filter(|row| row.is_near()).count();
    let mut page = format!("# The simulation beside the engine\n\n{conditions}\n\n");
    write!(
        page,
        "{near} of {} predictions of the CPU of a transaction are within a quarter of what it is.\n\n| scheme | reads | theta | threads | CPU µs, predicted | measured | ratio | within a quarter | aborted, predicted | measured | p50 µs, predicted | measured |\n|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|\n",
        rows.len()
    )?;
    for row in rows {
        writeln!(page, "{}", row.line())?;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::{Row, markdown};
    use crate::ycsb::run::Outcome;
    use std::time::Duration;
    use txn::SchemeKind;

    #[test]
    fn a_prediction_is_near_up_to_a_quarter() {
        let outcome = |cpu_seconds| Outcome {
            committed: 1_000_000,
            elapsed: Duration::from_secs(1),
            cpu_seconds,
            tenths: vec![100],
            ..Outcome::default()
        };
        let row = |predicted| Row {
            scheme: SchemeKind::Occ,
            reads: 50,
            theta: 0.6,
            threads: 2,
            predicted: outcome(predicted),
            real: outcome(20.0),
        };
        assert!(row(15.5).is_near() && row(24.5).is_near());
        assert!(!row(14.5).is_near() && !row(25.5).is_near());
        let page = markdown(&[row(16.0), row(40.0)], "Here.").expect("a text grows");
        assert!(page.contains("1 of 2 predictions"), "{page}");
        assert!(page.contains("| occ | 50 | 0.6 | 2 | 40.0 | 20.0 | 2.00 | **no** |"), "{page}");
    }
}
