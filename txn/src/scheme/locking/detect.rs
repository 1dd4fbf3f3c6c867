//! `2pl_detect`: whoever meets a lock waits, and cycles are looked for.
//!
//! Paper: Yu et al., *Staring into the Abyss*, VLDB 2014, section 2.1 (DL_DETECT). The search is `lock/deadlock.rs`: the waiter
//! looks when its wait begins, as in the paper, and is the victim (40P01); what goes through table locks too is found by whoever has
//! waited for `deadlock_timeout`.
//!
//! Invariant: of those in a cycle one at least looks after the cycle has closed.

use crate::Reason;

/// Everybody may wait for everybody.
#[expect(clippy::unnecessary_wraps, reason = "it is one of three rules")]
pub(super) fn may_wait(_waiter: u64, _holder: u64) -> Result<(), Reason> {
    Ok(())
}
