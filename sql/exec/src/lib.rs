//! Plans to rows: a plan is finished into a program, which any number of sessions run at once, each on a machine of its own.
//! It has never heard of a session: what a run needs of one is lent to it ([`exec::Host`]).
//!
//! - [`compile`]: a plan with everything that its runs need to know beforehand
//! - [`exec`]: the operators
//! - [`explain`]: a program as EXPLAIN shows it
//!
//! What lies below has here the names that it has in `sql`.

pub mod compile;
pub mod exec;
pub mod explain;

use sql_catalog::{self as catalog, settings};
use sql_parse as parse;
use sql_plan::{bind, plan};
use sql_types::{self as types, account, error, sqlstate, tuple};
