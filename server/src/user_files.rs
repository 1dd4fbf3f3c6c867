//! Files and programs that COPY names: the users' own, read and written as the system's user that the server runs as.
//!
//! A program is run by the shell in the data directory, as PostgreSQL runs it; its other streams are the server's log and
//! nothing. One that is dropped is told to end, and waited for, so that none is left behind.

use crate::runtime;
use rustix::fd::OwnedFd;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use sql::copy::server_files::{Ended, FileFacts, Program, ServerFiles};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// Why a server that runs as root runs no program: whoever may have one run would be root.
pub const REFUSED: &str = "the server runs as root, and \"atoll.run_programs_as_root\" is off";

/// The files, by paths that begin in the data directory.
#[derive(Debug)]
pub struct UserFiles {
    data: PathBuf,
    programs: bool,
}

impl UserFiles {
    /// Of a server over the directory `data`; `programs`: it may run programs.
    #[must_use]
    pub fn new(data: &Path, programs: bool) -> UserFiles {
        UserFiles { data: data.to_owned(), programs }
    }
}

impl ServerFiles for UserFiles {
    fn open(&self, path: &str) -> io::Result<Box<dyn Read + Send>> {
        let file = File::open(self.data.join(path))?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Box::new(file))
    }

    fn create(&self, path: &str) -> io::Result<Box<dyn Write + Send>> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o644).open(path)?;
        Ok(Box::new(file))
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        let entries = std::fs::read_dir(self.data.join(path))?;
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
    }

    fn facts(&self, path: &str) -> io::Result<FileFacts> {
        let found = std::fs::metadata(self.data.join(path))?;
        Ok(FileFacts {
            size: found.size().cast_signed(),
            accessed: found.atime(),
            modified: found.mtime(),
            changed: found.ctime(),
            directory: found.is_dir(),
        })
    }

    fn start(&self, command: &str, reads: bool) -> io::Result<Box<dyn Program>> {
        if !self.programs {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, REFUSED));
        }
        // A program runs where the system puts it, and who waits for it drives no loop.
        runtime::give_way();
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).current_dir(&self.data);
        if reads {
            shell.stdin(Stdio::null()).stdout(Stdio::piped());
        } else {
            // What it prints is no answer to anybody.
            shell.stdin(Stdio::piped()).stdout(Stdio::null());
        }
        let child = shell.spawn()?;
        // It has not been waited for: the number is still its own.
        let pid = Pid::from_raw(child.id().cast_signed());
        let handle = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()).map(Arc::new);
        Ok(Box::new(Running { child, handle }))
    }
}

/// A program that has been started.
#[derive(Debug)]
struct Running {
    child: Child,
    handle: Option<Arc<OwnedFd>>,
}

impl Running {
    fn close(&mut self) {
        self.child.stdin = None;
        self.child.stdout = None;
    }
}

impl Read for Running {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.child.stdout.as_mut().map_or(Ok(0), |output| output.read(into))
    }
}

impl Write for Running {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.child.stdin.as_mut().ok_or_else(closed)?.write(data)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Program for Running {
    fn finish(&mut self) -> io::Result<Ended> {
        self.close();
        let status = self.child.wait()?;
        Ok(match (status.code(), status.signal()) {
            (Some(code), _) => Ended::Exited(code),
            (None, signal) => Ended::Killed(signal.unwrap_or_default()),
        })
    }

    fn stopper(&self) -> Box<dyn Fn() + Send> {
        let handle = self.handle.clone();
        Box::new(move || {
            if let Some(handle) = &handle {
                // It may have ended by itself.
                let _ = pidfd_send_signal(handle, Signal::TERM);
            }
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.close();
        // Neither can be helped, and one that has been waited for is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
