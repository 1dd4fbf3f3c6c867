//! Statements that are deep, long or large, and limits: an answer or an error, on the stack and in the memory that there is.

use super::tests::{engine, say, session};
use crate::Connect;
use crate::error::cancel;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use txn::SessionWait;

/// Runs `f` on a stack like a server's workers', several times as large for code that is not optimised.
fn on_a_large_stack(f: impl FnOnce() + Send + 'static) {
    let builder = std::thread::Builder::new().stack_size(256 << 20);
    builder.spawn(f).unwrap().join().unwrap();
}

/// What is deep or long: work that grows faster than the text would make these the slowest tests by far.
#[test]
fn deep_and_long_statements() {
    on_a_large_stack(|| {
        let engine = engine();
        let mut session = session(&engine);
        say(&mut session, "create table t (a int primary key, x int)");
        say(&mut session, "insert into t values (1, 2)");
        let nested = |open: &str, close: &str, times: usize| {
            format!("{}x{}", open.repeat(times), close.repeat(times))
        };
        for (value, expected) in [
            (format!("x{}", "+1".repeat(4000)), "4002"),
            (nested("(1+", ")", 1500), "1502"),
            (nested("abs(", ")", 4000), "2"),
            (nested("case when x > 9 then 1 else ", " end", 4000), "2"),
            (nested("", "::int8::int4", 2000), "2"),
            (nested("least(3, ", ")", 2000), "2"),
        ] {
            let text = format!("select {value} from t");
            assert_eq!(say(&mut session, &text), [expected, "SELECT 1"], "{:.40}", text);
        }
        let not = format!("{}false{}", "not (x = 2 and ".repeat(1500), ")".repeat(1500));
        assert_eq!(say(&mut session, &format!("select 1 from t where {not}")), ["SELECT 0"]);
        let list = |one: &dyn Fn(usize) -> String, between: &str, count: usize| {
            (3..count + 3).map(one).collect::<Vec<_>>().join(between)
        };
        for condition in [
            list(&|n| format!("x <> {n}"), " and ", 100_000),
            format!("x in ({}, 2)", list(&|n| n.to_string(), ", ", 50_000)),
            format!("a not in ({})", list(&|n| n.to_string(), ", ", 50_000)),
        ] {
            let text = format!("select x from t where {condition}");
            assert_eq!(say(&mut session, &text), ["2", "SELECT 1"], "{:.40}", text);
        }
        let rows = list(&|n| format!("({n})"), ", ", 20_000);
        let text = format!("select count(*), max(v) from (values {rows}) as l (v)");
        assert_eq!(say(&mut session, &text), ["20000|20002", "SELECT 1"]);
    });
}

/// A stack is sized for what lies one in another, however much stands side by side.
#[test]
fn a_program_is_as_high_as_it_is_deep() {
    on_a_large_stack(|| {
        let engine = engine();
        let mut session = session(&engine);
        say(&mut session, "create table t (x int)");
        say(&mut session, "create view v0 as select x from t");
        for n in 1..20 {
            let text = format!("create view v{n} as select (select x from v{}) as x", n - 1);
            assert_eq!(say(&mut session, &text), ["CREATE VIEW"]);
        }
        let mut height = |text: &str| {
            session.parse("", text, &[]).unwrap();
            let prepared = session.statement("").unwrap();
            prepared.planned.as_ref().unwrap().program.height
        };
        let wide = vec!["((select 1))"; 2000].join(", ");
        assert!(height(&format!("insert into t values {wide}")) < 10);
        assert!(height(&format!("select {} from t", vec!["(select 1)"; 1000].join(", "))) < 10);
        assert!(height(&format!("select {}x from t", "- ".repeat(50))) > 50);
        assert!(height("select * from v19") > 19);
        let chain: Vec<String> =
            (1..50).map(|n| format!("c{n} as materialized (select * from c{})", n - 1)).collect();
        let with = format!("with c0 as materialized (select 1), {}", chain.join(", "));
        assert!(height(&format!("{with} select * from c49")) > 49);
        let endless = "with recursive c (n) as (select 1 union all select n + 1 from c)";
        assert!(height(&format!("{endless} select n from c limit 3")) < 10);
    });
}

/// Joins of many inputs, crossed and in a chain.
#[test]
fn joins_of_many() {
    on_a_large_stack(|| {
        let engine = engine();
        let mut session = session(&engine);
        say(&mut session, "create table t (a int primary key, x int)");
        say(&mut session, "insert into t values (1, 1)");
        let from = |item: &str, count: usize| {
            (0..count).map(|n| format!("{item} a{n}")).collect::<Vec<_>>().join(", ")
        };
        for text in [
            format!("select 1 from {}", from("t", 1000)),
            format!("select 1 from {}", from("generate_series(1, 1)", 1000)),
            format!("select 1 from {}", from("t", 1000).replace(", ", " cross join ")),
        ] {
            assert_eq!(say(&mut session, &text), ["1", "SELECT 1"], "{:.40}", text);
        }
        for (left, right) in [("a", "x"), ("x", "x")] {
            let chain: Vec<String> =
                (1..64).map(|n| format!("a{n}.{left} = a{}.{right}", n - 1)).collect();
            let text = format!("select 1 from {} where {}", from("t", 64), chain.join(" and "));
            assert_eq!(say(&mut session, &text), ["1", "SELECT 1"], "{:.40}", text);
        }
    });
}

/// However joins are written, whoever walks them has a stack for as many as there are.
#[test]
fn joins_have_a_stack() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int primary key)");
    say(&mut session, "insert into t values (1)");
    let list = |item: &dyn Fn(u32) -> String, between: &str| {
        (0..700).map(item).collect::<Vec<_>>().join(between)
    };
    let named = |n: u32| format!("t a{n}");
    for text in [
        format!("select 1 from {}", list(&named, ", ")),
        format!("select 1 from t z join {} on true", list(&named, " cross join ")),
        format!(
            "select 1 from rows from ({})",
            list(&|_| "generate_series(1, 1)".to_owned(), ", ")
        ),
    ] {
        assert_eq!(say(&mut session, &text), ["1", "SELECT 1"], "{:.40}", text);
    }
    let text = format!("select 1 from {}", (0..7000).map(named).collect::<Vec<_>>().join(", "));
    assert_eq!(say(&mut session, &text), ["54001 stack depth limit exceeded"]);
}

#[test]
fn arrays_have_six_dimensions() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a int[], n int, v name)");
    say(&mut session, "insert into t values ('{{{{{{5}}}}}}', 1, 'x')");
    let six = "select a[1][1][1][1][1][1], array[[[[[[n]]]]]] from t";
    assert_eq!(say(&mut session, six), ["5|{{{{{{1}}}}}}", "SELECT 1"]);
    let json = r#"select ('{"a": 1}'::jsonb)['a']['a']['a']['a']['a']['a']['a']"#;
    assert_eq!(say(&mut session, json), ["", "SELECT 1"]);
    for text in [
        "select a[1][1][1][1][1][1][1] from t",
        "select a[1:1][1][1][1][1][1][1] from t where false",
        "select v[1][1][1][1][1][1][1] from t",
        "update t set a[1][1][1][1][1][1][1] = 1",
        "update t set a[1:1][1][1][1][1][1][1] = '{1}'",
        "insert into t (a[1][1][1][1][1][1][1]) values (1)",
        "select array[[[[[[[1]]]]]]]",
        "select array[[[[[[[n]]]]]]] from t",
        "select array[array[array[a]]] from t",
        "select array[a, '{1}'] from t",
        "select '{{{{{{{1}}}}}}}'::int[]",
        "select array_agg(a) from t",
        "select array_fill(1, array[1,1,1,1,1,1,1])",
    ] {
        let expected = "54000 number of array dimensions (7) exceeds the maximum allowed (6)";
        assert_eq!(say(&mut session, text), [expected], "{text}");
    }
}

/// What a path makes, and the rows of a set function, are counted while they are made: gigabytes, of which 16 MB may be.
#[test]
fn what_functions_make_is_bounded() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "set work_mem = '256kB'");
    for text in [
        "select count(*) from jsonb_path_query(jsonb_build_array(repeat('x', 1000000)), \
         ('$[' || repeat('0,', 5000) || '0]')::jsonpath)",
        "select jsonb_path_exists(jsonb_build_object('a', repeat('x', 1000000)), \
         ('$[' || repeat('0,', 5000) || '0].keyvalue() ? (1 == 2)')::jsonpath)",
    ] {
        assert_eq!(say(&mut session, text), ["53200 out of memory"], "{text}");
    }
}

#[test]
fn a_key_takes_a_third_of_a_page_at_most() {
    let engine = engine();
    let mut session = session(&engine);
    say(&mut session, "create table t (a text unique)");
    assert_eq!(say(&mut session, "insert into t values (repeat('x', 1300))"), ["INSERT 0 1"]);
    let refused =
        "54000 index row size 1402 exceeds btree version 4 maximum 1322 for index \"t_a_key\"";
    assert_eq!(say(&mut session, "insert into t values (repeat('x', 1400))"), [refused]);
}

/// An error may unwind past what runs with somebody else's rights, and past triggers.
#[test]
fn what_unwinds_leaves_the_session_who_it_was() {
    let engine = engine();
    let wait = Arc::new(SessionWait::new(1));
    let (database, user) = ("postgres".into(), "postgres".into());
    let connect = Connect { database, user, ..Connect::default() };
    let mut session = engine.connect(connect, Arc::clone(&wait)).unwrap();
    for text in [
        "create role u",
        "grant all on schema public to u",
        "create function long() returns int language plpgsql security definer as $$ begin \
         perform jsonb_pretty(('[' || repeat('[1,2],', 100000) || '1]')::jsonb); return 1; end $$",
        "create function fires() returns trigger language plpgsql as $$ begin \
         perform long(); return new; end $$",
        "create table t (a int)",
        "create trigger fires before insert on t for each row execute function fires()",
        "alter table t owner to u",
        "create materialized view v as select long() with no data",
        "alter materialized view v owner to u",
    ] {
        assert_eq!(say(&mut session, text).len(), 1, "{text}");
    }
    for text in ["select long()", "insert into t values (1)", "refresh materialized view v"] {
        say(&mut session, "set session authorization u");
        let over = AtomicBool::new(false);
        let answer = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    std::thread::sleep(Duration::from_millis(20));
                    engine.manager().environment().raise(&wait.cancel, cancel::USER);
                }
            });
            let answer = say(&mut session, text);
            over.store(true, Ordering::Release);
            answer
        });
        wait.cancel.clear();
        assert_eq!(answer, ["57014 canceling statement due to user request"], "{text}");
        let who = "select current_user, pg_trigger_depth()";
        assert_eq!(say(&mut session, who), ["u|0", "SELECT 1"], "{text}");
        let altered = say(&mut session, "alter table t alter column a type int");
        assert_eq!(altered, ["ALTER TABLE"], "{text}");
        assert_eq!(say(&mut session, "reset session authorization"), ["RESET"], "{text}");
    }
}
