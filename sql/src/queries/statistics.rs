//! `pg_stat_get_activity` and the other functions under the views of statistics that give rows (manual, section 28.2):
//! sessions, progress, the log, the archive, and what Atoll has none of.
//!
//! PostgreSQL's views are its own definitions over these functions. Who may not know what a session does (others'
//! statements are for who may act as them, or may read all statistics) is told so in the place of its statement.

use super::Call;
use crate::catalog::object::well_known;
use crate::catalog::relation_counts::endings::Endings;
use crate::catalog::{PreparedNote, builtin};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::system::{Activity, Encryption, PeerCertificate};
use crate::types::failure::invalid_parameter;
use crate::types::{Datum, Oid, SqlType, network, oids, read_text, record};
use std::collections::BTreeMap;
use txn::Abort;

/// Takes a row; false ends them.
pub(super) type Emit<'e, 'a> = dyn FnMut(&[Datum<'a>]) -> Result<bool> + 'e;

/// What stands in the place of a statement that is not for who asks.
pub(super) const INSUFFICIENT: &str = "<insufficient privilege>";

fn count<'a>(value: u64) -> Datum<'a> {
    Datum::Int8(i64::try_from(value).unwrap_or(i64::MAX))
}

fn time<'a>(at: Option<i64>) -> Datum<'a> {
    at.map_or(Datum::Null, Datum::TimestampTz)
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// The row of a function with OUT arguments, as the record that it returns.
    pub(super) fn out_row(&self, function: u32, values: &[Datum<'a>]) -> Datum<'a> {
        let columns = builtin::function(function).into_iter().flat_map(|it| it.output_columns());
        let (names, types): (Vec<_>, Vec<_>) =
            columns.map(|(name, ty)| (name.into(), SqlType::plain(ty))).unzip();
        let fields: Vec<(SqlType, Datum<'_>)> =
            types.into_iter().zip(values.iter().copied()).collect();
        record::build_named(self.context.arena, &fields, names.iter())
    }

    /// Whether who asks may know what a session does. What is nobody's session is for who may read all statistics.
    pub(super) fn is_open(&self, session: &Activity) -> bool {
        let shared = self.session.snapshot.shared();
        let asking = self.session.user();
        shared.has_privileges_of(asking, well_known::READ_ALL_STATS)
            || session.user != Oid(0) && shared.has_privileges_of(asking, session.user)
    }

    /// `pg_stat_get_activity`: one session, or all.
    pub(super) fn sessions(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        let asked = match self.arguments.first() {
            // PostgreSQL's own mark of all is a number that may be given, too.
            None | Some(Datum::Null | Datum::Int4(-1)) => None,
            Some(Datum::Int4(pid)) => Some(i64::from(*pid)),
            Some(_) => None,
        };
        for found in self.session.engine.activity() {
            if asked.is_none_or(|pid| pid == i64::from(found.pid))
                && !emit(&self.session_row(&found))?
            {
                break;
            }
        }
        Ok(())
    }

    fn session_row(&self, found: &Activity) -> [Datum<'a>; 30] {
        let optional = |oid: Oid| if oid.0 == 0 { Datum::Null } else { Datum::Oid(oid.0) };
        let mut row = [Datum::Null; 30];
        row[0] = optional(found.database);
        row[1] = Datum::Int4(found.pid.cast_signed());
        row[2] = optional(found.user);
        row[3] = self.text(&found.application_name);
        if !self.is_open(found) {
            row[5] = Datum::Text(INSUFFICIENT);
            return row;
        }
        if found.is_client() {
            row[4] = Datum::Text(found.state);
        }
        row[5] = self.text(&found.query);
        row[6] = self.optional(found.wait.map(|wait| wait.0));
        row[7] = self.optional(found.wait.map(|wait| wait.1));
        row[8] = time(found.transaction_start);
        row[9] = time(found.query_start);
        row[10] = time(Some(found.backend_start));
        row[11] = time(found.state_change);
        row[12] = network::host(self.context.arena, found.client_address);
        if found.is_client() {
            row[14] = Datum::Int4(found.client_port);
        }
        row[15] = found.xact_id.map_or(Datum::Null, |id| Datum::Oid(id as u32));
        row[17] = Datum::Text(found.kind);
        row[18] = Datum::Bool(found.encryption.is_some());
        if let Some(Encryption { version, cipher, bits, certificate }) = &found.encryption {
            row[19] = Datum::Text(version);
            row[20] = Datum::Text(cipher);
            row[21] = Datum::Int4(*bits);
            if let Some(PeerCertificate { subject, serial, issuer }) = certificate {
                row[22] = self.text(subject);
                // A number of any length, which its text is read as.
                row[23] = read_text(self.context, SqlType::plain(oids::NUMERIC), serial)
                    .unwrap_or(Datum::Null);
                row[24] = self.text(issuer);
            }
        }
        row[29] = match found.statement {
            0 => Datum::Null,
            number => Datum::Int8(number),
        };
        // Nobody comes by GSSAPI.
        (row[25], row[27]) = (Datum::Bool(false), Datum::Bool(false));
        row
    }

    /// `pg_stat_get_backend_idset`: what `pg_stat_get_backend_*` know sessions by. It is their process number.
    pub(super) fn session_numbers(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        for found in self.session.engine.activity() {
            if !emit(&[Datum::Int4(found.pid.cast_signed())])? {
                break;
            }
        }
        Ok(())
    }

    /// Functions of this file that give one row; none for those that are not answered.
    pub(super) fn statistics_record(&self, function: &str) -> Option<Result<Datum<'a>>> {
        let counters = || self.session.engine.counters();
        Some(Ok(match function {
            "pg_stat_get_wal" => match self.log_row() {
                Ok(row) => self.out_row(GET_WAL, &row),
                Err(error) => return Some(Err(error)),
            },
            "pg_stat_get_archiver" => {
                let since = counters().since;
                let row = match self.session.catalog.manager().data().log().archive_counters() {
                    Some(found) => {
                        let name = |last: &Option<(String, i64)>| {
                            self.optional(last.as_ref().map(|last| &*last.0))
                        };
                        let at = |last: &Option<(String, i64)>| time(last.as_ref().map(|it| it.1));
                        [
                            count(found.archived),
                            name(&found.last_archived),
                            at(&found.last_archived),
                            count(found.failed),
                            name(&found.last_failed),
                            at(&found.last_failed),
                            Datum::TimestampTz(since),
                        ]
                    }
                    None => {
                        let (none, zero) = (Datum::Null, Datum::Int8(0));
                        [zero, none, none, zero, none, none, Datum::TimestampTz(since)]
                    }
                };
                self.out_row(GET_ARCHIVER, &row)
            }
            // There are no standbys, slots and subscriptions.
            "pg_stat_get_wal_receiver" => Datum::Null,
            "pg_stat_get_replication_slot" => {
                let mut row = [Datum::Int8(0); 10];
                row[0] = self.text(self.str(0));
                row[9] = Datum::Null;
                self.out_row(GET_REPLICATION_SLOT, &row)
            }
            "pg_stat_get_subscription_stats" => {
                let (zero, none) = (Datum::Int8(0), Datum::Null);
                self.out_row(GET_SUBSCRIPTION_STATS, &[Datum::Oid(self.oid(0).0), zero, zero, none])
            }
            "pg_stat_have_stats" => return Some(self.has_statistics()),
            _ => return None,
        }))
    }

    fn log_row(&self) -> Result<[Datum<'a>; 9]> {
        let found = self.session.engine.counters();
        let bytes =
            read_text(self.context, SqlType::plain(oids::NUMERIC), &found.log_bytes.to_string())?;
        Ok([
            count(found.log_records),
            Datum::Int8(0),
            bytes,
            count(found.log_full_waits),
            count(found.log_writes),
            count(found.log_syncs),
            Datum::Float8(0.0),
            Datum::Float8(found.log_sync_us as f64 / 1000.0),
            Datum::TimestampTz(found.since),
        ])
    }

    fn has_statistics(&self) -> Result<Datum<'a>> {
        let (kind, database, object) = (self.str(0), self.oid(1), self.oid(2));
        Ok(Datum::Bool(match kind {
            "archiver" | "bgwriter" | "checkpointer" | "slru" | "wal" => {
                (database, object) == (Oid(0), Oid(0))
            }
            "database" => {
                let shared = self.session.snapshot.shared();
                object == Oid(0)
                    && (database == Oid(0) || shared.database_by_oid(database).is_some())
            }
            "relation" => self.seen().is_some_and(|seen| seen.relations.contains_key(&object)),
            "function" | "replslot" | "subscription" => false,
            _ => return Err(invalid_parameter(format!("invalid statistics kind: \"{kind}\""))),
        }))
    }

    /// `pg_stat_get_atoll_concurrency`: a row for each database and each scheme that it has, or has had.
    pub(super) fn endings(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        let seen = self.seen();
        let mut all: BTreeMap<(Oid, &str), Endings> = BTreeMap::new();
        for database in self.session.snapshot.shared().databases() {
            all.insert((database.oid, database.concurrency_control.name()), Endings::default());
        }
        for ((database, scheme), endings) in seen.iter().flat_map(|seen| &seen.endings) {
            all.insert((*database, scheme.name()), *endings);
        }
        for ((database, scheme), endings) in all {
            let reset = seen.as_ref().and_then(|seen| seen.databases.get(&database)?.reset);
            let mut row = vec![Datum::Oid(database.0), Datum::Text(scheme), count(endings.begun)];
            row.push(count(endings.committed));
            row.extend(Abort::ALL.map(|reason| count(endings.aborted(reason))));
            row.push(count(endings.lock_waits));
            row.push(Datum::Float8(endings.lock_wait_us as f64 / 1000.0));
            row.push(time(reset));
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_stat_get_slru`: PostgreSQL's caches of small logs, which Atoll does not have.
    pub(super) fn simple_caches(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        let since = Datum::TimestampTz(self.session.engine.counters().since);
        const NAMES: [&str; 8] = [
            "CommitTs",
            "MultiXactMember",
            "MultiXactOffset",
            "Notify",
            "Serial",
            "Subtrans",
            "Xact",
            "other",
        ];
        for name in NAMES {
            let mut row = [Datum::Int8(0); 9];
            row[0] = Datum::Text(name);
            row[8] = since;
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_stat_get_recovery_prefetch`: nothing is read ahead.
    pub(super) fn prefetch(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        let mut row = [Datum::Int8(0); 10];
        row[0] = Datum::TimestampTz(self.session.engine.counters().since);
        row[7..].fill(Datum::Int4(0));
        emit(&row).map(|_| ())
    }

    /// `pg_stat_get_progress_info`: sessions that are at a command of this name.
    pub(super) fn progress(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        const COMMANDS: [&str; 6] =
            ["VACUUM", "ANALYZE", "CLUSTER", "CREATE INDEX", "BASEBACKUP", "COPY"];
        let asked = self.str(0);
        let Some(command) = COMMANDS.iter().find(|known| known.eq_ignore_ascii_case(asked)) else {
            return Err(invalid_parameter(format!("invalid command name: \"{asked}\"")));
        };
        for found in self.session.engine.activity() {
            let Some(progress) = found.progress.filter(|one| one.command == *command) else {
                continue;
            };
            let mut row = [Datum::Null; 23];
            row[0] = Datum::Int4(found.pid.cast_signed());
            row[1] = Datum::Oid(found.database.0);
            if self.is_open(&found) {
                row[2] = Datum::Oid(progress.relation.0);
                for (place, value) in row[3..].iter_mut().zip(progress.figures) {
                    *place = Datum::Int8(value);
                }
            }
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_prepared_xact`: number, name, when, by whom and where a transaction was prepared.
    pub(super) fn prepared_transactions(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        for found in self.session.catalog.manager().prepared() {
            let note = PreparedNote::decode(&found.note)?;
            let row = [
                Datum::Oid(found.txn.0 as u32),
                self.text(&String::from_utf8_lossy(&found.name)),
                Datum::TimestampTz(found.wall),
                Datum::Oid(note.user.0),
                Datum::Oid(note.database.0),
            ];
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_ls_replslotdir`: there are no slots.
    pub(super) fn no_slot(&self) -> SqlError {
        let message = format!("replication slot \"{}\" does not exist", self.str(0));
        SqlError::new(SqlState::UNDEFINED_OBJECT, message)
    }
}

const GET_WAL: u32 = 1136;
const GET_ARCHIVER: u32 = 3195;
const GET_REPLICATION_SLOT: u32 = 6169;
const GET_SUBSCRIPTION_STATS: u32 = 6231;
