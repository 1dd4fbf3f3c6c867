//! A transaction: what it reads, writes and locks, and how it ends.

use crate::lock::{RowLock, TableLock, WaitPolicy};
use crate::manager::Manager;
use crate::wait::SessionWait;
use crate::{CommandId, Error, Isolation, Result, TableId, TxnId};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use storage::{Cursor, Direction, Lsn, RecordBuffer, RecordKind, SpaceClass, Tree, TreeId};

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
}

/// What a statement sees: commits at or below `snapshot`, and its own transaction's writes before `command`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadView {
    /// The visible watermark when the view was taken.
    pub snapshot: Lsn,
    /// Own writes of earlier commands are seen, of this and later ones not.
    pub command: CommandId,
}

/// A range of keys.
#[derive(Clone, Copy, Debug)]
pub struct KeyRange<'a> {
    /// From here.
    pub low: Bound<&'a [u8]>,
    /// To here.
    pub high: Bound<&'a [u8]>,
}

/// What a row lock found, once held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// The row is the one the view shows; the buffer holds it.
    Same,
    /// READ COMMITTED: somebody changed it; the buffer holds the latest version, to be checked again.
    Changed,
    /// READ COMMITTED: somebody deleted it, or it is gone.
    Gone,
    /// SKIP LOCKED: somebody has it.
    Skipped,
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

#[derive(Debug)]
struct Write {
    command: CommandId,
    value: Option<Vec<u8>>,
}

/// An active transaction. Dropped without an end, it rolls back.
#[derive(Debug)]
pub struct Transaction {
    manager: Arc<Manager>,
    id: TxnId,
    begin: Begin,
    wait: Arc<SessionWait>,
    snapshot: Option<Lsn>,
    command: CommandId,
    writes: BTreeMap<(TreeId, Vec<u8>), Vec<Write>>,
    seen: Lsn,
}

impl Transaction {
    pub(crate) fn new(
        manager: Arc<Manager>,
        id: TxnId,
        begin: Begin,
        wait: Arc<SessionWait>,
    ) -> Transaction {
        Transaction {
            manager,
            id,
            begin,
            wait,
            snapshot: None,
            command: CommandId(0),
            writes: BTreeMap::new(),
            seen: Lsn::ZERO,
        }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> TxnId {
        self.id
    }

    /// What it began with.
    #[must_use]
    pub fn begin(&self) -> &Begin {
        &self.begin
    }

    /// Changes level or access mode: before the first snapshot only (SET TRANSACTION; the caller checks).
    pub fn set_begin(&mut self, begin: Begin) {
        self.begin = begin;
    }

    /// Whether a snapshot has been taken.
    #[must_use]
    pub fn has_snapshot(&self) -> bool {
        self.snapshot.is_some()
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
        if self.snapshot.is_none() || self.begin.isolation == Isolation::ReadCommitted {
            self.snapshot = Some(self.manager.visible());
        }
        Ok(ReadView { snapshot: self.snapshot.unwrap_or_default(), command: self.command })
    }

    /// Makes the writes so far visible to what follows within the same statement's snapshot: between the parts of a
    /// statement that see each other (constraint checks after it, statements of a function).
    pub fn next_command(&mut self, view: &ReadView) -> ReadView {
        self.command.0 += 1;
        ReadView { snapshot: view.snapshot, command: self.command }
    }

    /// Keeps the versions `view` sees after its statement has ended (a cursor), until [`Transaction::release_view`].
    pub fn retain_view(&mut self, _view: &ReadView) {}

    /// Gives a retained view up.
    pub fn release_view(&mut self, _view: &ReadView) {}

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
        if let Some(value) = self.own(tree.id(), key, view.command) {
            into.set(Lsn::MAX, value);
            return Ok(value.is_some());
        }
        Ok(tree.get(key, into)? && into.value().is_some())
    }

    /// Reads the *latest* committed state of one record, or this transaction's own write of any command. Only what
    /// the caller has locked stays as it is.
    ///
    /// # Errors
    /// Storage's.
    pub fn get_latest(&mut self, tree: &Tree, key: &[u8], into: &mut RecordBuffer) -> Result<bool> {
        let view = ReadView { snapshot: Lsn::MAX, command: CommandId(u32::MAX) };
        self.get(&view, tree, key, into)
    }

    fn own(&self, tree: TreeId, key: &[u8], before: CommandId) -> Option<Option<&[u8]>> {
        let writes = self.writes.get(&(tree, key.to_vec()))?;
        let last = writes.iter().rev().find(|write| write.command < before)?;
        Some(last.value.as_deref())
    }

    /// Scans a range as `view` shows it. The scan borrows nothing: writes may happen between its steps.
    ///
    /// # Errors
    /// Storage's.
    pub fn scan(
        &mut self,
        view: &ReadView,
        tree: &Arc<Tree>,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Scan> {
        let mut cursor = tree.cursor();
        let mut merged: BTreeMap<Vec<u8>, (Lsn, Option<Vec<u8>>)> = BTreeMap::new();
        cursor.seek(range.low, range.high, direction)?;
        while let Some(record) = cursor.advance()? {
            merged.insert(record.key.to_vec(), (record.lsn, record.value.map(<[u8]>::to_vec)));
        }
        for ((id, key), writes) in &self.writes {
            let inside = (range.low, range.high);
            if *id == tree.id()
                && std::ops::RangeBounds::<[u8]>::contains(&inside, key.as_slice())
                && let Some(last) = writes.iter().rev().find(|write| write.command < view.command)
            {
                merged.insert(key.clone(), (Lsn::MAX, last.value.clone()));
            }
        }
        let mut rows: Vec<_> = merged
            .into_iter()
            .filter_map(|(key, (lsn, value))| value.map(|value| (key, lsn, value)))
            .collect();
        if direction == Direction::Forward {
            rows.reverse();
        }
        Ok(Scan { rows, row: None, cursor })
    }

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
        _mode: RowLock,
        _policy: WaitPolicy,
        into: &mut RecordBuffer,
    ) -> Result<Locked> {
        let _ = view;
        Ok(if self.get_latest(tree, key, into)? { Locked::Same } else { Locked::Gone })
    }

    /// Locks a key that may not exist yet, for an insert or a uniqueness check, and says whether the *latest* state
    /// has a record there (then `into` holds it).
    ///
    /// # Errors
    /// As [`Transaction::lock_row`], but [`Error::Conflict`] never.
    pub fn lock_key(
        &mut self,
        tree: &Tree,
        key: &[u8],
        _mode: RowLock,
        _policy: WaitPolicy,
        into: &mut RecordBuffer,
    ) -> Result<bool> {
        self.get_latest(tree, key, into)
    }

    /// Writes a record, whose key this transaction has locked (an index entry that no one else can reach needs no
    /// lock of its own).
    ///
    /// # Errors
    /// [`storage::Error::TooLarge`], [`Error::OutOfMemory`].
    pub fn put(&mut self, tree: &Tree, key: &[u8], value: &[u8]) -> Result<()> {
        self.write(tree, key, Some(value.to_vec()));
        Ok(())
    }

    /// Deletes a record, whose key this transaction has locked.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub fn delete(&mut self, tree: &Tree, key: &[u8]) -> Result<()> {
        self.write(tree, key, None);
        Ok(())
    }

    fn write(&mut self, tree: &Tree, key: &[u8], value: Option<Vec<u8>>) {
        let command = self.command;
        self.writes.entry((tree.id(), key.to_vec())).or_default().push(Write { command, value });
    }

    /// Takes a table lock, held to the end of the transaction (or of the savepoint it was taken in).
    ///
    /// # Errors
    /// [`Error::Deadlock`], [`Error::LockNotAvailable`], [`Error::Cancelled`].
    pub fn lock_table(
        &mut self,
        _table: TableId,
        _mode: TableLock,
        _policy: WaitPolicy,
    ) -> Result<bool> {
        Ok(true)
    }

    /// A place to roll back to: writes and locks from here on can be undone together.
    pub fn savepoint(&mut self) -> Savepoint {
        self.command.0 += 1;
        Savepoint(self.command.0)
    }

    /// Undoes every write since, and lets go of every lock taken since. The savepoint stays.
    pub fn rollback_to(&mut self, savepoint: Savepoint) {
        for writes in self.writes.values_mut() {
            writes.retain(|write| write.command.0 < savepoint.0);
        }
        self.writes.retain(|_, writes| !writes.is_empty());
        self.command.0 += 1;
    }

    /// Forgets a savepoint; its writes and locks become the surrounding one's.
    pub fn release_savepoint(&mut self, _savepoint: Savepoint) {}

    /// Whether anything has been written.
    #[must_use]
    pub fn has_writes(&self) -> bool {
        !self.writes.is_empty()
    }

    /// How the session waits.
    #[must_use]
    pub fn wait(&self) -> &Arc<SessionWait> {
        &self.wait
    }

    /// Commits: gets ready, claims one log record, validates, applies, releases. What is returned says what the
    /// answer has to wait for. `before_release` runs once everything is applied and before any lock goes: the
    /// catalog is swapped there.
    ///
    /// # Errors
    /// Everything that can fail fails before the claim, and the transaction has then rolled back.
    pub fn commit(self, before_release: &mut dyn FnMut(Lsn)) -> Result<Ended> {
        if self.writes.is_empty() {
            return Ok(Ended { wait_for: self.seen, committed: None });
        }
        let manager = Arc::clone(&self.manager);
        let _commit = manager.commit.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let log = manager.data.log();
        let mut space = log.reserve(SpaceClass::Commit, 1, 0)?;
        let claim = log.claim(&mut space, 0);
        let lsn = claim.publish(RecordKind::FIRST_LOGICAL, &[]);
        for ((tree, key), writes) in &self.writes {
            if let Some(last) = writes.last() {
                let change =
                    last.value.as_deref().map_or(storage::Change::Delete, storage::Change::Put);
                manager.data.tree(*tree)?.apply(lsn, key, change, true, &mut |_| ())?;
            }
        }
        manager.set_visible(lsn);
        before_release(lsn);
        Ok(Ended { wait_for: lsn, committed: Some(lsn) })
    }

    /// Rolls back.
    pub fn rollback(self) -> Ended {
        Ended { wait_for: self.seen, committed: None }
    }
}

/// A scan in progress. It borrows neither transaction nor tree.
#[derive(Debug)]
pub struct Scan {
    rows: Vec<(Vec<u8>, Lsn, Vec<u8>)>,
    row: Option<(Vec<u8>, Lsn, Vec<u8>)>,
    #[expect(dead_code, reason = "the simple form reads ahead of its caller")]
    cursor: Cursor,
}

/// A row that a scan has reached.
#[derive(Clone, Copy, Debug)]
pub struct ScanRow<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// The commit that wrote it; [`Lsn::MAX`] for this transaction's own write.
    pub lsn: Lsn,
    /// Its value.
    pub value: &'a [u8],
}

impl Scan {
    /// The next visible row.
    ///
    /// # Errors
    /// [`Error::SnapshotTooOld`], [`Error::Cancelled`]; storage's.
    pub fn advance(&mut self, _transaction: &mut Transaction) -> Result<Option<ScanRow<'_>>> {
        self.row = self.rows.pop();
        Ok(self.row.as_ref().map(|(key, lsn, value)| ScanRow { key, lsn: *lsn, value }))
    }
}

impl From<std::convert::Infallible> for Error {
    fn from(never: std::convert::Infallible) -> Error {
        match never {}
    }
}
