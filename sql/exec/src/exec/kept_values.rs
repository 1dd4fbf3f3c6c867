//! Values that need no row and that conditions ask for row after row: `created > $1::date + 30`, or `created > now() - $1`.
//! Literals of simple statements are parameters, so what PostgreSQL's planner computes of them is computed here, by the first
//! row that asks, and kept for the run; so is what functions give that are stable, the server's own (a user's may say what it
//! has been called for).

use crate::tuple::RowBuf;
use crate::types::Datum;
use std::cell::OnceCell;
use std::iter;

/// How many are kept: each look-up goes over those before it.
const VALUES_MAX: usize = 32;

/// Those of a run.
#[derive(Debug, Default)]
pub struct KeptValues {
    first: OnceCell<Box<KeptValue>>,
}

/// One, and those that were kept behind it: a value stays where it is while more are kept.
#[derive(Debug)]
struct KeptValue {
    /// The address of the step that asks for it.
    asked: usize,
    value: RowBuf,
    next: OnceCell<Box<KeptValue>>,
}

impl KeptValues {
    /// Forgets all: another run has other parameters.
    #[inline]
    pub fn clear(&mut self) {
        self.first.take();
    }

    fn all(&self) -> impl Iterator<Item = &KeptValue> {
        iter::successors(self.first.get(), |kept| kept.next.get()).map(Box::as_ref)
    }

    /// The value that a step asks for, if it is kept.
    #[must_use]
    pub fn get(&self, asked: usize) -> Option<Datum<'_>> {
        self.all().find(|kept| kept.asked == asked).map(|kept| kept.value.get(0))
    }

    /// Keeps a value, while there is room.
    pub fn keep(&self, asked: usize, value: Datum<'_>) {
        if self.all().count() < VALUES_MAX {
            let mut row = RowBuf::new();
            row.push(value);
            let end = self.all().last().map_or(&self.first, |last| &last.next);
            let value = KeptValue { asked, value: row, next: OnceCell::new() };
            end.get_or_init(|| Box::new(value));
        }
    }
}
