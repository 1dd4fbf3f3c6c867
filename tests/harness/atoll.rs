//! Atoll under test: a directory, a process on a free loopback port, and ways to end it gently and not.

use crate::client::Client;
use crate::process::{FileSystem, TemporaryDirectory, free_port, signal, wait_for_end, wait_until};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How long a start, with recovery, may take.
const START_LIMIT: Duration = Duration::from_secs(60);
/// The environment variable under which every server has the smallest pool and pages there are.
pub const SMALL_POOL: &str = "ATOLL_SMALL_POOL";
/// 64 frames of 4 KiB: how a directory is made, and served.
const SMALLEST: ([&str; 2], [&str; 1]) = (["--page-size", "4kB"], ["shared_buffers=256kB"]);

/// How long SIGTERM may take.
const STOP_LIMIT: Duration = Duration::from_secs(10);

/// A directory and, while it runs, its server.
#[derive(Debug)]
pub struct Atoll {
    /// The disk it is on, if it has one of its own: unmounted before the directory goes.
    disk: Option<FileSystem>,
    directory: TemporaryDirectory,
    port: u16,
    settings: Vec<String>,
    /// The test that serves in place of the program.
    served_by: Option<&'static str>,
    child: Option<Child>,
}

/// The environment variables by which a test that serves is told what: a directory, a port, and settings line by line.
const SERVE: [&str; 3] = ["ATOLL_TEST_DATA", "ATOLL_TEST_PORT", "ATOLL_TEST_SETTINGS"];

/// What a test has to serve, if it is run in order to.
#[must_use]
pub fn to_serve() -> Option<(PathBuf, Vec<(String, String)>)> {
    let [data, port, settings] = SERVE.map(std::env::var_os);
    let text = |text: OsString| text.into_string().expect("settings are text");
    let mut all = vec![
        ("listen_addresses".to_owned(), "127.0.0.1".to_owned()),
        ("unix_socket_directories".to_owned(), String::new()),
        ("port".to_owned(), text(port?)),
    ];
    for line in text(settings?).lines() {
        let (name, value) = line.split_once('=').expect("name=value");
        all.push((name.to_owned(), value.to_owned()));
    }
    Some((data?.into(), all))
}

/// How many of the last lines of a server's log a failed test shows.
const LOG_SHOWN: usize = 80;

/// The `atoll` program of the profile that this test was built with, or what `ATOLL_BIN` names.
#[must_use]
pub fn program() -> PathBuf {
    if let Some(path) = std::env::var_os("ATOLL_BIN") {
        return path.into();
    }
    let test = std::env::current_exe().expect("a test has a path");
    let directory =
        test.ancestors().nth(2).expect("tests are built two levels below the profile's directory");
    let program = directory.join("atoll");
    assert!(
        program.exists(),
        "{} is missing: build it with `cargo build -p server`",
        program.display()
    );
    program
}

impl Atoll {
    /// Makes a new directory and serves it, with `settings` of the form `name=value`.
    #[must_use]
    pub fn start(settings: &[&str]) -> Atoll {
        Atoll::start_with(&[], settings)
    }

    /// The same, with more arguments for `atoll init`.
    #[must_use]
    pub fn start_with(init: &[&str], settings: &[&str]) -> Atoll {
        Atoll::start_by(None, init, settings)
    }

    /// The same, served by the test `test` of the running program in a process of its own: one that finds something
    /// [`to_serve`]. What it serves in is its own choice: a disk that fails, for instance.
    #[must_use]
    pub fn start_by(test: Option<&'static str>, init: &[&str], settings: &[&str]) -> Atoll {
        Atoll::start_on(test, None, init, settings).expect("no disk is asked for")
    }

    /// The same, on a disk of its own of so many bytes; none where nobody may mount one.
    #[must_use]
    pub fn start_on_disk(bytes: u64, settings: &[&str]) -> Option<Atoll> {
        Atoll::start_on(None, Some(bytes), &[], settings)
    }

    fn start_on(
        test: Option<&'static str>,
        bytes: Option<u64>,
        init: &[&str],
        settings: &[&str],
    ) -> Option<Atoll> {
        let directory = TemporaryDirectory::new("server");
        let disk = match bytes {
            None => None,
            Some(bytes) => Some(FileSystem::mount(&directory.path().join("disk"), bytes)?),
        };
        let data = data_in(&directory, disk.is_some());
        // A test that names a page size has its reason.
        let small = std::env::var_os(SMALL_POOL).is_some() && !init.contains(&"--page-size");
        let (page, pool) =
            if small { (&SMALLEST.0[..], &SMALLEST.1[..]) } else { (&[][..], &[][..]) };
        let output = Command::new(program())
            .arg("init")
            .arg("--data")
            .arg(data)
            .args(page)
            .args(init)
            .env_remove(SMALL_POOL)
            .output()
            .expect("atoll starts");
        assert!(output.status.success(), "init: {}", String::from_utf8_lossy(&output.stderr));
        let settings = pool.iter().chain(settings).map(|&setting| setting.to_owned()).collect();
        let (port, served_by) = (free_port(), test);
        let mut atoll = Atoll { disk, directory, port, settings, served_by, child: None };
        atoll.restart();
        Some(atoll)
    }

    /// A directory that `fill` makes, which nobody serves yet.
    #[must_use]
    pub fn of(fill: impl FnOnce(&Path), settings: &[&str]) -> Atoll {
        let directory = TemporaryDirectory::new("server");
        fill(&data_in(&directory, false));
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        let (port, served_by) = (free_port(), None);
        Atoll { disk: None, directory, port, settings, served_by, child: None }
    }

    /// Begins to start the server on its directory.
    pub fn begin(&mut self) {
        assert!(self.child.is_none(), "one server for a directory");
        let log = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.log_path())
            .expect("the directory is writable");
        let mut command = match self.served_by {
            None => self.program(),
            Some(test) => self.test(test),
        };
        command.env_remove(SMALL_POOL);
        let copy = log.try_clone().expect("a file can be shared");
        let child =
            command.stdin(Stdio::null()).stdout(copy).stderr(log).spawn().expect("atoll starts");
        self.child = Some(child);
    }

    /// Starts the server on its directory and waits until it answers.
    pub fn restart(&mut self) {
        self.begin();
        let child = self.child.as_mut().expect("it has just begun");
        let port = self.port;
        let log_path = self.directory.path().join("log");
        wait_until("a start", START_LIMIT, || {
            if let Some(status) = child.try_wait().expect("the child is ours") {
                let log = std::fs::read_to_string(&log_path).unwrap_or_default();
                panic!("the server ended with {status} instead of serving:\n{log}");
            }
            Client::try_connect(port, "postgres", "postgres").ok()
        });
    }

    fn program(&self) -> Command {
        let mut command = Command::new(program());
        command.arg("serve").arg("--data").arg(self.data());
        command.arg("--listen").arg(format!("127.0.0.1:{}", self.port));
        command.args(["-c", "unix_socket_directories="]);
        // Tests may run as root, and have programs run.
        command.args(["-c", "atoll.run_programs_as_root=on"]);
        for setting in &self.settings {
            command.arg("-c").arg(setting);
        }
        command
    }

    fn test(&self, test: &str) -> Command {
        let mut command = Command::new(std::env::current_exe().expect("a test has a path"));
        command.args([test, "--exact", "--nocapture"]);
        let (port, settings) = (self.port.to_string(), self.settings.join("\n"));
        let values: [OsString; 3] = [self.data().into(), port.into(), settings.into()];
        command.envs(SERVE.into_iter().zip(values));
        command
    }

    /// A new session of `postgres` in the database `postgres`.
    #[must_use]
    pub fn connect(&self) -> Client {
        Client::connect(self.port, "postgres", "postgres")
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its data directory.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        data_in(&self.directory, self.disk.is_some())
    }

    /// What it has logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    fn log_path(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    /// Its process number, while it runs.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.as_ref().expect("the server runs").id()
    }

    /// SIGTERM, and waits for the end: exit status 0 within the limit.
    pub fn stop(&mut self) {
        let mut child = self.child.take().expect("the server runs");
        signal(&child, "TERM");
        let status = wait_for_end(&mut child, STOP_LIMIT);
        assert!(status.success(), "SIGTERM ended it with {status}:\n{}", self.log());
    }

    /// Waits until it ends by itself; its exit status.
    pub fn wait_for_end(&mut self) -> Option<i32> {
        let mut child = self.child.take().expect("the server runs");
        wait_for_end(&mut child, STOP_LIMIT).code()
    }

    /// SIGKILL: what a crash of the process leaves is in the directory.
    pub fn kill(&mut self) {
        let mut child = self.child.take().expect("the server runs");
        child.kill().expect("the child is ours");
        child.wait().expect("the child is ours");
    }

    /// Runs `atoll check` on the directory and demands that it finds nothing.
    pub fn check(&self) {
        assert!(self.child.is_none(), "check is for a directory that nobody serves");
        check(&self.data());
    }
}

/// Where a server's data are: on its disk, if it has one of its own.
fn data_in(directory: &TemporaryDirectory, on_disk: bool) -> PathBuf {
    directory.path().join(if on_disk { "disk/data" } else { "data" })
}

/// Runs `atoll check` on a directory and demands that it finds nothing.
pub fn check(data: &Path) {
    let output = Command::new(program())
        .arg("check")
        .arg("--data")
        .arg(data)
        .output()
        .expect("atoll starts");
    assert!(
        output.status.success(),
        "check of {}:\n{}{}",
        data.display(),
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

impl Drop for Atoll {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // The test has failed or does not care how it ends.
            let _ = child.kill();
            let _ = child.wait();
            if std::thread::panicking() {
                let log = self.log();
                // What has failed stands above, and is to be found there.
                let skipped = log.lines().count().saturating_sub(LOG_SHOWN);
                let last: Vec<&str> = log.lines().skip(skipped).collect();
                eprintln!(
                    "--- the server's log, from line {} on ---\n{}",
                    skipped + 1,
                    last.join("\n")
                );
            }
        }
    }
}
