//! psql 15: its commands print against Atoll what they print against PostgreSQL.
//!
//! `psql/NAME.psql` is fed to psql on both servers, in a fresh database of the same name; the outputs must be equal.

use std::process::{Command, Stdio};
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::difference;
use tests::oracle;
use tests::script::{files, name_of};

fn psql(port: u16, database: &str, script: &str) -> String {
    let mut admin = Client::connect(port, "postgres", "postgres");
    admin.run(&format!("CREATE DATABASE {database}"));
    let file = std::fs::File::open(script).expect("scripts are readable");
    let output = Command::new("psql")
        .args([
            "-X",
            "-a",
            "-h",
            "127.0.0.1",
            "-p",
            &port.to_string(),
            "-U",
            "postgres",
            "-d",
            database,
        ])
        .env("PAGER", "cat")
        .env("TZ", "UTC")
        .stdin(Stdio::from(file))
        .output()
        .expect("psql is installed");
    admin.run(&format!("DROP DATABASE {database} WITH (FORCE)"));
    // One pipe would keep the order of both; apart, each is compared with its own.
    format!(
        "{}--- stderr\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn commands_print_what_they_print_against_postgresql() {
    let atoll = Atoll::start(&[]);
    let mut failures = Vec::new();
    for path in files("psql", "psql") {
        let script = path.to_str().expect("a plain name");
        let database = format!("p_{}", name_of(&path));
        let wanted = psql(oracle::shared(), &database, script);
        let actual = psql(atoll.port(), &database, script);
        if actual != wanted {
            failures.push(format!("{}:\n{}", name_of(&path), difference(&wanted, &actual)));
        }
    }
    assert!(failures.is_empty(), "{} scripts differ:\n{}", failures.len(), failures.join("\n"));
}
