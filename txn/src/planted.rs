//! Faults planted on purpose in the transaction component: each breaks one promise, so that a test can show that it
//! would notice. The mechanism is the data component's ([`storage::Planted`]), under the same feature.

/// A promise that can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A commit changes trees before its log record is claimed.
    ApplyBeforeLog,
    /// Locks go before the commit is applied.
    ReleaseBeforeApply,
    /// Locks go although the commit is not visible yet, and no snapshot is told to wait for it.
    ReleasedUnseen,
    /// The watermark reads the commit slots before the log's tail.
    SlotsBeforeTail,
    /// The last write of a commit is logged and not applied.
    WriteLost,
    /// A row lock that should go to scratch space is given up instead.
    SpilledLockLost,
    /// One write of a commit larger than memory is logged and not applied.
    SpilledWriteLost,
    /// A delta in a commit's record leaves out the last byte that has changed.
    DeltaCutShort,
    /// A commit sets no room aside for what its apply has to split, nor has leaves shaped for all of its writes.
    RoomNotReserved,
    /// Who takes room on a leaf that a large commit has shaped does not pay for it.
    NothingDeposited,
    /// Replay puts nothing off, whether there is room for it or not.
    NothingPutOff,
    /// A serializable transaction commits without a look at what it has read.
    SkipValidation,
    /// A serializable transaction reads past a concurrent one's write and flags no conflict.
    ConflictFlagLost,
    /// A serializable transaction's scan locks nothing.
    RangeLockLost,
    /// Under two-phase locking a scan locks nothing.
    ReadRangeNotLocked,
    /// Under timestamp ordering a read leaves no timestamp.
    ReadNotStamped,
    /// Under timestamp ordering a commit does not say whose it is.
    CommitNotStamped,
    /// Under `hstore` a key is read whoever is in its partition.
    PartitionNotEntered,
    /// The layer above takes a snapshot for a plan and does not look whether the plan is still good behind it.
    PlanNotLookedAtAgain,
    /// The layer above writes a row and not its entry in the table's last index. Whoever can plant it, plants it here,
    /// where the options are.
    IndexEntryNotWritten,
    /// The layer above forgets a trigger that waits for its statement's end. It is planted here as well.
    TriggerNotFired,
}

/// Which fault is planted, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planted {
    #[cfg(any(test, feature = "planted"))]
    fault: Option<Fault>,
}

impl Planted {
    /// Plants `fault`.
    #[cfg(any(test, feature = "planted"))]
    #[must_use]
    pub fn new(fault: Fault) -> Planted {
        Planted { fault: Some(fault) }
    }

    /// Whether `fault` is planted.
    #[inline]
    #[must_use]
    pub fn is(self, fault: Fault) -> bool {
        #[cfg(any(test, feature = "planted"))]
        let planted = self.fault == Some(fault);
        #[cfg(not(any(test, feature = "planted")))]
        let planted = {
            let _ = fault;
            false
        };
        planted
    }
}
