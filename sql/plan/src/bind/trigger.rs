//! WHEN of a trigger: a condition over the rows `old` and `new` of its table (`CreateTriggerFiringOn` of `trigger.c`).
//!
//! The live columns of `old` come first, those of `new` behind them, and behind these `tableoid` of either.

use super::edges::edges_of_expression;
use super::expression::Place;
use super::levels;
use super::scope::{Scope, ScopeColumn};
use super::typed::{Expr, Literal};
use super::{Binder, Environment, row_at, table_item};
use crate::catalog::CatalogSnapshot;
use crate::catalog::definition::Edge;
use crate::catalog::relation::Relation;
use crate::catalog::system_column::{TABLE_OID, system_column};
use crate::catalog::trigger;
use crate::error::{Result, SqlError};
use crate::parse::Positions;
use crate::parse::ast::{self, Ident};
use crate::sqlstate::SqlState;
use crate::types::SqlType;

/// The rows that a condition is over, in their order.
const ROWS: [&str; 2] = ["old", "new"];

fn live(relation: &Relation) -> impl Iterator<Item = (usize, &crate::catalog::Column)> {
    relation.columns.iter().enumerate().filter(|(_, column)| !column.dropped)
}

fn scope_of(relation: &Relation) -> Scope<'static> {
    let mut scope = Scope::new(None, 0);
    let width = live(relation).count();
    let table = system_column(TABLE_OID);
    for (row, name) in ROWS.into_iter().enumerate() {
        let name: Ident = name.into();
        let mut item = table_item(relation, Some(&name), row * width, &[]);
        item.columns.push(ScopeColumn {
            name: table.name.into(),
            expr: super::column_at(2 * width + row, SqlType::plain(table.ty.0)),
            origin: Some((relation.oid, TABLE_OID)),
            system: true,
        });
        scope.items.push(item);
    }
    scope
}

/// What a place of the condition's row is: of which of [`ROWS`], and which live column of it, or `tableoid`.
fn place_of(relation: &Relation, place: u32) -> (usize, Option<usize>) {
    let (width, place) = (live(relation).count(), place as usize);
    match place.checked_sub(2 * width) {
        Some(row) => (row, None),
        None => (place / width, Some(place % width)),
    }
}

/// Binds the condition of a trigger of this `tgtype`.
///
/// # Errors
/// Those of binding; 42P17 for a row that such a trigger has not.
pub fn condition<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    expr: &ast::Expr,
    relation: &Relation,
    kind: i16,
) -> Result<Expr> {
    let binder = Binder::new(environment, text, &[]);
    let scope = scope_of(relation);
    let bound = binder.expression(expr, &Place::plain(&scope, None, "trigger WHEN conditions"))?;
    let mut bound = binder.boolean(bound, "WHEN", binder.position(expr.start()))?;
    let mut refused = None;
    let at_row = kind & trigger::ROW != 0;
    levels::columns_of_expr(&mut bound, 0, &mut |column, _| {
        let Expr::Column { column: place, .. } = column else { return };
        let (row, live_column) = place_of(relation, *place);
        let new = row == 1;
        let number = live_column.and_then(|at| live(relation).nth(at)).map(|found| found.0);
        let generated = number.is_some_and(|at| relation.columns[at].generated);
        let message = match () {
            () if !at_row => "statement trigger's WHEN condition cannot reference column values",
            () if !new && kind & trigger::INSERT != 0 => {
                "INSERT trigger's WHEN condition cannot reference OLD values"
            }
            () if new && kind & trigger::DELETE != 0 => {
                "DELETE trigger's WHEN condition cannot reference NEW values"
            }
            () if new && number.is_none() && kind & trigger::BEFORE != 0 => {
                "BEFORE trigger's WHEN condition cannot reference NEW system columns"
            }
            () if new && generated && kind & trigger::BEFORE != 0 => {
                "BEFORE trigger's WHEN condition cannot reference NEW generated columns"
            }
            () => return,
        };
        refused.get_or_insert((message, generated.then_some(number).flatten()));
    });
    let Some((message, generated)) = refused else { return Ok(bound) };
    // Where it is named is where it is missed, if it is not there.
    let mut without = scope_of(relation);
    without.items.retain(|item| {
        let name = item.name.as_deref().unwrap_or_default();
        at_row && !message.contains(&name.to_ascii_uppercase())
    });
    let missed = binder.expression(expr, &Place::plain(&without, None, "trigger WHEN conditions"));
    let position = missed.err().and_then(|error| error.fields().position);
    let state = match message.ends_with("system columns") {
        true => SqlState::FEATURE_NOT_SUPPORTED,
        false => SqlState::INVALID_OBJECT_DEFINITION,
    };
    let error = SqlError::new(state, message);
    let error = match position {
        Some(position) => error.at(position),
        None => error,
    };
    Err(match generated.filter(|_| message.ends_with("generated columns")) {
        Some(at) => {
            let name = &relation.columns[at].name;
            error.detail(format!("Column \"{name}\" is a generated column."))
        }
        None => error,
    })
}

/// Binds the condition as it is kept.
///
/// # Errors
/// Those of binding.
pub fn printed_condition<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    expr: &ast::Expr,
    relation: &Relation,
) -> Result<Expr> {
    let binder = Binder { printed: true, ..Binder::new(environment, text, &[]) };
    let scope = scope_of(relation);
    binder.expression(expr, &Place::plain(&scope, None, "trigger WHEN conditions"))
}

/// What the condition depends on.
#[must_use]
pub fn edges(catalog: &CatalogSnapshot, relation: &Relation, bound: &Expr) -> Vec<Edge> {
    let mut over_one = bound.clone();
    levels::columns_of_expr(&mut over_one, 0, &mut |column, _| {
        let Expr::Column { column: place, ty, .. } = column else { return };
        match place_of(relation, *place).1 {
            Some(live_column) => *place = live_column as u32,
            None => *column = Expr::Constant(Literal::Oid(relation.oid.0), *ty),
        }
    });
    edges_of_expression(catalog, Some(relation), &over_one)
}

/// The row and the name of a column of the condition.
#[must_use]
pub fn column_at(relation: &Relation, column: u32) -> Option<(&'static str, &str)> {
    let (row, live_column) = place_of(relation, column);
    let name = match live_column {
        Some(at) => &live(relation).nth(at)?.1.name,
        None => system_column(TABLE_OID).name,
    };
    Some((ROWS.get(row)?, name))
}

/// The row that an expression is the whole of.
#[must_use]
pub fn row_of(relation: &Relation, expr: &Expr) -> Option<&'static str> {
    match row_at(relation, expr)? {
        0 => Some("old"),
        first if first == live(relation).count() => Some("new"),
        _ => None,
    }
}
