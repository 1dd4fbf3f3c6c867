//! One run of pgbench against one server: transactions, and the CPU they cost the server.

use crate::sample::Sample;
use crate::target::Target;
use anyhow::{Context, Result, ensure};
use std::process::{Command, Stdio};
use std::time::Duration;

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
    /// `SELECT 1`: the floor.
    SelectOne,
    /// Ten selects between two Syncs; a transaction is one statement of them.
    PipelinedSelect,
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
    let text = match load.script {
        Script::SelectOnly | Script::TpcbLike => None,
        Script::SelectOne => Some("SELECT 1;\n".to_owned()),
        Script::PipelinedSelect => {
            let set = format!("\\set aid random(1, {})\n", ACCOUNTS_PER_SCALE * scale);
            let select = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n";
            let selects = select.repeat(PIPELINE as usize);
            Some(format!("{set}\\startpipeline\n{selects}\\endpipeline\n"))
        }
    };
    let what = match (&text, load.script) {
        (Some(text), _) => What::Text(text),
        (None, Script::SelectOnly) => What::BuiltIn("select-only"),
        (None, _) => What::BuiltIn("tpcb-like"),
    };
    let call = Call { mode: load.mode, clients: load.clients, threads: 1, what };
    let sample = measure(target, &call, warm_up, time)?;
    Ok(match load.script {
        Script::PipelinedSelect => sample.divided(f64::from(PIPELINE)),
        Script::SelectOnly | Script::TpcbLike | Script::SelectOne => sample,
    })
}

/// What pgbench is called with.
#[derive(Clone, Copy, Debug)]
pub struct Call<'c> {
    /// `simple`, `extended` or `prepared`.
    pub mode: &'c str,
    /// Sessions.
    pub clients: u32,
    /// Threads of pgbench's.
    pub threads: u32,
    /// The script.
    pub what: What<'c>,
}

/// A script.
#[derive(Clone, Copy, Debug)]
pub enum What<'c> {
    /// One of pgbench's own.
    BuiltIn(&'c str),
    /// This one.
    Text(&'c str),
}

/// Calls pgbench for `warm_up`, then for `time` while the server's CPU is measured.
///
/// # Errors
/// pgbench's own; the server is gone.
pub fn measure(
    target: &Target,
    call: &Call<'_>,
    warm_up: Duration,
    time: Duration,
) -> Result<Sample> {
    let run_for = |span: Duration| processed(target, call, &["-T", &span.as_secs().to_string()]);
    if !warm_up.is_zero() {
        run_for(warm_up)?;
    }
    Sample::measured(target, || Ok(run_for(time)? as f64))
}

/// Calls pgbench for so many transactions of each session, the same ones each time.
///
/// # Errors
/// pgbench's own.
pub fn transactions(target: &Target, call: &Call<'_>, count: u32) -> Result<()> {
    processed(target, call, &["--random-seed=7", "-t", &count.to_string()]).map(drop)
}

/// Calls pgbench with further arguments that say how long; how many transactions it ran.
fn processed(target: &Target, call: &Call<'_>, extent: &[&str]) -> Result<u64> {
    let mut command = command(target);
    command.args(["-M", call.mode, "-c", &call.clients.to_string()]);
    command.args(["-j", &call.threads.to_string()]).args(extent);
    match call.what {
        What::BuiltIn(name) => command.args(["-b", name]),
        What::Text(text) => {
            let file = std::env::temp_dir().join(format!("atoll-bench-{}.sql", std::process::id()));
            std::fs::write(&file, text)?;
            command.arg("-f").arg(file)
        }
    };
    let output = command.arg("postgres").stderr(Stdio::piped()).output().context("pgbench")?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(
        output.status.success(),
        "{:?} {call:?}: {}",
        target.kind(),
        String::from_utf8_lossy(&output.stderr)
    );
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("number of transactions actually processed: "))
        .with_context(|| format!("no count in {text}"))?;
    Ok(line.split('/').next().unwrap_or_default().trim().parse()?)
}

/// Runs statements as a client of the simple protocol does, outside any measurement.
///
/// # Errors
/// pgbench's own: a statement failed.
pub fn execute(target: &Target, statements: &str) -> Result<()> {
    let file = std::env::temp_dir().join(format!("atoll-bench-{}.sql", std::process::id()));
    std::fs::write(&file, statements)?;
    let output = command(target).args(["-t", "1", "-f"]).arg(&file).arg("postgres").output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
