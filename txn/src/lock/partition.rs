//! Locks on partitions: one transaction at a time in each, and of those who wait the oldest comes next.
//!
//! Papers: Kallman et al., *H-Store*, VLDB 2008; Yu et al., *Staring into the Abyss*, VLDB 2014, section 2.2 (H-STORE). Whoever waits
//! stands in the partition's queue by its age, and whoever leaves hands over to the first there.
//!
//! Invariants. (1) A partition that nobody is in has no queue. (2) Nobody is passed by a younger one that came later.

use super::{FirstSearch, LockManager, WaitPolicy};
use crate::owner::{OwnerId, Waiting};
use crate::sync::{Mutex, lock, rank};
use crate::wait::SessionWait;
use crate::{Error, Result};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use storage::WaitEvent;

/// Latches.
const SHARDS: usize = 64;
/// Partitions of a database at most.
pub const PARTITIONS_MAX: usize = 1024;

/// A partition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionId {
    /// Of this database.
    pub database: u32,
    /// Which one.
    pub number: u16,
}

/// Partitions of one database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PartitionSet([u64; PARTITIONS_MAX / 64]);

impl PartitionSet {
    /// The first `count`.
    pub fn first(count: usize) -> PartitionSet {
        let mut all = PartitionSet::default();
        (0..count).for_each(|number| all.insert(number as u16));
        all
    }

    /// Adds one.
    pub fn insert(&mut self, number: u16) {
        self.0[usize::from(number) / 64] |= 1 << (number % 64);
    }

    /// Whether it is among them.
    #[must_use]
    pub fn contains(&self, number: u16) -> bool {
        self.0[usize::from(number) / 64] >> (number % 64) & 1 == 1
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Those of either.
    pub fn with(mut self, other: &PartitionSet) -> PartitionSet {
        self.0.iter_mut().zip(other.0).for_each(|(word, more)| *word |= more);
        self
    }

    /// Those that `other` has not.
    pub fn without(mut self, other: &PartitionSet) -> PartitionSet {
        self.0.iter_mut().zip(other.0).for_each(|(word, less)| *word &= !less);
        self
    }

    /// Their numbers, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u16> {
        let words = self.0.into_iter().enumerate().filter(|(_, word)| *word != 0);
        words.flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| (at * 64 + bit) as u16)
        })
    }

    /// The highest.
    pub fn last(&self) -> Option<u16> {
        let (at, word) = self.0.iter().enumerate().rev().find(|(_, word)| **word != 0)?;
        Some((at * 64) as u16 + 63 - word.leading_zeros() as u16)
    }
}

/// One that somebody is in.
#[derive(Debug)]
struct Partition {
    holder: OwnerId,
    /// Who waits, by age.
    queue: BTreeMap<u64, OwnerId>,
}

/// All of them, of all databases.
#[derive(Debug)]
pub struct PartitionLocks {
    shards: Box<[Mutex<HashMap<PartitionId, Partition>, { rank::PARTITIONS }>]>,
}

impl Default for PartitionLocks {
    fn default() -> Self {
        PartitionLocks { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }
}

impl PartitionLocks {
    fn with<T>(
        &self,
        partition: PartitionId,
        change: impl FnOnce(Entry<'_, PartitionId, Partition>) -> T,
    ) -> T {
        let mut shard = lock(&self.shards[usize::from(partition.number) % SHARDS]);
        change(shard.entry(partition))
    }

    /// Who is in a partition.
    pub fn holder(&self, partition: PartitionId) -> Option<OwnerId> {
        lock(&self.shards[usize::from(partition.number) % SHARDS])
            .get(&partition)
            .map(|one| one.holder)
    }

    /// Who waits for a partition, in order.
    pub fn queue(&self, partition: PartitionId) -> Vec<OwnerId> {
        let shard = lock(&self.shards[usize::from(partition.number) % SHARDS]);
        shard.get(&partition).map(|one| one.queue.values().copied().collect()).unwrap_or_default()
    }

    /// Enters a partition that nobody is in. Otherwise `age` says where to stand in its queue, if anywhere.
    pub fn enter(&self, partition: PartitionId, owner: OwnerId, age: Option<u64>) -> bool {
        self.with(partition, |entry| match entry {
            Entry::Vacant(free) => {
                free.insert(Partition { holder: owner, queue: BTreeMap::new() });
                true
            }
            Entry::Occupied(mut taken) => {
                if let Some(age) = age {
                    taken.get_mut().queue.insert(age, owner);
                }
                false
            }
        })
    }

    /// Leaves a partition, or its queue; who is in it because of that.
    pub fn leave(&self, partition: PartitionId, owner: OwnerId) -> Option<OwnerId> {
        self.with(partition, |entry| {
            let Entry::Occupied(mut taken) = entry else { return None };
            let Partition { holder, queue } = taken.get_mut();
            if *holder != owner {
                queue.retain(|_, waiter| *waiter != owner);
                return None;
            }
            match queue.pop_first() {
                Some((_, next)) => {
                    *holder = next;
                    Some(next)
                }
                None => {
                    taken.remove();
                    None
                }
            }
        })
    }

    /// Whether an owner is in any, or waits for it.
    pub fn knows(&self, owner: OwnerId) -> bool {
        self.shards.iter().any(|shard| {
            lock(shard)
                .values()
                .any(|one| one.holder == owner || one.queue.values().any(|waiter| *waiter == owner))
        })
    }

    /// Shows who is in each, and who waits.
    pub fn for_each(&self, see: &mut dyn FnMut(PartitionId, OwnerId, bool)) {
        for shard in &self.shards {
            for (partition, one) in lock(shard).iter() {
                see(*partition, one.holder, true);
                one.queue.values().for_each(|waiter| see(*partition, *waiter, false));
            }
        }
    }
}

impl LockManager {
    /// Enters a partition that `owner` is not in; false if somebody else is and [`WaitPolicy::Skip`] does not wait for that.
    ///
    /// # Errors
    /// [`Error::Deadlock`], [`Error::LockNotAvailable`], [`Error::Cancelled`].
    pub fn enter_partition(
        &self,
        owner: OwnerId,
        session: &SessionWait,
        partition: PartitionId,
        policy: WaitPolicy,
    ) -> Result<bool> {
        let age = (policy == WaitPolicy::Block).then(|| self.owners.get(owner).age());
        if self.partitions.enter(partition, owner, age) {
            return Ok(true);
        }
        match policy {
            WaitPolicy::Block => {}
            WaitPolicy::Error => return Err(Error::LockNotAvailable { timeout: false }),
            WaitPolicy::Skip => return Ok(false),
        }
        let granted = || self.partitions.holder(partition) == Some(owner);
        let cancel = |wake: &mut dyn FnMut(OwnerId)| {
            self.partitions.leave(partition, owner).into_iter().for_each(wake);
        };
        let waiting = (Waiting::Partition(partition), FirstSearch::AfterTimeout);
        self.wait(owner, session, WaitEvent::Partition, waiting, &granted, &cancel)?;
        Ok(true)
    }

    /// Leaves all partitions that an owner is in.
    pub fn leave_partitions(&self, owner: OwnerId, database: u32, held: &PartitionSet) {
        for number in held.iter() {
            let next = self.partitions.leave(PartitionId { database, number }, owner);
            self.wake(next.as_slice());
        }
        debug_assert!(!self.partitions.knows(owner), "a partition is not left");
    }
}
