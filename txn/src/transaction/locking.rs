//! Locks as a transaction takes them: when the statement runs, held until its commit is applied.
//!
//! After a wait the row may not be what the view shows. READ COMMITTED is told so and looks again at the latest
//! version; above it a row newer than the snapshot is a conflict (PostgreSQL 15 manual, section 13.2).

use super::state::{HeldRow, HeldTable, State};
use super::{Purpose, ReadView, RecordBuffer, RecordView, Transaction};
use crate::lock::{
    FirstSearch, LockManager, RowGrant, RowLock, RowRequest, RowWait, TableLock, WaitPolicy,
};
use crate::manager::Manager;
use crate::planted::Fault;
use crate::scheme::{SchemeKind, Tracking};
use crate::writeset::Write;
use crate::{CommandId, ConflictKind, Error, Isolation, Reason, Result, TableId, TreeId};
use storage::Tree;
use storage::breakdown::{self, Class};

/// What a row lock found, once held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// The row is the one the view shows; the buffer holds it.
    Same,
    /// READ COMMITTED: somebody changed it; the buffer holds the latest version, to be checked again.
    Changed,
    /// READ COMMITTED: somebody deleted it, or it is gone. At every level: this transaction itself has changed or
    /// deleted it in a command that the view does not see, so that the statement has nothing more to do with it.
    Gone,
    /// SKIP LOCKED: somebody has it.
    Skipped,
}

/// A place among a transaction's row locks.
#[derive(Clone, Copy, Debug)]
pub struct LockMark(usize);

/// The latest state of a row that has just been locked, beside a view.
enum Latest {
    /// Nobody has committed another since.
    Settled(Locked),
    /// Somebody has: a version that is `there`, or none.
    Newer { there: bool },
}

impl Transaction {
    /// Locks one row, waiting as `policy` says, and reads its latest state into `into`. Under REPEATABLE READ and
    /// above, a row newer than the snapshot is an error instead.
    ///
    /// # Errors
    /// [`Error::Conflict`], [`Error::Deadlock`], [`Error::LockNotAvailable`], [`Error::Cancelled`]; storage's.
    pub fn lock_row(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        mode: RowLock,
        policy: WaitPolicy,
        into: &mut RecordBuffer,
    ) -> Result<Locked> {
        self.lock_and_judge(view, (tree, key), (RowRequest::to_write(mode), policy), into)
    }

    /// The same for who is not going to change the row: an INSERT that finds its key taken by it does not wait.
    ///
    /// # Errors
    /// As [`Transaction::lock_row`].
    pub fn lock_row_only(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        mode: RowLock,
        policy: WaitPolicy,
        into: &mut RecordBuffer,
    ) -> Result<Locked> {
        self.lock_and_judge(view, (tree, key), (RowRequest::Lock(mode), policy), into)
    }

    fn lock_and_judge(
        &mut self,
        view: &ReadView,
        (tree, key): (&Tree, &[u8]),
        (request, policy): (RowRequest, WaitPolicy),
        into: &mut RecordBuffer,
    ) -> Result<Locked> {
        let there = match self.lock_latest(view, (tree, key), (request, policy), into)? {
            Latest::Settled(locked) => return Ok(locked),
            Latest::Newer { there } => there,
        };
        let locked = self.judge(view, (tree, key), there)?;
        match request.lock() {
            Some(RowLock::KeyShare) => self.read_afresh(view, (tree, key), locked, into),
            _ => Ok(locked),
        }
    }

    /// Locks the key of a row (FOR KEY SHARE). Who has changed the row and kept its key, as `keeps` says of the record that
    /// the view shows and of the latest, is in nobody's way: the row is then the one that the view shows, at every level.
    ///
    /// # Errors
    /// As [`Transaction::lock_row`].
    pub fn lock_row_key(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        policy: WaitPolicy,
        into: &mut RecordBuffer,
        keeps: &dyn Fn(&[u8], &[u8]) -> bool,
    ) -> Result<Locked> {
        let request = (RowRequest::Lock(RowLock::KeyShare), policy);
        let there = match self.lock_latest(view, (tree, key), request, into)? {
            Latest::Settled(locked) => return Ok(locked),
            Latest::Newer { there } => there,
        };
        let mut shown = RecordBuffer::default();
        if there
            && self.get(view, tree, key, &mut shown)?
            && let (Some(old), Some(new)) = (shown.value(), into.value())
            && keeps(old, new)
        {
            *into = shown;
            return Ok(Locked::Same);
        }
        let locked = self.judge(view, (tree, key), there)?;
        self.read_afresh(view, (tree, key), locked, into)
    }

    /// Reads a row that has changed, and whose lock lets others change what is no key, by a snapshot of its own: what
    /// belongs to the row may go while it is read, and the snapshot keeps it.
    fn read_afresh(
        &mut self,
        view: &ReadView,
        (tree, key): (&Tree, &[u8]),
        locked: Locked,
        into: &mut RecordBuffer,
    ) -> Result<Locked> {
        if locked != Locked::Changed {
            return Ok(locked);
        }
        let manager = &*self.manager;
        // The statement's own snapshot stays announced, and with it every version from there on.
        manager.locks.owners.get(self.state().owner).need_several();
        manager.wait_to_see(self.seen, &self.wait)?;
        let fresh = ReadView { snapshot: manager.visible(), ..*view };
        let there = self.get(&fresh, tree, key, into)?;
        Ok(if there { Locked::Changed } else { Locked::Gone })
    }

    /// What a level makes of a row that is newer than the view, or has been deleted since.
    fn judge(&self, view: &ReadView, (tree, key): (&Tree, &[u8]), there: bool) -> Result<Locked> {
        match (self.level == Isolation::ReadCommitted || view.is_passing(), there) {
            (true, true) => Ok(Locked::Changed),
            (true, false) => Ok(Locked::Gone),
            (false, there) if there || self.has_moved(view, tree, key) => {
                Err(self.overtaken(ConflictKind::Update))
            }
            (false, _) => Err(self.overtaken(ConflictKind::Delete)),
        }
    }

    /// What a transaction that keeps to a snapshot is told of a row that is newer: under `occ` its validation would say so, and
    /// under timestamp ordering it comes too late.
    pub(super) fn overtaken(&self, kind: ConflictKind) -> Error {
        Error::Conflict(match self.begin.scheme {
            SchemeKind::Occ => ConflictKind::ReadWrite(Reason::Validation),
            SchemeKind::Timestamp(_) => ConflictKind::ReadWrite(Reason::WriteTooLate),
            SchemeKind::Mvcc | SchemeKind::Ssi | SchemeKind::Locking(_) | SchemeKind::Hstore => {
                kind
            }
        })
    }

    /// Locks a row and reads its latest state.
    fn lock_latest(
        &mut self,
        view: &ReadView,
        (tree, key): (&Tree, &[u8]),
        (request, policy): (RowRequest, WaitPolicy),
        into: &mut RecordBuffer,
    ) -> Result<Latest> {
        let before = self.lock_mark();
        if !self.lock_record(tree, key, request, policy)? {
            return Ok(Latest::Settled(Locked::Skipped));
        }
        into.view = RecordView::of(view);
        let State { writes, spilled, .. } = self.state_mut();
        let mut seen = false;
        let own = |write: Write<'_>| {
            into.found.set(storage::Lsn::MAX, write.value);
            seen = write.command < view.command && write.value.is_some();
        };
        if writes.look_up((tree.id(), key), CommandId(u32::MAX), spilled, own)? {
            return Ok(Latest::Settled(if seen { Locked::Same } else { Locked::Gone }));
        }
        let found = self.read_locked(view, (tree, key), request, &mut into.found)?;
        if found {
            self.seen = self.seen.max(into.lsn());
        }
        let there = found && into.value().is_some();
        Ok(match (found && !self.shows(view, into.lsn()), there) {
            (true, _) if view.is_passing() && !self.may_follow(into.lsn()) => {
                self.unlock_behind(before);
                Latest::Settled(Locked::Skipped)
            }
            (true, there) => {
                into.view = RecordView::of(&ReadView::LATEST);
                Latest::Newer { there: there && !self.is_another_row(view, tree, key) }
            }
            (false, true) => {
                if view.is_passing() {
                    // Its lock may go with a savepoint.
                    let (found, token) = (Some(into.lsn()), into.found.token());
                    self.note_point(view, (tree.id(), key), found, token)?;
                }
                Latest::Settled(Locked::Same)
            }
            (false, false) => Latest::Settled(Locked::Gone),
        })
    }

    /// Whether a record that this transaction has locked is known to be another than the one that a view shows at its key: that
    /// has been deleted since, and the key taken again.
    #[must_use]
    pub fn is_another_row(&self, view: &ReadView, tree: &Tree, key: &[u8]) -> bool {
        let born = self.manager.locks.records.born(tree.id(), key);
        born.is_some_and(|born| !self.shows(view, born) && born != self.followed_to)
    }

    /// Whether this transaction has itself written a record in a later command than that of `view`: what a statement calls, or
    /// its triggers, runs in one.
    ///
    /// # Errors
    /// Storage's.
    pub fn has_written_since(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        into: &mut RecordBuffer,
    ) -> Result<bool> {
        if self.command <= view.command {
            return Ok(false);
        }
        let own = self.own_command(tree, key, into)?;
        Ok(own.is_some_and(|command| command > view.command))
    }

    /// Whether this transaction has itself written a record that `view` does not show: in the view's command, or in a later
    /// one.
    ///
    /// # Errors
    /// Storage's.
    pub fn has_hidden_write(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        into: &mut RecordBuffer,
    ) -> Result<bool> {
        let own = self.own_command(tree, key, into)?;
        Ok(own.is_some_and(|command| command >= view.command))
    }

    /// The command in which this transaction has last written a record, if it has.
    fn own_command(
        &mut self,
        tree: &Tree,
        key: &[u8],
        into: &mut RecordBuffer,
    ) -> Result<Option<CommandId>> {
        let State { writes, spilled, .. } = self.state_mut();
        let mut command = None;
        let own = |write: Write<'_>| {
            into.found.set(storage::Lsn::MAX, write.value);
            command = Some(write.command);
        };
        let found = writes.look_up((tree.id(), key), CommandId(u32::MAX), spilled, own)?;
        Ok(command.filter(|_| found))
    }

    /// Reads the latest state of a row that has just been locked.
    fn read_locked(
        &mut self,
        view: &ReadView,
        (tree, key): (&Tree, &[u8]),
        request: RowRequest,
        into: &mut storage::RecordBuffer,
    ) -> Result<bool> {
        let keeps = self.keeps_rows();
        let mode = request.lock().unwrap_or(RowLock::KeyShare);
        if keeps && let Some(row) = self.state_mut().kept.locked(tree, key, mode) {
            into.copy_from(row);
            if self.tracking.is_some() && !view.is_passing() {
                self.note_point(view, (tree.id(), key), Some(into.lsn()), into.token())?;
            }
            return Ok(true);
        }
        let found = self.read_page(view, (tree, key), Purpose::Look, into)?;
        if keeps && found {
            self.state_mut().kept.keep(tree.id(), key, into, Some(mode));
        }
        Ok(found)
    }

    /// Locks a key that may not exist yet, for an insert or a uniqueness check, and says whether the *latest* state
    /// has a record there (then `into` holds it). With [`WaitPolicy::Skip`] a key that somebody has is no record. In a
    /// tree that is being loaded nothing is locked or found: whether a key came twice shows when it is built.
    ///
    /// # Errors
    /// As [`Transaction::lock_row`], but [`Error::Conflict`] never.
    pub fn lock_key(
        &mut self,
        tree: &Tree,
        key: &[u8],
        mode: RowLock,
        policy: WaitPolicy,
        into: &mut RecordBuffer,
    ) -> Result<bool> {
        if self.is_loading(tree.id()) {
            return Ok(false);
        }
        if !self.lock_record(tree, key, RowRequest::to_write(mode), policy)? {
            return Ok(false);
        }
        self.read(&ReadView::LATEST, (tree, key), Purpose::Claim, into)
    }

    /// Locks a key for a row that is to be written there, and says whether there is one already: then `into` holds it, and the
    /// key may be locked or not. Who has locked that row and does not change it is not waited for (`_bt_check_unique`).
    ///
    /// # Errors
    /// As [`Transaction::lock_key`].
    pub fn claim_key(&mut self, tree: &Tree, key: &[u8], into: &mut RecordBuffer) -> Result<bool> {
        let by_snapshot = matches!(self.begin.scheme, SchemeKind::Mvcc | SchemeKind::Ssi);
        if by_snapshot && !self.is_loading(tree.id()) && !self.manager.options.without.locks {
            let request = RowRequest::Write(RowLock::Update);
            if self.lock_record(tree, key, request, WaitPolicy::Skip)? {
                return self.read(&ReadView::LATEST, (tree, key), Purpose::Claim, into);
            }
            self.pass_row(tree, key, WaitPolicy::Block)?;
            if self.read(&ReadView::LATEST, (tree, key), Purpose::Look, into)? {
                return Ok(true);
            }
        }
        self.lock_key(tree, key, RowLock::Update, WaitPolicy::Block, into)
    }

    /// Locks a key, whether there is a record or not, if nobody is in the way; says whether it is locked.
    ///
    /// # Errors
    /// As [`Transaction::lock_key`], but for those of waiting.
    pub fn try_lock_key(&mut self, tree: &Tree, key: &[u8], mode: RowLock) -> Result<bool> {
        if self.is_loading(tree.id()) {
            return Ok(true);
        }
        self.lock_record(tree, key, RowRequest::to_write(mode), WaitPolicy::Skip)
    }

    /// Whether somebody is changing the row that was found to have `key`, so that it is not settled yet whether the key is
    /// taken. Then the lock on the key is given back, if [`Transaction::lock_key`] has just taken it, and the other
    /// transaction's end is waited for: the caller looks anew. Nobody who waits here has the key locked, so that who
    /// changes the row can take it again.
    ///
    /// # Errors
    /// As [`Transaction::lock_key`].
    pub fn await_change(
        &mut self,
        (tree, key): (&Tree, &[u8]),
        (rows, row_key): (&Tree, &[u8]),
    ) -> Result<bool> {
        // The key's lock stays, so who changes the row has not changed the key: it is waited for as by any reader.
        if self.locks_reads() {
            return self.wait_to_read(rows.id(), row_key);
        }
        if self.is_stamped() {
            return self.stamp_to_read(rows, row_key);
        }
        // Nobody else is in the key's partition, nor writes what is with rows of others.
        if self.is_in_partitions(tree.id()) {
            return Ok(false);
        }
        if self.pass_row(rows, row_key, WaitPolicy::Skip)? {
            return Ok(false);
        }
        // What was found there is not acted upon, so a read set need not know of it.
        let command = self.command;
        let last = self
            .state()
            .rows
            .last()
            .filter(|last| last.command == command && last.node.is_of(tree.id(), key));
        if last.is_some() {
            let before = LockMark(self.state().rows.len() - 1);
            self.unlock_behind(before);
        }
        self.pass_row(rows, row_key, WaitPolicy::Block)?;
        Ok(true)
    }

    /// Where the row locks stand that the transaction takes from now on.
    #[must_use]
    pub fn lock_mark(&self) -> LockMark {
        LockMark(self.state().rows.len())
    }

    /// Lets go of the row locks that have been taken behind `mark`, for keys that are not going to be written after all: who
    /// meets a row where it would have put one, and leaves it there, is in nobody's way. Where reads are locked or stamped the
    /// locks stay, since they stand for what was found.
    pub fn give_back(&mut self, mark: LockMark) {
        if !self.locks_reads() && !self.is_stamped() {
            self.unlock_behind(mark);
        }
    }

    /// The same at every level. Locks that have gone to scratch space since stay.
    fn unlock_behind(&mut self, mark: LockMark) {
        let Transaction { manager, state, .. } = self;
        let Some(state) = state.as_mut().filter(|state| state.rows.len() > mark.0) else { return };
        state.kept.forget();
        while state.rows.len() > mark.0
            && let Some(HeldRow { node, before, .. }) = state.rows.pop()
        {
            manager.locks.unlock_row((state.owner, &state.lock_runs), node, before);
        }
    }

    /// Waits, if `policy` has it do so, until nobody writes a row; false if somebody does.
    fn pass_row(&self, rows: &Tree, key: &[u8], policy: WaitPolicy) -> Result<bool> {
        let state = self.state();
        let (owner, locks) = ((state.owner, &state.lock_runs[..]), &self.manager.locks);
        let is_awaited = || locks.may_be_awaited(state);
        match locks.lock_row(
            owner,
            &self.wait,
            (rows.id(), key),
            RowRequest::Settled,
            RowWait { policy, first: self.first_search(&is_awaited), rule: None },
        )? {
            RowGrant::Skipped => return Ok(false),
            RowGrant::Held => {}
            RowGrant::Granted(node, before) => {
                locks.unlock_row((state.owner, &state.lock_runs), node, before);
            }
        }
        Ok(true)
    }

    /// Takes a row lock that nobody can be in the way of: a prepared transaction's, after a restart.
    pub(crate) fn lock_again(&mut self, tree: TreeId, key: &[u8], held: RowRequest) -> Result<()> {
        let (owner, policy) = (self.state().owner, WaitPolicy::Error);
        let locks = &self.manager.locks;
        if let RowGrant::Granted(node, before) = locks.lock_row(
            (owner, &[]),
            &self.wait,
            (tree, key),
            held,
            RowWait { policy, first: FirstSearch::AfterTimeout, rule: None },
        )? {
            let command = self.command;
            self.state_mut().rows.push(HeldRow { node, before, command });
        }
        Ok(())
    }

    /// When it looks for a deadlock where it waits for a row. Where nothing but rows and tables is locked, these say whether it has to.
    fn first_search<'t>(&self, is_awaited: &'t dyn Fn() -> bool) -> FirstSearch<'t> {
        match self.begin.scheme {
            SchemeKind::Mvcc | SchemeKind::Ssi => FirstSearch::AfterTimeout,
            SchemeKind::Occ => FirstSearch::IfAwaited(is_awaited),
            SchemeKind::Locking(_) | SchemeKind::Timestamp(_) | SchemeKind::Hstore => {
                FirstSearch::AtOnce
            }
        }
    }

    /// Takes a row lock; false if it was skipped.
    #[inline(always)]
    fn lock_record(
        &mut self,
        tree: &Tree,
        key: &[u8],
        request: RowRequest,
        policy: WaitPolicy,
    ) -> Result<bool> {
        if self.manager.options.without.locks {
            return Ok(true);
        }
        let record = (tree.id(), key);
        let mode = request.lock().unwrap_or(RowLock::KeyShare);
        if self.tracking.is_some() && !self.ask_to_lock(tree, key, mode, policy)? {
            return Ok(false);
        }
        // Nobody else is in the row's partition.
        if self.is_in_partitions(tree.id()) {
            return Ok(true);
        }
        let state = self.state();
        let owner = (state.owner, &state.lock_runs[..]);
        let locks = &self.manager.locks;
        let is_awaited = || locks.may_be_awaited(state);
        let (first, rule) = (self.first_search(&is_awaited), self.rule_of_sharing(tree.id(), mode));
        match locks.lock_row(owner, &self.wait, record, request, RowWait { policy, first, rule })? {
            RowGrant::Held => Ok(true),
            RowGrant::Skipped => Ok(false),
            RowGrant::Granted(node, before) => {
                let command = self.command;
                let state = self.state.as_mut().expect("the transaction has not ended");
                state.rows.push(HeldRow { node, before, command });
                let limit = self.manager.options.write_set_bytes_max;
                // What was made stronger stays, so there may always be too much: at twice as many it is tried again.
                if LockManager::is_too_much(state.rows.len(), limit)
                    && state.rows.len() >= state.rows_kept * 2
                {
                    self.manager.spill_locks(state)?;
                }
                Ok(true)
            }
        }
    }

    /// Takes a table lock, held to the end of the transaction (or of the savepoint it was taken in). False if
    /// [`WaitPolicy::Skip`] met a holder.
    ///
    /// # Errors
    /// [`Error::Deadlock`], [`Error::LockNotAvailable`], [`Error::Cancelled`].
    pub fn lock_table(
        &mut self,
        table: TableId,
        mode: TableLock,
        policy: WaitPolicy,
    ) -> Result<bool> {
        if self.manager.options.without.locks {
            return Ok(true);
        }
        let command = self.command;
        let state = self.state();
        let last = state.tables.iter().rev().find(|held| held.table == table);
        let before = last.map_or(0, |held| held.after);
        if mode.covered_by(before) {
            return Ok(true);
        }
        let granted =
            self.manager.locks.lock_table(state.owner, &self.wait, table, mode, policy)?;
        if granted {
            let after = before | mode.bit();
            self.state_mut().tables.push(HeldTable { table, before, after, command });
        }
        Ok(granted)
    }

    /// Whether the transaction holds any lock on a table.
    #[must_use]
    pub fn has_locked(&self, table: TableId) -> bool {
        self.state().tables.iter().any(|held| held.table == table)
    }

    /// Lets go of every lock taken by `from` and later commands. Where reads are validated the locks of tables stay: what
    /// was read of them is looked for in the same trees at the commit.
    pub(super) fn unlock_since(&mut self, from: CommandId) {
        let Transaction { manager, state, tracking, .. } = self;
        let Some(state) = state.as_mut() else { return };
        let mut reads = tracking.as_deref_mut().and_then(Tracking::occ_mut);
        let (locks, owner) = (&manager.locks, state.owner);
        state.kept.forget();
        while let Some(last) = state.rows.pop_if(|last| last.command >= from) {
            if let Some(reads) = &mut reads {
                reads.unlocked(last.node.tree(), last.node.key());
            }
            locks.unlock_row((owner, &state.lock_runs), last.node, last.before);
        }
        if reads.is_some() {
            // What is in scratch space stays locked as well.
            return;
        }
        if !state.lock_runs.is_empty() {
            locks.cut_runs(owner, &mut state.lock_runs, from);
        }
        while let Some(last) = state.tables.pop_if(|last| last.command >= from) {
            locks.unlock_table(owner, last.table, last.after & !last.before);
        }
    }
}

impl Manager {
    /// Moves a transaction's row locks to scratch space.
    #[cold]
    pub(crate) fn spill_locks(&self, state: &mut State) -> storage::Result<()> {
        if self.planted(Fault::SpilledLockLost) {
            for held in state.rows.drain(..) {
                self.locks.unlock_row((state.owner, &[]), held.node, 0);
            }
            return Ok(());
        }
        let place = (&*self.runs, self.data.scratch());
        let run = self.locks.spill_rows(state.owner, &mut state.rows, place)?;
        state.lock_runs.extend(run);
        state.rows_kept = state.rows.len();
        Ok(())
    }

    /// Lets go of every lock.
    pub(crate) fn release_all(&self, state: &mut State) {
        let _class = breakdown::enter(Class::Locking);
        let owner = state.owner;
        if !state.lock_runs.is_empty() {
            self.locks.release_runs(owner, &mut state.lock_runs);
        }
        state.rows_kept = 0;
        self.locks.unlock_rows(owner, &mut state.rows);
        self.locks.unlock_tables(owner, &mut state.tables);
        while let Some(held) = state.names.pop() {
            self.locks.unlock_name(owner, held.node, held.mode);
        }
    }
}
