//! The current catalog of an open directory: one pointer to what is committed, swapped when a transaction with DDL commits.
//!
//! The swap happens between apply and the release of locks (`Transaction::commit`'s callback), so that whoever waited
//! for a lock sees what its holder did. Swaps are serialized here; each rebuilds by difference from the newest state, so
//! two transactions that changed different objects lose nothing of each other.
//!
//! OIDs come from a logged counter, advanced 64 at a time by a little commit of its own before any of them is used: an OID
//! is never given twice, not even by a transaction that rolled back. Trees that commits have replaced or dropped are
//! freed here. Nobody can reach them any more: readers hold a table lock, and who comes later looks the name up in the
//! swapped catalog; and the record that frees them follows the commit's in the log, so it is never durable without it.

use crate::catalog::object::{Class, ObjectKey, well_known};
use crate::catalog::snapshot::{CatalogSnapshot, Change, ClusterSnapshot};
use crate::catalog::store;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use arc_swap::ArcSwap;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use txn::sync::{Mutex, lock as held};
use txn::{Begin, Manager, SessionWait, StorageError, Tree, TreeId};

/// How many OIDs one advance of the counter makes available.
const OIDS_PER_ADVANCE: u32 = 64;

/// The counter's key.
const COUNTER: ObjectKey =
    ObjectKey { class: Class::Counter, database: Oid(0), oid: Oid(0), sub: 0 };

/// The catalog of an open directory.
pub struct Catalog {
    manager: Arc<Manager>,
    tree: Arc<Tree>,
    current: ArcSwap<ClusterSnapshot>,
    /// Held while a new state is made of the current one; never across a wait.
    swap: Mutex<()>,
    /// OIDs that the counter has passed and nobody has.
    oids: Mutex<VecDeque<Range<u32>>>,
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalog").finish_non_exhaustive()
    }
}

/// What has been read at the start, before the manager is open: it says which trees are alive.
#[derive(Debug)]
pub struct Loaded(ClusterSnapshot);

impl Loaded {
    /// Reads the catalog of a directory.
    ///
    /// # Errors
    /// Storage's; XX001 for records that are none.
    pub fn read(manager: &Arc<Manager>) -> Result<Loaded> {
        let objects = store::read_all(manager)?;
        if objects.is_empty() {
            return Err(SqlError::new(SqlState::DATA_CORRUPTED, "the directory has no catalog"));
        }
        Ok(Loaded(ClusterSnapshot::default().with(&objects)))
    }

    /// The trees that committed catalog rows name, the catalog's own first: for `Manager::open`.
    #[must_use]
    pub fn live_trees(&self) -> Vec<TreeId> {
        std::iter::once(store::CATALOG_TREE)
            .chain(self.0.relations().flat_map(|relation| relation.trees()))
            .collect()
    }
}

impl Catalog {
    /// The catalog that has been read, with the manager that is now open.
    ///
    /// # Errors
    /// Storage's.
    pub fn open(manager: &Arc<Manager>, loaded: Loaded) -> Result<Arc<Catalog>> {
        Ok(Arc::new(Catalog {
            tree: store::tree(manager)?,
            manager: Arc::clone(manager),
            current: ArcSwap::from_pointee(loaded.0),
            swap: Mutex::new(()),
            oids: Mutex::new(VecDeque::new()),
        }))
    }

    /// The transaction component it is stored with.
    #[must_use]
    pub fn manager(&self) -> &Arc<Manager> {
        &self.manager
    }

    /// The tree of the catalog's records.
    #[must_use]
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// What is committed.
    #[must_use]
    pub fn current(&self) -> Arc<ClusterSnapshot> {
        self.current.load_full()
    }

    /// Whether `snapshot` is still what is committed: cheap enough to ask for every statement.
    #[must_use]
    pub fn is_current(&self, snapshot: &Arc<ClusterSnapshot>) -> bool {
        Arc::ptr_eq(&self.current.load(), snapshot)
    }

    /// What is committed, as a session of `database` sees it.
    #[must_use]
    pub fn snapshot(&self, database: Oid) -> Option<CatalogSnapshot> {
        self.current.load().database(database)
    }

    /// Makes committed changes the current state.
    pub(super) fn install(&self, changes: &[Change]) {
        let _one_at_a_time = held(&self.swap);
        self.current.store(Arc::new(self.current.load().with(changes)));
    }

    /// An OID that nothing has or had.
    ///
    /// # Errors
    /// Those of a commit; 54000 when all have been given.
    pub fn next_oid(&self) -> Result<Oid> {
        loop {
            let mut ranges = held(&self.oids);
            if let Some(range) = ranges.front_mut() {
                let oid = range.start;
                range.start += 1;
                if range.start == range.end {
                    ranges.pop_front();
                }
                return Ok(Oid(oid));
            }
            // The advance may wait: nobody waits for it here.
            drop(ranges);
            let range = self.advance_counter()?;
            held(&self.oids).push_back(range);
        }
    }

    fn advance_counter(&self) -> Result<Range<u32>> {
        let wait = Arc::new(SessionWait::new(0));
        let mut transaction = self.manager.begin(Begin::default(), &wait);
        transaction.begin_statement()?;
        let stored = store::lock(&mut transaction, &self.tree, COUNTER)?;
        let start = match stored.as_deref() {
            None => well_known::FIRST_NORMAL,
            Some(bytes) => u32::from_le_bytes(bytes.try_into().map_err(|_| {
                SqlError::new(SqlState::DATA_CORRUPTED, "the OID counter is no number")
            })?),
        };
        let end = start.checked_add(OIDS_PER_ADVANCE).ok_or_else(|| {
            SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "no object identifiers are left")
        })?;
        store::write(&mut transaction, &self.tree, COUNTER, Some(&end.to_le_bytes()))?;
        // What uses these OIDs is logged behind this commit, so it is never durable without it: no need to wait.
        let _ = transaction.commit(&mut |_| ())?;
        Ok(start..end)
    }

    /// Frees trees that nobody can reach. What cannot be freed now, because the log is full or has halted, is freed by
    /// the next recovery, because no catalog row names it.
    pub(super) fn free(&self, trees: &[TreeId]) {
        for tree in trees {
            let freed = self.manager.data().free_tree(*tree);
            let known = matches!(freed, Err(StorageError::NoTree(_)));
            debug_assert!(!known, "tree {tree:?} has been freed before");
        }
    }
}
