//! `pg_stat_statements` and `auto_explain`, beside PostgreSQL's: the same statements have the same texts, calls and rows, and
//! the log has plans with their statements.

use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::difference;
use tests::oracle::Oracle;
use tests::process::wait_until;

const PRELOADED: &str = "shared_preload_libraries=pg_stat_statements";

/// Statements that both servers know, each with how many there are of its shape.
const STATEMENTS: &[&str] = &[
    "CREATE TABLE t (a int, b text, c timestamp, d numeric(10,2), j jsonb, ar int[])",
    "select 1",
    "SELECT   2 ;",
    "select 'x'",
    "select 1.5, 'x', true, false, null, -1, 3 - 1, a - 1, (-2), - 2, +3 from t",
    "insert into t(a,b) values (1,'a'),(2,'b'),(3,'c')",
    "insert into t(a,b) values (4,default) returning a, b",
    "INSERT INTO t(a,b) VALUES (5,default) RETURNING a, b",
    "select a from t order by 1",
    "select b, count(*) from t group by 1 order by 2 desc, 1 limit 5 offset 2",
    "select a from t limit all",
    "select a from t limit 2",
    "select a::varchar(10), cast(a as numeric(10,2)), '5'::int, date '2000-01-01', interval '1 day', interval '1' day, timestamp(3) '2000-01-01' from t",
    "select extract(year from c), extract('month' from c), position('a' in b), substring(b from 1 for 2), overlay(b placing 'x' from 1), trim(both 'x' from b) from t",
    "select * from t where a is null and b is not null and (a=1) is true and a is distinct from null",
    "select * from t where a in (1,2,3) and a = any('{1,2}') and b like 'a%' escape '!' and a between 1 and 2",
    "update t set b = 'x' where a = 1",
    "update t set b = 'y' where a = 2",
    "delete from t where a = 70",
    "select a from t where a = 1",
    "SELECT  a FROM \"t\" -- a comment\n where a = 2",
    "select a from t where a = 1 and b = 'x'",
    "select a from t where a = 2 and b = 'y' order by 1 limit 1",
    "select array[1,2], ar[1], ar[1:2] from t",
    "select sum(a) over (order by 1 rows 1 preceding) from t",
    "select string_agg(b, ',' order by 1) from t",
    "select c at time zone 'utc', now() - interval '1 day' from t where false",
    "select case a when 1 then 'x' else 'y' end from t",
    "with q as (select 1 as x) select * from q where x = 2",
    "values (1,2)",
    "select j->'a'->>'b', j['x'], j @> '{\"a\":1}' from t",
    "select * from generate_series(1,3) g(x), (values (1),(2)) v(y)",
    "select 1 union all select 2 order by 1",
    "select current_date, current_timestamp(3), localtime where 1 = 2",
    "select 'a' || 'b' || b from t",
    "select exists(select 1 from t where a = 1)",
    "prepare p as select * from t where a = $1 and b = 'q'",
    "execute p(1)",
    "execute p(2)",
    "deallocate p",
    "create materialized view stored as select * from generate_series(1, 7) g",
    "refresh materialized view stored",
    "refresh materialized view stored",
    "refresh materialized view stored with no data",
    "begin",
    "declare cu cursor for select * from t where a > 0",
    "fetch 1 from cu",
    "fetch all from cu",
    "commit",
    "BEGIN",
    "select 1/0",
    "ROLLBACK",
    "set work_mem = '8MB'",
    "show work_mem",
    "create table t2 as select 1 as x",
    "select 5 as x into t3",
    "explain select * from t where a = 1",
    "truncate t2",
    "drop table t2, t3",
    "select count(*) from t tablesample system (100) repeatable (1)",
    "select a from t group by a having count(*) > 1",
    "select b from t order by 1, a + 1, 'x'::text",
    "copy (select a from t where a < 3) to stdout",
    "merge into t using (values (1, 'm')) v(x, y) on t.a = v.x when matched then update set b = v.y when not matched then insert (a) values (9)",
    "select a from t order by case when a = 1 then 2 end, -a limit 1",
    "select a from t where a = -1 or a - 1 = 3 or a = 2 -1",
    "select a, b from t group by grouping sets ((1, 2), (1), ())",
    "select coalesce(null, 1), nullif(a, 1), greatest(1, a) from t where not true",
    "select E'a\\n', $$x$$, 'y' is null",
    "select a from t where a in (select 1 union select 2) order by 1",
];

/// Statements beside each other that mean the same or do not: which share an entry shows in how often each text was called.
const VARIANTS: &[&str] = &[
    "select a from t",
    "select a as x from t",
    "select t.a from t",
    "select q.a from t q",
    "SELECT (a) FROM public.t",
    "select \"a\" from t as \"T\"",
    "select a, b from t",
    "select * from t",
    "select t.* from t",
    "select a, b, c, d, j, ar from t",
    "select b, a from t",
    "select a from t where (a = 1)",
    "select a from t where ((a)) = (1)",
    "select x.a from t x where x.a = 3",
    "select a from t where 1 = a",
    "select a from t where a = 1 and b = 'x'",
    "select a from t where (a = 1) and (b = 'y')",
    "select a from t where b = 'x' and a = 1",
    "select a from t where not a = 1",
    "select a from t where a <> 1",
    "select a from t where a != 2",
    "select a from t where a in (1, 2)",
    "select a from t where a in (3, 4)",
    "select a from t where a in (1, 2, 3)",
    "select a from t where a = any (array[1, 2])",
    "select a from t where a = 1 or a = 2",
    "select a from t where a = 1::int8",
    "select a from t where a = 1::bigint",
    "select a from t where a = cast(1 as bigint)",
    "select a from t where a = '1'",
    "select a from t where a = 1.0",
    "select a::bigint from t",
    "select cast(a as int8) from t",
    "select int8(a) from t",
    "select a + 1 from t",
    "select (a + 1) from t",
    "select a + 1 as y from t",
    "select a - 1 from t",
    "select int4pl(a, 1) from t",
    "select count(*) from t",
    "select count(*) as n from t",
    "select count(a) from t",
    "select count(distinct a) from t",
    "select sum(a) from t where b like 'a%'",
    "select sum(t.a) total from t where t.b like 'b%'",
    "select b, count(*) from t group by b",
    "select b, count(*) from t group by 1",
    "select b as bb, count(*) from t group by bb",
    "select b, count(*) from t group by b having count(*) > 1",
    "select b, count(*) from t group by b having count(*) > 2",
    "select a from t order by a",
    "select a from t order by 1",
    "select a as s from t order by s",
    "select a from t order by a asc",
    "select a from t order by a desc",
    "select a from t order by a nulls last",
    "select a from t order by a nulls first",
    "select a from t limit 1",
    "select a from t limit 5",
    "select a from t limit 1 offset 1",
    "select a from t fetch first 3 rows only",
    "select a from t for update",
    "select a from t for share",
    "select a from t for update nowait",
    "select t.a, u.a from t join u on t.a = u.a",
    "select x.a, y.a from t x inner join u y on x.a = y.a",
    "select t.a, u.a from t left join u on t.a = u.a",
    "select t.a, u.a from t left outer join u on (u.a = u.a)",
    "select t.a, u.a from t left outer join u on (t.a = u.a)",
    "select t.a, u.a from t, u where t.a = u.a",
    "select t.a, u.a from u join t on t.a = u.a",
    "select a from t where exists (select 1 from u where u.a = t.a)",
    "select a from t z where exists (select 2 from u w where w.a = z.a)",
    "select a from t where a in (select a from u)",
    "select a from t where a in (select u.a from u)",
    "select a from t where a not in (select a from u)",
    "select (select max(a) from u) from t",
    "select (select max(k.a) from u k) as m from t",
    "select s.a from (select a from t) s",
    "select r.a from (select t.a from t) as r",
    "select a from v",
    "select w.a from v w",
    "with q as (select a from t) select a from q",
    "with q as (select t.a from t) select q.a as z from q",
    "with p as (select a from t) select a from p",
    "with recursive r(n) as (select 1 union all select n + 1 from r where n < 3) select n from r",
    "with recursive r(k) as (select 2 union all select k + 2 from r where k < 5) select k from r",
    "select a from t union select a from u",
    "select t.a from t union select u.a as q from u",
    "select a from t union all select a from u",
    "select a from t intersect select a from u",
    "values (1, 'x')",
    "values (2, 'y')",
    "values (1, 'x'), (2, 'y')",
    "select case when a = 1 then 'x' else 'y' end from t",
    "select case when (a = 2) then 'p' else 'q' end as r from t",
    "select case when a = 1 then 'x' end from t",
    "select coalesce(a, 1) from t",
    "select coalesce(t.a, 2) c from t",
    "select nullif(a, 1), greatest(a, 1), least(a, 1) from t",
    "select a is null from t",
    "select a isnull from t",
    "select a is not null from t",
    "select b || 'x' from t",
    "select b || 'y' || 'z' from t",
    "select sum(a) over (partition by b order by a) from t",
    "select sum(a) over w from t window w as (partition by b order by a)",
    "select sum(a) over (partition by b order by a rows 1 preceding) from t",
    "select sum(a) over (partition by b order by a rows 2 preceding) from t",
    "select a from t where b between 'a' and 'b'",
    "select a from t where b >= 'a' and b <= 'b'",
    "select ar[1] from t",
    "select ar[2] from t",
    "select ar[1:2] from t",
    "select array[1, a] from t",
    "select array[2, t.a] from t",
    "select row(a, b) from t",
    "select (a, b) from t",
    "select g from generate_series(1, 2) g",
    "select h from generate_series(3, 4) as h",
    "select current_date",
    "select current_timestamp",
    "insert into u (a) values (1)",
    "insert into u(a) values ((2))",
    "insert into public.u as k (a) values (3)",
    "insert into u values (4)",
    "insert into u (a, b) values (5, 'x')",
    "insert into u (a, b) values (6, 'y'), (7, 'z')",
    "insert into u (a, b) values (8, 'y'), (9, 'z')",
    "insert into u (a) select a from t where a = 999",
    "insert into u (a) select t.a from t where t.a = 998",
    "insert into u (a) values (1) returning a",
    "update u set b = 'x' where a = 1",
    "update u as k set b = 'y' where k.a = (2)",
    "update u set a = 1 where a = 1",
    "update u set b = t.b from t where t.a = u.a",
    "update u x set b = y.b from t y where y.a = x.a",
    "delete from u where a = 99",
    "delete from u k where k.a = 98",
    "delete from u using t where t.a = u.a and t.a = 97",
    "delete from u where a = 99 returning *",
    "delete from u where a = 99 returning a, b",
];

/// What is counted of each statement: its text, how often, how many rows.
fn counted(client: &mut Client) -> String {
    let rows = client.query(
        "SELECT query, calls, rows FROM pg_stat_statements s JOIN pg_database d ON d.oid = dbid \
         WHERE datname = current_database() AND query !~ 'pg_stat_statements|EXTENSION' \
         ORDER BY query COLLATE \"C\", calls, rows",
    );
    assert!(rows.error.is_none(), "{:?}", rows.error);
    let line = |row: &Vec<Option<String>>| {
        row.iter().map(|field| field.as_deref().unwrap_or("-")).collect::<Vec<_>>().join(" | ")
    };
    rows.rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs the statements by both protocols, and gives what was counted.
fn run_all(port: u16) -> String {
    let mut client = Client::connect(port, "postgres", "postgres");
    client.run("CREATE EXTENSION pg_stat_statements");
    client.run("SELECT pg_stat_statements_reset()");
    for statement in STATEMENTS {
        let _ = client.query_all(statement);
    }
    client.copy_in("COPY t (a, b) FROM STDIN", b"7\tseven\n8\teight\n");
    for (statement, parameter) in [
        ("select a from t where a = $1", "1"),
        ("select a from t where a = $1", "2"),
        ("select a from t where b = $1 and a = 5", "x"),
        ("update t set b = $1 where a = 1", "z"),
    ] {
        client.query_extended(statement, &[Some(parameter)]);
    }
    // Several in one message are each their own.
    let _ = client.query_all("select a from t where a = 11; select b from t where a = 12");
    counted(&mut client)
}

#[test]
fn statements_that_mean_the_same_share_an_entry() {
    let run = |port| {
        let mut client = Client::connect(port, "postgres", "postgres");
        client.run("CREATE EXTENSION pg_stat_statements");
        client.run(STATEMENTS[0]);
        client.run("CREATE TABLE u (a int, b text); CREATE VIEW v AS SELECT a, b FROM t");
        client.run("SELECT pg_stat_statements_reset()");
        for statement in VARIANTS {
            let _ = client.query_all(statement);
            client.query_extended(statement, &[]);
        }
        counted(&mut client)
    };
    let (oracle, atoll) = (Oracle::start(&[PRELOADED]), Atoll::start(&[PRELOADED]));
    let (wanted, actual) = (run(oracle.port()), run(atoll.port()));
    assert!(actual == wanted, "{}", difference(&wanted, &actual));
}

#[test]
fn texts_calls_and_rows_are_postgresqls() {
    let (oracle, atoll) = (Oracle::start(&[PRELOADED]), Atoll::start(&[PRELOADED]));
    let (wanted, actual) = (run_all(oracle.port()), run_all(atoll.port()));
    assert!(actual == wanted, "{}", difference(&wanted, &actual));
}

#[test]
fn without_the_library_there_is_only_the_extension() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE EXTENSION pg_stat_statements");
    for statement in [
        "SELECT * FROM pg_stat_statements",
        "SELECT pg_stat_statements_reset()",
        "SELECT * FROM pg_stat_statements_info",
    ] {
        let refused = client.query(statement);
        assert_eq!(refused.sqlstate(), "55000");
        let error = refused.error.expect("it is refused");
        assert_eq!(
            error.field(b'M'),
            "pg_stat_statements must be loaded via shared_preload_libraries"
        );
    }
    assert_eq!(client.query("SHOW pg_stat_statements.max").sqlstate(), "42704");
    let hidden = client.query("SELECT count(*) FROM pg_settings WHERE name LIKE '%explain.%'");
    assert_eq!(hidden.value(), "0");
    client.run("LOAD 'auto_explain'");
    assert_eq!(client.query("SHOW auto_explain.sample_rate").value(), "1");
    assert_eq!(client.query("LOAD 'nothing'").sqlstate(), "58P01");
    let number = "SELECT query_id FROM pg_stat_activity WHERE pid = pg_backend_pid()";
    assert_eq!(client.query(number).rows[0][0], None);
    client.run("SET compute_query_id = on");
    assert!(client.query(number).rows[0][0].is_some());
}

#[test]
fn a_statement_has_one_number_wherever_it_is_shown() {
    let atoll = Atoll::start(&[PRELOADED, "log_line_prefix=%Q "]);
    let mut client = atoll.connect();
    client.run("CREATE EXTENSION pg_stat_statements");
    client.run("CREATE TABLE n (a int PRIMARY KEY, b text)");
    client.run("INSERT INTO n SELECT g, 'b' FROM generate_series(1, 100) g");
    client.query("SELECT b FROM n WHERE a = 5");
    client.query("SELECT b FROM n WHERE a = 6");
    let of = "SELECT queryid FROM pg_stat_statements WHERE query = 'SELECT b FROM n WHERE a = $1' AND calls = 2";
    let number = client.query(of).value().to_owned();
    let plan = client.query("EXPLAIN (VERBOSE, COSTS OFF) SELECT b FROM n WHERE a = 5");
    let last = plan.rows.last().and_then(|row| row[0].clone()).expect("it has lines");
    let shown = last.strip_prefix("Query Identifier: ").expect("it is the last line").to_owned();
    // There it is the text of EXPLAIN, as in PostgreSQL's jumble of the query within it: a number of its own text here.
    assert!(shown.parse::<i64>().is_ok_and(|number| number != 0), "{last}");
    client.query("SELECT b, 1/(a - 5) FROM n WHERE a = 5");
    wait_until("the error", Duration::from_secs(20), || {
        atoll.log().contains("division by zero").then_some(())
    });
    let log = atoll.log();
    let line = log.lines().find(|line| line.contains("division by zero")).expect("it is logged");
    let logged = line.split(' ').next().expect("a line has words");
    assert!(logged.parse::<i64>().is_ok_and(|number| number != 0), "{line}");
    // A second session sees the statement of the first with its number.
    let mut other = atoll.connect();
    let seen = other.query(
        "SELECT query_id FROM pg_stat_activity WHERE query LIKE 'SELECT b, 1/%' AND backend_type = 'client backend'",
    );
    assert_eq!(seen.value(), logged);
    // A table of the same name is another one.
    client.run("CREATE SCHEMA other");
    client.run("CREATE TABLE other.n (a int, b text)");
    client.run("SET search_path = other, public");
    client.query("SELECT b FROM n WHERE a = 5");
    let both = client.query(
        "SELECT count(DISTINCT queryid), sum(calls) FROM pg_stat_statements WHERE query = 'SELECT b FROM n WHERE a = $1'",
    );
    assert_eq!(both.rows[0], [Some("2".to_owned()), Some("3".to_owned())]);
    client.run("SET compute_query_id = off");
    client.query("SELECT b FROM public.n WHERE a = 5");
    client.run("SET compute_query_id = auto");
    client.run("SET pg_stat_statements.track = none");
    client.query("SELECT b FROM public.n WHERE a = 5");
    let still =
        client.query("SELECT count(*) FROM pg_stat_statements WHERE query LIKE '%public.n%'");
    assert_eq!(still.value(), "0");
    assert!(!number.is_empty());
}

/// A number in a line of EXPLAIN's.
fn figure(line: &str, name: &str) -> i64 {
    let found = line.split_whitespace().find_map(|word| word.strip_prefix(name));
    found.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// What a run of a statement took of pages and of the log.
#[derive(Debug)]
struct Figures {
    pages: i64,
    records: i64,
    bytes: i64,
}

/// What EXPLAIN says that `statement` took, which is undone behind it.
fn figures_of_explain(client: &mut Client, statement: &str) -> Figures {
    client.run("BEGIN");
    let plan = client.query(&format!("EXPLAIN (ANALYZE, BUFFERS, WAL) {statement}"));
    client.run("ROLLBACK");
    let lines: Vec<String> = plan.rows.iter().filter_map(|row| row[0].clone()).collect();
    let line = |begin: &str| {
        let found = lines.iter().find(|line| line.trim().starts_with(begin));
        found.cloned().unwrap_or_default()
    };
    let (buffers, wal) = (line("Buffers: shared"), line("WAL:"));
    Figures {
        pages: figure(&buffers, "hit=") + figure(&buffers, "read="),
        records: figure(&wal, "records="),
        bytes: figure(&wal, "bytes="),
    }
}

/// What `pg_stat_statements` says that one run of `statement` took, which is undone behind it.
fn figures_of_statistics(client: &mut Client, statement: &str) -> Figures {
    client.run("SELECT pg_stat_statements_reset()");
    client.run("BEGIN");
    client.run(statement);
    client.run("ROLLBACK");
    let counted = client.query(
        "SELECT shared_blks_hit + shared_blks_read, wal_records, wal_bytes, calls, total_exec_time > 0, \
         min_exec_time = max_exec_time, mean_exec_time = total_exec_time, stddev_exec_time \
         FROM pg_stat_statements WHERE query ~ '^(SELECT count|UPDATE|INSERT)'",
    );
    let row: Vec<&str> =
        counted.rows[0].iter().map(|field| field.as_deref().unwrap_or("")).collect();
    assert_eq!(row[3..], ["1", "t", "t", "t", "0"], "{statement}");
    let number = |field: &str| field.parse().expect("figures are numbers");
    Figures { pages: number(row[0]), records: number(row[1]), bytes: number(row[2]) }
}

#[test]
fn figures_agree_with_those_of_explain() {
    let atoll = Atoll::start(&[PRELOADED]);
    let mut client = atoll.connect();
    client.run("CREATE EXTENSION pg_stat_statements");
    client.run("CREATE TABLE f (a int PRIMARY KEY, b text)");
    client.run("INSERT INTO f SELECT g, 'b' FROM generate_series(1, 20000) g");
    for statement in [
        "SELECT count(b) FROM f WHERE a > 10",
        "UPDATE f SET b = 'c' WHERE a BETWEEN 100 AND 300",
        "INSERT INTO f SELECT g, 'd' FROM generate_series(30000, 30500) g",
    ] {
        // What one of the two counts the other does, too, unless the tree changes between them: what a rollback leaves is cleaned in the
        // background, and a session remembers the leaves that it has read last.
        let agreed = (0..10).any(|attempt| {
            let planned = figures_of_explain(&mut client, statement);
            let counted = figures_of_statistics(&mut client, statement);
            let of_records = (planned.records, planned.bytes) == (counted.records, counted.bytes);
            // What begins the statement may look at the catalog.
            let of_pages = (planned.pages..planned.pages + 20).contains(&counted.pages);
            if !(of_records && of_pages) {
                println!("{statement}, {attempt}: {planned:?} by EXPLAIN, {counted:?} counted");
            }
            of_records && of_pages
        });
        assert!(agreed, "{statement}");
    }
    // Blocks of temporary files, as EXPLAIN shows them.
    client.run("SET work_mem = '64kB'");
    let sorted = "SELECT count(*) FROM (SELECT a, b FROM f ORDER BY b, a DESC OFFSET 0) AS sorted";
    let plan = client.query(&format!("EXPLAIN (ANALYZE, BUFFERS) {sorted}"));
    let lines: Vec<String> = plan.rows.iter().filter_map(|row| row[0].clone()).collect();
    let temporary = lines.iter().find_map(|line| line.split_once("temp ")).map(|(_, found)| found);
    let temporary = temporary.expect("what is sorted leaves memory").to_owned();
    client.run(sorted);
    let counted = client.query(
        "SELECT temp_blks_read, temp_blks_written FROM pg_stat_statements \
         WHERE query ~ '^SELECT count.*AS sorted'",
    );
    let shown = |at: usize| counted.rows[0][at].clone().unwrap_or_default();
    assert_eq!(temporary, format!("read={} written={}", shown(0), shown(1)));
    assert!(figure(&temporary, "written=") >= 20, "{temporary}");
    // Planning is counted where that is asked for.
    client.run("SET pg_stat_statements.track_planning = on");
    client.query("SELECT b AS planned FROM f WHERE a = 1 OR b = 'x'");
    let plans = client.query(
        "SELECT plans, total_plan_time > 0 FROM pg_stat_statements WHERE query LIKE '%AS planned FROM%'",
    );
    assert_eq!(plans.rows[0], [Some("1".to_owned()), Some("t".to_owned())]);
}

#[test]
fn only_who_may_sees_the_texts_of_others() {
    let atoll = Atoll::start(&[PRELOADED]);
    let mut client = atoll.connect();
    client.run("CREATE EXTENSION pg_stat_statements");
    client.run("CREATE ROLE plain LOGIN");
    client.run("CREATE ROLE reader LOGIN IN ROLE pg_read_all_stats");
    client.query("SELECT 'of the superuser'");
    let others = "SELECT count(*) FILTER (WHERE queryid IS NULL AND query = '<insufficient privilege>'), \
        count(*) FILTER (WHERE query = 'SELECT $1') FROM pg_stat_statements WHERE userid = 10";
    let mut plain = Client::connect(atoll.port(), "plain", "postgres");
    let seen = plain.query(others);
    assert_ne!(seen.rows[0][0].as_deref(), Some("0"));
    assert_eq!(seen.rows[0][1].as_deref(), Some("0"));
    assert_eq!(plain.query("SELECT pg_stat_statements_reset()").sqlstate(), "42501");
    let mut reader = Client::connect(atoll.port(), "reader", "postgres");
    let seen = reader.query(others);
    assert_eq!(seen.rows[0], [Some("0".to_owned()), Some("1".to_owned())]);
    let silent = client.query("SELECT count(query) FROM pg_stat_statements(false)");
    assert_eq!(silent.value(), "0");
}

#[test]
fn there_is_a_bound_and_a_clean_restart_keeps_what_there_is() {
    let mut atoll = Atoll::start(&[PRELOADED, "pg_stat_statements.max=100"]);
    let mut client = atoll.connect();
    client.run("CREATE EXTENSION pg_stat_statements");
    for round in 0..3 {
        for number in 0..120 {
            client.query(&format!("VALUES (1{})", ", 1".repeat(number)));
        }
        client.query(&format!("SELECT {round}, 'often'"));
        client.query("SELECT 1, 'often'");
    }
    let state = "SELECT count(*) <= 100, (SELECT dealloc > 0 FROM pg_stat_statements_info) FROM pg_stat_statements";
    let bounded = client.query(state);
    assert_eq!(bounded.rows[0], [Some("t".to_owned()), Some("t".to_owned())]);
    let calls = "SELECT calls FROM pg_stat_statements WHERE query = 'SELECT $1, $2'";
    assert_eq!(client.query(calls).value(), "6");
    drop(client);
    atoll.stop();
    atoll.restart();
    assert_eq!(atoll.connect().query(calls).value(), "6");
    atoll.kill();
    atoll.restart();
    assert!(atoll.connect().query(calls).rows.is_empty());
}

/// What a server has logged of plans, without times, costs and statistics.
fn plans(port: u16, log: &dyn Fn() -> String) -> String {
    let mut client = Client::connect(port, "postgres", "postgres");
    client.run("CREATE TABLE e (a int PRIMARY KEY, b text)");
    client.run("INSERT INTO e VALUES (1, 'x'), (2, 'y')");
    client.run("LOAD 'auto_explain'");
    // One of both was started without, and no plan is the same for it.
    client.run("SET jit = on");
    client.run("SET work_mem = '8MB'");
    client.run("SET auto_explain.log_min_duration = 0");
    for (setting, statement) in [
        ("", "SELECT 'text'"),
        ("SET auto_explain.log_verbose = on", "SELECT 'verbose' AS v;"),
        ("SET auto_explain.log_format = json", "SELECT 'json'"),
        ("SET auto_explain.log_format = yaml", "SELECT 'yaml'"),
        ("SET auto_explain.log_format = xml", "SELECT 'xml' < 'a'"),
        ("SET auto_explain.log_format = text", "PREPARE p AS SELECT 'prepared'; EXECUTE p"),
        ("SET auto_explain.log_settings = on", "SELECT 'settings'"),
        ("SET auto_explain.log_analyze = on", "SELECT 'analyze' FROM generate_series(1, 3)"),
        ("SET auto_explain.log_timing = off", "SELECT 'timing' FROM generate_series(1, 3)"),
        ("SET auto_explain.log_level = notice", "SELECT 'notice'"),
        ("SET auto_explain.log_min_duration = '1h'", "SELECT 'short'"),
        ("SET auto_explain.log_min_duration = 0", "SELECT 1/0"),
        ("SET auto_explain.sample_rate = 0", "SELECT 'none'"),
        ("SET auto_explain.log_min_duration = -1", "SELECT 'last'"),
    ] {
        if !setting.is_empty() {
            client.run(setting);
        }
        let _ = client.query_all(statement);
    }
    client.query("SELECT nothing()");
    wait_until("the last line", Duration::from_secs(20), || {
        log().contains("function nothing() does not exist").then_some(())
    });
    let text = log();
    let begin = text.find("duration: ").expect("there is a plan");
    let lines = text[begin..].lines().map(|line| {
        let mut out = String::new();
        for character in line.chars() {
            match character {
                '0'..='9' | '.' if out.ends_with('#') => {}
                '0'..='9' => out.push('#'),
                other => out.push(other),
            }
        }
        out
    });
    // Where a plan has its costs is not what is compared here.
    lines.filter(|line| !line.contains("Cost")).collect::<Vec<_>>().join("\n")
}

#[test]
fn auto_explain_logs_what_postgresqls_does() {
    let settings = ["log_line_prefix="];
    let (oracle, atoll) = (Oracle::start(&settings), Atoll::start(&settings));
    let wanted = plans(oracle.port(), &|| oracle.log());
    let actual = plans(atoll.port(), &|| atoll.log());
    assert!(actual == wanted, "{}", difference(&wanted, &actual));
}

/// Routines whose statements are told.
const ROUTINES: [&str; 9] = [
    "CREATE TABLE n (i int PRIMARY KEY, t text)",
    "INSERT INTO n SELECT g, 'x' FROM generate_series(1, 20) g",
    "CREATE FUNCTION in_sql() RETURNS bigint VOLATILE LANGUAGE sql AS 'SELECT count(*) FROM n WHERE t = ''a'''",
    "CREATE FUNCTION in_pl(a int) RETURNS int LANGUAGE plpgsql AS $$
     DECLARE r record; v int; c CURSOR FOR SELECT i AS cursed FROM n ORDER BY i;
     BEGIN
       v := a + 1;
       SELECT i INTO v FROM n WHERE i = a;
       PERFORM t FROM n WHERE i = a;
       UPDATE n SET t = t WHERE i = a;
       DELETE FROM n WHERE i = a AND t IS NULL;
       FOR r IN SELECT i AS looped FROM n WHERE i < a LOOP EXIT WHEN r.looped = 3; END LOOP;
       FOR r IN SELECT t AS whole FROM n WHERE i < a LOOP END LOOP;
       EXECUTE 'SELECT max(i) FROM n WHERE i < $1' INTO v USING 3;
       OPEN c; FETCH c INTO v; CLOSE c;
       RETURN v;
     END $$",
    "CREATE FUNCTION outer_one() RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN in_pl(7); END'",
    "CREATE PROCEDURE called() LANGUAGE plpgsql AS 'BEGIN PERFORM i FROM n WHERE t IS NULL; END'",
    "CREATE FUNCTION fired() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM i AS fired FROM n WHERE i = new.i; RETURN new; END'",
    "CREATE TRIGGER fires BEFORE INSERT ON n FOR EACH ROW EXECUTE FUNCTION fired()",
    "LOAD 'auto_explain'",
];

/// What calls them.
const CALLS: [&str; 6] = [
    "SELECT in_sql()",
    "SELECT in_pl(5)",
    "SELECT outer_one()",
    "CALL called()",
    "DO 'DECLARE v int; BEGIN SELECT count(*) INTO v FROM n; v := in_pl(6); END'",
    "INSERT INTO n VALUES (1000, 'a') ON CONFLICT DO NOTHING",
];

/// Who has run which statements how often, and the texts of those whose plans were shown.
fn statements_of_bodies(port: u16) -> String {
    let mut client = Client::connect(port, "postgres", "postgres");
    for statement in ROUTINES {
        client.run(statement);
    }
    let mut out = String::new();
    client.run("CREATE EXTENSION pg_stat_statements");
    for track in ["top", "all", "none"] {
        client.run(&format!("SET pg_stat_statements.track = '{track}'"));
        client.run("SELECT pg_stat_statements_reset()");
        for statement in CALLS {
            client.run(statement);
        }
        let counted = client.query(
            "SELECT toplevel, calls, query FROM pg_stat_statements WHERE query !~ 'pg_stat_statements' ORDER BY query COLLATE \"C\", toplevel",
        );
        out.push_str(&format!("-- {track}\n"));
        for row in &counted.rows {
            let fields: Vec<&str> =
                row.iter().map(|field| field.as_deref().unwrap_or("")).collect();
            out.push_str(&fields.join(" | "));
            out.push('\n');
        }
    }
    client.run("SET client_min_messages = log");
    client.run("SET auto_explain.log_min_duration = 0");
    for nested in ["off", "on"] {
        client.run(&format!("SET auto_explain.log_nested_statements = {nested}"));
        for statement in CALLS {
            out.push_str(&format!("-- {nested}: {statement}\n"));
            for notice in client.query(statement).notices {
                let text = notice.field(b'M');
                out.push_str(text.lines().nth(1).unwrap_or(text));
                out.push('\n');
            }
        }
    }
    out
}

#[test]
fn statements_of_bodies_are_told_where_that_is_asked_for() {
    let (oracle, atoll) = (Oracle::start(&[PRELOADED]), Atoll::start(&[PRELOADED]));
    let wanted = statements_of_bodies(oracle.port());
    let actual = statements_of_bodies(atoll.port());
    assert!(actual == wanted, "{}", difference(&wanted, &actual));
}

#[test]
fn plans_in_the_log_have_the_statements_own_values() {
    let settings = ["shared_preload_libraries=auto_explain", "auto_explain.log_min_duration=0"];
    let atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    client.run("CREATE TABLE v (a int PRIMARY KEY, b text)");
    client.query("SELECT b FROM v WHERE b = 'looked for'");
    client.query_extended("SELECT b FROM v WHERE a = $1", &[Some("7")]);
    wait_until("both plans", Duration::from_secs(20), || {
        (atoll.log().matches("  plan:\n\tQuery Text: SELECT b FROM v").count() == 2).then_some(())
    });
    let log = atoll.log();
    assert!(log.contains("Filter: (b = 'looked for'::text)"), "{log}");
    assert!(log.contains("(a = $1)"), "{log}");
    assert!(!log.contains("STATEMENT:"), "{log}");
}

#[test]
fn libraries_are_loaded_by_settings() {
    let atoll = Atoll::start(&["session_preload_libraries=auto_explain"]);
    let mut client = atoll.connect();
    assert_eq!(client.query("SHOW auto_explain.log_min_duration").value(), "-1");
    client.run("CREATE ROLE elsewhere LOGIN");
    client.run("ALTER ROLE elsewhere SET session_preload_libraries = plpgsql");
    let mut other = Client::connect(atoll.port(), "elsewhere", "postgres");
    assert_eq!(other.query("SHOW auto_explain.log_min_duration").sqlstate(), "42704");
    assert_eq!(other.query("LOAD 'auto_explain'").sqlstate(), "42501");
    client.run("ALTER ROLE elsewhere SET session_preload_libraries = 'nothing'");
    let refused = Client::try_connect(atoll.port(), "elsewhere", "postgres");
    let refused = refused.expect_err("there is no such library").to_string();
    assert!(refused.contains("could not access file"), "{refused}");
}

/// `track_io_timing`: how long pages and temporary files were read and written is told by EXPLAIN, by statement and by database;
/// without it nothing is measured.
#[test]
fn how_long_the_disk_took_is_measured_where_that_is_asked_for() {
    let settings = [PRELOADED, "shared_buffers=2MB", "work_mem=64kB"];
    let atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    client.run("CREATE EXTENSION pg_stat_statements");
    client.run("CREATE TABLE wide AS SELECT g AS k, repeat('x', 400) AS t FROM generate_series(1, 20000) g");
    let explained = |client: &mut Client, options: &str| {
        let query = "SELECT count(*) FROM (SELECT k FROM wide ORDER BY t, k DESC OFFSET 0) s";
        let reply = client.run(&format!("EXPLAIN (ANALYZE, BUFFERS{options}) {query}"));
        let lines = reply.rows.iter().map(|row| row[0].clone().expect("a line"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let times = "SELECT sum(blk_read_time) > 0, sum(temp_blk_read_time) > 0, sum(temp_blk_write_time) > 0, \
                 (SELECT blk_read_time > 0 FROM pg_stat_database WHERE datname = current_database()) \
                 FROM pg_stat_statements";
    let row = |client: &mut Client| -> Vec<String> {
        client.run(times).rows[0].iter().map(|one| one.clone().expect("a boolean")).collect()
    };
    let plain = explained(&mut client, "");
    assert!(plain.contains(" read=") && plain.contains("temp read="), "{plain}");
    assert!(!plain.contains("I/O Timings"), "{plain}");
    assert!(!explained(&mut client, ", FORMAT JSON").contains("I/O Read Time"));
    assert_eq!(row(&mut client), ["f", "f", "f", "f"]);
    client.run("SET track_io_timing = on");
    let timed = explained(&mut client, "");
    let line = timed.lines().find(|line| line.contains("I/O Timings: shared read="));
    assert!(line.is_some_and(|line| line.contains(", temp read=")), "{timed}");
    let json = explained(&mut client, ", FORMAT JSON");
    for name in ["I/O Read Time", "I/O Write Time", "Temp I/O Read Time", "Temp I/O Write Time"] {
        assert!(json.contains(&format!("\"{name}\": ")), "{json}");
    }
    assert_eq!(row(&mut client), ["t", "t", "t", "t"]);
}
