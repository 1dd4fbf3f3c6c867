//! Answers: every script in `sql/` answers as PostgreSQL 15 answered it, field by field, by both protocols.
//!
//! `sql/NAME.out` holds PostgreSQL's transcript. PostgreSQL is asked again where anything has changed (so that a wrong file is
//! found), then Atoll. `UPDATE_GOLDEN=1` writes the files anew, from PostgreSQL.

use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::assert_golden;
use tests::remembered::remembered;
use tests::script::{
    Protocol, files, name_of, transcript, transcript_with_other_literals, with_other_literals,
};
use tests::{golden, oracle};

/// A database of its own for each script, so that scripts do not meet.
fn in_fresh_database(
    port: u16,
    name: &str,
    text: &str,
    protocol: Protocol,
    run: fn(&mut Client, &str, Protocol) -> String,
) -> String {
    let mut admin = Client::connect(port, "postgres", "postgres");
    admin.run(&format!("CREATE DATABASE {name}"));
    let result = run(&mut Client::connect(port, "postgres", name), text, protocol);
    admin.run(&format!("DROP DATABASE {name} WITH (FORCE)"));
    result
}

#[test]
fn files_hold_what_postgresql_answers() {
    for path in files("sql", "sql") {
        let text = std::fs::read_to_string(&path).expect("scripts are readable");
        let name = format!("f_{}", name_of(&path));
        let file = path.with_extension("out");
        let held = std::fs::read_to_string(&file).unwrap_or_default();
        let answers = postgresqls_answers((&name, &text), Protocol::Simple, transcript, &held);
        assert_golden(&file, "PostgreSQL", &answers, true);
    }
}

/// What PostgreSQL answers to a script, which is going to be `compared` with this. Roles are the whole cluster's, which the tests of this program share: a script that
/// makes some has it to itself among these.
fn postgresqls_answers(
    (database, text): (&str, &str),
    protocol: Protocol,
    run: fn(&mut Client, &str, Protocol) -> String,
    compared: &str,
) -> String {
    static ROLES: Mutex<()> = Mutex::new(());
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let mut client = Client::connect(oracle::shared(), "postgres", "postgres");
        client.query("SELECT version()").value().to_owned()
    });
    let makes_roles = text.to_ascii_uppercase().contains("CREATE ROLE");
    let _alone = makes_roles.then(|| ROLES.lock().unwrap_or_else(PoisonError::into_inner));
    // The prefix of the database's name stands for the way in which the script is run.
    let name = format!("{database}_{protocol:?}");
    remembered(&name, &[&VERSION, include_str!("sql.rs"), &name, text], compared, || {
        in_fresh_database(oracle::shared(), database, text, protocol, run)
    })
}

/// Demands that both servers answer every script alike, run in this way, by both protocols. `known` gives what PostgreSQL
/// answers where it need not be asked once more.
fn compare(
    prefix: &str,
    run: fn(&mut Client, &str, Protocol) -> String,
    known: fn(&Path, Protocol) -> Option<String>,
) {
    let atoll = Atoll::start(&[]);
    let mut failures = Vec::new();
    for path in files("sql", "sql") {
        let text = std::fs::read_to_string(&path).expect("scripts are readable");
        let name = name_of(&path);
        for protocol in [Protocol::Simple, Protocol::Extended] {
            // What is known was answered in a database of this name.
            let known = known(&path, protocol);
            let database = format!("{}_{name}", if known.is_some() { "f" } else { prefix });
            let actual = in_fresh_database(atoll.port(), &database, &text, protocol, run);
            let wanted = known
                .unwrap_or_else(|| postgresqls_answers((&database, &text), protocol, run, &actual));
            if actual != wanted {
                failures.push(format!(
                    "{name}, {protocol:?}:\n{}",
                    golden::difference(&wanted, &actual)
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{} transcripts differ:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn answers_are_postgresqls() {
    // The files hold its answers by the simple protocol, which another test here demands.
    compare("s", transcript, |path, protocol| match protocol {
        Protocol::Simple => std::fs::read_to_string(path.with_extension("out")).ok(),
        Protocol::Extended => None,
    });
}

/// The second of two statements that differ in their literals only may find the first one's plan.
#[test]
fn answers_to_other_literals_are_postgresqls() {
    assert_eq!(
        with_other_literals("SELECT a1, 'b', '7', 1.5 FROM t WHERE c = 9 ORDER BY 2;").as_deref(),
        Some("SELECT a1, 'bx', '8', 1.5 FROM t WHERE c = 10 ORDER BY 2;")
    );
    compare("l", transcript_with_other_literals, |_, _| None);
}
