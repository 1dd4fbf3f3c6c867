//! A session: its transaction, its settings, its prepared statements and portals.
//!
//! The protocol's families (simple and extended query, COPY) map on it one call a message. An error leaves the session in
//! the state PostgreSQL would be in; the caller only sends it, and in the extended protocol skips to the next Sync.

use crate::error::{Notice, Result, SqlError};
use crate::exec::sink::{ColumnDescription, CopyFormat, RowSink};
use crate::types::Oid;
use std::sync::Arc;
use txn::{Lsn, SessionWait};

/// Text or binary, as the protocol numbers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// 0.
    #[default]
    Text,
    /// 1.
    Binary,
}

/// What ReadyForQuery says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionStatus {
    /// I.
    Idle,
    /// T.
    InTransaction,
    /// E.
    Failed,
}

/// The Bind message: everything borrowed from the receive buffer.
#[derive(Clone, Copy, Debug)]
pub struct Bind<'a> {
    /// The portal's name; empty is the unnamed one.
    pub portal: &'a str,
    /// The statement's name.
    pub statement: &'a str,
    /// Formats of the parameters: none (all text), one for all, or one each, as 2-byte big-endian codes.
    pub parameter_formats: &'a [u8],
    /// The number of parameters.
    pub parameter_count: u16,
    /// The parameters as they stand in the message: 4-byte length (-1 is NULL) and bytes, for each. The caller has checked
    /// that lengths stay inside the message.
    pub parameters: &'a [u8],
    /// Formats of the result columns, as `parameter_formats`.
    pub result_formats: &'a [u8],
}

/// How far a portal got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// CommandComplete with this tag.
    Complete(CommandTag),
    /// EmptyQueryResponse.
    Empty,
    /// `max_rows` rows were handed out: PortalSuspended.
    Suspended,
    /// The sink asked to pause: send what there is, then run again.
    Paused,
    /// COPY FROM STDIN: send CopyInResponse, then feed [`Session::copy_in`].
    CopyIn(CopyFormat),
}

/// A command tag: `SELECT 1`, `INSERT 0 1`, `CREATE TABLE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandTag {
    /// The words: `INSERT 0`.
    pub words: &'static str,
    /// The count behind them, if the tag has one.
    pub rows: Option<u64>,
}

/// How long a statement, and the pauses between statements, may take, in milliseconds; 0 is for ever. The connection
/// has the timers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// `statement_timeout`.
    pub statement_ms: u32,
    /// `idle_in_transaction_session_timeout`.
    pub idle_in_transaction_ms: u32,
    /// `idle_session_timeout`.
    pub idle_session_ms: u32,
}

/// What Describe of a statement answers.
#[derive(Clone, Copy, Debug)]
pub struct StatementDescription<'a> {
    /// ParameterDescription.
    pub parameters: &'a [Oid],
    /// RowDescription; none is NoData.
    pub columns: Option<&'a [ColumnDescription]>,
}

/// A session. Dropped, it rolls back what is open and lets everything go.
pub struct Session {
    wait: Arc<SessionWait>,
}

impl Session {
    /// How it waits and how it is cancelled; others hold this while a statement runs.
    #[must_use]
    pub fn wait(&self) -> &Arc<SessionWait> {
        &self.wait
    }

    /// What ReadyForQuery has to say now.
    #[must_use]
    pub fn status(&self) -> TransactionStatus {
        TransactionStatus::Idle
    }

    /// Before any byte of an answer leaves, the connection waits until this LSN may be answered
    /// ([`crate::Engine::poll_answer`]): every commit that the buffered bytes tell of.
    #[must_use]
    pub fn answer_after(&self) -> Lsn {
        Lsn::ZERO
    }

    /// The time limits as set now. Asked for each statement: plain numbers, no lookup by name.
    #[must_use]
    pub fn timeouts(&self) -> Timeouts {
        Timeouts::default()
    }

    /// Notices that came up outside [`Session::run`]. The caller sends them behind the message at hand.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }

    /// Calls `report` for every ParameterStatus that has changed since the last call (at the start: all of them).
    pub fn take_parameter_changes(&mut self, _report: &mut dyn FnMut(&str, &str)) {}

    /// Simple protocol: takes a Query message's text. A syntax error anywhere in it fails here, before anything runs.
    ///
    /// # Errors
    /// 42601 and the like.
    pub fn simple_query(&mut self, _text: &str) -> Result<()> {
        Err(SqlError::unsupported("statements are"))
    }

    /// Simple protocol: makes the next statement of the text the portal with the empty name, its results in text.
    /// False at the end, when the implicit transaction has been committed.
    ///
    /// # Errors
    /// Everything a statement can fail with; the rest of the text is then given up.
    pub fn simple_next(&mut self) -> Result<bool> {
        Ok(false)
    }

    /// Parse.
    ///
    /// # Errors
    /// Everything up to planning.
    pub fn parse(&mut self, _name: &str, _text: &str, _parameter_types: &[Oid]) -> Result<()> {
        Err(SqlError::unsupported("statements are"))
    }

    /// Bind.
    ///
    /// # Errors
    /// 26000, 42P03, 22P02, 22P03, 08P01 and the like.
    pub fn bind(&mut self, _bind: &Bind<'_>) -> Result<()> {
        Err(SqlError::unsupported("statements are"))
    }

    /// Describe (statement).
    ///
    /// # Errors
    /// 26000.
    pub fn describe_statement(&mut self, _name: &str) -> Result<StatementDescription<'_>> {
        Err(SqlError::unsupported("statements are"))
    }

    /// Describe (portal): its columns with their formats' codes (empty, one, or one each), none for NoData.
    ///
    /// # Errors
    /// 34000.
    pub fn describe_portal(
        &mut self,
        _name: &str,
    ) -> Result<Option<(&[ColumnDescription], &[Format])>> {
        Err(SqlError::unsupported("statements are"))
    }

    /// Execute: runs a portal until it ends, has given `max_rows` rows (0: no limit), or the sink asks to pause.
    ///
    /// # Errors
    /// Everything a statement can fail with.
    pub fn run(
        &mut self,
        _portal: &str,
        _max_rows: u64,
        _sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        Err(SqlError::unsupported("statements are"))
    }

    /// Close (statement). Closing what is not there is no error.
    pub fn close_statement(&mut self, _name: &str) {}

    /// Close (portal).
    pub fn close_portal(&mut self, _name: &str) {}

    /// Sync: ends the implicit transaction.
    ///
    /// # Errors
    /// What a commit can fail with.
    pub fn sync(&mut self) -> Result<()> {
        Ok(())
    }

    /// CopyData, in any portion.
    ///
    /// # Errors
    /// 22P04, 22P02, constraint violations: the COPY has ended, and further CopyData is skipped by the caller.
    pub fn copy_in(&mut self, _data: &[u8]) -> Result<()> {
        Err(SqlError::unsupported("COPY is"))
    }

    /// CopyDone.
    ///
    /// # Errors
    /// As [`Session::copy_in`].
    pub fn copy_in_done(&mut self) -> Result<CommandTag> {
        Err(SqlError::unsupported("COPY is"))
    }

    /// CopyFail: gives the error that ends the statement (57014 with the client's words).
    pub fn copy_in_fail(&mut self, message: &str) -> SqlError {
        SqlError::new(
            crate::sqlstate::SqlState::QUERY_CANCELED,
            format!("COPY from stdin failed: {message}"),
        )
    }

    /// The setting called `name`, as SHOW prints it.
    #[must_use]
    pub fn setting(&self, _name: &str) -> Option<String> {
        None
    }
}
