//! Who may do what: ownership, and the access control lists where there are any (PostgreSQL 15 manual, section 5.7).
//!
//! A superuser may do everything. An owner, and whoever has the owner's privileges, holds all privileges of what has no
//! list; a list holds exactly what it says.

use crate::acl::{Acl, AclItem, Privileges};
use crate::builtin::{ProcedureOf, functions_named};
use crate::initial_privileges as initial;
use crate::object::{Database, Schema, well_known};
use crate::relation::{Relation, RelationKind};
use crate::snapshot::CatalogSnapshot;
use sql_types::Oid;

/// The kinds of objects that have access control lists here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grantable {
    /// A table or view.
    Table,
    /// A sequence.
    Sequence,
    /// A schema.
    Schema,
    /// A database.
    Database,
    /// A column.
    Column,
    /// A function.
    Function,
    /// A type.
    Type,
    /// A language.
    Language,
    /// A parameter of the server.
    Parameter,
}

/// Below which number of its OID the catalog keeps the list of an object that is no column.
pub mod kept {
    /// A function.
    pub const FUNCTION: u32 = 1 << 16;
    /// A type.
    pub const TYPE: u32 = 2 << 16;
    /// A language.
    pub const LANGUAGE: u32 = 3 << 16;
    /// The whole of a relation of the system's.
    pub const RELATION: u32 = 4 << 16;
}

impl Grantable {
    /// Everything there is to grant on it.
    #[must_use]
    pub fn all(self) -> Privileges {
        match self {
            Grantable::Table => Privileges::TABLE,
            Grantable::Sequence => Privileges::SEQUENCE,
            Grantable::Schema => Privileges::SCHEMA,
            Grantable::Database => Privileges::DATABASE,
            Grantable::Column => Privileges::COLUMN,
            Grantable::Function => Privileges::EXECUTE,
            Grantable::Type | Grantable::Language => Privileges::USAGE,
            Grantable::Parameter => Privileges::PARAMETER,
        }
    }

    /// What everybody may do with it unless it is taken away.
    fn public(self) -> Privileges {
        match self {
            Grantable::Database => Privileges::TEMPORARY.union(Privileges::CONNECT),
            Grantable::Function | Grantable::Type | Grantable::Language => self.all(),
            Grantable::Table
            | Grantable::Sequence
            | Grantable::Schema
            | Grantable::Column
            | Grantable::Parameter => Privileges::default(),
        }
    }

    /// What it is called in messages.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Grantable::Table => "table",
            Grantable::Sequence => "sequence",
            Grantable::Schema => "schema",
            Grantable::Database => "database",
            Grantable::Column => "column",
            Grantable::Function => "function",
            Grantable::Type => "type",
            Grantable::Language => "language",
            Grantable::Parameter => "parameter",
        }
    }

    /// The list that no list stands for (`acldefault`).
    #[must_use]
    pub fn default_acl(self, owner: Oid) -> Acl {
        let mut acl = Acl::new();
        if self == Grantable::Column {
            return acl;
        }
        let mut give = |grantee, privileges| {
            if privileges != Privileges::default() {
                let grant_options = Privileges::default();
                acl.push(AclItem { grantee, grantor: owner, privileges, grant_options });
            }
        };
        give(Oid(0), self.public());
        give(owner, self.all());
        acl
    }
}

impl Relation {
    /// What kind of list it has.
    #[must_use]
    pub fn grantable(&self) -> Grantable {
        match self.kind {
            RelationKind::Sequence(_) => Grantable::Sequence,
            RelationKind::Table { .. }
            | RelationKind::System
            | RelationKind::View { .. }
            | RelationKind::Composite => Grantable::Table,
        }
    }
}

/// Whether PostgreSQL's initial contents give a column of a relation of the system's a list.
#[must_use]
pub fn has_initial_list(relation: Oid, column: u32) -> bool {
    initial::column_acl(relation, column).is_some()
}

impl CatalogSnapshot {
    /// The privileges that `role` holds on an object of that kind, owner and list.
    #[must_use]
    pub fn privileges(
        &self,
        role: Oid,
        kind: Grantable,
        owner: Oid,
        acl: Option<&Acl>,
    ) -> Privileges {
        if self.shared().role_by_oid(role).is_some_and(|role| role.superuser) {
            return kind.all();
        }
        let default;
        let acl = if let Some(acl) = acl {
            acl
        } else {
            default = kind.default_acl(owner);
            &default
        };
        let groups = self.shared().groups_of(role, true);
        acl.iter()
            .filter(|item| {
                item.grantee.0 == 0
                    || groups.contains(item.grantee)
                    || (item.grantee == owner && self.owns(role, owner))
            })
            .fold(Privileges::default(), |all, item| all.union(item.privileges))
    }

    /// Who owns a type: of the built-in ones the first superuser, of a row type the relation's owner.
    #[must_use]
    pub fn type_owner(&self, ty: Oid) -> Oid {
        let made = self.user_type(ty).map(|found| found.owner);
        let owner = made.or_else(|| self.row_type(ty).map(|relation| relation.owner));
        let owner = owner.or_else(|| {
            let known = crate::extension::of_member(ty.0)?;
            self.extension(known.name).map(|found| found.owner)
        });
        owner.unwrap_or(well_known::SUPERUSER)
    }

    /// Whether `role` may make columns, attributes and domains of a type; of arrays their elements' type is asked.
    #[must_use]
    pub fn may_use_type(&self, role: Oid, ty: Oid) -> bool {
        let Some(acl) = self.acl(ty, kept::TYPE) else { return true };
        let privileges = self.privileges(role, Grantable::Type, self.type_owner(ty), Some(acl));
        privileges.contains(Privileges::USAGE)
    }

    /// Whether `role` may write routines in a trusted language.
    #[must_use]
    pub fn may_use_language(&self, role: Oid, language: Oid) -> bool {
        let Some(acl) = self.acl(language, kept::LANGUAGE) else { return true };
        let owner = well_known::SUPERUSER;
        self.privileges(role, Grantable::Language, owner, Some(acl)).contains(Privileges::USAGE)
    }

    /// Whether `role` may do all of that with the whole of a relation, whatever it may do with its columns. Everyone may read
    /// the system's.
    #[must_use]
    pub fn may_on_relation(&self, role: Oid, relation: &Relation, wanted: Privileges) -> bool {
        self.lacking(role, relation, wanted) == Privileges::default()
    }

    /// What of `wanted` a role may not do with the whole of a relation.
    fn lacking(&self, role: Oid, relation: &Relation, wanted: Privileges) -> Privileges {
        let superuser = self.shared().role_by_oid(role).is_some_and(|role| role.superuser);
        if superuser {
            return Privileges::default();
        }
        let is_made = relation.oid.0 >= well_known::FIRST_NORMAL;
        let list = self.relation_acl(relation);
        let mut held = self.privileges(role, relation.grantable(), relation.owner, list);
        // A view's functions are called by whoever reads it, and some not by everybody.
        let callable = is_made || self.may_call_of_view(role, &relation.name);
        let member_of = |group: Oid| callable && self.shared().has_privileges_of(role, group);
        if !held.contains(Privileges::SELECT) && member_of(READ_ALL_DATA) {
            held = held.union(Privileges::SELECT);
        }
        let writes = Privileges::INSERT.union(Privileges::UPDATE).union(Privileges::DELETE);
        // Nobody but superusers changes the system's, whatever has been granted.
        if !is_made {
            return wanted.without(held.without(writes.union(Privileges::TRUNCATE)));
        }
        if !held.contains(writes) && member_of(WRITE_ALL_DATA) {
            held = held.union(writes);
        }
        wanted.without(held)
    }

    /// Whether `role` may call the function that a view of the system is of, if not everybody may.
    fn may_call_of_view(&self, role: Oid, view: &str) -> bool {
        let function = match view {
            "pg_backend_memory_contexts" => "pg_get_backend_memory_contexts",
            "pg_config" => "pg_config",
            "pg_file_settings" => "pg_show_all_file_settings",
            "pg_hba_file_rules" => "pg_hba_file_rules",
            "pg_ident_file_mappings" => "pg_ident_file_mappings",
            "pg_replication_origin_status" => "pg_show_replication_origin_status",
            "pg_shmem_allocations" => "pg_get_shmem_allocations",
            _ => return true,
        };
        functions_named(function).iter().all(|function| self.may_call(role, function))
    }

    /// A relation's list, if it has one: of the system's GRANT's, or the one that PostgreSQL's initial contents give it.
    #[must_use]
    pub fn relation_acl<'a>(&'a self, relation: &'a Relation) -> Option<&'a Acl> {
        if relation.oid.0 >= well_known::FIRST_NORMAL {
            return relation.acl.as_ref();
        }
        let granted = self.acl(relation.oid, kept::RELATION).map(|list| &**list);
        granted.or_else(|| initial::acl(relation))
    }

    /// The same of a column.
    #[must_use]
    pub fn column_acl(&self, relation: &Relation, number: u32) -> Option<&Acl> {
        let granted = self.acl(relation.oid, number).map(|list| &**list);
        let is_system = relation.oid.0 < well_known::FIRST_NORMAL;
        granted.or_else(|| initial::column_acl(relation.oid, number).filter(|_| is_system))
    }

    /// The privileges that `role` holds on a column by the column's own list.
    #[must_use]
    pub fn column_privileges(&self, role: Oid, relation: &Relation, number: i16) -> Privileges {
        let Ok(number) = u32::try_from(number) else { return Privileges::default() };
        let Some(list) = self.column_acl(relation, number) else {
            return Privileges::default();
        };
        self.privileges(role, Grantable::Column, relation.owner, Some(list))
    }

    /// Whether `role` may do this with a column, by the column's list or by its table's.
    #[must_use]
    pub fn may_on_column(
        &self,
        role: Oid,
        relation: &Relation,
        number: i16,
        wanted: Privileges,
    ) -> bool {
        self.may_on_relation(role, relation, wanted)
            || self.column_privileges(role, relation, number).contains(wanted)
    }

    /// Whether `role` may do this with any column.
    #[must_use]
    pub fn may_on_any_column(&self, role: Oid, relation: &Relation, wanted: Privileges) -> bool {
        self.may_on_relation(role, relation, wanted)
            || (1..=relation.columns.len()).any(|number| {
                !relation.columns[number - 1].dropped
                    && self.column_privileges(role, relation, number as i16).contains(wanted)
            })
    }

    /// Whether `role` may do what a statement does with a relation and the columns that it names (`ExecCheckRTEPerms`).
    /// `columns`: numbers with what is done with each, 0 for the whole row.
    #[must_use]
    pub fn may_on_columns(
        &self,
        role: Oid,
        relation: &Relation,
        wanted: Privileges,
        columns: &[(i16, Privileges)],
    ) -> bool {
        let lacking = self.lacking(role, relation, wanted);
        if lacking == Privileges::default() {
            return true;
        }
        let by_column = Privileges::SELECT.union(Privileges::INSERT).union(Privileges::UPDATE);
        if !by_column.contains(lacking) {
            return false;
        }
        [Privileges::SELECT, Privileges::INSERT, Privileges::UPDATE]
            .into_iter()
            .filter(|one| lacking.contains(*one))
            .all(|one| {
                let named: Vec<i16> = columns
                    .iter()
                    .filter(|column| column.1.contains(one))
                    .map(|column| column.0)
                    .collect();
                if named.is_empty() {
                    return self.may_on_any_column(role, relation, one);
                }
                named.iter().all(|&number| match number {
                    0 => (1..=relation.columns.len()).all(|number| {
                        relation.columns[number - 1].dropped
                            || self.column_privileges(role, relation, number as i16).contains(one)
                    }),
                    _ => self.column_privileges(role, relation, number).contains(one),
                })
            })
    }

    /// Whether `role` may do all of that with a schema.
    #[must_use]
    pub fn may_on_schema(&self, role: Oid, schema: &Schema, wanted: Privileges) -> bool {
        let held = self.privileges(role, Grantable::Schema, schema.owner, schema.acl.as_ref());
        held.contains(wanted)
            || wanted == Privileges::USAGE
                && (self.shared().has_privileges_of(role, READ_ALL_DATA)
                    || self.shared().has_privileges_of(role, WRITE_ALL_DATA))
    }

    /// Whether `role` may make things in a schema; the session's temporary ones are for who may make those.
    #[must_use]
    pub fn may_create_in(&self, role: Oid, schema: &Schema) -> bool {
        if !schema.is_temporary() {
            return self.may_on_schema(role, schema, Privileges::CREATE);
        }
        let here = self.shared().database_by_oid(self.database_oid());
        here.is_none_or(|database| self.may_on_database(role, database, Privileges::TEMPORARY))
    }

    /// Whether `role` may do all of that with a database.
    #[must_use]
    pub fn may_on_database(&self, role: Oid, database: &Database, wanted: Privileges) -> bool {
        self.privileges(role, Grantable::Database, database.owner, database.acl.as_ref())
            .contains(wanted)
    }

    /// Whether `role` may call a function.
    #[must_use]
    pub fn may_call(&self, role: Oid, function: &ProcedureOf<'_>) -> bool {
        let acl = self.function_acl(function);
        acl.is_none_or(|acl| {
            self.privileges(role, Grantable::Function, self.function_owner(function), Some(&acl))
                .contains(Privileges::EXECUTE)
        })
    }

    /// A function's list, if it has one: GRANT's, or the one that PostgreSQL's initial contents give it.
    #[must_use]
    pub fn function_acl(&self, function: &ProcedureOf<'_>) -> Option<Acl> {
        if let Some(acl) = self.acl(Oid(function.oid), kept::FUNCTION) {
            return Some(Acl::clone(acl));
        }
        self.initial_function_acl(function)
    }

    /// The list that PostgreSQL's initial contents, or the script of its extension, give a function.
    #[must_use]
    pub fn initial_function_acl(&self, function: &ProcedureOf<'_>) -> Option<Acl> {
        let text = function.acl?;
        let owner = self.function_owner(function);
        let inner = text.trim_start_matches('{').trim_end_matches('}');
        let items = inner.split(',').filter_map(|item| {
            let role = self.shared().role(item.split('=').next()?);
            let (privileges, grant_options) = (Privileges::EXECUTE, Privileges::default());
            // The first superuser may be called otherwise.
            let known = role.filter(|role| role.oid != well_known::SUPERUSER);
            let grantee = known.map_or(owner, |role| role.oid);
            Some(AclItem { grantee, grantor: owner, privileges, grant_options })
        });
        Some(items.collect())
    }
}

/// The role `pg_read_all_data`.
pub const READ_ALL_DATA: Oid = Oid(6181);
/// The role `pg_write_all_data`.
pub const WRITE_ALL_DATA: Oid = Oid(6182);
