//! What a transaction works with, made once and handed from one transaction to the next.
//!
//! Beginning and ending a transaction allocates nothing in the steady state: its state comes from a pool of the worker
//! it begins on and goes to that of the worker it ends on.

use crate::lock::Modes;
use crate::log::{Header, Writer};
use crate::owner::OwnerId;
use crate::record::{BlockCache, Garbage, NodeRef};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::writeset::WriteSet;
use crate::{CommandId, Lsn, TableId, TreeId};
use crossbeam_utils::CachePadded;
use storage::{DataComponent, RecordBuffer, Tree, TreeLoad};

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

/// The state.
#[derive(Debug)]
pub struct State {
    pub(crate) owner: OwnerId,
    pub(crate) writes: WriteSet,
    pub(crate) rows: Vec<HeldRow>,
    pub(crate) tables: Vec<HeldTable>,
    /// Snapshots of views that outlive their statements.
    pub(crate) retained: Vec<Lsn>,
    pub(crate) trees: TreeHandles,
    pub(crate) header: Header,
    pub(crate) record: Writer,
    pub(crate) notes: Vec<Garbage>,
    pub(crate) scratch: RecordBuffer,
    /// Where spilled versions are read.
    pub(crate) spilled: BlockCache,
    /// Trees whose writes go to a load.
    pub(crate) loads: Vec<(TreeId, TreeLoad)>,
    /// Trees that were built, whose records count from the commit on.
    pub(crate) built: Vec<Arc<Tree>>,
}

/// Handles of the trees that recent transactions wrote to. A tree's number is never used again, so a handle never
/// becomes that of another tree; one of a dropped tree is not asked for any more.
#[derive(Debug, Default)]
pub struct TreeHandles(Vec<Arc<Tree>>);

impl TreeHandles {
    /// The handle of `tree`.
    pub(crate) fn get(
        &mut self,
        data: &DataComponent,
        tree: TreeId,
    ) -> storage::Result<&Arc<Tree>> {
        let at = match self.0.iter().position(|handle| handle.id() == tree) {
            Some(at) => at,
            None => {
                if self.0.len() >= TREES {
                    self.0.clear();
                }
                self.0.push(data.tree(tree)?);
                self.0.len() - 1
            }
        };
        Ok(&self.0[at])
    }
}

impl State {
    fn new(owner: OwnerId) -> State {
        State {
            owner,
            writes: WriteSet::default(),
            rows: Vec::new(),
            tables: Vec::new(),
            retained: Vec::new(),
            trees: TreeHandles::default(),
            header: Header::default(),
            record: Writer::default(),
            notes: Vec::new(),
            scratch: RecordBuffer::default(),
            spilled: BlockCache::default(),
            loads: Vec::new(),
            built: Vec::new(),
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

    pub(crate) fn take(&self, worker: usize, owner: impl FnOnce() -> OwnerId) -> Box<State> {
        let pooled = lock(&self.free[worker]).pop();
        pooled.unwrap_or_else(|| Box::new(State::new(owner())))
    }

    /// Takes a state back. An owner's place is never given up, so neither is a state: beyond its share a worker's
    /// states are only made small.
    pub(crate) fn give(&self, worker: usize, mut state: Box<State>) {
        state.writes.clear();
        state.rows.shrink_to(1024);
        state.notes.shrink_to(1024);
        state.header.parts.clear();
        let mut free = lock(&self.free[worker]);
        if free.len() >= POOLED {
            let owner = state.owner;
            *state = State::new(owner);
        }
        free.push(state);
    }
}
