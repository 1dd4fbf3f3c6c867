//! What a thread has used: pages and log, in plain numbers of its own that only grow.
//!
//! A statement runs on one thread from one call to the next, so what was used between two looks on that thread is the
//! statement's: EXPLAIN (BUFFERS, WAL) takes differences. Counting is an addition in the thread's own memory; nobody else
//! ever reads it, so nothing is shared and nothing is atomic. How long the disk took is measured where the thread asks for it
//! ([`time_io`]: `track_io_timing`), by the machine's clock: nothing that happens depends on it.

use std::cell::Cell;
use std::time::Instant;

/// What temporary files are counted in, as PostgreSQL does.
const BLOCK_BYTES: u64 = 8192;

/// What has been used so far, or between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Pages that were found in the pool.
    pub hit: u64,
    /// Pages that were read from disk.
    pub read: u64,
    /// Clean pages that were changed.
    pub dirtied: u64,
    /// Pages that were written by whoever ran, not by the cleaner.
    pub written: u64,
    /// Blocks of [`BLOCK_BYTES`] that were read from temporary files.
    pub temp_read: u64,
    /// Those that were written to them.
    pub temp_written: u64,
    /// Changes for the log.
    pub log_records: u64,
    /// Their bytes.
    pub log_bytes: u64,
    /// How long pages were read, and written by whoever ran; of this and the following, in microseconds.
    pub read_us: u64,
    /// How long they were written.
    pub written_us: u64,
    /// How long temporary files were read.
    pub temp_read_us: u64,
    /// How long they were written.
    pub temp_written_us: u64,
}

impl Usage {
    /// What the calling thread has used so far.
    #[must_use]
    pub fn so_far() -> Usage {
        USED.with(|used| Usage {
            hit: used.hit.get(),
            read: used.read.get(),
            dirtied: used.dirtied.get(),
            written: used.written.get(),
            temp_read: used.temp_read.get(),
            temp_written: used.temp_written.get(),
            log_records: used.log_records.get(),
            log_bytes: used.log_bytes.get(),
            read_us: used.read_us.get(),
            written_us: used.written_us.get(),
            temp_read_us: used.temp_read_us.get(),
            temp_written_us: used.temp_written_us.get(),
        })
    }

    /// What has been used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Usage) -> Usage {
        self.with(earlier, u64::wrapping_sub)
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Usage) -> Usage {
        self.with(other, u64::wrapping_add)
    }

    fn with(self, other: Usage, of: impl Fn(u64, u64) -> u64) -> Usage {
        Usage {
            hit: of(self.hit, other.hit),
            read: of(self.read, other.read),
            dirtied: of(self.dirtied, other.dirtied),
            written: of(self.written, other.written),
            temp_read: of(self.temp_read, other.temp_read),
            temp_written: of(self.temp_written, other.temp_written),
            log_records: of(self.log_records, other.log_records),
            log_bytes: of(self.log_bytes, other.log_bytes),
            read_us: of(self.read_us, other.read_us),
            written_us: of(self.written_us, other.written_us),
            temp_read_us: of(self.temp_read_us, other.temp_read_us),
            temp_written_us: of(self.temp_written_us, other.temp_written_us),
        }
    }
}

/// The pages that have been used so far, or between two looks, and how long they took: what is asked at each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PagesUsed {
    /// As in [`Usage`].
    pub hit: u64,
    /// As in [`Usage`].
    pub read: u64,
    /// As in [`Usage`].
    pub read_us: u64,
    /// As in [`Usage`].
    pub written_us: u64,
}

impl PagesUsed {
    /// What the calling thread has used so far.
    #[must_use]
    #[inline]
    pub fn so_far() -> PagesUsed {
        USED.with(|used| PagesUsed {
            hit: used.hit.get(),
            read: used.read.get(),
            read_us: used.read_us.get(),
            written_us: used.written_us.get(),
        })
    }

    /// What has been used since `earlier`.
    #[must_use]
    #[inline]
    pub fn since(self, earlier: PagesUsed) -> PagesUsed {
        PagesUsed {
            hit: self.hit.wrapping_sub(earlier.hit),
            read: self.read.wrapping_sub(earlier.read),
            read_us: self.read_us.wrapping_sub(earlier.read_us),
            written_us: self.written_us.wrapping_sub(earlier.written_us),
        }
    }
}

/// The numbers of one thread.
pub(crate) struct Used {
    pub(crate) hit: Cell<u64>,
    pub(crate) read: Cell<u64>,
    pub(crate) dirtied: Cell<u64>,
    pub(crate) written: Cell<u64>,
    temp_read: Cell<u64>,
    temp_written: Cell<u64>,
    log_records: Cell<u64>,
    log_bytes: Cell<u64>,
    pub(crate) read_us: Cell<u64>,
    pub(crate) written_us: Cell<u64>,
    temp_read_us: Cell<u64>,
    temp_written_us: Cell<u64>,
    /// Whether the disk's times are taken.
    timed: Cell<bool>,
}

thread_local! {
    static USED: Used = const {
        Used {
            hit: Cell::new(0),
            read: Cell::new(0),
            dirtied: Cell::new(0),
            written: Cell::new(0),
            temp_read: Cell::new(0),
            temp_written: Cell::new(0),
            log_records: Cell::new(0),
            log_bytes: Cell::new(0),
            read_us: Cell::new(0),
            written_us: Cell::new(0),
            temp_read_us: Cell::new(0),
            temp_written_us: Cell::new(0),
            timed: Cell::new(false),
        }
    };
}

fn add(number: &Cell<u64>, n: u64) {
    number.set(number.get().wrapping_add(n));
}

/// Counts `n` pages that the calling thread has used.
#[inline]
pub(crate) fn count(which: impl FnOnce(&Used) -> &Cell<u64>, n: u64) {
    USED.with(|used| add(which(used), n));
}

/// A page that counts as read is going to be found, too: that will not have been a hit.
pub(crate) fn will_be_found() {
    USED.with(|used| used.hit.set(used.hit.get().wrapping_sub(1)));
}

/// Counts something that is logged, now or with the commit of the transaction that has made it.
#[inline]
pub fn count_logged(bytes: u64) {
    USED.with(|used| {
        add(&used.log_records, 1);
        add(&used.log_bytes, bytes);
    });
}

/// Has the calling thread take the time of what it reads and writes from now on, or no longer.
#[inline]
pub fn time_io(on: bool) {
    USED.with(|used| used.timed.set(on));
}

/// Runs what asks the disk, and counts how long it took if that is wanted.
pub(crate) fn timed<T>(which: impl FnOnce(&Used) -> &Cell<u64>, ask: impl FnOnce() -> T) -> T {
    let begun = USED.with(|used| used.timed.get().then(Instant::now));
    let answer = ask();
    if let Some(begun) = begun {
        count(which, u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
    }
    answer
}

/// Reads so many bytes from a temporary file; a block that is begun counts as one.
///
/// # Errors
/// Those of `read`.
pub fn count_temporary_read<E>(bytes: u64, read: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
    timed(|used| &used.temp_read_us, read)?;
    count(|used| &used.temp_read, bytes.div_ceil(BLOCK_BYTES));
    Ok(())
}

/// Writes so many to one.
///
/// # Errors
/// Those of `write`.
pub fn count_temporary_written<E>(
    bytes: u64,
    write: impl FnOnce() -> Result<(), E>,
) -> Result<(), E> {
    timed(|used| &used.temp_written_us, write)?;
    count(|used| &used.temp_written, bytes.div_ceil(BLOCK_BYTES));
    Ok(())
}
