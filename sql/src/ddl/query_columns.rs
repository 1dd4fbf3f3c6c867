//! The columns of a relation that a query makes: of CREATE VIEW, CREATE TABLE AS and their kin.
//!
//! They have the names and types of what the query returns, the first of them under the names that the statement gives.
//! Of several faults PostgreSQL tells those of the list before those of one column (`MergeAttributes`, then
//! `CheckAttributeNamesTypes`): here is what is asked of the list. What a column may be called and may hold depends on the
//! kind of relation, and is asked by whoever makes it.

use super::create_table::{columns_max, specified_twice};
use crate::catalog::Column;
use crate::catalog::builtin;
use crate::error::Result;
use crate::parse::ast::Ident;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// The columns for `output`, the first ones under these `names`.
///
/// # Errors
/// 42701, 54011.
pub(super) fn query_columns(
    output: &[(Arc<str>, SqlType)],
    names: &[Ident],
) -> Result<Vec<Column>> {
    columns_max(output.len())?;
    let called =
        |(at, (own, _)): (usize, &(Arc<str>, SqlType))| Arc::clone(names.get(at).unwrap_or(own));
    let names: Vec<Ident> = output.iter().enumerate().map(called).collect();
    let twice = names.iter().enumerate().find(|(at, name)| names[at + 1..].contains(name));
    if let Some((_, name)) = twice {
        return Err(specified_twice(name));
    }
    let columns = names
        .into_iter()
        .zip(output)
        .map(|(name, (_, ty))| Column::plain(name, *ty, Oid(builtin::collation_of(ty.oid.0))));
    Ok(columns.collect())
}
