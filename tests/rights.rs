//! Who may do what: PostgreSQL 15 and Atoll are asked side by side, and must say the same.
//!
//! `rights/*.dialogue` are conversations of several sessions. A line `SESSION = parameter=value ...` connects with these
//! start-up parameters, `|` between them; a line `SESSION: statement` runs a statement, and begins with a blank where it
//! goes on. What is told, refused and answered is compared, with all notices.

use std::collections::HashMap;
use tests::atoll::Atoll;
use tests::client::{Client, Reply, Report};
use tests::golden::difference;
use tests::oracle;
use tests::script::{files, name_of};

fn told(reports: &[Report]) -> String {
    let line = |report: &Report| {
        ["S", "C", "M", "D", "H"].map(|field| report.field(field.as_bytes()[0])).join("|")
    };
    reports.iter().map(|report| line(report) + "\n").collect()
}

fn answered(reply: &Reply) -> String {
    let rows = reply.rows.iter().map(|row| {
        let fields: Vec<&str> =
            row.iter().map(|field| field.as_deref().unwrap_or("NULL")).collect();
        fields.join("|") + "\n"
    });
    let mut text = told(&reply.notices);
    text.extend(rows);
    text.push_str(&reply.tag.clone().map_or(String::new(), |tag| tag + "\n"));
    text + &told(reply.error.as_slice())
}

/// What a server says in a conversation, which stands before each answer.
fn conversation(port: u16, script: &str) -> String {
    let mut sessions: HashMap<String, Client> = HashMap::new();
    let mut said = String::new();
    for line in script.replace("\n ", " ").lines() {
        said += &format!("{line}\n");
        let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        if let Some(parameters) = rest.strip_prefix(" = ") {
            let parameters: Vec<(&str, &str)> =
                parameters.split('|').map(|one| one.split_once('=').expect("a=b")).collect();
            match Client::try_connect_with(port, &parameters) {
                Ok(client) => {
                    said += &told(&client.greeting);
                    sessions.insert(name.to_owned(), client);
                }
                Err(refused) => {
                    sessions.remove(name);
                    said += &format!("{refused}\n");
                }
            }
        } else if let Some(statement) = rest.strip_prefix(": ") {
            let client = sessions.get_mut(name).unwrap_or_else(|| panic!("{name} is connected"));
            for reply in client.query_all(statement) {
                said += &answered(&reply);
            }
        }
    }
    said
}

#[test]
fn conversations_go_as_they_do_with_postgresql() {
    let mut failures = Vec::new();
    for path in files("rights", "dialogue") {
        let script = std::fs::read_to_string(&path).expect("scripts are readable");
        // Roles and databases of one conversation are nobody else's.
        let atoll = Atoll::start(&[]);
        let ours = conversation(atoll.port(), &script);
        let theirs = conversation(oracle::shared(), &script);
        if theirs != ours {
            failures.push(format!("{}:\n{}", name_of(&path), difference(&theirs, &ours)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
