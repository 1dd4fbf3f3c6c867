//! Files and programs of the server's machine, which COPY reads and writes by name. They are the users', not the
//! database's: `server` lends them, and nothing of them is recovered.
//!
//! Reading and writing may block for as long as whoever is at the other end likes; the session has it done beside itself
//! (`session::copy_file`).

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
    /// Runs a command by the shell; its output is read, or its input written.
    ///
    /// # Errors
    /// The system's.
    fn start(&self, command: &str, reads: bool) -> io::Result<Box<dyn Program>>;
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
