//! sysbench's OLTP tests, unmodified, against Atoll and PostgreSQL: interleaved pairs, CPU a transaction, throughput.

use crate::sample::{Sample, cells, interleaved};
use crate::target::{Kind, Target};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::process::Command;

/// The tests, and how many tables each takes: two of them know only one.
const TESTS: [(&str, u32); 11] = [
    ("oltp_point_select", 4),
    ("oltp_read_only", 4),
    ("oltp_read_write", 4),
    ("oltp_write_only", 4),
    ("oltp_update_index", 4),
    ("oltp_update_non_index", 4),
    ("oltp_insert", 4),
    ("oltp_delete", 4),
    ("select_random_points", 1),
    ("select_random_ranges", 1),
    ("bulk_insert", 4),
];

/// How much is measured.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Effort {
    /// Rows of a table.
    #[arg(long, default_value_t = 10_000)]
    table_size: u32,
    /// Sessions.
    #[arg(long, default_value_t = 8)]
    threads: u32,
    /// Seconds of each run.
    #[arg(long, default_value_t = 5)]
    time: u32,
    /// Interleaved pairs.
    #[arg(long, default_value_t = 3)]
    pairs: u32,
}

fn sysbench(target: &Target, test: (&str, u32), effort: Effort, command: &str) -> Result<String> {
    let output = Command::new("sysbench")
        .arg(test.0)
        .args(["--db-driver=pgsql", "--pgsql-host=127.0.0.1", "--pgsql-user=postgres"])
        .arg(format!("--pgsql-port={}", target.port()))
        .args(["--pgsql-db=postgres".to_owned(), format!("--tables={}", test.1)])
        .arg(format!("--table-size={}", effort.table_size))
        .arg(format!("--threads={}", effort.threads))
        .args([format!("--time={}", effort.time), command.to_owned()])
        .output()
        .context("sysbench")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        output.status.success() && !text.contains("FATAL"),
        "{:?} {} {command}: {text}{said}",
        target.kind(),
        test.0
    );
    Ok(text)
}

fn measure(target: &Target, test: (&str, u32), effort: Effort) -> Result<Sample> {
    sysbench(target, test, effort, "prepare")?;
    let sample = Sample::measured(target, || {
        let report = sysbench(target, test, effort, "run")?;
        // Bulk inserts are no transactions to sysbench: it counts rows as events.
        let label =
            if test.0 == "bulk_insert" { "total number of events:" } else { "transactions:" };
        let line = report.lines().find_map(|line| line.trim().strip_prefix(label));
        let count = line.and_then(|line| line.split_whitespace().next());
        Ok(count.with_context(|| format!("no count in {report}"))?.parse()?)
    })?;
    sysbench(target, test, effort, "cleanup")?;
    Ok(sample)
}

/// Runs all tests; gives the page.
///
/// # Errors
/// A server or sysbench failed.
pub fn run(effort: Effort) -> Result<String> {
    let (atoll, postgres) =
        (Target::start(Kind::Atoll, true)?, Target::start(Kind::Postgres, true)?);
    let mut page = format!(
        "# sysbench's OLTP tests: Atoll beside PostgreSQL 15\n\n{} Tables of {} rows, {} sessions, {} interleaved pairs of {} s, synchronous_commit on.\nCPU is user + system of all processes of a server, in microseconds a transaction (a row, of bulk_insert): the least of the runs. Throughput is the median, its ratio that of the pairs.\n\n| test | Atoll CPU µs | PostgreSQL CPU µs | ratio | Atoll /s | PostgreSQL /s | ratio |\n|---|--:|--:|--:|--:|--:|--:|\n",
        crate::report::machine(),
        effort.table_size,
        effort.threads,
        effort.pairs,
        effort.time,
    );
    for test in TESTS {
        let run = |target: &Target| measure(target, test, effort);
        let [ours, theirs] = interleaved(effort.pairs, [&atoll, &postgres], run)?;
        let line = format!("| {} | {} |", test.0, cells(&ours, &theirs, 1));
        println!("{line}");
        writeln!(page, "{line}")?;
    }
    Ok(page)
}
