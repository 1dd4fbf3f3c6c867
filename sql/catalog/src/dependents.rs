//! Who may have to do with an object: where DROP, ALTER and RENAME look, by what the snapshot's indexes lead to.
//!
//! What comes of it are relations and types in the order of their OIDs: those that have columns or values of a type, or a
//! definition with an edge to the object ([`crate::definition`]). It plays the part of PostgreSQL's
//! `pg_depend_reference_index`, and costs as much as hangs on the object.

use crate::builtin::{array_type, element_of_made};
use crate::definition::Edge;
use crate::objects::second;
use crate::relation::Relation;
use crate::routine::Routine;
use crate::snapshot::{CatalogSnapshot, Named};
use sql_types::Oid;
use std::collections::BTreeSet;
use std::sync::Arc;
use txn::TreeId;

impl CatalogSnapshot {
    /// The relations, the domains and the routines, by OID, that have a definition that leads to this.
    pub fn depending(&self, on: Edge) -> impl Iterator<Item = Oid> {
        second(&self.objects().depending, on)
    }

    /// The same of a relation and all its columns, each once; of a composite type as the relation that it is, too.
    #[must_use]
    pub fn depending_on_relation(&self, relation: Oid) -> BTreeSet<Oid> {
        let (first, last) =
            (Edge::Relation(relation, i16::MIN), Edge::Relation(relation, i16::MAX));
        let found = self.objects().depending.range((first, Oid(0))..=(last, Oid(u32::MAX)));
        found.map(|(_, dependent)| *dependent).collect()
    }

    /// The same of a type, and of arrays of it.
    #[must_use]
    pub fn depending_on_type(&self, ty: Oid) -> BTreeSet<Oid> {
        let array = Edge::Type(Oid(array_type(ty.0)));
        self.depending(Edge::Type(ty)).chain(self.depending(array)).collect()
    }

    /// The relations and the types, by OID, that have columns, attributes or values of a type that users made, or of the type
    /// of a relation's rows, or of arrays of it.
    pub fn typed(&self, ty: Oid) -> impl Iterator<Item = Oid> {
        second(&self.objects().typed, ty)
    }

    /// The tables by the OIDs of what is called so in any schema: relations, and tables of indexes.
    #[must_use]
    pub fn called(&self, name: &str) -> BTreeSet<Oid> {
        let names = self.objects().names.values();
        let found = names.filter_map(|names| names.get(name));
        found
            .map(|named| match named {
                Named::Relation(oid) | Named::Index { table: oid, .. } => *oid,
            })
            .collect()
    }

    /// The relations that a role owns or has been granted something of.
    pub fn relations_of_role(&self, role: Oid) -> impl Iterator<Item = &Arc<Relation>> {
        second(&self.objects().roles, role).filter_map(|oid| self.objects().relations.get(&oid))
    }

    /// The relations that have a constraint of this name.
    pub fn constrained(&self, name: &str) -> impl Iterator<Item = &Arc<Relation>> {
        let name: Arc<str> = name.into();
        let range = (Arc::clone(&name), Oid(0))..=(name, Oid(u32::MAX));
        let found = self.objects().constraint_names.range(range);
        found.filter_map(|(_, oid)| self.objects().relations.get(oid))
    }

    /// The relation that a tree belongs to: it has its rows, its long values, or those of one of its indexes.
    #[must_use]
    pub fn relation_of_tree(&self, tree: TreeId) -> Option<&Arc<Relation>> {
        self.objects().relations.get(self.objects().trees.get(&tree)?)
    }

    /// The views, materialized ones too, whose queries depend on a relation.
    pub fn views_of(&self, relation: Oid) -> impl Iterator<Item = &Arc<Relation>> {
        let depending = self.depending_on_relation(relation).into_iter();
        let found = depending.filter_map(|oid| self.relation(oid));
        found.filter(move |view| {
            view.query().is_some_and(|query| query.edges().columns_read(relation).is_some())
        })
    }

    /// The routines whose bodies or defaults depend on a relation or, if one is given, on its column of that number.
    pub fn routines_of(
        &self,
        relation: Oid,
        column: Option<i16>,
    ) -> impl Iterator<Item = &Arc<Routine>> {
        let depending = self.depending_on_relation(relation).into_iter();
        let found = depending.filter_map(|oid| self.routine(oid));
        found.filter(move |routine| {
            let leads = |column| {
                let edge = Edge::Relation(relation, column);
                routine.definitions().any(|made| made.leads_to(edge))
            };
            column.is_none_or(leads)
        })
    }

    /// The relation, the table, or the type that an object is or is a part of: its index, its constraint, its row type, arrays
    /// of it.
    #[must_use]
    pub fn whole(&self, object: Oid) -> Option<Oid> {
        let element = element_of_made(object.0).map_or(object, Oid);
        let table =
            || self.index(object).map(|found| found.0).or_else(|| self.constraint_table(object));
        let relation = self.relation(object).or_else(table).or_else(|| self.row_type(element));
        let ty =
            || self.user_type(element).or_else(|| self.domain_check(object).map(|found| found.0));
        relation.map(|relation| relation.oid).or_else(|| ty().map(|ty| ty.oid))
    }

    /// The relations and the types that may depend on an object, or on a part of one, and what that is itself a part of.
    #[must_use]
    pub fn dependents(&self, object: Oid) -> BTreeSet<Oid> {
        let relations = self.relations_in(object).into_iter().map(|relation| relation.oid);
        let types = self.types_in(object).into_iter().map(|ty| ty.oid);
        let mut found: BTreeSet<Oid> = relations.chain(types).collect();
        found.extend(self.depending(Edge::Function(object)));
        found.extend(self.depending(Edge::Operator(object)));
        let Some(whole) = self.whole(object) else { return found };
        found.insert(whole);
        found.extend(self.typed(whole));
        if let Some(relation) = self.relation(whole) {
            found.extend(self.typed(relation.row_type.0));
            found.extend(self.depending_on_relation(whole));
            found.extend(self.depending_on_type(relation.row_type.0));
            found.extend(
                relation
                    .indexes
                    .iter()
                    .filter_map(|index| index.constraint.as_ref())
                    .flat_map(|(constraint, _)| self.depending(Edge::Constraint(*constraint))),
            );
            found.extend(relation.referenced_by.iter().map(|(child, _)| *child));
            found.extend(self.owned_sequences(whole).map(|(sequence, _)| sequence.oid));
        } else {
            found.extend(self.depending_on_type(whole));
            found.extend(self.depending_on_relation(whole));
        }
        found
    }

    /// The relations and the types that hold values of a type: as they are, in arrays, in domains, in rows.
    #[must_use]
    pub fn holders(&self, ty: Oid) -> BTreeSet<Oid> {
        self.reached(ty, false)
    }

    /// The relations and the types that may have to do with values of a type, or with a relation and its rows: they hold such
    /// values, or have a definition that depends on it or on one of the others.
    #[must_use]
    pub fn users(&self, object: Oid) -> BTreeSet<Oid> {
        self.reached(object, true)
    }

    fn reached(&self, from: Oid, by_definition: bool) -> BTreeSet<Oid> {
        let mut found = BTreeSet::new();
        let mut left = vec![from];
        while let Some(oid) = left.pop() {
            let mut next: Vec<Oid> = self.typed(oid).collect();
            // A relation's rows are of a type with an OID of its own, and so the other way round.
            let relation = self.relation(oid).or_else(|| self.row_type(oid));
            if let Some(relation) = relation.filter(|one| one.row_type.0 != oid) {
                next.extend(self.typed(relation.row_type.0));
            }
            if by_definition {
                let row_type = relation.map_or(oid, |relation| relation.row_type.0);
                next.extend(self.depending_on_relation(relation.map_or(oid, |one| one.oid)));
                next.extend(self.depending_on_type(row_type));
            }
            left.extend(next.into_iter().filter(|oid| found.insert(*oid)));
        }
        found
    }
}
