//! Tables that have changed enough are packed and analysed by themselves; who wants them otherwise has them.

use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::process::wait_until;

const LIMIT: Duration = Duration::from_secs(120);

/// What is counted of a table: rounds of autovacuum and of autoanalyze, and whether there are times of them.
fn rounds(client: &mut Client, table: &str) -> [String; 4] {
    let row = client.query(&format!(
        "SELECT autovacuum_count, autoanalyze_count, last_autovacuum IS NOT NULL, \
         last_autoanalyze IS NOT NULL FROM pg_stat_all_tables WHERE relname = '{table}'"
    ));
    let row = row.rows.first().cloned().unwrap_or_default();
    let mut fields = row.into_iter().map(Option::unwrap_or_default);
    std::array::from_fn(|_| fields.next().unwrap_or_default())
}

#[test]
fn verbose_tells_what_was_done() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t AS SELECT g AS a FROM generate_series(1, 100) g");
    let mut told = |statement: &str| -> Vec<String> {
        let reply = client.query(statement);
        assert!(reply.error.is_none(), "{statement}: {:?}", reply.error);
        let said = reply.notices.iter().map(|notice| {
            assert_eq!(notice.field(b'S'), "INFO");
            notice.field(b'M').to_owned()
        });
        said.collect()
    };
    let analyzed = [
        "analyzing \"public.t\"",
        "\"t\": scanned 1 of 1 pages, containing 100 live rows and 0 dead rows; \
         100 rows in sample, 100 estimated total rows",
    ];
    assert_eq!(told("ANALYZE VERBOSE t"), analyzed);
    let whole = told("VACUUM (VERBOSE, ANALYZE) t");
    assert_eq!(whole[0], "vacuuming \"postgres.public.t\"");
    let lines: Vec<&str> = whole[1].lines().collect();
    assert_eq!(lines[0], "finished vacuuming \"postgres.public.t\": index scans: 0");
    let begins = ["buffer usage: ", "WAL usage: ", "system usage: elapsed: "];
    for (line, begin) in lines[1..].iter().zip(begins) {
        assert!(line.starts_with(begin), "{lines:?}");
    }
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert_eq!(whole[2..], analyzed);
    assert!(told("VACUUM (VERBOSE off) t").is_empty());
    assert!(told("SET track_io_timing = on").is_empty());
    assert!(told("VACUUM VERBOSE t")[1].contains("\nI/O timings: read: "));
}

#[test]
fn tables_that_have_changed_enough_are_looked_after() {
    let settings = ["autovacuum_naptime=1", "log_autovacuum_min_duration=0", "log_line_prefix=%b "];
    let atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    for (table, parameters) in [
        ("changed", ""),
        ("off", " WITH (autovacuum_enabled = off)"),
        ("few", ""),
        ("own", " WITH (autovacuum_analyze_threshold = 5, autovacuum_analyze_scale_factor = 0)"),
        ("inserted", " WITH (autovacuum_vacuum_insert_threshold = 500)"),
    ] {
        client.run(&format!("CREATE TABLE {table} (a int PRIMARY KEY, b text){parameters}"));
    }
    client.run("CREATE TEMPORARY TABLE passing (a int)");
    client.run("INSERT INTO passing SELECT * FROM generate_series(1, 5000)");
    for table in ["changed", "off"] {
        client.run(&format!("INSERT INTO {table} SELECT g, 'x' FROM generate_series(1, 900) g"));
        client.run(&format!("DELETE FROM {table} WHERE a > 500"));
    }
    for table in ["few", "own"] {
        client.run(&format!("INSERT INTO {table} SELECT g, 'x' FROM generate_series(1, 40) g"));
    }
    client.run("INSERT INTO inserted SELECT g, 'x' FROM generate_series(1, 900) g");
    let one = |number: &str| matches!(number, "1" | "2");
    wait_until("both", LIMIT, || {
        let changed = rounds(&mut client, "changed");
        let inserted = rounds(&mut client, "inserted");
        let own = rounds(&mut client, "own");
        let done = one(&changed[0]) && one(&changed[1]) && one(&inserted[0]) && one(&own[1]);
        done.then_some(())
    });
    assert_eq!(rounds(&mut client, "changed")[2..], ["t", "t"]);
    assert_eq!(rounds(&mut client, "off"), ["0", "0", "f", "f"]);
    assert_eq!(rounds(&mut client, "few"), ["0", "0", "f", "f"]);
    assert_eq!(rounds(&mut client, "own")[0], "0");
    assert_eq!(rounds(&mut client, "passing"), ["0", "0", "f", "f"]);
    let counts = client.query(
        "SELECT vacuum_count, analyze_count, n_mod_since_analyze, n_dead_tup \
         FROM pg_stat_user_tables WHERE relname = 'changed'",
    );
    assert_eq!(counts.rows[0].clone().map_all(), ["0", "0", "0", "0"]);
    let rows = client.query("SELECT reltuples FROM pg_class WHERE relname = 'changed'");
    assert_eq!(rows.value(), "500");
    let launcher = client
        .query("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum launcher'");
    assert_eq!(launcher.value(), "1");
    let log = atoll.log();
    let lines = [
        "LOG:  automatic vacuum of table \"postgres.public.changed\": index scans: 0",
        "LOG:  automatic analyze of table \"postgres.public.changed\"",
    ];
    for line in lines {
        assert!(log.contains(line), "{line}: {log}");
    }
    assert!(!log.contains("public.off") && !log.contains("passing"), "{log}");
    // Off means off, without a restart.
    client.run("ALTER SYSTEM SET autovacuum = off");
    client.run("SELECT pg_reload_conf()");
    wait_until("the launcher to go", LIMIT, || {
        let found = atoll.connect().query(
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum launcher'",
        );
        (found.value() == "0").then_some(())
    });
    let before = rounds(&mut client, "changed");
    client.run("DELETE FROM changed");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(rounds(&mut client, "changed"), before);
}

/// The fields of a row.
trait Fields {
    fn map_all(self) -> Vec<String>;
}

impl Fields for Vec<Option<String>> {
    fn map_all(self) -> Vec<String> {
        self.into_iter().map(Option::unwrap_or_default).collect()
    }
}

#[test]
fn who_waits_for_a_table_gets_it_and_a_stop_ends_it() {
    let settings =
        ["autovacuum_naptime=1", "deadlock_timeout=10ms", "autovacuum_analyze_scale_factor=0"];
    let mut atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    client.run("CREATE TABLE wanted (a int PRIMARY KEY, b text)");
    client.run("INSERT INTO wanted SELECT g, repeat('x', 50) FROM generate_series(1, 150000) g");
    let mut other = atoll.connect();
    let worker = "SELECT query FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'";
    let mut given_up = false;
    for round in 0..20 {
        client.run("UPDATE wanted SET b = b WHERE a < 40000");
        let seen = wait_until("the worker", LIMIT, || {
            other.query(worker).rows.first().and_then(|row| row[0].clone())
        });
        assert!(seen.is_empty() || seen.starts_with("autovacuum: ") || seen.contains("wanted"));
        client.run(&format!("ALTER TABLE wanted ADD COLUMN c{round} int"));
        if atoll.log().contains("ERROR:  canceling autovacuum task") {
            given_up = true;
            break;
        }
    }
    assert!(given_up, "{}", atoll.log());
    assert!(atoll.log().contains("CONTEXT:  automatic "), "it says of what: {}", atoll.log());
    client.run("UPDATE wanted SET b = b");
    wait_until("the worker", LIMIT, || (!other.query(worker).rows.is_empty()).then_some(()));
    drop((client, other));
    atoll.stop();
    atoll.check();
    // A database that is looked after can be dropped.
    atoll.restart();
    let mut client = atoll.connect();
    client.run("CREATE DATABASE going");
    let mut inside = Client::connect(atoll.port(), "postgres", "going");
    inside.run("CREATE TABLE t AS SELECT g AS a FROM generate_series(1, 100000) g");
    wait_until("the worker", LIMIT, || {
        let found = client
            .query("SELECT datname FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'");
        found.rows.iter().any(|row| row[0].as_deref() == Some("going")).then_some(())
    });
    drop(inside);
    client.run("DROP DATABASE going");
}
