//! What statements about objects cost in databases of many tables: Atoll beside PostgreSQL, each kind of DDL, start,
//! connect, psql's `\d`, dump and restore; and what they cost where a thousand views read a table, or each other.
//!
//! The tables are those of an application: a primary key with a sequence, a column with a default and a CHECK; every second
//! has an index besides, every fourth a foreign key to the one before it, every tenth a view. A statement's time is
//! psql's (`\timing`), the median of the runs; that of a program is its wall time, the least of them. So what is measured is
//! what a user waits for, on one session. Both servers run side by side and are asked one after the other for each
//! figure, so that what else the machine does falls on both.

use crate::memory::resident;
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
    /// Dumps of more tables than these are not restored: that takes PostgreSQL longest of all.
    #[arg(long, default_value_t = 5_000)]
    restored: u32,
    /// How many views read one table, and how many read each other.
    #[arg(long, default_value_t = 1_000)]
    views: u32,
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
    case(
        "SET NOT NULL",
        "",
        "alter table t7 alter column b set not null",
        "alter table t7 alter column b drop not null",
    ),
    case("ALTER TYPE of a column", "", "alter table t9 alter column b type varchar(9$n)", ""),
    case(
        "ALTER TABLE SET SCHEMA",
        "create schema n$n",
        "alter table t9 set schema n$n",
        "alter table n$n.t9 set schema public; drop schema n$n",
    ),
    case(
        "RENAME of a schema",
        "create schema n$n",
        "alter schema n$n rename to o$n",
        "drop schema o$n",
    ),
    case(
        "DROP SCHEMA CASCADE",
        "create schema n$n create table n (a int)",
        "drop schema n$n cascade",
        "",
    ),
    case("CREATE TABLE AS", "", "create table n$n as select * from t7", "drop table n$n"),
    case(
        "CREATE MATERIALIZED VIEW",
        "",
        "create materialized view n$n as select a, b from t7",
        "drop materialized view n$n",
    ),
    case(
        "CREATE FUNCTION",
        "",
        "create function n$n(int) returns int language sql as 'select $$1 + 1'",
        "drop function n$n",
    ),
    case(
        "CREATE TRIGGER",
        "create function n$n() returns trigger language plpgsql as 'begin return new; end'",
        "create trigger n$n before insert on t7 for each row execute function n$n()",
        "drop function n$n cascade",
    ),
    case("REINDEX", "", "reindex table t7", ""),
    case("VACUUM of one table", "", "vacuum t7", ""),
    case(
        "SET CONSTRAINTS by name",
        "alter table t7 add constraint n$n unique (b) deferrable; begin",
        "set constraints n$n deferred",
        "commit; alter table t7 drop constraint n$n",
    ),
    case("GRANT", "", "grant select on t$n to public", "revoke select on t$n from public"),
    case("COMMENT", "", "comment on table t$n is 'of run $n'", ""),
    case("CREATE SCHEMA", "", "create schema n$n", "drop schema n$n"),
    case("CREATE ROLE", "", "create role bench_n$n", "drop role bench_n$n"),
    case("DROP ROLE", "create role bench_n$n", "drop role bench_n$n", ""),
    case(
        "OWNER TO",
        "create role bench_n$n",
        "alter table t9 owner to bench_n$n",
        "alter table t9 owner to postgres; drop role bench_n$n",
    ),
    case(
        "REASSIGN OWNED",
        "create role bench_n$n; alter table t9 owner to bench_n$n",
        "reassign owned by bench_n$n to postgres",
        "drop role bench_n$n",
    ),
    case(
        "DROP OWNED",
        "create role bench_n$n; create table n$n (a int); alter table n$n owner to bench_n$n; grant select on t9 to bench_n$n",
        "drop owned by bench_n$n",
        "drop role bench_n$n",
    ),
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

/// Statements where many views read the table `b`, and `w`, `w1` and so on each other.
const VIEW_CASES: &[Case] = &[
    case("CREATE TABLE", "", "create table n$n (a int)", ""),
    case("DROP TABLE", "", "drop table n$n", ""),
    case("CREATE VIEW", "", "create view n$n as select a, b from b where c > 3", ""),
    case("DROP VIEW", "", "drop view n$n", ""),
    case("ADD COLUMN of a table that all views read", "", "alter table b add column n$n int", ""),
    case("DROP COLUMN of it", "", "alter table b drop column n$n", ""),
    case("ADD COLUMN of a table that no view reads", "", "alter table o add column n$n int", ""),
    case(
        "RENAME of a table that all views read",
        "",
        "alter table b rename to s",
        "alter table s rename to b",
    ),
    case(
        "RENAME of a column that all views read",
        "",
        "alter table b rename a to n$n",
        "alter table b rename n$n to a",
    ),
    case("SELECT from a view", "", "select * from x7", ""),
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

/// What is measured of both servers, in milliseconds: NaN where a server refuses it.
type Figure = (String, [f64; 2]);

/// The median time of a case; all its runs go through one session.
fn statement(
    target: &Target,
    database: &str,
    case: &Case,
    runs: u32,
    scratch: &Path,
) -> Result<f64> {
    let mut out = BufWriter::new(File::create(scratch)?);
    for run in 1..=runs {
        let filled = |text: &str| {
            text.replace("$$", "\u{1}").replace("$n", &run.to_string()).replace('\u{1}', "$")
        };
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
    Ok(median(times))
}

/// The least time of a few runs.
fn least(runs: u32, mut run: impl FnMut() -> Result<f64>) -> Result<f64> {
    (0..runs).try_fold(f64::MAX, |least, _| Ok(least.min(run()?)))
}

/// Both servers, which are asked in turn.
struct Pair {
    targets: [Target; 2],
    figures: Vec<Figure>,
    scratch: PathBuf,
}

impl Pair {
    fn start(scratch: &Path) -> Result<Pair> {
        let targets = [Target::start(Kind::Atoll, false)?, Target::start(Kind::Postgres, false)?];
        Ok(Pair { targets, figures: Vec::new(), scratch: scratch.to_owned() })
    }

    fn ask(&mut self, name: &str, measure: impl Fn(&mut Target) -> Result<f64>) -> Result<()> {
        let [ours, theirs] = &mut self.targets;
        let times = [measure(ours)?, measure(theirs)?];
        println!("{name}: {:.2} {:.2}", times[0], times[1]);
        self.figures.push((name.to_owned(), times));
        Ok(())
    }

    /// Runs a script in a database of its own.
    fn script(&mut self, name: &str, database: &str, script: &Path) -> Result<()> {
        self.ask(name, |target| {
            output(psql(target, "postgres").args(["-c", &format!("create database {database}")]))?;
            timed(psql(target, database).arg("-f").arg(script))
        })
    }

    fn cases(&mut self, database: &str, cases: &[Case], runs: u32) -> Result<()> {
        let scratch = self.scratch.clone();
        for case in cases {
            self.ask(case.name, |target| statement(target, database, case, runs, &scratch))?;
        }
        Ok(())
    }
}

/// All figures with so many tables; and what Atoll holds in memory for each of them, in KiB.
fn measure(tables: u32, effort: &Effort, scratch: &Path) -> Result<(Vec<Figure>, f64)> {
    let (runs, restored) = (effort.runs, tables <= effort.restored);
    let mut pair = Pair::start(scratch)?;
    let empty = resident(pair.targets[0].pid())?;
    let script: PathBuf = scratch.with_extension("sql");
    {
        let mut out = BufWriter::new(File::create(&script)?);
        schema(tables, &mut out)?;
        out.flush()?;
    }
    pair.script("all tables made", "many", &script)?;
    pair.cases("many", CASES, runs)?;
    let select = |target: &mut Target| timed(psql(target, "many").args(["-c", "select 1"]));
    pair.ask("connect, and SELECT 1", |target| least(5, || select(target)))?;
    for (name, command) in COMMANDS {
        pair.ask(&format!("psql {name}"), |target| {
            least(3, || timed(psql(target, "many").args(["-c", command])))
        })?;
    }
    let dump = scratch.with_extension("dump");
    pair.ask("pg_dump -s", |target| {
        least(2, || timed(client("pg_dump", target, "many").arg("-s").arg("-f").arg(&dump)))
    })?;
    if restored {
        pair.script("restore of it", "again", &dump)?;
    }
    pair.ask("start", |target| Ok(milliseconds(target.restarted()?)))?;
    let held = resident(pair.targets[0].pid())?.saturating_sub(empty);
    pair.ask("first connect, and SELECT 1", select)?;
    std::fs::remove_file(script)?;
    std::fs::remove_file(dump)?;
    Ok((pair.figures, held as f64 / f64::from(tables) / if restored { 2.0 } else { 1.0 }))
}

/// All figures with so many views over one table, and as many each of which reads the one before it.
fn with_views(views: u32, runs: u32, scratch: &Path) -> Result<Vec<Figure>> {
    let mut pair = Pair::start(scratch)?;
    let script: PathBuf = scratch.with_extension("sql");
    let write = |text: &str| std::fs::write(&script, text);
    let mut text = String::from("create table b (a int primary key, b text, c int);\n");
    text.push_str("create table o (a int);\n");
    for view in 1..=views {
        writeln!(text, "create view x{view} as select a, b from b where c > {view};")?;
    }
    write(&text)?;
    pair.script("all views made", "views", &script)?;
    pair.cases("views", VIEW_CASES, runs)?;
    text = String::from("create table b (a int primary key, b text);\n");
    text.push_str("create view w1 as select a, b from b;\n");
    for view in 2..=views {
        writeln!(text, "create view w{view} as select a, b from w{};", view - 1)?;
    }
    write(&text)?;
    pair.script("a tower of views made", "tower", &script)?;
    for view in [views / 10, views] {
        let select = format!("select * from w{view}");
        pair.ask(&format!("SELECT through {view} views, and connect"), |target| {
            Ok(least(3, || timed(psql(target, "tower").args(["-c", &select]))).unwrap_or(f64::NAN))
        })?;
    }
    pair.ask("DROP of all of them by CASCADE", |target| {
        timed(psql(target, "tower").args(["-c", "drop table b cascade"]))
    })?;
    std::fs::remove_file(script)?;
    Ok(pair.figures)
}

/// A table of figures; `fewest` are Atoll's with the fewest tables, if growth is told.
fn rows(page: &mut String, figures: &[Figure], fewest: Option<&[Figure]>) -> Result<()> {
    let (more, rule) = if fewest.is_some() { (" to fewest |", "--:|") } else { ("", "") };
    writeln!(page, "| | Atoll | PostgreSQL | ratio |{more}\n|---|--:|--:|--:|{rule}")?;
    for (name, [own, other]) in figures {
        write!(page, "| {name} | {own:.2} | {other:.2} | {:.2} |", own / other)?;
        let first = fewest.and_then(|all| all.iter().find(|first| first.0 == *name));
        if let Some((_, [first, _])) = first {
            write!(page, " {:.2} |", own / first)?;
        }
        writeln!(page)?;
    }
    Ok(())
}

/// Runs everything; gives the page.
///
/// # Errors
/// A server or a program failed.
pub fn run(effort: &Effort) -> Result<String> {
    let scratch = std::env::temp_dir().join(format!("atoll-catalog-{}", std::process::id()));
    let mut page = format!(
        "# Statements about objects: Atoll beside PostgreSQL 15\n\n{} Milliseconds, by psql on one session: of {} runs of a statement the median, of a program the least of a few. A start is that with all databases there are, the restored one too.\nEach database has so many tables with a key and a sequence; every second has an index, every fourth a foreign key, every tenth a view.\nThe bar: at most PostgreSQL's time, and with most tables at most twice the time with fewest. synchronous_commit off; both servers beside each other, asked in turn.\n",
        crate::report::machine(),
        effort.runs,
    );
    let mut fewest: Option<Vec<Figure>> = None;
    for &tables in &effort.tables {
        println!("{tables} tables");
        let (figures, held) = measure(tables, effort, &scratch)?;
        write!(page, "\n## {tables} tables\n\n")?;
        let fewest = fewest.get_or_insert_with(|| figures.clone());
        rows(&mut page, &figures, Some(fewest))?;
        writeln!(
            page,
            "\nAfter the start Atoll holds {held:.1} KiB for each table, with all that belongs to it."
        )?;
    }
    if effort.views > 0 {
        let views = effort.views;
        write!(
            page,
            "\n## {views} views\n\nOver one table; then each over the one before it. NaN: refused.\n\n"
        )?;
        rows(&mut page, &with_views(views, effort.runs, &scratch)?, None)?;
    }
    let _ = std::fs::remove_file(&scratch);
    Ok(page)
}
