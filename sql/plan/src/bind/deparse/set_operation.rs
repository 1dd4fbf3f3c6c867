//! VALUES, and UNION and its kin, as `pg_get_viewdef` prints them (`get_values_def`, `get_setop_query` of `ruleutils.c`).

use super::Layout;
use super::simple::Parent;
use super::view::{Headings, Writer, has_clauses};
use crate::bind::expression::Place;
use crate::bind::query::Outside;
use crate::bind::type_name::oid;
use crate::bind::typed::Expr;
use crate::bind::with::CteScope;
use crate::error::Result;
use crate::parse::ast::{self, Body, Ident};
use crate::plan::logical::{SetKind, SortKey};
use crate::types::Oid;
use std::sync::Arc;

/// What VALUES are called in FROM.
pub(super) const VALUES: &str = "*VALUES*";

/// The SELECT from VALUES that a query of VALUES is whose columns have been given names (`get_simple_values_rte`); none
/// where they have their own.
pub(super) fn selected_values(
    query: &ast::Query,
    rows: &[Vec<ast::Expr>],
    names: &[Ident],
) -> Option<ast::Query> {
    let width = rows.first().map_or(0, Vec::len);
    let own: Vec<Ident> = (1..=width).map(|at| format!("column{at}").into()).collect();
    if names == own {
        return None;
    }
    let (at, name): (u32, Ident) = (query.at, VALUES.into());
    let target = |column: &Ident| {
        let kind = ast::ExprKind::Column(vec![name.clone(), column.clone()]);
        ast::Target { expr: ast::Expr { at, kind }, alias: None }
    };
    let select = ast::Select {
        targets: own.iter().map(target).collect(),
        from: vec![ast::FromItem::Subquery {
            lateral: false,
            query: Arc::new(ast::Query::plain(query.body.clone(), at)),
            alias: Some(ast::Alias { name: name.clone(), columns: Vec::new() }),
            at,
        }],
        ..ast::Select::empty()
    };
    Some(ast::Query { body: Body::Select(Box::new(select)), ..query.clone() })
}

impl Writer<'_, '_, '_> {
    pub(super) fn values(
        &self,
        rows: &[Vec<ast::Expr>],
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let scope = outside.inner();
        let place = Place::plain(&scope, Some(ctes), "VALUES");
        out.push_str("VALUES ");
        let bound: Vec<Vec<Expr>> = rows
            .iter()
            .map(|row| row.iter().map(|expr| self.binder.expression(expr, &place)).collect())
            .collect::<Result<_>>()?;
        let column = |at: usize| {
            bound.iter().filter_map(|row| Some((row.get(at)?.ty().oid, 0))).collect::<Vec<_>>()
        };
        let types: Vec<Option<Oid>> = (0..bound.first().map_or(0, Vec::len))
            .map(|at| self.binder.common_type(&column(at), Some("VALUES")))
            .collect::<Result<_>>()?;
        for (at, row) in bound.into_iter().enumerate() {
            out.push_str(if at > 0 { ", (" } else { "(" });
            for (at, value) in row.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                // A literal without a type is read as that of its column; how other values become that is not shown.
                let value = match types[at] {
                    Some(ty) if value.ty().oid.0 == oid::UNKNOWN => {
                        self.binder.argument(value, ty, 0)?
                    }
                    _ => self.binder.decided(value)?,
                };
                self.print(&place, |printer| match types[at] {
                    Some(ty) if ty != value.ty().oid => printer.operand(&value, Parent::Cast, out),
                    _ => printer.column(&value, out),
                })?;
            }
            out.push(')');
        }
        Ok(())
    }

    pub(super) fn set_operation(
        &self,
        query: &ast::Query,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        headings: Headings<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let Body::SetOperation { kind, all, left, right, .. } = &query.body else {
            return self.query(query, outside, Some(ctes), headings, out);
        };
        // The names that nobody gave the columns are the left side's.
        let of_right = match headings {
            Headings::Given(names) | Headings::Behind(names) => Headings::Behind(names),
            Headings::Own | Headings::Unused => Headings::Unused,
        };
        let side = |query: &ast::Query, headings: Headings<'_>, out: &mut Layout| -> Result<()> {
            if nested(query).is_some() {
                return self.set_operation(query, outside, ctes, headings, out);
            }
            let other = if std::ptr::eq(query, &**left) { right } else { left };
            let untyped = self.binder.types_in_side(query, other, outside, ctes)?;
            self.untyped.replace(untyped);
            let enclosed = has_clauses(query);
            if enclosed {
                out.push('(');
            }
            self.query(query, outside, Some(ctes), headings, out)?;
            if enclosed {
                out.push(')');
            }
            Ok(())
        };
        if nested(left).is_some_and(|inner| inner != (*kind, *all)) {
            out.push('(');
            out.keyword("", Layout::STANDARD, 0, 0);
            side(left, headings, out)?;
            out.keyword(") ", -Layout::STANDARD, 0, 0);
        } else {
            side(left, headings, out)?;
            out.keyword("", 0, 0, 0);
        }
        out.push_str(match kind {
            SetKind::Union => "UNION ",
            SetKind::Intersect => "INTERSECT ",
            SetKind::Except => "EXCEPT ",
        });
        if *all {
            out.push_str("ALL ");
        }
        if nested(right).is_some() {
            out.push('(');
            out.keyword("", Layout::STANDARD, 0, 0);
            side(right, of_right, out)?;
            out.set_level(out.level() - Layout::STANDARD);
            out.keyword(")", 0, 0, 0);
        } else {
            out.keyword("", 0, 0, 0);
            side(right, of_right, out)?;
        }
        Ok(())
    }

    /// ORDER BY of what has no columns of its own, by number; LIMIT.
    pub(super) fn numbered(
        &self,
        query: &ast::Query,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        if !query.order_by.is_empty() {
            let bound = self.binder.query(query, outside, ctes.parent, true)?;
            for (at, key) in query.order_by.iter().enumerate() {
                match at {
                    0 => out.keyword(" ORDER BY ", -Layout::STANDARD, Layout::STANDARD, 1),
                    _ => out.push_str(", "),
                }
                let key: SortKey = self.binder.output_key(key, &bound.output)?;
                if let Expr::Column { column, .. } = key.expr {
                    out.push_str(&(column + 1).to_string());
                }
                out.push_str(super::direction(&key));
            }
        }
        self.limits(query, outside, ctes, out)
    }
}

/// The set operation that a side of another one is.
fn nested(query: &ast::Query) -> Option<(SetKind, bool)> {
    match &query.body {
        Body::SetOperation { kind, all, .. } if !has_clauses(query) => Some((*kind, *all)),
        _ => None,
    }
}
