//! Subqueries in expressions: scalar, ARRAY(...), and those that a value is compared with (`transformSubLink`).

use crate::bind::expression::{BOOL, Place};
use crate::bind::from::own_ctes;
use crate::bind::logical::{Node, Output, Query};
use crate::bind::query::Outside;
use crate::bind::scope::column_at;
use crate::bind::type_name::oid;
use crate::bind::typed::{Expr, Quantifier, SubqueryKind};
use crate::bind::with::Around;
use crate::bind::{Binder, levels};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind};
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use std::cmp::Ordering;
use std::sync::Arc;

/// The name of a query whose row is compared within another one.
const COMPARED: &str = "*SELECT*";

impl Binder<'_> {
    /// A subquery in an expression: this place's row is one level out.
    pub(super) fn subquery(
        &self,
        query: &Arc<ast::Query>,
        place: &Place<'_>,
    ) -> Result<Arc<Query>> {
        let bind = || self.query(query, Outside::of(place), place.ctes, true);
        self.within(Around::Subquery, bind).map(Arc::new)
    }

    /// `EXISTS (SELECT ...)`.
    pub(super) fn exists(&self, query: &Arc<ast::Query>, place: &Place<'_>) -> Result<Expr> {
        let query = self.subquery(query, place)?;
        Ok(Expr::Subquery { kind: SubqueryKind::Exists, query, ty: BOOL })
    }

    fn one_column(&self, query: &Query, at: u32) -> Result<SqlType> {
        match query.output.as_slice() {
            [only] => Ok(only.ty),
            _ => Err(SqlError::new(SqlState::SYNTAX_ERROR, "subquery must return only one column")
                .at(at)),
        }
    }

    /// `(SELECT ...)` as a value.
    pub(super) fn scalar_subquery(
        &self,
        query: &Arc<ast::Query>,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let query = self.subquery(query, place)?;
        let ty = self.one_column(&query, at)?;
        Ok(Expr::Subquery { kind: SubqueryKind::Scalar, query, ty })
    }

    /// `ARRAY(SELECT ...)`.
    pub(super) fn array_subquery(
        &self,
        query: &Arc<ast::Query>,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let query = self.subquery(query, place)?;
        let element = self.one_column(&query, at)?;
        let array = self.array_around(element.oid, at)?;
        let ty = SqlType { oid: array, typmod: element.typmod };
        Ok(Expr::Subquery { kind: SubqueryKind::Array, query, ty })
    }

    /// `(a, b) op (SELECT ...)`: the comparison is made over the subquery's only row; without one it is NULL.
    pub(super) fn compare_with_row_of(
        &self,
        fields: &[ast::Expr],
        operator: &ast::Operator,
        query: &Arc<ast::Query>,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let left = self.row_fields(fields, place)?;
        // The query is wrapped in one that compares, a step further from the WITH queries around it.
        let ctes = place.ctes.map(|around| own_ctes(Some(around)));
        let mut query = self.query(query, Outside::of(place), ctes.as_ref(), true)?;
        columns_match(&query, left.len(), at)?;
        let outer = left.into_iter().map(raised);
        let inner =
            query.output.iter().enumerate().map(|(place, column)| column_at(place, column.ty));
        let test = self.compare_rows(operator, outer.collect(), inner.collect(), at)?;
        let tree = query.tree.take();
        let query = Arc::new(Query { tree, ..comparing(query, test) });
        Ok(Expr::Subquery { kind: SubqueryKind::Scalar, query, ty: BOOL })
    }

    /// `left op ANY (SELECT ...)`, `ALL`, and IN.
    pub(super) fn quantified_query(
        &self,
        left: &ast::Expr,
        operator: &ast::Operator,
        all: bool,
        query: &Arc<ast::Query>,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let left = match &left.kind {
            ExprKind::Row { fields, .. } => self.row_fields(fields, place)?,
            _ => vec![self.expression(left, place)?],
        };
        let query = self.subquery(query, place)?;
        columns_match(&query, left.len(), at)?;
        let outer = left.into_iter().map(raised);
        let inner =
            query.output.iter().enumerate().map(|(place, column)| column_at(place, column.ty));
        let (outer, inner): (Vec<Expr>, Vec<Expr>) = (outer.collect(), inner.collect());
        let test = match (outer.as_slice(), inner.as_slice()) {
            ([outer], [inner]) => self.infix(operator, outer.clone(), inner.clone(), at)?,
            _ => self.compare_rows(operator, outer, inner, at)?,
        };
        if test.ty().oid.0 != oid::BOOL {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "operator {} must return type boolean, not type {}",
                    operator.name,
                    self.type_text(test.ty().oid)
                ),
            )
            .at(at));
        }
        let quantifier = if all { Quantifier::All } else { Quantifier::Any };
        let kind = SubqueryKind::Quantified { test: Box::new(test), quantifier };
        Ok(Expr::Subquery { kind, query, ty: BOOL })
    }
}

/// What stands beside the rows of a subquery: one level further in.
fn raised(mut expr: Expr) -> Expr {
    levels::raise(&mut expr, 1);
    expr
}

/// The comparison that a subquery makes with each of its rows, or with its only one.
pub(super) fn test_of(expr: &mut Expr) -> Option<&mut Expr> {
    match expr {
        Expr::Subquery { kind: SubqueryKind::Quantified { test, .. }, .. } => Some(test),
        Expr::Subquery { query, .. } if compared_row(query).is_some() => {
            match &mut Arc::make_mut(query).root {
                Node::Project { columns, .. } => columns.first_mut(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A query that makes this comparison with the only row of another one.
pub(super) fn comparing(query: Query, test: Expr) -> Query {
    let (query, alias) = (Arc::new(query), COMPARED.into());
    let input = Box::new(Node::Derived { query, alias, item: None, view: None });
    let root = Node::Project { input, columns: vec![test] };
    let output = vec![Output { name: "?column?".into(), ty: BOOL, origin: None }];
    Query::new(root, output)
}

/// The comparison that a query makes of the only row of the one within it, which is what was written.
pub fn compared_row(query: &Query) -> Option<&Expr> {
    match &query.root {
        Node::Project { input, columns } => match (&**input, columns.as_slice()) {
            (Node::Derived { alias, item: None, .. }, [test])
                if **alias == *COMPARED && &*query.output[0].name == "?column?" =>
            {
                Some(test)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Refuses a subquery that has not as many columns as what it is compared with.
fn columns_match(query: &Query, wanted: usize, at: u32) -> Result<()> {
    let words = match query.output.len().cmp(&wanted) {
        Ordering::Equal => return Ok(()),
        Ordering::Less => "few",
        Ordering::Greater => "many",
    };
    let message = format!("subquery has too {words} columns");
    Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(at))
}
