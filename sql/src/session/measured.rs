//! The session's side of `atoll.track_breakdown`: when the clock runs, and for which statement it counts.
//!
//! The clock of the thread runs while the client's messages are looked at ([`Session::begin_messages`]). What it has counted belongs to the
//! statement that ran last, up to the first message that may lead to another one ([`Session::end_measured`]): so a statement has its
//! parsing, its Sync with the commit, and its answer. What comes behind that message is kept apart until it is known which
//! statement it leads to. Where nothing is measured each of these is one branch.

use super::Session;
use crate::breakdown::{Spent, StatementTimes};
use crate::prepared::Prepared;
use crate::statement_statistics::Key;
use std::sync::Arc;
use txn::breakdown::{self, Breakdown, Class, Entered};

/// A session tells what it has spent after so many cycles, if not before.
const TOLD_AFTER: u64 = 1 << 20;

/// What has been measured and not been told yet.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// The statement that ran last, if that has any place.
    last: Option<Last>,
    /// What it has spent.
    spent: Spent,
    /// A message has come that may lead to another statement: what it and those behind it have spent, once their batch is over.
    coming: Option<Option<Breakdown>>,
    /// Whether a statement has run among the messages that are looked at.
    ran: bool,
    /// When it was last told.
    told: u64,
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
        self.tracking.measures.then(|| breakdown::start(Class::Protocol))
    }

    /// The messages have been looked at, as far as they go.
    pub fn end_messages(&mut self, clock: Entered) {
        drop(clock);
        let measured = &mut self.measured;
        measured.ran = false;
        match &mut measured.coming {
            Some(coming) => coming.get_or_insert_default().take_in(),
            None => measured.spent.breakdown.take_in(),
        }
        if !self.tracking.measures || breakdown::now().saturating_sub(measured.told) > TOLD_AFTER {
            self.tell_measured();
        }
    }

    /// Time that has passed for an answer while the clock stood still.
    #[inline]
    pub fn spend(&mut self, class: Class, cycles: u64) {
        self.measured.spent.breakdown.add(class, cycles);
    }

    /// Whether the session's time is measured.
    #[must_use]
    pub fn measures(&self) -> bool {
        self.tracking.measures
    }

    /// A message comes that may lead to another statement than the last.
    #[inline]
    pub(super) fn end_measured(&mut self) {
        if !self.tracking.measures {
            return;
        }
        if std::mem::take(&mut self.measured.ran) {
            self.measured.spent.breakdown.take_in();
        }
        self.measured.coming.get_or_insert_default();
    }

    /// A statement begins to run: what has been spent since the last one ended is its own, too.
    pub(super) fn measure(&mut self, prepared: &Arc<Prepared>) {
        self.end_measured();
        let named = prepared.parsed.statement().and_then(|statement| self.executes(statement));
        let prepared = named.as_ref().unwrap_or(prepared);
        let (key, epoch) =
            (self.statement_key(prepared.number()), self.engine.breakdowns().epoch());
        if !self.measured.last.as_ref().is_some_and(|last| last.key == key && last.epoch == epoch) {
            self.tell_measured();
            let times = self.engine.breakdowns().statement(key, prepared.parsed.shape());
            self.measured.last = times.map(|times| Last { key, epoch, times });
        }
        let measured = &mut self.measured;
        if let Some(Some(coming)) = &measured.coming {
            measured.spent.breakdown.add_all(coming);
        }
        measured.coming = None;
        measured.ran = true;
        measured.spent.calls += 1;
    }

    /// Tells others what has been spent.
    #[cold]
    pub(super) fn tell_measured(&mut self) {
        let spent = std::mem::take(&mut self.measured.spent);
        self.measured.told = breakdown::now();
        self.activity.spent.add(&spent);
        if let Some(last) = &self.measured.last {
            last.times.spent.add(&spent);
        }
    }
}
