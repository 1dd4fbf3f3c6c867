//! What the expressions of a printed query call what they read (`get_variable`, `resolve_special_varno` of `ruleutils.c`):
//! columns, whole rows, aggregates and windows, by the names of the rows around the place where they stand.

use super::printed::Printed;
use super::view::{Headings, Writer, unwritten};
use super::{Layout, Names};
use crate::bind::grouping::{AGGREGATES, BoundWindow, Collected, GROUPINGS, WINDOWS};
use crate::bind::levels::{columns_of_expr, raise, same};
use crate::bind::logical::Query;
use crate::bind::scope::{ScopeColumn, ScopeItem};
use crate::bind::tree::{FromList, FromTree};
use crate::bind::typed::{AggregateCall, Expr};
use crate::catalog::Relation;
use crate::catalog::quote::{identifier, qualified};
use crate::error::Result;
use crate::parse::ast::Ident;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// The names of a row, and what is around it.
pub(super) struct Frame<'f> {
    /// The items of FROM whose columns it has, side by side, and what they are called.
    pub items: &'f [ScopeItem],
    pub names: &'f [Printed],
    /// Which of them names may be of: those that stand below a join with an alias go by that one's names.
    pub visible: Vec<bool>,
    /// The number that its first column has among those of all items of FROM, by which `items` count.
    pub base: u32,
    pub around: Around<'f>,
    /// What stands for calls in its query's expressions.
    pub calls: Option<&'f Collected>,
    /// It is what stands to the left in FROM, as what stands to its right sees it.
    pub is_left: bool,
}

/// A row around another one, and how many rows out it is.
#[derive(Clone, Copy)]
pub(super) struct Around<'f> {
    pub frame: Option<&'f Frame<'f>>,
    pub cost: u16,
}

impl<'f> Around<'f> {
    pub const NOTHING: Around<'static> = Around { frame: None, cost: 0 };

    /// What is around a subquery in an expression over a row, or to the right of that row in FROM.
    pub fn of(frame: &'f Frame<'f>) -> Around<'f> {
        Around { frame: Some(frame), cost: 1 }
    }
}

impl<'f> Frame<'f> {
    /// A row without columns.
    pub fn empty(around: Around<'f>) -> Frame<'f> {
        Frame {
            items: &[],
            names: &[],
            visible: Vec::new(),
            base: 0,
            around,
            calls: None,
            is_left: false,
        }
    }

    /// This row and those around it, each with how many rows out it is.
    fn outwards(&self) -> impl Iterator<Item = (&Frame<'f>, u16)> {
        let next = |(frame, level): &(&Frame<'f>, u16)| {
            let Around { frame: next, cost } = frame.around;
            next.map(|next| (next, level + cost))
        };
        std::iter::successors(Some((self, 0)), next)
    }

    /// Its items that may be named, with what they are called.
    fn named(&self) -> impl Iterator<Item = (&'f ScopeItem, &'f Printed)> {
        let all = self.items.iter().zip(self.names).zip(&self.visible);
        all.filter(|(_, visible)| **visible).map(|(found, _)| found)
    }

    /// A value over all items of FROM as an expression over this row, `level` rows out.
    fn seen(&self, expr: &Expr, level: u16) -> Expr {
        let mut seen = expr.clone();
        if self.base > 0 {
            columns_of_expr(&mut seen, 0, &mut |column, depth| {
                if let Expr::Column { level, column, .. } = column
                    && *level == depth
                {
                    *column -= self.base;
                }
            });
        }
        raise(&mut seen, level);
        seen
    }

    /// The item and the name of a column.
    fn column(&self, column: u32) -> Option<(&'f str, &'f Ident)> {
        let place = column + self.base;
        let is = |known: &ScopeColumn| matches!(known.expr, Expr::Column { level: 0, column, .. } if column == place);
        self.named().find_map(|(item, printed)| {
            let name = item.name.as_ref()?;
            let at = item.columns.iter().position(is)?;
            Some((printed.name.as_deref().unwrap_or(name), printed.column(at, item)))
        })
    }

    /// The column of a join whose value an expression is, which is more than a column of one side: with the join's name, if
    /// it has one.
    fn shared(&self, expr: &Expr, level: u16) -> Option<(Option<&'f str>, &'f Ident)> {
        let found = |(item, printed): (&'f ScopeItem, &'f Printed)| {
            let is = |column: &ScopeColumn| {
                !matches!(column.expr, Expr::Column { .. })
                    && same(&self.seen(&column.expr, level), expr)
            };
            let at = item.columns.iter().position(is)?;
            let name = item.name.as_deref();
            Some((printed.name.as_deref().or(name), printed.column(at, item)))
        };
        let bare = self.named().filter(|(item, _)| item.name.is_none()).find_map(found);
        bare.or_else(|| self.named().filter(|(item, _)| item.name.is_some()).find_map(found))
    }
}

impl FromList {
    /// The row of all its items.
    pub(super) fn frame<'f>(&'f self, names: &'f [Printed], around: Around<'f>) -> Frame<'f> {
        let mut visible = Vec::with_capacity(self.items.len());
        self.list.iter().for_each(|(tree, _)| tree.visible(&mut visible));
        Frame { items: &self.items, names, visible, ..Frame::empty(around) }
    }
}

impl FromTree {
    /// Which of its items may be named around it.
    pub(super) fn visible(&self, into: &mut Vec<bool>) {
        let FromTree::Join(join) = self else { return into.push(true) };
        let first = into.len();
        join.left.visible(into);
        join.right.visible(into);
        into.resize(first + self.items(), true);
        if join.aliased {
            let own = into.len() - 1;
            into[first..own].fill(false);
        }
    }
}

/// The names that an expression over one row may use.
pub(super) struct Here<'s, 'w, 'b, 'a> {
    pub writer: &'s Writer<'w, 'b, 'a>,
    pub frame: &'s Frame<'s>,
}

impl Names for Here<'_, '_, '_, '_> {
    fn record_fields(&self, record: &Expr) -> Option<Vec<(Arc<str>, SqlType)>> {
        self.writer.binder.composite_result(record)
    }

    fn column(&self, level: u16, column: u32) -> Result<String> {
        let found = self.column_named(level, column);
        let (item, column) = found.ok_or_else(|| unwritten("a column without a name"))?;
        Ok(qualified(&item, &column))
    }

    fn shared(&self, expr: &Expr) -> Option<String> {
        self.shared_column(expr).map(|(item, column)| match item {
            Some(item) => qualified(&item, &column),
            None => identifier(&column),
        })
    }

    fn item(&self, expr: &Expr) -> Option<String> {
        if !matches!(expr, Expr::Row(..) | Expr::Case { .. }) {
            return None;
        }
        self.frame.outwards().find_map(|(frame, level)| {
            let (_, found) = frame.named().find(|(item, printed)| {
                // What is shown says ROW for the columns of a name behind USING, as PostgreSQL does; what is kept says the
                // name, for the names of the fields.
                let shown = self.writer.how.qualified || !printed.beside;
                if item.name.is_none() || printed.name.is_none() || !shown {
                    return false;
                }
                let is_row = |item: &ScopeItem| {
                    let row = frame.seen(&self.writer.binder.item_row(item, 0), level);
                    row.ty() == expr.ty() && same(&row, expr)
                };
                // In the condition of an outer join its sides' rows are not missing yet.
                let there = || ScopeItem { nullable: Some(false), ..ScopeItem::clone(item) };
                is_row(item) || item.nullable == Some(true) && is_row(&there())
            })?;
            found.name.clone()
        })
    }

    fn renamed_type(&self, ty: SqlType) -> Option<String> {
        let of = |found: &&Relation| found.row_type.0 == ty.oid && ty.oid != Oid(0);
        let found = self.writer.how.renamed.iter().find(of)?;
        Some(qualified(&found.schema.1, &found.name))
    }

    fn call(&self, level: u16, column: u32) -> Option<(AggregateCall, Option<BoundWindow>)> {
        let collected = self.collected(level)?;
        if column >= GROUPINGS {
            return None;
        }
        if column >= WINDOWS {
            let found = collected.windows.get((column - WINDOWS) as usize)?;
            return Some((found.call.clone(), Some(found.window.clone())));
        }
        let mut found = collected.aggregates.get((column - AGGREGATES) as usize)?.clone();
        found.expressions().for_each(|expr| raise(expr, level));
        Some((found, None))
    }

    fn parameter(&self, number: u32) -> Option<String> {
        let writer = self.writer;
        let routine = writer.routine?;
        // A name by itself is another one's where there is a relation that may have a column of that name.
        let beside = writer.taken.borrow().iter().any(|names| !names.is_empty());
        Some(routine.parameter(number, writer.how.qualified, beside))
    }

    fn grouping(&self, level: u16, column: u32) -> Option<Vec<Expr>> {
        let groupings = &self.collected(level)?.groupings;
        let arguments = groupings.get(column.checked_sub(GROUPINGS)? as usize)?;
        let mut arguments: Vec<Expr> =
            arguments.iter().map(|(argument, _)| argument.clone()).collect();
        arguments.iter_mut().for_each(|argument| raise(argument, level));
        Some(arguments)
    }

    fn query(&self, query: &Arc<Query>, out: &mut Layout) -> Result<()> {
        self.writer.bound_query(query, Around::of(self.frame), Headings::Unused, out)
    }
}

impl Here<'_, '_, '_, '_> {
    /// The item and the name of a column.
    pub(super) fn column_named(&self, level: u16, column: u32) -> Option<(String, Ident)> {
        let mut at = self.frame.outwards().filter(|(_, out)| *out == level);
        let (item, column) = at.find_map(|(frame, _)| frame.column(column))?;
        Some((item.to_owned(), column.clone()))
    }

    /// The column of a join whose value this expression is ([`Frame::shared`]).
    pub(super) fn shared_column(&self, expr: &Expr) -> Option<(Option<String>, Ident)> {
        // A COALESCE that was written stays one, though its value is the shared column's.
        if matches!(expr, Expr::Column { .. } | Expr::Constant(..) | Expr::Coalesce(_, _, false)) {
            return None;
        }
        let mut around = self.frame.outwards();
        let found = around.find_map(|(frame, level)| frame.shared(expr, level));
        found.map(|(item, column)| (item.map(str::to_owned), column.clone()))
    }

    /// What stands for calls in the expressions of the query `level` rows out.
    fn collected(&self, level: u16) -> Option<&Collected> {
        let mut around = self.frame.outwards().filter(|(_, out)| *out == level);
        around.find_map(|(frame, _)| frame.calls)
    }
}
