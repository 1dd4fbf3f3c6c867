//! CREATE DATABASE ... TEMPLATE: a copy of a database's objects, under their OIDs, and of its trees, record by record
//! (PostgreSQL 15 manual, section 23.3).
//!
//! The trees are built from the bottom, past write set and log ([`txn::TreeLoad`]), and durable before the commit is
//! claimed: the copy is there with its commit, all of it, or else its trees are freed. Nobody else is in the database that is
//! copied; whoever comes meanwhile may read it, and waits where he would write. Sequences go on where they are, each by a
//! state of its own; what settings say of the database stays with it.

use super::Ddl;
use super::build::{LATEST, fill_percent};
use crate::catalog::object::{Object, ObjectKey};
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::{sequence, store};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::collections::{HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, Loaded, TableLock, TreeId, WaitPolicy};

impl Ddl<'_> {
    /// Gives a new database what another one has.
    pub(super) fn copy_database(&mut self, from: Oid, to: Oid) -> Result<()> {
        let objects = self.hold_objects(from)?;
        let mut trees: HashMap<TreeId, TreeId> = HashMap::new();
        let mut copies = Vec::with_capacity(objects.len());
        // The keys are in the order of their classes: an index comes behind the table in whose tree it may be.
        for (key, object) in objects {
            let object = match object {
                Object::Relation(relation) => {
                    let mut copy = Relation::clone(&relation);
                    self.copy_relation(from, &mut copy, &mut trees)?;
                    Object::Relation(Arc::new(copy))
                }
                Object::Index(index) => {
                    let mut copy = (*index).clone();
                    copy.tree = match trees.get(&copy.tree) {
                        Some(tree) => *tree,
                        None => self.copy_tree(copy.tree, fill_percent(&copy.options))?,
                    };
                    Object::Index(Arc::new(copy))
                }
                other => other,
            };
            copies.push((ObjectKey { database: to, ..key }, object));
        }
        self.catalog.make_all(self.transaction, copies)
    }

    /// The objects of a database, with its tables locked against changes.
    fn hold_objects(&mut self, database: Oid) -> Result<Vec<(ObjectKey, Object)>> {
        let manager = Arc::clone(self.transaction.manager());
        let mut held = HashSet::new();
        loop {
            let objects = store::read_database(&manager, database)?;
            let known = held.len();
            for (key, object) in &objects {
                let Object::Relation(relation) = object else { continue };
                let is_table = matches!(relation.kind, RelationKind::Table { .. });
                if is_table && held.insert(key.oid) {
                    let lock = Relation::lock_of(database, key.oid);
                    self.transaction.lock_table(lock, TableLock::Share, WaitPolicy::Block)?;
                }
            }
            // What was committed while a lock was waited for is part of it.
            if held.len() == known {
                return Ok(objects);
            }
        }
    }

    fn copy_relation(
        &mut self,
        from: Oid,
        copy: &mut Relation,
        trees: &mut HashMap<TreeId, TreeId>,
    ) -> Result<()> {
        let fill = fill_percent(&copy.options);
        match &mut copy.kind {
            RelationKind::Table { tree, long_values, .. } => {
                // Pieces of long values are never updated in place.
                for (tree, fill) in [(tree, fill), (long_values, Some(100))] {
                    let made = self.copy_tree(*tree, fill)?;
                    trees.insert(*tree, made);
                    *tree = made;
                }
            }
            RelationKind::Sequence(counted) => {
                let catalog = Arc::clone(self.catalog.catalog());
                let (state, _) = sequence::state(&catalog, from, counted)?;
                counted.initial = state;
                counted.state = self.catalog.next_oid()?;
            }
            RelationKind::System | RelationKind::View { .. } | RelationKind::Composite => {}
        }
        Ok(())
    }

    /// A tree with the same records.
    fn copy_tree(&mut self, tree: TreeId, fill: Option<u8>) -> Result<TreeId> {
        let data = Arc::clone(self.transaction.manager().data());
        let tree = data.tree(tree).map_err(txn::Error::from)?;
        let mut load = self.transaction.new_load(self.maintenance_bytes, fill);
        let everything = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
        let mut scan = self.transaction.scan(&LATEST, &tree, everything, Direction::Forward)?;
        while let Some(found) = scan.advance(self.transaction)? {
            load.push(found.key, found.value).map_err(txn::Error::from)?;
        }
        drop(scan);
        match self.transaction.build(load)? {
            Loaded::Built(built) => Ok(self.catalog.adopt_tree(&built)),
            Loaded::Duplicate(_, built) => {
                self.catalog.adopt_tree(&built);
                let message = "a tree that is copied has a key twice";
                Err(SqlError::new(SqlState::DATA_CORRUPTED, message))
            }
        }
    }
}
