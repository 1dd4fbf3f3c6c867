//! A row that stands in its record: a column is looked at where it lies, when somebody asks for it.
//!
//! RETURNING of an update that carries most of its row over looks at few of the columns that it names, as those of a CASE, and the
//! conditions of a scan drop most rows: none of them is copied into a row first. Such an expression neither stops nor has subqueries, so
//! what it looks at stays where it is. What a column fails with is kept, since whoever looks at it expects a value, and told when the
//! expression has come to its end.

use crate::error::{Result, SqlError};
use crate::plan::scalar::Var;
use crate::tuple::row::OpenRecord;
use crate::types::Datum;
use std::cell::{Cell, RefCell};

/// The row of a slot.
#[derive(Debug)]
pub struct RecordRow<'r> {
    slot: u32,
    record: OpenRecord<'r>,
    /// The columns of the record that those of the row are.
    live: &'r [usize],
    /// The texts with which it begins, looked at once.
    texts: Option<&'r str>,
    failed: RefCell<Option<SqlError>>,
    /// Whether a column was asked for that does not lie here.
    elsewhere: Cell<bool>,
}

impl<'r> RecordRow<'r> {
    /// The row in `slot` whose columns are these of a record, all of which lie in place.
    #[must_use]
    pub fn new(slot: u32, record: OpenRecord<'r>, live: &'r [usize]) -> RecordRow<'r> {
        let texts = record.leading_texts();
        RecordRow { texts, ..RecordRow::in_part(slot, record, live) }
    }

    /// The same of a record of which some columns may be elsewhere, for who asks for few: [`RecordRow::is_known`] says whether he
    /// was shown all of them.
    #[must_use]
    #[inline]
    pub fn in_part(slot: u32, record: OpenRecord<'r>, live: &'r [usize]) -> RecordRow<'r> {
        let (failed, elsewhere) = (RefCell::new(None), Cell::new(false));
        RecordRow { slot, record, live, texts: None, failed, elsewhere }
    }

    /// The value of a home, if it is in this row.
    #[inline]
    pub fn get(&self, var: Var) -> Option<Datum<'r>> {
        if var.slot != self.slot {
            return None;
        }
        Some(match self.record.view(self.live[var.column as usize], self.texts) {
            Ok(Some(value)) => value,
            Ok(None) => {
                self.elsewhere.set(true);
                Datum::Null
            }
            Err(error) => {
                self.failed.replace(Some(error));
                Datum::Null
            }
        })
    }

    /// Whether all columns that were asked for lie here. Those that do not were shown as NULL.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !self.elsewhere.get()
    }

    /// Whether all columns that were asked for could be read.
    ///
    /// # Errors
    /// XX001.
    pub fn end(self) -> Result<()> {
        self.failed.into_inner().map_or(Ok(()), Err)
    }
}
