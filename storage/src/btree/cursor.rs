//! Cursors: a scan copies a batch of records, validates the copy, and holds no latch between its steps.
//!
//! There are no links between leaves: the fence of the leaf that is used up is the key the next descent goes to, so a
//! split or merge under a scan needs no care at all. Batches begin small, because most scans are short, and grow to
//! whole leaves; a batch that ends within a leaf goes on behind its last key. The memory of batches belongs to threads:
//! a scan that ends leaves its own for the next one.

use super::descend::{Stop, Target};
use super::{Direction, ReadToken, Record, Tree, node};
use crate::breakdown::{self, Class};
use crate::page::Page;
use crate::page::racy::Copies;
use crate::page::slotted::{EntryAt, VALUE_LEN_BYTES};
use crate::sync::Arc;
use crate::{Lsn, Result};
use std::cell::RefCell;
use std::ops::Bound;

/// The records of a scan's first batch; each further one has four times as many.
const FIRST_BATCH: usize = 8;

/// How many batches a thread keeps the memory of, and how many bytes of copies each at most.
const SPARE_MAX: usize = 2;
const SPARE_BYTES_MAX: usize = 32 << 10;

thread_local! {
    /// Batches of scans that have ended, for their memory.
    static SPARE: RefCell<Vec<Batch>> = const { RefCell::new(Vec::new()) };
}

/// A place in a tree that moves record by record.
#[derive(Debug)]
pub struct Cursor {
    tree: Arc<Tree>,
    direction: Direction,
    /// The end of the range in the direction of the scan.
    end: Bound<Vec<u8>>,
    batch: Batch,
    /// How many records of the batch have been handed out.
    given: usize,
    batch_max: usize,
    /// Where the next batch begins.
    next: Next,
    /// The key that `next` speaks of.
    next_key: Vec<u8>,
    token: ReadToken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// With the first record at or above the key.
    From,
    /// With the first record above the key.
    After,
    /// With the last record at or below the key.
    DownFrom,
    /// With the last record below the key.
    Below,
    /// With the last record of all.
    Last,
    /// There is none.
    Nowhere,
}

/// Copies of records, in the order of the scan.
#[derive(Debug, Default)]
struct Batch {
    copies: Copies,
    records: Vec<Copied>,
    /// The prefix of the leaf's keys.
    prefix: Vec<u8>,
    /// Memory for the two keys of a cursor, while it has none.
    keys: [Vec<u8>; 2],
}

#[derive(Clone, Copy, Debug)]
struct Copied {
    at: u32,
    key_len: u16,
    value_len: u16,
    tombstone: bool,
    lsn: Lsn,
}

impl Cursor {
    pub(super) fn new(tree: Arc<Tree>) -> Cursor {
        let mut batch = Batch::spare();
        let [next_key, end] = std::mem::take(&mut batch.keys);
        Cursor {
            tree,
            direction: Direction::Forward,
            // Nothing is read before a range is given.
            end: Bound::Excluded(end),
            batch,
            given: 0,
            batch_max: FIRST_BATCH,
            next: Next::Nowhere,
            next_key,
            token: ReadToken::default(),
        }
    }

    /// Goes to the first record within the bounds in the given direction; [`Cursor::advance`] hands it out.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn seek(
        &mut self,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
        direction: Direction,
    ) -> Result<()> {
        self.direction = direction;
        let (begin, end) = match direction {
            Direction::Forward => (low, high),
            Direction::Backward => (high, low),
        };
        set_bound(&mut self.end, end);
        let (next, key) = match (direction, begin) {
            (Direction::Forward, Bound::Included(key)) => (Next::From, key),
            (Direction::Forward, Bound::Excluded(key)) => (Next::After, key),
            (Direction::Forward, Bound::Unbounded) => (Next::From, &[][..]),
            (Direction::Backward, Bound::Included(key)) => (Next::DownFrom, key),
            (Direction::Backward, Bound::Excluded([])) => (Next::Nowhere, &[][..]),
            (Direction::Backward, Bound::Excluded(key)) => (Next::Below, key),
            (Direction::Backward, Bound::Unbounded) => (Next::Last, &[][..]),
        };
        self.next = next;
        self.next_key.clear();
        self.next_key.extend_from_slice(key);
        self.batch_max = FIRST_BATCH;
        self.batch.clear();
        self.given = 0;
        if self.next != Next::Nowhere { self.load() } else { Ok(()) }
    }

    /// The next record, tombstones too.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn advance(&mut self) -> Result<Option<Record<'_>>> {
        Ok(self.step()?.and_then(|_| self.current()))
    }

    /// Goes to the next record, which [`Cursor::current`] is then: its commit, and whether it is no tombstone.
    ///
    /// # Errors
    /// I/O and corruption.
    #[inline]
    pub fn step(&mut self) -> Result<Option<(Lsn, bool)>> {
        if self.given == self.batch.records.len() && !self.load_more()? {
            return Ok(None);
        }
        let Copied { lsn, tombstone, .. } = self.batch.records[self.given];
        self.given += 1;
        Ok(Some((lsn, !tombstone)))
    }

    /// Reads on until there is a record; false at the end.
    fn load_more(&mut self) -> Result<bool> {
        while self.given == self.batch.records.len() {
            if self.next == Next::Nowhere {
                return Ok(false);
            }
            self.load()?;
        }
        Ok(true)
    }

    /// The record that [`Cursor::advance`] has handed out last. None before the first, and where more has been read
    /// since; a caller that still needs it then has taken it along when [`Cursor::reads_on_at`] said so.
    #[must_use]
    #[inline]
    pub fn current(&self) -> Option<Record<'_>> {
        Some(self.batch.record(self.given.checked_sub(1)?))
    }

    /// The key at which the next leaf is read, or the rest of this one, if all that was read has been handed out: from
    /// there on in the direction of the scan. None while there is more, and at the end.
    #[must_use]
    #[inline]
    pub fn reads_on_at(&self) -> Option<&[u8]> {
        let used_up = self.given == self.batch.records.len() && self.next != Next::Nowhere;
        used_up.then_some(&self.next_key)
    }

    /// The key of the last record that has been read, handed out or not. None where nothing has been read.
    #[must_use]
    pub fn last_read(&self) -> Option<&[u8]> {
        let last = self.batch.records.len().checked_sub(1)?;
        Some(self.batch.record(last).key)
    }

    /// Whether all of the range has been read, handed out or not.
    #[must_use]
    pub fn has_read_all(&self) -> bool {
        self.next == Next::Nowhere
    }

    /// Reads on there, one leaf at most, so that [`Cursor::token`] can be asked of each.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn read_on(&mut self) -> Result<()> {
        self.load()
    }

    /// The token of the leaf that the last record, or the end, was read from.
    #[must_use]
    pub fn token(&self) -> ReadToken {
        self.token
    }

    /// Copies the next batch, and finds out where the one after it begins.
    fn load(&mut self) -> Result<()> {
        let _class = breakdown::enter(Class::Index);
        let tree = Arc::clone(&self.tree);
        let mut held = None;
        let mut spins = 0;
        self.given = 0;
        loop {
            match self.try_load(&tree) {
                Ok(next) => {
                    self.set_next(next);
                    self.batch_max = self.batch_max.saturating_mul(4);
                    return Ok(());
                }
                Err(stop) => tree.recover(stop, &mut held, &mut spins)?,
            }
        }
    }

    fn try_load<'v>(&mut self, tree: &'v Tree) -> std::result::Result<After, Stop<'v>> {
        let target = match self.next {
            Next::From | Next::After | Next::DownFrom => Target::At(&self.next_key),
            Next::Below => Target::Below(&self.next_key),
            Next::Last | Next::Nowhere => Target::Last,
        };
        let leaf = tree.leaf(target)?;
        let page = leaf.page();
        let slots = match self.direction {
            Direction::Forward => {
                let begin = position(page, &self.next_key, self.next == Next::After);
                let end = match &self.end {
                    Bound::Unbounded => page.slots(),
                    Bound::Included(key) => position_from(page, begin, key, true),
                    Bound::Excluded(key) => position_from(page, begin, key, false),
                };
                begin..end
            }
            Direction::Backward => {
                let begin = match &self.end {
                    Bound::Unbounded => 0,
                    Bound::Included(key) => position(page, key, false),
                    Bound::Excluded(key) => position(page, key, true),
                };
                let end = match self.next {
                    Next::DownFrom => position(page, &self.next_key, true),
                    Next::Below => position(page, &self.next_key, false),
                    _ => page.slots(),
                };
                begin..end
            }
        };
        let token = tree.token(&leaf, 0);
        let count = slots.len().min(self.batch_max);
        self.batch.begin(page);
        match self.direction {
            Direction::Forward => {
                slots.clone().take(count).for_each(|at| self.batch.copy(tree, page, at))
            }
            Direction::Backward => {
                slots.clone().rev().take(count).for_each(|at| self.batch.copy(tree, page, at));
            }
        }
        let after = if count < slots.len() { After::LastCopied } else { self.after_leaf(page) };
        leaf.validate()?;
        self.token = token;
        Ok(after)
    }

    /// Where the range goes on when this leaf is used up.
    fn after_leaf(&self, page: Page<'_>) -> After {
        let mut fence = Vec::new();
        let ends_here = match (self.direction, &self.end) {
            (Direction::Forward, _) if page.high_is_infinite() => true,
            (Direction::Forward, Bound::Included(end) | Bound::Excluded(end)) => page.is_above(end),
            (Direction::Backward, Bound::Included(end) | Bound::Excluded(end)) => {
                page.is_below_or_at(end)
            }
            (_, Bound::Unbounded) => false,
        };
        if ends_here {
            return After::Nothing;
        }
        match self.direction {
            Direction::Forward => page.append_high(&mut fence),
            Direction::Backward => page.append_low(&mut fence),
        }
        if fence.is_empty() { After::Nothing } else { After::Fence(fence) }
    }

    fn set_next(&mut self, after: After) {
        match after {
            After::Nothing => self.next = Next::Nowhere,
            After::Fence(fence) => {
                self.next_key = fence;
                self.next = match self.direction {
                    Direction::Forward => Next::From,
                    Direction::Backward => Next::Below,
                };
            }
            After::LastCopied => {
                let last = self.batch.record(self.batch.records.len() - 1);
                self.next_key.clear();
                self.next_key.extend_from_slice(last.key);
                self.next = match self.direction {
                    Direction::Forward => Next::After,
                    Direction::Backward => Next::Below,
                };
            }
        }
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        let next_key = std::mem::take(&mut self.next_key);
        batch.keys = match std::mem::replace(&mut self.end, Bound::Unbounded) {
            Bound::Included(end) | Bound::Excluded(end) => [next_key, end],
            Bound::Unbounded => [next_key, Vec::new()],
        };
        batch.leave();
    }
}

/// What comes after a batch.
enum After {
    /// More of the same leaf, behind the last record copied.
    LastCopied,
    /// The leaf beyond this fence.
    Fence(Vec<u8>),
    /// Nothing.
    Nothing,
}

impl Batch {
    /// An empty one, in the memory of one that has been left.
    fn spare() -> Batch {
        // A thread that ends has none any more.
        let left = SPARE.try_with(|spare| spare.borrow_mut().pop());
        left.ok().flatten().unwrap_or_default()
    }

    /// Leaves the memory for the next scan.
    fn leave(mut self) {
        if self.copies.capacity() == 0 || self.copies.capacity() > SPARE_BYTES_MAX {
            return;
        }
        self.clear();
        // Where the thread ends, the memory does.
        let _ = SPARE.try_with(|spare| {
            let mut spare = spare.borrow_mut();
            if spare.len() < SPARE_MAX {
                spare.push(self);
            }
        });
    }

    /// Begins with records of another leaf.
    fn begin(&mut self, page: Page<'_>) {
        self.clear();
        self.prefix.clear();
        page.append_prefix(&mut self.prefix);
    }

    fn clear(&mut self) {
        self.copies.clear();
        self.records.clear();
    }

    /// Copies a record. A torn read, which nobody will believe, may leave it out.
    #[inline]
    fn copy(&mut self, tree: &Tree, page: Page<'_>, slot: usize) {
        let EntryAt { word, at, suffix_len, value_len, tombstone } = page.entry(slot);
        let len = suffix_len + VALUE_LEN_BYTES + value_len;
        let Some(start) = self.copies.take(page.words(), at, len, &self.prefix) else { return };
        let key_len = self.prefix.len() + suffix_len;
        self.records.push(Copied {
            at: start as u32,
            key_len: key_len as u16,
            value_len: value_len as u16,
            tombstone,
            lsn: tree.lsn_of(word),
        });
    }

    #[inline]
    fn record(&self, index: usize) -> Record<'_> {
        let Copied { at, key_len, value_len, tombstone, lsn } = self.records[index];
        let (key_len, value_len) = (usize::from(key_len), usize::from(value_len));
        let bytes = &self.copies.bytes()[at as usize..][..key_len + VALUE_LEN_BYTES + value_len];
        // Between the two are the bytes of the value's length.
        let (key, value) = (&bytes[..key_len], &bytes[key_len + VALUE_LEN_BYTES..]);
        Record { key, lsn, value: (!tombstone).then_some(value) }
    }
}

fn set_bound(bound: &mut Bound<Vec<u8>>, to: Bound<&[u8]>) {
    // The vector of the last range serves this one, too.
    let mut key = match std::mem::replace(bound, Bound::Unbounded) {
        Bound::Included(key) | Bound::Excluded(key) => key,
        Bound::Unbounded => Vec::new(),
    };
    key.clear();
    *bound = to.map(|to| {
        key.extend_from_slice(to);
        key
    });
}

/// As [`position`], of a key that lies at slot `begin` or behind it, and not far: most scans are short. A range that is empty
/// ends where it begins.
fn position_from(page: Page<'_>, begin: usize, key: &[u8], above: bool) -> usize {
    if !page.is_above(key) {
        return page.slots();
    }
    if !page.covers(key) {
        return begin;
    }
    let place = node::place_from(page, key, begin);
    place.slot + usize::from(place.found && above)
}

/// The first slot of a leaf whose key is not below `key`, or, with `above`, is above it, wherever `key` lies.
pub(super) fn position(page: Page<'_>, key: &[u8], above: bool) -> usize {
    if !page.is_above(key) {
        return page.slots();
    }
    if !page.covers(key) {
        return 0;
    }
    let place = node::place(page, key);
    place.slot + usize::from(place.found && above)
}
