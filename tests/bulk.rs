//! Bulk work in bounded memory: loads and index builds larger than anything the server may hold, statements that would
//! hold more than they may, space that is used again, and the smallest pool there is.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Barrier;
use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::client::Client;
use tests::process::{free_port, wait_until};

/// What the process holds now and held at most, in KiB.
fn resident(atoll: &Atoll) -> (u64, u64) {
    let path = format!("/proc/{}/status", atoll.pid());
    let status = std::fs::read_to_string(path).expect("the server runs");
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a Linux field");
        line.trim().trim_end_matches(" kB").parse().expect("a number")
    };
    (field("VmRSS:"), field("VmHWM:"))
}

fn data_bytes(atoll: &Atoll) -> u64 {
    std::fs::metadata(atoll.data().join("data")).expect("the data file").len()
}

#[test]
fn loads_and_index_builds_hold_no_more_than_they_may() {
    let settings = ["shared_buffers=8MB", "maintenance_work_mem=8MB", "max_wal_size=64MB"];
    let mut atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    let before = resident(&atoll).0;
    client.run("BEGIN");
    client.run("CREATE TABLE t (id int PRIMARY KEY, n int, filler char(100))");
    // Keys in no order: 1,000,003 is a prime.
    client.run(
        "INSERT INTO t SELECT n::bigint * 7919 % 1000003, n, '' FROM generate_series(1, 600000) AS n",
    );
    client.run("COMMIT");
    client.run("CREATE UNIQUE INDEX t_n ON t (n)");
    client.run("CREATE INDEX t_filler ON t (filler, id)");
    client.run("ALTER TABLE t DROP CONSTRAINT t_pkey");
    client.run("ALTER TABLE t ADD PRIMARY KEY (n)");
    assert_eq!(client.run("SELECT count(*) FROM t").value(), "600000");
    assert_eq!(client.run("SELECT n FROM t WHERE id = 7919").value(), "1");
    let rows = data_bytes(&atoll) >> 20;
    assert!(rows > 64, "{rows} MiB are no more than memory takes");
    let peak = resident(&atoll).1;
    // Pool and log ring fill up as they are used, and beyond limits there are 64 MiB for everything else.
    let limit = (8 + 8 + 16 + 16 + 64) << 10;
    assert!(peak <= limit.max(before), "held {peak} KiB, at the start {before}");
    drop(client);
    atoll.stop();
    atoll.check();
    assert!(!atoll.data().join("scratch").read_dir().is_ok_and(|mut left| left.next().is_some()));
}

/// By how much the data file grows at least, as `storage`'s free space does it: a sixteenth of what it is. Whoever needs one
/// extent more than there are (an empty table keeps one for each of its trees, a session that moves leaves one in the cache
/// of another worker) makes it grow by that; what is used again makes it grow by no more.
fn step(file: u64) -> u64 {
    (file / 16).max(16 * EXTENT_BYTES)
}

/// The bytes of an extent, where pages have their usual size.
const EXTENT_BYTES: u64 = 8 * 8192;

/// Rows that go here and there, not side by side: with a key they come back to their places, without one VACUUM packs what
/// is left. (PostgreSQL 15's tables do not grow here either.)
#[test]
fn what_vacuum_gives_back_is_used_again() {
    let mut atoll = Atoll::start(&["max_wal_size=64MB"]);
    let mut client = atoll.connect();
    for (columns, gone, back) in [
        ("n int PRIMARY KEY, t text", "n % 2 = 0", "n * 2 FROM generate_series(1, 15000) AS n"),
        ("n int, t text", "n % 2 = 0", "n * 2 FROM generate_series(1, 15000) AS n"),
        ("n int, t text", "n <= 15000", "n FROM generate_series(1, 15000) AS n"),
        ("n int, t text", "n * 7919 % 10007 < 5003", "n FROM generate_series(1, 14900) AS n"),
        ("n int, t text", "n % 3 = 0", "n FROM generate_series(1, 10000) AS n"),
    ] {
        client.run(&format!("CREATE TABLE v ({columns})"));
        client.run("INSERT INTO v SELECT n, repeat('x', 200) FROM generate_series(1, 30000) AS n");
        let size = "SELECT pg_total_relation_size('v')";
        let before: u64 = client.run(size).value().parse().unwrap();
        client.run(&format!("DELETE FROM v WHERE {gone}"));
        client.run("VACUUM v");
        // Freed pages are used when what freed them is durable.
        client.run("CHECKPOINT");
        let file = data_bytes(&atoll);
        client
            .run(&format!("INSERT INTO v SELECT b.*, repeat('x', 200) FROM (SELECT {back}) AS b"));
        client.run("CHECKPOINT");
        let after: u64 = client.run(size).value().parse().unwrap();
        // A session that moves between workers leaves pages of an extent with each.
        let most = before + before / 50 + 8 * EXTENT_BYTES;
        assert!(after <= most, "{columns}, {gone}: {before} bytes, then {after}");
        assert!(data_bytes(&atoll) <= file + step(file), "{columns}, {gone}: the file has grown");
        client.run("VACUUM (FULL) v");
        assert_eq!(client.run("SELECT count(DISTINCT ctid) = count(*) FROM v").value(), "t");
        client.run("DROP TABLE v");
    }
    let rows = "SELECT n, repeat('x', 200) AS t FROM generate_series(1, 30000) AS n";
    client.run("CREATE TABLE one (n int, t text)");
    client.run(&format!("INSERT INTO one {rows}"));
    client.run("CHECKPOINT");
    let file = data_bytes(&atoll);
    client.run("DELETE FROM one");
    client.run("VACUUM one");
    client.run("CREATE TABLE other (n int, t text)");
    client.run(&format!("INSERT INTO other {rows}"));
    client.run("CHECKPOINT");
    let most = file + step(file);
    assert!(data_bytes(&atoll) <= most, "another table has what one has emptied");
    drop(client);
    atoll.stop();
    atoll.check();
}

/// How long a test waits for writes to appear in scratch space, at most.
const PATIENCE: Duration = Duration::from_secs(120);

/// What transactions have in scratch space, in files.
fn scratch_files(atoll: &Atoll) -> usize {
    atoll.data().join("scratch").read_dir().map_or(0, Iterator::count)
}

/// An UPDATE of all rows has several times the writes and row locks that a transaction may hold in memory.
#[test]
fn a_transaction_larger_than_memory_commits_rolls_back_and_survives_kill() {
    const ROWS: u64 = 50_000;
    let settings = ["shared_buffers=8MB", "atoll.max_write_set=1MB", "max_wal_size=64MB"];
    let mut atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (id int PRIMARY KEY, n bigint, filler char(100))");
    client.run("BEGIN");
    client.run("CREATE TABLE loaded (id int PRIMARY KEY, n bigint, filler char(100))");
    client.run(&format!("INSERT INTO loaded SELECT n, n, '' FROM generate_series(1, {ROWS}) AS n"));
    client.run("COMMIT");
    let before = resident(&atoll).0;
    // Into a table that others see: no load.
    client.run("INSERT INTO t SELECT * FROM loaded");
    client.run("CREATE INDEX t_n ON t (n)");
    let sum = |client: &mut Client| client.run("SELECT sum(n) FROM t").value().to_owned();
    let expected = |added: u64| (ROWS * (ROWS + 1) / 2 + ROWS * added).to_string();
    let mut other = atoll.connect();
    client.run("BEGIN");
    client.run("UPDATE t SET n = n + 1");
    assert!(scratch_files(&atoll) > 0);
    assert_eq!(sum(&mut client), expected(1));
    assert_eq!(sum(&mut other), expected(0));
    assert_eq!(client.run("SELECT count(*) FROM t WHERE n <= 1").value(), "0");
    client.run("SAVEPOINT s");
    client.run("DELETE FROM t WHERE id > 100");
    assert_eq!(client.run("SELECT count(*) FROM t").value(), "100");
    client.run("ROLLBACK TO s");
    assert_eq!(sum(&mut client), expected(1));
    // Its rows are locked, and those of others are not.
    let refused = other.query("SELECT FROM t WHERE id = 7 FOR UPDATE NOWAIT");
    assert_eq!(refused.sqlstate(), "55P03");
    other.run("INSERT INTO t VALUES (0, 0, '')");
    other.run("DELETE FROM t WHERE id = 0");
    client.run("ROLLBACK");
    assert_eq!(sum(&mut client), expected(0));
    assert_eq!(scratch_files(&atoll), 0);
    other.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    assert_eq!(sum(&mut other), expected(0));
    client.run("UPDATE t SET n = n + 1");
    assert_eq!(sum(&mut client), expected(1));
    assert_eq!(sum(&mut other), expected(0), "an old snapshot reads what was replaced");
    other.run("COMMIT");
    assert_eq!(sum(&mut other), expected(1));
    let peak = resident(&atoll).1;
    // Pool, log ring, versions that an old snapshot needs; and 48 MiB for everything else.
    let limit = before + ((8 + 16 + 16 + 48) << 10);
    assert!(peak <= limit, "held {peak} KiB, before {before}");
    // It dies before the commit: none of it is there.
    client.start("UPDATE t SET n = n + 1");
    wait_until("writes in scratch space", PATIENCE, || (scratch_files(&atoll) > 3).then_some(()));
    atoll.kill();
    drop((client, other));
    atoll.restart();
    let mut client = atoll.connect();
    let left = sum(&mut client);
    assert!(left == expected(1) || left == expected(2), "half of an update: {left}");
    assert_eq!(scratch_files(&atoll), 0);
    // It dies when it has been told: all of it is.
    client.run("UPDATE t SET n = id + 9");
    atoll.kill();
    drop(client);
    atoll.restart();
    let mut client = atoll.connect();
    assert_eq!(client.run("SELECT count(*) FROM t WHERE n = id + 9").value(), ROWS.to_string());
    drop(client);
    atoll.stop();
    atoll.check();
}

#[test]
fn space_of_deleted_rows_is_used_again() {
    let atoll = Atoll::start(&["shared_buffers=8MB"]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (id int PRIMARY KEY, n int, filler char(84))");
    client.run("CREATE INDEX t_n ON t (n)");
    let load = |client: &mut Client, low: u32, high: u32| {
        for from in (low..high).step_by(20_000) {
            let to = from + 19_999;
            client.run(&format!(
                "INSERT INTO t SELECT n, n % 1000, '' FROM generate_series({from}, {to}) AS n"
            ));
        }
    };
    load(&mut client, 1, 200_000);
    for (low, high) in [(1, 100_000), (100_001, 200_000)] {
        let full = data_bytes(&atoll);
        client.run(&format!("DELETE FROM t WHERE id BETWEEN {low} AND {high}"));
        client.run("VACUUM t");
        load(&mut client, low, high);
        assert_eq!(data_bytes(&atoll), full, "reloading half of the table needs no new space");
    }
    assert_eq!(client.run("SELECT count(*) FROM t").value(), "200000");
}

#[test]
fn who_reads_a_table_as_it_was_does_not_change_it() {
    let atoll = Atoll::start(&[]);
    let (mut old, mut new) = (atoll.connect(), atoll.connect());
    new.run("CREATE TABLE t (id int NOT NULL, v int)");
    new.run("CREATE TABLE unrelated (id int)");
    new.run("INSERT INTO t SELECT n, n FROM generate_series(1, 100) AS n");
    for change in ["CREATE INDEX ON t (v)", "ALTER TABLE t ADD PRIMARY KEY (id)"] {
        old.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
        old.run("SELECT 1");
        new.run(change);
        assert_eq!(old.run("SELECT count(*) FROM t WHERE v > 50").value(), "50");
        old.run("INSERT INTO unrelated VALUES (1)");
        old.run("SAVEPOINT s");
        for write in
            ["UPDATE t SET v = 0 WHERE id = 1", "SELECT * FROM t FOR UPDATE", "DELETE FROM t"]
        {
            assert_eq!(old.query(write).sqlstate(), "40001", "{change}: {write}");
            old.run("ROLLBACK TO s");
        }
        assert_eq!(old.run("SELECT count(*) FROM t").value(), "100");
        old.run("COMMIT");
        old.run("UPDATE t SET v = v WHERE id = 1");
    }
    assert_eq!(new.run("SELECT sum(v) FROM t").value(), "5050");
}

/// The server's metrics, by name.
fn metric(port: u16, name: &str) -> u64 {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("metrics are served");
    stream
        .write_all(b"GET /metrics HTTP/1.1\r\nHost: atoll\r\nConnection: close\r\n\r\n")
        .expect("it listens");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("it answers");
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {name} in {text}")).trim().parse().expect("a number")
}

#[test]
fn with_the_smallest_pool_every_mechanism_of_it_is_at_work() {
    let port = free_port();
    let listen = format!("atoll.metrics_listen=127.0.0.1:{port}");
    let mut atoll = Atoll::start_with(&["--page-size", "4kB"], &["shared_buffers=256kB", &listen]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (id int PRIMARY KEY, v int, filler char(100))");
    client.run("INSERT INTO t SELECT n, 0, '' FROM generate_series(1, 20000) AS n");
    let names = [
        "atoll_page_table_displacements_total",
        "atoll_pages_evicted_total",
        "atoll_page_hint_hits_total",
        "atoll_page_hint_misses_total",
        "atoll_page_transit_waits_total",
    ];
    let (started, mut rounds) = (Instant::now(), 0);
    loop {
        let together = Barrier::new(4);
        std::thread::scope(|scope| {
            for session in 0..4_u32 {
                let (atoll, together) = (&atoll, &together);
                scope.spawn(move || {
                    let mut client = atoll.connect();
                    for n in 0..500 {
                        let id = (n * 7 + rounds * 131) % 20_000 + 1;
                        client.run(&format!("SELECT v FROM t WHERE id = {id}"));
                        if n % 50 == session {
                            client.run(&format!("UPDATE t SET v = v + 1 WHERE id = {id}"));
                        }
                    }
                    // Scans side by side want each page at nearly the same time: one waits while another reads it in.
                    together.wait();
                    for _ in 0..5 {
                        assert_eq!(client.run("SELECT count(*) FROM t").value(), "20000");
                    }
                });
            }
        });
        rounds += 1;
        let counts = names.map(|name| (name, metric(port, name)));
        if counts.iter().all(|(_, count)| *count > 0) {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "{counts:?}");
    }
    assert_eq!(client.run("SELECT sum(v) FROM t").value(), (rounds * 4 * 10).to_string());
    drop(client);
    atoll.stop();
    atoll.check();
}
