//! The steps of CREATE INDEX, DROP INDEX and REINDEX CONCURRENTLY, each a transaction of its own
//! (`docs/design/0008-concurrent-indexes.md`). What stands between them, and who waits for whom, is the session's business.

use super::Ddl;
pub use super::backfill::Backfill;
use super::drop::{droppable_index, remove_index};
use super::index::{lock_indexed, new_index};
use super::{name, reindex};
use crate::catalog::object::Class;
use crate::catalog::relation::{Index, IndexState, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{CreateIndex, Drop, Reindex};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::TableLock;

/// What keeps other changes of the schema out, and writers not.
const LOCK: TableLock = TableLock::ShareUpdateExclusive;

/// The table of a CREATE INDEX, locked.
///
/// # Errors
/// 42P01, 42809, 42501 and so on.
pub fn lock_table(ddl: &mut Ddl<'_>, create: &CreateIndex) -> Result<Arc<Relation>> {
    lock_indexed(ddl, create, LOCK)
}

/// Makes an empty index that everybody writes from the commit on, and nobody reads; none if IF NOT EXISTS has found one.
///
/// # Errors
/// As [`super::index::create_index`].
pub fn make_index(ddl: &mut Ddl<'_>, create: &CreateIndex, table: Oid) -> Result<Option<Oid>> {
    let relation = ddl.lock_relation(table)?;
    let Some(mut index) = new_index(ddl, create, &relation)? else { return Ok(None) };
    let oid = index.oid;
    index.tree = ddl.catalog.create_tree()?.id();
    index.state = IndexState::Written;
    ddl.catalog.add_index(ddl.transaction, table, index)?;
    Ok(Some(oid))
}

/// Says who writes and reads an index from the commit on.
///
/// # Errors
/// Those of a lock and of a write.
pub fn set_state(ddl: &mut Ddl<'_>, table: Oid, index: Oid, state: IndexState) -> Result<()> {
    ddl.change_index(table, index, |index| index.state = state)
}

/// Has nobody read an index from the commit on; what was not written stays so.
///
/// # Errors
/// Those of a lock and of a write.
pub fn retire(ddl: &mut Ddl<'_>, table: Oid, index: Oid) -> Result<()> {
    ddl.change_index(table, index, |index| {
        if index.is_valid() {
            index.state = IndexState::Written;
        }
    })
}

/// The table of a DROP INDEX, locked, and the index; none if it is not there and that is allowed.
///
/// # Errors
/// 0A000, 42704, 42809, 2BP01, 42501.
pub fn lock_dropped(ddl: &mut Ddl<'_>, drop: &Drop) -> Result<Option<(Arc<Relation>, Oid)>> {
    let refused = |what: &str| {
        let message = format!("DROP INDEX CONCURRENTLY does not support {what}");
        SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
    };
    let [name] = drop.names.as_slice() else { return Err(refused("dropping multiple objects")) };
    if drop.cascade {
        return Err(refused("CASCADE"));
    }
    droppable_index(ddl, drop, name, LOCK)
}

/// Drops an index that nobody reads or writes.
///
/// # Errors
/// Those of a lock and of a write.
pub fn remove(ddl: &mut Ddl<'_>, table: Oid, index: Oid) -> Result<()> {
    let relation = ddl.lock_relation(table)?;
    remove_index(ddl, &relation, index)
}

/// The tables of a REINDEX by their OIDs, and whether each index is to be told of.
///
/// # Errors
/// 42P01, 42809, 42501, 0A000 and so on.
pub fn reindexed(ddl: &mut Ddl<'_>, reindex: &Reindex) -> Result<(Vec<Oid>, bool)> {
    let verbose = reindex::is_verbose(ddl, reindex)?;
    Ok((reindex::tables(ddl, reindex)?, verbose))
}

/// The table of REINDEX TABLE or INDEX, locked, the index of the latter, and whether each index is to be told of.
///
/// # Errors
/// 42P01, 42809, 42501, 0A000 and so on.
pub fn lock_reindexed(
    ddl: &mut Ddl<'_>,
    reindex: &Reindex,
) -> Result<(Arc<Relation>, (Option<Oid>, bool))> {
    let verbose = reindex::is_verbose(ddl, reindex)?;
    let (relation, index) = reindex::find(ddl, reindex, LOCK)?;
    Ok((relation, (index, verbose)))
}

/// Locks a table by its OID; none if it has gone.
///
/// # Errors
/// Those of a lock.
pub fn lock_by_oid(ddl: &mut Ddl<'_>, table: Oid) -> Result<Option<Arc<Relation>>> {
    reindex::lock_again(ddl, table, LOCK)
}

/// An index that is being made anew.
#[derive(Clone, Debug)]
pub struct Remade {
    /// The index.
    pub index: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// The index beside it that is made first, and then has what the other had.
    pub beside: Oid,
}

/// Makes an empty index beside each that is to be made anew: `only`, or all of the table that are valid. What the tree of
/// the rows is has none.
///
/// # Errors
/// Those of locks and writes.
pub fn make_beside(ddl: &mut Ddl<'_>, table: Oid, only: Option<Oid>) -> Result<Vec<Remade>> {
    let mut relation = ddl.lock_relation(table)?;
    let mut remade = Vec::new();
    let candidates = relation.indexes.clone();
    let asked = |index: &&Index| only.is_none_or(|only| only == index.oid);
    for index in candidates.iter().filter(asked).filter(|index| !index.holds_rows()) {
        if only.is_none() && !index.is_valid() {
            ddl.notices.push(SqlError::warning(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!(
                    "cannot reindex invalid index \"{}.{}\" concurrently, skipping",
                    relation.schema.1, index.name
                ),
            ));
            continue;
        }
        let mut beside = index.clone();
        beside.name = ddl.name_beside(&relation, &index.name, "ccnew")?;
        beside.oid = ddl.catalog.next_oid()?;
        beside.tree = ddl.catalog.create_tree()?.id();
        beside.state = IndexState::Written;
        beside.primary = false;
        beside.constraint = None;
        let name = Arc::clone(&index.name);
        remade.push(Remade { index: index.oid, name, beside: beside.oid });
        ddl.catalog.add_index(ddl.transaction, table, beside)?;
        relation = ddl.lock_relation(table)?;
    }
    Ok(remade)
}

/// Gives the indexes the trees that were made beside them; the old ones are written until nobody reads them.
///
/// # Errors
/// Those of locks and writes.
pub fn exchange(ddl: &mut Ddl<'_>, table: Oid, remade: &[Remade]) -> Result<()> {
    for Remade { index, name, beside } in remade {
        let relation = ddl.lock_relation(table)?;
        let old_name = ddl.name_beside(&relation, name, "ccold")?;
        let mut next = Relation::clone(&*ddl.lock_relation(table)?);
        let place = |oid: &Oid| next.indexes.iter().position(|found| found.oid == *oid);
        let (old, new) = (place(index).ok_or_else(gone)?, place(beside).ok_or_else(gone)?);
        let (tree, was_written) = (next.indexes[old].tree, next.indexes[old].is_written());
        next.indexes[old].tree = next.indexes[new].tree;
        next.indexes[old].state = IndexState::Valid;
        next.indexes[new].tree = tree;
        next.indexes[new].name = old_name;
        if !was_written {
            next.indexes[new].state = IndexState::Unwritten;
        }
        ddl.catalog.put_relation(ddl.transaction, next)?;
    }
    Ok(())
}

/// What REINDEX (VERBOSE) tells of a table's indexes.
pub fn tell(ddl: &mut Ddl<'_>, table: &Relation, remade: &[Remade], all: bool) {
    let schema = &table.schema.1;
    let mut told: Vec<String> = remade
        .iter()
        .map(|remade| format!("index \"{schema}.{}\" was reindexed", remade.name))
        .collect();
    if all {
        told.push(format!("table \"{schema}.{}\" was reindexed", table.name));
    }
    for message in told {
        ddl.inform(message);
    }
}

fn gone() -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, "a table or index has gone in spite of its lock")
}

impl Ddl<'_> {
    /// A relation behind the lock on its own record: the table lock that a concurrent statement holds keeps out neither
    /// GRANT nor what else changes a relation without its table lock.
    fn lock_relation(&mut self, oid: Oid) -> Result<Arc<Relation>> {
        let key = self.catalog.key(Class::Relation, oid);
        self.catalog.lock(self.transaction, key)?;
        self.relation(oid).ok_or_else(gone)
    }

    /// A name that nothing has, locked: that of an index with a label behind it.
    fn name_beside(&mut self, relation: &Relation, first: &str, label: &str) -> Result<Arc<str>> {
        let schema = relation.schema.0;
        loop {
            let snapshot = self.snapshot();
            let name = name::relation_name(&snapshot, schema, &[], first, None, label);
            if !self.lock_relation_name(schema, &name)? {
                return Ok(name);
            }
        }
    }

    fn change_index(
        &mut self,
        table: Oid,
        index: Oid,
        change: impl FnOnce(&mut Index),
    ) -> Result<()> {
        match self.catalog.change_index(self.transaction, (table, index), change)? {
            true => Ok(()),
            false => Err(gone()),
        }
    }
}
