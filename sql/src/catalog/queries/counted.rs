//! `pg_stat_get_*`: what is counted of tables, databases and the instance.
//!
//! Atoll counts for the whole instance; that is shown as the row of the objects that all databases share (OID 0), which is
//! where PostgreSQL counts what belongs to none. Tables are not counted; how many rows one has is read from its tree.

use super::Call;
use crate::catalog::builtin::Procedure;
use crate::error::Result;
use crate::types::{Datum, Oid, oids};

/// Whether a function is one of those.
pub(super) fn answers(function: &Procedure) -> bool {
    const VOID: u32 = 2278;
    let name = function.name;
    (name.starts_with("pg_stat_get_") && function.result != oids::RECORD)
        || function.result == VOID && name.starts_with("pg_stat_")
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// A counter, or what resets them.
    pub(super) fn counted(&self, function: &str) -> Result<Datum<'a>> {
        let engine = self.session.engine;
        if matches!(function, "pg_stat_reset" | "pg_stat_reset_shared") {
            engine.reset_counters();
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
                let table = self.session.snapshot.relation(self.oid(0));
                let rows = table.and_then(|table| engine.live_rows(table));
                Ok(Datum::Int8(rows.unwrap_or(0.0) as i64))
            }
            "checkpoint_write_time" | "checkpoint_sync_time" => Ok(Datum::Float8(0.0)),
            "snapshot_timestamp" => Ok(Datum::Null),
            _ if name.contains("function_") || name.ends_with("_time") => Ok(Datum::Null),
            _ => Ok(Datum::Int8(0)),
        }
    }

    fn of_database(&self, name: &str) -> Result<Datum<'a>> {
        let oid = self.oid(0);
        let shared = oid == Oid(0);
        let found = self.session.engine.counters();
        let count = |value: u64| {
            Ok(Datum::Int8(if shared { i64::try_from(value).unwrap_or(i64::MAX) } else { 0 }))
        };
        match name {
            "numbackends" => {
                let sessions = self.session.engine.activity();
                let here = sessions.iter().filter(|session| session.database == oid);
                Ok(Datum::Int4(here.count() as i32))
            }
            "xact_commit" => count(found.commits),
            "xact_rollback" => count(found.rollbacks),
            "blocks_fetched" => count(found.pages_read + found.pages_hit),
            "blocks_hit" => count(found.pages_hit),
            "deadlocks" => count(found.deadlocks),
            "stat_reset_time" if shared => Ok(Datum::TimestampTz(found.since)),
            "stat_reset_time" | "checksum_failures" | "checksum_last_failure" => Ok(Datum::Null),
            _ if name.ends_with("_time") => Ok(Datum::Float8(0.0)),
            _ => Ok(Datum::Int8(0)),
        }
    }

    fn of_backend(&self, name: &str) -> Datum<'a> {
        let Some(Datum::Int4(pid)) = self.arguments.first() else { return Datum::Null };
        let all = self.session.engine.activity();
        let found = all.iter().find(|session| i64::from(session.pid) == i64::from(*pid));
        let Some(found) = found else { return Datum::Null };
        let time = |at: Option<i64>| at.map_or(Datum::Null, Datum::TimestampTz);
        match name {
            "pid" => Datum::Int4(*pid),
            "dbid" => Datum::Oid(found.database.0),
            "userid" => Datum::Oid(found.user.0),
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
