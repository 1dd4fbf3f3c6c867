//! The session's side of `atoll.track_breakdown`: when the clock runs, and for which statement it counts.
//!
//! The clock of the thread runs while the client's messages are looked at ([`Session::begin_messages`]). What it has counted belongs to the
//! statement that ran last, up to the first message that may lead to another one ([`Session::end_measured`]): so a statement has its
//! parsing, its Sync with the commit, and its answer. Where nothing is measured each of these is one branch.

use super::Session;
use super::statement::Prepared;
use crate::breakdown::{Spent, StatementTimes};
use crate::statement_statistics::Key;
use std::sync::Arc;
use txn::breakdown::{self, Breakdown, Class, Entered};

/// What has been measured and not been counted yet.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// What the thread's clock showed when it had all been counted.
    from: Breakdown,
    /// Statements that have begun since.
    calls: u64,
    /// The statement that ran last, if that has any place.
    last: Option<Last>,
    /// Whether it has run since the last message that may lead to another one.
    ran: bool,
}

/// Where a statement is counted, as it was found.
#[derive(Debug)]
struct Last {
    key: Key,
    epoch: u64,
    times: Arc<StatementTimes>,
}

impl Session {
    /// Messages are going to be looked at: the clock runs until what is returned is given to [`Session::end_messages`].
    #[inline]
    pub fn begin_messages(&mut self) -> Option<Entered> {
        if !self.tracking.measures {
            return None;
        }
        let clock = breakdown::start(Class::Protocol);
        self.measured.from = Breakdown::so_far();
        Some(clock)
    }

    /// The messages have been looked at, as far as they go.
    pub fn end_messages(&mut self, clock: Entered) {
        drop(clock);
        self.count_measured();
    }

    /// Time that has passed for an answer while the clock stood still.
    pub fn spend(&self, class: Class, cycles: u64) {
        let mut breakdown = Breakdown::default();
        breakdown.add(class, cycles);
        self.count_spent(&Spent { calls: 0, breakdown });
    }

    /// Whether the session's time is measured.
    #[must_use]
    pub fn measures(&self) -> bool {
        self.tracking.measures
    }

    /// A message comes that may lead to another statement than the last.
    #[inline]
    pub(super) fn end_measured(&mut self) {
        if self.measured.ran {
            self.count_measured();
            self.measured.ran = false;
        }
    }

    /// A statement begins to run: what has passed since the last one ended is its own, too.
    #[cold]
    pub(super) fn measure(&mut self, prepared: &Arc<Prepared>) {
        self.end_measured();
        let named = prepared.parsed.statement().and_then(|statement| self.executes(statement));
        let prepared = named.as_ref().unwrap_or(prepared);
        let breakdowns = self.engine.breakdowns();
        let (key, epoch) = (self.statement_key(prepared.number()), breakdowns.epoch());
        if !self.measured.last.as_ref().is_some_and(|last| last.key == key && last.epoch == epoch) {
            let times = breakdowns.statement(key, prepared.parsed.shape());
            self.measured.last = times.map(|times| Last { key, epoch, times });
        }
        self.measured.ran = true;
        self.measured.calls += 1;
    }

    fn count_measured(&mut self) {
        let now = Breakdown::so_far();
        let from = std::mem::replace(&mut self.measured.from, now);
        let calls = std::mem::take(&mut self.measured.calls);
        self.count_spent(&Spent { calls, breakdown: now.since(from) });
    }

    fn count_spent(&self, spent: &Spent) {
        self.activity.spent.add(spent);
        if let Some(last) = &self.measured.last {
            last.times.spent.add(spent);
        }
    }
}
