//! Functions that ask the catalog or the session: `format_type`, `pg_get_indexdef`, `has_table_privilege`, `nextval`, and
//! the texts of `regclass` and its kin.
//!
//! [`SessionCatalog`] is what one statement may ask: the snapshot it runs in, its user, its settings. Functions are known
//! by their `pg_proc` row; [`session_functions`](crate::types::session_functions) says, when a plan is made, which ones are
//! answered here.

mod addresses;
mod advisory;
pub mod backup;
mod breakdowns;
mod counted;
mod definitions;
pub mod event;
mod files;
pub mod identity;
mod instance;
mod memory;
mod names;
mod privileges;
mod properties;
pub mod running;
mod sequences;
mod server;
pub mod sets;
mod sizes;
mod statements;
mod statistics;
mod transactions;

use crate::breakdown;
use crate::catalog::acl::Privileges;
use crate::catalog::builtin;
use crate::catalog::quote::quoting;
use crate::catalog::relation::RelationKind;
use crate::catalog::relation_counts::SessionCounts;
use crate::catalog::routine::Routine;
use crate::catalog::sequence::{self, SessionSequences, State};
use crate::catalog::{Catalog, CatalogSnapshot, Index, Relation};
use crate::copy::server_files::ServerFiles;
use crate::error::Result;
use crate::exec::system_scan::{ScanProgress, SystemRows};
use crate::host::ServerHost;
use crate::statement_statistics::StatementStatistics;
use crate::system::{
    Activity, Counters, Cursor, PreparedStatement, SessionTimes, SystemContext, scan,
};
use crate::types::ValueSettings;
use crate::types::session_functions::answers;
use crate::types::{CallContext, CatalogQueries, Datum, Oid, SessionFacts, SqlType, oids};
use event::EventFacts;
use running::RunningSettings;
use std::cell::RefCell;
use std::sync::Arc;
use txn::{AdvisoryLocks, XactSnapshot, XactStatus};

/// What only the engine knows.
pub trait EngineFacts {
    /// All sessions: rows of `pg_stat_activity`.
    fn activity(&self) -> Vec<Activity>;
    /// Where the time of sessions and statements has gone.
    fn breakdowns(&self) -> Vec<breakdown::Row>;
    /// What statements have cost; none where the server has not begun with that library.
    fn statements(&self) -> Option<&StatementStatistics>;
    /// The session's prepared statements.
    fn prepared(&self) -> Vec<PreparedStatement>;
    /// The session's cursors.
    fn cursors(&self) -> Vec<Cursor>;
    /// `pg_notify`: a channel and a payload, sent when the transaction commits.
    ///
    /// # Errors
    /// 22023.
    fn notify(&self, channel: &str, payload: &str) -> Result<()>;
    /// `pg_export_snapshot`: the name under which others can read by the statement's snapshot.
    ///
    /// # Errors
    /// 25001, 0A000.
    fn export_snapshot(&self) -> Result<String>;
    /// The backup that the session has begun; none where no session calls.
    fn backup(&self) -> Option<&RefCell<Option<Box<backup::SessionBackup>>>>;
    /// How many triggers of the session are firing.
    fn trigger_depth(&self) -> u32;
    /// The event that triggers of the session are firing for, the innermost.
    fn event(&self) -> Option<Arc<EventFacts>>;
    /// The text of the client's message; none where no session calls.
    fn query(&self) -> Option<String>;
    /// The number of the session's transaction, given now if it has none and `gives`, or if it has written; none where no
    /// session calls.
    fn xact_id(&self, gives: bool) -> Option<u64>;
    /// The number that the session's transaction has been given.
    fn given_xact_id(&self) -> Option<u64>;
    /// Which numbers of transactions are over, as the statement sees it.
    fn xact_snapshot(&self) -> XactSnapshot;
    /// What became of the transaction with this number, as the statement sees it.
    fn xact_status(&self, number: u64) -> XactStatus;
    /// `pg_conf_load_time()`, as `start_time`.
    fn configured(&self) -> i64;
    /// The files of the server's machine; none where there is no server.
    fn files(&self) -> Option<Arc<dyn ServerFiles>>;
    /// The process around the engine; none where there is no server.
    fn host(&self) -> Option<Arc<dyn ServerHost>>;
    /// What the session listens to.
    fn listening(&self) -> Vec<Arc<str>>;
    /// How full the queue of notifications is, between 0 and 1.
    fn notification_usage(&self) -> f64;
    /// `version()`.
    fn version(&self) -> String;
    /// `pg_postmaster_start_time()`, microseconds since 2000-01-01 UTC.
    fn start_time(&self) -> i64;
    /// Has the server read its configuration again, soon; false where that cannot be.
    fn reload(&self) -> bool;
    /// Raises another session's cancel with a reason of [`crate::error::cancel`]; false if there is no such session.
    fn signal(&self, pid: u32, reason: u32) -> bool;
    /// Waits until this time; others are shown for what.
    ///
    /// # Errors
    /// 57014.
    fn pause(&self, event: txn::WaitEvent, until: txn::Micros) -> Result<()>;
    /// Asks whether to stop.
    ///
    /// # Errors
    /// 57014 and its kin, where somebody asked the session to.
    fn check_cancel(&self) -> Result<()>;
    /// The time that such waits are by.
    fn now(&self) -> txn::Micros;
    /// What the instance has counted.
    fn counters(&self) -> Counters;
    /// Begins to count anew.
    fn reset_counters(&self);
    /// What the sessions of a database have come to; of all together for none.
    fn session_times(&self, database: Option<Oid>) -> SessionTimes;
    /// Begins to count those of a database anew.
    fn reset_session_times(&self, database: Oid);
    /// What the session counts of relations; none where no session calls.
    fn counts(&self) -> Option<&SessionCounts>;
    /// About how many rows a table has now.
    fn live_rows(&self, table: &Relation) -> Option<f64>;
    /// A stored expression over a relation's columns, types as the search path finds them, with the fewest parentheses
    /// or with all; none if it cannot be read.
    fn shown_expression(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        relation: Option<&Relation>,
        text: &str,
        pretty: bool,
    ) -> Option<String>;
    /// Holds a value against a domain.
    ///
    /// # Errors
    /// 23502, 23514; those of the conditions.
    fn check_domain(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        domain: Oid,
        value: &Datum<'_>,
    ) -> Result<()>;
    /// What a simple view reads, and which of its base's columns, by index, each of its own is; none if it is not simple.
    fn simple_view(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        view: &Relation,
    ) -> Option<(Oid, Vec<Option<usize>>)>;
    /// A view's query as it is shown: with the fewest parentheses or with all, its select list in lines up to this width;
    /// none if it cannot be told from what is kept.
    fn view_text(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        view: &Relation,
        how: (bool, usize),
    ) -> Option<String>;
    /// The body of a routine in the standard's form as it is shown; none if it has no such body.
    fn body_text(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        routine: &Routine,
    ) -> Option<String>;
}

/// What one statement may ask of the catalog and the session.
pub struct SessionCatalog<'s> {
    /// The catalog as the statement sees it.
    pub snapshot: &'s CatalogSnapshot,
    /// The session's settings, and the search path and the users that they have.
    pub settings: &'s RunningSettings<'s>,
    /// Whether the user must be allowed to use the schemas that texts name. Of constants the statement that holds them
    /// demands it.
    pub demands_usage: bool,
    /// What only the engine knows.
    pub engine: &'s dyn EngineFacts,
    /// The catalog itself, for sequences.
    pub catalog: &'s Arc<Catalog>,
    /// What the session remembers of sequences.
    pub sequences: &'s RefCell<SessionSequences>,
    /// The session's advisory locks.
    pub advisory: &'s RefCell<AdvisoryLocks>,
}

/// A call under way: the asked, the arena, the arguments.
struct Call<'s, 'q, 'c, 'a> {
    session: &'q SessionCatalog<'s>,
    context: &'c CallContext<'a>,
    arguments: &'c [Datum<'a>],
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// A text in the arena.
    fn text(&self, text: &str) -> Datum<'a> {
        Datum::Text(self.context.arena.alloc_str(text))
    }

    /// A text or NULL.
    fn optional(&self, text: Option<&str>) -> Datum<'a> {
        text.map_or(Datum::Null, |text| self.text(text))
    }

    /// Whether an argument of those given is NULL, for functions that `pg_proc` does not call strict.
    fn any_null(&self) -> bool {
        self.arguments.iter().any(Datum::is_null)
    }

    /// An argument that is an OID or reg*.
    fn oid(&self, at: usize) -> Oid {
        match self.arguments.get(at) {
            Some(Datum::Oid(oid)) => Oid(*oid),
            _ => Oid(0),
        }
    }

    /// An argument that is true.
    fn flag(&self, at: usize) -> bool {
        matches!(self.arguments.get(at), Some(Datum::Bool(true)))
    }

    /// An argument that is a text or name.
    fn str(&self, at: usize) -> &'a str {
        match self.arguments.get(at) {
            Some(Datum::Text(text)) => text,
            _ => "",
        }
    }

    fn answer(&self, name: &str) -> Option<Result<Datum<'a>>> {
        if self.any_null() && !matches!(name, "format_type" | "set_config" | "pg_notify") {
            return Some(Ok(Datum::Null));
        }
        Some(match name {
            "pg_sequence_last_value" => self.last_value_of(),
            "pg_stat_file" | "pg_read_file" | "pg_read_binary_file" => {
                return self.file_function(name);
            }
            "pg_describe_object"
            | "pg_identify_object"
            | "pg_identify_object_as_address"
            | "pg_get_object_address" => self.address_function(name),
            "pg_get_function_arg_default" => Ok(self.argument_default()),
            "format_type" => Ok(self.format_type()),
            "current_schema" => Ok(self.current_schema()),
            "current_schemas" => Ok(self.current_schemas()),
            "to_regclass" | "to_regtype" | "to_regproc" | "to_regprocedure" | "to_regnamespace"
            | "to_regrole" | "to_regcollation" | "to_regoper" => self.to_reg(name),
            "to_regoperator" => self.to_reg_operator(),
            "regclass" => names::reg_in(self.session, oids::REGCLASS, self.str(0)).map(Datum::Oid),
            "obj_description" => Ok(self.object_description()),
            "col_description" => Ok(self.column_description()),
            "shobj_description" => Ok(self.shared_description()),
            "pg_get_userbyid" => Ok(self.user_by_id()),
            "nextval" => self.next_value(),
            "currval" => self.current_value(),
            "lastval" => self.last_value(),
            "setval" => self.set_value(),
            "pg_get_serial_sequence" => self.serial_sequence(),
            "pg_stat_statements_reset" => self.reset_statements(),
            "pg_stat_statements_info" => self.statements_info(),
            _ if name.starts_with("pg_stat_") => {
                return self.statistics_record(name).or_else(|| Some(self.counted(name)));
            }
            _ if name.starts_with("has_") => self.has_privilege(name),
            "pg_has_role" => self.has_role(),
            "aclcontains" | "acldefault" | "aclitemeq" | "makeaclitem" => {
                return self.acl_function(name);
            }
            "pg_blocking_pids" => self.blocking_pids(),
            "pg_isolation_test_session_is_blocked" => self.is_blocked_by(),
            "pg_sleep" | "pg_sleep_for" | "pg_sleep_until" => self.sleep(),
            _ if name.starts_with("pg_advisory_") || name.starts_with("pg_try_advisory_") => {
                self.advisory(name)
            }
            _ if name.ends_with("_is_visible") => Ok(self.is_visible(name)),
            _ if name.ends_with("_size") => return self.size(name),
            "pg_get_replica_identity_index" => return self.property(name),
            "pg_get_wal_replay_pause_state" => return self.log_function(name),
            _ if name.starts_with("pg_get_") => return self.definition(name),
            _ => {
                let other = self.server_function(name).or_else(|| self.transaction_function(name));
                let other = other.or_else(|| self.log_function(name));
                return other
                    .or_else(|| self.instance_function(name))
                    .or_else(|| self.property(name));
            }
        })
    }
}

impl SessionCatalog<'_> {
    /// The current user.
    fn user(&self) -> Oid {
        self.settings.identity.get().user
    }

    /// What others know the session by.
    fn pid(&self) -> u32 {
        self.settings.identity.get().pid
    }
}

impl SessionCatalog<'_> {
    /// The keys of an index, which the catalog may not have yet, as messages show them.
    pub(crate) fn keys_of(
        &self,
        context: &CallContext<'_>,
        table: &Relation,
        index: &Index,
    ) -> String {
        let call = Call { session: self, context, arguments: &[] };
        let quoted = self.settings.plain.get().values.quote_all_identifiers;
        quoting(quoted, || call.index_keys(table, index))
    }
}

impl CatalogQueries for SessionCatalog<'_> {
    fn session(&self) -> SessionFacts<'_> {
        self.settings.identity.get().facts()
    }

    fn call<'a>(
        &self,
        context: &CallContext<'a>,
        function: u32,
        arguments: &[Datum<'a>],
    ) -> Option<Result<Datum<'a>>> {
        if !answers(function) {
            return None;
        }
        let call = Call { session: self, context, arguments };
        let name = builtin::function(function)?.name;
        quoting(self.settings.plain.get().values.quote_all_identifiers, || call.answer(name))
    }

    fn index_keys(&self, context: &CallContext<'_>, index: Oid) -> Option<String> {
        let (table, index) = self.snapshot.index(index)?;
        Some(self.keys_of(context, table, index))
    }

    fn shown_expression(&self, context: &CallContext<'_>, text: &str) -> String {
        let call = Call { session: self, context, arguments: &[] };
        quoting(self.settings.plain.get().values.quote_all_identifiers, || {
            call.shown(None, text, false)
        })
    }

    fn transaction_number(&self, gives: bool) -> Option<u32> {
        let number = if gives { self.engine.xact_id(true) } else { self.engine.given_xact_id() };
        number.map(|number| number as u32)
    }

    fn changed_settings(&self) -> Option<&ValueSettings> {
        Some(&self.settings.plain.get().values)
    }

    fn reg_out<'a>(&self, context: &CallContext<'a>, reg_type: u32, value: u32) -> &'a str {
        let text = quoting(self.settings.plain.get().values.quote_all_identifiers, || {
            names::reg_out(self, reg_type, value)
        });
        context.arena.alloc_str(&text)
    }

    fn reg_in(&self, reg_type: u32, text: &str) -> Result<u32> {
        names::reg_in(self, reg_type, text)
    }

    fn may_read(&self, relation: Oid, column: Option<i16>) -> bool {
        let columns = column.map(|number| (number, Privileges::SELECT));
        self.snapshot.relation(relation).is_some_and(|relation| match columns {
            Some(column) => {
                self.snapshot.may_on_columns(self.user(), relation, Privileges::SELECT, &[column])
            }
            None => self.snapshot.may_on_relation(self.user(), relation, Privileges::SELECT),
        })
    }

    fn reg_constant(&self, reg_type: u32, text: &str) -> Result<u32> {
        let found =
            names::reg_in(&SessionCatalog { demands_usage: false, ..*self }, reg_type, text);
        // Whoever may not look into a schema is not told what is not there.
        found.or_else(|missing| match self.demands_usage {
            true => names::reg_in(self, reg_type, text).and(Err(missing)),
            false => Err(missing),
        })
    }

    fn type_name(&self, ty: u32) -> String {
        names::type_name(self, ty)
    }

    fn enum_labels(&self, ty: u32) -> Vec<(i64, Arc<str>)> {
        let labels = self.snapshot.user_type(Oid(ty)).map_or(&[][..], |found| found.labels());
        labels.iter().map(|label| (label.position, Arc::clone(&label.name))).collect()
    }

    fn enum_label(&self, ty: u32, position: i64) -> Option<Arc<str>> {
        let labels = self.snapshot.user_type(Oid(ty))?.labels();
        let at = labels.binary_search_by_key(&position, |label| label.position).ok()?;
        Some(Arc::clone(&labels[at].name))
    }

    fn is_added_value(&self, ty: u32, position: i64) -> bool {
        let labels = self.snapshot.user_type(Oid(ty)).map_or(&[][..], |found| found.labels());
        let label = labels.iter().find(|label| label.position == position);
        label.is_some_and(|label| self.snapshot.is_added_label(label.oid))
    }

    fn base_type(&self, ty: SqlType) -> SqlType {
        self.snapshot.base_type(ty)
    }

    fn check_domain(
        &self,
        context: &CallContext<'_>,
        domain: SqlType,
        value: &Datum<'_>,
    ) -> Result<()> {
        self.engine.check_domain(self, context, domain.oid, value)
    }

    fn check_cancel(&self) -> Result<()> {
        self.engine.check_cancel()
    }

    fn row_fields(&self, ty: u32) -> Option<Vec<(Arc<str>, SqlType)>> {
        crate::bind::type_name::fields_of(self.snapshot, Oid(ty))
    }

    fn first_xact_id(&self) -> u64 {
        self.catalog.manager().xact_ids().first()
    }

    fn next_xact_id(&self) -> u64 {
        let next = || self.catalog.manager().xact_ids().next();
        self.engine.xact_id(false).unwrap_or_else(next)
    }

    fn set<'a>(
        &self,
        context: &CallContext<'a>,
        function: u32,
        arguments: &[Datum<'a>],
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        self.rows_of(&Call { session: self, context, arguments }, function, emit)
    }
}

impl SessionCatalog<'_> {
    /// All rows of a system relation, until `emit` has had enough.
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn all_rows<'a>(
        &self,
        context: &CallContext<'a>,
        relation: Oid,
        keys: &[(usize, Datum<'_>)],
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        let (mut progress, mut wanted) = (ScanProgress::Begins, true);
        while wanted && progress != ScanProgress::Ended {
            self.rows(context, relation, keys, (self.snapshot, &mut progress), &mut |row| {
                wanted = emit(row)?;
                Ok(wanted)
            })?;
        }
        Ok(())
    }

    /// A part of the rows of a system relation that is served from the snapshot: see [`scan`].
    ///
    /// # Errors
    /// Those of `emit`.
    pub fn rows<'a>(
        &self,
        context: &CallContext<'a>,
        relation: Oid,
        keys: &[(usize, Datum<'_>)],
        (snapshot, progress): (&CatalogSnapshot, &mut ScanProgress),
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        if let Some(found) = snapshot.relation(relation)
            && let RelationKind::Sequence(definition) = &found.kind
        {
            *progress = ScanProgress::Ended;
            let database = snapshot.database_oid();
            let (State { last_value, is_called }, logged) =
                sequence::state(self.catalog, database, definition)?;
            let row = [Datum::Int8(last_value), Datum::Int8(logged), Datum::Bool(is_called)];
            return emit(&row).map(|_| ());
        }
        let changed = self.settings.changed();
        let system = SystemContext {
            snapshot,
            settings: changed.as_ref().unwrap_or(self.settings.before()),
            user: self.user(),
            activity: &|| self.engine.activity(),
            prepared: &|| self.engine.prepared(),
            cursors: &|| self.engine.cursors(),
            counters: &|| self.engine.counters(),
            prepared_transactions: &|| self.catalog.manager().prepared(),
            locks: &|| self.catalog.manager().locks(),
            sireads: &|| self.catalog.manager().siread_locks(),
            running: &|| {
                let running = self.catalog.manager().transactions();
                running.iter().map(|found| (found.pid, found.txn)).collect()
            },
        };
        scan(relation, &system, context, (keys, progress), &mut |row| emit(row))
    }
}

impl SystemRows for SessionCatalog<'_> {
    fn state(&self) -> CatalogSnapshot {
        self.snapshot.clone()
    }

    fn rows(
        &self,
        context: &CallContext<'_>,
        relation: Oid,
        keys: &[(usize, Datum<'_>)],
        part: (&CatalogSnapshot, &mut ScanProgress),
        emit: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()> {
        SessionCatalog::rows(self, context, relation, keys, part, emit)
    }
}

#[cfg(test)]
mod tests;
