//! Garbage: versions nobody can ask for any more, nodes without a purpose, tombstones.
//!
//! Every commit leaves a note for each image it replaced and each tombstone it made, in the queue of its worker: "once
//! the horizon has reached this LSN, look here". Whoever commits collects from its own queue, so that without old
//! snapshots garbage lives for the length of a commit; what waits for a snapshot is left to the background collector.
//!
//! A *tombstone* goes when the horizon has passed it (so it is visible, and below every snapshot), it is durable, and
//! the record has no node. Its removal is not logged: redo replays the delete.
//!
//! Invariants. (1) A version has a note until it is pruned. (2) A note pins its node.

use super::node::NodeRef;
use super::table::RecordTable;
use crate::Lsn;
use crate::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock};
use crossbeam_utils::CachePadded;
use std::collections::VecDeque;
use storage::{Tree, TreeId};

/// Notes that one call takes from a queue at most, so that nobody's commit pays for everybody's past.
const BATCH: usize = 32;
/// A chain this long is pruned between snapshots too.
const LONG_CHAIN: u32 = 16;

/// A note: at `lsn` the record got a newer image.
#[derive(Debug)]
pub struct Garbage {
    /// The commit.
    pub lsn: Lsn,
    /// The record.
    pub node: NodeRef,
}

/// A note: at `lsn` the record was deleted.
#[derive(Debug)]
pub struct Tombstone {
    /// The commit.
    pub lsn: Lsn,
    /// The tree.
    pub tree: Arc<Tree>,
    /// The key.
    pub key: Box<[u8]>,
}

#[derive(Debug, Default)]
struct Queue {
    versions: Mutex<VecDeque<Garbage>>,
    tombstones: Mutex<VecDeque<Tombstone>>,
    /// Bytes in versions pushed by this worker, less those it pruned.
    bytes: AtomicI64,
    /// Versions, likewise.
    versions_held: AtomicI64,
    reclaimed: AtomicU64,
    waiting: AtomicUsize,
}

/// All queues, and what they hold.
#[derive(Debug)]
pub struct Collector {
    queues: Box<[CachePadded<Queue>]>,
}

impl Collector {
    /// One queue per worker.
    #[must_use]
    pub fn new(workers: usize) -> Collector {
        Collector { queues: (0..workers).map(|_| CachePadded::default()).collect() }
    }

    /// What versions occupy, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let sum: i64 = self.queues.iter().map(|queue| queue.bytes.load(Ordering::Relaxed)).sum();
        u64::try_from(sum).unwrap_or(0)
    }

    /// How many versions there are.
    #[must_use]
    pub fn versions(&self) -> u64 {
        let held = self.queues.iter().map(|queue| queue.versions_held.load(Ordering::Relaxed));
        u64::try_from(held.sum::<i64>()).unwrap_or(0)
    }

    /// How many versions have been reclaimed.
    #[must_use]
    pub fn reclaimed(&self) -> u64 {
        self.queues.iter().map(|queue| queue.reclaimed.load(Ordering::Relaxed)).sum()
    }

    /// How many tombstones wait for their removal.
    #[must_use]
    pub fn tombstones(&self) -> usize {
        self.queues.iter().map(|queue| queue.waiting.load(Ordering::Relaxed)).sum()
    }

    /// Whether anything waits.
    #[must_use]
    pub fn has_garbage(&self) -> bool {
        let waits = |queue: &Queue| {
            !lock(&queue.versions).is_empty() || !lock(&queue.tombstones).is_empty()
        };
        self.queues.iter().any(|queue| waits(queue))
    }

    /// Counts a version that has been pushed.
    pub fn pushed(&self, worker: usize, bytes: usize) {
        self.queues[worker].bytes.fetch_add(bytes as i64, Ordering::Relaxed);
        self.queues[worker].versions_held.fetch_add(1, Ordering::Relaxed);
    }

    fn pruned(&self, worker: usize, (count, bytes): (usize, usize)) {
        let queue = &self.queues[worker];
        queue.bytes.fetch_sub(bytes as i64, Ordering::Relaxed);
        queue.versions_held.fetch_sub(count as i64, Ordering::Relaxed);
        queue.reclaimed.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Takes the notes of one commit over.
    pub fn note(&self, worker: usize, notes: &mut Vec<Garbage>) {
        lock(&self.queues[worker].versions).extend(notes.drain(..));
    }

    /// Takes a note of a tombstone.
    pub fn note_tombstone(&self, worker: usize, tombstone: Tombstone) {
        let queue = &self.queues[worker];
        lock(&queue.tombstones).push_back(tombstone);
        queue.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Collects from one worker's queue what `horizon` has passed, a batch at most; false if nothing was there to
    /// collect.
    pub fn collect(&self, worker: usize, table: &RecordTable, horizon: Lsn) -> bool {
        let mut batch: [Option<Garbage>; BATCH] = [const { None }; BATCH];
        let mut taken = 0;
        {
            let mut queue = lock(&self.queues[worker].versions);
            while taken < BATCH && queue.front().is_some_and(|note| note.lsn <= horizon) {
                batch[taken] = queue.pop_front();
                taken += 1;
            }
            if queue.is_empty() && queue.capacity() > 4096 {
                *queue = VecDeque::new();
            }
        }
        let mut sum = (0, 0);
        for note in batch.iter_mut().filter_map(Option::take) {
            let (count, bytes) = table.unpin_after(note.node, |node, state, guard| {
                let pruned = node.chain.prune(state.current, horizon, guard);
                state.versions -= pruned.0 as u32;
                pruned
            });
            sum = (sum.0 + count, sum.1 + bytes);
        }
        if sum.0 > 0 {
            self.pruned(worker, sum);
        }
        taken > 0
    }

    /// Prunes a record's chain between snapshots if it has grown long; `snapshots` makes the list.
    pub fn thin(&self, worker: usize, node: &NodeRef, snapshots: impl FnOnce() -> (Vec<Lsn>, Lsn)) {
        let versions = node.state().versions;
        if versions < LONG_CHAIN || !versions.is_multiple_of(LONG_CHAIN) {
            return;
        }
        let (snapshots, visible) = snapshots();
        let guard = crossbeam_epoch::pin();
        let mut state = node.state();
        let pruned = node.chain.prune_between(state.current, &snapshots, visible, &guard);
        state.versions -= pruned.0 as u32;
        drop(state);
        self.pruned(worker, pruned);
    }

    /// Removes the tombstones of one worker's queue that `horizon` and `durable` have passed and whose records have no
    /// node. Waits for pages.
    ///
    /// # Errors
    /// I/O and corruption; what was not removed stays noted.
    pub fn remove_tombstones(
        &self,
        worker: usize,
        table: &RecordTable,
        (horizon, durable): (Lsn, Lsn),
        lives: &dyn Fn(TreeId) -> bool,
    ) -> storage::Result<bool> {
        let queue = &self.queues[worker];
        let due = |note: &Tombstone| note.lsn <= horizon && note.lsn < durable;
        let mut left = lock(&queue.tombstones).len();
        let mut removed = false;
        while left > 0 {
            left -= 1;
            let Some(note) = lock(&queue.tombstones).pop_front() else { break };
            if !lives(note.tree.id()) {
                // The tree has been dropped: its tombstones went with it, and its pages may be another's.
                queue.waiting.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let keep = !due(&note) || table.has_node(note.tree.id(), &note.key);
            let done = if keep { Ok(()) } else { note.tree.remove_tombstone(&note.key, note.lsn) };
            match done {
                Ok(()) if !keep => {
                    queue.waiting.fetch_sub(1, Ordering::Relaxed);
                    removed = true;
                }
                Ok(()) => lock(&queue.tombstones).push_back(note),
                Err(error) => {
                    lock(&queue.tombstones).push_back(note);
                    return Err(error);
                }
            }
        }
        Ok(removed)
    }

    /// How many queues there are.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.queues.len()
    }
}
