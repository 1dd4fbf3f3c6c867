//! The locks on keys and ranges under loom: every interleaving of readers of a range, writers of its keys, and one who gives up.
//! Locks, segments and the rules are the files of the crate, compiled into this test beside a `sync` of loom; a lost wake-up, or
//! a cycle of waits that a rule should have prevented, is a deadlock of the model. How a thread rests is the other model's
//! (`locks_model.rs`): here it is a permit.
//!
//! Weakened forms must fail: a wake-up that is lost, a grant in the last moment that is forgotten, and no rule where there are two
//! keys.

#[allow(dead_code, unused_imports, reason = "each model uses a part of it")]
mod loom_sync;

mod sync {
    //! Loom in place of the standard library.
    pub use crate::loom_sync::*;
    pub use loom::sync::atomic;
}

mod owner {
    //! Owners as far as locks on keys and ranges know them.

    pub use crate::loom_sync::owners::{Owner, OwnerId, Owners};
    use crate::sync::Arc;

    #[derive(Debug)]
    #[allow(dead_code, reason = "nobody in the model looks for deadlocks")]
    pub enum Waiting {
        Range(storage::TreeId, Option<Arc<[u8]>>),
    }
}

mod wait {
    //! A session, which may give up.
    pub use crate::loom_sync::owners::SessionWait;
}

#[path = "../src/scheme/locking/detect.rs"]
mod detect;
#[path = "../src/record/hash.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod hash;
#[path = "../src/lock/range.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod range;
#[path = "../src/lock/range_shards.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod range_shards;
mod record {
    //! What spreads keys over shards.
    pub(crate) use crate::hash;
}
#[path = "../src/lock/segments.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod segments;
#[path = "../src/lock/spans.rs"]
#[allow(dead_code, reason = "the model uses a part of the file under test")]
mod spans;
#[path = "../src/scheme/locking/wait_die.rs"]
mod wait_die;

use loom::thread;
use owner::{Owner, OwnerId, Owners, Waiting};
use range::{Asking, HeldRanges, RangeLocks, RangeMode, Rule, Span};
use segments::Edge;
use std::ops::Bound;
use std::sync::Arc;
use storage::{TreeId, WaitEvent};
use sync::atomic::{AtomicU64, Ordering};
use wait::SessionWait;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Died,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConflictKind {
    ReadWrite(Reason),
}

#[derive(Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the model looks at none of their fields")]
enum Error {
    Conflict(ConflictKind),
    LockNotAvailable { timeout: bool },
}

type Result<T> = std::result::Result<T, Error>;

#[allow(dead_code, reason = "nobody in the model is shown a lock")]
enum SireadTarget {
    Tree,
    Key(Vec<u8>),
    Range,
}

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

/// The lock manager as far as these locks know it.
struct LockManager {
    owners: Owners,
    ranges: RangeLocks,
    planted: Planted,
}

impl LockManager {
    fn wake(&self, woken: &[OwnerId]) {
        if !self.planted.loses_wakes {
            woken.iter().for_each(|owner| self.owners.get(*owner).wake());
        }
    }

    #[allow(clippy::too_many_arguments, reason = "it is called as the crate's is")]
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
    /// By key: changed by writers, and whole for whoever has locked it to read.
    values: [AtomicU64; 2],
}

const TREE: TreeId = TreeId(1);

fn all() -> Span {
    Span::Range(Edge::low(Bound::Unbounded), Edge::high(Bound::Unbounded))
}

impl Model {
    fn new(owners: u64, planted: Planted) -> Arc<Model> {
        let owners = Owners((0..owners).map(Owner::new).collect());
        let locks = LockManager { owners, ranges: RangeLocks::with_shards(1, 2), planted };
        Arc::new(Model { locks, values: [AtomicU64::new(0), AtomicU64::new(0)] })
    }

    fn lock(
        &self,
        (owner, session, rule): (u32, &SessionWait, Rule),
        held: &mut HeldRanges,
        (span, mode): (Span, RangeMode),
    ) -> Result<()> {
        let owner = OwnerId(owner);
        let asking = Asking { owner, session, rule, policy: WaitPolicy::Block };
        self.locks.lock_range(asking, held, (TREE, span, mode), usize::MAX).map(|_| ())
    }

    /// Changes a key, twice, as nobody may see it in between; whether it was allowed to.
    fn write(&self, owner: u32, session: &SessionWait, rule: Rule, keys: &[u8]) -> bool {
        let mut held = HeldRanges::default();
        let done = keys.iter().try_for_each(|key| {
            let span = Span::Key([*key][..].into());
            self.lock((owner, session, rule), &mut held, (span, RangeMode::Exclusive))?;
            let value = &self.values[*key as usize];
            // Relaxed: the locks order it.
            value.store(value.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            value.store(value.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            Ok::<(), Error>(())
        });
        self.locks.release_ranges(OwnerId(owner), &mut held);
        done.is_ok()
    }

    /// Reads all keys, twice: they are the same, and no change is seen by half.
    fn read(&self, owner: u32, rule: Rule) -> bool {
        let mut held = HeldRanges::default();
        let asked = (owner, &SessionWait::default(), rule);
        let granted = self.lock(asked, &mut held, (all(), RangeMode::Shared)).is_ok();
        if granted {
            let look = || [0, 1].map(|key| self.values[key].load(Ordering::Relaxed));
            let found = look();
            assert!(found.iter().all(|value| value % 2 == 0), "{found:?}");
            assert_eq!(look(), found);
        }
        self.locks.release_ranges(OwnerId(owner), &mut held);
        granted
    }
}

fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    // As in the other models: two preemptions reach every bug of a kind known from practice.
    builder.preemption_bound = Some(2);
    builder.check(check);
}

/// Two writers of a key and a reader of the range around it: all get on, and none sees another's half.
fn readers_and_writers(planted: Planted) {
    model(move || {
        let model = Model::new(3, planted);
        let patient = SessionWait::default();
        let others: Vec<_> = (0..2)
            .map(|owner| {
                let model = Arc::clone(&model);
                thread::spawn(move || match owner {
                    0 => model.write(0, &SessionWait::default(), detect::may_wait, &[0]),
                    _ => model.read(1, detect::may_wait),
                })
            })
            .collect();
        assert!(model.write(2, &patient, detect::may_wait, &[0]));
        others.into_iter().for_each(|other| assert!(other.join().expect("nobody panics")));
        assert_eq!(model.values[0].load(Ordering::Relaxed), 4);
        model
            .locks
            .ranges
            .for_each(&mut |_, _, _, _, _| panic!("a lock on a key or a range is left behind"));
    });
}

#[test]
fn readers_of_ranges_and_writers_of_keys_exclude_each_other() {
    readers_and_writers(Planted::default());
}

#[test]
#[should_panic(expected = "deadlock")]
fn a_lost_wake_up_is_noticed() {
    readers_and_writers(Planted { loses_wakes: true, ..Planted::default() });
}

/// One gives up while the lock may just be granted to it: whoever waits behind it gets on.
fn one_gives_up(planted: Planted) {
    model(move || {
        let model = Model::new(3, planted);
        let others: Vec<_> = [(0, false), (1, true)]
            .map(|(owner, gives_up)| {
                let model = Arc::clone(&model);
                thread::spawn(move || {
                    model.write(owner, &SessionWait { gives_up }, detect::may_wait, &[0])
                })
            })
            .into();
        assert!(model.write(2, &SessionWait::default(), detect::may_wait, &[0]));
        let done: Vec<bool> =
            others.into_iter().map(|other| other.join().expect("nobody panics")).collect();
        assert!(done[0]);
        let written = 2 + 2 * u64::from(done[1]) + 2;
        assert_eq!(model.values[0].load(Ordering::Relaxed), written);
        model
            .locks
            .ranges
            .for_each(&mut |_, _, _, _, _| panic!("a lock on a key or a range is left behind"));
    });
}

#[test]
fn who_gives_up_leaves_nothing() {
    one_gives_up(Planted::default());
}

#[test]
#[should_panic(expected = "a lock on a key or a range is left behind")]
fn a_grant_in_the_last_moment_that_is_forgotten_is_noticed() {
    one_gives_up(Planted { forgets_last_grant: true, ..Planted::default() });
}

/// Two take the same two keys, in opposite orders.
fn crossing(rule: Rule) {
    model(move || {
        let model = Model::new(2, Planted::default());
        let other = Arc::clone(&model);
        let young = thread::spawn(move || other.write(1, &SessionWait::default(), rule, &[1, 0]));
        assert!(model.write(0, &SessionWait::default(), rule, &[0, 1]), "the oldest never dies");
        young.join().expect("nobody panics");
        model
            .locks
            .ranges
            .for_each(&mut |_, _, _, _, _| panic!("a lock on a key or a range is left behind"));
    });
}

#[test]
fn under_wait_die_there_is_no_cycle() {
    crossing(wait_die::may_wait);
}

#[test]
#[should_panic(expected = "deadlock")]
fn without_a_rule_there_is_one() {
    crossing(detect::may_wait);
}
