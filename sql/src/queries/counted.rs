//! `pg_stat_get_*`: what is counted of tables, databases and the instance.
//!
//! Pages and the log are counted for the whole instance; that is shown as the row of the objects that all databases share
//! (OID 0), which is where PostgreSQL counts what belongs to none. Transactions, scans and rows are counted by
//! [`crate::catalog::relation_counts`]; how many rows a table has is estimated from its
//! tree until somebody has counted them.

use super::Call;
use super::statistics::INSUFFICIENT;
use crate::catalog::relation_counts::cluster::{RelationCounts, Seen};
use crate::catalog::relation_counts::{Counts, Event};
use crate::catalog::{CatalogSnapshot, object::well_known};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::system::SessionTimes;
use crate::types::{Datum, Oid};
use std::sync::Arc;

/// The event that a function counts, by what follows its prefix.
fn event(name: &str) -> Option<Event> {
    Some(match name {
        "numscans" => Event::Scanned,
        "tuples_returned" => Event::Returned,
        "tuples_fetched" => Event::Fetched,
        "tuples_inserted" => Event::Inserted,
        "tuples_updated" => Event::Updated,
        "tuples_hot_updated" => Event::UpdatedAlone,
        "tuples_deleted" => Event::Deleted,
        _ => return None,
    })
}

fn time<'a>(at: Option<i64>) -> Datum<'a> {
    at.map_or(Datum::Null, Datum::TimestampTz)
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// A counter, or what resets them.
    pub(super) fn counted(&self, function: &str) -> Result<Datum<'a>> {
        let engine = self.session.engine;
        let counts = engine.counts();
        let now = self.context.clock.wall();
        match function {
            "pg_stat_reset" => {
                engine.reset_counters();
                engine.reset_session_times(self.session.snapshot.database_oid());
                counts.iter().for_each(|counts| counts.reset(None, now));
            }
            "pg_stat_reset_shared" => {
                let target = self.str(0);
                if !["archiver", "bgwriter", "recovery_prefetch", "wal"].contains(&target) {
                    let message = format!("unrecognized reset target: \"{target}\"");
                    return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message).hint(
                        "Target must be \"archiver\", \"bgwriter\", \"recovery_prefetch\", or \"wal\".",
                    ));
                }
                engine.reset_counters();
            }
            "pg_stat_reset_replication_slot" => {
                let message = format!("replication slot \"{}\" does not exist", self.str(0));
                return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
            }
            "pg_stat_reset_single_table_counters" => {
                counts.iter().for_each(|counts| counts.reset(Some(self.oid(0)), now));
            }
            "pg_stat_reset_single_function_counters" => {
                counts.iter().for_each(|counts| counts.reset_function(self.oid(0)));
            }
            "pg_stat_clear_snapshot" => counts.iter().for_each(|counts| counts.forget_seen()),
            _ => {}
        }
        let Some(name) = function.strip_prefix("pg_stat_get_") else { return Ok(Datum::Text("")) };
        let count = |value: u64| Ok(Datum::Int8(i64::try_from(value).unwrap_or(i64::MAX)));
        let found = engine.counters();
        if let Some(of_database) = name.strip_prefix("db_") {
            return self.of_database(of_database);
        }
        if let Some(of_backend) = name.strip_prefix("backend_") {
            return Ok(self.of_backend(of_backend));
        }
        match name {
            "bgwriter_requested_checkpoints" => count(found.checkpoints),
            "bgwriter_buf_written_checkpoints" => count(found.pages_written),
            "buf_alloc" => count(found.pages_placed),
            "bgwriter_stat_reset_time" => Ok(Datum::TimestampTz(found.since)),
            "live_tuples" => {
                let table = || self.session.snapshot.relation(self.oid(0));
                let estimate = || table().and_then(|table| engine.live_rows(table));
                let counted = self.of_relation().live;
                count(counted.unwrap_or_else(|| estimate().unwrap_or(0.0) as u64))
            }
            "dead_tuples" => count(self.of_relation().counts[Event::Died]),
            "mod_since_analyze" => count(self.of_relation().counts[Event::Changed]),
            "ins_since_vacuum" => count(self.of_relation().inserted_since_vacuum),
            "vacuum_count" => count(self.of_relation().vacuums.asked.0),
            "autovacuum_count" => count(self.of_relation().vacuums.automatic.0),
            "analyze_count" => count(self.of_relation().analyzes.asked.0),
            "autoanalyze_count" => count(self.of_relation().analyzes.automatic.0),
            "last_vacuum_time" => Ok(time(self.of_relation().vacuums.asked.1)),
            "last_autovacuum_time" => Ok(time(self.of_relation().vacuums.automatic.1)),
            "last_analyze_time" => Ok(time(self.of_relation().analyzes.asked.1)),
            "last_autoanalyze_time" => Ok(time(self.of_relation().analyzes.automatic.1)),
            "checkpoint_write_time" | "checkpoint_sync_time" => Ok(Datum::Float8(0.0)),
            "snapshot_timestamp" => Ok(Datum::Null),
            _ if name.contains("function_") => Ok(self.of_function(name)),
            _ if name.ends_with("_time") => Ok(Datum::Null),
            _ => {
                let (name, counts) = match name.strip_prefix("xact_") {
                    Some(name) => {
                        (name, counts.map_or_else(Counts::default, |own| own.running(self.oid(0))))
                    }
                    None => (name, self.of_relation().counts),
                };
                count(event(name).map_or(0, |event| counts[event]))
            }
        }
    }

    /// What transactions that have ended have counted.
    pub(super) fn seen(&self) -> Option<Arc<Seen>> {
        let counts = self.session.engine.counts()?;
        let consistency = self.session.settings.read(|now| now.text("stats_fetch_consistency"));
        Some(counts.seen(&*consistency == "none"))
    }

    /// What has been counted of the relation that is the argument.
    fn of_relation(&self) -> RelationCounts {
        let oid = self.oid(0);
        let seen = self.seen().and_then(|seen| seen.relations.get(&oid).copied());
        let is = |snapshot: &CatalogSnapshot| snapshot.whole(oid).is_some();
        seen.filter(|_| self.is_kept(oid, &is)).unwrap_or_default()
    }

    /// Whether an object is there, to the session or to others: what is dropped goes with its counts when that is committed.
    fn is_kept(&self, oid: Oid, is: &dyn Fn(&CatalogSnapshot) -> bool) -> bool {
        let (session, database) = (self.session, self.session.snapshot.database_oid());
        let committed = || session.catalog.snapshot(database).as_ref().is_some_and(is);
        oid.0 < well_known::FIRST_NORMAL || is(session.snapshot) || committed()
    }

    /// What has been counted of the function that is the argument; nothing where it was not called.
    fn of_function(&self, name: &str) -> Datum<'a> {
        let function = self.oid(0);
        let counts = self.session.engine.counts();
        let (name, count) = match name.strip_prefix("xact_") {
            Some(name) => (name, counts.and_then(|own| own.running_function(function))),
            None => {
                let is = |snapshot: &CatalogSnapshot| snapshot.routine(function).is_some();
                let seen = self.seen().and_then(|seen| seen.functions.get(&function).copied());
                (name, seen.filter(|_| self.is_kept(function, &is)))
            }
        };
        let Some(count) = count else { return Datum::Null };
        let millis = |micros: u64| Datum::Float8(micros as f64 / 1000.0);
        match name {
            "function_calls" => Datum::Int8(count.calls.cast_signed()),
            "function_total_time" => millis(count.total_us),
            _ => millis(count.own_us),
        }
    }

    fn of_database(&self, name: &str) -> Result<Datum<'a>> {
        let oid = self.oid(0);
        let shared = oid == Oid(0);
        let found = self.session.engine.counters();
        let whole = |value: u64| Datum::Int8(i64::try_from(value).unwrap_or(i64::MAX));
        let count = |value: u64| Ok(if shared { whole(value) } else { Datum::Int8(0) });
        let millis = |micros: i64| Ok(Datum::Float8(micros as f64 / 1000.0));
        let times = || match shared {
            true => SessionTimes::default(),
            false => self.session.engine.session_times(Some(oid)),
        };
        // What no session's statement has used was for what all databases share.
        let pages = || match shared {
            true => {
                let all = self.session.engine.session_times(None);
                let hit = found.pages_hit.saturating_sub(all.pages_hit);
                (hit, found.pages_read.saturating_sub(all.pages_read))
            }
            false => {
                let own = times();
                (own.pages_hit, own.pages_read)
            }
        };
        let of_relations = || {
            let seen = self.seen();
            let found = seen.and_then(|seen| seen.databases.get(&oid).copied());
            found.unwrap_or_default()
        };
        match name {
            "numbackends" => {
                let sessions = self.session.engine.activity();
                let here = sessions.iter().filter(|session| session.database == oid);
                Ok(Datum::Int4(here.count() as i32))
            }
            "xact_commit" => Ok(whole(of_relations().committed)),
            "xact_rollback" => Ok(whole(of_relations().rolled_back)),
            "blocks_fetched" => {
                let (hit, read) = pages();
                Ok(whole(hit + read))
            }
            "blocks_hit" => Ok(whole(pages().0)),
            "sessions" => Ok(Datum::Int8(times().sessions)),
            "session_time" => millis(times().session_us),
            "active_time" => millis(times().active_us),
            "idle_in_transaction_time" => millis(times().idle_us),
            "blk_read_time" => millis(times().read_us.cast_signed()),
            "blk_write_time" => millis(times().written_us.cast_signed()),
            "temp_files" => Ok(whole(times().temp_files)),
            "temp_bytes" => Ok(whole(times().temp_bytes)),
            "deadlocks" => count(found.deadlocks),
            "stat_reset_time" if shared => Ok(Datum::TimestampTz(found.since)),
            "stat_reset_time" => Ok(time(of_relations().reset)),
            "checksum_failures" | "checksum_last_failure" => Ok(Datum::Null),
            _ if name.ends_with("_time") => Ok(Datum::Float8(0.0)),
            _ => Ok(whole(event(name).map_or(0, |event| of_relations().counts[event]))),
        }
    }

    fn of_backend(&self, name: &str) -> Datum<'a> {
        let Some(Datum::Int4(pid)) = self.arguments.first() else { return Datum::Null };
        let all = self.session.engine.activity();
        let found = all.iter().find(|session| i64::from(session.pid) == i64::from(*pid));
        let Some(found) = found else {
            return match name {
                "activity" => Datum::Text("<backend information not available>"),
                _ => Datum::Null,
            };
        };
        if !matches!(name, "pid" | "dbid" | "userid") && !self.is_open(found) {
            return match name {
                "activity" => Datum::Text(INSUFFICIENT),
                _ => Datum::Null,
            };
        }
        match name {
            "pid" => Datum::Int4(*pid),
            "dbid" => Datum::Oid(found.database.0),
            "userid" => Datum::Oid(found.user.0),
            "activity" if found.query.is_empty() => Datum::Text("<command string not enabled>"),
            "activity" => self.text(&found.query),
            "start" => time(Some(found.backend_start)),
            "activity_start" => time(found.query_start),
            "xact_start" => time(found.transaction_start),
            "client_addr" => crate::types::network::host(self.context.arena, found.client_address),
            "client_port" => Datum::Int4(found.client_port),
            "wait_event_type" => self.optional(found.wait.map(|wait| wait.0)),
            "wait_event" => self.optional(found.wait.map(|wait| wait.1)),
            _ => Datum::Null,
        }
    }
}
