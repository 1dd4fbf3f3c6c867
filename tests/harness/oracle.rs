//! PostgreSQL 15 beside Atoll: one cluster for a test process, UTF8, C.UTF-8, UTC, on a free loopback port.

use crate::client::Client;
use crate::process::{TemporaryDirectory, free_port, wait_until};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// Where Debian puts the server's programs; `PG_BIN` names another place.
const DEBIAN: &str = "/usr/lib/postgresql/15/bin";

/// A running PostgreSQL.
#[derive(Debug)]
pub struct Oracle {
    directory: TemporaryDirectory,
    port: u16,
    child: Child,
}

/// The directory of PostgreSQL 15's programs.
#[must_use]
pub fn programs() -> PathBuf {
    let path = std::env::var_os("PG_BIN").map_or_else(|| PathBuf::from(DEBIAN), PathBuf::from);
    assert!(
        path.join("postgres").exists(),
        "PostgreSQL 15 is not in {}: `tests/run` installs it",
        path.display()
    );
    path
}

/// Whether this process may not run PostgreSQL itself, which refuses root.
#[must_use]
pub fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output().expect("id is a program");
    id.stdout.starts_with(b"0\n")
}

/// A command that runs as a user whom PostgreSQL accepts: Debian's package made `postgres`.
fn as_user(program: &Path) -> Command {
    if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(program);
        command
    } else {
        Command::new(program)
    }
}

impl Oracle {
    /// Starts a cluster.
    #[must_use]
    pub fn start(settings: &[&str]) -> Oracle {
        let directory = TemporaryDirectory::new("oracle");
        if is_root() {
            let status = Command::new("chown").arg("postgres").arg(directory.path()).status();
            assert!(status.expect("chown is a program").success());
        }
        let data = directory.path().join("data");
        let output = as_user(&programs().join("initdb"))
            .args([
                "--username=postgres",
                "--auth=trust",
                "--locale=C.UTF-8",
                "--encoding=UTF8",
                "-N",
                "-D",
            ])
            .arg(&data)
            .current_dir(directory.path())
            .output()
            .expect("initdb starts");
        assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        let port = free_port();
        let mut command = as_user(&programs().join("postgres"));
        command.arg("-D").arg(&data).args(["-p", &port.to_string()]);
        let fixed = [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "TimeZone=UTC",
            "log_timezone=UTC",
        ];
        for setting in fixed.iter().chain(["jit=off", "fsync=off"].iter()).chain(settings) {
            command.arg("-c").arg(setting);
        }
        let log = File::create(directory.path().join("log")).expect("the directory is writable");
        let child = command
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("postgres starts");
        let oracle = Oracle { directory, port, child };
        wait_until("PostgreSQL's start", Duration::from_secs(60), || {
            Client::try_connect(port, "postgres", "postgres").ok()
        });
        oracle
    }

    /// A new session in the database `postgres`.
    #[must_use]
    pub fn connect(&self) -> Client {
        Client::connect(self.port, "postgres", "postgres")
    }

    /// What it has logged so far.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.path().join("log")).unwrap_or_default()
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        crate::process::signal(&self.child, "INT");
        // A fast shutdown; its directory goes with it.
        let _ = self.child.wait();
        let _ = self.directory.path();
    }
}

/// The port of the cluster that all tests of this process share. It ends with the process.
#[must_use]
pub fn shared() -> u16 {
    static SHARED: OnceLock<u16> = OnceLock::new();
    *SHARED.get_or_init(|| {
        let oracle = Oracle::start(&[]);
        let port = oracle.port();
        end_with_process(oracle);
        port
    })
}

/// Statics are not dropped at a process's end: a watcher ends the cluster when this process has gone.
#[expect(clippy::zombie_processes, reason = "the watcher outlives this process on purpose")]
fn end_with_process(oracle: Oracle) {
    let script = format!(
        "while kill -0 {} 2>/dev/null; do sleep 1; done; kill -INT {}; while kill -0 {} 2>/dev/null; do sleep 0.2; done; rm -rf '{}'",
        std::process::id(),
        oracle.child.id(),
        oracle.child.id(),
        oracle.directory.path().display()
    );
    Command::new("sh")
        .args(["-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("sh is a program");
    std::mem::forget(oracle);
}
