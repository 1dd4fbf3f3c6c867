//! Snapshots that one transaction exports and another one begins with: who may, what it then sees and for how long, as in
//! PostgreSQL; and that what they need is kept under a load.

use std::sync::atomic::{AtomicBool, Ordering};
use tests::atoll::Atoll;
use tests::client::{Client, Reply};
use tests::oracle;

/// Two sessions, a third one in another database, and what they are answered.
struct Talk {
    sessions: [Client; 3],
    lines: Vec<String>,
}

impl Talk {
    fn new(port: u16) -> Talk {
        let name = "exported";
        Client::connect(port, "postgres", "postgres").run(&format!("CREATE DATABASE {name}"));
        let sessions = [name, name, "postgres"].map(|name| Client::connect(port, "postgres", name));
        Talk { sessions, lines: Vec::new() }
    }

    fn say(&mut self, at: usize, sql: &str, shown: &str) {
        let words = |reply: &Reply| match &reply.error {
            Some(error) => format!("{} {}", error.field(b'C'), error.field(b'M')),
            None => format!("{:?} {:?}", reply.tag, reply.rows),
        };
        let replies = self.sessions[at].query_all(sql);
        let said: Vec<String> = replies.iter().map(words).collect();
        self.lines.push(format!("{at}> {shown}: {}", said.join("; ")));
    }

    fn run(&mut self, at: usize, texts: &[&str]) {
        texts.iter().for_each(|text| self.say(at, text, text));
    }

    fn export(&mut self) -> String {
        let name = self.sessions[0].run("SELECT pg_export_snapshot()").value().to_owned();
        let parts: Vec<&str> = name.split('-').collect();
        assert!(parts.len() == 3 && parts.iter().all(|part| u64::from_str_radix(part, 16).is_ok()));
        name
    }

    /// Has a session begin with a snapshot, run something and roll back.
    fn import(&mut self, at: usize, begin: &str, name: &str, then: &str) {
        let sql = format!("{begin}; SET TRANSACTION SNAPSHOT '{name}'; {then}");
        self.say(at, &sql, &format!("{begin}, import, {then}"));
        if let Some(line) = self.lines.last_mut().filter(|_| name.contains("-0000")) {
            *line = line.replace(name, "the name");
        }
        self.run(at, &["ROLLBACK"]);
    }
}

fn talk(port: u16) -> Vec<String> {
    const REPEATABLE: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ";
    const SERIALIZABLE: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE";
    let count = "SELECT count(*), sum(b) FROM t";
    let mut talk = Talk::new(port);
    talk.run(
        0,
        &[
            "CREATE TABLE t(a int PRIMARY KEY, b int)",
            "INSERT INTO t SELECT g, g FROM generate_series(1, 1000) g",
        ],
    );
    for level in ["REPEATABLE READ", "READ COMMITTED", "SERIALIZABLE"] {
        talk.run(
            0,
            &[&format!("BEGIN ISOLATION LEVEL {level}"), "UPDATE t SET b = b + 1 WHERE a < 10"],
        );
        let name = talk.export();
        talk.run(1, &["INSERT INTO t VALUES (5000, 1) ON CONFLICT DO NOTHING; UPDATE t SET b = b + 100 WHERE a > 10; DELETE FROM t WHERE a = 500"]);
        talk.import(1, REPEATABLE, &name, count);
        talk.run(1, &[count]);
        talk.import(1, "BEGIN", &name, count);
        talk.import(1, SERIALIZABLE, &name, count);
        talk.import(1, &format!("{REPEATABLE} READ ONLY"), &name, count);
        talk.import(1, &format!("{REPEATABLE}; SELECT 1"), &name, count);
        talk.import(1, &format!("{REPEATABLE}; SAVEPOINT s"), &name, count);
        talk.import(1, REPEATABLE, &name, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
        talk.import(1, REPEATABLE, "no name", count);
        talk.import(1, REPEATABLE, "00000003-00000FFF-1", count);
        talk.import(2, REPEATABLE, &name, "SELECT 1");
        talk.say(1, &format!("SET TRANSACTION SNAPSHOT '{name}'"), "import alone");
        // Who has begun with it keeps it, also when its exporter is gone.
        let begin = format!("{REPEATABLE}; SET TRANSACTION SNAPSHOT '{name}'");
        talk.say(1, &begin, "begin and import");
        talk.run(0, &["ROLLBACK", "UPDATE t SET b = b + 7", "VACUUM t", count]);
        talk.run(1, &[count, "ROLLBACK"]);
        talk.import(1, REPEATABLE, &name, count);
    }
    talk.run(0, &["BEGIN; SAVEPOINT s", "SELECT pg_export_snapshot()", "ROLLBACK", "BEGIN"]);
    talk.export();
    talk.run(0, &["PREPARE TRANSACTION 'exported'", "ROLLBACK"]);
    talk.run(0, &["BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY"]);
    let name = talk.export();
    talk.import(1, SERIALIZABLE, &name, count);
    talk.import(1, &format!("{SERIALIZABLE} READ ONLY"), &name, count);
    talk.run(0, &["COMMIT", "BEGIN"]);
    // What goes back to a savepoint goes on exporting.
    let name = talk.export();
    talk.run(0, &["SAVEPOINT s", "SELECT 1 / 0", "ROLLBACK TO s"]);
    talk.import(1, REPEATABLE, &name, count);
    talk.run(0, &["COMMIT"]);
    let name = talk.export();
    talk.import(1, REPEATABLE, &name, count);
    talk.lines
}

#[test]
fn snapshots_are_exported_and_imported_as_in_postgresql() {
    let atoll = Atoll::start(&["max_prepared_transactions=2"]);
    let oracle = oracle::Oracle::start(&["max_prepared_transactions=2"]);
    assert_eq!(talk(atoll.port()), talk(oracle.port()));
}

/// Exporters end right behind their importers' start, while rows change and old versions are collected: every importer
/// sees one state.
#[test]
fn an_imported_snapshot_is_kept_under_a_load() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t(a int PRIMARY KEY, b int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 200) g");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut writer = atoll.connect();
                while !over.load(Ordering::Relaxed) {
                    // The sum stays what it is.
                    writer.query("BEGIN; UPDATE t SET b = b + 1 WHERE a <= 100; UPDATE t SET b = b - 1 WHERE a > 100; COMMIT");
                }
            });
        }
        let mut exporter = atoll.connect();
        let mut importers = [atoll.connect(), atoll.connect()];
        for round in 0..60 {
            exporter.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
            let mut name = exporter.run("SELECT pg_export_snapshot()").value().to_owned();
            let wanted = exporter.run("SELECT sum(b * a) FROM t").value().to_owned();
            // The second begins with what the first exports anew.
            for importer in &mut importers {
                importer.run(&format!(
                    "BEGIN ISOLATION LEVEL REPEATABLE READ; SET TRANSACTION SNAPSHOT '{name}'"
                ));
                name = importer.run("SELECT pg_export_snapshot()").value().to_owned();
            }
            exporter.run("COMMIT");
            importers[0].run("COMMIT");
            for _ in 0..3 {
                let seen = importers[1].run("SELECT sum(b * a) FROM t");
                assert_eq!(seen.value(), wanted, "round {round}");
            }
            importers[1].run("COMMIT");
        }
        over.store(true, Ordering::Relaxed);
    });
}
