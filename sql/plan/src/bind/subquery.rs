//! Subqueries in expressions: scalar, ARRAY(...), and those that a value is compared with (`transformSubLink`).

use crate::bind::expression::{BOOL, Place};
use crate::bind::from::own_ctes;
use crate::bind::query::Outside;
use crate::bind::scope::column_at;
use crate::bind::type_name::oid;
use crate::bind::typed::{Expr, Quantifier, SubqueryKind};
use crate::bind::with::Around;
use crate::bind::{Binder, levels};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind};
use crate::plan::logical::{Node, Output, Query};
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use crate::types::depth::deeper;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

/// The name of a query whose row is compared within another one.
const COMPARED: &str = "*SELECT*";

/// The subqueries of a query that is going to be printed.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// What those in expressions were written as, by where they are.
    written: RefCell<HashMap<usize, Arc<ast::Query>>>,
    /// What they were bound to first, by where they stand in what was written, which stays as long.
    bound: RefCell<HashMap<usize, (Arc<ast::Query>, Query)>>,
}

impl Written {
    /// What a subquery was written as.
    pub(super) fn of(&self, query: &Arc<Query>) -> Option<Arc<ast::Query>> {
        self.written.borrow().get(&(Arc::as_ptr(query) as usize)).cloned()
    }

    fn note(&self, query: &Arc<Query>, written: &Arc<ast::Query>) {
        self.written.borrow_mut().insert(Arc::as_ptr(query) as usize, Arc::clone(written));
    }

    /// Notes that `moved` is what `expr` was, looking at another row: its subqueries are others then.
    pub(super) fn follow(&self, expr: &Expr, moved: &Expr) {
        let (mut before, mut now) = (Vec::new(), Vec::new());
        subqueries_of(expr, &mut before);
        subqueries_of(moved, &mut now);
        for (before, now) in before.into_iter().zip(now) {
            if let Some(written) = self.of(&before) {
                self.note(&now, &written);
            }
        }
    }

    fn bound(&self, written: &Arc<ast::Query>) -> Option<Query> {
        self.bound.borrow().get(&(Arc::as_ptr(written) as usize)).map(|(_, bound)| bound.clone())
    }

    fn keep(&self, written: &Arc<ast::Query>, bound: &Query) {
        let address = Arc::as_ptr(written) as usize;
        self.bound.borrow_mut().insert(address, (Arc::clone(written), bound.clone()));
    }
}

impl Binder<'_> {
    /// A subquery in an expression: this place's row is one level out.
    pub(super) fn subquery(
        &self,
        query: &Arc<ast::Query>,
        place: &Place<'_>,
    ) -> Result<Arc<Query>> {
        let bound = self.once(query, || {
            self.within(Around::Subquery, || {
                self.query(query, Outside::of(place), place.ctes, true)
            })
        })?;
        Ok(self.remembered(bound, query))
    }

    /// What stands beside the rows of a subquery: one level further in.
    fn raised(&self, expr: Expr) -> Expr {
        let mut raised = expr.clone();
        levels::raise(&mut raised, 1);
        if let Some(known) = &self.subqueries {
            known.follow(&expr, &raised);
        }
        raised
    }

    /// Keeps what a subquery was written as, where it is going to be printed.
    fn remembered(&self, query: Query, written: &Arc<ast::Query>) -> Arc<Query> {
        let query = Arc::new(query);
        if let Some(known) = &self.subqueries {
            known.note(&query, written);
        }
        query
    }

    /// Binds a query that stands in another one. Where it is going to be printed that is done once: each query around it is
    /// bound with all that stands in it, to be printed, and then what stands in it is. One that hands aggregates to a query
    /// around it does so each time.
    pub(super) fn once(
        &self,
        written: &Arc<ast::Query>,
        bind: impl FnOnce() -> Result<Query>,
    ) -> Result<Query> {
        let Some(known) = &self.subqueries else { return bind() };
        if let Some(bound) = known.bound(written) {
            return Ok(bound);
        }
        let before = self.handed_out.get();
        let bound = bind()?;
        if self.handed_out.get() == before {
            known.keep(written, &bound);
        }
        Ok(bound)
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
        let written = query;
        // The query is wrapped in one that compares, a step further from the WITH queries around it.
        let ctes = place.ctes.map(|around| own_ctes(Some(around)));
        let query = self.query(query, Outside::of(place), ctes.as_ref(), true)?;
        columns_match(&query, left.len(), at)?;
        let outer = left.into_iter().map(|expr| self.raised(expr));
        let inner =
            query.output.iter().enumerate().map(|(place, column)| column_at(place, column.ty));
        let test = self.compare_rows(operator, outer.collect(), inner.collect(), at)?;
        let (query, alias) = (Arc::new(query), COMPARED.into());
        let input = Box::new(Node::Derived { query, alias, item: None, view: None });
        let root = Node::Project { input, columns: vec![test] };
        let output = vec![Output { name: "?column?".into(), ty: BOOL, origin: None }];
        let query = self.remembered(Query { root, output, ctes: Vec::new() }, written);
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
        let outer = left.into_iter().map(|expr| self.raised(expr));
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

/// The subqueries of an expression, those within them aside.
fn subqueries_of(expr: &Expr, found: &mut Vec<Arc<Query>>) {
    if let Expr::Subquery { kind, query, .. } = expr {
        found.push(Arc::clone(query));
        if let SubqueryKind::Quantified { test, .. } = kind {
            deeper(|| subqueries_of(test, found));
        }
    }
    levels::parts(expr, &mut |part| deeper(|| subqueries_of(part, found)));
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
