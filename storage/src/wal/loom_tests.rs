//! Every interleaving, by loom: the consolidation array's transitions, and each insert algorithm against the flusher.
//!
//! Run with `RUSTFLAGS="--cfg loom" cargo test -p storage --release --lib loom_tests`. With `--cfg weakened` as well, what
//! publishes is relaxed (see `sync.rs`), and every test here must panic: that is what shows that it can.

use super::LogInsert;
use super::alarm::Alarm;
use super::consolidation::ConsolidationArray;
use super::frame;
use super::insert::Inserter;
use super::ring::Ring;
use crate::sync::PUBLISH;
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

fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    // Two preemptions reach every bug of a kind known from practice (Musuvathi and Qadeer, PLDI 2007); all interleavings
    // of three threads do not end.
    builder.preemption_bound = Some(2);
    builder.check(model);
}

#[test]
#[cfg_attr(weakened, should_panic)]
fn a_group_gets_disjoint_ranges_and_its_slot_opens_again() {
    check(|| {
        let array = Arc::new(ConsolidationArray::new());
        let tail = Arc::new(AtomicU64::new(64));
        let others: Vec<_> = [8, 16]
            .into_iter()
            .map(|bytes| {
                let (array, tail) = (Arc::clone(&array), Arc::clone(&tail));
                thread::spawn(move || (claim(&array, &tail, bytes), bytes))
            })
            .collect();
        let mut got: Vec<_> = others
            .into_iter()
            .map(|other| other.join().expect("no panic"))
            .filter_map(|(start, bytes)| start.map(|at| (at, at + bytes)))
            .collect();
        got.sort_unstable();
        assert_eq!(got.first().map(|range| range.0), Some(64), "somebody found the slot open");
        assert!(got.windows(2).all(|pair| pair[0].1 == pair[1].0), "{got:?}");
        assert_eq!(got.last().map(|range| range.1), Some(tail.load(Ordering::Relaxed)));
        let again = array.join(0, 8).expect("all have left");
        assert!(again.leads());
        again.close().expose(0);
    });
}

/// One record of a header word and a payload word.
fn insert(inserter: &Inserter, ring: &Ring, worker: usize, value: u64) -> (u64, u64) {
    let place = inserter.claim(worker, 16);
    let at = place.start;
    ring.fill_word(at + 8, value);
    ring.seal(at, 16);
    (at, value)
}

/// Takes the contiguous prefix from `at` on, as the flusher does.
fn prefix(ring: &Ring, mut at: u64, read: &mut Vec<(u64, u64)>) -> u64 {
    while let Some(span) = frame::sealed_span(ring.sealed(at)) {
        read.push((at, ring.read_word(at + 8)));
        ring.clear(at, at + span);
        at += span;
    }
    at
}

/// Two inserters beside a flusher that looks twice: what it takes is whole, in order, and all there is in the end.
fn inserts_reach_the_flusher(algorithm: LogInsert) {
    check(move || {
        let inserter = Arc::new(Inserter::new(algorithm, 0, 2));
        let ring = Arc::new(Ring::new(64));
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let (inserter, ring) = (Arc::clone(&inserter), Arc::clone(&ring));
                thread::spawn(move || insert(&inserter, &ring, worker, 10 + worker as u64))
            })
            .collect();
        let mut read = Vec::new();
        let mut at = 0;
        for _ in 0..2 {
            at = prefix(&ring, at, &mut read);
        }
        let mut written: Vec<_> =
            workers.into_iter().map(|worker| worker.join().expect("no panic")).collect();
        at = prefix(&ring, at, &mut read);
        written.sort_unstable();
        assert_eq!((written, at), (read, inserter.tail()));
    });
}

/// A record of the second lap is filled only once the flusher has cleared the first lap's: the Release of the room and
/// the Acquire of who asks for it are all that stands between the two.
#[test]
#[cfg_attr(weakened, should_panic)]
fn room_is_given_away_after_it_is_cleared() {
    check(|| {
        let ring = Arc::new(Ring::new(16));
        let room = Arc::new(AtomicU64::new(16));
        ring.fill_word(8, 7);
        ring.seal(0, 16);
        let flusher = {
            let (ring, room) = (Arc::clone(&ring), Arc::clone(&room));
            thread::spawn(move || {
                let mut read = Vec::new();
                let at = prefix(&ring, 0, &mut read);
                room.store(at + 16, PUBLISH);
                read
            })
        };
        let fits = room.load(Ordering::Acquire) >= 32;
        if fits {
            ring.fill_word(24, 8);
            ring.seal(16, 16);
        }
        assert_eq!(flusher.join().expect("no panic"), [(0, 7)]);
        let mut read = Vec::new();
        prefix(&ring, 16, &mut read);
        assert_eq!(read, if fits { vec![(16, 8)] } else { vec![] });
    });
}

#[test]
#[cfg_attr(weakened, should_panic)]
fn mutex_inserts_reach_the_flusher() {
    inserts_reach_the_flusher(LogInsert::Mutex);
}

#[test]
#[cfg_attr(weakened, should_panic)]
fn decoupled_inserts_reach_the_flusher() {
    inserts_reach_the_flusher(LogInsert::Decoupled);
}

#[test]
#[cfg_attr(weakened, should_panic)]
fn consolidated_inserts_reach_the_flusher() {
    inserts_reach_the_flusher(LogInsert::Consolidated);
}

#[test]
#[cfg_attr(weakened, should_panic)]
fn atomic_add_inserts_reach_the_flusher() {
    inserts_reach_the_flusher(LogInsert::AtomicAdd);
}

/// A flusher that goes to sleep while somebody inserts and somebody asks: either it sees them in its last look, or it
/// is woken. Sleeping through both would leave a commit unanswered.
#[test]
#[cfg_attr(weakened, should_panic)]
fn a_flusher_does_not_sleep_through_an_insert_or_a_request() {
    check(|| {
        let (alarm, inserter) =
            (Arc::new(Alarm::new()), Arc::new(Inserter::new(LogInsert::AtomicAdd, 8, 2)));
        let requested = Arc::new(AtomicU64::new(0));
        let insert = {
            let (alarm, inserter) = (Arc::clone(&alarm), Arc::clone(&inserter));
            thread::spawn(move || {
                let end = inserter.claim(0, 16).start + 16;
                alarm.ring(end)
            })
        };
        let ask = {
            let (alarm, requested) = (Arc::clone(&alarm), Arc::clone(&requested));
            thread::spawn(move || {
                requested.fetch_max(9, Ordering::SeqCst);
                alarm.rouse()
            })
        };
        alarm.set(0);
        let saw_insert = inserter.tail() > 8;
        let saw_request = requested.load(Ordering::SeqCst) > 8;
        let woken = [insert.join(), ask.join()].map(|woke| woke.expect("no panic"));
        assert!(woken != [true, true], "one wakes it, not both");
        // Whoever finds it awake was not the first: the other has woken it, and it will look again.
        assert!(saw_insert || woken.contains(&true), "slept through the insert");
        assert!(saw_request || woken.contains(&true), "slept through the request");
    });
}

/// The checkpoint point: tail first, then the slot of the layer above, then the page. Whatever a commit has reached, the
/// minimum of the three is not behind its record, so redo begins early enough.
#[test]
#[cfg_attr(weakened, should_panic)]
fn a_redo_point_is_not_behind_a_record_that_is_on_no_clean_page() {
    check(|| {
        let inserter = Arc::new(Inserter::new(LogInsert::AtomicAdd, 8, 1));
        let (slot, page) = (Arc::new(AtomicU64::new(u64::MAX)), Arc::new(AtomicU64::new(u64::MAX)));
        let commit = {
            let (inserter, slot, page) =
                (Arc::clone(&inserter), Arc::clone(&slot), Arc::clone(&page));
            thread::spawn(move || {
                slot.store(inserter.tail(), Ordering::SeqCst);
                let lsn = inserter.claim(0, 16).start;
                page.store(lsn, Ordering::Relaxed);
                slot.store(u64::MAX, PUBLISH);
                lsn
            })
        };
        // Weakened, the slot is read before the tail.
        let early = cfg!(weakened).then(|| slot.load(Ordering::Acquire));
        let tail = inserter.tail();
        let floor = early.unwrap_or_else(|| slot.load(Ordering::Acquire));
        let dirty = page.load(Ordering::Relaxed);
        let redo = tail.min(floor).min(dirty);
        assert!(redo <= commit.join().expect("no panic"));
    });
}
