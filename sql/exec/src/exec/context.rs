//! What operators work with: the transaction, the frame, the arena, and what the session lends them.

use super::code::{Progress, Suspension, Values, Wants};
use super::eval::Eval;
use super::frame::Frame;
use super::record_row::RecordRow;
use super::running::Running;
use super::subquery::{CteState, SubplanState};
use super::temp_file::{TempSpace, TempUse};
use crate::catalog::Relation;
use crate::catalog::relation_counts::SessionCounts;
use crate::compile::code::Code;
use crate::error::{Notice, Result, cancel};
use crate::settings::SessionSettings;
use crate::tuple::RowBuf;
use crate::tuple::row_id::{RowIds, SessionRowIds};
use crate::types::{CallContext, CatalogQueries};
use bumpalo::Bump;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use txn::{ReadView, SessionWait, Transaction, Tree, TreeId};

/// Who knows where cursors stand.
pub trait Cursors {
    /// The key of the table's row that the cursor stands on; none where its row has none of the table.
    ///
    /// # Errors
    /// 34000, 24000, as PostgreSQL has them for WHERE CURRENT OF.
    fn current_row(&self, cursor: &str, table: &Relation) -> Result<Option<Vec<u8>>>;
}

/// What the session lends a statement.
pub struct Host<'s> {
    /// The session's settings.
    pub settings: &'s Running<'s, SessionSettings>,
    /// What functions ask of the catalog.
    pub catalog: &'s dyn CatalogQueries,
    /// The rows of system relations.
    pub system: &'s dyn super::system_scan::SystemRows,
    /// The session's cursors.
    pub cursors: &'s dyn Cursors,
    /// The clock.
    pub clock: &'s dyn txn::Clock,
    /// `now()`.
    pub transaction_time: i64,
    /// `statement_timestamp()`.
    pub statement_time: i64,
    /// Where notices go.
    pub notices: &'s RefCell<Vec<Notice>>,
    /// The state of `random()`.
    pub random: &'s Cell<[u64; 2]>,
    /// Row ids of all sessions.
    pub row_ids: &'s RowIds,
    /// Checks for the transaction's end.
    pub deferred: &'s RefCell<super::deferred::Deferred>,
    /// What the session counts of relations.
    pub counts: &'s SessionCounts,
    /// What the session has in temporary files.
    pub temp_used: &'s TempUse,
    /// How the session is cancelled.
    pub wait: &'s SessionWait,
    /// Who runs routines that users made; nobody where no program calls any.
    pub routines: Option<&'s dyn super::routine::Routines>,
}

impl Host<'_> {
    /// What functions look at, with results in `arena`.
    #[must_use]
    pub fn call<'a>(&'a self, arena: &'a Bump) -> CallContext<'a> {
        CallContext {
            arena,
            settings: &self.settings.get().values,
            transaction_time: self.transaction_time,
            statement_time: self.statement_time,
            clock: self.clock,
            catalog: self.catalog,
            notices: self.notices,
            random: self.random,
            time_read: None,
            constant: false,
        }
    }
}

/// What operators work with.
pub struct Context<'s> {
    /// The transaction.
    pub transaction: &'s mut Transaction,
    /// What the statement sees.
    pub view: ReadView,
    /// The current rows.
    pub frame: &'s mut Frame,
    /// What expressions compute.
    pub arena: &'s mut Bump,
    /// Subqueries of expressions.
    pub subplans: &'s mut Vec<SubplanState>,
    /// Common table expressions.
    pub ctes: &'s mut Vec<CteState>,
    /// `$1` and so on.
    pub parameters: &'s RowBuf,
    /// What the session lends.
    pub host: &'s Host<'s>,
    /// The session's row ids.
    pub row_ids: &'s mut SessionRowIds,
    /// The number of this run, unlike that of every other of the same machine.
    pub run: u64,
    /// Rows changed by the statement's own modification.
    pub processed: &'s mut u64,
    /// Checks for the statement's end.
    pub checks: &'s mut super::deferred::Pending,
    /// What foreign keys may do to other rows; none while one is at work.
    pub actions: &'s mut Vec<Option<super::referential_action::ReferentialAction>>,
}

/// A tree by its number.
///
/// # Errors
/// Storage's.
pub fn tree_of(transaction: &Transaction, id: TreeId) -> Result<Arc<Tree>> {
    Ok(transaction.manager().data().tree(id).map_err(txn::Error::from)?)
}

impl Context<'_> {
    /// 57014 and its kin, where somebody asked the session to stop.
    ///
    /// # Errors
    /// That.
    #[inline]
    pub fn check_cancel(&self) -> Result<()> {
        cancel::check(&self.host.wait.cancel)
    }

    /// A tree by its number.
    ///
    /// # Errors
    /// Storage's.
    pub fn tree(&self, id: TreeId) -> Result<Arc<Tree>> {
        tree_of(self.transaction, id)
    }

    /// Where expressions are evaluated.
    #[must_use]
    #[inline]
    pub fn evaluator(&self) -> Eval<'_> {
        let rows = (&*self.frame, self.parameters);
        Eval::within(self.host, self.arena, rows, self.subplans)
    }

    /// Runs a program and has `look` look at its values. Where it stops for a subquery or a routine, that is run, and it goes on.
    ///
    /// # Errors
    /// Those of the expressions, and of `look`.
    #[inline]
    pub fn eval<T, L: for<'v> FnOnce(&Values<'v>) -> Result<T>>(
        &mut self,
        code: &Code,
        look: L,
    ) -> Result<T> {
        match code.advance(&self.evaluator(), None, look)? {
            Progress::Done(made) => Ok(made),
            Progress::Stopped(suspension, look) => self.go_on(code, suspension, look),
        }
    }

    /// Goes on with a program that has stopped, however often it stops again.
    #[cold]
    fn go_on<T, L: for<'v> FnOnce(&Values<'v>) -> Result<T>>(
        &mut self,
        code: &Code,
        mut suspension: Box<Suspension>,
        mut look: L,
    ) -> Result<T> {
        loop {
            match &suspension.wants {
                Wants::Subquery(number) => self.run_subplan(*number)?,
                Wants::Routine(call) => {
                    let value = self.call_routine(call, None)?;
                    suspension.answer(value);
                }
            }
            // What has been computed stands in the suspension.
            self.arena.reset();
            match code.advance(&self.evaluator(), Some(&suspension), look)? {
                Progress::Done(made) => return Ok(made),
                Progress::Stopped(next, unused) => (suspension, look) = (next, unused),
            }
        }
    }

    /// Puts the values of a program behind those of a row.
    ///
    /// # Errors
    /// Those of the expressions.
    #[inline]
    pub fn compute(&mut self, code: &Code, row: &mut RowBuf) -> Result<()> {
        self.eval(code, |values| {
            values.push_all_to(row);
            Ok(())
        })
    }

    /// Whether all conditions are true of the current row. `correlated` are the subqueries to be run anew for it.
    ///
    /// # Errors
    /// Those of the expressions.
    #[inline]
    pub fn holds(&mut self, conditions: &Code, correlated: &[u32]) -> Result<bool> {
        if conditions.is_empty() {
            return Ok(true);
        }
        self.invalidate(correlated);
        self.eval(conditions, |values| Ok(values.hold()))
    }

    /// Fills a slot with computed columns.
    ///
    /// # Errors
    /// Those of the expressions.
    pub fn fill(&mut self, slot: u32, columns: &Code, correlated: &[u32]) -> Result<()> {
        self.invalidate(correlated);
        let mut row = self.frame.take(slot);
        row.clear();
        let filled = self.compute(columns, &mut row);
        self.frame.put(slot, row);
        filled
    }

    /// Fills a slot with computed columns where another slot's row stands in its record. The program does not stop.
    ///
    /// # Errors
    /// Those of the expressions; XX001.
    pub fn fill_from(&mut self, slot: u32, columns: &Code, record: RecordRow<'_>) -> Result<()> {
        let mut row = self.frame.take(slot);
        row.clear();
        let run = columns.advance(&self.evaluator().beside(&record), None, |values| {
            values.push_all_to(&mut row);
            Ok(())
        });
        let run = run.map(|progress| matches!(progress, Progress::Done(())));
        self.frame.put(slot, row);
        assert!(run?, "whoever lends a record has asked whether the program stops");
        record.end()
    }

    /// Forgets the results of subqueries that depend on the current row.
    #[inline]
    pub fn invalidate(&mut self, subplans: &[u32]) {
        for number in subplans {
            self.subplans[*number as usize].done = false;
        }
    }

    /// Where operators put what they may not hold in memory.
    #[must_use]
    pub fn temp_space(&self) -> TempSpace<'_> {
        TempSpace {
            scratch: self.transaction.manager().data().scratch(),
            used: self.host.temp_used,
            limit: self.host.settings.get().temp_file_limit_bytes,
        }
    }

    /// How many bytes an operator holds before it goes to temporary files.
    #[must_use]
    pub fn memory_limit(&self) -> usize {
        self.host.settings.get().values.spill_bytes()
    }

    /// How many bytes a hash table holds before rows go to temporary files.
    #[must_use]
    pub fn hash_limit(&self) -> usize {
        self.host.settings.get().values.hash_bytes()
    }
}
