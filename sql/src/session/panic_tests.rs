//! A panic anywhere in a statement ends the statement, or (between a commit's claim and its apply) the process: never the
//! session alone, and never half a commit.
//!
//! The fault comes from the environment, which the engine asks for the time and for its worker's slot in many places: the
//! n-th question panics, for every n until a statement asks fewer. Each n is a process of its own, for some must end it.

use super::tests::{say, session};
use crate::engine::{Engine, EngineOptions};
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use txn::{
    Clock, Environment, FaultyDevice, Joinable, Micros, Scheduler, SystemClock, Threads, WaitCell,
    WaitEvent,
};

/// Names the question that panics, in the child.
const PANIC_AT: &str = "ATOLL_TEST_PANIC_AT";
/// SIGABRT.
const ABORTED: i32 = 6;
/// What a child says whose statement has asked fewer questions.
const DONE: i32 = 99;

thread_local! {
    /// Questions of this thread until one panics; 0 is never.
    static COUNTDOWN: AtomicU32 = const { AtomicU32::new(0) };
}

fn asked() {
    COUNTDOWN.with(|left| {
        let before = left.load(Ordering::Relaxed);
        if before > 0 {
            left.store(before - 1, Ordering::Relaxed);
            assert!(before > 1, "the environment fails");
        }
    });
}

struct Failing(SystemClock, Threads);

impl Clock for Failing {
    fn now(&self) -> Micros {
        asked();
        self.0.now()
    }

    fn wall(&self) -> i64 {
        asked();
        self.0.wall()
    }
}

impl Scheduler for Failing {
    fn park(&self, event: WaitEvent, cell: &WaitCell, timeout: Option<Micros>) {
        self.1.park(event, cell, timeout);
    }

    fn unpark(&self, cell: &WaitCell) {
        self.1.unpark(cell);
    }

    fn spawn(&self, name: &'static str, body: Box<dyn FnOnce() + Send>) -> Box<dyn Joinable> {
        self.1.spawn(name, body)
    }

    fn slot(&self) -> usize {
        asked();
        self.1.slot()
    }

    fn slots(&self) -> usize {
        self.1.slots()
    }
}

fn engine() -> Arc<Engine> {
    let failing = Arc::new(Failing(SystemClock::new(), Threads::new(2)));
    let env = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::<Failing>::clone(&failing),
        scheduler: failing,
        seed: 1,
    };
    let mut options = EngineOptions { version: "0.1.0".into(), ..EngineOptions::default() };
    // The smallest pool that is legal: what a larger one would hide.
    options.txn.storage.pool_frames = 64;
    options.txn.storage.page_bytes = 4096;
    Engine::create(&env, &options, "postgres", None).unwrap();
    Engine::open(env, options).unwrap()
}

/// What the child does: `statement` with its `at`-th question panicking, then what must still work.
fn run(statement: &str, at: u32) -> i32 {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int primary key, b timestamptz)");
    say(&mut session, "insert into t values (1, null), (2, null)");
    say(&mut session, "begin; savepoint s; declare c cursor for select a from t order by a");
    say(&mut session, "commit");
    COUNTDOWN.with(|left| left.store(at, Ordering::Relaxed));
    let said = say(&mut session, statement);
    let left = COUNTDOWN.with(|left| left.swap(0, Ordering::Relaxed));
    if left > 0 {
        return DONE;
    }
    // What panics after the commit, or in what tidies up behind it, is no error of the statement.
    let failed = said.last().is_some_and(|last| last.starts_with("XX000 "));
    say(&mut session, "rollback");
    assert_eq!(say(&mut session, "select 1"), ["1", "SELECT 1"]);
    let count = say(&mut session, "select count(*) from t where a in (1, 2, 3, 4)");
    assert_eq!(count[0], if failed { "2" } else { "4" }, "{said:?}");
    let mut other = super::tests::session_of(&engine, 2);
    assert_eq!(say(&mut other, "select count(*) from t where a in (1, 2, 3, 4)"), count);
    assert_eq!(say(&mut other, "insert into t values (5, now())"), ["INSERT 0 1"]);
    assert_eq!(say(&mut session, "update t set b = now() where a = 5"), ["UPDATE 1"]);
    0
}

fn every_question(test: &str, statement: &str) -> (u32, u32) {
    if let Ok(at) = std::env::var(PANIC_AT) {
        std::process::exit(run(statement, at.parse().unwrap()));
    }
    let (mut failed, mut ended) = (0, 0);
    for at in 1..500 {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &format!("session::panic_tests::{test}"), "--nocapture"])
            .env(PANIC_AT, at.to_string())
            .output()
            .unwrap();
        match (child.status.code(), child.status.signal()) {
            (Some(DONE), _) => return (failed, ended),
            (Some(0), _) => failed += 1,
            (None, Some(ABORTED)) => ended += 1,
            _ => panic!("question {at}: {}", String::from_utf8_lossy(&child.stderr)),
        }
    }
    panic!("a statement asks fewer questions than that");
}

#[test]
fn a_panic_in_a_statement_ends_it_or_the_process() {
    let (failed, ended) = every_question(
        "a_panic_in_a_statement_ends_it_or_the_process",
        "insert into t select g, clock_timestamp() from generate_series(3, 4) g",
    );
    assert!(failed >= 4, "in bind, begin, rows and commit: {failed}");
    assert!(ended >= 1, "between claim and apply: {ended}");
}

#[test]
fn a_panic_in_a_block_fails_the_block() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int primary key)");
    say(&mut session, "begin; insert into t values (1); savepoint s");
    COUNTDOWN.with(|left| left.store(2, Ordering::Relaxed));
    // The first question is the statement's time, the second is asked by the function.
    let said = say(&mut session, "select clock_timestamp() from t");
    assert_eq!(said, ["XX000 internal error: the environment fails"]);
    assert_eq!(session.status(), super::TransactionStatus::Failed);
    assert!(say(&mut session, "select 1")[0].starts_with("25P02"));
    assert_eq!(say(&mut session, "rollback to s; commit"), ["ROLLBACK", "COMMIT"]);
    assert_eq!(say(&mut session, "select a from t"), ["1", "SELECT 1"]);
}
