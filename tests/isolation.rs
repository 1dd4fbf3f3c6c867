//! Isolation: schedules of several sessions, one step at a time, and what each step saw, waited for or failed with.
//!
//! `isolation/NAME.spec` names the phenomenon in its first comment, then lists the schedule: `setup: SQL;` before, then
//! `SESSION: SQL;` steps. A file that says `$LEVEL` is run at each level of [`LEVELS`]. A step that has no answer, and of which
//! the server says at several looks that it is not running, *waits*; its answer is shown behind the step that let it go on, what it
//! was told meanwhile where it waits.
//! `NAME.out` is PostgreSQL's. Schedules run beside one another but for those with a line `-- Alone.`: a transaction that waits
//! for a safe snapshot waits for the serializable ones of all databases, and whether a lock of PostgreSQL's is on its fast path
//! depends on what others lock.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::{assert_golden, difference};
use tests::oracle;
use tests::remembered::remembered;
use tests::script::{files, name_of, write_reply, write_report};
use tests::waiting::{LOOK, RUNNING_PATIENCE, answers};

/// How many schedules run at once.
const AT_ONCE: usize = 12;
/// The line of a schedule beside which no other may run.
const ALONE: &str = "-- Alone.";
/// PostgreSQL's levels.
const LEVELS: [&str; 3] = ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"];

struct Session {
    name: String,
    client: Client,
    waits: bool,
}

impl Session {
    /// Whether the server has answered before patience ends.
    fn answers(&mut self, observer: &mut Client) -> bool {
        answers(&mut self.client, observer, LOOK)
    }
}

fn step_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    if line.is_empty() || line.starts_with("--") {
        return None;
    }
    line.split_once(": ").or_else(|| panic!("a step is `SESSION: SQL;`, not `{line}`"))
}

/// A text with 9 for each number.
fn without_numbers(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars() {
        match letter.is_ascii_digit() {
            true if shown.ends_with('9') => {}
            true => shown.push('9'),
            false => shown.push(letter),
        }
    }
    shown
}

/// Shows a session's answers, without what numbers processes, transactions and tuples.
fn show(out: &mut String, session: &mut Session) {
    for mut reply in session.client.replies().expect("the connection stands") {
        if let Some(error) = &mut reply.error {
            let (deadlock, conflict) = (error.field(b'C') == "40P01", error.field(b'C') == "40001");
            error.0.retain(|(letter, _)| !(*letter == b'W' || *letter == b'D' && deadlock));
            for (_, text) in error.0.iter_mut().filter(|(letter, _)| *letter == b'D' && conflict) {
                *text = without_numbers(text);
            }
        }
        write_reply(out, &reply);
    }
}

/// Shows the answers of waiting sessions that have come.
fn settle(out: &mut String, sessions: &mut [Session], observer: &mut Client) {
    loop {
        let mut progressed = false;
        for session in sessions.iter_mut().filter(|session| session.waits) {
            if session.answers(observer) {
                session.waits = false;
                progressed = true;
                writeln!(out, "{} goes on", session.name).expect("a string grows");
                show(out, session);
            }
        }
        if !progressed {
            return;
        }
    }
}

/// As [`settle`], until none of the sessions that `matter` waits: what nobody blocks any more may be slow to say so.
fn settle_late(
    out: &mut String,
    sessions: &mut [Session],
    observer: &mut Client,
    matters: &dyn Fn(&Session) -> bool,
) {
    let until = Instant::now() + RUNNING_PATIENCE;
    let waits = |sessions: &[Session]| sessions.iter().any(|each| each.waits && matters(each));
    while waits(sessions) && Instant::now() < until {
        settle(out, sessions, observer);
    }
}

fn run(port: u16, database: &str, text: &str, level: &str) -> String {
    let mut admin = Client::connect(port, "postgres", "postgres");
    admin.run(&format!("CREATE DATABASE {database}"));
    let mut out = String::new();
    let mut sessions: Vec<Session> = Vec::new();
    for (who, sql) in text.lines().filter_map(step_of) {
        let sql = sql.replace("$LEVEL", level);
        let at = sessions.iter().position(|session| session.name == who).unwrap_or_else(|| {
            let mut client = Client::connect(port, "postgres", database);
            client.run("SET deadlock_timeout = '100ms'");
            sessions.push(Session { name: who.to_owned(), client, waits: false });
            sessions.len() - 1
        });
        settle_late(&mut out, &mut sessions, &mut admin, &|session| session.name == who);
        writeln!(out, "{who}: {sql}").expect("a string grows");
        assert!(!sessions[at].waits, "{who} still waits and cannot take a step:\n{out}");
        sessions[at].client.start(&sql);
        if sessions[at].answers(&mut admin) {
            show(&mut out, &mut sessions[at]);
        } else {
            sessions[at].waits = true;
            for notice in sessions[at].client.take_notices() {
                write_report(&mut out, &notice);
            }
            out.push_str("  waits\n");
        }
        settle(&mut out, &mut sessions, &mut admin);
    }
    settle_late(&mut out, &mut sessions, &mut admin, &|_| true);
    assert!(
        sessions.iter().all(|session| !session.waits),
        "a schedule ends with nobody waiting:\n{out}"
    );
    drop(sessions);
    admin.run(&format!("DROP DATABASE {database} WITH (FORCE)"));
    out
}

fn run_levels(port: u16, database: &str, text: &str) -> String {
    if !text.contains("$LEVEL") {
        return run(port, database, text, "");
    }
    LEVELS.iter().fold(String::new(), |all, level| {
        all + &format!("==== {level}\n") + &run(port, database, text, level) + "\n"
    })
}

/// Runs every schedule by `run_file`, several at once because most of their time is patience.
fn run_all(
    run_file: impl Fn((PathBuf, String)) -> (PathBuf, String) + Sync,
) -> Vec<(PathBuf, String)> {
    let scripts = files("isolation", "spec").into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).expect("scripts are readable");
        (path, text)
    });
    let (alone, beside): (Vec<_>, Vec<_>) =
        scripts.partition(|(_, text)| text.lines().any(|line| line == ALONE));
    let left = Mutex::new(beside.into_iter());
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
    let mut all: Vec<_> = std::thread::scope(|scope| {
        let lane = || std::iter::from_fn(next).map(&run_file).collect::<Vec<_>>();
        let threads: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(lane)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("schedules end")).collect()
    });
    all.extend(alone.into_iter().map(&run_file));
    all
}

#[test]
fn files_hold_what_postgresql_does() {
    let version = Client::connect(oracle::shared(), "postgres", "postgres")
        .query("SELECT version()")
        .value()
        .to_owned();
    let all = run_all(|(path, text)| {
        let database = format!("i_{}", name_of(&path));
        let held = std::fs::read_to_string(path.with_extension("out")).unwrap_or_default();
        let asked = [&*version, include_str!("isolation.rs"), &*text];
        let run = || run_levels(oracle::shared(), &database, &text);
        let found = remembered(&database, &asked, &held, run);
        (path, found)
    });
    for (path, found) in all {
        assert_golden(&path.with_extension("out"), "PostgreSQL", &found, true);
    }
}

#[test]
fn schedules_go_as_in_postgresql() {
    let atoll = Atoll::start(&[]);
    let mut failures = Vec::new();
    let all = run_all(|(path, text)| {
        let found = run_levels(atoll.port(), &format!("i_{}", name_of(&path)), &text);
        (path, found)
    });
    for (path, found) in all {
        let theirs =
            std::fs::read_to_string(path.with_extension("out")).expect("PostgreSQL was asked");
        if found != theirs {
            failures.push(format!("{}:\n{}", name_of(&path), difference(&theirs, &found)));
        }
    }
    assert!(failures.is_empty(), "{} schedules differ:\n{}", failures.len(), failures.join("\n"));
}

/// The code of a statement, while another session has begun to make a table of the type.
fn beside_a_type_in_use(port: u16, statement: &str) -> String {
    let [mut holder, mut other] = [(); 2].map(|()| Client::connect(port, "postgres", "postgres"));
    holder.run("CREATE TYPE in_use AS ENUM ('a')");
    holder.run("BEGIN; CREATE TABLE of_type (a in_use)");
    other.run("SET lock_timeout = '300ms'");
    let reply = other.query(statement);
    holder.run("ROLLBACK; DROP TYPE IF EXISTS in_use, renamed");
    reply.sqlstate().to_owned()
}

#[test]
fn who_renames_a_type_waits_for_those_who_make_something_of_it() {
    let atoll = Atoll::start(&[]);
    for statement in
        ["ALTER TYPE in_use RENAME TO renamed", "ALTER TYPE in_use RENAME VALUE 'a' TO 'b'"]
    {
        assert_eq!(beside_a_type_in_use(oracle::shared(), statement), "");
        assert_eq!(beside_a_type_in_use(atoll.port(), statement), "55P03", "{statement}");
    }
}
