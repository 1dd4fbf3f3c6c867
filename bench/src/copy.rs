//! COPY of many rows, in and out, by psql: Atoll beside PostgreSQL, in interleaved pairs.

use crate::sample::{Sample, cells, interleaved};
use crate::target::{Kind, Target};
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

/// How much is measured.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Effort {
    /// Rows of a COPY.
    #[arg(long, default_value_t = 1_000_000)]
    rows: u32,
    /// Interleaved pairs.
    #[arg(long, default_value_t = 3)]
    pairs: u32,
}

/// What is measured: its name, what is done before, and the COPY.
struct Case {
    name: &'static str,
    before: &'static str,
    copy: &'static str,
}

/// The table is pgbench's `pgbench_accounts`, so its rows are what a load of pgbench's copies.
const CASES: [Case; 4] = [
    Case {
        name: "in, primary key",
        before: "DROP TABLE IF EXISTS copied; CREATE TABLE copied (aid int PRIMARY KEY, bid int, abalance int, filler char(84))",
        copy: "COPY copied FROM STDIN",
    },
    Case {
        name: "in, primary key, new table",
        before: "DROP TABLE IF EXISTS copied",
        copy: "BEGIN; CREATE TABLE copied (aid int PRIMARY KEY, bid int, abalance int, filler char(84)); COPY copied FROM STDIN; COMMIT",
    },
    Case {
        name: "in, no key",
        before: "DROP TABLE IF EXISTS copied; CREATE TABLE copied (aid int, bid int, abalance int, filler char(84))",
        copy: "COPY copied FROM STDIN",
    },
    Case { name: "out", before: "CHECKPOINT", copy: "COPY copied TO STDOUT" },
];

fn write_rows(file: &Path, rows: u32) -> Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    for row in 1..=rows {
        writeln!(out, "{row}\t{}\t0\t{:84}", row / 100_000 + 1, "")?;
    }
    Ok(out.flush()?)
}

fn psql(target: &Target, statements: &str, input: Stdio) -> Result<()> {
    let output = Command::new("psql")
        .args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "postgres"])
        .args(["-p", &target.port().to_string(), "-d", "postgres", "-c", statements])
        .stdin(input)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .context("psql")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{:?}: {statements}: {said}", target.kind());
    Ok(())
}

fn measure(target: &Target, case: &Case, file: &Path, rows: u32) -> Result<Sample> {
    psql(target, case.before, Stdio::null())?;
    Sample::measured(target, || {
        psql(target, case.copy, File::open(file)?.into())?;
        Ok(f64::from(rows))
    })
}

/// Runs all cases; gives the page.
///
/// # Errors
/// A server or psql failed.
pub fn run(effort: Effort) -> Result<String> {
    let (atoll, postgres) =
        (Target::start(Kind::Atoll, true)?, Target::start(Kind::Postgres, true)?);
    let file = std::env::temp_dir().join(format!("atoll-bench-{}.rows", std::process::id()));
    write_rows(&file, effort.rows)?;
    let mut page = format!(
        "# COPY: Atoll beside PostgreSQL 15\n\n{} {} rows of pgbench_accounts as text, by psql; {} interleaved pairs, synchronous_commit on.\nCPU is user + system of all processes of a server, in microseconds a row: the least of the runs. Throughput is the median, its ratio that of the pairs.\n\n| COPY | Atoll CPU µs | PostgreSQL CPU µs | ratio | Atoll rows/s | PostgreSQL rows/s | ratio |\n|---|--:|--:|--:|--:|--:|--:|\n",
        crate::report::machine(),
        effort.rows,
        effort.pairs,
    );
    for case in &CASES {
        let run = |target: &Target| measure(target, case, &file, effort.rows);
        let [ours, theirs] = interleaved(effort.pairs, [&atoll, &postgres], run)?;
        let line = format!("| {} | {} |", case.name, cells(&ours, &theirs, 2));
        println!("{line}");
        writeln!(page, "{line}")?;
    }
    std::fs::remove_file(&file)?;
    Ok(page)
}
