//! A program under callgrind: how many instructions its process takes, from its start to its end, without what the kernel does.

use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// The command that runs `program` and leaves its counts there.
#[must_use]
pub fn command(program: &Command, counts: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.arg("--tool=callgrind");
    command.arg(format!("--callgrind-out-file={}", counts.display()));
    command.arg(program.get_program()).args(program.get_args());
    command
}

/// The instructions of a run that has ended.
///
/// # Errors
/// It has left no counts.
pub fn total(counts: &Path) -> Result<u64> {
    let text = std::fs::read_to_string(counts)?;
    let totals = text.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    Ok(totals.context("callgrind has counted nothing")?.trim().parse()?)
}
