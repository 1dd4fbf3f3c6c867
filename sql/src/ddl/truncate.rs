//! TRUNCATE: each table gets new, empty trees; the old ones are freed once the commit is done.

use super::Ddl;
use super::dependency::Dependents;
use super::resolve::{undefined_table, wrong_kind};
use super::user_type::remove;
use crate::catalog::acl::Privileges;
use crate::catalog::relation::{ConstraintKind, Relation, RelationKind};
use crate::catalog::{Named, OnCommit};
use crate::error::{Result, SqlError};
use crate::parse::ast::{ObjectKind, Truncate};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::ops::Bound;
use std::sync::Arc;
use txn::{Direction, KeyRange, ReadView, TableLock, WaitPolicy};

/// The tables of a TRUNCATE, which are locked.
///
/// # Errors
/// 42P01, 42809, 42501; 0A000 where another table refers to one of them.
pub fn truncated(ddl: &mut Ddl<'_>, truncate: &Truncate) -> Result<Vec<Arc<Relation>>> {
    let mut going: Vec<Arc<Relation>> = Vec::new();
    for name in &truncate.tables {
        let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| match named {
            Named::Index { .. } => Err(wrong_kind(name.name(), ObjectKind::Table)),
            Named::Relation(_) => may_truncate(ddl, relation),
        };
        let found = ddl.lock_checked(name, TableLock::AccessExclusive, &check)?;
        let Some((_, relation)) = found else { return Err(undefined_table(name)) };
        add(ddl, &mut going, relation)?;
    }
    references(ddl, &mut going, truncate.cascade)?;
    if truncate.restart_identity {
        let snapshot = ddl.snapshot();
        for (sequence, _) in going.iter().flat_map(|table| snapshot.owned_sequences(table.oid)) {
            ddl.check_owner(sequence)?;
        }
    }
    Ok(going)
}

/// Empties these tables.
///
/// # Errors
/// Those of the catalog.
pub fn truncate(ddl: &mut Ddl<'_>, truncate: &Truncate, going: &[Arc<Relation>]) -> Result<()> {
    for relation in going {
        empty(ddl, relation)?;
        ddl.counts.emptied(relation.oid);
        if truncate.restart_identity {
            let snapshot = ddl.snapshot();
            let owned: Vec<Arc<Relation>> =
                snapshot.owned_sequences(relation.oid).map(|found| Arc::clone(found.0)).collect();
            for sequence in owned {
                if let RelationKind::Sequence(definition) = &sequence.kind {
                    ddl.restart_sequence(&sequence, definition.start)?;
                }
            }
        }
    }
    Ok(())
}

/// 42809, 42501.
fn may_truncate(ddl: &mut Ddl<'_>, relation: &Relation) -> Result<()> {
    match relation.kind {
        RelationKind::Table { .. } if relation.stored_query.is_some() => {
            return Err(wrong_kind(&relation.name, ObjectKind::Table));
        }
        RelationKind::Table { .. } => {}
        RelationKind::System => ddl.check_owner(relation)?,
        RelationKind::View { .. } | RelationKind::Sequence(_) | RelationKind::Composite => {
            return Err(wrong_kind(&relation.name, ObjectKind::Table));
        }
    }
    let snapshot = ddl.snapshot();
    if !snapshot.may_on_relation(ddl.user, relation, Privileges::TRUNCATE) {
        return Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("permission denied for table {}", relation.name),
        ));
    }
    Ok(())
}

fn add(ddl: &mut Ddl<'_>, going: &mut Vec<Arc<Relation>>, relation: Arc<Relation>) -> Result<()> {
    ddl.refuse_active("TRUNCATE", &relation)?;
    ddl.refuse_pending("TRUNCATE", &relation)?;
    if going.iter().all(|known| known.oid != relation.oid) {
        going.push(relation);
    }
    Ok(())
}

/// Tables that refer to those that go: with CASCADE they go too, else the statement fails.
fn references(ddl: &mut Ddl<'_>, going: &mut Vec<Arc<Relation>>, cascade: bool) -> Result<()> {
    let mut at = 0;
    while at < going.len() {
        let relation = Arc::clone(&going[at]);
        at += 1;
        for &(table, constraint) in &relation.referenced_by {
            if going.iter().any(|known| known.oid == table) {
                continue;
            }
            let Some(child) = ddl.relation(table) else { continue };
            let is_key = child
                .constraints
                .get(constraint)
                .is_some_and(|found| matches!(found.kind, ConstraintKind::ForeignKey(_)));
            if !is_key {
                continue;
            }
            if !cascade {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "cannot truncate a table referenced in a foreign key constraint",
                )
                .detail(format!("Table \"{}\" references \"{}\".", child.name, relation.name))
                .hint(format!(
                    "Truncate table \"{}\" at the same time, or use TRUNCATE ... CASCADE.",
                    child.name
                )));
            }
            ddl.transaction.lock_table(
                child.lock,
                TableLock::AccessExclusive,
                WaitPolicy::Block,
            )?;
            let message = format!("truncate cascades to table \"{}\"", child.name);
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            if let Some(child) = ddl.relation(table) {
                may_truncate(ddl, &child)?;
                add(ddl, going, child)?;
            }
        }
    }
    Ok(())
}

/// Gives a table new, empty trees.
fn empty(ddl: &mut Ddl<'_>, relation: &Arc<Relation>) -> Result<()> {
    let Some(relation) = ddl.relation(relation.oid) else { return Ok(()) };
    // Everything that serializable transactions have read of it is overwritten.
    for tree in relation.trees() {
        ddl.transaction.replaces(tree)?;
    }
    let mut next = Relation::clone(&relation);
    ddl.renew_trees(&relation, &mut next)?;
    ddl.catalog.put_relation(ddl.transaction, next)
}

impl Ddl<'_> {
    /// Gives a relation empty trees; the old ones go with the commit.
    pub(super) fn renew_trees(&mut self, old: &Relation, next: &mut Relation) -> Result<()> {
        for tree in old.trees() {
            self.catalog.drop_tree(tree);
        }
        let (rows, values) =
            (self.catalog.create_replacement()?, self.catalog.create_replacement()?);
        if let RelationKind::Table { tree, long_values, .. } = &mut next.kind {
            *tree = rows;
            *long_values = values;
        }
        for index in &mut next.indexes {
            index.tree =
                if index.holds_rows() { rows } else { self.catalog.create_replacement()? };
        }
        Ok(())
    }

    /// What happens to temporary tables when their transaction commits.
    ///
    /// # Errors
    /// 0A000 for a table that loses its rows and one beside it that refers to it and keeps them; storage's.
    pub fn act_on_commit(&mut self) -> Result<()> {
        let actions = self.catalog.on_commit();
        if self.has_used_temporary() {
            self.check_emptied(&actions)?;
        }
        for (table, action) in actions {
            let Some(relation) = self.relation(table) else { continue };
            match action {
                OnCommit::Preserve => {}
                OnCommit::Drop => self.drop_silently(&relation)?,
                OnCommit::Delete => {
                    if !is_empty(self, &relation)? {
                        empty(self, &relation)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether the transaction has read or changed a temporary object.
    fn has_used_temporary(&mut self) -> bool {
        let snapshot = self.snapshot();
        let mut temporary = snapshot.temporary_relations();
        self.catalog.has_changed_temporary()
            || temporary.any(|relation| self.transaction.has_locked(relation.lock))
    }

    fn check_emptied(&mut self, actions: &[(Oid, OnCommit)]) -> Result<()> {
        let emptied: Vec<Oid> = actions
            .iter()
            .filter(|(_, action)| *action == OnCommit::Delete)
            .map(|(table, _)| *table)
            .collect();
        // The newest one is asked first.
        for table in emptied.iter().rev() {
            let Some(relation) = self.relation(*table) else { continue };
            let referring = relation.referenced_by.iter().map(|(child, _)| *child);
            let keeping = referring.filter(|child| !emptied.contains(child)).min();
            if let Some(child) = keeping.and_then(|child| self.relation(child)) {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "unsupported ON COMMIT and foreign key combination",
                )
                .detail(format!(
                    "Table \"{}\" references \"{}\", but they do not have the same ON COMMIT setting.",
                    child.name, relation.name
                )));
            }
        }
        Ok(())
    }

    /// ON COMMIT DROP: what depends on the table goes with it, and nobody is told.
    fn drop_silently(&mut self, relation: &Arc<Relation>) -> Result<()> {
        let (what, mut dependents) = (String::new(), Dependents::default());
        let own = [relation.oid];
        self.collect_references(relation, &own, &|_, _| true, &what, &mut dependents);
        self.collect_views(relation, None, &own, &what, &mut dependents);
        let told = self.notices.len();
        self.drop_dependents(&dependents, true, &what)?;
        self.notices.truncate(told);
        match self.relation(relation.oid) {
            Some(relation) => self.remove_relation(&relation),
            None => Ok(()),
        }
    }

    /// DISCARD TEMP, and the end of DISCARD ALL: drops every temporary object of the session.
    ///
    /// # Errors
    /// Those of a lock.
    pub fn discard_temporary(&mut self) -> Result<()> {
        self.catalog.discard_routines_and_operators(self.transaction)?;
        let snapshot = self.snapshot();
        let temporary = snapshot.temporary_relations();
        for relation in temporary.map(Arc::clone).collect::<Vec<_>>() {
            if self.relation(relation.oid).is_some() {
                self.remove_relation(&relation)?;
            }
        }
        let own = snapshot.temporary_schema().map(|schema| schema.oid);
        for ty in snapshot.types().filter(|ty| own == Some(ty.schema)) {
            remove(self, ty.oid)?;
        }
        Ok(())
    }
}

/// Whether a table has no row.
fn is_empty(ddl: &mut Ddl<'_>, relation: &Relation) -> Result<bool> {
    let RelationKind::Table { tree, .. } = relation.kind else { return Ok(true) };
    let tree = ddl.transaction.manager().data().tree(tree).map_err(txn::Error::from)?;
    let everything = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };
    let mut scan =
        ddl.transaction.scan(&ReadView::LATEST, &tree, everything, Direction::Forward)?;
    Ok(scan.advance(ddl.transaction)?.is_none())
}
