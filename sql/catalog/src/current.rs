//! The current catalog of an open directory: one pointer to what is committed, swapped when a transaction with DDL commits.
//!
//! The swap happens between apply and the release of locks (`Transaction::commit`'s callback), so that whoever waited
//! for a lock sees what its holder did. Swaps are serialized here; each rebuilds by difference from the newest state, so
//! two transactions that changed different objects lose nothing of each other.
//!
//! OIDs come from a logged counter, advanced 64 at a time by a little commit of its own before any of them is used: an OID
//! is never given twice, not even by a transaction that rolled back. Trees that commits have replaced or dropped are freed
//! once no snapshot is older than the commit.
//!
//! A snapshot that is older sees nothing in a tree that the commit built. Where only trees have changed (CREATE INDEX, a
//! key that clusters the table anew) it goes on with the relation as it was: [`Catalog::past`]. Of TRUNCATE, and where
//! columns have other types now, it sees what PostgreSQL shows it: no rows (manual, section 13.6).
//!
//! Names are looked up in what is committed, but queries over the system relations read those of their snapshot, as in
//! PostgreSQL, where they are tables: what each commit has replaced is kept until every snapshot sees the commit
//! ([`Catalog::undone`]).

use crate::builtin;
use crate::effects::PreparedNote;
use crate::object::{Class, ObjectKey, well_known};
use crate::parts;
use crate::relation::{Relation, RelationKind};
use crate::sequence::Values;
use crate::snapshot::{CatalogSnapshot, Change, ClusterSnapshot};
use crate::store;
use arc_swap::ArcSwap;
use sql_types::Oid;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use txn::sync::{Mutex, lock as held, rank};
use txn::{Begin, Lsn, Manager, RowLock, SessionWait, Tree, TreeId};

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
    /// Counts the states: a session that asks for every statement whether its own is the newest reads only this.
    generation: AtomicU64,
    /// Held while a new state is made of the current one; never across a wait.
    swap: Mutex<(), { rank::CATALOG }>,
    /// The LSN of the newest commit that changed it.
    changed_at: AtomicU64,
    /// What older snapshots than those commits read instead of what is current, oldest first.
    past: Mutex<Vec<Past>, { rank::PAST }>,
    /// What objects were before those commits that some snapshot does not see, oldest first.
    undone: Mutex<Vec<Undone>, { rank::PAST }>,
    /// OIDs that the counter has passed and nobody has.
    oids: Mutex<VecDeque<Range<u32>>, { rank::IDENTIFIERS }>,
    /// How far sequences have come, by their states.
    sequences: Mutex<HashMap<Oid, Arc<Values>>, { rank::IDENTIFIERS }>,
}

/// A relation as it was before a commit whose trees older snapshots see nothing in.
#[derive(Clone, Debug)]
struct Past {
    lsn: Lsn,
    key: ObjectKey,
    before: Arc<Relation>,
}

/// What the objects that a commit has changed were before it.
#[derive(Debug)]
struct Undone {
    lsn: Lsn,
    before: Vec<Change>,
}

impl std::fmt::Debug for Catalog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalog").finish_non_exhaustive()
    }
}

/// What has been read at the start, before the manager is open: it says which trees are alive.
#[derive(Debug)]
pub struct Loaded {
    cluster: ClusterSnapshot,
    /// Trees that prepared transactions have made.
    prepared: Vec<TreeId>,
}

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
        let notes = PreparedNote::all(manager)?;
        Ok(Loaded {
            cluster: ClusterSnapshot::default().committed(&objects),
            prepared: notes.into_iter().flat_map(|note| note.effects.created).collect(),
        })
    }

    /// The trees that committed catalog rows name, the catalog's own first, and those that prepared transactions have made:
    /// for `Manager::open`.
    #[must_use]
    pub fn live_trees(&self) -> Vec<TreeId> {
        std::iter::once(store::CATALOG_TREE)
            .chain(self.cluster.relations().flat_map(|relation| relation.trees()))
            .chain(self.prepared.iter().copied())
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
            current: ArcSwap::from_pointee(loaded.cluster),
            generation: AtomicU64::new(0),
            swap: Mutex::new(()),
            changed_at: AtomicU64::new(0),
            past: Mutex::default(),
            undone: Mutex::default(),
            oids: Mutex::new(VecDeque::new()),
            sequences: Mutex::default(),
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

    /// The number of what is committed. Asked for *before* [`Catalog::current`], it is that state's or an older one's, which
    /// is found out with the next question.
    #[must_use]
    pub fn generation(&self) -> u64 {
        // Acquire: pairs with Release in `install`; who finds the number finds the state.
        self.generation.load(Ordering::Acquire)
    }

    /// What is committed, as a session of `database` sees it.
    #[must_use]
    pub fn snapshot(&self, database: Oid) -> Option<CatalogSnapshot> {
        self.current.load().database(database)
    }

    /// Makes changes that the commit at `lsn` made the current state. `loaded` are tables that had no rows and were not
    /// locked against readers.
    pub(super) fn install(&self, changes: &[Change], loaded: &[Oid], lsn: Lsn) {
        let _one_at_a_time = held(&self.swap);
        let before = self.current.load();
        let horizon = self.manager.horizon();
        let mut past = held(&self.past);
        past.retain(|past| past.lsn > horizon);
        let next = before.committed(changes);
        let mut left = Vec::new();
        let touched: BTreeSet<ObjectKey> =
            changes.iter().filter_map(|(key, _)| parts::relation_of(*key)).collect();
        for key in touched {
            let (Some(before), after) = (before.relation(key), next.relation(key)) else {
                continue;
            };
            if let RelationKind::Sequence(sequence) = &before.kind
                && !after.as_ref().is_some_and(|after| has_state(after, sequence.state))
            {
                left.push(sequence.state);
            }
            if let Some(after) = after
                && (loaded.contains(&key.oid) || has_other_trees(&before, &after))
            {
                past.push(Past { lsn, key, before });
            }
        }
        drop(past);
        let mut undone = held(&self.undone);
        undone.retain(|undone| undone.lsn > horizon);
        let was = |(key, _): &Change| (*key, before.object(*key));
        undone.push(Undone { lsn, before: changes.iter().map(was).collect() });
        drop(undone);
        if !left.is_empty() {
            held(&self.sequences).retain(|state, _| !left.contains(state));
        }
        // Release: pairs with Acquire in `changed_at`; who finds the new state finds its LSN.
        self.changed_at.store(lsn.0, Ordering::Release);
        self.current.store(Arc::new(next));
        // Release: see `generation`. Changed under the lock only.
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// The newest commit that changed it. What is planned with the current state reads with a snapshot at or above this.
    #[must_use]
    pub fn changed_at(&self) -> Lsn {
        Lsn(self.changed_at.load(Ordering::Acquire))
    }

    /// What is committed, and the changes of it that make what a snapshot sees of it; none if that is all.
    pub(super) fn undone(&self, snapshot: Lsn) -> Option<(Arc<ClusterSnapshot>, Vec<Change>)> {
        if snapshot >= self.changed_at() {
            return None;
        }
        let _one_at_a_time = held(&self.swap);
        let undone = held(&self.undone);
        // What was before the oldest of several commits is said last.
        let later = undone.iter().rev().filter(|undone| undone.lsn > snapshot);
        Some((self.current(), later.flat_map(|undone| undone.before.iter().cloned()).collect()))
    }

    /// What a snapshot reads instead of the current state: relations whose rows or indexes have since moved to trees that
    /// it sees nothing in.
    pub(super) fn past(&self, snapshot: Lsn) -> Vec<(ObjectKey, Arc<Relation>)> {
        if snapshot >= self.changed_at() {
            return Vec::new();
        }
        let mut seen: Vec<(ObjectKey, Arc<Relation>)> = Vec::new();
        for past in held(&self.past).iter().filter(|past| past.lsn > snapshot) {
            // The oldest is the one that the snapshot knew.
            if seen.iter().all(|(key, _)| *key != past.key) {
                seen.push((past.key, Arc::clone(&past.before)));
            }
        }
        seen
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

    /// The OID that will be given next, as far as it has been set aside.
    #[must_use]
    pub fn coming_oid(&self) -> Option<Oid> {
        held(&self.oids).front().map(|range| Oid(range.start))
    }

    /// How far a state of a sequence has come.
    pub(super) fn sequence_values(&self, state: Oid) -> Arc<Values> {
        Arc::clone(held(&self.sequences).entry(state).or_default())
    }

    fn advance_counter(&self) -> Result<Range<u32>> {
        let wait = Arc::new(SessionWait::new(0));
        let mut transaction = self.manager.begin(Begin::default(), &wait);
        transaction.begin_statement()?;
        let stored = store::lock(&mut transaction, &self.tree, COUNTER, RowLock::Update)?;
        let start = match stored.as_deref() {
            None => well_known::FIRST_NORMAL,
            Some(bytes) => u32::from_le_bytes(bytes.try_into().map_err(|_| {
                SqlError::new(SqlState::DATA_CORRUPTED, "the OID counter is no number")
            })?),
        };
        let end = start.checked_add(OIDS_PER_ADVANCE);
        let end = end.filter(|end| *end <= builtin::COUNTED_END).ok_or_else(|| {
            SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "no object identifiers are left")
        })?;
        store::write(&mut transaction, &self.tree, COUNTER, Some(&end.to_le_bytes()))?;
        // What uses these OIDs is logged behind this commit, so it is never durable without it: no need to wait.
        let _ = transaction.commit(&mut |_| ())?;
        Ok(start..end)
    }

    /// Frees trees that the commit at `lsn` dropped, once no older snapshot can read them.
    pub(super) fn drop_trees(&self, lsn: Lsn, trees: &[TreeId]) {
        self.manager.drop_trees(lsn, trees);
    }

    /// Frees trees that nobody can reach.
    pub(super) fn free(&self, trees: &[TreeId]) {
        self.manager.free_trees(trees);
    }
}

/// Whether it is a sequence in this state.
fn has_state(relation: &Relation, state: Oid) -> bool {
    matches!(&relation.kind, RelationKind::Sequence(sequence) if sequence.state == state)
}

/// Whether the rows are the same as before, and only the trees that hold or index them are not.
fn has_other_trees(before: &Relation, after: &Relation) -> bool {
    let (
        RelationKind::Table { tree: old, long_values: old_long, .. },
        RelationKind::Table { tree: new, long_values: new_long, .. },
    ) = (&before.kind, &after.kind)
    else {
        return false;
    };
    let columns = |relation: &Relation| {
        relation.columns.iter().map(|column| (column.ty, column.dropped)).collect::<Vec<_>>()
    };
    let known = |tree| before.indexes.iter().any(|index| index.tree == tree);
    // An index that becomes valid without a new tree has waited for the older snapshots.
    let mut read = after.indexes.iter().filter(|index| index.is_valid());
    // A table that was emptied has new trees for both.
    old_long == new_long
        && (old != new || !read.all(|index| known(index.tree)))
        && columns(before) == columns(after)
}
