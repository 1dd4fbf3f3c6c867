//! What the server tells of itself: `pg_stat_activity`, the functions that reach other sessions, and the metrics page.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::dialogue::Dialogue;
use tests::oracle::Oracle;
use tests::process::{free_port, wait_until};

fn connect(port: u16, user: &str, application: &str) -> Dialogue {
    let parameters = [("user", user), ("database", "postgres"), ("application_name", application)];
    let client = Client::try_connect_with(port, &parameters).expect("the server takes connections");
    Dialogue::new(client)
}

/// What the view shows of everybody but the watcher.
const LOOK: &str = "SELECT datname, usename, application_name, client_addr, client_port > 0, state, query, \
    wait_event_type, wait_event, xact_start IS NOT NULL, query_start IS NOT NULL, \
    state_change >= query_start, backend_start <= state_change, backend_type, query_id \
    FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'watcher' \
    ORDER BY application_name";

/// What `watcher` sees, once every session that rests is back at its socket: an answer is on its way a little earlier.
fn look(watcher: &mut Dialogue) {
    let unsettled = "SELECT 1 FROM pg_stat_activity \
        WHERE (state LIKE 'idle%' OR state = 'disabled') AND wait_event IS NULL";
    wait_until("rest", Duration::from_secs(10), || {
        watcher.client.query(unsettled).rows.is_empty().then_some(())
    });
    watcher.query(LOOK);
}

/// A session at work, and what another sees of it.
fn watched(port: u16) -> Vec<String> {
    let mut watcher = connect(port, "postgres", "watcher");
    let mut worker = connect(port, "postgres", "worker");
    look(&mut watcher);
    for text in [
        "SELECT 1",
        "BEGIN",
        "SELECT 1 / 0",
        "ROLLBACK",
        "SET application_name = 'other'",
        "BEGIN; SET application_name = 'x'; ROLLBACK",
        "CREATE TABLE held(a int)",
        "SELECT 'a long statement is cut' WHERE 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' <> '' \
         AND 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' <> ''",
        "SET track_activities = off",
        "SELECT 2",
        "SET track_activities = on",
    ] {
        worker.query(text);
        look(&mut watcher);
    }
    worker.parse("s", "SELECT $1::int");
    worker.sync();
    look(&mut watcher);
    worker.query("SELECT 3");
    worker.bind("", "s", &[b"4"]);
    worker.execute("", 0);
    worker.sync();
    look(&mut watcher);
    // One that waits.
    worker.query("BEGIN; LOCK TABLE held");
    let mut waiter = connect(port, "postgres", "waiter");
    waiter.send(b'Q', b"SELECT * FROM held\0");
    waiter.flush();
    let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'relation'";
    let mut again = Client::connect(port, "postgres", "postgres");
    wait_until("a wait", Duration::from_secs(10), || {
        (!again.query(waiting).rows.is_empty()).then_some(())
    });
    drop(again);
    wait_until("one session less", Duration::from_secs(10), || {
        watcher
            .client
            .query("SELECT 1 FROM pg_stat_activity WHERE application_name = '' AND client_port > 0")
            .rows
            .is_empty()
            .then_some(())
    });
    look(&mut watcher);
    worker.query("COMMIT");
    waiter.answer();
    look(&mut watcher);
    // And one that waits for the clock.
    waiter.send(b'Q', b"SELECT pg_sleep(600)\0");
    waiter.flush();
    let asleep = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    wait_until("a sleeper", Duration::from_secs(10), || {
        (!watcher.client.query(asleep).rows.is_empty()).then_some(())
    });
    look(&mut watcher);
    let wake = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    watcher.query(wake);
    waiter.answer();
    look(&mut watcher);
    watcher.query(
        "SELECT now() = statement_timestamp(), now() = xact_start, now() = query_start, state, query \
         FROM pg_stat_activity WHERE pid = pg_backend_pid()",
    );
    watcher.lines
}

#[test]
fn others_see_what_a_session_does() {
    let settings = ["track_activity_query_size=100"];
    let (oracle, atoll) = (Oracle::start(&settings), Atoll::start(&settings));
    assert_eq!(watched(atoll.port()), watched(oracle.port()));
}

/// Who may see, cancel and end whom.
fn signalled(port: u16) -> Vec<String> {
    let mut admin = connect(port, "postgres", "admin");
    let mut first = admin.client.query("SELECT pg_backend_pid()");
    let admin_pid = first.rows.remove(0).remove(0).expect("a number");
    for text in ["CREATE ROLE asks LOGIN", "CREATE ROLE asked LOGIN"] {
        admin.query(text);
    }
    let mut asks = connect(port, "asks", "asks");
    let mut asked = connect(port, "asked", "asked");
    let pid = asked.client.query("SELECT pg_backend_pid()").rows.remove(0).remove(0);
    let pid = pid.expect("a number");
    let shown = "SELECT usename, state, query, backend_type, client_port, query_start, wait_event \
                 FROM pg_stat_activity WHERE application_name = 'admin'";
    asks.query(shown);
    for target in [&admin_pid, &pid] {
        for function in ["pg_cancel_backend", "pg_terminate_backend"] {
            asks.query(format!("SELECT {function}({target})"));
        }
    }
    asks.query("SELECT pg_cancel_backend(NULL), pg_terminate_backend(0)");
    asks.query("SELECT pg_terminate_backend(0, -1)");
    admin.query("GRANT pg_signal_backend, pg_read_all_stats TO asks");
    asks.query("SELECT usename, state, backend_type FROM pg_stat_activity WHERE application_name = 'admin'");
    asks.query(format!("SELECT pg_terminate_backend({admin_pid})"));
    asks.query(format!("SELECT pg_terminate_backend({pid})"));
    asked.answer();
    admin.lines.append(&mut asks.lines);
    admin.lines.append(&mut asked.lines);
    // The numbers differ.
    admin.lines
}

/// A session that signals itself, in the simple protocol and in the extended one.
fn signalled_by_itself(port: u16) -> Vec<String> {
    let mut lines = Vec::new();
    for function in ["pg_cancel_backend", "pg_terminate_backend"] {
        let own = format!("{function}(pg_backend_pid())");
        for text in [
            format!("SELECT {own}"),
            format!("SELECT 1; SELECT {own}; SELECT 2"),
            format!("BEGIN; SELECT {own}"),
            format!("SELECT CASE WHEN n = 3 THEN {own} END FROM generate_series(1, 5) n"),
        ] {
            let mut talk = connect(port, "postgres", "own");
            talk.query(&text);
            talk.query("SELECT 3");
            lines.append(&mut talk.lines);
        }
        let mut talk = connect(port, "postgres", "own");
        talk.parse("own", &format!("SELECT 1, {own}"));
        talk.bind("", "own", &[]);
        talk.execute("", 0);
        talk.parse("", "SELECT 2");
        talk.sync();
        talk.run("SELECT 3");
        lines.append(&mut talk.lines);
    }
    lines
}

#[test]
fn who_signals_itself_is_told_in_that_statement() {
    let (oracle, atoll) = (Oracle::start(&[]), Atoll::start(&[]));
    assert_eq!(signalled_by_itself(atoll.port()), signalled_by_itself(oracle.port()));
}

#[test]
fn who_may_reach_whom_is_as_in_postgresql() {
    let (oracle, atoll) = (Oracle::start(&[]), Atoll::start(&[]));
    assert_eq!(signalled(atoll.port()), signalled(oracle.port()));
}

/// The metrics page of a server that listens for scrapers on `port`.
fn scrape(port: u16) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("metrics are served");
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").expect("the server reads");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("the page is text");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    page
}

/// The value of one metric, its labels part of its name.
fn value(page: &str, name: &str) -> u64 {
    let line =
        page.lines().find(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    let line = line.unwrap_or_else(|| panic!("no {name} in {page}"));
    line.rsplit(' ').next().and_then(|value| value.parse().ok()).expect("a number")
}

#[test]
fn metrics_count_the_work_that_was_done() {
    let port = free_port();
    let listen = format!("atoll.metrics_listen=127.0.0.1:{port}");
    let atoll = Atoll::start(&[&listen, "shared_buffers=1MB"]);
    let mut client = atoll.connect();
    // Four times what the buffers hold.
    client.run("CREATE TABLE large(a int PRIMARY KEY, b text)");
    for first in [1, 5001] {
        client.run(&format!(
            "INSERT INTO large SELECT g, repeat('x', 400) FROM generate_series({first}, {first} + 4999) g"
        ));
    }
    assert_eq!(client.run("SELECT count(*) FROM large").value(), "10000");
    client.run("CREATE TABLE t(a int PRIMARY KEY, b int)");
    client.run("INSERT INTO t VALUES (1, 0), (2, 0)");
    client.run("CHECKPOINT");
    let before = scrape(port);
    for number in 0..10 {
        client.run(&format!("UPDATE t SET b = {number} WHERE a = 1"));
    }
    client.run("SELECT * FROM t");
    for text in ["BEGIN", "DELETE FROM t", "ROLLBACK"] {
        client.run(text);
    }
    assert_eq!(client.query("SELECT 1 / 0").sqlstate(), "22012");
    // A deadlock: whichever of the two is chosen, the other one goes on.
    let (mut one, mut other) = (atoll.connect(), atoll.connect());
    for (client, row) in [(&mut one, 1), (&mut other, 2)] {
        client.run("SET deadlock_timeout = '20ms'");
        client.run("BEGIN");
        client.run(&format!("UPDATE t SET b = 7 WHERE a = {row}"));
    }
    one.start("UPDATE t SET b = 8 WHERE a = 2");
    other.start("UPDATE t SET b = 8 WHERE a = 1");
    let failed = [&mut one, &mut other].map(|client| {
        let replies = client.replies().expect("the connection stands");
        let failed = replies[0].error.is_some();
        client.run(if failed { "ROLLBACK" } else { "COMMIT" });
        failed
    });
    assert!(failed[0] != failed[1], "{failed:?}");
    // A snapshot that is a while old.
    client.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    client.run("SELECT * FROM t");
    std::thread::sleep(Duration::from_millis(50));
    let after = scrape(port);
    let more = |name: &str| value(&after, name) - value(&before, name);
    assert_eq!(more("atoll_statements_total{kind=\"update\"}"), 13);
    assert_eq!(more("atoll_statements_total{kind=\"delete\"}"), 1);
    assert_eq!(more("atoll_statement_errors_total"), 2);
    assert!(more("atoll_transactions_total{outcome=\"commit\"}") >= 12);
    assert!(more("atoll_transactions_total{outcome=\"rollback\"}") >= 2);
    assert_eq!(more("atoll_deadlocks_total"), 1);
    assert!(more("atoll_lock_waits_total") >= 2);
    // Ten updates that differ in a literal only are one plan.
    assert!(more("atoll_plan_cache_hits_total") >= 9, "{after}");
    assert!(more("atoll_plan_cache_misses_total") >= 1);
    assert!(value(&after, "atoll_plan_cache_plans") >= 1);
    assert!(more("atoll_log_written_bytes_total") > 0);
    assert!(more("atoll_log_syncs_total") >= 11);
    assert!(more("atoll_log_sync_microseconds_total") > 0);
    assert!(more("atoll_socket_writes_total") >= 20);
    for name in ["read", "written", "evicted"] {
        assert!(value(&after, &format!("atoll_pages_{name}_total")) > 100, "{name}");
    }
    assert!(value(&after, "atoll_oldest_snapshot_age_microseconds") >= 50_000);
    assert!(value(&after, "atoll_checkpoint_age_microseconds") >= 50_000);
    assert_eq!(value(&after, "atoll_checkpoints_total"), value(&before, "atoll_checkpoints_total"));
    assert_eq!(value(&after, "atoll_sessions"), 3);
    // While it is open, what it must be able to see is held.
    one.run("UPDATE t SET b = 100 WHERE a = 1");
    assert!(value(&scrape(port), "atoll_versions_held") >= 1);
    client.run("COMMIT");
    let reclaimed = value(&after, "atoll_versions_reclaimed_total");
    wait_until("the old version's end", Duration::from_secs(20), || {
        one.run("UPDATE t SET b = b + 1 WHERE a = 1");
        (value(&scrape(port), "atoll_versions_reclaimed_total") > reclaimed).then_some(())
    });
}

/// The numbers of a kind in EXPLAIN's JSON, in order: the root's first, planning's last.
fn numbers(document: &str, name: &str) -> Vec<u64> {
    let found = document.match_indices(name).map(|(at, _)| {
        let rest = document[at + name.len()..].trim_start_matches(['"', ':', ' ']);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().expect("a number")
    });
    found.collect()
}

#[test]
fn what_explain_says_of_pages_is_what_the_pool_counts() {
    let port = free_port();
    let listen = format!("atoll.metrics_listen=127.0.0.1:{port}");
    let mut atoll = Atoll::start(&[&listen]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t(a int PRIMARY KEY, b int, c text)");
    client.run("CREATE INDEX ON t(b)");
    client
        .run("INSERT INTO t SELECT g, g % 100, repeat('x', 100) FROM generate_series(1, 20000) g");
    drop(client);
    // Nothing is in memory afterwards.
    atoll.stop();
    atoll.restart();
    let mut client = atoll.connect();
    client.run("BEGIN");
    // What the catalog's first reader reads is not the statement's.
    client.run("SELECT FROM pg_class LIMIT 0");
    let mut read_anything = 0;
    for statement in [
        "SELECT count(*) FROM t",
        "SELECT count(*) FROM t",
        "SELECT sum(a) FROM t WHERE b = 5",
        "SELECT * FROM t WHERE a BETWEEN 100 AND 200 ORDER BY b",
        "SELECT a, (SELECT max(i.a) FROM t i WHERE i.b = o.b) FROM t o WHERE o.a < 20",
        "SELECT count(*) FROM t x JOIN t y ON x.a = y.b",
        "WITH w AS MATERIALIZED (SELECT * FROM t WHERE a < 50) SELECT * FROM w JOIN t USING (a)",
        "UPDATE t SET c = 'y' WHERE a < 50",
        "DELETE FROM t WHERE a = 60",
        "INSERT INTO t SELECT g, g, 'z' FROM generate_series(20001, 20100) g",
    ] {
        let before = scrape(port);
        let explain = format!("EXPLAIN (ANALYZE, BUFFERS, WAL, FORMAT JSON) {statement}");
        let document = client.run(&explain).value().to_owned();
        let after = scrape(port);
        for (name, metric) in [
            ("Shared Hit Blocks", "atoll_pages_hit_total"),
            ("Shared Read Blocks", "atoll_pages_read_total"),
            ("Shared Dirtied Blocks", "atoll_pages_dirtied_total"),
        ] {
            let said = numbers(&document, name);
            let (root, planning) = (said[0], said[said.len() - 1]);
            let counted = value(&after, metric) - value(&before, metric);
            assert_eq!(root + planning, counted, "{statement}: {name} in {document}");
            // What a node has used, its inputs have used or it has.
            assert!(said[1..said.len() - 1].iter().all(|below| *below <= root), "{document}");
        }
        read_anything += numbers(&document, "Shared Read Blocks")[0];
        let wal = numbers(&document, "WAL Records")[0];
        assert_eq!(wal > 0, !statement.starts_with(['S', 'W']), "{document}");
        assert_eq!(numbers(&document, "WAL Bytes")[0] > 0, wal > 0, "{document}");
    }
    assert!(read_anything > 100, "{read_anything}");
    let lines = client.run("EXPLAIN (ANALYZE, BUFFERS) SELECT count(*) FROM t").rows;
    let line = lines[1][0].as_deref().expect("a line");
    assert!(line.starts_with("  Buffers: shared hit="), "{lines:?}");
    let lines = client.run("EXPLAIN (ANALYZE, WAL) DELETE FROM t WHERE a = 1").rows;
    let line = lines[1][0].as_deref().expect("a line");
    assert!(line.starts_with("  WAL: records=2 bytes="), "{lines:?}");
    client.run("COMMIT");
}

/// What is logged of waits, numbers of sessions, transactions, relations and times left out; `log` shows the server's log.
fn logged_waits(port: u16, log: &dyn Fn() -> String) -> Vec<String> {
    let mut holder = connect(port, "postgres", "holder").client;
    holder.run("CREATE TABLE waited_for (a int PRIMARY KEY, b int)");
    holder.run("INSERT INTO waited_for VALUES (1, 0), (2, 0)");
    let waits = [
        ("UPDATE waited_for SET b = 1 WHERE a = 1", "UPDATE waited_for SET b = 2 WHERE a = 1"),
        ("LOCK TABLE waited_for IN SHARE MODE", "UPDATE waited_for SET b = 3 WHERE a = 2"),
        ("SELECT pg_advisory_xact_lock(3, 4)", "SELECT pg_advisory_xact_lock(3, 4)"),
    ];
    for (held, wanted) in waits {
        holder.run("BEGIN");
        holder.run(held);
        let mut waiter = connect(port, "postgres", "waiter").client;
        waiter.run("SET deadlock_timeout = '20ms'");
        waiter.run("SET log_lock_waits = on");
        let before = log().matches("still waiting for").count();
        waiter.start(wanted);
        wait_until("the wait is logged", Duration::from_secs(20), || {
            (log().matches("still waiting for").count() > before).then_some(())
        });
        holder.run("COMMIT");
        assert!(waiter.replies().expect("it goes on")[0].error.is_none());
    }
    // A short wait, and one that nobody asked about, are not logged.
    holder.run("BEGIN");
    holder.run("UPDATE waited_for SET b = 1 WHERE a = 1");
    let mut waiter = connect(port, "postgres", "waiter").client;
    waiter.run("SET deadlock_timeout = '20ms'");
    waiter.start("UPDATE waited_for SET b = 2 WHERE a = 1");
    std::thread::sleep(Duration::from_millis(100));
    holder.run("COMMIT");
    assert!(waiter.replies().expect("it goes on")[0].error.is_none());
    let plain = |said: &str| said.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let text = log();
    let mut said = Vec::new();
    for line in text.lines() {
        // Atoll has the detail on the message's line.
        for part in line.split(" detail=") {
            let begin = ["process ", "Process holding"].iter().find_map(|begin| part.find(begin));
            if let Some(begin) = begin.filter(|_| !part.contains("signal")) {
                let message = part[begin..].split(" at character").next().unwrap_or_default();
                said.push(plain(message.trim_end_matches('"')));
            }
        }
    }
    said
}

#[test]
fn long_waits_for_locks_are_logged_as_in_postgresql() {
    let (oracle, atoll) = (Oracle::start(&["log_line_prefix="]), Atoll::start(&[]));
    let mut wanted = logged_waits(oracle.port(), &|| oracle.log());
    let mut actual = logged_waits(atoll.port(), &|| atoll.log());
    assert_eq!(wanted.len(), 9, "{wanted:?}");
    wanted.sort();
    actual.sort();
    assert_eq!(actual, wanted);
}

/// Asks `view` for the rows of the session `pid` until there is one that `is_meant` likes.
fn seen(
    looking: &mut Client,
    pid: &str,
    view: &str,
    is_meant: &dyn Fn(&[Option<String>]) -> bool,
) -> Option<Vec<Option<String>>> {
    let rows = looking.query(&format!("SELECT {view} WHERE pid = {pid}")).rows;
    rows.into_iter().find(|row| is_meant(row))
}

#[test]
fn others_see_how_far_a_command_has_come() {
    let atoll = Atoll::start(&[]);
    let (mut working, mut looking) = (atoll.connect(), atoll.connect());
    let pid = working.query("SELECT pg_backend_pid()").rows[0][0].clone().expect("a number");
    working.run("CREATE TABLE progress_t (a int, b text)");

    // COPY waits for its data, so what it has taken can be looked at for as long as one likes.
    working.start("COPY progress_t FROM STDIN WHERE a < 3");
    working.send(b'd', b"1\tx\n2\tx\n3\tx\n").expect("the server listens");
    let view = "relid::regclass::text, command, type, bytes_processed, tuples_processed, \
                tuples_excluded FROM pg_stat_progress_copy";
    let wanted = ["progress_t", "COPY FROM", "PIPE", "12", "2", "1"].map(|it| Some(it.to_owned()));
    wait_until("a COPY", Duration::from_secs(20), || {
        seen(&mut looking, &pid, view, &|row| row == wanted)
    });
    working.send(b'c', b"").expect("the server listens");
    working.replies().expect("the COPY ends");
    assert!(seen(&mut looking, &pid, view, &|_| true).is_none(), "it has ended");

    working
        .run("INSERT INTO progress_t SELECT g, repeat('y', 50) FROM generate_series(1, 150000) g");
    for (command, view, phase) in [
        (
            "CREATE INDEX progress_i ON progress_t (b, a)",
            "phase, blocks_total > 0, tuples_done > 0, command = 'CREATE INDEX' FROM pg_stat_progress_create_index",
            "building index: scanning table",
        ),
        (
            "ANALYZE progress_t",
            "phase, sample_blks_total > 0, sample_blks_scanned > 0, relid = 'progress_t'::regclass FROM pg_stat_progress_analyze",
            "acquiring sample rows",
        ),
        (
            "VACUUM progress_t",
            "phase, heap_blks_total > 0, heap_blks_scanned >= 0, relid = 'progress_t'::regclass FROM pg_stat_progress_vacuum",
            "scanning heap",
        ),
    ] {
        // Whether one looks in time is a matter of luck: it is tried again.
        let found = (0..50).any(|_| {
            std::thread::scope(|scope| {
                let running = scope.spawn(|| {
                    working.run(command);
                    if command.starts_with("CREATE") {
                        working.run("DROP INDEX progress_i");
                    }
                });
                let mut found = false;
                while !running.is_finished() {
                    let wanted = |row: &[Option<String>]| {
                        row[0].as_deref() == Some(phase)
                            && row[1..].iter().all(|field| field.as_deref() == Some("t"))
                    };
                    found |= seen(&mut looking, &pid, view, &wanted).is_some();
                }
                found
            })
        });
        assert!(found, "{command}");
    }
}
