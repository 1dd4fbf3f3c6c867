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
use anyhow::{Context, Result, bail};
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

/// What is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    per_second: f64,
    cpu_us: f64,
    aborted: f64,
    p50_us: f64,
}

/// A case.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    scheme: SchemeKind,
    reads: u32,
    theta: f64,
    threads: u32,
}

/// A case, as it was predicted and as it is.
#[derive(Clone, Debug)]
pub struct Row {
    case: Case,
    predicted: Figures,
    real: Figures,
}

impl Figures {
    fn of(outcome: &Outcome) -> Figures {
        Figures {
            per_second: outcome.per_second(),
            cpu_us: outcome.cpu_us(),
            aborted: outcome.abort_share(),
            p50_us: outcome.percentile_us(0.5),
        }
    }
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
                let case = Case { scheme: mode.begin.scheme, reads, theta, threads };
                let row = Row { case, predicted: case.predict(costs), real: Figures::of(&real) };
                tell(&row.line());
                rows.push(row);
            }
        }
        database.close()?;
        std::fs::remove_dir_all(directory)?;
    }
    Ok(rows)
}

/// Simulates the cases of a file that [`tsv`] has made, whose measured figures stay.
///
/// # Errors
/// It is not such a file.
pub fn again(measured: &str, costs: &Costs, tell: &mut dyn FnMut(&str)) -> Result<Vec<Row>> {
    let lines = measured.lines().filter(|line| !line.starts_with('#')).skip(1);
    let row = |line: &str| -> Result<Row> {
        let fields: Vec<&str> = line.split('\t').collect();
        let [scheme, reads, theta, threads, figures @ ..] = &fields[..] else { bail!("{line}") };
        let figures = figures.iter().map(|field| field.parse()).collect::<Result<Vec<f64>, _>>()?;
        let [per_second, cpu_us, aborted, p50_us] = figures[..] else { bail!("{line}") };
        let scheme = SchemeKind::named(scheme).with_context(|| line.to_owned())?;
        let case = Case {
            scheme,
            reads: reads.parse()?,
            theta: theta.parse()?,
            threads: threads.parse()?,
        };
        let real = Figures { per_second, cpu_us, aborted, p50_us };
        let row = Row { case, predicted: case.predict(costs), real };
        tell(&row.line());
        Ok(row)
    };
    lines.map(row).collect()
}

/// What was measured, as [`again`] reads it; `conditions` come first.
#[must_use]
pub fn tsv(rows: &[Row], conditions: &str) -> String {
    let mut out = format!(
        "# {conditions}\nscheme\treads\ttheta\tthreads\tper_second\tcpu_us\taborted\tp50_us\n"
    );
    for Row { case, real, .. } in rows {
        let Case { scheme, reads, theta, threads } = case;
        let Figures { per_second, cpu_us, aborted, p50_us } = real;
        let scheme = scheme.name();
        out += &format!(
            "{scheme}\t{reads}\t{theta}\t{threads}\t{per_second:.0}\t{cpu_us:.1}\t{aborted:.3}\t{p50_us:.1}\n"
        );
    }
    out
}

impl Case {
    fn predict(self, costs: &Costs) -> Figures {
        let Case { scheme, reads, theta, threads } = self;
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
        Figures::of(&simulation::run(&setup).outcome)
    }
}

impl Row {
    fn ratio(&self) -> f64 {
        self.predicted.cpu_us / self.real.cpu_us.max(1e-9)
    }

    fn is_near(&self) -> bool {
        (1.0 - BAR..=1.0 + BAR).contains(&self.ratio())
    }

    fn line(&self) -> String {
        let Row { case: Case { scheme, reads, theta, threads }, predicted, real } = self;
        format!(
            "| {} | {reads} | {theta} | {threads} | {:.1} | {:.1} | {:.2} | {} | {:.3} | {:.3} | {:.1} | {:.1} | {:.1} | {:.1} |",
            scheme.name(),
            predicted.cpu_us,
            real.cpu_us,
            self.ratio(),
            if self.is_near() { "yes" } else { "**no**" },
            predicted.aborted,
            real.aborted,
            predicted.p50_us,
            real.p50_us,
            predicted.per_second / 1e3,
            real.per_second / 1e3,
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
        "{near} of {} predictions of the CPU of a transaction are within a quarter of what it is.\n\n| scheme | reads | theta | threads | CPU µs, predicted | measured | ratio | within a quarter | aborted, predicted | measured | p50 µs, predicted | measured | thousands a second, predicted | measured |\n|---|--:|--:|--:|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|\n",
        rows.len()
    )?;
    for row in rows {
        writeln!(page, "{}", row.line())?;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::{Case, Figures, Row, again, markdown, tsv};
    use crate::abyss::costs::Costs;
    use txn::SchemeKind;

    fn row(predicted: f64) -> Row {
        let figures = |cpu_us| Figures { cpu_us, p50_us: 10.0, ..Figures::default() };
        let case = Case { scheme: SchemeKind::Occ, reads: 50, theta: 0.6, threads: 2 };
        Row { case, predicted: figures(predicted), real: figures(20.0) }
    }

    #[test]
    fn a_prediction_is_near_up_to_a_quarter() {
        assert!(row(15.5).is_near() && row(24.5).is_near());
        assert!(!row(14.5).is_near() && !row(25.5).is_near());
        let page = markdown(&[row(16.0), row(40.0)], "Here.").expect("a text grows");
        assert!(page.contains("1 of 2 predictions"), "{page}");
        assert!(page.contains("| occ | 50 | 0.6 | 2 | 40.0 | 20.0 | 2.00 | **no** |"), "{page}");
    }

    #[test]
    fn what_was_measured_stays_when_it_is_predicted_again() {
        let costs = Costs::committed().expect("the committed file can be read");
        let text = tsv(&[row(16.0)], "Here.");
        let rows = again(&text, &costs, &mut |_| ()).expect("it has been written so");
        assert_eq!((rows[0].case, rows[0].real), (row(0.0).case, row(0.0).real));
        assert!(rows[0].predicted.cpu_us > 1.0);
        assert_eq!(tsv(&rows, "Here."), text);
        assert!(again("#\nscheme\nocc\t50", &costs, &mut |_| ()).is_err());
    }
}
