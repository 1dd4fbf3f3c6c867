//! An event as CSV (`write_csvlog`) and as JSON (`write_jsonlog`): PostgreSQL 15's columns and keys.

use super::line::{escaped, host, seconds, time};
use super::{Form, Record, Verbosity};
use std::fmt::Write;

/// What both show, in the order of CSV's columns, by JSON's keys; numbers are bare in JSON.
struct Column {
    key: &'static str,
    value: Option<String>,
    number: bool,
}

fn text(key: &'static str, value: Option<String>) -> Column {
    Column { key, value: value.filter(|value| !value.is_empty()), number: false }
}

fn number(key: &'static str, value: impl ToString) -> Column {
    Column { key, value: Some(value.to_string()), number: true }
}

fn columns(form: &Form, record: &Record<'_>) -> Vec<Column> {
    let (session, around) = (record.session, record.around);
    let fields = record.error.fields();
    let (address, port) = host(session);
    let own = |text: &str| session.is_client().then(|| text.to_owned());
    let more = |text: &Option<String>| text.clone().filter(|_| form.verbosity != Verbosity::Terse);
    let position = around.statement.and(fields.position).filter(|position| *position > 0);
    vec![
        text("timestamp", Some(time(record.time, &form.zone))),
        text("user", own(&session.user)),
        text("dbname", own(&session.database)),
        number("pid", session.pid),
        text("remote_host", Some(address)),
        Column { key: "remote_port", value: port.map(|port| port.to_string()), number: true },
        text("session_id", Some(session.id())),
        number("line_num", session.next_line()),
        text("ps", own(around.tag)),
        text("session_start", Some(seconds(session.start, &form.zone))),
        text("vxid", own(&format!("{}/0", session.pid))),
        number("txid", 0),
        text("error_severity", Some(fields.severity.word().to_owned())),
        text("state_code", Some(fields.state.code().to_owned())),
        text("message", Some(form.told(&fields.message))),
        text("detail", more(&fields.detail)),
        text("hint", more(&fields.hint)),
        text("internal_query", None),
        Column { key: "internal_position", value: None, number: true },
        text("context", more(&fields.context)),
        text("statement", around.statement.map(str::to_owned)),
        Column {
            key: "cursor_position",
            value: position.map(|position| position.to_string()),
            number: true,
        },
        text("location", None),
        text("application_name", Some(around.application.to_owned())),
        text("backend_type", Some(session.backend_type.to_owned())),
        Column { key: "leader_pid", value: None, number: true },
        number("query_id", around.number),
    ]
}

/// One record of CSV: texts in quotes, nothing for what there is not.
pub fn csv(form: &Form, record: &Record<'_>) -> String {
    /// Columns that are never in quotes: times, numbers, and what has no characters that need them.
    const BARE: [&str; 8] = [
        "timestamp",
        "session_id",
        "session_start",
        "vxid",
        "error_severity",
        "state_code",
        "internal_position",
        "leader_pid",
    ];
    let columns = columns(form, record);
    let mut out = String::new();
    let mut first = true;
    for at in 0..columns.len() {
        let column = &columns[at];
        // The port stands behind the host.
        if column.key == "remote_port" {
            continue;
        }
        if !first {
            out.push(',');
        }
        first = false;
        let Some(value) = &column.value else { continue };
        let joined;
        let value = match (column.key, &columns[at + 1..]) {
            ("remote_host", [Column { value: Some(port), .. }, ..]) => {
                joined = format!("{value}:{port}");
                &joined
            }
            _ => value,
        };
        if column.number || BARE.contains(&column.key) {
            out.push_str(value);
        } else {
            // Writing to a String cannot fail. Line ends stay as they are: quotes hold them together.
            let _ =
                write!(out, "\"{}\"", escaped(value).replace("\n\t", "\n").replace('"', "\"\""));
        }
    }
    out.push('\n');
    out
}

/// One object of JSON, a line: what there is.
pub fn json(form: &Form, record: &Record<'_>) -> String {
    let mut out = String::from("{");
    let known = columns(form, record).into_iter();
    let known = known.filter_map(|Column { key, value, number }| Some((key, value?, number)));
    for (at, (key, value, number)) in known.enumerate() {
        if at > 0 {
            out.push(',');
        }
        // Writing to a String cannot fail.
        let _ = write!(out, "\"{key}\":");
        match number {
            true => out.push_str(&value),
            false => quote(&value, &mut out),
        }
    }
    out.push_str("}\n");
    out
}

/// A text of JSON (`escape_json`).
fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            // Writing to a String cannot fail.
            c if c.is_control() => _ = write!(out, "\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}
