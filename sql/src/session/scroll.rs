//! Rows that a cursor keeps, so that FETCH can go back and forth among them, and so that they outlive the transaction
//! (`DoPortalRunFetch`, `PersistHoldablePortal`).
//!
//! A cursor stands in front of its first row (0), on a row (counted from 1), or behind its last. The plan only ever goes
//! forward: what it gives is kept. A cursor with SCROLL or WITH HOLD keeps all its rows, past `work_mem` in a temporary file; one
//! of which neither was said keeps the newest, within `work_mem`, and cannot go back past those.

use crate::error::{Notice, Result, SqlError};
use crate::exec::sink::{ColumnDescription, Flow, RowSink};
use crate::exec::spool::{Spool, SpoolReader};
use crate::exec::temp_file::TempSpace;
use crate::parse::ast::FetchDirection;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{CallContext, Datum};

/// Kept rows, and where the cursor stands.
#[derive(Debug)]
pub(super) struct Store {
    /// The columns that are shown, then the keys of the table rows that a row is made of.
    rows: Spool,
    /// Has the row on which the cursor stands, where that is in the file.
    reader: SpoolReader,
    /// Rows in front of these that are kept no more.
    passed: u64,
    /// Where the cursor stands.
    at: u64,
    /// The plan has given its last row.
    complete: bool,
}

/// A FETCH under way: which rows it still wants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// Rows to go over first, without a look at them.
    pub skip: u64,
    /// Rows to return.
    pub rows: u64,
    /// Towards the first row.
    pub backward: bool,
}

impl Store {
    /// Of rows so wide, behind so many that have gone.
    pub fn new(width: usize, passed: u64) -> Store {
        let (rows, reader) = (Spool::new(width), SpoolReader::default());
        Store { rows, reader, passed, at: passed, complete: false }
    }

    /// The number of the last row that is known.
    fn known(&self) -> u64 {
        self.passed + self.rows.len() as u64
    }

    fn on_row(&self) -> bool {
        self.at > 0 && self.at <= self.known()
    }

    /// Comes to stand on the row with this number, or beside the rows.
    fn stand(&mut self, at: u64) -> Result<()> {
        self.at = at;
        if self.on_row() && at > self.passed {
            self.rows.load((at - self.passed - 1) as usize, &mut self.reader)?;
        }
        Ok(())
    }

    /// Whether the plan has to give more before the cursor can go further forward.
    pub fn wants_more(&self) -> bool {
        !self.complete && self.at >= self.known()
    }

    /// The plan has given its last row.
    pub fn ends(&mut self) {
        self.complete = true;
    }

    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// What a direction wants from where the cursor stands; `all`: the whole rows have to be known first.
    ///
    /// # Errors
    /// 55000 for a step back that is not to be.
    pub fn wanted(&mut self, direction: FetchDirection, only_forward: bool) -> Result<Wanted> {
        let forward = |skip, rows| Wanted { skip, rows, backward: false };
        let backward = |skip, rows| Wanted { skip, rows, backward: true };
        let wanted = match direction {
            FetchDirection::Forward(0)
            | FetchDirection::Backward(0)
            | FetchDirection::Relative(0) => {
                if !self.on_row() {
                    return Ok(forward(0, 0));
                }
                // The row that it stands on, once more.
                self.may_go_back(only_forward, self.at)?;
                self.stand(self.at - 1)?;
                return Ok(forward(0, 1));
            }
            FetchDirection::Forward(rows) if rows > 0 => forward(0, rows.unsigned_abs()),
            FetchDirection::Backward(rows) if rows < 0 => forward(0, rows.unsigned_abs()),
            FetchDirection::Forward(rows) | FetchDirection::Backward(rows) => {
                backward(0, rows.unsigned_abs())
            }
            FetchDirection::Relative(rows) if rows > 0 => forward(rows.unsigned_abs() - 1, 1),
            FetchDirection::Relative(rows) => backward(rows.unsigned_abs() - 1, 1),
            FetchDirection::Absolute(row) if row >= 0 => {
                let row = row.unsigned_abs();
                if row <= self.at && self.at > 0 {
                    self.may_go_back(only_forward, row)?;
                    self.stand(row.saturating_sub(1))?;
                }
                match row {
                    0 => forward(0, 0),
                    _ => forward(row - 1 - self.at, 1),
                }
            }
            FetchDirection::Absolute(row) => {
                // The caller has gone to the end.
                backward(row.unsigned_abs() - 1, 1)
            }
        };
        if wanted.backward && only_forward {
            return Err(only_forward_error());
        }
        Ok(wanted)
    }

    /// Whether the row with this number can be come to again.
    fn may_go_back(&self, only_forward: bool, row: u64) -> Result<()> {
        if only_forward || row <= self.passed && self.passed > 0 {
            return Err(only_forward_error());
        }
        Ok(())
    }

    /// Goes over up to `rows` rows that are known; how many there were. Behind the last of all it goes one step further.
    pub fn pass(&mut self, rows: u64, backward: bool) -> Result<u64> {
        if backward {
            let in_front = self.at.saturating_sub(1);
            let passed = rows.min(in_front);
            if in_front - passed < self.passed {
                return Err(only_forward_error());
            }
            self.stand(if passed < rows { 0 } else { self.at - passed })?;
            return Ok(passed);
        }
        let passed = rows.min(self.known().saturating_sub(self.at));
        let behind = passed < rows && self.complete;
        self.stand(if behind { self.known() + 1 } else { self.at + passed })?;
        Ok(passed)
    }

    /// The row that it stands on; none in front of the first and behind the last.
    pub fn standing(&self) -> Option<impl ExactSizeIterator<Item = Datum<'_>>> {
        self.on_row().then(|| self.current())
    }

    /// The same, where there is one.
    pub fn current(&self) -> impl ExactSizeIterator<Item = Datum<'_>> {
        let (rows, at) = self.rows.place((self.at - self.passed - 1) as usize, &self.reader);
        rows.row(at)
    }

    /// Keeps what is in memory within bounds: of all rows by moving them to a file, or else by keeping only those from
    /// `newest` on.
    ///
    /// # Errors
    /// 53400, 53100, I/O.
    pub fn bound(
        &mut self,
        limit: usize,
        space: TempSpace<'_>,
        all: bool,
        newest: u64,
    ) -> Result<()> {
        if self.rows.bytes() <= limit {
            return Ok(());
        }
        if all {
            self.rows.spill(space)?;
            return self.stand(self.at);
        }
        if newest > self.passed {
            let mut kept = Spool::new(self.rows.width());
            for row in (newest - self.passed) as usize..self.rows.len() {
                kept.push(self.rows.row(row, &mut self.reader)?);
            }
            self.rows = kept;
            self.passed = newest;
        }
        Ok(())
    }

    /// How many rows have been given by the plan.
    pub fn given(&self) -> u64 {
        self.known()
    }
}

/// 55000.
pub(super) fn only_forward_error() -> SqlError {
    SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, "cursor can only scan forward")
        .hint("Declare it with SCROLL option to enable backward scan.")
}

/// Takes a plan's rows into a store.
pub(super) struct Keeping<'s> {
    pub store: &'s mut Store,
    /// The keys of the row to come.
    pub keys: RowBuf,
    /// What came up meanwhile, for the caller to pass on.
    pub notices: Vec<Notice>,
}

impl RowSink for Keeping<'_> {
    fn row(
        &mut self,
        _: &CallContext<'_>,
        _: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow> {
        self.store.rows.push(row.iter().copied().chain(self.keys.iter()));
        Ok(Flow::Continue)
    }

    fn keys(&mut self, keys: &mut dyn Iterator<Item = Datum<'_>>) {
        self.keys.clear();
        keys.for_each(|key| self.keys.push(key));
    }

    fn notice(&mut self, notice: &Notice) {
        self.notices.push(notice.clone());
    }
}
