//! What Atoll has not yet: PostgreSQL 15 accepts each statement of `unsupported.sql`, Atoll answers 0A000 and names what
//! is missing. The list is `docs/differences.md`'s; a statement that Atoll has learned must leave it.

use std::path::Path;
use tests::atoll::Atoll;
use tests::client::{Client, Report};
use tests::oracle;
use tests::script::statements;

/// How many statements at the head of the script make what the others speak of.
const FIRST: usize = 5;

#[test]
fn what_is_not_supported_says_so_and_nothing_else_is_listed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("unsupported.sql");
    let text = std::fs::read_to_string(&path).expect("the script is readable");
    let atoll = Atoll::start(&[]);
    let connect = |port| {
        Client::connect(port, "postgres", "postgres").run("CREATE DATABASE unsupported");
        Client::connect(port, "postgres", "unsupported")
    };
    let (mut wanted, mut actual) = (connect(oracle::shared()), connect(atoll.port()));
    let mut wrong = Vec::new();
    for (place, (statement, _)) in statements(&text).into_iter().enumerate() {
        let error = |client: &mut Client| -> Option<Report> {
            let mut replies = client.query_all(&statement);
            let error = replies.pop().and_then(|reply| reply.error);
            if client.status != b'I' {
                client.run("ROLLBACK");
            }
            error
        };
        if let Some(refused) = error(&mut wanted) {
            wrong.push(format!("{statement} PostgreSQL refuses it: {}", refused.field(b'M')));
        }
        match (error(&mut actual), place < FIRST) {
            (None, true) => {}
            (Some(refused), false) if refused.field(b'C') == "0A000" => {
                assert!(!refused.field(b'M').is_empty(), "{statement}: nothing is named");
            }
            (None, false) => wrong.push(format!("{statement} is supported: take it off the list")),
            (Some(refused), _) => wrong.push(format!(
                "{statement} answers {}: {}",
                refused.field(b'C'),
                refused.field(b'M')
            )),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
