//! JOIN: two FROM items with a condition, and the names that it brings: those of both sides, those that USING and NATURAL
//! make of two columns, or those of its alias (manual, section 7.2.1.1).

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::from::{From, columns_item};
use crate::bind::levels::{columns_of_expr, same};
use crate::bind::logical::{JoinKind, Node};
use crate::bind::query::Outside;
use crate::bind::scope::{PRESENCE, Scope, ScopeColumn, ScopeItem, column_at};
use crate::bind::tree::{ConditionTree, FromTree, JoinTree, as_tree};
use crate::bind::type_name::oid;
use crate::bind::typed::{Expr, Literal, conjuncts};
use crate::bind::with::CteScope;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Alias, Ident, JoinCondition};
use crate::sqlstate::SqlState;
use crate::types::SqlType;

impl Binder<'_> {
    /// Joins two items; `lateral` says that the right one looks at the row of the left one.
    #[expect(clippy::too_many_arguments, reason = "the parts of one FROM item")]
    pub(super) fn join(
        &self,
        kind: JoinKind,
        mut left: From,
        mut right: From,
        lateral: bool,
        condition: &JoinCondition,
        alias: Option<&Alias>,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        at: u32,
    ) -> Result<From> {
        let (left_count, width) = (left.items.len(), left.width + right.width);
        let written = left.trees.pop().zip(right.trees.pop());
        let using = |names: Vec<Ident>, alias: Option<Ident>, on: &[Expr]| {
            ConditionTree::Using(
                names,
                alias,
                if written.is_some() { on.to_vec() } else { Vec::new() },
            )
        };
        let mut by = ConditionTree::Nothing;
        let mut items = left.items;
        items.extend(shifted(right.items, left.width));
        // ON names the two sides, and nothing that stands beside the join.
        let mut scope = Scope { sees_lateral: false, ..outside.inner() };
        let mut using_alias = None;
        let (on, merged) = match condition {
            JoinCondition::None => (Vec::new(), None),
            JoinCondition::On(expr) => {
                scope.items = items;
                let place = Place::plain(&scope, Some(ctes), "JOIN conditions");
                let condition = self.condition(expr, &place, "JOIN/ON")?;
                if written.is_some() {
                    by = ConditionTree::On(as_tree(&condition));
                }
                items = std::mem::take(&mut scope.items);
                (conjuncts(condition), None)
            }
            JoinCondition::Using(names, merged_alias) => {
                let (on, merged) =
                    self.merge(kind, &items[..left_count], &items[left_count..], names, at)?;
                using_alias = merged_alias.clone();
                by = using(names.clone(), merged_alias.clone(), &on);
                (on, Some(merged))
            }
            JoinCondition::Natural => {
                let visible = |items: &[ScopeItem]| -> Vec<Ident> {
                    let items = items.iter().filter(|item| item.columns_visible);
                    items
                        .flat_map(|item| &item.columns)
                        .filter(|column| !column.system)
                        .map(|column| column.name.clone())
                        .collect()
                };
                let right_names = visible(&items[left_count..]);
                let names: Vec<Ident> = visible(&items[..left_count])
                    .into_iter()
                    .filter(|name| right_names.contains(name))
                    .collect();
                let (on, merged) =
                    self.merge(kind, &items[..left_count], &items[left_count..], &names, at)?;
                if !names.is_empty() {
                    by = using(names, None, &on);
                }
                (on, Some(merged))
            }
        };
        let (left_missing, right_missing) = missing_sides(kind);
        for (at, item) in items.iter_mut().enumerate() {
            if let Some(nullable) = &mut item.nullable {
                *nullable |= if at < left_count { left_missing } else { right_missing };
            }
        }
        if let (Some(name), Some(merged)) = (using_alias, &merged) {
            // A name for what stands for both sides, which hides neither of them.
            let named = columns_item(Some(name), merged.clone());
            self.check_names(&items, std::slice::from_ref(&named))?;
            items.push(ScopeItem { columns_visible: false, nullable: None, ..named });
        }
        let has_item = merged.is_some() || alias.is_some();
        if has_item {
            let rest =
                items.iter().filter(|item| item.columns_visible).flat_map(|item| &item.columns);
            let merged = merged.unwrap_or_default();
            let is_merged =
                |column: &&ScopeColumn| !merged.iter().any(|known| known.name == column.name);
            let rest: Vec<ScopeColumn> =
                rest.filter(|column| !column.system).filter(is_merged).cloned().collect();
            let mut columns: Vec<ScopeColumn> = merged.iter().cloned().chain(rest).collect();
            for item in &mut items {
                item.columns_visible = false;
                item.name_visible &= alias.is_none();
            }
            if let Some(alias) = alias {
                let mut names: Vec<(Ident, SqlType)> =
                    columns.iter().map(|column| (column.name.clone(), column.expr.ty())).collect();
                self.rename(&mut names, &alias.columns, &alias.name, "join expression")?;
                for (column, (name, _)) in columns.iter_mut().zip(names) {
                    column.name = name;
                }
            }
            let named = columns_item(alias.map(|alias| alias.name.clone()), columns);
            items.push(ScopeItem { nullable: None, ..named });
        }
        let node = Node::Join {
            kind,
            left: Box::new(left.node),
            right: Box::new(right.node),
            on,
            lateral,
        };
        let trees = written.map_or_else(Vec::new, |((left, _), (right, _))| {
            let (condition, aliased) = (by, alias.is_some());
            let join = JoinTree { kind, left, right, lateral, condition, aliased, has_item };
            vec![(FromTree::Join(Box::new(join)), false)]
        });
        Ok(From { node, items, width, trees })
    }

    /// USING: the equalities, and the columns that stand for both sides' ones.
    fn merge(
        &self,
        kind: JoinKind,
        left: &[ScopeItem],
        right: &[ScopeItem],
        names: &[Ident],
        at: u32,
    ) -> Result<(Vec<Expr>, Vec<ScopeColumn>)> {
        let at = self.position(at);
        let find = |items: &[ScopeItem], name: &Ident, side: &str| -> Result<ScopeColumn> {
            let visible =
                items.iter().filter(|item| item.columns_visible).flat_map(|item| &item.columns);
            let mut found = visible.filter(|column| column.name == *name && !column.system);
            match (found.next(), found.next()) {
                (None, _) => Err(SqlError::new(
                    SqlState::UNDEFINED_COLUMN,
                    format!(
                        "column \"{name}\" specified in USING clause does not exist in {side} table"
                    ),
                )),
                (Some(_), Some(_)) => Err(SqlError::new(
                    SqlState::AMBIGUOUS_COLUMN,
                    format!("common column name \"{name}\" appears more than once in {side} table"),
                )),
                (Some(column), None) => Ok(column.clone()),
            }
        };
        let (mut on, mut merged) = (Vec::new(), Vec::new());
        for name in names {
            let (a, b) = (find(left, name, "left")?, find(right, name, "right")?);
            self.read_column(a.origin);
            self.read_column(b.origin);
            // PostgreSQL says of neither where.
            let types = [(a.expr.ty().oid, at), (b.expr.ty().oid, at)];
            let common = self.common_type(&types, Some("JOIN/USING")).map_err(SqlError::nowhere)?;
            let common = common.unwrap_or(a.expr.ty().oid);
            let equal = ast::Operator { schema: None, name: "=".into() };
            let test = self.infix(&equal, a.expr.clone(), b.expr.clone(), at);
            on.push(test.map_err(SqlError::nowhere)?);
            let typmod = self.common_modifier([a.expr.ty(), b.expr.ty()].into_iter(), common);
            let ty = SqlType { oid: common, typmod };
            let [x, y] = [a.clone(), b.clone()]
                .map(|side| self.to_common_one(side.expr, ty, "JOIN/USING", at));
            let (x, y) = (x?, y?);
            // Of an inner join either would do: one that needs no cast is taken (`buildMergedJoinVar`).
            let right_as_it_is = !same(&x, &a.expr) && same(&y, &b.expr);
            let (expr, origin) = match kind {
                JoinKind::Right => (y, b.origin),
                JoinKind::Full => (Expr::Coalesce(vec![x, y], ty, true), None),
                JoinKind::Inner if right_as_it_is => (y, b.origin),
                _ => (x, a.origin),
            };
            merged.push(ScopeColumn { name: name.clone(), expr, origin, system: false });
        }
        Ok((on, merged))
    }
}

/// Items whose row has moved `by` columns to the right.
pub(super) fn shifted(mut items: Vec<ScopeItem>, by: usize) -> Vec<ScopeItem> {
    for column in items.iter_mut().flat_map(|item| &mut item.columns) {
        columns_of_expr(&mut column.expr, 0, &mut |expr, depth| {
            if let Expr::Column { level, column, .. } = expr
                && *level == depth
            {
                *column += by as u32;
            }
        });
    }
    items
}

/// Whether a join may have rows without one of its left side, and of its right side.
pub(super) fn missing_sides(kind: JoinKind) -> (bool, bool) {
    match kind {
        JoinKind::Left => (false, true),
        JoinKind::Right => (true, false),
        JoinKind::Full => (true, true),
        _ => (false, false),
    }
}

/// Adds a column to an item of FROM that tells where an outer join has no row of it ([`PRESENCE`]).
pub(super) fn marked(mut from: From) -> From {
    let there = column_at(from.width, SqlType::plain(oid::BOOL));
    let column = ScopeColumn { name: PRESENCE.into(), expr: there, origin: None, system: true };
    from.items[0].columns.push(column);
    let own = from.node.types().into_iter().enumerate();
    let own = own.map(|(at, ty)| column_at(at, SqlType::plain(ty.0)));
    let there = Expr::Constant(Literal::Bool(true), SqlType::plain(oid::BOOL));
    let columns = own.chain([there]).collect();
    let node = Node::Project { input: Box::new(from.node), columns };
    From { node, width: from.width + 1, ..from }
}

/// A join of two FROM items without a condition.
pub(super) fn cross(left: Node, right: Node, lateral: bool) -> Node {
    Node::Join {
        kind: JoinKind::Inner,
        left: Box::new(left),
        right: Box::new(right),
        on: Vec::new(),
        lateral,
    }
}
