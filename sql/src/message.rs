//! What a session and its caller say to each other: the protocol's messages as plain values.

use crate::exec::sink::{ColumnDescription, CopyFormat};
use crate::types::Oid;
use txn::Lsn;

/// What must have come before buffered bytes may leave: [`crate::Engine::poll_answer`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerAfter {
    /// The log is durable past this record, and it is visible.
    pub durable: Lsn,
    /// This record is visible to every session; whether it is durable is not asked (`synchronous_commit = off`).
    pub visible: Lsn,
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
    /// COPY FROM STDIN: send CopyInResponse, then feed [`super::Session::copy_in`].
    CopyIn(CopyFormat),
}

/// A command tag: `SELECT 1`, `INSERT 0 1`, `CREATE TABLE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandTag {
    /// The words: `INSERT 0`.
    pub words: &'static str,
    /// How many rows that were, if it is a statement that counts them.
    pub rows: Option<u64>,
}

/// REFRESH MATERIALIZED VIEW, which counts its rows for statistics alone.
pub(crate) const REFRESH: &str = "REFRESH MATERIALIZED VIEW";

impl CommandTag {
    /// The count behind the words, if the tag has one.
    #[must_use]
    pub fn told(&self) -> Option<u64> {
        self.rows.filter(|_| self.words != REFRESH)
    }
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
