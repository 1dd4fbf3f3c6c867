//! Members: the rows of an `IN (SELECT ...)` that is asked again and again, in a hash table (PostgreSQL: `nodeSubplan.c`).
//!
//! A row that is not found is no member, unless a NULL, its own or a member's, leaves that open. Rows without NULLs are
//! found by their hash; against rows with some every column is compared.

use super::context::Context;
use super::hash_rows::HashRows;
use super::operator::Operator;
use crate::compile::code::Code;
use crate::error::Result;
use crate::plan::subplan::Hashed;
use crate::types::check_held;
use crate::types::{Datum, compare};

/// A subquery's rows.
pub struct Members {
    rows: HashRows,
    /// Those with a NULL.
    open: Vec<usize>,
}

impl Members {
    /// Runs the subquery to its end.
    pub fn collect(
        cx: &mut Context<'_>,
        operator: &mut dyn Operator,
        (hashed, right): (&Hashed, &Code),
    ) -> Result<Members> {
        let types: Vec<u32> = hashed.right.iter().map(|(_, ty)| ty.0).collect();
        let width = types.len();
        let mut members = Members { rows: HashRows::new(types, width), open: Vec::new() };
        operator.open(cx)?;
        while operator.next(cx)? {
            cx.check_cancel()?;
            cx.arena.reset();
            cx.eval(right, |values| {
                let row: Vec<Datum<'_>> = values.iter().collect();
                if hashed.exists && row.iter().any(Datum::is_null) {
                    return Ok(());
                }
                if members.rows.find(&row).is_none() {
                    let at = members.rows.insert(&row);
                    if row.iter().any(Datum::is_null) {
                        members.open.push(at);
                    }
                }
                Ok(())
            })?;
            check_held(members.rows.bytes())?;
        }
        Ok(members)
    }

    /// Whether the row at hand is a member; none where a NULL leaves it open.
    pub fn contains(
        &self,
        cx: &mut Context<'_>,
        (hashed, left): (&Hashed, &Code),
    ) -> Result<Option<bool>> {
        if self.rows.rows.is_empty() {
            return Ok(Some(false));
        }
        cx.eval(left, |values| {
            let row: Vec<Datum<'_>> = values.iter().collect();
            if hashed.exists {
                let known = !row.iter().any(Datum::is_null);
                return Ok(Some(known && self.rows.find(&row).is_some()));
            }
            let unknown = if row.iter().any(Datum::is_null) {
                (0..self.rows.rows.len()).any(|at| self.may_be(at, &row, hashed))
            } else if self.rows.find(&row).is_some() {
                return Ok(Some(true));
            } else {
                self.open.iter().any(|at| self.may_be(*at, &row, hashed))
            };
            Ok((!unknown).then_some(false))
        })
    }

    /// Whether a member equals a row wherever neither has a NULL.
    fn may_be(&self, at: usize, row: &[Datum<'_>], hashed: &Hashed) -> bool {
        hashed.right.iter().zip(row).enumerate().all(|(column, ((_, ty), value))| {
            let own = self.rows.rows.get(at, column);
            own.is_null() || value.is_null() || compare(ty.0, &own, value).is_eq()
        })
    }
}
