//! The bench driver: one command a measurement, results in `bench/results/`.

use anyhow::{Context, Result};
use bench::insertion::{self, Case, Order};
use bench::matrix::{self, Effort};
use bench::memory::Plan;
use bench::paired::{self, Outcome};
use bench::pgbench::Script;
use bench::record::Record;
use bench::report;
use bench::sample::{least_cpu, median};
use bench::tpcc::measurement;
use clap::{Parser, Subcommand};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use txn::LogInsert;

/// The server's: what runs the engine in this process measures it with the allocator that users have.
#[global_allocator]
static ALLOCATOR: storage::Heap = storage::Heap;

#[derive(Parser)]
#[command(about = "Measures Atoll next to PostgreSQL 15 in the same run")]
struct Arguments {
    #[command(subcommand)]
    command: Measurement,
}

#[derive(Subcommand)]
enum Measurement {
    /// pgbench: 27 rows and the pipelined one, against Atoll, PostgreSQL 15 and a null server.
    Pgbench {
        /// pgbench's scale.
        #[arg(long, default_value_t = 10)]
        scale: u32,
        /// Interleaved pairs a row.
        #[arg(long, default_value_t = 5)]
        pairs: u32,
        /// Seconds of each run.
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Seconds before each run, unmeasured.
        #[arg(long, default_value_t = 3)]
        warm_up: u64,
        /// Only rows whose name contains this; the others stay as they were recorded.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// TPC-C by statements: against any server, embedded, or Atoll beside PostgreSQL.
    Tpcc(measurement::Arguments),
    /// YCSB for every concurrency-control scheme, embedded or over the wire: throughput, aborts, latencies, breakdown.
    Ycsb(bench::ycsb::measurement::Arguments),
    /// The figures of "Staring into the Abyss" on up to 1,024 cores, simulated with the schemes' own decisions.
    Abyss(bench::abyss::measurement::Arguments),
    /// sysbench's OLTP tests, Atoll beside PostgreSQL.
    Sysbench(bench::sysbench::Effort),
    /// COPY of a million rows, in and out, Atoll beside PostgreSQL.
    Copy(bench::copy::Effort),
    /// PL/pgSQL by itself: loops, texts, arrays, calls, statements, exceptions, triggers, Atoll beside PostgreSQL.
    Programs(bench::programs::Effort),
    /// DDL, start, connect, `\d`, dump and restore with many tables, Atoll beside PostgreSQL.
    Catalog(bench::catalog::Effort),
    /// tpcb-like on disjoint keys with sync off: two threads' CPU a transaction over one's, at most 1.15.
    Scaling(Pairs),
    /// pgbench's tables and columns under other names: CPU within 3 %.
    Renamed(Pairs),
    /// Instructions of a transaction, counted by callgrind: pgbench's and two of TPC-C's.
    Instructions(bench::instructions::Effort),
    /// New-Order and Payment straight on the transaction component, one part of it taken away after another: instructions.
    LookingGlass(bench::looking_glass::Arguments),
    /// A database ten times the pool under pgbench: what the process holds and whether it grows.
    Memory {
        /// `shared_buffers`, in MiB.
        #[arg(long, default_value_t = 32)]
        buffers: u64,
        /// How many times larger the database is.
        #[arg(long, default_value_t = 10)]
        times: u64,
        /// Sessions.
        #[arg(long, default_value_t = 8)]
        clients: u32,
        /// Seconds.
        #[arg(long, default_value_t = 600)]
        seconds: u64,
    },
    /// An UPDATE of all rows of a large table: memory, and what others wait for, through commit, rollback and a kill.
    Large {
        /// Rows of the table.
        #[arg(long, default_value_t = 20_000_000)]
        rows: u32,
        /// Settings of the server, each `name=value`.
        #[arg(short = 'c', default_values_t = ["shared_buffers=56MB".to_owned(), "atoll.max_write_set=20MB".to_owned()])]
        settings: Vec<String>,
    },
    /// Embedded record insertion (Shore-MT): four log-insert algorithms, one and two threads, both key orders.
    Insertion {
        /// Seconds of each run.
        #[arg(long, default_value_t = 2)]
        seconds: u64,
        /// Runs of each case; the median is told.
        #[arg(long, default_value_t = 3)]
        runs: u32,
    },
    /// Timestamps by how they are handed out, alone and in a transaction that does nothing else.
    Timestamps(bench::timestamps::Effort),
    /// TPC-B's changes on disjoint keys, embedded, without sync: what a second thread costs.
    Disjoint {
        /// Seconds of each run.
        #[arg(long, default_value_t = 3)]
        seconds: u64,
        /// Pairs of runs; the least CPU of each kind is told.
        #[arg(long, default_value_t = 5)]
        pairs: u32,
    },
}

/// How much two sides are compared.
#[derive(clap::Args)]
struct Pairs {
    /// pgbench's scale.
    #[arg(long, default_value_t = 10)]
    scale: u32,
    /// Interleaved pairs.
    #[arg(long, default_value_t = 5)]
    pairs: u32,
    /// Seconds of each run.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Seconds before each run, unmeasured.
    #[arg(long, default_value_t = 1)]
    warm_up: u64,
}

impl Pairs {
    fn effort(&self) -> Effort {
        Effort {
            scale: self.scale,
            pairs: self.pairs,
            warm_up: Duration::from_secs(self.warm_up),
            time: Duration::from_secs(self.seconds),
        }
    }
}

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
}

fn main() -> Result<()> {
    std::fs::create_dir_all(results())?;
    match Arguments::parse().command {
        Measurement::Pgbench { scale, pairs, seconds, warm_up, only } => {
            let effort = Effort {
                scale,
                pairs,
                warm_up: Duration::from_secs(warm_up),
                time: Duration::from_secs(seconds),
            };
            pgbench(effort, &only)
        }
        Measurement::Tpcc(arguments) => tpcc(arguments),
        Measurement::Ycsb(arguments) => ycsb(&arguments),
        Measurement::Abyss(arguments) => {
            bench::abyss::measurement::run(&arguments, &report::machine(), &results())
        }
        Measurement::Sysbench(effort) => {
            let page = bench::sysbench::run(effort)?;
            Ok(std::fs::write(results().join("sysbench.md"), page)?)
        }
        Measurement::Copy(effort) => {
            let page = bench::copy::run(effort)?;
            Ok(std::fs::write(results().join("copy.md"), page)?)
        }
        Measurement::Programs(effort) => {
            let page = bench::programs::run(effort)?;
            Ok(std::fs::write(results().join("programs.md"), page)?)
        }
        Measurement::Catalog(effort) => {
            let page = bench::catalog::run(&effort)?;
            Ok(std::fs::write(results().join("catalog.md"), page)?)
        }
        Measurement::Scaling(pairs) => {
            compared("scaling", pairs.effort(), &paired::scaling(pairs.effort())?)
        }
        Measurement::Renamed(pairs) => {
            compared("renamed", pairs.effort(), &paired::renames(pairs.effort())?)
        }
        Measurement::Instructions(effort) => {
            let page = bench::instructions::run(effort, &report::machine())?;
            print!("{page}");
            Ok(std::fs::write(results().join("instructions.md"), page)?)
        }
        Measurement::LookingGlass(arguments) => looking_glass(&arguments),
        Measurement::Memory { buffers, times, clients, seconds } => {
            memory(Plan { buffers, times, clients, time: Duration::from_secs(seconds) })
        }
        Measurement::Large { rows, settings } => large(&bench::large::Plan { rows, settings }),
        Measurement::Insertion { seconds, runs } => insertion(Duration::from_secs(seconds), runs),
        Measurement::Timestamps(effort) => timestamps(&effort),
        Measurement::Disjoint { seconds, pairs } => disjoint(Duration::from_secs(seconds), pairs),
    }
}

fn tpcc(arguments: measurement::Arguments) -> Result<()> {
    let name = arguments.page();
    let Some(page) = measurement::run(arguments)? else { return Ok(()) };
    Ok(std::fs::write(results().join(name), page)?)
}

fn ycsb(arguments: &bench::ycsb::measurement::Arguments) -> Result<()> {
    use bench::ycsb::{measurement, page};
    let all = measurement::run(arguments, &mut |one| println!("{}", one.line()))?;
    let (name, conditions) = (arguments.page(), arguments.conditions());
    let conditions = format!("{}\n\n{conditions}", report::machine());
    let file = |ending: &str| results().join(format!("{name}.{ending}"));
    std::fs::write(file("md"), page::markdown(&all, &conditions, name)?)?;
    std::fs::write(file("tsv"), page::tsv(&all))?;
    page::pictures(&all, &results(), name)
}

fn timestamps(effort: &bench::timestamps::Effort) -> Result<()> {
    let mut page = bench::timestamps::run(effort, &mut |line| println!("{line}"))?;
    writeln!(page, "\n{}", report::machine())?;
    Ok(std::fs::write(results().join("timestamps.md"), page)?)
}

fn looking_glass(arguments: &bench::looking_glass::Arguments) -> Result<()> {
    use bench::looking_glass::{markdown, picture, run, tsv};
    let (bars, name) = (run(arguments)?, arguments.page());
    if bars.is_empty() {
        return Ok(());
    }
    let file = |ending: &str| results().join(format!("{name}.{ending}"));
    std::fs::write(file("md"), markdown(&bars, name, &report::machine())?)?;
    std::fs::write(file("tsv"), tsv(&bars))?;
    picture(&bars, &file("svg"))
}

fn disjoint(time: Duration, pairs: u32) -> Result<()> {
    let mut least = [f64::MAX; 2];
    for pair in 0..pairs {
        // The order alternates, so that neither kind always runs on the warmer machine.
        for threads in if pair % 2 == 0 { [1, 2] } else { [2, 1] } {
            let directory =
                std::env::temp_dir().join(format!("atoll-disjoint-{}", std::process::id()));
            std::fs::create_dir_all(&directory)?;
            let outcome = bench::disjoint::run(&directory, threads, time)
                .context("a run of the benchmark of disjoint keys");
            std::fs::remove_dir_all(&directory)?;
            let outcome = outcome?;
            let (cost, rate) =
                (outcome.cost_us(), outcome.transactions as f64 / outcome.elapsed.as_secs_f64());
            println!("{threads} threads: {cost:.2} µs of CPU a transaction, {rate:.0} a second");
            let kind = threads as usize - 1;
            least[kind] = least[kind].min(cost);
        }
    }
    let [one, two] = least;
    let page = format!(
        "# Two threads on disjoint keys, embedded\n\nTPC-B's three updates and an insert, no wait for durability; the least of {pairs} runs of {} s.\n\n| threads | CPU µs/transaction |\n|--:|--:|\n| 1 | {one:.2} |\n| 2 | {two:.2} |\n\nRatio {:.3}.\n",
        time.as_secs(),
        two / one
    );
    print!("{page}");
    std::fs::write(results().join("disjoint.md"), page)?;
    Ok(())
}

fn compared(name: &str, effort: Effort, outcomes: &[Outcome]) -> Result<()> {
    let page = report::compared(effort, outcomes);
    print!("{page}");
    Ok(std::fs::write(results().join(format!("{name}.md")), page)?)
}

fn pgbench(effort: Effort, only: &str) -> Result<()> {
    let name = |load: &bench::pgbench::Load, synchronous| {
        report::name(&matrix::Row {
            load: load.clone(),
            synchronous,
            atoll: vec![],
            postgres: vec![],
            null: vec![],
        })
    };
    let kept = results().join("pgbench.tsv");
    // A page of some rows alone would replace the whole table's.
    anyhow::ensure!(
        only.is_empty() || kept.exists(),
        "there is no {} yet: run the whole table once",
        kept.display()
    );
    let mut record = Record::read(&kept).with_context(|| kept.display().to_string())?;
    let conditions = report::conditions(effort);
    let rows = matrix::run(effort, &|load, sync| name(load, sync).contains(only), &mut |row| {
        record.put(row.clone(), conditions.clone());
        std::fs::write(&kept, record.text())?;
        std::fs::write(results().join("pgbench.md"), report::markdown(&record))?;
        println!(
            "{:45} CPU {:7.1} / {:7.1} = {:.2}   rate {:.2}   {}",
            report::name(row),
            least_cpu(&row.atoll),
            least_cpu(&row.postgres),
            row.cpu_ratio(),
            row.rate_ratio(),
            if row.passes() { "passes" } else { "FAILS" }
        );
        Ok(())
    })?;
    let passing = rows.iter().filter(|row| row.passes()).count();
    println!("{passing} of {} rows pass", rows.len());
    report::picture(&results().join("pgbench.svg"), &record.measured())?;
    debug_assert!(
        rows.iter().all(|row| row.null.is_empty() == (row.load.script == Script::TpcbLike))
    );
    Ok(())
}

fn memory(plan: Plan) -> Result<()> {
    let outcome = bench::memory::run(plan)?;
    let page = outcome.markdown(plan)?;
    println!("{page}");
    std::fs::write(results().join("memory.md"), page)?;
    anyhow::ensure!(outcome.passes(), "the process holds more than it may, or grows");
    Ok(())
}

fn large(plan: &bench::large::Plan) -> Result<()> {
    let outcome = bench::large::run(plan)?;
    let page = outcome.markdown(plan)?;
    println!("{page}");
    std::fs::write(results().join("large.md"), page)?;
    anyhow::ensure!(
        outcome.passes(),
        "the process holds more than it may, or somebody waits for too long"
    );
    Ok(())
}

fn insertion(time: Duration, runs: u32) -> Result<()> {
    let mut page = String::from("# Record insertion, embedded (Shore-MT's microbenchmark)\n\n");
    page.push_str("A private tree for each thread, 8-byte keys, 92-byte values, a commit every 1,000 records; the median of the runs.\n\n");
    page.push_str("| order | sync | threads | log insert | records/s | CPU µs/record |\n|---|---|--:|---|--:|--:|\n");
    for order in [Order::Sequential, Order::Random] {
        for synchronous in [false, true] {
            for threads in [1, 2] {
                for insert in [
                    LogInsert::Mutex,
                    LogInsert::Decoupled,
                    LogInsert::Consolidated,
                    LogInsert::AtomicAdd,
                ] {
                    let case = Case { order, threads, insert, synchronous };
                    let mut rates = Vec::new();
                    let mut costs = Vec::new();
                    for _ in 0..runs {
                        let directory = std::env::temp_dir()
                            .join(format!("atoll-insertion-{}", std::process::id()));
                        std::fs::create_dir_all(&directory)?;
                        let outcome = insertion::run(&directory, case, time)
                            .context("a run of the insertion benchmark");
                        std::fs::remove_dir_all(&directory)?;
                        let outcome = outcome?;
                        rates.push(outcome.records as f64 / outcome.elapsed.as_secs_f64());
                        costs.push(outcome.cpu_seconds * 1e6 / outcome.records as f64);
                    }
                    let order = if order == Order::Sequential { "seq" } else { "rand" };
                    let sync = if synchronous { "sync" } else { "nosync" };
                    let line = format!(
                        "| {order} | {sync} | {threads} | {insert:?} | {:.0} | {:.3} |",
                        median(rates),
                        median(costs)
                    );
                    println!("{line}");
                    writeln!(page, "{line}")?;
                }
            }
        }
    }
    page.push('\n');
    page.push_str(include_str!("../insertion_peers.md"));
    std::fs::write(results().join("insertion.md"), page)?;
    Ok(())
}
