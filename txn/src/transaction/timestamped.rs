//! A transaction under timestamp ordering: the stamps that its reads leave, the marks of its writes, and who is too late.
//!
//! The scheme and its invariants: `scheme/timestamp/mod.rs`. As under two-phase locking the tree that the layer above keeps its own
//! objects in is no part of it (`Options::unwatched`).

use super::{Beside, ReadView, Transaction};
use crate::lock::range::{Asking, RangeGrant, RangeMode, Rule, Span};
use crate::lock::segments::Edge;
use crate::lock::{RowLock, WaitPolicy};
use crate::planted::Fault;
use crate::scheme::Tracking;
use crate::scheme::occ::Bounds;
use crate::scheme::timestamp::{
    Overwritten, Stamp, Stamped, is_in_time, may_pass, may_share, may_wait, sees,
};
use crate::{ConflictKind, Error, Lsn, Reason, Result, Timestamp, TreeId};
use std::sync::Arc;
use storage::Tree;
use storage::breakdown::{self, Class};

fn too_late<T>(reason: Reason) -> Result<T> {
    Err(Error::Conflict(ConflictKind::ReadWrite(reason)))
}

impl Transaction {
    /// Begins to be one of them.
    pub(super) fn begin_stamped(&mut self, overwritten: Overwritten) {
        if self.stamped().is_none() {
            self.tracking = Some(Box::new(Tracking::Stamped(Stamped::new(overwritten))));
        }
    }

    /// Whether it is one of them.
    pub(super) fn is_stamped(&self) -> bool {
        self.stamped().is_some()
    }

    fn stamped(&self) -> Option<&Stamped> {
        match self.tracking.as_deref() {
            Some(Tracking::Stamped(stamped)) => Some(stamped),
            _ => None,
        }
    }

    /// Takes its place in the order, and its snapshot.
    pub(super) fn stamped_snapshot(&mut self) -> Result<Lsn> {
        loop {
            self.wait_for_seen()?;
            let manager = Arc::clone(&self.manager);
            let owner = self.state().owner;
            let place = manager.locks.owners.get(owner);
            let above = |floor| manager.timestamp_after(floor);
            let begun = manager.order.begin(owner, above, || {
                // Whose transaction has ended before is seen, or nobody would know when it was.
                let seen = manager.visible() >= manager.slots.shown();
                // As one that needs another besides: it may read any version above its snapshot.
                seen.then(|| place.announce(Some(Lsn::MAX), || manager.visible()))
            });
            let Some((at, snapshot)) = begun else { continue };
            place.set_age(at.0);
            if let Some(Tracking::Stamped(stamped)) = self.tracking.as_deref_mut() {
                stamped.at = Some(at);
                self.stamp = Some(Stamp { at, overwritten: stamped.overwritten });
            }
            return Ok(snapshot);
        }
    }

    /// Its place in the order, which it takes now if it has none.
    fn place(&mut self) -> Result<Timestamp> {
        if self.stamp.is_none() {
            self.snapshot = Some(self.stamped_snapshot()?);
        }
        Ok(self.stamp.map(|stamp| stamp.at).unwrap_or_default())
    }

    /// For whom it may wait that has a row which it only shares: who changes one has been asked about its mark.
    pub(super) fn rule_of_sharing(&self, tree: TreeId, mode: RowLock) -> Option<Rule> {
        let shares = matches!(mode, RowLock::KeyShare | RowLock::Share) && self.stamps(tree);
        shares.then_some(may_share as Rule)
    }

    /// Whether a tree is watched by timestamps.
    fn stamps(&self, tree: TreeId) -> bool {
        self.stamped().is_some() && self.manager.options.unwatched != Some(tree)
    }

    /// By which view a read of `view` is done: one of the latest state keeps to the transaction's place, and is refused where a
    /// younger one has been there.
    pub(super) fn by_place(&self, view: &ReadView, tree: TreeId) -> ReadView {
        match (self.stamp, self.snapshot) {
            (Some(stamp), Some(snapshot)) if view.snapshot == Lsn::MAX && self.stamps(tree) => {
                let stamp = Stamp { overwritten: Overwritten::Refused, ..stamp };
                ReadView { snapshot, beside: Beside::Place(stamp), ..*view }
            }
            _ => *view,
        }
    }

    /// Whether a view shows the commit at `lsn`, which is above its snapshot.
    #[cold]
    pub(super) fn shows_above(&self, stamp: Stamp, lsn: Lsn) -> bool {
        self.manager.order.is_before(lsn, stamp.at)
    }

    /// A page has a record that a view does not show: whether what was there before may be read.
    #[inline]
    pub(super) fn may_read_older(&self, view: &ReadView, tree: TreeId) -> Result<()> {
        match view.stamp() {
            Some(Stamp { overwritten, .. }) if self.stamps(tree) => {
                overwritten.read().or_else(too_late)
            }
            _ => Ok(()),
        }
    }

    /// A tree that a younger transaction has built has none of the stamps and marks of the one it stands for.
    fn demand_older(&self, tree: &Tree, reason: Reason) -> Result<()> {
        let (Some(stamp), Some(snapshot)) = (self.stamp, self.snapshot) else { return Ok(()) };
        let birth = tree.birth();
        if birth > snapshot && !self.manager.order.is_before(birth, stamp.at) {
            return too_late(reason);
        }
        Ok(())
    }

    /// Before a key is read: stamps it, and waits for older ones that have marked it. Whether that has taken a wait.
    pub(super) fn stamp_to_read(&mut self, tree: &Tree, key: &[u8]) -> Result<bool> {
        if !self.stamps(tree.id()) {
            return Ok(false);
        }
        let at = self.place()?;
        self.demand_older(tree, Reason::ReadTooLate)?;
        self.leave_stamp(tree.id(), key, at);
        self.pass_older(tree.id(), Span::Key(key.into()), WaitPolicy::Block)
            .map(|grant| grant == RangeGrant::Waited)
    }

    fn leave_stamp(&self, tree: TreeId, key: &[u8], at: Timestamp) {
        let _class = breakdown::enter(Class::Locking);
        let manager = &*self.manager;
        if !manager.planted(Fault::ReadNotStamped) {
            manager.read_stamps.key((tree, key), at, manager.order.oldest());
        }
    }

    /// Before a range is read: the whole of it, however far the scan will come.
    pub(super) fn stamp_to_scan(
        &mut self,
        tree: &Tree,
        (low, high): Bounds<'_>,
        policy: WaitPolicy,
    ) -> Result<()> {
        if !self.stamps(tree.id()) {
            return Ok(());
        }
        let at = self.place()?;
        self.demand_older(tree, Reason::ReadTooLate)?;
        let (low, high) = (Edge::low(low), Edge::high(high));
        let manager = &*self.manager;
        if !manager.planted(Fault::ReadNotStamped) {
            manager.read_stamps.range(tree.id(), (&low, &high), at, manager.order.oldest());
        }
        self.pass_older(tree.id(), Span::Range(low, high), policy)?;
        Ok(())
    }

    fn pass_older(&mut self, tree: TreeId, span: Span, policy: WaitPolicy) -> Result<RangeGrant> {
        self.ask((tree, span, RangeMode::Passing), may_pass, policy)
    }

    fn ask(
        &mut self,
        wanted: (TreeId, Span, RangeMode),
        rule: Rule,
        policy: WaitPolicy,
    ) -> Result<RangeGrant> {
        let Transaction { manager, state, tracking, wait, .. } = self;
        let Some(Tracking::Stamped(stamped)) = tracking.as_deref_mut() else {
            return Ok(RangeGrant::Held);
        };
        let owner = state.as_ref().expect("the transaction has not ended").owner;
        let limit = manager.options.write_set_bytes_max;
        let asking = Asking { owner, session: wait, rule, policy };
        manager.locks.lock_range(asking, &mut stamped.held, wanted, limit)
    }

    /// Before a row, or a key that may become one, is read or locked; false if it was skipped.
    pub(super) fn stamp_to_lock(
        &mut self,
        tree: &Tree,
        key: &[u8],
        mode: RowLock,
        policy: WaitPolicy,
    ) -> Result<bool> {
        match mode {
            RowLock::NoKeyUpdate | RowLock::Update => self.mark_to_write(tree, key, policy),
            RowLock::KeyShare | RowLock::Share => {
                if !self.stamps(tree.id()) {
                    return Ok(true);
                }
                let at = self.place()?;
                self.demand_older(tree, Reason::ReadTooLate)?;
                self.leave_stamp(tree.id(), key, at);
                let grant = self.pass_older(tree.id(), Span::Key(key.into()), policy)?;
                Ok(grant != RangeGrant::Skipped)
            }
        }
    }

    /// Before a key is written: marks it, and makes sure that no younger one has read or written it. False if it was skipped: who
    /// skips what others have locked skips what a younger one has written as well.
    pub(super) fn mark_to_write(
        &mut self,
        tree: &Tree,
        key: &[u8],
        policy: WaitPolicy,
    ) -> Result<bool> {
        if !self.stamps(tree.id()) {
            return Ok(true);
        }
        let at = self.place()?;
        if self.stamped().is_some_and(|stamped| stamped.held.has_key(tree.id(), key)) {
            return Ok(true);
        }
        self.demand_older(tree, Reason::WriteTooLate)?;
        let mark = (tree.id(), Span::Key(key.into()), RangeMode::Exclusive);
        if self.ask(mark, may_wait, policy)? == RangeGrant::Skipped {
            return Ok(false);
        }
        if policy == WaitPolicy::Skip {
            let seen = self.sees_newest(tree, key, at);
            if !matches!(seen, Ok(true)) {
                self.unmark(tree.id(), key);
                return seen;
            }
        }
        // What it may find there counts as read, whether it will write or not; but not while it waits, or of those who wait for
        // the mark all but the youngest would be too late. Until now nobody older could have come by: the mark was in the way.
        self.leave_stamp(tree.id(), key, at);
        let in_time = self.is_in_time(tree, key, at);
        if !matches!(in_time, Ok(true)) {
            self.unmark(tree.id(), key);
        }
        if in_time? { Ok(true) } else { too_late(Reason::WriteTooLate) }
    }

    /// Takes a mark back: a key is not marked for what may come after a rollback to a savepoint.
    fn unmark(&mut self, tree: TreeId, key: &[u8]) {
        let Transaction { manager, state, tracking, .. } = self;
        if let (Some(Tracking::Stamped(stamped)), Some(state)) = (tracking.as_deref_mut(), state) {
            manager.locks.unlock_key(state.owner, &mut stamped.held, (tree, key));
        }
    }

    /// Whether no younger one has read or written a key that is marked.
    fn is_in_time(&mut self, tree: &Tree, key: &[u8], at: Timestamp) -> Result<bool> {
        let read = self.manager.read_stamps.of(tree.id(), key);
        is_in_time(at, read, || self.sees_newest(tree, key, at))
    }

    /// Whether what has been committed last of a key is of no younger one.
    fn sees_newest(&mut self, tree: &Tree, key: &[u8], at: Timestamp) -> Result<bool> {
        let newest = self.newest_version(tree, key)?;
        let is_older = || self.manager.order.is_before(newest, at);
        Ok(self.snapshot.is_none_or(|snapshot| sees(snapshot, newest, is_older)))
    }
}
