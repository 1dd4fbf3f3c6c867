//! What real clients send: the statements of 40 clients, recorded on the wire, answer as PostgreSQL answers them.
//!
//! `clients/CLIENT.sql` holds each distinct statement once, below a line that names the protocol it came by and the call
//! that caused it. Each file runs in a fresh database of both servers that holds `clients/shop.schema`, statement by
//! statement: columns, rows (in any order), tags, errors and notices must be equal, but for numbers from 16384 on (OIDs) and
//! times of day, which are each server's own. OIDs within the statements stand for the table `shop.account`, parameters get
//! a value of their type, and COPY FROM STDIN gets no rows.
//!
//! What differs stands in `clients/differing.txt` with the reason, and the test fails where it differs no longer.
//! `UPDATE_GOLDEN=1` writes that list anew; reasons stay, and where there was none it is what Atoll answers.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tests::atoll::Atoll;
use tests::client::{Client, Column, Reply, Report};
use tests::oracle;
use tests::script::{files, name_of, write_reply};

/// A statement of a client.
struct Sent {
    extended: bool,
    text: String,
}

/// What a list entry speaks of: a client and which of its statements, counted from 1.
type Place = (String, usize);

/// The statements of a recording: one behind each line `-- simple: CALL` or `-- extended: CALL`.
fn recorded(text: &str) -> Vec<Sent> {
    let mut sent: Vec<Sent> = Vec::new();
    for line in text.lines() {
        if line.starts_with("-- simple: ") || line.starts_with("-- extended: ") {
            sent.push(Sent { extended: line.starts_with("-- e"), text: String::new() });
        } else if let Some(last) = sent.last_mut() {
            last.text += line;
            last.text.push('\n');
        }
    }
    for statement in &mut sent {
        statement.text.truncate(statement.text.trim_end().len());
    }
    sent
}

/// A server's side of the comparison.
struct Side {
    client: Client,
    port: u16,
    database: String,
    /// The OID of `shop.account`.
    account: String,
}

/// Statements that mean nothing outside a transaction block; they get one, which the next other statement ends.
const WITHIN_BLOCK: [&str; 11] = [
    "declare",
    "fetch",
    "move",
    "close",
    "lock",
    "savepoint",
    "release",
    "rollback to",
    "set transaction",
    "set local",
    "prepare transaction",
];

fn first_words(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("--"));
    let mut rest = lines.collect::<Vec<_>>().join(" ");
    while let Some(behind) = rest.trim_start().strip_prefix("/*") {
        rest = behind.split_once("*/").map_or(String::new(), |(_, rest)| rest.to_owned());
    }
    rest.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Side {
    fn open(port: u16, name: &str, schema: &str) -> Side {
        let database = format!("c_{name}");
        Client::connect(port, "postgres", "postgres").run(&format!("CREATE DATABASE {database}"));
        let mut client = connect(port, &database);
        for statement in schema.split_inclusive(";\n") {
            client.run(statement);
        }
        let account = client.run("SELECT 'shop.account'::regclass::oid").value().to_owned();
        Side { client, port, database, account }
    }

    /// The replies to a statement. A session that ends is opened anew.
    fn ask(&mut self, sent: &Sent) -> Vec<Reply> {
        let text = self.with_own_oids(&sent.text);
        let replies = if first_words(&text).contains("from stdin") {
            Ok(vec![self.client.copy_in(&text, b"")])
        } else if sent.extended {
            self.ask_extended(text.trim_end_matches(';')).map(|reply| vec![reply])
        } else {
            self.client.start(&text);
            self.client.replies()
        };
        replies.unwrap_or_else(|error| {
            self.client = connect(self.port, &self.database);
            let tag = Some(format!("the connection ended: {}", error.kind()));
            vec![Reply { tag, ..Reply::default() }]
        })
    }

    fn ask_extended(&mut self, text: &str) -> std::io::Result<Reply> {
        let mut parse = vec![0];
        parse.extend_from_slice(text.as_bytes());
        parse.extend_from_slice(&[0, 0, 0]);
        self.client.send(b'P', &parse)?;
        self.client.send(b'D', b"S\0")?;
        self.client.send(b'S', &[])?;
        let mut types = Vec::new();
        let mut refused = Reply::default();
        loop {
            let message = self.client.receive()?;
            match message.tag {
                b't' => {
                    let words = message.body[2..].chunks_exact(4);
                    types = words
                        .map(|word| u32::from_be_bytes(word.try_into().expect("four bytes")))
                        .collect();
                }
                b'E' => refused.error = Some(Report::parse(&message.body)),
                b'Z' => break,
                _ => {}
            }
        }
        if refused.error.is_some() {
            return Ok(refused);
        }
        let values: Vec<Option<String>> = types.iter().map(|oid| self.value_of(*oid)).collect();
        let values: Vec<Option<&str>> = values.iter().map(Option::as_deref).collect();
        let mut reply = self.client.query_extended(text, &values);
        for (place, oid) in types.iter().enumerate() {
            let name = format!("${}", place + 1);
            reply.columns.push(Column { name, type_oid: *oid, typmod: -1, format: 0 });
        }
        Ok(reply)
    }

    /// A value for a parameter of a type.
    fn value_of(&self, type_oid: u32) -> Option<String> {
        let text = match type_oid {
            16 => "t",
            20 | 21 | 23 | 700 | 701 | 1700 => "1",
            18 | 19 | 25 | 1042 | 1043 => "shop",
            26 | 2205 => &self.account,
            114 | 3802 => "{}",
            1082 | 1114 | 1184 => "2020-01-02",
            2950 => "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
            1005 | 1007 | 1016 => "{1}",
            1028 => return Some(format!("{{{}}}", self.account)),
            1002 | 1003 | 1009 | 1015 => "{shop,account}",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// A statement whose OIDs, five digits within quotes, are those of this server's `shop.account`.
    fn with_own_oids(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for (place, part) in text.split('\'').enumerate() {
            if place > 0 {
                out.push('\'');
            }
            let recorded = |number: u32| (26_000..34_000).contains(&number);
            let list = |part: &str| part.bytes().all(|byte| b"0123456789{},".contains(&byte));
            match place % 2 {
                1 if list(part) => out += &with_numbers(part, recorded, &self.account),
                _ => out += part,
            }
        }
        out
    }

    /// Ends or begins a block, as the statement that comes next needs it.
    fn prepare_for(&mut self, words: &str) {
        let within = WITHIN_BLOCK.iter().any(|first| words.starts_with(first));
        let ends =
            ["commit", "rollback", "end", "abort"].iter().any(|first| words.starts_with(first));
        if self.client.status == b'E' || (!within && !ends && self.client.status == b'T') {
            self.client.query("COMMIT");
        }
        if within && self.client.status == b'I' {
            self.client.run("BEGIN");
        }
    }
}

fn connect(port: u16, database: &str) -> Client {
    let mut client = Client::connect(port, "postgres", database);
    client.run("SET statement_timeout = '20s'");
    client
}

/// A text whose whole numbers that `chosen` wants are replaced.
fn with_numbers(text: &str, chosen: impl Fn(u32) -> bool, by: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let (number, behind) = rest.split_at(digits);
        let stands_alone = !out.ends_with(|last: char| last == '.' || last.is_alphabetic());
        match number.parse::<u32>() {
            Ok(value) if stands_alone && chosen(value) => out.push_str(by),
            _ => out.push_str(number),
        }
        rest = behind;
    }
    out
}

/// A text without times of day, versions of servers and the numbers of temporary schemas.
fn without_times(text: &str) -> String {
    const FORM: &[u8] = b"20NN-NN-NN_NN:NN:NN";
    let fits = |at: &[u8]| {
        at.len() >= FORM.len()
            && FORM.iter().zip(at).all(|(form, byte)| match form {
                b'N' => byte.is_ascii_digit(),
                b'_' => matches!(byte, b' ' | b'T'),
                _ => form == byte,
            })
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (shown, behind) = if rest.starts_with("PostgreSQL 15.") {
            ("VERSION", "")
        } else if fits(rest.as_bytes()) {
            let behind = rest[FORM.len()..]
                .trim_start_matches(|next: char| next.is_ascii_digit() || ".+".contains(next));
            ("TIME", behind)
        } else if let Some(behind) = rest.strip_prefix("pg_temp_") {
            ("pg_temp", behind.trim_start_matches(|next: char| next.is_ascii_digit()))
        } else {
            rest.split_at(first.len_utf8())
        };
        out += shown;
        rest = behind;
    }
    out
}

/// Replies without what is each server's own, as text.
fn shown(replies: &[Reply]) -> String {
    const FIRST_OWN: u32 = 16_384;
    let common =
        |text: &str| without_times(&with_numbers(text, |number| number >= FIRST_OWN, "OID"));
    let mut out = String::new();
    for reply in replies {
        let mut reply = reply.clone();
        for value in reply.rows.iter_mut().flatten().flatten() {
            *value = common(value);
        }
        for column in &mut reply.columns {
            column.type_oid = column.type_oid.min(FIRST_OWN);
        }
        let reports = reply.notices.iter_mut().chain(&mut reply.error);
        for (_, text) in
            reports.flat_map(|report| &mut report.0).filter(|(letter, _)| *letter != b'C')
        {
            *text = common(text);
        }
        reply.rows.sort();
        write_reply(&mut out, &reply);
    }
    out
}

/// Runs a client's statements on both servers. What differs, by its number: what Atoll answered, and the difference.
fn differing(
    name: &str,
    sent: &[Sent],
    schema: &str,
    atoll: u16,
) -> BTreeMap<usize, (Reply, String)> {
    let mut wanted = Side::open(oracle::shared(), name, schema);
    let mut actual = Side::open(atoll, name, schema);
    let mut found = BTreeMap::new();
    for (place, statement) in sent.iter().enumerate() {
        let words = first_words(&statement.text);
        actual.prepare_for(&words);
        wanted.prepare_for(&words);
        let answer = actual.ask(statement);
        let failed = answer.iter().rev().find(|reply| reply.error.is_some());
        // What Atoll has not done PostgreSQL shall not have done either when the next statement comes.
        let expected = if failed.is_some() && wanted.client.status == b'I' {
            wanted.client.run("BEGIN");
            let expected = wanted.ask(statement);
            wanted.client.query("ROLLBACK");
            if expected.iter().any(|reply| reply.sqlstate() == "25001") {
                wanted.ask(statement)
            } else {
                expected
            }
        } else {
            wanted.ask(statement)
        };
        if wanted.client.status != actual.client.status {
            wanted.client.query("ROLLBACK");
            actual.client.query("ROLLBACK");
        }
        let (expected, shown_answer) = (shown(&expected), shown(&answer));
        if expected != shown_answer {
            let reply = failed.or(answer.last()).cloned().unwrap_or_default();
            found.insert(place + 1, (reply, tests::golden::difference(&expected, &shown_answer)));
        }
    }
    for side in [wanted, actual] {
        let Side { client, port, database, .. } = side;
        drop(client);
        let mut admin = Client::connect(port, "postgres", "postgres");
        admin.run(&format!("DROP DATABASE {database} WITH (FORCE)"));
    }
    found
}

fn directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

/// How the reason of a statement begins on which PostgreSQL's own minor releases disagree: it may be answered alike or not.
const SOME_RELEASES: &str = "with some minor releases";

/// The list: `CLIENT NUMBER REASON` a line.
fn listed(text: &str) -> BTreeMap<Place, String> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    lines
        .map(|line| {
            let mut words = line.splitn(3, ' ');
            let mut next = || words.next().expect("a line is CLIENT NUMBER REASON");
            let (client, number, reason) = (next(), next(), next());
            let number = number.parse().expect("statements are counted");
            ((client.to_owned(), number), reason.to_owned())
        })
        .collect()
}

#[test]
fn statements_answer_as_postgresql_answers_them() {
    let read = |path: &Path| std::fs::read_to_string(path).expect("the data are readable");
    let list_path = directory().join("differing.txt");
    let list_text = read(&list_path);
    let mut list = listed(&list_text);
    let schema = read(&directory().join("shop.schema"));
    let only = std::env::var("ATOLL_CLIENT").ok();
    let atoll = Atoll::start(&[]);
    let (mut wrong, mut count) = (Vec::new(), 0);
    let mut new_list: String = list_text
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| format!("{line}\n"))
        .collect();
    for path in files("clients", "sql") {
        let name = name_of(&path);
        if only.as_deref().is_some_and(|only| only != name) {
            list.retain(|(client, _), _| client != name);
            continue;
        }
        let sent = recorded(&read(&path));
        count += sent.len();
        let mut found = differing(name, &sent, &schema, atoll.port());
        for (number, statement) in (1..).zip(&sent) {
            let entry = list.remove(&(name.to_owned(), number));
            match (found.remove(&number), entry) {
                (None, None) => {}
                (None, Some(reason)) if reason.starts_with(SOME_RELEASES) => {
                    writeln!(new_list, "{name} {number} {reason}").expect("a string grows");
                }
                (None, Some(_)) => wrong.push(format!(
                    "{name} {number} answers as PostgreSQL does: take it off the list\n{}",
                    statement.text
                )),
                (Some((reply, difference)), entry) => {
                    let reason = entry.clone().unwrap_or_else(|| match &reply.error {
                        Some(error) => format!("{}: {}", error.field(b'C'), error.field(b'M')),
                        None => "?".to_owned(),
                    });
                    writeln!(new_list, "{name} {number} {}", reason.replace('\n', " "))
                        .expect("a string grows");
                    if entry.is_none() {
                        wrong.push(format!("{name} {number}: {}\n{difference}", statement.text));
                    }
                }
            }
        }
    }
    wrong.extend(list.keys().map(|(name, number)| format!("{name} {number} is no statement")));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&list_path, new_list).expect("the list is writable");
    }
    assert!(wrong.is_empty(), "{} of {count} statements:\n{}", wrong.len(), wrong.join("\n"));
}
