//! What functions and system relations ask of the engine and the session that runs them: what is told of other sessions, and what a
//! statement may say to its own.

use crate::activity::SessionActivity;
use crate::breakdown;
use crate::catalog::relation_counts::SessionCounts;
use crate::catalog::routine::Routine;
use crate::catalog::{Relation, RelationKind};
use crate::copy::server_files::ServerFiles;
use crate::engine::Engine;
use crate::error::{Result, SqlError, cancel};
use crate::host::ServerHost;
use crate::notify::{self, Sayings};
use crate::prepared::Named;
use crate::queries::backup::SessionBackup;
use crate::queries::event::EventFacts;
use crate::queries::{EngineFacts, SessionCatalog};
use crate::session::definitions;
use crate::session::domain::{self, KnownDomains};
use crate::session::portal::{Executed, Portal};
use crate::session::routine::aside::Caller;
use crate::sqlstate::SqlState;
use crate::statement_statistics::StatementStatistics;
use crate::system::{Activity, Counters, Cursor, PreparedStatement, SessionTimes};
use crate::types::{CallContext, Datum, Oid};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::{
    Exporter, Lsn, Micros, SessionWait, WaitCell, WaitEvent, Woken, XactSnapshot, XactStatus,
};

/// What catalog functions ask of the engine, for one session.
pub(super) struct SessionFacts<'s> {
    pub wait: &'s Arc<SessionWait>,
    pub engine: &'s Arc<Engine>,
    pub statements: Shared<'s, FxHashMap<String, Named>>,
    pub portals: Shared<'s, FxHashMap<String, Box<Portal>>>,
    /// The portal without a name, and the one that runs, where an Execute runs it.
    pub unnamed: Option<&'s Portal>,
    pub executed: Option<&'s Executed>,
    pub domains: &'s RefCell<KnownDomains>,
    /// What is the calling session's own; none where no session calls.
    pub own: Option<Own<'s>>,
}

/// What a statement sees of its session: that has it, or, while routines may run, has lent it.
#[derive(Debug)]
pub(super) enum Shared<'s, T> {
    Plain(&'s T),
    Lent(&'s RefCell<T>),
}

impl<T> Shared<'_, T> {
    /// Looks at it.
    pub fn with<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        match self {
            Shared::Plain(shared) => look(shared),
            Shared::Lent(shared) => look(&shared.borrow()),
        }
    }
}

/// What functions ask of the session that calls them, and change of it.
#[derive(Clone)]
pub(super) struct Own<'s> {
    pub pid: u32,
    /// What its transaction says of channels.
    pub said: &'s RefCell<Sayings>,
    /// The number of its transaction, once that was asked for.
    pub xact_id: &'s Cell<Option<u64>>,
    /// The snapshots that its transaction has exported, and who it is to those who import them; none outside a plan's run.
    pub exported: &'s RefCell<Vec<String>>,
    pub exporter: Option<Exporter>,
    /// The backup that it has begun.
    pub backup: &'s RefCell<Option<Box<SessionBackup>>>,
    /// How many savepoints are open, and the number of its transaction within the session.
    pub depth: usize,
    pub transaction: u64,
    /// Whether its transaction has written anything, or locked a row, before this statement.
    pub has_acted: bool,
    /// What its statement sees; none: what is visible now.
    pub snapshot: Option<Lsn>,
    /// The text of its message, if others see only the beginning of that.
    pub long_query: &'s str,
    pub activity: &'s SessionActivity,
    pub counts: &'s SessionCounts,
    /// How many triggers are firing.
    pub trigger_depth: &'s Cell<u32>,
    /// The event that triggers are firing for.
    pub event: Option<Arc<EventFacts>>,
}

impl SessionFacts<'_> {
    /// What the statement sees.
    fn seen(&self) -> Lsn {
        let own = self.own.as_ref().and_then(|own| own.snapshot);
        own.unwrap_or_else(|| self.engine.manager().visible())
    }
}

impl EngineFacts for SessionFacts<'_> {
    fn event(&self) -> Option<Arc<EventFacts>> {
        self.own.as_ref().and_then(|own| own.event.clone())
    }

    fn trigger_depth(&self) -> u32 {
        self.own.as_ref().map_or(0, |own| own.trigger_depth.get())
    }

    fn check_domain(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        domain: Oid,
        value: &Datum<'_>,
    ) -> Result<()> {
        let caller = Caller {
            engine: self.engine,
            wait: self.wait,
            identity: session.settings.identity.get(),
            settings: session.settings.before(),
        };
        domain::check(self.domains, &caller, session, context, domain, value)
    }

    fn activity(&self) -> Vec<Activity> {
        self.engine.activity()
    }

    fn breakdowns(&self) -> Vec<breakdown::Row> {
        self.engine.breakdown_rows()
    }

    fn statements(&self) -> Option<&StatementStatistics> {
        self.engine.statements()
    }

    fn prepared(&self) -> Vec<PreparedStatement> {
        let listed = |(name, statement): (&String, &Named)| PreparedStatement {
            name: name.clone(),
            statement: statement.prepared.parsed.query_text().to_owned(),
            prepare_time: statement.since,
            parameter_types: statement.prepared.parameters.clone(),
            from_sql: statement.from_sql,
        };
        self.statements.with(|statements| statements.iter().map(listed).collect())
    }

    fn cursors(&self) -> Vec<Cursor> {
        self.portals.with(|portals| super::cursor::listed(portals, self.unnamed, self.executed))
    }

    fn notify(&self, channel: &str, payload: &str) -> Result<()> {
        let said = notify::checked(channel, payload)?;
        if let Some(own) = &self.own {
            own.said.borrow_mut().keep(said);
        }
        Ok(())
    }

    fn backup(&self) -> Option<&RefCell<Option<Box<SessionBackup>>>> {
        self.own.as_ref().map(|own| own.backup)
    }

    fn export_snapshot(&self) -> Result<String> {
        let nobody = || SqlError::unsupported("pg_export_snapshot outside of a query is");
        let own = self.own.as_ref().ok_or_else(nobody)?;
        let scheme = own.exporter.map(|exporter| exporter.begin.scheme).unwrap_or_default();
        if !scheme.exports() {
            return Err(SqlError::unsupported(format!(
                "pg_export_snapshot in a database of concurrency control {} is",
                scheme.name()
            )));
        }
        let (Some(exporter), Some(snapshot)) = (own.exporter, own.snapshot) else {
            return Err(nobody());
        };
        if own.depth > 0 {
            return Err(SqlError::new(
                SqlState::ACTIVE_SQL_TRANSACTION,
                "cannot export a snapshot from a subtransaction",
            ));
        }
        let mut exported = own.exported.borrow_mut();
        let name = format!("{:08X}-{:08X}-{}", own.pid, own.transaction, exported.len() + 1);
        self.engine.manager().exported_snapshots().export(&name, snapshot, exporter);
        exported.push(name.clone());
        Ok(name)
    }

    fn listening(&self) -> Vec<Arc<str>> {
        self.own.as_ref().map_or_else(Vec::new, |own| self.engine.channels().of(own.pid))
    }

    fn query(&self) -> Option<String> {
        let own = self.own.as_ref()?;
        Some(if own.long_query.is_empty() {
            own.activity.query()
        } else {
            own.long_query.to_owned()
        })
    }

    fn xact_id(&self, gives: bool) -> Option<u64> {
        let own = self.own.as_ref()?;
        if own.xact_id.get().is_none() && (gives || own.has_acted) {
            let number = self.engine.manager().xact_ids().give();
            own.activity.is_numbered(number);
            own.xact_id.set(Some(number));
        }
        own.xact_id.get()
    }

    fn given_xact_id(&self) -> Option<u64> {
        self.own.as_ref()?.xact_id.get()
    }

    fn xact_snapshot(&self) -> XactSnapshot {
        let own = self.own.as_ref().and_then(|own| own.xact_id.get());
        self.engine.manager().xact_ids().snapshot(self.seen(), own)
    }

    fn xact_status(&self, number: u64) -> XactStatus {
        self.engine.manager().xact_ids().status(number, self.seen())
    }

    fn configured(&self) -> i64 {
        self.engine.configured()
    }

    fn files(&self) -> Option<Arc<dyn ServerFiles>> {
        self.engine.server_files()
    }

    fn host(&self) -> Option<Arc<dyn ServerHost>> {
        self.engine.host()
    }

    fn notification_usage(&self) -> f64 {
        self.engine.channels().usage()
    }

    fn version(&self) -> String {
        self.engine.version_text()
    }

    fn start_time(&self) -> i64 {
        self.engine.started()
    }

    fn reload(&self) -> bool {
        self.engine.auto_file().is_some_and(|file| file.reload())
    }

    fn signal(&self, pid: u32, reason: u32) -> bool {
        self.engine.signal(pid, reason)
    }

    fn pause(&self, event: WaitEvent, until: Micros) -> Result<()> {
        let environment = self.engine.manager().environment();
        let cell = Arc::new(WaitCell::new());
        let cancel = &self.wait.cancel;
        self.wait.event.store(event as u32, Relaxed);
        let woken = environment.wait(event, &cell, Some(until), Some(cancel));
        self.wait.event.store(0, Relaxed);
        match woken {
            Woken::Cancelled => Err(SqlError::cancelled(cancel.requested().unwrap_or_default())),
            _ => Ok(()),
        }
    }

    fn check_cancel(&self) -> Result<()> {
        cancel::check(&self.wait.cancel)
    }

    fn now(&self) -> Micros {
        self.engine.manager().environment().clock.now()
    }

    fn counters(&self) -> Counters {
        self.engine.counters()
    }

    fn reset_counters(&self) {
        self.engine.reset_counters();
    }

    fn session_times(&self, database: Option<Oid>) -> SessionTimes {
        self.engine.session_times(database)
    }

    fn reset_session_times(&self, database: Oid) {
        self.engine.reset_session_times(database);
    }

    fn counts(&self) -> Option<&SessionCounts> {
        self.own.as_ref().map(|own| own.counts)
    }

    fn live_rows(&self, table: &Relation) -> Option<f64> {
        let RelationKind::Table { tree, .. } = &table.kind else { return None };
        self.engine.manager().data().tree(*tree).ok()?.record_estimate().ok()
    }

    fn shown_expression(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        relation: Option<&Relation>,
        text: &str,
        pretty: bool,
    ) -> Option<String> {
        definitions::shown_expression(session, context, relation, text, pretty).ok()
    }

    fn simple_view(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        view: &Relation,
    ) -> Option<(Oid, Vec<Option<usize>>)> {
        definitions::simple_view(session, context, view)
    }

    fn view_text(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        view: &Relation,
        how: (bool, usize),
    ) -> Option<String> {
        definitions::view_text(session, context, view, how).ok()
    }

    fn body_text(
        &self,
        session: &SessionCatalog<'_>,
        context: &CallContext<'_>,
        routine: &Routine,
    ) -> Option<String> {
        definitions::shown_body(session, context, routine)?.ok()
    }
}
