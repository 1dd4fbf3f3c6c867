//! The redo point of a checkpoint under loom: the tail is read first, commit slots and the list of late commits second,
//! pages are swept third. Whatever was claimed below the point must have been on its pages when they were swept. Slots
//! and list are the files of the crate, compiled into this test beside a `sync` of loom; a page is one cell.
//!
//! Each step out of its order is a weakened form that must fail.

#[allow(dead_code, unused_imports, reason = "each model uses a part of it")]
mod loom_sync;

mod sync {
    //! Loom in place of the standard library.
    pub use crate::loom_sync::*;
    pub use loom::sync::atomic;
}

mod writeset {
    //! A write set, of which the list knows nothing.
    #[derive(Debug)]
    pub struct WriteSet;
}

#[path = "../src/commit/late.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod late;
#[path = "../src/planted.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod planted;
#[path = "../src/commit/slots.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod slots;

use late::{LateCommit, LateCommits, redo_floor};
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use planted::Planted;
use slots::CommitSlots;
use std::sync::Arc;
pub use storage::Lsn;

/// What a weakened checkpoint does in another order.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    AsItIs,
    SlotsBeforeTail,
    ListBeforeSlots,
    SweepBeforeSlots,
}

struct Model {
    slots: CommitSlots<()>,
    late: LateCommits,
    /// The log: a claim is one atomic add.
    tail: AtomicU64,
    /// What is on pages, by LSN.
    applied: Vec<AtomicU64>,
}

impl Model {
    fn tail(&self) -> Lsn {
        Lsn(self.tail.load(Ordering::Relaxed))
    }

    fn commit(&self, worker: usize, is_late: bool) {
        let slot = self.slots.take(worker).expect("there is a slot for each");
        self.slots.publish(slot, self.tail());
        let lsn = Lsn(self.tail.fetch_add(1, Ordering::Relaxed));
        self.slots.claimed(slot, lsn);
        if is_late {
            self.late.add(Arc::new(LateCommit {
                lsn,
                floor: lsn,
                writes: Arc::new(writeset::WriteSet),
            }));
            self.slots.free(slot);
            self.applied[lsn.0 as usize].store(1, Ordering::Release);
            self.late.remove(lsn);
        } else {
            self.applied[lsn.0 as usize].store(1, Ordering::Release);
            self.slots.free(slot);
        }
    }

    /// Looks at every page: which commits are on it.
    fn sweep(&self) -> Vec<u64> {
        let lsns = 0..self.applied.len() as u64;
        lsns.filter(|lsn| self.applied[*lsn as usize].load(Ordering::Acquire) == 1).collect()
    }

    /// A checkpoint whose pages are all written: the point, and what recovery finds on pages.
    fn checkpoint(&self, order: Order) -> (Lsn, Vec<u64>) {
        match order {
            Order::AsItIs => {
                let tail = self.tail();
                let floor = redo_floor(&self.slots, &self.late, tail);
                (floor.min(tail), self.sweep())
            }
            Order::SlotsBeforeTail => {
                let floor = redo_floor(&self.slots, &self.late, Lsn::MAX);
                (floor.min(self.tail()), self.sweep())
            }
            Order::ListBeforeSlots => {
                let tail = self.tail();
                let late = self.late.floor().unwrap_or(Lsn::MAX);
                (self.slots.floor(tail).min(late), self.sweep())
            }
            Order::SweepBeforeSlots => {
                let tail = self.tail();
                let swept = self.sweep();
                (redo_floor(&self.slots, &self.late, tail).min(tail), swept)
            }
        }
    }
}

fn model(order: Order) {
    let mut builder = loom::model::Builder::new();
    // One more than in the models of the log: the checkpointer is between two of its steps while a commit goes from one
    // place to the next, and the other one must not have ended.
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let model = Arc::new(Model {
            slots: CommitSlots::new(2, Lsn(1), Planted::default()),
            late: LateCommits::default(),
            tail: AtomicU64::new(1),
            applied: (0..3).map(|_| AtomicU64::new(0)).collect(),
        });
        let committers = [false, true].map(|is_late| {
            let model = Arc::clone(&model);
            thread::spawn(move || model.commit(usize::from(is_late), is_late))
        });
        let (point, swept) = model.checkpoint(order);
        for lsn in 1..point.0 {
            assert!(swept.contains(&lsn), "the point {point} is past {lsn}, which is on no page");
        }
        committers.into_iter().for_each(|thread| thread.join().expect("no panic"));
        let (point, swept) = model.checkpoint(order);
        assert_eq!((point, swept), (Lsn(3), vec![1, 2]), "nothing holds it back any more");
    });
}

#[test]
fn whatever_is_below_the_redo_point_is_on_its_pages() {
    model(Order::AsItIs);
}

#[test]
#[should_panic(expected = "is on no page")]
fn slots_read_before_the_tail_are_noticed() {
    model(Order::SlotsBeforeTail);
}

#[test]
#[should_panic(expected = "is on no page")]
fn a_list_read_before_the_slots_is_noticed() {
    model(Order::ListBeforeSlots);
}

#[test]
#[should_panic(expected = "is on no page")]
fn pages_swept_before_the_slots_are_read_are_noticed() {
    model(Order::SweepBeforeSlots);
}
