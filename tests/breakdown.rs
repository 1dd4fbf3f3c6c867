//! Where time goes (`atoll.track_breakdown`): by statement, by session, in EXPLAIN and in the metrics.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::process::{free_port, wait_until};

/// How long something that is bound to happen may take.
const PATIENCE: Duration = Duration::from_secs(30);

const CLASSES: [&str; 11] = [
    "useful_work",
    "parse_plan",
    "protocol",
    "index",
    "latching",
    "locking",
    "timestamp",
    "logging",
    "buffer",
    "wait",
    "abort",
];

fn numbers(client: &mut Client, sql: &str) -> Vec<u64> {
    let reply = client.run(sql);
    let row = reply.rows.first().unwrap_or_else(|| panic!("no row: {sql}"));
    row.iter().map(|value| value.as_deref().unwrap_or("0").parse().expect("a number")).collect()
}

/// The columns of one statement, whose text begins so.
fn of_statement(client: &mut Client, columns: &str, text: &str) -> Vec<u64> {
    let sql = format!("SELECT {columns} FROM pg_stat_atoll_breakdown WHERE query LIKE '{text}%'");
    numbers(client, &sql)
}

fn count(client: &mut Client, condition: &str) -> u64 {
    let sql = format!("SELECT count(*) FROM pg_stat_atoll_breakdown WHERE {condition}");
    numbers(client, &sql)[0]
}

fn prepared() -> (Atoll, Client) {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (a int PRIMARY KEY, b text)");
    client.run("INSERT INTO t SELECT g, 'x' FROM generate_series(1, 1000) g");
    (atoll, client)
}

#[test]
fn a_statement_has_its_planning_its_commit_and_its_answer() {
    let (_atoll, mut client) = prepared();
    assert_eq!(count(&mut client, "true"), 0, "nothing is measured that nobody asks for");
    client.run("SET atoll.track_breakdown = on");
    for key in 1..=10 {
        client.run(&format!("SELECT b FROM t WHERE a = {key}"));
        client.query_extended("UPDATE t SET b = $1 WHERE a = 7", &[Some("y")]);
    }
    let all = format!("calls, cycles, {}", CLASSES.map(|class| format!("\"{class}\"")).join(", "));
    for text in ["SELECT b", "UPDATE t"] {
        let row = of_statement(&mut client, &all, text);
        let (counted, classes) = row.split_at(2);
        assert_eq!(counted[0], 10, "{text}: {row:?}");
        assert_eq!(counted[1], classes.iter().sum(), "{text}: the classes are all of it");
        for class in ["useful_work", "parse_plan", "protocol", "index", "locking", "timestamp"] {
            let at = CLASSES.iter().position(|one| *one == class).expect("it is a class");
            assert!(classes[at] > 0, "{text} has no {class}: {row:?}");
        }
    }
    // The commit comes with Sync, behind the statement, and so does the wait until it is durable.
    assert!(of_statement(&mut client, "logging", "UPDATE t")[0] > 0);
    assert_eq!(of_statement(&mut client, "logging", "SELECT b")[0], 0);
    // The session has all of it, and more.
    let own = "SELECT calls, cycles FROM pg_stat_atoll_breakdown WHERE pid = pg_backend_pid()";
    let session = numbers(&mut client, own);
    let statements = numbers(
        &mut client,
        "SELECT sum(calls), sum(cycles) FROM pg_stat_atoll_breakdown WHERE pid IS NULL AND query NOT LIKE '%breakdown%'",
    );
    assert!(session[0] > statements[0] && session[1] > statements[1], "{session:?} {statements:?}");
    client.run("SET atoll.track_breakdown = off");
    let before = of_statement(&mut client, "calls, cycles", "SELECT b");
    client.run("SELECT b FROM t WHERE a = 1");
    assert_eq!(of_statement(&mut client, "calls, cycles", "SELECT b"), before);
    client.run("SELECT pg_stat_reset()");
    assert_eq!(count(&mut client, "pid IS NULL"), 0);
}

#[test]
fn what_is_waited_for_and_what_is_undone_is_told_apart() {
    let (atoll, mut client) = prepared();
    let mut other = atoll.connect();
    other.run("SET atoll.track_breakdown = on");
    client.run("BEGIN; UPDATE t SET b = 'mine' WHERE a = 1");
    other.start("UPDATE t SET b = 'yours' WHERE a = 1");
    let waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    wait_until("the other waits", PATIENCE, || (client.run(waits).rows.len() == 1).then_some(()));
    std::thread::sleep(Duration::from_millis(200));
    client.run("COMMIT");
    other.replies().expect("the connection stands");
    other.run("BEGIN");
    other.run("UPDATE t SET b = 'never' WHERE a = 2");
    other.run("ROLLBACK");
    // What a session has just spent is told when it goes on, at the latest.
    other.run("SELECT 1");
    let waited = of_statement(&mut client, "wait, cycles", "UPDATE t");
    // All else of two updates takes a few milliseconds, however slow the build is.
    assert!(waited[0] > waited[1] / 2, "{waited:?}");
    assert!(of_statement(&mut client, "abort", "ROLLBACK")[0] > 0);
}

#[test]
fn others_see_whose_it_is_and_not_what() {
    let (atoll, mut client) = prepared();
    client.run("SET atoll.track_breakdown = on");
    client.run("SELECT b FROM t WHERE a = 1");
    client.run("CREATE ROLE stranger LOGIN");
    client.run("SET atoll.track_breakdown = off");
    let hidden = "query = '<insufficient privilege>' AND queryid IS NULL";
    assert_eq!(count(&mut client, hidden), 0);
    let mut stranger = Client::connect(atoll.port(), "stranger", "postgres");
    let known = count(&mut client, "pid IS NULL");
    assert_eq!(count(&mut stranger, hidden), known);
    client.run("GRANT pg_read_all_stats TO stranger");
    assert_eq!(count(&mut stranger, hidden), 0);
}

#[test]
fn explain_shows_where_the_time_of_a_run_goes() {
    let (_atoll, mut client) = prepared();
    let refused = client.query("EXPLAIN (BREAKDOWN) SELECT 1");
    let error = refused.error.expect("there is no run");
    assert_eq!(error.field(b'C'), "22023");
    assert_eq!(error.field(b'M'), "EXPLAIN option BREAKDOWN requires ANALYZE");
    let text = client.run("EXPLAIN (ANALYZE, BREAKDOWN) SELECT b FROM t WHERE a < 100");
    let lines: Vec<&str> = text.rows.iter().filter_map(|row| row[0].as_deref()).collect();
    let line = lines.iter().find(|line| line.starts_with("Breakdown: useful_work="));
    assert!(line.is_some_and(|line| line.contains(" index=")), "{lines:?}");
    let json =
        client.run("EXPLAIN (ANALYZE, BREAKDOWN, FORMAT json) SELECT b FROM t WHERE a < 100");
    let json = json.rows[0][0].clone().expect("a document");
    assert!(json.contains("\"Breakdown\": {") && json.contains("\"Index Cycles\": "), "{json}");
    let without = client.run("EXPLAIN (ANALYZE) SELECT b FROM t WHERE a < 100");
    assert!(!format!("{:?}", without.rows).contains("Breakdown"));
}

#[test]
fn metrics_have_the_cycles_of_sessions_that_are_there_and_gone() {
    let port = free_port();
    let listen = format!("atoll.metrics_listen=127.0.0.1:{port}");
    let atoll = Atoll::start(&[&listen, "atoll.track_breakdown=on"]);
    let cycles = || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("metrics are served");
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").expect("the server reads");
        let mut page = String::new();
        stream.read_to_string(&mut page).expect("the page is text");
        let name = "atoll_session_cycles_total{class=\"useful_work\"} ";
        let line = page.lines().find_map(|line| line.strip_prefix(name)).expect("it is there");
        line.parse::<u64>().expect("a number")
    };
    let mut client = atoll.connect();
    client.run("SELECT count(*) FROM generate_series(1, 10000)");
    // A session tells of a statement when the next ones come.
    let first = wait_until("the session tells", PATIENCE, || {
        client.run("SELECT 1");
        Some(cycles()).filter(|cycles| *cycles > 0)
    });
    drop(client);
    let mut client = atoll.connect();
    let sessions = "SELECT 1 FROM pg_stat_activity WHERE backend_type = 'client backend'";
    wait_until("the first is gone", PATIENCE, || {
        (client.run(sessions).rows.len() == 1).then_some(())
    });
    assert!(cycles() > first);
}
