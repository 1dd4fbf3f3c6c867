//! What a session has to say to the server's log: its settings of it, its statement, and of what class that is.

use super::Session;
use crate::error::Severity;
use crate::parse::Statement;
use crate::settings::session::Settings;
use crate::source::Source;
use crate::tuple::RowBuf;
use crate::types::{SqlType, text_of};

/// A level of the log. They have an order of their own, in which LOG stands above ERROR (`is_log_level_output`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogLevel(u8);

/// The words of `log_min_messages`, from the least.
const LEVELS: [&str; 12] = [
    "debug5", "debug4", "debug3", "debug2", "debug1", "info", "notice", "warning", "error", "log",
    "fatal", "panic",
];

impl LogLevel {
    /// By the word of a setting.
    #[must_use]
    pub fn named(word: &str) -> LogLevel {
        let word = if word == "debug" { "debug2" } else { word };
        let at = LEVELS.iter().position(|known| *known == word);
        LogLevel(at.unwrap_or(0) as u8)
    }
}

impl From<Severity> for LogLevel {
    fn from(severity: Severity) -> LogLevel {
        LogLevel::named(match severity {
            Severity::Debug => "debug1",
            Severity::Info => "info",
            Severity::Notice => "notice",
            Severity::Warning => "warning",
            Severity::Error => "error",
            Severity::Log => "log",
            Severity::Fatal => "fatal",
            Severity::Panic => "panic",
        })
    }
}

/// What a statement does, as far as `log_statement` asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StatementClass {
    /// It changes definitions.
    Defines,
    /// It changes rows.
    Modifies,
    /// Anything else.
    #[default]
    Other,
}

/// A session's settings of the log: plain numbers, which are asked for each statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogSettings {
    /// `log_min_messages`.
    pub least: LogLevel,
    /// `client_min_messages` lets LOG through.
    pub reaches_client: bool,
    /// `log_min_error_statement`.
    pub least_with_statement: LogLevel,
    /// `log_statement`: the classes up to this one; none is `none`.
    pub statements: Option<StatementClass>,
    /// `log_min_duration_statement`, in microseconds.
    pub longer_than: Option<i64>,
    /// `log_duration`.
    pub durations: bool,
    /// `log_min_duration_sample`, in microseconds.
    pub sampled_from: Option<i64>,
    /// `log_statement_sample_rate` and `log_transaction_sample_rate`.
    pub sample_rate: Rate,
    /// The same of whole transactions.
    pub transaction_rate: Rate,
    /// `log_parameter_max_length` and, where a statement fails, `log_parameter_max_length_on_error`: how many bytes of a
    /// parameter are logged; none: no parameters are.
    pub parameter_bytes: Option<usize>,
    /// The same where a statement fails.
    pub parameter_bytes_on_error: Option<usize>,
}

/// A fraction of all, between 0 and 1, in units that are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate(u32);

impl Rate {
    fn of(fraction: f64) -> Rate {
        Rate((fraction.clamp(0.0, 1.0) * f64::from(u32::MAX)) as u32)
    }

    /// Whether there is none of it.
    #[must_use]
    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether one that `chance` has drawn is among them.
    #[must_use]
    pub fn takes(self, chance: u32) -> bool {
        self.0 != 0 && chance <= self.0
    }
}

/// How long a parameter is shown: -1 is whole, 0 not at all.
fn parameter_bytes(setting: i64) -> Option<usize> {
    match setting {
        0 => None,
        -1 => Some(usize::MAX),
        bytes => usize::try_from(bytes).ok(),
    }
}

impl LogSettings {
    /// As a session's settings are now.
    pub(super) fn of(settings: &Settings) -> LogSettings {
        LogSettings {
            least: LogLevel::named(&settings.text("log_min_messages")),
            reaches_client: settings.plain().told <= 1,
            least_with_statement: LogLevel::named(&settings.text("log_min_error_statement")),
            statements: match &*settings.text("log_statement") {
                "ddl" => Some(StatementClass::Defines),
                "mod" => Some(StatementClass::Modifies),
                "all" => Some(StatementClass::Other),
                _ => None,
            },
            longer_than: Some(settings.integer("log_min_duration_statement"))
                .filter(|limit| *limit >= 0)
                .map(|limit| limit * 1000),
            durations: settings.bool("log_duration"),
            sampled_from: Some(settings.integer("log_min_duration_sample"))
                .filter(|limit| *limit >= 0)
                .map(|limit| limit * 1000),
            sample_rate: Rate::of(settings.real("log_statement_sample_rate")),
            transaction_rate: Rate::of(settings.real("log_transaction_sample_rate")),
            parameter_bytes: parameter_bytes(settings.integer("log_parameter_max_length")),
            parameter_bytes_on_error: parameter_bytes(
                settings.integer("log_parameter_max_length_on_error"),
            ),
        }
    }

    /// Whether a statement that goes well may be logged.
    #[must_use]
    pub fn tells_statements(&self) -> bool {
        self.measures() || self.statements.is_some()
    }

    /// Whether parameters are shown with anything that is logged.
    #[must_use]
    pub fn shows_parameters(&self) -> bool {
        self.parameter_bytes_on_error.is_some()
            || self.parameter_bytes.is_some() && self.tells_statements()
    }

    /// Whether nothing is logged of a message that goes well, and of one that fails no more than its error.
    #[must_use]
    pub fn tells_no_messages(&self) -> bool {
        !self.tells_statements() && self.parameter_bytes_on_error.is_none()
    }

    /// Whether anybody asks how long a statement takes.
    #[must_use]
    pub fn measures(&self) -> bool {
        self.durations
            || self.longer_than.is_some()
            || self.sampled_from.is_some()
            || !self.transaction_rate.is_none()
    }
}

impl Session {
    /// The settings of the log as they are now.
    #[must_use]
    pub fn log_settings(&self) -> &LogSettings {
        &self.log_settings
    }

    /// The text of the message at hand, or of the statement that an Execute at hand runs.
    #[must_use]
    pub fn statement_text(&self) -> String {
        match self.long_query.is_empty() {
            true => self.activity.query(),
            false => self.long_query.clone(),
        }
    }

    /// `application_name`.
    #[must_use]
    pub fn application_name(&self) -> std::sync::Arc<str> {
        self.settings.text("application_name")
    }

    /// The class of a Query's statements that have not run yet: the one that most is asked of.
    #[must_use]
    pub fn query_class(&self) -> Option<StatementClass> {
        self.script.iter().flatten().map(|source| self.class_of(source)).min()
    }

    /// The text of the prepared statement that a Query's EXECUTE runs, if it has one (`errdetail_execute`).
    #[must_use]
    pub fn executed_text(&self) -> Option<std::sync::Arc<str>> {
        self.script.iter().flatten().find_map(|source| match source.statement() {
            Some(Statement::Execute(execute)) => {
                let found = self.statements.get(&*execute.name)?;
                Some(std::sync::Arc::clone(&found.prepared.text))
            }
            _ => None,
        })
    }

    /// How long the message at hand has been worked on, in microseconds.
    #[must_use]
    pub fn statement_age(&self) -> i64 {
        self.engine.manager().environment().clock.wall() - self.block.statement_time
    }

    /// The class of a portal's statement, the name of the prepared statement that it is of, and its text; none without such
    /// a portal.
    #[must_use]
    pub fn portal_class(&self, portal: &str) -> Option<(StatementClass, std::sync::Arc<str>)> {
        let found = match portal {
            "" => self.unnamed_portal.as_ref(),
            name => self.portals.get(name),
        }?;
        Some((self.class_of(&found.prepared.parsed), std::sync::Arc::clone(&found.prepared.text)))
    }

    /// A portal's parameters as the log shows them, each up to so many bytes (`BuildParamLogString`); none where it has none.
    pub fn portal_parameters(&mut self, portal: &str, bytes: usize) -> Option<String> {
        let found = match portal {
            "" => self.unnamed_portal.as_ref(),
            name => self.portals.get(name),
        }?;
        let types = found.prepared.parameters.clone();
        let mut values = RowBuf::new();
        values.copy_from(&found.parameters);
        if types.is_empty() || values.iter().count() != types.len() {
            return None;
        }
        let shown = self.with_context(|context| {
            let mut text = String::new();
            for (at, (datum, ty)) in values.iter().zip(&types).enumerate() {
                let comma = if at == 0 { "" } else { ", " };
                text.push_str(&format!("{comma}${} = ", at + 1));
                if datum.is_null() {
                    text.push_str("NULL");
                    continue;
                }
                let value = text_of(context, SqlType::plain(ty.0), &datum)?;
                let cut = &value[..value.floor_char_boundary(bytes)];
                let dots = if cut.len() < value.len() { "..." } else { "" };
                text.push_str(&format!("'{}{dots}'", cut.replace('\'', "''")));
            }
            Ok(text)
        });
        // A value that has no text is not worth an error of the log's.
        shown.ok()
    }

    fn class_of(&self, source: &Source) -> StatementClass {
        source.statement().map_or(StatementClass::Other, |statement| self.class(statement))
    }

    /// `GetCommandLogLevel`, of what a PREPARE, an EXECUTE or an EXPLAIN ANALYZE stands around.
    fn class(&self, statement: &Statement) -> StatementClass {
        let mut inner = statement;
        loop {
            inner = match inner {
                Statement::Execute(execute) => {
                    let prepared = self.statements.get(&*execute.name);
                    match prepared.and_then(|found| found.prepared.parsed.statement()) {
                        Some(statement) => statement,
                        None => return StatementClass::Other,
                    }
                }
                Statement::Prepare(prepare) => &prepare.statement,
                Statement::Explain(explain)
                    if explain.options.iter().any(|one| &*one.name == "analyze") =>
                {
                    &explain.statement
                }
                _ => break,
            };
        }
        match inner {
            Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_)
            | Statement::Truncate(_) => StatementClass::Modifies,
            Statement::Copy(copy) if copy.from => StatementClass::Modifies,
            Statement::Query(_)
            | Statement::Explain(_)
            | Statement::Transaction(_)
            | Statement::Set(_)
            | Statement::Reset(_)
            | Statement::Show(_)
            | Statement::SetConstraints(_)
            | Statement::Deallocate(_)
            | Statement::Declare(_)
            | Statement::Fetch(_)
            | Statement::Close(_)
            | Statement::Copy(_)
            | Statement::Vacuum(_)
            | Statement::Reindex(_)
            | Statement::Cluster(_)
            | Statement::Analyze(_)
            | Statement::Checkpoint
            | Statement::Lock(_)
            | Statement::Discard(_)
            | Statement::Listen(_)
            | Statement::Unlisten(_)
            | Statement::Call(_)
            | Statement::Load(_)
            | Statement::Notify(..) => StatementClass::Other,
            _ => StatementClass::Defines,
        }
    }
}
