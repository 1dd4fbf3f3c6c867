//! What the expressions of a printed query call what they read (`get_variable`, `resolve_special_varno` of `ruleutils.c`):
//! columns, whole rows, aggregates and windows, by the names of the place where they stand.

use super::view::{Headings, Writer, unwritten};
use super::{Layout, Names};
use crate::bind::aggregate::standing;
use crate::bind::expression::Place;
use crate::bind::grouping::{AGGREGATES, BoundWindow, GROUPINGS, WINDOWS};
use crate::bind::levels::{raise, same};
use crate::bind::query::Outside;
use crate::bind::scope::Scope;
use crate::bind::typed::{AggregateCall, Expr};
use crate::catalog::Relation;
use crate::catalog::quote::{identifier, qualified};
use crate::error::Result;
use crate::plan::logical::Query;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// The names that an expression of one place may use.
pub(super) struct Here<'s, 'w, 'b, 'a> {
    pub writer: &'s Writer<'w, 'b, 'a>,
    pub place: &'s Place<'s>,
}

impl Names for Here<'_, '_, '_, '_> {
    fn record_fields(&self, record: &Expr) -> Option<Vec<(Arc<str>, SqlType)>> {
        self.writer.binder.composite_result(record)
    }

    fn moved(&self, expr: &Expr, moved: &Expr) {
        if let Some(known) = &self.writer.binder.subqueries {
            known.follow(expr, moved);
        }
    }

    fn column(&self, level: u16, column: u32) -> Result<String> {
        let (mut scope, mut at) = (self.place.scope, 0);
        loop {
            if at == level
                && let Some(found) = self.writer.name_in(scope, column)
            {
                return Ok(found);
            }
            at += scope.cost;
            match scope.parent {
                Some(parent) if at <= level => scope = parent,
                _ => return Err(unwritten("a column without a name")),
            }
        }
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
        let (mut scope, mut level) = (self.place.scope, 0);
        loop {
            if let Some(found) = self.writer.item_in(scope, expr, level) {
                return Some(found);
            }
            level += scope.cost;
            scope = scope.parent?;
        }
    }

    fn renamed_type(&self, ty: SqlType) -> Option<String> {
        let of = |found: &&Relation| found.row_type.0 == ty.oid && ty.oid != Oid(0);
        let found = self.writer.how.renamed.iter().find(of)?;
        Some(qualified(&found.schema.1, &found.name))
    }

    fn call(&self, level: u16, column: u32) -> Option<(AggregateCall, Option<BoundWindow>)> {
        let collected = standing(self.place, level).collected?.borrow();
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
        let collected = standing(self.place, level).collected?.borrow();
        let arguments = collected.groupings.get(column.checked_sub(GROUPINGS)? as usize)?;
        let mut arguments: Vec<Expr> =
            arguments.iter().map(|(argument, _)| argument.clone()).collect();
        arguments.iter_mut().for_each(|argument| raise(argument, level));
        Some(arguments)
    }

    fn query(&self, query: &Arc<Query>, out: &mut Layout) -> Result<()> {
        let known = self.writer.binder.subqueries.as_ref();
        let written = known.and_then(|known| known.of(query));
        let written = written.ok_or_else(|| unwritten("this subquery"))?;
        let outside = Outside::of(self.place);
        self.writer.query(&written, outside, self.place.ctes, Headings::Unused, out)
    }
}

impl Here<'_, '_, '_, '_> {
    /// The column of a join whose value this expression is, which is more than a column of one side: with the join's name, if
    /// it has one.
    pub(super) fn shared_column(&self, expr: &Expr) -> Option<(Option<String>, String)> {
        // A COALESCE that was written stays one, though its value is the shared column's.
        if matches!(expr, Expr::Column { .. } | Expr::Constant(..) | Expr::Coalesce(_, _, false)) {
            return None;
        }
        let items = &self.place.scope.items;
        let unnamed = items.iter().filter(|item| item.name.is_none());
        let mut columns = unnamed.flat_map(|item| &item.columns);
        if let Some(found) = columns.find(|column| same(&column.expr, expr)) {
            return Some((None, found.name.to_string()));
        }
        let address = std::ptr::from_ref(self.place.scope) as usize;
        let printed = self.writer.printed.borrow();
        let names = printed.iter().rev().find(|(at, _)| *at == address).map(|(_, names)| names);
        let mut named = items.iter().enumerate().filter(|(_, item)| item.name_visible);
        named.find_map(|(number, item)| {
            let name = item.name.as_ref()?;
            let found = item.columns.iter().find(|column| same(&column.expr, expr))?;
            let printed = names.and_then(|names| names.get(number));
            let shown = printed.and_then(|printed| printed.name.as_deref()).unwrap_or(name);
            let column = printed.map_or(&found.name, |printed| printed.column(&found.name));
            Some((Some(shown.to_owned()), column.to_string()))
        })
    }
}

impl Writer<'_, '_, '_> {
    /// A column by its number in a scope's row.
    pub(super) fn name_in(&self, scope: &Scope<'_>, column: u32) -> Option<String> {
        let printed = self.printed.borrow();
        let address = std::ptr::from_ref(scope) as usize;
        let printed = printed.iter().rev().find(|(at, _)| *at == address).map(|(_, names)| names);
        for (number, item) in scope.items.iter().enumerate() {
            let Some(name) = item.name.as_ref().filter(|_| item.name_visible) else { continue };
            let found = item.columns.iter().find(|known| {
                matches!(known.expr, Expr::Column { level: 0, column: place, .. } if place == column)
            });
            if let Some(found) = found {
                let printed = printed.and_then(|names| names.get(number));
                let shown = printed.and_then(|printed| printed.name.as_deref()).unwrap_or(name);
                let column = printed.map_or(&found.name, |printed| printed.column(&found.name));
                return Some(qualified(shown, column));
            }
        }
        None
    }

    /// The name of the item of a scope, `level` steps out, whose whole row this is.
    pub(super) fn item_in(&self, scope: &Scope<'_>, expr: &Expr, level: u16) -> Option<String> {
        let printed = self.printed.borrow();
        let address = std::ptr::from_ref(scope) as usize;
        let (_, printed) = printed.iter().rev().find(|(at, _)| *at == address)?;
        let (_, found) = scope.items.iter().zip(printed).find(|(item, printed)| {
            // What is shown says ROW for the columns of a name behind USING, as PostgreSQL does; what is kept says the name,
            // for the names of the fields.
            let shown = self.how.qualified || !printed.beside;
            if !item.name_visible || printed.name.is_none() || !shown {
                return false;
            }
            let row = self.binder.item_row(item, level);
            row.ty() == expr.ty() && same(&row, expr)
        })?;
        found.name.clone()
    }

    /// The name of the first column of a scope that is this expression.
    pub(super) fn name_of(&self, expr: &Expr, scope: &Scope<'_>) -> Option<String> {
        let printed = self.printed.borrow();
        let address = std::ptr::from_ref(scope) as usize;
        let printed = printed.iter().rev().find(|(at, _)| *at == address).map(|(_, names)| names);
        let items = scope.items.iter().enumerate();
        // What stands below a join with an alias goes by that join's names.
        for (number, item) in items.filter(|(_, item)| item.name_visible || item.name.is_none()) {
            if let Some(found) = item.columns.iter().find(|known| same(&known.expr, expr)) {
                let printed = printed.and_then(|names| names.get(number));
                let name = printed.map_or(&found.name, |printed| printed.column(&found.name));
                return Some(name.to_string());
            }
        }
        None
    }
}
