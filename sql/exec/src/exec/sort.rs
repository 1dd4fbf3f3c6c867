//! ORDER BY: the input's rows are kept and put in order; with a LIMIT above, only as many as are wanted.
//!
//! Past `work_mem` they go to a temporary file ([`super::row_sorter`]). With a limit of n rows the set is cut back to the n
//! best whenever it has grown to twice that, unless even these are more than memory takes; from then on a row is not even kept
//! whose first key tells that it is none of them. A key that is a column of the row is kept once. Where rows come in the order of
//! the first keys already they are sorted part by part, those that are equal in these (PostgreSQL: `nodeIncrementalSort.c`).

use super::context::Context;
use super::operator::{Builder, Operator};
use super::row_sorter::RowSorter;
use super::rows::count;
use crate::compile::code::Code;
use crate::error::Result;
use crate::plan::physical;
use crate::plan::scalar::{Scalar, Var};
use crate::tuple::RowBuf;
use crate::types::Datum;
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
    /// How many rows are wanted, if not all.
    wanted: Option<u64>,
    begun: bool,
    /// The part at hand, all of the input where nothing is presorted, has been sorted.
    sorted: bool,
    /// The input has ended.
    ended: bool,
    part: Part,
}

/// Rows that are equal in the keys by which they come in order already.
struct Part {
    /// How many keys these are.
    presorted: usize,
    /// Their values, once a part has begun.
    keys: RowBuf,
    begun: bool,
    /// The first row of the next part, if it is there.
    next: RowBuf,
    has_next: bool,
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
            wanted: None,
            begun: false,
            sorted: false,
            ended: false,
            part: Part {
                presorted: sort.presorted,
                keys: RowBuf::new(),
                begun: false,
                next: RowBuf::new(),
                has_next: false,
            },
        }
    }

    /// Finds out how many rows are wanted, where keeping no more is worth its work.
    fn begin(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.begun = true;
        self.wanted = match &self.top {
            Some((limit, offset)) => {
                let limit = count(cx, limit.as_deref(), false)?;
                let offset = count(cx, offset.as_deref(), true)?.unwrap_or(0);
                limit.map(|limit| limit.saturating_add(offset)).filter(|rows| *rows <= TOP_MAX)
            }
            None => None,
        };
        Ok(())
    }

    /// Reads the input up to its end, or to the end of the part at hand, and sorts it.
    fn run(&mut self, cx: &mut Context<'_>) -> Result<()> {
        if !self.begun {
            self.begin(cx)?;
        }
        let limit = cx.memory_limit();
        let mut wanted = self.wanted;
        if let Some(row) = self.part.take_next() {
            // From where the input goes on.
            cx.frame.restore(&self.saved, row.iter());
            self.sorter.rows.push(row.iter());
        }
        loop {
            if !self.input.next(cx)? {
                self.ended = true;
                break;
            }
            cx.check_cancel()?;
            cx.invalidate(&self.correlated);
            if !self.keep_row(cx)? {
                break;
            }
            match wanted {
                Some(rows) if self.sorter.rows.len() as u64 > 2 * rows + 100 => {
                    self.sorter.cut_back(rows as usize, cx)?;
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

    /// Keeps the row at hand, unless it comes behind all that are wanted. False where it is the first of the next part.
    fn keep_row(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let (sorter, part, saved) = (&mut self.sorter, &mut self.part, &self.saved);
        if sorter.rows.width() == saved.len() {
            // Every key is a column of the row.
            let frame = &*cx.frame;
            let value = |place: usize| frame.get(saved[place]);
            let row = || saved.iter().map(|var| frame.get(*var));
            return Ok(part.take(sorter, value, row));
        }
        cx.eval(&self.keys, |keys| {
            let frame = keys.eval.frame;
            let value = |place: usize| match saved.get(place) {
                Some(var) => frame.get(*var),
                None => keys.get(place - saved.len()),
            };
            let row = || saved.iter().map(|var| frame.get(*var)).chain(keys.iter());
            Ok(part.take(sorter, value, row))
        })
    }
}

impl Part {
    /// Gives a row to the sorter of the part at hand, or keeps it where it begins the next one: false.
    #[inline]
    fn take<'r, I: Iterator<Item = Datum<'r>>>(
        &mut self,
        sorter: &mut RowSorter,
        value: impl Fn(usize) -> Datum<'r>,
        row: impl FnOnce() -> I,
    ) -> bool {
        if self.presorted > 0 {
            let mut keys = sorter.presorted(self.presorted).enumerate();
            if self.begun
                && !keys.all(|(at, (order, place))| {
                    order.compare(&self.keys.get(at), &value(place)).is_eq()
                })
            {
                self.next.clear();
                row().for_each(|datum| self.next.push(datum));
                self.keys.clear();
                sorter
                    .presorted(self.presorted)
                    .for_each(|(_, place)| self.keys.push(value(place)));
                self.has_next = true;
                return false;
            }
            if !self.begun {
                self.begun = true;
                self.keys.clear();
                sorter
                    .presorted(self.presorted)
                    .for_each(|(_, place)| self.keys.push(value(place)));
            }
        }
        if !sorter.is_passed(value) {
            sorter.rows.push(row());
        }
        true
    }

    /// The first row of the part that comes next, if there is one.
    fn take_next(&mut self) -> Option<&RowBuf> {
        std::mem::take(&mut self.has_next).then_some(&self.next)
    }
}

impl Operator for Sort {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.sorter.clear();
        (self.begun, self.sorted, self.ended) = (false, false, false);
        (self.part.begun, self.part.has_next) = (false, false);
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if !self.sorted {
            self.run(cx)?;
        }
        while !self.sorter.advance(cx)? {
            if self.ended {
                return Ok(false);
            }
            // What the next part may give is what is wanted still.
            let given = self.sorter.given() as u64;
            self.wanted = self.wanted.map(|wanted| wanted.saturating_sub(given).max(1));
            self.sorter.clear();
            self.run(cx)?;
        }
        cx.arena.reset();
        self.sorter.restore(cx.frame, &self.saved);
        Ok(true)
    }

    fn rest_bytes(&self) -> Option<usize> {
        let part = self.part.keys.capacity_bytes() + self.part.next.capacity_bytes();
        Some(self.input.rest_bytes()? + self.sorter.rest_bytes()? + part)
    }
}
