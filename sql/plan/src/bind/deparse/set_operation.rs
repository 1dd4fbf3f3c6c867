//! VALUES, and UNION and its kin, as `pg_get_viewdef` prints them (`get_values_def`, `get_setop_query` of `ruleutils.c`).

use super::Layout;
use super::place::{Around, Frame};
use super::simple::Parent;
use super::view::{Headings, Writer};
use crate::bind::from::columns_item;
use crate::bind::logical::{SetKind, SortKey};
use crate::bind::scope::{ScopeColumn, column_at};
use crate::bind::target::BoundTarget;
use crate::bind::tree::{BodyTree, FromList, FromTree, QueryTree, SelectTree};
use crate::bind::typed::Expr;
use crate::bind::values::VALUES;
use crate::catalog::quote::qualified;
use crate::error::Result;
use crate::parse::ast::Ident;
use crate::types::SqlType;
use std::sync::Arc;

/// The SELECT from VALUES that a query of VALUES is whose columns have been given names (`get_simple_values_rte`); none
/// where they have their own.
pub(super) fn selected_values(query: &QueryTree, names: &[Ident]) -> Option<QueryTree> {
    let BodyTree::Values { types, .. } = &query.body else { return None };
    let own: Vec<Ident> = (1..=types.len()).map(|at| format!("column{at}").into()).collect();
    if names == own {
        return None;
    }
    let columns = || own.iter().cloned().zip(types).enumerate();
    let column = |(at, (name, ty)): (usize, (Ident, &SqlType))| ScopeColumn {
        name,
        expr: column_at(at, *ty),
        origin: None,
        system: false,
    };
    let target = |(at, (name, ty)): (usize, (Ident, &SqlType))| BoundTarget {
        name,
        expr: column_at(at, *ty),
        origin: None,
        at: 0,
    };
    let tree = Arc::new(QueryTree::of(query.body.clone()));
    let item = FromTree::Query { tree, lateral: false, listed: false };
    let key = |key: &SortKey| match key.expr {
        Expr::Column { column, .. } => Some((column as usize, key.clone())),
        _ => None,
    };
    let select = SelectTree {
        targets: columns().map(target).collect(),
        visible: types.len(),
        from: FromList {
            list: vec![(item, false)],
            items: vec![columns_item(Some(VALUES.into()), columns().map(column).collect())],
        },
        order_by: query.order_by.iter().filter_map(key).collect(),
        ..SelectTree::default()
    };
    Some(QueryTree { body: BodyTree::Select(Box::new(select)), ..query.clone() })
}

impl Writer<'_, '_, '_> {
    pub(super) fn values(
        &self,
        rows: &[Vec<Expr>],
        types: &[SqlType],
        around: Around<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let frame = Frame::empty(around);
        out.push_str("VALUES ");
        for (at, row) in rows.iter().enumerate() {
            out.push_str(if at > 0 { ", (" } else { "(" });
            for (at, (value, ty)) in row.iter().zip(types).enumerate() {
                if at > 0 {
                    out.push(',');
                }
                // How values become what their column is of is not shown.
                self.print(&frame, |printer| match ty.oid == value.ty().oid {
                    false => printer.operand(value, Parent::Cast, out),
                    true => printer.column(value, out),
                })?;
            }
            out.push(')');
        }
        Ok(())
    }

    pub(super) fn set_operation(
        &self,
        query: &QueryTree,
        around: Around<'_>,
        headings: Headings<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let BodyTree::SetOperation { kind, all, left, right, .. } = &query.body else {
            return self.query(query, around, headings, out);
        };
        // The names that nobody gave the columns are the left side's.
        let of_right = match headings {
            Headings::Given(names) | Headings::Behind(names) => Headings::Behind(names),
            Headings::Own | Headings::Unused => Headings::Unused,
        };
        let side = |query: &QueryTree, headings: Headings<'_>, out: &mut Layout| -> Result<()> {
            if nested(query).is_some() {
                return self.set_operation(query, around, headings, out);
            }
            let enclosed = query.has_clauses();
            if enclosed {
                out.push('(');
            }
            self.query(query, around, headings, out)?;
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
        query: &QueryTree,
        around: Around<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        for (at, key) in query.order_by.iter().enumerate() {
            match at {
                0 => out.keyword(" ORDER BY ", -Layout::STANDARD, Layout::STANDARD, 1),
                _ => out.push_str(", "),
            }
            if let Expr::Column { column, .. } = key.expr {
                // What is kept is to be read again, which that of VALUES is not.
                out.push_str(&match &query.body {
                    BodyTree::Values { .. } if !self.how.qualified => {
                        qualified(VALUES, &format!("column{}", column + 1))
                    }
                    _ => (column + 1).to_string(),
                });
            }
            out.push_str(super::direction(key));
        }
        self.limits(query, &Frame::empty(around), out)
    }
}

/// The set operation that a side of another one is.
fn nested(query: &QueryTree) -> Option<(SetKind, bool)> {
    match &query.body {
        BodyTree::SetOperation { kind, all, .. } if !query.has_clauses() => Some((*kind, *all)),
        _ => None,
    }
}
