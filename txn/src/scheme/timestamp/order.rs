//! Timestamps: who gets which, and which a commit had.
//!
//! A timestamp and a snapshot are taken under one latch, once every commit whose transaction has ended is visible: so all commits
//! at or below the snapshot are of older transactions, and of those above it that have ended none is forgotten. The timestamps of
//! commits are kept as long as a transaction runs whose snapshot does not show them.
//!
//! There may be many beside a transaction that runs for long: past a limit its snapshot is given up, as where versions are too
//! many.

use crate::owner::OwnerId;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, lock, rank};
use crate::{Lsn, Timestamp};
use std::collections::BTreeMap;

/// Commits whose timestamps are kept at most.
#[cfg(not(test))]
const COMMITS: usize = 1 << 20;
#[cfg(test)]
const COMMITS: usize = 64;

#[derive(Debug, Default)]
struct Inner {
    last: Timestamp,
    /// Who runs, and by which snapshot; both ascend.
    running: BTreeMap<Timestamp, (Lsn, OwnerId)>,
    commits: BTreeMap<Lsn, Timestamp>,
}

/// The order of transactions.
#[derive(Debug, Default)]
pub(crate) struct Order {
    inner: Mutex<Inner, { rank::TIMESTAMPS }>,
    /// No transaction that runs, or will, is older.
    oldest: AtomicU64,
}

impl Inner {
    fn oldest(&self) -> Timestamp {
        self.running.keys().next().copied().unwrap_or(Timestamp(self.last.0 + 1))
    }
}

impl Order {
    /// Gives a transaction its place, and the snapshot that `announce` takes; none if that cannot be taken now.
    pub(crate) fn begin(
        &self,
        owner: OwnerId,
        announce: impl FnOnce() -> Option<Lsn>,
    ) -> Option<(Timestamp, Lsn)> {
        let inner = &mut *lock(&self.inner);
        let snapshot = announce()?;
        inner.last.0 += 1;
        inner.running.insert(inner.last, (snapshot, owner));
        Some((inner.last, snapshot))
    }

    /// A transaction has ended, and all snapshots from now on show what it did.
    pub(crate) fn end(&self, at: Timestamp) {
        let inner = &mut *lock(&self.inner);
        inner.running.remove(&at);
        self.oldest.store(inner.oldest().0, Ordering::Relaxed);
        let seen = inner.running.values().next().map_or(Lsn::MAX, |(snapshot, _)| *snapshot);
        while inner.commits.first_key_value().is_some_and(|(lsn, _)| *lsn <= seen) {
            inner.commits.pop_first();
        }
    }

    /// Says whose commit this is. Returns whose snapshots have to be given up, because there are too many beside them.
    pub(crate) fn committed(&self, lsn: Lsn, at: Timestamp) -> Vec<OwnerId> {
        let inner = &mut *lock(&self.inner);
        inner.commits.insert(lsn, at);
        let too_many = inner.commits.len() > COMMITS;
        let Some((gone, _)) = too_many.then(|| inner.commits.pop_first()).flatten() else {
            return Vec::new();
        };
        let blind = inner.running.values().take_while(|(snapshot, _)| *snapshot < gone);
        blind.map(|(_, owner)| *owner).collect()
    }

    /// Whether the commit is that of a transaction older than `at`.
    pub(crate) fn is_before(&self, lsn: Lsn, at: Timestamp) -> bool {
        lock(&self.inner).commits.get(&lsn).is_some_and(|of| *of < at)
    }

    /// No transaction that runs, or will, is older than this.
    pub(crate) fn oldest(&self) -> Timestamp {
        // Relaxed: it only grows, and an old answer keeps more than is needed.
        Timestamp(self.oldest.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_known_while_somebody_does_not_see_them() {
        let order = Order::default();
        let begin = |snapshot| order.begin(OwnerId(0), || Some(Lsn(snapshot))).unwrap().0;
        let (one, two) = (begin(5), begin(5));
        order.committed(Lsn(7), one);
        order.end(one);
        assert!(order.is_before(Lsn(7), two) && !order.is_before(Lsn(8), two));
        let three = begin(7);
        order.end(two);
        assert!(!order.is_before(Lsn(7), three), "its snapshot shows it");
        assert_eq!(order.oldest(), three);
        assert!(order.begin(OwnerId(0), || None).is_none());
    }

    /// Too many commits beside one that runs: it is the one who fails.
    #[test]
    fn what_is_kept_is_bounded() {
        let order = Order::default();
        let (old, _) = order.begin(OwnerId(3), || Some(Lsn(1))).unwrap();
        for number in 0..2 * COMMITS as u64 {
            let (at, _) = order.begin(OwnerId(1), || Some(Lsn(9 + number))).unwrap();
            let given_up = order.committed(Lsn(10 + number), at);
            let expected = if number < COMMITS as u64 { vec![] } else { vec![OwnerId(3)] };
            assert_eq!(given_up, expected);
            order.end(at);
        }
        assert_eq!(lock(&order.inner).commits.len(), COMMITS);
        order.end(old);
        assert!(lock(&order.inner).commits.is_empty());
    }
}
