//! A statement that calls routines: what is the transaction's is lent to it, and back to the session while a routine runs.
//!
//! A plan's run borrows what it works with, the session included; a routine's body wants all of the session. So such a run has
//! the session behind a cell and works with what was taken out of it: the transaction, notices, sequences, checks that wait and
//! the like. For the time of a call these change places with what stands in the session for them. A function that only computes is
//! run without that.

use super::in_place::Called;
use super::trigger::Fired;
use crate::catalog::CatalogSnapshot;
use crate::catalog::relation_counts::SessionCounts;
use crate::catalog::sequence::SessionSequences;
use crate::error::{Notice, Result, SqlError};
use crate::exec::deferred::Deferred;
use crate::exec::routine::{Lent, RoutineCall, Routines};
use crate::exec::trigger::Firing;
use crate::exec::{Host, Run};
use crate::notify::Sayings;
use crate::prepared::Named;
use crate::queries::SessionCatalog;
use crate::queries::backup::SessionBackup;
use crate::queries::running::RunningSettings;
use crate::session::Session;
use crate::session::domain::KnownDomains;
use crate::session::facts::{Own, SessionFacts, Shared};
use crate::session::portal::Portal;
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::CallContext;
use crate::types::contrib::tablefunc::Answer;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use txn::{AdvisoryLocks, ReadView};

/// What is taken out of a session for such a run.
struct Held {
    notices: RefCell<Vec<Notice>>,
    random: Cell<[u64; 2]>,
    sequences: RefCell<SessionSequences>,
    domains: RefCell<KnownDomains>,
    advisory: RefCell<AdvisoryLocks>,
    deferred: RefCell<Deferred>,
    said: RefCell<Sayings>,
    exported: RefCell<Vec<String>>,
    backup: RefCell<Option<Box<SessionBackup>>>,
    xact_id: Cell<Option<u64>>,
    counts: SessionCounts,
    statements: RefCell<FxHashMap<String, Named>>,
    portals: RefCell<FxHashMap<String, Box<Portal>>>,
}

impl Held {
    /// What stands for it.
    fn stand_in(session: &Session) -> Held {
        Held {
            notices: RefCell::default(),
            random: Cell::new([1, 2]),
            sequences: RefCell::default(),
            domains: RefCell::default(),
            advisory: RefCell::new(AdvisoryLocks::new(session.engine.manager(), &session.wait)),
            deferred: RefCell::default(),
            said: RefCell::default(),
            exported: RefCell::default(),
            backup: RefCell::default(),
            xact_id: Cell::default(),
            counts: session.counts.stand_in(),
            statements: RefCell::default(),
            portals: RefCell::default(),
        }
    }

    /// Changes places with what the session has.
    fn exchange(&self, session: &mut Session) {
        self.notices.swap(&session.notices);
        self.random.swap(&session.random);
        self.sequences.swap(&session.sequences);
        self.domains.swap(&session.domains);
        self.advisory.swap(&session.advisory);
        self.deferred.swap(&session.deferred);
        self.said.swap(&session.said);
        self.exported.swap(&session.exported);
        self.backup.swap(&session.backup);
        self.xact_id.swap(&session.xact_id);
        self.counts.exchange(&session.counts);
        std::mem::swap(&mut *self.statements.borrow_mut(), &mut session.statements);
        std::mem::swap(&mut *self.portals.borrow_mut(), &mut session.portals);
    }
}

/// Runs routines for a statement.
struct Lender<'s> {
    session: RefCell<&'s mut Session>,
    held: &'s Held,
    running: &'s RunningSettings<'s>,
    /// The catalog that the statement's expressions look at.
    snapshot: &'s Arc<CatalogSnapshot>,
    /// How many triggers are firing.
    trigger_depth: &'s Cell<u32>,
}

impl Lender<'_> {
    /// Whether the statement's expressions look at what the session looks at.
    fn looks_at_the_same(&self, session: &Session) -> bool {
        !self.running.is_changed() && Arc::ptr_eq(self.snapshot, session.catalog.last_snapshot())
    }

    /// Calls a routine in what the statement's expressions look at, as far as that goes.
    fn call_here(&self, context: &CallContext<'_>, call: &RoutineCall) -> Result<Called> {
        let session = &mut **self.session.borrow_mut();
        if !self.looks_at_the_same(session) {
            return Ok(Called::Unfinished(None));
        }
        session.call_here(call, context)
    }

    /// The same of a trigger.
    fn fire_here(
        &self,
        context: &CallContext<'_>,
        firing: &Firing<'_>,
        next: &mut RowBuf,
    ) -> Result<Fired> {
        let session = &mut **self.session.borrow_mut();
        if !self.looks_at_the_same(session) {
            return Ok(Fired::Unfinished(None));
        }
        self.deeper(1 + firing.actions, || session.fire_here(firing, context, next))
    }

    /// Whether WHEN of a trigger holds, where that can be found out in what the statement's expressions look at.
    fn meets_here(&self, context: &CallContext<'_>, firing: &Firing<'_>) -> Result<Option<bool>> {
        let session = &mut **self.session.borrow_mut();
        if !self.looks_at_the_same(session) {
            return Ok(None);
        }
        self.deeper(firing.actions, || session.meets_here(firing, context))
    }

    /// Does something within so many more triggers.
    fn deeper<T>(&self, levels: u32, run: impl FnOnce() -> T) -> T {
        let outside = self.trigger_depth.get();
        self.trigger_depth.set(outside + levels);
        let done = run();
        self.trigger_depth.set(outside);
        done
    }

    /// Has the session run something with what is lent.
    fn with<T>(&self, lent: Lent<'_>, run: impl FnOnce(&mut Session) -> Result<T>) -> Result<T> {
        let session = &mut **self.session.borrow_mut();
        self.held.exchange(session);
        std::mem::swap(&mut session.row_ids, lent.row_ids);
        session.block.put_transaction(lent.transaction.lend());
        if let Some(changed) = self.running.changed()
            && changed.generation() != session.settings.generation()
        {
            session.take_settings(Some(Box::new(changed)));
        }
        let generation = session.settings.generation();
        let done = catch_unwind(AssertUnwindSafe(|| run(session)));
        let back = session.block.take_transaction();
        std::mem::swap(&mut session.row_ids, lent.row_ids);
        self.held.exchange(session);
        if session.settings.generation() != generation {
            self.running.adopt(&session.settings, &session.path, &session.identity);
        }
        let open = back.is_some();
        if let Some(back) = back {
            *lent.transaction = back;
        }
        match done {
            Ok(done) if open => done,
            Ok(_) => Err(SqlError::new(
                SqlState::INVALID_TRANSACTION_TERMINATION,
                "invalid transaction termination",
            )),
            Err(payload) => resume_unwind(payload),
        }
    }
}

impl Routines for Lender<'_> {
    fn call(
        &self,
        lent: Lent<'_>,
        context: &CallContext<'_>,
        call: &RoutineCall,
        rows: Option<&mut RowSet>,
    ) -> Result<RowBuf> {
        let mut begun = match rows {
            Some(_) => None,
            None => match self.call_here(context, call)? {
                Called::Finished(value) => return Ok(value),
                Called::Unfinished(begun) => begun,
            },
        };
        // What is not volatile sees what the statement sees that calls it (`SPI`'s read-only mode).
        let view = Some(lent.view).filter(|_| call.routine.volatility != b'v');
        self.with(lent, |session| {
            let outer = std::mem::replace(&mut session.called_view, view);
            let done = match begun.take() {
                Some(begun) => session.finish_call(begun),
                None => session.call_routine(call, rows).and_then(|value| {
                    session.note_call(call)?;
                    Ok(value)
                }),
            };
            session.called_view = outer;
            done
        })
    }

    fn query(&self, lent: Lent<'_>, text: &str) -> Result<Answer> {
        self.with(lent, |session| session.answer(text, (&[], RowBuf::new())))
    }

    fn fire(
        &self,
        lent: Lent<'_>,
        context: &CallContext<'_>,
        firing: &Firing<'_>,
        next: &mut RowBuf,
    ) -> Result<bool> {
        match self.fire_here(context, firing, next)? {
            Fired::Finished(changed) => Ok(changed),
            Fired::Unfinished(begun) => {
                let view = lent.view;
                self.with(lent, |session| session.fire_trigger(firing, view, begun, next))
            }
        }
    }

    fn meets(
        &self,
        lent: Lent<'_>,
        context: &CallContext<'_>,
        firing: &Firing<'_>,
    ) -> Result<bool> {
        match self.meets_here(context, firing)? {
            Some(met) => Ok(met),
            None => self.with(lent, |session| session.trigger_meets(firing)),
        }
    }
}

impl Session {
    /// As [`Session::with_run`], for a program that calls routines.
    pub(in crate::session) fn with_lent_run<T>(
        &mut self,
        view: ReadView,
        parameters: &RowBuf,
        body: impl FnOnce(&mut Run<'_, '_>) -> T,
    ) -> T {
        let mut transaction =
            self.block.take_transaction().expect("the portal's transaction is open");
        let mut row_ids = std::mem::take(&mut self.row_ids);
        let (engine, wait) = (Arc::clone(&self.engine), Arc::clone(&self.wait));
        let activity = Arc::clone(&self.activity);
        let (settings, path) = (self.settings.clone(), self.path.clone());
        let (identity, long_query) = (self.identity.clone(), self.long_query.clone());
        let temp_used = self.temp_used.clone();
        let seen = self.catalog.seen_at(view.snapshot);
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        let catalog = Arc::clone(self.catalog.catalog());
        let database = self.catalog.database();
        let (statement_time, transaction_time) = (self.block.statement_time, self.block.started);
        let (depth, number) = (self.block.depth(), self.block.number);
        let exporter = Some(transaction.exporter(database.0));
        let has_acted = transaction.has_writes() || transaction.has_locked_rows();
        let self_event = self.events.last().cloned();
        let (held, trigger_depth) = (Held::stand_in(self), Cell::new(self.firing.len() as u32));
        held.exchange(self);
        let already = held.exported.borrow().len();
        let mut running = RunningSettings::new(&settings, &path, &identity);
        let lender = Lender {
            session: RefCell::new(&mut *self),
            held: &held,
            running: &running,
            snapshot: &snapshot,
            trigger_depth: &trigger_depth,
        };
        let own = Own {
            pid: wait.pid,
            said: &held.said,
            xact_id: &held.xact_id,
            exported: &held.exported,
            backup: &held.backup,
            exporter,
            depth,
            transaction: number,
            has_acted,
            snapshot: Some(view.snapshot),
            long_query: &long_query,
            activity: &activity,
            counts: &held.counts,
            trigger_depth: &trigger_depth,
            event: self_event,
        };
        let asked = SessionFacts {
            engine: &engine,
            statements: Shared::Lent(&held.statements),
            portals: Shared::Lent(&held.portals),
            unnamed: None,
            executed: None,
            domains: &held.domains,
            wait: &wait,
            own: Some(own),
        };
        let queries = SessionCatalog {
            snapshot: &snapshot,
            settings: &running,
            demands_usage: true,
            engine: &asked,
            catalog: &catalog,
            sequences: &held.sequences,
            advisory: &held.advisory,
        };
        let shown = SessionCatalog { snapshot: &seen, ..queries };
        let environment = engine.manager().environment();
        let host = Host {
            settings: &running.plain,
            catalog: &queries,
            system: &shown,
            cursors: &asked,
            clock: &*environment.clock,
            transaction_time,
            statement_time,
            notices: &held.notices,
            random: &held.random,
            row_ids: engine.row_ids(),
            deferred: &held.deferred,
            counts: &held.counts,
            temp_used: &temp_used,
            wait: &wait,
            routines: Some(&lender),
        };
        let result = {
            let mut run = Run {
                transaction: &mut transaction,
                view,
                parameters,
                host: &host,
                row_ids: &mut row_ids,
            };
            catch_unwind(AssertUnwindSafe(|| body(&mut run)))
        };
        if held.exported.borrow().len() > already {
            transaction.retain_view(&view);
        }
        let set = running.end();
        held.exchange(self);
        self.row_ids = row_ids;
        self.block.put_transaction(transaction);
        self.take_settings(set);
        match result {
            Ok(result) => result,
            Err(payload) => resume_unwind(payload),
        }
    }
}
