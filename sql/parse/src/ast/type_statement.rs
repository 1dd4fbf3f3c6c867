//! Types as written: domains, enums, composite types.

use super::ddl::{ColumnConstraint, ColumnConstraintKind};
use super::expr::Expr;
use super::{Ident, ObjectName, TypeName};

/// CREATE TYPE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateType {
    /// Its name.
    pub name: ObjectName,
    /// What it is.
    pub definition: TypeDefinition,
}

/// What a new type is.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeDefinition {
    /// AS ENUM, with its labels.
    Enum(Vec<Ident>),
    /// AS (...), with its attributes.
    Composite(Vec<AttributeElement>),
}

/// An attribute of a composite type.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeElement {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeName,
    /// COLLATE.
    pub collation: Option<ObjectName>,
}

/// CREATE DOMAIN.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateDomain {
    /// Its name.
    pub name: ObjectName,
    /// What it is over.
    pub ty: TypeName,
    /// COLLATE.
    pub collation: Option<ObjectName>,
    /// DEFAULT, NOT NULL, CHECK.
    pub constraints: Vec<ColumnConstraint>,
}

/// ALTER DOMAIN.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterDomain {
    /// Its name.
    pub name: ObjectName,
    /// What is changed.
    pub change: DomainChange,
}

/// A change of a domain.
#[derive(Clone, Debug, PartialEq)]
pub enum DomainChange {
    /// SET DEFAULT; none is DROP DEFAULT.
    SetDefault(Option<Expr>),
    /// SET or DROP NOT NULL.
    SetNotNull(bool),
    /// ADD.
    AddConstraint {
        /// Its name.
        name: Option<Ident>,
        /// What it says.
        kind: ColumnConstraintKind,
        /// False is NOT VALID.
        valid: bool,
    },
    /// DROP CONSTRAINT.
    DropConstraint {
        /// Its name.
        name: Ident,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// VALIDATE CONSTRAINT.
    ValidateConstraint(Ident),
}

/// ALTER TYPE of an enum.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterEnum {
    /// Its name.
    pub name: ObjectName,
    /// What is changed.
    pub change: EnumChange,
}

/// A change of an enum's labels.
#[derive(Clone, Debug, PartialEq)]
pub enum EnumChange {
    /// ADD VALUE.
    Add {
        /// The new label.
        label: Ident,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// AFTER (or else BEFORE) this one; none: behind all.
        neighbour: Option<(bool, Ident)>,
    },
    /// RENAME VALUE.
    Rename {
        /// The label.
        from: Ident,
        /// What it becomes.
        to: Ident,
    },
}

/// ALTER TYPE of a composite type.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterComposite {
    /// Its name.
    pub name: ObjectName,
    /// What is changed, in order.
    pub changes: Vec<AttributeChange>,
}

/// A change of a composite type's attributes.
#[derive(Clone, Debug, PartialEq)]
pub enum AttributeChange {
    /// ADD ATTRIBUTE.
    Add(AttributeElement),
    /// DROP ATTRIBUTE.
    Drop {
        /// Its name.
        name: Ident,
        /// IF EXISTS.
        if_exists: bool,
        /// CASCADE.
        cascade: bool,
    },
    /// ALTER ATTRIBUTE ... TYPE.
    Alter(AttributeElement),
}
