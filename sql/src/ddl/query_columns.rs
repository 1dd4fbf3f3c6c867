//! The columns of a relation that a query makes: of CREATE VIEW, CREATE TABLE AS and their kin.
//!
//! They have the names and types of what the query returns, the first of them under the names that the statement gives.
//! Of several faults PostgreSQL tells those of the list before those of one column (`MergeAttributes`, then
//! `CheckAttributeNamesTypes`): here is what is asked of the list. What a column may be called and may hold depends on the
//! kind of relation, and is asked by whoever makes it.

use super::create_table::{columns_max, specified_twice};
use crate::catalog::{CatalogSnapshot, Column};
use crate::error::{Result, SqlError};
use crate::parse::ast::Ident;
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// 42P22 for a column of which no collation was derived though its type has one, in the words of the statement.
pub(super) fn demand_collations(
    snapshot: &CatalogSnapshot,
    columns: &[Column],
    mut words: impl FnMut(&Column) -> String,
) -> Result<()> {
    let lacks = |column: &&Column| {
        column.collation == Oid(0) && snapshot.collation_of(column.ty.oid) != Oid(0)
    };
    let Some(column) = columns.iter().find(lacks) else { return Ok(()) };
    Err(SqlError::new(SqlState::INDETERMINATE_COLLATION, words(column))
        .hint("Use the COLLATE clause to set the collation explicitly."))
}

/// The columns for `output`, of these collations, the first ones under these `names`.
///
/// # Errors
/// 42701, 54011.
pub(super) fn query_columns(
    output: &[(Arc<str>, SqlType)],
    collations: &[Oid],
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
    let columns = names.into_iter().zip(output).zip(collations);
    Ok(columns.map(|((name, (_, ty)), collation)| Column::plain(name, *ty, *collation)).collect())
}
