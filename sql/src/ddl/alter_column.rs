//! ALTER TABLE's actions on columns: ADD, DROP, SET and DROP of DEFAULT and NOT NULL.
//!
//! ADD COLUMN with a default that is the same for all rows and DROP COLUMN touch no row: old rows read the column's
//! missing value, and keep the bytes of a dropped one. What changes stored values rewrites the table.

use super::build::{Columns, Rewrite, contains_null, each_row, is_empty};
use super::create_table::Parts;
use super::dependency::Dependents;
use super::index::distinct_keys;
use super::resolve::{changeable_column, refused_system_column, system_column_named};
use super::row_shape::Reshape;
use super::type_dependents::{Dependent, What};
use super::{Ddl, NewValue, RowFunction};
use crate::catalog::CatalogSnapshot;
use crate::catalog::quote::identifier;
use crate::catalog::relation::{ConstraintKind, ForeignKey, Index, Relation, RelationKind};
use crate::catalog::sequence::{self, following};
use crate::error::{Result, SqlError};
use crate::parse::ast::{ColumnElement, Expr, Ident};
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::depth::deeper;
use crate::types::{Datum, Oid, oids};
use std::cell::Cell;
use std::sync::Arc;

/// Whether rows that get a column of this type get a value for it, or have to be looked at: it is a domain with a default
/// or conditions.
fn gives_values(snapshot: &CatalogSnapshot, ty: Oid) -> bool {
    snapshot.domain(ty).is_some_and(|domain| {
        domain.default.is_some()
            || domain.not_null
            || !domain.checks.is_empty()
            || deeper(|| gives_values(snapshot, domain.base.oid))
    })
}

impl Ddl<'_> {
    pub(super) fn alter_add_column(
        &mut self,
        relation: &Arc<Relation>,
        element: &ColumnElement,
        if_not_exists: bool,
    ) -> Result<()> {
        if !self.may_add_column(relation, &element.name, if_not_exists)? {
            return Ok(());
        }
        self.check_clauses(&relation.name, element)?;
        let mut next = Relation::clone(relation);
        let mut parts = Parts { altering: true, ..Parts::default() };
        self.add_column(&mut next, element, &mut parts)?;
        for (column, expr) in &parts.generated {
            self.generate(&mut next, *column, expr).map_err(SqlError::nowhere)?;
        }
        let new = &next.columns[next.columns.len() - 1];
        let snapshot = self.snapshot();
        let of_domain = gives_values(&snapshot, new.ty.oid);
        if new.default.is_some() || of_domain || !parts.sequences.is_empty() {
            self.refuse_used_row_type(relation)?;
        }
        let grown = Reshape::Add(new.ty);
        let mut sequence = None;
        for new in &parts.sequences {
            sequence = Some(self.make_owned_sequence(&mut next, new, true)?);
        }
        if let RelationKind::Table { tree, .. } = relation.kind
            && !is_empty(self.transaction, tree)?
        {
            self.fill_column(relation, &mut next, sequence)?;
        }
        self.catalog.put_relation(self.transaction, next.clone())?;
        for key in &distinct_keys(parts.keys) {
            next = self.add_key(&next, key)?;
        }
        for new in &parts.checks {
            let check = self.new_check(&next, new).map_err(SqlError::nowhere)?;
            self.check_rows(&next, &check)?;
            next.constraints.push(check);
        }
        for (name, columns, references, _) in &parts.foreign {
            let key = self.new_foreign_key(&next, name.as_ref(), columns, references, true)?;
            self.check_references(&next, &key)?;
            next.constraints.push(key);
        }
        let row_type = next.row_type.0;
        self.catalog.put_relation(self.transaction, next)?;
        self.reshape(&snapshot, row_type, &grown)
    }

    /// Gives rows that are there their value of a new column, the last of `next`. A value that is the same for all is noted
    /// with the column and touches no row.
    fn fill_column(
        &mut self,
        relation: &Relation,
        next: &mut Relation,
        sequence: Option<Relation>,
    ) -> Result<()> {
        let at = next.columns.len() - 1;
        let ty = next.columns[at].ty;
        let snapshot = self.snapshot();
        let semantics = self.semantics;
        let given = Cell::new(None);
        let counted = sequence.as_ref().and_then(|relation| match &relation.kind {
            RelationKind::Sequence(sequence) => Some((relation, sequence)),
            _ => None,
        });
        let value: RowFunction<'_> = match counted {
            Some((relation, sequence)) => {
                let mut state = sequence.initial;
                let given = &given;
                Box::new(move |_| {
                    state = following(sequence, &relation.name, state)?;
                    given.set(Some(state));
                    let mut row = RowBuf::new();
                    // The sequence's bounds are the type's.
                    row.push(match ty.oid.0 {
                        oids::INT2 => Datum::Int2(state.last_value as i16),
                        oids::INT4 => Datum::Int4(state.last_value as i32),
                        _ => Datum::Int8(state.last_value),
                    });
                    Ok(row)
                })
            }
            None => {
                let value = match &next.columns[at].default {
                    Some(made) if next.columns[at].generated => {
                        NewValue::Computed(semantics.compute(&snapshot, relation, None, made)?)
                    }
                    own => {
                        let domain = snapshot.domain(ty.oid);
                        match own.as_ref().or_else(|| domain?.default.as_ref()) {
                            None if domain.is_none() => NewValue::Constant(None),
                            // A domain may not have NULL.
                            given => semantics
                                .new_value(&snapshot, ty, given)
                                .map_err(SqlError::nowhere)?,
                        }
                    }
                };
                match value {
                    NewValue::Computed(value) => value,
                    NewValue::Constant(None) if next.columns[at].not_null => {
                        return Err(contains_null(next, at));
                    }
                    NewValue::Constant(constant) => {
                        next.columns[at].missing = constant;
                        return Ok(());
                    }
                }
            }
        };
        let not_null = next.columns[at].not_null.then_some(at).into_iter().collect();
        let mut rewrite = Rewrite { columns: vec![(at, value)], not_null, checks: Vec::new() };
        // A value that every row computes: AT_REWRITE_DEFAULT_VAL.
        self.tell_rewrite(next, 2);
        self.rewrite(relation, next, &mut rewrite)?;
        drop(rewrite);
        let (Some(sequence), Some(state)) = (&sequence, given.get()) else { return Ok(()) };
        self.put_sequence_state(sequence, state)?;
        if let Some(sequence) = self.relation(sequence.oid) {
            let catalog = Arc::clone(self.catalog.catalog());
            let mut remembered = self.sequences.borrow_mut();
            remembered.note(&catalog, sequence.oid, sequence::of(&sequence)?, state.last_value);
        }
        Ok(())
    }

    pub(super) fn drop_column(
        &mut self,
        relation: &Arc<Relation>,
        name: &Ident,
        if_exists: bool,
        cascade: bool,
    ) -> Result<()> {
        let Some(at) = relation.column(name) else {
            if system_column_named(relation, name).is_some() {
                return Err(refused_system_column("drop", name));
            }
            let message =
                format!("column \"{name}\" of relation \"{}\" does not exist", relation.name);
            if if_exists {
                self.notice(SqlState::SUCCESSFUL_COMPLETION, format!("{message}, skipping"));
                return Ok(());
            }
            return Err(SqlError::new(SqlState::UNDEFINED_COLUMN, message));
        };
        let shown = self.display(relation);
        let what = format!("column {name} of table {shown}");
        let mut going = generated_from(relation, at);
        let dependents = loop {
            let mut found = Dependents::default();
            for &column in &going {
                let thing = format!("column {} of table {shown}", relation.columns[column].name);
                found.lines.push((thing.clone(), what.clone()));
                self.collect_column(relation, column, &thing, &mut found);
            }
            self.collect_column(relation, at, &what, &mut found);
            if self.hold(&found, &[])? {
                break found;
            }
        };
        going.push(at);
        self.drop_dependents(&dependents, cascade, &what)?;
        for column in going {
            if let Some(current) = self.relation(relation.oid) {
                self.remove_column(&current, column)?;
            }
        }
        Ok(())
    }

    /// Collects what depends on a column and is no part of its table.
    fn collect_column(
        &mut self,
        relation: &Relation,
        at: usize,
        what: &str,
        into: &mut Dependents,
    ) {
        let gone = indexes_of_column(relation, at);
        let own = [relation.oid];
        let goes = |table: Oid, column: usize| table == relation.oid && column == at;
        self.collect_owned_named(relation, Some(at), &goes, (&[], &[]), into);
        // A key that the table's own column is part of goes with it; one that only refers to it needs it.
        let refers = |table, key: &ForeignKey| {
            gone.contains(&key.index) && !(table == relation.oid && key.columns.contains(&at))
        };
        self.collect_references(relation, &[], &refers, what, into);
        self.collect_field(relation.oid, at, what, into);
        let shown = self.display(relation);
        let mut triggers: Vec<_> =
            relation.triggers.iter().filter(|one| one.names_column(at)).collect();
        triggers.sort_by_key(|one| one.oid);
        for trigger in triggers {
            let shown = format!("trigger {} on table {shown}", identifier(&trigger.name));
            into.lines.push((shown.clone(), what.to_owned()));
            let goes = What::Trigger(relation.oid, trigger.oid);
            into.parts.push(Dependent { shown, on: what.to_owned(), what: goes });
        }
        self.collect_views(relation, Some(at as i16 + 1), &own, what, into);
    }

    /// Takes a column from its table, with the constraints and indexes that name it and what else is only its own.
    fn remove_column(&mut self, current: &Relation, at: usize) -> Result<()> {
        let snapshot = self.snapshot();
        let live = current.columns[..at].iter().filter(|column| !column.dropped).count();
        let shrunk = Reshape::Drop(live);
        let gone = indexes_of_column(current, at);
        let mut next = Relation::clone(current);
        constraints_without(&mut next, current, at);
        let column = &mut next.columns[at];
        let place = at + 1;
        column.name = format!("........pg.dropped.{place}........").into();
        column.dropped = true;
        column.not_null = false;
        column.default = None;
        column.identity = None;
        column.generated = false;
        let unclustered = {
            let had = current.indexes.iter().any(Index::holds_rows);
            let position = |index: &Index| gone.contains(&index.oid);
            let removed: Vec<_> = next.indexes.extract_if(.., |index| position(index)).collect();
            for index in removed.iter().filter(|index| !index.holds_rows()) {
                self.catalog.drop_tree(index.tree);
            }
            had && !next.indexes.iter().any(Index::holds_rows)
        };
        if unclustered {
            // The rows' key is read from the column as it was.
            let mut rewrite =
                Rewrite { columns: Vec::new(), not_null: Vec::new(), checks: Vec::new() };
            self.rewrite(current, &mut next, &mut rewrite)?;
        }
        self.put_without(current, next)?;
        self.reshape(&snapshot, current.row_type.0, &shrunk)?;
        self.drop_owned_sequence(current, at)
    }

    pub(super) fn set_default(
        &mut self,
        relation: &Arc<Relation>,
        name: &Ident,
        expr: Option<&Expr>,
    ) -> Result<()> {
        let at = changeable_column(relation, name)?;
        let old = &relation.columns[at];
        let refuse = |what: &str| {
            Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("column \"{name}\" of relation \"{}\" is {what}", relation.name),
            ))
        };
        if old.identity.is_some() {
            return refuse("an identity column");
        }
        if old.generated {
            let hint = "Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.";
            let refused = refuse("a generated column");
            return match expr {
                None => refused.map_err(|error| error.hint(hint)),
                Some(_) => refused,
            };
        }
        let default = match expr {
            Some(expr) => {
                let snapshot = self.snapshot();
                let bound = self.semantics.default(&snapshot, name, old.ty, expr);
                let bound = bound.map_err(SqlError::nowhere)?;
                self.hold_named(bound.value.edges())?;
                bound.kept()
            }
            None => None,
        };
        let mut next = Relation::clone(relation);
        next.columns[at].default = default;
        self.catalog.put_relation(self.transaction, next)
    }

    pub(super) fn set_not_null(&mut self, relation: &Arc<Relation>, name: &Ident) -> Result<()> {
        let at = changeable_column(relation, name)?;
        if relation.columns[at].not_null {
            return Ok(());
        }
        self.demand_values(relation, &[at])?;
        let mut next = Relation::clone(relation);
        next.columns[at].not_null = true;
        self.catalog.put_relation(self.transaction, next)
    }

    /// 23502 if a row that is there has NULL in one of these columns.
    pub(super) fn demand_values(&mut self, relation: &Relation, columns: &[usize]) -> Result<()> {
        if columns.iter().all(|&at| relation.columns[at].not_null) {
            return Ok(());
        }
        self.tell_verification(relation);
        each_row(self.transaction, relation, Columns::Only(columns), &mut |_, _, _, row| {
            match columns.iter().find(|&&at| row.get(at).is_null()) {
                Some(&at) => Err(contains_null(relation, at)),
                None => Ok(()),
            }
        })
    }

    pub(super) fn drop_not_null(&mut self, relation: &Arc<Relation>, name: &Ident) -> Result<()> {
        let at = changeable_column(relation, name)?;
        if relation.columns[at].identity.is_some() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!(
                    "column \"{name}\" of relation \"{}\" is an identity column",
                    relation.name
                ),
            ));
        }
        let in_key = relation
            .indexes
            .iter()
            .any(|index| index.primary && index.columns.iter().any(|key| key.column == at));
        if in_key {
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!("column \"{name}\" is in a primary key"),
            ));
        }
        let identifies = relation.indexes.iter().filter(|index| index.replica_identity);
        if identifies.flat_map(|index| &index.columns).any(|key| key.column == at) {
            let message = format!("column \"{name}\" is in index used as replica identity");
            return Err(SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message));
        }
        let mut next = Relation::clone(relation);
        next.columns[at].not_null = false;
        self.catalog.put_relation(self.transaction, next)
    }
}

/// The generated columns that are computed from a column.
pub(super) fn generated_from(relation: &Relation, at: usize) -> Vec<usize> {
    let columns = relation.columns.iter().enumerate();
    let found = columns.filter(|(number, column)| {
        let expression = column.default.as_ref().filter(|_| column.generated && !column.dropped);
        *number != at && expression.is_some_and(|expression| expression.edges().names_column(at))
    });
    found.map(|(number, _)| number).collect()
}

/// The indexes that a column is part of.
pub(super) fn indexes_of_column(relation: &Relation, at: usize) -> Vec<Oid> {
    let indexes = relation.indexes.iter();
    let found = indexes.filter(|index| index.names(at) || computes_from(index, at));
    found.map(|index| index.oid).collect()
}

/// Takes away the constraints that name a column that goes.
fn constraints_without(next: &mut Relation, current: &Relation, at: usize) {
    next.constraints.retain(|constraint| match &constraint.kind {
        ConstraintKind::ForeignKey(key) => {
            let own = key.references == current.oid && key.referenced.contains(&at);
            !(key.columns.contains(&at) || own)
        }
        ConstraintKind::Check { condition, .. } => !condition.edges().names_column(at),
    });
}

/// Whether an index computes something from a column.
pub(super) fn computes_from(index: &Index, column: usize) -> bool {
    index.definitions().any(|definition| definition.names_column(column))
}
