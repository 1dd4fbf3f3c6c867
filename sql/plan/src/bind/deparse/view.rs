//! A view's query as `pg_get_viewdef` prints it (`get_query_def` of `ruleutils.c`): stars spelt out, columns qualified,
//! casts and constants' types shown, each clause on a line of its own.
//!
//! It is printed from its tree alone: what the relations and columns that this names are called is asked of the catalog.

use super::place::{Around, Frame, Here};
use super::printed::Printed;
use super::routine_body::RoutineText;
use super::set_operation::selected_values;
use super::simple::Parent;
use super::{Layout, Printer};
use crate::bind::grouping::AGGREGATES;
use crate::bind::kept::{Opening, open_view};
use crate::bind::levels::same;
use crate::bind::locking::LockedItem;
use crate::bind::logical::Query;
use crate::bind::query::Outside;
use crate::bind::target::BoundTarget;
use crate::bind::tree::{
    BodyTree, CteTree, CycleTree, DistinctTree, GroupTree, GroupsTree, QueryTree, SelectTree,
    WithTree,
};
use crate::bind::type_name::oid;
use crate::bind::typed::{Expr, Literal};
use crate::bind::{Binder, Environment, lock_words};
use crate::catalog::definition::{Edge, ViewQuery};
use crate::catalog::quote::identifier;
use crate::catalog::{CatalogSnapshot, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::Ident;
use crate::parse::depth::within;
use crate::types::CallContext;
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

/// A view's query as PostgreSQL prints it; `columns` are the names of what it returns.
///
/// # Errors
/// 0A000 for what cannot be printed; those of binding and XX001.
pub fn view_text(
    environment: Environment<'_>,
    context: &CallContext<'_>,
    query: &ViewQuery,
    columns: &[Ident],
    how: ViewText<'_>,
) -> Result<String> {
    let opening = open_view(environment.catalog, query)?;
    let is_text = matches!(opening, Opening::Text(..));
    let binder = Binder {
        printed: is_text && !how.qualified,
        written: how.qualified,
        // What a view reads is not shown, and views may read each other.
        opaque_views: true,
        keeps_trees: true,
        ..Binder::new(environment, opening.text(), &[])
    };
    within(opening.height(), || match &opening {
        Opening::Text(_, parsed) => {
            let bound = binder.query(parsed, Outside::NOTHING, None, true)?;
            let tree = bound.tree.ok_or_else(|| unwritten("this query"))?;
            tree_text(&binder, context, &tree, columns, how)
        }
        Opening::Tree(_) => {
            let (shapes, tree) = opening.shown().ok_or_else(|| unwritten("this query"))?;
            binder.records.borrow_mut().clone_from(shapes);
            tree_text(&binder, context, tree, columns, how)
        }
    })
}

/// The same of its tree.
fn tree_text(
    binder: &Binder<'_>,
    context: &CallContext<'_>,
    tree: &QueryTree,
    columns: &[Ident],
    how: ViewText<'_>,
) -> Result<String> {
    let writer = Writer {
        binder,
        context,
        how,
        // PostgreSQL's views have two more relations of these names.
        taken: RefCell::new(vec![vec!["old".to_owned(), "new".to_owned()]]),
        ctes: RefCell::default(),
        routine: None,
        returns: Cell::new(false),
        edges: RefCell::default(),
    };
    let mut out = Layout::default();
    writer.query(tree, Around::NOTHING, Headings::Given(columns), &mut out)?;
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
    /// Has bound it: it knows the fields of its records.
    pub binder: &'w Binder<'b>,
    pub context: &'w CallContext<'a>,
    pub how: ViewText<'w>,
    /// The names of FROM items in the queries around, outermost first.
    pub taken: RefCell<Vec<Vec<String>>>,
    /// The names of the WITH queries of the same.
    pub ctes: RefCell<Vec<Vec<Ident>>>,
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
        frame: &Frame<'_>,
        print: impl FnOnce(&Printer<'_, 'a>) -> Result<()>,
    ) -> Result<()> {
        let names = Here { writer: self, frame };
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
        frame: &Frame<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        self.print(frame, |printer| printer.write(expr, out))
    }

    /// A query that has been bound.
    pub(super) fn bound_query(
        &self,
        query: &Query,
        around: Around<'_>,
        headings: Headings<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let tree = query.tree.as_deref().ok_or_else(|| unwritten("this query"))?;
        self.query(tree, around, headings, out)
    }

    /// A whole query: it begins at the level of what it stands in, and leaves that as it was.
    pub(super) fn query(
        &self,
        query: &QueryTree,
        around: Around<'_>,
        headings: Headings<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        if let Headings::Given(names) | Headings::Behind(names) = headings
            && let Some(query) = selected_values(query, names)
        {
            return self.query(&query, around, headings, out);
        }
        let level = out.level();
        let ctes = query.with.iter().flat_map(|with| &with.ctes);
        self.ctes.borrow_mut().push(ctes.map(|cte| cte.name.clone()).collect());
        let names = match &query.body {
            BodyTree::Select(select) => self.names(&select.from)?,
            BodyTree::Values { .. } | BodyTree::SetOperation { .. } => Vec::new(),
        };
        self.within(&names, || {
            if let Some(with) = &query.with {
                self.with(with, around, out)?;
            }
            match &query.body {
                BodyTree::Select(select) => {
                    self.select(query, select, &names, around, headings, out)
                }
                BodyTree::Values { rows, types } => {
                    out.set_level(out.level() + Layout::STANDARD);
                    out.push(' ');
                    self.values(rows, types, around, out)?;
                    self.numbered(query, around, out)
                }
                BodyTree::SetOperation { .. } => {
                    self.set_operation(query, around, headings, out)?;
                    self.numbered(query, around, out)
                }
            }
        })?;
        self.ctes.borrow_mut().pop();
        out.set_level(level);
        Ok(())
    }

    /// Prints what stands where items of FROM have these names.
    pub(super) fn within<T>(
        &self,
        names: &[Printed],
        print: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let taken = names.iter().filter(|item| !item.beside);
        self.taken.borrow_mut().push(taken.filter_map(|item| item.name.clone()).collect());
        let printed = print();
        self.taken.borrow_mut().pop();
        printed
    }

    pub(super) fn with(&self, with: &WithTree, around: Around<'_>, out: &mut Layout) -> Result<()> {
        out.begin();
        out.push_str(if with.recursive { "WITH RECURSIVE " } else { "WITH " });
        for (at, cte) in with.ctes.iter().enumerate() {
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
            let query = cte.query.as_ref().ok_or_else(|| unwritten("this statement"))?;
            self.query(query, around, Headings::Own, out)?;
            out.keyword("", 0, 0, 0);
            out.push(')');
            self.traces(cte, around, out)?;
        }
        out.keyword("", -Layout::STANDARD, 0, 0);
        Ok(())
    }

    /// SEARCH and CYCLE.
    fn traces(&self, cte: &CteTree, around: Around<'_>, out: &mut Layout) -> Result<()> {
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
        let Some(CycleTree { columns, mark, path, values }) = &cte.cycle else { return Ok(()) };
        out.push_str(" CYCLE ");
        out.push_str(&names(columns));
        out.push_str(" SET ");
        out.push_str(&identifier(mark));
        if let Some((value, otherwise)) = values {
            let frame = Frame::empty(around);
            let shown = |value: &Expr| -> Result<String> {
                let mut text = Layout::default();
                self.expression(value, &frame, &mut text)?;
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
        out.push_str(&identifier(path));
        Ok(())
    }

    // --- SELECT ------------------------------------------------------------------------------------------------------

    fn select(
        &self,
        query: &QueryTree,
        select: &SelectTree,
        names: &[Printed],
        around: Around<'_>,
        headings: Headings<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let SelectTree { from, targets, visible, groups, collected, .. } = select;
        let frame = Frame { calls: Some(collected), ..from.frame(names, around) };
        let mut order_by: Vec<_> = select.order_by.iter().collect();
        // What is sorted by twice says nothing. In a text that was kept two items may look the same that were told by number.
        if !self.binder.printed {
            let mut known = HashSet::new();
            order_by.retain(|(target, _)| known.insert(*target));
        }
        out.begin();
        let returns = self.returns.take();
        out.push_str(if returns { "RETURN" } else { "SELECT" });
        match &select.distinct {
            DistinctTree::No => {}
            DistinctTree::All => out.push_str(" DISTINCT"),
            DistinctTree::On(on) => {
                out.push_str(" DISTINCT ON (");
                for (at, target) in on.iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    self.print(&frame, |printer| printer.sort_item(&targets[*target].expr, out))?;
                }
                out.push(')');
            }
        }
        if returns {
            out.push(' ');
            for target in &targets[..*visible] {
                self.print(&frame, |printer| printer.column(&target.expr, out))?;
            }
        } else {
            self.targets(&targets[..*visible], &frame, headings, out)?;
        }
        self.list_of_from(" FROM ", from, 0, &frame, out)?;
        if let Some(condition) = &select.filter {
            out.keyword(" WHERE ", -Layout::STANDARD, Layout::STANDARD, 1);
            self.expression(condition, &frame, out)?;
        }
        if !groups.items.is_empty() {
            out.keyword(" GROUP BY ", -Layout::STANDARD, Layout::STANDARD, 1);
            if groups.distinct {
                out.push_str("DISTINCT ");
            }
            self.groups(groups, &frame, out)?;
        }
        if let Some(condition) = &select.having {
            out.keyword(" HAVING ", -Layout::STANDARD, Layout::STANDARD, 0);
            self.expression(condition, &frame, out)?;
        }
        for (at, (name, window)) in collected.named.iter().enumerate() {
            match at {
                0 => out.keyword(" WINDOW ", -Layout::STANDARD, Layout::STANDARD, 1),
                _ => out.push_str(", "),
            }
            out.push_str(&identifier(name));
            out.push_str(" AS (");
            self.print(&frame, |printer| printer.window(window, out))?;
            out.push(')');
        }
        for (at, (target, key)) in order_by.into_iter().enumerate() {
            match at {
                0 => out.keyword(" ORDER BY ", -Layout::STANDARD, Layout::STANDARD, 1),
                _ => out.push_str(", "),
            }
            self.print(&frame, |printer| printer.sort_item(&targets[*target].expr, out))?;
            out.push_str(super::direction(key));
        }
        self.limits(query, &frame, out)?;
        self.locks(&select.locks, names, out)
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
    fn locks(&self, locks: &[LockedItem], names: &[Printed], out: &mut Layout) -> Result<()> {
        for lock in locks {
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
        frame: &Frame<'_>,
        headings: Headings<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let mut many_lines = false;
        for (at, target) in targets.iter().enumerate() {
            out.push_str(if at == 0 { " " } else { ", " });
            let mut text = out.beside();
            self.print(frame, |printer| printer.column(&target.expr, &mut text))?;
            let heading = match headings {
                Headings::Given(names) | Headings::Behind(names) => {
                    names.get(at).unwrap_or(&target.name)
                }
                Headings::Own | Headings::Unused => &target.name,
            };
            let here = Here { writer: self, frame };
            let own = match &target.expr {
                Expr::Column { level, column, .. } if *column < AGGREGATES => {
                    here.column_named(*level, *column).map(|(_, column)| column)
                }
                other => match (here.shared_column(other), headings) {
                    (Some((_, column)), _) => Some(column),
                    // What is kept says it, as a literal that has its type by now would have that one's name.
                    (None, Headings::Behind(_) | Headings::Unused) if !self.how.qualified => {
                        Some("?column?".into())
                    }
                    (None, _) => None,
                },
            };
            if own.as_ref() != Some(heading) {
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
    /// than its keys, a key counts once, and an empty set beside others says nothing. One set of keys, however it is written,
    /// is a plain list.
    fn groups(&self, groups: &GroupsTree, frame: &Frame<'_>, out: &mut Layout) -> Result<()> {
        if groups.is_plain {
            return self.sort_items(groups.keys.iter(), frame, out);
        }
        if groups.items.iter().all(|item| matches!(item, GroupTree::Empty)) {
            out.push_str("()");
            return Ok(());
        }
        let mut known = Vec::new();
        let mut first = true;
        let mut separate = |out: &mut Layout| {
            out.push_str(if std::mem::take(&mut first) { "" } else { ", " });
        };
        for item in &groups.items {
            match item {
                GroupTree::Empty => {}
                GroupTree::Key(_) | GroupTree::List(_) => {
                    let keys = new_keys(item, groups, &mut known);
                    if !keys.is_empty() {
                        separate(out);
                        self.sort_items(keys.into_iter(), frame, out)?;
                    }
                }
                _ => {
                    separate(out);
                    self.group(item, groups, frame, out)?;
                }
            }
        }
        Ok(())
    }

    fn sort_items<'k>(
        &self,
        keys: impl Iterator<Item = &'k Expr>,
        frame: &Frame<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        self.print(frame, |printer| {
            keys.enumerate().try_for_each(|(at, key)| {
                out.push_str(if at > 0 { ", " } else { "" });
                printer.sort_item(key, out)
            })
        })
    }

    fn group(
        &self,
        item: &GroupTree,
        groups: &GroupsTree,
        frame: &Frame<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let many = |word: &str, items: &[GroupTree], out: &mut Layout| -> Result<()> {
            out.push_str(word);
            out.push('(');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push_str(", ");
                }
                self.group(item, groups, frame, out)?;
            }
            out.push(')');
            Ok(())
        };
        match item {
            GroupTree::Key(_) => {
                self.sort_items(new_keys(item, groups, &mut Vec::new()).into_iter(), frame, out)
            }
            GroupTree::List(_) => {
                out.push('(');
                let keys = new_keys(item, groups, &mut Vec::new());
                self.sort_items(keys.into_iter(), frame, out)?;
                out.push(')');
                Ok(())
            }
            GroupTree::Empty => {
                out.push_str("()");
                Ok(())
            }
            GroupTree::Rollup(items) => many("ROLLUP", items, out),
            GroupTree::Cube(items) => many("CUBE", items, out),
            GroupTree::Sets(items) => {
                out.push_str("GROUPING SETS (");
                for (at, item) in flat(items).into_iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    match item {
                        // A set of one key stands in parentheses too.
                        GroupTree::Key(_) => many("", std::slice::from_ref(item), out)?,
                        _ => self.group(item, groups, frame, out)?,
                    }
                }
                out.push(')');
                Ok(())
            }
        }
    }

    /// LIMIT and OFFSET.
    pub(super) fn limits(
        &self,
        query: &QueryTree,
        frame: &Frame<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        if let Some(offset) = &query.offset {
            out.keyword(" OFFSET ", -Layout::STANDARD, Layout::STANDARD, 0);
            self.number(offset, frame, out)?;
        }
        if let Some(limit) = &query.limit {
            let word = if query.with_ties { " FETCH FIRST (" } else { " LIMIT " };
            out.keyword(word, -Layout::STANDARD, Layout::STANDARD, 0);
            match limit {
                // ALL is no limit at all where it is read.
                Expr::Constant(Literal::Null, ty) if ty.oid.0 == oid::UNKNOWN => {
                    out.push_str(if self.how.qualified { "NULL" } else { "ALL" });
                }
                _ => self.number(limit, frame, out)?,
            }
            if query.with_ties {
                out.push_str(") ROWS WITH TIES");
            }
        }
        Ok(())
    }

    /// How many rows: what is not `bigint` has become that, which is not shown.
    fn number(&self, expr: &Expr, frame: &Frame<'_>, out: &mut Layout) -> Result<()> {
        if [oid::INT8, oid::UNKNOWN].contains(&expr.ty().oid.0) {
            return self.expression(expr, frame, out);
        }
        self.print(frame, |printer| printer.operand(expr, Parent::Cast, out))
    }
}

/// The keys of an item that are not among `known`, where they stand then.
fn new_keys<'g>(
    item: &GroupTree,
    groups: &'g GroupsTree,
    known: &mut Vec<&'g Expr>,
) -> Vec<&'g Expr> {
    let mut new = Vec::new();
    for number in item.keys() {
        let key = &groups.keys[number as usize];
        if !known.iter().any(|known| same(known, key)) {
            known.push(key);
            new.push(key);
        }
    }
    new
}

/// The items of GROUPING SETS, with those of grouping sets among them in their place.
fn flat(items: &[GroupTree]) -> Vec<&GroupTree> {
    let mut found = Vec::new();
    for item in items {
        match item {
            GroupTree::Sets(items) => found.extend(flat(items)),
            _ => found.push(item),
        }
    }
    found
}

/// Names in parentheses.
pub(super) fn list(names: &[Ident]) -> String {
    let names: Vec<String> = names.iter().map(|name| identifier(name)).collect();
    format!("({})", names.join(", "))
}
