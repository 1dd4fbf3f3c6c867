//! What a transaction under `occ` notes of its reads, and what becomes of them at its commit.
//!
//! Only a transaction that may write notes anything: one that is READ ONLY reads its snapshot, and the commits at or
//! below a snapshot are a prefix of the serial order, which is the order of LSNs. So it needs no validation.
//!
//! A read set past its limit takes a SHARE lock on the table that is being read: what has been read of it must then
//! still stand, and stays so, and nothing more is noted of it.

use super::{Purpose, Transaction};
use super::{RecordBuffer, RecordView};
use crate::lock::{TableLock, WaitPolicy};
use crate::planted::Fault;
use crate::scheme::Tracking;
use crate::scheme::occ::{ReadSet, Verdict};
use crate::scheme::ssi::Reason;
use crate::{ConflictKind, Error, Isolation, Lsn, ReadView, Result, TableId, TreeId};
use storage::Tree;

impl Transaction {
    /// Whether what this transaction reads is noted.
    #[must_use]
    pub fn notes_reads(&self) -> bool {
        matches!(self.tracking.as_deref(), Some(Tracking::Ssi(_) | Tracking::Occ(_)))
    }

    /// Says which trees a table has. The layer above calls this before it reads of them, where [`Transaction::notes_reads`].
    /// False if all of it is known.
    pub fn read_table(&mut self, table: TableId, mut trees: impl Iterator<Item = TreeId>) -> bool {
        match self.tracking.as_deref_mut() {
            Some(Tracking::Occ(reads)) => {
                trees.filter(|tree| reads.belongs(*tree, table)).count() > 0
            }
            Some(Tracking::Ssi(part)) => {
                part.table_has(&self.manager.ssi, table, &mut trees);
                false
            }
            Some(Tracking::Locking(_) | Tracking::Stamped(_) | Tracking::Partitioned(_)) | None => {
                false
            }
        }
    }

    /// Reads what the page has of a record, and notes it where reads are noted.
    #[inline]
    pub(super) fn read_page(
        &mut self,
        view: &ReadView,
        (tree, key): (&Tree, &[u8]),
        purpose: Purpose,
        into: &mut storage::RecordBuffer,
    ) -> Result<bool> {
        let found = match purpose {
            Purpose::Claim => {
                // Keys that are inserted one behind the other share a leaf, and mostly a gap there. `ssi` notes no claims: they are of the
                // latest state.
                let keeps = self.keeps_rows();
                let leaves = &mut self.state_mut().leaves;
                if keeps && tree.is_in_gap(key, leaves.gap(tree.id())) {
                    return Ok(false);
                }
                into.look_near(leaves.of(tree.id()));
                tree.get_beside(key, into, leaves.gap(tree.id()))?
            }
            Purpose::Look | Purpose::Way(_) | Purpose::Lock(..) => tree.get(key, into)?,
        };
        self.state_mut().leaves.note(tree.id(), into.token());
        if self.tracking.is_some() && !view.is_passing() {
            let on_page = found.then(|| into.lsn());
            self.note_point(view, (tree.id(), key), on_page, into.token())?;
        }
        Ok(found)
    }

    /// Takes a table lock instead of notes, where there are too many of them.
    pub(super) fn bound_reads(&mut self, tree: TreeId) -> Result<()> {
        let limit = self.manager.options.read_set_bytes_max;
        let Some(reads) = self.tracking.as_deref().and_then(Tracking::occ) else { return Ok(()) };
        if reads.bytes() <= limit {
            return Ok(());
        }
        let Some(table) = reads.table_of(tree) else {
            // Of the catalog little is read, and of what is the transaction's own nothing has to be noted.
            return Ok(());
        };
        self.freeze(table)
    }

    /// Locks a table against writers, and makes sure that what has been read of it still stands.
    fn freeze(&mut self, table: TableId) -> Result<()> {
        self.keep_writers_out(table)?;
        self.check_reads()?;
        if let Some(reads) = self.noted() {
            reads.freeze(table);
        }
        Ok(())
    }

    /// Locks every table that something has been read of against writers, and makes sure that it stands: what a prepared
    /// transaction keeps of its reads.
    pub(crate) fn freeze_reads(&mut self) -> Result<()> {
        let tables = self.noted().map(|reads| reads.tables()).unwrap_or_default();
        for table in &tables {
            self.keep_writers_out(*table)?;
        }
        self.check_reads()
    }

    /// Locks a table that has been read. A prepared transaction that has written there may never end, or only once this one
    /// has: so that is a conflict at once.
    fn keep_writers_out(&mut self, table: TableId) -> Result<()> {
        if self.lock_table(table, TableLock::Share, WaitPolicy::Skip)? {
            return Ok(());
        }
        let (me, locks) = (self.state().owner, &self.manager.locks);
        let mut prepared = false;
        locks.tables.conflicting(&locks.owners, table, TableLock::Share, &mut |owner| {
            prepared |= owner != me && locks.owners.get(owner).is_prepared();
        });
        if prepared {
            return Err(Error::Conflict(ConflictKind::ReadWrite(Reason::Validation)));
        }
        self.lock_table(table, TableLock::Share, WaitPolicy::Block)?;
        Ok(())
    }

    /// Makes sure that all that has been read still stands, where it is noted. May wait for pages; what commits meanwhile it
    /// may miss.
    ///
    /// # Errors
    /// [`Error::Conflict`]; storage's.
    pub fn check_reads(&mut self) -> Result<()> {
        let Some(snapshot) = self.snapshot else { return Ok(()) };
        let reads = self.tracking.as_deref_mut().and_then(Tracking::occ_mut);
        let Some(reads) = reads else { return Ok(()) };
        if self.manager.planted(Fault::SkipValidation) {
            return Ok(());
        }
        reads.resolve(&self.manager.data)?;
        match reads.check(snapshot, true)? {
            Verdict::Holds => self.snapshot_stands(),
            Verdict::Broken(lsn) => {
                self.failed_by = self.failed_by.max(lsn);
                Err(Error::Conflict(ConflictKind::ReadWrite(Reason::Validation)))
            }
            Verdict::Unsure => unreachable!("who waits is never unsure"),
        }
    }

    /// Tombstones above the snapshot are kept as long as it is, and validation finds what was deleted by them.
    pub(crate) fn snapshot_stands(&self) -> Result<()> {
        let owner = self.manager.locks.owners.get(self.state().owner);
        if owner.is_too_old() { Err(Error::SnapshotTooOld) } else { Ok(()) }
    }

    /// Whether the row at `key` is one that `view` shows, or this transaction's own: above READ COMMITTED nobody may act
    /// on another, not even by leaving it alone (ON CONFLICT DO NOTHING).
    ///
    /// # Errors
    /// [`Error::Conflict`] if not; storage's.
    pub fn demand_visible(
        &mut self,
        view: &ReadView,
        tree: &Tree,
        key: &[u8],
        into: &mut RecordBuffer,
    ) -> Result<()> {
        if self.level == Isolation::ReadCommitted || self.get(view, tree, key, into)? {
            return Ok(());
        }
        let there = self.get_latest(tree, key, into)?;
        if there && into.lsn() != Lsn::MAX {
            self.seen = self.seen.max(into.lsn());
            return Err(self.overtaken(ConflictKind::Update));
        }
        Ok(())
    }
}

impl Transaction {
    /// Reads by a snapshot that is taken now, at every level, and sees all own writes: what maintains or checks a table that
    /// others write to reads so (PostgreSQL's `GetLatestSnapshot`). It is no part of what the transaction itself has read.
    ///
    /// # Errors
    /// Those of `body`; [`Error::Cancelled`].
    pub fn by_newest_snapshot<T, E: From<Error>>(
        &mut self,
        body: impl FnOnce(&mut Transaction, &ReadView) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let snapshot = match self.kept_snapshot() {
            Some(_) => {
                self.manager.locks.owners.get(self.state().owner).need_several();
                self.manager.wait_to_see(self.seen, &self.wait)?;
                self.manager.visible()
            }
            None => {
                let view = self.begin_statement()?;
                self.snapshot.unwrap_or(view.snapshot)
            }
        };
        let tracking = self.tracking.take();
        let done = body(self, &ReadView { snapshot, ..ReadView::LATEST });
        self.tracking = tracking;
        done
    }

    /// The view of a record that this transaction has loaded into a tree of its own, which nobody else can reach.
    #[must_use]
    pub fn view_of_loaded(&self) -> RecordView {
        RecordView::of(&ReadView::LATEST)
    }

    /// The read set, of a transaction that has one.
    pub(super) fn noted(&mut self) -> Option<&mut ReadSet> {
        self.tracking.as_deref_mut().and_then(Tracking::occ_mut)
    }
}
