//! The server's log, as PostgreSQL writes its own (manual, section 20.8): what happens, at which level, for whom, by
//! which statement.
//!
//! An event is an [`SqlError`]: severity, SQLSTATE, message, DETAIL, HINT, CONTEXT. It goes to standard error or, with
//! `logging_collector`, into files that are rotated (`files`); as text behind `log_line_prefix` (`line`), as CSV or as
//! JSON (`structured`), in PostgreSQL's formats, so that what reads its logs reads these. What the rest of the server
//! tells by `tracing` comes here too (`events`).
//!
//! What clients send cannot make a line of its own: a line end within a text is followed by a tab, control characters are
//! escaped. Passwords are never written (`secret`). An event is one write, so that events do not mix.

mod events;
mod files;
mod line;
pub mod secret;
mod structured;

use crate::config::Config;
use files::{Files, Kind, Place};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use sql::session::LogLevel;
use sql::{Severity, SqlError};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The process has one log.
static LOG: OnceLock<Log> = OnceLock::new();

/// Whose events these are.
#[derive(Debug)]
pub struct Session {
    pid: u32,
    user: String,
    database: String,
    /// The client's address; none for one on a Unix socket, or for the server itself.
    client: Option<SocketAddr>,
    start: Timestamp,
    lines: AtomicU64,
    backend_type: &'static str,
}

impl Session {
    /// Of a client, as far as it is known.
    #[must_use]
    pub fn of_client(
        pid: u32,
        (user, database): (&str, &str),
        client: Option<SocketAddr>,
    ) -> Session {
        Session {
            pid,
            user: user.to_owned(),
            database: database.to_owned(),
            client,
            start: Timestamp::now(),
            lines: AtomicU64::new(0),
            backend_type: "client backend",
        }
    }

    /// The server's own.
    fn of_server() -> Session {
        Session {
            backend_type: "postmaster",
            ..Session::of_client(std::process::id(), ("", ""), None)
        }
    }

    fn is_client(&self) -> bool {
        self.backend_type == "client backend"
    }

    /// `%c`: when it began and its number, in hexadecimal.
    fn id(&self) -> String {
        format!("{:x}.{:x}", self.start.as_second(), self.pid)
    }

    /// The next line's number.
    fn next_line(&self) -> u64 {
        // Numbers of one session, told in its own order.
        self.lines.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// How long it has lasted.
    #[must_use]
    pub fn age(&self) -> std::time::Duration {
        std::time::Duration::try_from(self.start.until(Timestamp::now()).unwrap_or_default())
            .unwrap_or_default()
    }

    /// Who and where, as messages about the connection say it.
    #[must_use]
    pub fn parties(&self) -> (&str, &str, Option<SocketAddr>) {
        (&self.user, &self.database, self.client)
    }
}

/// What an event has beside itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around<'a> {
    /// Whose it is; none: the server's own.
    pub session: Option<&'a Session>,
    /// `application_name`.
    pub application: &'a str,
    /// What the session is at: a command's tag, or a phase of its start.
    pub tag: &'a str,
    /// The statement.
    pub statement: Option<&'a str>,
    /// The number of statements of its shape, if statements have numbers; 0 for none.
    pub number: i64,
    /// The session's `log_min_messages`, where it has one.
    pub least: Option<LogLevel>,
}

/// One event on its way out.
struct Record<'a> {
    time: Timestamp,
    error: &'a SqlError,
    session: &'a Session,
    around: Around<'a>,
}

/// What of an event is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verbosity {
    Terse,
    Default,
    Verbose,
}

/// How it is written, until the next reload.
#[derive(Debug)]
struct Form {
    least: LogLevel,
    prefix: String,
    kinds: Vec<Kind>,
    zone: TimeZone,
    verbosity: Verbosity,
    /// What stands before each message: while components may be switched off.
    mark: String,
}

#[derive(Debug)]
struct Log {
    form: RwLock<Arc<Form>>,
    files: Mutex<Option<Files>>,
    own: Session,
}

impl Form {
    fn of(config: &Config) -> Form {
        let kinds =
            config.list("log_destination").iter().filter_map(|word| Kind::named(word)).collect();
        Form {
            least: LogLevel::named(config.text("log_min_messages")),
            prefix: config.text("log_line_prefix").to_owned(),
            kinds,
            zone: TimeZone::get(config.text("log_timezone")).unwrap_or(TimeZone::UTC),
            verbosity: match config.text("log_error_verbosity") {
                "terse" => Verbosity::Terse,
                "verbose" => Verbosity::Verbose,
                _ => Verbosity::Default,
            },
            mark: match (config.is_on("atoll.unsafe_switches"), config.text("atoll.switched_off")) {
                (false, _) => String::new(),
                (true, "") => "[unsafe switches] ".to_owned(),
                (true, off) => format!("[unsafe switches, off: {off}] "),
            },
        }
    }

    /// A message as it is told.
    fn told(&self, message: &str) -> String {
        format!("{}{message}", self.mark)
    }

    fn encode(&self, kind: Kind, record: &Record<'_>) -> String {
        match kind {
            Kind::Text => line::encode(self, record),
            Kind::Csv => structured::csv(self, record),
            Kind::Json => structured::json(self, record),
        }
    }
}

impl Log {
    fn write(&self, record: &Record<'_>) {
        let form = Arc::clone(&self.form.read().unwrap_or_else(PoisonError::into_inner));
        if LogLevel::from(record.error.fields().severity)
            < record.around.least.unwrap_or(form.least)
        {
            return;
        }
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(files) = &mut *files else {
            // Without a collector there is one stream: JSON if that is all that is asked for, else text.
            let kind = if form.kinds == [Kind::Json] { Kind::Json } else { Kind::Text };
            let text = form.encode(kind, record);
            // There is nobody to be told that nobody can be told.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
            return;
        };
        for kind in &form.kinds {
            let text = form.encode(*kind, record);
            if files.write(*kind, &text, &record.time.to_zoned(form.zone.clone())).is_err() {
                let _ = std::io::stderr().lock().write_all(text.as_bytes());
            }
        }
    }
}

/// Begins to log. A process that has begun already (a test) goes on as it did.
pub fn begin(config: &Config) {
    let form = RwLock::new(Arc::new(Form::of(config)));
    let log = Log { form, files: Mutex::new(None), own: Session::of_server() };
    if LOG.set(log).is_ok() {
        // Another subscriber would be a test's own.
        let _ = tracing_subscriber::registry().with(events::Events).try_init();
    }
}

/// From now on into files, if the configuration says so.
///
/// # Errors
/// The directory or a file cannot be made.
pub fn collect(config: &Config, data: &Path) -> std::io::Result<()> {
    let Some(log) = LOG.get().filter(|_| config.is_on("logging_collector")) else { return Ok(()) };
    let place = Place::of(config, data);
    let hint =
        format!("Future log output will appear in directory \"{}\".", config.text("log_directory"));
    let zone = Form::of(config).zone;
    let files = Files::open(place, data, &Timestamp::now().to_zoned(zone))?;
    let message = "redirecting log output to logging collector process";
    tell(&notice(Severity::Log, message).hint(hint));
    *log.files.lock().unwrap_or_else(PoisonError::into_inner) = Some(files);
    Ok(())
}

/// The configuration has been read again.
pub fn reload(config: &Config, data: &Path) {
    let Some(log) = LOG.get() else { return };
    *log.form.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Form::of(config));
    if let Some(files) = &mut *log.files.lock().unwrap_or_else(PoisonError::into_inner) {
        files.set_place(Place::of(config, data));
    }
}

/// Begins new files, now; whether there are any.
pub fn rotate() -> bool {
    let Some(log) = LOG.get() else { return false };
    let zone = log.form.read().unwrap_or_else(PoisonError::into_inner).zone.clone();
    let mut files = log.files.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(files) = &mut *files else { return false };
    files.ask_rotation();
    // A file that cannot be made is tried again with the next event.
    let _ = files.rotate_if_due(&Timestamp::now().to_zoned(zone));
    true
}

/// The file that the log goes to in a format, or in the first that it has (`current_logfiles`).
pub fn file(format: Option<&str>) -> Option<String> {
    let log = LOG.get()?;
    let files = log.files.lock().unwrap_or_else(PoisonError::into_inner);
    files.as_ref()?.current(format)
}

/// An event without more to it than a message.
#[must_use]
pub fn notice(severity: Severity, message: impl Into<String>) -> SqlError {
    SqlError::notice(message).severity(severity)
}

/// Writes an event of the server itself.
pub fn tell(event: &SqlError) {
    write(event, Around::default());
}

/// Writes an event, if its level is one that is logged.
pub fn write(event: &SqlError, around: Around<'_>) {
    let Some(log) = LOG.get() else { return };
    let cleaned;
    let statement = match around.statement {
        Some(statement) => {
            cleaned = secret::without(statement);
            Some(&*cleaned.text)
        }
        None => {
            cleaned = secret::Cleaned::default();
            None
        }
    };
    let hidden;
    let event = match cleaned.secrets.is_empty() {
        true => event,
        false => {
            hidden = cleaned.hide_in(event);
            &hidden
        }
    };
    let session = around.session.unwrap_or(&log.own);
    let around = Around { statement, ..around };
    log.write(&Record { time: Timestamp::now(), error: event, session, around });
}

/// Whether events of the server itself at this level are written.
fn takes(level: LogLevel) -> bool {
    LOG.get()
        .is_some_and(|log| level >= log.form.read().unwrap_or_else(PoisonError::into_inner).least)
}
