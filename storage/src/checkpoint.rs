//! The fuzzy checkpoint: nobody stops, and afterwards recovery may begin later.
//!
//! Papers: Mohan et al., *ARIES*, TODS 1992, §5.4 (fuzzy checkpoints, recovery LSN of dirty pages); Johnson et al.,
//! *Shore-MT*, EDBT 2009 (one number from the buffer pool instead of a list). Difference: no checkpoint record; the
//! redo point is all there is, and it stands in the control file.
//!
//! The order matters, each step for a reason:
//!
//! 1. **Read the tail.** Every record from here on is redone anyway.
//! 2. **Ask the layer above** for the lowest record it may still have to apply: commits claimed and not yet applied,
//!    late commits. Asked after the tail, so that whoever is not on its list claims behind the tail.
//! 3. **Sweep** frames and pages in transit for the lowest recovery LSN. After the layer above: what it applied before
//!    it was asked stands on a page with its recovery LSN by now, so a record is on one of the lists or on both.
//! 4. **Sync the data files.** A page that the sweep found clean was written, but perhaps not yet durably.
//! 5. **Wait until the log is durable to the sweep's end.** The redo point must not vouch for a log that a crash could
//!    still shorten: recovery takes the durable end written with the point for a certainty.
//! 6. **Write the point,** the minimum of it all, in the control file's other slot.
//! 7. **Recycle** the log before the point.
//!
//! The sweep writes pages whose oldest unwritten change is old, so that the point moves and the log stays bounded.

use crate::control::Control;
use crate::planted::{Fault, Planted};
use crate::wal::Log;
use crate::{Lsn, Result};

/// What a checkpoint asks of the buffer pool.
pub trait Sweep {
    /// Writes the pages that hold a change older than `older_than`, then looks at every frame and every page in
    /// transit, and returns the lowest recovery LSN of what is dirty: the oldest change that is on no page in the file.
    /// [`Lsn::MAX`] if nothing is dirty.
    ///
    /// # Errors
    /// I/O; [`crate::Error::Halted`].
    fn sweep(&self, older_than: Lsn) -> Result<Lsn>;

    /// Makes every page written so far durable.
    ///
    /// # Errors
    /// [`crate::Error::Halted`] if a sync failed.
    fn sync_data(&self) -> Result<()>;
}

/// Why a checkpoint is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointReason {
    /// It was time.
    Time,
    /// The log has become long.
    Log,
    /// Somebody has asked for it.
    Asked,
    /// The instance ends.
    Shutdown,
}

/// What a checkpoint has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckpointReport {
    /// Pages written meanwhile.
    pub pages: u64,
    /// How many the pool holds.
    pub pool_frames: u32,
    /// Segments of the log that are used again, or gone.
    pub recycled: u64,
    /// How long it has written.
    pub write_us: u64,
    /// How long it has waited for syncs.
    pub sync_us: u64,
    /// How long it has taken.
    pub total_us: u64,
    /// By how much of the log the redo point has moved, in bytes.
    pub distance: u64,
}

/// Who is told of checkpoints.
pub trait CheckpointWatch: Send + Sync + std::fmt::Debug {
    /// One begins.
    fn begins(&self, why: CheckpointReason);
    /// It has been taken.
    fn ended(&self, report: &CheckpointReport);
}

/// A checkpoint that has been taken.
pub(crate) struct Taken {
    pub(crate) redo: Lsn,
    pub(crate) write_us: u64,
    pub(crate) sync_us: u64,
}

/// Takes a checkpoint and returns the redo point; with `closes` it is what an instance ends with that leaves nothing half done.
/// One at a time.
pub(crate) fn take(
    log: &Log,
    control: &Control,
    pages: &dyn Sweep,
    floor: &mut dyn FnMut(Lsn) -> Lsn,
    age: u64,
    closes: bool,
    planted: Planted,
) -> Result<Taken> {
    let clock = &log.environment().clock;
    let tail = log.tail();
    let unapplied = floor(tail);
    let began = clock.now();
    let dirty = pages.sweep(Lsn(tail.0.saturating_sub(age)))?;
    let swept = log.tail();
    let swept_at = clock.now();
    pages.sync_data()?;
    let synced_at = clock.now();
    log.wait_durable_end(swept)?;
    let mut redo = tail.min(unapplied).min(dirty).max(control.latest().redo);
    if planted.is(Fault::RedoPointLate)
        && let Some(record) = log.scan(redo)?.advance()?
    {
        redo = record.end;
    }
    control.write_point(redo, swept.max(redo), closes)?;
    log.recycle(redo)?;
    let (write_us, sync_us) = (swept_at.0 - began.0, synced_at.0 - swept_at.0);
    Ok(Taken { redo, write_us, sync_us })
}
