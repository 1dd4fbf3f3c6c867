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
use crate::catalog::system_column::{SYSTEM_COLUMNS, TABLE_OID, system_column};
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
pub(super) fn place_of(relation: &Relation, place: u32) -> (usize, Option<usize>) {
    let (width, place) = (live(relation).count(), place as usize);
    match place.checked_sub(2 * width) {
        Some(row) => (row, None),
        None => (place / width, Some(place % width)),
    }
}

/// Binds the condition of a trigger of this `tgtype`: as it is stored, and as it was written.
///
/// # Errors
/// Those of binding; 42P17 for a row that such a trigger has not.
pub fn condition<'t>(
    environment: Environment<'t>,
    text: impl Into<Positions<'t>>,
    expr: &ast::Expr,
    relation: &Relation,
    kind: i16,
) -> Result<(Expr, Expr)> {
    let text: Positions<'t> = text.into();
    let binder = Binder { is_stored: true, ..Binder::new(environment, &text, &[]) };
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
        refused.get_or_insert((message, *place, generated.then_some(number).flatten()));
    });
    let Some((message, place, generated)) = refused else {
        let binder = Binder { written: true, ..Binder::new(environment, &text, &[]) };
        let place = Place::plain(&scope, None, "trigger WHEN conditions");
        return Ok((bound, binder.expression(expr, &place)?));
    };
    // Where it is named is where it is missed, if it is not there.
    let mut without = scope_of(relation);
    without.items.retain(|item| {
        let name = item.name.as_deref().unwrap_or_default();
        at_row && !message.contains(&name.to_ascii_uppercase())
    });
    let missed = binder.expression(expr, &Place::plain(&without, None, "trigger WHEN conditions"));
    let named = binder.columns.borrow().iter().find(|named| named.1 == place).map(|named| named.2);
    let position = named.or_else(|| missed.err().and_then(|error| error.fields().position));
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
            error.detail(match named {
                Some(_) => format!("Column \"{name}\" is a generated column."),
                None => {
                    "A whole-row reference is used and the table contains generated columns.".into()
                }
            })
        }
        None => error,
    })
}

/// What the condition depends on.
#[must_use]
pub fn edges(catalog: &CatalogSnapshot, relation: &Relation, bound: &Expr) -> Vec<Edge> {
    let mut over_one = bound.clone();
    levels::columns_of_expr(&mut over_one, 0, &mut |column, _| {
        let Expr::Column { column: place, .. } = column else { return };
        let table = SYSTEM_COLUMNS.iter().position(|column| column.number == TABLE_OID);
        let table = || live(relation).count() + table.unwrap_or_default();
        *place = crate::account::narrow(place_of(relation, *place).1.unwrap_or_else(table));
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
    ROWS.get(side_of(relation, expr)?).copied()
}

/// The same by its number among [`ROWS`].
pub(super) fn side_of(relation: &Relation, expr: &Expr) -> Option<usize> {
    match row_at(relation, expr)? {
        0 => Some(0),
        first if first == live(relation).count() => Some(1),
        _ => None,
    }
}

/// Has a condition read its columns as parameters, in the order in which they come up, and know its table. Says which these
/// are: of which of [`ROWS`], and the column by index.
pub(super) fn take_parameters(relation: &Relation, condition: &mut Expr) -> Vec<(usize, usize)> {
    let numbers: Vec<usize> = live(relation).map(|(number, _)| number).collect();
    let mut taken = Vec::new();
    levels::columns_of_expr(condition, 0, &mut |column, _| {
        let Expr::Column { column: place, ty, .. } = column else { return };
        let (row, Some(at)) = place_of(relation, *place) else {
            *column = Expr::Constant(Literal::Oid(relation.oid.0), *ty);
            return;
        };
        let one = (row, numbers[at]);
        let known = taken.iter().position(|known| *known == one);
        let number = known.unwrap_or_else(|| {
            taken.push(one);
            taken.len() - 1
        });
        *column = Expr::Parameter(crate::account::narrow(number), *ty);
    });
    taken
}
