//! The server from start to stop: it opens the engine, listens, minds signals, and ends its sessions.
//!
//! Two runtimes. The *workers* (`runtime.rs`) run sessions, and statements inline on them. The *desk* is one thread of
//! tokio's beside them that takes connections, reads each one's first packet, carries out cancel requests, keeps time, and
//! answers signals and metrics: it runs no statement, so it answers even while every worker is busy.
//!
//! How it stops, as PostgreSQL's postmaster maps signals: SIGTERM and SIGINT end all sessions (57P01), then take the last
//! checkpoint, so that the next start replays nothing (PostgreSQL's SIGTERM would wait for clients to leave by
//! themselves; service managers do not wait for that); SIGQUIT ends at once and leaves the rest to recovery; SIGHUP reads
//! the configuration again.
//!
//! If the log fails, nobody may be told anything any more, not even that their work is undone: the process ends there.

use crate::archive::ArchiveCommand;
use crate::auto_file::SettingsFile;
use crate::checkpoint_log::CheckpointLog;
use crate::config::{Config, Sources, hba_path, ident_path};
use crate::hba::{Rules, UserMaps};
use crate::host::Process;
use crate::listener::{self, Listeners};
use crate::log;
use crate::peer::Peers;
use crate::pid_file::PidFile;
use crate::process::{cores, random};
use crate::restore;
use crate::runtime::Runtime;
use crate::scheduler::Workers;
use crate::server::{Changeable, Server};
use crate::start_error::StartError;
use crate::switched_off;
use crate::timers::Timers;
use crate::tls::Tls;
use crate::user_files::UserFiles;
use sql::environment::{Archive, FileDevice, SystemClock};
use sql::error::cancel;
use sql::{Engine, Environment, SqlError};
use std::path::Path;
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How long sessions may take to notice that they have to end.
const DRAIN: Duration = Duration::from_secs(8);
/// How often that is looked at.
const DRAIN_STEP: Duration = Duration::from_millis(5);
/// Threads that may wait inside the engine beside the sessions' own.
const SPARE_THREADS: usize = 64;
/// Clients' names that are looked up at once; other clients with such a question wait their turn.
const NAME_LOOKUPS_MAX: usize = 64;
/// The environment that a directory is opened in.
///
/// # Errors
/// Another server has it; I/O.
pub fn environment(data: &Path) -> Result<Environment, SqlError> {
    let mut seed = [0; 8];
    random(&mut seed);
    sql::types::secret::hand_in(random);
    Ok(Environment {
        device: Arc::new(FileDevice::open(data).map_err(SqlError::from)?),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Workers::new(cores())),
        seed: u64::from_le_bytes(seed),
    })
}

/// How many event loops a configuration asks for: `atoll.workers`, else one for each core.
fn workers(config: &Config) -> usize {
    match usize::try_from(config.integer("atoll.workers")) {
        Ok(0) | Err(_) => cores(),
        Ok(workers) => workers,
    }
}

/// The archive that a configuration asks for.
fn archive(config: &Config, data: &Path) -> Result<Option<Arc<ArchiveCommand>>, StartError> {
    if config.text("archive_mode") == "off" {
        return Ok(None);
    }
    if config.text("wal_level") == "minimal" {
        let message = "WAL archival cannot be enabled when wal_level is \"minimal\"";
        return Err(message.to_owned().into());
    }
    if !config.text("archive_library").is_empty() {
        return Err("archive_library is not supported: use archive_command".to_owned().into());
    }
    let programs = runs_programs(config);
    Ok(Some(Arc::new(ArchiveCommand::new(data, config.text("archive_command"), programs))))
}

/// Whether programs are run for those who may have them run. Root's are another matter: they could do anything.
fn runs_programs(config: &Config) -> bool {
    !rustix::process::geteuid().is_root() || config.is_on("atoll.run_programs_as_root")
}

/// Refuses a directory that others than its owner can change, or all others can read (`checkDataDir`).
///
/// # Errors
/// What is wrong with it, in PostgreSQL's words.
pub fn check_directory(data: &Path) -> Result<(), StartError> {
    use std::os::unix::fs::MetadataExt;
    let place = data.display();
    let facts = std::fs::metadata(data)
        .map_err(|error| format!("could not read permissions of directory \"{place}\": {error}"))?;
    if facts.uid() != rustix::process::geteuid().as_raw() {
        return Err(StartError(format!(
            "data directory \"{place}\" has wrong ownership\n\
             HINT:  The server must be started by the user that owns the data directory."
        )));
    }
    if facts.mode() & 0o027 != 0 {
        return Err(StartError(format!(
            "data directory \"{place}\" has invalid permissions\n\
             DETAIL:  Permissions should be u=rwx (0700) or u=rwx,g=rx (0750)."
        )));
    }
    Ok(())
}

/// A server that is about to serve.
#[derive(Debug)]
pub struct Started {
    server: Arc<Server>,
    listeners: Listeners,
    desk: tokio::runtime::Runtime,
    runtime: Runtime,
    /// Whether the directory is marked, because something is switched off.
    marked: bool,
}

impl Started {
    /// Opens the directory, with recovery if it needs it, and listens.
    ///
    /// # Errors
    /// What is wrong, in words for the operator.
    pub fn start(sources: Sources) -> Result<Started, StartError> {
        let environment = environment(&sources.data)?;
        Started::start_in(sources, environment)
    }

    /// The same in an environment that is given, whose disk may fail.
    ///
    /// # Errors
    /// What is wrong, in words for the operator.
    pub fn start_in(sources: Sources, environment: Environment) -> Result<Started, StartError> {
        let config = Arc::new(sources.read()?);
        let data = sources.data.clone();
        log::collect(&config, &data)
            .map_err(|error| format!("could not open log file: {error}"))?;
        if rustix::process::geteuid().is_root() {
            let programs = match runs_programs(&config) {
                true => "programs of COPY and archive_command are run as root, too",
                false => "programs of COPY and archive_command are not run",
            };
            tracing::warn!("the server runs as root: {programs}; an own user would be safer");
        }
        let rules =
            Rules::read(&hba_path(&config, &data), config.is_on("ssl")).map_err(|errors| {
                format!("could not load {}: {}", crate::config::HBA_FILE, errors.join("; "))
            })?;
        // Without its maps it serves all the same: who needs one is not let in.
        let maps = UserMaps::read(&ident_path(&config, &data)).unwrap_or_else(|errors| {
            errors.iter().for_each(|error| tracing::error!("{error}"));
            UserMaps::default()
        });
        let tls = Tls::load(&config, &data)?.map(Arc::new);
        let workers = workers(&config);
        let connections = config.integer("max_connections").unsigned_abs() as usize;
        let desk = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(NAME_LOOKUPS_MAX)
            .thread_name("desk")
            .enable_all()
            .build()
            .map_err(|error| format!("could not start the desk: {error}"))?;
        let threads = workers + connections + SPARE_THREADS;
        let runtime = Runtime::start(workers, threads, desk.handle().clone())
            .map_err(|error| format!("could not start workers: {error}"))?;
        let mut options = config.engine_options();
        options.txn.without = config.without()?;
        let archive = archive(&config, &data)?;
        options.files = Some(Arc::new(UserFiles::new(&data, runs_programs(&config))));
        let checkpoint_log = Arc::new(CheckpointLog::default());
        checkpoint_log.set(config.is_on("log_checkpoints"));
        options.txn.storage.checkpoint_watch = Some(Arc::<CheckpointLog>::clone(&checkpoint_log));
        options.auto_file = Some(Arc::new(SettingsFile::new(&data)));
        options.host = Some(Arc::new(Process::new(&sources, &config.settings)));
        options.txn.storage.archive = archive.clone().map(|archive| archive as Arc<dyn Archive>);
        let now = (environment.clock.wall(), runs_programs(&config));
        if !restore::restore(&config, &data, &*environment.device, now)? {
            std::process::exit(0);
        }
        let (off, unsafely) =
            (config.text("atoll.switched_off"), config.is_on("atoll.unsafe_switches"));
        let marked = switched_off::mark(&data, off, unsafely)?;
        let engine = Engine::open(environment.clone(), options)?;
        let listeners = Listeners::open(&config, &data)?;
        let timers =
            Timers::start().map_err(|error| format!("could not start a timer: {error}"))?;
        let mut mock_key = [0; 32];
        random(&mut mock_key);
        let peers = Arc::new(Peers::new(environment.clone()));
        engine.set_peers(Arc::<Peers>::clone(&peers));
        let server = Arc::new(Server {
            engine,
            peers,
            timers,
            counters: Arc::default(),
            mock_key,
            environment,
            archive,
            checkpoint_log,
            sources,
            changeable: RwLock::new(Changeable {
                config,
                rules: Arc::new(rules),
                maps: Arc::new(maps),
                tls,
            }),
        });
        Ok(Started { server, listeners, desk, runtime, marked })
    }

    /// Where it listens, in words.
    #[must_use]
    pub fn places(&self) -> String {
        self.listeners.places()
    }

    /// Serves until it is told to stop.
    ///
    /// # Errors
    /// The last checkpoint failed: the next start will recover.
    pub fn serve(self) -> Result<(), StartError> {
        let Started { server, listeners, desk, runtime, marked } = self;
        let runtime = Arc::new(runtime);
        let named = server.config().text("external_pid_file").to_owned();
        let pid_file = PidFile::write(&named, &server.sources.data);
        let stop = desk.block_on(async {
            let mut signals = Signals::listen()?;
            let files = listener::take(listeners, &server, &runtime)?;
            server.engine.start_autovacuum();
            server.engine.start_log_switcher();
            tracing::info!("database system is ready to accept connections");
            let stop = signals.next_stop(&server).await;
            drop(files);
            Ok::<Stop, std::io::Error>(stop)
        });
        let stop = stop.map_err(|error| format!("could not begin to serve: {error}"))?;
        if stop == Stop::Immediate {
            tracing::warn!("received SIGQUIT: stopping without a checkpoint");
            drop(pid_file);
            std::process::exit(2);
        }
        tracing::info!("received a request to stop: ending {} sessions", server.peers.len());
        server.peers.end_all(cancel::SHUTDOWN);
        let begun = Instant::now();
        while !server.peers.is_empty() && begun.elapsed() < DRAIN {
            std::thread::sleep(DRAIN_STEP);
        }
        server.timers.stop();
        let left = server.peers.len();
        if left != 0 {
            // Their statements still run: a checkpoint now would wait for them.
            tracing::error!("{left} sessions did not end in time: stopping without a checkpoint");
            drop(pid_file);
            std::process::exit(1);
        }
        server.engine.close()?;
        if marked {
            switched_off::clear(&server.sources.data)?;
        }
        drop(runtime);
        desk.shutdown_background();
        drop(pid_file);
        tracing::info!("the database system is shut down");
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    Fast,
    Immediate,
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
    quit: Signal,
    hangup: Signal,
}

impl Signals {
    fn listen() -> std::io::Result<Signals> {
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for a signal that stops the server; carries out the others.
    async fn next_stop(&mut self, server: &Arc<Server>) -> Stop {
        loop {
            let stop = std::future::poll_fn(|context| {
                use std::task::Poll;
                if self.quit.poll_recv(context).is_ready() {
                    return Poll::Ready(Some(Stop::Immediate));
                }
                let terminated = self.terminate.poll_recv(context).is_ready();
                if terminated || self.interrupt.poll_recv(context).is_ready() {
                    return Poll::Ready(Some(Stop::Fast));
                }
                self.hangup.poll_recv(context).map(|_| None)
            });
            match stop.await {
                Some(stop) => return stop,
                None => server.reload(),
            }
        }
    }
}
