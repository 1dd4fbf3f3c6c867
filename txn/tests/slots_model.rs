//! Commit slots and watermark under loom: every interleaving of two committers and a reader, with the log's tail at its
//! weakest ordering. The file under test is compiled into this test beside a `sync` of loom.

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

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use planted::{Fault, Planted};
use slots::CommitSlots;
pub use storage::Lsn;

struct Model {
    slots: CommitSlots<()>,
    /// The log: a claim is one atomic add.
    tail: AtomicU64,
    /// What is applied, by LSN.
    applied: Vec<AtomicU64>,
}

impl Model {
    /// Two slots of a log whose first record has been written.
    fn new(planted: Planted) -> Arc<Model> {
        Arc::new(Model {
            slots: CommitSlots::new(2, Lsn(1), planted),
            tail: AtomicU64::new(1),
            applied: (0..3).map(|_| AtomicU64::new(0)).collect(),
        })
    }

    fn tail(&self) -> Lsn {
        Lsn(self.tail.load(Ordering::Relaxed))
    }

    fn commit(&self, worker: usize) {
        let slot = self.slots.take(worker).expect("there is a slot for each");
        self.slots.publish(slot, self.tail());
        let lsn = self.tail.fetch_add(1, Ordering::Relaxed);
        self.slots.claimed(slot, Lsn(lsn));
        self.applied[lsn as usize].store(1, Ordering::Relaxed);
        self.slots.free(slot);
    }

    /// Everything at or below the watermark is applied, and seen.
    fn look(&self) {
        let visible = self.slots.advance(|| self.tail());
        for lsn in 1..=visible.0 {
            let applied = self.applied[lsn as usize].load(Ordering::Relaxed);
            assert_eq!(applied, 1, "{lsn} is not applied at watermark {visible}");
        }
    }
}

fn model(planted: Planted) {
    let mut builder = loom::model::Builder::new();
    // As in the models of the log: two preemptions reach every bug of a kind known from practice.
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let model = Model::new(planted);
        let committers: Vec<_> = (0..2)
            .map(|worker| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.commit(worker))
            })
            .collect();
        let reader = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.look())
        };
        reader.join().expect("no panic");
        committers.into_iter().for_each(|thread| thread.join().expect("no panic"));
        model.look();
        assert_eq!(model.slots.visible(), Lsn(2), "nothing holds it back any more");
    });
}

#[test]
fn nothing_below_the_watermark_is_unapplied() {
    model(Planted::default());
}

#[test]
#[should_panic(expected = "is not applied at watermark")]
fn slots_read_before_the_tail_are_noticed() {
    model(Planted::new(Fault::SlotsBeforeTail));
}

/// The checkpoint's floor: what is claimed and not applied when it is asked is never below it unseen.
#[test]
fn the_floor_covers_whoever_is_between_claim_and_apply() {
    loom::model(|| {
        let model = Model::new(Planted::default());
        let committer = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                let slot = model.slots.take(0).expect("it is free");
                // In parts: the first holds the floor alone, the last publishes the bound.
                model.slots.hold_floor(slot, model.tail());
                let first = model.tail.fetch_add(1, Ordering::Relaxed);
                model.slots.publish(slot, model.tail());
                let last = model.tail.fetch_add(1, Ordering::Relaxed);
                model.slots.claimed(slot, Lsn(last));
                model.applied[first as usize].store(1, Ordering::Relaxed);
                model.slots.free(slot);
            })
        };
        let checkpointer = {
            let model = Arc::clone(&model);
            thread::spawn(move || {
                let tail = model.tail();
                let floor = model.slots.floor(tail);
                // The first part is needed until the commit it belongs to is applied.
                let applied = model.applied[1].load(Ordering::Relaxed);
                assert!(floor <= Lsn(1) || applied == 1, "{floor} is past an unapplied part");
            })
        };
        checkpointer.join().expect("no panic");
        committer.join().expect("no panic");
    });
}

/// Two committers, of whom the first passes a lock on when it has been applied: whoever has been given it waits for `shown`
/// and then sees the commit, however long the other one's takes that was claimed before.
fn passed_on(planted: Planted) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let model = Model::new(planted);
        let slow = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.commit(1))
        };
        // The lock, and with it the LSN that its holder has committed at.
        let passed = Arc::new(AtomicU64::new(0));
        let giver = {
            let (model, passed) = (Arc::clone(&model), Arc::clone(&passed));
            thread::spawn(move || {
                let slot = model.slots.take(0).expect("there is a slot for each");
                model.slots.publish(slot, model.tail());
                let lsn = Lsn(model.tail.fetch_add(1, Ordering::Relaxed));
                model.slots.claimed(slot, lsn);
                model.slots.free(slot);
                model.slots.advance(|| model.tail());
                model.slots.releases(lsn);
                passed.store(lsn.0, Ordering::Release);
            })
        };
        let given = passed.load(Ordering::Acquire);
        let snapshot = model.slots.visible().max(model.slots.shown());
        assert!(snapshot >= Lsn(given), "a snapshot at {snapshot} behind the lock of {given}");
        slow.join().expect("no panic");
        giver.join().expect("no panic");
    });
}

#[test]
fn a_snapshot_behind_a_lock_shows_what_its_giver_committed() {
    passed_on(Planted::default());
}

#[test]
#[should_panic(expected = "behind the lock of")]
fn locks_that_are_released_unseen_are_noticed() {
    passed_on(Planted::new(Fault::ReleasedUnseen));
}
