//! PL/pgSQL by itself: loops, texts, arrays, recursion, simple statements, exceptions and row triggers, Atoll beside PostgreSQL, in
//! interleaved pairs.
//!
//! Each case is one call that does something many times; what is told is the CPU of the server for one time. The client takes
//! part in nothing.

use crate::sample::{Sample, cells, interleaved};
use crate::target::{Kind, Target};
use crate::tpcc::Connector;
use crate::tpcc::statement::Rows;
use crate::tpcc::wire::Url;
use anyhow::Result;
use std::fmt::Write;

/// How much is measured.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Effort {
    /// Each case does a so many'th part of what it does otherwise.
    #[arg(long, default_value_t = 1)]
    part: u32,
    /// Interleaved pairs.
    #[arg(long, default_value_t = 3)]
    pairs: u32,
}

/// What is measured: its name, what makes it ready, what is run for `$n` times, and how many these are.
struct Case {
    name: &'static str,
    before: &'static str,
    run: &'static str,
    times: u32,
}

/// The tables that the cases use.
const TABLES: &str = "CREATE TABLE counted (k int PRIMARY KEY, v int);
    INSERT INTO counted SELECT g, g FROM generate_series(1, 1000) g;
    CREATE TABLE stamped (a int PRIMARY KEY, b int, u timestamptz)";

const CASES: [Case; 10] = [
    Case {
        name: "a loop over integers",
        before: "CREATE OR REPLACE FUNCTION looped(n int) RETURNS bigint LANGUAGE plpgsql AS $$
            DECLARE s bigint := 0; BEGIN FOR i IN 1..n LOOP s := s + i % 7; END LOOP; RETURN s; END $$",
        run: "SELECT looped($n)",
        times: 10_000_000,
    },
    Case {
        name: "WHILE and IF",
        before: "CREATE OR REPLACE FUNCTION whiled(n int) RETURNS int LANGUAGE plpgsql AS $$
            DECLARE i int := 0; j int := 0; BEGIN WHILE i < n LOOP
            IF i % 2 = 0 THEN j := j + 1; ELSE j := j - 1; END IF; i := i + 1; END LOOP; RETURN j; END $$",
        run: "SELECT whiled($n)",
        times: 5_000_000,
    },
    Case {
        name: "building texts",
        before: "CREATE OR REPLACE FUNCTION texts(n int) RETURNS int LANGUAGE plpgsql AS $$
            DECLARE s text := ''; BEGIN FOR i IN 1..n LOOP s := s || chr(65 + i % 26);
            IF length(s) > 1000 THEN s := substr(s, 500); END IF; END LOOP; RETURN length(s); END $$",
        run: "SELECT texts($n)",
        times: 1_000_000,
    },
    Case {
        name: "sorting an array of 1,000, a comparison",
        before: "CREATE OR REPLACE FUNCTION sorted(n int) RETURNS int LANGUAGE plpgsql AS $$
            DECLARE a int[]; t int; x bigint; size int := 1000; done int := 0; BEGIN
            WHILE done < n LOOP
              x := 42;
              FOR i IN 1..size LOOP x := (x * 1103515245 + 12345) % 2147483648; a[i] := x % 1000000; END LOOP;
              FOR i IN 1..size - 1 LOOP FOR j IN 1..size - i LOOP
                IF a[j] > a[j + 1] THEN t := a[j]; a[j] := a[j + 1]; a[j + 1] := t; END IF;
              END LOOP; END LOOP;
              done := done + size * (size - 1) / 2;
            END LOOP; RETURN a[1]; END $$",
        run: "SELECT sorted($n)",
        times: 499_500,
    },
    Case {
        name: "a recursive function, a call",
        before: "CREATE OR REPLACE FUNCTION fib(n int) RETURNS int LANGUAGE plpgsql AS $$
            BEGIN IF n < 2 THEN RETURN n; END IF; RETURN fib(n - 1) + fib(n - 2); END $$;
            CREATE OR REPLACE FUNCTION fibs(n int) RETURNS int LANGUAGE plpgsql AS $$
            DECLARE done int := 0; r int; BEGIN WHILE done < n LOOP r := fib(20); done := done + 21891; END LOOP; RETURN r; END $$",
        run: "SELECT fibs($n)",
        times: 218_910,
    },
    Case {
        name: "SELECT INTO by key",
        before: "CREATE OR REPLACE FUNCTION selected(n int) RETURNS bigint LANGUAGE plpgsql AS $$
            DECLARE s bigint := 0; w int; BEGIN FOR i IN 1..n LOOP
            SELECT v INTO w FROM counted WHERE k = i % 1000 + 1; s := s + w; END LOOP; RETURN s; END $$",
        run: "SELECT selected($n)",
        times: 1_000_000,
    },
    Case {
        name: "UPDATE by key",
        before: "CREATE OR REPLACE FUNCTION updated(n int) RETURNS int LANGUAGE plpgsql AS $$
            BEGIN FOR i IN 1..n LOOP UPDATE counted SET v = v + 1 WHERE k = i % 1000 + 1; END LOOP; RETURN n; END $$",
        run: "SELECT updated($n)",
        times: 30_000,
    },
    Case {
        name: "a loop over rows",
        before: "CREATE OR REPLACE FUNCTION queried(n int) RETURNS bigint LANGUAGE plpgsql AS $$
            DECLARE s bigint := 0; r record; BEGIN
            FOR r IN SELECT g AS a, g * 2 AS b FROM generate_series(1, n) g LOOP s := s + r.a + r.b; END LOOP; RETURN s; END $$",
        run: "SELECT queried($n)",
        times: 2_000_000,
    },
    Case {
        name: "a block with EXCEPTION, one in ten fails",
        before: "CREATE OR REPLACE FUNCTION excepted(n int) RETURNS int LANGUAGE plpgsql AS $$
            DECLARE c int := 0; BEGIN FOR i IN 1..n LOOP
            BEGIN IF i % 10 = 0 THEN RAISE EXCEPTION 'x'; END IF; c := c + 1;
            EXCEPTION WHEN others THEN c := c + 0; END; END LOOP; RETURN c; END $$",
        run: "SELECT excepted($n)",
        times: 300_000,
    },
    Case {
        name: "a row trigger that stamps an inserted row",
        before: "TRUNCATE stamped; CREATE OR REPLACE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN new.u := now(); RETURN new; END $$;
            DROP TRIGGER IF EXISTS stamp ON stamped;
            CREATE TRIGGER stamp BEFORE INSERT ON stamped FOR EACH ROW EXECUTE FUNCTION stamp()",
        run: "INSERT INTO stamped SELECT g, g FROM generate_series(1, $n) g",
        times: 1_000_000,
    },
];

/// Runs all cases; gives the page.
///
/// # Errors
/// A server failed.
pub fn run(effort: Effort) -> Result<String> {
    let (atoll, postgres) =
        (Target::start(Kind::Atoll, true)?, Target::start(Kind::Postgres, true)?);
    for target in [&atoll, &postgres] {
        Url::local(target.port()).connect()?.execute(TABLES, &mut Rows::default())?;
    }
    let mut page = format!(
        "# PL/pgSQL: Atoll beside PostgreSQL 15\n\n{} {} interleaved pairs. CPU is user + system of all processes of a server, in microseconds for each time that a case does what it is about: the least of the runs. Throughput is the median, its ratio that of the pairs. Bar: a third of PostgreSQL's.\n\n| case | Atoll CPU µs | PostgreSQL CPU µs | ratio | Atoll /s | PostgreSQL /s | ratio |\n|---|--:|--:|--:|--:|--:|--:|\n",
        crate::report::machine(),
        effort.pairs,
    );
    for case in &CASES {
        let times = (case.times / effort.part.max(1)).max(1);
        let statement = case.run.replace("$n", &times.to_string());
        let run = |target: &Target| {
            let mut client = Url::local(target.port()).connect()?;
            let mut rows = Rows::default();
            client.execute(case.before, &mut rows)?;
            Sample::measured(target, || {
                client.execute(&statement, &mut rows)?;
                Ok(f64::from(times))
            })
        };
        let [ours, theirs] = interleaved(effort.pairs, [&atoll, &postgres], run)?;
        let line = format!("| {} | {} |", case.name, cells(&ours, &theirs, 3));
        println!("{line}");
        writeln!(page, "{line}")?;
    }
    Ok(page)
}
