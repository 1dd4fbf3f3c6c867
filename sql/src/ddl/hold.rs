//! What a schema change builds on stays until its end: nobody drops a type, function, sequence, table or view meanwhile that something is
//! being made of (PostgreSQL does it where it notes a dependency).
//!
//! A relation is held by an ACCESS SHARE lock, anything else by a lock on its record that others may hold too. Who drops it has
//! it locked against all others and looks for what depends on it only then. Behind a lock that was waited for the object may
//! have gone, which is an error, or be called otherwise, which is nothing to a tree.

use super::resolve::dropped_meanwhile;
use super::{BoundView, Ddl};
use crate::catalog::builtin;
use crate::catalog::definition::{Edge, Edges};
use crate::catalog::object::{Class, well_known};
use crate::catalog::relation::Relation;
use crate::error::{Result, SqlError};
use crate::parse::ast::Query;
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use txn::{TableLock, WaitPolicy};

impl Ddl<'_> {
    /// Holds a type that something is about to be made of: a user's, or that of a relation's rows.
    ///
    /// # Errors
    /// Those of a lock; 42704 if it has gone.
    pub(super) fn hold_type(&mut self, ty: SqlType) -> Result<()> {
        let element = builtin::element_of_made(ty.oid.0).map_or(ty.oid, Oid);
        if element.0 < well_known::FIRST_NORMAL {
            return Ok(());
        }
        let snapshot = self.snapshot();
        if snapshot.user_type(element).is_some() {
            return self.hold_user_type(element);
        }
        match snapshot.row_type(element) {
            Some(relation) => self.hold_relation(relation, "type"),
            None => Ok(()),
        }
    }

    /// The same of the type of a column, an attribute or a domain, which the user must be allowed to use.
    ///
    /// # Errors
    /// 42501 besides.
    pub(super) fn use_type(&mut self, ty: SqlType) -> Result<()> {
        self.demand_type_usage(ty)?;
        self.hold_type(ty)
    }

    /// 42501 where the user may make nothing of a type.
    pub(super) fn demand_type_usage(&mut self, ty: SqlType) -> Result<()> {
        let element = builtin::element_type(ty.oid.0).map_or(ty.oid, Oid);
        if self.snapshot().may_use_type(self.user, element) {
            return Ok(());
        }
        let shown = self.plain_type_shown(SqlType::plain(element.0));
        let message = format!("permission denied for type {shown}");
        Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message))
    }

    fn hold_user_type(&mut self, oid: Oid) -> Result<()> {
        let key = self.catalog.key(Class::Type, oid);
        self.catalog.hold(self.transaction, key)?;
        match self.snapshot().user_type(oid) {
            Some(_) => Ok(()),
            None => Err(dropped_meanwhile("type")),
        }
    }

    /// Holds a relation; as what it is named is told if it has gone.
    fn hold_relation(&mut self, relation: &Relation, named_as: &str) -> Result<()> {
        // The system's are dropped by nobody.
        if relation.oid.0 < well_known::FIRST_NORMAL {
            return Ok(());
        }
        self.transaction.lock_table(relation.lock, TableLock::AccessShare, WaitPolicy::Block)?;
        match self.relation(relation.oid) {
            Some(_) => Ok(()),
            None => Err(dropped_meanwhile(named_as)),
        }
    }

    /// Holds what a definition depends on: the types that it casts to, the functions that it calls, and the relations that are
    /// constants in it.
    ///
    /// # Errors
    /// Those of a lock; 42704 for what has gone.
    pub(super) fn hold_named(&mut self, edges: &Edges) -> Result<()> {
        for edge in &**edges {
            if let Edge::Type(ty) = edge {
                self.hold_type(SqlType::plain(ty.0))?;
            }
        }
        for edge in &**edges {
            if let Edge::Function(function) = edge
                && function.0 >= well_known::FIRST_NORMAL
            {
                let key = self.catalog.key(Class::Routine, *function);
                if !self.catalog.hold(self.transaction, key)? {
                    return Err(dropped_meanwhile("function"));
                }
            }
        }
        for edge in &**edges {
            let Edge::Relation(oid, _) = edge else { continue };
            let snapshot = self.snapshot();
            match snapshot.relation(*oid) {
                Some(relation) => self.hold_relation(relation, "relation")?,
                None => self.hold_user_type(*oid)?,
            }
        }
        Ok(())
    }

    /// Binds a view's query: in the catalog as it is once everything that the query names is
    /// held. The relations that it reads are locked before names of columns are looked up, as PostgreSQL does.
    ///
    /// # Errors
    /// Those of binding and of a lock; 42704 for what has gone meanwhile; 0A000 with the text `refusal` where its WITH changes rows.
    pub(super) fn held_query(&mut self, query: &Query, refusal: &str) -> Result<BoundView> {
        loop {
            let snapshot = self.snapshot();
            for (oid, mode) in self.semantics.named(&snapshot, query) {
                // What draws values of a sequence only names it here.
                if mode <= TableLock::RowShare
                    && let Some(relation) = snapshot.relation(oid)
                    && oid.0 >= well_known::FIRST_NORMAL
                {
                    self.transaction.lock_table(relation.lock, mode, WaitPolicy::Block)?;
                }
            }
            if self.snapshot().version() != snapshot.version() {
                continue;
            }
            let bound = self.semantics.view(&snapshot, query, refusal)?;
            self.hold_named(bound.query.edges())?;
            for (_, ty) in &bound.columns {
                self.hold_type(*ty)?;
            }
            if self.snapshot().version() == snapshot.version() {
                return Ok(bound);
            }
        }
    }
}
