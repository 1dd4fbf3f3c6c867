//! Partitions under loom: every interleaving of transactions that enter two of them in order, and of one that gives up. The locks are
//! the file of the crate, compiled into this test beside a `sync` of loom; a lost wake-up is a deadlock of the model. How a thread
//! rests is the other model's (`locks_model.rs`): here it is a permit.
//!
//! Weakened forms must fail: a wake-up that is lost, a grant in the last moment that is forgotten, and no order of partitions.

#[allow(dead_code, unused_imports, reason = "each model uses a part of it")]
mod loom_sync;

mod sync {
    //! Loom in place of the standard library.
    pub use crate::loom_sync::*;
}

mod owner {
    //! Owners as far as partitions know them.

    pub use crate::loom_sync::owners::{Owner, OwnerId, Owners};
    use crate::partition::PartitionId;

    #[derive(Debug)]
    #[allow(dead_code, reason = "nobody in the model looks for deadlocks")]
    pub enum Waiting {
        Partition(PartitionId),
    }
}

mod wait {
    //! A session, which may give up.
    pub use crate::loom_sync::owners::SessionWait;
}

#[path = "../src/lock/partition.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod partition;

use loom::sync::atomic::{AtomicU64, Ordering};
use loom::thread;
use owner::{Owner, OwnerId, Owners, Waiting};
use partition::{PartitionId, PartitionLocks, PartitionSet};
use std::sync::Arc;
use storage::WaitEvent;
use wait::SessionWait;

#[derive(Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the model looks at none of its fields")]
enum Error {
    LockNotAvailable { timeout: bool },
}

type Result<T> = std::result::Result<T, Error>;

#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "everybody in the model waits")]
enum WaitPolicy {
    Block,
    Error,
    Skip,
}

/// Nobody looks for deadlocks in the model.
#[allow(dead_code, reason = "it is named as the crate names it")]
enum FirstSearch {
    AtOnce,
    AfterTimeout,
}

#[derive(Clone, Copy, Default)]
struct Planted {
    loses_wakes: bool,
    forgets_last_grant: bool,
}

/// The lock manager as far as partitions know it.
struct LockManager {
    owners: Owners,
    partitions: PartitionLocks,
    planted: Planted,
}

impl LockManager {
    fn wake(&self, woken: &[OwnerId]) {
        if !self.planted.loses_wakes {
            woken.iter().for_each(|owner| self.owners.get(*owner).wake());
        }
    }

    fn wait(
        &self,
        owner: OwnerId,
        session: &SessionWait,
        _: WaitEvent,
        _: (Waiting, FirstSearch),
        granted: &dyn Fn() -> bool,
        cancel: &dyn Fn(&mut dyn FnMut(OwnerId)),
    ) -> Result<()> {
        if session.gives_up && !granted() {
            let mut woken = Vec::new();
            if !self.planted.forgets_last_grant {
                cancel(&mut |owner| woken.push(owner));
            }
            self.wake(&woken);
            return Err(Error::LockNotAvailable { timeout: true });
        }
        while !granted() {
            self.owners.get(owner).rest();
        }
        Ok(())
    }
}

struct Model {
    locks: LockManager,
    /// By partition: changed by whoever is there.
    values: [AtomicU64; 2],
}

impl Model {
    fn new(owners: u64, planted: Planted) -> Arc<Model> {
        let owners = Owners((0..owners).map(Owner::new).collect());
        let locks = LockManager { owners, partitions: PartitionLocks::default(), planted };
        Arc::new(Model { locks, values: [AtomicU64::new(0), AtomicU64::new(0)] })
    }

    /// Changes what is in partitions, one after the other, as only one can that is alone there; whether it came to the last.
    fn run(&self, owner: u32, session: &SessionWait, numbers: &[u16]) -> bool {
        let mut held = PartitionSet::default();
        let done = numbers.iter().try_for_each(|number| {
            let partition = PartitionId { database: 5, number: *number };
            let policy = WaitPolicy::Block;
            self.locks.enter_partition(OwnerId(owner), session, partition, policy)?;
            held.insert(*number);
            let value = &self.values[usize::from(*number)];
            // Relaxed: the latches order it.
            let before = value.load(Ordering::Relaxed);
            value.store(before + 1, Ordering::Relaxed);
            assert_eq!(value.load(Ordering::Relaxed), before + 1, "somebody else is here");
            Ok::<(), Error>(())
        });
        self.locks.leave_partitions(OwnerId(owner), 5, &held);
        done.is_ok()
    }
}

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // As in the other models: two preemptions reach every bug of a kind known from practice.
    builder.preemption_bound = Some(2);
    builder.check(check);
}

/// Transactions in threads of their own, by the partitions that they enter; the first of them may give up.
fn together(planted: Planted, gives_up: bool, all: [&'static [u16]; 3]) {
    model(move || {
        let model = Model::new(all.len() as u64, planted);
        let others: Vec<_> = (1..all.len())
            .map(|owner| {
                let model = Arc::clone(&model);
                thread::spawn(move || model.run(owner as u32, &SessionWait::default(), all[owner]))
            })
            .collect();
        let first = model.run(0, &SessionWait { gives_up }, all[0]);
        assert!(first || gives_up);
        assert!(others.into_iter().all(|other| other.join().expect("it holds")));
        let entered = |number: u16| {
            let count = all.iter().skip(1).filter(|numbers| numbers.contains(&number)).count();
            count as u64..=count as u64 + u64::from(all[0].contains(&number))
        };
        for number in 0..2 {
            let value = model.values[usize::from(number)].load(Ordering::Relaxed);
            assert!(entered(number).contains(&value), "a change of {number} is lost: {value}");
        }
    });
}

#[test]
fn one_at_a_time_is_in_a_partition_and_all_get_on() {
    together(Planted::default(), false, [&[0, 1], &[0], &[0, 1]]);
}

#[test]
fn who_gives_up_is_in_nobodys_way() {
    together(Planted::default(), true, [&[0], &[0], &[0]]);
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_lost_wake_up_is_noticed() {
    together(Planted { loses_wakes: true, ..Planted::default() }, false, [&[0], &[0], &[]]);
}

#[test]
#[should_panic(expected = "a partition is not left")]
fn a_grant_in_the_last_moment_that_is_forgotten_is_noticed() {
    together(Planted { forgets_last_grant: true, ..Planted::default() }, true, [&[0], &[0], &[0]]);
}

#[test]
#[should_panic(expected = "deadlock")]
fn partitions_in_no_order_are_noticed() {
    together(Planted::default(), false, [&[0, 1], &[1, 0], &[]]);
}
