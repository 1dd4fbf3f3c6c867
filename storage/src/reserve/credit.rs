//! Credit: room that commits count on and do not set aside, because the disk has it.
//!
//! What commits deposit for one another (see [`super::escrow`]) is for the worst, and next to nothing of it is ever used. On a
//! disk with gigabytes left it is not taken out of the disk but *lent*: counted, so that the sum of all that is lent never
//! comes nearer to what the file system has left than a floor. What is used of it is taken when it is used. The floor is for
//! what the log may grow by within its limit, and for what is written beside: runs of sorts, other programs' files. While
//! anything is lent the data file grows for nobody else into it ([`Credit::spares`]).

use crate::device::Device;
use crate::sync::Arc;
use crate::sync::atomic::{AtomicU64, Ordering};

/// What has been lent of one disk.
pub(crate) struct Credit {
    device: Arc<dyn Device>,
    /// What is never lent, in bytes.
    floor: u64,
    lent: AtomicU64,
}

impl std::fmt::Debug for Credit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credit").field("floor", &self.floor).field("lent", &self.lent).finish()
    }
}

impl Credit {
    /// Nothing is lent of `device`'s last `floor` bytes.
    pub(crate) fn new(device: Arc<dyn Device>, floor: u64) -> Credit {
        Credit { device, floor, lent: AtomicU64::new(0) }
    }

    fn has(&self, bytes: u64) -> bool {
        self.device.available_bytes().is_some_and(|available| available >= bytes)
    }

    /// Lends `bytes`, if the disk has as many beside all that is lent.
    pub(crate) fn lend(&self, bytes: u64) -> bool {
        // Counted before it is looked at: of two who ask at once both see what the other asks for.
        let lent = self.lent.fetch_add(bytes, Ordering::SeqCst) + bytes;
        let has = self.has(lent.saturating_add(self.floor));
        if !has {
            self.repay(bytes);
        }
        has
    }

    /// `bytes` of what is lent are not counted on any more, or have been taken.
    pub(crate) fn repay(&self, bytes: u64) {
        self.lent.fetch_sub(bytes, Ordering::SeqCst);
    }

    /// Whether `bytes` may be taken beside what is lent.
    pub(crate) fn spares(&self, bytes: u64) -> bool {
        let lent = self.lent.load(Ordering::SeqCst);
        lent == 0 || self.has(lent.saturating_add(bytes))
    }

    /// How much is lent, in bytes.
    #[cfg(test)]
    pub(crate) fn lent(&self) -> u64 {
        self.lent.load(Ordering::SeqCst)
    }
}
