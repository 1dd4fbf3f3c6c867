//! sqllogictest: every record of `slt/` is run and counted, whatever became of the one before.
//!
//! Two suites. The own one (`slt/*.slt`, by area) passes on PostgreSQL 15, which its results come from, and on Atoll by
//! both protocols. The other is a part of SQLite's corpus: there all that PostgreSQL 15 passes
//! (`slt/postgres15-fails.json` names the rest) passes on Atoll. Arguments are parts of files' names; with
//! `UPDATE_GOLDEN` in the environment PostgreSQL writes the own suite's results.
//!
//! The format is the `sqllogictest` crate's, and so is the judgement. What the crate does not know of SQLite's files is
//! prepared here: comments behind conditions, conditions of `halt`, what files leave unsaid, and numbers that a query asks for as integers.

use sqllogictest::{
    Condition, DB, DBOutput, DefaultColumnType, QueryExpect, Record, RecordOutput, Runner,
    default_column_validator, default_normalizer, default_validator,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tests::atoll::Atoll;
use tests::client::{Client, Reply};
use tests::oracle;
use tests::process::TemporaryDirectory;
use tests::script::{Protocol, files, name_of, sample};

/// How many failures of a run are shown.
const SHOWN: usize = 20;

/// The conditions that hold for PostgreSQL, and so for Atoll.
const LABEL: &str = "postgresql";

/// What a statement failed with.
#[derive(Debug)]
struct Failure {
    sqlstate: String,
    message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// A session, as the crate sees it.
struct Session {
    client: Client,
    protocol: Protocol,
    /// What the record that runs wants its columns to be.
    wanted: Arc<Mutex<Vec<DefaultColumnType>>>,
    /// Whether numbers and truth values are shown as SQLite's files want them.
    as_sqlite: bool,
}

impl DB for Session {
    type Error = Failure;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        let reply = match self.protocol {
            Protocol::Simple => self.client.query(sql),
            Protocol::Extended => self.client.query_extended(sql.trim_end_matches(';'), &[]),
        };
        if let Some(error) = reply.error {
            let field = |letter| error.field(letter).to_owned();
            return Err(Failure { sqlstate: field(b'C'), message: field(b'M') });
        }
        if reply.columns.is_empty() {
            let count = reply.tag.as_deref().and_then(|tag| tag.rsplit(' ').next()?.parse().ok());
            return Ok(DBOutput::StatementComplete(count.unwrap_or(0)));
        }
        Ok(self.rows(reply))
    }

    fn engine_name(&self) -> &str {
        LABEL
    }

    fn error_sql_state(failure: &Failure) -> Option<String> {
        Some(failure.sqlstate.clone())
    }
}

impl Session {
    fn rows(&self, reply: Reply) -> DBOutput<DefaultColumnType> {
        let types = reply.columns.iter().map(|column| column_type(column.type_oid)).collect();
        let wanted = self.wanted.lock().expect("nobody panics with it");
        let show = |(at, value): (usize, Option<String>)| match value {
            None => "NULL".to_owned(),
            Some(text) if text.is_empty() => "(empty)".to_owned(),
            Some(text) if self.as_sqlite => as_sqlite(text, wanted.get(at)),
            Some(text) => text,
        };
        let rows =
            reply.rows.into_iter().map(|row| row.into_iter().enumerate().map(show).collect());
        DBOutput::Rows { types, rows: rows.collect() }
    }
}

/// A type's letter in the format.
fn column_type(oid: u32) -> DefaultColumnType {
    match oid {
        20 | 21 | 23 => DefaultColumnType::Integer,
        700 | 701 | 1700 => DefaultColumnType::FloatingPoint,
        _ => DefaultColumnType::Text,
    }
}

/// A value as the original runner prints it for a column of this letter.
fn as_sqlite(text: String, wanted: Option<&DefaultColumnType>) -> String {
    match (wanted, text.as_str(), text.parse::<f64>()) {
        (Some(DefaultColumnType::Integer), "t", _) => "1".to_owned(),
        (Some(DefaultColumnType::Integer), "f", _) => "0".to_owned(),
        (Some(DefaultColumnType::Integer), _, Ok(number)) if text.contains('.') => {
            format!("{}", number.trunc() as i64)
        }
        // What is not a number is none.
        (Some(DefaultColumnType::Integer), _, Err(_)) => "0".to_owned(),
        (Some(DefaultColumnType::FloatingPoint), _, Ok(number)) => format!("{number:.3}"),
        _ => text,
    }
}

/// SQLite's text with the lines it had, without comments behind conditions, up to the `halt` that holds.
fn prepared(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < lines.len() {
        let mut words = lines[at].split_whitespace();
        match (words.next(), words.next()) {
            (Some(kind @ ("onlyif" | "skipif")), Some(label)) => {
                if lines.get(at + 1).is_some_and(|next| next.trim() == "halt") {
                    if (kind == "onlyif") == (label == LABEL) {
                        break;
                    }
                    out.push_str("\n\n");
                    at += 2;
                    continue;
                }
                out.push_str(&format!("{kind} {label}\n"));
            }
            _ => {
                out.push_str(lines[at]);
                out.push('\n');
            }
        }
        at += 1;
    }
    out
}

/// One file to run.
struct Script {
    name: String,
    text: String,
    /// The lines of the records that are left out.
    left_out: BTreeSet<u32>,
    as_sqlite: bool,
}

/// What became of records.
#[derive(Default)]
struct Count {
    passed: usize,
    /// Left out by a condition of the file.
    skipped: usize,
    /// Left out because PostgreSQL fails them.
    left_out: usize,
    failures: Vec<String>,
}

type Wanted = Arc<Mutex<Vec<DefaultColumnType>>>;

/// A runner whose sessions are of the given database.
fn runner(
    port: u16,
    database: &str,
    protocol: Protocol,
    as_sqlite: bool,
) -> (Runner<Session, impl sqllogictest::MakeConnection<Conn = Session>>, Wanted) {
    let wanted = Wanted::default();
    let (shared, database) = (Arc::clone(&wanted), database.to_owned());
    let connect = move || {
        let client = Client::connect(port, "postgres", &database);
        let session = Session { client, protocol, wanted: Arc::clone(&shared), as_sqlite };
        std::future::ready(Ok(session))
    };
    (Runner::new(connect), wanted)
}

/// Runs a script in a database of its own.
fn run(port: u16, database: &str, protocol: Protocol, script: &Script) -> Count {
    let mut admin = Client::connect(port, "postgres", "postgres");
    admin.run(&format!("CREATE DATABASE {database}"));
    let (mut runner, wanted) = runner(port, database, protocol, script.as_sqlite);
    let front =
        if script.as_sqlite { "control resultmode valuewise\nhash-threshold 8\n" } else { "" };
    let head = sqllogictest::parse(front).expect("a line of the format");
    let records = sqllogictest::parse_with_name(&script.text, script.name.as_str())
        .unwrap_or_else(|error| panic!("{}: {error}", script.name));
    let mut count = Count::default();
    for record in head.into_iter().chain(records) {
        let (line, conditions) = match &record {
            Record::Statement { loc, conditions, .. } => (loc.line(), conditions),
            Record::Query { loc, conditions, expected, .. } => {
                if let QueryExpect::Results { types, .. } = expected {
                    wanted.lock().expect("nobody panics with it").clone_from(types);
                }
                (loc.line(), conditions)
            }
            Record::Halt { .. } => break,
            _ => {
                runner.run(record).unwrap_or_else(|error| panic!("{}: {error}", script.name));
                continue;
            }
        };
        if script.left_out.contains(&line) {
            count.left_out += 1;
            continue;
        }
        let skipped = conditions.iter().any(|condition| match condition {
            Condition::OnlyIf { label } => label != LABEL,
            Condition::SkipIf { label } => label == LABEL,
        });
        match runner.run(record) {
            Ok(RecordOutput::Nothing) if skipped => count.skipped += 1,
            Ok(_) => count.passed += 1,
            Err(error) => count.failures.push(error.to_string()),
        }
    }
    drop(runner);
    admin.run(&format!("DROP DATABASE {database} WITH (FORCE)"));
    count
}

/// Runs scripts, as many at a time as there are processors, and tells what became of their records.
fn run_all(who: &str, port: u16, protocol: Protocol, scripts: &[Script]) -> Count {
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Count::default()));
    let work = || {
        while let Some(script) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
            let database: String = script
                .name
                .chars()
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
                .collect();
            let count = run(port, &format!("slt_{database}"), protocol, script);
            println!(
                "{who}, {protocol:?}, {}: {} passed, {} failed, {} skipped by a condition, {} left out",
                script.name,
                count.passed,
                count.failures.len(),
                count.skipped,
                count.left_out
            );
            let mut total = total.lock().expect("nobody panics with it");
            total.passed += count.passed;
            total.skipped += count.skipped;
            total.left_out += count.left_out;
            total.failures.extend(count.failures);
        }
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from).min(scripts.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    total.into_inner().expect("nobody panics with it")
}

/// The own suite.
fn own() -> Vec<Script> {
    let script = |path: PathBuf| Script {
        name: name_of(&path).to_owned(),
        text: std::fs::read_to_string(&path).expect("scripts are readable"),
        left_out: BTreeSet::new(),
        as_sqlite: false,
    };
    files("slt", "slt").into_iter().map(script).collect()
}

/// The part of SQLite's corpus, unpacked.
fn sqlites() -> Vec<Script> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("slt");
    let directory = TemporaryDirectory::new("slt");
    let status = Command::new("tar")
        .arg("xJf")
        .arg(home.join("sqlite-subset.tar.xz"))
        .arg("-C")
        .arg(directory.path())
        .status()
        .expect("tar is a program");
    assert!(status.success(), "tar and xz unpack the archive");
    let list = std::fs::read_to_string(home.join("postgres15-fails.json"))
        .expect("the list of records is readable");
    let mut left_out = left_out(&list);
    let mut scripts = Vec::new();
    let mut directories = vec![directory.path().to_path_buf()];
    while let Some(next) = directories.pop() {
        for entry in std::fs::read_dir(next).expect("the archive's directories are readable") {
            let path = entry.expect("a directory can be read").path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let inside = path.strip_prefix(directory.path()).expect("it was found there");
            let name = inside.to_str().expect("a plain name").to_owned();
            let text = std::fs::read_to_string(&path).expect("scripts are readable");
            let left_out = left_out.remove(&name).unwrap_or_default();
            scripts.push(Script { name, text: prepared(&text), left_out, as_sqlite: true });
        }
    }
    assert!(left_out.is_empty(), "the archive lacks {:?}", left_out.keys());
    // The longest first, so that none is left for the end.
    scripts.sort_by_key(|script| std::cmp::Reverse(script.text.len()));
    sample(&mut scripts);
    scripts
}

/// The lines of an object of arrays of numbers, by its keys.
fn left_out(json: &str) -> BTreeMap<String, BTreeSet<u32>> {
    let mut all: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    let mut name = String::new();
    for (at, part) in json.split('"').enumerate() {
        if at % 2 == 1 {
            part.clone_into(&mut name);
            continue;
        }
        let numbers = part.split(|c: char| !c.is_ascii_digit());
        let lines = numbers.filter_map(|word| word.parse::<u32>().ok());
        all.entry(name.clone()).or_default().extend(lines);
    }
    all.retain(|_, lines| !lines.is_empty());
    all
}

/// Prints a run's result as a test program does, so that what counts tests counts records.
fn report(what: &str, count: &Count) {
    for failure in count.failures.iter().take(SHOWN) {
        println!("--- {what}\n{failure}");
    }
    if count.failures.len() > SHOWN {
        println!("--- {what}: {} more", count.failures.len() - SHOWN);
    }
    println!(
        "{what}: {} records skipped by conditions, {} left out as PostgreSQL's own failures",
        count.skipped, count.left_out
    );
    let word = if count.failures.is_empty() { "ok" } else { "FAILED" };
    println!(
        "test result: {word}. {} passed; {} failed; 0 ignored; {what}",
        count.passed,
        count.failures.len()
    );
}

/// Has PostgreSQL write the own suite's results.
fn update(parts: &[String]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
    let mut admin = Client::connect(oracle::shared(), "postgres", "postgres");
    for path in files("slt", "slt") {
        let name = name_of(&path);
        if !chosen(name, parts) {
            continue;
        }
        admin.run("CREATE DATABASE updated");
        let (mut runner, _) = runner(oracle::shared(), "updated", Protocol::Simple, false);
        runtime
            .block_on(runner.update_test_file(
                &path,
                " ",
                default_validator,
                default_normalizer,
                default_column_validator,
            ))
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        drop(runner);
        admin.run("DROP DATABASE updated WITH (FORCE)");
    }
}

fn chosen(name: &str, parts: &[String]) -> bool {
    parts.is_empty() || parts.iter().any(|part| name.contains(part.as_str()))
}

fn main() -> ExitCode {
    let parts: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        update(&parts);
        return ExitCode::SUCCESS;
    }
    let (mut own, mut sqlites) = (own(), sqlites());
    own.retain(|script| chosen(&script.name, &parts));
    sqlites.retain(|script| chosen(&script.name, &parts));
    let atoll = Atoll::start(&[]);
    let mut failed = false;
    if !own.is_empty() {
        let wanted = run_all("PostgreSQL", oracle::shared(), Protocol::Simple, &own);
        if !wanted.failures.is_empty() {
            report("slt on PostgreSQL", &wanted);
            failed = true;
        }
    }
    let runs = [
        ("slt", Protocol::Simple, &own),
        ("slt, extended protocol", Protocol::Extended, &own),
        ("SQLite's slt", Protocol::Simple, &sqlites),
    ];
    for (what, protocol, scripts) in runs {
        if !scripts.is_empty() {
            let count = run_all("Atoll", atoll.port(), protocol, scripts);
            report(what, &count);
            failed |= !count.failures.is_empty();
        }
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
