//! The catalog: what there is, as one immutable snapshot behind an `Arc`.
//!
//! Its rows are ordinary records in trees of their own, written by DDL through the same write set as data. The
//! snapshot is rebuilt by difference when such a transaction commits; a transaction that has done DDL sees its own.
//! What PostgreSQL has built in (`builtin`) is shared by all databases and never changes.

pub mod builtin;
pub mod relation;

pub use relation::{
    Action, Column, Constraint, ConstraintKind, ForeignKey, Index, IndexColumn, MatchType,
    Relation, RelationKind,
};
