//! `pg_current_xact_id`, `pg_current_snapshot`, `pg_xact_status` and their older names (manual, section 9.27.9), and the
//! log's places (section 9.27.3).

use super::Call;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::failure::invalid_parameter;
use crate::types::{Datum, SqlType, oids, record, xact};
use txn::{Lsn, XactStatus};

impl<'a> Call<'_, '_, '_, 'a> {
    /// Functions about numbers of transactions; none for those that are not answered.
    pub(super) fn transaction_function(&self, function: &str) -> Option<Result<Datum<'a>>> {
        let engine = self.session.engine;
        let number = |number: Option<u64>| {
            Ok(number.map_or(Datum::Null, |number| Datum::Int8(number.cast_signed())))
        };
        Some(match function {
            "pg_current_xact_id" | "txid_current" => number(engine.xact_id(true)),
            "pg_current_xact_id_if_assigned" | "txid_current_if_assigned" => {
                number(engine.xact_id(false))
            }
            "pg_current_snapshot" | "txid_current_snapshot" => {
                let found = engine.xact_snapshot();
                Ok(xact::store(self.context.arena, found.xmin, found.xmax, &found.running))
            }
            "pg_xact_status" | "txid_status" => self.xact_status(),
            _ => return None,
        })
    }

    fn xact_status(&self) -> Result<Datum<'a>> {
        let Some(Datum::Int8(number)) = self.arguments.first() else { return Ok(Datum::Null) };
        let number = number.cast_unsigned();
        Ok(match self.session.engine.xact_status(number) {
            XactStatus::InProgress => Datum::Text("in progress"),
            XactStatus::Committed => Datum::Text("committed"),
            XactStatus::Aborted => Datum::Text("aborted"),
            XactStatus::Forgotten => Datum::Null,
            XactStatus::Future => {
                let message = format!("transaction ID {number} is in the future");
                return Err(invalid_parameter(message));
            }
        })
    }

    /// Functions about the log; none for those that are not answered.
    pub(super) fn log_function(&self, function: &str) -> Option<Result<Datum<'a>>> {
        let log = self.session.catalog.manager().data().log();
        let place = |lsn: Lsn| Ok(Datum::Int8(lsn.0.cast_signed()));
        Some(match function {
            "pg_current_wal_insert_lsn" => place(log.tail()),
            // What has been written is synced at once.
            "pg_current_wal_lsn" | "pg_current_wal_flush_lsn" => place(log.durable()),
            "pg_walfile_name" | "pg_walfile_name_offset" => {
                let Some(Datum::Int8(lsn)) = self.arguments.first() else {
                    return Some(Ok(Datum::Null));
                };
                let (name, offset) = log.place_of(Lsn(lsn.cast_unsigned()));
                let name = self.text(&name);
                if function == "pg_walfile_name" {
                    return Some(Ok(name));
                }
                let offset = Datum::Int4(i32::try_from(offset).unwrap_or(i32::MAX));
                let fields =
                    [(SqlType::plain(oids::TEXT), name), (SqlType::plain(oids::INT4), offset)];
                let names = ["file_name".into(), "file_offset".into()];
                Ok(record::build_named(self.context.arena, &fields, names.iter()))
            }
            "pg_last_wal_receive_lsn"
            | "pg_last_wal_replay_lsn"
            | "pg_last_xact_replay_timestamp" => Ok(Datum::Null),
            "pg_is_wal_replay_paused"
            | "pg_wal_replay_pause"
            | "pg_wal_replay_resume"
            | "pg_get_wal_replay_pause_state"
            | "pg_promote" => Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "recovery is not in progress",
            )
            .hint("Recovery control functions can only be executed during recovery.")),
            "pg_xact_commit_timestamp"
            | "pg_xact_commit_timestamp_origin"
            | "pg_last_committed_xact" => Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "could not get commit timestamp data",
            )
            .hint("Make sure the configuration parameter \"track_commit_timestamp\" is set.")),
            _ => return None,
        })
    }
}
