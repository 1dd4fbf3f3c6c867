//! What hands timestamps out, under loom: every interleaving of two transactions of one worker or of two, the first of which may
//! have ended before the other begins. The file under test is compiled into this test beside a `sync` of loom, with batches of
//! four.
//!
//! Weakened forms must fail: no floor where numbers do not come in their order.

#[allow(dead_code, unused_imports, reason = "each model uses a part of it")]
mod loom_sync;

mod sync {
    //! Loom in place of the standard library.
    pub use crate::loom_sync::*;
    pub use loom::sync::atomic;
}

#[path = "../src/timestamps.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod timestamps;

use loom::thread;
use std::sync::Arc;
use storage::Micros;
use sync::{Mutex, lock};
use timestamps::{TimestampAllocator, Timestamps};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Timestamp(u64);

/// What has ended, as the order of transactions knows it.
struct Model {
    timestamps: Timestamps,
    floor: Mutex<Timestamp>,
    knows_floor: bool,
}

impl Model {
    fn new(kind: TimestampAllocator, before: [usize; 2], knows_floor: bool) -> Arc<Model> {
        let timestamps = Timestamps::new(kind, 2);
        for (worker, count) in before.into_iter().enumerate() {
            for _ in 0..count {
                timestamps.after(Timestamp(0), worker, || Micros(0));
            }
        }
        Arc::new(Model { timestamps, floor: Mutex::new(Timestamp(0)), knows_floor })
    }

    /// A transaction begins, and ends.
    fn run(&self, worker: usize) -> Timestamp {
        let floor = *lock(&self.floor);
        let asked = if self.knows_floor { floor } else { Timestamp(0) };
        let at = self.timestamps.after(asked, worker, || Micros(1));
        assert!(at > floor, "{at:?} is older than what has ended at {floor:?}");
        let mut floor = lock(&self.floor);
        *floor = at.max(*floor);
        at
    }
}

/// Two threads run two transactions each; how many numbers each worker has taken before decides who meets the end of a batch.
fn check(kind: TimestampAllocator, workers: [usize; 2], knows_floor: bool) {
    for before in [[0, 0], [3, 1], [4, 3]] {
        loom::model(move || {
            let model = Model::new(kind, before, knows_floor);
            let other = {
                let model = Arc::clone(&model);
                thread::spawn(move || [model.run(workers[0]), model.run(workers[0])])
            };
            let mut all = vec![model.run(workers[1]), model.run(workers[1])];
            all.extend(other.join().expect("it holds"));
            all.sort_unstable();
            assert!(all.windows(2).all(|pair| pair[0] < pair[1]), "one came twice: {all:?}");
        });
    }
}

fn check_both(kind: TimestampAllocator) {
    for workers in [[0, 0], [0, 1]] {
        check(kind, workers, true);
    }
}

#[test]
fn a_counter_under_a_latch_gives_each_number_once() {
    check_both(TimestampAllocator::Mutex);
}

#[test]
fn an_atomic_counter_gives_each_number_once() {
    check_both(TimestampAllocator::Atomic);
}

#[test]
fn batches_give_each_number_once_above_what_has_ended() {
    check_both(TimestampAllocator::Batched);
}

#[test]
fn the_clock_gives_each_number_once_above_what_has_ended() {
    check_both(TimestampAllocator::Clock);
}

#[test]
#[should_panic(expected = "is older than what has ended")]
fn batches_without_a_floor_are_noticed() {
    check(TimestampAllocator::Batched, [0, 1], false);
}

#[test]
#[should_panic(expected = "is older than what has ended")]
fn the_clock_without_a_floor_is_noticed() {
    check(TimestampAllocator::Clock, [0, 1], false);
}
