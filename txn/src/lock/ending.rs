//! Waits for others' transactions to end: those that hold a table in a way, or need a snapshot that is older than something.
//!
//! PostgreSQL's `WaitForLockers` and `WaitForOlderSnapshots`, which its concurrent index builds stand on. Nothing is locked
//! and nobody is kept out: who is in the way is found once, and each of them is waited for. A deadlock goes through such a
//! wait as through any other.
//!
//! **Not to be missed.** Who waits stands in the list, then looks whether the transaction still runs; who ends a transaction
//! says so, then looks whether the list has anybody. Both are sequentially consistent, so one of them sees the other.

use super::mode::TableLock;
use super::{FirstSearch, LockManager};
use crate::manager::Manager;
use crate::owner::{OwnerId, Waiting};
use crate::sync::atomic::{AtomicUsize, Ordering, fence};
use crate::sync::{Mutex, lock, rank};
use crate::transaction::Transaction;
use crate::wait::SessionWait;
use crate::{Lsn, Result, TableId, TxnId};
use storage::WaitEvent;

/// Who waits for whose end.
#[derive(Debug, Default)]
pub struct Endings {
    /// How many stand in the list: all that the end of a transaction looks at.
    awaited: AtomicUsize,
    /// Whose transaction, and who waits for its end.
    list: Mutex<Vec<(OwnerId, OwnerId)>, { rank::GARBAGE }>,
}

impl Endings {
    fn change<T>(&self, change: impl FnOnce(&mut Vec<(OwnerId, OwnerId)>) -> T) -> T {
        let mut list = lock(&self.list);
        let result = change(&mut list);
        self.awaited.store(list.len(), Ordering::SeqCst);
        result
    }
}

impl LockManager {
    /// Ends the transaction of an owner that holds nothing any more, and wakes who waits for that.
    pub fn end(&self, owner: OwnerId) {
        self.owners.get(owner).end();
        if self.endings.awaited.load(Ordering::SeqCst) == 0 {
            return;
        }
        let gone: Vec<_> = self
            .endings
            .change(|list| list.extract_if(.., |(awaited, _)| *awaited == owner).collect());
        for (_, waiter) in gone {
            self.env.wake(&self.owners.get(waiter).cell);
        }
    }

    /// Waits until a transaction has ended.
    fn wait_for_end(
        &self,
        me: OwnerId,
        session: &SessionWait,
        (owner, txn): (OwnerId, TxnId),
    ) -> Result<()> {
        let place = self.owners.get(owner);
        self.endings.change(|list| list.push((owner, me)));
        let waiting = (Waiting::End(owner, txn), FirstSearch::AfterTimeout);
        let ended = || place.txn() != Some(txn);
        let waited = self.wait(me, session, WaitEvent::TransactionId, waiting, &ended, &|_| ());
        self.endings.change(|list| list.retain(|entry| *entry != (owner, me)));
        waited
    }
}

impl Transaction {
    /// Waits until everybody of another session has ended the transaction that holds a lock on `table` now with which
    /// `mode` could not be granted.
    ///
    /// # Errors
    /// [`crate::Error::Deadlock`], [`crate::Error::LockNotAvailable`], [`crate::Error::Cancelled`].
    pub fn wait_for_lockers(&self, table: TableId, mode: TableLock) -> Result<()> {
        let locks = &self.manager.locks;
        let mut found: Vec<(OwnerId, TxnId)> = Vec::new();
        locks.tables.conflicting(&locks.owners, table, mode, &mut |owner| {
            found.extend(locks.owners.get(owner).txn().map(|txn| (owner, txn)));
        });
        self.wait_for_ends(&found)
    }

    /// Waits until everybody of another session has ended the transaction that needs a snapshot below `lsn` now, if `minds`
    /// says of the session's number that it may read what this is about.
    ///
    /// # Errors
    /// As [`Transaction::wait_for_lockers`].
    pub fn wait_for_snapshots(&self, lsn: Lsn, minds: &dyn Fn(u32) -> bool) -> Result<()> {
        let manager: &Manager = &self.manager;
        manager.wait_visible(lsn, self.wait())?;
        let mut found: Vec<(OwnerId, TxnId)> = Vec::new();
        fence(Ordering::SeqCst); // Pairs with the fence in `announce`: who is missed takes a snapshot that shows `lsn`.
        for (owner, place) in manager.locks.owners.iter() {
            let Some(txn) = place.txn() else { continue };
            let needs = place.snapshot().is_some_and(|snapshot| snapshot < lsn);
            if needs && minds(place.pid()) {
                found.push((owner, txn));
            }
        }
        self.wait_for_ends(&found)
    }

    fn wait_for_ends(&self, found: &[(OwnerId, TxnId)]) -> Result<()> {
        let locks = &self.manager.locks;
        let me = self.state().owner;
        let own: Vec<_> = locks.owners.sessions().peers(me).collect();
        for ending in found.iter().filter(|(owner, _)| !own.contains(owner)) {
            locks.wait_for_end(me, self.wait(), *ending)?;
        }
        Ok(())
    }
}
