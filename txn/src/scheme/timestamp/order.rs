//! Timestamps: who gets which, and which a commit had.
//!
//! A timestamp and a snapshot are taken under one latch, once every commit whose transaction has ended is visible. The timestamp
//! is above those of all who have committed or ended ([`Inner::floor`]), whatever hands it out: so all commits at or below the
//! snapshot are of older transactions, and of those above it that have ended none is forgotten. Who runs may be older or younger.
//! The timestamps of commits are kept as long as a transaction runs whose snapshot does not show them.
//!
//! There may be many beside a transaction that runs for long: past a limit its snapshot is given up, as where versions are too
//! many.

use crate::owner::OwnerId;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, lock, rank};
use crate::{Lsn, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Commits whose timestamps are kept at most.
#[cfg(not(test))]
const COMMITS: usize = 1 << 20;
#[cfg(test)]
const COMMITS: usize = 64;

#[derive(Debug, Default)]
struct Inner {
    /// The greatest of those who have committed or ended.
    floor: Timestamp,
    /// Who runs, and by which snapshot.
    running: BTreeMap<Timestamp, (Lsn, OwnerId)>,
    /// The same by snapshot.
    snapshots: BTreeSet<(Lsn, Timestamp)>,
    commits: BTreeMap<Lsn, Timestamp>,
}

/// The order of transactions.
#[derive(Debug, Default)]
pub struct Order {
    inner: Mutex<Inner, { rank::TIMESTAMPS }>,
    /// No transaction that runs, or will, is older.
    oldest: AtomicU64,
}

impl Inner {
    fn oldest(&self) -> Timestamp {
        let next = Timestamp(self.floor.0 + 1);
        self.running.keys().next().map_or(next, |oldest| next.min(*oldest))
    }
}

impl Order {
    /// Gives a transaction its place, which `above` takes, and the snapshot that `announce` takes; none if that cannot be
    /// taken now.
    pub fn begin(
        &self,
        owner: OwnerId,
        above: impl FnOnce(Timestamp) -> Timestamp,
        announce: impl FnOnce() -> Option<Lsn>,
    ) -> Option<(Timestamp, Lsn)> {
        let inner = &mut *lock(&self.inner);
        let snapshot = announce()?;
        let at = above(inner.floor);
        inner.running.insert(at, (snapshot, owner));
        inner.snapshots.insert((snapshot, at));
        Some((at, snapshot))
    }

    /// A transaction has ended, and all snapshots from now on show what it did.
    pub fn end(&self, at: Timestamp) {
        let inner = &mut *lock(&self.inner);
        if let Some((snapshot, _)) = inner.running.remove(&at) {
            inner.snapshots.remove(&(snapshot, at));
        }
        inner.floor = inner.floor.max(at);
        self.oldest.store(inner.oldest().0, Ordering::Relaxed);
        let seen = inner.snapshots.first().map_or(Lsn::MAX, |(snapshot, _)| *snapshot);
        while inner.commits.first_key_value().is_some_and(|(lsn, _)| *lsn <= seen) {
            inner.commits.pop_first();
        }
    }

    /// Says whose commit this is. Returns whose snapshots have to be given up, because there are too many beside them.
    pub fn committed(&self, lsn: Lsn, at: Timestamp) -> Vec<OwnerId> {
        let inner = &mut *lock(&self.inner);
        inner.commits.insert(lsn, at);
        inner.floor = inner.floor.max(at);
        let too_many = inner.commits.len() > COMMITS;
        let Some((gone, _)) = too_many.then(|| inner.commits.pop_first()).flatten() else {
            return Vec::new();
        };
        let blind = inner.snapshots.iter().take_while(|(snapshot, _)| *snapshot < gone);
        blind.filter_map(|(_, at)| Some(inner.running.get(at)?.1)).collect()
    }

    /// Whether the commit is that of a transaction older than `at`.
    pub fn is_before(&self, lsn: Lsn, at: Timestamp) -> bool {
        lock(&self.inner).commits.get(&lsn).is_some_and(|of| *of < at)
    }

    /// No transaction that runs, or will, is older than this.
    pub fn oldest(&self) -> Timestamp {
        // Relaxed: it only grows, and an old answer keeps more than is needed.
        Timestamp(self.oldest.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(last: Timestamp) -> Timestamp {
        Timestamp(last.0 + 1)
    }

    #[test]
    fn commits_are_known_while_somebody_does_not_see_them() {
        let order = Order::default();
        let mut last = Timestamp(0);
        let mut begin = |snapshot| {
            last = next(last);
            order.begin(OwnerId(0), |_| last, || Some(Lsn(snapshot))).unwrap().0
        };
        let (one, two) = (begin(5), begin(5));
        order.committed(Lsn(7), one);
        order.end(one);
        assert!(order.is_before(Lsn(7), two) && !order.is_before(Lsn(8), two));
        let three = begin(7);
        order.end(two);
        assert!(!order.is_before(Lsn(7), three), "its snapshot shows it");
        assert_eq!(order.oldest(), three);
        assert!(order.begin(OwnerId(0), next, || None).is_none());
    }

    /// Where numbers do not come in their order: whoever has committed or ended is older all the same, and who runs and does
    /// not see a commit need not be the oldest.
    #[test]
    fn who_begins_later_may_be_older_than_who_runs_and_not_than_who_has_ended() {
        let order = Order::default();
        let begin = |at, snapshot| {
            let above = |floor| Timestamp(at).max(next(floor));
            order.begin(OwnerId(0), above, || Some(Lsn(snapshot))).unwrap().0
        };
        let (old, young) = (begin(10, 5), begin(20, 5));
        let between = begin(4, 6);
        assert_eq!(between, Timestamp(4));
        order.committed(Lsn(7), young);
        assert_eq!(begin(5, 7), Timestamp(21), "its snapshot shows what 20 has committed");
        order.end(young);
        assert!(order.is_before(Lsn(7), Timestamp(21)) && !order.is_before(Lsn(7), old));
        order.end(between);
        assert_eq!(order.oldest(), old);
        order.end(old);
        assert!(lock(&order.inner).commits.is_empty() && order.oldest() == Timestamp(21));
    }

    /// Too many commits beside one that runs: it is the one who fails.
    #[test]
    fn what_is_kept_is_bounded() {
        let order = Order::default();
        let (old, _) = order.begin(OwnerId(3), next, || Some(Lsn(1))).unwrap();
        for number in 0..2 * COMMITS as u64 {
            let above = |floor: Timestamp| Timestamp(floor.0.max(old.0) + 1);
            let (at, _) = order.begin(OwnerId(1), above, || Some(Lsn(9 + number))).unwrap();
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
