//! Hierarchical locks: PostgreSQL's eight table modes and four row modes, their queues, waits and deadlocks.
//!
//! A row's lock stands in its record node (where there are too many, in scratch space: [`spilled`]), a table's in its
//! owner's list or in the shared table, and what the schemes that lock reads have locked in a map by tree ([`range`]). Waiting is
//! the same for all: the owner stands in a queue, says in its place what it waits for, and rests in the environment's one wait
//! until it is granted, `lock_timeout` or the session's cancel ends it, or it finds itself in a deadlock.

pub mod advisory;
pub(crate) mod cycle;
pub mod deadlock;
pub mod ending;
pub mod mode;
pub mod partition;
pub mod queue;
pub mod range;
mod range_shards;
pub mod report;
#[cfg(test)]
mod scripts;
pub(crate) mod segments;
pub(crate) mod spans;
pub mod spilled;
pub mod table;
pub mod wait;

use crate::owner::{OwnerId, Owners, Waiting};
use crate::record::{NodeRef, RecordTable};
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::transaction::state::{HeldRow, HeldTable, State};
use crate::wait::SessionWait;
use crate::{ConflictKind, Error, Result, TableId, TreeId};
use deadlock::Search;
pub(crate) use mode::RowRequest;
pub use mode::{Modes, RowLock, TableLock};
use queue::{Kind, LockQueue, Request};
use report::LockWaitStage;
use spilled::{InTheWay, LockRun, Seen, SpilledLocks};
use storage::breakdown::{self, Class};
use storage::{Environment, Micros, WaitEvent};
use table::TableLocks;
use wait::{Limits, Outcome};

/// What to do where a lock is held by somebody else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WaitPolicy {
    /// Wait, at most `lock_timeout`.
    #[default]
    Block,
    /// NOWAIT: 55P03 at once.
    Error,
    /// SKIP LOCKED: say so, and go on.
    Skip,
}

/// The outcome of asking for a row lock.
#[derive(Debug)]
pub enum RowGrant {
    /// Granted now; the node's pin is the holder's. With the modes held before.
    Granted(NodeRef, Modes),
    /// It was held already.
    Held,
    /// SKIP LOCKED met a holder.
    Skipped,
}

/// Row locks that a transaction lets go of under one guard.
pub(crate) const UNLOCKED_AT_ONCE: usize = 64;

/// Locks of a transaction at most of which each is asked whether somebody waits for it.
const ASKED: usize = 64;

/// When who has to wait looks for a deadlock first.
#[derive(Clone, Copy)]
pub(crate) enum FirstSearch<'t> {
    /// As its wait begins: of those who read and then write the same most would wait for nothing, and so would who wants what
    /// another holds that waits for what it holds itself (the simple deadlock of PostgreSQL's `ProcSleep`).
    AtOnce,
    /// As its wait begins, if this says that somebody may wait for what it holds: the last one of a cycle begins to wait where somebody
    /// waits for it, and a thousand that want the same row and hold nothing need not look through each other.
    IfAwaited(&'t dyn Fn() -> bool),
    /// When it has lasted `deadlock_timeout`, as in PostgreSQL.
    AfterTimeout,
}

/// How a row lock is waited for.
#[derive(Clone, Copy)]
pub(crate) struct RowWait<'t> {
    /// Whether it is.
    pub(crate) policy: WaitPolicy,
    /// When a deadlock is looked for first.
    pub(crate) first: FirstSearch<'t>,
    /// Whether it may be waited for who has the row, where that is not everybody.
    pub(crate) rule: Option<range::Rule>,
}

impl FirstSearch<'_> {
    /// Of who waits in a queue in which there may be a simple deadlock.
    fn of(is_mutual: bool) -> Self {
        if is_mutual { FirstSearch::AtOnce } else { FirstSearch::AfterTimeout }
    }
}

/// Takes a waiter out of its queue, and tells who goes on because of it.
type Cancelling<'c> = dyn Fn(&mut dyn FnMut(OwnerId)) + 'c;

/// All locks of the instance.
#[derive(Debug)]
pub struct LockManager {
    pub(crate) env: Environment,
    pub(crate) owners: Owners,
    pub(crate) records: RecordTable,
    pub(crate) tables: TableLocks,
    pub(crate) spilled: SpilledLocks,
    pub(crate) ranges: range::RangeLocks,
    pub(crate) partitions: partition::PartitionLocks,
    endings: ending::Endings,
    detecting: Mutex<(), { rank::DETECTING }>,
    pub(crate) waits: AtomicU64,
    pub(crate) deadlocks: AtomicU64,
    /// The session that gives up what it does where somebody waits for it, and the reason that it is told.
    yielding: Mutex<Option<(Arc<SessionWait>, u32)>, { rank::WAITING }>,
}

impl LockManager {
    /// No locks; record nodes in `buckets` buckets.
    #[must_use]
    pub fn new(env: Environment, buckets: usize) -> LockManager {
        LockManager {
            owners: Owners::new(),
            records: RecordTable::new(buckets, env.seed),
            tables: TableLocks::new(),
            spilled: SpilledLocks::default(),
            ranges: range::RangeLocks::new(),
            partitions: partition::PartitionLocks::default(),
            endings: ending::Endings::default(),
            detecting: Mutex::new(()),
            waits: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            yielding: Mutex::default(),
            env,
        }
    }

    /// Locks a record. `own` are the locks that the owner has in scratch space.
    ///
    /// # Errors
    /// [`Error::Conflict`] where the rule says so; [`Error::Deadlock`], [`Error::LockNotAvailable`], [`Error::Cancelled`].
    #[inline]
    pub(crate) fn lock_row(
        &self,
        (owner, own): (OwnerId, &[Arc<LockRun>]),
        session: &SessionWait,
        (tree, key): (TreeId, &[u8]),
        request: RowRequest,
        how: RowWait<'_>,
    ) -> Result<RowGrant> {
        let _class = breakdown::enter(Class::Locking);
        // Where nobody has a node, whoever makes one makes it with the lock.
        let lock = || LockQueue::held_by(owner, request.bit());
        let (node, made) = self.records.pin_or_make(tree, key, lock);
        if made {
            // Asked behind that: a lock stands in scratch space before its node goes.
            if self.spilled.is_empty() || !self.spilled.may_have(tree, key) {
                return Ok(RowGrant::Granted(node, 0));
            }
            let mut granted = Vec::new();
            node.state().lock.release(Kind::Row, owner, 0, &mut |owner| granted.push(owner));
            self.wake(&granted);
        }
        self.lock_pinned(node, (owner, own), session, request, how)
    }

    /// Locks a record whose node has been pinned.
    #[inline(never)]
    fn lock_pinned(
        &self,
        node: NodeRef,
        (owner, own): (OwnerId, &[Arc<LockRun>]),
        session: &SessionWait,
        request: RowRequest,
        how: RowWait<'_>,
    ) -> Result<RowGrant> {
        let mode = request.number();
        let RowWait { policy, first, rule } = how;
        let mut passed = Vec::new();
        let mut seen: Option<Seen> = None;
        let before = loop {
            let mut state = node.state();
            let before = state.lock.held(owner);
            if request.covered_by(before) {
                drop(state);
                self.records.unpin(node);
                return Ok(RowGrant::Held);
            }
            if !self.spilled.is_empty() {
                let current = seen.as_ref().filter(|seen| seen.made == self.spilled.made());
                let Some(current) = current else {
                    drop(state);
                    seen = match self.spilled.look(owner, (node.tree(), node.key()), request) {
                        Ok(Seen { own: true, .. }) => {
                            self.records.unpin(node);
                            return Ok(RowGrant::Held);
                        }
                        Ok(seen) => Some(seen),
                        Err(error) => {
                            self.records.unpin(node);
                            return Err(error.into());
                        }
                    };
                    continue;
                };
                if policy == WaitPolicy::Block {
                    current.others.iter().for_each(|one| one.put_back(&node, &mut state));
                } else if current.others.iter().any(InTheWay::stands) {
                    break before;
                }
            }
            if let Request::Granted(before) = state.lock.request(Kind::Row, owner, mode) {
                drop(state);
                return Ok(RowGrant::Granted(node, before));
            }
            if policy == WaitPolicy::Block {
                let age = |owner| self.owners.get(owner).age();
                let may_wait = |holder| rule.map_or(Ok(()), |rule| rule(age(owner), age(holder)));
                let refused = state.lock.in_its_way(Kind::Row, owner, mode).try_for_each(may_wait);
                if let Err(reason) = refused {
                    drop(state);
                    self.records.unpin(node);
                    return Err(Error::Conflict(ConflictKind::ReadWrite(reason)));
                }
                let now = self.env.clock.wall();
                let mut grant = |owner| passed.push(owner);
                state.lock.enqueue(Kind::Row, owner, mode, now, &mut grant);
            }
            break before;
        };
        drop(seen);
        self.wake(&passed);
        match policy {
            WaitPolicy::Block => {}
            WaitPolicy::Error => {
                self.records.unpin(node);
                return Err(Error::LockNotAvailable { timeout: false });
            }
            WaitPolicy::Skip => {
                self.records.unpin(node);
                return Ok(RowGrant::Skipped);
            }
        }
        let waiting = Waiting::Row(node.unpinned());
        let granted = || !node.state().lock.is_waiting(owner);
        let cancel = |wake: &mut dyn FnMut(OwnerId)| {
            let mut state = node.state();
            let before = before | spilled::modes_back(own, &node);
            state.lock.abandon(Kind::Row, owner, before, wake);
        };
        let (event, waiting) = (WaitEvent::Tuple, (waiting, first));
        match self.wait(owner, session, event, waiting, &granted, &cancel) {
            Ok(()) => Ok(RowGrant::Granted(node, before)),
            Err(error) => {
                self.records.unpin(node);
                Err(error)
            }
        }
    }

    /// Leaves an owner with `modes` on a record, and what of `own`, its runs, stands there, and gives its pin back.
    pub fn unlock_row(
        &self,
        (owner, own): (OwnerId, &[Arc<LockRun>]),
        node: NodeRef,
        modes: Modes,
    ) {
        let mut granted = Vec::new();
        self.records.unpin_after(node, |node, state, _| {
            let modes = modes | spilled::modes_back(own, node);
            state.lock.release(Kind::Row, owner, modes, &mut |owner| granted.push(owner));
        });
        self.wake(&granted);
    }

    /// Lets go of the locks on several records, the last first, and gives their pins back.
    pub(crate) fn unlock_rows(&self, owner: OwnerId, rows: &mut Vec<HeldRow>) {
        let mut granted = Vec::new();
        while !rows.is_empty() {
            // What is retired meanwhile stays as long as the guard.
            let guard = crossbeam_epoch::pin();
            for held in rows.drain(rows.len().saturating_sub(UNLOCKED_AT_ONCE)..).rev() {
                self.records.unpin_under(&guard, held.node, |_, state, _| {
                    state.lock.release(Kind::Row, owner, 0, &mut |owner| granted.push(owner));
                });
                self.wake(&granted);
                granted.clear();
            }
        }
    }

    /// Locks a table in a mode that is not held yet; false if somebody has it and `policy` skips.
    ///
    /// # Errors
    /// As [`LockManager::lock_row`].
    #[inline]
    pub fn lock_table(
        &self,
        owner: OwnerId,
        session: &SessionWait,
        table: TableId,
        mode: TableLock,
        policy: WaitPolicy,
    ) -> Result<bool> {
        let _class = breakdown::enter(Class::Locking);
        if self.tables.intend(&self.owners, owner, table, mode) {
            return Ok(true);
        }
        self.ask_for_table(owner, session, (table, mode), policy)
    }

    /// Locks a table in a mode that is no intention, or with somebody there who has asked for one that is none.
    #[inline(never)]
    fn ask_for_table(
        &self,
        owner: OwnerId,
        session: &SessionWait,
        (table, mode): (TableId, TableLock),
        policy: WaitPolicy,
    ) -> Result<bool> {
        let since = (policy == WaitPolicy::Block).then(|| self.env.clock.wall());
        let mut passed = Vec::new();
        let mut grant = |owner| passed.push(owner);
        if self.tables.request(&self.owners, owner, (table, mode), since, &mut grant) {
            return Ok(true);
        }
        self.wake(&passed);
        match policy {
            WaitPolicy::Block => {}
            WaitPolicy::Error => return Err(Error::LockNotAvailable { timeout: false }),
            WaitPolicy::Skip => return Ok(false),
        }
        let waiting = Waiting::Table(table, mode);
        let granted = || self.tables.is_granted(owner, table);
        let cancel = |wake: &mut dyn FnMut(OwnerId)| {
            if !self.tables.cancel(owner, table, mode, wake) {
                self.tables.release(&self.owners, owner, table, mode.bit(), wake);
            }
        };
        let first = FirstSearch::of(self.tables.is_mutual(owner, table));
        let waiting = (waiting, first);
        self.wait(owner, session, WaitEvent::Relation, waiting, &granted, &cancel)?;
        Ok(true)
    }

    /// Lets go of all locks on tables.
    pub(crate) fn unlock_tables(&self, owner: OwnerId, held: &mut Vec<HeldTable>) {
        if held.is_empty() {
            return;
        }
        let gone = |held: &HeldTable| (held.table, held.after & !held.before);
        self.tables.release_intents(&self.owners, owner, held, gone);
        while let Some((table, gone)) = held.pop().as_ref().map(gone) {
            self.unlock_table(owner, table, gone);
        }
    }

    /// Takes `gone` modes on a table away.
    pub fn unlock_table(&self, owner: OwnerId, table: TableId, gone: Modes) {
        let mut granted = Vec::new();
        let mut grant = |owner| granted.push(owner);
        self.tables.release(&self.owners, owner, table, gone, &mut grant);
        self.wake(&granted);
    }

    /// Whether somebody waits for a row or a table that a transaction has locked. If it has locked many, somebody may.
    pub(crate) fn may_be_awaited(&self, held: &State) -> bool {
        let State { rows, lock_runs, tables, .. } = held;
        !lock_runs.is_empty()
            || rows.len() + tables.len() > ASKED
            || rows.iter().any(|row| row.node.state().lock.waiters().next().is_some())
            || tables.iter().any(|held| self.tables.is_awaited(held.table))
    }

    /// Another session gives up what it does where somebody waits for it.
    pub(crate) fn set_yielding(&self, session: Option<(Arc<SessionWait>, u32)>) {
        *lock(&self.yielding) = session;
    }

    /// Has the session that yields give up what it does, if it is among those whom `waiter` waits for (`ProcSleep`).
    fn ask_to_yield(&self, waiter: OwnerId) {
        let Some((session, reason)) = lock(&self.yielding).clone() else { return };
        let mut blocks = false;
        crate::introspect::blockers(self, waiter, &mut |blocker| {
            blocks |= self.owners.get(blocker).pid() == session.pid;
        });
        if blocks {
            self.env.raise(&session.cancel, reason);
        }
    }

    fn wake(&self, granted: &[OwnerId]) {
        for owner in granted {
            self.env.wake(&self.owners.get(*owner).cell);
        }
    }

    /// Rests until `granted`. Otherwise `cancel` takes the owner out of its queue again.
    fn wait(
        &self,
        owner: OwnerId,
        session: &SessionWait,
        event: WaitEvent,
        (waiting, first): (Waiting, FirstSearch<'_>),
        granted: &dyn Fn() -> bool,
        cancel: &Cancelling<'_>,
    ) -> Result<()> {
        self.waits.fetch_add(1, Ordering::Relaxed);
        let place = self.owners.get(owner);
        place.begin_wait(waiting, self.env.clock.wall());
        // Asked behind that: of those who come to wait for one another the last finds that it is waited for.
        let at_once = match first {
            FirstSearch::AtOnce => true,
            FirstSearch::IfAwaited(is_awaited) => is_awaited(),
            FirstSearch::AfterTimeout => false,
        };
        let begun = self.env.clock.now();
        let after = |span_ms: u32| begun.plus(Micros(u64::from(span_ms) * 1000));
        let lock_timeout = session.lock_timeout_ms.load(Ordering::Relaxed);
        let give_up = (lock_timeout > 0).then(|| after(lock_timeout));
        let deadlock_timeout = session.deadlock_timeout_ms.load(Ordering::Relaxed).max(1);
        let again = Micros(u64::from(deadlock_timeout) * 1000);
        // Who looks at once may look before the cycle has closed: once more when others look.
        let early = std::cell::Cell::new(at_once);
        let look = if at_once { begun } else { after(deadlock_timeout) };
        let limits = Limits { give_up, look: Some(look), again };
        let waited = || Micros(self.env.clock.now().0.saturating_sub(begun.0));
        let mut told = None;
        let mut others = Vec::new();
        let outcome = wait::until_granted(
            limits,
            granted,
            &|| self.env.clock.now(),
            &mut |deadline| session.rest(&self.env, event, &place.cell, deadline),
            &mut || {
                let is_early = early.replace(false);
                let logs = session.log_lock_waits.load(Ordering::Relaxed);
                let logs = logs && told.is_none() && !is_early;
                let wait = if logs { report::of(self, owner, waited()) } else { None };
                let search = deadlock::find(self, owner, &mut || {
                    cancel(&mut |owner| others.push(owner));
                });
                if is_early && matches!(search, Search::Nothing) {
                    return Search::Unsure;
                }
                self.ask_to_yield(owner);
                if let Some(mut wait) = wait {
                    if matches!(search, Search::Cycle(_)) {
                        wait.stage = LockWaitStage::Deadlock;
                    }
                    session.tell(&wait);
                    told = Some(wait);
                }
                search
            },
        );
        session.waited(waited());
        let left = matches!(outcome, Outcome::Deadlock(_));
        let failed = match outcome {
            Outcome::Granted => {
                if let Some(wait) = told {
                    let (stage, waited) = (LockWaitStage::Acquired, waited());
                    session.tell(&report::LockWait { stage, waited, ..wait });
                }
                None
            }
            Outcome::Cancelled => {
                Some(Error::Cancelled(session.cancel.requested().unwrap_or_default()))
            }
            Outcome::TimedOut => Some(Error::LockNotAvailable { timeout: true }),
            Outcome::Deadlock(edges) => {
                self.deadlocks.fetch_add(1, Ordering::Relaxed);
                Some(Error::Deadlock(edges))
            }
        };
        place.end_wait();
        let Some(error) = failed else { return Ok(()) };
        if !left {
            cancel(&mut |owner| others.push(owner));
        }
        self.wake(&others);
        Err(error)
    }
}
