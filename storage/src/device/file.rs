//! A directory of the operating system as a [`Device`].
//!
//! Positioned reads and writes through the page cache, `fdatasync` for durability, `fallocate` so that a full disk is
//! found when space is set aside and not in the middle of a flush. Directories are synced after names change: a
//! created file whose directory entry is lost is lost with everything in it (POSIX promises no more).
//!
//! What is written goes to the disk steadily, a megabyte at a time. Left to itself the kernel keeps gigabytes in its cache
//! and writes them all at once, and meanwhile the sync that somebody's commit waits for takes a tenth of a second
//! (PostgreSQL's `checkpoint_flush_after` and its kin are there for the same).
//!
//! While it is open the device holds an advisory lock on `atoll.lock`. The kernel lets go of it when the process dies,
//! however it dies, so a stale lock cannot keep a server from starting; PostgreSQL's `postmaster.pid` can.

use super::{Device, File};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::{Error, Result};
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// The lock's file; no file of the database is called so.
const LOCK_NAME: &str = "atoll.lock";

/// How often, and how far apart, the lock is tried before the directory counts as in use.
const LOCK_ATTEMPTS: u32 = 20;
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_millis(50);

/// After so many bytes of writes to a file the kernel is asked to write it out.
const WRITE_OUT_BYTES: u64 = 1 << 20;

/// A directory that this process has locked.
#[derive(Debug)]
pub struct FileDevice {
    root: PathBuf,
    /// Directories whose entries have changed since they were last synced.
    changed: Mutex<BTreeSet<PathBuf>>,
    /// Holds the lock as long as it is open.
    _lock: fs::File,
}

#[derive(Debug)]
struct OpenFile {
    file: fs::File,
    path: PathBuf,
    /// Bytes written in all, in order to find each full [`WRITE_OUT_BYTES`] of them.
    written: AtomicU64,
}

impl FileDevice {
    /// Opens and locks the directory at `root`, which is made (for its owner only) if it is not there.
    ///
    /// # Errors
    /// [`Error::Refused`] if another process holds it; I/O.
    pub fn open(root: &Path) -> Result<FileDevice> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(root)
            .map_err(|e| failed("cannot create directory", root, e))?;
        let path = root.join(LOCK_NAME);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(&path).map_err(|e| failed("cannot open", &path, e))?;
        match try_lock_patiently(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // The number is a courtesy to the operator; without it the message is only less helpful.
                let who = match file.read_to_string(&mut holder) {
                    Ok(_) if !holder.trim().is_empty() => format!(" (process {})", holder.trim()),
                    _ => String::new(),
                };
                let place = root.display();
                return Err(Error::Refused(format!(
                    "directory \"{place}\" is in use by another server{who}"
                )));
            }
            Err(TryLockError::Error(e)) => return Err(failed("cannot lock", &path, e)),
        }
        file.set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(|e| failed("cannot write", &path, e))?;
        Ok(FileDevice { root: root.to_owned(), changed: Mutex::default(), _lock: file })
    }

    /// Whether the directory at `root` has a file `name`. The directory is neither made nor locked.
    #[must_use]
    pub fn has_file(root: &Path, name: &str) -> bool {
        root.join(name).is_file()
    }

    fn path(&self, name: &str) -> PathBuf {
        debug_assert!(
            !name.is_empty() && !name.starts_with('/') && !name.split('/').any(|part| part == ".."),
            "{name:?} is not a name within the device"
        );
        self.root.join(name)
    }

    fn entry_changed(&self, path: &Path) {
        if let Some(directory) = path.parent() {
            lock(&self.changed).insert(directory.to_owned());
        }
    }

    fn collect(&self, directory: &Path, into: &mut Vec<String>) -> Result<()> {
        let entries = fs::read_dir(directory).map_err(|e| failed("cannot list", directory, e))?;
        for entry in entries {
            let path = entry.map_err(|e| failed("cannot list", directory, e))?.path();
            if path.is_dir() {
                self.collect(&path, into)?;
            } else if let Ok(name) = path.strip_prefix(&self.root)
                && let Some(name) = name.to_str()
                && name != LOCK_NAME
            {
                into.push(name.to_owned());
            }
        }
        Ok(())
    }
}

impl Device for FileDevice {
    fn available_bytes(&self) -> Option<u64> {
        let room = rustix::fs::statvfs(&self.root).ok()?;
        Some(room.f_bavail.saturating_mul(room.f_frsize))
    }

    fn open(&self, name: &str, create: bool) -> Result<Arc<dyn File>> {
        let path = self.path(name);
        let existed = path.exists();
        if create
            && !existed
            && let Some(directory) = path.parent()
            && !directory.exists()
        {
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)
                .map_err(|e| failed("cannot create directory", directory, e))?;
            self.entry_changed(directory);
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(create)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|e| failed("cannot open", &path, e))?;
        if !existed {
            self.entry_changed(&path);
        }
        Ok(Arc::new(OpenFile { file, path, written: AtomicU64::new(0) }))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        let mut names = Vec::new();
        self.collect(&self.root, &mut names)?;
        names.retain(|name| name.starts_with(prefix));
        names.sort_unstable();
        Ok(names)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.path(from), self.path(to));
        fs::rename(&from, &to).map_err(|e| failed("cannot rename", &from, e))?;
        self.entry_changed(&from);
        self.entry_changed(&to);
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        fs::remove_file(&path).map_err(|e| failed("cannot remove", &path, e))?;
        self.entry_changed(&path);
        Ok(())
    }

    fn sync_names(&self) -> Result<()> {
        let changed = std::mem::take(&mut *lock(&self.changed));
        for directory in &changed {
            let synced = fs::File::open(directory).and_then(|open| open.sync_all());
            synced.map_err(|e| unsynced(directory, &e))?;
        }
        Ok(())
    }
}

impl File for OpenFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        rank::touches_disk();
        let read = self.file.read_exact_at(into, offset);
        read.map_err(|e| failed("cannot read", &self.path, e))
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        rank::touches_disk();
        let written = self.file.write_all_at(bytes, offset);
        written.map_err(|e| failed("cannot write", &self.path, e))?;
        let before = self.written.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        if before / WRITE_OUT_BYTES != (before + bytes.len() as u64) / WRITE_OUT_BYTES {
            self.write_out();
        }
        Ok(())
    }

    fn sync(&self) -> Result<()> {
        rank::touches_disk();
        self.file.sync_data().map_err(|e| unsynced(&self.path, &e))
    }

    fn len(&self) -> Result<u64> {
        let metadata = self.file.metadata();
        Ok(metadata.map_err(|e| failed("cannot measure", &self.path, e))?.len())
    }

    fn set_len(&self, bytes: u64) -> Result<()> {
        let old = self.len()?;
        if bytes <= old {
            let cut = self.file.set_len(bytes);
            return cut.map_err(|e| failed("cannot truncate", &self.path, e));
        }
        let flags = rustix::fs::FallocateFlags::empty();
        let grown = match rustix::fs::fallocate(&self.file, flags, old, bytes - old) {
            // A file system that cannot set space aside is made to by writing.
            Err(rustix::io::Errno::OPNOTSUPP) => self.write_zeros(old, bytes),
            other => other.map_err(std::io::Error::from),
        };
        grown.map_err(|e| failed("cannot extend", &self.path, e))
    }
}

impl OpenFile {
    /// Has the kernel begin to write what it still holds of the file, without waiting for it. Durability is `sync`'s, which
    /// tells of every error too: one that this meets stays with the file until then.
    fn write_out(&self) {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;
            // SAFETY: the descriptor is open as long as `self.file` is, and the call touches no memory of the process.
            let _ = unsafe {
                libc::sync_file_range(self.file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE)
            };
        }
    }

    fn write_zeros(&self, from: u64, to: u64) -> std::io::Result<()> {
        static ZEROS: [u8; 65536] = [0; 65536];
        let mut at = from;
        while at < to {
            let step = (to - at).min(ZEROS.len() as u64);
            self.file.write_all_at(&ZEROS[..step as usize], at)?;
            at += step;
        }
        Ok(())
    }
}

/// A process that was killed holds its lock until its last system call has ended, and a restart may be quicker.
fn try_lock_patiently(file: &fs::File) -> std::result::Result<(), TryLockError> {
    for _ in 0..LOCK_ATTEMPTS {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            other => return other,
        }
    }
    file.try_lock()
}

fn failed(what: &str, path: &Path, error: std::io::Error) -> Error {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Full("the disk"),
        _ => Error::Io(format!("{what} \"{}\"", path.display()), error),
    }
}

fn unsynced(path: &Path, error: &std::io::Error) -> Error {
    Error::Halted(format!("cannot sync \"{}\": {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::FileDevice;
    use crate::Error;
    use crate::device::Device;

    #[test]
    fn names_and_bytes_are_there_for_the_next_who_opens() {
        let place = tempfile::tempdir().unwrap();
        {
            let device = FileDevice::open(place.path()).unwrap();
            let file = device.open("log/0001", true).unwrap();
            file.set_len(10_000).unwrap();
            file.write_at(4000, b"hello").unwrap();
            file.sync().unwrap();
            device.open("gone", true).unwrap();
            device.rename("log/0001", "log/0002").unwrap();
            device.remove("gone").unwrap();
            device.sync_names().unwrap();
        }
        let device = FileDevice::open(place.path()).unwrap();
        assert_eq!(device.list("").unwrap(), ["log/0002"]);
        let file = device.open("log/0002", false).unwrap();
        let mut bytes = [0; 5];
        file.read_at(4000, &mut bytes).unwrap();
        assert_eq!((&bytes, file.len().unwrap()), (b"hello", 10_000));
        assert!(matches!(file.read_at(9_999, &mut bytes), Err(Error::Io(..))));
        file.set_len(4002).unwrap();
        assert_eq!(file.len().unwrap(), 4002);
    }

    #[test]
    fn a_second_server_is_refused_until_the_first_has_gone() {
        let place = tempfile::tempdir().unwrap();
        let first = FileDevice::open(place.path()).unwrap();
        let refused = FileDevice::open(place.path()).unwrap_err().to_string();
        let me = format!("is in use by another server (process {})", std::process::id());
        assert!(refused.ends_with(&me), "{refused}");
        drop(first);
        FileDevice::open(place.path()).unwrap();
    }

    #[test]
    fn a_file_that_is_not_there_is_not_made_unasked() {
        let place = tempfile::tempdir().unwrap();
        let device = FileDevice::open(place.path()).unwrap();
        assert!(matches!(device.open("data", false), Err(Error::Io(..))));
    }
}
