//! Aggregates that users made: their functions are called for each row, between evaluations, so that these may be routines.
//!
//! PostgreSQL: `advance_transition_function` and `finalize_aggregate` of `nodeAgg.c`. A strict transition function leaves out
//! rows with NULLs; where there is no initial state, the first row's argument is it; a state that is NULL then stays so.

use super::context::Context;
use crate::error::Result;
use crate::plan::physical::MadeStep;
use crate::tuple::RowBuf;
use crate::types::{Datum, check_held};
use std::sync::Arc;

/// The state of a group.
pub struct Progress {
    step: Arc<MadeStep>,
    /// The state, and behind it the arguments of the row at hand.
    row: RowBuf,
    state: RowBuf,
    /// Whether a row's argument may still become the state.
    open: bool,
}

impl Progress {
    /// That of a group without rows.
    ///
    /// # Errors
    /// Those of the initial value.
    pub fn begin(cx: &mut Context<'_>, step: &Arc<MadeStep>) -> Result<Progress> {
        let mut state = RowBuf::new();
        cx.eval(|eval| {
            state.clear();
            state.push(eval.scalar(&step.initial)?);
            Ok(())
        })?;
        let (step, open) = (Arc::clone(step), step.takes_first);
        Ok(Progress { step, row: RowBuf::new(), state, open })
    }

    /// About how many bytes the state takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.state.capacity_bytes()
    }

    /// Takes the arguments of one row in.
    ///
    /// # Errors
    /// Those of the transition function.
    pub fn add<'d>(
        &mut self,
        cx: &mut Context<'_>,
        arguments: impl Iterator<Item = Datum<'d>>,
    ) -> Result<()> {
        self.row.clear();
        self.row.push(self.state.get(0));
        let mut null = false;
        for argument in arguments {
            null |= argument.is_null();
            self.row.push(argument);
        }
        if self.step.strict {
            if null {
                return Ok(());
            }
            if std::mem::take(&mut self.open) {
                self.state.clear();
                self.state.push(self.row.get(1));
                return Ok(());
            }
            if self.state.get(0).is_null() {
                return Ok(());
            }
        }
        let next = self.run(cx, false)?;
        self.state = next;
        check_held(self.bytes())
    }

    /// The aggregate's value.
    ///
    /// # Errors
    /// Those of the final function.
    pub fn finish(&mut self, cx: &mut Context<'_>) -> Result<RowBuf> {
        self.row.clear();
        self.row.push(self.state.get(0));
        self.run(cx, true)
    }

    /// Computes over the row.
    fn run(&mut self, cx: &mut Context<'_>, last: bool) -> Result<RowBuf> {
        let step = &self.step;
        let scalar = if last { &step.finish } else { &step.transition };
        let before = cx.frame.take(step.slot);
        cx.frame.put(step.slot, std::mem::take(&mut self.row));
        let mut value = RowBuf::new();
        let done = cx.eval(|eval| {
            value.clear();
            value.push(eval.scalar(scalar)?);
            Ok(())
        });
        self.row = cx.frame.take(step.slot);
        cx.frame.put(step.slot, before);
        done.map(|()| value)
    }
}
