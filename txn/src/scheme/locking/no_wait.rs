//! `2pl_no_wait`: whoever meets a lock is aborted at once.
//!
//! Paper: Yu et al., *Staring into the Abyss*, VLDB 2014, section 2.1 (NO_WAIT); Bernstein and Goodman, *Concurrency Control in
//! Distributed Database Systems*, 1981.
//!
//! Invariant: nobody waits for a key or a range, so there is no cycle to look for. Of two in each other's way the second to
//! ask is aborted, and its locks go: the first goes on.

use crate::Reason;

/// Nobody may wait.
pub(super) fn may_wait(_waiter: u64, _holder: u64) -> Result<(), Reason> {
    Err(Reason::LockBusy)
}
