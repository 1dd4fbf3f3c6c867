//! Child processes and the places they live in: directories that go away, ports that are free, programs that are found.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// A directory below the system's temporary one, removed with everything in it when dropped.
#[derive(Debug)]
pub struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    /// A new, empty one, whose name begins with `label`.
    #[must_use]
    pub fn new(label: &str) -> TemporaryDirectory {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("atoll-{label}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("the temporary directory is writable");
        TemporaryDirectory(path)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // Leaving files behind is no failure of what was tested.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file system of its own, which can be full, mounted on a directory. Unmounted when dropped.
#[derive(Debug)]
pub struct FileSystem(PathBuf);

impl FileSystem {
    /// One of `bytes`, on `directory`; none where the system lets nobody mount: only its administrator may.
    #[must_use]
    pub fn mount(directory: &Path, bytes: u64) -> Option<FileSystem> {
        std::fs::create_dir_all(directory).expect("the directory is writable");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={bytes},mode=0700"), "atoll-test"])
            .arg(directory)
            .stderr(Stdio::null())
            .status();
        mounted.is_ok_and(|status| status.success()).then(|| FileSystem(directory.to_owned()))
    }
}

impl Drop for FileSystem {
    fn drop(&mut self) {
        // Lazily: a server that is still being killed may have files open.
        let unmounted = Command::new("umount").arg("-l").arg(&self.0).status();
        drop(unmounted);
    }
}

/// A port on the loopback address that nobody listened on a moment ago.
#[must_use]
pub fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

/// Sends a signal to a process that this test started.
pub fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([&format!("-{name}"), &child.id().to_string()])
        .stderr(Stdio::null())
        .status()
        .expect("kill is a program");
    assert!(status.success(), "process {} took no signal {name}", child.id());
}

/// Waits for a process to end by itself; panics when it takes longer than `limit`.
pub fn wait_for_end(child: &mut Child, limit: Duration) -> std::process::ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the child is ours") {
            return status;
        }
        assert!(start.elapsed() < limit, "process {} still runs after {limit:?}", child.id());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Runs `attempt` until it gives something, for at most `limit`.
pub fn wait_until<T>(what: &str, limit: Duration, mut attempt: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = attempt() {
            return found;
        }
        assert!(start.elapsed() < limit, "{what}: not within {limit:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Lets this process have so many files open, if the system allows it.
pub fn raise_file_limit(files: u64) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= files) {
        return;
    }
    limit.current = Some(limit.maximum.map_or(files, |maximum| maximum.min(files)));
    setrlimit(Resource::Nofile, limit).expect("a soft limit may be raised");
    assert!(limit.current >= Some(files), "the system allows {:?} files", limit.maximum);
}
