//! Server-wide values of settings: what files, environment, flags and ALTER SYSTEM say, for sessions to start from.

use super::definition::{Context, Definition, definition, definitions, number};
use super::setter::UserSetting;
use super::value::{self, Value};
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::sync::LazyLock;

/// Where a value comes from, weakest first (PostgreSQL's `GucSource`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// Nobody said anything.
    Default,
    /// A variable of the environment.
    Environment,
    /// File, ALTER SYSTEM.
    Configuration,
    /// Flags.
    CommandLine,
    /// ALTER ROLE ALL.
    Global,
    /// ALTER DATABASE.
    Database,
    /// ALTER ROLE.
    User,
    /// ALTER ROLE IN DATABASE.
    DatabaseUser,
    /// The start-up packet.
    Client,
    /// The engine itself: `is_superuser`.
    Override,
    /// SET.
    Session,
}

impl Source {
    /// Its name in `pg_settings.source`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Source::Default => "default",
            Source::Environment => "environment variable",
            Source::Configuration => "configuration file",
            Source::CommandLine => "command line",
            Source::Global => "global",
            Source::Database => "database",
            Source::User => "user",
            Source::DatabaseUser => "database user",
            Source::Client => "client",
            Source::Override => "override",
            Source::Session => "session",
        }
    }
}

/// The server's values, by a setting's number in [`definitions`].
#[derive(Clone, Debug)]
pub struct ServerSettings {
    values: Vec<(Value, Source)>,
    /// Custom settings, `a.b`.
    custom: Vec<(String, String)>,
}

static BOOT: LazyLock<ServerSettings> = LazyLock::new(|| ServerSettings {
    values: definitions()
        .iter()
        .map(|definition| {
            let value = value::parse(definition, definition.boot)
                .expect("a setting's first value is one of its values");
            (value, Source::Default)
        })
        .collect(),
    custom: Vec::new(),
});

/// What an unknown name is answered with.
#[must_use]
pub fn unrecognized(name: &str) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_OBJECT,
        format!("unrecognized configuration parameter \"{name}\""),
    )
}

/// What the names of Atoll's own settings begin with. Nobody else's do.
const RESERVED: &str = "atoll";

/// Whether a name begins as only Atoll's own do.
fn is_reserved(name: &str) -> bool {
    name.split_once('.').is_some_and(|(prefix, _)| prefix.eq_ignore_ascii_case(RESERVED))
}

/// Whether a name may be that of a custom setting: two or more identifiers with dots between them.
#[must_use]
pub fn is_custom(name: &str) -> bool {
    let identifier = |part: &str| {
        part.chars().enumerate().all(|(at, c)| {
            c == '_' || c.is_alphabetic() || (at > 0 && (c.is_ascii_digit() || c == '$'))
        }) && !part.is_empty()
    };
    name.contains('.') && name.split('.').all(identifier) && !is_reserved(name)
}

impl Default for ServerSettings {
    fn default() -> Self {
        BOOT.clone()
    }
}

impl ServerSettings {
    /// The server's values at its start, of (name, value, source), the weakest source first.
    ///
    /// # Errors
    /// 22023, 42704: the server does not start with a setting it does not know.
    pub fn start(settings: &[(String, String, Source)]) -> Result<ServerSettings> {
        let mut server = ServerSettings::default();
        for (name, text, source) in settings {
            server.set(name, text, *source)?;
        }
        Ok(server)
    }

    /// States a fact about the server, whatever has been said.
    ///
    /// # Errors
    /// 22023, 42704.
    pub fn state(&mut self, name: &str, text: &str) -> Result<()> {
        self.set(name, text, Source::Override)
    }

    fn set(&mut self, name: &str, text: &str, source: Source) -> Result<()> {
        match number(name) {
            Some(at) => {
                let definition = &definitions()[at];
                // Who a session is follows from who logs in.
                if UserSetting::of(definition).is_some() {
                    return Err(SqlError::new(
                        SqlState::CANT_CHANGE_RUNTIME_PARAM,
                        format!("parameter \"{}\" cannot be changed", definition.name),
                    ));
                }
                let value = value::parse(definition, text)?;
                self.values[at] = (value, source);
            }
            None if is_custom(name) => {
                self.custom.retain(|entry| !entry.0.eq_ignore_ascii_case(name));
                self.custom.push((name.to_owned(), text.to_owned()));
            }
            None => {
                find(name)?;
            }
        }
        Ok(())
    }

    /// States a number that is a fact about the server, and no choice: whatever the setting's bounds are.
    ///
    /// # Errors
    /// 42704.
    pub fn state_number(&mut self, name: &str, value: i64) -> Result<()> {
        let at = number(name).ok_or_else(|| unrecognized(name))?;
        self.values[at] = (Value::Integer(value), Source::Default);
        Ok(())
    }

    /// Gives a setting that nobody has set another default: that of this machine.
    ///
    /// # Errors
    /// 22023, 42704.
    pub fn default_to(&mut self, name: &str, text: &str) -> Result<()> {
        let at = number(name).ok_or_else(|| unrecognized(name))?;
        if self.values[at].1 == Source::Default {
            self.values[at].0 = value::parse(&definitions()[at], text)?;
        }
        Ok(())
    }

    /// The values after a reload that has read `next`: settings that need a restart stay as they are.
    #[must_use]
    pub fn reloaded(&self, mut next: ServerSettings) -> ServerSettings {
        for (at, definition) in definitions().iter().enumerate() {
            if definition.context <= Context::Postmaster {
                next.values[at] = self.values[at].clone();
            }
        }
        next
    }

    /// A setting's value by its number.
    #[must_use]
    pub fn value(&self, number: usize) -> &Value {
        &self.values[number].0
    }

    /// A truth value by name; false for what is none.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        number(name).is_some_and(|at| self.values[at].0 == Value::Bool(true))
    }

    /// A number by name, in base units; 0 for what is none.
    #[must_use]
    pub fn number(&self, name: &str) -> i64 {
        match number(name).map(|at| &self.values[at].0) {
            Some(Value::Integer(value)) => *value,
            _ => 0,
        }
    }

    /// A real by name; 0 for what is none.
    #[must_use]
    pub fn real(&self, name: &str) -> f64 {
        match number(name).map(|at| &self.values[at].0) {
            Some(Value::Real(value)) => *value,
            Some(Value::Integer(value)) => *value as f64,
            _ => 0.0,
        }
    }

    /// Where that value comes from.
    #[must_use]
    pub fn source(&self, number: usize) -> Source {
        self.values[number].1
    }

    /// Custom settings.
    #[must_use]
    pub fn custom(&self) -> &[(String, String)] {
        &self.custom
    }

    /// A setting as SHOW prints it; none if there is no such setting.
    #[must_use]
    pub fn show(&self, name: &str) -> Option<String> {
        match number(name) {
            Some(at) => Some(value::show(&definitions()[at], &self.values[at].0)),
            None => self
                .custom
                .iter()
                .find(|entry| entry.0.eq_ignore_ascii_case(name))
                .map(|entry| entry.1.clone()),
        }
    }
}

/// A setting's definition, or the error that SET answers for a name that is none.
///
/// # Errors
/// 42704; 42602 for a name with dots that cannot be a custom setting's.
pub fn find(name: &str) -> Result<Option<&'static Definition>> {
    if let Some(definition) = definition(name) {
        return Ok(Some(definition));
    }
    if is_custom(name) {
        return Ok(None);
    }
    if name.contains('.') {
        let error = SqlError::new(
            SqlState::INVALID_NAME,
            format!("invalid configuration parameter name \"{name}\""),
        );
        return Err(if is_reserved(name) {
            error.detail(format!("\"{RESERVED}\" is a reserved prefix."))
        } else {
            error.detail(
                "Custom parameter names must be two or more simple identifiers separated by dots.",
            )
        });
    }
    Err(unrecognized(name))
}

#[cfg(test)]
mod tests {
    use super::{ServerSettings, Source, number};

    fn read(settings: &[(&str, &str)]) -> ServerSettings {
        let owned = settings
            .iter()
            .map(|&(name, text)| (name.to_owned(), text.to_owned(), Source::Configuration));
        ServerSettings::start(&owned.collect::<Vec<_>>()).expect("the settings are valid")
    }

    fn shown(settings: &ServerSettings, name: &str) -> (String, &'static str) {
        let at = number(name).expect("there is such a setting");
        (settings.show(name).expect("there is such a setting"), settings.source(at).word())
    }

    #[test]
    fn another_default_is_still_a_default() {
        let mut settings = read(&[("port", "1")]);
        settings.default_to("unix_socket_directories", "/here").unwrap();
        settings.default_to("port", "2").unwrap();
        let folders = shown(&settings, "unix_socket_directories");
        assert_eq!(folders, ("/here".to_owned(), Source::Default.word()));
        assert_eq!(shown(&settings, "port"), ("1".to_owned(), "configuration file"));
        assert!(settings.default_to("prot", "2").is_err());
    }

    #[test]
    fn a_reload_leaves_what_needs_a_restart() {
        let mut started = read(&[("port", "1"), ("work_mem", "1MB"), ("a.b", "old")]);
        started.default_to("unix_socket_directories", "/here").unwrap();
        let next = started.reloaded(read(&[("port", "2"), ("work_mem", "2MB"), ("a.b", "new")]));
        assert_eq!(shown(&next, "port").0, "1");
        assert_eq!(shown(&next, "work_mem").0, "2MB");
        assert_eq!(shown(&next, "unix_socket_directories"), ("/here".to_owned(), "default"));
        assert_eq!(next.show("a.b").as_deref(), Some("new"));
        assert_eq!(shown(&started.reloaded(read(&[])), "work_mem"), ("4MB".to_owned(), "default"));
    }
}
