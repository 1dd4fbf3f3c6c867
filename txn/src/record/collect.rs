//! Garbage: versions nobody can ask for any more, nodes without a purpose, tombstones.
//!
//! A commit leaves a note for each record it replaced an image of, unless there is one already, and for each tombstone
//! it made, in the queue of its worker: "once the horizon has reached this LSN, look here". Whoever commits collects from
//! its own queue, so that without old snapshots garbage lives for the length of a commit; what waits for a snapshot is
//! left to the background collector. A record whose chain is not empty after a look is noted again, for the commit that
//! made what its page has.
//!
//! A *tombstone* goes when the horizon has passed it (so it is visible, and below every snapshot), it is durable, and
//! the record has no node. Its removal is not logged: redo replays the delete. Of more tombstones than are noted one by one
//! there is a note in common, a *crowd*: between which keys of a tree they lie, and up to which commit. They are looked for
//! there when all of them may go.
//!
//! Memory is counted where it is taken, versions and the nodes that stand for their sake, and added up in portions, so
//! that a commit writes to no line that others read.
//!
//! Invariants. (1) A record with versions has exactly one note; whoever collects or spills has it in hand meanwhile.
//! (2) A note pins its node.

use super::node::{Node, NodeRef, NodeState};
use super::table::RecordTable;
use crate::Lsn;
use crate::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crossbeam_epoch::{self as epoch, Guard};
use crossbeam_utils::CachePadded;
use std::collections::VecDeque;
use storage::{ReadToken, Tree};

/// Notes that one call takes from a queue at most, so that nobody's commit pays for everybody's past.
pub(crate) const BATCH: usize = 32;
/// Crowds of one tree that a worker keeps apart, so that the older ones need not wait for what is deleted now.
const CROWDS: usize = 8;
/// A chain this long is pruned between snapshots too.
const LONG_CHAIN: u32 = 16;

/// A note: at `lsn` the record got a newer image.
#[derive(Debug)]
pub struct Garbage {
    /// The commit.
    pub lsn: Lsn,
    /// The record.
    pub node: NodeRef,
    /// There is a note of it already: this one only says that the chain has grown long.
    pub again: bool,
}

/// What became of a look at a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// Notes that were looked after.
    pub notes: usize,
    /// Of these, records that had to be noted again.
    pub again: usize,
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

/// A note of tombstones that have none of their own.
#[derive(Debug)]
pub struct Crowd {
    /// The tree.
    pub tree: Arc<Tree>,
    /// The newest commit that deleted one of them.
    pub lsn: Lsn,
    /// The first key.
    pub low: Box<[u8]>,
    /// The last key.
    pub high: Box<[u8]>,
}

impl Crowd {
    fn add(&mut self, tombstone: Tombstone) {
        self.lsn = self.lsn.max(tombstone.lsn);
        if tombstone.key < self.low {
            self.low = tombstone.key;
        } else if tombstone.key > self.high {
            self.high = tombstone.key;
        }
    }
}

#[derive(Debug, Default)]
struct Queue {
    versions: Mutex<VecDeque<Garbage>, { rank::GARBAGE }>,
    tombstones: Mutex<VecDeque<Tombstone>, { rank::GARBAGE }>,
    crowds: Mutex<Vec<Crowd>, { rank::GARBAGE }>,
    /// Bytes in versions pushed by this worker, less those it pruned, as far as they are not in the sum yet.
    bytes: AtomicI64,
    /// Versions, likewise.
    versions_held: AtomicI64,
    reclaimed: AtomicU64,
    waiting: AtomicUsize,
}

impl Queue {
    fn note_in_crowd(&self, tombstone: Tombstone) {
        let mut crowds = lock(&self.crowds);
        let own = |crowd: &Crowd| Arc::ptr_eq(&crowd.tree, &tombstone.tree);
        let count = crowds.iter().filter(|crowd| own(crowd)).count();
        let newest = crowds.iter_mut().rfind(|crowd| own(crowd));
        match newest.filter(|newest| count >= CROWDS || newest.lsn == tombstone.lsn) {
            Some(newest) => newest.add(tombstone),
            None => {
                let Tombstone { lsn, tree, key } = tombstone;
                crowds.push(Crowd { tree, lsn, low: key.clone(), high: key });
            }
        }
    }
}

/// All queues, and what they hold.
#[derive(Debug)]
pub struct Collector {
    queues: Box<[CachePadded<Queue>]>,
    /// Bytes in versions, short of what workers have not added yet.
    sum: CachePadded<AtomicI64>,
    /// What a worker keeps to itself at most, in bytes.
    portion: i64,
    /// Tombstones that a worker has notes of at most.
    tombstones_max: usize,
}

impl Collector {
    /// One queue per worker, each with notes of `tombstones_max` tombstones at most. Bytes are counted to within an eighth of
    /// `limit`.
    #[must_use]
    pub fn new(workers: usize, limit: u64, tombstones_max: usize) -> Collector {
        Collector {
            queues: (0..workers).map(|_| CachePadded::default()).collect(),
            sum: CachePadded::default(),
            portion: (limit / (8 * workers as u64)) as i64,
            tombstones_max,
        }
    }

    /// What versions and their nodes occupy, in bytes, to within a portion per worker.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        u64::try_from(self.sum.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// What versions and their nodes occupy, in bytes.
    #[must_use]
    pub fn bytes_exact(&self) -> u64 {
        let rest = self.queues.iter().map(|queue| queue.bytes.load(Ordering::Relaxed));
        u64::try_from(self.sum.load(Ordering::Relaxed) + rest.sum::<i64>()).unwrap_or(0)
    }

    fn count_bytes(&self, worker: usize, change: i64) {
        let own = &self.queues[worker].bytes;
        let kept = own.fetch_add(change, Ordering::Relaxed) + change;
        if kept.abs() > self.portion {
            // Whoever else is on this worker meanwhile leaves its change behind for the next.
            self.sum.fetch_add(own.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        }
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

    /// Whether this worker has noted tombstones that wait.
    #[must_use]
    pub fn has_tombstones(&self, worker: usize) -> bool {
        self.queues[worker].waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether anything waits.
    #[must_use]
    pub fn has_garbage(&self) -> bool {
        let waits = |queue: &Queue| {
            !lock(&queue.versions).is_empty()
                || !lock(&queue.tombstones).is_empty()
                || !lock(&queue.crowds).is_empty()
        };
        self.queues.iter().any(|queue| waits(queue))
    }

    /// Counts versions that have been pushed: how many, and their bytes.
    pub fn pushed(&self, worker: usize, (count, bytes): (usize, usize)) {
        self.count_bytes(worker, bytes as i64);
        self.queues[worker].versions_held.fetch_add(count as i64, Ordering::Relaxed);
    }

    /// Counts versions that are no longer in memory.
    fn gone(&self, worker: usize, (count, bytes): (usize, usize)) {
        self.count_bytes(worker, -(bytes as i64));
        self.queues[worker].versions_held.fetch_sub(count as i64, Ordering::Relaxed);
    }

    /// Counts versions that nobody needed any more.
    pub(crate) fn pruned(&self, worker: usize, gone: (usize, usize)) {
        self.gone(worker, gone);
        self.queues[worker].reclaimed.fetch_add(gone.0 as u64, Ordering::Relaxed);
    }

    /// Whether a commit that has made a chain `versions` long leaves a second note of it.
    #[must_use]
    pub fn is_long(versions: u32) -> bool {
        versions.is_multiple_of(LONG_CHAIN)
    }

    /// Takes the notes of one commit over.
    pub fn note(&self, worker: usize, notes: &mut Vec<Garbage>) {
        lock(&self.queues[worker].versions).extend(notes.drain(..));
    }

    /// Takes a portion of notes out of the queue that has the oldest one, as far as they are at or below `visible`;
    /// returns whose queue it is. Whoever takes them gives them back or lets go of them.
    pub(crate) fn take_oldest(&self, visible: Lsn, into: &mut Vec<Garbage>) -> Option<usize> {
        let fronts = self.queues.iter().enumerate().filter_map(|(worker, queue)| {
            let front = lock(&queue.versions).front().map(|note| note.lsn);
            front.filter(|lsn| *lsn <= visible).map(|lsn| (lsn, worker))
        });
        let (_, worker) = fronts.min()?;
        let mut queue = lock(&self.queues[worker].versions);
        while into.len() < BATCH && queue.front().is_some_and(|note| note.lsn <= visible) {
            into.extend(queue.pop_front());
        }
        Some(worker)
    }

    /// Gives notes back that were taken, oldest first.
    pub(crate) fn give_back(&self, worker: usize, notes: impl DoubleEndedIterator<Item = Garbage>) {
        let mut queue = lock(&self.queues[worker].versions);
        notes.rev().for_each(|note| queue.push_front(note));
    }

    /// Ends a note after `take`, which takes versions out of its record's chain. If the chain is not empty then, the
    /// note goes on for what is left. Returns what `take` did, and how many bytes of node and note are not counted any more.
    fn end_note(
        (table, guard): (&RecordTable, &Guard),
        note: Garbage,
        take: impl FnOnce(&Node, &mut NodeState, &Guard) -> (usize, usize),
    ) -> ((usize, usize), Option<Garbage>, usize) {
        let bytes = note.node.bytes();
        let (taken, again) = table.unpin_under(guard, note.node, |node, state, guard| {
            let taken = take(node, state, guard);
            state.noted = state.versions > 0;
            let again = state.noted.then(|| Garbage {
                lsn: state.current,
                node: NodeRef::pinned(node, state),
                again: false,
            });
            (taken, again)
        });
        let bytes = if again.is_none() { bytes } else { 0 };
        (taken, again, bytes)
    }

    /// Ends a note whose record's versions from `newest` on have been spilled, if any.
    pub(crate) fn spilled(
        &self,
        worker: usize,
        table: &RecordTable,
        note: Garbage,
        newest: Option<Lsn>,
    ) {
        let take = |node: &Node, state: &mut NodeState, guard: &Guard| {
            newest.map_or((0, 0), |newest| node.chain.cut_from(state, newest, guard))
        };
        let (taken, again, bytes) = Collector::end_note((table, &epoch::pin()), note, take);
        self.gone(worker, (taken.0, taken.1 + bytes));
        if let Some(again) = again {
            lock(&self.queues[worker].versions).push_back(again);
        }
    }

    /// Takes a note of a tombstone, of one too many as part of a crowd.
    pub fn note_tombstone(&self, worker: usize, tombstone: Tombstone) {
        let queue = &self.queues[worker];
        if queue.waiting.load(Ordering::Relaxed) >= self.tombstones_max {
            return queue.note_in_crowd(tombstone);
        }
        lock(&queue.tombstones).push_back(tombstone);
        queue.waiting.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes the crowds of one worker's queue out that `horizon` and `durable` have passed.
    pub(crate) fn take_crowds(&self, worker: usize, (horizon, durable): (Lsn, Lsn)) -> Vec<Crowd> {
        let due = |crowd: &mut Crowd| crowd.lsn <= horizon && crowd.lsn < durable;
        lock(&self.queues[worker].crowds).extract_if(.., due).collect()
    }

    /// Collects what `horizon` has passed, a batch at most: what is in `batch`, all of which it has, and more from one worker's
    /// queue. `batch` is empty behind.
    pub fn collect(
        &self,
        worker: usize,
        table: &RecordTable,
        horizon: Lsn,
        batch: &mut Vec<Garbage>,
    ) -> Collected {
        {
            let mut queue = lock(&self.queues[worker].versions);
            while batch.len() < BATCH
                && let Some(note) = queue.pop_front_if(|note| note.lsn <= horizon)
            {
                batch.push(note);
            }
            if queue.is_empty() && queue.capacity() > 4096 {
                *queue = VecDeque::new();
            }
        }
        let (mut sum, mut left) = ((0, 0), Vec::new());
        let mut done = Collected { notes: batch.len(), again: 0 };
        let guard = epoch::pin();
        for note in batch.drain(..) {
            let take = |node: &Node, state: &mut NodeState, guard: &Guard| {
                node.chain.prune_before_unpin(state, horizon, guard)
            };
            let (taken, again, bytes) = Collector::end_note((table, &guard), note, take);
            sum = (sum.0 + taken.0, sum.1 + taken.1 + bytes);
            left.extend(again);
        }
        if sum != (0, 0) {
            self.pruned(worker, sum);
        }
        if !left.is_empty() {
            done.again = left.len();
            lock(&self.queues[worker].versions).extend(left);
        }
        done
    }

    /// Prunes the chains that have grown long between snapshots, and takes their second notes out of `notes`.
    /// `snapshots` makes the list, and says what may still begin.
    pub fn thin(
        &self,
        worker: usize,
        table: &RecordTable,
        notes: &mut Vec<Garbage>,
        snapshots: impl Fn() -> (Vec<Lsn>, Lsn),
    ) {
        if !notes.iter().any(|note| note.again) {
            return;
        }
        for note in notes.extract_if(.., |note| note.again) {
            let (snapshots, visible) = snapshots();
            let pruned = table.unpin_after(note.node, |node, state, guard| {
                node.chain.prune_between(state, &snapshots, visible, guard)
            });
            self.pruned(worker, pruned);
        }
    }

    /// Removes the tombstones of one worker's queue that `horizon` and `durable` have passed and whose records have no
    /// node, up to the first that they have not. Waits for pages.
    ///
    /// # Errors
    /// I/O and corruption; what was not removed stays noted.
    pub fn remove_tombstones(
        &self,
        worker: usize,
        table: &RecordTable,
        (horizon, durable): (Lsn, Lsn),
    ) -> storage::Result<bool> {
        let queue = &self.queues[worker];
        let due = |note: &Tombstone| note.lsn <= horizon && note.lsn < durable;
        let mut left = lock(&queue.tombstones).len();
        let mut removed = false;
        // A commit's tombstones come in the order of their keys.
        let mut near = ReadToken::NOWHERE;
        while left > 0 {
            left -= 1;
            let Some(note) = lock(&queue.tombstones).pop_front_if(|note| due(note)) else { break };
            if note.tree.has_ended() {
                // Its tombstones went with it.
                queue.waiting.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let keep = table.has_node(note.tree.id(), &note.key);
            let done = match keep {
                true => Ok(()),
                false => note.tree.remove_tombstone_near(&note.key, note.lsn, &mut near),
            };
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
