//! pg_dump and pg_restore 15: what they say of a schema on Atoll is what they say of it on PostgreSQL, and what is dumped
//! from Atoll restores into both, from where it is dumped as it was.
//!
//! `pg_dump/schema.sql` is the schema, with data, comments and privileges; `pg_dump/hostile.sql` one whose names hold what
//! means something in the texts that they stand in.

use std::path::Path;
use std::process::{Command, Stdio};
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::difference;
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
    let (plain, custom) = (directory.path().join("plain.sql"), directory.path().join("custom"));
    let expected = dump(wanted, name, &[]);
    std::fs::write(&plain, dump(actual, name, &[])).expect("the directory is writable");
    succeeds(program("pg_dump", actual).arg("-Fc").arg("-f").arg(&custom).arg(name));
    for port in [wanted, actual] {
        let (by_psql, by_restore) = (format!("{name}_by_psql"), format!("{name}_by_restore"));
        create(port, &by_psql);
        run_script(port, &by_psql, &plain);
        demand_equal("restored by psql", &expected, &dump(port, &by_psql, &[]));
        create(port, &by_restore);
        let mut restore = program("pg_restore", port);
        succeeds(restore.args(["--exit-on-error", "-d", &by_restore]).arg(&custom));
        demand_equal("restored by pg_restore", &expected, &dump(port, &by_restore, &[]));
    }
}
