//! COPY FROM: an INSERT of parameters, whose rows a WHERE lets in or not.

use crate::bind::expression::Place;
use crate::bind::logical::{ModifyKind, Node};
use crate::bind::scope::Scope;
use crate::bind::typed::{Expr, conjuncts};
use crate::bind::{Binder, Bound, BoundStatement, Environment, levels, table_item};
use crate::catalog::Relation;
use crate::error::{Result, SqlError};
use crate::parse::{Positions, ast, first_parameter};
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use std::cell::RefCell;

/// The clause of the WHERE, as messages name it.
pub(super) const COPY_WHERE: &str = "COPY FROM WHERE conditions";

/// Binds the INSERT of a COPY FROM, with its parameters' types, and the WHERE with the query text that it stands in.
///
/// # Errors
/// Those of INSERT; of a WHERE that asks for more than the row.
pub fn bind_copy(
    environment: Environment<'_>,
    insert: &ast::Insert,
    types: &[SqlType],
    filter: Option<(&str, &ast::Expr)>,
) -> Result<Bound> {
    let mut binder = Binder::new(environment, "", &[]);
    // With their modifiers: a value is read in its column's length, and is not cut to it once more.
    binder.parameters = RefCell::new(types.to_vec());
    let mut modify = binder.insert(insert, None)?;
    if let Some((text, filter)) = filter {
        // Parameters are the INSERT's own.
        let own = binder.parameters.take();
        binder.positions = Positions::new(text);
        let mut scope = Scope::new(None, 0);
        scope.items.push(table_item(&modify.relation, None, 0, &[]));
        let place = Place::plain(&scope, None, COPY_WHERE);
        let condition = binder.condition(filter, &place, "WHERE")?;
        if !binder.parameters.replace(own).is_empty() {
            let start = filter.start();
            let (number, at) = first_parameter(&text[start as usize..]).unwrap_or_default();
            let message = format!("there is no parameter ${number}");
            return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message)
                .at(binder.position(start + at)));
        }
        refuse_generated(&modify.relation, &condition)?;
        if let ModifyKind::Insert { source, .. } = &mut modify.kind {
            let input = std::mem::replace(source, Box::new(Node::Unit));
            **source = Node::Filter { input, conjuncts: conjuncts(condition) };
        }
    }
    binder.finish(BoundStatement::Modify(modify))
}

/// Generated columns have no value yet when the WHERE is asked.
fn refuse_generated(relation: &Relation, condition: &Expr) -> Result<()> {
    let live: Vec<_> = relation.columns.iter().filter(|column| !column.dropped).collect();
    let mut found = None;
    let mut condition = condition.clone();
    levels::columns_of_expr(&mut condition, 0, &mut |expr, depth| {
        if let Expr::Column { level, column, .. } = expr
            && *level == depth
            && let Some(column) = live.get(*column as usize).filter(|column| column.generated)
        {
            found = found.take().or(Some(&column.name));
        }
    });
    match found {
        None => Ok(()),
        Some(name) => Err(SqlError::new(
            SqlState::INVALID_COLUMN_REFERENCE,
            "generated columns are not supported in COPY FROM WHERE conditions",
        )
        .detail(format!("Column \"{name}\" is a generated column."))),
    }
}
