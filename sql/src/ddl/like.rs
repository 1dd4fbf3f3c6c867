//! LIKE in CREATE TABLE: columns of another table, and what else of it is asked for (`transformTableLikeClause`,
//! `expandTableLikeClause`).
//!
//! Columns come with their types and NOT NULL where LIKE stands among the others; the rest comes when the table's own keys and
//! conditions are there. Columns are found again by their names, which are the same in both tables.

use super::build::NO_TREE;
use super::constraint::constraint_is_new;
use super::create_table::{NewSequence, Parts, columns_max, specified_twice};
use super::resolve::undefined_table;
use super::{Ddl, name};
use crate::bind::kept;
use crate::catalog::Named;
use crate::catalog::acl::Privileges;
use crate::catalog::definition::{Edge, Edges};
use crate::catalog::object::{Class, Object, ObjectKey};
use crate::catalog::relation::{
    Column, Constraint, ConstraintKind, Index, IndexColumn, IndexState, Properties, Relation,
    RelationKind,
};
use crate::error::{Result, SqlError};
use crate::parse::ast::{LikeProperty, ObjectName, SequenceOption};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;
use txn::TableLock;

/// A LIKE, looked up.
pub(super) struct Like {
    source: Arc<Relation>,
    /// What it includes.
    including: Vec<LikeProperty>,
    /// The options of the sequences behind identity columns, by the column's index there.
    sequences: Vec<(usize, Vec<SequenceOption>)>,
}

impl Like {
    fn includes(&self, property: LikeProperty) -> bool {
        self.including.contains(&property)
    }
}

impl Ddl<'_> {
    /// Looks up the table of a LIKE.
    ///
    /// # Errors
    /// 42P01, 42501, 42809.
    pub(super) fn like(&mut self, table: &ObjectName, including: &[LikeProperty]) -> Result<Like> {
        let at = self.semantics.position(table.at);
        let source = self.like_source(table).map_err(|error| error.at(at))?;
        self.demand_select(&source)?;
        let mut sequences = Vec::new();
        if including.contains(&LikeProperty::Identity) {
            let snapshot = self.snapshot();
            for (sequence, column) in snapshot.owned_sequences(source.oid) {
                let RelationKind::Sequence(defined) = &sequence.kind else { continue };
                if source.columns[column].identity.is_none() {
                    continue;
                }
                let options = vec![
                    SequenceOption::Increment(defined.increment),
                    SequenceOption::Minimum(Some(defined.min)),
                    SequenceOption::Maximum(Some(defined.max)),
                    SequenceOption::Start(defined.start),
                    SequenceOption::Cache(defined.cache),
                    SequenceOption::Cycle(defined.cycle),
                ];
                sequences.push((column, options));
            }
        }
        Ok(Like { source, including: including.to_vec(), sequences })
    }

    fn like_source(&mut self, table: &ObjectName) -> Result<Arc<Relation>> {
        let Some((named, source)) = self.lock_named(table, TableLock::AccessShare)? else {
            return Err(undefined_table(table));
        };
        let refused = match (named, &source.kind) {
            (Named::Index { .. }, _) => Some("indexes"),
            (_, RelationKind::Sequence(_)) => Some("sequences"),
            _ => None,
        };
        if let Some(refused) = refused {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("relation \"{}\" is invalid in LIKE clause", table.name()),
            )
            .detail(format!("This operation is not supported for {refused}.")));
        }
        Ok(source)
    }

    /// 42501 unless the current user may read the table, or use the composite type.
    fn demand_select(&mut self, source: &Relation) -> Result<()> {
        if matches!(source.kind, RelationKind::Composite) {
            return self.demand_type_usage(SqlType::plain(source.row_type.0.0));
        }
        let (user, snapshot) = (self.user, self.snapshot());
        if !snapshot.may_on_relation(user, source, Privileges::SELECT) {
            let kind = match source.kind {
                RelationKind::View { .. } => "view",
                _ => "table",
            };
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied for {kind} {}", source.name),
            ));
        }
        Ok(())
    }

    /// Adds the columns to a relation that is being made; their sequences go to `parts`.
    ///
    /// # Errors
    /// 42701, 54011.
    pub(super) fn like_columns<'a>(
        &mut self,
        relation: &mut Relation,
        like: &'a Like,
        parts: &mut Parts<'a>,
    ) -> Result<()> {
        let live = like.source.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
        for (number, column) in live {
            if relation.column(&column.name).is_some() {
                return Err(specified_twice(&column.name));
            }
            columns_max(relation.columns.len() + 1)?;
            self.use_type(column.ty)?;
            let at = relation.columns.len();
            let sequence = like.sequences.iter().find(|known| known.0 == number);
            if let Some((_, options)) = sequence {
                parts.sequences.push(NewSequence { column: at, ty: column.ty.oid, options });
            }
            let kept = &column.properties;
            relation.columns.push(Column {
                default: None,
                missing: None,
                identity: column.identity.filter(|_| sequence.is_some()),
                generated: false,
                properties: Properties {
                    storage: kept.storage.filter(|_| like.includes(LikeProperty::Storage)),
                    compression: kept
                        .compression
                        .filter(|_| like.includes(LikeProperty::Compression)),
                    ..Properties::default()
                },
                ..column.clone()
            });
        }
        Ok(())
    }

    /// Adds the rest of what is asked for to a relation that has its own columns and keys, and is not in the catalog yet.
    ///
    /// # Errors
    /// 42710, 42P07, 42P16; 0A000 for a text that names the whole row.
    pub(super) fn like_parts(&mut self, relation: &mut Relation, like: &Like) -> Result<()> {
        let source = &like.source;
        for column in source.columns.iter().filter(|column| !column.dropped) {
            let Some(default) = column.default.as_ref().filter(|_| column.identity.is_none())
            else {
                continue;
            };
            let property =
                if column.generated { LikeProperty::Generated } else { LikeProperty::Defaults };
            if !like.includes(property) {
                continue;
            }
            if column.generated {
                let what = format!("Generation expression for column \"{}\"", column.name);
                demand_columns(source, default.edges(), &what)?;
            }
            let at = relation.column(&column.name).expect("its columns have been added");
            let snapshot = self.snapshot();
            let place = |column| place_of(relation, source, column);
            let copied = kept::copy(&snapshot, source, default, &place)?;
            relation.columns[at].default = Some(copied);
            relation.columns[at].generated = column.generated;
        }
        if like.includes(LikeProperty::Comments) {
            for (number, column) in source.columns.iter().enumerate() {
                if let Some(at) = relation.column(&column.name).filter(|_| !column.dropped) {
                    self.copy_comment((source.oid, number + 1), (relation.oid, at + 1))?;
                }
            }
        }
        if like.includes(LikeProperty::Constraints) {
            for constraint in &source.constraints {
                let ConstraintKind::Check { condition, no_inherit } = &constraint.kind else {
                    continue;
                };
                let what = format!("Constraint \"{}\"", constraint.name);
                demand_columns(source, condition.edges(), &what)?;
                constraint_is_new(relation, &constraint.name)?;
                let oid = self.catalog.next_oid()?;
                if like.includes(LikeProperty::Comments) {
                    self.copy_comment((constraint.oid, 0), (oid, 0))?;
                }
                let snapshot = self.snapshot();
                let place = |column| place_of(relation, source, column);
                let condition = kept::copy(&snapshot, source, condition, &place)?;
                let kind = ConstraintKind::Check { condition, no_inherit: *no_inherit };
                relation.constraints.push(Constraint {
                    oid,
                    kind,
                    validated: true,
                    ..constraint.clone()
                });
            }
        }
        if like.includes(LikeProperty::Indexes) {
            for index in &source.indexes {
                let copy = self.like_index(relation, source, index)?;
                if like.includes(LikeProperty::Comments) {
                    self.copy_comment((index.oid, 0), (copy.oid, 0))?;
                }
                let place = if copy.primary { 0 } else { relation.indexes.len() };
                relation.indexes.insert(place, copy);
            }
        }
        Ok(())
    }

    /// The same index over another table, under a name of its own.
    fn like_index(
        &mut self,
        relation: &mut Relation,
        source: &Relation,
        index: &Index,
    ) -> Result<Index> {
        if index.primary && relation.indexes.iter().any(|known| known.primary) {
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!("multiple primary keys for table \"{}\" are not allowed", relation.name),
            ));
        }
        for edges in index.definitions() {
            let what = format!("Index \"{}\"", index.name);
            demand_columns(source, edges, &what)?;
        }
        let there = |column: usize| place_of(relation, source, column);
        let key = |key: &IndexColumn| match key.expression() {
            Some(_) => *key,
            None => IndexColumn { column: there(key.column), ..*key },
        };
        let mut copy = Index {
            oid: self.catalog.next_oid()?,
            columns: index.columns.iter().map(key).collect(),
            include: index.include.iter().map(|column| there(*column)).collect(),
            tree: NO_TREE,
            state: IndexState::Valid,
            ..index.clone()
        };
        for made in &mut copy.expressions {
            made.statistics = None;
        }
        let snapshot = self.snapshot();
        for made in copy.trees_mut() {
            *made = kept::copy(&snapshot, source, made, &there)?;
        }
        copy.name = self.like_index_name(relation, &copy)?;
        if index.constraint.is_some() {
            copy.constraint = Some((self.catalog.next_oid()?, Arc::clone(&copy.name)));
        }
        if !copy.holds_rows() {
            copy.tree = self.catalog.create_tree()?.id();
        } else if let RelationKind::Table { tree, key, .. } = &mut relation.kind {
            *key = copy.columns.iter().map(|key| key.column).collect();
            copy.tree = *tree;
        }
        Ok(copy)
    }

    /// A free name for a copied index, locked.
    fn like_index_name(&mut self, relation: &Relation, index: &Index) -> Result<Arc<str>> {
        let mut taken = vec![Arc::clone(&relation.name)];
        taken.extend(relation.indexes.iter().map(|index| Arc::clone(&index.name)));
        let names = index.column_names(relation);
        let part = name::columns_part(names.iter().map(|name| &**name));
        let (second, label) = match (index.primary, &index.constraint) {
            (true, _) => (None, "pkey"),
            (false, Some(_)) => (Some(part.as_str()), "key"),
            (false, None) => (Some(part.as_str()), "idx"),
        };
        let schema = relation.schema.0;
        loop {
            let snapshot = self.snapshot();
            let name =
                name::relation_name(&snapshot, schema, &taken, &relation.name, second, label);
            if !self.lock_relation_name(schema, &name)? {
                return Ok(name);
            }
        }
    }

    /// Gives an object (and a number below it) the comment of another one, if that has one.
    fn copy_comment(&mut self, from: (Oid, usize), to: (Oid, usize)) -> Result<()> {
        let snapshot = self.snapshot();
        let Some(comment) = snapshot.comment(from.0, from.1 as u32) else { return Ok(()) };
        let key = self.catalog.key(Class::Comment, to.0);
        let key = ObjectKey { sub: to.1 as u32, ..key };
        let next = Some(Object::Comment(Arc::clone(comment)));
        self.catalog.change(self.transaction, key, snapshot.object(key).as_ref(), next)
    }
}

/// Where a column of `source`, by index, is in the relation that is made like it.
fn place_of(relation: &Relation, source: &Relation, column: usize) -> usize {
    let name = &source.columns[column].name;
    relation.column(name).expect("its columns have been added")
}

/// 0A000 for a definition that names the whole row of the table that it is copied from, which the new one has not.
fn demand_columns(source: &Relation, edges: &Edges, what: &str) -> Result<()> {
    if !edges.leads_to(Edge::Own(0)) {
        return Ok(());
    }
    Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cannot convert whole-row table reference")
        .detail(format!("{what} contains a whole-row reference to table \"{}\".", source.name)))
}
