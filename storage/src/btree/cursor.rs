//! Cursors: a scan copies a leaf at a time, validates the copy, and holds no latch between its steps.
//!
//! There are no links between leaves: the fence of the leaf that is used up is the key the next descent goes to, so a
//! split or merge under a scan needs no care at all.

use super::descend::{Stop, Target};
use super::{Direction, ReadToken, Record, Tree, node};
use crate::page::{Page, PageBuf, racy};
use crate::sync::Arc;
use crate::{Lsn, Result};
use std::ops::Bound;

/// A place in a tree that moves record by record.
#[derive(Debug)]
pub struct Cursor {
    tree: Arc<Tree>,
    direction: Direction,
    /// The end of the range in the direction of the scan.
    end: Bound<Vec<u8>>,
    /// The copy of the leaf, and which of its slots are left.
    leaf: PageBuf,
    left: std::ops::Range<usize>,
    /// Where the next leaf is.
    next: Next,
    key: Vec<u8>,
    token: ReadToken,
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// The leaf that holds this key.
    At(Vec<u8>),
    /// The leaf of the keys just below this one.
    Below(Vec<u8>),
    /// The last leaf.
    Last,
    /// There is none.
    Nowhere,
}

impl Cursor {
    pub(super) fn new(tree: Arc<Tree>) -> Cursor {
        let leaf = PageBuf::new(tree.page_bytes());
        Cursor {
            tree,
            direction: Direction::Forward,
            end: Bound::Unbounded,
            leaf,
            left: 0..0,
            next: Next::Nowhere,
            key: Vec::new(),
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
        self.end = end.map(<[u8]>::to_vec);
        self.next = match (direction, begin) {
            (Direction::Forward, Bound::Included(key) | Bound::Excluded(key)) => {
                Next::At(key.to_vec())
            }
            (Direction::Forward, Bound::Unbounded) => Next::At(Vec::new()),
            (Direction::Backward, Bound::Included(key)) => Next::At(key.to_vec()),
            (Direction::Backward, Bound::Excluded([])) => Next::Nowhere,
            (Direction::Backward, Bound::Excluded(key)) => Next::Below(key.to_vec()),
            (Direction::Backward, Bound::Unbounded) => Next::Last,
        };
        self.left = 0..0;
        if self.next == Next::Nowhere {
            return Ok(());
        }
        self.load()?;
        // Only the first leaf can hold records before the beginning.
        let page = self.leaf.page();
        match (direction, begin) {
            (Direction::Forward, Bound::Included(key)) => {
                self.left.start = node::first_not_below(page, key);
            }
            (Direction::Forward, Bound::Excluded(key)) => {
                self.left.start = first_above(page, key);
            }
            (Direction::Backward, Bound::Included(key)) => {
                self.left.end = first_above(page, key);
            }
            (Direction::Backward, Bound::Excluded(key)) => {
                self.left.end = node::first_not_below(page, key);
            }
            (_, Bound::Unbounded) => {}
        }
        self.cut_at_end();
        Ok(())
    }

    /// The next record, tombstones too.
    ///
    /// # Errors
    /// I/O and corruption.
    pub fn advance(&mut self) -> Result<Option<Record<'_>>> {
        while self.left.is_empty() {
            if self.next == Next::Nowhere {
                return Ok(None);
            }
            self.load()?;
            self.cut_at_end();
        }
        let slot = match self.direction {
            Direction::Forward => self.left.next(),
            Direction::Backward => self.left.next_back(),
        };
        let slot = slot.expect("the range is not empty");
        let page = self.leaf.page();
        self.key.clear();
        page.append_key(slot, &mut self.key);
        let lsn = Lsn(page.entry_word(slot));
        let value = page.value(slot);
        let bytes = &self.leaf.bytes_mut()[value.at..value.at + value.len];
        Ok(Some(Record { key: &self.key, lsn, value: (!value.tombstone).then_some(bytes) }))
    }

    /// The token of the leaf that the last record, or the end, was read from.
    #[must_use]
    pub fn token(&self) -> ReadToken {
        self.token
    }

    /// Copies the next leaf, and finds out where the one after it is.
    fn load(&mut self) -> Result<()> {
        let mut held = None;
        let mut spins = 0;
        loop {
            let target = match &self.next {
                Next::At(key) => Target::At(key),
                Next::Below(key) => Target::Below(key),
                Next::Last | Next::Nowhere => Target::Last,
            };
            match copy_leaf(&self.tree, target, &mut self.leaf) {
                Ok(token) => {
                    self.token = token;
                    break;
                }
                Err(stop) => self.tree.recover(stop, &mut held, &mut spins)?,
            }
        }
        let page = self.leaf.page();
        self.left = 0..page.slots();
        let mut fence = Vec::new();
        self.next = match self.direction {
            Direction::Forward if page.high_is_infinite() => Next::Nowhere,
            Direction::Forward => {
                page.append_high(&mut fence);
                Next::At(fence)
            }
            Direction::Backward => {
                page.append_low(&mut fence);
                if fence.is_empty() { Next::Nowhere } else { Next::Below(fence) }
            }
        };
        Ok(())
    }

    /// Forgets what lies past the end of the range.
    fn cut_at_end(&mut self) {
        let page = self.leaf.page();
        let (low, high) = (self.left.start, self.left.end);
        match (self.direction, &self.end) {
            (_, Bound::Unbounded) => {}
            (Direction::Forward, Bound::Included(end)) => {
                self.left.end = high.min(first_above(page, end));
                if page.is_above(end) {
                    self.next = Next::Nowhere;
                }
            }
            (Direction::Forward, Bound::Excluded(end)) => {
                self.left.end = high.min(node::first_not_below(page, end));
                if page.is_above(end) {
                    self.next = Next::Nowhere;
                }
            }
            (Direction::Backward, Bound::Included(end)) => {
                self.left.start = low.max(node::first_not_below(page, end));
                if page.is_below_or_at(end) {
                    self.next = Next::Nowhere;
                }
            }
            (Direction::Backward, Bound::Excluded(end)) => {
                self.left.start = low.max(first_above(page, end));
                if page.is_below_or_at(end) {
                    self.next = Next::Nowhere;
                }
            }
        }
    }
}

fn copy_leaf<'v>(
    tree: &'v Tree,
    target: Target<'_>,
    into: &mut PageBuf,
) -> std::result::Result<ReadToken, Stop<'v>> {
    let leaf = tree.leaf(target)?;
    let token = ReadToken::of(&leaf);
    racy::copy_page(leaf.page().words(), into.page().words());
    leaf.validate()?;
    Ok(token)
}

/// The first slot whose key is above `key`.
fn first_above(page: Page<'_>, key: &[u8]) -> usize {
    let slot = node::first_not_below(page, key);
    let mut own = Vec::new();
    if slot < page.slots() {
        page.append_key(slot, &mut own);
    }
    if slot < page.slots() && own == key { slot + 1 } else { slot }
}
