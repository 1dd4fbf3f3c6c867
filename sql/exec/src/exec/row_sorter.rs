//! Sorts rows by comparators: in memory as long as they fit, else by runs in a temporary file that are merged as they are
//! read (Knuth, *The Art of Computer Programming*, vol. 3, 5.4; PostgreSQL: `tuplesort.c`).
//!
//! The sort is stable: in memory it is a merge sort, a run holds what came in one stretch, and of equal rows of several runs
//! that of the earlier one is first. Most comparisons are of numbers: the beginning of the first key in its order
//! (PostgreSQL's abbreviated keys), and rows are looked at only where these are equal.
//!
//! Rows that cannot be compared are an error where they come to stand side by side: whatever compares to sort has compared
//! neighbours. Neighbours of one run have been looked at when it was sorted, those of two when they are merged.

use super::context::Context;
use super::frame::Frame;
use super::row_file::{RowReader, RowWriter};
use super::temp_file::TempFile;
use crate::account;
use crate::error::Result;
use crate::plan::scalar::Var;
use crate::tuple::{RowBuf, RowSet};
use crate::types::{Comparator, Datum, may_differ};
use std::cmp::Ordering;
use std::ops::Range;
use txn::MergeHeap;

/// The least buffer of a run that is merged, in bytes, where memory allows more than [`MERGED_MIN`] of them.
const BUFFER_BYTES_MIN: usize = 32 << 10;
/// The largest one.
const BUFFER_BYTES_MAX: usize = 256 << 10;
/// So many runs are merged at once even where memory has no buffers of [`BUFFER_BYTES_MIN`] for them, as in PostgreSQL.
const MERGED_MIN: usize = 6;

/// A sort.
pub struct RowSorter {
    keys: Vec<Comparator>,
    /// Where each key stands in a row.
    places: Vec<usize>,
    /// Whether some of the keys may be such as cannot be compared.
    strict: bool,
    /// The rows in memory, as they came.
    pub rows: RowSet,
    /// The same in order, each behind the beginning of its first key.
    pub order: Vec<(u64, u32)>,
    spilled: Option<Spilled>,
    merge: Option<Merge>,
    /// How many rows of `order` have been given.
    at: usize,
    /// The beginning of the first key of the last row that is wanted, while there are enough of them.
    last_wanted: Option<u64>,
}

/// Runs in a temporary file.
struct Spilled {
    file: TempFile,
    runs: Vec<Range<u64>>,
}

/// The beginning of a row's first key.
fn beginning<'r>(keys: &[Comparator], first: impl FnOnce() -> Datum<'r>) -> u64 {
    keys.first().map_or(0, |comparator| comparator.beginning(&first()))
}

impl RowSorter {
    /// Of rows of `width` columns, of which those at `places` are the keys.
    #[must_use]
    pub fn new(width: usize, keys: Vec<Comparator>, places: Vec<usize>) -> RowSorter {
        RowSorter {
            strict: keys.iter().any(|comparator| may_differ(comparator.ty)),
            keys,
            places,
            rows: RowSet::new(width),
            order: Vec::new(),
            spilled: None,
            merge: None,
            at: 0,
            last_wanted: None,
        }
    }

    /// What it sorts by.
    #[must_use]
    pub fn keys(&self) -> &[Comparator] {
        &self.keys
    }

    /// The first keys, with where each stands in a row.
    pub fn presorted(&self, count: usize) -> impl Iterator<Item = (&Comparator, usize)> {
        self.keys.iter().zip(self.places.iter().copied()).take(count)
    }

    /// How many rows have been given, of those in memory.
    #[must_use]
    pub fn given(&self) -> usize {
        self.at
    }

    /// Forgets all rows, and gives its files back.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.order.clear();
        self.spilled = None;
        self.merge = None;
        self.at = 0;
        self.last_wanted = None;
    }

    /// Whether some rows are in a temporary file.
    #[must_use]
    pub fn has_spilled(&self) -> bool {
        self.spilled.is_some()
    }

    /// About how many bytes it holds in memory, the order that is to be counted in.
    #[must_use]
    #[inline]
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.rows.len() * size_of::<(u64, u32)>()
    }

    /// What its memory occupies; nothing where it has a file.
    #[must_use]
    pub fn rest_bytes(&self) -> Option<usize> {
        let in_memory = self.spilled.is_none() && self.merge.is_none();
        let order = self.order.capacity() * size_of::<(u64, u32)>();
        in_memory.then(|| self.rows.capacity_bytes() + order)
    }

    /// Which of two rows in memory comes first.
    fn compare(&self, a: u32, b: u32) -> Ordering {
        for (comparator, place) in self.keys.iter().zip(&self.places) {
            let (a, b) = (self.rows.get(a as usize, *place), self.rows.get(b as usize, *place));
            let order = comparator.compare(&a, &b);
            if order.is_ne() {
                return order;
            }
        }
        Ordering::Equal
    }

    /// Puts the rows in memory in order.
    ///
    /// # Errors
    /// 42804 and its kin, where they cannot be compared.
    pub fn sort(&mut self, cx: &Context<'_>) -> Result<()> {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        let (keys, places, rows) = (&self.keys, &self.places, &self.rows);
        order.extend(
            (0..rows.len() as u32)
                .map(|row| (beginning(keys, || rows.get(row as usize, places[0])), row)),
        );
        order.sort_by(|a, b| {
            account::step();
            a.0.cmp(&b.0).then_with(|| self.compare(a.1, b.1))
        });
        self.order = order;
        self.demand_comparable(cx)
    }

    /// Fails where neighbours have keys that cannot be compared.
    fn demand_comparable(&self, cx: &Context<'_>) -> Result<()> {
        if !self.strict {
            return Ok(());
        }
        for pair in self.order.windows(2) {
            // The one that came first is named first.
            let (first, second) = (pair[0].1.min(pair[1].1), pair[0].1.max(pair[1].1));
            let value = |row: u32, place: usize| self.rows.get(row as usize, place);
            let values = |place| (value(first, place), value(second, place));
            demand_comparable(cx, &self.keys, &self.places, values)?;
        }
        Ok(())
    }

    /// Keeps only the first so many of the rows, in order.
    ///
    /// # Errors
    /// As [`RowSorter::sort`].
    pub fn cut_back(&mut self, wanted: usize, cx: &Context<'_>) -> Result<()> {
        self.sort(cx)?;
        let mut best = RowSet::new(self.rows.width());
        for (_, row) in self.order.iter().take(wanted) {
            best.push(self.rows.row(*row as usize));
        }
        // Rows that are not kept cannot come to stand beside one that they cannot be compared with.
        self.last_wanted = match self.order.get(wanted.wrapping_sub(1)) {
            Some((beginning, _)) if !self.strict => Some(*beginning),
            _ => None,
        };
        self.rows = best;
        Ok(())
    }

    /// Whether the first key of a row tells that it comes behind all that are wanted since [`RowSorter::cut_back`]; `value` gives
    /// what stands at a place of it.
    #[inline]
    pub fn is_passed<'r>(&self, value: impl FnOnce(usize) -> Datum<'r>) -> bool {
        self.last_wanted.is_some_and(|last| beginning(&self.keys, || value(self.places[0])) > last)
    }

    /// All rows are wanted from now on.
    pub fn want_all(&mut self) {
        self.last_wanted = None;
    }

    /// Moves what is in memory to a temporary file, as one more run.
    ///
    /// # Errors
    /// As [`RowSorter::sort`]; 53400, 53100, I/O.
    pub fn spill(&mut self, cx: &Context<'_>) -> Result<()> {
        self.sort(cx)?;
        let space = cx.temp_space();
        let spilled = match &mut self.spilled {
            Some(spilled) => spilled,
            none => none.insert(Spilled { file: space.file()?, runs: Vec::new() }),
        };
        let mut run = RowWriter::new(&spilled.file);
        for (_, row) in &self.order {
            cx.check_cancel()?;
            run.push(self.rows.row(*row as usize), &mut spilled.file, space)?;
        }
        spilled.runs.push(run.finish(&mut spilled.file, space)?);
        self.rows.clear();
        self.order.clear();
        Ok(())
    }

    /// Ends the input: the rows come in order from now on.
    ///
    /// # Errors
    /// As [`RowSorter::spill`].
    pub fn finish(&mut self, cx: &Context<'_>) -> Result<()> {
        if self.spilled.is_none() {
            return self.sort(cx);
        }
        if !self.rows.is_empty() {
            self.spill(cx)?;
        }
        let Some(mut spilled) = self.spilled.take() else { return Ok(()) };
        // What the rows have taken is the readers' now.
        self.rows = RowSet::new(self.rows.width());
        self.order = Vec::new();
        let memory = cx.memory_limit();
        let at_once = (memory / BUFFER_BYTES_MIN).max(MERGED_MIN);
        while spilled.runs.len() > at_once {
            spilled = self.merge_pass(cx, spilled, at_once)?;
        }
        self.merge = Some(Merge::new(self, spilled.file, &spilled.runs, memory)?);
        Ok(())
    }

    /// Merges neighbouring runs, so many at once, into longer ones in another file.
    fn merge_pass(&self, cx: &Context<'_>, from: Spilled, at_once: usize) -> Result<Spilled> {
        let (space, memory) = (cx.temp_space(), cx.memory_limit());
        let mut to = Spilled { file: space.file()?, runs: Vec::new() };
        let mut file = from.file;
        for runs in from.runs.chunks(at_once) {
            let mut merge = Merge::new(self, file, runs, memory)?;
            let mut run = RowWriter::new(&to.file);
            while merge.advance(self, cx)? {
                cx.check_cancel()?;
                run.push(merge.current().iter(), &mut to.file, space)?;
            }
            to.runs.push(run.finish(&mut to.file, space)?);
            file = merge.file;
        }
        Ok(to)
    }

    /// Goes to the next row; false at the end.
    ///
    /// # Errors
    /// I/O; 42804 and its kin, where rows cannot be compared.
    #[inline]
    pub fn advance(&mut self, cx: &Context<'_>) -> Result<bool> {
        if self.merge.is_some() {
            return self.advance_merge(cx);
        }
        let more = self.at < self.order.len();
        self.at += usize::from(more);
        Ok(more)
    }

    fn advance_merge(&mut self, cx: &Context<'_>) -> Result<bool> {
        let Some(mut merge) = self.merge.take() else { return Ok(false) };
        let more = merge.advance(self, cx);
        self.merge = Some(merge);
        more
    }

    /// A column of the row that it has come to.
    #[must_use]
    pub fn get(&self, column: usize) -> Datum<'_> {
        match &self.merge {
            None => self.rows.get(self.order[self.at - 1].1 as usize, column),
            Some(merge) => merge.current().get(column),
        }
    }

    /// Fills the homes in `saved` from the row that it has come to.
    #[inline]
    pub fn restore(&self, frame: &mut Frame, saved: &[Var]) {
        match &self.merge {
            None => frame.restore(saved, self.rows.row(self.order[self.at - 1].1 as usize)),
            Some(merge) => frame.restore(saved, merge.current().iter()),
        }
    }
}

/// Fails where the keys of two rows cannot be compared.
fn demand_comparable<'r>(
    cx: &Context<'_>,
    keys: &[Comparator],
    places: &[usize],
    values: impl Fn(usize) -> (Datum<'r>, Datum<'r>),
) -> Result<()> {
    let call = cx.host.call(cx.arena);
    for (comparator, place) in keys.iter().zip(places) {
        let (a, b) = values(*place);
        if comparator.compare_strictly(&call, &a, &b)?.is_ne() {
            break;
        }
    }
    Ok(())
}

/// Runs that are being merged.
struct Merge {
    file: TempFile,
    runs: Vec<Run>,
    /// Runs that have a row.
    heap: MergeHeap,
    begun: bool,
    /// The row that was given last and its run, where neighbours have to be looked at.
    last: Option<(usize, RowBuf)>,
}

struct Run {
    reader: RowReader,
    row: RowBuf,
    /// The beginning of its first key.
    beginning: u64,
}

impl Run {
    fn advance(&mut self, sorter: &RowSorter, file: &TempFile) -> Result<bool> {
        if !self.reader.next(file, &mut self.row)? {
            return Ok(false);
        }
        self.beginning = beginning(&sorter.keys, || self.row.get(sorter.places[0]));
        Ok(true)
    }
}

impl Merge {
    fn new(
        sorter: &RowSorter,
        file: TempFile,
        runs: &[Range<u64>],
        memory: usize,
    ) -> Result<Merge> {
        let least = BUFFER_BYTES_MIN.min(memory / MERGED_MIN);
        let buffer_bytes = (memory / runs.len().max(1)).clamp(least, BUFFER_BYTES_MAX);
        let (mut all, mut begun) = (Vec::new(), Vec::new());
        for (number, run) in runs.iter().enumerate() {
            let reader = RowReader::new(run.clone(), buffer_bytes);
            let mut run = Run { reader, row: RowBuf::new(), beginning: 0 };
            if run.advance(sorter, &file)? {
                begun.push(number);
            }
            all.push(run);
        }
        let heap = MergeHeap::new(begun, |a, b| Merge::before(&all, sorter, a, b));
        Ok(Merge { file, runs: all, heap, begun: false, last: None })
    }

    /// Whether the row of one run comes before that of another.
    fn before(runs: &[Run], sorter: &RowSorter, a: usize, b: usize) -> bool {
        let (one, other) = (&runs[a], &runs[b]);
        let mut order = one.beginning.cmp(&other.beginning);
        let mut keys = sorter.keys.iter().zip(&sorter.places);
        while order.is_eq()
            && let Some((comparator, place)) = keys.next()
        {
            order = comparator.compare(&one.row.get(*place), &other.row.get(*place));
        }
        order.then(a.cmp(&b)).is_lt()
    }

    /// Goes to the next row; false at the end.
    fn advance(&mut self, sorter: &RowSorter, cx: &Context<'_>) -> Result<bool> {
        if std::mem::replace(&mut self.begun, true)
            && let Some(first) = self.heap.first()
        {
            if sorter.strict {
                let mut row = self.last.take().map_or_else(RowBuf::new, |(_, row)| row);
                row.copy_from(&self.runs[first].row);
                self.last = Some((first, row));
            }
            let there = self.runs[first].advance(sorter, &self.file)?;
            let Merge { runs, heap, .. } = self;
            heap.advanced(there, |a, b| Merge::before(runs, sorter, a, b));
        }
        let Some(first) = self.heap.first() else { return Ok(false) };
        if let Some((run, row)) = &self.last
            && *run != first
        {
            let current = &self.runs[first].row;
            // What stands in the earlier run came first, and is named first.
            let (one, other) = if *run < first { (row, current) } else { (current, row) };
            let values = |place| (one.get(place), other.get(place));
            demand_comparable(cx, &sorter.keys, &sorter.places, values)?;
        }
        Ok(true)
    }

    /// The row that it has come to.
    fn current(&self) -> &RowBuf {
        let first = self.heap.first().expect("who has come to a row has a run that has it");
        &self.runs[first].row
    }
}
