//! What is nested without an end, or very far: objects that name each other, values in values, views on views. The answer is
//! PostgreSQL's or 54001, and every session goes on.

use tests::atoll::Atoll;
use tests::dialogue::Dialogue;

#[test]
fn a_domain_whose_condition_casts_to_itself_is_54001_wherever_it_is_met() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE DOMAIN d AS int");
    client.run("CREATE TYPE comp AS (f d, g int)");
    client.run("CREATE TABLE t (a d DEFAULT 5, b int)");
    client.run("CREATE TABLE c (a comp)");
    client.run("INSERT INTO t VALUES (1, 2)");
    client.run("INSERT INTO c VALUES ('(1,2)')");
    client.run("ALTER DOMAIN d ADD CHECK (VALUE::text::d > 0) NOT VALID");
    client.run("CREATE DOMAIN one AS int");
    client.run("CREATE DOMAIN other AS int CHECK (VALUE::one > 0)");
    client.run("ALTER DOMAIN one ADD CHECK (VALUE::int::other > 0)");
    // Its condition has a literal, which is read when it is bound.
    client.run("CREATE DOMAIN literal AS int");
    client.run("CREATE TYPE holder AS (f literal)");
    client.run("ALTER DOMAIN literal ADD CHECK (('(1)'::holder).f > 0) NOT VALID");
    client.run("PREPARE p (d) AS SELECT $1");
    for statement in [
        "SELECT 1::d",
        "SELECT NULL::d",
        "SELECT '(1,2)'::comp",
        "SELECT ROW(1, 2)::comp",
        "SELECT ARRAY[1]::d[]",
        "SELECT '{1,2}'::d[]",
        "SELECT json_populate_record(NULL::comp, '{\"f\":1}')",
        "INSERT INTO t VALUES (1, 2)",
        "INSERT INTO t (b) VALUES (2)",
        "UPDATE t SET a = 3",
        "UPDATE c SET a.f = 3",
        "ALTER TABLE t ALTER b TYPE d",
        "EXECUTE p (1)",
        "SELECT 1::one",
        "SELECT 1::other",
        "SELECT 1::literal",
    ] {
        assert_eq!(client.query(statement).sqlstate(), "54001", "{statement}");
    }
    assert_eq!(client.copy_in("COPY t FROM STDIN", b"1\t2\n").sqlstate(), "54001");
    assert_eq!(client.query_extended("SELECT $1::d", &[Some("1")]).sqlstate(), "54001");
    client.run("ALTER DOMAIN d DROP CONSTRAINT d_check");
    client.run("UPDATE t SET a = 3");
    assert_eq!(client.run("SELECT a FROM t").value(), "3");
    assert_eq!(atoll.connect().run("SELECT 1").value(), "1");
}

#[test]
fn views_that_read_each_other_end_no_session() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    for (statement, state) in [
        ("CREATE VIEW a AS SELECT 1 AS x", ""),
        ("CREATE VIEW b AS SELECT * FROM a", ""),
        ("CREATE OR REPLACE VIEW a AS SELECT * FROM b", ""),
        ("BEGIN", ""),
        ("LOCK TABLE a", ""),
        ("LOCK TABLE a, b IN SHARE MODE", ""),
        ("COMMIT", ""),
        ("SELECT * FROM a", "42P17"),
        ("INSERT INTO a VALUES (1)", "42P17"),
        ("EXPLAIN SELECT * FROM b", "42P17"),
        ("ALTER VIEW a RENAME TO c", ""),
        ("ALTER VIEW c RENAME COLUMN x TO y", ""),
        ("GRANT SELECT ON c TO PUBLIC", ""),
        ("ALTER VIEW b OWNER TO CURRENT_USER", ""),
        ("COMMENT ON VIEW b IS 'a circle'", ""),
        ("SELECT * FROM c", "42P17"),
    ] {
        assert_eq!(client.query(statement).sqlstate(), state, "{statement}");
    }
    let shown = client.run("SELECT pg_get_viewdef('b'::regclass)").value().to_owned();
    assert_eq!(shown, " SELECT c.y AS x\n   FROM c;");
    assert_eq!(client.query("DROP VIEW b").sqlstate(), "2BP01");
    client.run("DROP VIEW b CASCADE");
    assert_eq!(client.query("SELECT * FROM c").sqlstate(), "42P01");
    assert_eq!(atoll.connect().run("SELECT 1").value(), "1");
}

/// A recursive query whose last row holds `x`, a row in a row and so on, this often.
fn nested_row(times: usize) -> String {
    format!(
        "WITH RECURSIVE r AS (SELECT 1 AS n, ROW(1) AS x UNION ALL SELECT n + 10, {}x{} FROM r WHERE n < {times})",
        "ROW(".repeat(10),
        ")".repeat(10)
    )
}

#[test]
fn values_nested_beyond_the_stack_are_54001() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    let mut binary = Dialogue::new(atoll.connect());
    let last = "FROM r WHERE n > 10990";
    for walk in [
        format!("SELECT x::text {last}"),
        format!("SELECT x {last}"),
        format!("SELECT row_to_json(x) {last}"),
        format!("SELECT x = x {last}"),
        "SELECT DISTINCT x FROM r WHERE n > 10990".to_owned(),
        "SELECT n FROM r WHERE n > 10990 ORDER BY x".to_owned(),
        "SELECT x, count(*) FROM r WHERE n > 10990 GROUP BY x".to_owned(),
    ] {
        let text = format!("{} {walk}", nested_row(11_000));
        assert_eq!(client.query(&text).sqlstate(), "54001", "{walk}");
        assert_eq!(client.run("SELECT 1").value(), "1");
    }
    binary.parse("", &format!("{} SELECT x {last}", nested_row(11_000)));
    binary.bind_in("", "", &[], &[1]);
    binary.execute("", 0);
    binary.sync();
    binary.answer();
    assert!(binary.lines.iter().any(|line| line.contains("54001")), "{:?}", binary.lines);
    assert_eq!(atoll.connect().run("SELECT 1").value(), "1");
}

#[test]
fn what_views_bring_in_is_counted() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    let queries = |inner: &str| {
        let (open, close) = ("SELECT DISTINCT a FROM (", ") s ORDER BY a LIMIT 5");
        format!("{}SELECT a FROM {inner}{}", open.repeat(40), close.repeat(40))
    };
    let calls = |inner: &str| {
        format!("SELECT {}a{} AS a FROM {inner}", "-(-(".repeat(600), "))".repeat(600))
    };
    client.run("CREATE TABLE t (a int)");
    client.run("INSERT INTO t VALUES (1)");
    client.run(&format!("CREATE VIEW v1 AS {}", queries("t")));
    client.run(&format!("CREATE VIEW v2 AS {}", queries("v1")));
    client.run(&format!("CREATE VIEW v3 AS {}", calls("v2")));
    client.run(&format!("CREATE VIEW v4 AS {}", calls("v3")));
    client.run("CREATE TABLE c (a int CHECK (a > 0), b int DEFAULT 1)");
    client.run("CREATE VIEW w0 AS SELECT a FROM t");
    for number in 1..=100 {
        client.run(&format!("CREATE VIEW w{number} AS SELECT a FROM w{}", number - 1));
    }
    assert_eq!(client.run("SELECT a FROM v2").value(), "1");
    assert_eq!(client.run("SELECT a FROM v3").value(), "1");
    assert_eq!(client.run("SELECT a FROM w100").value(), "1");
    client.run("UPDATE w100 SET a = 2");
    // Where one view more was too much, PostgreSQL makes it, and refuses to read it.
    client.query(&format!("CREATE VIEW v5 AS {}", calls("v4")));
    client.query(&format!("CREATE VIEW v6 AS {}", calls("v5")));
    for walk in [
        "SELECT a FROM v3",
        "SELECT a FROM v4",
        "SELECT a FROM v5",
        "EXPLAIN SELECT a FROM v3",
        "EXPLAIN (FORMAT json, VERBOSE) SELECT a FROM v2",
        "SELECT length(pg_get_viewdef('v3'::regclass)) > 0",
        "SELECT count(*) FROM t WHERE a IN (SELECT a FROM v3)",
        "CREATE TABLE made AS SELECT a FROM v4",
        "CREATE MATERIALIZED VIEW kept AS SELECT a FROM v3",
        "LOCK TABLE v4",
        "ALTER TABLE t RENAME a TO b",
        "ALTER TABLE t RENAME b TO a",
        "DECLARE c CURSOR WITH HOLD FOR SELECT a FROM v3",
        "COPY (SELECT a FROM v3) TO STDOUT",
        "DROP TABLE t",
        "DROP TABLE t CASCADE",
    ] {
        let reply = client.query(walk);
        let state = reply.sqlstate();
        assert!(["", "54001", "2BP01", "25P01", "42P01"].contains(&state), "{walk}: {state}");
        assert_eq!(client.run("SELECT 1").value(), "1", "{walk}");
    }
    assert_eq!(atoll.connect().run("SELECT 1").value(), "1");
}

#[test]
fn long_chains_of_objects_are_walked_to_their_end() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("BEGIN");
    client.run("CREATE DOMAIN d0 AS int CHECK (VALUE > 0)");
    client.run("CREATE TYPE c0 AS (f int)");
    client.run("CREATE TABLE t0 (id int PRIMARY KEY)");
    client.run("CREATE ROLE r0");
    for (number, below) in (1..=60).zip(0..) {
        client.run(&format!("CREATE DOMAIN d{number} AS d{below} CHECK (VALUE::d{below} > 0)"));
        client.run(&format!("CREATE TYPE c{number} AS (f c{below})"));
        client.run(&format!(
            "CREATE TABLE t{number} (id int PRIMARY KEY REFERENCES t{below} ON DELETE CASCADE ON UPDATE CASCADE)"
        ));
        client.run(&format!("CREATE ROLE r{number} IN ROLE r{below}"));
    }
    client.run("COMMIT");
    for number in 0..=60 {
        client.run(&format!("INSERT INTO t{number} VALUES (1)"));
    }
    assert_eq!(client.run("SELECT 1::d60").value(), "1");
    assert_eq!(client.query("SELECT (-1)::d60").sqlstate(), "23514");
    client.run("CREATE TABLE holder (a d60, b c60)");
    client.run("INSERT INTO holder VALUES (1, NULL)");
    client.run("ALTER DOMAIN d0 ADD CHECK (VALUE < 9)");
    assert_eq!(client.query("UPDATE holder SET a = 10").sqlstate(), "23514");
    assert_eq!(client.run("SELECT count(DISTINCT b) FROM holder").value(), "0");
    client.run("UPDATE t0 SET id = 2");
    assert_eq!(client.run("SELECT id FROM t60").value(), "2");
    client.run("DELETE FROM t0");
    assert_eq!(client.run("SELECT count(*) FROM t60").value(), "0");
    assert_eq!(client.run("SELECT pg_has_role('r60', 'r0', 'MEMBER')").value(), "t");
    assert_eq!(client.query("GRANT r60 TO r0").sqlstate(), "0LP01");
    assert_eq!(client.query("DROP DOMAIN d0").sqlstate(), "2BP01");
    client.run("DROP DOMAIN d0 CASCADE");
    client.run("DROP TYPE c0 CASCADE");
    client.run("DROP TABLE t0 CASCADE");
    assert_eq!(atoll.connect().run("SELECT 1").value(), "1");
}
