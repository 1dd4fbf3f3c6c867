//! Calls of routines that users made: the statement lends what is the transaction's to the session, which runs the body.
//!
//! A body cannot run while an expression is being evaluated, for the same reason as a subquery, because that borrows the frame: the
//! expression's program stops with what is to be called, has it called, and goes on with the value ([`super::code`]).

use super::context::Context;
use super::trigger::Firing;
use crate::catalog::routine::Routine;
use crate::error::{Result, SqlError};
use crate::plan::scalar::CallTypes;
use crate::tuple::row_id::SessionRowIds;
use crate::tuple::{RowBuf, RowSet};
use crate::types::CallContext;
use crate::types::contrib::tablefunc::Answer;
use std::sync::Arc;
use txn::{ReadView, Transaction};

/// What is the transaction's, while a routine runs.
pub struct Lent<'l> {
    /// The transaction.
    pub transaction: &'l mut Transaction,
    /// What the statement around sees.
    pub view: ReadView,
    /// The session's row ids.
    pub row_ids: &'l mut SessionRowIds,
}

/// A call, ready to be made.
#[derive(Debug)]
pub struct RoutineCall {
    /// Of what.
    pub routine: Arc<Routine>,
    /// With which types.
    pub types: Arc<CallTypes>,
    /// With which values.
    pub arguments: RowBuf,
}

/// Who runs routines.
pub trait Routines {
    /// Calls a routine: its value, or its rows. What its expressions look at is `context`, as long as it does nothing but
    /// compute.
    ///
    /// # Errors
    /// Everything that its body fails with.
    fn call(
        &self,
        lent: Lent<'_>,
        context: &CallContext<'_>,
        call: &RoutineCall,
        rows: Option<&mut RowSet>,
    ) -> Result<RowBuf>;
    /// Answers a query that reads.
    ///
    /// # Errors
    /// Those of the query; 0A000 for one that changes rows.
    fn query(&self, lent: Lent<'_>, text: &str) -> Result<Answer>;
    /// Runs the function of a trigger: `next` becomes the row that it returns, all columns by index; false where that is none.
    /// What its expressions look at is `context`, as of a call.
    ///
    /// # Errors
    /// Everything that its body fails with.
    fn fire(
        &self,
        lent: Lent<'_>,
        context: &CallContext<'_>,
        firing: &Firing<'_>,
        next: &mut RowBuf,
    ) -> Result<bool>;
    /// Whether WHEN of a trigger holds. What it looks at is `context`, as of a call.
    ///
    /// # Errors
    /// Those of the condition.
    fn meets(&self, lent: Lent<'_>, context: &CallContext<'_>, firing: &Firing<'_>)
    -> Result<bool>;
}

impl Context<'_> {
    /// Answers a query that reads.
    ///
    /// # Errors
    /// Those of the query; 0A000 where no session runs the statement.
    pub fn query(&mut self, text: &str) -> Result<Answer> {
        let Some(routines) = self.host.routines else {
            return Err(SqlError::unsupported("a function that runs a query is here"));
        };
        let lent = Lent { transaction: self.transaction, view: self.view, row_ids: self.row_ids };
        routines.query(lent, text)
    }

    /// Calls a routine.
    ///
    /// # Errors
    /// Everything that its body fails with; 0A000 where no session runs the statement.
    pub fn call_routine(
        &mut self,
        call: &RoutineCall,
        rows: Option<&mut RowSet>,
    ) -> Result<RowBuf> {
        let Some(routines) = self.host.routines else {
            let name = &call.routine.name;
            return Err(SqlError::unsupported(format!("a call of the function {name} here is")));
        };
        let lent = Lent { transaction: self.transaction, view: self.view, row_ids: self.row_ids };
        routines.call(lent, &self.host.call(self.arena), call, rows)
    }
}
