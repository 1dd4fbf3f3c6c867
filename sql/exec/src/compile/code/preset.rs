//! The programs of parts of presets ([`crate::plan::fold::Presets`]): which parts are computed as a whole, a run's parameters
//! say, so they are compiled when that happens for the first time.

use super::Code;
use crate::plan::scalar::Scalar;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use txn::sync::{Mutex, lock, rank};

/// Programs by where their scalars stand in the statement's, which does not move.
#[derive(Debug, Default)]
pub struct PresetCodes {
    codes: Mutex<FxHashMap<usize, Arc<Code>>, { rank::COUNTERS }>,
}

impl PresetCodes {
    /// The program of a scalar that stands in the statement's.
    #[must_use]
    pub fn of(&self, scalar: &Scalar) -> Arc<Code> {
        let mut known = lock(&self.codes);
        let place = std::ptr::from_ref(scalar).addr();
        Arc::clone(known.entry(place).or_insert_with(|| Arc::new(Code::of([scalar]))))
    }
}
