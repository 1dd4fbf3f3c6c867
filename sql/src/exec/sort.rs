//! ORDER BY: the input's rows are kept and put in order; with a LIMIT above, only as many as are wanted.
//!
//! The sort is stable, as a merge sort is, so equal rows keep the order they came in. With a limit of n rows the set is
//! cut back to the n best whenever it has grown to twice that.

use super::context::Context;
use super::operator::{Builder, Operator};
use super::rows::count;
use crate::error::Result;
use crate::plan::physical;
use crate::plan::scalar::{Comparator, Scalar, Var};
use crate::tuple::RowSet;
use std::cmp::Ordering;

/// A running sort.
pub struct Sort {
    input: Box<dyn Operator>,
    keys: Vec<(Scalar, Comparator)>,
    saved: Vec<Var>,
    top: Option<(Option<Scalar>, Option<Scalar>)>,
    correlated: Box<[u32]>,
    rows: RowSet,
    order: Vec<u32>,
    at: usize,
    sorted: bool,
}

/// Below this many wanted rows, cutting back is worth its work.
const TOP_MAX: u64 = 10_000;

impl Sort {
    /// Over an input.
    #[must_use]
    pub fn new(input: Box<dyn Operator>, sort: &physical::Sort, builder: &Builder<'_>) -> Sort {
        Sort {
            input,
            correlated: builder.correlated(sort.keys.iter().map(|(key, _)| key)),
            keys: sort.keys.clone(),
            saved: sort.saved.clone(),
            top: sort.top.clone(),
            rows: RowSet::new(sort.keys.len() + sort.saved.len()),
            order: Vec::new(),
            at: 0,
            sorted: false,
        }
    }

    fn compare(&self, a: u32, b: u32) -> Ordering {
        compare_rows(&self.keys, &self.rows, a as usize, b as usize)
    }

    fn sort(&mut self) {
        self.order.clear();
        self.order.extend(0..self.rows.len() as u32);
        let mut order = std::mem::take(&mut self.order);
        order.sort_by(|a, b| self.compare(*a, *b));
        self.order = order;
    }

    fn run(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let wanted = match &self.top {
            Some((limit, offset)) => {
                let limit = count(cx, limit.as_ref(), false)?;
                let offset = count(cx, offset.as_ref(), true)?.unwrap_or(0);
                limit.map(|limit| limit.saturating_add(offset)).filter(|rows| *rows <= TOP_MAX)
            }
            None => None,
        };
        while self.input.next(cx)? {
            cx.check_cancel()?;
            cx.invalidate(&self.correlated);
            let (rows, keys, saved) = (&mut self.rows, &self.keys, &self.saved);
            cx.eval(|eval| {
                let mut row = bumpalo::collections::Vec::with_capacity_in(
                    keys.len() + saved.len(),
                    eval.call.arena,
                );
                for (key, _) in keys {
                    row.push(eval.scalar(key)?);
                }
                row.extend(saved.iter().map(|var| eval.frame.get(*var)));
                rows.push(row);
                Ok(())
            })?;
            match wanted {
                Some(wanted) if self.rows.len() as u64 > 2 * wanted + 100 => {
                    self.sort();
                    let mut best = RowSet::new(self.rows.width());
                    for row in self.order.iter().take(wanted as usize) {
                        best.push(self.rows.row(*row as usize));
                    }
                    self.rows = best;
                }
                _ => cx.check_memory(self.rows.bytes())?,
            }
        }
        self.sort();
        self.sorted = true;
        Ok(())
    }
}

/// Which of two rows, whose first columns are sort keys, comes first.
#[must_use]
pub fn compare_rows(keys: &[(Scalar, Comparator)], rows: &RowSet, a: usize, b: usize) -> Ordering {
    for (at, (_, comparator)) in keys.iter().enumerate() {
        let order = comparator.compare(&rows.get(a, at), &rows.get(b, at));
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

impl Operator for Sort {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.rows.clear();
        self.at = 0;
        self.sorted = false;
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if !self.sorted {
            self.run(cx)?;
        }
        let Some(row) = self.order.get(self.at) else { return Ok(false) };
        self.at += 1;
        cx.arena.reset();
        let values = self.rows.row(*row as usize).skip(self.keys.len());
        cx.frame.restore(&self.saved, values);
        Ok(true)
    }
}
