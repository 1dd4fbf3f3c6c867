//! The engine without a socket: sessions of `sql` in this process, each on its client's thread. A statement's answer
//! counts when a server could send it: when every commit that it tells of is durable.

use super::Connector;
use super::client::{Client, Failure};
use super::statement::{Parameters, Rows, Statement};
use sql::environment::{FileDevice, SystemClock, Threads, WaitCell, WaitEvent};
use sql::types::{CallContext, Datum, text_of};
use sql::{
    Bind, ColumnDescription, Connect, Engine, EngineOptions, Environment, Flow, Notice, Progress,
    RowSink, SchemeKind, Session, SessionWait, SqlError,
};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Poll, Wake, Waker};

/// Worker slots: as many as a large run has sessions, and the background threads.
const SLOTS: usize = 68;
/// The cache, in frames of 8 KiB: what the servers are given.
const POOL_FRAMES: u32 = 64 << 10;

/// An open engine.
pub struct Embedded {
    engine: Arc<Engine>,
    next: AtomicU32,
}

impl From<SqlError> for Failure {
    fn from(error: SqlError) -> Failure {
        Failure {
            sqlstate: error.state().code().to_owned(),
            message: error.fields().message.clone(),
        }
    }
}

impl Embedded {
    /// Opens a directory, and makes a database of it if it is empty: with `scheme`, or with the default one.
    ///
    /// # Errors
    /// The engine's.
    pub fn open(data: &Path, scheme: Option<SchemeKind>) -> Result<Embedded, Failure> {
        std::fs::create_dir_all(data)?;
        let is_empty = std::fs::read_dir(data)?.next().is_none();
        let device = FileDevice::open(data).map_err(SqlError::from)?;
        let env = Environment {
            device: Arc::new(device),
            clock: Arc::new(SystemClock::new()),
            scheduler: Arc::new(Threads::new(SLOTS)),
            seed: 1,
        };
        let mut options = EngineOptions::default();
        options.txn.storage.pool_frames = POOL_FRAMES;
        options.txn.storage.log_bytes_max = 16 << 30;
        if is_empty {
            options.concurrency_control = scheme.unwrap_or_default();
            Engine::create(&env, &options, "postgres", None)?;
        }
        Ok(Embedded { engine: Engine::open(env, options)?, next: AtomicU32::new(1) })
    }

    /// Writes a checkpoint and closes the directory. Every session has ended.
    ///
    /// # Errors
    /// The engine's.
    pub fn close(self) -> Result<(), Failure> {
        Ok(self.engine.close()?)
    }
}

impl Connector for Embedded {
    fn connect(&self) -> Result<Box<dyn Client + Send>, Failure> {
        let connect = Connect {
            database: "postgres".to_owned(),
            user: "postgres".to_owned(),
            ..Connect::default()
        };
        let pid = self.next.fetch_add(1, Ordering::Relaxed);
        let session = self.engine.connect(connect, Arc::new(SessionWait::new(pid)))?;
        let cell = Arc::new(WaitCell::new());
        let bell =
            Bell { env: self.engine.manager().environment().clone(), cell: Arc::clone(&cell) };
        Ok(Box::new(EmbeddedClient {
            engine: Arc::clone(&self.engine),
            session,
            prepared: HashSet::new(),
            cell,
            waker: Waker::from(Arc::new(bell)),
        }))
    }
}

/// Wakes who waits for an answer.
struct Bell {
    env: Environment,
    cell: Arc<WaitCell>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.env.wake(&self.cell);
    }
}

/// Takes rows as text.
struct Sink<'a>(&'a mut Rows);

impl RowSink for Sink<'_> {
    fn row(
        &mut self,
        context: &CallContext<'_>,
        columns: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow, SqlError> {
        self.0.begin_row(columns.len());
        for (column, datum) in columns.iter().zip(row) {
            match datum {
                Datum::Null => self.0.push(None),
                datum => self.0.push(Some(text_of(context, column.ty, datum)?.as_bytes())),
            }
        }
        Ok(Flow::Continue)
    }

    fn notice(&mut self, _: &Notice) {}
}

struct EmbeddedClient {
    engine: Arc<Engine>,
    session: Session,
    prepared: HashSet<&'static str>,
    cell: Arc<WaitCell>,
    waker: Waker,
}

impl EmbeddedClient {
    /// Runs the unnamed portal to its end, or to where it wants COPY's data.
    fn run_portal(&mut self, rows: &mut Rows) -> Result<Progress, SqlError> {
        loop {
            match self.session.run("", 0, &mut Sink(rows))? {
                Progress::Paused => {}
                Progress::Complete(tag) => {
                    rows.affected = tag.rows.unwrap_or(0);
                    return Ok(Progress::Complete(tag));
                }
                other => return Ok(other),
            }
        }
    }

    /// Waits until a server could send the answer.
    fn may_leave(&self) -> Result<(), Failure> {
        loop {
            match self.engine.poll_answer(self.session.answer_after(), &self.waker) {
                Poll::Ready(answer) => return Ok(answer?),
                Poll::Pending => {
                    let env = self.engine.manager().environment();
                    env.wait(WaitEvent::WalSync, &self.cell, None, None);
                }
            }
        }
    }

    fn prepared(
        &mut self,
        statement: &Statement,
        parameters: &Parameters,
        rows: &mut Rows,
    ) -> Result<(), SqlError> {
        if !self.prepared.contains(statement.name) {
            self.session.parse(statement.name, statement.text, &[])?;
            self.prepared.insert(statement.name);
        }
        self.session.bind(&Bind {
            portal: "",
            statement: statement.name,
            parameter_formats: &[],
            parameter_count: parameters.count(),
            parameters: parameters.bytes(),
            result_formats: &[],
        })?;
        self.run_portal(rows)?;
        Ok(())
    }

    fn simple(&mut self, text: &str, rows: &mut Rows) -> Result<(), SqlError> {
        self.session.simple_query(text)?;
        while self.session.simple_next()? {
            rows.clear();
            self.run_portal(rows)?;
        }
        Ok(())
    }

    fn copy(
        &mut self,
        text: &str,
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<(), SqlError> {
        self.session.simple_query(text)?;
        let mut portion = Vec::new();
        while self.session.simple_next()? {
            if !matches!(self.run_portal(&mut Rows::default())?, Progress::CopyIn(_)) {
                continue;
            }
            while next(&mut portion) {
                self.session.copy_in(&portion)?;
                portion.clear();
            }
            self.session.copy_in_done()?;
        }
        Ok(())
    }
}

impl Client for EmbeddedClient {
    fn run(
        &mut self,
        statement: &Statement,
        parameters: &Parameters,
        rows: &mut Rows,
    ) -> Result<(), Failure> {
        rows.clear();
        let done = self.prepared(statement, parameters, rows);
        // As a Sync does: it ends a transaction of one statement, whether that went well or not.
        let ended = self.session.sync();
        self.may_leave()?;
        Ok(done.and(ended)?)
    }

    fn execute(&mut self, text: &str, rows: &mut Rows) -> Result<(), Failure> {
        rows.clear();
        let done = self.simple(text, rows);
        self.may_leave()?;
        Ok(done?)
    }

    fn copy_in(
        &mut self,
        text: &str,
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<(), Failure> {
        let done = self.copy(text, next);
        self.may_leave()?;
        Ok(done?)
    }
}
