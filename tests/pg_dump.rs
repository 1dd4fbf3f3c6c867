//! pg_dump and pg_restore 15: what they say of a schema on Atoll is what they say of it on PostgreSQL, and what is dumped
//! from Atoll restores into both, from where it is dumped as it was.
//!
//! Dumps and restores of several jobs at once are of one snapshot and come to the same: `ATOLL_RESTORES` says how often a
//! database of a hundred tables is restored.
//!
//! `pg_dump/schema.sql` is the schema, with data, comments and privileges; `pg_dump/hostile.sql` one whose names hold what
//! means something in the texts that they stand in; `pg_dump/extensions.sql` one with extensions.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::difference;
use tests::script::{files, name_of};
use tests::{oracle, process};

/// One of PostgreSQL's client programs against a server.
fn program(name: &str, port: u16) -> Command {
    let mut command = Command::new(oracle::programs().join(name));
    command.args(["-h", "127.0.0.1", "-U", "postgres", "-p", &port.to_string()]);
    command
}

fn succeeds(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("the program starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{command:?}: {errors}");
    output.stdout
}

/// A dump as text, without what names the server and the run.
fn dump(port: u16, database: &str, arguments: &[&str]) -> String {
    let text = succeeds(program("pg_dump", port).args(arguments).arg(database));
    let own = ["-- Dumped from database version", "\\restrict ", "\\unrestrict "];
    String::from_utf8_lossy(&text)
        .lines()
        .filter(|line| !own.iter().any(|start| line.starts_with(start)))
        .fold(String::new(), |all, line| all + line + "\n")
}

fn create(port: u16, database: &str) {
    Client::connect(port, "postgres", "postgres").run(&format!("CREATE DATABASE {database}"));
}

fn run_script(port: u16, database: &str, file: &Path) {
    let file = std::fs::File::open(file).expect("scripts are readable");
    let mut psql = program("psql", port);
    psql.args(["-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null", "-d", database]);
    succeeds(psql.stdin(Stdio::from(file)));
}

fn demand_equal(what: &str, expected: &str, actual: &str) {
    assert!(expected == actual, "{what}:\n{}", difference(expected, actual));
}

#[test]
fn dumps_are_what_postgresql_s_are_and_restore() {
    of_schema("schema", "dumped");
}

#[test]
fn extensions_are_dumped_with_what_was_said_of_their_members() {
    of_schema("extensions", "extended");
}

#[test]
fn names_of_any_kind_go_through_dumps_and_back() {
    of_schema("hostile", "hostile");
}

/// A schema's dumps, of a database of this name.
fn of_schema(file: &str, name: &str) {
    let atoll = Atoll::start(&[]);
    let (wanted, actual) = (oracle::shared(), atoll.port());
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("pg_dump/{file}.sql"));
    for port in [wanted, actual] {
        create(port, name);
        run_script(port, name, &schema);
    }
    for arguments in [&[][..], &["--inserts", "--clean", "--if-exists"], &["-s", "-O", "-x"]] {
        let expected = dump(wanted, name, arguments);
        demand_equal(&format!("{arguments:?}"), &expected, &dump(actual, name, arguments));
    }
    let directory = process::TemporaryDirectory::new("dump");
    let [plain, custom, parts] =
        ["plain.sql", "custom", "parts"].map(|name| directory.path().join(name));
    let expected = dump(wanted, name, &[]);
    std::fs::write(&plain, dump(actual, name, &[])).expect("the directory is writable");
    succeeds(program("pg_dump", actual).arg("-Fc").arg("-f").arg(&custom).arg(name));
    succeeds(program("pg_dump", actual).args(["-Fd", "-j", "4", "-f"]).arg(&parts).arg(name));
    for port in [wanted, actual] {
        let (by_psql, by_restore) = (format!("{name}_by_psql"), format!("{name}_by_restore"));
        create(port, &by_psql);
        run_script(port, &by_psql, &plain);
        demand_equal("restored by psql", &expected, &dump(port, &by_psql, &[]));
        create(port, &by_restore);
        let mut restore = program("pg_restore", port);
        succeeds(restore.args(["--exit-on-error", "-d", &by_restore]).arg(&custom));
        demand_equal("restored by pg_restore", &expected, &dump(port, &by_restore, &[]));
        let by_jobs = format!("{name}_by_jobs");
        create(port, &by_jobs);
        restore_by_jobs(port, &by_jobs, "4", &parts);
        demand_equal("restored by several jobs", &expected, &dump(port, &by_jobs, &[]));
    }
}

fn restore_by_jobs(port: u16, name: &str, jobs: &str, parts: &Path) {
    let mut restore = program("pg_restore", port);
    succeeds(restore.args(["--exit-on-error", "-j", jobs, "-d", name]).arg(parts));
}

/// A database of this many tables, with rows, indexes, constraints, foreign keys among them, and views.
fn many_tables(tables: usize) -> String {
    let mut all = String::new();
    for at in 1..=tables {
        let (up, other) = (at / 2, at % 10 + 1);
        all += &format!(
            "CREATE TABLE t{at}(id int PRIMARY KEY, up int, name text UNIQUE, n numeric CONSTRAINT n{at} CHECK (n >= 0));
             INSERT INTO t{at} SELECT g, g, 'n' || g, g * 1.5 FROM generate_series(1, 50) g;
             CREATE INDEX ON t{at}(name, n);
             CREATE INDEX ON t{at}(lower(name)) WHERE n > 10;\n"
        );
        if at > 1 {
            all += &format!(
                "ALTER TABLE t{at} ADD CONSTRAINT up{at} FOREIGN KEY (up) REFERENCES t{up};\n"
            );
        }
        if at > 10 {
            all += &format!(
                "ALTER TABLE t{at} ADD FOREIGN KEY (id) REFERENCES t{other} ON DELETE CASCADE;\n"
            );
        }
        if at % 10 == 3 {
            all += &format!("ALTER TABLE t{at} CLUSTER ON t{at}_name_n_idx;\n");
        }
        if at % 10 == 0 {
            all += &format!(
                "CREATE VIEW v{at} AS SELECT a.id, b.name FROM t{at} a JOIN t{up} b USING (id);\n"
            );
        }
    }
    all
}

#[test]
fn eight_jobs_restore_a_hundred_tables_as_they_were() {
    let times =
        std::env::var("ATOLL_RESTORES").ok().and_then(|times| times.parse().ok()).unwrap_or(3);
    let atoll = Atoll::start(&[]);
    let port = atoll.port();
    let directory = process::TemporaryDirectory::new("dump");
    let [script, parts] = ["script.sql", "parts"].map(|name| directory.path().join(name));
    std::fs::write(&script, many_tables(100)).expect("the directory is writable");
    create(port, "many");
    run_script(port, "many", &script);
    succeeds(program("pg_dump", port).args(["-Fd", "-j", "8", "-f"]).arg(&parts).arg("many"));
    let expected = dump(port, "many", &[]);
    for time in 0..times {
        let name = format!("restored_{time}");
        create(port, &name);
        restore_by_jobs(port, &name, "8", &parts);
        demand_equal(&name, &expected, &dump(port, &name, &[]));
        Client::connect(port, "postgres", "postgres").run(&format!("DROP DATABASE {name}"));
    }
}

/// What scripts of `tests/sql` leave in a database: a restore makes what defaults, conditions and views name before them, in
/// the order that `pg_depend` gives, and comes to the same. All of them with `ATOLL_DUMPS=all`.
#[test]
fn what_texts_name_is_restored_before_them() {
    /// PostgreSQL's own dumps of these do not come back as they were: it prints what it cannot read (a method of a number in a
    /// jsonpath, constants of CYCLE with their types), reads arrays and negative numbers otherwise than it prints them, gives a
    /// NULL without a name, within a union in FROM, that of the cast which it prints, makes plpgsql part of a dump once
    /// something of it has been changed, and leaves rows that a foreign key, switched off, has let in.
    const POSTGRESQLS: [&str; 9] = [
        "domain_texts",
        "extension_members",
        "extensions",
        "jsonpath",
        "key_triggers",
        "nested_definitions",
        "printed_queries",
        "search_cycle",
        "views_of_unions",
    ];
    let atoll = Atoll::start(&[]);
    let port = atoll.port();
    let directory = process::TemporaryDirectory::new("dump");
    let named = ["renamed_in_defaults", "renamed_types", "named_in_texts", "composite_types"];
    let all = std::env::var("ATOLL_DUMPS").is_ok_and(|which| which == "all");
    for (number, path) in files("sql", "sql").into_iter().enumerate() {
        let script = name_of(&path);
        let chosen = all || named.contains(&script) || number % 40 == 7;
        if !chosen || POSTGRESQLS.contains(&script) {
            continue;
        }
        let [made, restored] = ["made", "restored"].map(|kind| format!("{script}_{kind}"));
        create(port, &made);
        let file = std::fs::File::open(&path).expect("a script");
        let mut psql = program("psql", port);
        // Some of its statements fail, as they are meant to.
        let output = psql.args(["-X", "-q", "-d", &made]).stdin(Stdio::from(file)).output();
        assert!(output.is_ok_and(|output| output.status.success()), "{script}");
        let parts = directory.path().join(script);
        succeeds(program("pg_dump", port).args(["-Fd", "-j", "4", "-f"]).arg(&parts).arg(&made));
        create(port, &restored);
        restore_by_jobs(port, &restored, "4", &parts);
        demand_equal(script, &dump(port, &made, &[]), &dump(port, &restored, &[]));
        let mut client = Client::connect(port, "postgres", "postgres");
        for database in [made, restored] {
            client.run(&format!("DROP DATABASE {database} WITH (FORCE)"));
        }
    }
}

/// Each of a dump's jobs reads its tables by the snapshot of the first, whatever is committed meanwhile.
#[test]
fn the_jobs_of_a_dump_see_one_state() {
    let atoll = Atoll::start(&[]);
    let port = atoll.port();
    let mut client = atoll.connect();
    for at in 0..8 {
        client.run(&format!("CREATE TABLE t{at}(a int PRIMARY KEY, b int)"));
        client.run(&format!("INSERT INTO t{at} SELECT g, 0 FROM generate_series(1, 2000) g"));
    }
    let over = AtomicBool::new(false);
    let directory = process::TemporaryDirectory::new("dump");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut writer = atoll.connect();
            let all: String =
                (0..8).map(|at| format!("UPDATE t{at} SET b = b + 1 WHERE a = 7;")).collect();
            while !over.load(Ordering::Relaxed) {
                writer.run(&format!("BEGIN; {all} COMMIT"));
            }
        });
        for time in 0..3 {
            let parts = directory.path().join(format!("parts_{time}"));
            succeeds(
                program("pg_dump", port).args(["-Fd", "-j", "4", "-f"]).arg(&parts).arg("postgres"),
            );
            let name = format!("state_{time}");
            create(port, &name);
            restore_by_jobs(port, &name, "4", &parts);
            let mut restored = Client::connect(port, "postgres", &name);
            let values: Vec<String> = (0..8)
                .map(|at| {
                    restored.run(&format!("SELECT b FROM t{at} WHERE a = 7")).value().to_owned()
                })
                .collect();
            assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
        }
        over.store(true, Ordering::Relaxed);
    });
}

/// Whoever owns what he dumps needs to be no superuser.
#[test]
fn an_owner_dumps_and_restores_his_own() {
    let atoll = Atoll::start(&[]);
    let directory = process::TemporaryDirectory::new("dump");
    let script = directory.path().join("script.sql");
    std::fs::write(&script, many_tables(12)).expect("the directory is writable");
    let dumps = [oracle::shared(), atoll.port()].map(|port| {
        let mut client = Client::connect(port, "postgres", "postgres");
        for sql in [
            "CREATE ROLE dumping LOGIN",
            "CREATE DATABASE dumped_1 OWNER dumping",
            "CREATE DATABASE dumped_2 OWNER dumping",
        ] {
            client.run(sql);
        }
        let program = |name: &str, database: &str| {
            let mut program = program(name, port);
            program.env("PGUSER", "dumping").args(["-U", "dumping", "-d", database]);
            program
        };
        let file = std::fs::File::open(&script).expect("scripts are readable");
        succeeds(
            program("psql", "dumped_1")
                .args(["-X", "-q", "-v", "ON_ERROR_STOP=1"])
                .stdin(Stdio::from(file)),
        );
        let parts = directory.path().join(format!("parts_{port}"));
        succeeds(program("pg_dump", "dumped_1").args(["-Fd", "-j", "2", "-f"]).arg(&parts));
        succeeds(
            program("pg_restore", "dumped_2").args(["--exit-on-error", "-j", "2"]).arg(&parts),
        );
        let text = dump(port, "dumped_1", &["-U", "dumping"]);
        demand_equal("an owner's", &text, &dump(port, "dumped_2", &["-U", "dumping"]));
        text
    });
    demand_equal("an owner's", &dumps[0], &dumps[1]);
}
