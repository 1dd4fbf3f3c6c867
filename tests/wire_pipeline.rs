//! Pipelines and the time of statements on the wire: what shares a transaction, what stands alone, when answers leave, and
//! how long a statement may take, message by message as PostgreSQL has it.

use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::{Client, Report};
use tests::dialogue::{Dialogue, assert_same};
use tests::oracle;

/// Adds a text's Parse, Bind and Execute to the batch.
fn add(talk: &mut Dialogue, text: &str) {
    talk.parse("", text);
    talk.bind("", "", &[]);
    talk.execute("", 0);
}

/// A batch of texts, and its answer.
fn batch(talk: &mut Dialogue, texts: &[&str]) {
    texts.iter().for_each(|text| add(talk, text));
    talk.sync();
}

/// A batch of texts and a Query behind them, without a Sync.
fn batch_and_query(talk: &mut Dialogue, text: &str, query: &str) {
    add(talk, text);
    talk.query(query);
}

/// Sends the batch, and leaves the server waiting for the rest of it.
fn pause(talk: &mut Dialogue) {
    talk.flush();
    std::thread::sleep(Duration::from_millis(300));
}

#[test]
fn what_stands_alone_shares_no_pipeline() {
    let alone = [
        "VACUUM t",
        "VACUUM",
        "CREATE DATABASE pipelined",
        "DROP DATABASE IF EXISTS pipelined",
        "ALTER SYSTEM SET work_mem = '5MB'",
        "REINDEX TABLE CONCURRENTLY t",
        "REINDEX SCHEMA public",
        "CREATE INDEX CONCURRENTLY i ON t (b)",
        "DROP INDEX CONCURRENTLY i",
        "COMMIT PREPARED 'none'",
        "ROLLBACK PREPARED 'none'",
        "DISCARD ALL",
    ];
    let shared = ["ANALYZE t", "REINDEX TABLE t", "CHECKPOINT", "PREPARE TRANSACTION 'none'"];
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query("CREATE TABLE t(a int PRIMARY KEY, b int)");
        for text in alone.iter().chain(&shared) {
            batch(talk, &["INSERT INTO t VALUES (1)", text, "INSERT INTO t VALUES (2)"]);
            talk.query("DELETE FROM t RETURNING a");
            batch_and_query(talk, "INSERT INTO t VALUES (1)", text);
            talk.query("DELETE FROM t RETURNING a");
        }
        // In front it has a transaction of its own, which what fails behind it does not take back.
        for text in [
            "CREATE DATABASE pipelined",
            "DROP DATABASE pipelined",
            "VACUUM t",
            "ALTER SYSTEM SET work_mem = '5MB'",
            "ALTER SYSTEM RESET work_mem",
        ] {
            batch(talk, &[text, "INSERT INTO t VALUES (1)", "SELECT 1 / 0"]);
        }
        batch(
            talk,
            &["INSERT INTO t VALUES (1)", "COMMIT", "VACUUM t", "INSERT INTO t VALUES (1)"],
        );
        batch(
            talk,
            &["INSERT INTO t VALUES (2)", "ROLLBACK", "VACUUM t", "INSERT INTO t VALUES (3)"],
        );
        batch(talk, &["BEGIN", "VACUUM t"]);
        talk.query("ROLLBACK");
        talk.parse("", "SELECT generate_series(1, 9)");
        talk.bind("p", "", &[]);
        talk.execute("p", 2);
        add(talk, "VACUUM t");
        talk.sync();
        talk.query("SELECT a FROM t ORDER BY a");
    });
}

#[test]
fn what_is_set_of_a_transaction_counts_for_its_pipeline() {
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query("CREATE TABLE t(a int)");
        batch(talk, &["SELECT 1", "SET TRANSACTION READ ONLY", "INSERT INTO t VALUES (1)"]);
        batch(talk, &["SET TRANSACTION READ ONLY", "INSERT INTO t VALUES (1)"]);
        let repeatable = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ";
        batch(talk, &[repeatable, "SHOW transaction_isolation", "SELECT 1"]);
        batch(talk, &["SHOW work_mem", repeatable, "SHOW transaction_isolation"]);
        batch(talk, &["SELECT 1", repeatable]);
        batch(talk, &["SET LOCAL work_mem = '7MB'", "SHOW work_mem"]);
        batch(
            talk,
            &["SELECT 1", "BEGIN", "SET TRANSACTION READ ONLY", "INSERT INTO t VALUES (1)"],
        );
        talk.query("ROLLBACK");
        for text in ["LOCK t", "SAVEPOINT s", "DECLARE c CURSOR FOR SELECT 1", "COMMIT AND CHAIN"] {
            batch(talk, &["SELECT 1", text]);
        }
        talk.query("SHOW transaction_isolation; SHOW transaction_read_only; SHOW work_mem");
    });
}

#[test]
fn a_query_takes_the_place_of_what_has_no_name() {
    assert_same(&Atoll::start(&[]), |talk| {
        for query in ["SELECT 2", "selec", ""] {
            talk.parse("", "SELECT 1");
            talk.sync();
            talk.query(query);
            talk.bind("", "", &[]);
            talk.execute("", 0);
            talk.sync();
        }
        // Portals end with their transaction, also where it has done nothing.
        for name in ["", "p"] {
            talk.parse("", "SELECT 1");
            talk.bind(name, "", &[]);
            talk.sync();
            talk.describe('P', name);
            talk.sync();
            talk.execute(name, 0);
            talk.sync();
        }
        talk.query("BEGIN");
        talk.parse("", "SELECT generate_series(1, 5)");
        talk.bind("", "", &[]);
        talk.execute("", 1);
        talk.sync();
        talk.execute("", 1);
        talk.sync();
    });
}

#[test]
fn what_has_no_place_in_a_copy_ends_the_connection() {
    let atoll = Atoll::start(&[]);
    let within: [fn(&mut Dialogue); 4] = [
        |talk| talk.send(b'Q', b"SELECT 1\0"),
        |talk| talk.parse("", "SELECT 1"),
        |talk| talk.execute("", 0),
        |talk| talk.send(b'F', &[0; 10]),
    ];
    for message in within {
        for simple in [true, false] {
            assert_same(&atoll, |talk| {
                talk.query("CREATE TABLE t(a int)");
                if simple {
                    talk.send(b'Q', b"COPY t FROM STDIN\0");
                } else {
                    add(talk, "COPY t FROM STDIN");
                }
                talk.send(b'd', b"1\n");
                message(talk);
                talk.answer();
            });
        }
    }
}

#[test]
fn bound_portals_are_cursors() {
    let listed =
        "SELECT name, statement, is_holdable, is_binary, is_scrollable FROM pg_cursors ORDER BY 1";
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query("CREATE TABLE t(a int); INSERT INTO t VALUES (1), (2), (3); BEGIN");
        for (name, text) in [
            ("p", "SELECT a FROM t ORDER BY a"),
            ("q", "INSERT INTO t VALUES (4) RETURNING a"),
            ("r", "SHOW work_mem"),
            ("s", ""),
        ] {
            talk.parse(name, text);
            talk.bind(name, name, &[]);
        }
        talk.execute("p", 2);
        talk.sync();
        talk.query(listed);
        batch(talk, &[listed]);
        // An Execute of a portal with a name lists that one, and the one without.
        talk.parse("l", listed);
        talk.bind("x", "l", &[]);
        talk.execute("x", 0);
        talk.sync();
        talk.query("SELECT creation_time = statement_timestamp(), creation_time <= now() + '1 min' FROM pg_cursors WHERE name = 'p'");
        talk.query("FETCH p");
        talk.query("CLOSE q");
        talk.query("CLOSE ALL");
        talk.query(listed);
        talk.query("COMMIT");
    });
}

#[test]
fn rows_are_shown_before_their_commit_fails() {
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query("CREATE TABLE p(a int PRIMARY KEY)");
        talk.query("CREATE TABLE c(a int REFERENCES p DEFERRABLE INITIALLY DEFERRED)");
        let returning = "INSERT INTO c VALUES (1), (2) RETURNING a";
        talk.query(format!("PREPARE i AS {returning}"));
        for text in [
            returning,
            "INSERT INTO c VALUES (1)",
            "WITH x AS (INSERT INTO c VALUES (1) RETURNING a) SELECT * FROM x, generate_series(1, 2)",
            "SELECT 1; INSERT INTO c VALUES (1) RETURNING a",
            "INSERT INTO c VALUES (1) RETURNING a; SELECT 1",
            "BEGIN; INSERT INTO c VALUES (1) RETURNING a; COMMIT",
            "EXECUTE i",
            "COPY (INSERT INTO c VALUES (1) RETURNING a) TO STDOUT",
        ] {
            talk.query(text);
        }
        batch(talk, &[returning]);
        batch(talk, &["EXECUTE i"]);
    });
}

#[test]
fn a_statement_s_time_is_its_own() {
    assert_same(&Atoll::start(&[]), |talk| {
        let sleep = "SELECT pg_sleep(0.2)";
        talk.query("SET statement_timeout = '390ms'");
        talk.query([sleep; 3].join("; "));
        batch(talk, &[sleep; 3]);
        talk.query("COPY (SELECT pg_sleep(0.2)) TO STDOUT; COPY (SELECT pg_sleep(0.2)) TO STDOUT");
        talk.query("SET statement_timeout = '50ms'; SELECT pg_sleep(5)");
        talk.query("SELECT 1");
        talk.query("SET statement_timeout = 0");
        batch(talk, &["SET statement_timeout = '50ms'", "SELECT pg_sleep(5)"]);
        talk.query("BEGIN; SET LOCAL statement_timeout = '50ms'; SELECT pg_sleep(5)");
        talk.query("ROLLBACK");
    });
}

#[test]
fn a_statement_s_time_goes_on_while_its_client_is_silent() {
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query("SET statement_timeout = '100ms'");
        talk.parse("", "SELECT 1");
        pause(talk);
        talk.bind("", "", &[]);
        talk.execute("", 0);
        talk.sync();
        talk.parse("", "SELECT 1");
        pause(talk);
        talk.sync();
        talk.parse("", "SELECT 1");
        pause(talk);
        talk.query("SELECT 3");
        // Between two statements nothing runs, and a suspended one does.
        add(talk, "SELECT 1");
        pause(talk);
        batch(talk, &["SELECT 2"]);
        talk.send(b'C', b"Snone\0");
        pause(talk);
        batch(talk, &["SELECT 1"]);
        talk.query("BEGIN");
        talk.parse("", "SELECT generate_series(1, 5)");
        talk.bind("p", "", &[]);
        talk.execute("p", 2);
        pause(talk);
        talk.execute("p", 2);
        talk.sync();
        talk.query("ROLLBACK");
    });
}

/// What has come within a moment.
fn come(client: &mut Client) -> String {
    let mut come = String::new();
    client.set_patience(Some(Duration::from_millis(200)));
    while let Ok(message) = client.receive() {
        come.push(char::from(message.tag));
    }
    come
}

#[test]
fn answers_wait_for_sync_flush_errors_or_a_full_buffer() {
    let talk = |port| {
        let mut talk = Dialogue::new(Client::connect(port, "postgres", "postgres"));
        let mut lines = Vec::new();
        let mut said = |talk: &mut Dialogue| {
            talk.flush();
            lines.push(come(&mut talk.client));
        };
        talk.parse("", "SELECT 1");
        said(&mut talk);
        talk.bind("", "", &[]);
        talk.describe('P', "");
        talk.execute("", 0);
        said(&mut talk);
        talk.send(b'H', &[]);
        said(&mut talk);
        add(&mut talk, "COPY (SELECT 1) TO STDOUT");
        said(&mut talk);
        talk.send(b'S', &[]);
        said(&mut talk);
        talk.parse("", "selec");
        said(&mut talk);
        talk.send(b'S', &[]);
        said(&mut talk);
        add(&mut talk, "SELECT repeat('x', 5000)");
        said(&mut talk);
        add(&mut talk, "SELECT repeat('x', 5000)");
        talk.flush();
        let full = !come(&mut talk.client).is_empty();
        lines.push(format!("{full}"));
        lines
    };
    let atoll = Atoll::start(&[]);
    assert_eq!(talk(atoll.port()), talk(oracle::shared()));
}

#[test]
fn rows_do_not_wait_for_slow_ones() {
    let atoll = Atoll::start(&[]);
    for text in [
        "SELECT generate_series(0, 1999), null UNION ALL SELECT 1000, pg_sleep(3)",
        "COPY (SELECT generate_series(0, 1999), null UNION ALL SELECT 1000, pg_sleep(3)) TO STDOUT",
    ] {
        for port in [oracle::shared(), atoll.port()] {
            let mut client = Client::connect(port, "postgres", "postgres");
            client.set_patience(Some(Duration::from_millis(1000)));
            client.start(text);
            let mut rows = 0;
            while let Ok(message) = client.receive() {
                rows += usize::from(matches!(message.tag, b'D' | b'd'));
            }
            assert!((500..2000).contains(&rows), "{text}: {rows} rows have come");
        }
    }
}

/// Where PostgreSQL finds what clients and people look at.
#[test]
fn errors_name_postgresql_s_routines() {
    let failing = [
        "selec",
        "SELECT * FROM nosuch",
        "SELECT nosuch FROM t",
        "SELECT nosuch.a FROM t",
        "SELECT nosuch(1)",
        "SELECT 1 / 0",
        "SELECT 'x'::int",
        "SELECT 1 + 'x'::date",
        "SELECT a FROM t GROUP BY b",
        "INSERT INTO t VALUES (1, 1)",
        "INSERT INTO t VALUES (null, 1)",
        "INSERT INTO t VALUES (2, -1)",
        "INSERT INTO t VALUES (2, 'x')",
        "INSERT INTO t(b) SELECT now()",
        "UPDATE t SET b = now()",
        "INSERT INTO c VALUES (5)",
        "DROP TABLE nosuch",
        "DROP TABLE IF EXISTS nosuch",
        "DROP TABLE t",
        "CREATE TABLE t(a int)",
        "ALTER TABLE nosuch ADD b int",
        "CREATE TABLE u(a nosuch)",
        "EXECUTE nosuch",
        "DEALLOCATE nosuch",
        "PREPARE p AS SELECT 1",
        "FETCH nosuch",
        "SAVEPOINT s",
        "COMMIT",
        "SET nosuch = 1",
        "SET ROLE nosuch",
        "BEGIN READ ONLY; DELETE FROM t",
        "SELECT 1",
        "ROLLBACK",
        "BEGIN; VACUUM",
        "ROLLBACK",
        "SET statement_timeout = '50ms'; SELECT pg_sleep(5)",
    ];
    let located = |port| {
        let name = "located";
        Client::connect(port, "postgres", "postgres").run(&format!("CREATE DATABASE {name}"));
        let mut talk = Dialogue::new(Client::connect(port, "postgres", name));
        talk.client.run(
            "CREATE TABLE t(a int PRIMARY KEY, b int CHECK (b > 0)); INSERT INTO t VALUES (1, 1)",
        );
        talk.client.run("CREATE TABLE c(a int REFERENCES t); PREPARE p AS SELECT * FROM t");
        let mut lines = Vec::new();
        let mut note = |what: &str, report: Option<&Report>| {
            let report = report.unwrap_or_else(|| panic!("{what} fails"));
            assert!(!report.field(b'F').is_empty() && report.field(b'L').parse::<u32>().is_ok());
            lines.push(format!("{what}: {} {}", report.field(b'C'), report.field(b'R')));
        };
        for text in failing {
            for reply in talk.client.query_all(text) {
                let reports: Vec<&Report> = reply.notices.iter().chain(&reply.error).collect();
                reports.iter().for_each(|report| note(text, Some(report)));
            }
        }
        // The statement of a client that prepares it anew when it reads this.
        talk.client.run("SET statement_timeout = 0; ALTER TABLE t ADD c int");
        note("changed", talk.client.query("EXECUTE p").error.as_ref());
        for (tag, body) in
            [(b'B', &b"\0nosuch\0\0\0\0\0\0\0"[..]), (b'B', &[0; 8]), (b'E', b"nosuch\0\0\0\0\0")]
        {
            talk.send(tag, body);
            talk.send(b'S', &[]);
            talk.flush();
            let replies = talk.client.replies().expect("the connection stands");
            note("message", replies[0].error.as_ref());
        }
        lines
    };
    let atoll = Atoll::start(&[]);
    assert_eq!(located(atoll.port()), located(oracle::shared()));
}
