//! Names and types resolved: a statement's syntax becomes a typed tree, by PostgreSQL's own rules for names, unknown
//! literals, overloads and implicit casts (manual, chapter 10), driven by the catalog's data.

pub mod expr;

pub use expr::{AggregateCall, Expr, Literal, Quantifier, SubqueryKind};
