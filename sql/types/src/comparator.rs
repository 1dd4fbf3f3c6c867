//! The order of one sort key: its type's own, or turned around, with NULLs at either end.

use super::array::compare::Wanted;
use super::{CallContext, Datum, beginning, compare, compare_strictly};
use crate::error::Result;
use std::cmp::Ordering;

/// How the values of one sort key compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparator {
    /// Their type.
    pub ty: u32,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST.
    pub nulls_first: bool,
}

impl Comparator {
    /// Which of two values comes first.
    #[must_use]
    pub fn compare(&self, a: &Datum<'_>, b: &Datum<'_>) -> Ordering {
        match (a.is_null(), b.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) if self.nulls_first => Ordering::Less,
            (true, false) => Ordering::Greater,
            (false, true) if self.nulls_first => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let order = compare(self.ty, a, b);
                if self.descending { order.reverse() } else { order }
            }
        }
    }

    /// As [`Comparator::compare`], but of values that may not be comparable.
    ///
    /// # Errors
    /// As [`compare_strictly`].
    pub fn compare_strictly(
        &self,
        context: &CallContext<'_>,
        a: &Datum<'_>,
        b: &Datum<'_>,
    ) -> Result<Ordering> {
        if a.is_null() || b.is_null() {
            return Ok(self.compare(a, b));
        }
        let order = compare_strictly(context, self.ty, a, b, Wanted::Order)?;
        Ok(if self.descending { order.reverse() } else { order })
    }

    /// A number that orders values as far as it goes: where two differ, their values compare as they do.
    #[must_use]
    pub fn beginning(&self, value: &Datum<'_>) -> u64 {
        if value.is_null() {
            return if self.nulls_first { 0 } else { u64::MAX };
        }
        let beginning = beginning(self.ty, value);
        if self.descending { !beginning } else { beginning }
    }
}
