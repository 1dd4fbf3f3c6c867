//! CREATE INDEX, DROP INDEX and REINDEX CONCURRENTLY: statements of several transactions
//! (`docs/design/0008-concurrent-indexes.md`).
//!
//! The table's lock is held by a transaction that does nothing else and has no snapshot; each step is a transaction of its
//! own beside it, of the same session, so that a deadlock is found through both. A step takes no table lock: it might queue
//! behind somebody who waits for the session's own.

use super::Session;
use super::source::Source;
use super::utility::{Outcome, done, in_block};
use crate::catalog::Relation;
use crate::catalog::relation::IndexState;
use crate::ddl::concurrent::{self, Backfill};
use crate::ddl::{Ddl, index};
use crate::error::Result;
use crate::parse::ast::CreateIndex;
use crate::types::Oid;
use std::collections::HashSet;
use std::sync::Arc;
use txn::{Begin, Lsn, TableLock, Transaction};

/// The transaction that holds a table's lock from the first step to the last.
struct Holder {
    transaction: Transaction,
    table: Arc<Relation>,
}

impl Holder {
    /// Waits for everybody who may still go by a catalog in which the table was another.
    fn await_lockers(&self, mode: TableLock) -> Result<()> {
        Ok(self.transaction.wait_for_lockers(self.table.lock, mode)?)
    }
}

impl Session {
    /// 25001 for a statement that is not alone in its transaction.
    fn demand_alone(&mut self, statement: &str) -> Result<()> {
        let begun = |transaction: &mut Transaction| transaction.has_snapshot();
        if !self.is_alone() || self.block.transaction().is_some_and(begun) {
            return Err(in_block(statement));
        }
        Ok(())
    }

    /// Has a transaction find and lock the table that a statement is about.
    fn hold_table(
        &mut self,
        text: &str,
        find: impl FnOnce(&mut Ddl<'_>) -> Result<Arc<Relation>>,
    ) -> Result<Holder> {
        let mut transaction = self.begin_step();
        let table = self.with_ddl_in(Some(&mut transaction), text, find)?;
        // It is to keep nobody's versions, and nobody is to wait for its snapshot.
        transaction.end_statement();
        Ok(Holder { transaction, table })
    }

    fn begin_step(&self) -> Transaction {
        let begin = Begin { after: self.block.seen, ..Begin::default() };
        self.engine.manager().begin(begin, &self.wait)
    }

    /// Runs a step in a transaction of its own, and commits it; with the LSN that shows what it has done.
    fn step<T>(
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
        self.demand_alone("CREATE INDEX CONCURRENTLY")?;
        let text = parsed.query_text();
        let holder = self.hold_table(text, |ddl| concurrent::lock_table(ddl, create))?;
        if holder.table.persistence == 't' {
            // Nobody else knows the table: it is locked as by any CREATE INDEX.
            drop(holder);
            return done(self.with_ddl(text, |ddl| index::create_index(ddl, create))?);
        }
        let table = holder.table.oid;
        let (made, _) = self.step(text, |ddl| concurrent::make_index(ddl, create, table))?;
        let Some(index) = made else { return done("CREATE INDEX") };
        self.fill_index(&holder, index).inspect_err(|_| self.give_up(table, index))?;
        done("CREATE INDEX")
    }

    /// Fills an index that the last step has made, and has it read.
    fn fill_index(&mut self, holder: &Holder, index: Oid) -> Result<()> {
        let table = holder.table.oid;
        let complete = self.backfill(holder, index)?;
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

    /// Waits for those who do not write an index yet, and writes what they have not; the LSN from which on a snapshot
    /// finds all rows in it.
    fn backfill(&mut self, holder: &Holder, index: Oid) -> Result<Lsn> {
        holder.await_lockers(TableLock::Share)?;
        let mut fill = Backfill::new(holder.table.oid, index);
        let mut complete = Lsn::ZERO;
        loop {
            self.demand_not_cancelled()?;
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

    fn demand_not_cancelled(&self) -> Result<()> {
        match self.wait.cancel.requested() {
            Some(reason) => Err(txn::Error::Cancelled(reason).into()),
            None => Ok(()),
        }
    }
}
