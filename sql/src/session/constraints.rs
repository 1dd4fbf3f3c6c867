//! SET CONSTRAINTS, and deferred constraints before a commit (PostgreSQL 15 manual, page SET CONSTRAINTS).

use super::Session;
use super::utility::{Outcome, done};
use crate::catalog::{CatalogSnapshot, Deferral, Relation};
use crate::error::{Result, SqlError};
use crate::exec::deferred;
use crate::parse::ast::{ObjectName, SetConstraints};
use crate::plan::modify::table_of;
use crate::plan::physical::Table;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::Oid;
use std::collections::HashMap;
use std::sync::Arc;
use txn::{ReadView, TableLock, WaitPolicy};

impl Session {
    /// SET CONSTRAINTS.
    pub(super) fn set_constraints(&mut self, set: &SetConstraints) -> Result<Outcome> {
        if self.is_alone_at_top() {
            self.notices.get_mut().push(SqlError::warning(
                SqlState::NO_ACTIVE_SQL_TRANSACTION,
                "SET CONSTRAINTS can only be used in transaction blocks",
            ));
        }
        self.basis();
        let snapshot = Arc::clone(self.catalog.snapshot());
        let named = match &set.names {
            None => None,
            Some(names) => {
                let mut all = Vec::new();
                for name in names {
                    all.extend(self.deferrable(&snapshot, name, set.deferred)?);
                }
                Some(all)
            }
        };
        let engine = Arc::clone(&self.engine);
        self.block.ensure(engine.manager(), &self.wait);
        self.deferred.get_mut().set(named.as_deref(), set.deferred);
        if !set.deferred {
            self.check_deferred(false)?;
            if self.block.depth() == 0 && self.within.is_empty() {
                self.deferred.get_mut().forget_done();
            }
        }
        done("SET CONSTRAINTS")
    }

    /// The deferrable constraints of a name: those of the first schema of the path that has any of that name.
    fn deferrable(
        &self,
        snapshot: &CatalogSnapshot,
        name: &ObjectName,
        defers: bool,
    ) -> Result<Vec<Oid>> {
        let schemas = match name.schema() {
            Some(schema) => vec![
                snapshot
                    .schema(schema)
                    .ok_or_else(|| {
                        SqlError::new(
                            SqlState::INVALID_SCHEMA_NAME,
                            format!("schema \"{schema}\" does not exist"),
                        )
                    })?
                    .oid,
            ],
            None => self.path.listed(true).to_vec(),
        };
        let named = name.name();
        for schema in schemas {
            let (mut found, mut deferrable) = (false, Vec::new());
            for relation in snapshot.constrained(named).filter(|one| one.schema.0 == schema) {
                let all = relation.constraint_names();
                for (_, oid, deferral) in all.filter(|one| **one.0 == **named) {
                    found = true;
                    if deferral != Deferral::Never {
                        deferrable.push(oid);
                    } else if defers {
                        return Err(SqlError::new(
                            SqlState::WRONG_OBJECT_TYPE,
                            format!("constraint \"{named}\" is not deferrable"),
                        ));
                    }
                }
            }
            if found {
                return Ok(deferrable);
            }
        }
        Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("constraint \"{named}\" does not exist"),
        ))
    }

    /// Makes the checks that wait: all, or those of constraints that are not deferred any more.
    pub(super) fn check_deferred(&mut self, all: bool) -> Result<()> {
        if self.deferred.get_mut().is_empty() {
            return Ok(());
        }
        let due = self.deferred.get_mut().due(all);
        if due.is_empty() {
            return Ok(());
        }
        let snapshot = self.hold_referenced(&due)?;
        let mut tables: HashMap<Oid, Arc<Table>> = HashMap::new();
        let other = |oid| snapshot.relation(oid).cloned();
        let mut table = |oid: Oid| {
            if let Some(known) = tables.get(&oid) {
                return Ok(Some(Arc::clone(known)));
            }
            let Some(relation) = snapshot.relation(oid) else { return Ok(None) };
            let made = Arc::new(table_of(relation, &other)?);
            tables.insert(oid, Arc::clone(&made));
            Ok(Some(made))
        };
        let parameters = RowBuf::new();
        if self.deferred.get_mut().fires(&due) {
            return self.with_lent_run(ReadView::LATEST, &parameters, |run| {
                deferred::make_due(run, &due, &mut table)
            });
        }
        self.with_run(ReadView::LATEST, &parameters, |run| {
            deferred::make_due(run, &due, &mut table)
        })
    }

    /// Locks the tables that are read by checks of others' rows, and their indexes, so that their trees stay: those of the
    /// catalog that is returned. The tables that the checks are of have been written to, and are locked.
    fn hold_referenced(&mut self, due: &[(usize, Oid)]) -> Result<Arc<CatalogSnapshot>> {
        self.catalog.look_back(None);
        let engine = Arc::clone(&self.engine);
        let database = self.catalog.database();
        loop {
            let snapshot = Arc::clone(self.catalog.snapshot());
            let mut read: Vec<Oid> = Vec::new();
            for relation in due.iter().filter_map(|(_, table)| snapshot.relation(*table)) {
                read.extend(relation.parents());
                read.extend(relation.referenced_by.iter().map(|(child, _)| *child));
            }
            read.sort_unstable();
            read.dedup();
            let transaction = self.block.ensure(engine.manager(), &self.wait);
            for relation in read.into_iter().filter_map(|oid| snapshot.relation(oid)) {
                let indexes = relation.indexes.iter().filter(|index| !index.holds_rows());
                let indexes = indexes.map(|index| Relation::lock_of(database, index.oid));
                for lock in std::iter::once(relation.lock).chain(indexes) {
                    transaction.lock_table(lock, TableLock::RowShare, WaitPolicy::Block)?;
                }
            }
            if self.catalog.is_current() {
                return Ok(snapshot);
            }
        }
    }
}
