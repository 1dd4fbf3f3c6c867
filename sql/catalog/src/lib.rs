//! The catalog: what there is, as one immutable snapshot behind an `Arc`.
//!
//! Its rows are ordinary records in a tree of their own, written by DDL through the same write set as data. The
//! snapshot is rebuilt by difference when such a transaction commits; a transaction that has done DDL sees its own.
//! What PostgreSQL has built in (`builtin`) is shared by all databases and never changes.
//!
//! - [`object`]: what is stored; [`codec`]: as which bytes
//! - [`store`]: in which records; [`bootstrap`]: those of a new directory
//! - [`current`]: what is committed; [`change`]: what one transaction makes of it; [`effects`]: what its end does
//! - [`snapshot`]: what is read ([`shared`]: what all databases share); `objects`: one database's, and what leads to them (`array_names`: how types of arrays are
//!   called there, [`definition`]: what a view, a default or a CHECK depends on, `dependents`: who depends on an object); [`search_path`] and [`privilege`]: under which names, by whom
//! - [`extension`]: what CREATE EXTENSION adds to a database
//! - [`temporary`]: what only one session sees; `uses`: what a plan was made from
//! - [`sequence`]: values of sequences; [`settings`]: GUCs, the server's and a session's
//! - [`system`]: the relations of `pg_catalog` and `information_schema`; [`built_in_rows`]: what rows they have from the beginning; [`system_column`]: `ctid` and its kin

pub mod acl;
mod array_names;
pub mod attachment;
pub mod bootstrap;
pub mod built_in_domain;
pub mod built_in_rows;
pub mod change;
pub mod codec;
pub mod current;
pub mod definition;
mod dependents;
pub mod effects;
pub mod extension;
pub mod groups;
mod initial_privileges;
mod layout;
pub mod object;
mod objects;
pub mod operator_class;
pub mod parts;
pub mod privilege;
pub mod quote;
pub mod relation;
pub mod relation_counts;
pub mod routine;
pub mod search_path;
pub mod sequence;
pub mod settings;
pub mod shared;
pub mod snapshot;
pub mod statistics;
pub mod store;
pub mod system;
pub mod system_column;
pub mod temporary;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trigger;
pub mod user_type;
mod uses;

pub use change::{CatalogSavepoint, CatalogTransaction};
pub use current::{Catalog, Loaded};
pub use effects::{Effects, PreparedNote};
pub use relation::{
    Column, Constraint, ConstraintKind, ForeignKey, Identity, Index, IndexColumn, IndexExpression,
    Relation, RelationKind, Sequence, StoredQuery,
};
pub use search_path::SearchPath;
pub use snapshot::{CatalogSnapshot, ClusterSnapshot, Named};
pub use sql_types::builtin;
pub use sql_types::tuple::entry::Uniqueness;
pub use sql_types::words::{Action, CheckOption, Deferral, MatchType, OnCommit};
pub use statistics::{ColumnStatistics, TableStatistics};
pub use uses::Uses;
