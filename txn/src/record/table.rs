//! The hash table of record nodes: latch-free lists under epochs.
//!
//! Paper: Michael, *High Performance Dynamic Lock-Free Hash Tables and List-Based Sets*, SPAA 2002. Differences: lists
//! are not sorted, since a node is inserted at the head only, so that one compare-and-swap proves that nobody else has
//! inserted the same key since the search began; removal is decided under the node's mutex (`dead`), and the tag on
//! `next` only carries it out, by whoever passes.
//!
//! Invariants. (1) Of one record at most one node is not dead. (2) A dead node has no pin, and no version that anybody needs.
//! (3) Exactly one thread unlinks a node, and that one retires it.
//!
//! The number of buckets is fixed: lists grow with the number of records that somebody holds or that have versions,
//! and that number is bounded by the limits of locks and versions.

use super::hash::hash;
use super::node::{Node, NodeRef, NodeState};
use crate::Lsn;
use crate::lock::queue::LockQueue;
use crossbeam_epoch::{self as epoch, Atomic, Guard, Owned, Shared};
use std::sync::atomic::Ordering;
use storage::TreeId;

/// The tag of a node that is to be unlinked.
const UNLINKED: usize = 1;

/// Buckets that are walked under one guard, by who sees all nodes.
const SEEN_AT_ONCE: usize = 64;

/// Record nodes by (tree, key).
#[derive(Debug)]
pub struct RecordTable {
    buckets: Box<[Atomic<Node>]>,
    seed: u64,
}

impl RecordTable {
    /// A table of `buckets` buckets, a power of two.
    #[must_use]
    pub fn new(buckets: usize, seed: u64) -> RecordTable {
        assert!(buckets.is_power_of_two(), "a bucket is found by a mask");
        RecordTable { buckets: (0..buckets).map(|_| Atomic::null()).collect(), seed }
    }

    fn bucket(&self, hash: u64) -> &Atomic<Node> {
        &self.buckets[hash as usize & (self.buckets.len() - 1)]
    }

    /// Walks a bucket until `wanted`, unlinking what is to be unlinked on the way. Returns the head as it was when the
    /// walk began, and the node.
    fn search<'g>(
        &self,
        bucket: &Atomic<Node>,
        wanted: &dyn Fn(&Node) -> bool,
        guard: &'g Guard,
    ) -> (Shared<'g, Node>, Option<&'g Node>) {
        self.walk(bucket, wanted, std::ptr::null(), guard)
    }

    /// Unlinks a node that is to be, unless somebody else does. Who lets go of what it locked last first finds it at the head, and
    /// looks at no other node of the bucket.
    fn unlink(&self, node: &Node, guard: &Guard) {
        self.walk(self.bucket(node.hash), &|_| false, node, guard);
    }

    /// As [`RecordTable::search`]; ends too where it has unlinked `gone`.
    fn walk<'g>(
        &self,
        bucket: &Atomic<Node>,
        wanted: &dyn Fn(&Node) -> bool,
        gone: *const Node,
        guard: &'g Guard,
    ) -> (Shared<'g, Node>, Option<&'g Node>) {
        'again: loop {
            let head = bucket.load(Ordering::Acquire, guard);
            let mut before = bucket;
            let mut at = head;
            loop {
                // SAFETY: a node reached under the guard is not freed before the guard goes.
                let Some(node) = (unsafe { at.as_ref() }) else { return (head, None) };
                let next = node.next.load(Ordering::Acquire, guard);
                if next.tag() == UNLINKED {
                    let next = next.with_tag(0);
                    let unlinked = before.compare_exchange(
                        at,
                        next,
                        Ordering::AcqRel,
                        Ordering::Relaxed,
                        guard,
                    );
                    if unlinked.is_err() {
                        continue 'again;
                    }
                    // SAFETY: unlinked by us alone, so no new reader reaches it.
                    unsafe { guard.defer_destroy(at) };
                    if std::ptr::eq(node, gone) {
                        return (head, None);
                    }
                    if std::ptr::eq(before, bucket) {
                        continue 'again;
                    }
                    at = next;
                    continue;
                }
                if wanted(node) {
                    return (head, Some(node));
                }
                before = &node.next;
                at = next;
            }
        }
    }

    /// Pins the record's node, making it if there is none.
    pub fn pin(&self, tree: TreeId, key: &[u8]) -> NodeRef {
        self.pin_or_make(tree, key, LockQueue::default).0
    }

    /// The same; whether it was made, with that lock.
    #[inline]
    pub(crate) fn pin_or_make(
        &self,
        tree: TreeId,
        key: &[u8],
        lock: impl Fn() -> LockQueue,
    ) -> (NodeRef, bool) {
        let hash = hash(self.seed, tree, key);
        let bucket = self.bucket(hash);
        let guard = epoch::pin();
        loop {
            // Most often nobody else has any record of the bucket.
            let (head, found) = match bucket.load(Ordering::Acquire, &guard) {
                head if head.is_null() => (head, None),
                _ => self.search(bucket, &|node| node.is(hash, tree, key), &guard),
            };
            if let Some(node) = found {
                let mut state = node.state();
                if !state.dead {
                    state.pins += 1;
                    return (NodeRef::counted(node), false);
                }
                drop(state);
                // Its last holder is about to do this; whoever comes first does.
                node.next.fetch_or(UNLINKED, Ordering::AcqRel, &guard);
                continue;
            }
            let node = Owned::new(Node::new((hash, tree, key), lock(), head));
            // Release: pairs with Acquire in `search`; the node is complete before it is reached.
            let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
            if let Ok(node) = bucket.compare_exchange(head, node, success, failure, &guard) {
                // SAFETY: just inserted with a pin of ours, so it is not freed.
                return (NodeRef::counted(unsafe { node.deref() }), true);
            }
        }
    }

    /// Pins the record's node if there is one.
    #[must_use]
    pub fn pin_existing(&self, tree: TreeId, key: &[u8]) -> Option<NodeRef> {
        let hash = hash(self.seed, tree, key);
        let guard = epoch::pin();
        let wanted = |node: &Node| node.is(hash, tree, key);
        let (_, found) = self.search(self.bucket(hash), &wanted, &guard);
        let node = found?;
        let mut state = node.state();
        if state.dead {
            return None;
        }
        state.pins += 1;
        Some(NodeRef::counted(node))
    }

    /// Whether somebody needs to know more of a record than its page says.
    #[must_use]
    pub fn has_node(&self, tree: TreeId, key: &[u8]) -> bool {
        let hash = hash(self.seed, tree, key);
        let guard = epoch::pin();
        let wanted = |node: &Node| node.is(hash, tree, key);
        self.search(self.bucket(hash), &wanted, &guard).1.is_some_and(|node| !node.state().dead)
    }

    /// The latest commit that has put another row there, if one is known of.
    #[must_use]
    pub fn born(&self, tree: TreeId, key: &[u8]) -> Option<Lsn> {
        let hash = hash(self.seed, tree, key);
        let guard = epoch::pin();
        let wanted = |node: &Node| node.is(hash, tree, key);
        let (_, found) = self.search(self.bucket(hash), &wanted, &guard);
        found.map(|node| node.state().born).filter(|born| born.0 > 0)
    }

    /// Gives a pin back.
    pub fn unpin(&self, node: NodeRef) {
        self.unpin_after(node, |_, _, _| ());
    }

    /// Gives a pin back after a last change under the node's mutex.
    pub fn unpin_after<T>(
        &self,
        node: NodeRef,
        last: impl FnOnce(&Node, &mut NodeState, &Guard) -> T,
    ) -> T {
        self.unpin_under(&epoch::pin(), node, last)
    }

    /// The same for one of several pins that are given back under one guard.
    pub fn unpin_under<T>(
        &self,
        guard: &Guard,
        node: NodeRef,
        last: impl FnOnce(&Node, &mut NodeState, &Guard) -> T,
    ) -> T {
        let mut state = node.state();
        let result = last(&node, &mut state, guard);
        state.pins -= 1;
        if state.pins > 0 || state.versions > 0 {
            return result;
        }
        debug_assert!(state.lock.is_idle(), "whoever holds or waits has a pin");
        state.dead = true;
        drop(state);
        // From here the guard alone keeps the node from being freed.
        node.next.fetch_or(UNLINKED, Ordering::AcqRel, guard);
        self.unlink(&node, guard);
        result
    }

    /// Reads the newest version of a record whose commit is `shown`, where its page's record's is not. False: it was not
    /// there.
    pub fn version(
        &self,
        (tree, key): (TreeId, &[u8]),
        shown: impl FnMut(Lsn) -> bool,
        found: impl FnOnce(&super::Version),
    ) -> bool {
        let hash = hash(self.seed, tree, key);
        let guard = epoch::pin();
        let wanted = |node: &Node| node.is(hash, tree, key);
        let (_, node) = self.search(self.bucket(hash), &wanted, &guard);
        let version = node.and_then(|node| node.chain.newest(shown, &guard));
        version.map(found).is_some()
    }

    /// Shows every node, one after another: for `pg_locks` and tests. Nodes that come and go meanwhile may be missed.
    pub fn for_each(&self, see: &mut dyn FnMut(&Node)) {
        for some in self.buckets.chunks(SEEN_AT_ONCE) {
            let guard = epoch::pin();
            for bucket in some {
                let mut at = bucket.load(Ordering::Acquire, &guard);
                // SAFETY: a node reached under the guard is not freed before the guard goes.
                while let Some(node) = unsafe { at.as_ref() } {
                    see(node);
                    at = node.next.load(Ordering::Acquire, &guard).with_tag(0);
                }
            }
        }
    }
}

impl Drop for RecordTable {
    fn drop(&mut self) {
        // SAFETY: nobody else has the table any more.
        let guard = unsafe { epoch::unprotected() };
        for bucket in &self.buckets {
            let mut at = bucket.swap(Shared::null(), Ordering::Relaxed, guard);
            while !at.is_null() {
                // SAFETY: linked nodes belong to the table alone; unlinked ones were retired to their epoch.
                let node = unsafe { at.with_tag(0).into_owned() };
                at = node.next.load(Ordering::Relaxed, guard);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::queue::{Kind, Request};
    use crate::owner::OwnerId;

    #[test]
    fn a_node_lives_while_it_is_pinned_or_has_versions() {
        let table = RecordTable::new(4, 1);
        let node = table.pin(TreeId(1), b"a");
        let again = table.pin(TreeId(1), b"a");
        assert!(table.has_node(TreeId(1), b"a") && !table.has_node(TreeId(2), b"a"));
        table.unpin(node);
        assert!(table.has_node(TreeId(1), b"a"));
        again.chain.push(&mut again.state(), Lsn(5), Some(b"five"));
        table.unpin(again);
        assert!(table.has_node(TreeId(1), b"a"));
        let mut read = None;
        assert!(table.version(
            (TreeId(1), b"a"),
            |lsn| lsn <= Lsn(7),
            |version| {
                read = version.value().map(Vec::from);
            }
        ));
        assert_eq!(read.as_deref(), Some(&b"five"[..]));
        assert!(!table.version((TreeId(1), b"a"), |lsn| lsn <= Lsn(4), |_| ()));
        let node = table.pin_existing(TreeId(1), b"a").unwrap();
        table.unpin_after(node, |node, state, guard| {
            state.current = Lsn(9);
            node.chain.prune(state, Lsn(9), guard)
        });
        assert!(!table.has_node(TreeId(1), b"a"));
        let mut nodes = 0;
        table.for_each(&mut |_| nodes += 1);
        assert_eq!(nodes, 0);
    }

    /// Threads lock, count and unlock the same few records: every count is exclusive, and nothing is left behind.
    #[test]
    fn nodes_come_and_go_under_contention() {
        const THREADS: u32 = 4;
        const ROUNDS: u64 = 2000;
        let table = RecordTable::new(2, 3);
        let counts: Vec<_> = (0..5).map(|_| std::cell::UnsafeCell::new(0u64)).collect();
        struct Counts(Vec<std::cell::UnsafeCell<u64>>);
        // SAFETY: each count is changed under the lock of its record only; that is what is tested.
        unsafe impl Sync for Counts {}
        let counts = Counts(counts);
        let (table, counts) = (&table, &counts);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        let record = (round + u64::from(thread)) % 5;
                        let key = record.to_be_bytes();
                        loop {
                            let node = table.pin(TreeId(1), &key);
                            let granted = node.state().lock.request(Kind::Row, OwnerId(thread), 3);
                            if granted == Request::Blocked {
                                table.unpin(node);
                                std::thread::yield_now();
                                continue;
                            }
                            let cell = counts.0[record as usize].get();
                            // SAFETY: the record's lock is held.
                            unsafe { *cell += 1 };
                            table.unpin_after(node, |_, state, _| {
                                state.lock.release(Kind::Row, OwnerId(thread), 0, &mut |_| ());
                            });
                            break;
                        }
                    }
                });
            }
        });
        let total: u64 = counts
            .0
            .iter()
            .map(|cell| {
                // SAFETY: the threads have ended.
                unsafe { *cell.get() }
            })
            .sum();
        assert_eq!(total, u64::from(THREADS) * ROUNDS);
        let mut nodes = 0;
        table.for_each(&mut |_| nodes += 1);
        assert_eq!(nodes, 0);
    }
}
