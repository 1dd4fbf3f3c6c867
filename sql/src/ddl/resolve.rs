//! Names in schema changes: looked up, locked, looked up again; owners and kinds checked, with PostgreSQL's words.

use super::Ddl;
use crate::bind::dml::{composite_type, system_catalog};
use crate::bind::type_name::{format_type, format_type_be};
use crate::catalog::acl::Privileges;
use crate::catalog::object::{Class, ObjectKey, Role, Schema, well_known};
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::system::is_served_view;
use crate::catalog::system_column::{SystemColumn, system_column, system_number};
use crate::catalog::{CatalogSnapshot, Named};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Ident, ObjectKind, ObjectName};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// What is told of a relation that is not there.
pub(super) fn undefined_table(name: &ObjectName) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_TABLE, format!("relation \"{name}\" does not exist"))
}

/// What is told of a name that is taken.
pub(super) fn duplicate_relation(name: &str) -> SqlError {
    SqlError::new(SqlState::DUPLICATE_TABLE, format!("relation \"{name}\" already exists"))
}

/// The same of one in the schema that something is to move to.
pub(super) fn duplicate_there(name: &str, schema: &Schema) -> SqlError {
    SqlError::new(
        SqlState::DUPLICATE_TABLE,
        format!("relation \"{name}\" already exists in schema \"{}\"", schema.name),
    )
}

/// What is told of a type's name that is taken.
pub(super) fn duplicate_type(name: &str) -> SqlError {
    SqlError::new(SqlState::DUPLICATE_OBJECT, format!("type \"{name}\" already exists"))
}

/// 3F000.
pub(crate) fn undefined_schema(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_SCHEMA_NAME, format!("schema \"{name}\" does not exist"))
}

/// What kind of relation it is, as an error names it: `table`.
#[must_use]
pub fn kind_noun(relation: &Relation) -> &'static str {
    match relation.kind {
        RelationKind::Table { .. } if relation.stored_query.is_some() => "materialized view",
        RelationKind::System if is_served_view(relation) => "view",
        RelationKind::Table { .. } | RelationKind::System => "table",
        RelationKind::View { .. } => "view",
        RelationKind::Sequence(_) => "sequence",
        RelationKind::Composite => "composite type",
    }
}

/// 42501 for who may not do something in a schema.
pub(super) fn denied_schema(schema: &Schema) -> SqlError {
    SqlError::new(
        SqlState::INSUFFICIENT_PRIVILEGE,
        format!("permission denied for schema {}", schema.name),
    )
}

impl Ddl<'_> {
    /// Checks a name's database part, and finds the schema it names; none if it names none.
    pub(super) fn schema_part(&mut self, name: &ObjectName) -> Result<Option<Arc<Schema>>> {
        if name.parts.len() > 3 {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("improper qualified name (too many dotted names): {name}"),
            ));
        }
        let snapshot = self.snapshot();
        snapshot.demand_own_database(&name.parts)?;
        let Some(schema) = name.schema() else { return Ok(None) };
        let schema = snapshot.schema(schema).ok_or_else(|| undefined_schema(schema))?;
        Ok(Some(Arc::clone(schema)))
    }

    /// The same for who looks for something in it.
    pub(super) fn searched_schema(&mut self, name: &ObjectName) -> Result<Option<Arc<Schema>>> {
        let schema = self.schema_part(name)?;
        if let Some(schema) = &schema {
            self.snapshot().demand_usage(self.user, schema)?;
        }
        Ok(schema)
    }

    /// Where a new object of that name goes, a temporary one where `persistence` is `t`; CREATE there is checked. The schema
    /// stays there until the transaction's end, and so does the owner of what is made
    /// (`RangeVarGetAndCheckCreationNamespace`).
    pub(super) fn creation_schema_for(
        &mut self,
        name: &ObjectName,
        persistence: char,
    ) -> Result<Arc<Schema>> {
        self.owner_to_stay()?;
        self.schema_to_stay(&|ddl| ddl.creation_schema(name, persistence))
    }

    /// The schema that `find` comes to, which stays there until the transaction's end: found again once it is held.
    pub(super) fn schema_to_stay(
        &mut self,
        find: &dyn Fn(&mut Self) -> Result<Arc<Schema>>,
    ) -> Result<Arc<Schema>> {
        let mut held = None;
        loop {
            let schema = find(self)?;
            // Nobody else drops the session's own, nor makes anything there.
            if schema.is_temporary() || held == Some(schema.oid) {
                return Ok(schema);
            }
            let key = self.catalog.key(Class::Schema, schema.oid);
            self.catalog.hold(self.transaction, key)?;
            held = Some(schema.oid);
        }
    }

    /// Keeps a schema from being dropped until the transaction's end.
    ///
    /// # Errors
    /// 42704 if it has been.
    pub(super) fn hold_schema(&mut self, schema: &Schema) -> Result<()> {
        let key = self.catalog.key(Class::Schema, schema.oid);
        self.catalog.hold(self.transaction, key)?;
        match self.snapshot().schema_by_oid(schema.oid) {
            Some(_) => Ok(()),
            None => Err(dropped_meanwhile("schema")),
        }
    }

    /// Keeps the current user, who is about to own something, from being dropped until the transaction's end.
    ///
    /// # Errors
    /// 42704 if they have been.
    pub(super) fn owner_to_stay(&mut self) -> Result<()> {
        self.hold_role(self.user)
    }

    /// Where a new object of that name would go, whoever may make it there.
    pub(super) fn creation_schema_unchecked(&mut self, name: &ObjectName) -> Result<Arc<Schema>> {
        match self.schema_part(name)? {
            Some(schema) => Ok(schema),
            None => self.creation_schema(name, 'p'),
        }
    }

    /// Where a new object of that name goes now.
    pub(super) fn creation_schema(
        &mut self,
        name: &ObjectName,
        persistence: char,
    ) -> Result<Arc<Schema>> {
        let says_temporary = name.schema().is_some_and(|schema| &**schema == "pg_temp");
        let unlogged = |ddl: &Self| {
            let message = "only temporary relations may be created in temporary schemas";
            let error = SqlError::new(SqlState::INVALID_TABLE_DEFINITION, message);
            error.at(ddl.semantics.position(name.at))
        };
        if says_temporary && persistence == 'u' {
            return Err(unlogged(self));
        }
        if says_temporary || persistence == 't' && name.schema().is_none() {
            return self.temporary_schema();
        }
        let named = self.schema_part(name)?;
        if persistence == 't' && !named.as_ref().is_some_and(|schema| schema.is_temporary()) {
            if let Some(schema) = &named {
                self.may_create_in(schema)?;
            }
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                "cannot create temporary relation in non-temporary schema",
            )
            .at(self.semantics.position(name.at)));
        }
        let path = self.path();
        if named.is_none() && path.creation_temporary {
            return if persistence == 'u' { Err(unlogged(self)) } else { self.temporary_schema() };
        }
        let snapshot = self.snapshot();
        let schema = match named {
            Some(schema) => schema,
            None => {
                let oid = path.creation.ok_or_else(|| {
                    SqlError::new(
                        SqlState::INVALID_SCHEMA_NAME,
                        "no schema has been selected to create in",
                    )
                })?;
                snapshot.schema_by_oid(oid).cloned().ok_or_else(|| undefined_schema("public"))?
            }
        };
        if schema.is_temporary() && persistence == 'u' {
            return Err(unlogged(self));
        }
        self.may_create_in(&schema)?;
        Ok(schema)
    }

    /// The schema of the session's temporary objects.
    fn temporary_schema(&mut self) -> Result<Arc<Schema>> {
        if self.identity.is_restricted() {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                "cannot create temporary table within security-restricted operation",
            ));
        }
        let snapshot = self.snapshot();
        let database = snapshot.shared().database_by_oid(snapshot.database_oid());
        let may = database.is_none_or(|database| {
            snapshot.may_on_database(self.user, database, Privileges::TEMPORARY)
        });
        if !may {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!(
                    "permission denied to create temporary tables in database \"{}\"",
                    snapshot.database_name()
                ),
            ));
        }
        self.catalog.temporary_schema(self.transaction)
    }

    /// 42501 for who may not create in a schema. Nobody creates in the system's.
    pub(super) fn may_create_in(&mut self, schema: &Schema) -> Result<()> {
        let system = schema.oid == well_known::PG_CATALOG || schema.oid == well_known::PG_TOAST;
        if system || !self.snapshot().may_create_in(self.user, schema) {
            return Err(denied_schema(schema));
        }
        Ok(())
    }

    /// The same of the schema that a relation is in, for who gives it, or what hangs on it, a name.
    pub(super) fn may_still_create_in(&mut self, relation: &Relation) -> Result<()> {
        let snapshot = self.snapshot();
        snapshot
            .schema_by_oid(relation.schema.0)
            .map_or(Ok(()), |schema| self.may_create_in(schema))
    }

    /// Whether the current user owns a schema: they may drop whatever is in it.
    pub(super) fn owns_schema(&mut self, schema: Oid) -> bool {
        let snapshot = self.snapshot();
        let schema = snapshot.schema_by_oid(schema);
        schema.is_some_and(|schema| snapshot.owns(self.user, schema.owner))
    }

    /// What a name stands for now; none if nothing.
    pub(super) fn lookup(&mut self, name: &ObjectName) -> Result<Option<Named>> {
        let schema = self.searched_schema(name)?;
        let path = self.path();
        let snapshot = self.snapshot();
        Ok(match schema {
            Some(schema) => snapshot.named(schema.oid, name.name()),
            None => snapshot.find(&path.schemas, name.name()),
        })
    }

    /// Finds a relation, locks it, and finds it again: what comes back is what the name stands for while the lock is held.
    /// An index gives its table, as locks stand on tables.
    pub(super) fn lock_named(
        &mut self,
        name: &ObjectName,
        mode: TableLock,
    ) -> Result<Option<(Named, Arc<Relation>)>> {
        self.lock_checked(name, mode, &|_, _, _| Ok(()))
    }

    /// The same for a statement that not everybody may run on every relation: `check` is asked before the lock, so that
    /// who is refused does not wait for it and nobody waits for them, and again of what is found behind it
    /// (`RangeVarGetRelidExtended`).
    pub(super) fn lock_checked(
        &mut self,
        name: &ObjectName,
        mode: TableLock,
        check: &dyn Fn(&mut Self, &Named, &Relation) -> Result<()>,
    ) -> Result<Option<(Named, Arc<Relation>)>> {
        let mut locked = None;
        loop {
            let Some(named) = self.lookup(name)? else { return Ok(None) };
            let oid = match named {
                Named::Relation(oid) => oid,
                Named::Index { table, .. } => table,
            };
            let Some(relation) = self.relation(oid) else { return Ok(None) };
            check(self, &named, &relation)?;
            if locked == Some(named) {
                return Ok(Some((named, relation)));
            }
            self.transaction.lock_table(relation.lock, mode, WaitPolicy::Block)?;
            if let Named::Index { table, index } = named
                && mode == TableLock::AccessExclusive
            {
                // Whoever gives it another name has locked it alone.
                self.lock_index_alone(table, index)?;
            }
            locked = Some(named);
        }
    }

    /// SHARE UPDATE EXCLUSIVE of an index, and nothing of its table.
    fn lock_index_alone(&mut self, table: Oid, index: Oid) -> Result<()> {
        let key = ObjectKey { sub: index.0, ..self.catalog.key(Class::Index, table) };
        self.catalog.lock_beside(self.transaction, key)
    }

    /// Finds an index and locks it alone, not its table: others read and write that, make indexes of it and make others anew
    /// meanwhile (SHARE UPDATE EXCLUSIVE of the index). `check` is asked as by [`Ddl::lock_checked`].
    pub(super) fn lock_index(
        &mut self,
        name: &ObjectName,
        check: &dyn Fn(&mut Self, &Named, &Relation) -> Result<()>,
    ) -> Result<Option<(Arc<Relation>, Oid)>> {
        let mut locked = None;
        loop {
            let Some(named) = self.lookup(name)? else { return Ok(None) };
            let (Named::Relation(table) | Named::Index { table, .. }) = named;
            let Some(relation) = self.relation(table) else { return Ok(None) };
            check(self, &named, &relation)?;
            let Named::Index { index, .. } = named else { return Ok(None) };
            if locked == Some(named) {
                return Ok(Some((relation, index)));
            }
            self.lock_index_alone(table, index)?;
            locked = Some(named);
        }
    }

    /// Locks a table for a statement of the kind `wanted`, owned by the current user. None if it is not there and
    /// `if_exists` says that this is a notice.
    pub(super) fn lock_table(
        &mut self,
        name: &ObjectName,
        wanted: ObjectKind,
        mode: TableLock,
        if_exists: bool,
    ) -> Result<Option<Arc<Relation>>> {
        let owned = |ddl: &mut Self, named: &Named, relation: &Relation| match named {
            Named::Index { .. } => Err(wrong_kind(name.name(), wanted)),
            Named::Relation(_) => ddl.check_owner(relation),
        };
        let found = match self.lock_checked(name, mode, &owned) {
            Ok(found) => found,
            Err(error) if if_exists && error.state() == SqlState::INVALID_SCHEMA_NAME => None,
            Err(error) => return Err(error),
        };
        let Some((_, relation)) = found else {
            if if_exists {
                let message = format!("relation \"{}\" does not exist, skipping", name.name());
                self.notice(SqlState::SUCCESSFUL_COMPLETION, message);
                return Ok(None);
            }
            return Err(undefined_table(name));
        };
        if matches!((wanted, &relation.kind), (ObjectKind::Table, RelationKind::Composite)) {
            return Err(altered_type(&relation.name));
        }
        let fits = match wanted {
            ObjectKind::View => matches!(relation.kind, RelationKind::View { .. }),
            ObjectKind::Sequence => matches!(relation.kind, RelationKind::Sequence(_)),
            ObjectKind::MaterializedView => relation.stored_query.is_some(),
            ObjectKind::Index => false,
            _ => true,
        };
        if !fits {
            return Err(wrong_kind(&relation.name, wanted));
        }
        Ok(Some(relation))
    }

    /// 42501 for who is neither owner nor superuser; for the system's relations always.
    pub(super) fn check_owner(&mut self, relation: &Relation) -> Result<()> {
        if relation.oid.0 < well_known::FIRST_NORMAL {
            // The views over the catalogs a superuser may change, the catalogs themselves nobody.
            let pinned = relation.oid.0 < well_known::FIRST_GENERATED;
            return Err(match self.superuser() && !pinned {
                true => SqlError::unsupported("changing system views is"),
                false => system_catalog(relation),
            });
        }
        let snapshot = self.snapshot();
        if snapshot.owns(self.user, relation.owner) {
            return Ok(());
        }
        let noun = match relation.kind {
            RelationKind::Composite => "table",
            _ => kind_noun(relation),
        };
        Err(must_own(noun, &relation.name))
    }

    /// A role by name, or by the words that stand for one.
    pub(super) fn role(&mut self, name: &Ident) -> Result<Arc<Role>> {
        let snapshot = self.snapshot();
        let found = match &**name {
            "current_user" | "current_role" => snapshot.shared().role_by_oid(self.user),
            "session_user" => snapshot.shared().role_by_oid(self.identity.session_user),
            name => snapshot.shared().role(name),
        };
        found.cloned().ok_or_else(|| undefined_role(name))
    }

    /// A role by name that is about to get something, and stays there until the transaction's end.
    ///
    /// # Errors
    /// 42704.
    pub(super) fn role_to_stay(&mut self, name: &Ident) -> Result<Arc<Role>> {
        let role = self.role(name)?;
        self.hold_role(role.oid)?;
        Ok(role)
    }

    /// Keeps a role from being dropped until the transaction's end.
    fn hold_role(&mut self, role: Oid) -> Result<()> {
        // Others are dropped by nobody.
        if role.0 < well_known::FIRST_NORMAL {
            return Ok(());
        }
        if self.catalog.hold(self.transaction, super::role::key(role))? {
            return Ok(());
        }
        let message = format!("role {} was concurrently dropped", role.0);
        Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message))
    }

    /// 42501 unless the current user may give things to `role`: it is a member of it.
    pub(super) fn check_member(&mut self, role: &Role) -> Result<()> {
        let snapshot = self.snapshot();
        if snapshot.shared().is_member(self.user, role.oid) {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("must be member of role \"{}\"", role.name),
        ))
    }

    /// Locks a name that a relation or index is about to get, and says whether it is taken.
    pub(super) fn lock_relation_name(&mut self, schema: Oid, name: &str) -> Result<bool> {
        self.catalog.lock_name(self.transaction, Class::Relation, schema, name)?;
        Ok(self.catalog.snapshot().named(schema, name).is_some())
    }

    /// 42710 where a relation that is about to be made, with a type of its rows, would be called as a type is. Its name is
    /// locked: who makes a type locks it, too.
    pub(super) fn demand_free_type(&mut self, schema: Oid, name: &str) -> Result<()> {
        if self.catalog.snapshot().type_in(schema, name).is_none() {
            return Ok(());
        }
        Err(duplicate_type(name).hint(
            "A relation has an associated type of the same name, so you must use a name that doesn't conflict with any existing type.",
        ))
    }

    /// A relation's name as messages say it: qualified unless the search path finds it.
    pub(super) fn display(&mut self, relation: &Relation) -> String {
        let path = self.path();
        display(self.catalog.snapshot(), &path.schemas, relation)
    }

    /// A type without a modifier as messages name it (`format_type_be`).
    pub(super) fn plain_type_shown(&mut self, ty: SqlType) -> String {
        let path = self.path();
        format_type_be(self.catalog.snapshot(), &path.schemas, ty.oid)
    }

    /// A type as messages name it.
    pub(super) fn type_shown(&mut self, ty: SqlType) -> String {
        let path = self.path();
        format_type(self.catalog.snapshot(), Some(&path.schemas), ty)
    }
}

/// A relation's name, qualified unless `path` finds it.
#[must_use]
pub fn display(snapshot: &CatalogSnapshot, path: &[Oid], relation: &Relation) -> String {
    if snapshot.find(path, &relation.name) == Some(Named::Relation(relation.oid)) {
        crate::catalog::quote::identifier(&relation.name)
    } else {
        crate::catalog::quote::qualified(&relation.schema.1, &relation.name)
    }
}

/// 42704.
pub(super) fn undefined_role(name: &str) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("role \"{name}\" does not exist"))
}

/// 42704: what is built on an object of this kind found it, and it has gone since.
pub(super) fn dropped_meanwhile(kind: &str) -> SqlError {
    let message = format!("referenced {kind} was concurrently dropped");
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}

/// 42501.
pub(super) fn must_own(kind: &str, name: &str) -> SqlError {
    SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("must be owner of {kind} {name}"))
}

/// 42809: the relation is of another kind than the statement says.
pub(super) fn wrong_kind(name: &str, wanted: ObjectKind) -> SqlError {
    let noun = wanted.words().to_ascii_lowercase();
    let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    SqlError::new(SqlState::WRONG_OBJECT_TYPE, format!("\"{name}\" is not {article} {noun}"))
}

/// 42809: a composite type is not altered by the statements for other relations.
pub(super) fn altered_type(name: &str) -> SqlError {
    composite_type(name).hint("Use ALTER TYPE instead.")
}

/// 42703.
pub(super) fn undefined_column(relation: &Relation, column: &str) -> SqlError {
    SqlError::new(
        SqlState::UNDEFINED_COLUMN,
        format!("column \"{column}\" of relation \"{}\" does not exist", relation.name),
    )
}

/// A live column by name.
pub(super) fn column(relation: &Relation, name: &str) -> Result<usize> {
    relation.column(name).ok_or_else(|| undefined_column(relation, name))
}

/// The column of the system's that a name stands for; the rows of views and composite types have none.
pub(super) fn system_column_named(relation: &Relation, name: &str) -> Option<SystemColumn> {
    match relation.kind {
        RelationKind::View { .. } | RelationKind::Composite => None,
        _ => system_number(name).map(system_column),
    }
}

/// A live column by name, which ALTER TABLE changes: 0A000 for one of the system's.
pub(super) fn changeable_column(relation: &Relation, name: &str) -> Result<usize> {
    relation.column(name).ok_or_else(|| match system_column_named(relation, name) {
        Some(_) => refused_system_column("alter", name),
        None => undefined_column(relation, name),
    })
}

/// 0A000: what the system's columns are is not changed.
pub(super) fn refused_system_column(verb: &str, name: &str) -> SqlError {
    SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("cannot {verb} system column \"{name}\""),
    )
}
