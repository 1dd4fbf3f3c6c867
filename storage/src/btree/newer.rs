//! Whether a range has anything newer than a snapshot: what a commit that validates its reads asks of the tree.
//!
//! Asked between a commit's claim and its publication nothing may wait, so the question has a form that waits for
//! nothing: a page that is not in memory, or that a writer holds, is an answer of its own.

use super::cursor::position;
use super::descend::{Stop, Target};
use super::{ReadToken, Tree};
use crate::sync::relax;
use crate::{Lsn, Result};
use std::ops::Bound;

/// How often a descent begins again, where it may not wait, because somebody changes a page on its way.
const RESTARTS: u32 = 32;

/// What a range has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newer {
    /// Nothing newer.
    No,
    /// A record, or tombstone, that this commit wrote.
    Yes(Lsn),
    /// It cannot be said without a wait.
    WouldWait,
}

/// What one leaf says.
enum Leaf {
    Newer(Lsn),
    /// The range goes on beyond this fence.
    Beyond(Vec<u8>),
    Last,
}

impl Tree {
    /// Whether a record or tombstone within the bounds was written by a commit above `snapshot`.
    ///
    /// # Errors
    /// I/O and corruption, if it may wait.
    pub fn newer(
        &self,
        snapshot: Lsn,
        (low, high): (Bound<&[u8]>, Bound<&[u8]>),
        wait: bool,
    ) -> Result<Newer> {
        let mut beyond: Option<Vec<u8>> = None;
        let (mut held, mut spins) = (None, 0);
        loop {
            let low = beyond.as_deref().map_or(low, Bound::Included);
            match self.try_newer(snapshot, low, high) {
                Ok(Leaf::Newer(lsn)) => return Ok(Newer::Yes(lsn)),
                Ok(Leaf::Last) => return Ok(Newer::No),
                Ok(Leaf::Beyond(fence)) => beyond = Some(fence),
                Err(Stop::Restart) if !wait && spins < RESTARTS => relax(&mut spins),
                Err(_) if !wait => return Ok(Newer::WouldWait),
                Err(stop) => self.recover(stop, &mut held, &mut spins)?,
            }
        }
    }

    fn try_newer(
        &self,
        snapshot: Lsn,
        low: Bound<&[u8]>,
        high: Bound<&[u8]>,
    ) -> std::result::Result<Leaf, Stop<'_>> {
        let (key, above) = match low {
            Bound::Included(key) => (key, false),
            Bound::Excluded(key) => (key, true),
            Bound::Unbounded => (&[][..], false),
        };
        let leaf = self.leaf(Target::At(key))?;
        let page = leaf.page();
        let begin = position(page, key, above);
        let (end, ends_here) = match high {
            Bound::Unbounded => (page.slots(), page.high_is_infinite()),
            Bound::Included(high) => (position(page, high, true), page.is_above(high)),
            Bound::Excluded(high) => (position(page, high, false), page.is_above(high)),
        };
        let newest = (begin..end).map(|slot| self.lsn_of(page.entry_word(slot))).max();
        let mut fence = Vec::new();
        if !ends_here && !page.high_is_infinite() {
            page.append_high(&mut fence);
        }
        leaf.validate()?;
        Ok(match newest {
            Some(lsn) if lsn > snapshot => Leaf::Newer(lsn),
            _ if fence.is_empty() => Leaf::Last,
            _ => Leaf::Beyond(fence),
        })
    }

    /// Whether a range that was read under `token` has anything above `snapshot` by now; a leaf that has not changed
    /// since is not read again.
    ///
    /// # Errors
    /// As [`Tree::newer`].
    pub fn newer_since(
        &self,
        token: ReadToken,
        snapshot: Lsn,
        range: (Bound<&[u8]>, Bound<&[u8]>),
        wait: bool,
    ) -> Result<Newer> {
        if self.unchanged(token) { Ok(Newer::No) } else { self.newer(snapshot, range, wait) }
    }
}
