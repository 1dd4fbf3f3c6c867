//! What is said of a long wait for a lock (`log_lock_waits`): when the waiter has looked for a deadlock, and when it goes on.

use super::queue::LockQueue;
use super::{LockManager, TableLock};
use crate::owner::{OwnerId, Waiting};
use crate::sync::lock;
use crate::{LockTarget, Micros, TxnId};

/// How far a wait has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWaitStage {
    /// It has lasted `deadlock_timeout`, and there is no deadlock.
    Waiting,
    /// It has lasted as long, and is part of a deadlock.
    Deadlock,
    /// It has ended with the lock.
    Acquired,
}

/// A long wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockWait {
    /// How far it has come.
    pub stage: LockWaitStage,
    /// Whose it is.
    pub pid: u32,
    /// The mode that is asked for, in PostgreSQL's words.
    pub mode: &'static str,
    /// What the lock stands on.
    pub target: LockTarget,
    /// The transaction that has it, or one of them.
    pub holder: Option<TxnId>,
    /// How long it has lasted.
    pub waited: Micros,
    /// The sessions that hold the lock.
    pub holders: Vec<u32>,
    /// Those that wait for it, in order.
    pub queue: Vec<u32>,
}

/// The wait of `owner`, which has lasted for `waited`; none if it does not wait any more.
pub(super) fn of(locks: &LockManager, owner: OwnerId, waited: Micros) -> Option<LockWait> {
    let owners = &locks.owners;
    let mut wait = LockWait {
        stage: LockWaitStage::Waiting,
        pid: owners.get(owner).pid(),
        mode: "",
        target: LockTarget::Row(storage::TreeId(0), Vec::new()),
        holder: None,
        waited,
        holders: Vec::new(),
        queue: Vec::new(),
    };
    let mut look = |queue: &LockQueue| {
        let held = || queue.holders().filter(|holder| holder.owner != owner);
        wait.holder = held().find_map(|holder| owners.get(holder.owner).txn());
        wait.holders = held().map(|holder| owners.get(holder.owner).pid()).collect();
        wait.queue = queue.waiters().map(|waiter| owners.get(waiter.owner).pid()).collect();
    };
    // Held meanwhile: the waiter cannot end its wait, so its node and its queue stay.
    let (mode, target) = match &*lock(&owners.get(owner).waiting) {
        None => return None,
        Some(Waiting::Row(node)) => {
            look(&node.state().lock);
            ("ShareLock", LockTarget::Row(node.tree(), node.key().to_vec()))
        }
        Some(Waiting::Name(node, mode)) => {
            look(&node.state().lock);
            (mode.name(), LockTarget::name(node.key()))
        }
        Some(Waiting::Table(table, mode)) => {
            locks.tables.see(*table, &mut look);
            (mode.name(), LockTarget::Table(*table))
        }
        Some(Waiting::Range(tree, key)) => {
            locks.ranges.blockers(&locks.owners, owner, *tree, &mut |holder| {
                wait.holder = wait.holder.or(owners.get(holder).txn());
                wait.holders.push(owners.get(holder).pid());
            });
            wait.queue.push(wait.pid);
            ("ShareLock", LockTarget::Row(*tree, key.as_deref().unwrap_or_default().to_vec()))
        }
        Some(Waiting::Partition(partition)) => {
            if let Some(holder) = locks.partitions.holder(*partition) {
                wait.holder = owners.get(holder).txn();
                wait.holders.push(owners.get(holder).pid());
            }
            let queue = locks.partitions.queue(*partition);
            wait.queue = queue.into_iter().map(|waiter| owners.get(waiter).pid()).collect();
            (TableLock::Exclusive.name(), LockTarget::Partition(*partition))
        }
        Some(Waiting::End(awaited, txn)) => {
            let pid = owners.get(*awaited).pid();
            wait.holder = Some(*txn);
            wait.holders.push(pid);
            wait.queue.push(wait.pid);
            ("ShareLock", LockTarget::Transaction(pid, *txn))
        }
    };
    Some(LockWait { mode, target, ..wait })
}
