//! ADD CONSTRAINT ... USING INDEX: a unique index that is there becomes a key.
//!
//! A UNIQUE that is not deferrable only gets its name. A primary key holds the table's rows, and a deferrable key has
//! entries of another form ([`crate::tuple::entry`]): their trees are built anew.

use super::Ddl;
use super::build::Rewrite;
use super::constraint::constraint_is_new;
use super::resolve::duplicate_relation;
use crate::catalog::Named;
use crate::catalog::relation::{Index, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Ident, KeyOptions, TableConstraint};
use crate::sqlstate::SqlState;
use std::sync::Arc;

impl Ddl<'_> {
    /// The relation with a key of its index `named`.
    pub(super) fn key_using(
        &mut self,
        relation: &Relation,
        constraint: &TableConstraint,
        named: &Ident,
        options: &KeyOptions,
    ) -> Result<Relation> {
        let position = self.semantics.position(constraint.at);
        let at = self
            .usable_index(relation, named)
            .map_err(|error| if position > 0 { error.at(position) } else { error })?;
        if options.primary && relation.indexes.iter().any(|index| index.primary) {
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!("multiple primary keys for table \"{}\" are not allowed", relation.name),
            ));
        }
        let mut next = relation.clone();
        let mut index = next.indexes.remove(at);
        if let Some(name) = constraint.name.as_ref().filter(|name| ***name != *index.name) {
            let message = format!(
                "ALTER TABLE / ADD CONSTRAINT USING INDEX will rename index \"{}\" to \"{name}\"",
                index.name
            );
            self.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            constraint_is_new(relation, name)?;
            if self.lock_relation_name(relation.schema.0, name)? {
                return Err(duplicate_relation(name));
            }
            index.name = Arc::clone(name);
        }
        index.constraint = Some((self.catalog.next_oid()?, Arc::clone(&index.name)));
        index.primary = options.primary;
        index.deferral = options.deferral;
        let mut not_null = Vec::new();
        if index.primary {
            not_null.extend(index.columns.iter().map(|key| key.column));
        }
        for &column in &not_null {
            next.columns[column].not_null = true;
        }
        self.demand_values(relation, &not_null)?;
        let (place, old) = (if index.primary { 0 } else { at }, index.tree);
        if index.holds_rows() {
            next.indexes.insert(place, index);
            self.catalog.drop_tree(old);
            let mut rewrite = Rewrite { columns: Vec::new(), not_null, checks: Vec::new() };
            self.rewrite(relation, &mut next, &mut rewrite)?;
            return Ok(next);
        }
        if index.deferral.is_deferrable() {
            index.tree = self.build_index(relation, &index)?;
            self.catalog.drop_tree(old);
        }
        next.indexes.insert(place, index);
        Ok(next)
    }

    /// The place of an index that may become a key (PostgreSQL's `transformIndexConstraint`).
    fn usable_index(&mut self, relation: &Relation, named: &Ident) -> Result<usize> {
        let snapshot = self.snapshot();
        let found = match snapshot.named(relation.schema.0, named) {
            Some(Named::Index { index, .. }) => snapshot.index(index),
            _ => None,
        };
        let Some((table, index)) = found else {
            return Err(SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("index \"{named}\" does not exist"),
            ));
        };
        let state = |what: &str| {
            SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("index \"{named}\" {what}"),
            )
        };
        if index.constraint.is_some() {
            return Err(state("is already associated with a constraint"));
        }
        if table.oid != relation.oid {
            return Err(state(&format!("does not belong to table \"{}\"", relation.name)));
        }
        if !index.is_valid() {
            return Err(state("is not valid"));
        }
        if let Some(refused) = unfit(index) {
            return Err(SqlError::new(SqlState::WRONG_OBJECT_TYPE, refused)
                .detail("Cannot create a primary key or unique constraint using such an index."));
        }
        let place = relation.indexes.iter().position(|known| known.oid == index.oid);
        place.ok_or_else(|| state(&format!("does not belong to table \"{}\"", relation.name)))
    }
}

/// Why an index cannot be a key.
fn unfit(index: &Index) -> Option<String> {
    let name = &index.name;
    if !index.unique {
        return Some(format!("\"{name}\" is not a unique index"));
    }
    if !index.expressions.is_empty() {
        return Some(format!("index \"{name}\" contains expressions"));
    }
    if index.filter.is_some() {
        return Some(format!("\"{name}\" is a partial index"));
    }
    let other = index.columns.iter().position(|key| !key.is_plain())?;
    let number = other + 1;
    Some(format!("index \"{name}\" column number {number} does not have default sorting behavior"))
}
