//! The consolidation array: threads that meet at the log's tail merge their requests, and one claims for all.
//!
//! Paper: Johnson et al., *Aether: A Scalable Approach to Logging*, VLDB 2010, appendix A.2. Differences: records are
//! published one by one (see [`super::ring`]), so a group ends with its claim and delegated release (A.3) has nothing to
//! do; slots are reused in place instead of being drawn from a pool, because a group lives only for its claim.
//!
//! Cost: one compare-and-swap to join, one wait on the leader, one atomic add to leave. Nobody but the leader touches
//! the log's tail.
//!
//! Invariants. (1) A slot is joined only while it is *open*. (2) The leader is the joiner that found it empty. (3) The
//! leader *closes* the slot exactly once, and what it claims is the sum of what joined before. (4) A slot opens again
//! when the last of the group, leader included, has left, and not before `base` has been read by all.
//!
//! States of a slot's word: *open* with the bytes joined so far; *closed* while the leader claims; *exposed* with the
//! bytes of those who have not left yet.

use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{PUBLISH, relax};
use crossbeam_utils::CachePadded;

/// How many groups may form at once: few, or none would grow.
#[cfg(not(loom))]
const SLOTS: usize = 4;
#[cfg(loom)]
const SLOTS: usize = 1;

const CLOSED: u64 = 1 << 63;
const EXPOSED: u64 = 1 << 62;
/// The low bits of a word: a number of bytes.
const BYTES: u64 = EXPOSED - 1;

#[derive(Debug, Default)]
struct Slot {
    state: AtomicU64,
    /// Where the group's claim begins, once exposed.
    base: AtomicU64,
}

/// Where groups form.
#[derive(Debug)]
pub(crate) struct ConsolidationArray {
    slots: [CachePadded<Slot>; SLOTS],
}

/// A place in a group that is still open.
#[derive(Debug)]
pub(crate) struct Joined<'a> {
    slot: &'a Slot,
    /// The bytes of those who joined before: zero makes the leader.
    offset: u64,
    bytes: u64,
}

/// A group that takes nobody in any more, in its leader's hands.
#[must_use = "the group waits for its leader"]
#[derive(Debug)]
pub(crate) struct Group<'a> {
    slot: &'a Slot,
    own: u64,
    total: u64,
}

impl ConsolidationArray {
    pub(crate) fn new() -> ConsolidationArray {
        ConsolidationArray { slots: std::array::from_fn(|_| CachePadded::new(Slot::default())) }
    }

    /// Joins an open group with a request of `bytes` (not zero), trying the slot that `worker` prefers first; none if
    /// every group has closed.
    pub(crate) fn join(&self, worker: usize, bytes: u64) -> Option<Joined<'_>> {
        for step in 0..SLOTS {
            let slot = &*self.slots[(worker + step) % SLOTS];
            let mut state = slot.state.load(Ordering::Relaxed);
            while state & (CLOSED | EXPOSED) == 0 {
                // Acquire: pairs with Release in `leave`; the former group has read `base` before we write it.
                match slot.state.compare_exchange_weak(
                    state,
                    state + bytes,
                    Ordering::Acquire,
                    Ordering::Relaxed,
                ) {
                    Ok(offset) => return Some(Joined { slot, offset, bytes }),
                    Err(now) => state = now,
                }
            }
        }
        None
    }
}

impl<'a> Joined<'a> {
    /// Whether this thread claims for the group.
    pub(crate) fn leads(&self) -> bool {
        self.offset == 0
    }

    /// The leader's: lets nobody in any more.
    pub(crate) fn close(self) -> Group<'a> {
        debug_assert!(self.leads(), "only the leader closes");
        // Acquire: pairs with the joins before; and nothing of what follows moves ahead of it.
        let total = self.slot.state.swap(CLOSED, Ordering::AcqRel);
        Group { slot: self.slot, own: self.bytes, total }
    }

    /// The others': waits for the leader's claim and returns where this thread's part of it begins.
    pub(crate) fn follow(self) -> u64 {
        let mut spins = 0;
        // Acquire: pairs with Release in `expose`; `base` is the leader's.
        while self.slot.state.load(Ordering::Acquire) & EXPOSED == 0 {
            relax(&mut spins);
        }
        let base = self.slot.base.load(Ordering::Relaxed);
        leave(self.slot, self.bytes);
        base + self.offset
    }
}

impl Group<'_> {
    /// What the leader has to claim, in bytes.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Tells the group that its claim begins at `base`, where the leader's own part is.
    pub(crate) fn expose(self, base: u64) {
        self.slot.base.store(base, Ordering::Relaxed);
        // Release: pairs with Acquire in `follow`.
        self.slot.state.store(EXPOSED | self.total, PUBLISH);
        leave(self.slot, self.own);
    }
}

fn leave(slot: &Slot, bytes: u64) {
    // Release: whoever joins next has our read of `base` behind it. Acquire: the last one has everybody's.
    let before = slot.state.fetch_sub(bytes, Ordering::AcqRel);
    if before & BYTES == bytes {
        slot.state.store(0, Ordering::Release);
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::ConsolidationArray;

    #[test]
    fn the_first_leads_and_the_others_stand_behind_it_in_the_order_they_came() {
        let array = ConsolidationArray::new();
        let leader = array.join(0, 24).unwrap();
        let second = array.join(0, 40).unwrap();
        assert!(leader.leads() && !second.leads());
        let group = leader.close();
        assert_eq!(group.total(), 64);
        let other = array.join(0, 16).unwrap();
        assert!(other.leads(), "a closed slot takes nobody in; the next one does");
        group.expose(1000);
        assert_eq!(second.follow(), 1024);
        let again = array.join(0, 8).unwrap();
        assert!(again.leads(), "when all have left the slot is open again");
        again.close().expose(0);
        other.close().expose(0);
    }
}
