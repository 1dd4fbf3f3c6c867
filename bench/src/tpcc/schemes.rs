//! TPC-C by statements, embedded, under one concurrency-control scheme after another: throughput, CPU, and what was run again.

use super::consistency;
use super::driver::{self, Load};
use super::embedded::Embedded;
use super::statement::Rows;
use super::{Connector, Scale, load};
use crate::cpu;
use anyhow::{Result, ensure};
use std::fmt::Write;
use std::path::Path;
use txn::SchemeKind;

/// What came of one scheme with a number of sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The scheme.
    pub scheme: &'static str,
    /// Sessions.
    pub clients: u32,
    /// Transactions a second.
    pub per_second: f64,
    /// New-Orders a minute.
    pub tpm_c: f64,
    /// CPU of a transaction, the kit's included, in microseconds.
    pub cpu_us: f64,
    /// How often a transaction was run again, for each that came to its end.
    pub retries: f64,
    /// What 95 of 100 New-Orders did not exceed, in milliseconds.
    pub p95_ms: f64,
}

/// Runs `load` with each number of sessions under every scheme, in a directory of its own for each below `data`, which goes
/// afterwards. The twelve conditions hold before and after.
///
/// # Errors
/// The engine's; a condition that does not hold.
pub fn run(
    data: &Path,
    scale: Scale,
    loads: &[Load],
    tell: &mut dyn FnMut(&Row),
) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for scheme in SchemeKind::ALL {
        let name = scheme.name();
        let directory = data.join(name);
        ensure!(!directory.exists(), "{} is there already", directory.display());
        let embedded = Embedded::open(&directory, Some(scheme))?;
        let mut client = embedded.connect()?;
        // History has no key: its rows are where the Payments are that write them.
        client.execute("SET atoll.require_partition_key = off", &mut Rows::default())?;
        load::load(&mut *client, scale, true)?;
        for load in loads {
            let mut before = None;
            let report = driver::run(&embedded, load, &mut || {
                before = cpu::of_tree(std::process::id()).ok();
            })?;
            let used = cpu::of_tree(std::process::id())?.since(before.unwrap_or_default());
            ensure!(report.errors() == 0, "{name}: {}", report.table());
            let broken = consistency::check(&mut *client, &scale)?;
            ensure!(broken == [0; 12], consistency::complaints(&broken).join("; "));
            let ended = report.transactions().max(1) as f64;
            let retries: u64 = report.tallies.iter().map(|tally| tally.retries).sum();
            let row = Row {
                scheme: name,
                clients: load.clients,
                per_second: report.per_second(),
                tpm_c: report.tpm_c(),
                cpu_us: used.total() * 1e6 / ended,
                retries: retries as f64 / ended,
                p95_ms: f64::from(driver::percentile(&report.tallies[0].micros, 0.95)) / 1000.0,
            };
            tell(&row);
            rows.push(row);
        }
        drop(client);
        embedded.close()?;
        std::fs::remove_dir_all(&directory)?;
    }
    Ok(rows)
}

impl Row {
    /// A line of the page's table.
    #[must_use]
    pub fn line(&self) -> String {
        let Row { scheme, clients, per_second, tpm_c, cpu_us, retries, p95_ms } = self;
        format!(
            "| {scheme} | {clients} | {per_second:.0} | {tpm_c:.0} | {cpu_us:.0} | {retries:.4} | {p95_ms:.2} |"
        )
    }
}

/// The page.
///
/// # Errors
/// None: a text can always be written to.
pub fn markdown(rows: &[Row], conditions: &str) -> Result<String> {
    let mut page = String::from("# TPC-C by concurrency-control scheme\n\n");
    write!(
        page,
        "{conditions} By statements, embedded, durable; the twelve consistency conditions held behind each run. CPU is user + system of the process, the kit's included, for each transaction.\n\n| scheme | sessions | transactions/s | tpmC | CPU µs | run again, for each | New-Order p95 ms |\n|---|--:|--:|--:|--:|--:|--:|\n"
    )?;
    for row in rows {
        writeln!(page, "{}", row.line())?;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::{Row, markdown};

    #[test]
    fn a_page_has_a_line_for_each_scheme() {
        let row = Row {
            scheme: "2pl_no_wait",
            clients: 2,
            per_second: 1000.4,
            tpm_c: 27_000.0,
            cpu_us: 950.6,
            retries: 0.25,
            p95_ms: 3.5,
        };
        let page = markdown(&[row], "Here.").expect("a text grows");
        assert!(
            page.contains("| 2pl_no_wait | 2 | 1000 | 27000 | 951 | 0.2500 | 3.50 |"),
            "{page}"
        );
    }
}
