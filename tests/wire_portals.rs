//! Portals and cursors on the wire: what an error leaves of them, what is shown of a statement that fails, message by
//! message as PostgreSQL has it.

use tests::atoll::Atoll;
use tests::client::Client;
use tests::dialogue::{Dialogue, assert_same};
use tests::oracle::Oracle;

/// A table of its own for a dialogue: ten rows, 1 to 10.
fn ten_rows(talk: &mut Dialogue, name: &str) {
    talk.query(format!("CREATE TABLE {name}(a int PRIMARY KEY)"));
    talk.query(format!("INSERT INTO {name} SELECT generate_series(1, 10)"));
}

/// Each text is a Query of its own.
fn queries(talk: &mut Dialogue, texts: &[&str]) {
    texts.iter().for_each(|text| talk.query(text));
}

#[test]
fn an_error_leaves_the_cursors_in_front_of_the_savepoint() {
    assert_same(&Atoll::start(&[]), |talk| {
        ten_rows(talk, "t");
        queries(
            talk,
            &[
                "BEGIN; DECLARE c CURSOR FOR SELECT 1 / (a - 3) FROM t ORDER BY a",
                "DECLARE d CURSOR FOR SELECT a FROM t ORDER BY a; SAVEPOINT s",
                "FETCH d",
                "FETCH 5 c",
                "ROLLBACK TO s",
                "FETCH d",
                "FETCH c",
                "ROLLBACK TO s",
                "FETCH d",
                "CLOSE c",
                "ROLLBACK TO nosuch",
                "ROLLBACK TO s",
                "FETCH d",
                "CLOSE c",
                "COMMIT",
                // What was opened behind a savepoint goes with it, whichever is rolled back to.
                "BEGIN; SAVEPOINT a; DECLARE c CURSOR FOR SELECT a FROM t ORDER BY a",
                "SAVEPOINT b; DECLARE d CURSOR FOR SELECT a FROM t ORDER BY a",
                "SELECT 1 / 0",
                "ROLLBACK TO b",
                "FETCH c",
                "FETCH d",
                "ROLLBACK TO a",
                "FETCH c",
                "COMMIT",
                // Released, it belongs to what is around.
                "BEGIN; SAVEPOINT a; DECLARE c CURSOR FOR SELECT a FROM t ORDER BY a; RELEASE a",
                "SAVEPOINT b",
                "SELECT 1 / 0",
                "ROLLBACK TO b",
                "FETCH c",
                "COMMIT",
                "BEGIN; DECLARE c CURSOR FOR SELECT a FROM t ORDER BY a; FETCH c; COMMIT; BEGIN; FETCH c",
                "ROLLBACK",
            ],
        );
    });
}

#[test]
fn an_error_leaves_the_portals_in_front_of_the_savepoint() {
    assert_same(&Atoll::start(&[]), |talk| {
        ten_rows(talk, "t");
        talk.query("BEGIN");
        talk.parse("s", "SELECT a FROM t ORDER BY a");
        talk.bind("p", "s", &[]);
        talk.bind("q", "s", &[]);
        talk.execute("p", 2);
        talk.sync();
        talk.query("SAVEPOINT x");
        talk.bind("r", "s", &[]);
        talk.execute("r", 1);
        talk.execute("p", 1);
        talk.sync();
        talk.query("SELECT 1 / 0");
        for name in ["p", "missing", "r"] {
            talk.describe('P', name);
            talk.sync();
            talk.execute(name, 1);
            talk.sync();
        }
        talk.describe('S', "s");
        talk.sync();
        talk.query("ROLLBACK TO x");
        for name in ["p", "r"] {
            talk.execute(name, 1);
            talk.sync();
        }
        talk.query("ROLLBACK TO x");
        talk.execute("q", 1);
        talk.bind("r", "s", &[]);
        talk.execute("r", 1);
        talk.sync();
        talk.query("COMMIT");
        talk.execute("p", 1);
        talk.sync();
        // The portal without a name stays until the next one.
        talk.query("BEGIN");
        talk.bind("", "s", &[]);
        talk.execute("", 1);
        talk.sync();
        talk.query("selec");
        talk.execute("", 1);
        talk.sync();
        talk.query("ROLLBACK");
        // Without a block an error ends them all.
        talk.bind("u", "s", &[]);
        talk.execute("u", 1);
        talk.execute("missing", 1);
        talk.sync();
        talk.execute("u", 1);
        talk.sync();
    });
}

#[test]
fn a_tag_counts_the_rows_of_its_own_execute() {
    assert_same(&Atoll::start(&[]), |talk| {
        ten_rows(talk, "t");
        talk.query("BEGIN");
        for (name, text) in [
            ("s", "SELECT a FROM t WHERE a < 6 ORDER BY a"),
            ("i", "INSERT INTO t VALUES (50), (51), (52) RETURNING a"),
            ("n", "INSERT INTO t VALUES (60), (61)"),
        ] {
            talk.parse(name, text);
            talk.bind(name, name, &[]);
            for rows in [2, 2, 0, 0] {
                talk.execute(name, rows);
                if name != "n" {
                    talk.send(b'H', &[]);
                }
            }
            talk.sync();
        }
        talk.query("ROLLBACK");
    });
}

#[test]
fn what_fails_shows_what_postgresql_shows_of_it() {
    let failing = [
        "SELECT 1 / (a - 1) FROM t ORDER BY a",
        "SELECT 1 / (a - 3) FROM t ORDER BY a",
        "SELECT * FROM missing",
        "SELECT a FROM t WHERE a = (SELECT a FROM t)",
        "INSERT INTO t VALUES (1) RETURNING a",
        "INSERT INTO t SELECT 12 / (a - 3) + 100 FROM t RETURNING a",
        "UPDATE t SET a = 1 / (a - 1) RETURNING a",
        "WITH x AS (SELECT 1 / (a - 1) FROM t) SELECT * FROM x",
        "COPY (SELECT 1 / (a - 2) FROM t ORDER BY a) TO STDOUT",
        "COPY missing TO STDOUT",
        "SHOW missing",
        "EXECUTE p",
        "",
        ";",
        "SELECT 1; SELECT 1 / (a - 1) FROM t; SELECT 2",
    ];
    assert_same(&Atoll::start(&[]), |talk| {
        ten_rows(talk, "t");
        talk.query("PREPARE p AS SELECT 10 / (a - 2) FROM t ORDER BY a");
        failing.iter().for_each(|text| talk.query(text));
        failing[..failing.len() - 1].iter().for_each(|text| talk.run(text));
        for fetch in ["FETCH c", "FETCH 5 c", "FETCH ALL c", "MOVE 5 c"] {
            let declare = "BEGIN; DECLARE c CURSOR FOR SELECT 1 / (a - 3) FROM t ORDER BY a";
            talk.query(declare);
            talk.query(fetch);
            talk.query("ROLLBACK");
            talk.query(declare);
            talk.run(fetch);
            talk.query("ROLLBACK");
        }
    });
}

/// CopyDone stands between the data and CommandComplete; behind an error it does not.
#[test]
fn copies_end_as_postgresql_ends_them() {
    assert_same(&Atoll::start(&[]), |talk| {
        ten_rows(talk, "t");
        for text in [
            "COPY t TO STDOUT",
            "COPY t TO STDOUT (FORMAT csv, HEADER)",
            "COPY (SELECT a FROM t WHERE a < 0) TO STDOUT",
            "COPY (SELECT 1 / (a - 3) FROM t ORDER BY a) TO STDOUT",
        ] {
            talk.query(text);
            talk.run(text);
        }
        talk.query("COPY (SELECT 1) TO STDOUT; SELECT 2; COPY (SELECT 3) TO STDOUT");
    });
}

#[test]
fn who_may_not_read_sees_no_columns() {
    let atoll = Atoll::start(&[]);
    let lines = |port: u16| {
        let mut talk = Dialogue::new(tests::client::Client::connect(port, "postgres", "postgres"));
        ten_rows(&mut talk, "hidden");
        talk.query("CREATE ROLE reads_nothing LOGIN");
        let mut poor =
            Dialogue::new(tests::client::Client::connect(port, "reads_nothing", "postgres"));
        for text in ["SELECT * FROM hidden", "INSERT INTO hidden VALUES (99) RETURNING a"] {
            poor.query(text);
        }
        poor.query("COPY hidden TO STDOUT");
        poor.query("BEGIN; DECLARE c CURSOR FOR SELECT * FROM hidden");
        poor.lines
    };
    assert_eq!(lines(atoll.port()), lines(tests::oracle::shared()));
}

/// A result format that is none is refused where the first row is to be written in it, and no earlier: it can be bound,
/// described, and asked for of what has no rows.
#[test]
fn an_unknown_result_format_fails_at_the_first_row() {
    assert_same(&Atoll::start(&[]), |talk| {
        ten_rows(talk, "t");
        let texts = [
            "SELECT 1, 'a'",
            "SELECT NULL, 'a'",
            "SELECT a, a + 1 FROM t WHERE a > 10",
            "SELECT a, a FROM t ORDER BY a",
            "SELECT 1 / 0, 2",
            "SELECT FROM t LIMIT 1",
            "INSERT INTO t VALUES (11) RETURNING a, a",
            "INSERT INTO t VALUES (12)",
            "SHOW work_mem",
            "SET work_mem = 4000",
            "COPY (SELECT 1, 2) TO STDOUT",
        ];
        let formats: [&[i16]; 6] = [&[2], &[-1], &[0, 2], &[2, 1], &[256], &[0, 1, 0]];
        for text in texts {
            for formats in formats {
                for described in [false, true] {
                    talk.parse("", text);
                    talk.bind_in("", "", &[], formats);
                    if described {
                        talk.describe('P', "");
                    }
                    talk.execute("", 0);
                    talk.sync();
                }
            }
        }
        talk.query("SELECT count(*) FROM t");
    });
}

/// FETCH from a BINARY cursor answers a Query in binary, and says so; a Bind says for itself what it wants.
#[test]
fn a_binary_cursor_answers_a_query_in_binary() {
    assert_same(&Atoll::start(&[]), |talk| {
        ten_rows(talk, "t");
        queries(
            talk,
            &[
                "BEGIN; DECLARE b BINARY SCROLL CURSOR WITH HOLD FOR SELECT a, 'row ' || a, a::numeric / 4 FROM t ORDER BY a",
                "DECLARE n BINARY NO SCROLL CURSOR FOR SELECT a, NULL, '{1,2}'::int[] FROM t ORDER BY a",
                "DECLARE p CURSOR FOR SELECT a FROM t ORDER BY a",
                "FETCH 2 FROM b; FETCH n; FETCH p",
                "MOVE 2 IN n",
                "FETCH n",
                "FETCH BACKWARD 1 FROM b",
            ],
        );
        for formats in [&[][..], &[0], &[1], &[1, 0, 1]] {
            talk.parse("", "FETCH b");
            talk.bind_in("", "", &[], formats);
            talk.describe('P', "");
            talk.execute("", 0);
            talk.sync();
        }
        queries(
            talk,
            &[
                "COMMIT",
                "FETCH FIRST FROM b",
                "EXPLAIN SELECT 1",
                "FETCH LAST FROM b; CLOSE b; FETCH b",
            ],
        );
    });
}

/// WHERE CURRENT OF by the extended protocol: of a cursor, and of a portal that Bind has opened.
#[test]
fn current_of_finds_the_row_of_a_portal() {
    assert_same(&Atoll::start(&[]), |talk| {
        ten_rows(talk, "t");
        talk.query("BEGIN");
        talk.query("DECLARE c SCROLL CURSOR FOR SELECT a FROM t WHERE a > 2");
        talk.parse("locks", "SELECT a FROM t WHERE a > 5 ORDER BY a FOR UPDATE");
        talk.bind("p", "locks", &[]);
        talk.parse("of_p", "UPDATE t SET a = a * 10 WHERE CURRENT OF p RETURNING a");
        talk.parse("of_c", "DELETE FROM t WHERE CURRENT OF c RETURNING a");
        talk.sync();
        talk.query("SAVEPOINT s");
        talk.bind("", "of_p", &[]);
        talk.execute("", 0);
        talk.sync();
        talk.query("ROLLBACK TO s");
        talk.bind("r", "locks", &[]);
        talk.execute("r", 2);
        talk.sync();
        talk.query("DELETE FROM t WHERE CURRENT OF r RETURNING a");
        talk.query("FETCH 3 FROM c");
        talk.bind("", "of_c", &[]);
        talk.execute("", 0);
        talk.sync();
        talk.query("SELECT a FROM t ORDER BY a");
        talk.execute("r", 0);
        talk.sync();
        talk.query("DELETE FROM t WHERE CURRENT OF r");
        talk.query("ROLLBACK");
        // What gives no rows, and what is no SELECT.
        for text in ["UPDATE t SET a = a + 100 RETURNING a", "SHOW work_mem", "COMMIT"] {
            talk.query("BEGIN");
            talk.parse("other", text);
            talk.bind("q", "other", &[]);
            talk.sync();
            talk.query("DELETE FROM t WHERE CURRENT OF q");
            talk.query("ROLLBACK; DEALLOCATE other");
        }
    });
}

/// By the routine's name pgjdbc and Rails know that they have to prepare the statement anew.
#[test]
fn a_result_that_has_changed_is_told_with_the_routine() {
    let told = |port: u16| {
        let mut client = Client::connect(port, "postgres", "postgres");
        client.run("CREATE TABLE wide (a int); PREPARE all_of_it AS SELECT * FROM wide");
        client.run("EXECUTE all_of_it");
        client.run("ALTER TABLE wide ADD COLUMN b int");
        let error = client.query_all("EXECUTE all_of_it").pop().and_then(|reply| reply.error);
        let error = error.expect("the result has another column now");
        [b'C', b'M', b'R'].map(|letter| error.field(letter).to_owned())
    };
    let expected = told(Oracle::start(&[]).port());
    assert_eq!(expected[2], "RevalidateCachedQuery");
    assert_eq!(told(Atoll::start(&[]).port()), expected);
}
