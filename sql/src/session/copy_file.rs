//! COPY from and to files of the server and programs: the same rows as through the client.
//!
//! What may block runs on a thread of its own, a portion at a time, and the session waits for it in the one way there is,
//! so that it gives its worker's loop away and can be cancelled. What is cancelled in the middle of a portion is left to
//! that thread, which ends with it.

use crate::catalog::object::well_known;
use crate::copy::server_files::{Ended, Program, ServerFiles, failure};
use crate::error::{Result, SqlError};
use crate::exec::sink::{ColumnDescription, Flow, RowSink};
use crate::message::{CommandTag, Progress};
use crate::parse::ast::{Copy, CopyTarget};
use crate::session::Session;
use crate::session::portal::Portal;
use crate::sqlstate::SqlState;
use crate::types::{CallContext, Datum, Oid};
use std::io::{self, Read, Write};
use std::sync::{Arc, mpsc};
use txn::{Environment, WaitCell, WaitEvent, Woken};

/// How much is read or written at a time.
const PORTION_BYTES: usize = 256 << 10;

/// PostgreSQL's predefined roles.
const WRITE_SERVER_FILES: Oid = Oid(4570);
const EXECUTE_SERVER_PROGRAM: Oid = Oid(4571);

/// What is read.
enum Input {
    File(Box<dyn Read + Send>),
    Program(Box<dyn Program>),
}

/// What is written.
enum Output {
    File(Box<dyn Write + Send>),
    Program(Box<dyn Program>),
}

/// Keeps what a COPY TO sends until there is a portion of it.
struct Kept<'s> {
    data: Vec<u8>,
    sink: &'s mut dyn RowSink,
}

impl RowSink for Kept<'_> {
    fn row(
        &mut self,
        _: &CallContext<'_>,
        _: &[ColumnDescription],
        _: &[Datum<'_>],
    ) -> Result<Flow> {
        Ok(Flow::Continue)
    }

    fn copy_data(&mut self, data: &[u8]) -> Flow {
        self.data.extend_from_slice(data);
        if self.data.len() < PORTION_BYTES { Flow::Continue } else { Flow::Pause }
    }

    fn notice(&mut self, notice: &crate::error::Notice) {
        self.sink.notice(notice);
    }
}

/// Wakes who waits on the cell when it goes.
struct Waker(Environment, Arc<WaitCell>);

impl Drop for Waker {
    fn drop(&mut self) {
        self.0.wake(&self.1);
    }
}

impl Session {
    /// Whoever names a file or a program must be allowed to.
    pub(super) fn may_copy(&self, copy: &Copy) -> Result<()> {
        let (role, refused) = match (&copy.target, copy.from) {
            (CopyTarget::Client, _) => return Ok(()),
            (CopyTarget::Program(_), _) => (
                EXECUTE_SERVER_PROGRAM,
                "pg_execute_server_program role to COPY to or from an external program",
            ),
            (CopyTarget::File(_), true) => {
                (well_known::READ_SERVER_FILES, "pg_read_server_files role to COPY from a file")
            }
            (CopyTarget::File(_), false) => {
                (WRITE_SERVER_FILES, "pg_write_server_files role to COPY to a file")
            }
        };
        let snapshot = self.catalog.last_snapshot();
        if snapshot.shared().has_privileges_of(self.identity.user, role) {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("must be superuser or have privileges of the {refused}"),
        )
        .hint(
            "Anyone can COPY to stdout or from stdin. psql's \\copy command also works for anyone.",
        ))
    }

    fn server_files(&self) -> Result<Arc<dyn ServerFiles>> {
        let files = self.engine.server_files();
        files.ok_or_else(|| SqlError::unsupported("COPY with files, without a server, is"))
    }

    /// Has something done on a thread of its own that may block, and waits for it. `stop` tells it to end if it is not
    /// waited for any more.
    fn beside<T: Send + 'static>(
        &self,
        stop: Option<&dyn Fn()>,
        body: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let environment = self.engine.manager().environment();
        let (sender, receiver) = mpsc::channel();
        let cell = Arc::new(WaitCell::new());
        let waker = Waker(environment.clone(), Arc::clone(&cell));
        let done = move || {
            let _waker = waker;
            // Gone before whoever waits is woken, even by a panic.
            let sender = sender;
            // Nobody listens to what has been cancelled.
            let _ = sender.send(body());
        };
        drop(environment.scheduler.spawn("copy file", Box::new(done)));
        let cancel = &self.wait.cancel;
        loop {
            match receiver.try_recv() {
                Ok(value) => return Ok(value),
                Err(mpsc::TryRecvError::Empty) => {}
                Err(mpsc::TryRecvError::Disconnected) => {
                    let message = "the thread of a COPY has ended";
                    return Err(SqlError::new(SqlState::INTERNAL_ERROR, message));
                }
            }
            let woken = environment.wait(WaitEvent::Background, &cell, None, Some(cancel));
            if woken == Woken::Cancelled {
                if let Some(stop) = stop {
                    stop();
                }
                return Err(SqlError::cancelled(cancel.requested().unwrap_or_default()));
            }
        }
    }

    /// Feeds the COPY FROM that has begun.
    pub(super) fn copy_from_file(&mut self, target: &CopyTarget) -> Result<CommandTag> {
        let fed = self.feed(target);
        if fed.is_err() {
            self.copying = None;
        }
        fed
    }

    fn feed(&mut self, target: &CopyTarget) -> Result<CommandTag> {
        let files = self.server_files()?;
        let (mut input, command) = match target {
            CopyTarget::Program(command) => {
                let program =
                    files.start(command, true).map_err(|error| not_run(command, &error))?;
                (Input::Program(program), Some(command))
            }
            CopyTarget::File(path) => {
                let name = Arc::clone(path);
                // A pipe opens when somebody opens its other end.
                let opened = self.beside(None, move || files.open(&name))?;
                (Input::File(opened.map_err(|error| not_opened(path, true, &error))?), None)
            }
            CopyTarget::Client => return Err(nothing_to_copy()),
        };
        let stopper = match &input {
            Input::File(_) => None,
            Input::Program(program) => Some(program.stopper()),
        };
        let stop = stopper.as_deref().map(|stop| stop as &dyn Fn());
        let mut portion = Vec::new();
        loop {
            let (back, read) = self.beside(stop, move || {
                let read = input.fill(&mut portion);
                (input, read.map(|()| portion))
            })?;
            input = back;
            portion = read.map_err(|error| failure("could not read from COPY file", &error))?;
            if portion.is_empty() || self.copy_portion(&portion)? {
                break;
            }
        }
        let complete = portion.is_empty();
        if let Input::Program(mut program) = input {
            let ended = self.beside(stop, move || program.finish())?;
            // Whose output was not wanted to its end may have missed a reader.
            judge(command, ended, !complete)?;
        }
        self.copy_end()
    }

    /// Runs the COPY TO of a portal to its end.
    pub(super) fn copy_to_file(
        &mut self,
        target: &CopyTarget,
        portal: &mut Portal,
        header: Vec<u8>,
        sink: &mut dyn RowSink,
    ) -> Result<CommandTag> {
        let files = self.server_files()?;
        let (mut output, command) = match target {
            CopyTarget::Program(command) => {
                let program = files.start(command, false);
                let program = program.map_err(|error| not_run(command, &error))?;
                (Output::Program(program), Some(command))
            }
            CopyTarget::File(path) => {
                if !path.starts_with('/') {
                    return Err(SqlError::new(
                        SqlState::INVALID_NAME,
                        "relative path not allowed for COPY to file",
                    ));
                }
                let name = Arc::clone(path);
                let opened = self.beside(None, move || files.create(&name))?;
                (Output::File(opened.map_err(|error| not_opened(path, false, &error))?), None)
            }
            CopyTarget::Client => return Err(nothing_to_copy()),
        };
        let stopper = match &output {
            Output::File(_) => None,
            Output::Program(program) => Some(program.stopper()),
        };
        let stop = stopper.as_deref().map(|stop| stop as &dyn Fn());
        let mut kept = Kept { data: header, sink };
        loop {
            let progress = self.run_portal(portal, "", 0, &mut kept)?;
            let data = std::mem::take(&mut kept.data);
            let (back, data, written) = self.beside(stop, move || {
                let written = output.write_all(&data);
                (output, data, written)
            })?;
            output = back;
            if let Err(error) = written {
                let what = match &mut output {
                    Output::File(_) => "could not write to COPY file",
                    Output::Program(program) => {
                        if error.kind() == io::ErrorKind::BrokenPipe {
                            judge(command, program.finish(), false)?;
                        }
                        "could not write to COPY program"
                    }
                };
                return Err(failure(what, &error));
            }
            kept.data = data;
            kept.data.clear();
            if let Progress::Complete(tag) = progress {
                if let Output::Program(mut program) = output {
                    let ended = self.beside(stop, move || program.finish())?;
                    judge(command, ended, false)?;
                }
                return Ok(tag);
            }
        }
    }
}

impl Input {
    /// Reads a portion; it is empty at the end.
    fn fill(&mut self, portion: &mut Vec<u8>) -> io::Result<()> {
        portion.resize(PORTION_BYTES, 0);
        let mut filled = 0;
        while filled < portion.len() {
            let place = &mut portion[filled..];
            let read = match self {
                Input::File(file) => file.read(place),
                Input::Program(program) => program.read(place),
            };
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        portion.truncate(filled);
        Ok(())
    }
}

impl Output {
    fn write_all(&mut self, data: &[u8]) -> io::Result<()> {
        match self {
            Output::File(file) => file.write_all(data),
            Output::Program(program) => program.write_all(data),
        }
    }
}

/// 38000 for a program that has not ended well. One that was left alone may have died of it.
fn judge(command: Option<&Arc<str>>, ended: io::Result<Ended>, left: bool) -> Result<()> {
    /// SIGPIPE, and how a shell tells of it.
    const BROKEN_PIPE: [Ended; 2] = [Ended::Killed(13), Ended::Exited(128 + 13)];
    let ended =
        ended.map_err(|error| failure("could not close pipe to external command", &error))?;
    if left && BROKEN_PIPE.contains(&ended) {
        return Ok(());
    }
    let Some(complaint) = ended.complaint() else { return Ok(()) };
    let command = command.map_or("", |command| command);
    Err(SqlError::new(
        SqlState::EXTERNAL_ROUTINE_EXCEPTION,
        format!("program \"{command}\" failed"),
    )
    .detail(complaint))
}

fn not_run(command: &str, error: &io::Error) -> SqlError {
    failure(&format!("could not execute command \"{command}\""), error)
}

fn not_opened(path: &str, reads: bool, error: &io::Error) -> SqlError {
    if reads && error.kind() == io::ErrorKind::IsADirectory {
        return SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{path}\" is a directory"));
    }
    let (what, direction, verb) =
        if reads { ("reading", "FROM", "read") } else { ("writing", "TO", "write") };
    let refused = failure(&format!("could not open file \"{path}\" for {what}"), error);
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => refused.hint(format!(
            "COPY {direction} instructs the PostgreSQL server process to {verb} a file. You may want a client-side facility such as psql's \\copy."
        )),
        _ => refused,
    }
}

fn nothing_to_copy() -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, "a COPY with the client names no file")
}
