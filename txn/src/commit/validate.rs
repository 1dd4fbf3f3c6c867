//! Validation: whether all that a serializable transaction has read still stands when its own record has its place.
//!
//! Paper: Kung and Robinson, *On Optimistic Methods for Concurrency Control*, 1981. Here the validation follows the claim of
//! the commit's record, whose LSN is the transaction's place in the serial order. Whoever claims later and overwrites what
//! was read comes later in that order, and is no concern; whoever claimed before is looked for in three places, in the
//! order in which a commit passes through them: the commit slots, the list of late commits, the pages.
//!
//! All of it happens between claim and publication, where nothing may wait: the log cannot be flushed past the claim. What
//! cannot be said without a wait makes the claim void; the pages are fetched, the others are let go on, and the record is
//! claimed again. The third time it is 40001.
//!
//! Of two transactions that read what the other writes, the first to claim finds the second's LSN above its own and
//! passes; so of those in a cycle one always commits.

use super::slots::{ConflictingCommit, SlotId};
use super::{Published, Reserved};
use crate::manager::Manager;
use crate::owner::OwnerId;
use crate::planted::Fault;
use crate::scheme::occ::{ReadSet, Verdict, judge};
use crate::scheme::ssi::Reason;
use crate::sync::{Arc, relax};
use crate::writeset::WriteSet;
use crate::{ConflictKind, Error, Lsn, Result};
use storage::breakdown::{self, Class};

/// How often a record is claimed.
const CLAIMS: usize = 3;
/// How long somebody else's commit is let go on between two claims, in steps of a short wait.
const PATIENCE: u32 = 256;

/// What a transaction brings to its validation.
#[derive(Clone, Copy)]
pub(super) struct Reading<'r> {
    pub(super) reads: &'r ReadSet,
    pub(super) snapshot: Lsn,
    pub(super) owner: OwnerId,
}

impl Manager {
    /// Claims and publishes a commit's record with its writes shared, and validates what it has read, if anything.
    #[cold]
    pub(super) fn log_validated<'m>(
        &'m self,
        (payload, first): (&[u8], Option<Lsn>),
        mut reserved: Reserved<'m>,
        writes: &Arc<WriteSet>,
        slot: SlotId,
        reads: Option<Reading<'_>>,
        failed_by: &mut Lsn,
    ) -> Result<Published<'m>> {
        let log = self.data.log();
        self.slots.share(slot, writes);
        for claims in 1..=CLAIMS {
            self.slots.publish(slot, log.tail());
            let claimed = reserved.claim(payload.len());
            let lsn = claimed.lsn();
            self.slots.claimed_exactly(slot, lsn);
            // Who is in the way for the third time has a lower one.
            *failed_by = lsn;
            self.interrupt();
            let verdict = match reads {
                Some(reading) => self.validate(reading, slot, lsn),
                None => Verdict::Holds,
            };
            match verdict {
                Verdict::Holds => return Ok(claimed.publish(payload, first)),
                Verdict::Broken(reason) => {
                    claimed.void();
                    *failed_by = reason;
                    return Err(Error::Conflict(ConflictKind::ReadWrite(Reason::Validation)));
                }
                Verdict::Unsure => reserved = claimed.void(),
            }
            self.slots.withdraw(slot);
            self.advance();
            if let Some(reading) = reads
                && let Verdict::Broken(reason) = self.let_others_go_on(reading, slot, lsn)?
            {
                *failed_by = reason;
                break;
            }
            if claims < CLAIMS {
                reserved.renew(payload.len())?;
            }
        }
        Err(Error::Conflict(ConflictKind::ReadWrite(Reason::Validation)))
    }

    /// Whether everything in the read set stands at `lsn`, which has been claimed. Waits for nothing.
    fn validate(&self, reading: Reading<'_>, slot: SlotId, lsn: Lsn) -> Verdict {
        let _class = breakdown::enter(Class::Locking);
        let Reading { reads, snapshot, owner } = reading;
        if self.planted(Fault::SkipValidation) {
            return Verdict::Holds;
        }
        let slots = || match self.slots.meets_before(slot, lsn, |writes| reads.meets(writes)) {
            ConflictingCommit::None => Verdict::Holds,
            ConflictingCommit::At(reason) => Verdict::Broken(reason),
            ConflictingCommit::Unknown => Verdict::Unsure,
        };
        // A commit is on the list before its slot is free, and on its pages before it leaves the list.
        let late = || match self.late.try_list() {
            Err(()) => Verdict::Unsure,
            Ok(None) => Verdict::Holds,
            Ok(Some(late)) => reads.meets_late(&late, snapshot, lsn),
        };
        let pages = || {
            // Without a wait nothing is read from the disk, so nothing can fail.
            let verdict = reads.check(snapshot, false).unwrap_or(Verdict::Unsure);
            // Asked afterwards: tombstones above the snapshot were there as long as it was kept.
            let too_old = self.locks.owners.get(owner).is_too_old();
            if too_old { Verdict::Unsure } else { verdict }
        };
        judge(slots, late, pages)
    }

    /// Between two claims: waits a little for those in the slots, and fetches the pages.
    fn let_others_go_on(
        &self,
        Reading { reads, snapshot, .. }: Reading<'_>,
        slot: SlotId,
        lsn: Lsn,
    ) -> Result<Verdict> {
        let _class = breakdown::enter(Class::Wait);
        let mut spins = 0;
        while spins < PATIENCE
            && self.slots.meets_before(slot, lsn, |writes| reads.meets(writes))
                == ConflictingCommit::Unknown
        {
            relax(&mut spins);
        }
        reads.check(snapshot, true)
    }
}
