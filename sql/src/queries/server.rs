//! Functions about the server, the session and its settings.

use super::Call;
use crate::catalog::RelationKind;
use crate::catalog::object::well_known;
use crate::catalog::trigger;
use crate::encoding::names::{ENCODINGS, encoding_number};
use crate::error::{Result, SqlError, cancel};
use crate::settings::session::demand_readable;
use crate::sqlstate::SqlState;
use crate::system::Activity;
use crate::types::{Datum, Oid, SqlType, network, oids, text_of};
use txn::WaitEvent;

/// UTF8's number among PostgreSQL's encodings.
const UTF8: i32 = 6;

/// How many views that stand on each other are looked through.
const VIEWS_MAX: u32 = 1000;

/// Bits of `pg_relation_is_updatable`: PostgreSQL's numbers of commands.
mod event {
    pub const UPDATE: i32 = 1 << 2;
    pub const INSERT: i32 = 1 << 3;
    pub const DELETE: i32 = 1 << 4;
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// Functions without a file of their own; none for those that are not answered.
    pub(super) fn server_function(&self, function: &str) -> Option<Result<Datum<'a>>> {
        let session = self.session;
        Some(match function {
            "version" => Ok(self.text(&session.engine.version())),
            "pg_backend_pid" => Ok(Datum::Int4(session.pid() as i32)),
            "pg_postmaster_start_time" => Ok(Datum::TimestampTz(session.engine.start_time())),
            "pg_is_in_recovery" | "pg_is_other_temp_schema" => Ok(Datum::Bool(false)),
            "pg_conf_load_time" => Ok(Datum::TimestampTz(session.engine.configured())),
            "current_query" => Ok(self.optional(session.engine.query().as_deref())),
            // Nothing is compiled while it runs.
            "pg_jit_available" => Ok(Datum::Bool(false)),
            "pg_event_trigger_table_rewrite_oid" | "pg_event_trigger_table_rewrite_reason" => {
                self.event_rewrite(function)
            }
            "pg_trigger_depth" => Ok(Datum::Int4(session.engine.trigger_depth() as i32)),
            "pg_my_temp_schema" => {
                let own = session.snapshot.temporary_schema();
                Ok(Datum::Oid(own.map_or(0, |schema| schema.oid.0)))
            }
            "pg_tablespace_location" => Ok(Datum::Text("")),
            "pg_client_encoding" => {
                Ok(self.text(&session.settings.read(|settings| settings.text("client_encoding"))))
            }
            "getdatabaseencoding" => Ok(Datum::Text("UTF8")),
            "pg_encoding_to_char" => Ok(self.encoding_name()),
            "pg_char_to_encoding" => Ok(self.encoding_number()),
            "pg_encoding_max_length" => Ok(match self.arguments.first() {
                Some(Datum::Int4(UTF8)) => Datum::Int4(4),
                _ => Datum::Int4(1),
            }),
            "pg_relation_is_publishable" => {
                let oid = self.oid(0);
                let table = session.snapshot.relation(oid).is_some_and(|relation| {
                    matches!(relation.kind, RelationKind::Table { .. })
                        && relation.persistence == 'p'
                });
                Ok(Datum::Bool(table))
            }
            "pg_relation_is_updatable" => {
                let by_triggers = self.flag(1);
                Ok(Datum::Int4(self.events_taken(self.oid(0), &|_| true, by_triggers, 0)))
            }
            "pg_column_is_updatable" => {
                let column = match self.arguments.get(1) {
                    Some(Datum::Int2(number)) => usize::try_from(*number - 1).ok(),
                    _ => None,
                };
                let needed = event::UPDATE | event::DELETE;
                let by_triggers = self.flag(2);
                let taken = column.map(|column| {
                    self.events_taken(self.oid(0), &|one| one == column, by_triggers, 0) & needed
                });
                Ok(Datum::Bool(taken == Some(needed)))
            }
            "inet_client_addr" => Ok(network::host(self.context.arena, self.client_address())),
            "inet_client_port" => Ok(match self.own_activity() {
                Some(own) if own.client_address.is_some() => Datum::Int4(own.client_port),
                _ => Datum::Null,
            }),
            "inet_server_addr" => {
                let address = self.server_address().map(|address| address.ip());
                Ok(network::host(self.context.arena, address))
            }
            "inet_server_port" => Ok(match self.server_address() {
                Some(address) => Datum::Int4(i32::from(address.port())),
                None => Datum::Null,
            }),
            "current_setting" => self.current_setting(),
            "set_config" => self.set_config(),
            "set_limit" => self.set_similarity_limit(),
            "show_limit" => Ok(self.similarity_limit()),
            "pg_notify" => {
                session.engine.notify(self.str(0), self.str(1)).map(|()| Datum::Text(""))
            }
            "pg_export_snapshot" => session.engine.export_snapshot().map(|name| self.text(&name)),
            "pg_notification_queue_usage" => Ok(Datum::Float8(session.engine.notification_usage())),
            "pg_reload_conf" => Ok(Datum::Bool(session.engine.reload())),
            "pg_cancel_backend" => self.signal(cancel::USER),
            "pg_terminate_backend" => self.signal(cancel::TERMINATE),
            _ => return None,
        })
    }

    fn own_activity(&self) -> Option<Activity> {
        let session = &self.session;
        session.engine.activity().into_iter().find(|one| one.pid == session.pid())
    }

    fn client_address(&self) -> Option<std::net::IpAddr> {
        self.own_activity().and_then(|own| own.client_address)
    }

    fn server_address(&self) -> Option<std::net::SocketAddr> {
        self.own_activity().and_then(|own| own.server)
    }

    /// What a relation may be target of, as far as values go to these of its columns, by index: a table of everything, a
    /// simple view of what its base is of, and of nothing but DELETE if none of the columns takes a value; with `by_triggers`
    /// a view also of what it has INSTEAD OF triggers for (`relation_is_updatable`).
    fn events_taken(
        &self,
        oid: Oid,
        asked: &dyn Fn(usize) -> bool,
        by_triggers: bool,
        depth: u32,
    ) -> i32 {
        let Some(relation) = self.session.snapshot.relation(oid) else { return 0 };
        match relation.kind {
            RelationKind::Table { .. } if relation.stored_query.is_some() => 0,
            RelationKind::Table { .. } | RelationKind::System => {
                event::UPDATE | event::INSERT | event::DELETE
            }
            RelationKind::View { .. } if depth < VIEWS_MAX => {
                let events = [
                    (trigger::UPDATE, event::UPDATE),
                    (trigger::INSERT, event::INSERT),
                    (trigger::DELETE, event::DELETE),
                ];
                let fired = events.iter().filter(|one| relation.is_changed_by_triggers(one.0));
                let fired: i32 = fired.filter(|_| by_triggers).map(|one| one.1).sum();
                let (engine, context) = (self.session.engine, self.context);
                let simple = engine.simple_view(self.session, context, relation);
                let Some((base, columns)) = simple else { return fired };
                let taken = columns.iter().enumerate().filter(|(own, _)| asked(*own));
                let behind: Vec<usize> = taken.filter_map(|(_, column)| *column).collect();
                let asked = |column| behind.contains(&column);
                let base = self.events_taken(base, &asked, by_triggers, depth + 1);
                fired | if behind.is_empty() { base & event::DELETE } else { base }
            }
            RelationKind::View { .. } | RelationKind::Sequence(_) | RelationKind::Composite => 0,
        }
    }

    fn encoding_name(&self) -> Datum<'a> {
        let name = match self.arguments.first() {
            Some(Datum::Int4(number)) => {
                usize::try_from(*number).ok().and_then(|number| ENCODINGS.get(number))
            }
            _ => None,
        };
        self.text(name.copied().unwrap_or(""))
    }

    fn encoding_number(&self) -> Datum<'a> {
        let found = encoding_number(self.str(0));
        Datum::Int4(found.map_or(-1, |number| number as i32))
    }

    fn current_setting(&self) -> Result<Datum<'a>> {
        let name = self.str(0);
        let shared = self.session.snapshot.shared();
        demand_readable(
            name,
            shared.has_privileges_of(self.session.user(), well_known::READ_ALL_SETTINGS),
        )?;
        match self.session.settings.read(|settings| settings.show_or_fail(name, true)) {
            Ok(value) => Ok(self.text(&value)),
            Err(_) if self.flag(1) => Ok(Datum::Null),
            Err(unknown) => Err(unknown),
        }
    }

    fn set_config(&self) -> Result<Datum<'a>> {
        let Some(Datum::Text(name)) = self.arguments.first() else {
            return Err(SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "SET requires parameter name",
            ));
        };
        let value = match self.arguments.get(1) {
            Some(Datum::Text(value)) => Some(*value),
            _ => None,
        };
        let (snapshot, local) = (self.session.snapshot, self.flag(2));
        let notices = &mut self.context.notices.borrow_mut();
        let shown = self.session.settings.set(snapshot, (name, value), local, notices)?;
        Ok(self.text(&shown))
    }

    /// `set_limit` of `pg_trgm`: sets the threshold, and says what it is then.
    fn set_similarity_limit(&self) -> Result<Datum<'a>> {
        let Some(limit) = self.arguments.first() else { return Ok(Datum::Null) };
        let text = text_of(self.context, SqlType::plain(oids::FLOAT4), limit)?;
        let snapshot = self.session.snapshot;
        let setting = ("pg_trgm.similarity_threshold", Some(text));
        let notices = &mut self.context.notices.borrow_mut();
        self.session.settings.set(snapshot, setting, false, notices)?;
        Ok(self.similarity_limit())
    }

    /// `show_limit` of `pg_trgm`.
    fn similarity_limit(&self) -> Datum<'a> {
        let limit = self.session.settings.read(|now| now.plain().values.similarity_threshold());
        Datum::Float4(limit as f32)
    }

    fn signal(&self, reason: u32) -> Result<Datum<'a>> {
        let Some(Datum::Int4(pid)) = self.arguments.first() else { return Ok(Datum::Null) };
        let timeout = match self.arguments.get(1) {
            Some(Datum::Int8(timeout)) => *timeout,
            _ => 0,
        };
        let Ok(timeout) = u64::try_from(timeout) else {
            return Err(SqlError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                "\"timeout\" must not be negative",
            ));
        };
        let found = self.session.engine.activity();
        let is_meant = |one: &&Activity| one.is_client() && i64::from(one.pid) == i64::from(*pid);
        let target = found.iter().find(is_meant);
        let Some(target) = target else {
            let message = format!("PID {pid} is not a PostgreSQL backend process");
            self.context.notices.borrow_mut().push(SqlError::warning(SqlState::WARNING, message));
            return Ok(Datum::Bool(false));
        };
        let shared = self.session.snapshot.shared();
        let superuser = |oid: Oid| shared.role_by_oid(oid).is_some_and(|role| role.superuser);
        let (word, done) = match reason {
            cancel::USER => ("cancel", "canceled"),
            _ => ("terminate", "terminated"),
        };
        if superuser(target.user) && !superuser(self.session.user()) {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("must be a superuser to {word} superuser {}", object(reason)),
            ));
        }
        let may = |role| shared.has_privileges_of(self.session.user(), role);
        if !may(target.user) && !may(SIGNAL_BACKEND) {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!(
                    "must be a member of the role whose {} is being {done} or member of pg_signal_backend",
                    object(reason)
                ),
            ));
        }
        let engine = self.session.engine;
        let told = engine.signal(target.pid, reason);
        if !told || timeout == 0 {
            return Ok(Datum::Bool(told));
        }
        let end = engine.now().plus(txn::Micros(timeout.saturating_mul(1000)));
        loop {
            if engine.activity().iter().all(|session| session.pid != target.pid) {
                return Ok(Datum::Bool(true));
            }
            let now = engine.now();
            if now >= end {
                let message = format!(
                    "backend with PID {pid} did not terminate within {timeout} milliseconds"
                );
                let warning = SqlError::warning(SqlState::WARNING, message);
                self.context.notices.borrow_mut().push(warning);
                return Ok(Datum::Bool(false));
            }
            engine.pause(WaitEvent::Termination, now.plus(LOOK_AGAIN).min(end))?;
        }
    }

    /// `pg_sleep` and its kin: for so many seconds or so long, or until then.
    pub(super) fn sleep(&self) -> Result<Datum<'a>> {
        let wall = self.context.clock.wall();
        let micros = match self.arguments.first() {
            // What is no number or past ends at once, as in PostgreSQL.
            Some(Datum::Float8(seconds)) => (seconds * 1e6).max(0.0) as u64,
            Some(Datum::Interval(interval)) => {
                let zone = crate::types::datetime::functions::session_zone(self.context);
                let end = crate::types::datetime::arithmetic::add_in_zone(wall, interval, &zone)?;
                u64::try_from(end.saturating_sub(wall)).unwrap_or(0)
            }
            Some(Datum::TimestampTz(end)) => u64::try_from(end.saturating_sub(wall)).unwrap_or(0),
            _ => 0,
        };
        if micros > 0 {
            let engine = self.session.engine;
            engine.pause(WaitEvent::Sleep, engine.now().plus(txn::Micros(micros)))?;
        }
        Ok(Datum::Text(""))
    }
}

/// How long to wait before it is looked again whether a session has ended.
const LOOK_AGAIN: txn::Micros = txn::Micros(10_000);

/// The role `pg_signal_backend`.
const SIGNAL_BACKEND: Oid = Oid(4200);

/// What is cancelled or terminated, in an error's words.
fn object(reason: u32) -> &'static str {
    if reason == cancel::USER { "query" } else { "process" }
}
