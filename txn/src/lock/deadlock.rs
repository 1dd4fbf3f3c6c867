//! Deadlocks: cycles among those who wait.
//!
//! Paper: Gray and Reuter, *Transaction Processing*, 1993, section 7.11 (waits-for graphs). As in PostgreSQL nobody
//! looks for cycles until a wait has lasted `deadlock_timeout`; then the waiter looks for one through itself and, if
//! there is one, is the victim.
//!
//! A cycle may go through somebody who waits for others only because they came before, and whom no holder excludes. That
//! one is granted what it waits for, out of its turn, and the cycle is no more. PostgreSQL also looks for new orders of the
//! queues in which nobody is granted at once (`DeadLockCheck`); here such a cycle is a deadlock. Who has been granted
//! waits for nothing, so no new cycle can come of it.
//!
//! The graph is not a table of its own: who waits for whom is asked of the queues, one by one, while others go on. Each
//! queue is read once, and of those in it who hold alike all are reached by the first who waits for them, so that a search
//! is linear in the queues that it meets; edge by edge a thousand who convert would be a million edges.
//! What is found that way may never have existed at one time, so it is looked for twice: a true deadlock cannot go away,
//! and an edge that was there before and after was there in between, if whoever waits does so in the same wait all the time (the
//! owner's next transaction may wait for the same one again, where no two waits ever were in a cycle). Where the two differ nothing
//! is known, for there may be more cycles than one: the waiter looks again after another `deadlock_timeout`, and so on for as long as
//! it waits.

use super::LockManager;
use super::cycle::Reached;
use super::mode::{Modes, TableLock};
use super::queue::{Holder, Kind, LockQueue};
use crate::owner::{OwnerId, Sessions, Waiting};
use crate::record::NodeRef;
use crate::sync::lock;
use crate::{DeadlockEdge, LockTarget, TableId};
use std::collections::HashMap;
use storage::TreeId;

/// What a search came to.
pub(crate) enum Search<D = Vec<DeadlockEdge>> {
    /// There is no cycle through the waiter. Only a wait that begins later can close one, and who begins it looks.
    Nothing,
    /// There may be one.
    Unsure,
    /// There is this one.
    Cycle(D),
}

/// Looks for a cycle through `me`. If there is one `leave` takes `me` out of its queue, before anybody else looks: who
/// stands behind it there would be found to wait for whom it waited for.
pub(crate) fn find(locks: &LockManager, me: OwnerId, leave: &mut dyn FnMut()) -> Search {
    let _one = lock(&locks.detecting);
    let first = loop {
        let Some(first) = cycle(locks, me) else { return Search::Nothing };
        let waits = || first.iter().map(|owner| locks.owners.get(*owner).wait_number());
        let before: Vec<u64> = waits().collect();
        if cycle(locks, me).as_ref() != Some(&first) || !waits().eq(before) {
            return Search::Unsure;
        }
        // Like PostgreSQL, whoever is farthest from the one who looks.
        match first.iter().rev().find(|owner| pass(locks, **owner)) {
            Some(passed) if *passed == me => return Search::Nothing,
            Some(passed) => locks.wake(&[*passed]),
            None => break first,
        }
    };
    let edge = |place: usize| {
        let (waiter, holder) = (first[place], first[(place + 1) % first.len()]);
        let owners = &locks.owners;
        let (mode, target) = match &*lock(&owners.get(waiter).waiting) {
            None => return None,
            // PostgreSQL waits for the transaction that has the row.
            Some(Waiting::Row(node)) => {
                ("ShareLock", LockTarget::Row(node.tree(), node.key().to_vec()))
            }
            Some(Waiting::Table(table, mode)) => (mode.name(), LockTarget::Table(*table)),
            Some(Waiting::Range(tree, key)) => {
                ("ShareLock", LockTarget::Row(*tree, key.as_deref().unwrap_or_default().to_vec()))
            }
            Some(Waiting::Partition(partition)) => {
                (TableLock::Exclusive.name(), LockTarget::Partition(*partition))
            }
            Some(Waiting::Name(node, mode)) => (mode.name(), LockTarget::name(node.key())),
            Some(Waiting::End(owner, txn)) => {
                ("ShareLock", LockTarget::Transaction(owners.get(*owner).pid(), *txn))
            }
        };
        let (waiter, holder) = (owners.get(waiter).pid(), owners.get(holder).pid());
        Some(DeadlockEdge { waiter, holder, mode, target })
    };
    let edges: Option<Vec<_>> = (0..first.len()).map(edge).collect();
    let Some(edges) = edges else { return Search::Unsure };
    // The victim waits no more: who looks next finds the cycle broken.
    *lock(&locks.owners.get(me).waiting) = None;
    leave();
    Search::Cycle(edges)
}

/// Grants `waiter` what it waits for, if only others who wait are before it; false if not.
fn pass(locks: &LockManager, waiter: OwnerId) -> bool {
    // Held meanwhile, so that its queue stays.
    match &*lock(&locks.owners.get(waiter).waiting) {
        Some(Waiting::Row(node)) => node.state().lock.pass(Kind::Row, waiter),
        Some(Waiting::Name(node, _)) => node.state().lock.pass(Kind::Table, waiter),
        Some(Waiting::Table(table, _)) => locks.tables.pass(waiter, *table),
        // Who waits for keys or a range stands behind nobody who waits, and who waits for a partition passes nobody.
        Some(Waiting::Range(..) | Waiting::Partition(_) | Waiting::End(..)) | None => false,
    }
}

/// Who holds and who waits in a queue, when a search came to it.
struct Crowd {
    holders: Vec<Holder>,
    /// Those of them who are of the session that looks.
    own: Vec<Holder>,
    /// Holders of which modes are in the way of each who waits, in the order of these.
    waiters: Vec<(OwnerId, Modes)>,
    /// The modes whose holders have all been reached.
    reached: Modes,
}

/// A search for a cycle through `me`.
struct Look<'l> {
    locks: &'l LockManager,
    me: OwnerId,
    sessions: Sessions,
    queues: HashMap<Queue, Crowd>,
    reached: Reached,
}

/// Which queue.
#[derive(PartialEq, Eq, Hash)]
enum Queue {
    Node(TreeId, Box<[u8]>),
    Table(TableId),
}

/// A shortest cycle through `me`, as the owners in it, each waiting for the next.
fn cycle(locks: &LockManager, me: OwnerId) -> Option<Vec<OwnerId>> {
    let mut look = Look {
        locks,
        me,
        sessions: locks.owners.sessions(),
        queues: HashMap::new(),
        reached: Reached::from(me),
    };
    while let Some(waiter) = look.reached.take_next() {
        if look.follow(waiter) {
            return Some(look.reached.path(waiter));
        }
    }
    None
}

impl Look<'_> {
    /// Reaches whom `waiter` waits for; whether that is `me`.
    fn follow(&mut self, waiter: OwnerId) -> bool {
        let locks = self.locks;
        // Held meanwhile: the waiter cannot end its wait, so its node and its queue stay.
        match &*lock(&locks.owners.get(waiter).waiting) {
            None => false,
            Some(Waiting::Row(node)) => self.follow_node(waiter, node, Kind::Row),
            Some(Waiting::Name(node, _)) => self.follow_node(waiter, node, Kind::Table),
            Some(Waiting::Range(tree, _)) => {
                let mut closes = false;
                locks.ranges.blockers(&locks.owners, waiter, *tree, &mut |holder| {
                    closes |= self.reach(waiter, holder);
                });
                closes
            }
            Some(Waiting::Partition(partition)) => {
                let holder = locks.partitions.holder(*partition).filter(|holder| *holder != waiter);
                holder.is_some_and(|holder| self.reach(waiter, holder))
            }
            Some(Waiting::Table(table, _)) => {
                let crowd = self.queues.remove(&Queue::Table(*table)).unwrap_or_else(|| {
                    let mut crowd = None;
                    locks.tables.see(*table, &mut |queue| {
                        crowd = Some(self.crowd(queue, Kind::Table));
                    });
                    crowd.expect("a queue is shown, if an idle one")
                });
                self.follow_queue(waiter, Queue::Table(*table), crowd)
            }
            Some(Waiting::End(owner, txn)) => {
                locks.owners.get(*owner).txn() == Some(*txn) && self.reach(waiter, *owner)
            }
        }
    }

    fn follow_node(&mut self, waiter: OwnerId, node: &NodeRef, kind: Kind) -> bool {
        let queue = Queue::Node(node.tree(), node.key().into());
        let met = self.queues.remove(&queue);
        let crowd = met.unwrap_or_else(|| self.crowd(&node.state().lock, kind));
        self.follow_queue(waiter, queue, crowd)
    }

    fn crowd(&self, queue: &LockQueue, kind: Kind) -> Crowd {
        let holders: Vec<Holder> = queue.holders().collect();
        let own = |holder: &Holder| self.sessions.same(holder.owner, self.me);
        let mut waiters = queue.excluded(kind);
        waiters.sort_unstable();
        Crowd { own: holders.iter().copied().filter(own).collect(), holders, waiters, reached: 0 }
    }

    fn follow_queue(&mut self, waiter: OwnerId, queue: Queue, mut crowd: Crowd) -> bool {
        // One who came after the queue was read looks itself.
        let place = crowd.waiters.binary_search_by_key(&waiter, |(waiter, _)| *waiter);
        let modes = place.map_or(0, |place| crowd.waiters[place].1);
        let in_the_way = |holder: &&Holder| holder.owner != waiter && holder.modes & modes != 0;
        let mut closes = crowd.own.iter().any(|holder| in_the_way(&holder));
        if modes & !crowd.reached != 0 {
            for holder in crowd.holders.iter().filter(in_the_way) {
                closes |= self.reach(waiter, holder.owner);
            }
            crowd.reached |= modes;
        }
        self.queues.insert(queue, crowd);
        closes
    }

    /// Reaches one whom `waiter` waits for; whether that is `me`.
    fn reach(&mut self, waiter: OwnerId, blocker: OwnerId) -> bool {
        if self.reached.knows(blocker) {
            return false;
        }
        let mut closes = false;
        // Whoever of the blocker's session waits keeps it from letting go.
        for peer in self.sessions.peers(blocker) {
            closes |= self.reached.reach(waiter, peer);
        }
        closes
    }
}
