//! REINDEX: indexes get new trees, built from their table's rows (PostgreSQL 15 manual, page REINDEX).
//!
//! The tree of a primary key holds the rows themselves, so there is nothing it could be built from: it stays. Writers are
//! kept out until the commit (SHARE on the table), and so is who looks into the index in its latest state to check a foreign
//! key (ACCESS EXCLUSIVE on the index, see `bind::referential`). Readers go on, with the old tree for as long as their
//! snapshots are older than the commit: a plan is looked at again behind its snapshot, which keeps the tree
//! (`Session::start_plan`, `docs/design/0008-concurrent-indexes.md`).

use super::Ddl;
use super::index::tablespace;
use super::resolve::{undefined_table, wrong_kind};
use crate::catalog::Named;
use crate::catalog::object::{Class, well_known};
use crate::catalog::parts;
use crate::catalog::relation::{Index, IndexState, Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{ObjectKind, Reindex, Value};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// REINDEX INDEX and TABLE.
///
/// # Errors
/// 42P01, 42809, 42501, 25001 and so on.
pub fn reindex(ddl: &mut Ddl<'_>, reindex: &Reindex) -> Result<&'static str> {
    let verbose = is_verbose(ddl, reindex)?;
    if reindex.is_concurrent() {
        ddl.refuse_block("REINDEX CONCURRENTLY")?;
    }
    let (relation, index) = find(ddl, reindex, table_lock(ddl))?;
    ddl.refuse_pending(&format!("REINDEX {}", reindex.kind.words()), &relation)?;
    ddl.reindex(&relation, index, verbose)?;
    let is_system = matches!(relation.kind, RelationKind::System);
    if index.is_none() && relation.indexes.is_empty() && !relation.is_toasted() && !is_system {
        let message = format!("table \"{}\" has no indexes to reindex", relation.name);
        ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
    }
    Ok("REINDEX")
}

/// The tables of REINDEX SCHEMA, DATABASE and SYSTEM, and whether each index is to be told of.
///
/// # Errors
/// 25001 in a transaction block, 42501, 3F000, 0A000 and so on.
pub fn listed(ddl: &mut Ddl<'_>, reindex: &Reindex) -> Result<(Vec<Oid>, bool)> {
    let verbose = is_verbose(ddl, reindex)?;
    let words = if reindex.system { "SYSTEM" } else { reindex.kind.words() };
    ddl.refuse_block(&format!("REINDEX {words}"))?;
    Ok((tables(ddl, reindex)?, verbose))
}

/// Makes the indexes of a table anew, if it is still there.
///
/// # Errors
/// 23505; those of a lock and of a write.
pub fn reindex_alone(ddl: &mut Ddl<'_>, table: Oid, verbose: bool) -> Result<()> {
    match lock_again(ddl, table, table_lock(ddl))? {
        Some(relation) => ddl.reindex(&relation, None, verbose),
        None => Ok(()),
    }
}

/// How a table is locked while its indexes are made anew. What readers have locked of an index stands on its tree, and would not
/// be found in the next one: where they do, they are kept out.
fn table_lock(ddl: &Ddl<'_>) -> TableLock {
    if ddl.transaction.begin().scheme.stands_on_keys() {
        TableLock::AccessExclusive
    } else {
        TableLock::Share
    }
}

/// Checks the options, and says whether each index is to be told of.
pub(super) fn is_verbose(ddl: &mut Ddl<'_>, reindex: &Reindex) -> Result<bool> {
    let mut verbose = false;
    for option in &reindex.options {
        match &*option.name {
            "verbose" => verbose = option.boolean() != Some(false),
            "concurrently" => {}
            "tablespace" => {
                if let Some(Value::Word(name) | Value::String(name)) = &option.value {
                    tablespace(Some(name))?;
                }
            }
            name => {
                let position = ddl.semantics.position(option.at);
                let message = format!("unrecognized REINDEX option \"{name}\"");
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(position));
            }
        }
    }
    Ok(verbose)
}

/// The table of REINDEX TABLE, or that of REINDEX INDEX and the index, locked.
pub(super) fn find(
    ddl: &mut Ddl<'_>,
    reindex: &Reindex,
    mode: TableLock,
) -> Result<(Arc<Relation>, Option<Oid>)> {
    let name = &reindex.name;
    let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
        if reindex.kind == ObjectKind::Index {
            return match named {
                Named::Relation(_) => Err(wrong_kind(name.name(), ObjectKind::Index)),
                _ if ddl.snapshot().owns(ddl.user, relation.owner) => Ok(()),
                _ => Err(super::resolve::must_own("index", name.name())),
            };
        }
        let is_table = matches!(relation.kind, RelationKind::Table { .. } | RelationKind::System);
        if matches!(named, Named::Index { .. }) || !is_table {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("\"{}\" is not a table or materialized view", name.name()),
            ));
        }
        if reindex.is_concurrent() && matches!(relation.kind, RelationKind::System) {
            return Err(system_concurrently());
        }
        // A system catalog is its owner's to reindex, though nobody's to alter.
        match relation.kind {
            RelationKind::System if ddl.snapshot().owns(ddl.user, relation.owner) => Ok(()),
            _ => ddl.check_owner(relation),
        }
    };
    loop {
        let found = ddl.lock_checked(name, mode, &check)?;
        let (named, relation) = found.ok_or_else(|| undefined_table(name))?;
        match named {
            Named::Relation(_) => return Ok((relation, None)),
            Named::Index { index, .. } if reindex.is_concurrent() => {
                return Ok((relation, Some(index)));
            }
            Named::Index { .. } => {}
        }
        // Who renames an index locks it and not its table: behind that the name is looked up again.
        let (table, index) = ddl.lock_index(name, &check)?.ok_or_else(|| undefined_table(name))?;
        if table.oid == relation.oid {
            return Ok((table, Some(index)));
        }
    }
}

/// 0A000.
fn system_concurrently() -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot reindex system catalogs concurrently")
}

/// The tables of REINDEX SCHEMA, DATABASE and SYSTEM. System relations have no indexes.
pub(super) fn tables(ddl: &mut Ddl<'_>, reindex: &Reindex) -> Result<Vec<Oid>> {
    let concurrently = reindex.is_concurrent();
    if reindex.system && concurrently {
        return Err(system_concurrently());
    }
    let snapshot = ddl.snapshot();
    let name = reindex.name.name();
    let schema = if reindex.kind == ObjectKind::Schema {
        let schema = snapshot.schema(name).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_SCHEMA_NAME,
                format!("schema \"{name}\" does not exist"),
            )
        })?;
        if !snapshot.owns(ddl.user, schema.owner) {
            return Err(super::resolve::must_own("schema", name));
        }
        Some(schema.oid)
    } else {
        if **name != *snapshot.database_name() {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "can only reindex the currently open database",
            ));
        }
        let database = snapshot.shared().database_by_oid(snapshot.database_oid());
        let owner = database.map_or(well_known::SUPERUSER, |database| database.owner);
        if !snapshot.owns(ddl.user, owner) {
            return Err(super::resolve::must_own("database", name));
        }
        None
    };
    if reindex.system {
        return Ok(Vec::new());
    }
    if concurrently && schema.is_none_or(|schema| schema == well_known::PG_CATALOG) {
        ddl.notices.push(SqlError::warning(
            SqlState::FEATURE_NOT_SUPPORTED,
            "cannot reindex system catalogs concurrently, skipping all",
        ));
    }
    let mut tables: Vec<Oid> = snapshot
        .relations()
        .filter(|relation| matches!(relation.kind, RelationKind::Table { .. }))
        .filter(|relation| schema.is_none_or(|schema| relation.schema.0 == schema))
        .map(|relation| relation.oid)
        .collect();
    tables.sort_unstable();
    Ok(tables)
}

/// Locks one of them; none if it has gone meanwhile.
pub(super) fn lock_again(
    ddl: &mut Ddl<'_>,
    table: Oid,
    mode: TableLock,
) -> Result<Option<Arc<Relation>>> {
    let Some(relation) = ddl.relation(table) else { return Ok(None) };
    ddl.transaction.lock_table(relation.lock, mode, WaitPolicy::Block)?;
    Ok(ddl.relation(table))
}

impl Ddl<'_> {
    /// Builds an index of a table anew, or all. One whose making had failed is valid then.
    pub(super) fn reindex(
        &mut self,
        relation: &Arc<Relation>,
        only: Option<Oid>,
        verbose: bool,
    ) -> Result<()> {
        for index in &relation.indexes {
            if only.is_some_and(|only| only != index.oid) {
                continue;
            }
            if !index.holds_rows() {
                let lock = Relation::lock_of(self.catalog.database(), index.oid);
                let (mode, policy) = (TableLock::AccessExclusive, WaitPolicy::Block);
                self.transaction.lock_table(lock, mode, policy)?;
            }
            // Another REINDEX of it is waited for, and whoever changes it otherwise.
            let key = parts::index_key(self.catalog.key(Class::Relation, relation.oid), index);
            self.catalog.lock_beside(self.transaction, key)?;
            let Some(relation) = self.relation(relation.oid) else { return Ok(()) };
            let Some(index) = relation.indexes.iter().find(|found| found.oid == index.oid) else {
                continue;
            };
            if index.holds_rows() {
                self.tell_build(&relation, index);
            } else {
                let tree = self.build_index(&relation, index)?;
                self.catalog.drop_tree(index.tree);
                let built = |index: &mut Index| {
                    index.tree = tree;
                    index.state = IndexState::Valid;
                };
                let place = (relation.oid, index.oid);
                self.catalog.change_index(self.transaction, place, built)?;
            }
            if verbose {
                let message = format!("index \"{}\" was reindexed", index.name);
                self.inform(message);
            }
        }
        Ok(())
    }
}
