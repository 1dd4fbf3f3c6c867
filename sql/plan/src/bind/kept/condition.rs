//! Conditions of triggers as they are kept: trees over two rows of the trigger's table, `old` and `new`.
//!
//! A column is stored as the row that it is of and its number there, so that columns may come, go and be renamed beside it
//! (PostgreSQL's variables of `PRS2_OLD_VARNO` and `PRS2_NEW_VARNO`). A plan takes the columns that a condition reads as
//! parameters: who fires the trigger has both rows at hand, and nothing is read.

use super::{Tree, code, opened};
use crate::bind::deparse::over_old_and_new;
use crate::bind::logical::{Node, Output, Query};
use crate::bind::trigger::take_parameters;
use crate::bind::{Binder, Bound, BoundStatement, Environment};
use crate::catalog::definition::{Edges, Expression};
use crate::catalog::{CatalogSnapshot, Relation};
use crate::error::Result;
use crate::parse::Deep;
use crate::parse::depth::{fitting, within};
use crate::types::{CallContext, Oid, SqlType};
use std::sync::Arc;

/// The condition of this tree over the rows `old` and `new` of a relation, as the catalog keeps it.
///
/// # Errors
/// 54001 for one that is too high, 0A000 for what no condition has.
pub fn store_condition(
    catalog: &CatalogSnapshot,
    relation: &Relation,
    tree: &Tree,
    edges: Edges,
) -> Result<Expression> {
    Ok(Expression::new(code::write_over_both(catalog, relation, tree)?, edges))
}

fn open(
    catalog: &CatalogSnapshot,
    relation: &Relation,
    condition: &Expression,
) -> Result<Arc<Deep<Tree>>> {
    opened(condition, || code::read_over_both(catalog, relation, condition.tree()))
}

/// A condition as it is shown: types as this path finds them, or qualified without one; with the fewest parentheses or with
/// all.
///
/// # Errors
/// XX001 for bytes that are none; 54001 where it is too high for what is being done.
pub fn condition_text(
    catalog: &CatalogSnapshot,
    how: (Option<&[Oid]>, bool),
    context: &CallContext<'_>,
    relation: &Relation,
    condition: &Expression,
) -> Result<String> {
    fitting(0, || {
        let tree = open(catalog, relation, condition)?;
        over_old_and_new(catalog, how, context, relation, tree.shown())
    })
}

/// Whether a condition has a constant that is not NULL of a type of which `is` says so.
///
/// # Errors
/// As [`condition_text`].
pub fn condition_has_constant(
    catalog: &CatalogSnapshot,
    relation: &Relation,
    condition: &Expression,
    is: &dyn Fn(SqlType) -> bool,
) -> Result<bool> {
    Ok(open(catalog, relation, condition)?.has_constant(is))
}

/// A condition now that a composite type has lost the attribute of this number: those behind it have moved up.
///
/// # Errors
/// As [`condition_text`] and [`store_condition`].
pub fn condition_without_field(
    catalog: &CatalogSnapshot,
    relation: &Relation,
    condition: &Expression,
    (ty, gone): (Oid, i16),
) -> Result<Expression> {
    let tree = open(catalog, relation, condition)?.closed(catalog, (ty, gone));
    let moved = code::write_over_both(catalog, relation, &tree)?;
    Ok(condition.without_attribute(moved, ty, gone))
}

/// The columns that are the parameters of a condition: of which row, `old` or `new`, and the column by index.
///
/// # Errors
/// As [`condition_text`].
pub fn columns_of_condition(
    catalog: &CatalogSnapshot,
    relation: &Relation,
    condition: &Expression,
) -> Result<Vec<(usize, usize)>> {
    let tree = open(catalog, relation, condition)?;
    within(tree.height(), || Ok(take_parameters(relation, &mut tree.bound.clone())))
}

/// A condition as a query of its value alone, over its columns as parameters.
///
/// # Errors
/// As [`condition_text`], and those of the defaults of functions that it calls.
pub fn bind_condition(
    environment: Environment<'_>,
    relation: &Relation,
    condition: &Expression,
) -> Result<Bound> {
    let tree = open(environment.catalog, relation, condition)?;
    let mut expr = tree.bound.clone();
    let binder = Binder::new(environment, "", &[]);
    // What comes in while it is opened may name them once more, or not at all.
    let read = take_parameters(relation, &mut expr);
    binder.open_alone(&mut expr)?;
    let types: Vec<SqlType> = read.iter().map(|(_, column)| relation.columns[*column].ty).collect();
    *binder.parameters.borrow_mut() = types;
    let output = vec![Output { name: "value".into(), ty: expr.ty(), origin: None }];
    let root = Node::Project { input: Box::new(Node::Unit), columns: vec![expr] };
    binder.finish(BoundStatement::Query(Query::new(root, output)))
}
