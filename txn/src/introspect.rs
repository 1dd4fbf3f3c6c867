//! Who runs and who holds what: the facts behind `pg_locks` and `pg_stat_activity`.
//!
//! Each lock is read under its own latch; the list as a whole is of no single moment, as PostgreSQL's is not either.

use crate::lock::RowRequest;
use crate::lock::advisory::NAMES;
use crate::lock::queue::Kind;
use crate::lock::queue::LockQueue;
use crate::lock::range::RangeMode;
use crate::lock::{LockManager, Modes, RowLock, TableLock};
use crate::manager::Manager;
use crate::owner::{OwnerId, Waiting};
use crate::sync::lock;
use crate::{LockTarget, Lsn, Micros, SireadTarget, TableId, TreeId, TxnId};

/// One lock, held or waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockInfo {
    /// What it stands on.
    pub target: LockTarget,
    /// The session, as clients know it.
    pub pid: u32,
    /// The transaction.
    pub txn: Option<TxnId>,
    /// The mode, in PostgreSQL's words.
    pub mode: &'static str,
    /// Held, or waited for.
    pub granted: bool,
    /// Since when it is waited for, in microseconds since 2000-01-01 UTC.
    pub waiting_since: Option<i64>,
    /// Whether it stands in its owner's own list.
    pub fast_path: bool,
}

/// One lock on what has been read or is written as keys and ranges of a tree: a SIREAD lock, or one of two-phase locking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SireadInfo {
    /// What it stands on.
    pub tree: TreeId,
    /// The table of that, where its owner has said so.
    pub table: Option<TableId>,
    /// How much of the tree.
    pub target: SireadTarget,
    /// The session, as clients know it; 0 of a prepared transaction.
    pub pid: u32,
    /// The transaction, which may have committed.
    pub txn: TxnId,
    /// The mode, in PostgreSQL's words.
    pub mode: &'static str,
    /// Held, or waited for.
    pub granted: bool,
    /// Since when it is waited for, in microseconds since 2000-01-01 UTC.
    pub waiting_since: Option<i64>,
}

/// One running transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransactionInfo {
    /// Its number.
    pub txn: TxnId,
    /// The session, as clients know it.
    pub pid: u32,
    /// The oldest snapshot it needs.
    pub snapshot: Option<Lsn>,
    /// When it began, on the monotonic clock.
    pub since: Micros,
}

impl Manager {
    /// Every transaction that runs.
    #[must_use]
    pub fn transactions(&self) -> Vec<TransactionInfo> {
        let owners = self.locks.owners.iter();
        let running = owners.filter_map(|(_, owner)| {
            Some(TransactionInfo {
                txn: owner.txn()?,
                pid: owner.pid(),
                snapshot: owner.snapshot(),
                since: Micros(owner.since()),
            })
        });
        running.collect()
    }

    /// Every SIREAD lock of serializable transactions, those too that have committed and that others overlap, and what is locked
    /// by those that lock what they read.
    #[must_use]
    pub fn siread_locks(&self) -> Vec<SireadInfo> {
        let mut all = Vec::new();
        self.ssi.for_each(&mut |(pid, txn), tree, table, target| {
            let (mode, granted, waiting_since) = ("SIReadLock", true, None);
            all.push(SireadInfo { tree, table, target, pid, txn, mode, granted, waiting_since });
        });
        self.locks.ranges.for_each(&mut |owner, tree, target, mode, granted| {
            let owner = self.locks.owners.get(owner);
            let Some(txn) = owner.txn() else { return };
            let mode = match mode {
                RangeMode::Passing | RangeMode::Shared => TableLock::Share.name(),
                RangeMode::Exclusive => TableLock::Exclusive.name(),
            };
            let (table, pid) = (None, owner.pid());
            let waiting_since = owner.waiting_since().filter(|_| !granted);
            all.push(SireadInfo { tree, table, target, pid, txn, mode, granted, waiting_since });
        });
        all
    }

    /// Whom the session that clients know as `pid` waits for to have a safe snapshot, as clients know them.
    #[must_use]
    pub fn safe_snapshot_blocking_pids(&self, pid: u32) -> Vec<u32> {
        self.ssi.safe_snapshot_blockers(pid)
    }

    /// Every lock that is held or waited for.
    #[must_use]
    pub fn locks(&self) -> Vec<LockInfo> {
        let mut all = Vec::new();
        for (_, owner) in self.locks.owners.iter() {
            for (table, modes) in lock(&owner.intents).iter() {
                for mode in table_modes(*modes) {
                    all.push(LockInfo {
                        target: LockTarget::Table(*table),
                        pid: owner.pid(),
                        txn: owner.txn(),
                        mode,
                        granted: true,
                        waiting_since: None,
                        fast_path: true,
                    });
                }
            }
        }
        for (_, owner) in self.locks.owners.iter() {
            let waiting = lock(&owner.waiting);
            let Some(Waiting::End(awaited, txn)) = &*waiting else { continue };
            all.push(LockInfo {
                target: LockTarget::Transaction(self.locks.owners.get(*awaited).pid(), *txn),
                pid: owner.pid(),
                txn: owner.txn(),
                mode: TableLock::Share.name(),
                granted: false,
                waiting_since: owner.waiting_since(),
                fast_path: false,
            });
        }
        self.locks.partitions.for_each(&mut |partition, owner, granted| {
            let owner = self.locks.owners.get(owner);
            all.push(LockInfo {
                target: LockTarget::Partition(partition),
                pid: owner.pid(),
                txn: owner.txn(),
                mode: TableLock::Exclusive.name(),
                granted,
                waiting_since: owner.waiting_since().filter(|_| !granted),
                fast_path: false,
            });
        });
        self.locks.tables.for_each(&mut |table, queue| {
            let target = LockTarget::Table(table);
            self.list(&target, queue, &table_modes, &mut all);
        });
        self.locks.records.for_each(&mut |node| {
            let state = node.state();
            if !state.lock.is_idle() {
                if node.tree() == NAMES {
                    let target = LockTarget::name(node.key());
                    self.list(&target, &state.lock, &table_modes, &mut all);
                } else {
                    let target = LockTarget::Row(node.tree(), node.key().to_vec());
                    self.list(&target, &state.lock, &row_modes, &mut all);
                }
            }
        });
        all
    }

    /// Whom the session that clients know as `pid` waits for, as clients know them; each once for each lock that is in
    /// its way. `is_row` says whether there is a row at a key: who waits for one queues for it, and who waits for another
    /// key, as to write it first, for those who have it.
    ///
    /// # Errors
    /// Those of `is_row`.
    pub fn blocking_pids<E>(
        &self,
        pid: u32,
        is_row: &dyn Fn(TreeId, &[u8]) -> Result<bool, E>,
    ) -> Result<Vec<u32>, E> {
        let mut found = Vec::new();
        let owners = &self.locks.owners;
        for (id, place) in owners.iter().filter(|(_, owner)| owner.pid() == pid) {
            let row = match &*lock(&place.waiting) {
                Some(Waiting::Row(node)) => Some((node.tree(), node.key().to_vec())),
                _ => None,
            };
            let queues = match row {
                Some((tree, key)) => is_row(tree, &key)?,
                None => true,
            };
            let mut blocker = |blocker| found.push(owners.get(blocker).pid());
            in_the_way(&self.locks, id, queues, &mut blocker);
        }
        Ok(found)
    }

    fn list(
        &self,
        target: &LockTarget,
        queue: &LockQueue,
        names: &dyn Fn(Modes) -> Vec<&'static str>,
        into: &mut Vec<LockInfo>,
    ) {
        let mut add = |owner: OwnerId, modes: Modes, waiting_since: Option<i64>| {
            let owner = self.locks.owners.get(owner);
            for mode in names(modes) {
                into.push(LockInfo {
                    target: target.clone(),
                    pid: owner.pid(),
                    txn: owner.txn(),
                    mode,
                    granted: waiting_since.is_none(),
                    waiting_since,
                    fast_path: false,
                });
            }
        };
        queue.holders().for_each(|holder| add(holder.owner, holder.modes, None));
        let waiters = queue.waiters();
        waiters.for_each(|waiter| add(waiter.owner, 1 << waiter.mode, Some(waiter.since)));
    }
}

/// Who is said to be in the way of `waiter`; those who wait for the same row before it are where it `queues` for that.
fn in_the_way(
    locks: &LockManager,
    waiter: OwnerId,
    queues: bool,
    blocker: &mut dyn FnMut(OwnerId),
) {
    match &*lock(&locks.owners.get(waiter).waiting) {
        Some(Waiting::Row(node)) if queues => {
            node.state().lock.in_the_way(Kind::Row, waiter, blocker);
            return;
        }
        Some(Waiting::Name(node, _)) => {
            node.state().lock.in_the_way(Kind::Table, waiter, blocker);
            return;
        }
        Some(Waiting::Table(table, _)) => {
            locks.tables.in_the_way(waiter, *table, blocker);
            return;
        }
        // An older one that waits comes before it.
        Some(Waiting::Partition(partition)) => {
            let queue = locks.partitions.queue(*partition);
            let place = queue.iter().position(|other| *other == waiter).unwrap_or(0);
            queue[..place].iter().for_each(|ahead| blocker(*ahead));
        }
        Some(Waiting::Row(_) | Waiting::Range(..) | Waiting::End(..)) | None => {}
    }
    blockers(locks, waiter, blocker);
}

/// Whom `waiter` waits for.
pub(crate) fn blockers(locks: &LockManager, waiter: OwnerId, blocker: &mut dyn FnMut(OwnerId)) {
    // Held meanwhile: the waiter cannot end its wait, so its node and its queue stay.
    match &*lock(&locks.owners.get(waiter).waiting) {
        None => {}
        Some(Waiting::Row(node)) => node.state().lock.blockers(Kind::Row, waiter, blocker),
        Some(Waiting::Name(node, _)) => node.state().lock.blockers(Kind::Table, waiter, blocker),
        Some(Waiting::Table(table, _)) => locks.tables.blockers(waiter, *table, blocker),
        Some(Waiting::Range(tree, _)) => {
            locks.ranges.blockers(&locks.owners, waiter, *tree, blocker)
        }
        Some(Waiting::Partition(partition)) => {
            let holder = locks.partitions.holder(*partition);
            holder.filter(|holder| *holder != waiter).into_iter().for_each(blocker);
        }
        Some(Waiting::End(owner, txn)) if locks.owners.get(*owner).txn() == Some(*txn) => {
            blocker(*owner);
        }
        Some(Waiting::End(..)) => {}
    }
}

fn table_modes(modes: Modes) -> Vec<&'static str> {
    let held = TableLock::ALL.into_iter().filter(|mode| modes & mode.bit() != 0);
    held.map(TableLock::name).collect()
}

fn row_modes(modes: Modes) -> Vec<&'static str> {
    // A stronger row lock says all that a weaker one does.
    let held = RowRequest::strongest(modes).and_then(RowRequest::lock);
    held.map(RowLock::name).into_iter().collect()
}
