//! What volatile calls have given in an evaluation: where a subquery has to be run first and the evaluation begins again,
//! they are not called again but give the same, so that a sequence has given one value.
//!
//! A call is known by where its callee stands, which does not move while a statement runs, and by the turn of the loop over
//! an array's elements that it stands in.

use crate::plan::scalar::Callee;
use crate::tuple::RowBuf;
use crate::types::Datum;
use std::cell::{Cell, RefCell};

/// Which call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where its callee stands.
    callee: usize,
    /// The turn of the loop: 0 outside of any.
    turn: u64,
}

/// Values by their calls.
#[derive(Debug, Default)]
struct Values {
    calls: Vec<Place>,
    values: RowBuf,
}

/// The values of the volatile calls of one evaluation.
#[derive(Debug, Default)]
pub struct VolatileMemo {
    /// From attempts before.
    known: Values,
    /// From this attempt.
    fresh: RefCell<Values>,
    /// The turn of the loop that the evaluation is in.
    turn: Cell<u64>,
}

impl VolatileMemo {
    /// How much memory it has.
    #[must_use]
    pub fn capacity_bytes(&self) -> usize {
        self.known.capacity_bytes() + self.fresh.borrow().capacity_bytes()
    }

    /// A new evaluation begins.
    #[inline]
    pub fn forget(&mut self) {
        self.known.clear();
        self.fresh.get_mut().clear();
        self.turn.set(0);
    }

    /// The evaluation is in this turn of a loop, counted from 0; gives what the turn around it is, to be put back by
    /// [`VolatileMemo::leave`].
    pub fn enter(&self, turn: usize) -> u64 {
        // A loop in a loop has as many turns as an array may have elements.
        const ELEMENTS: u64 = 1 << 28;
        let around = self.turn.get();
        self.turn.set(around.wrapping_mul(ELEMENTS).wrapping_add(turn as u64 + 1));
        around
    }

    /// The turn has ended.
    pub fn leave(&self, around: u64) {
        self.turn.set(around);
    }

    /// The evaluation begins again.
    pub fn begin_again(&mut self) {
        self.turn.set(0);
        let fresh = self.fresh.get_mut();
        for (call, value) in fresh.calls.iter().zip(fresh.values.iter()) {
            self.known.push(*call, value);
        }
        fresh.clear();
    }

    /// Which call one of this callee is now.
    #[must_use]
    pub fn place(&self, callee: &Callee) -> Place {
        Place { callee: std::ptr::from_ref(callee).addr(), turn: self.turn.get() }
    }

    /// What a call has given before.
    #[must_use]
    pub fn get(&self, callee: &Callee) -> Option<Datum<'_>> {
        let call = self.place(callee);
        // Turns come one after the other, so a call's value is near the place of its turn.
        let calls = &self.known.calls;
        let guess = (call.turn as usize).saturating_sub(1).min(calls.len());
        let after = calls[guess..].iter().position(|known| *known == call);
        let at = match after {
            Some(at) => guess + at,
            None => calls[..guess].iter().position(|known| *known == call)?,
        };
        Some(self.known.values.get(at))
    }

    /// Keeps what a call has given that was made outside of the evaluation.
    pub fn know(&mut self, place: Place, value: Datum<'_>) {
        self.known.push(place, value);
    }

    /// Keeps what a call has given.
    pub fn keep(&self, callee: &Callee, value: Datum<'_>) {
        self.fresh.borrow_mut().push(self.place(callee), value);
    }
}

impl Values {
    fn capacity_bytes(&self) -> usize {
        self.calls.capacity() * size_of::<Place>() + self.values.capacity_bytes()
    }

    fn push(&mut self, call: Place, value: Datum<'_>) {
        self.calls.push(call);
        self.values.push(value);
    }

    #[inline]
    fn clear(&mut self) {
        if !self.calls.is_empty() {
            self.calls.clear();
            self.values.clear();
        }
    }
}
