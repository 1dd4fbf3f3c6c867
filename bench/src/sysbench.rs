//! sysbench's OLTP tests, unmodified, against Atoll and PostgreSQL: interleaved pairs, CPU a transaction, throughput.

use crate::cpu;
use crate::matrix::{least_cpu, median, median_rate};
use crate::pgbench::Sample;
use crate::target::{Kind, Target};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

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
    let (before, start) = (cpu::of_tree(target.pid())?, Instant::now());
    let report = sysbench(target, test, effort, "run")?;
    let (elapsed, used) = (start.elapsed(), cpu::of_tree(target.pid())?.since(before));
    sysbench(target, test, effort, "cleanup")?;
    // Bulk inserts are no transactions to sysbench: it counts rows as events.
    let label = if test.0 == "bulk_insert" { "total number of events:" } else { "transactions:" };
    let line = report.lines().find_map(|line| line.trim().strip_prefix(label));
    let count = line.and_then(|line| line.split_whitespace().next());
    let done: f64 = count.with_context(|| format!("no count in {report}"))?.parse()?;
    Ok(Sample {
        per_second: done / elapsed.as_secs_f64(),
        cpu_us: used.total() * 1e6 / done,
        system_us: used.system * 1e6 / done,
    })
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
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for pair in 0..effort.pairs {
            if pair % 2 == 0 {
                ours.push(measure(&atoll, test, effort)?);
                theirs.push(measure(&postgres, test, effort)?);
            } else {
                theirs.push(measure(&postgres, test, effort)?);
                ours.push(measure(&atoll, test, effort)?);
            }
        }
        let ratios = ours.iter().zip(&theirs).map(|(our, their)| our.per_second / their.per_second);
        let line = format!(
            "| {} | {:.1} | {:.1} | {:.2} | {:.0} | {:.0} | {:.2} |",
            test.0,
            least_cpu(&ours),
            least_cpu(&theirs),
            least_cpu(&ours) / least_cpu(&theirs),
            median_rate(&ours),
            median_rate(&theirs),
            median(ratios.collect()),
        );
        println!("{line}");
        writeln!(page, "{line}")?;
    }
    Ok(page)
}
