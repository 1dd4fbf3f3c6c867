//! A scan: what the pages have, what snapshots, late commits and the transaction's own writes make of it, in key order.
//!
//! Three streams are merged. The *page* stream is a cursor of the data component, each record turned into the version
//! that the snapshot shows. The *late* stream are commits that the snapshot includes and that were not on their pages
//! when the scan began; they win where the page's record is older. The *own* stream are the transaction's writes by
//! earlier commands; they win always. Without the latter two a record is handed out as the cursor has copied it.
//!
//! The scan borrows nothing, and its places in write sets are found anew from the last key: writes may come and go
//! between its steps. Where a write set is in scratch space the scan keeps a walk over its runs, which do not change, and
//! begins it anew from the last key when a run has come or gone. Writes by the command that scans, and by later ones, are
//! not read, and there may be any number of them: which one is read next is remembered ([`Ahead`]).

use super::stepwise::Steps;
use super::{ReadView, RecordBuffer, RecordView, Transaction};
use crate::commit::late::LateList;
use crate::lock::WaitPolicy;
use crate::scheme::occ::RangeId;
use crate::scheme::ssi::Read;
use crate::writeset::spilled::Merge;
use crate::writeset::{Moment, Place, Write, WriteSet};
use crate::{CommandId, Error, Result};
use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;
use storage::{Cursor, Direction, Lsn, Record, Tree, TreeId};

/// A range of keys.
#[derive(Clone, Copy, Debug)]
pub struct KeyRange<'a> {
    /// From here.
    pub low: Bound<&'a [u8]>,
    /// To here.
    pub high: Bound<&'a [u8]>,
}

/// One record in a copy that the scan owns.
#[derive(Debug, Default)]
struct Row {
    key: Vec<u8>,
    lsn: Lsn,
    value: Vec<u8>,
    tombstone: bool,
}

/// Where the row is that a scan has handed out last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// There was none yet.
    None,
    /// It is the cursor's.
    Cursor,
    /// It is the scan's own copy.
    Row,
}

/// Which of the own writes in memory is read next, behind the last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    /// It has to be looked for.
    Unknown,
    /// The one of [`Scan::ahead_key`], as long as the set has not changed since but by what the scan does not read.
    Key(Moment),
    /// None, as long as that.
    Nothing(Moment),
}

/// A scan in progress. It borrows neither transaction nor tree.
#[derive(Debug)]
pub struct Scan {
    view: ReadView,
    tree: TreeId,
    direction: Direction,
    low: Bound<Vec<u8>>,
    high: Bound<Vec<u8>>,
    cursor: Cursor,
    late: Option<LateList>,
    ahead: Ahead,
    ahead_key: Vec<u8>,
    /// Walks over what of the own writes is in scratch space, as it was after so many changes, and of each late commit.
    own_runs: Option<(u64, Merge)>,
    late_runs: Vec<Merge>,
    /// The next record of the pages, if `page_ready`.
    page: Row,
    page_ready: bool,
    page_ended: bool,
    /// The row that was handed out last, or its key, where `last` says so.
    row: Row,
    last: Last,
    /// Where the transaction notes what is read, if it does.
    noted: Option<RangeId>,
    /// What comes behind the part of the range that it is in, where the range is asked for part by part.
    pub(super) steps: Option<Box<Steps>>,
}

/// A row that a scan has reached.
#[derive(Clone, Copy, Debug)]
pub struct ScanRow<'a> {
    /// Its key.
    pub key: &'a [u8],
    /// The commit that wrote it; [`Lsn::MAX`] for this transaction's own write.
    pub lsn: Lsn,
    /// Its value.
    pub value: &'a [u8],
    /// The view by which it was read.
    pub view: RecordView,
}

impl<'a> ScanRow<'a> {
    /// A record that has been found by its key; none if there is no record.
    #[must_use]
    pub fn found(key: &'a [u8], record: &'a RecordBuffer) -> Option<ScanRow<'a>> {
        Some(ScanRow { key, lsn: record.lsn(), value: record.value()?, view: record.view() })
    }
}

impl Row {
    fn set(&mut self, key: &[u8], lsn: Lsn, value: Option<&[u8]>) {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.set_value(lsn, value);
    }

    fn shown(&self, view: &ReadView) -> ScanRow<'_> {
        ScanRow { key: &self.key, lsn: self.lsn, value: &self.value, view: RecordView::of(view) }
    }

    fn set_value(&mut self, lsn: Lsn, value: Option<&[u8]>) {
        self.lsn = lsn;
        self.tombstone = value.is_none();
        self.value.clear();
        self.value.extend_from_slice(value.unwrap_or_default());
    }
}

pub(super) fn owned(bound: Bound<&[u8]>) -> Bound<Vec<u8>> {
    bound.map(<[u8]>::to_vec)
}

pub(super) fn borrowed(bound: &Bound<Vec<u8>>) -> Bound<&[u8]> {
    bound.as_ref().map(Vec::as_slice)
}

impl Transaction {
    /// Scans a range as `view` shows it. The scan borrows nothing: writes may happen between its steps.
    ///
    /// # Errors
    /// Storage's.
    pub fn scan(
        &mut self,
        view: &ReadView,
        tree: &Arc<Tree>,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Scan> {
        self.scan_to_lock(view, tree, range, direction, WaitPolicy::Block)
    }

    /// As [`Transaction::scan`], of rows that are to be locked next: where a range has to wait for others, NOWAIT does not, and is
    /// refused when the scan comes to where they are. Those of SKIP LOCKED are looked for by [`Transaction::view_to_lock`].
    ///
    /// # Errors
    /// Storage's; [`Error::LockNotAvailable`].
    pub fn scan_to_lock(
        &mut self,
        view: &ReadView,
        tree: &Arc<Tree>,
        range: KeyRange<'_>,
        direction: Direction,
        policy: WaitPolicy,
    ) -> Result<Scan> {
        if policy == WaitPolicy::Error
            && let Some(probe) = self.view_to_pass(view)
        {
            return self.scan_in_steps((view, &probe), tree, range, direction);
        }
        self.scan_whole(view, tree, range, direction, policy)
    }

    /// Scans a range that is asked for as a whole.
    pub(super) fn scan_whole(
        &mut self,
        view: &ReadView,
        tree: &Arc<Tree>,
        range: KeyRange<'_>,
        direction: Direction,
        policy: WaitPolicy,
    ) -> Result<Scan> {
        let tracked = self.tracking.is_some() && !view.is_passing();
        if tracked {
            self.ask_to_scan(tree, (range.low, range.high), policy)?;
        }
        let view = &self.by_place(view, tree.id());
        // The list before the pages: a commit that has left the list is on its pages.
        let late = self.manager.late.list();
        let mut cursor = tree.cursor();
        cursor.seek(range.low, range.high, direction)?;
        let noted = if tracked {
            let bounds = (range.low, range.high);
            self.note_scan(view, tree.id(), bounds, (direction, cursor.token()))?
        } else {
            None
        };
        Ok(Scan {
            view: *view,
            tree: tree.id(),
            direction,
            low: owned(range.low),
            high: owned(range.high),
            cursor,
            late,
            ahead: Ahead::Unknown,
            ahead_key: Vec::new(),
            own_runs: None,
            late_runs: Vec::new(),
            page: Row::default(),
            page_ready: false,
            page_ended: false,
            row: Row::default(),
            last: Last::None,
            noted,
            steps: None,
        })
    }
}

impl Scan {
    /// The next visible row.
    ///
    /// # Errors
    /// [`Error::SnapshotTooOld`], [`Error::Cancelled`]; storage's.
    pub fn advance(&mut self, transaction: &mut Transaction) -> Result<Option<ScanRow<'_>>> {
        if let Some(reason) = transaction.wait.cancel.requested() {
            return Err(Error::Cancelled(reason));
        }
        if self.steps.is_some() {
            let found = self.advance_in_steps(transaction)?;
            return Ok(found.then(|| self.row.shown(&self.view)));
        }
        let alone = self.late.is_none() && transaction.state().writes.is_empty();
        if alone && self.noted.is_none() && !self.page_ready {
            return self.advance_on_pages(transaction);
        }
        self.take_along();
        let found = self.advance_merged(transaction)?;
        Ok(found.then(|| self.row.shown(&self.view)))
    }

    /// The next visible row of all streams, if there is one.
    pub(super) fn advance_merged(&mut self, transaction: &mut Transaction) -> Result<bool> {
        loop {
            self.fill(transaction)?;
            self.walk_runs(transaction)?;
            transaction.state_mut().writes.arrange();
            let found = self.merge(transaction);
            if self.noted.is_some() {
                self.note(transaction, found)?;
            }
            if !found {
                return Ok(false);
            }
            self.last = Last::Row;
            let row = &self.row;
            if row.lsn != Lsn::MAX {
                transaction.seen = transaction.seen.max(row.lsn);
            }
            if !row.tombstone {
                return Ok(true);
            }
        }
    }

    /// The next visible row, where there is nothing but the pages: it stays in the cursor's copy.
    fn advance_on_pages(&mut self, transaction: &mut Transaction) -> Result<Option<ScanRow<'_>>> {
        loop {
            if self.cursor.reads_on_at().is_some() {
                self.take_along();
            }
            let Some((lsn, there)) = self.cursor.step()? else { return Ok(None) };
            if transaction.shows(&self.view, lsn) {
                transaction.seen = transaction.seen.max(lsn);
                self.last = Last::Cursor;
                if there {
                    break;
                }
                continue;
            }
            let Some(record) = self.cursor.current() else { return Ok(None) };
            let (row, view, on_page) = (&mut self.row, &self.view, record.lsn);
            row.key.clear();
            row.key.extend_from_slice(record.key);
            self.last = Last::Row;
            let found = |lsn, value: Option<&[u8]>| row.set_value(lsn, value);
            if transaction.older_version((self.tree, record.key), view, on_page, found)? {
                transaction.seen = transaction.seen.max(self.row.lsn);
                if !self.row.tombstone {
                    return Ok(Some(self.row.shown(&self.view)));
                }
            }
        }
        let (record, view) = (self.cursor.current(), RecordView::of(&self.view));
        let shown = |Record { key, lsn, value }| Some(ScanRow { key, lsn, value: value?, view });
        Ok(record.and_then(shown))
    }

    /// Whether a row has been handed out, or passed.
    fn has_begun(&self) -> bool {
        self.last != Last::None
    }

    /// Keeps the last key, where the cursor has it and will go on.
    fn take_along(&mut self) {
        if self.last == Last::Cursor
            && let Some(record) = self.cursor.current()
        {
            self.row.key.clear();
            self.row.key.extend_from_slice(record.key);
            self.last = Last::Row;
        }
    }

    /// Brings the next record of the pages that the snapshot shows, tombstones too.
    fn fill(&mut self, transaction: &mut Transaction) -> Result<()> {
        while !self.page_ready && !self.page_ended {
            if self.noted.is_some() {
                self.read_on(transaction)?;
            }
            let Some(record) = self.cursor.advance()? else {
                self.page_ended = true;
                return Ok(());
            };
            if transaction.shows(&self.view, record.lsn) {
                self.page.set(record.key, record.lsn, record.value);
                self.page_ready = true;
                return Ok(());
            }
            if !self.view.is_passing()
                && let Some(reads) = transaction.noted()
            {
                reads.met(self.view.snapshot, Some(record.lsn));
            }
            self.page.key.clear();
            self.page.key.extend_from_slice(record.key);
            let page = &mut self.page;
            let (view, on_page) = (&self.view, record.lsn);
            let found = |lsn, value: Option<&[u8]>| page.set_value(lsn, value);
            let key = (self.tree, record.key);
            self.page_ready = transaction.older_version(key, view, on_page, found)?;
        }
        Ok(())
    }

    /// Reads the next leaf where the last one is used up, and notes it.
    #[cold]
    fn read_on(&mut self, transaction: &mut Transaction) -> Result<()> {
        while let Some(id) = self.noted
            && let Some(key) = self.cursor.reads_on_at()
        {
            let key = key.to_vec();
            self.cursor.read_on()?;
            if let Some(reads) = transaction.noted() {
                reads.leaf(id, key, self.cursor.token());
            }
            transaction.bound_reads(self.tree)?;
        }
        Ok(())
    }

    /// Notes how far the scan has come.
    #[cold]
    fn note(&self, transaction: &mut Transaction, found: bool) -> Result<()> {
        let Some(id) = self.noted else { return Ok(()) };
        let shown = found.then_some(&self.row.key[..]);
        let bounds = (borrowed(&self.low), borrowed(&self.high));
        let read = match self.cursor.has_read_all() {
            true => Read::All,
            false => self.cursor.last_read().map_or(Read::Nothing, Read::To),
        };
        transaction.note_reached(id, (shown, read), bounds)
    }

    /// Brings every walk over runs behind the last row, where there are any.
    fn walk_runs(&mut self, transaction: &Transaction) -> Result<()> {
        let writes = &transaction.state().writes;
        let spills = writes.spills();
        if self.own_runs.as_ref().is_some_and(|(of, _)| *of != spills) {
            self.own_runs = None;
        }
        let begun = self.has_begun();
        if writes.is_spilled() {
            match &mut self.own_runs {
                Some((_, merge)) if begun => merge.pass(self.tree, &self.row.key)?,
                Some(_) => {}
                None => {
                    let merge = self.begin_merge(writes, self.view.command)?;
                    self.own_runs = Some((spills, merge));
                }
            }
        }
        let Some(late) = &self.late else { return Ok(()) };
        if self.late_runs.is_empty() {
            let seen = late.iter().filter(|commit| transaction.shows(&self.view, commit.lsn));
            if seen.clone().any(|commit| commit.writes.is_spilled()) {
                let all = CommandId(u32::MAX);
                let merges = seen.map(|commit| self.begin_merge(&commit.writes, all));
                self.late_runs = merges.collect::<Result<_>>()?;
            }
        } else if begun {
            for merge in &mut self.late_runs {
                merge.pass(self.tree, &self.row.key)?;
            }
        }
        Ok(())
    }

    fn begin_merge(&self, writes: &WriteSet, before: CommandId) -> Result<Merge> {
        let near = match (self.direction, self.has_begun()) {
            (_, true) => Bound::Excluded(&self.row.key[..]),
            (Direction::Forward, false) => borrowed(&self.low),
            (Direction::Backward, false) => borrowed(&self.high),
        };
        Ok(writes.merge((self.tree, near), before, self.direction)?)
    }

    /// The write that a walk has come to, if it is within the bounds.
    fn head_of<'m>(&self, merge: &'m Merge) -> Option<Write<'m>> {
        let inside = (borrowed(&self.low), borrowed(&self.high));
        merge.head().filter(|write| {
            write.tree == self.tree && std::ops::RangeBounds::<[u8]>::contains(&inside, write.key)
        })
    }

    /// The first of two writes; of one key that from memory, which is the newer one.
    fn earlier<'w>(
        &self,
        memory: Option<Write<'w>>,
        spilled: Option<Write<'w>>,
    ) -> Option<Write<'w>> {
        match (memory, spilled) {
            (Some(memory), Some(spilled)) => {
                let later = self.order(memory.key, spilled.key) == Ordering::Greater;
                Some(if later { spilled } else { memory })
            }
            (memory, spilled) => memory.or(spilled),
        }
    }

    /// The smallest key of all streams, and who wins there.
    fn merge(&mut self, transaction: &Transaction) -> bool {
        self.look_ahead(&transaction.state().writes);
        let own = self.own_next(&transaction.state().writes);
        let own_run = self.own_runs.as_ref().and_then(|(_, merge)| self.head_of(merge));
        let own = self.earlier(own, own_run);
        let mut late_runs = self.late_runs.iter();
        let mut best: Option<(Write<'_>, Lsn)> = own.map(|write| (write, Lsn::MAX));
        for commit in self.late.iter().flat_map(|list| list.iter()) {
            if !transaction.shows(&self.view, commit.lsn) {
                continue;
            }
            let in_memory = self.next_of(&commit.writes, CommandId(u32::MAX));
            let in_run = late_runs.next().and_then(|merge| self.head_of(merge));
            let Some(write) = self.earlier(in_memory, in_run) else { continue };
            let order = best.map_or(Ordering::Less, |(best, lsn)| {
                self.order(write.key, best.key).then(lsn.cmp(&commit.lsn))
            });
            if order == Ordering::Less {
                best = Some((write, commit.lsn));
            }
        }
        let page = match best {
            None if !self.page_ready => return false,
            None => Ordering::Less,
            Some(_) if !self.page_ready => Ordering::Greater,
            Some((write, _)) => self.order(&self.page.key, write.key),
        };
        let takes_page = match (page, best) {
            (Ordering::Equal, Some((_, lsn))) => self.page.lsn >= lsn,
            (order, _) => order == Ordering::Less,
        };
        if page != Ordering::Greater {
            self.page_ready = false;
        }
        match best {
            Some((write, lsn)) if !takes_page => {
                // Split borrows: the write lives in the transaction or in the late list, not in the row.
                let mut row = std::mem::take(&mut self.row);
                row.set(write.key, lsn, write.value);
                self.row = row;
            }
            _ => std::mem::swap(&mut self.page, &mut self.row),
        }
        true
    }

    fn order(&self, a: &[u8], b: &[u8]) -> Ordering {
        match self.direction {
            Direction::Forward => a.cmp(b),
            Direction::Backward => b.cmp(a),
        }
    }

    /// Finds the next own write in memory, unless the one that was found before still is.
    fn look_ahead(&mut self, writes: &WriteSet) {
        let holds = |moment| !writes.has_changed(moment, self.view.command);
        let is_known = match self.ahead {
            Ahead::Unknown => false,
            Ahead::Nothing(moment) => holds(moment),
            Ahead::Key(moment) => {
                let passed = self.has_begun()
                    && self.order(&self.ahead_key, &self.row.key) != Ordering::Greater;
                !passed && holds(moment)
            }
        };
        if is_known {
            return;
        }
        let mut key = std::mem::take(&mut self.ahead_key);
        key.clear();
        self.ahead = match self.next_of(writes, self.view.command) {
            Some(write) => {
                key.extend_from_slice(write.key);
                Ahead::Key(writes.moment())
            }
            None => Ahead::Nothing(writes.moment()),
        };
        self.ahead_key = key;
    }

    /// The own write in memory that [`Scan::look_ahead`] has found.
    fn own_next<'w>(&self, writes: &'w WriteSet) -> Option<Write<'w>> {
        if matches!(self.ahead, Ahead::Nothing(_)) {
            return None;
        }
        let place = writes.first(self.tree, Bound::Included(&self.ahead_key));
        writes.at(place, self.view.command)
    }

    /// The next write of `writes` behind the last row, within the bounds, by a command before `before`.
    fn next_of<'w>(&self, writes: &'w WriteSet, before: CommandId) -> Option<Write<'w>> {
        let mut place: Option<Place> = match (self.direction, self.has_begun()) {
            (Direction::Forward, false) => Some(writes.first(self.tree, borrowed(&self.low))),
            (Direction::Forward, true) => {
                Some(writes.first(self.tree, Bound::Excluded(&self.row.key)))
            }
            (Direction::Backward, false) => {
                writes.before(writes.end(self.tree, borrowed(&self.high)))
            }
            (Direction::Backward, true) => {
                writes.before(writes.end(self.tree, Bound::Excluded(&self.row.key)))
            }
        };
        let inside = (borrowed(&self.low), borrowed(&self.high));
        while let Some(at) = place
            && let Some((tree, key)) = writes.key_at(at)
            && tree == self.tree
            && std::ops::RangeBounds::<[u8]>::contains(&inside, key)
        {
            if let Some(write) = writes.at(at, before) {
                return Some(write);
            }
            place = match self.direction {
                Direction::Forward => Some(writes.after(at)),
                Direction::Backward => writes.before(at),
            };
        }
        None
    }
}
