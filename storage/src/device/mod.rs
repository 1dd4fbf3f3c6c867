//! The disk: nothing survives a crash except through [`Device`].
//!
//! Names are flat (`data`, `log/000000010000000A`); a device is one directory, locked while it is open.
//!
//! There are two: [`file::FileDevice`], a directory of the operating system, and [`faulty::FaultyDevice`], which lives
//! in memory, loses what was not synced and fails on a schedule. Without a schedule it is simply the RAM device.

pub mod doublewrite;
pub mod faulty;
pub mod file;
pub mod overlay;

use crate::Result;
use crate::sync::Arc;

/// What a disk writes whole or not at all, in bytes.
pub const SECTOR_BYTES: usize = 512;

/// A directory of files.
pub trait Device: Send + Sync {
    /// Opens the file called `name`, creating it empty if there is none and `create` says so.
    fn open(&self, name: &str, create: bool) -> Result<Arc<dyn File>>;
    /// The names that begin with `prefix`, in order.
    fn list(&self, prefix: &str) -> Result<Vec<String>>;
    /// Gives a file a new name, replacing what had it. Durable after [`Device::sync_names`].
    fn rename(&self, from: &str, to: &str) -> Result<()>;
    /// Removes a file. Durable after [`Device::sync_names`].
    fn remove(&self, name: &str) -> Result<()>;
    /// Makes creations, renames and removals durable.
    fn sync_names(&self) -> Result<()>;
    /// How many bytes more it takes, where it knows: others may be faster.
    fn available_bytes(&self) -> Option<u64> {
        None
    }
}

/// One open file: positioned reads and writes, and an explicit sync.
pub trait File: Send + Sync {
    /// Fills `into` from `offset`. Reading past the end is an error.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()>;
    /// Writes all of `bytes` at `offset`, growing the file. Durable only after [`File::sync`], and until then any
    /// part of it, in sectors of 512 bytes, may be lost.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;
    /// Makes all writes so far durable. After a failure nothing is known of them (fsync's lesson of 2018).
    fn sync(&self) -> Result<()>;
    /// The length, in bytes.
    fn len(&self) -> Result<u64>;
    /// Whether it has no bytes.
    fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }
    /// Makes it `bytes` long: zeros are added, or the end is cut off. Space is really allocated, so that a later
    /// write within it does not run out.
    fn set_len(&self, bytes: u64) -> Result<()>;
}
