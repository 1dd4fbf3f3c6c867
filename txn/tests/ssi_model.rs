//! Serializable snapshot isolation under loom: two transactions that each read what the other writes, in every interleaving of
//! their snapshots, reads, writes, checks, claims and ends. Both must never commit. The graph and the keys that have been read are
//! the files of the crate; what has been written of two records stands beside the graph under the same latch, and the watermark
//! outside of it.
//!
//! Each step out of its order is a weakened form that must fail.

#[allow(dead_code, unused_imports, reason = "each model uses a part of it")]
mod loom_sync;

mod sync {
    //! Loom in place of the standard library.
    pub use crate::loom_sync::*;
    pub use loom::sync::atomic;
}

#[path = "../src/scheme/ssi/graph.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod graph;
#[path = "../src/record/hash.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod hash;
mod record {
    //! What spreads keys over shards.
    pub(crate) use crate::hash;
}
#[path = "../src/id.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod id;
#[path = "../src/scheme/ssi/points.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod points;

use graph::{Begun, Graph, Reason, Writer, XactId};
pub use id::TxnId;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use points::{Noted, Points};
use std::sync::Arc;
pub use storage::{Lsn, TreeId};

/// Where both records are.
const TREE: TreeId = TreeId(1);

/// What a weakened transaction does in another order, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    AsItIs,
    EndsBeforeVisible,
    SnapshotBeforeLatch,
    LooksBeforeItMarks,
    MarksPointLate,
    ReadsUnlocked,
    NoCheck,
}

struct Model {
    /// Who has written which record.
    latched: Mutex<(Graph, [Vec<XactId>; 2])>,
    points: Points,
    tail: AtomicU64,
    visible: AtomicU64,
}

impl Model {
    fn visible(&self) -> Lsn {
        Lsn(self.visible.load(Ordering::SeqCst))
    }

    /// Reads one record and writes the other. `Some`: whether it has seen the other's write, and committed.
    fn run(&self, writes: usize, order: Order) -> Option<bool> {
        let status = Arc::default();
        let early = self.visible();
        let (id, snapshot) = {
            let mut latched = self.latched.lock().expect("no panic");
            let snapshot = if order == Order::SnapshotBeforeLatch { early } else { self.visible() };
            let who = (TxnId(writes as u64), 1);
            match latched.0.begin(who, (snapshot, None), false, &status) {
                Begun::Tracked(id) => (id, snapshot),
                Begun::Safe => unreachable!("it writes"),
            }
        };
        let ended = self.act(id, writes, order);
        let mut latched = self.latched.lock().expect("no panic");
        let committed = ended.is_ok();
        if order != Order::EndsBeforeVisible || !committed {
            latched.0.end(id, committed);
        }
        while latched.0.release(9).is_some() {}
        committed.then_some(snapshot >= Lsn(2))
    }

    fn act(&self, id: XactId, writes: usize, order: Order) -> Result<(), Reason> {
        let key = |record: usize| [record as u8];
        let reads = 1 - writes;
        let is_marked = order == Order::ReadsUnlocked
            || matches!(self.points.read(TREE, &key(reads), id), Noted::Now { marked: true, .. });
        if is_marked {
            let mut latched = self.latched.lock().expect("no panic");
            let (graph, written) = &mut *latched;
            for writer in written[reads].clone() {
                graph.reads_past(id, Writer::Live(writer))?;
            }
        }
        {
            let mut latched = self.latched.lock().expect("no panic");
            latched.0.wrote(id);
            let mut readers = Vec::new();
            let marked = key(writes).as_slice().into();
            match order {
                Order::LooksBeforeItMarks => self.points.readers(TREE, &key(writes), &mut readers),
                Order::MarksPointLate => {
                    latched.1[writes].push(id);
                    self.points.readers(TREE, &key(writes), &mut readers);
                }
                _ => {
                    latched.1[writes].push(id);
                    self.points.mark(TREE, &marked, &mut readers);
                }
            }
            for reader in readers {
                latched.0.overwrites(id, (reader.xact, reader.seq), Lsn::ZERO)?;
            }
            if order == Order::LooksBeforeItMarks {
                drop(latched);
                latched = self.latched.lock().expect("no panic");
                latched.1[writes].push(id);
            }
            self.points.mark(TREE, &marked, &mut Vec::new());
        }
        if order != Order::NoCheck {
            self.latched.lock().expect("no panic").0.check(id)?;
        }
        let lsn = Lsn(self.tail.fetch_add(1, Ordering::SeqCst));
        self.latched.lock().expect("no panic").0.claimed(id, lsn);
        if order == Order::EndsBeforeVisible {
            self.latched.lock().expect("no panic").0.end(id, true);
        }
        self.visible.fetch_max(lsn.0, Ordering::SeqCst);
        Ok(())
    }
}

fn model(order: Order) {
    let mut builder = loom::model::Builder::new();
    // As in the models of the log: two preemptions reach every bug of a kind known from practice.
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let model = Arc::new(Model {
            latched: Mutex::new((Graph::new(), Default::default())),
            points: Points::with_shards(1, 1),
            tail: AtomicU64::new(2),
            visible: AtomicU64::new(1),
        });
        let other = {
            let model = Arc::clone(&model);
            thread::spawn(move || model.run(0, order))
        };
        let ends = [model.run(1, order), other.join().expect("no panic")];
        // One after the other both may commit: then the second has seen the first.
        assert_ne!(ends, [Some(false); 2], "neither has seen the other, and both have committed");
        assert_ne!(ends, [None; 2], "each is refused for the other");
    });
}

#[test]
fn of_two_that_read_what_the_other_writes_one_commits() {
    model(Order::AsItIs);
}

macro_rules! weakened {
    ($($name:ident: $order:ident;)*) => {$(
        #[test]
        #[should_panic(expected = "both have committed")]
        fn $name() {
            model(Order::$order);
        }
    )*};
}

weakened! {
    an_end_that_is_numbered_before_it_is_visible_is_missed: EndsBeforeVisible;
    a_snapshot_from_before_the_latch_is_older_than_its_number: SnapshotBeforeLatch;
    a_write_that_is_marked_after_the_look_is_missed: LooksBeforeItMarks;
    a_key_that_is_marked_after_the_look_is_missed: MarksPointLate;
    a_read_without_a_lock_is_missed: ReadsUnlocked;
    a_commit_without_a_check_dooms_nobody: NoCheck;
}
