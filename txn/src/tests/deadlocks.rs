//! Searches for deadlocks, of many: queues of thousands, cycles through hundreds, and waits of all kinds by seed.
//!
//! No thread waits here: owners ask, stand in queues and look when the test says so, and every step is compared with the
//! waits-for graph, walked edge by edge.

use super::{FaultyDevice, environment};
use crate::introspect::blockers;
use crate::lock::deadlock::{Search, find};
use crate::lock::queue::{Kind, Request};
use crate::lock::{LockManager, RowLock};
use crate::owner::{OwnerId, Waiting};
use crate::record::NodeRef;
use crate::sync::lock;
use crate::{TreeId, TxnId};
use std::collections::{BTreeMap, BTreeSet};

/// Owners and rows.
struct Crowd {
    locks: LockManager,
    owners: Vec<OwnerId>,
    /// What each has, and for which row it waits, as numbers in `owners`.
    held: Vec<BTreeMap<u32, NodeRef>>,
    waits: BTreeMap<usize, (u32, NodeRef)>,
}

#[derive(Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// So many in the cycle.
    Cycle(usize),
}

impl Crowd {
    /// `sessions` of `places` owners each.
    fn new(sessions: usize, places: usize) -> Crowd {
        let locks = LockManager::new(environment(FaultyDevice::new(1), 4), 1024);
        let owners: Vec<_> = (0..sessions * places).map(|_| locks.owners.register()).collect();
        for (at, owner) in owners.iter().enumerate() {
            let session = (at / places) as u64 + 1;
            let place = locks.owners.get(*owner);
            place.start(TxnId(at as u64 + 1), (session as u32, session), 0);
        }
        let held = owners.iter().map(|_| BTreeMap::new()).collect();
        Crowd { locks, owners, held, waits: BTreeMap::new() }
    }

    /// Asks for a row; whether it was granted.
    fn ask(&mut self, who: usize, row: u32, mode: RowLock) -> bool {
        assert!(!self.waits.contains_key(&who));
        let owner = self.owners[who];
        let node = self.locks.records.pin(TreeId(1), &row.to_be_bytes());
        let mut granted = Vec::new();
        let outcome = {
            let mut state = node.state();
            let outcome = state.lock.request(Kind::Row, owner, mode as u8);
            if outcome == Request::Blocked {
                let mut grant = |owner| granted.push(owner);
                state.lock.enqueue(Kind::Row, owner, mode as u8, 0, &mut grant);
            }
            outcome
        };
        if outcome == Request::Blocked {
            *lock(&self.locks.owners.get(owner).waiting) = Some(Waiting::Row(node.unpinned()));
            self.waits.insert(who, (row, node));
            self.settle();
            return false;
        }
        self.keep(who, row, node);
        true
    }

    fn keep(&mut self, who: usize, row: u32, node: NodeRef) {
        if let Some(more) = self.held[who].insert(row, node) {
            self.locks.records.unpin(more);
        }
    }

    /// Those who have been granted what they wait for go on.
    fn settle(&mut self) {
        let granted: Vec<usize> = self
            .waits
            .iter()
            .filter(|(who, (_, node))| !node.state().lock.is_waiting(self.owners[**who]))
            .map(|(who, _)| *who)
            .collect();
        for who in granted {
            *lock(&self.locks.owners.get(self.owners[who]).waiting) = None;
            let (row, node) = self.waits.remove(&who).expect("it was found there");
            self.keep(who, row, node);
        }
    }

    /// Gives back all that one has.
    fn end(&mut self, who: usize) {
        for node in std::mem::take(&mut self.held[who]).into_values() {
            self.locks.unlock_row((self.owners[who], &[]), node, 0);
        }
        self.settle();
    }

    /// Looks for a cycle; one that is found costs the one who looks its wait and its session's locks.
    fn look(&mut self, who: usize, places: usize) -> Found {
        let owner = self.owners[who];
        let node = &self.waits[&who].1;
        let node = NodeRef::pinned(node, &mut node.state());
        let before = node.state().lock.held(owner);
        let found = find(&self.locks, owner, &mut || {
            node.state().lock.abandon(Kind::Row, owner, before, &mut |_| ());
        });
        self.locks.records.unpin(node);
        match found {
            Search::Unsure => panic!("nothing has changed between two looks"),
            Search::Nothing => {
                self.settle();
                Found::Nothing
            }
            Search::Cycle(edges) => {
                let (_, node) = self.waits.remove(&who).expect("it waits");
                self.locks.records.unpin(node);
                self.settle();
                let first = who / places * places;
                (first..first + places).for_each(|peer| self.end(peer));
                Found::Cycle(edges.len())
            }
        }
    }

    /// Whether a cycle goes through one, edge by edge.
    fn in_a_cycle(&self, who: usize) -> bool {
        let me = self.owners[who];
        let sessions = self.locks.owners.sessions();
        let (mut seen, mut next) = (BTreeSet::new(), vec![me]);
        let mut closes = false;
        while let Some(waiter) = next.pop() {
            blockers(&self.locks, waiter, &mut |blocker| {
                for peer in sessions.peers(blocker) {
                    closes |= peer == me;
                    if seen.insert(peer) {
                        next.push(peer);
                    }
                }
            });
        }
        closes
    }
}

#[test]
fn thousands_convert_and_each_but_one_finds_the_deadlock() {
    const OWNERS: usize = 1000;
    let mut crowd = Crowd::new(OWNERS, 1);
    (0..OWNERS).for_each(|who| assert!(crowd.ask(who, 7, RowLock::KeyShare)));
    (0..OWNERS).for_each(|who| assert!(!crowd.ask(who, 7, RowLock::Update)));
    for who in 0..OWNERS - 1 {
        assert_eq!(crowd.look(who, 1), Found::Cycle(2), "{who}");
    }
    assert!(crowd.waits.is_empty(), "the last one goes on");
}

#[test]
fn thousands_who_wait_for_one_find_nothing() {
    const OWNERS: usize = 1000;
    let mut crowd = Crowd::new(OWNERS, 1);
    (0..OWNERS).for_each(|who| assert!(crowd.ask(who, 7, RowLock::KeyShare)));
    assert!(crowd.ask(0, 7, RowLock::NoKeyUpdate));
    (1..OWNERS).for_each(|who| assert!(!crowd.ask(who, 7, RowLock::NoKeyUpdate)));
    for who in 1..OWNERS {
        assert_eq!(crowd.look(who, 1), Found::Nothing, "{who}");
    }
    for who in 0..OWNERS {
        assert_eq!(crowd.waits.len(), OWNERS - 1 - who);
        crowd.end(who);
    }
}

#[test]
fn a_ring_of_hundreds_is_found_once_and_so_is_each_of_many() {
    for (rings, length) in [(1, 800), (200, 4)] {
        let mut crowd = Crowd::new(rings * length, 1);
        let all = rings * length;
        (0..all).for_each(|who| assert!(crowd.ask(who, who as u32, RowLock::Update)));
        for who in 0..all {
            let next = who / length * length + (who + 1) % length;
            assert!(!crowd.ask(who, next as u32, RowLock::Update));
        }
        // In another order than that of the waits.
        let mut cycles = Vec::new();
        for who in (0..all).map(|turn| turn * 7 % all) {
            if crowd.waits.contains_key(&who)
                && let Found::Cycle(length) = crowd.look(who, 1)
            {
                cycles.push(length);
            }
        }
        assert_eq!(cycles, vec![length; rings]);
        while let Some(runs) =
            (0..all).find(|who| !crowd.waits.contains_key(who) && !crowd.held[*who].is_empty())
        {
            crowd.end(runs);
        }
        assert!(crowd.waits.is_empty());
    }
}

/// Waits begin, end and are looked into in any order, each once: what a search says is
/// what the graph says, and in the end nobody waits for ever.
#[test]
fn waits_of_all_kinds_end_by_seed() {
    for seed in 0..300_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut chance = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) as usize % below
        };
        let places = 1 + chance(2);
        let (sessions, rows) = (4 + chance(20), 1 + chance(8));
        let mut crowd = Crowd::new(sessions, places);
        let all = sessions * places;
        let mut to_look: Vec<usize> = Vec::new();
        for step in 0..400 {
            let who = chance(all);
            let ending = step > 300;
            let runs = !crowd.waits.contains_key(&who);
            // A session does one thing at a time.
            let first = who / places * places;
            let busy = (first..first + places).any(|peer| crowd.waits.contains_key(&peer));
            if runs && !busy && !ending && chance(4) > 0 {
                let modes =
                    [RowLock::KeyShare, RowLock::Share, RowLock::NoKeyUpdate, RowLock::Update];
                if !crowd.ask(who, chance(rows) as u32, modes[chance(4)]) {
                    to_look.push(who);
                }
            } else if runs && !busy {
                (first..first + places).for_each(|peer| crowd.end(peer));
            }
            to_look.retain(|who| crowd.waits.contains_key(who));
            if !to_look.is_empty() && (chance(3) == 0 || ending) {
                let who = to_look.swap_remove(chance(to_look.len()));
                let (waits, cycle) = (crowd.waits.len(), crowd.in_a_cycle(who));
                match crowd.look(who, places) {
                    Found::Cycle(_) => assert!(cycle, "seed {seed}: {who} is refused wrongly"),
                    Found::Nothing if cycle => {
                        assert!(crowd.waits.len() < waits, "seed {seed}: {who} is not told");
                    }
                    Found::Nothing => {}
                }
            }
        }
        for who in to_look {
            if crowd.waits.contains_key(&who) {
                crowd.look(who, places);
            }
        }
        loop {
            let idle = |session: &usize| {
                let peers = session * places..(session + 1) * places;
                let waits = peers.clone().any(|peer| crowd.waits.contains_key(&peer));
                !waits && peers.into_iter().any(|peer| !crowd.held[peer].is_empty())
            };
            let Some(session) = (0..sessions).find(idle) else { break };
            (session * places..(session + 1) * places).for_each(|peer| crowd.end(peer));
        }
        assert!(crowd.waits.is_empty(), "seed {seed}: {} wait for ever", crowd.waits.len());
    }
}
