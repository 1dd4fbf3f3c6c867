//! Expressions over one row, which has no name: of a relation's columns, or VALUE of a domain's condition; and over the rows
//! `old` and `new` of a trigger's condition.

use super::{Layout, Names, Printer, expression};
use crate::bind::typed::Expr;
use crate::bind::{row_at, system_column_at, trigger};
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

/// A condition over the rows `old` and `new` of a relation in the same way.
///
/// # Errors
/// 0A000 for what cannot stand in such a condition.
pub fn over_old_and_new(
    catalog: &CatalogSnapshot,
    (path, pretty): (Option<&[Oid]>, bool),
    context: &CallContext<'_>,
    relation: &Relation,
    expr: &Expr,
) -> Result<String> {
    let names = &OldAndNew(relation);
    let mut out = Layout::default();
    out.set_level(Layout::STANDARD);
    Printer { catalog, path, context, names, pretty }.write(expr, &mut out)?;
    Ok(out.text)
}

/// The columns of the rows `old` and `new` of a relation.
struct OldAndNew<'r>(&'r Relation);

impl Names for OldAndNew<'_> {
    fn column(&self, level: u16, column: u32) -> Result<String> {
        match trigger::column_at(self.0, column) {
            Some((row, name)) if level == 0 => Ok(format!("{row}.{}", identifier(name))),
            _ => Err(SqlError::unsupported("a column of another query in an expression is")),
        }
    }

    fn item(&self, expr: &Expr) -> Option<String> {
        trigger::row_of(self.0, expr).map(str::to_owned)
    }
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
