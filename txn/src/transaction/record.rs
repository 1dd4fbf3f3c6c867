//! A record together with the view by which it was read.
//!
//! A record may be one part of a larger whole: the pieces of a long value lie in records of their own, written by the same
//! commit. The whole is only there for who reads its parts by one view. That view need not be the statement's: who has
//! locked a row reads its latest version, whose pieces the statement's snapshot does not show. So every record that a
//! transaction hands out names its view, and what reads the other parts asks for a [`RecordView`], which nobody can make
//! but who reads records. (PostgreSQL reads the pieces without a snapshot, `SnapshotToast`, and keeps them by VACUUM's
//! horizon.)

use super::{Beside, ReadView};
use crate::CommandId;
use storage::Lsn;

/// The view by which a record was read: what belongs to the record is read by it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordView(ReadView);

impl RecordView {
    /// Of a record that `view` has shown.
    pub(super) fn of(view: &ReadView) -> RecordView {
        RecordView(*view)
    }

    /// The view.
    #[must_use]
    pub fn view(&self) -> &ReadView {
        &self.0
    }
}

impl Default for RecordView {
    /// Of no record: it shows none.
    fn default() -> RecordView {
        RecordView(ReadView { snapshot: Lsn::ZERO, command: CommandId(0), beside: Beside::Nothing })
    }
}

/// A buffer that a record is read into.
#[derive(Debug, Default)]
pub struct RecordBuffer {
    pub(super) found: storage::RecordBuffer,
    pub(super) view: RecordView,
}

impl RecordBuffer {
    /// The commit that wrote the record; [`Lsn::MAX`] for the transaction's own write.
    #[must_use]
    #[inline]
    pub fn lsn(&self) -> Lsn {
        self.found.lsn()
    }

    /// The value; none if there is no record.
    #[must_use]
    #[inline]
    pub fn value(&self) -> Option<&[u8]> {
        self.found.value()
    }

    /// The view by which it was read.
    #[must_use]
    pub fn view(&self) -> RecordView {
        self.view
    }
}
