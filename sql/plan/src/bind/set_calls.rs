//! Set-returning calls of a query block: where they stand, and the nodes below that compute them.
//!
//! A call that is grouped by, or that a window is made of, is computed before the groups or windows are; what is equal to
//! it elsewhere is its value. All other calls are computed for the select list. A call within a call has a node of its own
//! below; calls that stand side by side go on together until the longest ends. PostgreSQL: `split_pathtarget_at_srfs`.

use crate::bind::levels::{any, children, columns_of_expr, parts, same};
use crate::bind::logical::Node;
use crate::bind::scope::column_at;
use crate::bind::target::BoundTarget;
use crate::bind::type_name::oid;
use crate::bind::typed::{CallForm, Expr, Literal};
use crate::catalog::builtin::function;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::SqlType;

/// What to do about a set-returning call where none may stand.
pub(super) const HINT: &str =
    "You might be able to move the set-returning function into a LATERAL FROM item.";

fn is_set_call(expr: &Expr) -> bool {
    match expr {
        Expr::Call { form: CallForm::Routine(routine), .. } => routine.returns_set,
        Expr::Call { function: called, .. } => {
            function(called.0).is_some_and(|found| found.returns_set)
        }
        _ => false,
    }
}

/// Whether a set-returning call stands in an expression.
pub(super) fn returns_set(expr: &Expr) -> bool {
    any(expr, &is_set_call)
}

/// Refuses a function in FROM among whose arguments there is a set-returning one.
///
/// # Errors
/// 0A000.
pub(super) fn demand_top(called: &Expr) -> Result<()> {
    let Expr::Call { arguments, .. } = called else { return Ok(()) };
    match arguments.iter().find_map(last_call) {
        None => Ok(()),
        Some(at) => Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "set-returning functions must appear at top level of FROM",
        )
        .at(at)),
    }
}

/// Where in the text the last set-returning call of an expression stands, those within it aside.
fn last_call(expr: &Expr) -> Option<u32> {
    if let Expr::Call { position, .. } = expr
        && is_set_call(expr)
    {
        return Some(*position);
    }
    let mut found = None;
    parts(expr, &mut |part| found = last_call(part).or(found));
    found
}

/// Refuses set-returning calls below CASE or COALESCE.
///
/// # Errors
/// 0A000.
pub(super) fn refuse<'e>(exprs: impl Iterator<Item = &'e Expr>, construct: &str) -> Result<()> {
    match exprs.filter_map(last_call).last() {
        None => Ok(()),
        Some(at) => Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("set-returning functions are not allowed in {construct}"),
        )
        .hint(HINT)
        .at(at)),
    }
}

/// Whether the arguments of a call hold another.
fn is_nested(expr: &Expr) -> bool {
    let mut found = false;
    parts(expr, &mut |part| found = found || returns_set(part));
    found
}

/// The select list above `node`, whose row has `width` columns.
pub(super) fn project(node: Node, width: usize, targets: &mut [BoundTarget]) -> Node {
    let columns = |targets: &[BoundTarget]| {
        targets.iter().map(|target| target.expr.clone()).collect::<Vec<Expr>>()
    };
    let plain = |expr: &Expr| !returns_set(expr);
    if targets.iter().all(|target| plain(&target.expr)) {
        return Node::Project { input: Box::new(node), columns: columns(targets) };
    }
    let alone = |expr: &Expr| is_set_call(expr) && !is_nested(expr);
    if targets.iter().all(|target| plain(&target.expr) || alone(&target.expr)) {
        return Node::ProjectSet { input: Box::new(node), columns: columns(targets) };
    }
    let exprs = targets.iter_mut().map(|target| &mut target.expr).collect();
    let (node, _) = below(node, width, exprs, Vec::new());
    Node::Project { input: Box::new(node), columns: columns(targets) }
}

/// Puts the set-returning calls of `exprs` below them, the innermost first, one node for each level. The nodes keep the
/// row's columns that are read where they are, and have the calls' values behind. In `others` what is equal to one of the
/// expressions is its value; their own calls stay.
pub(super) fn below(
    mut node: Node,
    width: usize,
    mut exprs: Vec<&mut Expr>,
    mut others: Vec<&mut Expr>,
) -> (Node, usize) {
    let before: Vec<Option<Expr>> =
        exprs.iter().map(|expr| returns_set(expr).then(|| (**expr).clone())).collect();
    let mut levels: Vec<Vec<Expr>> = Vec::new();
    let mut end = width;
    loop {
        let mut calls = Vec::new();
        exprs.iter_mut().for_each(|expr| lift(expr, end, &mut calls));
        if calls.is_empty() {
            break;
        }
        end += calls.len();
        levels.push(calls);
    }
    if levels.is_empty() {
        return (node, width);
    }
    let values: Vec<(&Expr, &Expr)> = before
        .iter()
        .zip(&exprs)
        .filter_map(|(before, after)| Some((before.as_ref()?, &**after)))
        .collect();
    others.iter_mut().for_each(|other| replace(other, &values));
    // What nobody reads any more is passed on as NULL.
    let nothing = Expr::Constant(Literal::Null, SqlType::plain(oid::TEXT));
    let mut row = vec![nothing; width];
    let mut note = |expr: &mut Expr| {
        columns_of_expr(expr, 0, &mut |column, depth| {
            if let Expr::Column { level, column, ty } = column
                && *level == depth
                && let Some(place) = row.get_mut(*column as usize)
            {
                *place = column_at(*column as usize, *ty);
            }
        });
    };
    exprs.into_iter().chain(others).for_each(&mut note);
    levels.iter_mut().flatten().for_each(&mut note);
    for calls in levels {
        let next: Vec<Expr> = calls
            .iter()
            .enumerate()
            .map(|(number, call)| column_at(row.len() + number, call.ty()))
            .collect();
        let columns = row.iter().cloned().chain(calls).collect();
        node = Node::ProjectSet { input: Box::new(node), columns };
        row.extend(next);
    }
    (node, end)
}

/// Takes the calls that hold no others out of an expression; their values are columns from `end` on.
fn lift(expr: &mut Expr, end: usize, calls: &mut Vec<Expr>) {
    if is_set_call(expr) && !is_nested(expr) {
        let known = calls.iter().position(|known| same(known, expr));
        let column = column_at(end + known.unwrap_or(calls.len()), expr.ty());
        let call = std::mem::replace(expr, column);
        if known.is_none() {
            calls.push(call);
        }
        return;
    }
    children(expr, &mut |child| lift(child, end, calls));
}

/// Puts values where the expressions stand that they are of.
fn replace(expr: &mut Expr, values: &[(&Expr, &Expr)]) {
    match values.iter().find(|(wanted, _)| same(wanted, expr)) {
        Some((_, value)) => *expr = (*value).clone(),
        None => children(expr, &mut |child| replace(child, values)),
    }
}
