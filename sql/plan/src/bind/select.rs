//! SELECT: FROM, WHERE, the select list, groups, windows, and what is put above them, from the rows of FROM upwards.
//!
//! All expressions are bound over the row of FROM first, and what stands in them is collected (`grouping`): only then is it
//! known whether the rows are grouped. What stands above the groups is then made to read the grouped row, and what stands
//! above the windows the row that has their values. From there on a query is the same that was kept as a tree
//! (`kept/query.rs`).

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::grouping::{Collected, GroupKeys, Groups, WindowCall};
use crate::bind::levels::{is_volatile, same};
use crate::bind::locking::Locking;
use crate::bind::logical::{JoinKind, Node, Output, SortKey};
use crate::bind::mention::rows_mentioned;
use crate::bind::order_by::project_above_sort;
use crate::bind::query::{Block, Outside};
use crate::bind::scope::Scope;
use crate::bind::scope::column_at;
use crate::bind::set_calls;
use crate::bind::target::{BoundTarget, TARGETS_MAX, demand_room};
use crate::bind::tree::{BodyTree, DistinctTree, FromList, GroupsTree, QueryTree, SelectTree};
use crate::bind::type_name::oid;
use crate::bind::typed::{AggregateCall, Expr, conjuncts};
use crate::bind::with::CteScope;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Distinct, FromItem, Select};
use crate::sqlstate::SqlState;
use crate::types::SqlType;
use std::cell::RefCell;

/// Whether an item of FROM has an outer join.
fn has_outer_join(item: &FromItem) -> bool {
    match item {
        FromItem::Join { kind, left, right, .. } => {
            *kind != JoinKind::Inner || has_outer_join(left) || has_outer_join(right)
        }
        _ => false,
    }
}

impl Binder<'_> {
    pub(super) fn select(
        &self,
        query: &ast::Query,
        select: &Select,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        decide: bool,
    ) -> Result<Block> {
        if let Some(into) = &select.into {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "SELECT ... INTO is not allowed here",
            )
            .at(self.position(into.name.at)));
        }
        let mut scope = outside.inner();
        let outer = select.from.iter().any(has_outer_join);
        if outer {
            self.rows_mentioned.borrow_mut().push(rows_mentioned(query));
        }
        let from = self.bind_list(&select.from, outside, ctes);
        if outer {
            self.rows_mentioned.borrow_mut().pop();
        }
        let mut from = from?;
        scope.items = from.items;
        let mut tree = self.keeps_trees.then(|| SelectTree {
            from: FromList { list: std::mem::take(&mut from.trees), items: scope.items.clone() },
            ..SelectTree::default()
        });
        let (mut node, width) = (from.node, from.width);
        let collected = RefCell::new(Collected::default());
        let place = Place {
            scope: &scope,
            ctes: Some(ctes),
            clause: "SELECT",
            collected: Some(&collected),
            windows: true,
            sets: true,
        };
        self.window_clause(select, &place)?;
        // What is compared with others of its kind is text.
        let decide = decide || matches!(select.distinct, Distinct::All);
        let mut targets = self.targets(&select.targets, &place, decide)?;
        let visible = targets.len();
        if let Some(filter) = &select.filter {
            let condition =
                self.condition(filter, &Place::plain(&scope, Some(ctes), "WHERE"), "WHERE")?;
            if let Some(tree) = &mut tree {
                tree.filter = Some(condition.clone());
            }
            node = Node::Filter { input: Box::new(node), conjuncts: conjuncts(condition) };
        }
        let having = select
            .having
            .as_ref()
            .map(|having| {
                let place = Place { windows: false, sets: false, clause: "HAVING", ..place };
                self.condition(having, &place, "HAVING")
            })
            .transpose()?;
        let order_by = self.order_by(query, select, &mut targets, visible, &place)?;
        let keys = self.group_keys(select, &mut targets, visible, &place)?;
        let distinct_on = self.distinct_on(&select.distinct, &mut targets, visible, &place)?;

        let distinct = match &select.distinct {
            Distinct::No => DistinctTree::No,
            Distinct::All => DistinctTree::All,
            Distinct::On(_) => {
                DistinctTree::On(distinct_on.iter().map(|(target, _)| *target).collect())
            }
        };
        if let Some(tree) = &mut tree {
            tree.distinct = distinct.clone();
            (tree.targets, tree.visible) = (targets.clone(), visible);
            tree.having.clone_from(&having);
            tree.groups = GroupsTree {
                distinct: select.group_distinct,
                keys: keys.keys.clone(),
                items: keys.written.clone(),
                targets: keys.items.clone(),
                is_plain: keys.sets.len() == 1 && !keys.keys.is_empty(),
            };
            tree.collected = collected.borrow().clone();
            tree.order_by.clone_from(&order_by);
            tree.locks = self.locked_items(&query.locking, &scope)?;
            tree.keep_trees();
        }
        let collected = collected.into_inner();
        let mut more: Vec<&Expr> = keys.keys.iter().collect();
        for WindowCall { window, .. } in &collected.windows {
            more.extend(&window.partition_by);
            more.extend(window.order_by.iter().map(|key| &key.expr));
        }
        let known = |expr: &Expr| targets.iter().any(|target| same(&target.expr, expr));
        let mut unknown: Vec<&Expr> = Vec::new();
        if targets.len() + more.len() > TARGETS_MAX {
            for expr in more {
                if !known(expr) && !unknown.iter().any(|other| same(other, expr)) {
                    unknown.push(expr);
                    demand_room(targets.len() + unknown.len())?;
                }
            }
        }
        demand_room(targets.len() + unknown.len())?;
        let Collected { aggregates, groupings, asked, .. } = &collected;
        let grouping = groupings.iter().flatten().map(|(_, at)| *at);
        let first = if aggregates.is_empty() { None } else { asked.iter().copied().min() };
        self.demand_no_recursion(&select.from, ctes, first.or(grouping.min()))?;
        let having_at = select.having.as_ref().map_or(0, |having| self.position(having.start()));
        let clauses = Clauses {
            from: (node, width),
            targets,
            visible,
            having: having.map(|having| (having, having_at)),
            keys,
            collected,
            order_by,
            distinct,
            distinct_on,
            locking: Locking::Written(&query.locking),
            with_ties: query.with_ties,
        };
        let (node, output) = self.above_from(clauses, &scope)?;
        let body = tree.map(|tree| BodyTree::Select(Box::new(tree)));
        let mut tree = body.map(|body| Box::new(QueryTree::of(body)));
        let node = self.limit(node, query, (outside, &scope), ctes, tree.as_deref_mut())?;
        Ok(Block { node, output, tree })
    }

    /// What a SELECT puts above the rows of its FROM, but for LIMIT: its rows, and what it returns of them.
    pub(super) fn above_from(
        &self,
        clauses: Clauses<'_>,
        scope: &Scope<'_>,
    ) -> Result<(Node, Vec<Output>)> {
        let Clauses { mut targets, visible, keys, order_by, distinct, distinct_on, .. } = clauses;
        let (mut node, mut width) = clauses.from;
        let (locking, with_ties) = (clauses.locking, clauses.with_ties);
        let Collected { mut aggregates, mut windows, groupings, direct, .. } = clauses.collected;
        let (mut having, having_at) = clauses.having.unzip();
        let grouped = !keys.written.is_empty()
            || !aggregates.is_empty()
            || !groupings.is_empty()
            || having.is_some();
        let mut groupings = groupings;
        if grouped {
            let GroupKeys { mut keys, items, sets, constants, .. } = keys;
            let mut others: Vec<&mut Expr> =
                targets.iter_mut().map(|target| &mut target.expr).collect();
            others.extend(having.as_mut());
            others.extend(groupings.iter_mut().flatten().map(|(argument, _)| argument));
            others.extend(aggregates.iter_mut().flat_map(call_expressions));
            others.extend(windows.iter_mut().flat_map(window_expressions));
            (node, _) = set_calls::below(node, width, keys.iter_mut().collect(), others);
            let in_all = |key: &u32| sets.iter().all(|set| set.contains(key));
            let common = (0..keys.len() as u32).filter(in_all).collect();
            let written = keys.len();
            let mut groups = Groups { written, keys, items, common, constants, scope };
            for (number, target) in targets.iter_mut().enumerate() {
                let whole = (&mut target.expr, target.at);
                self.group_whole(whole, &|item| item == Some(number), &mut groups)?;
            }
            if let (Some(having), Some(at)) = (&mut having, having_at) {
                self.group(having, &mut groups, at)?;
            }
            for call in &mut windows {
                let arguments = call_expressions(&mut call.call).len();
                for (at, expr) in window_expressions(call).into_iter().enumerate() {
                    if at < arguments {
                        self.group(expr, &mut groups, 0)?;
                    } else {
                        self.group_whole((expr, 0), &|_| true, &mut groups)?;
                    }
                }
            }
            let mut named = Vec::new();
            for (number, call) in aggregates.iter().enumerate() {
                named.push(self.direct_are_grouped(call, &direct[number], &mut groups)?);
            }
            let count = groups.keys.len();
            // Columns that follow from the keys belong to every grouping set that has those.
            let implied = groups.written as u32..count as u32;
            let sets: Vec<Vec<u32>> = sets
                .into_iter()
                .map(|set| set.into_iter().chain(implied.clone()).collect())
                .collect();
            let mut chosen = Vec::new();
            for (number, named) in named.into_iter().enumerate() {
                let call = (number, named, direct[number].len());
                let made = (&mut aggregates, &mut groupings);
                chosen.extend(self.choose_by_set(call, &sets, &groups, made)?);
            }
            width = count + aggregates.len();
            let mask = (sets.len() > 1).then(|| column_at(width, SqlType::plain(oid::INT4)));
            width += usize::from(mask.is_some());
            let groupings = self.groupings(groupings, &groups, mask)?;
            let place = |expr: &mut Expr| {
                self.place_chosen(&chosen, expr);
                self.place_aggregates(count, expr);
                self.place_groupings(&groupings, expr);
            };
            for target in &mut targets {
                place(&mut target.expr);
            }
            having.iter_mut().for_each(place);
            for call in &mut windows {
                window_expressions(call).into_iter().for_each(place);
            }
            let calls = std::mem::take(&mut aggregates);
            node = Node::Aggregate { input: Box::new(node), keys: groups.keys, sets, calls };
        }
        if let Some(having) = having {
            node = Node::Filter { input: Box::new(node), conjuncts: conjuncts(having) };
        }
        if !windows.is_empty() {
            let mut exprs: Vec<&mut Expr> =
                targets.iter_mut().map(|target| &mut target.expr).collect();
            let mut keys = Vec::new();
            for WindowCall { call, window } in &mut windows {
                exprs.extend(call_expressions(call));
                keys.extend(window.partition_by.iter_mut());
                keys.extend(window.order_by.iter_mut().map(|key| &mut key.expr));
            }
            (node, width) = set_calls::below(node, width, keys, exprs);
            let mut exprs: Vec<&mut Expr> =
                targets.iter_mut().map(|target| &mut target.expr).collect();
            (node, width) = self.place_windows(node, width, windows, &mut exprs);
        }
        let output = targets[..visible].iter().map(BoundTarget::output).collect();
        let plain = matches!(distinct, DistinctTree::No)
            && locking.strength().is_none()
            && !with_ties
            && !targets.iter().any(|target| set_calls::returns_set(&target.expr));
        let later = |(at, target): (usize, &BoundTarget)| {
            let is_key = order_by.iter().any(|(key, _)| *key == at);
            plain && !order_by.is_empty() && !is_key && is_volatile(&target.expr)
        };
        let is_set = |at: usize| set_calls::returns_set(&targets[at].expr);
        let sets_later = !order_by.is_empty()
            && matches!(distinct, DistinctTree::On(_))
            && (0..visible).any(is_set)
            && !order_by.iter().any(|(key, _)| is_set(*key))
            && !distinct_on.iter().any(|(key, _)| is_set(*key));
        if sets_later {
            let rows = (node, width);
            node = self.distinct_below_sets(
                rows,
                &distinct,
                &targets,
                visible,
                order_by,
                distinct_on,
            )?;
        } else if targets.iter().enumerate().any(later) {
            node = project_above_sort(node, targets, order_by);
        } else {
            node = set_calls::project(node, width, &mut targets);
            node =
                self.distinct_and_sort(node, &distinct, &targets, visible, order_by, distinct_on)?;
            node = self.lock(node, &locking, scope)?;
        }
        Ok((node, output))
    }
}

/// The clauses of a SELECT, bound over the row of its FROM.
pub(super) struct Clauses<'q> {
    /// The rows of FROM for which WHERE holds, and how many columns they have.
    pub from: (Node, usize),
    /// The select list, and behind its first `visible` items what else is sorted by.
    pub targets: Vec<BoundTarget>,
    pub visible: usize,
    /// HAVING, and where it begins.
    pub having: Option<(Expr, u32)>,
    pub keys: GroupKeys,
    pub collected: Collected,
    pub order_by: Vec<(usize, SortKey)>,
    pub distinct: DistinctTree,
    /// What DISTINCT ON names, and where.
    pub distinct_on: Vec<(usize, u32)>,
    pub locking: Locking<'q>,
    pub with_ties: bool,
}

/// What an aggregate's or window function's call computes with.
fn call_expressions(call: &mut AggregateCall) -> Vec<&mut Expr> {
    let mut all: Vec<&mut Expr> = call.arguments.iter_mut().collect();
    all.extend(call.filter.as_mut());
    all.extend(call.order_by.iter_mut().map(|key| &mut key.expr));
    all
}

fn window_expressions(call: &mut WindowCall) -> Vec<&mut Expr> {
    let window = &mut call.window;
    let mut all = call_expressions(&mut call.call);
    all.extend(window.partition_by.iter_mut());
    all.extend(window.order_by.iter_mut().map(|key| &mut key.expr));
    all
}
