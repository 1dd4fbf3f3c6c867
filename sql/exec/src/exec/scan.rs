//! Table scans: by key, by a range of keys, through an index, or all of it.
//!
//! A record is judged visible below; here its columns are copied to their homes, only those that somebody reads, and long
//! values only if they are asked for. An index entry is a record judged by the same snapshot, so what it leads to is there,
//! and where it holds all that is asked for the row is not read ([`crate::plan::covering`]).

use super::code::Values;
use super::combinations::Combinations;
use super::context::Context;
use super::lock_rows::refused;
use super::operator::{Builder, Operator};
use super::record_filter::{RecordFilter, Verdict};
use crate::bind::logical::CursorName;
use crate::catalog::relation_counts::{Count, Event};
use crate::catalog::system_column::XMIN;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::plan::covering::{Covering, Part, covering};
use crate::plan::physical::{self, Access, KeyAccess, KeyPart, ScanColumn, TargetRow};
use crate::sqlstate::SqlState;
use crate::tuple::key::prefix_end;
use crate::tuple::long_value::Stored;
use crate::tuple::row;
use crate::tuple::row_id::row_number;
use crate::tuple::{KeyColumn, RowBuf, RowLayout, Texts, corrupt, entry};
use crate::types::Datum;
use crate::types::array::Array;
use crate::types::check_held;
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, Lsn, ReadView, RecordBuffer, ScanRow, Transaction, Tree, TreeId};

/// A running scan.
pub struct Scan {
    plan: physical::Scan,
    filter: Arc<Code>,
    /// What of it is asked before a row is read.
    of_records: Option<RecordFilter>,
    /// Whether the row at hand has been taken by that.
    taken: bool,
    /// Everything that the key access evaluates, in the order of [`KeyAccess::scalars`].
    key_code: Arc<Code>,
    /// The columns that somebody reads, and where they go.
    outputs: Box<[(usize, ScanColumn)]>,
    filter_subqueries: Box<[u32]>,
    key_subqueries: Box<[u32]>,
    trees: Option<(Arc<Tree>, Arc<Tree>)>,
    /// What is counted of the access: of the table, or of the index that is read.
    count: Option<Arc<Count>>,
    state: State,
    /// What is still to be read, the next one last: apart from each other, in the key's order.
    pending: Vec<KeyInterval>,
    /// What they are found of, a part at a time.
    combinations: Combinations,
    key: Vec<u8>,
    interval: KeyInterval,
    record: RecordBuffer,
    /// Where entries hold all that is asked for: then rows are not read.
    covering: Option<Covering>,
    /// The transaction's number, where its own rows are to show it.
    number: Option<u32>,
    /// The columns of an entry.
    parts: (RowBuf, RowBuf),
}

/// Keys from `low` on to below `high`, which is empty where there is no end; or the one key `low`.
#[derive(Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct KeyInterval {
    low: Vec<u8>,
    high: Vec<u8>,
}

/// How many intervals are found at a time.
const PENDING_MAX: usize = 1024;

#[derive(Debug)]
enum State {
    Done,
    /// The one record that the key names.
    Point,
    Range(txn::Scan),
}

impl Scan {
    /// Of this plan.
    #[must_use]
    pub fn new(plan: &physical::Scan, builder: &Builder<'_>) -> Scan {
        let (key_subqueries, key_code) = match &plan.access {
            Access::Full(_) | Access::Current(_) | Access::IndexUnion(_) => Default::default(),
            Access::Key(key) => (builder.correlated(key.scalars()), builder.code(key.scalars())),
        };
        let outputs = plan.outputs.iter().copied().enumerate();
        let outputs: Box<[_]> = outputs.filter(|(at, _)| plan.wanted[*at]).collect();
        let filter = builder.conditions(&plan.filter);
        Scan {
            outputs,
            filter_subqueries: builder.correlated(&plan.filter),
            of_records: RecordFilter::of(plan, &filter, builder),
            taken: false,
            filter,
            key_subqueries,
            key_code,
            plan: plan.clone(),
            trees: None,
            count: None,
            state: State::Done,
            pending: Vec::new(),
            combinations: Combinations::default(),
            key: Vec::new(),
            interval: KeyInterval::default(),
            record: RecordBuffer::default(),
            covering: covering(plan),
            number: None,
            parts: Default::default(),
        }
    }

    /// The trees of rows and of the access, looked up once: a program lives no longer than its trees.
    fn find_trees(&mut self, cx: &Context<'_>) -> Result<()> {
        if self.trees.is_some() {
            return Ok(());
        }
        let rows = cx.tree(self.plan.tree)?;
        let access = match &self.plan.access {
            Access::Key(key) if key.tree != self.plan.tree => cx.tree(key.tree)?,
            _ => Arc::clone(&rows),
        };
        self.trees = Some((rows, access));
        let relation = &self.plan.relation;
        let counted = match &self.plan.access {
            Access::Full(_) => Some(relation.oid),
            // A row that a cursor stands on is no scan's.
            Access::Current(_) | Access::IndexUnion(_) => None,
            Access::Key(key) => match key.index {
                Some(at) => relation.indexes.get(at).map(|index| index.oid),
                None => {
                    let mut indexes = relation.indexes.iter();
                    indexes.find(|index| index.holds_rows()).map(|index| index.oid)
                }
            },
        };
        self.count = counted.map(|oid| cx.host.counts.of(oid));
        Ok(())
    }

    /// Counts a scan that begins.
    #[inline]
    fn count_scan(&self, cx: &Context<'_>) {
        if let Some(count) = &self.count {
            cx.host.counts.meet(count);
            count.add(Event::Scanned);
        }
    }

    /// Counts what has been read.
    #[inline]
    fn count_row(&self) {
        if let Some(count) = &self.count {
            count_row(count, &self.plan, self.covering.is_some());
        }
    }

    fn open_range(&mut self, cx: &mut Context<'_>, key: &KeyAccess) -> Result<()> {
        let (prefix, interval) = (&mut self.key, &mut self.interval);
        cx.invalidate(&self.key_subqueries);
        let there = cx.eval(&self.key_code, |found| {
            prefix.clear();
            let equal = (0..key.equal.len()).map(|at| found.get(at));
            Ok(values(equal, (&key.layout.columns, &key.nulls), prefix)?
                && (key.point
                    || range(key.next_column(), prefix, bounds_of(key, found), interval)?))
        })?;
        self.state = State::Done;
        if there {
            return self.open_stretch(cx, key);
        }
        // Nothing can be there, and the index has been asked all the same.
        self.count_scan(cx);
        Ok(())
    }

    /// Finds what the key's first columns may be.
    fn open_several(&mut self, cx: &mut Context<'_>, key: &KeyAccess) -> Result<()> {
        let prefix = &mut self.key;
        self.state = State::Done;
        self.pending.clear();
        cx.invalidate(&self.key_subqueries);
        let lists = cx.eval(&self.key_code, |found| several(found, key, prefix))?;
        check_held(lists.iter().flatten().map(|one| one.len() + size_of::<Vec<u8>>()).sum())?;
        self.combinations = Combinations::of(lists, key.direction);
        Ok(())
    }

    /// Finds the next part of what is to be read, each key once, in the key's order.
    fn find_pending(&mut self, cx: &mut Context<'_>, key: &KeyAccess) -> Result<()> {
        let many = self.combinations.are_many();
        if many {
            self.pass_over_absent(cx, key)?;
        }
        let (combinations, pending) = (&mut self.combinations, &mut self.pending);
        let wanted = if many { 1 } else { PENDING_MAX };
        cx.eval(&self.key_code, |found| {
            pending.clear();
            while pending.len() < wanted
                && let Some(first) = combinations.take()
            {
                intervals(found, key, first, pending)?;
            }
            Ok(())
        })?;
        self.pending.sort_unstable();
        if key.point {
            self.pending.dedup();
        } else {
            self.pending.dedup_by(|next, before| before.takes(next));
        }
        if key.direction == Direction::Forward {
            self.pending.reverse();
        }
        Ok(())
    }

    /// Goes on to the next combination that a key begins with, by the key that stands next: two descents for each that is
    /// there, instead of one for each that could be.
    fn pass_over_absent(&mut self, cx: &mut Context<'_>, key: &KeyAccess) -> Result<()> {
        let (Some((low, mut high)), Some((_, tree))) = (self.combinations.rest(), &self.trees)
        else {
            return Ok(());
        };
        let range = KeyRange {
            low: Bound::Included(&low[..]),
            high: if prefix_end(&mut high) { Bound::Excluded(&high[..]) } else { Bound::Unbounded },
        };
        let view = view_of(&self.plan, cx);
        let mut scan = begin(cx.transaction, &self.plan, (&view, tree), range, key.direction)?;
        match scan.advance(cx.transaction)? {
            Some(row) => self.combinations.go_on_to(row.key),
            None => self.combinations.end(),
        }
        Ok(())
    }

    /// Begins with the next of several intervals, if there is one.
    fn open_pending(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.with_key(cx, |scan, cx, key| {
            while scan.pending.is_empty() && scan.combinations.is_any_left() {
                cx.check_cancel()?;
                scan.find_pending(cx, key)?;
            }
            let Some(next) = scan.pending.pop() else { return Ok(()) };
            scan.interval = next;
            if key.point {
                std::mem::swap(&mut scan.key, &mut scan.interval.low);
            }
            scan.open_stretch(cx, key)
        })
    }

    /// Begins with the interval, or with the one record.
    fn open_stretch(&mut self, cx: &mut Context<'_>, key: &KeyAccess) -> Result<()> {
        self.count_scan(cx);
        if key.point {
            self.state = State::Point;
            return Ok(());
        }
        let KeyInterval { low, high } = &self.interval;
        let range = KeyRange {
            low: if low.is_empty() { Bound::Unbounded } else { Bound::Included(low) },
            high: if high.is_empty() { Bound::Unbounded } else { Bound::Excluded(high) },
        };
        let view = view_of(&self.plan, cx);
        let Some((_, tree)) = &self.trees else { return Ok(()) };
        let begun = begin(cx.transaction, &self.plan, (&view, tree), range, key.direction)?;
        self.state = State::Range(begun);
        Ok(())
    }

    /// Reads the next row of the access into its slot.
    #[inline]
    fn advance(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        loop {
            if self.advance_within(cx)? {
                self.count_row();
                return Ok(true);
            }
            if !self.has_more_intervals() {
                return Ok(false);
            }
            self.open_pending(cx)?;
            cx.check_cancel()?;
        }
    }

    /// Whether another value of several is to be looked for.
    #[inline]
    fn has_more_intervals(&self) -> bool {
        !self.pending.is_empty() || self.combinations.is_any_left()
    }

    /// The key access, which is not changed, beside the scan, which is.
    fn with_key(
        &mut self,
        cx: &mut Context<'_>,
        body: impl FnOnce(&mut Scan, &mut Context<'_>, &KeyAccess) -> Result<()>,
    ) -> Result<()> {
        let whole = Access::Full(Direction::Forward);
        let Access::Key(key) = std::mem::replace(&mut self.plan.access, whole) else {
            return Ok(());
        };
        let done = body(self, cx, &key);
        self.plan.access = Access::Key(key);
        done
    }

    /// As [`Scan::advance`], among the records of the value at hand.
    #[inline]
    fn advance_within(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        match self.state {
            State::Done => Ok(false),
            State::Point => self.read_point(cx),
            State::Range(_) => self.advance_in_range(cx),
        }
    }

    /// Reads the one record that the key names, if it is there.
    #[inline]
    fn read_point(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        self.state = State::Done;
        self.taken = false;
        let Some((rows, access)) = &self.trees else { return Ok(false) };
        let (plan, record) = (&self.plan, &mut self.record);
        let index = matches!(&plan.access, Access::Key(key) if key.index.is_some());
        if index {
            let policy = plan.to_lock.map(|(_, policy)| policy).unwrap_or_default();
            let view = view_of(plan, cx);
            let met = cx.transaction.get_on_the_way(&view, access, &self.key, policy, record);
            if !met.map_err(|error| refused(&plan.relation, error))? {
                return Ok(false);
            }
            let value = record.value().unwrap_or_default();
            let row_key = entry::row_key(&self.key, value)?;
            if let Some(covering) = &self.covering {
                let row = cx.frame.row_mut(plan.slot);
                read_entry(covering, &self.key, row_key, &mut self.parts, row)?;
                return Ok(true);
            }
            self.key = row_key.to_vec();
        }
        if !read_row(cx, plan, rows, &self.key, record)? {
            return Ok(false);
        }
        let Some(found) = ScanRow::found(&self.key, record) else { return Ok(false) };
        let source = source_of(plan, self.number, rows);
        let outputs = self.outputs.iter().map(|(at, output)| (*at, output));
        source.read(cx.transaction, outputs, found, cx.frame.row_mut(plan.slot))?;
        Ok(true)
    }

    /// As [`Scan::advance`], in the range at hand, past the rows that their records refuse.
    fn advance_in_range(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let Scan { plan, outputs, of_records, key, record, covering, .. } = self;
        let (State::Range(scan), Some((rows, _))) = (&mut self.state, &self.trees) else {
            return Ok(false);
        };
        let index = matches!(&plan.access, Access::Key(key) if key.index.is_some());
        self.taken = false;
        loop {
            let Some(next) = scan.advance(cx.transaction)? else {
                self.state = State::Done;
                return Ok(false);
            };
            let found = if index {
                let row_key = entry::row_key(next.key, next.value)?;
                if let Some(covering) = covering {
                    let row = cx.frame.row_mut(plan.slot);
                    read_entry(covering, next.key, row_key, &mut self.parts, row)?;
                    return Ok(true);
                }
                key.clear();
                key.extend_from_slice(row_key);
                let there = read_row(cx, plan, rows, key, record)?;
                match ScanRow::found(key, record).filter(|_| there) {
                    Some(found) => found,
                    None => continue,
                }
            } else {
                next
            };
            if let Some(filter) = of_records {
                match filter.ask(cx, &plan.layout, found.value)? {
                    Verdict::Refused => {
                        if let Some(count) = &self.count {
                            count_row(count, plan, false);
                        }
                        cx.arena.reset();
                        continue;
                    }
                    verdict => self.taken = verdict == Verdict::Taken,
                }
            }
            let source = source_of(plan, self.number, rows);
            let outputs = outputs.iter().map(|(at, output)| (*at, output));
            source.read(cx.transaction, outputs, found, cx.frame.row_mut(plan.slot))?;
            return Ok(true);
        }
    }
}

/// Reads the row at a key, if it is there.
fn read_row(
    cx: &mut Context<'_>,
    plan: &physical::Scan,
    rows: &Arc<Tree>,
    key: &[u8],
    record: &mut RecordBuffer,
) -> Result<bool> {
    let view = view_of(plan, cx);
    let read = match plan.to_lock {
        Some(how) => cx.transaction.get_to_lock(&view, rows, key, how, record),
        None => cx.transaction.get(&view, rows, key, record),
    };
    read.map_err(|error| refused(&plan.relation, error))
}

/// How the records of a plan's table become rows.
fn source_of<'s>(plan: &'s physical::Scan, number: Option<u32>, rows: &'s Tree) -> RowSource<'s> {
    RowSource {
        layout: &plan.layout,
        long_values: plan.long_values,
        width: plan.outputs.len(),
        oid: plan.relation.oid.0,
        number,
        rows,
    }
}

/// Counts a row that has been read.
#[inline]
fn count_row(count: &Count, plan: &physical::Scan, is_covered: bool) {
    count.add(Event::Returned);
    if matches!(plan.access, Access::Key(_)) && !is_covered {
        count.add(Event::Fetched);
    }
}

/// The view that a scan reads by: the statement's, unless rows are looked for that are to be locked.
#[inline]
fn view_of(plan: &physical::Scan, cx: &Context<'_>) -> ReadView {
    match plan.to_lock {
        Some((_, policy)) => cx.transaction.view_to_lock(&cx.view, policy),
        None => cx.view,
    }
}

/// Begins to read a range of a plan's table or index.
fn begin(
    transaction: &mut Transaction,
    plan: &physical::Scan,
    (view, tree): (&ReadView, &Arc<Tree>),
    range: KeyRange<'_>,
    direction: Direction,
) -> Result<txn::Scan> {
    let policy = plan.to_lock.map(|(_, policy)| policy).unwrap_or_default();
    let begun = transaction.scan_to_lock(view, tree, range, direction, policy);
    begun.map_err(|error| refused(&plan.relation, error))
}

/// Makes a row of an index's entry alone.
fn read_entry<'e>(
    covering: &Covering,
    mut key: &'e [u8],
    row_key: &'e [u8],
    (entry, of_row): &mut (RowBuf, RowBuf),
    row: &mut RowBuf,
) -> Result<()> {
    let mut rest = row_key;
    for (parts, columns, key) in
        [(&mut *entry, &covering.entry, &mut key), (&mut *of_row, &covering.row, &mut rest)]
    {
        parts.clear();
        for column in columns {
            parts.push_with(|heap| column.decode(key, heap))?;
        }
    }
    row.clear();
    for part in &covering.outputs {
        row.push(match part {
            None => Datum::Null,
            Some(Part::Entry(at)) => entry.get(*at),
            Some(Part::Row(at)) => of_row.get(*at),
            Some(Part::Key) => Datum::Bytea(row_key),
        });
    }
    Ok(())
}

impl KeyInterval {
    /// Grows by another one that does not begin before it, if there is nothing between the two.
    fn takes(&mut self, next: &mut KeyInterval) -> bool {
        if !self.high.is_empty() && self.high < next.low {
            return false;
        }
        if !self.high.is_empty() && (next.high.is_empty() || self.high < next.high) {
            std::mem::swap(&mut self.high, &mut next.high);
        }
        true
    }
}

/// Appends values of the key columns that they are for; false if one is NULL and not among the places of `nulls`, or none that the
/// column can have.
fn values<'v>(
    values: impl Iterator<Item = Datum<'v>>,
    (columns, nulls): (&[KeyColumn], &[usize]),
    key: &mut Vec<u8>,
) -> Result<bool> {
    for (at, (value, column)) in values.zip(columns).enumerate() {
        if !nulls.is_empty() && nulls.contains(&at) {
            column.encode(Datum::Null, key)?;
            continue;
        }
        let Some(value) = fit(value, column.form).filter(|value| !value.is_null()) else {
            return Ok(false);
        };
        column.encode(value, key)?;
    }
    Ok(true)
}

/// The bounds of the column behind those that have values: the last of what a key access evaluates.
fn bounds_of<'v>(key: &KeyAccess, found: &Values<'v>) -> Bounds<'v> {
    let (low, high) = (key.low.as_ref(), key.high.as_ref());
    let at = found.len() - usize::from(high.is_some());
    (
        low.map(|(_, inclusive)| (found.get(at - 1), *inclusive)),
        high.map(|(_, inclusive)| (found.get(at), *inclusive)),
    )
}

/// The intervals behind the key's first columns, `first`.
fn intervals(
    found: &Values<'_>,
    key: &KeyAccess,
    first: Vec<u8>,
    intervals: &mut Vec<KeyInterval>,
) -> Result<()> {
    let mut add = |prefix: &[u8], column, bounds: Bounds<'_>| -> Result<()> {
        let mut interval = KeyInterval::default();
        if range(column, prefix, bounds, &mut interval)? {
            intervals.push(interval);
        }
        Ok(())
    };
    match &key.union {
        None if key.point => intervals.push(KeyInterval { low: first, high: Vec::new() }),
        None => add(&first, key.next_column(), bounds_of(key, found))?,
        Some(union) => {
            let columns = &key.layout.columns[key.prefix_columns()..];
            let several = key.several.as_ref().map_or(0, |several| several.scalars().count());
            let mut at = key.equal.len() + several;
            let mut next = || {
                at += 1;
                found.get(at - 1)
            };
            for arm in &union.arms {
                let equal: Vec<Datum<'_>> = arm.equal.iter().map(|_| next()).collect();
                let low = arm.low.as_ref().map(|(_, inclusive)| (next(), *inclusive));
                let high = arm.high.as_ref().map(|(_, inclusive)| (next(), *inclusive));
                let mut prefix = first.clone();
                if values(equal.into_iter(), (columns, &[]), &mut prefix)? {
                    add(&prefix, columns.get(arm.equal.len()), (low, high))?;
                }
            }
        }
    }
    Ok(())
}

/// What may stand in the key's first columns; an empty list among these where a value is NULL, which equals nothing.
fn several(found: &Values<'_>, key: &KeyAccess, prefix: &mut Vec<u8>) -> Result<Vec<Vec<Vec<u8>>>> {
    prefix.clear();
    let equal = (0..key.equal.len()).map(|at| found.get(at));
    if !values(equal, (&key.layout.columns, &key.nulls), prefix)? {
        return Ok(vec![Vec::new()]);
    }
    let mut made = vec![vec![prefix.clone()]];
    let Some(several) = &key.several else { return Ok(made) };
    let columns = &key.layout.columns[key.equal.len()..];
    let mut parts = several.parts.iter().zip(columns).peekable();
    let mut next = key.equal.len()..;
    let mut value = || found.get(next.next().unwrap_or_default());
    while let Some((part, column)) = parts.next() {
        // What may stand in this column, or in those of the tuples.
        let mut behind: Vec<Vec<u8>> = Vec::new();
        match part {
            KeyPart::One(_) => {
                if let Some(value) = fit(value(), column.form).filter(|value| !value.is_null()) {
                    let mut bytes = Vec::new();
                    column.encode(value, &mut bytes)?;
                    behind.push(bytes);
                }
            }
            KeyPart::Any(_) => {
                if let Datum::Array(bytes) = value() {
                    for value in Array::of(bytes).datums(found.eval.arena) {
                        let value = fit(value?, column.form).filter(|value| !value.is_null());
                        if let Some(value) = value {
                            let mut bytes = Vec::new();
                            column.encode(value, &mut bytes)?;
                            behind.push(bytes);
                        }
                    }
                }
            }
            KeyPart::Tuple(_) => {
                let mut tuple_columns = vec![column];
                while let Some((_, column)) =
                    parts.next_if(|(part, _)| matches!(part, KeyPart::Tuple(at) if *at > 0))
                {
                    tuple_columns.push(column);
                }
                // They are evaluated behind the parts, one tuple after the other.
                let own = several.scalars().count();
                let mut at = key.equal.len() + own - several.tuples.iter().flatten().count();
                'tuples: for tuple in &several.tuples {
                    let mut bytes = Vec::new();
                    let first = at;
                    at += tuple.len();
                    for (at, column) in (first..at).zip(&tuple_columns) {
                        let value =
                            fit(found.get(at), column.form).filter(|value| !value.is_null());
                        let Some(value) = value else { continue 'tuples };
                        column.encode(value, &mut bytes)?;
                    }
                    behind.push(bytes);
                }
            }
        }
        behind.sort_unstable();
        behind.dedup();
        made.push(behind);
    }
    Ok(made)
}

/// Lower and upper bound of a column, and whether they belong to the range.
type Bounds<'v> = (Option<(Datum<'v>, bool)>, Option<(Datum<'v>, bool)>);

/// Makes the interval behind the key's first columns, `prefix`, that is bounded in the next one; false if it is empty.
fn range(
    next: Option<&KeyColumn>,
    prefix: &[u8],
    bounds: Bounds<'_>,
    KeyInterval { low, high }: &mut KeyInterval,
) -> Result<bool> {
    low.clear();
    high.clear();
    low.extend_from_slice(prefix);
    high.extend_from_slice(prefix);
    // Where there is one bound, NULLs stay outside: they are behind or before all values of the column.
    let bounded = bounds.0.is_some() || bounds.1.is_some();
    let edge = |out: &mut Vec<u8>, first: bool| {
        if let Some(column) = next
            && column.nullable
            && bounded
        {
            // The marker of a value is 1: everything from it on, up to what begins with 2.
            out.push(if first { 1 } else { 2 });
            return true;
        }
        false
    };
    match (bounds.0, next) {
        (Some((value, inclusive)), Some(column)) => {
            if value.is_null() {
                return Ok(false);
            }
            let (value, inclusive) = clamp(value, column.form, !column.descending, inclusive);
            column.encode(value, low)?;
            if !inclusive && !prefix_end(low) {
                return Ok(false);
            }
        }
        _ => {
            edge(low, true);
        }
    }
    match (bounds.1, next) {
        (Some((value, inclusive)), Some(column)) => {
            if value.is_null() {
                return Ok(false);
            }
            let (value, inclusive) = clamp(value, column.form, column.descending, inclusive);
            column.encode(value, high)?;
            if inclusive && !prefix_end(high) {
                high.clear();
            }
        }
        _ => {
            if !edge(high, false) && !high.is_empty() && !prefix_end(high) {
                high.clear();
            }
        }
    }
    Ok(high.is_empty() || low < high)
}

/// A value as the form of its key column; none if no value of that form equals it.
fn fit(value: Datum<'_>, form: crate::tuple::Form) -> Option<Datum<'_>> {
    use crate::tuple::Form;
    let wide = match value {
        Datum::Int2(v) => i64::from(v),
        Datum::Int4(v) => i64::from(v),
        Datum::Int8(v) => v,
        other => return Some(other),
    };
    match form {
        Form::Int2 => i16::try_from(wide).ok().map(Datum::Int2),
        Form::Int4 => i32::try_from(wide).ok().map(Datum::Int4),
        Form::Int8 => Some(Datum::Int8(wide)),
        _ => Some(value),
    }
}

/// A bound as the form of its key column: outside the form's range it is the range's end, which is then inside.
fn clamp(
    value: Datum<'_>,
    form: crate::tuple::Form,
    low: bool,
    inclusive: bool,
) -> (Datum<'_>, bool) {
    use crate::tuple::Form;
    if let Some(value) = fit(value, form) {
        return (value, inclusive);
    }
    let negative = matches!(value, Datum::Int4(..0) | Datum::Int8(..0));
    let edge = match (form, negative) {
        (Form::Int2, true) => Datum::Int2(i16::MIN),
        (Form::Int2, false) => Datum::Int2(i16::MAX),
        (_, true) => Datum::Int4(i32::MIN),
        (_, false) => Datum::Int4(i32::MAX),
    };
    // Below everything as a lower bound, or above everything as an upper one, it lets all through; else nothing.
    (edge, negative == low)
}

impl Operator for Scan {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.find_trees(cx)?;
        self.number = own_number(cx, self.outputs.iter().map(|(_, output)| output));
        if let (Access::Full(direction), Some((_, access))) = (&self.plan.access, &self.trees) {
            let direction = *direction;
            let range = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
            let view = view_of(&self.plan, cx);
            let begun = begin(cx.transaction, &self.plan, (&view, access), range, direction)?;
            self.state = State::Range(begun);
            self.count_scan(cx);
            return Ok(());
        }
        if let Access::Current(cursor) = &self.plan.access {
            let name = match cursor {
                CursorName::Named(name) => name,
                CursorName::Parameter(number) => match cx.parameters.get(*number as usize) {
                    Datum::Text(name) => name,
                    _ => {
                        return Err(SqlError::new(
                            SqlState::INVALID_CURSOR_NAME,
                            "no value found for parameter of WHERE CURRENT OF",
                        ));
                    }
                },
            };
            let row = cx.host.cursors.current_row(name, &self.plan.relation)?;
            self.state = if row.is_some() { State::Point } else { State::Done };
            self.key = row.unwrap_or_default();
            return Ok(());
        }
        self.with_key(cx, |scan, cx, key| match (&key.several, &key.union) {
            (None, None) => scan.open_range(cx, key),
            _ => scan.open_several(cx, key),
        })
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        loop {
            cx.arena.reset();
            if !self.advance(cx)? {
                return Ok(false);
            }
            if self.taken || cx.holds(&self.filter, &self.filter_subqueries)? {
                return Ok(true);
            }
            cx.check_cancel()?;
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.state, State::Done) && !self.has_more_intervals()
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(self.pending.capacity() * size_of::<KeyInterval>())
    }
}

/// How a record becomes a row.
pub struct RowSource<'s> {
    /// How the record is laid out.
    pub layout: &'s RowLayout,
    /// Where its long values are.
    pub long_values: TreeId,
    /// How many columns the row has.
    pub width: usize,
    /// The table's OID.
    pub oid: u32,
    /// The transaction's number, where its own rows are to show it.
    pub number: Option<u32>,
    /// The table's rows.
    pub rows: &'s Tree,
}

impl RowSource<'_> {
    /// Copies columns of a record to their places in a row; what stands in the others is not defined.
    ///
    /// # Errors
    /// XX001; storage's.
    #[inline]
    pub fn read<'o>(
        &self,
        transaction: &mut Transaction,
        outputs: impl Iterator<Item = (usize, &'o ScanColumn)>,
        found: ScanRow<'_>,
        row: &mut RowBuf,
    ) -> Result<()> {
        row.begin(self.width);
        let stored =
            Stored { record: found.value, view: found.view, long_values: self.long_values };
        stored.with(transaction, self.layout, |record, transaction| {
            for (at, output) in outputs {
                match output {
                    ScanColumn::Column(column) => {
                        let (values, heap) = row.parts_mut();
                        if !record.read_into(*column, Texts::default(), &mut values[at], heap)? {
                            values[at] = stored.read_long(transaction, record, *column, heap)?;
                        }
                    }
                    ScanColumn::Key => row.set(at, Datum::Bytea(found.key)),
                    ScanColumn::System(attnum) => row.set(
                        at,
                        match attnum {
                            -1 => Datum::Int8(row_number(found.key)),
                            -2 => Datum::Oid(self.xmin(transaction, found, record.number)?),
                            -6 => Datum::Oid(self.oid),
                            _ => Datum::Oid(0),
                        },
                    ),
                }
            }
            Ok(())
        })
    }
}

impl RowSource<'_> {
    /// The `xmin` of a row: the number that its record ends with, or else what its commit's LSN makes. The own rows show the
    /// transaction's number, which they are given with that.
    fn xmin(
        &self,
        transaction: &mut Transaction,
        found: ScanRow<'_>,
        number: Option<u32>,
    ) -> Result<u32> {
        if let Some(number) = number {
            return Ok(number);
        }
        match self.number {
            Some(number) if found.lsn == Lsn::MAX => {
                let mut latest = RecordBuffer::default();
                let there = transaction.get_latest(self.rows, found.key, &mut latest)?;
                if there && latest.lsn() == Lsn::MAX && latest.value() == Some(found.value) {
                    let mut stamped = found.value.to_vec();
                    row::stamp(&mut stamped, number);
                    transaction.update(self.rows, found.key, &stamped)?;
                }
                Ok(number)
            }
            _ => Ok(xmin_of(found.lsn)),
        }
    }
}

/// The transaction's number, where `xmin` is among these columns and the transaction may have rows of its own.
fn own_number<'o>(
    cx: &Context<'_>,
    mut outputs: impl Iterator<Item = &'o ScanColumn>,
) -> Option<u32> {
    let asked = outputs.any(|output| *output == ScanColumn::System(XMIN));
    if asked && cx.transaction.has_writes() {
        cx.host.catalog.transaction_number(true)
    } else {
        None
    }
}

/// The `xmin` of what a commit wrote. LSNs are multiples of eight, and transactions' numbers have the highest of 32 bits.
fn xmin_of(commit: Lsn) -> u32 {
    const FIRST_NORMAL: u64 = 3;
    (commit.0 >> 3 & u64::from(u32::MAX >> 1)).max(FIRST_NORMAL) as u32
}

/// Reads the row at `target`'s key anew from a record: what has been locked, or found in conflict.
///
/// # Errors
/// As [`RowSource::read`].
pub fn reread(
    cx: &mut Context<'_>,
    target: &TargetRow,
    key: &[u8],
    record: &RecordBuffer,
) -> Result<()> {
    let rows = cx.tree(target.tree)?;
    let source = RowSource {
        layout: &target.layout,
        long_values: target.long_values,
        width: target.outputs.len(),
        oid: target.relation.oid.0,
        number: own_number(cx, target.outputs.iter()),
        rows: &rows,
    };
    let row = cx.frame.row_mut(target.slot);
    let outputs = target.outputs.iter().enumerate();
    match ScanRow::found(key, record) {
        Some(found) => source.read(cx.transaction, outputs, found, row),
        None => Err(corrupt("a row that has been locked is gone")),
    }
}

/// Whether a row that has changed still meets all of a plan's conditions.
///
/// # Errors
/// Those of the conditions.
pub fn still_meets(cx: &mut Context<'_>, conditions: &Code, correlated: &[u32]) -> Result<bool> {
    cx.arena.reset();
    cx.holds(conditions, correlated)
}
