//! One run of pgbench against one server: transactions, and the CPU they cost the server.

use crate::cpu;
use crate::target::Target;
use anyhow::{Context, Result, ensure};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What pgbench does in a row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// `simple`, `extended` or `prepared`.
    pub mode: &'static str,
    /// What it runs.
    pub script: Script,
    /// Sessions.
    pub clients: u32,
}

/// What pgbench runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Script {
    /// `-S`.
    SelectOnly,
    /// The default.
    TpcbLike,
    /// Ten selects between two Syncs; a transaction is one statement of them.
    PipelinedSelect,
}

/// What a run gave.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Transactions a second (statements, for the pipelined script).
    pub per_second: f64,
    /// The server's CPU time for one, in microseconds: user and system.
    pub cpu_us: f64,
    /// The part of it in the kernel.
    pub system_us: f64,
}

/// The rows of `pgbench_accounts` at scale 1.
const ACCOUNTS_PER_SCALE: u32 = 100_000;
/// Statements between two Syncs of the pipelined script.
const PIPELINE: u32 = 10;

fn command(target: &Target) -> Command {
    let mut command = Command::new("pgbench");
    command.args(["-h", "127.0.0.1", "-p", &target.port().to_string(), "-U", "postgres", "-n"]);
    command
}

/// Loads the tables.
///
/// # Errors
/// pgbench's own.
pub fn load(target: &Target, scale: u32) -> Result<()> {
    let output =
        command(target).args(["-i", "-q", "-s", &scale.to_string(), "postgres"]).output()?;
    ensure!(
        output.status.success(),
        "{:?}: {}",
        target.kind(),
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// Runs `load` for `warm_up`, then for `time` while it is measured.
///
/// # Errors
/// pgbench's own; the server is gone.
pub fn run(
    target: &Target,
    load: &Load,
    scale: u32,
    warm_up: Duration,
    time: Duration,
) -> Result<Sample> {
    let script = tempfile(load.script, scale)?;
    let run_for = |span: Duration| -> Result<u64> {
        let mut command = command(target);
        command.args(["-M", load.mode, "-c", &load.clients.to_string(), "-j", "1"]);
        command.args(["-T", &span.as_secs().to_string()]);
        match load.script {
            Script::SelectOnly => command.arg("-S"),
            Script::TpcbLike => command.arg("-btpcb-like"),
            Script::PipelinedSelect => {
                command.arg("-f").arg(&script).args(["-D", &format!("scale={scale}")])
            }
        };
        let output = command.arg("postgres").stderr(Stdio::piped()).output().context("pgbench")?;
        let text = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success(),
            "{:?} {load:?}: {}",
            target.kind(),
            String::from_utf8_lossy(&output.stderr)
        );
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("number of transactions actually processed: "))
            .with_context(|| format!("no count in {text}"))?;
        Ok(line.split('/').next().unwrap_or_default().trim().parse()?)
    };
    if !warm_up.is_zero() {
        run_for(warm_up)?;
    }
    let (before, start) = (cpu::of_tree(target.pid())?, Instant::now());
    let transactions = run_for(time)?;
    let (elapsed, used) = (start.elapsed(), cpu::of_tree(target.pid())?.since(before));
    let done = transactions as f64
        * match load.script {
            Script::PipelinedSelect => f64::from(PIPELINE),
            Script::SelectOnly | Script::TpcbLike => 1.0,
        };
    Ok(Sample {
        per_second: done / elapsed.as_secs_f64(),
        cpu_us: used.total() * 1e6 / done,
        system_us: used.system * 1e6 / done,
    })
}

fn tempfile(script: Script, scale: u32) -> Result<std::path::PathBuf> {
    let path = std::env::temp_dir().join(format!("atoll-bench-{}.sql", std::process::id()));
    if script == Script::PipelinedSelect {
        let set = format!("\\set aid random(1, {})\n", ACCOUNTS_PER_SCALE * scale);
        let select = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
        let text =
            format!("{set}\\startpipeline\n{}\\endpipeline\n", select.repeat(PIPELINE as usize));
        std::fs::write(&path, text)?;
    }
    Ok(path)
}
