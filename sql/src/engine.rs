//! The engine: all databases of one directory, opened once, handing out sessions.

use crate::error::{Result, SqlError};
use crate::session::Session;
use std::sync::Arc;
use std::task::{Poll, Waker};
use txn::{Environment, Lsn, Manager, SessionWait};

/// What the engine is opened with: what the server read from file, environment and flags.
#[derive(Clone, Debug, Default)]
pub struct EngineOptions {
    /// Limits of the layers below.
    pub txn: txn::Options,
    /// Settings by PostgreSQL's names, weakest source first: (name, value).
    pub settings: Vec<(String, String)>,
    /// The server's own version: `version()` names it.
    pub version: String,
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

/// The engine.
pub struct Engine {
    manager: Arc<Manager>,
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
        _superuser: &str,
        _verifier: Option<&str>,
    ) -> Result<()> {
        Ok(Manager::create(env, &options.txn)?)
    }

    /// Opens a directory.
    ///
    /// # Errors
    /// Storage's; settings that PostgreSQL would not start with.
    pub fn open(env: Environment, options: EngineOptions) -> Result<Arc<Engine>> {
        let manager = Manager::open(env, options.txn, |_| Ok::<_, SqlError>(Vec::new()))?;
        Ok(Arc::new(Engine { manager }))
    }

    /// What authentication needs to know of a role; none if there is no such role.
    #[must_use]
    pub fn role(&self, _name: &str) -> Option<RoleLogin> {
        None
    }

    /// The roles that `name` is a member of, itself first (`pg_hba.conf`'s `+group`).
    #[must_use]
    pub fn memberships(&self, name: &str) -> Vec<String> {
        vec![name.to_owned()]
    }

    /// Opens a session.
    ///
    /// # Errors
    /// 3D000, 42501, 53300, 42704, 22023: all FATAL.
    pub fn connect(
        self: &Arc<Self>,
        _connect: Connect,
        _wait: Arc<SessionWait>,
    ) -> Result<Session> {
        Err(SqlError::unsupported("sessions are"))
    }

    /// Whether an answer that depends on `lsn` may leave: see [`Manager::poll_answer`].
    ///
    /// # Errors
    /// The instance has halted: nobody may be answered.
    pub fn poll_answer(&self, lsn: Lsn, waker: &Waker) -> Poll<Result<()>> {
        self.manager.poll_answer(lsn, waker).map_err(SqlError::from)
    }

    /// A server-wide setting's value as SHOW prints it.
    #[must_use]
    pub fn setting(&self, _name: &str) -> Option<String> {
        None
    }

    /// Takes the settings of file, environment and flags anew (SIGHUP).
    pub fn reload(&self, _settings: Vec<(String, String)>) {}

    /// Verifies every page of every tree while nobody else is at work, and says what is wrong, a line each.
    ///
    /// # Errors
    /// I/O.
    pub fn check(&self) -> Result<Vec<String>> {
        let problems = self.manager.data().forest().check().map_err(txn::Error::from)?;
        Ok(problems.iter().map(ToString::to_string).collect())
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
        Ok(self.manager.close()?)
    }
}
