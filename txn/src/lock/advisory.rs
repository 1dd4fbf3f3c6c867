//! Advisory locks: names that sessions lock and that mean nothing here (PostgreSQL 15 manual, section 13.3.5).
//!
//! A lock belongs to the session, whichever level it was taken at: those of the session until it unlocks them as often as
//! it locked them, those of a transaction until that ends or goes back behind them. So both are held by one *owner* of
//! the session, and never exclude each other. The queue stands in a record node, whose tree is none that exists, and is
//! PostgreSQL's queue of heavyweight locks: Share and Exclusive, in order of arrival.
//!
//! The session's owner and its transaction's are peers: a deadlock goes through both. A transaction that is prepared takes
//! its locks along ([`AdvisoryLocks::hand_over`]): from then on they are its owner's, and exclude the session.

use super::mode::TableLock;
use super::queue::{Kind, Request};
use super::{FirstSearch, LockManager};
use crate::manager::Manager;
use crate::owner::{OwnerId, Waiting};
use crate::record::NodeRef;
use crate::sync::{Arc, lock};
use crate::transaction::state::HeldName;
use crate::wait::SessionWait;
use crate::{Result, Transaction, TreeId};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use storage::WaitEvent;

/// The tree of names.
pub const NAMES: TreeId = TreeId(u64::MAX);

/// What an advisory lock stands on, as `pg_locks` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AdvisoryKey {
    /// The database's OID.
    pub database: u32,
    /// The first key, or the upper half of the only one.
    pub class: u32,
    /// The second key, or the lower half.
    pub object: u32,
    /// 1 for one key, 2 for two.
    pub sub: u16,
}

/// How long a lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdvisoryLevel {
    /// Until the session unlocks it, or ends.
    Session,
    /// Until the transaction ends.
    Transaction,
}

impl AdvisoryKey {
    fn bytes(self) -> [u8; 14] {
        let mut bytes = [0; 14];
        bytes[..4].copy_from_slice(&self.database.to_be_bytes());
        bytes[4..8].copy_from_slice(&self.class.to_be_bytes());
        bytes[8..12].copy_from_slice(&self.object.to_be_bytes());
        bytes[12..].copy_from_slice(&self.sub.to_be_bytes());
        bytes
    }

    /// Of the key of a node in [`NAMES`].
    pub(crate) fn of(bytes: &[u8]) -> AdvisoryKey {
        AdvisoryKey::try_of(bytes).expect("a key has fourteen bytes")
    }

    /// Of bytes that may not be a key.
    pub(crate) fn try_of(bytes: &[u8]) -> Option<AdvisoryKey> {
        let bytes: &[u8; 14] = bytes.try_into().ok()?;
        let word = |at: usize| {
            u32::from_be_bytes(bytes[at..at + 4].try_into().expect("a key has fourteen bytes"))
        };
        let sub = u16::from_be_bytes(bytes[12..14].try_into().expect("a key has fourteen bytes"));
        Some(AdvisoryKey { database: word(0), class: word(4), object: word(8), sub })
    }
}

/// One lock of a session in one mode.
#[derive(Debug)]
struct Held {
    node: NodeRef,
    by_session: u32,
    by_transaction: u32,
}

/// What is locked in one mode.
type Name = (AdvisoryKey, TableLock);

/// The advisory locks of one session.
#[derive(Debug)]
pub struct AdvisoryLocks {
    manager: Arc<Manager>,
    wait: Arc<SessionWait>,
    /// There from the first lock on.
    owner: Option<OwnerId>,
    held: BTreeMap<Name, Held>,
    /// What the transaction has locked, in order.
    transaction: Vec<Name>,
}

fn mode_of(shared: bool) -> TableLock {
    if shared { TableLock::Share } else { TableLock::Exclusive }
}

impl LockManager {
    /// Locks a name in a mode that `owner` does not hold; none if somebody is in the way and it is not to be waited for.
    fn lock_name(
        &self,
        owner: OwnerId,
        session: &SessionWait,
        key: AdvisoryKey,
        mode: TableLock,
        waits: bool,
    ) -> Result<Option<NodeRef>> {
        let node = self.records.pin(NAMES, &key.bytes());
        let mut passed = Vec::new();
        let (before, granted) = {
            let mut state = node.state();
            let before = state.lock.held(owner);
            let granted = state.lock.request(Kind::Table, owner, mode as u8) != Request::Blocked;
            if !granted && waits {
                let now = self.env.clock.wall();
                let mut grant = |owner| passed.push(owner);
                state.lock.enqueue(Kind::Table, owner, mode as u8, now, &mut grant);
            }
            (before, granted)
        };
        self.wake(&passed);
        if granted {
            return Ok(Some(node));
        }
        if !waits {
            self.records.unpin(node);
            return Ok(None);
        }
        let waiting = Waiting::Name(node.unpinned(), mode);
        let is_granted = || !node.state().lock.is_waiting(owner);
        let cancel = |wake: &mut dyn FnMut(OwnerId)| {
            node.state().lock.abandon(Kind::Table, owner, before, wake);
        };
        let first = FirstSearch::of(node.state().lock.is_mutual(Kind::Table, owner));
        let waiting = (waiting, first);
        match self.wait(owner, session, WaitEvent::Advisory, waiting, &is_granted, &cancel) {
            Ok(()) => Ok(Some(node)),
            Err(error) => {
                self.records.unpin(node);
                Err(error)
            }
        }
    }

    pub(crate) fn unlock_name(&self, owner: OwnerId, node: NodeRef, mode: TableLock) {
        let mut granted = Vec::new();
        self.records.unpin_after(node, |_, state, _| {
            let left = state.lock.held(owner) & !mode.bit();
            state.lock.release(Kind::Table, owner, left, &mut |owner| granted.push(owner));
        });
        self.wake(&granted);
    }
}

impl AdvisoryLocks {
    /// Of the session that waits as `wait`; none yet.
    #[must_use]
    pub fn new(manager: &Arc<Manager>, wait: &Arc<SessionWait>) -> AdvisoryLocks {
        AdvisoryLocks {
            manager: Arc::clone(manager),
            wait: Arc::clone(wait),
            owner: None,
            held: BTreeMap::new(),
            transaction: Vec::new(),
        }
    }

    /// Locks a name. False if somebody is in the way, and it is not to be waited for.
    ///
    /// # Errors
    /// [`crate::Error::Deadlock`], [`crate::Error::LockNotAvailable`], [`crate::Error::Cancelled`].
    pub fn lock(
        &mut self,
        key: AdvisoryKey,
        shared: bool,
        level: AdvisoryLevel,
        waits: bool,
    ) -> Result<bool> {
        let mode = mode_of(shared);
        let owner = *self.owner.get_or_insert_with(|| self.manager.take_session_owner(&self.wait));
        let held = match self.held.entry((key, mode)) {
            Entry::Occupied(held) => held.into_mut(),
            Entry::Vacant(place) => {
                let locks = &self.manager.locks;
                let Some(node) = locks.lock_name(owner, &self.wait, key, mode, waits)? else {
                    return Ok(false);
                };
                place.insert(Held { node, by_session: 0, by_transaction: 0 })
            }
        };
        match level {
            AdvisoryLevel::Session => held.by_session += 1,
            AdvisoryLevel::Transaction => {
                held.by_transaction += 1;
                self.transaction.push((key, mode));
            }
        }
        Ok(true)
    }

    /// Unlocks once what the session has locked; false if it has not.
    pub fn unlock(&mut self, key: AdvisoryKey, shared: bool) -> bool {
        let name = (key, mode_of(shared));
        let Some(held) = self.held.get_mut(&name).filter(|held| held.by_session > 0) else {
            return false;
        };
        held.by_session -= 1;
        self.release_unneeded(name);
        true
    }

    /// Unlocks all that the session has locked; what its transaction has locked stays.
    pub fn unlock_all(&mut self) {
        let names: Vec<Name> = self.held.keys().copied().collect();
        for name in names {
            if let Some(held) = self.held.get_mut(&name) {
                held.by_session = 0;
            }
            self.release_unneeded(name);
        }
    }

    /// A place to go back to.
    #[must_use]
    pub fn savepoint(&self) -> usize {
        self.transaction.len()
    }

    /// Lets go of what the transaction has locked since.
    pub fn rollback_to(&mut self, savepoint: usize) {
        while self.transaction.len() > savepoint {
            let Some(name) = self.transaction.pop() else { return };
            if let Some(held) = self.held.get_mut(&name) {
                held.by_transaction -= 1;
            }
            self.release_unneeded(name);
        }
    }

    /// The transaction has ended.
    #[inline]
    pub fn end_transaction(&mut self) {
        if !self.transaction.is_empty() {
            self.rollback_to(0);
        }
    }

    /// Hands what the transaction has locked over to `transaction`, which is going to be prepared. False, and nothing done,
    /// if the session itself has locked one of these names too.
    pub fn hand_over(&mut self, transaction: &mut Transaction) -> bool {
        let both = |key: AdvisoryKey| {
            let held = |shared| self.held.get(&(key, mode_of(shared)));
            [true, false].into_iter().filter_map(held).any(|held| held.by_session > 0)
        };
        if self.transaction.iter().any(|(key, _)| both(*key)) {
            return false;
        }
        let (Some(from), locks) = (self.owner, &self.manager.locks) else { return true };
        let state = transaction.state_mut();
        for ((_, mode), held) in self.held.extract_if(.., |_, held| held.by_transaction > 0) {
            let mut granted = Vec::new();
            let mut node = held.node.state();
            // The new holder first: nobody who waits comes in between.
            node.lock.adopt(state.owner, mode.bit());
            let left = node.lock.held(from) & !mode.bit();
            node.lock.release(Kind::Table, from, left, &mut |owner| granted.push(owner));
            drop(node);
            locks.wake(&granted);
            state.names.push(HeldName { node: held.node, mode });
        }
        self.transaction.clear();
        true
    }

    fn release_unneeded(&mut self, name: Name) {
        let Entry::Occupied(held) = self.held.entry(name) else { return };
        if held.get().by_session > 0 || held.get().by_transaction > 0 {
            return;
        }
        let owner = self.owner.expect("who holds a lock has an owner");
        self.manager.locks.unlock_name(owner, held.remove().node, name.1);
    }
}

impl Transaction {
    /// Takes an advisory lock that nobody can be in the way of: a prepared transaction's, after a restart.
    pub(crate) fn lock_name_again(&mut self, key: AdvisoryKey, mode: TableLock) -> Result<()> {
        let owner = self.state().owner;
        if let Some(node) = self.manager.locks.lock_name(owner, self.wait(), key, mode, false)? {
            self.state_mut().names.push(HeldName { node, mode });
        }
        Ok(())
    }
}

impl Drop for AdvisoryLocks {
    fn drop(&mut self) {
        self.end_transaction();
        self.unlock_all();
        if let Some(owner) = self.owner.take() {
            self.manager.give_session_owner(owner);
        }
    }
}

impl Manager {
    fn take_session_owner(&self, wait: &SessionWait) -> OwnerId {
        let free = lock(&self.session_owners).pop();
        let owner = free.unwrap_or_else(|| self.locks.owners.register());
        self.locks.owners.get(owner).serve(wait.pid, wait.number());
        owner
    }

    fn give_session_owner(&self, owner: OwnerId) {
        self.locks.owners.get(owner).serve(0, 0);
        lock(&self.session_owners).push(owner);
    }
}
