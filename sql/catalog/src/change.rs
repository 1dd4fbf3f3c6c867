//! The catalog as one transaction sees and changes it.
//!
//! A change is written to the transaction's write set when it is made, and kept here as a difference to what is committed:
//! the transaction's own snapshot is the newest committed state plus its differences, so it sees its own DDL, and others'
//! as soon as they commit (as PostgreSQL's catalog lookups do, whatever the isolation level). A savepoint is a place in
//! the list of differences. Commit installs them; rollback forgets them and frees the trees that were made.
//!
//! What keeps two transactions from changing one object to different ends: the lock on the object's record
//! ([`CatalogTransaction::lock`], [`CatalogTransaction::lock_name`]) or, for tables, an ACCESS EXCLUSIVE lock and a second
//! look at the catalog behind it. Whoever has not looked again behind the lock on the record made their change of a state
//! that may be gone: [`CatalogTransaction::change`], the only place where the catalog changes, refuses it, and the statement
//! runs again on what is there now. Who only builds on an object holds it ([`CatalogTransaction::hold`]), as others may too.

use crate::acl::{AclItem, Privileges};
use crate::codec;
use crate::current::Catalog;
use crate::effects::Effects;
use crate::object::{Class, Object, ObjectKey, Schema, Version, well_known};
use crate::parts;
use crate::relation::{Index, Relation, RelationKind};
use crate::snapshot::{CatalogSnapshot, Change, ClusterSnapshot};
use crate::store;
use crate::temporary::{self, OnCommit, Temporary};
use sql_types::Oid;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{Ended, Lsn, RowLock, SchemeKind, Transaction, Tree, TreeId};

/// The number that stands for all notifications where sessions' numbers stand: no session has it.
const NOTIFICATIONS: u32 = u32::MAX;

/// A transaction's side of the catalog. A session keeps one; it is empty between transactions.
#[derive(Debug)]
pub struct CatalogTransaction {
    catalog: Arc<Catalog>,
    database: Oid,
    /// The committed state that `snapshot` was made of.
    base: Arc<ClusterSnapshot>,
    /// The same with what this transaction sees above it: `snapshot` is a database's part of it.
    own: Arc<ClusterSnapshot>,
    /// Its number, or an older one.
    generation: u64,
    snapshot: Arc<CatalogSnapshot>,
    changes: BTreeMap<ObjectKey, Option<Object>>,
    undo: Vec<Undo>,
    /// The labels that it has added to enums.
    added_labels: Vec<Oid>,
    /// What the transaction's snapshot reads instead of the committed state.
    past: Vec<(ObjectKey, Arc<Relation>)>,
    temporary: Temporary,
    /// What an older snapshot sees, and of which state that was made.
    seen: Option<((Lsn, u64, (u64, u64)), Arc<CatalogSnapshot>)>,
    /// Whether a change was made against a state that is no longer there.
    outdated: bool,
    /// It shows one state and nothing else.
    still: bool,
    /// `atoll.require_partition_key`.
    requires_partition_key: bool,
}

#[derive(Debug)]
enum Undo {
    /// A difference, and what it was before (none: there was none).
    Changed(ObjectKey, Option<Option<Object>>),
    /// A tree was made.
    Created(TreeId),
    /// A tree will be freed at commit.
    Dropped(TreeId),
    /// An empty table's rows went to new trees, while others may read the old ones.
    Loaded(Oid),
}

/// A place to roll back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CatalogSavepoint(usize);

impl CatalogSavepoint {
    /// Before everything that the transaction has done.
    pub const START: CatalogSavepoint = CatalogSavepoint(0);
}

impl CatalogTransaction {
    /// For sessions of `database`.
    ///
    /// # Errors
    /// 3D000 if there is no such database.
    pub fn new(catalog: &Arc<Catalog>, database: Oid) -> Result<CatalogTransaction> {
        let generation = catalog.generation();
        let base = catalog.current();
        let snapshot = base.database(database).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_CATALOG_NAME,
                format!("database {database} does not exist"),
            )
        })?;
        Ok(CatalogTransaction {
            catalog: Arc::clone(catalog),
            database,
            own: Arc::clone(&base),
            base,
            generation,
            snapshot: Arc::new(snapshot),
            changes: BTreeMap::new(),
            undo: Vec::new(),
            added_labels: Vec::new(),
            past: Vec::new(),
            temporary: Temporary::default(),
            seen: None,
            outdated: false,
            still: false,
            requires_partition_key: true,
        })
    }

    /// That shows a state as another transaction sees it, with what that has changed, and changes nothing.
    #[must_use]
    pub fn still(
        catalog: &Arc<Catalog>,
        database: Oid,
        snapshot: Arc<CatalogSnapshot>,
    ) -> CatalogTransaction {
        let base = catalog.current();
        CatalogTransaction {
            catalog: Arc::clone(catalog),
            database,
            own: Arc::clone(&base),
            base,
            generation: catalog.generation(),
            snapshot,
            changes: BTreeMap::new(),
            undo: Vec::new(),
            added_labels: Vec::new(),
            past: Vec::new(),
            temporary: Temporary::default(),
            seen: None,
            outdated: false,
            still: true,
            requires_partition_key: true,
        }
    }

    /// Whether a table has to say which partitions its rows are in, where they are in any.
    pub fn require_partition_key(&mut self, required: bool) {
        self.requires_partition_key = required;
    }

    /// The catalog now: what is committed, and this transaction's own changes. To be asked for at least once a statement.
    pub fn snapshot(&mut self) -> &Arc<CatalogSnapshot> {
        if !self.is_current() {
            self.take_current();
            self.rebuild();
        }
        &self.snapshot
    }

    /// Has the catalog show to a transaction that keeps to `snapshot` those relations as they were whose trees it would see
    /// nothing in; to any other (none) what is committed.
    pub fn look_back(&mut self, snapshot: Option<Lsn>) {
        if self.still || (snapshot.is_none() && self.past.is_empty()) {
            return;
        }
        let past = snapshot.map_or_else(Vec::new, |snapshot| self.catalog.past(snapshot));
        let same = past.len() == self.past.len()
            && past.iter().zip(&self.past).all(|(one, other)| one.0 == other.0);
        if !same {
            self.past = past;
            self.take_current();
            self.rebuild();
        }
    }

    /// Whether anything is shown as it was.
    #[must_use]
    pub fn has_past(&self) -> bool {
        !self.past.is_empty()
    }

    /// Whether a relation is shown as it was, and is not to be changed therefore.
    #[must_use]
    pub fn is_past(&self, relation: Oid) -> bool {
        self.past.iter().any(|(key, _)| key.oid == relation)
    }

    /// The state it was asked for last, unchanged by what others have committed since.
    #[must_use]
    pub fn last_snapshot(&self) -> &Arc<CatalogSnapshot> {
        &self.snapshot
    }

    /// The system relations as a snapshot of this transaction sees them.
    pub fn seen_at(&mut self, snapshot: Lsn) -> Arc<CatalogSnapshot> {
        let Some((committed, mut all)) = self.catalog.undone(snapshot).filter(|_| !self.still)
        else {
            return Arc::clone(&self.snapshot);
        };
        let state = (snapshot, self.catalog.generation(), self.snapshot.version());
        if let Some((known, seen)) = &self.seen
            && *known == state
        {
            return Arc::clone(seen);
        }
        all.extend(self.temporary.difference());
        all.extend(self.difference());
        let seen = committed.with(&all).database(self.database);
        let seen = seen.map_or_else(|| Arc::clone(&self.snapshot), Arc::new);
        self.seen = Some((state, Arc::clone(&seen)));
        seen
    }

    /// The catalog itself.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The session's database.
    #[must_use]
    pub fn database(&self) -> Oid {
        self.database
    }

    /// Whether anything has been changed: the transaction then plans with its own snapshot.
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.still || !self.changes.is_empty()
    }

    /// Whether its commit does more than to commit the transaction: the catalog or trees have changed.
    #[must_use]
    pub fn acts(&self) -> bool {
        !self.undo.is_empty()
    }

    fn take_current(&mut self) {
        self.generation = self.catalog.generation();
        self.base = self.catalog.current();
    }

    fn rebuild(&mut self) {
        if self.still {
            return;
        }
        let plain = self.changes.is_empty() && self.past.is_empty() && self.temporary.is_empty();
        self.own = match plain {
            true => Arc::clone(&self.base),
            false => Arc::new(self.base.with(&self.overlay())),
        };
        self.take_own();
    }

    /// Has the snapshot show one more change of this transaction: by difference to what it was, if nobody has committed
    /// anything since.
    fn show(&mut self, change: Change) {
        // What is shown as it was may be changed only where that is said.
        if self.is_current() && self.past.is_empty() {
            self.own = Arc::new(self.own.with(&[change]));
            self.take_own();
        } else {
            self.take_current();
            self.rebuild();
        }
    }

    fn take_own(&mut self) {
        if self.changes.is_empty() {
            self.added_labels.clear();
        }
        // A session's database cannot be dropped under it; if all the same, it keeps what it last saw.
        if let Some(snapshot) = self.own.database(self.database) {
            self.snapshot = Arc::new(snapshot.with_added_labels(&self.added_labels));
        }
    }

    /// A label is being added to an enum: until that has committed no value may be made of it.
    pub fn adds_label(&mut self, label: Oid) {
        self.added_labels.push(label);
    }

    /// What this transaction sees above what is committed.
    fn overlay(&self) -> Vec<Change> {
        let changed = |key: &ObjectKey| {
            self.changes.keys().any(|own| parts::relation_of(*own).is_some_and(|own| own == *key))
        };
        let past = self.past.iter().filter(|(key, _)| !changed(key)).flat_map(|(key, before)| {
            parts::changes(*key, self.base.relation(*key).as_deref(), Some(before))
        });
        let past: Vec<Change> = past.collect();
        let temporary: Vec<Change> = self.temporary.difference().collect();
        [past, temporary, self.difference()].concat()
    }

    fn difference(&self) -> Vec<Change> {
        self.changes.iter().map(|(key, object)| (*key, object.clone())).collect()
    }

    /// What the transaction's end does to the catalog that all sessions share.
    #[must_use]
    pub fn effects(&self) -> Effects {
        let mut effects = Effects { changes: self.difference(), ..Effects::default() };
        effects.changes.retain(|(key, _)| !self.temporary.has(key));
        for entry in &self.undo {
            match entry {
                Undo::Changed(..) => {}
                Undo::Created(tree) => effects.created.push(*tree),
                Undo::Dropped(tree) => effects.dropped.push(*tree),
                Undo::Loaded(table) => effects.loaded.push(*table),
            }
        }
        effects
    }

    /// The transaction has been prepared: what it has done is no longer the session's, and nobody's until it is resolved.
    pub fn hand_over(&mut self) {
        if self.acts() {
            self.undo.clear();
            self.changes.clear();
            self.take_current();
            self.rebuild();
        }
    }

    /// An OID that nothing has or had.
    ///
    /// # Errors
    /// Those of a commit.
    pub fn next_oid(&self) -> Result<Oid> {
        self.catalog.next_oid()
    }

    /// The OIDs of a new row type and of arrays of it.
    ///
    /// # Errors
    /// Those of a commit.
    pub fn next_row_type(&self) -> Result<(Oid, Oid)> {
        let oid = self.next_oid()?;
        Ok((oid, Oid(crate::builtin::array_of_made(oid.0))))
    }

    /// Locks an object against changes by others, until the transaction's end, and looks at the catalog again.
    ///
    /// # Errors
    /// Those of a lock: 40P01, 55P03, 57014.
    pub fn lock(&mut self, transaction: &mut Transaction, key: ObjectKey) -> Result<()> {
        store::lock(transaction, self.catalog.tree(), key, RowLock::Update)?;
        self.snapshot();
        Ok(())
    }

    /// The same for a change that matters to nobody who builds on the object: those who hold it are not waited for.
    ///
    /// # Errors
    /// Those of a lock: 40P01, 55P03, 57014.
    pub fn lock_beside(&mut self, transaction: &mut Transaction, key: ObjectKey) -> Result<()> {
        store::lock(transaction, self.catalog.tree(), key, RowLock::NoKeyUpdate)?;
        self.snapshot();
        Ok(())
    }

    /// Keeps an object from being dropped by others, or changed in what counts for who builds on it, until the transaction's
    /// end, and looks at the catalog again; false if it is no longer there.
    ///
    /// # Errors
    /// Those of a lock: 40P01, 55P03, 57014.
    pub fn hold(&mut self, transaction: &mut Transaction, key: ObjectKey) -> Result<bool> {
        if self.temporary.has(&key) {
            // Nobody else knows it.
            return Ok(self.snapshot().object(key).is_some());
        }
        let found = store::hold(transaction, self.catalog.tree(), key)?;
        self.snapshot();
        Ok(found)
    }

    /// Locks a name of this kind of object against being made by others, until the transaction's end, and looks at the
    /// catalog again. `schema` is 0 for what stands in none.
    ///
    /// # Errors
    /// Those of a lock: 40P01, 55P03, 57014.
    pub fn lock_name(
        &mut self,
        transaction: &mut Transaction,
        class: Class,
        schema: Oid,
        name: &str,
    ) -> Result<()> {
        let shared = matches!(class, Class::Database | Class::Role | Class::Parameter);
        let database = if shared { Oid(0) } else { self.database };
        store::lock_name(transaction, self.catalog.tree(), class, (database, schema), name)?;
        self.snapshot();
        Ok(())
    }

    /// Makes an object, changes it, or (none) drops it: `before` is what it was when the change was thought of, none if it
    /// was not there. Every change of the catalog is made here.
    ///
    /// # Errors
    /// Those of a lock and of a write; XX000 where the object is no longer what it was ([`CatalogTransaction::is_outdated`]).
    pub fn change(
        &mut self,
        transaction: &mut Transaction,
        key: ObjectKey,
        before: Option<&Object>,
        object: Option<Object>,
    ) -> Result<()> {
        if self.temporary.takes(&self.snapshot, key, object.as_ref(), before.is_some())? {
            temporary::mark(transaction, self.catalog.tree())?;
        } else {
            if let Some(object) = &object {
                temporary::demand_permanent(&self.snapshot, object)?;
            }
            let tree = Arc::clone(self.catalog.tree());
            let stored = store::lock_for(transaction, &tree, key, object.as_ref())?;
            // Whoever had the lock has installed what they did.
            self.snapshot();
            if before.map(codec::encode) != stored {
                return Err(self.refuse_outdated());
            }
            store::write_object(transaction, &tree, key, object.as_ref())?;
        }
        let before = self.changes.insert(key, object.clone());
        self.undo.push(Undo::Changed(key, before));
        self.show((key, object));
        Ok(())
    }

    /// Makes objects that nobody else can know of: those of a database that the transaction makes.
    ///
    /// # Errors
    /// Those of a lock and of a write.
    pub fn make_all(
        &mut self,
        transaction: &mut Transaction,
        objects: Vec<(ObjectKey, Object)>,
    ) -> Result<()> {
        let tree = Arc::clone(self.catalog.tree());
        for (key, object) in objects {
            store::lock_for(transaction, &tree, key, Some(&object))?;
            store::write_object(transaction, &tree, key, Some(&object))?;
            let before = self.changes.insert(key, Some(object));
            self.undo.push(Undo::Changed(key, before));
        }
        self.take_current();
        self.rebuild();
        Ok(())
    }

    /// The catalog as it would be for this transaction if a relation were another one.
    pub fn imagined_relation(&mut self, next: &Relation) -> Arc<CatalogSnapshot> {
        let key = self.key(Class::Relation, next.oid);
        let snapshot = Arc::clone(self.snapshot());
        let current = snapshot.relation(next.oid).map(|current| &**current);
        self.imagined(parts::changes(key, current, Some(next)))
    }

    /// The catalog as it would be for this transaction with these changes.
    pub fn imagined(&mut self, changes: Vec<Change>) -> Arc<CatalogSnapshot> {
        let known = Arc::clone(self.snapshot());
        self.own.with(&changes).database(self.database).map_or(known, Arc::new)
    }

    /// Makes a relation of the session's database, or changes the one that it was cloned from.
    ///
    /// # Errors
    /// As [`CatalogTransaction::change`].
    pub fn put_relation(
        &mut self,
        transaction: &mut Transaction,
        relation: Relation,
    ) -> Result<()> {
        let key = self.key(Class::Relation, relation.oid);
        let snapshot = Arc::clone(self.snapshot());
        let current = snapshot.relation(relation.oid);
        if relation.version != current.map_or(Version::NONE, |current| current.version) {
            return Err(self.refuse_outdated());
        }
        let current = current.map(|current| &**current);
        if self.requires_partition_key {
            demand_partition_key(transaction.begin().scheme, current, &relation)?;
        }
        for (key, before, after) in parts::changed_parts(key, current, Some(&relation)) {
            self.change(transaction, key, before.as_ref(), after)?;
        }
        Ok(())
    }

    /// Drops a relation of the session's database with its indexes.
    ///
    /// # Errors
    /// As [`CatalogTransaction::change`].
    pub fn remove_relation(
        &mut self,
        transaction: &mut Transaction,
        relation: &Relation,
    ) -> Result<()> {
        let key = self.key(Class::Relation, relation.oid);
        for (key, before, after) in parts::changed_parts(key, Some(relation), None) {
            self.change(transaction, key, before.as_ref(), after)?;
        }
        Ok(())
    }

    /// Makes an index of a table, whatever others change of it meanwhile.
    ///
    /// # Errors
    /// As [`CatalogTransaction::change`].
    pub fn add_index(
        &mut self,
        transaction: &mut Transaction,
        table: Oid,
        index: Index,
    ) -> Result<()> {
        let key = parts::index_key(self.key(Class::Relation, table), &index);
        self.change(transaction, key, None, Some(Object::Index(Arc::new(index))))
    }

    /// Changes an index of a table, whatever others change of that meanwhile; false if it is not there.
    ///
    /// # Errors
    /// As [`CatalogTransaction::change`].
    pub fn change_index(
        &mut self,
        transaction: &mut Transaction,
        (table, index): (Oid, Oid),
        change: impl FnOnce(&mut Index),
    ) -> Result<bool> {
        let key = ObjectKey { sub: index.0, ..self.key(Class::Index, table) };
        self.lock_beside(transaction, key)?;
        let Some(before) = self.snapshot().object(key) else { return Ok(false) };
        let Object::Index(found) = &before else { return Ok(false) };
        let mut next = Index::clone(found);
        change(&mut next);
        self.change(transaction, key, Some(&before), Some(Object::Index(Arc::new(next))))?;
        Ok(true)
    }

    fn refuse_outdated(&mut self) -> SqlError {
        self.outdated = true;
        // PostgreSQL's words, of whose statements few read again.
        SqlError::new(SqlState::INTERNAL_ERROR, "tuple concurrently updated")
    }

    /// Drops an object as `seen` has it, if it is there.
    ///
    /// # Errors
    /// As [`CatalogTransaction::change`].
    pub fn remove(
        &mut self,
        transaction: &mut Transaction,
        seen: &CatalogSnapshot,
        key: ObjectKey,
    ) -> Result<()> {
        match seen.object(key) {
            Some(before) => self.change(transaction, key, Some(&before), None),
            None => Ok(()),
        }
    }

    /// Removes the temporary routines, operators and what belongs to these.
    ///
    /// # Errors
    /// Those of a change.
    pub fn discard_routines_and_operators(&mut self, transaction: &mut Transaction) -> Result<()> {
        let snapshot = Arc::clone(self.snapshot());
        let keys: Vec<ObjectKey> = self.temporary.routines_and_operators().collect();
        keys.into_iter().try_for_each(|key| self.remove(transaction, &snapshot, key))
    }

    /// Whether a change was refused since this was last asked, because somebody else has committed another one of the same
    /// object after it was looked at: whoever reads again may make it.
    pub fn is_outdated(&mut self) -> bool {
        std::mem::take(&mut self.outdated)
    }

    /// The key of an object of the session's database.
    #[must_use]
    pub fn key(&self, class: Class, oid: Oid) -> ObjectKey {
        ObjectKey { class, database: self.database, oid, sub: 0 }
    }

    /// Makes a tree that lives on only if this transaction commits.
    ///
    /// # Errors
    /// 53100; I/O.
    pub fn create_tree(&mut self) -> Result<Arc<Tree>> {
        let data = self.catalog.manager().data();
        let tree = data.create_tree().map_err(txn::Error::from)?;
        self.undo.push(Undo::Created(tree.id()));
        Ok(tree)
    }

    /// The same, in the place of a tree that goes with the commit: it may have the last room there is.
    ///
    /// # Errors
    /// 53100; I/O.
    pub fn create_replacement(&mut self) -> Result<TreeId> {
        let data = self.catalog.manager().data();
        let tree = data.create_replacement().map_err(txn::Error::from)?.id();
        self.undo.push(Undo::Created(tree));
        Ok(tree)
    }

    /// Takes a tree that was built: like one that was made here it lives on only if this transaction commits.
    pub fn adopt_tree(&mut self, tree: &Tree) -> TreeId {
        self.undo.push(Undo::Created(tree.id()));
        tree.id()
    }

    /// Whether this transaction made the tree: nobody else can see it, and a bulk build may fill it.
    #[must_use]
    pub fn made(&self, tree: TreeId) -> bool {
        self.made_since(CatalogSavepoint::START, tree)
    }

    /// The same of what was done since a savepoint.
    #[must_use]
    pub fn made_since(&self, savepoint: CatalogSavepoint, tree: TreeId) -> bool {
        let mut since = self.undo[savepoint.0..].iter();
        since.any(|entry| matches!(entry, Undo::Created(made) if *made == tree))
    }

    /// Says that an empty table, which others may read, gets new trees: older snapshots go on with the old ones.
    pub fn note_loaded(&mut self, table: Oid) {
        self.undo.push(Undo::Loaded(table));
    }

    /// Whether the state it was asked for last is still what is committed.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.still || self.catalog.generation() == self.generation
    }

    /// Has a tree freed once this transaction has committed.
    pub fn drop_tree(&mut self, tree: TreeId) {
        self.undo.push(Undo::Dropped(tree));
    }

    /// Has a transaction that notifies wait for those before it, until they have committed: what they send arrives in the
    /// order of their commits.
    ///
    /// # Errors
    /// Those of a lock.
    pub fn lock_notifications(&mut self, transaction: &mut Transaction) -> Result<()> {
        temporary::lock_number(transaction, self.catalog.tree(), NOTIFICATIONS)
    }

    /// Whether the transaction has made, changed or dropped temporary objects.
    #[must_use]
    pub fn has_changed_temporary(&self) -> bool {
        self.changes.keys().any(|key| self.temporary.has(key))
    }

    /// Whether the session has temporary objects: its plans are of use to nobody else.
    #[must_use]
    pub fn has_temporary(&self) -> bool {
        !self.temporary.is_empty()
    }

    /// The schema of the session's temporary objects, made if there is none yet.
    ///
    /// # Errors
    /// Those of a commit and of a lock.
    pub fn temporary_schema(&mut self, transaction: &mut Transaction) -> Result<Arc<Schema>> {
        if let Some(schema) = self.snapshot().temporary_schema() {
            return Ok(Arc::clone(schema));
        }
        let oid = self.next_oid()?;
        let name = format!("{}{}", temporary::SCHEMA_PREFIX, transaction.wait().pid);
        let everybody = AclItem {
            grantee: Oid(0),
            grantor: well_known::SUPERUSER,
            privileges: Privileges::USAGE.union(Privileges::CREATE),
            grant_options: Privileges::default(),
        };
        let schema = Arc::new(Schema {
            oid,
            name: name.into(),
            owner: well_known::SUPERUSER,
            acl: Some(vec![everybody]),
        });
        let key = self.key(Class::Schema, oid);
        self.change(transaction, key, None, Some(Object::Schema(Arc::clone(&schema))))?;
        Ok(schema)
    }

    /// Says what becomes of a temporary table at commit.
    pub fn note_on_commit(&mut self, table: Oid, action: OnCommit) {
        self.temporary.note_on_commit(table, action);
    }

    /// Whether anything is done to temporary tables at commit.
    #[must_use]
    pub fn acts_on_commit(&self) -> bool {
        self.temporary.acts_on_commit()
    }

    /// The temporary tables that have something done to them at commit.
    pub fn on_commit(&mut self) -> Vec<(Oid, OnCommit)> {
        self.temporary.on_commit(&self.snapshot)
    }

    /// The session has ended, its last commit at `seen`: what only it knew goes.
    pub fn end_session(&mut self, seen: Lsn) {
        let trees = std::mem::take(&mut self.temporary).trees();
        self.catalog.drop_trees(seen, &trees);
    }

    /// A place to roll back to.
    #[must_use]
    pub fn savepoint(&self) -> CatalogSavepoint {
        CatalogSavepoint(self.undo.len())
    }

    /// What was changed since, each once, in the order in which it was first.
    #[must_use]
    pub fn changed_since(&self, savepoint: CatalogSavepoint) -> Vec<ObjectKey> {
        let mut keys = Vec::new();
        for undo in self.undo.get(savepoint.0..).unwrap_or_default() {
            if let Undo::Changed(key, _) = undo
                && !keys.contains(key)
            {
                keys.push(*key);
            }
        }
        keys
    }

    /// Takes back what was changed since. The transaction itself has been rolled back to its own savepoint before: no
    /// write is left for the trees that are freed here.
    pub fn rollback_to(&mut self, savepoint: CatalogSavepoint) {
        let mut made = Vec::new();
        while self.undo.len() > savepoint.0 {
            match self.undo.pop() {
                Some(Undo::Changed(key, Some(before))) => drop(self.changes.insert(key, before)),
                Some(Undo::Changed(key, None)) => drop(self.changes.remove(&key)),
                Some(Undo::Created(tree)) => made.push(tree),
                Some(Undo::Dropped(_) | Undo::Loaded(_)) | None => {}
            }
        }
        self.catalog.free(&made);
        self.take_current();
        self.rebuild();
    }

    /// Commits the transaction, and with it the catalog's changes. If it fails, everything has been rolled back.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub fn commit(&mut self, transaction: Transaction) -> Result<Ended> {
        self.commit_telling(transaction, &mut |_| ())
    }

    /// The same; `tell` is called with the commit's LSN before the transaction's locks go.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub fn commit_telling(
        &mut self,
        mut transaction: Transaction,
        tell: &mut dyn FnMut(Lsn),
    ) -> Result<Ended> {
        if self.undo.is_empty() {
            return Ok(transaction.commit(tell)?);
        }
        let (kept, effects) = (self.difference(), self.effects());
        if !effects.dropped.is_empty() {
            transaction.gives_room_back();
        }
        let mut committed = Lsn::ZERO;
        let ended = transaction.commit(&mut |lsn| {
            committed = lsn;
            effects.install(&self.catalog, lsn);
            tell(lsn);
        });
        match ended {
            Ok(ended) => {
                self.undo.clear();
                self.changes.clear();
                self.temporary.keep(kept);
                if !self.added_labels.is_empty() {
                    // Of a temporary type nothing has come to the others' state, so that the own one would stay.
                    self.take_own();
                }
                effects.committed(&self.catalog, committed);
                Ok(ended)
            }
            Err(error) => {
                self.rollback_to(CatalogSavepoint(0));
                Err(error.into())
            }
        }
    }

    /// Rolls the transaction back, and with it the catalog's changes.
    pub fn rollback(&mut self, transaction: Transaction) -> Ended {
        let ended = transaction.rollback();
        if !self.undo.is_empty() {
            self.rollback_to(CatalogSavepoint(0));
        }
        ended
    }
}

/// Where rows are in partitions, a table that is made has to say which (22023), and one that does so goes on.
fn demand_partition_key(
    scheme: SchemeKind,
    before: Option<&Relation>,
    relation: &Relation,
) -> Result<()> {
    let lacks_key = |relation: &Relation| match &relation.kind {
        RelationKind::Table { key, .. } => key.is_empty(),
        _ => false,
    };
    let shared = relation.persistence != 't' && relation.stored_query.is_none();
    if scheme.locks_rows() || !shared || !lacks_key(relation) || before.is_some_and(lacks_key) {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::INVALID_PARAMETER_VALUE,
        format!("table \"{}\" has no partition key", relation.name),
    )
    .detail(format!(
        "Under concurrency control {} the first column of a table's primary key says in which partition a row is.",
        scheme.name()
    ))
    .hint("Declare a primary key that is not deferrable, or set atoll.require_partition_key to off: each row is where the transaction is then that inserts it, and whoever looks for one enters all partitions."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{begin, catalog};
    use crate::{Loaded, SearchPath};

    fn make(own: &mut CatalogTransaction, transaction: &mut Transaction, name: &str) -> Oid {
        let oid = own.next_oid().unwrap();
        let acl = None;
        let schema = Schema { oid, name: name.into(), owner: well_known::SUPERUSER, acl };
        let key = own.key(Class::Schema, oid);
        own.change(transaction, key, None, Some(Object::Schema(Arc::new(schema)))).unwrap();
        oid
    }

    #[test]
    fn a_new_directory_has_what_initdb_makes() {
        let catalog = catalog();
        let snapshot = catalog.snapshot(well_known::POSTGRES).unwrap();
        let names: Vec<&str> = snapshot.shared().databases().map(|db| &*db.name).collect();
        assert_eq!(names, ["template1", "template0", "postgres"]);
        assert!(snapshot.shared().role("postgres").is_some_and(|role| role.superuser));
        let path = SearchPath::resolve(&snapshot, "\"$user\", public", well_known::SUPERUSER);
        assert_eq!(path.schemas, [well_known::PG_CATALOG, well_known::PUBLIC]);
        assert_eq!(path.creation, Some(well_known::PUBLIC));
        assert_eq!(path.listed(false), [well_known::PUBLIC]);
        assert!(snapshot.find_relation(&path.schemas, "pg_class").is_some());
        assert!(snapshot.relation_in("information_schema", "tables").is_some());
    }

    #[test]
    fn own_changes_are_seen_at_once_and_others_after_commit() {
        let catalog = catalog();
        let mut own = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
        let mut other = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
        let before = other.snapshot().version();
        let mut transaction = begin(&catalog);
        make(&mut own, &mut transaction, "mine");
        assert!(own.snapshot().schema("mine").is_some());
        assert!(other.snapshot().schema("mine").is_none());
        assert_eq!(other.snapshot().version(), before);
        let _ = own.commit(transaction).unwrap();
        assert!(!own.has_changes());
        assert!(other.snapshot().schema("mine").is_some());
        assert_ne!(other.snapshot().version(), before);
        // What was installed is what the next start reads.
        let again = Loaded::read(catalog.manager()).unwrap();
        let again = Catalog::open(catalog.manager(), again).unwrap();
        assert!(again.snapshot(well_known::POSTGRES).unwrap().schema("mine").is_some());
        assert!(again.snapshot(well_known::TEMPLATE1).unwrap().schema("mine").is_none());
    }

    #[test]
    fn two_transactions_lose_nothing_of_each_other() {
        let catalog = catalog();
        let mut one = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
        let mut two = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
        let (mut first, mut second) = (begin(&catalog), begin(&catalog));
        make(&mut one, &mut first, "one");
        make(&mut two, &mut second, "two");
        let _ = one.commit(first).unwrap();
        assert!(two.snapshot().schema("one").is_some() && two.snapshot().schema("two").is_some());
        let _ = two.commit(second).unwrap();
        let snapshot = one.snapshot();
        assert!(snapshot.schema("one").is_some() && snapshot.schema("two").is_some());
    }

    #[test]
    fn a_savepoint_takes_back_what_came_after_it() {
        let catalog = catalog();
        let mut own = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
        let mut transaction = begin(&catalog);
        let kept = make(&mut own, &mut transaction, "kept");
        let (savepoint, place) = (transaction.savepoint(), own.savepoint());
        let tree = own.create_tree().unwrap().id();
        make(&mut own, &mut transaction, "gone");
        let key = own.key(Class::Schema, kept);
        let seen = Arc::clone(own.snapshot());
        own.remove(&mut transaction, &seen, key).unwrap();
        assert!(own.snapshot().schema("kept").is_none());
        transaction.rollback_to(savepoint);
        own.rollback_to(place);
        assert!(own.snapshot().schema("kept").is_some());
        assert!(own.snapshot().schema("gone").is_none());
        assert!(catalog.manager().data().tree(tree).is_err(), "its tree has been freed");
        let _ = own.commit(transaction).unwrap();
        let snapshot = catalog.snapshot(well_known::POSTGRES).unwrap();
        assert!(snapshot.schema("kept").is_some() && snapshot.schema("gone").is_none());
    }

    #[test]
    fn a_rollback_leaves_neither_objects_nor_trees() {
        let catalog = catalog();
        let mut own = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
        let mut transaction = begin(&catalog);
        let first = make(&mut own, &mut transaction, "gone");
        let tree = own.create_tree().unwrap().id();
        own.drop_tree(store::CATALOG_TREE);
        let _ = own.rollback(transaction);
        assert!(own.snapshot().schema("gone").is_none());
        assert!(catalog.manager().data().tree(tree).is_err());
        assert!(catalog.manager().data().tree(store::CATALOG_TREE).is_ok());
        // An OID is never given twice.
        assert!(own.next_oid().unwrap() > first);
    }

    #[test]
    fn long_objects_are_cut_in_parts_and_shrink_again() {
        let catalog = catalog();
        let mut own = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
        let text = |count: usize| {
            let text = "x".repeat(count).into();
            Object::Comment(Arc::new(crate::object::Comment { class: well_known::PG_CLASS, text }))
        };
        let key = own.key(Class::Comment, Oid(20000));
        for length in [10_000, 3, 5_000] {
            let mut transaction = begin(&catalog);
            let before = own.snapshot().object(key);
            own.change(&mut transaction, key, before.as_ref(), Some(text(length))).unwrap();
            let _ = own.commit(transaction).unwrap();
            let read = Loaded::read(catalog.manager()).unwrap();
            let read = Catalog::open(catalog.manager(), read).unwrap();
            let snapshot = read.snapshot(well_known::POSTGRES).unwrap();
            assert_eq!(snapshot.comment(Oid(20000), 0).unwrap().text.len(), length);
        }
    }
}
