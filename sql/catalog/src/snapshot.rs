//! The catalog at one moment: immutable, shared by everyone who reads it.
//!
//! A [`ClusterSnapshot`] is the whole directory: what its databases share (roles, databases, settings) and each
//! database's own objects ([`crate::objects`]). A [`CatalogSnapshot`] is what one session sees of it. Both are made
//! by difference: a change copies the nodes of persistent maps that it touches and shares all others, so that readers never
//! wait and a plan can keep the snapshot it was made with.
//!
//! Each database's objects carry a version that no other state of any database has ever had, own snapshots of
//! transactions included, and so does what all databases share. A plan is good as long as both are the same, or what it was
//! made from is ([`crate::uses`]).

use crate::acl::Acl;
use crate::array_names::array_name;
use crate::attachment::{Attachment, EventTrigger, UserCast, UserOperator};
use crate::built_in_domain;
use crate::builtin::{self, ProcedureOf};
use crate::extension::Extension;
use crate::object::{Class, Comment, DefaultAcl, Object, ObjectKey, Schema, well_known};
use crate::objects::{Objects, second};
use crate::operator_class::{Conversion, OperatorFamily, UserOperatorClass};
use crate::parts;
use crate::relation::{Constraint, Index, Relation, RelationKind};
use crate::routine::Routine;
use crate::shared::{Shared, is_shared};
use crate::statistics::TableStatistics;
use crate::system;
use crate::user_type::{Domain, DomainCheck, UserType};
use crate::uses::{Question, Recorder};
use imbl::OrdMap;
use sql_types::{Oid, SqlType};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one object becomes; none is dropped.
pub type Change = (ObjectKey, Option<Object>);

/// What a name in a schema stands for: relations and indexes share one name space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A table, view or sequence.
    Relation(Oid),
    /// An index, and the table it belongs to.
    Index {
        /// The index.
        index: Oid,
        /// Its table.
        table: Oid,
    },
}

/// The whole directory at one moment.
#[derive(Clone, Debug, Default)]
pub struct ClusterSnapshot {
    shared: Arc<Shared>,
    databases: OrdMap<Oid, Arc<Objects>>,
}

/// The catalog as one session sees it: its own database, and what all databases share.
#[derive(Clone, Debug)]
pub struct CatalogSnapshot {
    database: Oid,
    shared: Arc<Shared>,
    objects: Arc<Objects>,
    /// Notes what it is asked, where that is what a plan is made from.
    recorder: Option<Arc<Recorder>>,
    /// The labels that the transaction whose state it is has added to enums.
    added_labels: Option<Arc<[Oid]>>,
}

/// A number that no state had before.
pub(super) fn next_version() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // Relaxed: only uniqueness is asked of it.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl ClusterSnapshot {
    /// The state after `changes`. What they do not touch is shared with this one.
    #[must_use]
    pub fn with(&self, changes: &[Change]) -> ClusterSnapshot {
        let mut next = self.clone();
        let own = changes.iter().map(|(key, _)| key).filter(|key| !is_shared(**key));
        let touched: BTreeSet<Oid> = own.map(|key| key.database).collect();
        for database in touched {
            let within =
                changes.iter().filter(|(key, _)| key.database == database && !is_shared(*key));
            let objects = match self.databases.get(&database) {
                Some(objects) => objects.with(within),
                None => Objects::new(database).with(within),
            };
            next.databases.insert(database, Arc::new(objects));
        }
        if changes.iter().any(|(key, _)| is_shared(*key)) {
            let mut shared = (*self.shared).clone();
            shared.version = next_version();
            for (key, object) in changes.iter().filter(|(key, _)| is_shared(*key)) {
                shared.set(key, object.as_ref());
            }
            for gone in self.databases.keys().filter(|gone| !shared.databases.contains_key(*gone)) {
                next.databases.remove(gone);
            }
            for database in shared.databases.keys() {
                let made = || Arc::new(Objects::new(*database));
                next.databases.entry(*database).or_insert_with(made);
            }
            next.shared = Arc::new(shared);
        }
        next
    }

    /// The same, committed: each relation that has changed is a state of its own from now on.
    #[must_use]
    pub fn committed(&self, changes: &[Change]) -> ClusterSnapshot {
        let mut next = self.with(changes);
        for key in changes.iter().filter_map(|(key, _)| parts::relation_of(*key)) {
            if let Some(objects) = next.databases.get_mut(&key.database) {
                Arc::make_mut(objects).commit_relation(key.oid);
            }
        }
        next
    }

    /// What a session of `database` sees; none if there is no such database.
    #[must_use]
    pub fn database(&self, database: Oid) -> Option<CatalogSnapshot> {
        let objects = Arc::clone(self.databases.get(&database)?);
        let shared = Arc::clone(&self.shared);
        Some(CatalogSnapshot { database, shared, objects, recorder: None, added_labels: None })
    }

    /// What all databases share.
    #[must_use]
    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// An object; none if it is not there.
    #[must_use]
    pub fn object(&self, key: ObjectKey) -> Option<Object> {
        if is_shared(key) {
            return self.shared.object(key);
        }
        self.databases.get(&key.database)?.object(key)
    }

    /// A relation by its key.
    #[must_use]
    pub fn relation(&self, key: ObjectKey) -> Option<Arc<Relation>> {
        self.databases.get(&key.database)?.relations.get(&key.oid).cloned()
    }

    /// The relations of all databases.
    pub fn relations(&self) -> impl Iterator<Item = &Arc<Relation>> {
        self.databases.values().flat_map(|objects| objects.relations.values())
    }
}

impl CatalogSnapshot {
    /// Changes whenever anything does that a plan over this database may depend on, its own uncommitted DDL included:
    /// objects, and roles and settings of all databases.
    #[must_use]
    pub fn version(&self) -> (u64, u64) {
        (self.objects.version, self.shared.version)
    }

    /// The number of the state that it shows: no other state of its database has it. Both versions are in it, as an own state
    /// of a transaction keeps its objects' while others change what all databases share; nobody makes so many changes that
    /// half of the bits were too few.
    #[must_use]
    pub fn state(&self) -> u64 {
        self.objects.version << 32 | self.shared.version & u64::from(u32::MAX)
    }

    /// The same, which notes what it is asked; names that are looked up along `path` are looked up along the search path.
    #[must_use]
    pub fn recording(&self, path: Arc<[Oid]>) -> CatalogSnapshot {
        CatalogSnapshot { recorder: Some(Arc::new(Recorder::new(path))), ..self.clone() }
    }

    /// The same where the transaction whose state it is has added these labels to enums.
    pub(super) fn with_added_labels(self, labels: &[Oid]) -> CatalogSnapshot {
        let added_labels = (!labels.is_empty()).then(|| labels.into());
        CatalogSnapshot { added_labels, ..self }
    }

    /// Whether the transaction whose state it is has added this label to an enum: a value that is stored before that commits
    /// would be one of no enum if it does not.
    #[must_use]
    pub fn is_added_label(&self, label: Oid) -> bool {
        self.added_labels.as_ref().is_some_and(|added| added.contains(&label))
    }

    /// The same, which notes nothing.
    pub(super) fn plain(&self) -> CatalogSnapshot {
        CatalogSnapshot { recorder: None, ..self.clone() }
    }

    pub(super) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_deref()
    }

    fn note(&self, question: impl FnOnce() -> Question) {
        if let Some(recorder) = &self.recorder {
            recorder.note(question());
        }
    }

    /// All objects, which whoever asks may look at.
    pub(super) fn objects(&self) -> &Objects {
        if let Some(recorder) = &self.recorder {
            recorder.note_objects();
        }
        &self.objects
    }

    /// The database's OID.
    #[must_use]
    pub fn database_oid(&self) -> Oid {
        self.database
    }

    /// What all databases share: roles, databases, settings.
    #[must_use]
    pub fn shared(&self) -> &Shared {
        if let Some(recorder) = &self.recorder {
            recorder.note_shared();
        }
        &self.shared
    }

    /// The database's name.
    #[must_use]
    pub fn database_name(&self) -> &str {
        self.shared().databases.get(&self.database).map_or("", |database| &database.name)
    }

    /// The schemas, built-in ones too.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.objects().schemas.values()
    }

    /// A schema by name.
    #[must_use]
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.note(|| Question::SchemaNamed(name.into()));
        let oid = match name {
            "pg_temp" => self.objects.temporary?,
            name => *self.objects.schema_names.get(name)?,
        };
        self.objects.schemas.get(&oid)
    }

    /// The schema of the session's temporary objects, if it has any.
    #[must_use]
    pub fn temporary_schema(&self) -> Option<&Arc<Schema>> {
        self.objects().schemas.get(&self.objects.temporary?)
    }

    /// Whether a schema is that of the session's temporary objects: functions and operators in it are found by no bare name,
    /// whatever the search path says.
    #[must_use]
    pub fn is_temporary_schema(&self, schema: Oid) -> bool {
        self.objects.temporary == Some(schema)
    }

    /// A schema by OID.
    #[must_use]
    pub fn schema_by_oid(&self, oid: Oid) -> Option<&Arc<Schema>> {
        self.note(|| Question::Schema(oid));
        self.objects.schemas.get(&oid)
    }

    /// Users' relations, by OID.
    pub fn relations(&self) -> impl Iterator<Item = &Arc<Relation>> {
        self.objects().relations.values()
    }

    /// How many relations users have made, about: who asks goes by it, but does not depend on it.
    #[must_use]
    pub fn relation_count(&self) -> usize {
        self.objects.relations.len()
    }

    /// Users' relations from this OID on.
    pub fn relations_from(&self, first: Oid) -> impl DoubleEndedIterator<Item = &Arc<Relation>> {
        self.objects().relations.range(first..).map(|(_, relation)| relation)
    }

    /// A relation by OID: a user's, composite types too, or one of the system's.
    #[must_use]
    pub fn relation(&self, oid: Oid) -> Option<&Arc<Relation>> {
        // The system's are the same in every state.
        if oid.0 >= well_known::FIRST_NORMAL {
            self.note(|| Question::Relation(oid));
        }
        let made = self.objects.relations.get(&oid).or_else(|| self.objects.composites.get(&oid));
        made.or_else(|| system::relation(oid))
    }

    /// What a name stands for in one schema.
    #[must_use]
    pub fn named(&self, schema: Oid, name: &str) -> Option<Named> {
        self.note(|| Question::Named(schema, name.into()));
        self.stands_for(schema, name)
    }

    fn stands_for(&self, schema: Oid, name: &str) -> Option<Named> {
        self.objects
            .names
            .get(&schema)
            .and_then(|names| names.get(name).copied())
            .or_else(|| system::named(schema, name).map(Named::Relation))
    }

    /// What a name stands for along a search path (see [`crate::SearchPath`]): the first schema that has it.
    #[must_use]
    pub fn find(&self, path: &[Oid], name: &str) -> Option<Named> {
        match &self.recorder {
            Some(recorder) if recorder.is_path(path) => recorder.note(Question::Found(name.into())),
            Some(recorder) => {
                path.iter().for_each(|schema| recorder.note(Question::Named(*schema, name.into())));
            }
            None => {}
        }
        path.iter().find_map(|schema| self.stands_for(*schema, name))
    }

    /// A table, view or sequence along a search path. A name that an index has first hides it, as in PostgreSQL.
    #[must_use]
    pub fn find_relation(&self, path: &[Oid], name: &str) -> Option<&Arc<Relation>> {
        match self.find(path, name)? {
            Named::Relation(oid) => self.relation(oid),
            Named::Index { .. } => None,
        }
    }

    /// A relation by schema and name, no path asked.
    #[must_use]
    pub fn relation_in(&self, schema: &str, name: &str) -> Option<&Arc<Relation>> {
        self.find_relation(&[self.schema(schema)?.oid], name)
    }

    /// An index by OID, with its table.
    #[must_use]
    pub fn index(&self, oid: Oid) -> Option<(&Arc<Relation>, &Index)> {
        let table = self.objects().relations.get(self.objects().indexes.get(&oid)?)?;
        Some((table, table.indexes.iter().find(|index| index.oid == oid)?))
    }

    /// The table that has a constraint, by the constraint's OID.
    #[must_use]
    pub fn constraint_table(&self, oid: Oid) -> Option<&Arc<Relation>> {
        self.objects().relations.get(self.objects().constraints.get(&oid)?)
    }

    /// A CHECK or FOREIGN KEY constraint by OID, with its table.
    #[must_use]
    pub fn constraint(&self, oid: Oid) -> Option<(&Arc<Relation>, &Constraint)> {
        let table = self.constraint_table(oid)?;
        Some((table, table.constraints.iter().find(|constraint| constraint.oid == oid)?))
    }

    /// What ANALYZE found out about a table.
    #[must_use]
    pub fn statistics(&self, table: Oid) -> Option<&Arc<TableStatistics>> {
        self.note(|| Question::Statistics(table));
        self.objects.statistics.get(&table)
    }

    /// A user's comment on an object of this database, or (`sub` above 0) on a column.
    #[must_use]
    pub fn comment(&self, oid: Oid, sub: u32) -> Option<&Arc<Comment>> {
        self.objects().comments.get(&(oid, sub))
    }

    /// Users' comments on objects of this database.
    pub fn comments(&self) -> impl Iterator<Item = (&(Oid, u32), &Arc<Comment>)> {
        self.objects().comments.iter()
    }

    /// The list of a column (`sub` is its `attnum`) or of another object without one of its own (`sub` is its kind's).
    #[must_use]
    pub fn acl(&self, oid: Oid, sub: u32) -> Option<&Arc<Acl>> {
        self.note(|| Question::Acl(oid, sub));
        self.objects.acls.get(&(oid, sub))
    }

    /// All of these lists.
    pub fn acls(&self) -> impl Iterator<Item = (&(Oid, u32), &Arc<Acl>)> {
        self.objects().acls.iter()
    }

    /// What ALTER DEFAULT PRIVILEGES has left.
    pub fn default_acls(&self) -> impl Iterator<Item = &Arc<DefaultAcl>> {
        self.objects().default_acls.values()
    }

    /// The table whose row type, or the type of arrays of it, is `ty`.
    #[must_use]
    pub fn row_type(&self, ty: Oid) -> Option<&Arc<Relation>> {
        self.note(|| Question::RowType(ty));
        let made = self.objects.row_types.get(&ty).and_then(|oid| self.relation(*oid));
        made.or_else(|| system::with_row_type(ty))
    }

    /// The types that users made, but those of relations' rows.
    pub fn types(&self) -> impl Iterator<Item = &Arc<UserType>> {
        self.objects().types.values()
    }

    /// The extensions of the database, by OID.
    pub fn extensions(&self) -> impl Iterator<Item = &Arc<Extension>> {
        self.objects().extensions.values()
    }

    /// An extension of the database by name.
    #[must_use]
    pub fn extension(&self, name: &str) -> Option<&Arc<Extension>> {
        self.note(|| Question::Extension(name.into()));
        self.objects.extensions.values().find(|extension| &*extension.name == name)
    }

    /// The routines that users made, by OID.
    pub fn routines(&self) -> impl Iterator<Item = &Arc<Routine>> {
        self.objects().routines.values()
    }

    /// A routine that a user made.
    #[must_use]
    pub fn routine(&self, oid: Oid) -> Option<&Arc<Routine>> {
        self.objects.routines.get(&oid)
    }

    /// The routines that users made under a name, in whatever schema.
    #[must_use]
    pub fn routines_named(&self, name: &str) -> Vec<Arc<Routine>> {
        self.note(|| Question::Routines(name.into()));
        if self.objects.routines.is_empty() {
            return Vec::new();
        }
        let oids = self.objects.routine_names.get(name);
        let oids = oids.into_iter().flat_map(|oids| oids.iter());
        oids.filter_map(|oid| self.objects.routines.get(oid).cloned()).collect()
    }

    /// What users made that stands on functions and types.
    pub fn attachments(&self) -> impl Iterator<Item = Attachment> {
        let objects = self.objects();
        let operators = objects.operators.values().cloned().map(Attachment::Operator);
        let casts = objects.casts.values().cloned().map(Attachment::Cast);
        let triggers = objects.event_triggers.values().cloned().map(Attachment::EventTrigger);
        let families = objects.operator_families.values().cloned().map(Attachment::Family);
        let classes = objects.operator_classes.values().cloned().map(Attachment::Class);
        let conversions = objects.conversions.values().cloned().map(Attachment::Conversion);
        let parts = families.chain(classes).chain(conversions);
        operators.chain(casts).chain(triggers).chain(parts)
    }

    /// The operator families that users made.
    pub fn operator_families(&self) -> impl Iterator<Item = &Arc<OperatorFamily>> {
        self.note(|| Question::OperatorFamilies);
        self.objects.operator_families.values()
    }

    /// An operator family that a user made.
    #[must_use]
    pub fn operator_family(&self, oid: Oid) -> Option<&Arc<OperatorFamily>> {
        self.note(|| Question::OperatorFamilies);
        self.objects.operator_families.get(&oid)
    }

    /// The operator classes that users made.
    pub fn user_operator_classes(&self) -> impl Iterator<Item = &Arc<UserOperatorClass>> {
        self.note(|| Question::OperatorClasses);
        self.objects.operator_classes.values()
    }

    /// An operator class that a user made.
    #[must_use]
    pub fn user_operator_class(&self, oid: Oid) -> Option<&Arc<UserOperatorClass>> {
        self.note(|| Question::OperatorClasses);
        self.objects.operator_classes.get(&oid)
    }

    /// The conversions that users made.
    pub fn conversions(&self) -> impl Iterator<Item = &Arc<Conversion>> {
        self.objects().conversions.values()
    }

    /// A conversion that a user made.
    #[must_use]
    pub fn conversion(&self, oid: Oid) -> Option<&Arc<Conversion>> {
        self.objects().conversions.get(&oid)
    }

    /// An operator that a user made.
    #[must_use]
    pub fn user_operator(&self, oid: Oid) -> Option<&Arc<UserOperator>> {
        self.note(|| Question::Operator(oid));
        self.objects.operators.get(&oid)
    }

    /// The operators that users made under a name, in whatever schema.
    #[must_use]
    pub fn user_operators_named(&self, name: &str) -> Vec<&Arc<UserOperator>> {
        self.note(|| Question::Operators(name.into()));
        self.objects.operators.values().filter(|operator| &*operator.name == name).collect()
    }

    /// The cast that a user made from one type to another.
    #[must_use]
    pub fn user_cast(&self, source: Oid, target: Oid) -> Option<&Arc<UserCast>> {
        self.user_casts().find(|cast| (cast.source, cast.target) == (source, target))
    }

    /// The casts that users made.
    pub fn user_casts(&self) -> impl Iterator<Item = &Arc<UserCast>> {
        self.note(|| Question::Casts);
        self.objects.casts.values()
    }

    /// The event triggers, by OID.
    pub fn event_triggers(&self) -> impl Iterator<Item = &Arc<EventTrigger>> {
        self.objects().event_triggers.values()
    }

    /// The routines that users made in a schema.
    #[must_use]
    pub fn routines_in(&self, schema: Oid) -> Vec<Arc<Routine>> {
        self.routines().filter(|routine| routine.schema == schema).cloned().collect()
    }

    /// What `pg_proc` says of a function, built in or made.
    #[must_use]
    pub fn procedure(&self, oid: Oid) -> Option<Cow<'_, ProcedureOf<'_>>> {
        match builtin::function(oid.0) {
            Some(found) => Some(Cow::Borrowed(found)),
            None => self.routine(oid).map(|routine| Cow::Owned(routine.procedure())),
        }
    }

    /// A type that users made, by OID.
    #[must_use]
    pub fn user_type(&self, oid: Oid) -> Option<&Arc<UserType>> {
        self.note(|| Question::Type(oid));
        self.objects.types.get(&oid)
    }

    /// A domain that demands something of its values, by OID.
    #[must_use]
    pub fn domain(&self, oid: Oid) -> Option<&Domain> {
        // Its OID says whether it is one: most types are none.
        if !builtin::is_domain(oid.0) {
            return None;
        }
        match self.user_type(oid) {
            Some(made) => made.domain(),
            None => built_in_domain::domain(oid.0),
        }
    }

    /// What a domain stands on in the end, with its modifier; any other type is its own (`getBaseTypeAndTypmod`).
    #[must_use]
    pub fn base_type(&self, ty: SqlType) -> SqlType {
        let mut ty = ty;
        while let Some(domain) = self.domain(ty.oid) {
            ty = domain.base;
        }
        // Those that are built in are over no other domain.
        match builtin::type_by_oid(ty.oid.0) {
            Some(found) if found.kind == builtin::TypeKind::Domain => {
                SqlType { oid: Oid(found.base), typmod: found.base_typmod }
            }
            _ => ty,
        }
    }

    /// The collation of a type's values where nothing else is said: a domain, and arrays over it, have that which it was
    /// declared with. 0 where the type has none.
    #[must_use]
    pub fn collation_of(&self, ty: Oid) -> Oid {
        let element = builtin::element_of_made(ty.0).map_or(ty, Oid);
        let domain = self.domain(element);
        domain.map_or_else(|| Oid(builtin::collation_of(ty.0)), |domain| domain.collation)
    }

    /// The collation of a field of rows of a type, which its column or attribute was declared with; none where the type has no
    /// such field.
    #[must_use]
    pub fn field_collation(&self, ty: Oid, field: usize) -> Option<Oid> {
        let ty = self.base_type(SqlType { oid: ty, typmod: -1 }).oid;
        if let Some(attributes) = self.user_type(ty).and_then(|found| found.attributes()) {
            return attributes.get(field).map(|attribute| attribute.collation);
        }
        let relation = self.row_type(ty).filter(|relation| relation.row_type.0 == ty)?;
        let mut live = relation.columns.iter().filter(|column| !column.dropped);
        live.nth(field).map(|column| column.collation)
    }

    /// A domain that users made and those it is over, the outermost first.
    pub fn domains(&self, oid: Oid) -> impl Iterator<Item = &Domain> {
        std::iter::successors(self.domain(oid), |domain| self.domain(domain.base.oid))
    }

    /// A CHECK of a domain, and the domain.
    #[must_use]
    pub fn domain_check(&self, oid: Oid) -> Option<(&Arc<UserType>, &DomainCheck)> {
        let ty = self.user_type(*self.objects().domain_checks.get(&oid)?)?;
        Some((ty, ty.domain()?.checks.iter().find(|check| check.oid == oid)?))
    }

    /// A type that users made, by schema and name.
    #[must_use]
    pub fn type_in(&self, schema: Oid, name: &str) -> Option<&Arc<UserType>> {
        self.note(|| Question::TypeNamed(schema, name.into()));
        self.user_type(*self.objects.type_names.get(&schema)?.get(name)?)
    }

    /// A type that users or extensions made by its name in a schema: one that CREATE TYPE made, that of a relation's rows, or the arrays
    /// of one of these, which are called as it is behind an underscore.
    #[must_use]
    pub fn type_named(&self, schema: Oid, name: &str) -> Option<Oid> {
        self.note(|| Question::TypeNamed(schema, name.into()));
        let known = self.element_named(schema, name).or_else(|| self.extension_type(schema, name));
        known.or_else(|| {
            let renamed = self.objects.array_names.element(schema, name);
            let element = renamed.or_else(|| {
                let element = self.element_named(schema, name.strip_prefix('_')?)?;
                self.objects.array_names.of_element(element).is_none().then_some(element)
            })?;
            Some(Oid(builtin::array_of_made(element.0)))
        })
    }

    /// The schema and the name of a type: a built-in one, one that users made, that of a relation's rows, or of arrays.
    #[must_use]
    pub fn name_of_type(&self, oid: Oid) -> Option<(Oid, Arc<str>)> {
        if let Some(found) = builtin::type_by_oid(oid.0) {
            let schema = match found.namespace {
                0 => self.member_schema(found.oid)?,
                own => Oid(own),
            };
            return Some((schema, found.name.into()));
        }
        let array = builtin::element_of_made(oid.0).map(Oid);
        let element = array.unwrap_or(oid);
        let (schema, name) = match self.user_type(element) {
            Some(found) => (found.schema, Arc::clone(&found.name)),
            None => {
                let relation = self.row_type(element)?;
                (relation.schema.0, Arc::clone(&relation.name))
            }
        };
        Some((schema, array.map_or(name.clone(), |element| self.array_name(element, &name))))
    }

    /// The name of the type of arrays over a type that users made, which is called `name`.
    #[must_use]
    pub fn array_name(&self, element: Oid, name: &str) -> Arc<str> {
        let other = self.objects().array_names.of_element(element);
        other.cloned().unwrap_or_else(|| array_name(name, 1))
    }

    /// The same without those of arrays.
    #[must_use]
    pub fn element_named(&self, schema: Oid, name: &str) -> Option<Oid> {
        if let Some(found) = self.type_in(schema, name) {
            return Some(found.oid);
        }
        let Some(Named::Relation(found)) = self.named(schema, name) else { return None };
        let relation = self.relation(found)?;
        // A sequence's rows have no type of a name.
        let typed = !matches!(relation.kind, RelationKind::Sequence(_));
        Some(relation.row_type.0).filter(|ty| typed && *ty != Oid(0))
    }

    /// Whether `role` owns what `owner` owns, or may act as that role.
    #[must_use]
    pub fn owns(&self, role: Oid, owner: Oid) -> bool {
        let owner = if owner == well_known::DATABASE_OWNER {
            self.shared().databases.get(&self.database).map_or(owner, |database| database.owner)
        } else {
            owner
        };
        self.shared().has_privileges_of(role, owner)
    }

    /// An object of the database, or of what all share; none if it is not there.
    #[must_use]
    pub fn object(&self, key: ObjectKey) -> Option<Object> {
        let own = || self.objects().object(key).filter(|_| key.database == self.database);
        if is_shared(key) { self.shared().object(key) } else { own() }
    }

    /// The keys of all objects of the database.
    #[must_use]
    pub fn keys(&self) -> Vec<ObjectKey> {
        let objects = self.objects();
        let key = |class, oid, sub| ObjectKey { class, database: self.database, oid, sub };
        let schemas = objects.schemas.keys().map(|oid| key(Class::Schema, *oid, 0));
        let relations = objects.relations.keys().map(|oid| key(Class::Relation, *oid, 0));
        let statistics = objects.statistics.keys().map(|oid| key(Class::Statistics, *oid, 0));
        let comments = objects.comments.keys().map(|(oid, sub)| key(Class::Comment, *oid, *sub));
        let acls = objects.acls.keys().map(|(oid, sub)| key(Class::Acl, *oid, *sub));
        let defaults = objects.default_acls.keys().map(|oid| key(Class::DefaultAcl, *oid, 0));
        let indexes = objects.relations.iter().flat_map(|(oid, relation)| {
            let of = move |index: &Index| key(Class::Index, *oid, index.oid.0);
            relation.indexes.iter().map(of)
        });
        let own = schemas.chain(relations).chain(indexes).chain(statistics).chain(comments);
        let types = objects.types.keys().map(|oid| key(Class::Type, *oid, 0));
        let extensions = objects.extensions.keys().map(|oid| key(Class::Extension, *oid, 0));
        let routines = objects.routines.keys().map(|oid| key(Class::Routine, *oid, 0));
        let attached = self.attachments().map(|one| key(one.class(), one.oid(), 0));
        let own = own.chain(acls).chain(defaults).chain(types).chain(extensions).chain(routines);
        own.chain(attached).collect()
    }

    /// The sequences that columns of `table` own.
    pub fn owned_sequences(&self, table: Oid) -> impl Iterator<Item = (&Arc<Relation>, usize)> {
        second(&self.objects().owned, table).filter_map(|oid| {
            let relation = self.objects().relations.get(&oid)?;
            match &relation.kind {
                RelationKind::Sequence(sequence) => Some((relation, sequence.owner?.1)),
                RelationKind::Table { .. }
                | RelationKind::System
                | RelationKind::View { .. }
                | RelationKind::Composite => None,
            }
        })
    }

    /// Users' relations in a schema, by OID.
    #[must_use]
    pub fn relations_in(&self, schema: Oid) -> Vec<&Arc<Relation>> {
        let names = self.objects().names.get(&schema).into_iter().flat_map(|names| names.values());
        let mut found: Vec<&Arc<Relation>> = names
            .filter_map(|named| match named {
                Named::Relation(oid) => self.objects().relations.get(oid),
                Named::Index { .. } => None,
            })
            .collect();
        found.sort_unstable_by_key(|relation| relation.oid);
        found
    }

    /// The types that users made in a schema, by OID.
    #[must_use]
    pub fn types_in(&self, schema: Oid) -> Vec<&Arc<UserType>> {
        let names = self.objects().type_names.get(&schema).into_iter();
        let oids = names.flat_map(|names| names.values());
        let mut found: Vec<_> = oids.filter_map(|oid| self.objects().types.get(oid)).collect();
        found.sort_unstable_by_key(|ty| ty.oid);
        found
    }

    /// Temporary relations, by OID.
    pub fn temporary_relations(&self) -> impl Iterator<Item = &Arc<Relation>> {
        self.objects().temporaries.iter().filter_map(|oid| self.objects().relations.get(oid))
    }

    /// Users' comments on an object of this database and on its columns.
    pub fn comments_on(&self, oid: Oid) -> impl Iterator<Item = (u32, &Arc<Comment>)> {
        let range = self.objects().comments.range((oid, 0)..=(oid, u32::MAX));
        range.map(|((_, sub), comment)| (*sub, comment))
    }

    /// The lists of an object and its columns that are no part of it.
    pub fn acls_of(&self, oid: Oid) -> impl Iterator<Item = (u32, &Arc<Acl>)> {
        let range = self.objects().acls.range((oid, 0)..=(oid, u32::MAX));
        range.map(|((_, sub), list)| (*sub, list))
    }
}
