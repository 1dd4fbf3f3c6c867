//! A record node, and the reference that keeps it in the table.
//!
//! A node is kept by *pins*: each lock holder, each waiter and each entry of the collector's queue has one. Who gives
//! the last one back, with no version left in the chain, declares the node dead under its mutex and takes it out of
//! the table. A dead node is never brought back; who wants the record again makes a new one.

use super::chain::Chain;
use super::hash::{little, same};
use crate::Lsn;
use crate::lock::queue::LockQueue;
use crate::sync::{Mutex, MutexGuard, lock, rank};
use crossbeam_epoch::{Atomic, Shared};
use std::ptr::NonNull;
use storage::TreeId;

/// What is known of one record.
#[derive(Debug)]
pub struct Node {
    /// The next node of the bucket; tagged 1 once this one is to be unlinked.
    pub(super) next: Atomic<Node>,
    pub(super) hash: u64,
    tree: TreeId,
    key: Key,
    /// Older versions: pushed and pruned under the mutex, read without.
    pub(crate) chain: Chain,
    state: Mutex<NodeState, { rank::NODE }>,
}

/// What a node's mutex guards.
#[derive(Debug, Default)]
pub struct NodeState {
    /// How many keep the node.
    pub(super) pins: u32,
    /// Nobody may pin it any more.
    pub(super) dead: bool,
    /// The LSN of the record on the page, or of the one about to be put there; none known without a version.
    pub(crate) current: Lsn,
    /// The latest commit that has put another row in the place of one that had gone, or that it took away itself. Who locks
    /// what an older snapshot shows there does not find it any more.
    pub(crate) born: Lsn,
    /// How many versions the chain has.
    pub(crate) versions: u32,
    /// Whether the collector has a note of it.
    pub(crate) noted: bool,
    /// Its lock.
    pub(crate) lock: LockQueue,
}

#[cfg(test)]
impl NodeState {
    pub(crate) fn pins_for_tests(&self) -> u32 {
        self.pins
    }
}

/// Keys of so many bytes stand in their node.
const SHORT_BYTES: usize = 24;

/// The key of a record: most are short, and one allocation for each node is enough.
#[derive(Debug)]
enum Key {
    /// In words, which are stored one by one where the node is made.
    Short([[u8; 8]; SHORT_BYTES / 8], u8),
    Long(Box<[u8]>),
}

impl Key {
    #[inline]
    fn of(key: &[u8]) -> Key {
        let len = key.len();
        let (Some(first), Some(last)) = (key.first_chunk::<8>(), key.last_chunk::<8>()) else {
            return Key::Short([little(key).to_le_bytes(), [0; 8], [0; 8]], len as u8);
        };
        // The last eight bytes, without those that stand in the words before.
        let rest =
            |words: usize| (u64::from_le_bytes(*last) >> (8 * (8 * words - len))).to_le_bytes();
        let words = match key[8..].first_chunk::<8>() {
            _ if len == 8 => [*first, [0; 8], [0; 8]],
            None => [*first, rest(2), [0; 8]],
            Some(second) if len == 16 => [*first, *second, [0; 8]],
            Some(second) if len <= SHORT_BYTES => [*first, *second, rest(3)],
            Some(_) => return Key::Long(key.into()),
        };
        Key::Short(words, len as u8)
    }

    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Key::Short(words, len) => &words.as_flattened()[..usize::from(*len)],
            Key::Long(bytes) => bytes,
        }
    }

    /// What it occupies beside its node.
    fn bytes_outside(&self) -> usize {
        match self {
            Key::Short(..) => 0,
            Key::Long(bytes) => bytes.len(),
        }
    }
}

impl Node {
    #[inline(always)]
    pub(super) fn new(
        (hash, tree, key): (u64, TreeId, &[u8]),
        lock: LockQueue,
        next: Shared<'_, Node>,
    ) -> Node {
        let state = NodeState { pins: 1, lock, ..NodeState::default() };
        Node {
            next: Atomic::from(next),
            hash,
            tree,
            key: Key::of(key),
            chain: Chain::default(),
            state: Mutex::new(state),
        }
    }

    /// The tree of the record.
    #[must_use]
    pub fn tree(&self) -> TreeId {
        self.tree
    }

    /// The key of the record.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        self.key.bytes()
    }

    /// What the node and the collector's note of it occupy, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Node>() + self.key.bytes_outside() + size_of::<super::Garbage>()
    }

    /// Takes the node's mutex. Nothing is waited for while it is held, and no other latch is taken.
    pub fn state(&self) -> MutexGuard<'_, NodeState, { rank::NODE }> {
        lock(&self.state)
    }

    pub(super) fn is(&self, hash: u64, tree: TreeId, key: &[u8]) -> bool {
        self.hash == hash && self.is_of(tree, key)
    }

    /// Whether it is the record's of this name.
    #[inline(always)]
    pub(crate) fn is_of(&self, tree: TreeId, key: &[u8]) -> bool {
        self.tree == tree && same(self.key.bytes(), key)
    }
}

/// A pin. It is given back with [`super::RecordTable::unpin`]; dropping it would keep the node for good.
#[derive(Debug)]
#[must_use = "a pin keeps its node until it is given back"]
pub struct NodeRef(NonNull<Node>);

// SAFETY: a node's fields may be used from any thread: what changes is atomic or stands under its mutex.
unsafe impl Send for NodeRef {}
// SAFETY: as above.
unsafe impl Sync for NodeRef {}

impl NodeRef {
    /// The pin that has already been counted in `node`.
    pub(super) fn counted(node: &Node) -> NodeRef {
        NodeRef(NonNull::from(node))
    }

    /// One more pin of a node whose mutex the caller holds.
    pub(crate) fn pinned(node: &Node, state: &mut NodeState) -> NodeRef {
        state.pins += 1;
        NodeRef::counted(node)
    }

    /// The same node, without a pin of its own: usable only while another pin is known to stand.
    pub(crate) fn unpinned(&self) -> NodeRef {
        NodeRef(self.0)
    }
}

impl std::ops::Deref for NodeRef {
    type Target = Node;

    fn deref(&self) -> &Node {
        // SAFETY: a pinned node is not dead, so it is neither unlinked nor freed.
        unsafe { self.0.as_ref() }
    }
}
