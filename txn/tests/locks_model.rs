//! The lock queue and its waits under loom: every interleaving of a holder, waiters, a cancel and a timeout, and of two
//! who look for the same deadlock. Queue, wait loop, deadlock search and the environment's one wait are the files of
//! the crates, compiled into this test beside a `sync` of loom; a lost wake-up is a deadlock of the model.
//!
//! Each has a weakened form that must fail: a permit that is lost, a grant in the last moment that is forgotten, a search
//! whose victim goes on waiting as far as others can see.

#[allow(dead_code, unused_imports, reason = "each model uses a part of it")]
mod loom_sync;

mod sync {
    //! Loom in place of the standard library.
    pub use crate::loom_sync::*;
    pub use loom::sync::atomic;
}

mod breakdown {
    //! Clocks that nobody starts.
    pub use storage::breakdown::{Class, enter};
}

mod device {
    //! No disk.
    pub trait Device: Send + Sync {}
}

mod id {
    //! What travels.
    pub use storage::Micros;
}

mod owner {
    //! Owners as far as queues and the deadlock search know them.

    use crate::mode::TableLock;
    use crate::sync::Mutex;
    use crate::{NodeRef, PartitionId, TableId, TxnId};

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct OwnerId(pub u32);

    #[allow(dead_code, reason = "the model has row locks only")]
    pub enum Waiting {
        Row(NodeRef),
        Table(TableId, TableLock),
        Name(NodeRef, TableLock),
        Range(storage::TreeId, Option<std::sync::Arc<[u8]>>),
        Partition(PartitionId),
        End(OwnerId, TxnId),
    }

    pub struct Owner {
        pub waiting: Mutex<Option<Waiting>>,
        pub number: u32,
    }

    impl Owner {
        pub fn pid(&self) -> u32 {
            self.number
        }

        /// Everybody in the model waits once.
        pub fn wait_number(&self) -> u64 {
            0
        }

        pub fn txn(&self) -> Option<TxnId> {
            unreachable!("nobody in the model waits for an end")
        }
    }

    pub struct Owners(pub Vec<Owner>);

    impl Owners {
        pub fn get(&self, owner: OwnerId) -> &Owner {
            &self.0[owner.0 as usize]
        }

        pub fn sessions(&self) -> Sessions {
            Sessions
        }
    }

    /// Every owner is a session of its own.
    pub struct Sessions;

    impl Sessions {
        pub fn peers(&self, owner: OwnerId) -> impl Iterator<Item = OwnerId> {
            std::iter::once(owner)
        }

        pub fn same(&self, one: OwnerId, other: OwnerId) -> bool {
            one == other
        }
    }
}

mod record {
    //! Where the lock of a row stands.
    pub(crate) use crate::NodeRef;
}

#[path = "../../storage/src/environment.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod environment;

#[path = "../../storage/src/waiter.rs"]
#[allow(dead_code, reason = "nobody in the model runs for a session")]
mod waiter;

#[path = "../src/lock/cycle.rs"]
mod cycle;
#[path = "../src/lock/deadlock.rs"]
mod deadlock;
#[path = "../src/lock/mode.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod mode;
#[path = "../src/lock/queue.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod queue;
#[path = "../src/lock/wait.rs"]
mod wait;

/// No table has a lock.
struct NoTables;

impl NoTables {
    fn see(&self, _: TableId, see: &mut dyn FnMut(&LockQueue)) {
        see(&LockQueue::default());
    }

    fn pass(&self, _: OwnerId, _: TableId) -> bool {
        false
    }
}

/// No range has a lock.
struct NoRanges;

impl NoRanges {
    fn blockers(&self, _: &Owners, _: OwnerId, _: storage::TreeId, _: &mut dyn FnMut(OwnerId)) {}
}

/// No partition has anybody in it.
struct NoPartitions;

impl NoPartitions {
    fn holder(&self, _: PartitionId) -> Option<OwnerId> {
        None
    }
}

/// The lock manager as far as the deadlock search knows it.
struct LockManager {
    owners: Owners,
    tables: NoTables,
    ranges: NoRanges,
    partitions: NoPartitions,
    detecting: Mutex<()>,
}

impl LockManager {
    fn wake(&self, _: &[OwnerId]) {
        unreachable!("all modes of the model exclude each other, so nobody waits for waiters alone")
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TableId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PartitionId(pub u16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TxnId(pub u64);

#[derive(Clone, Debug, PartialEq, Eq)]
enum LockTarget {
    Table(TableId),
    Transaction(u32, TxnId),
    Row(storage::TreeId, Vec<u8>),
    Partition(PartitionId),
}

impl LockTarget {
    fn name(_: &[u8]) -> LockTarget {
        unreachable!("the model has no advisory locks")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct DeadlockEdge {
    waiter: u32,
    holder: u32,
    mode: &'static str,
    target: LockTarget,
}

struct NodeState {
    lock: LockQueue,
}

struct Node {
    key: [u8; 1],
    state: Mutex<NodeState>,
}

#[derive(Clone)]
struct NodeRef(Arc<Node>);

impl NodeRef {
    fn new(key: u8) -> NodeRef {
        let state = Mutex::new(NodeState { lock: LockQueue::default() });
        NodeRef(Arc::new(Node { key: [key], state }))
    }

    fn state(&self) -> MutexGuard<'_, NodeState> {
        sync::lock(&self.0.state)
    }

    fn tree(&self) -> storage::TreeId {
        storage::TreeId(1)
    }

    fn key(&self) -> &[u8] {
        &self.0.key
    }
}

use environment::{Cancel, Clock, Environment, Joinable, Scheduler, WaitCell, WaitEvent, Woken};
use id::Micros;
use mode::RowLock;
use owner::{Owner, OwnerId, Owners, Waiting};
use queue::{Kind, LockQueue, Request};
use std::sync::Arc as StdArc;
use sync::atomic::{AtomicU64, Ordering};
use sync::{Arc, Mutex, MutexGuard};
use wait::{Limits, Outcome, until_granted};

const UPDATE: u8 = RowLock::Update as u8;

/// Threads of the model; a rest with a limit ends by it at once, or after whoever runs in between.
struct Threads {
    now: Arc<AtomicU64>,
    /// Planted: a permit that comes before the rest is lost.
    loses_permits: bool,
}

impl Clock for Threads {
    fn now(&self) -> Micros {
        Micros(self.now.load(Ordering::Relaxed))
    }

    fn wall(&self) -> i64 {
        0
    }
}

impl Scheduler for Threads {
    fn park(&self, _: WaitEvent, cell: &WaitCell, timeout: Option<Micros>) {
        match timeout {
            None => cell.block_thread(None),
            Some(span) => {
                loom::thread::yield_now();
                self.now.fetch_add(span.0, Ordering::Relaxed);
            }
        }
    }

    fn unpark(&self, cell: &WaitCell) {
        if !self.loses_permits {
            cell.release_thread();
        }
    }

    fn spawn(&self, _: &'static str, _: Box<dyn FnOnce() + Send>) -> Box<dyn Joinable> {
        unreachable!("the model has no background")
    }

    fn slot(&self) -> usize {
        0
    }

    fn slots(&self) -> usize {
        1
    }
}

struct NoDisk;
impl device::Device for NoDisk {}

#[derive(Clone, Copy, Default)]
struct Planted {
    loses_permits: bool,
    forgets_last_grant: bool,
    victim_still_waits: bool,
}

struct Model {
    env: Environment,
    locks: LockManager,
    cells: Vec<Arc<WaitCell>>,
    nodes: [NodeRef; 2],
    planted: Planted,
    /// Changed by the holder of the first lock alone.
    order: AtomicU64,
}

impl Model {
    fn new(owners: u32, planted: Planted) -> StdArc<Model> {
        let now = Arc::new(AtomicU64::new(1));
        let threads = |now: &Arc<AtomicU64>| Threads {
            now: Arc::clone(now),
            loses_permits: planted.loses_permits,
        };
        let env = Environment {
            device: Arc::new(NoDisk),
            clock: Arc::new(threads(&now)),
            scheduler: Arc::new(threads(&now)),
            seed: 1,
        };
        let owner = |number| Owner { waiting: Mutex::new(None), number };
        let locks = LockManager {
            owners: Owners((0..owners).map(owner).collect()),
            tables: NoTables,
            ranges: NoRanges,
            partitions: NoPartitions,
            detecting: Mutex::new(()),
        };
        StdArc::new(Model {
            env,
            locks,
            cells: (0..owners).map(|_| Arc::new(WaitCell::new())).collect(),
            nodes: [0, 1].map(NodeRef::new),
            planted,
            order: AtomicU64::new(0),
        })
    }

    /// Asks, and stands in the queue if it has to: true if granted.
    fn request(&self, owner: u32, node: usize) -> bool {
        let owner = OwnerId(owner);
        let mut state = self.nodes[node].state();
        if state.lock.request(Kind::Row, owner, UPDATE) != Request::Blocked {
            return true;
        }
        state.lock.enqueue(Kind::Row, owner, UPDATE, 0, &mut |_| ());
        false
    }

    fn wait(
        &self,
        owner: u32,
        node: usize,
        limits: Limits,
        cancel: &Cancel,
    ) -> Outcome<Vec<DeadlockEdge>> {
        let (id, node) = (OwnerId(owner), &self.nodes[node]);
        let cell = &self.cells[owner as usize];
        let place = self.locks.owners.get(id);
        *sync::lock(&place.waiting) = Some(Waiting::Row(node.clone()));
        let leave = || {
            self.change(node, |queue, granted| {
                if self.planted.forgets_last_grant {
                    queue.cancel(Kind::Row, id, granted);
                } else {
                    queue.abandon(Kind::Row, id, 0, granted);
                }
            });
        };
        let mut left = false;
        let outcome = until_granted(
            limits,
            &|| !node.state().lock.is_waiting(id),
            &|| self.env.clock.now(),
            &mut |deadline| self.env.wait(WaitEvent::Tuple, cell, deadline, Some(cancel)),
            &mut || {
                let found = deadlock::find(&self.locks, id, &mut || {
                    if !self.planted.victim_still_waits {
                        leave();
                        left = true;
                    }
                });
                let cycle = matches!(found, deadlock::Search::Cycle(_));
                if cycle && self.planted.victim_still_waits {
                    *sync::lock(&place.waiting) = Some(Waiting::Row(node.clone()));
                }
                found
            },
        );
        *sync::lock(&place.waiting) = None;
        if outcome != Outcome::Granted && !left {
            leave();
        }
        outcome
    }

    fn change(&self, node: &NodeRef, change: impl FnOnce(&mut LockQueue, &mut dyn FnMut(OwnerId))) {
        let mut granted = Vec::new();
        change(&mut node.state().lock, &mut |owner| granted.push(owner));
        granted.iter().for_each(|owner| self.env.wake(&self.cells[owner.0 as usize]));
    }

    fn release(&self, owner: u32, node: usize) {
        let node = &self.nodes[node];
        self.change(node, |queue, granted| queue.release(Kind::Row, OwnerId(owner), 0, granted));
    }

    fn assert_idle(&self) {
        assert!(self.nodes.iter().all(|node| node.state().lock.is_idle()), "a lock is left");
    }
}

fn check(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // As in the models of the log: two preemptions reach every bug of a kind known from practice.
    builder.preemption_bound = Some(2);
    builder.check(model);
}

/// The holder lets go, and both who wait proceed one after another in the order they came.
fn grant(planted: Planted) {
    check(move || {
        let model = Model::new(3, planted);
        assert!(model.request(0, 0) && !model.request(1, 0) && !model.request(2, 0));
        let waiters: Vec<_> = [1, 2]
            .map(|owner| {
                let model = StdArc::clone(&model);
                loom::thread::spawn(move || {
                    let outcome = model.wait(owner, 0, Limits::default(), &Cancel::new());
                    assert_eq!(outcome, Outcome::Granted);
                    let turn = model.order.load(Ordering::Relaxed) + 1;
                    assert_eq!(turn, u64::from(owner), "the order of arrival");
                    model.order.store(turn, Ordering::Relaxed);
                    model.release(owner, 0);
                })
            })
            .into();
        model.release(0, 0);
        waiters.into_iter().for_each(|thread| thread.join().expect("no panic"));
        model.assert_idle();
    });
}

#[test]
fn waiters_are_granted_in_order_and_none_is_forgotten() {
    grant(Planted::default());
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_lost_permit_is_noticed() {
    grant(Planted { loses_permits: true, ..Planted::default() });
}

/// The first in the queue is cancelled, or its time is up, while the holder lets go: however it ends, the second goes
/// on and nothing is left.
fn stop(planted: Planted, by_cancel: bool) {
    check(move || {
        let model = Model::new(3, planted);
        assert!(model.request(0, 0) && !model.request(1, 0) && !model.request(2, 0));
        let cancel = StdArc::new(Cancel::new());
        let first = {
            let (model, cancel) = (StdArc::clone(&model), StdArc::clone(&cancel));
            loom::thread::spawn(move || {
                let give_up = (!by_cancel).then_some(Micros(5));
                let limits = Limits { give_up, look: None, ..Limits::default() };
                if model.wait(1, 0, limits, &cancel) == Outcome::Granted {
                    model.release(1, 0);
                }
            })
        };
        let second = {
            let model = StdArc::clone(&model);
            loom::thread::spawn(move || {
                let outcome = model.wait(2, 0, Limits::default(), &Cancel::new());
                assert_eq!(outcome, Outcome::Granted);
                model.release(2, 0);
            })
        };
        if by_cancel {
            model.env.raise(&cancel, 4);
        }
        model.release(0, 0);
        first.join().expect("no panic");
        second.join().expect("no panic");
        model.assert_idle();
    });
}

#[test]
fn a_cancel_and_a_grant_may_come_together() {
    stop(Planted::default(), true);
}

#[test]
fn a_timeout_and_a_grant_may_come_together() {
    stop(Planted::default(), false);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_grant_in_the_last_moment_that_is_forgotten_is_noticed() {
    stop(Planted { forgets_last_grant: true, ..Planted::default() }, false);
}

/// Two lock two rows crosswise: whoever looks, exactly one is the victim, and the other goes on.
fn deadlock(planted: Planted) {
    check(move || {
        let model = Model::new(2, planted);
        assert!(model.request(0, 0) && model.request(1, 1));
        let victims: Vec<_> = (0..2u32)
            .map(|owner| {
                let model = StdArc::clone(&model);
                loom::thread::spawn(move || {
                    let (own, other) = (owner as usize, 1 - owner as usize);
                    let limits = Limits { look: Some(Micros(5)), ..Limits::default() };
                    let outcome = if model.request(owner, other) {
                        Outcome::Granted
                    } else {
                        model.wait(owner, other, limits, &Cancel::new())
                    };
                    let victim = match outcome {
                        Outcome::Granted => false,
                        Outcome::Deadlock(edges) => {
                            assert_eq!(edges.len(), 2, "{edges:?}");
                            true
                        }
                        other => panic!("{other:?}"),
                    };
                    if !victim {
                        model.release(owner, other);
                    }
                    model.release(owner, own);
                    victim
                })
            })
            .collect();
        let victims = victims.into_iter().map(|thread| thread.join().expect("no panic"));
        assert!(victims.filter(|victim| *victim).count() <= 1, "both were told");
        model.assert_idle();
    });
}

#[test]
fn a_deadlock_has_one_victim() {
    deadlock(Planted::default());
}

#[test]
#[should_panic(expected = "both were told")]
fn two_victims_are_noticed() {
    deadlock(Planted { victim_still_waits: true, ..Planted::default() });
}
