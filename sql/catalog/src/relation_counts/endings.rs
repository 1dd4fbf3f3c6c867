//! How transactions begin and end, by the scheme that decides it: `pg_stat_atoll_concurrency`.
//!
//! As with relations a session counts for itself, by plain additions, and whoever reads adds up all sessions. A database has
//! one scheme at a time; what was counted under another stays under its name.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use txn::{Abort, SessionWait};

/// What a session counts of its transactions.
#[derive(Debug, Default)]
pub struct Transactions {
    begun: AtomicU64,
    committed: AtomicU64,
    aborted: [AtomicU64; Abort::ALL.len()],
    /// Where its waits are counted.
    wait: Option<Arc<SessionWait>>,
}

/// What is shown of a database under a scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Endings {
    /// Transactions that have begun.
    pub begun: u64,
    /// Those that have committed, or been prepared.
    pub committed: u64,
    /// Those that have not, by reason.
    aborted: [u64; Abort::ALL.len()],
    /// How often sessions have waited for locks.
    pub lock_waits: u64,
    /// How long they have, in microseconds.
    pub lock_wait_us: u64,
}

fn count(cell: &AtomicU64) {
    // Relaxed: only the session writes, and nobody concludes anything from what he reads about other memory.
    cell.store(cell.load(Relaxed) + 1, Relaxed);
}

impl Transactions {
    /// Of the session that waits as `wait`.
    pub(super) fn of(wait: &Arc<SessionWait>) -> Transactions {
        Transactions { wait: Some(Arc::clone(wait)), ..Transactions::default() }
    }

    /// One begins.
    pub fn begins(&self) {
        count(&self.begun);
    }

    /// One ends: with a commit, or for this reason.
    pub(super) fn ends(&self, reason: Option<Abort>) {
        count(reason.map_or(&self.committed, |reason| &self.aborted[reason as usize]));
    }
}

impl Endings {
    /// Those that have not committed, for this reason.
    #[must_use]
    pub fn aborted(&self, reason: Abort) -> u64 {
        self.aborted[reason as usize]
    }

    /// Those that have not committed.
    #[must_use]
    pub fn rolled_back(&self) -> u64 {
        self.aborted.iter().sum()
    }

    /// As a base: those under way will end behind it, so they count as begun there.
    pub(super) fn without_running(self) -> Endings {
        Endings { begun: self.committed + self.rolled_back(), ..self }
    }

    pub(super) fn add(&mut self, transactions: &Transactions) {
        let waits = transactions.wait.as_ref().map(|wait| wait.lock_waits.get());
        let (lock_waits, lock_wait_us) = waits.unwrap_or_default();
        *self = self.with(
            &Endings {
                begun: transactions.begun.load(Relaxed),
                committed: transactions.committed.load(Relaxed),
                aborted: std::array::from_fn(|at| transactions.aborted[at].load(Relaxed)),
                lock_waits,
                lock_wait_us,
            },
            u64::wrapping_add,
        );
    }

    /// What has come since `base`.
    pub(super) fn since(&self, base: &Endings) -> Endings {
        self.with(base, u64::saturating_sub)
    }

    fn with(&self, other: &Endings, each: fn(u64, u64) -> u64) -> Endings {
        Endings {
            begun: each(self.begun, other.begun),
            committed: each(self.committed, other.committed),
            aborted: std::array::from_fn(|at| each(self.aborted[at], other.aborted[at])),
            lock_waits: each(self.lock_waits, other.lock_waits),
            lock_wait_us: each(self.lock_wait_us, other.lock_wait_us),
        }
    }
}
