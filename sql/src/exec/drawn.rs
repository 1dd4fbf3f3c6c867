//! What volatile calls have given in an evaluation: where a subquery has to be run first and the evaluation begins again,
//! they are not called again but give the same, so that a sequence has given one value.
//!
//! A call is known by where its callee stands, which does not move while a statement runs.

use crate::plan::scalar::Callee;
use crate::tuple::RowBuf;
use crate::types::Datum;
use std::cell::RefCell;

/// Values by their calls.
#[derive(Debug, Default)]
struct Values {
    calls: Vec<usize>,
    values: RowBuf,
}

/// The values of the volatile calls of one evaluation.
#[derive(Debug, Default)]
pub struct Drawn {
    /// From attempts before.
    known: Values,
    /// From this attempt.
    fresh: RefCell<Values>,
}

impl Drawn {
    /// A new evaluation begins.
    #[inline]
    pub fn forget(&mut self) {
        self.known.clear();
        self.fresh.get_mut().clear();
    }

    /// The evaluation begins again.
    pub fn begin_again(&mut self) {
        let fresh = self.fresh.get_mut();
        for (call, value) in fresh.calls.iter().zip(fresh.values.iter()) {
            self.known.push(*call, value);
        }
        fresh.clear();
    }

    /// What a call has given before.
    #[must_use]
    pub fn get(&self, callee: &Callee) -> Option<Datum<'_>> {
        let call = place(callee);
        let at = self.known.calls.iter().position(|known| *known == call)?;
        Some(self.known.values.get(at))
    }

    /// Keeps what a call has given that was made outside of the evaluation.
    pub fn know(&mut self, place: usize, value: Datum<'_>) {
        self.known.push(place, value);
    }

    /// Keeps what a call has given.
    pub fn keep(&self, callee: &Callee, value: Datum<'_>) {
        self.fresh.borrow_mut().push(place(callee), value);
    }
}

impl Values {
    fn push(&mut self, call: usize, value: Datum<'_>) {
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

/// Where a callee stands.
#[must_use]
pub fn place(callee: &Callee) -> usize {
    std::ptr::from_ref(callee).addr()
}
