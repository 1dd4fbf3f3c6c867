//! What is measured: Atoll, PostgreSQL 15 and the null server, each in a directory of its own on a loopback port, with
//! the same cache and the same durability.

use crate::callgrind;
use anyhow::{Context, Result, bail, ensure};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where Debian puts PostgreSQL's programs; `PG_BIN` names another place.
const POSTGRES: &str = "/usr/lib/postgresql/15/bin";
/// How long a start may take.
const START_LIMIT: Duration = Duration::from_secs(300);
/// The cache of both servers.
const SHARED_BUFFERS: &str = "512MB";

/// Which server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// This project's.
    Atoll,
    /// The one to beat.
    Postgres,
    /// Canned answers: what the sockets alone cost.
    Null,
}

/// A running server.
#[derive(Debug)]
pub struct Target {
    kind: Kind,
    /// How it was started.
    command: Command,
    child: Child,
    port: u16,
    directory: PathBuf,
}

fn is_root() -> Result<bool> {
    Ok(Command::new("id").arg("-u").output().context("id")?.stdout.starts_with(b"0\n"))
}

/// PostgreSQL refuses root: Debian's package made the user `postgres`.
fn as_user(program: &Path) -> Result<Command> {
    if !is_root()? {
        return Ok(Command::new(program));
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(program);
    Ok(command)
}

fn run(command: &mut Command) -> Result<()> {
    let output = command.output().with_context(|| format!("{command:?}"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The folder that this program was built into: the other programs stand beside it.
fn built(name: &str) -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name(name);
    ensure!(
        program.exists(),
        "{} is missing: cargo build --release -p server -p bench",
        program.display()
    );
    Ok(program)
}

/// A free port, and a directory for who is to listen there.
fn place() -> Result<(u16, PathBuf)> {
    let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
    let directory = std::env::temp_dir().join(format!("atoll-bench-{}-{port}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    Ok((port, directory))
}

fn launch(command: &mut Command) -> Result<Child> {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().with_context(|| format!("{command:?}"))
}

/// Atoll in a directory that there is, with settings of its own, each `name=value`.
fn atoll(data: &Path, port: u16, settings: &[String]) -> Result<Command> {
    let mut command = Command::new(built("atoll")?);
    command.arg("serve").arg("--data").arg(data);
    command.args(["--listen", &format!("127.0.0.1:{port}"), "-c", "unix_socket_directories="]);
    for setting in settings {
        command.args(["-c", setting]);
    }
    Ok(command)
}

impl Target {
    /// Starts a server with `synchronous_commit` on or off.
    ///
    /// # Errors
    /// The program is missing, or does not serve.
    pub fn start(kind: Kind, synchronous: bool) -> Result<Target> {
        let (port, directory) = place()?;
        let synchronous = format!("synchronous_commit={}", if synchronous { "on" } else { "off" });
        let buffers = format!("shared_buffers={SHARED_BUFFERS}");
        let data = directory.join("data");
        let command = match kind {
            Kind::Null => {
                let mut command = Command::new(built("null_server")?);
                command.arg(port.to_string());
                command
            }
            Kind::Atoll => {
                run(Command::new(built("atoll")?).arg("init").arg("--data").arg(&data))?;
                let checkpoints = ["max_wal_size=16GB", "checkpoint_timeout=30min"];
                let checkpoints = checkpoints.map(str::to_owned);
                atoll(&data, port, &[&[synchronous, buffers], &checkpoints[..]].concat())?
            }
            Kind::Postgres => {
                let programs = std::env::var_os("PG_BIN")
                    .map_or_else(|| PathBuf::from(POSTGRES), PathBuf::from);
                if is_root()? {
                    run(Command::new("chown").arg("postgres").arg(&directory))?;
                }
                run(as_user(&programs.join("initdb"))?
                    .args([
                        "--username=postgres",
                        "--auth=trust",
                        "--locale=C.UTF-8",
                        "--encoding=UTF8",
                        "-D",
                    ])
                    .arg(&data)
                    .current_dir(&directory))?;
                let mut command = as_user(&programs.join("postgres"))?;
                command
                    .arg("-D")
                    .arg(&data)
                    .args(["-p", &port.to_string()])
                    .current_dir(&directory);
                command.args([
                    "-c",
                    "listen_addresses=127.0.0.1",
                    "-c",
                    "unix_socket_directories=",
                ]);
                command.args(["-c", &synchronous, "-c", &buffers, "-c", "jit=off"]);
                command.args(["-c", "max_wal_size=16GB", "-c", "checkpoint_timeout=30min"]);
                // A dump of many tables locks all of them.
                command.args(["-c", "max_locks_per_transaction=2000"]);
                command
            }
        };
        Target::spawn(kind, command, port, directory)
    }

    /// Starts Atoll with settings of its own, each `name=value`.
    ///
    /// # Errors
    /// The program is missing, or does not serve.
    pub fn atoll(settings: &[String]) -> Result<Target> {
        let (port, directory) = place()?;
        let data = directory.join("data");
        run(Command::new(built("atoll")?).arg("init").arg("--data").arg(&data))?;
        let command = atoll(&data, port, settings)?;
        Target::spawn(Kind::Atoll, command, port, directory)
    }

    /// Kills the server: nothing that it has not written is there afterwards.
    ///
    /// # Errors
    /// It has ended before.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Starts Atoll again where it was, as [`Target::atoll`] did.
    ///
    /// # Errors
    /// It does not serve.
    pub fn restart(&mut self, settings: &[String]) -> Result<()> {
        self.child = launch(&mut atoll(&self.data(), self.port, settings)?)?;
        self.wait_until_it_serves()
    }

    /// Starts Atoll again where it was, under callgrind, and ends it after `load`: the instructions of the whole process.
    ///
    /// # Errors
    /// valgrind is not installed, the server does not serve or end, or the load's own.
    pub fn counted(
        &mut self,
        settings: &[String],
        load: impl FnOnce(&Target) -> Result<()>,
    ) -> Result<u64> {
        let counts = self.directory.join("callgrind.out");
        let served = atoll(&self.data(), self.port, settings)?;
        self.child = launch(&mut callgrind::command(&served, &counts)).context("valgrind")?;
        self.wait_until_it_serves()?;
        load(self)?;
        self.stop()?;
        callgrind::total(&counts)
    }

    fn spawn(kind: Kind, mut command: Command, port: u16, directory: PathBuf) -> Result<Target> {
        let child = launch(&mut command)?;
        let mut target = Target { kind, command, child, port, directory };
        target.wait_until_it_serves()?;
        Ok(target)
    }

    /// Ends the server gently and starts it again as it was: how long that took, until it accepts sessions.
    ///
    /// # Errors
    /// It did not end well, or does not serve.
    pub fn restarted(&mut self) -> Result<Duration> {
        self.stop()?;
        let start = Instant::now();
        self.child = launch(&mut self.command)?;
        let psql = || {
            let mut command = Command::new("psql");
            command.args(["-X", "-q", "-h", "127.0.0.1", "-U", "postgres", "-d", "postgres"]);
            command.args(["-p", &self.port.to_string(), "-c", ""]);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status()
        };
        while !psql().context("psql")?.success() {
            ensure!(start.elapsed() < START_LIMIT, "{:?} does not serve", self.kind);
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(start.elapsed())
    }

    /// Its data directory.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// Ends the server gently.
    ///
    /// # Errors
    /// It did not end well.
    pub fn stop(&mut self) -> Result<()> {
        run(Command::new("kill").args(["-INT", &self.child.id().to_string()]))?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    /// Checks the directory of a server that has ended.
    ///
    /// # Errors
    /// Something is wrong with it.
    pub fn check(&self) -> Result<()> {
        run(Command::new(built("atoll")?).arg("check").arg("--data").arg(self.data()))
    }

    fn wait_until_it_serves(&mut self) -> Result<()> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                bail!("{:?} ended with {status} instead of serving", self.kind);
            }
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                // PostgreSQL listens a moment before it accepts sessions.
                std::thread::sleep(Duration::from_millis(500));
                return Ok(());
            }
            ensure!(start.elapsed() < START_LIMIT, "{:?} does not serve", self.kind);
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Which server it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its own directory, which goes with it.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Its process; its children belong to it.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        // SIGINT is a fast shutdown for PostgreSQL and for Atoll. The null server has nothing to shut down, and ignores the
        // signal where this program was started in the background.
        if matches!(self.child.try_wait(), Ok(None)) {
            let signal = if self.kind == Kind::Null { "-KILL" } else { "-INT" };
            let _ = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
            let _ = self.child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
