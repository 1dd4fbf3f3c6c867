//! Errors and notices as a user sees them: PostgreSQL's fields, PostgreSQL's words.
//!
//! The SQLSTATE of every error of the engine below is chosen here, once, by a match without a wildcard.

use crate::sqlstate::SqlState;

/// The result of everything in this crate that a user's statement can make fail.
pub type Result<T> = std::result::Result<T, SqlError>;

/// How bad it is, in PostgreSQL's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The statement ends.
    Error,
    /// The session ends.
    Fatal,
    /// The server ends.
    Panic,
    /// WARNING.
    Warning,
    /// NOTICE.
    Notice,
    /// INFO.
    Info,
    /// LOG.
    Log,
    /// DEBUG.
    Debug,
}

impl Severity {
    /// The word on the wire.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Severity::Error => "ERROR",
            Severity::Fatal => "FATAL",
            Severity::Panic => "PANIC",
            Severity::Warning => "WARNING",
            Severity::Notice => "NOTICE",
            Severity::Info => "INFO",
            Severity::Log => "LOG",
            Severity::Debug => "DEBUG",
        }
    }
}

/// A notice has the fields of an error.
pub type Notice = SqlError;

/// An error or notice with the fields of the protocol's ErrorResponse (manual, section 55.8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlError(Box<Fields>);

/// The fields of an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    /// S and V.
    pub severity: Severity,
    /// C.
    pub state: SqlState,
    /// M.
    pub message: String,
    /// D.
    pub detail: Option<String>,
    /// H.
    pub hint: Option<String>,
    /// P: characters, from 1, in the query text.
    pub position: Option<u32>,
    /// p and q: characters, from 1, in the text of a statement that a routine runs, and that text.
    pub internal: Option<(u32, String)>,
    /// W.
    pub context: Option<String>,
    /// s.
    pub schema: Option<String>,
    /// t.
    pub table: Option<String>,
    /// c.
    pub column: Option<String>,
    /// d.
    pub data_type: Option<String>,
    /// n.
    pub constraint: Option<String>,
    /// R: where PostgreSQL finds the error, where its SQLSTATE and message do not tell.
    pub routine: Option<&'static str>,
    /// PostgreSQL has what was asked for, Atoll does not yet.
    missing: bool,
    /// Its CONTEXT says all that is around it.
    placed: bool,
    /// As what the end of its transaction is counted.
    abort: txn::Abort,
}

impl SqlError {
    /// An ERROR.
    #[must_use]
    pub fn new(state: SqlState, message: impl Into<String>) -> SqlError {
        SqlError(Box::new(Fields {
            severity: Severity::Error,
            state,
            message: message.into(),
            detail: None,
            hint: None,
            position: None,
            internal: None,
            context: None,
            schema: None,
            table: None,
            column: None,
            data_type: None,
            constraint: None,
            routine: None,
            missing: false,
            placed: false,
            abort: txn::Abort::default(),
        }))
    }

    /// 0A000: PostgreSQL has it, Atoll does not yet. `what` names it: "partitioned tables are not supported".
    #[must_use]
    pub fn unsupported(what: impl std::fmt::Display) -> SqlError {
        let message = format!("{what} not supported by Atoll yet");
        let mut error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
        error.0.missing = true;
        error
    }

    /// Whether it is one of [`SqlError::unsupported`], and no refusal of PostgreSQL's own.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.0.missing
    }

    /// As what the end of a transaction is counted that this error ends.
    #[must_use]
    pub fn abort(&self) -> txn::Abort {
        self.0.abort
    }

    /// A NOTICE.
    #[must_use]
    pub fn notice(message: impl Into<String>) -> Notice {
        SqlError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Notice)
    }

    /// A WARNING.
    #[must_use]
    pub fn warning(state: SqlState, message: impl Into<String>) -> Notice {
        SqlError::new(state, message).severity(Severity::Warning)
    }

    /// The same with another severity.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> SqlError {
        self.0.severity = severity;
        self
    }

    /// With a DETAIL.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> SqlError {
        self.0.detail = Some(detail.into());
        self
    }

    /// With a DETAIL where there is one.
    #[must_use]
    pub fn maybe_detail(mut self, detail: Option<String>) -> SqlError {
        self.0.detail = detail;
        self
    }

    /// With a HINT.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> SqlError {
        self.0.hint = Some(hint.into());
        self
    }

    /// At a place in the query text: characters, from 1. A place already known stays.
    #[must_use]
    pub fn at(mut self, position: u32) -> SqlError {
        self.0.position.get_or_insert(position);
        self
    }

    /// Its place is one in this text, which a routine has run.
    #[must_use]
    pub fn in_text(mut self, shift: u32, text: impl Into<String>) -> SqlError {
        if let Some(position) = self.0.position.take() {
            self.0.internal = Some((position.saturating_sub(shift).max(1), text.into()));
        }
        self
    }

    /// Nowhere in the query text, where PostgreSQL does not say where.
    #[must_use]
    pub fn nowhere(mut self) -> SqlError {
        self.0.position = None;
        self
    }

    /// With a CONTEXT.
    #[must_use]
    pub fn context(mut self, context: impl Into<String>) -> SqlError {
        self.0.context = Some(context.into());
        self
    }

    /// One more line of CONTEXT: what is around the lines that there are.
    #[must_use]
    pub fn within(mut self, line: impl AsRef<str>) -> SqlError {
        if !self.0.placed {
            match &mut self.0.context {
                Some(context) => {
                    context.push('\n');
                    context.push_str(line.as_ref());
                }
                context => *context = Some(line.as_ref().to_owned()),
            }
        }
        self
    }

    /// The same of all that is around it: nothing is added any more.
    #[must_use]
    pub fn in_whole(self, lines: &str) -> SqlError {
        let mut error = if lines.is_empty() { self } else { self.within(lines) };
        error.0.placed = true;
        error
    }

    /// About a schema, a table and a column, a type, a constraint, as far as they are said.
    #[must_use]
    pub fn about(
        mut self,
        [schema, table, column]: [Option<String>; 3],
        data_type: Option<String>,
        constraint: Option<String>,
    ) -> SqlError {
        (self.0.schema, self.0.table, self.0.column) = (schema, table, column);
        (self.0.data_type, self.0.constraint) = (data_type, constraint);
        self
    }

    /// About a table.
    #[must_use]
    pub fn table(mut self, schema: impl Into<String>, table: impl Into<String>) -> SqlError {
        self.0.schema = Some(schema.into());
        self.0.table = Some(table.into());
        self
    }

    /// About a column.
    #[must_use]
    pub fn column(mut self, column: impl Into<String>) -> SqlError {
        self.0.column = Some(column.into());
        self
    }

    /// About a type.
    #[must_use]
    pub fn data_type(mut self, schema: impl Into<String>, name: impl Into<String>) -> SqlError {
        self.0.schema = Some(schema.into());
        self.0.data_type = Some(name.into());
        self
    }

    /// About a constraint.
    #[must_use]
    pub fn constraint(mut self, constraint: impl Into<String>) -> SqlError {
        self.0.constraint = Some(constraint.into());
        self
    }

    /// Found in a routine of PostgreSQL's by whose name clients decide what they do.
    #[must_use]
    pub fn routine(mut self, routine: &'static str) -> SqlError {
        self.0.routine = Some(routine);
        self
    }

    /// All fields.
    #[must_use]
    pub fn fields(&self) -> &Fields {
        &self.0
    }

    /// The SQLSTATE.
    #[must_use]
    pub fn state(&self) -> SqlState {
        self.0.state
    }
}

impl std::fmt::Display for SqlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.0.severity.word(), self.0.state, self.0.message)
    }
}

impl std::error::Error for SqlError {}

/// Why a session's [`txn::Cancel`] was raised.
pub mod cancel {
    /// A cancel request, or `pg_cancel_backend`.
    pub const USER: u32 = 1;
    /// `statement_timeout`.
    pub const STATEMENT_TIMEOUT: u32 = 2;
    /// `pg_terminate_backend`.
    pub const TERMINATE: u32 = 3;
    /// The server stops.
    pub const SHUTDOWN: u32 = 4;
    /// The client has gone.
    pub const CLIENT_GONE: u32 = 5;
    /// `idle_in_transaction_session_timeout`.
    pub const IDLE_IN_TRANSACTION: u32 = 6;
    /// Somebody waits for what a session holds that looks after tables.
    pub const YIELD: u32 = 7;

    /// 57014 and its kin, where somebody asked the session to stop; 53200 where its statement holds more than it may.
    ///
    /// # Errors
    /// These.
    #[inline]
    pub fn check(cancel: &txn::Cancel) -> super::Result<()> {
        match cancel.requested() {
            None => crate::account::check(),
            Some(reason) => Err(super::SqlError::cancelled(reason)),
        }
    }
}

impl From<txn::Error> for SqlError {
    fn from(error: txn::Error) -> SqlError {
        use txn::Error as E;
        let abort = txn::Abort::of(&error);
        let mut error = match error {
            E::Conflict(kind) => {
                let error = SqlError::new(
                    SqlState::T_R_SERIALIZATION_FAILURE,
                    format!("could not serialize access due to {kind}"),
                );
                match kind {
                    txn::ConflictKind::Update | txn::ConflictKind::Delete => error,
                    txn::ConflictKind::ReadWrite(reason) => error
                        .detail(format!("Reason code: {reason}"))
                        .hint("The transaction might succeed if retried."),
                }
            }
            E::Deadlock(edges) => {
                let detail: Vec<String> = edges
                    .iter()
                    .map(|edge| {
                        format!(
                            "Process {} waits for {} on {}; blocked by process {}.",
                            edge.waiter,
                            edge.mode,
                            target(&edge.target, None),
                            edge.holder
                        )
                    })
                    .collect();
                SqlError::new(SqlState::T_R_DEADLOCK_DETECTED, "deadlock detected")
                    .detail(detail.join("\n"))
                    .hint("See server log for query details.")
            }
            E::LockNotAvailable { timeout: true } => SqlError::new(
                SqlState::LOCK_NOT_AVAILABLE,
                "canceling statement due to lock timeout",
            ),
            E::LockNotAvailable { timeout: false } => {
                SqlError::new(SqlState::LOCK_NOT_AVAILABLE, "could not obtain lock")
            }
            E::Cancelled(reason) => SqlError::cancelled(reason),
            E::SnapshotTooOld => SqlError::new(SqlState::SNAPSHOT_TOO_OLD, "snapshot too old"),
            E::OutOfMemory(what) => {
                SqlError::new(SqlState::OUT_OF_MEMORY, "out of memory").detail(what)
            }
            E::Storage(error) => error.into(),
        };
        error.0.abort = abort;
        error
    }
}

impl SqlError {
    /// What a statement ends with whose session was asked to stop; reasons are those of [`cancel`].
    #[must_use]
    pub fn cancelled(reason: u32) -> SqlError {
        let mut error = match reason {
            cancel::STATEMENT_TIMEOUT => SqlError::new(
                SqlState::QUERY_CANCELED,
                "canceling statement due to statement timeout",
            ),
            cancel::TERMINATE | cancel::SHUTDOWN => SqlError::new(
                SqlState::ADMIN_SHUTDOWN,
                "terminating connection due to administrator command",
            )
            .severity(Severity::Fatal),
            cancel::CLIENT_GONE => {
                SqlError::new(SqlState::CONNECTION_FAILURE, "connection to client lost")
                    .severity(Severity::Fatal)
            }
            cancel::IDLE_IN_TRANSACTION => SqlError::new(
                SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                "terminating connection due to idle-in-transaction timeout",
            )
            .severity(Severity::Fatal),
            cancel::YIELD => SqlError::new(SqlState::QUERY_CANCELED, "canceling autovacuum task"),
            _ => SqlError::new(SqlState::QUERY_CANCELED, "canceling statement due to user request"),
        };
        error.0.abort = txn::Abort::Cancelled;
        error
    }
}

impl From<txn::StorageError> for SqlError {
    fn from(error: txn::StorageError) -> SqlError {
        use txn::StorageError as E;
        let message = error.to_string();
        match error {
            E::Io(..) | E::Halted(_) => SqlError::new(SqlState::IO_ERROR, message),
            E::Full(_) => SqlError::new(SqlState::DISK_FULL, message),
            E::Corrupt(..) | E::CorruptLog(_) => SqlError::new(SqlState::DATA_CORRUPTED, message),
            E::PoolExhausted => SqlError::new(SqlState::INSUFFICIENT_RESOURCES, message),
            E::TooLarge { .. } => SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, message),
            E::NoTree(_) => SqlError::new(SqlState::INTERNAL_ERROR, message),
            E::Cancelled => SqlError::cancelled(cancel::USER),
            E::Refused(_) => SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message),
        }
    }
}

/// What a lock stands on (`DescribeLockTag`): of a row, the transaction that has it.
fn target(target: &txn::LockTarget, holder: Option<txn::TxnId>) -> String {
    match target {
        txn::LockTarget::Table(table) => {
            format!("relation {} of database {}", table.0 & 0xFFFF_FFFF, table.0 >> 32)
        }
        txn::LockTarget::Row(..) => match holder {
            Some(txn) => format!("transaction {}", txn.0),
            None => "tuple".to_owned(),
        },
        txn::LockTarget::Partition(partition) => {
            format!("partition {} of database {}", partition.number, partition.database)
        }
        txn::LockTarget::Transaction(pid, txn) => format!("virtual transaction {pid}/{}", txn.0),
        txn::LockTarget::Name(key) => {
            format!("advisory lock [{},{},{},{}]", key.database, key.class, key.object, key.sub)
        }
    }
}

/// The message and detail with which a long wait for a lock is logged (`ProcSleep`).
#[must_use]
pub fn lock_wait_message(wait: &txn::LockWait) -> (String, Option<String>) {
    use txn::LockWaitStage as Stage;
    let (pid, mode, waited) = (wait.pid, wait.mode, wait.waited.0);
    let lock = format!("{mode} on {}", target(&wait.target, wait.holder));
    let after = format!("after {}.{:03} ms", waited / 1000, waited % 1000);
    let said = match wait.stage {
        Stage::Acquired => return (format!("process {pid} acquired {lock} {after}"), None),
        Stage::Waiting => format!("process {pid} still waiting for {lock} {after}"),
        Stage::Deadlock => {
            format!("process {pid} detected deadlock while waiting for {lock} {after}")
        }
    };
    let list = |pids: &[u32]| pids.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let holding = if wait.holders.len() == 1 { "Process" } else { "Processes" };
    let (holders, queue) = (list(&wait.holders), list(&wait.queue));
    (said, Some(format!("{holding} holding the lock: {holders}. Wait queue: {queue}.")))
}
