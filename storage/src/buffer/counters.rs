//! What the pool counts, for the metrics page and for tests that must see each mechanism at work.

use crate::sync::atomic::AtomicU64;
use crate::sync::atomic::Ordering::Relaxed;
use std::cell::Cell;

/// One number that only grows, on a cache line of its own: hot paths of different kinds do not meet.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Counter(AtomicU64);

impl Counter {
    /// One more.
    pub fn add_one(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    /// How many there have been.
    pub fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A number that every read adds to: in shards by thread, each written without a locked instruction. Two threads that
/// share a shard may lose a count to each other; it is a metric.
#[derive(Debug, Default)]
pub struct ShardedCounter([Counter; SHARDS]);

thread_local! {
    /// The thread's; [`SHARDS`] until it counts.
    static SHARD: Cell<usize> = const { Cell::new(SHARDS) };
}

/// How many shards a number has.
const SHARDS: usize = 16;

/// The thread's shard from now on.
#[cold]
fn first_shard() -> usize {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let shard = NEXT.fetch_add(1, Relaxed) as usize % SHARDS;
    SHARD.set(shard);
    shard
}

impl ShardedCounter {
    /// `n` more.
    #[inline]
    pub fn add(&self, n: u64) {
        let shard = SHARD.get();
        let shard = &self.0.get(shard).unwrap_or_else(|| &self.0[first_shard()]).0;
        shard.store(shard.load(Relaxed).wrapping_add(n), Relaxed);
    }

    /// How many there have been, or nearly.
    pub fn get(&self) -> u64 {
        self.0.iter().map(Counter::get).sum()
    }
}

/// The pool's counters.
#[derive(Debug, Default)]
pub struct Counters {
    /// A hint named the right frame, of the root too.
    pub hint_hits: ShardedCounter,
    /// A hint was wrong or there was none, and the page table knew the frame.
    pub hint_misses: Counter,
    /// A hint was corrected in its parent.
    pub hint_repairs: Counter,
    /// Neither hint nor page table knew the page.
    pub misses: Counter,
    /// Entries that made room in the page table by going to another bucket.
    pub displacements: Counter,
    /// Entries that found no room and went to the stash.
    pub stashed: Counter,
    /// Pages that left their frame for another.
    pub evictions: Counter,
    /// Waits for a page that was on its way in or out.
    pub transit_waits: Counter,
    /// Waits for a frame to be written and freed.
    pub frame_waits: Counter,
    /// Pages read.
    pub reads: Counter,
    /// Of these, for a descent, which then finds them by hint or by page table like any other.
    pub brought: Counter,
    /// Clean pages that were changed.
    pub dirtied: ShardedCounter,
    /// Pages written.
    pub writes: Counter,
}

impl Counters {
    /// Pages that descents have found in the pool, without those that were read for them.
    pub fn hits(&self) -> u64 {
        (self.hint_hits.get() + self.hint_misses.get()).saturating_sub(self.brought.get())
    }
}
