//! The queries of views as they are kept, opened for plans, and asked what they are.
//!
//! What is run is the tree that binding what the user wrote makes, but for what only a plan adds; where that would be printed
//! otherwise than it was written, what is printed stands beside it. Views of the system are texts, which are PostgreSQL's own.

use super::code::corrupt;
use super::code::query::{ShapedTree, read_query, write_query};
use crate::bind::edges::edges_of_field;
use crate::bind::levels::{Visitor, visit_below, walk_query};
use crate::bind::logical::Query;
use crate::bind::query::Outside;
use crate::bind::type_name::oid;
use crate::bind::typed::{Expr, Literal};
use crate::bind::updatable::Clauses;
use crate::bind::{Binder, Environment};
use crate::catalog::CatalogSnapshot;
use crate::catalog::definition::{Edge, Edges, Expression, ViewQuery};
use crate::error::Result;
use crate::parse::depth::within;
use crate::parse::{Deep, Positions, ast, parse_stored};
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// What is run, and what is printed where that is another tree.
type Trees = Deep<(ShapedTree, Option<ShapedTree>)>;

/// A view's query, opened.
pub(in crate::bind) enum Opening<'v> {
    Text(&'v str, Deep<ast::Query>),
    Tree(Arc<Trees>),
}

/// Opens a view's query.
///
/// # Errors
/// XX001 for bytes that are no tree; 54001.
pub(in crate::bind) fn open_view<'v>(
    catalog: &CatalogSnapshot,
    query: &'v ViewQuery,
) -> Result<Opening<'v>> {
    let kept = match query {
        ViewQuery::Text(text) => return Ok(Opening::Text(text, parse_stored(text)?)),
        ViewQuery::Tree(kept) => kept,
    };
    Ok(Opening::Tree(match kept.opened::<Trees>() {
        Some(trees) => trees,
        None => {
            let read = read_query(catalog, kept.tree())?;
            let trees = Arc::new(read.trees);
            if read.lasts {
                kept.leave(Arc::clone(&trees));
            }
            trees
        }
    }))
}

impl Opening<'_> {
    /// Its text, if it is one.
    pub(in crate::bind) fn text(&self) -> &str {
        match self {
            Opening::Text(text, _) => text,
            Opening::Tree(_) => "",
        }
    }

    pub(in crate::bind) fn height(&self) -> u32 {
        match self {
            Opening::Text(_, parsed) => parsed.height(),
            Opening::Tree(trees) => trees.height(),
        }
    }

    /// What decides whether a view of it is simple.
    pub(in crate::bind) fn clauses(&self) -> Clauses {
        match self {
            Opening::Text(_, parsed) => Clauses::written(parsed),
            Opening::Tree(trees) => Clauses::kept(&trees.0.1),
        }
    }

    /// Binds it.
    pub(in crate::bind) fn bound(&self, binder: &Binder<'_>) -> Result<Query> {
        within(self.height(), || match self {
            Opening::Text(_, parsed) => binder.top_query(parsed),
            Opening::Tree(trees) => {
                let (shapes, tree) = &trees.0;
                binder.records.borrow_mut().clone_from(shapes);
                let mut query = binder.kept_query(tree, Outside::NOTHING, None)?;
                binder.forget_shapes(&mut query);
                Ok(query)
            }
        })
    }

    /// The tree that is printed, with its shapes.
    pub(in crate::bind) fn shown(&self) -> Option<&ShapedTree> {
        match self {
            Opening::Text(..) => None,
            Opening::Tree(trees) => Some(trees.1.as_ref().unwrap_or(&trees.0)),
        }
    }
}

/// The tree of a query with its shapes.
fn tree_of(binder: &Binder<'_>, query: &ast::Query) -> Result<ShapedTree> {
    let bound = binder.query(query, Outside::NOTHING, None, true)?;
    let tree = bound.tree.ok_or_else(|| corrupt("a query has no tree"))?;
    Ok((binder.records.borrow().clone(), tree))
}

/// A query that a user has written, as a view keeps it that depends on this.
///
/// # Errors
/// Those of binding; 54001.
pub fn store_view<'t>(
    environment: Environment<'t>,
    text: &'t Positions<'t>,
    query: &ast::Query,
    mut edges: Vec<Edge>,
) -> Result<ViewQuery> {
    let own =
        || Binder { keeps_trees: true, opaque_views: true, ..Binder::new(environment, text, &[]) };
    let run = tree_of(&Binder { is_stored: true, ..own() }, query)?;
    let shown = tree_of(&Binder { written: true, ..own() }, query)?;
    let catalog = environment.catalog;
    let alone = write_query(catalog, &run, None)?;
    let tree = match write_query(catalog, &shown, None)? == alone {
        true => alone,
        false => write_query(catalog, &run, Some(&shown))?,
    };
    // What functions in FROM return is told by where its columns are read.
    let own = Binder { opaque_views: true, ..Binder::new(environment, "", &[]) };
    let kept = ViewQuery::Tree(Expression::new(tree, Edges::new(Vec::new())));
    open_view(catalog, &kept)?.bound(&own)?;
    for (row, field) in own.fields.into_inner() {
        edges.extend(edges_of_field(catalog, row, field));
    }
    let ViewQuery::Tree(tree) = kept else { return Ok(kept) };
    Ok(ViewQuery::Tree(Expression::new(tree.tree().into(), Edges::new(edges))))
}

/// Whether a kept query has a constant that is not NULL of a type of which `is` says so.
///
/// # Errors
/// XX001; 54001.
pub fn has_constant(
    catalog: &CatalogSnapshot,
    query: &ViewQuery,
    is: &dyn Fn(SqlType) -> bool,
) -> Result<bool> {
    let opening = open_view(catalog, query)?;
    let Opening::Tree(trees) = &opening else { return Ok(false) };
    within(opening.height(), || {
        let mut seeker = Seeker { is, found: false };
        let mut tree = Arc::clone(&trees.0.1);
        Arc::make_mut(&mut tree).walk(0, &mut seeker);
        Ok(seeker.found)
    })
}

/// Looks for constants.
struct Seeker<'s> {
    is: &'s dyn Fn(SqlType) -> bool,
    found: bool,
}

impl Visitor for Seeker<'_> {
    fn expr(&mut self, expr: &mut Expr, depth: u16) {
        match expr {
            Expr::Constant(literal, ty) => {
                self.found |= !matches!(literal, Literal::Null) && (self.is)(*ty);
            }
            _ => visit_below(expr, depth, self),
        }
    }

    fn query(&mut self, query: &mut Arc<Query>, depth: u16) {
        walk_query(Arc::make_mut(query), depth, self);
    }
}

/// A kept query now that a composite type has lost the attribute of this number: those behind it have moved up.
///
/// # Errors
/// XX001; 54001.
pub fn without_field_of_query(
    catalog: &CatalogSnapshot,
    query: &Expression,
    (ty, gone): (Oid, i16),
) -> Result<Expression> {
    let read = read_query(catalog, query.tree())?;
    let (run, shown) = &*read.trees;
    let close = |(shapes, tree): &ShapedTree| {
        let mut tree = Arc::clone(tree);
        let mut closer = Closer { catalog, ty, gone };
        let own = Arc::make_mut(&mut tree);
        own.walk(0, &mut closer);
        (shapes.clone(), tree)
    };
    let tree = within(read.trees.height(), || {
        write_query(catalog, &close(run), shown.as_ref().map(close).as_ref())
    })?;
    Ok(query.without_attribute(tree, ty, gone))
}

/// Takes fields by the numbers that they have now.
struct Closer<'c> {
    catalog: &'c CatalogSnapshot,
    ty: Oid,
    gone: i16,
}

impl Visitor for Closer<'_> {
    fn called(&mut self, call: &Expr, fields: &mut Vec<i16>) {
        if self.catalog.base_type(call.ty()).oid == self.ty {
            fields.retain(|number| *number != self.gone);
            let behind = fields.iter_mut().filter(|number| **number > self.gone);
            behind.for_each(|number| *number -= 1);
        }
    }

    fn expr(&mut self, expr: &mut Expr, depth: u16) {
        if let Expr::Field { operand, field, .. } = expr
            && self.catalog.base_type(operand.ty()).oid == self.ty
            && *field >= u32::from(self.gone.unsigned_abs())
        {
            *field -= 1;
        }
        visit_below(expr, depth, self);
    }

    fn query(&mut self, query: &mut Arc<Query>, depth: u16) {
        walk_query(Arc::make_mut(query), depth, self);
    }
}

impl Binder<'_> {
    /// The numbers of records' shapes are a binding's alone.
    pub(in crate::bind) fn forget_shapes(&self, query: &mut Query) {
        for column in &mut query.output {
            if matches!(column.ty.oid.0, oid::RECORD | oid::RECORD_ARRAY) {
                column.ty.typmod = -1;
            }
        }
    }
}
