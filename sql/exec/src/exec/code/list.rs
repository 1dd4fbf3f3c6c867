//! The lists that loops of a program go over.
//!
//! A loop may stop at each element, for a routine that is called with it, and what a run holds when it stops it has to own. So the
//! first stop makes a list its own, and those behind it share that: n elements are copied once, not once for each.

use crate::tuple::RowBuf;
use crate::types::Datum;
use std::sync::{Arc, Mutex, PoisonError};

/// A list of a running program.
#[derive(Debug)]
pub(super) enum List<'x> {
    /// The run has not stopped since it was taken apart. What is kept of an element takes its place.
    Fresh(&'x mut [Datum<'x>]),
    /// It has, and the list is the stopped run's.
    Owned(&'x OwnedList),
}

/// A list that outlives a stop.
#[derive(Clone, Debug)]
pub(super) struct OwnedList {
    /// As it was at the first stop.
    elements: Arc<RowBuf>,
    /// What has been kept since, from the first element on; empty while nothing has. Only the one run locks it.
    kept: Arc<Mutex<RowBuf>>,
}

impl Default for List<'_> {
    fn default() -> Self {
        List::Fresh(&mut [])
    }
}

impl<'x> List<'x> {
    /// The element at `at`, where nothing has been kept of it yet; none behind the last one.
    pub fn get(&self, at: usize) -> Option<Datum<'x>> {
        match self {
            List::Fresh(elements) => elements.get(at).copied(),
            List::Owned(list) => (at < list.elements.len()).then(|| list.elements.get(at)),
        }
    }

    /// Keeps a value of the element at `at`. Elements are kept in their order.
    pub fn keep(&mut self, at: usize, value: Datum<'x>) {
        match self {
            List::Fresh(elements) => elements[at] = value,
            List::Owned(list) => {
                let mut kept = list.kept.lock().unwrap_or_else(PoisonError::into_inner);
                for before in kept.len()..at {
                    kept.push(list.elements.get(before));
                }
                kept.push(value);
            }
        }
    }

    /// Hands out what has been kept, in order; elements of which nothing was, as they are.
    pub fn for_each(&self, mut take: impl FnMut(&Datum<'_>)) {
        match self {
            List::Fresh(elements) => elements.iter().for_each(take),
            List::Owned(list) => {
                let kept = list.kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.iter().for_each(|value| take(&value));
                list.elements.iter().skip(kept.len()).for_each(|value| take(&value));
            }
        }
    }

    /// The same as a stopped run's.
    pub fn owned(&self) -> OwnedList {
        match self {
            List::Fresh(elements) => {
                OwnedList { elements: Arc::new(super::row_of(elements)), kept: Arc::default() }
            }
            List::Owned(list) => (*list).clone(),
        }
    }
}
