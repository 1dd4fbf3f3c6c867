//! Scratch space: files for what does not fit into memory and is worth nothing after a restart.
//!
//! A scratch file is written and read by offset and never synced. It goes when its last owner lets go of it; what a
//! crash leaves behind is removed when the directory is opened next. The directory's own limit is the disk's: whoever
//! takes space counts it against a limit of its own first.

use crate::Result;
use crate::device::{Device, File};
use crate::sync::Arc;
use crate::sync::atomic::{AtomicU64, Ordering};

/// So much is given back at a time, in bytes, of one file or of several. A journaling file system frees with its next
/// commit all that has been given back since the last one, and whoever syncs anything meanwhile waits for it: 3 GB at
/// once took half a second on a disk that is told what is free, and each sync 50 to 70 ms.
const GIVEN_BACK_BYTES: u64 = 16 << 20;

/// What the names of scratch files begin with.
const PREFIX: &str = "scratch/";

/// The scratch files of one instance.
pub struct Scratch {
    device: Arc<dyn Device>,
    next: AtomicU64,
    bytes: AtomicU64,
    /// What has been given back since a file was last synced for that, in bytes.
    given_back: AtomicU64,
}

/// One scratch file, removed when it is dropped. Whoever drops the last reference holds no latch: it is I/O.
pub struct ScratchFile {
    scratch: Arc<Scratch>,
    file: Arc<dyn File>,
    name: String,
    bytes: AtomicU64,
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scratch").field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ScratchFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScratchFile")
            .field("name", &self.name)
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl Scratch {
    /// Removes what an earlier instance left behind.
    ///
    /// # Errors
    /// I/O.
    pub(crate) fn open(device: &Arc<dyn Device>) -> Result<Scratch> {
        let left = device.list(PREFIX)?;
        for name in &left {
            device.remove(name)?;
        }
        if !left.is_empty() {
            device.sync_names()?;
        }
        Ok(Scratch {
            device: Arc::clone(device),
            next: AtomicU64::new(1),
            bytes: AtomicU64::new(0),
            given_back: AtomicU64::new(0),
        })
    }

    /// Makes an empty file.
    ///
    /// # Errors
    /// [`crate::Error::Full`]; I/O.
    pub fn file(self: &Arc<Self>) -> Result<ScratchFile> {
        let name = format!("{PREFIX}{:016X}", self.next.fetch_add(1, Ordering::Relaxed));
        let file = self.device.open(&name, true)?;
        Ok(ScratchFile { scratch: Arc::clone(self), file, name, bytes: AtomicU64::new(0) })
    }

    /// What all files together hold now, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

impl ScratchFile {
    /// Its name, below the data directory.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes all of `bytes` at `offset`, growing the file.
    ///
    /// # Errors
    /// [`crate::Error::Full`]; I/O.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let end = offset + bytes.len() as u64;
        let before = self.bytes.fetch_max(end, Ordering::Relaxed);
        self.scratch.bytes.fetch_add(end.saturating_sub(before), Ordering::Relaxed);
        self.file.write_at(offset, bytes)
    }

    /// Fills `into` from `offset`.
    ///
    /// # Errors
    /// I/O; reading past the end.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.file.read_at(offset, into)
    }

    /// How long it is, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Gives its space back, piece by piece.
    fn empty(&self) -> Result<()> {
        let mut left = self.bytes();
        self.scratch.bytes.fetch_sub(left, Ordering::Relaxed);
        let given_back = &self.scratch.given_back;
        while left > 0 {
            let piece = left.min(GIVEN_BACK_BYTES);
            left -= piece;
            self.file.set_len(left)?;
            if given_back.fetch_add(piece, Ordering::Relaxed) + piece >= GIVEN_BACK_BYTES {
                given_back.store(0, Ordering::Relaxed);
                // So that this much is freed by itself. Nothing here needs to be durable: what fails is freed later.
                let _ = self.file.sync();
            }
        }
        Ok(())
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        // Emptied first: a removed name gives its space back only when the directory is next written. A file that
        // cannot be removed goes at the next start.
        if self.empty().is_ok() {
            let _ = self.scratch.device.remove(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::device::faulty::{FaultSchedule, FaultyDevice};

    fn scratch(device: &Arc<FaultyDevice>) -> Arc<Scratch> {
        let device: Arc<dyn Device> = Arc::clone(device) as Arc<dyn Device>;
        Arc::new(Scratch::open(&device).unwrap())
    }

    #[test]
    fn a_file_goes_with_its_owner_and_gives_its_space_back() {
        let device = Arc::new(FaultyDevice::new(1));
        let scratch = scratch(&device);
        let (one, two) = (scratch.file().unwrap(), scratch.file().unwrap());
        one.write_at(0, &[1; 5000]).unwrap();
        two.write_at(100, b"two").unwrap();
        two.write_at(0, b"before").unwrap();
        let mut read = [0; 3];
        two.read_at(100, &mut read).unwrap();
        assert_eq!((&read, scratch.bytes()), (b"two", 5103));
        assert_eq!(device.list(PREFIX).unwrap().len(), 2);
        drop(one);
        assert_eq!((scratch.bytes(), device.bytes()), (103, 103));
        drop(two);
        assert_eq!((scratch.bytes(), device.bytes()), (0, 0));
        assert_eq!(device.list(PREFIX).unwrap().len(), 0);
    }

    #[test]
    fn a_large_file_is_given_back_in_pieces() {
        let device = Arc::new(FaultyDevice::new(1));
        let scratch = scratch(&device);
        let large = || {
            let file = scratch.file().unwrap();
            file.write_at(3 * GIVEN_BACK_BYTES, b"the end").unwrap();
            file
        };
        let (file, before) = (large(), device.operations());
        drop(file);
        // Three times shortened and synced, emptied, removed.
        assert_eq!(device.operations() - before, 8);
        assert_eq!((scratch.bytes(), device.bytes()), (0, 0));
        // Of many files, too.
        let files: Vec<ScratchFile> = (0..64).map(|_| scratch.file().unwrap()).collect();
        files.iter().for_each(|file| file.write_at(GIVEN_BACK_BYTES / 32 - 1, b"e").unwrap());
        let before = device.operations();
        drop(files);
        assert_eq!(device.operations() - before, 2 * 64 + 2);
        // It goes too where it cannot be synced.
        let file = large();
        let sync_error_at = Some(device.operations() + 1);
        device.set_schedule(FaultSchedule { sync_error_at, ..FaultSchedule::default() });
        drop(file);
        assert_eq!((scratch.bytes(), device.bytes()), (0, 0));
        assert_eq!(device.list(PREFIX).unwrap().len(), 0);
    }

    #[test]
    fn what_a_crash_leaves_is_removed() {
        let device = Arc::new(FaultyDevice::new(1));
        let file = scratch(&device).file().unwrap();
        file.write_at(0, &[1; 5000]).unwrap();
        device.sync_names().unwrap();
        let after = Arc::new(device.crash(1));
        assert_eq!(after.list(PREFIX).unwrap().len(), 1);
        let scratch = scratch(&after);
        assert_eq!(after.list("").unwrap().len(), 0);
        assert!(scratch.file().is_ok());
    }

    #[test]
    fn a_full_disk_is_said() {
        let device = Arc::new(FaultyDevice::new(1));
        device.set_schedule(FaultSchedule { capacity_bytes: Some(1000), ..Default::default() });
        let file = scratch(&device).file().unwrap();
        assert!(matches!(file.write_at(0, &[1; 5000]), Err(Error::Full(_))));
        assert!(file.write_at(0, &[1; 500]).is_ok());
    }
}
