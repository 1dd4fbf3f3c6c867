//! The file that ALTER SYSTEM changes, in the data directory.

use crate::config::AUTO_FILE;
use crate::sync::locked;
use rustix::process::{Signal, getpid, kill_process};
use sql::SqlError;
use sql::settings::auto_file::AutoFile;
use sql::sqlstate::SqlState;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The file.
#[derive(Debug)]
pub struct SettingsFile {
    data: PathBuf,
    /// Held by whoever changes it.
    changing: Mutex<()>,
}

impl SettingsFile {
    /// Of a server over the directory `data`.
    #[must_use]
    pub fn new(data: &Path) -> SettingsFile {
        SettingsFile { data: data.to_owned(), changing: Mutex::default() }
    }

    /// Written beside it, and then given its name: whoever reads it finds all of the one or of the other.
    fn replace(&self, text: &str) -> io::Result<()> {
        let beside = self.data.join(format!("{AUTO_FILE}.tmp"));
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&beside, self.data.join(AUTO_FILE))?;
        File::open(&self.data)?.sync_all()
    }
}

fn failed(what: &str, error: &io::Error) -> SqlError {
    SqlError::new(SqlState::IO_ERROR, format!("could not {what} file \"{AUTO_FILE}\": {error}"))
}

impl AutoFile for SettingsFile {
    fn change(&self, edit: &dyn Fn(&str) -> Result<String, SqlError>) -> Result<(), SqlError> {
        let _one = locked(&self.changing);
        let text = match std::fs::read_to_string(self.data.join(AUTO_FILE)) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed("read", &error)),
        };
        self.replace(&edit(&text)?).map_err(|error| failed("write", &error))
    }

    fn reload(&self) -> bool {
        // As an operator does it: what a signal has the server do is in one place.
        kill_process(getpid(), Signal::HUP).is_ok()
    }
}
