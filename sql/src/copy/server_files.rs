//! Files and programs of the server's machine, which COPY reads and writes by name. They are the users', not the
//! database's: `server` lends them, and nothing of them is recovered.
//!
//! Reading and writing may block for as long as whoever is at the other end likes; the session has it done beside itself
//! (`session::copy_file`).

use crate::error::SqlError;
use crate::sqlstate::SqlState;
use std::fmt::Debug;
use std::io::{self, Read, Write};

/// What opens files and starts programs.
pub trait ServerFiles: Debug + Send + Sync {
    /// Opens a file for reading; a path that is not absolute begins in the data directory.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::IsADirectory`] without a number of its own for a directory.
    fn open(&self, path: &str) -> io::Result<Box<dyn Read + Send>>;
    /// Opens a file for writing, emptied if it is there.
    ///
    /// # Errors
    /// The system's.
    fn create(&self, path: &str) -> io::Result<Box<dyn Write + Send>>;
    /// The names in a directory, in no order; not its own and its parent's.
    ///
    /// # Errors
    /// The system's.
    fn list(&self, path: &str) -> io::Result<Vec<String>>;
    /// What the system says of a file; the path as for `open`.
    ///
    /// # Errors
    /// The system's.
    fn facts(&self, path: &str) -> io::Result<FileFacts>;
    /// Runs a command by the shell; its output is read, or its input written.
    ///
    /// # Errors
    /// The system's.
    fn start(&self, command: &str, reads: bool) -> io::Result<Box<dyn Program>>;
}

/// What the system says of a file; times in seconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFacts {
    /// Bytes.
    pub size: i64,
    /// When it was read last.
    pub accessed: i64,
    /// When its bytes changed last.
    pub modified: i64,
    /// When what is said of it changed last.
    pub changed: i64,
    /// Whether it is a directory.
    pub directory: bool,
}

/// A program that has been started. One that is dropped has been told to end.
pub trait Program: Read + Write + Send {
    /// Closes its end of the pipe and waits until it has ended.
    ///
    /// # Errors
    /// The system's.
    fn finish(&mut self) -> io::Result<Ended>;
    /// What tells it to end, whoever holds it.
    fn stopper(&self) -> Box<dyn Fn() + Send>;
}

/// How a program has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

impl Ended {
    /// What went wrong, in PostgreSQL's words (`wait_result_to_str`); none if nothing did.
    #[must_use]
    pub fn complaint(self) -> Option<String> {
        match self {
            Ended::Exited(0) => None,
            Ended::Exited(126) => Some("command not executable".to_owned()),
            Ended::Exited(127) => Some("command not found".to_owned()),
            Ended::Exited(code) => Some(format!("child process exited with exit code {code}")),
            Ended::Killed(signal) => Some(format!(
                "child process was terminated by signal {signal}: {}",
                signal_name(signal)
            )),
        }
    }
}

/// What the C library calls a signal.
fn signal_name(signal: i32) -> &'static str {
    const NAMES: [&str; 15] = [
        "Hangup",
        "Interrupt",
        "Quit",
        "Illegal instruction",
        "Trace/breakpoint trap",
        "Aborted",
        "Bus error",
        "Floating point exception",
        "Killed",
        "User defined signal 1",
        "Segmentation fault",
        "User defined signal 2",
        "Broken pipe",
        "Alarm clock",
        "Terminated",
    ];
    let known = usize::try_from(signal - 1).ok().and_then(|at| NAMES.get(at));
    known.copied().unwrap_or("Unknown signal")
}

/// An error of the system: its words, and its SQLSTATE (`errcode_for_file_access`).
#[must_use]
pub fn failure(what: &str, error: &io::Error) -> SqlError {
    use io::ErrorKind;
    /// Linux's numbers of what has no kind of its own.
    const EIO: i32 = 5;
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    let state = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            SqlState::INSUFFICIENT_PRIVILEGE
        }
        ErrorKind::NotFound => SqlState::UNDEFINED_FILE,
        ErrorKind::AlreadyExists => SqlState::DUPLICATE_FILE,
        ErrorKind::NotADirectory | ErrorKind::IsADirectory | ErrorKind::DirectoryNotEmpty => {
            SqlState::WRONG_OBJECT_TYPE
        }
        ErrorKind::StorageFull => SqlState::DISK_FULL,
        _ => match error.raw_os_error() {
            Some(EIO) => SqlState::IO_ERROR,
            Some(ENFILE | EMFILE) => SqlState::INSUFFICIENT_RESOURCES,
            _ => SqlState::INTERNAL_ERROR,
        },
    };
    let words = error.to_string();
    let words = words.split(" (os error").next().unwrap_or_default();
    SqlError::new(state, format!("{what}: {words}"))
}
