//! Version chains: the older images of one record, newest first.
//!
//! A commit pushes the image it is about to replace, *then* changes the page. So who finds a page's record newer than
//! its snapshot finds here what stood there before; if nothing here is old enough, nothing stood there.
//!
//! Writers (push and prune) hold the node's mutex; readers walk under an epoch guard and take no latch. A version
//! that is taken out stays walkable until every reader that may stand on it has moved on, and so does all behind it,
//! because that is taken out no earlier.

use crate::Lsn;
use crossbeam_epoch::{Atomic, Guard, Owned};
use std::sync::atomic::Ordering;

/// One older image.
#[derive(Debug)]
pub struct Version {
    lsn: Lsn,
    value: Option<Box<[u8]>>,
    older: Atomic<Version>,
}

/// The versions of one record.
#[derive(Debug, Default)]
pub struct Chain {
    newest: Atomic<Version>,
}

impl Version {
    /// The commit that wrote it.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// Its value; none for a tombstone.
    #[must_use]
    pub fn value(&self) -> Option<&[u8]> {
        self.value.as_deref()
    }

    fn bytes(&self) -> usize {
        size_of::<Version>() + self.value.as_ref().map_or(0, |value| value.len())
    }
}

impl Chain {
    /// Whether it has no version.
    #[must_use]
    pub fn is_empty(&self, guard: &Guard) -> bool {
        self.newest.load(Ordering::Acquire, guard).is_null()
    }

    /// Puts the image that is about to be replaced in front; returns what it occupies, in bytes. The node's mutex is
    /// held.
    pub fn push(&self, lsn: Lsn, value: Option<&[u8]>, guard: &Guard) -> usize {
        let older = Atomic::from(self.newest.load(Ordering::Relaxed, guard));
        let version = Version { lsn, value: value.map(Box::from), older };
        let bytes = version.bytes();
        // Release: pairs with Acquire in `walk`.
        self.newest.store(Owned::new(version), Ordering::Release);
        bytes
    }

    /// The newest version at or below `snapshot`.
    pub fn at<'g>(&self, snapshot: Lsn, guard: &'g Guard) -> Option<&'g Version> {
        self.walk(guard).find(|version| version.lsn <= snapshot)
    }

    /// All versions, newest first.
    pub fn walk<'g>(&self, guard: &'g Guard) -> impl Iterator<Item = &'g Version> {
        let newest = self.newest.load(Ordering::Acquire, guard);
        // SAFETY: what a reader reaches under its guard is not freed before the guard goes.
        let newest = unsafe { newest.as_ref() };
        std::iter::successors(newest, |version| {
            let older = version.older.load(Ordering::Acquire, guard);
            // SAFETY: as above.
            unsafe { older.as_ref() }
        })
    }

    /// Takes out every version that nobody at or above `horizon` can ask for, where `current` is the LSN of the record
    /// on the page; returns how many and what they occupied, in bytes. The node's mutex is held.
    pub fn prune(&self, current: Lsn, horizon: Lsn, guard: &Guard) -> (usize, usize) {
        if current <= horizon {
            return cut(&self.newest, guard);
        }
        match self.walk(guard).find(|version| version.lsn <= horizon) {
            Some(needed) => cut(&needed.older, guard),
            None => (0, 0),
        }
    }

    /// Every version that has been replaced at or below `visible`, newest first, with the commit that did, where
    /// `current` is the LSN of the record on the page. The node's mutex is held.
    pub fn replaced<'g>(
        &self,
        current: Lsn,
        visible: Lsn,
        guard: &'g Guard,
    ) -> impl Iterator<Item = (&'g Version, Lsn)> {
        let mut newer = current;
        let all = self.walk(guard).map(move |version| {
            let replaced = std::mem::replace(&mut newer, version.lsn);
            (version, replaced)
        });
        all.skip_while(move |(_, replaced)| *replaced > visible)
    }

    /// Takes out the version written at `newest` and every older one; returns how many and what they occupied, in
    /// bytes. The node's mutex is held.
    pub fn cut_from(&self, newest: Lsn, guard: &Guard) -> (usize, usize) {
        match self.walk(guard).take_while(|version| version.lsn > newest).last() {
            Some(kept) => cut(&kept.older, guard),
            None => cut(&self.newest, guard),
        }
    }

    /// Takes out every version between two snapshots that follow each other, where `visible` is the oldest snapshot that
    /// may still begin. The node's mutex is held.
    pub fn prune_between(
        &self,
        current: Lsn,
        snapshots: &[Lsn],
        visible: Lsn,
        guard: &Guard,
    ) -> (usize, usize) {
        let (mut count, mut bytes) = (0, 0);
        let mut newer = current;
        let mut place = &self.newest;
        loop {
            let at = place.load(Ordering::Acquire, guard);
            // SAFETY: what is reached under the guard is not freed before the guard goes.
            let Some(version) = (unsafe { at.as_ref() }) else { return (count, bytes) };
            // Needed by snapshots in lsn..newer, and by those still to begin if newer is above the watermark.
            let first = snapshots.partition_point(|snapshot| *snapshot < version.lsn);
            let needed = newer > visible || snapshots.get(first).is_some_and(|at| *at < newer);
            newer = version.lsn;
            if needed {
                place = &version.older;
            } else {
                let older = version.older.load(Ordering::Acquire, guard);
                place.store(older, Ordering::Release);
                count += 1;
                bytes += version.bytes();
                // SAFETY: the mutex is held, so nobody else takes it out, and no new reader reaches it.
                unsafe { guard.defer_destroy(at) };
            }
        }
    }
}

/// Cuts a chain off behind `place`.
fn cut(place: &Atomic<Version>, guard: &Guard) -> (usize, usize) {
    let (mut count, mut bytes) = (0, 0);
    let mut at = place.load(Ordering::Relaxed, guard);
    if at.is_null() {
        return (0, 0);
    }
    place.store(crossbeam_epoch::Shared::null(), Ordering::Release);
    loop {
        // SAFETY: it was reached under the guard, and freed by nobody: the caller holds the node's mutex.
        let Some(version) = (unsafe { at.as_ref() }) else { return (count, bytes) };
        count += 1;
        bytes += version.bytes();
        let older = version.older.load(Ordering::Relaxed, guard);
        // SAFETY: no new reader reaches it, and only we have taken it out.
        unsafe { guard.defer_destroy(at) };
        at = older;
    }
}

impl Drop for Chain {
    fn drop(&mut self) {
        // SAFETY: nobody else has the chain any more.
        let guard = unsafe { crossbeam_epoch::unprotected() };
        let mut at = self.newest.swap(crossbeam_epoch::Shared::null(), Ordering::Relaxed, guard);
        while !at.is_null() {
            // SAFETY: it is owned by this chain alone.
            let version = unsafe { at.into_owned() };
            at = version.older.load(Ordering::Relaxed, guard);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever is pruned, every snapshot that exists or can begin reads what it read before.
        #[test]
        fn pruning_is_invisible(
            lsns in proptest::collection::btree_set(1..200u64, 1..40),
            snapshots in proptest::collection::btree_set(1..200u64, 0..6),
            visible in 1..220u64,
            between: bool,
        ) {
            let guard = crossbeam_epoch::pin();
            let lsns: Vec<_> = lsns.into_iter().map(Lsn).collect();
            let (current, older) = lsns.split_last().unwrap();
            let snapshots: Vec<_> = snapshots.into_iter().map(Lsn).filter(|s| s.0 <= visible).collect();
            let visible = Lsn(visible);
            let chain = Chain::default();
            for lsn in older {
                chain.push(*lsn, Some(&lsn.0.to_be_bytes()), &guard);
            }
            let (count, bytes) = if between {
                chain.prune_between(*current, &snapshots, visible, &guard)
            } else {
                let horizon = snapshots.iter().copied().fold(visible, Lsn::min);
                chain.prune(*current, horizon, &guard)
            };
            prop_assert_eq!(chain.walk(&guard).count() + count, older.len());
            prop_assert_eq!(bytes, count * (size_of::<Version>() + 8));
            let askers = snapshots.iter().copied().chain((visible.0..221).map(Lsn));
            for snapshot in askers.filter(|snapshot| snapshot < current) {
                let expected = older.iter().rev().find(|lsn| **lsn <= snapshot);
                let found = chain.at(snapshot, &guard).map(|version| version.lsn);
                prop_assert_eq!(found, expected.copied(), "{:?}", snapshot);
            }
            if between {
                let needed = chain.walk(&guard).count();
                prop_assert!(needed <= snapshots.len() + older.iter().filter(|lsn| **lsn > visible).count() + 1);
            }
        }
    }
}
