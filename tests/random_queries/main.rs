//! Random queries and changes by seed: PostgreSQL and Atoll give the same rows, types, errors and texts of views.
//!
//! A seed makes a few small tables, views of random queries, queries and changes. `ATOLL_SEEDS` is a range of seeds in
//! place of those that are kept; a failure names the seed and the statement, the shortest first. With `ATOLL_SHOWN` every
//! statement is printed before it is asked.
//!
//! Programs in PL/pgSQL, and functions that queries call, are made in the same way, with what they tell and where.
//!
//! Some queries have parameters. They run with other values in turn, prepared and in the body of a function, where a
//! change comes between: plans for these values and for any, and machines that are used again, give the same rows.
//!
//! What a statement gives depends on no order of evaluation: expressions are total but for values too large for their
//! column, LIMIT stands behind an order by all columns, aggregates that care are told their order.

mod changes;
mod expressions;
mod programs;
mod queries;
mod world;

use programs::Function;
use queries::Maker;
use sql::settings::rule::RULES;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::chance::Chance;
use tests::client::{Client, Reply, Report};
use tests::golden::difference;
use tests::oracle;
use world::{Table, Type, World, literal};

/// Seeds that every run tries.
const KEPT: Range<u64> = 1..13;
/// Views, queries and changes of a seed.
const OF_A_SEED: [usize; 3] = [3, 24, 8];
/// Queries with parameters.
const WITH_PARAMETERS: usize = 6;
/// Functions that expressions may call, queries that call them, programs, triggers, and changes that fire these.
const PROGRAMS: [usize; 5] = [3, 4, 5, 2, 6];
/// How often one runs: from the sixth time on PostgreSQL may take a plan for any values.
const TIMES: usize = 7;
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
    shows: bool,
}

/// What is compared of an answer.
#[derive(Debug, PartialEq)]
struct Answer {
    columns: Vec<(String, u32)>,
    rows: Vec<Vec<Option<String>>>,
    tag: Option<String>,
    /// Of an error its SQLSTATE, message and place; of one of a value its class.
    error: Option<(String, String, String)>,
    /// What was told on the way, and where.
    notices: Vec<String>,
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
        let told = |report: &Report| format!("{} {}", report.field(b'M'), report.field(b'W'));
        let notices = reply.notices.iter().map(told).collect();
        // Rows before an error are shown or not as buffers fill.
        match error {
            Some(error) => {
                let (columns, rows) = (Vec::new(), Vec::new());
                Answer { columns, rows, tag: None, error: Some(error), notices }
            }
            None => Answer { columns, rows, tag: reply.tag, error, notices },
        }
    }
}

impl Pair {
    fn show(&self, sql: &str) {
        if self.shows {
            println!("{sql};");
        }
    }

    /// Runs a statement that both must take.
    fn run(&mut self, sql: &str) -> bool {
        self.show(sql);
        let replies = self.clients.each_mut().map(|client| client.query(sql));
        replies.iter().all(|reply| reply.error.is_none()) || {
            self.compare(sql, false, replies);
            false
        }
    }

    fn ask(&mut self, sql: &str, ordered: bool) {
        self.show(sql);
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
                world.tables.push(Table { name, columns, computed: 0 });
            }
        }
        for number in 0..queries + changes {
            let mut maker = Maker::new(Chance(chance.next()), &world.tables);
            let depth = maker.below(DEPTH) + 1;
            if number % (queries / changes + 1) == 0 {
                let (change, table) = maker.change(depth - 1);
                self.ask(&change, false);
                self.ask(&format!("SELECT * FROM {table}"), false);
                if world.tables.iter().any(|table| table.columns.iter().any(|one| one.0 == "r")) {
                    for table in world.tables.iter().filter(|table| table.name.starts_with('t')) {
                        self.ask(&format!("SELECT * FROM {}", table.name), false);
                    }
                }
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
        let mut chance = Chance(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
        for number in 0..WITH_PARAMETERS {
            self.with_parameters(&mut chance, &world, number % 2 == 0);
        }
        self.programs(&mut chance, &world);
        self.run("RESET ALL");
        self.run(&format!("DROP SCHEMA q{seed} CASCADE"));
    }

    /// Functions, queries that call them, and programs.
    fn programs(&mut self, chance: &mut Chance, world: &World) {
        let [functions, queries, programs, triggers, changes] = PROGRAMS;
        let mut known = Vec::new();
        let maker = |chance: &mut Chance, known: &[Function]| {
            let mut maker = Maker::new(Chance(chance.next()), &world.tables);
            maker.functions = known.to_vec();
            maker
        };
        for number in 0..functions {
            let (function, text) = maker(chance, &known).function(&format!("f{number}"));
            if self.run(&text) {
                known.push(function);
            }
        }
        for _ in 0..queries {
            let mut maker = maker(chance, &known);
            let types = maker.types(4);
            let query = maker.query(&types, &[], DEPTH - 1);
            self.ask(&query, false);
        }
        for number in 0..programs {
            let name = format!("program{number}");
            let mut maker = maker(chance, &known);
            maker.mistakes = usize::from(number == 0);
            let procedure = number % 2 == 1;
            let (arguments, text) = maker.program(&name, procedure);
            if !self.run(&text) {
                continue;
            }
            for _ in 0..2 {
                let given: Vec<String> = arguments.iter().map(|ty| literal(chance, *ty)).collect();
                let given = given.join(", ");
                let known = self.differences.len();
                match procedure {
                    true => self.ask(&format!("CALL {name}({given})"), true),
                    false => self.ask(&format!("SELECT * FROM {name}({given}) AS line"), true),
                }
                for (_, told) in &mut self.differences[known..] {
                    told.push_str(&format!("{text}\n"));
                }
            }
            for table in world.tables.iter().filter(|table| table.name.starts_with('t')) {
                self.ask(&format!("SELECT * FROM {}", table.name), false);
            }
        }
        self.run("CREATE TABLE told (what text)");
        let bases: Vec<&Table> =
            world.tables.iter().filter(|table| !table.name.starts_with('v')).collect();
        for number in 0..triggers {
            let table = bases[chance.below(bases.len())];
            let mut maker = maker(chance, &known);
            let before = maker.trigger(&format!("before{number}"), table);
            let behind = maker.audit(&format!("behind{number}"), table);
            for statement in before.iter().chain(&behind) {
                self.run(statement);
            }
        }
        for _ in 0..changes {
            let mut maker = maker(chance, &known);
            let (change, table) = maker.change(1);
            self.ask(&change, false);
            self.ask(&format!("SELECT * FROM {table}"), false);
            self.ask("SELECT what FROM told", false);
        }
    }

    /// A query with parameters, prepared, or in the body of a function.
    fn with_parameters(&mut self, chance: &mut Chance, world: &World, prepared: bool) {
        let mut maker = Maker::new(Chance(chance.next()), &world.tables);
        maker.parameters = Some(Vec::new());
        let (types, depth) = (maker.types(4), maker.below(DEPTH) + 1);
        let query = maker.query(&types, &[], depth);
        let given = maker.parameters.take().unwrap_or_default();
        let names: Vec<&str> = given.iter().map(|ty| ty.name()).collect();
        let list = if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) };
        let values = |chance: &mut Chance| {
            let value = |ty: &Type| match chance.below(8) {
                0 => "NULL".to_owned(),
                _ => literal(chance, *ty),
            };
            let all: Vec<String> = given.iter().map(value).collect();
            if all.is_empty() { String::new() } else { format!("({})", all.join(", ")) }
        };
        let sets = [values(chance), values(chance)];
        if prepared {
            if self.run(&format!("PREPARE kept {list} AS {query}")) {
                for time in 0..TIMES {
                    self.ask(&format!("EXECUTE kept {}", sets[time % 2]), false);
                }
            }
            for client in &mut self.clients {
                client.run("DEALLOCATE ALL");
            }
            return;
        }
        // What changes between are rows of a table, all of them at once.
        let table = world.tables.iter().find(|table| !table.name.starts_with('v'));
        let table = table.map_or("t0", |table| table.name.as_str());
        let body = format!(
            "DECLARE given record; BEGIN FOR time IN 1 .. 3 LOOP FOR given IN {query} LOOP RETURN NEXT time || given::text; END LOOP; \
             UPDATE {table} SET id = id + 50 WHERE id % 3 = time - 1; END LOOP; END"
        );
        let list = if list.is_empty() { "()" } else { &list };
        if self.run(&format!(
            "CREATE FUNCTION kept {list} RETURNS SETOF text LANGUAGE plpgsql AS $body${body}$body$"
        )) {
            for set in &sets {
                let set = if set.is_empty() { "()" } else { set };
                self.ask(&format!("SELECT * FROM kept {set} AS line"), false);
            }
        }
        for client in &mut self.clients {
            client.run("DROP FUNCTION IF EXISTS kept");
        }
    }
}

/// An answer as lines.
fn shown(answer: &Answer) -> String {
    let notices = answer.notices.iter().fold(String::new(), |all, one| all + one + "\n");
    if let Some(error) = &answer.error {
        return format!("{notices}{error:?}");
    }
    let mut text = notices + &format!("{:?} {:?}", answer.tag, answer.columns);
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
    let shows = std::env::var_os("ATOLL_SHOWN").is_some();
    let mut pair = Pair { clients, seed: 0, differences: Vec::new(), compared: 0, shows };
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
