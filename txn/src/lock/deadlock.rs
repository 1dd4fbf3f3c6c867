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
//! The graph is not a table of its own: who waits for whom is asked of the queues, edge by edge, while others go on.
//! What is found that way may never have existed at one time, so it is looked for twice: a true deadlock cannot go away,
//! and an edge that was there before and after was there in between. Where the two differ nothing is known, for there may be
//! more cycles than one: the waiter looks again after another `deadlock_timeout`, and so on for as long as it waits.

use super::LockManager;
use super::queue::Kind;
use crate::owner::{OwnerId, Waiting};
use crate::sync::lock;
use crate::{DeadlockEdge, LockTarget};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// What a search came to.
pub(crate) enum Search<D = Vec<DeadlockEdge>> {
    /// There is no cycle through the waiter. Only a wait that begins later can close one, and who begins it looks.
    Nothing,
    /// There may be one.
    Unsure,
    /// There is this one.
    Cycle(D),
}

/// Looks for a cycle through `me`.
pub(crate) fn find(locks: &LockManager, me: OwnerId) -> Search {
    let _one = lock(&locks.detecting);
    let first = loop {
        let Some(first) = cycle(locks, me) else { return Search::Nothing };
        if cycle(locks, me).as_ref() != Some(&first) {
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
            Some(Waiting::Name(node, mode)) => (mode.name(), LockTarget::name(node.key())),
            Some(Waiting::End(owner, txn, _)) => {
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
    Search::Cycle(edges)
}

/// Grants `waiter` what it waits for, if only others who wait are before it; false if not.
fn pass(locks: &LockManager, waiter: OwnerId) -> bool {
    // Held meanwhile, as for [`blockers`].
    match &*lock(&locks.owners.get(waiter).waiting) {
        Some(Waiting::Row(node)) => node.state().lock.pass(Kind::Row, waiter),
        Some(Waiting::Name(node, _)) => node.state().lock.pass(Kind::Table, waiter),
        Some(Waiting::Table(table, _)) => locks.tables.pass(waiter, *table),
        Some(Waiting::End(..)) | None => false,
    }
}

/// A shortest cycle through `me`, as the owners in it, each waiting for the next.
fn cycle(locks: &LockManager, me: OwnerId) -> Option<Vec<OwnerId>> {
    let mut reached_from = HashMap::new();
    let mut next = VecDeque::from([me]);
    let sessions = locks.owners.sessions();
    while let Some(waiter) = next.pop_front() {
        let mut closes = false;
        blockers(locks, waiter, &mut |blocker| {
            if reached_from.contains_key(&blocker) {
                return;
            }
            // Whoever of the blocker's session waits keeps it from letting go.
            for peer in sessions.peers(blocker) {
                if peer == me {
                    closes = true;
                } else if let Entry::Vacant(unseen) = reached_from.entry(peer) {
                    unseen.insert(waiter);
                    next.push_back(peer);
                }
            }
        });
        if closes {
            let back = std::iter::successors(Some(waiter), |at| reached_from.get(at).copied());
            let mut path: Vec<_> = back.collect();
            path.reverse();
            return Some(path);
        }
    }
    None
}

/// Whom `waiter` waits for.
pub(crate) fn blockers(locks: &LockManager, waiter: OwnerId, blocker: &mut dyn FnMut(OwnerId)) {
    // Held meanwhile: the waiter cannot end its wait, so its node and its queue stay.
    match &*lock(&locks.owners.get(waiter).waiting) {
        None => {}
        Some(Waiting::Row(node)) => node.state().lock.blockers(Kind::Row, waiter, blocker),
        Some(Waiting::Name(node, _)) => node.state().lock.blockers(Kind::Table, waiter, blocker),
        Some(Waiting::Table(table, _)) => locks.tables.blockers(waiter, *table, blocker),
        Some(Waiting::End(owner, txn, _)) if locks.owners.get(*owner).txn() == Some(*txn) => {
            blocker(*owner);
        }
        Some(Waiting::End(..)) => {}
    }
}
