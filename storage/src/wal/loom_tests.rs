//! Every interleaving, by loom: the consolidation array's transitions, and each insert algorithm against the flusher.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p storage --release --lib wal::loom_tests`.

use super::LogInsert;
use super::consolidation::ConsolidationArray;
use super::frame;
use super::insert::Inserter;
use super::ring::Ring;
use crate::sync::atomic::{AtomicU64, Ordering};
use loom::sync::Arc;
use loom::thread;

/// Moves `tail` for whoever leads, and returns where the caller's own range begins.
fn claim(array: &ConsolidationArray, tail: &AtomicU64, bytes: u64) -> Option<u64> {
    let joined = array.join(0, bytes)?;
    if !joined.leads() {
        return Some(joined.follow());
    }
    let group = joined.close();
    let base = tail.fetch_add(group.total(), Ordering::Relaxed);
    group.expose(base);
    Some(base)
}

#[test]
fn a_group_gets_disjoint_ranges_and_its_slot_opens_again() {
    loom::model(|| {
        let array = Arc::new(ConsolidationArray::new());
        let tail = Arc::new(AtomicU64::new(0));
        let others: Vec<_> = [8, 16]
            .into_iter()
            .map(|bytes| {
                let (array, tail) = (Arc::clone(&array), Arc::clone(&tail));
                thread::spawn(move || (claim(&array, &tail, bytes), bytes))
            })
            .collect();
        let mut ranges: Vec<_> = vec![(claim(&array, &tail, 24), 24)];
        ranges.extend(others.into_iter().map(|other| other.join().expect("no panic")));
        let mut got: Vec<_> =
            ranges.iter().filter_map(|(start, bytes)| start.map(|at| (at, at + bytes))).collect();
        got.sort_unstable();
        assert_eq!(got.first().map(|range| range.0), Some(0), "somebody found the slot open");
        assert!(got.windows(2).all(|pair| pair[0].1 == pair[1].0), "{got:?}");
        assert_eq!(got.last().map(|range| range.1), Some(tail.load(Ordering::Relaxed)));
        let again = array.join(0, 8).expect("all have left");
        assert!(again.leads());
        again.close().expose(0);
    });
}

/// One inserter's way through claim, wait for room, fill and seal. A record is a header word and a payload word.
fn insert(inserter: &Inserter, ring: &Ring, room: &AtomicU64, worker: usize, value: u64) -> u64 {
    let place = inserter.claim(worker, 16);
    let at = place.start;
    while room.load(Ordering::Acquire) < at + 16 {
        thread::yield_now();
    }
    ring.fill(at + 8, &value.to_le_bytes());
    ring.seal(at, 16);
    at
}

/// Two inserters and a flusher that gives room away lap by lap, on a ring of two records.
fn inserts_reach_the_flusher(algorithm: LogInsert) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let inserter = Arc::new(Inserter::new(algorithm, 0, 2));
        let ring = Arc::new(Ring::new(32));
        let room = Arc::new(AtomicU64::new(32));
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let (inserter, ring, room) =
                    (Arc::clone(&inserter), Arc::clone(&ring), Arc::clone(&room));
                thread::spawn(move || {
                    let records = if worker == 0 { 2 } else { 1 };
                    (0..records)
                        .map(|index| {
                            let value = 1 + worker as u64 * 10 + index;
                            (insert(&inserter, &ring, &room, worker, value), value)
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let mut read = Vec::new();
        let mut at = 0;
        while at < 48 {
            match frame::sealed_span(ring.sealed(at)) {
                None => thread::yield_now(),
                Some(span) => {
                    read.push((at, ring.read_word(at + 8)));
                    ring.clear(at, at + span);
                    at += span;
                    room.store(at + ring.bytes(), Ordering::Release);
                }
            }
        }
        let mut written: Vec<_> =
            workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect();
        written.sort_unstable();
        assert_eq!(written, read);
        assert_eq!(inserter.tail(), 48);
    });
}

#[test]
fn mutex_inserts_reach_the_flusher() {
    inserts_reach_the_flusher(LogInsert::Mutex);
}

#[test]
fn decoupled_inserts_reach_the_flusher() {
    inserts_reach_the_flusher(LogInsert::Decoupled);
}

#[test]
fn consolidated_inserts_reach_the_flusher() {
    inserts_reach_the_flusher(LogInsert::Consolidated);
}

#[test]
fn atomic_add_inserts_reach_the_flusher() {
    inserts_reach_the_flusher(LogInsert::AtomicAdd);
}
