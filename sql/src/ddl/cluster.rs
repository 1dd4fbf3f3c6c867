//! CLUSTER and ALTER TABLE ... CLUSTER ON (PostgreSQL 15 manual, the pages of these; `cluster.c`).
//!
//! A table without a primary key keeps its rows by hidden numbers: they are numbered anew in the order of the index, in a new
//! tree that is built from the bottom. The rows of a table with one lie in the order of that key, and stay there.

use super::Ddl;
use super::build::LATEST;
use super::resolve::undefined_table;
use crate::catalog::relation::{Index, Relation, RelationKind};
use crate::catalog::snapshot::Named;
use crate::error::{Result, SqlError};
use crate::parse::ast::{Cluster, Ident};
use crate::sqlstate::SqlState;
use crate::tuple::entry;
use crate::types::Oid;
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, Loaded, RecordBuffer, TableLock, WaitPolicy};

const TAG: &str = "CLUSTER";

/// CLUSTER.
///
/// # Errors
/// 42P01, 42704, 42809, 42501, 0A000, 25001 without a table in a block.
pub fn cluster(ddl: &mut Ddl<'_>, cluster: &Cluster) -> Result<&'static str> {
    let mut verbose = false;
    for option in &cluster.options {
        if &*option.name != "verbose" {
            let position = ddl.semantics.position(option.at);
            let message = format!("unrecognized CLUSTER option \"{}\"", option.name);
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(position));
        }
        verbose = option.boolean() != Some(false);
    }
    let Some((name, index)) = &cluster.table else {
        ddl.refuse_block(TAG)?;
        return all(ddl, verbose);
    };
    let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
        let is_table = matches!(relation.kind, RelationKind::Table { .. });
        if matches!(named, Named::Index { .. }) || !is_table {
            let message = format!("\"{}\" is not a table or materialized view", name.name());
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        ddl.check_owner(relation)
    };
    let found = ddl.lock_checked(name, TableLock::AccessExclusive, &check)?;
    let (_, relation) = found.ok_or_else(|| undefined_table(name))?;
    let index = match index {
        Some(index) => ddl.clusterable(&relation, index)?,
        None => relation.indexes.iter().find(|index| index.clustered).map_or_else(
            || {
                Err(SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!(
                        "there is no previously clustered index for table \"{}\"",
                        relation.name
                    ),
                ))
            },
            |index| Ok(index.oid),
        )?,
    };
    ddl.cluster_table(&relation, index, verbose)?;
    Ok(TAG)
}

/// Every table of the current user's that has been clustered before.
fn all(ddl: &mut Ddl<'_>, verbose: bool) -> Result<&'static str> {
    let snapshot = ddl.snapshot();
    let clustered = snapshot.relations().filter(|relation| {
        relation.indexes.iter().any(|index| index.clustered)
            && snapshot.owns(ddl.user, relation.owner)
    });
    let mut tables: Vec<Oid> = clustered.map(|relation| relation.oid).collect();
    tables.sort_unstable();
    for table in tables {
        let Some(relation) = ddl.relation(table) else { continue };
        ddl.transaction.lock_table(relation.lock, TableLock::AccessExclusive, WaitPolicy::Block)?;
        let Some(relation) = ddl.relation(table) else { continue };
        if let Some(index) = relation.indexes.iter().find(|index| index.clustered) {
            let index = index.oid;
            ddl.cluster_table(&relation, index, verbose)?;
        }
    }
    Ok(TAG)
}

/// Says by which index a table is clustered, if by any.
fn mark(relation: &mut Relation, clustered: Option<Oid>) {
    for index in &mut relation.indexes {
        index.clustered = Some(index.oid) == clustered;
    }
}

impl Ddl<'_> {
    /// ALTER TABLE ... CLUSTER ON, SET WITHOUT CLUSTER.
    pub(super) fn set_clustered(
        &mut self,
        relation: &Relation,
        index: Option<&Ident>,
    ) -> Result<()> {
        let index = index.map(|name| self.clusterable(relation, name)).transpose()?;
        let mut next = Relation::clone(relation);
        mark(&mut next, index);
        self.catalog.put_relation(self.transaction, next)
    }

    /// The index of that name, if a table can be clustered by it (`check_index_is_clusterable`).
    fn clusterable(&mut self, relation: &Relation, name: &Ident) -> Result<Oid> {
        let missing = || {
            SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("index \"{name}\" for table \"{}\" does not exist", relation.name),
            )
        };
        let named = self.snapshot().named(relation.schema.0, name).ok_or_else(missing)?;
        let index = match named {
            Named::Index { index, table } if table == relation.oid => index,
            _ => {
                return Err(SqlError::new(
                    SqlState::WRONG_OBJECT_TYPE,
                    format!("\"{name}\" is not an index for table \"{}\"", relation.name),
                ));
            }
        };
        let index = relation.indexes.iter().find(|one| one.oid == index).ok_or_else(missing)?;
        let refused = |kind: &str| {
            SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("cannot cluster on {kind} index \"{name}\""),
            )
        };
        if index.filter.is_some() {
            return Err(refused("partial"));
        }
        if !index.is_valid() {
            return Err(refused("invalid"));
        }
        Ok(index.oid)
    }

    fn cluster_table(&mut self, relation: &Relation, index: Oid, verbose: bool) -> Result<()> {
        self.refuse_active(TAG, relation)?;
        self.refuse_pending(TAG, relation)?;
        let Some(index) = relation.indexes.iter().find(|one| one.oid == index) else {
            return Ok(());
        };
        if verbose {
            let message = format!(
                "clustering \"{}.{}\" using index scan on \"{}\"",
                relation.schema.1, relation.name, index.name
            );
            self.inform(message);
        }
        let mut next = Relation::clone(relation);
        mark(&mut next, Some(index.oid));
        self.order_rows(&mut next, index)?;
        self.catalog.put_relation(self.transaction, next)
    }

    /// Numbers the rows of a table without a key anew, in the order of an index.
    fn order_rows(&mut self, next: &mut Relation, index: &Index) -> Result<()> {
        let RelationKind::Table { tree: old, key, .. } = &next.kind else { return Ok(()) };
        if !key.is_empty() {
            return Ok(());
        }
        let old = *old;
        let data = Arc::clone(self.transaction.manager().data());
        let rows = data.tree(old).map_err(txn::Error::from)?;
        let entries = data.tree(index.tree).map_err(txn::Error::from)?;
        let mut load = self.load(&next.options);
        let everything = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
        let mut scan = self.transaction.scan(&LATEST, &entries, everything, Direction::Forward)?;
        let (mut number, mut row, mut found) = (0_u64, Vec::new(), RecordBuffer::default());
        while let Some(entry) = scan.advance(self.transaction)? {
            row.clear();
            row.extend_from_slice(entry::row_key(entry.key, entry.value)?);
            if self.transaction.get_latest(&rows, &row, &mut found)? {
                number += 1;
                let place = super::build::hidden_row_id(number);
                load.push(&place, found.value().unwrap_or_default()).map_err(txn::Error::from)?;
            }
        }
        drop(scan);
        let (Loaded::Built(made) | Loaded::Duplicate(_, made)) = self.transaction.build(load)?;
        let made = self.catalog.adopt_tree(&made);
        if let RelationKind::Table { tree, .. } = &mut next.kind {
            *tree = made;
        }
        self.catalog.drop_tree(old);
        self.rebuild_indexes(next)
    }
}
