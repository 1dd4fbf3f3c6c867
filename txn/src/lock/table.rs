//! Table locks: intention locks in their owner's own list, everything else in a shared table.
//!
//! Papers: Johnson et al., *Shore-MT*, EDBT 2009, and *Speculative Lock Inheritance*, VLDB 2009, for the problem (every
//! transaction takes the same intention locks, so their heads are hotspots); PostgreSQL's fast-path locks for this
//! answer. Intention modes do not exclude each other, so as long as nobody asks for more, nobody has to see them.
//!
//! The flag protocol. An *intention* request takes the mutex of its own list, looks at the table's flag, and writes the
//! lock down if the flag is not raised; otherwise it goes to the shared table. A *strong* request raises the flag
//! first, then visits every list under its mutex and moves the table's locks to the shared table, then asks there. An
//! intention request that got its mutex before the visit is found; one that got it after sees the flag.
//!
//! Flags are counters over a hash of the table: a false sharing of two tables costs speed, nothing else.

use super::mode::{Modes, TABLE_CONFLICTS, TableLock};
use super::queue::{Kind, LockQueue, Request};
use crate::TableId;
use crate::owner::{OwnerId, Owners};
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Mutex, lock, rank};
use rustc_hash::FxHashMap;

/// Flags, and latches over the shared table.
const FLAGS: usize = 1024;
const SHARDS: usize = 64;

/// The modes that stand in their owner's list.
const INTENTIONS: Modes = 0b0000_0111;
/// The modes that raise the flag.
const STRONG: Modes = 0b1111_0000;

/// All table locks.
#[derive(Debug)]
pub struct TableLocks {
    flags: Box<[AtomicU32]>,
    shards: Box<[Mutex<FxHashMap<TableId, LockQueue>, { rank::TABLE_LOCKS }>]>,
}

fn spread(table: TableId) -> usize {
    (table.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize
}

impl TableLocks {
    /// No locks.
    #[must_use]
    pub fn new() -> TableLocks {
        TableLocks {
            flags: (0..FLAGS).map(|_| AtomicU32::new(0)).collect(),
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        }
    }

    fn flag(&self, table: TableId) -> &AtomicU32 {
        &self.flags[spread(table) % FLAGS]
    }

    /// Changes the table's queue under its latch. Queues without locks are not kept.
    fn with<T>(&self, table: TableId, change: impl FnOnce(&mut LockQueue) -> T) -> T {
        let mut shard = lock(&self.shards[spread(table) % SHARDS]);
        let queue = shard.entry(table).or_default();
        let result = change(queue);
        if queue.is_idle() {
            shard.remove(&table);
        }
        result
    }

    /// Grants an intention mode where nobody has asked for a strong one: what nearly every request is.
    #[inline]
    pub fn intend(&self, owners: &Owners, owner: OwnerId, table: TableId, mode: TableLock) -> bool {
        if !mode.is_intention() {
            return false;
        }
        let mut intents = lock(&owners.get(owner).intents);
        // Relaxed: the list's mutex orders it against the strong request's visit.
        if self.flag(table).load(Ordering::Relaxed) != 0 {
            return false;
        }
        match intents.iter_mut().find(|intent| intent.0 == table) {
            Some(intent) => intent.1 |= mode.bit(),
            None => intents.push((table, mode.bit())),
        }
        true
    }

    /// Grants `mode`, which is not yet held, or enqueues the owner where `wait` says so; `passed` is told who goes on
    /// because of that.
    pub fn request(
        &self,
        owners: &Owners,
        owner: OwnerId,
        (table, mode): (TableId, TableLock),
        wait: Option<i64>,
        passed: &mut dyn FnMut(OwnerId),
    ) -> bool {
        if self.intend(owners, owner, table, mode) {
            return true;
        }
        if mode.is_strong() {
            self.flag(table).fetch_add(1, Ordering::SeqCst);
            self.gather(owners, table);
        }
        let granted = self.with(table, |queue| {
            let granted = queue.request(Kind::Table, owner, mode as u8) != Request::Blocked;
            if !granted && let Some(since) = wait {
                queue.enqueue(Kind::Table, owner, mode as u8, since, passed);
            }
            granted
        });
        if !granted && wait.is_none() && mode.is_strong() {
            self.flag(table).fetch_sub(1, Ordering::SeqCst);
        }
        granted
    }

    /// Moves everybody's intention locks on `table` to the shared table.
    fn gather(&self, owners: &Owners, table: TableId) {
        for (owner, place) in owners.iter() {
            let mut intents = lock(&place.intents);
            if let Some(at) = intents.iter().position(|intent| intent.0 == table) {
                let (_, modes) = intents.swap_remove(at);
                self.with(table, |queue| queue.adopt(owner, modes));
            }
        }
    }

    /// Whether `owner`'s wait has ended with the lock.
    #[must_use]
    pub fn is_granted(&self, owner: OwnerId, table: TableId) -> bool {
        self.with(table, |queue| !queue.is_waiting(owner))
    }

    /// Ends a wait without the lock; false if it has been granted already.
    pub fn cancel(
        &self,
        owner: OwnerId,
        table: TableId,
        mode: TableLock,
        granted: &mut dyn FnMut(OwnerId),
    ) -> bool {
        let cancelled = self.with(table, |queue| queue.cancel(Kind::Table, owner, granted));
        if cancelled && mode.is_strong() {
            self.flag(table).fetch_sub(1, Ordering::SeqCst);
        }
        cancelled
    }

    /// Takes what of `held` stands in its owner's list away, under one latch; what does not is left for
    /// [`TableLocks::release`].
    pub fn release_intents<T>(
        &self,
        owners: &Owners,
        owner: OwnerId,
        held: &mut Vec<T>,
        gone: impl Fn(&T) -> (TableId, Modes),
    ) {
        let mut intents = lock(&owners.get(owner).intents);
        // Mostly both lists are what one transaction has asked for, in its order.
        let same = |(held, intent): (&T, &(TableId, Modes))| gone(held) == *intent;
        if held.len() == intents.len() && held.iter().zip(intents.iter()).all(same) {
            held.clear();
            intents.clear();
            return;
        }
        held.retain(|held| {
            let (table, gone) = gone(held);
            let Some(at) = intents.iter().position(|intent| intent.0 == table) else { return true };
            if intents[at].1 & gone != gone {
                return true;
            }
            intents[at].1 &= !gone;
            if intents[at].1 == 0 {
                intents.swap_remove(at);
            }
            false
        });
    }

    /// Takes `gone` modes of `owner` away.
    pub fn release(
        &self,
        owners: &Owners,
        owner: OwnerId,
        table: TableId,
        gone: Modes,
        granted: &mut dyn FnMut(OwnerId),
    ) {
        let mut shared = gone;
        if gone & INTENTIONS != 0 {
            let mut intents = lock(&owners.get(owner).intents);
            if let Some(at) = intents.iter().position(|intent| intent.0 == table) {
                shared &= !intents[at].1;
                intents[at].1 &= !gone;
                if intents[at].1 == 0 {
                    intents.swap_remove(at);
                }
            }
        }
        if shared != 0 {
            self.with(table, |queue| {
                let left = queue.held(owner) & !shared;
                queue.release(Kind::Table, owner, left, granted);
            });
        }
        let strong = (gone & STRONG).count_ones();
        if strong > 0 {
            self.flag(table).fetch_sub(strong, Ordering::SeqCst);
        }
    }

    /// Grants what `owner` waits for if nobody who holds a lock is in its way; false if not.
    pub fn pass(&self, owner: OwnerId, table: TableId) -> bool {
        self.with(table, |queue| queue.pass(Kind::Table, owner))
    }

    /// Whether `owner` waits in a simple deadlock: [`LockQueue::is_mutual`].
    #[must_use]
    pub fn is_mutual(&self, owner: OwnerId, table: TableId) -> bool {
        self.with(table, |queue| queue.is_mutual(Kind::Table, owner))
    }

    /// Whether somebody waits for a lock on `table`.
    #[must_use]
    pub fn is_awaited(&self, table: TableId) -> bool {
        // Who waits for an intention to go is strong, and so is who holds what an intention waits for.
        self.flag(table).load(Ordering::SeqCst) != 0
            && self.with(table, |queue| queue.waiters().next().is_some())
    }

    /// Whom `owner` waits for.
    pub fn blockers(&self, owner: OwnerId, table: TableId, blocker: &mut dyn FnMut(OwnerId)) {
        self.with(table, |queue| queue.blockers(Kind::Table, owner, blocker));
    }

    /// Who is said to be in the way of `owner`.
    pub fn in_the_way(&self, owner: OwnerId, table: TableId, blocker: &mut dyn FnMut(OwnerId)) {
        self.with(table, |queue| queue.in_the_way(Kind::Table, owner, blocker));
    }

    /// Shows a table's queue.
    pub fn see(&self, table: TableId, see: &mut dyn FnMut(&LockQueue)) {
        self.with(table, |queue| see(queue));
    }

    /// Shows everybody who holds a lock on `table` with which `mode` could not be granted to another; while it is shown, it
    /// is held. What is moved to the shared table meanwhile is met there.
    pub fn conflicting(
        &self,
        owners: &Owners,
        table: TableId,
        mode: TableLock,
        see: &mut dyn FnMut(OwnerId),
    ) {
        let excluded = TABLE_CONFLICTS[mode as usize];
        for (owner, place) in owners.iter() {
            let intents = lock(&place.intents);
            if intents.iter().any(|intent| intent.0 == table && intent.1 & excluded != 0) {
                see(owner);
            }
        }
        self.with(table, |queue| {
            let holders = queue.holders().filter(|holder| holder.modes & excluded != 0);
            holders.for_each(|holder| see(holder.owner));
        });
    }

    /// Shows the queue of every table that has one.
    pub fn for_each(&self, see: &mut dyn FnMut(TableId, &LockQueue)) {
        for shard in &self.shards {
            lock(shard).iter().for_each(|(table, queue)| see(*table, queue));
        }
    }
}

impl Default for TableLocks {
    fn default() -> Self {
        TableLocks::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strong_request_finds_the_intentions_of_others() {
        let (owners, locks) = (Owners::new(), TableLocks::new());
        let (a, b) = (owners.register(), owners.register());
        let table = TableId(7);
        assert!(locks.request(&owners, a, (table, TableLock::RowExclusive), None, &mut |_| ()));
        assert_eq!(lock(&owners.get(a).intents).len(), 1);
        assert!(!locks.request(&owners, b, (table, TableLock::AccessExclusive), None, &mut |_| ()));
        assert!(lock(&owners.get(a).intents).is_empty(), "moved to the shared table");
        assert!(!locks.request(&owners, b, (table, TableLock::Share), Some(0), &mut |_| ()));
        // The flag is raised: who comes now queues behind the waiter.
        let c = owners.register();
        assert!(!locks.request(&owners, c, (table, TableLock::RowExclusive), None, &mut |_| ()));
        assert!(locks.request(&owners, c, (table, TableLock::AccessShare), None, &mut |_| ()));
        let mut granted = Vec::new();
        let gone = TableLock::RowExclusive.bit();
        locks.release(&owners, a, table, gone, &mut |owner| granted.push(owner));
        assert_eq!(granted, [b]);
        locks.release(&owners, b, table, TableLock::Share.bit(), &mut |_| ());
        locks.release(&owners, c, table, TableLock::AccessShare.bit(), &mut |_| ());
        let mut left = 0;
        locks.for_each(&mut |_, _| left += 1);
        assert_eq!(left, 0);
        assert!(locks.request(&owners, c, (table, TableLock::RowShare), None, &mut |_| ()));
        assert_eq!(lock(&owners.get(c).intents).len(), 1, "the flag is down again");
    }

    #[test]
    fn intentions_go_together_and_what_was_moved_stays() {
        let (owners, locks) = (Owners::new(), TableLocks::new());
        let (a, b) = (owners.register(), owners.register());
        let mut held = Vec::new();
        for table in 1..=5 {
            for mode in [TableLock::AccessShare, TableLock::RowExclusive] {
                assert!(locks.request(&owners, a, (TableId(table), mode), None, &mut |_| ()));
                held.push((TableId(table), mode.bit()));
            }
        }
        let strong = (TableId(3), TableLock::Share);
        assert!(!locks.request(&owners, b, strong, Some(0), &mut |_| ()));
        locks.release_intents(&owners, a, &mut held, |held| *held);
        assert!(lock(&owners.get(a).intents).is_empty());
        let moved = [TableLock::AccessShare, TableLock::RowExclusive];
        assert_eq!(held, moved.map(|mode| (TableId(3), mode.bit())));
        let mut granted = Vec::new();
        for (table, gone) in held {
            locks.release(&owners, a, table, gone, &mut |owner| granted.push(owner));
        }
        assert_eq!(granted, [b]);
    }
}
