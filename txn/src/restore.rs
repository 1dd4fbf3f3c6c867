//! To which moment a log is restored (`recovery_target`; PostgreSQL 15 manual, section 20.5.6): asked of each record, in
//! order, by the data component, which knows nothing of commits.
//!
//! A time or a transaction is met at the record that ends a transaction; the commit at a time is as late as its clock says,
//! so that of two that end within the same moment the later in the log may be the earlier by the clock. As in PostgreSQL the
//! first that is past the time ends the log.

use crate::Lsn;
use crate::log::{self, Reader};
use storage::wal::LogRecord;
use storage::{Result, Stop};

/// Where the log ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoreTarget {
    /// Where there is no more of it.
    End,
    /// As soon as all pages are of one moment.
    Immediate,
    /// At the first transaction that ended after this time, in microseconds since 2000-01-01.
    Time(i64),
    /// At this transaction; of its number, which has as many bits as users see, the lower ones may be enough.
    Transaction(u64),
    /// At the restore point of this name.
    Name(String),
    /// At this place.
    Lsn(Lsn),
}

/// What a log has been found to end at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Met {
    /// The transaction's number, if it had one.
    pub number: Option<u64>,
    /// When it ended, or the restore point was made.
    pub wall: i64,
}

impl RestoreTarget {
    /// Whether the log ends at `record`, and whether that is still there. `met` is told what it is.
    ///
    /// # Errors
    /// [`storage::Error::CorruptLog`].
    pub fn stop(
        &self,
        inclusive: bool,
        record: &LogRecord<'_>,
        consistent: bool,
        met: &mut Met,
    ) -> Result<Stop> {
        let ends = record.kind == log::COMMIT || record.kind == log::RESOLVE;
        let side = if inclusive { Stop::After } else { Stop::Before };
        let (stop, header) = match self {
            RestoreTarget::End => return Ok(Stop::No),
            RestoreTarget::Immediate => return Ok(if consistent { Stop::After } else { Stop::No }),
            RestoreTarget::Lsn(at) => return Ok(if record.lsn >= *at { side } else { Stop::No }),
            RestoreTarget::Time(at) if ends => {
                let header = Reader::new(record.payload)?.0;
                let past = header.wall > *at || !inclusive && header.wall == *at;
                (if past { Stop::Before } else { Stop::No }, header)
            }
            RestoreTarget::Transaction(number) if ends => {
                let header = Reader::new(record.payload)?.0;
                let same = |own: u64| own == *number || own as u32 as u64 == *number;
                (if header.number.is_some_and(same) { side } else { Stop::No }, header)
            }
            RestoreTarget::Name(name) if record.kind == log::RESTORE_POINT => {
                let header = Reader::new(record.payload)?.0;
                let same = header.name.as_deref() == Some(name.as_bytes());
                (if same { Stop::After } else { Stop::No }, header)
            }
            _ => return Ok(Stop::No),
        };
        if stop != Stop::No {
            *met = Met { number: header.number, wall: header.wall };
        }
        Ok(stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Header, Writer};
    use storage::RecordKind;

    fn stops(target: &RestoreTarget, inclusive: bool, kind: RecordKind, header: &Header) -> Stop {
        let mut writer = Writer::default();
        writer.begin(header);
        let record = LogRecord { lsn: Lsn(64), end: Lsn(128), kind, payload: writer.payload() };
        target.stop(inclusive, &record, true, &mut Met::default()).unwrap()
    }

    #[test]
    fn each_target_is_met_at_its_record_alone() {
        let header = Header {
            wall: 1000,
            number: Some(1 << 40 | 7),
            name: Some(b"here".to_vec()),
            ..Header::default()
        };
        let commit =
            |target: RestoreTarget, inclusive| stops(&target, inclusive, log::COMMIT, &header);
        use RestoreTarget::{Name, Time, Transaction};
        assert_eq!(commit(Time(1000), true), Stop::No);
        assert_eq!(commit(Time(1000), false), Stop::Before);
        assert_eq!(commit(Time(999), true), Stop::Before);
        assert_eq!(commit(Transaction(7), true), Stop::After);
        assert_eq!(commit(Transaction(1 << 40 | 7), false), Stop::Before);
        assert_eq!(commit(Transaction(8), true), Stop::No);
        assert_eq!(commit(Name("here".to_owned()), true), Stop::No);
        let point = stops(&Name("here".to_owned()), true, log::RESTORE_POINT, &header);
        assert_eq!(point, Stop::After);
        assert_eq!(commit(RestoreTarget::Lsn(Lsn(64)), true), Stop::After);
        assert_eq!(commit(RestoreTarget::Lsn(Lsn(65)), true), Stop::No);
        assert_eq!(commit(RestoreTarget::Immediate, true), Stop::After);
        assert_eq!(commit(RestoreTarget::End, true), Stop::No);
    }
}
