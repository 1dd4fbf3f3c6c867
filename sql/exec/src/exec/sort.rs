//! ORDER BY: the input's rows are kept and put in order; with a LIMIT above, only as many as are wanted.
//!
//! Past `work_mem` they go to a temporary file ([`super::row_sorter`]). With a limit of n rows the set is cut back to the n
//! best whenever it has grown to twice that, unless even these are more than memory takes; from then on a row is not even kept
//! whose first key tells that it is none of them. A key that is a column of the row is kept once.

use super::context::Context;
use super::operator::{Builder, Operator};
use super::row_sorter::RowSorter;
use super::rows::count;
use crate::compile::code::Code;
use crate::error::Result;
use crate::plan::physical;
use crate::plan::scalar::{Scalar, Var};
use std::sync::Arc;

/// A running sort.
pub struct Sort {
    input: Box<dyn Operator>,
    /// The keys that are no columns of the row.
    keys: Arc<Code>,
    saved: Vec<Var>,
    top: Option<(Option<Arc<Code>>, Option<Arc<Code>>)>,
    correlated: Box<[u32]>,
    sorter: RowSorter,
    sorted: bool,
}

/// Below this many wanted rows, cutting back is worth its work.
const TOP_MAX: u64 = 10_000;

impl Sort {
    /// Over an input.
    #[must_use]
    pub fn new(input: Box<dyn Operator>, sort: &physical::Sort, builder: &Builder<'_>) -> Sort {
        let mut width = sort.saved.len();
        // Where each key stands in a row: among the saved columns, or behind them.
        let places: Vec<usize> = sort
            .keys
            .iter()
            .map(|(key, _)| {
                let saved = match key {
                    Scalar::Var(var) => sort.saved.iter().position(|saved| saved == var),
                    _ => None,
                };
                saved.unwrap_or_else(|| {
                    width += 1;
                    width - 1
                })
            })
            .collect();
        let placed = sort.keys.iter().zip(places.clone());
        let computed = placed.filter(|(_, place)| *place >= sort.saved.len());
        let computed = computed.map(|(key, _)| key);
        let count = |scalar: &Option<Scalar>| scalar.as_ref().map(|one| builder.code([one]));
        let top = sort.top.as_ref().map(|(limit, offset)| (count(limit), count(offset)));
        let comparators = sort.keys.iter().map(|(_, comparator)| *comparator).collect();
        Sort {
            input,
            correlated: builder.correlated(sort.keys.iter().map(|(key, _)| key)),
            keys: builder.code(computed.map(|(key, _)| key)),
            saved: sort.saved.clone(),
            top,
            sorter: RowSorter::new(width, comparators, places),
            sorted: false,
        }
    }

    fn run(&mut self, cx: &mut Context<'_>) -> Result<()> {
        let mut wanted = match &self.top {
            Some((limit, offset)) => {
                let limit = count(cx, limit.as_deref(), false)?;
                let offset = count(cx, offset.as_deref(), true)?.unwrap_or(0);
                limit.map(|limit| limit.saturating_add(offset)).filter(|rows| *rows <= TOP_MAX)
            }
            None => None,
        };
        let limit = cx.memory_limit();
        while self.input.next(cx)? {
            cx.check_cancel()?;
            cx.invalidate(&self.correlated);
            let (sorter, saved) = (&mut self.sorter, &self.saved);
            if sorter.rows.width() == saved.len() {
                // Every key is a column of the row.
                let frame = &*cx.frame;
                if !sorter.is_passed(|place| frame.get(saved[place])) {
                    sorter.rows.push(saved.iter().map(|var| frame.get(*var)));
                }
            } else {
                cx.eval(&self.keys, |keys| {
                    let frame = keys.eval.frame;
                    let value = |place: usize| match saved.get(place) {
                        Some(var) => frame.get(*var),
                        None => keys.get(place - saved.len()),
                    };
                    if !sorter.is_passed(value) {
                        let saved = saved.iter().map(|var| frame.get(*var));
                        sorter.rows.push(saved.chain(keys.iter()));
                    }
                    Ok(())
                })?;
            }
            match wanted {
                Some(wanted) if self.sorter.rows.len() as u64 > 2 * wanted + 100 => {
                    self.sorter.cut_back(wanted as usize, cx)?;
                }
                _ if self.sorter.bytes() > limit => {
                    if let Some(rows) = wanted {
                        self.sorter.cut_back(rows as usize, cx)?;
                        if self.sorter.bytes() <= limit / 2 {
                            continue;
                        }
                        wanted = None;
                        self.sorter.want_all();
                    }
                    self.sorter.spill(cx)?;
                }
                _ => {}
            }
        }
        self.sorter.finish(cx)?;
        self.sorted = true;
        Ok(())
    }
}

impl Operator for Sort {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.sorter.clear();
        self.sorted = false;
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if !self.sorted {
            self.run(cx)?;
        }
        if !self.sorter.advance(cx)? {
            return Ok(false);
        }
        cx.arena.reset();
        self.sorter.restore(cx.frame, &self.saved);
        Ok(true)
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(self.input.rest_bytes()? + self.sorter.rest_bytes()?)
    }
}
