//! Commits larger than memory.
//!
//! A write set that is in scratch space ([`crate::writeset::spilled`]) is logged and applied from there, a piece at a time.
//! What the log gets is what any commit in parts has: the parts, each in memory before its claim and of no effect, then
//! one record that lists them and is the commit. So recovery finds all of it or nothing, and whatever happens before that
//! record is claimed, an error, a cancel, a crash, leaves parts that nobody lists.
//!
//! **Nobody else waits.** Parts are small, and one is claimed when the one before the last is durable, so that the log ring is
//! never full of them. They hold back the redo point and not the watermark. The log may grow past its limit by as much as
//! is logged until it has ended ([`storage::LimitExemption`]), by whomever: nobody waits for a checkpoint that it holds back. The commit is late from the moment of its claim:
//! readers merge it from scratch space, by walks of their own, and its write set is never held in memory.
//!
//! **Memory.** How a write is logged is decided as it is logged, and not kept. While it is applied, what it replaces is
//! collected, or spilled for the snapshots that need it, every few hundred writes, and so are its tombstones.

use super::{Pushed, Ready, SlotGuard};
use crate::log::{self, Header};
use crate::manager::Manager;
use crate::planted::Fault;
use crate::sync::Arc;
use crate::transaction::state::State;
use crate::wait::SessionWait;
use crate::writeset::WriteSet;
use crate::{Error, Lsn, Result};
use storage::{Applied, ReadToken, Reservation, Room, SpaceClass};

/// A part at most, in bytes of payload.
const PART_BYTES_MAX: usize = 256 << 10;
/// Writes that are applied between two looks at what can be collected.
const PIECE: usize = 512;

impl Manager {
    /// Logs all writes of a spilled set as parts, whose places it leaves in the state's header, and brings their leaves
    /// into the shape that takes them. Returns what it needs to be applied, and the slot that holds the redo point before
    /// the first.
    pub(super) fn log_ahead(
        &self,
        state: &mut State,
        txn: u64,
        session: &SessionWait,
    ) -> Result<(Ready, SlotGuard<'_>)> {
        // Without a node its tombstones can go while it is applied.
        self.spill_locks(state)?;
        let State { writes, trees, scratch, record, header, growth, .. } = state;
        growth.begin();
        writes.spill(&self.runs, self.data.scratch())?;
        let log = self.data.log();
        let limit = log.payload_bytes_max().min(self.options.part_bytes_max).min(PART_BYTES_MAX);
        header.parts.clear();
        (header.txn, header.wall) = (txn, self.env.clock.wall());
        let begin = Header { txn, wall: header.wall, ..Header::default() };
        let mut guard = self.take_slot(session)?;
        self.slots.hold_floor(guard.slot, log.tail());
        guard.exemption = Some(log.exemption());
        let mut merge = writes.merge_all()?;
        let mut started = false;
        record.begin(&begin);
        let empty = record.payload().len();
        while let Some(write) = merge.advance(&mut started)? {
            let room = log::write_bytes_max(write.key.len(), write.value.map_or(0, <[u8]>::len));
            if record.payload().len() > empty && record.payload().len() + room > limit {
                self.log_part(record.payload(), header)?;
                record.begin(&begin);
                if let Some(reason) = session.cancel.requested() {
                    return Err(Error::Cancelled(reason));
                }
            }
            let tree = trees.get(&self.data, write.tree)?;
            let prepared = super::prepare_leaf(self, tree, &write, scratch, growth)?;
            record.write(write.tree, write.key, prepared.form.change(&write));
        }
        self.log_part(record.payload(), header)?;
        // The list of parts has to fit one record.
        let list = header.parts.len() * size_of::<Lsn>() + limit / 4;
        if list > log.payload_bytes_max() {
            return Err(Error::OutOfMemory(
                "The commit has more parts than half of wal_buffers can list.",
            ));
        }
        growth.end();
        Ok((Ready { last: false, recorded: false }, guard))
    }

    fn log_part(&self, payload: &[u8], header: &mut Header) -> Result<()> {
        let log = self.data.log();
        if let [.., before_last, _] = header.parts[..] {
            log.wait_durable(before_last)?;
        }
        let mut space = log.reserve(SpaceClass::Commit, 1, payload.len() as u64)?;
        let claim = log.claim(&mut space, payload.len());
        header.parts.push(claim.publish(log::PART, payload));
        self.interrupt();
        Ok(())
    }

    /// Applies a spilled set, which is on the list of late commits.
    pub(super) fn apply_spilled(
        &self,
        state: &mut State,
        writes: &Arc<WriteSet>,
        at: (Lsn, Lsn),
        room: &mut Reservation<'_>,
    ) -> Result<()> {
        let mut merge = writes.merge_all()?;
        let (mut started, mut piece) = (false, 0usize);
        let worker = self.worker();
        let mut beside = ReadToken::NOWHERE;
        let State { trees, notes, .. } = state;
        while let Some(write) = merge.advance(&mut started)? {
            self.interrupt();
            if self.planted(Fault::SpilledWriteLost) && piece == 1 {
                piece += 1;
                continue;
            }
            let tree = trees.get(&self.data, write.tree)?;
            let room = Room::Reserved(&mut *room);
            let to = (tree, (None, &mut beside), &[][..]);
            let mut pushed = Pushed::of(self, worker);
            let applied = self.apply_one(to, &write, at, room, &mut pushed, notes)?;
            drop(pushed);
            debug_assert!(applied != Applied::WouldWait, "who waits never would");
            piece += 1;
            if piece.is_multiple_of(PIECE) {
                self.collect_piece(at.0, notes);
            }
        }
        Ok(())
    }
}
