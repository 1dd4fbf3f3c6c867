//! Expressions over one row, which has no name: of a relation's columns, or VALUE of a domain's condition.

use super::{Names, Printer, expression};
use crate::bind::typed::Expr;
use crate::bind::{row_at, system_column_at};
use crate::catalog::quote::identifier;
use crate::catalog::system_column::system_column;
use crate::catalog::{CatalogSnapshot, Relation};
use crate::error::{Result, SqlError};
use crate::types::{CallContext, Oid};

/// An expression over the columns of a relation, or of none, as PostgreSQL prints it: types as this path finds them, or
/// qualified without one; with the fewest parentheses or with all.
///
/// # Errors
/// 0A000 for what cannot stand in such an expression.
pub fn over_row(
    catalog: &CatalogSnapshot,
    (path, pretty): (Option<&[Oid]>, bool),
    context: &CallContext<'_>,
    relation: Option<&Relation>,
    expr: &Expr,
) -> Result<String> {
    // VALUE is the column of a relation that is none.
    let names: &dyn Names = match relation {
        Some(Relation { oid: Oid(0), .. }) => &Value,
        _ => &Columns(relation),
    };
    expression(&Printer { catalog, path, context, names, pretty }, expr)
}

/// The columns of one relation, which need no qualifier.
struct Columns<'r>(Option<&'r Relation>);

impl Names for Columns<'_> {
    fn column(&self, level: u16, column: u32) -> Result<String> {
        let columns = self.0.map_or(&[][..], |relation| &relation.columns);
        let mut live = columns.iter().filter(|column| !column.dropped);
        match live.nth(column as usize) {
            Some(found) if level == 0 => Ok(identifier(&found.name)),
            None if level == 0
                && let Some(relation) = self.0
                && let Some(number) = system_column_at(relation, column) =>
            {
                Ok(system_column(number).name.to_owned())
            }
            _ => Err(SqlError::unsupported("a column of another query in an expression is")),
        }
    }

    fn item(&self, expr: &Expr) -> Option<String> {
        self.0
            .filter(|relation| row_at(relation, expr) == Some(0))
            .map(|relation| relation.name.to_string())
    }
}

/// VALUE of a domain's condition.
struct Value;

impl Names for Value {
    fn column(&self, _: u16, _: u32) -> Result<String> {
        Ok("VALUE".to_owned())
    }

    fn is_value(&self) -> bool {
        true
    }
}
