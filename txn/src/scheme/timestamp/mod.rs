//! Timestamp ordering: a transaction's place in the serial order is the moment at which it begins to read, and whoever comes too
//! late for it is refused.
//!
//! Papers: Bernstein and Goodman, *Concurrency Control in Distributed Database Systems*, 1981, section 4.1 (`timestamp`: basic
//! timestamp ordering); Reed, *Implementing Atomic Actions on Decentralized Data*, 1983, and Levandoski et al., *Multi-Version
//! Range Concurrency Control in Deuteronomy*, VLDB 2015 (`mvto`: reads of the version that is theirs, read timestamps of keys and
//! of ranges); Yu et al., *Staring into the Abyss*, VLDB 2014, section 2.2. The two differ in one point ([`Overwritten`]): what
//! becomes of a read of what a younger transaction has overwritten.
//!
//! The order of versions stays that of the log. A write is refused where a younger transaction has committed one of that key, so of
//! one key the LSNs of commits and their timestamps are in the same order, and only which versions a view shows is decided by
//! timestamps: all at or below its snapshot, which was taken in the same step as the timestamp, and above it those of older
//! transactions ([`order`]).
//!
//! What a read leaves behind is a *read timestamp* on the key or the range ([`stamps`]); Deuteronomy keeps that of a key in its
//! record's node, which here would have to outlive its locks and versions. What a write leaves until its transaction's end is an
//! exclusive mark on its key in every tree, among the locks of `lock/range.rs`.
//!
//! Invariants. (1) A reader stamps first and then looks for marks of older transactions, which it waits for; a writer marks first
//! and then looks at stamps: of the two the second finds the first. (2) Waits go from younger to older transactions only, so there
//! is no cycle of them; of row locks those that share are taken without a mark, and who has one
//! is asked for its age there. (3) A commit's timestamp is known by its LSN before anybody can find its records. (4) Marks and stamps
//! count for the tree they stand on; a tree that a younger transaction has built cannot be read or written.
//!
//! Schedule, write skew: 1 reads x and 2 reads y (stamps 1 and 2), 1 writes y: too late, 2 has read it.

pub(crate) mod order;
pub(crate) mod stamps;

use crate::lock::range::HeldRanges;
use crate::{Lsn, Reason, Timestamp};

/// What becomes of a read where a younger transaction has committed a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overwritten {
    /// It is refused: there is one version.
    Refused,
    /// It reads the version before.
    Older,
}

/// What a view shows beside its snapshot: commits of older transactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    pub(crate) at: Timestamp,
    pub(crate) overwritten: Overwritten,
}

/// What a transaction keeps.
#[derive(Debug)]
pub(crate) struct Stamped {
    pub(crate) overwritten: Overwritten,
    /// Its place, once it has begun to read.
    pub(crate) at: Option<Timestamp>,
    /// The keys that it has marked.
    pub(crate) held: HeldRanges,
}

impl Stamped {
    pub(crate) fn new(overwritten: Overwritten) -> Stamped {
        Stamped { overwritten, at: None, held: HeldRanges::default() }
    }
}

impl Overwritten {
    /// Whether the version before may be read.
    ///
    /// # Errors
    /// It may not: the read comes too late.
    pub fn read(self) -> Result<(), Reason> {
        match self {
            Overwritten::Refused => Err(Reason::ReadTooLate),
            Overwritten::Older => Ok(()),
        }
    }
}

/// Whether a transaction sees the commit at `lsn`: its snapshot does, or it is of an older one.
#[inline]
pub fn sees(snapshot: Lsn, lsn: Lsn, is_older: impl FnOnce() -> bool) -> bool {
    lsn <= snapshot || is_older()
}

/// Whether a write of a key that is marked is in time: no younger one has read it, which `read` says, and it sees the newest commit
/// there.
pub fn is_in_time<E>(
    at: Timestamp,
    read: Timestamp,
    sees_newest: impl FnOnce() -> Result<bool, E>,
) -> Result<bool, E> {
    if read > at { Ok(false) } else { sees_newest() }
}

/// Who reads waits for every older one that has marked what it reads.
///
/// # Errors
/// Never: it is a rule.
pub fn may_pass(_waiter: u64, _holder: u64) -> Result<(), Reason> {
    Ok(())
}

/// A writer waits for an older one, and is too late for a younger one's mark.
///
/// # Errors
/// It is too late.
pub fn may_wait(waiter: u64, holder: u64) -> Result<(), Reason> {
    if holder < waiter { Ok(()) } else { Err(Reason::WriteTooLate) }
}

/// Who shares a row waits for an older one that changes it, and is too late for a younger one.
///
/// # Errors
/// It is too late.
pub fn may_share(waiter: u64, holder: u64) -> Result<(), Reason> {
    if holder < waiter { Ok(()) } else { Err(Reason::ReadTooLate) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_is_in_time_where_nobody_younger_has_read_or_written() {
        let in_time = |read, sees: bool| {
            is_in_time(Timestamp(5), Timestamp(read), || Ok::<_, ()>(sees)) == Ok(true)
        };
        assert!(in_time(4, true) && in_time(5, true), "what it has read itself is in nobody's way");
        assert!(!in_time(6, true) && !in_time(4, false));
        assert!(sees(Lsn(7), Lsn(7), || false) && sees(Lsn(7), Lsn(8), || true));
        assert!(!sees(Lsn(7), Lsn(8), || false));
    }

    #[test]
    fn waits_go_from_younger_to_older() {
        assert_eq!((may_wait(2, 1), may_wait(1, 2)), (Ok(()), Err(Reason::WriteTooLate)));
        assert_eq!((may_share(2, 1), may_share(1, 2)), (Ok(()), Err(Reason::ReadTooLate)));
        assert_eq!(Overwritten::Refused.read(), Err(Reason::ReadTooLate));
        assert_eq!(Overwritten::Older.read(), Ok(()));
    }
}
