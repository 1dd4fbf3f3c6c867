//! A transaction under `hstore`: which partitions it enters, before it reads or writes, and what it learns where it may not.
//!
//! The scheme and its invariants: `scheme/hstore/mod.rs`. The tree that the layer above keeps its own objects in, for all databases,
//! is in no partition (`Options::unwatched`): row locks stand there as under every scheme.

use super::Transaction;
use crate::lock::WaitPolicy;
use crate::lock::partition::{PARTITIONS_MAX, PartitionId, PartitionSet};
use crate::manager::Manager;
use crate::planted::Fault;
use crate::scheme::Tracking;
use crate::scheme::hstore::Partitioned;
use crate::scheme::hstore::placement::Placement;
use crate::scheme::occ::Bounds;
use crate::sync::lock;
use crate::{ConflictKind, Error, Reason, Result, Timestamp, TreeId};
use std::sync::atomic::Ordering;

/// What is to be read or written of a tree.
#[derive(Clone, Copy)]
pub(super) enum Of<'k> {
    /// A key, to read it or to see whether it is there.
    Key(&'k [u8]),
    /// All keys of a range.
    Range(Bounds<'k>),
    /// A key whose row is this transaction's to write.
    Written(&'k [u8]),
}

impl Manager {
    /// Partitions of each database.
    fn partitions(&self) -> usize {
        self.options.partitions.clamp(1, PARTITIONS_MAX)
    }

    /// What has been said of where a tree's entries are.
    #[must_use]
    pub fn placement(&self, tree: TreeId) -> Option<Placement> {
        self.placements.of(tree)
    }

    /// Says where a tree's entries are, as they are found from its first one to its last.
    pub fn place(&self, tree: TreeId, placement: Placement) {
        self.placements.set(tree, placement);
    }

    /// The partitions that have to be entered for this.
    fn partitions_of(&self, tree: TreeId, of: Of<'_>) -> PartitionSet {
        let (count, mut set) = (self.partitions(), PartitionSet::default());
        let one = match (self.placements.of(tree), of) {
            (Some(Placement::BehindRows), _) | (Some(Placement::WithRows), Of::Written(_)) => {
                return set;
            }
            (Some(Placement::ByKey(column)), Of::Key(key) | Of::Written(key)) => {
                column.partition(key, count)
            }
            (Some(Placement::ByKey(column)), Of::Range(bounds)) => {
                column.partition_of_range(bounds, count)
            }
            (Some(Placement::WithRows) | None, _) => None,
        };
        match one {
            Some(number) => set.insert(number),
            None => set = PartitionSet::first(count),
        }
        set
    }
}

impl Transaction {
    /// Begins to be one of them.
    pub(super) fn begin_partitioned(&mut self) {
        if !self.is_partitioned() {
            self.tracking = Some(Box::new(Tracking::Partitioned(Partitioned::default())));
        }
    }

    /// Whether it is one of them.
    pub(super) fn is_partitioned(&self) -> bool {
        matches!(self.tracking.as_deref(), Some(Tracking::Partitioned(_)))
    }

    /// Whether a tree is in partitions, of which this transaction has to be in some.
    #[must_use]
    pub fn is_in_partitions(&self, tree: TreeId) -> bool {
        self.is_partitioned() && self.manager.options.unwatched != Some(tree)
    }

    /// Whether a key of such a tree is in a partition that this transaction is in already: every one is, as long as it is in none, and
    /// where keys do not say it.
    #[must_use]
    pub fn is_at_home(&self, tree: TreeId, key: &[u8]) -> bool {
        let Some(Tracking::Partitioned(own)) = self.tracking.as_deref() else { return true };
        let Some(Placement::ByKey(column)) = self.manager.placement(tree) else { return true };
        let number = column.partition(key, self.manager.partitions());
        number.is_none_or(|number| own.held.is_empty() || own.held.contains(number))
    }

    /// Enters the partitions of what is to be read or written; false if one of them was skipped.
    pub(super) fn enter(&mut self, tree: TreeId, of: Of<'_>, policy: WaitPolicy) -> Result<bool> {
        if !self.is_in_partitions(tree)
            || (matches!(of, Of::Key(_)) && self.manager.planted(Fault::PartitionNotEntered))
        {
            return Ok(true);
        }
        let wanted = self.manager.partitions_of(tree, of);
        let Transaction { manager, state, tracking, wait, begin, .. } = self;
        let Some(Tracking::Partitioned(own)) = tracking.as_deref_mut() else { return Ok(true) };
        if wanted.without(&own.held).is_empty() {
            return Ok(true);
        }
        let owner = state.as_ref().expect("the transaction has not ended").owner;
        if own.held.is_empty() && own.learnt.is_empty() {
            let age = match wait.died_at.swap(0, Ordering::Relaxed) {
                0 => manager.timestamp_after(Timestamp::default()).0,
                again => again,
            };
            manager.locks.owners.get(owner).set_age(age);
            own.learnt = std::mem::take(&mut *lock(&wait.learnt));
        }
        for number in own.missing(&wanted).iter() {
            let partition = PartitionId { database: begin.database, number };
            // What it has learnt it will need: so it waits for that, whatever it is that it would skip.
            let policy = match policy {
                WaitPolicy::Skip if !wanted.contains(number) => WaitPolicy::Block,
                _ => policy,
            };
            let asked = if own.may_wait(number) { policy } else { WaitPolicy::Skip };
            if manager.locks.enter_partition(owner, wait, partition, asked)? {
                own.held.insert(number);
                continue;
            }
            return match policy {
                WaitPolicy::Skip => Ok(false),
                WaitPolicy::Error => Err(Error::LockNotAvailable { timeout: false }),
                WaitPolicy::Block => {
                    *lock(&wait.learnt) = own.refused(&wanted);
                    let age = manager.locks.owners.get(owner).age();
                    wait.died_at.store(age, Ordering::Relaxed);
                    Err(Error::Conflict(ConflictKind::ReadWrite(Reason::LeftPartitions)))
                }
            };
        }
        Ok(true)
    }
}
