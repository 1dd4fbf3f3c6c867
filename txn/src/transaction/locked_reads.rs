//! A transaction under two-phase locking: what it locks before it reads or writes, and that it keeps all of it to its end.
//!
//! The scheme and its invariants: `scheme/locking/mod.rs`. The tree that the layer above keeps its own objects in, for all databases,
//! is no part of any scheme (`Options::unwatched`): there row locks and the latest state decide, as everywhere.

use super::partitioned::Of;
use super::{Purpose, Transaction};
use crate::lock::range::{Asking, RangeGrant, RangeMode, Span};
use crate::lock::segments::Edge;
use crate::lock::{RowLock, WaitPolicy};
use crate::planted::Fault;
use crate::scheme::Tracking;
use crate::scheme::locking::{Locks, OnConflict};
use crate::scheme::occ::Bounds;
use crate::{ConflictKind, Error, Reason, Result, Timestamp, TreeId};
use std::sync::atomic::Ordering;
use storage::Tree;
use storage::breakdown::{self, Class};

impl Transaction {
    /// Begins to lock what it reads. One whose session's last transaction died has the age of that.
    pub(super) fn begin_locking(&mut self, on_conflict: OnConflict) {
        let age = match self.wait.died_at.swap(0, Ordering::Relaxed) {
            0 => self.manager.timestamp_after(Timestamp::default()).0,
            again => again,
        };
        self.manager.locks.owners.get(self.state().owner).set_age(age);
        self.tracking = Some(Box::new(Tracking::Locking(Locks::new(on_conflict))));
    }

    /// Whether it locks what it reads.
    pub(crate) fn locks_reads(&self) -> bool {
        matches!(self.tracking.as_deref(), Some(Tracking::Locking(_)))
    }

    /// Before a record is read; false if it was skipped. One that is to be locked next is asked for as that.
    #[inline(never)]
    pub(super) fn ask_to_read(
        &mut self,
        tree: &Tree,
        key: &[u8],
        purpose: Purpose,
    ) -> Result<bool> {
        let _class = breakdown::enter(Class::Locking);
        match purpose {
            Purpose::Lock(mode, policy) => self.ask_to_lock(tree, key, mode, policy),
            Purpose::Way(policy) => self.ask_to_lock(tree, key, RowLock::Share, policy),
            Purpose::Look | Purpose::Claim => {
                self.ask_to_lock(tree, key, RowLock::Share, WaitPolicy::Block)
            }
        }
    }

    /// Before a range is read: the whole of it, however far the scan will come.
    #[inline(never)]
    pub(super) fn ask_to_scan(
        &mut self,
        tree: &Tree,
        bounds: Bounds<'_>,
        policy: WaitPolicy,
    ) -> Result<()> {
        let _class = breakdown::enter(Class::Locking);
        if self.is_stamped() {
            self.stamp_to_scan(tree, bounds, policy)
        } else if self.is_partitioned() {
            self.enter(tree.id(), Of::Range(bounds), policy).map(|_| ())
        } else {
            self.lock_to_scan(tree.id(), bounds, policy)
        }
    }

    fn lock_to_scan(
        &mut self,
        tree: TreeId,
        (low, high): Bounds<'_>,
        policy: WaitPolicy,
    ) -> Result<()> {
        if self.locks_reads() && !self.manager.planted(Fault::ReadRangeNotLocked) {
            let span = Span::Range(Edge::low(low), Edge::high(high));
            self.lock_span(tree, span, RangeMode::Shared, policy)?;
        }
        Ok(())
    }

    /// Before a row, or a key that may become one, is read or locked; false if it was skipped.
    #[inline(never)]
    pub(super) fn ask_to_lock(
        &mut self,
        tree: &Tree,
        key: &[u8],
        mode: RowLock,
        policy: WaitPolicy,
    ) -> Result<bool> {
        if self.is_stamped() {
            return self.stamp_to_lock(tree, key, mode, policy);
        }
        if self.is_partitioned() {
            return self.enter(tree.id(), Of::Key(key), policy);
        }
        if !self.locks_reads() {
            return Ok(true);
        }
        let mode = match mode {
            RowLock::KeyShare | RowLock::Share => RangeMode::Shared,
            RowLock::NoKeyUpdate | RowLock::Update => RangeMode::Exclusive,
        };
        Ok(self.lock_span(tree.id(), Span::Key(key.into()), mode, policy)? != RangeGrant::Skipped)
    }

    /// Before a key is written.
    pub(super) fn lock_to_write(&mut self, tree: TreeId, key: &[u8]) -> Result<()> {
        self.lock_span(tree, Span::Key(key.into()), RangeMode::Exclusive, WaitPolicy::Block)?;
        Ok(())
    }

    /// Locks a key to read it; whether that has taken a wait.
    pub(super) fn wait_to_read(&mut self, tree: TreeId, key: &[u8]) -> Result<bool> {
        let span = Span::Key(key.into());
        let grant = self.lock_span(tree, span, RangeMode::Shared, WaitPolicy::Block)?;
        Ok(grant == RangeGrant::Waited)
    }

    fn lock_span(
        &mut self,
        tree: TreeId,
        span: Span,
        mode: RangeMode,
        policy: WaitPolicy,
    ) -> Result<RangeGrant> {
        let Transaction { manager, state, tracking, wait, .. } = self;
        let options = &manager.options;
        let Some(locks) = tracking.as_deref_mut().and_then(Tracking::locking_mut) else {
            return Ok(RangeGrant::Held);
        };
        if options.unwatched == Some(tree) {
            return Ok(RangeGrant::Held);
        }
        let owner = state.as_ref().expect("the transaction has not ended").owner;
        let asking = Asking { owner, session: wait, rule: locks.on_conflict.rule(), policy };
        let limit = match mode {
            RangeMode::Passing | RangeMode::Shared => options.read_set_bytes_max,
            RangeMode::Exclusive => options.write_set_bytes_max,
        };
        let granted = manager.locks.lock_range(asking, &mut locks.held, (tree, span, mode), limit);
        if let Err(Error::Conflict(ConflictKind::ReadWrite(Reason::Died))) = &granted {
            wait.died_at.store(manager.locks.owners.get(owner).age(), Ordering::Relaxed);
        }
        granted
    }
}
