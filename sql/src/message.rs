//! What a session and its caller say to each other: the protocol's messages as plain values.

use crate::exec::sink::{ColumnDescription, CopyFormat, Format, RowSink};
use crate::types::Oid;
use std::sync::OnceLock;
use txn::Lsn;

/// The longest message that is kept beside the columns it tells of, in bytes: a longer one is the least of what its rows cost.
const TOLD_BYTES_MAX: usize = 4096;

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

/// What Describe answers of what returns rows: RowDescription.
#[derive(Clone, Copy, Debug)]
pub struct RowsDescription<'a> {
    /// The columns.
    pub columns: &'a [ColumnDescription],
    /// Their formats: none (all text), one for all, or one each.
    pub formats: &'a [Format],
    /// The message, where it has been made before.
    pub told: &'a Told,
}

/// The messages that tell of a statement's columns, kept with it by who speaks to clients: all in text, and all in binary.
#[derive(Debug, Default)]
pub struct Told([OnceLock<Box<[u8]>>; 2]);

impl Told {
    /// The message for columns in this format, if it was kept.
    #[must_use]
    pub fn kept(&self, format: Format) -> Option<&[u8]> {
        self.place(format)?.get().map(|message| &**message)
    }

    /// Keeps the message for columns in this format, if it is short.
    pub fn keep(&self, format: Format, message: &[u8]) {
        if message.len() <= TOLD_BYTES_MAX
            && let Some(place) = self.place(format)
        {
            // Whoever has made the same meanwhile has been as quick.
            let _ = place.set(message.into());
        }
    }

    fn place(&self, format: Format) -> Option<&OnceLock<Box<[u8]>>> {
        match format {
            Format::Text => Some(&self.0[0]),
            Format::Binary => Some(&self.0[1]),
            Format::Unknown(_) => None,
        }
    }
}

/// Takes the answer of a Bind and of the Execute behind it.
pub trait BoundSink: RowSink {
    /// The portal is there: it returns these rows, or none.
    fn bound(&mut self, rows: Option<RowsDescription<'_>>);
}

/// What Describe of a statement answers.
#[derive(Clone, Copy, Debug)]
pub struct StatementDescription<'a> {
    /// ParameterDescription.
    pub parameters: &'a [Oid],
    /// RowDescription; none is NoData.
    pub rows: Option<RowsDescription<'a>>,
}
