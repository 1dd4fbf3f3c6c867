//! The command `abyss`: measures costs, simulates the figures, and holds the simulation against the engine.

use super::costs::Costs;
use super::figures::{self, Effort};
use super::{engine, measuring, page};
use anyhow::{Result, ensure};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the command takes.
#[derive(Clone, Debug, clap::Args)]
pub struct Arguments {
    /// Measure anew what transactions cost, on one thread, and write it down. The next build simulates with that.
    #[arg(long)]
    measure: bool,
    /// Run the same on the engine, with one and two threads, beside what is predicted.
    #[arg(long)]
    engine: bool,
    /// Predict anew what was last run on the engine.
    #[arg(long, conflicts_with = "engine")]
    predict: bool,
    /// Only figures whose name contains this; nothing is written then.
    #[arg(long, default_value = "")]
    only: String,
    /// Cores at most.
    #[arg(long, default_value_t = 1024)]
    cores: usize,
    /// Commits of each core.
    #[arg(long, default_value_t = 10)]
    commits: u64,
    /// Seconds of each run on the engine.
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Of all chance.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// How costs are measured, as the file says it.
const HOW: &str = "Cycles of the parts of a transaction, by class: `bench -- abyss --measure`, one thread, YCSB's table (262,144 rows of 1 KB), keys
drawn uniformly, synchronous_commit off, transactions of 4 and of 16 accesses by turns, the middle half of 6,000 of each; `mvcc` at REPEATABLE READ.
`undo` is a rollback, `behind` what other threads do for a write that has been committed.
A machine's lines: the counter's cycles in a nanosecond; until a line is at the other core; of a decision under a latch; what that takes more where the other core has
made the one before; until a thread that rests goes on; of who wakes it; of a core for who rests and goes on.";

/// Does what was asked for; what is read later goes to `results`.
///
/// # Errors
/// The database's own; a file cannot be written.
pub fn run(arguments: &Arguments, machine: &str, results: &Path) -> Result<()> {
    let tell = &mut |line: &str| println!("{line}");
    let directory = std::env::temp_dir().join(format!("atoll-abyss-{}", std::process::id()));
    if arguments.measure {
        let costs = measuring::measure(&directory, tell)?;
        let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/abyss/costs.tsv");
        return Ok(std::fs::write(path, costs.text(&format!("{HOW}\n{machine}")))?);
    }
    let costs = Costs::committed()?;
    if arguments.engine || arguments.predict {
        let [page, table] = ["abyss_engine.md", "abyss_engine.tsv"].map(|name| results.join(name));
        let (rows, conditions) = match arguments.predict {
            true => {
                let measured = std::fs::read_to_string(&table)?;
                let said = measured.lines().next().and_then(|line| line.strip_prefix("# "));
                let conditions = said.unwrap_or_default().to_owned();
                (engine::again(&measured, &costs, tell)?, conditions)
            }
            false => {
                let time = Duration::from_secs_f64(arguments.seconds);
                let conditions = format!(
                    "{machine} {} s a run. CPU is user + system of the process for each transaction that committed.",
                    arguments.seconds
                );
                (engine::run(&directory, &costs, time, tell)?, conditions)
            }
        };
        std::fs::write(table, engine::tsv(&rows, &conditions))?;
        return Ok(std::fs::write(page, engine::markdown(&rows, &conditions)?)?);
    }
    ensure!((1..=1024).contains(&arguments.cores), "1 to 1,024 cores");
    let Arguments { commits, seed, .. } = *arguments;
    let effort = Effort { commits: [commits, 200 * commits], seed };
    let figures = figures::all(arguments.cores).into_iter();
    let figures = figures.filter(|figure| figure.name.contains(&arguments.only));
    let drawn: Vec<_> = figures.map(|figure| figure.draw(&costs, effort, tell)).collect();
    let conditions = format!(
        "A simulation (`docs/design/0021-abyss.md`): cores of 1 GHz on a mesh of two cycles a hop, the engine's decisions, and what its transactions were measured to cost on one thread (`bench/src/abyss/costs.tsv`). {commits} commits of each core and {} at least, half as many before them; seed {seed}. In a table of the paper's claims \"at\" is a place of the axis.",
        200 * commits
    );
    let text = page::markdown(&drawn, &conditions, "abyss")?;
    if !arguments.only.is_empty() {
        print!("{text}");
        return Ok(());
    }
    std::fs::write(results.join("abyss.md"), text)?;
    std::fs::write(results.join("abyss.tsv"), page::tsv(&drawn))?;
    page::pictures(&drawn, results, "abyss")
}
