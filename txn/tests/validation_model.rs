//! Validation under loom: two serializable transactions that each read what the other writes, in every interleaving of
//! their claims, looks and applies. Both must never commit; and one always does. The slots are the file of the crate,
//! compiled into this test beside a `sync` of loom; a page is one cell, which says the LSN of its record.
//!
//! Each step out of its order is a weakened form that must fail.

#[allow(dead_code, unused_imports, reason = "each model uses a part of it")]
mod loom_sync;

mod sync {
    //! Loom in place of the standard library.
    pub use crate::loom_sync::*;
    pub use loom::sync::atomic;
}

#[path = "../src/planted.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod planted;
#[path = "../src/commit/slots.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod slots;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use planted::Planted;
use slots::{CommitSlots, ConflictingCommit, SlotId};
use std::sync::Arc;
pub use storage::Lsn;

/// What a weakened committer does in another order, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    AsItIs,
    PagesBeforeSlots,
    PagesOnly,
    SlotsOnly,
    ValidatesBeforeClaim,
    SharesAfterClaim,
    FreesBeforeApply,
}

/// How a commit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Committed,
    Broken,
    Unsure,
}

struct Model {
    slots: CommitSlots<usize>,
    tail: AtomicU64,
    pages: [AtomicU64; 2],
}

impl Model {
    /// Commits a transaction that has read page `1 - writes`, with a snapshot below every LSN.
    fn commit(&self, writes: usize, order: Order) -> End {
        let slot = self.slots.take(writes).expect("there is a slot for each");
        let end = self.claim(slot, writes, order);
        self.slots.unshare(slot);
        self.slots.free(slot);
        end
    }

    fn claim(&self, slot: SlotId, writes: usize, order: Order) -> End {
        if order == Order::ValidatesBeforeClaim
            && let Some(end) = self.validate(slot, Lsn(u64::MAX - 2), writes, order)
        {
            return end;
        }
        if order != Order::SharesAfterClaim {
            self.slots.share(slot, &Arc::new(writes));
        }
        self.slots.publish(slot, Lsn(self.tail.load(Ordering::Relaxed)));
        let lsn = Lsn(self.tail.fetch_add(1, Ordering::Relaxed));
        if order == Order::SharesAfterClaim {
            // As if who has no shared writes would write nothing that matters.
            self.slots.share(slot, &Arc::new(writes));
        }
        self.slots.claimed_exactly(slot, lsn);
        if order != Order::ValidatesBeforeClaim
            && let Some(end) = self.validate(slot, lsn, writes, order)
        {
            return end;
        }
        if order == Order::FreesBeforeApply {
            self.slots.unshare(slot);
            self.slots.free(slot);
        }
        // Release: a page's latch does as much.
        self.pages[writes].store(lsn.0, Ordering::Release);
        End::Committed
    }

    /// None if all that was read stands.
    fn validate(&self, slot: SlotId, lsn: Lsn, writes: usize, order: Order) -> Option<End> {
        let read = 1 - writes;
        let page = || {
            let newer = self.pages[read].load(Ordering::Acquire) > 0;
            newer.then_some(End::Broken)
        };
        let slots = || match self.slots.meets_before(slot, lsn, |writes| *writes == read) {
            ConflictingCommit::None => None,
            ConflictingCommit::At(_) => Some(End::Broken),
            ConflictingCommit::Unknown if order == Order::SharesAfterClaim => None,
            ConflictingCommit::Unknown => Some(End::Unsure),
        };
        match order {
            Order::PagesBeforeSlots => page().or_else(slots),
            Order::PagesOnly => page(),
            Order::SlotsOnly => slots(),
            _ => slots().or_else(page),
        }
    }
}

fn model(order: Order) {
    let mut builder = loom::model::Builder::new();
    // As in the models of the log: two preemptions reach every bug of a kind known from practice.
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let model = Arc::new(Model {
            slots: CommitSlots::new(2, Lsn(1), Planted::default()),
            tail: AtomicU64::new(1),
            pages: [AtomicU64::new(0), AtomicU64::new(0)],
        });
        let other = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.commit(0, order))
        };
        let ends = [model.commit(1, order), other.join().expect("no panic")];
        let both = ends == [End::Committed; 2];
        assert!(!both, "both have committed");
    });
}

#[test]
fn of_two_that_read_what_the_other_writes_one_at_most_commits() {
    model(Order::AsItIs);
}

/// Whoever claims first is never told that the other was before.
#[test]
fn the_first_to_claim_is_not_refused() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let model = Arc::new(Model {
            slots: CommitSlots::new(2, Lsn(1), Planted::default()),
            tail: AtomicU64::new(1),
            pages: [AtomicU64::new(0), AtomicU64::new(0)],
        });
        let other = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.commit(0, Order::AsItIs))
        };
        let ends = [model.commit(1, Order::AsItIs), other.join().expect("no panic")];
        assert_ne!(ends, [End::Broken; 2], "each is refused for the other");
    });
}

macro_rules! weakened {
    ($($name:ident: $order:ident;)*) => {$(
        #[test]
        #[should_panic(expected = "both have committed")]
        fn $name() {
            model(Order::$order);
        }
    )*};
}

weakened! {
    pages_before_slots_miss_who_comes_to_his_pages_between: PagesBeforeSlots;
    pages_alone_miss_who_is_in_his_slot: PagesOnly;
    slots_alone_miss_who_is_on_his_pages: SlotsOnly;
    a_validation_before_the_claim_misses_who_claims_between: ValidatesBeforeClaim;
    writes_shared_after_the_claim_are_missed: SharesAfterClaim;
    a_slot_that_is_freed_before_the_apply_is_missed: FreesBeforeApply;
}
