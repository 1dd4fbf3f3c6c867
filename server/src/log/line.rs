//! An event as text: `log_line_prefix`, then what it says, a part a line (`send_message_to_server_log`,
//! `log_line_prefix` of `elog.c`).

use super::{Form, Record, Session, Verbosity};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use std::borrow::Cow;
use std::fmt::Write;

/// A text whose line ends begin no line of the log, and whose control characters do nothing to a terminal.
pub fn escaped(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c.is_control()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\n\t"),
            '\t' => out.push('\t'),
            // Writing to a String cannot fail.
            c if c.is_control() => _ = write!(out, "\\x{:02x}", u32::from(c)),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A time as `%m` and CSV show it.
pub fn time(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%.3f %Z").to_string()
}

/// A time as `%t` and `%s` show it.
pub fn seconds(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

/// Where a client is, as `%h` says it, and its port.
pub fn host(session: &Session) -> (String, Option<u16>) {
    match session.client {
        Some(client) => (client.ip().to_string(), Some(client.port())),
        None if session.is_client() => ("[local]".to_owned(), None),
        None => (String::new(), None),
    }
}

fn or_unknown(text: &str) -> &str {
    if text.is_empty() { "[unknown]" } else { text }
}

/// `log_line_prefix`.
fn prefix(form: &Form, record: &Record<'_>) -> String {
    let (mut out, mut rest) = (String::new(), form.prefix.chars().peekable());
    let (session, around) = (record.session, record.around);
    let of_client = |text: String| if session.is_client() { text } else { String::new() };
    let line = session.next_line();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let mut width = String::new();
        while let Some(digit) =
            rest.next_if(|c| c.is_ascii_digit() || width.is_empty() && *c == '-')
        {
            width.push(digit);
        }
        let Some(letter) = rest.next() else { break };
        let value = match letter {
            'a' => of_client(or_unknown(around.application).to_owned()),
            'b' => session.backend_type.to_owned(),
            'u' => of_client(or_unknown(&session.user).to_owned()),
            'd' => of_client(or_unknown(&session.database).to_owned()),
            'c' => session.id(),
            'p' => session.pid.to_string(),
            'l' => line.to_string(),
            'm' => time(record.time, &form.zone),
            't' => seconds(record.time, &form.zone),
            'n' => {
                let millis = record.time.as_millisecond();
                format!("{}.{:03}", millis.div_euclid(1000), millis.rem_euclid(1000))
            }
            's' => seconds(session.start, &form.zone),
            'i' => of_client(around.tag.to_owned()),
            'r' => match host(session) {
                (host, Some(port)) => format!("{host}({port})"),
                (host, None) => host,
            },
            'h' => host(session).0,
            'v' => of_client(format!("{}/0", session.pid)),
            'x' => "0".to_owned(),
            'Q' => around.number.to_string(),
            'e' => record.error.state().code().to_owned(),
            'P' => String::new(),
            'q' if session.is_client() => continue,
            'q' => break,
            '%' => "%".to_owned(),
            _ => continue,
        };
        let value = escaped(&value);
        let columns = width.trim_start_matches('-').parse::<usize>().unwrap_or(0).min(1000);
        // Writing to a String cannot fail.
        let _ = match width.starts_with('-') {
            true => write!(out, "{value:<columns$}"),
            false => write!(out, "{value:>columns$}"),
        };
    }
    out
}

/// All lines of an event.
pub fn encode(form: &Form, record: &Record<'_>) -> String {
    let fields = record.error.fields();
    let mut out = prefix(form, record);
    // Writing to a String cannot fail.
    let _ = write!(out, "{}:  ", fields.severity.word());
    if form.verbosity == Verbosity::Verbose {
        let _ = write!(out, "{}: ", fields.state.code());
    }
    out.push_str(&escaped(&form.told(&fields.message)));
    if let Some(position) = fields.position.filter(|position| *position > 0) {
        let _ = write!(out, " at character {position}");
    }
    out.push('\n');
    let mut part = |label: &str, text: Option<&str>| {
        if let Some(text) = text {
            let _ = writeln!(out, "{}{label}:  {}", prefix(form, record), escaped(text));
        }
    };
    if form.verbosity != Verbosity::Terse {
        part("DETAIL", fields.detail.as_deref());
        part("HINT", fields.hint.as_deref());
        part("CONTEXT", fields.context.as_deref());
    }
    part("STATEMENT", record.around.statement);
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Around, notice};
    use super::*;
    use sql::session::LogLevel;
    use sql::sqlstate::SqlState;
    use sql::{Severity, SqlError};

    fn form(prefix: &str) -> Form {
        Form {
            least: LogLevel::named("debug5"),
            prefix: prefix.to_owned(),
            kinds: Vec::new(),
            zone: TimeZone::UTC,
            verbosity: Verbosity::Default,
            mark: String::new(),
        }
    }

    fn shown(prefix: &str, session: &Session, event: &SqlError, around: Around<'_>) -> String {
        let time = Timestamp::from_microsecond(1_700_000_000_123_456).expect("it is one");
        encode(&form(prefix), &Record { time, error: event, session, around })
    }

    #[test]
    fn no_text_makes_a_line_of_its_own() {
        let user = "a\n2026-01-01 00:00:00.000 UTC [1] LOG:  forged\r\x1b[2J";
        let session = Session::of_client(7, (user, "d"), None);
        let error = SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{user}\" is not"));
        let around = Around { statement: Some("select 1\n, 2"), ..Around::default() };
        let text = shown("%m [%p] %u@%d ", &session, &error, around);
        for line in text.lines() {
            assert!(
                line.starts_with("2023-11-14 22:13:20.123 UTC [7] a") || line.starts_with('\t')
            );
            assert!(!line[1..].contains(|c: char| c.is_control() && c != '\t'), "{line:?}");
        }
        assert!(text.ends_with("STATEMENT:  select 1\n\t, 2\n"), "{text}");
    }

    #[test]
    fn a_prefix_is_filled_in() {
        let client = "10.0.0.9:5000".parse().ok();
        let session = Session::of_client(255, ("u", "d"), client);
        let around = Around { application: "psql", tag: "SELECT", ..Around::default() };
        let event = notice(Severity::Log, "m");
        let text =
            shown("%a|%u|%d|%r|%h|%p|%t|%n|%i|%e|%l|%6p|%-6p|%b|%%|%q.", &session, &event, around);
        assert_eq!(
            text,
            "psql|u|d|10.0.0.9(5000)|10.0.0.9|255|2023-11-14 22:13:20 UTC|1700000000.123|SELECT|00000|1|   255|255   |client backend|%|.LOG:  m\n"
        );
        let own = Session::of_server();
        let text = shown("%b %u,%d,%q%u ", &own, &event, Around::default());
        assert_eq!(text, "postmaster ,,LOG:  m\n");
    }
}
