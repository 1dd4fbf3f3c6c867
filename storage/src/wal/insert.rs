//! The insert algorithms: how a record gets its place in the log.
//!
//! Papers: Johnson et al., *Aether*, VLDB 2010, §5 (baseline, decoupled fill, consolidation, the hybrid of both) and
//! Levandoski et al., *High Performance Transactions in Deuteronomy*, CIDR 2015, §3.2 (one atomic add). They differ only
//! in how the tail is moved:
//!
//! | algorithm      | critical section              | what meets in it                      |
//! | -------------- | ----------------------------- | ------------------------------------- |
//! | `mutex`        | claim, validation and copy    | whole inserts                         |
//! | `decoupled`    | one addition                  | claims                                |
//! | `consolidated` | one addition for a group      | leaders of groups that met            |
//! | `atomic_add`   | none                          | one cache line                        |
//!
//! All publish by sealing the record in the [ring](super::ring), in any order.
//!
//! The tail is read by who needs a lower bound of every later claim. It is moved by sequentially consistent
//! operations, because the flusher announces its sleep and then reads the tail, and an inserter moves the tail and then
//! looks for a sleeping flusher: one of the two must see the other.

use super::LogInsert;
use super::consolidation::ConsolidationArray;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::sync::{Mutex, MutexGuard, lock, rank, try_lock};
use crossbeam_utils::CachePadded;

/// How often each algorithm went which way. Only the counters of the algorithm in use move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsertCounters {
    /// `mutex`: records inserted.
    pub mutex_inserts: u64,
    /// `mutex`: inserts that found another one in progress.
    pub mutex_waits: u64,
    /// `decoupled`: places claimed.
    pub decoupled_claims: u64,
    /// `decoupled`: claims that met another claim.
    pub decoupled_waits: u64,
    /// `consolidated`: claims that met nobody and went straight to the tail.
    pub consolidated_alone: u64,
    /// `consolidated`: groups claimed by a leader.
    pub consolidated_groups: u64,
    /// `consolidated`: claims made for others by their leader.
    pub consolidated_joins: u64,
    /// `atomic_add`: places claimed by one atomic add.
    pub atomic_adds: u64,
}

/// The log's tail and the way to move it.
#[derive(Debug)]
pub(crate) struct Inserter {
    algorithm: LogInsert,
    tail: CachePadded<AtomicU64>,
    /// Held to move the tail, except by `atomic_add`.
    critical: CachePadded<Mutex<Tallies, { rank::INSERT }>>,
    array: ConsolidationArray,
    waits: AtomicU64,
    joins: AtomicU64,
    /// `atomic_add` counts per worker, where nothing is shared.
    adds: Box<[CachePadded<AtomicU64>]>,
}

#[derive(Debug, Default)]
struct Tallies {
    alone: u64,
    groups: u64,
}

/// A range of the log that belongs to one record, and under `mutex` the log itself until it is published.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) start: u64,
    _critical: Option<MutexGuard<'a, Tallies, { rank::INSERT }>>,
}

impl Inserter {
    /// Claims from `tail` on, for workers numbered below `workers`.
    pub(crate) fn new(algorithm: LogInsert, tail: u64, workers: usize) -> Inserter {
        Inserter {
            algorithm,
            tail: CachePadded::new(AtomicU64::new(tail)),
            critical: CachePadded::new(Mutex::new(Tallies::default())),
            array: ConsolidationArray::new(),
            waits: AtomicU64::new(0),
            joins: AtomicU64::new(0),
            adds: (0..workers).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
        }
    }

    /// The end of the last claim.
    pub(crate) fn tail(&self) -> u64 {
        // See the header for why it is sequentially consistent; on x86 it is a plain load.
        self.tail.load(Ordering::SeqCst)
    }

    /// Claims `bytes` for a record of `worker`.
    #[inline]
    pub(crate) fn claim(&self, worker: usize, bytes: u64) -> Place<'_> {
        match self.algorithm {
            LogInsert::AtomicAdd => {
                let count = &self.adds[worker];
                // Two workers on one slot may lose a count; the claim itself is the add below.
                count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                Place { start: self.tail.fetch_add(bytes, Ordering::SeqCst), _critical: None }
            }
            LogInsert::Mutex => {
                let mut critical = self.enter();
                critical.alone += 1;
                let start = self.advance(bytes);
                Place { start, _critical: Some(critical) }
            }
            LogInsert::Decoupled => {
                let mut critical = self.enter();
                critical.alone += 1;
                Place { start: self.advance(bytes), _critical: None }
            }
            LogInsert::Consolidated => {
                Place { start: self.consolidate(worker, bytes), _critical: None }
            }
        }
    }

    fn enter(&self) -> MutexGuard<'_, Tallies, { rank::INSERT }> {
        try_lock(&self.critical).unwrap_or_else(|| {
            self.waits.fetch_add(1, Ordering::Relaxed);
            lock(&self.critical)
        })
    }

    /// Moves the tail, in the critical section.
    fn advance(&self, bytes: u64) -> u64 {
        let start = self.tail.load(Ordering::Relaxed);
        self.tail.store(start + bytes, Ordering::SeqCst);
        start
    }

    /// Straight to the tail if nobody is there, else as a member of a group (Aether's hybrid).
    fn consolidate(&self, worker: usize, bytes: u64) -> u64 {
        if let Some(mut critical) = try_lock(&self.critical) {
            critical.alone += 1;
            return self.advance(bytes);
        }
        let Some(joined) = self.array.join(worker, bytes) else {
            let mut critical = lock(&self.critical);
            critical.alone += 1;
            return self.advance(bytes);
        };
        if !joined.leads() {
            self.joins.fetch_add(1, Ordering::Relaxed);
            return joined.follow();
        }
        // Others join while the leader waits for its turn: the more who meet, the larger the group.
        let mut critical = lock(&self.critical);
        critical.groups += 1;
        let group = joined.close();
        let base = self.advance(group.total());
        drop(critical);
        group.expose(base);
        base
    }

    /// What has been counted so far.
    pub(crate) fn counters(&self) -> InsertCounters {
        let (alone, groups) = {
            let critical = lock(&self.critical);
            (critical.alone, critical.groups)
        };
        let waits = self.waits.load(Ordering::Relaxed);
        let mut counters = InsertCounters::default();
        match self.algorithm {
            LogInsert::Mutex => {
                counters.mutex_inserts = alone;
                counters.mutex_waits = waits;
            }
            LogInsert::Decoupled => {
                counters.decoupled_claims = alone;
                counters.decoupled_waits = waits;
            }
            LogInsert::Consolidated => {
                counters.consolidated_alone = alone;
                counters.consolidated_groups = groups;
                counters.consolidated_joins = self.joins.load(Ordering::Relaxed);
            }
            LogInsert::AtomicAdd => {
                let adds = self.adds.iter().map(|count| count.load(Ordering::Relaxed));
                counters.atomic_adds = adds.sum();
            }
        }
        counters
    }
}

#[cfg(not(loom))]
#[cfg(test)]
mod tests {
    use super::Inserter;
    use crate::wal::LogInsert;
    use std::sync::Barrier;

    /// Eight threads claim; every byte belongs to exactly one claim, and each algorithm counts its own way.
    #[test]
    fn eight_threads_claim_disjoint_ranges_and_each_algorithm_has_its_own_counters() {
        let (threads, each) = (8, 4000);
        let mut seen = Vec::new();
        for algorithm in
            [LogInsert::Mutex, LogInsert::Decoupled, LogInsert::Consolidated, LogInsert::AtomicAdd]
        {
            let inserter = Inserter::new(algorithm, 64, threads);
            let barrier = Barrier::new(threads);
            let mut ranges: Vec<(u64, u64)> = std::thread::scope(|scope| {
                let run = |worker: usize| {
                    let (inserter, barrier) = (&inserter, &barrier);
                    scope.spawn(move || {
                        barrier.wait();
                        let claims = (0..each).map(|index| {
                            let bytes = 16 + (index % 5) * 8;
                            let place = inserter.claim(worker, bytes);
                            let range = (place.start, place.start + bytes);
                            drop(place);
                            range
                        });
                        claims.collect::<Vec<_>>()
                    })
                };
                let workers: Vec<_> = (0..threads).map(run).collect();
                workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
            });
            ranges.sort_unstable();
            assert_eq!(ranges[0].0, 64);
            assert!(ranges.windows(2).all(|pair| pair[0].1 == pair[1].0), "{algorithm:?}");
            assert_eq!(ranges.last().unwrap().1, inserter.tail());
            let counters = inserter.counters();
            let total = threads as u64 * each;
            match algorithm {
                LogInsert::Mutex => assert_eq!(counters.mutex_inserts, total),
                LogInsert::Decoupled => assert_eq!(counters.decoupled_claims, total),
                LogInsert::Consolidated => assert_eq!(
                    counters.consolidated_alone
                        + counters.consolidated_groups
                        + counters.consolidated_joins,
                    total
                ),
                LogInsert::AtomicAdd => assert_eq!(counters.atomic_adds, total),
            }
            assert!(!seen.contains(&counters), "no two algorithms count alike");
            seen.push(counters);
        }
    }
}
