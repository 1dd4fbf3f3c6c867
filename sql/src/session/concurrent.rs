//! CREATE INDEX, DROP INDEX and REINDEX CONCURRENTLY: statements of several transactions
//! (`docs/design/0008-concurrent-indexes.md`).
//!
//! The table's lock is held by a transaction that does nothing else and has no snapshot; each step is a transaction of its
//! own beside it, of the same session, so that a deadlock is found through both. A step takes no table lock: it might queue
//! behind somebody who waits for the session's own.

use super::Session;
use super::utility::{Outcome, done};
use crate::catalog::Relation;
use crate::catalog::relation::{Index, IndexState};
use crate::ddl::concurrent::{self, Backfill, Remade};
use crate::ddl::{self, Ddl};
use crate::error::{Result, Severity, SqlError, cancel};
use crate::parse::ast::{CreateIndex, Drop, ObjectKind, Reindex};
use crate::progress::Command;
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::collections::HashSet;
use std::sync::Arc;
use txn::{Begin, Lsn, SchemeKind, TableLock, Transaction};

/// The transaction that holds a table's lock from the first step to the last.
struct Holder {
    transaction: Transaction,
    table: Arc<Relation>,
}

impl Holder {
    /// Waits for everybody who may still write the table by an older catalog.
    fn await_writers(&self) -> Result<()> {
        Ok(self.transaction.wait_for_lockers(self.table.lock, TableLock::Share)?)
    }

    /// Waits for everybody who may still read or write the table by an older catalog. Who looks into it from another table, to
    /// check a foreign key, has locked it, too.
    fn await_users(&self) -> Result<()> {
        Ok(self.transaction.wait_for_lockers(self.table.lock, TableLock::AccessExclusive)?)
    }
}

/// What `pg_stat_progress_create_index` tells by its figures: the command, the access method, phase and its part.
const CONCURRENTLY: i64 = 2;
const BTREE: i64 = 403;
const BUILDING: i64 = 2;
const SCANNING: i64 = 2;

impl Session {
    /// Has a transaction find and lock the table that a statement is about; none if there is nothing to do.
    fn hold_table<T>(
        &mut self,
        text: &str,
        find: impl FnOnce(&mut Ddl<'_>) -> Result<Option<(Arc<Relation>, T)>>,
    ) -> Result<Option<(Holder, T)>> {
        let mut transaction = self.begin_step();
        let found = self.with_ddl_in(Some(&mut transaction), text, find)?;
        // It is to keep nobody's versions, and nobody is to wait for its snapshot.
        transaction.end_statement();
        Ok(found.map(|(table, found)| (Holder { transaction, table }, found)))
    }

    fn begin_step(&self) -> Transaction {
        // Where rows have no locks of their own, a step keeps their writers away as these do each other.
        let Begin { scheme, database, .. } = self.block.defaults;
        let scheme = if scheme.locks_rows() { SchemeKind::default() } else { scheme };
        let begin = Begin { after: self.block.seen, scheme, database, ..Begin::default() };
        self.engine.manager().begin(begin, &self.wait)
    }

    /// Runs a step in a transaction of its own, and commits it; with the LSN that shows what it has done.
    pub(super) fn step<T>(
        &mut self,
        text: &str,
        body: impl FnOnce(&mut Ddl<'_>) -> Result<T>,
    ) -> Result<(T, Lsn)> {
        let mut transaction = self.begin_step();
        let result = self.with_ddl_in(Some(&mut transaction), text, body);
        let (result, ended) = match result {
            Ok(value) => (Ok(value), self.catalog.commit(transaction)?),
            Err(error) => (Err(error), self.catalog.rollback(transaction)),
        };
        self.block.heard_of(ended.wait_for);
        Ok((result?, ended.wait_for))
    }

    /// CREATE INDEX CONCURRENTLY.
    pub(super) fn create_index_concurrently(
        &mut self,
        parsed: &Arc<Source>,
        create: &CreateIndex,
    ) -> Result<Outcome> {
        self.company().refuse("CREATE INDEX CONCURRENTLY")?;
        let text = parsed.query_text();
        let found =
            self.hold_table(text, |ddl| Ok(Some((concurrent::lock_table(ddl, create)?, ()))))?;
        let Some((holder, ())) = found else { return done("CREATE INDEX") };
        if holder.table.persistence == 't' {
            // Nobody else knows the table: it is locked as by any CREATE INDEX.
            drop(holder);
            return done(self.with_ddl(text, |ddl| ddl::index::create_index(ddl, create))?);
        }
        let table = holder.table.oid;
        let (made, _) = self.step(text, |ddl| concurrent::make_index(ddl, create, table))?;
        let Some(index) = made else { return done("CREATE INDEX") };
        holder.await_writers().and_then(|()| self.fill_index(&holder, index)).inspect_err(
            |_| {
                self.give_up(table, index);
            },
        )?;
        done("CREATE INDEX")
    }

    /// Fills an index that everybody writes, and has it read.
    fn fill_index(&mut self, holder: &Holder, index: Oid) -> Result<()> {
        let table = holder.table.oid;
        let complete = self.backfill(table, index)?;
        self.await_snapshots(holder, complete)?;
        self.step("", |ddl| concurrent::set_state(ddl, table, index, IndexState::Valid))?;
        Ok(())
    }

    /// Waits for older snapshots: those of sessions of other databases do not read the table.
    fn await_snapshots(&self, holder: &Holder, complete: Lsn) -> Result<()> {
        let database = self.catalog.database();
        let sessions = self.engine.activity();
        let elsewhere = sessions.iter().filter(|session| session.database != database);
        let elsewhere: HashSet<u32> = elsewhere.map(|session| session.pid).collect();
        Ok(holder.transaction.wait_for_snapshots(complete, &|pid| !elsewhere.contains(&pid))?)
    }

    /// Writes the entries of rows that were there before an index was written; the LSN from which on a snapshot finds all
    /// rows in it.
    fn backfill(&mut self, table: Oid, index: Oid) -> Result<Lsn> {
        let mut fill = Backfill::new(table, index);
        let mut complete = Lsn::ZERO;
        loop {
            self.demand_not_cancelled()?;
            // Each step is a statement of its own, which tells nothing any more when it has ended.
            self.activity.progress.begin(
                Command::CreateIndex,
                table,
                &[
                    (1, CONCURRENTLY),
                    (7, i64::from(index.0)),
                    (9, BTREE),
                    (10, BUILDING),
                    (11, SCANNING),
                ],
            );
            let (more, at) = self.step("", |ddl| fill.batch(ddl))?;
            complete = complete.max(at);
            if !more {
                break;
            }
        }
        for row in std::mem::take(&mut fill.put_off) {
            loop {
                let (taken, at) = self.step("", |ddl| fill.row(ddl, &row))?;
                complete = complete.max(at);
                let Some(key) = taken else { break };
                self.step("", |ddl| fill.await_key(ddl, &key))?;
            }
        }
        Ok(complete)
    }

    /// Leaves an index that could not be filled to be dropped, or made anew. If that fails as well, it goes on being written.
    fn give_up(&mut self, table: Oid, index: Oid) {
        let _ =
            self.step("", |ddl| concurrent::set_state(ddl, table, index, IndexState::Unwritten));
    }

    /// DROP INDEX CONCURRENTLY.
    pub(super) fn drop_index_concurrently(
        &mut self,
        parsed: &Arc<Source>,
        statement: &Drop,
    ) -> Result<Outcome> {
        self.company().refuse("DROP INDEX CONCURRENTLY")?;
        let text = parsed.query_text();
        let found = self.hold_table(text, |ddl| concurrent::lock_dropped(ddl, statement))?;
        let Some((holder, index)) = found else { return done("DROP INDEX") };
        if holder.table.persistence == 't' {
            drop(holder);
            return done(self.with_ddl(text, |ddl| ddl::drop::drop(ddl, statement))?);
        }
        let table = holder.table.oid;
        self.step("", |ddl| concurrent::retire(ddl, table, index))?;
        self.remove_indexes(&holder, &[index])?;
        done("DROP INDEX")
    }

    /// Drops indexes of a table that nobody reads from now on.
    fn remove_indexes(&mut self, holder: &Holder, indexes: &[Oid]) -> Result<()> {
        let table = holder.table.oid;
        holder.await_users()?;
        for index in indexes {
            let state = IndexState::Unwritten;
            self.step("", |ddl| concurrent::set_state(ddl, table, *index, state))?;
        }
        holder.await_users()?;
        for index in indexes {
            self.step("", |ddl| concurrent::remove(ddl, table, *index))?;
        }
        Ok(())
    }

    /// REINDEX CONCURRENTLY.
    pub(super) fn reindex_concurrently(
        &mut self,
        parsed: &Arc<Source>,
        reindex: &Reindex,
    ) -> Result<Outcome> {
        self.company().refuse("REINDEX CONCURRENTLY")?;
        let text = parsed.query_text();
        if matches!(reindex.kind, ObjectKind::Index | ObjectKind::Table) {
            let found =
                self.hold_table(text, |ddl| concurrent::lock_reindexed(ddl, reindex).map(Some))?;
            let Some((holder, (only, verbose))) = found else { return done("REINDEX") };
            if holder.table.persistence == 't' {
                drop(holder);
                return done(self.with_ddl(text, |ddl| ddl::reindex::reindex(ddl, reindex))?);
            }
            let remade = self.reindex_table(&holder, only, verbose)?;
            let others = holder.table.indexes.iter().any(Index::holds_rows);
            if remade == 0 && only.is_none() && !others && !holder.table.is_toasted() {
                let message = format!(
                    "table \"{}\" has no indexes that can be reindexed concurrently",
                    holder.table.name
                );
                let state = SqlState::SUCCESSFUL_COMPLETION;
                let notice = SqlError::new(state, message).severity(Severity::Notice);
                self.notices.get_mut().push(notice);
            }
            return done("REINDEX");
        }
        let ((tables, verbose), _) = self.step(text, |ddl| concurrent::reindexed(ddl, reindex))?;
        for table in tables {
            let locked = |ddl: &mut Ddl<'_>| {
                Ok(concurrent::lock_by_oid(ddl, table)?.map(|table| (table, ())))
            };
            let Some((holder, ())) = self.hold_table("", locked)? else { continue };
            if holder.table.persistence == 't' {
                drop(holder);
                self.step("", |ddl| ddl::reindex::reindex_alone(ddl, table, verbose))?;
            } else {
                self.reindex_table(&holder, None, verbose)?;
            }
        }
        done("REINDEX")
    }

    /// REINDEX SCHEMA, DATABASE and SYSTEM: each table in a transaction of its own, so that its writers wait for it alone.
    pub(super) fn reindex_tables(
        &mut self,
        parsed: &Arc<Source>,
        reindex: &Reindex,
    ) -> Result<Outcome> {
        let text = parsed.query_text();
        let ((tables, verbose), _) = self.step(text, |ddl| ddl::reindex::listed(ddl, reindex))?;
        for table in tables {
            self.demand_not_cancelled()?;
            self.step("", |ddl| ddl::reindex::reindex_alone(ddl, table, verbose))?;
        }
        done("REINDEX")
    }

    /// Makes an index of a table anew, or all that are valid; how many.
    fn reindex_table(
        &mut self,
        holder: &Holder,
        only: Option<Oid>,
        verbose: bool,
    ) -> Result<usize> {
        let table = holder.table.oid;
        let (remade, _) = self.step("", |ddl| concurrent::make_beside(ddl, table, only))?;
        if !remade.is_empty() {
            let beside: Vec<Oid> = remade.iter().map(|remade| remade.beside).collect();
            self.exchange_filled(holder, &remade).inspect_err(|_| {
                beside.iter().for_each(|index| self.give_up(table, *index));
            })?;
            self.remove_indexes(holder, &beside)?;
        }
        if verbose {
            self.step("", |ddl| {
                concurrent::tell(ddl, &holder.table, &remade, only.is_none());
                Ok(())
            })?;
        }
        Ok(remade.len())
    }

    /// Fills the indexes that stand beside others, and exchanges them.
    fn exchange_filled(&mut self, holder: &Holder, remade: &[Remade]) -> Result<()> {
        let table = holder.table.oid;
        holder.await_writers()?;
        let mut complete = Lsn::ZERO;
        for remade in remade {
            complete = complete.max(self.backfill(table, remade.beside)?);
        }
        self.await_snapshots(holder, complete)?;
        self.step("", |ddl| concurrent::exchange(ddl, table, remade))?;
        Ok(())
    }

    pub(super) fn demand_not_cancelled(&self) -> Result<()> {
        cancel::check(&self.wait.cancel)
    }
}
