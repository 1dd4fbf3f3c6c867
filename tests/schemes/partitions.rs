//! `hstore`: which tables have partitions, in which of them a row is, and how a transaction of several ends.

use crate::{TABLE, code, open, outcome};
use std::time::Duration;
use tests::atoll::Atoll;
use tests::waiting::{LOOK, answers};

/// A table says with its primary key in which partition its rows are; where it does not, it is not made.
#[test]
fn a_table_without_a_partition_key_is_refused() {
    let atoll = Atoll::start_with(&["--concurrency-control", "hstore"], &[]);
    let mut client = atoll.connect();
    for sql in [
        "CREATE TABLE u (v int)",
        "CREATE TABLE u (v int UNIQUE)",
        "CREATE TABLE u (v int PRIMARY KEY DEFERRABLE)",
        "CREATE TABLE u AS SELECT 1 AS v",
        "SELECT 1 AS v INTO u",
    ] {
        assert_eq!(code(&mut client, sql), "22023", "{sql}");
    }
    TABLE.iter().for_each(|sql| drop(client.run(sql)));
    assert_eq!(code(&mut client, "ALTER TABLE t DROP CONSTRAINT t_pkey"), "22023");
    let made = [
        "CREATE TEMP TABLE own (v int)",
        "INSERT INTO own VALUES (1)",
        "CREATE MATERIALIZED VIEW m AS SELECT v FROM t",
        "REFRESH MATERIALIZED VIEW m",
        "CREATE TABLE texts (a text, b bytea, PRIMARY KEY (a, b))",
        "INSERT INTO texts VALUES ('a', '\\x00ff'), ('', '\\x'), ('ab', '\\x0000')",
        "CREATE TABLE numbers (n numeric PRIMARY KEY)",
        "INSERT INTO numbers VALUES (1.0), (-2), (0), ('NaN')",
        "CREATE TABLE lists (l int[] PRIMARY KEY)",
        "INSERT INTO lists VALUES ('{1,2}'), ('{}')",
        "UPDATE lists SET l = l || 3",
    ];
    made.into_iter().for_each(|sql| drop(client.run(sql)));
    let found = client.run(
        "SELECT (SELECT count(*) FROM texts WHERE a = 'ab') || ' ' || \
         (SELECT count(*) FROM numbers WHERE n = 1) || ' ' || (SELECT count(*) FROM lists WHERE l = '{3}')",
    );
    assert_eq!(found.value(), "1 1 1");
}

/// Where it is said that tables need no key, each row is where the transaction is that inserts it, so nobody enters another partition
/// for it, and whoever looks for one enters all. A key may come later, and go.
#[test]
fn a_table_without_a_key_has_its_rows_where_their_transactions_are() {
    let atoll = Atoll::start_with(&["--concurrency-control", "hstore"], &["atoll.partitions=5"]);
    let (mut one, mut two) = (atoll.connect(), atoll.connect());
    TABLE.iter().for_each(|sql| drop(one.run(sql)));
    one.run("SET atoll.require_partition_key = off");
    one.run("CREATE TABLE log (id int NOT NULL, v int, other int)");
    one.run("CREATE INDEX log_other ON log (other)");
    one.run("RESET atoll.require_partition_key");
    assert_eq!(code(&mut one, "CREATE TABLE u (v int)"), "22023");
    let held = "SELECT string_agg(objid::text, ' ' ORDER BY objid) FROM pg_locks \
                WHERE locktype = 'partition' AND granted AND pid = pg_backend_pid()";
    let in_order: Vec<i32> = (1..=10).collect();
    let mut homes = std::collections::HashSet::new();
    for id in &in_order {
        one.run("BEGIN");
        one.run(&format!("UPDATE t SET v = v + 1 WHERE id = {}", id % 3 + 1));
        let home = one.run(held).value().to_owned();
        one.run(&format!("INSERT INTO log SELECT {id}, g, 7 FROM generate_series(1, 300) g"));
        assert_eq!(one.run(held).value(), home);
        one.run("COMMIT");
        homes.insert(home);
    }
    assert!(homes.len() > 1, "{homes:?}");
    // Two insert at once, each in its partition, which the first insert of all has chosen.
    let keys = ["1", "2", "3"].map(|id| {
        one.run("BEGIN");
        one.run(&format!("SELECT v FROM t WHERE id = {id}"));
        let home = one.run(held).value().to_owned();
        one.run("COMMIT");
        (home, id)
    });
    let first = keys[0].clone();
    let second = keys.iter().find(|(home, _)| *home != first.0).expect("there are several").clone();
    for (client, (_, id)) in [(&mut one, first), (&mut two, second)] {
        client.run("BEGIN");
        client.run(&format!("UPDATE t SET v = v + 1 WHERE id = {id}"));
        client.run("INSERT INTO log VALUES (11, 0, 8)");
    }
    one.run("COMMIT");
    two.run("COMMIT");
    one.run("SET enable_seqscan = off");
    one.run("BEGIN");
    assert_eq!(one.run("SELECT count(*) FROM log WHERE other = 8").value(), "2");
    assert_eq!(one.run(held).value(), "0 1 2 3 4");
    assert_eq!(one.run("SELECT count(*) FROM log").value(), "3002");
    one.run("DELETE FROM log WHERE other = 8");
    one.run("UPDATE log SET other = v WHERE v > 200");
    one.run("COMMIT");
    assert_eq!(one.run("SELECT count(DISTINCT ctid) FROM log").value(), "3000");
    one.run("ALTER TABLE log ADD PRIMARY KEY (id, v)");
    one.run("BEGIN");
    assert_eq!(one.run("SELECT count(*) FROM log WHERE id = 4").value(), "300");
    assert!(one.run(held).value().len() == 1);
    one.run("COMMIT");
    assert_eq!(one.run("SELECT count(*) FROM log WHERE other = 250").value(), "10");
    assert_eq!(code(&mut one, "ALTER TABLE log DROP CONSTRAINT log_pkey"), "22023");
    one.run("SET atoll.require_partition_key = off");
    one.run("ALTER TABLE log DROP CONSTRAINT log_pkey");
    one.run("INSERT INTO log VALUES (1, 1, 250)");
    assert_eq!(one.run("SELECT count(*) FROM log WHERE other = 250").value(), "11");
}

/// What needs all partitions shows how many there are, and who is in the way of whom.
#[test]
fn a_database_has_as_many_partitions_as_the_setting_says() {
    let atoll = Atoll::start_with(&["--concurrency-control", "hstore"], &["atoll.partitions=5"]);
    let (mut one, mut two) = (atoll.connect(), atoll.connect());
    TABLE.iter().for_each(|sql| drop(one.run(sql)));
    let held = "SELECT count(*) || ' ' || min(mode) || ' ' || max(objid::int) FROM pg_locks \
                WHERE locktype = 'partition' AND granted AND pid = pg_backend_pid()";
    one.run("BEGIN");
    one.run("SELECT v FROM t WHERE id = 1");
    assert!(one.run(held).value().starts_with("1 ExclusiveLock"));
    // Through an index that begins with another column.
    one.run("SET enable_seqscan = off");
    one.run("SELECT v FROM t WHERE grp = 1");
    assert_eq!(one.run(held).value(), "5 ExclusiveLock 4");
    two.start("SELECT v FROM t WHERE id = 2");
    assert!(!answers(&mut two, &mut one, LOOK));
    let waits = "SELECT wait_event_type || ' ' || wait_event || ' ' || cardinality(pg_blocking_pids(pid)) \
                 FROM pg_stat_activity WHERE state = 'active' AND pid <> pg_backend_pid() AND backend_type = 'client backend'";
    assert_eq!(one.run(waits).value(), "Lock partition 1");
    one.run("COMMIT");
    assert_eq!(outcome(&mut two), "20");
}

/// A table that its database had before it came to have partitions, and that does not say which its rows are in: who inserts one is
/// in one of them, whoever looks for one in all.
#[test]
fn a_table_from_before_goes_on() {
    let atoll = Atoll::start(&["atoll.partitions=5"]);
    let mut admin = atoll.connect();
    admin.run("CREATE DATABASE d");
    let mut client = open(&atoll, "d");
    client.run("CREATE TABLE u (v int)");
    client.run("INSERT INTO u VALUES (1)");
    drop(client);
    admin.run("ALTER DATABASE d WITH concurrency_control = 'hstore'");
    let mut client = open(&atoll, "d");
    client.run("BEGIN");
    client.run("INSERT INTO u VALUES (2)");
    let held = "SELECT count(*) FROM pg_locks WHERE locktype = 'partition' AND granted";
    assert_eq!(client.run(held).value(), "1");
    assert_eq!(client.run("SELECT sum(v) FROM u").value(), "3");
    assert_eq!(client.run(held).value(), "5");
    client.run("COMMIT");
    client.run("ALTER TABLE u ADD COLUMN w int");
    assert_eq!(client.run("SELECT sum(v) FROM u").value(), "3");
}

/// A cycle of waits through a partition and a table lock is a deadlock, and a timeout ends the wait for a partition.
#[test]
fn a_partition_is_part_of_a_deadlock() {
    let atoll = Atoll::start_with(&["--concurrency-control", "hstore"], &[]);
    let (mut one, mut two) = (atoll.connect(), atoll.connect());
    TABLE.iter().for_each(|sql| drop(one.run(sql)));
    one.run("CREATE TABLE u (id int PRIMARY KEY)");
    for client in [&mut one, &mut two] {
        client.run("SET deadlock_timeout = '50ms'");
        client.run("BEGIN");
    }
    one.run("UPDATE t SET v = 0 WHERE id = 1");
    two.run("LOCK TABLE u");
    two.start("SELECT v FROM t WHERE id = 1");
    assert!(!two.answers_within(Duration::from_millis(200)));
    let first = code(&mut one, "SELECT * FROM u");
    let second = if first.is_empty() { outcome(&mut two) } else { String::new() };
    assert!(first == "40P01" || second == "40P01", "{first} {second}");
    for client in [&mut one, &mut two] {
        let _ = client.query_all("ROLLBACK");
    }
    drop((one, two));
    let (mut one, mut two) = (atoll.connect(), atoll.connect());
    one.run("BEGIN");
    one.run("SELECT v FROM t WHERE id = 1");
    two.run("SET lock_timeout = '30ms'");
    assert_eq!(code(&mut two, "SELECT v FROM t WHERE id = 1"), "55P03");
    assert_eq!(code(&mut two, "SELECT v FROM t WHERE id = 1 FOR UPDATE NOWAIT"), "55P03");
    one.run("COMMIT");
    assert_eq!(two.run("SELECT v FROM t WHERE id = 1 FOR UPDATE NOWAIT").value(), "10");
}
