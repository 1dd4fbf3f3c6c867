//! REINDEX: indexes get new trees, built from their table's rows (PostgreSQL 15 manual, page REINDEX).
//!
//! The tree of a primary key holds the rows themselves, so there is nothing it could be built from: it stays. Readers are
//! kept out until the commit, as trees are replaced.

use super::Ddl;
use super::index::tablespace;
use super::resolve::{undefined_table, wrong_kind};
use crate::catalog::Named;
use crate::catalog::object::well_known;
use crate::catalog::relation::{IndexState, Relation, RelationKind};
use crate::error::{Result, Severity, SqlError};
use crate::parse::ast::{ObjectKind, ObjectName, Reindex, Value};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// REINDEX.
///
/// # Errors
/// 42P01, 42809, 42501, 25001 and so on.
pub fn reindex(ddl: &mut Ddl<'_>, reindex: &Reindex) -> Result<&'static str> {
    let (mut concurrently, mut verbose) = (reindex.concurrently, false);
    for option in &reindex.options {
        match &*option.name {
            "verbose" => verbose = option.boolean() != Some(false),
            "concurrently" => concurrently = option.boolean() != Some(false),
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
    if concurrently {
        return Err(SqlError::unsupported("REINDEX CONCURRENTLY is"));
    }
    match reindex.kind {
        ObjectKind::Index => index(ddl, &reindex.name, verbose)?,
        ObjectKind::Table => table(ddl, &reindex.name, verbose)?,
        _ => many(ddl, reindex, verbose)?,
    }
    Ok("REINDEX")
}

fn index(ddl: &mut Ddl<'_>, name: &ObjectName, verbose: bool) -> Result<()> {
    let found = ddl.lock_named(name, TableLock::AccessExclusive)?;
    let (named, relation) = found.ok_or_else(|| undefined_table(name))?;
    let Named::Index { index, .. } = named else {
        return Err(wrong_kind(name.name(), ObjectKind::Index));
    };
    if !ddl.snapshot().owns(ddl.user, relation.owner) {
        return Err(super::resolve::must_own("index", name.name()));
    }
    ddl.refuse_pending("REINDEX INDEX", &relation)?;
    ddl.reindex(&relation, Some(index), verbose)
}

fn table(ddl: &mut Ddl<'_>, name: &ObjectName, verbose: bool) -> Result<()> {
    let found = ddl.lock_named(name, TableLock::AccessExclusive)?;
    let (named, relation) = found.ok_or_else(|| undefined_table(name))?;
    let is_table = matches!(relation.kind, RelationKind::Table { .. } | RelationKind::System);
    if matches!(named, Named::Index { .. }) || !is_table {
        return Err(SqlError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("\"{}\" is not a table or materialized view", name.name()),
        ));
    }
    ddl.check_owner(&relation)?;
    ddl.refuse_pending("REINDEX TABLE", &relation)?;
    ddl.reindex(&relation, None, verbose)
}

/// SCHEMA, DATABASE and SYSTEM. System relations have no indexes.
fn many(ddl: &mut Ddl<'_>, reindex: &Reindex, verbose: bool) -> Result<()> {
    let words = if reindex.system { "SYSTEM" } else { reindex.kind.words() };
    ddl.refuse_block(&format!("REINDEX {words}"))?;
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
        return Ok(());
    }
    let mut tables: Vec<Oid> = snapshot
        .relations()
        .filter(|relation| matches!(relation.kind, RelationKind::Table { .. }))
        .filter(|relation| schema.is_none_or(|schema| relation.schema.0 == schema))
        .map(|relation| relation.oid)
        .collect();
    tables.sort_unstable();
    for oid in tables {
        let Some(relation) = ddl.relation(oid) else { continue };
        ddl.transaction.lock_table(relation.lock, TableLock::AccessExclusive, WaitPolicy::Block)?;
        if let Some(relation) = ddl.relation(oid) {
            ddl.reindex(&relation, None, verbose)?;
        }
    }
    Ok(())
}

impl Ddl<'_> {
    /// Builds an index of a table anew, or all. One whose making had failed is valid then.
    fn reindex(
        &mut self,
        relation: &Arc<Relation>,
        only: Option<Oid>,
        verbose: bool,
    ) -> Result<()> {
        let mut next = Relation::clone(relation);
        for at in 0..next.indexes.len() {
            let index = &next.indexes[at];
            if only.is_some_and(|only| only != index.oid) {
                continue;
            }
            if !index.holds_rows() {
                let (old, tree) = (index.tree, self.build_index(&next, index)?);
                self.catalog.drop_tree(old);
                next.indexes[at].tree = tree;
                next.indexes[at].state = IndexState::Valid;
            }
            if verbose {
                let message = format!("index \"{}\" was reindexed", next.indexes[at].name);
                let told = SqlError::new(SqlState::SUCCESSFUL_COMPLETION, message);
                self.notices.push(told.severity(Severity::Info));
            }
        }
        self.catalog.put_relation(self.transaction, next)
    }
}
