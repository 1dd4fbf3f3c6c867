//! Row locks in scratch space: those of a transaction that has more of them than it may hold in memory.
//!
//! They stand in sorted runs ([`crate::run`]): an entry's order is the command that took the lock, and its mark the modes.
//! The record's node goes, unless others wait or hold there too. All runs are on one list, which whoever asks for a row
//! looks through, filter by filter, once there are any; nearly always there are none.
//!
//! A spilled lock that is in somebody's way is *put back* into its record's queue, under the node's mutex, and everything
//! is as it was: the other waits there, deadlocks are found, and whoever it belongs to lets go of it in its end. Who does
//! not wait (NOWAIT, SKIP LOCKED), or is not excluded by it, leaves it where it is.
//!
//! **Nobody falls between.** A run is on the list before its locks leave their queues, which happens under each node's
//! mutex. Who asks for a lock looks through the list first and takes the node's mutex afterwards; if a run has come
//! meanwhile, it looks again. So it finds a lock in the queue or on the list. A transaction that ends closes its runs
//! first: then nothing of them is put back any more, and what was is released with the rest.
//!
//! **Savepoints.** An entry is older than any lock of the same owner on the same row that stands in memory. ROLLBACK TO cuts
//! runs: entries by later commands no longer count, and those that were put back leave their queues.

use super::LockManager;
use super::mode::{Modes, ROW_CONFLICTS, RowRequest};
use super::queue::Kind;
use crate::owner::OwnerId;
use crate::record::{Node, NodeRef, NodeState};
use crate::run::{BlockCache, Entry, Run, Runs};
use crate::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::transaction::state::HeldRow;
use crate::{CommandId, TreeId};
use crossbeam_utils::CachePadded;
use std::collections::HashSet;
use storage::Scratch;

/// What a row lock in memory occupies beside its key, in bytes.
const LOCK_BYTES: usize = size_of::<Node>() + size_of::<HeldRow>() + 64;

/// A spilled lock that stands in its record's queue again.
#[derive(Debug)]
struct Back {
    command: u64,
    modes: Modes,
    node: NodeRef,
}

/// Locks that one transaction has spilled at one time.
#[derive(Debug)]
pub struct LockRun {
    owner: OwnerId,
    run: Run,
    /// Locks taken by commands from here on have been given up.
    below: AtomicU64,
    /// Those that stand in their queues; none once the transaction has ended.
    back: Mutex<Option<Vec<Back>>, { rank::LOCK_RUN }>,
}

/// A spilled lock that excludes a request.
#[derive(Debug)]
pub(super) struct InTheWay {
    run: Arc<LockRun>,
    command: u64,
    modes: Modes,
}

/// What the runs have of a record.
#[derive(Debug)]
pub(super) struct Seen {
    /// As the list was after so many runs.
    pub(super) made: u64,
    /// Whether the owner itself has spilled a lock that covers the request.
    pub(super) own: bool,
    pub(super) others: Vec<InTheWay>,
}

/// All runs.
#[derive(Debug, Default)]
pub struct SpilledLocks {
    count: CachePadded<AtomicUsize>,
    /// Runs that have ever been on the list.
    made: AtomicU64,
    list: Mutex<Arc<Vec<Arc<LockRun>>>, { rank::GARBAGE }>,
}

impl InTheWay {
    /// Whether its owner still has it.
    pub(super) fn stands(&self) -> bool {
        let open = lock(&self.run.back).is_some();
        open && self.command < self.run.below.load(Ordering::Acquire)
    }

    /// Puts it back into the queue of its record, whose mutex the caller holds.
    pub(super) fn put_back(&self, node: &Node, state: &mut NodeState) {
        let LockRun { owner, below, back, .. } = &*self.run;
        let mut back = lock(back);
        let Some(back) = &mut *back else { return };
        let known = |one: &Back| std::ptr::eq(&raw const *one.node, node);
        if self.command < below.load(Ordering::Acquire) && !back.iter().any(known) {
            let (command, modes) = (self.command, self.modes);
            state.lock.adopt(*owner, modes);
            back.push(Back { command, modes, node: NodeRef::pinned(node, state) });
        }
    }
}

impl LockRun {
    /// The modes that stand in the queue of `node` again.
    fn modes_back(&self, node: &Node) -> Modes {
        let back = lock(&self.back);
        let mut back = back.iter().flatten();
        let one = back.find(|one| std::ptr::eq(&raw const *one.node, node));
        one.map_or(0, |one| one.modes)
    }

    /// The newest lock of a record that counts.
    fn find(
        &self,
        name: (TreeId, &[u8]),
        hash: u64,
        cache: &mut BlockCache,
    ) -> storage::Result<Option<(u64, Modes)>> {
        let below = self.below.load(Ordering::Acquire);
        if below == 0 || !self.run.may_have(name, hash) {
            return Ok(None);
        }
        let found = self.run.find(name, below - 1, cache)?;
        Ok(found.map(|entry| (entry.order, entry.mark as Modes)))
    }
}

impl SpilledLocks {
    /// Whether there are none. Asked under the mutex of a node: a lock that has left its queue is on the list.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Runs that have ever been on the list.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Acquire)
    }

    /// Whether there may be a lock on a record, by the runs' filters. Reads nothing.
    pub(super) fn may_have(&self, tree: TreeId, key: &[u8]) -> bool {
        let list = lock(&self.list);
        let Some(first) = list.first() else { return false };
        let hash = first.run.hash(tree, key);
        list.iter().any(|run| run.run.may_have((tree, key), hash))
    }

    /// Looks for locks on a record that exclude `mode`, and whether `owner` has one that covers it.
    #[cold]
    pub(super) fn look(
        &self,
        owner: OwnerId,
        name: (TreeId, &[u8]),
        request: RowRequest,
    ) -> storage::Result<Seen> {
        let made = self.made();
        let list = Arc::clone(&lock(&self.list));
        let mut seen = Seen { made, own: false, others: Vec::new() };
        let Some(first) = list.first() else { return Ok(seen) };
        let hash = first.run.hash(name.0, name.1);
        let mut cache = BlockCache::default();
        for run in list.iter() {
            let Some((command, modes)) = run.find(name, hash, &mut cache)? else { continue };
            if run.owner == owner {
                seen.own |= request.covered_by(modes);
            } else if ROW_CONFLICTS[usize::from(request.number())] & modes != 0 {
                seen.others.push(InTheWay { run: Arc::clone(run), command, modes });
            }
        }
        Ok(seen)
    }

    fn add(&self, run: &Arc<LockRun>) {
        let mut list = lock(&self.list);
        Arc::make_mut(&mut list).push(Arc::clone(run));
        self.count.store(list.len(), Ordering::Release);
        // Release: who takes a node's mutex after a lock has left its queue sees this.
        self.made.fetch_add(1, Ordering::AcqRel);
    }

    fn remove(&self, runs: &[Arc<LockRun>]) {
        let gone: Vec<_> = {
            let mut list = lock(&self.list);
            let among = |run: &mut Arc<LockRun>| runs.iter().any(|one| Arc::ptr_eq(one, run));
            let gone = Arc::make_mut(&mut list).extract_if(.., among).collect();
            self.count.store(list.len(), Ordering::Release);
            gone
        };
        // Files go where no latch is held.
        drop(gone);
    }
}

impl LockManager {
    /// Whether that many row locks are more than `limit` bytes.
    #[inline]
    pub(crate) fn is_too_much(rows: usize, limit: usize) -> bool {
        rows * LOCK_BYTES > limit
    }

    /// Moves row locks to scratch space: all but those that were made stronger. None if there are none to move.
    ///
    /// # Errors
    /// [`storage::Error::Full`]; I/O. Then nothing has changed.
    pub(crate) fn spill_rows(
        &self,
        owner: OwnerId,
        rows: &mut Vec<HeldRow>,
        (runs, scratch): (&Runs, &Arc<Scratch>),
    ) -> storage::Result<Option<Arc<LockRun>>> {
        let stronger: HashSet<*const Node> =
            rows.iter().filter(|held| held.before != 0).map(|held| &raw const *held.node).collect();
        let alone =
            |held: &mut HeldRow| held.before == 0 && !stronger.contains(&(&raw const *held.node));
        let mut going: Vec<HeldRow> = rows.extract_if(.., alone).collect();
        if going.is_empty() {
            return Ok(None);
        }
        going.sort_unstable_by(|a, b| {
            (a.node.tree(), a.node.key()).cmp(&(b.node.tree(), b.node.key()))
        });
        let run = match write(owner, &going, runs, scratch) {
            Ok(run) => run,
            Err(error) => {
                rows.append(&mut going);
                rows.sort_by_key(|held| held.command);
                return Err(error);
            }
        };
        let (below, back) = (AtomicU64::new(u64::MAX), Mutex::new(Some(Vec::new())));
        let run = Arc::new(LockRun { owner, run, below, back });
        self.spilled.add(&run);
        // Rows are mostly locked in the order of their keys: the last of them is the first of its bucket.
        for HeldRow { node, command, .. } in going.into_iter().rev() {
            self.records.unpin_after(node, |node, state, _| {
                let mut back = lock(&run.back);
                let Some(back) = &mut *back else { return };
                // Since the run is on the list somebody may have put it back: then it stays.
                if back.iter().any(|one| std::ptr::eq(&raw const *one.node, node)) {
                    return;
                }
                let others = state.lock.holders().any(|holder| holder.owner != owner);
                if others || state.lock.waiters().next().is_some() {
                    let (command, modes) = (u64::from(command.0), state.lock.held(owner));
                    back.push(Back { command, modes, node: NodeRef::pinned(node, state) });
                } else {
                    state.lock.release(Kind::Row, owner, 0, &mut |_| ());
                }
            });
        }
        rows.shrink_to(1024);
        Ok(Some(run))
    }

    /// Gives up what `own` has of locks taken by `from` and later commands.
    pub(crate) fn cut_runs(&self, owner: OwnerId, own: &mut Vec<Arc<LockRun>>, from: CommandId) {
        let from = u64::from(from.0);
        let mut gone = Vec::new();
        for run in own.iter().filter(|run| run.run.orders().1 >= from) {
            let mut back = lock(&run.back);
            // Under the latch under which locks are put back.
            run.below.fetch_min(from, Ordering::AcqRel);
            gone.extend(
                back.iter_mut().flat_map(|back| back.extract_if(.., |one| one.command >= from)),
            );
        }
        for one in gone {
            self.unlock_row((owner, own), one.node, 0);
        }
        let empty: Vec<_> = own.extract_if(.., |run| run.run.orders().0 >= from).collect();
        self.spilled.remove(&empty);
    }

    /// Gives up all that a transaction has spilled: its end.
    #[cold]
    pub(crate) fn release_runs(&self, owner: OwnerId, own: &mut Vec<Arc<LockRun>>) {
        let own = std::mem::take(own);
        let back: Vec<_> = own.iter().filter_map(|run| lock(&run.back).take()).flatten().collect();
        self.spilled.remove(&own);
        for one in back {
            self.unlock_row((owner, &[]), one.node, 0);
        }
    }
}

/// The modes that the runs of an owner have put back into the queue of a node, whose mutex the caller holds.
pub(super) fn modes_back(own: &[Arc<LockRun>], node: &Node) -> Modes {
    own.iter().fold(0, |modes, run| modes | run.modes_back(node))
}

fn write(
    owner: OwnerId,
    rows: &[HeldRow],
    runs: &Runs,
    scratch: &Arc<Scratch>,
) -> storage::Result<Run> {
    let mut run = runs.begin(scratch, rows.len())?;
    for held in rows {
        let modes = held.node.state().lock.held(owner);
        run.push(Entry {
            tree: held.node.tree(),
            key: held.node.key(),
            order: u64::from(held.command.0),
            mark: u64::from(modes),
            value: None,
        })?;
    }
    run.finish()
}
