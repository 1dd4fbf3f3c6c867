//! What a dialogue tells the log: errors and warnings with their statement, statements by `log_statement`, how long they
//! took by `log_duration` and `log_min_duration_statement`, and that it began and ended (`exec_simple_query` and its
//! kin in `postgres.c`).

use crate::backend::Backend;
use crate::dialogue::Dialogue;
use crate::log::secret::without as without_secrets;
use crate::log::{self, Around};
use sql::session::{AUTO_EXPLAIN_ROUTINE, LogLevel, StatementClass};
use sql::{Severity, SqlError, TransactionStatus};
use std::sync::Arc;

/// What is to be logged when what is under way has ended.
#[derive(Debug, Default)]
pub struct Logged {
    /// Its text has been logged.
    said: bool,
    /// The text of the prepared statement that an EXECUTE runs.
    prepared: Option<Arc<str>>,
    /// What the portal with the empty name is of.
    bound: String,
    /// The parameters of the portal at hand, as they are logged.
    parameters: Option<String>,
    /// The same for an error, with what they are of.
    context: Option<String>,
    /// The transaction is among those of which all statements are logged.
    sampled: bool,
}

impl Logged {
    /// A Bind has made a portal of a prepared statement.
    pub fn note_bound(&mut self, portal: &str, statement: &str) {
        if portal.is_empty() && (self.bound != statement) {
            self.bound.clear();
            self.bound.push_str(statement);
        }
    }
}

/// A number that nobody foresees: which statements are in a sample.
fn chance() -> u32 {
    let mut bytes = [0; 4];
    crate::process::random(&mut bytes);
    u32::from_le_bytes(bytes)
}

/// A statement's name as the log has it.
pub fn statement_name(name: &str) -> &str {
    if name.is_empty() { "<unnamed>" } else { name }
}

/// The tag of a statement that may not even be one: its first word, or two where one says little.
fn tag(statement: &str) -> String {
    let mut words =
        statement.split(|c: char| !c.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default().to_ascii_uppercase();
    match (&*first, words.next()) {
        ("CREATE" | "ALTER" | "DROP" | "REFRESH" | "LOCK", Some(second)) => {
            format!("{first} {}", second.to_ascii_uppercase())
        }
        _ => first,
    }
}

impl<B: Backend> Dialogue<B> {
    /// Logs an event with the statement that it belongs to, if the session's settings ask for it.
    pub(crate) fn log(&self, event: &SqlError) {
        // A plan stands behind its statement's text.
        let with_statement = event.fields().routine != Some(AUTO_EXPLAIN_ROUTINE);
        self.log_with(event, with_statement);
    }

    fn log_with(&self, event: &SqlError, with_statement: bool) {
        let settings = self.backend.log_settings();
        let level = LogLevel::from(event.fields().severity);
        if level < settings.least {
            return;
        }
        let running = !self.is_idle();
        let text = if running { self.backend.statement_text() } else { String::new() };
        let tag = if running { tag(&text) } else { "idle".to_owned() };
        let statement = with_statement && running && level >= settings.least_with_statement;
        log::write(
            event,
            Around {
                session: Some(&self.log),
                application: &self.backend.application_name(),
                tag: &tag,
                statement: Some(&*text).filter(|text| statement && !text.is_empty()),
                number: if running { self.backend.statement_number() } else { 0 },
                least: Some(settings.least),
            },
        );
    }

    /// An event that says its statement itself; for the client, too, where `client_min_messages` lets LOG through.
    fn log_statement(&mut self, message: &str) {
        let clean = |text: &str| without_secrets(text).text.into_owned();
        let prepared = self.logged.prepared.as_deref();
        let prepared = prepared.map(|text| format!("prepare: {}", clean(text)));
        let parameters = self.logged.parameters.as_deref();
        let detail = prepared.or(parameters.map(|text| format!("parameters: {text}")));
        let event = log::notice(Severity::Log, clean(message)).maybe_detail(detail);
        self.log_with(&event, false);
        if self.backend.log_settings().reaches_client {
            self.report(&event);
        }
    }

    /// Something begins that may be logged.
    pub(crate) fn begin_logged(&mut self) {
        self.logged.said = false;
        self.logged.prepared = None;
        self.logged.parameters = None;
        self.logged.context = None;
        let rate = self.backend.log_settings().transaction_rate;
        if rate.is_none() {
            self.logged.sampled = false;
        } else if self.backend.status() == TransactionStatus::Idle {
            self.logged.sampled = rate.takes(chance());
        }
    }

    /// A portal is worked on: its parameters are shown with what is logged of that.
    #[inline]
    pub(crate) fn note_parameters(&mut self, portal: &str) {
        if self.backend.log_settings().shows_parameters() {
            self.keep_parameters(portal);
        }
    }

    fn keep_parameters(&mut self, portal: &str) {
        let settings = self.backend.log_settings();
        let on_error = settings.parameter_bytes_on_error;
        if let Some(bytes) = settings.parameter_bytes
            && settings.tells_statements()
        {
            self.logged.parameters = self.backend.portal_parameters(portal, bytes);
        }
        if let Some(bytes) = on_error {
            let shown = self.backend.portal_parameters(portal, bytes);
            self.logged.context = shown.map(|shown| match portal {
                "" => format!("unnamed portal with parameters: {shown}"),
                name => format!("portal \"{name}\" with parameters: {shown}"),
            });
        }
    }

    /// An error of a portal, with its parameters where they are asked for (`ParamsErrorCallback`).
    pub(crate) fn with_parameters(&self, error: SqlError) -> SqlError {
        match (&self.logged.context, &error.fields().context) {
            (None, _) => error,
            (Some(own), None) => error.context(own.clone()),
            (Some(own), Some(before)) => {
                let both = format!("{before}\n{own}");
                error.context(both)
            }
        }
    }

    /// `log_statement` of a Query.
    pub(crate) fn log_query(&mut self, text: &str) {
        let settings = self.backend.log_settings();
        let asked = settings.statements;
        if asked.is_none() && !settings.measures() {
            return;
        }
        self.logged.prepared = self.backend.executed_text();
        let Some(asked) = asked else { return };
        // Everything is logged, a text without a statement too.
        let all = asked == StatementClass::Other;
        if all || self.backend.query_class().is_some_and(|class| class <= asked) {
            self.log_statement(&format!("statement: {text}"));
            self.logged.said = true;
        }
    }

    /// `log_statement` of an Execute.
    pub(crate) fn log_execute(&mut self, portal: &str) {
        let Some(asked) = self.backend.log_settings().statements else { return };
        if self.backend.portal_class(portal).is_some_and(|(class, _)| class <= asked) {
            let words = self.portal_words("execute", portal);
            self.log_statement(&words);
            self.logged.said = true;
        }
    }

    /// What is done to a portal, with its statement.
    pub(crate) fn portal_words(&self, what: &str, portal: &str) -> String {
        let text = self.backend.portal_class(portal).map(|(_, text)| text);
        let name = if portal.is_empty() { &*self.logged.bound } else { "" };
        let slash = if portal.is_empty() { "" } else { "/" };
        let text = text.as_deref().unwrap_or_default();
        format!("{what} {}{slash}{portal}: {text}", statement_name(name))
    }

    /// Something has ended well: how long it took, and with `words` what it was where that has not been said
    /// (`check_log_duration`).
    pub(crate) fn end_logged(&mut self, words: impl FnOnce(&Dialogue<B>) -> String) {
        let settings = self.backend.log_settings();
        if !settings.measures() && !self.logged.sampled {
            return;
        }
        let took = self.backend.statement_age();
        let in_sample = || {
            settings.sampled_from.is_some_and(|limit| took >= limit)
                && settings.sample_rate.takes(chance())
        };
        let long = settings.longer_than.is_some_and(|limit| took >= limit)
            || self.logged.sampled
            || in_sample();
        if !long && !settings.durations {
            return;
        }
        let took = format!("duration: {}.{:03} ms", took / 1000, took % 1000);
        if long && !self.logged.said {
            let words = words(self);
            self.log_statement(&format!("{took}  {words}"));
        } else {
            self.logged.prepared = None;
            self.logged.parameters = None;
            self.log_statement(&took);
        }
    }

    /// `log_disconnections`: a session has ended.
    pub(crate) fn log_disconnection(&self) {
        let (user, database, client) = self.log.parties();
        let age = self.log.age();
        let (seconds, millis) = (age.as_secs(), age.subsec_millis());
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let from = match client {
            Some(client) => format!("{} port={}", client.ip(), client.port()),
            None => "[local]".to_owned(),
        };
        let message = format!(
            "disconnection: session time: {hours}:{minutes:02}:{seconds:02}.{millis:03} user={user} database={database} host={from}"
        );
        let application = self.backend.application_name();
        let event = log::notice(Severity::Log, message);
        let around = Around {
            session: Some(&self.log),
            application: &application,
            tag: "idle",
            ..Around::default()
        };
        log::write(&event, around);
    }
}
