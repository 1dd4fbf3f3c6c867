//! Late commits: claimed and published, and not yet on their pages.
//!
//! A commit whose apply has to wait for a page, or is large, must not hold the watermark, and with it every answer and
//! every snapshot. Its write set goes on a list, *then* the watermark may pass it. A reader takes the watermark first
//! and the list afterwards, and merges what is at or below its snapshot like its own writes, where the page's record is
//! older. The list is read *before* the page: who does not find a commit there finds it on its pages.
//!
//! The commit's locks stay until all is applied, so nobody writes over it meanwhile.

use super::slots::CommitSlots;
use crate::Lsn;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock, rank, try_lock};
use crate::writeset::WriteSet;
use crossbeam_utils::CachePadded;

/// One late commit.
#[derive(Debug)]
pub struct LateCommit {
    /// Its LSN.
    pub lsn: Lsn,
    /// Its first part, or its LSN: from where recovery has to begin to see it whole.
    pub floor: Lsn,
    /// What it writes.
    pub writes: Arc<WriteSet>,
}

/// A list as it was at one moment.
pub type LateList = Arc<Vec<Arc<LateCommit>>>;

/// What recovery still needs of commits that are under way, for a checkpoint that has read the log's `tail` and not yet
/// looked at any page: the lowest LSN that somebody may still have to apply. The slots first: a commit goes on the list
/// before it frees its slot, so who is missed in both is on its pages.
pub fn redo_floor<W>(slots: &CommitSlots<W>, late: &LateCommits, tail: Lsn) -> Lsn {
    let floor = slots.floor(tail);
    late.floor().map_or(floor, |late| late.min(floor))
}

/// All late commits.
#[derive(Debug, Default)]
pub struct LateCommits {
    count: CachePadded<AtomicUsize>,
    list: Mutex<LateList, { rank::LATE }>,
}

impl LateCommits {
    /// Puts a commit on the list: before its slot is freed.
    pub fn add(&self, commit: Arc<LateCommit>) {
        let mut list = lock(&self.list);
        Arc::make_mut(&mut list).push(commit);
        // Release: pairs with Acquire in `list`. Whoever sees the slot free sees the count.
        self.count.store(list.len(), Ordering::Release);
    }

    /// Takes a commit off the list: all of it is on its pages.
    pub fn remove(&self, lsn: Lsn) {
        let gone: Vec<_> = {
            let mut list = lock(&self.list);
            let gone =
                Arc::make_mut(&mut list).extract_if(.., |commit| commit.lsn == lsn).collect();
            self.count.store(list.len(), Ordering::Release);
            gone
        };
        // Its files go where no latch is held.
        drop(gone);
    }

    /// The list; none if it is empty.
    #[must_use]
    pub fn list(&self) -> Option<LateList> {
        if self.count.load(Ordering::Acquire) == 0 {
            return None;
        }
        Some(Arc::clone(&lock(&self.list)))
    }

    /// The list, if nobody is just changing it; `Err` if somebody is.
    pub(crate) fn try_list(&self) -> Result<Option<LateList>, ()> {
        if self.count.load(Ordering::Acquire) == 0 {
            return Ok(None);
        }
        try_lock(&self.list).map(|list| Some(Arc::clone(&list))).ok_or(())
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    /// The lowest LSN recovery would have to begin at for them.
    #[must_use]
    pub fn floor(&self) -> Option<Lsn> {
        lock(&self.list).iter().map(|commit| commit.floor).min()
    }
}
