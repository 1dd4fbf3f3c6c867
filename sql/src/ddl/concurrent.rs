//! The steps of CREATE INDEX, DROP INDEX and REINDEX CONCURRENTLY, each a transaction of its own
//! (`docs/design/0008-concurrent-indexes.md`). What stands between them, and who waits for whom, is the session's business.

use super::Ddl;
pub use super::backfill::Backfill;
use super::index::{lock_indexed, new_index};
use crate::catalog::object::Class;
use crate::catalog::relation::{Index, IndexState, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::CreateIndex;
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
    // Its name may have been waited for.
    let mut next = Relation::clone(&*ddl.lock_relation(table)?);
    next.indexes.push(index);
    ddl.catalog.put_relation(ddl.transaction, next)?;
    Ok(Some(oid))
}

/// Says who writes and reads an index from the commit on.
///
/// # Errors
/// Those of a lock and of a write.
pub fn set_state(ddl: &mut Ddl<'_>, table: Oid, index: Oid, state: IndexState) -> Result<()> {
    ddl.change_index(table, index, |index| index.state = state)
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

    fn change_index(
        &mut self,
        table: Oid,
        index: Oid,
        change: impl FnOnce(&mut Index),
    ) -> Result<()> {
        let mut next = Relation::clone(&*self.lock_relation(table)?);
        let found = next.indexes.iter_mut().find(|found| found.oid == index);
        change(found.ok_or_else(gone)?);
        self.catalog.put_relation(self.transaction, next)
    }
}
