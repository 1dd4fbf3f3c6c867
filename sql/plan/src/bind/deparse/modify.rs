//! INSERT, UPDATE, DELETE and MERGE back to text (`get_insert_query_def` and its kin of `ruleutils.c`).
//!
//! The structure is what was written, and each query and each expression is what it was bound to. What an expression is
//! assigned to is not shown as a cast of it, but where nothing else gives a literal its type.

use super::place::{Around, Frame};
use super::view::{Headings, Writer, list, unwritten};
use super::{Layout, Names, Printer, without_assignment};
use crate::bind::edges::{edges_of_expression, edges_of_field};
use crate::bind::expression::Place;
use crate::bind::from::own_ctes;
use crate::bind::query::Outside;
use crate::bind::scope::Scope;
use crate::bind::system_column_at;
use crate::bind::tree::{FromList, WithTree};
use crate::bind::type_name::{fields_of, oid};
use crate::bind::typed::Expr;
use crate::bind::with::CteScope;
use crate::catalog::quote::identifier;
use crate::catalog::system_column::system_column;
use crate::catalog::{Relation, builtin};
use crate::error::Result;
use crate::parse::ast::{
    self, Alias, Assignment, Body, ConflictTarget, ExprKind, FromItem, Ident, Index, MergeAction,
    ObjectName, TargetColumn, TargetStep,
};
use crate::types::SqlType;
use std::sync::Arc;

/// The columns of one relation by their bare names.
struct Bare<'r>(&'r Relation);

impl Names for Bare<'_> {
    fn column(&self, _: u16, column: u32) -> Result<String> {
        let mut live = self.0.columns.iter().filter(|column| !column.dropped);
        if let Some(found) = live.nth(column as usize) {
            return Ok(identifier(&found.name));
        }
        let system = system_column_at(self.0, column).map(|number| system_column(number).name);
        Ok(system.ok_or_else(|| unwritten("a column without a name"))?.to_owned())
    }
}

/// A statement that changes rows, with what its expressions may name.
struct Changing<'c> {
    /// What it changes.
    relation: Arc<Relation>,
    scope: Scope<'c>,
    row: Frame<'c>,
    ctes: &'c CteScope<'c>,
}

impl<'c> Changing<'c> {
    fn place(&'c self, clause: &'static str) -> Site<'c> {
        Site { place: Place::plain(&self.scope, Some(self.ctes), clause), row: &self.row }
    }
}

/// Where an expression stands, with the names that it may use and what they are called in print.
struct Site<'s> {
    place: Place<'s>,
    row: &'s Frame<'s>,
}

fn target_item(name: &ObjectName, alias: Option<&Ident>) -> FromItem {
    let alias = alias.map(|name| Alias { name: name.clone(), columns: Vec::new() });
    FromItem::Table { name: name.clone(), only: false, alias }
}

impl Writer<'_, '_, '_> {
    /// A statement of a routine's body.
    pub(super) fn statement(&self, statement: &ast::Statement, out: &mut Layout) -> Result<()> {
        let level = out.level();
        match statement {
            ast::Statement::Query(query) => {
                let bound = self.binder.query(query, Outside::NOTHING, None, true)?;
                self.bound_query(&bound, Around::NOTHING, Headings::Unused, out)?;
            }
            ast::Statement::Insert(insert) => self.insert(insert, out)?,
            ast::Statement::Update(update) => self.update(update, out)?,
            ast::Statement::Delete(delete) => self.delete(delete, out)?,
            ast::Statement::Merge(merge) => self.merge(merge, out)?,
            _ => return Err(unwritten("this statement")),
        }
        out.set_level(level);
        Ok(())
    }

    /// Prints a part of a statement whose own WITH queries and FROM items these are; the first item is what is changed.
    fn changing(
        &self,
        with: Option<&ast::With>,
        from: Vec<FromItem>,
        out: &mut Layout,
        print: impl FnOnce(&Changing<'_>, &FromList, &mut Layout) -> Result<()>,
    ) -> Result<()> {
        let ctes = own_ctes(None);
        self.binder.with(with, Outside::NOTHING, &ctes)?;
        let Some(FromItem::Table { name, .. }) = from.first() else {
            return Err(unwritten("this statement"));
        };
        let relation = self.binder.relation(name)?;
        let bound = self.binder.bind_list(&from, Outside::NOTHING, &ctes)?;
        let from = FromList { list: bound.trees, items: bound.items };
        let recursive = with.map(|with| with.recursive);
        let with = recursive.map(|recursive| WithTree { recursive, ctes: ctes.trees.take() });
        let named = with.iter().flat_map(|with| &with.ctes);
        self.ctes.borrow_mut().push(named.map(|cte| cte.name.clone()).collect());
        let names = self.names(&from)?;
        self.within(&names, || {
            if let Some(with) = &with {
                self.with(with, Around::NOTHING, out)?;
            }
            let mut scope = Scope::new(None, 0);
            scope.items.clone_from(&from.items);
            let row = from.frame(&names, Around::NOTHING);
            let changing = Changing { relation, scope, row, ctes: &ctes };
            out.begin();
            print(&changing, &from, out)
        })?;
        self.ctes.borrow_mut().pop();
        Ok(())
    }

    /// The relation that is changed, and its alias behind `word`.
    fn changed(
        &self,
        changing: &Changing<'_>,
        alias: Option<&Ident>,
        word: &str,
        out: &mut Layout,
    ) {
        let relation = self.relation(changing.relation.oid).unwrap_or(&changing.relation);
        out.push_str(&self.relation_name(relation));
        let name = changing.row.names.first().and_then(|printed| printed.name.as_deref());
        if let Some(name) = name.filter(|name| alias.is_some() || *name != &*relation.name) {
            out.push_str(word);
            out.push_str(&identifier(name));
        }
    }

    fn kept(&self, expr: &Expr, site: &Site<'_>, out: &mut Layout) -> Result<()> {
        self.edges.borrow_mut().extend(edges_of_expression(self.binder.catalog, None, expr));
        self.expression(expr, site.row, out)
    }

    fn condition(&self, filter: &ast::Expr, site: &Site<'_>, out: &mut Layout) -> Result<()> {
        let condition = self.binder.condition(filter, &site.place, site.place.clause)?;
        self.kept(&condition, site, out)
    }

    /// The name of a column of what is changed, by the name that it was written with.
    fn column_name(&self, relation: &Relation, column: &TargetColumn) -> Result<(usize, String)> {
        let at = self.binder.target_column(relation, column)?;
        let renamed = self.how.renamed.iter().find(|next| next.oid == relation.oid);
        Ok((at, identifier(&renamed.unwrap_or(relation).columns[at].name)))
    }

    /// A column with the way to the part of it that is assigned.
    fn assigned_column(
        &self,
        relation: &Relation,
        column: &TargetColumn,
        site: &Site<'_>,
        out: &mut Layout,
    ) -> Result<usize> {
        let (at, name) = self.column_name(relation, column)?;
        out.push_str(&name);
        let mut ty = relation.columns[at].ty;
        for step in &column.path {
            match step {
                TargetStep::Field(name) => {
                    // The field of this place may have another name by now.
                    let catalog = self.binder.catalog;
                    let fields = fields_of(catalog, ty.oid).unwrap_or_default();
                    let place = fields.iter().position(|field| field.0 == *name);
                    let now =
                        fields_of(self.how.now.unwrap_or(catalog), ty.oid).unwrap_or_default();
                    let shown = place.and_then(|place| now.get(place));
                    out.push('.');
                    out.push_str(&identifier(shown.map_or(name, |shown| &shown.0)));
                    if let Some(place) = place {
                        let edges = edges_of_field(catalog, ty, place as u32);
                        self.edges.borrow_mut().extend(edges);
                        ty = fields[place].1;
                    }
                }
                TargetStep::Subscript(indices) => {
                    for index in indices {
                        self.subscript(index, site, out)?;
                    }
                    let element = builtin::element_type(ty.oid.0);
                    ty = element.map_or(ty, SqlType::plain);
                }
            }
        }
        Ok(at)
    }

    fn subscript(&self, index: &Index, site: &Site<'_>, out: &mut Layout) -> Result<()> {
        let bound = |expr: &ast::Expr, out: &mut Layout| {
            let bound = self.binder.expression(expr, &site.place)?;
            self.kept(&self.binder.decided(bound)?, site, out)
        };
        out.push('[');
        match index {
            Index::At(at) => bound(at, out)?,
            Index::Slice(from, to) => {
                from.as_ref().map_or(Ok(()), |from| bound(from, out))?;
                out.push(':');
                to.as_ref().map_or(Ok(()), |to| bound(to, out))?;
            }
        }
        out.push(']');
        Ok(())
    }

    /// A value that goes to a column, or to a part of one.
    fn value(
        &self,
        value: &ast::Expr,
        target: Option<(&Relation, usize, bool)>,
        site: &Site<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        if matches!(value.kind, ExprKind::Default) {
            out.push_str("DEFAULT");
            return Ok(());
        }
        let bound = self.binder.expression(value, &site.place)?;
        let untyped = bound.ty().oid.0 == oid::UNKNOWN;
        match target.filter(|(.., whole)| untyped && *whole) {
            Some((relation, at, _)) => {
                let column = &relation.columns[at];
                let cast = self.binder.assign(bound, column.ty, &column.name, 0)?;
                self.kept(without_assignment(&cast), site, out)
            }
            None => self.kept(&self.binder.decided(bound)?, site, out),
        }
    }

    fn returning(
        &self,
        targets: &[ast::Target],
        changing: &Changing<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        if targets.is_empty() {
            return Ok(());
        }
        out.keyword(" RETURNING", -Layout::STANDARD, Layout::STANDARD, 1);
        let Site { place, row } = changing.place("RETURNING");
        let bound = self.binder.targets(targets, &place, true)?;
        for target in &bound {
            let edges = edges_of_expression(self.binder.catalog, None, &target.expr);
            self.edges.borrow_mut().extend(edges);
        }
        self.targets(&bound, row, Headings::Unused, out)
    }

    // --- INSERT ------------------------------------------------------------------------------------------------------

    fn insert(&self, insert: &ast::Insert, out: &mut Layout) -> Result<()> {
        let mut from = vec![target_item(&insert.table, insert.alias.as_ref())];
        let update = insert.on_conflict.as_ref().and_then(|conflict| conflict.update.as_ref());
        if update.is_some() {
            from.push(target_item(&insert.table, Some(&"excluded".into())));
        }
        self.changing(insert.with.as_ref(), from, out, |changing, _, out| {
            out.push_str("INSERT INTO ");
            self.changed(changing, insert.alias.as_ref(), " AS ", out);
            out.push(' ');
            let hidden = Scope::new(None, 0);
            let place = Place::plain(&hidden, Some(changing.ctes), "VALUES");
            let site = Site { place, row: &Frame::empty(Around::NOTHING) };
            let given = match insert.source.as_deref() {
                None => 0,
                Some(query) => self.width(query, changing.ctes)?,
            };
            let columns = self.insert_columns(&insert.columns, given, changing, &site, out)?;
            out.push_str(match insert.overriding {
                None => "",
                Some(true) => "OVERRIDING SYSTEM VALUE ",
                Some(false) => "OVERRIDING USER VALUE ",
            });
            match insert.source.as_deref() {
                None => out.push_str("DEFAULT VALUES"),
                Some(query) => match &query.body {
                    Body::Values(rows) if is_plain(query) => {
                        self.insert_values(rows, &columns, changing, &site, out)?;
                    }
                    _ => {
                        let ctes = Some(changing.ctes);
                        let bound = self.binder.query(query, Outside::NOTHING, ctes, true)?;
                        self.bound_query(&bound, Around::NOTHING, Headings::Unused, out)?;
                    }
                },
            }
            if let Some(conflict) = &insert.on_conflict {
                self.on_conflict(conflict, changing, out)?;
            }
            self.returning(&insert.returning, changing, out)
        })
    }

    /// How many columns a query gives.
    fn width(&self, query: &ast::Query, ctes: &CteScope<'_>) -> Result<usize> {
        if let (Body::Values(rows), true) = (&query.body, is_plain(query)) {
            return Ok(rows.first().map_or(0, Vec::len));
        }
        Ok(self.binder.query(query, Outside::NOTHING, Some(ctes), false)?.output.len())
    }

    /// The list of columns that values are given for; each with whether all of it is given.
    fn insert_columns(
        &self,
        named: &[TargetColumn],
        given: usize,
        changing: &Changing<'_>,
        site: &Site<'_>,
        out: &mut Layout,
    ) -> Result<Vec<(usize, bool)>> {
        let relation = &*changing.relation;
        if given == 0 {
            return Ok(Vec::new());
        }
        let mut columns = Vec::new();
        if named.is_empty() {
            let live = relation.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
            columns.extend(live.map(|(at, _)| (at, true)).take(given));
            let renamed = self.how.renamed.iter().find(|next| next.oid == relation.oid);
            let shown = renamed.unwrap_or(relation);
            let names: Vec<Ident> =
                columns.iter().map(|(at, _)| Arc::clone(&shown.columns[*at].name)).collect();
            out.push_str(&list(&names));
        } else {
            out.push('(');
            for (number, column) in named.iter().enumerate() {
                out.push_str(if number > 0 { ", " } else { "" });
                let at = self.assigned_column(relation, column, site, out)?;
                columns.push((at, column.path.is_empty()));
            }
            out.push(')');
        }
        out.push(' ');
        Ok(columns)
    }

    fn insert_values(
        &self,
        rows: &[Vec<ast::Expr>],
        columns: &[(usize, bool)],
        changing: &Changing<'_>,
        site: &Site<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let single = rows.len() == 1;
        if single {
            out.keyword("VALUES ", -Layout::STANDARD, Layout::STANDARD, 2);
        } else {
            out.push_str("VALUES ");
        }
        for (number, row) in rows.iter().enumerate() {
            out.push_str(if number > 0 { ", (" } else { "(" });
            for (at, value) in row.iter().enumerate() {
                // PostgreSQL prints one row as a list of expressions, and several as it prints VALUES.
                match (at, single) {
                    (0, _) => {}
                    (_, true) => out.push_str(", "),
                    (_, false) => out.push(','),
                }
                let target = columns.get(at).map(|(at, whole)| (&*changing.relation, *at, *whole));
                self.value(value, target, site, out)?;
            }
            out.push(')');
        }
        Ok(())
    }

    fn on_conflict(
        &self,
        conflict: &ast::OnConflict,
        changing: &Changing<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        out.push_str(" ON CONFLICT");
        let relation = &*changing.relation;
        let renamed = self.how.renamed.iter().find(|next| next.oid == relation.oid);
        let bare = Bare(renamed.unwrap_or(relation));
        // What finds the index names the columns of the table alone.
        let mut own = Scope::new(None, 0);
        own.items.extend(changing.scope.items.first().cloned());
        let place = Place::plain(&own, Some(changing.ctes), "ON CONFLICT");
        let print = |expr: &ast::Expr, out: &mut Layout| {
            let bound = self.binder.expression(expr, &place)?;
            let text = super::expression(
                &Printer {
                    catalog: self.how.now.unwrap_or(self.binder.catalog),
                    path: (!self.how.qualified).then_some(self.binder.path),
                    context: self.context,
                    names: &bare,
                    pretty: self.how.pretty,
                },
                &bound,
            )?;
            let plain = matches!(bound, Expr::Column { .. });
            let call = matches!(expr.kind, ExprKind::Call(_));
            out.push_str(&if plain || call { text } else { format!("({text})") });
            Ok::<_, crate::error::SqlError>(())
        };
        match &conflict.target {
            ConflictTarget::Any => {}
            ConflictTarget::Constraint(name) => {
                out.push_str(" ON CONSTRAINT ");
                out.push_str(&identifier(name));
            }
            ConflictTarget::Inferred(keys, filter, _) => {
                out.push('(');
                for (at, key) in keys.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    print(&key.expr, out)?;
                    if let Some(collation) = &key.collation {
                        out.push_str(&format!(" COLLATE {}", identifier(collation.name())));
                    }
                    if let Some(class) = &key.class {
                        out.push_str(&format!(" {}", identifier(class.name())));
                    }
                }
                out.push(')');
                if let Some(filter) = filter {
                    out.keyword(" WHERE ", -Layout::STANDARD, Layout::STANDARD, 1);
                    print(filter, out)?;
                }
            }
        }
        let Some(update) = &conflict.update else {
            out.push_str(" DO NOTHING");
            return Ok(());
        };
        out.push_str(" DO UPDATE SET ");
        self.assignments(&update.assignments, changing, out)?;
        if let Some(filter) = &update.filter {
            out.keyword(" WHERE ", -Layout::STANDARD, Layout::STANDARD, 1);
            self.condition(filter, &changing.place("WHERE"), out)?;
        }
        Ok(())
    }

    // --- UPDATE, DELETE, MERGE ---------------------------------------------------------------------------------------

    fn assignments(
        &self,
        list: &[Assignment],
        changing: &Changing<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let site = changing.place("UPDATE");
        let relation = &*changing.relation;
        for (number, assignment) in list.iter().enumerate() {
            out.push_str(if number > 0 { ", " } else { "" });
            match assignment {
                Assignment::One(column, value) => {
                    let at = self.assigned_column(relation, column, &site, out)?;
                    out.push_str(" = ");
                    let target = (relation, at, column.path.is_empty());
                    self.value(value, Some(target), &site, out)?;
                }
                Assignment::Many(columns, value) => {
                    let ExprKind::Row { fields, .. } = &value.kind else {
                        self.assigned_query(columns, value, changing, &site, out)?;
                        continue;
                    };
                    // A row is no more than its fields.
                    for (at, (column, field)) in columns.iter().zip(fields).enumerate() {
                        out.push_str(if at > 0 { ", " } else { "" });
                        let at = self.assigned_column(relation, column, &site, out)?;
                        out.push_str(" = ");
                        let target = (relation, at, column.path.is_empty());
                        self.value(field, Some(target), &site, out)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `(a, b) = (SELECT ...)`.
    fn assigned_query(
        &self,
        columns: &[TargetColumn],
        value: &ast::Expr,
        changing: &Changing<'_>,
        site: &Site<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let ExprKind::Subquery(query) = &value.kind else { return Err(unwritten("this SET")) };
        out.push('(');
        for (at, column) in columns.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            self.assigned_column(&changing.relation, column, site, out)?;
        }
        out.push_str(") = (");
        let outside = Outside::of(&site.place);
        let bound = self.binder.query(query, outside, site.place.ctes, true)?;
        self.bound_query(&bound, Around::of(site.row), Headings::Unused, out)?;
        out.push(')');
        Ok(())
    }

    fn filter(
        &self,
        filter: Option<&ast::Expr>,
        changing: &Changing<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let Some(filter) = filter else { return Ok(()) };
        out.keyword(" WHERE ", -Layout::STANDARD, Layout::STANDARD, 1);
        self.condition(filter, &changing.place("WHERE"), out)
    }

    fn update(&self, update: &ast::Update, out: &mut Layout) -> Result<()> {
        let mut from = vec![target_item(&update.table, update.alias.as_ref())];
        from.extend(update.from.iter().cloned());
        self.changing(update.with.as_ref(), from, out, |changing, from, out| {
            out.push_str("UPDATE ");
            self.changed(changing, update.alias.as_ref(), " AS ", out);
            out.push_str(" SET ");
            self.assignments(&update.assignments, changing, out)?;
            self.list_of_from(" FROM ", from, 1, &changing.row, out)?;
            self.filter(update.filter.as_ref(), changing, out)?;
            self.returning(&update.returning, changing, out)
        })
    }

    fn delete(&self, delete: &ast::Delete, out: &mut Layout) -> Result<()> {
        let mut from = vec![target_item(&delete.table, delete.alias.as_ref())];
        from.extend(delete.using.iter().cloned());
        self.changing(delete.with.as_ref(), from, out, |changing, from, out| {
            out.push_str("DELETE FROM ");
            self.changed(changing, delete.alias.as_ref(), " ", out);
            self.list_of_from(" USING ", from, 1, &changing.row, out)?;
            self.filter(delete.filter.as_ref(), changing, out)?;
            self.returning(&delete.returning, changing, out)
        })
    }

    fn merge(&self, merge: &ast::Merge, out: &mut Layout) -> Result<()> {
        let from = vec![target_item(&merge.table, merge.alias.as_ref()), merge.source.clone()];
        self.changing(merge.with.as_ref(), from, out, |changing, from, out| {
            out.push_str("MERGE INTO ");
            self.changed(changing, merge.alias.as_ref(), " ", out);
            self.list_of_from(" USING ", from, 1, &changing.row, out)?;
            out.keyword(" ON ", -Layout::STANDARD, Layout::STANDARD, 2);
            self.condition(&merge.on, &changing.place("JOIN/ON"), out)?;
            for clause in &merge.clauses {
                out.keyword(" WHEN ", -Layout::STANDARD, Layout::STANDARD, 2);
                out.push_str(if clause.matched { "MATCHED" } else { "NOT MATCHED" });
                if let Some(condition) = &clause.condition {
                    out.keyword(" AND ", -Layout::STANDARD, Layout::STANDARD, 3);
                    self.condition(condition, &changing.place("MERGE WHEN"), out)?;
                }
                out.keyword(" THEN ", -Layout::STANDARD, Layout::STANDARD, 3);
                self.merge_action(&clause.action, changing, out)?;
            }
            Ok(())
        })
    }

    fn merge_action(
        &self,
        action: &MergeAction,
        changing: &Changing<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        match action {
            MergeAction::Nothing => out.push_str("DO NOTHING"),
            MergeAction::Delete => out.push_str("DELETE"),
            MergeAction::Update(assignments) => {
                out.push_str("UPDATE SET ");
                self.assignments(assignments, changing, out)?;
            }
            MergeAction::Insert { columns, overriding, values } => {
                out.push_str("INSERT ");
                let site = changing.place("VALUES");
                let given = values.as_ref().map_or(0, Vec::len);
                let columns = self.insert_columns(columns, given, changing, &site, out)?;
                out.push_str(match overriding {
                    None => "",
                    Some(true) => "OVERRIDING SYSTEM VALUE ",
                    Some(false) => "OVERRIDING USER VALUE ",
                });
                let Some(values) = values else {
                    out.push_str("DEFAULT VALUES");
                    return Ok(());
                };
                out.trim_spaces();
                out.keyword(" VALUES (", -Layout::STANDARD, Layout::STANDARD, 4);
                for (at, value) in values.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    let target = columns.get(at);
                    let target = target.map(|(at, whole)| (&*changing.relation, *at, *whole));
                    self.value(value, target, &site, out)?;
                }
                out.push(')');
            }
        }
        Ok(())
    }
}

/// Whether a query is no more than its body.
fn is_plain(query: &ast::Query) -> bool {
    query.with.is_none()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.offset.is_none()
}
