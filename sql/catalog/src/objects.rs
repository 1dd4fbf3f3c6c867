//! The objects of one database at one moment, and what leads to them: persistent maps, of which the next state copies the
//! few nodes that a change touches and shares all others.
//!
//! Beside what is stored there are indexes that follow from it: by name, by the OIDs of parts (indexes, constraints, row
//! types), and from each object to those that refer to it (foreign keys, sequences that columns own, columns of a type,
//! definitions). They are kept by difference: a change first takes away what the objects it touches stood for,
//! as they were, and then adds what they stand for now. So it costs the logarithm of how much there is, and as much as hangs
//! on what changes; PostgreSQL's cost for the same is that of the B-trees of its catalogs. The maps are the B+trees of
//! `imbl`, whose nodes are shared and copied on the way to what changes (Driscoll et al., *Making Data Structures
//! Persistent*, 1989: path copying).
//!
//! What a relation has of others (its schema's name, who refers to it, its row count) stands in the relation itself, which is
//! made anew where that changes: whoever holds the same `Arc` as before holds the same relation.

use crate::acl::Acl;
use crate::array_names::{ArrayNames, Elements};
use crate::attachment::{EventTrigger, UserCast, UserOperator};
use crate::builtin;
use crate::definition::{Edge, Edges};
use crate::extension::Extension;
use crate::object::{Class, Comment, DefaultAcl, Object, ObjectKey, Schema, Version};
use crate::operator_class::{Conversion, OperatorFamily, UserOperatorClass};
use crate::parts;
use crate::relation::{ConstraintKind, Index, Relation, RelationKind};
use crate::routine::Routine;
use crate::snapshot::{Change, Named, next_version};
use crate::statistics::TableStatistics;
use crate::user_type::UserType;
use imbl::{OrdMap, OrdSet};
use sql_types::Oid;
use std::collections::BTreeSet;
use std::sync::Arc;
use txn::TreeId;

/// The objects of one database.
#[derive(Clone, Debug, Default)]
pub struct Objects {
    /// Its version: unlike that of every other state.
    pub version: u64,
    database: Oid,
    pub(super) schemas: OrdMap<Oid, Arc<Schema>>,
    pub(super) relations: OrdMap<Oid, Arc<Relation>>,
    pub(super) statistics: OrdMap<Oid, Arc<TableStatistics>>,
    pub(super) comments: OrdMap<(Oid, u32), Arc<Comment>>,
    pub(super) acls: OrdMap<(Oid, u32), Arc<Acl>>,
    pub(super) default_acls: OrdMap<Oid, Arc<DefaultAcl>>,
    pub(super) types: OrdMap<Oid, Arc<UserType>>,
    pub(super) extensions: OrdMap<Oid, Arc<Extension>>,
    pub(super) routines: OrdMap<Oid, Arc<Routine>>,
    /// Routines by name, in all schemas.
    pub(super) routine_names: OrdMap<Arc<str>, OrdSet<Oid>>,
    pub(super) operators: OrdMap<Oid, Arc<UserOperator>>,
    pub(super) casts: OrdMap<Oid, Arc<UserCast>>,
    pub(super) operator_classes: OrdMap<Oid, Arc<UserOperatorClass>>,
    pub(super) operator_families: OrdMap<Oid, Arc<OperatorFamily>>,
    pub(super) conversions: OrdMap<Oid, Arc<Conversion>>,
    pub(super) event_triggers: OrdMap<Oid, Arc<EventTrigger>>,
    /// Composite types as the relations that they are, too.
    pub(super) composites: OrdMap<Oid, Arc<Relation>>,
    /// The schema that holds temporary objects: there is one in a session's own snapshot at most.
    pub(super) temporary: Option<Oid>,
    pub(super) schema_names: OrdMap<Arc<str>, Oid>,
    /// What names stand for, by schema: a schema without any is not there.
    pub(super) names: OrdMap<Oid, OrdMap<Arc<str>, Named>>,
    /// The same of types that users made.
    pub(super) type_names: OrdMap<Oid, OrdMap<Arc<str>, Oid>>,
    /// The tables of indexes.
    pub(super) indexes: OrdMap<Oid, Oid>,
    /// The tables of constraints, keys too.
    pub(super) constraints: OrdMap<Oid, Oid>,
    /// The domains of their CHECKs.
    pub(super) domain_checks: OrdMap<Oid, Oid>,
    /// The relations of their row types, and of the arrays of these.
    pub(super) row_types: OrdMap<Oid, Oid>,
    /// Tables, each with one that refers to it.
    referring: OrdSet<(Oid, Oid)>,
    /// Tables, each with a sequence that one of its columns owns.
    pub(super) owned: OrdSet<(Oid, Oid)>,
    /// Types that users made and row types, each with a relation or type that has columns, attributes or values of it or of
    /// arrays of it.
    pub(super) typed: OrdSet<(Oid, Oid)>,
    /// What definitions depend on, each with the relation or the domain whose definition it is.
    pub(super) depending: OrdSet<(Edge, Oid)>,
    /// Roles, each with a relation that it owns or has been granted something of.
    pub(super) roles: OrdSet<(Oid, Oid)>,
    /// What constraints are called, each with its table.
    pub(super) constraint_names: OrdSet<(Arc<str>, Oid)>,
    /// The relations of trees.
    pub(super) trees: OrdMap<TreeId, Oid>,
    /// Temporary relations.
    pub(super) temporaries: OrdSet<Oid>,
    pub(super) array_names: ArrayNames,
}

/// What a change has to do with, by OID: what follows from it is derived anew.
#[derive(Default)]
struct Touched {
    schemas: BTreeSet<Oid>,
    relations: BTreeSet<Oid>,
    types: BTreeSet<Oid>,
}

/// The elements of a range of pairs that begins with `first`.
pub(super) fn second<A>(pairs: &OrdSet<(A, Oid)>, first: A) -> impl Iterator<Item = Oid>
where
    A: Copy + Ord,
{
    pairs.range((first, Oid(0))..=(first, Oid(u32::MAX))).map(|(_, second)| *second)
}

/// Removes what stands for an object, unless it stands for another one by now.
fn unname<V: Copy + PartialEq>(
    names: &mut OrdMap<Oid, OrdMap<Arc<str>, V>>,
    schema: Oid,
    name: &str,
    object: V,
) {
    let Some(within) = names.get_mut(&schema) else { return };
    if within.get(name) == Some(&object) {
        within.remove(name);
        if within.is_empty() {
            names.remove(&schema);
        }
    }
}

/// The type that users or extensions made which a type is, or is arrays of.
fn made_element(ty: Oid) -> Option<Oid> {
    let element = builtin::element_type(ty.0).map_or(ty, Oid);
    (!builtin::is_lasting(element.0)).then_some(element)
}

/// The types that users made which a type consists of.
fn parts_of_type(ty: &UserType) -> BTreeSet<Oid> {
    let attributes = ty.attributes().unwrap_or_default().iter().map(|attribute| attribute.ty.oid);
    attributes.chain(ty.domain().map(|domain| domain.base.oid)).filter_map(made_element).collect()
}

/// Where definitions lead, out of the relation or the domain whose they are.
fn leaving<'d>(definitions: impl Iterator<Item = &'d Edges>) -> impl Iterator<Item = Edge> {
    let edges = definitions.flat_map(|edges| edges.iter().copied());
    edges.filter(|edge| !matches!(edge, Edge::Own(_)))
}

/// The tables that a table refers to, each once.
fn referenced(relation: &Relation) -> BTreeSet<Oid> {
    let keys = relation.constraints.iter().filter_map(|constraint| match &constraint.kind {
        ConstraintKind::ForeignKey(key) => Some(key.references),
        ConstraintKind::Check { .. } => None,
    });
    keys.collect()
}

/// The foreign keys by which `child` refers to a table.
fn references(child: &Relation, parent: Oid) -> impl Iterator<Item = (Oid, usize)> {
    child.constraints.iter().enumerate().filter_map(move |(at, constraint)| {
        match &constraint.kind {
            ConstraintKind::ForeignKey(key) if key.references == parent => Some((child.oid, at)),
            _ => None,
        }
    })
}

impl Objects {
    /// Those of a new database.
    #[must_use]
    pub fn new(database: Oid) -> Objects {
        Objects { database, version: next_version(), ..Objects::default() }
    }

    /// The state after `changes`.
    #[must_use]
    pub fn with<'c>(&self, changes: impl Iterator<Item = &'c Change>) -> Objects {
        let mut next = self.clone();
        next.version = next_version();
        let mut touched = Touched::default();
        for (key, object) in changes {
            next.set(key, object.as_ref());
            touched.note(key, self, object.as_ref());
        }
        next.derive(self, &touched);
        next
    }

    /// Says of a relation that it is a state of its own from now on.
    pub fn commit_relation(&mut self, oid: Oid) {
        if let Some(relation) = self.relations.get_mut(&oid) {
            Arc::make_mut(relation).version = Version::next();
        }
    }

    /// An object; none if it is not there.
    #[must_use]
    pub fn object(&self, key: ObjectKey) -> Option<Object> {
        let sub = (key.oid, key.sub);
        Some(match key.class {
            Class::Schema => Object::Schema(Arc::clone(self.schemas.get(&key.oid)?)),
            Class::Relation => parts::own_part(self.relations.get(&key.oid)?),
            Class::Index => {
                let table = self.relations.get(&key.oid)?;
                let index = table.indexes.iter().find(|index| index.oid.0 == key.sub)?;
                Object::Index(Arc::new(index.clone()))
            }
            Class::Statistics => Object::Statistics(Arc::clone(self.statistics.get(&key.oid)?)),
            Class::Comment => Object::Comment(Arc::clone(self.comments.get(&sub)?)),
            Class::Acl => Object::Acl(Arc::clone(self.acls.get(&sub)?)),
            Class::DefaultAcl => Object::DefaultAcl(Arc::clone(self.default_acls.get(&key.oid)?)),
            Class::Type => Object::Type(Arc::clone(self.types.get(&key.oid)?)),
            Class::Extension => Object::Extension(Arc::clone(self.extensions.get(&key.oid)?)),
            Class::Routine => Object::Routine(Arc::clone(self.routines.get(&key.oid)?)),
            Class::Operator => Object::Operator(Arc::clone(self.operators.get(&key.oid)?)),
            Class::Cast => Object::Cast(Arc::clone(self.casts.get(&key.oid)?)),
            Class::OperatorClass => {
                Object::OperatorClass(Arc::clone(self.operator_classes.get(&key.oid)?))
            }
            Class::OperatorFamily => {
                Object::OperatorFamily(Arc::clone(self.operator_families.get(&key.oid)?))
            }
            Class::Conversion => Object::Conversion(Arc::clone(self.conversions.get(&key.oid)?)),
            Class::EventTrigger => {
                Object::EventTrigger(Arc::clone(self.event_triggers.get(&key.oid)?))
            }
            _ => return None,
        })
    }

    fn set(&mut self, key: &ObjectKey, object: Option<&Object>) {
        match object {
            Some(Object::Schema(schema)) => {
                self.schemas.insert(schema.oid, Arc::clone(schema));
            }
            Some(Object::Relation(relation)) => {
                let known = self.relations.get(&relation.oid);
                let relation = Relation {
                    version: known.map_or(Version::NONE, |known| known.version),
                    indexes: known.map_or_else(Vec::new, |known| known.indexes.clone()),
                    ..Relation::clone(relation)
                };
                self.relations.insert(relation.oid, Arc::new(relation));
            }
            Some(Object::Index(index)) => {
                self.change_indexes(key, |indexes| {
                    indexes.retain(|known| known.oid != index.oid);
                    let place = |index: &Index| (!index.primary, index.oid);
                    let at = indexes.partition_point(|known| place(known) < place(index));
                    indexes.insert(at, Index::clone(index));
                });
            }
            Some(Object::Statistics(statistics)) => {
                self.statistics.insert(key.oid, Arc::clone(statistics));
            }
            Some(Object::Comment(comment)) => {
                self.comments.insert((key.oid, key.sub), Arc::clone(comment));
            }
            Some(Object::Acl(acl)) => {
                self.acls.insert((key.oid, key.sub), Arc::clone(acl));
            }
            Some(Object::DefaultAcl(acl)) => {
                self.default_acls.insert(key.oid, Arc::clone(acl));
            }
            Some(Object::Type(ty)) => {
                self.types.insert(ty.oid, Arc::clone(ty));
                if let Some(relation) = ty.as_relation() {
                    self.composites.insert(ty.oid, Arc::new(relation));
                }
            }
            Some(Object::Extension(extension)) => {
                self.extensions.insert(extension.oid, Arc::clone(extension));
            }
            Some(Object::Routine(routine)) => {
                self.forget_routine(key.oid);
                self.depending
                    .extend(leaving(routine.definitions()).map(|edge| (edge, routine.oid)));
                let named = self.routine_names.entry(Arc::clone(&routine.name)).or_default();
                named.insert(routine.oid);
                self.routines.insert(routine.oid, Arc::clone(routine));
            }
            Some(Object::Operator(operator)) => {
                self.operators.insert(key.oid, Arc::clone(operator));
            }
            Some(Object::Cast(cast)) => {
                self.casts.insert(key.oid, Arc::clone(cast));
            }
            Some(Object::OperatorClass(class)) => {
                self.operator_classes.insert(key.oid, Arc::clone(class));
            }
            Some(Object::OperatorFamily(family)) => {
                self.operator_families.insert(key.oid, Arc::clone(family));
            }
            Some(Object::Conversion(conversion)) => {
                self.conversions.insert(key.oid, Arc::clone(conversion));
            }
            Some(Object::EventTrigger(trigger)) => {
                self.event_triggers.insert(key.oid, Arc::clone(trigger));
            }
            Some(
                Object::Database(_)
                | Object::Role(_)
                | Object::Membership(_)
                | Object::Settings(_)
                | Object::Parameter(_),
            ) => unreachable!("a shared object is not a database's"),
            None => match key.class {
                Class::Schema => drop(self.schemas.remove(&key.oid)),
                Class::Relation => drop(self.relations.remove(&key.oid)),
                Class::Index => {
                    self.change_indexes(key, |indexes| {
                        indexes.retain(|known| known.oid.0 != key.sub)
                    });
                }
                Class::Statistics => drop(self.statistics.remove(&key.oid)),
                Class::Comment => drop(self.comments.remove(&(key.oid, key.sub))),
                Class::Acl => drop(self.acls.remove(&(key.oid, key.sub))),
                Class::DefaultAcl => drop(self.default_acls.remove(&key.oid)),
                Class::Type => {
                    self.types.remove(&key.oid);
                    self.composites.remove(&key.oid);
                }
                Class::Extension => drop(self.extensions.remove(&key.oid)),
                Class::Routine => self.forget_routine(key.oid),
                Class::Operator => drop(self.operators.remove(&key.oid)),
                Class::Cast => drop(self.casts.remove(&key.oid)),
                Class::OperatorClass => drop(self.operator_classes.remove(&key.oid)),
                Class::OperatorFamily => drop(self.operator_families.remove(&key.oid)),
                Class::Conversion => drop(self.conversions.remove(&key.oid)),
                Class::EventTrigger => drop(self.event_triggers.remove(&key.oid)),
                Class::Counter
                | Class::Database
                | Class::Role
                | Class::Membership
                | Class::Settings
                | Class::Parameter
                | Class::SequenceState => {}
            },
        }
    }

    /// Takes a routine away, and its name.
    fn forget_routine(&mut self, oid: Oid) {
        let Some(known) = self.routines.remove(&oid) else { return };
        for edge in leaving(known.definitions()) {
            self.depending.remove(&(edge, oid));
        }
        if let Some(named) = self.routine_names.get_mut(&known.name) {
            named.remove(&oid);
            if named.is_empty() {
                self.routine_names.remove(&known.name);
            }
        }
    }

    /// Changes the indexes of the table that an index's key names, if it is there yet.
    fn change_indexes(&mut self, key: &ObjectKey, change: impl FnOnce(&mut Vec<Index>)) {
        if let Some(table) = self.relations.get_mut(&key.oid) {
            change(&mut Arc::make_mut(table).indexes);
        }
    }

    /// Makes what follows from the objects, where those that changes have touched are other than `before`.
    fn derive(&mut self, before: &Objects, touched: &Touched) {
        let (mut renamed, mut elements) = (BTreeSet::new(), Elements::default());
        for oid in &touched.schemas {
            let (old, new) = (before.schemas.get(oid), self.schemas.get(oid).cloned());
            if let Some(old) = old
                && self.schema_names.get(&*old.name) == Some(oid)
            {
                self.schema_names.remove(&*old.name);
            }
            if self.temporary == Some(*oid) {
                self.temporary = None;
            }
            if old.map(|old| &old.name) != new.as_ref().map(|new| &new.name) {
                renamed.insert(*oid);
            }
        }
        for schema in touched.schemas.iter().filter_map(|oid| self.schemas.get(oid)) {
            self.schema_names.insert(Arc::clone(&schema.name), schema.oid);
            if schema.is_temporary() {
                self.temporary = Some(schema.oid);
            }
        }
        for old in touched.types.iter().filter_map(|oid| before.types.get(oid)) {
            self.unlink_type(old);
            elements.note((old.schema, &old.name), old.oid, false);
        }
        let mut parents = BTreeSet::new();
        for old in touched.relations.iter().filter_map(|oid| before.relations.get(oid)) {
            self.unlink_relation(old);
            if old.has_row_arrays() {
                elements.note((old.schema.0, &old.name), old.row_type.0, false);
            }
            parents.extend(referenced(old));
        }
        for oid in &touched.types {
            let Some(new) = self.types.get(oid).cloned() else { continue };
            self.link_type(&new);
            elements.note((new.schema, &new.name), new.oid, true);
        }
        for oid in &touched.relations {
            let Some(new) = self.relations.get(oid).cloned() else { continue };
            self.link_relation(&new);
            if new.has_row_arrays() {
                elements.note((new.schema.0, &new.name), new.row_type.0, true);
            }
            parents.extend(referenced(&new));
        }
        let mut other_schema = Vec::new();
        for schema in &renamed {
            let named = self.names.get(schema).into_iter().flat_map(|names| names.values());
            other_schema.extend(named.filter_map(|named| match named {
                Named::Relation(oid) => Some(*oid),
                Named::Index { .. } => None,
            }));
        }
        let touched_here = touched.relations.iter().chain(&touched.types);
        for oid in touched_here.copied().chain(other_schema) {
            let referenced = self.referenced_by(oid);
            self.settle(oid, referenced);
        }
        for parent in parents.iter().filter(|parent| !touched.relations.contains(parent)) {
            let Some(found) = self.relations.get(parent) else { continue };
            let others = found.referenced_by.iter().copied();
            let mut referenced: Vec<(Oid, usize)> =
                others.filter(|(child, _)| !touched.relations.contains(child)).collect();
            let children = touched.relations.iter().filter_map(|oid| self.relations.get(oid));
            referenced.extend(children.flat_map(|child| references(child, *parent)));
            referenced.sort_unstable();
            self.settle(*parent, referenced);
        }
        let mut array_names = std::mem::take(&mut self.array_names);
        array_names.renew(self, &elements);
        self.array_names = array_names;
    }

    /// The foreign keys that refer to a table.
    fn referenced_by(&self, table: Oid) -> Vec<(Oid, usize)> {
        let children =
            second(&self.referring, table).filter_map(|child| self.relations.get(&child));
        children.flat_map(|child| references(child, table)).collect()
    }

    /// Gives a relation what it has of others.
    fn settle(&mut self, oid: Oid, referenced_by: Vec<(Oid, usize)>) {
        let composite = self.composites.contains_key(&oid);
        let found = if composite { self.composites.get(&oid) } else { self.relations.get(&oid) };
        let Some(relation) = found else { return };
        let schema = self.schemas.get(&relation.schema.0).map(|schema| &schema.name);
        let schema = Arc::clone(schema.unwrap_or(&relation.schema.1));
        let rows = self.statistics.get(&oid).map_or(-1.0, |statistics| statistics.rows);
        let lock = Relation::lock_of(self.database, oid);
        let same = schema == relation.schema.1
            && relation.row_estimate.to_bits() == rows.to_bits()
            && relation.referenced_by == referenced_by
            && relation.lock == lock;
        if same {
            return;
        }
        let maps = if composite { &mut self.composites } else { &mut self.relations };
        if let Some(relation) = maps.get_mut(&oid).map(Arc::make_mut) {
            relation.schema.1 = schema;
            relation.row_estimate = rows;
            relation.referenced_by = referenced_by;
            relation.lock = lock;
        }
    }

    fn link_type(&mut self, ty: &UserType) {
        let name = Arc::clone(&ty.name);
        self.type_names.entry(ty.schema).or_default().insert(Arc::clone(&name), ty.oid);
        if ty.attributes().is_some() {
            self.names.entry(ty.schema).or_default().insert(name, Named::Relation(ty.oid));
        }
        for check in ty.domain().into_iter().flat_map(|domain| &domain.checks) {
            self.domain_checks.insert(check.oid, ty.oid);
        }
        self.typed.extend(parts_of_type(ty).into_iter().map(|part| (part, ty.oid)));
        self.depending.extend(leaving(ty.definitions()).map(|edge| (edge, ty.oid)));
    }

    fn unlink_type(&mut self, ty: &UserType) {
        unname(&mut self.type_names, ty.schema, &ty.name, ty.oid);
        unname(&mut self.names, ty.schema, &ty.name, Named::Relation(ty.oid));
        for check in ty.domain().into_iter().flat_map(|domain| &domain.checks) {
            self.domain_checks.remove(&check.oid);
        }
        for part in parts_of_type(ty) {
            self.typed.remove(&(part, ty.oid));
        }
        for edge in leaving(ty.definitions()) {
            self.depending.remove(&(edge, ty.oid));
        }
    }

    fn link_relation(&mut self, relation: &Relation) {
        let oid = relation.oid;
        let names = self.names.entry(relation.schema.0).or_default();
        names.insert(Arc::clone(&relation.name), Named::Relation(oid));
        for index in &relation.indexes {
            let named = Named::Index { index: index.oid, table: oid };
            names.insert(Arc::clone(&index.name), named);
            self.indexes.insert(index.oid, oid);
            if let Some((constraint, _)) = &index.constraint {
                self.constraints.insert(*constraint, oid);
            }
        }
        for constraint in &relation.constraints {
            self.constraints.insert(constraint.oid, oid);
            if let ConstraintKind::ForeignKey(key) = &constraint.kind {
                let triggers = key.triggers;
                let own = [triggers.checks_new, triggers.checks_changed].map(|one| (one, oid));
                let others = [triggers.deletes, triggers.updates].map(|one| (one, key.references));
                self.constraints.extend(own.into_iter().chain(others));
            }
        }
        for trigger in &relation.triggers {
            let constraint = trigger.constraint.map(|found| found.0);
            self.constraints
                .extend(constraint.into_iter().chain([trigger.oid]).map(|one| (one, oid)));
            self.depending.insert((Edge::Function(trigger.function), oid));
        }
        for row_type in [relation.row_type.0, relation.row_type.1] {
            if row_type != Oid(0) {
                self.row_types.insert(row_type, oid);
            }
        }
        self.referring.extend(referenced(relation).into_iter().map(|parent| (parent, oid)));
        if let RelationKind::Sequence(sequence) = &relation.kind
            && let Some((table, _)) = sequence.owner
        {
            self.owned.insert((table, oid));
        }
        self.typed.extend(relation.made_types().into_iter().map(|ty| (ty, oid)));
        self.depending.extend(leaving(relation.definitions()).map(|edge| (edge, oid)));
        self.roles.extend(relation.roles().map(|role| (role, oid)));
        self.constraint_names
            .extend(relation.constraint_names().map(|(name, ..)| (Arc::clone(name), oid)));
        self.trees.extend(relation.trees().map(|tree| (tree, oid)));
        if relation.persistence == 't' {
            self.temporaries.insert(oid);
        }
    }

    fn unlink_relation(&mut self, relation: &Relation) {
        let (oid, schema) = (relation.oid, relation.schema.0);
        unname(&mut self.names, schema, &relation.name, Named::Relation(oid));
        for index in &relation.indexes {
            let named = Named::Index { index: index.oid, table: oid };
            unname(&mut self.names, schema, &index.name, named);
            self.indexes.remove(&index.oid);
            if let Some((constraint, _)) = &index.constraint {
                self.constraints.remove(constraint);
            }
        }
        for constraint in &relation.constraints {
            self.constraints.remove(&constraint.oid);
            if let ConstraintKind::ForeignKey(key) = &constraint.kind {
                for trigger in key.triggers.all() {
                    self.constraints.remove(&trigger);
                }
            }
        }
        for trigger in &relation.triggers {
            self.constraints.remove(&trigger.oid);
            if let Some((constraint, ..)) = trigger.constraint {
                self.constraints.remove(&constraint);
            }
            self.depending.remove(&(Edge::Function(trigger.function), oid));
        }
        self.row_types.remove(&relation.row_type.0);
        self.row_types.remove(&relation.row_type.1);
        for parent in referenced(relation) {
            self.referring.remove(&(parent, oid));
        }
        if let RelationKind::Sequence(sequence) = &relation.kind
            && let Some((table, _)) = sequence.owner
        {
            self.owned.remove(&(table, oid));
        }
        for ty in relation.made_types() {
            self.typed.remove(&(ty, oid));
        }
        for edge in leaving(relation.definitions()) {
            self.depending.remove(&(edge, oid));
        }
        for role in relation.roles() {
            self.roles.remove(&(role, oid));
        }
        for (name, ..) in relation.constraint_names() {
            self.constraint_names.remove(&(Arc::clone(name), oid));
        }
        for tree in relation.trees() {
            self.trees.remove(&tree);
        }
        self.temporaries.remove(&oid);
    }
}

impl Relation {
    /// The types that users made which its columns have, or have arrays of.
    fn made_types(&self) -> BTreeSet<Oid> {
        let live = self.columns.iter().filter(|column| !column.dropped);
        live.filter_map(|column| made_element(column.ty.oid)).collect()
    }
}

impl Touched {
    fn note(&mut self, key: &ObjectKey, before: &Objects, object: Option<&Object>) {
        match key.class {
            Class::Schema => {
                self.schemas.insert(key.oid);
            }
            // Its row count is the relation's too.
            Class::Statistics
                if before.statistics.get(&key.oid).map(|known| known.rows.to_bits())
                    == rows_of(object) => {}
            Class::Relation | Class::Index | Class::Statistics => {
                self.relations.insert(key.oid);
            }
            Class::Type => {
                self.types.insert(key.oid);
            }
            _ => {}
        }
    }
}

/// The row count of an object that is what ANALYZE has found out.
fn rows_of(object: Option<&Object>) -> Option<u64> {
    match object {
        Some(Object::Statistics(statistics)) => Some(statistics.rows.to_bits()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Expression;
    use crate::relation::{Column, Constraint};
    use crate::testing::table;
    use crate::user_type::{Attribute, UserTypeKind};
    use sql_types::SqlType;

    const DATABASE: Oid = Oid(5);

    fn key(class: Class, oid: u32, sub: u32) -> ObjectKey {
        ObjectKey { class, database: DATABASE, oid: Oid(oid), sub }
    }

    fn number(seed: &mut u64, below: u32) -> u32 {
        *seed =
            seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((*seed >> 33) % u64::from(below)) as u32
    }

    /// A name that others may have, or be in the way of.
    fn name(seed: &mut u64) -> Arc<str> {
        let stem = ["a", "b", "it's", &"x".repeat(62), &"x".repeat(61)][number(seed, 5) as usize]
            .to_owned();
        let name = format!("{}{stem}", "_".repeat(number(seed, 4) as usize));
        Arc::from(sql_types::truncate_bytes(&name, 63))
    }

    /// A table whose constraints, columns and texts lead to others, an index of it, a type, a schema or statistics: there or,
    /// sometimes, gone. Names are of one kind of object in one schema at a time.
    fn change(seed: &mut u64, objects: &Objects) -> Vec<Change> {
        let at = number(seed, 12);
        let other = Oid(20_000 + 100 * number(seed, 12));
        let schema = Oid(30_000 + number(seed, 2));
        let name = name(seed);
        let free = |own: Oid| {
            let named = objects.names.get(&schema).and_then(|names| names.get(&*name));
            let typed = objects.type_names.get(&schema).and_then(|names| names.get(&*name));
            named.is_none_or(|named| *named == Named::Relation(own))
                && typed.is_none_or(|ty| *ty == own)
        };
        match number(seed, 8) {
            0 => {
                let name = format!("s{}", number(seed, 4));
                let taken = objects
                    .schemas
                    .values()
                    .any(|known| *known.name == *name && known.oid != schema);
                let made = Schema { oid: schema, name: name.into(), owner: Oid(10), acl: None };
                let made = Object::Schema(Arc::new(made));
                if taken { Vec::new() } else { vec![(key(Class::Schema, schema.0, 0), Some(made))] }
            }
            1 => {
                let oid = builtin::array_of_made(0) >> 2 | (40_000 + at);
                let attribute = |ty: Oid| Attribute {
                    name: "f".into(),
                    ty: SqlType::plain(ty.0),
                    collation: Oid(0),
                    dimensions: 0,
                };
                let kind =
                    UserTypeKind::Composite(vec![attribute(Oid(other.0 + 5)), attribute(Oid(23))]);
                let made = UserType {
                    oid: Oid(oid),
                    schema,
                    name: Arc::clone(&name),
                    owner: Oid(10),
                    kind,
                };
                let there = free(Oid(oid)) && number(seed, 3) > 0;
                vec![(key(Class::Type, oid, 0), there.then(|| Object::Type(Arc::new(made))))]
            }
            2 => {
                let oid = 20_000 + 100 * at;
                let indexes = objects
                    .relations
                    .get(&Oid(oid))
                    .map_or(Vec::new(), |known| known.indexes.clone());
                let gone = indexes.iter().map(|index| (key(Class::Index, oid, index.oid.0), None));
                std::iter::once((key(Class::Relation, oid, 0), None)).chain(gone).collect()
            }
            3 => {
                let oid = 20_000 + 100 * at;
                let index = table(oid).indexes[number(seed, 2) as usize].clone();
                let index = Index { name: format!("i{oid}{}", number(seed, 9)).into(), ..index };
                let there = number(seed, 2) == 0 && objects.relations.contains_key(&Oid(oid));
                let made = there.then(|| Object::Index(Arc::new(index.clone())));
                vec![(key(Class::Index, oid, index.oid.0), made)]
            }
            4 => {
                let oid = 20_000 + 100 * at;
                let rows = f64::from(number(seed, 3));
                let made = TableStatistics { rows, ..TableStatistics::default() };
                let there = number(seed, 2) == 0;
                vec![(
                    key(Class::Statistics, oid, 0),
                    there.then(|| Object::Statistics(Arc::new(made))),
                )]
            }
            _ => {
                let oid = 20_000 + 100 * at;
                if !free(Oid(oid)) {
                    return Vec::new();
                }
                let mut made = Relation {
                    schema: (schema, "".into()),
                    name,
                    indexes: Vec::new(),
                    ..table(oid)
                };
                for constraint in &mut made.constraints {
                    if let ConstraintKind::ForeignKey(key) = &mut constraint.kind {
                        key.references = other;
                    }
                }
                if number(seed, 3) == 0 {
                    let again: Vec<Constraint> = made.constraints.clone();
                    made.constraints.extend(
                        again.into_iter().map(|one| Constraint { oid: Oid(one.oid.0 + 50), ..one }),
                    );
                }
                if number(seed, 2) == 0 {
                    made.columns.push(Column::plain(
                        "r".into(),
                        SqlType::plain(other.0 + 5),
                        Oid(0),
                    ));
                    let edges = Edges::new(vec![Edge::Relation(other, 0)]);
                    made.columns[0].default = Some(Expression::new([0].into(), edges));
                }
                vec![(key(Class::Relation, oid, 0), Some(Object::Relation(Arc::new(made))))]
            }
        }
    }

    /// Everything that follows from the objects, to be compared.
    fn derived(objects: &Objects) -> String {
        let relations: Vec<String> = objects
            .relations
            .values()
            .chain(objects.composites.values())
            .map(|one| {
                format!(
                    "{} {:?} {} {:?} {:?}",
                    one.oid, one.schema, one.name, one.row_estimate, one.referenced_by
                )
            })
            .collect();
        let Objects {
            version: _,
            database,
            schemas: _,
            relations: _,
            statistics: _,
            comments: _,
            acls: _,
            default_acls: _,
            types: _,
            extensions: _,
            routines: _,
            routine_names,
            operators: _,
            casts: _,
            operator_classes: _,
            operator_families: _,
            conversions: _,
            event_triggers: _,
            composites: _,
            temporary,
            schema_names,
            names,
            type_names,
            indexes,
            constraints,
            domain_checks,
            row_types,
            referring,
            owned,
            typed,
            depending,
            roles,
            constraint_names,
            trees,
            temporaries,
            array_names,
        } = objects;
        format!(
            "{relations:#?} {database} {temporary:?} {schema_names:#?} {names:#?} {type_names:#?} {indexes:?} \
             {constraints:?} {domain_checks:?} {row_types:?} {referring:?} {owned:?} {typed:?} {depending:?} \
             {roles:?} {constraint_names:?} {trees:?} {temporaries:?} {array_names:#?} {routine_names:?}"
        )
    }

    fn all(objects: &Objects) -> Vec<Change> {
        let schemas = objects
            .schemas
            .values()
            .map(|one| (key(Class::Schema, one.oid.0, 0), Object::Schema(Arc::clone(one))));
        let relations = objects
            .relations
            .values()
            .map(|one| (key(Class::Relation, one.oid.0, 0), parts::own_part(one)));
        let indexes = objects.relations.values().flat_map(|one| {
            one.indexes.iter().map(|index| {
                (key(Class::Index, one.oid.0, index.oid.0), Object::Index(Arc::new(index.clone())))
            })
        });
        let types = objects
            .types
            .values()
            .map(|one| (key(Class::Type, one.oid.0, 0), Object::Type(Arc::clone(one))));
        let statistics = objects.statistics.iter().map(|(oid, one)| {
            (key(Class::Statistics, oid.0, 0), Object::Statistics(Arc::clone(one)))
        });
        let all = schemas.chain(relations).chain(indexes).chain(types).chain(statistics);
        all.map(|(key, object)| (key, Some(object))).collect()
    }

    #[test]
    fn what_is_kept_by_difference_is_what_all_objects_together_make() {
        for seed in 0..40 {
            let mut random = seed;
            let mut objects = Objects::new(DATABASE);
            for schema in [30_000, 30_001] {
                let made = Schema {
                    oid: Oid(schema),
                    name: format!("s{schema}").into(),
                    owner: Oid(10),
                    acl: None,
                };
                let made = Object::Schema(Arc::new(made));
                objects = objects.with([(key(Class::Schema, schema, 0), Some(made))].iter());
            }
            for step in 0..120 {
                let changes = change(&mut random, &objects);
                let before = (step % 16 == 0).then(|| (objects.clone(), derived(&objects)));
                objects = objects.with(changes.iter());
                if let Some((before, said)) = before {
                    assert_eq!(derived(&before), said, "a state changes with the next");
                }
                if step % 8 == 0 {
                    let anew = Objects::new(DATABASE).with(all(&objects).iter());
                    assert!(
                        derived(&objects) == derived(&anew),
                        "seed {seed}, step {step}: {changes:?}"
                    );
                }
            }
        }
    }
}
