//! Sessions over a directory in memory; what is expected is what PostgreSQL 15 answers.

use super::{Bind, BoundSink, Progress, RowsDescription, Session};
use crate::Connect;
use crate::engine::{Engine, EngineOptions};
use crate::error::{Notice, Result};
use crate::exec::sink::{ColumnDescription, Flow, RowSink};
use crate::types::{CallContext, Datum, text_of};
use std::sync::Arc;
use txn::{Environment, FaultyDevice, SessionWait, SystemClock, Threads};

/// xorshift64*, by seed.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }

    pub(super) fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Rows as text, columns divided by `|`.
#[derive(Default)]
struct Rows(Vec<String>);

impl RowSink for Rows {
    fn row(
        &mut self,
        context: &CallContext<'_>,
        columns: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow> {
        let mut shown = Vec::new();
        for (column, datum) in columns.iter().zip(row) {
            shown.push(match datum {
                Datum::Null => "",
                datum => text_of(context, column.ty, datum)?,
            });
        }
        self.0.push(shown.join("|"));
        Ok(Flow::Continue)
    }

    fn notice(&mut self, _: &Notice) {}
}

impl BoundSink for Rows {
    fn bound(&mut self, _: Option<RowsDescription<'_>>) {}
}

/// Runs a prepared statement without parameters by a Bind and an Execute that have come together, perhaps with a Sync: its rows.
pub(super) fn bound(session: &mut Session, statement: &str, syncs: bool) -> Vec<String> {
    let bind = Bind {
        portal: "",
        statement,
        parameter_formats: &[],
        parameter_count: 0,
        parameters: &[],
        result_formats: &[],
    };
    let mut rows = Rows::default();
    session.bind_and_run(&bind, (0, syncs), &mut rows).unwrap();
    rows.0
}

pub(super) fn engine() -> Arc<Engine> {
    let env = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(2)),
        seed: 1,
    };
    let mut options = EngineOptions { version: "0.1.0".into(), ..EngineOptions::default() };
    // The smallest pool that is legal: what a larger one would hide.
    options.txn.storage.pool_frames = 64;
    options.txn.storage.page_bytes = 4096;
    Engine::create(&env, &options, "postgres", None).unwrap();
    Engine::open(env, options).unwrap()
}

pub(super) fn session(engine: &Arc<Engine>) -> Session {
    session_of(engine, 1)
}

/// A session with this process number.
pub(super) fn session_of(engine: &Arc<Engine>, pid: u32) -> Session {
    let connect =
        Connect { database: "postgres".into(), user: "postgres".into(), ..Connect::default() };
    engine.connect(connect, Arc::new(SessionWait::new(pid))).unwrap()
}

/// Runs a query text as psql does: rows, then each statement's tag; an error as its code and message.
pub(super) fn say(session: &mut Session, text: &str) -> Vec<String> {
    said(session, text).0
}

/// The same, and the error's CONTEXT.
pub(super) fn said(session: &mut Session, text: &str) -> (Vec<String>, Option<String>) {
    let mut context = None;
    let mut rows = Rows::default();
    let mut run = || -> Result<()> {
        session.simple_query(text)?;
        while session.simple_next()? {
            match session.run("", 0, &mut rows)? {
                Progress::Complete(tag) => rows.0.push(match tag.rows {
                    Some(count) => format!("{} {count}", tag.words),
                    None => tag.words.to_owned(),
                }),
                other => rows.0.push(format!("{other:?}")),
            }
        }
        Ok(())
    };
    if let Err(error) = run() {
        rows.0.push(format!("{} {}", error.state(), error.fields().message));
        context = error.fields().context.clone();
    }
    (rows.0, context)
}

#[test]
fn a_select_without_a_table() {
    let engine = engine();
    let mut session = session(&engine);
    assert_eq!(say(&mut session, "select 1, 'a'::text, null"), ["1|a|", "SELECT 1"]);
    assert_eq!(say(&mut session, "select 2 + 3 * 4"), ["14", "SELECT 1"]);
    assert_eq!(say(&mut session, "select 1/0"), ["22012 division by zero"]);
    assert_eq!(say(&mut session, "selec"), ["42601 syntax error at or near \"selec\""]);
    assert_eq!(say(&mut session, ""), Vec::<String>::new());
}

/// Each statement reads `now` anew, whoever has run the same text before; a prepared one keeps what it has read.
#[test]
fn a_literal_that_says_when_it_was_read() {
    let engine = engine();
    let (mut one, mut other) = (session_of(&engine, 1), session_of(&engine, 2));
    say(&mut one, "create table t (d timestamptz, i int)");
    let mut at = |text: &str| {
        let times = [&mut one, &mut other].map(|session| {
            say(session, "select pg_sleep(0.002)");
            say(session, text)
        });
        say(&mut one, "select pg_sleep(0.002)");
        (times, say(&mut one, text))
    };
    let rows = vec!["(' Now ', 1)"; 40].join(", ");
    for text in [
        "select 'now'::timestamptz",
        "select '{NOW}'::timestamptz[]",
        "insert into t values ('now', 1) returning d",
        &format!("insert into t values {rows} returning d"),
        "select 'now'::timestamptz from pg_class where relname = 'pg_class'",
    ] {
        let ([first, second], third) = at(text);
        assert!(first != second && second != third && first != third, "{text}");
        assert_eq!(first.len(), third.len(), "{text}");
    }
    say(&mut one, "prepare p as select 'now'::timestamptz");
    let first = say(&mut one, "execute p");
    say(&mut one, "select pg_sleep(0.002)");
    assert_eq!(say(&mut one, "execute p"), first);
    // What does not depend on the time is still planned once.
    let kept = "select '2020-01-01'::date from pg_class where relname = 'pg_class'";
    let made = engine.plans().len();
    say(&mut one, kept);
    assert_eq!(engine.plans().len(), made + 1);
}

#[test]
fn tables_rows_and_a_block() {
    let engine = engine();
    let mut session = session(&engine);
    let script: &[(&str, &[&str])] = &[
        ("create table t (a int primary key, b text)", &["CREATE TABLE"]),
        ("insert into t values (1, 'x'), (2, 'y')", &["INSERT 0 2"]),
        ("select * from t where a = 2", &["2|y", "SELECT 1"]),
        (
            "insert into t values (1, 'z')",
            &["23505 duplicate key value violates unique constraint \"t_pkey\""],
        ),
        ("begin; update t set b = 'w' where a = 1; rollback", &["BEGIN", "UPDATE 1", "ROLLBACK"]),
        ("select b from t order by a", &["x", "y", "SELECT 2"]),
        ("begin", &["BEGIN"]),
        ("savepoint s", &["SAVEPOINT"]),
        ("delete from t", &["DELETE 2"]),
        ("select nothing", &["42703 column \"nothing\" does not exist"]),
        (
            "select 1",
            &[
                "25P02 current transaction is aborted, commands ignored until end of transaction block",
            ],
        ),
        ("rollback to s", &["ROLLBACK"]),
        ("select count(*) from t", &["2", "SELECT 1"]),
        ("update t set b = b || '!' returning a, b", &["1|x!", "2|y!", "UPDATE 2"]),
        ("commit", &["COMMIT"]),
        ("select sum(a), max(b) from t", &["3|y!", "SELECT 1"]),
        ("drop table t", &["DROP TABLE"]),
        ("select * from t", &["42P01 relation \"t\" does not exist"]),
    ];
    for (text, expected) in script {
        assert_eq!(say(&mut session, text), *expected, "{text}");
    }
}

#[test]
fn pgbench_transactions() {
    let engine = engine();
    let mut session = session(&engine);
    let script: &[(&str, &[&str])] = &[
        (
            "create table pgbench_history(tid int,bid int,aid int,delta int,mtime timestamp,filler char(22))",
            &["CREATE TABLE"],
        ),
        (
            "create table pgbench_accounts(aid int not null,bid int,abalance int,filler char(84)) with (fillfactor=100)",
            &["CREATE TABLE"],
        ),
        (
            "insert into pgbench_accounts(aid,bid,abalance,filler) select aid, (aid - 1) / 100000 + 1, 0, '' from generate_series(1, 1000) as aid",
            &["INSERT 0 1000"],
        ),
        ("alter table pgbench_accounts add primary key (aid)", &["ALTER TABLE"]),
        ("BEGIN", &["BEGIN"]),
        ("UPDATE pgbench_accounts SET abalance = abalance + 77 WHERE aid = 500", &["UPDATE 1"]),
        ("SELECT abalance FROM pgbench_accounts WHERE aid = 500", &["77", "SELECT 1"]),
        (
            "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, 500, 77, CURRENT_TIMESTAMP)",
            &["INSERT 0 1"],
        ),
        ("END", &["COMMIT"]),
        ("select sum(abalance), count(*) from pgbench_accounts", &["77|1000", "SELECT 1"]),
        ("truncate pgbench_history", &["TRUNCATE TABLE"]),
        ("select count(*) from pgbench_history", &["0", "SELECT 1"]),
    ];
    for (text, expected) in script {
        assert_eq!(say(&mut session, text), *expected, "{text}");
    }
}

#[test]
fn a_prepared_statement_runs_again_and_again() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int primary key, b text)");
    say(&mut session, "insert into t values (1, 'one'), (2, 'two')");
    session.parse("s", "select b from t where a = $1", &[]).unwrap();
    assert_eq!(session.describe_statement("s").unwrap().parameters.len(), 1);
    for (value, expected) in [("1", "one"), ("2", "two"), ("1", "one")] {
        let mut parameters = 1_i32.to_be_bytes().to_vec();
        parameters.extend_from_slice(value.as_bytes());
        let bind = Bind {
            portal: "",
            statement: "s",
            parameter_formats: &[],
            parameter_count: 1,
            parameters: &parameters,
            result_formats: &[],
        };
        session.bind(&bind).unwrap();
        let mut rows = Rows::default();
        session.run("", 0, &mut rows).unwrap();
        session.sync().unwrap();
        assert_eq!(rows.0, [expected]);
    }
    say(&mut session, "alter table t drop column b");
    let error = session
        .bind(&Bind {
            portal: "",
            statement: "s",
            parameter_formats: &[],
            parameter_count: 1,
            parameters: &[0, 0, 0, 1, b'1'],
            result_formats: &[],
        })
        .and_then(|()| session.run("", 0, &mut Rows::default()).map(drop))
        .unwrap_err();
    assert_eq!(error.state().code(), "42703");
}

#[test]
fn a_transaction_that_has_only_read_ends_with_its_portal() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int primary key); create sequence s");
    for (text, reads) in [
        ("select a from t", true),
        ("select pg_advisory_xact_lock(1)", true),
        ("select nextval('s')", true),
        ("select set_config('work_mem', '1MB', true)", true),
        ("insert into t select count(*) from t", false),
        ("select a from t for update", true),
        ("select txid_current()", false),
        ("select pg_notify('channel', '')", false),
    ] {
        session.parse("", text, &[]).unwrap();
        session.sync().unwrap();
        bound(&mut session, "", false);
        assert!(session.block.is_implicit(), "{text}");
        session.sync().unwrap();
        assert!(!session.block.is_implicit(), "{text}");
        bound(&mut session, "", true);
        assert_eq!(session.block.is_implicit(), !reads, "{text}");
        session.sync().unwrap();
        assert!(!session.block.is_implicit(), "{text}");
    }
    assert_eq!(
        say(&mut session, "select count(*) from pg_locks where locktype = 'advisory'")[0],
        "0"
    );
    assert_eq!(say(&mut session, "show work_mem")[0], "4MB");
    session.parse("", "select a from t", &[]).unwrap();
    say(&mut session, "begin");
    session.parse("", "select a from t", &[]).unwrap();
    bound(&mut session, "", true);
    assert!(session.block.is_explicit());
}

#[test]
fn queries_of_many_shapes() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table p (id int primary key, name text)");
    say(&mut session, "create table c (id int primary key, p int references p, v int)");
    say(&mut session, "insert into p values (1, 'a'), (2, 'b'), (3, 'c')");
    say(&mut session, "insert into c values (10, 1, 5), (11, 1, 6), (12, 2, 7), (13, null, 8)");
    let script: &[(&str, &[&str])] = &[
        (
            "select p.name, c.v from p join c on c.p = p.id order by c.v desc",
            &["b|7", "a|6", "a|5", "SELECT 3"],
        ),
        (
            "select p.name, count(c.id) from p left join c on c.p = p.id group by p.name order by 1",
            &["a|2", "b|1", "c|0", "SELECT 3"],
        ),
        (
            "select name from p where exists (select 1 from c where c.p = p.id) order by name",
            &["a", "b", "SELECT 2"],
        ),
        (
            "select name, (select max(v) from c where c.p = p.id) from p order by id",
            &["a|6", "b|7", "c|", "SELECT 3"],
        ),
        ("select id from p where id in (select p from c) order by id", &["1", "2", "SELECT 2"]),
        ("select id from p where id not in (select p from c)", &["SELECT 0"]),
        (
            "with recursive n(i) as (select 1 union all select i + 1 from n where i < 4) select sum(i) from n",
            &["10", "SELECT 1"],
        ),
        (
            "select name, x from p, lateral (select v as x from c where c.p = p.id order by v limit 1) s order by name",
            &["a|5", "b|7", "SELECT 2"],
        ),
        ("select id from p union select p from c order by 1", &["1", "2", "3", "", "SELECT 4"]),
        ("select distinct p from c order by p nulls first", &["", "1", "2", "SELECT 3"]),
        (
            "insert into c values (14, 9, 1)",
            &["23503 insert or update on table \"c\" violates foreign key constraint \"c_p_fkey\""],
        ),
        (
            "delete from p where id = 1",
            &[
                "23503 update or delete on table \"p\" violates foreign key constraint \"c_p_fkey\" on table \"c\"",
            ],
        ),
        (
            "insert into p values (1, 'z'), (4, 'd') on conflict (id) do update set name = excluded.name || p.name returning id, name",
            &["1|za", "4|d", "INSERT 0 2"],
        ),
        ("insert into p values (1, 'q') on conflict do nothing", &["INSERT 0 0"]),
        (
            "update c set v = v + 1 from p where p.id = c.p and p.name = 'b' returning c.v",
            &["8", "UPDATE 1"],
        ),
        ("delete from c using p where c.p = p.id and p.name = 'b'", &["DELETE 1"]),
        ("select id from p order by id desc limit 1 offset 1", &["3", "SELECT 1"]),
        ("select v from c for update", &["5", "6", "8", "SELECT 3"]),
    ];
    for (text, expected) in script {
        assert_eq!(say(&mut session, text), *expected, "{text}");
    }
}

#[test]
fn a_statement_within_another_is_not_found_by_the_text_of_both() {
    let engine = engine();
    let mut session = session(&engine);
    for _ in 0..2 {
        assert_eq!(say(&mut session, "prepare p as select 1"), ["PREPARE"]);
        assert_eq!(say(&mut session, "deallocate p"), ["DEALLOCATE"]);
        assert_eq!(say(&mut session, "begin"), ["BEGIN"]);
        assert_eq!(say(&mut session, "declare c cursor for select 1"), ["DECLARE CURSOR"]);
        assert_eq!(say(&mut session, "fetch c"), ["1", "FETCH 1"]);
        assert_eq!(say(&mut session, "commit"), ["COMMIT"]);
    }
    assert_eq!(
        say(&mut session, "begin; declare c cursor for select 2; fetch all c; close c"),
        ["BEGIN", "DECLARE CURSOR", "2", "FETCH 1", "CLOSE CURSOR"]
    );
}

/// The first line of what EXPLAIN says of a query.
fn plan_of(session: &mut Session, query: &str) -> Vec<String> {
    let mut lines = say(session, &format!("explain (costs off) {query}"));
    assert_eq!(lines.pop().as_deref(), Some("EXPLAIN"));
    lines
}

#[test]
fn analyze_changes_plans() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table few (id int primary key, kind int, big int)");
    say(&mut session, "create index few_kind on few (kind)");
    say(&mut session, "insert into few select g, 1, g from generate_series(1, 5000) g");
    let query = "select * from few where kind = 1";
    // Of a value that nobody has looked at there are few rows.
    assert_eq!(plan_of(&mut session, query)[0], "Index Scan using few_kind on few");
    say(&mut session, "analyze few");
    // There is no other value.
    assert_eq!(plan_of(&mut session, query), ["Seq Scan on few", "  Filter: (kind = 1)"]);
    let rare = plan_of(&mut session, "select * from few where kind = 2");
    assert_eq!(rare[0], "Index Scan using few_kind on few");
    let shown = say(&mut session, "explain select * from few where kind = 1");
    assert!(shown[0].contains(" rows=5000 "), "{shown:?}");
    let shown = say(&mut session, "explain select * from few where big <= 1250");
    assert!(shown[0].contains(" rows=125") || shown[0].contains(" rows=124"), "{shown:?}");
    // The plan of a prepared statement too.
    say(&mut session, "create table more (id int primary key, few int)");
    say(&mut session, "insert into more select g, g from generate_series(1, 5000) g");
    say(
        &mut session,
        "prepare p as select * from few join more on more.few = few.id where few.kind = 1",
    );
    let lines = say(&mut session, "explain (costs off) execute p");
    assert_eq!(lines[0], "Hash Join", "{lines:?}");
    say(&mut session, "update few set kind = id");
    say(&mut session, "analyze few");
    let lines = say(&mut session, "explain (costs off) execute p");
    assert!(lines.iter().any(|line| line.contains("Index Scan using few_kind")), "{lines:?}");
}

#[test]
fn the_least_and_the_greatest_value_are_one_end_of_a_key() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int, b int, k int, n int not null, primary key (a, b))");
    say(&mut session, "create index t_k on t (k)");
    say(&mut session, "create index t_n on t (n)");
    say(&mut session, "insert into t select g % 10, g, g, -g from generate_series(1, 1000) g");
    for query in [
        "select max(a) from t",
        "select min(b) from t where a = 3",
        "select max(b) from t where a = 3 and k > 5",
        "select max(k) from t where n < 0 and b > 3",
        "select max(k) from t",
        "select max(n) from t",
        "select (select max(n) from t)",
    ] {
        let plan = plan_of(&mut session, query);
        assert!(plan.iter().any(|line| line.contains("Limit")), "{query}: {plan:?}");
    }
    for query in [
        "select max(k + 0) from t",
        "select max(a), count(*) from t",
        "select max(a) from t group by b",
        "select max(b) from t",
        "select max(k) filter (where n < 5) from t",
    ] {
        let plan = plan_of(&mut session, query);
        assert!(!plan.iter().any(|line| line.contains("Limit")), "{query}: {plan:?}");
    }
}

#[test]
fn many_tables_are_joined_in_some_order() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (id int primary key, next int)");
    say(&mut session, "insert into t select g, g + 1 from generate_series(1, 100) g");
    let from: Vec<String> = (0..64).map(|n| format!("t t{n}")).collect();
    let on: Vec<String> = (1..64).map(|n| format!("t{}.next = t{n}.id", n - 1)).collect();
    let query = format!(
        "select t0.id, t63.id from {} where {} and t0.id = 1",
        from.join(", "),
        on.join(" and ")
    );
    assert_eq!(say(&mut session, &query), ["1|64", "SELECT 1"]);
    let lines = plan_of(&mut session, &query);
    // Each is found by its key from the one before.
    let keys = lines.iter().filter(|line| line.contains("Index Scan using t_pkey on t t")).count();
    assert_eq!(keys, 64, "{lines:#?}");
}

#[test]
fn explain_runs_only_what_it_is_told_to() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (id int primary key)");
    say(&mut session, "explain insert into t values (1)");
    assert_eq!(say(&mut session, "select count(*) from t"), ["0", "SELECT 1"]);
    let lines = say(&mut session, "explain analyze insert into t values (1), (2)");
    assert!(lines[0].starts_with("Insert on t  (cost="), "{lines:?}");
    assert!(
        lines[0].contains(" (actual time=") && lines[0].ends_with("rows=0 loops=1)"),
        "{lines:?}"
    );
    assert!(lines[1].ends_with("rows=2 loops=1)"), "{lines:?}");
    assert!(lines[2].starts_with("Planning Time: ") && lines[2].ends_with(" ms"), "{lines:?}");
    assert!(lines[3].starts_with("Execution Time: "), "{lines:?}");
    assert_eq!(say(&mut session, "select count(*) from t"), ["2", "SELECT 1"]);
    // What a MERGE has done with the rows of its source.
    let merge = "explain (analyze, timing off, summary off, costs off) \
        merge into t using (values (1), (2), (3), (4), (5)) s(n) on id = n \
        when matched and n = 1 then delete when matched then update set id = 12 \
        when not matched and n < 5 then insert values (n)";
    let lines = say(&mut session, merge);
    assert_eq!(lines[1], "  Tuples: inserted=2 updated=1 deleted=1 skipped=1", "{lines:?}");
    say(&mut session, "delete from t where id > 4");
    // A statement within an expression of another is watched like any other.
    let lines = say(
        &mut session,
        "explain (analyze, timing off, summary off, costs off) \
         select (select max(o.id) from t o where o.id <= t.id) from t",
    );
    assert!(
        lines.iter().any(|line| line.ends_with("Aggregate (actual rows=1 loops=2)")),
        "{lines:?}"
    );
}

#[test]
fn columns_with_subqueries_are_computed_above_the_joins_around_them() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (id int primary key, a int)");
    say(&mut session, "create table u (id int primary key, t int)");
    let query = |on: &str| {
        format!(
            "select s.m, u.id from (select id, (select max(x.a) from t x where x.a > t.a) as m from t) s, u \
             where {on} = u.t"
        )
    };
    let depth = |lines: &[String]| {
        let line = lines.iter().find(|line| line.trim_start() == "SubPlan 1");
        line.map(|line| line.len() - line.trim_start().len())
    };
    assert_eq!(depth(&plan_of(&mut session, &query("s.id"))), Some(2));
    // What a condition reads has to be there before.
    assert!(depth(&plan_of(&mut session, &query("s.m"))) > Some(2));
}

#[test]
fn joins_of_system_relations_read_the_inner_one_by_its_key() {
    let engine = engine();
    let query = "select a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid where c.relname = 't'";
    let plan = plan_of(&mut session(&engine), query);
    assert_eq!(plan[0], "Nested Loop");
    assert_eq!(plan.last().map(|line| line.trim()), Some("Filter: (attrelid = c.oid)"));
}

#[test]
fn explain_shows_parameters_by_number() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (id int primary key)");
    session.parse("", "explain (costs off) select * from t where id = $1", &[]).unwrap();
    let description = session.describe_statement("").unwrap();
    assert_eq!(description.parameters, [crate::types::Oid(23)]);
    let columns = description.rows.unwrap().columns;
    assert_eq!((&*columns[0].name, columns[0].ty.oid.0), ("QUERY PLAN", 25));
    let bind = Bind {
        portal: "",
        statement: "",
        parameter_formats: &[],
        parameter_count: 1,
        parameters: &[0, 0, 0, 1, b'7'],
        result_formats: &[],
    };
    session.bind(&bind).unwrap();
    let mut rows = Rows::default();
    session.run("", 0, &mut rows).unwrap();
    assert_eq!(rows.0, ["Index Scan using t_pkey on t", "  Index Cond: (id = $1)"]);
    session.parse("", "explain (format json) select 1", &[]).unwrap();
    let description = session.describe_statement("").unwrap();
    assert_eq!(description.rows.unwrap().columns[0].ty.oid.0, 114);
}

#[test]
fn sides_of_an_or_are_read_by_several_keys() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (id int primary key, a int, b int, c int)");
    say(&mut session, "create index t_a on t (a); create index t_b on t (b, c)");
    say(&mut session, "insert into t select n, n, n, n from generate_series(1, 1000) n; analyze t");
    let mut plan = |condition: &str| {
        let mut lines =
            say(&mut session, &format!("explain (costs off) select * from t where {condition}"));
        lines.pop();
        lines
    };
    let keys = "Index Scan using t_a, t_b on t";
    assert_eq!(plan("a = 1 or b = 2"), [keys, "  Index Cond: ((a = 1) OR (b = 2))"]);
    assert_eq!(
        plan("(a in (1, 2) or b = 2 and c > 3) and id < 900"),
        [
            "Index Scan using t_a, t_b on t",
            "  Index Cond: ((a = ANY ('{1,2}'::integer[])) OR ((b = 2) AND (c > 3)))",
            "  Filter: (id < 900)"
        ]
    );
    // What a way does not say all of is asked of its rows.
    let filtered = plan("a = 1 or b = 2 and id % 2 = 0");
    assert_eq!(filtered[..2], [keys, "  Index Cond: ((a = 1) OR (b = 2))"]);
    assert_eq!(filtered[2], "  Filter: ((a = 1) OR ((b = 2) AND ((id % 2) = 0)))");
    // All sides need one, and all of the table is read where that is less.
    assert_eq!(plan("a = 1 or c = 2")[0], "Seq Scan on t");
    assert_eq!(plan("a > 1 or b > 2")[0], "Seq Scan on t");
    // One key that serves all is better.
    assert_eq!(plan("(a = 1 or b = 2) and id = 3")[0], "Index Scan using t_pkey on t");
}

/// What differs from PostgreSQL, which knows a row by its place: here it is known by its key.
#[test]
fn current_of_finds_rows_by_their_keys() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (id int primary key, a text)");
    say(&mut session, "insert into t values (1, 'one'), (2, 'two'); begin");
    say(&mut session, "declare c cursor for select a from t; fetch c");
    // The key has changed, and then belongs to another row.
    assert_eq!(say(&mut session, "update t set id = 3 where current of c"), ["UPDATE 1"]);
    assert_eq!(say(&mut session, "update t set a = 'x' where current of c"), ["UPDATE 0"]);
    say(&mut session, "insert into t values (1, 'new')");
    assert_eq!(say(&mut session, "delete from t where current of c"), ["DELETE 1"]);
    // A portal whose rows nobody locks does not tell their keys.
    session.parse("", "select a from t", &[]).unwrap();
    let bind = Bind {
        portal: "p",
        statement: "",
        parameter_formats: &[],
        parameter_count: 0,
        parameters: &[],
        result_formats: &[],
    };
    session.bind(&bind).unwrap();
    session.run("p", 1, &mut Rows::default()).unwrap();
    let refused = say(&mut session, "delete from t where current of p");
    assert!(refused[0].starts_with("0A000"), "{refused:?}");
    say(&mut session, "rollback");
    // Rows of two tables, one behind the other: no scan of either.
    say(&mut session, "begin; declare c cursor for select a from t union all select a from t");
    let refused = say(&mut session, "fetch c; delete from t where current of c");
    assert!(refused.iter().any(|line| line.starts_with("24000")), "{refused:?}");
}

#[test]
fn constants_of_a_with_query_that_runs_by_itself_are_computed_though_nobody_reads_them() {
    let engine = engine();
    let mut session = session(&engine);
    let query = "with x as materialized (select 1 / 0 as y) select 1 from x";
    assert_eq!(say(&mut session, query), ["22012 division by zero"]);
    // One that is merged is a query in FROM, of which nobody reads the column.
    let query = "with x as (select 1 / 0 as y) select 1 from x";
    assert_eq!(say(&mut session, query), ["1", "SELECT 1"]);
}

#[test]
fn the_condition_of_a_merge_is_boolean() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int)");
    let merge = "merge into t using t s on t.a when matched then do nothing";
    let refused = "42804 argument of JOIN/ON must be type boolean, not type integer";
    assert_eq!(say(&mut session, merge), [refused]);
}

#[test]
fn a_full_join_takes_any_condition() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int); insert into t values (1), (2), (3)");
    let join = "select l.a, r.a from t l full join t r on l.a > r.a + 1 order by 1, 2";
    let rows = ["3|1", "1|", "2|", "|2", "|3", "SELECT 5"];
    let mut found = say(&mut session, join);
    found.sort();
    let mut rows = rows.map(str::to_owned).to_vec();
    rows.sort();
    assert_eq!(found, rows);
}

#[test]
fn an_interval_of_too_many_years_is_refused() {
    let engine = engine();
    let mut session = session(&engine);
    let refused = "22008 interval out of range";
    assert_eq!(say(&mut session, "select make_interval(years => 2147483647)"), [refused]);
}

/// What an index or a generated column may hold: casts through the text form by both types' functions.
#[test]
fn indexes_and_generated_columns_are_immutable() {
    let engine = engine();
    let mut session = session(&engine);
    for text in [
        "create type mood as enum ('a', 'b')",
        "create type pair as (x int, y text)",
        "create domain named as mood",
        "create domain counted as int",
        "create table t (e mood, m mood[], d date, z timestamptz, s timestamp, v interval, \
         f float8, i int, ia int[], da date[], n name, p pair, k counted, w named, x text, \
         r regclass, b bytea, j jsonb, u uuid)",
    ] {
        assert_eq!(say(&mut session, text).len(), 1, "{text}");
    }
    let refused = [
        "e::text",
        "'x' || e",
        "e || 'x'",
        "lower(e::text)",
        "coalesce(e::text, 'z')",
        "w::text",
        "x::mood",
        "m::text",
        "m::text[]",
        "d::text",
        "'x' || d",
        "z::text",
        "z::date",
        "s::text",
        "v::text",
        "'x' || v",
        "ia::text",
        "da::text[]",
        "da::timestamptz[]",
        "p::text",
        "row(i, e)::text",
        "r::text",
        "x::date",
        "x::timestamp",
        "x::interval",
        "x::regclass",
        "x::int[]",
        "d::text::date",
        "to_char(d, 'YYYY')",
        "to_char(i, '9')",
        "age(s)",
        "date_trunc('day', z)",
        "extract(day from z)",
        "concat(i, 'x')",
        "format('%s', i)",
        "array_to_string(ia, ',')",
        "d = z",
        "nullif(d, z)",
        "d is distinct from z",
        "d = any (array[z])",
    ];
    for expression in refused {
        let index = format!("create index on t (({expression}))");
        let expected = "42P17 functions in index expression must be marked IMMUTABLE";
        assert_eq!(say(&mut session, &index), [expected], "{expression}");
    }
    let taken = [
        "e = 'a'",
        "e::mood",
        "i::text",
        "'x' || i",
        "f::text",
        "n::text",
        "k::text",
        "b::text",
        "j::text",
        "u::text",
        "x::int",
        "x::float8",
        "x::jsonb",
        "ia::text[]",
        "ia::float8[]",
        "da::timestamp[]",
        "s::date",
        "d::timestamp",
        "age(s, s)",
        "date_trunc('day', s)",
        "extract(day from s)",
        "z at time zone 'UTC'",
        "('1' || i::text)::int",
        "n || 'x'",
    ];
    for expression in taken {
        let index = format!("create index on t (({expression}))");
        assert_eq!(say(&mut session, &index), ["CREATE INDEX"], "{expression}");
    }
    let partial = "create index on t (i) where e::text = 'a'";
    let expected = "42P17 functions in index predicate must be marked IMMUTABLE";
    assert_eq!(say(&mut session, partial), [expected]);
    for (generation, answer) in [
        ("(e::text)", "42P17 generation expression is not immutable"),
        ("('x' || e)", "42P17 generation expression is not immutable"),
        ("(i::text)", "CREATE TABLE"),
    ] {
        let text = format!(
            "create table g (e mood, i int, g text generated always as {generation} stored)"
        );
        assert_eq!(say(&mut session, &text), [answer], "{generation}");
    }
}

/// A field that a type does not have is refused though no row is there, and by its own SQLSTATE.
#[test]
fn fields_that_are_none() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a timestamp, b date)");
    say(&mut session, "prepare p (text) as select date_part($1, interval '1 day') from t");
    say(&mut session, "prepare q (text) as select date_trunc($1, timestamp '2020-01-01') from t");
    for (text, expected) in [
        (
            "select extract(hour from date '2020-01-01') from t",
            "0A000 unit \"hour\" not supported for type date",
        ),
        (
            "select extract(foo from date '2020-01-01') from t",
            "22023 unit \"foo\" not recognized for type date",
        ),
        (
            "select date_trunc('week', interval '1 day') from t",
            "0A000 unit \"week\" not supported for type interval",
        ),
        ("execute p('dow')", "0A000 unit \"dow\" not supported for type interval"),
        ("execute p('foo')", "22023 unit \"foo\" not recognized for type interval"),
        ("execute p('now')", "22023 unit \"now\" not recognized for type interval"),
        (
            "execute q('dow')",
            "22023 unit \"dow\" not recognized for type timestamp without time zone",
        ),
        (
            "select date_part('Now', timestamp '2020-01-01')",
            "0A000 unit \"now\" not supported for type timestamp without time zone",
        ),
        ("select extract(allballs from b) from t", "SELECT 0"),
    ] {
        assert_eq!(say(&mut session, text), [expected], "{text}");
    }
}

/// Where it stands in the index's definition says nothing to the client.
#[test]
fn an_expression_without_meaning_over_a_new_type_has_no_position() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (n int); create index on t ((n + 1))");
    session.simple_query("alter table t alter n type text").unwrap();
    assert!(session.simple_next().unwrap());
    let error = session.run("", 0, &mut Rows::default()).unwrap_err();
    assert_eq!(error.fields().message, "operator does not exist: text + integer");
    assert_eq!(error.fields().position, None);
    assert_eq!(say(&mut session, "alter table t alter n type bigint"), ["ALTER TABLE"]);
}

/// Relations of the system have no records that could be changed.
#[test]
fn nobody_changes_what_the_system_serves() {
    let engine = engine();
    let mut session = session(&engine);
    let answers = say(&mut session, "alter table pg_class add column x int");
    assert!(answers[0].starts_with("42501 permission denied: \"pg_"), "{answers:?}");
    // These a superuser of PostgreSQL may do.
    for text in [
        "insert into pg_class (relname) values ('x')",
        "update pg_class set relname = 'x'",
        "delete from pg_class",
        "drop view pg_locks",
        "drop view pg_tables",
    ] {
        let answers = say(&mut session, text);
        assert!(answers[0].starts_with("0A000 changing system "), "{text}: {answers:?}");
    }
}

/// Whether an outer join has a row of a table, the table's OID says; of a subquery, a column that it is given.
#[test]
fn a_row_of_nothing_but_nulls() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int, b int)");
    say(&mut session, "insert into t values (null, null)");
    let one = "select count(t), row_to_json(t)::text from (values (1)) v (x) left join";
    assert_eq!(
        say(&mut session, &format!("{one} t on true group by t")),
        ["1|{\"a\":null,\"b\":null}", "SELECT 1"]
    );
    assert_eq!(
        say(&mut session, &format!("{one} (select * from t) t on true group by t")),
        ["1|{\"a\":null,\"b\":null}", "SELECT 1"]
    );
}

/// PostgreSQL leaves the names out, and so prints what is not that view (`docs/differences.md`).
#[test]
fn a_view_over_xmltable_keeps_the_names_of_its_columns() {
    let engine = engine();
    let mut session = session(&engine);
    say(
        &mut session,
        "create view v as select y.b from xmltable('/a' passing '<a/>' columns a text) y(b)",
    );
    assert_eq!(
        say(&mut session, "select pg_get_viewdef('v')"),
        [
            " SELECT y.b\n   FROM XMLTABLE(('/a'::text) PASSING ('<a/>'::xml) COLUMNS a text) y(b);",
            "SELECT 1"
        ]
    );
}
