//! What the instance has counted: `pg_stat_wal` and its kin tell of it. What Atoll has none of counts 0, as on a PostgreSQL
//! that was just started.

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
    /// Records that had to wait for room in the log's buffer.
    pub log_full_waits: u64,
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
            log_full_waits: self.log_full_waits.saturating_sub(base.log_full_waits),
            since: base.since,
        }
    }
}
