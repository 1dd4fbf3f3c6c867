//! Types that users made: enums, composite types and domains, rows of `pg_type` and `pg_enum`.
//!
//! The OID of an enum says that it is one (`builtin::is_enum`); the type of arrays over each has the OID that follows
//! from its own, and no object. A label's place is a number, so that values compare without the catalog: between two
//! neighbours there is room for 32 more one after the other.

use crate::builtin::array_of_made;
use crate::definition::Expression;
use crate::object::Version;
use crate::relation::{Column, Properties, Relation, RelationKind, ReplicaIdentity};
use sql_types::{Oid, SqlType};
use std::sync::Arc;

/// The distance of places of labels that were made together.
pub const STEP: i64 = 1 << 32;

/// A type that users made.
#[derive(Clone, Debug, PartialEq)]
pub struct UserType {
    /// Its OID.
    pub oid: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// What it is.
    pub kind: UserTypeKind,
}

/// What a type is.
#[derive(Clone, Debug, PartialEq)]
pub enum UserTypeKind {
    /// An enum: its labels in order.
    Enum(Vec<EnumLabel>),
    /// A composite type: its attributes in order.
    Composite(Vec<Attribute>),
    /// A domain.
    Domain(Domain),
}

/// What a domain says of its base type's values.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    /// The type it is over: it may be a domain too.
    pub base: SqlType,
    /// Its collation's OID; 0 where its base type has none.
    pub collation: Oid,
    /// How many dimensions the array type was written with that it is over.
    pub dimensions: u32,
    /// NOT NULL.
    pub not_null: bool,
    /// DEFAULT, of the type that it is over, or of one below that.
    pub default: Option<Expression>,
    /// Its CHECKs.
    pub checks: Vec<DomainCheck>,
}

/// A CHECK of a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainCheck {
    /// Its `pg_constraint` row.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// The condition over VALUE.
    pub condition: Expression,
    /// Values that are stored have been held against it.
    pub validated: bool,
}

/// A label of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct EnumLabel {
    /// Its `pg_enum` row.
    pub oid: Oid,
    /// Its place.
    pub position: i64,
    /// `enumsortorder`.
    pub sort_order: f64,
    /// The label.
    pub name: Arc<str>,
}

/// An attribute of a composite type.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: SqlType,
    /// How many dimensions the array type was written with.
    pub dimensions: u32,
    /// Its collation's OID; 0 where its type has none.
    pub collation: Oid,
}

impl UserType {
    /// The labels of an enum; none of another type.
    #[must_use]
    pub fn labels(&self) -> &[EnumLabel] {
        match &self.kind {
            UserTypeKind::Enum(labels) => labels,
            UserTypeKind::Composite(_) | UserTypeKind::Domain(_) => &[],
        }
    }

    /// The attributes of a composite type; nothing for another type.
    #[must_use]
    pub fn attributes(&self) -> Option<&[Attribute]> {
        match &self.kind {
            UserTypeKind::Enum(_) | UserTypeKind::Domain(_) => None,
            UserTypeKind::Composite(attributes) => Some(attributes),
        }
    }

    /// A composite type as the relation that it is, too; nothing for another type. Its schema's name and its lock are for
    /// the snapshot to say.
    #[must_use]
    pub fn as_relation(&self) -> Option<Relation> {
        let columns = self.attributes()?.iter().map(|attribute| Column {
            properties: Properties { dimensions: attribute.dimensions, ..Properties::default() },
            ..Column::plain(Arc::clone(&attribute.name), attribute.ty, attribute.collation)
        });
        Some(Relation {
            oid: self.oid,
            schema: (self.schema, Arc::from("")),
            name: Arc::clone(&self.name),
            owner: self.owner,
            kind: RelationKind::Composite,
            columns: columns.collect(),
            indexes: Vec::new(),
            constraints: Vec::new(),
            referenced_by: Vec::new(),
            version: Version::NONE,
            lock: Relation::lock_of(Oid(0), self.oid),
            row_estimate: -1.0,
            options: Vec::new(),
            persistence: 'p',
            row_type: (self.oid, Oid(array_of_made(self.oid.0))),
            acl: None,
            stored_query: None,
            triggers: Vec::new(),
            key_triggers: Vec::new(),
            replica_identity: ReplicaIdentity::default(),
        })
    }

    /// What a domain says; nothing for another type.
    #[must_use]
    pub fn domain(&self) -> Option<&Domain> {
        match &self.kind {
            UserTypeKind::Domain(domain) => Some(domain),
            UserTypeKind::Enum(_) | UserTypeKind::Composite(_) => None,
        }
    }
}
