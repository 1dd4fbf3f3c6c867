//! The engine: all databases of one directory, opened once, and what their sessions share.
//!
//! What it needs of sessions it is told by what they show of themselves (`activity`). Who gets one is said in `admission`,
//! who works without a client in `autovacuum` and `log_switcher`, how a directory is verified in `check`.

use crate::activity::SessionActivity;
use crate::background::{Background, LAUNCHER, WORKER};
use crate::breakdown::{self, Breakdown, Breakdowns};
use crate::catalog::bootstrap::bootstrap;
use crate::catalog::relation_counts::ClusterCounts;
use crate::catalog::relation_counts::endings::Endings;
use crate::catalog::store::CATALOG_TREE;
use crate::catalog::{Catalog, CatalogSnapshot, Loaded, sequence};
use crate::copy::server_files::ServerFiles;
use crate::error::{Result, SqlError, cancel};
use crate::host::ServerHost;
use crate::message::AnswerAfter;
use crate::notify::Channels;
use crate::prepared::PlanCache;
use crate::settings::STATEMENT_STATISTICS;
use crate::settings::auto_file::AutoFile;
use crate::settings::server::ServerSettings;
use crate::statement_statistics::StatementStatistics;
use crate::system::{Activity, Counters, SessionTimes};
use crate::tuple::row_id::RowIds;
use crate::types::Oid;
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use txn::sync::{Mutex, MutexGuard, lock, rank};
use txn::{DataComponent, Environment, Manager, SchemeKind, SessionWait};

/// What the engine is opened with: what the server read from file, environment and flags.
#[derive(Clone, Debug, Default)]
pub struct EngineOptions {
    /// Limits of the layers below.
    pub txn: txn::Options,
    /// The server's settings.
    pub settings: ServerSettings,
    /// The server's own version: `version()` names it.
    pub version: String,
    /// What COPY opens files by; none where there is no server.
    pub files: Option<Arc<dyn ServerFiles>>,
    /// What ALTER SYSTEM changes; none where there is no server.
    pub auto_file: Option<Arc<dyn AutoFile>>,
    /// The process around the engine; none where there is no server.
    pub host: Option<Arc<dyn ServerHost>>,
    /// The concurrency control of the databases of a new directory.
    pub concurrency_control: SchemeKind,
}

/// Sessions by process number.
pub(crate) type Sessions = HashMap<u32, Arc<SessionActivity>>;

/// The engine.
pub struct Engine {
    manager: Arc<Manager>,
    catalog: Arc<Catalog>,
    settings: ArcSwap<ServerSettings>,
    /// How often they have been taken anew.
    reloads: AtomicU64,
    plans: PlanCache,
    plan_uses: Box<[PlanUses]>,
    row_ids: RowIds,
    version: String,
    /// All sessions, by process number.
    sessions: Mutex<Sessions, { rank::SESSIONS }>,
    /// Who knows all sessions: the server.
    peers: Mutex<Option<Arc<dyn Peers>>, { rank::ACTIVITY }>,
    channels: Channels,
    files: Option<Arc<dyn ServerFiles>>,
    auto_file: Option<Arc<dyn AutoFile>>,
    host: Option<Arc<dyn ServerHost>>,
    started: i64,
    /// When the server's settings were read last.
    configured: AtomicI64,
    /// What had been counted when the counters were last reset, and when that was.
    counters_base: Mutex<Counters, { rank::ACTIVITY }>,
    /// What sessions count of relations.
    relation_counts: Arc<ClusterCounts>,
    autovacuum: Arc<Background>,
    /// The session of who looks after a table, while there is one.
    autovacuum_worker: Mutex<Option<Arc<SessionWait>>, { rank::ACTIVITY }>,
    log_switcher: Arc<Background>,
    /// What statements have cost; none where the server has not begun with that library.
    statements: Option<StatementStatistics>,
    /// Where their time has gone.
    breakdowns: Breakdowns,
    /// What sessions that are gone have come to, by database, and what had when that was last reset.
    session_times: Mutex<HashMap<Oid, (SessionTimes, SessionTimes)>, { rank::ACTIVITY }>,
}

/// What a worker has asked of the plan cache. On a cache line of its own: no two workers write one.
#[derive(Debug, Default)]
#[repr(align(128))]
struct PlanUses {
    hits: AtomicU64,
    misses: AtomicU64,
}

/// What has been asked of the plan cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanMetrics {
    /// Plans found by their text.
    pub hits: u64,
    /// Plans that had to be made.
    pub misses: u64,
    /// Plans that are kept.
    pub kept: u64,
}

/// So many process numbers, from 1, are those of threads in the background: no session has one of them.
pub const BACKGROUND: u32 = WORKER;

/// All sessions there are, as the server knows them.
pub trait Peers: Send + Sync {
    /// Raises the cancel of the session with this process number; false if there is none.
    fn signal(&self, pid: u32, reason: u32) -> bool;
    /// Wakes the session, if it is idle: there are notifications for it.
    fn wake(&self, pid: u32);
}

impl Engine {
    /// Makes an empty directory into a database with the superuser `superuser` and the databases postgres, template0
    /// and template1.
    ///
    /// # Errors
    /// Storage's.
    pub fn create(
        env: &Environment,
        options: &EngineOptions,
        superuser: &str,
        verifier: Option<&str>,
    ) -> Result<()> {
        Manager::create(env, &options.txn)?;
        let manager =
            Manager::open(env.clone(), options.txn.clone(), |_| Ok::<_, SqlError>(Vec::new()))?;
        bootstrap(&manager, superuser, verifier, options.concurrency_control)?;
        Ok(manager.close()?)
    }

    /// Opens a directory.
    ///
    /// # Errors
    /// Storage's.
    pub fn open(env: Environment, options: EngineOptions) -> Result<Arc<Engine>> {
        let started = env.clock.wall();
        let mut loaded = None;
        let unwatched = Some(CATALOG_TREE);
        let limits = txn::Options { unwatched, ..options.txn };
        let manager = Manager::open(env, limits, |manager| {
            let read = Loaded::read(manager)?;
            let trees = read.live_trees();
            loaded = Some(read);
            Ok::<_, SqlError>(trees)
        })?;
        let loaded = loaded.expect("opening asks which trees are alive");
        let catalog = Catalog::open(&manager, loaded)?;
        let mut settings = options.settings;
        let preloaded = settings.show("shared_preload_libraries").unwrap_or_default();
        let statements = crate::settings::libraries(&preloaded)?
            .contains(&STATEMENT_STATISTICS)
            .then(|| StatementStatistics::new(settings.number("pg_stat_statements.max"), started));
        if let Some(statements) = &statements {
            match settings.is_on("pg_stat_statements.save") {
                true => statements.load(manager.environment()),
                false => StatementStatistics::forget(manager.environment()),
            }
        }
        settings.state_number("block_size", i64::from(manager.data().page_bytes()))?;
        let row_ids = RowIds::of(&manager);
        Ok(Arc::new(Engine {
            relation_counts: Arc::new(ClusterCounts::new(&catalog)),
            statements,
            breakdowns: Breakdowns::default(),
            autovacuum: Arc::default(),
            autovacuum_worker: Mutex::default(),
            log_switcher: Arc::default(),
            catalog,
            plan_uses: (0..manager.environment().scheduler.slots())
                .map(|_| PlanUses::default())
                .collect(),
            manager,
            settings: ArcSwap::from_pointee(settings),
            reloads: AtomicU64::new(0),
            plans: PlanCache::default(),
            row_ids,
            version: options.version,
            sessions: Mutex::default(),
            channels: Channels::default(),
            peers: Mutex::default(),
            files: options.files,
            auto_file: options.auto_file,
            host: options.host,
            started,
            configured: AtomicI64::new(started),
            session_times: Mutex::default(),
            counters_base: Mutex::new(Counters { since: started, ..Counters::default() }),
        }))
    }

    /// What COPY opens files by.
    pub(crate) fn server_files(&self) -> Option<Arc<dyn ServerFiles>> {
        self.files.clone()
    }

    /// The process around it.
    pub(crate) fn host(&self) -> Option<Arc<dyn ServerHost>> {
        self.host.clone()
    }

    pub(crate) fn listed(&self) -> MutexGuard<'_, Sessions, { rank::SESSIONS }> {
        lock(&self.sessions)
    }

    /// The session with this process number has ended.
    pub(crate) fn disconnected(&self, pid: u32) {
        let gone = self.listed().remove(&pid);
        self.channels.forget(pid);
        if let Some(gone) = gone {
            self.breakdowns.session_ended(&gone.spent.get());
            let times = gone.times(self.manager.environment().clock.wall());
            let mut kept = lock(&self.session_times);
            let sum = &mut kept.entry(gone.database).or_default().0;
            *sum = sum.plus(times);
        }
    }

    /// What the sessions of a database have come to, those that are gone too; of all databases together for none.
    pub(crate) fn session_times(&self, database: Option<Oid>) -> SessionTimes {
        let is_meant = |oid: Oid| database.is_none_or(|database| database == oid);
        let now = self.manager.environment().clock.wall();
        let running = {
            let listed = self.listed();
            let meant = listed.values().filter(|session| is_meant(session.database));
            meant
                .map(|session| session.times(now))
                .fold(SessionTimes::default(), SessionTimes::plus)
        };
        let kept = lock(&self.session_times);
        let meant = kept.iter().filter(|(oid, _)| is_meant(**oid));
        let (gone, base) =
            meant.fold(Default::default(), |sum: (SessionTimes, SessionTimes), found| {
                (sum.0.plus(found.1.0), sum.1.plus(found.1.1))
            });
        running.plus(gone).since(base)
    }

    /// Begins to count those of a database anew.
    pub(crate) fn reset_session_times(&self, database: Oid) {
        let now = self.session_times(Some(database));
        let mut kept = lock(&self.session_times);
        let base = &mut kept.entry(database).or_default().1;
        *base = base.plus(now);
    }

    /// How many sessions a database has, without the one that asks.
    pub(crate) fn other_sessions(&self, database: Oid, own: u32) -> usize {
        let looked_after =
            self.listed().get(&WORKER).is_some_and(|worker| worker.database == database);
        if looked_after {
            self.interrupt_autovacuum(cancel::TERMINATE);
        }
        let all = self.listed();
        all.iter().filter(|(pid, session)| **pid != own && session.database == database).count()
    }

    /// Whether an answer may leave that depends on `after`: see [`Manager::poll_answer`]. If not, `waker` is woken when
    /// it is worth asking again.
    ///
    /// # Errors
    /// The instance has halted: nobody may be answered.
    pub fn poll_answer(&self, after: AnswerAfter, waker: &Waker) -> Poll<Result<()>> {
        match self.manager.poll_answer(after.durable, waker) {
            Poll::Ready(Ok(())) => self.manager.poll_visible(after.visible, waker).map(Ok),
            other => other.map_err(SqlError::from),
        }
    }

    /// As [`Engine::poll_answer`], by waiting in place: for a session that tells something while its statement goes on.
    pub(crate) fn wait_answer(&self, after: AnswerAfter, session: &SessionWait) -> Result<()> {
        self.manager.wait_answer(after.durable, session)?;
        Ok(self.manager.wait_visible(after.visible, session)?)
    }

    /// Does itself what an answer waits for, where that is likely to be quicker than to have it done: see [`Log::help`].
    ///
    /// [`Log::help`]: storage::Log::help
    pub fn help_answer(&self, after: AnswerAfter) {
        self.manager.help_answer(after.durable);
    }

    /// A server-wide setting's value as SHOW prints it.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<String> {
        self.settings.load().show(name)
    }

    /// Takes the settings of file, environment and flags anew (SIGHUP).
    pub fn reload(&self, settings: ServerSettings) {
        let next = self.settings.load().reloaded(settings);
        self.settings.store(Arc::new(next));
        self.configured.store(self.manager().environment().clock.wall(), Release);
        // Release: whoever sees the number takes these.
        self.reloads.fetch_add(1, Release);
        for thread in [&self.autovacuum, &self.log_switcher] {
            thread.wake(self.manager.environment());
        }
    }

    /// What ends old segments of the log.
    pub(crate) fn log_switcher(&self) -> &Arc<Background> {
        &self.log_switcher
    }

    /// What looks after tables.
    pub(crate) fn autovacuum(&self) -> &Arc<Background> {
        &self.autovacuum
    }

    /// Has a thread do `body` from now on, which keeps the engine only while it is at work. If it dies, the instance halts.
    pub(crate) fn begin_background(
        self: &Arc<Engine>,
        name: &'static str,
        own: &Arc<Background>,
        body: fn(&Weak<Engine>, &Background),
    ) {
        let (weak, signals) = (Arc::downgrade(self), Arc::clone(own));
        let halting = Weak::clone(&weak);
        let halt = move |why: &str| {
            if let Some(engine) = halting.upgrade() {
                engine.manager().data().log().halt(why);
            }
        };
        let environment = self.manager.environment();
        own.runs(environment.background(name, halt, move || body(&weak, &signals)));
    }

    /// A table is looked after from now on by the session of `wait`, which gives up what others wait for.
    pub(crate) fn worker_begins(&self, wait: Arc<SessionWait>) {
        *lock(&self.autovacuum_worker) = Some(Arc::clone(&wait));
        self.manager.set_yielding(Some((wait, cancel::YIELD)));
    }

    /// It is done.
    pub(crate) fn worker_ends(&self) {
        self.manager.set_yielding(None);
        *lock(&self.autovacuum_worker) = None;
    }

    /// Has who looks after a table give up what it does.
    fn interrupt_autovacuum(&self, reason: u32) {
        let worker = lock(&self.autovacuum_worker).clone();
        if let Some(worker) = worker {
            self.manager.environment().raise(&worker.cancel, reason);
        }
    }

    /// How often the settings have been taken anew: sessions do so too when they see another number.
    pub(crate) fn reloads(&self) -> u64 {
        self.reloads.load(Acquire)
    }

    /// The server's settings.
    pub(crate) fn server_settings(&self) -> Arc<ServerSettings> {
        self.settings.load_full()
    }

    /// What ALTER SYSTEM changes.
    pub(crate) fn auto_file(&self) -> Option<Arc<dyn AutoFile>> {
        self.auto_file.clone()
    }

    /// Makes the sessions known to each other.
    pub fn set_peers(&self, peers: Arc<dyn Peers>) {
        *lock(&self.peers) = Some(peers);
    }

    fn peers(&self) -> Option<Arc<dyn Peers>> {
        lock(&self.peers).clone()
    }

    pub(crate) fn activity(&self) -> Vec<Activity> {
        let mut all: Vec<Activity> = self.listed().values().map(|session| session.row()).collect();
        if self.host.is_some() {
            all.extend(self.threads());
        }
        all.sort_by_key(|session| session.pid);
        all
    }

    /// What works in the background, by PostgreSQL's names for who does the same there.
    fn threads(&self) -> impl Iterator<Item = Activity> {
        const THREADS: [(&str, &str); LAUNCHER as usize] = [
            ("checkpointer", "CheckpointerMain"),
            ("background writer", "BgWriterMain"),
            ("walwriter", "WalWriterMain"),
            ("archiver", "ArchiverMain"),
            ("autovacuum launcher", "AutoVacuumMain"),
        ];
        let looks_after = self.settings.load().is_on("autovacuum");
        let archives = self.manager.data().log().archive_counters().is_some();
        let backend_start = self.started;
        THREADS
            .into_iter()
            .zip(1..)
            .filter(move |((kind, _), _)| match *kind {
                "archiver" => archives,
                "autovacuum launcher" => looks_after,
                _ => true,
            })
            .map(move |((kind, event), pid)| Activity {
                pid,
                kind,
                backend_start,
                wait: Some(("Activity", event)),
                ..Activity::default()
            })
    }

    /// What has been counted since the start or the last reset.
    pub(crate) fn counters(&self) -> Counters {
        self.counted().since(&lock(&self.counters_base))
    }

    /// Begins to count anew.
    pub(crate) fn reset_counters(&self) {
        let since = self.manager.environment().clock.wall();
        *lock(&self.counters_base) = Counters { since, ..self.counted() };
        self.breakdowns.reset();
    }

    /// How the transactions of each database have ended, by its name and the scheme's.
    #[must_use]
    pub fn endings(&self) -> Vec<(String, &'static str, Endings)> {
        let current = self.catalog.current();
        let seen = self.relation_counts.look(Oid(0)).endings;
        let named = seen.into_iter().filter_map(|((oid, scheme), endings)| {
            let database = current.shared().database_by_oid(oid)?;
            Some((database.name.to_string(), scheme.name(), endings))
        });
        let mut all: Vec<_> = named.collect();
        all.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
        all
    }

    /// What sessions count of relations.
    pub(crate) fn relation_counts(&self) -> &Arc<ClusterCounts> {
        &self.relation_counts
    }

    /// Where the time of statements has gone.
    pub(crate) fn breakdowns(&self) -> &Breakdowns {
        &self.breakdowns
    }

    /// Where the time of sessions and statements has gone, by `pg_stat_atoll_breakdown`.
    pub(crate) fn breakdown_rows(&self) -> Vec<breakdown::Row> {
        let mut rows: Vec<breakdown::Row> = self
            .listed()
            .iter()
            .map(|(pid, session)| breakdown::Row {
                pid: Some(*pid),
                user: session.user,
                database: session.database,
                statement: None,
                spent: session.spent.get(),
            })
            .filter(|row| row.spent.breakdown.total() > 0)
            .collect();
        rows.sort_by_key(|row| row.pid);
        rows.extend(self.breakdowns.rows());
        rows
    }

    /// Where the time of all sessions has gone since the start, as far as that was measured.
    #[must_use]
    pub fn breakdown(&self) -> Breakdown {
        let mut all = self.breakdowns.of_ended().breakdown;
        for session in self.listed().values() {
            all.add_all(&session.spent.get().breakdown);
        }
        all
    }

    /// What statements have cost, where that is counted.
    pub(crate) fn statements(&self) -> Option<&StatementStatistics> {
        self.statements.as_ref()
    }

    fn counted(&self) -> Counters {
        let done = self.manager.metrics();
        let data = self.manager.data();
        let (log, claims) = (data.log().flush_counters(), data.log().insert_counters());
        let pool = &data.forest().volume().pool.counters;
        Counters {
            commits: done.commits,
            rollbacks: done.rollbacks
                + done.aborts_conflict
                + done.aborts_deadlock
                + done.aborts_lock
                + done.aborts_cancelled
                + done.aborts_other,
            deadlocks: done.deadlocks,
            pages_read: pool.reads.get(),
            pages_hit: pool.hits(),
            pages_written: pool.writes.get(),
            pages_placed: pool.misses.get(),
            checkpoints: data.checkpoint_counters().taken,
            log_records: claims.mutex_inserts
                + claims.decoupled_claims
                + claims.consolidated_alone
                + claims.consolidated_groups
                + claims.consolidated_joins
                + claims.atomic_adds,
            log_bytes: log.bytes,
            log_writes: log.writes,
            log_syncs: log.syncs,
            log_sync_us: log.sync_us,
            log_full_waits: log.room_waits,
            since: 0,
        }
    }

    pub(crate) fn signal(&self, pid: u32, reason: u32) -> bool {
        self.peers().is_some_and(|peers| peers.signal(pid, reason))
    }

    /// Who listens to what.
    pub(crate) fn channels(&self) -> &Channels {
        &self.channels
    }

    /// Wakes sessions that have notifications.
    pub(crate) fn wake(&self, sessions: &[u32]) {
        // Most commits wake nobody, and all of them would meet here.
        if !sessions.is_empty()
            && let Some(peers) = self.peers()
        {
            sessions.iter().for_each(|pid| peers.wake(*pid));
        }
    }

    /// `pg_conf_load_time()`: when the server's settings were read last.
    pub(crate) fn configured(&self) -> i64 {
        self.configured.load(Acquire)
    }

    /// `pg_postmaster_start_time()`.
    pub(crate) fn started(&self) -> i64 {
        self.started
    }

    /// `version()`.
    pub(crate) fn version_text(&self) -> String {
        format!(
            "PostgreSQL 15.20 (Atoll {}) on {}-linux, compiled by rustc, {}-bit",
            self.version,
            std::env::consts::ARCH,
            usize::BITS
        )
    }

    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    pub(crate) fn plans(&self) -> &PlanCache {
        &self.plans
    }

    fn plan_uses(&self) -> &PlanUses {
        &self.plan_uses[self.manager.environment().scheduler.slot()]
    }

    /// A plan was found by its text.
    pub(crate) fn plan_found(&self) {
        self.plan_uses().hits.fetch_add(1, Relaxed);
    }

    /// A plan had to be made.
    pub(crate) fn plan_made(&self) {
        self.plan_uses().misses.fetch_add(1, Relaxed);
    }

    /// What has been asked of the plan cache, for metrics.
    #[must_use]
    pub fn plan_metrics(&self) -> PlanMetrics {
        let sum = |of: fn(&PlanUses) -> &AtomicU64| {
            self.plan_uses.iter().map(|uses| of(uses).load(Relaxed)).sum()
        };
        PlanMetrics {
            hits: sum(|uses| &uses.hits),
            misses: sum(|uses| &uses.misses),
            kept: self.plans.len() as u64,
        }
    }

    pub(crate) fn row_ids(&self) -> &RowIds {
        &self.row_ids
    }

    /// Some database's catalog, for what is the same in all.
    pub(crate) fn any_snapshot(&self) -> CatalogSnapshot {
        let template = crate::catalog::object::well_known::TEMPLATE1;
        self.catalog.snapshot(template).expect("template1 is never dropped")
    }

    /// Whether the directory at `root` holds a database, of whatever format; nothing in it is touched.
    #[must_use]
    pub fn is_at(root: &std::path::Path) -> bool {
        DataComponent::is_at(root)
    }

    /// The transaction component, for metrics.
    #[must_use]
    pub fn manager(&self) -> &Arc<Manager> {
        &self.manager
    }

    /// Stops after a last checkpoint. No session is left.
    ///
    /// # Errors
    /// Storage's.
    pub fn close(&self) -> Result<()> {
        let environment = self.manager.environment();
        self.autovacuum.stop(environment);
        self.interrupt_autovacuum(cancel::SHUTDOWN);
        self.autovacuum.join();
        self.log_switcher.stop(environment);
        self.log_switcher.join();
        let settled = sequence::settle(&self.catalog);
        let saved = match &self.statements {
            Some(statements) if self.settings.load().is_on("pg_stat_statements.save") => {
                statements.save(self.manager.environment())
            }
            _ => Ok(()),
        };
        self.manager.close()?;
        settled.and(saved)
    }
}
