//! A scan for rows that are to be locked NOWAIT, where reads lock or stamp ranges: it asks for its range part by part, so that who is in
//! the way of a row that it does not come to is not in its way.
//!
//! Where the next part ends says a scan that passes by: it reads by the statement's snapshot and locks nothing, so what it finds is no more
//! than a place to stop at. The part is asked for up to there and only then read, with what has been committed there since. The parts lie one behind the
//! other from the beginning of the range on, so what has been read is locked without a gap, as by a scan of all of it. Behind some rows
//! the rest is asked for at once: parts are locks, and somebody who wants so many rows wants all of them.

use super::scan::{KeyRange, Scan, borrowed, owned};
use super::{Beside, ReadView, Transaction};
use crate::Result;
use crate::lock::WaitPolicy;
use crate::scheme::Tracking;
use std::ops::Bound;
use std::sync::Arc;
use storage::{Direction, Lsn, Tree};

/// Parts of a row each.
const STEPS: u32 = 32;

/// What a scan has not asked for yet.
#[derive(Debug)]
pub(super) struct Steps {
    tree: Arc<Tree>,
    /// By which its parts are read.
    view: ReadView,
    direction: Direction,
    /// Says where the next part ends.
    probe: Scan,
    low: Bound<Vec<u8>>,
    high: Bound<Vec<u8>>,
    left: u32,
    ended: bool,
}

impl Transaction {
    /// The view that passes by what one locks or stamps; none where nobody does that to ranges.
    pub(super) fn view_to_pass(&self, view: &ReadView) -> Option<ReadView> {
        let asks =
            matches!(self.tracking.as_deref(), Some(Tracking::Locking(_) | Tracking::Stamped(_)));
        let snapshot = view.announced();
        let passing = ReadView { snapshot, beside: Beside::Passing, ..*view };
        (asks && snapshot != Lsn::MAX && !view.is_passing()).then_some(passing)
    }

    /// Begins with the first part.
    #[cold]
    pub(super) fn scan_in_steps(
        &mut self,
        (view, passing): (&ReadView, &ReadView),
        tree: &Arc<Tree>,
        range: KeyRange<'_>,
        direction: Direction,
    ) -> Result<Scan> {
        let mut steps = Steps {
            tree: Arc::clone(tree),
            view: *view,
            direction,
            probe: self.scan(passing, tree, range, direction)?,
            low: owned(range.low),
            high: owned(range.high),
            left: STEPS,
            ended: false,
        };
        let mut scan = steps.next(self)?;
        scan.steps = Some(Box::new(steps));
        Ok(scan)
    }
}

impl Steps {
    /// Asks for the next part; the scan of it.
    fn next(&mut self, transaction: &mut Transaction) -> Result<Scan> {
        let stop = match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                self.probe.advance(transaction)?.map(|row| row.key.to_vec())
            }
            None => None,
        };
        self.ended = stop.is_none();
        let (low, high) = (borrowed(&self.low), borrowed(&self.high));
        let part = match (stop.as_deref(), self.direction) {
            (None, _) => KeyRange { low, high },
            (Some(stop), Direction::Forward) => KeyRange { low, high: Bound::Included(stop) },
            (Some(stop), Direction::Backward) => KeyRange { low: Bound::Included(stop), high },
        };
        let (view, tree, policy) = (&self.view, &self.tree, WaitPolicy::Error);
        let scan = transaction.scan_whole(view, tree, part, self.direction, policy)?;
        if let Some(stop) = stop {
            let rest = Bound::Excluded(stop);
            match self.direction {
                Direction::Forward => self.low = rest,
                Direction::Backward => self.high = rest,
            }
        }
        Ok(scan)
    }
}

impl Scan {
    /// The next row of this part, or of one behind it; whether there is one.
    pub(super) fn advance_in_steps(&mut self, transaction: &mut Transaction) -> Result<bool> {
        while !self.advance_merged(transaction)? {
            let Some(mut steps) = self.steps.take_if(|steps| !steps.ended) else {
                return Ok(false);
            };
            *self = steps.next(transaction)?;
            self.steps = Some(steps);
        }
        Ok(true)
    }
}
