//! Syntax trees to plans: what a statement says is resolved against a catalog, and how its rows are to be made is chosen. It
//! has never heard of a session, nor of a row.
//!
//! - [`bind`]: names and types; a bound statement is a typed tree that names objects by OID and columns by number
//! - [`plan`]: what becomes of it; the rules that make it cheap, by what ANALYZE has found
//!
//! What lies below has here the names that it has in `sql`.

pub mod bind;
pub mod plan;

use sql_catalog::{self as catalog, settings};
use sql_parse as parse;
use sql_types::{self as types, account, error, sqlstate, tuple};
