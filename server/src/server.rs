//! The server, as its sessions see it: one engine, who is connected, the configuration and what it reads anew.

use crate::archive::ArchiveCommand;
use crate::checkpoint_log::CheckpointLog;
use crate::config::{Config, Sources, hba_path, ident_path};
use crate::engine_metrics;
use crate::hba::{Rules, UserMaps};
use crate::log;
use crate::metrics::{self, Counters};
use crate::peer::Peers;
use crate::process::end_halted;
use crate::timers::Timers;
use crate::tls::Tls;
use sql::{Engine, Environment, SqlError};
use std::sync::{Arc, RwLock};

/// The server, as its sessions see it.
pub struct Server {
    /// The engine.
    pub engine: Arc<Engine>,
    /// Sessions.
    pub peers: Arc<Peers>,
    /// Statement timeouts.
    pub timers: Arc<Timers>,
    /// Counters of the protocol.
    pub counters: Arc<Counters>,
    /// What salts of users that do not exist are made from.
    pub mock_key: [u8; 32],
    /// What the engine was opened in.
    pub(crate) environment: Environment,
    /// Where segments of the log go, if anywhere.
    pub(crate) archive: Option<Arc<ArchiveCommand>>,
    /// What tells of checkpoints.
    pub(crate) checkpoint_log: Arc<CheckpointLog>,
    /// Where the configuration comes from.
    pub(crate) sources: Sources,
    /// What a reload may change.
    pub(crate) changeable: RwLock<Changeable>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("sessions", &self.peers.len()).finish_non_exhaustive()
    }
}

/// What a reload may change.
#[derive(Clone, Debug)]
pub(crate) struct Changeable {
    /// The configuration.
    pub(crate) config: Arc<Config>,
    /// Who may connect.
    pub(crate) rules: Arc<Rules>,
    /// Whom the system's users may be.
    pub(crate) maps: Arc<UserMaps>,
    /// TLS, if it is on.
    pub(crate) tls: Option<Arc<Tls>>,
}

impl Server {
    /// The configuration as it is now.
    #[must_use]
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.changeable().config)
    }

    /// Who may connect, and whom the system's users may be, as these are now.
    #[must_use]
    pub fn rules(&self) -> (Arc<Rules>, Arc<UserMaps>) {
        let now = self.changeable();
        (Arc::clone(&now.rules), Arc::clone(&now.maps))
    }

    /// TLS, if it is on.
    #[must_use]
    pub fn tls(&self) -> Option<Arc<Tls>> {
        self.changeable().tls.clone()
    }

    fn changeable(&self) -> std::sync::RwLockReadGuard<'_, Changeable> {
        self.changeable.read().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Microseconds since 2000-01-01 UTC.
    #[must_use]
    pub fn wall_clock(&self) -> i64 {
        self.environment.clock.wall()
    }

    /// Ends the process: the log has failed, and only recovery may start it again.
    pub fn halt(&self, error: &SqlError) -> ! {
        end_halted(&error.fields().message)
    }

    /// All metrics, as Prometheus text.
    #[must_use]
    pub fn metrics(&self) -> String {
        let mut text = String::new();
        metrics::exposition(&self.counters, self.peers.len(), &mut text);
        engine_metrics::exposition(&self.engine, &mut text);
        text
    }

    /// Reads the configuration again. What is wrong is logged, and what was valid before stays.
    pub(crate) fn reload(&self) {
        tracing::info!("received SIGHUP, reloading configuration files");
        let config = match self.sources.read() {
            Ok(config) => Arc::new(config),
            Err(error) => {
                return tracing::error!("configuration not changed: {}", error.fields().message);
            }
        };
        let mut next = self.changeable().clone();
        match Rules::read(&hba_path(&config, &self.sources.data), config.is_on("ssl")) {
            Ok(rules) => next.rules = Arc::new(rules),
            Err(errors) => {
                errors.iter().for_each(|error| tracing::error!("{error}"));
                tracing::error!("{} was not reloaded", crate::config::HBA_FILE);
            }
        }
        match UserMaps::read(&ident_path(&config, &self.sources.data)) {
            Ok(maps) => next.maps = Arc::new(maps),
            Err(errors) => {
                errors.iter().for_each(|error| tracing::error!("{error}"));
                tracing::error!("{} was not reloaded", crate::config::IDENT_FILE);
            }
        }
        match Tls::load(&config, &self.sources.data) {
            Ok(tls) => next.tls = tls.map(Arc::new),
            Err(error) => tracing::error!("SSL configuration was not reloaded: {error}"),
        }
        log::reload(&config, &self.sources.data);
        self.checkpoint_log.set(config.is_on("log_checkpoints"));
        self.engine.reload(config.settings.clone());
        if let Some(archive) = &self.archive {
            archive.set_command(config.text("archive_command"));
            self.engine.manager().data().log().wake_archiver();
        }
        next.config = config;
        *self.changeable.write().unwrap_or_else(std::sync::PoisonError::into_inner) = next;
    }
}
