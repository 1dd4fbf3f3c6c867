//! A transaction before its scheme: what it tells of its snapshot, its reads, its writes and its end.
//!
//! Each of these is called where [`Transaction::tracking`] is there, which one branch finds out.

use super::partitioned::Of;
use super::state::State;
use super::{ReadView, Transaction};
use crate::lock::WaitPolicy;
use crate::scheme::occ::{Bounds, RangeId, ReadSet};
use crate::scheme::ssi::{Inner, Part, Read};
use crate::scheme::{SchemeKind, Tracking};
use crate::{Begin, CommandId, Error, Isolation, Result, TreeId};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use storage::breakdown::{self, Class};
use storage::{Direction, Lsn, ReadToken, Tree, WaitCell, WaitEvent, Woken};

impl Transaction {
    /// Has its scheme watch it, where `begin` needs that.
    pub(super) fn track(&mut self, begin: &Begin) {
        if let SchemeKind::Locking(on_conflict) = begin.scheme {
            if !self.locks_reads() {
                self.begin_locking(on_conflict);
            }
            return;
        }
        if let SchemeKind::Timestamp(overwritten) = begin.scheme {
            return self.begin_stamped(overwritten);
        }
        if begin.scheme == SchemeKind::Hstore {
            return self.begin_partitioned();
        }
        if self.level != Isolation::Serializable {
            self.tracking = None;
            return;
        }
        match begin.scheme {
            SchemeKind::Mvcc | SchemeKind::Ssi
                if self.tracking.is_none() && self.snapshot.is_none() =>
            {
                self.tracking = Some(Box::new(Tracking::Ssi(Part::default())));
            }
            // What has been read stays, where only the access mode changes.
            SchemeKind::Occ if self.tracking.is_none() && !begin.read_only => {
                // From here on every commit shares its writes with those who validate.
                if !self.manager.validating.load(Ordering::Relaxed) {
                    self.manager.validating.store(true, Ordering::SeqCst);
                }
                self.tracking = Some(Box::new(Tracking::Occ(ReadSet::default())));
            }
            SchemeKind::Mvcc
            | SchemeKind::Ssi
            | SchemeKind::Occ
            | SchemeKind::Locking(_)
            | SchemeKind::Timestamp(_)
            | SchemeKind::Hstore => {}
        }
    }

    /// Takes the snapshot of a transaction that is watched; what its statement sees.
    #[cold]
    pub(super) fn tracked_snapshot(&mut self) -> Result<Lsn> {
        let snapshot = match self.is_stamped() {
            true => self.stamped_snapshot()?,
            false => self.announce_tracked()?,
        };
        self.snapshot = Some(snapshot);
        // The latest state is read under locks; the snapshot is for what takes none.
        let latest = self.locks_reads() || self.is_partitioned();
        Ok(if latest { Lsn::MAX } else { snapshot })
    }

    fn announce_tracked(&mut self) -> Result<Lsn> {
        loop {
            self.wait_for_seen()?;
            let Some(Tracking::Ssi(_)) = self.tracking.as_deref() else {
                return Ok(self.announce());
            };
            let manager = Arc::clone(&self.manager);
            let mut inner = manager.ssi.lock();
            // Who has ended before is seen, or its place in the order would say so in vain.
            if manager.visible() < manager.slots.shown() {
                continue;
            }
            let snapshot = self.announce();
            let who = (self.id, self.wait.pid);
            let Begin { read_only, deferrable, .. } = self.begin;
            let Some(Tracking::Ssi(part)) = self.tracking.as_deref_mut() else { continue };
            if !part.begin(&mut inner, who, (snapshot, None), read_only) {
                self.tracking = None;
                return Ok(snapshot);
            }
            if !(read_only && deferrable) {
                return Ok(snapshot);
            }
            let cell = Arc::new(WaitCell::new());
            part.wait_on(&mut inner, Some(Arc::clone(&cell)));
            drop(inner);
            let safe = self.wait_for_safety(&cell)?;
            let mut inner = manager.ssi.lock();
            let Some(Tracking::Ssi(part)) = self.tracking.as_deref_mut() else { continue };
            part.wait_on(&mut inner, None);
            if safe {
                self.tracking = None;
                return Ok(snapshot);
            }
            part.withdraw(&manager.ssi, &mut inner);
        }
    }

    /// Waits until it is known whether the snapshot is safe: whether one that only reads by it needs to know of nobody.
    fn wait_for_safety(&self, cell: &Arc<WaitCell>) -> Result<bool> {
        loop {
            if let Some(Tracking::Ssi(part)) = self.tracking.as_deref()
                && let Some(safe) = part.is_safe()
            {
                return Ok(safe);
            }
            let woken = self.wait.rest(&self.manager.env, WaitEvent::SafeSnapshot, cell, None);
            if woken == Woken::Cancelled {
                let reason = self.wait.cancel.requested().unwrap_or_default();
                return Err(Error::Cancelled(reason));
            }
        }
    }

    /// Whether it is one that `ssi` is to know of.
    pub(crate) fn is_in_ssi(&self) -> bool {
        matches!(self.tracking.as_deref(), Some(Tracking::Ssi(_)))
    }

    /// Takes a place for a snapshot that another transaction has announced, and still does.
    pub(super) fn track_imported(&mut self, places: &mut Inner, snapshot: Lsn) {
        let who = (self.id, self.wait.pid);
        let read_only = self.begin.read_only;
        let Some(Tracking::Ssi(part)) = self.tracking.as_deref_mut() else { return };
        let as_of = places.graph.with_snapshot(snapshot);
        if !part.begin(places, who, (snapshot, as_of), read_only) {
            self.tracking = None;
        }
    }

    /// Notes that a key was looked for, as the page had it.
    #[cold]
    pub(super) fn note_point(
        &mut self,
        view: &ReadView,
        (tree, key): (TreeId, &[u8]),
        found: Option<Lsn>,
        token: ReadToken,
    ) -> Result<()> {
        // What is read as the latest state is locked by whoever asks for it.
        if view.snapshot == Lsn::MAX {
            return Ok(());
        }
        let _class = breakdown::enter(Class::Locking);
        let limit = self.manager.options.read_set_bytes_max;
        match self.tracking.as_deref_mut() {
            Some(Tracking::Ssi(part)) => part.reads(&self.manager.ssi, tree, key, limit),
            Some(Tracking::Occ(reads)) => {
                reads.point(view.snapshot, (tree, key), found, token);
                self.bound_reads(tree)
            }
            Some(Tracking::Locking(_) | Tracking::Stamped(_) | Tracking::Partitioned(_)) | None => {
                Ok(())
            }
        }
    }

    /// Whether a row that was found in passing may be taken as the commit at `lsn` has left it, which was not visible then. What keeps
    /// to a snapshot takes none from behind it, and what has a place none of younger ones: such rows are left out.
    pub(super) fn may_follow(&self, lsn: Lsn) -> bool {
        match self.tracking.as_deref() {
            Some(Tracking::Stamped(_)) => {
                self.stamp.is_some_and(|stamp| self.shows_above(stamp, lsn))
            }
            Some(Tracking::Occ(_)) => false,
            Some(Tracking::Ssi(_) | Tracking::Locking(_) | Tracking::Partitioned(_)) | None => true,
        }
    }

    /// Begins to note what a scan reads.
    #[cold]
    pub(super) fn note_scan(
        &mut self,
        view: &ReadView,
        tree: TreeId,
        bounds: Bounds<'_>,
        (direction, token): (Direction, ReadToken),
    ) -> Result<Option<RangeId>> {
        let _class = breakdown::enter(Class::Locking);
        let command = self.command;
        let latest = view.snapshot == Lsn::MAX;
        match self.tracking.as_deref_mut() {
            Some(Tracking::Ssi(_)) if latest => Ok(None),
            Some(Tracking::Ssi(part)) => part.scans(tree, bounds, direction),
            Some(Tracking::Occ(reads)) if latest => {
                reads.latest(command, tree, bounds);
                Ok(None)
            }
            Some(Tracking::Occ(reads)) => {
                let id = reads.begin_range(tree, bounds, direction, token);
                self.bound_reads(tree)?;
                Ok(id)
            }
            Some(Tracking::Locking(_) | Tracking::Stamped(_) | Tracking::Partitioned(_)) | None => {
                Ok(None)
            }
        }
    }

    /// Notes how far a scan has come: to a key, having read so far, or (no key) to its end.
    pub(super) fn note_reached(
        &mut self,
        id: RangeId,
        (key, read): (Option<&[u8]>, Read<'_>),
        bounds: Bounds<'_>,
    ) -> Result<()> {
        let _class = breakdown::enter(Class::Locking);
        let limit = self.manager.options.read_set_bytes_max;
        match (self.tracking.as_deref_mut(), key) {
            (Some(Tracking::Ssi(part)), _) => {
                part.reached(&self.manager.ssi, id, (key, read), limit)?;
            }
            (Some(Tracking::Occ(reads)), Some(key)) => reads.reached(id, key),
            (Some(Tracking::Occ(reads)), None) => reads.ended(id, bounds),
            (
                Some(Tracking::Locking(_) | Tracking::Stamped(_) | Tracking::Partitioned(_)) | None,
                _,
            ) => {}
        }
        Ok(())
    }

    /// Notes a write.
    #[cold]
    pub(super) fn note_write(&mut self, tree: &Tree, key: &[u8]) -> Result<()> {
        let _class = breakdown::enter(Class::Locking);
        let (command, limit) = (self.command, self.manager.options.write_set_bytes_max);
        if self.is_loading(tree.id()) {
            return self.replaces(tree.id());
        }
        if self.is_partitioned() {
            return self.enter(tree.id(), Of::Written(key), WaitPolicy::Block).map(|_| ());
        }
        if self.locks_reads() {
            return self.lock_to_write(tree.id(), key);
        }
        if self.is_stamped() {
            return self.mark_to_write(tree, key, WaitPolicy::Block).map(|_| ());
        }
        let Some(Tracking::Ssi(_)) = self.tracking.as_deref() else { return Ok(()) };
        // Of what is locked, as this is, no commit is on its way to the page.
        let State { kept, leaves, .. } = self.state_mut();
        let known = match kept.base(tree.id(), key) {
            Some(base) => Some(base.lsn()),
            None => tree.is_in_gap(key, leaves.gap(tree.id())).then_some(Lsn::ZERO),
        };
        let version = match known {
            Some(version) => version,
            None => self.newest_version(tree, key)?,
        };
        let Some(Tracking::Ssi(part)) = self.tracking.as_deref_mut() else { return Ok(()) };
        part.writes(&self.manager.ssi, (tree.id(), key), version, (command, limit))
    }

    /// Whether a row that was read is kept for who locks, reads or writes it next. Other schemes want to be asked for each of these.
    #[inline]
    pub(super) fn keeps_rows(&self) -> bool {
        matches!(self.tracking.as_deref(), None | Some(Tracking::Ssi(_)))
    }

    /// The commit of a record's newest version; zero where there is none.
    pub(super) fn newest_version(&mut self, tree: &Tree, key: &[u8]) -> Result<Lsn> {
        // The list before the page: a commit that has left the list is on the page.
        let late = self.manager.late.list();
        let State { scratch, spilled, .. } = self.state_mut();
        let found = tree.get(key, scratch)?;
        let mut newest = if found { scratch.lsn() } else { Lsn::ZERO };
        for commit in late.iter().flat_map(|list| list.iter()) {
            let mut wrote = false;
            let all = CommandId(u32::MAX);
            wrote |= commit.writes.look_up((tree.id(), key), all, spilled, |_| ())?;
            if wrote {
                newest = newest.max(commit.lsn);
            }
        }
        Ok(newest)
    }

    /// Says that all of a tree is replaced by something else: TRUNCATE.
    ///
    /// # Errors
    /// [`Error::Conflict`].
    pub fn replaces(&mut self, tree: TreeId) -> Result<()> {
        let Some(Tracking::Ssi(part)) = self.tracking.as_deref_mut() else { return Ok(()) };
        part.replaces(&self.manager.ssi, tree)
    }

    /// A key that this transaction would write is another's already: whether that is to be told as a conflict between reads
    /// and writes, since then the key is found when it is run again.
    ///
    /// # Errors
    /// [`Error::Conflict`]; storage's.
    pub fn check_duplicate(&mut self, tree: TreeId, key: &[u8]) -> Result<()> {
        match self.tracking.as_deref_mut() {
            Some(Tracking::Ssi(part)) => part.would_write(&self.manager.ssi, tree, key),
            Some(Tracking::Occ(_)) => self.check_reads(),
            Some(Tracking::Locking(_) | Tracking::Stamped(_) | Tracking::Partitioned(_)) | None => {
                Ok(())
            }
        }
    }

    /// Notes a rollback to a savepoint.
    #[cold]
    pub(super) fn note_rollback(&mut self, from: CommandId) {
        match self.tracking.as_deref_mut() {
            Some(Tracking::Ssi(part)) => part.rolled_back_to(&self.manager.ssi, from),
            Some(Tracking::Occ(reads)) => reads.unlocked_since(from),
            Some(Tracking::Locking(_) | Tracking::Stamped(_) | Tracking::Partitioned(_)) | None => {
            }
        }
    }

    /// What its scheme says to a commit, before there is a claim.
    #[cold]
    pub(crate) fn check_commit(&mut self, writes: bool) -> Result<()> {
        let _class = breakdown::enter(Class::Locking);
        match self.tracking.as_deref_mut() {
            Some(Tracking::Ssi(part)) => part.check(&self.manager.ssi),
            // Without writes there is nothing to validate, unless more has been read than the snapshot.
            Some(Tracking::Occ(reads)) if writes || reads.saw_latest() => self.check_reads(),
            // Where its snapshot has been given up it may have read past what it should have seen.
            Some(Tracking::Stamped(_)) => self.snapshot_stands(),
            Some(Tracking::Occ(_) | Tracking::Locking(_) | Tracking::Partitioned(_)) | None => {
                Ok(())
            }
        }
    }

    /// Whether its scheme has nothing to say to its commit, if it has written nothing.
    #[inline]
    pub(super) fn commits_unasked(&self) -> bool {
        match self.tracking.as_deref() {
            None => true,
            Some(Tracking::Ssi(part)) => part.commits_unasked(),
            Some(_) => false,
        }
    }

    /// The commit stands, and every snapshot from now on shows it.
    #[inline]
    pub(crate) fn note_committed(&mut self) {
        if let Some(Tracking::Ssi(part)) = self.tracking.as_deref_mut() {
            part.committed = true;
        }
    }
}
