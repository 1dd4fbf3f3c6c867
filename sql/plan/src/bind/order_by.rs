//! ORDER BY and DISTINCT: keys that name the select list, by number, by name or as an expression (manual, section 7.5),
//! and the nodes that sort by them.
//!
//! A key that is no item of the select list is computed beside it, behind the columns that are returned. Volatile items
//! are computed above the sort, for the rows that go out and in their order.

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::levels::{columns_of_expr, is_volatile, same};
use crate::bind::logical::{Node, Output, SortKey};
use crate::bind::scope::column_at;
use crate::bind::set_calls;
use crate::bind::target::{BoundTarget, demand_room, name_of};
use crate::bind::tree::DistinctTree;
use crate::bind::type_name::oid;
use crate::bind::typed::Expr;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Distinct, ExprKind, Select};
use crate::sqlstate::SqlState;

impl Binder<'_> {
    /// A sort key that can only name an output column, by number or name, or by that item's name before it.
    pub(super) fn output_key(
        &self,
        key: &ast::OrderBy,
        output: &[Output],
        item: Option<&str>,
    ) -> Result<SortKey> {
        let at = self.position(key.expr.start());
        let named = match &key.expr.kind {
            ExprKind::Column(parts) => match parts.as_slice() {
                [name] => Some(name),
                [of, name] if item == Some(&**of) => Some(name),
                _ => None,
            },
            _ => None,
        };
        let place = match &key.expr.kind {
            ExprKind::Integer(number) => self.numbered(*number, output.len(), "ORDER BY", at)?,
            _ if let Some(name) = named => {
                output.iter().position(|column| column.name == *name).ok_or_else(|| {
                    SqlError::new(
                        SqlState::UNDEFINED_COLUMN,
                        format!("column \"{name}\" does not exist"),
                    )
                    .at(at)
                })?
            }
            _ => {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
                )
                .detail("Only result column names can be used, not expressions or functions.")
                .hint("Add the expression/function to every SELECT, or move the UNION into a FROM clause.")
                .at(at));
            }
        };
        self.sort_key(column_at(place, output[place].ty), key)
    }

    /// The select-list item that a number means; 42P10 if there is none.
    pub(super) fn numbered(
        &self,
        number: i32,
        count: usize,
        clause: &str,
        at: u32,
    ) -> Result<usize> {
        match usize::try_from(number) {
            Ok(place) if (1..=count).contains(&place) => Ok(place - 1),
            _ => Err(SqlError::new(
                SqlState::INVALID_COLUMN_REFERENCE,
                format!("{clause} position {number} is not in select list"),
            )
            .at(at)),
        }
    }

    /// The select-list item that an output name means.
    pub(super) fn output_name(
        &self,
        name: &str,
        targets: &[BoundTarget],
        clause: &str,
        at: u32,
    ) -> Result<Option<usize>> {
        let mut found: Option<usize> = None;
        for (number, target) in
            targets.iter().enumerate().filter(|(_, target)| &*target.name == name)
        {
            match found {
                Some(before) if !same(&targets[before].expr, &target.expr) => {
                    return Err(SqlError::new(
                        SqlState::AMBIGUOUS_COLUMN,
                        format!("{clause} \"{name}\" is ambiguous"),
                    )
                    .at(at));
                }
                Some(_) => {}
                None => found = Some(number),
            }
        }
        Ok(found)
    }

    /// The select-list item of a sort key, added behind the visible ones if it is none of them. One without a type is text.
    fn sort_target(
        &self,
        expr: &ast::Expr,
        clause: &'static str,
        targets: &mut Vec<BoundTarget>,
        visible: usize,
        place: &Place<'_>,
    ) -> Result<usize> {
        let found = self.sorted_item(expr, clause, targets, visible, place)?;
        let item = &mut targets[found].expr;
        if item.ty().oid.0 == oid::UNKNOWN {
            *item = self.decided(item.clone())?;
        }
        Ok(found)
    }

    fn sorted_item(
        &self,
        expr: &ast::Expr,
        clause: &'static str,
        targets: &mut Vec<BoundTarget>,
        visible: usize,
        place: &Place<'_>,
    ) -> Result<usize> {
        let at = self.position(expr.start());
        match &expr.kind {
            ExprKind::Integer(number) => return self.numbered(*number, visible, clause, at),
            ExprKind::String(_) | ExprKind::Number(_) | ExprKind::Null | ExprKind::Bool(_) => {
                return Err(SqlError::new(
                    SqlState::SYNTAX_ERROR,
                    format!("non-integer constant in {clause}"),
                )
                .at(at));
            }
            ExprKind::Column(parts) if parts.len() == 1 => {
                if let Some(found) = self.output_name(&parts[0], &targets[..visible], clause, at)? {
                    return Ok(found);
                }
            }
            _ => {}
        }
        let place = Place { clause, ..*place };
        let bound = self.decided(self.expression(expr, &place)?)?;
        if let Some(found) = targets.iter().position(|target| same(&target.expr, &bound)) {
            return Ok(found);
        }
        targets.push(BoundTarget { expr: bound, name: name_of(expr), origin: None, at });
        demand_room(targets.len())?;
        Ok(targets.len() - 1)
    }

    pub(super) fn order_by(
        &self,
        query: &ast::Query,
        select: &Select,
        targets: &mut Vec<BoundTarget>,
        visible: usize,
        place: &Place<'_>,
    ) -> Result<Vec<(usize, SortKey)>> {
        let mut keys = Vec::new();
        for key in &query.order_by {
            let target = self.sort_target(&key.expr, "ORDER BY", targets, visible, place)?;
            if target >= visible && matches!(select.distinct, Distinct::All) {
                return Err(SqlError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    "for SELECT DISTINCT, ORDER BY expressions must appear in select list",
                )
                .at(self.position(key.expr.start())));
            }
            keys.push((target, self.sort_key(column_at(target, targets[target].expr.ty()), key)?));
        }
        Ok(keys)
    }

    pub(super) fn distinct_on(
        &self,
        distinct: &Distinct,
        targets: &mut Vec<BoundTarget>,
        visible: usize,
        place: &Place<'_>,
    ) -> Result<Vec<(usize, u32)>> {
        let Distinct::On(exprs) = distinct else { return Ok(Vec::new()) };
        exprs
            .iter()
            .map(|expr| {
                let target = self.sort_target(expr, "DISTINCT ON", targets, visible, place)?;
                let at = self.position(expr.start());
                self.demand_equality(targets[target].expr.ty().oid, at)?;
                Ok((target, at))
            })
            .collect()
    }

    /// DISTINCT ON and ORDER BY of a select list whose set-returning functions wait for both: those rows that are left
    /// have sets.
    pub(super) fn distinct_below_sets(
        &self,
        (node, width): (Node, usize),
        distinct: &DistinctTree,
        targets: &[BoundTarget],
        visible: usize,
        order_by: Vec<(usize, SortKey)>,
        on: Vec<(usize, u32)>,
    ) -> Result<Node> {
        let (mut below, mut places): (Vec<BoundTarget>, Vec<usize>) = (Vec::new(), Vec::new());
        for target in targets {
            places.push(below.len());
            if !set_calls::returns_set(&target.expr) {
                below.push(target.clone());
            }
        }
        let mut above = targets[..visible].to_vec();
        for (target, place) in above.iter_mut().zip(&places) {
            if !set_calls::returns_set(&target.expr) {
                target.expr = column_at(*place, target.expr.ty());
                continue;
            }
            let shown = target.clone();
            columns_of_expr(&mut target.expr, 0, &mut |part, depth| {
                if let Expr::Column { level, column, ty } = part
                    && *level == depth
                {
                    let read = column_at(*column as usize, *ty);
                    *column = below.len() as u32;
                    below.push(BoundTarget { expr: read, ..shown.clone() });
                }
            });
        }
        let keys = order_by.into_iter().map(|(target, key)| {
            let place = places[target];
            (place, SortKey { expr: column_at(place, key.expr.ty()), ..key })
        });
        let on = on.into_iter().map(|(target, at)| (places[target], at)).collect();
        let count = below.len();
        let node = set_calls::project(node, width, &mut below);
        let node = self.distinct_and_sort(node, distinct, &below, count, keys.collect(), on)?;
        Ok(set_calls::project(node, count, &mut above))
    }

    pub(super) fn distinct_and_sort(
        &self,
        mut node: Node,
        distinct: &DistinctTree,
        targets: &[BoundTarget],
        visible: usize,
        order_by: Vec<(usize, SortKey)>,
        on: Vec<(usize, u32)>,
    ) -> Result<Node> {
        let sort = |node: Node, keys: Vec<SortKey>| {
            if keys.is_empty() { node } else { Node::Sort { input: Box::new(node), keys } }
        };
        match distinct {
            DistinctTree::No => {}
            DistinctTree::All => {
                for target in &targets[..visible] {
                    self.demand_equality(target.expr.ty().oid, target.at)?;
                }
                node = Node::Distinct { input: Box::new(node), on: None, columns: visible as u32 };
            }
            DistinctTree::On(_) => {
                let chosen: Vec<usize> = on.iter().map(|(target, _)| *target).collect();
                // ORDER BY has to begin with the ON expressions, in any order; those it does not name follow.
                let leading =
                    order_by.iter().take_while(|(target, _)| chosen.contains(target)).count();
                let named = &order_by[..leading];
                if order_by.len() > leading
                    && let Some((_, at)) =
                        on.iter().find(|(target, _)| !named.iter().any(|(key, _)| key == target))
                {
                    return Err(SqlError::new(
                        SqlState::INVALID_COLUMN_REFERENCE,
                        "SELECT DISTINCT ON expressions must match initial ORDER BY expressions",
                    )
                    .at(*at));
                }
                let missing: Vec<usize> = chosen
                    .iter()
                    .copied()
                    .filter(|target| !order_by.iter().any(|(key, _)| key == target))
                    .collect();
                let mut keys: Vec<SortKey> = order_by.into_iter().map(|(_, key)| key).collect();
                for target in missing {
                    let expr = column_at(target, targets[target].expr.ty());
                    keys.push(SortKey { expr, descending: false, nulls_first: false });
                }
                let on = chosen
                    .iter()
                    .map(|&target| column_at(target, targets[target].expr.ty()))
                    .collect();
                let input = Box::new(sort(node, keys));
                return Ok(Node::Distinct { input, on: Some(on), columns: visible as u32 });
            }
        }
        Ok(sort(node, order_by.into_iter().map(|(_, key)| key).collect()))
    }
}

/// The select list where volatile items of it wait for ORDER BY (`make_sort_input_target`): below the sort is what it is
/// sorted by, beside what the other items read of the row.
pub(super) fn project_above_sort(
    node: Node,
    targets: Vec<BoundTarget>,
    order_by: Vec<(usize, SortKey)>,
) -> Node {
    let mut below: Vec<Expr> = Vec::new();
    let mut place_of = |expr: &Expr| {
        let known = below.iter().position(|known| same(known, expr));
        known.unwrap_or_else(|| {
            below.push(expr.clone());
            below.len() - 1
        })
    };
    let mut keys = Vec::with_capacity(order_by.len());
    let mut computed = vec![None; targets.len()];
    for (target, key) in order_by {
        let expr = &targets[target].expr;
        let place = place_of(expr);
        computed[target] = Some(place);
        keys.push(SortKey { expr: column_at(place, expr.ty()), ..key });
    }
    let columns = targets.into_iter().zip(computed).map(|(target, computed)| {
        let mut expr = target.expr;
        if let Some(place) = computed {
            return column_at(place, expr.ty());
        }
        if !is_volatile(&expr) && !matches!(expr, Expr::Constant(..) | Expr::Parameter(..)) {
            return column_at(place_of(&expr), expr.ty());
        }
        columns_of_expr(&mut expr, 0, &mut |part, depth| {
            if let Expr::Column { level, column, ty } = part
                && *level == depth
            {
                *column = place_of(&column_at(*column as usize, *ty)) as u32;
            }
        });
        expr
    });
    let columns = columns.collect();
    let input = Box::new(Node::Project { input: Box::new(node), columns: below });
    Node::Project { input: Box::new(Node::Sort { input, keys }), columns }
}
