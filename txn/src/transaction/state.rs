//! What a transaction works with, made once and handed from one transaction to the next.
//!
//! Beginning and ending a transaction allocates nothing in the steady state: its state comes from a pool of the worker
//! it begins on and goes to that of the worker it ends on.

use super::kept_row::KeptRow;
use super::leaves::Leaves;
use crate::commit::PreparedWrite;
use crate::lock::spilled::LockRun;
use crate::lock::{Modes, TableLock};
use crate::log::{Header, Writer};
use crate::moves::Move;
use crate::owner::OwnerId;
use crate::record::{Garbage, NodeRef};
use crate::run::BlockCache;
use crate::sync::{Arc, Mutex, lock, rank};
use crate::writeset::WriteSet;
use crate::{CommandId, Lsn, TableId, TreeId};
use crossbeam_utils::CachePadded;
use std::ops::Range;
use storage::{DataComponent, Growth, RecordBuffer, Tree, TreeLoad};

/// States that a worker keeps at most.
const POOLED: usize = 64;
/// Tree handles that a state keeps at most.
const TREES: usize = 128;

/// A row lock as its transaction keeps it.
#[derive(Debug)]
pub struct HeldRow {
    pub(crate) node: NodeRef,
    /// What was held before this request.
    pub(crate) before: Modes,
    pub(crate) command: CommandId,
}

/// A table lock as its transaction keeps it: the sum, and one entry per grant.
#[derive(Clone, Copy, Debug)]
pub struct HeldTable {
    pub(crate) table: TableId,
    pub(crate) before: Modes,
    pub(crate) after: Modes,
    pub(crate) command: CommandId,
}

/// An advisory lock that a prepared transaction keeps.
#[derive(Debug)]
pub struct HeldName {
    pub(crate) node: NodeRef,
    pub(crate) mode: TableLock,
}

/// The state.
#[derive(Debug)]
pub struct State {
    pub(crate) owner: OwnerId,
    /// Transaction numbers that no other has.
    pub(crate) ids: Range<u64>,
    pub(crate) writes: WriteSet,
    pub(crate) rows: Vec<HeldRow>,
    /// How many of them were left when the others went to scratch space.
    pub(crate) rows_kept: usize,
    /// Row locks in scratch space.
    pub(crate) lock_runs: Vec<Arc<LockRun>>,
    pub(crate) tables: Vec<HeldTable>,
    /// Advisory locks, which are the session's until the transaction is prepared.
    pub(crate) names: Vec<HeldName>,
    /// Snapshots of views that outlive their statements.
    pub(crate) retained: Vec<Lsn>,
    pub(crate) trees: TreeHandles,
    pub(crate) header: Header,
    pub(crate) record: Writer,
    /// The writes of the commit, in their order.
    pub(crate) prepared: Vec<PreparedWrite>,
    /// What the writes of the commit let their trees grow by.
    pub(crate) growth: Growth,
    pub(crate) notes: Vec<Garbage>,
    pub(crate) scratch: RecordBuffer,
    pub(crate) kept: KeptRow,
    pub(crate) leaves: Leaves,
    /// Where spilled versions are read.
    pub(crate) spilled: BlockCache,
    /// Trees whose writes go to a load.
    pub(crate) loads: Vec<(TreeId, TreeLoad)>,
    /// Trees that were built, whose records count from the commit on, and by which command, ascending.
    pub(crate) built: Vec<(CommandId, Arc<Tree>)>,
    /// Rows that it has given another key, and by which command, ascending.
    pub(crate) moves: Vec<Move>,
    /// Whether its commit gives room back, and may have the last there is.
    pub(crate) gives_room_back: bool,
}

/// Handles of the trees that recent transactions wrote to. A tree's number is never used again, so a handle never
/// becomes that of another tree; one of a dropped tree is not asked for any more.
#[derive(Debug, Default)]
pub struct TreeHandles {
    trees: Vec<(TreeId, Arc<Tree>)>,
    /// Where the last one is: writes come ordered by tree.
    last: usize,
}

impl TreeHandles {
    /// The handle of `tree`.
    #[inline]
    pub(crate) fn get(
        &mut self,
        data: &DataComponent,
        tree: TreeId,
    ) -> storage::Result<&Arc<Tree>> {
        let is_at = |at: usize| self.trees.get(at).is_some_and(|(id, _)| *id == tree);
        if !is_at(self.last) {
            // The trees of the transaction before came in the same order.
            let next = self.last + 1;
            self.last = if is_at(next) { next } else { self.find(data, tree)? };
        }
        Ok(&self.trees[self.last].1)
    }

    /// Where the handle of `tree` is, which is fetched if it is not here.
    #[inline(never)]
    fn find(&mut self, data: &DataComponent, tree: TreeId) -> storage::Result<usize> {
        if let Some(at) = self.trees.iter().position(|(id, _)| *id == tree) {
            return Ok(at);
        }
        if self.trees.len() >= TREES {
            self.trees.clear();
        }
        self.trees.push((tree, data.tree(tree)?));
        Ok(self.trees.len() - 1)
    }
}

impl State {
    fn new(owner: OwnerId) -> State {
        State {
            owner,
            ids: 0..0,
            writes: WriteSet::default(),
            rows: Vec::new(),
            rows_kept: 0,
            lock_runs: Vec::new(),
            tables: Vec::new(),
            names: Vec::new(),
            retained: Vec::new(),
            trees: TreeHandles::default(),
            header: Header::default(),
            record: Writer::default(),
            prepared: Vec::new(),
            growth: Growth::default(),
            notes: Vec::new(),
            scratch: RecordBuffer::default(),
            kept: KeptRow::default(),
            leaves: Leaves::default(),
            spilled: BlockCache::default(),
            loads: Vec::new(),
            built: Vec::new(),
            moves: Vec::new(),
            gives_room_back: false,
        }
    }
}

/// A worker's free states. Boxed, because a state moves between pool and transaction at every begin and end.
type Free = Mutex<Vec<Box<State>>, { rank::GARBAGE }>;

/// States without a transaction, by worker.
#[derive(Debug)]
pub struct Pool {
    free: Box<[CachePadded<Free>]>,
}

impl Pool {
    pub(crate) fn new(workers: usize) -> Pool {
        Pool { free: (0..workers).map(|_| CachePadded::default()).collect() }
    }

    /// A state from the worker's own pool, or from another's: transactions move from worker to worker, and a new state for
    /// each pool that happens to be empty would let their number grow for ever.
    pub(crate) fn take(&self, worker: usize, owner: impl FnOnce() -> OwnerId) -> Box<State> {
        let own = lock(&self.free[worker]).pop();
        let pooled = own.or_else(|| self.take_from_any());
        pooled.unwrap_or_else(|| Box::new(State::new(owner())))
    }

    #[cold]
    fn take_from_any(&self) -> Option<Box<State>> {
        self.free.iter().find_map(|free| lock(free).pop())
    }

    /// Takes a state back. An owner's place is never given up, so neither is a state: beyond its share a worker's
    /// states are only made small.
    pub(crate) fn give(&self, worker: usize, mut state: Box<State>) {
        state.writes.clear();
        state.rows.shrink_to(1024);
        state.notes.shrink_to(1024);
        state.prepared.clear();
        state.prepared.shrink_to(1024);
        state.header.parts.clear();
        state.header.name = None;
        state.header.number = None;
        let mut free = lock(&self.free[worker]);
        if free.len() >= POOLED {
            let owner = state.owner;
            *state = State::new(owner);
        }
        free.push(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::Owners;

    #[test]
    fn there_are_no_more_states_than_transactions_at_a_time() {
        let (pool, owners) = (Pool::new(4), Owners::new());
        for round in 0..1000 {
            let states: Vec<_> =
                (0..3).map(|n| pool.take((round + n) % 4, || owners.register())).collect();
            states.into_iter().enumerate().for_each(|(n, state)| pool.give(round * n % 4, state));
        }
        assert_eq!(owners.count(), 3);
    }
}
