//! Aggregates that users made: their functions are called for each row, between evaluations, so that these may be routines.
//!
//! PostgreSQL: `advance_transition_function` and `finalize_aggregate` of `nodeAgg.c`. A strict transition function leaves out
//! rows with NULLs; where there is no initial state, the first row's argument is it; a state that is NULL then stays so.

use super::context::Context;
use crate::error::{Result, SqlError};
use crate::plan::physical::MadeStep;
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
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
    /// How many rows are in the state.
    count: usize,
    /// What is given once for the group, of its first row.
    once: Option<RowBuf>,
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
        Ok(Progress { step, row: RowBuf::new(), state, open, count: 0, once: None })
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
        let direct = self.step.direct;
        let null = self.take_in(arguments);
        if direct > 0 && self.once.is_none() {
            let once = self.once.get_or_insert_default();
            (1..=direct).for_each(|at| once.push(self.row.get(at)));
        }
        if self.step.strict {
            if null {
                return Ok(());
            }
            if std::mem::take(&mut self.open) {
                self.state.clear();
                self.state.push(self.row.get(1 + direct));
                self.count = 1;
                return Ok(());
            }
            if self.state.get(0).is_null() {
                return Ok(());
            }
        }
        let step = Arc::clone(&self.step);
        let next = self.run(cx, &step.transition)?;
        if step.inverse.is_some() && next.get(0).is_null() {
            return Err(SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "moving-aggregate transition function must not return null",
            ));
        }
        self.state = next;
        self.count += 1;
        check_held(self.bytes())
    }

    /// Puts a row's arguments behind the state; whether one of those that come with each row is NULL.
    fn take_in<'d>(&mut self, arguments: impl Iterator<Item = Datum<'d>>) -> bool {
        let mut null = false;
        for (at, argument) in arguments.enumerate() {
            null |= at >= self.step.direct && argument.is_null();
            self.row.push(argument);
        }
        null
    }

    /// Takes one row that is in the state out of it, by the inverse function; false where that cannot say what is left
    /// (`advance_windowaggregate_base`).
    ///
    /// # Errors
    /// Those of the inverse function.
    pub fn remove<'d>(
        &mut self,
        cx: &mut Context<'_>,
        arguments: impl Iterator<Item = Datum<'d>>,
    ) -> Result<bool> {
        let step = Arc::clone(&self.step);
        let Some(inverse) = &step.inverse else { return Ok(false) };
        self.row.clear();
        self.row.push(self.state.get(0));
        let null = self.take_in(arguments);
        if step.strict && null {
            return Ok(true);
        }
        if self.count <= 1 {
            *self = Progress::begin(cx, &step)?;
            return Ok(true);
        }
        let next = self.run(cx, inverse)?;
        if next.get(0).is_null() {
            return Ok(false);
        }
        self.state = next;
        self.count -= 1;
        Ok(true)
    }

    /// The aggregate's value. What is given once is computed by these where there has been no row.
    ///
    /// # Errors
    /// Those of the final function.
    pub fn finish(&mut self, cx: &mut Context<'_>, arguments: &[Scalar]) -> Result<RowBuf> {
        let step = Arc::clone(&self.step);
        if self.once.is_none() && step.direct > 0 {
            let mut once = RowBuf::new();
            cx.eval(|eval| {
                once.clear();
                for argument in &arguments[..step.direct] {
                    once.push(eval.scalar(argument)?);
                }
                Ok(())
            })?;
            self.once = Some(once);
        }
        self.row.clear();
        self.row.push(self.state.get(0));
        if let Some(once) = &self.once {
            (0..step.direct).for_each(|at| self.row.push(once.get(at)));
        }
        self.run(cx, &step.finish)
    }

    /// Computes over the row.
    fn run(&mut self, cx: &mut Context<'_>, scalar: &Scalar) -> Result<RowBuf> {
        let step = &self.step;
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
