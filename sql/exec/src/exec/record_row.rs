//! A row that stands in its record: a column is looked at where it lies, when somebody asks for it.
//!
//! RETURNING of an update that carries most of its row over looks at few of the columns that it names, as those of a CASE: none of
//! them is copied into a row first. Such an expression neither stops nor has subqueries, so what it looks at stays where it is. What a
//! column fails with is kept, since whoever looks at it expects a value, and told when the expression has come to its end.

use crate::error::{Result, SqlError};
use crate::plan::scalar::Var;
use crate::tuple::row::OpenRecord;
use crate::types::Datum;
use std::cell::RefCell;

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
}

impl<'r> RecordRow<'r> {
    /// The row in `slot` whose columns are these of a record, all of which lie in place.
    #[must_use]
    pub fn new(slot: u32, record: OpenRecord<'r>, live: &'r [usize]) -> RecordRow<'r> {
        let texts = record.leading_texts();
        RecordRow { slot, record, live, texts, failed: RefCell::new(None) }
    }

    /// The value of a home, if it is in this row.
    #[inline]
    pub fn get(&self, var: Var) -> Option<Datum<'r>> {
        if var.slot != self.slot {
            return None;
        }
        Some(match self.record.view(self.live[var.column as usize], self.texts) {
            Ok(value) => value.unwrap_or(Datum::Null),
            Err(error) => {
                self.failed.replace(Some(error));
                Datum::Null
            }
        })
    }

    /// Whether all columns that were asked for could be read.
    ///
    /// # Errors
    /// XX001.
    pub fn end(self) -> Result<()> {
        self.failed.into_inner().map_or(Ok(()), Err)
    }
}
