//! What a bound tree depends on: the edges that a definition is kept with.
//!
//! The rules are those of PostgreSQL's `find_expr_references_walker` (`dependency.c`): a constant depends on its type, and
//! one of `regclass` on the relation too; a cast on the type that it makes, a row on its own, a field of a row on that column of
//! the row's relation, a call on its function. Relations and their columns come from what the binder has noted of them.

use crate::bind::levels::parts;
use crate::bind::logical::{Cte, CteBody, FrameBound, Node, Query, SortKey};
use crate::bind::typed::{AggregateCall, CallForm, Expr, Literal, SubqueryKind};
use crate::bind::{Bound, BoundStatement, Holder, Required, system_column_at};
use crate::catalog::definition::Edge;
use crate::catalog::relation::Relation;
use crate::catalog::{CatalogSnapshot, builtin, extension};
use crate::types::{Oid, SqlType, oids};

/// What a definition over the columns of `relation` (one that stands by itself without one) depends on.
#[must_use]
pub fn edges_of_expression(
    catalog: &CatalogSnapshot,
    relation: Option<&Relation>,
    expr: &Expr,
) -> Vec<Edge> {
    // VALUE is a column of a relation that is none.
    let relation = relation.filter(|relation| relation.oid != Oid(0));
    let live = relation.map_or(&[][..], |relation| &relation.columns).iter().enumerate();
    let live = live.filter(|(_, column)| !column.dropped).map(|(at, _)| at as i16 + 1).collect();
    let mut walk = Walk { catalog, own: relation.map(|over| (over, live)), edges: Vec::new() };
    walk.expr(expr);
    walk.edges
}

/// What depends on a field of a row, by its place, depends on.
#[must_use]
pub fn edges_of_field(catalog: &CatalogSnapshot, of: SqlType, field: u32) -> Vec<Edge> {
    let mut walk = Walk { catalog, own: None, edges: Vec::new() };
    walk.field(of, field);
    walk.edges
}

/// What a view of this query, whose views were not opened, depends on.
#[must_use]
pub fn edges_of_query(catalog: &CatalogSnapshot, bound: &Bound) -> Vec<Edge> {
    let mut walk = Walk { catalog, own: None, edges: Vec::new() };
    walk.edges.extend(bound.keys.iter().map(|key| Edge::Constraint(*key)));
    let mut whole_rows = Vec::new();
    for required in &bound.required {
        match required {
            // What stands behind another view is that view's, whose owner it names.
            Required::Relation { relation, holder: Holder::Asker, columns, .. } => {
                let named = columns.iter().map(|(column, _)| Edge::Relation(*relation, *column));
                walk.edges.extend(named);
                if columns.is_empty() {
                    walk.edges.push(Edge::Relation(*relation, 0));
                }
                let whole = columns.iter().any(|(column, _)| *column == 0);
                let found = catalog.relation(*relation).filter(|_| whole);
                whole_rows.extend(found.map(|found| found.row_type.0));
            }
            Required::Function(oid) => walk.function(*oid),
            Required::Relation { .. } | Required::Called(_) | Required::Schema(..) => {}
        }
    }
    bound.fields.iter().for_each(|(ty, field)| walk.field(*ty, *field));
    if let BoundStatement::Query(query) = &bound.statement {
        walk.query(query);
    }
    // The row of a relation that is read is that relation's, and no constructor of its type.
    walk.edges.retain(|edge| !matches!(edge, Edge::Type(ty) if whole_rows.contains(ty)));
    walk.edges
}

struct Walk<'w> {
    catalog: &'w CatalogSnapshot,
    /// The relation over whose live columns the expression is, and their numbers.
    own: Option<(&'w Relation, Vec<i16>)>,
    edges: Vec<Edge>,
}

impl Walk<'_> {
    fn ty(&mut self, ty: SqlType) {
        let element = builtin::element_type(ty.oid.0).map_or(ty.oid, Oid);
        let edge = Edge::Type(element);
        if edge.leads_to_made() {
            self.edges.push(Edge::Type(ty.oid));
        }
    }

    fn function(&mut self, function: Oid) {
        if extension::of_member(function.0).is_some() || self.catalog.routine(function).is_some() {
            self.edges.push(Edge::Function(function));
        }
    }

    /// A user's operator, which leads to its function; of others the function.
    fn operator(&mut self, operator: Oid, function: Oid) {
        match self.catalog.user_operator(operator) {
            Some(_) => self.edges.push(Edge::Operator(operator)),
            None => self.function(function),
        }
    }

    /// The cast of a user by which a value was cast.
    fn cast(&mut self, from: SqlType, to: SqlType) {
        let (from, to) = (self.catalog.base_type(from).oid, self.catalog.base_type(to).oid);
        let own = self.catalog.user_cast(from, to).map(|cast| Edge::Cast(cast.oid));
        self.edges.extend(own);
    }

    fn constant(&mut self, literal: &Literal, ty: SqlType) {
        self.ty(ty);
        let Literal::Oid(oid) = literal else { return };
        match ty.oid.0 {
            oids::REGCLASS => self.edges.push(Edge::Relation(Oid(*oid), 0)),
            oids::REGTYPE => self.ty(SqlType::plain(*oid)),
            _ => {}
        }
    }

    fn column(&mut self, level: u16, place: u32) {
        let Some((relation, live)) = self.own.as_ref().filter(|_| level == 0) else { return };
        let number = live.get(place as usize).copied();
        let number = number.or_else(|| system_column_at(relation, place));
        self.edges.extend(number.map(Edge::Own));
    }

    /// A field of a row: a column of the relation whose rows are of that type.
    fn field(&mut self, of: SqlType, field: u32) {
        let base = self.catalog.base_type(of);
        if base.oid != of.oid {
            self.ty(of);
        }
        match self.catalog.row_type(base.oid) {
            Some(relation) => {
                let mut live = relation.columns.iter().enumerate().filter(|one| !one.1.dropped);
                let number = live.nth(field as usize).map(|(at, _)| at as i16 + 1);
                let is_own = self.own.as_ref().is_some_and(|own| own.0.oid == relation.oid);
                self.edges.extend(number.map(|number| match is_own {
                    true => Edge::Own(number),
                    false => Edge::Relation(relation.oid, number),
                }));
            }
            // A composite type is a relation by its own OID.
            None => self.edges.push(Edge::Relation(base.oid, field as i16 + 1)),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Constant(literal, ty) => self.constant(literal, *ty),
            Expr::Column { level, column, .. } => self.column(*level, *column),
            Expr::Call { function, form: CallForm::Operator(operator), .. }
            | Expr::ScalarArray { function, operator, .. } => {
                self.operator(*operator, *function);
            }
            Expr::Call { function, form, arguments, ty, .. } => {
                self.function(*function);
                if let (CallForm::Cast, Some(value)) = (form, arguments.first()) {
                    self.cast(value.ty(), *ty);
                }
            }
            Expr::IsDistinct { equals, .. } | Expr::NullIf { equals, .. } => {
                let made = self.catalog.user_operators_named("=");
                let own = made.into_iter().filter(|found| found.function == *equals);
                self.edges.extend(own.map(|found| Edge::Operator(found.oid)));
            }
            Expr::Relabel(value, ty) | Expr::ViaText(value, ty) => {
                self.ty(*ty);
                self.cast(value.ty(), *ty);
            }
            Expr::Domain(_, ty) => self.ty(*ty),
            Expr::ArrayCast { ty, element, .. } => {
                self.ty(*ty);
                // Its column is the element.
                let own = self.own.take();
                self.expr(element);
                self.own = own;
            }
            Expr::Row(_, ty, _) => {
                if self.own.as_ref().is_some_and(|own| own.0.row_type.0 == ty.oid) {
                    return self.edges.push(Edge::Own(0));
                }
                self.ty(*ty);
            }
            Expr::Field { operand, field, .. } => self.field(operand.ty(), *field),
            Expr::Subquery { kind, query, .. } => {
                if let SubqueryKind::Quantified { test, .. } = kind {
                    self.expr(test);
                }
                self.query(query);
            }
            _ => {}
        }
        parts(expr, &mut |part| self.expr(part));
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn keys(&mut self, keys: &[SortKey]) {
        self.all(keys.iter().map(|key| &key.expr));
    }

    fn calls(&mut self, calls: &[AggregateCall]) {
        for call in calls {
            self.function(call.function);
            self.all(&call.arguments);
            self.keys(&call.order_by);
            self.all(&call.filter);
        }
    }

    fn query(&mut self, query: &Query) {
        crate::types::depth::deeper(|| {
            query.ctes.iter().for_each(|cte| self.cte(cte));
            self.node(&query.root);
        });
    }

    fn cte(&mut self, cte: &Cte) {
        match &cte.body {
            CteBody::Query(query) => self.query(query),
            CteBody::Recursive { base, step, .. } => {
                self.query(base);
                self.query(step);
            }
            // A definition changes no rows.
            CteBody::Modify(_) => {}
        }
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Unit | Node::Nothing(_) | Node::CteScan { .. } | Node::Constants { .. } => {}
            Node::Scan { filter, .. } => self.all(filter),
            Node::FunctionScan { function, arguments, columns, .. } => {
                self.function(*function);
                self.all(arguments);
                // The fields of a record are those that the query says.
                let record = match &arguments[..] {
                    [Expr::XmlTable { .. }] => true,
                    _ => self
                        .catalog
                        .procedure(*function)
                        .is_some_and(|found| found.result == oids::RECORD),
                };
                if record {
                    columns.iter().for_each(|(_, ty)| self.ty(*ty));
                }
            }
            Node::Values { rows, .. } => self.all(rows.iter().flatten()),
            Node::Derived { query, .. } => self.query(query),
            Node::Join { left, right, on, .. } => {
                self.node(left);
                self.node(right);
                self.all(on);
            }
            Node::Filter { input, conjuncts } => {
                self.node(input);
                self.all(conjuncts);
            }
            Node::Project { input, columns } | Node::ProjectSet { input, columns } => {
                self.node(input);
                self.all(columns);
            }
            Node::Aggregate { input, keys, calls, .. } => {
                self.node(input);
                self.all(keys);
                self.calls(calls);
            }
            Node::Window { input, calls, partition_by, order_by, frame } => {
                self.node(input);
                self.calls(calls);
                self.all(partition_by);
                self.keys(order_by);
                for bound in [&frame.start, &frame.end] {
                    if let FrameBound::Preceding(offset) | FrameBound::Following(offset) = bound {
                        self.expr(offset);
                    }
                }
            }
            Node::Distinct { input, on, .. } => {
                self.node(input);
                self.all(on.iter().flatten());
            }
            Node::Sort { input, keys } => {
                self.node(input);
                self.keys(keys);
            }
            Node::Limit { input, limit, offset, with_ties } => {
                self.node(input);
                self.all(limit.iter().chain(offset));
                self.keys(with_ties.as_deref().unwrap_or_default());
            }
            Node::SetOperation { left, right, .. } => {
                self.node(left);
                self.node(right);
            }
            Node::LockRows { input, .. } | Node::Barrier { input, .. } => self.node(input),
        }
    }
}
