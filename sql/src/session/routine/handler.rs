//! Blocks: their variables, their statements, and EXCEPTION, by which a block is a subtransaction (manual, section 43.6.8).

use super::Execution;
use crate::error::{Result, Severity, SqlError};
use crate::plpgsql::tree::{Condition, VariableType};
use crate::session::Session;
use crate::sqlstate::SqlState;
use crate::types::{Datum, SqlType};

impl Condition {
    /// Whether an error meets it.
    fn meets(self, state: SqlState) -> bool {
        match self {
            Condition::Others => {
                state != SqlState::QUERY_CANCELED && state != SqlState::ASSERT_FAILURE
            }
            Condition::State(wanted) => {
                let own = state.code().as_bytes();
                // A class is met by all of its conditions.
                own == wanted || wanted.ends_with(b"000") && own[..2] == wanted[..2]
            }
        }
    }
}

impl Execution<'_> {
    /// Gives a variable what it begins with.
    pub(super) fn initialize(&mut self, number: u32) -> Result<()> {
        let body = std::sync::Arc::clone(&self.body);
        let variable = &body.variables[number as usize];
        if matches!(variable.ty, VariableType::Record) {
            self.kit.frame.set_shape(number, None);
        }
        let Some(default) = &variable.default else {
            self.kit.frame.set(number, Datum::Null);
            if let VariableType::Scalar(ty) | VariableType::Row(ty) = variable.ty {
                self.check_null_domain(ty)?;
            }
            return Ok(());
        };
        self.assign(number, default)
    }

    /// A domain may refuse the NULL that a variable begins with.
    pub(super) fn check_null_domain(&mut self, ty: SqlType) -> Result<()> {
        if !crate::catalog::builtin::is_domain(ty.oid.0) {
            return Ok(());
        }
        self.session.with_context(|context| crate::types::domain::null(context, ty).map(|_| ()))
    }
}

/// Whether a handler of these conditions handles an error.
pub(super) fn catches(conditions: &[Condition], error: &SqlError) -> bool {
    error.fields().severity == Severity::Error
        && conditions.iter().any(|condition| condition.meets(error.state()))
}

impl Session {
    pub(super) fn begin_subtransaction(&mut self) {
        let (engine, wait) =
            (std::sync::Arc::clone(&self.engine), std::sync::Arc::clone(&self.wait));
        self.block.ensure(engine.manager(), &wait);
        self.with_block(|block, parts| block.begin_subtransaction(parts));
    }

    pub(super) fn release_subtransaction(&mut self) {
        self.with_block(|block, parts| block.release_subtransaction(parts));
        self.keep_released();
        self.settings_changed();
    }

    pub(super) fn rollback_subtransaction(&mut self) {
        self.close_behind_savepoint();
        self.with_block(|block, parts| block.rollback_subtransaction(parts));
        self.changes += 1;
        self.settings_changed();
    }
}
