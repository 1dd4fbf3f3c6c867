//! Calls of routines where no statement runs that could lend its session ([`super::lend`]): while DDL evaluates an index's
//! expression, a CHECK or a generated column over the rows that are there, and within a domain's condition.
//!
//! The body runs in a session of its own that sees the catalog as the statement does. What it does not share is the
//! transaction: so it may compute, and a statement in it that reads a table is refused, rather than answered from rows that the
//! transaction has changed.

use crate::activity::SessionActivity;
use crate::catalog::relation_counts::SessionCounts;
use crate::catalog::{CatalogSnapshot, CatalogTransaction};
use crate::engine::Engine;
use crate::error::{Notice, Result, SqlError};
use crate::exec::routine::{Lent, RoutineCall, Routines};
use crate::exec::trigger::Firing;
use crate::prepared::Planned;
use crate::queries::identity::Identity;
use crate::session::Session;
use crate::settings::session::Settings;
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::CallContext;
use crate::types::contrib::tablefunc::Answer;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use txn::SessionWait;

/// Who calls.
pub(in crate::session) struct Caller<'c> {
    pub engine: &'c Arc<Engine>,
    pub wait: &'c Arc<SessionWait>,
    pub identity: &'c Identity,
    pub settings: &'c Settings,
}

/// Calls routines beside a session.
#[derive(Default)]
pub(in crate::session) struct Aside(Mutex<Option<Box<Session>>>);

impl std::fmt::Debug for Aside {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Aside")
    }
}

impl Aside {
    fn session(&self) -> MutexGuard<'_, Option<Box<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a routine in this state of the catalog.
    pub fn call(
        &self,
        caller: &Caller<'_>,
        snapshot: &CatalogSnapshot,
        notices: &RefCell<Vec<Notice>>,
        call: &RoutineCall,
        rows: Option<&mut RowSet>,
    ) -> Result<RowBuf> {
        let known = self.session().take();
        let known = known.filter(|session| {
            session.catalog.last_snapshot().version() == snapshot.version()
                && session.settings.generation() == caller.settings.generation()
        });
        let mut session = match known {
            Some(session) => session,
            None => Box::new(beside(caller, snapshot)),
        };
        let called = session.call_aside(call, rows);
        notices.borrow_mut().append(session.notices.get_mut());
        *self.session() = Some(session);
        called
    }
}

/// A session that sees what the caller sees.
fn beside(caller: &Caller<'_>, snapshot: &CatalogSnapshot) -> Session {
    let database = snapshot.database_oid();
    let catalog =
        CatalogTransaction::still(caller.engine.catalog(), database, Arc::new(snapshot.clone()));
    let user = caller.identity.user;
    let activity =
        SessionActivity::new("", (database, user), (None, None, None), 0, 1, caller.wait);
    let mut session = Session::open(
        caller.engine,
        Arc::clone(caller.wait),
        caller.identity.clone(),
        caller.settings.clone(),
        catalog,
        Arc::new(activity),
        // What it does is a part of the caller's transaction.
        SessionCounts::default(),
    );
    session.is_aside = true;
    session
}

impl Session {
    fn call_aside(&mut self, call: &RoutineCall, rows: Option<&mut RowSet>) -> Result<RowBuf> {
        let called = crate::types::depth::deeper(|| self.call_routine(call, rows));
        self.within.clear();
        self.with_block(|block, parts| block.rollback(parts));
        self.after_transaction();
        called
    }

    /// 0A000 where a session that has not the transaction would read or change a table.
    pub(in crate::session) fn demand_own(&self, planned: &Planned) -> Result<()> {
        if self.is_aside && !planned.relations.is_empty() {
            return Err(SqlError::unsupported(
                "reading a table in a function that a definition calls is",
            ));
        }
        Ok(())
    }
}

/// Calls routines for an expression that DDL evaluates.
pub(in crate::session) struct Calls<'c> {
    pub engine: &'c Arc<Engine>,
    pub wait: &'c Arc<SessionWait>,
    pub identity: Identity,
    pub settings: &'c Settings,
    pub notices: &'c RefCell<Vec<Notice>>,
    pub snapshot: CatalogSnapshot,
    pub aside: Aside,
}

impl Routines for Calls<'_> {
    fn call(
        &self,
        _: Lent<'_>,
        _: &CallContext<'_>,
        call: &RoutineCall,
        rows: Option<&mut RowSet>,
    ) -> Result<RowBuf> {
        let Calls { engine, wait, identity, settings, notices, snapshot, aside } = self;
        aside.call(&Caller { engine, wait, identity, settings }, snapshot, notices, call, rows)
    }

    fn query(&self, _: Lent<'_>, _: &str) -> Result<Answer> {
        Err(SqlError::unsupported("a query of a function that a definition calls is"))
    }

    fn fire(
        &self,
        _: Lent<'_>,
        _: &CallContext<'_>,
        _: &Firing<'_>,
        _: &mut RowBuf,
    ) -> Result<bool> {
        Err(fires_nothing())
    }

    fn meets(&self, _: Lent<'_>, _: &CallContext<'_>, _: &Firing<'_>) -> Result<bool> {
        Err(fires_nothing())
    }
}

/// An expression changes no rows itself.
fn fires_nothing() -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, "a trigger fires in an expression")
}
