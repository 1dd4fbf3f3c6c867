//! Timestamps: who hands them out.
//!
//! Paper: Yu et al., *Staring into the Abyss*, VLDB 2014, section 4.3: with many cores what gives out one number after the other
//! is what stops schemes of timestamps first. Its hardware counter is left out.
//!
//! `mutex` counts under a latch and `atomic` by one atomic addition: each number is greater than all before it. `batched` takes
//! [`BATCH`] of them by one addition for a worker, which hands them out from a cell of its own; `clock` reads the time and puts
//! the worker's number behind it: no two workers share a cache line there, and of two numbers the later may be the lower one.
//!
//! Invariants. (1) No number is handed out twice: a cell only ever moves by read-modify-writes, no two batches overlap, and of two
//! workers the numbers differ in what is left when they are divided by how many workers there are. (2) A number is greater than
//! the floor that it is asked for with, where that is 0 or has been handed out before: so where the floor is the greatest number
//! of a transaction that has committed or ended, who begins afterwards is younger than all of these, however numbers are handed
//! out. (3) The lowest one is 1.
//!
//! Waiting (`2pl_wait_die`, `hstore`) needs the first alone, and that nobody is passed by younger ones for ever: a batch ends.
//! Timestamp ordering needs both. Nothing of it is durable: whoever runs is gone after a restart, and a transaction that was
//! prepared is then older than everybody (`prepared.rs`).
//!
//! Cost: `bench -- timestamps`.

use crate::Timestamp;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, lock, rank};
use crossbeam_utils::CachePadded;
use storage::Micros;

/// Numbers that a worker takes at a time.
#[cfg(not(test))]
pub const BATCH: u64 = 64;
/// Numbers that a worker takes at a time.
#[cfg(test)]
pub const BATCH: u64 = 4;
/// Numbers of a worker in a microsecond, past which it is ahead of the clock.
const IN_A_MICROSECOND: u64 = 16;

/// How timestamps are handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TimestampAllocator {
    /// By a counter under a latch.
    Mutex,
    /// By an atomic addition.
    #[default]
    Atomic,
    /// By an atomic addition for many at a time.
    Batched,
    /// By the clock.
    Clock,
}

impl TimestampAllocator {
    /// All there are.
    pub const ALL: [TimestampAllocator; 4] = [
        TimestampAllocator::Mutex,
        TimestampAllocator::Atomic,
        TimestampAllocator::Batched,
        TimestampAllocator::Clock,
    ];

    /// What users call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TimestampAllocator::Mutex => "mutex",
            TimestampAllocator::Atomic => "atomic",
            TimestampAllocator::Batched => "batched",
            TimestampAllocator::Clock => "clock",
        }
    }

    /// The one of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<TimestampAllocator> {
        TimestampAllocator::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A number of each worker's own.
type Cells = Box<[CachePadded<AtomicU64>]>;

#[derive(Debug)]
enum Source {
    /// The last number.
    Mutex(Mutex<u64, { rank::GARBAGE }>),
    /// The last number.
    Atomic(AtomicU64),
    /// Where the next batch begins, and each worker's next number; a multiple of a batch where its own is used up.
    Batched(CachePadded<AtomicU64>, Cells),
    /// When each worker has taken its last one.
    Clock(Cells),
}

/// What hands them out.
#[derive(Debug)]
pub struct Timestamps(Source);

impl Timestamps {
    /// None has been handed out. `workers` take some.
    #[must_use]
    pub fn new(kind: TimestampAllocator, workers: usize) -> Timestamps {
        let cells = || (0..workers).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
        Timestamps(match kind {
            TimestampAllocator::Mutex => Source::Mutex(Mutex::new(0)),
            TimestampAllocator::Atomic => Source::Atomic(AtomicU64::new(0)),
            TimestampAllocator::Batched => {
                Source::Batched(CachePadded::new(AtomicU64::new(BATCH)), cells())
            }
            TimestampAllocator::Clock => Source::Clock(cells()),
        })
    }

    /// A new one, greater than `floor`, which is 0 or has been handed out.
    ///
    /// Relaxed throughout: whoever compares two of them has learnt of both under a latch, and from what is read here nobody
    /// concludes anything about other memory.
    pub fn after(
        &self,
        floor: Timestamp,
        worker: usize,
        now: impl FnOnce() -> Micros,
    ) -> Timestamp {
        Timestamp(match &self.0 {
            Source::Mutex(last) => {
                let mut last = lock(last);
                *last += 1;
                *last
            }
            Source::Atomic(last) => last.fetch_add(1, Ordering::Relaxed) + 1,
            Source::Batched(batches, cells) => from_batch(batches, &cells[worker], floor.0),
            Source::Clock(cells) => {
                let (workers, worker_number) = (cells.len() as u64, worker as u64);
                let time = now().0 * IN_A_MICROSECOND;
                let at = |last: u64| time.max(last + 1).max(floor.0 / workers + 1);
                let step = |last| Some(at(last));
                let last = cells[worker].fetch_update(Ordering::Relaxed, Ordering::Relaxed, step);
                at(last.unwrap_or_else(|last| last)) * workers + worker_number
            }
        })
    }
}

/// The next of a worker's batch that is above `floor`, or the first of a new one: two that find a batch used up take one each, and
/// what is left of the lower one is never used.
fn from_batch(batches: &AtomicU64, own: &AtomicU64, floor: u64) -> u64 {
    let first = |next: u64| next.max(floor + 1);
    let taken = own.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
        (first(next) < next.next_multiple_of(BATCH)).then(|| first(next) + 1)
    });
    taken.map(first).unwrap_or_else(|_| {
        let begin = batches.fetch_add(BATCH, Ordering::Relaxed);
        own.fetch_max(begin + 1, Ordering::Relaxed);
        begin
    })
}
