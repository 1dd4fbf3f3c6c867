//! Who excludes whom among locks on keys and ranges of one tree, who may wait, and who is granted next.
//!
//! It is what `lock/range.rs` does under a latch, apart from latches, sessions and waits: from the same requests in the same order
//! come the same answers. So whoever simulates the schemes decides by this file too (`bench -- abyss`). Papers and invariants stand there.

use super::segments::{Edge, Segments};
use crate::Reason;
use crate::owner::OwnerId;
use crate::sync::Arc;
use std::collections::BTreeMap;

/// How something is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RangeMode {
    /// Nothing is held: whoever is older and has locked it to write it is waited for.
    Passing,
    /// To read it.
    Shared,
    /// To write it: a key, or all.
    Exclusive,
}

/// What is locked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// One key.
    Key(Arc<[u8]>),
    /// What lies between two edges; shared only.
    Range(Edge, Edge),
    /// All keys, in place of many.
    Tree,
}

/// Whether a transaction of one age may wait for one of another, the lower of which began first.
pub type Rule = fn(waiter: u64, holder: u64) -> std::result::Result<(), Reason>;

/// When transactions began.
pub trait Ages {
    /// The age of an owner's transaction; the lower of two began first.
    fn age(&self, owner: OwnerId) -> u64;
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// It is granted.
    Granted,
    /// Somebody is in the way; why it may not wait for that, if so.
    Conflict(Option<Reason>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holder {
    pub(super) owner: OwnerId,
    pub(super) mode: RangeMode,
}

#[derive(Debug)]
pub(super) struct Waiter {
    pub(super) owner: OwnerId,
    pub(super) span: Span,
    pub(super) mode: RangeMode,
    rule: Rule,
    /// Its rule has not let it wait for somebody who came between.
    pub(super) refused: Option<Reason>,
}

/// The locks in one tree.
#[derive(Debug, Default)]
pub struct TreeLocks {
    pub(super) points: BTreeMap<Arc<[u8]>, Vec<Holder>>,
    pub(super) ranges: Segments<OwnerId>,
    pub(super) whole: Vec<Holder>,
    pub(super) waiters: Vec<Waiter>,
}

fn put(holders: &mut Vec<Holder>, owner: OwnerId, mode: RangeMode) {
    match holders.iter_mut().find(|holder| holder.owner == owner) {
        Some(holder) => holder.mode = holder.mode.max(mode),
        None => holders.push(Holder { owner, mode }),
    }
}

/// Whether a holder excludes somebody else's request.
fn excludes(ages: &impl Ages, holder: &Holder, (owner, mode): (OwnerId, RangeMode)) -> bool {
    match mode {
        RangeMode::Passing => {
            let older = || ages.age(holder.owner) < ages.age(owner);
            holder.mode == RangeMode::Exclusive && older()
        }
        RangeMode::Shared => holder.mode == RangeMode::Exclusive,
        RangeMode::Exclusive => true,
    }
}

impl TreeLocks {
    /// Whether there is nothing.
    pub fn is_idle(&self) -> bool {
        self.points.is_empty()
            && self.ranges.is_empty()
            && self.whole.is_empty()
            && self.waiters.is_empty()
    }

    /// Whether nothing but keys is locked, and nobody waits.
    pub fn has_keys_only(&self) -> bool {
        self.ranges.is_empty() && self.whole.is_empty() && self.waiters.is_empty()
    }

    /// Calls `met` with every holder that excludes `owner` from a span; one may come several times.
    pub fn conflicts(
        &self,
        ages: &impl Ages,
        owner: OwnerId,
        (span, mode): (&Span, RangeMode),
        met: &mut dyn FnMut(OwnerId),
    ) {
        let mut see = |holder: &Holder| {
            if holder.owner != owner && excludes(ages, holder, (owner, mode)) {
                met(holder.owner);
            }
        };
        self.whole.iter().for_each(&mut see);
        match span {
            Span::Key(key) => self.points.get(key).into_iter().flatten().for_each(&mut see),
            Span::Range(low, high) if low < high => {
                let inside = self.points.range::<[u8], _>((low.from(), high.to()));
                inside.flat_map(|(_, holders)| holders).for_each(&mut see);
            }
            Span::Range(..) => {}
            Span::Tree => self.points.values().flatten().for_each(&mut see),
        }
        if mode == RangeMode::Exclusive {
            let others = |reader: &&OwnerId| **reader != owner;
            match span {
                Span::Key(key) => self.ranges.at(key).iter().filter(others).for_each(|o| met(*o)),
                _ => self.ranges.all().filter(others).for_each(|o| met(*o)),
            }
        }
    }

    pub(super) fn is_free(
        &self,
        ages: &impl Ages,
        owner: OwnerId,
        span: &Span,
        mode: RangeMode,
    ) -> bool {
        let mut free = true;
        self.conflicts(ages, owner, (span, mode), &mut |_| free = false);
        free
    }

    /// Makes an owner a holder.
    pub(super) fn grant(&mut self, owner: OwnerId, span: &Span, mode: RangeMode) {
        if mode == RangeMode::Passing {
            return;
        }
        match span {
            Span::Key(key) => {
                put(self.points.entry(Arc::clone(key)).or_default(), owner, mode);
            }
            Span::Range(low, high) => self.ranges.add(low, high, |holders| {
                if !holders.contains(&owner) {
                    holders.push(owner);
                }
            }),
            Span::Tree => put(&mut self.whole, owner, mode),
        }
    }

    /// Leaves an owner with `mode` of a span, or nothing.
    pub fn leave(&mut self, owner: OwnerId, span: &Span, mode: Option<RangeMode>) {
        let cut = |holders: &mut Vec<Holder>| match mode {
            None => holders.retain(|holder| holder.owner != owner),
            Some(mode) => {
                let own = holders.iter_mut().filter(|holder| holder.owner == owner);
                own.for_each(|holder| holder.mode = mode);
            }
        };
        match span {
            Span::Key(key) => {
                if let Some(holders) = self.points.get_mut(key) {
                    cut(holders);
                    if holders.is_empty() {
                        self.points.remove(key);
                    }
                }
            }
            Span::Range(low, high) => {
                self.ranges.remove(low, high, |holders| holders.retain(|other| *other != owner));
            }
            Span::Tree => cut(&mut self.whole),
        }
    }

    /// Asks for a span: it is granted if nobody excludes it, and those who wait are asked whether they may go on waiting. Who may
    /// not is among the `woken`.
    pub fn ask(
        &mut self,
        ages: &impl Ages,
        owner: OwnerId,
        (span, mode): (&Span, RangeMode),
        rule: Rule,
        woken: &mut Vec<OwnerId>,
    ) -> RequestOutcome {
        let age = ages.age(owner);
        let (mut free, mut refused) = (true, None);
        self.conflicts(ages, owner, (span, mode), &mut |holder| {
            free = false;
            refused = refused.or(rule(age, ages.age(holder)).err());
        });
        if !free {
            return RequestOutcome::Conflict(refused);
        }
        self.grant(owner, span, mode);
        self.ask_waiters(ages, owner, woken);
        RequestOutcome::Granted
    }

    /// Puts one who has met somebody, and may wait, behind those who wait.
    pub fn wait(&mut self, owner: OwnerId, span: Span, mode: RangeMode, rule: Rule) {
        self.waiters.push(Waiter { owner, span, mode, rule, refused: None });
    }

    /// Whether an owner waits, and has not been refused.
    pub fn is_waiting(&self, owner: OwnerId) -> bool {
        self.waiters.iter().any(|waiter| waiter.owner == owner && waiter.refused.is_none())
    }

    /// Takes one whose wait has ended out of those who wait; why it was refused, if it was.
    pub fn answer(&mut self, owner: OwnerId) -> Option<Reason> {
        let place = self.waiters.iter().position(|waiter| waiter.owner == owner)?;
        self.waiters.remove(place).refused
    }

    /// Whom `owner`, if it waits, waits for. Who has been refused waits for nobody, though it has not heard of it.
    pub fn blockers(&self, ages: &impl Ages, owner: OwnerId) -> Vec<OwnerId> {
        let mut found = Vec::new();
        let waits = |waiter: &&Waiter| waiter.owner == owner && waiter.refused.is_none();
        if let Some(waiter) = self.waiters.iter().find(waits) {
            let wanted = (&waiter.span, waiter.mode);
            self.conflicts(ages, owner, wanted, &mut |other| found.push(other));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Asks the rule of each who waits and whom a new holder excludes.
    pub(super) fn ask_waiters(
        &mut self,
        ages: &impl Ages,
        holder: OwnerId,
        woken: &mut Vec<OwnerId>,
    ) {
        let mut waiters = std::mem::take(&mut self.waiters);
        for waiter in waiters.iter_mut().filter(|waiter| waiter.refused.is_none()) {
            let mut excluded = false;
            self.conflicts(ages, waiter.owner, (&waiter.span, waiter.mode), &mut |other| {
                excluded |= other == holder;
            });
            if excluded {
                let ages = (ages.age(waiter.owner), ages.age(holder));
                waiter.refused = (waiter.rule)(ages.0, ages.1).err();
                woken.extend(waiter.refused.is_some().then_some(waiter.owner));
            }
        }
        self.waiters = waiters;
    }

    /// Grants, in order, whoever is excluded by nobody any more.
    pub fn grant_waiters(&mut self, ages: &impl Ages, woken: &mut Vec<OwnerId>) {
        let mut at = 0;
        while let Some(waiter) = self.waiters.get(at) {
            if waiter.refused.is_some()
                || !self.is_free(ages, waiter.owner, &waiter.span, waiter.mode)
            {
                at += 1;
                continue;
            }
            let granted = self.waiters.remove(at);
            self.grant(granted.owner, &granted.span, granted.mode);
            woken.push(granted.owner);
            self.ask_waiters(ages, granted.owner, woken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Owners whose numbers are their ages.
    struct Numbers;

    impl Ages for Numbers {
        fn age(&self, owner: OwnerId) -> u64 {
            u64::from(owner.0)
        }
    }

    const ONE: OwnerId = OwnerId(1);
    const TWO: OwnerId = OwnerId(2);
    const THREE: OwnerId = OwnerId(3);

    fn key() -> Span {
        Span::Key(b"k".as_slice().into())
    }

    fn older_waits(waiter: u64, holder: u64) -> Result<(), Reason> {
        if waiter < holder { Ok(()) } else { Err(Reason::Died) }
    }

    fn ask(
        locks: &mut TreeLocks,
        owner: OwnerId,
        mode: RangeMode,
    ) -> (RequestOutcome, Vec<OwnerId>) {
        let mut woken = Vec::new();
        let asked = locks.ask(&Numbers, owner, (&key(), mode), older_waits, &mut woken);
        (asked, woken)
    }

    #[test]
    fn readers_stand_beside_each_other_and_the_rule_is_asked_of_whoever_meets_a_writer() {
        let mut locks = TreeLocks::default();
        for reader in [TWO, THREE] {
            assert_eq!(
                ask(&mut locks, reader, RangeMode::Shared),
                (RequestOutcome::Granted, vec![])
            );
        }
        assert_eq!(ask(&mut locks, ONE, RangeMode::Exclusive).0, RequestOutcome::Conflict(None));
        let died = RequestOutcome::Conflict(Some(Reason::Died));
        assert_eq!(ask(&mut locks, THREE, RangeMode::Exclusive).0, died, "2 is older");
        locks.wait(ONE, key(), RangeMode::Exclusive, older_waits);
        assert_eq!(locks.blockers(&Numbers, ONE), [TWO, THREE]);
        let mut woken = Vec::new();
        for reader in [TWO, THREE] {
            assert!(locks.is_waiting(ONE) && woken.is_empty());
            locks.leave(reader, &key(), None);
            locks.grant_waiters(&Numbers, &mut woken);
        }
        assert_eq!((woken, locks.answer(ONE)), (vec![ONE], None));
        assert_eq!(ask(&mut locks, TWO, RangeMode::Shared).0, died);
        locks.leave(ONE, &key(), None);
        assert!(locks.is_idle());
    }

    #[test]
    fn who_waits_is_refused_when_an_older_one_comes_to_hold() {
        let mut locks = TreeLocks::default();
        assert_eq!(ask(&mut locks, THREE, RangeMode::Shared).0, RequestOutcome::Granted);
        assert_eq!(ask(&mut locks, TWO, RangeMode::Exclusive).0, RequestOutcome::Conflict(None));
        locks.wait(TWO, key(), RangeMode::Exclusive, older_waits);
        assert_eq!(locks.blockers(&Numbers, TWO), [THREE]);
        assert_eq!(ask(&mut locks, ONE, RangeMode::Shared), (RequestOutcome::Granted, vec![TWO]));
        assert_eq!(locks.blockers(&Numbers, TWO), [], "3 may wait for 2 without a deadlock");
        assert_eq!(locks.answer(TWO), Some(Reason::Died));
    }

    #[test]
    fn who_passes_meets_older_writers_alone() {
        let mut locks = TreeLocks::default();
        assert_eq!(ask(&mut locks, TWO, RangeMode::Exclusive).0, RequestOutcome::Granted);
        assert_eq!(ask(&mut locks, ONE, RangeMode::Passing).0, RequestOutcome::Granted);
        assert!(matches!(
            ask(&mut locks, THREE, RangeMode::Passing).0,
            RequestOutcome::Conflict(_)
        ));
    }
}
