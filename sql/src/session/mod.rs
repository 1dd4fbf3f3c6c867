//! A session: its transaction, its settings, its prepared statements and portals.
//!
//! The protocol's families (simple and extended query, COPY) map on it one call a message. An error leaves the session in
//! the state PostgreSQL would be in; the caller only sends it, and in the extended protocol skips to the next Sync.
//!
//! - [`message`]: what is said; `block`: the transaction; `statement`: what is ready to run; `portal`: what runs
//! - `prepare`: statements made ready, and how long they are good; `run`: plans; `utility`: everything that is no plan; `copy`, `copy_file`: COPY; `load`: rows past the write set; `cursor`: cursors; `explain`: EXPLAIN; `semantics`: what expressions of DDL mean
//! - `outlet`: what routines say meanwhile; `simple`, `extended`: the two protocols' messages

mod alter_system;
mod block;
mod concurrent;
mod constraints;
mod copy;
mod copy_file;
mod copy_refusal;
mod create_as;
mod cursor;
pub(crate) mod definitions;
mod domain;
mod explain;
mod extended;
mod facts;
mod lifted;
#[cfg(test)]
mod limit_tests;
mod load;
mod lock_table;
mod logging;
mod machines;
mod maintain;
mod measured;
pub mod outlet;
#[cfg(test)]
mod panic_tests;
#[cfg(test)]
mod plan_cache_tests;
mod portal;
mod prepare;
mod role;
mod routine;
mod run;
mod schema_elements;
mod scroll;
pub(crate) mod semantics;
mod simple;
#[cfg(test)]
mod spill_tests;
#[cfg(test)]
mod tests;
mod tracking;
pub(crate) mod two_phase;
mod utility;

pub use crate::message::{
    AnswerAfter, Bind, BoundSink, CommandTag, Progress, RowsDescription, StatementDescription,
    Timeouts, Told, TransactionStatus,
};
pub use logging::{LogLevel, LogSettings, StatementClass};
pub use tracking::AUTO_EXPLAIN_ROUTINE;

use crate::account::{self, Running};
use crate::activity::SessionActivity;
use crate::catalog::relation_counts::SessionCounts;
use crate::catalog::sequence::SessionSequences;
use crate::catalog::{CatalogSnapshot, CatalogTransaction, SearchPath};
use crate::engine::Engine;
use crate::error::{Notice, Result, SqlError, cancel};
use crate::exec::deferred::Deferred;
use crate::exec::temp_file::TempUse;
use crate::notify::{Inbox, Notification, Said, Sayings};
use crate::parse::Statement;
use crate::prepared::{Basis, Named, PlanCache, Prepared};
use crate::queries::backup::{self, SessionBackup};
use crate::queries::identity::Identity;
use crate::queries::running::RunningSettings;
use crate::settings::session::Settings;
use crate::settings::socket::SocketTimes;
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::statement_statistics::{Cost, Recent};
use crate::tuple::RowBuf;
use crate::tuple::row_id::SessionRowIds;
use crate::types::{CallContext, Oid, SqlType};
use block::{Block, Parts};
use bumpalo::Bump;
use facts::Shared;
use measured::Measured;
use portal::Portal;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tracking::Tracking;
use txn::{Abort, AdvisoryLocks, Isolation, Lsn, PagesUsed, SchemeKind, SessionWait, Usage};

/// What a session's arena keeps between statements, in bytes.
const ARENA_BYTES_KEPT: usize = 64 << 10;

/// A session. Dropped, it rolls back what is open and lets everything go.
pub struct Session {
    engine: Arc<Engine>,
    wait: Arc<SessionWait>,
    identity: Identity,
    settings: Settings,
    /// The generation of the settings that `timeouts`, the block's defaults and `basis` were made from.
    settings_seen: Option<u64>,
    /// Whether the settings of the running transaction show the defaults as they were seen.
    modes_shown: bool,
    /// The reload of the server's settings that the session has seen.
    reloads: u64,
    timeouts: Timeouts,
    log_settings: LogSettings,
    tracking: Tracking,
    measured: Measured,
    /// What it has counted its statements in, and what a COPY from the client has cost so far.
    recent_statements: Recent,
    copy_cost: Cost,
    catalog: CatalogTransaction,
    block: Block,
    path: SearchPath,
    /// What the socket has been asked to do.
    socket: Option<SocketTimes>,
    /// It has not been told yet.
    socket_differs: bool,
    basis: Option<Basis>,
    statements: FxHashMap<String, Named>,
    unnamed: Option<Arc<Prepared>>,
    portals: FxHashMap<String, Box<Portal>>,
    /// The cursors that loops of routines go over now: nobody closes these.
    pinned: Vec<String>,
    /// How many portals have had no name of their own.
    unnamed_portals: u32,
    /// How many plans run, each within another, as far as that is watched.
    running_plans: u32,
    /// It only calls routines that definitions call, beside the session that works with these.
    is_aside: bool,
    unnamed_portal: Option<Box<Portal>>,
    /// What is left of a Query message; none outside one.
    script: Option<VecDeque<Arc<Source>>>,
    /// Whether it has had more than one: they share a transaction.
    several: bool,
    /// The memory of the last Query message's statements.
    spare_script: VecDeque<Arc<Source>>,
    /// What a Query message's statement is, with its parameters, where that was found by its text: as it stands, or
    /// without its literals.
    lifted: Option<(Arc<Prepared>, RowBuf)>,
    /// Plans while the session has temporary tables.
    own_plans: PlanCache,
    /// Machines between two runs.
    machines: machines::Machines,
    /// Portals without a name between two Binds of their statements.
    resting_portals: machines::Portals,
    /// The portal that an Execute runs.
    executed: Option<portal::Executed>,
    /// The memory of a portal, between two.
    spare_portal: Option<Box<Portal>>,
    /// The values of the parameters of what is planned next, where it is planned for these.
    planned_for: Option<RowBuf>,
    /// Texts without their literals that could not be bound, or whose plans go by these.
    unfit: HashSet<Arc<str>>,
    /// What others see of it.
    activity: Arc<SessionActivity>,
    /// Whether it waits for its client.
    resting: bool,
    /// Whether what others see as its statement is the empty-named portal's.
    says_unnamed: bool,
    /// The text that others see as its statement, if that is a prepared statement's.
    shown: Option<Arc<str>>,
    /// Whether the portal that ran last came as far as its rows.
    answer_began: bool,
    /// What it has used to make ready what the last EXPLAIN is to explain, before that ran.
    planning_usage: Usage,
    /// A portal that is just feeding on COPY FROM STDIN.
    copying: Option<Result<copy::CopyIn>>,
    notices: RefCell<Vec<Notice>>,
    random: Cell<[u64; 2]>,
    row_ids: SessionRowIds,
    sequences: RefCell<SessionSequences>,
    domains: RefCell<domain::KnownDomains>,
    advisory: RefCell<AdvisoryLocks>,
    /// What SET CONSTRAINTS has said, and the checks that wait for the commit.
    deferred: RefCell<Deferred>,
    /// What the open transaction has said of channels.
    said: RefCell<Sayings>,
    /// The snapshots that it has exported.
    exported: RefCell<Vec<String>>,
    /// The backup that it has begun.
    backup: RefCell<Option<Box<SessionBackup>>>,
    /// The number of the open transaction, once it was asked for.
    xact_id: Cell<Option<u64>>,
    /// What its statements count of relations.
    counts: SessionCounts,
    /// What its statements and cursors have in temporary files.
    temp_used: TempUse,
    /// Notices that are for the log alone, until it has them: the client is not told, or has been.
    hidden_notices: Vec<Notice>,
    /// What routines say while a statement runs goes there.
    outlet: Option<Box<dyn outlet::Outlet>>,
    /// The text of the running message, if others see only the beginning of it.
    long_query: String,
    /// What waits to be told, once the session listens.
    inbox: Option<Arc<Inbox>>,
    /// How many bodies of routines it has run or kept, and the plans of those that it keeps.
    bodies: u64,
    /// Counts what may have changed what plans and texts of bodies mean: statements, settings, the ends of transactions.
    changes: u64,
    /// Rows that bodies have done with.
    spare_rows: Vec<RowBuf>,
    /// The memory of a body's values.
    spare_value: RowBuf,
    /// Routines that statements have called.
    known_calls: FxHashMap<Oid, routine::KnownCall>,
    /// The memory of a list of rows.
    spare_list: Vec<RowBuf>,
    /// CALLs that have been made ready, the newest last.
    calls: Vec<Arc<routine::ReadyCall>>,
    texts: FxHashMap<u64, routine::BodyTexts>,
    /// Frames for calls of bodies by one another.
    #[allow(clippy::vec_box, reason = "they go from call to call, and a box is a word")]
    kits: Vec<Box<routine::Kit>>,
    /// Bodies are run statement by statement.
    #[cfg(test)]
    without_programs: bool,
    /// Routines whose bodies have been parsed, by OID and the types of their arguments.
    compiled: FxHashMap<(Oid, Vec<Oid>), Arc<routine::Compiled>>,
    /// How loud the check `too_many_rows` of PL/pgSQL is, and the state of the settings that said so.
    too_many_rows: Option<(u64, Option<crate::error::Severity>)>,
    /// How many loops of bodies are under way over queries that change rows.
    writing_loops: u32,
    /// The statements over whose rows loops of bodies go, the innermost last.
    looping: Vec<Arc<Prepared>>,
    /// The conditions of triggers that have been asked, by trigger.
    conditions: FxHashMap<Oid, Box<routine::Condition>>,
    /// What CONTEXTs call the routines that have been called, and `changes` when that was made.
    routine_names: FxHashMap<Oid, (Basis, Arc<str>)>,
    /// The functions of triggers that have fired, by trigger and event.
    triggers: FxHashMap<(Oid, i16), routine::ReadyTrigger>,
    /// The tables of the triggers that are firing, the innermost last.
    firing: Vec<Oid>,
    /// What a schema change tells event triggers of before it rewrites a table, where there are any.
    rewriting: Option<crate::ddl::event_trigger::Rewriting>,
    /// The events that triggers are firing for, the innermost last.
    events: Vec<Arc<crate::queries::event::EventFacts>>,
    /// The statements that have lent the session to what they call, the innermost last.
    running: Vec<Arc<Prepared>>,
    /// The casts that assignments of routines have needed.
    casts: FxHashMap<(SqlType, SqlType), routine::CastText>,
    /// The fields of the rows of types that routines have needed, each with the state of the catalog in which it has them.
    shapes: FxHashMap<SqlType, (u64, Arc<routine::frame::Shape>)>,
    /// The routines and their statements that run, the innermost last.
    within: Vec<routine::ContextPlace>,
    /// The expressions of bodies that are being evaluated by themselves, by body and number, the innermost last.
    evaluated: Vec<(u64, u32)>,
    /// What the statement sees that has called the routine that runs, where that is not volatile: it sees the same.
    called_view: Option<txn::ReadView>,
    /// Whether the DO that comes next may end the transaction: a body that may has it run.
    do_ends_transactions: bool,
    arena: Bump,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.portals.clear();
        self.unnamed_portal = None;
        self.copying = None;
        self.with_block(|block, parts| block.rollback(parts));
        if self.is_aside {
            return;
        }
        if self.backup.get_mut().take().is_some()
            && let Some(host) = self.engine.host()
        {
            host.log(&backup::aborted());
        }
        self.tell_measured();
        self.catalog.end_session(self.block.seen);
        self.engine.disconnected(self.wait.pid);
    }
}

impl Session {
    pub(crate) fn open(
        engine: &Arc<Engine>,
        wait: Arc<SessionWait>,
        identity: Identity,
        settings: Settings,
        catalog: CatalogTransaction,
        activity: Arc<SessionActivity>,
        counts: SessionCounts,
    ) -> Session {
        let seed = engine.manager().environment().seed
            ^ u64::from(wait.pid).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let advisory = RefCell::new(AdvisoryLocks::new(engine.manager(), &wait));
        let block = Block::new(&activity, counts.transactions());
        let mut session = Session {
            counts,
            temp_used: activity.temp_used.clone(),
            hidden_notices: Vec::new(),
            outlet: None,
            engine: Arc::clone(engine),
            wait,
            identity,
            settings,
            settings_seen: None,
            modes_shown: false,
            reloads: 0,
            timeouts: Timeouts::default(),
            log_settings: LogSettings::default(),
            tracking: Tracking::default(),
            measured: Measured::default(),
            recent_statements: Recent::default(),
            copy_cost: Cost::default(),
            catalog,
            block,
            path: SearchPath::default(),
            socket: None,
            socket_differs: false,
            basis: None,
            statements: FxHashMap::default(),
            unnamed: None,
            portals: FxHashMap::default(),
            pinned: Vec::new(),
            unnamed_portals: 0,
            running_plans: 0,
            is_aside: false,
            unnamed_portal: None,
            script: None,
            several: false,
            spare_script: VecDeque::new(),
            lifted: None,
            own_plans: PlanCache::default(),
            machines: machines::Machines::default(),
            resting_portals: machines::Portals::default(),
            executed: None,
            spare_portal: None,
            planned_for: None,
            unfit: HashSet::new(),
            activity,
            resting: true,
            says_unnamed: false,
            shown: None,
            answer_began: false,
            planning_usage: Usage::default(),
            copying: None,
            notices: RefCell::default(),
            random: Cell::new([seed | 1, !seed]),
            row_ids: SessionRowIds::default(),
            sequences: RefCell::default(),
            domains: RefCell::default(),
            advisory,
            deferred: RefCell::default(),
            said: RefCell::default(),
            exported: RefCell::default(),
            backup: RefCell::default(),
            xact_id: Cell::new(None),
            long_query: String::new(),
            inbox: None,
            bodies: 0,
            changes: 1,
            spare_rows: Vec::new(),
            spare_value: RowBuf::new(),
            known_calls: FxHashMap::default(),
            spare_list: Vec::new(),
            calls: Vec::new(),
            texts: FxHashMap::default(),
            kits: Vec::new(),
            #[cfg(test)]
            without_programs: false,
            compiled: FxHashMap::default(),
            too_many_rows: None,
            writing_loops: 0,
            looping: Vec::new(),
            conditions: FxHashMap::default(),
            routine_names: FxHashMap::default(),
            triggers: FxHashMap::default(),
            firing: Vec::new(),
            events: Vec::new(),
            rewriting: None,
            running: Vec::new(),
            casts: FxHashMap::default(),
            shapes: FxHashMap::default(),
            evaluated: Vec::new(),
            do_ends_transactions: false,
            called_view: None,
            within: Vec::new(),
            arena: Bump::new(),
        };
        session.take_locale();
        session.settings_changed();
        session
    }

    /// The database's locale, which settings show.
    fn take_locale(&mut self) {
        let shared = self.catalog.last_snapshot().shared();
        if let Some(database) = shared.database_by_oid(self.catalog.database()).cloned() {
            for (name, value) in [("lc_collate", &database.collate), ("lc_ctype", &database.ctype)]
            {
                if self.settings.show(name).as_deref() != Some(&**value) {
                    self.settings.set_internal(name, value, false);
                }
            }
        }
    }

    /// How it waits and how it is cancelled; others hold this while a statement runs.
    #[must_use]
    pub fn wait(&self) -> &Arc<SessionWait> {
        &self.wait
    }

    /// What ReadyForQuery has to say now.
    #[must_use]
    pub fn status(&self) -> TransactionStatus {
        self.block.status()
    }

    /// Before any byte of an answer leaves, the connection waits until this has come
    /// ([`crate::Engine::poll_answer`]): every commit that the buffered bytes tell of.
    #[must_use]
    pub fn answer_after(&self) -> AnswerAfter {
        self.block.answer_after
    }

    /// The time limits as set now. SessionFacts for each statement: plain numbers, no lookup by name.
    #[must_use]
    pub fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// What the client is to be told with the next answer.
    pub(crate) fn tell(&mut self, notices: Vec<Notice>) {
        self.notices.get_mut().extend(notices);
    }

    /// Whether there are notices to be taken.
    pub fn has_notices(&mut self) -> bool {
        !(self.notices.get_mut().is_empty() && self.hidden_notices.is_empty())
    }

    /// Notices that came up outside [`Session::run`]. The caller sends them behind the message at hand.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        let mut notices = std::mem::take(self.notices.get_mut());
        let hidden = self.settings.keep_shown(&mut notices);
        self.hidden_notices.extend(hidden);
        notices
    }

    /// Those of the notices taken so far that `client_min_messages` hides, and those that the client has been told already
    /// ([`outlet`]): they are for the log only.
    pub fn take_hidden_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.hidden_notices)
    }

    /// Calls `report` for every ParameterStatus that has changed since the last call (at the start: all of them).
    pub fn take_parameter_changes(&mut self, report: &mut dyn FnMut(&str, &str)) {
        if self.settings.has_changes() {
            let asked = self.settings.asked_of_socket();
            if asked != self.socket {
                self.socket = asked;
                self.socket_differs = true;
            }
            self.activity.set_application_name(&self.settings.text("application_name"));
        }
        self.settings.take_changes(report);
    }

    /// What its socket is to do from now on, once after each change.
    pub fn take_socket_times(&mut self) -> Option<SocketTimes> {
        std::mem::take(&mut self.socket_differs).then_some(self.socket).flatten()
    }

    /// Everything asked for has been answered: the session waits for its client.
    pub fn rest(&mut self) {
        self.resting = true;
        if self.settings.plain().track_activities {
            let now = self.engine.manager().environment().clock.wall();
            self.activity.rests(now, self.block.status());
        } else {
            self.shown = None;
            self.activity.hides(true);
        }
    }

    /// The setting called `name`, as SHOW prints it.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<String> {
        self.settings.show(name)
    }

    // --- the state behind it ---------------------------------------------------------------------------------------

    /// The answer waits for what sequences have logged.
    fn note_sequences(&mut self) {
        let logged = self.sequences.get_mut().take_logged();
        if logged > Lsn::ZERO {
            self.block.depend_on(logged);
        }
    }

    fn with_block<T>(&mut self, body: impl FnOnce(&mut Block, &mut Parts<'_>) -> T) -> T {
        self.note_sequences();
        let mut parts = Parts {
            alone: self.is_alone_at_top(),
            said: self.said.get_mut(),
            exported: self.exported.get_mut(),
            xact_id: self.xact_id.get_mut(),
            channels: (&self.engine, self.wait.pid),
            catalog: &mut self.catalog,
            settings: &mut self.settings,
            notices: self.notices.get_mut(),
            wait: &self.wait,
            advisory: self.advisory.get_mut(),
            deferred: self.deferred.get_mut(),
            counts: &self.counts,
        };
        body(&mut self.block, &mut parts)
    }

    /// From here on transactions are of this database, and of its scheme.
    pub(crate) fn open_database(&mut self, database: Oid, scheme: SchemeKind) {
        self.block.defaults.database = database.0;
        self.block.defaults.scheme = scheme;
        self.settings.open_database(scheme);
    }

    /// Whether notifications wait that may be told now: no transaction is open.
    #[must_use]
    pub fn has_notifications(&self) -> bool {
        self.inbox.as_ref().is_some_and(|inbox| inbox.is_filled())
            && self.status() == TransactionStatus::Idle
    }

    /// Takes the notifications that may be told now. The answer that tells them waits for the commits that sent them.
    pub fn take_notifications(&mut self) -> Vec<Notification> {
        if !self.has_notifications() {
            return Vec::new();
        }
        let Some((newest, told)) = self.inbox.as_ref().map(|inbox| inbox.take()) else {
            return Vec::new();
        };
        self.block.heard_of(newest);
        told
    }

    /// Takes anew what is kept beside the settings as plain values, if any setting has changed.
    fn settings_changed(&mut self) {
        self.changes += 1;
        let in_block = self.block.is_explicit();
        let shows = in_block || self.modes_shown;
        if shows && self.settings_seen == Some(self.settings.generation()) {
            return;
        }
        self.settings_seen = Some(self.settings.generation());
        let limit =
            |settings: &Settings, name| u32::try_from(settings.integer(name)).unwrap_or(u32::MAX);
        self.activity.set_application_name(&self.settings.text("application_name"));
        self.timeouts = Timeouts {
            statement_ms: limit(&self.settings, "statement_timeout"),
            idle_in_transaction_ms: limit(&self.settings, "idle_in_transaction_session_timeout"),
            idle_session_ms: limit(&self.settings, "idle_session_timeout"),
        };
        self.log_settings = LogSettings::of(&self.settings);
        self.tracking = Tracking::of(&self.settings, self.tracking);
        self.catalog.require_partition_key(self.settings.bool("atoll.require_partition_key"));
        let kilobytes = u64::try_from(self.settings.integer("log_temp_files")).ok();
        self.temp_used.log_from(kilobytes.map(|size| size * 1024));
        let relaxed = std::sync::atomic::Ordering::Relaxed;
        self.wait.lock_timeout_ms.store(limit(&self.settings, "lock_timeout"), relaxed);
        self.wait.deadlock_timeout_ms.store(limit(&self.settings, "deadlock_timeout"), relaxed);
        self.wait.log_lock_waits.store(self.settings.bool("log_lock_waits"), relaxed);
        self.block.defaults.isolation = match &*self.settings.text("default_transaction_isolation")
        {
            "repeatable read" => Isolation::RepeatableRead,
            "serializable" => Isolation::Serializable,
            _ => Isolation::ReadCommitted,
        };
        self.block.defaults.read_only = self.settings.bool("default_transaction_read_only");
        self.block.defaults.deferrable = self.settings.bool("default_transaction_deferrable");
        // What a block changes of the defaults, the transactions behind it show.
        self.modes_shown = !in_block;
        if !in_block {
            let begin = self.block.defaults;
            let word = |on: bool| if on { "on" } else { "off" };
            let shown = self.settings.text("default_transaction_isolation");
            for (name, value) in [
                ("transaction_isolation", &*shown),
                ("transaction_read_only", word(begin.read_only)),
                ("transaction_deferrable", word(begin.deferrable)),
            ] {
                if self.settings.show(name).as_deref() != Some(value) {
                    // A block that is rolled back takes none of it back.
                    self.settings.show_internal(name, value);
                }
            }
        }
        self.assume();
        self.basis = None;
    }

    /// A message's work begins: takes the time, and shows what is done.
    fn begin_statement(&mut self, text: Option<&str>) {
        let now = self.engine.manager().environment().clock.wall();
        self.block.statement_time = now;
        self.resting = false;
        if self.engine.reloads() != self.reloads {
            self.take_server_settings();
        }
        let shown = self.settings.plain().track_activities;
        if shown {
            self.activity.runs(now);
        } else {
            self.shown = None;
            self.activity.hides(false);
        }
        if self.tracking.numbers {
            self.activity.is_numbered_statement(0);
        }
        if let Some(text) = text {
            self.shown = None;
            let whole = shown && self.activity.says(text);
            self.keep_query(if whole { "" } else { text });
        }
    }

    /// The same of a prepared statement's message: most often others see its text already.
    fn begin_prepared(&mut self, text: &Arc<str>) {
        let said = self.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, text));
        self.begin_statement((!said).then_some(&**text));
        if !said && self.settings.plain().track_activities {
            self.shown = Some(Arc::clone(text));
        }
    }

    /// Remembers a message's text of which others see the beginning at most.
    fn keep_query(&mut self, text: &str) {
        if !self.long_query.is_empty() || !text.is_empty() {
            self.long_query = text.to_owned();
        }
    }

    /// The server has read its configuration again.
    #[cold]
    fn take_server_settings(&mut self) {
        self.reloads = self.engine.reloads();
        self.settings.set_server(&self.engine.server_settings());
        self.settings_changed();
    }

    /// Runs `body`; whatever it fails with, a panic too, ends its statement and leaves the block as PostgreSQL would.
    fn attempt<T>(&mut self, body: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
        let limit = self.settings.plain().statement_memory_bytes;
        let running = Running::begin(&self.wait, limit);
        txn::time_io(self.settings.plain().track_io_timing);
        let used = PagesUsed::so_far();
        let result = catch_unwind(AssertUnwindSafe(|| body(self)))
            .unwrap_or_else(|payload| Err(account::caught(payload)));
        drop(running);
        self.activity.used(PagesUsed::so_far().since(used));
        if self.temp_used.has_gone() {
            self.note_temporary_files();
        }
        if let Err(error) = &result {
            self.failed(error.abort());
        }
        // What a constant was computed in may be as large as a value: the next statement would only give most of it back.
        if self.arena.allocated_bytes() > ARENA_BYTES_KEPT {
            self.arena = Bump::new();
        }
        result
    }

    /// Temporary files have gone that are to be logged.
    #[cold]
    fn note_temporary_files(&mut self) {
        for (path, size) in self.temp_used.take_gone() {
            let message = format!("temporary file: path \"{path}\", size {size}");
            self.notices
                .get_mut()
                .push(SqlError::notice(message).severity(crate::error::Severity::Log));
        }
    }

    /// Between two messages: whatever has been asked of the statement meanwhile fails it.
    ///
    /// # Errors
    /// 57014 and the like.
    pub fn check_cancel(&mut self) -> Result<()> {
        self.attempt(|session| cancel::check(&session.wait.cancel))
    }

    /// Nothing runs any more: what unwound has left its marks where it had got to.
    fn end_calls(&mut self) {
        self.within.clear();
        self.evaluated.clear();
        self.firing.clear();
        self.events.clear();
        self.running.clear();
        self.writing_loops = 0;
        self.looping.clear();
        self.called_view = None;
        self.do_ends_transactions = false;
    }

    /// A statement has failed: the block is taken back to its last savepoint, and so are its portals; without a block both
    /// are gone.
    fn failed(&mut self, reason: Abort) {
        self.end_calls();
        self.pinned.clear();
        self.script = None;
        self.lifted = None;
        self.copying = None;
        if let Some(transaction) = self.block.transaction() {
            transaction.abandon_loads();
        }
        self.fail_portals();
        self.with_block(|block, parts| block.fail(reason, parts));
        if !self.block.is_explicit() {
            self.close_unheld();
            self.unnamed_portal = None;
        }
        self.settings_changed();
    }

    /// The transaction has ended: what belonged to it goes.
    fn after_transaction(&mut self) {
        self.close_unheld();
        self.settings_changed();
    }

    /// What a transaction does before its commit.
    fn before_commit(&mut self) -> Result<()> {
        // Triggers that fire now may put off more.
        while !self.deferred.get_mut().is_empty() {
            self.check_deferred(true)?;
        }
        if !self.said.get_mut().is_empty() {
            self.demand_notifiable()?;
        }
        if self.catalog.acts_on_commit() {
            self.with_ddl("", |ddl| ddl.act_on_commit())?;
        }
        if self.portals.is_empty() { Ok(()) } else { self.keep_held() }
    }

    /// Ends the implicit transaction, if that is done by ending its reads: nothing has been written, put off, said or counted
    /// that a commit makes the database's, and no cursor outlives it.
    fn end_reading(&mut self) -> bool {
        let quiet = self.portals.is_empty()
            && self.deferred.get_mut().is_empty()
            && self.said.get_mut().is_empty()
            && self.exported.get_mut().is_empty()
            && self.xact_id.get_mut().is_none()
            && !self.catalog.acts()
            && !self.catalog.acts_on_commit();
        self.note_sequences();
        if !quiet || !self.block.end_reading(self.settings.plain().synchronous_commit) {
            return false;
        }
        self.advisory.get_mut().end_transaction();
        self.counts.fails(None);
        self.counts.end(true);
        self.settings.commit();
        self.settings_changed();
        true
    }

    fn end_implicit(&mut self) -> Result<()> {
        if !self.block.is_implicit() || self.end_reading() {
            return Ok(());
        }
        self.before_commit()?;
        let listens = self.said.get_mut().iter().any(|said| matches!(said, Said::Listen(_)));
        let ended = self.with_block(|block, parts| block.end_implicit(parts));
        if listens {
            self.inbox = self.engine.channels().inbox(self.wait.pid);
        }
        if ended.is_ok() {
            self.hold_kept();
        }
        if !self.portals.is_empty() || ended.is_err() {
            self.close_unheld();
        }
        self.settings_changed();
        ended
    }

    /// 25P02 for a statement that a failed block does not hear.
    fn demand_live(&self, parsed: &Source) -> Result<()> {
        if self.block.is_failed() && !parsed.statement().is_none_or(Statement::allowed_when_failed)
        {
            return Err(block_has_failed());
        }
        Ok(())
    }

    /// Takes what `set_config` has made of the settings in a run.
    #[inline]
    fn take_settings(&mut self, changed: Option<Box<Settings>>) {
        if let Some(changed) = changed {
            self.settings = *changed;
            self.activity.set_application_name(&self.settings.text("application_name"));
            self.settings_changed();
        }
    }

    /// Calls `body` with what functions may look at, outside any statement's run.
    fn with_context<T>(&mut self, body: impl FnOnce(&CallContext<'_>) -> Result<T>) -> Result<T> {
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        self.with_context_of(&snapshot, |context, _| body(context))
    }

    /// The same where they look at this state of the catalog.
    fn with_context_of<T>(
        &mut self,
        snapshot: &Arc<CatalogSnapshot>,
        body: impl FnOnce(&CallContext<'_>, &crate::queries::SessionCatalog<'_>) -> Result<T>,
    ) -> Result<T> {
        self.arena.reset();
        let environment = self.engine.manager().environment();
        let trigger_depth = Cell::new(self.firing.len() as u32);
        let asked = facts::SessionFacts {
            engine: &self.engine,
            statements: Shared::Plain(&self.statements),
            portals: Shared::Plain(&self.portals),
            unnamed: None,
            executed: None,
            domains: &self.domains,
            wait: &self.wait,
            own: Some(facts::Own {
                pid: self.wait.pid,
                said: &self.said,
                xact_id: &self.xact_id,
                exported: &self.exported,
                exporter: None,
                backup: &self.backup,
                depth: 0,
                transaction: 0,
                has_acted: false,
                snapshot: None,
                long_query: &self.long_query,
                activity: &self.activity,
                counts: &self.counts,
                trigger_depth: &trigger_depth,
                event: self.events.last().cloned(),
            }),
        };
        let mut running = RunningSettings::new(&self.settings, &self.path, &self.identity);
        let queries = crate::queries::SessionCatalog {
            snapshot,
            settings: &running,
            demands_usage: true,
            engine: &asked,
            catalog: self.catalog.catalog(),
            sequences: &self.sequences,
            advisory: &self.advisory,
        };
        let context = CallContext {
            arena: &self.arena,
            settings: &running.plain.get().values,
            transaction_time: self.block.transaction_time(),
            statement_time: self.block.statement_time,
            clock: &*environment.clock,
            catalog: &queries,
            notices: &self.notices,
            random: &self.random,
            time_read: None,
            constant: false,
        };
        let result = body(&context, &queries);
        let set = running.end();
        self.take_settings(set);
        result
    }
}

fn block_has_failed() -> SqlError {
    SqlError::new(
        SqlState::IN_FAILED_SQL_TRANSACTION,
        "current transaction is aborted, commands ignored until end of transaction block",
    )
}
