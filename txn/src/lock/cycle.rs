//! A search through who waits for whom: breadth first, so that a cycle that it finds is a shortest one.
//!
//! Of whom one waits is asked elsewhere: of the queues (`lock/deadlock.rs`), or of a simulation's (`bench -- abyss`).

use crate::owner::OwnerId;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

/// Whom a search has reached from the one that it began with.
#[derive(Debug)]
pub struct Reached {
    first: OwnerId,
    from: HashMap<OwnerId, OwnerId>,
    next: VecDeque<OwnerId>,
}

impl Reached {
    /// Nobody but the one whose cycle is looked for.
    #[must_use]
    pub fn from(first: OwnerId) -> Reached {
        Reached { first, from: HashMap::new(), next: VecDeque::from([first]) }
    }

    /// The next of whom it is to be asked for whom it waits.
    pub fn take_next(&mut self) -> Option<OwnerId> {
        self.next.pop_front()
    }

    /// Whether one has been reached before.
    #[must_use]
    pub fn knows(&self, owner: OwnerId) -> bool {
        self.from.contains_key(&owner)
    }

    /// Reaches one whom `waiter` waits for; whether that closes the cycle.
    pub fn reach(&mut self, waiter: OwnerId, blocker: OwnerId) -> bool {
        if blocker == self.first {
            return true;
        }
        if let Entry::Vacant(unseen) = self.from.entry(blocker) {
            unseen.insert(waiter);
            self.next.push_back(blocker);
        }
        false
    }

    /// The way to `last`, each waiting for the next.
    #[must_use]
    pub fn path(&self, last: OwnerId) -> Vec<OwnerId> {
        let back = std::iter::successors(Some(last), |at| self.from.get(at).copied());
        let mut path: Vec<_> = back.collect();
        path.reverse();
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cycle(edges: &[(u32, u32)]) -> Option<Vec<u32>> {
        let mut reached = Reached::from(OwnerId(0));
        while let Some(waiter) = reached.take_next() {
            let mut closes = false;
            for (_, blocker) in edges.iter().filter(|(from, _)| *from == waiter.0) {
                closes |= reached.reach(waiter, OwnerId(*blocker));
            }
            if closes {
                return Some(reached.path(waiter).into_iter().map(|owner| owner.0).collect());
            }
        }
        None
    }

    #[test]
    fn the_shortest_cycle_through_the_first_is_found_and_no_other() {
        assert_eq!(cycle(&[(0, 1), (1, 2), (2, 3), (3, 0), (2, 0)]), Some(vec![0, 1, 2]));
        assert_eq!(cycle(&[(0, 1), (1, 2), (2, 1)]), None, "it is not in this one");
        assert_eq!(cycle(&[]), None);
    }
}
