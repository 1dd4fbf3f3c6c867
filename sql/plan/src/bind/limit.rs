//! LIMIT and OFFSET: counts that are computed once, before the first row; WITH TIES.

use crate::bind::Binder;
use crate::bind::coerce::Context;
use crate::bind::expression::Place;
use crate::bind::levels::columns_of_expr;
use crate::bind::logical::{Node, SortKey};
use crate::bind::query::Outside;
use crate::bind::scope::Scope;
use crate::bind::tree::{QueryTree, as_tree};
use crate::bind::type_name::oid;
use crate::bind::typed::Expr;
use crate::bind::with::CteScope;
use crate::error::{Result, SqlError};
use crate::parse::ast;
use crate::sqlstate::SqlState;
use crate::types::SqlType;

impl Binder<'_> {
    /// LIMIT and OFFSET, which may name what an outer query has, but not what is in `scope` itself.
    pub(super) fn limit(
        &self,
        node: Node,
        query: &ast::Query,
        (outside, scope): (Outside<'_>, &Scope<'_>),
        ctes: &CteScope<'_>,
        mut tree: Option<&mut QueryTree>,
    ) -> Result<Node> {
        if query.limit.is_none() && query.offset.is_none() {
            return Ok(node);
        }
        let mut value = |expr: &ast::Expr, clause: &'static str| -> Result<Expr> {
            let at = self.position(expr.start());
            let bound = self.expression(expr, &Place::plain(scope, Some(ctes), clause))?;
            if let Some(tree) = &mut tree {
                let written = if clause == "LIMIT" { &mut tree.limit } else { &mut tree.offset };
                *written = Some(as_tree(&bound));
                tree.with_ties = query.with_ties;
            }
            let mut bound = self.limit_value(bound, clause, at)?;
            if names_own_columns(&mut bound) {
                // It stands where the name is that means nothing outside.
                let outer = outside.inner();
                let unknown = self.expression(expr, &Place::plain(&outer, Some(ctes), clause));
                let place = unknown.err().and_then(|error| error.fields().position);
                return Err(SqlError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    format!("argument of {clause} must not contain variables"),
                )
                .at(place.unwrap_or(at)));
            }
            Ok(bound)
        };
        let limit = query.limit.as_ref().map(|expr| value(expr, "LIMIT")).transpose()?;
        let offset = query.offset.as_ref().map(|expr| value(expr, "OFFSET")).transpose()?;
        let with_ties = if query.with_ties {
            let null = |limit: &ast::Expr| matches!(limit.kind, ast::ExprKind::Null);
            if query.limit.as_ref().is_some_and(null) {
                return Err(SqlError::new(
                    SqlState::INVALID_ROW_COUNT_IN_LIMIT_CLAUSE,
                    "row count cannot be null in FETCH FIRST ... WITH TIES clause",
                ));
            }
            let message = "WITH TIES cannot be specified without ORDER BY clause";
            let keys = tied(&node);
            Some(keys.ok_or_else(|| SqlError::new(SqlState::SYNTAX_ERROR, message))?)
        } else {
            None
        };
        Ok(Node::Limit { input: Box::new(node), limit, offset, with_ties })
    }

    /// An int8 for LIMIT, OFFSET and frames.
    pub(super) fn limit_value(&self, value: Expr, clause: &str, at: u32) -> Result<Expr> {
        let ty = SqlType::plain(oid::INT8);
        let source = value.ty().oid;
        if !self.can_coerce(source, ty.oid, Context::Assignment) {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "argument of {clause} must be type bigint, not type {}",
                    self.type_text(source)
                ),
            )
            .at(at));
        }
        self.cast(value, ty, Context::Assignment, at)
    }
}

/// What rows tie by: what they are sorted by.
pub(super) fn tied(node: &Node) -> Option<Vec<SortKey>> {
    match node {
        Node::LockRows { input, .. } => tied(input),
        Node::Sort { keys, .. } => Some(keys.clone()),
        _ => None,
    }
}

/// Whether an expression speaks of columns of the query that it stands in.
fn names_own_columns(expr: &mut Expr) -> bool {
    let mut found = false;
    columns_of_expr(expr, 0, &mut |expr, depth| {
        found |= matches!(expr, Expr::Column { level, .. } if *level == depth);
    });
    found
}
