//! Answers: every script in `sql/` answers as PostgreSQL 15 answered it, field by field, by both protocols.
//!
//! `sql/NAME.out` holds PostgreSQL's transcript. Each run asks PostgreSQL again (so that a wrong file is found), then
//! Atoll. `UPDATE_GOLDEN=1` writes the files anew, from PostgreSQL.

use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::assert_golden;
use tests::script::{Protocol, files, name_of, transcript};
use tests::{golden, oracle};

/// A database of its own for each script, so that scripts do not meet.
fn in_fresh_database(port: u16, name: &str, text: &str, protocol: Protocol) -> String {
    let mut admin = Client::connect(port, "postgres", "postgres");
    admin.run(&format!("CREATE DATABASE {name}"));
    let result = transcript(&mut Client::connect(port, "postgres", name), text, protocol);
    admin.run(&format!("DROP DATABASE {name} WITH (FORCE)"));
    result
}

#[test]
fn files_hold_what_postgresql_answers() {
    for path in files("sql", "sql") {
        let text = std::fs::read_to_string(&path).expect("scripts are readable");
        let name = format!("f_{}", name_of(&path));
        let answers = in_fresh_database(oracle::shared(), &name, &text, Protocol::Simple);
        assert_golden(&path.with_extension("out"), "PostgreSQL", &answers, true);
    }
}

#[test]
fn answers_are_postgresqls() {
    let atoll = Atoll::start(&[]);
    let mut failures = Vec::new();
    for path in files("sql", "sql") {
        let text = std::fs::read_to_string(&path).expect("scripts are readable");
        let name = name_of(&path);
        let ask = |port, protocol| in_fresh_database(port, &format!("s_{name}"), &text, protocol);
        for protocol in [Protocol::Simple, Protocol::Extended] {
            let (wanted, actual) = (ask(oracle::shared(), protocol), ask(atoll.port(), protocol));
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
