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
use std::sync::{Arc, Weak};
use txn::breakdown::{self, Breakdown, Class, Started};

/// A session tells what it has spent after so many cycles, some milliseconds, if not before.
const TOLD_AFTER: u64 = 1 << 24;

/// What has been measured and not been told yet.
#[derive(Debug, Default)]
pub(super) struct Measured {
    /// The statement that ran last.
    last: Option<Last>,
    /// What it has spent.
    spent: Spent,
    /// Whose the time is that the clock counts.
    whose: Whose,
    /// What messages have spent that may lead to another statement, in batches that are over.
    coming: Breakdown,
    /// Whether a statement has run among the messages that are looked at.
    ran: bool,
    /// When it was last told.
    told: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Whose {
    /// The statement's that ran last.
    #[default]
    Last,
    /// That of a statement that messages may lead to, which are looked at.
    Coming,
    /// The same, and a batch of such messages is over.
    ComingSince,
}

/// The statement that ran last, and where it is counted.
#[derive(Debug)]
struct Last {
    /// Most often the next one is the same.
    prepared: Weak<Prepared>,
    key: Key,
    epoch: u64,
    /// None where there are too many shapes.
    times: Option<Arc<StatementTimes>>,
}

impl Session {
    /// Messages are going to be looked at: the clock runs until what is returned is given to [`Session::end_messages`].
    #[inline]
    pub fn begin_messages(&mut self) -> Option<Started> {
        self.tracking.measures.then(|| breakdown::start(Class::Protocol))
    }

    /// The messages have been looked at, as far as they go.
    pub fn end_messages(&mut self, clock: Started) {
        let measured = &mut self.measured;
        measured.ran = false;
        let now = match measured.whose {
            Whose::Last => clock.stop(&mut measured.spent.breakdown),
            Whose::Coming | Whose::ComingSince => {
                measured.whose = Whose::ComingSince;
                clock.stop(&mut measured.coming)
            }
        };
        if !self.tracking.measures || now.saturating_sub(measured.told) > TOLD_AFTER {
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
        let measured = &mut self.measured;
        if !self.tracking.measures || measured.whose != Whose::Last {
            return;
        }
        if std::mem::take(&mut measured.ran) {
            measured.spent.breakdown.take_in();
        }
        measured.whose = Whose::Coming;
    }

    /// A statement begins to run: what has been spent since the last one ended is its own, too.
    pub(super) fn measure(&mut self, prepared: &Arc<Prepared>) {
        self.end_measured();
        let same = self.measured.last.as_ref().is_some_and(|last| {
            last.prepared.as_ptr() == Arc::as_ptr(prepared)
                && last.key.user == self.identity.user
                && last.epoch == self.engine.breakdowns().epoch()
        });
        if !same {
            self.measure_another(prepared);
        }
        let measured = &mut self.measured;
        if measured.whose == Whose::ComingSince {
            measured.spent.breakdown.add_all(&std::mem::take(&mut measured.coming));
        }
        measured.whose = Whose::Last;
        measured.ran = true;
        measured.spent.calls += 1;
    }

    /// The same, of one that has not been made ready where the last one was: what that one has spent is told, where it is another one.
    #[cold]
    fn measure_another(&mut self, prepared: &Arc<Prepared>) {
        let named = prepared.parsed.statement().and_then(|statement| self.executes(statement));
        let prepared = named.as_ref().unwrap_or(prepared);
        let (key, epoch) =
            (self.statement_key(prepared.number()), self.engine.breakdowns().epoch());
        if let Some(last) = &mut self.measured.last
            && last.key == key
            && last.epoch == epoch
        {
            last.prepared = Arc::downgrade(prepared);
            return;
        }
        self.tell_measured();
        let times = self.engine.breakdowns().statement(key, prepared.parsed.shape());
        self.measured.last = Some(Last { prepared: Arc::downgrade(prepared), key, epoch, times });
    }

    /// Tells others what has been spent.
    #[cold]
    pub(super) fn tell_measured(&mut self) {
        let spent = std::mem::take(&mut self.measured.spent);
        self.measured.told = breakdown::now();
        self.activity.spent.add(&spent);
        if let Some(Last { times: Some(times), .. }) = &self.measured.last {
            times.spent.add(&spent);
        }
    }
}
