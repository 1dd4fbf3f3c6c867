//! Types that users made: enums and composite types, rows of `pg_type` and `pg_enum`.
//!
//! The OID of an enum says that it is one (`builtin::is_enum`); the type of arrays over each has the OID that follows
//! from its own, and no object. A label's place is a number, so that values compare without the catalog: between two
//! neighbours there is room for 32 more one after the other.

use crate::types::{Oid, SqlType};
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
}

impl UserType {
    /// The labels of an enum; none of another type.
    #[must_use]
    pub fn labels(&self) -> &[EnumLabel] {
        match &self.kind {
            UserTypeKind::Enum(labels) => labels,
            UserTypeKind::Composite(_) => &[],
        }
    }

    /// The attributes of a composite type; nothing for another type.
    #[must_use]
    pub fn attributes(&self) -> Option<&[Attribute]> {
        match &self.kind {
            UserTypeKind::Enum(_) => None,
            UserTypeKind::Composite(attributes) => Some(attributes),
        }
    }
}
