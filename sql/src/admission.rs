//! Who may begin a session, and as what: what a start-up packet asks for against roles, databases and their limits
//! (`InitPostgres`), and the settings that the session begins with.

use crate::activity::SessionActivity;
use crate::background::WORKER_KIND;
use crate::catalog::CatalogTransaction;
use crate::catalog::acl::Privileges;
use crate::catalog::object::{Class, Database, ObjectKey, Role, well_known};
use crate::catalog::relation_counts::SessionCounts;
use crate::catalog::store;
use crate::engine::{Engine, Sessions};
use crate::error::{Result, Severity, SqlError};
use crate::queries::identity::{Identity, SettingUser};
use crate::session::Session;
use crate::settings::Moment;
use crate::settings::server::Source;
use crate::settings::session::Settings;
use crate::settings::socket::SocketTimes;
use crate::settings::value::FoundRole;
use crate::sqlstate::SqlState;
use crate::system::{CLIENT, Encryption};
use crate::types::Oid;
use std::sync::Arc;
use txn::{Begin, SchemeKind, SessionWait};

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

impl Engine {
    /// What authentication needs to know of a role; none if there is no such role.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<RoleLogin> {
        let current = self.catalog().current();
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
        let current = self.catalog().current();
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
        let current = self.catalog().current();
        let shared = current.shared();
        let name = shared.database_by_oid(database).map(|found| found.name.to_string());
        let user = shared.role_by_oid(well_known::SUPERUSER).map(|found| found.name.to_string());
        let connect = Connect {
            database: name.unwrap_or_default(),
            user: user.unwrap_or_default(),
            ..Connect::default()
        };
        self.admit_as(connect, wait, WORKER_KIND)
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
        let current = self.catalog().current();
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
        let catalog = CatalogTransaction::new(self.catalog(), database.oid)?;
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
        let mut settings = Settings::new(self.server_settings());
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
            self.manager().environment().clock.wall(),
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
        let counts = SessionCounts::new(self.relation_counts(), (database.oid, scheme), &wait);
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
            self.manager().begin(Begin { read_only: true, ..Begin::default() }, wait);
        transaction.begin_statement()?;
        let key = ObjectKey { class: Class::Database, database: Oid(0), oid: database, sub: 0 };
        let found = store::hold(&mut transaction, self.catalog().tree(), key)?;
        let scheme = self
            .catalog()
            .current()
            .shared()
            .database_by_oid(database)
            .map(|found| found.concurrency_control);
        let _ = transaction.commit(&mut |_| ())?;
        scheme.filter(|_| found).ok_or_else(|| {
            SqlError::new(SqlState::INVALID_CATALOG_NAME, "the database has just been dropped")
        })
    }
}
