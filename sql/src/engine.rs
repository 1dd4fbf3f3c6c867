//! The engine: all databases of one directory, opened once, handing out sessions.

use crate::autovacuum::{self, Autovacuum};
use crate::breakdown::{self, Breakdown, Breakdowns};
use crate::catalog::acl::Privileges;
use crate::catalog::bootstrap::bootstrap;
use crate::catalog::object::{Class, Database, ObjectKey, Role, well_known};
use crate::catalog::relation_counts::endings::Endings;
use crate::catalog::relation_counts::{ClusterCounts, SessionCounts};
use crate::catalog::store::{self, CATALOG_TREE};
use crate::catalog::{Catalog, CatalogSnapshot, CatalogTransaction, Loaded, sequence};
use crate::check;
use crate::copy::server_files::ServerFiles;
use crate::error::{Result, Severity, SqlError, cancel};
use crate::host::ServerHost;
use crate::log_switcher::LogSwitcher;
use crate::queries::identity::{Identity, SettingUser};
use crate::session::activity::SessionActivity;
use crate::session::notify::Channels;
use crate::session::semantics::with_semantics;
use crate::session::statement::PlanCache;
use crate::session::{AnswerAfter, Session};
use crate::settings::auto_file::AutoFile;
use crate::settings::server::{ServerSettings, Source};
use crate::settings::session::Settings;
use crate::settings::socket::SocketTimes;
use crate::settings::value::FoundRole;
use crate::settings::{Moment, STATEMENT_STATISTICS};
use crate::sqlstate::SqlState;
use crate::statement_statistics::StatementStatistics;
use crate::system::Encryption;
use crate::system::{Activity, CLIENT, Counters, SessionTimes};
use crate::tuple::row_id::RowIds;
use crate::types::Oid;
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::task::{Poll, Waker};
use txn::sync::{Mutex, MutexGuard, lock, rank};
use txn::{
    Begin, DataComponent, Environment, Manager, OverlayDevice, SchemeKind, SessionWait,
    StorageError,
};

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

/// What a start-up packet asks for, after authentication.
#[derive(Clone, Debug, Default)]
pub struct Connect {
    /// `database`.
    pub database: String,
    /// `user`.
    pub user: String,
    /// All other parameters, `options` taken apart: settings for this session, unchecked.
    pub settings: Vec<(String, String)>,
    /// The client's address, none for a Unix socket.
    pub client: Option<std::net::SocketAddr>,
    /// The address at which it reached the server, none for a Unix socket.
    pub server: Option<std::net::SocketAddr>,
    /// How the connection is protected, if it is.
    pub encryption: Option<Encryption>,
    /// What its socket does by itself, if it is one of TCP.
    pub socket: Option<SocketTimes>,
}

/// What authentication needs of a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleLogin {
    /// `rolcanlogin`.
    pub can_login: bool,
    /// `rolsuper`.
    pub superuser: bool,
    /// The SCRAM verifier as PostgreSQL stores it; none: no password.
    pub verifier: Option<String>,
    /// `rolconnlimit`.
    pub connection_limit: i32,
    /// `rolvaliduntil`, microseconds since 2000-01-01 UTC.
    pub valid_until: Option<i64>,
}

/// Sessions by process number.
type Sessions = HashMap<u32, Arc<SessionActivity>>;

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
    autovacuum: Arc<Autovacuum>,
    log_switcher: Arc<LogSwitcher>,
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

/// 53300 where a role or a database has as many sessions as it may have.
fn demand_room(listed: &Sessions, role: &Role, database: &Database) -> Result<()> {
    let full = |limit: i32, of: &dyn Fn(&SessionActivity) -> bool| {
        usize::try_from(limit)
            .is_ok_and(|limit| listed.values().filter(|session| of(session)).count() >= limit)
    };
    let whose = if full(role.connection_limit, &|session| session.user == role.oid) {
        format!("role \"{}\"", role.name)
    } else if full(database.connection_limit, &|session| session.database == database.oid) {
        format!("database \"{}\"", database.name)
    } else {
        return Ok(());
    };
    let message = format!("too many connections for {whose}");
    Err(SqlError::new(SqlState::TOO_MANY_CONNECTIONS, message))
}

/// So many process numbers, from 1, are those of threads in the background: no session has one of them.
pub const BACKGROUND: u32 = autovacuum::WORKER;

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

    /// What authentication needs to know of a role; none if there is no such role.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<RoleLogin> {
        let current = self.catalog.current();
        let role = current.shared().role(name)?;
        Some(RoleLogin {
            can_login: role.login,
            superuser: role.superuser,
            verifier: role.verifier.as_deref().map(str::to_owned),
            connection_limit: role.connection_limit,
            valid_until: role.valid_until,
        })
    }

    /// The roles that `name` is a member of, itself first (`pg_hba.conf`'s `+group`).
    #[must_use]
    pub fn memberships(&self, name: &str) -> Vec<String> {
        let current = self.catalog.current();
        let shared = current.shared();
        let Some(role) = shared.role(name) else { return vec![name.to_owned()] };
        let groups = shared.groups_of(role.oid, false);
        let names = groups.iter().filter_map(|group| shared.role_by_oid(group));
        names.map(|role| role.name.to_string()).collect()
    }

    /// Opens a session.
    ///
    /// # Errors
    /// 3D000, 42501, 53300, 42704, 22023: all FATAL.
    pub fn connect(self: &Arc<Self>, connect: Connect, wait: Arc<SessionWait>) -> Result<Session> {
        self.admit(connect, wait).map_err(|error| error.severity(Severity::Fatal))
    }

    /// The session that looks after the tables of a database, as its first superuser.
    pub(crate) fn connect_worker(
        self: &Arc<Self>,
        database: Oid,
        wait: Arc<SessionWait>,
    ) -> Result<Session> {
        let current = self.catalog.current();
        let shared = current.shared();
        let name = shared.database_by_oid(database).map(|found| found.name.to_string());
        let user = shared.role_by_oid(well_known::SUPERUSER).map(|found| found.name.to_string());
        let connect = Connect {
            database: name.unwrap_or_default(),
            user: user.unwrap_or_default(),
            ..Connect::default()
        };
        self.admit_as(connect, wait, autovacuum::WORKER_KIND)
    }

    fn admit(self: &Arc<Self>, connect: Connect, wait: Arc<SessionWait>) -> Result<Session> {
        self.admit_as(connect, wait, CLIENT)
    }

    fn admit_as(
        self: &Arc<Self>,
        connect: Connect,
        wait: Arc<SessionWait>,
        kind: &'static str,
    ) -> Result<Session> {
        let is_client = kind == CLIENT;
        let current = self.catalog.current();
        let shared = current.shared();
        let role = shared.role(&connect.user).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                format!("role \"{}\" does not exist", connect.user),
            )
        })?;
        if is_client && !role.login {
            return Err(SqlError::new(
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
                format!("role \"{}\" is not permitted to log in", connect.user),
            ));
        }
        let database = shared.database(&connect.database).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_CATALOG_NAME,
                format!("database \"{}\" does not exist", connect.database),
            )
        })?;
        if is_client && !database.allow_connections {
            return Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("database \"{}\" is not currently accepting connections", database.name),
            ));
        }
        let catalog = CatalogTransaction::new(&self.catalog, database.oid)?;
        let snapshot = Arc::clone(catalog.last_snapshot());
        if !snapshot.may_on_database(role.oid, database, Privileges::CONNECT) {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied for database \"{}\"", database.name),
            )
            .detail("User does not have CONNECT privilege."));
        }
        let found = FoundRole { oid: role.oid, superuser: role.superuser };
        let identity = Identity {
            user: role.oid,
            user_name: Arc::clone(&role.name),
            authenticated: found,
            session_user: role.oid,
            session_user_name: Arc::clone(&role.name),
            confinement: None,
            database_name: Arc::clone(&database.name),
            pid: wait.pid,
        };
        let setter = SettingUser { shared, identity: &identity };
        let mut notices = Vec::new();
        let mut settings = Settings::new(self.settings.load_full());
        settings.set_socket(connect.socket);
        settings.log_in(&role.name, found);
        for (name, text) in &connect.settings {
            let said = (name.as_str(), Some(text.as_str()));
            settings.assign(said, Moment::Start(Source::Client), &setter, &mut notices)?;
        }
        for (owner, source) in [
            ((database.oid, role.oid), Source::DatabaseUser),
            ((Oid(0), role.oid), Source::User),
            ((database.oid, Oid(0)), Source::Database),
            ((Oid(0), Oid(0)), Source::Global),
        ] {
            for (name, text) in shared.settings(owner.0, owner.1) {
                let kept = (name.as_str(), Some(text.as_str()));
                let refused = settings.assign(kept, Moment::Start(source), &setter, &mut notices);
                notices.extend(refused.err().map(|error| error.severity(Severity::Warning)));
            }
        }
        settings.preload()?;
        let activity = Arc::new(SessionActivity::new(
            kind,
            (database.oid, role.oid),
            (connect.client, connect.server, connect.encryption),
            self.manager.environment().clock.wall(),
            settings.integer("track_activity_query_size"),
            &wait,
        ));
        let mut listed = self.listed();
        if !role.superuser {
            demand_room(&listed, role, database)?;
        }
        listed.insert(wait.pid, Arc::clone(&activity));
        drop(listed);
        let scheme = match self.scheme_of(database.oid, &wait) {
            Ok(scheme) => scheme,
            Err(error) => {
                self.listed().remove(&wait.pid);
                return Err(error);
            }
        };
        let counts = SessionCounts::new(&self.relation_counts, (database.oid, scheme), &wait);
        let mut session = Session::open(self, wait, identity, settings, catalog, activity, counts);
        session.open_database(database.oid, scheme);
        if !is_client {
            session.counts_as_automatic();
        }
        session.tell(notices);
        Ok(session)
    }

    /// The concurrency control of a database whose session is listed: whoever changes it, or drops the database, waits for
    /// sessions that are listed, and has the database locked while he looks for them.
    fn scheme_of(&self, database: Oid, wait: &Arc<SessionWait>) -> Result<SchemeKind> {
        let mut transaction =
            self.manager.begin(Begin { read_only: true, ..Begin::default() }, wait);
        transaction.begin_statement()?;
        let key = ObjectKey { class: Class::Database, database: Oid(0), oid: database, sub: 0 };
        let found = store::hold(&mut transaction, self.catalog.tree(), key)?;
        let scheme = self
            .catalog
            .current()
            .shared()
            .database_by_oid(database)
            .map(|found| found.concurrency_control);
        let _ = transaction.commit(&mut |_| ())?;
        scheme.filter(|_| found).ok_or_else(|| {
            SqlError::new(SqlState::INVALID_CATALOG_NAME, "the database has just been dropped")
        })
    }

    fn listed(&self) -> MutexGuard<'_, Sessions, { rank::SESSIONS }> {
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
        let looked_after = self
            .listed()
            .get(&autovacuum::WORKER)
            .is_some_and(|worker| worker.database == database);
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
        self.wake_autovacuum();
        self.wake_log_switcher();
    }

    /// What ends old segments of the log.
    pub(crate) fn log_switcher(&self) -> &Arc<LogSwitcher> {
        &self.log_switcher
    }

    /// What looks after tables.
    pub(crate) fn autovacuum(&self) -> &Arc<Autovacuum> {
        &self.autovacuum
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
        const THREADS: [(&str, &str); autovacuum::LAUNCHER as usize] = [
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

    /// Verifies a directory that nobody serves, without changing a byte of it, and says what is wrong, a line each: the
    /// control file and the log, then the state that a start would begin with. That state is made in memory, by
    /// recovery on an overlay over the directory, so a directory whose server has died is checked as well as one that
    /// was closed.
    ///
    /// # Errors
    /// I/O; 55000 for a directory that is no database, or one of another format.
    pub fn verify(env: &Environment, options: EngineOptions) -> Result<Vec<String>> {
        if !DataComponent::exists(&*env.device)? {
            let what = "the directory is not an Atoll database".to_owned();
            return Err(StorageError::Refused(what).into());
        }
        let mut problems = Vec::new();
        match txn::verify_log(&*env.device) {
            Ok(_) => {}
            Err(damage @ (StorageError::Corrupt(..) | StorageError::CorruptLog(_))) => {
                problems.push(format!("log: {damage}"));
            }
            Err(error) => return Err(error.into()),
        }
        let device = Arc::new(OverlayDevice::new(Arc::clone(&env.device))?);
        let overlay = Environment { device, ..env.clone() };
        let engine = match Engine::open(overlay, options) {
            Ok(engine) => engine,
            Err(error) if error.state() == SqlState::DATA_CORRUPTED => {
                problems.push(format!("recovery: {}", error.fields().message));
                return Ok(problems);
            }
            Err(error) => return Err(error),
        };
        problems.extend(engine.check()?);
        // It ends what runs in the background; what it writes goes to memory, and where damage keeps it from that, the
        // damage has been told.
        let _ = engine.close();
        Ok(problems)
    }

    /// Verifies every page of every tree, and that tables and their indexes agree, while nobody else is at work; says what
    /// is wrong, a line each. Ends background work first: a tree must not change while it is walked.
    ///
    /// # Errors
    /// I/O.
    pub fn check(self: &Arc<Engine>) -> Result<Vec<String>> {
        self.manager.quiesce();
        let cluster = self.catalog.current();
        let names = check::tree_names(&cluster);
        let problems = self.manager.data().forest().check().map_err(txn::Error::from)?;
        let named =
            problems.iter().map(|problem| match problem.tree.and_then(|tree| names.get(&tree)) {
                Some(name) => format!("{name}: {problem}"),
                None => problem.to_string(),
            });
        let mut problems: Vec<String> = named.collect();
        let settings = Settings::new(self.settings.load_full());
        problems.extend(with_semantics(self, &settings, |semantics| {
            check::tables(&self.manager, &cluster, semantics)
        })?);
        let strays = self.manager.strays().iter();
        problems.extend(
            strays.map(|tree| format!("tree {}: no table or index is defined on it", tree.0)),
        );
        Ok(problems)
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
        self.stop_autovacuum();
        self.stop_log_switcher();
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
