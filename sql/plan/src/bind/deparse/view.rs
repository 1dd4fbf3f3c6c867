//! A view's query as `pg_get_viewdef` prints it (`get_query_def` of `ruleutils.c`): stars spelt out, columns qualified,
//! casts and constants' types shown, each clause on a line of its own.
//!
//! The structure of the text is the written query's. Its expressions are bound again, clause by clause, in the scopes that
//! binding gives them, and printed from what they were bound to.

use super::place::Here;
use super::printed::Printed;
use super::routine_body::RoutineText;
use super::set_operation::selected_values;
use super::simple::Parent;
use super::{Layout, Printer};
use crate::bind::expression::Place;
use crate::bind::grouping::{AGGREGATES, Collected};
use crate::bind::levels::same;
use crate::bind::query::Outside;
use crate::bind::scope::Scope;
use crate::bind::subquery::Written;
use crate::bind::target::BoundTarget;
use crate::bind::type_name::oid;
use crate::bind::typed::Expr;
use crate::bind::with::CteScope;
use crate::bind::{Binder, Environment, lock_words};
use crate::catalog::definition::Edge;
use crate::catalog::quote::identifier;
use crate::catalog::{CatalogSnapshot, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Body, CteBody, Distinct, GroupItem, Ident, Select};
use crate::types::{CallContext, SqlType};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
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
        // What a view reads is not shown, and views may read each other.
        opaque_views: true,
        subqueries: Some(Written::default()),
        ..Binder::new(environment, text, &[])
    };
    let writer = Writer {
        binder: &binder,
        context,
        how,
        taken: RefCell::default(),
        printed: RefCell::default(),
        untyped: RefCell::default(),
        routine: None,
        returns: Cell::new(false),
        edges: RefCell::default(),
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
    /// These, for those who read: they are another side's of a UNION or its kin.
    Behind(&'h [Ident]),
    /// Their own, which somebody may use.
    Own,
    /// Nobody asks for them.
    Unused,
}

/// Prints a query.
pub(super) struct Writer<'w, 'b, 'a> {
    /// Binds its parts again.
    pub binder: &'w Binder<'b>,
    pub context: &'w CallContext<'a>,
    pub how: ViewText<'w>,
    /// The names of FROM items in the queries around, outermost first.
    pub taken: RefCell<Vec<Vec<String>>>,
    /// What the items of the scopes under way are called in print, by the scope's address: inner queries name them too.
    pub printed: RefCell<Vec<(usize, Vec<Printed>)>>,
    /// The types that literals without one have in the select list of the query that is written next: it is a side of a
    /// UNION or its kin.
    pub untyped: RefCell<Option<Vec<SqlType>>>,
    /// The routine whose body it is.
    pub routine: Option<&'w RoutineText<'w>>,
    /// The query that is written next is what RETURN gives.
    pub returns: Cell<bool>,
    /// What expressions of statements that change rows depend on.
    pub edges: RefCell<Vec<Edge>>,
}

/// 0A000.
pub(super) fn unwritten(what: &str) -> SqlError {
    SqlError::unsupported(format!("{what} in a printed query is"))
}

impl<'w, 'b, 'a> Writer<'w, 'b, 'a> {
    pub(super) fn print(
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
        if let Body::Values(rows) = &query.body
            && let Headings::Given(names) | Headings::Behind(names) = headings
            && let Some(query) = selected_values(query, rows, names)
        {
            return self.query(&query, outside, ctes, headings, out);
        }
        let level = out.level();
        let untyped = self.untyped.take();
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
                self.select(query, select, names, outside, &scope, (headings, untyped), out)?;
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

    pub(super) fn with(
        &self,
        with: &ast::With,
        outside: Outside<'_>,
        scope: &CteScope<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        out.begin();
        out.push_str(if with.recursive { "WITH RECURSIVE " } else { "WITH " });
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

    #[expect(clippy::too_many_arguments, reason = "the parts of one query block")]
    fn select(
        &self,
        query: &ast::Query,
        select: &Select,
        names: Vec<Printed>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        (headings, untyped): (Headings<'_>, Option<Vec<SqlType>>),
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
        let decide = untyped.is_none() || matches!(select.distinct, Distinct::All);
        let mut targets = binder.targets(&select.targets, &place, decide)?;
        let visible = targets.len();
        let keys = binder.group_keys(select, &mut targets, visible, &place)?;
        for (target, ty) in targets.iter_mut().zip(untyped.iter().flatten()) {
            if target.expr.ty().oid.0 == oid::UNKNOWN {
                target.expr = binder.argument(target.expr.clone(), ty.oid, 0)?;
            }
        }
        let mut order_by = binder.order_by(query, select, &mut targets, visible, &place)?;
        // What is sorted by twice says nothing. In a text that was kept two items may look the same that were told by number.
        if self.how.qualified {
            let mut known = HashSet::new();
            order_by.retain(|(target, _)| known.insert(*target));
        }
        let distinct_on = binder.distinct_on(&select.distinct, &mut targets, visible, &place)?;

        out.begin();
        let returns = self.returns.take();
        out.push_str(if returns { "RETURN" } else { "SELECT" });
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
        if returns {
            out.push(' ');
            for (target, _) in targets.iter().zip(0..visible) {
                self.print(&place, |printer| printer.column(&target.expr, out))?;
            }
        } else {
            self.targets(&targets[..visible], &place, headings, out)?;
        }
        let mut item = 0;
        for (at, from) in select.from.iter().enumerate() {
            if at == 0 {
                out.keyword(" FROM ", -Layout::STANDARD, Layout::STANDARD, 2);
                self.from(from, &mut item, &names, &place, outside, out)?;
                continue;
            }
            self.next_from(out, |out| self.from(from, &mut item, &names, &place, outside, out))?;
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
            // One set of keys, however it is written, is a plain list.
            if keys.sets.len() == 1 && !keys.keys.is_empty() {
                self.print(&place, |printer| {
                    keys.keys.iter().enumerate().try_for_each(|(at, key)| {
                        out.push_str(if at > 0 { ", " } else { "" });
                        printer.sort_item(key, out)
                    })
                })?;
            } else {
                self.groups(&select.group_by, &targets, &place, out)?;
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

    /// Another item of FROM: in the line of the one before it, where there is room.
    pub(super) fn next_from(
        &self,
        out: &mut Layout,
        print: impl FnOnce(&mut Layout) -> Result<()>,
    ) -> Result<()> {
        out.push_str(", ");
        let mut text = out.beside();
        print(&mut text)?;
        if text.text.starts_with('\n') {
            out.trim_spaces();
        } else if !out.is_flat() && out.line_length() + text.text.len() > self.how.wrap {
            out.keyword("", -Layout::STANDARD, Layout::STANDARD, Layout::VAR);
        }
        out.push_str(&text.text);
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

    pub(super) fn targets(
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
                Headings::Given(names) | Headings::Behind(names) => {
                    names.get(at).unwrap_or(&target.name)
                }
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
                    let shared = Here { writer: self, place }.shared_column(other);
                    let shared = shared.map(|(_, column)| column);
                    match headings {
                        // What is kept says it, as a literal that has its type by now would have that one's name.
                        Headings::Behind(_) | Headings::Unused
                            if shared.is_none() && !self.how.qualified =>
                        {
                            Some("?column?".to_owned())
                        }
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
                let long = !out.is_flat() && out.line_length() + text.text.len() > self.how.wrap;
                if at > 0 && (long || many_lines) {
                    out.keyword("", -Layout::STANDARD, Layout::STANDARD, Layout::VAR);
                }
                many_lines = text.text.contains('\n');
            }
            out.push_str(&text.text);
        }
        Ok(())
    }

    /// What GROUP BY names, flattened as by `transformGroupClause`: a list that is not within a grouping set is no more
    /// than its keys, a key counts once, and an empty set beside others says nothing.
    fn groups(
        &self,
        items: &[GroupItem],
        targets: &[BoundTarget],
        place: &Place<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        if items.iter().all(|item| matches!(item, GroupItem::Empty)) {
            out.push_str("()");
            return Ok(());
        }
        let mut keys = Vec::new();
        let mut first = true;
        let mut separate = |out: &mut Layout| {
            out.push_str(if std::mem::take(&mut first) { "" } else { ", " });
        };
        for item in items {
            match item {
                GroupItem::Empty => {}
                GroupItem::Expr(expr) => {
                    for key in self.new_keys(expr, targets, place, &mut keys)? {
                        separate(out);
                        self.print(place, |printer| printer.sort_item(&key, out))?;
                    }
                }
                _ => {
                    separate(out);
                    self.group(item, targets, place, out)?;
                }
            }
        }
        Ok(())
    }

    /// The keys of an item that are not among `known`, where they stand then.
    fn new_keys(
        &self,
        expr: &ast::Expr,
        targets: &[BoundTarget],
        place: &Place<'_>,
        known: &mut Vec<Expr>,
    ) -> Result<Vec<Expr>> {
        let fields = match &expr.kind {
            ast::ExprKind::Row { fields, explicit: false } => fields,
            _ => std::slice::from_ref(expr),
        };
        let mut new = Vec::new();
        for field in fields {
            // Lists within lists are flattened too.
            if is_list(field) {
                new.extend(self.new_keys(field, targets, place, known)?);
                continue;
            }
            let (key, _) = self.binder.group_key(field, targets, place)?;
            if !known.iter().any(|known| same(known, &key)) {
                known.push(key.clone());
                new.push(key);
            }
        }
        Ok(new)
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
                for (at, item) in flat(items).into_iter().enumerate() {
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
        if is_list(expr) {
            out.push('(');
            for (at, key) in
                self.new_keys(expr, targets, place, &mut Vec::new())?.iter().enumerate()
            {
                out.push_str(if at > 0 { ", " } else { "" });
                self.print(place, |printer| printer.sort_item(key, out))?;
            }
            out.push(')');
            return Ok(());
        }
        let (key, _) = self.binder.group_key(expr, targets, place)?;
        self.print(place, |printer| printer.sort_item(&key, out))
    }

    /// LIMIT and OFFSET.
    pub(super) fn limits(
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
            self.number(offset, &place, out)?;
        }
        if let Some(limit) = &query.limit {
            let word = if query.with_ties { " FETCH FIRST (" } else { " LIMIT " };
            out.keyword(word, -Layout::STANDARD, Layout::STANDARD, 0);
            match limit.kind {
                // ALL is no limit at all where it is read.
                ast::ExprKind::Null if self.how.qualified => out.push_str("NULL"),
                ast::ExprKind::Null => out.push_str("ALL"),
                _ => self.number(limit, &place, out)?,
            }
            if query.with_ties {
                out.push_str(") ROWS WITH TIES");
            }
        }
        Ok(())
    }

    /// How many rows: what is not `bigint` has become that, which is not shown.
    fn number(&self, expr: &ast::Expr, place: &Place<'_>, out: &mut Layout) -> Result<()> {
        let bound = self.binder.expression(expr, place)?;
        if [oid::INT8, oid::UNKNOWN].contains(&bound.ty().oid.0) {
            return self.expression(&bound, place, out);
        }
        self.print(place, |printer| printer.operand(&bound, Parent::Cast, out))
    }
}

/// The items of GROUPING SETS, with those of grouping sets among them in their place.
fn flat(items: &[GroupItem]) -> Vec<&GroupItem> {
    let mut found = Vec::new();
    for item in items {
        match item {
            GroupItem::Sets(items) => found.extend(flat(items)),
            _ => found.push(item),
        }
    }
    found
}

/// Whether a key of GROUP BY is a list of them.
fn is_list(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ast::ExprKind::Row { explicit: false, .. })
}

/// Whether a query is more than what its body says.
pub(super) fn has_clauses(query: &ast::Query) -> bool {
    query.with.is_some()
        || !query.order_by.is_empty()
        || query.limit.is_some()
        || query.offset.is_some()
        || !query.locking.is_empty()
}

/// Names in parentheses.
pub(super) fn list(names: &[Ident]) -> String {
    let names: Vec<String> = names.iter().map(|name| identifier(name)).collect();
    format!("({})", names.join(", "))
}
