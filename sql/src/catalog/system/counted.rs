//! Views of what the instance has counted: `pg_stat_wal` and its kin. What Atoll has none of counts 0, as on a PostgreSQL
//! that was just started.

use super::rows::Rows;
use crate::error::Result;
use crate::types::Datum;

/// What the instance has counted since it was opened, or since the counters were last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Transactions that committed.
    pub commits: u64,
    /// Transactions that rolled back, for whatever reason.
    pub rollbacks: u64,
    /// Deadlocks found.
    pub deadlocks: u64,
    /// Pages read from disk.
    pub pages_read: u64,
    /// Pages found in memory.
    pub pages_hit: u64,
    /// Pages written to disk.
    pub pages_written: u64,
    /// Frames that took another page in.
    pub pages_placed: u64,
    /// Checkpoints taken.
    pub checkpoints: u64,
    /// Log records.
    pub log_records: u64,
    /// Bytes of log written.
    pub log_bytes: u64,
    /// Writes of the log.
    pub log_writes: u64,
    /// Syncs of the log.
    pub log_syncs: u64,
    /// Time in syncs of the log, in microseconds.
    pub log_sync_us: u64,
    /// Since when all this is counted: microseconds since 2000-01-01 UTC.
    pub since: i64,
}

impl Counters {
    /// What has been counted since `base`.
    #[must_use]
    pub fn since(self, base: &Counters) -> Counters {
        Counters {
            commits: self.commits.saturating_sub(base.commits),
            rollbacks: self.rollbacks.saturating_sub(base.rollbacks),
            deadlocks: self.deadlocks.saturating_sub(base.deadlocks),
            pages_read: self.pages_read.saturating_sub(base.pages_read),
            pages_hit: self.pages_hit.saturating_sub(base.pages_hit),
            pages_written: self.pages_written.saturating_sub(base.pages_written),
            pages_placed: self.pages_placed.saturating_sub(base.pages_placed),
            checkpoints: self.checkpoints.saturating_sub(base.checkpoints),
            log_records: self.log_records.saturating_sub(base.log_records),
            log_bytes: self.log_bytes.saturating_sub(base.log_bytes),
            log_writes: self.log_writes.saturating_sub(base.log_writes),
            log_syncs: self.log_syncs.saturating_sub(base.log_syncs),
            log_sync_us: self.log_sync_us.saturating_sub(base.log_sync_us),
            since: base.since,
        }
    }
}

fn count<'a>(value: u64) -> Datum<'a> {
    Datum::Int8(i64::try_from(value).unwrap_or(i64::MAX))
}

pub(super) fn log(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let found = (rows.system.counters)();
    let bytes = crate::types::read_text(
        rows.call,
        crate::types::SqlType::plain(1700),
        &found.log_bytes.to_string(),
    )?;
    let row = [
        count(found.log_records),
        Datum::Int8(0),
        bytes,
        Datum::Int8(0),
        count(found.log_writes),
        count(found.log_syncs),
        Datum::Float8(0.0),
        Datum::Float8(found.log_sync_us as f64 / 1000.0),
        Datum::TimestampTz(found.since),
    ];
    rows.row(&row)
}

pub(super) fn archiver(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let since = Datum::TimestampTz((rows.system.counters)().since);
    let (none, zero) = (Datum::Null, Datum::Int8(0));
    rows.row(&[zero, none, none, zero, none, none, since])
}

pub(super) fn simple_caches(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let since = Datum::TimestampTz((rows.system.counters)().since);
    for name in [
        "CommitTs",
        "MultiXactMember",
        "MultiXactOffset",
        "Notify",
        "Serial",
        "Subtrans",
        "Xact",
        "other",
    ] {
        let mut row = [Datum::Int8(0); 9];
        row[0] = Datum::Text(name);
        row[8] = since;
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn prefetch(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let mut row = [Datum::Int8(0); 10];
    row[0] = Datum::TimestampTz((rows.system.counters)().since);
    row[7..].fill(Datum::Int4(0));
    rows.row(&row)
}
