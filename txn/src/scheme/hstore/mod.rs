//! `hstore`: the database is divided into partitions, and in each there is one transaction at a time.
//!
//! Papers: Kallman et al., *H-Store: A High-Performance, Distributed Main Memory Transaction Processing System*, VLDB 2008; Jones,
//! Abadi and Madden, *Low Overhead Concurrency Control for Partitioned Main Memory Databases*, SIGMOD 2010; Yu et al., *Staring
//! into the Abyss*, VLDB 2014, section 2.2 (H-STORE). A row's partition is a hash of the first column of its table's primary key
//! ([`placement`]), so that rows of different tables that belong together are in one. Nothing else is locked: no key, no range, no
//! row. There is no snapshot either: a statement reads what has been committed last, in partitions that nobody else is in.
//!
//! In the papers a transaction says beforehand which partitions it needs. Here it is made of statements that nobody has seen yet, so it
//! enters a partition when it first needs one, and what needs all (a scan, a secondary index that begins with another column)
//! enters all. A transaction that has been refused because it left its partitions is begun again by its session with those that
//! it had and the one that it wanted ([`Partitioned::learnt`]), and with its age.
//!
//! Invariants. (1) A partition is entered before any page of it is read, and before a write of it is in the write set; it is left
//! after the commit is applied or the rollback is done, all at once. So the order of the ends is a serial order, and a rollback to a
//! savepoint leaves nothing. (2) A partition is waited for only by a transaction whose partitions all have lower numbers; any
//! other is entered if nobody is in it, or refuses the transaction (40001). So there is no cycle of such waits; those through
//! table locks and advisory locks are deadlocks as ever. (3) In a queue the oldest comes first, and who was refused keeps its age
//! and enters in order what it has learnt: with each time that it is refused it knows one partition more, so it gets on.
//!
//! Schedule, write skew: 1 reads x of partition 1, 2 reads y of partition 2. 1 writes y and waits, since 2 is above all it has;
//! 2 writes x: it would have to wait for 1, and is refused. 1 goes on. Run again, 2 enters 1 and 2, in this order, and waits for 1.

pub(crate) mod placement;

use crate::lock::partition::PartitionSet;

/// Partitions of each database, where the options do not say.
pub const PARTITIONS: usize = 64;

/// What a transaction keeps.
#[derive(Debug, Default)]
pub struct Partitioned {
    /// Where it is.
    pub held: PartitionSet,
    /// Where it enters when it first enters any: what its session has learnt of the one before.
    pub learnt: PartitionSet,
}

impl Partitioned {
    /// What it has to enter, in the order of their numbers, before it reads or writes what is in `wanted`.
    #[must_use]
    pub fn missing(&self, wanted: &PartitionSet) -> PartitionSet {
        if wanted.without(&self.held).is_empty() {
            return PartitionSet::default();
        }
        wanted.with(&self.learnt).without(&self.held)
    }

    /// Whether it waits where somebody is in a partition, and is not refused.
    #[must_use]
    pub fn may_wait(&self, number: u16) -> bool {
        self.held.last().is_none_or(|last| last < number)
    }

    /// What its session has learnt when it is refused.
    #[must_use]
    pub fn refused(&self, wanted: &PartitionSet) -> PartitionSet {
        self.held.with(&self.learnt).with(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(numbers: &[u16]) -> PartitionSet {
        let mut set = PartitionSet::default();
        numbers.iter().for_each(|number| set.insert(*number));
        set
    }

    #[test]
    fn one_that_is_refused_enters_in_order_what_it_has_learnt() {
        let first = Partitioned { held: set(&[7]), ..Partitioned::default() };
        assert!(first.may_wait(9) && !first.may_wait(3));
        assert!(first.missing(&set(&[7])).is_empty());
        let again = Partitioned { held: set(&[]), learnt: first.refused(&set(&[3])) };
        assert_eq!(again.missing(&set(&[7])).iter().collect::<Vec<_>>(), [3, 7]);
        assert!(again.may_wait(3));
    }
}
