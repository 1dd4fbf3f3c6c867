//! The queue of one lock: who holds it in which modes, who waits, and who is granted next.
//!
//! Paper: Gray and Reuter, *Transaction Processing*, 1993, section 8.4 (lock heads with grant in order). Rows and
//! tables differ in one point, as in PostgreSQL. A *table* request waits behind a waiter it excludes, unless it holds a
//! lock there that the waiter waits for. A *row* request that no holder excludes is granted at once: PostgreSQL
//! queues only those that found the row locked.
//!
//! Pure data: no latch, no waking. Whoever changes a queue is told who has been granted, and wakes them.
//!
//! Invariants. (1) Holders never exclude each other. (2) An owner waits at most once. (3) Every waiter waits for a
//! holder other than itself, through those it stands behind if not directly: that is what the search for deadlocks asks
//! for, so no wait within one queue can go unseen. For its sake a request of somebody who holds already stands before
//! those who wait for that, and passes those who have come to stand before it and do.

use super::mode::{Conflicts, Modes, ROW_CONFLICTS, TABLE_CONFLICTS};
use crate::owner::OwnerId;
use std::collections::VecDeque;

/// What the queue is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A row.
    Row,
    /// A table.
    Table,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Granted; the owner held these modes before.
    Granted(Modes),
    /// Somebody is in the way.
    Blocked,
}

/// One who holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Who.
    pub owner: OwnerId,
    /// In which modes.
    pub modes: Modes,
}

/// One who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Who.
    pub owner: OwnerId,
    /// For which mode.
    pub mode: u8,
    /// What it holds of the lock meanwhile.
    pub held: Modes,
    /// When the wait began, in microseconds since 2000-01-01 UTC.
    pub since: i64,
}

/// One lock's holders and waiters. The first holder stands inline: an uncontended lock allocates nothing.
#[derive(Debug, Default)]
pub struct LockQueue {
    first: Option<Holder>,
    crowd: Option<Box<Crowd>>,
}

/// Whom a lock has beside its first holder.
#[derive(Debug, Default)]
struct Crowd {
    more: Vec<Holder>,
    waiters: VecDeque<Waiter>,
}

/// What a lock without a crowd has of one.
const NOBODY: &Crowd = &Crowd { more: Vec::new(), waiters: VecDeque::new() };

/// The waiters from the queue's start on, as one sees them who holds `held`.
#[derive(Clone, Copy, Debug)]
struct Behind {
    held: Modes,
    /// What is held, and the modes of those who cannot go on before it is let go: excluded by it, or standing behind somebody
    /// who is.
    stuck: Modes,
    /// The modes of the others.
    free: Modes,
}

impl Behind {
    fn new(held: Modes) -> Behind {
        Behind { held, stuck: held, free: 0 }
    }

    /// Passes over the next waiter; whether it is stuck.
    fn passes_over(&mut self, kind: Kind, mode: u8) -> bool {
        let stuck = self.held != 0 && kind.conflicts()[usize::from(mode)] & self.stuck != 0;
        if stuck {
            self.stuck |= 1 << mode;
        } else {
            self.free |= 1 << mode;
        }
        stuck
    }
}

impl Kind {
    fn conflicts(self) -> &'static Conflicts {
        match self {
            Kind::Row => &ROW_CONFLICTS,
            Kind::Table => &TABLE_CONFLICTS,
        }
    }
}

impl LockQueue {
    /// One that somebody holds, and nobody waits for.
    #[inline]
    #[must_use]
    pub fn held_by(owner: OwnerId, modes: Modes) -> LockQueue {
        LockQueue { first: Some(Holder { owner, modes }), crowd: None }
    }

    #[inline]
    fn more(&self) -> &[Holder] {
        &self.crowd.as_deref().unwrap_or(NOBODY).more
    }

    #[inline]
    fn queued(&self) -> &VecDeque<Waiter> {
        &self.crowd.as_deref().unwrap_or(NOBODY).waiters
    }

    fn crowd_mut(&mut self) -> &mut Crowd {
        self.crowd.get_or_insert_default()
    }

    /// Whether nobody holds and nobody waits.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.first.is_none() && self.more().is_empty() && self.queued().is_empty()
    }

    /// Who holds.
    pub fn holders(&self) -> impl Iterator<Item = Holder> {
        self.first.iter().chain(self.more()).copied()
    }

    /// Who waits, in order.
    pub fn waiters(&self) -> impl Iterator<Item = Waiter> {
        self.queued().iter().copied()
    }

    /// The modes `owner` holds.
    #[must_use]
    pub fn held(&self, owner: OwnerId) -> Modes {
        if self.first.is_none() && self.more().is_empty() {
            return 0;
        }
        self.holders().find(|holder| holder.owner == owner).map_or(0, |holder| holder.modes)
    }

    /// Whether `owner` waits.
    #[must_use]
    pub fn is_waiting(&self, owner: OwnerId) -> bool {
        self.queued().iter().any(|waiter| waiter.owner == owner)
    }

    /// Grants `mode` to `owner` if nobody is in the way.
    pub fn request(&mut self, kind: Kind, owner: OwnerId, mode: u8) -> Request {
        if self.is_idle() {
            self.first = Some(Holder { owner, modes: 1 << mode });
            return Request::Granted(0);
        }
        let held = self.held(owner);
        let conflicts = kind.conflicts()[usize::from(mode)];
        if !self.compatible(owner, conflicts) {
            return Request::Blocked;
        }
        if kind == Kind::Table {
            let place = self.place(kind, held);
            let mut ahead = self.queued().iter().take(place);
            if ahead.any(|waiter| conflicts & (1 << waiter.mode) != 0) {
                return Request::Blocked;
            }
        }
        self.grant(owner, mode);
        Request::Granted(held)
    }

    /// Adds modes without a look at anybody: intention locks on their way from their owner's own list, which were
    /// granted there.
    pub fn adopt(&mut self, owner: OwnerId, modes: Modes) {
        self.set(owner, self.held(owner) | modes);
    }

    /// Lets `owner` wait for `mode`, which was found blocked. Where it holds already, those who now stand behind it may
    /// wait for each other with it: then they go on, and `granted` is told each.
    pub fn enqueue(
        &mut self,
        kind: Kind,
        owner: OwnerId,
        mode: u8,
        since: i64,
        granted: &mut dyn FnMut(OwnerId),
    ) {
        debug_assert!(!self.is_waiting(owner), "an owner waits at most once");
        let held = self.held(owner);
        let place = self.place(kind, held);
        self.crowd_mut().waiters.insert(place, Waiter { owner, mode, held, since });
        if held != 0 {
            self.grant_waiters(kind, granted);
        }
    }

    /// Whether `owner`, which waits, and the first of those that wait for what it holds want each other's: neither ever goes on.
    #[must_use]
    pub fn is_mutual(&self, kind: Kind, owner: OwnerId) -> bool {
        let Some(place) = self.queued().iter().position(|waiter| waiter.owner == owner) else {
            return false;
        };
        let (own, Some(next)) = (self.queued()[place], self.queued().get(place + 1)) else {
            return false;
        };
        let conflicts = kind.conflicts();
        let excludes = |mode: u8, held| conflicts[usize::from(mode)] & held != 0;
        excludes(next.mode, own.held) && excludes(own.mode, next.held)
    }

    /// Grants what `owner` waits for if no holder excludes it, so that it only stands behind others who wait; false if not.
    pub fn pass(&mut self, kind: Kind, owner: OwnerId) -> bool {
        let Some(place) = self.queued().iter().position(|waiter| waiter.owner == owner) else {
            return false;
        };
        let mode = self.queued()[place].mode;
        if !self.compatible(owner, kind.conflicts()[usize::from(mode)]) {
            return false;
        }
        self.crowd_mut().waiters.remove(place);
        self.grant(owner, mode);
        true
    }

    /// Where a request of somebody who holds `held` belongs: before the first waiter that `held` excludes.
    fn place(&self, kind: Kind, held: Modes) -> usize {
        let blocked = |waiter: &Waiter| kind.conflicts()[usize::from(waiter.mode)] & held != 0;
        self.queued().iter().position(blocked).unwrap_or(self.queued().len())
    }

    /// Leaves `owner` with `modes` (0: none), and grants what that lets through. `granted` is told each.
    pub fn release(
        &mut self,
        kind: Kind,
        owner: OwnerId,
        modes: Modes,
        granted: &mut dyn FnMut(OwnerId),
    ) {
        let is_alone = self.crowd.is_none();
        if is_alone && modes == 0 && self.first.is_some_and(|first| first.owner == owner) {
            self.first = None;
            return;
        }
        self.set(owner, modes);
        if !self.queued().is_empty() {
            self.grant_waiters(kind, granted);
        }
    }

    /// Ends `owner`'s wait without a lock; false if it has been granted already. `granted` is told who goes on.
    pub fn cancel(&mut self, kind: Kind, owner: OwnerId, granted: &mut dyn FnMut(OwnerId)) -> bool {
        let Some(place) = self.queued().iter().position(|waiter| waiter.owner == owner) else {
            return false;
        };
        self.crowd_mut().waiters.remove(place);
        self.grant_waiters(kind, granted);
        true
    }

    /// Leaves `owner`, whose wait has ended without the lock, with the `modes` it held before: granted in the last
    /// moment, the lock goes on to whoever is next. `granted` is told who goes on.
    pub fn abandon(
        &mut self,
        kind: Kind,
        owner: OwnerId,
        modes: Modes,
        granted: &mut dyn FnMut(OwnerId),
    ) {
        if !self.cancel(kind, owner, granted) {
            self.release(kind, owner, modes, granted);
        }
    }

    /// Whom `owner` waits for: holders that exclude it, or one that it stands behind. Nobody if it does not wait.
    pub fn blockers(&self, kind: Kind, owner: OwnerId, blocker: &mut dyn FnMut(OwnerId)) {
        let found = self.excluded(kind).into_iter().find(|(waiter, _)| *waiter == owner);
        let Some((_, modes)) = found else { return };
        let others = self.holders().filter(|holder| holder.owner != owner);
        others.filter(|holder| holder.modes & modes != 0).for_each(|holder| blocker(holder.owner));
    }

    /// Of each who waits the modes in which others must hold nothing for it to go on: those that exclude it, or one that it
    /// stands behind. It stands behind those before it that it excludes, and so on; not behind who waits for itself. Linear
    /// in the queue's length.
    #[must_use]
    pub fn excluded(&self, kind: Kind) -> Vec<(OwnerId, Modes)> {
        // As each set of modes that somebody holds who waits sees the queue; there are few different ones.
        let mut views: Vec<(Behind, [Modes; Modes::BITS as usize])> = Vec::new();
        for waiter in self.queued() {
            if views.iter().all(|(behind, _)| behind.held != waiter.held) {
                views.push((Behind::new(waiter.held), [0; Modes::BITS as usize]));
            }
        }
        let mut all = Vec::with_capacity(self.queued().len());
        for waiter in self.queued() {
            let mode = usize::from(waiter.mode);
            let excludes = kind.conflicts()[mode];
            for (behind, passed) in &mut views {
                let ahead = (0..passed.len()).filter(|other| excludes >> other & 1 == 1);
                let modes = ahead.fold(excludes, |modes, other| modes | passed[other]);
                if behind.held == waiter.held {
                    all.push((waiter.owner, modes));
                }
                if !behind.passes_over(kind, waiter.mode) {
                    passed[mode] |= modes;
                }
            }
        }
        all
    }

    /// Who is said to be in the way of `owner`, which waits (`pg_blocking_pids`): holders that exclude it, and those before
    /// it that wait for what excludes it. Of those who wait for a row only the first waits for its holders, as in PostgreSQL,
    /// where that one has the row's own lock meanwhile.
    pub fn in_the_way(&self, kind: Kind, owner: OwnerId, blocker: &mut dyn FnMut(OwnerId)) {
        let Some(place) = self.queued().iter().position(|waiter| waiter.owner == owner) else {
            return;
        };
        let conflicts = kind.conflicts()[usize::from(self.queued()[place].mode)];
        let before = self.queued().iter().take(place);
        let mut ahead = before.filter(|waiter| conflicts & (1 << waiter.mode) != 0).peekable();
        let excludes = |owner| self.held(owner) & conflicts != 0;
        if kind == Kind::Table || ahead.peek().is_none() {
            let others = self.holders().filter(|holder| holder.owner != owner);
            others.filter(|holder| excludes(holder.owner)).for_each(|holder| blocker(holder.owner));
        }
        for waiter in ahead.filter(|waiter| kind == Kind::Row || !excludes(waiter.owner)) {
            blocker(waiter.owner);
        }
    }

    /// The holders that exclude `owner` from a mode.
    pub fn in_its_way(
        &self,
        kind: Kind,
        owner: OwnerId,
        mode: u8,
    ) -> impl Iterator<Item = OwnerId> {
        let conflicts = kind.conflicts()[usize::from(mode)];
        let excludes =
            move |holder: &Holder| holder.owner != owner && holder.modes & conflicts != 0;
        self.holders().filter(excludes).map(|holder| holder.owner)
    }

    fn compatible(&self, owner: OwnerId, conflicts: Modes) -> bool {
        self.holders().all(|holder| holder.owner == owner || holder.modes & conflicts == 0)
    }

    fn grant(&mut self, owner: OwnerId, mode: u8) {
        self.set(owner, self.held(owner) | 1 << mode);
    }

    /// Grants, in order, whoever no holder excludes, and nobody who still waits before it: unless that one cannot go on
    /// before this one lets go of what it holds, when the two would wait for each other. Linear in the queue's length.
    fn grant_waiters(&mut self, kind: Kind, granted: &mut dyn FnMut(OwnerId)) {
        let mut place = 0;
        // How many hold each mode.
        let mut counts = [0_u32; Modes::BITS as usize];
        let bits =
            |modes: Modes| (0..Modes::BITS as usize).filter(move |bit| modes >> bit & 1 == 1);
        self.holders().flat_map(|holder| bits(holder.modes)).for_each(|bit| counts[bit] += 1);
        // The modes of those passed over, and what follows from them for those who wait and hold: there are few different
        // sets of modes.
        let mut ahead: Modes = 0;
        let mut behind: Vec<Behind> = Vec::new();
        for waiter in self.queued().iter().filter(|waiter| waiter.held != 0) {
            if behind.iter().all(|other| other.held != waiter.held) {
                behind.push(Behind::new(waiter.held));
            }
        }
        while let Some(waiter) = self.queued().get(place).copied() {
            let conflicts = kind.conflicts()[usize::from(waiter.mode)];
            let own = behind.iter().find(|behind| behind.held == waiter.held);
            let free = own.map_or(ahead, |behind| behind.free);
            let held_by_others = |bit: usize| counts[bit] > u32::from(waiter.held >> bit & 1);
            if conflicts & free == 0 && !bits(conflicts).any(held_by_others) {
                self.crowd_mut().waiters.remove(place);
                self.grant(waiter.owner, waiter.mode);
                counts[usize::from(waiter.mode)] += u32::from(waiter.held >> waiter.mode & 1 == 0);
                granted(waiter.owner);
                continue;
            }
            ahead |= 1 << waiter.mode;
            for behind in &mut behind {
                behind.passes_over(kind, waiter.mode);
            }
            if behind.is_empty() && kind.conflicts().iter().all(|row| *row == 0 || row & ahead != 0)
            {
                break;
            }
            place += 1;
        }
        if self.more().is_empty() && self.queued().is_empty() {
            self.crowd = None;
        }
    }

    fn set(&mut self, owner: OwnerId, modes: Modes) {
        if let Some(crowd) = &mut self.crowd
            && let Some(waiter) = crowd.waiters.iter_mut().find(|waiter| waiter.owner == owner)
        {
            waiter.held = modes;
        }
        if let Some(first) = &mut self.first
            && first.owner == owner
        {
            first.modes = modes;
            if modes == 0 {
                self.first = self.crowd.as_mut().and_then(|crowd| crowd.more.pop());
            }
            return;
        }
        match self.more().iter().position(|holder| holder.owner == owner) {
            Some(place) if modes == 0 => {
                self.crowd_mut().more.swap_remove(place);
            }
            Some(place) => self.crowd_mut().more[place].modes = modes,
            None if modes == 0 => {}
            None if self.first.is_none() => self.first = Some(Holder { owner, modes }),
            None => self.crowd_mut().more.push(Holder { owner, modes }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mode::{RowLock, TableLock};
    use super::*;
    use proptest::prelude::*;

    fn owners(queue: &LockQueue) -> Vec<u32> {
        let mut all: Vec<_> = queue.holders().map(|holder| holder.owner.0).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn a_foreign_key_reads_beside_an_update_of_other_columns() {
        let mut queue = LockQueue::default();
        let (update, share) = (RowLock::NoKeyUpdate as u8, RowLock::KeyShare as u8);
        assert_eq!(queue.request(Kind::Row, OwnerId(1), update), Request::Granted(0));
        assert_eq!(queue.request(Kind::Row, OwnerId(2), share), Request::Granted(0));
        assert_eq!(queue.request(Kind::Row, OwnerId(3), update), Request::Blocked);
        queue.enqueue(Kind::Row, OwnerId(3), RowLock::Update as u8, 0, &mut |_| ());
        // It excludes nobody who holds, so it does not stand behind who waits.
        assert_eq!(queue.request(Kind::Row, OwnerId(4), share), Request::Granted(0));
        let mut blockers = Vec::new();
        queue.blockers(Kind::Row, OwnerId(3), &mut |owner| blockers.push(owner.0));
        assert_eq!(blockers, [1, 2, 4]);
    }

    #[test]
    fn a_table_request_waits_behind_a_waiter_it_excludes_unless_it_holds_there() {
        let mut queue = LockQueue::default();
        let (read, write) = (TableLock::AccessShare as u8, TableLock::AccessExclusive as u8);
        assert_eq!(queue.request(Kind::Table, OwnerId(1), read), Request::Granted(0));
        assert_eq!(queue.request(Kind::Table, OwnerId(2), write), Request::Blocked);
        queue.enqueue(Kind::Table, OwnerId(2), write, 0, &mut |_| ());
        assert_eq!(queue.request(Kind::Table, OwnerId(3), read), Request::Blocked);
        let more = TableLock::RowShare as u8;
        assert_eq!(queue.request(Kind::Table, OwnerId(1), more), Request::Granted(1));
    }

    #[test]
    fn who_holds_converts_before_those_who_do_not() {
        let mut queue = LockQueue::default();
        let (share, update) = (RowLock::Share as u8, RowLock::Update as u8);
        queue.request(Kind::Row, OwnerId(1), share);
        queue.request(Kind::Row, OwnerId(2), share);
        queue.enqueue(Kind::Row, OwnerId(3), update, 0, &mut |_| ());
        queue.enqueue(Kind::Row, OwnerId(1), update, 0, &mut |_| ());
        let mut granted = Vec::new();
        queue.release(Kind::Row, OwnerId(2), 0, &mut |owner| granted.push(owner.0));
        assert_eq!(granted, [1]);
        queue.release(Kind::Row, OwnerId(1), 0, &mut |owner| granted.push(owner.0));
        assert_eq!(granted, [1, 3]);
        assert_eq!(owners(&queue), [3]);
    }

    /// An upgrade came to stand behind somebody who waits for what its owner holds already: found by the steps below.
    #[test]
    fn who_holds_passes_those_who_wait_for_it() {
        let mut queue = LockQueue::default();
        let mode = |mode: TableLock| mode as u8;
        let mut ask = |owner, wanted| {
            let outcome = queue.request(Kind::Table, OwnerId(owner), mode(wanted));
            if outcome == Request::Blocked {
                queue.enqueue(Kind::Table, OwnerId(owner), mode(wanted), 0, &mut |_| ());
            }
            outcome != Request::Blocked
        };
        assert!(ask(6, TableLock::ShareUpdateExclusive));
        assert!(ask(7, TableLock::RowShare) && ask(0, TableLock::AccessShare));
        assert!(!ask(6, TableLock::Exclusive) && !ask(7, TableLock::AccessExclusive));
        assert!(!ask(0, TableLock::ShareUpdateExclusive));
        let mut granted = Vec::new();
        assert!(queue.cancel(Kind::Table, OwnerId(7), &mut |owner| granted.push(owner.0)));
        queue.release(Kind::Table, OwnerId(7), 0, &mut |owner| granted.push(owner.0));
        assert_eq!(granted, [6], "the one it stands behind waits for it");
        queue.release(Kind::Table, OwnerId(6), 0, &mut |owner| granted.push(owner.0));
        assert_eq!(granted, [6, 0]);
    }

    #[test]
    fn who_only_stands_behind_others_may_pass_them() {
        let mut queue = LockQueue::default();
        let (read, write) = (TableLock::AccessShare as u8, TableLock::AccessExclusive as u8);
        queue.request(Kind::Table, OwnerId(1), read);
        for (owner, mode) in [(2, write), (3, read), (4, write)] {
            assert_eq!(queue.request(Kind::Table, OwnerId(owner), mode), Request::Blocked);
            queue.enqueue(Kind::Table, OwnerId(owner), mode, 0, &mut |_| ());
        }
        let passed = [1, 2, 3, 4].map(|owner| queue.pass(Kind::Table, OwnerId(owner)));
        assert_eq!(passed, [false, false, true, false]);
        assert_eq!(owners(&queue), [1, 3]);
    }

    #[test]
    fn who_waits_before_another_is_in_its_way() {
        let in_the_way = |kind, modes: [u8; 3]| {
            let mut queue = LockQueue::default();
            assert_eq!(queue.request(kind, OwnerId(1), modes[0]), Request::Granted(0));
            queue.enqueue(kind, OwnerId(2), modes[1], 0, &mut |_| ());
            queue.enqueue(kind, OwnerId(3), modes[2], 0, &mut |_| ());
            let mut found = Vec::new();
            queue.in_the_way(kind, OwnerId(3), &mut |owner| found.push(owner.0));
            found
        };
        let (share, write) = (TableLock::Share as u8, TableLock::Exclusive as u8);
        assert_eq!(in_the_way(Kind::Table, [share, write, share]), [2]);
        assert_eq!(in_the_way(Kind::Table, [write, share, share]), [1]);
        assert_eq!(in_the_way(Kind::Table, [write, share, write]), [1, 2]);
        let (share, update) = (RowLock::Share as u8, RowLock::Update as u8);
        assert_eq!(in_the_way(Kind::Row, [update, update, update]), [2]);
        assert_eq!(in_the_way(Kind::Row, [update, share, share]), [1]);
    }

    /// A thousand who have a parent KEY SHARE and want to change its key, and go on or give up one after the other.
    #[test]
    fn a_thousand_conversions_are_granted_in_time() {
        const OWNERS: u32 = 3000;
        let (share, update) = (RowLock::KeyShare as u8, RowLock::Update as u8);
        let mut queue = LockQueue::default();
        for owner in 0..OWNERS {
            assert_eq!(queue.request(Kind::Row, OwnerId(owner), share), Request::Granted(0));
        }
        for owner in 1..OWNERS {
            assert_eq!(queue.request(Kind::Row, OwnerId(owner), update), Request::Blocked);
            queue.enqueue(Kind::Row, OwnerId(owner), update, 0, &mut |_| unreachable!());
        }
        let mut blockers = 0;
        queue.blockers(Kind::Row, OwnerId(OWNERS - 1), &mut |_| blockers += 1);
        assert_eq!(blockers, OWNERS - 1);
        let mut granted = Vec::new();
        for owner in 0..OWNERS - 1 {
            queue.abandon(Kind::Row, OwnerId(owner), 0, &mut |owner| granted.push(owner.0));
            queue.release(Kind::Row, OwnerId(owner), 0, &mut |owner| granted.push(owner.0));
        }
        assert_eq!(granted, [OWNERS - 1]);
    }

    /// [`LockQueue::excluded`] of one waiter, walked back from it.
    fn walked_back(queue: &LockQueue, kind: Kind, place: usize) -> Modes {
        let mut behind = Behind::new(queue.queued()[place].held);
        let ahead = queue.queued().iter().take(place + 1);
        let stuck: Vec<bool> = ahead.map(|waiter| behind.passes_over(kind, waiter.mode)).collect();
        let (mut chain, mut conflicts) = (0, 0);
        for (at, waiter) in queue.queued().iter().enumerate().take(place + 1).rev() {
            let excludes = kind.conflicts()[usize::from(waiter.mode)];
            if at == place || (excludes & chain != 0 && !stuck[at]) {
                chain |= 1 << waiter.mode;
                conflicts |= excludes;
            }
        }
        conflicts
    }

    #[derive(Clone, Debug)]
    enum Step {
        Request(u32, u8),
        Release(u32),
        Cancel(u32),
    }

    fn steps(modes: u8) -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0..8u32, 0..modes).prop_map(|(owner, mode)| Step::Request(owner, mode)),
            3 => (0..8u32).prop_map(Step::Release),
            1 => (0..8u32).prop_map(Step::Cancel),
        ];
        proptest::collection::vec(step, 0..80)
    }

    fn run(kind: Kind, steps: Vec<Step>) -> Result<(), TestCaseError> {
        let mut queue = LockQueue::default();
        let mut waiting = std::collections::BTreeMap::new();
        for step in steps {
            let mut granted = Vec::new();
            match step {
                Step::Request(owner, mode)
                    if !waiting.contains_key(&owner)
                        && queue.request(kind, OwnerId(owner), mode) == Request::Blocked =>
                {
                    waiting.insert(owner, mode);
                    let mut grant = |owner: OwnerId| granted.push(owner.0);
                    queue.enqueue(kind, OwnerId(owner), mode, 0, &mut grant);
                }
                Step::Release(owner) if !waiting.contains_key(&owner) => {
                    queue.release(kind, OwnerId(owner), 0, &mut |owner| granted.push(owner.0));
                }
                Step::Cancel(owner) => {
                    let cancelled =
                        queue.cancel(kind, OwnerId(owner), &mut |owner| granted.push(owner.0));
                    prop_assert_eq!(cancelled, waiting.remove(&owner).is_some());
                }
                _ => {}
            }
            for owner in granted {
                let mode = waiting.remove(&owner).expect("only waiters are granted");
                prop_assert!(queue.held(OwnerId(owner)) & (1 << mode) != 0);
            }
            let holders: Vec<_> = queue.holders().collect();
            for a in &holders {
                for b in holders.iter().filter(|b| b.owner != a.owner) {
                    for mode in 0..8 {
                        let excludes = kind.conflicts()[mode] & b.modes != 0;
                        prop_assert!(a.modes & (1 << mode) == 0 || !excludes, "{:?} {:?}", a, b);
                    }
                }
            }
            let excluded = queue.excluded(kind);
            let owners = queue.waiters().map(|waiter| waiter.owner);
            prop_assert!(excluded.iter().map(|(owner, _)| *owner).eq(owners));
            for (place, (_, modes)) in excluded.iter().enumerate() {
                prop_assert_eq!(*modes, walked_back(&queue, kind, place));
            }
            // Nobody is forgotten: every waiter has a blocker of its own or stands behind one.
            for waiter in queue.waiters() {
                prop_assert_eq!(waiting.get(&waiter.owner.0), Some(&waiter.mode));
                let mut blockers = 0;
                queue.blockers(kind, waiter.owner, &mut |_| blockers += 1);
                prop_assert!(blockers > 0, "{:?} waits for nobody", waiter);
            }
            prop_assert_eq!(queue.waiters().count(), waiting.len());
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn row_queues_exclude_and_forget_nobody(steps in steps(4)) {
            run(Kind::Row, steps)?;
        }

        #[test]
        fn table_queues_exclude_and_forget_nobody(steps in steps(8)) {
            run(Kind::Table, steps)?;
        }
    }
}
