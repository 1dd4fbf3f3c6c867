//! The tables that hold what a query returns: CREATE TABLE AS, SELECT INTO, CREATE and REFRESH MATERIALIZED VIEW.
//!
//! This module makes the relation with its trees; the session fills it, and puts it in the catalog once the query's names
//! have been looked up, so that the query never meets the table it makes. The trees are this transaction's own: the rows
//! are loaded past write set and log.

use super::Ddl;
use super::create_table::{column_type, new_column_name, on_commit_of_permanent};
use super::query_columns::{demand_collations, query_columns};
use super::resolve::{duplicate_relation, kind_noun, must_own, undefined_table};
use super::view::reads_temporary;
use crate::catalog::Named;
use crate::catalog::relation::{Index, Relation, RelationKind, StoredQuery};
use crate::error::{Result, SqlError};
use crate::parse::ast::{CreateTableAs, ObjectName, OnCommit, Statement};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, ReadView, RecordBuffer, RowLock, TableLock, WaitPolicy};

/// The relation that a statement makes for columns of these names and types; none where it is there already and IF NOT
/// EXISTS was said.
///
/// # Errors
/// 42P07, 42601, 42701, 42P16 and so on.
pub fn table_for(
    ddl: &mut Ddl<'_>,
    create: &CreateTableAs,
    output: &[(Arc<str>, SqlType)],
    collations: &[Oid],
) -> Result<Option<Relation>> {
    let name = create.name.name();
    let schema = ddl.creation_schema_for(&create.name, create.persistence)?;
    let persistence = if schema.is_temporary() { 't' } else { create.persistence };
    if create.on_commit != OnCommit::Preserve && persistence != 't' {
        return Err(on_commit_of_permanent());
    }
    if ddl.lock_relation_name(schema.oid, name)? {
        if create.if_not_exists {
            let message = format!("relation \"{name}\" already exists, skipping");
            ddl.notice(SqlState::DUPLICATE_TABLE, message);
            return Ok(None);
        }
        return Err(duplicate_relation(name));
    }
    if create.columns.len() > output.len() {
        return Err(SqlError::new(SqlState::SYNTAX_ERROR, "too many column names were specified"));
    }
    let mut relation = ddl.empty_table(name, persistence, &create.options, &schema)?;
    relation.columns = query_columns(output, collations, &create.columns)?;
    for column in &relation.columns {
        new_column_name(&column.name)?;
    }
    for column in &relation.columns {
        column_type(&column.name, column.ty)?;
        ddl.use_type(column.ty)?;
    }
    demand_collations(&ddl.snapshot(), &relation.columns, |column| {
        let (name, ty) = (&column.name, ddl.type_shown(column.ty));
        format!("no collation was derived for column \"{name}\" with collatable type {ty}")
    })?;
    ddl.demand_free_type(schema.oid, name)?;
    if create.materialized
        && let Statement::Query(query) = &create.query
    {
        let refusal = "materialized views must not use data-modifying statements in WITH";
        let query = ddl.held_query(query, refusal)?;
        let snapshot = ddl.snapshot();
        if reads_temporary(&snapshot, &query.relations) {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "materialized views must not use temporary tables or views",
            ));
        }
        relation.stored_query =
            Some(StoredQuery { query: query.query, populated: create.with_data });
    }
    ddl.catalog.note_on_commit(relation.oid, create.on_commit);
    Ok(Some(relation))
}

/// The materialized view that a REFRESH names, locked, and the same with new trees.
///
/// # Errors
/// 42P01, 0A000 for another kind of relation or one without rows, 42501, 55000.
pub fn refreshed(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    concurrently: bool,
    with_data: bool,
) -> Result<(Arc<Relation>, Relation)> {
    let mode = if concurrently { TableLock::Exclusive } else { TableLock::AccessExclusive };
    let other_kind = || {
        let message = format!("\"{}\" is not a materialized view", name.name());
        SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
    };
    let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
        let holds_rows = matches!(relation.kind, RelationKind::Table { .. } | RelationKind::System);
        if matches!(named, Named::Index { .. }) || !holds_rows {
            let message = format!("\"{}\" is not a table or materialized view", name.name());
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, message));
        }
        if !ddl.snapshot().owns(ddl.user, relation.owner) {
            return Err(must_own(kind_noun(relation), &relation.name));
        }
        Ok(())
    };
    let found = ddl.lock_checked(name, mode, &check)?;
    let (_, relation) = found.ok_or_else(|| undefined_table(name))?;
    let query = relation.stored_query.clone().ok_or_else(other_kind)?;
    if concurrently && !with_data {
        return Err(SqlError::new(
            SqlState::SYNTAX_ERROR,
            "CONCURRENTLY and WITH NO DATA options cannot be used together",
        ));
    }
    if concurrently && !query.populated {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "CONCURRENTLY cannot be used when the materialized view is not populated",
        ));
    }
    ddl.refuse_active("REFRESH MATERIALIZED VIEW", &relation)?;
    // One that all rows are in, by columns.
    let whole = |index: &&Index| {
        index.unique && index.is_valid() && index.filter.is_none() && index.expressions.is_empty()
    };
    if concurrently && !relation.indexes.iter().any(|index| whole(&index)) {
        let shown = crate::catalog::quote::qualified(&relation.schema.1, &relation.name);
        return Err(SqlError::new(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("cannot refresh materialized view \"{shown}\" concurrently"),
        )
        .hint("Create a unique index with no WHERE clause on one or more columns of the materialized view."));
    }
    let mut next = Relation::clone(&relation);
    next.stored_query = Some(StoredQuery { populated: with_data, ..query });
    if !concurrently {
        ddl.renew_trees(&relation, &mut next)?;
        ddl.counts.emptied(relation.oid);
    }
    Ok((relation, next))
}

impl Ddl<'_> {
    /// Deletes all rows of a relation, one by one: others go on reading them until the commit.
    ///
    /// # Errors
    /// Those of a lock and of a write.
    pub fn delete_rows(&mut self, relation: &Relation) -> Result<()> {
        let everything = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
        let mut found = RecordBuffer::default();
        for tree in relation.trees() {
            let tree = self.transaction.manager().data().tree(tree).map_err(txn::Error::from)?;
            let mut keys = Vec::new();
            let latest = &ReadView::LATEST;
            let mut scan = self.transaction.scan(latest, &tree, everything, Direction::Forward)?;
            while let Some(row) = scan.advance(self.transaction)? {
                keys.push(row.key.to_vec());
            }
            drop(scan);
            for key in keys {
                let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
                self.transaction.lock_key(&tree, &key, mode, policy, &mut found)?;
                self.transaction.delete(&tree, &key)?;
            }
        }
        Ok(())
    }

    /// Puts a relation that this transaction has made in the catalog, under its creator's lock.
    ///
    /// # Errors
    /// Those of a lock and of a write.
    pub fn put_made(&mut self, relation: Relation) -> Result<()> {
        self.transaction.lock_table(
            relation.lock,
            TableLock::AccessExclusive,
            WaitPolicy::Block,
        )?;
        self.catalog.put_relation(self.transaction, relation)
    }
}
