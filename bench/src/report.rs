//! Results as people read them: a Markdown page with its conditions, and a picture of the CPU figures.

use crate::matrix::{Effort, Row};
use crate::paired::Outcome;
use crate::pgbench::Script;
use crate::record::{Record, Recorded};
use crate::sample::{least_cpu, median_rate};
use anyhow::{Result, anyhow};
use plotters::prelude::*;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// A row's name: `tpcb-like, sync on, prepared, 8 clients`.
#[must_use]
pub fn name(row: &Row) -> String {
    let script = match row.load.script {
        Script::SelectOnly => "select-only",
        Script::TpcbLike => "tpcb-like",
        Script::SelectOne => "SELECT 1",
        Script::PipelinedSelect => "select-only, 10 a Sync",
    };
    let sync = match row.synchronous {
        None => "",
        Some(true) => ", sync on",
        Some(false) => ", sync off",
    };
    format!(
        "{script}{sync}, {}, {} client{}",
        row.load.mode,
        row.load.clients,
        if row.load.clients == 1 { "" } else { "s" }
    )
}

fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    text.lines().next().unwrap_or("unknown").trim().to_owned()
}

/// What figures were measured on: nothing that names the machine.
#[must_use]
pub fn machine() -> String {
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split(':').nth(1))
        .unwrap_or("unknown")
        .trim()
        .to_owned();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    format!(
        "Commit {}, {}, {cores} cores ({processor}), {}.",
        first_line("git", &["rev-parse", "--short", "HEAD"]),
        first_line("pgbench", &["--version"]),
        first_line("uname", &["-sr"]),
    )
}

/// What figures were measured on, and how.
#[must_use]
pub fn conditions(effort: Effort) -> String {
    format!(
        "{} pgbench scale {}, {} interleaved pairs of {} s after {} s of warm-up, order alternating.",
        machine(),
        effort.scale,
        effort.pairs,
        effort.time.as_secs(),
        effort.warm_up.as_secs(),
    )
}

/// The name of conditions by their place: a to z, then aa, ab and so on.
fn letters(at: usize) -> String {
    let letter = char::from(b'a' + (at % 26) as u8);
    match at / 26 {
        0 => letter.to_string(),
        before => format!("{}{letter}", letters(before - 1)),
    }
}

/// The page. Where rows were not all measured under the same conditions, each names its own by a letter.
#[must_use]
pub fn markdown(record: &Record) -> String {
    let mut out = String::from("# pgbench: Atoll beside PostgreSQL 15\n\n");
    let mut known: Vec<&str> = Vec::new();
    for recorded in &record.rows {
        if !known.contains(&&*recorded.conditions) {
            known.push(&recorded.conditions);
        }
    }
    for (at, conditions) in known.iter().enumerate() {
        if known.len() > 1 {
            write!(out, "({}) ", letters(at)).expect("a string grows");
        }
        // An empty line behind each: Markdown joins adjacent lines.
        write!(out, "{conditions}\n\n").expect("a string grows");
    }
    let named = |recorded: &Recorded| match known.len() {
        0 | 1 => name(&recorded.row),
        _ => {
            let at = known.iter().position(|one| *one == recorded.conditions).unwrap_or_default();
            format!("{} ({})", name(&recorded.row), letters(at))
        }
    };
    out.push_str(
        "CPU is user + system of all processes of a server, background work included, in microseconds a transaction (a statement in the\npipelined row): the least of the runs. Throughput is the median of the ratios of the pairs. The bar: at most 0.50 of PostgreSQL's CPU,\na throughput ratio above 1 (at least 0.95 where one sync a transaction bounds both). The null server answers from a can, on threads that run where the\nsystem puts them: the floor of a server whose sessions do not follow their clients to their cores.\n\n",
    );
    out.push_str("| row | Atoll CPU µs | PostgreSQL CPU µs | ratio | null CPU µs | Atoll /s | PostgreSQL /s | ratio | |\n");
    out.push_str("|---|--:|--:|--:|--:|--:|--:|--:|---|\n");
    for recorded in record.rows.iter().filter(|recorded| !recorded.row.is_floor()) {
        let row = &recorded.row;
        let null = if row.null.is_empty() {
            String::new()
        } else {
            format!("{:.1}", least_cpu(&row.null))
        };
        writeln!(
            out,
            "| {} | {:.1} | {:.1} | {:.2} | {null} | {:.0} | {:.0} | {:.2} | {} |",
            named(recorded),
            least_cpu(&row.atoll),
            least_cpu(&row.postgres),
            row.cpu_ratio(),
            median_rate(&row.atoll),
            median_rate(&row.postgres),
            row.rate_ratio(),
            verdict(row),
        )
        .expect("a string grows");
    }
    if !record.rows.iter().any(|recorded| recorded.row.is_floor()) {
        return out;
    }
    out.push_str("\nThe floor: a statement that reads nothing, beside the null server. The bar: at most 1.30 of its CPU.\n\n");
    out.push_str("| row | Atoll CPU µs | null CPU µs | ratio | PostgreSQL CPU µs | |\n|---|--:|--:|--:|--:|---|\n");
    for recorded in record.rows.iter().filter(|recorded| recorded.row.is_floor()) {
        let row = &recorded.row;
        writeln!(
            out,
            "| {} | {:.1} | {:.1} | {:.2} | {:.1} | {} |",
            named(recorded),
            least_cpu(&row.atoll),
            least_cpu(&row.null),
            row.floor_ratio(),
            least_cpu(&row.postgres),
            verdict(row),
        )
        .expect("a string grows");
    }
    out
}

/// Why rows fail, one a line: the row's name, a colon, the reason. Kept beside the code, as results are written anew.
const REASONS: &str = include_str!("../reasons.txt");

/// Whether a row passes, and if not, why.
fn verdict(row: &Row) -> String {
    if row.passes() {
        return "passes".to_owned();
    }
    let name = name(row);
    let known = REASONS.lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix(": "));
    format!("**fails**: {}", known.unwrap_or("the reason has not been found yet"))
}

/// The page of comparisons.
#[must_use]
pub fn compared(effort: Effort, outcomes: &[Outcome]) -> String {
    let mut out = String::from("# Atoll beside itself\n\n");
    out.push_str(&conditions(effort));
    out.push_str("\n\nCPU is user + system of the server, in microseconds a transaction: the least of the runs.\n\n");
    out.push_str("| what | CPU µs | over | ratio | bar | |\n|---|--:|--:|--:|--:|---|\n");
    for outcome in outcomes {
        writeln!(
            out,
            "| {} | {:.1} | {:.1} | {:.3} | {} | {} |",
            outcome.name,
            least_cpu(&outcome.other),
            least_cpu(&outcome.base),
            outcome.ratio(),
            outcome.bar.map_or_else(String::new, |bar| format!("{bar:.2}")),
            match outcome.passes() {
                Some(true) => "passes",
                Some(false) => "**fails**",
                None => "",
            },
        )
        .expect("a string grows");
    }
    out
}

/// The picture: CPU a transaction, both servers, a bar each.
///
/// # Errors
/// The file cannot be written.
pub fn picture(path: &Path, rows: &[Row]) -> Result<()> {
    const BAR: i32 = 9;
    const LEFT: i32 = 300;
    const WIDTH: i32 = 900;
    let height = 60 + rows.len() as i32 * (BAR * 2 + 8);
    let root = SVGBackend::new(path, (WIDTH as u32, height as u32)).into_drawing_area();
    let fail = |error: DrawingAreaErrorKind<std::io::Error>| anyhow!("{error}");
    root.fill(&WHITE).map_err(fail)?;
    let most = rows
        .iter()
        .map(|row| least_cpu(&row.postgres).max(least_cpu(&row.atoll)))
        .fold(1.0, f64::max);
    let text = ("sans-serif", 12).into_font().color(&BLACK);
    root.draw(&Text::new(
        "CPU µs per transaction: Atoll (dark), PostgreSQL 15 (light)",
        (LEFT, 14),
        text.clone(),
    ))
    .map_err(fail)?;
    for (at, row) in rows.iter().enumerate() {
        let top = 40 + at as i32 * (BAR * 2 + 8);
        root.draw(&Text::new(name(row), (8, top + 3), text.clone())).map_err(fail)?;
        for (lane, figure, colour) in [
            (0, least_cpu(&row.atoll), RGBColor(20, 80, 120)),
            (1, least_cpu(&row.postgres), RGBColor(170, 190, 205)),
        ] {
            let length = (figure / most * f64::from(WIDTH - LEFT - 70)) as i32;
            let y = top + lane * BAR;
            root.draw(&Rectangle::new([(LEFT, y), (LEFT + length, y + BAR - 1)], colour.filled()))
                .map_err(fail)?;
            root.draw(&Text::new(
                format!("{figure:.0}"),
                (LEFT + length + 4, y - 2),
                ("sans-serif", 10).into_font().color(&BLACK),
            ))
            .map_err(fail)?;
        }
    }
    root.present().map_err(fail)
}

#[cfg(test)]
mod tests {
    use super::letters;

    #[test]
    fn no_two_conditions_have_the_same_letters() {
        assert_eq!([0, 25, 26, 51, 52].map(letters), ["a", "z", "aa", "az", "ba"]);
        let many: std::collections::BTreeSet<_> = (0..1000).map(letters).collect();
        assert_eq!(many.len(), 1000);
    }
}
