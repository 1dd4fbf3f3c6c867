//! Where rows go: columns are encoded straight into the connection's output buffer, no rows are kept between layers.

use super::frame::Frame;
pub use crate::compile::ColumnDescription;
use crate::error::{Notice, Result, SqlError};
use crate::plan::scalar::Var;
use crate::sqlstate::SqlState;
use crate::types::{CallContext, Datum};

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// There is room for more.
    Continue,
    /// The row was taken, but the buffer is full: stop behind this row, run again later.
    Pause,
}

/// The form of COPY data on the wire: what CopyInResponse and CopyOutResponse say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyFormat {
    /// Binary (else text or csv).
    pub binary: bool,
    /// How many columns.
    pub columns: u16,
}

/// Text or binary, as the protocol numbers them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Format {
    /// 0.
    #[default]
    Text,
    /// 1.
    Binary,
    /// Any other number: a result may be bound and described in it, but has no rows.
    Unknown(i16),
}

impl Format {
    /// By its number.
    #[must_use]
    pub fn of(code: i16) -> Format {
        match code {
            0 => Format::Text,
            1 => Format::Binary,
            other => Format::Unknown(other),
        }
    }

    /// Its number.
    #[must_use]
    pub fn code(self) -> i16 {
        match self {
            Format::Text => 0,
            Format::Binary => 1,
            Format::Unknown(code) => code,
        }
    }

    /// The error of whoever has to read or write a value in a format that is none.
    #[cold]
    #[must_use]
    pub fn unsupported(code: i16) -> SqlError {
        SqlError::new(SqlState::INVALID_PARAMETER_VALUE, format!("unsupported format code: {code}"))
    }
}

/// Takes rows. No latch is held across a call.
pub trait RowSink {
    /// The formats of the columns of the rows to come: none (all text), one for all, or one each.
    fn formats(&mut self, _formats: &[Format]) {}
    /// None of the rows to come is shown if the statement fails: they are kept back as long as there is room for them.
    fn shown_at_end(&mut self) {}
    /// Routines run from now on, and what they say may be told before the run has ended: behind what has been answered so far,
    /// ahead of rows to come.
    fn lets_notices_pass(&mut self) {}
    /// Whether nobody sees a row before the run has ended, and none if it fails: then those of a modification need not be
    /// kept back from it.
    fn keeps_back(&self) -> bool {
        false
    }
    /// One row, in the order of the columns described. `columns` has their types: what decides the encoding, with
    /// `context` for what it leaves to the session (time zone, names behind OIDs).
    ///
    /// # Errors
    /// A value that has no text or binary form.
    fn row(
        &mut self,
        context: &CallContext<'_>,
        columns: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow>;
    /// One row where the machine has it, its columns at these homes: who only keeps rows takes it from there. Nothing where it
    /// is to be given by [`RowSink::row`].
    ///
    /// # Errors
    /// What the sink finds too much.
    fn take(&mut self, _frame: &Frame, _columns: &[Var]) -> Option<Result<Flow>> {
        None
    }
    /// The keys of table rows that the next row is made of, where WHERE CURRENT OF may ask for them.
    fn keys(&mut self, _keys: &mut dyn Iterator<Item = Datum<'_>>) {}
    /// COPY TO STDOUT begins. What a sink of other rows than COPY's does of it is nothing.
    fn copy_out(&mut self, _format: CopyFormat) {}
    /// One line (or binary tuple) of COPY TO STDOUT.
    fn copy_data(&mut self, _data: &[u8]) -> Flow {
        Flow::Continue
    }
    /// COPY TO STDOUT has come to its end; where it fails, this is not said.
    fn copy_done(&mut self) {}
    /// A notice, in its place among the rows.
    fn notice(&mut self, notice: &Notice);
}

/// Takes rows and shows none: of a statement that runs for its effect, or rows that a cursor passes over.
#[derive(Debug, Default)]
pub struct Unseen {
    /// What came up meanwhile, for the caller to pass on.
    pub notices: Vec<Notice>,
}

impl RowSink for Unseen {
    fn row(
        &mut self,
        _: &CallContext<'_>,
        _: &[ColumnDescription],
        _: &[Datum<'_>],
    ) -> Result<Flow> {
        Ok(Flow::Continue)
    }

    fn notice(&mut self, notice: &Notice) {
        self.notices.push(notice.clone());
    }
}
