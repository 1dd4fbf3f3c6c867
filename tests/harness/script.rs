//! SQL scripts and their transcripts: what a server answered to each statement, every field a user can see.

use crate::chance::Chance;
use crate::client::{Client, Reply, Report};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Which protocol a script's statements are sent by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Query messages.
    Simple,
    /// Parse, Bind, Describe, Execute, Sync.
    Extended,
}

/// The files below `directory` (relative to this package) with the given ending, in order; of those only the ones whose name
/// contains what `ONLY` says, where it stands in the environment; and of these a [`sample`].
#[must_use]
pub fn files(directory: &str, ending: &str) -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let only = std::env::var("ONLY").ok();
    let entries = std::fs::read_dir(&directory)
        .unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a directory can be read").path())
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .filter(|path| only.as_ref().is_none_or(|only| name_of(path).contains(only)))
        .collect();
    files.sort();
    sample(&mut files);
    assert!(!files.is_empty(), "no *.{ending} in {}", directory.display());
    files
}

/// Of all of these about one in four, and one at least, where `ATOLL_SAMPLE` gives a seed.
pub fn sample<T>(all: &mut Vec<T>) {
    let Some(seed) = std::env::var("ATOLL_SAMPLE").ok().and_then(|seed| seed.parse().ok()) else {
        return;
    };
    let mut chance = Chance(seed);
    let (one, mut at) = (chance.below(all.len().max(1)), 0);
    all.retain(|_| {
        at += 1;
        chance.below(4) == 0 || at == one + 1
    });
}

/// A script's name: its file's, without the ending.
#[must_use]
pub fn name_of(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).expect("scripts have plain names")
}

/// The statements of a script: each ends with a semicolon at the end of a line, outside of dollar quotes. Lines that begin
/// with `--` between statements are comments. A statement that begins with `COPY ... FROM STDIN` is followed by its data up to `\.`.
#[must_use]
pub fn statements(text: &str) -> Vec<(String, Option<String>)> {
    let mut statements = Vec::new();
    let mut current = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if current.is_empty() && (line.trim().is_empty() || line.starts_with("--")) {
            continue;
        }
        if !current.is_empty() {
            current.push('\n');
        }
        current.push_str(line);
        if line.trim_end().ends_with(';') && !is_quoted(&current) {
            let copies = current.to_lowercase().contains("from stdin");
            let data = copies.then(|| {
                let data: Vec<&str> = lines.by_ref().take_while(|line| *line != "\\.").collect();
                data.iter().fold(String::new(), |all, line| all + line + "\n")
            });
            statements.push((std::mem::take(&mut current), data));
        }
    }
    assert!(current.is_empty(), "a script ends with a semicolon: {current}");
    statements
}

/// Whether a text ends within a dollar quote that begins in it, and not in a literal.
fn is_quoted(text: &str) -> bool {
    let mut rest = text;
    let mut quote: Option<&str> = None;
    while let Some(at) = rest.find(['$', '\'']) {
        let behind = &rest[at + 1..];
        if rest.as_bytes()[at] == b'\'' {
            let literal =
                if quote.is_none() { behind.find('\'').map(|end| end + 1) } else { Some(0) };
            let Some(end) = literal else { return false };
            rest = &behind[end..];
            continue;
        }
        let name = behind.find(|c: char| !(c.is_ascii_alphabetic() || c == '_')).unwrap_or(0);
        let is_tag = behind[name..].starts_with('$');
        let tag = if is_tag { &rest[at..at + name + 2] } else { "" };
        match quote {
            None if is_tag => quote = Some(tag),
            Some(open) if open == tag => quote = None,
            _ => {
                rest = behind;
                continue;
            }
        }
        rest = &rest[at + tag.len()..];
    }
    quote.is_some()
}

/// Runs a script and tells what was answered.
#[must_use]
pub fn transcript(client: &mut Client, text: &str, protocol: Protocol) -> String {
    let mut out = String::new();
    for (statement, data) in statements(text) {
        writeln!(out, "{statement}").expect("a string grows");
        for reply in answers(client, &statement, data.as_deref(), protocol) {
            write_reply(&mut out, &reply);
        }
        out.push('\n');
    }
    out
}

fn answers(
    client: &mut Client,
    statement: &str,
    data: Option<&str>,
    protocol: Protocol,
) -> Vec<Reply> {
    match (data, protocol) {
        (Some(data), _) => vec![client.copy_in(statement, data.as_bytes())],
        (None, Protocol::Simple) => client.query_all(statement),
        (None, Protocol::Extended) => {
            let single = statement.trim_end().trim_end_matches(';');
            vec![client.query_extended(single, &[])]
        }
    }
}

/// A statement with other literals: each whole number a bit larger, each word in quotes a bit longer; none where there is
/// nothing to change, or where the statement neither reads nor writes rows. What stands behind ORDER, LIMIT, OFFSET or
/// FETCH stays, so that the order of rows does.
#[must_use]
pub fn with_other_literals(statement: &str) -> Option<String> {
    const ROWS: [&str; 5] = ["select", "insert", "update", "delete", "with"];
    let first = statement.split_whitespace().next()?.to_lowercase();
    if !ROWS.contains(&first.as_str()) {
        return None;
    }
    let (mut out, mut rest) = (String::with_capacity(statement.len() + 16), statement);
    let word_byte = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
    while let Some(first) = rest.bytes().next() {
        let inside_word = out
            .bytes()
            .next_back()
            .is_some_and(|last| word_byte(last) || last == b'.' || last == b'$');
        let length = match first {
            b'\'' => 1 + rest[1..].find('\'').map_or(rest.len() - 1, |end| end + 1),
            b'"' => 1 + rest[1..].find('"').map_or(rest.len() - 1, |end| end + 1),
            b'-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            b'$' if rest.starts_with("$$") => {
                2 + rest[2..].find("$$").map_or(rest.len() - 2, |end| end + 2)
            }
            _ if word_byte(first) => rest.bytes().take_while(|byte| word_byte(*byte)).count(),
            _ => 1,
        };
        let (token, behind) = rest.split_at(length);
        let keyword = token.to_lowercase();
        if ["order", "limit", "offset", "fetch"].contains(&keyword.as_str()) {
            break;
        }
        let quoted = token.strip_prefix('\'').and_then(|token| token.strip_suffix('\''));
        let number = token.parse::<u32>().ok().filter(|number| *number < 1_000_000);
        match (number, quoted) {
            (Some(number), _) if !inside_word && !behind.starts_with('.') => {
                out.push_str(&(number + 1).to_string());
            }
            (_, Some(text)) if !inside_word && !text.is_empty() && !behind.starts_with('\'') => {
                match text.parse::<u32>() {
                    Ok(number) if number < 1_000_000 => out.push_str(&format!("'{}'", number + 1)),
                    _ if text.bytes().all(|byte| byte.is_ascii_alphabetic()) => {
                        out.push_str(&format!("'{text}x'"));
                    }
                    _ => out.push_str(token),
                }
            }
            _ => out.push_str(token),
        }
        rest = behind;
    }
    out.push_str(rest);
    (out != statement).then_some(out)
}

/// Runs a script in which each statement is followed by itself with other literals, and tells what was answered; rows in
/// order of their text, since other literals may leave the script's order undecided.
#[must_use]
pub fn transcript_with_other_literals(
    client: &mut Client,
    text: &str,
    protocol: Protocol,
) -> String {
    let mut out = String::new();
    for (statement, data) in statements(text) {
        let other = with_other_literals(&statement).filter(|_| data.is_none());
        for statement in [Some(statement), other].into_iter().flatten() {
            writeln!(out, "{statement}").expect("a string grows");
            for mut reply in answers(client, &statement, data.as_deref(), protocol) {
                reply.rows.sort();
                // Constants are not computed when a statement is planned, so that an error may come behind the columns.
                if reply.error.is_some() && reply.rows.is_empty() {
                    reply.columns.clear();
                }
                write_reply(&mut out, &reply);
            }
            out.push('\n');
        }
    }
    out
}

/// The first OID that no built-in object of PostgreSQL has; from here on Atoll numbers what extensions bring.
const FIRST_OTHER_OID: u32 = 14_000;

/// Writes a reply the way transcripts show it.
pub fn write_reply(out: &mut String, reply: &Reply) {
    for notice in &reply.notices {
        write_report(out, notice);
    }
    if !reply.columns.is_empty() {
        let columns: Vec<String> = reply
            .columns
            .iter()
            .map(|column| {
                // Types that a script or an extension makes have other numbers in each run.
                let ty = match column.type_oid {
                    FIRST_OTHER_OID.. => "own".to_owned(),
                    oid => oid.to_string(),
                };
                match column.typmod {
                    -1 => format!("{}:{ty}", column.name),
                    typmod => format!("{}:{ty}({typmod})", column.name),
                }
            })
            .collect();
        writeln!(out, "  {}", columns.join(" | ")).expect("a string grows");
    }
    for row in &reply.rows {
        let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("∅")).collect();
        writeln!(out, "  = {}", values.join(" | ")).expect("a string grows");
    }
    for line in String::from_utf8_lossy(&reply.copied).lines() {
        writeln!(out, "  > {line}").expect("a string grows");
    }
    if let Some(error) = &reply.error {
        write_report(out, error);
    }
    if let Some(tag) = &reply.tag {
        writeln!(out, "  {tag}").expect("a string grows");
    }
}

/// Fields that say where in the server's own source an error was raised, and the one that repeats the severity.
const OWN_FIELDS: &[u8] = b"FLRV";

/// Writes an error or a notice the way transcripts show it.
/// Writes an error or a notice the way transcripts show it.
pub fn write_report(out: &mut String, report: &Report) {
    write!(out, "  {} {}: {}", report.field(b'S'), report.field(b'C'), report.field(b'M'))
        .expect("a string grows");
    for (letter, text) in &report.0 {
        if !b"SCM".contains(letter) && !OWN_FIELDS.contains(letter) {
            write!(out, "\n    {}: {text}", char::from(*letter)).expect("a string grows");
        }
    }
    out.push('\n');
}
