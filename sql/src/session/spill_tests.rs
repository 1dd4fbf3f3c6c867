//! What goes to temporary files: it comes back as it was, memory stays bounded, and the files are gone when their use has
//! ended, however it ends.

use super::Session;
use super::tests::{say, session};
use crate::engine::{Engine, EngineOptions};
use std::sync::Arc;
use txn::simulation::FaultSchedule;
use txn::{Environment, FaultyDevice, SystemClock, Threads};

/// An engine over a disk in memory, and a session of it with the smallest `work_mem` there is.
struct Bench {
    engine: Arc<Engine>,
    device: Arc<FaultyDevice>,
    session: Session,
}

impl Bench {
    fn new() -> Bench {
        let device = Arc::new(FaultyDevice::new(1));
        let env = Environment {
            device: Arc::clone(&device) as Arc<dyn txn::Device>,
            clock: Arc::new(SystemClock::new()),
            scheduler: Arc::new(Threads::new(2)),
            seed: 1,
        };
        let options = EngineOptions { version: "0.1.0".into(), ..EngineOptions::default() };
        Engine::create(&env, &options, "postgres", None).unwrap();
        let engine = Engine::open(env, options).unwrap();
        let mut session = session(&engine);
        assert_eq!(say(&mut session, "set work_mem = '64kB'"), ["SET"]);
        Bench { engine, device, session }
    }

    fn say(&mut self, text: &str) -> Vec<String> {
        say(&mut self.session, text)
    }

    /// What is in scratch space, in bytes.
    fn scratch(&self) -> u64 {
        self.engine.manager().data().scratch().bytes()
    }

    /// Runs a query that has to spill, and says what it answers: its files are gone behind it.
    fn spills(&mut self, text: &str) -> Vec<String> {
        assert_eq!(self.say("set temp_file_limit = 0"), ["SET"]);
        let refused = self.say(text);
        let limit = "53400 temporary file size exceeds temp_file_limit (0kB)";
        assert_eq!(refused.last().map(String::as_str), Some(limit), "{text}");
        assert_eq!(self.scratch(), 0, "{text}");
        assert_eq!(self.say("reset temp_file_limit"), ["RESET"]);
        let answer = self.say(text);
        assert_eq!((self.scratch(), self.session.temp_used.bytes()), (0, 0), "{text}");
        answer
    }
}

const MANY: &str =
    "(select n, (n * 7919 % 20011)::int as m from generate_series(1, 20000) as n) as r";

/// Everything that can spill, as a query that does.
const SPILLING: &[&str] = &[
    "select m from {many} order by m",
    // A window of one partition without order, of one with it, and of two.
    "select m + 0 * count(*) over () as m from {many}",
    "select m + 0 * sum(n) over (order by m) as m from {many}",
    "select m + 0 * rank() over (partition by n % 2 order by m) as m from {many}",
    // A WITH query.
    "with w as materialized (select m from {many}) select m from w",
];

fn spilling() -> Vec<String> {
    SPILLING.iter().map(|text| text.replace("{many}", MANY)).collect()
}

#[test]
fn a_sort_that_spills_is_stable() {
    let mut bench = Bench::new();
    // Several passes of merging: each run holds some thousand rows, and six are merged at once.
    let wanted: Vec<String> = (0..10)
        .flat_map(|k| (1..=20000).filter(move |n| n % 10 == k).map(move |n| format!("{k}|{n}")))
        .chain(["SELECT 20000".to_owned()])
        .collect();
    assert!(
        bench.spills("select n % 10, n from generate_series(1, 20000) as n order by 1") == wanted
    );
    let padded = "select n % 10, n from (select n, repeat('x', 300) as t from generate_series(1, 20000) as n \
                  offset 0) as s order by 1, t";
    assert!(bench.spills(padded) == wanted);
}

#[test]
fn what_aggregates_keep_and_recursion_spill() {
    let mut bench = Bench::new();
    let text = "with recursive w(n) as (select 1 union all select n + 1 from w where n < 20000) \
                select count(*), sum(n) from w";
    assert_eq!(bench.spills(text), ["20000|200010000", "SELECT 1"]);
    let text = "select count(distinct m), count(distinct n % 10), min(n), \
                (array_agg(m order by m desc))[1:3] from {many}";
    let answer = bench.spills(&text.replace("{many}", MANY));
    assert_eq!(answer, ["20000|10|1|{20010,20009,20008}", "SELECT 1"]);
}

#[test]
fn rows_of_several_runs_that_cannot_be_compared_are_refused() {
    let mut bench = Bench::new();
    let text = "select r from (select case n when 20000 then row(1, 'x'::text) else row(n, 1) end as r \
                from generate_series(1, 20000) as n) as s order by r";
    let refused =
        "42804 cannot compare dissimilar column types integer and text at record column 2";
    assert_eq!(bench.say(text).last().map(String::as_str), Some(refused));
    assert_eq!(bench.scratch(), 0);
}

#[test]
fn files_are_gone_behind_errors_and_cursors() {
    let mut bench = Bench::new();
    for text in spilling() {
        let rows = bench.spills(&text);
        assert_eq!(rows.len(), 20001, "{text}");
        let failing = format!("select 1 / (m - 10000) from ({text}) as s");
        let failed = bench.say(&failing);
        assert_eq!(failed.last().map(String::as_str), Some("22012 division by zero"), "{text}");
        assert_eq!(bench.scratch(), 0, "{text}");
        bench.say("begin");
        bench.say(&format!("declare c cursor for {text}"));
        // A WITH query is computed as far as its rows are asked for.
        assert_eq!(bench.say("fetch 19000 from c").len(), 19001, "{text}");
        assert!(bench.scratch() > 0, "{text}");
        bench.say("close c");
        assert_eq!(bench.scratch(), 0, "{text}");
        bench.say(&format!("declare c cursor for {text}"));
        bench.say("fetch 19000 from c");
        assert!(bench.scratch() > 0, "{text}");
        bench.say("rollback");
        assert_eq!((bench.scratch(), bench.session.temp_used.bytes()), (0, 0), "{text}");
    }
}

#[test]
fn a_full_disk_ends_the_statement_alone() {
    let mut bench = Bench::new();
    for text in spilling() {
        let schedule = FaultSchedule {
            capacity_bytes: Some(bench.device.bytes() + (100 << 10)),
            ..Default::default()
        };
        bench.device.set_schedule(schedule);
        let refused = bench.say(&text);
        assert!(
            refused.last().is_some_and(|last| last.starts_with("53100")),
            "{text}: {refused:?}"
        );
        assert_eq!(bench.scratch(), 0, "{text}");
        assert_eq!(bench.say("select 1"), ["1", "SELECT 1"]);
        bench.device.set_schedule(FaultSchedule::default());
        assert_eq!(bench.say(&text).len(), 20001, "{text}");
    }
}
