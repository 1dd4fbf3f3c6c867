//! What came of the runs: a Markdown page, a TSV of all figures, and a picture for each share of reads and number of threads.

use super::run::Outcome;
use super::workload::Workload;
use crate::chart::Chart;
use anyhow::{Context, Result, anyhow};
use std::fmt::Write;
use std::path::Path;
use storage::breakdown::Class;

/// The code of the paper, measured on such a machine (median of the throughput, least CPU): it keeps no log and no pages, finds rows by a hash, and
/// has no SQL. Its MVCC is multiversion timestamp ordering.
const ANCHOR: &str = include_str!("dbx1000.tsv");

/// What was run.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The scheme, with its level where it has several.
    pub scheme: String,
    /// Its transactions.
    pub workload: Workload,
    /// Threads.
    pub threads: u32,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What was run.
    pub case: Case,
    /// The speed, of a run in which nothing else was measured; and the breakdown of another.
    pub outcome: Outcome,
    /// Transactions of that other run.
    pub measured: u64,
}

impl Case {
    /// Over what a figure is drawn, and where this case is.
    fn place(&self) -> (&'static str, String) {
        match self.workload.partitions {
            Some(partitions) => ("partitions", partitions.to_string()),
            None => ("theta", self.workload.theta.to_string()),
        }
    }
}

impl Measured {
    /// Cycles of a transaction in a class, in thousands.
    fn kilocycles(&self, class: Class) -> f64 {
        self.outcome.breakdown.of(class) as f64 / self.measured.max(1) as f64 / 1000.0
    }

    /// Why transactions were aborted, and how often for each that committed.
    fn reasons(&self) -> String {
        let committed = self.outcome.committed.max(1) as f64;
        let each = self.outcome.aborts.iter();
        let each: Vec<String> = each
            .map(|(reason, count)| format!("{reason} {:.3}", *count as f64 / committed))
            .collect();
        each.join(", ")
    }

    /// The line that is told as soon as it is measured.
    #[must_use]
    pub fn line(&self) -> String {
        let Measured { case: Case { scheme, workload, threads }, outcome, .. } = self;
        format!(
            "{scheme:24} {:3} % reads  theta {:<4}{}  {threads} threads  {:7.0} /s  {:6.1} µs of CPU  {:.3} aborted",
            workload.reads,
            workload.theta,
            workload.partitions.map_or_else(String::new, |count| format!("  {count:2} partitions")),
            outcome.per_second(),
            outcome.cpu_us(),
            outcome.abort_share()
        )
    }
}

/// The figures: shares of reads and numbers of threads, in the order in which they were run.
fn figures(all: &[Measured]) -> Vec<(u32, u32)> {
    let mut figures = Vec::new();
    for Measured { case, .. } in all {
        let figure = (case.workload.reads, case.threads);
        if !figures.contains(&figure) {
            figures.push(figure);
        }
    }
    figures
}

fn of_figure(all: &[Measured], (reads, threads): (u32, u32)) -> Vec<&Measured> {
    let is_meant =
        |one: &&Measured| one.case.workload.reads == reads && one.case.threads == threads;
    all.iter().filter(is_meant).collect()
}

/// Different values in their order.
fn distinct<T: PartialEq + Clone>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = Vec::new();
    for value in values {
        if !all.contains(&value) {
            all.push(value);
        }
    }
    all
}

/// The page.
///
/// # Errors
/// The anchor's file is not what it should be.
pub fn markdown(all: &[Measured], conditions: &str, name: &str) -> Result<String> {
    let mut out = format!("# YCSB by concurrency-control scheme\n\n{conditions}\n\n");
    out.push_str("A transaction accesses 16 rows of 1 KB of 262,144; \"aborted\" is the share of attempts. CPU is user + system of the process for each transaction that committed.\n");
    for figure in figures(all) {
        let (reads, threads) = figure;
        let runs = of_figure(all, figure);
        write!(
            out,
            "\n## {reads} % reads, {threads} threads\n\n![]({name}_{reads}_{threads}.svg)\n\n"
        )?;
        let (over, _) = runs[0].case.place();
        write!(
            out,
            "| scheme | {over} | transactions/s | aborted | CPU µs | p50 µs | p95 | p99 | p99.9 | aborts for each commit |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n"
        )?;
        for run in &runs {
            let Measured { case, outcome, .. } = run;
            let at = |share| outcome.percentile_us(share);
            writeln!(
                out,
                "| {} | {} | {:.0} | {:.3} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {} |",
                case.scheme,
                case.place().1,
                outcome.per_second(),
                outcome.abort_share(),
                outcome.cpu_us(),
                at(0.5),
                at(0.95),
                at(0.99),
                at(0.999),
                run.reasons()
            )?;
        }
        write!(
            out,
            "\nWhere the time goes, in thousands of cycles a transaction:\n\n| scheme | {over} |"
        )?;
        for class in Class::ALL {
            write!(out, " {} |", class.name())?;
        }
        write!(out, "\n|---|--:|{}\n", "--:|".repeat(Class::ALL.len()))?;
        for run in &runs {
            write!(out, "| {} | {} |", run.case.scheme, run.case.place().1)?;
            for class in Class::ALL {
                write!(out, " {:.1} |", run.kilocycles(class))?;
            }
            out.push('\n');
        }
    }
    if all.iter().all(|run| run.case.workload.partitions.is_none()) {
        anchored(all, &mut out)?;
    }
    Ok(out)
}

/// The rows that the code of the paper has figures for.
fn anchored(all: &[Measured], out: &mut String) -> Result<()> {
    out.push_str("\n## Beside the code of the paper\n\nDBx1000 on such a machine: main memory, a hash for an index, no log, no pages, no SQL. The bar: at most twice its CPU with one thread; with two threads at a theta of 0.9, where it thrashes, more throughput.\n\n| reads | theta | threads | scheme | CPU µs | its own | ratio | /s | its own | ratio | largest class |\n|--:|--:|--:|---|--:|--:|--:|--:|--:|--:|---|\n");
    for line in ANCHOR.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [reads, theta, threads, scheme, rate, cpu] = fields[..] else {
            return Err(anyhow!("not six fields: {line}"));
        };
        let number = |text: &str| text.parse::<f64>().with_context(|| line.to_owned());
        let (reads, theta, threads) = (number(reads)?, number(theta)?, number(threads)?);
        let (rate, cpu) = (number(rate)?, number(cpu)?);
        let found = all.iter().find(|one| {
            let Case { scheme: own, workload, threads: ours } = &one.case;
            own == scheme
                && f64::from(workload.reads) == reads
                && workload.theta == theta
                && f64::from(*ours) == threads
        });
        let Some(found) = found else { continue };
        let largest = Class::ALL.into_iter().max_by_key(|class| found.outcome.breakdown.of(*class));
        let (own_cpu, own_rate) = (found.outcome.cpu_us(), found.outcome.per_second());
        writeln!(
            out,
            "| {reads} | {theta} | {threads} | {scheme} | {own_cpu:.1} | {cpu:.1} | {:.2} | {own_rate:.0} | {rate:.0} | {:.2} | {} |",
            own_cpu / cpu,
            own_rate / rate,
            largest.map_or("", Class::name)
        )?;
    }
    Ok(())
}

/// All figures, a line for each case.
#[must_use]
pub fn tsv(all: &[Measured]) -> String {
    let mut out = String::from(
        "scheme\treads\ttheta\tpartitions\tthreads\tper_second\tcpu_us\tabort_share\tp50_us\tp95_us\tp99_us\tp999_us\taborts",
    );
    for class in Class::ALL {
        out += &format!("\t{}_kilocycles", class.name());
    }
    out.push('\n');
    for run in all {
        let Measured {
            case: Case { scheme, workload: Workload { reads, theta, partitions }, threads },
            outcome,
            ..
        } = run;
        let partitions = partitions.map_or_else(String::new, |count| count.to_string());
        out += &format!(
            "{scheme}\t{reads}\t{theta}\t{partitions}\t{threads}\t{:.1}\t{:.3}\t{:.4}\t{}\t{}\t{}\t{}\t{}",
            outcome.per_second(),
            outcome.cpu_us(),
            outcome.abort_share(),
            outcome.percentile_us(0.5),
            outcome.percentile_us(0.95),
            outcome.percentile_us(0.99),
            outcome.percentile_us(0.999),
            run.reasons()
        );
        for class in Class::ALL {
            out += &format!("\t{:.2}", run.kilocycles(class));
        }
        out.push('\n');
    }
    out
}

/// Writes the picture of each figure beside the page: throughput over the skew or the partitions, a line for each scheme.
///
/// # Errors
/// A file cannot be written.
pub fn pictures(all: &[Measured], directory: &Path, name: &str) -> Result<()> {
    for figure in figures(all) {
        let (reads, threads) = figure;
        let path = directory.join(format!("{name}_{reads}_{threads}.svg"));
        picture(&path, &of_figure(all, figure), &format!("{reads} % reads, {threads} threads"))?;
    }
    Ok(())
}

fn picture(path: &Path, runs: &[&Measured], title: &str) -> Result<()> {
    let places = distinct(runs.iter().map(|run| run.case.place().1));
    let schemes = distinct(runs.iter().map(|run| run.case.scheme.clone()));
    let lines = schemes.into_iter().map(|scheme| {
        let own = runs.iter().filter(|run| run.case.scheme == scheme);
        let rates = own.map(|run| run.outcome.per_second()).collect();
        (scheme, rates)
    });
    let chart = Chart {
        title: format!("Transactions a second, {title}"),
        over: runs[0].case.place().0.to_owned(),
        places,
        lines: lines.collect(),
        logarithmic: false,
    };
    chart.draw(path)
}

#[cfg(test)]
mod tests {
    use super::{Case, Measured, markdown, pictures, tsv};
    use crate::ycsb::run::Outcome;
    use crate::ycsb::workload::Workload;
    use std::time::Duration;

    #[test]
    fn a_page_has_every_case_and_those_of_the_paper() {
        let measured = |scheme: &str, theta| Measured {
            case: Case {
                scheme: scheme.to_owned(),
                workload: Workload { reads: 50, theta, partitions: None },
                threads: 1,
            },
            outcome: Outcome {
                committed: 50_000,
                elapsed: Duration::from_secs(1),
                cpu_seconds: 1.0,
                aborts: [("lock busy", 500)].into(),
                tenths: vec![200; 100],
                ..Outcome::default()
            },
            measured: 100,
        };
        let all = [measured("occ", 0.0), measured("occ", 0.5), measured("2pl_no_wait", 0.0)];
        let page = markdown(&all, "Here.", "ycsb").expect("the anchor can be read");
        assert!(page.contains("| occ | 0.5 | 50000 | 0.010 | 20.0 | 20.0 |"), "{page}");
        assert!(page.contains("lock busy 0.010"), "{page}");
        assert!(
            page.contains("| 50 | 0 | 1 | occ | 20.0 | 13.8 | 1.45 | 50000 | 20000 | 2.50 |"),
            "{page}"
        );
        assert!(!page.contains("| 50 | 0.8 |"), "{page}");
        assert_eq!(tsv(&all).lines().count(), 4);
        let directory = std::env::temp_dir().join(format!("atoll-page-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("a directory is made");
        pictures(&all, &directory, "ycsb").expect("a picture is drawn");
        let picture =
            std::fs::read_to_string(directory.join("ycsb_50_1.svg")).expect("it is there");
        assert!(picture.contains("2pl_no_wait"));
        std::fs::remove_dir_all(&directory).expect("it goes");
    }
}
