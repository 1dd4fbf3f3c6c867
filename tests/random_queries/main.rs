//! Random queries and changes by seed: PostgreSQL and Atoll give the same rows, types, errors and texts of views.
//!
//! A seed makes a few small tables, views of random queries, queries and changes. `ATOLL_SEEDS` is a range of seeds in
//! place of those that are kept; a failure names the seed and the statement, the shortest first.
//!
//! What a statement gives depends on no order of evaluation: expressions are total but for values too large for their
//! column, LIMIT stands behind an order by all columns, aggregates that care are told their order.

mod changes;
mod expressions;
mod queries;
mod world;

use queries::Maker;
use sql::settings::rule::RULES;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::chance::Chance;
use tests::client::{Client, Reply};
use tests::golden::difference;
use tests::oracle;
use world::{Table, World};

/// Seeds that every run tries.
const KEPT: Range<u64> = 1..13;
/// Views, queries and changes of a seed.
const OF_A_SEED: [usize; 3] = [3, 24, 8];
/// How deep expressions and queries nest.
const DEPTH: usize = 3;
/// Differences that a failure shows.
const SHOWN_MAX: usize = 40;
/// OIDs from here on are given as objects are made.
const FIRST_OF_USERS: u32 = 16384;

/// The types of a table's columns with their modifiers, which a row's description has as they are planned.
const TYPES_KEPT: &str = "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute \
    WHERE attrelid = 'kept'::regclass AND attnum > 0 ORDER BY attnum";

/// PostgreSQL and Atoll, with the same tables.
struct Pair {
    clients: [Client; 2],
    seed: u64,
    differences: Vec<(String, String)>,
    compared: usize,
}

/// What is compared of an answer.
#[derive(Debug, PartialEq)]
struct Answer {
    columns: Vec<(String, u32)>,
    rows: Vec<Vec<Option<String>>>,
    tag: Option<String>,
    /// Of an error its SQLSTATE, message and place; of one of a value its class.
    error: Option<(String, String, String)>,
}

impl Answer {
    fn of(reply: Reply, ordered: bool) -> Answer {
        let known = |oid| if oid < FIRST_OF_USERS { oid } else { 0 };
        let columns =
            reply.columns.into_iter().map(|column| (column.name, known(column.type_oid))).collect();
        let mut rows = reply.rows;
        if !ordered {
            rows.sort();
        }
        let error = reply.error.map(|error| {
            let field = |letter| error.field(letter).to_owned();
            match error.field(b'C') {
                // Which value is found wrong first depends on the plan.
                code if code.starts_with("22") || code.starts_with("23") => {
                    ("22 or 23".to_owned(), String::new(), String::new())
                }
                code => (code.to_owned(), field(b'M'), field(b'P')),
            }
        });
        // Rows before an error are shown or not as buffers fill.
        match error {
            Some(error) => {
                Answer { columns: Vec::new(), rows: Vec::new(), tag: None, error: Some(error) }
            }
            None => Answer { columns, rows, tag: reply.tag, error },
        }
    }
}

impl Pair {
    /// Runs a statement that both must take.
    fn run(&mut self, sql: &str) -> bool {
        let replies = self.clients.each_mut().map(|client| client.query(sql));
        replies.iter().all(|reply| reply.error.is_none()) || {
            self.compare(sql, false, replies);
            false
        }
    }

    fn ask(&mut self, sql: &str, ordered: bool) {
        let started = Instant::now();
        let wanted = self.clients[0].query(sql);
        if wanted.sqlstate() == "57014" {
            return;
        }
        let theirs = started.elapsed();
        let actual = self.clients[1].query(sql);
        let ours = started.elapsed() - theirs;
        if ours > theirs * 20 + Duration::from_millis(500) {
            println!("{} s, PostgreSQL {} s: {sql}", ours.as_secs_f32(), theirs.as_secs_f32());
        }
        self.compare(sql, ordered, [wanted, actual]);
    }

    fn compare(&mut self, sql: &str, ordered: bool, replies: [Reply; 2]) {
        self.compared += 1;
        let [wanted, actual] = replies.map(|reply| Answer::of(reply, ordered));
        if wanted != actual {
            let told = format!(
                "seed {}: {sql}\n{}",
                self.seed,
                difference(&shown(&wanted), &shown(&actual))
            );
            self.differences.push((sql.to_owned(), told));
        }
    }

    /// Everything of one seed.
    fn seed(&mut self, seed: u64) {
        self.seed = seed;
        let mut chance = Chance(seed.wrapping_mul(0x5851_F42D_4C95_7F2D));
        let mut world = World::new(&mut chance);
        self.run(&format!("CREATE SCHEMA q{seed}"));
        self.run(&format!("SET search_path = q{seed}"));
        for statement in &world.statements {
            self.run(statement);
        }
        let [views, queries, changes] = OF_A_SEED;
        for number in 0..views {
            let mut maker = Maker::new(Chance(chance.next()), &world.tables);
            let types = maker.types(4);
            let query = maker.query(&types, &[], DEPTH - 1);
            let name = format!("v{number}");
            let form = ["VIEW", "VIEW", "MATERIALIZED VIEW"][chance.below(3)];
            if self.run(&format!("CREATE {form} {name} AS {query}")) {
                self.ask(&format!("SELECT pg_get_viewdef('{name}'::regclass), pg_get_viewdef('{name}'::regclass, true)"), true);
                self.ask(&format!("SELECT * FROM {name}"), false);
                let columns = types
                    .iter()
                    .enumerate()
                    .map(|(at, ty)| (format!("c{}", at + 1), *ty))
                    .collect();
                world.tables.push(Table { name, columns });
            }
        }
        for number in 0..queries + changes {
            let mut maker = Maker::new(Chance(chance.next()), &world.tables);
            let depth = maker.below(DEPTH) + 1;
            if number % (queries / changes + 1) == 0 {
                let (change, table) = maker.change(depth - 1);
                self.ask(&change, false);
                self.ask(&format!("SELECT * FROM {table}"), false);
                continue;
            }
            maker.mistakes = usize::from(number % 6 == 1);
            let types = maker.types(4);
            let query = maker.query(&types, &[], depth);
            let places: Vec<String> = (1..=types.len()).map(|at| at.to_string()).collect();
            let places = places.join(", ");
            match chance.below(8) {
                0 => self.ask(&format!("SELECT * FROM ({query}) whole ORDER BY {places}"), true),
                1 => {
                    if self.run(&format!("CREATE TEMP TABLE kept AS {query}")) {
                        self.ask("SELECT * FROM kept", false);
                        self.ask(TYPES_KEPT, true);
                    }
                    for client in &mut self.clients {
                        client.run("DROP TABLE IF EXISTS kept");
                    }
                }
                2 => {
                    self.run("BEGIN");
                    self.run(&format!("DECLARE c SCROLL CURSOR FOR SELECT * FROM ({query}) whole ORDER BY {places}"));
                    for fetch in [
                        "FETCH 2 FROM c",
                        "MOVE FORWARD 1 FROM c",
                        "FETCH ALL FROM c",
                        "FETCH BACKWARD 3 FROM c",
                    ] {
                        self.ask(fetch, true);
                    }
                    self.run("ROLLBACK");
                }
                _ => self.ask(&query, false),
            }
        }
        self.run("RESET ALL");
        self.run(&format!("DROP SCHEMA q{seed} CASCADE"));
    }
}

/// An answer as lines.
fn shown(answer: &Answer) -> String {
    if let Some(error) = &answer.error {
        return format!("{error:?}");
    }
    let mut text = format!("{:?} {:?}", answer.tag, answer.columns);
    for row in &answer.rows {
        let values: Vec<&str> =
            row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
        write!(text, "\n{}", values.join(" | ")).expect("a string grows");
    }
    text
}

/// The seeds of this run.
fn seeds() -> Vec<u64> {
    if let Ok(range) = std::env::var("ATOLL_SEEDS") {
        let (first, last) = range.split_once("..").expect("ATOLL_SEEDS=first..last");
        return (first.parse().expect("a seed")..last.parse().expect("a seed")).collect();
    }
    KEPT.collect()
}

/// The schemas of a seed have the same names whoever makes them, and PostgreSQL is one server for all tests.
static IN_TURN: Mutex<()> = Mutex::new(());

/// Compares everything of some seeds, Atoll's session prepared for each by `prepare`.
fn compare(seeds: &[u64], prepare: impl Fn(&mut Client, u64)) {
    let _turn = IN_TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let atoll = Atoll::start(&[]);
    let ports = [oracle::shared(), atoll.port()];
    let clients = ports.map(|port| Client::connect(port, "postgres", "postgres"));
    let mut pair = Pair { clients, seed: 0, differences: Vec::new(), compared: 0 };
    // What takes PostgreSQL long says nothing.
    pair.clients[0].run("SET statement_timeout = '2s'");
    pair.clients[1].run("SET statement_timeout = '60s'");
    for &seed in seeds {
        prepare(&mut pair.clients[1], seed);
        pair.seed(seed);
    }
    println!("{} answers compared", pair.compared);
    pair.differences.sort_by_key(|(sql, _)| sql.len());
    let told: Vec<&str> =
        pair.differences.iter().take(SHOWN_MAX).map(|(_, told)| told.as_str()).collect();
    assert!(
        told.is_empty(),
        "ATOLL_SEEDS={}..{}: {} differences\n{}",
        seeds[0],
        seeds[seeds.len() - 1] + 1,
        pair.differences.len(),
        told.join("\n")
    );
}

#[test]
fn random_queries_give_what_they_give_in_postgresql() {
    compare(&seeds(), |_, _| {});
}

/// Every third seed is planned without any rule, the others without a half of them that chance picks.
#[test]
fn random_queries_give_the_same_without_rules_of_the_planner() {
    compare(&seeds(), |client, seed| {
        let mut chance = Chance(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        for rule in &RULES {
            if seed % 3 == 0 || chance.below(2) == 0 {
                client.run(&format!("SET {} = off", rule.setting));
            }
        }
    });
}
