//! `archive_command`: the operator's archive of log segments, by a shell command for each (PostgreSQL 15 manual, section
//! 26.3.1).
//!
//! `%p` is the segment's path under the data directory, where the command runs; `%f` its name; `%%` a percent sign. Exit
//! status 0 says that the segment is in the archive, anything else that it is to be tried again.

use crate::sync::locked;
use crate::user_files::REFUSED;
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use sql::environment::{Archive, Archived};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;

/// The archive.
#[derive(Debug)]
pub struct ArchiveCommand {
    data: PathBuf,
    programs: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    command: String,
    /// The command that is running.
    running: Option<OwnedFd>,
    stopped: bool,
}

impl ArchiveCommand {
    /// The archive of the directory `data`, by `command`; `programs`: the server may run programs.
    #[must_use]
    pub fn new(data: &Path, command: &str, programs: bool) -> ArchiveCommand {
        let state = State { command: command.to_owned(), ..State::default() };
        ArchiveCommand { data: data.to_owned(), programs, state: Mutex::new(state) }
    }

    /// Another command from now on.
    pub fn set_command(&self, command: &str) {
        locked(&self.state).command = command.to_owned();
    }

    /// Runs a command to its end; none if it could not be started, or must not any more.
    fn run(&self, command: &str) -> Option<ExitStatus> {
        let mut state = locked(&self.state);
        if state.stopped {
            return None;
        }
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).current_dir(&self.data).stdin(Stdio::null());
        let spawned = shell.spawn();
        let mut child = match spawned {
            Ok(child) => child,
            Err(error) => {
                tracing::warn!(%error, "could not start the archive command \"{command}\"");
                return None;
            }
        };
        // It has not been waited for: the number is still its own.
        let pid = Pid::from_raw(child.id().cast_signed());
        state.running = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        drop(state);
        let status = child.wait();
        locked(&self.state).running = None;
        status.ok()
    }
}

impl Archive for ArchiveCommand {
    fn archive(&self, path: &str, name: &str) -> Archived {
        let command = locked(&self.state).command.clone();
        if command.is_empty() {
            tracing::warn!("archive_mode enabled, yet archiving is not configured");
            return Archived::Unconfigured;
        }
        let command = filled_in(&command, path, name);
        if !self.programs {
            tracing::warn!("could not start the archive command \"{command}\": {REFUSED}");
            return Archived::Failed;
        }
        match self.run(&command) {
            Some(status) if status.success() => {
                tracing::debug!("archived write-ahead log file \"{name}\"");
                Archived::Done
            }
            status => {
                let how =
                    status.map_or("could not be run".to_owned(), |status| match status.code() {
                        Some(code) => format!("failed with exit code {code}"),
                        None => format!("was terminated by {status}"),
                    });
                tracing::warn!("archive command {how}: the failed archive command was: {command}");
                Archived::Failed
            }
        }
    }

    fn stop(&self) {
        let mut state = locked(&self.state);
        state.stopped = true;
        if let Some(running) = &state.running {
            // It may have ended by itself.
            let _ = pidfd_send_signal(running, Signal::TERM);
        }
    }
}

/// The command with its placeholders replaced.
pub(crate) fn filled_in(command: &str, path: &str, name: &str) -> String {
    let mut out = String::with_capacity(command.len() + path.len());
    let mut rest = command.chars();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let mut ahead = rest.clone();
        match ahead.next() {
            Some('p') => out.push_str(path),
            Some('f') => out.push_str(name),
            Some('%') => out.push('%'),
            _ => {
                out.push('%');
                continue;
            }
        }
        rest = ahead;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_replaced() {
        let filled = filled_in("cp %p /a/%f; date +%%s 5%x %", "log/01", "01");
        assert_eq!(filled, "cp log/01 /a/01; date +%s 5%x %");
    }

    #[test]
    fn a_command_says_by_its_status_whether_it_has_the_segment() {
        let place = std::env::temp_dir();
        let archive = ArchiveCommand::new(&place, "test %p = log/7 && test %f = 7", true);
        assert_eq!(archive.archive("log/7", "7"), Archived::Done);
        assert_eq!(archive.archive("log/8", "8"), Archived::Failed);
        archive.set_command("");
        assert_eq!(archive.archive("log/7", "7"), Archived::Unconfigured);
        archive.set_command("kill -9 $$");
        assert_eq!(archive.archive("log/7", "7"), Archived::Failed);
    }

    #[test]
    fn a_command_that_runs_is_ended_with_the_log() {
        let archive = ArchiveCommand::new(&std::env::temp_dir(), "exec sleep 600", true);
        std::thread::scope(|scope| {
            let running = scope.spawn(|| archive.archive("log/7", "7"));
            while locked(&archive.state).running.is_none() {
                std::thread::yield_now();
            }
            archive.stop();
            assert_eq!(running.join().unwrap(), Archived::Failed);
        });
        archive.set_command("true");
        assert_eq!(archive.archive("log/7", "7"), Archived::Failed, "there is no more");
    }
}
