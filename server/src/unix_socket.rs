//! Unix sockets: PostgreSQL's file names, and the lock file that keeps two servers off one name.
//!
//! `.s.PGSQL.PORT` is the socket, `.s.PGSQL.PORT.lock` holds the process number of its server, the data directory, the
//! start time, the port and the folder, a line each, as PostgreSQL writes them: clients and other servers look there. A
//! lock whose process is gone is taken over.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// A socket in the file system; dropped, its files are removed.
#[derive(Debug)]
pub struct SocketFile {
    socket: PathBuf,
    lock: PathBuf,
}

/// The folders that are used where nobody has named any: those that can be.
#[must_use]
pub fn default_folders() -> Vec<PathBuf> {
    let mut folders = vec![std::env::temp_dir()];
    let usual = PathBuf::from("/var/run/postgresql");
    if rustix::fs::access(&usual, rustix::fs::Access::WRITE_OK).is_ok() && !folders.contains(&usual)
    {
        folders.push(usual);
    }
    folders
}

impl SocketFile {
    /// Listens in `folder`.
    ///
    /// # Errors
    /// Another server is there; the folder cannot be written.
    pub fn listen(
        folder: &Path,
        port: i64,
        data: &Path,
        mode: u32,
    ) -> io::Result<(SocketFile, UnixListener)> {
        let socket = folder.join(format!(".s.PGSQL.{port}"));
        let lock = folder.join(format!(".s.PGSQL.{port}.lock"));
        take_lock(&lock, folder, port, data)?;
        let file = SocketFile { socket, lock };
        // The lock is ours: a socket that still stands there is a dead server's.
        match fs::remove_file(&file.socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&file.socket)?;
        fs::set_permissions(&file.socket, fs::Permissions::from_mode(mode))?;
        Ok((file, listener))
    }
}

fn take_lock(lock: &Path, folder: &Path, port: i64, data: &Path) -> io::Result<()> {
    let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let text = format!(
        "{}\n{}\n{started}\n{port}\n{}\n",
        std::process::id(),
        data.display(),
        folder.display()
    );
    for _ in 0..10 {
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(lock) {
            Ok(mut file) => return file.write_all(text.as_bytes()).and_then(|()| file.sync_all()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        let holder = fs::read_to_string(lock).unwrap_or_default();
        let pid: Option<i32> = holder.lines().next().and_then(|line| line.trim().parse().ok());
        if let Some(pid) = pid.and_then(|pid| rustix::process::Pid::from_raw(pid.abs()))
            && pid.as_raw_nonzero().get() != std::process::id() as i32
            && alive(pid)
        {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                format!(
                    "lock file \"{}\" belongs to process {}",
                    lock.display(),
                    pid.as_raw_nonzero()
                ),
            ));
        }
        match fs::remove_file(lock) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Err(io::Error::other(format!("could not create lock file \"{}\"", lock.display())))
}

/// Whether there is such a process, ours to signal or not. One that has ended and that its parent has not asked about (in
/// a container often nobody does) holds no socket any more.
fn alive(pid: rustix::process::Pid) -> bool {
    if matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH)) {
        return false;
    }
    // The state follows the name, which stands in parentheses and may hold any character.
    let status = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let state = status.as_deref().ok().and_then(|line| line.rsplit_once(')')).map(|(_, rest)| rest);
    !state.is_some_and(|rest| rest.trim_start().starts_with(['Z', 'X']))
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // What is left of them is taken over by the next server.
        let _ = fs::remove_file(&self.socket);
        let _ = fs::remove_file(&self.lock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_servers_lock_is_taken_over_and_a_living_ones_is_not() {
        let place = tempfile::tempdir().unwrap();
        let lock = place.path().join(".s.PGSQL.7.lock");
        fs::write(&lock, "2147483646\n/gone\n").unwrap();
        fs::write(place.path().join(".s.PGSQL.7"), "left over").unwrap();
        let (file, listener) =
            SocketFile::listen(place.path(), 7, Path::new("/data"), 0o777).unwrap();
        let text = fs::read_to_string(&lock).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], std::process::id().to_string());
        assert_eq!((lines[1], lines[3]), ("/data", "7"));
        drop(listener);
        drop(file);
        assert!(!lock.exists() && !place.path().join(".s.PGSQL.7").exists());

        // Ended, and nobody has asked how: it goes when its parent does.
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        let pid = rustix::process::Pid::from_child(&ended);
        while alive(pid) {
            std::thread::yield_now();
        }
        fs::write(&lock, format!("{}\n/gone\n", ended.id())).unwrap();
        drop(SocketFile::listen(place.path(), 7, Path::new("/data"), 0o777).unwrap());
        ended.wait().unwrap();

        fs::write(&lock, "1\n/elsewhere\n").unwrap();
        let refused = SocketFile::listen(place.path(), 7, Path::new("/data"), 0o777).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::AddrInUse);
        assert!(lock.exists(), "it is not ours to remove");
    }
}
