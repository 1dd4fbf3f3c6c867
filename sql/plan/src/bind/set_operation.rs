//! UNION, INTERSECT, EXCEPT: two queries of as many columns, each cast to the type that both sides' columns can have
//! (manual, section 10.5; `transformSetOperationTree`).
//!
//! A literal of a side's select list that has no type yet is read as that type, not as text.

use crate::bind::Binder;
use crate::bind::insert::target_of;
use crate::bind::logical::{Node, Output, Query, SetKind};
use crate::bind::query::{Block, Outside};
use crate::bind::query_collation::{in_common, of_side};
use crate::bind::scope::column_at;
use crate::bind::target::untyped_item;
use crate::bind::tree::{BodyTree, QueryTree};
use crate::bind::type_name::oid;
use crate::bind::typed::Expr;
use crate::bind::with::{Around, CteScope};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Body};
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use std::sync::Arc;

impl Binder<'_> {
    pub(super) fn set_operation(
        &self,
        (kind, all): (SetKind, bool),
        left: &ast::Query,
        right: &ast::Query,
        at: u32,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Block> {
        let word = match kind {
            SetKind::Union => "UNION",
            SetKind::Intersect => "INTERSECT",
            SetKind::Except => "EXCEPT",
        };
        let (on_left, on_right) = match kind {
            SetKind::Union => (Around::Nothing, Around::Nothing),
            SetKind::Intersect if all => (Around::Intersect, Around::Intersect),
            SetKind::Intersect => (Around::Nothing, Around::Nothing),
            SetKind::Except if all => (Around::Except, Around::Except),
            SetKind::Except => (Around::Nothing, Around::Except),
        };
        let sides = [
            self.also_within(on_left, || self.side(left, outside, ctes))?,
            self.also_within(on_right, || self.side(right, outside, ctes))?,
        ];
        let [a, b] = &sides;
        let right_at = self.position(first_expression(right).unwrap_or(at));
        let left_at = self.position(first_expression(left).unwrap_or(at));
        if a.output.len() != b.output.len() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("each {word} query must have the same number of columns"),
            )
            .at(right_at));
        }
        let column_at_right =
            |number| target_of(right, number).map_or(right_at, |at| self.position(at));
        let mut columns = [Vec::new(), Vec::new()];
        let mut types = Vec::new();
        for (number, (x, y)) in a.output.iter().zip(&b.output).enumerate() {
            let ty = self.common_of_sides((x.ty, y.ty), word, column_at_right(number))?;
            let common = ty.oid;
            for (side, query) in columns.iter_mut().zip(&sides) {
                side.push(self.side_column(ty, query, number, word, right_at)?);
            }
            if !all || kind != SetKind::Union {
                self.demand_equality(common, left_at)?;
            }
            if self.collates.get() && self.catalog.collation_of(common).0 != 0 {
                let needed = !all || kind != SetKind::Union;
                let at = column_at_right(number);
                let of_side = |side: &Block| of_side(self.catalog, &side.node, number);
                let sides = (of_side(a)?, of_side(b)?);
                in_common(sides.0, sides.1, needed, at)?;
            }
            types.push(ty);
        }
        let [mut a, mut b] = sides;
        let trees = a.tree.take().zip(b.tree.take());
        let tree = match trees {
            Some((mut left, mut right)) => {
                self.settle_items(&mut left, types.iter().copied())?;
                self.settle_items(&mut right, types.iter().copied())?;
                let (left, right) = (Arc::new(*left), Arc::new(*right));
                let body = BodyTree::SetOperation { kind, all, left, right, types: types.clone() };
                Some(Box::new(QueryTree::of(body)))
            }
            None => None,
        };
        Ok(Block { tree, ..combined((kind, all), [a, b], columns, &types) })
    }

    /// A set operation as its tree says; `types` are those of its columns.
    pub(super) fn kept_set_operation(
        &self,
        (kind, all): (SetKind, bool),
        sides: [Block; 2],
        types: &[SqlType],
    ) -> Result<Block> {
        let mut columns = [Vec::new(), Vec::new()];
        for (side, query) in columns.iter_mut().zip(&sides) {
            for (number, ty) in types.iter().enumerate() {
                side.push(self.side_column(*ty, query, number, "UNION", 0)?);
            }
        }
        Ok(combined((kind, all), sides, columns, types))
    }

    /// The type of a column of both sides.
    fn common_of_sides(
        &self,
        (left, right): (SqlType, SqlType),
        word: &str,
        at: u32,
    ) -> Result<SqlType> {
        let types = [(left.oid, at), (right.oid, at)];
        let oid = self.common_type(&types, Some(word))?.unwrap_or(left.oid);
        let typmod = self.common_modifier([left, right].into_iter(), oid);
        Ok(SqlType { oid, typmod })
    }

    /// Has literals of a select list that have no type be read as what their columns are of: the list is that of a side.
    pub(super) fn settle_items(
        &self,
        side: &mut QueryTree,
        types: impl Iterator<Item = SqlType>,
    ) -> Result<()> {
        let BodyTree::Select(select) = &mut side.body else { return Ok(()) };
        for (target, ty) in select.targets.iter_mut().zip(types) {
            if target.expr.ty().oid.0 == oid::UNKNOWN {
                target.expr = self.argument(target.expr.clone(), ty.oid, 0)?;
            }
        }
        Ok(())
    }

    /// One side's column, cast to the common type; what has no type in the select list is read as that type.
    fn side_column(
        &self,
        ty: SqlType,
        side: &Block,
        number: usize,
        word: &str,
        at: u32,
    ) -> Result<Expr> {
        let place = column_at(number, side.output[number].ty);
        if place.ty().oid.0 == oid::UNKNOWN
            && let Some(item) = untyped_item(&side.node, number)
        {
            return self.argument(item.clone(), ty.oid, at);
        }
        self.to_common_one(place, ty, word, at)
    }

    fn side(&self, query: &ast::Query, outside: Outside<'_>, ctes: &CteScope<'_>) -> Result<Block> {
        if query.with.is_none() {
            let decide = matches!(query.body, Body::Values(_));
            return self.block(query, outside, ctes, decide);
        }
        Ok(as_side(self.query(query, outside, Some(ctes), false)?))
    }
}

/// A side that has a WITH of its own.
pub(super) fn as_side(mut query: Query) -> Block {
    let tree = query.tree.take().map(|tree| Box::new(Arc::unwrap_or_clone(tree)));
    let output = query.output.clone();
    let (query, alias) = (Arc::new(query), "*SELECT*".into());
    Block { node: Node::Derived { query, alias, item: None, view: None }, output, tree }
}

/// Both sides with their columns cast, under the names of the left one.
fn combined(
    (kind, all): (SetKind, bool),
    [left, right]: [Block; 2],
    [left_columns, right_columns]: [Vec<Expr>; 2],
    types: &[SqlType],
) -> Block {
    let named = |(column, ty): (&Output, &SqlType)| Output {
        name: column.name.clone(),
        ty: *ty,
        origin: None,
    };
    let output = left.output.iter().zip(types).map(named).collect();
    let node = Node::SetOperation {
        kind,
        all,
        left: Box::new(converted(left, left_columns)),
        right: Box::new(converted(right, right_columns)),
    };
    Block { node, output, tree: None }
}

/// A side of a set operation with its columns cast.
fn converted(side: Block, columns: Vec<Expr>) -> Node {
    let plain = |(at, expr): (usize, &Expr)| matches!(expr, Expr::Column { level: 0, column, .. } if *column as usize == at);
    let extra = match &side.node {
        Node::Project { columns, .. } => columns.len() > side.output.len(),
        _ => true,
    };
    if columns.iter().enumerate().all(plain) && !extra {
        return side.node;
    }
    Node::Project { input: Box::new(side.node), columns }
}

/// Where a query's first select-list item stands.
fn first_expression(query: &ast::Query) -> Option<u32> {
    match &query.body {
        Body::Select(select) => select.targets.first().map(|target| target.expr.start()),
        Body::Values(rows) => rows.first()?.first().map(ast::Expr::start),
        Body::SetOperation { left, .. } => first_expression(left),
    }
}
