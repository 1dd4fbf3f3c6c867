//! Bulk writes: a new tree that is built from the bottom, past the write set and the log.
//!
//! Only a tree that the transaction made itself, and that nobody else can reach before its commit, is written so. Its
//! records carry no LSN: they count from the commit on, which gives the tree its birth, and an older snapshot sees none
//! of them. The tree is durable before the commit is claimed; a rollback frees it, and so does the recovery after a crash,
//! because no committed catalog row names it.
//!
//! A statement may either feed a [`TreeLoad`] itself or have its writes to an empty tree diverted to one. The statement
//! does not see what it has written (no statement does), so nothing is missed before the load has ended.

use super::Transaction;
use crate::{Error, Result};
use storage::{Loaded, TreeId, TreeLoad};

/// Records that are merged and built between two looks at whether the statement was cancelled.
const STEP: usize = 4096;

/// The load that writes to `tree` go to.
pub(super) fn of(loads: &mut [(TreeId, TreeLoad)], tree: TreeId) -> Option<&mut TreeLoad> {
    loads.iter_mut().find(|(known, _)| *known == tree).map(|(_, load)| load)
}

impl Transaction {
    /// A load of a new tree, which holds at most `memory_bytes_max` of records in memory; the rest goes to temporary
    /// files. `fill_percent` is how full leaves are made.
    #[must_use]
    pub fn new_load(&self, memory_bytes_max: usize, fill_percent: Option<u8>) -> TreeLoad {
        self.manager.data.tree_load(memory_bytes_max, fill_percent)
    }

    /// Has writes to `tree` go to `load`, until [`Transaction::take_load`]. The tree is the transaction's own and empty,
    /// and stays as it is: what is built in the end is another.
    pub fn divert(&mut self, tree: TreeId, load: TreeLoad) {
        debug_assert!(!self.is_loading(tree), "a tree has one load");
        self.state_mut().loads.push((tree, load));
    }

    /// Whether writes to a tree go to a load.
    #[must_use]
    pub fn is_loading(&self, tree: TreeId) -> bool {
        self.state().loads.iter().any(|(known, _)| *known == tree)
    }

    /// Ends the diversion of writes to `tree`.
    pub fn take_load(&mut self, tree: TreeId) -> Option<TreeLoad> {
        let loads = &mut self.state_mut().loads;
        let at = loads.iter().position(|(known, _)| *known == tree)?;
        Some(loads.swap_remove(at).1)
    }

    /// Gives up every load that writes are diverted to: the statement has failed.
    pub fn abandon_loads(&mut self) {
        self.state_mut().loads.clear();
    }

    /// Builds the tree of a load. The caller frees it if the transaction, or the savepoint it was built in, rolls back.
    ///
    /// # Errors
    /// [`Error::Cancelled`]; storage's.
    pub fn build(&mut self, load: TreeLoad) -> Result<Loaded> {
        let mut loading = load.finish()?;
        while loading.advance(STEP)? {
            if let Some(reason) = self.wait.cancel.requested() {
                return Err(Error::Cancelled(reason));
            }
        }
        let loaded = loading.finish()?;
        if let Loaded::Built(tree) = &loaded {
            let built = (self.command, std::sync::Arc::clone(tree));
            self.state_mut().built.push(built);
        }
        Ok(loaded)
    }
}
