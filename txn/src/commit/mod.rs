//! Commit: log first, then apply.
//!
//! Paper: Levandoski et al., *Deuteronomy*, CIDR 2015, section 4 (redo-only logging, blind upserts, fast commit).
//!
//! 1. **Get ready**, where everything may fail or wait: leaves into memory and into shape, the record serialized, version
//!    space awaited, and room set aside: log for the record, and log and pages for all that the apply may have to split.
//! 2. **Claim**: a bound in the commit slot, then one log record, whose LSN is the commit's timestamp.
//! 3. **Validate**: nothing to do below SERIALIZABLE, since write locks have been held since before the claim; else see
//!    [`validate`].
//! 4. **Publish, apply**: the old image to the version chain, then the page. What would wait for a page, or is large,
//!    becomes a late commit.
//! 5. **Release**: the slot first; then the locks, having said that every snapshot from now on shows the commit: whoever is
//!    woken by a lock sees what it stood for.
//! 6. **Answer**: the caller's, when [`crate::Manager::poll_answer`] says so.
//!
//! A commit passes through its states by value, each made of the one before: [`Ready`], [`Reserved`], [`Claimed`],
//! [`Published`]. Only a reservation is claimed with, and only what has one is applied, so no apply meets a full disk.
//!
//! From the claim until the transaction has ended a panic ends the process: pages would have half of a commit, or its
//! client would be told that it failed.

mod large;
pub mod late;
pub mod slots;
mod validate;
pub mod watermark;

use crate::lock::UNLOCKED_AT_ONCE;
use crate::log::{self, Writer};
use crate::manager::Manager;
use crate::planted::Fault;
use crate::record::collect::Tombstone;
use crate::record::{Collector, Garbage, NodeRef};
use crate::scheme::Tracking;
use crate::scheme::timestamp::Stamped;
use crate::sync::atomic::Ordering;
use crate::sync::{Arc, relax};
use crate::transaction::state::{HeldRow, State, TreeHandles};
use crate::wait::SessionWait;
use crate::writeset::delta::Form;
use crate::writeset::{Write, WriteSet};
use crate::{Error, Lsn, Result, Transaction};
use late::LateCommit;
use slots::SlotId;
use storage::breakdown::{self, Class};
use storage::{
    Applied, Change, Claim, Growth, LimitExemption, ReadToken, Record, RecordBuffer, Reservation,
    Room, RunsFor, SpaceClass, Tree, WaitEvent, Waiter,
};
use validate::Reading;

/// Versions that a commit counts together at most.
const COUNTED_AT_ONCE: usize = 64;
/// Attempts on a slot before whoever wants one rests.
const SLOT_SPINS: u32 = 200;

/// A slot that is given back whatever happens, unless it has to stay.
pub(crate) struct SlotGuard<'m> {
    manager: &'m Manager,
    slot: SlotId,
    taken: bool,
    /// The write set, where others may look at it.
    shared: Option<Arc<WriteSet>>,
    /// By how much the log may be longer for the sake of this commit.
    exemption: Option<LimitExemption<'m>>,
}

/// What can be committed: its leaves are in memory and in shape, and what they grow by is counted.
pub(crate) struct Ready {
    /// Whether it may have the last room.
    last: bool,
    /// Whether the record has all of its writes.
    recorded: bool,
}

/// A write of such a commit: how it is logged, and where its leaf was found.
#[derive(Debug)]
pub(crate) struct PreparedWrite {
    form: Form,
    leaf: ReadToken,
}

/// What has room for its record and for its apply.
pub(crate) struct Reserved<'m>(Reservation<'m>);

/// What has its place in the log.
pub(crate) struct Claimed<'m> {
    claim: Claim<'m>,
    reserved: Reserved<'m>,
}

/// What is in the log, and has still to be applied.
pub(crate) struct Published<'m> {
    lsn: Lsn,
    /// The first LSN that recovery needs.
    floor: Lsn,
    room: Reservation<'m>,
}

impl Ready {
    /// Sets room aside, with a record of `payload` bytes. What does not fit is refused here and never later.
    fn reserve<'m>(
        &self,
        manager: &'m Manager,
        growth: &mut Growth,
        payload: usize,
    ) -> Result<Reserved<'m>> {
        Ok(Reserved(manager.data.reserve(growth, payload, self.last)?))
    }
}

impl<'m> Reserved<'m> {
    fn claim(mut self, payload: usize) -> Claimed<'m> {
        let claim = self.0.claim(payload);
        Claimed { claim, reserved: self }
    }

    /// Sets log aside for another claim, the last one having become void.
    fn renew(&mut self, payload: usize) -> Result<()> {
        Ok(self.0.renew(payload)?)
    }
}

impl<'m> Claimed<'m> {
    fn lsn(&self) -> Lsn {
        self.claim.lsn()
    }

    /// `first` is the commit's first part, if it is in parts.
    fn publish(self, payload: &[u8], first: Option<Lsn>) -> Published<'m> {
        let lsn = self.claim.publish(log::COMMIT, payload);
        Published { lsn, floor: first.unwrap_or(lsn), room: self.reserved.0 }
    }

    fn void(self) -> Reserved<'m> {
        self.claim.void();
        self.reserved
    }
}

/// Versions that have been pushed and are not counted yet: some at a time, and what is left when this goes.
pub(crate) struct Pushed<'m> {
    manager: &'m Manager,
    worker: usize,
    versions: usize,
    bytes: usize,
}

impl Pushed<'_> {
    fn of(manager: &Manager, worker: usize) -> Pushed<'_> {
        Pushed { manager, worker, versions: 0, bytes: 0 }
    }

    fn add(&mut self, bytes: usize) {
        self.versions += 1;
        self.bytes += bytes;
        if self.versions == COUNTED_AT_ONCE {
            self.count();
        }
    }

    fn count(&mut self) {
        let pushed = (std::mem::take(&mut self.versions), std::mem::take(&mut self.bytes));
        self.manager.collector.pushed(self.worker, pushed);
    }
}

impl Drop for Pushed<'_> {
    fn drop(&mut self) {
        if self.versions > 0 {
            self.count();
        }
    }
}

/// Ends the process if dropped by a panic.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::process::abort();
        }
    }
}

impl SlotGuard<'_> {
    /// Whether the write set has moved here, and is in scratch space.
    fn is_spilled(&self) -> bool {
        self.shared.as_ref().is_some_and(|writes| writes.is_spilled())
    }

    /// Gives the slot back and moves the watermark.
    fn free(&mut self) {
        if std::mem::take(&mut self.taken) {
            let _class = breakdown::enter(Class::Timestamp);
            if self.shared.is_some() {
                self.manager.slots.unshare(self.slot);
            }
            self.manager.slots.free(self.slot);
            self.manager.advance();
            self.manager.slot_waiters.given_back(&self.manager.env);
        }
    }
}

impl Drop for SlotGuard<'_> {
    fn drop(&mut self) {
        self.free();
    }
}

/// The node of a write's record, if its lock stands where it was when it was written.
fn locked_node<'r>(rows: &'r [HeldRow], write: &Write<'_>) -> Option<&'r NodeRef> {
    let node = &rows.get(write.met.rows.checked_sub(1)?)?.node;
    node.is_of(write.tree, write.key).then_some(node)
}

fn as_change<'w>(write: &Write<'w>) -> Change<'w> {
    write.value.map_or(Change::Delete, Change::Put)
}

impl Transaction {
    /// Makes the write set the database's.
    pub(crate) fn commit_writes(&mut self, before_release: &mut dyn FnMut(Lsn)) -> Result<Lsn> {
        let session = Arc::clone(self.wait());
        let running = RunsFor::new(Arc::clone(&session) as Arc<dyn Waiter>);
        let committed = self.commit_writes_of(&session, &running, before_release);
        committed.map_err(|error| session.cancelled_if_so(error))
    }

    fn commit_writes_of(
        &mut self,
        session: &SessionWait,
        running: &RunsFor,
        before_release: &mut dyn FnMut(Lsn),
    ) -> Result<Lsn> {
        let id = self.id().0;
        let manager = &*self.manager;
        let state = self.state.as_mut().expect("the transaction has not ended");
        state.writes.arrange();
        if manager.planted(Fault::ApplyBeforeLog) {
            manager.apply_unlogged(state);
        }
        if self.tracking.is_some() {
            // Most conflicts are found here, before there is a claim to make void; and the pages come into memory.
            self.check_commit(true)?;
        }
        let manager = &*self.manager;
        let state = self.state.as_mut().expect("the transaction has not ended");
        manager.make_version_room(state.owner, session)?;
        let (ready, mut guard) = if state.writes.is_spilled() {
            manager.log_ahead(state, id, session)?
        } else {
            // Who may have to wait for other large commits has his slot before, so that they never lack theirs.
            let early = state.writes.keys() > manager.data.covered_writes();
            let slot = early.then(|| manager.take_slot(session)).transpose()?;
            let ready = prepare_leaves(manager, state, id)?;
            (ready, slot.map_or_else(|| manager.take_slot(session), Ok)?)
        };
        let tracking = self.tracking.as_deref();
        let reads = tracking.and_then(Tracking::occ).zip(self.snapshot);
        let owner = state.owner;
        let reads = reads.map(|(reads, snapshot)| Reading { reads, snapshot, owner });
        let mut published =
            manager.log_commit(state, session, ready, &mut guard, (reads, &mut self.failed_by))?;
        let lsn = published.lsn;
        if let Some(Tracking::Ssi(part)) = self.tracking.as_deref() {
            part.claimed(&manager.ssi, lsn);
        }
        if let Some(Tracking::Stamped(Stamped { at: Some(at), .. })) = self.tracking.as_deref()
            && !manager.planted(Fault::CommitNotStamped)
        {
            for blind in manager.order.committed(lsn, *at) {
                if !manager.locks.owners.get(blind).is_too_old() {
                    manager.give_up_snapshot(blind);
                }
            }
        }
        running.to_the_end();
        let large = state.writes.is_spilled() || guard.is_spilled();
        for (_, tree) in state.built.drain(..) {
            // Nobody else can reach it before the locks go.
            tree.set_birth(lsn);
        }
        manager.moves.note(lsn, &mut state.moves);
        let abort = AbortOnUnwind;
        manager.interrupt();
        if manager.planted(Fault::ReleaseBeforeApply) {
            manager.release_all(state);
            manager.env.scheduler.yield_point();
            std::thread::yield_now();
        }
        if large {
            // Its snapshot would hold back the versions that are replaced now, and nobody reads by it any more.
            self.give_snapshot_up();
        }
        let manager = &*self.manager;
        let state = self.state.as_mut().expect("the transaction has not ended");
        let applied = manager.apply_commit(state, &mut published, &mut guard, &mut *before_release);
        if let Err(error) = applied {
            // The record may be durable and the pages lack it: nobody may be told anything any more, and the watermark
            // stays below.
            guard.taken = false;
            manager.data.log().halt(&format!("a commit could not be applied: {error}"));
            drop(abort);
            return Err(storage::Error::Halted(error.to_string()).into());
        }
        manager.interrupt();
        match applied.is_ok_and(|late| late) {
            true => manager.late.remove(lsn),
            false => before_release(lsn),
        }
        drop((guard, published));
        manager.slots.releases(lsn);
        manager.metrics.committed(manager.worker());
        self.note_committed();
        self.finish_committed(lsn);
        // A panic in what tidies up would be told to the client as a failure of what has been committed.
        drop(abort);
        Ok(lsn)
    }

    /// Needs no snapshot any more: what is left of the commit is to apply it.
    fn give_snapshot_up(&self) {
        let owner = self.manager.locks.owners.get(self.state().owner);
        let snapshot = owner.snapshot();
        owner.withdraw();
        if let Some(snapshot) = snapshot {
            self.manager.snapshot_ended(snapshot);
        }
    }

    /// Lets go of everything, and leaves what the commit replaced to the collector.
    fn finish_committed(&mut self, lsn: Lsn) {
        // Locks and collector each take a guard, which is next to nothing while there is one.
        let few = self.state().rows.len() <= UNLOCKED_AT_ONCE;
        let _guard = few.then(crossbeam_epoch::pin);
        let mut notes = std::mem::take(&mut self.state_mut().notes);
        let Some(mut state) = self.let_go() else { return };
        self.manager.collect_after(lsn, &mut notes);
        // The next transaction needs their memory as well.
        state.notes = notes;
        self.manager.pool.give(self.manager.worker(), state);
    }
}

/// Brings every leaf that will be changed into memory, with room for what grows, and decides how each write is logged. Where
/// one record takes them all they are put into it on the way.
fn prepare_leaves(manager: &Manager, state: &mut State, txn: u64) -> storage::Result<Ready> {
    let State { writes, trees, scratch, prepared, growth, record, header, .. } = state;
    prepared.clear();
    growth.begin();
    header.parts.clear();
    header.txn = txn;
    header.wall = manager.env.clock.wall();
    record.begin(header);
    let logs = !manager.options.without.log;
    let recorded = !logs || writes.bytes() <= manager.record_bytes_max();
    for write in writes.iter() {
        let tree = trees.get(&manager.data, write.tree)?;
        if manager.planted(Fault::RoomNotReserved) {
            growth.begin();
        }
        let ready = prepare_leaf(manager, tree, &write, scratch, growth)?;
        if recorded && logs {
            record.write(write.tree, write.key, ready.form.change(&write));
        }
        prepared.push(ready);
    }
    if manager.planted(Fault::RoomNotReserved) {
        growth.begin();
    }
    growth.end();
    Ok(Ready { last: state.gives_room_back, recorded })
}

#[inline(always)]
fn prepare_leaf(
    manager: &Manager,
    tree: &Tree,
    write: &Write<'_>,
    scratch: &mut RecordBuffer,
    growth: &mut Growth,
) -> storage::Result<PreparedWrite> {
    let Write { key, value, met, .. } = *write;
    let known = match met.in_place {
        // It takes no more room than what it changes.
        Some(_) if tree.has_leaf(&met.leaf) => met.in_place,
        _ => None,
    };
    let form = match known {
        Some(form) => form,
        None => {
            scratch.look_near(&met.leaf);
            let size = value.map_or(0, <[u8]>::len);
            if value.is_some() && !write.update {
                tree.make_room(key, size, scratch, growth)?;
                Form::Whole
            } else {
                let found = tree.get_to_change(key, size, scratch, growth)?;
                Form::of(write, found.then_some(&*scratch))
            }
        }
    };
    if manager.planted(Fault::NothingDeposited) {
        growth.forget_batches();
    }
    let cut = manager.planted(Fault::DeltaCutShort);
    let form = match form {
        _ if manager.options.without.log => Form::Whole,
        form if cut => form.cut_short(),
        form => form,
    };
    let leaf = if known.is_some() { met.leaf } else { scratch.token() };
    Ok(PreparedWrite { form, leaf })
}

impl Manager {
    /// Takes a slot. They are taken for microseconds, but for those of commits that wait for log space: whoever finds none
    /// for a while rests.
    pub(crate) fn take_slot(&self, session: &SessionWait) -> Result<SlotGuard<'_>> {
        let _class = breakdown::enter(Class::Timestamp);
        let mut spins = 0;
        let slot = loop {
            if let Some(slot) = self.slots.take(self.worker()) {
                break slot;
            }
            if spins < SLOT_SPINS {
                relax(&mut spins);
                continue;
            }
            let (event, cancel) = (WaitEvent::CommitSlot, Some(&session.cancel));
            break self
                .slot_waiters
                .wait(&self.env, event, cancel, || self.slots.take(self.worker()))?;
        };
        Ok(SlotGuard { manager: self, slot, taken: true, shared: None, exemption: None })
    }

    /// Serializes, reserves, claims and publishes.
    fn log_commit<'m>(
        &'m self,
        state: &mut State,
        session: &SessionWait,
        ready: Ready,
        guard: &mut SlotGuard<'_>,
        (reads, failed_by): (Option<Reading<'_>>, &mut Lsn),
    ) -> Result<Published<'m>> {
        let _class = breakdown::enter(Class::Logging);
        let slot = guard.slot;
        let State { writes, trees, scratch, prepared, record, header, growth, .. } = state;
        let log = self.data.log();
        if !ready.recorded {
            let forms = prepared.iter().map(|write| write.form);
            self.log_parts(slot, writes.iter().zip(forms), (record, header))?;
        }
        let payload = record.payload();
        let first = header.parts.first().copied();
        let reserved = match ready.reserve(self, growth, payload.len()) {
            Err(Error::Storage(storage::Error::Full(_))) if growth.is_crowded() => {
                growth.begin_alone(self.data.forest())?;
                self.shape_again(writes, session, (trees, scratch, growth))?;
                ready.reserve(self, growth, payload.len())?
            }
            reserved => reserved?,
        };
        // Relaxed: who validates finds a slot without writes in it, and claims again.
        if self.validating.load(Ordering::Relaxed) {
            let writes = Arc::new(std::mem::take(writes));
            guard.shared = Some(Arc::clone(&writes));
            let logged = (payload, first);
            return self.log_validated(logged, reserved, &writes, slot, reads, failed_by);
        }
        self.slots.publish(slot, log.tail());
        let claimed = reserved.claim(payload.len());
        self.slots.claimed(slot, claimed.lsn());
        Ok(claimed.publish(payload, first))
    }

    /// Logs what no one record takes in parts, and begins the record that lists them. What is in scratch space has been logged
    /// before.
    #[cold]
    fn log_parts<'w>(
        &self,
        slot: SlotId,
        writes: impl Iterator<Item = (Write<'w>, Form)>,
        (record, header): (&mut Writer, &mut log::Header),
    ) -> Result<()> {
        let log = self.data.log();
        let mut rest = writes.peekable();
        if rest.peek().is_some() {
            self.slots.hold_floor(slot, log.tail());
        }
        let begin = log::Header { txn: header.txn, wall: header.wall, ..Default::default() };
        // Each part is complete in memory before its claim, and of no effect until a commit lists it.
        while rest.peek().is_some() {
            record.begin(&begin);
            fill(record, &mut rest, self.record_bytes_max());
            let mut space = log.reserve(SpaceClass::Commit, 1, record.payload().len() as u64)?;
            let claim = log.claim(&mut space, record.payload().len());
            header.parts.push(claim.publish(log::PART, record.payload()));
        }
        record.begin(header);
        Ok(())
    }

    /// Bytes of payload that a commit's record, or a part of it, has at most.
    fn record_bytes_max(&self) -> usize {
        self.data.log().payload_bytes_max().min(self.options.part_bytes_max)
    }

    /// Shapes the leaves of a large commit once more: the room that they had may have been taken while it waited to be alone,
    /// because the disk has none for what it and another can need of one tree.
    #[cold]
    fn shape_again(
        &self,
        writes: &WriteSet,
        session: &SessionWait,
        (trees, scratch, growth): (&mut TreeHandles, &mut RecordBuffer, &mut Growth),
    ) -> Result<()> {
        if writes.is_spilled() {
            let (mut merge, mut started) = (writes.merge_all()?, false);
            while let Some(write) = merge.advance(&mut started)? {
                prepare_leaf(self, trees.get(&self.data, write.tree)?, &write, scratch, growth)?;
                if let Some(reason) = session.cancel.requested() {
                    return Err(Error::Cancelled(reason));
                }
            }
        } else {
            for write in writes.iter() {
                prepare_leaf(self, trees.get(&self.data, write.tree)?, &write, scratch, growth)?;
            }
        }
        growth.end();
        Ok(())
    }

    /// Applies a published commit; true if it became late, and is still on the list. Such a one is visible from here on, so
    /// `before_visible` is called first: nobody may have a snapshot that shows a commit before its callback has run.
    fn apply_commit(
        &self,
        state: &mut State,
        published: &mut Published<'_>,
        guard: &mut SlotGuard<'_>,
        before_visible: &mut dyn FnMut(Lsn),
    ) -> Result<bool> {
        let Published { lsn, floor, ref mut room } = *published;
        let shared = guard.shared.clone();
        let writes = shared.as_deref().unwrap_or(&state.writes);
        let large = writes.is_spilled() || writes.keys() > self.options.late_writes;
        if !large && self.apply_all(state, shared.as_deref(), (lsn, floor), Room::AtHand)? {
            return Ok(false);
        }
        let writes = shared.unwrap_or_else(|| Arc::new(std::mem::take(&mut state.writes)));
        let late = Arc::new(LateCommit { lsn, floor, writes });
        self.late.add(Arc::clone(&late));
        before_visible(lsn);
        guard.free();
        self.metrics.late(self.worker());
        if late.writes.is_spilled() {
            self.apply_spilled(state, &late.writes, (lsn, floor), room)?;
            return Ok(true);
        }
        self.apply_all(state, Some(&late.writes), (lsn, floor), Room::Reserved(room))?;
        Ok(true)
    }

    /// Applies every write; false if one would have had to wait.
    fn apply_all(
        &self,
        state: &mut State,
        elsewhere: Option<&WriteSet>,
        at: (Lsn, Lsn),
        mut room: Room<'_, '_>,
    ) -> Result<bool> {
        let worker = self.worker();
        let State { writes, prepared, trees, notes, rows, .. } = state;
        let writes = elsewhere.unwrap_or(writes);
        let mut left = writes.keys();
        let (mut prepared, mut pushed) = (prepared.iter(), Pushed::of(self, worker));
        let mut beside = ReadToken::NOWHERE;
        for write in writes.iter() {
            left -= 1;
            if left == 0 && self.planted(Fault::WriteLost) {
                break;
            }
            self.interrupt();
            let tree = trees.get(&self.data, write.tree)?;
            let to = (tree, (prepared.next(), &mut beside), rows.as_slice());
            let applied = self.apply_one(to, &write, at, room.again(), &mut pushed, notes)?;
            if applied == Applied::WouldWait {
                return Ok(false);
            }
        }
        Ok(true)
    }

    #[inline(always)]
    fn apply_one(
        &self,
        (tree, (prepared, beside), rows): (
            &Arc<Tree>,
            (Option<&PreparedWrite>, &mut ReadToken),
            &[HeldRow],
        ),
        write: &Write<'_>,
        (lsn, since): (Lsn, Lsn),
        mut room: Room<'_, '_>,
        pushed: &mut Pushed<'_>,
        notes: &mut Vec<Garbage>,
    ) -> storage::Result<Applied> {
        let records = &self.locks.records;
        let mut keep = |old: Record<'_>| {
            if self.options.without.versions {
                return;
            }
            let locked = locked_node(rows, write);
            let pinned = locked.is_none().then(|| records.pin(write.tree, write.key));
            let node = locked.or(pinned.as_ref()).expect("what is not locked has been pinned");
            let mut state = node.state();
            let mut bytes = node.chain.push(&mut state, old.lsn, old.value);
            state.current = lsn;
            if write.anew || (old.value.is_none() && write.value.is_some()) {
                state.born = lsn;
            }
            let again = std::mem::replace(&mut state.noted, true);
            if !again || Collector::is_long(state.versions) {
                bytes += if again { 0 } else { node.bytes() };
                notes.push(Garbage { lsn, node: NodeRef::pinned(node, &mut state), again });
            }
            drop(state);
            if let Some(pinned) = pinned {
                records.unpin(pinned);
            }
            pushed.add(bytes);
        };
        let (at, leaf) = ((lsn, since), prepared.map(|prepared| &prepared.leaf));
        // What is logged is what changes the page.
        let change = prepared.map_or_else(|| as_change(write), |ready| ready.form.change(write));
        let key = (write.key, leaf, &mut *beside);
        let applied = match tree.apply_beside(at, key, change, room.again(), &mut keep) {
            // Nobody has kept the base of a delta, as where locks are switched off: the last write stands.
            Err(storage::Error::CorruptLog(_)) => {
                tree.apply_since(at, (write.key, leaf), as_change(write), room, &mut keep)?
            }
            applied => applied?,
        };
        if applied == Applied::Done && write.value.is_none() {
            self.note_tombstone(pushed.worker, (lsn, tree), write.key);
        }
        Ok(applied)
    }

    #[inline(never)]
    fn note_tombstone(&self, worker: usize, (lsn, tree): (Lsn, &Arc<Tree>), key: &[u8]) {
        let tombstone = Tombstone { lsn, tree: Arc::clone(tree), key: key.into() };
        self.collector.note_tombstone(worker, tombstone);
    }

    /// The planted fault: pages change although nothing has been logged yet (but for what is in scratch space).
    fn apply_unlogged(&self, state: &mut State) {
        let lsn = self.data.log().tail();
        if let Err(error) = self.apply_all(state, None, (lsn, lsn), Room::Free) {
            self.data.log().halt(&error.to_string());
        }
    }
}

/// Adds writes to a record as long as they fit, one at least: a limit below a write's size must not add nothing for ever.
fn fill<'w>(
    record: &mut Writer,
    rest: &mut std::iter::Peekable<impl Iterator<Item = (Write<'w>, Form)>>,
    limit: usize,
) {
    let mut first = true;
    while let Some((write, form)) = rest.next_if(|(write, _)| {
        let room = log::write_bytes_max(write.key.len(), write.value.map_or(0, <[u8]>::len));
        std::mem::take(&mut first) || record.payload().len() + room <= limit
    }) {
        record.write(write.tree, write.key, form.change(&write));
    }
}
