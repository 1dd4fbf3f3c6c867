//! Blocks: their variables, their statements, and EXCEPTION, by which a block is a subtransaction (manual, section 43.6.8).

use super::{Execution, Leave};
use crate::error::{Result, Severity, SqlError, cancel};
use crate::plpgsql::tree::{Block, Condition, Handler, VariableType};
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
    /// A block.
    pub(super) fn block(&mut self, block: &Block) -> Result<Leave> {
        let at = self.session.place();
        for number in &block.variables {
            let line = self.body.variables[*number as usize].line;
            self.session.is_at(line, "during statement block local variable initialization");
            self.initialize(*number)?;
        }
        self.session.is_at(at.0, at.1);
        let left = match &block.handlers {
            None => self.statements(&block.body)?,
            Some(handlers) => {
                self.session.begin_subtransaction();
                self.subtransactions += 1;
                let done = self.statements(&block.body);
                self.subtransactions -= 1;
                match done {
                    Ok(left) => {
                        self.session.release_subtransaction();
                        left
                    }
                    Err(error) => {
                        let found =
                            handlers.handlers.iter().find(|handler| catches(handler, &error));
                        let context = self.session.context_text();
                        self.session.rollback_subtransaction();
                        let Some(handler) = found else { return Err(error) };
                        if error.state() == SqlState::QUERY_CANCELED {
                            // Who catches it goes on; who asks again asks anew.
                            self.session.wait.cancel.clear_if(cancel::USER);
                            self.session.wait.cancel.clear_if(cancel::STATEMENT_TIMEOUT);
                        }
                        let error = error.in_whole(&context);
                        self.session.is_at(at.0, at.1);
                        let state = error.state();
                        self.frame.set(handlers.state, Datum::Text(state.code()));
                        self.frame.set(handlers.message, Datum::Text(&error.fields().message));
                        self.handled.push(error);
                        let left = self.statements(&handler.body);
                        self.handled.pop();
                        left?
                    }
                }
            }
        };
        Ok(match left {
            Leave::Exit(Some(label)) if block.label.as_ref() == Some(&label) => Leave::Next,
            left => left,
        })
    }

    /// Gives a variable what it begins with.
    fn initialize(&mut self, number: u32) -> Result<()> {
        let body = std::sync::Arc::clone(&self.body);
        let variable = &body.variables[number as usize];
        if matches!(variable.ty, VariableType::Record) {
            self.frame.set_shape(number, None);
        }
        let Some(default) = &variable.default else {
            self.frame.set(number, Datum::Null);
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

fn catches(handler: &Handler, error: &SqlError) -> bool {
    error.fields().severity == Severity::Error
        && handler.conditions.iter().any(|condition| condition.meets(error.state()))
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
