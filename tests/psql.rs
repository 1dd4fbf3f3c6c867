//! psql 15: its commands print against Atoll what they print against PostgreSQL.
//!
//! `psql/NAME.psql` is fed to psql on both servers, in a fresh database of the same name; the outputs must be equal, but for
//! sizes in unaligned output (`|8192 bytes|`), which are each server's own.

use std::process::{Command, Stdio};
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::difference;
use tests::oracle;
use tests::script::{files, name_of};

/// Sizes that fill a field of unaligned output, made equal.
fn without_sizes(text: &str) -> String {
    let is_size = |field: &str| {
        field.split_once(' ').is_some_and(|(number, unit)| {
            number.bytes().all(|byte| byte.is_ascii_digit())
                && ["bytes", "kB", "MB", "GB"].contains(&unit)
        })
    };
    let line = |line: &str| {
        let fields = line.split('|').map(|field| if is_size(field) { "SIZE" } else { field });
        fields.collect::<Vec<_>>().join("|") + "\n"
    };
    text.lines().map(line).collect()
}

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
    let printed = without_sizes(&in_utf8(&output.stdout));
    // One pipe would keep the order of both; apart, each is compared with its own.
    format!("{printed}--- stderr\n{}", in_utf8(&output.stderr))
}

/// Output with what is no UTF-8 as numbers: clients may speak another encoding.
fn in_utf8(output: &[u8]) -> String {
    let mut text = String::new();
    for chunk in output.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
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
