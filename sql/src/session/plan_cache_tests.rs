//! What makes a plan anew, and what does not: only what it was made from; and how much is kept.

use super::tests::{engine, say, session_of};
use crate::prepared::BYTES_MAX;

/// How many plans are made while a statement is said once more.
fn made(engine: &crate::engine::Engine, body: impl FnOnce()) -> u64 {
    let before = engine.plan_metrics().misses;
    body();
    engine.plan_metrics().misses - before
}

#[test]
fn what_a_plan_is_not_made_from_makes_nothing_anew() {
    let engine = engine();
    let (mut one, mut other) = (session_of(&engine, 1), session_of(&engine, 2));
    for text in [
        "create table t (a int primary key, b text)",
        "create table o (a int primary key, c int)",
        "create view v as select a from t where b <> 'x'",
        "create domain d as int check (value > 0)",
        "insert into t values (1, 'y'), (2, 'x')",
        "insert into o values (1)",
        "prepare p as select b from t where a = $1",
    ] {
        say(&mut one, text);
    }
    let asked = [
        "select a from v",
        "select b, 'o'::regclass, '1'::d from t where a = 1",
        "select count(*) from t join o using (a)",
        "execute p (2)",
    ];
    let expected = asked.map(|text| say(&mut one, text));
    let others = [
        "create table p.t (a int)",
        "create table n (a int)",
        "comment on table t is 'x'",
        "comment on column t.a is 'x'",
        "grant select on t to public",
        "revoke select on t from public",
        "create role r",
        "grant r to postgres",
        "alter role r set work_mem = '1MB'",
        "analyze n",
        "alter table n add column b int",
        "alter table n rename to m",
        "create index on m (b)",
        "create view w as select * from m",
        "create type e as enum ('a')",
        "alter type e add value 'b'",
        "create sequence s",
        "truncate m",
        "drop view w",
        "drop table m",
        "drop type e",
        "drop role r",
        "create schema q",
        "drop schema q",
    ];
    say(&mut one, "create schema p");
    for text in others {
        let said = say(&mut other, text);
        assert!(said.concat().starts_with(|c: char| c.is_ascii_uppercase()), "{text}: {said:?}");
        let anew = made(&engine, || {
            for (text, expected) in asked.iter().zip(&expected) {
                assert_eq!(say(&mut one, text), *expected, "{text}");
            }
        });
        assert_eq!(anew, 0, "{text}");
    }
    say(&mut one, "create temp table n (a int)");
    say(&mut one, "insert into n values (1)");
    let anew = made(&engine, || {
        for (text, expected) in asked.iter().zip(&expected) {
            assert_eq!(say(&mut one, text), *expected, "{text}");
        }
    });
    assert_eq!(anew, 0, "a temporary table");
}

#[test]
fn what_a_plan_is_made_from_makes_it_anew() {
    let engine = engine();
    let (mut one, mut other) = (session_of(&engine, 1), session_of(&engine, 2));
    let steps: &[(&str, &[&str])] = &[
        ("create table public.t (a int primary key, b text)", &[]),
        ("insert into t values (1, 'late')", &["late", "SELECT 1"]),
        ("create table early.t (a int, b text)", &["SELECT 0"]),
        ("insert into early.t values (1, 'early')", &["early", "SELECT 1"]),
        ("alter table early.t alter b type char(8)", &["early   ", "SELECT 1"]),
        ("alter table early.t drop column b", &["42703 column \"b\" does not exist"]),
        ("alter table early.t rename to other", &["late", "SELECT 1"]),
        ("create view early.t as select 1 as a, 'view'::text as b", &["view", "SELECT 1"]),
        (
            "create or replace view early.t as select 1 as a, 'other'::text as b",
            &["other", "SELECT 1"],
        ),
        ("drop view early.t", &["late", "SELECT 1"]),
        ("alter table public.t set schema early", &["late", "SELECT 1"]),
        ("drop table early.t", &["42P01 relation \"t\" does not exist"]),
        ("create table early.t as select 1 as a, 'made'::text as b", &["made", "SELECT 1"]),
        ("create temp table t as select 1 as a, 'own'::text as b", &["made", "SELECT 1"]),
    ];
    say(&mut one, "create schema early");
    for session in [&mut one, &mut other] {
        say(session, "set search_path = early, public");
    }
    for (step, expected) in steps {
        say(&mut other, step);
        if !expected.is_empty() {
            assert_eq!(say(&mut one, "select b from t where a = 1"), *expected, "{step}");
        }
    }
    assert_eq!(say(&mut other, "select b from t where a = 1"), ["own", "SELECT 1"]);
    say(&mut other, "drop table pg_temp.t");
    assert_eq!(say(&mut other, "select b from t where a = 1"), ["made", "SELECT 1"]);
    say(&mut one, "create temp table t as select 1 as a, 'mine'::text as b");
    assert_eq!(say(&mut one, "select b from t where a = 1"), ["mine", "SELECT 1"]);
    assert_eq!(say(&mut other, "select b from t where a = 1"), ["made", "SELECT 1"]);
}

/// What a constant names is looked up when the plan is made: the plan goes with it.
#[test]
fn names_in_constants_and_types_are_what_a_plan_is_made_from() {
    let engine = engine();
    let (mut one, mut other) = (session_of(&engine, 1), session_of(&engine, 2));
    let ask = "select 't'::regclass::oid = (select max(oid) from pg_class where relname = 't')";
    say(&mut other, "create table t (a int)");
    assert_eq!(say(&mut one, ask), ["t", "SELECT 1"]);
    say(&mut other, "drop table t");
    assert_eq!(say(&mut one, ask), ["42P01 relation \"t\" does not exist"]);
    say(&mut other, "create table t (a int)");
    assert_eq!(say(&mut one, ask), ["t", "SELECT 1"]);
    say(&mut other, "create domain d as int check (value > 1)");
    let value = "select '1'::d";
    let refused = "23514 value for domain d violates check constraint \"d_check\"";
    assert_eq!(say(&mut one, value), [refused]);
    say(&mut other, "alter domain d drop constraint d_check");
    assert_eq!(say(&mut one, value), ["1", "SELECT 1"]);
    say(&mut other, "alter domain d add constraint c check (value > 2)");
    let refused = "23514 value for domain d violates check constraint \"c\"";
    assert_eq!(say(&mut one, value), [refused]);
    say(&mut other, "create type e as enum ('a', 'b')");
    let label = "select 'c'::e";
    assert_eq!(say(&mut one, label), ["22P02 invalid input value for enum e: \"c\""]);
    say(&mut other, "alter type e rename value 'b' to 'c'");
    assert_eq!(say(&mut one, label), ["c", "SELECT 1"]);
    say(&mut other, "alter type e rename value 'c' to 'b'");
    assert_eq!(say(&mut one, label), ["22P02 invalid input value for enum e: \"c\""]);
}

/// A plan that is kept is for who may run it now.
#[test]
fn rights_are_asked_of_the_catalog_as_it_is() {
    let engine = engine();
    let (mut one, mut other) = (session_of(&engine, 1), session_of(&engine, 2));
    say(&mut other, "create table t (a int)");
    say(&mut other, "create role r");
    say(&mut one, "set role r");
    let denied = "42501 permission denied for table t";
    assert_eq!(say(&mut one, "select * from t"), [denied]);
    say(&mut other, "grant select on t to r");
    assert_eq!(say(&mut one, "select * from t"), ["SELECT 0"]);
    assert_eq!(say(&mut one, "select * from t"), ["SELECT 0"]);
    say(&mut other, "revoke select on t from r");
    assert_eq!(say(&mut one, "select * from t"), [denied]);
    say(&mut other, "create role g");
    say(&mut other, "grant select on t to g");
    say(&mut other, "grant g to r");
    assert_eq!(say(&mut one, "select * from t"), ["SELECT 0"]);
    say(&mut other, "revoke g from r");
    assert_eq!(say(&mut one, "select * from t"), [denied]);
}

#[test]
fn what_was_not_asked_for_goes() {
    let engine = engine();
    let mut one = session_of(&engine, 1);
    let kept = "select 1 as kept";
    say(&mut one, kept);
    let mut most = 0;
    for at in 0..3_000 {
        say(&mut one, &format!("select {at} as f{at}"));
        if at % 100 == 0 {
            assert_eq!(made(&engine, || drop(say(&mut one, kept))), 0, "{at}");
            most = most.max(engine.plans().bytes());
        }
    }
    assert!((BYTES_MAX / 2..=BYTES_MAX).contains(&most), "{most}");
    assert!(engine.plans().len() < 2_000);
}

/// Storage says when trees have grown; a plan looks then whether its own have.
#[test]
fn a_plan_is_made_anew_when_its_table_has_ten_times_the_rows() {
    let engine = engine();
    let (mut one, mut other) = (session_of(&engine, 1), session_of(&engine, 2));
    for text in [
        "create table t (a int primary key, b int)",
        "create table o (a int primary key, b int)",
        "create table u (a int primary key, b int)",
        "insert into t select i, i from generate_series(1, 8) i",
        "insert into o select i, i from generate_series(1, 20000) i",
        "analyze t, o",
        "create function f() returns bigint language plpgsql stable as
           $$ declare n bigint; begin select count(o.b) into n from t join o on o.a = t.b; return n; end $$",
        "prepare p as select count(o.b) from t join o on o.a = t.b",
    ] {
        say(&mut one, text);
    }
    let ask = |session: &mut super::Session, expected: &str| {
        for text in ["select count(o.b) from t join o on o.a = t.b", "execute p", "select f()"] {
            assert_eq!(say(session, text), [expected, "SELECT 1"], "{text}");
        }
    };
    let shown =
        |session: &mut super::Session| say(session, "explain (costs off) execute p").concat();
    ask(&mut one, "8");
    let first = shown(&mut one);
    assert!(first.contains("Nested Loop"), "{first}");
    // Another table's growth, and a little of its own, change no plan.
    say(&mut other, "insert into u select i, i from generate_series(1, 20000) i");
    say(&mut other, "insert into t select i, i from generate_series(9, 60) i");
    assert_eq!(made(&engine, || ask(&mut one, "60")), 0);
    assert_eq!(shown(&mut one), first);
    say(&mut other, "insert into t select i, i from generate_series(61, 20000) i");
    assert_eq!(made(&engine, || ask(&mut one, "20000")), 3);
    let grown = shown(&mut one);
    assert!(!grown.contains("Nested Loop"), "{grown}");
    assert_eq!(made(&engine, || ask(&mut one, "20000")), 0);
}
