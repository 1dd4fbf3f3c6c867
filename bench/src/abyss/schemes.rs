//! The schemes in the simulated environment: keys, versions and transactions of its own, and the decisions of `txn::decisions`, which are
//! the engine's.
//!
//! Where the engine has a tree with a latch there is here a table of locks for each key, or one for all ([`Decider::new`]): who
//! excludes whom is asked of the same code in either case. A version is the number of the commit that wrote it. Under locks and
//! timestamps a commit has its number when it is applied, under `mvcc` and `occ` when it is claimed, as its validation needs it.
//!
//! Difference: a row's lock of `mvcc` and `occ` is an exclusive lock of the same tables, which are granted in order as rows' queues are.

use super::workload::Access;
use std::collections::{BTreeMap, HashMap};
use txn::decisions::{
    Ages, OnConflict, Order, OwnerId, PartitionId, PartitionLocks, PartitionSet, Partitioned,
    RangeMode, Reached, ReadStamps, RequestOutcome, Rule, Span, TreeLocks, Verdict, counts,
    is_in_time, judge, may_pass, may_wait, sees,
};
use txn::{
    Abort, ConflictKind, Error, Lsn, Micros, Reason, SchemeKind, Timestamp, Timestamps, TreeId,
};

/// The schemes that are simulated. What is `ssi` is decided by a graph of conflicts, which is not.
pub fn simulated_schemes() -> impl Iterator<Item = SchemeKind> {
    SchemeKind::ALL.into_iter().filter(|scheme| *scheme != SchemeKind::Ssi)
}

/// The tree that all keys are in.
const TREE: TreeId = TreeId(1);
/// Versions of a key that are kept.
const VERSIONS: usize = 32;
/// What read timestamps of a tree may occupy where each key is by itself: whatever they need.
const UNBOUNDED: usize = usize::MAX / 4;

/// What becomes of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is done; so many newer versions were passed on the way to its own.
    Go(usize),
    /// It waits for others.
    Wait,
    /// The transaction is aborted.
    Abort(Abort),
}

/// Ages by the numbers of cores.
#[derive(Debug)]
struct Began(Vec<u64>);

impl Ages for Began {
    fn age(&self, owner: OwnerId) -> u64 {
        self.0[owner.0 as usize]
    }
}

/// What a core's transaction has.
#[derive(Debug, Default)]
struct Own {
    snapshot: Lsn,
    at: Timestamp,
    /// What it has locked or marked.
    held: Vec<u64>,
    reads: Vec<u64>,
    writes: Vec<u64>,
    partitioned: Partitioned,
    /// What its core has learnt of the one before, and the age of that, if it died.
    learnt: PartitionSet,
    died_at: Option<u64>,
    /// The key, or the partition, that it waits for.
    waits_for: Option<u64>,
    claimed: Option<Lsn>,
}

/// The state of a database as far as its scheme looks at it.
pub struct Decider {
    scheme: SchemeKind,
    by_key: bool,
    began: Began,
    locks: HashMap<u64, TreeLocks>,
    /// The commits that wrote a key, the newest last.
    versions: HashMap<u64, Vec<Lsn>>,
    stamps: ReadStamps,
    order: Order,
    partitions: PartitionLocks,
    /// The last number of a commit, and whose are not applied yet.
    last: Lsn,
    claimed: BTreeMap<Lsn, usize>,
    own: Vec<Own>,
    waiting: usize,
}

fn owner(core: usize) -> OwnerId {
    OwnerId(core as u32)
}

fn span(key: u64) -> Span {
    Span::Key(key.to_be_bytes().as_slice().into())
}

fn refused(reason: Reason) -> Abort {
    Abort::of(&Error::Conflict(ConflictKind::ReadWrite(reason)))
}

impl Decider {
    /// Nothing has happened. `by_key`: each key has locks of its own, and not one tree all of them; read timestamps then have as much room
    /// as they need, and not `stamps_bytes_max`.
    #[must_use]
    pub fn new(scheme: SchemeKind, cores: usize, by_key: bool, stamps_bytes_max: usize) -> Decider {
        let limit = if by_key { UNBOUNDED } else { stamps_bytes_max };
        Decider {
            scheme,
            by_key,
            began: Began(vec![0; cores]),
            locks: HashMap::new(),
            versions: HashMap::new(),
            stamps: ReadStamps::new(0, limit),
            order: Order::default(),
            partitions: PartitionLocks::default(),
            last: Lsn(0),
            claimed: BTreeMap::new(),
            own: (0..cores).map(|_| Own::default()).collect(),
            waiting: 0,
        }
    }

    fn visible(&self) -> Lsn {
        self.claimed.first_key_value().map_or(self.last, |(lsn, _)| Lsn(lsn.0 - 1))
    }

    fn newest(&self, key: u64) -> Lsn {
        self.versions.get(&key).and_then(|all| all.last().copied()).unwrap_or_default()
    }

    fn table(&mut self, key: u64) -> &mut TreeLocks {
        self.locks.entry(if self.by_key { key } else { 0 }).or_default()
    }

    /// A core begins a transaction. The number that `timestamps` hands it is returned, if it takes one.
    pub fn begin(&mut self, core: usize, timestamps: &Timestamps, now: Micros) -> Option<u64> {
        let snapshot = self.visible();
        let own = &mut self.own[core];
        own.snapshot = snapshot;
        match self.scheme {
            SchemeKind::Mvcc | SchemeKind::Ssi | SchemeKind::Occ => None,
            SchemeKind::Timestamp(_) => {
                let above = |floor| timestamps.after(floor, core, || now);
                let begun = self.order.begin(owner(core), above, || Some(snapshot));
                own.at = begun.map(|(at, _)| at).unwrap_or_default();
                self.began.0[core] = own.at.0;
                Some(own.at.0)
            }
            SchemeKind::Locking(_) | SchemeKind::Hstore => {
                let again = own.died_at.take();
                let age = again.unwrap_or_else(|| timestamps.after(Timestamp(0), core, || now).0);
                self.began.0[core] = age;
                own.partitioned.learnt = std::mem::take(&mut own.learnt);
                again.is_none().then_some(age)
            }
        }
    }

    /// A core reads or writes; who is woken by that has been refused.
    pub fn access(&mut self, core: usize, access: &Access, woken: &mut Vec<usize>) -> Answer {
        let Access { key, writes, partition } = *access;
        match self.scheme {
            SchemeKind::Mvcc | SchemeKind::Ssi | SchemeKind::Occ if !writes => {
                self.done(core, access)
            }
            SchemeKind::Mvcc | SchemeKind::Ssi | SchemeKind::Occ => {
                let rule = OnConflict::Detect.rule();
                self.lock(core, access, (RangeMode::Exclusive, rule), woken)
            }
            SchemeKind::Locking(on_conflict) => {
                let mode = if writes { RangeMode::Exclusive } else { RangeMode::Shared };
                self.lock(core, access, (mode, on_conflict.rule()), woken)
            }
            SchemeKind::Timestamp(_) => {
                let asked: (RangeMode, Rule) = if writes {
                    (RangeMode::Exclusive, may_wait)
                } else {
                    self.stamp(core, key);
                    (RangeMode::Passing, may_pass)
                };
                self.lock(core, access, asked, woken)
            }
            SchemeKind::Hstore => self.enter(core, partition),
        }
    }

    fn lock(
        &mut self,
        core: usize,
        access: &Access,
        (mode, rule): (RangeMode, Rule),
        woken: &mut Vec<usize>,
    ) -> Answer {
        let (key, span, mut refused_now) = (access.key, span(access.key), Vec::new());
        let locks = self.locks.entry(if self.by_key { key } else { 0 }).or_default();
        let asked = locks.ask(&self.began, owner(core), (&span, mode), rule, &mut refused_now);
        woken.extend(refused_now.iter().map(|owner| owner.0 as usize));
        match asked {
            RequestOutcome::Granted => self.done(core, access),
            RequestOutcome::Conflict(Some(reason)) => self.abort(core, reason),
            RequestOutcome::Conflict(None) => {
                locks.wait(owner(core), span, mode, rule);
                self.own[core].waits_for = Some(key);
                self.waiting += 1;
                Answer::Wait
            }
        }
    }

    /// A core's transaction has read a key.
    fn stamp(&self, core: usize, key: u64) {
        let (at, oldest) = (self.own[core].at, self.order.oldest());
        self.stamps.key((TREE, &key.to_be_bytes()), at, oldest);
    }

    fn abort(&mut self, core: usize, reason: Reason) -> Answer {
        if reason == Reason::Died {
            self.own[core].died_at = Some(self.began.0[core]);
        }
        Answer::Abort(refused(reason))
    }

    /// A core goes on whose wait has ended.
    pub fn resume(&mut self, core: usize, access: &Access) -> Answer {
        let waited_for = self.own[core].waits_for.take().unwrap_or_default();
        self.waiting -= 1;
        if self.scheme == SchemeKind::Hstore {
            self.own[core].partitioned.held.insert(waited_for as u16);
            return self.enter(core, access.partition);
        }
        match self.table(access.key).answer(owner(core)) {
            Some(reason) => self.abort(core, reason),
            None => self.done(core, access),
        }
    }

    /// Nobody is in the way of an access any more: whether what it finds is what it may see.
    fn done(&mut self, core: usize, access: &Access) -> Answer {
        let Access { key, writes, .. } = *access;
        let newest = self.newest(key);
        if writes && matches!(self.scheme, SchemeKind::Timestamp(_)) {
            self.stamp(core, key);
        }
        let Decider { scheme, own, order, stamps, versions, .. } = self;
        let own = &mut own[core];
        if writes {
            own.held.push(key);
            own.writes.push(key);
        } else {
            own.reads.push(key);
        }
        let (snapshot, at) = (own.snapshot, own.at);
        let passed = |shown: &dyn Fn(Lsn) -> bool| {
            let all = versions.get(&key).into_iter().flatten().rev();
            all.take_while(|lsn| !shown(**lsn)).count()
        };
        match *scheme {
            SchemeKind::Mvcc | SchemeKind::Ssi | SchemeKind::Occ if !writes => {
                Answer::Go(passed(&|lsn| sees(snapshot, lsn, || false)))
            }
            SchemeKind::Mvcc | SchemeKind::Ssi if newest > snapshot => {
                Answer::Abort(Abort::of(&Error::Conflict(ConflictKind::Update)))
            }
            SchemeKind::Occ if newest > snapshot => Answer::Abort(refused(Reason::Validation)),
            SchemeKind::Mvcc | SchemeKind::Ssi | SchemeKind::Occ | SchemeKind::Hstore => {
                Answer::Go(0)
            }
            SchemeKind::Locking(_) => {
                if !writes {
                    own.held.push(key);
                }
                Answer::Go(0)
            }
            SchemeKind::Timestamp(_) if writes => {
                let read = stamps.of(TREE, &key.to_be_bytes());
                let is_older = || order.is_before(newest, at);
                match is_in_time(at, read, || Ok::<_, ()>(sees(snapshot, newest, is_older))) {
                    Ok(true) => Answer::Go(0),
                    Ok(false) | Err(()) => Answer::Abort(refused(Reason::WriteTooLate)),
                }
            }
            SchemeKind::Timestamp(overwritten) => {
                let shown = |lsn| sees(snapshot, lsn, || order.is_before(lsn, at));
                if shown(newest) {
                    return Answer::Go(0);
                }
                match overwritten.read() {
                    Ok(()) => Answer::Go(passed(&shown)),
                    Err(reason) => Answer::Abort(refused(reason)),
                }
            }
        }
    }

    /// Enters what a partition needs beside it, in order.
    fn enter(&mut self, core: usize, partition: u16) -> Answer {
        let mut wanted = PartitionSet::default();
        wanted.insert(partition);
        let (age, own) = (self.began.0[core], &mut self.own[core]);
        for number in own.partitioned.missing(&wanted).iter() {
            let id = PartitionId { database: 0, number };
            let waits = own.partitioned.may_wait(number);
            if self.partitions.enter(id, owner(core), waits.then_some(age)) {
                own.partitioned.held.insert(number);
            } else if waits {
                own.waits_for = Some(u64::from(number));
                self.waiting += 1;
                return Answer::Wait;
            } else {
                own.learnt = own.partitioned.refused(&wanted);
                own.died_at = Some(age);
                return Answer::Abort(refused(Reason::LeftPartitions));
            }
        }
        Answer::Go(0)
    }

    /// Looks for a cycle through a core that waits; whether there is one, and how many were looked at. If there is, it waits no more.
    pub fn is_deadlock(&mut self, core: usize) -> (bool, usize) {
        let (mut reached, mut seen) = (Reached::from(owner(core)), 0);
        while let Some(waiter) = reached.take_next() {
            let Some(key) = self.own[waiter.0 as usize].waits_for else { continue };
            let Some(locks) = self.locks.get(&if self.by_key { key } else { 0 }) else { continue };
            seen += 1;
            let mut blockers = locks.blockers(&self.began, waiter).into_iter();
            if blockers.any(|blocker| reached.reach(waiter, blocker)) {
                self.give_up(core);
                return (true, seen);
            }
        }
        (false, seen)
    }

    /// A core that waits for a lock waits no more, and has not got it.
    pub fn give_up(&mut self, core: usize) {
        let key = self.own[core].waits_for.take().unwrap_or_default();
        self.waiting -= 1;
        let _ = self.table(key).answer(owner(core));
    }

    /// How many wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// How many commits have been claimed and are not applied.
    #[must_use]
    pub fn claimed(&self) -> usize {
        self.claimed.len()
    }

    /// What a core's transaction has locked or marked.
    #[must_use]
    pub fn held(&self, core: usize) -> &[u64] {
        &self.own[core].held
    }

    /// A core claims its commit, where that has to be known before it is applied; whether it may stand.
    ///
    /// # Errors
    /// What it has read has been changed.
    pub fn claim(&mut self, core: usize) -> Result<(), Abort> {
        if !matches!(self.scheme, SchemeKind::Mvcc | SchemeKind::Ssi | SchemeKind::Occ)
            || self.own[core].writes.is_empty()
        {
            return Ok(());
        }
        self.last = Lsn(self.last.0 + 1);
        let lsn = self.last;
        if self.scheme == SchemeKind::Occ {
            let own = &self.own[core];
            let others = || self.claimed.iter().map(|(lsn, other)| (*lsn, &self.own[*other]));
            let slots = || {
                let meets = |other: &Own| other.writes.iter().any(|key| own.reads.contains(key));
                let mut before = others().filter(|(theirs, _)| *theirs < lsn);
                let met = before.find(|(_, other)| meets(other));
                met.map_or(Verdict::Holds, |(theirs, _)| Verdict::Broken(theirs))
            };
            let pages = || {
                let newest = own.reads.iter().map(|key| self.newest(*key));
                let mut broken = newest.filter(|newest| counts(own.snapshot, *newest, lsn));
                broken.next().map_or(Verdict::Holds, Verdict::Broken)
            };
            // Nobody is late: whoever has been applied is on the pages.
            if judge(slots, || Verdict::Holds, pages) != Verdict::Holds {
                return Err(refused(Reason::Validation));
            }
        }
        self.claimed.insert(lsn, core);
        self.own[core].claimed = Some(lsn);
        Ok(())
    }

    /// A core's transaction has ended; whom it wakes.
    pub fn end(&mut self, core: usize, committed: bool, woken: &mut Vec<usize>) {
        let own = &mut self.own[core];
        let (held, writes) = (std::mem::take(&mut own.held), std::mem::take(&mut own.writes));
        let (at, claimed) = (own.at, own.claimed.take());
        let partitioned = std::mem::take(&mut own.partitioned);
        own.reads.clear();
        if committed && !writes.is_empty() {
            let lsn = claimed.unwrap_or(Lsn(self.last.0 + 1));
            self.last = self.last.max(lsn);
            for key in &writes {
                let versions = self.versions.entry(*key).or_default();
                if versions.len() == VERSIONS {
                    versions.remove(0);
                }
                versions.push(lsn);
            }
            if matches!(self.scheme, SchemeKind::Timestamp(_)) {
                self.order.committed(lsn, at);
            }
        }
        if let Some(lsn) = claimed {
            self.claimed.remove(&lsn);
        }
        if matches!(self.scheme, SchemeKind::Timestamp(_)) {
            self.order.end(at);
        }
        let mut granted = Vec::new();
        for key in &held {
            self.table(*key).leave(owner(core), &span(*key), None);
        }
        let mut tables: Vec<u64> =
            held.iter().map(|key| if self.by_key { *key } else { 0 }).collect();
        tables.dedup();
        for table in tables {
            if let Some(locks) = self.locks.get_mut(&table) {
                locks.grant_waiters(&self.began, &mut granted);
                if locks.is_idle() {
                    self.locks.remove(&table);
                }
            }
        }
        for number in partitioned.held.iter() {
            let id = PartitionId { database: 0, number };
            granted.extend(self.partitions.leave(id, owner(core)));
        }
        woken.extend(granted.iter().map(|owner| owner.0 as usize));
    }
}

#[cfg(test)]
mod tests {
    use super::{Abort, Answer, Decider};
    use crate::abyss::workload::Access;
    use txn::{Micros, SchemeKind, TimestampAllocator, Timestamps};

    const READ: Access = Access { key: 1, writes: false, partition: 1 };
    const WRITE: Access = Access { key: 1, writes: true, partition: 1 };

    /// Two cores that both read and then write a key: what becomes of the second write, and of who has waited for it.
    fn both_write(name: &str) -> (Answer, Answer) {
        let scheme = SchemeKind::named(name).expect("it is one of them");
        let (mut decider, mut woken) = (Decider::new(scheme, 2, true, 0), Vec::new());
        let timestamps = Timestamps::new(TimestampAllocator::Atomic, 2);
        for core in [0, 1] {
            decider.begin(core, &timestamps, Micros(0));
            assert_eq!(decider.access(core, &READ, &mut woken), Answer::Go(0), "{name}");
        }
        let first = decider.access(0, &WRITE, &mut woken);
        (first, decider.access(1, &WRITE, &mut woken))
    }

    #[test]
    fn who_meets_another_is_told_what_its_scheme_says() {
        assert_eq!(both_write("2pl_no_wait").0, Answer::Abort(Abort::LockBusy));
        let died = Answer::Abort(Abort::Died);
        assert_eq!(both_write("2pl_wait_die"), (Answer::Wait, died));
        assert_eq!(both_write("2pl_detect"), (Answer::Wait, Answer::Wait));
        let too_late = Answer::Abort(Abort::WriteTooLate);
        assert_eq!(both_write("timestamp").0, too_late, "the younger one has read it");
        assert_eq!(both_write("mvto").0, too_late);
        assert_eq!(both_write("occ"), (Answer::Go(0), Answer::Wait));
    }

    #[test]
    fn a_cycle_is_found_and_its_victim_waits_no_more() {
        let scheme = SchemeKind::named("2pl_detect").expect("it is one of them");
        let (mut decider, mut woken) = (Decider::new(scheme, 2, true, 0), Vec::new());
        let timestamps = Timestamps::new(TimestampAllocator::Atomic, 2);
        let begun = [0, 1].map(|core| decider.begin(core, &timestamps, Micros(0)));
        assert!(begun.iter().all(Option::is_none) || begun[0] < begun[1]);
        let other = Access { key: 2, ..WRITE };
        assert_eq!(decider.access(0, &WRITE, &mut woken), Answer::Go(0));
        assert_eq!(decider.access(1, &other, &mut woken), Answer::Go(0));
        assert_eq!(decider.access(0, &other, &mut woken), Answer::Wait);
        assert!(!decider.is_deadlock(0).0);
        assert_eq!(decider.access(1, &WRITE, &mut woken), Answer::Wait);
        assert_eq!(decider.is_deadlock(1), (true, 2));
        decider.end(1, false, &mut woken);
        assert_eq!(woken, [0]);
        assert_eq!(decider.resume(0, &other), Answer::Go(0));
        decider.end(0, true, &mut woken);
        assert!(decider.waiting() == 0 && decider.locks.is_empty());
    }

    #[test]
    fn a_commit_whose_reads_have_been_overwritten_is_refused() {
        let scheme = SchemeKind::named("occ").expect("it is one of them");
        let (mut decider, mut woken) = (Decider::new(scheme, 2, true, 0), Vec::new());
        let timestamps = Timestamps::new(TimestampAllocator::Atomic, 2);
        let begun = [0, 1].map(|core| decider.begin(core, &timestamps, Micros(0)));
        assert!(begun.iter().all(Option::is_none) || begun[0] < begun[1]);
        let other = Access { key: 2, ..WRITE };
        decider.access(0, &READ, &mut woken);
        decider.access(0, &other, &mut woken);
        decider.access(1, &WRITE, &mut woken);
        assert_eq!(decider.claim(1), Ok(()));
        assert_eq!(decider.claim(0), Err(Abort::Validation), "it is not applied, but claimed");
    }
}
