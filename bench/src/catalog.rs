//! What statements about objects cost in databases of many tables: Atoll beside PostgreSQL, each kind of DDL, start,
//! connect, psql's `\d`, dump and restore.
//!
//! The tables are those of an application: a primary key with a sequence, a column with a default and a CHECK; every second
//! has an index besides, every fourth a foreign key to the one before it, every tenth a view. A statement's time is
//! psql's (`\timing`), the median of the runs; that of a program is its wall time, the least of them. So what is measured is
//! what a user waits for, on one session, with everything else at rest.

use crate::sample::median;
use crate::target::{Kind, Target};
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How much is measured.
#[derive(Clone, Debug, clap::Args)]
pub struct Effort {
    /// How many tables there are, in databases one after the other.
    #[arg(long, value_delimiter = ',', default_values_t = [50, 5_000, 50_000])]
    tables: Vec<u32>,
    /// Runs of each kind of statement.
    #[arg(long, default_value_t = 21)]
    runs: u32,
}

/// Statements of one kind: `$n` is the number of the run.
struct Case {
    name: &'static str,
    /// What is done before, unmeasured.
    before: &'static str,
    measured: &'static str,
    /// What is done behind it, unmeasured.
    after: &'static str,
}

const fn case(
    name: &'static str,
    before: &'static str,
    measured: &'static str,
    after: &'static str,
) -> Case {
    Case { name, before, measured, after }
}

/// Every kind of statement about objects that both servers know.
const CASES: &[Case] = &[
    case("CREATE TABLE", "", "create table n$n (a int, b text)", "drop table n$n"),
    case(
        "CREATE TABLE, key, CHECK, index, foreign key",
        "",
        "create table n$n (a serial primary key, b int unique check (b > 0), c int references t2)",
        "drop table n$n",
    ),
    case("DROP TABLE", "create table n$n (a int, b text)", "drop table n$n", ""),
    case("ADD COLUMN", "", "alter table t7 add column n$n int", ""),
    case("DROP COLUMN", "", "alter table t7 drop column n$n", ""),
    case("ADD COLUMN of a table with a view", "", "alter table t10 add column n$n int", ""),
    case("SET DEFAULT", "", "alter table t7 alter column b set default '$n'", ""),
    case("ADD CHECK", "", "alter table t7 add constraint n$n check (a <> $n)", ""),
    case("DROP CONSTRAINT", "", "alter table t7 drop constraint n$n", ""),
    case(
        "ADD FOREIGN KEY",
        "",
        "alter table t7 add constraint n$n foreign key (c) references t9",
        "",
    ),
    case("DROP FOREIGN KEY", "", "alter table t7 drop constraint n$n", ""),
    case("CREATE INDEX", "", "create index n$n on t7 (b)", "drop index n$n"),
    case("DROP INDEX", "create index n$n on t7 (b)", "drop index n$n", ""),
    case("CREATE VIEW", "", "create view n$n as select a, b from t7 where c > 3", ""),
    case(
        "RENAME of a table that views read",
        "",
        "alter table t7 rename to s7",
        "alter table s7 rename to t7",
    ),
    case(
        "RENAME of a column",
        "",
        "alter table t8 rename d to n$n",
        "alter table t8 rename n$n to d",
    ),
    case("DROP VIEW", "", "drop view n$n", ""),
    case("RENAME of a table", "", "alter table t8 rename to s8", "alter table s8 rename to t8"),
    case("GRANT", "", "grant select on t$n to public", "revoke select on t$n from public"),
    case("COMMENT", "", "comment on table t$n is 'of run $n'", ""),
    case("CREATE SCHEMA", "", "create schema n$n", "drop schema n$n"),
    case("CREATE ROLE", "", "create role bench_n$n", "drop role bench_n$n"),
    case("CREATE TYPE", "", "create type n$n as enum ('a', 'b')", "drop type n$n"),
    case("CREATE DOMAIN", "", "create domain n$n as int check (value > 0)", "drop domain n$n"),
    case("CREATE SEQUENCE", "", "create sequence n$n", "drop sequence n$n"),
    case("CREATE TEMP TABLE", "", "create temp table n$n (a int primary key)", "drop table n$n"),
    case("TRUNCATE", "insert into t9 (b) values ('x')", "truncate t9", ""),
    case("ANALYZE of one table", "", "analyze t7", ""),
    case(
        "SELECT behind another's DDL",
        "comment on table t9 is '$n'",
        "select * from t7 where a = 1",
        "",
    ),
];

/// What psql asks for a backslash command, once.
const COMMANDS: &[(&str, &str)] =
    &[("\\d", "\\d"), ("\\d t7", "\\d t7"), ("\\dt", "\\dt"), ("\\di t7*", "\\di t7*")];

/// The statements that make so many tables.
fn schema(tables: u32, out: &mut dyn std::io::Write) -> Result<()> {
    for table in 1..=tables {
        let foreign =
            if table % 4 == 0 { format!(" references t{}", table - 1) } else { String::new() };
        writeln!(
            out,
            "create table t{table} (a serial primary key, b text default 'none', c int check (c > 0){foreign}, d timestamptz);"
        )?;
        if table % 2 == 0 {
            writeln!(out, "create index on t{table} (b, c);")?;
        }
        if table % 10 == 0 {
            writeln!(out, "create view v{table} as select a, b from t{table} where c > 1;")?;
        }
    }
    Ok(())
}

fn client(program: &str, target: &Target, database: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["-h", "127.0.0.1", "-U", "postgres", "-p", &target.port().to_string()]);
    command.args(["-d", database]).stdin(Stdio::null());
    command
}

fn psql(target: &Target, database: &str) -> Command {
    let mut command = client("psql", target, database);
    command.args(["-X", "-q", "-v", "ON_ERROR_STOP=1"]);
    command
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn timed(command: &mut Command) -> Result<f64> {
    let start = Instant::now();
    output(command)?;
    Ok(milliseconds(start.elapsed()))
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// What is measured in a database, by name, in milliseconds.
type Figures = Vec<(String, f64)>;

/// The median time of each case; all runs of a case go through one session.
fn statements(target: &Target, database: &str, runs: u32, scratch: &Path) -> Result<Figures> {
    let mut figures = Vec::new();
    for case in CASES {
        let mut out = BufWriter::new(File::create(scratch)?);
        for run in 1..=runs {
            let filled = |text: &str| text.replace("$n", &run.to_string());
            if !case.before.is_empty() {
                writeln!(out, "{};", filled(case.before))?;
            }
            writeln!(out, "\\timing on\n{};\n\\timing off", filled(case.measured))?;
            if !case.after.is_empty() {
                writeln!(out, "{};", filled(case.after))?;
            }
        }
        out.flush()?;
        drop(out);
        let told = output(psql(target, database).arg("-f").arg(scratch))
            .with_context(|| format!("{:?}: {}", target.kind(), case.name))?;
        let times = told.lines().filter_map(|line| line.strip_prefix("Time: ")?.split(' ').next());
        let times: Vec<f64> = times.map(str::parse).collect::<Result<_, _>>()?;
        ensure!(times.len() == runs as usize, "{}: psql told {} times", case.name, times.len());
        figures.push((case.name.to_owned(), median(times)));
    }
    Ok(figures)
}

/// The least time of a few runs.
fn least(runs: u32, mut run: impl FnMut() -> Result<f64>) -> Result<f64> {
    (0..runs).try_fold(f64::MAX, |least, _| Ok(least.min(run()?)))
}

/// All figures of one server with so many tables.
fn measure(kind: Kind, tables: u32, runs: u32, scratch: &Path) -> Result<Figures> {
    let mut target = Target::start(kind, false)?;
    let mut figures = Vec::new();
    let script: PathBuf = scratch.with_extension("sql");
    {
        let mut out = BufWriter::new(File::create(&script)?);
        schema(tables, &mut out)?;
        out.flush()?;
    }
    output(psql(&target, "postgres").args(["-c", "create database many"]))?;
    let made = timed(psql(&target, "many").arg("-f").arg(&script))?;
    figures.push(("all tables made".to_owned(), made));
    figures.extend(statements(&target, "many", runs, scratch)?);
    let select = |target: &Target| timed(psql(target, "many").args(["-c", "select 1"]));
    figures.push(("connect, and SELECT 1".to_owned(), least(5, || select(&target))?));
    for (name, command) in COMMANDS {
        let time = least(3, || timed(psql(&target, "many").args(["-c", command])))?;
        figures.push((format!("psql {name}"), time));
    }
    let dump = scratch.with_extension("dump");
    let time =
        least(2, || timed(client("pg_dump", &target, "many").arg("-s").arg("-f").arg(&dump)))?;
    figures.push(("pg_dump -s".to_owned(), time));
    output(psql(&target, "postgres").args(["-c", "create database again"]))?;
    figures.push(("restore of it".to_owned(), timed(psql(&target, "again").arg("-f").arg(&dump))?));
    figures.push(("start".to_owned(), milliseconds(target.restarted()?)));
    figures.push(("first connect, and SELECT 1".to_owned(), select(&target)?));
    std::fs::remove_file(script)?;
    std::fs::remove_file(dump)?;
    Ok(figures)
}

/// Runs everything; gives the page.
///
/// # Errors
/// A server or a program failed.
pub fn run(effort: &Effort) -> Result<String> {
    let scratch = std::env::temp_dir().join(format!("atoll-catalog-{}", std::process::id()));
    let mut page = format!(
        "# Statements about objects: Atoll beside PostgreSQL 15\n\n{} Milliseconds, by psql on one session: of {} runs of a statement the median, of a program the least of a few.\nEach database has so many tables with a key and a sequence; every second has an index, every fourth a foreign key, every tenth a view.\nThe bar: at most PostgreSQL's time, and with most tables at most twice the time with fewest. synchronous_commit off.\n",
        crate::report::machine(),
        effort.runs,
    );
    let mut fewest: Vec<f64> = Vec::new();
    for &tables in &effort.tables {
        let ours = measure(Kind::Atoll, tables, effort.runs, &scratch)?;
        let theirs = measure(Kind::Postgres, tables, effort.runs, &scratch)?;
        write!(
            page,
            "\n## {tables} tables\n\n| | Atoll | PostgreSQL | ratio | to fewest |\n|---|--:|--:|--:|--:|\n"
        )?;
        println!("{tables} tables");
        for (at, ((name, own), (_, other))) in ours.iter().zip(&theirs).enumerate() {
            if fewest.len() <= at {
                fewest.push(*own);
            }
            let (ratio, growth) = (own / other, own / fewest[at]);
            let line = format!("| {name} | {own:.2} | {other:.2} | {ratio:.2} | {growth:.2} |");
            println!("{line}");
            writeln!(page, "{line}")?;
        }
    }
    let _ = std::fs::remove_file(&scratch);
    Ok(page)
}
