//! A transaction: what it reads, writes and locks, and how it ends.
//!
//! Until it commits its writes are its own, in a write set; what it reads is decided by a *view*: a snapshot, which is
//! one LSN, and a command number, which says which of its own writes it sees.

pub(crate) mod kept_row;
mod leaves;
pub mod loading;
mod locked_reads;
pub mod locking;
mod moving;
mod partitioned;
mod reading;
mod record;
pub mod scan;
pub mod state;
mod stepwise;
mod timestamped;
mod tracked;

use crate::commit::late::LateList;
use crate::lock::{RowLock, WaitPolicy};
use crate::manager::Manager;
use crate::metrics::Abort;
use crate::scheme::ssi::Inner;
use crate::scheme::timestamp::{Stamp, sees};
use crate::scheme::{SchemeKind, Tracking};
use crate::wait::SessionWait;
use crate::writeset::delta::Form;
use crate::writeset::{Met, Write, Written};
use crate::{CommandId, ConflictKind, Error, Isolation, Result, TxnId};
pub use locking::{LockMark, Locked};
pub use record::{RecordBuffer, RecordView};
pub use scan::{KeyRange, Scan, ScanRow};
use state::State;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use storage::breakdown::{self, Class};
use storage::{Lsn, Tree, TreeId, usage};

/// What a transaction begins with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Begin {
    /// The level.
    pub isolation: Isolation,
    /// READ ONLY: nothing is written, so nothing is validated.
    pub read_only: bool,
    /// DEFERRABLE: a serializable read-only transaction that waits for a safe snapshot.
    pub deferrable: bool,
    /// The newest LSN this session has seen: the first snapshot waits for it.
    pub after: Lsn,
    /// The scheme of its database.
    pub scheme: SchemeKind,
    /// Which database that is, whose partitions are its own.
    pub database: u32,
}

/// What a statement sees: commits at or below `snapshot`, and its own transaction's writes before `command`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadView {
    /// The visible watermark when the view was taken; [`Lsn::MAX`] for the latest state.
    pub snapshot: Lsn,
    /// Own writes of earlier commands are seen, of this and later ones not.
    pub command: CommandId,
    /// What is to be known beside the snapshot.
    pub beside: Beside,
}

/// What a view says beside its snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// Under timestamp ordering, the place in the order: commits of older transactions are seen above the snapshot.
    Place(Stamp),
    /// Where reads lock, and so see the latest state: the snapshot that its statement has announced.
    Announced(Lsn),
    /// Its reads neither lock nor stamp anything, and nobody validates them: rows that SKIP LOCKED may leave out are looked
    /// for so.
    Passing,
}

const _: () = assert!(size_of::<ReadView>() == 32, "a view is copied at every read");

impl ReadView {
    /// The latest committed state, and all own writes: for checks of what is locked.
    pub const LATEST: ReadView =
        ReadView { snapshot: Lsn::MAX, command: CommandId(u32::MAX), beside: Beside::Nothing };

    /// Under timestamp ordering, what is seen above the snapshot.
    #[inline]
    fn stamp(&self) -> Option<Stamp> {
        match self.beside {
            Beside::Place(stamp) => Some(stamp),
            Beside::Nothing | Beside::Announced(_) | Beside::Passing => None,
        }
    }

    /// Whether its scheme is not told of what is read by it.
    #[inline]
    fn is_passing(&self) -> bool {
        self.beside == Beside::Passing
    }

    /// The versions that it needs: those that this snapshot shows.
    fn announced(&self) -> Lsn {
        match self.beside {
            Beside::Announced(snapshot) => snapshot,
            Beside::Nothing | Beside::Place(_) | Beside::Passing => self.snapshot,
        }
    }
}

/// What a record is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// To look at it.
    Look,
    /// On the way to a row that is to be locked next, waiting so.
    Way(WaitPolicy),
    /// To be locked next, so and waiting so.
    Lock(RowLock, WaitPolicy),
    /// It is locked, and about to be written if it is not there: keys of new rows often lie beside one another.
    Claim,
}

/// A place to roll back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Savepoint(u32);

/// How a transaction ended, and what must be durable and visible before anyone is told: see
/// [`Manager::poll_answer`].
#[must_use = "the answer has to wait for this"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The newest LSN that the transaction wrote or saw.
    pub wait_for: Lsn,
    /// Its own commit record, if it wrote anything.
    pub committed: Option<Lsn>,
}

/// An active transaction. Dropped without an end, it rolls back.
#[derive(Debug)]
pub struct Transaction {
    pub(crate) manager: Arc<Manager>,
    id: TxnId,
    begin: Begin,
    /// How it takes its snapshots, which its scheme may say.
    level: Isolation,
    wait: Arc<SessionWait>,
    pub(crate) snapshot: Option<Lsn>,
    /// Its place under timestamp ordering, taken with the snapshot.
    pub(crate) stamp: Option<Stamp>,
    pub(crate) command: CommandId,
    pub(crate) seen: Lsn,
    /// What its scheme watches of it, if it does: SERIALIZABLE, and not of a snapshot that is known to be safe.
    pub(crate) tracking: Option<Box<Tracking>>,
    /// The commit that changed what it has read.
    pub(crate) failed_by: Lsn,
    /// While a row is locked where it has moved to: the commit that put it there.
    followed_to: Lsn,
    /// There until the transaction ends.
    pub(crate) state: Option<Box<State>>,
}

impl Transaction {
    pub(crate) fn new(
        manager: Arc<Manager>,
        id: TxnId,
        begin: Begin,
        wait: Arc<SessionWait>,
        state: Box<State>,
    ) -> Transaction {
        let mut transaction = Transaction {
            manager,
            id,
            begin,
            level: begin.scheme.level(begin.isolation),
            wait,
            snapshot: None,
            stamp: None,
            command: CommandId(0),
            seen: Lsn::ZERO,
            tracking: None,
            failed_by: Lsn::ZERO,
            followed_to: Lsn::ZERO,
            state: Some(state),
        };
        if transaction.level == Isolation::Serializable || begin.scheme.locks_reads() {
            transaction.track(&begin);
        }
        transaction
    }

    /// Hands itself over for a while: what is left is a transaction that has ended.
    #[must_use]
    pub fn lend(&mut self) -> Transaction {
        Transaction {
            manager: Arc::clone(&self.manager),
            id: self.id,
            begin: self.begin,
            level: self.level,
            wait: Arc::clone(&self.wait),
            snapshot: self.snapshot,
            stamp: self.stamp,
            command: self.command,
            seen: self.seen,
            tracking: self.tracking.take(),
            failed_by: self.failed_by,
            followed_to: self.followed_to,
            state: self.state.take(),
        }
    }

    pub(crate) fn state(&self) -> &State {
        self.state.as_ref().expect("the transaction has not ended")
    }

    pub(crate) fn state_mut(&mut self) -> &mut State {
        self.state.as_mut().expect("the transaction has not ended")
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> TxnId {
        self.id
    }

    /// Its commit will say this number, by which users know it.
    pub fn note_number(&mut self, number: Option<u64>) {
        self.state_mut().header.number = number;
    }

    /// What it began with.
    #[must_use]
    pub fn begin(&self) -> &Begin {
        &self.begin
    }

    /// Changes level or access mode: before the first snapshot only (SET TRANSACTION; the caller checks).
    pub fn set_begin(&mut self, begin: Begin) {
        self.level = begin.scheme.level(begin.isolation);
        self.track(&begin);
        self.begin = begin;
    }

    /// Whether a snapshot has been taken.
    #[must_use]
    pub fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
    }

    /// Reads by a snapshot that it has just announced.
    pub(crate) fn adopt_snapshot(&mut self, snapshot: Lsn, places: Option<&mut Inner>) {
        self.snapshot = Some(snapshot);
        if let Some(places) = places {
            self.track_imported(places, snapshot);
        }
    }

    /// The snapshot that statements keep to: above READ COMMITTED, once the first has begun.
    #[must_use]
    pub fn kept_snapshot(&self) -> Option<Lsn> {
        self.snapshot.filter(|_| self.level != Isolation::ReadCommitted)
    }

    /// Has the next snapshot, and the answer, wait for `lsn`: what the statement was planned with depends on it.
    pub fn depend_on(&mut self, lsn: Lsn) {
        self.seen = self.seen.max(lsn);
    }

    /// The manager it belongs to.
    #[must_use]
    pub fn manager(&self) -> &Arc<Manager> {
        &self.manager
    }

    /// Begins a statement: a new command, and under READ COMMITTED a new snapshot.
    ///
    /// # Errors
    /// [`Error::Cancelled`] while waiting for the session's own last commit to be visible.
    pub fn begin_statement(&mut self) -> Result<ReadView> {
        self.command.0 += 1;
        let snapshot = match self.snapshot {
            Some(snapshot) if self.level != Isolation::ReadCommitted => snapshot,
            _ => {
                let _class = breakdown::enter(Class::Timestamp);
                match &self.tracking {
                    None => {
                        self.wait_for_seen()?;
                        *self.snapshot.insert(self.announce())
                    }
                    Some(_) => self.tracked_snapshot()?,
                }
            }
        };
        let beside = match self.snapshot {
            Some(announced) if snapshot == Lsn::MAX => Beside::Announced(announced),
            _ => self.beside(),
        };
        Ok(ReadView { snapshot, command: self.command, beside })
    }

    /// Waits until a snapshot shows what the session has seen.
    #[inline]
    fn wait_for_seen(&self) -> Result<()> {
        self.manager.wait_to_see(self.begin.after.max(self.seen), &self.wait)
    }

    /// Announces a snapshot and takes it.
    #[inline]
    fn announce(&self) -> Lsn {
        let (state, manager) = (self.state(), &*self.manager);
        let oldest = state.retained.iter().min().copied();
        manager.locks.owners.get(state.owner).announce(oldest, || manager.visible())
    }

    /// What all of the transaction's statements see, and all own writes; none where each statement has a snapshot of its own.
    #[must_use]
    pub fn one_view(&self) -> Option<ReadView> {
        let snapshot = self.snapshot.filter(|_| self.level != Isolation::ReadCommitted)?;
        Some(ReadView { snapshot, beside: self.beside(), ..ReadView::LATEST })
    }

    /// What its views say beside the snapshot that it keeps to.
    #[inline]
    fn beside(&self) -> Beside {
        self.stamp.map_or(Beside::Nothing, Beside::Place)
    }

    /// The view by which rows are looked for that are to be locked, waiting so, if a statement's is `view`. Where the scheme is told
    /// of reads, those of SKIP LOCKED pass it by, as in READ COMMITTED: they are done by a snapshot, and what has changed since is
    /// looked at again under its lock.
    #[must_use]
    pub fn view_to_lock(&self, view: &ReadView, policy: WaitPolicy) -> ReadView {
        let snapshot = view.announced();
        // Serializable snapshot isolation has PostgreSQL's rules.
        let passes = policy == WaitPolicy::Skip
            && snapshot != Lsn::MAX
            && !matches!(self.tracking.as_deref(), None | Some(Tracking::Ssi(_)));
        if passes { ReadView { snapshot, beside: Beside::Passing, ..*view } } else { *view }
    }

    /// Ends a statement: under READ COMMITTED nobody needs its snapshot any more, so that a session that is idle in its
    /// transaction holds no versions.
    pub fn end_statement(&mut self) {
        if self.level == Isolation::ReadCommitted {
            self.keep_retained(None);
        }
    }

    /// Makes the writes so far visible to what follows within the same statement's snapshot: between the parts of a
    /// statement that see each other (constraint checks after it, statements of a function).
    pub fn next_command(&mut self, view: &ReadView) -> ReadView {
        self.command.0 += 1;
        ReadView { command: self.command, ..*view }
    }

    /// Keeps the versions `view` sees after its statement has ended (a cursor), until [`Transaction::release_view`].
    pub fn retain_view(&mut self, view: &ReadView) {
        self.state_mut().retained.push(view.announced());
    }

    /// Gives a retained view up.
    pub fn release_view(&mut self, view: &ReadView) {
        let retained = &mut self.state_mut().retained;
        if let Some(at) = retained.iter().position(|snapshot| *snapshot == view.announced()) {
            retained.swap_remove(at);
            self.keep_retained(self.snapshot);
        }
    }

    /// Announces that only `current` and the retained views are needed.
    fn keep_retained(&mut self, current: Option<Lsn>) {
        let state = self.state();
        let needed = || state.retained.iter().copied().chain(current);
        let (oldest, newest) = match state.retained.is_empty() {
            true => (current, current),
            false => (needed().min(), needed().max()),
        };
        let owner = self.manager.locks.owners.get(state.owner);
        let before = owner.snapshot();
        // A snapshot may have been given up already at its statement's end: then it does not come back.
        if let Some(before) = before {
            let several = oldest != newest || self.stamp.is_some();
            let oldest = oldest.map(|oldest| oldest.max(before));
            owner.keep(oldest, several);
            self.manager.snapshot_ended(before);
        }
    }

    /// Reads one record as `view` shows it.
    ///
    /// # Errors
    /// [`Error::SnapshotTooOld`]; storage's.
    pub fn get(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        into: &mut RecordBuffer,
    ) -> Result<bool> {
        self.read(view, (tree, key), Purpose::Look, into)
    }

    /// As [`Transaction::get`], of an index's entry whose row is likely to be locked next: where reads have to wait for others, this
    /// one does as `policy` says. An entry that is skipped is none.
    ///
    /// # Errors
    /// As [`Transaction::get`]; [`Error::LockNotAvailable`].
    pub fn get_on_the_way(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        policy: WaitPolicy,
        into: &mut RecordBuffer,
    ) -> Result<bool> {
        self.read(view, (tree, key), Purpose::Way(policy), into)
    }

    /// As [`Transaction::get`], of a row that is likely to be locked next, in this mode: [`Transaction::lock_row`] will know it. Where
    /// what is read is locked, it is locked so from now on. A row that is skipped is none.
    ///
    /// # Errors
    /// As [`Transaction::get`]; [`Error::LockNotAvailable`].
    pub fn get_to_lock(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        (mode, policy): (RowLock, WaitPolicy),
        into: &mut RecordBuffer,
    ) -> Result<bool> {
        self.read(view, (tree, key), Purpose::Lock(mode, policy), into)
    }

    #[inline(always)]
    fn read(
        &mut self,
        view: &ReadView,
        (tree, key): (&Tree, &[u8]),
        purpose: Purpose,
        into: &mut RecordBuffer,
    ) -> Result<bool> {
        into.view = RecordView::of(view);
        let into = &mut into.found;
        let placed;
        let view = match self.stamp {
            None => view,
            Some(_) => {
                placed = self.by_place(view, tree.id());
                &placed
            }
        };
        let State { writes, spilled, .. } = self.state_mut();
        let own = |write: Write<'_>| into.set(Lsn::MAX, write.value);
        if writes.look_up((tree.id(), key), view.command, spilled, own)? {
            return Ok(into.value().is_some());
        }
        let watched = self.tracking.is_some() && !view.is_passing();
        if watched && !self.ask_to_read(tree, key, purpose)? {
            return Ok(false);
        }
        let keeps = self.keeps_rows();
        if keeps && let Some(kept) = self.state().kept.settled(tree.id(), key, view.snapshot) {
            into.copy_from(kept);
            self.seen = self.seen.max(into.lsn());
            if watched {
                self.note_point(view, (tree.id(), key), Some(into.lsn()), into.token())?;
            }
            return Ok(true);
        }
        // The list before the page: a commit that has left the list is on the page.
        let late = self.manager.late.list();
        let found = self.read_page(view, (tree, key), purpose, into)?;
        let on_page = found.then(|| into.lsn());
        let there = self.settle(view, (tree, key), found, late.as_ref(), into)?;
        // Another version than the page's is of no use to who locks the row.
        let to_lock = matches!(purpose, Purpose::Lock(..));
        if to_lock && keeps && there && on_page == Some(into.lsn()) {
            self.state_mut().kept.keep(tree.id(), key, into, None);
        }
        Ok(there)
    }

    /// Whether a view shows the commit at `lsn`.
    #[inline]
    fn shows(&self, view: &ReadView, lsn: Lsn) -> bool {
        let is_older = || view.stamp().is_some_and(|stamp| self.shows_above(stamp, lsn));
        sees(view.snapshot, lsn, is_older)
    }

    /// Reads the version that `view` shows of a record whose page has a newer one, of the commit at `on_page`. False: it was not
    /// there.
    fn older_version(
        &mut self,
        (tree, key): (TreeId, &[u8]),
        view: &ReadView,
        on_page: Lsn,
        mut found: impl FnMut(Lsn, Option<&[u8]>),
    ) -> Result<bool> {
        let _class = breakdown::enter(Class::Locking);
        self.may_read_older(view, tree)?;
        let Transaction { manager, state, .. } = self;
        let shows = |lsn: Lsn| {
            let of = |stamp: Stamp| manager.order.is_before(lsn, stamp.at);
            sees(view.snapshot, lsn, || view.stamp().is_some_and(of))
        };
        // The oldest commit that was met and is not shown: what is below it has not been looked at.
        let mut met = on_page;
        let shown = |lsn| {
            let shown = shows(lsn);
            met = if shown { met } else { lsn };
            shown
        };
        let state = state.as_mut().expect("the transaction has not ended");
        let (locks, spill) = (&manager.locks, &manager.spill);
        // The chain first: versions are on the list of runs before they leave it.
        let in_chain = locks.records.version((tree, key), shown, |version| {
            found(version.lsn(), version.value());
        });
        let mut at =
            if view.stamp().is_some() { Lsn(met.0.saturating_sub(1)) } else { view.snapshot };
        let there = loop {
            if in_chain {
                break Ok(true);
            }
            let mut read = None;
            let there = spill.version(tree, key, at, &mut state.spilled, |lsn, value| {
                read = Some(lsn);
                found(lsn, value);
            });
            match read {
                Some(lsn) if !shows(lsn) => at = Lsn(lsn.0.saturating_sub(1)),
                Some(_) | None => break there,
            }
        };
        // Asked after both: versions are given up only once this is set.
        if locks.owners.get(state.owner).is_too_old() {
            return Err(Error::SnapshotTooOld);
        }
        Ok(there?)
    }

    /// Turns what the page has into what `view` shows.
    #[inline]
    fn settle(
        &mut self,
        view: &ReadView,
        (tree, key): (&Tree, &[u8]),
        found: bool,
        late: Option<&LateList>,
        into: &mut storage::RecordBuffer,
    ) -> Result<bool> {
        if late.is_none() && (!found || self.shows(view, into.lsn())) {
            self.seen = if found { self.seen.max(into.lsn()) } else { self.seen };
            return Ok(found && into.value().is_some());
        }
        self.settle_among(view, (tree, key), found, late, into)
    }

    /// The same where the page has a newer commit's, or a commit may not be on it yet.
    #[inline(never)]
    fn settle_among(
        &mut self,
        view: &ReadView,
        (tree, key): (&Tree, &[u8]),
        found: bool,
        late: Option<&LateList>,
        into: &mut storage::RecordBuffer,
    ) -> Result<bool> {
        let mut found = found;
        if found && !self.shows(view, into.lsn()) {
            let on_page = into.lsn();
            let read = |lsn, value: Option<&[u8]>| into.set(lsn, value);
            found = self.older_version((tree.id(), key), view, on_page, read)?;
        }
        for commit in late.into_iter().flat_map(|list| list.iter()) {
            if (!found || commit.lsn > into.lsn()) && self.shows(view, commit.lsn) {
                let (cache, all) = (&mut self.state_mut().spilled, CommandId(u32::MAX));
                let write = |write: Write<'_>| into.set(commit.lsn, write.value);
                found |= commit.writes.look_up((tree.id(), key), all, cache, write)?;
            }
        }
        if !found {
            return Ok(false);
        }
        self.seen = self.seen.max(into.lsn());
        Ok(into.value().is_some())
    }

    /// Reads the *latest* committed state of one record, or this transaction's own write of any command. Only what
    /// the caller has locked stays as it is.
    ///
    /// # Errors
    /// Storage's.
    pub fn get_latest(&mut self, tree: &Tree, key: &[u8], into: &mut RecordBuffer) -> Result<bool> {
        self.get(&ReadView::LATEST, tree, key, into)
    }

    /// Writes a record, whose key this transaction has locked (an index entry that no one else can reach needs no
    /// lock of its own).
    ///
    /// # Errors
    /// [`storage::Error::TooLarge`]; [`storage::Error::Full`] where memory is used up and there is no scratch space.
    pub fn put(&mut self, tree: &Tree, key: &[u8], value: &[u8]) -> Result<()> {
        self.write(tree, key, Some(value), false)
    }

    /// Writes a record over the one at `key`, which this transaction has locked against all other writers: the log
    /// gets what has changed.
    ///
    /// # Errors
    /// As [`Transaction::put`].
    pub fn update(&mut self, tree: &Tree, key: &[u8], value: &[u8]) -> Result<()> {
        self.write(tree, key, Some(value), true)
    }

    /// Deletes a record, whose key this transaction has locked.
    ///
    /// # Errors
    /// As [`Transaction::put`].
    pub fn delete(&mut self, tree: &Tree, key: &[u8]) -> Result<()> {
        self.write(tree, key, None, false)
    }

    fn write(&mut self, tree: &Tree, key: &[u8], value: Option<&[u8]>, update: bool) -> Result<()> {
        usage::count_logged((key.len() + value.map_or(0, <[u8]>::len)) as u64);
        if self.tracking.is_some() {
            self.note_write(tree, key)?;
        }
        let (command, manager) = (self.command, &self.manager);
        // What no page takes could not be applied once it is claimed.
        manager.data.check_record_size(key.len(), value.map_or(0, <[u8]>::len))?;
        let State { writes, loads, leaves, rows, kept, spilled, .. } =
            &mut **self.state.as_mut().expect("the transaction has not ended");
        if !loads.is_empty()
            && let Some(load) = loading::of(loads, tree.id())
        {
            let value = value.expect("a statement that loads a table deletes nothing of it");
            return Ok(load.push(key, value)?);
        }
        if writes.bytes() > manager.options.write_set_bytes_max {
            writes.spill(&manager.runs, manager.data.scratch())?;
        }
        let base = if update || value.is_none() { kept.base(tree.id(), key) } else { None };
        let met = Met {
            leaf: base.map_or_else(|| *leaves.of(tree.id()), |base| base.token()),
            rows: rows.len(),
            in_place: base.and_then(|base| match value {
                Some(value) => Form::delta(value, base),
                None => Some(Form::Whole),
            }),
        };
        let anew = if writes.is_spilled() {
            writes.spilled_is_another((tree.id(), key), update, spilled)?
        } else {
            false
        };
        writes.record((tree.id(), met), key, Written { value, update, anew }, command);
        Ok(())
    }

    /// A place to roll back to: writes and locks from here on can be undone together.
    pub fn savepoint(&mut self) -> Savepoint {
        self.command.0 += 1;
        Savepoint(self.command.0)
    }

    /// Undoes every write since, and lets go of every lock taken since. The savepoint stays.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        let _class = breakdown::enter(Class::Abort);
        let from = CommandId(savepoint.0);
        let state = self.state_mut();
        state.writes.undo(from);
        state.loads.clear();
        // The caller frees them: no commit gives them a birth, and no record of a prepared transaction names them.
        while state.built.pop_if(|(command, _)| *command >= from).is_some() {}
        while state.moves.pop_if(|one| one.command >= from).is_some() {}
        self.unlock_since(from);
        if self.tracking.is_some() {
            self.note_rollback(from);
        }
        self.command.0 += 1;
    }

    /// Forgets a savepoint; its writes and locks become the surrounding one's.
    pub fn release_savepoint(&mut self, _savepoint: Savepoint) {}

    /// Whether anything has been written.
    #[must_use]
    pub fn has_writes(&self) -> bool {
        !self.state().writes.is_empty()
    }

    /// Whether a row is locked.
    #[must_use]
    pub fn has_locked_rows(&self) -> bool {
        let state = self.state();
        !state.rows.is_empty() || !state.lock_runs.is_empty()
    }

    /// How the session waits.
    #[must_use]
    pub fn wait(&self) -> &Arc<SessionWait> {
        &self.wait
    }

    /// The commit drops trees: it may have the last room there is, or a full disk could never be emptied.
    pub fn gives_room_back(&mut self) {
        self.state_mut().gives_room_back = true;
    }

    /// Ends it, if all it has done is to read and its scheme has nothing to say to that: no such commit fails, and nobody hears of it.
    pub fn end_reading(&mut self) -> Option<Ended> {
        if self.has_writes() || !self.commits_unasked() {
            return None;
        }
        self.manager.metrics.committed(self.manager.worker());
        self.note_committed();
        self.finish();
        Some(Ended { wait_for: self.seen, committed: None })
    }

    /// Commits: gets ready, claims one log record, validates, applies, releases. What is returned says what the
    /// answer has to wait for. `before_release` runs before any lock goes and before any snapshot shows the commit: the
    /// catalog is swapped there. Everything is applied then, unless the commit is late. It is given the commit's LSN, or, where nothing was written and so nothing is logged, the
    /// newest that the transaction has seen.
    ///
    /// # Errors
    /// Everything that can fail fails before the claim, and the transaction has then rolled back. Only
    /// [`storage::Error::Halted`] may come later: then nobody is answered any more.
    pub fn commit(mut self, before_release: &mut dyn FnMut(Lsn)) -> Result<Ended> {
        if self.state().writes.is_empty() {
            self.check_without_writes()?;
            before_release(self.seen);
            self.manager.metrics.committed(self.manager.worker());
            self.note_committed();
            self.finish();
            return Ok(Ended { wait_for: self.seen, committed: None });
        }
        match self.commit_writes(before_release) {
            Ok(lsn) => Ok(Ended { wait_for: self.seen.max(lsn), committed: Some(lsn) }),
            Err(error) => {
                self.abandon(&error);
                Err(error)
            }
        }
    }

    /// What its scheme says to the commit of a transaction that has written nothing.
    #[inline]
    fn check_without_writes(&mut self) -> Result<()> {
        if self.tracking.is_none() {
            return Ok(());
        }
        self.check_commit(false).inspect_err(|error| self.abandon(error))
    }

    /// Ends a transaction whose commit has failed. The session's next snapshot shows the commit that was the reason:
    /// run again alone, the transaction succeeds.
    #[cold]
    pub(crate) fn abandon(&mut self, error: &Error) {
        let _class = breakdown::enter(Class::Abort);
        self.manager.metrics.aborted(self.manager.worker(), Abort::of(error));
        self.finish();
        if matches!(error, Error::Conflict(ConflictKind::ReadWrite(_))) {
            self.failed_by = self.failed_by.max(self.manager.ssi.newest());
        }
        self.wait.failed_after.store(self.seen.max(self.failed_by).0, Ordering::Relaxed);
        if self.failed_by > Lsn::ZERO {
            // A wait that is cancelled leaves the client no worse off than a conflict it cannot see yet.
            let _ = self.manager.wait_visible(self.failed_by, &self.wait);
        }
    }

    /// Rolls back.
    pub fn rollback(mut self) -> Ended {
        let _class = breakdown::enter(Class::Abort);
        self.manager.metrics.aborted(self.manager.worker(), Abort::Asked);
        self.finish();
        Ended { wait_for: self.seen, committed: None }
    }

    /// Lets go of locks, snapshot and state.
    pub(crate) fn finish(&mut self) {
        if let Some(state) = self.let_go() {
            self.manager.pool.give(self.manager.worker(), state);
        }
    }

    /// Lets go of locks and snapshot, and gives the state out for the pool; none where that has happened.
    pub(crate) fn let_go(&mut self) -> Option<Box<State>> {
        let mut state = self.state.take()?;
        let manager = &*self.manager;
        let owner = manager.locks.owners.get(state.owner);
        let snapshot = owner.snapshot();
        state.retained.clear();
        state.loads.clear();
        state.built.clear();
        state.moves.clear();
        state.kept.forget();
        state.gives_room_back = false;
        state.growth.begin();
        match self.tracking.take().as_deref_mut() {
            Some(Tracking::Ssi(part)) => part.end(&manager.ssi, &manager.env),
            Some(Tracking::Locking(locks)) => {
                manager.locks.release_ranges(state.owner, &mut locks.held);
            }
            Some(Tracking::Stamped(stamped)) => {
                // Who gets a mark finds nobody younger at the row who is about to go.
                manager.release_all(&mut state);
                manager.locks.release_ranges(state.owner, &mut stamped.held);
                if let Some(at) = stamped.at {
                    manager.order.end(at);
                }
            }
            Some(Tracking::Partitioned(own)) => {
                manager.locks.leave_partitions(state.owner, self.begin.database, &own.held);
            }
            Some(Tracking::Occ(_)) | None => {}
        }
        manager.release_all(&mut state);
        manager.locks.end(state.owner);
        if let Some(snapshot) = snapshot {
            manager.snapshot_ended(snapshot);
        }
        Some(state)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if self.state.is_some() {
            self.manager.metrics.aborted(self.manager.worker(), Abort::Asked);
            self.finish();
        }
    }
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Error {
        match never {}
    }
}
