//! Arrays that are asked for row after row whether a value is among their elements: `x IN (1, 2, ...)`, `x = ANY ($1)`,
//! `x <> ALL ($1)`. From the second row on a long one is a hash table (PostgreSQL: hashed `ScalarArrayOpExpr`, from as many
//! elements on).
//!
//! Only arrays that stay where they are for a whole run are kept so, constants and parameters, by the address of the step that asks.

use super::hash_rows::HashRows;
use crate::account;
use crate::error::Result;
use crate::plan::functions::{hashed_types, negator};
use crate::types::Datum;
use crate::types::array::Array;
use bumpalo::Bump;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::hash_map::Entry;

/// From how many elements on looking one up costs less than going over them.
pub const ELEMENTS_MIN: usize = 9;

/// Those of a run.
#[derive(Debug, Default)]
pub struct ElementSets {
    sets: RefCell<FxHashMap<usize, State>>,
}

/// What is known of an array.
#[derive(Debug)]
enum State {
    /// It has been asked once.
    Asked,
    Set(Box<Elements>),
    /// The operator is none of equal hashes.
    Never,
}

/// The elements of an array.
#[derive(Debug)]
struct Elements {
    rows: HashRows,
    has_null: bool,
}

impl ElementSets {
    /// Forgets all: another run has other parameters.
    pub fn clear(&mut self) {
        self.sets.get_mut().clear();
    }

    /// Whether a value, which is not NULL, equals an element of the array that is known by `asked`; the inner none where a NULL leaves it
    /// open. The outer none where the array has to be gone over. `function` is that of `=`, or of `<>`.
    ///
    /// # Errors
    /// 53200, and cancels, while the table is made.
    pub fn contains(
        &self,
        asked: usize,
        function: u32,
        array: Array<'_>,
        value: Datum<'_>,
        arena: &Bump,
    ) -> Result<Option<Option<bool>>> {
        let mut sets = self.sets.borrow_mut();
        let state = sets.entry(asked);
        let state = match state {
            Entry::Vacant(vacant) => {
                vacant.insert(State::Asked);
                return Ok(None);
            }
            Entry::Occupied(occupied) => occupied.into_mut(),
        };
        if matches!(state, State::Asked) {
            let equal = || hashed_types(negator(function)?.function);
            let types = hashed_types(function).or_else(equal);
            *state = match types {
                Some((_, element)) => State::Set(Box::new(Elements::of(element.0, array, arena)?)),
                None => State::Never,
            };
        }
        let State::Set(elements) = state else { return Ok(None) };
        let found = elements.rows.find(&[value]).is_some();
        Ok(Some(if found { Some(true) } else { (!elements.has_null).then_some(false) }))
    }
}

impl Elements {
    fn of(ty: u32, array: Array<'_>, arena: &Bump) -> Result<Elements> {
        let mut elements = Elements { rows: HashRows::new(vec![ty], 1), has_null: false };
        for slot in array.slots() {
            account::step();
            match slot {
                Some(bytes) => {
                    let element = crate::types::stored::read(arena, array.element, bytes)?;
                    elements.rows.insert_new(&[element]);
                }
                None => elements.has_null = true,
            }
        }
        Ok(elements)
    }
}
