//! Aggregates that users made: their functions are called for each row, between evaluations, so that these may be routines.
//!
//! PostgreSQL: `advance_transition_function` and `finalize_aggregate` of `nodeAgg.c`. A strict transition function leaves out
//! rows with NULLs; where there is no initial state, the first row's argument is it; a state that is NULL then stays so.

use super::context::Context;
use super::operator::Builder;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::physical::MadeStep;
use crate::plan::scalar::Scalar;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{Datum, check_held};
use std::sync::Arc;

/// What computes such an aggregate.
pub struct MadeCode {
    /// As the plan has it.
    step: Arc<MadeStep>,
    initial: Arc<Code>,
    transition: Arc<Code>,
    finish: Arc<Code>,
    inverse: Option<Arc<Code>>,
    /// What is given once for a group.
    direct: Arc<Code>,
    /// How it is computed over a frame that moves.
    pub moving: Option<Arc<MadeCode>>,
}

impl MadeCode {
    /// Of an aggregate with these arguments.
    #[must_use]
    pub fn of(step: &Arc<MadeStep>, arguments: &[Scalar], builder: &Builder<'_>) -> Arc<MadeCode> {
        let moving = step.moving.as_ref();
        Arc::new(MadeCode {
            initial: builder.code([&step.initial]),
            transition: builder.code([&step.transition]),
            finish: builder.code([&step.finish]),
            inverse: step.inverse.as_ref().map(|inverse| builder.code([inverse])),
            direct: builder.code(&arguments[..step.direct]),
            moving: moving.map(|moving| MadeCode::of(moving, arguments, builder)),
            step: Arc::clone(step),
        })
    }
}

/// The state of a group.
pub struct Progress {
    made: Arc<MadeCode>,
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
    pub fn begin(cx: &mut Context<'_>, made: &Arc<MadeCode>) -> Result<Progress> {
        let mut state = RowBuf::new();
        cx.compute(&made.initial, &mut state)?;
        let (made, open) = (Arc::clone(made), made.step.takes_first);
        Ok(Progress { made, row: RowBuf::new(), state, open, count: 0, once: None })
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
        let direct = self.made.step.direct;
        let null = self.take_in(arguments);
        if direct > 0 && self.once.is_none() {
            let once = self.once.get_or_insert_default();
            (1..=direct).for_each(|at| once.push(self.row.get(at)));
        }
        if self.made.step.strict {
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
        let made = Arc::clone(&self.made);
        let next = self.run(cx, &made.transition)?;
        if made.inverse.is_some() && next.get(0).is_null() {
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
            null |= at >= self.made.step.direct && argument.is_null();
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
        let made = Arc::clone(&self.made);
        let Some(inverse) = &made.inverse else { return Ok(false) };
        self.row.clear();
        self.row.push(self.state.get(0));
        let null = self.take_in(arguments);
        if made.step.strict && null {
            return Ok(true);
        }
        if self.count <= 1 {
            *self = Progress::begin(cx, &made)?;
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

    /// The aggregate's value. What is given once is computed where there has been no row.
    ///
    /// # Errors
    /// Those of the final function.
    pub fn finish(&mut self, cx: &mut Context<'_>) -> Result<RowBuf> {
        let made = Arc::clone(&self.made);
        let direct = made.step.direct;
        if self.once.is_none() && direct > 0 {
            cx.compute(&made.direct, self.once.insert(RowBuf::new()))?;
        }
        self.row.clear();
        self.row.push(self.state.get(0));
        if let Some(once) = &self.once {
            (0..direct).for_each(|at| self.row.push(once.get(at)));
        }
        self.run(cx, &made.finish)
    }

    /// Computes over the row.
    fn run(&mut self, cx: &mut Context<'_>, code: &Code) -> Result<RowBuf> {
        let slot = self.made.step.slot;
        let before = cx.frame.take(slot);
        cx.frame.put(slot, std::mem::take(&mut self.row));
        let mut value = RowBuf::new();
        let done = cx.compute(code, &mut value);
        self.row = cx.frame.take(slot);
        cx.frame.put(slot, before);
        done.map(|()| value)
    }
}
