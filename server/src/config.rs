//! Configuration: where settings come from, and which of them the server itself needs.
//!
//! Sources, weakest first, as PostgreSQL's: the environment (`TZ` or `PGTZ`, `PGPORT`, `PGDATESTYLE`, and `ATOLL_NAME` for
//! the setting `name`), the file (`atoll.toml` in the data directory, or what `--config` names), what ALTER SYSTEM has
//! written (`postgresql.auto.conf` there), and flags (`-c name=value`, `--listen`). Names, units, ranges and defaults are
//! PostgreSQL's and are checked in [`sql::settings`]; the server reads its own from the result.
//!
//! In the file a setting is a key at the top; a custom one (`a.b`) may stand in a table. Lists are arrays or texts.

use crate::unix_socket::default_folders;
use sql::settings::auto_file;
use sql::settings::definition::number;
use sql::settings::value::Value;
use sql::settings::{ServerSettings, Source};
use sql::sqlstate::SqlState;
use sql::{SqlError, Without};
use std::path::{Path, PathBuf};

/// The file in the data directory.
pub const FILE: &str = "atoll.toml";
/// Who may connect, and how.
pub const HBA_FILE: &str = "pg_hba.conf";
/// Which roles the system's users may be.
pub const IDENT_FILE: &str = "pg_ident.conf";
/// What ALTER SYSTEM writes there.
pub const AUTO_FILE: &str = "postgresql.auto.conf";
/// What a new directory's file says.
pub const DEFAULT: &str = "\
# Settings, under PostgreSQL 15's names: name = value, texts in quotes.
# SHOW ALL lists them; changes take effect at a reload (SIGHUP) or, where SHOW says so, at a restart.
#
# listen_addresses = \"localhost\"
# port = 5432
# max_connections = 100
# shared_buffers = \"128MB\"
";

/// The setting that names the folders of the Unix sockets.
pub const SOCKET_FOLDERS: &str = "unix_socket_directories";

/// Variables of the environment that are not settings, beside which `ATOLL_NAME` is the setting `name`.
const NOT_SETTINGS: [&str; 5] = ["DATA", "CONFIG", "BIN", "USERNAME", "PASSWORD"];

/// Where settings are read from.
#[derive(Clone, Debug)]
pub struct Sources {
    /// The data directory.
    pub data: PathBuf,
    /// The file, if not the one in the data directory.
    pub file: Option<PathBuf>,
    /// Flags, in order.
    pub flags: Vec<(String, String)>,
    /// The environment's variables.
    pub environment: Vec<(String, String)>,
}

/// What was read.
#[derive(Clone, Debug)]
pub struct Config {
    /// All of it, for the engine.
    pub settings: ServerSettings,
    /// The folders of the Unix sockets. Where nobody has named any they are a convenience, and one that cannot be had is
    /// only warned of.
    pub socket_folders: Vec<PathBuf>,
}

fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::CONFIG_FILE_ERROR, message)
}

impl Sources {
    /// Reads them all.
    ///
    /// # Errors
    /// F0000 for a file that cannot be read or parsed; 22023 and 42704 for what it says.
    pub fn read(&self) -> Result<Config, SqlError> {
        let mut entries = Vec::new();
        let (mut given, mut known) = (Vec::new(), 0);
        // What has come since is from this source.
        let mut note = |entries: &[(String, String)], source: Source| {
            let new = &entries[known..];
            given.extend(new.iter().map(|(name, value)| (name.clone(), value.clone(), source)));
            known = entries.len();
        };
        self.read_environment(&mut entries);
        note(&entries, Source::Environment);
        let (path, required) = (self.main_file(), self.file.is_some());
        let main_file = path.clone();
        if let Some(text) = read(&path, required)? {
            let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
                invalid(format!("{}: {}", path.display(), error.message()))
            })?;
            flatten("", &table, &mut entries)
                .map_err(|error| invalid(format!("{}: {error}", path.display())))?;
        }
        let path = self.data.join(AUTO_FILE);
        if let Some(text) = read(&path, false)? {
            let written = auto_file::read(&text);
            entries
                .extend(written.map_err(|error| invalid(format!("{}: {error}", path.display())))?);
        }
        note(&entries, Source::Configuration);
        entries.extend(self.flags.iter().cloned());
        note(&entries, Source::CommandLine);
        let settings = ServerSettings::start(&given)?;
        let mut config = Config { settings, socket_folders: Vec::new() };
        config.state_places(&self.data, &main_file)?;
        if config.is_set(SOCKET_FOLDERS) {
            config.socket_folders =
                config.list(SOCKET_FOLDERS).into_iter().map(PathBuf::from).collect();
        } else {
            config.socket_folders = default_folders();
            config.settings.default_to(SOCKET_FOLDERS, &list_of(&config.socket_folders))?;
        }
        Ok(config)
    }

    /// The file of settings.
    #[must_use]
    pub fn main_file(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(|| self.data.join(FILE))
    }

    fn read_environment(&self, entries: &mut Vec<(String, String)>) {
        for (name, value) in &self.environment {
            let setting = match name.as_str() {
                "TZ" | "PGTZ" => "TimeZone".to_owned(),
                "PGPORT" => "port".to_owned(),
                "PGDATESTYLE" => "DateStyle".to_owned(),
                other => match other.strip_prefix("ATOLL_") {
                    Some(name) if !NOT_SETTINGS.contains(&name) => name.to_lowercase(),
                    _ => continue,
                },
            };
            if !value.is_empty() && number(&setting).is_some() {
                entries.push((setting, value.clone()));
            }
        }
    }
}

fn read(path: &Path, required: bool) -> Result<Option<String>, SqlError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => Ok(None),
        Err(error) => Err(invalid(format!("could not open file \"{}\": {error}", path.display()))),
    }
}

/// The settings of a file's text with their lines, from 1, in order.
///
/// # Errors
/// The line that is wrong, and what is wrong with it.
pub fn entries(text: &str) -> Result<Vec<(i32, String, String)>, (i32, String)> {
    let line_of = |at: usize| {
        let before = text.get(..at).unwrap_or(text);
        i32::try_from(before.matches('\n').count()).unwrap_or(i32::MAX).saturating_add(1)
    };
    let wrong = |error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        (line_of(at), error.message().to_owned())
    };
    let table: toml::Table = text.parse().map_err(wrong)?;
    let places = toml::de::DeTable::parse(text).map_err(wrong)?;
    let mut found = Vec::new();
    flatten("", &table, &mut found).map_err(|error| (1, error))?;
    let mut entries: Vec<(i32, String, String)> = found
        .into_iter()
        .map(|(name, value)| (line_of(place_of(places.get_ref(), &name)), name, value))
        .collect();
    entries.sort_by_key(|(line, ..)| *line);
    Ok(entries)
}

/// Where the key of a setting stands.
fn place_of(table: &toml::de::DeTable<'_>, name: &str) -> usize {
    for (key, value) in table {
        if key.get_ref().as_ref() == name {
            return key.span().start;
        }
        if let toml::de::DeValue::Table(inner) = value.get_ref()
            && let Some(rest) = name.strip_prefix(key.get_ref().as_ref())
            && let Some(rest) = rest.strip_prefix('.')
        {
            return place_of(inner, rest);
        }
    }
    0
}

fn flatten(
    prefix: &str,
    table: &toml::Table,
    entries: &mut Vec<(String, String)>,
) -> Result<(), String> {
    for (name, value) in table {
        let name = format!("{prefix}{name}");
        match value {
            toml::Value::Table(table) => flatten(&format!("{name}."), table, entries)?,
            toml::Value::Array(items) => {
                let items: Result<Vec<String>, String> =
                    items.iter().map(|item| scalar(&name, item)).collect();
                entries.push((name, items?.join(", ")));
            }
            other => {
                let text = scalar(&name, other)?;
                entries.push((name, text));
            }
        }
    }
    Ok(())
}

fn scalar(name: &str, value: &toml::Value) -> Result<String, String> {
    match value {
        toml::Value::String(text) => Ok(text.clone()),
        toml::Value::Integer(number) => Ok(number.to_string()),
        toml::Value::Float(number) => Ok(number.to_string()),
        toml::Value::Boolean(true) => Ok("on".to_owned()),
        toml::Value::Boolean(false) => Ok("off".to_owned()),
        other => Err(format!("setting \"{name}\" cannot be a {}", other.type_str())),
    }
}

impl Config {
    fn value(&self, name: &str) -> (&Value, Source) {
        let number = number(name).expect("the server asks for settings that there are");
        (self.settings.value(number), self.settings.source(number))
    }

    /// A number, in the setting's base unit.
    #[must_use]
    pub fn integer(&self, name: &str) -> i64 {
        match self.value(name).0 {
            Value::Integer(value) => *value,
            other => panic!("{name} is {other:?}, not an integer"),
        }
    }

    /// A switch.
    #[must_use]
    pub fn is_on(&self, name: &str) -> bool {
        matches!(self.value(name).0, Value::Bool(true))
    }

    /// A text.
    #[must_use]
    pub fn text(&self, name: &str) -> &str {
        match self.value(name).0 {
            Value::Text(text) => text,
            other => panic!("{name} is {other:?}, not a text"),
        }
    }

    /// Whether anybody has set it.
    #[must_use]
    pub fn is_set(&self, name: &str) -> bool {
        !matches!(self.value(name).1, Source::Default | Source::Override)
    }

    /// Says where the directory and the server's own files are. Files of access rules and user names may be others.
    fn state_places(&mut self, data: &Path, file: &Path) -> Result<(), SqlError> {
        let (hba, ident) = (data.join(HBA_FILE), data.join(IDENT_FILE));
        let places = [
            ("data_directory", data),
            ("config_file", file),
            ("hba_file", &hba),
            ("ident_file", &ident),
        ];
        for (name, path) in places {
            if !self.is_set(name) {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
                self.settings.state(name, &path.to_string_lossy())?;
            }
        }
        Ok(())
    }

    /// The words of a list.
    #[must_use]
    pub fn list(&self, name: &str) -> Vec<String> {
        words(self.text(name))
    }

    /// What the engine is to work without (`atoll.switched_off`).
    ///
    /// # Errors
    /// 22023: there is no such switch, or `atoll.unsafe_switches` is off. 0A000: it cannot be switched off.
    pub fn without(&self) -> Result<Without, SqlError> {
        let (mut without, name) = (Without::default(), "atoll.switched_off");
        for word in self.list(name) {
            if ALWAYS_ON.contains(&word.as_str()) {
                let what = format!("switching off \"{word}\" is");
                return Err(SqlError::unsupported(what));
            }
            if !without.leave_out(&word) {
                let message = format!("invalid value for parameter \"{name}\": \"{word}\"");
                let hint = format!("Available values: {}.", Without::NAMES.join(", "));
                return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).hint(hint));
            }
        }
        if without != Without::default() && !self.is_on("atoll.unsafe_switches") {
            let message = format!("\"{name}\" needs \"atoll.unsafe_switches\" to be on");
            let hint = "The database may be lost: only measurements use it.";
            return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).hint(hint));
        }
        Ok(without)
    }

    /// What the engine's layers are opened with.
    #[must_use]
    pub fn engine_options(&self) -> sql::EngineOptions {
        let mut options = sql::EngineOptions {
            settings: self.settings.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..sql::EngineOptions::default()
        };
        let kilobytes = |name| self.integer(name).unsigned_abs() << 10;
        options.txn.write_set_bytes_max =
            usize::try_from(kilobytes("atoll.max_write_set")).unwrap_or(usize::MAX);
        options.txn.checkpoint_timeout =
            sql::environment::Micros(self.integer("checkpoint_timeout").unsigned_abs() * 1_000_000);
        options.txn.partitions =
            usize::try_from(self.integer("atoll.partitions")).unwrap_or(usize::MAX);
        options.txn.timestamp_allocator =
            sql::TimestampAllocator::named(self.text("atoll.timestamp_allocator"))
                .unwrap_or_default();
        let storage = &mut options.txn.storage;
        // shared_buffers counts in units of 8 KiB, whatever the directory's page size.
        let pool_bytes = self.integer("shared_buffers").unsigned_abs() * 8192;
        storage.pool_frames =
            u32::try_from(pool_bytes / u64::from(storage.page_bytes)).unwrap_or(u32::MAX);
        storage.log_bytes_max = self.integer("max_wal_size").unsigned_abs() << 20;
        storage.log_insert = log_insert(self.text("atoll.log_insert"));
        // Older row versions: in memory (past a sixteenth of it they begin to spill), and in scratch files.
        let memory = kilobytes("atoll.version_memory");
        options.txn.version_bytes_hard = memory;
        options.txn.version_bytes_soft = memory / 16;
        options.txn.version_spill_bytes_max =
            self.integer("atoll.version_spill").unsigned_abs() << 20;
        options
    }
}

/// Components that no branch goes around: each is in the inner loops of all others.
const ALWAYS_ON: [&str; 4] = ["latches", "buffer_pool", "normalized_keys", "threads"];

/// The words of a list as PostgreSQL writes it: commas between them, but for those in quotes; quotes within are doubled.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut quoted) = (vec![String::new()], false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let word = words.last_mut().expect("there is always one");
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => word.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => words.push(String::new()),
            _ => word.push(letter),
        }
    }
    words.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// Folders as such a list.
fn list_of(folders: &[PathBuf]) -> String {
    let word = |folder: &PathBuf| {
        let text = folder.display().to_string();
        if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    };
    folders.iter().map(word).collect::<Vec<_>>().join(", ")
}

/// A log-insert algorithm by its name, one of those that the setting may have.
fn log_insert(name: &str) -> sql::environment::LogInsert {
    use sql::environment::LogInsert;
    match name {
        "mutex" => LogInsert::Mutex,
        "decoupled" => LogInsert::Decoupled,
        "consolidated" => LogInsert::Consolidated,
        _ => LogInsert::AtomicAdd,
    }
}

/// Where the access rules are.
pub(crate) fn hba_path(config: &Config, data: &Path) -> PathBuf {
    match config.is_set("hba_file") {
        true => config.text("hba_file").into(),
        false => data.join(HBA_FILE),
    }
}

/// Where the maps of system users are.
pub(crate) fn ident_path(config: &Config, data: &Path) -> PathBuf {
    match config.is_set("ident_file") {
        true => config.text("ident_file").into(),
        false => data.join(IDENT_FILE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_in_quotes_may_have_commas() {
        let folders = ["/tmp/a,b", "/tmp/c", "/tmp/\"d\""];
        assert_eq!(words("\"/tmp/a,b\",/tmp/c, \"/tmp/\"\"d\"\"\" ,, "), folders);
        assert_eq!(words(&list_of(&folders.map(PathBuf::from))), folders);
        assert!(words("").is_empty());
    }

    #[test]
    fn folders_of_sockets_that_nobody_named_are_a_default() {
        let place = tempfile::tempdir().unwrap();
        let mut sources = sources(place.path());
        let config = sources.read().unwrap();
        assert!(!config.is_set(SOCKET_FOLDERS));
        assert_eq!(config.socket_folders, default_folders());
        assert_eq!(config.text(SOCKET_FOLDERS), list_of(&default_folders()));
        sources.flags = vec![pair("Unix_Socket_Directories", "/x, \"/y,z\"")];
        let config = sources.read().unwrap();
        assert!(config.is_set(SOCKET_FOLDERS));
        assert_eq!(config.socket_folders, ["/x", "/y,z"].map(PathBuf::from));
    }

    fn sources(data: &Path) -> Sources {
        Sources { data: data.to_owned(), file: None, flags: vec![], environment: vec![] }
    }

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_stronger_source_wins() {
        let place = tempfile::tempdir().unwrap();
        let mut sources = sources(place.path());
        let none = sources.read().unwrap();
        assert_eq!(none.integer("port"), 5432);
        assert!(!none.is_set("port") && !none.is_set("TimeZone") && !none.is_set("hba_file"));
        let hba = place.path().join(HBA_FILE).to_string_lossy().into_owned();
        assert_eq!(none.value("hba_file"), (&Value::Text(hba.into()), Source::Override));

        sources.environment = vec![
            pair("ATOLL_WORK_MEM", "1MB"),
            pair("PGPORT", "1"),
            pair("TZ", "Europe/Berlin"),
            pair("ATOLL_DATA", "elsewhere"),
            pair("HOME", "/"),
        ];
        let config = sources.read().unwrap();
        assert_eq!((config.integer("work_mem"), config.integer("port")), (1024, 1));
        assert_eq!(config.text("TimeZone"), "Europe/Berlin");
        assert_eq!(config.value("TimeZone").1.word(), "environment variable");

        let file = "port = 2\nssl = false\nlisten_addresses = [\"a\", \"b\"]\n[atoll]\nlog_insert = \"mutex\"\n";
        std::fs::write(place.path().join(FILE), file).unwrap();
        let config = sources.read().unwrap();
        assert_eq!(config.integer("port"), 2);
        assert_eq!(config.value("port").1.word(), "configuration file");
        assert_eq!(config.list("listen_addresses"), ["a", "b"]);
        assert_eq!(config.text("atoll.log_insert"), "mutex");

        std::fs::write(place.path().join(AUTO_FILE), "# written\nport = '3'\n").unwrap();
        assert_eq!(sources.read().unwrap().integer("port"), 3);

        sources.flags = vec![pair("port", "4")];
        let config = sources.read().unwrap();
        assert_eq!(config.integer("port"), 4);
        assert_eq!(config.value("port").1.word(), "command line");
    }

    #[test]
    fn what_cannot_be_is_refused_by_name() {
        let place = tempfile::tempdir().unwrap();
        let mut sources = sources(place.path());
        for (file, message) in [
            ("port = \"many\"", "invalid value for parameter \"port\": \"many\""),
            ("prot = 1", "unrecognized configuration parameter \"prot\""),
            (
                "[atoll]\nmax_write_set = \"much\"",
                "invalid value for parameter \"atoll.max_write_set\": \"much\"",
            ),
            ("atoll.wrkers = 1", "invalid configuration parameter name \"atoll.wrkers\""),
        ] {
            std::fs::write(place.path().join(FILE), file).unwrap();
            assert_eq!(sources.read().unwrap_err().fields().message, message);
        }
        std::fs::write(place.path().join(FILE), "port = \n").unwrap();
        assert_eq!(sources.read().unwrap_err().state(), SqlState::CONFIG_FILE_ERROR);
        sources.file = Some(place.path().join("not-there"));
        assert_eq!(sources.read().unwrap_err().state(), SqlState::CONFIG_FILE_ERROR);
    }
}
