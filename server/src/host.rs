//! The server's process as the engine's users ask for it: its log, its configuration files (`sql::host`).
//!
//! Files are read anew for each question, as PostgreSQL's views of them read theirs: they show what the next reload would
//! find, with what is wrong with it.

use crate::config::{AUTO_FILE, Sources, hba_path, ident_path};
use crate::hba::{Rules, UserMaps};
use crate::log;
use sql::host::{AccessRule, FileSetting, ServerHost, UserMapping};
use sql::settings::definition::Context;
use sql::settings::{auto_file, definition};
use sql::sqlstate::SqlState;
use sql::{ServerSettings, SqlError};
use std::path::PathBuf;

/// The process.
#[derive(Debug)]
pub struct Process {
    sources: Sources,
    /// The settings that it began with.
    began: ServerSettings,
}

impl Process {
    /// Of a server that has begun with `began`.
    #[must_use]
    pub fn new(sources: &Sources, began: &ServerSettings) -> Process {
        Process { sources: sources.clone(), began: began.clone() }
    }

    /// A path that the configuration names, as it would be after a reload, and whether TLS would be spoken.
    fn place(
        &self,
        of: impl Fn(&crate::config::Config, &std::path::Path) -> PathBuf,
    ) -> Result<(PathBuf, bool), SqlError> {
        let config = self.sources.read()?;
        Ok((of(&config, &self.sources.data), config.is_on("ssl")))
    }
}

fn unread(message: String) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_FILE, message)
}

impl ServerHost for Process {
    fn rotate_log(&self) -> bool {
        log::rotate()
    }

    fn log_file(&self, format: Option<&str>) -> Option<String> {
        log::file(format)
    }

    fn log(&self, event: &SqlError) {
        log::tell(event);
    }

    fn file_settings(&self) -> Vec<FileSetting> {
        let mut found = Vec::new();
        let main = self.sources.main_file();
        if let Ok(text) = std::fs::read_to_string(&main) {
            let file = main.to_string_lossy().into_owned();
            match crate::config::entries(&text) {
                Ok(entries) => found.extend(entries.into_iter().map(|(line, name, value)| {
                    let (name, value) = (Some(name), Some(value));
                    FileSetting { file: file.clone(), line, name, value, ..FileSetting::default() }
                })),
                Err((line, _)) => {
                    let error = Some("syntax error".to_owned());
                    found.push(FileSetting { file, line, error, ..FileSetting::default() });
                }
            }
        }
        let path = self.sources.data.join(AUTO_FILE);
        if let Ok(text) = std::fs::read_to_string(&path) {
            let file = path.to_string_lossy().into_owned();
            match auto_file::read_lines(&text) {
                Ok(entries) => found.extend(entries.into_iter().map(|(line, name, value)| {
                    let (name, value) = (Some(name), Some(value));
                    FileSetting { file: file.clone(), line, name, value, ..FileSetting::default() }
                })),
                Err(line) => {
                    let error = Some("syntax error".to_owned());
                    found.push(FileSetting { file, line, error, ..FileSetting::default() });
                }
            }
        }
        self.judge(&mut found);
        found
    }

    fn access_rules(&self) -> Result<Vec<AccessRule>, SqlError> {
        let (path, tls) = self.place(hba_path)?;
        Rules::shown(&path, tls).map_err(unread)
    }

    fn user_maps(&self) -> Result<Vec<UserMapping>, SqlError> {
        let (path, _) = self.place(ident_path)?;
        match path.exists() {
            true => UserMaps::shown(&path).map_err(unread),
            // A directory of an earlier version has none.
            false => Ok(Vec::new()),
        }
    }
}

impl Process {
    /// Says of each setting whether it counts: the last of a name does, if its value can be.
    fn judge(&self, found: &mut [FileSetting]) {
        for at in 0..found.len() {
            let (one, behind) = found[at..].split_first_mut().expect("there is one");
            let (Some(name), Some(value)) = (&one.name, &one.value) else { continue };
            let again = |later: &FileSetting| {
                later.name.as_ref().is_some_and(|later| later.eq_ignore_ascii_case(name))
            };
            if behind.iter().any(again) {
                continue;
            }
            one.error = self.refusal(name, value).map(str::to_owned);
            one.applied = one.error.is_none();
        }
    }

    /// Why a setting would not be taken.
    fn refusal(&self, name: &str, value: &str) -> Option<&'static str> {
        const REFUSED: &str = "setting could not be applied";
        let Some(number) = definition::number(name) else {
            let custom = name.contains('.') && !name.starts_with("atoll.");
            return (!custom).then_some("unrecognized configuration parameter");
        };
        let definition = &definition::definitions()[number];
        match sql::settings::value::parse(definition, value) {
            Err(_) => Some(REFUSED),
            Ok(value) => {
                let fixed = definition.context <= Context::Postmaster;
                (fixed && value != *self.began.value(number)).then_some(REFUSED)
            }
        }
    }
}
