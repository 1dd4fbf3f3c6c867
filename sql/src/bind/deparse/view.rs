//! A view's query as `pg_get_viewdef` prints it (`get_query_def` of `ruleutils.c`): stars spelt out, columns qualified,
//! casts and constants' types shown, each clause on a line of its own.
//!
//! The structure of the text is the written query's. Its expressions are bound again, clause by clause, in the scopes that
//! binding gives them, and printed from what they were bound to.

use super::{Layout, Names, Printer};
use crate::bind::aggregate::standing;
use crate::bind::expression::Place;
use crate::bind::grouping::{AGGREGATES, BoundWindow, Collected, GROUPINGS, WINDOWS};
use crate::bind::levels::{raise, same};
use crate::bind::query::Outside;
use crate::bind::scope::{Scope, ScopeItem};
use crate::bind::target::BoundTarget;
use crate::bind::typed::{AggregateCall, Expr};
use crate::bind::with::CteScope;
use crate::bind::{Binder, Environment, lock_words};
use crate::catalog::quote::{identifier, qualified};
use crate::catalog::{CatalogSnapshot, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    self, Body, CteBody, Distinct, FromItem, GroupItem, Ident, JoinCondition, Select,
};
use crate::plan::logical::{JoinKind, Query, SetKind, SortKey};
use crate::types::{CallContext, Oid, SqlType};
use std::cell::RefCell;
use std::sync::Arc;
use txn::WaitPolicy;

/// How a view's query is to be printed.
#[derive(Clone, Copy)]
pub struct ViewText<'r> {
    /// Only the parentheses that are needed.
    pub pretty: bool,
    /// A select list goes on in the same line up to this width.
    pub wrap: usize,
    /// The query is a user's and to be kept: tables carry their schemas even where the search path finds them. Else it is
    /// one that was printed so, or could not be.
    pub qualified: bool,
    /// Relations that are about to be called so: the text names them by their old names, and is to be printed with these.
    pub renamed: &'r [Relation],
    /// The catalog in which types and their attributes are called as they are to be printed, if it is another one than that
    /// in which the text is read.
    pub now: Option<&'r CatalogSnapshot>,
}

/// What an item of a scope is called in print.
#[derive(Clone, Debug, Default)]
pub(super) struct Printed {
    /// The name behind AS, or the table's; none for what cannot be named.
    pub name: Option<String>,
    /// Columns with other names, old and new.
    pub columns: Vec<(Ident, Ident)>,
    /// Its columns are listed behind its name: USING wants one of them by its old name.
    pub listed: bool,
    /// The name behind USING, which hides no other.
    pub beside: bool,
    /// Columns that are about to go.
    pub gone: Vec<Ident>,
}

impl Printed {
    /// What a column is called.
    pub fn column<'n>(&'n self, name: &'n Ident) -> &'n Ident {
        self.columns.iter().find(|(old, _)| old == name).map_or(name, |(_, new)| new)
    }

    /// The names of an item's columns in parentheses.
    pub fn column_list(&self, item: &ScopeItem) -> String {
        let stays = |name: &Ident| !self.gone.contains(name);
        let columns = item.columns.iter().filter(|it| !it.system && stays(&it.name));
        list(&columns.map(|column| self.column(&column.name).clone()).collect::<Vec<_>>())
    }
}

/// A query as PostgreSQL prints it; `columns` are the names of what it returns.
///
/// # Errors
/// 0A000 for what cannot be printed; those of binding.
pub fn view_text(
    environment: Environment<'_>,
    context: &CallContext<'_>,
    text: &str,
    query: &ast::Query,
    columns: &[Ident],
    how: ViewText<'_>,
) -> Result<String> {
    let printed = !how.qualified;
    let binder = Binder {
        printed,
        subqueries: Some(RefCell::default()),
        ..Binder::new(environment, text, &[])
    };
    let writer = Writer {
        binder: &binder,
        context,
        how,
        taken: RefCell::default(),
        printed: RefCell::default(),
    };
    // PostgreSQL's views have two more relations of these names.
    writer.taken.borrow_mut().push(vec!["old".to_owned(), "new".to_owned()]);
    let mut out = Layout::default();
    let outside = Outside::NOTHING;
    writer.query(query, outside, None, Headings::Given(columns), &mut out)?;
    Ok(out.text)
}

/// What names the columns of a query have.
#[derive(Clone, Copy)]
pub(super) enum Headings<'h> {
    /// These.
    Given(&'h [Ident]),
    /// Their own, which somebody may use.
    Own,
    /// Nobody asks for them.
    Unused,
}

/// Prints a query.
pub(super) struct Writer<'w, 'b, 'a> {
    /// Binds its parts again.
    pub binder: &'w Binder<'b>,
    context: &'w CallContext<'a>,
    pub how: ViewText<'w>,
    /// The names of FROM items in the queries around, outermost first.
    taken: RefCell<Vec<Vec<String>>>,
    /// What the items of the scopes under way are called in print, by the scope's address: inner queries name them too.
    pub printed: RefCell<Vec<(usize, Vec<Printed>)>>,
}

/// 0A000.
pub(super) fn unwritten(what: &str) -> SqlError {
    SqlError::unsupported(format!("{what} in a printed query is"))
}

/// The names that an expression of one place may use.
struct Here<'s, 'w, 'b, 'a> {
    writer: &'s Writer<'w, 'b, 'a>,
    place: &'s Place<'s>,
}

impl Names for Here<'_, '_, '_, '_> {
    fn record_fields(&self, record: &Expr) -> Option<Vec<(Arc<str>, SqlType)>> {
        self.writer.binder.composite_result(record)
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
        if matches!(expr, Expr::Column { .. } | Expr::Constant(..)) {
            return None;
        }
        let unnamed = self.place.scope.items.iter().filter(|item| item.name.is_none());
        let mut columns = unnamed.flat_map(|item| &item.columns);
        columns.find(|column| same(&column.expr, expr)).map(|column| column.name.to_string())
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

    fn grouping(&self, level: u16, column: u32) -> Option<Vec<Expr>> {
        let collected = standing(self.place, level).collected?.borrow();
        let arguments = collected.groupings.get(column.checked_sub(GROUPINGS)? as usize)?;
        let mut arguments: Vec<Expr> =
            arguments.iter().map(|(argument, _)| argument.clone()).collect();
        arguments.iter_mut().for_each(|argument| raise(argument, level));
        Some(arguments)
    }

    fn query(&self, query: &Arc<Query>, out: &mut Layout) -> Result<()> {
        let written = self.writer.binder.subqueries.as_ref().and_then(|known| {
            let known = known.borrow();
            let address = Arc::as_ptr(query) as usize;
            known.iter().rev().find(|(at, _)| *at == address).map(|(_, query)| Arc::clone(query))
        });
        let written = written.ok_or_else(|| unwritten("this subquery"))?;
        let outside = Outside::of(self.place);
        self.writer.query(&written, outside, self.place.ctes, Headings::Unused, out)
    }
}

impl<'w, 'b, 'a> Writer<'w, 'b, 'a> {
    /// A column by its number in a scope's row.
    fn name_in(&self, scope: &Scope<'_>, column: u32) -> Option<String> {
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
    fn item_in(&self, scope: &Scope<'_>, expr: &Expr, level: u16) -> Option<String> {
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
    fn name_of(&self, expr: &Expr, scope: &Scope<'_>) -> Option<String> {
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

    fn print(
        &self,
        place: &Place<'_>,
        print: impl FnOnce(&Printer<'_, 'a>) -> Result<()>,
    ) -> Result<()> {
        let names = Here { writer: self, place };
        print(&Printer {
            catalog: self.how.now.unwrap_or(self.binder.catalog),
            path: (!self.how.qualified).then_some(self.binder.path),
            context: self.context,
            names: &names,
            pretty: self.how.pretty,
        })
    }

    pub(super) fn expression(
        &self,
        expr: &Expr,
        place: &Place<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        self.print(place, |printer| printer.write(expr, out))
    }

    /// A whole query: it begins at the level of what it stands in, and leaves that as it was.
    pub(super) fn query(
        &self,
        query: &ast::Query,
        outside: Outside<'_>,
        ctes: Option<&CteScope<'_>>,
        headings: Headings<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let level = out.level();
        let scope = CteScope { parent: ctes, entries: RefCell::default() };
        self.binder.with(query.with.as_ref(), outside, &scope)?;
        let names = match &query.body {
            Body::Select(select) => self.names(select, outside, &scope)?,
            Body::Values(_) | Body::SetOperation { .. } => Vec::new(),
        };
        let taken = names.iter().filter(|item| !item.beside);
        self.taken.borrow_mut().push(taken.filter_map(|item| item.name.clone()).collect());
        if let Some(with) = &query.with {
            self.with(with, outside, &scope, out)?;
        }
        match &query.body {
            Body::Select(select) => {
                self.select(query, select, names, outside, &scope, headings, out)?;
            }
            Body::Values(rows) => {
                out.set_level(out.level() + Layout::STANDARD);
                out.push(' ');
                self.values(rows, outside, &scope, out)?;
                self.numbered(query, outside, &scope, out)?;
            }
            Body::SetOperation { .. } => {
                self.set_operation(query, outside, &scope, headings, out)?;
                self.numbered(query, outside, &scope, out)?;
            }
        }
        self.taken.borrow_mut().pop();
        out.set_level(level);
        Ok(())
    }

    fn with(
        &self,
        with: &ast::With,
        outside: Outside<'_>,
        scope: &CteScope<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        out.set_level(out.level() + Layout::STANDARD);
        out.push_str(if with.recursive { " WITH RECURSIVE " } else { " WITH " });
        for (at, cte) in self.binder.in_order_of_need(with)?.into_iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            out.push_str(&identifier(&cte.name));
            if !cte.columns.is_empty() {
                out.push_str(&list(&cte.columns));
            }
            out.push_str(match cte.materialized {
                None => " AS (",
                Some(true) => " AS MATERIALIZED (",
                Some(false) => " AS NOT MATERIALIZED (",
            });
            out.keyword("", 0, 0, 0);
            let CteBody::Query(query) = &cte.body else { return Err(unwritten("this statement")) };
            self.query(query, outside, Some(scope), Headings::Own, out)?;
            out.keyword("", 0, 0, 0);
            out.push(')');
            self.traces(cte, outside, scope, out)?;
        }
        out.keyword("", -Layout::STANDARD, 0, 0);
        Ok(())
    }

    /// SEARCH and CYCLE.
    fn traces(
        &self,
        cte: &ast::Cte,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let names = |names: &[Ident]| -> String {
            names.iter().map(|name| identifier(name)).collect::<Vec<_>>().join(", ")
        };
        if let Some(search) = &cte.search {
            out.push_str(if search.depth { " SEARCH DEPTH" } else { " SEARCH BREADTH" });
            out.push_str(" FIRST BY ");
            out.push_str(&names(&search.columns));
            out.push_str(" SET ");
            out.push_str(&identifier(&search.sequence));
        }
        let Some(cycle) = &cte.cycle else { return Ok(()) };
        out.push_str(" CYCLE ");
        out.push_str(&names(&cycle.columns));
        out.push_str(" SET ");
        out.push_str(&identifier(&cycle.mark));
        if let Some((value, otherwise)) = &cycle.values {
            let scope = outside.inner();
            let place = Place::plain(&scope, Some(ctes), "CYCLE");
            let shown = |expr: &ast::Expr| -> Result<String> {
                let value = self.binder.decided(self.binder.expression(expr, &place)?)?;
                let mut text = Layout::default();
                self.expression(&value, &place, &mut text)?;
                // PostgreSQL shows a cast, which nobody can read there: what is kept has the type in front.
                Ok(match text.text.rfind("'::").filter(|_| self.how.qualified) {
                    Some(end) => format!("{} {}", &text.text[end + 3..], &text.text[..=end]),
                    None => text.text,
                })
            };
            let (value, otherwise) = (shown(value)?, shown(otherwise)?);
            if (&*value, &*otherwise) != ("true", "false") {
                out.push_str(&format!(" TO {value} DEFAULT {otherwise}"));
            }
        }
        out.push_str(" USING ");
        out.push_str(&identifier(&cycle.path));
        Ok(())
    }

    // --- SELECT ------------------------------------------------------------------------------------------------------

    /// What the items of FROM are called: a name that a query around has already gets a number.
    fn names(
        &self,
        select: &Select,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Vec<Printed>> {
        let items = self.binder.bind_list(&select.from, outside, ctes)?.items;
        let mut names: Vec<Printed> = Vec::with_capacity(items.len());
        let mut merged = Vec::new();
        select.from.iter().for_each(|from| merged_columns(from, &mut merged));
        for from in &select.from {
            self.items(from, ctes, (&[], &merged), &mut names)?;
        }
        if names.len() != items.len() {
            return Err(unwritten("FROM"));
        }
        let taken = self.taken.borrow();
        for (at, item) in items.iter().enumerate() {
            let Some(name) = names[at].name.take().or(item.name.as_deref().map(str::to_owned))
            else {
                continue;
            };
            if names[at].beside {
                names[at].name = Some(name);
                continue;
            }
            let is_taken = |name: &str| {
                let before = names[..at].iter().filter(|known| !known.beside);
                taken.iter().flatten().any(|known| known == name)
                    || before.filter_map(|known| known.name.as_ref()).any(|known| known == name)
            };
            let numbered = (1..).map(|number| format!("{name}_{number}"));
            let found = std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name));
            names[at].name = found;
        }
        Ok(names)
    }

    /// What the items that binding makes of one of FROM are to be called, in their order; without a name where it is the
    /// scope's. `using` are the columns that joins around it are by, `merged` those of all joins whose columns go by their
    /// bare names.
    fn items(
        &self,
        from: &FromItem,
        ctes: &CteScope<'_>,
        (using, merged): (&[Ident], &[Ident]),
        into: &mut Vec<Printed>,
    ) -> Result<()> {
        match from {
            FromItem::Table { name, alias, .. }
                if name.schema().is_some() || ctes.find(name.name()).is_none() =>
            {
                let relation = self.binder.relation(name)?;
                let renamed = self.how.renamed.iter().find(|renamed| renamed.oid == relation.oid);
                let mut printed = Printed::default();
                if let Some(renamed) = renamed {
                    printed.name = alias.is_none().then(|| renamed.name.to_string());
                    // A list that was printed has the names of all columns, those that nobody chose too.
                    let chosen = |at: usize, old: &Ident| {
                        let alias = alias.as_ref().and_then(|alias| alias.columns.get(at));
                        alias.is_some_and(|alias| alias != old)
                    };
                    let columns = relation.columns.iter().zip(&renamed.columns);
                    let others = columns
                        .filter(|(old, _)| !old.dropped)
                        .enumerate()
                        .filter(|(at, (old, new))| {
                            old.name != new.name && !new.dropped && !chosen(*at, &old.name)
                        })
                        .map(|(_, (old, new))| (old.name.clone(), new.name.clone()));
                    let (kept, columns): (Vec<_>, Vec<_>) =
                        others.partition(|(old, _)| using.contains(old));
                    printed.listed = !kept.is_empty();
                    printed.columns = columns;
                }
                let given = alias.as_ref().map_or(&[][..], |alias| &alias.columns);
                let live = relation.columns.iter().enumerate().filter(|(_, it)| !it.dropped);
                let mut own: Vec<Ident> = Vec::new();
                for (place, (at, column)) in live.enumerate() {
                    let name = given.get(place).unwrap_or(&column.name);
                    if renamed.is_some_and(|next| next.columns[at].dropped) {
                        printed.gone.push(name.clone());
                    } else {
                        own.push(name.clone());
                    }
                }
                for name in own.iter().filter(|name| merged.contains(name)) {
                    let known = printed.columns.iter().any(|(old, _)| old == name);
                    if known || using.contains(name) {
                        continue;
                    }
                    // A bare name that means the columns of a join must be nobody else's.
                    let mut numbered = (1..).map(|number| Ident::from(format!("{name}_{number}")));
                    let free = numbered.find(|new| !own.contains(new) && !merged.contains(new));
                    printed.columns.extend(free.map(|new| (name.clone(), new)));
                    printed.listed = true;
                }
                into.push(printed);
            }
            FromItem::Join { left, right, condition, alias, .. } => {
                let own = match condition {
                    JoinCondition::Using(columns, _) => &columns[..],
                    _ => &[],
                };
                let around = if alias.is_some() { &[][..] } else { using };
                let using: Vec<Ident> = own.iter().chain(around).cloned().collect();
                let first = into.len();
                let mut within = Vec::new();
                if alias.is_some() {
                    merged_columns(left, &mut within);
                    merged_columns(right, &mut within);
                    within.extend(own.iter().cloned());
                }
                let merged = if alias.is_some() { &within[..] } else { merged };
                self.items(left, ctes, (&using, merged), into)?;
                self.items(right, ctes, (&using, merged), into)?;
                let other = into[first..].iter().any(|item| !item.columns.is_empty());
                if matches!(condition, JoinCondition::Using(_, Some(_))) {
                    into.push(Printed { beside: true, ..Printed::default() });
                }
                if alias.is_some()
                    || matches!(condition, JoinCondition::Using(..) | JoinCondition::Natural)
                {
                    let listed = alias.is_some() && other;
                    into.push(Printed { listed, ..Printed::default() });
                }
            }
            _ => into.push(Printed::default()),
        }
        Ok(())
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one query block")]
    fn select(
        &self,
        query: &ast::Query,
        select: &Select,
        names: Vec<Printed>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        headings: Headings<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        if select.into.is_some() {
            return Err(unwritten("INTO"));
        }
        let binder = self.binder;
        let mut scope = outside.inner();
        scope.items = binder.bind_list(&select.from, outside, ctes)?.items;
        let collected = RefCell::new(Collected::default());
        let place = Place {
            scope: &scope,
            ctes: Some(ctes),
            clause: "SELECT",
            collected: Some(&collected),
            windows: true,
            sets: true,
        };
        self.printed.borrow_mut().push((std::ptr::from_ref(&scope) as usize, names.clone()));
        binder.window_clause(select, &place)?;
        let mut targets = binder.targets(&select.targets, &place, true)?;
        let visible = targets.len();
        let order_by = binder.order_by(query, select, &mut targets, visible, &place)?;
        let distinct_on = binder.distinct_on(&select.distinct, &mut targets, visible, &place)?;

        out.set_level(out.level() + Layout::STANDARD);
        out.push_str(" SELECT");
        match select.distinct {
            Distinct::No => {}
            Distinct::All => out.push_str(" DISTINCT"),
            Distinct::On(_) => {
                out.push_str(" DISTINCT ON (");
                for (at, (target, _)) in distinct_on.iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    self.print(&place, |printer| printer.sort_item(&targets[*target].expr, out))?;
                }
                out.push(')');
            }
        }
        self.targets(&targets[..visible], &place, headings, out)?;
        let mut item = 0;
        for (at, from) in select.from.iter().enumerate() {
            if at == 0 {
                out.keyword(" FROM ", -Layout::STANDARD, Layout::STANDARD, 2);
                self.from(from, &mut item, &names, &place, outside, out)?;
                continue;
            }
            out.push_str(", ");
            let mut text = out.beside();
            self.from(from, &mut item, &names, &place, outside, &mut text)?;
            if text.text.starts_with('\n') {
                out.trim_spaces();
            } else if out.line_length() + text.text.len() > self.how.wrap {
                out.keyword("", -Layout::STANDARD, Layout::STANDARD, Layout::VAR);
            }
            out.push_str(&text.text);
        }
        if let Some(filter) = &select.filter {
            let place = Place::plain(&scope, Some(ctes), "WHERE");
            let condition = binder.condition(filter, &place, "WHERE")?;
            out.keyword(" WHERE ", -Layout::STANDARD, Layout::STANDARD, 1);
            self.expression(&condition, &place, out)?;
        }
        if !select.group_by.is_empty() {
            out.keyword(" GROUP BY ", -Layout::STANDARD, Layout::STANDARD, 1);
            if select.group_distinct {
                out.push_str("DISTINCT ");
            }
            for (at, group) in select.group_by.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                self.group(group, &targets, &place, out)?;
            }
        }
        if let Some(having) = &select.having {
            let place = Place { windows: false, sets: false, clause: "HAVING", ..place };
            let condition = binder.condition(having, &place, "HAVING")?;
            out.keyword(" HAVING ", -Layout::STANDARD, Layout::STANDARD, 0);
            self.expression(&condition, &place, out)?;
        }
        let windows = collected.borrow().named.clone();
        for (at, (name, window)) in windows.iter().enumerate() {
            match at {
                0 => out.keyword(" WINDOW ", -Layout::STANDARD, Layout::STANDARD, 1),
                _ => out.push_str(", "),
            }
            out.push_str(&identifier(name));
            out.push_str(" AS (");
            self.print(&place, |printer| printer.window(window, out))?;
            out.push(')');
        }
        for (at, (target, key)) in order_by.iter().enumerate() {
            match at {
                0 => out.keyword(" ORDER BY ", -Layout::STANDARD, Layout::STANDARD, 1),
                _ => out.push_str(", "),
            }
            self.print(&place, |printer| printer.sort_item(&targets[*target].expr, out))?;
            out.push_str(super::direction(key));
        }
        self.limits(query, outside, ctes, out)?;
        self.locks(query, &scope, &names, out)?;
        self.printed.borrow_mut().pop();
        Ok(())
    }

    /// FOR UPDATE and its family: each item of FROM by its name.
    fn locks(
        &self,
        query: &ast::Query,
        scope: &Scope<'_>,
        names: &[Printed],
        out: &mut Layout,
    ) -> Result<()> {
        for lock in self.binder.locked_items(query, scope)? {
            out.keyword(" ", -Layout::STANDARD, Layout::STANDARD, 0);
            out.push_str(lock_words(lock.strength));
            let name = names.get(lock.item).and_then(|printed| printed.name.as_deref());
            out.push_str(" OF ");
            out.push_str(&identifier(name.ok_or_else(|| unwritten("FOR UPDATE"))?));
            out.push_str(match lock.wait {
                WaitPolicy::Block => "",
                WaitPolicy::Error => " NOWAIT",
                WaitPolicy::Skip => " SKIP LOCKED",
            });
        }
        Ok(())
    }

    fn targets(
        &self,
        targets: &[BoundTarget],
        place: &Place<'_>,
        headings: Headings<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let mut many_lines = false;
        for (at, target) in targets.iter().enumerate() {
            out.push_str(if at == 0 { " " } else { ", " });
            let mut text = out.beside();
            self.print(place, |printer| printer.column(&target.expr, &mut text))?;
            let heading = match headings {
                Headings::Given(names) => names.get(at).unwrap_or(&target.name),
                Headings::Own | Headings::Unused => &target.name,
            };
            let own = match &target.expr {
                Expr::Column { column, .. } if *column < AGGREGATES => {
                    // The name behind the last point of what has been printed.
                    self.name_of(&target.expr, place.scope).or_else(|| {
                        let printed = text.text.rsplit('.').next();
                        printed.map(|name| name.trim_matches('"').to_owned())
                    })
                }
                other => {
                    let shared = Here { writer: self, place }.shared(other);
                    match headings {
                        Headings::Unused if shared.is_none() => Some("?column?".to_owned()),
                        _ => shared,
                    }
                }
            };
            if own.as_deref() != Some(&**heading) {
                text.push_str(" AS ");
                text.push_str(&identifier(heading));
            }
            if text.text.starts_with('\n') {
                out.trim_spaces();
            } else {
                let long = out.line_length() + text.text.len() > self.how.wrap;
                if at > 0 && (long || many_lines) {
                    out.keyword("", -Layout::STANDARD, Layout::STANDARD, Layout::VAR);
                }
                many_lines = text.text.contains('\n');
            }
            out.push_str(&text.text);
        }
        Ok(())
    }

    fn group(
        &self,
        item: &GroupItem,
        targets: &[BoundTarget],
        place: &Place<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let many = |word: &str, exprs: &[ast::Expr], out: &mut Layout| -> Result<()> {
            out.push_str(word);
            out.push('(');
            for (at, expr) in exprs.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                self.group_key(expr, targets, place, out)?;
            }
            out.push(')');
            Ok(())
        };
        match item {
            GroupItem::Expr(expr) => self.group_key(expr, targets, place, out),
            GroupItem::Empty => {
                out.push_str("()");
                Ok(())
            }
            GroupItem::Rollup(exprs) => many("ROLLUP", exprs, out),
            GroupItem::Cube(exprs) => many("CUBE", exprs, out),
            GroupItem::Sets(items) => {
                out.push_str("GROUPING SETS (");
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    match item {
                        // A set of one key stands in parentheses too.
                        GroupItem::Expr(expr) if !is_list(expr) => {
                            many("", std::slice::from_ref(expr), out)?;
                        }
                        _ => self.group(item, targets, place, out)?,
                    }
                }
                out.push(')');
                Ok(())
            }
        }
    }

    fn group_key(
        &self,
        expr: &ast::Expr,
        targets: &[BoundTarget],
        place: &Place<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        if let ast::ExprKind::Row { fields, explicit: false } = &expr.kind {
            out.push('(');
            for (at, field) in fields.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                self.group_key(field, targets, place, out)?;
            }
            out.push(')');
            return Ok(());
        }
        let key = self.binder.group_key(expr, targets, place)?;
        self.print(place, |printer| printer.sort_item(&key, out))
    }

    /// LIMIT and OFFSET.
    fn limits(
        &self,
        query: &ast::Query,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let scope = outside.inner();
        let place = Place::plain(&scope, Some(ctes), "LIMIT");
        if let Some(offset) = &query.offset {
            out.keyword(" OFFSET ", -Layout::STANDARD, Layout::STANDARD, 0);
            self.expression(&self.binder.expression(offset, &place)?, &place, out)?;
        }
        if let Some(limit) = &query.limit {
            let word = if query.with_ties { " FETCH FIRST " } else { " LIMIT " };
            out.keyword(word, -Layout::STANDARD, Layout::STANDARD, 0);
            self.expression(&self.binder.expression(limit, &place)?, &place, out)?;
            if query.with_ties {
                out.push_str(" ROWS WITH TIES");
            }
        }
        Ok(())
    }

    // --- VALUES, UNION -----------------------------------------------------------------------------------------------

    fn values(
        &self,
        rows: &[Vec<ast::Expr>],
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let scope = outside.inner();
        let place = Place::plain(&scope, Some(ctes), "VALUES");
        out.push_str("VALUES ");
        for (at, row) in rows.iter().enumerate() {
            out.push_str(if at > 0 { ", (" } else { "(" });
            for (at, expr) in row.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                let value = self.binder.decided(self.binder.expression(expr, &place)?)?;
                self.print(&place, |printer| printer.column(&value, out))?;
            }
            out.push(')');
        }
        Ok(())
    }

    fn set_operation(
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
            Headings::Given(_) => headings,
            Headings::Own | Headings::Unused => Headings::Unused,
        };
        let side = |query: &ast::Query, headings: Headings<'_>, out: &mut Layout| -> Result<()> {
            if nested(query).is_some() {
                return self.set_operation(query, outside, ctes, headings, out);
            }
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
    fn numbered(
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

/// The columns that full joins of FROM merge, and that go by their bare names: not those below an alias.
fn merged_columns(from: &FromItem, into: &mut Vec<Ident>) {
    let FromItem::Join { kind, left, right, condition, alias: None, .. } = from else { return };
    if let JoinCondition::Using(columns, _) = condition
        && *kind == JoinKind::Full
    {
        into.extend(columns.iter().cloned());
    }
    merged_columns(left, into);
    merged_columns(right, into);
}

/// Whether a key of GROUP BY is a list of them.
fn is_list(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ast::ExprKind::Row { explicit: false, .. })
}

/// Whether a query is more than what its body says.
fn has_clauses(query: &ast::Query) -> bool {
    query.with.is_some()
        || !query.order_by.is_empty()
        || query.limit.is_some()
        || query.offset.is_some()
        || !query.locking.is_empty()
}

/// The set operation that a side of another one is.
fn nested(query: &ast::Query) -> Option<(SetKind, bool)> {
    match &query.body {
        Body::SetOperation { kind, all, .. } if !has_clauses(query) => Some((*kind, *all)),
        _ => None,
    }
}

/// Names in parentheses.
pub(super) fn list(names: &[Ident]) -> String {
    let names: Vec<String> = names.iter().map(|name| identifier(name)).collect();
    format!("({})", names.join(", "))
}
