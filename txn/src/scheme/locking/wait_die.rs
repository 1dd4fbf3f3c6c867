//! `2pl_wait_die`: who is older waits, who is younger dies.
//!
//! Papers: Rosenkrantz, Stearns and Lewis, *System Level Concurrency Control for Distributed Database Systems*, TODS 1978; Yu et
//! al., *Staring into the Abyss*, VLDB 2014, section 2.1 (WAIT_DIE). A transaction's age is its place among the begins. One that
//! dies is begun again with the age that it had: its session's next transaction has it, so the oldest of all is never aborted,
//! and whoever is run again and again becomes that.
//!
//! Invariant: every wait for a key or a range is of an older transaction for a younger one, those too that came to hold after the
//! wait had begun. So there is no cycle of such waits.

use crate::Reason;

/// An older one, which began before, may wait for a younger one.
pub(super) fn may_wait(waiter: u64, holder: u64) -> Result<(), Reason> {
    if waiter < holder { Ok(()) } else { Err(Reason::Died) }
}
