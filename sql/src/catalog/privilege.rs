//! Who may do what: ownership, and the access control lists where there are any (PostgreSQL 15 manual, section 5.7).
//!
//! A superuser may do everything. An owner, and whoever has the owner's privileges, holds all privileges of what has no
//! list; a list holds exactly what it says.

use crate::catalog::acl::{Acl, AclItem, Privileges};
use crate::catalog::object::{Database, Schema};
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::snapshot::CatalogSnapshot;
use crate::types::Oid;

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
        }
    }

    /// The list that no list stands for (`acldefault`).
    #[must_use]
    pub fn default_acl(self, owner: Oid) -> Acl {
        let none = Privileges::default();
        let mut acl = Acl::new();
        if self == Grantable::Database {
            acl.push(AclItem {
                grantee: Oid(0),
                grantor: owner,
                privileges: Privileges::TEMPORARY.union(Privileges::CONNECT),
                grant_options: none,
            });
        }
        acl.push(AclItem {
            grantee: owner,
            grantor: owner,
            privileges: self.all(),
            grant_options: none,
        });
        acl
    }
}

impl Relation {
    /// What kind of list it has.
    #[must_use]
    pub fn grantable(&self) -> Grantable {
        match self.kind {
            RelationKind::Sequence(_) => Grantable::Sequence,
            RelationKind::Table { .. } | RelationKind::System | RelationKind::View { .. } => {
                Grantable::Table
            }
        }
    }
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
                    || groups.contains(&item.grantee)
                    || (item.grantee == owner && self.owns(role, owner))
            })
            .fold(Privileges::default(), |all, item| all.union(item.privileges))
    }

    /// Whether `role` may do all of that with a relation. Everyone may read the system's.
    #[must_use]
    pub fn may_on_relation(&self, role: Oid, relation: &Relation, wanted: Privileges) -> bool {
        if relation.oid.0 < crate::catalog::object::well_known::FIRST_NORMAL
            && wanted == Privileges::SELECT
        {
            return !matches!(&*relation.name, "pg_authid" | "pg_statistic" | "pg_user_mapping")
                || self.shared().role_by_oid(role).is_some_and(|role| role.superuser);
        }
        self.privileges(role, relation.grantable(), relation.owner, relation.acl.as_ref())
            .contains(wanted)
    }

    /// Whether `role` may do all of that with a schema.
    #[must_use]
    pub fn may_on_schema(&self, role: Oid, schema: &Schema, wanted: Privileges) -> bool {
        self.privileges(role, Grantable::Schema, schema.owner, schema.acl.as_ref()).contains(wanted)
    }

    /// Whether `role` may do all of that with a database.
    #[must_use]
    pub fn may_on_database(&self, role: Oid, database: &Database, wanted: Privileges) -> bool {
        self.privileges(role, Grantable::Database, database.owner, database.acl.as_ref())
            .contains(wanted)
    }
}
